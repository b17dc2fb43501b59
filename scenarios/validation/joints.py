"""Joints: pendulums, a closed loop, a chain."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tumble import Box, Hinge, World
from tumble.scenarios.catalog.four_bar import JOINTS as BARS
from tumble.scenarios.validation.answers.linkages import double_pendulum, linkage, swing
from tumble.scenarios.validation.case import Measure, case, order
from tumble.scenarios.validation.lab import STEP, G, advance, of_catalog

ROD = (1 + 0.04**2) / 12  # moment of a rod of 1 kg and 1 m, 0.04 m thick, about its centre [kg m^2]


def openness(world: World) -> float:
    return max(joint.error for joint in world.joints)


def unexplained(world: World) -> float:
    """Energy that no entry of the ledger explains, as part of the energy moved."""
    return abs(world.ledger.residual) / world.ledger.moved


def pendulum(dt: float = STEP) -> World:
    """A rod, level, on a hinge at its left end."""
    world = World(dt=dt)
    q = (math.sqrt(0.5), 0, math.sqrt(0.5), 0)
    rod = world.add(Box((0.02, 0.02, 0.5)), mass=1.0, position=(0.5, 0, 0), orientation=q)
    world.add_joint(Hinge(None, rod, anchor=(0, 0, 0), axis=(0, 1, 0)))
    return world


def energy_errors(world: World, seconds: float, every: int) -> np.ndarray:
    start, out = world.energy().total, []
    for _ in range(round(seconds / world.dt / every)):
        world.step(every)
        out.append(world.energy().total - start)
    return np.array(out)


@case("V34", "Pendulum for 1000 s")
def long_pendulum() -> Iterator[Measure]:
    """A rod of 1 m falls from the level on a hinge and swings for 1000 s. The known answer: elliptic functions give the angle.
    Its energy goes to and fro between 4.9 J of height and of motion. The error of the energy is of order 2 in the step, and no
    larger after 1000 s than at first."""
    errors = []
    for n in (60, 120, 240):
        world = advance(pendulum(1 / n), 5)
        x, _, z = world.positions[0]
        errors.append(abs(math.atan2(-z, x) - swing(5, 1.0, ROD + 0.25)))
    yield Measure("angle after 5 s", errors[-1], 4e-4, "rad")
    yield order("angle", errors, 1.9)
    world = pendulum()
    run = energy_errors(world, 1000, 60)
    yield Measure("energy, largest error in 1000 s", np.abs(run).max(), 1e-4 * G / 2, "J")
    tenth = len(run) // 10
    drift = abs(run[-tenth:].mean() - run[:tenth].mean())
    yield Measure("drift of the energy: mean of the last tenth less that of the first", drift, 1e-5, "J")
    coarse = np.abs(energy_errors(pendulum(1 / 120), 50, 7)).max()
    yield order("energy", (coarse, np.abs(run).max()), 1.9)
    yield Measure("hinge open by", openness(world), 1e-12, "m")
    yield Measure("energy that no entry of the ledger explains, of that moved", unexplained(world), 1e-9)


@case("V35", "Double pendulum")
def two_rods() -> Iterator[Measure]:
    """Two rods of 0.5 m on hinges, let go at 2.0 and 2.5 rad from the vertical, for 1 s. The known answer: an integration of
    Lagrange's equations in the two angles."""
    exact = double_pendulum(1, 2.0, 2.5, 0.5, (1 + 0.05**2) / 48)
    errors, energies = [], []
    for n in (240, 480, 960):
        world = of_catalog("double_pendulum", 1 / n, upper=2.0, lower=2.5)
        energies.append(np.abs(energy_errors(world, 1, n // 240)).max())
        turns = [2 * math.atan2(-q[2], q[0]) for q in world.orientations]
        errors.append(max(abs(math.remainder(a - b, 2 * math.pi)) for a, b in zip(turns, exact[:2], strict=True)))
    yield Measure("angles after 1 s, dt 1/960 s", errors[-1], 1e-4, "rad")
    yield order("angles", errors, 1.9)
    yield order("energy", energies, 1.8)
    yield Measure("hinges open by", openness(world), 1e-12, "m")
    yield Measure("energy that no entry of the ledger explains, of that moved", unexplained(world), 1e-9)


def bars(world: World) -> list[tuple[float, float, float]]:
    """(x, z, angle about +y) of each."""
    return [(x[0], x[2], 2 * math.atan2(q[2], q[0])) for x, q in zip(world.positions, world.orientations, strict=True)]


@case("V36", "Four bars")
def four_bars() -> Iterator[Measure]:
    """Four bars are joined to a closed loop by four hinges, which have three conditions more than the loop needs, and fall for
    1 s. The known answer: an integration with Lagrange's multipliers."""
    errors, exact = [], None
    for n in (60, 120, 240):
        world = of_catalog("four_bar", 1 / n, torque=0.0)
        if exact is None:
            masses = [body.mass for body in world.bodies]
            lengths = [math.dist(*ends) for ends in BARS.values()]
            moments = [m * (l * l + 0.04**2) / 12 for m, l in zip(masses, lengths, strict=True)]
            up, down = [(0.0, l / 2) for l in lengths], [(0.0, -l / 2) for l in lengths]
            pins = [(-1, (0, 0), 0, down[0]), (0, up[0], 1, down[1]), (1, up[1], 2, down[2]), (2, up[2], -1, (1.0, 0.0))]
            exact = linkage(masses, moments, pins, bars(world), np.zeros((3, 3)), 1.0)[0]
        advance(world, 1)
        errors.append(np.abs(np.array(bars(world)) - exact).max())
    yield Measure("places and angles after 1 s, dt 1/240 s", errors[-1], 1e-8, "m or rad")
    yield Measure("the same, dt 1/60 s", errors[0], 1e-6, "m or rad")
    yield Measure("hinges open by", openness(world), 1e-12, "m")
    yield Measure("motion out of the plane", np.abs(world.positions[:, 1]).max(), 1e-12, "m")
    yield Measure("energy that no entry of the ledger explains, of that moved", unexplained(world), 1e-9)


@case("V37", "Chain of a hundred links")
def hanging_chain() -> Iterator[Measure]:
    """A hundred links of 0.1 m and 0.1 kg on ball joints hang still for 10 s. Each joint must carry the weight of what hangs
    below it."""
    world = of_catalog("chain", links=100, load=0.0, hanging=1.0)
    start = world.positions
    advance(world, 10)
    yield Measure("largest motion", np.abs(world.positions - start).max(), 1e-11, "m")
    yield Measure("largest speed", np.abs(world.velocities).max(), 1e-10, "m/s")
    carried = [joint.force[2] / (0.1 * G * (100 - k)) - 1 for k, joint in enumerate(world.joints)]
    yield Measure("forces in the joints, relative", np.abs(carried).max(), 1e-8)
    yield Measure("joints open by", openness(world), 1e-12, "m")
