"""Kicks inside a step: what they give back before an impact, and what is known of them afterwards; each with a twin.

Run by tests/sim/test_uncompiled.py, as spoiled.py is.
"""

from __future__ import annotations

import math

from benchmarks.worlds.families import FAMILIES
from tumble.collision import Box, HalfSpace
from tumble.sim import World
from tumble.sim.impact import half_kick_removal as removal
from tumble.sim.impact import impact_loop as loop
from tumble.sim.ledger import entries as ledger
from tumble.sim.ledger import kick_numbers as numbers
from tumble.sim.ledger.work import INSIDE_DRIFT

H = 1 / 240


def most_taken_back(monkeypatch) -> float:
    """The most energy that a tossed coin, which rolls on its edge, loses at once as it gives the phase of a kick back, of its
    largest."""
    world = FAMILIES["coins"](49, 1 / 240).scene.build()
    books, energy, most = world.model.books, world.energy().total, 0.0
    take_back = loop.take_back

    def measured(*given) -> None:
        nonlocal most
        before = books.energy[ledger.CONTACT]
        take_back(*given)
        most = max(most, before - books.energy[ledger.CONTACT])

    with monkeypatch.context() as patch:
        patch.setattr(loop, "take_back", measured)
        world.step(270)
    return most / energy


def test_what_rolls_gives_a_phase_back_where_it_is(monkeypatch):
    """A coin that rolls on its edge until it falls on the other one, at the end of a step: the point has gone along the edge."""
    assert most_taken_back(monkeypatch) < 3e-6
    nowhere = lambda *given: (math.nan, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))  # noqa: E731
    monkeypatch.setattr(removal, "_found_again", nowhere)
    assert most_taken_back(monkeypatch) > 1e-5


def test_kicks_inside_a_step_are_known_however_many_there_are(monkeypatch):
    """Their loads take the room of those that no body has any more. Without that, kicks were soon without a number."""
    world = World(dt=H)
    world.add(HalfSpace(), kind="static")
    cube = world.add(Box((0.1, 0.1, 0.1)), position=(0, 0, 0.1))
    world.step()
    bodies, contacts = world.model.bodies, world.model.contacts
    rows, members = list(range(contacts.count[0])), [cube.index]

    def kicked(times: int) -> int:
        contacts.count[1], contacts.count[2] = contacts.count[0], numbers.MID_STEP
        for _ in range(times):
            numbers.number_kick(bodies, contacts, contacts, rows, members, INSIDE_DRIFT)
        return int(bodies.held[cube.index])

    assert kicked(1000) == numbers.MID_STEP + 1000
    monkeypatch.setattr(numbers, "_forget_old", lambda *given: None)
    assert kicked(1000) == 0


def test_what_came_to_bear_in_a_step_is_known_at_its_end(monkeypatch):
    """A contact that was struck in mid-step is listed for the next kick with what it bore, in the order of pairs."""
    world = World(dt=H)
    world.add(HalfSpace(), kind="static")
    cubes = [world.add(Box((0.1, 0.1, 0.1)), position=(k, 0, 0.1)) for k in range(2)]
    world.step()
    bodies, contacts = world.model.bodies, world.model.contacts
    n = contacts.count[0]
    contacts.count[0] = contacts.count[1] = n - 4  # what the second one bears is news
    for k in range(n - 4, n):
        numbers.copy_load(contacts, k, world._table, k - n + 4)
    world._table.count[0], contacts.count[2] = 4, numbers.MID_STEP
    numbers.number_kick(bodies, contacts, world._table, list(range(4)), [cubes[1].index], INSIDE_DRIFT)
    bodies.kicked[cubes[1].index], bodies.flown[cubes[1].index] = 0.0, H
    numbers.keep_latest(bodies, contacts, H)
    assert contacts.count[0] == n
    assert (contacts.impulse[:n, 2] > 0.0).all()
    assert sorted(map(tuple, contacts.pair[:n].tolist())) == list(map(tuple, contacts.pair[:n].tolist()))
