"""The phase of resting contacts inside a step.

A kick gives, at one instant, what steady forces give over a step: half of it for the time before, half for the time after.
At time t after it a body at rest has too much by the part 1 - 2 t/dt of that half, of which the place of the impact in the step
decides. An impact should not meet that: a block that rocks from one edge to the other would lose more or less of its speed,
by |a| dt/2, by where in the step it lands. So the contacts of its island take that part back before it, which leaves the
velocities of steady forces, and the island is kicked again after it for the rest of the step.
"""

from __future__ import annotations

import math

import numpy as np

from collision.jit import inner, lean
from collision.linalg import add, axpy, cross, dot, load3, load9, mul, mul_t, scale, store3, store9, sub
from sim import ledger
from sim.accounts import AGAIN, book_pair, book_work, to_reservoir
from sim.motion import apply_impulse, point_velocity
from sim.state import DYNAMIC
from sim.surfaces import surface_slip

LARGEST = 32  # contact points: of a larger island the kicks for each impact would cost more than the phase matters


MID_STEP = 1 << 32  # numbers of kicks inside the drift are above it
OVER = 1e-9  # part of a step by which the end of a flight is known


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
def remember(bodies, contacts, table, rows, members, mode, follows):
    """Number a kick, so that its phase can be taken back: rows of a kick inside the drift go behind those of the last step.

    Such a kick has a number only in worlds that follow what turns: what lands stays landed elsewhere.
    """
    number = contacts.count[2] + 1
    loaded = 0
    for row in rows:
        loaded += table.impulse[row, 2] > 0.0
    if mode == AGAIN and (not follows or contacts.count[1] + loaded > len(contacts.gap)):
        number = 0
    else:
        contacts.count[2] = number
    for i in members:
        bodies.held[i] = number
    for row in rows:
        if number > 0 and table.impulse[row, 2] > 0.0:
            table.kick[row] = number
            if mode == AGAIN:
                _copy_row(table, row, contacts, contacts.count[1])
                contacts.count[1] += 1


@lean
def _copy_row(table, row, contacts, k):
    """Row k of ``contacts`` is a row of ``table``, in what concerns its load."""
    for side in range(2):
        contacts.pair[k, side], contacts.body[k, side] = table.pair[row, side], table.body[row, side]
    contacts.id[k], contacts.kick[k], contacts.slides[k] = table.id[row], table.kick[row], table.slides[row]
    contacts.gap[k], contacts.arrives[k], contacts.push[k] = table.gap[row], table.arrives[row], table.push[row]
    contacts.owed[k] = table.owed[row]
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
def recall(bodies, contacts, table, t, dt):
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
                _copy_row(contacts, m, contacts, k)


@lean
def can_be_taken(bodies, contacts, joints, number):
    """The phase of this kick can and should be taken back: jointed bodies are kicked again after each impact, joints and all."""
    if number == 0:
        return False
    size = 0
    for k in range(contacts.count[1]):
        size += _bears(bodies, contacts, k, number)
    free = 0 < size <= LARGEST
    for i in range(len(bodies.held)):
        free = free and not (bodies.held[i] == number and joints.linked[i] >= 0)
    return free


@inner
def take_back(bodies, contacts, books, number, t):
    """Take the phase of a kick at time t out of the velocities of its bodies, which all stand at that time."""
    n = contacts.count[1]
    part = 0.0
    for i in range(len(bodies.held)):
        if bodies.held[i] == number:
            part = 2.0 - 4.0 * (t - bodies.kicked[i]) / bodies.flown[i]
    before, points = np.empty((n, 3)), np.empty((n, 3))
    for k in range(n):
        if _bears(bodies, contacts, k, number):
            point = _moved_on(bodies, contacts, k, t)
            store3(points, k, point)
            store3(before, k, _slip(bodies, contacts, k, point))
    for k in range(n):
        if _bears(bodies, contacts, k, number):
            f = mul_t(load9(contacts.frame, k), scale(-part * contacts.owed[k], load3(contacts.impulse, k)))
            point = load3(points, k)
            for side in range(2):
                i, q = contacts.body[k, side], f if side == 1 else scale(-1.0, f)
                if bodies.kind[i] == DYNAMIC:
                    apply_impulse(bodies, i, q, point)
                else:
                    to_reservoir(books, scale(0.5, q), scale(0.5, cross(point, q)), AGAIN)
    for k in range(n):
        if _bears(bodies, contacts, k, number):
            _book(bodies, contacts, books, k, load3(points, k), load3(before, k), -part * contacts.owed[k])
    for i in range(len(bodies.held)):
        if bodies.held[i] == number:
            bodies.held[i], bodies.flown[i] = 0, 0.0


@lean
def _bears(bodies, contacts, k, number):
    """Row k bore load in this kick, and its bodies have not been kicked since."""
    bears = contacts.kick[k] == number and contacts.impulse[k, 2] > 0.0
    for side in range(2):
        i = contacts.body[k, side]
        bears = bears and (bodies.kind[i] != DYNAMIC or bodies.held[i] == number)
    return bears


@lean
def _moved_on(bodies, contacts, k, t):
    """Where contact k is at time t: it has gone along with the bodies since the kick."""
    v, count, since = (0.0, 0.0, 0.0), 0, 0.0
    for side in range(2):
        i = contacts.body[k, side]
        if bodies.kind[i] == DYNAMIC:
            v, count, since = add(v, load3(bodies.v, i)), count + 1, t - bodies.kicked[i]
    return axpy(since / count, v, load3(contacts.point, k))


@lean
def _slip(bodies, contacts, k, point):
    """Relative velocity at contact k, in its frame."""
    i, j = contacts.body[k, 0], contacts.body[k, 1]
    e = load9(contacts.frame, k)
    belt = surface_slip(bodies, i, j, point, (e[6], e[7], e[8]))
    return mul(e, add(sub(point_velocity(bodies, j, point), point_velocity(bodies, i, point)), belt))


@lean
def _book(bodies, contacts, books, k, point, before, part):
    """Works of what was taken back: normal ones are the phase itself, the others are taken back from where they stood."""
    i, j = contacts.body[k, 0], contacts.body[k, 1]
    e = load9(contacts.frame, k)
    after = _slip(bodies, contacts, k, point)
    p = scale(part, load3(contacts.impulse, k))
    normal = 0.5 * p[2] * (before[2] + after[2])
    slip = 0.5 * (p[0] * (before[0] + after[0]) + p[1] * (before[1] + after[1]))
    if math.isfinite(contacts.creeps[k, 0]):  # what sticks does no work but for the phase
        normal, slip = normal + slip, 0.0
    world = mul_t(e, p)
    driven = -dot(world, surface_slip(bodies, i, j, point, (e[6], e[7], e[8])))
    if bodies.kind[i] != DYNAMIC:
        driven += dot(world, point_velocity(bodies, i, point))
    if bodies.kind[j] != DYNAMIC:
        driven -= dot(world, point_velocity(bodies, j, point))
    book_work(books, ledger.CONTACT, 0.5 * normal, 0.5 * normal, AGAIN)
    book_work(books, ledger.FRICTION, -0.5 * slip, -0.5 * slip, AGAIN)
    book_work(books, ledger.EXTERNAL, 0.5 * driven, 0.5 * driven, AGAIN)
    works = (0.5 * normal, 0.0, -0.5 * slip, 0.5 * driven)
    book_pair(books, bodies.serial[i], bodies.serial[j], works, works, AGAIN)
