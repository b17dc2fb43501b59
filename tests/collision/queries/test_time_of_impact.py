"""Times of impact against closed forms, root finding on known curves, swept differences, and dense looks in between."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import config
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

from tumble.collision import (
    Box,
    Capsule,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    ImpactStatus,
    InputError,
    Motion,
    Pose,
    ShapeSet,
    Sphere,
    signed_distance,
    signed_distances,
    time_of_impact,
)
from tumble.collision.solids.mass_properties import mass_properties

HIT, MISS, OVERLAPPING = ImpactStatus.HIT, ImpactStatus.MISS, ImpactStatus.OVERLAPPING
CUBE = Box((0.5, 0.5, 0.5))


def unit(rng, n=3):
    v = rng.normal(size=n)
    return v / np.linalg.norm(v)


def random_pose(rng, spread=1.0):
    return Pose(spread * rng.normal(size=3), unit(rng, 4))


@pytest.mark.parametrize("seed", range(40))
def test_spheres(seed):
    """|x + v t| = r is a quadratic."""
    rng = np.random.default_rng(seed)
    x, v, r = 5 * unit(rng), rng.normal(size=3) * 3, rng.uniform(0.2, 1.5, 2)
    v -= 3 * x / 5 * rng.random()
    found = time_of_impact(
        Sphere(r[0]), Pose((1, 2, 3)), Sphere(r[1]), Motion(Pose(x + (1, 2, 3)), v, rng.normal(size=3) * 9), 10.0
    )
    roots = np.roots([v @ v, 2 * x @ v, x @ x - r.sum() ** 2])
    if np.isreal(roots).all() and 0 < roots.min() < 10:
        assert found.status is HIT
        assert found.time == pytest.approx(roots.min(), abs=1e-13)
        at = x + roots.min() * v
        assert np.allclose(found.normal, at / np.linalg.norm(at), rtol=0, atol=1e-13)
        assert np.allclose(found.point, (1, 2, 3) + r[0] * found.normal, rtol=0, atol=1e-12)
    else:
        assert found.status is MISS
        assert found.time == 10.0


def test_sphere_and_plane():
    found = time_of_impact(HalfSpace((0, 0, 2)), Motion(Pose(), (0, 0, 1)), Sphere(0.5), Motion(Pose((3, 4, 5)), (1, 0, -2)), 9.0)
    assert found.status is HIT
    assert found.time == pytest.approx(4.5 / 3, abs=1e-12)
    assert np.allclose(found.point, (4.5, 4, 1.5), rtol=0, atol=1e-12)
    assert np.array_equal(found.normal, (0, 0, 1))
    assert time_of_impact(HalfSpace(), Pose(), Sphere(0.5), Motion(Pose((0, 0, 5)), (1, 0, 0.1)), 1e6).status is MISS


@pytest.mark.parametrize("seed", range(5 if config.DISABLE_JIT else 20))
def test_tumbling_box_on_a_plane(seed):
    """The lowest corner by its own formula; its first root by a fine walk and Brent's method."""
    rng = np.random.default_rng(seed)
    half, w, pose, center = rng.uniform(0.1, 1, 3), rng.normal(size=3) * 6, random_pose(rng, 0.1), rng.normal(size=3) * 0.1
    corners = (np.array([(i, j, k) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]) * half - center) @ pose.matrix().T
    start = pose.apply(center) + (0, 0, 4)
    axis, speed = w / np.linalg.norm(w), np.linalg.norm(w)

    def lowest(t):  # Rodrigues
        c, s = math.cos(speed * t), math.sin(speed * t)
        turned = corners * c + np.cross(axis, corners) * s + np.outer(corners @ axis, axis) * (1 - c)
        return turned[:, 2].min() + start[2] - 1.5 * t

    walk = np.linspace(0, 4, 4001)
    first = next(k for k, t in enumerate(walk) if lowest(t) < 0)
    truth = brentq(lowest, walk[first - 1], walk[first], xtol=1e-15)
    placed = Pose(np.array(pose.position) + (0, 0, 4), pose.orientation)
    found = time_of_impact(HalfSpace(), Pose(), Box(half), Motion(placed, (0, 0, -1.5), w, center), 4.0)
    assert found.status is HIT
    slope = (lowest(truth - 1e-6) - lowest(truth + 1e-6)) / 2e-6
    assert found.time <= truth + 1e-12
    assert found.time == pytest.approx(truth, abs=1e-9 * 3 / slope + 1e-12)
    assert found.iterations < 100  # corners that swing close by and miss cost some steps each


def swept(p, q, v, duration):
    """First time at which the origin meets hull(p - q) moving by -v t, by clipping with the planes of the whole hull."""
    from scipy.spatial import ConvexHull as Qhull

    planes = Qhull((p[:, None] - q[None]).reshape(-1, 3)).equations
    enter, leave = 0.0, duration
    for *n, offset in planes:  # n.(v t) + offset <= 0
        slope = np.dot(n, v)
        if slope > 0:
            leave = min(leave, -offset / slope)
        elif slope < 0:
            enter = max(enter, -offset / slope)
        elif offset > 0:
            return None
    return enter if enter <= leave else None


@pytest.mark.parametrize("seed", range(30))
def test_hulls_without_turning(seed):
    rng = np.random.default_rng(seed)
    flat = rng.choice([1.0, 1.0, 0.01], size=3)
    p, q = rng.normal(size=(rng.integers(4, 20), 3)) * flat, rng.normal(size=(rng.integers(4, 20), 3))
    x, va, vb = 6 * unit(rng), rng.normal(size=3), rng.normal(size=3)
    vb = vb - x * rng.uniform(0.2, 1.5)
    truth = swept(p, q + x, vb - va, 20.0)
    found = time_of_impact(ConvexHull(p), Motion(Pose(), va), ConvexHull(q), Motion(Pose(x), vb), 20.0)
    if truth is None:
        assert found.status is MISS
    else:
        assert found.status is HIT
        assert found.time <= truth + 1e-12
        closing = -(vb - va) @ found.normal
        assert found.time == pytest.approx(truth, abs=3e-8 / max(closing, 1e-3) * 0.1 + 1e-12)


def test_spinning_rod_meets_a_small_ball():
    """A thin rod turning at 500 rad/s: the angle at which its long side touches a ball at radius 0.9 is known."""
    rod = Box((1, 0.01, 0.01))
    for spin in (0.5, 50.0, 5000.0):
        found = time_of_impact(rod, Motion(Pose(), (0, 0, 0), (0, 0, spin)), Sphere(0.05), Pose((0, 0.9, 0)), 10.0)
        truth = (math.pi / 2 - math.asin(0.06 / 0.9)) / spin
        assert found.status is HIT
        assert found.time == pytest.approx(truth, abs=3e-9 / spin)
    found = time_of_impact(rod, Motion(Pose(), (0, 0, 0), (0, 0, 50)), Sphere(0.05), Pose((0, 1.051, 0)), 10.0)
    assert found.status is MISS  # it passes 79 times, a millimetre away


SHAPES = [
    lambda rng: Box(rng.choice([0.002, 0.3, 1.0], size=3)),
    lambda rng: Sphere(rng.uniform(0.05, 0.8)),
    lambda rng: Capsule(rng.uniform(0.01, 0.3), rng.uniform(0.2, 1)),
    lambda rng: ConvexHull(rng.normal(size=(12, 3)) * rng.choice([0.01, 0.5, 1], size=3)),
    lambda rng: Cylinder(rng.uniform(0.02, 0.6), rng.uniform(0.02, 0.6)),
    lambda rng: Cone(rng.uniform(0.1, 0.6), rng.uniform(0.1, 0.6)),
    lambda rng: Ellipsoid(rng.choice([0.02, 0.4, 0.9], size=3)),
]


def poses(motion: Motion, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions and orientations (x, y, z, and w first) at many times, by SciPy's rotations."""
    w, x, y, z = motion.pose.orientation
    begin = Rotation.from_quat((x, y, z, w))
    turned = Rotation.from_rotvec(times[:, None] * np.array(motion.angular_velocity)) * begin
    center = np.array(motion.center)
    there = np.array(motion.pose.position) + begin.apply(center) + times[:, None] * np.array(motion.velocity)
    return there - turned.apply(center), turned.as_quat()[:, [3, 0, 1, 2]]


@pytest.mark.parametrize("seed", range(60))
def test_never_misses(seed):
    """Thin and curved shapes that fly and spin fast past each other: what a dense look finds, the search must have found."""
    rng = np.random.default_rng(seed)
    a, b = (SHAPES[rng.integers(len(SHAPES))](rng) for _ in range(2))
    x = 3 * unit(rng)
    motions = [
        Motion(
            random_pose(rng, 0.2), rng.normal(size=3) * 0.5, rng.normal(size=3) * rng.choice([0, 5, 40]), rng.normal(size=3) * 0.2
        ),
        Motion(Pose(x, unit(rng, 4)), -x * rng.uniform(0.5, 3) + rng.normal(size=3), rng.normal(size=3) * rng.choice([0, 5, 40])),
    ]
    found = time_of_impact(a, motions[0], b, motions[1], 2.0)
    assert found.status in (HIT, MISS, OVERLAPPING)
    assert found.iterations < 100
    times = np.linspace(0, 2.0 if found.status is MISS else found.time, 3000)
    if found.status is OVERLAPPING:
        times = np.zeros(1)
    (xa, qa), (xb, qb) = (poses(motion, times) for motion in motions)
    shapes, k = ShapeSet([a, b]), np.zeros(len(times), int)
    near = signed_distances(shapes, k, k + 1, xa, qa, xb, qb)
    if found.status is OVERLAPPING:
        assert near.distance[0] < 0
        return
    assert near.upper.min() > -1e-12  # nothing touches before
    if found.status is HIT:
        end = signed_distance(a, motions[0].at(found.time), b, motions[1].at(found.time))
        assert abs(end.distance) < 2e-8
        assert end.distance == pytest.approx(found.distance, abs=1e-12)


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-8])
def test_grazing(gap):
    """A sphere over a cube's face: it passes at a hair's breadth, or it hits the edge."""
    ball = Sphere(0.5)
    assert time_of_impact(CUBE, Pose(), ball, Motion(Pose((-5, 0, 1 + gap)), (1, 0, 0)), 30.0).status is MISS
    found = time_of_impact(CUBE, Pose(), ball, Motion(Pose((-5, 0, 1 - gap)), (1, 0, 0)), 30.0)
    assert found.status is HIT
    assert found.time == pytest.approx(4.5 - math.sqrt(0.25 - (0.5 - gap) ** 2), abs=1e-9 / math.sqrt(gap))


def test_touching_at_the_start():
    """A hit where it gets deeper, none where the shapes part or slide."""
    on = Pose((0, 0, 1))
    for velocity, status in (
        ((0, 0, -1), HIT),
        ((0.3, 0, -1e-3), HIT),
        ((0, 0, 1), MISS),
        ((1, 0, 0), MISS),
        ((1, 0, 0.1), MISS),
    ):
        found = time_of_impact(CUBE, Pose(), CUBE, Motion(on, velocity), 5.0)
        assert found.status is status, velocity
        assert found.time == (0.0 if status is HIT else 5.0)
    tipping = time_of_impact(CUBE, Pose(), CUBE, Motion(on, (0, 0, 0), (0.2, 0, 0)), 1.0)
    assert (tipping.status, tipping.time) == (HIT, 0.0)
    rolls_back = time_of_impact(HalfSpace(), Pose(), Sphere(0.5), Motion(Pose((0, 0, 0.5)), (1, 0, 0), (0, 9, 0)), 1.0)
    assert rolls_back.status is MISS
    on_end = Pose((0, 0, 1.0), (math.sqrt(0.5), 0, math.sqrt(0.5), 0))  # dips a corner before it is lifted, or does not
    for lift, status in ((0.1, HIT), (0.4, MISS)):
        found = time_of_impact(HalfSpace(), Pose(), Box((1, 0.1, 0.1)), Motion(on_end, (0, 0, lift), (0, 3, 0)), 3.0)
        assert found.status is status
    assert time_of_impact(CUBE, Pose(), CUBE, Pose((0, 0, 0.9)), 1.0).status is OVERLAPPING


def test_compounds_hit_with_their_first_piece():
    table = Compound([(Box((1, 1, 0.1)), Pose((0, 0, 1.0))), (Box((0.1, 0.1, 0.5)), Pose((0.9, 0, 0.4)))])
    found = time_of_impact(table, Motion(Pose((0, 0, 5)), (0, 0, -2)), HalfSpace(), Pose(), 9.0)
    assert found.status is HIT
    assert found.time == pytest.approx((5 + 0.4 - 0.5) / 2, abs=1e-9)
    center = tuple(mass_properties(table).center)
    spun = Motion(Pose((0, 0, 5)), (0, 0, -2), (3, 2, 1), center)
    found = time_of_impact(table, spun, HalfSpace(), Pose(), 9.0)
    before, after = (signed_distance(table, spun.at(found.time + s), HalfSpace(), Pose()).distance for s in (0.0, 1e-6))
    assert 0 <= before < 1e-8
    assert after < 0


def test_the_order_of_pieces_does_not_matter():
    """What hits first ends the search for the others there."""
    rng = np.random.default_rng(4)
    pieces = [(Box(tuple(rng.uniform(0.1, 0.4, 3))), random_pose(rng)) for _ in range(8)]
    motion = Motion(Pose((6, 0, 0)), (-3, 0, 0), (1, 2, 3))
    alone = [time_of_impact(s, p, Sphere(0.8), Motion(Pose((6, 0, 0)), (-3, 0, 0)), 4.0) for s, p in pieces]
    for order in (1, -1):
        found = time_of_impact(Compound(pieces[::order]), Pose(), Sphere(0.8), motion, 4.0)
        assert found.status is HIT
        assert found.time == pytest.approx(min(r.time for r in alone), abs=1e-9)
    assert sum(r.status is HIT for r in alone) >= 2


def test_motions():
    rng = np.random.default_rng(1)
    start, end = random_pose(rng), random_pose(rng)
    for center in ((0, 0, 0), (0.3, -0.2, 0.5)):
        motion = Motion.between(start, end, 2.0, center)
        for pose, t in ((start, 0.0), (end, 2.0)):
            assert np.allclose(motion.at(t).position, pose.position, rtol=0, atol=1e-14)
            assert np.allclose(motion.at(t).matrix(), pose.matrix(), rtol=0, atol=1e-14)
        assert np.linalg.norm(motion.angular_velocity) * 2.0 <= math.pi + 1e-12
        middle = [motion.at(t).apply(center) for t in (0.0, 1.0, 2.0)]
        assert np.allclose(middle[1], (middle[0] + middle[2]) / 2, rtol=0, atol=1e-14)
    assert Motion.between(start, start).angular_velocity == (0, 0, 0)


def test_far_from_the_origin():
    near = time_of_impact(CUBE, Pose(), CUBE, Motion(Pose((0, 0, 3)), (0, 0, -1), (1, 2, 3)), 5.0)
    far = (1e5, -1e5, 1e5)
    there = time_of_impact(CUBE, Pose(far), CUBE, Motion(Pose(np.add(far, (0, 0, 3))), (0, 0, -1), (1, 2, 3)), 5.0)
    assert there.status is near.status is HIT
    assert there.time == pytest.approx(near.time, abs=1e-8)


def test_tolerance_is_a_length():
    motion = Motion(Pose((0, 0, 3)), (0, 0, -1), (1, 2, 3))
    for tolerance in (1e-2, 1e-5, 1e-12):
        found = time_of_impact(CUBE, Pose(), CUBE, motion, 5.0, tolerance)
        assert found.status is HIT
        assert -1e-14 < found.distance <= 2 * max(tolerance, 1e-11)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("cube", Pose(), CUBE, Pose()), "a"),
        ((CUBE, 3, CUBE, Pose()), "motion_a"),
        ((CUBE, Pose(), CUBE, Pose(), -1.0), "duration"),
        ((CUBE, Pose(), CUBE, Pose(), math.inf), "duration"),
        ((CUBE, Pose(), CUBE, Pose(), 1e40), "duration"),
        ((CUBE, Pose(), CUBE, Pose(), 1.0, 0.0), "tolerance"),
        ((HalfSpace(), Motion(Pose(), (0, 0, 0), (1, 0, 0)), CUBE, Pose()), "motion_a"),
    ],
)
def test_errors_name_the_argument(arguments, name):
    with pytest.raises(InputError) as caught:
        time_of_impact(*arguments)
    assert caught.value.name == name
    with pytest.raises(InputError, match="velocity"):
        Motion(Pose(), (1, 2))
    with pytest.raises(InputError, match="angular_velocity = .* must not be beyond 1e\\+30"):
        Motion(Pose(), (0, 0, 0), (0, 0, 1e200))  # whose square is infinite
