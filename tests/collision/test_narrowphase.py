"""Signed distance of pairs: exact cases, closed forms, and other methods on random pairs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numba import config
from scipy.spatial import ConvexHull as Qhull

from tests.collision.placing import (
    CASES,
    EPS,
    UNTURNED,
    about,
    bounding_radius,
    case_body,
    measure,
    pair_size,
    radius,
    separation,
    touch,
    turn,
    vertices,
)
from tumble.collision.shapes.definitions import Box, ConvexHull, HalfSpace, Sphere
from tumble.collision.status import BEYOND_MARGIN, OVERLAPPING, SEPARATED, TOUCHING, UNCERTAIN

CUBE = Box((0.5, 0.5, 0.5))


def verify(a, b, found):
    """What any answer must satisfy: it is checked by a scan of all vertices, not by the program's own bounds."""
    tolerance = 300 * EPS * (pair_size(a, b) + np.linalg.norm(a[1]))
    assert found.status != UNCERTAIN
    assert found.lower <= found.distance <= found.upper
    assert found.upper - found.lower <= tolerance
    assert abs(np.linalg.norm(found.normal) - 1) <= 4 * EPS
    assert separation(a, b, found.normal) == pytest.approx(found.distance, abs=tolerance)
    slack = tolerance + 1e-9 * found.size
    assert np.abs(found.point_b - found.point_a - found.distance * found.normal).max() <= slack


@pytest.mark.parametrize("shift", [0.0, 1e4])
@pytest.mark.parametrize("order", ["ab", "ba"])
@pytest.mark.parametrize("name", CASES)
def test_case(name, order, shift):
    case = CASES[name]
    bodies = {side: case_body(case[side]) for side in "ab"}
    a, b = ((s, x + (shift, 0, 0), r) for s, x, r in (bodies[side] for side in order))
    sign = 1 if order == "ab" else -1
    found = measure(a, b)
    moved = 4 * shift * EPS  # adding the shift rounds the positions
    truth = case["distance"]
    assert found.distance == pytest.approx(truth, abs=case["tolerance"] + moved)
    assert found.lower - moved <= truth <= found.upper + moved
    assert found.status != UNCERTAIN
    if case["normal"] is not None:
        assert np.linalg.norm(found.normal - sign * np.array(case["normal"])) < 3e-5
    if case["on_a"] is not None:
        smaller = min(2 * bounding_radius(body[0]) for body in (a, b)) or 1.0
        on = {"a": np.array(case["on_a"]), "b": np.array(case["on_b"])}
        assert np.abs(found.point_a - (shift, 0, 0) - on[order[0]]).max() <= 1e-6 * smaller + moved
        assert np.abs(found.point_b - (shift, 0, 0) - on[order[1]]).max() <= 1e-6 * smaller + moved
    if truth <= 0:
        assert touch(a, b).count > 0


# Cases with a stated count. Deep pairs have more points than corners of the two features; that of the mesh, a tenth of
# its size deep, too.
COUNTED = [
    name
    for name, case in CASES.items()
    if case["contacts"] and case["distance"] <= 1e-6 and "deep" not in case["tags"] and name != "warp-mesh2"
]


@pytest.mark.parametrize("name", COUNTED)
def test_contacts_of_the_full_patch(name):
    """As many points as the overlap of the two features has corners, eight at most."""
    case = CASES[name]
    a, b = case_body(case["a"]), case_body(case["b"])
    thin = min(bounding_radius(body[0]) for body in (a, b))
    assert touch(a, b, margin=1e-6 * thin).count == min(case["contacts"], 8)


V33 = {
    "apart": ((0.3, 0.2, 0.4), about((1, 2, 3), 1.1), (0.3, 0.5, 0.45), None, 0.3202212755626, None),
    "edges apart": (
        (0.6, 0.2, 0.2),
        about((1, 0, 0), math.pi / 4),
        (0, 0, 0.3),
        ((0.25, 0.8, 0.25), about((0, 1, 0), math.pi / 4), (0, 0, -0.05)),
        0.031801948466054,
        (0, 0, -1),
    ),
    "deep": (
        (0.3, 0.2, 0.4),
        about((1, 2, 3), 1.1),
        (0.1, 0.12, 0.14),
        None,
        -0.10975382018911,
        (0, -0.9999875758, -0.004984800256),
    ),
    "edges": (
        (0.6, 0.2, 0.2),
        about((1, 0, 0), math.pi / 4),
        (0, 0, 0.25),
        ((0.25, 0.8, 0.25), about((0, 1, 0), math.pi / 4), (0, 0, -0.05)),
        -0.018198051533946,
        (0, 0, -1),
    ),
}


def v33_bodies(name, shift=0.0):
    size, r, x, second, _, _ = V33[name]
    size_b, r_b, x_b = second or ((0.5, 0.1, 0.25), UNTURNED, (0, 0, 0))
    make = lambda s, x, r: (Box(tuple(np.array(s) / 2)), np.array(x, float) + (shift, 0, 0), r)  # noqa: E731
    return make(size, x, r), make(size_b, x_b, r_b)


@pytest.mark.parametrize("shift", [0.0, 1e4])
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("name", V33)
def test_cuboids_of_the_validation_book(name, order, shift):
    truth, normal = V33[name][4:]
    a, b = v33_bodies(name, shift)[::order]
    rng = np.random.default_rng(3)
    for axis in [(0, 0, 0), *rng.normal(size=(5, 3))]:  # whatever the start
        axis = np.array(axis) / (np.linalg.norm(axis) or 1)
        found = measure(a, b, axis=axis)
        assert found.distance == pytest.approx(truth, abs=1e-8 if shift else 1e-9)
        if normal:
            assert np.linalg.norm(order * found.normal - normal) < 1e-6
        verify(a, b, found)
    if "edges" in name:
        assert np.abs((found.point_a - found.point_b)[:2]).max() < 1e-9
        contact = touch(a, b, margin=0.04)
        assert contact.count == 1
        assert np.array_equal(contact.curvature_a, [[0.0, 1e12]])
        assert np.array_equal(contact.curvature_b, [[0.0, 1e12]])


def test_touching_faces_give_the_normal_of_the_face():
    found = measure((CUBE, (0, 0, 0), UNTURNED), (CUBE, (0.25, 0.125, 1.0), UNTURNED))
    assert found.status == TOUCHING
    assert np.array_equal(found.normal, (0, 0, 1))


# ---- random pairs ----


def random_hull(rng, count, form):
    v = rng.normal(size=(count, 3))
    v /= np.linalg.norm(v, axis=1)[:, None]
    if form == "plate":
        v *= (1, 1, 0.02)
    elif form == "needle":
        v *= (1, 0.02, 0.02)
    elif form == "lattice":
        v = rng.integers(-2, 3, size=(count, 3)).astype(float)
    elif form == "scale":
        v *= 10 ** rng.uniform(-2, 2)
    return ConvexHull(v)


def random_pair(seed, gap, solid=False):
    """Two hulls at a signed distance of about gap times the smaller size, some with parallel faces."""
    rng = np.random.default_rng(seed)
    forms = ("ball", "plate", "needle", "lattice", "scale")
    shapes = [random_hull(rng, int(rng.integers(6 if solid else 1, 30)), rng.choice(forms)) for _ in range(2)]
    turned = rng.random() < 0.6
    r, s = (turn(rng), turn(rng)) if turned else (UNTURNED, UNTURNED)
    a = shapes[0], np.zeros(3), r
    b = shapes[1], rng.normal(size=3), s
    small = min(max(np.ptp(h.vertices, axis=0).max(), 1e-2) for h in shapes)
    for _ in range(2):
        found = measure(a, b)
        b = b[0], b[1] + (gap * small - found.distance) * found.normal, s
    return a, b


GAPS = [0.0, 1e-15, -1e-15, 1e-12, -1e-12, 1e-8, -1e-8, 1e-4, -1e-4, 0.3, -0.3]


@settings(max_examples=250, deadline=None, derandomize=True)
@given(st.integers(0, 2**32), st.sampled_from(GAPS))
def test_random_hulls_by_support_planes_and_witnesses(seed, gap):
    """Apart, the support plane and the witness points prove the answer: no method is trusted."""
    a, b = random_pair(seed, gap)
    found = measure(a, b)
    verify(a, b, found)
    other = measure(b, a)
    assert other.distance == pytest.approx(found.distance, abs=300 * EPS * found.size)
    for body, point in ((a, found.point_a), (b, found.point_b)):
        v = vertices(body, 0.0)
        if np.linalg.matrix_rank(v - v[0], tol=1e-6 * np.ptp(v, axis=0).max()) == 3:
            planes = Qhull(v, qhull_options="QJ" if len(v) > 40 else "Qt").equations
            assert (planes[:, :3] @ point + planes[:, 3]).max() <= 1e-6 * found.size


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 2**32), st.sampled_from([-1e-3, -0.05, -0.3]))
def test_depth_is_that_of_the_hull_of_the_minkowski_difference(seed, gap):
    a, b = random_pair(seed, gap, solid=True)
    found = measure(a, b)
    assume(found.distance < 0)  # plates and needles have no such depth
    difference = (vertices(b, 0.0)[:, None, :] - vertices(a, 0.0)[None, :, :]).reshape(-1, 3)
    depth = -Qhull(difference).equations[:, 3].max()
    assert found.distance == pytest.approx(-depth, abs=1e-12 * found.size)


@settings(max_examples=90, deadline=None, derandomize=True)
@given(st.integers(0, 2**32), st.sampled_from(GAPS))
def test_boxes_agree_with_the_same_boxes_as_hulls(seed, gap):
    """Fifteen axes in closed form against the routine for any hull."""
    rng = np.random.default_rng(seed)
    halves = [tuple(10 ** rng.uniform(-1, 1, 3)) for _ in range(2)]
    boxes = [Box(h) for h in halves]
    hulls = [ConvexHull(np.array(list(itertools.product((-1, 1), repeat=3))) * h) for h in halves]
    r, s = turn(rng), turn(rng) if rng.random() < 0.7 else UNTURNED
    x = rng.normal(size=3)
    found = measure((boxes[0], (0, 0, 0), r), (boxes[1], x, s))
    x = x + (gap * min(*halves[0], *halves[1]) - found.distance) * found.normal
    results = [measure((p, (0, 0, 0), r), (q, x, s)) for p in (boxes[0], hulls[0]) for q in (boxes[1], hulls[1])]
    for result in results:
        verify((boxes[0], np.zeros(3), r), (boxes[1], x, s), result)
        assert result.distance == pytest.approx(results[0].distance, abs=300 * EPS * result.size)


@settings(max_examples=90, deadline=None, derandomize=True)
@given(st.integers(0, 2**32))
def test_sphere_and_box_agree_with_sphere_and_hull(seed):
    rng = np.random.default_rng(seed)
    h = 10 ** rng.uniform(-1, 0.5, 3)
    ball = Sphere(10 ** rng.uniform(-2, 1))
    hull = ConvexHull(np.array(list(itertools.product((-1, 1), repeat=3))) * h)
    x = rng.normal(size=3) * h * rng.choice([0.3, 1.0, 2.0])
    r = turn(rng)
    found = measure((ball, x, UNTURNED), (Box(tuple(h)), (0, 0, 0), r))
    verify((ball, x, UNTURNED), (Box(tuple(h)), np.zeros(3), r), found)
    other = measure((ball, x, UNTURNED), (hull, (0, 0, 0), r))
    assert other.distance == pytest.approx(found.distance, abs=300 * EPS * found.size)
    local = r.T @ x  # the closed form of Quilez: length of the outside part, plus the inside part
    d = np.abs(local) - h
    truth = np.linalg.norm(np.maximum(d, 0)) + min(d.max(), 0) - ball.radius
    assert found.distance == pytest.approx(truth, abs=300 * EPS * found.size)
    assert np.linalg.norm(other.normal - found.normal) < 1e-6 or d.max() < 0  # inside, faces may tie


@pytest.mark.parametrize("x", [(0, 0, 0), (0.5, 0, 0), (0.5, 0.5, 0.5), (0.5, 0.5, 0)])
def test_sphere_centred_in_or_on_a_box_has_a_direction(x):
    ball = Sphere(0.1), x, UNTURNED
    for other in (CUBE, ConvexHull(np.array(list(itertools.product((-0.5, 0.5), repeat=3))))):
        found = measure(ball, (other, (0, 0, 0), UNTURNED))
        depth = 0.1 + 0.5 - max(abs(c) for c in x)
        assert found.distance == pytest.approx(-depth, abs=1e-15)
        assert np.linalg.norm(found.normal) == 1.0


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.integers(0, 2**32))
def test_half_space_against_the_lowest_vertex(seed):
    rng = np.random.default_rng(seed)
    ground = HalfSpace(tuple(rng.normal(size=3)), rng.normal())
    x, r, y, s = rng.normal(size=3), turn(rng), rng.normal(size=3) * 10 ** rng.uniform(-1, 3), turn(rng)
    n = r @ ground.normal
    for shape in (Box(tuple(rng.uniform(0.1, 1, 3))), random_hull(rng, 12, "ball"), Sphere(0.7)):
        body = shape, y, s
        truth = (vertices(body, x) @ n).min() - radius(shape) - ground.offset
        for order in (1, -1):
            found = measure(*((ground, x, r), body)[::order])
            assert found.distance == pytest.approx(truth, abs=300 * EPS * (np.linalg.norm(y) + 5))
            assert found.lower <= found.distance <= found.upper
            assert np.allclose(order * found.normal, n, rtol=0, atol=1e-15)


def test_two_half_spaces():
    up, down = HalfSpace(), HalfSpace((0, 0, -1), 0.0)
    apart = measure((up, (0, 0, 0), UNTURNED), (down, (3, 4, 2.5), UNTURNED))
    assert (apart.status, apart.distance) == (SEPARATED, 2.5)
    crossed = measure((up, (0, 0, 0), UNTURNED), (up, (0, 0, -9), UNTURNED))
    assert (crossed.status, crossed.distance) == (OVERLAPPING, -math.inf)
    assert touch((up, (0, 0, 0), UNTURNED), (up, (0, 0, -9), UNTURNED)).count == 0
    r = turn(np.random.default_rng(3))
    for z in (2.5, -2.5):  # opposed but for rounding: certain of nothing
        turned = measure((up, (0, 0, 0), r), (HalfSpace(r @ (0, 0, -1)), r @ (0, 0, z), UNTURNED))
        assert turned.lower <= z <= turned.upper


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 2**32), st.sampled_from([0.3, 1e-4, -1e-4, -0.3]))
def test_margin_and_warm_axis_do_not_change_the_answer(seed, gap):
    a, b = random_pair(seed, gap)
    rng = np.random.default_rng(seed)
    found = measure(a, b)
    for axis in (found.normal, -found.normal, rng.normal(size=3)):
        warm = measure(a, b, axis=axis / np.linalg.norm(axis))
        assert warm.distance == pytest.approx(found.distance, abs=300 * EPS * found.size)
    wide = measure(a, b, margin=abs(found.distance) + 1.0)
    assert wide.distance == pytest.approx(found.distance, abs=300 * EPS * found.size)
    if found.distance > 0:
        short = measure(a, b, margin=0.5 * found.distance)
        assert short.status == BEYOND_MARGIN
        assert 0.5 * found.distance < short.lower <= found.upper


@pytest.mark.parametrize("name", CASES)
def test_rigid_motion(name):
    """Twenty motions, in both orders; they round positions, which the bound allows for."""
    case = CASES[name]
    rng = np.random.default_rng(len(name))
    a, b = case_body(case["a"]), case_body(case["b"])
    size = pair_size(a, b)
    for k in range(20):
        r, x = turn(rng), rng.uniform(-1, 1, size=3) * size
        moved = [(s, r @ y + x, r @ q) for s, y, q in (a, b)]
        found = measure(*(moved if k % 2 else moved[::-1]))
        far = max(np.abs(y).max() for _, y, _ in moved)
        assert found.distance == pytest.approx(case["distance"], abs=case["tolerance"] + 64 * EPS * (size + far))
        assert found.status != UNCERTAIN


DEGENERATE = {
    "point": [[0, 0, 0]],
    "segment": [[0, 0, 0], [1, 0, 0]],
    "crossing segment": [[0.5, -1, 0], [0.5, 1, 0]],
    "long segment": [[-1e4, 0, 0], [1e4, 0, 0]],
    "triangle": [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
    "upright triangle": [[0, 0, -1], [1, 0, 1], [0.5, 0, 1]],
    "needle": [[0, 0, 0], [1, 0, 0], [1, 1e-9, 0], [1, 0, 1e-9]],
    "speck": list(np.array(list(itertools.product((-1, 1), repeat=3))) * 1e-7),
    "cube": list(itertools.product((0, 1), repeat=3)),
    "ball": list(random_hull(np.random.default_rng(0), 30, "ball").vertices),
}


SHIFTS = [(0, 0, 0), (0, 0, 1e-12), (0, 0, 1), (1e-16, 0, 0), (0.5, 0.5, 0.5), (3, 0, 0)]


@pytest.mark.parametrize("shift", SHIFTS[: 3 if config.DISABLE_JIT else 6])
def test_degenerate_pairs_end_and_are_proven(shift):
    for (name_a, a), (name_b, b) in itertools.product(DEGENERATE.items(), repeat=2):
        body_a, body_b = (ConvexHull(a), np.zeros(3), UNTURNED), (ConvexHull(b), np.array(shift, float), UNTURNED)
        found = measure(body_a, body_b)
        pair = f"{name_a} and {name_b}"
        values = [found.distance, found.lower, found.upper, *found.normal, *found.point_a, *found.point_b]
        assert np.isfinite(values).all(), pair
        assert separation(body_a, body_b, found.normal) == pytest.approx(found.distance, abs=300 * EPS * found.size), pair
        contact = touch(body_a, body_b, margin=1e-6)
        assert (contact.count > 0) == (found.lower <= 1e-6), pair
        assert np.isfinite(contact.points).all(), pair
