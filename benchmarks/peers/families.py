"""The pairs that are timed: families of shapes, apart, overlapping, and moving."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tumble.collision import Box, Capsule, Cone, ConvexHull, Cylinder, Ellipsoid, ShapeSet, Sphere, signed_distances

SHAPES = 20
STEP = 1 / 240  # s between frames of moving pairs
GAPS = {"apart": 0.5, "deep": -0.3}  # m, between bodies of about 1 m


@dataclass(frozen=True)
class Pairs:
    """n pairs: rows of shapes, positions (n, 3), quaternions (n, 4)."""

    shapes: ShapeSet
    a: np.ndarray
    b: np.ndarray
    x: np.ndarray
    q: np.ndarray
    y: np.ndarray
    p: np.ndarray

    def arguments(self) -> tuple:
        """What `signed_distances` takes."""
        return self.shapes, self.a, self.b, self.x, self.q, self.y, self.p

    def rows(self):
        """(a, x, R, b, y, S) of each pair, R and S rotation matrices (3, 3)."""
        return zip(self.a, self.x, matrices(self.q), self.b, self.y, matrices(self.p), strict=True)


def matrices(q: np.ndarray) -> np.ndarray:
    """Rotation matrices (n, 3, 3) of unit quaternions (n, 4): v + 2 w (u x v) + 2 u x (u x v) for the axes v."""
    w, u = q[:, :1], q[:, 1:]
    columns = []
    for axis in np.eye(3):
        cross = np.cross(u, axis)
        columns.append(axis + 2 * (w * cross + np.cross(u, cross)))
    return np.stack(columns, axis=2)


def hull(rng: np.random.Generator, count: int) -> ConvexHull:
    """Points on the unit sphere."""
    v = rng.normal(size=(count, 3))
    return ConvexHull(v / np.linalg.norm(v, axis=1)[:, None])


FAMILIES = {
    "sphere": lambda rng: Sphere(rng.uniform(0.3, 1.0)),
    "capsule": lambda rng: Capsule(rng.uniform(0.1, 0.4), rng.uniform(0.3, 0.8)),
    "cylinder": lambda rng: Cylinder(rng.uniform(0.2, 0.7), rng.uniform(0.3, 1.0)),
    "cone": lambda rng: Cone(rng.uniform(0.4, 1.0), rng.uniform(0.3, 1.0)),
    "ellipsoid": lambda rng: Ellipsoid(tuple(rng.uniform(0.3, 1.0, 3))),
    "box": lambda rng: Box(tuple(rng.uniform(0.3, 1.0, 3))),
    "tetrahedron": lambda rng: hull(rng, 4),
    "hull 8": lambda rng: hull(rng, 8),
    "hull 20": lambda rng: hull(rng, 20),
    "hull 50": lambda rng: hull(rng, 50),
    "hull 200": lambda rng: hull(rng, 200),
    "hull 1000": lambda rng: hull(rng, 1000),
}


def turned(rng: np.random.Generator, n: int) -> np.ndarray:
    """Unit quaternions (n, 4), uniform."""
    q = rng.normal(size=(n, 4))
    return q / np.linalg.norm(q, axis=1)[:, None]


def random_pairs(family: str, gap: float, n: int, seed: int = 1) -> Pairs:
    """Pairs of a family at a signed distance of about ``gap``, turned at random."""
    rng = np.random.default_rng(seed)
    shapes = ShapeSet([FAMILIES[family](rng) for _ in range(SHAPES)])
    a, b = rng.integers(0, SHAPES, (2, n))
    pairs = Pairs(shapes, a, b, np.zeros((n, 3)), turned(rng, n), rng.normal(size=(n, 3)), turned(rng, n))
    for _ in range(4):  # along the normal: exact while the same features are closest
        found = signed_distances(*pairs.arguments())
        pairs = replace(pairs, y=pairs.y + (gap - found.distance)[:, None] * found.normal)
    return pairs


def moving(pairs: Pairs, frames: int, seed: int = 2) -> list[Pairs]:
    """The pairs as B flies past at 1 m/s and both turn at 1 rad/s, a frame each 1/240 s."""
    rng = np.random.default_rng(seed)
    n = len(pairs.a)
    v, wa, wb = (u / np.linalg.norm(u, axis=1)[:, None] for u in rng.normal(size=(3, n, 3)))

    def spin(q, w, angle):
        s, c = np.sin(angle / 2), np.cos(angle / 2)
        real = c * q[:, :1] - s * np.sum(w * q[:, 1:], axis=1, keepdims=True)
        return np.hstack([real, c * q[:, 1:] + s * (w * q[:, :1] + np.cross(w, q[:, 1:]))])

    times = (np.arange(frames) - frames / 2) * STEP
    return [replace(pairs, y=pairs.y + t * v, q=spin(pairs.q, wa, t), p=spin(pairs.p, wb, t)) for t in times]


def grid(heights: np.ndarray, cell: float) -> tuple[np.ndarray, np.ndarray]:
    """(vertices, triangles) of heights of a grid about the origin, two triangles a cell."""
    n, m = heights.shape
    x, y = np.meshgrid(cell * (np.arange(n) - 0.5 * (n - 1)), cell * (np.arange(m) - 0.5 * (m - 1)), indexing="ij")
    a = (np.arange(n - 1)[:, None] * m + np.arange(m - 1)).ravel()
    triangles = np.concatenate([np.stack([a, a + m, a + m + 1], 1), np.stack([a, a + m + 1, a + 1], 1)])
    return np.stack([x, y, heights], axis=2).reshape(-1, 3), triangles
