"""Ray casts: the first point of a shape on a half-line.

Every convex shape cuts an interval [enter, leave] out of the line (line_intervals.py). The ray hits where it enters; one that
starts inside hits at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tumble.collision.errors import MOST_LENGTH, InputError, check_number, check_point, check_vector
from tumble.collision.geometry import GROUND, HALFSPACE, empty_geometry
from tumble.collision.ground.rays import ground_ray
from tumble.collision.hints import Numbers, PoseLike, Rows
from tumble.collision.kernels.jit import far, kernel
from tumble.collision.linalg import IDENTITY, ZERO, axpy, dot, load3, mul, mul_t, neg, store3, sub
from tumble.collision.pose import Pose, as_pose
from tumble.collision.queries.line_intervals import interval
from tumble.collision.shapes.definitions import Shape, convex_parts
from tumble.collision.shapes.ground import Ground
from tumble.collision.shapes.shapeset import ShapeSet, set_of


@dataclass(frozen=True, eq=False)
class RayHit:
    """Where a ray meets a shape.

    distance [m] from the origin of the ray; point (3,) [m] and normal (3,) in world axes, the normal pointing out of
    the shape. inside: the ray starts in the shape or on its surface; distance is 0, and in the shape normal points back
    along the ray. part: which convex piece of a compound it is; shape: which of several shapes.
    """

    distance: float
    point: np.ndarray
    normal: np.ndarray
    inside: bool
    part: int
    shape: int = 0


@dataclass(frozen=True, eq=False)
class RayHits:
    """Where n rays meet shapes: `RayHit` in columns. A ray that misses has distance inf, part and shape -1 and nan elsewhere."""

    distance: np.ndarray
    point: np.ndarray
    normal: np.ndarray
    part: np.ndarray
    shape: np.ndarray

    def first(self) -> RayHit | None:
        """What the first of the rays meets."""
        if self.part[0] < 0:
            return None
        distance = float(self.distance[0])
        return RayHit(distance, self.point[0], self.normal[0], distance == 0.0, int(self.part[0]), int(self.shape[0]))


def ray_cast(
    shape: Shape | ShapeSet, pose: PoseLike | Sequence[PoseLike], origin: Numbers, direction: Numbers, reach: float = math.inf
) -> RayHit | None:
    """Where the ray from ``origin`` along ``direction`` first meets the shape at that pose; None where it does not.

    Of a `ShapeSet`, at a list of poses, one for each of its shapes, the nearest is hit.
    direction: of any length but zero. ``reach`` [m]: how far the ray goes. A compound is hit at the nearest of its
    pieces. Hulls without volume: a flat polygon is hit from both sides, a segment or a point never. Raises InputError
    for what is not a shape, a pose or a number.
    """
    return ray_casts(shape, pose, *one_ray(origin, direction), reach).first()


def one_ray(origin: Numbers, direction: Numbers) -> tuple[np.ndarray, np.ndarray]:
    """(1, 3) each, checked."""
    return np.array([check_point("origin", origin)]), np.array([check_vector("direction", direction)])


def ray_casts(
    shape: Shape | ShapeSet,
    pose: PoseLike | Sequence[PoseLike],
    origins: Numbers | Rows,
    directions: Numbers | Rows,
    reach: float = math.inf,
) -> RayHits:
    """Many rays in one compiled call: origins and directions (n, 3), or one row for all. See `ray_cast`."""
    shapes, poses = _placed_shapes(shape, pose)
    origins, directions, reach = checked_rays(origins, directions, reach)
    places = [p for s, pose in zip(shapes.shapes, poses, strict=True) for p in _places(s, pose)]
    g = shapes.geometry
    x = np.array([p.position for p in places]).reshape(-1, 3)
    r = np.array([p.matrix().ravel() for p in places]).reshape(-1, 9)
    n = len(origins)
    distance, normal, part = np.empty(n), np.empty((n, 3)), np.empty(n, np.int64)
    cast(g, x, r, origins, directions, reach, distance, normal, part)
    point = np.where(part[:, None] < 0, np.nan, origins + np.where(part < 0, 0.0, distance)[:, None] * directions)
    which = np.where(part < 0, -1, np.searchsorted(shapes.first, part, side="right") - 1)
    part = np.where(part < 0, -1, part - shapes.first[which])
    return RayHits(distance, point, normal, part, which)


def checked_rays(origins, directions, reach: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Where n rays begin (n, 3), their directions (n, 3) at unit length, and how far they go; InputError for what is no ray."""
    reach = reach if reach == math.inf else check_number("reach", reach, least=0.0)
    origins, directions = _checked_rows("origins", origins), _checked_rows("directions", directions)
    beyond = np.abs(origins).max(axis=1) > MOST_LENGTH
    if beyond.any():
        check_point(f"origins[{beyond.argmax()}]", origins[beyond.argmax()])
    if len({len(origins), len(directions)} - {1}) > 1:
        raise InputError("directions", directions, f"must be as many as the origins ({len(origins)}), or one for all")
    length = np.linalg.norm(directions, axis=1)
    if not np.all((length > 1e-150) & (length < 1e150)):
        raise InputError("direction", directions[np.argmin(length)], "must have a length")
    return *map(np.ascontiguousarray, np.broadcast_arrays(origins, directions / length[:, None])), reach


def _placed_shapes(shape, pose) -> tuple[ShapeSet, list[Pose]]:
    """What rays are cast at, and where it stands."""
    if isinstance(shape, Shape):
        shapes = ShapeSet([shape], ground=True) if isinstance(shape, Ground) else set_of(shape)
        return shapes, [as_pose("pose", pose)]
    if not isinstance(shape, ShapeSet):
        raise InputError("shape", shape, "must be a Shape or a ShapeSet")
    poses = [as_pose(f"pose[{k}]", p) for k, p in enumerate(pose)] if hasattr(pose, "__len__") else []
    if len(poses) != len(shape):
        raise InputError("pose", pose, f"must hold a pose for each of the {len(shape)} shapes")
    return shape, poses


def _places(shape: Shape, pose: Pose) -> list[Pose]:
    return [pose @ p if p != Pose() else pose for _, p in convex_parts(shape)]


def _checked_rows(name: str, value) -> np.ndarray:
    try:
        rows = np.array(value, float)
    except (TypeError, ValueError):
        rows = np.empty(0)
    rows = rows[None] if rows.shape == (3,) else rows
    if rows.ndim != 2 or rows.shape[1] != 3 or not np.all(np.isfinite(rows)):
        raise InputError(name, value, "must be an (n, 3) array of finite numbers")
    return rows


@kernel
def cast(g, x, r, origins, directions, reach, distance, normal, part):
    """`ray` for many rays on all shapes of g, shape k at position x[k] and rotation r[k] (nine numbers); the nearest."""
    for i in range(len(origins)):
        distance[i] = math.inf
        part[i] = -1
        for k in range(3):
            normal[i, k] = math.nan
        limit = reach
        for s in range(len(g.kind)):
            rs = (r[s, 0], r[s, 1], r[s, 2], r[s, 3], r[s, 4], r[s, 5], r[s, 6], r[s, 7], r[s, 8])
            hit, t, n = ray(g, s, load3(x, s), rs, load3(origins, i), load3(directions, i), limit)
            if hit and t < distance[i]:
                distance[i] = limit = t
                part[i] = s
                store3(normal, i, n)


@kernel
def ray(g, shape, x, r, origin, direction, reach):
    """(hit, t, normal): where the ray from ``origin`` along the unit vector ``direction`` meets the shape at x, r.

    t [m] <= ``reach``; normal in world axes, out of the shape. A ray that starts inside hits at t = 0, its normal
    pointing back along it. A miss: (False, inf, 0).
    """
    d = mul_t(r, direction)
    o = mul_t(r, sub(origin, x))
    if g.kind[shape] == GROUND:
        hit, t, n = ground_ray(g, shape, o, d, reach)
        return hit, t, mul(r, n)
    near = -dot(sub(o, load3(g.center, shape)), d)  # from where the line passes the shape: a start far away costs no digits
    if g.kind[shape] == HALFSPACE:
        near = 0.0
    o = axpy(near, d, o)
    enter, leave, n = interval(g, shape, o, d)
    enter += near
    leave += near
    if not (enter <= leave and leave >= 0.0 and enter <= reach):
        return False, math.inf, ZERO
    if enter <= 0.0:
        if enter == 0.0:
            return True, 0.0, mul(r, n)
        return True, 0.0, neg(direction)
    return True, enter, mul(r, n)


ray_far = far(ray, lambda: (empty_geometry(), 0, ZERO, IDENTITY, ZERO, ZERO, 0.0), returns=(False, 0.0, ZERO))
