"""A coin on its edge, just before it falls flat."""

from __future__ import annotations

from tumble.collision import Cylinder, HalfSpace
from tumble.sim import World


def gained_by_a_coin_that_falls_flat() -> float:
    """Gain of a step, of the kinetic energy: the force of the floor grows a thousandfold within half a millisecond."""
    world = World(dt=1 / 240)
    world.add(HalfSpace(), kind="static", friction=0.5)
    world.add(
        Cylinder(0.1, 0.01),
        mass=1.0,
        friction=0.5,
        position=(0.0369853, -0.0988721, 0.0138027),
        orientation=(0.0119224, 0.811331, 0.584276, -0.0148625),
        velocity=(-0.0257726, -0.12146, -0.881096),
        angular_velocity=(7.64809, -5.57671, 0.546417),
    )
    world.step()
    energy = world.energy()
    world.step()
    return (world.energy().total - energy.total) / (energy.kinetic_linear + energy.kinetic_angular)
