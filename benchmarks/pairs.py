"""Nanoseconds a query, cold (no warm axis), one thread: python -m benchmarks.pairs

Each family is 200 random pairs, gone through many times inside one compiled loop, so no Python call is in the figures.
"""

from __future__ import annotations

import math
import time

import numpy as np

from tumble.collision import Box, ConvexHull, Pose, Sphere
from tumble.collision.geometry import Geometry
from tumble.collision.kernels.jit import kernel
from tumble.collision.linalg import load3, load9
from tumble.collision.narrowphase import distance, manifold
from tumble.collision.shapes.shapeset import ShapeSet

PAIRS = 200


@kernel
def distance_loop(g, a, b, x, r, y, s, margin, repeats):
    """Run all pairs `repeats` times; the sum of the distances, so that nothing is optimised away."""
    total = 0.0
    for _ in range(repeats):
        for k in range(len(a)):
            result = distance(g, a[k], load3(x, k), load9(r, k), b[k], load3(y, k), load9(s, k), margin, (0.0, 0.0, 0.0))
            total += result[1]
    return total


@kernel
def manifold_loop(g, a, b, x, r, y, s, margin, repeats, rows, ids):
    """The same for contact manifolds; the number of points."""
    total = 0
    for _ in range(repeats):
        for k in range(len(a)):
            result = manifold(
                g, a[k], load3(x, k), load9(r, k), b[k], load3(y, k), load9(s, k), margin, (0.0, 0.0, 0.0), rows, ids
            )
            total += result[0]
    return total


def random_rotation(rng) -> np.ndarray:
    """Matrix (3, 3), uniform."""
    q = rng.normal(size=4)
    return Pose((0, 0, 0), tuple(q / np.linalg.norm(q))).matrix()


def random_hull(rng, count: int) -> ConvexHull:
    """Points on a unit sphere."""
    v = rng.normal(size=(count, 3))
    return ConvexHull(v / np.linalg.norm(v, axis=1)[:, None])


def placed(rng, g: Geometry, a: int, b: int, gap: float):
    """Poses of a random pair at a signed distance of about `gap`."""
    r, s = random_rotation(rng), random_rotation(rng)
    y = rng.normal(size=3)
    for _ in range(4):  # along the normal: exact while the same features are closest
        result = distance(g, a, (0.0, 0.0, 0.0), tuple(r.ravel()), b, tuple(y), tuple(s.ravel()), math.inf, (0.0, 0.0, 0.0))
        y = y + (gap - result[1]) * np.array(result[4])
    return np.zeros(3), r, y, s


def timed(call) -> float:
    """Seconds of the best of five."""
    best = math.inf
    for _ in range(5):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    rng = np.random.default_rng(1)
    families = {"box": lambda: Box(tuple(rng.uniform(0.3, 1.0, 3))), "sphere": lambda: Sphere(rng.uniform(0.3, 1.0))}
    families |= {f"hull{n}": lambda n=n: random_hull(rng, n) for n in (8, 20, 50, 200)}
    states = {"apart": 0.5, "near": 1e-3, "kissing": 0.0, "shallow": -1e-3, "deep": -0.3}
    rows, ids = np.zeros((8, 14)), np.zeros(8, np.int64)
    print(f"{'ns a query':12s}" + "".join(f"{s:>20s}" for s in states) + "   (distance, manifold at margin 1e-2)")
    for family, make in families.items():
        g = ShapeSet([make() for _ in range(40)]).geometry
        cells = []
        for gap in states.values():
            a, b = rng.integers(0, 40, (2, PAIRS))
            x, r, y, s = (np.array(c) for c in zip(*(placed(rng, g, i, j, gap) for i, j in zip(a, b, strict=True)), strict=True))
            args = g, a, b, x, r, y, s
            distance_loop(*args, math.inf, 1)
            repeats = max(1, int(0.02 / (timed(lambda args=args: distance_loop(*args, math.inf, 1)) + 1e-9)))
            first = timed(lambda args=args, n=repeats: distance_loop(*args, math.inf, n)) / repeats / PAIRS * 1e9
            manifold_loop(*args, 1e-2, 1, rows, ids)
            second = timed(lambda args=args, n=repeats: manifold_loop(*args, 1e-2, n, rows, ids)) / repeats / PAIRS * 1e9
            cells.append(f"{first:9.0f} {second:9.0f} ")
        print(f"{family:12s}" + "".join(cells), flush=True)


if __name__ == "__main__":
    main()
