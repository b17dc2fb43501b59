"""The next impacts of a drift in the order of their times, and the pairs that each body is in.

An impact changes the ways of a few bodies, so only their pairs are looked at. Each pair plays with the time of its next impact
in a tournament: a tree in which every node has the earlier of the two times below it. The earliest of all stands at the top, and
a time that changes is played again on the way up, in log2 of their number.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tumble.collision.kernels.group import owning_group
from tumble.collision.kernels.jit import inner, lean
from tumble.sim.state import DYNAMIC, POINTS, ROWS

TIE = 1e-9  # instants that differ by less than this part of a step are the same


@owning_group
class Drift(NamedTuple):
    """What the impacts of one drift share: n bodies, room for c pairs."""

    touched: np.ndarray  # (n,) bool: its flight changes at the instant in hand
    late: np.ndarray  # (n,) bool: it was so in this drift, and its boxes may not hold what the kick wants
    effort: np.ndarray  # (n,) bodies that were kicked again with it in this step
    first: np.ndarray  # (n + 2,) int64 where its pairs begin in ``of``; none for what impulses do not move
    of: np.ndarray  # (2 c,) int64 the pairs of each body, in ascending order
    earliest: np.ndarray  # (2 c,) times: node k has the earlier one of nodes 2 k and 2 k + 1, pair k stands behind the nodes
    chosen: np.ndarray  # (c,) int64 pairs in hand
    marked: np.ndarray  # (c,) bool: they are in hand
    stops: np.ndarray  # (j,) when the free coordinate of each joint comes to a stop; inf: it does not (stop_events.py)
    met: np.ndarray  # (j,) when it came to one last; -inf: not in this drift
    rows: np.ndarray  # (POINTS, ROWS) room for a manifold
    ids: np.ndarray  # (POINTS,) int64


@inner
def new_drift(bodies, pairs, joints):
    """Room for what the impacts of a drift share, with nothing in hand."""
    n, c = len(bodies.kind), len(pairs.event)
    return Drift(
        np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_), np.zeros(n), np.empty(n + 2, dtype=np.int64),
        np.empty(2 * c, dtype=np.int64), np.empty(2 * c), np.empty(c, dtype=np.int64), np.zeros(c, dtype=np.bool_),
        np.empty(len(joints.kind)), np.full(len(joints.kind), -math.inf),
        np.empty((POINTS, ROWS)), np.empty(POINTS, dtype=np.int64),
    )  # fmt: skip


@lean
def put_in_order(bodies, geoms, pairs, drift):
    """List the pairs of each body, and play the tournament of their next impacts."""
    first, of, count = drift.first, drift.of, pairs.count[0]
    first[:] = 0
    for k in range(count):
        for side in range(2):
            i = geoms.body[pairs.geoms[k, side]]
            if bodies.kind[i] == DYNAMIC:
                first[i + 2] += 1
    for i in range(2, len(first)):
        first[i] += first[i - 1]
    for k in range(count):
        for side in range(2):
            i = geoms.body[pairs.geoms[k, side]]
            if bodies.kind[i] == DYNAMIC:
                of[first[i + 1]] = k
                first[i + 1] += 1
    for k in range(count):
        drift.earliest[count + k] = pairs.event[k]
    for k in range(count - 1, 0, -1):
        drift.earliest[k] = min(drift.earliest[2 * k], drift.earliest[2 * k + 1])


@lean
def play_again(pairs, drift, k):
    """Play the tournament again for pair k, whose next impact is at another time now."""
    earliest, node = drift.earliest, pairs.count[0] + k
    earliest[node] = pairs.event[k]
    while node > 1:
        node //= 2
        earliest[node] = min(earliest[2 * node], earliest[2 * node + 1])


@lean
def first_event(pairs, drift, dt):
    """The pair with the earliest impact, the fastest among those of the same instant; -1: none."""
    earliest, count = drift.earliest, pairs.count[0]
    if count == 0 or earliest[1] == math.inf:
        return -1
    limit, best, node = earliest[1] + TIE * dt, -1, 1
    while node > 0:  # through all of the tree that is not later
        if earliest[node] <= limit:
            if node < count:
                node *= 2
                continue
            k = node - count
            if best < 0 or pairs.speed[k] > pairs.speed[best] or (pairs.speed[k] == pairs.speed[best] and k < best):
                best = k
        while node % 2 == 1:
            node //= 2
        node += node > 0
    return best


@lean
def choose(drift, many, k):
    """Take pair k in hand, unless it is; how many are in hand now."""
    if drift.marked[k]:
        return many
    drift.marked[k], drift.chosen[many] = True, k
    return many + 1


@lean
def let_go(drift, many):
    """Nothing is in hand any more."""
    for m in range(many):
        drift.marked[drift.chosen[m]] = False


_NO, _WHOLE, _REAL = np.zeros(0, np.bool_), np.zeros(0, np.int64), np.zeros(0)
NO_DRIFT = Drift(
    _NO, _NO, _REAL, _WHOLE, _WHOLE, _REAL, _WHOLE, _NO, _REAL, _REAL, np.zeros((POINTS, ROWS)), np.zeros(POINTS, np.int64)
)
