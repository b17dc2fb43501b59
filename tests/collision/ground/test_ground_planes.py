"""Where grounds are plane: faces of connected triangles, and what is near nothing but one of them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.physics.grounds import box_mesh, strip, uneven_floor
from tumble.collision import HeightField, TriangleMesh
from tumble.collision.ground.nearby import plane_near
from tumble.collision.ground.planes import BLOCK_CELLS
from tumble.collision.kernels.group import own_tables
from tumble.collision.kernels.jit import kernel
from tumble.collision.shapes.shapeset import ShapeSet


@kernel
def near(g, lo, hi):
    return plane_near(g, 0, lo, hi)


def plane_in(ground, middle, half):
    """The plane that is all of a ground in a box; -1: none."""
    g = own_tables(ShapeSet([ground], ground=True).geometry)
    lo, hi = np.subtract(middle, half), np.add(middle, half)
    return near(g, tuple(map(float, lo)), tuple(map(float, hi)))


def turned(mesh: TriangleMesh, seed: int) -> TriangleMesh:
    rotation, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    return TriangleMesh(mesh.vertices @ rotation.T + (3.0, -20.0, 7.0), mesh.triangles)


def ring(inner: float, outer: float) -> TriangleMesh:
    """A square floor with a square hole in it."""
    square = np.array([(1.0, 1.0, 0.0), (-1.0, 1.0, 0.0), (-1.0, -1.0, 0.0), (1.0, -1.0, 0.0)])
    sides = [(k, 4 + k, 4 + (k + 1) % 4, (k + 1) % 4) for k in range(4)]
    return TriangleMesh(
        np.concatenate([inner * square, outer * square]), [t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))]
    )


def test_faces_of_meshes():
    floor = uneven_floor(12, 6.0)
    for mesh in (floor, turned(floor, 1), turned(floor, 2)):
        tables = mesh.tables()
        assert len(tables["planes"]) == 1
        assert (tables["patches"] == 0).all()
        n, offset = tables["planes"][0, :3], tables["planes"][0, 3]
        assert np.abs(mesh.vertices @ n - offset).max() < 1e-13
    box = box_mesh((1.0, 2.0, 3.0)).tables()
    assert len(box["planes"]) == 6
    assert sorted(np.bincount(box["patches"])) == [2] * 6
    bent = strip([(-1.0, 0.0), (0.0, 0.0), (1.0, 1e-6)], np.linspace(-1, 1, 4))
    assert len(bent.tables()["planes"]) == 2
    round_one = strip([(np.sin(a), 1 - np.cos(a)) for a in np.linspace(0, 1, 30)], np.linspace(-1, 1, 3)).tables()
    assert len(round_one["planes"]) == 29  # the faces of a gutter, each of four triangles


def test_what_is_near_one_plane_and_no_border_of_it():
    floor = uneven_floor(30, 6.0)
    assert plane_in(floor, (0.3, 0.2, 0.1), (0.5, 0.4, 0.2)) == 0
    assert plane_in(floor, (2.8, 0.0, 0.1), (0.5, 0.4, 0.2)) == -1  # its rim
    assert plane_in(floor, (0.3, 0.2, 0.5), (0.5, 0.4, 0.2)) == -1  # above it
    hole = ring(1.0, 5.0)
    assert plane_in(hole, (0.0, 0.0, 0.1), (0.5, 0.4, 0.2)) == -1  # over the hole
    assert plane_in(hole, (0.8, 0.0, 0.1), (0.5, 0.4, 0.2)) == -1  # over its edge
    assert plane_in(hole, (3.0, 0.0, 0.1), (0.5, 0.4, 0.2)) == 0
    box = box_mesh((1.0, 1.0, 0.02))
    assert plane_in(box, (0.2, 0.0, 0.1), (0.3, 0.3, 0.1)) >= 0
    assert plane_in(box, (0.2, 0.0, 0.1), (0.3, 0.3, 0.15)) == -1  # both sides of a thin plate


@pytest.mark.parametrize("seed", range(8))
def test_a_box_anywhere_is_level_only_where_all_of_its_disc_is_floor(seed):
    """Against a search of the points of the disc that a box cuts out, in meshes with holes, turned at random."""
    rng = np.random.default_rng(seed)
    floor = uneven_floor(14, 6.0, seed)
    kept = TriangleMesh(floor.vertices, floor.triangles[rng.random(len(floor.triangles)) > 0.02])
    middles = kept.vertices[kept.triangles].mean(axis=1)
    rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    mesh = TriangleMesh(kept.vertices @ rotation.T, kept.triangles)
    found = 0
    for _ in range(150):
        at = rotation @ (middles[rng.integers(len(middles))] + (0, 0, rng.uniform(-0.1, 0.1)))
        half = rng.uniform(0.02, 0.5, 3)
        if plane_in(mesh, at, half) < 0:
            continue
        found += 1
        flat = rng.uniform(-1, 1, (400, 2)) @ rotation[:, :2].T  # points of the plane, those in the box
        points = at - rotation[:, 2] * (rotation[:, 2] @ at) + flat
        points = points[(np.abs(points - at) <= half).all(axis=1)]
        assert np.abs(mesh.signed_distances(points).distance).max(initial=0.0) < 1e-12
    assert found > 10


def test_faces_of_fields():
    heights = np.zeros((60, 40))
    heights[30:, :] = 0.5
    field = HeightField(heights, 0.1)
    planes = field.tables()["planes"]
    assert len(planes) == 2
    assert plane_in(field, (-1.5, 0.0, 0.0), (0.3, 0.3, 0.1)) == 0
    assert plane_in(field, (1.5, 0.0, 0.5), (0.3, 0.3, 0.1)) == 1
    assert plane_in(field, (0.0, 0.0, 0.25), (0.3, 0.3, 0.5)) == -1  # the step
    assert plane_in(field, (-2.9, 0.0, 0.0), (0.3, 0.3, 0.1)) == -1  # the rim
    slope = HeightField(0.37 * np.arange(40.0)[:, None] * 0.1 + np.zeros(30), 0.1)
    assert set(slope.tables()["patches"].tolist()) == {0}
    assert len(slope.tables()["patches"]) == -(-39 // BLOCK_CELLS) * -(-29 // BLOCK_CELLS)
    waves = HeightField(np.sin(np.arange(40.0))[:, None] + np.zeros(30), 0.1)
    assert len(waves.tables()["planes"]) == 0
