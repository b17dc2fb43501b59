"""The depth of polytopes: right by another algorithm, proven by a closed surface, whatever was kept."""

from __future__ import annotations

import numpy as np
import pytest
from numba import config
from scipy.spatial import ConvexHull as Qhull

from tumble.collision import Box, ConvexHull, PairCache, Pose, ShapeSet, signed_distances
from tumble.collision.distance import polytopes
from tumble.collision.queries import batch

CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)


def some_pairs(seed, n, counts=(4, 8, 20, 60, 120)):
    """n pairs that overlap: their centres are closer than the spheres that the bodies hold."""
    rng = np.random.default_rng(seed)
    clouds = [v / np.linalg.norm(v, axis=1)[:, None] for v in (rng.normal(size=(k, 3)) for k in counts)]
    shapes = ShapeSet([Box((0.7, 0.8, 0.9)), Box((0.5, 1.0, 0.6)), *map(ConvexHull, clouds)])
    a, b = rng.integers(0, len(shapes), (2, n))
    x = np.zeros((n, 3))
    q, p = (v / np.linalg.norm(v, axis=1)[:, None] for v in rng.normal(size=(2, n, 4)))
    y = rng.normal(size=(n, 3)) * 0.3
    return shapes, a, b, x, q, y, p


def corners(shape) -> np.ndarray:
    return CORNERS * shape.half_extents if isinstance(shape, Box) else np.array(shape.vertices)


def depths(shapes, a, b, x, q, y, p) -> np.ndarray:
    """Signed distances of overlapping pairs: the nearest face of the hull of all differences of their corners."""
    found = []
    for k in range(len(a)):
        u = Pose(x[k], q[k]).apply(corners(shapes.shapes[a[k]]))
        v = Pose(y[k], p[k]).apply(corners(shapes.shapes[b[k]]))
        faces = Qhull((v[:, None] - u[None]).reshape(-1, 3)).equations
        found.append(faces[:, 3].max())
    return np.array(found)


def moved(pairs, angle):
    """The pairs after B has turned a little further and moved a little on."""
    shapes, a, b, x, q, y, p = pairs
    turned = p + angle * np.roll(p, 1, axis=1)
    return shapes, a, b, x, q, y + 0.5 * angle, turned / np.linalg.norm(turned, axis=1)[:, None]


def test_depth_is_that_of_the_difference(monkeypatch):
    pairs = some_pairs(1, 60)
    right = depths(*pairs)
    inside = right < -1e-3
    assert inside.sum() > 50
    left = []
    others = batch.other_pairs
    monkeypatch.setattr(batch, "other_pairs", lambda *arguments: left.append(1) or others(*arguments))
    chosen = pairs[0], *(v[inside] for v in pairs[1:])
    found = signed_distances(*chosen)
    assert not left  # the short way settles them all
    assert np.abs(found.distance - right[inside]).max() < 1e-14 * 60
    between = found.point_b - found.point_a - found.distance[:, None] * found.normal
    assert np.abs(between).max() < 1e-14


def test_what_was_kept_only_proposes():
    pairs = some_pairs(2, 200)
    cache = PairCache(200)
    for angle in (0.0, 1e-3, 2e-3, 0.01, 0.2, 1.5):  # the last ones leave little of what was known
        now = moved(pairs, angle)
        warm, cold = signed_distances(*now, cache=cache), signed_distances(*now)
        assert np.abs(warm.distance - cold.distance).max() < 1e-14
        assert (warm.lower <= cold.upper).all()
        assert (cold.lower <= warm.upper).all()
        assert warm.uncertain == 0


def kept(pairs):
    """A cache that knows the pairs, and which of them left a surface."""
    cache = PairCache(len(pairs[1]))
    signed_distances(*pairs, cache=cache)
    return cache, cache.start[:, 2] == polytopes.KEPT_SURFACE


@pytest.mark.parametrize("seed", [3, 4])
def test_a_surface_of_other_corners_is_no_harm(seed):
    pairs = some_pairs(seed, 50 if config.DISABLE_JIT else 200, (8, 8, 20, 20))
    right = signed_distances(*pairs).distance
    cache, deep = kept(pairs)
    rng = np.random.default_rng(seed)
    for k in np.flatnonzero(deep & (cache.surface[:, 0] > 0)):
        used = cache.surface[k, 0] & 255
        cache.surface[k, 1 : 1 + used] = cache.surface[k, 1 + rng.permutation(used)]
    found = signed_distances(*pairs, cache=cache)
    assert np.abs(found.distance - right).max() < 1e-14


def test_the_proof_needs_a_closed_surface():
    """With the faces about the nearest one taken away, a surface would prove too much."""
    pairs = some_pairs(5, 200, (8, 20))
    right = signed_distances(*pairs).distance
    cache, deep = kept(pairs)
    for k in np.flatnonzero(deep & (cache.surface[:, 0] > 0)):
        cache.surface[k, 0] -= 6 << 8  # the last six faces are those that the search made last
    found = signed_distances(*pairs, cache=cache)
    assert (found.upper < right - 1e-3).any()
