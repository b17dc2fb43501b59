"""Mesh files: what becomes a hull, what a compound, what is repaired with a warning, what is refused."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import trimesh

from collision.errors import InputError
from collision.mass import mass_properties
from collision.mesh import MeshWarning, cache_folder, load_mesh
from collision.shapes import Compound, ConvexHull


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TUMBLE_CACHE_DIR", str(tmp_path / "cache"))


def bracket() -> trimesh.Trimesh:
    """An L of three unit cubes: volume 3, not convex."""
    outline = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    vertices = np.array([(x, y, z) for z in (0, 1) for x, y in outline], float)
    cap = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
    faces = [f[::-1] for f in cap] + [tuple(i + 6 for i in f) for f in cap]
    for i in range(6):
        j = (i + 1) % 6
        faces += [(i, j, j + 6), (i, j + 6, i + 6)]
    return trimesh.Trimesh(vertices, faces, process=False)


@pytest.mark.parametrize("suffix", ["stl", "obj", "ply", "glb", "gltf"])
def test_a_convex_mesh_is_one_hull(tmp_path, suffix):
    trimesh.creation.box((1, 2, 3)).export(path := tmp_path / f"box.{suffix}")
    shape = load_mesh(path, scale=0.1)
    assert isinstance(shape, ConvexHull)
    m = mass_properties(shape)
    assert len(shape.vertices) == 8
    assert m.volume == pytest.approx(0.006, rel=1e-6)
    assert np.diag(m.inertia) == pytest.approx(0.006 / 12 * np.array([0.13, 0.10, 0.05]), rel=1e-6)


def test_a_bracket_is_cut_into_pieces_once(tmp_path, monkeypatch):
    bracket().export(path := tmp_path / "bracket.ply")
    shape = load_mesh(path)
    assert isinstance(shape, Compound)
    m = mass_properties(shape)
    assert m.volume == pytest.approx(3, rel=0.05)
    assert m.center == pytest.approx((5 / 6, 5 / 6, 0.5), abs=0.03)
    assert len(list(cache_folder().glob("*.npz"))) == 1
    assert load_mesh(path, scale=2.0) == Compound([(ConvexHull(2.0 * s.vertices), p) for s, p in shape.parts])

    monkeypatch.setattr("collision.mesh._cut", lambda *_: pytest.fail("cut although it stands in the cache"))
    assert load_mesh(path) == shape
    monkeypatch.undo()
    monkeypatch.setenv("TUMBLE_CACHE_DIR", str(tmp_path / "elsewhere"))
    assert load_mesh(path) == shape  # seeded: cut anew it is the same


def test_a_broken_cache_file_is_cut_anew(tmp_path):
    bracket().export(path := tmp_path / "bracket.ply")
    shape = load_mesh(path)
    (file,) = cache_folder().glob("*.npz")
    file.write_bytes(file.read_bytes()[:100])
    assert load_mesh(path) == shape


def test_hull_of_a_bracket(tmp_path):
    bracket().export(path := tmp_path / "bracket.stl")
    shape = load_mesh(path, convex="hull")
    assert isinstance(shape, ConvexHull)
    assert mass_properties(shape).volume == pytest.approx(3.5, rel=1e-6)


def test_inside_out_is_turned_with_a_warning(tmp_path):
    mesh = bracket()
    mesh.invert()
    mesh.export(path := tmp_path / "inverted.ply")
    with pytest.warns(MeshWarning, match="turned outward"):
        shape = load_mesh(path)
    assert mass_properties(shape).volume == pytest.approx(3, rel=0.05)


def test_mixed_faces_are_turned_with_a_warning(tmp_path):
    mesh = bracket()
    mesh.faces[::3] = mesh.faces[::3, ::-1]
    mesh.export(path := tmp_path / "mixed.ply")
    with pytest.warns(MeshWarning, match="turned outward"):
        assert mass_properties(load_mesh(path)).volume == pytest.approx(3, rel=0.05)


def test_a_small_hole_is_closed_with_a_warning(tmp_path):
    mesh = trimesh.creation.box((1, 2, 3))
    mesh.update_faces(np.arange(12) > 0)
    mesh.export(path := tmp_path / "hole.stl")
    with pytest.warns(MeshWarning, match="holes of the mesh were closed"):
        assert mass_properties(load_mesh(path)).volume == pytest.approx(6, rel=1e-6)


def refused(path, match, **options):
    with pytest.raises(InputError, match=match) as caught:
        load_mesh(path, **options)
    assert "\n" not in str(caught.value)
    return caught.value


def test_what_can_not_be_used_is_refused_in_one_line(tmp_path, monkeypatch):
    open_ball = trimesh.creation.icosphere(2)
    open_ball.update_faces(open_ball.triangles_center[:, 2] > 0)
    open_ball.export(tmp_path / "open.stl")
    refused(tmp_path / "open.stl", "is not watertight; close its holes, or take its hull")
    assert isinstance(load_mesh(tmp_path / "open.stl", convex="hull"), ConvexHull)

    assert refused(tmp_path / "none.stl", "there is no such file").value == str(tmp_path / "none.stl")
    refused(tmp_path / "shape.step", "unknown format; known are .stl, .obj")
    (tmp_path / "empty.stl").touch()
    refused(tmp_path / "empty.stl", "is empty|can not be read")
    (tmp_path / "noise.stl").write_bytes(bytes(range(256)) * 2)
    refused(tmp_path / "noise.stl", "can not be read|is empty|not finite|is not watertight")
    (tmp_path / "text.obj").write_text("this is no mesh\n")
    refused(tmp_path / "text.obj", "is empty|can not be read")
    (tmp_path / "broken.glb").write_bytes(b"glTF\x02\x00")
    refused(tmp_path / "broken.glb", "can not be read")
    (tmp_path / "flat.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    refused(tmp_path / "flat.obj", "is flat: it has no volume", convex="hull")
    (tmp_path / "nan.obj").write_text("v 0 0 0\nv 1 0 nan\nv 0 1 0\nf 1 2 3\n")
    refused(tmp_path / "nan.obj", "not finite")
    bracket().export(path := tmp_path / "bracket.stl")
    refused(path, "must be", convex="exact")
    refused(path, "scale = 0", scale=0)
    monkeypatch.setattr("collision.mesh.MOST_FACES", 10)
    refused(path, "too large: 20 triangles, at most 10")
    monkeypatch.setattr("collision.mesh.MOST_BYTES", 100)
    refused(path, "too large")


def test_naming_a_mesh_loader_loads_no_compiler():
    code = "import sys; from collision import load_mesh; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
