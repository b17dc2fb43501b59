"""The table of candidate pairs when it is made anew inside a step."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]

# Four balls in a row: 1 and 2 are a pair, and 2 and 3; then the box of 0 grows, and 0 and 1 come in before both.
SCRIPT = """
from tumble.collision import Sphere
from tumble.sim import World
from tumble.sim.contact.touching.pair_list import renew_pairs
from tumble.sim.impact.thread_jobs import find_pairs
from tumble.sim.state import KNOWN

world = World(gravity=(0, 0, 0))
for k in range(4):
    world.add(Sphere(0.1), position=(0.5 * k, 0, 0))
geoms, pairs, joints = world.model.geoms, world.model.pairs, world.model.joints
geoms.lo[:, 1:], geoms.hi[:, 1:] = -0.1, 0.1
geoms.lo[:, 0], geoms.hi[:, 0] = (0, 2, 3, 4.5), (1, 3.5, 5, 6)
renew_pairs(geoms, pairs, joints, find_pairs(world.model, None, world.settings))
print(pairs.geoms[: pairs.count[0]].tolist())
for k, known in enumerate([(0.25, 3.0, 2, 1), (0.5, 7.0, 1, 0)]):
    pairs.search[k] = KNOWN
    pairs.event[k], pairs.speed[k], pairs.hits[k], pairs.rests[k] = known
geoms.hi[0, 0] = 2.5
renew_pairs(geoms, pairs, joints, find_pairs(world.model, None, world.settings))
for k in range(pairs.count[0]):
    known = "known" if pairs.search[k] == KNOWN else "wanted"
    print(pairs.geoms[k].tolist(), known, pairs.event[k], pairs.speed[k], pairs.hits[k], pairs.rests[k])
"""


def test_what_is_known_of_a_pair_stays_with_it():
    """A pair that comes in before others moves their rows: their events, speeds and impacts go along.

    Which of two impacts of the same instant comes first, and which act together, is told by the speeds.
    """
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "[[1, 2], [2, 3]]", "[0, 1] wanted inf 0.0 0 0", "[1, 2] known 0.25 3.0 2 1", "[2, 3] known 0.5 7.0 1 0"
    ]  # fmt: skip


# Sixty boxes of different sizes wander, some are away for a time. Prints how often a list differs from that
# of a search over all boxes, how often all were searched, and how often single boxes were compared.
WANDER = """
import sys
import numpy as np
from tumble.collision import Sphere
from tumble.collision.broadphase.candidate_pairs import find_box_pairs as search
from tumble.sim import World
from tumble.sim.contact.touching import wide_boxes
from tumble.sim.impact import thread_jobs
from tumble.sim.scene.arrays import with_pairs

world, random, n = World(gravity=(0, 0, 0), dt=0.01), np.random.default_rng(5), 60
for k in range(n):
    moves = dict(velocity=random.normal(size=3)) if k % 7 else dict(kind="static")
    world.add(Sphere(0.1), position=(k, 0, 0), **moves)
model = with_pairs(world.model, 400)
geoms, pairs, bodies = model.geoms, model.pairs, model.bodies
bodies.p0[:] = bodies.p
size, x, v = random.uniform(0.1, 0.5, (n, 1)), random.uniform(-1.5, 1.5, (n, 3)), random.normal(size=(n, 3))
if sys.argv[1] == "spoilt":
    wide_boxes._fits = lambda bodies, geoms, k, dt: geoms.wide_lo[k, 0] < geoms.wide_hi[k, 0]  # once it has one
if sys.argv[1] == "kept":
    wide_boxes.NARROWER = 0.0
calls = {"_search_near": 0, "compare_leavers": 0}
def counted(name):
    plain = getattr(thread_jobs, name)
    def call(*args):
        calls[name] += 1
        return plain(*args)
    setattr(thread_jobs, name, call)
for name in calls:
    counted(name)
wrong, all = 0, np.empty((400, 2), np.int64)
for step in range(120):
    quick = (random.random((n, 1)) < (1.0 if step % 40 == 0 else 0.1)) & (np.arange(n)[:, None] % 7 != 0)
    x += quick * v * 0.05
    geoms.lo[:], geoms.hi[:] = x - size, x + size
    away = random.random(n) < 0.02
    geoms.lo[away], geoms.hi[away] = np.inf, -np.inf
    found = thread_jobs.find_pairs(model, None, world.settings)
    count = search(geoms.lo, geoms.hi, geoms.body, geoms.mobile, all)
    assert 20 < count <= 400
    wrong += found != count or (pairs.met[:found] != all[:count]).any()
geoms.wide_lo[:], geoms.wide_hi[:] = geoms.lo - 2.0, geoms.hi + 2.0  # as if all had been fast, and had come to rest
pairs.count[2] = 1 + search(geoms.wide_lo, geoms.wide_hi, geoms.body, geoms.mobile, pairs.near)
for _ in range(2):
    found = thread_jobs.find_pairs(model, None, world.settings)
print(wrong, calls["_search_near"], calls["compare_leavers"], pairs.count[2] - 1, found)
"""


def wander(how):
    done = subprocess.run(
        [sys.executable, "-c", WANDER, how], cwd=ROOT, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return map(int, done.stdout.split())


def test_pairs_are_those_of_a_search_over_all_boxes():
    wrong, searches, comparisons, _, _ = wander("as it is")
    assert wrong == 0
    assert searches < 20
    assert comparisons > 50


def test_boxes_that_leave_their_wide_ones_are_missed_where_nobody_looks():
    wrong, *_ = wander("spoilt")
    assert wrong > 50


def test_boxes_that_rattle_in_their_wide_ones_get_others():
    """Else each near pair of a heap that has landed is gone through in each step, for ever."""
    _, _, _, near, met = wander("as it is")
    *_, kept, _ = wander("kept")
    assert met <= near <= 2 * met
    assert kept > 2 * met
