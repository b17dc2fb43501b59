"""Shapes with a ball added: every query against what it must be by another way."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from numba import config

from tests.collision.pairs.test_curved import KINDS, random_shape
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
    PairCache,
    Pose,
    Rounded,
    ShapeSet,
    Sphere,
    Status,
    bounding_box,
    collisions,
    contact_manifold,
    contact_manifolds,
    mass_properties,
    ray_cast,
    ray_casts,
    shape_from_dict,
    signed_distance,
    signed_distances,
    time_of_impact,
)
from tumble.collision.narrowphase import manifold
from tumble.collision.shapes.shapeset import packed

CORES = [
    Box((0.4, 0.3, 0.2)),
    ConvexHull(np.random.default_rng(1).normal(size=(14, 3)) * 0.4),
    ConvexHull([(0, 0, 0), (1, 0, 0), (0.2, 0.8, 0)]),
    ConvexHull([(0, 0, -0.3), (0.1, 0.2, 0.3)]),
    ConvexHull([(0.1, 0.2, 0.3)]),
    Cylinder(0.3, 0.4),
    Cone(0.4, 0.3),
    Ellipsoid((0.2, 0.3, 0.5)),
    Capsule(0.2, 0.3),
    Sphere(0.3),
]
NAMES = [f"{type(core).__name__}-{k}" for k, core in enumerate(CORES)]
every_core = pytest.mark.parametrize("core", CORES, ids=NAMES)


def some_pose(rng, spread=1.0):
    q = rng.normal(size=4)
    return Pose(tuple(rng.normal(size=3) * spread), tuple(q / np.linalg.norm(q)))


@pytest.mark.parametrize("kind", KINDS)
def test_a_skin_takes_its_radius_off_every_distance(kind):
    """At any depth: the separation along every direction falls by the radius, and so does the greatest of them."""
    rng = np.random.default_rng(KINDS.index(kind))
    seen = set()
    for k in range(60):
        a, b = random_shape(rng, kind), random_shape(rng, str(rng.choice(KINDS)))
        ra, rb = rng.choice((1e-3, 0.1, 1.0), 2).tolist()
        pose_a, pose_b = some_pose(rng), some_pose(rng, rng.choice((0.5, 3.0, 10.0)))
        core = signed_distance(a, pose_a, b, pose_b)
        with_skins = Rounded(a, ra), pose_a, (Rounded(b, rb) if k % 2 else b), pose_b
        skins = ra + rb * (k % 2)
        found, other = signed_distance(*with_skins), signed_distance(*with_skins[2:], *with_skins[:2])
        assert found.lower <= core.upper - skins
        assert core.lower - skins <= found.upper
        assert found.lower <= other.upper
        assert other.lower <= found.upper
        if core.status is not Status.UNCERTAIN:
            assert found.status is not Status.UNCERTAIN
        gap = found.point_b - found.point_a - found.distance * found.normal
        assert np.abs(gap).max() < 1e-7
        seen.add((found.status, core.distance > 0))
    assert {(Status.SEPARATED, True), (Status.OVERLAPPING, True), (Status.OVERLAPPING, False)} <= seen


def exact_gap(half_a, half_b, offset, radii):
    """Distance of two boxes along the axes with skins, to 40 digits, from the numbers as they are."""
    gaps = [max(abs(Fraction(x)) - Fraction(a) - Fraction(b), 0) for a, b, x in zip(half_a, half_b, offset, strict=True)]
    square = sum(g * g for g in gaps)
    with localcontext() as digits:
        digits.prec = 60
        return (Decimal(square.numerator) / square.denominator).sqrt() - sum(map(Decimal, radii))


def rounded_boxes(seed, n):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        a, b = rng.uniform(0.1, 1.0, (2, 3))
        radii = rng.uniform(0.01, 0.5, 2)
        offset = rng.choice((-1.0, 1.0), 3) * (a + b) + rng.choice((-1.0, 0.0, 1.0), 3) * rng.uniform(0, radii.sum() * 1.2, 3)
        if any(abs(x) > p + q for p, q, x in zip(a, b, offset, strict=True)):
            yield a.tolist(), b.tolist(), offset.tolist(), radii.tolist()


def kept(lower, upper, exact) -> bool:
    return Decimal(float(lower)) <= exact <= Decimal(float(upper))


def test_intervals_of_rounded_boxes_hold_the_exact_distance():
    """Single, batch, warm, both orders; within them skins that touch or overlap with the cores apart."""
    pairs = list(rounded_boxes(0, 800))
    shapes, exact = [], [exact_gap(*pair) for pair in pairs]
    for a, b, _, (ra, rb) in pairs:
        shapes += [Rounded(Box(a), ra), Rounded(Box(b), rb)]
    n = len(pairs)
    x, y, upright = np.zeros((n, 3)), np.array([offset for _, _, offset, _ in pairs]), np.tile((1.0, 0, 0, 0), (n, 1))
    cache, packed_shapes = PairCache(n), ShapeSet(shapes)
    i, j = np.arange(0, 2 * n, 2), np.arange(1, 2 * n, 2)
    for _ in range(2):
        batch = signed_distances(packed_shapes, i, j, x, upright, y, upright, cache=cache)
        swapped = signed_distances(packed_shapes, j, i, y, upright, x, upright)
        for k in range(n):
            assert kept(batch.lower[k], batch.upper[k], exact[k])
            assert kept(swapped.lower[k], swapped.upper[k], exact[k])
        assert (batch.upper - batch.lower).max() < 1e-13
    for k in range(0, n, 9):
        one = signed_distance(shapes[2 * k], Pose(), shapes[2 * k + 1], Pose(tuple(y[k])))
        assert kept(one.lower, one.upper, exact[k])
    met = np.array([value <= 0 for value in exact])
    assert 0.1 < met.mean() < 0.9
    assert np.array_equal(collisions(packed_shapes, i, j, x, upright, y, upright), met)


def test_a_skin_that_is_off_would_be_seen():
    a, b, offset, radii = next(rounded_boxes(0, 9))
    wrong = [radii[0] * (1 + 1e-12), radii[1]]
    found = signed_distance(Rounded(Box(a), wrong[0]), Pose(), Rounded(Box(b), wrong[1]), Pose(tuple(offset)))
    assert not kept(found.lower, found.upper, exact_gap(a, b, offset, radii))


def test_skins_that_touch_need_no_search_in_depth():
    """As many iterations as the cores take that are apart; the depth of cores takes more."""
    rng = np.random.default_rng(3)
    hull = ConvexHull(rng.normal(size=(40, 3)))
    more = 0
    for _ in range(30):
        pose_a, pose_b = some_pose(rng), some_pose(rng, 3.0)
        core = signed_distance(hull, pose_a, hull, pose_b)
        if core.distance <= 0:
            continue
        rounded = Rounded(hull, 0.6 * core.distance)
        found = signed_distance(rounded, pose_a, rounded, pose_b)
        assert found.status is Status.OVERLAPPING
        assert found.iterations == core.iterations
        sharp = Pose(tuple(np.array(pose_b.position) - 1.2 * core.distance * core.normal), pose_b.orientation)
        more += signed_distance(hull, pose_a, hull, sharp).iterations > core.iterations
    assert more > 2


@pytest.mark.parametrize(
    ("rounded", "plain"),
    [
        (Rounded(Sphere(0.3), 0.2), Sphere(0.5)),
        (Rounded(Capsule(0.3, 0.4), 0.2), Capsule(0.5, 0.4)),
        (Rounded(ConvexHull([(0, 0, 0)]), 0.5), Sphere(0.5)),
        (Rounded(ConvexHull([(0, 0, -0.4), (0, 0, 0.4)]), 0.5), Capsule(0.5, 0.4)),
        (Rounded(Ellipsoid((0.3, 0.3, 0.3)), 0.2), Sphere(0.5)),
        (Rounded(Rounded(Box((0.3, 0.2, 0.1)), 0.2), 0.1), Rounded(Box((0.3, 0.2, 0.1)), 0.3)),
    ],
)
def test_what_is_another_shape_is_that_shape(rounded, plain):
    rng = np.random.default_rng(5)
    m, n = mass_properties(rounded), mass_properties(plain)
    assert m.volume == pytest.approx(n.volume, rel=1e-13)
    assert np.allclose(m.inertia, n.inertia, rtol=1e-13, atol=1e-15)
    for _ in range(20):
        pose, other = some_pose(rng, 1.5), random_shape(rng, str(rng.choice(KINDS)))
        a, b = (signed_distance(s, pose, other, Pose()) for s in (rounded, plain))
        assert a.lower <= b.upper
        assert b.lower <= a.upper
        o, d = rng.normal(size=3) * 3, rng.normal(size=3)
        a, b = (ray_cast(s, pose, o, d) for s in (rounded, plain))
        assert (a is None) == (b is None)
        if a:
            assert a.distance == pytest.approx(b.distance, abs=1e-12)
        boxes = [bounding_box(s, pose) for s in (rounded, plain)]
        assert np.allclose(boxes[0], boxes[1], rtol=0, atol=1e-14)


def test_bounding_boxes_are_support_functions():
    rng = np.random.default_rng(7)
    for core in CORES:
        pose = some_pose(rng)
        lo, hi = bounding_box(core, pose)
        low, high = bounding_box(Rounded(core, 0.25), pose)
        assert np.allclose(low, lo - 0.25, rtol=0, atol=1e-14)
        assert np.allclose(high, hi + 0.25, rtol=0, atol=1e-14)


# --- mass


def moments_by_lines(shape, lo, hi, n=120):
    """Volume, centre and second moments from the chords of rays along x: Gauss's rule in y, their lengths exact."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    y, wy = (lo[1] + hi[1]) / 2 + nodes * (hi[1] - lo[1]) / 2, weights * (hi[1] - lo[1]) / 2
    z, wz = (lo[2] + hi[2]) / 2 + nodes * (hi[2] - lo[2]) / 2, weights * (hi[2] - lo[2]) / 2
    yy, zz = (v.ravel() for v in np.meshgrid(y, z, indexing="ij"))
    w = np.outer(wy, wz).ravel()
    starts = np.column_stack([np.full(n * n, lo[0] - 1.0), yy, zz]), np.column_stack([np.full(n * n, hi[0] + 1.0), yy, zz])
    a = lo[0] - 1.0 + ray_casts(shape, Pose(), starts[0], (1, 0, 0)).distance
    b = hi[0] + 1.0 - ray_casts(shape, Pose(), starts[1], (-1, 0, 0)).distance
    hit = np.isfinite(a) & np.isfinite(b)
    a, b, yy, zz, w = a[hit], b[hit], yy[hit], zz[hit], w[hit]
    volume = w @ (b - a)
    center = np.array([w @ (b**2 - a**2) / 2, w @ ((b - a) * yy), w @ ((b - a) * zz)]) / volume
    squares = np.array([w @ (b**3 - a**3) / 3, w @ ((b - a) * yy**2), w @ ((b - a) * zz**2)]) - volume * center**2
    return volume, center, squares.sum() - squares


@every_core
def test_mass_is_that_of_the_chords(core):
    shape = Rounded(core, 0.17)
    m, (volume, center, moments) = mass_properties(shape), moments_by_lines(shape, *bounding_box(shape, Pose()))
    assert m.volume == pytest.approx(volume, rel=1e-3)  # what the chords are off by: the smallest piece is a hundred times that
    assert np.allclose(m.center, center, rtol=0, atol=1e-3)
    assert np.allclose(np.diag(m.inertia), moments, rtol=3e-3)


def test_mass_by_steiner_formula():
    a, b, c, r = 0.8, 0.6, 0.4, 0.17
    m = mass_properties(Rounded(Box((a / 2, b / 2, c / 2)), r))
    volume = a * b * c + 2 * r * (a * b + b * c + c * a) + math.pi * r * r * (a + b + c) + 4 / 3 * math.pi * r**3
    assert m.volume == pytest.approx(volume, rel=1e-14)
    radius, h = 0.3, 0.4
    side, caps = 4 * math.pi * radius * h, 2 * math.pi * radius**2
    mean_width = 2 * math.pi * h + math.pi**2 * radius  # the integral of the mean curvature of a cylinder
    volume = math.pi * radius**2 * 2 * h + (side + caps) * r + mean_width * r * r + 4 / 3 * math.pi * r**3
    assert mass_properties(Rounded(Cylinder(radius, h), r)).volume == pytest.approx(volume, rel=1e-14)


@every_core
def test_mass_turns_with_the_shape(core):
    """A hull that is moved has its moments moved: all pieces of Steiner's formula are in their places."""
    if not isinstance(core, ConvexHull):
        return
    pose = some_pose(np.random.default_rng(9))
    m = mass_properties(Rounded(core, 0.2))
    n = mass_properties(Rounded(ConvexHull(pose.apply(core.vertices)), 0.2))
    r = pose.matrix()
    assert n.volume == pytest.approx(m.volume, rel=1e-12)
    assert np.allclose(n.center, pose.apply(m.center), rtol=0, atol=1e-12)
    assert np.allclose(n.inertia, r @ m.inertia @ r.T, rtol=0, atol=1e-12 * np.abs(m.inertia).max())


def test_mass_of_a_slender_ellipsoid_is_refused_or_right():
    short = mass_properties(Rounded(Ellipsoid((1.0, 0.05, 0.02)), 0.01))
    hull = mass_properties(Rounded(Ellipsoid((1.0, 0.05, 0.02 * (1 + 1e-9))), 0.01))
    assert short.volume == pytest.approx(hull.volume, rel=1e-7)
    with pytest.raises(InputError, match="too slender"):
        mass_properties(Rounded(Ellipsoid((1.0, 1e-8, 1e-8)), 1e-9))


# --- rays


def test_rays_at_a_rounded_box_are_those_at_its_pieces():
    """It is three boxes and twelve capsules: closed forms of other shapes."""
    h, r = (0.4, 0.3, 0.2), 0.15
    boxes = [(Box(tuple(v + r * (i == k) for i, v in enumerate(h))), Pose()) for k in range(3)]
    turns = {0: Pose.from_euler_xyz((0, math.pi / 2, 0)), 1: Pose.from_euler_xyz((math.pi / 2, 0, 0)), 2: Pose()}
    rods = []
    for k, signs in itertools.product(range(3), itertools.product((-1, 1), repeat=2)):
        at = [0.0, 0.0, 0.0]
        for axis, s in zip([i for i in range(3) if i != k], signs, strict=True):
            at[axis] = s * h[axis]
        rods.append((Capsule(r, h[k]), Pose(tuple(at), turns[k].orientation)))
    pieces, shape = Compound(boxes + rods), Rounded(Box(h), r)
    rng, n = np.random.default_rng(11), 600 if config.DISABLE_JIT else 3000
    origins = rng.normal(size=(n, 3)) * 2
    aims = rng.uniform(-0.6, 0.6, (n, 3)) - origins
    expected, found = ray_casts(pieces, Pose(), origins, aims), ray_casts(shape, Pose(), origins, aims)
    assert 0.33 * n < np.isfinite(found.distance).sum() < 0.97 * n
    assert np.array_equal(np.isfinite(expected.distance), np.isfinite(found.distance))
    assert np.nanmax(np.abs(expected.normal - found.normal)) < 1e-6
    hit = np.isfinite(found.distance)
    assert np.abs(expected.distance - found.distance)[hit].max() < 1e-12


@every_core
def test_rays_hit_the_surface_and_miss_what_they_pass(core):
    rng = np.random.default_rng(13)
    shape, point = Rounded(core, 0.2), ConvexHull([(0, 0, 0)])
    sides = ShapeSet([core, point])
    size = packed(shape).radius[0]
    origins = rng.normal(size=(300, 3))
    origins *= 3 * size / np.linalg.norm(origins, axis=1)[:, None]
    aims = rng.normal(size=(300, 3)) * 0.5 * size - origins
    found = ray_casts(shape, Pose(), origins, aims)
    hit = np.isfinite(found.distance)
    assert 40 < hit.sum() < 290

    def away(x):
        n = len(x)
        turns = np.tile((1.0, 0, 0, 0), (n, 1))
        return signed_distances(sides, np.zeros(n, int), np.ones(n, int), np.zeros((n, 3)), turns, x, turns)

    there = away(found.point[hit])
    assert np.abs(there.distance - 0.2).max() < 1e-9
    assert np.abs(there.normal - found.normal[hit]).max() < 1e-6
    d = aims / np.linalg.norm(aims, axis=1)[:, None]
    for t in np.linspace(0, 6 * size, 60):  # before a hit, and all along a miss, the ray is outside
        on = t < np.where(hit, found.distance - 1e-9, np.inf)
        assert (away((origins + t * d)[on]).distance > 0.2 - 1e-12).all()
    inside = ray_cast(shape, Pose(), tuple(mass_properties(shape).center), (1, 2, 3))
    assert inside.inside
    assert inside.distance == 0


# --- moving, touching


def test_times_of_impact_do_not_ask_whose_the_skin_is():
    rng = np.random.default_rng(17)
    hits = 0
    for k in range(60):
        a, b = CORES[k % len(CORES)], CORES[(3 * k + 1) % len(CORES)]
        start = some_pose(rng, 2.0)
        motion = Motion(start, tuple(-2 * np.array(start.position) + rng.normal(size=3)), tuple(rng.normal(size=3) * 3))
        one = time_of_impact(Rounded(a, 0.15), Pose(), b, motion, tolerance=1e-10)
        other = time_of_impact(a, Pose(), Rounded(b, 0.15), motion, tolerance=1e-10)
        assert one.status is other.status
        if one.status is ImpactStatus.HIT and one.time > 0:
            hits += 1
            assert one.time == pytest.approx(other.time, abs=1e-6)
            assert abs(signed_distance(Rounded(a, 0.15), Pose(), b, motion.at(one.time)).distance) < 1e-8
    assert hits > 5
    drop = time_of_impact(HalfSpace(), Pose(), Rounded(Box((0.4, 0.4, 0.4)), 0.1), Motion(Pose((0, 0, 2)), (0, 0, -1)), 5.0)
    assert drop.time == pytest.approx(1.5, abs=1e-8)


def test_a_soft_box_stands_on_its_faces():
    soft = Rounded(Box((0.4, 0.4, 0.4)), 0.1)
    for other, pose in (
        (HalfSpace(), Pose()),
        (Box((2, 2, 0.5)), Pose((0, 0, -0.5))),
        (Rounded(Box((2, 2, 0.4)), 0.1), Pose((0, 0, -0.5))),
    ):
        for tilt in (0.0, 1e-9):
            at = Pose.from_euler_xyz((tilt, 0, 0), (0.1, 0.2, 0.499))
            m = contact_manifold(other, pose, soft, at)
            assert m.normal.tolist() == pytest.approx([0, 0, 1], abs=1e-8)
            assert sorted(map(tuple, np.round(m.points[:, :2] - (0.1, 0.2), 6))) == [
                (-0.4, -0.4),
                (-0.4, 0.4),
                (0.4, -0.4),
                (0.4, 0.4),
            ]
            assert np.allclose(m.gaps, -0.001, rtol=0, atol=1e-8)
            assert np.allclose(m.points[:, 2], -0.0005, rtol=0, atol=1e-8)


def test_points_of_many_pairs_are_those_of_one():
    rng = np.random.default_rng(19)
    shapes = ShapeSet([Rounded(core, 0.1) for core in CORES] + [HalfSpace(), Box()])
    n = 150
    a, b = rng.integers(0, len(shapes), (2, n))
    poses = [[some_pose(rng, 0.5) for _ in range(n)] for _ in "ab"]
    columns = [np.array(c) for side in poses for c in ([p.position for p in side], [p.orientation for p in side])]
    many = contact_manifolds(shapes, a, b, *columns, margin=0.02)
    touching = 0
    for k in range(n):
        one = contact_manifold(shapes.shapes[a[k]], poses[0][k], shapes.shapes[b[k]], poses[1][k], margin=0.02)
        assert np.allclose(one.points, many[k].points, rtol=0, atol=1e-9)
        assert one.ids.tolist() == many[k].ids.tolist()
        touching += len(one.points) > 0
        near = signed_distance(shapes.shapes[a[k]], poses[0][k], shapes.shapes[b[k]], poses[1][k])
        if len(one.points) and math.isfinite(near.distance) and near.distance > -0.05:
            assert one.gaps.min() == pytest.approx(near.distance, abs=2e-3)
    assert touching > 30


def bends(a, b, height):
    """Curvatures of B's feature over the one of A at the deepest point."""
    g = ShapeSet([a, b]).geometry
    rows, ids = np.zeros((8, 14)), np.zeros(8, np.int64)
    places = ((0.0, 0.0, 0.0), (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0)), ((0.0, 0.0, height), (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0))
    count, *_ = manifold(g, 0, *places[0], 1, *places[1], 0.01, (0.0, 0.0, 0.0), rows, ids)
    assert count > 0
    return rows[0, 12:14].tolist()


def test_edges_and_corners_are_as_round_as_their_skins():
    tent = ConvexHull([(-0.5, 0, 0), (0.5, 0, 0), (-0.5, 0.3, 1), (0.5, 0.3, 1), (-0.5, -0.3, 1), (0.5, -0.3, 1)])
    spike = ConvexHull([(0, 0, 0), (1, 0, 1), (-1, 1, 1), (-1, -1, 1)])
    for floor in (HalfSpace(), Box((3, 3, 1e-3))):
        top = 0.0 if isinstance(floor, HalfSpace) else 1e-3
        assert bends(floor, Rounded(spike, 0.2), top + 0.2) == pytest.approx([5.0, 5.0])
    for sphere in (Sphere(1.0), Rounded(ConvexHull([(0, 0, 0)]), 1.0)):
        assert bends(sphere, Rounded(spike, 0.2), 1.2) == pytest.approx([5.0, 5.0])
        assert bends(sphere, Rounded(tent, 0.2), 1.2) == pytest.approx([0.0, 5.0], abs=1e-9)
        assert bends(sphere, Rounded(Ellipsoid((0.2, 0.2, 0.1)), 0.1), 1.2) == pytest.approx([1 / 0.5, 1 / 0.5])


# --- values and files


def test_errors_name_what_is_wrong():
    with pytest.raises(InputError, match="half-space"):
        Rounded(HalfSpace(), 0.1)
    with pytest.raises(InputError, match="round each of its parts"):
        Rounded(Compound([(Box(), Pose())]), 0.1)
    with pytest.raises(InputError, match="must be a convex shape"):
        Rounded("box", 0.1)
    with pytest.raises(InputError, match="radius"):
        Rounded(Box(), 0.0)
    with pytest.raises(InputError, match="missing"):
        shape_from_dict({"type": "rounded", "radius": 0.1})


@every_core
def test_shapes_go_to_files_and_back(core):
    shape = Rounded(core, 0.1)
    assert shape_from_dict(shape.to_dict()) == shape
    assert hash(shape_from_dict(shape.to_dict())) == hash(shape)
    assert shape != Rounded(core, 0.2)
