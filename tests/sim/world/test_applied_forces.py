"""Forces and torques for one step: as exact as a built-in force, booked as the user's work."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tumble.collision import Box, HalfSpace, InputError
from tumble.sim import ConstantForce, Hinge, World
from tumble.sim.joints.burden import ALL, ITS_ISLAND, NOTHING

FORCE = (30.0, 0.0, -2000.0)  # within the cone of friction


def pressed(how: str, steps: int = 60) -> World:
    world = World()
    world.add(HalfSpace(), kind="static")
    crate = world.add(Box((0.5, 0.5, 0.5)), position=(0, 0, 0.5), name="crate")
    if how == "built in":
        world.add_force(ConstantForce(force=FORCE), bodies=[crate])
    for _ in range(steps):
        if how == "applied":
            crate.apply_force(FORCE)
        world.step()
    return world


def test_a_body_pressed_on_a_floor_is_as_under_a_built_in_force():
    """Bit for bit."""
    applied, built_in = pressed("applied"), pressed("built in")
    for name in ("positions", "velocities", "angular_velocities"):
        assert np.array_equal(getattr(applied, name), getattr(built_in, name))
    assert applied.ledger.closes
    assert applied.ledger.user == built_in.ledger.external
    assert applied.ledger.external == 0.0


def changing(world: World, steps: int) -> float:
    """Press a crate by another force in each step; how far it has left its place [m]."""
    crate = world["crate"]
    for k in range(steps):
        crate.apply_force((0.0, 0.0, -5000.0 * (1.0 + math.sin(k))))
        world.step()
    return abs(crate.position[2] - 0.5)


def test_a_force_that_changes_is_met_by_the_floor(monkeypatch):
    """The kick is done anew where the push changes; the twin that skips it sinks, and bounces."""
    assert changing(pressed("no push", 1), 100) < 1e-11
    monkeypatch.setattr("tumble.sim.world.applied_forces._bears", lambda world, i: NOTHING)
    assert changing(pressed("no push", 1), 100) > 1e-6


def towers(monkeypatch: pytest.MonkeyPatch, what: int | None, steps: int = 100) -> tuple[World, np.ndarray, int]:
    """Three towers of three crates, of which one is pressed and drawn at its top by another force in each step, within its
    friction; how far each crate has left its place, and how many islands were solved. ``what``: that is kicked anew."""
    world = World()
    world.add(HalfSpace(), kind="static")
    crates = [world.add(Box((0.5, 0.5, 0.5)), position=(3 * k, 0, 0.5 + z)) for k in range(3) for z in range(3)]
    world.step(10)
    start, solved = world.positions, world.statistics()["solves"]
    with monkeypatch.context() as patch:
        if what is not None:
            patch.setattr("tumble.sim.world.applied_forces._bears", lambda world, i: what)
        for k in range(steps):
            crates[2].apply_force((900.0 * math.sin(0.7 * k), 0.0, -4000.0 * (1.0 + math.sin(k))))
            world.step()
    return world, np.abs(world.positions - start).max(axis=1), world.statistics()["solves"] - solved


def test_only_the_island_of_a_push_is_solved_again(monkeypatch):
    """Each step solves three islands and that of the push once more; where all are kicked anew, six. It is as exact."""
    world, moved, solved = towers(monkeypatch, None)
    everyone, moved_then, solved_then = towers(monkeypatch, ALL)
    assert (solved, solved_then) == (100 * (3 + 1), 100 * (3 + 3))
    assert moved.max() < 1e-12
    assert moved_then.max() < 1e-12
    for each in (world, everyone):
        assert each.ledger.closes
        assert abs(each.ledger.user) < 1e-9  # nothing moves
        assert np.abs(each.velocities).max() < 1e-11


def test_a_push_whose_island_is_not_solved_again_is_seen(monkeypatch):
    world, moved, solved = towers(monkeypatch, NOTHING)
    assert moved.max() > 1e-6
    assert abs(world.ledger.user) > 1e-3


def test_a_push_that_lets_go_is_given_back_nothing(monkeypatch):
    """A crate that was pressed on the floor, and is not any more, stays: the phase of the kick that bore the press is taken back.
    The twin throws it up."""

    def left(what: int | None) -> float:
        with monkeypatch.context() as patch:
            if what is not None:
                patch.setattr("tumble.sim.world.applied_forces._bears", lambda world, i: what)
            world = pressed("applied", 20)
            crate, most = world["crate"], 0.0
            for _ in range(20):
                world.step()
                most = max(most, abs(crate.position[2] - 0.5))
            assert world.ledger.closes
            return most

    assert left(None) < 1e-12
    assert left(NOTHING) > 1e-6


def test_it_lasts_one_step():
    world = World(gravity=(0, 0, 0))
    ball = world.add(Box((0.5, 0.5, 0.5)), mass=2.0)
    ball.apply_force((3.0, 0.0, 0.0))
    ball.apply_force((1.0, 0.0, 0.0))  # adds up
    world.step(10)
    assert ball.velocity == pytest.approx([4.0 / 2.0 * world.dt, 0, 0], rel=1e-14)
    assert world.ledger.user == pytest.approx(world.energy().total, rel=1e-12)
    assert world.ledger.closes


def test_a_force_at_a_point_turns():
    world = World(gravity=(0, 0, 0))
    body = world.add(Box((0.5, 0.5, 0.5)), position=(1, 2, 3))
    body.apply_force((0.0, 0.0, 6.0), point=(1.0, 2.5, 3.0))
    body.apply_torque((0.0, 1.0, 0.0))
    world.step()
    assert world.angular_momentum(about=body.position) == pytest.approx(np.array([3.0, 1.0, 0.0]) * world.dt, rel=1e-9, abs=1e-15)


def test_a_torque_holds_an_arm_on_a_hinge():
    world = World()
    half = math.sqrt(0.5)
    arm = world.add(Box((0.05, 0.05, 0.5)), position=(0.5, 0, 2), orientation=(half, 0, half, 0))
    hinge = world.add_joint(Hinge(None, arm, anchor=(0, 0, 2), axis=(0, 1, 0)))
    for _ in range(60):
        arm.apply_torque((0.0, -arm.mass * 9.81 * 0.5, 0.0))
        world.step()
    assert abs(hinge.angle) < 1e-12
    assert abs(hinge.speed) < 1e-9
    assert hinge.error < 2.0 * 1e-11 * world.dt  # what a solve may leave, in a step
    assert world.ledger.closes


def swung(monkeypatch, anew: int | None) -> tuple[str, int]:
    """An arm on a hinge under a torque that changes from step to step: its hash, and how often its kick was done anew."""
    with monkeypatch.context() as patch:
        if anew is not None:
            patch.setattr("tumble.sim.world.applied_forces._bears", lambda world, i: anew)
        world, kicks = World(), []
        kick = world._kick
        patch.setattr(world, "_kick", lambda: kicks.append(kick()))
        arm = world.add(Box((0.1, 0.1, 0.5)), position=(0, 0, 1.5))
        hinge = world.add_joint(Hinge(None, arm, anchor=(0, 0, 2), axis=(0, 1, 0)))
        arm.angular_velocity = (0, 3, 0)
        for _ in range(100):
            arm.apply_torque((0.0, -20.0 * hinge.angle, 0.0))
            world.step()
        assert world.ledger.closes
        return world.state_hash(), len(kicks)


def test_what_is_held_in_flight_is_not_kicked_anew(monkeypatch):
    """Joints that have only to stay closed get nothing from kicks: so the bits are the same, for half of the time."""
    told, kicks = swung(monkeypatch, None)
    again, more = swung(monkeypatch, ALL)
    assert told == again
    assert (kicks, more) == (1, 100)  # the first is that of the velocity that was set


def hung(floor: bool = True, **options: float | tuple[float, float]) -> tuple[World, list]:
    """Two bricks on a hinge, that lie on a floor, or fall."""
    world = World()
    if floor:
        world.add(HalfSpace(), kind="static")
    bricks = [world.add(Box((0.5, 0.2, 0.1)), position=(x, 0, 0.1)) for x in (0.0, 1.0)]
    world.add_joint(Hinge(*bricks, anchor=(0.5, 0, 0.1), axis=(0, 1, 0), **options))
    world.step(2)
    return world, bricks


def test_who_bears_load():
    """Whoever is jointed to what touches, and whose joints do more than stay closed."""
    from tumble.sim.world.applied_forces import _bears

    for world, bricks, expected in (
        (*hung(), ALL),
        (*hung(False), NOTHING),
        (*hung(False, motor_torque=1.0), ALL),
        (*hung(False, limits=(-1.0, 1.0)), NOTHING),  # neither stop is reached
        (*hung(False, limits=(0.0, 1.0)), ALL),
        (*hung(False, stiffness=1e9), ALL),  # one step does not resolve it
        (*hung(False, stiffness=2.0), NOTHING),  # the flight has it
    ):
        assert [_bears(world, brick.index) for brick in bricks] == [expected] * 2
    alone = pressed("no push", 2)
    assert _bears(alone, alone["crate"].index) == ITS_ISLAND


def test_a_push_on_a_link_is_met_by_the_floor_under_another(monkeypatch):
    """The twin, which asks for contacts of the pushed body alone, sinks."""

    def sunk() -> float:
        world = World()
        world.add(HalfSpace(), kind="static")
        ground = world.add(Box((1.0, 0.2, 0.1)), position=(0, 0, 0.1))
        other = world.add(Box((0.1, 0.1, 0.1)), position=(0, 0, 0.5))
        world.add_joint(Hinge(ground, other, anchor=(0, 0, 0.3), axis=(0, 0, 1)))
        world.step(2)
        for k in range(100):
            other.apply_force((0.0, 0.0, -5000.0 * (1.0 + math.sin(k))))
            world.step()
        return abs(ground.position[2] - 0.1)

    assert sunk() < 1e-11
    alone = lambda world, i: ALL if (world.model.contacts.body[: world.model.contacts.count[0]] == i).any() else NOTHING  # noqa: E731
    monkeypatch.setattr("tumble.sim.world.applied_forces._bears", alone)
    assert sunk() > 1e-6


def test_a_saved_world_goes_on_bit_for_bit(tmp_path):
    world = pressed("applied", 5)
    world.save(tmp_path / "w.npz")
    other = World.load(tmp_path / "w.npz")
    assert other.state_hash() == world.state_hash()
    world.step(5)
    other.step(5)
    assert other.state_hash() == world.state_hash()


def test_steps_in_one_call_or_in_many():
    one, many = pressed("applied", 3), pressed("applied", 3)
    one["crate"].apply_force((0, 0, 50))
    many["crate"].apply_force((0, 0, 50))
    one.step(8)
    for _ in range(8):
        many.step()
    assert one.state_hash() == many.state_hash()


@pytest.mark.parametrize("bad", [None, (1, 2), (0, 0, math.nan), "abc", (0, 0, math.inf)])
def test_bad_forces(bad):
    world = World()
    body = world.add(Box((1, 1, 1)))
    with pytest.raises(InputError, match="force = "):
        body.apply_force(bad)
    floor = world.add(HalfSpace(), kind="static", name="floor")
    with pytest.raises(InputError, match="floor"):
        floor.apply_torque((0, 0, 1))


def test_an_impulse_of_a_body_is_that_of_its_world():
    """At a point too, with the energy booked as the user's."""
    ends = []
    for push in (lambda w, b: w.apply_impulse(b, (1, 2, 3), (0.1, 0, 0)), lambda w, b: b.apply_impulse((1, 2, 3), (0.1, 0, 0))):
        world = World()
        crate = world.add(Box((0.5, 0.5, 0.5)))
        world.step(3)
        push(world, crate)
        world.step(3)
        ends.append((world.state_hash(), world.ledger.user))
    assert ends[0] == ends[1]
    assert ends[0][1] != 0
