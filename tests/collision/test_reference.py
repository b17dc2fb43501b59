"""The NumPy twin against what is known without it: worked examples, closed forms, Qhull, non-negative least squares."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.spatial import ConvexHull as Qhull

from tests.collision.placing import COLLECTED, EPS, collected_body, measure, turn
from tumble.collision import Box, Capsule, Cone, ConvexHull, Cylinder, Ellipsoid, HalfSpace, InputError, Pose, Sphere, reference
from tumble.collision.reference import Corner
from tumble.collision.reference import numpy_epa as epa_module
from tumble.collision.reference import numpy_gjk as gjk_module


def case_body(data, origin):
    """A side of a case as it stands: printed matrices are used even where they are a little off a rotation."""
    shape, x, r = collected_body(data)
    return reference.body(shape, SimpleNamespace(position=x, matrix=lambda: r), origin)


@pytest.mark.parametrize("order", ["ab", "ba"])
@pytest.mark.parametrize("case", COLLECTED, ids=lambda c: c["name"])
def test_case(case, order):
    origin = np.array(case["a"]["position"])
    a, b = (case_body(case[side], origin) for side in order)
    found, expect = reference.signed_distance(a, b), case["expect"]
    slack = expect["tolerance"]
    assert found.distance == pytest.approx(expect["signed_distance"], abs=slack, rel=0)
    assert found.lower - slack <= expect["signed_distance"] <= found.upper + slack
    assert np.allclose(found.point_b - found.point_a, found.distance * found.normal, rtol=0, atol=slack)
    if expect["normal"] and abs(expect["signed_distance"]) > 1e-6 * (a.size + b.size):
        n = np.array(expect["normal"]) * (1 if order == "ab" else -1)
        assert np.linalg.norm(found.normal - n) < 3e-5


# ---------------------------------------------------------------------- the worked examples of the articles


def corners(*rows) -> list[Corner]:
    return [Corner(*(np.array(x, float) for x in (np.subtract(p, q), p, q))) for p, q in rows]


A = reference.polytope([(4, 11), (4, 5), (9, 9)])
B = reference.polytope([(5, 7), (7, 3), (10, 2), (12, 7)])
START = corners(((9, 9), (5, 7)), ((4, 5), (12, 7)), ((4, 5), (5, 7)))  # (4, 2), (-8, -2), (-1, -2)


def test_worked_example():
    """dyn4j's article on EPA, iteration by iteration; it prints two digits, some of them rounded by hand on the way."""
    steps = []
    found = reference.epa(A, B, START, steps=steps)
    first, second = steps
    assert first["vertices"] == [[4, 2], [-8, -2], [-1, -2]]
    assert np.allclose(first["distances"], (0.62, 2.0, 0.94), atol=0.013)
    assert np.allclose(first["distances"], (2 / math.sqrt(10), 2.0, 6 / math.sqrt(41)), rtol=0, atol=1e-15)
    assert first["nearest"] == 0
    assert np.allclose(first["direction"], (-0.32, 0.95), atol=0.005)
    assert first["support"] == [-6, 9]
    assert second["vertices"] == [[4, 2], [-6, 9], [-8, -2], [-1, -2]]
    assert np.allclose(second["distances"], (3.92, 7.5, 2.0, 0.94), atol=0.015)
    assert second["nearest"] == 3
    assert np.allclose(second["direction"], (0.62, -0.78), atol=0.005)
    assert np.allclose(found.normal, (4 / math.sqrt(41), -5 / math.sqrt(41)), rtol=0, atol=1e-15)
    assert found.depth == pytest.approx(6 / math.sqrt(41), abs=2e-15)
    assert found.iterations == 2


def test_worked_example_from_the_start():
    found = reference.signed_distance(A, B)
    assert found.distance == pytest.approx(-6 / math.sqrt(41), abs=2e-15)
    assert np.allclose(found.point_a - found.point_b, 6 / 41 * np.array((4, -5)), rtol=0, atol=4e-15)
    assert found.point_b == pytest.approx(
        [5, 7], rel=1e-15
    )  # the corner of B deepest in A, and the foot on A's edge from (4, 5) to (9, 9)
    assert np.cross([*(found.point_a - (4, 5)), 0], (5, 4, 0))[2] == pytest.approx(0, abs=1e-14)


READERS = {
    "origin on an edge of two corners": ([(2, 2), (2, 5), (4, 5), (4, 2)], [(3, 3), (5, 4), (5, 2)], 1.0, (1, 0)),
    "overlap along y": ([(0, 0), (0, 4), (4, 4), (4, 0)], [(2, 3), (2, 7), (6, 7), (6, 3)], 1.0, (0, 1)),
}


@pytest.mark.parametrize("name", READERS)
def test_cases_of_readers(name):
    p, q, depth, normal = READERS[name]
    a, b = reference.polytope(p), reference.polytope(q)
    start = corners(((2, 5), (5, 2)), ((4, 2), (3, 3))) if "edge" in name else []  # (-3, 3), (1, -1)
    for found in (reference.epa(a, b, start), reference.epa(a, b, reference.gjk(a, b).corners)):
        assert found.depth == depth
        assert found.normal.tolist() == list(normal)


def test_first_simplex_with_the_origin_on_its_corner():
    """Two cubes exactly on each other, from the simplex that looped in one program and gave a bad normal in another."""
    cube = reference.body(Box())
    start = corners(*(((x, y, z), (0, 0, 0)) for x, y, z in ((0, 0, 0), (0, 1, 1), (-1, 1, 0), (-1, 0, 1))))
    found = reference.epa(cube, cube, start)
    assert found.depth == 1.0
    assert sorted(np.abs(found.normal)) == [0, 0, 1]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_winding_gives_the_normal_of_touching_bodies(order):
    """The origin lies on an edge, where a triple product is zero; clockwise or not."""
    square = [(0, 0), (1, 0), (1, 1), (0, 1)]
    a, b = reference.polytope(square), reference.polytope(np.array(square) + (1, 0))
    start = corners(((1, 0), (1, 0)), ((1, 1), (1, 0)), ((0, 0), (2, 1)))
    found = reference.epa(a, b, [start[k] for k in order])
    assert (found.depth, found.normal.tolist()) == (0.0, [1, 0])


def test_point_in_contact_by_barycentric_coordinates():
    """A cube's corner pressed into a face: the deepest points are the corner and its foot."""
    tip = ConvexHull([(0, 0, -0.1), (1, 0, 1), (-1, 1, 1), (-1, -1, 1)])
    found = reference.signed_distance(reference.body(Box((2, 2, 1)), Pose((0, 0, -1))), reference.body(tip, Pose((0.3, 0.2, 0))))
    assert found.distance == pytest.approx(-0.1, abs=1e-15)
    assert np.allclose(found.point_b, (0.3, 0.2, -0.1), rtol=0, atol=1e-15)
    assert np.allclose(found.point_a, (0.3, 0.2, 0.0), rtol=0, atol=1e-15)
    triangle = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0)], float)
    assert np.allclose(epa_module.barycentric(np.array((0.25, 0.125, 0)), triangle), (0.625, 0.25, 0.125))


# ---------------------------------------------------------------------- other algorithms


def nearest_to_origin(points: np.ndarray) -> float:
    """Distance of the hull of points from the origin: min over u >= 0 of |(W u, sum u - 1)|, scaled to sum 1."""
    u = nnls(np.vstack([points.T, np.ones(len(points))]), np.append(np.zeros(points.shape[1]), 1.0), maxiter=1000)[0]
    return float(np.linalg.norm(u @ points / u.sum()))


@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 5, 7])
def test_distance_in_any_dimension(dimension):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        p, q = rng.normal(size=(rng.integers(1, 12), dimension)), rng.normal(size=(rng.integers(1, 12), dimension))
        q = q + 3.0 * np.eye(dimension)[0] * rng.choice((1.0, 2.0))
        found = reference.gjk(reference.polytope(p), reference.polytope(q))
        truth = nearest_to_origin((p[:, None] - q[None]).reshape(-1, dimension))
        assert found.distance == pytest.approx(truth, abs=1e-12)
        assert found.lower <= truth + 1e-12
        if truth > 1e-9:
            assert found.lower >= truth - 1e-12
        assert len(found.simplex_a) <= dimension + 1
        assert np.linalg.norm(found.point_a - found.point_b) == pytest.approx(truth, abs=1e-12)
        for simplex, points in ((found.simplex_a, p), (found.simplex_b, q)):  # they are corners of the two sets
            assert all((points == corner).all(axis=1).any() for corner in simplex)
        assert found.weights.min() > 0
        assert found.weights.sum() == pytest.approx(1, abs=1e-12)


def depth_of_hull(p: np.ndarray, q: np.ndarray) -> float:
    """Distance from the origin to the nearest face of the whole Minkowski difference; negative outside."""
    return -Qhull((p[:, None] - q[None]).reshape(-1, p.shape[1])).equations[:, -1].max()


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("seed", range(25))
def test_depth_is_that_of_the_hull_of_the_minkowski_difference(dimension, seed):
    rng = np.random.default_rng(seed)
    shape = rng.choice([1.0, 1.0, 0.02, 30.0], size=dimension)
    p = rng.normal(size=(rng.integers(dimension + 1, 30), dimension)) * shape
    q = rng.normal(size=(rng.integers(dimension + 1, 30), dimension)) + 0.2 * rng.normal(size=dimension)
    a, b = reference.polytope(p), reference.polytope(q)
    found = reference.signed_distance(a, b)
    truth = depth_of_hull(p, q)
    if truth < 0:
        assert found.distance > 0
        return
    assert found.distance == pytest.approx(-truth, abs=1e-13 * (a.size + b.size))
    assert ((q @ found.normal).min() - (p @ found.normal).max()) == pytest.approx(-truth, abs=1e-13 * (a.size + b.size))
    parted = reference.gjk(a, reference.polytope(q + (truth + 1e-9) * found.normal))
    assert parted.distance == pytest.approx(1e-9, abs=1e-13 * (a.size + b.size))


def test_dropping_the_oldest_face_goes_wrong(monkeypatch):
    """Spoiled twin: the oldest corner's opposite face never tried, as one of the articles argues."""
    whole = gjk_module.closest_weights

    def without_the_oldest_face(simplex):
        weights = whole(simplex)
        if len(simplex) < 3 or weights[-1] > 0.0 or len(simplex) > 4:
            return weights
        faces = [np.insert(whole(np.delete(simplex, k, axis=0)), k, 0.0) for k in range(len(simplex) - 1)]
        return min(faces, key=lambda w: np.linalg.norm(w @ simplex))

    w = np.array([(-1.0, -1, 0.5), (1.0, -1, 0.5), (0, 2, 0.5), (0.1, 0.0, 3.0)])  # the face of the three oldest is nearest
    assert np.linalg.norm(whole(w) @ w) == pytest.approx(0.5)
    assert np.linalg.norm(without_the_oldest_face(w) @ w) > 0.5


def test_centroids_for_distances_go_wrong(monkeypatch):
    """Spoiled twin: faces sorted by the length of their centroid."""

    def nearest(self, most):
        length = {
            f: np.linalg.norm(sum(self.corners[i].w for i in face)) for f, face in enumerate(self.faces) if face is not None
        }
        return min(length, key=length.get)

    a, b = reference.body(Box((2.4, 2.4, 1.6))), reference.body(Box((0.9, 0.3, 1.2)), Pose((-0.2, -0.9, -0.9)))
    truth = reference.signed_distance(a, b).distance
    assert truth == pytest.approx(-1.8, abs=1e-14)  # along y: 2.4 + 0.3 - 0.9
    monkeypatch.setattr(epa_module.Polytope, "nearest", nearest)
    assert reference.signed_distance(a, b).distance == pytest.approx(-1.9, abs=1e-14)  # along z


# ---------------------------------------------------------------------- core shapes, directions, flat differences


def test_core_with_margin():
    """A shrunk box in its margin: exact against a face, rounded at an edge by margin (sqrt 2 - 1)."""
    box, margin = Box((1, 1, 1)), 0.25
    hull, left = reference.core(box, margin)
    assert left == margin
    a = reference.polytope(hull.vertices, margin)
    ball = reference.body(Sphere(0.5), Pose((0, 0, 2)))
    assert reference.signed_distance(a, ball).distance == pytest.approx(0.5, abs=1e-15)
    ball = reference.body(Sphere(0.5), Pose((0, 2, 2)))
    exact = reference.signed_distance(reference.body(box), ball).distance
    assert reference.signed_distance(a, ball).distance - exact == pytest.approx(margin * (math.sqrt(2) - 1), abs=1e-14)
    shallow = reference.signed_distance(a, reference.body(Sphere(0.5), Pose((0, 0, 1.4))))
    assert shallow.distance == pytest.approx(-0.1, abs=1e-15)
    assert shallow.iterations < 5  # no expanding polytope
    octahedron = ConvexHull(np.vstack([np.eye(3), -np.eye(3)]))
    inner, _ = reference.core(octahedron, 0.1)
    assert np.abs(inner.vertices).max() == pytest.approx(1 - 0.1 * math.sqrt(3), abs=1e-14)
    for bad in (-1.0, 1.0, math.nan):
        with pytest.raises(InputError, match="margin"):
            reference.core(octahedron, bad)


def test_sampled_directions_are_a_bound_that_closes():
    a, b = reference.body(Ellipsoid((1, 0.6, 0.4))), reference.body(Cylinder(0.3, 0.7), Pose((0.5, 0.3, 0.2), (0.6, 0.8, 0, 0)))
    truth = reference.signed_distance(a, b, tolerance=1e-9)
    gaps = [truth.upper - reference.sampled_distance(a, b, count)[0] for count in (100, 1000, 10_000, 100_000)]
    assert min(gaps) > 0
    assert all(small < large for large, small in zip(gaps, gaps[1:], strict=False))
    assert gaps[-1] < 1e-2 * gaps[0]
    boxes = reference.body(Box()), reference.body(Box(), Pose((0.7, 0.1, 0), (0.8, 0, 0, 0.6)))
    assert reference.sampled_distance(*boxes, 1)[0] == pytest.approx(reference.signed_distance(*boxes).distance, abs=1e-15)
    for dimension in (2, 3, 5):
        assert np.allclose(np.linalg.norm(reference.directions(50, dimension), axis=1), 1)


@pytest.mark.parametrize(
    ("p", "q"),
    [
        ([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0.2, 0.2, 0), (1, 1, 0), (2, 0, 0)]),  # triangles in one plane
        ([(0, 0, 0), (2, 0, 0)], [(1, 0, 0), (3, 0, 0)]),  # segments in one line
        ([(0, 0, 0), (2, 0, 0)], [(1, -1, 0), (1, 1, 0)]),  # segments that cross
        ([(1, 2, 3)], [(1, 2, 3)]),  # one point
        ([(0, 0), (1, 1)], [(0.5, 0.5), (2, 2)]),
    ],
)
def test_flat_differences_have_no_depth(p, q):
    found = reference.signed_distance(reference.polytope(p), reference.polytope(q))
    assert found.distance == 0.0
    assert np.linalg.norm(found.normal) == pytest.approx(1)
    assert np.ptp((np.subtract(np.array(p)[:, None], q)).reshape(-1, len(p[0])) @ found.normal) < 1e-15
    thick = reference.signed_distance(reference.polytope(p, 0.25), reference.polytope(q, 0.5))
    assert thick.distance == -0.75


def test_errors():
    for value in ([], [1, 2], "abc", [(0, math.nan)]):
        with pytest.raises(InputError, match="vertices"):
            reference.polytope(value)
    with pytest.raises(InputError, match="shape"):
        reference.body(HalfSpace())
    line = reference.polytope([(0.0,), (1.0,)])
    with pytest.raises(InputError, match="dimension"):
        reference.signed_distance(line, line)


# ---------------------------------------------------------------------- the kernels


def _random_shape(rng):
    hull = ConvexHull(rng.normal(size=(rng.integers(4, 30), 3)) * rng.choice([0.05, 0.5, 1.0], size=3))
    r, h = rng.uniform(0.1, 1), rng.uniform(0.1, 1)
    curved = (Capsule(r, h), Cylinder(r, h), Cone(r, h), Ellipsoid(rng.uniform(0.1, 1, 3)))
    return [Box(rng.uniform(0.1, 1, 3)), Sphere(r), hull, *curved][rng.integers(7)]


@pytest.mark.parametrize("seed", [*range(300), 435, 681, 740, 843, 981, 1325])  # slivers spoiled the twin's bound in the last
def test_kernels_agree(seed):
    """Distance and depth of random pairs, by the compiled search and by this one: both intervals hold one truth."""
    rng = np.random.default_rng(seed)
    a, b = ((_random_shape(rng), rng.normal(size=3) * 0.6, turn(rng)) for _ in range(2))
    kernel = measure(a, b)
    bodies = [reference.body(s, SimpleNamespace(position=x, matrix=lambda r=r: r), a[1]) for s, x, r in (a, b)]
    twin = reference.signed_distance(*bodies)
    rounding = 64 * EPS * kernel.size
    assert twin.lower <= kernel.upper + rounding
    assert kernel.lower <= twin.upper + rounding
    curved = any(isinstance(s, Cylinder | Cone | Ellipsoid) for s, _, _ in (a, b))
    tolerance = (1e-9 if curved else 256 * EPS) * kernel.size
    assert twin.distance == pytest.approx(kernel.distance, abs=tolerance)
    n = kernel.normal
    reach = (bodies[0].support(n) - bodies[1].support(-n)) @ n + bodies[0].margin + bodies[1].margin
    assert -reach == pytest.approx(twin.distance, abs=max(tolerance, 1e-12))  # the kernel's normal parts them by that much
