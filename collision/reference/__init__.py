"""The queries once more, short and readable, in NumPy: what the kernels must agree with.

A distance works in any dimension, a depth in two and three. Nothing here is fast: a query takes milliseconds. Signs are
those of the package: the normal points from A to B, and the signed distance is negative on overlap. The search runs in
A - B, as in the articles that it follows (the kernels use B - A).

>>> from tumble.collision import reference
>>> square = [(0, 0), (1, 0), (1, 1), (0, 1)]
>>> r = reference.signed_distance(reference.polytope(square), reference.polytope([(3, 0.5), (4, 5), (4, -5)]))
>>> r.distance, r.point_a.tolist(), r.point_b.tolist()
(2.0, [1.0, 0.5], [3.0, 0.5])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tumble.collision.reference.convex_sets import Body, Corner, body, core, corner, polytope
from tumble.collision.reference.numpy_epa import Depth, epa, full_simplex
from tumble.collision.reference.numpy_gjk import Closest, closest_weights, gjk
from tumble.collision.reference.sampling import directions, sampled_distance

__all__ = [
    "Answer", "Body", "Closest", "Corner", "Depth", "body", "closest_weights", "core", "corner", "directions", "epa",
    "full_simplex", "gjk", "polytope", "sampled_distance", "signed_distance",
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Answer:
    """Signed distance of two bodies: the truth lies in [lower, upper] but for rounding.

    normal: unit vector from A to B. point_b - point_a = distance normal. simplex_a, simplex_b (k, n): corners of the two
    cores between which the points lie, but for the margins.
    """

    distance: float
    lower: float
    upper: float
    normal: np.ndarray
    point_a: np.ndarray
    point_b: np.ndarray
    simplex_a: np.ndarray
    simplex_b: np.ndarray
    iterations: int


def signed_distance(
    a: Body, b: Body, tolerance: float = 0.0, limit: int = 200, steps: list[dict[str, Any]] | None = None
) -> Answer:
    """Signed distance of two bodies: GJK on the cores, EPA where they overlap, less both margins.

    ``tolerance`` [m]: width of the interval that will do where the bodies overlap and are curved. ``steps`` collects what
    every iteration did, as plain data; bounds there are those of the cores.
    """
    near = gjk(a, b, limit=limit, steps=steps)
    margin, iterations = a.margin + b.margin, near.iterations
    if near.distance > 0.0:
        found, distance, lower, upper = near, near.distance, near.lower, near.distance
    else:
        found = epa(a, b, near.corners, limit, tolerance, steps)
        distance, lower, upper = -found.depth, -found.upper, -found.lower
        iterations += found.iterations
    n = found.normal
    p, q = found.point_a + a.margin * n, found.point_b - b.margin * n
    return Answer(distance - margin, lower - margin, upper - margin, n, p, q, found.simplex_a, found.simplex_b, iterations)
