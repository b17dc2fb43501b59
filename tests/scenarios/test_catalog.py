"""The catalog: every scenario is documented, starts sound, and does what its docstring says."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import pytest
from scipy.special import ellipk

from tumble.collision.errors import InputError
from tumble.scenarios.fields import Real, Whole
from tumble.scenarios.registry import catalog, load, scenario
from tumble.sim.recording.recorder import Recorder
from tumble.sim.scene.initial_overlap import overlaps
from tumble.sim.scene.scene import Scene

ALL = catalog()


@pytest.mark.parametrize("name", ALL)
def test_documented_and_typed(name):
    made = ALL[name]
    assert made.name == name
    assert made.summary.endswith(".")
    assert len(made.doc.splitlines()) >= 4
    assert made.parameters
    for parameter in made.parameters.values():
        assert parameter.help
        text = parameter.field.show(parameter.default)
        assert np.allclose(parameter.field.parse(parameter.name, text), parameter.default, rtol=1e-5)


@pytest.mark.parametrize("name", ALL)
def test_starts_sound(name):
    """No overlap, names for all, the parameters kept; and a few steps leave it finite."""
    scene = ALL[name]()
    assert overlaps(scene) == []
    assert set(scene.parameters) == set(ALL[name].parameters)
    assert ALL[name](**scene.parameters) == scene
    world = scene.build()
    world.step(5)
    assert np.isfinite(world.positions).all()
    assert world.step_count == 5


def run(name: str, seconds: float, **parameters):
    return load(name)(**parameters).build().run(seconds, [Recorder()])


def test_dzhanibekov_flips_on_time():
    times = run("dzhanibekov", 8.5)
    w = times.angular_velocities[:, 0]
    q = times.orientations[:, 0]
    axis = np.array(
        [
            2 * (q[:, 1] * q[:, 2] - q[:, 0] * q[:, 3]),
            1 - 2 * (q[:, 1] ** 2 + q[:, 3] ** 2),
            2 * (q[:, 2] * q[:, 3] + q[:, 0] * q[:, 1]),
        ]
    )
    along = np.einsum("it,ti->t", axis, w)  # angular velocity about the middle axis, in body axes
    k = np.flatnonzero(np.diff(np.sign(along)))
    crossings = times.times[k] + along[k] / (along[k] - along[k + 1]) / 240
    assert crossings == pytest.approx([2.63302756204, 7.89908268611], abs=1e-3)


def test_tumbling_box_keeps_its_books():
    times = run("tumbling_box", 1.0)
    assert times.energy[0] == pytest.approx(1.90755208333, rel=1e-11)
    assert np.linalg.norm(times.angular_momentum, axis=1) == pytest.approx(np.full(len(times), 1.04389410287), rel=1e-11)
    w, x, y, z = times.orientations[-1, 0]
    turn = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    # Jacobi's elliptic functions, at 1 s
    assert turn.T @ times.angular_velocities[-1, 0] == pytest.approx((1.5213701838, 2.2559283794, -2.7063421659), abs=1e-6)


def test_two_cuboids_leave_as_the_law_says():
    times = run("two_cuboids", 0.05, lead=0.0)
    assert times.energy[-1] == pytest.approx(6.86074343481 - 2.50357301635, rel=2e-3)
    assert times.velocities[-1, 1] == pytest.approx((-0.922170173746, 0.773647626659, -1.11495760178), rel=2e-3)


@pytest.mark.parametrize(
    ("parameters", "distance"), [({}, 0.294851111526), ({"heading": 0.5}, 0.294851111526), ({"friction": 0.4}, 0.0)]
)
def test_sliding_cuboid_obeys_coulomb(parameters, distance):
    times = run("sliding_cuboid", 1.0, **parameters)
    moved = times.positions[-1, 1] - times.positions[0, 1]
    assert np.linalg.norm(moved) == pytest.approx(distance, abs=1e-7)


def test_sliding_cuboid_stops():
    times = run("sliding_cuboid", 1.0, angle=0.0, friction=0.4, speed=3.0)
    assert times.positions[-1, 1, 0] == pytest.approx(1.14678899083, abs=1e-4)
    assert times.velocities[-1, 1] == pytest.approx((0, 0, 0), abs=1e-9)


def test_bouncing_ball_reaches_its_heights():
    times = run("bouncing_ball", 2.3)
    clearance = times.positions[:, 1, 2] - 0.1
    apexes = [clearance[a:b].max() for a, b in ((110, 280), (285, 419), (422, 530))]
    assert apexes == pytest.approx((0.64, 0.4096, 0.262144), abs=9.81 / 8 / 240**2 + 1e-6)  # the apex lies between samples


@pytest.mark.parametrize("moving", [1, 2, 3])
def test_newtons_cradle_transmits(moving):
    times = run("newtons_cradle", 2.0, moving=moving)
    expected = [0.0] * (5 - moving) + [1.0] * moving
    assert times.velocities[-1, :, 0] == pytest.approx(expected, abs=1e-12)


def test_newtons_cradle_with_loss():
    times = run("newtons_cradle", 2.0, restitution=0.9, gap=1e-4)
    assert times.velocities[-1, 4, 0] == pytest.approx(0.95**4, abs=1e-9)


def test_resting_cuboid_rests():
    times = run("resting_cuboid", 10.0)
    assert np.abs(times.positions - times.positions[0]).max() < 1e-9
    assert np.abs(times.orientations - times.orientations[0]).max() < 1e-9


def test_stack_stands():
    times = run("stack", 2.0)
    assert np.abs(times.positions[-1] - times.positions[0]).max() < 1e-6


def test_pyramid_stands():
    times = run("pyramid", 2.0)
    assert np.abs(times.positions[-1] - times.positions[0]).max() < 1e-6


def test_dominoes_fall_one_after_the_other():
    times = run("dominoes", 1.2)
    tilt = 1 - 2 * (times.orientations[:, 1:, 1] ** 2 + times.orientations[:, 1:, 2] ** 2)  # cosine to the vertical
    assert (tilt[-1] < 0.6).all()
    begun = (tilt < 0.99).argmax(axis=0)
    assert (np.diff(begun) > 0).all()
    assert (times.energy - np.minimum.accumulate(times.energy)).max() < 1e-3 * times.energy[0]


@pytest.mark.parametrize("angle", [0.3, 2.5])
def test_pendulum_keeps_time(angle):
    times = run("pendulum", 6.0, angle=angle)
    x = times.positions[:, 0, 0]
    k = np.flatnonzero(x[1:] * x[:-1] < 0)
    through = times.times[k] + x[k] / (x[k] - x[k + 1]) / 240  # the vertical, twice a period
    thick = (1 + 0.04**2 + 3) / 4  # moment of the rod about its end, in parts of that of a thin one
    period = 4 * ellipk(np.sin(angle / 2) ** 2) * np.sqrt(2 * thick / (3 * 9.81))
    assert np.diff(through) == pytest.approx(np.full(len(through) - 1, period / 2), abs=2e-4)


def test_pendulum_with_friction_comes_to_rest():
    times = run("pendulum", 10.0, friction=0.6)
    assert np.abs(times.velocities[-200:]).max() < 1e-10
    assert 9.81 * np.abs(times.positions[-1, 0, 0]) <= 0.6  # where friction can hold it
    assert times.positions[:, 0, 0].min() < -0.2  # after it has swung


def test_double_pendulum_keeps_its_energy():
    times = run("double_pendulum", 3.0)
    assert np.abs(times.energy - times.energy[0]).max() < 2e-3


def test_four_bar_turns_at_the_speed_of_its_motor():
    times = run("four_bar", 3.0, torque=60.0)
    assert np.abs(times.angular_velocities[200:, 0, 1] - 6).max() < 1e-7
    assert 0.2 < np.ptp(times.positions[200:, 2, 0]) < 0.5  # the rocker goes to and fro


def test_chain_hangs_still():
    times = run("chain", 2.0, hanging=1.0)
    assert np.abs(times.positions - times.positions[0]).max() < 1e-12


def test_level_chain_under_a_heavy_load_is_held():
    """Its links swing faster than a step; the flight takes as many steps of the integrator as they need."""
    world = load("chain")(links=40, load=50.0, hanging=0.0).build()
    before = world.energy().total
    world.run(3.0)
    energy = world.energy()
    assert world.statistics()["unsolved"] == 0
    assert max(joint.error for joint in world.joints) < 1e-12
    assert abs(energy.total - before) < 1e-5 * (energy.kinetic_linear + energy.kinetic_angular)


@scenario
def example(
    height: Annotated[float, Real(unit="m", above=0, help="of the drop")] = 2.0,
    count: Annotated[int, Whole(low=1, high=9, help="how many")] = 3,
) -> Scene:
    """A scenario for these tests."""
    return Scene()


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        ({"hight": "1"}, "hight = '1': example has no such parameter; did you mean height? (it has height, count)"),
        ({"height": "-1"}, "height = '-1': must be positive [m]"),
        ({"height": "inf"}, "height = 'inf': must be a number [m]"),
        ({"height": "3 s"}, "height = '3 s': \"s\" is not a unit of m: use one of m, cm, mm, um, km, in, ft"),
        ({"count": "10"}, "count = 10: must be in [1, 9]"),
        ({"count": "2.0"}, "count = '2.0': must be a whole number"),
    ],
)
def test_parameters_are_checked(texts, says):
    with pytest.raises(InputError) as caught:
        example.parse(texts)
    assert str(caught.value) == says


def test_parameters_take_units():
    assert example.parse({"height": "20 cm", "count": "4"}) == {"height": 0.2, "count": 4}
    assert example(height="1/4").parameters == {"height": 0.25, "count": 3}


def test_parameter_without_a_field_is_refused():
    with pytest.raises(TypeError, match="parameter x needs Annotated"):

        @scenario
        def broken(x: float = 1.0) -> Scene:
            return Scene()
