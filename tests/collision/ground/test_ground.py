"""What is refused as ground, in one line that names the element; and what is kept of it."""

from __future__ import annotations

import base64
import json
import tracemalloc
import zlib

import numpy as np
import pytest

from tests.physics.grounds import box_mesh, uneven_floor
from tumble.collision import (
    Box,
    Capsule,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HeightField,
    InputError,
    Pose,
    Sphere,
    Status,
    TriangleMesh,
    colliding,
    contact_manifold,
    shape_from_dict,
    signed_distance,
)
from tumble.sim import World

SQUARE = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
HALVES = [(0, 1, 2), (0, 2, 3)]


@pytest.mark.parametrize(
    ("vertices", "triangles", "says"),
    [
        ([*SQUARE[:3], (0, np.nan, 0)], HALVES, "vertices[3] = [0.0, nan, 0.0]: must be three finite numbers"),
        (SQUARE, [*HALVES, (1, 2, 4)], "triangles[2] = [1, 2, 4]: must be rows of the 4 vertices"),
        (SQUARE, [*HALVES, (1, 2, 2)], "triangles[2] = [1, 2, 2]: has no area: its corners lie on a line; leave it out"),
        (SQUARE, [*HALVES, (2, 3, 0)], "triangles[2] = [2, 3, 0]: is there twice, first as triangles[1]; leave it out"),
        (SQUARE, np.zeros((0, 3), int), "triangles = 0: must be from 1 to 2000000 rows"),
        (SQUARE, [(0.0, 1.0, 2.0)], "triangles[0, 0] = 0.0: must be a whole number"),
        (SQUARE, [*HALVES, (1, 2, np.nan)], "triangles[2, 2] = nan: must be a whole number"),
        (SQUARE, [*HALVES, (1, 2)], "triangles[2] = (1, 2): must be an (m, 3) array of whole numbers"),
        (SQUARE, [(0, 1, 2, 3)], "triangles = [(0, 1, 2, 3)]: must be an (m, 3) array of whole numbers"),
        ([*SQUARE[:3], (0, "one", 0)], HALVES, "vertices[3, 1] = 'one': must be a number"),
        ([*SQUARE[:3], (0, 1)], HALVES, "vertices[3] = (0, 1): must be an (n, 3) array of numbers"),
        ([(0, 0), (1, 0), (0, 1)], [(0, 1, 2)], "vertices = [(0, 0), (1, 0), (0, 1)]: must be an (n, 3) array of numbers"),
    ],
)
def test_bad_meshes(vertices, triangles, says):
    with pytest.raises(InputError) as error:
        TriangleMesh(vertices, triangles)
    assert str(error.value) == says


def test_a_mesh_of_trimesh_is_taken_as_it_is():
    trimesh = pytest.importorskip("trimesh")
    surface = trimesh.creation.box((2.0, 1.0, 0.5))
    assert TriangleMesh(surface) == TriangleMesh(surface.vertices, surface.faces)
    assert TriangleMesh(surface, two_sided=True).sides == 2
    with pytest.raises(InputError) as error:
        TriangleMesh(surface, surface.faces)
    assert str(error.value).startswith("triangles = [[")
    assert str(error.value).endswith("beside a mesh, which has its own")
    for given in (surface.vertices, trimesh.Scene(surface), "floor.stl"):
        with pytest.raises(InputError) as error:
            TriangleMesh(given)
        assert str(error.value) == (
            "triangles = None: must be given: TriangleMesh(vertices, triangles), or a mesh of trimesh alone"
        )


def test_bad_fields():
    heights = np.zeros((4, 5))
    heights[2, 3] = np.nan
    with pytest.raises(InputError, match=r"heights\[2, 3\] = nan: must be a finite number"):
        HeightField(heights)
    with pytest.raises(InputError, match="2 x 2 to 4096 x 4096"):
        HeightField(np.zeros((1, 5)))
    with pytest.raises(InputError, match="cell = 0"):
        HeightField(np.zeros((3, 5)), cell=0)
    with pytest.raises(InputError, match=r"heights\[1\] = \[0\]: must be 2 numbers, as the other rows are"):
        HeightField([[0, 1], [0]])
    with pytest.raises(InputError, match=r"heights\[1, 0\] = None: must be a number"):
        HeightField([[0, 1], [None, 1]])
    with pytest.raises(InputError, match=r"heights = \[0, 1, 2\]: must be an \(n, m\) array of numbers"):
        HeightField([0, 1, 2])


PLY = """ply
format ascii 1.0
element vertex 3
property float x
property float y
property float z
element face 2
property list uchar int vertex_indices
end_header
0 0 0
1 0 0
0 1 0
3 0 1 2
3 {}
"""


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.ply", PLY.format("0 1 7"), "faces[1] = [0, 1, 7]: must be rows of the 3 vertices"),
        ("a.ply", PLY.format("0 1 -2"), "faces[1] = [0, 1, -2]: must be rows of the 3 vertices"),
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 0 nan 0\nf 1 2 3\n", "vertices[2] = [0.0, nan, 0.0] is not finite"),
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "line 4, 'f 1 2 9': faces must name vertices from 1 to 3"),
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -9\n", "line 4, 'f 1 2 -9': faces must name vertices from 1 to 3"),
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n", "line 4, 'f 0 1 2': faces must name vertices from 1 to 3"),
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 0 x 0\nf 1 2 3\n", "line 3, 'v 0 x 0': must be finite numbers"),
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 c\n", "line 4, 'f 1 2 c': must be numbers of vertices"),
    ],
)
def test_bad_files_are_told_with_what_is_wrong_in_them(name, text, says, tmp_path):
    pytest.importorskip("trimesh")
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as error:
        TriangleMesh.load(tmp_path / name)
    assert says in str(error.value)


def test_where_ground_can_not_be():
    floor = uneven_floor(4, 1.0)
    with pytest.raises(InputError, match="without a mass"):
        World().add(floor)
    with pytest.raises(InputError, match="no inside to feel"):
        World().add(floor, kind="static", sensor=True)
    with pytest.raises(InputError, match="a static body of its own"):
        Compound([(floor, Pose())])
    with pytest.raises(InputError, match="is ground"):
        contact_manifold(floor, Pose(), Box(), Pose())
    with pytest.raises(InputError, match="is ground, as the other one is"):
        signed_distance(floor, Pose(), floor, Pose())


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


def test_arrays_on_disk_are_fields(tmp_path):
    heights = np.arange(12.0).reshape(3, 4)
    np.save(tmp_path / "hills.npy", heights)
    assert HeightField.load(tmp_path / "hills.npy", cell=0.5) == HeightField(heights, cell=0.5)
    np.save(tmp_path / "objects.npy", np.array([[{}, 1], [2, 3]], dtype=object))
    with pytest.raises(InputError, match="is no array that NumPy reads"):
        HeightField.load(tmp_path / "objects.npy")
    np.save(tmp_path / "gaps.npy", np.where(heights == 5, np.nan, heights))
    with pytest.raises(InputError, match=r"heights\[1, 1\] = nan"):
        HeightField.load(tmp_path / "gaps.npy")
    with pytest.raises(InputError, match="no such file"):
        HeightField.load(tmp_path / "none.npy")


def test_memory():
    mesh = uneven_floor(60, 30.0)
    tables = mesh.columns()
    kept = sum(tables[name].nbytes for name in ("corners", "triangles", "across", "nodes", "bounds", "order"))
    assert kept < 100 * len(mesh.triangles)


SHAPES = [
    Sphere(0.2), Box((0.2, 0.1, 0.3)), Capsule(0.1, 0.2), Cylinder(0.1, 0.2), Cone(0.1, 0.2), Ellipsoid((0.1, 0.2, 0.3)),
    ConvexHull(0.2 * np.random.default_rng(2).normal(size=(8, 3))),
    Compound([(Sphere(0.1), Pose((0.3, 0, 0))), (Box((0.1, 0.1, 0.1)), Pose())]),
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.type)
def test_distances_to_a_mesh_of_a_box_are_those_to_the_box(shape):
    """The interval holds the true distance; the other way round it is the same; twin: a mesh that is 1e-9 m larger."""
    half, rng = (1.0, 0.7, 0.5), np.random.default_rng(3)
    mesh, larger, apart, out = box_mesh(half), box_mesh(tuple(h + 1e-9 for h in half)), 0, 0
    for _ in range(40):
        q = rng.normal(size=4)
        at = Pose(rng.uniform(-2, 2, 3), q / np.linalg.norm(q))
        exact = signed_distance(shape, at, Box(half), Pose())
        if exact.lower <= 0.0:
            continue
        apart += 1
        r, turned = signed_distance(shape, at, mesh, Pose()), signed_distance(mesh, Pose(), shape, at)
        assert r.distance == pytest.approx(exact.distance, abs=1e-13)
        assert r.lower <= exact.upper
        assert exact.lower <= r.upper
        assert r.upper - r.lower < 1e-12
        assert r.status == Status.SEPARATED
        assert turned.distance == r.distance
        assert np.array_equal(turned.normal, -r.normal)
        assert r.point_b - r.point_a == pytest.approx(r.distance * r.normal, abs=1e-9)
        assert not colliding(shape, at, mesh, Pose())
        near = signed_distance(shape, at, larger, Pose())
        out += not (near.lower <= exact.distance <= near.upper)
        beyond = signed_distance(shape, at, mesh, Pose(), margin=0.5 * exact.distance)
        assert beyond.status == Status.BEYOND_MARGIN
        assert 0.5 * exact.distance < beyond.lower <= exact.upper
    assert apart > 10
    assert out == apart


def test_ground_is_a_thin_sheet():
    mesh = box_mesh((1.0, 0.7, 0.5))
    through = signed_distance(Sphere(0.2), Pose((0, 0, 0.6)), mesh, Pose())
    assert through.lower <= -0.1 <= through.upper
    assert through.status == Status.OVERLAPPING
    assert colliding(Sphere(0.2), Pose((0, 0, 0.6)), mesh, Pose())
    inside = signed_distance(Sphere(0.2), Pose(), mesh, Pose())
    assert inside.lower <= 0.3 <= inside.upper
    moved = Pose((3.0, 1.0, 2.0), (0.6, 0.0, 0.8, 0.0))
    assert signed_distance(Sphere(0.2), moved @ Pose((0, 0, 0.9)), mesh, moved).distance == pytest.approx(0.2, abs=1e-14)


def test_points_and_a_box():
    """Inside it is negative; within the error that is told; twin: the error is not so large that it says nothing."""
    half = np.array((1.0, 0.7, 0.5))
    points = np.random.default_rng(4).uniform(-1.5, 1.5, (2000, 3))
    found = box_mesh(tuple(half)).signed_distances(points)
    q = np.abs(points) - half
    exact = np.linalg.norm(np.maximum(q, 0.0), axis=1) + np.minimum(q.max(axis=1), 0.0)
    assert found.signed
    assert (exact < 0).sum() > 100
    assert (np.abs(found.distance - exact) <= found.error).all()
    assert found.error.max() < 1e-13
    assert np.linalg.norm(points - found.point, axis=1) == pytest.approx(np.abs(exact), abs=1e-14)
    assert found.triangle.max() < 12


def test_points_and_a_surface_that_is_not_convex():
    """A spike into a box: nearest are corners and edges where the normals of single triangles mislead about the side."""
    box = box_mesh((1.0, 1.0, 1.0))
    top = np.flatnonzero((box.vertices[:, 2] == 1.0)[box.triangles].all(axis=1))
    ring = [3, 1, 5, 7]  # around the top
    assert (box.vertices[ring, 2] == 1.0).all()
    kept = np.delete(box.triangles, top, axis=0)
    spike = [(ring[k], ring[(k + 1) % 4], 8) for k in range(4)]
    for way in (1, -1):
        mesh = TriangleMesh([*box.vertices.tolist(), (0.0, 0.0, -0.9)], [*kept.tolist(), *(t[::way] for t in spike)])
        if mesh.closed:
            break
    assert mesh.closed
    points = np.random.default_rng(5).uniform(-1.2, 1.2, (4000, 3))
    found = mesh.signed_distances(points)
    depth = np.maximum(np.abs(points[:, 0]), np.abs(points[:, 1]))  # the spike is a pyramid with its tip down at -0.9
    solid = (np.abs(points) < 1.0).all(axis=1) & (points[:, 2] < -0.9 + 1.9 * depth)
    assert np.array_equal(found.distance < 0, solid)


def test_points_and_fields():
    rng = np.random.default_rng(6)
    field = HeightField(0.3 * rng.uniform(size=(20, 30)), 0.1)
    sheet = TriangleMesh(*field.surface())
    points = rng.uniform(-1.2, 1.2, (1000, 3))
    found, other = field.signed_distances(points), sheet.signed_distances(points)
    assert np.abs(found.distance) == pytest.approx(other.distance, abs=1e-14)
    assert found.signed
    assert not other.signed
    low, high = field.bounds
    over = ((points > low) & (points < high))[:, :2].all(axis=1)
    assert (found.distance[over & (points[:, 2] > 0.3)] > 0).all()
    assert (found.distance[over & (points[:, 2] < 0.0)] < 0).all()
    assert (found.distance[~over] > 0).all()
    assert field.signed_distances((0.0, 0.0, 5.0)).distance.shape == (1,)
    with pytest.raises(InputError, match=r"points = .*must be an \(n, 3\) array of finite numbers"):
        field.signed_distances([(0.0, np.nan, 1.0)])


def test_large_grounds_are_stored_packed_and_read_back():
    """To the last bit, in as many bytes as the numbers have; small ones stay lists, and both forms are read."""
    rng = np.random.default_rng(8)
    field = HeightField(rng.normal(size=(150, 120)), 0.5, smooth=False)
    mesh = TriangleMesh(*field.surface(), two_sided=False)
    for ground in (field, mesh):
        data = json.loads(json.dumps(ground.stored()))
        assert shape_from_dict(data) == ground == shape_from_dict(ground.to_dict())
    assert len(json.dumps(field.stored())) < 11 * field.heights.size
    assert len(json.dumps(field.to_dict())) > 18 * field.heights.size
    assert uneven_floor(5, 1.0).stored() == uneven_floor(5, 1.0).to_dict()


@pytest.mark.parametrize(
    "harm",
    [{"kind": "O"}, {"shape": [150, 121]}, {"shape": [150, 119]}, {"shape": [2**20, 2**20]}, {"shape": [-1, -1]}, {"shape": 3},
     {"bits": "??"}, {"bits": "AAAA"}, {"bits": None}, {"bits": base64.b64encode(zlib.compress(bytes(10**8))).decode()}],
)  # fmt: skip
def test_packed_arrays_that_were_harmed_are_refused(harm):
    """In one line, and before zeros of a thousand to one are unpacked."""
    data = HeightField(np.random.default_rng(8).normal(size=(150, 120))).stored()
    tracemalloc.start()
    with pytest.raises(InputError, match="heights = .*is no packed array"):
        shape_from_dict(data | {"heights": data["heights"] | harm})
    assert tracemalloc.get_traced_memory()[1] < 5e6
    tracemalloc.stop()


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.type)
def test_distances_to_a_rough_mesh_are_the_least_of_those_to_its_triangles(shape):
    """From near and from far, where many triangles are left out by their boxes; twin: without the nearest one it is another."""
    rng = np.random.default_rng(11)
    field = HeightField(0.4 * rng.normal(size=(9, 8)), 0.3)
    mesh = TriangleMesh(*field.surface())
    for scale in (0.7, 3.0, 30.0):
        q = rng.normal(size=(2, 4))
        at, where = (Pose(scale * rng.normal(size=3), each / np.linalg.norm(each)) for each in q)
        found = signed_distance(shape, at, mesh, where)
        single = [signed_distance(shape, at, TriangleMesh(mesh.vertices, [t]), where) for t in mesh.triangles]
        assert found.lower <= min(one.upper for one in single)
        assert min(one.lower for one in single) <= found.upper
        assert found.upper - found.lower < 1e-10 * scale
        if found.lower > 0.0:
            k = int(np.argmin([one.distance for one in single]))
            holed = TriangleMesh(
                mesh.vertices,
                np.delete(mesh.triangles, [t for t in range(len(single)) if single[t].distance < found.upper + 1e-9], axis=0),
            )
            assert signed_distance(shape, at, holed, where).lower > found.upper
            assert single[k].distance == pytest.approx(found.distance, abs=1e-10 * scale)
