"""Kicks have numbers, so that what an impact meets inside a step can be traced back to the kick that gave it.

The kicks at the end of a step count from one, those inside a drift from MID_STEP. Bodies know the number of their last kick, the
time it was given and the flight it was for; rows of contacts that bore load know theirs.
"""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import load3, load9, mul, mul_t, store3, store9
from tumble.sim.ledger.work import INSIDE_DRIFT
from tumble.sim.state import DYNAMIC

# Contact points of the largest island that is kicked for each impact and looks ahead: in larger ones it costs too much.
LARGEST_ISLAND = 32
SMALL_ISLAND = 6  # bodies of the largest island whose arrivals are located twice as often
MID_STEP = 1 << 32  # numbers of kicks inside the drift are above it
OVER = 1e-9  # part of a step within which the end of a flight is its end


@lean
def effort_of(size):
    """What a kick of so many bodies inside a step counts of what a step may spend on such kicks (Settings.crowd)."""
    return size if size > SMALL_ISLAND else 0.5 * size


@lean
def last_flight(bodies, members, t, dt):
    """Length of the flight before a kick of these bodies at time t as their phase has it: the kick gives half of what a steady
    force gives in that time, and half of what it gives in the next flight [s].

    It is 0 where bodies come without a phase: flying freely, or because it was taken back.
    """
    length = 0.0
    for i in members:
        if bodies.flown[i] > 0.0 and t <= bodies.kicked[i] + bodies.flown[i] + OVER * dt:
            length = max(length, 2.0 * (t - bodies.kicked[i]) - bodies.flown[i])
    return length


@lean
def number_kick(bodies, contacts, table, rows, members, mode):
    """Number a kick, so that its phase can be taken back: rows of a kick inside the drift go behind those of the last step."""
    number = contacts.count[2] + 1
    loaded = 0
    for row in rows:
        loaded += _gave(table, row)
    if mode == INSIDE_DRIFT and contacts.count[1] + loaded > len(contacts.gap):
        number = 0
    else:
        contacts.count[2] = number
    for i in members:
        bodies.held[i] = number
    for row in rows:
        if number > 0 and _gave(table, row):
            table.kick[row] = number
            if mode == INSIDE_DRIFT:
                copy_load(table, row, contacts, contacts.count[1])
                contacts.count[1] += 1


@lean
def _gave(table, row):
    """The kick gave something at this row, or would have without its phase."""
    return table.impulse[row, 2] > 0.0 or table.owed[row, 2] != 0.0


@lean
def copy_load(table, row, contacts, k):
    """Row k of ``contacts`` is a row of ``table``, in what concerns its load."""
    for side in range(2):
        contacts.pair[k, side], contacts.body[k, side] = table.pair[row, side], table.body[row, side]
    contacts.id[k], contacts.kick[k], contacts.slides[k] = table.id[row], table.kick[row], table.slides[row]
    contacts.gap[k], contacts.arrives[k], contacts.push[k] = table.gap[row], table.arrives[row], table.push[row]
    store3(contacts.owed, k, load3(table.owed, row))
    store3(contacts.creeps, k, load3(table.creeps, row))
    store3(contacts.point, k, load3(table.point, row))
    store3(contacts.impulse, k, load3(table.impulse, row))
    store3(contacts.moment, k, load3(table.moment, row))
    store9(contacts.frame, k, load9(table.frame, row))


@lean
def _number(bodies, contacts, k, t, dt):
    """Number of the kick whose flight ends at time t for both bodies of a row; 0: none."""
    i, j = contacts.body[k, 0], contacts.body[k, 1]
    one = i if bodies.kind[i] == DYNAMIC else j
    two = j if bodies.kind[j] == DYNAMIC else i
    ends = bodies.held[one] == bodies.held[two] and t >= bodies.kicked[one] + bodies.flown[one] - OVER * dt
    return bodies.held[one] if ends else 0


@lean
def recall_loads(bodies, contacts, table, t, dt):
    """Loads of the last kick inside this drift to the rows of a new table that had one."""
    first, last = contacts.count[0], contacts.count[1]
    for k in range(table.count[0]):
        number = _number(bodies, table, k, t, dt)
        if 0 < number < MID_STEP:
            continue
        table.arrives[k] = math.nan
        if math.isfinite(table.creeps[k, 0]):  # it was kicked, or its phase taken back, before it came: so it comes as it should
            u, e = load3(table.u, k), load9(table.frame, k)
            store3(table.creeps, k, mul_t(e, (u[0], u[1], 0.0)))
        for m in range(first, last):
            same = contacts.pair[m, 0] == table.pair[k, 0] and contacts.pair[m, 1] == table.pair[k, 1]
            if same and contacts.kick[m] == number and contacts.id[m] == table.id[k]:
                old, new = load9(contacts.frame, m), load9(table.frame, k)
                store3(table.impulse, k, mul(new, mul_t(old, load3(contacts.impulse, m))))
                table.arrives[k], table.slides[k] = contacts.arrives[m], contacts.slides[m]
                store3(table.creeps, k, load3(contacts.creeps, m))


@lean
def keep_latest(bodies, contacts, dt):
    """At the end of a drift: the rows of the last step have the loads of the last kick of their bodies, if that came later."""
    first, last = contacts.count[0], contacts.count[1]
    for k in range(first):
        number = _number(bodies, contacts, k, dt, dt)
        if 0 < number < MID_STEP:
            continue
        contacts.arrives[k] = math.nan
        for m in range(first, last):
            same = contacts.pair[m, 0] == contacts.pair[k, 0] and contacts.pair[m, 1] == contacts.pair[k, 1]
            if same and contacts.kick[m] == number and contacts.id[m] == contacts.id[k]:
                copy_load(contacts, m, contacts, k)


@lean
def can_be_taken(bodies, contacts, joints, number):
    """The phase of this kick can and should be taken back: jointed bodies are kicked again after each impact, joints and all."""
    if number == 0:
        return False
    size = 0
    for k in range(contacts.count[1]):
        size += bears(bodies, contacts, k, number)
    free = 0 < size <= LARGEST_ISLAND
    for i in range(len(bodies.held)):
        free = free and not (bodies.held[i] == number and joints.linked[i] >= 0)
    return free


@lean
def bears(bodies, contacts, k, number):
    """Row k was part of this kick, and its bodies have not been kicked since."""
    loaded = contacts.kick[k] == number
    for side in range(2):
        i = contacts.body[k, side]
        loaded = loaded and (bodies.kind[i] != DYNAMIC or bodies.held[i] == number)
    return loaded
