"""Rims that roll: the lowest point has one name, which goes round with it, and nothing stands beside it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tumble.collision import Box, Cone, ConvexHull, Cylinder, HalfSpace, Pose, contact_manifold, signed_distance

BASES = {
    "plane": HalfSpace(),
    "box": Box((3, 3, 1)),
    "hull": ConvexHull([(x, y, z) for x in (-3, 3) for y in (-2, 4) for z in (-1, 1)]),
    "disc": Cylinder(3, 1),
}
DISCS = {"cylinder": Cylinder(0.5, 0.2), "cone": Cone(0.5, 0.4), "coin": Cylinder(0.5, 0.01)}


def prism(sides):
    """What the rim of a cylinder is where it counts by points that are fixed to it."""
    around = 2 * math.pi * np.arange(sides) / sides
    rim = 0.5 * np.column_stack([np.cos(around), np.sin(around)])
    return ConvexHull(np.vstack([np.column_stack([rim, np.full(sides, z)]) for z in (-0.2, 0.2)]))


def rolled(base, body, tilt, margin, turn=1.0, steps=120):
    """Manifolds of a body that stands on a base, its tilt going round while it turns about its own axis."""
    found = []
    for k in range(steps):
        a = turn * 2 * math.pi * k / steps
        lean = Pose(orientation=(math.cos(tilt / 2), math.sin(tilt / 2) * math.cos(a), math.sin(tilt / 2) * math.sin(a), 0))
        spun = lean @ Pose(orientation=(math.cos(0.37 * a), 0, 0, math.sin(0.37 * a)))
        pose = Pose((0.1 * math.cos(a), 0.2 * math.sin(a), 2.0), spun.orientation)
        for _ in range(2):
            gap = signed_distance(base, Pose(), body, pose).distance
            pose = Pose(np.array(pose.position) - (0, 0, gap), pose.orientation)
        found.append((contact_manifold(base, Pose(), body, pose, margin=margin), signed_distance(base, Pose(), body, pose)))
    return found


def glitches(found) -> int:
    """How often names change from one manifold to the next, or that of the deepest point."""
    count = 0
    for (one, _), (two, _) in zip(found, found[1:], strict=False):
        deepest = one.ids[np.argmin(one.gaps)], two.ids[np.argmin(two.gaps)]
        count += deepest[0] != deepest[1] or not np.array_equal(one.ids, two.ids)
    return count


def closest(points) -> float:
    return min((np.linalg.norm(p - q) for k, p in enumerate(points) for q in points[:k]), default=math.inf)


@pytest.mark.parametrize("margin", [0.0, 1e-4, 1e-2, 0.3])
@pytest.mark.parametrize("tilt", [1e-5, 1e-3, 0.1, 0.7, 0.9])
@pytest.mark.parametrize("body", DISCS)
@pytest.mark.parametrize("base", BASES)
def test_a_rolling_rim_keeps_its_names(base, body, tilt, margin):
    found = rolled(BASES[base], DISCS[body], tilt, margin, steps=40)
    assert glitches(found) == 0
    for contact, known in found:
        assert contact.gaps.min() == pytest.approx(known.distance, abs=1e-9)
        assert closest(contact.points) > min(1e-3, DISCS[body].radius)


def test_fixed_points_change_theirs():
    """The failing twin: the same steps of a prism of eight sides."""
    assert glitches(rolled(HalfSpace(), prism(8), 0.1, 1e-2)) >= 5


@pytest.mark.parametrize("base", ["plane", "box"])
def test_small_steps_move_points_by_little(base):
    """1e-3 rad a step: no point moves by more than the rim does."""
    found = rolled(BASES[base], DISCS["coin"], 1e-3, 1e-4, turn=120 * 1e-3 / (2 * math.pi))
    for (one, _), (two, _) in zip(found, found[1:], strict=False):
        assert np.array_equal(one.ids, two.ids)
        assert np.abs(one.points - two.points).max() < 1e-3


def test_the_lowest_point_is_the_end_of_the_side():
    """As a cylinder comes to lie on its side the name of its lowest point stays."""
    names = set()
    for tilt in np.linspace(1e-3, 0.5 * math.pi - 1e-3, 60):
        for base in ("plane", "box"):
            contact = rolled(BASES[base], DISCS["cylinder"], tilt, 1e-6, steps=1)[0][0]
            names.add(int(contact.ids[np.argmin(contact.gaps)]))
    assert len(names) <= 2  # one a base


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("tilt", [0.0, 1e-9])
def test_a_disc_that_lies_flat_stands_on_points_that_stay(base, tilt):
    """On eight of its rim, which are fixed to it."""
    found = rolled(BASES[base], DISCS["coin"], tilt, 1e-6)
    assert {tuple(contact.ids) for contact, _ in found} == {tuple(found[0][0].ids)}
    assert len(found[0][0].points) == 8


def test_what_goes_round_passes_an_edge():
    """A tilted disc that hangs over: where it crosses the edge no two points are the same."""
    for k in range(60):
        body, at = DISCS["coin"], 2.4 + 0.01 * k
        pose = Pose((at, 0.03, 1.02), (math.cos(1e-4), math.sin(1e-4) * 0.8, math.sin(1e-4) * 0.6, 0))
        for _ in range(3):
            known = signed_distance(BASES["box"], Pose(), body, pose)
            pose = Pose(np.array(pose.position) - (0, 0, known.distance), pose.orientation)
        contact = contact_manifold(BASES["box"], Pose(), body, pose, margin=1e-3)
        known = signed_distance(BASES["box"], Pose(), body, pose)
        assert contact.gaps.min() == pytest.approx(known.distance, abs=1e-6)
        assert len(contact.points) >= 4
        assert closest(contact.points) > 0.99e-3 * 0.5
