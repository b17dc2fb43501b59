"""Impulses of many contacts at once, by Newton's method on the velocities.

The problem: bodies with mass matrix M would move at v*; contact impulses p make it v = v* + M^-1 J^T p; at every contact
u = J v + u0 and (p, u - c) obey Coulomb's law. R = EPS K_nn regularises: p = P(p_center - (u - c)/R), which is a
well-posed problem even where the load on redundant points is not unique; it picks the split nearest to the centre. The
centre follows the iterate (proximal point method), so what is converged to is the law without regularisation, and
what is stopped on is its residual, the velocity by which a contact misses the law.

1. If the impulses carried over solve the problem, nothing is done: a settled pile costs one check.
2. Semismooth Newton on Coulomb's projection: (M + J^T G J) dv = J^T (P(y) - p), G = P'/R. Near the solution, where a
   simulation nearly always starts, one to three iterations do. An iteration must halve the residual, else it is undone.
3. Then the sure way: the convex relaxation, a minimisation, with exact line search (SAP: Castro, Permenter, Han, IEEE
   Trans. Robotics 39 (2023) 1301) and De Saxce's correction from the last iterate; then 2 again.

EPS trades the number of rounds against rounding: on a pyramid of 15 boxes, cold, 1e-2 took 14 rounds to 3e-12 m/s, 1e-3
took 8 and 1e-4 took 7 to 7e-13; 1e-6 stayed between 1e-12 and 1e-9.
"""

from __future__ import annotations

import math

import numpy as np

from collision.jit import far, inner, kernel, lean
from collision.linalg import clear_table, copy_table
from sim.solvers.blocks import factor, solve, symbolic
from sim.solvers.friction import cone, coulomb
from sim.solvers.joints import BALL, clip_joint, project_joint, residual_joint

EPS = 1e-4  # regularisation as part of a contact's own K_nn
PATIENCE = 6  # convex rounds without progress before the best iterate is taken


@lean
def inverse_effective_mass(inv_mass, inv_inertia, a, b, ja, jb, k, axis):
    """How fast a unit impulse along an axis of contact k's frame makes it move along that axis: K_ii [1/kg]."""
    total = 0.0
    for side in range(2):
        i = a[k] if side == 0 else b[k]
        j = ja[k] if side == 0 else jb[k]
        if i >= 0:
            for r in range(3):
                total += inv_mass[i] * j[axis, r] * j[axis, r]
                for c in range(3):
                    total += j[axis, 3 + r] * inv_inertia[i, r, c] * j[axis, 3 + c]
    return total


@lean
def add_impulses(inv_mass, inv_inertia, a, b, ja, jb, p, v):
    """v += M^-1 J^T p"""
    for k in range(len(a)):
        for side in range(2):
            i = a[k] if side == 0 else b[k]
            j = ja[k] if side == 0 else jb[k]
            if i >= 0:
                t0 = j[0, 3] * p[k, 0] + j[1, 3] * p[k, 1] + j[2, 3] * p[k, 2]
                t1 = j[0, 4] * p[k, 0] + j[1, 4] * p[k, 1] + j[2, 4] * p[k, 2]
                t2 = j[0, 5] * p[k, 0] + j[1, 5] * p[k, 1] + j[2, 5] * p[k, 2]
                for r in range(3):
                    v[i, r] += inv_mass[i] * (j[0, r] * p[k, 0] + j[1, r] * p[k, 1] + j[2, r] * p[k, 2])
                    v[i, 3 + r] += inv_inertia[i, r, 0] * t0 + inv_inertia[i, r, 1] * t1 + inv_inertia[i, r, 2] * t2


@lean
def relative_velocity(a, b, ja, jb, u0, v, u):
    """u = J v + u0"""
    for k in range(len(a)):
        for r in range(3):
            s = u0[k, r]
            if a[k] >= 0:
                for c in range(6):
                    s += ja[k, r, c] * v[a[k], c]
            if b[k] >= 0:
                for c in range(6):
                    s += jb[k, r, c] * v[b[k], c]
            u[k, r] = s


@lean
def _shifted(p, u, c, R, shift, k):
    return (
        p[k, 0] - (u[k, 0] - c[k, 0]) / R[k, 2],
        p[k, 1] - (u[k, 1] - c[k, 1]) / R[k, 2],
        p[k, 2] - (u[k, 2] - c[k, 2] + shift[k]) / R[k, 2],
    )


@lean
def residual(p, u, c, mu, lo, hi, R):
    """Largest velocity by which a contact misses Coulomb's law, or a joint its own [m/s]: K_nn |P(p - (u - c)/K_nn) - p|.

    With K_nn, R / EPS, an impulse where there should be none counts by the velocity that it gives; a smaller scale would
    hide it.
    """
    worst = 0.0
    for k in range(len(mu)):
        if mu[k] < 0.0:
            worst = max(worst, residual_joint(mu[k], p, u, c, R, lo, hi, k))
            continue
        s = R[k, 2] / EPS
        y = (p[k, 0] - (u[k, 0] - c[k, 0]) / s, p[k, 1] - (u[k, 1] - c[k, 1]) / s, p[k, 2] - (u[k, 2] - c[k, 2]) / s)
        q, _ = coulomb(y, mu[k])
        d0, d1, d2 = q[0] - p[k, 0], q[1] - p[k, 1], q[2] - p[k, 2]
        worst = max(worst, s * math.sqrt(d0 * d0 + d1 * d1 + d2 * d2))
    return worst


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
def _project(p, u, c, mu, lo, hi, R, shift, convex, q, g):
    """q = P(y), g = P'(y)/R"""
    for k in range(len(mu)):
        if mu[k] < 0.0:
            value, slope = project_joint(mu[k], p, u, c, R, lo, hi, k, convex)
            for r in range(3):
                q[k, r] = value[r]
            for r in range(9):
                g[k, r] = slope[r]
            continue
        y = _shifted(p, u, c, R, shift, k)
        if convex:
            value, slope = cone(y, mu[k])
        else:
            value, slope = coulomb(y, mu[k])
        for r in range(3):
            q[k, r] = value[r]
        for r in range(9):
            g[k, r] = slope[r] / R[k, 2]


@inner
def _add_transposed(a, b, ja, jb, p, f):
    """f += J^T p"""
    for k in range(len(a)):
        for c in range(6):
            if a[k] >= 0:
                f[a[k], c] += ja[k, 0, c] * p[k, 0] + ja[k, 1, c] * p[k, 1] + ja[k, 2, c] * p[k, 2]
            if b[k] >= 0:
                f[b[k], c] += jb[k, 0, c] * p[k, 0] + jb[k, 1, c] * p[k, 1] + jb[k, 2, c] * p[k, 2]


@inner
def _add_momentum(mass, inertia, sign, d, f):
    """f += sign M d"""
    for i in range(len(mass)):
        for r in range(3):
            f[i, r] += sign * mass[i] * d[i, r]
            f[i, 3 + r] += sign * (inertia[i, r, 0] * d[i, 3] + inertia[i, r, 1] * d[i, 4] + inertia[i, r, 2] * d[i, 5])


@kernel
def newton(mass, inertia, inv_mass, inv_inertia, vstar, a, b, ja, jb, mu, lo, hi, c, u0, tolerance, most, p, v):
    """Solve for the impulses; returns (residual [m/s], iterations).

    ``mass`` (n,), ``inertia`` (n, 3, 3) and their inverses, ``vstar`` (n, 6); contacts by local bodies ``a``, ``b`` (-1:
    not moved by impulses), Jacobians (k, 3, 6) in rows (tangent, tangent, normal), friction ``mu``, target ``c`` and offset
    ``u0`` (k, 3). Where ``mu`` is negative three rows of a joint stand, with bounds ``lo``, ``hi`` (k, 3), see joints.py.
    ``p`` (k, 3) holds the guess and then the answer, always inside the cone; ``v`` (n, 6) the velocities.
    """
    n, m = len(mass), len(a)
    u = np.empty((m, 3))
    R = np.empty((m, 3))
    shift = np.zeros(m)
    _regularisation(inv_mass, inv_inertia, a, b, ja, jb, mu, R)
    _clip(p, mu, lo, hi)
    copy_table(vstar, v)
    add_impulses(inv_mass, inv_inertia, a, b, ja, jb, p, v)
    relative_velocity(a, b, ja, jb, u0, v, u)
    best = residual(p, u, c, mu, lo, hi, R)
    if best <= tolerance:
        return best, 0

    order, slot, later_start, later, blocks = symbolic(n, a, b)
    values = np.empty((blocks, 6, 6))
    q, g, step = np.empty((m, 3)), np.empty((m, 9)), np.empty((n, 6))
    du, none = np.empty((m, 3)), np.zeros((m, 3))
    best_p = p.copy()
    spent, failed, quick = 0, 0, True
    while spent < most and best > tolerance and failed < PATIENCE:
        if quick:
            spent += 1
            _project(p, u, c, mu, lo, hi, R, shift, False, q, g)
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
        else:
            spent += _convex(
                mass, inertia, vstar, a, b, ja, jb, mu, lo, hi, c, u0, R, tolerance,
                order, slot, later_start, later, values, q, g, step, p, v, u,
            )  # fmt: skip
        _clip(p, mu, lo, hi)
        copy_table(vstar, v)
        add_impulses(inv_mass, inv_inertia, a, b, ja, jb, p, v)
        relative_velocity(a, b, ja, jb, u0, v, u)
        now = residual(p, u, c, mu, lo, hi, R)
        if now < 0.5 * best or (not quick and now < best):
            best, failed, quick = now, 0, True
            copy_table(p, best_p)
        elif quick:  # go back, and take the sure way
            quick = False
            if now < best:
                best = now
                copy_table(p, best_p)
            _restart(inv_mass, inv_inertia, vstar, a, b, ja, jb, u0, best_p, p, v, u)
        else:
            failed += 1
    _restart(inv_mass, inv_inertia, vstar, a, b, ja, jb, u0, best_p, p, v, u)
    return best, spent


@lean
def _regularisation(inv_mass, inv_inertia, a, b, ja, jb, mu, R):
    """R of each contact, the same in its three rows; K of each row of a joint (1 where it has none)."""
    for k in range(len(mu)):
        for r in range(3):
            K = inverse_effective_mass(inv_mass, inv_inertia, a, b, ja, jb, k, r if mu[k] < 0.0 else 2)
            R[k, r] = EPS * K if mu[k] >= 0.0 else (K if K > 0.0 else 1.0)
        if mu[k] == BALL:
            R[k, 0] = R[k, 1] = R[k, 2] = max(R[k, 0], R[k, 1], R[k, 2])


@lean
def _restart(inv_mass, inv_inertia, vstar, a, b, ja, jb, u0, best_p, p, v, u):
    """Impulses, and the velocities that belong to them, from the best found so far."""
    copy_table(best_p, p)
    copy_table(vstar, v)
    add_impulses(inv_mass, inv_inertia, a, b, ja, jb, p, v)
    relative_velocity(a, b, ja, jb, u0, v, u)


@lean
def _clip(p, mu, lo, hi):
    """Take impulses into Coulomb's cone, keeping the normal part, and those of joints into their bounds."""
    for k in range(len(mu)):
        if mu[k] < 0.0:
            clip_joint(mu[k], p, lo, hi, k)
        elif not p[k, 2] > 0.0:
            p[k, 0] = p[k, 1] = p[k, 2] = 0.0
        else:
            radius = mu[k] * p[k, 2]
            length = math.sqrt(p[k, 0] * p[k, 0] + p[k, 1] * p[k, 1])
            if length > radius:
                p[k, 0] *= radius / length
                p[k, 1] *= radius / length


@inner
def _convex(
    mass, inertia, vstar, a, b, ja, jb, mu, lo, hi, c, u0, R, tolerance,
    order, slot, later_start, later, values, q, g, step, p, v, u,
):  # fmt: skip
    """One round of the convex problem, shifted by the slip of the last iterate; returns the Newton iterations.

    ``p``, with its velocities ``v``, is the centre and then the answer.
    """
    n, m = len(mass), len(a)
    shift = np.zeros(m)
    gradient, trial = np.empty((n, 6)), np.empty((n, 6))
    spent, last = 0, math.inf
    relative_velocity(a, b, ja, jb, u0, v, u)
    for k in range(m):
        shift[k] = max(mu[k], 0.0) * math.hypot(u[k, 0] - c[k, 0], u[k, 1] - c[k, 1])
    for _ in range(40):
        spent += 1
        relative_velocity(a, b, ja, jb, u0, v, u)
        _project(p, u, c, mu, lo, hi, R, shift, True, q, g)
        clear_table(gradient)
        _add_transposed(a, b, ja, jb, q, gradient)
        for i in range(n):
            for r in range(6):
                trial[i, r] = v[i, r] - vstar[i, r]
        _add_momentum(mass, inertia, -1.0, trial, gradient)
        _assemble(mass, inertia, a, b, ja, jb, g, slot, values)
        factor(order, slot, later_start, later, values)
        copy_table(gradient, step)
        solve(order, slot, later_start, later, values, step)
        slope0, size = 0.0, 0.0
        for i in range(n):
            for r in range(6):
                slope0 += gradient[i, r] * step[i, r]
                size = max(size, abs(step[i, r]))
        # an error of v is one of v / R in the impulses; below EPS tolerance, or where rounding ends the progress, it is done
        if size <= EPS * tolerance or not slope0 > 0.0 or (size <= 1e3 * tolerance and size > 0.5 * last):
            break
        last = size
        # exact line search: the slope -dl/dalpha falls from slope0 > 0; find where it is near zero
        low, high, alpha = 0.0, 1.0, 1.0
        for _ in range(20):
            for i in range(n):
                for r in range(6):
                    trial[i, r] = v[i, r] + alpha * step[i, r]
            relative_velocity(a, b, ja, jb, u0, trial, u)
            _project(p, u, c, mu, lo, hi, R, shift, True, q, g)
            clear_table(gradient)
            _add_transposed(a, b, ja, jb, q, gradient)
            for i in range(n):
                for r in range(6):
                    trial[i, r] -= vstar[i, r]
            _add_momentum(mass, inertia, -1.0, trial, gradient)
            slope = 0.0
            for i in range(n):
                for r in range(6):
                    slope += gradient[i, r] * step[i, r]
            if slope >= -0.1 * slope0:
                if slope <= 0.5 * slope0 or alpha == 1.0:
                    break
                low = alpha
            else:
                high = alpha
            alpha = 0.5 * (low + high)
        for i in range(n):
            for r in range(6):
                v[i, r] += alpha * step[i, r]
    relative_velocity(a, b, ja, jb, u0, v, u)
    _project(p, u, c, mu, lo, hi, R, shift, True, q, g)
    copy_table(q, p)
    return spent


def _example():
    n3, n33, n6, m3, m36 = np.zeros(0), np.zeros((0, 3, 3)), np.zeros((0, 6)), np.zeros((0, 3)), np.zeros((0, 3, 6))
    ends = np.zeros(0, np.int64)
    return (n3, n33, n3, n33, n6, ends, ends, m36, m36, n3, m3, m3, m3, m3, 0.0, 0, m3, n6)


newton_far = far(newton, _example)
