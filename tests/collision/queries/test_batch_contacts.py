"""Manifolds and impacts of many pairs against the same pairs asked one by one; threads; input."""

from __future__ import annotations

import numpy as np
import pytest

from tests.collision.pairs.test_curved import KINDS, random_shape
from tests.collision.shapes.test_compounds import random_pose
from tumble.collision import (
    Box,
    Compound,
    HalfSpace,
    ImpactStatus,
    InputError,
    Motion,
    Pose,
    ShapeSet,
    Sphere,
    Status,
    contact_manifold,
    contact_manifolds,
    time_of_impact,
    times_of_impact,
)

UPRIGHT = (1.0, 0.0, 0.0, 0.0)


def crowd(seed, n):
    rng = np.random.default_rng(seed)
    several = [Compound([(random_shape(rng, str(rng.choice(KINDS))), random_pose(rng, 3)) for _ in range(k)]) for k in (1, 4)]
    single = [random_shape(rng, kind) for kind in KINDS]
    shapes = ShapeSet([*several, *single, HalfSpace(), Box()])
    a, b = rng.integers(0, len(shapes), (2, n))
    poses = [[random_pose(rng, 3.0) for _ in range(n)] for _ in "ab"]
    columns = [np.array(c) for side in poses for c in ([p.position for p in side], [p.orientation for p in side])]
    return rng, shapes, a, b, columns, poses


@pytest.mark.parametrize("margin", [0.0, 0.5])
def test_manifolds_are_those_of_single_pairs(margin):
    _, shapes, a, b, columns, (first, second) = crowd(3, 120)
    found = contact_manifolds(shapes, a, b, *columns, margin=margin)
    assert len(found) == 120
    assert found.start[0] == 0
    assert found.start[-1] == len(found.points) == len(found.pairs) > 60
    assert (np.diff(found.start) == 0).sum() > 5
    same = 0
    for k in range(120):
        alone = contact_manifold(shapes.shapes[a[k]], first[k], shapes.shapes[b[k]], second[k], margin=margin)
        got = found[k]
        assert (got.status, len(got.points)) == (alone.status, len(alone.points))
        same += got.ids.tolist() == alone.ids.tolist()
        assert got.parts.tolist() == alone.parts.tolist()
        for name in ("normal", "normals", "points", "gaps"):
            assert np.allclose(getattr(got, name), getattr(alone, name), rtol=0, atol=1e-9), name
        assert (found.pairs[found.start[k] : found.start[k + 1]] == k).all()
    assert same >= 117  # a line through a corner, to rounding, may pass one side or the other


def movements(rng, shapes, a, b, n):
    v, w, u, o = (rng.normal(size=(n, 3)) * 3 for _ in range(4))
    still = isinstance_of(shapes, HalfSpace)
    w[still[a]], o[still[b]] = 0, 0
    return v, w, u, o


def isinstance_of(shapes, kind):
    return np.array([isinstance(shape, kind) for shape in shapes.shapes])


def test_impacts_are_those_of_single_pairs():
    rng, shapes, a, b, columns, (first, second) = crowd(4, 100)
    v, w, u, o = movements(rng, shapes, a, b, 100)
    c, d = rng.normal(size=(2, 100, 3))
    x, q, y, p = columns
    x = x * 4
    found = times_of_impact(shapes, a, b, x, q, v, w, y, p, u, o, duration=2.0, centers_a=c, centers_b=d)
    assert len(found) == 100
    seen = set()
    for k in range(100):
        motions = [
            Motion(Pose(tuple(at), tuple(turn)), tuple(speed), tuple(spin), tuple(center))
            for at, turn, speed, spin, center in ((x[k], q[k], v[k], w[k], c[k]), (y[k], p[k], u[k], o[k], d[k]))
        ]
        alone = time_of_impact(shapes.shapes[a[k]], motions[0], shapes.shapes[b[k]], motions[1], duration=2.0)
        got = found[k]
        assert got.status == alone.status
        seen.add(got.status)
        assert got.time == pytest.approx(alone.time, abs=1e-8)
        if alone.status == ImpactStatus.HIT:
            assert np.allclose(got.normal, alone.normal, rtol=0, atol=1e-4)
    assert {ImpactStatus.HIT, ImpactStatus.MISS, ImpactStatus.OVERLAPPING} <= seen


def test_a_ball_meets_the_floor_when_it_should():
    shapes = ShapeSet([HalfSpace(), Sphere(0.5)])
    heights = np.linspace(1, 5.2, 9)
    n = len(heights)
    x, zero, q = np.zeros((n, 3)), np.zeros((n, 3)), np.tile(UPRIGHT, (n, 1))
    y = np.column_stack([x[:, :2], heights])
    down = np.tile((0, 0, -2.0), (n, 1))
    found = times_of_impact(shapes, np.zeros(n, int), np.ones(n, int), x, q, zero, zero, y, q, down, zero, duration=2.0)
    truth = (heights - 0.5) / 2
    assert (found.status == np.where(truth < 2, ImpactStatus.HIT, ImpactStatus.MISS)).all()
    hit = truth < 2
    assert np.allclose(found.time[hit], truth[hit], rtol=0, atol=1e-9)
    assert (found.time <= np.minimum(truth, 2) + 1e-15).all()
    touching = contact_manifolds(shapes, np.zeros(n, int), np.ones(n, int), x, q, y - 0.5 * (y[:, 2:] > 2) * (0, 0, 1), q, 0.6)
    assert (np.diff(touching.start) == (touching.status != Status.BEYOND_MARGIN)).all()


def test_threads_change_no_bit():
    rng, shapes, a, b, columns, _ = crowd(5, 1500)
    v, w, u, o = movements(rng, shapes, a, b, 1500)
    x, q, y, p = columns
    one, four = (contact_manifolds(shapes, a, b, *columns, margin=0.1, threads=k) for k in (1, 4))
    assert all(np.array_equal(left, right) for left, right in zip(vars(one).values(), vars(four).values(), strict=True))
    one, four = (times_of_impact(shapes, a, b, x, q, v, w, y, p, u, o, duration=0.5, threads=k) for k in (1, 4))
    assert all(np.array_equal(left, right) for left, right in zip(vars(one).values(), vars(four).values(), strict=True))


def test_none_at_all():
    shapes, no = ShapeSet([Box()]), np.zeros((0, 3))
    found = contact_manifolds(shapes, [], [], no, np.zeros((0, 4)), no, np.zeros((0, 4)))
    assert (len(found), len(found.points), found.start.tolist()) == (0, 0, [0])
    turn = np.zeros((0, 4))
    assert len(times_of_impact(shapes, [], [], no, turn, no, no, no, turn, no, no)) == 0


def test_bad_input_gives_one_line_that_names_it():
    shapes, zero, q = ShapeSet([HalfSpace(), Box()]), np.zeros((1, 3)), np.array([UPRIGHT])
    with pytest.raises(InputError, match="shapes"):
        contact_manifolds([Box()], [0], [0], zero, q, zero, q)
    with pytest.raises(InputError, match=r"b\[0\]"):
        contact_manifolds(shapes, [0], [2], zero, q, zero, q)
    with pytest.raises(InputError, match="margin"):
        contact_manifolds(shapes, [0], [1], zero, q, zero, q, margin=float("nan"))
    with pytest.raises(InputError, match="threads"):
        contact_manifolds(shapes, [0], [1], zero, q, zero, q, threads=-1)
    good = [shapes, [0], [1], zero, q, zero, zero, zero, q, zero, zero]
    for place, value, name in (
        (4, 2 * q, r"orientations_a\[0\]"),
        (5, zero + np.nan, r"velocities_a\[0\]"),
        (6, zero + 1.0, r"angular_velocities_a\[0\]"),
        (10, zero + 1e40, r"angular_velocities_b\[0\]"),
        (9, np.zeros((2, 3)), "velocities_b"),
    ):
        bad = list(good)
        bad[place] = value
        with pytest.raises(InputError, match=name):
            times_of_impact(*bad)
    with pytest.raises(InputError, match="duration"):
        times_of_impact(*good, duration=0.0)
    with pytest.raises(InputError, match="centers_b"):
        times_of_impact(*good, centers_b=[(0, 0)])
