"""The theorem of momentum on recorded runs: forces worked out anew from the samples account for all that momentum does."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tumble.collision import Box, HalfSpace, Sphere
from tumble.collision.errors import InputError
from tumble.scenarios.checks.assertions import Violation, assert_momentum
from tumble.sim import Recorder, World
from tumble.sim.forces.force_definitions import (
    CentralGravity,
    ConstantForce,
    Drag,
    Medium,
    MutualGravity,
    Spring,
    TabulatedForce,
    UniformGravity,
)
from tumble.sim.recording.force_impulse import impulse, integrated
from tumble.sim.recording.run import Run

FORCES = {
    "drag": Drag(linear=5.0, quadratic=3.0, wind=(3, 0, 0)),
    "medium": Medium(density=100.0, viscosity=2.0, wind=(3, 0, 0)),
    "spring": Spring("a", None, stiffness=300.0, length=0.5, damping=3.0, anchor_a=(0.1, 0, 0.2), anchor_b=(0, 0, 2)),
    "band to the floor": Spring("floor", "a", stiffness=300.0, length=0.5, anchor_b=(0.1, 0, 0.2), slack=True),
    "central": CentralGravity(gm=30.0, center=(0, 0, -3), gradient=True),
    "thrust": ConstantForce(force=(3, 2, 1), frame="body"),
    "wind": ConstantForce(force=(3, 2, 1), bodies=("b",)),
    "field": UniformGravity((1, 0, 2), bodies=("a",)),
    "table": TabulatedForce(times=(0, 0.25, 0.5), forces=((0, 0, 0), (10, 5, 0), (0, 0, 9)), frame="body"),
}
INNER = {"mutual": MutualGravity(constant=0.5), "between": Spring("a", "b", stiffness=100.0, length=1.0, damping=2.0)}


def world_of_two(force, touching: bool, integrator: str = "rk4") -> World:
    world = World(integrator=integrator)
    world.add(HalfSpace(offset=0.0 if touching else -100.0), kind="static", name="floor", friction=0.3)
    material = {"restitution": 0.5, "friction": 0.3}
    world.add(Box((0.1, 0.2, 0.3)), name="a", position=(0, 0, 0.8), velocity=(1, 2, 0), angular_velocity=(3, 1, 2), **material)
    world.add(Sphere(0.2), name="b", position=(1, 0, 0.2), velocity=(1, 0, 0), **material)
    world.add_force(force)
    return world


def open_by(run: Run) -> float:
    """How far the impulse of the forces may be off, of all that moved."""
    _, off, total = impulse(run)
    return off[-1] / total


def with_momentum(run: Run, change: np.ndarray) -> Run:
    return Run({**run._arrays, "momentum": run.momentum + change}, run.names, run.attributes)


@pytest.mark.parametrize("touching", [False, True])
@pytest.mark.parametrize("name", FORCES)
def test_forces(name, touching):
    """With nothing that touches to 1e-6 or better, with impacts and friction to some 1e-3; momentum off by more is seen."""
    run = world_of_two(FORCES[name], touching).run(0.6, [Recorder()])
    assert_momentum(run)
    known = open_by(run)
    assert known < (5e-3 if touching else 1e-3 if name == "table" else 1e-6)
    scale = impulse(run)[2] + np.abs(run.momentum).max()
    with pytest.raises(Violation, match="momentum does not balance"):
        assert_momentum(with_momentum(run, np.outer(run.times > 0.3, (0, (3 * known + 1e-11) * scale, 0))))


@pytest.mark.parametrize("integrator", ["splitting", "exact", "dop853"])
@pytest.mark.parametrize("name", ["drag", "central"])
def test_integrators(name, integrator):
    assert_momentum(world_of_two(FORCES[name], False, integrator).run(0.5, [Recorder()]))


@pytest.mark.parametrize("touching", [False, True])
@pytest.mark.parametrize("name", INNER)
def test_what_bodies_do_to_each_other_cancels(name, touching):
    """To the last digits, whatever the samples: no force needs to be known."""
    run = world_of_two(INNER[name], touching).run(0.6, [Recorder(every=50, bodies=["floor"])])
    assert_momentum(run)
    assert open_by(run) == 0.0
    with pytest.raises(Violation):
        assert_momentum(with_momentum(run, np.outer(run.times, (1e-8, 0, 0))))


def test_another_force_is_seen():
    """The twin: the scene tells of a force that is a hundredth stronger than the one that acted."""
    run = world_of_two(FORCES["drag"], False).run(0.5, [Recorder()])
    scene = json.loads(run.attributes["scene"])
    scene["forces"][0]["quadratic"] *= 1.01
    with pytest.raises(Violation):
        assert_momentum(Run(run._arrays, run.names, {**run.attributes, "scene": json.dumps(scene)}))


def test_functions():
    def swirl(t, x, q, v, w):
        return (10 * np.sin(5 * t), -x[0], 0.0), (0.0, 0.0, 0.0)

    world = world_of_two(swirl, False)
    run = world.run(0.5, [Recorder()])
    with pytest.raises(InputError, match="functions = 'swirl': is a force that a function gives, which no recording holds"):
        assert_momentum(run)
    assert run.summary()["momentum_drift"] is None
    assert_momentum(run, functions={"swirl": swirl})
    with pytest.raises(Violation):
        assert_momentum(run, functions={"swirl": lambda *state: ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))})


def test_what_can_not_be_known():
    coarse = world_of_two(FORCES["spring"], True).run(2.0, [Recorder(every=120)])
    with pytest.raises(InputError, match="has samples 0.5 s apart, too far to tell"):
        assert_momentum(coarse)
    unseen = world_of_two(FORCES["spring"], True).run(0.1, [Recorder(bodies=["b"])])
    with pytest.raises(InputError, match="has a force on bodies that were not recorded: a"):
        assert_momentum(unseen)


def test_integral():
    """Of a cubic it is exact; of a wave of order 4 at least, and what is said to be open covers the error; of a jump too."""
    t = np.sort(np.random.default_rng(1).uniform(0, 1, 40))
    found, off = integrated(t, np.stack([t**3, 1 - t, 0 * t], axis=1))
    assert found[:, 0] == pytest.approx((t**4 - t[0] ** 4) / 4, abs=1e-14)
    assert off[-1] < 1e-12
    errors = []
    for n in (40, 80):
        t = np.linspace(0, 10, n + 1)
        found, off = integrated(t, np.stack([np.sin(t), np.cos(t), 0 * t], axis=1))
        error = np.linalg.norm(found - np.stack([1 - np.cos(t), np.sin(t), 0 * t], axis=1), axis=1)
        assert (error <= off + 1e-15).all()
        errors.append(error.max())
    assert np.log2(errors[0] / errors[1]) > 3.8
    t = np.linspace(0, 1, 101)
    for at in np.linspace(0.4, 0.42, 7):
        found, off = integrated(t, np.outer(t > at, (1.0, 0, 0)))
        assert np.all(np.abs(found[:, 0] - np.maximum(t - at, 0)) <= off + 1e-15)


def test_a_failure_weighs_momentum_and_not_energy():
    """What there is, what there was, what was given: they are off by the value that is named."""
    run = world_of_two(FORCES[next(iter(FORCES))], False, "rk4").run(0.2, [Recorder()])
    with pytest.raises(Violation) as failed:
        assert_momentum(with_momentum(run, np.outer(run.times, (1.0, 0, 0))))
    account = failed.value.account
    off = account["momentum"] - account["at the start"] - account["given by gravity and forces"]
    assert np.linalg.norm(off + account["taken by immovable bodies"]) == pytest.approx(failed.value.value)
    assert "then [kg m/s]: momentum (" in str(failed.value)
    assert "ledger" not in str(failed.value)
