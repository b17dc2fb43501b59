"""Boxes somewhat wider than those of the coming drift: while each box stays within its wide one, no tree of boxes is built.

Which wide boxes meet is known; pairs whose boxes meet are among them. A box that leaves its wide one, or that has become so small
that it rattles in it, gets a new one, and is compared with all. Before a search over all, each gets a new one: else some would
leave theirs in every step. The pairs that come out are those that such a search would find, in the same order.
"""

from __future__ import annotations

import numpy as np

from tumble.collision.broadphase.candidate_pairs import append_pair, boxes_meet, sort_pairs
from tumble.collision.kernels.jit import inner, lean
from tumble.collision.kernels.shared import add
from tumble.collision.linalg import load3, scale, store3
from tumble.sim.contact.touching.swept_pairs import swept, swept_way

# What a box is swept by in a step, times this, is what it gets wider by: twice that is a body's way in four steps. Searching
# half as often for a longer list gains no more (benchmarks/broadphase.py has the cost of a search).
WIDER = 2.0
NARROWER = 0.5  # a wide box is made anew where the new one measures less than this part of it
NEAR_PAIRS = 2  # column of Pairs.count


@lean
def forget_near_pairs(pairs):
    """No near pairs are known: all boxes are to be searched anew."""
    pairs.count[NEAR_PAIRS] = 0


@lean
def leavers(bodies, geoms, dt, first, stop, left, counter):
    """Of the boxes [first, stop) those that left their wide ones, or rattle in them, get new ones, and are listed in ``left``, as
    far as it has room; ``counter``: where it stands how many they are.

    Several threads may list boxes at once. In which order does not matter: the pairs that they meet in are sorted."""
    for k in range(first, stop):
        if _fits(bodies, geoms, k, dt):
            continue
        widen_some(bodies, geoms, dt, k, k + 1)
        count = add(counter, 1)
        if count < len(left):
            left[count] = k


@lean
def widen_some(bodies, geoms, dt, first, stop):
    """New wide boxes for the boxes [first, stop). An empty box stays empty."""
    for k in range(first, stop):
        lo, hi = _wide_box(bodies, geoms, k, dt)
        store3(geoms.wide_lo, k, lo)
        store3(geoms.wide_hi, k, hi)


@lean
def _fits(bodies, geoms, k, dt):
    """Box k lies in its wide box, and a new one would not be much smaller. An empty box lies anywhere."""
    if geoms.lo[k, 0] > geoms.hi[k, 0]:
        return True
    inside = True
    for c in range(3):
        inside = inside and geoms.wide_lo[k, c] <= geoms.lo[k, c] and geoms.hi[k, c] <= geoms.wide_hi[k, c]
    if not inside:
        return False
    most = NARROWER * _extent(load3(geoms.wide_lo, k), load3(geoms.wide_hi, k))
    if not _extent(load3(geoms.lo, k), load3(geoms.hi, k)) < most:
        return True
    lo, hi = _wide_box(bodies, geoms, k, dt)
    return not _extent(lo, hi) < most


@lean
def _extent(lo, hi):
    return (hi[0] - lo[0]) + (hi[1] - lo[1]) + (hi[2] - lo[2])


@lean
def _wide_box(bodies, geoms, k, dt):
    fat, way = swept_way(bodies, geoms.body[k], dt, dt)
    return swept(load3(geoms.lo, k), load3(geoms.hi, k), WIDER * fat, scale(WIDER, way))


@inner
def forget_leavers(geoms, pairs, left):
    """Take the pairs of the boxes in ``left`` from the near ones: (n,) 1 for these boxes, and (1,) how many pairs are left."""
    near, count, away, left_over = pairs.near, 0, np.zeros(len(geoms.body), np.int64), np.empty(1, np.int64)
    for k in left:
        away[k] = 1
    for m in range(pairs.count[NEAR_PAIRS] - 1):
        if not (away[near[m, 0]] or away[near[m, 1]]):
            near[count, 0], near[count, 1] = near[m, 0], near[m, 1]
            count += 1
    left_over[0] = count
    return away, left_over


@lean
def compare_leavers(geoms, pairs, left, away, first, stop, counter):
    """Put the pairs of the boxes [first, stop) with those in ``left`` behind the near ones, as far as there is room; ``counter``:
    where it stands how many these are."""
    for m in range(first, stop):
        for k in left:
            if boxes_meet(geoms.wide_lo, geoms.wide_hi, k, m):
                told = m < k or away[m] == 0  # of two that left only one tells
                if told and m != k and geoms.body[m] != geoms.body[k] and (geoms.mobile[m] or geoms.mobile[k]):
                    append_pair(pairs.near, counter, k, m)


@inner
def take_near(geoms, pairs, count):
    """The near pairs are so many of those that were put there; sorted, if they had room."""
    if count <= len(pairs.near):
        sort_pairs(pairs.near, count, len(geoms.body))
    pairs.count[NEAR_PAIRS] = count + 1


@lean
def pick_meeting(geoms, pairs):
    """Put those of the near pairs whose boxes meet into pairs.met; how many: more than there is room for, if that is so of one of
    the two lists."""
    if pairs.count[NEAR_PAIRS] - 1 > len(pairs.near):
        forget_near_pairs(pairs)
        return len(pairs.met) + 1
    found = 0
    for n in range(pairs.count[NEAR_PAIRS] - 1):
        i, j = pairs.near[n, 0], pairs.near[n, 1]
        if boxes_meet(geoms.lo, geoms.hi, i, j):
            if found < len(pairs.met):
                pairs.met[found, 0], pairs.met[found, 1] = i, j
            found += 1
    return found
