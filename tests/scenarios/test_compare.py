"""check, compare, converge: against runs that were changed on purpose, and systems whose order and growth are known."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from tumble.collision import Box, HalfSpace, Sphere
from tumble.collision.errors import InputError
from tumble.scenarios.checks.compare import compare, growth
from tumble.scenarios.checks.converge import converge
from tumble.scenarios.checks.rerun import check
from tumble.scenarios.cli import parser
from tumble.scenarios.runs.scene_run import run_scene, scene_of
from tumble.sim import Recorder, World
from tumble.sim.recording.run import Run


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    out = tmp_path_factory.mktemp("recorded")
    run_scene(scene_of("two_cuboids", lead=0.1), out / "a", seconds=0.3, every=4, quiet=True)
    run_scene(scene_of("two_cuboids", lead=0.1, restitution=0.51), out / "b", seconds=0.3, every=4, quiet=True)
    return out


def verb(*arguments: str) -> int:
    chosen = parser().parse_args([str(a) for a in arguments])
    return chosen.verb(chosen) or 0


def test_check_finds_the_same_run(recorded, capsys):
    assert verb("check", recorded / "a") == 0
    assert "the same: 19 samples, to the last bit" in capsys.readouterr().out


def test_check_names_the_first_difference(recorded):
    run = Run.open(recorded / "a")
    arrays = {name: np.array(run._arrays[name][:]) for name in run._arrays}
    arrays["velocity"][7:, 1, 2] = np.nextafter(arrays["velocity"][7:, 1, 2], 9)
    found = check(Run(arrays, run.names, run.attributes))
    assert not found.same
    assert (found.first.step, found.first.body, found.first.quantity) == (28, "small", "velocity")
    assert 0 < found.first.difference < 1e-15
    scene = json.loads(run.attributes["scene"])
    scene["bodies"][1]["velocity"][0] += 1e-12  # as if the program had changed
    found = check(Run(run._arrays, run.names, {**run.attributes, "scene": json.dumps(scene)}))
    assert (found.first.step, found.first.body, found.first.quantity) == (0, "small", "velocity")


@pytest.mark.parametrize(
    ("name", "at", "body"),
    [
        ("orientation", (9, 0, 2), "floor"), ("asleep", (9, 1), "ball"), ("energy", 9, ""), ("ledger_friction", 9, ""),
        ("momentum", (9, 2), ""), ("penetration", 9, ""), ("contact_point", (1, 0), "floor and ball"),
        ("contact_feature", 1, "floor and ball"),
        ("impact_loss", 0, "floor and ball"), ("impact_time", 0, "floor and ball"),
    ],
)  # fmt: skip
def test_check_sees_one_bit_of_anything(bounced, name, at, body):
    assert check(bounced).same
    arrays = {n: np.array(values) for n, values in bounced._arrays.items()}
    raw = arrays[name].view(f"u{arrays[name].dtype.itemsize}")
    raw[at] ^= 1
    found = check(Run(arrays, bounced.names, bounced.attributes))
    assert not found.same
    assert (found.first.quantity, found.first.body) == (name, body)
    if not name.startswith(("contact", "impact")):
        assert found.first.step == bounced.steps[9]


@pytest.fixture(scope="module")
def bounced():
    """A ball that hits the floor and stays in contact, with everything recorded."""
    world = World()
    world.add(HalfSpace(), kind="static", name="floor", friction=0.3)
    world.add(Sphere(0.1), name="ball", position=(0, 0, 0.105), velocity=(0.5, 0, -0.1), friction=0.3)
    return world.run(0.1, [Recorder(contacts=True, impacts=True)])


def test_minus_zero_is_another_number(bounced):
    arrays = {n: np.array(values) for n, values in bounced._arrays.items()}
    k = np.argwhere(arrays["velocity"][5] == 0)[0]
    arrays["velocity"][(5, *k)] *= -1
    found = check(Run(arrays, bounced.names, bounced.attributes))
    assert (found.first.quantity, found.first.step, found.first.difference) == ("velocity", bounced.steps[5], 0.0)
    assert not compare(Run(arrays, bounced.names, bounced.attributes), bounced).same


def test_check_sees_a_contact_too_few(bounced):
    arrays = {n: np.array(values) for n, values in bounced._arrays.items()}
    arrays |= {n: values[:-1] for n, values in arrays.items() if n.startswith("impact_")}
    found = check(Run(arrays, bounced.names, bounced.attributes))
    assert found.first.quantity == "number of impacts"


def test_check_sees_what_was_not_recorded(recorded):
    run = Run.open(recorded / "a")
    found = check(Run(run._arrays, run.names, {**run.attributes, "state_hash": "another"}))
    assert "state that is not recorded" in str(found)


def test_compare(recorded, capsys, tmp_path):
    assert verb("compare", recorded / "a", recorded / "a") == 0
    assert verb("compare", recorded / "a", recorded / "b", "--out", tmp_path / "d.png") == 1
    out = capsys.readouterr().out
    assert '"restitution": 0.51' in out
    assert (tmp_path / "d.png").stat().st_size > 10_000
    found = compare(Run.open(recorded / "a"), Run.open(recorded / "b"))
    assert found.first.time == pytest.approx(0.1, abs=0.05)  # nothing before the impact
    before = found.times < found.first.time
    assert not found.apart[before].any()
    assert found.apart[-1] > 1e-4


def test_compare_of_other_bodies(recorded):
    other = run_scene(scene_of("resting_cuboid"), seconds=0.1, quiet=True).run
    with pytest.raises(InputError, match="bodies of one of the two only"):
        compare(Run.open(recorded / "a"), other)


def spinning(nudge: float) -> Run:
    """A box that turns about its middle axis: it leaves it exponentially, Landau & Lifshitz par. 37."""
    world = World(gravity=(0, 0, 0), dt=1 / 240)
    world.add(Box((0.1, 0.1, 0.1)), mass=1.0, inertia=(1, 2, 3), angular_velocity=(nudge, 5, 0))
    return world.run(5.0, [Recorder()])


def test_growth_is_that_of_the_unstable_axis():
    """Euler's equations linearised about the middle axis: rate = w sqrt((I2 - I1)(I3 - I2)/(I1 I3)). Seen in the spins."""
    rate = 5 * math.sqrt((2 - 1) * (3 - 2) / (1 * 3))
    a, b = spinning(0.0), spinning(1e-9)
    off = np.linalg.norm(a.angular_velocities - b.angular_velocities, axis=2)[:, 0]
    assert growth(a.times, off) == pytest.approx(rate, rel=0.03)


def test_growth_of_chaos_does_not_depend_on_the_kick(run_scenario):
    """A double pendulum grows by fits and starts, which a high power of the time fits too."""
    run = run_scenario("double_pendulum", seconds=8.0, every=8)
    rates = [compare(run, run_scenario("double_pendulum", seconds=8.0, every=8, upper=2 + kick)).growth for kick in (1e-9, 1e-10)]
    assert rates[0] == pytest.approx(rates[1], rel=0.2)
    assert rates[0] > 1


def test_growth_of_a_power_is_none():
    t = np.linspace(0, 1, 200)
    assert math.isnan(growth(t, 1e-9 * t**3))
    assert math.isnan(growth(t, np.where(t < t[-1] / 2, 1e-9, 1e-3)))  # one blow
    assert growth(t, 1e-12 * np.exp(20 * t)) == pytest.approx(20)


def test_order_of_the_integrator(capsys, tmp_path):
    """RK4 is of order 4; the polhode's angle too."""
    found = converge("tumbling_box", seconds=0.5, dt=1 / 60)
    assert found.order == pytest.approx(4, abs=0.2)
    assert found.horizon == 0.5
    assert verb("converge", "tumbling_box", "--seconds", "0.5", "--dt", "1/60", "--out", tmp_path / "c.png") == 0
    printed = capsys.readouterr().out
    assert f"{found.order:5.2f}" in printed
    said = f"Predictable for all of its 0.5 s: the runs at 1/240 s and at half that step agree to {found.tolerance:.3g} "
    assert said in printed
    assert f"and differ by {np.nanmax(found.differences[-1]):.2g} at most." in printed
    assert "Predictable until 0.25 s: so long the runs at 1/240 s" in str(replace(found, horizon=0.25))
    assert "Not predictable at these steps" in str(replace(found, horizon=0.0))
    assert (tmp_path / "c.png").stat().st_size > 10_000


def test_lower_order_is_seen():
    """A quantity that is read half a step late is of order 1, and the horizon ends where errors reach the tolerance."""

    def late(run: Run) -> np.ndarray:
        return run.angular_velocities[:, 0] + run.attributes["dt"]

    found = converge("tumbling_box", seconds=0.25, dt=1 / 60, quantity=late, tolerance=1e-3)
    assert found.order == pytest.approx(1, abs=0.05)
    assert found.horizon == 0.0


def test_bad_input():
    with pytest.raises(InputError, match="halvings = 1: must be a whole number of at least 2"):
        converge("tumbling_box", halvings=1)
    with pytest.raises(InputError, match="quantity = 'joy'"):
        converge("tumbling_box", quantity="joy", seconds=0.01)
