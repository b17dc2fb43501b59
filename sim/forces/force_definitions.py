"""Forces as data: frozen records, checked field by field, for worlds, scenes and scene files.

    world.add_force(CentralGravity(gm=3.986e14, center=(0, 0, -6.371e6)))
    world.add_force(Drag(linear=0.1), bodies=[ball])
    world.add_force(Spring("ball", "box", stiffness=40.0, length=0.5, damping=0.2))
    world.add_force(numba_function)

``bodies`` names the bodies that a force acts on; left out, all dynamic ones. Forces act on dynamic bodies only. What they
do in a step is in ``laws.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from tumble.collision.errors import check_number, check_vector
from tumble.sim.checks import plain_value, typed_values
from tumble.sim.errors import InputError

GRAVITATIONAL_CONSTANT = 6.67430e-11  # m^3/(kg s^2), CODATA 2018
FRAMES = ("world", "body")


@dataclass(frozen=True, slots=True)
class Force:
    """What all forces share: a dict form, and equality by value."""

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, texts and lists under a ``type``. Fields at their defaults are left out."""
        out: dict[str, Any] = {"type": _TYPES[type(self)]}
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                out[field.name] = plain_value(value)
        return out

    def replace(self, **changes: Any) -> Force:
        """A copy with some fields changed, checked again."""
        return replace(self, **changes)

    def on(self) -> tuple[str, ...] | None:
        """Names of the bodies it acts on; None: all dynamic ones."""
        return self.bodies

    def without(self, name: str) -> Force | None:
        """What is left of it when a body leaves; None: nothing."""
        names = self.on()
        if names is None or name not in names:
            return self
        rest = tuple(other for other in names if other != name)
        return self.replace(bodies=rest) if rest and not isinstance(self, Spring) else None

    def _put(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _numbers(self, *names: str, least: float = -math.inf) -> None:
        for name in names:
            self._put(name, check_number(name, getattr(self, name), least=least))

    def _vectors(self, *names: str) -> None:
        for name in names:
            self._put(name, check_vector(name, getattr(self, name)))

    def _choose(self) -> None:
        if self.bodies is not None:
            self._put("bodies", _names("bodies", self.bodies))

    def _flag(self, name: str) -> None:
        if not isinstance(getattr(self, name), bool):
            raise InputError(name, getattr(self, name), "must be true or false")

    def _frame(self) -> None:
        if self.frame not in FRAMES:
            raise InputError("frame", self.frame, 'must be "world" or "body"')
        if self.point is not None:
            self._vectors("point")


@dataclass(frozen=True, slots=True)
class UniformGravity(Force):
    """A uniform field besides the world's gravity: ``acceleration`` (3,) [m/s^2]. Has a potential."""

    acceleration: tuple[float, float, float]
    bodies: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        self._vectors("acceleration")
        self._choose()


@dataclass(frozen=True, slots=True)
class CentralGravity(Force):
    """Attraction by a fixed centre, ``gm`` = G M [m^3/s^2], at ``center`` (3,) [m]. Has a potential, -GM m/r.

    With ``gradient`` the extent of the body is felt too, by MacCullagh's formula, to order (size/r)^2: the
    gravity-gradient torque 3 GM/r^5 r x J r, and the small force that belongs to the same potential.
    """

    gm: float
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)
    gradient: bool = False
    bodies: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        self._numbers("gm", least=0)
        self._vectors("center")
        self._flag("gradient")
        self._choose()


@dataclass(frozen=True, slots=True)
class MutualGravity(Force):
    """Attraction of the bodies by each other, between their centres of mass. Has a potential.

    constant : G [m^3/(kg s^2)].
    softening : [m] the distance enters as sqrt(r^2 + softening^2).
    """

    constant: float = GRAVITATIONAL_CONSTANT
    softening: float = 0.0
    bodies: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        self._numbers("constant", "softening", least=0)
        self._choose()


@dataclass(frozen=True, slots=True)
class Drag(Force):
    """Resistance of a medium: force -(linear + quadratic |u|) u with u the velocity against ``wind``, at the centre of mass.

    linear [N s/m], quadratic [N s^2/m^2]; a body of area A and coefficient C_d has quadratic = density C_d A / 2.
    spin_linear [N m s], spin_quadratic [N m s^2]: torque -(spin_linear + spin_quadratic |w|) w.
    wind : (3,) velocity of the medium [m/s].
    """

    linear: float = 0.0
    quadratic: float = 0.0
    spin_linear: float = 0.0
    spin_quadratic: float = 0.0
    wind: tuple[float, float, float] = (0.0, 0.0, 0.0)
    bodies: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        self._numbers("linear", "quadratic", "spin_linear", "spin_quadratic", least=0)
        self._vectors("wind")
        self._choose()


@dataclass(frozen=True, slots=True)
class Medium(Force):
    """Resistance of air or water to bodies of any form: that to the boxes which have their masses and moments of inertia.

    density [kg/m^3]: of a side of area A across the velocity u, density A u |u|/2, and as much for turning. viscosity [Pa s]:
    as of a ball of the mean half side r, 6 pi viscosity r u and 8 pi viscosity r^3 w. No buoyancy and no added mass: as MuJoCo's
    model of a medium by inertia has it. Where two moments are equal, the box has the axes of the body, turned the
    shortest way to the third.
    wind : (3,) velocity of the medium [m/s].
    """

    density: float = 0.0
    viscosity: float = 0.0
    wind: tuple[float, float, float] = (0.0, 0.0, 0.0)
    bodies: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        self._numbers("density", "viscosity", least=0)
        self._vectors("wind")
        self._choose()


@dataclass(frozen=True, slots=True)
class Spring(Force):
    """A spring and damper along the line between a point of body ``a`` and a point of body ``b``, or of the world.

    stiffness [N/m], damping [N s/m], length at rest [m]. Damping acts on the change of length. With ``slack`` it is a
    rubber band: it pulls but does not push.
    anchor_a, anchor_b : (3,) [m] in the frames of the bodies; ``anchor_b`` in the world where ``b`` is left out.
    The spring has a potential, stiffness (stretch)^2 / 2; the damper has none.
    """

    a: str
    b: str | None = None
    stiffness: float = 0.0
    length: float = 0.0
    damping: float = 0.0
    anchor_a: tuple[float, float, float] = (0.0, 0.0, 0.0)
    anchor_b: tuple[float, float, float] = (0.0, 0.0, 0.0)
    slack: bool = False

    def __post_init__(self) -> None:
        self._put("a", _name("a", self.a))
        if self.b is not None:
            self._put("b", _name("b", self.b))
        if self.a == self.b:
            raise InputError("b", self.b, "must be another body than a, or be left out for a point of the world")
        self._numbers("stiffness", "length", "damping", least=0)
        self._vectors("anchor_a", "anchor_b")
        self._flag("slack")

    def on(self) -> tuple[str, ...]:
        return (self.a,) if self.b is None else (self.a, self.b)


@dataclass(frozen=True, slots=True)
class ConstantForce(Force):
    """A force [N] and a torque [N m], constant in the frame of the ``world`` or of the ``body``.

    point : (3,) [m] of the body frame where the force acts; left out, the centre of mass.
    """

    force: tuple[float, float, float] = (0.0, 0.0, 0.0)
    torque: tuple[float, float, float] = (0.0, 0.0, 0.0)
    frame: str = "world"
    point: tuple[float, float, float] | None = None
    bodies: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        self._vectors("force", "torque")
        self._frame()
        self._choose()


@dataclass(frozen=True, slots=True)
class TabulatedForce(Force):
    """A force [N] and a torque [N m] over time, linear between the ``times`` [s], zero before the first and after the last.

    times : (k,) rising. forces, torques : (k, 3); left out, zero. Keep kinks on ends of steps: within a step they cost the
    integrator its order. frame, point : as for :class:`ConstantForce`.
    """

    times: tuple[float, ...]
    forces: tuple[tuple[float, float, float], ...] | None = None
    torques: tuple[tuple[float, float, float], ...] | None = None
    frame: str = "world"
    point: tuple[float, float, float] | None = None
    bodies: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        try:
            times = tuple(self.times)
        except TypeError:
            raise InputError("times", self.times, "must be a list of rising times [s]") from None
        self._put("times", tuple(check_number("times", t) for t in times))
        if len(times) < 2 or any(b <= a for a, b in zip(self.times, self.times[1:], strict=False)):
            raise InputError("times", plain_value(self.times), "must be at least two, each later than the one before")
        for name in ("forces", "torques"):
            rows = getattr(self, name)
            if rows is None:
                continue
            if isinstance(rows, (str, bytes)) or not hasattr(rows, "__len__") or len(rows) != len(times):
                raise InputError(name, plain_value(rows), f"must be {len(times)} vectors, one for each time")
            self._put(name, tuple(check_vector(name, row) for row in rows))
        self._frame()
        self._choose()


@dataclass(frozen=True, slots=True)
class FunctionForce(Force):
    """A force that a function gives: f(t, position, orientation, velocity, angular_velocity) -> (force, torque).

    The function is asked for one body at a time; position (3,) and velocity (3,) are those of the centre of mass, orientation is
    (w, x, y, z), angular_velocity and the torque about the centre of mass are in world axes; it returns two triples [N],
    [N m]. Compiled by ``numba.njit`` it runs inside the step; a plain Python function works too, some hundred times slower.

    A function can not be written to a file: what is read back has its ``name`` alone, and must be given the function again.
    """

    function: Callable[..., Any] | None = None
    name: str = ""
    bodies: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.function is not None and not callable(self.function):
            hint = "must be a function of (t, position, orientation, velocity, angular_velocity)"
            raise InputError("function", self.function, hint)
        if not self.name and self.function is not None:
            self._put("name", getattr(self.function, "__name__", type(self.function).__name__))
        self._choose()

    def to_dict(self) -> dict[str, Any]:
        out = {"type": "function", "name": self.name}
        return out if self.bodies is None else {**out, "bodies": list(self.bodies)}


TYPES = {
    "uniform_gravity": UniformGravity,
    "central_gravity": CentralGravity,
    "mutual_gravity": MutualGravity,
    "drag": Drag,
    "medium": Medium,
    "spring": Spring,
    "constant": ConstantForce,
    "tabulated": TabulatedForce,
    "function": FunctionForce,
}
_TYPES = {cls: name for name, cls in TYPES.items()}


def force_from_dict(data: dict[str, Any]) -> Force:
    """The inverse of ``Force.to_dict``."""
    made, values = typed_values(data, TYPES, " force")
    return made(**values)


def as_force(force: Any, bodies: Any = None) -> Force:
    """A force of this module, from one or from a function; ``bodies``: names or bodies that it acts on."""
    if not isinstance(force, Force):
        if not callable(force):
            raise InputError("force", force, f"must be one of {', '.join(c.__name__ for c in _TYPES)}, or a function")
        force = FunctionForce(force)
    if bodies is None:
        return force
    if isinstance(force, Spring):
        raise InputError("bodies", bodies, "a spring names its bodies itself, as a and b")
    return force.replace(bodies=bodies)


def _name(field: str, value: Any) -> str:
    """The name of a body, given by the body or by its name."""
    name = getattr(value, "name", value)
    if not isinstance(name, str) or not name:
        raise InputError(field, value, "must be a body or the name of one")
    return name


def _names(field: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or hasattr(value, "name"):
        value = (value,)
    try:
        items = tuple(value)
    except TypeError:
        raise InputError(field, value, "must be a list of bodies or of names") from None
    names = tuple(_name(field, item) for item in items)
    if not names or len(set(names)) < len(names):
        raise InputError(field, plain_value(names), "must name at least one body, and each once")
    return names
