"""The queue of next impacts: it names the pair that a search over all would name, whatever changes."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tumble.collision.kernels.jit import kernel
from tumble.sim.impact.event_queue import TIE, first_event, new_drift, play_again, put_in_order
from tumble.sim.sorted_lists import sort_list
from tumble.sim.state import DYNAMIC, KINEMATIC, bodies_of, geoms_of, joints_of, pairs_of

H = 1 / 240


@kernel
def ready(bodies, geoms, pairs, joints):
    drift = new_drift(bodies, pairs, joints)
    put_in_order(bodies, geoms, pairs, drift)
    return drift.first, drift.of, drift.earliest


@kernel
def earliest(bodies, geoms, pairs, joints, changed, times, speeds, dt, told):
    """The first event after each of some changes; ``told``: the queue is told of them."""
    drift, found = new_drift(bodies, pairs, joints), np.empty(len(changed), np.int64)
    put_in_order(bodies, geoms, pairs, drift)
    for n in range(len(changed)):
        k = changed[n]
        pairs.event[k], pairs.speed[k] = times[n], speeds[n]
        if told:
            play_again(pairs, drift, k)
        found[n] = first_event(pairs, drift, dt)
    return found


@kernel
def in_order(keys):
    sort_list(keys, len(keys))
    return keys


def searched(event: np.ndarray, speed: np.ndarray) -> int:
    """The earliest, the fastest of those that tie with it, the first of those that are equally fast."""
    if len(event) == 0 or event.min() == math.inf:
        return -1
    ties = np.flatnonzero(event <= event.min() + TIE * H)
    return int(ties[np.argmax(speed[ties])])


def table(count: int, seed: int, bodies: int = 9) -> tuple:
    """(Bodies, the last of which are driven; a piece of each; pairs of them with times and speeds of which many are equal)."""
    rng = np.random.default_rng(seed)
    b, g, p = bodies_of(bodies), geoms_of(bodies), pairs_of(count + 3)
    b.kind[:], b.kind[-2:], g.body[:] = DYNAMIC, KINEMATIC, np.arange(bodies)
    p.count[0] = count
    for k in range(count):
        p.geoms[k] = np.sort(rng.choice(bodies, 2, replace=False))
    p.event[:count] = rng.choice([0.1 * H, 0.1 * H * (1 + 1e-12), 0.5 * H, math.inf], count)
    p.speed[:count] = rng.integers(3, size=count)
    return b, g, p


@given(st.integers(0, 40), st.integers(0, 10**6))
def test_the_queue_finds_what_a_search_over_all_finds(count, seed):
    """Told of each change; not told of them it goes on with what it knew."""
    rng, found = np.random.default_rng(seed), []
    changed = rng.integers(max(count, 1), size=30 if count else 0)
    times, speeds = rng.choice([0.05 * H, 0.2 * H, math.inf], len(changed)), rng.integers(3, size=len(changed)).astype(float)
    b, g, p = table(count, seed)
    event, speed = p.event[:count].copy(), p.speed[:count].copy()
    for k, t, v in zip(changed, times, speeds, strict=True):
        event[k], speed[k] = t, v
        found.append(searched(event, speed))
    assert earliest(b, g, p, joints_of(0), changed, times, speeds, H, True).tolist() == found


def test_a_queue_that_is_not_told_goes_on_with_what_it_knew():
    b, g, p = table(20, 1)
    p.event[:20] = 0.5 * H
    assert earliest(b, g, p, joints_of(0), np.array([7]), np.array([0.1 * H]), np.ones(1), H, False)[0] != 7


@given(st.integers(0, 40), st.integers(0, 10**6))
def test_each_body_that_impulses_move_lists_its_pairs(count, seed):
    b, g, p = table(count, seed)
    first, of, _ = ready(b, g, p, joints_of(0))
    for i in range(len(b.kind)):
        mine = np.flatnonzero((p.geoms[:count] == i).any(axis=1)) if b.kind[i] == DYNAMIC else []
        assert of[first[i] : first[i + 1]].tolist() == list(mine)


@given(st.lists(st.integers(-50, 50), max_size=900))
def test_lists_are_sorted(keys):
    assert in_order(np.array(keys, dtype=np.int64)).tolist() == sorted(keys)
