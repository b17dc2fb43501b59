"""Impulses of many contacts by sweeps: each contact in turn is solved exactly, with all others as they stand.

Nonlinear block Gauss-Seidel (Jourdan, Alart, Jean, Comput. Methods Appl. Mech. Eng. 155 (1998) 31). A sweep costs O(contacts)
and never fails, but news travels by one contact a sweep: a stack of 10 takes thousands. So it is the cheap choice for
piles where millimetres matter and microns do not, and what helps Newton's method out where that cycles between sets of
sliding contacts: a few sweeps find the set, Newton's method then the numbers.
"""

from __future__ import annotations

import math

import numpy as np

from collision.jit import far, inner, kernel, lean
from collision.linalg import norm, scale
from sim.collision_law import one_contact_from
from sim.solvers.joints import AXIS, BALL, DISC
from sim.solvers.rows import evaluate, regularisation

CHECKS = 10  # sweeps between two looks at the residual


@lean
def block_matrices(inv_mass, inv_inertia, a, b, ja, jb, k):
    """Own K = J M^-1 J^T of each contact, and of each three rows of a joint: rows of ``k`` (m, 9)."""
    for n in range(len(a)):
        for q in range(9):
            k[n, q] = 0.0
        for side in range(2):
            i = a[n] if side == 0 else b[n]
            j = ja[n] if side == 0 else jb[n]
            if i < 0:
                continue
            for r in range(3):
                for s in range(3):
                    for d in range(3):
                        k[n, 3 * r + s] += inv_mass[i] * j[r, d] * j[s, d]
                        for e in range(3):
                            k[n, 3 * r + s] += j[r, 3 + d] * inv_inertia[i, d, e] * j[s, 3 + e]


@lean
def _joint_rows(law, m, u, c, lo, hi, R, p, n):
    """Impulses of three rows of a joint, u the velocities by which they miss their targets: row after row."""
    if law == BALL:
        r = R[n, 0]
        y = (p[n, 0] - u[0] / r, p[n, 1] - u[1] / r, p[n, 2] - u[2] / r)
        length = norm(y)
        return scale(hi[n, 0] / length, y) if length > hi[n, 0] else y
    p0, p1, p2 = p[n, 0], p[n, 1], p[n, 2]
    if law == DISC:
        r = R[n, 0]
        q0, q1 = p0 - u[0] / r, p1 - u[1] / r
        length = math.hypot(q0, q1)
        if length > hi[n, 0]:
            q0, q1 = hi[n, 0] / length * q0, hi[n, 0] / length * q1
        return (q0, q1, _row(p2, u[2] + m[6] * (q0 - p0) + m[7] * (q1 - p1), m[8], -hi[n, 2], hi[n, 2]))
    if law == AXIS:  # p0 = low - high (u0 + c0), with u0 as p0 makes it
        q0 = (lo[n, 0] - hi[n, 0] * (u[0] + c[n, 0] - m[0] * p0)) / (1.0 + hi[n, 0] * m[0])
    else:
        q0 = _row(p0, u[0], m[0], lo[n, 0], hi[n, 0])
    q1 = _row(p1, u[1] + m[3] * (q0 - p0), m[4], lo[n, 1], hi[n, 1])
    q2 = _row(p2, u[2] + m[6] * (q0 - p0) + m[7] * (q1 - p1), m[8], lo[n, 2], hi[n, 2])
    return (q0, q1, q2)


@lean
def _row(p, u, k, low, high):
    return min(max(p - u / k, low), high) if k > 0.0 else p


@inner
def sweep(inv_mass, inv_inertia, a, b, ja, jb, mu, lo, hi, c, u0, R, k, p, v):
    """One sweep: impulses ``p`` and the velocities ``v`` that belong to them; arguments as those of newton.newton."""
    for n in range(len(a)):
        m = (k[n, 0], k[n, 1], k[n, 2], k[n, 3], k[n, 4], k[n, 5], k[n, 6], k[n, 7], k[n, 8])
        x, y, z = u0[n, 0] - c[n, 0], u0[n, 1] - c[n, 1], u0[n, 2] - c[n, 2]
        for side in range(2):
            i = a[n] if side == 0 else b[n]
            j = ja[n] if side == 0 else jb[n]
            if i >= 0:
                for d in range(6):
                    x += j[0, d] * v[i, d]
                    y += j[1, d] * v[i, d]
                    z += j[2, d] * v[i, d]
        p0, p1, p2 = p[n, 0], p[n, 1], p[n, 2]
        if mu[n] < 0.0:
            q = _joint_rows(mu[n], m, (x, y, z), c, lo, hi, R, p, n)
        else:
            free = (
                x - m[0] * p0 - m[1] * p1 - m[2] * p2,
                y - m[3] * p0 - m[4] * p1 - m[5] * p2,
                z - m[6] * p0 - m[7] * p1 - m[8] * p2,
            )
            q = one_contact_from(m, free, mu[n], (p0, p1, p2))
        p[n, 0], p[n, 1], p[n, 2] = q
        d0, d1, d2 = q[0] - p0, q[1] - p1, q[2] - p2
        for side in range(2):
            i = a[n] if side == 0 else b[n]
            j = ja[n] if side == 0 else jb[n]
            if i >= 0:
                t0 = j[0, 3] * d0 + j[1, 3] * d1 + j[2, 3] * d2
                t1 = j[0, 4] * d0 + j[1, 4] * d1 + j[2, 4] * d2
                t2 = j[0, 5] * d0 + j[1, 5] * d1 + j[2, 5] * d2
                for r in range(3):
                    v[i, r] += inv_mass[i] * (j[0, r] * d0 + j[1, r] * d1 + j[2, r] * d2)
                    v[i, 3 + r] += inv_inertia[i, r, 0] * t0 + inv_inertia[i, r, 1] * t1 + inv_inertia[i, r, 2] * t2


@kernel
def by_sweeps(inv_mass, inv_inertia, vstar, a, b, ja, jb, mu, lo, hi, c, u0, tolerance, most, p, v):
    """Sweep until the residual is within the tolerance, or ``most`` times; returns (residual [m/s], sweeps)."""
    m, done = len(a), 0
    u, R, own = np.empty((m, 3)), np.empty((m, 3)), np.empty((m, 9))
    regularisation(inv_mass, inv_inertia, a, b, ja, jb, mu, R)
    block_matrices(inv_mass, inv_inertia, a, b, ja, jb, own)
    off = evaluate(inv_mass, inv_inertia, vstar, a, b, ja, jb, mu, lo, hi, c, u0, R, p, v, u)
    while off > tolerance and done < most:
        for _ in range(CHECKS):
            sweep(inv_mass, inv_inertia, a, b, ja, jb, mu, lo, hi, c, u0, R, own, p, v)
        done += CHECKS
        off = evaluate(inv_mass, inv_inertia, vstar, a, b, ja, jb, mu, lo, hi, c, u0, R, p, v, u)
    return off, done


def _example():
    n3, n33, n6, m3, m36 = np.zeros(0), np.zeros((0, 3, 3)), np.zeros((0, 6)), np.zeros((0, 3)), np.zeros((0, 3, 6))
    ends = np.zeros(0, np.int64)
    return (n3, n33, n6, ends, ends, m36, m36, n3, m3, m3, m3, m3, 0.0, 0, m3, n6)


sweeps_far = far(by_sweeps, _example)
