"""The books of every scenario of the catalog close, and show a joule that is hidden."""

from __future__ import annotations

import numpy as np
import pytest

from tests.scenarios.sizes import SMALL
from tumble.scenarios.registry import load, names
from tumble.sim.ledger.diagnostics import mean_momenta

SECONDS = 1.0
ROUNDING = 32 * np.finfo(float).eps  # of the energies themselves, where next to none is moved


@pytest.mark.parametrize("name", names())
def test_the_books_close(name):
    """To 1e-9 of the energy moved, or the rounding of energies; momentum with what gravity gave and immovable bodies took."""
    world = load(name)(**SMALL.get(name, {})).build()
    steps = round(SECONDS / world.dt)
    p, mass = world.momentum(), world.model.bodies.mass
    gravity = (mass[:, None] * world.model.bodies.gravity * (mass > 0)[:, None]).sum(axis=0)
    world.step(steps)
    ledger = world.ledger
    assert ledger.moved > 0
    assert abs(ledger.residual) <= max(1e-9 * ledger.moved, ROUNDING * ledger.scale)
    if not world.forces:
        scale = np.abs(mean_momenta(world.model.bodies)[0]).sum() + np.abs(gravity).sum() * world.time + 1e-12
        fallen = gravity * world.time
        assert np.abs(world.momentum() + world.reservoir[0] - p - fallen).max() < 1e-11 * scale


def test_a_hidden_joule_is_seen():
    """The failing twin: a kick that is booked without its second half."""
    world = load("two_cuboids")().build()
    world.step(round(SECONDS / world.dt))
    world.model.books.energy[0] += 1e-6 * world.ledger.moved
    assert abs(world.ledger.residual) > 1e-9 * world.ledger.moved
    assert not world.ledger.closes


def test_one_step_at_a_time_the_works_add_up():
    world = load("dropped_cuboids")().build()
    world.step(60)
    before, energy, sums = world.ledger, world.energy().total, np.zeros(9)
    for _ in range(60):
        last, was = world.ledger, world.energy().total
        world.step()
        step = world.ledger - last
        assert step.change == pytest.approx(world.energy().total - was, abs=1e-12 * step.scale)
        assert abs(step.residual) <= 1e-12 * step.scale
        sums += step[:9]
    whole = world.ledger - before
    assert sums == pytest.approx(np.array(whole[:9]), abs=1e-12 * whole.scale)
    assert whole.change == pytest.approx(world.energy().total - energy, abs=1e-12 * whole.scale)
