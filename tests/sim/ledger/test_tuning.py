"""What a body or joint is changed to while the world runs: the ledger against sums made by hand, entry by entry."""

from __future__ import annotations

import numpy as np
import pytest

from tumble.collision import Box, HalfSpace, Sphere
from tumble.sim import Distance, Hinge, InputError, Slider, World

G = 9.81


def pendulum(**hinge) -> tuple[World, object, object]:
    world = World()
    arm = world.add(Box((0.1, 0.1, 0.5)), mass=2.0, position=(0, 0, 1.5))
    joint = world.add_joint(Hinge(None, arm, anchor=(0, 0, 2), axis=(0, 1, 0), **hinge))
    arm.angular_velocity = (0, 1.5, 0)
    world.step(37)
    return world, arm, joint


def by_hand(body, joint) -> float:
    """Kinetic and potential energy of one body and the spring of its joint, from what anyone can read of them."""
    v, w, d = body.velocity, body.angular_velocity, body.definition
    mass, center, inertia = d.mass_properties()
    a, b, c, e = body.orientation
    turn = np.array([
        [1 - 2 * (c * c + e * e), 2 * (b * c - a * e), 2 * (b * e + a * c)],
        [2 * (b * c + a * e), 1 - 2 * (b * b + e * e), 2 * (c * e - a * b)],
        [2 * (b * e - a * c), 2 * (c * e + a * b), 1 - 2 * (b * b + c * c)],
    ])  # fmt: skip
    local = turn.T @ w
    rest = joint.rest if joint.rest is not None else 0.0
    spring = 0.5 * joint.stiffness * (joint.position - rest) ** 2
    return 0.5 * mass * v @ v + 0.5 * local @ inertia @ local + mass * G * (body.position + turn @ center)[2] + spring


@pytest.mark.parametrize(
    ("made", "change"),
    [
        ({"stiffness": 5.0}, {"stiffness": 50.0}),
        ({"stiffness": 5.0}, {"stiffness": 0.0}),
        ({}, {"stiffness": 20.0, "rest": 0.3}),
        ({"stiffness": 5.0}, {"rest": -0.4}),
        ({"stiffness": 5.0, "rest": 0.2}, {"rest": None}),
        ({"damping": 0.1}, {"damping": 3.0}),
        ({}, {"limits": (-0.5, 0.5)}),
        ({"friction": 0.1}, {"friction": 2.0}),
        ({"motor_torque": 1.0}, {"motor_torque": 9.0, "motor_speed": 2.0}),
    ],
)
def test_a_changed_joint_moves_as_much_energy_as_its_spring_holds(made, change):
    """Only stiffness and rest hold energy: their change is ``user`` work, of all others there is none at the change itself."""
    world, arm, joint = pendulum(**made)
    user, energy = world.ledger.user, world.energy().total
    assert energy == pytest.approx(by_hand(arm, joint), rel=1e-12)
    before = by_hand(arm, joint)
    for name, value in change.items():
        setattr(joint, name, value)
        assert getattr(joint, name) == value
    moved = by_hand(arm, joint) - before
    assert world.energy().total - energy == pytest.approx(moved, abs=1e-12)
    assert moved != 0 or not {"stiffness", "rest"} & set(change)
    world.step()
    assert world.ledger.user - user == pytest.approx(moved, abs=1e-10)  # what stands open at the joint is closed on the way
    world.step(120)
    assert world.ledger.closes
    books = world.ledger
    assert world.energy().total == pytest.approx(by_hand(arm, joint), rel=1e-12)
    if "motor_torque" not in change:
        assert books.user - user == pytest.approx(moved, abs=1e-10)


def test_limits_that_are_set_hold_and_what_arrives_there_loses_its_speed_to_restitution():
    world, arm, joint = pendulum()
    joint.limits = (-0.4, 0.4)
    world.step(400)
    assert abs(joint.angle) < 0.4 + 1e-6
    assert world.ledger.closes


def test_the_work_of_a_motor_is_the_sum_of_its_torque_over_the_way():
    """Force times way, step by step, against what the ledger says of the motor of a slider without friction."""
    world = World(gravity=(0, 0, 0))
    cart = world.add(Box((0.2, 0.2, 0.2)), mass=3.0)
    joint = world.add_joint(Slider(None, cart, axis=(1, 0, 0), motor_force=6.0))
    total, user, external = 0.0, world.ledger.user, world.ledger.external
    for k in range(200):
        if k == 100:
            joint.motor_force = 2.0
        joint.motor_speed = 100.0
        at = joint.position
        world.step()
        total += (6.0 if k < 100 else 2.0) * (joint.position - at)
    work = world.ledger.user - user + world.ledger.external - external
    assert work == pytest.approx(0.5 * 3.0 * cart.velocity[0] ** 2, rel=1e-9)
    assert work == pytest.approx(total, rel=1e-2)  # the force begins and changes in the middle of a kick
    assert world.ledger.closes


def test_the_mass_of_a_body_keeps_its_velocities():
    world, arm, joint = pendulum()
    v, w, user, energy = arm.velocity, arm.angular_velocity, world.ledger.user, world.energy().total
    arm.mass = 5.0
    assert arm.velocity == pytest.approx(v, abs=1e-14)
    assert arm.angular_velocity == pytest.approx(w, abs=1e-14)
    assert by_hand(arm, joint) == pytest.approx(2.5 * energy, rel=1e-12)
    assert world.energy().total == pytest.approx(by_hand(arm, joint), rel=1e-12)
    world.step()
    assert world.ledger.user - user == pytest.approx(1.5 * energy, rel=1e-12)
    world.step(100)
    assert world.ledger.closes


@pytest.mark.parametrize("kind", ["static", "kinematic"])
def test_a_body_that_is_no_longer_dynamic_takes_its_energy_with_it(kind):
    world = World()
    ball = world.add(Sphere(0.2), mass=1.5, position=(0, 0, 3), velocity=(1, 0, 2), angular_velocity=(0, 3, 0))
    other = world.add(Sphere(0.2), mass=1.0, position=(5, 0, 1))
    world.step(20)
    user, whole = world.ledger.user, world.energy().total
    speed = ball.velocity
    ball.kind = kind
    left = 0.5 * other.velocity @ other.velocity + G * other.position[2]
    assert world.energy().total == pytest.approx(left, rel=1e-12)
    world.step()
    assert world.ledger.user - user == pytest.approx(left - whole, rel=1e-12)
    assert np.array_equal(ball.velocity, speed if kind == "kinematic" else np.zeros(3))
    ball.kind = "dynamic"
    world.step(50)
    assert world.ledger.closes


def test_friction_and_restitution_hold_no_energy_and_act_at_once():
    world = World()
    world.add(HalfSpace(), kind="static", friction=1.0)
    box = world.add(Box((0.2, 0.2, 0.1)), mass=2.0, position=(0, 0, 0.1), velocity=(3, 0, 0), friction=0.0)
    world.step(60)
    assert box.velocity[0] == pytest.approx(3.0, abs=1e-9)
    user = world.ledger.user
    box.friction = 0.09  # with the floor's 1: 0.3
    world.step(60)
    assert box.velocity[0] == pytest.approx(3.0 - 0.3 * G * 0.25, abs=0.3 * G / 240 + 1e-9)
    assert world.ledger.friction == pytest.approx(0.5 * 2.0 * (9.0 - box.velocity[0] ** 2), rel=1e-6)
    assert world.ledger.user == user
    ball = world.add(Sphere(0.1), position=(3, 3, 1.1))
    world.step(20)
    ball.restitution = 1.0
    world.step(160)
    top = max(_heights(world, ball, 200))
    assert top == pytest.approx(1.1, abs=1e-3)
    assert world.ledger.closes


def _heights(world, ball, steps):
    for _ in range(steps):
        world.step()
        yield ball.position[2]


def test_what_a_joint_has_not_is_refused_by_name():
    world = World()
    ball = world.add(Sphere(0.1), position=(1, 0, 0))
    rod = world.add_joint(Distance(None, ball, anchor_b=(1, 0, 0), length=1.0))
    with pytest.raises(InputError, match="stiffness = 3.*rigid rod"):
        rod.stiffness = 3
    with pytest.raises(InputError, match="motor_torque"):
        rod.motor_torque = 1
