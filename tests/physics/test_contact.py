"""Impacts and micro-collisions against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tumble.collision import Box, ConvexHull, HalfSpace, Sphere
from tumble.sim import World

G = 9.81
CUBE = Box((0.1, 0.1, 0.1))


def on_slope(degrees: float, mu: float, shape=CUBE, dt: float = 1 / 240, **body) -> World:
    """A body on a floor whose gravity is tilted: downhill is +x."""
    a = math.radians(degrees)
    world = World(gravity=(G * math.sin(a), 0, -G * math.cos(a)), dt=dt)
    world.add(HalfSpace(), kind="static", friction=mu)
    world.add(shape, position=(0, 0, 0.1), friction=mu, **body)
    return world


def test_resting_box_stays():
    world = World()
    world.add(HalfSpace(), kind="static")
    box = world.add(CUBE, position=(0, 0, 0.1))
    world.step(2400)
    assert np.abs(box.position - [0, 0, 0.1]).max() < 1e-9
    assert np.abs(box.velocity).max() < 1e-9
    assert sum(world.contacts()["force"][:, 2]) == pytest.approx(box.mass * G, rel=1e-6)


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
def test_elastic_sphere_keeps_its_apex(dt):
    world = World(dt=dt)
    world.add(HalfSpace(), kind="static")
    ball = world.add(Sphere(0.1), position=(0, 0, 1.1), restitution=1.0)
    worst = 0.0
    for _ in range(int(round(9.1 / dt)) * 10):
        world.step()
        worst = max(worst, abs(world.energy().total / (ball.mass * G) - 1.1))
    assert world.statistics()["impacts"] >= 100
    assert worst < 1e-9


def test_half_the_restitution_a_quarter_of_the_height():
    world = World()
    world.add(HalfSpace(), kind="static")
    ball = world.add(Sphere(0.1), position=(0, 0, 1.1), restitution=0.5)
    heights, impacts = [], 0
    for _ in range(480):
        world.step()
        if world.statistics()["impacts"] > impacts:
            impacts = world.statistics()["impacts"]
            heights.append(world.energy().total / (ball.mass * G) - 0.1)
    speeds = [math.sqrt(2 * G * h) for h in heights if math.sqrt(2 * G * h) > 0.1]  # those above the impact threshold
    assert len(speeds) >= 4
    for k in range(len(speeds)):
        assert heights[k] == pytest.approx(0.25 ** (k + 1), abs=1e-9)


def test_cube_dropped_flat_bounces_flat():
    world = World()
    world.add(HalfSpace(), kind="static")
    cube = world.add(CUBE, position=(0, 0, 0.6), restitution=1.0)
    world.step(240 * 64)
    assert world.statistics()["impacts"] >= 99
    assert np.abs(cube.angular_velocity).max() < 1e-9
    assert world.energy().total == pytest.approx(cube.mass * G * 0.6, rel=1e-9)


def test_sliding_down_a_slope():
    world = on_slope(30, 0.3)
    world.step(480)
    a = G * (math.sin(math.radians(30)) - 0.3 * math.cos(math.radians(30)))
    assert world.positions[1, 0] == pytest.approx(0.5 * a * 4, rel=1e-8)
    assert abs(world.positions[1, 2] - 0.1) < 1e-9  # Coulomb's law does not lift


def test_sticks_just_above_and_slides_just_below_the_critical_angle():
    limit = math.tan(math.radians(20))
    world = on_slope(20, 1.02 * limit)
    world.step(24)
    start = world.positions[1].copy()
    world.step(2400)
    assert np.abs(world.positions[1] - start).max() < 1e-9
    world = on_slope(20, 0.98 * limit)
    world.step(480)
    assert world.positions[1, 0] == pytest.approx(0.5 * 0.02 * G * math.sin(math.radians(20)) * 4, rel=1e-8)


def stopping_error(dt: float, speeds: int) -> float:
    errors = []
    for speed in np.linspace(4.9, 5.1, speeds):
        world = on_slope(0, 0.3, dt=dt, velocity=(float(speed), 0, 0))
        world.step(round(2.2 / dt))
        errors.append(abs(world.positions[1, 0] - speed**2 / (2 * 0.3 * G)))
    return max(errors)


def test_stopping_distance_and_its_order():
    coarse, fine = stopping_error(1 / 60, 100), stopping_error(1 / 240, 25)
    assert coarse <= 1.1 * 0.3 * G * (1 / 60) ** 2 / 8
    assert 1.6 < math.log(coarse / fine, 4) < 2.6


def test_friction_is_the_same_in_all_headings():
    distances = []
    for k in range(12):
        a = 2 * math.pi * k / 12
        world = on_slope(0, 0.4, velocity=(3 * math.cos(a), 3 * math.sin(a), 0))
        world.step(240)
        distances.append(np.linalg.norm(world.positions[1, :2]))
    assert np.ptp(distances) < 1e-9


def test_oblique_slide_is_second_order():
    """Across a 20 degree slope: the slip turns, and friction must follow it without delay."""
    a, mu = math.radians(20), 0.3

    def reference():
        from scipy.integrate import solve_ivp

        def rates(_, y):
            v = y[2:]
            f = -mu * G * math.cos(a) * v / np.linalg.norm(v)
            return [v[0], v[1], G * math.sin(a) + f[0], f[1]]

        return solve_ivp(rates, (0, 1), [0, 0, 0, 3.0], rtol=1e-12, atol=1e-12).y[:2, -1]

    def error(dt):
        # a plate: its low centre keeps the load even, so that it slides as a point does
        world = on_slope(20, mu, shape=Box((0.1, 0.1, 0.1)), dt=dt, velocity=(0, 3, 0))
        world.step(round(1 / dt))
        return np.linalg.norm(world.positions[1, :2] - reference())

    coarse, fine = error(1 / 120), error(1 / 240)
    assert fine < 1e-5
    assert coarse / fine > 3.0


def test_sphere_slides_then_rolls():
    world = on_slope(0, 0.2, shape=Sphere(0.1), velocity=(5, 0, 0))
    gaps = []
    for _ in range(240):
        world.step()
        gaps.append(abs(world.positions[1, 2] - 0.1))
    assert world.velocities[1, 0] == pytest.approx(25 / 7, abs=1e-9)
    assert max(gaps) < 1e-9
    world.step(480)
    assert world.velocities[1, 0] == pytest.approx(25 / 7, abs=1e-9)  # nothing resists rolling


def test_a_rolling_sphere_keeps_to_the_floor():
    world = on_slope(0, 0.2, shape=Sphere(0.1), velocity=(5, 0, 0), angular_velocity=(0, 50, 0))
    gap = 0.0
    for _ in range(480):
        world.step()
        gap = max(gap, abs(world.positions[1, 2] - 0.1))
    assert gap < 1e-9
    assert world.positions[1, 0] == pytest.approx(10.0, abs=1e-9)


def test_sphere_rolls_down():
    a = math.radians(25)
    world = on_slope(25, 0.6, shape=Sphere(0.1))
    world.step(240)
    assert world.positions[1, 0] == pytest.approx(0.5 * 5 / 7 * G * math.sin(a), abs=1e-9)


def test_stack_of_ten():
    world = World()
    world.add(HalfSpace(), kind="static")
    for k in range(10):
        world.add(Box((0.5, 0.5, 0.5)), position=(0, 0, 0.5 + k))
    world.step(480)
    assert np.abs(world.positions[1:] - [[0, 0, 0.5 + k] for k in range(10)]).max() < 1e-9


def test_cradle_transmits():
    world = World(gravity=(0, 0, 0))
    for k in range(5):
        world.add(Sphere(0.1), position=(0.2 * k, 0, 0), restitution=1.0, velocity=(1.0 if k == 0 else 0.0, 0, 0))
    world.step(10)
    assert np.allclose(world.velocities[:, 0], [0, 0, 0, 0, 1], atol=1e-12)


@pytest.mark.parametrize("spin", [50, 150, 300])
def test_a_ball_that_is_braked_on_its_way_still_meets_the_next(spin):
    """Within one step two heavy balls pinch a spinning one from both sides and take most of its spin, but not its way.

    Its bound on how fast it can close falls by far more than its speed: a search that went by what the first one saw at the
    later impact, with the bound of then, would take the ball in front to be out of reach.
    """
    world = World(dt=1 / 60, gravity=(0, 0, 0))
    radius, speed, h = 0.1, 10.0, world.dt
    surface = {"restitution": 1.0, "friction": 5.0}
    ball = world.add(Sphere(radius), velocity=(speed, 0, 0), angular_velocity=(spin, 0, 0), **surface)
    front = world.add(Sphere(radius), position=(2 * radius + 0.8 * h * speed, 0, 0), **surface)
    for side in (1, -1):
        place, velocity = (0, side * (2 * radius + 0.1 * h * speed), 0), (speed, -side * speed, 0)
        world.add(Sphere(radius), position=place, velocity=velocity, density=20_000, **surface)
    world.step(1)
    assert ball.angular_velocity[0] < 0.1 * spin
    assert np.allclose(front.velocity, (speed, 0, 0), rtol=0, atol=1e-13)
    assert np.allclose(ball.velocity, 0, rtol=0, atol=1e-13)


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_two_spinning_cuboids(e):
    """The law's answer for one point, the total momentum and angular momentum to rounding, and no energy gained."""
    world = World(gravity=(0, 0, 0))
    q = np.array([math.cos(0.35), *(math.sin(0.35) * np.array([1, 2, -1]) / math.sqrt(6))])
    world.add(
        Box((0.15, 0.1, 0.05)), mass=1.2, position=(0.0878738258076, 0.122784295679, 0.269442417165), orientation=q,
        velocity=(-0.5, 0.3, -3), angular_velocity=(2, -4, 1), friction=0.4, restitution=e,
    )  # fmt: skip
    world.add(
        Box((0.25, 0.05, 0.125)), mass=12.5, velocity=(0, 0, 0.4), angular_velocity=(0.5, 0, -1), friction=0.4, restitution=e
    )
    p, l, t = world.momentum(), world.angular_momentum(), world.energy().total
    world.step(2)
    assert world.statistics()["impacts"] >= 1
    assert np.linalg.norm(world.momentum() - p) <= 1e-14 * np.linalg.norm(p)
    assert np.linalg.norm(world.angular_momentum() - l) <= 1e-12 * np.linalg.norm(l)
    assert world.energy().total < t
    assert world.ledger.closes
    if e == 0.5:
        assert np.allclose(world.velocities[0], [-0.922170173746, 0.773647626659, -1.11495760178], rtol=0.02, atol=0.02)


def test_box_and_its_hull_are_the_same_body():
    corners = [(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)]
    runs = []
    for shape in (CUBE, ConvexHull(corners)):
        world = on_slope(10, 0.3, shape=shape, velocity=(1, 0.5, 0))
        world.step(120)
        runs.append(world.positions[1])
    assert np.allclose(*runs, atol=1e-9)


def test_tumbling_box_comes_to_rest():
    world = World()
    world.add(HalfSpace(), kind="static")
    q = np.array([0.9, 0.3, 0.3, 0.1])
    box = world.add(
        Box((0.25, 0.05, 0.125)), mass=12.5, position=(0, 0, 0.6), orientation=q / np.linalg.norm(q), angular_velocity=(1, 2, 3),
        restitution=0.3,
    )  # fmt: skip
    energies = [world.energy().total]
    for _ in range(60):
        world.step(20)
        energies.append(world.energy().total)
    scale = box.mass * G * 0.6
    assert max(np.diff(energies)) < 1e-5 * scale  # the phase of the micro-collisions and corrections of depth, no more
    assert np.abs(box.velocity).max() < 1e-6
    assert np.abs(box.angular_velocity).max() < 1e-5
    assert min(abs(box.position[2] - h) for h in (0.25, 0.05, 0.125)) < 1e-4
    assert world.ledger.closes


def tossed(seed: int) -> World:
    """Three boxes that spin fall on each other and on the floor, 1 s."""
    draw = np.random.default_rng(seed)
    world = World()
    world.add(HalfSpace(), kind="static", friction=0.5, restitution=0.0)
    for k in range(3):
        q = draw.standard_normal(4)
        world.add(
            Box((0.1, 0.15, 0.2)), position=(0.05 * k, 0, 0.4 + 0.45 * k), orientation=q / np.linalg.norm(q),
            angular_velocity=draw.uniform(-5, 5, 3), friction=0.5, restitution=0.0,
        )  # fmt: skip
    world.step(240)
    return world


def test_looks_ahead_end_where_a_contact_leaves_within_the_flight():
    """A corner that the kick stops, and that turns away before the step is over, is open at its end, and is to be. Looks that
    asked it to close found no end, divided the step, and gave up: 27,757 solves in these four worlds instead of 6,600."""
    assert sum(tossed(seed).statistics()["solves"] for seed in range(4)) < 12_000


@pytest.mark.parametrize("speed", [8e-4, 1e-5, 1e-7])
def test_balls_that_meet_slowly_in_free_space_bounce(speed):
    """Where nothing falls an impact may be as slow as it likes: below 1 mm/s, once the slowest impact, balls with e = 1 stuck."""
    world = World(gravity=(0, 0, 0))
    for x, v in ((0.0, 0.0), (0.2 + 0.1 * speed, -speed)):
        world.add(Sphere(0.1), position=(x, 0, 0), velocity=(v, 0, 0), restitution=1.0, friction=0)
    world.step(240)
    assert world.velocities[:, 0] / speed == pytest.approx([-1.0, 0.0], abs=1e-9)
