"""Shapes at poses, and the two kernels called on them with plain arrays; shared by the tests of pairs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from tumble.collision.narrowphase import distance, manifold
from tumble.collision.pose import Pose
from tumble.collision.shapes.definitions import Box, Capsule, Cone, ConvexHull, Cylinder, Ellipsoid, HalfSpace, Sphere
from tumble.collision.shapes.shapeset import ShapeSet

EPS = np.finfo(float).eps
UNTURNED = np.eye(3)
CASES = {c["name"]: c for c in json.loads((Path(__file__).parents[1] / "data" / "pairs.json").read_text())}


def turn(rng) -> np.ndarray:
    """A uniformly random rotation matrix."""
    q = rng.normal(size=4)
    return Pose((0, 0, 0), tuple(q / np.linalg.norm(q))).matrix()


def about(axis, angle) -> np.ndarray:
    """Rotation matrix; small angles keep their digits."""
    axis = np.array(axis, float) / np.linalg.norm(axis)
    return Pose((0, 0, 0), (math.cos(angle / 2), *(math.sin(angle / 2) * axis))).matrix()


MAKE = {
    "hull": ConvexHull,
    "box": Box,
    "sphere": Sphere,
    "ellipsoid": Ellipsoid,
    "capsule": lambda size: Capsule(*size),
    "cylinder": lambda size: Cylinder(*size),
    "cone": lambda size: Cone(*size),
}
COLLECTED = json.loads((Path(__file__).parents[1] / "data" / "cases.json").read_text(encoding="utf-8"))["cases"]
FIELDS = {
    "hull": (ConvexHull, "vertices"),
    "box": (Box, "half_extents"),
    "sphere": (Sphere, "radius"),
    "capsule": (Capsule, "radius", "half_length"),
    "cylinder": (Cylinder, "radius", "half_length"),
    "cone": (Cone, "radius", "half_length"),
    "ellipsoid": (Ellipsoid, "radii"),
}
CURVED = (Cylinder, Cone, Ellipsoid)


def case_body(data):
    """(shape, position, rotation matrix) of one side of a case."""
    shape = next(make(data[key]) for key, make in MAKE.items() if key in data)
    r = data["r"]
    if len(r) == 4:
        r = Pose((0, 0, 0), tuple(np.array(r) / np.linalg.norm(r))).matrix()
    return shape, np.array(data["x"], float), np.array(r, float)


def collected_body(data):
    """(shape, position, rotation) of one side of a collected case; a printed matrix is used as it stands."""
    make, *names = FIELDS[data["type"]]
    r = np.array(data["rotation"])
    if r.shape == (4,):
        r = Pose((0, 0, 0), r / np.linalg.norm(r)).matrix()
    return make(*(data[name] for name in names)), np.array(data["position"], float), r


def _arguments(a, b):
    g = ShapeSet([a[0], b[0]]).geometry
    places = [(tuple(map(float, x)), tuple(map(float, np.ravel(r)))) for _, x, r in (a, b)]
    return g, places


def measure(a, b, margin=math.inf, axis=(0.0, 0.0, 0.0)):
    """The distance kernel on bodies (shape, position, rotation); also their geometry and world vertices relative to a."""
    g, (at_a, at_b) = _arguments(a, b)
    names = ["status", "distance", "lower", "upper", "normal", "point_a", "point_b", "iterations"]
    found = distance(g, 0, *at_a, 1, *at_b, float(margin), tuple(map(float, axis)))
    values = [np.array(v) if isinstance(v, tuple) else v for v in found]
    return SimpleNamespace(**dict(zip(names, values, strict=True)), size=pair_size(a, b))


def touch(a, b, margin=0.0, axis=(0.0, 0.0, 0.0)):
    """The manifold kernel: count, normal, status, and its rows by name."""
    g, (at_a, at_b) = _arguments(a, b)
    rows, ids = np.full((8, 14), np.nan), np.zeros(8, np.int64)
    count, normal, status = manifold(g, 0, *at_a, 1, *at_b, float(margin), tuple(map(float, axis)), rows, ids)
    rows, ids = rows[:count], ids[:count]
    return SimpleNamespace(
        count=count,
        normal=np.array(normal),
        status=status,
        points=rows[:, :3],
        gaps=rows[:, 3],
        dir_a=rows[:, 4:7],
        curvature_a=rows[:, 7:9],
        dir_b=rows[:, 9:12],
        curvature_b=rows[:, 12:14],
        ids=ids,
        size=pair_size(a, b),
    )


def local_vertices(shape) -> np.ndarray:
    """Points whose hull is the core of a shape that is not curved."""
    if isinstance(shape, Box):
        return np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * shape.half_extents
    if isinstance(shape, Capsule):
        return np.array([(0, 0, -1), (0, 0, 1)]) * shape.half_length
    return shape.vertices if isinstance(shape, ConvexHull) else np.zeros((1, 3))


def vertices(body, origin) -> np.ndarray:
    """World vertices of the core, relative to an origin."""
    shape, x, r = body
    return local_vertices(shape) @ np.asarray(r).T + (np.asarray(x) - origin)


def radius(shape) -> float:
    return shape.radius if isinstance(shape, (Sphere, Capsule)) else 0.0


def reach(shape, d) -> np.ndarray:
    """Support function: the largest d.x over the shape, for directions (..., 3) in its frame."""
    d = np.asarray(d, float)
    across, z = np.hypot(d[..., 0], d[..., 1]), d[..., 2]
    match shape:
        case Cylinder(radius=r, half_length=h):
            return r * across + h * abs(z)
        case Cone(radius=r, half_height=h):
            return np.maximum(h * z, r * across - h * z)
        case Ellipsoid(radii=radii):
            return np.linalg.norm(d * radii, axis=-1)
        case HalfSpace():
            raise ValueError("no end")
    return (d @ local_vertices(shape).T).max(axis=-1) + radius(shape) * np.linalg.norm(d, axis=-1)


def separation(a, b, n):
    """min over B of n.x - max over A of n.x, by support functions that the program does not share; n (..., 3)."""
    n = np.asarray(n, float)
    return n @ (np.asarray(b[1]) - a[1]) - reach(b[0], -n @ np.asarray(b[2])) - reach(a[0], n @ np.asarray(a[2]))


def bounding_radius(shape) -> float:
    """Of the ball about the local origin."""
    match shape:
        case Cylinder(radius=r, half_length=h) | Cone(radius=r, half_height=h):
            return math.hypot(r, h)
        case Ellipsoid(radii=radii):
            return max(radii)
    return float(np.linalg.norm(local_vertices(shape), axis=1).max() + radius(shape))


def pair_size(a, b) -> float:
    """Length by which rounding is measured."""
    return bounding_radius(a[0]) + bounding_radius(b[0]) + np.linalg.norm(np.asarray(b[1]) - np.asarray(a[1]))


def shape_of(kind, a, b, c, cloud):
    """A convex shape of a kind with sizes a, b, c; ``cloud()`` gives the points of a hull."""
    match kind:
        case "cylinder":
            return Cylinder(a, b)
        case "cone":
            return Cone(a, b)
        case "ellipsoid":
            return Ellipsoid((a, b, c))
        case "capsule":
            return Capsule(a, b)
        case "box":
            return Box((a, b, c))
        case "sphere":
            return Sphere(a)
    return ConvexHull(cloud())
