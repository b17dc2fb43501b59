"""Shape casts: how far a shape can be moved along a line until it touches another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tumble.collision.errors import InputError, check_number, check_vector
from tumble.collision.hints import Numbers, PoseLike
from tumble.collision.pose import Pose, as_pose
from tumble.collision.queries.batch import signed_distances
from tumble.collision.queries.batch_contacts import times_of_impact
from tumble.collision.queries.conservative_advancement import HIT, INSIDE, LONGEST_DURATION, MISS, Motion, time_of_impact
from tumble.collision.shapes.definitions import Shape
from tumble.collision.shapes.ground import Ground
from tumble.collision.shapes.shapeset import ShapeSet

MOST_DOUBLINGS = 60  # doublings of the step that shows the shapes in touch


@dataclass(frozen=True, eq=False)
class ShapeHit:
    """Where a shape that is moved along a line first touches another.

    distance [m] on the way: nothing touches before. The first touch lies in [distance, upper]; upper is inf where a graze leaves
    open whether they touch at all, or where the search could not be finished. point (3,) [m]: midway between the closest points
    there; normal (3,): out of the shape that is hit, in world axes. inside: the shapes overlap from the start, distance is 0, and
    normal is the way out of the shape that is hit. shape: which of several shapes.
    """

    distance: float
    upper: float
    point: np.ndarray
    normal: np.ndarray
    inside: bool
    shape: int = 0


def shape_cast(
    shape: Shape,
    pose: PoseLike | Sequence[PoseLike],
    direction: Numbers,
    target: Shape | ShapeSet,
    target_pose: PoseLike | Sequence[PoseLike],
    reach: float = math.inf,
    tolerance: float | None = None,
) -> ShapeHit | None:
    """Where a shape, moved from ``pose`` along ``direction`` without turning, first touches the target; None where it does not.

    Of a `ShapeSet`, at a list of poses, one for each of its shapes, the first to be touched is hit. direction: of any length but
    zero. ``reach`` [m]: how far the shape goes. ``tolerance`` [m]: how near counts as a touch, see `time_of_impact`, of which
    this is the case without turning: shapes that touch at the start are hit where they go on to overlap, and not where they
    part or slide along each other. Raises InputError for what is not a shape, a pose or a number.
    """
    if not isinstance(shape, Shape):
        raise InputError("shape", shape, "must be a Shape")
    start = as_pose("pose", pose)
    if isinstance(target, Ground):
        return _ground_hit(shape, start, unit_direction(direction), target, as_pose("target_pose", target_pose), reach, tolerance)
    if isinstance(target, Shape):
        targets, poses = (target,), [as_pose("target_pose", target_pose)]
    elif isinstance(target, ShapeSet):
        poses = [as_pose(f"target_pose[{k}]", p) for k, p in enumerate(target_pose)] if hasattr(target_pose, "__len__") else []
        if len(poses) != len(target):
            raise InputError("target_pose", target_pose, f"must hold a pose for each of the {len(target)} shapes")
        targets = target.shapes
    else:
        raise InputError("target", target, "must be a Shape or a ShapeSet")
    if not poses:
        return None
    x, q = np.array([p.position for p in poses]), np.array([p.orientation for p in poses])
    which = np.arange(len(targets))
    return first_hit(ShapeSet([*targets, shape]), len(targets), start, unit_direction(direction), which, x, q, reach, tolerance)


def _ground_hit(shape: Shape, start: Pose, d: np.ndarray, ground: Ground, pose: Pose, reach, tolerance) -> ShapeHit | None:
    reach = reach if reach == math.inf else check_number("reach", reach, least=0.0)
    if reach == 0.0:
        return None
    motion = Motion(start, tuple(d.tolist()))  # at 1 m/s
    found = time_of_impact(shape, motion, ground, pose, min(reach, LONGEST_DURATION), tolerance)
    if found.status == MISS:
        return None
    inside = found.status == INSIDE
    return ShapeHit(found.time, 0.0 if inside else found.latest, found.point, -found.normal, bool(inside))


def unit_direction(direction) -> np.ndarray:
    """A direction of length one."""
    d = np.array(check_vector("direction", direction))
    length = np.linalg.norm(d)
    if not 1e-150 < length < 1e150:
        raise InputError("direction", direction, "must have a length")
    return d / length


def first_hit(shapes: ShapeSet, moving: int, start: Pose, d, which, x, q, reach, tolerance) -> ShapeHit | None:
    """Shape ``moving`` of a set, from ``start`` along the unit vector d, against others: which (n,), at x (n, 3), q (n, 4).

    ``shape`` of the hit counts through these n. Raises InputError for a reach or a tolerance that is none.
    """
    reach = reach if reach == math.inf else check_number("reach", reach, least=0.0)
    n, still = len(which), np.zeros((len(which), 3))
    if n == 0 or reach == 0.0:
        return None
    at, turn = np.tile(start.position, (n, 1)), np.tile(start.orientation, (n, 1))
    sides = at, turn, np.tile(d, (n, 1)), still, x, q, still, still  # at 1 m/s
    found = times_of_impact(shapes, np.full(n, moving), which, *sides, min(reach, LONGEST_DURATION), tolerance)
    order = np.where(found.status == MISS, np.inf, np.where(found.status == INSIDE, found.distance, found.time))
    k = int(order.argmin())  # the deepest of those that overlap, or the first to touch
    if found.status[k] == MISS:
        return None
    distance, normal = float(found.time[k]), -found.normal[k]
    inside = bool(found.status[k] == INSIDE)
    upper = 0.0 if inside else math.inf
    if found.status[k] == HIT:
        upper = _touching(shapes, moving, start, d, int(which[k]), x[k], q[k], distance, float(d @ found.normal[k]), reach)
    return ShapeHit(distance, upper, found.point[k], normal, inside, k)


def _touching(shapes, moving, start, d, other, x, q, distance, closing, reach) -> float:
    """A distance [m] along the way, a little more than ``distance``, at which the shapes certainly touch; inf where there is
    none.

    The signed distance of convex shapes is a convex function of the way: where it rises they never touch any more.
    """

    def apart(way: float):
        at = np.array(start.position) + way * d
        return signed_distances(shapes, moving, other, at[None], start.orientation, x, q)

    here = apart(distance)
    if here.upper[0] <= 0.0:
        return distance
    size = shapes.geometry.radius[shapes.first[moving] : shapes.first[moving + 1]].max()
    step = max(here.upper[0] / max(closing, 1e-8), 1e-15 * (size + distance))
    last = here.upper[0]
    for _ in range(MOST_DOUBLINGS):
        way = min(distance + step, reach)
        there = apart(way)
        if there.upper[0] <= 0.0:
            return way
        if there.lower[0] > last or way == reach:
            return math.inf
        last, step = there.upper[0], 2.0 * step
    return math.inf
