"""What a call costs beside the work: one pair a call against many pairs in one, construction, compounds, rays.

    python -m benchmarks.calls

All in one run, so that ratios mean something on a busy machine. Times are of the processor, the best of several rounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from tumble.collision import (
    Box,
    Capsule,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Pose,
    ShapeSet,
    Sphere,
    ray_cast,
    signed_distance,
    signed_distances,
)
from tumble.collision.shapes.polytope import polytope
from tumble.collision.shapes.shapeset import packed

PAIRS, ROUNDS = 200, 15


def best(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Least time of the processor of some rounds [s]."""
    found = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def some_poses(rng: np.random.Generator, gap: float) -> tuple[np.ndarray, np.ndarray]:
    x, q = rng.normal(size=(PAIRS, 3)), rng.normal(size=(PAIRS, 4))
    return x / np.linalg.norm(x, axis=1)[:, None] * gap, q / np.linalg.norm(q, axis=1)[:, None]


def call_row(shape, gap: float, rng: np.random.Generator) -> tuple[float, float]:
    """(a pair of many, a pair a call) [us] for two of a shape whose centres are ``gap`` apart."""
    shapes, rows = ShapeSet([shape]), np.zeros(PAIRS, int)
    x, q = some_poses(rng, gap)
    y, p = np.zeros((PAIRS, 3)), some_poses(rng, 1.0)[1]
    poses = [(Pose(a, b), Pose(c, d)) for a, b, c, d in zip(x, q, y, p, strict=True)]

    def many():
        signed_distances(shapes, rows, rows, x, q, y, p)

    def one():
        for a, b in poses:
            signed_distance(shape, a, shape, b)

    many()
    one()
    return best(many) / PAIRS * 1e6, best(one) / PAIRS * 1e6


def main() -> None:
    rng = np.random.default_rng(0)
    ball = rng.normal(size=(1000, 3))
    ball /= 2 * np.linalg.norm(ball, axis=1)[:, None]
    families = {
        "sphere": Sphere(0.5), "capsule": Capsule(0.2, 0.3), "box": Box(), "hull of 20": ConvexHull(ball[:20]),
        "hull of 1000": ConvexHull(ball), "cylinder": Cylinder(0.3, 0.4), "cone": Cone(0.4, 0.4),
        "ellipsoid": Ellipsoid((0.3, 0.4, 0.5)),
    }  # fmt: skip
    print("| pairs | of many [us] | a call [us] | beside the work [us] |\n|---|---|---|---|")
    for name, shape in families.items():
        for place, gap in (("apart", 1.5), ("deep", 0.3)):
            many, one = call_row(shape, gap, rng)
            print(f"| {name}, {place} | {many:.2f} | {one:.2f} | {one - many:.2f} |", flush=True)
    for n in (1000, 10_000, 100_000):
        points = rng.normal(size=(n, 3))
        points /= np.linalg.norm(points, axis=1)[:, None]
        print(f"hull of {n} corners: {best(lambda p=points: packed(ConvexHull(p)), 1):.2f} s to build and pack")
        hull = ConvexHull(points)
        polytope(hull)
        ray_cast(hull, Pose(), (3, 0, 0), (-1, 0, 0))
        print(f"  a ray: {best(lambda h=hull: ray_cast(h, Pose(), (3, 0, 0), (-1, 0, 0))) * 1e6:.0f} us")
    parts = [(Box((0.02, 0.02, 0.02)), Pose(x)) for x in rng.uniform(-1, 1, (500, 3))]
    a, b = Compound(parts), Compound(parts[::-1])
    for gap in (5.0, 2.1, 0.5):
        signed_distance(a, Pose(), b, Pose((gap, 0, 0)))
        spent = best(lambda g=gap: signed_distance(a, Pose(), b, Pose((g, 0, 0))))
        print(f"compounds of 500, {gap} m: {spent * 1e3:.2f} ms")


if __name__ == "__main__":
    main()
