"""Methods spoiled on purpose: the tests of distance must notice.

Run by test_uncompiled.py, since only uncompiled kernels let their parts be replaced.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.collision.pairs.test_curved import prove
from tests.collision.pairs.test_curved import random_pair as round_pair
from tests.collision.placing import EPS, measure
from tests.collision.test_narrowphase import V33, random_pair, v33_bodies, verify
from tumble.collision import Compound, Motion, Pose, ShapeSet, Sphere, time_of_impact, times_of_impact
from tumble.collision.distance import epa, gjk, overlap
from tumble.collision.distance import exact_hull as careful
from tumble.collision.distance import polytopes as polytope
from tumble.collision.pairs import directions, smooth, smooth_depth
from tumble.collision.queries import conservative_advancement as impact
from tumble.collision.shapes.definitions import Box, Cylinder
from tumble.collision.status import UNCERTAIN


def test_faces_alone_get_crossed_edges_wrong(monkeypatch):
    """Without the axes of edges a distance comes out that no two points have: that is noticed, and found the slow way."""
    a, b = v33_bodies("deep")
    assert abs(measure(a, b).distance - V33["deep"][4]) < 1e-9
    sat, slow = overlap.sat_boxes, overlap.careful
    calls = []
    for module in (epa, overlap):
        monkeypatch.setattr(module, "sat_boxes", lambda *args: (*sat(*args)[:4], -math.inf, (0.0, 0.0, 0.0), (-1, -1, -1, -1)))
    monkeypatch.setattr(overlap, "careful", lambda *args: (calls.append(args), slow(*args))[1])
    assert abs(measure(a, b).distance - V33["deep"][4]) < 1e-9
    assert len(calls) == 1
    monkeypatch.setattr(overlap, "overlap_witness", lambda *args: (True, args[7], args[7]))  # no points asked for
    assert abs(measure(a, b).distance - V33["deep"][4]) > 1e-6


@pytest.mark.parametrize("seed", range(30))
def test_a_search_cut_short_is_uncertain_not_wrong(monkeypatch, seed):
    """With one step of each search and no fall-back the interval widens, and still holds the truth."""
    a, b = random_pair(seed, [0.3, -0.1][seed % 2], solid=True)
    truth = measure(a, b)
    monkeypatch.setattr(gjk, "MOST_TURNS", 2)
    monkeypatch.setattr(epa, "MOST_POINTS", 6)
    monkeypatch.setattr(careful, "MOST_CORNERS", 6)
    found = measure(a, b)
    assert found.lower <= truth.upper
    assert truth.lower <= found.upper
    assert found.status == UNCERTAIN or found.distance == pytest.approx(truth.distance, abs=300 * EPS * truth.size)


def test_bounds_notice_a_spoiled_normal(monkeypatch):
    """The certificate is worth something: with supports that look a little aside the interval misses the truth."""
    a, b = v33_bodies("apart")
    whole = polytope.quick_distance
    off = lambda *args: tuple(x + 1e-6 if k == 1 else x for k, x in enumerate(whole(*args)))  # noqa: E731
    monkeypatch.setattr(polytope, "quick_distance", off)
    with pytest.raises(AssertionError):
        verify(a, b, measure(a, b))


def test_planes_alone_say_too_little_of_bodies_that_are_apart():
    """Beside a corner the nearest plane may be nearer to the origin than any point: there the points tell."""
    n, p, q = (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), (3e-10, 0.0, -1e-16)
    assert epa.no_more(0.0, n, p, q, 1.0) == 3e-10
    assert epa.no_more(-1e-16, n, p, q, 1.0) == 3e-10  # a plane that may be in front of the origin but for rounding
    assert epa.no_more(-1e-3, n, p, q, 1.0) == -1e-3  # a ball about the origin lies within


@pytest.mark.parametrize("seed", range(20))
def test_round_bodies_cut_short_are_uncertain_not_wrong(monkeypatch, seed):
    """Few steps of each search: the interval widens, and still holds the truth."""
    a, b = round_pair(
        seed, ["cylinder", "cone", "ellipsoid"][seed % 3], ["box", "cone", "hull", "ellipsoid"][seed % 4], [0.3, -0.3][seed % 2]
    )
    truth, whole = measure(a, b), smooth.tangent_newton
    monkeypatch.setattr(smooth, "MOST_TURNS_ROUND", 3)
    monkeypatch.setattr(smooth, "newton", lambda *args: (False, args[5], args[5], args[5]))
    for module in (smooth, smooth_depth):
        monkeypatch.setattr(module, "tangent_newton", lambda *args: (False, *whole(*args)[1:]))
    monkeypatch.setattr(directions, "MOST_DIRECTION_TRIANGLES", 16)
    found = measure(a, b)
    assert found.lower <= truth.upper
    assert truth.lower <= found.upper
    assert found.status == UNCERTAIN or found.distance == pytest.approx(truth.distance, abs=1e-9 * truth.size)


def test_the_proof_of_round_bodies_notices_a_local_maximum(monkeypatch):
    """Without the search of all directions a cylinder that is nearly through a plate is taken for less deep than it is."""
    plate, rod = Box((1.0, 1.0, 0.1)), Cylinder(0.3, 0.2)
    a, b = (plate, np.zeros(3), np.eye(3)), (rod, np.array([0.0, 0.0, -0.25]), np.eye(3))
    up = np.array([0.0, 0.0, 1.0])  # a warm axis that is wrong by now
    found = measure(a, b, axis=up)
    prove(a, b, found)
    assert found.distance == pytest.approx(-0.05, abs=1e-12)
    monkeypatch.setattr(smooth, "best_direction", lambda *args: (args[6], args[5], args[6]))
    for part in ("smooth_depth", "quick_touch"):  # the short ways have proofs of their own
        monkeypatch.setattr(smooth, part, lambda *args: (False, -math.inf, math.inf, up, up, up, 0))
    with pytest.raises(AssertionError):
        prove(a, b, measure(a, b, axis=up))


def test_impact_without_the_curvature_of_a_spin_is_missed(monkeypatch):
    """A rod turns against a ball: with the Taylor bound cut after its first term the search steps over the contact."""
    rod = Box((1, 0.01, 0.01)), Motion(Pose((1, 0, 0)), (0, 0, 0), (0, 0, 5.0), (-1, 0, 0))  # about its end, in the origin
    ball = Sphere(0.05), Pose((0.9 * math.cos(0.5), -0.9 * math.sin(0.5), 0))  # just left behind
    truth = (2 * math.pi - 0.5 - math.asin(0.06 / 0.9)) / 5.0
    found = time_of_impact(*rod, *ball, 2.0)
    assert found.time == pytest.approx(truth, abs=1e-9)
    whole = impact.gap_bound
    monkeypatch.setattr(impact, "gap_bound", lambda *args: whole(*args[:12], 0.0, args[13]))
    found = time_of_impact(*rod, *ball, 2.0)
    assert found.status != impact.HIT or abs(found.time - truth) > 1e-3


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_an_unfinished_search_tells_between_which_times(monkeypatch, limit):
    """With few steps a rod that turns towards a ball is UNCERTAIN: the touch is not before ``time`` and not after ``latest``."""
    rod = Box((1, 0.01, 0.01)), Motion(Pose((1, 0, 0)), (0, 0, 0), (0, 0, 5.0), (-1, 0, 0))
    ball = Sphere(0.05), Pose((0.9 * math.cos(0.5), -0.9 * math.sin(0.5), 0))
    whole = time_of_impact(*rod, *ball, 2.0)
    assert whole.latest == whole.time
    monkeypatch.setattr(impact, "MOST_ADVANCES", limit)
    found = time_of_impact(*rod, *ball, 2.0)
    assert found.status == impact.UNFINISHED
    assert found.time < whole.time <= found.latest + 5e-9
    assert found.latest < whole.time + 0.1  # while they pass through each other
    assert time_of_impact(*rod, *ball, 0.5).latest == math.inf  # far too short to touch


def test_the_bracket_of_compounds_is_that_of_their_pieces(monkeypatch):
    """Many and one at a time: where one piece is UNCERTAIN another may have touched for certain."""
    pair = Compound([(Box((0.1, 0.1, 0.1)), Pose((0, 3, 0))), (Box((0.1, 0.1, 0.1)), Pose())])
    there = Motion(Pose((2, 0, 0), (math.cos(0.2), 0, 0, math.sin(0.2))), (-1, 0, 0), (0, 0, 0.3))
    whole = time_of_impact(pair, Pose(), Box((0.1, 0.2, 0.3)), there, 5.0)
    monkeypatch.setattr(impact, "MOST_ADVANCES", 2)
    found = time_of_impact(pair, Pose(), Box((0.1, 0.2, 0.3)), there, 5.0)
    assert found.status == impact.UNFINISHED
    assert found.time < whole.time <= found.latest + 5e-9
    here = there.pose
    poses = np.zeros((1, 3)), [(1, 0, 0, 0)], np.zeros((1, 3)), np.zeros((1, 3))
    moving = [here.position], [here.orientation], [there.velocity], [there.angular_velocity]
    many = times_of_impact(ShapeSet([pair, Box((0.1, 0.2, 0.3))]), [0], [1], *poses, *moving, 5.0)
    assert (many.status[0], many.time[0]) == (found.status, pytest.approx(found.time, abs=1e-12))
    assert many.latest[0] == pytest.approx(found.latest, abs=1e-9)
