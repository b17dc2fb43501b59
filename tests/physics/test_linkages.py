"""Bodies on several joints: closed forms, the measured order, the books. More of them are validation cases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tests.physics.grounds import leg, struck_leg
from tumble.collision import Box, Sphere
from tumble.scenarios.catalog.four_bar import JOINTS as BARS
from tumble.scenarios.registry import load
from tumble.scenarios.validation.answers.linkages import arm
from tumble.sim import Fixed, Hinge, Path, Point, World
from tumble.sim.ledger.diagnostics import rotations

G = 9.81


def order(errors: list[float]) -> np.ndarray:
    return np.log2(np.array(errors[:-1]) / errors[1:])


def angle(world: World, i: int) -> float:
    """Turn of body i about +y."""
    w, _, y, _ = world.orientations[i]
    return 2 * math.atan2(y, w)


@pytest.mark.validate
def test_wild_double_pendulum_keeps_its_energy():
    """No drift in 100 s of chaos: the mean error of the last fifth is that of the first; at half the step it is a quarter."""
    means = []
    for n in (1000, 2000):
        scene = load("double_pendulum")()
        scene.dt = 1 / n
        world = scene.build()
        start, run = world.energy().total, []
        for _ in range(1000):
            world.step(n // 10)
            run.append(abs(world.energy().total - start))
        assert np.mean(run[-200:]) < 2 * np.mean(run[:200])  # of 15 J
        assert abs(world.ledger.residual) < 1e-9 * world.ledger.moved
        assert max(joint.error for joint in world.joints) < 1e-12
        means.append(np.mean(run))
    assert means[0] < 1e-4
    assert 2.5 < means[0] / means[1] < 6  # statistics of two chaotic runs


def test_driven_four_bar_follows_its_crank():
    """The loop closes to rounding: the rocker is where the lengths of the bars put it (Freudenstein), turn after turn."""
    world = load("four_bar")(speed=6.0, torque=60.0).build()
    crank, coupler, rocker = (math.dist(*BARS[name]) for name in ("crank", "coupler", "rocker"))
    for _ in range(40):
        world.step(30)
        turn = world.joints[0].angle
        tip = arm(turn, np.array((0.0, crank)))
        away = math.dist(tip, (1, 0))
        inner = math.acos((away**2 + rocker**2 - coupler**2) / (2 * away * rocker))
        to_tip = math.atan2(tip[0] - 1, tip[1])
        top = np.array((1 + rocker * math.sin(to_tip + inner), rocker * math.cos(to_tip + inner)))
        found = world.joints[2].anchor
        assert np.abs(found[[0, 2]] - top).max() < 1e-12
    assert world.joints[0].speed == pytest.approx(6.0, abs=1e-8)
    assert turn > 4 * math.pi
    change = world.energy().total - world.ledger.external
    assert world.ledger.closes
    assert change == pytest.approx(load("four_bar")().build().energy().total, abs=0.02)  # off by order dt^2


def floating_linkage(dt: float) -> World:
    """Three bodies on a hinge and a ball joint, tumbling in free space."""
    world = World(gravity=(0, 0, 0), dt=dt)
    world.add(Box((0.3, 0.1, 0.1)), mass=2.0, angular_velocity=(1, 2, 3), name="a")
    world.add(Box((0.2, 0.2, 0.1)), mass=1.0, position=(0.5, 0, 0), velocity=(0.2, 1, -0.5), angular_velocity=(2, 1, 3), name="b")
    world.add(Sphere(0.1), mass=0.5, position=(0.5, 0.3, 0), angular_velocity=(0, 5, 1), name="c")
    world.add_joint(Hinge("a", "b", anchor=(0.3, 0, 0), axis=(0.6, 0, 0.8)))
    world.add_joint(Point("b", "c", anchor=(0.5, 0.2, 0)))
    return world


def test_joints_keep_all_momenta():
    """Forces of a joint act at one common point: momenta of a free linkage change by rounding only; energy as
    little as the integrator is told to."""
    errors = []
    for n in (60, 120, 240):
        world = floating_linkage(1 / n)
        world.step(n // 20)  # velocities that the joints forbid are gone
        p, l, e = world.momentum(), world.angular_momentum(), world.energy().total
        worst = 0.0
        for _ in range(60):
            world.step(n // 20)
            worst = max(worst, abs(world.energy().total - e))
        errors.append(worst)
        assert np.linalg.norm(world.momentum() - p) < 1e-13
        assert np.linalg.norm(world.angular_momentum() - l) < 1e-13
        assert world.ledger.closes
    assert max(errors) < 1e-9
    assert errors[-1] < 1e-11


def test_welded_bodies_move_as_one():
    """Two boxes on a fixed joint against one body with their masses and moments: attitude of order 4, as of
    one that turns freely."""
    sizes, places = ((0.3, 0.1, 0.1), (0.1, 0.2, 0.05)), ((0.0, 0, 0), (0.4, 0.1, 0.1))
    masses, spin = (2.4, 0.4), np.array((1.0, 2.0, 3.0))
    center = sum(m * np.array(x) for m, x in zip(masses, places, strict=True)) / sum(masses)
    inertia = np.zeros((3, 3))
    for m, (a, b, c), x in zip(masses, sizes, places, strict=True):
        d = np.array(x) - center
        own = np.diag([b * b + c * c, a * a + c * c, a * a + b * b]) * m / 3
        inertia += own + m * (d @ d * np.eye(3) - np.outer(d, d))
    single = World(integrator="exact")
    single.add(Sphere(0.1), mass=sum(masses), inertia=inertia, center_of_mass=center, angular_velocity=spin)
    single.step(240)
    expected = rotations(single.orientations)[0]
    errors = []
    for n in (120, 240, 480):
        world = World(dt=1 / n)
        parts = [
            world.add(Box(size), mass=m, position=x, angular_velocity=spin, velocity=np.cross(spin, np.array(x) - center))
            for size, m, x in zip(sizes, masses, places, strict=True)
        ]
        weld = world.add_joint(Fixed(*parts, anchor=(0.3, 0, 0)))
        world.step(n)
        turned = rotations(world.orientations)
        assert np.allclose(turned[0], turned[1], atol=1e-12)
        assert weld.error < 1e-12
        errors.append(np.linalg.norm(turned[0] - expected))
    assert errors[-1] < 1e-12
    assert np.all(order(errors) > 3.8), errors


def test_pendulum_on_a_shaken_pivot():
    """Kapitza's pendulum: upright on a pivot that shakes fast it does not fall; against the equation of the angle, order 4.

    The path begins before the run: where it begins it is at rest.
    """
    height, rate, length = 0.05, 100.0, 1.0
    moment = (1 + 0.04**2) / 12 * length**2 + 0.25 * length**2

    def rates(t, y):
        lift = -height * rate**2 * math.sin(rate * t)
        return [y[1], 0.5 * length * (G + lift) * math.sin(y[0]) / moment]

    expected = solve_ivp(rates, (0, 2), (0.1, 0.0), method="DOP853",
                         rtol=1e-12, atol=1e-13).y[:, -1]  # fmt: skip
    errors = []
    for n in (960, 1920, 3840):
        world = World(dt=1 / n)
        path = Path.sampled(lambda t: (0, 0, height * math.sin(rate * t)), start=-0.1, stop=2.1, points=20000)
        pivot = world.add(Sphere(0.02), kind="kinematic", path=path)
        place = (0.5 * math.sin(0.1), 0, 0.5 * math.cos(0.1))
        rod = world.add(
            Box((0.02, 0.02, 0.5)), mass=1.0, position=place, orientation=(math.cos(0.05), 0, math.sin(0.05), 0),
            velocity=(0, 0, height * rate),
        )  # fmt: skip
        hinge = world.add_joint(Hinge(pivot, rod, anchor=(0, 0, 0), axis=(0, 1, 0)))
        world.step(2 * n)
        errors.append(abs(angle(world, 1) - expected[0]))
        assert hinge.error < 1e-11
        assert world.ledger.closes
    assert abs(expected[0]) < 0.3  # it stands
    assert errors[-1] < 1e-8
    assert np.all(order(errors) > 3.8), errors


@pytest.mark.parametrize(
    ("dt", "lean", "knee", "spin"), [(1 / 100, -0.3, 0.5, 1.0), (1 / 240, 0.1, 0.2, 1.0), (1 / 500, 0.1, 0.5, -1.0)]
)
def test_a_leg_rolls_on_its_foot_with_its_knee_on_the_stop(dt, lean, knee, spin):
    """Looks at the end of the flight follow solves that are not done: what holds the knee then is what will hold it at last.

    ``tests/sim/spoiled.py`` has the twin.
    """
    world = leg(dt, lean, knee, spin)
    world.step(30)
    assert world.statistics()["unsolved"] == 0
    assert world.joints[0].position == pytest.approx(0.0, abs=1e-11)


@pytest.mark.parametrize(("lean", "spin", "side", "height", "mass"), [(-0.3, 1.0, -1, 0.2, 0.2), (-0.3, -1.0, -1, 0.2, 2.0)])
def test_a_knee_that_is_struck_off_its_stop_is_free(lean, spin, side, height, mass):
    """In looks of the kick that follows the blow too: held there, the foot is kicked against a stop that is not there. At 1/3200
    s the heavy ball was given 0.55 J in a step in that way, and the knee was bent by 0.33.

    ``tests/sim/spoiled.py`` has the twin.
    """
    knees = []
    for dt in (1 / 400, 1 / 3200):
        world = struck_leg(dt, lean, spin, side, height, mass)
        rises = np.diff([world.step() or world.energy().total for _ in range(round(0.1 / dt))])
        assert rises.max() < 1e-6
        assert abs(world.ledger.contact) < 5e-4
        knees.append(world.joints[0].position)
    assert knees[0] == pytest.approx(knees[1], abs=5e-4)
