"""Integrators against closed forms and independent integration; the measured order of each, bare and under forces."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj

from tumble.collision import Box, Compound, HalfSpace, Pose, Sphere
from tumble.sim import CentralGravity, Spring, World
from tumble.sim import state as constants
from tumble.sim.flight.methods.exact import jacobi
from tumble.sim.flight.methods.integrators import INTEGRATORS
from tumble.sim.ledger.diagnostics import rotations

HALF, OMEGA = (0.25, 0.05, 0.125), (1.0, 2.0, 3.0)
R10 = np.array(
    [
        [-0.9611961981, 0.2758413515, -0.0036630012],
        [0.1102873254, 0.3964101410, 0.9114250962],
        [0.2528607811, 0.8756543547, -0.4114497253],
    ]
)
PERIOD = 3.18664502152  # s: of the angular velocity in body axes


def free(integrator: str, dt: float, **body) -> World:
    world = World(gravity=(0, 0, 0), dt=dt, integrator=integrator)
    world.add(Box(HALF), **{"mass": 12.5, "angular_velocity": OMEGA, **body})
    return world


def attitude(world: World) -> np.ndarray:
    return rotations(world.orientations)[0]


def reference(inertia, omega, t: float) -> np.ndarray:
    """Rotation after t, starting upright with body axes omega; by an independent eighth-order method."""
    inertia = np.asarray(inertia)

    def rates(_, y):
        w, r = y[:3], y[3:].reshape(3, 3)
        spin = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        return np.concatenate([np.cross(inertia * w, w) / inertia, (r @ spin).ravel()])

    y0 = np.concatenate([omega, np.eye(3).ravel()])
    return solve_ivp(rates, (0, t), y0, method="DOP853", rtol=1e-13, atol=1e-14).y[3:, -1].reshape(3, 3)


def test_table_follows_the_constants():
    assert [getattr(constants, name.upper()) for name in INTEGRATORS] == list(range(len(INTEGRATORS)))


LIMITS = {"rk4": (1e-6, 5e-9), "splitting": (1e-4, 5e-6), "exact": (1e-9, 1e-13), "dop853": (1e-9, 1e-13)}


@pytest.mark.parametrize("name", INTEGRATORS)
def test_tumbling_cuboid(name):
    """V01: attitude at 10 s, energy, angular momentum."""
    world = free(name, 1 / 240)
    before, energy = world.angular_momentum(), world.energy().total
    world.step(2400)
    assert np.linalg.norm(attitude(world) - R10) < LIMITS[name][0]
    assert abs(world.energy().total / energy - 1) < LIMITS[name][1]
    assert np.linalg.norm(world.angular_momentum() - before) <= 1e-14 * np.linalg.norm(before)


@pytest.mark.parametrize("name", INTEGRATORS)
def test_flips_about_the_middle_axis(name):
    """V02: times at which a body spun about its middle axis turns over; errors grow by e^15 at each flip."""
    world = free(name, 1 / 240, mass=1.0, inertia=(1, 2, 3), angular_velocity=(0.01, 5, 0))
    flips, before = [], 5.0
    while len(flips) < 3:
        world.step()
        now = (attitude(world).T @ world.angular_velocities[0])[1]
        if now * before < 0:
            flips.append(world.time - world.dt * now / (now - before))
        before = now
    limit = {"rk4": 1e-3, "splitting": 0.02, "exact": 2e-6, "dop853": 2e-6}[name]  # 2e-6: the line through two samples
    assert np.allclose(flips, (2.63302756204, 7.89908268611, 13.1651378102), atol=limit)


@pytest.mark.parametrize("name", INTEGRATORS)
def test_symmetric_top(name):
    """V03, in closed form: R = Rot(L, |L| t/I1) Rot(e3, (I1 - I3) w3/I1 t); splitting is exact too."""
    world = free(name, 1 / 240, mass=1.0, inertia=(0.4, 0.4, 0.7), angular_velocity=(0.6, 0, 8))
    world.step(1200)
    expected = np.array(
        [
            [-0.7125521384, -0.7013916111, 0.0178677903],
            [0.7006350136, -0.7126702584, -0.0348092023],
            [0.0371487252, -0.0122845720, 0.9992342376],
        ]
    )
    assert np.linalg.norm(attitude(world) - expected) < (1e-6 if name == "rk4" else 2e-10)  # as many digits are given


@pytest.mark.parametrize(("name", "order"), [("rk4", 4), ("splitting", 2)])
def test_order_of_the_free_rotation(name, order):
    worlds = [free(name, 1 / n) for n in (120, 240, 480)]
    expected = reference((0.07552083333333333, 0.3255208333333333, 0.2708333333333333), OMEGA, 5.0)
    errors = []
    for n, world in zip((120, 240, 480), worlds, strict=True):
        world.step(5 * n)
        errors.append(np.linalg.norm(attitude(world) - expected))
    assert np.all(np.abs(np.log2(np.array(errors[:-1]) / errors[1:]) - order) < 0.3), errors


def test_drift_of_energy_of_rk4_is_of_order_five():
    """V04: per period, over 20 periods."""
    drifts = []
    for n in (60, 120):
        world = free("rk4", 1 / n)
        before = world.energy().total
        world.step(round(20 * PERIOD * n))
        drifts.append((world.energy().total / before - 1) / 20)
    assert drifts == pytest.approx([-5.48e-8, -1.713e-9], rel=0.05)
    assert np.log2(drifts[0] / drifts[1]) == pytest.approx(5, abs=0.2)


@pytest.mark.parametrize("name", ["rk4", "splitting"])
@pytest.mark.parametrize("turn", [1.0, 8.0, 300.0])
def test_what_turns_too_far_within_a_step_flies_exactly(name, turn):
    """``turn``: radians a step. RK4 loses 0.1 of the energy in 100 steps of a radian, and gains twice of what there was where
    a step turns by more. Twin: what turns by a twelfth of a radian flies by the method of the world.
    """
    omega = np.array(OMEGA) / np.linalg.norm(OMEGA) * 240.0

    def flown(integrator: str, turn: float) -> World:
        world = free(integrator, 1 / 240, angular_velocity=omega * turn)
        world.step(50)
        return world

    world, exact = flown(name, turn), flown("exact", turn)
    assert np.array_equal(world.orientations, exact.orientations)
    assert world.energy().total == pytest.approx(free("exact", 1 / 240, angular_velocity=omega * turn).energy().total, rel=1e-12)
    assert not np.array_equal(flown(name, 1 / 12).orientations, flown("exact", 1 / 12).orientations)


def test_energy_of_splitting_does_not_drift():
    world = free("splitting", 1 / 240)
    before, steps = world.energy().total, round(PERIOD * 240)
    errors = []
    for _ in range(40 * 8):
        world.step(steps // 8)
        errors.append(world.energy().total / before - 1)
    assert np.abs(errors).max() < 5e-6
    first, last = np.abs(errors[:80]).max(), np.abs(errors[-80:]).max()
    assert last == pytest.approx(first, rel=0.1)  # eight samples a period: seen to a few percent


@pytest.mark.parametrize("seed", range(6))
def test_exact_at_any_step(seed):
    """Bodies of all proportions, near both axes and the separatrix, in one step of half a minute and in many."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.uniform(0.05, 1, 3)
    inertia = np.sort([b + c, a + c, a + b])
    omega = rng.normal(size=3)
    if seed == 3:
        omega = np.array([1e-6, 2.0, 1e-7])
    if seed == 4:  # on the separatrix
        omega = np.array([np.sqrt(inertia[2] * (inertia[2] - inertia[1]) / (inertia[0] * (inertia[1] - inertia[0]))), 1.0, 1.0])
    if seed == 5:
        inertia = np.array([1.0, 1.0 + 1e-9, 1.9])
    expected = reference(inertia, omega, 10.0)
    for dt in (10.0, 0.05):
        world = free("exact", dt, mass=1.0, inertia=np.diag(inertia), angular_velocity=omega)
        energy = world.energy().total
        world.step(round(10 / dt))
        assert np.linalg.norm(attitude(world) - expected) < (1e-5 if seed in (3, 4) else 1e-10)  # unstable: of the reference
        assert abs(world.energy().total / energy - 1) < 1e-13
    one, many = free("exact", 2.0, inertia=np.diag(inertia)), free("exact", 0.01, inertia=np.diag(inertia))
    one.step(1), many.step(200)
    assert np.linalg.norm(attitude(one) - attitude(many)) < 2e-13


@pytest.mark.parametrize("inertia", [(1, 1, 1), (1, 1, 1.5), (1, 1.5, 1.5)])
def test_exact_for_bodies_with_symmetry(inertia):
    world = free("exact", 0.5, mass=1.0, inertia=inertia, angular_velocity=(1, 2, 3))
    world.step(4)
    assert np.linalg.norm(attitude(world) - reference(inertia, (1, 2, 3), 2.0)) < 1e-11
    still = free("exact", 0.5, angular_velocity=(0, 0, 0))
    still.step(4)
    assert np.array_equal(attitude(still), np.eye(3))


@pytest.mark.parametrize("inertia", [(0.6, 0.5, 0.4), (1, 0.999, 0.5), (1, 1, 1.5), (1, 1e-3, 1.0005)])
def test_exact_by_whole_periods(inertia):
    """A flight of ten thousand turns is taken by periods, and is the same as many short ones, which are not."""
    scale = 2e4 / 64
    steps = (scale, scale / 4096, scale * (1 + 1e-10))
    one, many, twin = (free("exact", dt, inertia=inertia, angular_velocity=OMEGA) for dt in steps)
    one.step(1), many.step(4096), twin.step(1)
    turned = scale * np.linalg.norm(OMEGA) * max(inertia) / min(inertia)
    assert np.linalg.norm(attitude(one) - attitude(many)) < 1e-12 + 4e-15 * turned
    assert np.linalg.norm(attitude(one) - attitude(twin)) > 1e-10 * scale


@pytest.mark.parametrize("dt", [1e3, 1e6])
def test_a_flight_beyond_digits_ends(dt):
    """Spun so fast that no phase is left: finite at once, with its energy and angular momentum."""
    for inertia in ((0.6, 0.5, 0.4), (1, 1e-6, 1), (1, 1, 1)):
        world = free("exact", dt, inertia=inertia, angular_velocity=(1e15, -3e12, 7e9))
        before, momentum = world.energy().total, world.angular_momentum()
        world.step(10)
        assert world.energy().total == pytest.approx(before, rel=1e-9)
        assert np.allclose(world.angular_momentum(), momentum, rtol=1e-12)


def test_elliptic_functions():
    called = numba.njit(lambda u, m: jacobi(u, m))
    for u in (0.0, 1e-9, 0.01, 0.0299, 0.0301, 0.2, -0.5):
        for m in (0.0, 1e-12, 0.3, 0.999, 1 - 1e-13, 1.0):
            sn, cn, dn, _ = ellipj(u, m)
            assert called(u, m) == pytest.approx((sn, cn, dn), abs=3e-16, rel=1e-15)


def _weight(t, position, orientation, velocity, angular_velocity):
    w, x, y, z = orientation
    axis = (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y))
    return (0.0, 0.0, -3.0 * position[2]), (-0.2943 * axis[1], 0.2943 * axis[0], 0.0)


WEIGHT = numba.njit(_weight)


def driven_top(name: str, n: int) -> np.ndarray:
    """A heavy top whose centre also swings on a spring: end of position and axes after a quarter of a second."""
    tilt = np.radians(30)
    q = (np.cos(tilt / 2), np.sin(tilt / 2), 0, 0)
    world = World(gravity=(0, 0, -9.81), dt=1 / n, integrator=name)
    world.add(
        Sphere(0.1), mass=0.5, inertia=(0.0024, 0.0026, 0.0013), orientation=q,
        angular_velocity=rotations(np.array([q]))[0] @ (0, 1, 40),
    )  # fmt: skip
    world.add_force(WEIGHT)
    world.add_force(Spring("sphere", stiffness=20, anchor_b=(0.1, 0, 0.2), damping=0.2))
    world.step(n // 4)
    assert abs(world.ledger.residual) < 1e-12 * world.ledger.moved + 1e-14 * world.ledger.scale
    return np.concatenate([world.positions[0], attitude(world).ravel()])


@pytest.mark.parametrize(("name", "order"), [("rk4", 4), ("splitting", 2), ("exact", 4)])
def test_order_under_forces(name, order):
    expected = driven_top("dop853", 60)
    errors = [np.linalg.norm(driven_top(name, n) - expected) for n in (480, 960, 1920)]
    assert np.all(np.abs(np.log2(np.array(errors[:-1]) / errors[1:]) - order) < 0.3), errors
    assert np.linalg.norm(driven_top("dop853", 240) - expected) < 1e-11


@pytest.mark.parametrize("name", INTEGRATORS)
def test_energy_of_the_free_box(name):
    world = World(gravity=(0, 0, 0), dt=0.01, integrator=name)
    world.add(Box((0.1, 0.2, 0.3)), mass=1.0, angular_velocity=OMEGA)
    before, l = world.energy().total, world.angular_momentum()
    world.step(500)
    assert abs(world.energy().total - before) < (1e-9 if name != "splitting" else 2e-5)
    assert np.linalg.norm(world.angular_momentum() - l) < 1e-13 * np.linalg.norm(l)


@pytest.mark.parametrize(("name", "limit"), [("rk4", 1e-10), ("exact", 1e-12), ("dop853", 1e-10)])
def test_thrown_box(name, limit):
    """The boxes of the benchmark by Peters and Hsu (2014): ten seconds of flight at a millisecond."""
    world = World(gravity=(0, 0, -9.8), dt=1e-3, integrator=name)
    box = world.add(Box((0.05, 0.2, 0.45)), mass=10.0, velocity=(-2, 2, 8), angular_velocity=(0.1, 5, 0.1))
    energy, l = world.energy().total, world.angular_momentum(about=box.position)
    world.step(10_000)
    assert abs(world.energy().total / energy - 1) < limit
    assert np.linalg.norm(world.angular_momentum(about=box.position) - l) < 1e-14 * np.linalg.norm(l)
    assert np.allclose(box.position, (-20, 20, -410), atol=1e-10)


@pytest.mark.parametrize("name", INTEGRATORS)
def test_elastic_ball_bounces_the_same(name):
    world = World(dt=1 / 60, integrator=name)
    world.add(HalfSpace(), kind="static", restitution=1)
    ball = world.add(Sphere(0.1), position=(0, 0, 1.1), restitution=1, angular_velocity=(1, 2, 3))
    fall = np.sqrt(2 / 9.81)
    world.step(600)
    t = (10.0 + fall) % (2 * fall)
    assert ball.position[2] - 0.1 == pytest.approx(1 - 9.81 * (t - fall) ** 2 / 2, abs=1e-9)


@pytest.mark.parametrize("name", INTEGRATORS)
def test_composite_body_in_any_frame_moves_the_same(name):
    """Shapes off the origin, their frames turned: a full tensor about a centre of mass that is elsewhere."""
    parts = [
        (Box((0.3, 0.1, 0.1)), Pose((0.2, 0, 0))),
        (Box((0.1, 0.2, 0.05)), Pose.from_euler_xyz((0.3, 0.5, -0.4), (0, 0.3, 0.1))),
    ]
    turn = Pose.from_euler_xyz((0.4, -1.1, 0.7), (3, -2, 1))
    inverse = turn.matrix().T
    moved = []
    for shape, pose in parts:
        rot = inverse @ pose.matrix()
        at = inverse @ (np.array(pose.position) - turn.position)
        moved.append((shape, Pose(at, Pose.from_matrix(rot).orientation)))
    ends = []
    for shape, pose in ((Compound(parts), Pose()), (Compound(moved), turn)):
        world = World(dt=1 / 240, integrator=name)
        body = world.add(shape, position=pose.position, orientation=pose.orientation, angular_velocity=OMEGA, velocity=(1, 0, 2))
        world.step(240)
        rot = attitude(world)
        ends.append((world.centers_of_mass[0], rot if pose == Pose() else rot @ inverse, body.mass))
    assert ends[0][2] == pytest.approx(ends[1][2], rel=1e-14)
    assert np.allclose(ends[0][0], ends[1][0], atol=1e-12)
    assert np.allclose(ends[0][1], ends[1][1], atol=1e-9)
    mass, center, inertia = _two_boxes(parts)
    single = World(dt=1 / 240, integrator="exact")
    single.add(Sphere(0.1), mass=mass, inertia=inertia, center_of_mass=center, angular_velocity=OMEGA, velocity=(1, 0, 2))
    single.step(240)
    assert np.allclose(attitude(single), ends[0][1], atol=1e-3 if name == "splitting" else 1e-6)


def _two_boxes(parts):
    """Mass, centre and inertia by Steiner's theorem, written down here."""
    masses = [1000 * 8 * np.prod(shape.half_extents) for shape, _ in parts]
    mass = sum(masses)
    center = sum(m * np.array(pose.position) for m, (_, pose) in zip(masses, parts, strict=True)) / mass
    inertia = np.zeros((3, 3))
    for m, (shape, pose) in zip(masses, parts, strict=True):
        x, y, z = np.array(shape.half_extents) ** 2
        d = np.array(pose.position) - center
        own = np.diag([y + z, x + z, x + y]) * m / 3
        inertia += pose.matrix() @ own @ pose.matrix().T + m * (d @ d * np.eye(3) - np.outer(d, d))
    return mass, center, inertia


def test_dop853_with_an_angular_momentum_of_rounding():
    """The torque of central gravity on a ball is nothing but rounding, and so is its spin: it falls all the same, as with RK4."""
    paths = {}
    for name in ("rk4", "dop853"):
        world = World(integrator=name, gravity=(0, 0, 0))
        ball = world.add(Sphere(0.2), position=(1, 0, 0.2), velocity=(1, 0, 0))
        world.add_force(CentralGravity(gm=30.0, center=(0, 0, -3), gradient=True))
        world.step(12)
        paths[name] = ball.position
    assert np.linalg.norm(paths["dop853"] - (1, 0, 0.2)) > 0.04
    assert paths["dop853"] == pytest.approx(paths["rk4"], abs=1e-9)
