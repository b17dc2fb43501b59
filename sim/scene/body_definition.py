"""What a body is before it lives in a world: one frozen record, checked field by field."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np

from tumble.collision.errors import check_number, check_vector
from tumble.collision.shapes.definitions import HalfSpace, Shape, shape_from_dict
from tumble.collision.shapes.ground import Ground
from tumble.collision.solids.mass_properties import mass_properties
from tumble.collision.spelling import did_you_mean
from tumble.sim.checks import check_fields, check_inertia, check_orientation, check_range, check_weight, plain_value
from tumble.sim.errors import InputError
from tumble.sim.forces.path import Path
from tumble.sim.scene.materials import OPTIONAL, SURFACE_FIELDS
from tumble.sim.scene.visual import RELIEF, Visual, check_finish

BODY_KINDS = ("dynamic", "static", "kinematic")
Kind: TypeAlias = Literal["dynamic", "static", "kinematic"]


@dataclass(frozen=True, slots=True)
class BodyDef:
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
    name: str = ""
    kind: str = "dynamic"
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    orientation: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    angular_velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    path: Path | None = None
    density: float = 1000.0
    mass: float | None = None
    inertia: tuple[tuple[float, float, float], ...] | None = None
    center_of_mass: tuple[float, float, float] | None = None
    groups: int = 1
    mask: int = 0xFFFFFFFF
    sensor: bool = False
    material: str = ""
    friction: float = 0.5
    static_friction: float | None = None
    restitution: float = 0.0
    tangential_restitution: float | None = None
    rolling_friction: float = 0.0
    torsional_friction: float = 0.0
    surface_velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    surface_spin: tuple[float, float, float] = (0.0, 0.0, 0.0)
    color: tuple[float, float, float] | None = None
    finish: str = "plain"
    visual: Visual | None = None

    def __post_init__(self) -> None:
        put = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731  the record is frozen
        if not isinstance(self.shape, Shape):
            raise InputError("shape", self.shape, "must be a shape of collision, such as Box((0.5, 0.5, 0.5))")
        if not isinstance(self.name, str):
            raise InputError("name", self.name, "must be a text")
        if self.kind not in BODY_KINDS:
            raise InputError("kind", self.kind, f"must be one of {', '.join(BODY_KINDS)}")
        self._check_motion(put)
        self._check_surface(put)
        if self.color is not None:
            put("color", rgb("color", self.color))
        check_finish("finish", self.finish)
        if self.visual is not None and not isinstance(self.visual, Visual):
            put("visual", Visual(self.visual))
        if self.path is not None:
            self._on_path(put)
        if isinstance(self.shape, HalfSpace) and self.kind != "static":
            raise InputError("kind", self.kind, 'a half-space has no finite mass: it must be "static"')
        if isinstance(self.shape, Ground):
            if self.kind != "static":
                raise InputError("kind", self.kind, f'a {self.shape.type} is ground, without a mass: it must be "static"')
            if self.sensor:
                raise InputError("sensor", True, f"a {self.shape.type} has no inside to feel: it can not be a sensor")
        elif self.finish == RELIEF:
            raise InputError("finish", RELIEF, "is for ground, a TriangleMesh or a HeightField; 'plain' is the usual one")
        if self.kind == "dynamic":
            self._mass_is_known()

    def _check_motion(self, put: Any) -> None:
        """Where it is, how it moves, and what it weighs."""
        for field in ("position", "velocity", "angular_velocity", "surface_velocity", "surface_spin"):
            value = getattr(self, field)
            if value is not getattr(BodyDef, field):  # what is not said needs no check, in a scene of many
                put(field, check_vector(field, value))
        if self.orientation is not BodyDef.orientation:
            put("orientation", check_orientation("orientation", self.orientation))
        put("density", check_number("density", self.density, above=0))
        if self.mass is not None:
            put("mass", check_number("mass", self.mass, above=0))
        if self.inertia is not None:
            put("inertia", check_inertia("inertia", self.inertia))
        if self.center_of_mass is not None:
            put("center_of_mass", check_vector("center_of_mass", self.center_of_mass))
        if self.kind == "static":
            for field in ("velocity", "angular_velocity"):
                value = getattr(self, field)
                if any(value):
                    raise InputError(field, plain_value(value), 'must be zero for a static body (or kind="kinematic")')

    def _check_surface(self, put: Any) -> None:
        """What it meets, and what happens where they touch."""
        for field, least in (("groups", 1), ("mask", 0)):
            value = getattr(self, field)
            if isinstance(value, bool) or not hasattr(value, "__index__") or not least <= int(value) < 2**32:
                raise InputError(field, value, f"must be a whole number in [{least}, 2^32), a set of bits")
            put(field, int(value))
        if not isinstance(self.sensor, bool):
            raise InputError("sensor", self.sensor, "must be true or false")
        if not isinstance(self.material, str):
            raise InputError("material", self.material, "must be the name of a material")
        values = [getattr(self, field) for field in SURFACE_FIELDS]
        try:
            surface = _surface(*values)
        except TypeError:  # what has no hash is no number
            surface = check_surface(dict(zip(SURFACE_FIELDS, values, strict=True)))
        for field, value in surface.items():
            put(field, value)

    def _on_path(self, put: Any) -> None:
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
                put(field, tuple(value.tolist()))

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

    def replace(self, **changes: Any) -> BodyDef:
        """A copy with some fields changed, checked again."""
        return replace(self, **changes)

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


def check_surface(values: dict[str, Any]) -> dict[str, float | None]:
    """Coefficients of a surface or a pair, checked one by one; other keys are left out."""
    out = {}
    for key, (_, check) in SURFACE_FIELDS.items():
        if key in values:
            out[key] = None if values[key] is None and key in OPTIONAL else check(key, values[key])
    if out.get("static_friction") is not None and "friction" in out and out["static_friction"] < out["friction"]:
        raise InputError("static_friction", out["static_friction"], f"must not be less than friction, {out['friction']:g}")
    return out


@lru_cache(maxsize=256, typed=True)
def _surface(*values: object) -> dict[str, float | None]:
    """check_surface of all SURFACE_FIELDS, in their order: bodies of one kind share it."""
    return check_surface(dict(zip(SURFACE_FIELDS, values, strict=True)))


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
