"""Times of impact over any duration, anywhere, at any tolerance: rounding follows the way that was made."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tumble.collision import (
    Box,
    Compound,
    Cylinder,
    HalfSpace,
    ImpactStatus,
    Motion,
    Pose,
    ShapeSet,
    Sphere,
    signed_distance,
    time_of_impact,
    times_of_impact,
)

HIT, MISS = ImpactStatus.HIT, ImpactStatus.MISS


@pytest.mark.parametrize("duration", [10.0, 1e3, 1e6, 1e9, 1e12, 1e15, 1e25])
def test_the_duration_does_not_matter(duration):
    ball = Motion(Pose((10, 0, 0)), velocity=(-1, 0, 0))
    r = time_of_impact(Sphere(1.0), Pose(), Sphere(1.0), ball, duration)
    assert r.status is HIT
    assert abs(r.time - 8.0) < 1e-8


@pytest.mark.parametrize("duration", [20.0, 1e6, 1e15])
def test_a_spinning_box_comes_from_afar(duration):
    box = Motion(Pose((10, 0, 0)), velocity=(-1, 0, 0), angular_velocity=(0, 0, 3))
    r = time_of_impact(Sphere(1.0), Pose(), Box((0.5, 0.3, 0.2)), box, duration)
    near = time_of_impact(Sphere(1.0), Pose(), Box((0.5, 0.3, 0.2)), box, 12.0)
    assert r.status is HIT
    assert abs(r.time - near.time) < 1e-8
    assert abs(signed_distance(Sphere(1.0), Pose(), Box((0.5, 0.3, 0.2)), box.at(r.time)).distance) < 1e-8


@pytest.mark.parametrize("far", [0.0, 1e6, 1e9, 1e12])
def test_the_origin_of_the_world_does_not_matter(far):
    here = Pose((far, 0, 0))
    there = Motion(Pose((far + 4.0, 0, 0)), velocity=(-2, 0, 0), angular_velocity=(0, 0, 1))
    r = time_of_impact(Box((0.5, 0.5, 0.5)), here, Sphere(0.5), there, 5.0)
    assert r.status is HIT
    assert abs(r.time - 1.5) < 1e-8


@pytest.mark.parametrize("tolerance", [None, 1e-6, 0.01, 0.1, 1.0])
@pytest.mark.parametrize("gap", [0.0, 0.05, 0.5])
def test_no_miss_ends_deep(tolerance, gap):
    """A tolerance that is larger than what is left of the way does not hide an overlap at its end."""
    ball = Motion(Pose((0, 0, 0.5 + gap)), velocity=(0, 0, -0.17 - gap))
    r = time_of_impact(HalfSpace(), Pose(), Sphere(0.5), ball, 1.0, tolerance)
    assert r.status is HIT
    assert r.distance <= 2 * (tolerance or 1e-9)
    parting = Motion(Pose((0, 0, 0.5 + gap)), velocity=(0, 0, 0.1))
    assert time_of_impact(HalfSpace(), Pose(), Sphere(0.5), parting, 1.0, tolerance).status is MISS


def test_a_wheel_rolls_above_the_floor():
    lying = Pose((0, 0, 0.5 + 1e-4), (math.sqrt(0.5), math.sqrt(0.5), 0, 0))
    wheel = Motion(lying, velocity=(5, 0, 0), angular_velocity=(0, 10, 0))
    r = time_of_impact(HalfSpace(), Pose(), Cylinder(0.5, 0.1), wheel, 10.0)
    assert r.status is MISS
    assert r.iterations < 20
    sinking = Motion(lying, velocity=(5, 0, -1e-4), angular_velocity=(0, 10, 0))
    r = time_of_impact(HalfSpace(), Pose(), Cylinder(0.5, 0.1), sinking, 10.0)
    assert r.status is HIT
    assert abs(r.time - 1.0) < 1e-4


def test_a_wheel_whose_axis_precesses():
    """Its axis goes round while it spins: the exact height of its lowest point is known."""
    tilt, w = 0.3, 3.0
    start = Pose.from_euler_xyz((tilt, 0, 0), (0, 0, 2.0))
    wheel = Motion(start, velocity=(0, 0, -0.5), angular_velocity=(0, 0, w))
    r = time_of_impact(HalfSpace(), Pose(), Cylinder(0.5, 0.1), wheel, 10.0)
    exact = (2.0 - 0.5 * math.sin(tilt) - 0.1 * math.cos(tilt)) / 0.5  # turning about the vertical changes no height
    assert r.status is HIT
    assert abs(r.time - exact) < 1e-8


def test_a_plate_turns_many_times_beside_a_ball():
    plate = Motion(Pose(), angular_velocity=(0, 0, 2 * math.pi * 10))
    ball = Pose((0, 0, 0.01 + 0.5 + 1e-3))
    assert time_of_impact(Box((1, 1, 0.01)), plate, Sphere(0.5), ball, 1.0).status is MISS
    beside = Pose((math.sqrt(2) + 0.5 + 1e-4, 0, 0))
    assert time_of_impact(Box((1, 1, 0.01)), plate, Sphere(0.5), beside, 1.0).status is MISS


def test_fast_pairs_are_certain():
    rng = np.random.default_rng(0)
    unsure = 0
    for _ in range(300):
        q = rng.normal(size=4)
        x = rng.normal(size=3)
        x *= 4 / np.linalg.norm(x)
        thrown = Motion(
            Pose(x, q / np.linalg.norm(q)), velocity=-x * rng.uniform(1, 50), angular_velocity=rng.normal(size=3) * 100
        )
        spinning = Motion(Pose(), angular_velocity=rng.normal(size=3) * 100)
        r = time_of_impact(Box((1, 0.5, 0.05)), spinning, Box((0.8, 0.1, 0.6)), thrown, 2.0)
        unsure += r.status is ImpactStatus.UNCERTAIN
        if r.status is HIT:
            d = signed_distance(Box((1, 0.5, 0.05)), spinning.at(r.time), Box((0.8, 0.1, 0.6)), thrown.at(r.time))
            assert abs(d.distance) < 1e-7
    assert unsure == 0


def heap(seed, n):
    rng = np.random.default_rng(seed)
    turns = rng.normal(size=(n, 4))
    turns /= np.linalg.norm(turns, axis=1)[:, None]
    return Compound([(Box(rng.uniform(0.02, 0.1, 3)), Pose(rng.uniform(-0.5, 0.5, 3), q)) for q in turns])


@pytest.mark.parametrize("seed", range(8))
def test_pieces_that_can_not_meet_are_left_out(seed, monkeypatch):
    """Compounds of 144 pairs of pieces, in slices of the time and all at once; a pair that misses too."""
    rng = np.random.default_rng(seed)
    shapes = ShapeSet([heap(2 * seed, 12), heap(2 * seed + 1, 12), Sphere(0.1)])
    x = np.array([(0.0, 0, 0)] * 3), np.array([(3.0, 0.2, 0.1), (3.0, 2.5, 0), (1.0, 0, 0)])
    v = np.zeros((3, 3)), np.array([(-2.0, 0, 0), (-2.0, 0, 0), (-1.0, 0, 0)])
    w = rng.normal(size=(2, 3, 3)) * 2
    q = np.tile((1.0, 0, 0, 0), (3, 1))
    given = [0, 0, 0], [1, 1, 2], x[0], q, v[0], w[0], x[1], q, v[1], w[1], 3.0
    few = times_of_impact(shapes, *given)
    monkeypatch.setattr("tumble.collision.queries.conservative_advancement.MANY_MOVING", 10**9)
    monkeypatch.setattr("tumble.collision.queries.batch_contacts.MANY_MOVING", 10**9)
    every = times_of_impact(shapes, *given)
    assert few.status.tolist() == every.status.tolist()
    assert few.status[1] == MISS
    assert np.abs(few.time - every.time).max() < 1e-8
    hit = few.status == HIT
    assert np.abs(few.point - every.point)[hit].max(initial=0.0) < 1e-6


def test_most_pieces_are_never_looked_at(monkeypatch):
    """Of 250,000 pairs of pieces a few thousand are searched."""
    import tumble.collision.queries.conservative_advancement

    searched = []
    kernel = tumble.collision.queries.conservative_advancement.impact
    monkeypatch.setattr(
        tumble.collision.queries.conservative_advancement, "impact", lambda *given: searched.append(1) or kernel(*given)
    )
    a, b = heap(1, 500), heap(2, 500)
    r = time_of_impact(a, Pose(), b, Motion(Pose((3, 0, 0)), velocity=(-1, 0, 0)), 5.0)
    assert r.status is HIT
    assert len(searched) < 10_000


def test_the_bracket_of_what_is_certain():
    """One instant of a hit, none of a miss, one by one and many at once, in slices too."""
    rng = np.random.default_rng(3)
    x = np.array([[4.0, 0, 0], [4.0, 0, 0], [0.1, 0, 0]])
    v = np.array([[-1.0, 0, 0], [1.0, 0, 0], [1.0, 0, 0]])
    still, q = np.zeros((3, 3)), np.tile((1.0, 0, 0, 0), (3, 1))
    r = times_of_impact(
        ShapeSet([Box(), Cylinder()]), [0] * 3, [1] * 3, still, q, still, still, x, q, v, rng.normal(size=(3, 3)), 9.0
    )
    assert r.status.tolist() == [HIT, MISS, ImpactStatus.OVERLAPPING]
    assert r.latest.tolist() == [r.time[0], math.inf, 0.0]
    assert r[0].latest == r.time[0]
    hit = time_of_impact(heap(1, 12), Pose(), heap(2, 12), Motion(Pose((3.0, 0, 0)), velocity=(-1, 0, 0)), 5.0)
    assert hit.status is HIT
    assert hit.latest == hit.time
