"""Packed shapes: faces, edges and bounds against what a brute look at the points says."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull as Qhull
from scipy.spatial import QhullError

from tumble.collision.bounds import aabb
from tumble.collision.errors import InputError
from tumble.collision.geometry import BOX, HALFSPACE, HULL, SPHERE
from tumble.collision.pose import Pose
from tumble.collision.shapes import polytope as polytope_module
from tumble.collision.shapes.definitions import Box, Compound, ConvexHull, HalfSpace, Sphere
from tumble.collision.shapes.polytope import polytope
from tumble.collision.shapes.shapeset import ShapeSet

CUBE = np.array(list(itertools.product((-0.1, 0.1), (-0.2, 0.2), (-0.3, 0.3))))
UNTURNED = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


def turn(seed):
    q = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    return q * np.sign(np.linalg.det(q))


def check(p, points):
    """A polytope is the hull of the points: closed, outward, flat faces, nothing outside. Tolerances by size."""
    size = np.abs(points - points.mean(axis=0)).max()
    tolerance = 64 * np.finfo(float).eps * (size + np.abs(points).max())
    assert all((v == points).all(axis=1).any() for v in p.vertices)  # vertices are given points, to the last bit
    heights = points @ p.normals.T - p.offsets
    assert heights.max() <= tolerance
    assert np.allclose(np.linalg.norm(p.normals, axis=1), 1.0, rtol=0, atol=1e-15)
    directed = set()
    for loop, normal, offset in zip(p.loops, p.normals, p.offsets, strict=True):
        corners = p.vertices[loop]
        assert np.abs(corners @ normal - offset).max() <= tolerance
        area = sum(np.cross(corners[i - 1] - corners[0], corners[i] - corners[0]) for i in range(2, len(loop)))
        assert area @ normal > 0  # counter-clockwise from outside
        for i in range(len(loop)):
            directed.add((int(loop[i - 1]), int(loop[i])))
    assert {(b, a) for a, b in directed} == directed  # every edge twice, once each way
    assert len(p.edges) * 2 == len(directed)
    for a, b, f, g in p.edges:
        assert (a, b) in _sides(p.loops[f])
        assert (b, a) in _sides(p.loops[g])
    if p.rank == 3:
        assert len(p.vertices) - len(p.edges) + len(p.loops) == 2  # Euler


def _sides(loop):
    return {(int(loop[i - 1]), int(loop[i])) for i in range(len(loop))}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("offset", [0.0, 1000.0])
@pytest.mark.parametrize("thin", [1.0, 1e-3, 1e-6, 1e-9])
def test_cube_has_six_faces(seed, offset, thin):
    points = (CUBE * (1, thin, 1)) @ turn(seed).T + offset
    p = polytope(ConvexHull(np.random.default_rng(seed).permutation(points)))
    if thin == 1e-9 and offset:
        return  # its thickness of 2e-10 m stands in three digits there
    assert (p.rank, len(p.vertices), len(p.loops), len(p.edges)) == (3, 8, 6, 12)
    check(p, points)


def test_axis_aligned_faces_are_exact():
    p = polytope(ConvexHull(CUBE))
    assert sorted(map(tuple, p.normals)) == sorted(map(tuple, [*np.eye(3), *-np.eye(3)]))
    assert np.array_equal(p.offsets, np.abs(p.normals) @ (0.1, 0.2, 0.3))
    box = polytope(Box((0.1, 0.2, 0.3)))
    check(box, box.vertices)
    assert {tuple(v) for v in box.vertices} == {tuple(v) for v in CUBE}


def test_mirrored_clouds_have_outward_faces():
    """Axes of a cloud may come out left-handed; all orders and reflections of the axes are tried."""
    points = np.random.default_rng(3).normal(size=(12, 3)) * (1, 2, 3)
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((1, -1), repeat=3):
            q = points[:, order] * signs
            check(polytope(ConvexHull(q)), q)


def test_points_inside_faces_and_edges_fall_away():
    grid = np.array(list(itertools.product(np.linspace(-1, 1, 5), repeat=3)))
    for seed in range(3):
        p = polytope(ConvexHull(grid @ turn(seed).T))
        assert (len(p.vertices), len(p.loops), len(p.edges)) == (8, 6, 12)


def test_dodecahedron_has_pentagons():
    phi = (1 + 5**0.5) / 2
    corners = [*itertools.product((-1, 1), repeat=3)]
    corners += [np.roll((0, s / phi, t * phi), k) for k in range(3) for s in (1, -1) for t in (1, -1)]
    points = np.array(corners) @ turn(1).T
    p = polytope(ConvexHull(points))
    assert [len(loop) for loop in p.loops] == [5] * 12
    check(p, points)


def test_nearly_flat_corner_is_not_merged():
    """A roof of 1e-6 stays four faces: merging is for rounding, not for shape."""
    roof = np.vstack([CUBE, (0, 0, 0.3 + 1e-6)])
    p = polytope(ConvexHull(roof))
    assert len(p.loops) == 9
    check(p, roof)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(4, 60), st.integers(0, 10**6), st.floats(-9, 0), st.floats(-9, 0))
def test_random_hulls(n, seed, a, b):
    points = np.random.default_rng(seed).normal(size=(n, 3)) * (1, 10**a, 10**b) @ turn(seed).T
    p = polytope(ConvexHull(points))
    assert p.rank == 3
    check(p, points)


@pytest.mark.parametrize("thickness", [1e-9, 1e-10, 1e-11])
def test_rims_of_plates_are_not_merged(thickness, monkeypatch):
    """Faces are one by their true distance: the rim of a plate is merged no more than that of a ball."""
    rng = np.random.default_rng(3)
    angles = (rng.uniform(0, 2 * np.pi, (20, 4, 1)) + 1e-3 * np.arange(6)).reshape(20, -1)  # some corners of rims are nearly flat
    heights = thickness * rng.normal(size=angles.shape)
    clouds = np.stack([np.cos(angles), np.sin(angles), heights], axis=2)

    def check_all(make):
        for points in clouds:
            check(make(ConvexHull(points)), points)

    def by_thickness(triangles, neighbors, mapped, extent, rounding, found=polytope_module._regions):
        return found(triangles, neighbors, mapped, np.full(3, extent.min()), rounding)

    check_all(polytope)
    monkeypatch.setattr(polytope_module, "_regions", by_thickness)
    with pytest.raises(AssertionError):
        check_all(polytope_module._hull.__wrapped__)


def test_flat_and_thinner():
    square = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 0.5, 0), (0.5, 0, 0)], float) @ turn(2).T
    p = polytope(ConvexHull(square))
    assert (p.rank, len(p.vertices), len(p.loops), len(p.edges)) == (2, 4, 2, 4)
    assert np.array_equal(p.normals[0], -p.normals[1])
    check(p, square)
    line = polytope(ConvexHull([(0, 0, 0), (1, 2, 3), (0.5, 1, 1.5), (2, 4, 6)]))
    assert line.rank == 1
    assert line.vertices.tolist() == [[0, 0, 0], [2, 4, 6]]
    assert line.edges.tolist() == [[0, 1, -1, -1]]
    point = polytope(ConvexHull([(1, 2, 3), (1, 2, 3)]))
    assert (point.rank, point.vertices.tolist(), len(point.edges)) == (0, [[1, 2, 3]], 0)
    assert polytope(ConvexHull([(0, 0, 0), (1, 0, 0)])).rank == 1


def test_tables_refer_to_each_other():
    hull = ConvexHull(np.random.default_rng(0).normal(size=(30, 3)))
    shapes = [HalfSpace(), Box(), hull, Sphere(0.2), ConvexHull(CUBE + 5), hull, ConvexHull([(0, 0, 0), (1, 0, 0)])]
    g = ShapeSet(shapes).geometry
    assert g.kind.tolist() == [HALFSPACE, BOX, HULL, SPHERE, HULL, HULL, HULL]
    assert np.array_equal(g.vertex[2], g.vertex[5])  # equal shapes share their rows
    assert g.radius[0] == math.inf
    assert g.rank.tolist() == [3, 3, 3, 3, 3, 3, 1]
    for s in (1, 2, 4, 6):
        rows = range(*g.vertex[s])
        points = g.vertices[g.vertex[s, 0] : g.vertex[s, 1]]
        assert g.radius[s] == pytest.approx(np.linalg.norm(points, axis=1).max(), rel=1e-15)
        joined = {(int(v), int(w)) for v in rows for w in g.neighbors[g.neighbor_start[v] : g.neighbor_start[v + 1]]}
        edges = g.edges[g.edge[s, 0] : g.edge[s, 1]]
        assert joined == {(a, b) for a, b in edges[:, :2].tolist()} | {(b, a) for a, b in edges[:, :2].tolist()}
        for a, b, f0, f1 in edges:
            for f, side in ((f0, (a, b)), (f1, (b, a))):
                if f >= 0:
                    assert g.face[s, 0] <= f < g.face[s, 1]
                    assert side in _sides(g.loops[g.loop_start[f] : g.loop_start[f + 1]])
        for f in range(*g.face[s]):
            corners = g.vertices[g.loops[g.loop_start[f] : g.loop_start[f + 1]]]
            assert corners @ g.normals[f] == pytest.approx(g.offsets[f], abs=1e-14)
            assert (g.center[s] @ g.normals[f]) < g.offsets[f]
    assert all(a.flags.c_contiguous for a in g)
    empty = ShapeSet([]).geometry
    assert [a.dtype for a in empty] == [a.dtype for a in g]
    assert [a.ndim for a in empty] == [a.ndim for a in g]


def test_compounds_are_spread_out_over_rows():
    legs = [(Box((0.1, 0.1, 0.5)), Pose((x, 0, 0))) for x in (-1, 1)]
    shapes = ShapeSet([Sphere(0.4), Compound([*legs, (Sphere(0.4), Pose())]), Box()])
    assert shapes.first.tolist() == [0, 1, 4, 5]
    assert len(shapes.geometry.kind) == 5
    assert not shapes.convex
    assert ShapeSet([Sphere(), Box()]).convex
    rows, x, q = np.array([1, 2, 3, 0]), np.tile((0.0, 0, 5), (4, 1)), np.tile((0.0, 0, 0, 1), (4, 1))
    at, turned, rounded = shapes.placed(rows, x, q)  # half a turn about z
    assert np.allclose(at, [(1, 0, 5), (-1, 0, 5), (0, 0, 5), (0, 0, 5)], rtol=0, atol=1e-15)
    assert np.allclose(turned, q)
    assert (rounded > 0).tolist() == [True, True, False, False]


def test_what_is_no_shape_says_so():
    with pytest.raises(InputError, match="must be a shape"):
        ShapeSet(["box"])


def test_bounds_touch_the_points():
    rng = np.random.default_rng(0)
    hull = ConvexHull(rng.normal(size=(20, 3)))
    g = ShapeSet([Box((0.1, 0.2, 0.3)), hull, Sphere(0.4)]).geometry
    ball = rng.normal(size=(20000, 3))
    ball *= 0.4 / np.linalg.norm(ball, axis=1)[:, None]
    clouds = [polytope(Box((0.1, 0.2, 0.3))).vertices, hull.vertices, ball]
    for _ in range(20):
        q = rng.normal(size=4)
        r = tuple(Pose(orientation=q / np.linalg.norm(q)).matrix().ravel())
        x = tuple(rng.normal(size=3) * 10)
        for s, points in enumerate(clouds):
            lo, hi = aabb(g, s, x, r)
            world = points @ np.array(r).reshape(3, 3).T + x
            loose = 1e-14 if s < 2 else 5e-3
            assert np.abs(np.array(lo) - world.min(axis=0)).max() <= loose
            assert np.abs(np.array(hi) - world.max(axis=0)).max() <= loose


def test_bounds_of_halfspaces():
    g = ShapeSet([HalfSpace(), HalfSpace((-1, 0, 0), 2.0), HalfSpace((1, 1, 0), 0.0)]).geometry
    inf = math.inf
    assert aabb(g, 0, (1.0, 2.0, 3.0), UNTURNED) == ((-inf, -inf, -inf), (inf, inf, 3.0))
    assert aabb(g, 1, (1.0, 2.0, 3.0), UNTURNED) == ((-1.0, -inf, -inf), (inf, inf, inf))
    assert aabb(g, 2, (1.0, 2.0, 3.0), UNTURNED) == ((-inf, -inf, -inf), (inf, inf, inf))


@pytest.mark.parametrize("seed", [22317, 29137, 30284])
def test_crowds_of_points_that_are_one_but_for_rounding(seed):
    """Qhull gives up on these; thinned out by rounding they have a hull, and no point stands out of it by more."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(4, 20))
    points = np.repeat(rng.normal(size=(k, 3)), 3, axis=0)
    points += rng.normal(size=points.shape) * 10.0 ** rng.uniform(-16, -9)
    with pytest.raises(QhullError):
        Qhull(mapped(points), qhull_options="Qt")
    p = polytope(ConvexHull(points))
    assert (points @ p.normals.T - p.offsets).max() < 1e-11
    assert len(np.unique(p.corners)) - len(p.edges) + len(p.loops) == 2


def mapped(points):
    """The points as `polytope` hands them to Qhull: along their axes, at unit extents."""
    local = points - points.mean(axis=0)
    axes = np.linalg.svd(local / np.abs(local).max(), full_matrices=False)[2]
    if np.linalg.det(axes) < 0:
        axes[2] = -axes[2]
    return (local @ axes.T) / np.ptp(local @ axes.T, axis=0)
