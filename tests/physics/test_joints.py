"""Joints against closed forms and independent integrations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

from collision import Box
from sim import Hinge, Point, World

G = 9.81
LEVEL = (math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0)  # the long axis of a rod along x
ROD = Box((0.02, 0.02, 0.5))
MOMENT = (1.0 + 0.04**2) / 12 + 0.25  # of a rod of 1 kg about its end


def pendulum(kind: type = Hinge, dt: float = 1 / 240, **joint) -> tuple[World, object]:
    """A rod of 1 m and 1 kg, level at first, on a joint at its left end."""
    world = World(dt=dt)
    rod = world.add(ROD, mass=1.0, position=(0.5, 0, 0), orientation=LEVEL)
    axis = {"axis": (0, 1, 0)} if kind is Hinge else {}
    return world, world.add_joint(kind(None, rod, anchor=(0, 0, 0), **axis, **joint))


def swing(t: float, moment: float = MOMENT) -> float:
    """Angle below the level of a pendulum released there: elliptic functions, with k = sin(45 degrees)."""
    w = math.sqrt(G * 0.5 / moment)
    sn, _, _, _ = ellipj(ellipk(0.5) - w * t, 0.5)
    return math.pi / 2 - 2 * math.asin(math.sqrt(0.5) * sn)


@pytest.mark.parametrize("kind", [Hinge, Point])
def test_pendulum_is_second_order(kind):
    errors = []
    for n in (60, 120, 240):
        world, joint = pendulum(kind, dt=1 / n)
        world.step(5 * n)
        x, _, z = world.positions[0]
        errors.append(abs(math.atan2(-z, x) - swing(5.0)))
        assert joint.error < 1e-12
    assert errors[2] < 4e-4
    assert math.log(errors[0] / errors[1], 2) == pytest.approx(2, abs=0.1)
    assert math.log(errors[1] / errors[2], 2) == pytest.approx(2, abs=0.05)


def energies(world: World, seconds: float, every: int = 60) -> np.ndarray:
    out = []
    for _ in range(round(seconds / world.dt / every)):
        world.step(every)
        out.append(world.energy().total)
    return np.array(out)


def test_pendulum_keeps_its_energy():
    """For 1000 s: bounded by the size of the error at the first swing, of order 2, without drift."""
    world, joint = pendulum()
    run = energies(world, 1000)
    swings = 1e-4 * G * 0.5  # of the 4.9 J that go to and fro
    assert np.abs(run).max() < swings
    first, last = run[: len(run) // 5], run[-len(run) // 5 :]
    assert abs(first.mean() - last.mean()) < 0.02 * swings
    assert joint.error < 1e-12
    assert world.ledger.closes
    coarse = np.abs(energies(pendulum(dt=1 / 120)[0], 50, every=7)).max()
    assert coarse / np.abs(run).max() == pytest.approx(4, abs=0.4)
