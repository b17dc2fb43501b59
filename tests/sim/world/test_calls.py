"""Calls that a person expects: names that are wrong, arrays that are read-only, parameters that change while a world runs."""

from __future__ import annotations

import inspect
import signal
import threading
import time

import numpy as np
import pytest

from tumble.collision import Box, Compound, HalfSpace, InputError, Pose, Sphere
from tumble.sim import Drag, Every, Hinge, Recorder, Scene, Spring, World, Worlds
from tumble.sim.world import compiled_recording as recollected
from tumble.sim.world.world_queries import ARRAYS


def test_a_typo_is_named():
    with pytest.raises(InputError, match="positon = .*did you mean position"):
        World().add(Sphere(1), positon=(0, 0, 1))
    with pytest.raises(InputError, match="frction = .*did you mean friction"):
        World().add_many(Sphere(1), [(0, 0, 0)], frction=1)
    assert {"position", "friction", "color"} <= set(inspect.signature(World.add).parameters)


def test_what_a_world_returns_is_read_only():
    world = World()
    ball = world.add(Sphere(1))
    for array in (world.positions, world.orientations, world.velocities, world.angular_velocities, ball.position, ball.velocity):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
    out = np.zeros((1, 3))
    world.read(centers_of_mass=out)
    with pytest.raises(InputError, match="did you mean positions"):
        world.read(position=out)


@pytest.mark.parametrize("many", [False, True])
def test_states_go_into_arrays_that_are_given(many):
    scene = Scene()
    scene.add(Sphere(0.1), position=(0, 0, 1), velocity=(1, 2, 3), angular_velocity=(0, 1, 0))
    scene.add(Box(), position=(5, 0, 1))
    worlds = Worlds(scene, 3) if many else scene.build()
    worlds.step(3)
    for name in ARRAYS:
        told = getattr(worlds, name)
        out = np.full((2, *told.shape), np.nan)[1]  # a part of another array will do
        worlds.read(**{name: out})
        assert np.array_equal(out, told)
        for wrong in (out[..., :2], out[..., None], out.tolist(), told):
            with pytest.raises(InputError, match=f"{name} = .*must be an array of shape"):
                worlds.read(**{name: wrong})


def test_views_of_bodies_and_joints_agree_with_the_arrays():
    world = World()
    turn = np.random.default_rng(3).normal(size=4)
    arm = world.add(
        Box((0.1, 0.2, 0.5)), position=(0, 0, 1.5), center_of_mass=(0.01, 0.02, 0.1), inertia=(0.1, 0.2, 0.25), mass=3.0,
        orientation=turn / np.linalg.norm(turn),
    )  # fmt: skip
    hinge = world.add_joint(Hinge(None, arm, anchor=(0, 0, 2), axis=(0, 1, 0)))
    arm.angular_velocity = (0, 2, 0)
    for _ in range(20):
        world.step(5)
        for name in ("position", "velocity", "angular_velocity", "orientation"):
            whole = {"velocity": "velocities", "angular_velocity": "angular_velocities"}.get(name, f"{name}s")
            assert getattr(arm, name) == pytest.approx(getattr(world, whole)[0], rel=1e-13, abs=1e-14)
        assert hinge.speed == pytest.approx(arm.angular_velocity[1], rel=1e-12)


def test_bodies_from_arrays_are_those_added_one_by_one():
    one, many = World(), World()
    places = np.random.default_rng(0).normal(size=(7, 3)) * 5
    for place in places:
        one.add(Box((0.1, 0.2, 0.3)), position=place, friction=0.2)
    bodies = many.add_many(Box((0.1, 0.2, 0.3)), places, friction=0.2)
    assert many.names == one.names
    assert bodies[3] is many["box_4"]
    one.step(10)
    many.step(10)
    assert one.state_hash() == many.state_hash()
    with pytest.raises(InputError, match="masses = 2"):
        many.add_many(Sphere(1), places, masses=[1, 2])


def test_the_energy_of_changed_parameters_is_the_users():
    world = World()
    arm = world.add(Box((0.1, 0.1, 0.5)), position=(0, 0, 1.5))
    hinge = world.add_joint(Hinge(None, arm, anchor=(0, 0, 2), axis=(0, 1, 0), stiffness=5.0))
    arm.angular_velocity = (0, 1, 0)
    world.step(50)
    before, angle = world.ledger.user, hinge.angle
    hinge.stiffness = 50.0
    world.step()
    assert world.ledger.user - before == pytest.approx(0.5 * (50.0 - 5.0) * angle**2, rel=1e-9)
    before, energy = world.ledger.user, world.energy().total
    speed = hinge.speed
    arm.mass = 2 * arm.mass
    assert hinge.speed == pytest.approx(speed)
    assert world.energy().total != pytest.approx(energy)
    world.step()
    hinge.damping, hinge.limits = 1.0, (-0.01, 0.01)
    world.step(200)
    assert abs(hinge.angle) < 0.0101
    assert world.ledger.closes
    with pytest.raises(InputError, match="damping = -1"):
        hinge.damping = -1


def test_a_body_changes_its_kind_and_friction():
    world = World()
    world.add(HalfSpace(), kind="static")
    crate = world.add(Box((0.5, 0.5, 0.5)), position=(0, 0, 3))
    world.step(20)
    at = crate.position
    crate.kind = "static"
    world.step(20)
    assert np.array_equal(crate.position, at)
    crate.kind = "dynamic"
    crate.friction, crate.restitution = 0.1, 0.5
    world.step(1000)
    assert crate.position[2] == pytest.approx(0.5, abs=1e-6)
    assert world.ledger.closes
    assert world.contacts()["friction"][0] == pytest.approx(np.sqrt(0.1 * 0.5))


def test_other_threads_run_while_it_computes():
    world = World()
    world.add(Sphere(0.5), position=(0, 0, 1e6))
    world.step(2)
    turns = []
    thread = threading.Thread(target=lambda: [turns.append(time.perf_counter()) or time.sleep(0.001) for _ in range(20)])
    begun = time.perf_counter()
    world._pace = 100_000  # one compiled call
    thread.start()
    world.step(100_000)
    ended = time.perf_counter()
    thread.join()
    assert sum(begun < turn < ended for turn in turns) >= 3


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer")
def test_a_long_call_ends_with_ctrl_c():
    world = World()
    world.add(Sphere(0.5), position=(0, 0, 1e6))
    world.step(2)
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            world.step(10_000_000_000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    steps = world.step_count
    world.step(3)
    assert world.step_count == steps + 3
    assert world.time == pytest.approx(world.step_count * world.dt)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer")
@pytest.mark.parametrize(("call", "tries"), [(0.05, 5), (0.7, 1)])
def test_ctrl_c_is_heard_within_a_fifth_of_a_second(call, tries, monkeypatch):
    """The twin steps for most of a second in a call. The first of some tries that is soon enough: others may have the processor,
    which makes no wait of the twin shorter."""
    monkeypatch.setattr("tumble.sim.world.parts.stepping.CALL", call)
    world = World()
    world.add_many(Sphere(0.5), [(2 * k, 0, 1e6) for k in range(20)])
    world.step(200_000)
    steps = 0
    while world._pace > steps:  # until calls are as long as they may, however fast the machine is
        steps = world._pace
        world.step(steps)

    def ring(number, frame):
        raise KeyboardInterrupt

    def waited() -> float:
        rung = time.perf_counter() + 0.1
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            world.step(10_000_000_000)
        return time.perf_counter() - rung

    previous = signal.signal(signal.SIGALRM, ring)
    try:
        heard = any(waited() < 0.2 for _ in range(tries))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert heard == (call < 0.2)


def scattered() -> World:
    """Contacts that outgrow the room for pairs, a joint with a spring, forces with a potential, and impacts."""
    world = World()
    world.add(HalfSpace(), kind="static")
    boxes = world.add_many(Box((0.1, 0.1, 0.1)), [(0.21 * (k % 4), 0.21 * (k // 4), 0.25 + 0.1 * (k % 3)) for k in range(12)])
    world.add_joint(Hinge(boxes[0], boxes[1], anchor=(0.1, 0, 0.3), axis=(0, 1, 0), stiffness=3.0, armature=0.01))
    world.add_force(Spring(boxes[5].name, boxes[6].name, stiffness=20.0, length=0.1))
    return world


def plain() -> World:
    """As :func:`scattered`, without energies that a sample has to be asked for alone; and with a driven body."""
    world = World()
    world.add(HalfSpace(), kind="static")
    world.add(Box((0.4, 0.4, 0.1)), kind="kinematic", position=(0, 0, 0.1), velocity=(0.1, 0, 0), angular_velocity=(0, 0, 1))
    lump = Compound([(Box((0.1, 0.05, 0.03)), Pose()), (Sphere(0.06), Pose((0.1, 0, 0)))])
    bodies = world.add_many(lump, [(0.3 * (k % 4), 0.3 * (k // 4), 0.4 + 0.1 * (k % 3)) for k in range(14)], velocity=(0.1, 0, 1))
    world.add_joint(Hinge(bodies[0], bodies[1], anchor=(0.1, 0, 0.4), axis=(0, 1, 0)))
    world.add_force(Drag(linear=0.3))
    return world


@pytest.mark.parametrize("made", [scattered, plain])
@pytest.mark.parametrize("block", [recollected.BLOCK, 40])
def test_a_run_that_nobody_watches_is_recorded_as_by_an_observer(made, block, monkeypatch):
    """By the compiled step and by an observer: the same samples, bit for bit, and the same end; in blocks of any size."""
    monkeypatch.setattr(recollected, "BLOCK", block)
    alone, watched = made(), made()
    one, two = alone.run(0.5), watched.run(0.5, [Recorder()])
    assert alone.state_hash() == watched.state_hash()
    assert len(one) == len(two) == 121
    assert set(one._arrays) == set(two._arrays)
    for name in two._arrays:
        assert np.array_equal(one._arrays[name], two._arrays[name]), name
    assert one.summary()["energy_drift"] == two.summary()["energy_drift"]
    assert {k for k, v in two.attributes.items() if one.attributes[k] != v} <= {
        "started", "wall_seconds", "recording_seconds", "compression",
    }  # fmt: skip
    alone.bodies[3].mass = 9.0  # what comes later does not change it
    assert np.array_equal(one.potential, two.potential)


def test_samples_at_once_know_no_springs(monkeypatch):
    """So a world that has some is asked sample by sample."""
    alone, watched = scattered(), scattered()
    one, two = alone.run(0.1), watched.run(0.1, [Recorder()])
    monkeypatch.setattr(recollected.Recollection, "has_potentials", False)
    assert np.array_equal(one.positions, two.positions)
    assert not np.array_equal(one.potential, two.potential)


@pytest.mark.parametrize("declared", [False, True])
def test_a_run_tells_of_the_scene_at_its_start(declared):
    """Whatever is done to the world, or to its scene, before the run is asked: of worlds made of a scene, and body by body."""
    scene = Scene(name="drop", parameters={"height": 2})
    scene.add(Sphere(0.1), name="ball", position=(0, 0, 2), mass=1.0)
    world = scene.build() if declared else World()
    if not declared:
        world.add(Sphere(0.1), name="ball", position=(0, 0, 2), mass=1.0)
    run, then = world.run(0.1), world.scene.to_dict()
    world.scene.name, world.scene.parameters["height"] = "another", 3
    world.scene.bodies.clear()
    world["ball"].mass = 5.0
    world.set_material("ice", friction=0.1)
    world.add(Box(), name="box")
    assert run.scene.to_dict() == then
    assert [b.mass for b in run.scene.bodies] == [1.0]
    assert (run.scene.name, run.scene.parameters) == (("drop", {"height": 2}) if declared else ("world", {}))


def test_a_run_of_no_steps_has_one_sample():
    world = plain()
    assert world.run(0.0).steps.tolist() == [0]
    world.step(3)
    assert world.run(0.0, every=2).steps.tolist() == [3]
    assert world.run(1 / 240, every=2).steps.tolist() == [3, 4]
    assert world.run(1 / 240, every=2).steps.tolist() == [4, 5]


def test_each_so_manieth_step_is_kept():
    one, two = plain().run(0.1, every=5), plain().run(0.1, [Recorder(every=5)])
    assert one.steps.tolist() == two.steps.tolist() == [0, 5, 10, 15, 20, 24]
    assert np.array_equal(one.energy, two.energy)
    assert plain().run(0.1, [Every(2, lambda world: None)], every=5).steps.tolist() == one.steps.tolist()
    with pytest.raises(InputError, match="every = 5: is that of the recorder"):
        plain().run(0.1, [Recorder()], every=5)


def test_a_second_run_goes_on_where_the_first_one_ended():
    world = scattered()
    first, second = world.run(0.1), world.run(0.1)
    assert first.times[-1] == second.times[0]
    assert np.array_equal(first.positions[-1], second.positions[0])
    assert second.steps[-1] == world.step_count == 48
