"""Friction beyond one coefficient against closed forms: static and kinetic friction."""

from __future__ import annotations

import math

import numpy as np
import pytest

from collision import Box, HalfSpace, Sphere
from sim import World

G = 9.81
CUBE = Box((0.1, 0.1, 0.1))


def slope(degrees: float, velocity=(0.0, 0.0, 0.0), dt: float = 1 / 240, heading: float = 0.0, **surface) -> World:
    """A cube on a floor whose gravity is tilted: downhill is +x."""
    a = math.radians(degrees)
    world = World(gravity=(G * math.sin(a), 0, -G * math.cos(a)), dt=dt)
    world.add(HalfSpace(), kind="static", **surface)
    turn = (math.cos(heading / 2), 0, 0, math.sin(heading / 2))
    world.add(CUBE, position=(0, 0, 0.1), orientation=turn, velocity=velocity, **surface)
    return world


# ---- static and kinetic friction ----


def test_a_tilting_table_lets_go_at_the_static_angle():
    """A driven table turns by 1 degree a second: the block breaks loose where tan reaches the static friction, +- 0.02
    degrees for the turning itself, which asks for m omega^2 r and Coriolis' force."""
    rate = math.radians(1.0)
    for static, expected in ((s, math.degrees(math.atan(s))) for s in (0.4, 0.7)):
        begin = math.radians(expected - 0.5)  # already so steep, and at rest there
        world = World()
        q = (math.cos(begin / 2), 0, math.sin(begin / 2), 0)
        up = np.array([math.sin(begin), 0, math.cos(begin)])
        surface = {"friction": 0.3, "static_friction": static}
        table = world.add(
            Box((2, 2, 0.1)), kind="kinematic", orientation=q, angular_velocity=(0, rate, 0), position=(0, 0, 0), **surface
        )
        block = world.add(CUBE, position=0.2 * up, orientation=q, angular_velocity=(0, rate, 0), **surface)
        block.velocity = np.cross((0, rate, 0), 0.2 * up)
        angle = None
        for _ in range(240):
            world.step()
            w, x, y, z = table.orientation
            along = np.array([1 - 2 * y * y, 0, -2 * w * y])
            if abs(np.dot(along, block.position)) > 1e-5:
                angle = math.degrees(2 * math.atan2(y, w))
                break
        assert angle == pytest.approx(expected, abs=0.02), static


@pytest.mark.parametrize("heading", [0.0, 0.5])
def test_past_the_static_angle_the_kinetic_friction_acts(heading):
    limit = math.degrees(math.atan(0.5))
    below = slope(limit - 0.01, heading=heading, friction=0.3, static_friction=0.5)
    below.step(480)
    assert abs(below.positions[1, 0]) < 1e-11
    above = slope(limit + 0.01, heading=heading, friction=0.3, static_friction=0.5)
    above.step(480)
    a = math.radians(limit + 0.01)
    expected = 0.5 * G * (math.sin(a) - 0.3 * math.cos(a)) * above.time**2
    assert above.positions[1, 0] == pytest.approx(expected, rel=1e-11)
    c = above.contacts()
    assert set(c["friction"].tolist()) == {0.3}
    assert np.hypot(c["impulse"][:, 1], c["impulse"][:, 2]) == pytest.approx(0.3 * c["impulse"][:, 0], rel=1e-9)
    assert above.ledger.closes


def test_between_the_two_angles_both_rest_and_motion_last():
    """tan = 0.4 between 0.3 and 0.5: a block at rest rests; one that slides down goes on; one that slides up stops and rests."""
    degrees = math.degrees(math.atan(0.4))
    a = math.radians(degrees)
    surface = {"friction": 0.3, "static_friction": 0.5}
    rests = slope(degrees, **surface)
    rests.step(480)
    assert abs(rests.positions[1, 0]) < 1e-11
    down = slope(degrees, velocity=(0.01, 0, 0), **surface)
    down.step(480)
    fall = G * (math.sin(a) - 0.3 * math.cos(a))
    assert down.positions[1, 0] == pytest.approx(0.01 * down.time + 0.5 * fall * down.time**2, rel=1e-11)
    up = slope(degrees, velocity=(-2, 0, 0), **surface)
    up.step(480)
    rise = G * (math.sin(a) + 0.3 * math.cos(a))
    assert up.positions[1, 0] == pytest.approx(-4 / (2 * rise), abs=rise / 8 / 240**2 * 1.1)
    assert np.abs(up.velocities[1]).max() < 1e-10
    slides_back = slope(degrees, velocity=(-2, 0, 0), friction=0.3)  # without static friction it does not rest
    slides_back.step(480)
    assert slides_back.positions[1, 0] > 0.5


def test_where_it_stops_is_of_second_order():
    """With static friction above the kinetic one too, the error is at most mu g dt^2 / 8, by where in the step it stops."""
    worst = []
    for dt in (1 / 60, 1 / 240):
        errors = []
        for speed in np.linspace(2.9, 3.1, 12):
            world = slope(0, velocity=(speed, 0, 0), dt=dt, friction=0.3, static_friction=0.9)
            world.step(round(1.2 / dt))
            errors.append(abs(world.positions[1, 0] - speed**2 / (2 * 0.3 * G)))
        worst.append(max(errors))
        assert worst[-1] < 1.1 * 0.3 * G * dt**2 / 8
    assert worst[0] > 8 * worst[1]


def test_a_box_that_slides_and_spins_is_never_sped_up():
    """Friction takes energy in every step, whatever the corners do."""
    world = slope(5, velocity=(1.0, 0.5, 0), friction=0.2, static_friction=0.6)
    world.bodies[1].angular_velocity = (0, 0, 9.0)
    last, given = world.ledger.friction, 0.0
    for _ in range(600):
        world.step()
        given = max(given, last - world.ledger.friction)
        last = world.ledger.friction
    assert given < 1e-9  # the phase of the micro-collisions: m (g sin dt)^2 is 1e-4 J
    assert np.abs(world.velocities[1]).max() < 1e-9
    assert world.ledger.closes


# ---- tangential restitution ----


def test_a_superball_turns_its_spin_round_and_back():
    """V10: from (5 m/s, 0) to v = 15/7 m/s, R w = 50/7 m/s, and back to (5, 0); nothing is lost."""
    r = 0.025
    world = World()
    world.add(HalfSpace(), kind="static", friction=9.0)
    ball = world.add(
        Sphere(r), position=(0, 0, 0.5), velocity=(5, 0, 0), friction=9.0, restitution=1.0, tangential_restitution=1.0
    )
    start = world.energy().total
    for k in range(10):
        while world.statistics()["impacts"] == k:
            world.step()
        expected = (15 / 7, 50 / 7 / r) if k % 2 == 0 else (5.0, 0.0)
        assert ball.velocity[0] == pytest.approx(expected[0], abs=1e-11)
        assert ball.angular_velocity[1] == pytest.approx(expected[1], abs=1e-9)
    assert world.energy().total == pytest.approx(start, rel=1e-12)
    assert world.statistics()["impact_gain"] < 1e-12
    assert world.ledger.closes


@pytest.mark.parametrize(("beta", "mu"), [(-1.0, 0.5), (-0.5, 0.5), (0.0, 0.5), (0.6, 0.5), (0.6, 0.05), (None, 0.5)])
def test_a_ball_leaves_with_the_slip_of_walton(beta, mu):
    r, u, fall = 0.1, 3.0, 0.9
    world = World()
    world.add(HalfSpace(), kind="static", friction=mu)
    ball = world.add(
        Sphere(r), position=(0, 0, r + fall), velocity=(u, 0, 0), friction=mu, restitution=0.8, tangential_restitution=beta
    )
    while world.statistics()["impacts"] == 0:
        world.step()
    change = min(mu * 1.8 * math.sqrt(2 * G * fall), 2 / 7 * (1 + (beta or 0.0)) * u)
    assert ball.velocity[0] == pytest.approx(u - change, abs=1e-11)
    assert ball.angular_velocity[1] == pytest.approx(2.5 * change / r, abs=1e-9)


def test_boxes_of_rubber_never_gain():
    """Corners, edges and faces with tangential restitution: joint impacts too keep the energy from rising."""
    rng = np.random.default_rng(3)
    world = World()
    world.set_material("rubber", friction=0.8, static_friction=1.0, restitution=0.9, tangential_restitution=0.9)
    world.add(HalfSpace(), kind="static", material="rubber")
    for k in range(4):
        spin = (0, 0, 3.0) if k == 0 else tuple(rng.normal(size=3) * 5)  # the first lands flat
        world.add(
            Box((0.1, 0.1, 0.1)),
            position=(k, 0, 0.8),
            velocity=tuple(rng.normal(size=3)),
            angular_velocity=spin,
            material="rubber",
        )
    last = world.energy().total
    for _ in range(30):
        world.step(16)
        now = world.energy().total
        assert now <= last + 1e-9
        last = now
    assert world.statistics()["impacts"] >= 15
    assert world.statistics()["impact_gain"] < 1e-12
    assert world.ledger.closes
