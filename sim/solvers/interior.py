"""Impulses of many contacts at once, from the inside of the cones: where Newton's method does not find who slides.

With x = (p_t/mu, p_n) and z = (mu u_t, u_n + mu |u_t|), u measured from the target c, Coulomb's law says that x and z lie in the
cone |.|_t <= ._n and that x.z = 0 (De Saxce's form; Acary, Cadoux, Lemarechal, Malick, Z. angew. Math. Mech. 91 (2011) 155).
A primal-dual interior point method follows the path on which the products of x and z (in the algebra of the cone) are the same
for all contacts, down to zero: x and z are scaled to each other (Nesterov, Todd), each step is a prediction and Mehrotra's
correction of it (the steps, and how far to go, as in Vandenberghe, The CVXOPT linear and quadratic cone program solvers, 2010).
Because |u_t| stands in z the problem is not convex; its derivative is part of the linear system, as in Newton's method. Held
fixed within a step, as convex methods need it, 102 blocks took 56 steps instead of 8.

It needs no guess, does not mind redundant points, loads that differ a thousandfold or tall stacks, in which the
eigenvalues of J M^-1 J^T spread over eight orders of magnitude: seven to fourteen steps from a cold start, each about one
of Newton's. What sticks ends in the middle of all splits of the load. It can not start from a nearly solved problem, and of
what slides, on the boundary of the cone, half of the digits are lost: both are left to newton.py.

Blocks of joints are taken along by Newton's method: their laws as projections, see block_laws.py.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.kernels.jit import far, hypot, inner, kernel, lean
from tumble.collision.linalg import clear_table, copy_table, dot, load3, load9, mul, scale, store3, store9, sub
from tumble.sim.solvers.block_laws import COULOMB_LAW, project_joint
from tumble.sim.solvers.blocks import SLOPES, assemble_matrix, factor, solve_factored, symbolic
from tumble.sim.solvers.problem import (
    COMPLIANCE,
    NO_LAWS,
    NO_SYSTEM,
    add_transposed,
    evaluate,
    pressed,
    regularisation,
    relative_velocity,
)

BACK = 0.995  # part of the way to the boundary that a step takes
# The boundary of the cones cuts steps short. If less than this part of a step is left three times in a row, the search leads
# nowhere.
IDLE_STEP = 1e-4
MOST_IDLE_STEPS = 12  # the search ends after so many steps in a row that halved neither the residual nor the products x.z
CORNER = 1e-2  # |u_t| has a corner at zero: at slips below this part of the tolerance its slope is that of a smooth function


@lean
def _product(x, y):
    """x o y in the algebra of the cone."""
    return (x[2] * y[0] + y[2] * x[0], x[2] * y[1] + y[2] * x[1], x[0] * y[0] + x[1] * y[1] + x[2] * y[2])


@lean
def _quotient(x, d):
    """y with x o y = d."""
    y = (x[2] * d[2] - x[0] * d[0] - x[1] * d[1]) / _determinant(x)
    return ((d[0] - y * x[0]) / x[2], (d[1] - y * x[1]) / x[2], y)


@lean
def _determinant(x):
    """x_n^2 - |x_t|^2: positive inside the cone, zero on its boundary."""
    t = hypot(x[0], x[1])
    return (x[2] - t) * (x[2] + t)


@lean
def _scaling(x, z):
    """(W, whether both are inside the cone): the symmetric W with W z = W^-1 x, by rows."""
    dx, dz = _determinant(x), _determinant(z)
    if not (dx > 0.0 and dz > 0.0 and x[2] > 0.0 and z[2] > 0.0):
        return (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), False
    dx, dz = math.sqrt(dx), math.sqrt(dz)
    x, z = scale(1.0 / dx, x), scale(1.0 / dz, z)
    f = 1.0 / math.sqrt(2.0 * (1.0 + x[0] * z[0] + x[1] * z[1] + x[2] * z[2]))
    s, t, n = f * (x[0] - z[0]), f * (x[1] - z[1]), f * (x[2] + z[2])
    h, e = 1.0 / (1.0 + n), math.sqrt(dx / dz)
    st = e * h * s * t
    return (e * (1.0 + h * s * s), st, e * s, st, e * (1.0 + h * t * t), e * t, e * s, e * t, e * n), True


@lean
def _to_boundary(x, d):
    """The largest a for which x + a d is in the cone."""
    a = d[2] * d[2] - d[0] * d[0] - d[1] * d[1]
    b = x[2] * d[2] - x[0] * d[0] - x[1] * d[1]
    c = _determinant(x)
    root = b * b - a * c
    most = -x[2] / d[2] if d[2] < 0.0 else math.inf
    if a < 0.0 and b >= 0.0:
        return min(most, (-b - math.sqrt(max(root, 0.0))) / a)
    if b < 0.0 and root >= 0.0:
        return min(most, c / (math.sqrt(root) - b))
    return most


@inner
def _start(laws, u, R, x, z):
    """Impulses and velocities of the size of the problem, in the middle of the cones."""
    size, c = 0.0, laws.c
    for k in range(len(u)):
        if laws.law[k] == COULOMB_LAW:
            size = max(size, abs(u[k, 0] - c[k, 0]), abs(u[k, 1] - c[k, 1]), abs(u[k, 2] - c[k, 2]))
    for k in range(len(u)):
        store3(x, k, (0.0, 0.0, size * COMPLIANCE / R[k, 2]))
        store3(z, k, (0.0, 0.0, size))


@lean
def _slip(laws, u, k):
    """mu |u_t|"""
    return laws.mu[k] * hypot(u[k, 0] - laws.c[k, 0], u[k, 1] - laws.c[k, 1])


@lean
def _impulses(laws, x, p):
    """The impulses p of contacts from x."""
    for k in range(len(p)):
        if laws.law[k] == COULOMB_LAW:
            store3(p, k, (laws.mu[k] * x[k, 0], laws.mu[k] * x[k, 1], x[k, 2]))


@lean
def _linearise(laws, u, x, z, w, g, miss, slope, corner):
    """Scalings ``w``, their part ``g`` of the matrix, by how much z is not what u says (``miss``), the derivative of mu |u_t|,
    which is smooth at slips below ``corner``; returns (mean of x.z, whether all is inside)."""
    product, count, c = 0.0, 0, laws.c
    for k in range(len(u)):
        if laws.law[k] != COULOMB_LAW:
            continue
        f = laws.mu[k]
        d0, d1, d2 = u[k, 0] - c[k, 0], u[k, 1] - c[k, 1], u[k, 2] - c[k, 2]
        slip = math.sqrt(d0 * d0 + d1 * d1 + corner * corner)
        slope[k, 0], slope[k, 1] = f * d0 / slip, f * d1 / slip
        store3(miss, k, sub((f * d0, f * d1, d2 + f * hypot(d0, d1)), load3(z, k)))
        product += x[k, 0] * z[k, 0] + x[k, 1] * z[k, 1] + x[k, 2] * z[k, 2]
        count += 1
        scaling, inside = _scaling(load3(x, k), load3(z, k))
        if not inside:
            return 0.0, False
        store9(w, k, scaling)
        for r in range(3):
            row = mul(scaling, (scaling[3 * r], scaling[3 * r + 1], scaling[3 * r + 2]))  # of W^2
            fr = f if r < 2 else 1.0
            g[k, 3 * r] = fr * (f * row[0] + slope[k, 0] * row[2])
            g[k, 3 * r + 1] = fr * (f * row[1] + slope[k, 1] * row[2])
            g[k, 3 * r + 2] = fr * row[2]
    return product / max(count, 1), True


@lean
def _right_side(laws, z, w, miss, dz, target, correct, t, rhs):
    """t = W^-1 dx + W dz that takes x o z to ``target`` times 1, with the product of the predicted dx and dz where ``correct``;
    impulses that follow from it and from what z misses."""
    for k in range(len(z)):
        if laws.law[k] != COULOMB_LAW:
            continue
        f = laws.mu[k]
        W = load9(w, k)
        size = mul(W, load3(z, k))  # of x and z both, scaled to each other
        d = scale(-1.0, _product(size, size))
        if correct:
            b = mul(W, load3(dz, k))
            d = sub(d, _product(sub(load3(t, k), b), b))
        t_k = _quotient(size, (d[0], d[1], d[2] + target))
        store3(t, k, t_k)
        q = mul(W, sub(t_k, mul(W, load3(miss, k))))
        store3(rhs, k, (f * q[0], f * q[1], q[2]))


@lean
def _changes(laws, du, w, miss, slope, t, x, z, dx, dz):
    """dx, dz that the changes of velocity make; the longest step that stays in the cones."""
    longest = math.inf
    for k in range(len(du)):
        if laws.law[k] != COULOMB_LAW:
            continue
        f = laws.mu[k]
        d0, d1 = du[k, 0], du[k, 1]
        n = du[k, 2] + slope[k, 0] * d0 + slope[k, 1] * d1
        W = load9(w, k)
        store3(dz, k, (f * d0 + miss[k, 0], f * d1 + miss[k, 1], n + miss[k, 2]))
        store3(dx, k, mul(W, sub(load3(t, k), mul(W, load3(dz, k)))))
        longest = min(longest, _to_boundary(load3(x, k), load3(dx, k)), _to_boundary(load3(z, k), load3(dz, k)))
    return longest


@lean
def _joint_rows(laws, p, u, R, rhs, g):
    """Newton's step for the blocks of joints."""
    for k in range(len(p)):
        if laws.law[k] != COULOMB_LAW:
            q, minus_slope, _ = project_joint(laws, p, u, R, k, pressed(laws, p, u, R, k), 0.0)
            store3(rhs, k, sub(q, load3(p, k)))
            for i in range(9):
                g[k, i] = minus_slope[i]


@kernel
def interior(system, laws, vstar, tolerance, most, p, v):
    """Solve for the impulses, whatever ``p`` was; returns (residual [m/s], iterations). Arguments as in newton.newton_single."""
    n, m = len(system.mass), len(p)
    u, R = np.empty((m, 3)), np.empty((m, 3))
    regularisation(system, laws.law, R)
    best, best_p = math.inf, p.copy()
    order, slot, later_start, later, blocks = symbolic(n, system.a, system.b)
    values = np.empty((blocks, 6, 6))
    x, z, dx, dz, t = np.zeros((m, 3)), np.zeros((m, 3)), np.zeros((m, 3)), np.zeros((m, 3)), np.zeros((m, 3))
    miss, slope, rhs, du, none = np.zeros((m, 3)), np.zeros((m, 2)), np.zeros((m, 3)), np.empty((m, 3)), np.zeros((m, 3))
    w, g, step = np.zeros((m, 3, 3)), np.zeros((m, SLOPES)), np.empty((n, 6))
    tangent = np.empty(m)

    p[:] = 0.0
    evaluate(system, laws, vstar, R, p, v, u)
    _start(laws, u, R, x, z)
    _impulses(laws, x, p)
    evaluate(system, laws, vstar, R, p, v, u)
    spent, idle, short, reached, least = 0, 0, 0, math.inf, math.inf
    while spent < most and short < 3 and idle < MOST_IDLE_STEPS:
        spent += 1
        product, inside = _linearise(laws, u, x, z, w, g, miss, slope, CORNER * tolerance)
        if not inside:
            break
        _joint_rows(laws, p, u, R, rhs, g)
        assemble_matrix(system, laws.load, g, slot, values)
        factor(order, slot, later_start, later, values)
        target, part = 0.0, 0.0
        for correct in (False, True):
            _right_side(laws, z, w, miss, dz, target, correct, t, rhs)
            clear_table(step)
            add_transposed(system, rhs, step)
            solve_factored(order, slot, later_start, later, values, step)
            relative_velocity(system, none, step, du)
            part = min(1.0, BACK * _changes(laws, du, w, miss, slope, t, x, z, dx, dz))
            left = 1.0 - part
            target = product * (left * (left * left))
        for k in range(m):
            for r in range(3):
                x[k, r] += part * dx[k, r]
                z[k, r] += part * dz[k, r]
                if laws.law[k] != COULOMB_LAW:
                    row = (g[k, 3 * r], g[k, 3 * r + 1], g[k, 3 * r + 2])
                    p[k, r] += part * (rhs[k, r] - dot(row, load3(du, k)))
            tangent[k] = _slip(laws, u, k) + part * (slope[k, 0] * du[k, 0] + slope[k, 1] * du[k, 1])
        _impulses(laws, x, p)
        now = evaluate(system, laws, vstar, R, p, v, u)
        for k in range(m):  # |u_t| is above its tangents: what the step did not know of takes z further inside
            z[k, 2] += max(0.0, _slip(laws, u, k) - tangent[k])
        short = short + 1 if part < IDLE_STEP else 0
        idle = 0 if now < 0.5 * reached or product < 0.5 * least else idle + 1
        reached, least = min(reached, now), min(least, product)
        if now < best:
            best = now
            copy_table(p, best_p)
        if now <= tolerance:
            break
    copy_table(best_p, p)
    evaluate(system, laws, vstar, R, p, v, u)
    return best, spent


_T3, _T6 = np.zeros((0, 3)), np.zeros((0, 6))
interior_far = far(interior, lambda: (NO_SYSTEM, NO_LAWS, _T6, 0.0, 0, _T3, _T6), returns=(0.0, 0))
