"""Manifolds gathered point by point, against the overlap of the two faces and against the one-shot way."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

from tumble.collision import (
    Box,
    Compound,
    ConvexHull,
    HalfSpace,
    IncrementalManifold,
    InputError,
    Pose,
    Sphere,
    Status,
    contact_manifold,
)
from tumble.collision.queries.incremental_manifold import _area

ROOT = Path(__file__).parents[3]
CUBE = Box((0.5, 0.5, 0.5))
CORNERS = np.array([(-0.3, -0.4), (0.5, -0.4), (0.5, 0.5), (-0.3, 0.5)])  # of the overlap at (0.2, 0.1)


def off(points, corners=CORNERS):
    return [np.linalg.norm(corners - x[:2], axis=1).min() for x in points]


@pytest.mark.parametrize("angle", [1e-2, 1e-3, 1e-5])
def test_perturbation_finds_the_corners_of_the_overlap(angle):
    """Off by the lever times half the angle at most; gaps are those of the poses as they are."""
    found = IncrementalManifold(CUBE, CUBE, perturbation=angle).update(Pose(), Pose((0.2, 0.1, 0.999)))
    assert len(found.points) == 4
    assert max(off(found.points)) < angle
    assert len({int(np.argmin(np.linalg.norm(CORNERS - x[:2], axis=1))) for x in found.points}) == 4
    assert np.allclose(found.gaps, -0.001, rtol=0, atol=2e-15)
    assert found.status is Status.OVERLAPPING
    assert np.allclose(found.normal, (0, 0, 1), rtol=0, atol=1e-15)


def test_rocking_gathers_them_too():
    manifold = IncrementalManifold(CUBE, CUBE)
    counts = []
    for k in range(8):
        angle = 2 * math.pi * (k % 4 + 0.5) / 4
        rock = 1e-4 * np.array((math.cos(angle), math.sin(angle), 0))
        found = manifold.update(Pose(), Pose((0.2, 0.1, 1.0), (1, *rock)))
        counts.append(len(found.points))
    assert counts[0] == 1
    assert counts[-1] == 4
    assert max(off(found.points)) < 1e-3
    again = manifold.update(Pose(), Pose((0.2, 0.1, 1.0)))
    assert set(again.ids) == set(found.ids)  # they keep their names


def test_points_move_with_the_bodies_and_are_given_up():
    manifold = IncrementalManifold(CUBE, CUBE, breaking=0.02, perturbation=1e-3)
    first = manifold.update(Pose(), Pose((0, 0, 1)))
    carried = Pose((3, 2, 1), (0.6, 0, 0.8, 0))
    moved = manifold.update(carried, carried @ Pose((0, 0, 1)))
    assert set(moved.ids) == set(first.ids)
    assert np.allclose(sorted(carried.inverse().apply(moved.points).tolist()), sorted(first.points.tolist()), rtol=0, atol=1e-3)
    slid = manifold.update(Pose(), Pose((0.1, 0, 1)))
    assert not set(slid.ids) & {i for i, x in zip(first.ids, first.points, strict=True) if x[0] < 0}
    assert np.allclose(off(slid.points, np.array([(x, y) for x in (-0.4, 0.5) for y in (-0.5, 0.5)])), 0, atol=2e-3)
    apart = manifold.update(Pose(), Pose((0, 0, 1.1)))
    assert apart.points.shape == (0, 3)
    assert apart.status is Status.SEPARATED


def test_the_deepest_of_five_stays():
    ring = [(math.cos(k * math.pi / 4), math.sin(k * math.pi / 4)) for k in range(8)]
    prism = ConvexHull([(x, y, z) for x, y in ring for z in (-0.5, 0.5)])
    tilted = Pose((0, 0, 0.499), (1, 5e-4, 0, 0))
    found = IncrementalManifold(HalfSpace(), prism, 0.1, 0.01).update(Pose(), tilted)
    assert len(found.points) == 4
    assert found.gaps.min() == pytest.approx(contact_manifold(HalfSpace(), Pose(), prism, tilted, 0.1).gaps.min(), abs=1e-12)
    assert _area(found.points, np.array((0, 0, 1.0))) > 1.2  # of 2 for the inscribed square


def test_area_of_four_points_in_any_order():
    square = np.array([(0, 0, 0), (2, 0, 0), (2, 1, 0), (0, 1, 5)], float)
    for order in ((0, 1, 2, 3), (0, 2, 1, 3), (3, 1, 0, 2)):
        assert _area(square[list(order)], np.array((0, 0, 1.0))) == 2.0


def test_round_and_compound():
    ball = IncrementalManifold(HalfSpace(), Sphere(0.5), perturbation=1e-3).update(Pose(), Pose((1, 2, 0.5)))
    assert np.allclose(ball.points, [(1, 2, 0)], rtol=0, atol=1e-3)
    table = Compound([(Box((1, 1, 0.1)), Pose((0, 0, 1.0))), *((Box((0.1, 0.1, 0.5)), Pose((x, 0, 0.4))) for x in (-0.9, 0.9))])
    stand = IncrementalManifold(HalfSpace(), table, perturbation=1e-3).update(Pose(), Pose((0, 0, 0.1)))
    assert len(stand.points) == 4
    assert np.ptp(stand.points[:, 0]) == pytest.approx(2.0, abs=2e-3)  # one foot and the other


def test_errors():
    for arguments, name in (
        (("a", CUBE), "a"),
        ((CUBE, None), "b"),
        ((CUBE, CUBE, 0.0), "breaking"),
        ((CUBE, CUBE, 0.01, -1), "perturbation"),
        ((CUBE, CUBE, 0.01, 1.0), "perturbation"),
    ):
        with pytest.raises(InputError) as caught:
            IncrementalManifold(*arguments)
        assert caught.value.name == name


def _table():
    spec = importlib.util.spec_from_file_location("manifold_ways", ROOT / "tools" / "manifold_ways.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


WAYS = _table()


@pytest.mark.parametrize("case", WAYS.CASES, ids=lambda case: case[0])
def test_docs_state_what_is_measured(case):
    assert WAYS.row(*case) in (ROOT / "docs" / "collision.md").read_text(encoding="utf-8")
