"""Shape casts: closed forms, rays at inflated shapes, and the bracket of the first touch."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.collision.pairs.test_curved import KINDS, random_shape
from tumble.collision import (
    Box,
    Capsule,
    Compound,
    ConvexHull,
    Cylinder,
    HalfSpace,
    InputError,
    Pose,
    Rounded,
    ShapeSet,
    Sphere,
    ray_cast,
    shape_cast,
    signed_distance,
)


def some_pose(rng, spread):
    q = rng.normal(size=4)
    return Pose(tuple(rng.normal(size=3) * spread), tuple(q / np.linalg.norm(q)))


@pytest.mark.parametrize(
    ("target", "pose"),
    [
        (Box((0.5, 0.4, 0.3)), Pose.from_euler_xyz((0.3, 0.2, 0.1))),
        (Cylinder(0.3, 0.5), Pose((0.1, 0, 0))),
        (ConvexHull(np.random.default_rng(1).normal(size=(12, 3)) * 0.4), Pose()),
        (Capsule(0.2, 0.4), Pose()),
        (HalfSpace(offset=-0.4), Pose()),
    ],
)
def test_a_ball_that_is_cast_is_a_ray_at_what_it_would_round(target, pose):
    rng = np.random.default_rng(3)
    hits = 0
    plane = isinstance(target, HalfSpace)
    fat = HalfSpace(target.normal, target.offset + 0.2) if plane else Rounded(target, 0.2)
    for _ in range(60):
        origin = rng.normal(size=3)
        origin *= 4 / np.linalg.norm(origin)
        origin[2] = abs(origin[2]) if plane else origin[2]
        direction = rng.normal(size=3) * 0.5 - origin
        found, ray = shape_cast(Sphere(0.2), Pose(tuple(origin)), direction, target, pose), ray_cast(fat, pose, origin, direction)
        if found is not None and math.isinf(found.upper):
            continue  # a graze
        assert (found is None) == (ray is None)
        if found:
            hits += 1
            assert found.distance - 1e-12 <= ray.distance <= found.upper + 1e-12
            assert found.upper - found.distance < 1e-7
            assert np.allclose(found.normal, ray.normal, rtol=0, atol=1e-4)
            d = direction / np.linalg.norm(direction)
            assert np.allclose(found.point, origin + found.distance * d - 0.2 * found.normal, rtol=0, atol=1e-6)
    assert hits > 15


def test_the_first_touch_is_in_the_bracket():
    """Before it the shapes are certainly apart, behind it they certainly are not."""
    rng = np.random.default_rng(5)
    hits = 0
    for k in range(60):
        a, b = (random_shape(rng, KINDS[(k + i) % len(KINDS)]) for i in range(2))
        start, at = some_pose(rng, 15.0), some_pose(rng, 1.0)
        direction = np.array(at.position) - start.position
        found = shape_cast(a, start, direction, b, at)
        d = direction / np.linalg.norm(direction)

        def moved(way, start=start, d=d):
            return Pose(tuple(start.position + way * d), start.orientation)

        if found is None or found.inside:
            continue
        hits += 1
        assert signed_distance(a, moved(found.distance * (1 - 1e-6)), b, at).lower > 0
        assert found.distance <= found.upper < found.distance + 1e-6 * (1 + found.distance)
        assert signed_distance(a, moved(found.upper), b, at).upper <= 0
    assert hits > 25


def test_a_graze_is_left_open_and_a_miss_is_none():
    start = Pose((-3, 0, 1.0))
    graze = shape_cast(Sphere(0.5), start, (1, 0, 0), Sphere(0.5), Pose())
    assert graze is None or math.isinf(graze.upper) or graze.upper >= 3.0 - 1e-6
    assert shape_cast(Sphere(0.5), Pose((-3, 0, 1.001)), (1, 0, 0), Sphere(0.5), Pose()) is None
    assert shape_cast(Sphere(0.5), Pose((-3, 0, 0.999)), (1, 0, 0), Sphere(0.5), Pose()).upper < 3.0
    assert shape_cast(Sphere(0.5), Pose((-3, 0, 0)), (1, 0, 0), Sphere(0.5), Pose(), reach=1.9) is None
    assert shape_cast(Sphere(0.5), Pose((-3, 0, 0)), (9, 0, 0), Sphere(0.5), Pose(), reach=2.1).distance == pytest.approx(2.0)
    assert shape_cast(Sphere(0.5), Pose((-3, 0, 0)), (-1, 0, 0), Sphere(0.5), Pose()) is None


def test_shapes_that_overlap_from_the_start():
    hit = shape_cast(Box(), Pose((0, 0, 0.9)), (1, 0, 0), Box(), Pose())
    assert hit.inside
    assert hit.distance == hit.upper == 0
    assert hit.normal.tolist() == pytest.approx([0, 0, 1])
    resting = shape_cast(Box(), Pose((0, 0, 1.0)), (1, 0, 0), Box(), Pose())  # slides along it
    assert resting is None


def test_of_several_the_first_is_hit():
    shapes = ShapeSet([Box(), Sphere(0.5), Compound([(Box((0.1, 0.1, 0.1)), Pose((0, 0, 0.5))), (Box(), Pose((0, 3, 0)))])])
    poses = [Pose((9, 0, 0)), Pose((5, 0, 0)), Pose((7, 0, -0.5))]
    hit = shape_cast(Sphere(0.25), Pose(), (1, 0, 0), shapes, poses)
    assert (hit.shape, hit.distance) == (1, pytest.approx(4.25, abs=1e-8))
    assert hit.normal.tolist() == pytest.approx([-1, 0, 0])
    hit = shape_cast(Sphere(0.25), Pose(), (1, 0, 0), ShapeSet(shapes.shapes[2:]), poses[2:])
    assert hit.distance == pytest.approx(6.65, abs=1e-8)
    assert shape_cast(Sphere(0.25), Pose(), (1, 0, 0), ShapeSet(), []) is None
    hammer = Compound([(Sphere(0.2), Pose((1, 0, 0))), (Sphere(0.1), Pose())])
    assert shape_cast(hammer, Pose(), (1, 0, 0), Sphere(0.5), Pose((5, 0, 0))).distance == pytest.approx(3.3, abs=1e-8)


def test_errors_name_what_is_wrong():
    with pytest.raises(InputError, match="shape"):
        shape_cast("box", Pose(), (1, 0, 0), Box(), Pose())
    with pytest.raises(InputError, match="direction"):
        shape_cast(Box(), Pose(), (0, 0, 0), Box(), Pose())
    with pytest.raises(InputError, match="target_pose"):
        shape_cast(Box(), Pose(), (1, 0, 0), ShapeSet([Box(), Box()]), [Pose()])
    with pytest.raises(InputError, match="reach"):
        shape_cast(Box(), Pose(), (1, 0, 0), Box(), Pose(), reach=-1)
    with pytest.raises(InputError, match="target"):
        shape_cast(Box(), Pose(), (1, 0, 0), "wall", Pose())
