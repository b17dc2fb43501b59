"""Signed distances of many pairs in one compiled call."""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from tumble.collision.contact.warm_start import Kept
from tumble.collision.distance.epa import ROW
from tumble.collision.distance.result import SIGN_ONLY
from tumble.collision.errors import MOST_LENGTH, InputError, check_number, check_point
from tumble.collision.hints import Numbers, Rows, Whole
from tumble.collision.queries.batch_kernels import UNIT_SLACK, other_pairs, quick_pairs
from tumble.collision.shapes.compounds import Pieces, nearest_pieces, piece_pairs
from tumble.collision.shapes.shapeset import ShapeSet
from tumble.collision.status import UNCERTAIN

NAMES = ("positions_a", "orientations_a", "positions_b", "orientations_b")
CHUNK = 256  # pairs that are worth a thread of their own


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
    """Warm state of ``count`` pairs between calls of `signed_distances`, `contact_manifolds` or `times_of_impact`.

    Of distances it keeps where the last search ended, which only proposes where to start: answers do not depend on it beyond
    rounding. Of contact points and impacts it keeps the last answers: see contact/warm_start.py. A pair whose shapes changed
    starts afresh by itself. One cache must not be used by two calls at once.
    """

    def __init__(self, count: int):
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 0:
            raise InputError("count", count, "must be the number of pairs, 0 or more")
        self.axis = np.zeros((count, 3))  # last normal, world axes; zero for none
        # shapes of A and B that it belongs to, how many corners the closest points lie between, their names (gjk.py)
        self.start = np.full((count, 6), -1, np.int64)
        # of pairs that overlap (DEEP for the number of corners) the surface that proved how much: see distance/epa.py
        self.surface = np.zeros((count, ROW), np.int64)
        self.shapes: ShapeSet | None = None
        self.pieces: PairCache | None = None  # the same for all pairs of pieces, where there are compounds
        self.manifolds: Kept | None = None  # the last contact points, the last impacts
        self.impacts: Kept | None = None

    def __len__(self) -> int:
        return len(self.axis)

    def clear(self) -> None:
        """Forget everything."""
        self.axis[:] = 0.0
        self.start[:] = -1
        self.shapes = self.pieces = self.manifolds = self.impacts = None

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
    a: Whole,
    b: Whole,
    positions_a: Numbers | Rows,
    orientations_a: Numbers | Rows,
    positions_b: Numbers | Rows,
    orientations_b: Numbers | Rows,
    margin: float = math.inf,
    cache: PairCache | None = None,
    threads: int = 1,
) -> Distances:
    """Signed distances of n pairs of shapes: shape a[k] of ``shapes`` at its pose and b[k] at its own.

    a, b: (n,) int, rows of ``shapes``. positions (n, 3) [m]; orientations (n, 4), unit quaternions (w, x, y, z). What is given
    once, an index or one row, is that of all pairs.
    ``margin`` [m]: stop where a pair is certainly further apart (status BEYOND_MARGIN). ``cache``: a `PairCache` of n
    pairs, carried from call to call of slowly moving pairs. ``threads``: 0 for one on each core; the answers are the
    same bits whatever their number. A Compound is as near as its nearest piece, as deep as its deepest. Raises
    InputError for arrays that do not fit each other or hold no poses.
    """
    margin = margin if margin == math.inf else check_number("margin", margin)
    return _measure(shapes, a, b, positions_a, orientations_a, positions_b, orientations_b, margin, cache, threads)


def collisions(
    shapes: ShapeSet,
    a: Whole,
    b: Whole,
    positions_a: Numbers | Rows,
    orientations_a: Numbers | Rows,
    positions_b: Numbers | Rows,
    orientations_b: Numbers | Rows,
    cache: PairCache | None = None,
    threads: int = 1,
) -> np.ndarray:
    """(n,) bool: which of n pairs overlap or touch; False only where they are certainly apart.

    Each search ends as soon as that is certain, one way or the other. Arguments as for `signed_distances`.
    """
    return (
        _measure(shapes, a, b, positions_a, orientations_a, positions_b, orientations_b, SIGN_ONLY, cache, threads).lower <= 0.0
    )


def _measure(shapes, a, b, xa, qa, xb, qb, margin, cache, threads) -> Distances:
    """Both of the above, checked."""
    a, b, poses = sides_of(shapes, *for_all(a, b, xa, qa, xb, qb))
    n = len(a)
    check_cache(cache, n)
    threads = threads_of(threads)
    if not shapes.convex:
        check_sides(shapes, a, b, poses)
    if cache is not None:
        cache.serve(shapes)
    if shapes.convex or n == 0:
        return search(shapes, a, b, poses, margin, cache, threads)
    pieces = piece_pairs(shapes, a, b, poses, max(margin, 0.0))
    warm = None if cache is None else cache.of_pieces(pieces)
    found = search(shapes, pieces.a, pieces.b, pieces.poses, margin, warm, threads)
    if cache is not None:
        cache.keep_pieces(pieces, warm)
    return Distances(**nearest_pieces(found, pieces))


def check_set(shapes) -> None:
    """InputError for what is no `ShapeSet`."""
    if not isinstance(shapes, ShapeSet):
        raise InputError("shapes", shapes, "must be a ShapeSet, which packs the shapes once")


def sides_of(shapes: ShapeSet, a, b, *poses) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Indices and poses of two sides as arrays that fit each other; see `check_sides`."""
    check_set(shapes)
    a, b = whole_numbers("a", a, len(shapes)), whole_numbers("b", b, len(shapes))
    if len(a) != len(b):
        raise InputError("b", b.shape, f"must hold one index for each of the {len(a)} in a")
    return a, b, [table(name, v, len(a), width) for name, v, width in zip(NAMES, poses, (3, 4, 3, 4), strict=True)]


def check_sides(shapes: ShapeSet, a: np.ndarray, b: np.ndarray, poses: list[np.ndarray]) -> None:
    """InputError for the first index that is none, or the first pose that can not be used."""
    check_indices("a", a, len(shapes))
    check_indices("b", b, len(shapes))
    check_poses(poses)


def check_cache(cache, n: int) -> None:
    """InputError unless a cache is None or one of n pairs."""
    if cache is not None and not (isinstance(cache, PairCache) and len(cache) == n):
        raise InputError("cache", cache, f"must be a PairCache({n}), one row for each pair")


def search(shapes: ShapeSet, a, b, poses, margin: float, warm: PairCache | None = None, threads: int = 1) -> Distances:
    """Pairs of convex pieces, rows a and b of the geometry, without checks."""
    warm = warm if warm is not None else COLD
    n = len(a)
    out = Distances(
        np.empty(n, np.int8), *(np.empty(n) for _ in range(3)), *(np.empty((n, 3)) for _ in range(3)), np.empty(n, np.int32)
    )
    results = np.empty((n, 8), np.int64), *vars(out).values()

    def run(span):
        arguments = (shapes.geometry, a, b, *poses, margin, warm.axis, warm.start, warm.surface, *span, *results)
        bad, left = quick_pairs(*arguments)
        if left and bad == 2 * n:
            other_pairs(*arguments)
        return bad

    bad = min(in_threads(run, n, threads))
    if bad < 2 * n:
        check_indices("a", a, len(shapes.geometry.kind))
        check_indices("b", b, len(shapes.geometry.kind))
        _report(bad, poses)
    return out


def for_all(*given) -> list:
    """Indices of two sides and the poses of both, where those that are given once are repeated for all pairs."""
    rows = []
    for value, ndim in zip(given, (1, 1, 2, 2, 2, 2), strict=True):
        try:
            rows.append(np.ndim(value) - ndim)
        except ValueError:  # ragged: named later
            rows.append(0)
    if -1 not in rows:
        return list(given)
    n = next((len(value) for value, row in zip(given, rows, strict=True) if row == 0), 1)
    return [np.broadcast_to(v, (n, *np.shape(v))) if row == -1 else v for v, row in zip(given, rows, strict=True)]


def whole_numbers(name: str, value, count: int) -> np.ndarray:
    """(n,) int64; whether they are in [0, count) is left to `check_range`."""
    found = np.asarray(value)
    if found.ndim == 1 and found.dtype == np.uint64:  # large ones would become negative
        check_indices(name, found, count)
    if found.ndim != 1 or (found.dtype.kind not in "iu" and found.size):
        raise InputError(name, value, f"must be a list of indices of shapes, whole numbers from 0 to {count - 1}")
    return np.ascontiguousarray(found, np.int64)


def check_indices(name: str, found: np.ndarray, count: int) -> None:
    """InputError for the first index that is not in [0, count)."""
    wrong = (found < 0) | (found >= count)
    if wrong.any():
        k = int(wrong.argmax())
        raise InputError(f"{name}[{k}]", found[k], f"must be a list of indices of shapes, whole numbers from 0 to {count - 1}")


def indices(name: str, value, count: int) -> np.ndarray:
    """(n,) int64, each in [0, count)."""
    found = whole_numbers(name, value, count)
    check_indices(name, found, count)
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


def in_threads(call, n: int, threads: int) -> list:
    """What ``call`` of ranges of [0, n) returned, each in a thread."""
    spans = spans_of(n, threads)
    if len(spans) == 1:
        return [call(spans[0])]
    with ThreadPoolExecutor(len(spans)) as pool:
        return list(pool.map(call, spans))


def check_poses(poses: list[np.ndarray], names=NAMES) -> None:
    """InputError for the first pose that can not be used; ``poses``: positions and orientations of one side or of two."""
    sides = len(poses) // 2
    bad = sides * len(poses[0])
    for side in range(sides):
        x, q = poses[2 * side], poses[2 * side + 1]
        near = (np.abs(x) <= MOST_LENGTH).all(axis=1)  # False for nan
        wrong = ~(near & (np.abs((q * q).sum(axis=1) - 1.0) <= 2.0 * UNIT_SLACK))
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
