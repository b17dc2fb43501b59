"""The rows of a contact problem: three a contact, in its frame, or three of a joint; what impulses do, and what they miss."""

from __future__ import annotations

import math

from collision.kernels.jit import lean
from collision.linalg import copy_table
from sim.solvers.friction import coulomb
from sim.solvers.joint_laws import BALL, DISC, clip_joint, residual_joint

EPS = 1e-5  # compliance of a contact in an iteration, as part of its own K_nn


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
def add_transposed(a, b, ja, jb, p, f):
    """f += J^T p"""
    for k in range(len(a)):
        for c in range(6):
            if a[k] >= 0:
                f[a[k], c] += ja[k, 0, c] * p[k, 0] + ja[k, 1, c] * p[k, 1] + ja[k, 2, c] * p[k, 2]
            if b[k] >= 0:
                f[b[k], c] += jb[k, 0, c] * p[k, 0] + jb[k, 1, c] * p[k, 1] + jb[k, 2, c] * p[k, 2]


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
def residual(p, u, c, mu, lo, hi, R):
    """Largest velocity by which a contact misses Coulomb's law, or a joint its own [m/s]: K_nn |P(p - (u - c)/K_nn) - p|.

    With K_nn, not R, an impulse where there should be none counts by the velocity that it gives; a smaller scale would
    hide it. inf where a number is none: the largest of some would not tell.
    """
    worst, total = 0.0, 0.0
    for k in range(len(mu)):
        for r in range(3):
            total += abs(p[k, r]) + abs(u[k, r])
        if mu[k] < 0.0:
            worst = max(worst, residual_joint(mu[k], p, u, c, R, lo, hi, k))
            continue
        s = R[k, 2] / EPS
        y = (p[k, 0] - (u[k, 0] - c[k, 0]) / s, p[k, 1] - (u[k, 1] - c[k, 1]) / s, p[k, 2] - (u[k, 2] - c[k, 2]) / s)
        q, _ = coulomb(y, mu[k])
        d0, d1, d2 = q[0] - p[k, 0], q[1] - p[k, 1], q[2] - p[k, 2]
        worst = max(worst, s * math.sqrt(d0 * d0 + d1 * d1 + d2 * d2))
    return worst if total < math.inf else math.inf


@lean
def regularisation(inv_mass, inv_inertia, a, b, ja, jb, mu, R):
    """R of each contact, the same in its three rows; K of each row of a joint (1 where it has none)."""
    for k in range(len(mu)):
        for r in range(3):
            K = inverse_effective_mass(inv_mass, inv_inertia, a, b, ja, jb, k, r if mu[k] < 0.0 else 2)
            R[k, r] = EPS * K if mu[k] >= 0.0 else (K if K > 0.0 else 1.0)
        if mu[k] == DISC:
            R[k, 0] = R[k, 1] = max(R[k, 0], R[k, 1])
        if mu[k] == BALL:
            R[k, 0] = R[k, 1] = R[k, 2] = max(R[k, 0], R[k, 1], R[k, 2])


@lean
def evaluate(inv_mass, inv_inertia, vstar, a, b, ja, jb, mu, lo, hi, c, u0, R, p, v, u):
    """Take the impulses into the cone; the velocities that belong to them, and the residual."""
    clip(p, mu, lo, hi)
    copy_table(vstar, v)
    add_impulses(inv_mass, inv_inertia, a, b, ja, jb, p, v)
    relative_velocity(a, b, ja, jb, u0, v, u)
    return residual(p, u, c, mu, lo, hi, R)


@lean
def clip(p, mu, lo, hi):
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
