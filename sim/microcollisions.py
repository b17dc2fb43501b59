"""The kick: one impulse solve for everything that touches.

Mirtich's idea, a body at rest bounces imperceptibly, made second order: a resting box arrives with -g dt/2, is kicked to
+g dt/2, flies a parabola and arrives again; at the steps its position is exact. With u the relative velocity before the
kick, u' after it, and a the relative acceleration of the coming free flight of length h, the kick asks for

    normal     u'_n >= -h/2 a_n - gap/h where open, >= -h/2 a_n where touching, with complementarity
    tangential sticking: u'_t = -h/2 a_t, if the impulse lies in the cone;
               sliding: p_t = -mu p_n d, d the slip in the middle of the kick, (u + u')/2; where that slip is below
               |a_t| h, the slip u'_t + h/2 a_t instead. With d half a step late the scheme were of order one.

The unknown of the solve is the velocity in the middle of the kick and half the impulse, p' = p/2: then the slip of the
law is the solver's own u, with target c = (u + b)/2 normal to the contact and c_t = 0 (sliding) or (u_t - h/2 a_t)/2.
"""

from __future__ import annotations

import math

import numpy as np

from collision.jit import far, inner, kernel, lean
from collision.linalg import add, add3, cross, dot, load3, load9, mul, mul_t, scale, store3, sub, symmetric_product
from sim import ledger
from sim.motion import (
    drive,
    kinetic_energy,
    place,
    point_velocity,
    refresh_velocity,
    world_inverse_inertia,
)
from sim.solvers.newton import newton_far as newton
from sim.state import CAPPED, DEPTH, DYNAMIC, EXAMPLE, ITERATIONS, RESIDUAL, SETTINGS, SOLVES, UNSOLVED

KICK, START, AGAIN = range(3)  # at a step; velocities given as the mean; inside the drift

ROUNDS = 4  # changes between the laws of sticking and sliding


@inner
def kick(bodies, contacts, books, settings, h, mode):
    """Kick every island of a table sorted by islands (islands.label_islands)."""
    n = contacts.count[0]
    first = 0
    local = np.full(len(bodies.kind), -1, dtype=np.int64)
    while first < n:
        last = first + 1
        while last < n and contacts.island[contacts.order[last]] == contacts.island[contacts.order[first]]:
            last += 1
        kick_island(bodies, contacts, books, settings, h, mode, contacts.order[first:last], local)
        first = last


@kernel
def _kick_island(bodies, contacts, books, settings, h, mode, rows, local):
    """Solve the contacts ``rows`` together and apply the impulses. ``local`` is all -1, and is so again afterwards."""
    m = len(rows)
    members, a, b, mass, inv_mass, inertia, inv_inertia, vstar, v, ja, jb, u0, mu, p = problem(bodies, contacts, rows, local)
    c = np.empty((m, 3))
    if mode != AGAIN and _too_deep(contacts, books, settings, rows):
        # the poses first: the works of the kick are then those of the poses that fly on
        _correct_depth(bodies, contacts, books, settings, rows, members, mass, inertia, inv_mass, inv_inertia, a, b, ja, jb)
        _load_bodies(bodies, members, mass, inv_mass, inertia, inv_inertia, vstar)
        _load_contacts(bodies, contacts, rows, a, b, ja, jb, u0, mu, p)

    locked = np.zeros(m, dtype=np.bool_)
    for round in range(ROUNDS):
        _targets(contacts, rows, h, mode, c)
        worst, spent = newton(
            mass, inertia, inv_mass, inv_inertia, vstar, a, b, ja, jb, mu, c, u0, settings.tolerance, settings.iterations, p, v
        )
        books.counters[SOLVES] += 1
        books.counters[ITERATIONS] += spent
        if mode == START or not _change_laws(contacts, rows, h, mu, p, v, a, b, ja, jb, u0, locked, round):
            break
    books.worst[RESIDUAL] = max(books.worst[RESIDUAL], worst)
    if worst > settings.tolerance:
        books.counters[UNSOLVED] += 1
        if spent >= settings.iterations:
            books.counters[CAPPED] += 1
    _apply(bodies, contacts, books, rows, p, mode)
    for i in members:
        local[i] = -1


@inner
def problem(bodies, contacts, rows, local):
    """The arrays of solvers.newton for the contacts ``rows`` of a table, and the dynamic bodies that take part.

    ``local`` must be all -1; it then holds each member's place.
    """
    m = len(rows)
    members, a, b = _members(bodies, contacts, rows, local)
    n = len(members)
    mass, inv_mass = np.empty(n), np.empty(n)
    inertia, inv_inertia = np.empty((n, 3, 3)), np.empty((n, 3, 3))
    vstar, v = np.empty((n, 6)), np.empty((n, 6))
    _load_bodies(bodies, members, mass, inv_mass, inertia, inv_inertia, vstar)
    ja, jb = np.zeros((m, 3, 6)), np.zeros((m, 3, 6))
    u0, mu, p = np.zeros((m, 3)), np.empty(m), np.empty((m, 3))
    _load_contacts(bodies, contacts, rows, a, b, ja, jb, u0, mu, p)
    return members, a, b, mass, inv_mass, inertia, inv_inertia, vstar, v, ja, jb, u0, mu, p


@inner
def _members(bodies, contacts, rows, local):
    """Dynamic bodies of these contacts, and the local index of each contact's two bodies (-1: not dynamic)."""
    m = len(rows)
    members = np.empty(2 * m, dtype=np.int64)
    ends = np.full((2, m), -1, dtype=np.int64)
    n = 0
    for k in range(m):
        for side in range(2):
            i = contacts.body[rows[k], side]
            if bodies.kind[i] == DYNAMIC:
                if local[i] < 0:
                    local[i] = n
                    members[n] = i
                    n += 1
                ends[side, k] = local[i]
    return members[:n], ends[0], ends[1]


@lean
def _load_bodies(bodies, members, mass, inv_mass, inertia, inv_inertia, v):
    for k in range(len(members)):
        i = members[k]
        mass[k], inv_mass[k] = bodies.mass[i], bodies.inv_mass[i]
        j = symmetric_product(load9(bodies.rot, i), load9(bodies.inertia, i))
        w = world_inverse_inertia(bodies, i)
        for r in range(3):
            for s in range(3):
                inertia[k, r, s] = j[3 * r + s]
                inv_inertia[k, r, s] = w[3 * r + s]
            v[k, r] = bodies.v[i, r]
            v[k, 3 + r] = bodies.w[i, r]


@lean
def _load_contacts(bodies, contacts, rows, a, b, ja, jb, u0, mu, p):
    for k in range(len(rows)):
        row = rows[k]
        point = load3(contacts.point, row)
        mu[k] = contacts.mu[row]
        for r in range(3):
            p[k, r] = contacts.impulse[row, r]
            e = (contacts.frame[row, r, 0], contacts.frame[row, r, 1], contacts.frame[row, r, 2])
            i, j = contacts.body[row, 0], contacts.body[row, 1]
            if a[k] >= 0:
                arm = cross(sub(point, load3(bodies.x, i)), e)
                for d in range(3):
                    ja[k, r, d] = -e[d]
                    ja[k, r, 3 + d] = -arm[d]
            else:
                u0[k, r] -= dot(e, point_velocity(bodies, i, point))
            if b[k] >= 0:
                arm = cross(sub(point, load3(bodies.x, j)), e)
                for d in range(3):
                    jb[k, r, d] = e[d]
                    jb[k, r, 3 + d] = arm[d]
            else:
                u0[k, r] += dot(e, point_velocity(bodies, j, point))


@lean
def _targets(contacts, rows, h, mode, c):
    """The velocity that each contact is solved towards, in its frame; see the head of this file."""
    for k in range(len(rows)):
        row = rows[k]
        b_n = -0.5 * h * contacts.accel[row, 2] - max(contacts.gap[row], 0.0) / h
        if mode == START:
            c[k, 2] = b_n
            for r in range(2):
                c[k, r] = -0.5 * h * contacts.accel[row, r]
        else:
            c[k, 2] = 0.5 * (contacts.u[row, 2] + b_n)
            for r in range(2):
                c[k, r] = 0.0 if contacts.slides[row] else 0.5 * (contacts.u[row, r] - 0.5 * h * contacts.accel[row, r])


@lean
def _change_laws(contacts, rows, h, mu, p, v, a, b, ja, jb, u0, locked, round):
    """Switch contacts whose solution belongs to the other law of friction; True where any was."""
    changed = False
    for k in range(len(rows)):
        row = rows[k]
        if p[k, 2] == 0.0 or locked[k]:
            continue
        m0, m1 = u0[k, 0], u0[k, 1]  # slip in the middle of the kick
        for d in range(6):
            if a[k] >= 0:
                m0 += ja[k, 0, d] * v[a[k], d]
                m1 += ja[k, 1, d] * v[a[k], d]
            if b[k] >= 0:
                m0 += jb[k, 0, d] * v[b[k], d]
                m1 += jb[k, 1, d] * v[b[k], d]
        a0, a1 = contacts.accel[row, 0], contacts.accel[row, 1]
        # slip in the middle of the coming flight: u' + h/2 a, u' = 2 u_middle - u
        f0, f1 = 2.0 * m0 - contacts.u[row, 0] + 0.5 * h * a0, 2.0 * m1 - contacts.u[row, 1] + 0.5 * h * a1
        in_cone = math.hypot(p[k, 0], p[k, 1]) < mu[k] * p[k, 2] * (1.0 - 1e-9)
        slow = math.hypot(m0, m1) <= math.hypot(a0, a1) * h
        fast = not (in_cone or slow or m0 * f0 + m1 * f1 <= 0.0)
        if contacts.slides[row] and not fast:
            contacts.slides[row] = 0
            locked[k] = True
            changed = True
        elif not contacts.slides[row] and fast and round < 2:
            contacts.slides[row] = 1
            changed = True
    return changed


@lean
def _apply(bodies, contacts, books, rows, p, mode):
    """Impulses to momenta, at one common point with opposite signs; works to the books."""
    # START: the given velocity is the mean; half the impulse before it, half after. Otherwise the impulse is twice p'.
    for k in range(len(rows)):
        row = rows[k]
        store3(contacts.impulse, row, (p[k, 0], p[k, 1], p[k, 2]))
        e = load9(contacts.frame, row)
        q = mul_t(e, (p[k, 0], p[k, 1], p[k, 2]))
        point = load3(contacts.point, row)
        for side in range(2):
            i = contacts.body[row, side]
            f = q if side == 1 else scale(-1.0, q)
            if bodies.kind[i] == DYNAMIC:
                arm = cross(sub(point, load3(bodies.x, i)), f)
                if mode == START:
                    add3(bodies.p_before, i, scale(-1.0, f))
                    add3(bodies.l_before, i, scale(-1.0, arm))
                    add3(bodies.p, i, f)
                    add3(bodies.l, i, arm)
                else:
                    add3(bodies.p, i, scale(2.0, f))
                    add3(bodies.l, i, scale(2.0, arm))
            else:
                _to_reservoir(books, f, point, mode)
    for k in range(len(rows)):
        for side in range(2):
            i = contacts.body[rows[k], side]
            if bodies.kind[i] == DYNAMIC:
                refresh_velocity(bodies, i)
    for k in range(len(rows)):
        _book(bodies, contacts, books, rows[k], mode)


@lean
def _to_reservoir(books, f, point, mode):
    """Momentum that static and driven bodies take up; f is half the impulse."""
    arm = cross(point, f)
    for r in range(3):
        if mode != START:
            books.reservoir[0, r] += f[r]
            books.reservoir[1, r] += arm[r]
        if mode == AGAIN:
            books.reservoir[0, r] += f[r]
            books.reservoir[1, r] += arm[r]
        else:
            books.reservoir_pending[0, r] += f[r]
            books.reservoir_pending[1, r] += arm[r]


@lean
def _book(bodies, contacts, books, row, mode):
    """Works of the impulse of a contact, before and after the middle of the kick."""
    e = load9(contacts.frame, row)
    s, t, n = (e[0], e[1], e[2]), (e[3], e[4], e[5]), (e[6], e[7], e[8])
    point = load3(contacts.point, row)
    i, j = contacts.body[row, 0], contacts.body[row, 1]
    vi, vj = point_velocity(bodies, i, point), point_velocity(bodies, j, point)
    u = sub(vj, vi)
    after = (dot(u, s), dot(u, t), dot(u, n))
    store3(contacts.u_after, row, after)
    p = scale(2.0, load3(contacts.impulse, row))
    before = load3(contacts.u, row)
    if mode == START:  # contacts.u was the mean
        before = (2.0 * before[0] - after[0], 2.0 * before[1] - after[1], 2.0 * before[2] - after[2])
        store3(contacts.u, row, before)
    # normal work: what a slow landing loses is a loss like that of an impact; what is left belongs to the phase of the
    # micro-collisions, taken before the middle of the kick and given back after it
    net = 0.5 * p[2] * (before[2] + after[2])
    phase = 0.125 * p[2] * (after[2] - before[2])
    loss = max(0.0, -net)
    normal1, normal2 = 0.5 * (net + loss) - phase, 0.5 * (net + loss) + phase
    slip1 = (p[0] * (3.0 * before[0] + after[0]) + p[1] * (3.0 * before[1] + after[1])) / 8.0
    slip2 = (p[0] * (before[0] + 3.0 * after[0]) + p[1] * (before[1] + 3.0 * after[1])) / 8.0
    # a driven body's velocity is not changed by impulses: its work is the same in both halves
    world = add(add(scale(p[0], s), scale(p[1], t)), scale(p[2], n))
    driven = 0.0
    if bodies.kind[i] != DYNAMIC:
        driven += 0.5 * dot(world, vi)
    if bodies.kind[j] != DYNAMIC:
        driven -= 0.5 * dot(world, vj)
    books.moved[0] += loss + abs(normal1) + abs(normal2) + abs(slip1) + abs(slip2) + 2.0 * abs(driven)
    if mode != START:
        books.energy[ledger.CONTACT] += normal1
        books.energy[ledger.RESTITUTION] += 0.5 * loss
        books.energy[ledger.FRICTION] -= slip1
        books.energy[ledger.EXTERNAL] += driven
    if mode == AGAIN:
        books.energy[ledger.CONTACT] += normal2
        books.energy[ledger.RESTITUTION] += 0.5 * loss
        books.energy[ledger.FRICTION] -= slip2
        books.energy[ledger.EXTERNAL] += driven
    else:
        books.pending[ledger.CONTACT] += normal2
        books.pending[ledger.RESTITUTION] += 0.5 * loss
        books.pending[ledger.FRICTION] -= slip2
        books.pending[ledger.EXTERNAL] += driven


@lean
def _too_deep(contacts, books, settings, rows):
    """An overlap is deeper than rounding."""
    deepest = 0.0
    for k in range(len(rows)):
        deepest = max(deepest, -contacts.gap[rows[k]])
    books.worst[DEPTH] = max(books.worst[DEPTH], deepest)
    return deepest > settings.slop


@inner
def _correct_depth(bodies, contacts, books, settings, rows, members, mass, inertia, inv_mass, inv_inertia, a, b, ja, jb):
    """Remove part of every overlap by a displacement that leaves the momenta alone; its work goes to the books.

    The displacement is the smallest, in the metric of the masses, that opens the overlaps and closes no other contact.
    """
    m, n = len(rows), len(members)
    deepest = 0.0
    for k in range(m):
        deepest = max(deepest, -contacts.gap[rows[k]])
    rest, d = np.zeros((n, 6)), np.zeros((n, 6))
    c, none, smooth, p = np.zeros((m, 3)), np.zeros((m, 3)), np.zeros(m), np.zeros((m, 3))
    for k in range(m):
        gap = contacts.gap[rows[k]]
        c[k, 2] = -gap * settings.correction if gap < 0.0 else -gap
    newton(mass, inertia, inv_mass, inv_inertia, rest, a, b, ja, jb, smooth, c, none, 1e-9 * deepest, settings.iterations, p, d)
    for k in range(n):
        i = members[k]
        l, q = load3(bodies.l, i), load3(bodies.p, i)
        before = _energy(bodies, i)
        x, turned = drive(load3(bodies.x, i), _q(bodies, i), (d[k, 0], d[k, 1], d[k, 2]), (d[k, 3], d[k, 4], d[k, 5]), 1.0)
        place(bodies, i, x, turned, q, l)
        work = _energy(bodies, i) - before
        books.energy[ledger.CORRECTION] += work
        books.moved[0] += abs(work)
    for k in range(m):  # the same momenta at new poses
        i, j, point = contacts.body[rows[k], 0], contacts.body[rows[k], 1], load3(contacts.point, rows[k])
        u = sub(point_velocity(bodies, j, point), point_velocity(bodies, i, point))
        store3(contacts.u, rows[k], mul(load9(contacts.frame, rows[k]), u))


@lean
def _q(bodies, i):
    return (bodies.q[i, 0], bodies.q[i, 1], bodies.q[i, 2], bodies.q[i, 3])


@lean
def _energy(bodies, i):
    """Kinetic energy of the mean momenta plus potential energy of body i [J]."""
    p = scale(0.5, add(load3(bodies.p, i), load3(bodies.p_before, i)))
    l = scale(0.5, add(load3(bodies.l, i), load3(bodies.l_before, i)))
    linear, angular = kinetic_energy(bodies, i, p, l)
    return linear + angular - bodies.mass[i] * dot(load3(bodies.gravity, i), load3(bodies.x, i))


kick_island = far(
    _kick_island,
    lambda: (
        EXAMPLE.bodies,
        EXAMPLE.contacts,
        EXAMPLE.books,
        SETTINGS,
        0.0,
        0,
        np.zeros(0, np.int64),
        np.zeros(0, np.int64),
    ),
)
