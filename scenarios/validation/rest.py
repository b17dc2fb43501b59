"""Rest: support forces, exact answers of several contacts at once, micro-collisions, coming to rest."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from tumble import Box, Compound, Pose, Sphere, World
from tumble.scenarios.validation.answers.contacts import coulomb_by_projection
from tumble.scenarios.validation.answers.tops import turn
from tumble.scenarios.validation.case import Measure, case
from tumble.scenarios.validation.lab import STEP, G, advance, angle, attitude, distance, on_floor, pose_of, relative, slope
from tumble.sim.impact.collision_law import one_contact_coulomb

ENVELOPE = 1e-4  # m: within it bodies are in contact, of the limits
SLOW = math.sqrt(2 * G * ENVELOPE)  # m/s: what falls through it


@case("V23", "Support forces")
def support() -> Iterator[Measure]:
    """A table of 10 kg stands on three feet: their loads follow from where the centre of mass is. In a stack of ten cubes of 2
    kg, each face carries the weight of the cubes above it."""
    feet = [(0, 0), (0.6, 0), (0.2, 0.5)]
    world = on_floor()
    table = Compound([(Sphere(0.02), Pose((x, y, 0.02))) for x, y in feet])
    world.add(table, mass=10.0, inertia=(0.5, 0.5, 0.8), center_of_mass=(0.25, 0.2, 0.3))
    advance(world, 1)
    c = world.contacts()
    found = [sum(k["force"][2] for k in c if distance(k["point"][:2], foot) < 0.05) for foot in feet]
    for k, (a, b) in enumerate(zip(found, (31.065, 27.795, 39.24), strict=True)):
        yield Measure(f"load of foot {k + 1}, relative", abs(a / b - 1), 1e-6)
    world = on_floor()
    for k in range(10):
        world.add(Box((0.1, 0.1, 0.1)), mass=2.0, position=(0, 0, 0.1 + 0.2 * k))
    start = world.positions
    advance(world, 1)
    sums = np.zeros(10)
    for _ in range(240):
        world.step()
        c = world.contacts()
        np.add.at(sums, c["body_b"] - 1, c["force"][:, 2] / 240)
    exact = 2 * G * np.arange(10, 0, -1)
    yield Measure("stack of ten: load of the floor, relative", abs(sums[0] / exact[0] - 1), 1e-6)
    yield Measure("stack of ten: load of each face, relative", np.abs(sums / exact - 1).max(), 1e-6)
    advance(world, 8)
    shift = np.abs(world.positions - start)
    yield Measure("stack of ten: loss of height in 10 s", shift[:, 2].max(), 1e-9, "m")
    yield Measure("stack of ten: drift aside in 10 s", shift[:, :2].max(), 1e-9, "m")


def bar(order: tuple[int, ...], scale: float) -> tuple[np.ndarray, float]:
    """Velocities of the feet of a smooth bar of 1 kg after they arrived with (-1, -0.25, 0.5) times ``scale``, and its energy."""
    world = on_floor(friction=0.0, gravity=(0, 0, 0), dt=1 / 2400, tolerance=1e-15)  # the turning costs radius w^2 dt
    feet = [(Sphere(0.01), Pose((float(x), 0, 0.01))) for x in np.array((-1, 0, 1))[list(order)]]
    world.add(
        Compound(feet), mass=1.0, inertia=(1 / 3, 1 / 3, 1 / 3), center_of_mass=(0, 0, 0), friction=0.0,
        velocity=(0, 0, -0.25 * scale), angular_velocity=(0, -0.75 * scale, 0),
    )  # fmt: skip
    world.step(2)
    v, w = world.velocities[1][2], world.angular_velocities[1][1]
    return np.array([v - w * x for x in (-1, 0, 1)]) / scale, (v * v + w * w / 3) / 2 / scale**2


@case("V30", "Several contacts at once")
def several_contacts() -> Iterator[Measure]:
    """A smooth bar strikes the floor with three feet at once, with restitution e = 0. Solving one foot after the other would
    give an answer for each order. The one answer that does not depend on the order is the nearest in kinetic energy (Moreau):
    here the bar rests. As an impact and as a slow arrival, in all six orders of the feet. Also one contact with friction for
    20 random matrices K, against an iteration by projections."""
    for what, scale in (("impact", 1.0), ("slow arrival", 2e-4)):
        found = [bar(order, scale) for order in itertools.permutations(range(3))]
        yield Measure(f"{what}: velocities of the feet, six orders", max(np.abs(u).max() for u, _ in found), 1e-9)
        yield Measure(f"{what}: energy left", max(e for _, e in found), 1e-9)
    rng = np.random.default_rng(30)
    worst = 0.0
    for _ in range(20):
        a = rng.normal(size=(3, 3))
        k, u, mu = a @ a.T + 0.5 * np.eye(3), np.array((*rng.normal(size=2), -1.0)), rng.uniform(0, 0.6)
        p = one_contact_coulomb(tuple(k.ravel()), tuple(u), mu)
        worst = max(worst, distance(p, coulomb_by_projection(k, u, mu)))
    yield Measure("one contact, 20 random K, mu up to 0.6: impulse", worst, 1e-8, "N s")


@case("V31", "Resting by micro-collisions")
def micro_collisions() -> Iterator[Measure]:
    """A cube of 0.2 m and 1 kg lies still for 10 s: on the floor, on a slope of 20 degrees with mu = 0.4, and on a cube that
    moves at 1 m/s. It must press with its weight, and must not sink, creep, tilt or tremble. In the step that tumble takes,
    contact acts by tiny impacts (micro-collisions); if these only stopped the slip, the cube would creep by 70 mm."""
    for dt in (1 / 120, STEP, 1 / 480):
        name = f"dt 1/{1 / dt:g} s"
        world = advance(slope(0, 0.5, Box((0.1, 0.1, 0.1)), 0.1, dt=dt, mass=1.0), 1)
        before = world.reservoir[0]
        energies, height, drift, tilt = [], 0.0, 0.0, 0.0
        for _ in range(90):
            advance(world, 0.1)
            energy = world.energy()
            energies.append(energy.kinetic_linear + energy.kinetic_angular)
            x = world.positions[1]
            height, drift = max(height, abs(x[2] - 0.1)), max(drift, abs(x[0]), abs(x[1]))
            tilt = max(tilt, angle(attitude(world, 1)[:, 2], np.array((0, 0, 1.0))))
        # momentum from 1 to 10 s: what the floor took up, less that of the bodies
        weight = -(world.reservoir[0] - before)[2] / 9
        yield Measure(f"{name}: mean load over 9 s, relative", abs(weight / G - 1), 1e-6)
        yield Measure(f"{name}: change of height", height, 1e-9, "m")
        yield Measure(f"{name}: drift on the level", drift, 1e-9, "m")
        yield Measure(f"{name}: tilt", tilt, 1e-9, "rad")
        yield Measure(f"{name}: kinetic energy", max(energies), 1e-15, "J")
        start = (world := advance(slope(20, 0.4, Box((0.1, 0.1, 0.1)), 0.1, dt=dt, mass=1.0), 0.1)).positions[1]
        yield Measure(f"{name}: drift on 20 degrees", distance(advance(world, 9.9).positions[1], start), 1e-9, "m")
        world = World(dt=dt)
        world.add(Box((0.3, 0.3, 0.1)), kind="kinematic", velocity=(1, 0, 0), friction=0.4)
        world.add(Box((0.1, 0.1, 0.1)), mass=1.0, position=(0, 0, 0.2), velocity=(1, 0, 0), friction=0.4)
        x = advance(world, 10).positions
        yield Measure(f"{name}: drift on a moving cube", distance(x[1] - x[0], (0, 0, 0.2)), 1e-9, "m")


@case("V32", "Dropped cuboid comes to rest")
def dropped_cuboid() -> Iterator[Measure]:
    """The cuboid of V01 falls askew and spinning from 0.6 m on the floor, mu = 0.5, e = 0.3. On which face it ends is chaotic,
    so there is no known answer for that. But its energy must never rise, it must lie flat and still at the end, and keep its
    momenta in flight."""
    world = on_floor(friction=0.5)
    body = world.add(
        Box((0.25, 0.05, 0.125)), mass=12.5, position=(0, 0, 0.6), orientation=pose_of(turn((1, 1, 0.3), 0.7)),
        angular_velocity=(1, 2, 3), friction=0.5, restitution=0.3,
    )  # fmt: skip
    l, scale = world.angular_momentum(about=body.position), 12.5 * G * 0.6
    momentum = spin = rise = aside = met = 0
    last = world.energy().total
    p = world.momentum()
    while world.time < 5:
        world.step()
        if not world.statistics()["impacts"]:
            momentum = max(momentum, distance(world.momentum(), (0, 0, -12.5 * G * world.time)) / (12.5 * G * world.time))
            spin = max(spin, relative(world.angular_momentum(about=body.position), l))
        elif not len(world.contacts()) and world.statistics()["impacts"] == met:
            aside = max(aside, distance(world.momentum()[:2], p[:2]))
        met, p = world.statistics()["impacts"], world.momentum()
        if world.step_count % 24 == 0:
            now = world.energy().total
            rise, last = max(rise, now - last), now
    yield Measure("rise of the energy between tenths of a second, relative", rise / scale, 1e-9)
    yield Measure("momentum before the first impact, relative", momentum, 1e-10)
    yield Measure("angular momentum before it, relative", spin, 1e-10)
    yield Measure("change of horizontal momentum in flight", aside, 1e-12, "kg m/s")
    rot = attitude(world, 1)
    upright = int(np.argmax(np.abs(rot[2])))
    tilt = math.degrees(angle(rot[:, upright] * np.sign(rot[2, upright]), np.array((0, 0, 1.0))))
    yield Measure("angle between an axis of the body and the vertical", tilt, 0.1, "degrees")
    half = (0.25, 0.05, 0.125)[upright]
    yield Measure("height of the centre at the end", abs(body.position[2] - half), ENVELOPE, "m")
    speed = max(np.abs(body.velocity).max(), 0.25 * np.abs(body.angular_velocity).max())
    yield Measure("speed at the end", speed, SLOW, "m/s")
    yield Measure("energy at the end, relative", abs(world.energy().total - 12.5 * G * half) / scale, 1e-4)
