"""The numbers that end a search for impacts, or an impact that leads to nothing: each with a case that comes out otherwise.

Run by tests/sim/test_uncompiled.py, as spoiled.py is.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from benchmarks.worlds.families import FAMILIES
from benchmarks.worlds.measure import Distances
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


def depth_of_what_turns_in_and_out() -> float:
    """Overlap of two bodies on hinges, of the smaller, after two steps that turn them by a radian (test_worlds.py, seed 57)."""
    world = FAMILIES["random"](57, 1 / 240).scene.build()
    motions = {
        "convexhull": (
            (0.399684121, 0.177753718, 0.32173546),
            (0.451766838, -0.250140011, -0.336739327, -0.787364798),
            (-0.429846557, -7.98508279, 5.30699287),
            (-48.9177062, 34.3925373, 198.054017),
        ),
        "convexhull_2": (
            (0.31940435, 0.248350397, 0.68728104),
            (0.53806703, 0.635104991, 0.280242963, -0.478110241),
            (0.509704038, -3.97265604, 6.2879299),
            (-21.8981203, 9.37111152, 7.69565881),
        ),
        "cylinder": (
            (0.401654395, 0.157691891, 0.374988468),
            (-0.102884114, -0.847566074, 0.468698539, 0.226645735),
            (-0.774364709, -0.788122439, -2.24772057),
            (23.5904126, -8.73406768, -4.7815045),
        ),
    }
    for body in world.bodies:
        if body.name in motions:
            body.position, body.orientation, body.velocity, body.angular_velocity = motions[body.name]
    world.step(2)
    return Distances(world).overlap(world)


def test_what_leaves_again_at_the_end_of_a_drift_may_have_come_fast(monkeypatch):
    assert depth_of_what_turns_in_and_out() == 0.0
    monkeypatch.setattr(times, "_turned_in", lambda *given: (given[6], given[8]))  # where the search begins
    assert depth_of_what_turns_in_and_out() > 0.1
