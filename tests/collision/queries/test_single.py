"""Shapes are packed once, whatever they are asked together with; calls about one pair take what users have."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
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
    InputError,
    Pose,
    ShapeSet,
    Sphere,
    Status,
    bounding_box,
    colliding,
    contact_manifold,
    ray_cast,
    ray_casts,
    signed_distance,
    signed_distances,
)
from tumble.collision.shapes import shapeset
from tumble.collision.shapes.compounds import MANY_PIECES, piece_pairs


def hull(seed, n=20, size=0.5):
    return ConvexHull(np.random.default_rng(seed).normal(size=(n, 3)) * size)


def turned(seed, reach=2.0):
    rng = np.random.default_rng(seed)
    q = rng.normal(size=4)
    return Pose(rng.uniform(-reach, reach, 3), q / np.linalg.norm(q))


@pytest.fixture
def packings(monkeypatch):
    """How often tables of a shape were made."""
    made = []
    make = shapeset._packed
    monkeypatch.setattr(shapeset, "_packed", lambda shape: made.append(shape) or make(shape))
    monkeypatch.setattr(shapeset, "_stock", shapeset.Stock())
    return made


def test_a_shape_is_packed_once_in_its_life(packings):
    shapes = [hull(k) for k in range(12)]
    for _ in range(2):
        for a in shapes:
            for b in shapes:
                colliding(a, Pose(), b, Pose((1, 0, 0)))
            ray_cast(a, Pose(), (5, 0, 0), (-1, 0, 0))
            contact_manifold(a, Pose(), shapes[0], Pose((1, 0, 0)), margin=0.1)
            bounding_box(a, Pose())
    ShapeSet(shapes)
    assert len(packings) == 12


def test_more_pairs_than_were_ever_kept(packings):
    """Two thousand distinct pairs, asked in turn, pack no more than their shapes."""
    shapes = [Box((0.1 + 0.01 * k, 0.2, 0.3)) for k in range(45)]
    for _ in range(2):
        for a in shapes:
            for b in shapes:
                colliding(a, Pose(), b, Pose((0.5, 0, 0)))
    assert len(packings) == 45


def test_tables_of_compounds_are_joined_once(monkeypatch):
    """A hundred distinct pairs of compounds, asked in turn: later rounds move no table, and answers are those of a set."""
    compounds = [Compound([(hull(10 * k + i), turned(10 * k + i)) for i in range(k % 3 + 1)]) for k in range(10)]
    joined = []
    moved = shapeset.moved
    monkeypatch.setattr(shapeset, "_stock", shapeset.Stock())
    monkeypatch.setattr(shapeset, "moved", lambda part, before: joined.append(part) or moved(part, before))
    beside = Pose((2, 0, 0))
    for _ in range(3):
        found = [signed_distance(a, Pose(), b, beside).distance for a in compounds for b in compounds]
    assert len(joined) == sum(len(c.parts) for c in compounds)
    for c in compounds:
        ray_cast(c, Pose(), (5, 0, 0), (-1, 0, 0))
        bounding_box(c, Pose())
    assert len(joined) == sum(len(c.parts) for c in compounds)
    a, b = (v.ravel() for v in np.meshgrid(range(10), range(10), indexing="ij"))
    zero, upright = np.zeros((100, 3)), np.tile((1.0, 0, 0, 0), (100, 1))
    together = signed_distances(ShapeSet(compounds), a, b, zero, upright, zero + beside.position, upright)
    assert np.array_equal(found, together.distance)


def test_a_stock_that_is_full_begins_anew(monkeypatch):
    monkeypatch.setattr(shapeset, "_stock", shapeset.Stock())
    monkeypatch.setattr(shapeset, "STOCK_BYTES", 20_000)
    shapes = [hull(k, 60) for k in range(20)]
    before = shapeset._stock
    found = [signed_distance(a, Pose(), b, Pose((3, 0, 0))).distance for a in shapes for b in shapes]
    assert shapeset._stock is not before
    assert sum(column.nbytes for column in shapeset._stock.geometry) < 100_000
    together = ShapeSet(shapes)
    a, b = (v.ravel() for v in np.meshgrid(range(20), range(20), indexing="ij"))
    zero, upright = np.zeros((400, 3)), np.tile((1.0, 0, 0, 0), (400, 1))
    assert np.array_equal(found, signed_distances(together, a, b, zero, upright, zero + (3, 0, 0), upright).distance)


def test_tables_in_stock_are_those_of_a_set():
    shapes = [Box(), hull(1, 300), Sphere(), Capsule(), ConvexHull([(0, 0, 0), (1, 0, 0)]), hull(2), Cylinder(), hull(3, 150)]
    rows = [shapeset.stocked(shape, shape)[1] for shape in shapes]
    g = shapeset.stocked(shapes[0], shapes[-1])[0]
    for shape, row in zip(shapes, rows, strict=True):
        one = shapeset.packed(shape)
        v, f = g.vertex[row, 0], g.face[row, 0]
        assert np.array_equal(g.vertices[slice(*g.vertex[row])], one.vertices)
        assert np.array_equal(g.normals[slice(*g.face[row])], one.normals)
        start = g.neighbor_start[v : g.vertex[row, 1] + 1]
        if len(one.vertices):
            assert np.array_equal(g.neighbors[start[0] : start[-1]] - v, one.neighbors)
            assert np.array_equal(g.blocks[slice(*g.block[row])], one.blocks)
        if one.edges.size:
            assert np.array_equal(g.edges[slice(*g.edge[row])] - (v, v, f, f) * (one.edges >= 0), one.edges)
        if one.guide[0, 1]:
            cells = g.cells[g.guide[row, 0] : g.guide[row, 0] + 6 * one.guide[0, 1] ** 2 + 1]
            assert np.array_equal(g.candidates[cells[0] : cells[-1]] - v, one.candidates)


def test_tables_do_not_travel():
    shape = hull(5, 23)
    box = Box((0.123, 0.456, 0.789))
    signed_distance(shape, Pose(), box, Pose((3, 0, 0)))
    for kept in (shape, box):
        assert {"_packed", "_place"} <= kept.__dict__.keys()
        for other in (pickle.loads(pickle.dumps(kept)), copy.deepcopy(kept)):
            assert other == kept
            assert not {"_packed", "_place"} & other.__dict__.keys()


def test_poses_are_what_users_have():
    a, b, pose = hull(7), Box((0.3, 0.4, 0.5)), turned(8)
    rotation = Rotation.from_quat(np.roll(pose.orientation, -1))
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = pose.matrix(), pose.position
    expected = signed_distance(a, Pose(), b, pose)
    for other in (
        np.array([*pose.position, *pose.orientation]),
        matrix,
        (pose.position, rotation),
        (pose.position, pose.orientation),
    ):
        found = signed_distance(a, np.eye(4), b, other)
        assert abs(found.distance - expected.distance) < 1e-14
        assert np.abs(found.normal - expected.normal).max() < 1e-13
        assert colliding(a, Pose(), b, other) == expected.colliding
    for wrong in (np.zeros(6), "here", None, np.zeros((2, 2)), [[0, 0, 0], [0, 0, 0, 0]], np.full(7, np.nan)):
        with pytest.raises(InputError):
            signed_distance(a, Pose(), b, wrong)


ALL = [HalfSpace(), Sphere(0.4), Capsule(), Box(), hull(9), Cylinder(), Cone(), Ellipsoid(), hull(10, 200)]


@pytest.mark.parametrize("first", range(len(ALL)))
def test_one_call_has_the_bits_of_many(first):
    shapes = ShapeSet(ALL)
    for k, other in enumerate(ALL):
        for seed in range(5):
            pose_a, pose_b = turned(seed), turned(100 + seed)
            one = signed_distance(ALL[first], pose_a, other, pose_b)
            places = [[pose_a.position], [pose_a.orientation], [pose_b.position], [pose_b.orientation]]
            many = signed_distances(shapes, [first], [k], *places)
            assert (one.distance, one.lower, one.upper) == (many.distance[0], many.lower[0], many.upper[0])
            assert one.status == many.status[0]
            assert one.normal.tolist() == many.normal[0].tolist()
            assert one.point_b.tolist() == many.point_b[0].tolist()
            assert one.iterations == many.iterations[0]


def test_rays_against_a_set():
    shapes = ShapeSet([Box(), Compound([(Sphere(0.2), Pose((0, 0, 1))), (Sphere(0.2), Pose((0, 0, -1)))]), hull(3)])
    poses = [Pose((5, 0, 0)), Pose((3, 0, 0)), np.array([0, 9, 0, 1, 0, 0, 0])]
    hit = ray_cast(shapes, poses, (0, 0, 0), (1, 0, 0))
    assert (hit.shape, hit.part, hit.distance) == (0, 0, 4.5)
    hit = ray_cast(shapes, poses, (0, 0, -1), (1, 0, 0))
    assert (hit.shape, hit.part) == (1, 1)
    many = ray_casts(shapes, poses, (0, 0, 0), [(1, 0, 0), (0, 1, 0), (-1, 0, 0)])
    assert many.shape.tolist() == [0, 2, -1]
    with pytest.raises(InputError, match="for each of the 3 shapes"):
        ray_cast(shapes, poses[:2], (0, 0, 0), (1, 0, 0))


def cluster(seed, n):
    rng = np.random.default_rng(seed)
    return Compound([(Box(rng.uniform(0.01, 0.05, 3)), turned(k + 1000 * seed, 1.0)) for k in range(n)])


@pytest.mark.parametrize("apart", [0.0, 0.5, 2.0, 5.0])
@pytest.mark.parametrize("margin", [np.inf, 0.0, 0.3])
def test_the_tree_of_pieces_leaves_out_nothing_that_matters(apart, margin, monkeypatch):
    shapes = ShapeSet([cluster(1, 60), cluster(2, 50), Box((0.2, 0.2, 0.2))])
    a, b = np.array([0, 1, 0, 2]), np.array([1, 0, 2, 0])
    poses = [turned(k) for k in range(8)]
    places = [np.array([p.position for p in poses[:4]]), np.array([p.orientation for p in poses[:4]])]
    places += [np.array([p.position for p in poses[4:]]) + (apart, 0, 0), np.array([p.orientation for p in poses[4:]])]
    few = piece_pairs(shapes, a, b, places, margin)
    monkeypatch.setattr("tumble.collision.shapes.compounds.MANY_PIECES", 10**9)
    all_of_them = piece_pairs(shapes, a, b, places, margin)
    assert np.array_equal(few.pair, all_of_them.pair)
    assert np.array_equal(few.row, all_of_them.row)
    assert np.array_equal(few.a, all_of_them.a)
    assert few.total == all_of_them.total
    assert (few.outside <= all_of_them.outside).all()


def test_most_pieces_are_not_looked_at(monkeypatch):
    """Of 250,000 pairs of pieces less than one in a hundred is worked on."""
    import tumble.collision.shapes.compounds

    shapes = ShapeSet([cluster(3, 500), cluster(4, 500)])
    looked = []
    near = tumble.collision.shapes.compounds.near
    monkeypatch.setattr(tumble.collision.shapes.compounds, "near", lambda *given: looked.append(near(*given)) or looked[-1])
    place = [np.zeros((1, 3)), np.array([(1.0, 0, 0, 0)]), np.array([(5.0, 0, 0)]), np.array([(1.0, 0, 0, 0)])]
    r = signed_distances(shapes, [0], [1], *place)
    assert r.status[0] == Status.SEPARATED
    assert MANY_PIECES < 250_000
    assert len(looked[0]) < 2500


def test_one_shape_against_many_poses():
    shapes, n = ShapeSet([Box(), hull(4)]), 30
    rng = np.random.default_rng(0)
    x, q = rng.uniform(-2, 2, (n, 3)), rng.normal(size=(n, 4))
    q /= np.linalg.norm(q, axis=1)[:, None]
    r = signed_distances(shapes, 0, 1, (0, 0, 0), (1, 0, 0, 0), x, q)
    zero, upright = np.zeros((n, 3)), np.tile((1.0, 0, 0, 0), (n, 1))
    assert np.array_equal(r.distance, signed_distances(shapes, [0] * n, [1] * n, zero, upright, x, q).distance)
    assert len(signed_distances(shapes, 0, 1, (0, 0, 0), (1, 0, 0, 0), (3, 0, 0), (1, 0, 0, 0))) == 1
    with pytest.raises(InputError, match="positions_b"):
        signed_distances(shapes, 0, 1, (0, 0, 0), (1, 0, 0, 0), x[:, :2], q)
    with pytest.raises(InputError, match=r"a\[0\]"):
        signed_distances(shapes, 2, 1, (0, 0, 0), (1, 0, 0, 0), x, q)


def test_a_call_loads_no_compiler():
    """What one pair asks is kept as machine code."""
    signed_distance(Box(), Pose(), Sphere(), Pose((3, 0, 0)))  # compiled now, if it never was
    code = """
import sys
from tumble.collision import Box, Cylinder, Pose, colliding, signed_distance
print(signed_distance(Box(), Pose(), Cylinder(), Pose((3, 0, 0))).distance)
print(colliding(Box(), Pose(), Box(), Pose((0, 0, 0.5))))
assert "numba" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["2.4", "True"]


def test_hulls_are_built_in_little_room():
    """30,000 corners: no more than a thousand bytes each, the tables included."""
    points = np.random.default_rng(0).normal(size=(30_000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    tracemalloc.start()
    kept = shapeset.packed(ConvexHull(points))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(kept.vertices) == 30_000
    assert most < 1000 * len(points)
