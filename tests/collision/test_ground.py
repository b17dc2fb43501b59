"""What is refused as ground, in one line that names the element; and what is kept of it."""

from __future__ import annotations

import numpy as np
import pytest

from collision import Box, Compound, HeightField, InputError, Pose, TriangleMesh, shape_from_dict, signed_distance
from sim import World
from tests.physics.grounds import box_mesh, uneven_floor

SQUARE = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
HALVES = [(0, 1, 2), (0, 2, 3)]


@pytest.mark.parametrize(
    ("vertices", "triangles", "says"),
    [
        ([*SQUARE[:3], (0, np.nan, 0)], HALVES, "vertices[3] = [0.0, nan, 0.0]: must be three finite numbers"),
        (SQUARE, [*HALVES, (1, 2, 4)], "triangles[2] = [1, 2, 4]: must be rows of the 4 vertices"),
        (SQUARE, [*HALVES, (1, 2, 2)], "triangles[2] = [1, 2, 2]: has no area: its corners lie on a line; leave it out"),
        (
            SQUARE,
            [*HALVES, (2, 3, 0)],
            "triangles[2] = [2, 3, 0]: is there twice, first as triangles[1]; leave it out",
        ),
        (SQUARE, np.zeros((0, 3), int), "triangles = 0: must be from 1 to 2000000 rows"),
        (SQUARE, [(0.0, 1.0, 2.0)], "triangles = [(0.0, 1.0, 2.0)]: must be an (m, 3) array of whole numbers"),
    ],
)
def test_bad_meshes(vertices, triangles, says):
    with pytest.raises(InputError) as error:
        TriangleMesh(vertices, triangles)
    assert str(error.value) == says


def test_bad_fields():
    heights = np.zeros((4, 5))
    heights[2, 3] = np.nan
    with pytest.raises(InputError, match=r"heights\[2, 3\] = nan: must be a finite number"):
        HeightField(heights)
    with pytest.raises(InputError, match="2 x 2 to 4096 x 4096"):
        HeightField(np.zeros((1, 5)))
    with pytest.raises(InputError, match="cell = 0"):
        HeightField(np.zeros((3, 5)), cell=0)


def test_where_ground_can_not_be():
    floor = uneven_floor(4, 1.0)
    with pytest.raises(InputError, match="without a mass"):
        World().add(floor)
    with pytest.raises(InputError, match="no inside to feel"):
        World().add(floor, kind="static", sensor=True)
    with pytest.raises(InputError, match="a static body of its own"):
        Compound([(floor, Pose())])
    with pytest.raises(InputError, match="is ground"):
        signed_distance(floor, Pose(), Box(), Pose())


def test_vertices_at_one_place_are_one():
    loose = TriangleMesh([SQUARE[k] for triple in HALVES for k in triple], np.arange(6).reshape(2, 3))
    assert len(loose.vertices) == 4
    assert not loose.closed
    assert loose.sides == 2
    assert box_mesh((1, 1, 1)).closed
    assert box_mesh((1, 1, 1)).sides == 1


def test_dict_and_file(tmp_path):
    import trimesh

    for ground in (uneven_floor(5, 1.0), HeightField(np.arange(12.0).reshape(3, 4), 0.5)):
        again = shape_from_dict(ground.to_dict())
        assert again == ground
        assert hash(again) == hash(ground)
    floor = uneven_floor(5, 1.0)
    trimesh.Trimesh(floor.vertices, floor.triangles, process=False).export(tmp_path / "floor.ply")
    read = TriangleMesh.load(tmp_path / "floor.ply")
    assert np.allclose(read.vertices, floor.vertices, atol=1e-6)
    assert len(read.triangles) == len(floor.triangles)
    trimesh.Trimesh(floor.vertices, [*floor.triangles, floor.triangles[0]], process=False).export(tmp_path / "twice.ply")
    assert len(TriangleMesh.load(tmp_path / "twice.ply").triangles) == 32


def test_pictures_are_fields(tmp_path):
    from PIL import Image

    grey = np.arange(12, dtype=np.uint8).reshape(3, 4) * 20
    Image.fromarray(grey).save(tmp_path / "hills.png")
    field = HeightField.load(tmp_path / "hills.png", cell=2.0, low=-1.0, high=1.0)
    assert field.heights.shape == (4, 3)
    assert field.cell == 2.0
    assert field.heights[1, 2] == pytest.approx(-1.0 + 2.0 * 20 / 255)  # second column, upper row
    with pytest.raises(InputError, match="no such file"):
        HeightField.load(tmp_path / "none.png")


def test_memory():
    mesh = uneven_floor(60, 30.0)
    tables = mesh.columns()
    kept = sum(tables[name].nbytes for name in ("corners", "triangles", "across", "nodes", "bounds", "order"))
    assert kept < 100 * len(mesh.triangles)
