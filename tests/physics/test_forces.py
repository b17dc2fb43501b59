"""Forces against closed forms, the measured order, and the books."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tumble.collision import Box, HalfSpace, Pose, Sphere
from tumble.sim import (
    CentralGravity,
    ConstantForce,
    Drag,
    FunctionForce,
    Hinge,
    InputError,
    Medium,
    MutualGravity,
    Scene,
    SimulationError,
    Spring,
    TabulatedForce,
    UniformGravity,
    World,
)
from tumble.sim.ledger.diagnostics import rotations

HALF = (0.25, 0.05, 0.125)
GM = 0.394784176044  # m^3/s^2: a period of 10 s at 1 m


def free(dt: float = 1 / 240, **fields) -> World:
    world = World(gravity=(0, 0, 0), dt=dt)
    world.add(Sphere(0.1), **{"mass": 2.0, **fields})
    return world


def closes(world: World, part: float = 1e-12) -> None:
    assert abs(world.ledger.residual) <= part * world.ledger.moved + 1e-14 * world.ledger.scale, world.ledger


def orders(errors: list[float]) -> np.ndarray:
    return np.log2(np.array(errors[:-1]) / errors[1:])


def kepler(dt: float) -> World:
    world = World(gravity=(0, 0, 0), dt=dt)
    world.add(Box(HALF), mass=12.5, position=(0.7, 0, 0), velocity=(0, 0.856253824898, 0), angular_velocity=(1, 2, 3))
    world.add_force(CentralGravity(gm=GM))
    return world


def test_kepler_orbit_leaves_the_spin_alone():
    world = kepler(1 / 240)
    world.step(800)
    assert np.allclose(world.positions[0], (-0.977437194113, 0.701699188904, 0), atol=1e-8)
    assert np.allclose(world.velocities[0], (-0.384114831977, -0.337458624831, 0), atol=1e-8)
    world.step(1600)
    assert np.linalg.norm(world.positions[0] - (0.7, 0, 0)) < 1e-8
    alone = World(gravity=(0, 0, 0))
    alone.add(Box(HALF), mass=12.5, angular_velocity=(1, 2, 3))
    alone.step(2400)
    assert np.allclose(world.orientations, alone.orientations, atol=1e-13)
    closes(world)


def test_kepler_order_four():
    errors = []
    for n in (40, 80, 160):
        world = kepler(1 / n)
        world.step(10 * n)
        errors.append(np.linalg.norm(world.positions[0] - (0.7, 0, 0)))
    assert np.all(np.abs(orders(errors) - 4) < 0.6), orders(errors)


def test_linear_drag():
    v, k = np.array([40 * np.cos(np.radians(35)), 0, 40 * np.sin(np.radians(35))]), 0.1
    world = World()
    ball = world.add(Sphere(0.037), mass=0.145, velocity=v)
    world.add_force(Drag(linear=0.145 * k))
    world.step(480)
    exact = v * (1 - np.exp(-k * 2)) / k + np.array([0, 0, -9.81]) * (2 / k - (1 - np.exp(-k * 2)) / k**2)
    assert np.allclose(ball.position, exact, atol=1e-10)
    assert np.allclose(ball.position[[0, 2]], (59.3948296732, 23.2138386983), atol=1e-9)
    closes(world)
    assert world.ledger.external < -1


def test_a_medium_by_its_form():
    """A plate falls through water flat and on edge: until drag and weight are equal, by v = v_t tanh(g t/v_t); books close.

    Across its faces of area A: density A u^2/2; the axes of the plate are turned, and the box of its moments is the plate.
    """
    half, mass, density = np.array([0.3, 0.2, 0.01]), 4.0, 1000.0
    for axis in range(3):
        turn = np.roll(np.eye(3), 2 - axis, axis=0)  # the axis of the plate points up
        world = World(dt=1 / 2000)
        plate = world.add(Box(tuple(half)), mass=mass, orientation=Pose.from_matrix(turn).orientation)
        world.add_force(Medium(density=density))
        area = 4 * np.prod(np.delete(half, axis))
        limit = math.sqrt(2 * mass * 9.81 / (density * area))
        world.step(1000)
        assert plate.velocity[2] == pytest.approx(-limit * math.tanh(9.81 * 0.5 / limit), rel=1e-9)
        assert world.ledger.closes
    slow = World(gravity=(0, 0, 0))
    ball = slow.add(Sphere(0.1), mass=1.0, velocity=(1, 0, 0), angular_velocity=(0, 0, 1))
    slow.add_force(Medium(viscosity=0.5, wind=(0, 2, 0)))
    slow.step(240)
    r = 0.1 * math.sqrt(3 / 5)  # half side of the cube that has the moments of the ball
    assert ball.velocity[:2] == pytest.approx((math.exp(-3 * math.pi * r), 2 - 2 * math.exp(-3 * math.pi * r)), rel=1e-9)
    assert ball.angular_velocity[2] == pytest.approx(math.exp(-4 * math.pi * r**3 / 0.004), rel=1e-9)


def test_quadratic_drag_until_it_lands():
    v = (40 * np.cos(np.radians(35)), 0, 40 * np.sin(np.radians(35)))
    world = World()
    ball = world.add(Sphere(0.037), mass=0.145, velocity=v, position=(0, 0, 0.037), restitution=1, friction=0)
    world.add(HalfSpace(), kind="static", friction=0)
    world.add_force(Drag(quadratic=0.145 * 0.006228803255))
    world.step(973)  # it has landed at 4.055269884 s, inside step 974
    before = ball.velocity
    world.step()
    after = ball.velocity
    assert before[2] < -10
    assert after[2] > 10
    # from the middle of what is known: back to the landing along the incoming path
    t = 4.055269884 - 973 / 240
    assert abs(np.linalg.norm(before) + np.dot(before, (0, 0, -9.81) - 0.006228803255 * np.linalg.norm(before) * before)
               / np.linalg.norm(before) * t - 24.79857876) < 1e-4  # fmt: skip
    x = world.positions[0, 0] - after[0] * (974 / 240 - 4.055269884)
    assert x == pytest.approx(94.59227684, abs=2e-4)
    assert world.statistics()["impacts"] == 1
    closes(world)


def oscillator(dt: float, damping: float) -> tuple[float, World]:
    world = free(dt, position=(0.3, 0, 0))
    world.add_force(Spring("sphere", stiffness=50.0, damping=damping))
    world.step(round(2 / dt))
    k, c = 50 / 2, damping / 4
    w = np.sqrt(k - c * c)
    exact = 0.3 * np.exp(-2 * c) * (np.cos(2 * w) + c / w * np.sin(2 * w))
    return abs(world.positions[0, 0] - exact), world


@pytest.mark.parametrize("damping", [0.0, 1.5])
def test_oscillator_of_order_four(damping):
    runs = [oscillator(1 / n, damping) for n in (60, 120, 240)]
    assert np.all(np.abs(orders([e for e, _ in runs]) - 4) < 0.3)
    assert runs[-1][0] < 1e-7
    for _, world in runs:
        closes(world)
        assert (world.ledger.external < -1) == (damping > 0)


def test_mutual_gravity_of_three_bodies():
    world = World(gravity=(0, 0, 0), dt=1 / 240)
    for x, v, m in [((0, 0, 0), (0, 0, 0), 3.0), ((1, 0, 0), (0, 1.9, 0), 0.2), ((0, 3, 0.5), (-1.0, 0, 0), 0.1)]:
        world.add(Sphere(0.05), mass=m, position=x, velocity=v)
    world.add_force(MutualGravity(constant=1.0))
    p, l = world.momentum(), world.angular_momentum()
    world.step(960)

    def pull(_, y):
        x, m = y[:9].reshape(3, 3), (3.0, 0.2, 0.1)
        a = [sum(m[j] * (x[j] - x[i]) / np.linalg.norm(x[j] - x[i]) ** 3 for j in range(3) if j != i) for i in range(3)]
        return np.concatenate([y[9:], np.ravel(a)])

    y0 = [0, 0, 0, 1, 0, 0, 0, 3, 0.5, 0, 0, 0, 0, 1.9, 0, -1.0, 0, 0]
    y = solve_ivp(pull, (0, 4), y0, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    assert np.allclose(world.positions.ravel(), y[:9], atol=1e-7)
    assert np.linalg.norm(world.momentum() - p) < 1e-14
    assert np.linalg.norm(world.angular_momentum() - l) < 1e-7
    closes(world)


def top(dt: float, seconds: float, function) -> World:
    """Lagrange's top: about its tip, the equations of a free body with the moments about the tip and gravity's torque."""
    world = World(gravity=(0, 0, 0), dt=dt)
    tilt = np.radians(30)
    q = (np.cos(tilt / 2), np.sin(tilt / 2), 0, 0)
    spin = 50 * rotations(np.array([q]))[0][:, 2]
    world.add(Sphere(0.1), mass=0.5, inertia=(0.0024125, 0.0024125, 0.001225), orientation=q, angular_velocity=spin)
    world.add_force(function)
    world.step(round(seconds / dt))
    return world


def _weight(t, position, orientation, velocity, angular_velocity):
    w, x, y, z = orientation
    axis = (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y))
    return (0.0, 0.0, 0.0), (-0.2943 * axis[1], 0.2943 * axis[0], 0.0)


def test_heavy_top_under_a_compiled_function():
    world = top(1 / 2400, 0.36156099506, numba.njit(_weight))  # one nutation, to the nearest step
    axis = rotations(world.orientations)[0][:, 2]
    left = 0.36156099506 - world.time
    assert np.arccos(axis[2]) == pytest.approx(0.5235987756, abs=1e-4)
    assert np.arctan2(axis[1], axis[0]) + np.pi / 2 == pytest.approx(2.0317817217, abs=1e-4 + 6 * abs(left))
    assert world.angular_momentum()[2] == pytest.approx(0.001225 * 50 * np.cos(np.radians(30)), rel=1e-9)
    closes(world)
    assert world.ledger.user == pytest.approx(-0.2943 * (axis[2] - np.cos(np.radians(30))), abs=1e-6)


def test_the_top_of_order_four_and_a_plain_function_gives_the_same():
    fast = numba.njit(_weight)
    axes = [rotations(top(1 / n, 0.25, fast).orientations)[0] for n in (240, 480, 960, 7680)]
    errors = [np.linalg.norm(axis - axes[-1]) for axis in axes[:-1]]
    assert np.all(np.abs(orders(errors) - 4) < 0.3), orders(errors)
    plain = rotations(top(1 / 240, 0.25, _weight).orientations)[0]
    assert np.allclose(plain, axes[0], atol=1e-13)


def test_gravity_gradient_librates():
    """A dumb-bell on a circular orbit swings about the vertical at sqrt(3 (I2 - I1)/I3) of the orbital rate."""
    rate = 2.0
    world = World(gravity=(0, 0, 0), dt=1 / 240)
    tilt = 1e-3
    body = world.add(
        Sphere(0.01), mass=1.0, inertia=(0.002e-9, 1e-9, 1e-9), position=(1, 0, 0), velocity=(0, rate, 0),
        orientation=(np.cos(tilt / 2), 0, 0, np.sin(tilt / 2)), angular_velocity=(0, 0, rate),
    )  # fmt: skip
    world.add_force(CentralGravity(gm=rate**2, gradient=True))
    angles = []
    for _ in range(240):
        world.step()
        axis, x = rotations(world.orientations)[0][:, 0], body.position
        angles.append(np.arcsin((x[0] * axis[1] - x[1] * axis[0]) / np.linalg.norm(x)))
    t = np.arange(1, 241) / 240
    assert np.allclose(angles, tilt * np.cos(rate * np.sqrt(3 * 0.998) * t), atol=3e-6)
    closes(world)


def test_constant_and_tabulated_forces_in_both_frames():
    turned = (np.sqrt(0.5), 0, 0, np.sqrt(0.5))  # x of the body is y of the world
    world = free(orientation=turned)
    world.add_force(ConstantForce(force=(2, 0, 0), frame="body"))
    world.add_force(TabulatedForce(times=(0, 0.5, 1), forces=((0, 0, 0), (4, 0, 0), (0, 0, 0))))
    world.step(480)
    # one newton second of the table acts along x, one for each second of the constant force along y
    assert np.allclose(world.momentum(), (2, 4, 0), atol=1e-12)
    assert world.ledger.external == pytest.approx(world.energy().total, rel=1e-12)
    pushed = free(inertia=(0.5, 0.5, 0.5))
    pushed.add_force(ConstantForce(force=(0, 3, 0), point=(0.2, 0, 0)))
    pushed.step(24)
    assert np.allclose(pushed.angular_momentum(about=pushed.positions[0]), (0, 0, 3 * 0.2 * 0.1), rtol=1e-4)


def test_uniform_field_lifts_one_body():
    world = World()
    balloon, stone = world.add(Sphere(0.1)), world.add(Sphere(0.1), position=(1, 0, 0))
    world.add_force(UniformGravity((0, 0, 10.81)), bodies=[balloon])
    world.step(240)
    assert balloon.position[2] == pytest.approx(0.5, abs=1e-12)
    assert stone.position[2] == pytest.approx(-4.905, abs=1e-12)
    closes(world)


def test_spring_between_spinning_bodies_keeps_all_momenta():
    for dt in (1 / 240, 1 / 480):
        world = World(gravity=(0, 0, 0), dt=dt)
        world.add(Box((0.1, 0.2, 0.3)), mass=1.0, angular_velocity=(1, 2, 3), name="a")
        world.add(Box((0.2, 0.1, 0.1)), mass=3.0, position=(2, 0, 0), angular_velocity=(0, -4, 1), name="b")
        anchors = {"anchor_a": (0.1, 0.2, 0.3), "anchor_b": (-0.2, 0, 0.1)}
        world.add_force(Spring("a", "b", stiffness=30, length=1.7, damping=0.5, **anchors))
        p, l, e = world.momentum(), world.angular_momentum(), world.energy().total
        world.step(round(2 / dt))
        assert np.linalg.norm(world.momentum() - p) < 1e-12  # rounding: some 40 N s go back and forth
        assert world.energy().total - e == pytest.approx(world.ledger.external, abs=1e-5)
        closes(world)
        assert np.linalg.norm(world.angular_momentum() - l) < 1e-12  # it is linear in what is integrated


def test_box_on_a_slope_held_by_a_spring():
    """Without friction it swings down the slope about m g sin/k, and never leaves it."""
    angle, k, m = np.radians(30), 40.0, 2.0
    for dt, limit in ((1 / 120, 4e-6), (1 / 240, 1e-6)):
        world = World(dt=dt)
        n = (np.sin(angle), 0, np.cos(angle))
        world.add(HalfSpace(normal=n), kind="static", friction=0)
        turn = (np.cos(angle / 2), 0, np.sin(angle / 2), 0)
        box = world.add(Box((0.1, 0.1, 0.1)), mass=m, friction=0, orientation=turn, position=0.1 * np.array(n))
        world.add_force(Spring("box", stiffness=k, anchor_b=0.1 * np.array(n)))
        world.step(round(1.5 / dt))
        down = np.array([np.cos(angle), 0, -np.sin(angle)])
        sag, w = m * 9.81 * np.sin(angle) / k, np.sqrt(k / m)
        assert (box.position @ down) == pytest.approx(sag * (1 - np.cos(w * 1.5)), abs=limit)
        assert abs(box.position @ n - 0.1) < 1e-11
        closes(world)


def test_at_rest_under_drag_a_spring_and_a_function():
    @numba.njit
    def breeze(t, position, orientation, velocity, angular_velocity):
        return (0.0, -0.3 * velocity[1], -0.2 * velocity[2]), (0.0, 0.0, -0.1 * angular_velocity[2])

    world = World()
    world.add(HalfSpace(), kind="static")
    box = world.add(Box((0.2, 0.3, 0.1)), position=(0, 0, 0.1), mass=5.0)
    world.add_force(Drag(linear=3.0, spin_linear=0.2))
    world.add_force(Spring("box", stiffness=20.0, anchor_a=(0.1, 0, 0.1), anchor_b=(0.1, 0.2, 1)))
    world.add_force(breeze)
    world.step(720)
    # drag is not the same on the way up and down of the imperceptible bounces: it ends a little off rest, of order dt^2
    assert np.allclose(box.position, (0, 0, 0.1), atol=1e-7)
    assert np.abs(world.velocities).max() < 2e-5
    closes(world)


def test_elastic_ball_under_a_spring_bounces_at_the_right_time():
    """A ball on a spring strikes a wall on its way: the rest of the swing is mirrored."""
    world = World(gravity=(0, 0, 0), dt=1 / 60)
    world.add(HalfSpace(normal=(1, 0, 0), offset=-0.2), kind="static", friction=0, restitution=1)
    ball = world.add(Sphere(0.1), mass=2.0, position=(0.3, 0, 0), restitution=1, friction=0)
    world.add_force(Spring("sphere", stiffness=50.0))
    world.step(60)
    w = 5.0
    hit = np.arccos(-0.1 / 0.3) / w  # at x = -0.1 the ball touches; it returns along the same phase
    period = 2 * hit
    phase = (1.0 % period) if (1.0 % period) < hit else period - (1.0 % period)
    assert ball.position[0] == pytest.approx(0.3 * np.cos(w * phase), abs=2e-6)
    assert world.statistics()["impacts"] == 1
    closes(world)


def test_saved_world_goes_on_bit_for_bit(tmp_path):
    gust = numba.njit(lambda t, x, q, v, w: ((np.sin(9 * t), 0.0, 0.0), (0.0, 0.0, 0.1 * x[0])))
    world = World()
    world.add(HalfSpace(), kind="static")
    for k in range(3):
        world.add(Box((0.1, 0.2, 0.1)), position=(0.5 * k, 0, 0.4 + 0.1 * k), angular_velocity=(k, 1, 2), restitution=0.5)
    world.add_force(Spring("box", "box_2", stiffness=60, length=0.3, damping=1))
    world.add_force(Drag(linear=0.3), bodies=["box_3"])
    world.add_force(MutualGravity(constant=0.01))
    world.add_force(gust)
    world.step(100)
    world.save(tmp_path / "world.npz")
    with pytest.raises(InputError, match="function"):
        World.load(tmp_path / "world.npz")
    again = World.load(tmp_path / "world.npz", functions={"<lambda>": gust})
    assert again.state_hash() == world.state_hash()
    world.step(100), again.step(100)
    assert again.state_hash() == world.state_hash()
    assert again.ledger == world.ledger
    closes(world, 1e-11)


def test_scene_goes_to_a_dict_and_back():
    scene = Scene()
    scene.add(Sphere(0.1), name="a")
    scene.add(Sphere(0.1), name="b", position=(1, 0, 0))
    scene.add_force(Spring("a", "b", stiffness=3.0, slack=True))
    scene.add_force(TabulatedForce(times=(0, 1), torques=((1, 2, 3), (4, 5, 6)), frame="body"), bodies="a")
    scene.add_force(CentralGravity(2.0, (1, 2, 3), gradient=True))
    assert Scene.from_dict(scene.to_dict()) == scene
    assert scene.build().scene == scene


@pytest.mark.parametrize(
    ("force", "name"),
    [
        (lambda: Drag(linear=-1), "linear"),
        (lambda: Spring("a", "a"), "b"),
        (lambda: Spring("ball", "nobody", stiffness=1), "b"),
        (lambda: Drag(bodies=["floor"]), "bodies"),
        (lambda: TabulatedForce(times=(1, 0)), "times"),
        (lambda: TabulatedForce(times=(0, 1), forces=((0, 0, 0),)), "forces"),
        (lambda: ConstantForce(frame="moon"), "frame"),
        (lambda: 3, "force"),
        (lambda: numba.njit(lambda t: t), "function"),
        (lambda: lambda t, x, q, v, w: 3.0, "function"),
    ],
)
def test_bad_forces_are_refused_by_name(force, name):
    world = World()
    world.add(Sphere(0.1), name="ball")
    world.add(HalfSpace(), kind="static", name="floor")
    with pytest.raises(InputError) as caught:
        world.add_force(force())
    assert caught.value.name == name


def test_compiled_function_may_give_whole_numbers_and_arrays():
    tuples = numba.njit(lambda t, x, q, v, w: ((0.5, 0, 0), (0, 0, 0)))
    arrays = numba.njit(lambda t, x, q, v, w: (np.array([0.5, 0.0, 0.0]), np.zeros(3)))
    for function in (tuples, arrays, lambda t, x, q, v, w: (np.array([0.5, 0, 0]), [0, 0, 0])):
        world = free()
        world.add_force(function)
        world.step(240)
        assert world.positions[0] == pytest.approx((0.125, 0, 0), abs=1e-12)
    with pytest.raises(InputError, match="Numba says: .*wrong"):
        free().add_force(numba.njit(lambda t, x, q, v, w: wrong))  # noqa: F821


def test_function_that_raises_stops_the_world_with_its_words():
    def broken(t, position, orientation, velocity, angular_velocity):
        if t > 0.1:
            raise ValueError("no such day")
        return (0, 0, 0), (0, 0, 0)

    world = free()
    world.add_force(broken)
    with pytest.raises(SimulationError, match="broken raised ValueError: no such day"):
        world.step(48)


def test_pendulum_on_a_joint_swings_the_same_by_a_force_as_by_gravity():
    ends = []
    for forced in (False, True):
        world = World(gravity=(0, 0, 0 if forced else -9.81))
        rod = world.add(Box((0.02, 0.02, 0.5)), mass=1.0, position=(0.5, 0, 0), orientation=(np.sqrt(0.5), 0, np.sqrt(0.5), 0))
        world.add_joint(Hinge(rod, anchor=(0, 0, 0), axis=(0, 1, 0)))
        if forced:
            world.add_force(ConstantForce(force=(0, 0, -9.81)))
            world.add_force(FunctionForce(numba.njit(lambda t, x, q, v, w: ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))))
        world.step(480)
        ends.append(world.orientations[0])
        closes(world, 1e-11)
    assert np.allclose(*ends, atol=1e-11)
