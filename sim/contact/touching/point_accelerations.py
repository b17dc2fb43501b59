"""Accelerations of contact points in free flight, at an instant."""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.kernels.jit import far, hypot, lean, remote
from tumble.collision.linalg import ZERO, add, axpy, cross, dot, load3, load9, norm, scale, sub
from tumble.sim.contact.surfaces import surface_acceleration
from tumble.sim.equations import acceleration
from tumble.sim.state import DYNAMIC, EXAMPLE, ROWS

NO_CURVATURE = 1e-6  # [1/m] a curvature below this is none
RADIAN = 0.5  # [rad] a turn up to which the acceleration of a turning surface is that of the instant
FAINT = 0.1  # curvature times the size of a body: one below this is all but flat
POINT_CURVATURE = 1e8  # [1/m] and one above this a point: keeps the 2 x 2 system below well scaled


@lean
def _curvature(k_along, k_across, d, e, s, t):
    """Entries (ss, st, tt) of a curvature tensor k_along d d^T + k_across e e^T in the tangent basis s, t."""
    k1, k2 = min(k_along, POINT_CURVATURE), min(k_across, POINT_CURVATURE)
    d0, d1, e0, e1 = dot(d, s), dot(d, t), dot(e, s), dot(e, t)
    return k1 * d0 * d0 + k2 * e0 * e0, k1 * d0 * d1 + k2 * e0 * e1, k1 * d1 * d1 + k2 * e1 * e1


@remote
def _contact_acceleration(bodies, i, j, row, s, t, n, h):
    """Relative acceleration (s, t, n) of j against i in free flight, at the geometric contact.

    The place of contact wanders over both surfaces. With S the curvature tensors, w the wandering velocities against
    the material, u the slip and Omega = omega_j - omega_i: w_i - w_j = u and (S_i + S_j) w_j = Omega x n - S_i u
    (Montana, Int. J. Robotics Res. 7 (1988) 17, eq. 21), the normal turns by n' = omega_j x n - S_j w_j, and
    the second derivative of the gap is n.(a_j - a_i + omega_j x w_j - omega_i x w_i) + n'.u. A rolling sphere's centripetal
    acceleration cancels in it. ``h``: the time of the coming flight.
    """
    point = (row[0], row[1], row[2])
    da, db = (row[4], row[5], row[6]), (row[9], row[10], row[11])
    a0, a1, a2 = _curvature(row[7], row[8], da, cross(n, da), s, t)
    b0, b1, b2 = _curvature(row[12], row[13], db, cross(n, db), s, t)
    vi, wi = _foreseen(bodies, i)
    vj, wj = _foreseen(bodies, j)
    ri, rj = sub(point, load3(bodies.x, i)), sub(point, load3(bodies.x, j))
    u = sub(add(vj, cross(wj, rj)), add(vi, cross(wi, ri)))
    us, ut = dot(u, s), dot(u, t)
    turn = cross(sub(wj, wi), n)
    fs = dot(turn, s) - (a0 * us + a1 * ut)
    ft = dot(turn, t) - (a1 * us + a2 * ut)
    ws, wt = _pseudo_solve(a0 + b0, a1 + b1, a2 + b2, fs, ft, min(bodies.radius[i], bodies.radius[j]), h)
    wander_j = add(scale(ws, s), scale(wt, t))
    wander_i = add(wander_j, add(scale(us, s), scale(ut, t)))
    n_dot = sub(cross(wj, n), add(scale(b0 * ws + b1 * wt, s), scale(b1 * ws + b2 * wt, t)))
    if (
        row[12] >= POINT_CURVATURE or row[13] >= POINT_CURVATURE
    ):  # S_j w_j is then a large number times a small one: use the other side
        vs, vt = ws + us, wt + ut
        n_dot = add(cross(wi, n), add(scale(a0 * vs + a1 * vt, s), scale(a1 * vs + a2 * vt, t)))
    a = sub(
        add(material_acceleration(bodies, j, rj, wj), cross(wj, wander_j)),
        add(material_acceleration(bodies, i, ri, wi), cross(wi, wander_i)),
    )
    gap = dot(a, n) + us * dot(n_dot, s) + ut * dot(n_dot, t)
    if bodies.runs[i]:
        a = sub(a, surface_acceleration(bodies, i, point, wi, wander_i))
    if bodies.runs[j]:
        a = add(a, surface_acceleration(bodies, j, point, wj, wander_j))
    turned = h * max(norm(wi), norm(wj))
    if turned > RADIAN:  # what turning adds does not last so long
        free, part = sub(free_acceleration(bodies, j), free_acceleration(bodies, i)), RADIAN / turned
        gap = dot(free, n) + part * (gap - dot(free, n))
        a = axpy(part, sub(a, free), free)
    return (dot(a, s), dot(a, t), gap)


contact_acceleration = far(
    _contact_acceleration, lambda: (EXAMPLE.bodies, 0, 0, np.zeros(ROWS), ZERO, ZERO, ZERO, 0.0), returns=(0.0,) * 3
)


@lean
def _pseudo_solve(m0, m1, m2, fs, ft, reach, h):
    """Least-norm solution of a symmetric positive semidefinite 2 x 2 system; curvatures below NO_CURVATURE count as zero.

    So do faint ones by which the place of contact would wander off the bodies, which reach so far [m], in the time h: two
    edges that are all but parallel touch where they end, not where their lines come closest.
    """
    mean, half = 0.5 * (m0 + m2), hypot(0.5 * (m0 - m2), m1)
    high, low = mean + half, mean - half
    if high < NO_CURVATURE:
        return 0.0, 0.0
    # the eigenvector of the larger eigenvalue
    if m0 >= m2:
        c, d = m0 - mean + half, m1
    else:
        c, d = m1, m2 - mean + half
    size = c * c + d * d
    if low >= NO_CURVATURE:
        det = m0 * m2 - m1 * m1
        ws, wt = (m2 * fs - m1 * ft) / det, (m0 * ft - m1 * fs) / det
        if low * reach > FAINT or size == 0.0 or abs(c * wt - d * ws) * h <= reach * math.sqrt(size):
            return ws, wt
    # one direction only
    f = (c * fs + d * ft) / (size * high)
    return f * c, f * d


@lean
def _foreseen(bodies, i):
    """Velocity and angular velocity in the middle of the coming flight, where forces tell; else the present ones."""
    return add(load3(bodies.v, i), load3(bodies.dv, i)), add(load3(bodies.w, i), load3(bodies.dw, i))


@lean
def material_acceleration(bodies, i, r, w):
    """Acceleration in free flight of the material point of body i at r from its centre of mass; w its angular velocity."""
    centripetal = cross(w, cross(w, r))
    if bodies.kind[i] != DYNAMIC:
        return add(add(load3(bodies.gravity, i), cross(load3(bodies.torque, i), r)), centripetal)
    alpha = acceleration(w, load9(bodies.rot, i), load9(bodies.inertia, i), load9(bodies.inv_inertia, i), load3(bodies.torque, i))
    return add(add(free_acceleration(bodies, i), cross(alpha, r)), centripetal)


@lean
def free_acceleration(bodies, i):
    """Acceleration of the centre of mass in free flight [m/s^2]."""
    return axpy(bodies.inv_mass[i], load3(bodies.force, i), load3(bodies.gravity, i))
