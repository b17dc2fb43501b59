"""Bounding boxes of shapes, and which of many overlap: the first, cheap look at a crowd."""

from __future__ import annotations

import numpy as np

from tumble.collision.bounds import aabb
from tumble.collision.broadphase.candidate_pairs import find_box_pairs
from tumble.collision.errors import InputError, check_number
from tumble.collision.hints import Numbers, PoseLike, Rows, Whole
from tumble.collision.kernels.jit import kernel
from tumble.collision.linalg import load3, load4, norm, store3
from tumble.collision.pose import as_pose
from tumble.collision.queries.batch import check_poses, check_set, indices, table
from tumble.collision.queries.batch_kernels import pose
from tumble.collision.shapes.definitions import Shape
from tumble.collision.shapes.shapeset import ShapeSet, set_of
from tumble.collision.shapes.support_points import EPS

BOX_ROUNDING = 8.0 * EPS  # of size + distance from the origin: by so much boxes are widened


def bounding_box(shape: Shape, pose: PoseLike) -> tuple[np.ndarray, np.ndarray]:
    """(lo, hi): the corners (3,) [m] of the box along the world's axes that holds a shape at a pose.

    It is tight to rounding, and wider by that: no point is outside. A half-space has infinite corners, but for the side it
    ends on where its normal lies along an axis. Raises InputError for what is not a shape or a pose.
    """
    if not isinstance(shape, Shape):
        raise InputError("shape", shape, "must be a Shape")
    pose = as_pose("pose", pose)
    lo, hi = bounding_boxes(set_of(shape), [0], [pose.position], [pose.orientation])
    return lo[0], hi[0]


def bounding_boxes(
    shapes: ShapeSet, which: Whole, positions: Numbers | Rows, orientations: Numbers | Rows, margin: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """(lo, hi), (n, 3) each: the boxes of n shapes in one compiled call, see `bounding_box`.

    which: (n,) int, rows of ``shapes``. positions (n, 3) [m]; orientations (n, 4), unit quaternions (w, x, y, z).
    ``margin`` [m] is added on all sides: boxes with half a margin overlap wherever shapes come as near as the whole.
    Raises InputError for arrays that do not fit each other or hold no poses.
    """
    check_set(shapes)
    which = indices("which", which, len(shapes))
    n = len(which)
    x, q = table("positions", positions, n, 3), table("orientations", orientations, n, 4)
    margin = check_number("margin", margin, least=0.0)
    check_poses([x, q], ("positions", "orientations"))
    count = np.diff(shapes.first)[which]
    owner = np.repeat(np.arange(n), count)
    start = np.cumsum(count) - count
    rows = shapes.first[which][owner] + np.arange(len(owner)) - start[owner]
    x, q, _ = shapes.placed(rows, x[owner], q[owner])
    lo, hi = np.empty((2, len(rows), 3))
    boxes(shapes.geometry, rows, np.ascontiguousarray(x), np.ascontiguousarray(q), margin, lo, hi)
    if shapes.convex or n == 0:
        return lo, hi
    return np.minimum.reduceat(lo, start), np.maximum.reduceat(hi, start)


@kernel
def boxes(g, rows, x, q, margin, lo, hi):
    """The boxes of pieces ``rows`` of the geometry at good poses."""
    for k in range(len(rows)):
        at = load3(x, k)
        _, r = pose(at, load4(q, k))
        low, high = aabb(g, rows[k], at, r)
        fat = margin + BOX_ROUNDING * norm(at)
        if g.radius[rows[k]] < np.inf:
            fat += BOX_ROUNDING * g.radius[rows[k]]
        store3(lo, k, (low[0] - fat, low[1] - fat, low[2] - fat))
        store3(hi, k, (high[0] + fat, high[1] + fat, high[2] + fat))


def good_boxes(lo, hi, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Corners (n, 3) of boxes. Raises InputError where they are none."""
    lo, hi = table("lo", lo, n, 3), table("hi", hi, n, 3)
    wrong = ~(lo <= hi).all(axis=1)  # also where a number is none
    if wrong.any():
        k = int(wrong.argmax())
        raise InputError(f"lo[{k}]", lo[k], f"must be numbers not above hi[{k}] = {hi[k].tolist()}")
    return lo, hi


def candidate_pairs(lo: Rows, hi: Rows, bodies: Whole | None = None, mobile: Numbers | None = None) -> np.ndarray:
    """(m, 2) int64: the pairs i < j of boxes that overlap or touch, sorted, in one compiled call.

    lo, hi: (n, 3) corners [m], infinite ones allowed. bodies: (n,) int; boxes of one body make no pair. mobile: (n,) bool;
    two boxes that both stay make no pair. The order follows from the numbering of the boxes alone. A tree is built anew at
    each call: the cost is near n log n + m, however sizes differ. Raises InputError for arrays that do not fit.
    """
    if np.ndim(lo) != 2:
        raise InputError("lo", lo, "must be an (n, 3) array of numbers")
    n = len(lo)
    lo, hi = good_boxes(lo, hi, n)
    bodies = np.arange(n) if bodies is None else _checked_column("bodies", bodies, n, "iu", np.int64)
    mobile = np.ones(n, bool) if mobile is None else _checked_column("mobile", mobile, n, "b", np.bool_)
    room = 4 * n
    while True:
        pairs = np.empty((room, 2), np.int64)
        count = find_box_pairs(lo, hi, bodies, mobile, pairs)
        if count <= room:
            return pairs[:count].copy()
        room = count


def _checked_column(name: str, value, n: int, kinds: str, dtype) -> np.ndarray:
    found = np.asarray(value)
    if found.shape != (n,) or (n and found.dtype.kind not in kinds):
        raise InputError(name, value, f"must hold {n} {'True or False' if kinds == 'b' else 'whole numbers'}, one for each box")
    return np.ascontiguousarray(found, dtype)
