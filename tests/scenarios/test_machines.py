"""Machines of the catalog, held to what is known of them: closed forms, statics, inverse kinematics; twins without the cause."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from tumble.scenarios.catalog import clock_escapement as clock
from tumble.scenarios.catalog import governor as watt
from tumble.scenarios.catalog import pinball as flips
from tumble.scenarios.catalog import robot_arm as arm
from tumble.scenarios.catalog import rover as car
from tumble.scenarios.catalog.stewart_platform import HEIGHT
from tumble.scenarios.registry import load
from tumble.sim.ledger.diagnostics import rotations

G = 9.81


def test_gear_train_turns_as_its_teeth_say():
    """Angles over many turns, and the inertia that the motor feels; another number of teeth, another motion."""
    world = load("gear_train")(stages=3, small=12, large=30, torque=0.5).build()
    world.step(960)
    t, ratio = world.time, 12 / 30
    felt = 0.02 * sum(ratio ** (2 * k) for k in range(4))
    angles = [joint.position for joint in world.joints if joint.kind == "hinge"]
    assert angles[0] == pytest.approx(0.5 * 0.5 / felt * t**2, rel=1e-9)
    assert angles[0] > 100
    for k in range(1, 4):
        assert angles[k] == pytest.approx((-ratio) ** k * angles[0], rel=1e-11)
    assert max(joint.error for joint in world.joints) < 1e-12
    other = load("gear_train")(stages=3, small=12, large=31, torque=0.5).build()
    other.step(960)
    assert abs(other.joints[0].position / angles[0] - 1) > 1e-3


def height(speed: float) -> float:
    """Of the sleeve [m] in the turning frame, by virtual work: d/dtilt (w^2/2 sum m r^2 - weights) = 0, links included."""
    length, ball, sleeve, link = watt.LENGTH, watt.BALL, watt.SLEEVE, watt.LINK

    def slope(tilt: float) -> float:
        s, c = math.sin(tilt), math.cos(tilt)
        turning = speed**2 * s * c * 2 * (ball * length**2 + link * length**2 / 3)
        falls = 2 * ball * length * s + 2 * link * 1.5 * length * s + sleeve * 2 * length * s
        return turning - G * falls

    return 2 * length * (1 - math.cos(brentq(slope, 0.05, 1.5)))


@pytest.mark.parametrize("speed", [10.5, 12.0, 18.0])
def test_governor_lifts_its_sleeve(speed):
    world = load("governor")(speed=speed).build()
    world.step(round(6 / world.dt))
    # the moments of inertia of the balls, equal about all axes, do not matter; what is left is of order dt^2
    assert world["sleeve"].position[2] == pytest.approx(height(speed), abs=5e-5)
    assert abs(height(speed) - height(1.01 * speed)) > 1e-3
    assert world.joints[0].speed == pytest.approx(speed, rel=1e-8)  # RK4 turns by (w dt)^4/120 too little
    assert max(joint.error for joint in world.joints) < 1e-10
    assert world.statistics()["unsolved"] == 0
    assert world.ledger.closes


def test_governor_too_slow_hangs():
    world = load("governor")(speed=3.0).build()
    world.step(round(8 / world.dt))
    assert 0 <= world["sleeve"].position[2] < 0.01


@pytest.mark.parametrize(("roll", "pitch", "lift"), [(0.2, -0.1, 0.4), (-0.25, 0.2, 0.5)])
def test_stewart_platform_takes_its_pose(roll, pitch, lift):
    world = load("stewart_platform")(roll=roll, pitch=pitch, lift=lift, time=1.0).build()
    world.step(round(1.5 / world.dt))
    r = rotations(world["platform"].orientation[None])[0]
    cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
    x, y = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]]), np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    assert min(np.abs(r - x @ y).max(), np.abs(r - y @ x).max()) < 1e-9
    assert world["platform"].position == pytest.approx((0, 0, HEIGHT + lift), abs=1e-9)
    assert np.abs(world.velocities).max() < 1e-9
    weight = sum(body.mass for body in world.bodies) * G
    feet = np.array([joint.force for joint in world.joints if joint.kind == "universal"])
    assert feet.sum(axis=0) == pytest.approx((0, 0, weight), abs=1e-6 * weight)


def drawn(**parameters) -> float:
    """How far the tip of the arm is off its circle and its time at most [m]."""
    world = load("robot_arm")(**parameters).build()
    mechanism, worst = world.mechanism(), 0.0
    period = parameters.get("period", 3.0)
    for _ in range(100):
        world.step(15)
        t = 2 * math.pi * world.time / period
        wanted = (arm.CENTER[0] + 0.35 * math.cos(t), 0, arm.CENTER[1] + 0.35 * math.sin(t))
        worst = max(worst, float(np.linalg.norm(mechanism.point("forearm", (0.5, 0, 0)) - wanted)))
    return worst


def test_robot_arm_draws_a_circle():
    """By computed torque to some 1e-5 m; twin: with servos alone, ten thousand times as far off."""
    assert drawn() < 2e-5
    assert drawn(computed=False) > 0.1
    world = load("robot_arm")().build()
    mechanism = world.mechanism()
    q, v, a = arm.angles(np.array([0.3]), 0.35, 3.0)
    assert mechanism.inverse_dynamics(a[0], q[0], v[0]) == pytest.approx(arm.needed(q, v, a)[0], rel=1e-10)


def test_quadruped_stands_on_its_feet():
    """At rest; the ground carries the weight, each foot its part; a knee holds what its foot's force asks for."""
    world = load("quadruped_stands")().build()
    world.step(round(6 / world.dt))
    assert np.abs(world.velocities).max() < 1e-5
    weight = (12.0 + 8 * 0.6) * G
    c = world.contacts()
    up = c["force"][:, 2] * np.where(c["body_a"] == 0, 1, -1)
    assert up.sum() == pytest.approx(weight, rel=1e-6)
    assert len(set(c["body_b"]) | set(c["body_a"])) == 5  # four feet and the ground
    trunk = world["trunk"]
    assert trunk.orientation[2] ** 2 < 0.05**2
    world.step(1)
    for joint in world.joints:
        if joint.name.startswith("knee"):
            shin = joint.bodies[1]
            mine = [k for k in range(len(c)) if shin.index in (c["body_a"][k], c["body_b"][k])]
            force = sum(c["force"][k] * (1 if c["body_b"][k] == shin.index else -1) for k in mine)
            point = c["point"][mine[0]]
            arms = np.cross(point - joint.anchor, force) + np.cross(shin.position - joint.anchor, (0, 0, -0.6 * G))
            assert joint.torque[1] == pytest.approx(-arms[1], abs=2e-3 * abs(joint.torque[1]) + 1e-3)


def test_rover_goes_over_bumps():
    still = load("rover")(speed=0.0, bumps=0).build()
    still.step(480)
    springs = [joint for joint in still.joints if joint.kind == "wheel"]
    assert [joint.position for joint in springs] == pytest.approx([0] * 6, abs=1e-6)  # each carries its sixth, as it was made
    world = load("rover")().build()
    tilt = 0.0
    for _ in range(72):
        world.step(40)
        tilt = max(tilt, float(np.arccos(rotations(world["chassis"].orientation[None])[0][2, 2])))
    assert world["chassis"].position[0] > 1.2 + 0.7 * 4 + 0.3  # past the last bump
    assert abs(world["chassis"].position[1]) < 0.05
    assert 0.01 < tilt < 0.12
    assert max(joint.error for joint in world.joints) < 1e-12
    assert world.ledger.closes
    assert car.CHASSIS * G / 6 / 3000.0 > 0.01  # it does carry something


def beats(seconds: float, dt: float = 1 / 480, **parameters):
    """(world, run, angle of the pendulum, teeth by which the wheel has turned, instants at which it passes the middle)."""
    scene = load("clock_escapement")(**parameters)
    scene.dt = dt
    world = scene.build()
    run = world.run(seconds)
    wheel, pendulum = (run.orientations[:, run.index(name)] for name in ("wheel", "pendulum"))
    teeth = np.unwrap(2 * np.arctan2(wheel[:, 2], wheel[:, 0])) / (2 * math.pi / clock.TEETH)
    angle = -2 * np.arctan2(pendulum[:, 2], pendulum[:, 0])
    k = np.flatnonzero((angle[1:] < 0) & (angle[:-1] >= 0))
    middle = run.times[k] + angle[k] / (angle[k] - angle[k + 1]) * np.diff(run.times)[k]
    return world, run, angle, teeth, k, middle


def test_clock_lets_one_tooth_pass_in_a_period():
    world, run, angle, teeth, k, middle = beats(16.0)
    turns = np.flatnonzero(np.diff(np.sign(np.diff(angle))) != 0) + 1  # where the pendulum turns back, a tooth rests
    late = turns[run.times[turns] > 2.0]
    assert len(late) >= 26
    assert np.diff(teeth[late]) == pytest.approx(np.full(len(late) - 1, 0.5), abs=0.02)
    assert world.statistics()["unsolved"] == 0
    assert max(joint.error for joint in world.joints) < 1e-12
    assert world.ledger.closes
    swing = np.abs(angle[k[-4] :]).max()
    late_by = (middle[-1] - middle[-7]) / 6 / clock.period(swing) - 1
    assert late_by == pytest.approx(clock.slow(0.007, swing), rel=0.12)
    assert late_by > 7e-4  # the free pendulum is another clock, by a minute a day


def test_clock_spends_what_its_wheel_gives():
    """A motor acts at the steps, and teeth drop within them: at 1/480 s its work is off by up to 8e-3."""
    _, run, _, teeth, k, _ = beats(12.0, dt=1 / 1920)
    a, b = k[-6], k[-1]
    spent = {name: values[b] - values[a] for name, values in run.ledger.items()}
    assert spent["external"] == pytest.approx(0.007 * 2 * math.pi / clock.TEETH * (teeth[b] - teeth[a]), rel=3e-3)
    assert teeth[b] - teeth[a] == pytest.approx(5, abs=0.1)
    assert spent["friction"] + spent["restitution"] + run.energy[b] - run.energy[a] == pytest.approx(spent["external"], rel=1e-3)
    assert spent["restitution"] > 0.1 * spent["external"]  # the drops


def test_clock_without_torque_stops():
    _, run, angle, teeth, _, _ = beats(10.0, torque=0.0)
    assert np.abs(teeth).max() < 1.0
    assert np.abs(angle[run.times > 9.0]).max() < 0.5 * angle[0]


def test_pinball_leaves_the_plunger_as_fast_as_its_spring_says():
    """Of second order in the step; twin: without the work of sliding."""
    fast, off = flips.launched(450.0, 0.12), []
    for steps in (480, 1920):
        scene = load("pinball")()
        scene.dt = 1 / steps
        run = scene.build().run(0.08)
        off.append(fast - run.velocities[:, run.index("ball"), 1].max())
    assert abs(off[0]) < 0.03
    assert abs(off[1]) < 3e-3
    sliding = flips.PULLED * flips.STEEL["friction"] * flips.MASS * G * math.cos(0.12)
    assert math.sqrt(fast**2 + 2 * sliding / (flips.MASS + flips.PLUNGER)) - fast > 0.01


def test_a_flipper_is_up_in_its_time():
    scene = load("pinball")()
    scene.dt = 1 / 3840
    world = scene.build()
    world.step(round(0.499 / world.dt))
    joint = next(joint for joint in world.joints if joint.name == "pivot_left")
    assert joint.position == pytest.approx(0.0, abs=1e-9)
    while joint.position < flips.RAISED - 1e-6:
        world.step(1)
    # its torque grows from -0.1 to 0.6 N m from 0.499 to 0.5 s: as if it had its whole from 0.49957 s on, to first order
    start = 0.5 - 0.001 * (0.6 / 0.7) * 0.5
    assert world.time - start == pytest.approx(flips.raising(), abs=3e-4)
    assert flips.raising() * (math.sqrt(2) - 1) > 5e-3  # with half of the torque


def test_pinball_stays_on_its_table(assert_ledger_closes):
    world = load("pinball")().build()
    run = world.run(5.5)
    ball = run.positions[:, run.index("ball")]
    room = flips.WIDE - flips.BALL + 1e-6
    assert np.abs(ball[:, 0]).max() < room
    assert np.hypot(ball[:, 0], np.maximum(ball[:, 1] - flips.LONG, 0.0)).max() < room
    assert ball[:, 1].min() > flips.LOW + flips.BALL - 1e-6
    assert flips.BALL - 1e-6 < ball[:, 2].min()
    assert ball[:, 2].max() < flips.WALL
    assert ball[1000:, 1].max() > flips.LEVEL + 0.2  # flippers brought it up again
    assert run.ledger["external"][-1] > 0.2  # which they alone have given
    assert_ledger_closes(run)
    assert world.statistics()["unsolved"] == 0
    assert max(joint.error for joint in world.joints) < 1e-12
