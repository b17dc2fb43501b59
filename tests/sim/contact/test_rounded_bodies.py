"""Bodies with a skin: what is a ball or a capsule moves as one; a soft box stands, and its energy is accounted for."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tumble.collision import Box, Capsule, ConvexHull, Cylinder, HalfSpace, Pose, Rounded, Sphere, torus
from tumble.sim import World


def rolled(shape, **start):
    world = World(dt=1 / 240)
    world.add(HalfSpace(), kind="static", friction=0.5)
    body = world.add(shape, density=1000.0, friction=0.5, **start)
    world.step(240)
    return world, body


@pytest.mark.parametrize(
    ("rounded", "plain", "start"),
    [
        (Rounded(ConvexHull([(0, 0, 0)]), 0.2), Sphere(0.2), {"position": (0, 0, 0.2), "velocity": (1, 0.3, 0)}),
        (
            Rounded(ConvexHull([(0, 0, -0.3), (0, 0, 0.3)]), 0.2),
            Capsule(0.2, 0.3),
            {"position": (0, 0, 0.2), "velocity": (0, 1, 0), "orientation": Pose.from_euler_xyz((0, math.pi / 2, 0)).orientation},
        ),
    ],
    ids=["ball", "capsule"],
)
def test_what_is_another_shape_rolls_as_that_shape(rounded, plain, start):
    """Rolling needs the curvature of the skin: a corner would not roll."""
    (_, one), (_, other) = rolled(rounded, **start), rolled(plain, **start)
    assert np.linalg.norm(one.position - other.position) < 1e-6
    assert np.linalg.norm(one.angular_velocity - other.angular_velocity) < 1e-5
    assert np.linalg.norm(one.angular_velocity) > 1.0
    assert one.mass == pytest.approx(other.mass, rel=1e-13)


def test_soft_boxes_stand_and_the_books_close():
    world = World(dt=1 / 240)
    world.add(HalfSpace(), kind="static", friction=0.5)
    soft = Rounded(Box((0.2, 0.2, 0.2)), 0.05)
    stack = [world.add(soft, position=(0, 0, 0.25 + 0.5 * k), friction=0.5) for k in range(3)]
    thrown = world.add(Rounded(Cylinder(0.1, 0.15), 0.05), position=(2, 0, 1), angular_velocity=(3, 4, 5), friction=0.3)
    world.step(240)
    for k, body in enumerate(stack):
        assert np.linalg.norm(body.position - (0, 0, 0.25 + 0.5 * k)) < 1e-9
    assert world.ledger.closes
    assert thrown.position[2] > 0.14


def test_a_ring_falls_over_a_peg():
    world = World(dt=1 / 240)
    world.add(HalfSpace(), kind="static", friction=0.5)
    world.add(Capsule(0.05, 0.5), kind="static", position=(0, 0, 0.5))
    ring = world.add(torus(0.3, 0.05, segments=16), position=(0.02, 0, 0.8), friction=0.5)
    world.step(360)
    assert ring.position[2] == pytest.approx(0.05, abs=0.01)
    assert np.linalg.norm(ring.position[:2]) < 0.3
    assert world.ledger.closes
