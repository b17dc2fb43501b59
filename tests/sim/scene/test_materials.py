"""Materials: how the coefficients of two surfaces combine, pairs of their own, and the laws of restitution to choose from."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tumble.collision import Box, HalfSpace, InputError, Sphere
from tumble.sim import Scene, World

G = 9.81
RULES = {
    "geometric": lambda a, b: math.sqrt(a * b),
    "min": min,
    "max": max,
    "average": lambda a, b: (a + b) / 2,
    "multiply": lambda a, b: a * b,
}


def slide(world: World, **body) -> float:
    """The coefficient that stops a box: from where it stands still, v^2 = 2 mu g x."""
    box = world.add(Box((0.2, 0.2, 0.05)), position=(0, 0, 0.05), velocity=(2, 0, 0), **body)
    while box.velocity[0] > 1e-9:
        world.step(10)
    return 4 / (2 * G * box.position[0])


@pytest.mark.parametrize("rule", RULES)
def test_friction_of_two_bodies_combines_by_the_rule(rule):
    world = World(friction_rule=rule)
    world.add(HalfSpace(), kind="static", friction=0.8)
    assert slide(world, friction=0.3) == pytest.approx(RULES[rule](0.8, 0.3), rel=1e-4)


@pytest.mark.parametrize("rule", RULES)
def test_restitution_of_two_bodies_combines_by_the_rule(rule):
    world = World(restitution_rule=rule)
    world.add(HalfSpace(), kind="static", restitution=0.9)
    ball = world.add(Sphere(0.1), position=(0, 0, 1.1), restitution=0.4)
    start = world.energy().total - ball.mass * G * 0.1
    world.step(180)  # past the first bounce: falls for 0.45 s, up again for at least 0.16 s
    assert world.statistics()["impacts"] == 1 if RULES[rule](0.9, 0.4) > 0.7 else world.statistics()["impacts"] >= 1
    first = world.energy().total - ball.mass * G * 0.1
    bounces = world.statistics()["impacts"]
    assert first == pytest.approx(start * RULES[rule](0.9, 0.4) ** (2 * bounces), rel=1e-9)


def test_pairs_come_before_rules_and_the_narrower_pair_first():
    world = World()
    world.set_material("ice", friction=0.2, density=917)
    world.set_material("steel", friction=0.6, density=7850)
    floor = world.add(HalfSpace(), kind="static", material="ice", name="floor")
    boxes = [world.add(Box((0.1, 0.1, 0.1)), position=(0, k, 0.1), material="steel") for k in range(4)]
    plain = world.add(Box((0.1, 0.1, 0.1)), position=(0, -1, 0.1), friction=0.6)
    assert boxes[0].mass == pytest.approx(7850 * 0.008)
    world.set_pair(boxes[2], "ice", friction=0.03)
    world.set_pair(boxes[3], floor, friction=0.04)
    world.set_pair(boxes[3], "ice", friction=0.05)
    world.set_pair("steel", "ice", friction=0.02)  # last, and yet the widest
    world.step()
    c = world.contacts()
    mu = {int(b): set(c["friction"][c["body_b"] == b].tolist()) for b in set(c["body_b"].tolist())}
    by_rule = {math.sqrt(0.2 * 0.6)}
    assert mu == {1: {0.02}, 2: {0.02}, 3: {0.03}, 4: {0.04}, plain.index: by_rule}
    late = world.add(Box((0.1, 0.1, 0.1)), position=(0, 9, 0.1), material="steel")
    world.step()
    c = world.contacts()
    assert set(c["friction"][c["body_b"] == late.index].tolist()) == {0.02}


def test_a_pair_gives_only_what_it_names():
    world = World()
    floor = world.add(HalfSpace(), kind="static", friction=0.5)
    ball = world.add(Sphere(0.1), position=(0, 0, 1.1), friction=0.5, restitution=0.2)
    world.set_pair(ball, floor, restitution=1.0)
    start = world.energy().total
    world.step(480)
    assert world.statistics()["impacts"] >= 2
    assert world.energy().total == pytest.approx(start, rel=1e-12)
    world.set_pair(ball, floor, friction=0.1)  # in place of the one above
    assert world.pairs == [{"a": ball.name, "b": floor.name, "friction": 0.1}]


def test_pairs_of_a_body_leave_with_it():
    world = scene().build()
    world.step(10)
    world.remove(world.bodies[2])
    assert world.pairs == [{"a": "ice", "b": "steel", "friction": 0.02}]
    world.step(240)
    assert set(world.contacts()["friction"].tolist()) == {0.02}


def scene() -> Scene:
    out = Scene(friction_rule="min", restitution_rule="average", restitution_law="poisson")
    out.set_material("ice", friction=0.05, density=917.0, color="#80a0ff")
    out.set_material("steel", friction=0.6, restitution=0.5, density=7850.0)
    out.add(HalfSpace(), kind="static", name="floor", material="ice")
    out.add(Box((0.1, 0.2, 0.3)), position=(0, 0, 0.9), material="steel", angular_velocity=(1, 2, 3), name="crate")
    out.add(Sphere(0.1), position=(1, 0, 0.5), material="steel", friction=0.5, name="ball")  # 0.5: also what no material has
    out.set_pair("ice", "steel", friction=0.02)
    out.set_pair("ball", "floor", restitution=0.8)
    return out


def test_scenes_keep_materials_and_pairs(tmp_path):
    from tumble.scenarios.files.scene_files import load_scene, save_scene

    was = scene()
    assert Scene.from_dict(was.to_dict()) == was
    save_scene(was, tmp_path / "scene.toml")
    again = load_scene(tmp_path / "scene.toml")
    assert again == was
    assert again.bodies[2].friction == 0.5
    a, b = was.build(), again.build()
    a.step(240)
    b.step(240)
    assert a.state_hash() == b.state_hash()
    assert a.statistics()["impacts"] > 2
    assert a.scene == was


def test_saved_worlds_keep_materials_and_pairs(tmp_path):
    world = scene().build()
    world.step(60)
    world.save(tmp_path / "world.npz")
    again = World.load(tmp_path / "world.npz")
    for w in (world, again):
        w.add(Sphere(0.1), position=(2, 0, 0.5), material="steel", velocity=(1, 0, 0), name="late")
        w.set_pair("late", "ice", restitution=0.9)
        w.step(240)
    assert world.state_hash() == again.state_hash()
    assert again.options == world.options != World().options


def test_the_laws_of_restitution_differ_as_the_law_of_one_point_does():
    """A rod that strikes with its lower end: V11, regime C-stick, up to gravity's share of the flight, which is off."""
    expected = {"newton": (0.0, 0.6), "poisson": (0.0, 0.528053274), "stronge": (0.0, 0.532259253)}
    a = math.radians(60)
    for law, (slip, rise) in expected.items():
        world = World(gravity=(0, 0, 0), restitution_law=law)
        world.add(HalfSpace(), kind="static", friction=0.7)
        # the sphere is so small that the rod ends in a point; the rest of the mass is in the numbers
        r = 1e-6
        rod = world.add(
            Sphere(r), position=(0, 0, r), mass=1.0, center_of_mass=(0.5 * math.cos(a), 0, 0.5 * math.sin(a)),
            inertia=np.diag([1 / 12, 1 / 12, 1 / 12]).tolist(), velocity=(0.3, 0, -1.0), friction=0.7, restitution=0.6,
        )  # fmt: skip
        world.step()
        tip = rod.velocity + np.cross(rod.angular_velocity, -np.array([0.5 * math.cos(a), 0, 0.5 * math.sin(a)]))
        assert tip[0] == pytest.approx(slip, abs=5e-6)
        assert tip[2] == pytest.approx(rise, abs=5e-6)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: World(friction_rule="mean"), "friction_rule"),
        (lambda: World(restitution_rule=3), "restitution_rule"),
        (lambda: World(restitution_law="hertz"), "restitution_law"),
        (lambda: Scene(restitution_law="hertz"), "restitution_law"),
        (lambda: World().add(Sphere(0.1), material="wood"), "material"),
        (lambda: World().set_material("wood", frixion=1), "frixion"),
        (lambda: World().set_material("wood", friction=-1), "friction"),
        (lambda: World().set_material("", friction=1), "name"),
        (lambda: World().set_pair("a", "b", friction=0.1), "pair"),
        (lambda: scene().set_pair("ice", "steel", mass=0.1), "mass"),
        (lambda: scene().set_pair("ice", "steel", restitution=2), "restitution"),
        (lambda: scene().set_pair("ice", "steel"), "coefficients"),
        (lambda: Scene(pairs=[{"a": "x", "b": "y", "friction": 1}], bodies=[]).build(), "pair"),
    ],
)
def test_bad_input_names_the_field(make, name):
    with pytest.raises(InputError) as error:
        make()
    assert error.value.name == name


def test_scene_files_say_what_a_pair_lacks(tmp_path):
    from tumble.scenarios.files.scene_files import SceneFileError, load_scene

    text = '[material.ice]\nfriction = 0.1\n[[body]]\nname = "floor"\nkind = "static"\nshape = { type = "halfspace" }\n[[pair]]\n'
    for pair, key, hint in (
        ('a = "ice"\nfriction = 0.1', "pair 1: b", "is missing"),
        ('a = "icy"\nb = "floor"', "pair 1: a", "did you mean ice"),
        ('a = "ice"\nb = "floor"\nfriction = -1', "pair 1: friction", "zero or positive"),
        ('a = "ice"\nb = "floor"', "pair 1: coefficients", "at least one of"),
    ):
        path = tmp_path / "scene.toml"
        path.write_text(text + pair + "\n")
        with pytest.raises(SceneFileError) as error:
            load_scene(path)
        assert error.value.name == key
        assert hint in str(error.value)


def test_static_friction_comes_from_bodies_materials_and_pairs():
    world = World(friction_rule="min")
    world.set_material("rubber", friction=0.6, static_friction=0.9)
    floor = world.add(HalfSpace(), kind="static", material="rubber")
    a = world.add(Box((0.1, 0.1, 0.1)), position=(0, 0, 0.1), material="rubber")
    b = world.add(Box((0.1, 0.1, 0.1)), position=(0, 1, 0.1), friction=0.5)  # static as kinetic
    c = world.add(Box((0.1, 0.1, 0.1)), position=(0, 2, 0.1), material="rubber")
    world.set_pair(c, floor, friction=0.1, static_friction=0.2)
    world.step()
    contacts = world.contacts()
    held = {k.name: set(contacts["friction"][contacts["body_b"] == k.index].tolist()) for k in (a, b, c)}
    assert held == {a.name: {0.9}, b.name: {0.5}, c.name: {0.2}}
    assert Scene.from_dict(world.scene.to_dict()) == world.scene
    for k in (a, b, c):
        k.velocity = (1, 0, 0)
    world.step(2)
    contacts = world.contacts()
    slides = {k.name: set(contacts["friction"][contacts["body_b"] == k.index].tolist()) for k in (a, b, c)}
    assert slides == {a.name: {0.6}, b.name: {0.5}, c.name: {0.1}}


@pytest.mark.parametrize(
    "make",
    [
        lambda: World().add(Sphere(0.1), friction=0.5, static_friction=0.4),
        lambda: scene().set_pair("ice", "steel", friction=0.5, static_friction=0.4),
        lambda: scene().set_pair("ice", "steel", static_friction=0.4),
        lambda: World().set_material("wood", friction=0.5, static_friction=0.4),
    ],
)
def test_static_friction_is_not_below_the_kinetic_one(make):
    with pytest.raises(InputError) as error:
        make()
    assert error.value.name == "static_friction"


def test_all_of_a_surface_is_saved(tmp_path):
    from tumble.scenarios.files.scene_files import load_scene, save_scene

    out = Scene()
    out.set_material("felt", friction=0.4, rolling_friction=0.004, torsional_friction=0.006, tangential_restitution=0.2)
    out.add(Box((2, 2, 0.1)), kind="static", name="belt", surface_velocity=(0.5, 0, 0), surface_spin=(0, 0, 0.2))
    out.add(Sphere(0.1), position=(0, 0, 0.2), material="felt", name="ball")
    out.set_pair("belt", "felt", rolling_friction=0.005)
    assert Scene.from_dict(out.to_dict()) == out
    save_scene(out, tmp_path / "scene.toml")
    assert load_scene(tmp_path / "scene.toml") == out
    world = out.build()
    world.step(30)
    world.bodies[0].surface_velocity = (0.7, 0, 0)
    world.save(tmp_path / "world.npz")
    again = World.load(tmp_path / "world.npz")
    for w in (world, again):
        w.step(60)
    assert world.state_hash() == again.state_hash()
    assert again.bodies[0].surface_velocity.tolist() == [0.7, 0, 0]
    assert world.contacts()["moment"][0].any()


@pytest.mark.parametrize("mu", [5e-324, 1e-158, 1e-20, 2e-9])
def test_next_to_no_friction_is_none(mu):
    """Bodies that slide and turn: solvers divide by the coefficient, and its square must not vanish.

    Static friction is the geometric mean with that of the floor, 2.4e-5 for the last: where it holds a point for a moment, it
    moves a body by up to that part of half g t^2. They land on the floor and on each other; later they clatter, and 1e-9 of
    friction leads to another run.
    """
    ends = []
    for friction in (mu, 0.0):
        world = World()
        world.add(HalfSpace(), kind="static", friction=friction, static_friction=0.3)
        for k in range(3):
            shape = Box((0.1, 0.07, 0.05))
            world.add(shape, position=(0, 0, 0.15 + 0.3 * k), velocity=(1, 0, -1), angular_velocity=(2, 1, 3), friction=friction)
        world.step(40)
        ends.append(world.positions)
        assert np.isfinite(world.positions).all()
    assert ends[0] == pytest.approx(ends[1], abs=max(1e-6, math.sqrt(0.3 * mu) * 9.81 * world.time**2 / 2))
