"""Impulses of many contacts at once, by Newton's method on the velocities.

The problem: bodies with mass matrix M would move at v*; contact impulses p make it v = v* + M^-1 J^T p; at every contact
u = J v + u0 and (p, u - c) obey Coulomb's law. R = EPS K_nn regularises: p = P(p_center - (u - c)/R), which is a
well-posed problem even where the load on redundant points is not unique; it picks the split nearest to the centre. The
centre follows the iterate (proximal point method), so what is converged to is the law without regularisation, and
what is stopped on is its residual, the velocity by which a contact misses the law.

1. If the impulses carried over solve the problem, nothing is done: a settled pile costs one check.
2. Semismooth Newton on Coulomb's projection: (M + J^T G J) dv = J^T (P(y) - p), G = P'/R. Near the solution, where a
   simulation nearly always starts, one to three iterations do.
3. Where that stalls it cycles between sets of sliding contacts: from the best found so far sweeps (sweeps.py) find the set,
   then 2 again, with more sweeps each time. If those do not help either, contacts ask for incompatible velocities (two
   sticking points of a turning body, four corners on uneven supports), and the load has to move from one to another until
   one lets go; a smaller R moves more of it at a time.

On 74 problems that 2 alone left unsolved (dominoes, heaps, a wall of 28 boxes struck by a ball), with residuals up to
0.4 m/s, 3 with up to 2000 sweeps ended at 3e-6 m/s or below, half of them below 1e-10. A convex relaxation with De
Saxce's correction (SAP: Castro, Permenter, Han, IEEE Trans. Robotics 39 (2023) 1301) in place of the sweeps stayed
at 0.4 m/s, and a line search on the residual did not change that.

EPS trades the number of rounds against rounding: on a pyramid of 15 boxes, cold, 1e-2 took 14 rounds to 3e-12 m/s, 1e-3
took 8 and 1e-4 took 7 to 7e-13; 1e-6 stayed between 1e-12 and 1e-9.
"""

from __future__ import annotations

import numpy as np

from collision.jit import far, inner, kernel, lean
from collision.linalg import clear_table, copy_table
from sim.solvers.blocks import factor, solve, symbolic
from sim.solvers.friction import coulomb
from sim.solvers.joints import project_joint
from sim.solvers.rows import evaluate, regularisation, relative_velocity
from sim.solvers.sweeps import block_matrices, sweep

LEAST_SCALE = 2e-5  # and the least part of that which is tried
PATIENCE = 5  # iterations that do not halve the residual before sweeps are asked
ATTEMPTS, FEWER_ATTEMPTS = 8, 6  # calls on the sweeps; the smaller number where the residual is harmless
HARMLESS = 1e4  # times the tolerance
FEWEST_SWEEPS, MOST_SWEEPS = 10, 640


@inner
def _add_block(block, j1, g, j2):
    """block += j1^T g j2, with 3 x 6 Jacobians and a 3 x 3 g."""
    for r in range(6):
        a0, a1, a2 = j1[0, r], j1[1, r], j1[2, r]
        s0 = a0 * g[0] + a1 * g[3] + a2 * g[6]
        s1 = a0 * g[1] + a1 * g[4] + a2 * g[7]
        s2 = a0 * g[2] + a1 * g[5] + a2 * g[8]
        for c in range(6):
            block[r, c] += s0 * j2[0, c] + s1 * j2[1, c] + s2 * j2[2, c]


@inner
def _assemble(mass, inertia, a, b, ja, jb, g, slot, values):
    """values = M + J^T G J"""
    for k in range(len(values)):
        clear_table(values[k])
    for i in range(len(mass)):
        d = values[slot[i, i]]
        for r in range(3):
            d[r, r] = mass[i]
            for c in range(3):
                d[3 + r, 3 + c] = inertia[i, r, c]
    for k in range(len(a)):
        gk = (g[k, 0], g[k, 1], g[k, 2], g[k, 3], g[k, 4], g[k, 5], g[k, 6], g[k, 7], g[k, 8])
        i, j = a[k], b[k]
        if i >= 0:
            _add_block(values[slot[i, i]], ja[k], gk, ja[k])
        if j >= 0:
            _add_block(values[slot[j, j]], jb[k], gk, jb[k])
        if i >= 0 and j >= 0:
            _add_block(values[slot[i, j]], ja[k], gk, jb[k])
            _add_block(values[slot[j, i]], jb[k], gk, ja[k])


@lean
def _project(p, u, c, mu, lo, hi, R, scale, q, g):
    """q = P(y), g = P'(y)/R, y = p - (u - c)/R, with ``scale`` times the contacts' R."""
    for k in range(len(mu)):
        if mu[k] < 0.0:
            value, slope = project_joint(mu[k], p, u, c, R, lo, hi, k)
            f = 1.0
        else:
            r = scale * R[k, 2]
            y = (p[k, 0] - (u[k, 0] - c[k, 0]) / r, p[k, 1] - (u[k, 1] - c[k, 1]) / r, p[k, 2] - (u[k, 2] - c[k, 2]) / r)
            value, slope = coulomb(y, mu[k])
            f = 1.0 / r
        for i in range(3):
            q[k, i] = value[i]
        for i in range(9):
            g[k, i] = slope[i] * f


@inner
def _add_transposed(a, b, ja, jb, p, f):
    """f += J^T p"""
    for k in range(len(a)):
        for c in range(6):
            if a[k] >= 0:
                f[a[k], c] += ja[k, 0, c] * p[k, 0] + ja[k, 1, c] * p[k, 1] + ja[k, 2, c] * p[k, 2]
            if b[k] >= 0:
                f[b[k], c] += jb[k, 0, c] * p[k, 0] + jb[k, 1, c] * p[k, 1] + jb[k, 2, c] * p[k, 2]


@kernel
def newton(mass, inertia, inv_mass, inv_inertia, vstar, a, b, ja, jb, mu, lo, hi, c, u0, tolerance, most, p, v):
    """Solve for the impulses; returns (residual [m/s], iterations).

    ``mass`` (n,), ``inertia`` (n, 3, 3) and their inverses, ``vstar`` (n, 6); contacts by local bodies ``a``, ``b`` (-1:
    not moved by impulses), Jacobians (k, 3, 6) in rows (tangent, tangent, normal), friction ``mu``, target ``c`` and offset
    ``u0`` (k, 3). Where ``mu`` is negative three rows of a joint stand, with bounds ``lo``, ``hi`` (k, 3), see joints.py.
    ``p`` (k, 3) holds the guess and then the answer, always inside the cone; ``v`` (n, 6) the velocities.
    """
    n, m = len(mass), len(a)
    u, R = np.empty((m, 3)), np.empty((m, 3))
    regularisation(inv_mass, inv_inertia, a, b, ja, jb, mu, R)
    best = evaluate(inv_mass, inv_inertia, vstar, a, b, ja, jb, mu, lo, hi, c, u0, R, p, v, u)
    if best <= tolerance:
        return best, 0

    order, slot, later_start, later, blocks = symbolic(n, a, b)
    values = np.empty((blocks, 6, 6))
    q, g, step = np.empty((m, 3)), np.empty((m, 9)), np.empty((n, 6))
    du, none = np.empty((m, 3)), np.zeros((m, 3))
    best_p, own = p.copy(), np.empty((0, 9))
    scale, sweeps, spent, attempt = 1.0, FEWEST_SWEEPS, 0, 0
    goal = best  # the least residual of this attempt
    while True:
        before, stalled = best, 0
        while spent < most and stalled < PATIENCE:
            spent += 1
            _project(p, u, c, mu, lo, hi, R, scale, q, g)
            _assemble(mass, inertia, a, b, ja, jb, g, slot, values)
            factor(order, slot, later_start, later, values)
            for k in range(m):
                for r in range(3):
                    du[k, r] = q[k, r] - p[k, r]
            clear_table(step)
            _add_transposed(a, b, ja, jb, du, step)
            solve(order, slot, later_start, later, values, step)
            relative_velocity(a, b, ja, jb, none, step, du)
            for k in range(m):
                for r in range(3):
                    p[k, r] = q[k, r] - (g[k, 3 * r] * du[k, 0] + g[k, 3 * r + 1] * du[k, 1] + g[k, 3 * r + 2] * du[k, 2])
            now = evaluate(inv_mass, inv_inertia, vstar, a, b, ja, jb, mu, lo, hi, c, u0, R, p, v, u)
            stalled = 0 if now < 0.5 * goal else stalled + 1
            goal = min(goal, now)
            if now < best:
                best = now
                copy_table(p, best_p)
            if now <= tolerance:
                break
        if best <= tolerance or spent >= most or attempt >= (ATTEMPTS if best > HARMLESS * tolerance else FEWER_ATTEMPTS):
            break
        # go back to the best, and let sweeps find who slides
        if attempt == 0:
            own = np.empty((m, 9))
            block_matrices(inv_mass, inv_inertia, a, b, ja, jb, own)
        elif best > 0.5 * before:
            scale = 0.1 * scale if scale > LEAST_SCALE else 1.0
        attempt += 1
        copy_table(best_p, p)
        evaluate(inv_mass, inv_inertia, vstar, a, b, ja, jb, mu, lo, hi, c, u0, R, p, v, u)
        for _ in range(sweeps):
            sweep(inv_mass, inv_inertia, a, b, ja, jb, mu, lo, hi, c, u0, R, own, p, v)
        sweeps = min(2 * sweeps, MOST_SWEEPS)
        goal = evaluate(inv_mass, inv_inertia, vstar, a, b, ja, jb, mu, lo, hi, c, u0, R, p, v, u)
        if goal < best:
            best = goal
            copy_table(p, best_p)
    copy_table(best_p, p)
    evaluate(inv_mass, inv_inertia, vstar, a, b, ja, jb, mu, lo, hi, c, u0, R, p, v, u)
    return best, spent


def _example():
    n3, n33, n6, m3, m36 = np.zeros(0), np.zeros((0, 3, 3)), np.zeros((0, 6)), np.zeros((0, 3)), np.zeros((0, 3, 6))
    ends = np.zeros(0, np.int64)
    return (n3, n33, n3, n33, n6, ends, ends, m36, m36, n3, m3, m3, m3, m3, 0.0, 0, m3, n6)


newton_far = far(newton, _example)
