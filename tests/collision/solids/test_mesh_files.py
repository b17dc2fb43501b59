"""Mesh files: what becomes a hull, what a compound, what is repaired with a warning, what is refused."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
import trimesh

from tumble.collision.errors import InputError
from tumble.collision.pose import Pose
from tumble.collision.shapes.definitions import Box, Compound, ConvexHull, convex_parts, shape_from_dict
from tumble.collision.solids import mesh_files
from tumble.collision.solids.mass_properties import MassProperties, mass_properties
from tumble.collision.solids.mesh_files import cache_folder, convex_surfaces, load_mesh, load_meshes
from tumble.collision.solids.mesh_repair import MeshWarning, winding


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TUMBLE_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def _hollow_is_whole(monkeypatch):
    """The hollow ball takes ten seconds to cut, and has the mass of its mesh, not of its pieces: here its hull is the piece."""
    cut = mesh_files._cut

    def but_the_ball(path, points, faces):
        return [points] if len(faces) == 160 else cut(path, points, faces)

    monkeypatch.setattr(mesh_files, "_cut", but_the_ball)


def hollow_ball() -> trimesh.Trimesh:
    """A ball with a hollow, 80 faces each."""
    mesh = trimesh.util.concatenate([trimesh.creation.icosphere(1), trimesh.creation.icosphere(1, radius=0.5)])
    mesh.faces[len(mesh.faces) // 2 :] = mesh.faces[len(mesh.faces) // 2 :, ::-1]
    return mesh.apply_translation((6, 0, 0))


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
    assert len(list(cache_folder().glob("*.npz"))) == 1
    double = load_mesh(path, scale=2.0)
    assert double.parts == tuple((ConvexHull(2.0 * s.vertices), p) for s, p in shape.parts)

    monkeypatch.setattr("tumble.collision.solids.mesh_files._cut", lambda *_: pytest.fail("cut although it stands in the cache"))
    assert load_mesh(path) == shape
    monkeypatch.undo()
    monkeypatch.setenv("TUMBLE_CACHE_DIR", str(tmp_path / "elsewhere"))
    assert load_mesh(path) == shape  # seeded: cut anew it is the same


def three_cubes() -> Compound:
    """The bracket once more, as three boxes."""
    return Compound([(Box((0.5, 0.5, 0.5)), Pose(x)) for x in ((0.5, 0.5, 0.5), (1.5, 0.5, 0.5), (0.5, 1.5, 0.5))])


def assert_same_mass(found, expected, tolerance):
    assert found.volume == pytest.approx(expected.volume, rel=tolerance)
    assert np.abs(found.center - expected.center).max() < tolerance * 2
    assert np.abs(found.inertia - expected.inertia).max() < tolerance * expected.inertia.max()


@pytest.mark.parametrize(("suffix", "tolerance"), [("ply", 1e-6), ("obj", 1e-7), ("stl", 1e-6), ("glb", 1e-6)])
def test_the_mass_is_that_of_the_mesh_not_of_its_pieces(tmp_path, suffix, tolerance):
    bracket().export(path := tmp_path / f"bracket.{suffix}")
    shape = load_mesh(path, scale=0.1)
    m, exact = mass_properties(shape), mass_properties(three_cubes())
    expected = MassProperties(exact.volume * 1e-3, exact.center * 0.1, exact.inertia * 1e-5)
    assert_same_mass(m, expected, tolerance)
    pieces = mass_properties(Compound(shape.parts))
    assert abs(pieces.volume / m.volume - 1) > 10 * tolerance  # they do not come that close

    assert shape_from_dict(json.loads(json.dumps(shape.to_dict()))) == shape
    assert hash(pickle.loads(pickle.dumps(shape))) == hash(shape)
    nested = Compound([(shape, Pose((1, 2, 3), (0.8, 0.6, 0, 0))), (Box(), Pose((-2, 0, 0)))])
    boxes = Compound([(Box((0.05,) * 3), Pose(tuple(0.1 * np.array(p.position)))) for _, p in three_cubes().parts])
    same = Compound([(boxes, Pose((1, 2, 3), (0.8, 0.6, 0, 0))), (Box(), Pose((-2, 0, 0)))])
    assert_same_mass(mass_properties(nested), mass_properties(same), tolerance)
    assert nested.parts[: len(shape.parts)][0][0] == shape.parts[0][0]


@pytest.mark.usefixtures("_hollow_is_whole")
def test_a_hollow_counts_whichever_way_its_faces_look(tmp_path):
    """A shell within a shell: what is between them. Turning each outward would add the inner ball instead."""
    hollow = hollow_ball()
    between, n = hollow.volume, len(hollow.faces) // 2
    assert between == pytest.approx(trimesh.creation.icosphere(1).volume * (1 - 1 / 8))
    hollow.export(tmp_path / "right.ply")
    assert mass_properties(load_mesh(tmp_path / "right.ply")).volume == pytest.approx(between, rel=1e-6)
    for name, change in (("inverted", slice(None)), ("mixed", slice(0, None, 3)), ("outward", slice(n, None))):
        mesh = hollow.copy()
        mesh.faces[change] = mesh.faces[change, ::-1]
        mesh.export(path := tmp_path / f"{name}.ply")
        with pytest.warns(MeshWarning, match="turned outward, or into the hollow"):
            assert mass_properties(load_mesh(path)).volume == pytest.approx(between, rel=1e-6)


def two_boxes(edge, away) -> trimesh.Trimesh:
    unit = trimesh.creation.box((1, 1, 1)).apply_translation(away)
    return trimesh.util.concatenate([trimesh.creation.box((edge, edge, edge)), unit])


CORNERS = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
SIDES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def boxes_of_one_object_each(*places: tuple[float, float, float]) -> str:
    """An OBJ file of boxes of 1 m, with their least corners there."""
    lines = []
    for k, at in enumerate(places):
        lines.append(f"o box{k}")
        lines += ["v {} {} {}".format(*np.add(at, corner)) for corner in CORNERS]
        lines += ["f " + " ".join(str(8 * k + c + 1) for c in side) for side in SIDES]
    return "\n".join(lines)


def test_pieces_with_corners_in_common_are_those_that_they_are(tmp_path):
    """No surface of them is closed where their corners are one. Twins: as one object they are refused; a ball within a ball is no
    piece."""
    text = boxes_of_one_object_each((0, 0, 0), (1, 1, 0), (2, 1, 1))
    path, one, hollow = (tmp_path / name for name in ("edges.obj", "one.obj", "hollow.ply"))
    path.write_text(text)
    with pytest.warns(MeshWarning, match="3 closed convex surfaces"):
        shape = load_mesh(path)
    assert len(convex_parts(shape)) == 3
    assert mass_properties(shape).volume == pytest.approx(3.0, rel=1e-12)
    one.write_text("\n".join(line for line in text.splitlines() if not line.startswith("o ")))
    with pytest.raises(InputError, match="not watertight"):
        load_mesh(one)
    hollow_ball().export(hollow)
    assert convex_surfaces(hollow) == []


@pytest.mark.parametrize("spelt", ["names", "indices"])
def test_pieces_of_one_name_and_indices_from_where_they_stand(spelt, tmp_path):
    """Twin: trimesh's own way to split a file takes them for one, or for other points."""
    lines = boxes_of_one_object_each((0, 0, 0), (1, 1, 0), (2, 1, 1)).splitlines()
    for k, line in enumerate(lines):
        word, *rest = line.split()
        if word == "o" and spelt == "names":
            lines[k] = "g default"
        elif word == "f" and spelt == "indices":
            lines[k] = "f " + " ".join(str((int(corner) - 1) % 8 - 8) for corner in rest)
    (path := tmp_path / "pieces.obj").write_text("\n".join(lines))
    pieces = convex_surfaces(path)
    assert [points.min(axis=0).tolist() for points in pieces] == [[0, 0, 0], [1, 1, 0], [2, 1, 1]]
    split = trimesh.load(path, process=False, split_objects=True, split_groups=True)
    found = [mesh.bounds[0].tolist() for mesh in getattr(split, "geometry", {"whole": split}).values()]
    assert sorted(found) != [[0, 0, 0], [1, 1, 0], [2, 1, 1]]


def test_two_boxes_apart_and_one_turned_inside_out(tmp_path):
    mesh = trimesh.util.concatenate(
        [trimesh.creation.box((2, 2, 2)), trimesh.creation.box((1, 1, 1)).apply_translation((3, 0, 0))]
    )
    mesh.faces[12:] = mesh.faces[12:, ::-1]  # together 8 - 1
    mesh.export(path := tmp_path / "two.ply")
    with pytest.warns(MeshWarning, match="turned outward"):
        assert mass_properties(load_mesh(path)).volume == pytest.approx(9, rel=1e-6)


def test_a_mesh_that_passes_through_itself_has_the_mass_of_its_pieces(tmp_path, monkeypatch):
    """Two boxes that share 0.18 m^3: their surfaces enclose 1.36, they fill 1.18, and their hull 1.33."""
    mesh = trimesh.util.concatenate(
        [trimesh.creation.box((1, 1, 1)), trimesh.creation.box((1, 0.6, 0.6)).apply_translation((0.5, 0, 0))]
    )
    assert mesh.volume == pytest.approx(1.36)
    mesh.export(path := tmp_path / "overlap.stl")
    monkeypatch.undo()  # it takes ten seconds to cut, and stays cut for the next time
    with pytest.warns(MeshWarning, match="passes through itself"):
        assert mass_properties(load_mesh(path)).volume == pytest.approx(1.18, rel=0.06)


def test_winding_tells_inside_from_outside():
    triangles = np.asarray(bracket().triangles)
    rng = np.random.default_rng(0)
    for point in rng.uniform(-0.5, 2.5, (300, 3)):
        inside = (0 < point[2] < 1) and min(point[:2]) > 0 and max(point[:2]) < 2 and min(point[:2]) < 1
        assert winding(point, triangles) == pytest.approx(float(inside), abs=1e-12)


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
    assert mass_properties(shape).volume == pytest.approx(3, rel=1e-6)


def test_mixed_faces_are_turned_with_a_warning(tmp_path):
    mesh = bracket()
    mesh.faces[::3] = mesh.faces[::3, ::-1]
    mesh.export(path := tmp_path / "mixed.ply")
    with pytest.warns(MeshWarning, match="turned outward"):
        assert mass_properties(load_mesh(path)).volume == pytest.approx(3, rel=1e-6)


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
    refused(tmp_path / "empty.stl", "is empty")
    (tmp_path / "noise.stl").write_bytes(bytes(range(256)) * 2)
    refused(tmp_path / "noise.stl", "can not be read|is empty|not finite|is not watertight")
    (tmp_path / "text.obj").write_text("this is no mesh\n")
    refused(tmp_path / "text.obj", "is empty|can not be read")
    (tmp_path / "broken.glb").write_bytes(b"glTF\x02\x00")
    refused(tmp_path / "broken.glb", "can not be read: not a valid .glb file$")
    (tmp_path / "flat.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    refused(tmp_path / "flat.obj", "is flat: it has no volume", convex="hull")
    (tmp_path / "nan.obj").write_text("v 0 0 0\nv 1 0 nan\nv 0 1 0\nf 1 2 3\n")
    refused(tmp_path / "nan.obj", "not finite")
    bracket().export(path := tmp_path / "bracket.stl")
    refused(path, "must be", convex="exact")
    refused(path, "scale = 0", scale=0)
    monkeypatch.setattr("tumble.collision.solids.mesh_files.MOST_MESH_FACES", 10)
    refused(path, "too large: 20 triangles, at most 10")
    monkeypatch.setattr("tumble.collision.solids.mesh_files.MOST_FILE_BYTES", 100)
    refused(path, "too large")


def test_naming_a_mesh_loader_loads_no_compiler():
    code = "import sys; from tumble.collision import load_mesh; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.usefixtures("_hollow_is_whole")
def test_bodies_of_one_file_are_told_apart(tmp_path):
    """A box, an L, and a ball with a hollow: convex ones come out as they are, not cut, and nothing is filled between them."""
    box, ball = trimesh.creation.box((1, 1, 1)).apply_translation((-3, 0, 0)), hollow_ball()
    trimesh.util.concatenate([box, bracket(), ball]).export(path := tmp_path / "three.ply")
    with pytest.warns(MeshWarning, match="3 closed bodies, taken as one rigid body"):
        whole = load_mesh(path)
    assert mass_properties(whole).volume == pytest.approx(1 + 3 + ball.volume, rel=1e-6)
    first, second, third = load_meshes(path)
    assert isinstance(first, ConvexHull)
    assert len(first.vertices) == 8
    assert first.vertices.mean(axis=0) == pytest.approx((-3, 0, 0))
    assert_same_mass(mass_properties(second), mass_properties(three_cubes()), 1e-6)
    assert mass_properties(third).volume == pytest.approx(ball.volume, rel=1e-6)
    pieces = [*convex_parts(first), *convex_parts(second), *convex_parts(third)]
    assert [piece for piece, _ in convex_parts(whole)] == [piece for piece, _ in pieces]
    assert all(isinstance(hull, ConvexHull) for hull in load_meshes(path, convex="hull"))


def test_one_body_is_told_of_no_others(tmp_path):
    bracket().export(path := tmp_path / "bracket.ply")
    assert load_meshes(path) == [load_mesh(path)]
