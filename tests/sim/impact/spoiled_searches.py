"""The numbers that end a search for impacts, or an impact that leads to nothing: each with a case that comes out otherwise.

Run by tests/sim/test_uncompiled.py, as spoiled.py is.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from tests.physics.grounds import SMALL, height_beyond, sheet
from tumble.sim.impact import impact_loop as loop
from tumble.sim.impact import time_of_impact as times

H = 1 / 240


def test_a_search_against_a_sheet_goes_on_until_it_has_found(monkeypatch):
    """What has gone through a sheet by the end of the drift does not overlap it."""
    monkeypatch.setattr(times, "MOST_GROUND_STEPS", 1)
    assert height_beyond(sheet(10.0), SMALL[5], 823551, restitution=0.0, friction=1.0, steps=1) > 0.0


def collided(monkeypatch, *comes: float, kicked: bool = True) -> tuple[list[bool], bool]:
    """Of an impact that was seen to come at 1 m/s: whether whole faces were looked at, each time that points were; and whether it
    is taken to come to nothing. ``comes``: how fast the fastest of the points comes each time [m/s]."""
    speeds, faces = list(comes), []
    pairs = SimpleNamespace(speed=np.ones(1), hits=np.zeros(1, np.int64), struck=np.zeros(1), search=np.full(1, loop.KNOWN))
    books, drift = SimpleNamespace(counters=np.zeros(100, np.int64)), SimpleNamespace(touched=None, chosen=np.zeros(1, np.int64))
    forces, joints = SimpleNamespace(clock=np.zeros(1)), None
    with monkeypatch.context() as patch:
        stubs = {"linked_joints": [], "let_go": None, "_may_be_kicked": kicked, "single_impact": None, "log_impacts": None}
        for name, found in stubs.items():
            patch.setattr(loop, name, lambda *given, found=found: found)
        patch.setattr(loop, "touching_rows", lambda *given: faces.append(given[-1]) or 1)
        patch.setattr(loop, "fastest_approach", lambda table, count: speeds.pop(0))
        model = (None, None, pairs, None, books, forces, joints)
        loop._collide_now(model, None, SimpleNamespace(dt=H), None, 0, 1, 0.0, drift)
    return faces, bool(pairs.search[0] == loop.FUTILE)


def test_where_no_point_comes_as_fast_as_was_seen_whole_faces_are_looked_at(monkeypatch):
    """The point that was seen is not among those that touch, and the impact would be repeated to no effect."""
    assert collided(monkeypatch, 0.9, 0.9) == ([False], False)
    assert collided(monkeypatch, 0.1, 0.9) == ([False, True], False)
    monkeypatch.setattr(loop, "SEEN", 0.0)
    assert collided(monkeypatch, 0.1, 0.9) == ([False], False)


def test_where_no_point_comes_but_by_rounding_the_impact_is_not_repeated(monkeypatch):
    assert collided(monkeypatch, 1e-12, 1e-12) == ([False, True], True)
    monkeypatch.setattr(loop, "SEEN_AT_ALL", 0.0)
    assert collided(monkeypatch, 1e-12, 1e-12) == ([False, True], False)


def test_an_impact_that_stops_nothing_is_not_repeated(monkeypatch):
    """A ball between a floor and the edge of a box, at a friction of 10: one step had four thousand of them (random world 60)."""
    monkeypatch.setattr(loop, "_collide_ahead", lambda *given: True)
    assert collided(monkeypatch, 0.9, 0.9, kicked=False) == ([False], False)
    monkeypatch.setattr(loop, "_collide_ahead", lambda *given: False)
    assert collided(monkeypatch, 0.9, 0.9, kicked=False) == ([False], True)
    assert collided(monkeypatch, 0.9, 0.9) == ([False], False)


def test_what_stops_nothing_is_seen(monkeypatch):
    """Of an approach at 1 m/s an impact has left so much."""
    stubs = {"coming_rows": 1, "single_impact": None, "fastest_approach": 1.0}
    for name, found in stubs.items():
        monkeypatch.setattr(loop, name, lambda *given, found=found: found)
    model, table = (None, None, None, None, None, None, None), SimpleNamespace(count=np.ones(1, np.int64))
    for left, stopped in ((0.0, True), (1.0, False)):
        monkeypatch.setattr(loop, "approach_left", lambda *given, left=left: left)
        assert loop._collide_ahead(model, None, SimpleNamespace(dt=H), table, None, 0.0) == stopped
    monkeypatch.setattr(loop, "SEEN", 1.0)
    assert loop._collide_ahead(model, None, SimpleNamespace(dt=H), table, None, 0.0)


def dips(t: float) -> float:
    """Gap of two bodies that touch at the start of a step, part, and turn into each other within it: leaving at its end again."""
    return 0.2 * t / H if t < 0.5 * H else 0.4 * (t / H - 0.8) ** 2 + 0.02 * (t / H - 0.8) - 0.03


def seen_to_come(bore: bool = False) -> float:
    """How fast the search says that they came [m/s]; 0: they did not. ``bore``: they bore load in the last kick, which followed
    nothing."""
    pairs = SimpleNamespace(
        fresh=[True], points=[1], arrives=np.full((1, 1), 0.0 if bore else 1.0), rests=[int(bore)],
        rows=np.full((1, 1, 4), dips(H)), ids=np.zeros((1, 1)), normal=np.array(((0.0, 0, 1),)), geoms=np.array(((0, 1),)),
    )  # fmt: skip

    def crossed(bodies, forces, geoms, pairs, geometry, n, start, end, *rest) -> tuple:
        speed = (dips(end - 1e-3 * H) - dips(end)) / (1e-3 * H)
        return (end, speed) if speed > 0.0 else (math.inf, 0.0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(times, "_crossed", crossed)
        patch.setattr(times, "foreseen", lambda *given: 0.0 if bore else 1.0)
        patch.setattr(times, "distance_at", lambda *given: (0, dips(given[6]), 0, (0.0, 0.0, 1.0), 0, 0, 0))
        return times._crossing(None, None, None, pairs, None, 0, 0.0, H, 0.1, 0.0, 0.0, 0.0, None, None)[1]


def test_what_leaves_again_at_the_end_of_a_drift_may_have_come_fast(monkeypatch):
    """Random world 98 is 3 % deep without it; and a splinter that spins between the hulls of a heap 15 %, where what bore load
    was left out."""
    assert dips(H) < 0.0 < dips(H) - dips(0.99 * H)
    assert seen_to_come() == seen_to_come(bore=True) > 0.01 / H
    monkeypatch.setattr(times, "_turned_in", lambda *given: (given[7], given[8]))  # where the search begins
    assert seen_to_come() == 0.0


def test_what_was_struck_flies_otherwise_than_its_crowd_foresaw(monkeypatch):
    """Also at the very start of the drift, where when its flight began does not tell."""
    pairs = SimpleNamespace(
        count=[3], search=np.full(3, loop.KNOWN), unforeseen=np.zeros(3, np.int64), fresh=np.ones(3, np.bool_), event=np.zeros(3)
    )
    drift = SimpleNamespace(touched=np.array((True, False)), first=np.array((0, 2, 3)), of=np.array((0, 2, 1)))
    monkeypatch.setattr(loop, "choose", lambda drift, many, k: many + 1)
    assert loop._ask(pairs, drift, False) == 2
    assert pairs.unforeseen.tolist() == [1, 0, 1]


def kicks_at_a_stop(monkeypatch, *times: float) -> int:
    """How often bodies are kicked again when a coordinate comes to its stop at these times of a drift, beside contacts."""
    kicked, joints = [], SimpleNamespace(body=np.array(((0, 1),)))
    drift = SimpleNamespace(touched=np.zeros(2, bool), met=np.full(1, -np.inf), effort=None)
    with monkeypatch.context() as patch:
        stubs = {"bring": None, "linked_joints": [], "bring_linked": None, "settle_phase": True, "settle_joints": None}
        stubs |= {"meet_stops": None, "fly_on": (loop.OK, False)}
        for name, found in stubs.items():
            patch.setattr(loop, name, lambda *given, found=found: found)
        patch.setattr(loop, "_kick_and_fly", lambda *given: kicked.append(given[4]) or loop.OK)
        for t in times:
            loop._meet_stop((None,) * 6 + (joints,), None, SimpleNamespace(dt=H), None, 0, t, drift)
    return len(kicked)


def test_a_stop_that_comes_again_at_once_is_kept(monkeypatch):
    """A contact that drives a coordinate on drives it on after each kick: one step had 239 of them, and no time left."""
    assert kicks_at_a_stop(monkeypatch, 0.2 * H, 0.5 * H) == 2
    assert kicks_at_a_stop(monkeypatch, 0.2 * H, 0.2 * H, 0.2 * H) == 1
    monkeypatch.setattr(loop, "TIE", -1.0)
    assert kicks_at_a_stop(monkeypatch, 0.2 * H, 0.2 * H, 0.2 * H) == 3
