"""Ray casts against the definition of each shape: a predicate for its points, walked along the ray."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.collision.placing import EPS, turn
from tumble.collision import (
    Box,
    Capsule,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    InputError,
    Pose,
    Sphere,
    ray_cast,
    ray_casts,
)


def _hull(rng=None):
    points = np.random.default_rng(5).normal(size=(14, 3)) * (0.5, 0.3, 0.4)
    return ConvexHull(points - points.mean(axis=0) + (0.2, 0.1, 0.0))


def _hull_level(x):
    from scipy.spatial import ConvexHull as Qhull

    e = Qhull(_hull().vertices).equations
    return (x @ e[:, :3].T + e[:, 3]).max(axis=-1)


def _across(x):
    return np.hypot(x[..., 0], x[..., 1])


def _capsule_level(x):
    z = np.clip(x[..., 2], -0.5, 0.5)
    return np.sqrt(x[..., 0] ** 2 + x[..., 1] ** 2 + (x[..., 2] - z) ** 2) - 0.2


# Each shape with a function that is negative inside, zero on the surface, and grows outwards.
SHAPES = {
    "halfspace": (HalfSpace((1, 2, 3), 0.1), lambda x: x @ (np.array((1, 2, 3)) / math.sqrt(14)) - 0.1),
    "sphere": (Sphere(0.4), lambda x: np.linalg.norm(x, axis=-1) - 0.4),
    "capsule": (Capsule(0.2, 0.5), _capsule_level),
    "box": (Box((0.3, 0.5, 0.2)), lambda x: (np.abs(x) - (0.3, 0.5, 0.2)).max(axis=-1)),
    "hull": (_hull(), _hull_level),
    "cylinder": (Cylinder(0.3, 0.4), lambda x: np.maximum(_across(x) - 0.3, np.abs(x[..., 2]) - 0.4)),
    "cone": (Cone(0.3, 0.4), lambda x: np.maximum(_across(x) - 0.3 * (0.4 - x[..., 2]) / 0.8, -0.4 - x[..., 2])),
    "ellipsoid": (Ellipsoid((0.3, 0.5, 0.2)), lambda x: np.linalg.norm(x / (0.3, 0.5, 0.2), axis=-1) - 1.0),
}


def gradient(level, x, h=1e-6):
    g = np.array([level(x + h * e) - level(x - h * e) for e in np.eye(3)]).T / (2 * h)
    return g / np.linalg.norm(g, axis=-1, keepdims=True)


@pytest.mark.parametrize("name", SHAPES)
def test_first_point_by_definition(name):
    """A hit lies on the surface, nothing of the ray before it is inside, and what follows it is; a miss never is inside."""
    shape, level = SHAPES[name]
    rng = np.random.default_rng(3)
    pose = Pose((0.3, -0.2, 0.5), tuple((q := rng.normal(size=4)) / np.linalg.norm(q)))
    n = 400
    origins = rng.normal(size=(n, 3)) * 1.5
    directions = rng.normal(size=(n, 3)) * 0.25 - origins + np.array(pose.position)
    directions[: n // 4, rng.integers(0, 3)] = 0.0  # some in planes of the world
    found = ray_casts(shape, pose, origins, directions, 4.0)
    back = pose.inverse()
    unit = directions / np.linalg.norm(directions, axis=1)[:, None]
    steps = np.linspace(0, 4.0, 1001)
    hits = 0
    for k in range(n):
        walk = level(back.apply(origins[k] + steps[:, None] * unit[k]))
        t = found.distance[k]
        if found.part[k] < 0:
            assert t == math.inf
            assert walk.min() > -1e-12
            continue
        hits += 1
        assert walk[steps < t - 1e-9].min(initial=1.0) > 0
        here, after = level(back.apply(found.point[k])), level(back.apply(found.point[k] + 1e-7 * unit[k]))
        if t == 0.0:
            assert walk[0] < 1e-12
            assert np.allclose(found.normal[k], -unit[k], rtol=0, atol=1e-15)
            continue
        assert abs(here) < 40 * EPS
        assert after < 0 or walk[steps > t].min(initial=1.0) > -1e-6  # goes in, unless it only grazes
        assert found.normal[k] @ unit[k] <= 0
        assert np.linalg.norm(found.normal[k]) == pytest.approx(1, abs=1e-15)
        outside = back.apply(found.point[k] + 1e-5 * found.normal[k])
        expected = pose.matrix() @ gradient(level, outside)
        assert np.linalg.norm(found.normal[k] - expected) < 2e-4 or not _smooth(level, outside)
    assert hits > 60


def _smooth(level, x):
    """No edge of the shape near x: the gradient is the same a little to all sides."""
    g = gradient(level, x)
    return all(np.linalg.norm(gradient(level, x + d) - g) < 1e-3 for d in 3e-5 * np.vstack([np.eye(3), -np.eye(3)]))


def test_values_and_sides():
    hit = ray_cast(Box((1, 2, 3)), Pose((10, 0, 0)), (0, 0, 0), (5, 0, 0))
    assert hit.distance == 9.0
    assert np.array_equal(hit.point, (9, 0, 0))
    assert np.array_equal(hit.normal, (-1, 0, 0))
    assert not hit.inside
    assert ray_cast(Box((1, 2, 3)), Pose((10, 0, 0)), (0, 0, 0), (-5, 0, 0)) is None
    assert ray_cast(Box((1, 2, 3)), Pose((10, 0, 0)), (0, 0, 0), (1, 0, 0), reach=8.9) is None
    assert ray_cast(Box((1, 2, 3)), Pose((10, 0, 0)), (0, 0, 0), (1, 0, 0), reach=9.0).distance == 9.0
    inside = ray_cast(Sphere(1.0), Pose(), (0.5, 0, 0), (0, 1, 0))
    assert inside.inside
    assert inside.distance == 0.0
    assert np.array_equal(inside.normal, (0, -1, 0))
    down = ray_cast(HalfSpace(), Pose((0, 0, 1)), (3, 4, 6), (0, 0, -1))
    assert (down.distance, tuple(down.normal)) == (5.0, (0, 0, 1))


@pytest.mark.parametrize("name", sorted(set(SHAPES) - {"halfspace"}))
def test_far_start_costs_only_its_own_rounding(name):
    shape, level = SHAPES[name]
    rng = np.random.default_rng(0)
    for _ in range(20):
        d = rng.normal(size=3)
        d /= np.linalg.norm(d)
        aim = 0.05 * rng.normal(size=3)
        hit = ray_cast(shape, Pose(), aim - 1e6 * d, d)
        near = ray_cast(shape, Pose(), aim - 2.0 * d, d)
        assert abs(hit.distance - near.distance - (1e6 - 2.0)) < 4 * EPS * 1e6 / max(0.05, -near.normal @ d)


def test_cone_in_its_hard_directions():
    """Through the tip, along the side, along the axis, and at the nappe that is not there."""
    cone = Cone(1.0, 1.0)  # tip at z = 1, base z = -1, side x = (1 - z) / 2
    assert ray_cast(cone, Pose(), (0, 0, 5), (0, 0, -1)).distance == 4.0
    assert ray_cast(cone, Pose(), (0, 0, -5), (0, 0, 1)).distance == 4.0
    assert ray_cast(cone, Pose(), (-5, 0, 1.5), (1, 0, 0)) is None
    assert ray_cast(cone, Pose(), (-5, 0, 0), (1, 0, 0)).distance == pytest.approx(4.5, abs=1e-14)
    side = np.array((1.0, 0, -2.0)) / math.sqrt(5)
    assert ray_cast(cone, Pose(), np.array((0.01, 0, 1.0)) - 3 * side, side) is None
    along = ray_cast(cone, Pose(), np.array((-0.01, 0, 1.0)) - 3 * side, side)
    assert abs(_across(along.point) - (1 - along.point[2]) / 2) < 1e-14


def test_hulls_without_volume():
    plate = ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0)])
    for z in (-1.0, 1.0):
        hit = ray_cast(plate, Pose(), (0.2, 0.3, z), (0, 0, -z))
        assert (hit.distance, tuple(hit.normal)) == (1.0, (0, 0, z))
        assert ray_cast(plate, Pose(), (0.7, 0.7, z), (0, 0, -z)) is None
    assert ray_cast(plate, Pose(), (-1, 0.2, 0), (1, 0, 0)) is None  # edge on
    assert ray_cast(ConvexHull([(0, 0, 0), (1, 0, 0)]), Pose(), (0.5, 0, 1), (0, 0, -1)) is None


def test_compound_is_hit_at_its_nearest_piece():
    table = Compound([(Box((1.0, 1.0, 0.1)), Pose((0, 0, 1.0))), (Box((0.1, 0.1, 0.5)), Pose((0.9, 0, 0.4)))])
    turned = Pose((5.0, 0, 0), (math.sqrt(0.5), 0, 0, math.sqrt(0.5)))  # the leg now at y = 0.9
    hit = ray_cast(table, turned, (5.0, 0.9, -3.0), (0, 0, 1))
    assert (hit.part, round(hit.distance, 12)) == (1, 2.9)
    hit = ray_cast(table, turned, (5.0, 0.5, -3.0), (0, 0, 1))
    assert (hit.part, round(hit.distance, 12)) == (0, 3.9)


def test_a_thin_body_is_never_stepped_over():
    """Boxes as thin as 1e-12 are hit from anywhere."""
    rng = np.random.default_rng(2)
    origins = rng.normal(size=(300, 3)) * 10
    for thickness in (1e-3, 1e-12):
        assert (
            ray_casts(Box((1, 1, thickness)), Pose(), origins, 0.2 * rng.random((300, 3)) * (1, 1, 0) - origins).part == 0
        ).all()


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("box", Pose(), (0, 0, 0), (1, 0, 0)), "shape"),
        ((Sphere(), None, (0, 0, 0), (1, 0, 0)), "pose"),
        ((Sphere(), Pose(), (0, 0), (1, 0, 0)), "origin"),
        ((Sphere(), Pose(), (0, 0, 0), (1, 0, math.nan)), "direction"),
        ((Sphere(), Pose(), (0, 0, 0), (0, 0, 0)), "direction"),
        ((Sphere(), Pose(), (0, 0, 0), (1, 0, 0), -1.0), "reach"),
    ],
)
def test_errors_name_the_argument(arguments, name):
    with pytest.raises(InputError) as caught:
        ray_cast(*arguments)
    assert caught.value.name == name


def test_rotation_of_the_whole_changes_nothing():
    rng = np.random.default_rng(8)
    for shape, _ in SHAPES.values():
        r = turn(rng)
        origin, direction = np.array((2.0, 0.4, 0.1)), np.array((-1.0, -0.2, 0.02))
        here = ray_cast(shape, Pose(), origin, direction)
        there = ray_cast(shape, Pose.from_matrix(r), r @ origin, r @ direction)
        assert here.distance == pytest.approx(there.distance, abs=1e-14)
        assert np.allclose(r @ here.normal, there.normal, rtol=0, atol=1e-13)
