"""Long runs: minutes of standing still. Behind `make validate`."""

from __future__ import annotations

import numpy as np
import pytest

from tumble.collision import Box, HalfSpace, Sphere
from tumble.scenarios.registry import load
from tumble.sim import World

pytestmark = pytest.mark.validate


@pytest.mark.parametrize("top_density", [1000.0, 1e6])
def test_stack_of_twenty_for_a_minute(top_density):
    """Top within 1e-6 m of its height, sideways within 1e-5 m; also with a top box a thousand times heavier."""
    world = World()
    world.add(HalfSpace(), kind="static")
    for k in range(20):
        world.add(Box((0.5, 0.5, 0.5)), density=top_density if k == 19 else 1000.0, position=(0, 0, 0.5 + k))
    world.step(240 * 60)
    shift = world.positions[1:] - [[0, 0, 0.5 + k] for k in range(20)]
    assert abs(shift[-1, 2]) < 1e-6
    assert np.abs(shift[:, :2]).max() < 1e-5


def test_pyramid_of_55_for_ten_seconds():
    world = load("pyramid")(rows=10).build()
    start = world.positions
    world.step(2400)
    assert np.abs(world.positions - start).max() < 1e-6


def test_hundred_elastic_bounces_at_every_step_length():
    for dt in (1 / 30, 1 / 100, 1 / 1000):
        world = World(dt=dt)
        world.add(HalfSpace(), kind="static")
        ball = world.add(Sphere(0.1), position=(0, 0, 1.1), restitution=1.0)
        while world.statistics()["impacts"] < 100:
            world.step(10)
        assert world.energy().total == pytest.approx(1.1 * ball.mass * 9.81, rel=1e-10)


def test_drift_of_the_integrator_is_of_order_five():
    """Secular energy drift of classical RK4 on (q, L): 32 times less at half the step."""

    def drift(dt):
        world = World(gravity=(0, 0, 0), dt=dt)
        world.add(Box((0.25, 0.05, 0.125)), mass=12.5, angular_velocity=(1, 2, 3))
        before = world.energy().total
        world.step(round(60 * 3.18664502152 / dt))
        return (world.energy().total - before) / before / 60

    coarse, fine = drift(1 / 120), drift(1 / 240)
    assert fine < 0
    assert abs(fine) <= 2e-10
    assert abs(np.log2(coarse / fine) - 5) < 0.2


@pytest.mark.parametrize("dt", [1e-2, 1e-3])
def test_elastic_balls_keep_their_energy_for_ten_seconds(dt):
    """SimBenchmark's "elastic 666": mean squared error of 34.5 kJ."""
    scene = load("balls_666")(restitution=1.0, height=1.101)
    scene.dt = dt
    world = scene.build()
    squares = []
    for _ in range(round(10 / dt)):
        squares.append((world.energy().total - 34465.1027) ** 2)
        world.step()
    assert np.mean(squares) < 1e-3


def test_balls_that_fall_apart_do_not_sink_into_each_other_for_ten_seconds():
    """SimBenchmark's "666": mean over the steps of the sum of squared depths."""
    world = load("balls_666")().build()
    depths = []
    for _ in range(1000):
        x = world.positions[1:]
        apart = np.linalg.norm(x[:, None] - x[None], axis=2)[np.triu_indices(len(x), 1)]
        depths.append((np.maximum(0.2 - apart, 0) ** 2).sum() + (np.maximum(0.1 - x[:, 2], 0) ** 2).sum())
        world.step()
    assert np.mean(depths) < 1e-6


def test_a_house_of_102_blocks_for_ten_minutes():
    """SimBenchmark's "kapla": 60,000 steps."""
    world = load("kapla")().build()
    start = world.positions
    world.step(60_000)
    assert np.abs(world.positions - start).max() < 1e-9
    assert world.statistics()["unsolved"] == 0


def test_a_card_house_of_three_storeys_for_a_minute():
    world = load("card_house")(friction=0.5).build()
    start = world.positions
    world.step(240 * 60)
    assert np.abs(world.positions - start).max() < 1e-5
