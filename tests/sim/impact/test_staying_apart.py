"""What the gaps at two instants say of all between them: never more than is true, and close to it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tumble.collision import Box, ConvexHull, Cylinder, Ellipsoid, Pose, signed_distance
from tumble.collision.kernels.jit import kernel
from tumble.sim import World
from tumble.sim.impact.staying_apart import bends, least_between, least_gap

H, PARTS = 1 / 240, 12


@kernel
def bound_of(bodies, gap, axis, gap_then, axis_then, h, bent):
    """`least_gap` of bodies 0 and 1; ``bent``: whether what pulls and turns them counts."""
    speed = 0.0
    for k in range(3):
        speed += (bodies.v[1, k] - bodies.v[0, k]) ** 2
    speed = math.sqrt(speed)
    bend, size = bends(bodies, 0, 1, speed, h)
    turning = 0.0
    for i in range(2):
        for k in range(3):
            turning += abs(bodies.w[i, k]) * bodies.radius[i]
    f = 1.0 if bent else 0.0
    return least_gap(bodies, 0, 1, gap, axis, gap_then, axis_then, h, f * bend, f * size, f * (speed + 2.0 * turning))


@kernel
def least_of(first, last, c, h):
    return least_between(first, last, c, h)


def shape_of(rng: np.random.Generator):
    a = rng.uniform(0.05, 0.3, 3)
    return [Box(a), Cylinder(a[0], a[1]), Ellipsoid(a), ConvexHull(0.15 * rng.normal(size=(12, 3)))][rng.integers(4)]


def turn(rng: np.random.Generator) -> tuple[float, ...]:
    q = rng.normal(size=4)
    return tuple(q / np.linalg.norm(q))


def flown(rng: np.random.Generator, bent: bool = True) -> tuple[float, float, float]:
    """(Bound on the gap of two bodies that tumble past each other in a step, the least that was seen, the gap at the ends)."""
    world = World(gravity=(0, 0, 0), dt=H / PARTS)
    for side in (-1.0, 1.0):
        world.add(
            shape_of(rng), mass=1.0, position=(side * rng.uniform(0.05, 0.4), 0, 0), velocity=rng.normal(size=3),
            orientation=turn(rng), angular_velocity=rng.normal(size=3) * 10.0 ** rng.uniform(0, 1.7),
        )  # fmt: skip
    a, b = world.bodies
    seen = []
    for part in range(PARTS + 1):
        seen.append(signed_distance(a.shape, Pose(a.position, a.orientation), b.shape, Pose(b.position, b.orientation)))
        if part < PARTS:
            world.step()
    if min(answer.lower for answer in seen) <= 0.0:
        return -math.inf, 0.0, 0.0
    first, last = seen[0], seen[-1]
    ends = min(first.lower, last.lower)
    axes = [tuple(float(x) for x in answer.normal) for answer in (first, last)]
    bound = bound_of(world.model.bodies, first.lower, axes[0], last.lower, axes[1], H, bent)
    return bound, min(answer.upper for answer in seen), ends


def test_no_gap_is_less_than_the_bound():
    rng = np.random.default_rng(5)
    proven, spoiled = 0, 0
    for _ in range(60):
        state = rng.bit_generator.state
        bound, least, ends = flown(rng)
        assert bound <= least + 1e-12
        proven += bound > 0.5 * ends > 0.0
        rng.bit_generator.state = state
        chord, least, _ = flown(rng, bent=False)  # the twin: the chord alone
        spoiled += chord > least + 1e-12
    assert proven > 12
    assert spoiled > 0


@pytest.mark.parametrize(("first", "last", "c"), [(1.0, 1.0, 6.0), (1.0, 3.0, 7.0), (2.0, 0.5, 1.0), (1.0, 1.2, -4.0)])
def test_the_least_of_a_parabola_is_its_own(first, last, c):
    """f = first + b s + c s^2/2 has f'' = c: no bound can be better."""
    h = 0.7
    s = np.linspace(0.0, h, 200_001)
    f = first + ((last - first) / h - 0.5 * c * h) * s + 0.5 * c * s * s
    assert least_of(first, last, c, h) == pytest.approx(min(f), abs=1e-9)
