"""Shapes: frozen, validated values, equal when their numbers are equal.

Lengths in metres, from 1e-30 to 1e30, in the frame of the shape. Axes of revolution lie along the local z.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tumble.collision.errors import (
    LEAST_LENGTH,
    MOST_LENGTH,
    InputError,
    check_length,
    check_lengths,
    check_number,
    check_point,
    check_vector,
    unit,
)
from tumble.collision.hints import Numbers, PoseLike, Rows
from tumble.collision.pose import Pose, as_pose
from tumble.collision.spelling import spelled

# What is kept beside the fields: tables, where these are in stock; of compounds places of pieces, a tree of their balls, a hash.
KEPT = ("_packed", "_place", "_places", "_balls", "_hash")

CHECKS = {
    "radius": check_length, "half_length": check_length, "half_height": check_length, "half_extents": check_lengths,
    "radii": check_lengths,
}  # fmt: skip


class Shape:
    """Base of all shapes; ``type`` is the name in files."""

    type: str

    def __post_init__(self) -> None:
        """Lengths are checked by the names of their fields; a shape with others checks its own."""
        self._set(**{name: CHECKS[name](name, getattr(self, name)) for name in self.__dataclass_fields__})

    def to_dict(self) -> dict[str, Any]:
        """Plain data from which `shape_from_dict` makes an equal shape."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {"type": self.type} | {name: list(v) if isinstance(v, tuple) else v for name, v in fields.items()}

    def stored(self) -> dict[str, Any]:
        """The same for files that no person reads: long arrays of a ground are packed."""
        return self.to_dict()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in KEPT}  # tables are made anew

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


@spelled
@dataclass(frozen=True)
class HalfSpace(Shape):
    """All points with normal . x <= offset: the ground, with its normal pointing out of it.

    The normal is taken as a direction and stored with unit length; ``offset`` [m] is measured along the unit normal.
    """

    normal: Numbers = (0.0, 0.0, 1.0)
    offset: float = 0.0
    type = "halfspace"

    def __post_init__(self) -> None:
        normal = check_vector("normal", self.normal)
        length = math.hypot(*normal)
        if not 1e-150 < length < 1e150:
            raise InputError("normal", self.normal, "must be a direction, not zero")
        offset = check_number("offset", self.offset)
        if abs(offset) > MOST_LENGTH:
            raise InputError("offset", self.offset, f"must not be more than {MOST_LENGTH:g} m")
        self._set(normal=unit(normal), offset=offset)


@spelled
@dataclass(frozen=True)
class Sphere(Shape):
    """Ball about the local origin."""

    radius: float = 0.5
    type = "sphere"


@spelled
@dataclass(frozen=True)
class Box(Shape):
    """Cuboid about the local origin; ``half_extents`` are half of its edges along x, y, z."""

    half_extents: Numbers = (0.5, 0.5, 0.5)
    type = "box"


@spelled
@dataclass(frozen=True)
class Capsule(Shape):
    """All points within ``radius`` of the segment from (0, 0, -half_length) to (0, 0, half_length)."""

    radius: float = 0.1
    half_length: float = 0.5
    type = "capsule"


@spelled
@dataclass(frozen=True)
class Cylinder(Shape):
    """Cylinder about the local origin, from z = -half_length to half_length."""

    radius: float = 0.1
    half_length: float = 0.5
    type = "cylinder"


@spelled
@dataclass(frozen=True)
class Cone(Shape):
    """Cone with its tip at z = half_height and its base disc at z = -half_height."""

    radius: float = 0.1
    half_height: float = 0.5
    type = "cone"


@spelled
@dataclass(frozen=True)
class Ellipsoid(Shape):
    """Ellipsoid about the local origin; ``radii`` are its half axes along x, y, z."""

    radii: Numbers = (0.1, 0.2, 0.3)
    type = "ellipsoid"


@spelled
@dataclass(frozen=True, eq=False)
class ConvexHull(Shape):
    """Convex hull of ``vertices`` (n, 3), n >= 1. Flat, collinear and single points are legal (but have no mass)."""

    vertices: np.ndarray
    type = "hull"

    if TYPE_CHECKING:  # rows of any kind are made into an array

        def __init__(self, vertices: Rows) -> None: ...

    def __post_init__(self) -> None:
        try:
            given = np.asarray(self.vertices)
            vertices = np.array(given if given.dtype.kind in "iufO" else (), np.float64, order="C")
        except (TypeError, ValueError):
            vertices = np.empty(0)
        if vertices.ndim != 2 or vertices.shape[1] != 3 or len(vertices) == 0 or not np.all(np.isfinite(vertices)):
            raise InputError("vertices", self.vertices, "must be an (n, 3) array of finite numbers with n >= 1")
        extent = np.ptp(vertices, axis=0).max()
        if np.abs(vertices).max() > MOST_LENGTH or 0.0 < extent < LEAST_LENGTH:
            hint = f"must lie within {MOST_LENGTH:g} m of the origin, and span {LEAST_LENGTH:g} m or nothing"
            raise InputError("vertices", self.vertices, hint)
        vertices += 0.0  # -0.0 and 0.0 are equal but differ in their bytes
        vertices.setflags(write=False)
        self._set(vertices=vertices, _hash=hash(vertices.tobytes()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConvexHull):
            return NotImplemented
        return self._hash == other._hash and np.array_equal(self.vertices, other.vertices)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type, tuple[np.ndarray]]:
        return ConvexHull, (self.vertices,)

    def __repr__(self) -> str:
        if len(self.vertices) <= 8:
            return f"ConvexHull({self.vertices.tolist()})"
        return f"ConvexHull(<{len(self.vertices)} vertices>)"

    def to_dict(self) -> dict[str, Any]:
        return {"type": self.type, "vertices": self.vertices.tolist()}


@spelled
@dataclass(frozen=True)
class Rounded(Shape):
    """All points within ``radius`` of a convex shape: a box with soft edges, a margin as part of the shape.

    Known elsewhere as swept sphere radius (coal), collision margin or convex radius. The rounding adds to the outside: for the
    size of a sharp box give the box less the radius. A rounded rounded shape has the sum of both radii.
    """

    shape: Shape
    radius: float = 0.05
    type = "rounded"

    def __post_init__(self):
        shape, radius = self.shape, check_length("radius", self.radius)
        if isinstance(shape, HalfSpace):
            raise InputError("shape", shape, "a half-space with a skin is a half-space: add the radius to its offset")
        if isinstance(shape, Compound):
            raise InputError("shape", shape, "is not convex: round each of its parts")
        if isinstance(shape, Rounded):
            shape, radius = shape.shape, check_length("radius", shape.radius + radius)
        elif not isinstance(shape, CONVEX_CLASSES):
            raise InputError("shape", shape, f"must be a convex shape, one of {', '.join(c.__name__ for c in CONVEX_CLASSES)}")
        self._set(shape=shape, radius=radius)

    def to_dict(self) -> dict:
        return {"type": self.type, "shape": self.shape.to_dict(), "radius": self.radius}


CONVEX_CLASSES = (Sphere, Box, Capsule, Cylinder, Cone, Ellipsoid, ConvexHull)  # that may be rounded


@spelled
@dataclass(frozen=True)
class Compound(Shape):
    """Convex pieces fixed to each other: pairs of a shape and its pose in the frame of the compound.

    A compound among the parts is spread out. The pieces should not overlap: mass counts an overlap twice.

    ``volume`` [m^3], ``center`` [m] and ``inertia`` (3, 3) [m^5, density 1, about the centre], given together, are the mass
    properties of the body itself where the pieces only come near it, as those of a mesh do; else they are the sums.
    """

    parts: tuple[tuple[Shape, Pose], ...]
    volume: float | None = None
    center: tuple[float, float, float] | None = None
    inertia: tuple[tuple[float, float, float], ...] | None = None
    type = "compound"

    if TYPE_CHECKING:  # what is given is made into tuples

        def __init__(
            self,
            parts: Sequence[tuple[Shape, PoseLike]],
            volume: float | None = None,
            center: Numbers | None = None,
            inertia: Rows | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        hint = "must be one or more pairs (shape, Pose)"
        try:
            pairs = [tuple(pair) for pair in self.parts]
        except TypeError:
            raise InputError("parts", self.parts, hint) from None
        flat = []
        own = self.volume is not None or self.center is not None or self.inertia is not None
        sums = False
        for pair in pairs:
            if len(pair) != 2 or not isinstance(pair[0], Shape):
                raise InputError("parts", pair, hint)
            shape, pose = pair[0], as_pose("parts", pair[1])
            if isinstance(shape, HalfSpace):
                raise InputError("parts", shape, "a half-space has no end and can not be a part of a compound")
            if shape.type in GROUND_TYPES:
                raise InputError(
                    "parts", shape, "is ground and can not be a part of a compound: give it a static body of its own"
                )
            if isinstance(shape, Compound):
                flat += [(s, pose @ p) for s, p in shape.parts]
                sums = sums or shape.volume is not None
            else:
                flat.append((shape, pose))
        if not flat:
            raise InputError("parts", self.parts, hint)
        if sums and not own:  # the pieces of a part do not tell its mass
            from tumble.collision.solids.mass_properties import composed

            volume, center, inertia = composed(pairs)
            self._set(volume=float(volume), center=tuple(center.tolist()), inertia=tuple(map(tuple, inertia.tolist())))
        elif own:
            self._set(volume=check_number("volume", self.volume, above=0), center=check_point("center", self.center))
            self._set(inertia=_check_inertia(self.inertia))
        self._set(parts=tuple(flat))

    def __hash__(self) -> int:
        found = self.__dict__.get("_hash")
        if found is None:
            found = hash((self.parts, self.volume, self.center, self.inertia))
            self._set(_hash=found)
        return found

    def to_dict(self) -> dict[str, Any]:
        parts = [{"shape": s.to_dict(), "position": list(p.position), "orientation": list(p.orientation)} for s, p in self.parts]
        data = {"type": self.type, "parts": parts}
        if self.volume is not None:
            data |= {"volume": self.volume, "center": list(self.center), "inertia": [list(row) for row in self.inertia]}
        return data


def _check_inertia(value) -> tuple:
    """Three rows of a tensor that a body can have: symmetric, no principal moment above the sum of the others."""
    try:
        matrix = np.array(value, float)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.shape != (3, 3) or not np.all(np.isfinite(matrix)) or np.abs(matrix - matrix.T).max() > 1e-9 * np.abs(matrix).max():
        raise InputError("inertia", value, "must be a symmetric 3x3 matrix")
    moments = np.linalg.eigvalsh(matrix)
    if not moments[0] > 0 or moments[2] > (moments[0] + moments[1]) * (1 + 1e-9):
        raise InputError("inertia", value, "belongs to no body: moments must be positive, none above the sum of the others")
    return tuple(map(tuple, matrix.tolist()))


GROUND_TYPES = ("triangle_mesh", "height_field")  # ground.py
SHAPES = {c.type: c for c in (HalfSpace, *CONVEX_CLASSES, Rounded, Compound)}


def shape_from_dict(data: dict[str, Any]) -> Shape:
    """The shape that `to_dict` wrote. Fields left out take their defaults; InputError names an unknown or missing one."""
    if not isinstance(data, dict) or "type" not in data:
        raise InputError("shape", data, f"must be a table with `type`, one of {', '.join((*SHAPES, *GROUND_TYPES))}")
    kind = data["type"]
    if not isinstance(kind, str) or kind not in (*SHAPES, *GROUND_TYPES):
        raise InputError("type", kind, f"must be one of {', '.join((*SHAPES, *GROUND_TYPES))}")
    cls: Any = SHAPES.get(kind)
    if cls is None:
        from tumble.collision.shapes import ground

        cls = ground.GROUND_CLASSES[kind]
    values = {key: value for key, value in data.items() if key != "type"}
    known = tuple(cls.__dataclass_fields__)
    for key in values:
        if key not in known:
            raise InputError(key, values[key], f"unknown for a {kind}; it takes {', '.join(known)}")
    if kind == "compound":
        return Compound(_parts_from_list(values.pop("parts", None)), **values)
    if kind == "rounded":
        if "shape" not in values:
            raise InputError("shape", None, "missing: a rounded shape needs a table of the shape within")
        values["shape"] = shape_from_dict(values["shape"])
    for key in ("vertices", "triangles", "heights") if kind in GROUND_TYPES else ():
        if key in known and key not in values:
            raise InputError(key, None, f"missing: a {kind} needs it")
        if key in known:
            values[key] = ground.of_bits(key, values[key])
    if kind == "hull" and "vertices" not in values:
        raise InputError("vertices", None, "missing: a hull needs an (n, 3) list of points")
    return cls(**values)


def _parts_from_list(parts: Any) -> list[tuple[Shape, Pose]]:
    if not isinstance(parts, (list, tuple)):
        raise InputError("parts", parts, "must be a list of tables with shape, position, orientation")
    result = []
    for part in parts:
        if not isinstance(part, dict) or "shape" not in part or not set(part) <= {"shape", "position", "orientation"}:
            raise InputError("parts", part, "each part must be a table with shape, position, orientation")
        pose = Pose(part.get("position", (0.0, 0.0, 0.0)), part.get("orientation", (1.0, 0.0, 0.0, 0.0)))
        result.append((shape_from_dict(part["shape"]), pose))
    return result


_HERE = Pose()  # made once: scenes ask for the pieces of each of their bodies


def convex_parts(shape: Shape) -> list[tuple[Shape, Pose]]:
    """The convex pieces of a shape, each with its pose in the frame of the shape."""
    return list(shape.parts) if isinstance(shape, Compound) else [(shape, _HERE)]
