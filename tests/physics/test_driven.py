"""Driven bodies: on their path at every step, and what they carry, push and hit, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from tumble.collision import Box, Cylinder, Pose, Sphere
from tumble.sim import InputError, Path, Scene, World

G = 9.81
CUBE = Box((0.1, 0.1, 0.1))


def wave(amplitude: float = 0.1, frequency: float = 1.0, points: int = 65) -> Path:
    """Up and down about z = -0.1, at full speed upwards at the start."""
    t = np.linspace(0, 1 / frequency, points)
    return Path(tuple(t), tuple((0, 0, amplitude * math.sin(2 * math.pi * frequency * s) - 0.1) for s in t), loop=True)


def lift(dt: float = 1 / 240, **options) -> World:
    world = World(dt=dt)
    world.add(Box((2, 2, 0.1)), kind="kinematic", path=wave(**options), name="lift")
    speed = world["lift"].path.pose(1e-6)[0][2] + 0.1
    world.add(CUBE, position=(0, 0, 0.1), velocity=(0, 0, speed / 1e-6), name="box")
    return world


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
def test_a_lift_carries_a_box_and_its_work_is_booked(dt):
    world = lift(dt)
    for _ in range(round(2 / dt)):
        world.step()
        assert abs(world["box"].position[2] - world["lift"].position[2] - 0.2) < 1e-9
        assert np.abs(world["lift"].position - world["lift"].path.pose(world.time)[0]).max() < 1e-14
    assert world.ledger.closes
    assert world.statistics()["impacts"] == 0
    # a quarter of a period later it is at the top, at rest: the lift has taken back the motion and given the height
    before = world.ledger.external
    world.step(round(0.25 / dt))
    mass = world["box"].mass
    work = mass * (G * 0.1 - (0.1 * 2 * math.pi) ** 2 / 2)
    assert world.ledger.external - before == pytest.approx(work, abs=300 * mass * dt**2)


def test_a_lift_that_falls_faster_than_gravity_leaves_the_box_behind():
    """The failing twin: at 3 Hz the lift's acceleration exceeds g, the box flies and lands by an impact."""
    world = lift(frequency=3.0)
    gaps = []
    for _ in range(120):
        world.step()
        gaps.append(world["box"].position[2] - world["lift"].position[2] - 0.2)
    assert max(gaps) > 0.01
    assert min(gaps) > -1e-9
    assert world.statistics()["impacts"] >= 1
    assert world.ledger.closes


def carried(dt: float, mu: float = 0.5) -> tuple[float, float]:
    """A box on a turntable at 0.5 m, 2 rad/s, after 1.5 s: error of radius [m] and of angle [rad]."""
    world = World(dt=dt)
    world.add(Cylinder(1.0, 0.05), kind="kinematic", position=(0, 0, -0.05), angular_velocity=(0, 0, 2), friction=mu)
    box = world.add(CUBE, position=(0.5, 0, 0.1), velocity=(0, 1, 0), angular_velocity=(0, 0, 2), friction=mu)
    world.step(round(1.5 / dt))
    assert world.ledger.closes
    x, y, _ = box.position
    return abs(math.hypot(x, y) - 0.5), abs(math.remainder(math.atan2(y, x) - 3.0, math.tau))


def test_a_turntable_carries_a_box():
    coarse, fine = carried(1 / 60), carried(1 / 240)
    assert max(fine) < 1e-4
    assert max(coarse) > 12 * max(fine)  # of order 2
    assert carried(1 / 240, mu=0.15)[0] > 0.05  # 2^2 0.5 m/s^2 exceeds 0.15 g: it slides off


def rolling(dt: float) -> float:
    """A sphere that rolls on a turntable goes round a circle at 2/7 of the turntable's rate: error after half of it."""
    rate, radius = 3.0, 0.1
    spin = np.array([0, 0, rate])
    world = World(dt=dt)
    world.add(Box((5, 5, 0.1)), kind="kinematic", position=(0, 0, -0.1), angular_velocity=spin, friction=1.0)
    x, v = np.array([0.3, 0.1, radius]), np.array([0.2, 0.1, 0.0])
    u = np.cross(spin, x) - v  # what rolling must add at the point of contact: w x (-R z) = u
    w = np.cross(u, [0, 0, 1]) / radius
    ball = world.add(Sphere(radius), position=x, velocity=v, angular_velocity=w, friction=1.0)
    steps = round(math.pi / (2 / 7 * rate) / dt)
    world.step(steps)
    a = 2 / 7 * rate * world.time
    turn = np.array([[math.sin(a), math.cos(a) - 1], [1 - math.cos(a), math.sin(a)]]) / (2 / 7 * rate)
    return np.linalg.norm(ball.position[:2] - (x[:2] + turn @ v[:2]))


def test_a_sphere_rolls_on_a_turntable():
    coarse, fine = rolling(1 / 60), rolling(1 / 240)
    assert fine < 1e-5
    assert coarse > 8 * fine


@pytest.mark.parametrize("dt", [1 / 30, 1 / 240])
def test_an_impact_with_a_moving_paddle_is_located_in_time(dt):
    """A ball falls on a paddle that swings: it meets it where parabola and path meet, and leaves at -v + 2 V."""
    path = wave(0.05, 2.0)
    world = World(dt=dt)
    world.add(Box((1, 1, 0.1)), kind="kinematic", path=path)
    ball = world.add(Sphere(0.1), position=(0, 0, 0.6), restitution=1.0)
    top = lambda t: path.pose(t)[0][2] + 0.1  # noqa: E731
    t = brentq(lambda t: 0.5 - G * t * t / 2 - top(t), 0.2, 0.35, xtol=1e-15)
    speed = (top(t + 1e-6) - top(t - 1e-6)) / 2e-6
    up = G * t + 2 * speed
    world.step(round(0.4 / dt))
    s = world.time - t
    assert world.statistics()["impacts"] == 1
    assert ball.position[2] == pytest.approx(top(t) + 0.1 + up * s - G * s * s / 2, abs=1e-7 if dt < 0.01 else 1e-5)
    mass, height = ball.mass, top(t) + 0.1
    assert world.ledger.external == pytest.approx(
        mass * (up**2 / 2 + G * height - G * 0.6), abs=(1e-4 if dt < 0.01 else 1e-3) * mass
    )
    assert world.ledger.closes


def test_turning_paths_have_the_velocity_of_their_orientation():
    """Twice round a loop whose quaternion comes back as -q, with a centre off the origin; and w against differences."""
    angles = np.linspace(0, 2 * math.pi, 13)
    turns = tuple((math.cos(a / 2), 0.0, math.sin(a / 2), 0.0) for a in angles)
    path = Path(tuple(np.linspace(0, 0.5, 13)), tuple((0.2 * math.sin(a), 0.0, 0.1) for a in angles), turns, loop=True)
    assert path.period == pytest.approx(1.0)
    world = World(dt=1 / 480)
    body = world.add(CUBE, kind="kinematic", path=path, center_of_mass=(0.3, 0, 0))
    for _ in range(480):
        world.step()
        q = path.pose(world.time)[1]
        assert abs(abs(np.dot(q, body.orientation)) - 1) < 1e-13
        assert np.abs(body.position - path.pose(world.time)[0]).max() < 1e-13
        after, before = path.pose(world.time + 1e-5)[1], path.pose(world.time - 1e-5)[1]
        if np.dot(after, before) < 0:
            after = -after
        w = 2 * (before[0] * after[2] - after[0] * before[2]) / 2e-5  # about y alone
        assert body.angular_velocity == pytest.approx((0, w, 0), abs=1e-4)
        centre = [path.pose(world.time + s)[0] for s in (-1e-5, 1e-5)]
        arm = world.centers_of_mass[0] - body.position
        expected = (centre[1] - centre[0]) / 2e-5 + np.cross(body.angular_velocity, arm)
        assert body.velocity == pytest.approx(expected, abs=1e-4)


def test_a_path_ends_at_rest_and_may_be_taken_up_in_mid_run():
    world = World()
    gate = world.add(CUBE, kind="kinematic", position=(1, 2, 3))
    world.step(24)
    gate.follow(Path((0.2, 0.5), ((1, 2, 3), (1, 2, 4))))
    world.step(12)
    assert gate.position == pytest.approx((1, 2, 3))
    world.step(240)
    assert gate.position == pytest.approx((1, 2, 4), abs=1e-14)
    assert np.abs(gate.velocity).max() < 1e-14
    gate.follow(Path.sampled(lambda t: (math.cos(t), 2, 4), 0, 10))
    world.step(48)
    assert gate.position[0] == pytest.approx(math.cos(world.time), abs=1e-6)
    gate.follow(None)
    x = gate.position
    world.step(48)
    assert np.array_equal(gate.position, x)
    gate.velocity = (0, 1, 0)
    world.step(24)
    assert gate.position == pytest.approx(x + [0, 0.1, 0])


def test_a_driven_world_is_saved_and_repeats(tmp_path):
    world = lift()
    world.add(Sphere(0.05), position=(1, 0, 0.5), restitution=0.5)
    gone = world.add(Box((1, 1, 0.1)), kind="kinematic", position=(9, 0, 0), path=wave())
    world.step(100)
    world.remove(gone)
    world.step(7)
    world.save(tmp_path / "w.npz")
    again = World.load(tmp_path / "w.npz")
    world.step(300)
    again.step(300)
    assert again.state_hash() == world.state_hash()
    assert again.ledger == world.ledger


def test_paths_live_in_scenes_and_files(tmp_path):
    from tumble.scenarios.files.scene_files import load_scene, save_scene

    scene = Scene(name="lift")
    turns = ((1, 0, 0, 0), (0, 0, 0, 1), (-1, 0, 0, 0))
    path = Path((0, 1, 2), ((0, 0, 0), (0, 0, 1), (0, 0, 0)), turns, True)
    scene.add(CUBE, kind="kinematic", path=path)
    assert Scene.from_dict(scene.to_dict()) == scene
    save_scene(scene, tmp_path / "lift.toml")
    assert load_scene(tmp_path / "lift.toml") == scene
    (tmp_path / "units.toml").write_text(
        '[[body]]\nkind = "kinematic"\nshape = { type = "sphere", radius = 1 }\n'
        'path = { times = ["0 s", "500 ms"], positions = [[0, 0, 0], [0, 0, "20 cm"]] }\n'
    )
    (body,) = load_scene(tmp_path / "units.toml").bodies
    assert body.path == Path((0, 0.5), ((0, 0, 0), (0, 0, 0.2)))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Path((0,), ((0, 0, 0),)), "times"),
        (lambda: Path((0, 0), ((0, 0, 0), (0, 0, 1))), "times"),
        (lambda: Path((0, 1)), "positions"),
        (lambda: Path((0, 1), ((0, 0, 0),)), "positions"),
        (lambda: Path((0, 1), ((0, 0, 0), (0, 0, 1)), loop=True), "positions"),
        (lambda: Path((0, 1), None, ((1, 0, 0, 0), (2, 0, 0, 0))), "orientations"),
        (lambda: World().add(CUBE, path=wave()), "path"),
        (lambda: World().add(CUBE, kind="kinematic", path="up"), "path"),
        (lambda: World().add(CUBE, kind="kinematic", path=wave(), velocity=(1, 0, 0)), "velocity"),
        (lambda: World().add(CUBE).follow(wave()), "path"),
        (lambda: World().add(CUBE, kind="kinematic").follow("up"), "path"),
        (lambda: setattr(World().add(CUBE, kind="kinematic", path=wave()), "position", (0, 0, 0)), "position"),
    ],
)
def test_bad_paths_name_the_field(make, name):
    with pytest.raises(InputError) as error:
        make()
    assert error.value.name == name


def test_poses_can_be_sampled():
    path = Path.sampled(lambda t: Pose((t, 0, 0), (math.cos(t), 0, 0, math.sin(t))), 0, 1, points=50)
    position, orientation = path.pose(0.5)
    assert position == pytest.approx((0.5, 0, 0), abs=1e-3)
    assert orientation == pytest.approx((math.cos(0.5), 0, 0, math.sin(0.5)), abs=1e-3)
