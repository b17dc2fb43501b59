"""Rays, neighbours and overlap over the bodies of a world, against the same question put to each body alone."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tumble.collision import Box, Compound, ConvexHull, HalfSpace, Pose, Sphere, ray_cast, signed_distance
from tumble.sim import InputError, World


def scattered(seed: int = 2, n: int = 30) -> World:
    rng = np.random.default_rng(seed)
    world = World()
    world.add(HalfSpace(offset=-3.0), kind="static")
    for k in range(n):
        q = rng.normal(size=4)
        dumbbell = Compound([(Sphere(0.2), Pose((-0.4, 0, 0))), (Box((0.3, 0.1, 0.1)), Pose((0.2, 0.1, 0)))])
        shape = (Sphere(0.3), Box((0.2, 0.3, 0.4)), ConvexHull(rng.normal(size=(12, 3)) * 0.3), dumbbell)[k % 4]
        world.add(shape, position=rng.uniform(-2.5, 2.5, 3), orientation=q / np.linalg.norm(q))
    return world


def pose_of(body) -> Pose:
    return Pose(body.position, body.orientation)


def test_rays_hit_what_the_nearest_body_alone_says():
    world, rng = scattered(), np.random.default_rng(5)
    hits = 0
    for _ in range(200):
        origin, direction = rng.uniform(-4, 4, 3), rng.normal(size=3)
        alone = [(ray_cast(body.shape, pose_of(body), origin, direction, 6.0), body) for body in world.bodies]
        alone = [(hit.distance, body) for hit, body in alone if hit is not None]
        hit = world.ray_cast(origin, direction, 6.0)
        if not alone:
            assert hit is None
            continue
        distance, body = min(alone, key=lambda found: found[0])
        assert hit.distance == pytest.approx(distance, abs=1e-12)
        assert hit.body is body or hit.distance == 0
        hits += 1
    assert hits > 50


def test_many_rays_are_as_one_by_one():
    world, rng = scattered(), np.random.default_rng(6)
    directions = rng.normal(size=(50, 3))
    bodies, distances, normals = world.ray_casts((0, 0, 4), directions)
    for i, d, n, direction in zip(bodies, distances, normals, directions, strict=True):
        hit = world.ray_cast((0, 0, 4), direction)
        assert (hit is None) == (i < 0)
        if hit is None:
            assert d == math.inf
        else:
            assert (hit.body.index, hit.distance) == (i, d)
            assert np.array_equal(hit.normal, n)


def test_ignored_bodies_are_looked_through():
    world = World(gravity=(0, 0, 0))
    near, far = (world.add(Sphere(0.5), position=(x, 0, 0)) for x in (2, 5))
    assert world.ray_cast((0, 0, 0), (1, 0, 0)).body is near
    hit = world.ray_cast((0, 0, 0), (1, 0, 0), ignore=[near])
    assert hit.body is far
    assert hit.point == pytest.approx((4.5, 0, 0))
    assert hit.normal == pytest.approx((-1, 0, 0))
    assert world.ray_cast((0, 0, 0), (1, 0, 0), reach=1.0) is None
    assert world.ray_cast((2, 0, 0), (1, 0, 0)).inside
    assert [found.body for found in world.nearest((0, 0, 0), ignore=[near])] == [far]


def test_neighbours_have_the_distances_of_each_alone():
    world, rng = scattered(), np.random.default_rng(7)
    for _ in range(20):
        pose = Pose(rng.uniform(-3, 3, 3))
        shape = Box((0.3, 0.4, 0.5))
        alone = {body.name: signed_distance(body.shape, pose_of(body), shape, pose).distance for body in world.bodies}
        found = world.nearest(shape, pose, reach=1.0)
        assert {n.body.name for n in found} == {name for name, d in alone.items() if d <= 1.0}
        for n in found:
            assert n.distance == pytest.approx(alone[n.body.name], abs=1e-9)
            assert np.linalg.norm(n.point - n.from_point - n.distance * n.normal) < 1e-9
        assert [n.distance for n in found] == sorted(n.distance for n in found)
        touching = {name for name, d in alone.items() if d <= 0}
        assert {n.body.name for n in world.overlap(shape, pose)} == touching


def test_a_point_will_do():
    world = World()
    ball = world.add(Sphere(0.5), position=(2, 0, 0))
    (found,) = world.nearest((0, 0, 0))
    assert found.body is ball
    assert found.distance == pytest.approx(1.5)
    assert found.point == pytest.approx((1.5, 0, 0))


@pytest.mark.parametrize(
    ("ask", "name"),
    [
        (lambda w: w.ray_cast((0, 0), (1, 0, 0)), "origin"),
        (lambda w: w.ray_cast((0, 0, 0), (0, 0, 0)), "direction"),
        (lambda w: w.ray_cast((0, 0, 0), (1, 0, 0), reach=-1), "reach"),
        (lambda w: w.nearest("ball"), "shape"),
        (lambda w: w.overlap(Sphere(1.0), (0, 0, 0, 1)), "pose"),
    ],
)
def test_bad_questions_name_the_field(ask, name):
    world = World()
    world.add(Sphere(1.0))
    with pytest.raises(InputError) as error:
        ask(world)
    assert error.value.name == name


def test_an_empty_world_has_nothing():
    assert World().ray_cast((0, 0, 0), (1, 0, 0)) is None
    assert World().nearest((0, 0, 0)) == []
