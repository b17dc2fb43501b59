"""Bodies on ground of triangles move as on what the triangles stand for."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.sheets import FORMS, thrown
from tests.physics.grounds import SMALL, box_mesh, height_beyond, sheet, strip, uneven_floor, unlimited
from tests.physics.ridges import depth_and_contacts, round_depth_and_gap
from tumble.collision import (
    Box,
    Capsule,
    Compound,
    Cone,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    HeightField,
    Pose,
    Sphere,
    TriangleMesh,
    signed_distance,
)
from tumble.sim import World

FLOOR = uneven_floor()
CRATE, BALL = Box((0.2, 0.2, 0.2)), Sphere(0.2)
ROUND = [
    Capsule(0.1, 0.2), Cylinder(0.2, 0.1), Cone(0.2, 0.15), Ellipsoid((0.1, 0.2, 0.15)),
    Compound([(BALL, Pose()), (Box((0.3, 0.04, 0.04)), Pose((0.2, 0, 0)))]),
]  # fmt: skip


def path(ground, shape, position, velocity, spin=(0, 0, 0), seconds=1.0, friction=0.5, restitution=0.0, at=(0, 0, 0)):
    """(n, 9) position, velocity and angular velocity of a body, every 20 steps.

    The ground is added after it, as facets come after all bodies: a pair is computed in the order of its bodies, and the other
    order is off by rounding.
    """
    world = World()
    thrown = {"position": position, "velocity": velocity, "angular_velocity": spin}
    body = world.add(shape, **thrown, friction=friction, restitution=restitution)
    for one in ground if isinstance(ground, list) else [ground]:
        world.add(one, kind="static", position=at, friction=friction, restitution=restitution)
    rows = []
    for _ in range(round(seconds * 12)):
        world.step(20)
        rows.append(np.concatenate([body.position, body.velocity, body.angular_velocity]))
    return np.array(rows)


@pytest.mark.parametrize("heading", [0.0, 0.7, 2.5])
@pytest.mark.parametrize(
    ("shape", "height", "speed", "friction", "restitution"),
    [(CRATE, 0.2, 1.4, 0.01, 0.0), (BALL, 0.2, 1.3, 0.5, 0.0), (BALL, 0.7, 1.0, 0.5, 0.7), (CRATE, 0.2, 9.0, 0.4, 0.5)],
)
def test_flat_floor_of_triangles_is_a_half_space(shape, height, speed, friction, restitution, heading):
    thrown = ((0.01, 0.02, height), (speed * np.cos(heading), speed * np.sin(heading), 0.0))
    how = {"seconds": 10.0, "friction": friction, "restitution": restitution}
    on_mesh, on_plane = path(FLOOR, shape, *thrown, **how), path(HalfSpace(), shape, *thrown, **how)
    assert np.array_equal(on_mesh, on_plane)
    assert np.linalg.norm(on_plane[-1, :2]) > 1.0  # many triangles on the way


@pytest.mark.parametrize("seed", range(14))
def test_random_throws_over_uneven_triangles_are_those_over_a_half_space(seed):
    """Of any shape, size, heading, spin, friction and restitution, to the last bit: what tips over and tumbles too."""
    rng = np.random.default_rng(seed)
    shape = [Box(rng.uniform(0.05, 0.4, 3)), Sphere(rng.uniform(0.05, 0.4)), *ROUND][seed % 7]
    speed, heading = rng.uniform(0.1, 1.3), rng.uniform(0.0, 2.0 * np.pi)
    how = {"friction": rng.choice([0.0, rng.uniform()]), "restitution": rng.choice([0.0, rng.uniform(0.0, 0.9)]), "seconds": 6.0}
    thrown = ((0.01, 0.02, rng.uniform(0.45, 0.9)), (speed * np.cos(heading), speed * np.sin(heading), 0.0), rng.normal(size=3))
    floor = [FLOOR, HeightField(np.zeros((60, 60)), 0.5)][seed // 7]
    assert np.array_equal(path(floor, shape, *thrown, **how), path(HalfSpace(), shape, *thrown, **how))


def test_without_limits_of_normals_the_floor_has_ghosts():
    thrown = (CRATE, (0.01, 0.02, 0.4), (2.0, 0.8, 0.0), (1, 2, 3))
    floor, how = uneven_floor(12, 6.0), {"friction": 0.4, "restitution": 0.5}
    on_twin, on_plane = path(unlimited(floor), *thrown, **how), path(HalfSpace(), *thrown, **how)
    assert np.abs(path(floor, *thrown, **how) - on_plane).max() < 1e-9
    assert np.abs(on_twin - on_plane).max() > 1e-4


@pytest.mark.parametrize("shape", [Cylinder(0.2, 0.1), Capsule(0.1, 0.2), Ellipsoid((0.1, 0.2, 0.15)), CRATE])
def test_all_shapes_tumble_on_triangles_as_on_a_half_space(shape):
    thrown = (shape, (0.3, 0.1, 0.6), (1.0, 0.3, 0.0), (1.0, 0.5, 2.0))
    on_mesh, on_plane = (path(ground, *thrown, restitution=0.2, seconds=1.5) for ground in (FLOOR, HalfSpace()))
    assert np.array_equal(on_mesh, on_plane)


@pytest.mark.parametrize("shape", [CRATE, BALL, *ROUND], ids=lambda shape: shape.type)
@pytest.mark.parametrize("heading", [0.4, 3.3])
def test_all_shapes_go_down_a_slope_of_triangles_as_down_a_plane(shape, heading):
    """It is a plane of uneven triangles, tilted as a body. Let down on it, with a push aside, for 10 s."""
    turn = (np.cos(0.02), 0.0, np.sin(0.02), 0.0)
    ways = []
    for ground in (FLOOR, HalfSpace()):
        world = World()
        push = (0.4 * np.cos(heading), 0.4 * np.sin(heading), 0.0)
        body = world.add(shape, position=(-9.0, 0.0, 0.75), orientation=turn, velocity=push, friction=0.02)
        world.add(ground, kind="static", orientation=turn, friction=0.02)
        ways.append(np.array([[*body.position, *body.velocity] for _ in range(40) if world.step(60) is None]))
    assert np.array_equal(*ways)
    assert np.linalg.norm(ways[1][-1, :3] - (-9.0, 0.0, 0.6)) > 3.0


@pytest.mark.parametrize(
    ("shape", "position", "velocity", "spin", "friction", "restitution"),
    [
        (BALL, (0.8, 0.1, 0.2), (1.0, 0.1, 0.0), (0, 0, 0), 0.5, 0.0),  # rolls over the edge
        (CRATE, (0.5, 0.1, 0.2), (2.0, 0.1, 0.0), (0, 0, 0), 0.1, 0.0),  # tips over it
        (CRATE, (1.5, 0.1, -0.3), (-2.0, 0.1, 0.0), (0, 0, 0), 0.1, 0.0),  # meets the side
        (BALL, (0.93, 0.94, 0.6), (0.3, 0.1, 0.0), (0, 0, 0), 0.4, 0.5),  # the corner
        (Box((0.2, 0.1, 0.15)), (0.8, 0.1, 0.8), (0.3, 0.1, 0.0), (1, 2, 3), 0.4, 0.2),
    ],
)
def test_a_mesh_of_a_box_is_that_box(shape, position, velocity, spin, friction, restitution):
    how = {"spin": spin, "friction": friction, "restitution": restitution, "at": (0, 0, -0.5), "seconds": 0.7}
    half = (1.0, 1.0, 0.5)
    on_mesh, on_box = (path(ground, shape, position, velocity, **how) for ground in (box_mesh(half), Box(half)))
    assert np.abs(on_mesh - on_box).max() < 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_triangles_does_not_matter(seed):
    """A crate tips over the rim of a table, whichever of the two sides of the edge comes first."""
    half, rng = (1.0, 1.0, 0.5), np.random.default_rng(seed)
    plain = box_mesh(half)
    mixed = TriangleMesh(plain.vertices, rng.permutation(plain.triangles))
    how = {"friction": 0.1, "at": (0, 0, -0.5), "seconds": 0.6}
    on_mesh, on_box = (path(ground, CRATE, (0.5, 0.1, 0.2), (2.0, 0.1, 0.0), **how) for ground in (mixed, Box(half)))
    assert np.abs(on_mesh - on_box).max() < 1e-9


def test_what_lies_across_ridges_that_are_all_but_flat_is_told_to_touch():
    """Hulls on fields of triangles that bend by hundredths, by half of what their edges are deep at least.

    Twin: tests/sim/contact/spoiled.py."""
    found = np.array([depth_and_contacts(seed) for seed in range(40)])
    under = found[:, 0] > 1e-6
    assert under.sum() > 20
    assert (found[under, 1] < -0.5 * found[under, 0]).all()


@pytest.mark.parametrize("kind", ["capsule", "cylinder", "cone", "ellipsoid"])
def test_round_shapes_across_such_ridges_are_told_to_touch(kind):
    found = np.array([round_depth_and_gap(kind, seed) for seed in range(12)])
    under = found[:, 0] > 1e-6
    assert under.sum() > 8
    assert (found[under, 1] < -0.5 * found[under, 0]).all()


@pytest.mark.parametrize("ground", [FLOOR, HeightField(np.zeros((60, 60)), 0.5)], ids=["mesh", "field"])
def test_what_is_over_one_plane_meets_one_plane(ground):
    """Whatever the triangles: so many pairs and contacts as on a half-space, and the same motion. Not so at the rim."""
    worlds = []
    for floor in (ground, HalfSpace()):
        world = World()
        world.add(floor, kind="static")
        for k in range(6):
            world.add(CRATE, position=(0.9 * k - 3.0, 0.3 * k, 0.25), velocity=(1, 0.5, 0), angular_velocity=(0, 0, 1))
        world.step(120)
        worlds.append(world)
    level, plain = worlds
    assert level.model.pairs.count[0] == plain.model.pairs.count[0] == 6
    assert (level.model.geoms.face >= 0).sum() == 0
    assert np.abs(level.positions[1:] - plain.positions[1:]).max() < 1e-9
    rim = World()
    rim.add(ground, kind="static")
    rim.add(CRATE, position=(14.8, 0, 0.2))
    rim.step(5)
    assert (rim.model.geoms.face >= 0).sum() > 1


@pytest.mark.parametrize("below", [False, True])
def test_a_sheet_is_touched_from_both_sides(below):
    """A crate rests on a sheet, and another hangs below it, pressed against it: of two level pieces each has its side."""
    world = World(gravity=(0, 0, 9.81 if below else -9.81))
    world.add(FLOOR, kind="static")
    crate = world.add(CRATE, position=(0.1, 0.2, -0.2 if below else 0.2), velocity=(0.5, 0, 0))
    world.step(240)
    assert abs(abs(crate.position[2]) - 0.2) < 1e-9
    assert (crate.position[2] < 0) == below
    assert world.model.pairs.count[0] == 1


@pytest.mark.parametrize("shape", [BALL, CRATE])
def test_what_an_impact_turns_aside_meets_what_lay_off_its_way(shape):
    """A triangle that the flight would pass by, inside of the box of the flight, and that it comes to after an impact.

    Off the ceiling at mid-step, which takes nine tenths of the speed towards it, against a wall along the way that was.
    """
    world = World(gravity=(0, 0, 0), dt=0.01)
    world.add(HalfSpace((0, -1, 0), -0.7), kind="static", friction=0, restitution=0.1)
    wall = TriangleMesh([(0.6, 0.176, -2), (1.0, 0.576, -2), (1.0, 0.576, 2), (0.6, 0.176, 2)], [(0, 2, 1), (0, 3, 2)])
    world.add(wall, kind="static", friction=0, restitution=1.0)
    body = world.add(shape, position=(0, 0, 0), velocity=(100, 100, 0), friction=0, restitution=0.0)
    world.step(1)
    assert body.position[0] < 0.9


def test_over_a_hole_in_a_floor_there_is_nothing():
    kept = np.abs(FLOOR.vertices[FLOOR.triangles].mean(axis=1)[:, :2]).max(axis=1) > 1.5
    world = World()
    world.add(TriangleMesh(FLOOR.vertices, FLOOR.triangles[kept]), kind="static")
    over, beside = world.add(BALL, position=(0, 0, 0.3)), world.add(BALL, position=(4, 0, 0.3))
    world.step(120)
    assert over.position[2] < -0.5
    assert beside.position[2] == pytest.approx(0.2, abs=1e-6)


@pytest.mark.parametrize("angle", [5.0, 30.0, 90.0])
def test_a_valley_is_touched_on_both_sides(angle):
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    mesh = strip([*((x, 0.0) for x in np.linspace(-2, 0, 8)), *((c * l, s * l) for l in (0.13, 0.4, 1.7))], np.linspace(-1, 1, 6))
    thrown = (BALL, (-0.5, 0.1, 0.2), (2.0, 0.1, 0.0))
    walls = [HalfSpace(), HalfSpace((-s, 0.0, c))]
    on_mesh, on_planes = (path(ground, *thrown, friction=0.2, restitution=0.5, seconds=0.4) for ground in (mesh, walls))
    assert np.abs(on_mesh - on_planes).max() < 1e-9
    world = World()
    world.add(strip([(-1.0, 1.0), (0.0, 0.0), (1.0, 1.0)], np.array([-1.0, 0.2, 1.0])), kind="static")
    world.add(BALL, position=(0.0, 0.0, 0.2 * np.sqrt(2.0)))
    world.step(100)
    normals = {tuple(np.round(n, 6)) for n in np.abs(world.contacts()["normal"]).tolist()}
    assert len(world.contacts()) == 2
    assert normals == {(0.707107, 0.0, 0.707107)}


@pytest.mark.parametrize("shape", [Sphere(0.01), Box((0.01, 0.02, 0.03))])
@pytest.mark.parametrize("way", [-1.0, 1.0])
def test_nothing_tunnels_through_a_sheet(shape, way):
    """A corner of the box hits it, and 2.5 us later, turning at 4e4 rad/s, another one: as in steps of a sixth of that time."""
    runs = []
    for steps in (3, 30000):
        world = World(dt=3 / 240 / steps)
        world.add(sheet(1.0), kind="static", restitution=0.5)
        body = world.add(shape, position=(0.1, 0.2, -2.1 * way), velocity=(100, 30, 1000 * way), angular_velocity=(3, 40, 5))
        world.step(steps)
        assert body.position[2] * way < 0.0
        runs.append((body.velocity, [event.time for event in world.events() if event.kind == "impact"]))
    (coarse, times), (fine, known) = runs
    assert times[0] == pytest.approx(2.1e-3, abs=5e-5)
    assert times == pytest.approx(known, rel=1e-9)
    assert coarse == pytest.approx(fine, rel=1e-7)


@pytest.mark.parametrize("shape", SMALL, ids=lambda shape: shape.type)
@pytest.mark.parametrize("friction", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_no_shape_tunnels(shape, restitution, friction):
    """From both sides, at steps in which it goes 4 m. Twin: without the triangle each is beyond it.

    The sheet is large: what friction turns aside leaves at 800 m/s along it. ``tests/sim/spoiled.py`` has other twins.
    """
    for seed in range(2):
        assert height_beyond(sheet(10.0), shape, seed, restitution, friction) < 0.0
        assert height_beyond(None, shape, seed, restitution, friction) > 0.0


@pytest.mark.parametrize(("shape", "seed"), [(SMALL[6], 1), (SMALL[6], 8), (SMALL[2], 75), (SMALL[2], 118)])
def test_what_rests_on_a_sheet_and_turns_does_not_sink_through_it(shape, seed):
    """Hulls that rattle on their corners, the one two of them in turn, 1e-9 s apart; one that rests at a step and has turned by 8
    rad at the next; cylinders that fall flat within a step, the lower rim at rest, their middle beyond the sheet at its end."""
    for size in (1.0, 10.0):
        assert height_beyond(sheet(size), shape, seed, restitution=0.0) < 0.0


@pytest.mark.parametrize("seed", [256568, 823551, 728562, 577172, 967459, 840699])
def test_what_rests_on_a_corner_and_turns_is_followed(seed):
    """Plates that stick at 1 km/s and whirl about the corner that rests: at the end of the step they have turned by radians, and
    what is deep leaves. Twin: tests/sim/impact/spoiled.py."""
    for size in (1.0, 10.0):
        assert height_beyond(sheet(size), SMALL[5], seed, restitution=0.0, friction=1.0) < 0.0


@pytest.mark.parametrize("seed", [4219, 4481, 7797, 8978, 9266])
def test_so_it_is_where_its_step_is_not_divided(seed):
    assert height_beyond(sheet(10.0), SMALL[5], seed, restitution=0.0, friction=1.0, look_ahead=False) < 0.0


@pytest.mark.parametrize("seed", [458369, 161328, 612325, 539597, 600460, 887121, 803000, 174091, 171971, 531024, 581629])
def test_what_a_kick_let_rest_and_turns_far_is_followed(seed):
    """Cones that slap on a side, are kicked within the step, and turn on by radians. Twin: tests/sim/impact/spoiled.py."""
    assert height_beyond(sheet(10.0), SMALL[3], seed, restitution=0.0, friction=1.0) < 0.0


def test_what_leaves_a_sheet_slowly_and_turns_far_is_looked_at_in_time():
    """An ellipsoid that turns by 50 rad in the rest of the step, and comes back sooner than it left. Twin there, too."""
    assert thrown(1092, "ellipsoid", restitution=0.0, friction=1.0)[0] < 0.0


@pytest.mark.validate
@pytest.mark.parametrize("form", FORMS)
def test_no_form_of_any_size_tunnels(form):
    """Those that stick, do not bounce and whirl about what rests: the hardest. Others: `benchmarks.sheets`."""
    assert [seed for seed in range(2000) if thrown(seed, form, restitution=0.0, friction=1.0)[0] >= 0.0] == []


HILLS = HeightField(0.2 * np.sin(np.linspace(-4, 4, 41))[:, None] * np.cos(np.linspace(-2, 2, 41)), cell=0.1)


@pytest.mark.parametrize("ground", [HILLS, TriangleMesh(*HILLS.surface())], ids=["field", "mesh"])
@pytest.mark.parametrize("shape", [Sphere(0.1), CRATE, Ellipsoid((0.1, 0.2, 0.1)), Cone(0.1, 0.2)], ids=lambda shape: shape.type)
def test_a_sensor_feels_the_ground(ground, shape):
    """One that falls through it enters and leaves the surface in the steps in which its distance says so."""
    world = World(dt=1 / 480)
    world.add(ground, kind="static", name="ground")
    probe = world.add(shape, name="probe", position=(0.3, 0.2, 0.6), sensor=True, angular_velocity=(1, 2, 3))
    told, felt, inside = [], [], False
    for k in range(240):
        world.step()
        told += [(event.kind, k) for event in world.events()]
        now = signed_distance(shape, (probe.position, probe.orientation), ground, Pose()).distance <= 0.0
        if now != inside:
            felt.append(("enter" if now else "leave", k))
            inside = now
    assert told == felt
    assert [kind for kind, _ in told] == ["enter", "leave"]
    assert probe.position[2] < -0.5  # it touches nothing


def test_a_field_is_the_mesh_of_its_triangles():
    rng = np.random.default_rng(3)
    field = HeightField(0.1 * rng.uniform(size=(12, 9)), 0.3)
    mesh = TriangleMesh(*field.surface(), two_sided=False)
    thrown = (CRATE, (0.1, 0.05, 0.5), (0.3, 0.4, 0.0), (1, 2, 3))
    on_field, on_mesh = path(field, *thrown, restitution=0.3), path(mesh, *thrown, restitution=0.3)
    assert np.array_equal(on_field, on_mesh)
    assert on_field[-1, 2] > 0.1  # it lies on the field


def test_rays_and_neighbors():
    world = World()
    field = HeightField(np.add.outer(0.5 * np.arange(20.0), np.zeros(15)), 1.0)  # a slope: z = (x + 9.5) / 2
    ground = world.add(field, kind="static", position=(0, 0, 1))
    rng = np.random.default_rng(5)
    for origin, direction in zip(rng.uniform((-3, -3, 12), (3, 3, 15), (50, 3)), rng.normal(size=(50, 3)), strict=True):
        direction[2] = -abs(direction[2]) - 5.0
        hit = world.ray_cast(origin, direction)
        normal = np.array((-1.0, 0.0, 2.0)) / np.sqrt(5.0)
        away = normal @ (origin - (-9.5, 0.0, 1.0))
        assert hit.body is ground
        assert hit.distance == pytest.approx(-away / (normal @ direction) * np.linalg.norm(direction), rel=1e-12)
        assert np.allclose(hit.normal, normal, atol=1e-12)
    near = world.nearest(Sphere(0.25), Pose((0.3, 0.2, 9.0)))
    assert near[0].distance == pytest.approx(normal @ ((0.3, 0.2, 9.0) - np.array((-9.5, 0.0, 1.0))) - 0.25, rel=1e-12)
    mesh = World()
    mesh.add(TriangleMesh(*field.surface()), kind="static", position=(0, 0, 1))
    assert mesh.ray_cast((0.1, 0.2, 30), (0.01, 0.02, -1)).distance == pytest.approx(
        world.ray_cast((0.1, 0.2, 30), (0.01, 0.02, -1)).distance, rel=1e-13
    )


def test_saved_in_the_middle_and_joined_by_others(tmp_path):
    def built():
        world = World()
        world.add(FLOOR, kind="static")
        world.add(CRATE, position=(0, 0, 0.3), velocity=(1, 2, 0), angular_velocity=(1, 2, 3), restitution=0.3)
        world.step(60)
        world.add(BALL, name="late", position=(1, 0, 0.4), velocity=(-1, 1, 0))
        world.step(60)
        return world

    world = built()
    world.save(tmp_path / "world.npz")
    other = World.load(tmp_path / "world.npz")
    for each in (world, other):
        each.step(120)
    assert np.array_equal(world.positions, other.positions)
    assert np.array_equal(world.velocities, other.velocities)
    assert (world.positions[1:, 2] > 0.19).all()
    world.remove(world["box"])
    world.step(60)
    assert world["late"].position[2] == pytest.approx(0.2, abs=1e-6)


@pytest.mark.parametrize(("cells", "side"), [(100, 410), pytest.param(1000, 4096, marks=pytest.mark.validate)])
def test_a_world_on_large_grounds_is_saved_and_loaded(cells, side, tmp_path):
    """A field and a mesh, and among the validation cases each with as many numbers as there may be."""
    rng = np.random.default_rng(3)
    vertices, triangles = HeightField(0.01 * rng.normal(size=(cells + 1, cells + 1)), 0.1).surface()
    assert len(triangles) == 2 * cells**2
    mesh = TriangleMesh(vertices + rng.uniform(-0.01, 0.01, vertices.shape), triangles)
    field = HeightField(0.01 * rng.normal(size=(side, side)), 0.1)
    world = World()
    for height, ground in ((0.0, field), (-10.0, mesh)):
        world.add(ground, kind="static", position=(0, 0, height))
    for height in (0.0, -10.0):
        world.add(CRATE, position=(0, 0, height + 0.5), velocity=(1, 2, 0))
    world.step(20)
    world.save(tmp_path / "world.npz")
    again = World.load(tmp_path / "world.npz")
    for one in (world, again):
        one.step(40)
    assert again.state_hash() == world.state_hash()
    assert (tmp_path / "world.npz").stat().st_size < 23.8 * side**2
