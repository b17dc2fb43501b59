"""Contact manifolds and times of impact of many pairs in one compiled call, as `signed_distances` of batch.py."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from tumble.collision.contact.manifold import MANIFOLD_POINTS
from tumble.collision.contact.warm_start import Kept, recall, same, still_apart, still_missing
from tumble.collision.errors import InputError
from tumble.collision.geometry import HALFSPACE
from tumble.collision.hints import Numbers, Rows, Whole
from tumble.collision.kernels.jit import kernel, lean
from tumble.collision.linalg import ZERO, dot, load3, load4, store3
from tumble.collision.narrowphase import manifold_far
from tumble.collision.pose import Pose, rotated
from tumble.collision.queries.batch import PairCache, check_cache, check_sides, in_threads, sides_of, table, threads_of
from tumble.collision.queries.batch_kernels import pose
from tumble.collision.queries.conservative_advancement import (
    FASTEST,
    INSIDE,
    MISS,
    UNFINISHED,
    Impact,
    ImpactStatus,
    Motion,
    checked_limits,
    impact,
    time_of_impact,
)
from tumble.collision.queries.impact_of_compounds import MANY_MOVING
from tumble.collision.queries.proximity import Manifold, margin_of, points_of
from tumble.collision.shapes.compounds import piece_pairs, spread
from tumble.collision.shapes.shapeset import ShapeSet
from tumble.collision.status import BEYOND_MARGIN, Status


@dataclass(frozen=True, eq=False)
class Manifolds:
    """Contact points of n pairs, m in all; those of pair k are the rows start[k] to start[k + 1]. Fields as of `Manifold`.

    status (n,) int8: values of `Status`; normal (n, 3). start (n + 1,). pairs (m,): which pair a point belongs to; points (m, 3)
    and gaps (m,) [m], ids (m,), normals (m, 3), parts (m, 2). ``[k]`` is pair k as `contact_manifold` gives it.
    """

    status: np.ndarray
    normal: np.ndarray
    start: np.ndarray
    pairs: np.ndarray
    points: np.ndarray
    gaps: np.ndarray
    ids: np.ndarray
    normals: np.ndarray
    parts: np.ndarray

    def __len__(self) -> int:
        return len(self.status)

    def __getitem__(self, k: int) -> Manifold:
        if not -len(self) <= k < len(self):
            raise IndexError(k)
        k %= len(self)
        rows = slice(self.start[k], self.start[k + 1])
        several = (v[rows] for v in (self.points, self.gaps, self.ids, self.normals, self.parts))
        return Manifold(Status(int(self.status[k])), self.normal[k], *several)


@dataclass(frozen=True, eq=False)
class Impacts:
    """When n pairs of moving shapes first touch; row k belongs to pair k. The fields are those of `Impact`.

    status (n,) int8: values of `ImpactStatus`. time, latest (n,) [s], point, normal (n, 3), distance (n,) [m], iterations (n,).
    """

    status: np.ndarray
    time: np.ndarray
    point: np.ndarray
    normal: np.ndarray
    distance: np.ndarray
    iterations: np.ndarray
    latest: np.ndarray

    def __len__(self) -> int:
        return len(self.status)

    def __getitem__(self, k: int) -> Impact:
        status, time, point, normal, distance, iterations, latest = (v[k] for v in vars(self).values())
        return Impact(ImpactStatus(int(status)), float(time), point, normal, float(distance), int(iterations), float(latest))


def contact_manifolds(
    shapes: ShapeSet,
    a: Whole,
    b: Whole,
    positions_a: Numbers | Rows,
    orientations_a: Numbers | Rows,
    positions_b: Numbers | Rows,
    orientations_b: Numbers | Rows,
    margin: float = 0.0,
    cache: PairCache | None = None,
    threads: int = 1,
    max_points: int = MANIFOLD_POINTS,
) -> Manifolds:
    """Contact points of n pairs of shapes, as `contact_manifold` finds them: shape a[k] of ``shapes`` and b[k] at their poses.

    a, b: (n,) int, rows of ``shapes``. positions (n, 3) [m]; orientations (n, 4), unit quaternions (w, x, y, z). ``margin`` [m]:
    the largest gap. ``cache``: a `PairCache` of n pairs, carried from call to call of the same pairs: those that stand still or
    are still apart are not searched again. Points, gaps, ids and statuses are the same bits; the normal of a pair without points
    is one along which it is apart. ``threads``: 0 for one on each core; the answers are the same bits whatever their number.
    ``max_points``: of a pair of convex pieces, 8 or more. Raises InputError for arrays that do not fit or hold no poses.
    """
    margin, most = margin_of(margin), points_of(max_points)
    a, b, poses = sides_of(shapes, a, b, positions_a, orientations_a, positions_b, orientations_b)
    check_sides(shapes, a, b, poses)
    threads = threads_of(threads)
    check_cache(cache, len(a))
    pair, rows_a, rows_b, row = np.arange(len(a)), a, b, np.arange(len(a))
    if not shapes.convex and len(a):
        pieces = piece_pairs(shapes, a, b, poses, max(margin, 0.0))
        pair, rows_a, rows_b, poses, row = pieces.pair, pieces.a, pieces.b, pieces.poses, pieces.row
    m = len(pair)
    count, status, normal = np.zeros(m, np.int64), np.empty(m, np.int8), np.empty((m, 3))
    rows, ids = np.empty((m, most, 4)), np.empty((m, most), np.int64)
    found = FoundPoints(count, status, normal, rows, ids)
    inputs = [rows_a, *poses[:2], rows_b, *poses[2:]]
    if cache is not None:
        cache.serve(shapes)
    known, old = recall(None if cache is None else cache.manifolds, (margin, most), row, inputs, found)
    sides = Standing(*inputs[:3]), Standing(*inputs[3:]), Standing(*old[:3]), Standing(*old[3:])
    in_threads(lambda span: manifold_pairs(shapes.geometry, *sides, known, margin, *span, found), m, threads)
    if cache is not None:
        cache.manifolds = Kept((margin, most), row, [column.copy() for column in inputs], found)
    there = np.arange(most) < count[:, None]
    best = np.lexsort((np.where(there, rows[:, :, 3], np.inf).min(axis=1, initial=np.inf), pair))
    best = best[np.flatnonzero(np.diff(pair, prepend=-1))]  # the piece with the deepest point, the first where there are none
    owner = np.repeat(np.arange(m), count)
    parts = np.column_stack([rows_a - shapes.first[a[pair]], rows_b - shapes.first[b[pair]]])
    start = np.concatenate([[0], np.cumsum(np.bincount(pair[owner], minlength=len(a)))])
    points = rows[there]
    return Manifolds(
        status[best], normal[best], start, pair[owner], points[:, :3].copy(), points[:, 3].copy(), ids[there], normal[owner],
        parts[owner],
    )  # fmt: skip


def times_of_impact(
    shapes: ShapeSet,
    a: Whole,
    b: Whole,
    positions_a: Numbers | Rows,
    orientations_a: Numbers | Rows,
    velocities_a: Numbers | Rows,
    angular_velocities_a: Numbers | Rows,
    positions_b: Numbers | Rows,
    orientations_b: Numbers | Rows,
    velocities_b: Numbers | Rows,
    angular_velocities_b: Numbers | Rows,
    duration: float = 1.0,
    tolerance: float | None = None,
    centers_a: Numbers | Rows | None = None,
    centers_b: Numbers | Rows | None = None,
    cache: PairCache | None = None,
    threads: int = 1,
) -> Impacts:
    """The first times in [0, duration] at which n pairs of shapes touch, as `time_of_impact` finds them.

    a, b: (n,) int, rows of ``shapes``. positions (n, 3) [m] and orientations (n, 4) at time 0. velocities (n, 3) [m/s]: those of
    the centers (n, 3) [m], points in the frames of the shapes, their origins where not given; angular_velocities (n, 3) [rad/s]
    in world axes. ``cache``: a `PairCache` of n pairs, carried from call to call of the same pairs: those that move as before, or
    are still so far apart that they can not meet, are not searched again. Statuses, times and all that is said of hits are the
    same bits; of a miss, where it was measured depends on the cache. ``threads``: 0 for one on each core; the answers are the
    same bits whatever their number. Raises InputError for arrays that do not fit, motions out of range, half-spaces that turn.
    """
    a, b, poses = sides_of(shapes, a, b, positions_a, orientations_a, positions_b, orientations_b)
    check_sides(shapes, a, b, poses)
    threads = threads_of(threads)
    n = len(a)
    duration, tolerance = checked_limits(duration, tolerance)
    check_cache(cache, n)
    sides = []
    for side, which, at, turn, v, w, c in (
        ("a", a, *poses[:2], velocities_a, angular_velocities_a, centers_a),
        ("b", b, *poses[2:], velocities_b, angular_velocities_b, centers_b),
    ):
        v, w = (_bounded(f"{name}_{side}", u, n) for name, u in (("velocities", v), ("angular_velocities", w)))
        c = _bounded(f"centers_{side}", np.zeros((n, 3)) if c is None else c, n)
        turned = (shapes.geometry.kind[shapes.first[which]] == HALFSPACE) & w.any(axis=1)
        if turned.any():
            k = int(turned.argmax())
            raise InputError(f"angular_velocities_{side}[{k}]", w[k], "a half-space can not turn; a large Box can")
        sides.append((at, turn, v, w, c))
    many = np.diff(shapes.first)[a] * np.diff(shapes.first)[b] > MANY_MOVING
    if not many.any():
        return _impacts(shapes, a, b, sides, duration, tolerance, cache, threads)
    few = np.flatnonzero(~many)
    found = _impacts(shapes, a[few], b[few], [[v[few] for v in side] for side in sides], duration, tolerance, None, threads)
    rows = {k: found[i] for i, k in enumerate(few.tolist())}
    for k in np.flatnonzero(many).tolist():  # one by one, in slices of the time
        moving = [Motion(Pose(x, q), v, w, c) for x, q, v, w, c in ([v[k] for v in side] for side in sides)]
        given = duration, None if tolerance < 0.0 else tolerance
        rows[k] = time_of_impact(shapes.shapes[a[k]], moving[0], shapes.shapes[b[k]], moving[1], *given)
    kinds = {name: column.dtype for name, column in vars(found).items()}
    return Impacts(*(np.array([getattr(rows[k], name) for k in range(n)], kind) for name, kind in kinds.items()))


def _impacts(shapes: ShapeSet, a, b, motions: list, duration: float, tolerance: float, cache, threads: int) -> Impacts:
    """All pieces of all pairs in one compiled call; ``motions``: of either side positions, orientations, velocities, angular
    velocities and centres."""
    pair, rows_a, rows_b = spread(shapes, a, b)
    inputs = []
    for rows, (at, turn, v, w, c) in zip((rows_a, rows_b), motions, strict=True):
        x, q, _ = shapes.placed(rows, at[pair], turn[pair])
        place, around = shapes.places(rows)
        local = rotated(around * (1.0, -1.0, -1.0, -1.0), c[pair] - place)
        inputs += [rows, *(np.ascontiguousarray(u, float) for u in (x, q, v[pair], w[pair], local))]
    m, about = len(pair), (duration, tolerance)
    tables = (np.empty((m, 3)) for _ in range(2))
    found = FoundImpacts(np.empty(m, np.int8), np.empty(m), *tables, np.empty(m), np.empty(m, np.int32), np.empty(m))
    if cache is not None:
        cache.serve(shapes)
    row = np.arange(m)
    known, old = recall(None if cache is None else cache.impacts, about, row, inputs, found)
    sides = Moving(*inputs[:6]), Moving(*inputs[6:]), Moving(*old[:6]), Moving(*old[6:])
    in_threads(lambda span: impact_pairs(shapes.geometry, *sides, known, duration, tolerance, *span, found), m, threads)
    if cache is not None:
        cache.impacts = Kept(about, row, [column.copy() for column in inputs], found)
    # of the pieces of a pair those that overlap, else the first to touch, else any
    late = np.where(found.status == INSIDE, -1.0, np.where(found.status == MISS, np.inf, found.time))
    first = np.flatnonzero(np.diff(pair, prepend=-1))
    best = np.lexsort((late, pair))[first]
    chosen = [column[best] for column in found]
    if m:  # another piece may have touched by then for certain
        unsure = chosen[0] == UNFINISHED
        chosen[-1] = np.where(unsure, np.minimum.reduceat(found.latest, first), chosen[-1])
    return Impacts(*chosen)


def _bounded(name: str, value, n: int) -> np.ndarray:
    """(n, 3) numbers whose squares stay in range."""
    found = table(name, value, n, 3)
    wrong = ~(np.abs(found) <= FASTEST).all(axis=1)  # also where a number is none
    if wrong.any():
        k = int(wrong.argmax())
        raise InputError(f"{name}[{k}]", found[k], f"must be numbers, none beyond {FASTEST:g}")
    return found


class Standing(NamedTuple):
    """One side of n pairs of convex pieces: which pieces, and where they stand."""

    piece: np.ndarray  # (n,) int64 rows of the geometry
    x: np.ndarray  # (n, 3) [m]
    q: np.ndarray  # (n, 4)


class Moving(NamedTuple):
    """One side of n pairs of convex pieces: which pieces, where they start, and how they move."""

    piece: np.ndarray  # (n,) int64 rows of the geometry
    x: np.ndarray  # (n, 3) [m]
    q: np.ndarray  # (n, 4)
    v: np.ndarray  # (n, 3) of the centres [m/s]
    w: np.ndarray  # (n, 3) [rad/s]
    c: np.ndarray  # (n, 3) centres in the frames of the pieces [m]


class FoundPoints(NamedTuple):
    """Contact points of n pairs of convex pieces, in room for m each."""

    count: np.ndarray  # (n,) int64 how many of them mean something
    status: np.ndarray  # (n,) int8
    normal: np.ndarray  # (n, 3)
    points: np.ndarray  # (n, m, 4) position and gap [m]
    ids: np.ndarray  # (n, m) int64


FoundImpacts = namedtuple("FoundImpacts", [field.name for field in fields(Impacts)])  # what kernels fill, of convex pieces


@kernel(nogil=True)
def manifold_pairs(g, a, b, old_a, old_b, known, margin, first, stop, found):
    """The pairs [first, stop). ``known``: pairs whose last answer stands in ``found`` already, and was given to the old sides."""
    most = found.points.shape[1]
    rows, names = np.zeros((most, 14)), np.zeros(most, np.int64)
    for k in range(first, stop):
        i, x, ra = _stands(a, k)
        j, y, rb = _stands(b, k)
        if known[k] and i == old_a.piece[k] and j == old_b.piece[k]:
            if _stood(a, old_a, k) and _stood(b, old_b, k):
                continue
            apart = found.status[k] == BEYOND_MARGIN and found.count[k] == 0
            if apart and still_apart(g, i, x, ra, j, y, rb, load3(found.normal, k), margin):
                continue
        found.count[k], n, found.status[k] = manifold_far(g, i, x, ra, j, y, rb, margin, ZERO, rows, names)
        store3(found.normal, k, n)
        for i in range(found.count[k]):
            found.ids[k, i] = names[i]
            for c in range(4):
                found.points[k, i, c] = rows[i, c]


@kernel(nogil=True)
def impact_pairs(g, a, b, old_a, old_b, known, duration, tolerance, first, stop, found):
    """The pairs [first, stop). ``known``: pairs whose last answer stands in ``found`` already, and was given to the old sides."""
    for k in range(first, stop):
        i, x, ra = _stands(a, k)
        j, y, rb = _stands(b, k)
        side_a = x, ra, load3(a.v, k), load3(a.w, k), load3(a.c, k)
        side_b = y, rb, load3(b.v, k), load3(b.w, k), load3(b.c, k)
        if known[k] and i == old_a.piece[k] and j == old_b.piece[k]:
            found.iterations[k] = 0
            if _moved(a, old_a, k) and _moved(b, old_b, k):
                continue
            n = load3(found.normal, k)
            missed = found.status[k] == MISS and dot(n, n) > 0.5
            if missed and still_missing(g, i, *side_a, j, *side_b, n, duration, tolerance):
                continue
        found.status[k], found.time[k], p, n, found.distance[k], found.iterations[k], found.latest[k] = impact(
            g, i, *side_a, j, *side_b, duration, tolerance
        )
        store3(found.point, k, p)
        store3(found.normal, k, n)


@lean
def _stands(side, k):
    """(Piece, position, rotation matrix) of row k of a side."""
    x = load3(side.x, k)
    _, r = pose(x, load4(side.q, k))
    return side.piece[k], x, r


@lean
def _stood(side, old, k):
    """Whether row k of a side stands where it stood."""
    return same(side.x, old.x, k) and same(side.q, old.q, k)


@lean
def _moved(side, old, k):
    """Whether row k of a side starts and moves as it did."""
    return _stood(side, old, k) and same(side.v, old.v, k) and same(side.w, old.w, k) and same(side.c, old.c, k)
