"""The queries of users: result fields, compounds, errors."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tumble.collision import Box, Compound, InputError, Pose, Sphere, Status, contact_manifold, signed_distance

CUBE = Box((0.5, 0.5, 0.5))


def test_signed_distance():
    r = signed_distance(CUBE, Pose(), Sphere(0.25), Pose((2.0, 0.0, 0.0)))
    assert r.status is Status.SEPARATED
    assert r.distance == 1.25
    assert r.lower <= 1.25 <= r.upper
    assert np.array_equal(r.normal, (1, 0, 0))
    assert np.array_equal(r.point_a, (0.5, 0, 0))
    assert np.array_equal(r.point_b, (1.75, 0, 0))
    assert signed_distance(CUBE, Pose(), Sphere(0.25), Pose((2.0, 0.0, 0.0)), margin=1.0).status is Status.BEYOND_MARGIN


def test_contact_manifold():
    m = contact_manifold(CUBE, Pose(), CUBE, Pose((0.0, 0.0, 1.0)))
    assert m.status is Status.TOUCHING
    assert np.array_equal(m.normal, (0, 0, 1))
    assert m.points.shape == (4, 3)
    assert np.array_equal(m.gaps, np.zeros(4))
    assert len(set(m.ids)) == 4
    apart = contact_manifold(CUBE, Pose(), CUBE, Pose((0.0, 0.0, 1.5)))
    assert apart.status is Status.BEYOND_MARGIN
    assert apart.points.shape == (0, 3)


def test_compound_is_the_least_over_its_pieces():
    legs = [(Box((0.1, 0.1, 0.5)), Pose((x, 0.0, 0.4))) for x in (-0.9, 0.9)]
    table = Compound([(Box((1.0, 1.0, 0.1)), Pose((0, 0, 1.0))), *legs])
    turned = Pose((5.0, 0.0, 0.0), (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)))  # a quarter turn about z: legs along y
    ball = Sphere(0.2)
    r = signed_distance(table, turned, ball, Pose((5.0, 0.0, 0.3)))
    assert r.distance == pytest.approx(0.4, abs=1e-15)  # up to the top at 0.9; sideways 0.8 - 0.2
    r = signed_distance(table, turned, ball, Pose((5.0, 0.5, 0.3)))
    assert r.distance == pytest.approx(0.1, abs=1e-15)
    assert r.lower <= 0.1 <= r.upper
    assert np.allclose(r.normal, (0, -1, 0), rtol=0, atol=1e-15)
    ground = Box((10.0, 10.0, 1.0))
    m = contact_manifold(table, turned, ground, Pose((0.0, 0.0, -1.1)))
    assert len(m.points) == 8
    assert sorted({tuple(p) for p in m.parts}) == [(1, 0), (2, 0)]
    assert np.allclose(m.gaps, 0, rtol=0, atol=1e-15)
    assert np.allclose(m.normals, (0, 0, -1), rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("cube", Pose(), CUBE, Pose()), "a"),
        ((CUBE, (0, 0, 0, 0), CUBE, Pose()), "pose_a"),
        ((CUBE, Pose(), None, Pose()), "b"),
        ((CUBE, Pose(), CUBE, Pose(), math.nan), "margin"),
        ((CUBE, Pose(), CUBE, Pose(), "1"), "margin"),
    ],
)
def test_errors_name_the_argument(arguments, name):
    for query in (signed_distance, contact_manifold):
        with pytest.raises(InputError) as caught:
            query(*arguments)
        assert caught.value.name == name
