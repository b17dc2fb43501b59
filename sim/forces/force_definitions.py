"""Forces as data: frozen records, checked field by field, for worlds, scenes and scene files.

    world.add_force(CentralGravity(gm=3.986e14, center=(0, 0, -6.371e6)))
    world.add_force(Drag(linear=0.1), bodies=[ball])
    world.add_force(Spring("ball", "box", stiffness=40.0, length=0.5, damping=0.2))
    world.add_force(numba_function)

``bodies`` names the bodies that a force acts on; left out, all dynamic ones. Forces act on dynamic bodies only. What they
do in a step is in ``laws.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tumble.collision.errors import check_number, check_vector
from tumble.sim.checks import ORIGIN, Record, check_times, checked, flag, number, plain_value, typed_values, vector
from tumble.sim.errors import InputError

GRAVITATIONAL_CONSTANT = 6.67430e-11  # m^3/(kg s^2), CODATA 2018
FRAMES = ("world", "body")


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


def _frame(field: str, value: Any) -> str:
    if value not in FRAMES:
        raise InputError(field, value, 'must be "world" or "body"')
    return value


def _times(field: str, value: Any) -> tuple[float, ...]:
    try:
        times = tuple(check_number(field, t) for t in value)
    except TypeError:
        raise InputError(field, value, "must be a list of rising times [s]") from None
    check_times(field, times, "must be at least two, each later than the one before")
    return times


ON = checked(_names, None, "texts", told="names of the bodies it acts on; by default all dynamic ones")
FRAME = checked(
    _frame, "world", choices=FRAMES,
    told="whether force and torque keep their directions in the world, or turn with the body; by default world",
)  # fmt: skip
POINT = vector(None, "m", "point in the body frame where the force acts; by default the centre of mass")
WIND = vector(ORIGIN, "m/s", "velocity of the air or liquid")


@dataclass(frozen=True, slots=True)
class Force(Record):
    """What all forces share: a dict form, and equality by value."""

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, texts and lists under a ``type``. Fields at their defaults are left out."""
        return {"type": _TYPES[type(self)], **Record.to_dict(self)}

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


@dataclass(frozen=True, slots=True)
class UniformGravity(Force):
    """A uniform field besides the world's gravity: ``acceleration`` (3,) [m/s^2]. Has a potential."""

    acceleration: tuple[float, float, float] = vector(unit="m/s^2", told="acceleration, added to the scene's gravity")
    bodies: tuple[str, ...] | None = ON


@dataclass(frozen=True, slots=True)
class CentralGravity(Force):
    """Attraction by a fixed centre, ``gm`` = G M [m^3/s^2], at ``center`` (3,) [m]. Has a potential, -GM m/r.

    With ``gradient`` the extent of the body is felt too, by MacCullagh's formula, to order (size/r)^2: the
    gravity-gradient torque 3 GM/r^5 r x J r, and the small force that belongs to the same potential.
    """

    gm: float = number(least=0, unit="m^3/s^2", told="gravitational constant times the mass at the centre")
    center: tuple[float, float, float] = vector(ORIGIN, "m", "centre of attraction in the world")
    gradient: bool = flag(told="true: gravity also turns the body, as it is stronger at its near end")
    bodies: tuple[str, ...] | None = ON


@dataclass(frozen=True, slots=True)
class MutualGravity(Force):
    """Attraction of the bodies by each other, between their centres of mass. Has a potential.

    constant : G [m^3/(kg s^2)].
    softening : [m] the distance enters as sqrt(r^2 + softening^2).
    """

    constant: float = number(
        GRAVITATIONAL_CONSTANT, "m^3/(kg s^2)", "gravitational constant; by default Newton's, 6.674e-11", least=0
    )
    softening: float = number(0.0, "m", "length whose square is added to the square of the distance", least=0)
    bodies: tuple[str, ...] | None = ON


@dataclass(frozen=True, slots=True)
class Drag(Force):
    """Resistance of a medium: force -(linear + quadratic |u|) u with u the velocity against ``wind``, at the centre of mass.

    linear [N s/m], quadratic [N s^2/m^2]; a body of area A and coefficient C_d has quadratic = density C_d A / 2.
    spin_linear [N m s], spin_quadratic [N m s^2]: torque -(spin_linear + spin_quadratic |w|) w.
    wind : (3,) velocity of the medium [m/s].
    """

    linear: float = number(0.0, "N s/m", "force for each m/s of speed", least=0)
    quadratic: float = number(0.0, "N s^2/m^2", "force for each m²/s² of squared speed", least=0)
    spin_linear: float = number(0.0, "N m s", "torque for each rad/s of angular speed", least=0)
    spin_quadratic: float = number(0.0, "N m s^2", "torque for each rad²/s² of squared angular speed", least=0)
    wind: tuple[float, float, float] = WIND
    bodies: tuple[str, ...] | None = ON


@dataclass(frozen=True, slots=True)
class Medium(Force):
    """Resistance of air or water to bodies of any form: that to the boxes which have their masses and moments of inertia.

    density [kg/m^3]: of a side of area A across the velocity u, density A u |u|/2, and as much for turning. viscosity [Pa s]:
    as of a ball of the mean half side r, 6 pi viscosity r u and 8 pi viscosity r^3 w. No buoyancy and no added mass: as MuJoCo's
    model of a medium by inertia has it. Where two moments are equal, the box has the axes of the body, turned the
    shortest way to the third.
    wind : (3,) velocity of the medium [m/s].
    """

    density: float = number(
        0.0, "kg/m^3", "its resistance grows with the square of the speed, and is that of a box of the body's size", least=0
    )
    viscosity: float = number(
        0.0, "Pa s", "its resistance grows with the speed, and is that of a ball of the body's size", least=0
    )
    wind: tuple[float, float, float] = WIND
    bodies: tuple[str, ...] | None = ON


@dataclass(frozen=True, slots=True)
class Spring(Force):
    """A spring and damper along the line between a point of body ``a`` and a point of body ``b``, or of the world.

    stiffness [N/m], damping [N s/m], length at rest [m]. Damping acts on the change of length. With ``slack`` it is a
    rubber band: it pulls but does not push.
    anchor_a, anchor_b : (3,) [m] in the frames of the bodies; ``anchor_b`` in the world where ``b`` is left out.
    The spring has a potential, stiffness (stretch)^2 / 2; the damper has none.
    """

    a: str = checked(_name, told="name of a body")
    b: str | None = checked(_name, None, told="name of another body; by default the other end is a point of the world")
    stiffness: float = number(0.0, "N/m", "force for each metre of stretch", least=0)
    length: float = number(0.0, "m", "length at which it gives no force", least=0)
    damping: float = number(0.0, "N s/m", "force for each m/s at which its ends part", least=0)
    anchor_a: tuple[float, float, float] = vector(ORIGIN, "m", "where it is fixed, in the frame of a")
    anchor_b: tuple[float, float, float] = vector(ORIGIN, "m", "where it is fixed, in the frame of b, or of the world")
    slack: bool = flag(told="true: it pulls but does not push, as a rubber band")

    def __post_init__(self) -> None:
        Force.__post_init__(self)
        if self.a == self.b:
            raise InputError("b", self.b, "must be another body than a, or be left out for a point of the world")

    def on(self) -> tuple[str, ...]:
        return (self.a,) if self.b is None else (self.a, self.b)


@dataclass(frozen=True, slots=True)
class ConstantForce(Force):
    """A force [N] and a torque [N m], constant in the frame of the ``world`` or of the ``body``.

    point : (3,) [m] of the body frame where the force acts; left out, the centre of mass.
    """

    force: tuple[float, float, float] = vector(ORIGIN, "N", "force on each body")
    torque: tuple[float, float, float] = vector(ORIGIN, "N m", "torque on each body")
    frame: str = FRAME
    point: tuple[float, float, float] | None = POINT
    bodies: tuple[str, ...] | None = ON


@dataclass(frozen=True, slots=True)
class TabulatedForce(Force):
    """A force [N] and a torque [N m] over time, linear between the ``times`` [s], zero before the first and after the last.

    times : (k,) rising. forces, torques : (k, 3); left out, zero. Keep kinks on ends of steps: within a step they cost the
    integrator its order. frame, point : as for :class:`ConstantForce`.
    """

    times: tuple[float, ...] = checked(_times, takes="list of numbers", unit="s", told="times, rising")
    forces: tuple[tuple[float, float, float], ...] | None = checked(
        None, None, "rows", unit="N", told="a force for each time, linear in between"
    )
    torques: tuple[tuple[float, float, float], ...] | None = checked(
        None, None, "rows", unit="N m", told="a torque for each time, linear in between"
    )
    frame: str = FRAME
    point: tuple[float, float, float] | None = POINT
    bodies: tuple[str, ...] | None = ON

    def __post_init__(self) -> None:
        Force.__post_init__(self)
        for name in ("forces", "torques"):
            rows = getattr(self, name)
            if rows is None:
                continue
            if isinstance(rows, (str, bytes)) or not hasattr(rows, "__len__") or len(rows) != len(self.times):
                raise InputError(name, plain_value(rows), f"must be {len(self.times)} vectors, one for each time")
            self._put(name, tuple(check_vector(name, row) for row in rows))


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
    bodies: tuple[str, ...] | None = ON

    def __post_init__(self) -> None:
        if self.function is not None and not callable(self.function):
            hint = "must be a function of (t, position, orientation, velocity, angular_velocity)"
            raise InputError("function", self.function, hint)
        if not self.name and self.function is not None:
            self._put("name", getattr(self.function, "__name__", type(self.function).__name__))
        Force.__post_init__(self)

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
