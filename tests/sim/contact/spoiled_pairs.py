"""The table of candidate pairs when it is made anew inside a step.

Run by tests/sim/test_uncompiled.py, as spoiled.py is.
"""

from __future__ import annotations

import numpy as np
import pytest

from tumble.collision import Sphere
from tumble.collision.broadphase.candidate_pairs import find_box_pairs
from tumble.sim import World
from tumble.sim.contact.touching import wide_boxes
from tumble.sim.contact.touching.pair_list import renew_pairs
from tumble.sim.impact import thread_jobs
from tumble.sim.scene.arrays import with_pairs
from tumble.sim.state import KNOWN


def test_what_is_known_of_a_pair_stays_with_it():
    """A pair that comes in before others moves their rows: their events, speeds and impacts go along.

    Which of two impacts of the same instant comes first, and which act together, is told by the speeds. Four balls in a row: 1
    and 2 are a pair, and 2 and 3; then the box of 0 grows, and 0 and 1 come in before both.
    """
    world = World(gravity=(0, 0, 0))
    for k in range(4):
        world.add(Sphere(0.1), position=(0.5 * k, 0, 0))
    geoms, pairs, joints = world.model.geoms, world.model.pairs, world.model.joints
    geoms.lo[:, 1:], geoms.hi[:, 1:] = -0.1, 0.1
    geoms.lo[:, 0], geoms.hi[:, 0] = (0, 2, 3, 4.5), (1, 3.5, 5, 6)
    renew_pairs(geoms, pairs, joints, thread_jobs.find_pairs(world.model, None, world.settings))
    assert pairs.geoms[: pairs.count[0]].tolist() == [[1, 2], [2, 3]]
    for k, known in enumerate([(0.25, 3.0, 2, 1), (0.5, 7.0, 1, 0)]):
        pairs.search[k] = KNOWN
        pairs.event[k], pairs.speed[k], pairs.hits[k], pairs.rests[k] = known
    geoms.hi[0, 0] = 2.5
    renew_pairs(geoms, pairs, joints, thread_jobs.find_pairs(world.model, None, world.settings))

    def told(k: int) -> tuple:
        known = bool(pairs.search[k] == KNOWN)
        return pairs.geoms[k].tolist(), known, pairs.event[k], pairs.speed[k], pairs.hits[k], pairs.rests[k]

    assert [told(k) for k in range(pairs.count[0])] == [
        ([0, 1], False, np.inf, 0.0, 0, 0), ([1, 2], True, 0.25, 3.0, 2, 1), ([2, 3], True, 0.5, 7.0, 1, 0)
    ]  # fmt: skip


def wander(patch: pytest.MonkeyPatch) -> tuple[int, int, int, int, int]:
    """Sixty boxes of different sizes wander, some are away for a time: how often a list differs from that of a search over all
    boxes, how often all were searched, how often single boxes were compared; and near and met pairs at the end."""
    world, random, n = World(gravity=(0, 0, 0), dt=0.01), np.random.default_rng(5), 60
    for k in range(n):
        moves = dict(velocity=random.normal(size=3)) if k % 7 else dict(kind="static")
        world.add(Sphere(0.1), position=(k, 0, 0), **moves)
    model = with_pairs(world.model, 400)
    geoms, pairs, bodies = model.geoms, model.pairs, model.bodies
    bodies.p0[:] = bodies.p
    size, x, v = random.uniform(0.1, 0.5, (n, 1)), random.uniform(-1.5, 1.5, (n, 3)), random.normal(size=(n, 3))
    calls = {"_search_near": 0, "compare_leavers": 0}

    def counted(name: str) -> None:
        plain = getattr(thread_jobs, name)

        def call(*given):
            calls[name] += 1
            return plain(*given)

        patch.setattr(thread_jobs, name, call)

    for name in calls:
        counted(name)
    wrong, every = 0, np.empty((400, 2), np.int64)
    for step in range(80):
        quick = (random.random((n, 1)) < (1.0 if step % 40 == 0 else 0.1)) & (np.arange(n)[:, None] % 7 != 0)
        x += quick * v * 0.05
        geoms.lo[:], geoms.hi[:] = x - size, x + size
        away = random.random(n) < 0.02
        geoms.lo[away], geoms.hi[away] = np.inf, -np.inf
        found = thread_jobs.find_pairs(model, None, world.settings)
        count = find_box_pairs(geoms.lo, geoms.hi, geoms.body, geoms.mobile, every)
        assert 20 < count <= 400
        wrong += found != count or bool((pairs.met[:found] != every[:count]).any())
    geoms.wide_lo[:], geoms.wide_hi[:] = geoms.lo - 2.0, geoms.hi + 2.0  # as if all had been fast, and had come to rest
    pairs.count[2] = 1 + find_box_pairs(geoms.wide_lo, geoms.wide_hi, geoms.body, geoms.mobile, pairs.near)
    for _ in range(2):
        found = thread_jobs.find_pairs(model, None, world.settings)
    return wrong, calls["_search_near"], calls["compare_leavers"], int(pairs.count[2]) - 1, int(found)


@pytest.fixture(scope="module")
def as_it_is() -> tuple[int, int, int, int, int]:
    with pytest.MonkeyPatch.context() as patch:
        return wander(patch)


def test_pairs_are_those_of_a_search_over_all_boxes(as_it_is):
    wrong, searches, comparisons, _, _ = as_it_is
    assert wrong == 0
    assert searches < 20
    assert comparisons > 50


def test_boxes_that_leave_their_wide_ones_are_missed_where_nobody_looks(monkeypatch):
    once_it_has_one = lambda bodies, geoms, k, dt: geoms.wide_lo[k, 0] < geoms.wide_hi[k, 0]  # noqa: E731
    monkeypatch.setattr(wide_boxes, "_fits", once_it_has_one)
    wrong, *_ = wander(monkeypatch)
    assert wrong > 50


def test_boxes_that_rattle_in_their_wide_ones_get_others(as_it_is, monkeypatch):
    """Else each near pair of a heap that has landed is gone through in each step, for ever."""
    *_, near, met = as_it_is
    monkeypatch.setattr(wide_boxes, "NARROWER", 0.0)
    *_, kept, _ = wander(monkeypatch)
    assert met <= near <= 2 * met
    assert kept > 2 * met
