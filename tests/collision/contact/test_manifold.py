"""Contact points: how many, where, their gaps, and that they do not flicker."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numba.core import config

from tests.collision.placing import EPS, UNTURNED, about, measure, touch, turn, vertices
from tumble.collision.contact import polytope_manifold
from tumble.collision.geometry import SHARP
from tumble.collision.pose import Pose
from tumble.collision.queries.proximity import contact_manifold, signed_distance
from tumble.collision.shapes.definitions import Box, Cone, ConvexHull, Cylinder, HalfSpace, Sphere
from tumble.collision.status import Status

FEW = config.DISABLE_JIT  # uncompiled: fewer repetitions
CUBE = Box((0.5, 0.5, 0.5))
BRICK = Box((0.3, 0.4, 0.2))
CORNERS = np.array(list(itertools.product((-1, 1), repeat=3)), float)
CUBE_HULL = ConvexHull(CORNERS * 0.5)
BRICK_HULL = ConvexHull(CORNERS * (0.3, 0.4, 0.2))
PAIRS = {"boxes": (CUBE, BRICK), "hulls": (CUBE_HULL, BRICK_HULL), "mixed": (CUBE, BRICK_HULL), "alike": (CUBE, CUBE)}


def height(shape):
    return shape.half_extents[2] if isinstance(shape, Box) else shape.vertices[:, 2].max()


def on_top(pair, lift, tilt=UNTURNED, offset=(0.0, 0.0), world=UNTURNED, at=(0.0, 0.0, 0.0)):
    """Body B on body A: lifted by a gap, tilted, shifted; then both moved rigidly."""
    a, b = pair
    x = np.array([*offset, height(a) + height(b) + lift])
    at = np.array(at, float)
    return (a, at, world), (b, at + world @ x, world @ tilt)


STATES = {
    "kissing": (0.0, UNTURNED),
    "sunk": (-1e-12, UNTURNED),
    "open": (2e-5, UNTURNED),
    "askew": (0.0, about((1, 0.7, 0.2), 1e-9)),
    "askew and sunk": (-1e-12, about((-0.3, 1, 5), 1e-9)),
    "askew and open": (2e-5, about((-0.3, 1, -2), 1e-9)),
}


@pytest.mark.parametrize("world", [0, 1])
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("pair", PAIRS)
def test_a_box_on_a_box_has_the_same_four_points(pair, state, world):
    rng = np.random.default_rng(5)
    world, at = (UNTURNED, (0, 0, 0)) if world == 0 else (turn(rng), rng.normal(size=3) * 100)
    lift, tilt = STATES[state]
    kissing = touch(*on_top(PAIRS[pair], 0.0), margin=1e-4)
    a, b = on_top(PAIRS[pair], lift, tilt, world=world, at=at)
    found = touch(a, b, margin=1e-4)
    assert found.count == 4
    assert set(found.ids) == set(kissing.ids)
    # the normal is that of the face, to the last bits: it carries no noise of a search
    up, up_b = a[2][:, 2], b[2][:, 2]
    assert min(np.abs(found.normal - up).max(), np.abs(found.normal - up_b).max()) <= 3 * EPS
    # each gap is the distance of a lower corner of B from the top of A, or of an upper corner of A from the bottom of B
    rounding = 8 * EPS * (found.size + np.linalg.norm(at))
    reference_a = np.abs(found.normal - up).max() <= np.abs(found.normal - up_b).max()
    corners = vertices(b, a[1]) if reference_a else vertices(a, a[1])
    for point, gap in zip(found.points, found.gaps, strict=True):
        other = point - at + (0.5 if reference_a else -0.5) * gap * found.normal
        nearest = np.abs(corners - other).max(axis=1).min()
        assert nearest <= rounding or pair == "alike"
        assert gap == pytest.approx(lift, abs=2e-9 if "askew" in state else rounding)
        plane = (point - at) @ up - height(a[0]) if reference_a else (point - b[1]) @ up_b + height(b[0])
        assert plane == pytest.approx((0.5 if reference_a else -0.5) * gap, abs=rounding)


@pytest.mark.parametrize("pair", PAIRS)
def test_jitter_changes_neither_the_points_nor_their_order(pair):
    """As a box at rest moves: tilts of 1e-9 and shifts of 1e-10, the normal of the last step as the warm axis."""
    rng = np.random.default_rng(7)
    last = touch(*on_top(PAIRS[pair], 0.0), margin=1e-4)
    first = last
    for _ in range(20 if FEW else 300):
        tilt = about(rng.normal(size=3), 1e-9 * rng.random())
        found = touch(*on_top(PAIRS[pair], 1e-10 * rng.normal(), tilt, 1e-10 * rng.normal(size=2)), margin=1e-4, axis=last.normal)
        assert sorted(found.ids) == sorted(first.ids)
        moved = [np.abs(first.points - p).max(axis=1).min() for p in found.points]
        assert max(moved) < 1e-8
        last = found


@pytest.mark.parametrize("depth", [1e-5, 1e-4, 1e-2])
@pytest.mark.parametrize("pair", PAIRS)
def test_a_box_that_rocks_deep_in_another_keeps_its_face(pair, depth):
    """Askew by a hundredth of a thousandth of the depth two edges are less deep than any face, by less still."""
    names = set()
    for k in range(12 if FEW else 60):
        tilt = about((1, 0.5, 0), 1e-3 * depth * math.sin(k))
        found = touch(*on_top(PAIRS[pair], -depth, tilt, (0.1 + 1e-3 * k, 0.05)))
        assert found.count == 4
        assert found.gaps == pytest.approx(-depth, rel=0.01)
        names.add(tuple(found.ids.tolist()))
    assert len(names) == 1


def test_overhang():
    """Corners of the overlap: two of B, one of A, and where edges cross."""
    found = touch(*on_top((CUBE, CUBE), 0.0, offset=(0.25, 0.5)), margin=1e-6)
    expected = {(-0.25, 0.0, 0.5), (-0.25, 0.5, 0.5), (0.5, 0.0, 0.5), (0.5, 0.5, 0.5)}
    assert {tuple(p) for p in found.points} == expected
    assert np.array_equal(found.gaps, np.zeros(4))
    assert np.array_equal(found.curvature_a, np.zeros((4, 2)))
    assert np.array_equal(found.curvature_b, np.full((4, 2), SHARP))
    again = touch(*on_top((CUBE, CUBE), 0.0, offset=(0.2501, 0.4999)), margin=1e-6)
    assert set(again.ids) == set(found.ids)


def test_octagon():
    found = touch(*on_top((CUBE, CUBE), 0.0, about((0, 0, 1), math.pi / 4)), margin=1e-6)
    assert found.count == 8
    assert len(set(found.ids)) == 8
    reach = math.hypot(0.5, math.sqrt(0.5) - 0.5)
    assert np.allclose(np.linalg.norm(found.points[:, :2], axis=1), reach, rtol=0, atol=4 * EPS)


@pytest.mark.parametrize("world", [0, 1])
@pytest.mark.parametrize("ground", ["half-space", "box", "hull"])
def test_a_box_on_its_edge_and_on_its_corner(ground, world):
    grounds = {"half-space": HalfSpace(), "box": Box((3, 3, 1)), "hull": ConvexHull(CORNERS * (3, 3, 1))}
    top = 0.0 if ground == "half-space" else 1.0
    ground = grounds[ground]
    rng = np.random.default_rng(1)
    world = turn(rng) if world else UNTURNED
    size = 6.0
    for box in (CUBE, CUBE_HULL):
        r = about((0, 1, 0), math.pi / 4)
        low = (CORNERS * 0.5 @ r.T)[:, 2].min()
        found = touch((ground, (0, 0, 0), world), (box, world @ (0, 0, top - low), world @ r), margin=1e-4)
        assert found.count == 2
        assert np.abs(found.gaps).max() <= 8 * EPS * size
        local = found.points @ world
        assert np.allclose(np.sort(local[:, 1]), (-0.5, 0.5), rtol=0, atol=8 * EPS * size)
        assert np.array_equal(found.curvature_a, np.zeros((2, 2)))
        assert np.array_equal(found.curvature_b, np.full((2, 2), SHARP))
        assert np.abs(found.normal - world[:, 2]).max() <= 3 * EPS
        r = about((1, -1, 0), math.atan(math.sqrt(2)))
        low = (CORNERS * 0.5 @ r.T)[:, 2].min()
        found = touch((ground, (0, 0, 0), world), (box, world @ (0, 0, top - low), world @ r), margin=1e-4)
        assert found.count == 1
        assert np.abs(found.gaps).max() <= 8 * EPS * size
        assert np.abs((found.points @ world)[0, :2] - (r @ CORNERS.T * 0.5)[:2, (CORNERS @ r.T)[:, 2].argmin()]).max() < 1e-14


@pytest.mark.parametrize("gap", [2e-5, 0.0, -1e-12, -1e-3])
@pytest.mark.parametrize("shape", [CUBE, CUBE_HULL])
def test_crossed_edges_have_one_point_and_both_directions(shape, gap):
    r, s = about((1, 0, 0), math.pi / 4), about((0, 1, 0), math.pi / 4)
    x = np.array([0.03, -0.02, math.sqrt(2) + gap])
    found = touch((shape, (0, 0, 0), r), (shape, x, s), margin=1e-4)
    assert found.count == 1
    assert np.allclose(found.normal, (0, 0, 1), rtol=0, atol=4 * EPS)
    assert found.gaps[0] == pytest.approx(gap, abs=16 * EPS)
    assert np.allclose(found.points[0], (0.03, 0.0, math.sqrt(0.5) + gap / 2), rtol=0, atol=1e-15)
    assert abs(found.dir_a[0] @ (1, 0, 0)) == pytest.approx(1, abs=1e-15)
    assert abs(found.dir_b[0] @ (0, 1, 0)) == pytest.approx(1, abs=1e-15)
    assert np.array_equal(found.curvature_a[0], (0, SHARP))
    assert np.array_equal(found.curvature_b[0], (0, SHARP))


def test_sphere_on_face_edge_vertex_and_sphere():
    ball = Sphere(0.25)
    for shape in (CUBE, CUBE_HULL):
        body = (shape, (0, 0, 0), UNTURNED)
        face = touch(body, (ball, (0.1, 0.2, 0.75), UNTURNED), margin=1e-6)
        assert np.array_equal(face.normal, (0, 0, 1))
        assert abs(face.gaps[0]) <= 4 * EPS
        assert np.array_equal(face.curvature_a[0], (0, 0))
        assert np.array_equal(face.curvature_b[0], (4, 4))
        side = 0.5 + 0.25 * math.sqrt(0.5)
        edge = touch((ball, (side, 0.1, side), UNTURNED), body, margin=1e-6)
        assert np.allclose(edge.normal, (-math.sqrt(0.5), 0, -math.sqrt(0.5)), rtol=0, atol=4 * EPS)
        assert np.array_equal(np.abs(edge.dir_b[0]), (0, 1, 0))
        assert np.array_equal(edge.curvature_b[0], (0, SHARP))
        assert np.allclose(edge.points[0], (0.5, 0.1, 0.5), rtol=0, atol=4 * EPS)
        corner = 0.5 + 0.25 / math.sqrt(3)
        vertex = touch((ball, (corner, corner, corner), UNTURNED), body, margin=1e-6)
        assert np.array_equal(vertex.curvature_b[0], (SHARP, SHARP))
        assert vertex.count == 1
    both = touch((ball, (0, 0, 0), UNTURNED), (Sphere(0.5), (0, 0.75, 0), UNTURNED))
    assert np.array_equal(both.curvature_a[0], (4, 4))
    assert np.array_equal(both.curvature_b[0], (2, 2))
    assert np.array_equal(both.points[0], (0, 0.25, 0))


def test_warm_axis_keeps_the_reference_face():
    """Two faces 4e-5 askew are as good as each other: the one of the last step stays."""
    tilt = about((0.3, 1, 0), 4e-5)
    a, b = on_top((CUBE, CUBE), 2e-5, tilt)
    of_a, of_b = a[2][:, 2], b[2][:, 2]
    assert np.array_equal(touch(a, b, margin=1e-4).normal, of_a)
    assert np.array_equal(touch(a, b, margin=1e-4, axis=of_a).normal, of_a)
    assert np.abs(touch(a, b, margin=1e-4, axis=of_b).normal - of_b).max() <= EPS
    assert touch(a, b, margin=1e-4).count == touch(a, b, margin=1e-4, axis=of_b).count == 4


def test_swapping_the_bodies_swaps_the_rows():
    for a, b in (on_top((CUBE, BRICK), -1e-6, about((1, 2, 3), 0.01)), v_on_face()):
        one, two = touch(a, b, margin=1e-3), touch(b, a, margin=1e-3)
        assert one.count == two.count
        assert np.allclose(one.normal, -two.normal, rtol=0, atol=1e-15)
        order = [int(np.abs(two.points - p).max(axis=1).argmin()) for p in one.points]
        assert np.allclose(two.points[order], one.points, rtol=0, atol=1e-14)
        assert np.allclose(two.gaps[order], one.gaps, rtol=0, atol=1e-14)
        assert np.array_equal(two.curvature_a[order], one.curvature_b)
        assert np.allclose(np.abs(np.sum(two.dir_a[order] * one.dir_b, axis=1)), 1, rtol=0, atol=1e-15)  # a line has no sign


def v_on_face():
    return (HalfSpace(), (0, 0, 0), UNTURNED), (CUBE, (0, 0, math.sqrt(0.5)), about((0, 1, 0), math.pi / 4))


@pytest.mark.parametrize("ground", [HalfSpace(), Box((5, 5, 1)), ConvexHull(CORNERS * (5, 5, 1))])
def test_many_points_are_thinned_to_eight_that_hold_the_deepest_and_the_rim(ground):
    angles = np.arange(64) * 2 * math.pi / 64
    rim = np.column_stack([np.cos(angles), np.sin(angles)])
    prism = ConvexHull(np.vstack([np.column_stack([rim, np.full(64, z)]) for z in (-0.5, 0.5)]))
    top = 0.0 if isinstance(ground, HalfSpace) else 1.0
    tilt = about((0.2, 1, 0), 1e-5)
    found = touch((ground, (0, 0, 0), UNTURNED), (prism, (0, 0, top + 0.5), tilt), margin=1e-4)
    assert found.count == 8
    low = (vertices((prism, np.zeros(3), tilt), 0.0)[:, 2] + 0.5).min()
    assert found.gaps.min() == pytest.approx(low, abs=1e-15)
    around = np.sort(np.arctan2(found.points[:, 1], found.points[:, 0]))
    steps = np.diff(np.append(around, around[0] + 2 * math.pi))
    assert steps.max() < math.pi / 2  # no quarter of the rim without a point
    assert len(set(found.ids)) == 8


def test_far_from_the_origin():
    """1e6 m out the gaps lose nothing: the positions are subtracted first, and their difference is exact."""
    lift = 2.0**-20
    near = touch(*on_top((CUBE, CUBE), lift, offset=(0.25, 0.125)), margin=1e-4)
    far = touch(*on_top((CUBE, CUBE), lift, offset=(0.25, 0.125), at=(2.0**20, -(2.0**19), 2.0**21)), margin=1e-4)
    assert np.array_equal(near.gaps, np.full(4, lift))
    assert np.array_equal(far.gaps, near.gaps)
    assert np.array_equal(far.ids, near.ids)


@pytest.mark.parametrize("seed", range(3 if FEW else 40))
def test_no_contact_is_lost_or_made_up(seed):
    """Random boxes near each other: there are points exactly where the certified distance says so; each is a contact."""
    rng = np.random.default_rng(seed)
    for _ in range(10):
        shapes = [Box(tuple(rng.uniform(0.1, 1, 3))) for _ in range(2)]
        if rng.random() < 0.5:
            shapes[1] = ConvexHull(rng.normal(size=(int(rng.integers(1, 20)), 3)))
        a, b = (shapes[0], np.zeros(3), turn(rng)), (shapes[1], rng.normal(size=3), turn(rng))
        found = measure(a, b)
        margin = 10 ** rng.uniform(-8, -2)
        b = b[0], b[1] + (rng.uniform(-1, 2) * margin - found.distance) * found.normal, b[2]
        found, contact = measure(a, b), touch(a, b, margin=margin)
        slack = 1e-6 * found.size
        if found.lower <= margin:
            assert contact.count > 0
            assert contact.gaps.min() <= found.distance + margin + slack
            assert contact.gaps.min() >= found.distance - margin - slack
            assert np.isfinite(contact.points).all()
            assert np.abs(contact.dir_a @ contact.normal).max() < 1e-6
        elif found.distance > margin + slack:
            assert contact.count == 0


def test_witness_points_alone_would_give_a_noisy_normal():
    """The failing twin: at a gap of 1e-9 the difference of two points of the faces is far off the normal of the face."""
    rng = np.random.default_rng(2)
    a, b = on_top((CUBE_HULL, BRICK_HULL), 1e-9, world=turn(rng), at=(10, 20, 30))
    contact, found = touch(a, b, margin=1e-4), measure(a, b)
    assert np.abs(contact.normal - a[2][:, 2]).max() <= 3 * EPS
    difference = found.point_b - found.point_a
    assert np.abs(difference / np.linalg.norm(difference) - a[2][:, 2]).max() > 1e-9


@pytest.mark.parametrize("pair", PAIRS)
def test_manifolds_are_as_certain_as_distances(pair):
    """Boxes that all but touch, a little askew: their distance is that of edges or corners, on no axis of a face."""
    rng = np.random.default_rng(9)
    for _ in range(20 if FEW else 400):
        tilt = about(rng.normal(size=3), 10.0 ** rng.uniform(-9, -2))
        a, b = on_top(PAIRS[pair], rng.choice((1e-3, 1e-5, 1e-7, -1e-6)), tilt, rng.uniform(-1, 1, 2), turn(rng))
        found, known = touch(a, b, margin=1e-2), measure(a, b)
        assert known.status != Status.UNCERTAIN
        if known.lower > 1.01e-2:
            assert found.status == Status.BEYOND_MARGIN
            assert found.count == 0
        elif known.upper < 0.99e-2:
            assert found.status == known.status
            assert found.count > 0


@pytest.mark.parametrize("shape", [Cylinder(0.1, 0.01), Cone(0.1, 0.1)])
@pytest.mark.parametrize("tilt", [1e-5, 1e-3, 0.03])
@pytest.mark.parametrize("margin", [1e-6, 1e-3, 0.05])
def test_a_rim_has_its_lowest_point(shape, tilt, margin):
    """However far points are wanted: the nearest of them is as near as the shapes are."""
    for angle in (0.2, 0.5, 2.9):
        q = Pose(orientation=(math.cos(angle / 2), 0, 0, math.sin(angle / 2)))
        pose = Pose((0, 0, 0.2)) @ Pose(orientation=(math.cos(tilt / 2), math.sin(tilt / 2), 0, 0)) @ q
        floor = HalfSpace()
        height = signed_distance(floor, Pose(), shape, pose).distance
        pose = Pose((0, 0, 0.2 - height)) @ Pose(orientation=pose.orientation)
        gaps = contact_manifold(floor, Pose(), shape, pose, margin=margin).gaps
        assert abs(gaps.min()) < 1e-15 + 1e-8 * 0.1 * tilt


def hulls_that_hardly_meet(seed, deep=1e-5):
    """Two hulls of 0.2 m, each with its pose, turned at random, and moved on to each other until they meet."""
    rng = np.random.default_rng(seed)
    a, b = (ConvexHull(rng.normal(size=(rng.integers(6, 20), 3)) * 0.1) for _ in range(2))
    one, two = (tuple(q / np.linalg.norm(q)) for q in rng.normal(size=(2, 4)))
    x = rng.normal(size=3)
    x *= 0.6 / np.linalg.norm(x)
    apart = signed_distance(a, ((0, 0, 0), one), b, (x, two))
    return a, ((0, 0, 0), one), b, (x - (apart.distance + deep) * np.array(apart.normal), two)


def test_an_overlap_beside_a_face_is_seen(monkeypatch):
    """The face that faces the other body most is not deep where the points on it are: they were all apart."""
    pair = hulls_that_hardly_meet(5146)
    deep = signed_distance(*pair).distance
    assert deep < -1e-7
    assert contact_manifold(*pair, margin=0.02).gaps.min() == pytest.approx(deep, rel=0.02)
    if FEW:  # the failing twin
        monkeypatch.setattr(polytope_manifold, "_deep_enough", lambda low, thin: math.inf)
        assert contact_manifold(*pair, margin=0.02).gaps.min() > 1e-7


def test_no_face_hides_an_overlap():
    for seed in range(20 if FEW else 400):
        pair = hulls_that_hardly_meet(seed, 1e-4)
        deep = signed_distance(*pair).distance
        assert contact_manifold(*pair, margin=0.02).gaps.min(initial=1.0) <= 0.98 * min(deep, 0.0) + 1e-9 or deep > 0.0
