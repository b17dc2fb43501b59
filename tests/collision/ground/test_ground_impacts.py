"""Times of impact on ground, and shape casts, against closed forms, against solids of the same surface, and all its triangles."""

import math

import numpy as np
import pytest

from tests.meshes import CORNERS, TRIANGLES
from tumble.collision.errors import InputError
from tumble.collision.pose import Pose
from tumble.collision.queries.conservative_advancement import ImpactStatus, Motion, time_of_impact
from tumble.collision.queries.shape_casts import shape_cast
from tumble.collision.shapes.definitions import Box, Capsule, Compound, ConvexHull, HalfSpace, Sphere
from tumble.collision.shapes.ground import HeightField, TriangleMesh

CRATE = Box((0.3, 0.2, 0.1))
BLOCK = TriangleMesh(CORNERS, TRIANGLES)  # a mesh of Box((1, 1, 1))


def hills(n: int = 41) -> HeightField:
    x = np.linspace(-2, 2, n)
    return HeightField(0.3 * np.sin(2 * x)[:, None] * np.cos(3 * x), 4 / (n - 1))


def motions(seed: int):
    """Of bodies that come from all sides and turn, most of which hit what is at the origin."""
    rng = np.random.default_rng(seed)
    while True:
        start, aim = 4.0 * rng.normal(size=3), 0.8 * rng.normal(size=3)
        turn = rng.normal(size=4)
        if np.abs(start).max() > 3.0:
            yield Motion(Pose(start, turn / np.linalg.norm(turn)), aim - start, 3.0 * rng.normal(size=3))


@pytest.mark.parametrize("shape", [Sphere(0.2), CRATE, Capsule(0.1, 0.3)])
def test_a_mesh_of_a_box_is_hit_when_the_box_is(shape):
    """From outside the surface is all that counts, so time, place and normal are those of the solid."""
    place = Pose((0.1, -0.2, 0.3), np.array((0.5, 0.1, -0.7, 0.5)) / 1.0)
    hits = 0
    for _, motion in zip(range(40), motions(1), strict=False):
        solid, sheet = (time_of_impact(shape, motion, other, place, 2.0) for other in (Box((1, 1, 1)), BLOCK))
        assert solid.status == sheet.status
        if solid.status == ImpactStatus.HIT:
            hits += 1
            assert sheet.time == pytest.approx(solid.time, abs=1e-8)
    assert 10 < hits < 40


def test_only_the_triangles_on_the_way_are_searched_and_none_is_missed():
    """Against each triangle of all by itself; twin: without one of them, some motion would go on through the hole."""
    ground = hills(15)
    points, triangles = ground.surface()
    body, holes = Compound([(Sphere(0.1), Pose()), (CRATE, Pose((0.3, 0, 0)))]), 0
    for _, motion in zip(range(12), motions(2), strict=False):
        found = time_of_impact(body, motion, ground, Pose(), 2.0)
        times = []
        for t in triangles:
            one = time_of_impact(body, motion, ConvexHull(points[t]), Pose(), 2.0)
            times.append(one.time if one.status == ImpactStatus.HIT else math.inf)
        times = np.sort(times)
        if found.status == ImpactStatus.HIT:
            assert found.time == pytest.approx(times[0], abs=1e-8)
            holes += times[1] - times[0] > 1e-3
        else:
            assert times[0] == math.inf
    assert holes > 2


def test_nothing_goes_through_one_triangle():
    """A ball of 1 cm at 1 km/s, from afar; the other way round the normal points the other way."""
    sheet = TriangleMesh([(-1, -1, 0), (1, -1, 0), (0, 1, 0)], [(0, 1, 2)])
    fast = Motion(Pose((0, 0, 700.0)), (0, 0, -1000.0), (0, 300, 0))
    hit = time_of_impact(Sphere(0.01), fast, sheet, Pose(), 2.0)
    assert hit.status == ImpactStatus.HIT
    assert hit.time == pytest.approx(0.69999, abs=1e-12)
    assert hit.normal == pytest.approx((0, 0, -1))
    swapped = time_of_impact(sheet, Pose(), Sphere(0.01), fast, 2.0)
    assert swapped.time == hit.time
    assert swapped.normal == pytest.approx((0, 0, 1))
    beside = Motion(Pose((3, 0, 700.0)), (0, 0, -1000.0))
    assert time_of_impact(Sphere(0.01), beside, sheet, Pose(), 2.0).status == ImpactStatus.MISS
    assert time_of_impact(Sphere(0.01), Pose((0, 0, 0.5)), sheet, Pose(), 2.0).status == ImpactStatus.MISS
    assert time_of_impact(Sphere(0.6), Pose((0, 0, 0.5)), sheet, Pose(), 2.0).status == ImpactStatus.OVERLAPPING


def test_shapes_are_cast_on_ground():
    floor = HeightField(np.zeros((101, 101)), 0.1)
    hit = shape_cast(CRATE, Pose((0.03, 0.04, 2.0)), (0, 0, -3), floor, Pose((0, 0, 0.5)))
    assert hit.distance == pytest.approx(1.4, abs=1e-8)
    assert hit.distance <= hit.upper
    assert hit.normal == pytest.approx((0, 0, 1))
    assert shape_cast(CRATE, Pose((0, 0, 2)), (0, 0, -3), floor, Pose(), reach=1.5) is None
    assert shape_cast(CRATE, Pose((0, 0, 0)), (0, 0, -3), floor, Pose()).inside


def test_ground_rests():
    with pytest.raises(InputError, match="motion_b.*ground rests: let the other shape move"):
        time_of_impact(Sphere(0.1), Pose((0, 0, 3)), BLOCK, Motion(Pose(), (0, 0, 1)))
    with pytest.raises(InputError, match="is ground, as the other one is"):
        time_of_impact(BLOCK, Pose(), BLOCK, Pose())
    with pytest.raises(InputError, match="is as large as ground is"):
        time_of_impact(HalfSpace(), Motion(Pose(), (0, 0, 1)), BLOCK, Pose())
