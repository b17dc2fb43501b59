"""The slow way for thin bodies: exact arithmetic on a lattice, and pairs that the quick ways once got wrong."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numba import config

from benchmarks.exact import cross, dot, holds, square_by_hull, sub
from benchmarks.fuzz import faults
from tumble.collision import Box, ConvexHull, PairCache, ShapeSet, Status, signed_distances
from tumble.collision.distance import exact_hull as careful
from tumble.collision.kernels.jit import kernel
from tumble.collision.linalg import matmul, mul_t, transpose
from tumble.collision.queries.batch_kernels import pose

EPS = np.finfo(float).eps
# Found by `python -m benchmarks.fuzz --seed 20`: plates, needles and crowds of corners, touching or a little apart.
THIN = json.loads((Path(__file__).parents[2] / "data" / "thin_pairs.json").read_text())


def shape(data):
    return Box(data["box"]) if "box" in data else ConvexHull(data["hull"])


def corners(data):
    if "hull" in data:
        return np.array(data["hull"])
    return np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * data["box"]


@pytest.mark.parametrize("flip", [False, True], ids=["ab", "ba"])
@pytest.mark.parametrize("case", THIN, ids=lambda case: case["name"])
def test_thin_pairs_against_rational_arithmetic(case, flip):
    a, b = case["a"], case["b"]
    x, q, y, p = (np.array(v) for v in case["poses"])
    if flip:
        a, b, x, q, y, p = b, a, y, p, x, q
    one = np.zeros(1, int)
    pair = ShapeSet([shape(a), shape(b)]), one, one + 1, x[None], q[None], y[None], p[None]
    found = signed_distances(*pair)
    assert found.status[0] != Status.UNCERTAIN
    truth = square_by_hull(corners(a), (x, q), corners(b), (y, p))
    bounds = found.lower[0], found.upper[0]
    assert holds(bounds, *truth)
    width = bounds[1] - bounds[0]
    assert not holds((bounds[0] + width, bounds[1] + width), *truth)
    assert [name for name, rows in faults(pair, found, np.random.default_rng(0)).items() if rows.any()] == []


def warm_answers(case):
    """(bounds of the second, the third call with one cache, the true sign and square) of a pair."""
    x, q, y, p = (np.array(v) for v in case["poses"])
    shapes, cache = ShapeSet([shape(case["a"]), shape(case["b"])]), PairCache(1)
    found = [signed_distances(shapes, [0], [1], x[None], q[None], y[None], p[None], cache=cache) for _ in range(3)]
    truth = square_by_hull(corners(case["a"]), (x, q), corners(case["b"]), (y, p))
    return [(r.lower[0], r.upper[0]) for r in found[1:]], truth


@pytest.mark.parametrize("case", THIN, ids=lambda case: case["name"])
def test_warm_starts_against_rational_arithmetic(case):
    """Where a search ends depends on where it began; the interval holds all the same."""
    bounds, truth = warm_answers(case)
    assert all(holds(both, *truth) for both in bounds)


@kernel
def exactly(points, out):
    """The volume of each four points, by the kernel and in plain doubles."""
    for k in range(len(points)):
        w = points[k, 3, 0], points[k, 3, 1], points[k, 3, 2]
        out[k, 0] = careful.triple(points[k], 0, 1, 2, w)
        e, f, h = points[k, 1] - points[k, 0], points[k, 2] - points[k, 0], points[k, 3] - points[k, 0]
        out[k, 1] = (e[1] * f[2] - e[2] * f[1]) * h[0] + (e[2] * f[0] - e[0] * f[2]) * h[1] + (e[0] * f[1] - e[1] * f[0]) * h[2]


def test_volumes_of_slivers_have_the_right_sign():
    """Four points nearly in one plane, three of them nearly in one line, on the lattice; plain doubles miss it."""
    rng = np.random.default_rng(1)
    n = 2000
    a, e, f = (rng.integers(-(2**49), 2**49, (n, 3)) for _ in range(3))
    points = np.stack([a, a + e, a + e // 2 + rng.integers(-99, 99, (n, 3)), a + f // 4 + e // 3], axis=1)
    points[::2, 3] = (points[::2, 0] + points[::2, 1]) // 2 + rng.integers(-9, 9, (n // 2, 3))
    points[::5, 3] = points[::5, 1] + points[::5, 2] - points[::5, 0]  # in the plane
    out = np.empty((n, 2))
    exactly(points.astype(float), out)
    truth = []
    for rows in points:
        p = [tuple(map(int, v)) for v in rows]
        truth.append(dot(cross(sub(p[1], p[0]), sub(p[2], p[0])), sub(p[3], p[0])))
    signs = np.array([np.sign(Fraction(v)) for v in truth], float)
    assert (np.sign(out[:, 0]) == signs).all()
    assert (signs == 0).sum() >= n // 5
    assert (np.sign(out[:, 1]) != signs).sum() > n // 4
    big = signs != 0
    assert np.abs(out[big, 0] / np.array([float(v) for v in truth])[big] - 1).max() < 1e-12


@kernel
def looked_at(points, out):
    """Is the origin behind the triangle of each first three points: exactly, and by the sign of its height?"""
    for k in range(len(points)):
        faces, planes = np.empty((1, 3), np.int64), np.empty((1, 4))
        careful.put_triangle(points[k], 0, 1, 2, faces, planes, 0)
        out[k, 0] = 1.0 if careful.behind_all(points[k], faces, planes, 1) else -1.0
        out[k, 1] = planes[0, 3]


def test_planes_through_the_origin_have_it_on_the_right_side():
    """Of planes that pass the origin closer than lattice points lie the rounded height has another sign, here and there."""
    rng = np.random.default_rng(2)
    n = 2000
    a, b = (rng.integers(-(2**49), 2**49, (n, 3)) for _ in range(2))
    points = np.stack([a, b, -(a + b) // 2 + rng.integers(-1, 2, (n, 3)), a], axis=1)
    out = np.empty((n, 2))
    looked_at(points.astype(float), out)
    volumes = [dot(cross(*(tuple(map(int, v)) for v in rows[:2])), tuple(map(int, rows[2]))) for rows in points]
    assert [v > 0 for v in volumes] == (out[:, 0] > 0).tolist()
    assert sum((v > 0) != (height > 0) for v, height in zip(volumes, out[:, 1], strict=True)) > 20


@kernel
def slowly(g, a, b, xa, qa, xb, qb, size):
    _, ra = pose(xa, qa)
    _, rb = pose(xb, qb)
    r, t = matmul(transpose(ra), rb), mul_t(ra, (xb[0] - xa[0], xb[1] - xa[1], xb[2] - xa[2]))
    low, high, _, p, q, names, _ = careful.careful(g, a, b, r, t, (0.0, 0.0, 1.0), size)
    return low, high, p, q, (names[0] >= 0) + (names[1] >= 0) + (names[2] >= 0)


@pytest.mark.parametrize("gap", [-0.5, -1e-3, -1e-9, -1e-14, 0.0, 1e-14, 1e-9, 1e-3, 2.0])
def test_the_slow_way_agrees_with_the_quick_one(gap):
    rng = np.random.default_rng(8)
    for _ in range(4 if config.DISABLE_JIT else 12):
        v, w = (rng.normal(size=(n, 3)) * rng.choice([1, 0.1], 3) for n in rng.integers(4, 30, 2))
        shapes = ShapeSet([ConvexHull(v), ConvexHull(w) if rng.random() < 0.8 else Box(tuple(np.abs(w[0]) + 0.01))])
        q, p = (u / np.linalg.norm(u) for u in rng.normal(size=(2, 4)))
        x, y = np.zeros(3), rng.normal(size=3)
        ask = lambda y: signed_distances(shapes, [0], [1], [x], [q], [y], [p])  # noqa: B023, E731
        for _ in range(3):
            found = ask(y)
            y = y + (gap - found.distance[0]) * found.normal[0]
        found = ask(y)
        size = float(shapes.geometry.radius.sum() + np.linalg.norm(y))
        low, high, point_a, point_b, count = slowly(shapes.geometry, 0, 1, tuple(x), tuple(q), tuple(y), tuple(p), size)
        assert 1 <= count <= 3
        assert low <= high + 16 * EPS * size
        assert high - low <= 64 * EPS * size
        assert found.lower[0] - 16 * EPS * size <= low
        assert high <= found.upper[0] + 16 * EPS * size
        assert abs(np.linalg.norm(np.subtract(point_b, point_a)) - abs(low)) <= 64 * EPS * size


@pytest.mark.parametrize("height", [0.0, 1e-12, -1e-12, 1e-3])
def test_polygons_in_parallel_planes(height):
    """Their difference is flat: no depth, and a distance to its inside, an edge or a corner."""
    square, x, q = ConvexHull([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
    shapes = ShapeSet([square, ConvexHull([(0, 0, 0), (1, 0, 0)])])
    for b in (0, 1):
        for across, along, aside in ((0.25, 0.5, 0.0), (1.5, 0.25, 0.5), (1.75, -1.5, None)):
            if aside is None:
                aside = np.hypot(0.75, 1.5 - (b == 0))
            low, high, p, q_, count = slowly(shapes.geometry, 0, b, x, q, (across, along, height), q, 4.0)
            assert high == pytest.approx(np.hypot(aside, height), rel=1e-15, abs=4e-15)
            assert low == pytest.approx(high, rel=1e-15, abs=4e-15)
            assert np.linalg.norm(np.subtract(q_, p)) == pytest.approx(high, rel=1e-15, abs=4e-15)
            found = signed_distances(shapes, [0], [b], [x], [q], [(across, along, height)], [q])
            assert found.status[0] == (Status.SEPARATED if aside or height else Status.TOUCHING)
            assert found.distance[0] == pytest.approx(high, rel=1e-15, abs=4e-15)


def test_differences_that_are_a_segment_or_a_point():
    shapes = ShapeSet([ConvexHull([(0, 0, 0), (1, 0, 0)]), ConvexHull([(0, 0, 0)])])
    for a, x in ((0, (0.5, 0.0, 0.0)), (1, (0.0, 0.0, 0.0))):
        low, high, _, _, count = slowly(
            shapes.geometry, a, 1, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), x, (1.0, 0.0, 0.0, 0.0), 2.0
        )
        assert (low, high, count) == (0.0, np.inf, 0)
