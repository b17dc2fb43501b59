"""Queries against many shapes: each answer is the best of asking every shape alone."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tumble.collision import (
    Box,
    Capsule,
    CollisionManager,
    ConvexHull,
    Cylinder,
    HalfSpace,
    InputError,
    Pose,
    Rounded,
    ShapeSet,
    Sphere,
    bounding_boxes,
    candidate_pairs,
    colliding,
    contact_manifolds,
    ray_cast,
    shape_cast,
    signed_distance,
    torus,
)

RNG = np.random.default_rng(0)
KINDS = [
    Box((0.3, 0.2, 0.4)),
    Sphere(0.3),
    Rounded(Cylinder(0.2, 0.3), 0.1),
    ConvexHull(RNG.normal(size=(12, 3)) * 0.3),
    torus(0.5, 0.1, segments=8),
]


def some_pose(rng, spread):
    q = rng.normal(size=4)
    return Pose(tuple(rng.uniform(-spread, spread, 3)), tuple(q / np.linalg.norm(q)))


def full(seed, n=40, spread=3.0, **options):
    """(manager, {handle: (shape, pose, groups)}); some were moved, some taken out."""
    rng = np.random.default_rng(seed)
    manager = CollisionManager(**options)
    there = {manager.add(HalfSpace(offset=-3.0), mobile=False): (HalfSpace(offset=-3.0), Pose(), 1)}
    for k in range(n + 5):
        shape, pose, groups = KINDS[k % len(KINDS)], some_pose(rng, spread), 1 << k % 3
        there[manager.add(shape, some_pose(rng, spread), groups=groups)] = shape, pose, groups
    for handle in rng.choice(list(there)[1:], 5, replace=False).tolist():
        manager.remove(handle)
        del there[handle]
    for handle, (_, pose, _) in there.items():
        if handle:
            manager.move(handle, pose)
    return rng, manager, there


def test_rays():
    rng, manager, there = full(1)
    hits = 0
    for k in range(60):
        origin, direction, mask = rng.uniform(-5, 5, 3), rng.normal(size=3), 0xFFFFFFFF if k % 2 else 5
        seen = {h: (s, p) for h, (s, p, groups) in there.items() if groups & mask}
        found = manager.ray_cast(origin, direction, reach=8.0, mask=mask)
        alone = [(r.distance, h, r) for h, (s, p) in seen.items() if (r := ray_cast(s, p, origin, direction, reach=8.0))]
        assert (found is None) == (not alone)
        if found:
            distance, handle, hit = min(alone, key=lambda entry: entry[:2])
            assert (found.shape, found.part) == (handle, hit.part)
            assert found.distance == pytest.approx(distance, abs=1e-12)
            assert np.allclose(found.normal, hit.normal, rtol=0, atol=1e-9)
            hits += 1
    assert hits > 20
    origins, directions = rng.uniform(-5, 5, (200, 3)), rng.normal(size=(200, 3))
    many = manager.ray_casts(origins, directions)
    for k in range(200):
        one = manager.ray_cast(origins[k], directions[k])
        assert (one is None) == (many.shape[k] < 0)
        assert one is None or (one.shape, one.distance) == (many.shape[k], many.distance[k])


def test_neighbours_and_overlaps():
    rng, manager, there = full(2)
    for k in range(15):
        asked, pose, mask = (Capsule(0.2, 0.3), Box(), Sphere(1.5))[k % 3], some_pose(rng, 3.0), (0xFFFFFFFF, 2)[k % 2]
        alone = sorted((signed_distance(asked, pose, s, p).distance, h) for h, (s, p, groups) in there.items() if groups & mask)
        for count in (1, 3, None):
            near = manager.nearest(asked, pose, count=count, mask=mask)
            wanted = alone if count is None else alone[:count]
            assert [found.which for found in near] == [h for _, h in wanted]
            assert np.allclose([found.distance for found in near], [d for d, _ in wanted], rtol=0, atol=1e-8)
            for found in near:
                gap = found.point - found.from_point - found.distance * found.normal
                assert np.abs(gap).max() < 1e-6
        within = manager.nearest(asked, pose, count=None, reach=1.0, mask=mask)
        assert [found.which for found in within] == [h for d, h in alone if d <= 1.0]
        assert manager.overlap(asked, pose, mask=mask).tolist() == sorted(h for d, h in alone if d <= 0)
    point = rng.normal(size=3)
    assert manager.nearest(point)[0].distance == pytest.approx(
        min(signed_distance(ConvexHull([point]), Pose(), s, p).distance for s, p, _ in there.values()), abs=1e-9
    )


def test_casts():
    rng, manager, there = full(3)
    hits = 0
    for k in range(12):
        asked, pose = (Sphere(0.1), Box((0.1, 0.2, 0.3)))[k % 2], some_pose(rng, 6.0)
        direction = -np.array(pose.position) + rng.normal(size=3)
        found = manager.shape_cast(asked, pose, direction, mask=6)
        alone = [
            (hit.distance, h, hit)
            for h, (s, p, groups) in there.items()
            if groups & 6 and (hit := shape_cast(asked, pose, direction, s, p))
        ]
        assert (found is None) == (not alone)
        if found and not found.inside:
            distance, handle, hit = min(alone, key=lambda entry: entry[:2])
            assert found.shape == handle
            assert found.distance == pytest.approx(distance, abs=1e-9)
            assert np.allclose(found.point, hit.point, rtol=0, atol=1e-6)
            hits += 1
    assert hits > 3


def test_pairs_and_what_is_asked_of_them():
    rng, manager, there = full(4, n=60, spread=2.0, margin=0.2)
    handles = list(there)
    shapes = ShapeSet([s for s, _, _ in there.values()])
    x, q = np.array([p.position for _, p, _ in there.values()]), np.array([p.orientation for _, p, _ in there.values()])
    pairs = candidate_pairs(*bounding_boxes(shapes, np.arange(len(shapes)), x, q, margin=0.1))
    assert manager.pairs().tolist() == [[handles[i], handles[j]] for i, j in pairs]
    touching = {(h, i) for h in there for i in there if h < i and colliding(there[h][0], there[h][1], there[i][0], there[i][1])}
    assert set(map(tuple, manager.collisions().tolist())) == touching
    assert len(touching) > 5
    near, found = manager.distances()
    assert (found.distance <= 0.2 + 1e-9).all()
    assert touching <= set(map(tuple, near.tolist()))
    points = contact_manifolds(*manager.placed(manager.pairs()), margin=0.05)
    assert len(points.points) > len(touching)
    first = manager.update()
    assert len(first.began) == len(pairs)
    assert len(first.ended) == 0
    gone = manager.pairs()[0, 1]
    manager.remove(gone)
    second = manager.update()
    assert len(second.began) == 0
    assert len(second.ended) > 0
    assert (second.ended == gone).any(axis=1).all()


def test_groups_and_masks_are_those_of_bodies():
    manager = CollisionManager()
    a = manager.add(Sphere(), groups=1, mask=2)
    b = manager.add(Sphere(), groups=2, mask=1)
    c = manager.add(Sphere(), groups=2, mask=4)  # a would meet it, but it would not meet a
    fixed = [manager.add(Sphere(), groups=8, mask=8, mobile=False) for _ in range(2)]
    assert manager.pairs().tolist() == [[a, b]]
    assert manager.overlap(Sphere(), mask=2).tolist() == [b, c]
    assert manager.overlap(Sphere(), mask=9).tolist() == [a, *fixed]
    assert manager.shape(c) == Sphere()
    assert manager.pose(c) == Pose()


def test_an_empty_manager_has_nothing():
    manager = CollisionManager()
    assert len(manager) == len(manager.handles) == len(manager.pairs()) == 0
    assert manager.ray_cast((0, 0, 0), (0, 0, 1)) is None
    assert manager.nearest((0, 0, 0)) == []
    assert len(manager.overlap(Box())) == 0
    assert manager.shape_cast(Box(), Pose(), (0, 0, 1)) is None
    assert len(manager.collisions()) == 0


def test_errors_name_what_is_wrong():
    manager = CollisionManager()
    ball = manager.add(Sphere())
    with pytest.raises(InputError, match="must be a Shape"):
        manager.add("ball")
    with pytest.raises(InputError, match="removed, or never added"):
        manager.move(ball + 1, Pose())
    with pytest.raises(InputError, match="orientations"):
        manager.move_many([ball], [(0, 0, 0)], [(1, 1, 0, 0)])
    with pytest.raises(InputError, match="one row for each"):
        manager.move_many([ball], [(0, 0, 0)] * 2)
    with pytest.raises(InputError, match="direction"):
        manager.ray_cast((0, 0, 0), (0, 0, 0))
    with pytest.raises(InputError, match="count"):
        manager.nearest(Box(), count=0)
    with pytest.raises(InputError, match="mask"):
        manager.overlap(Box(), mask=-1)
    with pytest.raises(InputError, match="reach"):
        manager.ray_cast((0, 0, 0), (0, 0, 1), reach=-1)
    assert math.isinf(manager.ray_casts([(0, 0, 9)], (0, 0, 1)).distance[0])
