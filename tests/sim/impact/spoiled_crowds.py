"""The numbers that decide how crowds are solved: each with a case that comes out otherwise without it.

Run by tests/sim/test_uncompiled.py, since only uncompiled kernels let their numbers be replaced. Crowds of one body or two take
no longer than that: here any island is one.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from tumble.collision import Box, HalfSpace
from tumble.sim import World
from tumble.sim.impact import substep_resolve as again
from tumble.sim.impact.crowds import crowd_kick as kick
from tumble.sim.impact.crowds import crowd_prediction as prediction
from tumble.sim.impact.crowds import crowd_sweeps as sweeps
from tumble.sim.solvers import crowd_targets as targets

H = 1 / 240


def crowd(bodies: int, mass: float = 1.0, speed: float = 0.0, spin: float = 0.0, fall: float = 0.0) -> World:
    """A crowd of boxes above each other, each so many times as heavy as the one below, that come down and turn."""
    world = World(dt=H)
    world.settings = world.settings._replace(crowd=0.1)
    world.add(HalfSpace(), kind="static", friction=0.5)
    for k in range(bodies):
        moves = {"velocity": (0, 0, -speed), "angular_velocity": (0, spin, 0), "friction": 0.5}
        world.add(Box((0.1, 0.1, 0.05)), mass=mass**k, position=(0.02 * (k % 2), 0, fall + 0.05 + 0.1 * k), **moves)
    world.model.bodies.crowd[:] = 1
    return world


def landed(bodies: int = 2) -> dict[str, float]:
    """What the solve of a landing was like, of a box on one a tenth as heavy."""
    world = crowd(bodies, mass=10.0, speed=0.1)
    world.step()
    return world.statistics()


@pytest.mark.parametrize(("name", "value"), [("WORK", 0), ("COST", 10**9), ("FEWEST_ITERATIONS", 10**9)])
def test_what_sweeps_leave_of_a_few_contacts_is_solved_exactly(name, value, monkeypatch):
    monkeypatch.setattr(kick, name, value)
    assert landed()["residual"] > 1e-4


def test_fewer_iterations_than_lead_to_an_end_are_not_begun(monkeypatch):
    """Two, that is: what they leave is worse than what sweeps left, and is not taken."""
    monkeypatch.setattr(kick, "COST", kick.WORK // (2 * 2 * 8))
    spared = landed()
    monkeypatch.setattr(kick, "FEWEST_ITERATIONS", 0)
    tried = landed()
    assert tried["iterations"] > spared["iterations"]
    assert tried["residual"] == spared["residual"]


def test_even_the_largest_crowd_is_swept_some_times(monkeypatch):
    monkeypatch.setattr(kick, "WORK", 0)
    assert landed()["iterations"] == kick.FULL
    monkeypatch.setattr(kick, "FULL", 1)
    assert landed()["iterations"] == 1


def test_what_sweeps_solve_needs_nothing_else(monkeypatch):
    """Newton's method would split the loads in another way."""
    asked, exactly = [], kick._solve_exactly
    monkeypatch.setattr(kick, "_solve_exactly", lambda *given: asked.append(1) or exactly(*given))
    assert landed(1)["residual"] < 1e-11
    assert asked == []
    monkeypatch.setattr(kick, "MOST_PASSES", 1)
    landed(1)
    assert asked == [1]


def depth_of_what_turns_in() -> float:
    """How deep a box is in the floor whose corner comes down by turning, in a crowd, after three steps [m]."""
    world, deepest = crowd(1, speed=1.0, spin=20.0, fall=0.012), 0.0
    for _ in range(3):
        world.step()
        deepest = max(deepest, world.max_penetration())
    assert world.statistics()["impacts"] == 0
    return deepest


@pytest.mark.parametrize(
    ("room", "name", "value"), [(kick, "DRIFT_LOOKS", 0), (prediction, "ROW_OVERLAP", 1.0)], ids=("looks", "overlap")
)
def test_what_turns_in_is_seen_before_the_kick(room, name, value, monkeypatch):
    looked = depth_of_what_turns_in()
    monkeypatch.setattr(room, name, value)
    assert depth_of_what_turns_in() > 1.2 * looked


def left_deep(monkeypatch) -> tuple[float, int]:
    """(How deep, impacts) where the looks at a corner that comes down lead to no row, as if no solve could hold it."""
    with monkeypatch.context() as patch:
        patch.setattr(kick, "predict_rows", lambda model, geometry, settings, crowd, seen, first, count: (count, math.inf))
        world, deepest = crowd(1, speed=1.0, spin=20.0, fall=0.03), 0.0
        for _ in range(5):
            world.step()
            deepest = max(deepest, world.max_penetration())
    return deepest, world.statistics()["impacts"]


def test_what_the_last_solve_leaves_deep_is_found_by_the_drift(monkeypatch):
    deepest, impacts = left_deep(monkeypatch)
    assert (deepest < 1e-6, impacts) == (True, 1)
    monkeypatch.setattr(kick, "mark_unforeseen", lambda *given: None)
    deepest, impacts = left_deep(monkeypatch)
    assert (deepest > 1e-4, impacts) == (True, 0)


def islands_after_an_impact(*crowds: int) -> list[int]:
    """The islands of four bodies, of which the last three are one, once the first two were struck; ``crowds``: who is of one."""
    bodies = SimpleNamespace(kind=np.full(4, 1), crowd=np.array(crowds), island=np.array((0, 1, 1, 1)))
    assert again._join_touched(bodies, np.array((True, True, False, False))) == 0
    return bodies.island.tolist()


def test_who_strikes_a_crowd_does_not_have_all_of_it_kicked():
    """By Newton's method: that took a second where a thousand were a crowd. Of an island that is none all take part."""
    assert islands_after_an_impact(0, 1, 1, 1) == [0, 1, 1, 1]
    assert islands_after_an_impact(1, 1, 1, 1) == [0, 1, 1, 1]
    assert islands_after_an_impact(0, 0, 0, 0) == [0, 0, 0, 0]


def looks_that_ask_for(*more: float) -> int:
    """How many looks are solved for, where they ask for so much ``more`` than before: as parts of the velocity that makes an
    overlap that is worth a row."""
    asked, solved, worth = list(more), [], kick.ROW_OVERLAP / H
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kick, "relax", lambda *given: solved.append(1))
        patch.setattr(kick, "settle", lambda *given: (0.0, 1))
        patch.setattr(kick, "mark_unforeseen", lambda *given: None)
        patch.setattr(kick, "predict_rows", lambda *given: (given[-1], worth * asked.pop(0)) if asked else (-1, 0.0))
        crowd, blocks = SimpleNamespace(members=np.array([0])), SimpleNamespace(stage=np.zeros(2, np.int64))
        model = SimpleNamespace(radius=np.ones(1)), *[None] * 6
        kick._look(model, None, SimpleNamespace(dt=H, tolerance=1e-11), crowd, blocks, None, 5, np.zeros(1))
    return len(solved)


def test_looks_end_with_the_one_that_asks_for_nothing_that_matters():
    assert looks_that_ask_for(100.0, 20.0, 0.5, 7.0) == 3
    assert looks_that_ask_for(100.0, 20.0) == 2
    assert looks_that_ask_for(*[50.0] * 9) == kick.DRIFT_LOOKS


def sweeps_of(*missed: float) -> list[bool]:
    """Of each row of sweeps of an island, whether all contacts took part; those of all tell that so much is missed [m/s]."""
    told, kinds = list(missed), []

    def relax(model, geometry, settings, crowd, some, first, last, least, most, room, all):
        kinds.append(all)
        return (told.pop(0), 1, 100) if all else (0.0, 1, min(60, room))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweeps, "relax", relax)
        sweeps.settle(None, None, SimpleNamespace(tolerance=1e-11), None, None, 0, 1, 20)
    return kinds


def test_sweeps_of_the_few_that_miss_most_are_the_last():
    """What is missed last is left to the bodies: a sweep of all leaves light ones far off."""
    assert sweeps_of(0.0) == [True]
    assert sweeps_of(1.0, 0.0) == [True, False, True]
    assert sweeps_of(*[1.0] * 9)[-1] is False


def asked_after_a_miss(gap: float) -> tuple[float, float]:
    """What a loaded point of bodies of 0.1 m that is open within the skin asks for beside rest, in one step and in the next one,
    where nothing can give it that, so that it is missed by that and a little more: as parts of gap over step."""
    asked = []
    contacts = SimpleNamespace(
        body=np.array(((0, 1),)), gap=np.array([gap]), impulse=np.array(((0.0, 0, 1),)), residual=np.zeros(1),
        u=np.zeros((1, 3)), accel=np.zeros((1, 3)),
    )  # fmt: skip
    bodies = SimpleNamespace(radius=np.array((0.1, 0.1)))
    for _ in range(2):
        c = np.array(((0.0, 0.0, -0.5 * gap / H),))
        targets.soft_targets(bodies, contacts, np.array([0]), 1e-5, H, c, np.zeros((1, 2)), np.zeros(1, np.bool_))
        asked.append(-2.0 * c[0, 2] * H / gap)
        contacts.residual[0] = -c[0, 2] * (1.0 + 1e-9)
    return asked[0], asked[1]


def test_a_gap_that_can_not_be_shut_is_asked_for_again(monkeypatch):
    """By a part in each step. Asked for all at once it is missed by as much, counts as none in the next step, and is asked for
    again in the one after: what is solved changes from step to step, and the heap never rests."""
    assert asked_after_a_miss(1e-7) == pytest.approx((targets.SHUT, targets.SHUT))
    monkeypatch.setattr(targets, "SHUT", 1.0)
    assert asked_after_a_miss(1e-7) == pytest.approx((1.0, 0.0))


def test_what_rigid_bodies_do_not_tell_is_not_asked_for(monkeypatch):
    """A gap that the weight of a body of steel would shut, by what it gives."""
    assert asked_after_a_miss(0.9e-8) == (0.0, 0.0)
    monkeypatch.setattr(targets, "GIVES", 0.0)
    assert asked_after_a_miss(0.9e-8) == pytest.approx((targets.SHUT, targets.SHUT))
