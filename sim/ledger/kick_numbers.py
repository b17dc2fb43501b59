"""Numbers of kicks, by which an impact finds the impulses that it has to take back.

A kick replaces the steady force of a contact: it gives half of what that force gives in the flight before it, and, in advance,
half of what it gives in the flight after it. An impact may end the flight after it early. Then what was given in advance for the
rest is too much, and is taken back (contact/half_kick.py). To do so a program must know which kick each body had last, and which
contacts bore load in that kick. Therefore every kick has a number, and those who took part in it keep the number:

- Kicks at the end of a step count from 1, kicks inside a drift from MID_STEP on, so that a number tells which of the two it is.
  0 stands for a kick of which nothing can be taken back.
- A body keeps the number of its last kick in ``held``, the time of it in ``kicked``, and in ``flown`` the length of the flight
  for which that kick gave something in advance (0: none).
- A contact that bore load keeps the number of that kick in ``kick``; BOUNCED, where its phase was taken back and the place of its
  bodies is to follow. The first ``count[0]`` contacts are those of the last step;
  loads of kicks inside the drift are copied behind them, up to ``count[1]``. ``count[2]`` is the number that was given last.
"""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import ZERO, load3, load9, mul, mul_t, store3, store9
from tumble.sim.ledger.work import INSIDE_DRIFT
from tumble.sim.sorted_lists import is_pair, pair_before
from tumble.sim.state import DYNAMIC

# An island that bears load at more contact points than this is not kicked again after each impact: it would cost too much.
LARGEST_ISLAND = 32
SMALL_ISLAND = 6  # the kicks of an island with at most so many bodies cost half as much of what a step may spend
BOUNCED = -1  # in place of the number of a kick
MID_STEP = 1 << 32  # kicks inside a drift have larger numbers than this
OVER = 1e-9  # two instants that differ by less than this part of a step count as one


@lean
def effort_of(size):
    """What a kick of ``size`` bodies inside a step costs. A step may spend as much as Settings.crowd on such kicks."""
    return size if size > SMALL_ISLAND else 0.5 * size


@lean
def last_flight(bodies, members, t, dt):
    """For how long before time t [s] a kick of these bodies gives the force of their contacts: the length of the last flight [s].

    If the flight ends when it was meant to, at kicked + flown, this is all of it. If it ends earlier, the last kick gave half of
    the whole flight's force in advance, which is too much by half of the part that is not flown; the length is shorter by that
    part once more. It is 0 where the bodies owe nothing for the flight: no contact acted in it, or what the last kick had given
    in advance was taken back. Of several bodies the longest counts.
    """
    length = 0.0
    for i in members:
        if bodies.flown[i] > 0.0 and t <= bodies.kicked[i] + bodies.flown[i] + OVER * dt:
            length = max(length, 2.0 * (t - bodies.kicked[i]) - bodies.flown[i])
    return length


@lean
def in_flight(bodies, i, t, dt):
    """Whether body i is at time t still in the flight for which a kick gave something in advance, that nothing took back."""
    return bodies.flown[i] > 0.0 and t < bodies.kicked[i] + bodies.flown[i] - OVER * dt


@lean
def number_kick(bodies, contacts, table, rows, members, mode, t, h, dt):
    """Give a kick at time t, for a flight of length h, its number, and write it to its bodies and to the contacts that bore load.

    What is still in the flight of an earlier kick that is not taken back stays in it: its contacts stand open, so this one gave
    them nothing.
    The table of a kick inside a drift is used again by the next one, so its loads are copied behind the contacts of the last
    step, over those of kicks that no body holds any more. Where there is no room all the same the number is 0: nothing of such a
    kick can be taken back.
    """
    number, loaded = contacts.count[2] + 1, 0
    for row in rows:
        loaded += _gave(table, row)
    if mode == INSIDE_DRIFT and contacts.count[1] + loaded > len(contacts.gap):
        _forget_old(bodies, contacts)
    if mode == INSIDE_DRIFT and contacts.count[1] + loaded > len(contacts.gap):
        number = 0
    old, stays = 0, False
    for i in members:
        if bodies.held[i] != old:
            old = bodies.held[i]
            stays = mode == INSIDE_DRIFT and bearing(bodies, contacts, old) > LARGEST_ISLAND
        if not (stays and in_flight(bodies, i, t, dt)):
            bodies.held[i], bodies.kicked[i], bodies.flown[i] = number, t, h
    if number == 0:
        return
    contacts.count[2] = number
    for row in rows:
        if _gave(table, row):
            table.kick[row] = number
            if mode == INSIDE_DRIFT:
                copy_load(table, row, contacts, contacts.count[1])
                contacts.count[1] += 1


@lean
def _forget_old(bodies, contacts):
    """Of the loads of kicks inside the drift keep those of the last one of their bodies."""
    kept = contacts.count[0]
    for k in range(contacts.count[0], contacts.count[1]):
        if bears(bodies, contacts, k, contacts.kick[k]):
            if kept < k:
                copy_load(contacts, k, contacts, kept)
            kept += 1
    contacts.count[1] = kept


@lean
def _gave(table, row):
    """Whether a contact bore load: the kick pushed, or gave something for the coming flight."""
    return table.impulse[row, 2] > 0.0 or table.owed[row, 2] != 0.0


@lean
def copy_load(table, row, contacts, k):
    """Copy what concerns the load of a contact from a row of ``table`` to row k of ``contacts``."""
    for side in range(2):
        contacts.pair[k, side], contacts.body[k, side] = table.pair[row, side], table.body[row, side]
        contacts.turns[k, side] = table.turns[row, side]
    contacts.id[k], contacts.kick[k], contacts.slides[k] = table.id[row], table.kick[row], table.slides[row]
    contacts.gap[k], contacts.arrives[k], contacts.push[k] = table.gap[row], table.arrives[row], table.push[row]
    contacts.phase[k], contacts.lent[k] = table.phase[row], table.lent[row]
    store3(contacts.owed, k, load3(table.owed, row))
    store3(contacts.creeps, k, load3(table.creeps, row))
    store3(contacts.point, k, load3(table.point, row))
    store3(contacts.impulse, k, load3(table.impulse, row))
    store3(contacts.moment, k, load3(table.moment, row))
    store9(contacts.frame, k, load9(table.frame, row))


@lean
def _number(bodies, contacts, k, t, dt):
    """Number of the kick that both bodies of a contact had last; 0 if they had different ones, or if at time t they are still in
    the flight that the kick was for, so that it is no load of the flight before."""
    i, j = contacts.body[k, 0], contacts.body[k, 1]
    one = i if bodies.kind[i] == DYNAMIC else j
    two = j if bodies.kind[j] == DYNAMIC else i
    ends = bodies.held[one] == bodies.held[two] and t >= bodies.kicked[one] + bodies.flown[one] - OVER * dt
    return bodies.held[one] if ends else 0


@lean
def recall_loads(bodies, contacts, table, t, dt):
    """Give the contacts of a new table the loads that they bore in the last kick inside this drift.

    The table was made from the contacts of the last step. If the bodies of a contact were kicked since then, what it knows is out
    of date, and it takes what the contact of the same pair and the same feature (``id``) bore in that kick. If there was none, it
    starts without a load.
    """
    first, last = contacts.count[0], contacts.count[1]
    for k in range(table.count[0]):
        number = _number(bodies, table, k, t, dt)
        if 0 < number < MID_STEP:
            continue
        table.arrives[k] = math.nan
        crept = load3(table.creeps, k)
        if number > 0:  # what did not bear in that kick slips by itself
            store3(table.creeps, k, (math.nan, math.nan, math.nan))
        elif math.isfinite(crept[0]) and crept != ZERO:
            # It stuck, and its bodies were kicked since then: the slip it has now is what it brings. Not so where that was none,
            # or was taken back (impact/half_kick_removal.py): then what slips now was struck.
            u, e = load3(table.u, k), load9(table.frame, k)
            store3(table.creeps, k, mul_t(e, (u[0], u[1], 0.0)))
        for m in range(first, last):
            if contacts.kick[m] == number and _is_same(contacts, m, table, k):
                old, new = load9(contacts.frame, m), load9(table.frame, k)
                store3(table.impulse, k, mul(new, mul_t(old, load3(contacts.impulse, m))))
                table.arrives[k], table.slides[k] = contacts.arrives[m], contacts.slides[m]
                table.phase[k], table.lent[k] = contacts.phase[m], contacts.lent[m]
                store3(table.creeps, k, load3(contacts.creeps, m))


@lean
def keep_latest(bodies, contacts, dt):
    """At the end of a drift, contacts of the last step take the loads of a later kick, where their bodies had one, and those that
    came to bear since then are listed among them: the next kick starts from what was borne last."""
    first, last = contacts.count[0], contacts.count[1]
    for k in range(first):
        if not 0 < _number(bodies, contacts, k, dt, dt) < MID_STEP:
            contacts.arrives[k] = math.nan
    for m in range(first, last):
        number = _number(bodies, contacts, m, dt, dt)
        if number >= MID_STEP and contacts.kick[m] == number:
            listed = False
            for k in range(contacts.count[0]):
                if _is_same(contacts, m, contacts, k):
                    copy_load(contacts, m, contacts, k)
                    listed = True
            if not listed:
                _list(contacts, m)


@lean
def _is_same(contacts, m, table, k):
    """Whether two rows are of the same feature of the same pair."""
    return is_pair(contacts.pair, m, table.pair[k, 0], table.pair[k, 1]) and contacts.id[m] == table.id[k]


@lean
def _list(contacts, m):
    """Put row m, which is behind them, among the contacts of the last step, in the order of pairs."""
    k = contacts.count[0]
    _swap_loads(contacts, m, k)
    while k > 0 and pair_before(contacts.pair, k, contacts.pair[k - 1, 0], contacts.pair[k - 1, 1]):
        _swap_loads(contacts, k - 1, k)
        k -= 1
    contacts.count[0] += 1


@lean
def _swap_loads(contacts, a, b):
    """Exchange what `copy_load` copies between two rows."""
    c = contacts
    for side in range(2):
        c.pair[a, side], c.pair[b, side] = c.pair[b, side], c.pair[a, side]
        c.body[a, side], c.body[b, side] = c.body[b, side], c.body[a, side]
        c.turns[a, side], c.turns[b, side] = c.turns[b, side], c.turns[a, side]
    c.id[a], c.id[b], c.kick[a], c.kick[b] = c.id[b], c.id[a], c.kick[b], c.kick[a]
    c.slides[a], c.slides[b], c.gap[a], c.gap[b] = c.slides[b], c.slides[a], c.gap[b], c.gap[a]
    c.phase[a], c.phase[b], c.lent[a], c.lent[b] = c.phase[b], c.phase[a], c.lent[b], c.lent[a]
    c.arrives[a], c.arrives[b], c.push[a], c.push[b] = c.arrives[b], c.arrives[a], c.push[b], c.push[a]
    for r in range(3):
        c.owed[a, r], c.owed[b, r] = c.owed[b, r], c.owed[a, r]
        c.creeps[a, r], c.creeps[b, r] = c.creeps[b, r], c.creeps[a, r]
        c.point[a, r], c.point[b, r] = c.point[b, r], c.point[a, r]
        c.impulse[a, r], c.impulse[b, r] = c.impulse[b, r], c.impulse[a, r]
        c.moment[a, r], c.moment[b, r] = c.moment[b, r], c.moment[a, r]
        for s in range(3):
            c.frame[a, r, s], c.frame[b, r, s] = c.frame[b, r, s], c.frame[a, r, s]


@lean
def can_be_taken(bodies, contacts, number):
    """Whether what a kick gave for the coming flight is taken back when an impact ends that flight.

    It is where the contacts that bore load in it, and still do, are no more than LARGEST_ISLAND: the bodies have to be kicked
    again after the impact, which would cost too much in large islands.
    """
    return 0 < bearing(bodies, contacts, number) <= LARGEST_ISLAND


@lean
def bearing(bodies, contacts, number):
    """How many contacts bore load in this kick, and still do."""
    size = 0
    for k in range(contacts.count[1] if number > 0 else 0):
        size += bears(bodies, contacts, k, number)
    return size


@lean
def bears(bodies, contacts, k, number):
    """Whether a contact bore load in this kick, and neither of its bodies has been kicked since."""
    loaded = contacts.kick[k] == number
    for side in range(2):
        i = contacts.body[k, side]
        loaded = loaded and (bodies.kind[i] != DYNAMIC or bodies.held[i] == number)
    return loaded
