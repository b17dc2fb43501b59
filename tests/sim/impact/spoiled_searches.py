"""The numbers that end a search for impacts, or an impact that leads to nothing: each with a case that comes out otherwise.

Run by tests/sim/test_uncompiled.py, as spoiled.py is.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from tests.physics.grounds import SMALL, height_beyond, sheet
from tumble.sim.impact import impact_loop as loop
from tumble.sim.impact import time_of_impact as times

H = 1 / 240


def test_a_search_against_a_sheet_goes_on_until_it_has_found(monkeypatch):
    """What has gone through a sheet by the end of the drift does not overlap it."""
    monkeypatch.setattr(times, "MOST_GROUND_STEPS", 1)
    assert height_beyond(sheet(10.0), SMALL[5], 823551, restitution=0.0, friction=1.0) > 0.0


def collided(monkeypatch, *comes: float) -> tuple[list[bool], bool]:
    """Of an impact that was seen to come at 1 m/s: whether whole faces were looked at, each time that points were; and whether it
    is taken to come to nothing. ``comes``: how fast the fastest of the points comes each time [m/s]."""
    speeds, faces = list(comes), []
    pairs = SimpleNamespace(speed=np.ones(1), hits=np.zeros(1, np.int64), search=np.full(1, loop.KNOWN))
    books, drift = SimpleNamespace(counters=np.zeros(100, np.int64)), SimpleNamespace(touched=None, chosen=np.zeros(1, np.int64))
    forces, joints = SimpleNamespace(clock=np.zeros(1)), None
    with monkeypatch.context() as patch:
        stubs = {"_gather": 1, "linked_joints": [], "let_go": None, "single_impact": None, "log_impacts": None}
        for name, found in stubs.items():
            patch.setattr(loop, name, lambda *given, found=found: found)
        patch.setattr(loop, "touching_rows", lambda *given: faces.append(given[-1]) or 1)
        patch.setattr(loop, "fastest_approach", lambda table, count: speeds.pop(0))
        model = (None, None, pairs, None, books, forces, joints)
        loop._collide_now(model, None, SimpleNamespace(dt=H), None, 0, 0.0, drift)
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
