"""Caches of contact points and of times of impact: the same answers with and without, and fewer searches."""

from __future__ import annotations

import numpy as np
import pytest

import tumble.collision.queries.batch_contacts
from tumble.collision import (
    Box,
    Capsule,
    Compound,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    ImpactStatus,
    InputError,
    PairCache,
    Pose,
    Rounded,
    ShapeSet,
    Sphere,
    Status,
    contact_manifold,
    contact_manifolds,
    signed_distances,
    times_of_impact,
)
from tumble.collision.kernels.jit import DISABLED

POINTS = ("status", "start", "pairs", "points", "gaps", "ids", "normals", "parts")


def crowd(seed, n):
    rng = np.random.default_rng(seed)
    pair = Compound([(Box((0.3, 0.3, 0.3)), Pose((0.3, 0, 0))), (Sphere(0.4), Pose((-0.4, 0, 0)))])
    shapes = ShapeSet([
        Box((0.5, 0.4, 0.3)), ConvexHull(rng.normal(size=(20, 3)) * 0.4), Cylinder(0.3, 0.4), HalfSpace(offset=-0.5), pair,
        Rounded(Box((0.3, 0.3, 0.3)), 0.1), Ellipsoid((0.3, 0.4, 0.2)), Capsule(0.2, 0.3),
    ])  # fmt: skip
    a, b = rng.integers(0, len(shapes), (2, n))
    x, y = rng.normal(size=(2, n, 3)) * 0.8
    q, r = rng.normal(size=(2, n, 4))
    return rng, shapes, a, b, [x, q / np.linalg.norm(q, axis=1)[:, None], y, r / np.linalg.norm(r, axis=1)[:, None]]


def test_contact_points_are_the_same_bits_with_a_cache():
    n = 300
    rng, shapes, a, b, poses = crowd(0, n)
    cache = PairCache(n)
    for step in range(6):
        moved = rng.random(n) < 0.5
        poses[2][moved] += rng.normal(size=(moved.sum(), 3)) * (0.01 if step < 4 else 0.3)
        if step == 3:  # other shapes in the same rows
            a[:50] = rng.integers(0, len(shapes), 50)
        cold, warm = contact_manifolds(shapes, a, b, *poses, margin=0.05), contact_manifolds(shapes, a, b, *poses, 0.05, cache)
        for name in POINTS:
            assert np.array_equal(getattr(cold, name), getattr(warm, name))
        empty = (np.diff(warm.start) == 0) & (a != 3) & (b != 3) & (a != 4) & (b != 4)
        assert empty.sum() > 30
        for k in np.flatnonzero(empty)[::5]:  # the normal is one along which the pair is apart
            turned = [np.tile(v, (1, 1)) for v in (poses[0][k], poses[1][k], poses[2][k] - 1e-6, poses[3][k])]
            assert signed_distances(shapes, a[k : k + 1], b[k : k + 1], *turned).lower[0] > 0
    assert len(cold.points) > 100


def test_times_of_impact_are_the_same_bits_with_a_cache():
    n = 250
    rng, shapes, a, b, poses = crowd(1, n)
    cache, still = PairCache(n), np.zeros((n, 3))
    saved = 0
    for step in range(6):
        poses[2] += rng.normal(size=(n, 3)) * 0.002 * (rng.random((n, 1)) < 0.5)
        if step % 2 == 0:
            v, w = rng.normal(size=(2, n, 3))
            w[b == 3] = 0
        arguments = shapes, a, b, *poses[:2], still, still, *poses[2:], v, w
        cold, warm = times_of_impact(*arguments, duration=0.02), times_of_impact(*arguments, duration=0.02, cache=cache)
        assert np.array_equal(cold.status, warm.status)
        assert np.array_equal(cold.time, warm.time)
        met = cold.status != ImpactStatus.MISS
        assert 20 < met.sum() < n - 50
        for name in ("point", "normal", "distance"):
            assert np.array_equal(getattr(cold, name)[met], getattr(warm, name)[met])
        saved += int(((warm.iterations == 0) & (cold.iterations > 0)).sum())
    assert saved > 100


@pytest.mark.skipif(not DISABLED, reason="kernels are spoiled where they are functions of Python: test_uncompiled.py")
def test_a_cache_that_trusts_too_much_would_be_seen(monkeypatch):
    """Were a pair that was apart taken for apart whatever its motion, impacts would be lost."""
    monkeypatch.setattr(tumble.collision.queries.batch_contacts, "still_missing", lambda *_: True)
    shapes = ShapeSet([Box()])
    upright, still, cache = np.array([[1.0, 0, 0, 0]]), np.zeros((1, 3)), PairCache(1)
    away, toward = np.array([[0.0, 0, 1]]), np.array([[0.0, 0, -1]])
    for v in (away, toward):
        arguments = shapes, [0], [0], still, upright, still, still, np.array([[0.0, 0, 1.2]]), upright, v, still
        cold, warm = times_of_impact(*arguments), times_of_impact(*arguments, cache=cache)
    assert cold.status[0] == ImpactStatus.HIT
    assert warm.status[0] == ImpactStatus.MISS


def test_caches_must_fit():
    _, shapes, a, b, poses = crowd(2, 5)
    with pytest.raises(InputError, match=r"PairCache\(5\)"):
        contact_manifolds(shapes, a, b, *poses, cache=PairCache(4))
    with pytest.raises(InputError, match=r"PairCache\(5\)"):
        times_of_impact(shapes, a, b, *poses[:2], *poses[:1] * 2, *poses[2:], *poses[:1] * 2, cache="warm")


def disc(n):
    angles = np.arange(n) * 2 * np.pi / n
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    return ConvexHull(np.concatenate([np.column_stack([ring, np.full(n, z)]) for z in (-0.1, 0.1)]))


@pytest.mark.parametrize("floor", [HalfSpace(), Box((3, 3, 0.5)), Rounded(Box((3, 3, 0.4)), 0.1)])
def test_patches_may_have_all_their_points(floor):
    coin, sides = disc(40), 40
    pose_a = Pose() if isinstance(floor, HalfSpace) else Pose((0, 0, -0.5))
    at = Pose((0.1, 0.2, 0.1))
    few, many = contact_manifold(floor, pose_a, coin, at), contact_manifold(floor, pose_a, coin, at, max_points=64)
    assert len(few.points) == 8
    assert len(many.points) == sides
    assert np.allclose(np.linalg.norm(many.points[:, :2] - (0.1, 0.2), axis=1), 1, rtol=0, atol=1e-12)
    assert len(set(many.ids.tolist())) == sides
    assert set(few.ids.tolist()) <= set(many.ids.tolist())
    middle = contact_manifold(floor, pose_a, coin, at, max_points=16)
    assert len(middle.points) == 16
    several = contact_manifolds(
        ShapeSet([floor, coin]), [0, 0], [1, 1], [pose_a.position] * 2, [pose_a.orientation] * 2, [at.position] * 2,
        [at.orientation] * 2, max_points=64,
    )  # fmt: skip
    assert len(several.points) == 2 * sides
    assert np.array_equal(several[1].points, many.points)
    assert several.status[0] == Status.TOUCHING


@pytest.mark.parametrize("wrong", [7, 0, True, 8.5, 5000])
def test_a_number_of_points_is_checked(wrong):
    with pytest.raises(InputError, match="max_points"):
        contact_manifold(Box(), Pose(), Box(), Pose(), max_points=wrong)
