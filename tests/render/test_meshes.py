"""Meshes against the volumes of their shapes: closed, outward, of the right size and in the right place."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull as Qhull

from tests.render.known_flights import zoo
from tumble.collision.errors import InputError
from tumble.collision.pose import Pose
from tumble.collision.shapes.definitions import (
    Box,
    Capsule,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Rounded,
    Sphere,
    shape_from_dict,
)
from tumble.collision.shapes.ground import HeightField, TriangleMesh
from tumble.collision.solids.mass_properties import mass_properties
from tumble.render.meshes.meshes import bounding_ball, mesh_of, parts_of, planes_of
from tumble.render.rotation import rotate
from tumble.render.web.replay import tones

POINTS = np.random.default_rng(2).normal(size=(40, 3))


def volume_and_center(shape, detail=96):
    """By the divergence theorem over the triangles: right only for a closed surface with all faces outward."""
    volume, moment = 0.0, np.zeros(3)
    for part in parts_of(shape):
        points, _, triangles = mesh_of(part.key, detail).triangles()
        points = rotate(np.array(part.orientation), points * part.scale) + part.position
        a, b, c = (points[triangles[:, k]] for k in range(3))
        six = np.einsum("ij,ij->i", a, np.cross(b, c))
        volume += six.sum() / 6
        moment += (six[:, None] * (a + b + c)).sum(axis=0) / 24
    return volume, moment / volume


@pytest.mark.parametrize(
    ("shape", "rtol"),
    [
        (Box((0.1, 0.2, 0.3)), 1e-12),
        (ConvexHull(POINTS), 1e-12),
        (Sphere(0.7), 3e-3),
        (Ellipsoid((0.1, 0.2, 0.3)), 3e-3),
        (Cylinder(0.3, 0.5), 3e-3),
        (Cone(0.3, 0.5), 3e-3),
        (Capsule(0.2, 0.5), 3e-3),
        (Rounded(Box((0.1, 0.2, 0.3)), 0.1), 1e-3),
        (Rounded(ConvexHull(POINTS[:9]), 0.3), 1e-3),
        (Rounded(ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0)]), 0.2), 3e-3),
        (Rounded(ConvexHull([(0, 0, 0), (1, 2, 0.5)]), 0.2), 3e-3),
        (Rounded(ConvexHull([(1, 2, 0.5)]), 0.2), 3e-3),
        (Rounded(Cylinder(0.3, 0.5), 0.1), 3e-3),
        (Rounded(Cone(0.3, 0.5), 0.1), 3e-3),
        (Rounded(Ellipsoid((0.1, 0.2, 0.3)), 0.1), 3e-3),
        (Rounded(Capsule(0.2, 0.5), 0.1), 3e-3),
        (Compound([(Box((0.1, 0.2, 0.3)), Pose((1, 2, 3), (0.6, 0.8, 0, 0))), (Box((1, 1, 1)), Pose((5, 0, 0)))]), 1e-12),
    ],
    ids=lambda v: getattr(v, "type", ""),
)
def test_volume_and_center(shape, rtol):
    exact = mass_properties(shape)
    volume, center = volume_and_center(shape)
    assert volume == pytest.approx(exact.volume, rel=rtol)
    assert np.abs(center - exact.center).max() < 1e-12 + rtol
    if rtol > 1e-6:  # a coarser mesh of a round body misses the bound
        assert volume_and_center(shape, 24)[0] != pytest.approx(exact.volume, rel=rtol)


ROUNDED = [
    Rounded(core, 0.1) for core in (Box(), ConvexHull(POINTS[:9]), ConvexHull(POINTS[:3]), Cone(), Ellipsoid(), Cylinder())
]


@pytest.mark.parametrize("shape", ROUNDED)
def test_rounded_surfaces_are_where_they_should_be(shape):
    """Each corner is the radius away from the core, along the normal that it is lit by."""
    for part in parts_of(shape):
        points, normals, _ = mesh_of(part.key, 32).triangles()
        core = ConvexHull(points * part.scale - 0.1 * normals)
        assert bounding_ball(core)[1] <= bounding_ball(shape.shape)[1] * (1 + 1e-12)
        assert np.abs(np.linalg.norm(normals, axis=1) - 1).max() < 1e-12


@pytest.mark.parametrize("shape", [b.shape for b in zoo().bodies if b.shape.type not in ("halfspace", "half_space", "compound")])
def test_normals_are_unit_and_outward(shape):
    mesh = mesh_of(parts_of(shape)[0].key, 24)
    points, normals, _ = mesh.triangles()
    assert np.abs(np.linalg.norm(normals, axis=1) - 1).max() < 1e-12
    middle = mesh.corners.mean(axis=0)
    assert (np.einsum("ij,ij->i", normals, points - middle) > 0).all()


def test_edges():
    assert len(mesh_of(("box",)).edges) == 12
    cube = ConvexHull([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    mesh = mesh_of(parts_of(cube)[0].key)
    assert len(mesh.edges) == 12  # not the diagonals of triangulated faces
    assert sorted(map(len, mesh.faces)) == [4] * 6


@pytest.mark.parametrize("shape", [Cylinder(0.3, 0.5), Cone(0.3, 0.5), Sphere(0.4), Capsule(0.1, 0.2)])
def test_round_bodies_wear_a_mark_that_tells_any_turn(shape):
    """Little of the surface, and no turn about any axis brings it onto itself; angular bodies have none."""
    for detail in (16, 32, 48, 64, 96):
        mesh = mesh_of(parts_of(shape)[0].key, detail)
        marked = mesh.marked()
        assert 0.01 < (tones(mesh) < 1.0).mean() < 0.25
        middles = np.array([mesh.corners[list(face)].mean(axis=0) for face in mesh.faces])
        stripe = middles[marked & (middles[:, 0] > 0.0)]
        assert stripe[:, 0].max() > 0.4  # on one side alone: it is seen to turn about z
        assert np.abs(stripe[:, 1].mean()) < 1e-9
        assert np.ptp(stripe[:, 2]) > 0.4
        assert len(mesh.edges) == detail * {"cylinder": 2, "cone": 1}.get(shape.type, 0)
    assert not mesh_of(("box",)).marked().any()


def fibonacci(n):
    """(n, 3) points spread evenly over the unit sphere."""
    k = np.arange(n) + 0.5
    z, a = 1 - 2 * k / n, np.pi * (1 + 5**0.5) * k
    r = np.sqrt(1 - z * z)
    return np.stack([r * np.cos(a), r * np.sin(a), z], axis=1)


def test_what_is_cut_fine_is_lit_as_what_it_stands_for():
    """No lines on a ball of 200 corners, whose normals are those of the ball; the rims of a prism; all of an octahedron's."""
    mesh_at = lambda points: mesh_of(parts_of(ConvexHull(points))[0].key)  # noqa: E731
    ball = mesh_at(fibonacci(200))
    points, normals, _ = ball.triangles()
    assert len(ball.edges) == 0
    assert ball.curved
    assert np.arccos(np.einsum("ij,ij->i", points, normals).clip(-1, 1)).max() < np.radians(4)
    ring = np.array([[np.cos(a), np.sin(a), 0.0] for a in np.arange(48) * 2 * np.pi / 48])
    prism = mesh_at(np.concatenate([ring, ring + (0, 0, 1)]))
    assert len(prism.edges) == 96
    points, normals, _ = prism.triangles()
    side = np.abs(normals[:, 2]) < 0.5
    assert np.abs(normals[side] - points[side] * (1, 1, 0)).max() < 1e-9  # radial, as those of the cylinder
    assert np.abs(normals[~side][:, 2]) == pytest.approx(1.0)
    coarse = mesh_at(np.concatenate([np.eye(3), -np.eye(3)]))
    assert len(coarse.edges) == 12
    assert not coarse.curved
    rock = mesh_at(np.random.default_rng(1).normal(size=(40, 3)))
    assert not rock.curved
    assert len(rock.edges) > 25


def test_flat_collinear_and_single_hulls_can_be_drawn():
    flat = mesh_of(parts_of(ConvexHull([[0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1], [0.5, 0.5, 1]]))[0].key)
    assert [len(f) for f in flat.faces] == [4, 4]
    assert flat.normals[0][0] @ flat.normals[1][0] == pytest.approx(-1)
    line = mesh_of(parts_of(ConvexHull([[0, 0, 0], [1, 1, 1], [0.5, 0.5, 0.5]]))[0].key)
    assert len(line.faces) == 0
    assert np.ptp(line.corners[line.edges[0]], axis=0) == pytest.approx([1, 1, 1])
    point = mesh_of(parts_of(ConvexHull([[3, 2, 1]]))[0].key)
    assert len(point.faces) == 0
    assert point.edges.tolist() == [[0, 0]]


def test_planes_of_a_tilted_half_space():
    n = np.array([0.6, 0.0, 0.8])
    ((normal, offset),) = planes_of(HalfSpace(tuple(n), 2.0))
    assert normal == pytest.approx(n)
    assert offset == 2.0
    assert parts_of(HalfSpace()) == []


def test_bounding_balls_hold_their_bodies():
    for body in zoo().bodies:
        center, radius = bounding_ball(body.shape)
        if body.shape.type.startswith("half"):
            assert np.isnan(radius)
            continue
        points = np.concatenate(
            [rotate(np.array(p.orientation), mesh_of(p.key, 48).corners * p.scale) + p.position for p in parts_of(body.shape)]
        )
        far = np.linalg.norm(points - center, axis=1).max()
        assert far <= 1.02 * radius
        assert far >= 0.95 * radius


def test_hull_of_a_hull_mesh_is_the_hull():
    mesh = mesh_of(parts_of(ConvexHull(POINTS))[0].key)
    assert set(np.unique(np.concatenate([list(f) for f in mesh.faces]))) <= set(range(len(mesh.corners)))
    assert len({c for f in mesh.faces for c in f}) == len(Qhull(POINTS).vertices)


@pytest.mark.parametrize(
    "shape", [Box((0.1, 0.2, 0.3)), Cylinder(0.1, 0.2), ConvexHull(np.random.default_rng(1).normal(size=(12, 3)))]
)
def test_edges_know_the_faces_beside_them(shape):
    """The middle of an edge lies on both planes, and both look away from the middle of the body."""
    mesh = mesh_of(parts_of(shape)[0].key, 16)
    middles = mesh.corners[mesh.edges].mean(axis=1) - mesh.corners.mean(axis=0)
    beside = mesh.beside()
    assert (np.einsum("mkj,mj->mk", beside, middles) > 0).all()
    assert (np.abs(np.einsum("mkj,mj->mk", beside, mesh.corners[mesh.edges[:, 0]] - mesh.corners[mesh.edges[:, 1]])) < 1e-9).all()
    assert (np.linalg.norm(np.cross(beside[:, 0], beside[:, 1]), axis=1) > 1e-9).all()


@pytest.mark.parametrize("kind", [HeightField, TriangleMesh])
def test_ground_is_drawn_smooth_or_flat_by_choice(kind):
    """In what films, glTF and pages draw: flat, each corner of a triangle has its normal; smooth, the mean about the corner."""
    field = HeightField(0.1 * np.sin(np.arange(9.0))[:, None] * np.cos(np.arange(7.0)), 0.5)
    given = (field.heights, 0.5) if kind is HeightField else field.surface()
    smooth, flat = kind(*given), kind(*given, smooth=False)
    assert smooth != flat
    for ground in (smooth, flat):
        assert shape_from_dict(ground.to_dict()) == ground
        points, normals, triangles = mesh_of(("ground", ground)).triangles()
        corners = points[triangles]
        own = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        own /= np.linalg.norm(own, axis=1)[:, None]
        off = np.abs(normals[triangles] - own[:, None]).max()
        assert off < 1e-12 if ground is flat else off > 0.01
    with pytest.raises(InputError, match="smooth = 3: must be true or false"):
        kind(*given, smooth=3)
