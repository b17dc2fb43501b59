"""Many pairs in one call: the answers of the single query, whatever the threads, the cache and the order."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tumble.collision import (
    Box,
    ConvexHull,
    HalfSpace,
    InputError,
    PairCache,
    Pose,
    ShapeSet,
    Sphere,
    signed_distance,
    signed_distances,
)
from tumble.collision.status import BEYOND_MARGIN, OVERLAPPING, SEPARATED, UNCERTAIN

EPS = np.finfo(float).eps
FIELDS = ("status", "distance", "lower", "upper", "normal", "point_a", "point_b")


def some_shapes(rng) -> ShapeSet:
    clouds = [rng.normal(size=(n, 3)) for n in (1, 2, 3, 4, 8, 20, 60, 300)]
    return ShapeSet([HalfSpace(), Sphere(0.4), Box((0.3, 0.4, 0.5)), Box((1, 0.1, 0.7)), *map(ConvexHull, clouds)])


def some_pairs(seed, n, spread=1.5):
    rng = np.random.default_rng(seed)
    shapes = some_shapes(rng)
    a, b = rng.integers(0, len(shapes), (2, n))
    x, y = rng.normal(size=(2, n, 3)) * spread
    q, p = (v / np.linalg.norm(v, axis=1)[:, None] for v in rng.normal(size=(2, n, 4)))
    return shapes, a, b, x, q, y, p


def sizes(shapes, a, b, x, q, y, p):
    radius = shapes.geometry.radius
    reach = np.where(np.isinf(radius), 0, radius)
    return reach[a] + reach[b] + np.linalg.norm(x - y, axis=1) + np.linalg.norm(x, axis=1)


def assert_same(found, other, tolerance):
    """Equal but for rounding. Statuses may differ where zero or the margin lies in the interval."""
    both = np.isfinite(other.distance)
    assert np.array_equal(both, np.isfinite(found.distance))
    assert (np.abs(found.distance[both] - other.distance[both]) <= tolerance[both]).all()


def test_as_the_single_query():
    pairs = some_pairs(1, 400)
    shapes, a, b, x, q, y, p = pairs
    found = signed_distances(*pairs)
    assert len(found) == 400
    assert found.uncertain == 0
    assert {SEPARATED, OVERLAPPING} <= set(found.status)
    tolerance = 300 * EPS * sizes(*pairs)
    for k in range(400):
        one = signed_distance(shapes.shapes[a[k]], Pose(x[k], q[k]), shapes.shapes[b[k]], Pose(y[k], p[k]))
        if math.isinf(one.distance):
            assert found.distance[k] == one.distance
            continue
        assert abs(found.distance[k] - one.distance) <= tolerance[k]
        assert found.lower[k] <= one.upper
        assert one.lower <= found.upper[k]
        between = found.point_b[k] - found.point_a[k] - found.distance[k] * found.normal[k]
        assert np.abs(between).max() <= 1e-9 * (1 + sizes(*pairs)[k])


def test_any_number_of_threads_gives_the_same_bits():
    pairs = some_pairs(2, 3000)
    one = signed_distances(*pairs)
    for threads in (2, 3, 7, 0):
        many = signed_distances(*pairs, threads=threads)
        for name in (*FIELDS, "iterations"):
            assert np.array_equal(getattr(one, name), getattr(many, name)), name


def test_a_pair_does_not_know_its_neighbours():
    shapes, *rest = some_pairs(3, 500)
    whole = signed_distances(shapes, *rest)
    order = np.random.default_rng(0).permutation(500)[:123]
    part = signed_distances(shapes, *(v[order] for v in rest))
    for name in FIELDS:
        assert np.array_equal(getattr(whole, name)[order], getattr(part, name)), name


@pytest.mark.parametrize("step", [1e-3, 0.1, 3.0])
def test_warm_state_only_proposes(step):
    """Bodies drift past each other, also in leaps that leave no warm state of use: as cold, to rounding."""
    pairs = some_pairs(4, 600)
    shapes, a, b, x, q, y, p = pairs
    cache = PairCache(600)
    rng = np.random.default_rng(5)
    drift = rng.normal(size=(600, 3)) * step
    for _ in range(8):
        y = y + drift
        q = q + step * rng.normal(size=q.shape) * 0.1
        q /= np.linalg.norm(q, axis=1)[:, None]
        now = shapes, a, b, x, q, y, p
        warm, cold = signed_distances(*now, cache=cache), signed_distances(*now)
        assert warm.uncertain == 0
        assert_same(warm, cold, 300 * EPS * sizes(*now))


def test_a_cache_that_saw_other_shapes_is_no_harm():
    first, second = some_pairs(6, 200), some_pairs(7, 200)
    cache = PairCache(200)
    signed_distances(*first, cache=cache)
    few = ShapeSet(second[0].shapes[:3])  # smaller tables than the cache speaks of
    pairs = (few, second[1] % 3, second[2] % 3, *second[3:])
    warm, cold = signed_distances(*pairs, cache=cache), signed_distances(*pairs)
    for name in FIELDS:
        assert np.array_equal(getattr(warm, name), getattr(cold, name)), name
    swapped = (few, pairs[2], pairs[1], *pairs[3:])
    warm, cold = signed_distances(*swapped, cache=cache), signed_distances(*swapped)
    same = pairs[1] != pairs[2]  # rows that are now of other shapes
    for name in FIELDS:
        assert np.array_equal(getattr(warm, name)[same], getattr(cold, name)[same]), name


def test_margin_stops_early_and_says_so():
    pairs = some_pairs(8, 500, spread=5.0)
    full, short = signed_distances(*pairs), signed_distances(*pairs, margin=0.5)
    beyond = short.status == BEYOND_MARGIN
    assert np.array_equal(beyond, full.lower > 0.5)
    assert (short.lower[beyond] > 0.5).all()
    assert (short.lower <= full.upper).all()
    near = ~beyond & np.isfinite(full.distance)
    assert np.abs(short.distance[near] - full.distance[near]).max() < 1e-12
    assert short.iterations.sum() < full.iterations.sum()


def test_no_pairs_and_lists():
    shapes = ShapeSet([Box((0.5, 0.5, 0.5))])
    assert len(signed_distances(shapes, [], [], np.empty((0, 3)), np.empty((0, 4)), np.empty((0, 3)), np.empty((0, 4)))) == 0
    found = signed_distances(shapes, [0], [0], [(0, 0, 0)], [(1, 0, 0, 0)], [(0, 0, 3)], [(1, 0, 0, 0)])
    assert found.distance[0] == 2.0
    assert found.status[0] != UNCERTAIN


def arguments(**changes):
    good = {
        "shapes": ShapeSet([Sphere(1), Box((1, 1, 1))]), "a": [0, 1], "b": [1, 1],
        "positions_a": np.zeros((2, 3)), "orientations_a": np.tile((1.0, 0, 0, 0), (2, 1)),
        "positions_b": np.ones((2, 3)), "orientations_b": np.tile((1.0, 0, 0, 0), (2, 1)),
    }  # fmt: skip
    return good | changes


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shapes": [Sphere(1)]}, "shapes = [Sphere(radius=1.0)]: must be a ShapeSet"),
        ({"a": [0, 2]}, "a[1] = 2: must be a list of indices of shapes, whole numbers from 0 to 1"),
        ({"b": [-1, 0]}, "b[0] = -1: must be a list of indices"),
        ({"a": [0.0, 1.0]}, "whole numbers"),
        ({"b": [0]}, "one index for each of the 2 in a"),
        ({"positions_a": np.zeros((3, 3))}, "positions_a = (3, 3): must have the shape (2, 3)"),
        ({"orientations_b": "east"}, "orientations_b = 'east': must be an array of numbers of shape (2, 4)"),
        ({"positions_b": [(0, 0, 0), (0, np.nan, 0)]}, "positions_b[1] = [0.0, nan, 0.0]: must be 3 finite numbers"),
        ({"positions_b": [(0, 0, 0), (0, 1e40, 0)]}, "positions_b[1] = [0.0, 1e+40, 0.0]: must not lie further out than 1e+30 m"),
        ({"orientations_a": [(1, 0, 0, 0), (1, 1, 0, 0)]}, "orientations_a[1] = [1.0, 1.0, 0.0, 0.0]: must be a unit quaternion"),
        ({"orientations_b": [(0, 0, 0, 0), (1, 0, 0, 0)]}, "its length is 0"),
        ({"margin": math.nan}, "margin = nan"),
        ({"cache": PairCache(3)}, "must be a PairCache(2)"),
        ({"threads": -1}, "threads = -1: must be a number of threads"),
    ],
)
def test_bad_input_gets_one_line_that_names_it(changes, message):
    with pytest.raises(InputError) as error:
        signed_distances(**arguments(**changes))
    assert message in str(error.value)
    signed_distances(**arguments())
