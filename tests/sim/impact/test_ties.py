"""Impacts of the same instant that share a body act together: what is symmetric stays so. Twins: spoiled.py."""

from __future__ import annotations

import pytest

from tumble.collision import HalfSpace, Sphere
from tumble.sim import World

H = 1 / 240


def middle() -> float:
    """Velocity of a ball that two others have hit from both sides at the same instant [m/s]; they are alike but for the side."""
    world = World(gravity=(0, 0, 0), dt=H)
    ball = world.add(Sphere(0.1), mass=1.0, restitution=0.5)
    for side in (-1.0, 1.0):
        world.add(Sphere(0.1), mass=1.0, restitution=0.5, position=(side * 0.202, 0, 0), velocity=(-side, 0, 0))
    world.step(4)
    assert max(abs(v) for v in world.velocities[:, 0]) < 0.7  # they have hit
    return float(ball.velocity[0])


def test_a_ball_hit_from_both_sides_stays():
    assert abs(middle()) < 1e-12


def against_a_wall(ratio: float, seconds: float = 5.0) -> World:
    """A ball flies at a lighter one that rests before a wall, all elastic, without gravity (Galperin, Regul. Chaotic Dyn. 8
    (2003) 375)."""
    world = World(dt=H, gravity=(0, 0, 0))
    world.add(HalfSpace((1, 0, 0)), kind="static", friction=0.0, restitution=1.0)
    for mass, x, speed in ((1.0, 0.5, 0.0), (ratio, 1.0, -1.0)):
        world.add(Sphere(0.1), mass=mass, position=(x, 0, 0), velocity=(speed, 0, 0), friction=0.0, restitution=1.0)
    world.step(round(seconds / H))
    return world


@pytest.mark.parametrize(("ratio", "digits"), [(1, 3), (100, 31), (1e4, 314), (1e6, 3141)])
def test_elastic_balls_before_a_wall_count_pi(ratio, digits):
    """The impacts are the digits of pi, up to 1475 of them in one step, and none of them costs energy."""
    world = against_a_wall(ratio)
    assert world.statistics()["impacts"] == digits
    assert world.statistics()["capped"] == 0
    assert world.energy().total == pytest.approx(0.5 * ratio, rel=1e-12)


def caught(restitution: float, steps: int = 20) -> tuple[float, int]:
    """A ball of 200 kg falls on one of 0.1 kg on a floor: how deep anything gets [m], and how many impacts there are."""
    world, deepest = World(dt=H), 0.0
    world.add(HalfSpace(), kind="static", friction=0.0, restitution=restitution)
    for mass, radius, z, speed in ((0.1, 0.05, 0.05, 0.0), (200.0, 0.3, 0.4001, -5.0)):
        world.add(Sphere(radius), mass=mass, position=(0, 0, z), velocity=(0, 0, speed), friction=0.0, restitution=restitution)
    for _ in range(steps):
        world.step()
        deepest = max(deepest, world.max_penetration())
    assert world.ledger.closes
    return deepest, world.statistics()["impacts"]


@pytest.mark.parametrize("restitution", [0.3, 0.5, 0.8])
def test_a_light_ball_that_is_caught_stops_a_heavy_one(restitution):
    """It is struck by that and by the floor in turn, ever sooner, and takes a thousandth of the speed each time. In the end, at
    one instant, all three act together."""
    deepest, impacts = caught(restitution)
    assert deepest < 1e-12
    assert impacts < 200
