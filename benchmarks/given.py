"""Do intervals hold for the points that were given? Clouds that are flat, straight or crowded but for rounding.

    python -m benchmarks.given --pairs 100000

Hulls keep some of their points and merge others; each answer here is held against all of the points, in rational arithmetic,
single and in batch, warm and both ways round: the lower bound by the separation along the normal, the upper bound by features
that face each other, or, of bodies that overlap, by the exact depth where these are small enough.
"""

from __future__ import annotations

import argparse
from collections import Counter
from fractions import Fraction

import numpy as np

from benchmarks.exact import holds, lower_is_proven, placed, square_by_hull, square_of_flat, upper_is_proven, whole
from tumble.collision import ConvexHull, PairCache, Pose, ShapeSet, signed_distance, signed_distances

BLOCK = 500
UPRIGHT = (1.0, 0.0, 0.0, 0.0)


def cloud(rng: np.random.Generator) -> np.ndarray:
    """Points (n, 3) in a plane, on a line, on a lattice or in crowds, off by 1e-16 to 1e-11 of their size."""
    kind, n = rng.integers(0, 6), int(rng.integers(4, 12))
    if kind == 0:
        angles = np.arange(n) * 2 * np.pi / n
        points = np.column_stack([np.cos(angles), np.sin(angles), 0 * angles])
    elif kind == 1:
        points = np.column_stack([np.linspace(-1, 1, n), np.zeros((n, 2))])
    elif kind == 2:
        points = np.array(np.meshgrid(*[np.linspace(-1, 1, k) for k in rng.integers(2, 4, 3)])).reshape(3, -1).T
    elif kind == 3:
        points = np.repeat(rng.normal(size=(int(rng.integers(1, 5)), 3)), 3, axis=0)
    elif kind == 4:
        points = rng.normal(size=(n, 3)) * (1, 1, 0)
    else:
        points = rng.normal(size=(n, 3)) * (1, 1e-3, 10 ** rng.uniform(-15, -3))
    points = points + rng.normal(size=points.shape) * 10 ** rng.uniform(-16, -11)
    if rng.random() < 0.7:
        points = points @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    if rng.random() < 0.2:
        points = (points + 1000.0) - 1000.0
    if rng.random() < 0.1:
        points = points + 100.0
    return points


def some_pairs(rng: np.random.Generator, count: int) -> tuple[list[np.ndarray], np.ndarray, np.ndarray, np.ndarray]:
    """Clouds, rows (count,) of those that make up pairs, each cloud in four or so, and positions (count, 3) of the second one."""
    clouds = [cloud(rng) for _ in range(max(count // 2, 2))]
    rows = np.array([rng.choice(len(clouds), 2, replace=False) for _ in range(count)])
    positions = np.empty((count, 3))
    for k, (i, j) in enumerate(rows):
        a, b = clouds[i], clouds[j]
        n = rng.normal(size=3)
        n /= np.linalg.norm(n)
        gap = rng.choice([0.0, 1e-15, 1e-13, 1e-3, 0.5, -1e-14, -0.05])
        corner_a, corner_b = a[(a @ n).argmax()], b[(b @ n).argmin()]
        positions[k] = corner_a - corner_b + gap * n
    return clouds, *rows.T, positions


def verify(
    clouds: list[np.ndarray], i: np.ndarray, j: np.ndarray, positions: np.ndarray, counts: Counter, most: int = 60
) -> None:
    """Count what answers about pairs of clouds are, and which are wrong; of depths those of at most ``most`` differences."""
    n = len(positions)
    shapes = ShapeSet([ConvexHull(points) for points in clouds])
    zero, upright = np.zeros((n, 3)), np.tile(UPRIGHT, (n, 1))
    cache = PairCache(n)
    there = (i, j, zero, upright, positions, upright)
    back = (j, i, positions, upright, zero, upright)
    answers = {"batch": signed_distances(shapes, *there), "back": signed_distances(shapes, *back)}
    signed_distances(shapes, *there, cache=cache)
    answers["warm"] = signed_distances(shapes, *there, cache=cache)
    for k in range(n):
        cloud_a, cloud_b = clouds[i[k]], clouds[j[k]]
        first = placed(cloud_a, (0, 0, 0), UPRIGHT)
        points, factor = whole(first + placed(cloud_b, positions[k], UPRIGHT))
        a, b = points[: len(first)], points[len(first) :]
        known = {}  # many answers are the same bits
        single = signed_distance(shapes.shapes[i[k]], Pose(), shapes.shapes[j[k]], Pose(positions[k]))
        found = [("single", single.lower, single.upper, single.normal, single.status)]
        for name, r in answers.items():
            found.append((name, r.lower[k], r.upper[k], r.normal[k] * (-1 if name == "back" else 1), r.status[k]))
        bodies = cloud_a, ((0, 0, 0), UPRIGHT), cloud_b, (positions[k], UPRIGHT)
        exact = None
        if min(upper for _, _, upper, *_ in found) < 0 and len(a) * len(b) <= most:
            exact = square_by_hull(*bodies)
        for name, lower, upper, normal, status in found:
            counts["answers"] += 1
            counts[f"status {int(status)}"] += 1
            answer = lower, upper, *normal
            if answer not in known:
                low, high = Fraction(lower) * factor, Fraction(upper) * factor
                known[answer] = lower_is_proven(a, b, normal, low) and (high < 0 or upper_is_proven(a, b, normal, high))
            proven = known[answer]
            if exact is None and not proven:
                exact = square_by_hull(*bodies) or square_of_flat(*bodies)
            counts["exact values"] += exact is not None
            counts[f"{name}: wrong"] += exact is not None and not holds((lower, upper), *exact)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    counts: Counter = Counter()
    for block in range(-(-options.pairs // BLOCK)):
        verify(*some_pairs(np.random.default_rng([options.seed, block]), BLOCK), counts)
        print((block + 1) * BLOCK, dict(sorted(counts.items())), flush=True)


if __name__ == "__main__":
    main()
