"""Distance of two convex sets in any dimension: Gilbert, Johnson and Keerthi (1988), by divide and conquer.

The point of a simplex closest to the origin is found by least squares in the whole of it, and where that lies outside,
among its faces, and theirs (J. Wedekind, "A divide-and-conquer implementation of the GJK algorithm"). Of all faces the
best is kept: the oldest can win too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tumble.collision.hints import Numbers
from tumble.collision.reference.convex_sets import Body, Corner, corner

EPS = np.finfo(float).eps


@dataclass(frozen=True, eq=False)
class Closest:
    """The closest points of two cores.

    distance [m] is |point_a - point_b|, zero where they overlap; the truth is not below ``lower``. The points are the
    sums of weights times the corners of simplex_a and simplex_b (k, n), which may have up to n + 1 corners.
    """

    distance: float
    lower: float
    normal: np.ndarray  # from A to B; zero where they overlap
    point_a: np.ndarray
    point_b: np.ndarray
    simplex_a: np.ndarray
    simplex_b: np.ndarray
    weights: np.ndarray
    iterations: int

    @property
    def corners(self) -> list[Corner]:
        """The simplex in A - B."""
        return [Corner(p - q, p, q) for p, q in zip(self.simplex_a, self.simplex_b, strict=True)]


def closest_weights(simplex: np.ndarray) -> np.ndarray:
    """Weights (k,) of the point of a simplex (k, n) that is closest to the origin."""
    base, edges = simplex[0], (simplex[1:] - simplex[0]).T
    t = np.linalg.lstsq(edges, -base, rcond=None)[0] if len(simplex) > 1 else np.empty(0)
    weights = np.concatenate([[1.0 - t.sum()], t])
    if weights.min() >= 0.0:
        return weights
    candidates = []
    for k in range(len(simplex)):
        candidates.append(np.insert(closest_weights(np.delete(simplex, k, axis=0)), k, 0.0))
    return min(candidates, key=lambda w: np.linalg.norm(w @ simplex))


def gjk(
    a: Body, b: Body, direction: Numbers | None = None, limit: int = 200, steps: list[dict[str, Any]] | None = None
) -> Closest:
    """Closest points of the cores of two bodies. ``steps`` collects what every iteration did, as plain data."""
    d = a.center - b.center if direction is None else -np.asarray(direction, float)
    if not d.any():
        d = np.eye(len(d))[0]
    size = a.size + b.size + np.linalg.norm(a.center - b.center)
    corners, weights = [corner(a, b, -d)], np.ones(1)
    lower, done, iterations = -np.inf, False, 0
    while not done and iterations < limit:
        iterations += 1
        v = weights @ np.array([c.w for c in corners])
        length = np.linalg.norm(v)
        if length <= 16 * EPS * size:  # the simplex holds the origin
            length, done = 0.0, True
            new = None
        else:
            new = corner(a, b, -v)
            lower = max(lower, v @ new.w / length)
            seen = any(np.array_equal(new.w, c.w) for c in corners)
            done = seen or length - lower <= 4 * EPS * size
        if steps is not None:
            steps.append(_gjk_step(corners, v, new, lower, length))
        if done:
            break
        grown = [*corners, new]
        w = np.array([c.w for c in grown])
        shares = closest_weights(w)
        if np.linalg.norm(shares @ w) >= length:  # no nearer: only rounding is left to gain
            break
        corners, weights = [c for c, share in zip(grown, shares, strict=True) if share > 0.0], shares[shares > 0.0]
    p, q = (np.array([getattr(c, side) for c in corners]) for side in "pq")
    normal = -v / length if length > 0.0 else np.zeros_like(v)
    return Closest(float(length), float(lower), normal, weights @ p, weights @ q, p, q, weights, iterations)


def _gjk_step(corners: list[Corner], v: np.ndarray, new: Corner | None, lower: float, upper: float) -> dict:
    return {
        "stage": "gjk",
        "simplex": [c.w.tolist() for c in corners],
        "closest": v.tolist(),
        "direction": None if new is None else (-v / np.linalg.norm(v)).tolist(),
        "support": None if new is None else new.w.tolist(),
        "support_a": None if new is None else new.p.tolist(),
        "support_b": None if new is None else new.q.tolist(),
        "lower": float(lower),
        "upper": float(upper),
    }
