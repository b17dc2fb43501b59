"""Cylinders, cones, ellipsoids and capsules: distances proven from outside, closed forms, contact points."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize

from tests.collision.placing import (
    EPS,
    UNTURNED,
    about,
    bounding_radius,
    measure,
    pair_size,
    reach,
    separation,
    shape_of,
    touch,
    turn,
)
from tumble.collision.pose import Pose
from tumble.collision.shapes.definitions import Box, Capsule, Cone, ConvexHull, Cylinder, Ellipsoid, HalfSpace, Sphere
from tumble.collision.status import OVERLAPPING, SEPARATED, TOUCHING, UNCERTAIN

DIRECTIONS = np.random.default_rng(0).normal(size=(3000, 3))
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1)[:, None]
ROUND = ("cylinder", "cone", "ellipsoid", "capsule")
KINDS = (*ROUND, "box", "hull", "sphere")
GAPS = [0.0, 1e-12, -1e-12, 1e-8, -1e-8, 1e-4, -1e-4, 0.1, -0.1, -0.5, 1.0]


def random_shape(rng, kind):
    a, b, c = 10 ** rng.uniform(-1, 1, size=3)
    return shape_of(kind, a, b, c, lambda: rng.normal(size=(rng.integers(1, 30), 3)) * (a, b, c))


def random_pair(seed, kind_a, kind_b, gap):
    """Two bodies about gap times the smaller size apart, some with their axes in line."""
    rng = np.random.default_rng(seed)
    shapes = [random_shape(rng, kind) for kind in (kind_a, kind_b)]
    r = turn(rng) if rng.random() < 0.7 else UNTURNED
    s = turn(rng) if rng.random() < 0.7 else r
    small = min(bounding_radius(shape) for shape in shapes) or 1.0
    a = shapes[0], np.zeros(3), r
    b = shapes[1], rng.normal(size=3) * sum(map(bounding_radius, shapes)) * 0.5, s
    for _ in range(2):
        found = measure(a, b)
        b = b[0], b[1] + (gap * small - found.distance) * found.normal, s
    return a, b


def inside(body, point, slack):
    """Is a world point in a body, by its support function in many directions?"""
    shape, x, r = body
    y = np.asarray(r).T @ (point - x)
    return (DIRECTIONS @ y - reach(shape, DIRECTIONS)).max() <= slack


def prove(a, b, found):
    """No direction found otherwise separates more, the normal separates that much, the points are of the bodies."""
    size = pair_size(a, b)
    slack = 1e-12 * size
    near = found.normal + DIRECTIONS[:1000] * np.logspace(-6, -1, 1000)[:, None]
    near /= np.linalg.norm(near, axis=1)[:, None]
    best = max(separation(a, b, DIRECTIONS).max(), separation(a, b, near).max())
    assert found.lower <= found.distance <= found.upper
    assert best <= found.upper + slack
    assert separation(a, b, found.normal) == pytest.approx(
        found.distance, abs=slack if found.status != UNCERTAIN else 1e-9 * size
    )
    assert inside(a, found.point_a, 1e-9 * size)
    assert inside(b, found.point_b, 1e-9 * size)
    if found.status != UNCERTAIN:
        assert found.upper - found.lower <= 1.001e-9 * size
        assert np.abs(found.point_b - found.point_a - found.distance * found.normal).max() <= 3e-9 * size


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.integers(0, 2**32), st.sampled_from(ROUND), st.sampled_from(KINDS), st.sampled_from(GAPS))
def test_random_pairs_are_proven(seed, kind_a, kind_b, gap):
    a, b = random_pair(seed, kind_a, kind_b, gap)
    found = measure(a, b)
    prove(a, b, found)
    other = measure(b, a)
    bound = 1e-9 * pair_size(a, b)
    assert other.lower <= found.upper
    assert found.lower <= other.upper
    if UNCERTAIN not in (found.status, other.status):
        assert other.distance == pytest.approx(found.distance, abs=bound)
    small = min(bounding_radius(s) for s in (a[0], b[0])) or 1.0
    margin = 10 ** np.random.default_rng(seed).uniform(-6, -0.5) * small
    contact = touch(a, b, margin=margin)
    if abs(found.distance - margin) > bound + 1e-7 * small:
        assert (contact.count > 0) == (found.distance < margin)
    if contact.count:  # no point is deeper than the pair, whatever the margin
        assert np.isfinite(contact.points).all()
        assert contact.gaps.min() == pytest.approx(found.distance, abs=2e-6 * small + bound)
        assert np.abs(np.linalg.norm(contact.dir_a, axis=1) - 1).max() < 1e-9
        assert np.abs(np.linalg.norm(contact.dir_b, axis=1) - 1).max() < 1e-9
        assert len(set(contact.ids.tolist())) == contact.count


def test_few_are_uncertain():
    """Of 600 pairs down to half the smaller body deep."""
    rng = np.random.default_rng(5)
    count = 0
    for seed in range(600):
        a, b = random_pair(seed, rng.choice(ROUND), rng.choice(KINDS), rng.choice(GAPS))
        count += measure(a, b).status == UNCERTAIN
    assert count <= 2


@pytest.mark.parametrize(
    ("box", "cylinder", "turned", "between"),
    [
        (
            (7.263883568924265, 3.60973060440416, 0.6926666632834011),
            (1.9813298176917309, 0.7424462309462654),
            (0.014241393295146993, 0.6524550869959266, -0.17585450557894997, 0.7370038907887353),
            (2.9054664020040204, 5.249842138668203, -1.1273020849414017),
        ),
        (
            (2.989823740646653, 0.4698297646127327, 0.10004423809451395),
            (1.6887179430775896, 0.11942157069941312),
            (-0.389472316047091, -0.18884954947361368, -0.5244875596158742, 0.7331848078791),
            (-2.5173759983577177, -0.24768693503596254, 0.14331372456782082),
        ),
    ],
)
def test_parallel_rims_and_edges_are_searched_to_the_end(box, cylinder, turned, between):
    """Axes in line, a rim that is tangent to a face: the search of all directions has to go beyond 1e-6 rad."""
    r = Pose((0, 0, 0), tuple(np.array(turned) / np.linalg.norm(turned))).matrix()
    a, b = (Box(box), np.zeros(3), r), (Cylinder(*cylinder), np.array(between), r)
    for first, second in ((a, b), (b, a)):
        found = measure(first, second)
        assert found.status == OVERLAPPING
        prove(first, second, found)


@pytest.mark.parametrize("seed", range(25))
def test_distance_and_normal_of_smooth_pairs_by_a_general_minimizer(seed):
    """Two ellipsoids: squared distance of two points, minimised over both surfaces by BFGS; agreement to its accuracy."""
    rng = np.random.default_rng(seed)
    a, b = random_pair(seed, "ellipsoid", "ellipsoid", 0.3)
    found = measure(a, b)

    def surface(body, z):
        shape, x, r = body
        return x + r @ (np.array(shape.radii) * z / np.linalg.norm(z))

    def square(z):
        return np.sum((surface(b, z[3:]) - surface(a, z[:3])) ** 2)

    best = min((minimize(square, rng.normal(size=6), options={"gtol": 1e-14}) for _ in range(6)), key=lambda m: m.fun)
    assert found.status == SEPARATED
    assert found.distance == pytest.approx(math.sqrt(best.fun), rel=1e-8)
    normal = surface(b, best.x[3:]) - surface(a, best.x[:3])
    assert np.linalg.norm(normal / np.linalg.norm(normal) - found.normal) < 1e-3
    # the normal itself: outward on both surfaces at the witness points, to 1e-9
    for body, point, sign in ((a, found.point_a, 1), (b, found.point_b, -1)):
        shape, x, r = body
        outward = r @ ((r.T @ (point - x)) / np.array(shape.radii) ** 2)
        assert np.linalg.norm(outward / np.linalg.norm(outward) - sign * found.normal) < 1e-9


def test_closed_forms():
    lying = about((1, 0, 0), math.pi / 2)
    zero = np.zeros(3)
    cases = [
        # parallel and crossed cylinders, one in the other on the same axis, a cylinder beside a cone
        (Cylinder(0.1, 0.5), UNTURNED, Cylinder(0.2, 0.4), (0.5, 0, 0.1), UNTURNED, 0.2),
        (Cylinder(0.1, 0.5), UNTURNED, Cylinder(0.2, 0.4), (0.5, 0, 0.1), lying, 0.2),
        (Cylinder(0.1, 0.5), UNTURNED, Cylinder(0.2, 0.4), (0, 0, 0), UNTURNED, -0.3),
        (Cylinder(0.1, 0.5), UNTURNED, Cylinder(0.2, 0.4), (0, 0, 0.85), UNTURNED, -0.05),
        (Cone(0.2, 0.5), UNTURNED, Cone(0.1, 0.5), (0, 0, 1.1), UNTURNED, 0.1),
        (Cone(0.2, 0.5), UNTURNED, Sphere(0.1), (0, 0, -0.55), UNTURNED, -0.05),
        (Ellipsoid((0.1, 0.1, 0.4)), UNTURNED, Ellipsoid((0.2, 0.2, 0.3)), (0, 0, 0), UNTURNED, -0.3),
        (Ellipsoid((0.2, 0.2, 0.2)), UNTURNED, Ellipsoid((0.1, 0.1, 0.1)), (0, 0, 0), UNTURNED, -0.3),
        (Capsule(0.2, 0.5), UNTURNED, Capsule(0.1, 0.5), (0, 0, 0), lying, -0.3),
        (Capsule(0.2, 0.5), UNTURNED, Cylinder(0.1, 0.5), (0, 0.2, 0), UNTURNED, -0.1),
        (Box((1, 1, 1)), UNTURNED, Ellipsoid((0.1, 0.2, 0.3)), (0, 0, 1.25), UNTURNED, -0.05),
        (ConvexHull([[0, 0, -1], [0, 0, 1]]), UNTURNED, Cylinder(0.1, 2), (0, 0, 0), UNTURNED, -0.1),
        (ConvexHull([[0, 0, 0]]), UNTURNED, Ellipsoid((0.1, 0.2, 0.3)), (0, 0, 0), UNTURNED, -0.1),
        (ConvexHull([[-1, -1, 0], [1, -1, 0], [0, 1, 0]]), UNTURNED, Cone(0.1, 0.5), (0, 0, 0.5), UNTURNED, 0.0),
    ]
    for a, r, b, x, s, truth in cases:
        found = measure((a, zero, r), (b, np.array(x, float), s))
        assert found.distance == pytest.approx(truth, abs=1e-12), (a, b)
        assert found.lower <= truth <= found.upper
        assert found.status == (SEPARATED if truth > 0 else TOUCHING if truth == 0 else OVERLAPPING), (a, b)
        prove((a, zero, r), (b, np.array(x, float), s), found)


@pytest.mark.parametrize("seed", range(40))
def test_point_and_ellipsoid_by_the_root_of_its_equation(seed):
    """A ball outside against brentq on the plain equation of the foot."""
    rng = np.random.default_rng(seed)
    radii = 10 ** rng.uniform(-1, 1, 3)
    c = rng.normal(size=3)
    c *= 1.5 / np.linalg.norm(c / radii)
    t = brentq(lambda t: np.sum((radii * c / (t + radii**2)) ** 2) - 1, 0, 1e4, xtol=1e-300, rtol=8 * EPS)
    foot = radii**2 * c / (t + radii**2)
    ball = Sphere(1e-3)
    found = measure((Ellipsoid(tuple(radii)), np.zeros(3), UNTURNED), (ball, c, UNTURNED))
    assert found.distance + 1e-3 == pytest.approx(np.linalg.norm(c - foot), rel=1e-11)
    assert found.upper - found.lower <= 32 * EPS * found.size
    assert np.abs(found.point_a - foot).max() < 1e-11 * radii.max()


# ---- contact points ----

LIE = math.asin(0.1 / math.hypot(0.1, 1.0))  # half the opening angle of Cone(0.1, 0.5)
STANDING = {
    # shape, rotation, height of its centre, points, curvatures (sorted, of each point)
    "cylinder on its base": (Cylinder(0.1, 0.5), UNTURNED, 0.5, 8, (1e12, 1e12)),
    "cylinder on its side": (Cylinder(0.1, 0.5), about((1, 0, 0), math.pi / 2), 0.1, 2, (10.0, 1e12)),
    "cylinder on its rim": (
        Cylinder(0.1, 0.5),
        about((1, 0, 0), 0.3),
        0.5 * math.cos(0.3) + 0.1 * math.sin(0.3),
        1,
        (math.sin(0.3) / 0.1, 1e12),
    ),
    "cone on its base": (Cone(0.1, 0.5), UNTURNED, 0.5, 8, (1e12, 1e12)),
    "cone on its apex": (Cone(0.1, 0.5), about((1, 0, 0), math.pi), 0.5, 1, (1e12, 1e12)),
    "cone on its side": (Cone(0.1, 0.5), about((1, 0, 0), math.pi / 2 + LIE), 0.5 * math.sin(LIE), 2, None),
    "capsule on its side": (Capsule(0.1, 0.5), about((1, 0, 0), math.pi / 2), 0.1, 2, (10.0, 10.0)),
    "capsule on its end": (Capsule(0.1, 0.5), UNTURNED, 0.6, 1, (10.0, 10.0)),
    "ellipsoid": (Ellipsoid((0.1, 0.2, 0.3)), UNTURNED, 0.3, 1, (0.3 / 0.04, 0.3 / 0.01)),
    "segment": (ConvexHull([[-1, 0, 0], [1, 0, 0]]), UNTURNED, 0.0, 2, (1e12, 1e12)),
    "triangle": (ConvexHull([[-0.5, 0, 0], [0.5, 0, 0], [0, 0.5, 0]]), UNTURNED, 0.0, 3, (1e12, 1e12)),
    "point": (ConvexHull([[0, 0, 0]]), UNTURNED, 0.0, 1, (1e12, 1e12)),
}
FLOORS = {"plane": (HalfSpace(), 0.0), "box": (Box((2, 2, 1)), 1.0), "wide cylinder": (Cylinder(3.0, 1.0), 1.0)}


@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize("name", STANDING)
def test_points_of_what_stands_on_a_floor(name, floor):
    shape, r, height, count, curvatures = STANDING[name]
    ground, top = FLOORS[floor]
    a = ground, np.zeros(3), UNTURNED
    for spin in (0.0, 0.7):  # about the vertical
        b = shape, np.array([0.05, 0.02, top + height]), about((0, 0, 1), spin) @ r
        contact = touch(a, b, margin=1e-9)
        assert contact.count == count
        assert np.abs(contact.gaps).max() < 1e-14
        assert np.linalg.norm(contact.normal - (0, 0, 1)) < 1e-9
        if curvatures is not None:
            assert np.allclose(np.sort(contact.curvature_b, axis=1), curvatures, rtol=1e-9)
        local = (contact.points - b[1]) @ b[2]
        if "base" in name:  # evenly around the rim
            angles = np.sort(np.arctan2(local[:, 1], local[:, 0]))
            assert np.allclose(np.diff(angles), math.pi / 4, atol=1e-9)
        if "side" in name and "capsule" not in name:
            assert np.sort(local[:, 2]) == pytest.approx([-0.5, 0.5], abs=1e-9)


def test_a_cone_on_its_side_rolls_about_its_apex():
    """Its rim bends by cos(half angle) / radius, its apex is a corner."""
    shape, r, height, _, _ = STANDING["cone on its side"]
    contact = touch((HalfSpace(), np.zeros(3), UNTURNED), (shape, np.array([0, 0, height]), r), margin=1e-9)
    assert sorted(np.sort(contact.curvature_b, axis=1)[:, 0]) == pytest.approx([math.cos(LIE) / 0.1, 1e12])


def test_the_set_does_not_flicker():
    """A standing cylinder that trembles by rounding keeps its points and their order, and so does one on its side."""
    rng = np.random.default_rng(0)
    for name in ("cylinder on its base", "cylinder on its side", "cone on its side", "capsule on its side"):
        shape, r, height, count, _ = STANDING[name]
        for ground, top in FLOORS.values():
            first = None
            for k in range(30):
                tremble = 10.0 ** -rng.integers(10, 17)
                x = np.array([0.05, 0.02, top + height]) + rng.normal(size=3) * tremble
                b = shape, x, about(rng.normal(size=3), tremble) @ r
                contact = touch((ground, np.zeros(3), UNTURNED), b, margin=1e-6)
                assert contact.count == count
                if k == 0:
                    first = contact
                assert np.array_equal(contact.ids, first.ids)
                assert np.abs(contact.points - first.points).max() < 1e-8


def test_a_tilted_base_keeps_the_true_lowest_point():
    """Each point has its own gap; the least is that of the body, whatever way it leans."""
    ground = HalfSpace(), np.zeros(3), UNTURNED
    shape = Cylinder(0.1, 0.5)
    for way in np.linspace(0, 2 * math.pi, 17):
        for lean in (1e-12, 1e-8, 1e-5, 1e-3, 0.1, 0.5):
            r = about((math.cos(way), math.sin(way), 0), lean) @ about((0, 0, 1), 0.3)
            b = shape, np.array([0.0, 0.0, reach(shape, -r[2])]), r
            contact = touch(ground, b, margin=1e-4)
            assert contact.gaps.min() == pytest.approx(0.0, abs=0.1 * lean * 0.08 if lean < 1e-3 else 1e-13)
            assert contact.count == (8 if lean <= 1e-5 else contact.count)
            if lean >= 0.1:
                assert contact.count == 1


PATCHES = {
    # on a box of 0.1 x 2 x 2 m that is narrower: four crossings of the rim and what of the eight is between
    "cylinder over a wall": (
        Box((0.05, 1, 1)),
        Cylinder(0.1, 0.5),
        (0, 0, 1.5),
        UNTURNED,
        lambda p: abs(p[:, 0]).max() <= 0.05 + 1e-9,
    ),
    "box on a cylinder": (Cylinder(0.1, 0.5), Box((0.05, 0.05, 0.05)), (0.0, 0, 0.55), UNTURNED, lambda p: len(p) == 4),
    "box over the rim": (Cylinder(0.1, 0.5), Box((0.05, 0.05, 0.05)), (0.08, 0, 0.55), UNTURNED, lambda p: len(p) >= 4),
    "two cylinders, offset": (Cylinder(0.1, 0.5), Cylinder(0.1, 0.5), (0.08, 0, 1.0), UNTURNED, lambda p: len(p) >= 4),
    "log on a log": (
        Cylinder(0.1, 0.5),
        Cylinder(0.1, 0.3),
        (0, 0.2, 0.4),
        UNTURNED,
        lambda p: len(p) == 2 and np.allclose(np.sort(p[:, 2]), (0.1, 0.5)),
    ),
    "crossed logs": (Cylinder(0.1, 0.5), Cylinder(0.1, 0.3), (0, 0.2, 0.4), about((0, 1, 0), 1.0), lambda p: len(p) == 1),
    "log on an edge": (
        Box((1, 1, 1)),
        Cylinder(0.1, 0.5),
        (1 + 0.1 * 0.6, 0, 1 + 0.1 * 0.8),
        about((1, 0, 0), math.pi / 2),
        lambda p: len(p) == 2 and np.allclose(np.sort(p[:, 1]), (-0.5, 0.5)),
    ),
    "capsule past a box's end": (
        Box((1, 1, 1)),
        Capsule(0.1, 0.5),
        (0.8, 0, 1.1),
        about((0, 1, 0), math.pi / 2),
        lambda p: len(p) == 2 and np.allclose(np.sort(p[:, 0]), (0.3, 1.0)),
    ),
    "capsules side by side": (
        Capsule(0.1, 0.5),
        Capsule(0.2, 0.3),
        (0.3, 0, 0.4),
        UNTURNED,
        lambda p: len(p) == 2 and np.allclose(np.sort(p[:, 2]), (0.1, 0.5)),
    ),
    "cylinder on a triangle": (
        ConvexHull([[-1, -1, 0], [1, -1, 0], [0, 1, 0]]),
        Cylinder(0.1, 0.5),
        (0, 0, 0.5),
        UNTURNED,
        lambda p: len(p) == 8,
    ),
}


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("name", PATCHES)
def test_patches(name, order):
    """Overlaps of flats and lines: corners of one in the other and crossings of outlines, all in touch, whatever the order."""
    ground, shape, x, r, right = PATCHES[name]
    bodies = (ground, np.zeros(3), UNTURNED), (shape, np.array(x, float), r)
    contact = touch(*bodies[::order], margin=1e-9)
    assert right(contact.points)
    assert np.abs(contact.gaps).max() < 1e-13
    assert contact.count <= 8
    for body in bodies:
        assert all(inside(body, p, 1e-9) for p in contact.points)


def test_far_from_the_origin():
    """1e4 sizes away nothing is lost but the rounding of the positions."""
    a, b = (Cylinder(0.1, 0.5), np.zeros(3), UNTURNED), (Cone(0.2, 0.3), np.array([0.4, 0.1, 0.2]), about((1, 2, 3), 0.7))
    here = measure(a, b)
    shift = np.array([1e4, -2e4, 1e4])
    there = measure((a[0], a[1] + shift, a[2]), (b[0], b[1] + shift, b[2]))
    assert there.distance == pytest.approx(here.distance, abs=4 * EPS * 2e4)
    assert np.linalg.norm(there.normal - here.normal) < 1e-9
