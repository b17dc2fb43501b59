"""Convex sets of any dimension, as the reference sees them: a support map, and a margin around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tumble.collision.errors import InputError, check_number
from tumble.collision.hints import Numbers, PoseLike, Rows
from tumble.collision.pose import Pose, as_pose
from tumble.collision.shapes.definitions import Box, Capsule, Cone, ConvexHull, Cylinder, Ellipsoid, Rounded, Shape, Sphere
from tumble.collision.shapes.polytope import polytope as faces_of
from tumble.collision.shapes.support_shape import SupportShape

NO_NORMALS = np.empty((0, 3))


@dataclass(frozen=True, eq=False)
class Body:
    """All points within ``margin`` of a convex core.

    support(d): the point of the core furthest along d; d of any length, or (n, k) for n directions at once.
    center: a point of the core. size [m]: radius of a ball about the center that holds the core. normals: of the core's
    faces, directions worth a try.
    """

    support: Callable[[np.ndarray], np.ndarray]
    center: np.ndarray
    size: float
    margin: float
    normals: np.ndarray


def polytope(vertices: Rows, margin: float = 0.0) -> Body:
    """The hull of points (n, k) in k dimensions, with a margin."""
    try:
        points = np.array(vertices, float)
    except (TypeError, ValueError):
        points = np.empty(0)
    if points.ndim != 2 or points.size == 0 or not np.all(np.isfinite(points)):
        raise InputError("vertices", vertices, "must be an (n, k) array of finite numbers with n >= 1")
    margin = check_number("margin", margin, least=0.0)
    center = points.mean(axis=0)
    size = float(np.linalg.norm(points - center, axis=1).max())
    return Body(
        lambda d: points[np.argmax(np.asarray(d) @ points.T, axis=-1)], center, size, margin, np.empty((0, points.shape[1]))
    )


def body(shape: Shape, pose: PoseLike = Pose(), origin: Numbers = (0.0, 0.0, 0.0)) -> Body:
    """A shape at a pose, in coordinates relative to ``origin`` (that of A, say: far away it saves digits)."""
    local, size, margin, normals = _local(shape)
    pose = pose if hasattr(pose, "matrix") else as_pose("pose", pose)
    r, x = pose.matrix(), np.array(pose.position) - origin
    return Body(lambda d: local(np.asarray(d) @ r) @ r.T + x, x, size, margin, normals @ r.T)


def core(shape: Box | ConvexHull, margin: float) -> tuple[ConvexHull, float]:
    """A smaller polytope and the margin that takes it back to the faces of this one (not into its corners).

    Distances between cores need no search in depth as long as the cores are apart. The price: edges and corners are
    rounded, by at most margin (1 / sin(angle / 2) - 1) where faces meet at an angle. Raises InputError where the margin
    leaves nothing.
    """
    from scipy.spatial import HalfspaceIntersection, QhullError

    margin = check_number("margin", margin, least=0.0)
    table = faces_of(shape)
    if table.rank < 3:
        raise InputError("shape", shape, "has no volume, so there is no core to take")
    if isinstance(shape, Box):
        half = np.array(shape.half_extents) - margin
        if half.min() <= 0:
            raise InputError("margin", margin, f"must be less than the smallest half extent, {min(shape.half_extents):g}")
        return ConvexHull(faces_of(Box(tuple(half))).vertices), margin
    planes = np.column_stack([table.normals, margin - table.offsets])
    inner = _deepest_point(table.normals, table.offsets)
    try:
        corners = HalfspaceIntersection(planes, inner).intersections
    except QhullError:
        raise InputError("margin", margin, "must be less than the radius of the largest ball in the hull") from None
    return ConvexHull(corners), margin


def _deepest_point(normals: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Centre of the largest ball within the planes n.x <= offset: a linear programme."""
    from scipy.optimize import linprog

    rows = np.column_stack([normals, np.ones(len(normals))])
    return linprog((0, 0, 0, -1), A_ub=rows, b_ub=offsets, bounds=[(None, None)] * 3 + [(0, None)]).x[:3]


def _local(shape: Shape):
    """(support map, size, margin, face normals) in the frame of the shape."""
    match shape:
        case Sphere(radius=radius):
            return lambda d: np.zeros_like(d), 0.0, radius, NO_NORMALS
        case Capsule(radius=radius, half_length=half):
            return lambda d: _on_axis(np.where(d[..., 2] > 0, half, -half)), half, radius, NO_NORMALS
        case Box() | ConvexHull():
            table = faces_of(shape)
            points = table.vertices
            size = float(np.linalg.norm(points, axis=1).max())
            return lambda d: points[np.argmax(d @ points.T, axis=-1)], size, 0.0, table.normals
        case Cylinder(radius=radius, half_length=half):
            ends = np.array([(0, 0, 1), (0, 0, -1)], float)
            return lambda d: _rim(d, radius) + _on_axis(np.where(d[..., 2] > 0, half, -half)), np.hypot(radius, half), 0.0, ends
        case Cone(radius=radius, half_height=half):
            return lambda d: _cone(d, radius, half), np.hypot(radius, half), 0.0, np.array([(0, 0, -1)], float)
        case Rounded(shape=core, radius=radius):
            local, size, margin, normals = _local(core)
            return local, size, margin + radius, normals
        case SupportShape():
            return shape.points, shape.radius, 0.0, NO_NORMALS
        case Ellipsoid(radii=radii):
            squares = np.square(radii)
            return lambda d: squares * d / _lengths(d * np.array(radii)), max(radii), 0.0, NO_NORMALS
    raise InputError("shape", shape, "must be convex and bounded: no half-space, no compound")


def _lengths(d: np.ndarray) -> np.ndarray:
    """|d| with a last axis of one, and 1 for the zero vector."""
    length = np.linalg.norm(d, axis=-1, keepdims=True)
    return np.where(length > 0, length, 1.0)


def _on_axis(z) -> np.ndarray:
    return np.stack([np.zeros_like(z), np.zeros_like(z), z], axis=-1)


def _rim(d: np.ndarray, radius: float) -> np.ndarray:
    """Point furthest along d of a disc across z."""
    flat = d * (1.0, 1.0, 0.0)
    return radius * flat / _lengths(flat)


def _cone(d: np.ndarray, radius: float, half: float) -> np.ndarray:
    rim = _rim(d, radius) + (0.0, 0.0, -half)
    tip = np.array((0.0, 0.0, half))
    higher = np.sum(rim * d, axis=-1, keepdims=True) > np.sum(tip * d, axis=-1, keepdims=True)
    return np.where(higher, rim, tip)


class Corner(NamedTuple):
    """A point w = p - q of the Minkowski difference A - B, and the points of A and B that it is the difference of."""

    w: np.ndarray
    p: np.ndarray
    q: np.ndarray


def corner(a: Body, b: Body, direction: np.ndarray) -> Corner:
    """The point of A - B furthest along a direction."""
    p, q = a.support(direction), b.support(-direction)
    return Corner(p - q, p, q)
