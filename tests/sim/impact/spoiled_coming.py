"""What comes down next in impacts that repeat: when it is looked at, and what is done where it leads to no solution.

Run by tests/sim/test_uncompiled.py, since only uncompiled kernels let their numbers be replaced.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

from tests.sim.impact.spoiled import BALLS, H, told
from tests.sim.impact.test_coming_points import laid_along
from tumble.sim.contact.touching import impact_threshold as threshold
from tumble.sim.impact import impact_loop as loop
from tumble.sim.impact import multi_contact as impacts
from tumble.sim.impact.crowds import coming_points as coming


def looks_on(monkeypatch, hits: int, crowd: int = 1, effort: float = 0.0) -> bool:
    """Whether an impact without restitution, after so many of the pair in the step, looks at what comes down next."""
    monkeypatch.setattr(threshold, "coefficient", lambda *arguments: 0.0)
    bodies, geoms = SimpleNamespace(radius=BALLS.radius, crowd=[crowd] * 2), SimpleNamespace(body=[0, 1])
    pair = told(hits=hits, speed=5.0, search=loop.KNOWN, geoms=(0, 1))
    drift = SimpleNamespace(touched=[True, True], effort=[effort] * 2)
    kicked = loop._may_be_kicked(bodies, SimpleNamespace(crowd=24), drift)
    return coming.tired(bodies, geoms, pair, 0, H) and not kicked


def test_what_is_not_kicked_again_looks_on_from_its_third_impact_on(monkeypatch):
    assert [looks_on(monkeypatch, hits) for hits in (0, 1, 2, 11)] == [False, False, True, True]
    assert not looks_on(monkeypatch, 11, crowd=0, effort=24.0)
    assert looks_on(monkeypatch, 11, crowd=0, effort=25.0)
    monkeypatch.setattr(coming, "MOST_SMALL_BOUNCES", 10**6)
    assert not looks_on(monkeypatch, 11)


def test_where_only_what_touches_is_stopped_a_point_is_stopped_all_along_its_way(monkeypatch):
    monkeypatch.setattr(loop, "EVENTS", 20)
    monkeypatch.setattr(loop, "coming_rows", lambda *given: given[6].count[0])
    assert laid_along()[0] >= 30


def test_where_what_comes_next_leads_to_no_solution_the_points_that_touch_act_alone(monkeypatch):
    monkeypatch.setattr(loop, "EVENTS", 20)
    solve = impacts.newton
    monkeypatch.setattr(impacts, "newton", lambda *given: (1.0, solve(*given)[1]))  # which says that it was not solved
    assert laid_along()[0] >= 30
    monkeypatch.setattr(impacts, "NOT_SOLVED", math.inf)
    assert laid_along()[0] < 20
