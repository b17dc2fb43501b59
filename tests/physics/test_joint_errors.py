"""What is wrong with joints is said by name; what nothing can close is an error, and what nearly breaks is flown in parts."""

from __future__ import annotations

import numpy as np
import pytest

from tumble.collision import Box, HalfSpace, Sphere
from tumble.sim import Distance, Fixed, Hinge, InputError, Point, SimulationError, Slider, World

WRONG = [
    (lambda: Hinge("box", "box"), "b = 'box': a joint needs two different bodies"),
    (lambda: Hinge(None, None), "b = None: one of them must be a body"),
    (lambda: Hinge(None, "box", axis=(0, 0, 0)), "axis = [0, 0, 0]: must have a length: it is a direction"),
    (lambda: Hinge(None, "box", limits=(1, -1)), "limits = [1, -1]: must be two numbers (low, high) with low < high"),
    (lambda: Hinge(None, "box", friction=-0.1), "friction = -0.1: must be a finite number not less than 0"),
    (lambda: Slider(None, "box", motor_force=float("nan")), "motor_force = nan"),
    (lambda: Distance(None, "box", length=1, limits=(0, 2)), "length = 1.0: is that of a rigid rod"),
    (lambda: Point(None, "box", anchor=(0, 0)), "anchor = (0, 0)"),
    (lambda: Hinge(None, "nobody"), "nobody"),
    (lambda: Hinge(None, "floor"), "dynamic"),
    (lambda: 7, "joint = 7: must be a joint, such as Hinge(None, arm, axis=(0, 1, 0))"),
]


@pytest.mark.parametrize(("joint", "says"), WRONG)
def test_wrong_joints_are_refused_by_name(joint, says):
    world = World()
    world.add(HalfSpace(), kind="static", name="floor")
    world.add(Box((0.1, 0.1, 0.1)), name="box", position=(0, 0, 1))
    with pytest.raises(InputError) as caught:
        world.add_joint(joint())
    assert says in str(caught.value)


def test_questions_that_a_joint_has_no_answer_to():
    world = World()
    weld = world.add_joint(Fixed(None, world.add(Box((0.1, 0.2, 0.3)), mass=2.0)))
    for name in ("position", "angle", "speed", "motor_speed", "motor_torque"):
        with pytest.raises(InputError, match="fixed"):
            getattr(weld, name)
    with pytest.raises(InputError, match="fixed"):
        weld.motor_speed = 1.0


@pytest.mark.parametrize("way", [0.0, 0.5])
def test_a_loop_that_can_not_close_is_named(way):
    """Two bars between a wall and a post that is moved away. Twin: where it stood, or nearer, they close."""
    world = World(gravity=(0, 0, 0))
    world.add(Box((0.1, 0.1, 0.1)), name="post", kind="static", position=(1.5, 0, 0))
    for name, x in (("first", 0.5), ("second", 1.0)):
        world.add(Box((0.5, 0.05, 0.05)), name=name, position=(x, 0, 0), mask=0)
    world.add_joint(Hinge(None, "first", name="wall", axis=(0, 1, 0)))
    world.add_joint(Hinge("first", "second", name="elbow", anchor=(1, 0, 0), axis=(0, 1, 0)))
    world.add_joint(Hinge("second", "post", name="hook", anchor=(1.5, 0, 0), axis=(0, 1, 0)))
    world.add(Sphere(0.1), name="bob", position=(0, 0, 3))
    world.add_joint(Hinge(None, "bob", name="apart", anchor=(0, 0, 4), axis=(0, 1, 0)))
    world.step(2)
    world["post"].position = (1.5 + way, 0, 0)
    if way == 0.0:
        world.step(2)
        assert world.mechanism().closed() < 1e-9
        return
    with pytest.raises(SimulationError, match="stays open") as caught:
        world.step(2)
    assert str(caught.value).count("\n") == 0
    assert all(name in str(caught.value) for name in ("wall", "elbow", "hook"))
    assert "apart" not in str(caught.value)


def test_joints_that_cannot_all_be_closed_are_refused():
    """A bar of 1 m held at two points that are 1.2 m apart."""
    world = World()
    bar = world.add(Box((0.5, 0.02, 0.02)))
    world.add_joint(Point(None, bar, anchor=(-0.5, 0, 0)))
    world.add_joint(Distance(None, bar, anchor_a=(1.0, 0, 0), anchor_b=(0.5, 0, 0), length=0.2))
    with pytest.raises(SimulationError, match=r"can not all be closed: .* of the loop distance, point must allow a pose"):
        world.step()


def taut_chain(dt: float) -> World:
    """50 kg at the end of ten links of 10 g that are not quite in line."""
    world, above = World(dt=dt), None
    for k in range(10):
        link = world.add(Sphere(0.02), mass=0.01, position=(0, 0, -0.1 * (k + 0.5)))
        world.add_joint(Point(above, link, anchor=(0.001 * k, 0, -0.1 * k)))
        above = link
    world.add_joint(Point(above, world.add(Sphere(0.1), mass=50.0, position=(0, 0, -1.1)), anchor=(0, 0, -1.0)))
    return world


def test_links_that_swing_faster_than_the_step_are_flown_in_parts():
    """Links swing at up to 1400 rad/s, 12 rad a step: the flight takes the steps that hold the joints, and loses no energy."""
    world = taut_chain(1 / 120)
    momentum, energy = world.momentum() + world.reservoir[0], world.energy().total
    for _ in range(60):
        world.step()
        fallen = sum(body.mass for body in world.bodies) * world.gravity * world.time
        off = np.abs(world.momentum() + world.reservoir[0] - momentum - fallen).max()
        assert off < 1e-13 * 2 * np.abs(fallen).max()
        assert max(joint.error for joint in world.joints) < 1e-13
    assert world.energy().total == pytest.approx(energy, rel=1e-7)
    assert world.statistics()["placed"] == 0
    assert world.ledger.closes
    assert world.ledger.correction == 0.0


def test_joints_that_nothing_closes_are_an_error():
    """A rod between two driven bodies that part: the error names the joint."""
    world = World(dt=1 / 60)
    ends = [world.add(Sphere(0.02), kind="kinematic", position=(x, 0, 0), velocity=(x, 0, 0)) for x in (-1.0, 1.0)]
    rod = world.add(Box((1.0, 0.02, 0.02)), mass=1.0)
    for x, end in zip((-1.0, 1.0), ends, strict=True):
        world.add_joint(Point(end, rod, anchor=(x, 0, 0)))
    with pytest.raises(SimulationError, match=r"joint point\S* is open by .*"):
        world.step(60)
