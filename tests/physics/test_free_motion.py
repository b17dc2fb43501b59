"""Free flight against independent integration, exact laws and the measured order."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tumble.collision import Box
from tumble.sim import World
from tumble.sim.ledger.diagnostics import rotations

HALF = (0.25, 0.05, 0.125)  # 0.5 x 0.1 x 0.25 m, 12.5 kg
INERTIA = np.array([0.07552083333333333, 0.3255208333333333, 0.2708333333333333])
OMEGA = (1.0, 2.0, 3.0)


def tumbler(dt: float, **body) -> World:
    world = World(gravity=(0, 0, 0), dt=dt)
    world.add(Box(HALF), mass=12.5, angular_velocity=OMEGA, **body)
    return world


def reference_rotation(t: float) -> np.ndarray:
    """Euler's equations in body axes and the rotation matrix, by an eighth-order method: no code of ours."""

    def rates(_, y):
        w, r = y[:3], y[3:].reshape(3, 3)
        spin = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        return np.concatenate([np.cross(INERTIA * w, w) / INERTIA, (r @ spin).ravel()])

    y0 = np.concatenate([OMEGA, np.eye(3).ravel()])
    return solve_ivp(rates, (0, t), y0, method="DOP853", rtol=1e-13, atol=1e-13).y[3:, -1].reshape(3, 3)


def attitude_error(dt: float, t: float = 10.0) -> float:
    world = tumbler(dt)
    world.step(round(t / dt))
    return float(np.linalg.norm(rotations(world.orientations)[0] - reference_rotation(t)))


def test_attitude_against_independent_integration():
    assert attitude_error(1 / 240) < 1e-6


def test_printed_reference_of_the_tumbling_cuboid():
    world = tumbler(1 / 240)
    world.step(2400)
    expected = [[-0.9611961981, 0.2758413515, -0.0036630012], [0.1102873254, 0.3964101410, 0.9114250962]]
    assert np.allclose(rotations(world.orientations)[0][:2], expected, atol=1e-6)
    assert world.energy().total == pytest.approx(1.90755208333, rel=5e-9)


def test_order_four():
    steps = [1 / 120, 1 / 240, 1 / 480]
    errors = [attitude_error(dt) for dt in steps]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 4) < 0.3), orders


def test_angular_momentum_is_exact():
    world = tumbler(1 / 240)
    before = world.angular_momentum()
    world.step(2400)
    assert np.linalg.norm(world.angular_momentum() - before) <= 1e-14 * np.linalg.norm(before)


def test_energy_of_the_free_box():
    world = World(gravity=(0, 0, 0), dt=0.01)
    world.add(Box((0.1, 0.2, 0.3)), mass=1.0, angular_velocity=(1, 2, 3))
    before = world.energy().total
    world.step(500)
    assert abs(world.energy().total - before) < 1e-9


def test_projectile_is_exact():
    world = World(dt=1 / 240)
    v = 40 * np.cos(np.radians(35)), 0.0, 40 * np.sin(np.radians(35))
    body = world.add(Box(HALF), velocity=v, angular_velocity=OMEGA)
    world.step(480)
    t = world.time
    assert np.allclose(body.position, [v[0] * t, 0, v[2] * t - 9.81 * t * t / 2], atol=1e-12, rtol=0)


def test_tilted_frame_gives_the_tilted_motion():
    """A full inertia tensor: the same cuboid described in axes that are not its own."""
    turn = rotations(np.array([[0.8, 0.36, -0.48, 0.0]]))[0]
    plain = World(gravity=(0, 0, 0), dt=1 / 240)
    plain.add(Box(HALF), mass=12.5, angular_velocity=OMEGA)
    tilted = World(gravity=(0, 0, 0), dt=1 / 240)
    tilted.add(
        Box(HALF),
        mass=12.5,
        inertia=turn.T @ np.diag(INERTIA) @ turn,
        orientation=(0.8, 0.36, -0.48, 0.0),
        angular_velocity=OMEGA,
    )
    plain.step(480)
    tilted.step(480)
    assert np.allclose(rotations(tilted.orientations)[0], rotations(plain.orientations)[0] @ turn, atol=1e-9)


def test_off_centre_body_turns_about_its_centre_of_mass():
    world = World(gravity=(0, 0, 0), dt=1 / 240)
    body = world.add(
        Box(HALF), mass=2.0, inertia=(0.1, 0.2, 0.25), center_of_mass=(0.2, 0, 0), velocity=(1, 0, 0), angular_velocity=(0, 0, 3)
    )
    assert np.allclose(body.position, 0)
    assert np.allclose(world.centers_of_mass[0], [0.2, 0, 0])
    world.step(240)
    assert np.allclose(world.centers_of_mass[0], [1.2, 0, 0], atol=1e-12)
    assert np.linalg.norm(body.position - world.centers_of_mass[0]) == pytest.approx(0.2, abs=1e-12)


def test_a_turn_of_billions_of_radians_ends():
    """One slice of half a radian after the other it would take an hour."""
    world = World(integrator="exact", dt=1.0, gravity=(0, 0, 0))
    body = world.add(Box((1.0, 1e-3, 2e-3)), angular_velocity=(1e10, 1.0, 0.0))
    world.step()
    assert abs(np.linalg.norm(body.orientation) - 1.0) < 1e-12
    assert np.isfinite(world.angular_velocities).all()
