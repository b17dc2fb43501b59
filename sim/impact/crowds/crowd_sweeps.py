"""Sweeps over islands of a crowd, whose blocks threads share (crowd_blocks.py; solvers/lanes.py has a sweep of one block).

The work follows what is missed: after the first sweep only the contacts of bodies that the last one moved are looked at.
"""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import inner
from tumble.collision.kernels.shared import address_of, put
from tumble.sim.impact.crowds.crowd_blocks import sweep_block
from tumble.sim.impact.thread_jobs import SWEEPS, TOPIC, share
from tumble.sim.solvers.lanes import SEEN, largest_of

ANY = 1 << 60  # sweeps or groups: as many as it takes
LOCAL_FROM = 0.2  # a contact takes part in local sweeps if it misses its law by this part of the largest miss
SPARSE = 4  # so many times the groups that a sweep looks at are fewer than all: it lists those that the next one is for
WORTH = 64  # groups that the last sweep looked at, from which the next one is worth the call for help


@inner
def _sweep(model, geometry, settings, crowd, blocks, first, last, least, all, expected):
    """A sweep over the stages ``first`` to ``last``, and over what was grouped behind all where these are the last: of ``all``
    contacts, or of those of bodies that are awake, some ``expected`` groups. (The largest velocity
    that was missed [m/s], groups that were looked at.)"""
    groups, told, worst, seen = crowd.groups, blocks.told, 0.0, 0
    groups.count[1] += 1
    asked = len(told) - 1
    told[asked, 0], told[asked, 1], told[asked, 2] = least, 1.0 if all else 0.0, told[asked, 3]
    told[asked, 3] = 1.0 if not all and SPARSE * expected < groups.count[0] else 0.0
    for s in range(first, last):
        one, end = blocks.stage[s], blocks.stage[s + 1]
        if settings.crew == 0 or end - one == 1 or expected < WORTH:
            for k in range(one, end):
                sweep_block(crowd, blocks, k)
        else:
            put(settings.crew + TOPIC, address_of(crowd))
            put(settings.crew + TOPIC + 8, address_of(blocks))
            put(settings.crew + TOPIC + 16, one)
            share(model, geometry, settings, SWEEPS, end - one)
        for k in range(one, end):
            worst, seen = max(worst, largest_of(told, k)), seen + int(told[k, SEEN])
    if last == len(blocks.stage) - 1:
        sweep_block(crowd, blocks, len(blocks.group) - 1)
        worst, seen = max(worst, largest_of(told, asked - 1)), seen + int(told[asked - 1, SEEN])
    return worst, seen


@inner
def relax(model, geometry, settings, crowd, blocks, first, last, least, most, room, all):
    """Sweep over the stages ``first`` to ``last`` until no contact misses its law by more than ``least``, or ``most`` times; the
    first sweep is of ``all``, or of bodies that are awake. No sweep begins after ``room`` groups were looked at. (What one missed
    [m/s], sweeps, groups.)"""
    done, seen, worst, some = 0, 0, math.inf, WORTH
    while worst > least and done < most and seen < room:
        worst, some = _sweep(model, geometry, settings, crowd, blocks, first, last, least, all and done == 0, some)
        done, seen = done + 1, seen + some
    return (worst if worst > least else 0.0), done, seen


@inner
def settle(model, geometry, settings, crowd, blocks, first, last, full):
    """Sweeps over the stages ``first`` to ``last``: up to ``full`` of all, then as much work again where most is missed. (What
    one missed [m/s], sweeps of all.)

    The tails of sweeps are often local, as a light body between heavy ones: many sweeps of a dozen contacts cost less than one of
    all. Where they are not, all take part, and what is spent on them ends it as soon as more sweeps of all would have. Those of
    all tell what is missed, but leave light bodies as far off as they tell; so what ends it are those of the few.
    """
    least = settings.tolerance
    worst, done, seen = relax(model, geometry, settings, crowd, blocks, first, last, least, full, ANY, True)
    room = 2 * seen
    while worst > least:
        local = max(least, LOCAL_FROM * worst)
        seen += relax(model, geometry, settings, crowd, blocks, first, last, local, ANY, room - seen, False)[2]
        if seen >= room:
            break
        worst, one, whole = relax(model, geometry, settings, crowd, blocks, first, last, least, 1, ANY, True)
        done, seen = done + one, seen + whole
    return worst, done
