"""Compounds in queries: pairs of shapes spread out into pairs of their convex pieces, and the answers put together again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tumble.collision.pose import rotated
from tumble.collision.shapes.shapeset import ShapeSet
from tumble.collision.status import BEYOND_MARGIN, OVERLAPPING, SEPARATED, TOUCHING, UNCERTAIN

EPS = float(np.finfo(float).eps)
PLACE_ROUNDING = 8.0 * EPS  # of distances and lengths: what placing a piece may be off
MANY_PIECES = 64  # pairs of pieces of one pair of shapes that are all looked at; of more a tree tells which
SLACK = 1e-7  # of the radii: pieces so little beyond the margin are asked all the same


class Pieces(NamedTuple):
    """Pairs of convex pieces that may matter for n pairs of shapes, in the order of those; at least one for each."""

    pair: np.ndarray  # (m,) which of the n pairs
    row: np.ndarray  # (m,) its number among all pairs of pieces, also those left out
    total: int  # number of all pairs of pieces
    a: np.ndarray  # (m,) rows of the geometry
    b: np.ndarray
    poses: list[np.ndarray]  # positions and orientations of a, of b
    placing: np.ndarray  # (m,) [m] rounding of these poses
    outside: np.ndarray  # (n,) [m] the pieces left out are at least so far apart

    def start(self) -> np.ndarray:
        """(n,) where the pieces of each pair begin."""
        return np.flatnonzero(np.diff(self.pair, prepend=-1))


def spread(shapes: ShapeSet, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All pairs of pieces of n pairs of shapes: (which of the n, row of the geometry for A, for B)."""
    count = np.diff(shapes.first)
    each = count[a] * count[b]
    pair = np.repeat(np.arange(len(a)), each)
    start = np.cumsum(each) - each
    along, across = np.divmod(np.arange(len(pair)) - start[pair], count[b][pair])
    return pair, shapes.first[a][pair] + along, shapes.first[b][pair] + across


def piece_pairs(shapes: ShapeSet, a: np.ndarray, b: np.ndarray, poses: list[np.ndarray], margin: float) -> Pieces:
    """Spread out n pairs of shapes, at poses that are known to be good.

    Left out are pieces whose bounding balls are further apart than the margin, or than some points of others are. Of large
    compounds most are not even looked at (`near`).
    """
    xa, qa, xb, qb = poses
    count = np.diff(shapes.first)
    each = count[a] * count[b]
    total = int(each.sum())
    large = np.flatnonzero(each > MANY_PIECES)
    if len(large):
        found = {int(k): near(shapes, a[k], b[k], [v[k : k + 1] for v in poses], margin) for k in large}
        begin = np.cumsum(each) - each
        rows = [begin[k] + (found[k] if k in found else np.arange(each[k])) for k in range(len(a))]
        row = np.concatenate(rows)
        pair = np.repeat(np.arange(len(a)), [len(part) for part in rows])
        along, across = np.divmod(row - begin[pair], count[b][pair])
        rows_a, rows_b = shapes.first[a][pair] + along, shapes.first[b][pair] + across
    else:
        pair, rows_a, rows_b = spread(shapes, a, b)
        row = np.arange(total)
    start = np.flatnonzero(np.diff(pair, prepend=-1))
    at_a, turn_a, off_a = shapes.placed(rows_a, xa[pair], qa[pair])
    at_b, turn_b, off_b = shapes.placed(rows_b, xb[pair], qb[pair])
    g = shapes.geometry
    radii = g.radius[rows_a] + g.radius[rows_b]
    between = np.linalg.norm(at_b - at_a, axis=1)
    low = between - radii
    ends = at_b + rotated(turn_b, g.center[rows_b]) - at_a - rotated(turn_a, g.center[rows_a])
    high = np.where(np.isfinite(radii), np.linalg.norm(ends, axis=1), np.inf)
    nearest = np.minimum(np.minimum.reduceat(high, start), margin) if total else np.empty(0)
    kept = low <= nearest[pair] + SLACK * (between + np.where(np.isfinite(radii), radii, 0.0))
    outside = np.full(len(start), np.inf)
    if total:
        kept |= low == np.minimum.reduceat(low, start)[pair]
        outside = np.minimum.reduceat(np.where(kept, np.inf, low), start)
        if len(large):  # those that were not looked at are beyond all that are within reach
            bound = np.nextafter(np.maximum(nearest, np.minimum.reduceat(low, start)), np.inf)
            outside[large] = np.minimum(outside, bound)[large]
    return Pieces(
        pair[kept],
        row[kept],
        total,
        rows_a[kept],
        rows_b[kept],
        [np.ascontiguousarray(v[kept]) for v in (at_a, turn_a, at_b, turn_b)],
        PLACE_ROUNDING * (off_a + off_b)[kept],
        outside,
    )


def near(shapes: ShapeSet, a: int, b: int, poses: list[np.ndarray], margin: float) -> np.ndarray:
    """Which pairs of pieces of two shapes may be the nearest within the margin, or the one of nearest balls: rising numbers.

    By a tree of the centres of the balls of B's pieces, made once: first how near some points of the bodies are, then all balls
    of B that come as near as that to one of A's.
    """
    g = shapes.geometry
    rows = np.arange(shapes.first[a], shapes.first[a + 1])
    tree, widest, deepest = shapes.balls(b)
    xa, qa, xb, qb = poses
    at, turn, _ = shapes.placed(rows, np.repeat(xa, len(rows), axis=0), np.repeat(qa, len(rows), axis=0))
    back = np.repeat(qb * (1, -1, -1, -1) / np.linalg.norm(qb), len(rows), axis=0)
    local = rotated(back, at - xb)
    off = np.linalg.norm(rotated(turn, g.center[rows]), axis=1)  # from the centre of a ball to a point of the piece
    away, _ = tree.query(local)
    radius = g.radius[rows]
    if not (np.isfinite(radius).all() and np.isfinite(widest)):
        return np.arange(len(rows) * len(tree.data))
    balls = (away - radius).min()  # and less what B's balls measure: no two are nearer
    reach = max(min((away + off).min() + deepest, margin), balls)
    reach += radius + widest
    reach += 4.0 * SLACK * (reach + np.abs(local).max() + np.abs(tree.data).max())
    some = np.flatnonzero(away <= reach)
    found = tree.query_ball_point(local[some], reach[some], return_sorted=True)
    return np.concatenate([k * len(tree.data) + np.array(others, int) for k, others in zip(some, found, strict=True)])


def nearest_pieces(found, pieces: Pieces) -> dict[str, np.ndarray]:
    """The fields of `Distances` for pairs of shapes, from those of their pieces: each pair's nearest or deepest pieces."""
    start = pieces.start()
    order = np.lexsort((found.distance, pieces.pair))
    best = order[start]  # sorted by pair they begin where they began before
    low, high = found.lower - pieces.placing, found.upper + pieces.placing
    lower, upper = np.minimum.reduceat(low, start), np.minimum.reduceat(high, start)
    status, distance = found.status[best].copy(), found.distance[best].copy()
    doubt = np.minimum.reduceat(np.where(found.status == UNCERTAIN, low, np.inf), start) <= lower
    certain = (status != BEYOND_MARGIN) & (status != UNCERTAIN)
    status[certain & (lower > 0)] = SEPARATED
    status[certain & (upper < 0)] = OVERLAPPING
    status[certain & (lower <= 0) & (upper >= 0)] = TOUCHING
    status[doubt & (status != BEYOND_MARGIN)] = UNCERTAIN
    beyond = status == BEYOND_MARGIN
    lower[beyond] = np.minimum(lower, pieces.outside)[beyond]
    distance[beyond] = lower[beyond]
    return {
        "status": status,
        "distance": distance,
        "lower": lower,
        "upper": upper,
        "normal": found.normal[best],
        "point_a": found.point_a[best],
        "point_b": found.point_b[best],
        "iterations": np.add.reduceat(found.iterations, start).astype(np.int32),
    }
