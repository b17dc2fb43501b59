"""Shapes known by a support function in Python: what kernels say of the same shape, and the certificate."""

from __future__ import annotations

import numpy as np
import pytest

from tumble.collision import (
    Box,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    InputError,
    Pose,
    Proximity,
    Rounded,
    ShapeSet,
    Sphere,
    Status,
    SupportShape,
    colliding,
    contact_manifold,
    mass_properties,
    ray_cast,
    signed_distance,
)

RADII = np.array((0.3, 0.4, 0.5))
POINTS = np.random.default_rng(0).normal(size=(20, 3)) * 0.4
PAIRS = [
    (SupportShape(lambda d: RADII**2 * d / np.linalg.norm(RADII * d), radius=0.5), Ellipsoid(tuple(RADII))),
    (SupportShape(lambda d: np.where(d > 0, RADII, -RADII), radius=0.8), Box(tuple(RADII))),
    (SupportShape(lambda d: POINTS[np.argmax(POINTS @ d)], radius=2.0), ConvexHull(POINTS)),
    (SupportShape(lambda d: 0.4 * d, radius=0.4), Sphere(0.4)),
]
OTHERS = [Cylinder(0.3, 0.4), Box((0.2, 0.5, 0.3)), Cone(0.4, 0.3), HalfSpace(), Rounded(Box((0.2, 0.2, 0.2)), 0.1), PAIRS[0][0]]


@pytest.mark.parametrize(("shape", "known"), PAIRS, ids=[type(known).__name__ for _, known in PAIRS])
def test_answers_are_those_of_kernels(shape, known):
    rng = np.random.default_rng(1)
    seen = set()
    for k in range(24):
        q = rng.normal(size=4)
        pose = Pose(tuple(rng.normal(size=3) * (0.3, 1.5)[k % 2]), tuple(q / np.linalg.norm(q)))
        other = OTHERS[k % len(OTHERS)]
        like = PAIRS[0][1] if other is PAIRS[0][0] else other
        found, kernel = signed_distance(shape, pose, other, Pose()), signed_distance(known, pose, like, Pose())
        turned = signed_distance(other, Pose(), shape, pose)
        for answer in (found, turned):
            assert answer.lower <= kernel.upper
            assert kernel.lower <= answer.upper
            assert answer.status is kernel.status
        assert found.distance == pytest.approx(kernel.distance, abs=2e-9)
        assert np.abs(found.point_b - found.point_a - found.distance * found.normal).max() < 1e-6
        assert colliding(shape, pose, other, Pose()) == (found.lower <= 0)
        seen.add(found.status)
    assert {Status.SEPARATED, Status.OVERLAPPING} <= seen


def test_the_interval_holds_the_truth():
    """A box told by a function, over a box: 0.25 is exact in binary."""
    box = SupportShape(lambda d: np.where(d > 0, 0.5, -0.5), radius=1.0)
    for z, exact in ((1.25, 0.25), (0.75, -0.25), (1.0, 0.0)):
        found = signed_distance(Box(), Pose(), box, Pose((0.1, 0.2, z)))
        assert found.lower <= exact <= found.upper
        assert found.upper - found.lower < 1e-8
    assert signed_distance(Box(), Pose(), box, Pose((0, 0, 1.25)), margin=0.1).status is Status.BEYOND_MARGIN
    blurred = SupportShape(box.support, radius=1.0, error=1e-3)
    found = signed_distance(Box(), Pose(), blurred, Pose((0, 0, 1.25)))
    assert found.upper - found.lower >= 2e-3
    assert found.lower <= 0.25 <= found.upper


def test_compounds_and_proximity_take_them():
    ball = SupportShape(lambda d: 0.4 * d, radius=0.4)
    pair = Compound([(ball, Pose((1, 0, 0))), (Box((0.1, 0.1, 0.1)), Pose((-1, 0, 0)))])
    assert signed_distance(pair, Pose(), Sphere(0.5), Pose((3, 0, 0))).distance == pytest.approx(1.1, abs=1e-12)
    assert signed_distance(pair, Pose(), Sphere(0.5), Pose((-3, 0, 0))).distance == pytest.approx(1.4, abs=1e-12)
    p = Proximity(ball, Box(), pose_b=Pose((0.8, 0, 0)))
    assert p.penetration.depth == pytest.approx(0.1, abs=1e-8)


def test_a_function_that_is_none_is_told():
    wrong = SupportShape(lambda d: -RADII * d, radius=0.5)
    with pytest.raises(InputError, match="is not the furthest point"):
        signed_distance(wrong, Pose(), Sphere(), Pose((2, 0, 0)))
    with pytest.raises(InputError, match="is beyond the ball"):
        signed_distance(SupportShape(lambda d: 2 * d, radius=0.5), Pose(), Sphere(), Pose((2, 0, 0)))
    with pytest.raises(InputError, match=r"must be a point \(3,\)"):
        signed_distance(SupportShape(lambda d: None, radius=0.5), Pose(), Sphere(), Pose((2, 0, 0)))
    with pytest.raises(InputError, match="must be a function"):
        SupportShape((1, 2, 3), radius=1.0)


@pytest.mark.parametrize(
    "ask",
    [
        lambda s: ShapeSet([s]),
        lambda s: mass_properties(s),
        lambda s: contact_manifold(s, Pose(), Box(), Pose()),
        lambda s: ray_cast(s, Pose(), (0, 0, 9), (0, 0, -1)),
        lambda s: Rounded(s, 0.1),
        lambda s: s.to_dict(),
    ],
)
def test_what_kernels_do_refuses_them(ask):
    with pytest.raises(InputError):
        ask(PAIRS[0][0])
