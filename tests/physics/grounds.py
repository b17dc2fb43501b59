"""Floors and tracks of triangles that tests stand bodies on."""

from __future__ import annotations

import itertools

import numpy as np

from tests.meshes import CORNERS, TRIANGLES
from tumble.collision import Compound, ConvexHull, Pose, TriangleMesh


def uneven_floor(n: int = 60, size: float = 30.0, seed: int = 1) -> TriangleMesh:
    """A square floor at z = 0, its triangles of all sizes and cuts."""
    rng = np.random.default_rng(seed)
    lines = np.linspace(-size / 2, size / 2, n)
    x, y = (axis.copy() for axis in np.meshgrid(lines, lines, indexing="ij"))
    for axis in (x, y):
        axis[1:-1, 1:-1] += rng.uniform(-0.35, 0.35, (n - 2, n - 2)) * size / (n - 1)
    triangles = []
    for i, j in itertools.product(range(n - 1), repeat=2):
        a, b, c, d = i * n + j, (i + 1) * n + j, (i + 1) * n + j + 1, i * n + j + 1
        triangles += [(a, b, c), (a, c, d)] if rng.random() < 0.5 else [(a, b, d), (b, c, d)]
    return TriangleMesh(np.stack([x.ravel(), y.ravel(), np.zeros(n * n)], axis=1), np.array(triangles))


def box_mesh(half: tuple[float, float, float]) -> TriangleMesh:
    return TriangleMesh(CORNERS * half, TRIANGLES)


def strip(profile: list[tuple[float, float]], ys: np.ndarray) -> TriangleMesh:
    """A profile (x, z), drawn out along y."""
    n = len(ys)
    vertices = [(x, y, z) for x, z in profile for y in ys]
    starts = [i * n + j for i in range(len(profile) - 1) for j in range(n - 1)]
    return TriangleMesh(vertices, [triple for a in starts for triple in ((a, a + n, a + n + 1), (a, a + n + 1, a + 1))])


def unlimited(mesh: TriangleMesh) -> Compound:
    """The same triangles as bodies of their own, which know nothing of each other: the twin."""
    return Compound([(ConvexHull(mesh.vertices[t]), Pose()) for t in mesh.triangles])
