"""Signed distances of many pairs in one compiled call."""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from collision.errors import MOST_LENGTH, InputError, check_number, check_point
from collision.gjk import NO_START
from collision.jit import kernel, lean
from collision.linalg import IDENTITY, ZERO, load3, load4, mul, norm, store3
from collision.narrowphase import distance_far
from collision.pairs.polytope import polytope_query_far, relative, start_axis
from collision.pairs.result import SIGN_ONLY, answer, to_world
from collision.pieces import Pieces, nearest_pieces, piece_pairs
from collision.shapeset import ShapeSet
from collision.status import UNCERTAIN
from collision.support import is_polytope

NAMES = ("positions_a", "orientations_a", "positions_b", "orientations_b")
CHUNK = 256  # pairs that are worth a thread of their own
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
        # shapes of A and B that it belongs to, corners of the last simplex, their vertex rows (a0, b0, a1, b1, a2, b2)
        self.start = np.full((count, 9), -1, np.int64)
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
        part.axis, part.start = self.pieces.axis[pieces.row], self.pieces.start[pieces.row]
        return part

    def keep_pieces(self, pieces: Pieces, part: PairCache) -> None:
        """Take over what is now known of them."""
        self.pieces.axis[pieces.row], self.pieces.start[pieces.row] = part.axis, part.start


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
    a, b = indices("a", a, len(shapes)), indices("b", b, len(shapes))
    n = len(a)
    if len(b) != n:
        raise InputError("b", b.shape, f"must hold one index for each of the {n} in a")
    poses = [table(name, v, n, w) for name, v, w in zip(NAMES, (xa, qa, xb, qb), (3, 4, 3, 4), strict=True)]
    if cache is not None and not (isinstance(cache, PairCache) and len(cache) == n):
        raise InputError("cache", cache, f"must be a PairCache({n}), one row for each pair")
    threads = _threads(threads)
    if shapes.convex or n == 0:
        if cache is not None:
            cache.serve(shapes)
        return search(shapes, a, b, poses, margin, cache, threads)
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
    warm = warm if warm is not None else PairCache(0)
    n = len(a)
    out = Distances(
        np.empty(n, np.int8), *(np.empty(n) for _ in range(3)), *(np.empty((n, 3)) for _ in range(3)), np.empty(n, np.int32)
    )
    results = (out.status, out.distance, out.lower, out.upper, out.normal, out.point_a, out.point_b, out.iterations)

    def run(span):
        return query_pairs(shapes.geometry, a, b, *poses, margin, warm.axis, warm.start, *span, *results)

    spans = _spans(n, threads)
    if len(spans) == 1:
        bad = [run(spans[0])]
    else:
        with ThreadPoolExecutor(len(spans)) as pool:
            bad = list(pool.map(run, spans))
    _report(min(bad), poses)
    return out


@kernel(nogil=True, _nrt=False)
def query_pairs(
    g, a, b, xa, qa, xb, qb, margin, warm_axis, warm_start, first, stop,
    status, distance, lower, upper, normal, point_a, point_b, iterations,
):  # fmt: skip
    """Pairs [first, stop). The number of the first bad pose, 2 k for A's and 2 k + 1 for B's; 2 n where all are good."""
    good = 2 * len(a)
    bad = good
    for k in range(first, stop):
        xa_k, xb_k = load3(xa, k), load3(xb, k)
        usable_a, ra = pose(xa_k, load4(qa, k))
        usable_b, rb = pose(xb_k, load4(qb, k))
        if not (usable_a and usable_b):
            bad = min(bad, 2 * k if not usable_a else 2 * k + 1)
            continue
        i, j = a[k], b[k]
        axis, known, start = ZERO, 0, NO_START
        warm = k < len(warm_axis)
        if warm and warm_start[k, 0] == i and warm_start[k, 1] == j:
            axis = load3(warm_axis, k)
            known = warm_start[k, 2]
            start = warm_rows(warm_start, k)
        if is_polytope(g.kind[i]) and is_polytope(g.kind[j]):  # straight there: the most frequent pairs
            r, t = relative(xa_k, ra, xb_k, rb)
            size = g.radius[i] + g.radius[j] + norm(t)
            guess = start_axis(g, i, j, ra, r, t, axis)
            low, high, n, p, q, _, turns, known, start = polytope_query_far(g, i, j, r, t, guess, margin, size, known, start)
            found = answer(low, high, to_world(ra, n), mul(ra, p), mul(ra, q), xa_k, size, margin, turns)
        else:
            known = 0
            found = distance_far(g, i, xa_k, ra, j, xb_k, rb, margin, axis)
        status[k], distance[k], lower[k], upper[k], n, p, q, iterations[k] = found
        store3(normal, k, n)
        store3(point_a, k, p)
        store3(point_b, k, q)
        if warm:
            store3(warm_axis, k, n)
            warm_start[k, 0] = i
            warm_start[k, 1] = j
            warm_start[k, 2] = known
            if known > 0:
                store_rows(warm_start, k, start)
    return bad


@lean
def warm_rows(table, k):
    """The simplex of row k, as `gjk` takes it."""
    return table[k, 3], table[k, 4], table[k, 5], table[k, 6], table[k, 7], table[k, 8], 0, 0


@lean
def store_rows(table, k, start):
    """Write the simplex of row k."""
    for m in range(6):
        table[k, 3 + m] = start[m]


@lean
def pose(x, q):
    """(usable, rotation matrix) of a position and a quaternion; not usable: not finite, too far out, or not of unit length."""
    w, i, j, k = q
    square = w * w + i * i + j * j + k * k
    near = abs(x[0]) <= MOST_LENGTH and abs(x[1]) <= MOST_LENGTH and abs(x[2]) <= MOST_LENGTH
    if not (near and abs(square - 1.0) <= 2.0 * UNIT):
        return False, IDENTITY
    s = 2.0 / square
    wi, wj, wk = s * w * i, s * w * j, s * w * k
    ii, jj, kk = s * i * i, s * j * j, s * k * k
    ij, ik, jk = s * i * j, s * i * k, s * j * k
    return True, (1.0 - (jj + kk), ij - wk, ik + wj, ij + wk, 1.0 - (ii + kk), jk - wi, ik - wj, jk + wi, 1.0 - (ii + jj))


def indices(name: str, value, count: int) -> np.ndarray:
    """(n,) int64, each in [0, count)."""
    found = np.asarray(value)
    wanted = f"must be a list of indices of shapes, whole numbers from 0 to {count - 1}"
    if found.ndim != 1 or (found.dtype.kind not in "iu" and found.size):
        raise InputError(name, value, wanted)
    if found.size and (found.min() < 0 or found.max() >= count):
        k = int(np.argmax((found < 0) | (found >= count)))
        raise InputError(f"{name}[{k}]", found[k], wanted)
    return np.ascontiguousarray(found, np.int64)


def table(name: str, value, n: int, width: int) -> np.ndarray:
    """(n, width) float64."""
    try:
        found = np.ascontiguousarray(value, float)
    except (TypeError, ValueError):
        raise InputError(name, value, f"must be an array of numbers of shape ({n}, {width})") from None
    if found.shape != (n, width):
        raise InputError(name, found.shape, f"must have the shape ({n}, {width}): one row for each")
    return found


def _threads(threads) -> int:
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or threads < 0:
        raise InputError("threads", threads, "must be a number of threads, or 0 for one on each core")
    return int(threads) or os.cpu_count() or 1


def _spans(n: int, threads: int) -> list[tuple[int, int]]:
    """[0, n) in at most ``threads`` ranges of similar size."""
    parts = max(1, min(threads, n // CHUNK))
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
