"""Signed distances of many pairs in one compiled call."""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from collision.depth import ROW, known_depth
from collision.errors import MOST_LENGTH, InputError, check_number, check_point
from collision.gjk import INSIDE, NO_START
from collision.jit import kernel, lean
from collision.linalg import ZERO, add, load3, load4, matmul, mul, mul_t, norm, store3, sub, transpose
from collision.narrowphase import distance_far
from collision.pairs.axes import NO_ROWS
from collision.pairs.overlap import overlap_far
from collision.pairs.polytope import polytope_query_far, relative, start_axis
from collision.pairs.result import SIGN_ONLY, answer, to_world
from collision.pieces import Pieces, nearest_pieces, piece_pairs
from collision.quick import NO_NAME, NO_NAMES, SHIFT, quick_capsules, quick_distance
from collision.shapeset import ShapeSet
from collision.status import UNCERTAIN
from collision.support import is_capsule, is_polytope

NAMES = ("positions_a", "orientations_a", "positions_b", "orientations_b")
CHUNK = 256  # pairs that are worth a thread of their own
LATER = -1  # status of pairs that are left to the second loop
DEEP = -2  # in place of the number of known corners: there is a surface
UNIT = 1e-3  # how far a quaternion may be off unit length; it is normalised


@dataclass(frozen=True, eq=False)
class Distances:
    """Signed distances of n pairs, each certified; row k belongs to pair k. The fields are those of `Distance`.

    status (n,) int8: values of `Status`. distance, lower, upper (n,) [m]: negative = overlap; the truth lies in [lower,
    upper]. normal (n, 3): unit vectors from A to B. point_a, point_b (n, 3) [m], world frame. iterations (n,) int32.
    """

    status: np.ndarray
    distance: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    normal: np.ndarray
    point_a: np.ndarray
    point_b: np.ndarray
    iterations: np.ndarray

    def __len__(self) -> int:
        return len(self.distance)

    @property
    def colliding(self) -> np.ndarray:
        """(n,) bool: which pairs overlap or touch; False only where they are certainly apart."""
        return self.lower <= 0.0

    @property
    def uncertain(self) -> int:
        """How many intervals are wider than their tolerance."""
        return int(np.count_nonzero(self.status == UNCERTAIN))


class PairCache:
    """Warm state of ``count`` pairs between calls of `signed_distances`: where the last search ended.

    It only proposes where to start; answers do not depend on it beyond rounding. A pair whose shapes changed starts
    afresh by itself. One cache must not be used by two calls at once.
    """

    def __init__(self, count: int):
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 0:
            raise InputError("count", count, "must be the number of pairs, 0 or more")
        self.axis = np.zeros((count, 3))  # last normal, world axes; zero for none
        # shapes of A and B that it belongs to, number of corners that the closest points lie between, their names (quick.py)
        self.start = np.full((count, 6), -1, np.int64)
        # of pairs that overlap (DEEP for the number of corners) the surface that proved how much: see depth.py
        self.surface = np.zeros((count, ROW), np.int64)
        self.shapes: ShapeSet | None = None
        self.pieces: PairCache | None = None  # the same for all pairs of pieces, where there are compounds

    def __len__(self) -> int:
        return len(self.axis)

    def clear(self) -> None:
        """Forget everything."""
        self.axis[:] = 0.0
        self.start[:] = -1
        self.shapes = self.pieces = None

    def serve(self, shapes: ShapeSet) -> None:
        """Keep what is known only if it is known of these shapes."""
        if self.shapes is not shapes:
            self.clear()
            self.shapes = shapes

    def of_pieces(self, pieces: Pieces) -> PairCache:
        """What is known of some pairs of pieces."""
        if self.pieces is None or len(self.pieces) != pieces.total:
            self.pieces = PairCache(pieces.total)
        part = PairCache(0)
        for name in ("axis", "start", "surface"):
            setattr(part, name, getattr(self.pieces, name)[pieces.row])
        return part

    def keep_pieces(self, pieces: Pieces, part: PairCache) -> None:
        """Take over what is now known of them."""
        for name in ("axis", "start", "surface"):
            getattr(self.pieces, name)[pieces.row] = getattr(part, name)


COLD = PairCache(0)


def signed_distances(
    shapes: ShapeSet,
    a,
    b,
    positions_a,
    orientations_a,
    positions_b,
    orientations_b,
    margin: float = math.inf,
    cache: PairCache | None = None,
    threads: int = 1,
) -> Distances:
    """Signed distances of n pairs of shapes: shape a[k] of ``shapes`` at its pose and b[k] at its own.

    a, b: (n,) int, rows of ``shapes``. positions (n, 3) [m]; orientations (n, 4), unit quaternions (w, x, y, z).
    ``margin`` [m]: stop where a pair is certainly further apart (status BEYOND_MARGIN). ``cache``: a `PairCache` of n
    pairs, carried from call to call of slowly moving pairs. ``threads``: 0 for one on each core; the answers are the
    same bits whatever their number. A Compound is as near as its nearest piece, as deep as its deepest. Raises
    InputError for arrays that do not fit each other or hold no poses.
    """
    margin = margin if margin == math.inf else check_number("margin", margin)
    return _ask(shapes, a, b, positions_a, orientations_a, positions_b, orientations_b, margin, cache, threads)


def collisions(
    shapes: ShapeSet,
    a,
    b,
    positions_a,
    orientations_a,
    positions_b,
    orientations_b,
    cache: PairCache | None = None,
    threads: int = 1,
) -> np.ndarray:
    """(n,) bool: which of n pairs overlap or touch; False only where they are certainly apart.

    Each search ends as soon as that is certain, one way or the other. Arguments as for `signed_distances`.
    """
    return _ask(shapes, a, b, positions_a, orientations_a, positions_b, orientations_b, SIGN_ONLY, cache, threads).lower <= 0.0


def _ask(shapes, a, b, xa, qa, xb, qb, margin, cache, threads) -> Distances:
    """Both of the above, checked."""
    if not isinstance(shapes, ShapeSet):
        raise InputError("shapes", shapes, "must be a ShapeSet, which packs the shapes once")
    a, b = whole_numbers("a", a, len(shapes)), whole_numbers("b", b, len(shapes))
    n = len(a)
    if len(b) != n:
        raise InputError("b", b.shape, f"must hold one index for each of the {n} in a")
    poses = [table(name, v, n, w) for name, v, w in zip(NAMES, (xa, qa, xb, qb), (3, 4, 3, 4), strict=True)]
    if cache is not None and not (isinstance(cache, PairCache) and len(cache) == n):
        raise InputError("cache", cache, f"must be a PairCache({n}), one row for each pair")
    threads = threads_of(threads)
    if shapes.convex or n == 0:
        if cache is not None:
            cache.serve(shapes)
        return search(shapes, a, b, poses, margin, cache, threads)
    check_range("a", a, len(shapes))
    check_range("b", b, len(shapes))
    check_poses(poses)
    pieces = piece_pairs(shapes, a, b, poses, max(margin, 0.0))
    warm = None
    if cache is not None:
        cache.serve(shapes)
        warm = cache.of_pieces(pieces)
    found = search(shapes, pieces.a, pieces.b, pieces.poses, margin, warm, threads)
    if cache is not None:
        cache.keep_pieces(pieces, warm)
    return Distances(**nearest_pieces(found, pieces))


def search(shapes: ShapeSet, a, b, poses, margin: float, warm: PairCache | None = None, threads: int = 1) -> Distances:
    """Pairs of convex pieces, rows a and b of the geometry, without checks."""
    warm = warm if warm is not None else COLD
    n = len(a)
    out = Distances(
        np.empty(n, np.int8), *(np.empty(n) for _ in range(3)), *(np.empty((n, 3)) for _ in range(3)), np.empty(n, np.int32)
    )
    results = (
        np.empty((n, 4), np.int64),
        out.status,
        out.distance,
        out.lower,
        out.upper,
        out.normal,
        out.point_a,
        out.point_b,
        out.iterations,
    )

    def run(span):
        arguments = (shapes.geometry, a, b, *poses, margin, warm.axis, warm.start, warm.surface, *span, *results)
        bad, left = quick_pairs(*arguments)
        if left and bad == 2 * n:
            other_pairs(*arguments)
        return bad

    spans = spans_of(n, threads)
    if len(spans) == 1:
        bad = [run(spans[0])]
    else:
        with ThreadPoolExecutor(len(spans)) as pool:
            bad = list(pool.map(run, spans))
    bad = min(bad)
    if bad < 2 * n:
        check_range("a", a, len(shapes.geometry.kind))
        check_range("b", b, len(shapes.geometry.kind))
        _report(bad, poses)
    return out


@kernel(nogil=True, _nrt=False)
def quick_pairs(
    g, a, b, xa, qa, xb, qb, margin, warm_axis, warm_start, warm_surface, first, stop,
    corners, status, distance, lower, upper, normal, point_a, point_b, iterations,
):  # fmt: skip
    """Those of the pairs [first, stop) that the search for distance settles; the others get the status LATER.

    corners (n, 4): for pairs left, the names of four corners about the origin, or -1 in front. Returns (first bad pose,
    pairs left): bad is 2 k for A's and 2 k + 1 for B's, 2 n where all are good, 0 where an index is out of range.
    """
    bad, left = 2 * len(a), 0
    warm = len(warm_axis) > 0
    for k in range(first, stop):
        i, j = a[k], b[k]
        if not (0 <= i < len(g.kind) and 0 <= j < len(g.kind)):
            bad = 0
            continue
        xa_k, xb_k = load3(xa, k), load3(xb, k)
        qa_k, qb_k = load4(qa, k), load4(qb, k)
        good_a, sa = usable(xa_k, qa_k)
        good_b, sb = usable(xb_k, qb_k)
        if not (good_a and good_b):
            bad = min(bad, 2 * k if not good_a else 2 * k + 1)
            continue
        settled, around = False, False
        t = sub(xb_k, xa_k)
        size = g.radius[i] + g.radius[j] + norm(t)
        if is_polytope(g.kind[i]) and is_polytope(g.kind[j]):
            axis, known, names = ZERO, 0, NO_NAMES
            if warm and warm_start[k, 0] == i and warm_start[k, 1] == j:
                axis = load3(warm_axis, k)
                known = warm_start[k, 2]
                names = warm_start[k, 3], warm_start[k, 4], warm_start[k, 5], NO_NAME
            ra, rb = rotation(qa_k, sa), rotation(qb_k, sb)
            r, t = matmul(transpose(ra), rb), mul_t(ra, t)
            deep = known == DEEP and margin != SIGN_ONLY
            changed = warm
            if deep:
                names = NO_NAMES
            else:
                if axis[0] == 0.0 and axis[1] == 0.0 and axis[2] == 0.0:
                    guess = sub(add(mul(r, load3(g.center, j)), t), load3(g.center, i))
                else:
                    guess = mul_t(ra, axis)
                settled, low, high, n, p, q, turns, known, names = quick_distance(
                    g, i, j, r, t, guess, margin, size, max(known, 0), names
                )
                around = not settled and known == 0 and names[3] >= 0
                deep = around and margin != SIGN_ONLY
            if deep:
                settled, low, high, n, p, q, turns, grown = known_depth(g, i, j, r, t, size, names, warm_surface, k)
                changed = warm and grown
                known = DEEP
            if around and not settled:
                for m in range(4):
                    corners[k, m] = names[m]
            if settled:
                n, p, q = to_world(ra, n), mul(ra, p), mul(ra, q)
                if changed:
                    store_warm(warm_axis, warm_start, k, i, j, n, known, names)
        elif is_capsule(g.kind[i]) and is_capsule(g.kind[j]):
            za, zb = third_axis(qa_k, sa), third_axis(qb_k, sb)
            settled, low, high, n, p, q = quick_capsules(g, i, j, t, za, zb, ZERO)
            turns = 1
        if settled:
            found = answer(low, high, n, p, q, xa_k, size, margin, turns)
            status[k], distance[k], lower[k], upper[k], n, p, q, iterations[k] = found
            store3(normal, k, n)
            store3(point_a, k, p)
            store3(point_b, k, q)
        else:
            if not around:
                corners[k, 0] = -1
            status[k] = LATER
            left += 1
    return bad, left


@kernel(nogil=True, _nrt=False)
def other_pairs(
    g, a, b, xa, qa, xb, qb, margin, warm_axis, warm_start, warm_surface, first, stop,
    corners, status, distance, lower, upper, normal, point_a, point_b, iterations,
):  # fmt: skip
    """Those of the pairs [first, stop) whose status is LATER."""
    warm = len(warm_axis) > 0
    for k in range(first, stop):
        if status[k] != LATER:
            continue
        i, j = a[k], b[k]
        xa_k, xb_k = load3(xa, k), load3(xb, k)
        _, ra = pose(xa_k, load4(qa, k))
        _, rb = pose(xb_k, load4(qb, k))
        axis = ZERO
        if warm and warm_start[k, 0] == i and warm_start[k, 1] == j:
            axis = load3(warm_axis, k)
        if is_polytope(g.kind[i]) and is_polytope(g.kind[j]):
            r, t = relative(xa_k, ra, xb_k, rb)
            size = g.radius[i] + g.radius[j] + norm(t)
            guess = start_axis(g, i, j, ra, r, t, axis)
            low, high = 1.0, math.inf
            if corners[k, 0] >= 0 and margin != SIGN_ONLY:
                low, high, n, p, q, _, turns = overlap_far(
                    g, i, j, r, t, guess, size, INSIDE, 0.0, math.inf, ZERO, ZERO, NO_ROWS, vertex_rows(corners, k)
                )
            if low > 0.0 or high == math.inf:  # not known to overlap, or not after all
                low, high, n, p, q, _, turns, _, _ = polytope_query_far(g, i, j, r, t, guess, margin, size, 0, NO_START)
            found = answer(low, high, to_world(ra, n), mul(ra, p), mul(ra, q), xa_k, size, margin, turns)
        else:
            found = distance_far(g, i, xa_k, ra, j, xb_k, rb, margin, axis)
        status[k], distance[k], lower[k], upper[k], n, p, q, iterations[k] = found
        store3(normal, k, n)
        store3(point_a, k, p)
        store3(point_b, k, q)
        if warm:
            store_warm(warm_axis, warm_start, k, i, j, n, 0, NO_NAMES)


@lean
def store_warm(warm_axis, warm_start, k, i, j, n, known, names):
    """Write row k of a `PairCache`."""
    store3(warm_axis, k, n)
    warm_start[k, 0] = i
    warm_start[k, 1] = j
    warm_start[k, 2] = known
    warm_start[k, 3] = names[0]
    warm_start[k, 4] = names[1]
    warm_start[k, 5] = names[2]


@lean
def vertex_rows(corners, k):
    """The rows of four named corners, as `epa` takes them."""
    c0, c1, c2, c3 = corners[k, 0], corners[k, 1], corners[k, 2], corners[k, 3]
    return c0 // SHIFT, c0 % SHIFT, c1 // SHIFT, c1 % SHIFT, c2 // SHIFT, c2 % SHIFT, c3 // SHIFT, c3 % SHIFT


@lean
def usable(x, q):
    """(yes, 2 / |q|²) of a pose; no: not finite, too far out, or the quaternion not of unit length."""
    square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
    near = abs(x[0]) <= MOST_LENGTH and abs(x[1]) <= MOST_LENGTH and abs(x[2]) <= MOST_LENGTH
    if near and abs(square - 1.0) <= 2.0 * UNIT:
        return True, 2.0 / square
    return False, 0.0


@lean
def rotation(q, s):
    """The matrix of a quaternion; s = 2 / |q|²."""
    w, i, j, k = q
    wi, wj, wk = s * w * i, s * w * j, s * w * k
    ii, jj, kk = s * i * i, s * j * j, s * k * k
    ij, ik, jk = s * i * j, s * i * k, s * j * k
    return 1.0 - (jj + kk), ij - wk, ik + wj, ij + wk, 1.0 - (ii + kk), jk - wi, ik - wj, jk + wi, 1.0 - (ii + jj)


@lean
def third_axis(q, s):
    """The last column of that matrix."""
    w, i, j, k = q
    return s * i * k + s * w * j, s * j * k - s * w * i, 1.0 - (s * i * i + s * j * j)


@lean
def pose(x, q):
    """(usable, rotation matrix) of a position and a quaternion."""
    good, s = usable(x, q)
    return good, rotation(q, s)


def whole_numbers(name: str, value, count: int) -> np.ndarray:
    """(n,) int64; whether they are in [0, count) is left to `check_range`."""
    found = np.asarray(value)
    if found.ndim != 1 or (found.dtype.kind not in "iu" and found.size):
        raise InputError(name, value, f"must be a list of indices of shapes, whole numbers from 0 to {count - 1}")
    return np.ascontiguousarray(found, np.int64)


def check_range(name: str, found: np.ndarray, count: int) -> None:
    """InputError for the first index that is not in [0, count)."""
    wrong = (found < 0) | (found >= count)
    if wrong.any():
        k = int(wrong.argmax())
        raise InputError(f"{name}[{k}]", found[k], f"must be a list of indices of shapes, whole numbers from 0 to {count - 1}")


def indices(name: str, value, count: int) -> np.ndarray:
    """(n,) int64, each in [0, count)."""
    found = whole_numbers(name, value, count)
    check_range(name, found, count)
    return found


def table(name: str, value, n: int, width: int) -> np.ndarray:
    """(n, width) float64."""
    try:
        found = np.ascontiguousarray(value, float)
    except (TypeError, ValueError):
        raise InputError(name, value, f"must be an array of numbers of shape ({n}, {width})") from None
    if found.shape != (n, width):
        raise InputError(name, found.shape, f"must have the shape ({n}, {width}): one row for each")
    return found


def threads_of(threads) -> int:
    """A number of threads, checked."""
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or threads < 0:
        raise InputError("threads", threads, "must be a number of threads, or 0 for one on each core")
    return int(threads) or os.cpu_count() or 1


def spans_of(n: int, threads: int) -> list[tuple[int, int]]:
    """[0, n) in at most ``threads`` ranges of similar size."""
    if threads == 1 or n < 2 * CHUNK:
        return [(0, n)]
    parts = min(threads, n // CHUNK)
    edges = [n * i // parts for i in range(parts + 1)]
    return list(zip(edges[:-1], edges[1:], strict=True))


def check_poses(poses: list[np.ndarray], names=NAMES) -> None:
    """InputError for the first pose that can not be used; ``poses``: positions and orientations of one side or of two."""
    sides = len(poses) // 2
    bad = sides * len(poses[0])
    for side in range(sides):
        x, q = poses[2 * side], poses[2 * side + 1]
        near = (np.abs(x) <= MOST_LENGTH).all(axis=1)  # False for nan
        wrong = ~(near & (np.abs((q * q).sum(axis=1) - 1.0) <= 2.0 * UNIT))
        if wrong.any():
            bad = min(bad, sides * int(wrong.argmax()) + side)
    _report(bad, poses, names)


def _report(bad: int, poses: list[np.ndarray], names=NAMES) -> None:
    """InputError for pose ``bad``, counted through the sides row by row; none where it is beyond them."""
    k, side = divmod(bad, len(poses) // 2)
    if k >= len(poses[0]):
        return
    x, q = poses[2 * side][k], poses[2 * side + 1][k]
    check_point(f"{names[2 * side]}[{k}]", x)
    length = np.linalg.norm(q)
    raise InputError(f"{names[2 * side + 1]}[{k}]", q, f"must be a unit quaternion (w, x, y, z); its length is {length:.6g}")
