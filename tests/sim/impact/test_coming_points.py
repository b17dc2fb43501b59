"""What lies along another body, and touches it in a point that runs from end to end, is stopped by what comes down next.

Twin: spoiled_coming.py."""

from __future__ import annotations

import math

from tumble.collision import Capsule
from tumble.sim import World


def laid_along(degrees: float = 1.0) -> tuple[int, float]:
    """A capsule falls on another one, which lies still, almost along it, and turns so that one end of it comes down first: how
    many impacts that makes, and the gap at the end [m]. Nothing may be kicked again within a step, as in a heap that has spent
    what a step may spend on that."""
    half = math.radians(degrees) / 2
    across, along = (math.cos(half), math.sin(half)), math.sqrt(0.5)
    world = World()
    world.add(Capsule(0.05, 0.1), kind="static", orientation=(along, 0, along, 0), friction=0.5)
    world.add(
        Capsule(0.05, 0.1),
        position=(0, 0, 0.101),
        orientation=(across[0] * along, -across[1] * along, across[0] * along, across[1] * along),
        velocity=(0, 0, -1.0),
        angular_velocity=(0, 3.0, 0),
        friction=0.5,
    )
    world._begin()
    world.settings = world.settings._replace(crowd=0)
    world.step(2)
    return world.statistics()["impacts"], float(world.contacts()["gap"].min())


def test_a_point_that_runs_from_end_to_end_is_not_stopped_all_the_way():
    for degrees in (1.0, 2.0, 4.0):
        impacts, gap = laid_along(degrees)
        assert impacts < 20
        assert gap > -2e-4  # a thousandth of its length
