"""Steps that are undone and taken again, since a table was full: as if there had been room."""

from __future__ import annotations

import numpy as np

from tumble.scenarios.registry import load
from tumble.sim import World
from tumble.sim.scene.arrays import with_pairs


def pile(room: int) -> tuple[World, list[int]]:
    """Fifteen hulls that fall on each other, with room for so many pairs (0: as ever), and the steps in which that grew."""
    scene, grown = load("pile")(count=15, seed=5), []
    scene.dt = 1 / 240
    world = scene.build()
    if room:
        world._resize(with_pairs(world.model, room))
    grow = world._grow_pairs
    world._grow_pairs = lambda: (grown.append(world.step_count), grow())
    return world, grown


def test_a_step_that_runs_out_of_room_among_impacts_is_taken_as_if_there_had_been():
    """What impacts of the first try took of the memory of the last kick is given back: hulls were half a millimetre elsewhere."""
    (small, grown), (large, never) = pile(0), pile(4096)
    for world in (small, large):
        world.step(112)
    assert (len(grown), never) == (1, [])
    assert np.abs(small.positions - large.positions).max() < 1e-9
    assert small.statistics()["impacts"] == large.statistics()["impacts"]
