"""The problem that kicks, impacts and corrections of overlaps share: bodies, blocks of three rows, and what each block asks for.

Bodies with mass matrix M would move at v*; impulses p of the blocks make it v = v* + M^-1 J^T p; and the relative velocity of
each block, u = J v + u0, and its impulses obey its law (block_laws.py). What differs between a kick, an impact and a displacement
is what the blocks ask for, `Laws`; who takes part, `Island`, and how they are coupled, `System`, are the same.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tumble.collision.kernels.group import owning_group
from tumble.collision.kernels.jit import inner, lean
from tumble.collision.linalg import copy_table
from tumble.sim.solvers.block_laws import BALL_LAW, COULOMB_LAW, DISC_LAW, clip_contact, clip_joint, coulomb, residual_joint

COMPLIANCE = 1e-5  # compliance of a contact in an iteration, as part of its own K_nn


@owning_group
class Island(NamedTuple):
    """Who takes part. Blocks stand in this order: contacts, joints, moments of contacts that resist turning."""

    members: np.ndarray  # (n,) int64 dynamic bodies
    rows: np.ndarray  # (m,) int64 contacts: rows of a table
    links: np.ndarray  # (l,) int64 joints
    owner: np.ndarray  # (o,) int64 of each block of joints its joint,
    block: np.ndarray  # (o,) int64 which of its blocks it is (joints/rows.py),
    place: np.ndarray  # (o,) int64 and the place of the joint in ``links``
    turning: np.ndarray  # (t,) int64 contacts with moments, as places in ``rows``


@owning_group
class System(NamedTuple):
    """Masses and couplings: n bodies, k blocks."""

    mass: np.ndarray  # (n,) [kg]
    inv_mass: np.ndarray  # (n,)
    inertia: np.ndarray  # (n, 3, 3) world axes [kg m^2]
    inv_inertia: np.ndarray  # (n, 3, 3)
    a: np.ndarray  # (k,) int64 first body of a block, -1: not moved by impulses
    b: np.ndarray  # (k,) int64 second body
    ja: np.ndarray  # (k, 3, 6) Jacobians; of contacts in rows (tangent, tangent, normal)
    jb: np.ndarray  # (k, 3, 6)


@owning_group
class Laws(NamedTuple):
    """What k blocks ask for."""

    law: np.ndarray  # (k,) int64 COULOMB_LAW, BOX_LAW or another of block_laws.py
    mu: np.ndarray  # (k,) friction of contacts
    lo: np.ndarray  # (k, 3) bounds of other rows
    hi: np.ndarray  # (k, 3)
    load: np.ndarray  # (k,) int64 block of the contact by whose normal impulse ``hi`` is multiplied, -1: by none
    c: np.ndarray  # (k, 3) target velocities
    u0: np.ndarray  # (k, 3) velocities that bodies which no impulse moves, and moving surfaces, bring along


NO_INDICES = np.zeros(0, np.int64)
NO_ISLAND = Island(NO_INDICES, NO_INDICES, NO_INDICES, NO_INDICES, NO_INDICES, NO_INDICES, NO_INDICES)
NO_SYSTEM = System(
    np.zeros(0),
    np.zeros(0),
    np.zeros((0, 3, 3)),
    np.zeros((0, 3, 3)),
    NO_INDICES,
    NO_INDICES,
    np.zeros((0, 3, 6)),
    np.zeros((0, 3, 6)),
)
NO_LAWS = Laws(NO_INDICES, np.zeros(0), np.zeros((0, 3)), np.zeros((0, 3)), NO_INDICES, np.zeros((0, 3)), np.zeros((0, 3)))


@inner
def blocks_of(system, first, last):
    """The same bodies, and blocks ``first`` to ``last`` alone."""
    a, b, ja, jb = system.a[first:last], system.b[first:last], system.ja[first:last], system.jb[first:last]
    return System(system.mass, system.inv_mass, system.inertia, system.inv_inertia, a, b, ja, jb)


@inner
def laws_after(laws, first, p):
    """Those of the blocks from ``first`` on, beside impulses p of those before, which stay."""
    lo, hi, c, u0 = laws.lo[first:], laws.hi[first:].copy(), laws.c[first:], laws.u0[first:]
    for k in range(len(hi)):
        if laws.load[first + k] >= 0:
            for r in range(3):
                hi[k, r] *= p[laws.load[first + k], 2]
    return Laws(laws.law[first:], laws.mu[first:], lo, hi, np.full(len(hi), -1), c, u0)


@lean
def pressed(laws, p, u, R, k):
    """What the bounds of block k are multiplied by: y_n of the contact that it belongs to, as Coulomb's cone is."""
    n = laws.load[k]
    return 1.0 if n < 0 else max(0.0, p[n, 2] - (u[n, 2] - laws.c[n, 2]) * COMPLIANCE / R[n, 2])


@lean
def inverse_effective_mass(system, k, axis):
    """How fast a unit impulse along an axis of contact k's frame makes it move along that axis: K_ii [1/kg]."""
    total = 0.0
    for side in range(2):
        i = system.a[k] if side == 0 else system.b[k]
        j = system.ja[k] if side == 0 else system.jb[k]
        if i >= 0:
            for r in range(3):
                total += system.inv_mass[i] * j[axis, r] * j[axis, r]
                for c in range(3):
                    total += j[axis, 3 + r] * system.inv_inertia[i, r, c] * j[axis, 3 + c]
    return total


@lean
def velocity_along(system, u0, v, k, r):
    """Relative velocity of row r of block k, where the bodies move at v."""
    u, i, j = u0[k, r], system.a[k], system.b[k]
    for d in range(6):
        if i >= 0:
            u += system.ja[k, r, d] * v[i, d]
        if j >= 0:
            u += system.jb[k, r, d] * v[j, d]
    return u


@lean
def add_impulses(system, p, v):
    """v += M^-1 J^T p"""
    a, b, ja, jb, inv_mass, inv_inertia = system.a, system.b, system.ja, system.jb, system.inv_mass, system.inv_inertia
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
def add_transposed(system, p, f):
    """f += J^T p"""
    a, b, ja, jb = system.a, system.b, system.ja, system.jb
    for k in range(len(a)):
        for c in range(6):
            if a[k] >= 0:
                f[a[k], c] += ja[k, 0, c] * p[k, 0] + ja[k, 1, c] * p[k, 1] + ja[k, 2, c] * p[k, 2]
            if b[k] >= 0:
                f[b[k], c] += jb[k, 0, c] * p[k, 0] + jb[k, 1, c] * p[k, 1] + jb[k, 2, c] * p[k, 2]


@lean
def relative_velocity(system, u0, v, u):
    """u = J v + u0"""
    a, b, ja, jb = system.a, system.b, system.ja, system.jb
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
def residual(laws, p, u, R):
    """Largest velocity by which a contact misses Coulomb's law, or a joint its own [m/s]: K_nn |P(p - (u - c)/K_nn) - p|.

    With K_nn, not R, an impulse where there should be none counts by the velocity that it gives; a smaller scale would
    hide it. inf where a number is none: the largest of some would not tell.
    """
    worst, total, c = 0.0, 0.0, laws.c
    for k in range(len(p)):
        for r in range(3):
            total += abs(p[k, r]) + abs(u[k, r])
        if laws.law[k] != COULOMB_LAW:
            worst = max(worst, residual_joint(laws, p, u, R, k, pressed(laws, p, u, R, k)))
            continue
        s = R[k, 2] / COMPLIANCE
        y = (p[k, 0] - (u[k, 0] - c[k, 0]) / s, p[k, 1] - (u[k, 1] - c[k, 1]) / s, p[k, 2] - (u[k, 2] - c[k, 2]) / s)
        q = coulomb(y, laws.mu[k])
        d0, d1, d2 = q[0] - p[k, 0], q[1] - p[k, 1], q[2] - p[k, 2]
        worst = max(worst, s * math.sqrt(d0 * d0 + d1 * d1 + d2 * d2))
    return worst if total < math.inf else math.inf


@lean
def regularisation(system, law, R):
    """R of each contact, the same in its three rows; K of each row of a joint (1 where it has none)."""
    for k in range(len(law)):
        for r in range(3):
            K = inverse_effective_mass(system, k, 2 if law[k] == COULOMB_LAW else r)
            R[k, r] = COMPLIANCE * K if law[k] == COULOMB_LAW else (K if K > 0.0 else 1.0)
        if law[k] == DISC_LAW:
            R[k, 0] = R[k, 1] = max(R[k, 0], R[k, 1])
        if law[k] == BALL_LAW:
            R[k, 0] = R[k, 1] = R[k, 2] = max(R[k, 0], R[k, 1], R[k, 2])


@lean
def evaluate(system, laws, vstar, R, p, v, u):
    """Take the impulses into their bounds; the velocities that belong to them, and the residual."""
    clip(laws, p)
    return missed(system, laws, vstar, R, p, v, u)


@lean
def missed(system, laws, vstar, R, p, v, u):
    """The velocities that belong to impulses, in their bounds or not, and the residual."""
    copy_table(vstar, v)
    add_impulses(system, p, v)
    relative_velocity(system, laws.u0, v, u)
    return residual(laws, p, u, R)


@lean
def clip(laws, p):
    """Take the impulses of all blocks into their bounds."""
    for k in range(len(p)):
        if laws.law[k] == COULOMB_LAW:
            clip_contact(p, laws.mu[k], k)
        else:
            clip_joint(laws, p, k)


@lean
def worth_of_works(system, laws, p, u):
    """The speed at which all bodies together would have the energy of the works that no contact may do [m/s]."""
    total, given, c = 0.0, 0.0, laws.c
    for k in range(len(system.mass)):
        total += system.mass[k]
    for k in range(len(p)):
        if laws.law[k] == COULOMB_LAW:
            given += abs(p[k, 2] * (u[k, 2] - c[k, 2]))
            given += max(0.0, p[k, 0] * (u[k, 0] - c[k, 0]) + p[k, 1] * (u[k, 1] - c[k, 1]))
    return math.sqrt(2.0 * given / total)


@lean
def energy_given(laws, p, u):
    """Energy that contacts give, the sum of p.(u - c) [J]."""
    given = 0.0
    for k in range(len(p)):
        if laws.law[k] == COULOMB_LAW:
            for r in range(3):
                given += p[k, r] * (u[k, r] - laws.c[k, r])
    return given
