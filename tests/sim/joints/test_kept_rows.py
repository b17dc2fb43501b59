"""Coordinates that motors, stops and friction keep at their pace in flight, and rotors, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tumble import Box, Hinge, Slider, Sphere, World

ROD = {"mass": 1.0, "position": (0.5, 0, 0)}
WEIGHT = 9.81 * 0.5  # N m, of a level rod of 1 m and 1 kg about its end


def rod(**joint) -> tuple[World, Hinge]:
    world = World(dt=1 / 240)
    world.add(Box((0.5, 0.02, 0.02)), name="rod", **ROD)
    return world, world.add_joint(Hinge(None, "rod", axis=(0, 1, 0), **joint))


def test_a_motor_keeps_its_speed_at_every_instant():
    """In the middle of a step too: the state there is that of a run with other steps."""
    world, joint = rod(motor_speed=3.0, motor_torque=50.0)
    world.step(240)
    start, at = joint.angle, []
    for _ in range(100):
        world.step()
        at.append(joint.angle)
        assert joint.speed == pytest.approx(3.0, abs=1e-11)
    assert np.diff([start, *at]) == pytest.approx(np.full(100, 3.0 / 240), abs=1e-13)
    assert world.ledger.closes
    assert world.ledger.integrator == pytest.approx(0.0, abs=1e-9)
    assert world.ledger.contact == pytest.approx(0.0, abs=1e-12)
    turned = 0.5 * (0.25 + (0.5**2 + 0.02**2) / 3) * 9.0
    lifted = 9.81 * 0.5 * math.sin(-at[-1])
    assert world.ledger.external == pytest.approx(turned + lifted, abs=1e-9)


def test_a_motor_gives_no_more_than_it_has():
    """2 N m against 4.9 of the level rod: it sinks, slower than it would fall."""
    world, joint = rod(motor_speed=0.0, motor_torque=2.0)
    world.step(24)
    moment = 0.25 + (0.5**2 + 0.02**2) / 3
    assert joint.speed == pytest.approx((WEIGHT - 2.0) / moment * 0.1, rel=1e-2)


def test_a_rod_on_a_stop_weighs_what_it_weighs():
    world, joint = rod(limits=(-1.0, 0.0))
    world.step(240)
    assert joint.angle == pytest.approx(0.0, abs=1e-13)
    assert joint.torque[1] == pytest.approx(-WEIGHT, rel=1e-12)


@pytest.mark.parametrize("dt", [1 / 50, 1 / 240])
def test_a_rod_that_lands_on_a_stop_stays(dt: float):
    """The flight pushes, and the kick has nothing to add: that is no reason to let go. Let go it would dip in each other step."""
    world = World(dt=dt)
    world.add(Box((0.5, 0.02, 0.02)), name="rod", **ROD)
    joint = world.add_joint(Hinge(None, "rod", axis=(0, 1, 0), limits=(-1.0, 0.6)))
    world.run(seconds=1.0)
    dips = []
    for _ in range(round(2 / dt)):
        world.step()
        dips.append(abs(joint.angle - 0.6))
    dip = 0.5 * WEIGHT * math.cos(0.6) / (0.25 + (0.5**2 + 0.02**2) / 3) * dt**2
    assert max(dips) < 1e-12 < 1e-6 * dip
    assert joint.torque[1] == pytest.approx(-WEIGHT * math.cos(0.6), rel=1e-9)


@pytest.mark.parametrize(("dt", "stop"), [(1 / 100, 0.5), (1 / 1000, 0.5), (1 / 100, 2.5)])
def test_what_begins_beyond_a_stop_is_taken_back_without_speed(dt: float, stop: float):
    """As bodies out of an overlap: by ways, a fifth in each step, however short the step. By speed it would be thrown."""
    world = World(dt=dt, gravity=(0, 0, 0))
    for name, x in (("a", -0.5), ("b", 0.5)):
        world.add(Box((0.5, 0.05, 0.05)), name=name, mass=1.0, position=(x, 0, 0))
    joint = world.add_joint(Hinge("a", "b", anchor=(0, 0, 0), axis=(0, 1, 0), limits=(stop, 3.0), armature=0.1))
    angles = []
    for _ in range(120):
        world.step()
        angles.append(joint.angle)
        assert joint.error < 1e-9
    thrown = 0.5 * 0.1 * (0.2 * stop / dt) ** 2  # the rotor alone
    assert world.energy().total < 1e-6 < 1e-3 * thrown
    assert np.all(np.diff(angles) > -1e-12)
    assert angles[-1] == pytest.approx(stop, abs=1e-7)
    assert world.ledger.closes
    assert abs(world.ledger.contact) < 1e-9
    assert world.momentum() == pytest.approx(np.zeros(3), abs=1e-12)


def test_a_stop_lets_go_of_what_turns_back():
    """A stop pushes only: a rod that a spring lifts off it leaves at once."""
    world, joint = rod(limits=(-1.0, 0.0), stiffness=1.0, rest=0.0)
    world.step(24)
    assert joint.angle == pytest.approx(0.0, abs=1e-13)
    joint.rest = -2 * WEIGHT
    world.step(24)
    moment = 0.25 + (0.5**2 + 0.02**2) / 3
    assert joint.speed == pytest.approx(-WEIGHT / moment * 0.1, rel=2e-2)


def test_friction_holds_until_it_slips():
    world = World(dt=1 / 240)
    world.add(Sphere(0.1), name="bead", mass=1.0)
    joint = world.add_joint(Slider(None, "bead", axis=(0, 0, 1), friction=10.0))
    world.step(240)
    assert joint.position == pytest.approx(0.0, abs=1e-13)
    joint.friction = 9.0
    world.step(240)
    assert joint.position == pytest.approx(-0.5 * (9.81 - 9.0), rel=1e-2)


def test_an_impact_feels_the_rotor():
    """A ball strikes a rod with a rotor, e = 1, without gravity: momentum about the pin and energy give both speeds."""
    world = World(gravity=(0, 0, 0))
    armature, height = 0.4, 0.02 + 0.05
    world.add(Box((0.5, 0.02, 0.02)), name="rod", restitution=1.0, friction=0.0, **ROD)
    joint = world.add_joint(Hinge(None, "rod", axis=(0, 1, 0), armature=armature))
    ball = world.add(Sphere(0.05), mass=0.5, restitution=1.0, friction=0.0, position=(0.9, 0, height + 0.05), velocity=(0, 0, -2))
    world.step(60)
    moment = 0.25 + (0.5**2 + 0.02**2) / 3 + armature
    arm, effective = 0.9, 1 / (1 / 0.5 + 0.9**2 / moment)
    impulse = 2 * 2.0 * effective
    assert joint.speed == pytest.approx(arm * impulse / moment, rel=1e-9)
    assert ball.velocity[2] == pytest.approx(-2 + impulse / 0.5, rel=1e-9)
    assert world.energy().total == pytest.approx(1.0, rel=1e-9)
    assert world.ledger.closes
