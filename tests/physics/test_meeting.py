"""All shapes against all: thrown at each other, stood on each other; compounds that roll; what driven bodies give."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tests.physics.grounds import whirled_past
from tumble.collision import (
    Box,
    Capsule,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Pose,
    Sphere,
    mass_properties,
)
from tumble.sim import World

G = 9.81
PRISM = ConvexHull([(0.12 * math.cos(k), 0.12 * math.sin(k), z) for k in np.arange(6) * math.pi / 3 for z in (-0.1, 0.1)])


def table(width: float) -> Compound:
    """A plate on four round legs, 0.2 m high."""
    legs = [(Cylinder(0.2 * width, 0.08), Pose((x, y, -0.02))) for x in (-width, width) for y in (-width, width)]
    return Compound([(Box((1.3 * width, 1.3 * width, 0.02)), Pose((0, 0, 0.08))), *legs])


TABLE = table(0.15)
KINDS = {
    "sphere": Sphere(0.1),
    "box": Box((0.1, 0.12, 0.08)),
    "capsule": Capsule(0.06, 0.1),
    "cylinder": Cylinder(0.1, 0.1),
    "cone": Cone(0.12, 0.1),
    "ellipsoid": Ellipsoid((0.08, 0.1, 0.14)),
    "hull": PRISM,
    "compound": TABLE,
}


def thrown(a: str, b: str, rng: np.random.Generator, dt: float = 1 / 240, **surface: float) -> World:
    """Two bodies without gravity that fly at each other, turning."""
    world = World(gravity=(0, 0, 0), dt=dt)
    for name, side in ((a, -1), (b, 1)):
        q = rng.normal(size=4)
        world.add(
            KINDS[name], density=500.0, position=(0.5 * side, *(0.02 * rng.normal(size=2))),
            orientation=q / np.linalg.norm(q), velocity=(-2.0 * side, 0, 0), angular_velocity=3 * rng.normal(size=3), **surface,
        )  # fmt: skip
    return world


PAIRS = list(itertools.combinations_with_replacement(KINDS, 2))


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_two_bodies_of_any_shape_bounce(a, b):
    """Smooth and elastic: energy and momenta are kept, they part, and never overlap.

    They leave the first impact with up to 60 rad/s, and come round to hit again at once.
    """
    rng = np.random.default_rng(PAIRS.index((a, b)))
    for _ in range(3):
        world = thrown(a, b, rng, friction=0, restitution=1)
        before, p, l = world.energy().total, world.momentum(), world.angular_momentum()
        world.step(120)
        scale = sum(body.mass for body in world.bodies)
        assert world.statistics()["impacts"] >= 1
        assert world.energy().total - world.ledger.integrator == pytest.approx(before, rel=1e-12)
        assert np.abs(world.momentum() - p).max() < 1e-13 * scale
        assert np.abs(world.angular_momentum() - l).max() < 1e-13 * scale
        assert world.statistics()["depth"] < 1e-9
        apart, leaving = (column[1] - column[0] for column in (world.positions, world.velocities))
        assert apart @ leaving > 0


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_two_rough_bodies_of_any_shape_lose_energy(a, b):
    """But for the phase of contact that does not last, which the ledger names, and for what sticks while bodies turn: both of
    second order in the step."""
    rng = np.random.default_rng(1000 + PAIRS.index((a, b)))
    for restitution in (0.0, 0.5):
        world = thrown(a, b, rng, dt=1 / 1920, friction=0.5, restitution=restitution)
        energy = start = world.energy().total
        for _ in range(12):
            world.step(80)
            ledger = world.ledger
            assert abs(ledger.contact) < 0.005 * start
            now = world.energy().total - ledger.integrator - ledger.correction - ledger.contact
            assert now <= energy + 5e-7 * start
            assert ledger.closes
            energy = now


FLAT = {"box": 0.08, "cylinder": 0.1, "hull": 0.1, "compound": 0.1}  # half their height
LYING = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)
ON_TOP = {
    "box": (KINDS["box"], 0.08, (1, 0, 0, 0)),
    "cylinder": (KINDS["cylinder"], 0.1, (1, 0, 0, 0)),
    "hull": (PRISM, 0.1, (1, 0, 0, 0)),
    "table": (table(0.05), 0.1, (1, 0, 0, 0)),
    "cone": (KINDS["cone"], 0.1, (1, 0, 0, 0)),
    "capsule": (Capsule(0.06, 0.05), 0.06, LYING),
    "lying cylinder": (Cylinder(0.06, 0.05), 0.06, LYING),
    "sphere": (Sphere(0.1), 0.1, (1, 0, 0, 0)),
    "ellipsoid": (Ellipsoid((0.14, 0.1, 0.08)), 0.08, (1, 0, 0, 0)),
}


@pytest.mark.parametrize("low", FLAT)
@pytest.mark.parametrize("high", ON_TOP)
def test_any_shape_stands_on_any_flat_one(low, high):
    """For a second: it stays where it is, and the floor feels both weights."""
    shape, half, q = ON_TOP[high]
    world = World()
    world.add(HalfSpace(), kind="static")
    below = world.add(KINDS[low], position=(0, 0, FLAT[low]))
    above = world.add(shape, position=(0.01, -0.02, 2 * FLAT[low] + half), orientation=q)
    start = world.positions
    world.step(240)
    assert np.abs(world.positions - start).max() < 1e-8
    assert np.abs(world.velocities).max() < 1e-8
    c = world.contacts()
    for i, weight in ((1, (below.mass + above.mass) * G), (2, above.mass * G)):
        felt = c["force"][c["body_b"] == i, 2].sum() - c["force"][c["body_a"] == i, 2].sum() * (i == 2)
        assert felt == pytest.approx(weight, rel=1e-6)
    assert world.ledger.closes


def test_a_dumbbell_rolls_down_a_slope_as_the_textbook_says():
    """Two balls on a bar: a = g sin(slope) / (1 + I / m r^2)."""
    r, slope = 0.1, math.radians(10)
    shape = Compound([(Sphere(r), Pose((0, y, 0))) for y in (-0.3, 0.3)] + [(Box((0.02, 0.25, 0.02)), Pose())])
    m = mass_properties(shape)
    world = World(gravity=(G * math.sin(slope), 0, -G * math.cos(slope)))
    world.add(HalfSpace(), kind="static", friction=0.8)
    body = world.add(shape, density=1000.0, position=(0, 0, r), friction=0.8)
    world.step(480)
    a = G * math.sin(slope) / (1 + m.inertia[1, 1] / (m.volume * r * r))
    assert body.position == pytest.approx((0.5 * a * 4, 0, r), abs=1e-8)
    assert body.angular_velocity == pytest.approx((0, a * 2 / r, 0), abs=1e-7)
    assert {int(k) for k in world.contacts()["piece_b"]} == {1, 2}


def test_a_conveyor_and_a_paddle_do_their_work():
    """What a driven body gives is p.v of its surface: the energy of a capsule that a paddle hits, to rounding."""
    world = World(gravity=(0, 0, 0))
    world.add(Box((0.1, 0.5, 0.5)), kind="kinematic", velocity=(3, 0, 0), friction=0, restitution=1)
    ball = world.add(Capsule(0.1, 0.2), position=(0.5, 0, 0), friction=0, restitution=1)
    world.step(60)
    assert ball.velocity == pytest.approx((6, 0, 0), abs=1e-9)
    assert world.ledger.external == pytest.approx(0.5 * ball.mass * 36, rel=1e-12)
    assert abs(world.ledger.residual) < 1e-12 * world.ledger.moved


def _tumbling(rng: np.random.Generator) -> World:
    """A hull thrown at a cone, both of some centimetres, elastic, at 200 rad/s in steps of 1/240 s."""
    world, toward = World(gravity=(0, 0, 0)), rng.normal(size=3)
    toward /= np.linalg.norm(toward)
    q = rng.normal(size=(2, 4))
    q /= np.linalg.norm(q, axis=1)[:, None]
    spin = 200.0 * rng.normal(size=(2, 3))
    world.add(Cone(0.05, 0.03), orientation=q[0], angular_velocity=spin[0], restitution=1.0, friction=0.5)
    hull = ConvexHull(0.04 * rng.normal(size=(12, 3)))
    world.add(hull, position=0.3 * toward, orientation=q[1], velocity=-8.0 * toward, angular_velocity=spin[1], restitution=1.0)
    return world


def test_every_impact_of_bodies_that_tumble_fast_is_found():
    """Also the second and third of the same pair in a step: what has bounced turns by a radian before the step ends."""
    rng, deepest, most = np.random.default_rng(3), 0.0, 0
    for _ in range(40):
        world = _tumbling(rng)
        start, before = world.energy().total, 0
        for _ in range(20):
            world.step()
            deepest = max(deepest, world.max_penetration())
            most, before = max(most, world.statistics()["impacts"] - before), world.statistics()["impacts"]
        assert before > 0
        assert world.energy().total < start * (1 + 2e-3)
    assert deepest < 1e-9
    assert most > 1


@pytest.mark.parametrize("spin", [200, 400, 700, 1000])
def test_what_whirls_on_a_joint_meets_what_stands_in_its_way(spin):
    """By up to four radians in a step. Its flight is tried in more and more steps; in the first tries it runs away, and what
    pulled there was taken as a bound of how it can turn: nothing is found below an infinite one. Twin:
    tests/sim/flight/spoiled_stations.py."""
    world = whirled_past(spin)
    assert world.statistics()["impacts"] == 1
    assert world.statistics()["depth"] < 1e-12
