"""Compounds in every query: what their pieces say one by one, whatever is left out on the way; and the test for overlap."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import config

from tests.collision.pairs.test_curved import GAPS, KINDS, random_pair, random_shape
from tumble.collision import (
    Box,
    Capsule,
    Compound,
    HalfSpace,
    InputError,
    PairCache,
    Pose,
    ShapeSet,
    Sphere,
    Status,
    colliding,
    collisions,
    contact_manifold,
    convex_parts,
    signed_distance,
    signed_distances,
)

FIELDS = ("status", "distance", "lower", "upper", "normal", "point_a", "point_b", "iterations")


def random_pose(rng, spread):
    q = rng.normal(size=4)
    return Pose(tuple(rng.normal(size=3) * spread), tuple(q / np.linalg.norm(q)))


def some_pairs(seed, n, spread=6.0):
    rng = np.random.default_rng(seed)
    several = [Compound([(random_shape(rng, str(rng.choice(KINDS))), random_pose(rng, 3)) for _ in range(k)]) for k in (1, 5, 20)]
    shapes = ShapeSet([*several, Box(), HalfSpace(), Compound([(Sphere(), Pose((1, 0, 0)))])])
    a, b = rng.integers(0, len(shapes), (2, n))
    poses = [[random_pose(rng, spread) for _ in range(n)] for _ in "ab"]
    columns = [np.array(c) for side in poses for c in ([p.position for p in side], [p.orientation for p in side])]
    return (shapes, a, b, *columns), poses


def by_pieces(a, pose_a, b, pose_b):
    """The least signed distance over all pairs of pieces."""
    pairs = [(s, pose_a @ p, u, pose_b @ q) for s, p in convex_parts(a) for u, q in convex_parts(b)]
    return min((signed_distance(*pair) for pair in pairs), key=lambda found: found.distance)


def test_every_query_says_what_the_pieces_say():
    arguments, (first, second) = some_pairs(0, 150)
    shapes, a, b = arguments[0].shapes, *arguments[1:3]
    found, sign = signed_distances(*arguments), collisions(*arguments)
    assert found.uncertain == 0
    assert 20 < sign.sum() < 130
    for k in range(150):
        pair = shapes[a[k]], first[k], shapes[b[k]], second[k]
        expected, one = by_pieces(*pair), signed_distance(*pair)
        if math.isinf(expected.distance):
            assert found.distance[k] == one.distance == expected.distance
        else:
            assert found.distance[k] == pytest.approx(expected.distance, abs=1e-8)
            assert one.distance == pytest.approx(found.distance[k], abs=1e-9)
            assert found.lower[k] <= expected.upper
            assert expected.lower <= found.upper[k]
            gap = found.point_b[k] - found.point_a[k] - found.distance[k] * found.normal[k]
            assert np.abs(gap).max() < 1e-7
        assert sign[k] == found.colliding[k] == colliding(*pair) == (expected.lower <= 0)


def test_a_margin_leaves_out_only_what_is_beyond_it():
    arguments, _ = some_pairs(1, 300, spread=9.0)
    full, short = signed_distances(*arguments), signed_distances(*arguments, margin=0.7)
    beyond = short.status == Status.BEYOND_MARGIN
    assert np.array_equal(beyond, full.lower > 0.7)
    assert 50 < beyond.sum() < 250
    assert (short.lower[beyond] > 0.7).all()
    assert (short.lower <= full.upper).all()
    near = ~beyond & np.isfinite(full.distance)
    assert np.abs(short.distance[near] - full.distance[near]).max() < 1e-8


def test_threads_and_warm_state():
    arguments, _ = some_pairs(2, 300)
    one = signed_distances(*arguments)
    for threads in (2, 5, 0):
        many = signed_distances(*arguments, threads=threads)
        assert all(np.array_equal(getattr(one, name), getattr(many, name)) for name in FIELDS)
    cache = PairCache(300)
    for _ in range(3):
        arguments[5][:] += 0.01
        cold, warm = signed_distances(*arguments), signed_distances(*arguments, cache=cache)
        ends = np.isfinite(cold.distance)
        assert np.abs(cold.distance[ends] - warm.distance[ends]).max() < 1e-8
    assert warm.iterations.sum() < cold.iterations.sum()


def test_contacts_are_those_of_the_pieces_in_touch():
    """A table of 20 x 20 tiles: a box across four of them touches these alone."""
    tiles = [(Box((0.5, 0.5, 0.1)), Pose((x, y, 0))) for x in range(20) for y in range(20)]
    m = contact_manifold(Compound(tiles), Pose((0, 0, -0.1)), Box((0.3, 0.3, 0.3)), Pose((7.5, 3.5, 0.3)))
    assert sorted(set(m.parts[:, 0].tolist())) == [7 * 20 + 3, 7 * 20 + 4, 8 * 20 + 3, 8 * 20 + 4]
    assert len(m.points) == 16
    assert np.abs(m.gaps).max() < 1e-15
    assert m.normal.tolist() == [0, 0, 1]
    assert m.status is Status.TOUCHING
    far = contact_manifold(Compound(tiles), Pose(), Box(), Pose((3, 3, 9)))
    assert len(far.points) == 0
    assert far.status is Status.BEYOND_MARGIN


def test_poses_are_checked_before_they_are_composed():
    arguments, _ = some_pairs(3, 20)
    arguments[5][7, 1] = math.nan
    arguments[4][9] *= 1.1
    with pytest.raises(InputError, match=r"positions_b\[7\] = "):
        signed_distances(*arguments)
    arguments[5][7, 1] = 0.0
    with pytest.raises(InputError, match=r"orientations_a\[9\] = .* its length is 1.1"):
        collisions(*arguments)


@pytest.mark.parametrize("gap", [*GAPS, 1e-15, -1e-15, 1e-14, -1e-14])
def test_the_test_for_overlap_agrees_with_the_distance(gap):
    """Also within rounding of a touch."""
    rng = np.random.default_rng(int(1e3 + 1e3 * gap))
    count = 0
    for seed in range(60):
        kinds = [str(rng.choice((*KINDS, "box", "hull"))) for _ in "ab"]
        (a, x, r), (b, y, s) = random_pair(seed, *kinds, gap)
        places = Pose.from_matrix(r), Pose.from_matrix(s)
        pair = a, Pose(x, places[0].orientation), b, Pose(y, places[1].orientation)
        found = signed_distance(*pair)
        assert colliding(*pair) == found.colliding
        count += found.colliding
    if abs(gap) > 1e-3:
        assert (count > 50) if gap < 0 else (count == 0)  # some hulls are points, and have no depth


def test_the_test_for_overlap_looks_for_no_depth():
    rng = np.random.default_rng(1)
    shapes = ShapeSet([random_shape(rng, kind) for kind in ("hull", "cylinder", "cone", "ellipsoid", "box")] + [Capsule(1, 1)])
    n = 20 if config.DISABLE_JIT else 300
    a, b = rng.integers(0, 6, (2, n))
    upright, origin = np.tile((1.0, 0, 0, 0), (n, 1)), np.zeros((n, 3))
    arguments = shapes, a, b, origin, upright, rng.normal(size=(n, 3)) * 0.05, upright
    assert collisions(*arguments).all()
    assert config.DISABLE_JIT or signed_distances(*arguments).colliding.all()  # uncompiled, a depth takes seconds
