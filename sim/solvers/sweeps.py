"""Impulses of many contacts by sweeps: each contact in turn takes one step towards its law, with all others as they stand.

Projected block Gauss-Seidel (Moreau, Eur. J. Mech. A 13 (1994) 93; Jourdan, Alart, Jean, Comput. Methods Appl. Mech. Eng.
155 (1998) 31): the normal impulse first, then the tangential one on the disc that the normal one allows. To solve each
contact exactly would cost six times as much and gain nothing: what a sweep misses is the news of other contacts. Fixed
points are Coulomb's law.

A sweep costs O(contacts) and never fails, but news travels by one contact a sweep: a stack of 10 takes thousands. So it is
what heaps are solved by that move (docs/step.md), where each step goes on from the impulses of the last one, and what helps
Newton's method out where that cycles between sets of joints at their limits.

The law of sliding is chosen inside: a contact that is FAST, with no slip in the middle of the kick as its target, may turn
out to stick. Held to that target it would send its slip back, u' = -u; so from where it could stick on it asks for what
sticking asks.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.kernels.jit import far, hypot, inner, kernel, lean
from tumble.collision.linalg import norm, scale
from tumble.sim.solvers.block_laws import BALL_LAW, COULOMB_LAW, DISC_LAW, SOFT_LAW
from tumble.sim.solvers.problem import NO_LAWS, NO_SYSTEM, clip, regularisation

COLUMNS = 58  # of a packed block: directions, arms of both bodies, what unit impulses turn them by, own matrix, offset, tangent


@lean
def pack_rows(system, laws, rows):
    """All that a sweep reads of a block, in the order in which it is read."""
    inv_inertia, inv_mass, a, b, ja, jb = system.inv_inertia, system.inv_mass, system.a, system.b, system.ja, system.jb
    for n in range(len(a)):
        row = rows[n]
        for r in range(3):
            for d in range(3):
                row[3 * r + d] = jb[n, r, d] if b[n] >= 0 else -ja[n, r, d]
                row[9 + 3 * r + d] = ja[n, r, 3 + d]
                row[18 + 3 * r + d] = jb[n, r, 3 + d]
                turn_a = turn_b = 0.0
                for e in range(3):
                    if a[n] >= 0:
                        turn_a += inv_inertia[a[n], d, e] * ja[n, r, 3 + e]
                    if b[n] >= 0:
                        turn_b += inv_inertia[b[n], d, e] * jb[n, r, 3 + e]
                row[27 + 3 * r + d] = turn_a
                row[36 + 3 * r + d] = turn_b
            row[54 + r] = laws.u0[n, r] - laws.c[n, r]
        light = 0.0
        if a[n] >= 0:
            light += inv_mass[a[n]]
        if b[n] >= 0:
            light += inv_mass[b[n]]
        for r in range(3):
            for s in range(3):
                k = 0.0
                for d in range(3):
                    k += light * row[3 * r + d] * row[3 * s + d]
                    k += row[9 + 3 * r + d] * row[27 + 3 * s + d] + row[18 + 3 * r + d] * row[36 + 3 * s + d]
                row[45 + 3 * r + s] = k
        mean, half = 0.5 * (row[45] + row[49]), 0.5 * (row[45] - row[49])
        row[57] = mean + math.sqrt(half * half + row[46] * row[46])


@lean
def _joint_rows(laws, m, u, R, p, n):
    """Impulses of three rows of a joint, u the velocities by which they miss their targets: row after row."""
    law, lo, hi, c = laws.law[n], laws.lo, laws.hi, laws.c
    if law == BALL_LAW:
        r = R[n, 0]
        y = (p[n, 0] - u[0] / r, p[n, 1] - u[1] / r, p[n, 2] - u[2] / r)
        length = norm(y)
        return scale(hi[n, 0] / length, y) if length > hi[n, 0] else y
    p0, p1, p2 = p[n, 0], p[n, 1], p[n, 2]
    if law == DISC_LAW:
        r, load = R[n, 0], p[laws.load[n], 2] if laws.load[n] >= 0 else 1.0
        radius, high = load * hi[n, 0], load * hi[n, 2]
        q0, q1 = p0 - u[0] / r, p1 - u[1] / r
        length = hypot(q0, q1)
        if length > radius:
            q0, q1 = radius / length * q0, radius / length * q1
        return (q0, q1, _row(p2, u[2] + m[6] * (q0 - p0) + m[7] * (q1 - p1), m[8], -high, high))
    if law == SOFT_LAW:  # p0 = low - high (u0 + c0), with u0 as p0 makes it
        q0 = (lo[n, 0] - hi[n, 0] * (u[0] + c[n, 0] - m[0] * p0)) / (1.0 + hi[n, 0] * m[0])
    else:
        q0 = _row(p0, u[0], m[0], lo[n, 0], hi[n, 0])
    q1 = _row(p1, u[1] + m[3] * (q0 - p0), m[4], lo[n, 1], hi[n, 1])
    q2 = _row(p2, u[2] + m[6] * (q0 - p0) + m[7] * (q1 - p1), m[8], lo[n, 2], hi[n, 2])
    return (q0, q1, q2)


@lean
def _row(p, u, k, low, high):
    return min(max(p - u / k, low), high) if k > 0.0 else p


@lean
def add_block(row, first, light, sign, d0, d1, d2, v, i):
    """The impulse d of a block to the velocities of body i; ``first`` is the column of what unit impulses turn it by."""
    f = sign * light
    v[i, 0] += f * (row[0] * d0 + row[3] * d1 + row[6] * d2)
    v[i, 1] += f * (row[1] * d0 + row[4] * d1 + row[7] * d2)
    v[i, 2] += f * (row[2] * d0 + row[5] * d1 + row[8] * d2)
    v[i, 3] += row[first] * d0 + row[first + 3] * d1 + row[first + 6] * d2
    v[i, 4] += row[first + 1] * d0 + row[first + 4] * d1 + row[first + 7] * d2
    v[i, 5] += row[first + 2] * d0 + row[first + 5] * d1 + row[first + 8] * d2


@lean
def miss(row, r, x, y, z, v, i, j):
    """Row r of a block: the velocity by which it misses its target; x, y, z: how j moves against i."""
    e, f, g = 3 * r, 9 + 3 * r, 18 + 3 * r
    linear = row[e] * x + row[e + 1] * y + row[e + 2] * z
    first = row[f] * v[i, 3] + row[f + 1] * v[i, 4] + row[f + 2] * v[i, 5]
    second = row[g] * v[j, 3] + row[g + 1] * v[j, 4] + row[g + 2] * v[j, 5]
    return (linear + row[54 + r]) + (first + second)


@inner
def sweep_blocks(light, system, laws, stick, fast, R, rows, p, v, first, last, least, awake, stirred):
    """One sweep over the packed blocks ``first`` to ``last``: impulses ``p`` and the velocities ``v`` that belong to them.

    Blocks of which neither body is ``awake`` are passed over; those that missed their law by more than ``least`` [m/s] have
    their bodies ``stirred``: the next sweep must look at all that these touch.

    ``light`` (n + 1,) inverse masses, ``v`` (n + 1, 6): the last row is that of what does not move. ``stick`` (m, 2): the
    tangential target of a contact that is ``fast``, should it stick; it then is so no more. Returns the largest velocity
    by which a contact missed its law when its turn came [m/s].
    """
    worst, none = 0.0, len(light) - 1
    for n in range(first, last):
        i, j = system.a[n], system.b[n]
        i = i if i >= 0 else none
        j = j if j >= 0 else none
        if not (awake[i] or awake[j]):
            continue
        row = rows[n]
        x, y, z = v[j, 0] - v[i, 0], v[j, 1] - v[i, 1], v[j, 2] - v[i, 2]
        un = miss(row, 2, x, y, z, v, i, j)
        p0, p1, p2 = p[n, 0], p[n, 1], p[n, 2]
        if laws.law[n] != COULOMB_LAW:
            m = (row[45], row[46], row[47], row[48], row[49], row[50], row[51], row[52], row[53])
            u = (miss(row, 0, x, y, z, v, i, j), miss(row, 1, x, y, z, v, i, j), un)
            q0, q1, q2 = _joint_rows(laws, m, u, R, p, n)
        else:
            q2 = p2 - un / row[53]
            if q2 <= 0.0:
                if p2 == 0.0 and p0 == 0.0 and p1 == 0.0:
                    continue
                q0 = q1 = q2 = 0.0
            else:
                k, d = row[57], q2 - p2
                q0 = p0 - (miss(row, 0, x, y, z, v, i, j) + row[47] * d) / k
                q1 = p1 - (miss(row, 1, x, y, z, v, i, j) + row[50] * d) / k
                radius, square = laws.mu[n] * q2, q0 * q0 + q1 * q1
                if fast[n] and square <= radius * radius:
                    fast[n] = False
                    row[54] -= stick[n, 0]
                    row[55] -= stick[n, 1]
                    laws.c[n, 0], laws.c[n, 1] = stick[n, 0], stick[n, 1]
                    q0, q1 = q0 + stick[n, 0] / k, q1 + stick[n, 1] / k
                    square = q0 * q0 + q1 * q1
                if square > radius * radius:
                    f = radius / math.sqrt(square)
                    q0, q1 = f * q0, f * q1
        d0, d1, d2 = q0 - p0, q1 - p1, q2 - p2
        p[n, 0], p[n, 1], p[n, 2] = q0, q1, q2
        missed = max(row[45] * abs(d0), row[49] * abs(d1), row[53] * abs(d2))
        if missed > least:
            stirred[i] = stirred[j] = True
            worst = max(worst, missed)
        add_block(row, 27, light[i], -1.0, d0, d1, d2, v, i)
        add_block(row, 36, light[j], 1.0, d0, d1, d2, v, j)
    stirred[none] = False
    return worst


@inner
def relax(light, system, laws, stick, fast, R, rows, p, v, first, last, least, most, awake):
    """Sweep until no block misses its law by more than ``least``, or ``most`` times: (what one missed [m/s], sweeps).

    The work follows what is missed: after the first sweep only the blocks of bodies that the last one moved are looked at.
    ``awake``: the bodies to begin with, and those that the last sweep moved.
    """
    stirred, done, worst = np.zeros(len(awake), dtype=np.bool_), 0, math.inf
    awake[len(awake) - 1] = False  # what does not move
    while worst > least and done < most:
        worst = sweep_blocks(light, system, laws, stick, fast, R, rows, p, v, first, last, least, awake, stirred)
        for i in range(len(awake)):
            awake[i], stirred[i] = stirred[i], False
        done += 1
    return (worst if worst > least else 0.0), done


@kernel
def by_sweeps(system, laws, vstar, stick, fast, tolerance, most, p, v):
    """Sweep until no contact misses its law by more than the tolerance, or ``most`` times; returns (residual [m/s], sweeps).

    Arguments as those of newton.newton_single; ``stick`` (m, 2) and ``fast`` (m,) as those of `sweep_blocks`: the targets of
    contacts that stick after all are changed.
    """
    n, m = len(system.mass), len(p)
    rows, R, light, w = np.empty((m, COLUMNS)), np.empty((m, 3)), np.zeros(n + 1), np.zeros((n + 1, 6))
    light[:n] = system.inv_mass
    regularisation(system, laws.law, R)
    pack_rows(system, laws, rows)
    start_sweeps(light, system, laws, vstar, rows, p, w)
    awake = np.ones(n + 1, dtype=np.bool_)
    worst, done = relax(light, system, laws, stick, fast, R, rows, p, w, 0, m, tolerance, most, awake)
    for k in range(n):
        for r in range(6):
            v[k, r] = w[k, r]
    return worst, done


@lean
def start_sweeps(light, system, laws, vstar, rows, p, w):
    """Impulses into their bounds, and the velocities that belong to them."""
    clip(laws, p)
    for k in range(len(light)):
        for r in range(6):
            w[k, r] = vstar[k, r] if k < len(light) - 1 else 0.0
    for k in range(len(p)):
        i, j = system.a[k], system.b[k]
        if i >= 0:
            add_block(rows[k], 27, light[i], -1.0, p[k, 0], p[k, 1], p[k, 2], w, i)
        if j >= 0:
            add_block(rows[k], 36, light[j], 1.0, p[k, 0], p[k, 1], p[k, 2], w, j)


_T2, _T3, _T6, _FLAGS = np.zeros((0, 2)), np.zeros((0, 3)), np.zeros((0, 6)), np.zeros(0, np.bool_)
sweeps_far = far(by_sweeps, lambda: (NO_SYSTEM, NO_LAWS, _T6, _T2, _FLAGS, 0.0, 0, _T3, _T6), returns=(0.0, 0))
