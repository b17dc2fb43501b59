"""Sweeps over contacts four at a time (sweeps.py has the method, one at a time, and joints).

A sweep waits: each contact needs the velocities that the one before it left, and that takes longer than the arithmetic. Four
contacts of which no two share a body that moves can wait together, one in each lane of a register. They are *grouped* once a
solve: in the order of the sweep each contact goes into the first group that has a free lane and comes after all groups of
earlier contacts of its two bodies. So of two contacts that share a body the earlier one still comes first, others do not see
each other's order, and the sweep does what one contact at a time does, to the last bit.

The table has a row for each group, with the four lanes of a column side by side; a lane that no contact has holds one without
impulse between two bodies that do not move.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tumble.collision.kernels.group import owning_group
from tumble.collision.kernels.jit import inner, intrinsic, lean, tight

LANES = 4
# Columns of a group: directions, arms of both bodies, what unit impulses turn them by; own matrix (from the normal to the
# tangents and to itself, of the tangents, the larger one of the plane), what is missed at rest, friction,
# impulse, stick, and 1 for a contact that slides.
DIRECTIONS, ARM_A, ARM_B, TURN_A, TURN_B = 0, 9, 18, 27, 36
OWN_MATRIX, OFFSET, FRICTION, IMPULSE, STICK, SLIDES = 45, 51, 54, 55, 58, 60
WIDTH = LANES * 61
SEEN = 2 * LANES  # column of what a sweep tells
INVERSE_MASS = 6  # inverse mass


@owning_group
class Groups(NamedTuple):
    """Contacts in lanes."""

    table: np.ndarray  # (groups + 1, WIDTH) the last row is scratch
    ends: np.ndarray  # (groups, 8) first bodies of the four contacts, and second ones
    who: np.ndarray  # (groups, 4) numbers of the contacts, -1 where there is none
    place: np.ndarray  # (contacts,) group and lane: 4 group + lane
    after: np.ndarray  # (bodies + 1,) the first group that a further contact of a body may be in
    free: np.ndarray  # (groups + 1,) the first group from this one on that has a free lane, or nearer to it
    filled: np.ndarray  # (groups,) lanes that are taken
    count: np.ndarray  # (3,) groups; sweeps; groups of which ``of`` tells
    stirred: np.ndarray  # (bodies + 1,) when a contact of a body missed its law, see `_awake`
    due: np.ndarray  # (groups,) the sweep up to which a group may have a contact to be looked at
    begin: np.ndarray  # (bodies + 1,) where the groups of a body begin in ``of``
    of: np.ndarray  # (2 contacts,)


def _gather(table, rows, g, first):
    return tuple(np.array(table[rows[g, first : first + LANES], c]) for c in range(8))


def _scatter(table, rows, g, first, columns):
    for lane in range(LANES):
        for c in range(8):
            table[rows[g, first + lane], c] = columns[c][lane]


def _put(table, row, column, value):
    table[row, column : column + LANES] = value


def _code() -> Any:
    from tumble.collision.kernels.intrinsics import lanes_code

    return lanes_code


# lanes_at(table, row, column): the four numbers there. put_lanes(table, row, column, value)
lanes_at = intrinsic(lambda: _code().lanes_at, lambda table, row, column: table[row, column : column + LANES].copy())
put_lanes = intrinsic(lambda: _code().put_lanes, _put)
# gather(table, rows, g, first): eight columns of the four rows of ``table`` that rows[g, first:first + 4] names.
# scatter(table, rows, g, first, columns): the same back.
gather = intrinsic(lambda: _code().gather, _gather)
scatter = intrinsic(lambda: _code().scatter, _scatter)
# every(number): in each lane. choose(where, a, b). root(a): the square root. size(a): without the sign.
every = intrinsic(lambda: _code().every, lambda number: number)  # NumPy gives it to each lane
choose = intrinsic(lambda: _code().choose, np.where)
root = intrinsic(lambda: _code().root, np.sqrt)
size = intrinsic(lambda: _code().size, np.abs)
# bits(where): a bit for each lane.
bits = intrinsic(lambda: _code().bits, lambda where: sum(1 << lane for lane in range(LANES) if where[lane]))


@inner
def no_groups(contacts, bodies):
    """Room for so many contacts of so many bodies."""
    ends, who = np.empty((contacts, 2 * LANES), dtype=np.int64), np.empty((contacts, LANES), dtype=np.int64)
    return Groups(
        np.empty((contacts + 1, WIDTH)), ends, who, np.empty(contacts, dtype=np.int64), np.zeros(bodies + 1, dtype=np.int64),
        np.empty(contacts + 1, dtype=np.int64), np.empty(contacts, dtype=np.int64), np.zeros(3, dtype=np.int64),
        np.zeros(bodies + 1, dtype=np.int64), np.zeros(contacts, dtype=np.int64), np.zeros(bodies + 1, dtype=np.int64),
        np.empty(2 * contacts, dtype=np.int64),
    )  # fmt: skip


@lean
def group_contacts(groups, a, b, first, last):
    """Give the contacts ``first`` to ``last`` lanes, in this order; ``a``, ``b`` their bodies, -1 for what does not move."""
    none = len(groups.after) - 1
    for n in range(first, last):
        i, j = a[n] if a[n] >= 0 else none, b[n] if b[n] >= 0 else none
        g = max(groups.after[none], groups.after[i], groups.after[j])
        while g < groups.count[0] and groups.free[g] != g:
            if groups.free[g] < groups.count[0]:
                groups.free[g] = groups.free[groups.free[g]]
            g = groups.free[g]
        while g >= groups.count[0]:
            _open(groups, none)
        lane = groups.filled[g]
        groups.ends[g, lane], groups.ends[g, LANES + lane], groups.who[g, lane] = i, j, n
        groups.filled[g] += 1
        if groups.filled[g] == LANES:
            groups.free[g] = g + 1
        groups.place[n] = LANES * g + lane
        if i != none:
            groups.after[i] = g + 1
        if j != none:
            groups.after[j] = g + 1


@lean
def list_groups(groups):
    """List the groups that there are by body: so that who wakes tells them. Those that come later are always looked at."""
    none, begin, ends = len(groups.stirred) - 1, groups.begin, groups.ends
    for i in range(none + 1):
        begin[i] = 0
    for turn in range(2):  # count, then list
        for g in range(groups.count[0]):
            for n in range(2 * LANES):
                i = ends[g, n]
                if i < none:
                    if turn == 1:
                        groups.of[begin[i]] = g
                    begin[i] += 1
        if turn == 0:
            total = 0
            for i in range(none + 1):
                begin[i], total = total, total + begin[i]
    for i in range(none, 0, -1):  # each has become the beginning of the next
        begin[i] = begin[i - 1]
    begin[0] = 0
    groups.count[2] = groups.count[0]


@lean
def close_groups(groups):
    """What is grouped from now on comes after all there is: contacts of another island. The first of their groups."""
    none, first = len(groups.after) - 1, groups.count[0]
    groups.after[none] = first
    return first


@lean
def _open(groups, none):
    """One group more, whose lanes are free."""
    g = groups.count[0]
    groups.count[0] += 1
    groups.free[g], groups.filled[g] = g, 0
    for c in range(WIDTH):
        groups.table[g, c] = 0.0
    for lane in range(LANES):
        groups.who[g, lane] = -1
        groups.ends[g, lane] = groups.ends[g, LANES + lane] = none
        for c in range(OWN_MATRIX, OFFSET):
            groups.table[g, LANES * c + lane] = 1.0


@tight
def _column(table, g, c):
    return lanes_at(table, g, LANES * c)


@tight
def _miss(table, g, r, x, y, z, vi, vj):
    """Row r of the contacts of a group: the velocities by which they miss their targets."""
    e, f, s = DIRECTIONS + 3 * r, ARM_A + 3 * r, ARM_B + 3 * r
    linear = _column(table, g, e) * x + _column(table, g, e + 1) * y + _column(table, g, e + 2) * z
    first = _column(table, g, f) * vi[3] + _column(table, g, f + 1) * vi[4] + _column(table, g, f + 2) * vi[5]
    second = _column(table, g, s) * vj[3] + _column(table, g, s + 1) * vj[4] + _column(table, g, s + 2) * vj[5]
    return (linear + _column(table, g, OFFSET + r)) + (first + second)


@tight
def _along(table, g, c, d0, d1, d2):
    return _column(table, g, c) * d0 + _column(table, g, c + 3) * d1 + _column(table, g, c + 6) * d2


@tight
def _add(table, g, first, sign, d0, d1, d2, v, ends, side, u):
    """The impulses d of a group to the velocities u of its bodies on one side."""
    f = sign * u[INVERSE_MASS]
    new = (
        u[0] + f * _along(table, g, DIRECTIONS, d0, d1, d2),
        u[1] + f * _along(table, g, DIRECTIONS + 1, d0, d1, d2),
        u[2] + f * _along(table, g, DIRECTIONS + 2, d0, d1, d2),
        u[3] + _along(table, g, first, d0, d1, d2),
        u[4] + _along(table, g, first + 1, d0, d1, d2),
        u[5] + _along(table, g, first + 2, d0, d1, d2),
        u[6],
        u[7],
    )
    scatter(v, ends, g, side, new)


@lean
def start_groups(groups, light, before, v):
    """The velocities ``v`` (bodies + 1, 8) that belong to the impulses, from those without; ``light`` inverse masses."""
    table, ends, one = groups.table, groups.ends, every(1.0)
    for i in range(len(v)):
        for r in range(6):
            v[i, r] = before[i, r]
        v[i, INVERSE_MASS], v[i, 7] = light[i], 0.0
    for g in range(groups.count[0]):
        p0, p1, p2 = _column(table, g, IMPULSE), _column(table, g, IMPULSE + 1), _column(table, g, IMPULSE + 2)
        vi, vj = gather(v, ends, g, 0), gather(v, ends, g, LANES)
        _add(table, g, TURN_A, every(-1.0), p0, p1, p2, v, ends, 0, vi)
        _add(table, g, TURN_B, one, p0, p1, p2, v, ends, LANES, vj)


@tight
def _awake(groups, i, now, all):
    """The contacts of body i are looked at in sweep ``now``; those of what does not move are so for the sake of other bodies.

    A body that is stirred in sweep s is awake in the next one. If it is awake in s it is noted as 2 s + 2, else as 2 s + 1: so
    each contact sees who is awake, and who will be.
    """
    at = groups.stirred[i]
    return i < len(groups.stirred) - 1 and (all or (at >= 2 * now - 1 and at != 2 * now + 1))


@tight
def _stir(groups, i, now, all, lists):
    """Body i is awake in the next sweep."""
    if i < len(groups.stirred) - 1 and groups.stirred[i] < 2 * now + 1:
        groups.stirred[i] = 2 * now + 2 if _awake(groups, i, now, all) else 2 * now + 1
        if lists:
            _tell(groups, i, now + 1)


@lean
def _tell(groups, i, sweep):
    """Tell the groups of body i that it is awake in a sweep."""
    for m in range(groups.begin[i], groups.begin[i + 1]):
        groups.due[groups.of[m]] = sweep


@tight
def _rests(groups, g, now):
    """No contact of a group has a body that is awake."""
    return g < groups.count[2] and groups.due[g] < now


@tight
def _look_for(groups, g, now, wanted, row):
    """Which contacts of a group have a body that is awake, as 1 or 0 from column LANES of ``wanted[row]`` on; whether one has."""
    some = False
    for lane in range(LANES):
        awake = _awake(groups, groups.ends[g, lane], now, False) or _awake(groups, groups.ends[g, LANES + lane], now, False)
        wanted[row, LANES + lane] = 1.0 if awake else 0.0
        some = some or awake
    return some


@lean
def _stick(groups, g, stuck, c, stick, fast):
    """Contacts that turn out to stick are held from now on to what sticking asks."""
    for lane in range(LANES):
        if stuck >> lane & 1:
            n = groups.who[g, lane]
            fast[n] = False
            for r in range(2):
                groups.table[g, LANES * (OFFSET + r) + lane] -= stick[n, r]
                c[n, r] = stick[n, r]
            groups.table[g, LANES * SLIDES + lane] = 0.0


@lean
def sweep_lanes(groups, c, stick, fast, v, first, last, least, all, known, lists, told, row):
    """As sweeps.sweep_blocks, over the groups ``first`` to ``last``, for the contacts of bodies that are awake, or ``all``. Into
    ``told[row]``: the largest velocity that was missed in each lane [m/s], and in column SEEN how many groups were looked at.

    Groups are ``known`` to rest where the sweep before ``lists``: where most bodies stir, to tell all their groups costs more
    than to look.
    """
    table, ends = groups.table, groups.ends
    zero, one, less, worst, lowest = every(0.0), every(1.0), every(-1.0), every(0.0), every(least)
    now, seen, everyone = groups.count[1], 0, one > zero
    for g in range(first, last):
        wanted = everyone  # also lanes without a contact, to which that does nothing
        if not all:
            if (known and _rests(groups, g, now)) or not _look_for(groups, g, now, told, row):
                continue
            wanted = lanes_at(told, row, LANES) > zero
        seen += 1
        vi, vj = gather(v, ends, g, 0), gather(v, ends, g, LANES)
        x, y, z = vj[0] - vi[0], vj[1] - vi[1], vj[2] - vi[2]
        p0, p1, p2 = _column(table, g, IMPULSE), _column(table, g, IMPULSE + 1), _column(table, g, IMPULSE + 2)
        normal, k = _column(table, g, OWN_MATRIX + 2), _column(table, g, OWN_MATRIX + 5)
        q2 = p2 - _miss(table, g, 2, x, y, z, vi, vj) / normal
        d = q2 - p2
        q0 = p0 - (_miss(table, g, 0, x, y, z, vi, vj) + _column(table, g, OWN_MATRIX) * d) / k
        q1 = p1 - (_miss(table, g, 1, x, y, z, vi, vj) + _column(table, g, OWN_MATRIX + 1) * d) / k
        radius, square = _column(table, g, FRICTION) * q2, q0 * q0 + q1 * q1
        open_ = q2 <= zero
        could = (_column(table, g, SLIDES) > zero) & (square <= radius * radius) & (q2 > zero) & wanted
        if bits(could) != 0:
            _stick(groups, g, bits(could), c, stick, fast)
            s0, s1 = _column(table, g, STICK), _column(table, g, STICK + 1)
            q0, q1 = choose(could, q0 + s0 / k, q0), choose(could, q1 + s1 / k, q1)
            square = choose(could, q0 * q0 + q1 * q1, square)
        beyond = square > radius * radius
        if bits(beyond) != 0:
            f = radius / root(square)
            q0, q1 = choose(beyond, f * q0, q0), choose(beyond, f * q1, q1)
        q0, q1, q2 = choose(open_, zero, q0), choose(open_, zero, q1), choose(open_, zero, q2)
        q0, q1, q2 = choose(wanted, q0, p0), choose(wanted, q1, p1), choose(wanted, q2, p2)
        d0, d1, d2 = q0 - p0, q1 - p1, q2 - p2
        put_lanes(table, g, LANES * IMPULSE, q0)
        put_lanes(table, g, LANES * (IMPULSE + 1), q1)
        put_lanes(table, g, LANES * (IMPULSE + 2), q2)
        _add(table, g, TURN_A, less, d0, d1, d2, v, ends, 0, vi)
        _add(table, g, TURN_B, one, d0, d1, d2, v, ends, LANES, vj)
        m0, m1 = _column(table, g, OWN_MATRIX + 3) * size(d0), _column(table, g, OWN_MATRIX + 4) * size(d1)
        m2 = normal * size(d2)
        missed = choose(m1 > m0, m1, m0)
        worst = _note(groups, g, now, all, lists, choose(m2 > missed, m2, missed), lowest, worst)
    put_lanes(told, row, 0, worst)
    told[row, SEEN] = seen


@tight
def _note(groups, g, now, all, lists, missed, lowest, worst):
    """Have the bodies of contacts that missed their law by more than ``lowest`` be awake in the next sweep; the worst so far."""
    moved = bits(missed > lowest)
    if moved != 0:
        worst = choose(missed > worst, missed, worst)
        for lane in range(LANES):
            if moved >> lane & 1:
                _stir(groups, groups.ends[g, lane], now, all, lists)
                _stir(groups, groups.ends[g, LANES + lane], now, all, lists)
    return worst


@lean
def largest_of(told, row):
    """The largest of the four lanes that a sweep told."""
    return max(max(told[row, 0], told[row, 1]), max(told[row, 2], told[row, 3]))


@lean
def impulses(groups, first, last, p):
    """Impulses of the contacts ``first`` to ``last``."""
    for n in range(first, last):
        row, lane = groups.table[groups.place[n] // LANES], groups.place[n] % LANES
        for r in range(3):
            p[n, r] = row[LANES * (IMPULSE + r) + lane]


@lean
def shut_groups(groups, light, v, least, most):
    """Displacements ``v`` along the normals that push and do not pull: sweeps of one row a contact."""
    table, ends, done, worst, last = groups.table, groups.ends, 0, math.inf, len(groups.table) - 1
    zero, one, less, lowest = every(0.0), every(1.0), every(-1.0), every(least)
    for i in range(len(v)):
        for r in range(6):
            v[i, r] = 0.0
        v[i, INVERSE_MASS], v[i, 7] = light[i], 0.0
    for g in range(groups.count[0]):
        _push(table, g, _column(table, g, IMPULSE + 2), one, less, v, ends, gather(v, ends, g, 0), gather(v, ends, g, LANES))
    while worst > least and done < most:
        over, all = zero, done == 0
        groups.count[1] += 1
        for g in range(groups.count[0]):
            now, wanted = groups.count[1], one > zero
            if not all:
                if _rests(groups, g, now) or not _look_for(groups, g, now, table, last):  # a row of nobody
                    continue
                wanted = lanes_at(table, last, LANES) > zero
            vi, vj = gather(v, ends, g, 0), gather(v, ends, g, LANES)
            p, k = _column(table, g, IMPULSE + 2), _column(table, g, OWN_MATRIX + 2)
            q = p - _miss(table, g, 2, vj[0] - vi[0], vj[1] - vi[1], vj[2] - vi[2], vi, vj) / k
            q = choose(wanted, choose(q > zero, q, zero), p)
            put_lanes(table, g, LANES * (IMPULSE + 2), q)
            _push(table, g, q - p, one, less, v, ends, vi, vj)
            over = _note(groups, g, now, all, True, k * size(q - p), lowest, over)
        put_lanes(table, last, 0, over)
        worst = largest_of(table, last)
        done += 1


@tight
def _push(table, g, d, one, less, v, ends, vi, vj):
    """The pushes d along the normals of a group to the velocities of its bodies."""
    _add_push(table, g, TURN_A + 6, less, d, v, ends, 0, vi)
    _add_push(table, g, TURN_B + 6, one, d, v, ends, LANES, vj)


@tight
def _add_push(table, g, first, sign, d, v, ends, side, u):
    f = sign * u[INVERSE_MASS]
    new = (
        u[0] + f * (_column(table, g, DIRECTIONS + 6) * d),
        u[1] + f * (_column(table, g, DIRECTIONS + 7) * d),
        u[2] + f * (_column(table, g, DIRECTIONS + 8) * d),
        u[3] + _column(table, g, first) * d,
        u[4] + _column(table, g, first + 1) * d,
        u[5] + _column(table, g, first + 2) * d,
        u[6],
        u[7],
    )
    scatter(v, ends, g, side, new)


@lean
def miss_of(groups, n, v):
    """The velocity along its normal by which contact n misses its target."""
    row, lane = groups.table[groups.place[n] // LANES], groups.place[n] % LANES
    i, j = groups.ends[groups.place[n] // LANES, lane], groups.ends[groups.place[n] // LANES, LANES + lane]
    e, f, s = LANES * (DIRECTIONS + 6) + lane, LANES * (ARM_A + 6) + lane, LANES * (ARM_B + 6) + lane
    x, y, z = v[j, 0] - v[i, 0], v[j, 1] - v[i, 1], v[j, 2] - v[i, 2]
    linear = row[e] * x + row[e + LANES] * y + row[e + 2 * LANES] * z
    first = row[f] * v[i, 3] + row[f + LANES] * v[i, 4] + row[f + 2 * LANES] * v[i, 5]
    second = row[s] * v[j, 3] + row[s + LANES] * v[j, 4] + row[s + 2 * LANES] * v[j, 5]
    return (linear + row[LANES * (OFFSET + 2) + lane]) + (first + second)


@lean
def aim_at(groups, n, more):
    """Contact n asks for so much more velocity along its normal, and its bodies are awake in the next sweep."""
    g, lane = groups.place[n] // LANES, groups.place[n] % LANES
    groups.table[g, LANES * (OFFSET + 2) + lane] -= more
    for side in range(2):
        i = groups.ends[g, LANES * side + lane]
        if i < len(groups.stirred) - 1:
            groups.stirred[i] = 2 * groups.count[1] + 2
            _tell(groups, i, groups.count[1] + 1)


_I = np.zeros(1, np.int64)
NO_GROUPS = Groups(
    np.zeros((1, WIDTH)), np.zeros((0, 2 * LANES), np.int64), np.zeros((0, LANES), np.int64), _I, _I, _I, _I, _I, _I, _I, _I, _I
)
