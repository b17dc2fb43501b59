"""Islands that fall asleep and wake: nothing moves by it, the books close, and what wakes stands as it stood."""

from __future__ import annotations

import numpy as np
import pytest

from tumble.collision import Box, HalfSpace, Sphere
from tumble.sim import Hinge, InputError, Scene, World
from tumble.sim.forces.force_definitions import ConstantForce, UniformGravity

CUBE = Box((0.1, 0.1, 0.1))


def tower(n: int = 3, **options) -> World:
    world = World(**{"sleep_after": 0.1, **options})
    world.add(HalfSpace(), kind="static", name="floor")
    for k in range(n):
        world.add(CUBE, name=f"box {k}", position=(0, 0, 0.1 + 0.2 * k))
    return world


def test_a_tower_falls_asleep_and_stays_where_it_was():
    world = tower()
    world.step(23)
    assert not world.asleep.any()
    before, contacts = world.positions, world.contacts()
    world.step(2)
    assert list(world.asleep) == [False, True, True, True]
    solves = world.statistics()["solves"]
    world.step(240)
    assert np.abs(world.positions - before).max() < 1e-12
    assert world.statistics()["solves"] == solves  # it costs no solve
    assert len(world.contacts()) == len(contacts)
    assert world.contacts()["force"][:, 2].sum() == pytest.approx(contacts["force"][:, 2].sum(), rel=1e-6)
    assert np.abs(world.velocities).max() == 0
    assert [e.kind for e in world.events()] == 3 * ["begin"]  # asleep is no end of a contact
    assert world.ledger.closes


def test_awake_again_it_is_what_it_was_when_it_fell_asleep():
    world = tower()
    world.step(30)
    assert world.asleep.any()
    x, q, asleep = world.positions, world.orientations, world.contacts()
    world.apply_impulse(world["box 2"], (0, 0, 0))
    assert not world.asleep.any()
    assert np.array_equal(world.positions, x)
    assert np.array_equal(world.orientations, q)
    awake = world.contacts()
    assert np.array_equal(awake["feature"], asleep["feature"])
    assert np.allclose(awake["impulse"], asleep["impulse"], atol=1e-9 * np.abs(asleep["impulse"]).max())
    world.step(20)
    assert np.abs(world.positions - x).max() < 1e-11
    assert [e.kind for e in world.events() if e.kind != "begin"] == []


def test_the_kick_starts_from_the_impulses_it_fell_asleep_with():
    """It then has nothing to solve; with the impulses forgotten it has (the failing twin)."""

    def iterations(forget: bool) -> float:
        world = tower(10)
        world.step(30)
        assert world.asleep[1:].all()
        before = world.statistics()["iterations"]
        if forget:
            world._dormant["impulse"][:] = 0.0
        world.wake()
        world.contacts()  # of the kick that it wakes with
        return world.statistics()["iterations"] - before

    assert iterations(forget=False) == 0
    assert iterations(forget=True) > 0


def test_a_ball_wakes_a_sleeping_tower_and_the_books_close():
    def run(sleep_after):
        world = tower(4, sleep_after=sleep_after)
        ball = world.add(Sphere(0.1), name="ball", position=(-2, 0, 0.5), velocity=(4.1, 0, 2.4), restitution=0.3)
        world.step(100)
        slept = world.asleep.any()
        world.step(60)
        assert world.ledger.closes
        assert world.statistics()["impact_gain"] < 1e-12
        return world, slept, ball

    sleeping, slept, _ = run(0.1)
    waking, never, _ = run(0.0)
    assert slept
    assert not never
    assert not sleeping.asleep[1:4].all()
    assert np.abs(sleeping.positions - waking.positions).max() < 1e-6  # before chaos has told
    assert np.abs(sleeping.positions[4, 0]) > 1e-3  # the ball has moved the top
    p = sleeping.momentum() + sleeping.reservoir[0]
    mass = sum(body.mass for body in sleeping.bodies if body.kind == "dynamic")
    ball = sleeping["ball"].mass * np.array([4.1, 0, 2.4])
    assert p == pytest.approx(ball + mass * sleeping.gravity * sleeping.time, abs=1e-9 * mass)


def test_energy_that_sleep_takes_is_in_the_ledger():
    """A box that creeps more slowly than the threshold is stopped by sleep, without friction to do it."""
    world = World(sleep_after=0.1, sleep_speed=0.01)
    world.add(HalfSpace(), kind="static", friction=0)
    box = world.add(CUBE, position=(0, 0, 0.1), velocity=(0.005, 0, 0), friction=0)
    world.step(48)
    assert world.asleep[1]
    assert world.ledger.sleep == pytest.approx(-box.mass * 0.005**2 / 2, rel=1e-9)
    assert world.ledger.closes
    x = box.position[0]
    world.step(48)
    assert box.position[0] == x


def test_removal_of_the_support_wakes():
    world = tower()
    world.step(40)
    assert world.asleep.any()
    world.remove(world["box 0"])
    world.step(24)
    assert world["box 2"].position[2] == pytest.approx(0.5 - 0.5 * 9.81 * 0.1**2, abs=1e-9)


def test_a_cart_that_starts_wakes_what_it_touches():
    world = World(sleep_after=0.1)
    cart = world.add(Box((1, 1, 0.1)), kind="kinematic", position=(0, 0, -0.1), friction=1.0)
    box = world.add(CUBE, position=(0, 0, 0.1), friction=1.0)
    world.step(60)
    assert world.asleep[1]
    cart.velocity = (0.5, 0, 0)
    world.step(120)
    assert box.velocity[0] == pytest.approx(0.5, abs=1e-6)
    assert world.ledger.closes


def test_a_neighbour_at_a_distance_does_not_wake():
    world = tower(1)
    world.step(40)
    ball = world.add(Sphere(0.05), position=(0.3, 0, 1.0))
    world.step(1)
    assert world.asleep[1]
    world.apply_impulse(ball, (0, 0, 0.1))
    ball.velocity = (0, 0, 0)
    world.step(40)
    assert list(world.asleep) == [False, True, False]
    world.step(120)
    assert ball.position[2] == pytest.approx(0.05, abs=1e-6)


def test_a_sleeping_world_is_saved_bit_for_bit(tmp_path):
    world = tower()
    world.add(Sphere(0.1), position=(0, 0, 2.0))
    for steps in (40, 60):
        world.step(steps)
        world.save(tmp_path / "w.npz")
        again = World.load(tmp_path / "w.npz")
        assert again.state_hash() == world.state_hash()
        assert np.array_equal(again.asleep, world.asleep)
        twin = World.load(tmp_path / "w.npz")
        again.step(80)
        twin.step(80)
        assert again.state_hash() == twin.state_hash()
    world.step(80)
    assert again.state_hash() == world.state_hash()
    assert again.ledger == world.ledger


def test_what_is_put_on_a_sleeper_wakes_it():
    world = tower(1)
    world.step(40)
    assert world["box 0"].asleep
    world.add(Sphere(0.1), name="ball", position=(0, 0, 0.3))
    assert world.contacts()["body_b"].tolist().count(2) == 1
    assert not world.asleep.any()
    world.step(60)
    assert world.asleep[1:].all()
    assert world.positions[2, 2] == pytest.approx(0.3, abs=1e-9)
    assert world.ledger.closes


@pytest.mark.parametrize("how", ["force", "pair", "joint", "belt", "floor", "position", "exclude", "wake"])
def test_changes_from_outside_wake(how):
    world = World(sleep_after=0.1)
    floor = world.add(Box((1, 1, 0.1)), kind="static", name="floor", position=(0, 0, -0.1))
    box = world.add(CUBE, name="box", position=(0, 0, 0.1))
    world.step(60)
    assert box.asleep
    if how == "force":
        world.add_force(ConstantForce(force=(8 * box.mass, 0, 0)), bodies=["box"])
    elif how == "pair":
        world.set_pair("floor", "box", friction=0.0)
    elif how == "joint":
        world.add_joint(Hinge(None, box, anchor=(0, 0, 0.1), axis=(0, 0, 1)))
    elif how == "belt":
        floor.surface_velocity = (1, 0, 0)
    elif how == "floor":
        floor.position = (0, 0, -10)
    elif how == "position":
        box.position = (0, 0, 0.3)
    elif how == "exclude":
        world.exclude("floor", "box")
    else:
        world.wake()
    assert not box.asleep
    world.step(120)
    moves = {"force", "belt", "floor", "exclude"}
    assert box.asleep == (how not in {*moves, "joint"})
    if how in moves:
        assert np.abs(box.velocity).max() > 0.1
    assert world.ledger.closes


def test_a_slow_lift_keeps_what_it_carries_awake():
    world = World(sleep_after=0.1)
    world.add(Box((1, 1, 0.1)), kind="kinematic", position=(0, 0, -0.1), velocity=(0, 0, 1e-4))
    box = world.add(CUBE, position=(0, 0, 0.1))
    world.step(240)
    assert not box.asleep
    assert box.position[2] == pytest.approx(0.1001, abs=1e-9)


def test_what_pulls_a_sleeping_body_is_its_own_field():
    """A new body brings the forces up to date: a sleeper keeps the uniform fields that it fell asleep in."""
    world = World(sleep_after=0.1)
    world.add(HalfSpace(), kind="static")
    box = world.add(CUBE, position=(0, 0, 0.1))
    world.add_force(UniformGravity((0, 0, -5.0)), bodies=[box])
    world.step(60)
    assert box.asleep
    energy = world.energy().potential
    assert energy == pytest.approx(box.mass * 14.81 * 0.1, rel=1e-9)
    ball = world.add(Sphere(0.1), position=(1, 0, 0.1))
    world.step(1)
    assert box.asleep
    assert world.energy().potential == pytest.approx(energy + ball.mass * 9.81 * 0.1, rel=1e-9)
    world.wake()
    assert world.energy().potential == pytest.approx(energy + ball.mass * 9.81 * 0.1, rel=1e-9)


def test_sleep_is_part_of_a_scene(tmp_path):
    from tumble.scenarios.files.scene_files import load_scene, save_scene

    scene = Scene(name="nap", sleep_after=0.5, sleep_speed=2e-3, sleep_spin=3e-2)
    scene.add(HalfSpace(), kind="static")
    save_scene(scene, tmp_path / "nap.toml")
    again = load_scene(tmp_path / "nap.toml")
    assert again == scene
    world = again.build()
    settings = world.settings
    assert (settings.sleep_steps, settings.sleep_speed, settings.sleep_spin) == (120, 2e-3, 3e-2)
    world.add(CUBE, position=(0, 0, 1))
    assert world.scene.sleep_after == 0.5
    with pytest.raises(InputError) as error:
        World(sleep_after=-1)
    assert error.value.name == "sleep_after"


def test_sleep_is_off_where_nobody_asks():
    world = tower(1, sleep_after=0.0)
    world.step(240)
    assert not world.asleep.any()


def test_what_falls_asleep_leaves_a_mechanism_beside_it_as_it_was():
    """A swinging chain of two links: nothing was set, so its velocities are not put together anew."""
    world = tower(1)
    arm = world.add(Box((0.2, 0.02, 0.02)), name="arm", position=(2.2, 0, 1))
    world.add_joint(Hinge(None, arm, anchor=(2, 0, 1), axis=(0, 1, 0)))
    hand = world.add(Box((0.2, 0.02, 0.02)), name="hand", position=(2.6, 0, 1))
    world.add_joint(Hinge(arm, hand, anchor=(2.4, 0, 1), axis=(0.1, 1, 0)))
    mass = sum(body.mass for body in world.bodies if body.kind == "dynamic")
    start = world.momentum() + world.reservoir[0]
    for _ in range(60):
        world.step()
        off = world.momentum() + world.reservoir[0] - start - mass * world.gravity * world.time
        assert np.abs(off).max() < 1e-13 * mass * 9.81
    assert list(world.asleep) == [False, True, False, False]
    assert world.ledger.user == 0.0
    assert world.ledger.closes
