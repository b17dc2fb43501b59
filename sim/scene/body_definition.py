"""What a body is before it lives in a world: one frozen record, checked field by field."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from tumble.collision.errors import check_number, check_vector
from tumble.collision.shapes.definitions import HalfSpace, Shape, shape_from_dict
from tumble.collision.shapes.ground import Ground
from tumble.collision.solids.mass_properties import mass_properties
from tumble.collision.spelling import did_you_mean
from tumble.sim.checks import (
    ORIGIN,
    Record,
    check_fields,
    check_inertia,
    check_orientation,
    check_range,
    check_text,
    check_weight,
    checked,
    flag,
    number,
    one_of,
    plain_value,
    vector,
)
from tumble.sim.errors import InputError
from tumble.sim.forces.path import Path
from tumble.sim.scene.visual import FINISHES, RELIEF, Visual, check_finish

BODY_KINDS = ("dynamic", "static", "kinematic")
Kind: TypeAlias = Literal["dynamic", "static", "kinematic"]


def rgb(name: str, value: object) -> tuple[float, float, float]:
    """(r, g, b) in [0, 1] of a colour: a name of CSS, "#rrggbb", "#rgb" or three numbers. ``name``: of the field."""
    if not isinstance(value, str):
        r, g, b = (check_range(name, component, 0, 1) for component in check_vector(name, value))
        return r, g, b
    from PIL import ImageColor

    given = value.replace(" ", "").lower()
    digits = given.removeprefix("#")
    if given in ImageColor.colormap or (len(digits) in (3, 6) and all(c in "0123456789abcdef" for c in digits)):
        r, g, b = ImageColor.getrgb(given if given in ImageColor.colormap else f"#{digits}")[:3]
        return r / 255, g / 255, b / 255
    hint = 'must be the name of a colour, "#rrggbb", "#rgb" or three numbers in [0, 1]'
    raise InputError(name, value, hint + did_you_mean(given, ImageColor.colormap))


def _bits(least: int, default: int, told: str) -> Any:
    """A field for a set of bits."""

    def check(name: str, value: Any) -> int:
        if isinstance(value, bool) or not hasattr(value, "__index__") or not least <= int(value) < 2**32:
            raise InputError(name, value, f"must be a whole number in [{least}, 2^32), a set of bits")
        return int(value)

    return checked(check, default, "whole", least=least, high=2**32 - 1, told=told)


def _between(low: float, high: float, default: float | None, told: str) -> Any:
    """A field for a number in [low, high]."""
    return checked(partial(check_range, low=low, high=high), default, "number", low=low, high=high, told=told)


def _moment(told: str) -> Any:
    """A field for the largest moment in a contact by the force that presses it."""
    return checked(partial(check_number, least=0, unit="[m]"), 0.0, "number", least=0, unit="m", told=told)


def _check_sticking(static: float | None, sliding: float) -> None:
    if static is not None and static < sliding:
        raise InputError("static_friction", static, f"must not be less than friction, {sliding:g}")


def _material(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise InputError(name, value, "must be the name of a material")
    return value


def _visual(name: str, value: Any) -> Visual:
    return value if isinstance(value, Visual) else Visual(value)


@dataclass(frozen=True, slots=True)
class BodyDef(Record):
    """A rigid body: shape, pose, velocity, mass and material. SI units; checked when made; compares by value.

    Parameters
    ----------
    shape : a shape of ``collision`` in the body frame.
    name : unique in a scene; given by the scene where it is left empty.
    kind : "dynamic" moves by the laws of motion; "static" never moves; "kinematic" moves at its given velocity or
        on its path, unmoved by forces and contacts.
    position : (3,) [m] the origin of the body frame in the world.
    orientation : (4,) unit quaternion (w, x, y, z), body to world. Up to 1e-3 off unit length is normalised.
    velocity : (3,) [m/s] of the centre of mass.
    angular_velocity : (3,) [rad/s] in the world frame.
    path : a :class:`~tumble.sim.forces.path.Path` that a kinematic body follows; it then gives position and orientation.
    density : [kg/m^3], used where ``mass`` is not given.
    mass : [kg].
    inertia : (3, 3) [kg m^2] about the centre of mass, in body axes; or (3,) principal moments along the body axes.
        Left out, it is that of the shape filled evenly.
    center_of_mass : (3,) [m] in the body frame. Left out, it is that of the shape filled evenly. A body with a centre
        of mass of its own needs an ``inertia`` of its own, for the distribution of its mass is then not the shape's.
    groups : whole number in [1, 2^32), a set of bits: what the body is.
    mask : whole number in [0, 2^32), a set of bits: two bodies meet where each one's mask has a bit of the other's groups.
    sensor : the body feels overlap, which makes events, and touches nothing.
    material : name of a material of the scene or world; it gives the fields below that are not given here, and density.
    friction : Coulomb's coefficient, >= 0.
    static_friction : of a contact that sticks, not less than friction; left out, they are the same.
    restitution : in [0, 1].
    tangential_restitution : in [-1, 1]: a point that would stick in an impact leaves with so much of its slip reversed: 1 for
        a perfectly rough elastic ball, 0 sticks, -1 is smooth. Left out, there is none; of two bodies the larger holds.
    rolling_friction, torsional_friction : [m] a contact pressed by N resists turning by moments up to so much times N: in the
        contact plane, and about the normal. Of two bodies the larger holds.
    surface_velocity : (3,) [m/s] at which the surface moves against the body, in the body frame, as that of a conveyor.
    surface_spin : (3,) [rad/s] the same by turning about the origin of the body frame, as a turntable.
    color : a name ("red", "steelblue"), "#rrggbb", "#rgb" or (r, g, b) in [0, 1]; left out, the renderer picks one.
    finish : "plain", "matte", "metal", "rubber" or "glass": how its surface takes the light in pictures; "relief": ground that is
        coloured by height.
    visual : a :class:`~tumble.sim.scene.visual.Visual`, or the name of a mesh file: drawn in place of the shape, which collides.

    Raises
    ------
    InputError : names the field and its value.
    """

    shape: Shape
    name: str = checked(check_text, "", told="name, which no other body has")
    kind: str = one_of(
        BODY_KINDS, "dynamic", "dynamic moves by the laws of motion, static never, kinematic as it is told; by default dynamic"
    )
    position: tuple[float, float, float] = vector(ORIGIN, "m", "where the origin of the body frame is")
    orientation: tuple[float, float, float, float] = checked(
        check_orientation, (1.0, 0.0, 0.0, 0.0), "vector", n=4,
        told="unit quaternion (w, x, y, z) that turns body axes into world axes",
    )  # fmt: skip
    velocity: tuple[float, float, float] = vector(ORIGIN, "m/s", "velocity of the centre of mass")
    angular_velocity: tuple[float, float, float] = vector(ORIGIN, "rad/s", "angular velocity in world axes")
    path: Path | None = None
    density: float = number(1000.0, "kg/m^3", "density, from which the mass follows unless mass is given", above=0)
    mass: float | None = number(None, "kg", "mass, instead of density", above=0)
    inertia: tuple[tuple[float, float, float], ...] | None = checked(
        check_inertia, None, "inertia",
        told="about the centre of mass in body axes: three principal moments, or three rows; else that of the shape",
    )  # fmt: skip
    center_of_mass: tuple[float, float, float] | None = vector(
        None, "m", "centre of mass in the body frame; needs inertia too; by default that of the shape"
    )
    groups: int = _bits(1, 1, "set of bits: the groups that the body belongs to; by default 1")
    mask: int = _bits(0, 0xFFFFFFFF, "set of bits: the groups it collides with, if they collide with its own; by default all")
    sensor: bool = flag(told="true: it reports which bodies overlap it, as events, and collides with nothing")
    material: str = checked(
        _material, "",
        told="name of a [material.NAME] table; a key that the body has itself is used instead of the material's",
    )  # fmt: skip
    friction: float = number(0.5, "", "Coulomb's coefficient of friction", least=0)
    static_friction: float | None = number(
        None, "", "coefficient of friction of a contact that does not slide; by default the same as friction", least=0
    )
    restitution: float = _between(0, 1, 0.0, "coefficient of restitution: 0 does not bounce, 1 loses nothing in a bounce")
    tangential_restitution: float | None = _between(
        -1, 1, None, "part of the sliding velocity that an impact turns round: 1 for a superball"
    )
    rolling_friction: float = _moment("rolling resistance: the largest moment against rolling is this times the normal force")
    torsional_friction: float = _moment("the same against spinning about the contact normal")
    surface_velocity: tuple[float, float, float] = vector(
        ORIGIN, "m/s", "velocity of a moving surface, such as a conveyor belt, against its body, in the body frame"
    )
    surface_spin: tuple[float, float, float] = vector(
        ORIGIN, "rad/s", "angular velocity of a moving surface, such as a turntable, about the origin of the body frame"
    )
    color: tuple[float, float, float] | None = checked(
        rgb, None, "color", told='a name, "#rrggbb", "#rgb" or three numbers in [0, 1]'
    )
    finish: str = checked(
        check_finish, "plain", choices=(*FINISHES, RELIEF),
        told="how the surface looks in pictures; by default plain; relief is for ground",
    )  # fmt: skip
    visual: Visual | None = checked(_visual, None)

    def __post_init__(self) -> None:
        if not isinstance(self.shape, Shape):
            raise InputError("shape", self.shape, "must be a shape of collision, such as Box((0.5, 0.5, 0.5))")
        Record.__post_init__(self)
        _check_sticking(self.static_friction, self.friction)
        if self.path is not None:
            self._on_path()
        if isinstance(self.shape, HalfSpace) and self.kind != "static":
            raise InputError("kind", self.kind, 'a half-space has no finite mass: it must be "static"')
        if isinstance(self.shape, Ground):
            if self.kind != "static":
                raise InputError("kind", self.kind, f'a {self.shape.type} is ground, without a mass: it must be "static"')
            if self.sensor:
                raise InputError("sensor", True, f"a {self.shape.type} has no inside to feel: it can not be a sensor")
        elif self.finish == RELIEF:
            raise InputError("finish", RELIEF, "is for ground, a TriangleMesh or a HeightField; 'plain' is the usual one")
        if self.kind == "static":
            for field in ("velocity", "angular_velocity"):
                value = getattr(self, field)
                if any(value):
                    raise InputError(field, plain_value(value), 'must be zero for a static body (or kind="kinematic")')
        if self.kind == "dynamic":
            self._mass_is_known()

    def _on_path(self) -> None:
        if not isinstance(self.path, Path):
            raise InputError("path", self.path, "must be a Path")
        if self.kind != "kinematic":
            raise InputError(
                "path", plain_value(self.path.times), f'only a kinematic body follows a path; this one is "{self.kind}"'
            )
        for field in ("velocity", "angular_velocity"):
            if any(getattr(self, field)):
                raise InputError(field, plain_value(getattr(self, field)), "must be left out for a body that follows a path")
        for field, value in zip(("position", "orientation"), self.path.pose(0.0), strict=True):
            if value is not None:
                self._put(field, tuple(value.tolist()))

    def _mass_is_known(self) -> None:
        if self.center_of_mass is not None and self.inertia is None:
            raise InputError("center_of_mass", plain_value(self.center_of_mass), "needs inertia too, given about this point")
        if self.mass is not None:
            check_weight("mass", self.mass, "mass", self.mass, "kg")
            if self.inertia is not None:
                return
        volume, _, inertia = mass_properties(self.shape)
        if not volume > 0:
            missing = " and ".join(f for f in ("mass", "inertia") if getattr(self, f) is None)
            raise InputError("shape", self.shape, f"has no volume, so {missing} must be given")
        name, mass = ("density", self.density * volume) if self.mass is None else ("mass", self.mass)
        check_weight(name, getattr(self, name), "mass", mass, "kg")
        if self.inertia is None:
            check_weight(name, getattr(self, name), "moment", mass / volume * float(inertia.trace()), "kg m^2")

    def mass_properties(self) -> tuple[float, np.ndarray, np.ndarray]:
        """``(mass [kg], centre of mass (3,) [m] in the body frame, inertia (3, 3) [kg m^2] about it in body axes)``.

        Static and kinematic bodies have infinite mass and inertia; they turn about ``center_of_mass``, or about the
        origin of their body frame where it is not given.
        """
        center = None if self.center_of_mass is None else np.array(self.center_of_mass)
        if self.kind != "dynamic":
            return np.inf, np.zeros(3) if center is None else center, np.diag([np.inf] * 3)
        if self.mass is not None and self.inertia is not None and center is not None:
            return self.mass, center, np.array(self.inertia)
        solid = mass_properties(self.shape)
        mass = self.mass if self.mass is not None else self.density * solid.volume
        if center is None:
            center = np.array(solid.center, dtype=float)
        if self.inertia is not None:
            return mass, center, np.array(self.inertia)
        return mass, center, (mass / solid.volume) * np.array(solid.inertia, dtype=float)

    def to_dict(self, material: dict[str, Any] | None = None, stored: bool = False) -> dict[str, Any]:
        """Plain numbers, texts and lists. Fields at their defaults, or as the material has them, are left out. ``stored``: for a
        file that no person reads (`Shape.stored`)."""
        out: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "shape":
                out["shape"] = value.stored() if stored else value.to_dict()
            elif field.name in ("path", "visual") and value is not None:
                out[field.name] = value.to_dict()
            elif value != (material or {}).get(field.name, field.default):
                out[field.name] = plain_value(value)
        return out

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> BodyDef:
        """The inverse of :meth:`to_dict`."""
        if "shape" not in data:
            raise InputError("shape", None, "a body needs a shape")
        check_fields(data, (field.name for field in fields(cls)), "a body")
        values = {**data, "shape": shape_from_dict(data["shape"])}
        if data.get("path") is not None:
            values["path"] = Path.from_dict(data["path"])
        if data.get("visual") is not None:
            values["visual"] = Visual.from_dict(data["visual"])
        return cls(**values)


def checked_fields(values: dict[str, Any]) -> dict[str, Any]:
    """What a material or a pair says of a body: fields of BodyDef, checked one by one, without those that are None."""
    known = BodyDef.__dataclass_fields__
    out = {key: known[key].metadata["check"](key, value) for key, value in values.items() if value is not None}
    _check_sticking(out.get("static_friction"), out.get("friction", 0.0))
    return out
