"""Overlaps are pushed apart, part of them in each step, and joints that are open are closed.

What a solve that was not finished leaves, or a crowd, or rounding, does not stay. Positions move, and no velocity for it: there
is no bounce. Momentum, angular momentum and the books are kept.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.kernels.jit import inner, lean
from tumble.collision.linalg import ZERO, add, add3, axpy, cross, dot, load3, load9, mul_t, scale, store3, sub
from tumble.sim.contact.surfaces import contact_velocity
from tumble.sim.equations import drive
from tumble.sim.flight.motion import kinetic_energy, refresh_velocity, set_state
from tumble.sim.joints.kept_rows import stop_gap
from tumble.sim.joints.rows import (
    ANGULAR,
    DRIVE,
    LIMITS,
    frame_joint,
    opening,
    place_joint,
    rigid_rows,
    row_axis,
    row_velocity,
    unwrapped,
    wrench,
)
from tumble.sim.ledger import entries as ledger
from tumble.sim.ledger.work import add_to_reservoir, book_at_once
from tumble.sim.solvers.block_laws import COULOMB_LAW, DISC_LAW
from tumble.sim.solvers.newton import newton_far as newton
from tumble.sim.solvers.problem import Laws, velocity_along
from tumble.sim.solvers.sweeps import sweeps_far as by_sweeps
from tumble.sim.state import DEPTH


@lean
def too_deep(contacts, books, settings, rows):
    """An overlap is deeper than rounding."""
    deepest = 0.0
    for k in range(len(rows)):
        deepest = max(deepest, -contacts.gap[rows[k]])
    books.worst[DEPTH] = max(books.worst[DEPTH], deepest)
    return deepest > settings.slop


@lean
def open_joints(bodies, joints, island):
    """By how much the rigid coordinates of an island are open, at most [m or rad]."""
    most, owner, block = 0.0, island.owner, island.block
    for n in range(len(owner)):
        if block[n] > ANGULAR:
            continue
        values = opening(bodies, joints, owner[n])
        for r in range(3):
            if joints.rigid[owner[n], 3 * block[n] + r] == 1:
                most = max(most, abs(values[3 * block[n] + r]))
    return most


@lean
def passed_stops(bodies, joints, island, elapsed):
    """By how much coordinates of an island are beyond their stops, at most [m or rad]."""
    most = 0.0
    for n in range(len(island.owner)):
        if island.block[n] == LIMITS:
            for r in range(2):
                most = max(most, -stop_gap(bodies, joints, island.owner[n], r, elapsed))
    return most


@inner
def correct_depth(bodies, contacts, joints, books, settings, island, system, cheap, part, gaps, elapsed):
    """Remove a ``part`` of every overlap and of every way beyond a stop, and close the joints, by a displacement that keeps both
    momenta of the whole; its work goes to the books.

    ``gaps`` [m] of the contacts become those after it.

    The displacement is the smallest, in the metric of the masses, that opens the overlaps, closes no other contact, goes beyond
    no other stop and closes the joints. ``elapsed``: since the coordinates of joints were read.
    """
    m, n, blocks = len(island.rows), len(island.members), len(system.a)
    deepest = max(open_joints(bodies, joints, island), passed_stops(bodies, joints, island, elapsed))
    for k in range(m):
        deepest = max(deepest, -gaps[k])
    rest, d, p = np.zeros((n, 6)), np.zeros((n, 6)), np.zeros((blocks, 3))
    laws = Laws(
        np.full(blocks, COULOMB_LAW), np.zeros(blocks), np.zeros((blocks, 3)), np.zeros((blocks, 3)), np.full(blocks, -1),
        np.zeros((blocks, 3)), np.zeros((blocks, 3)),
    )  # fmt: skip
    rigid_rows(joints, island, laws)
    rigid_targets(bodies, joints, island, laws)
    for k in range(len(island.owner)):
        if island.block[k] == LIMITS:
            for r in range(2):
                gap = stop_gap(bodies, joints, island.owner[k], r, elapsed)
                if gap < math.inf:
                    laws.c[m + k, r], laws.hi[m + k, r] = -gap * part if gap < 0.0 else -gap, math.inf
    laws.law[m + len(island.owner) :] = DISC_LAW  # without moments
    for k in range(m):
        laws.c[k, 2] = -gaps[k] * part if gaps[k] < 0.0 else -gaps[k]
    if cheap:
        held, free = np.zeros((blocks, 2)), np.zeros(blocks, dtype=np.bool_)
        by_sweeps(system, laws, rest, held, free, 1e-3 * deepest, settings.sweeps, p, d)
    else:
        newton(system, laws, rest, 1e-9 * deepest, settings.iterations, p, d)
    for k in range(m):
        gaps[k] += velocity_along(system, laws.u0, d, k, 2)
    displace(bodies, contacts, joints, books, island, system.a, system.b, p, d, False)


@inner
def displace(bodies, contacts, joints, books, island, a, b, p, d, turned):
    """Move the bodies of an island by the displacements ``d`` that the pushes ``p`` of its contacts and joints make; ``a``,
    ``b``: the members that these belong to. ``turned``: the pushes of contacts have turned since they began
    (`_turn_with`)."""
    rows, members, owner, block = island.rows, island.members, island.owner, island.block
    m, n = len(rows), len(members)
    v, push, stored = np.empty((n, 3)), np.empty((len(owner), 3)), np.zeros(len(island.links))
    for k in range(len(island.links)):
        stored[k] = _stored(bodies, joints, island.links[k])
    for k in range(len(owner)):  # the forces of the joints, at the old poses
        _, frame = frame_joint(bodies, joints, owner[k])
        store3(push, k, wrench(joints, owner[k], block[k], frame, load3(p, m + k))[0])
    for k in range(n):
        i = members[k]
        l, q = load3(bodies.l, i), load3(bodies.p, i)
        store3(v, k, load3(bodies.v, i))
        before = _energy(bodies, i)
        x, rotated = drive(load3(bodies.x, i), _q(bodies, i), (d[k, 0], d[k, 1], d[k, 2]), (d[k, 3], d[k, 4], d[k, 5]), 1.0)
        set_state(bodies, i, x, rotated, q, l)
        book_at_once(books, ledger.CORRECTION, _energy(bodies, i) - before)
    for k in range(m):
        if p[k, 0] != 0.0 or p[k, 1] != 0.0 or p[k, 2] != 0.0:
            along = mul_t(load9(contacts.frame, rows[k]), load3(p, k))
            i, j = contacts.body[rows[k], 0], contacts.body[rows[k], 1]
            if turned:
                _turn_with(bodies, contacts, books, rows[k], a[k], b[k], along, v, d)
            else:
                _keep_angular_momentum(bodies, books, i, j, a[k], b[k], along, v)
    for k in range(len(owner)):
        j = owner[k]
        _keep_angular_momentum(bodies, books, joints.body[j, 0], joints.body[j, 1], a[m + k], b[m + k], load3(push, k), v)
    for k in range(len(island.links)):  # what springs and rotors gain is work of the displacement, which no kick finds later
        work = _stored(bodies, joints, island.links[k]) - stored[k]
        joints.potential[island.links[k]] += work
        book_at_once(books, ledger.CORRECTION, work)
    for k in range(m):  # at the new poses
        store3(contacts.u, rows[k], contact_velocity(bodies, contacts, rows[k]))


@lean
def _stored(bodies, joints, j):
    """Energy of the spring and the rotor of joint j [J]."""
    if joints.stiffness[j] == 0.0 and joints.armature[j] == 0.0:
        return 0.0
    point, frame, values = place_joint(bodies, joints, j)
    _, turns, e = row_axis(joints, j, DRIVE, 0, frame)
    stretch = unwrapped(joints, j, values[joints.axis[j]], joints.value[j]) - joints.rest[j]
    rate = row_velocity(bodies, joints, j, turns, e, point)
    return 0.5 * (joints.stiffness[j] * stretch * stretch + joints.armature[j] * rate * rate)


@lean
def _keep_angular_momentum(bodies, books, i, j, a, b, push, v):
    """Take from two bodies the angular momentum that they get by being pushed apart.

    Where they pass each other with velocities ``v`` and are pushed apart by d, they have more of it than before, by m d x v. So
    they have to pass more slowly, as anything does that is drawn apart while it turns: an impulse across the line between their
    centres takes what it can, and their spins give the rest, which is along this line. Where one of them can not move, the
    reservoir gets it instead.

    ``push``: m d of body j, and against it of body i; ``a``, ``b``: their rows in ``v``, -1 where they can not move.
    """
    before, after = ZERO, ZERO
    if a >= 0:
        before = load3(v, a)
    if b >= 0:
        after = load3(v, b)
    excess = cross(push, sub(after, before))
    if a < 0 or b < 0:
        add_to_reservoir(books, ZERO, scale(-1.0, excess))
        return
    arm = sub(load3(bodies.x, j), load3(bodies.x, i))
    square = dot(arm, arm)
    impulse = scale(1.0 / square, cross(arm, excess)) if square > 0.0 else ZERO
    spin = add(excess, cross(arm, impulse))
    _shove(bodies, books, i, scale(-1.0, impulse), scale(-0.5, spin))
    _shove(bodies, books, j, impulse, scale(-0.5, spin))


@lean
def _turn_with(bodies, contacts, books, row, a, b, push, v, d):
    """Give two bodies the momentum that goes with a push of contact ``row`` whose direction and place have turned since it began.

    ``contacts.bounce`` has it, for body j: an impulse J and its moment M about the origin while the bodies stood still. They went
    with velocities v meanwhile, so the spin of j gets M + v x push - x J; body i gets all of it the other way round. With
    push x v, which their displacements ``d`` give, no angular momentum is left over but that of d and J.
    """
    impulse = (contacts.bounce[row, 0], contacts.bounce[row, 1], contacts.bounce[row, 2])
    moment, apart = (contacts.bounce[row, 3], contacts.bounce[row, 4], contacts.bounce[row, 5]), ZERO
    for side in range(2):
        k, sign = (a, -1.0) if side == 0 else (b, 1.0)
        if k >= 0:
            apart = axpy(sign, (d[k, 0], d[k, 1], d[k, 2]), apart)
    left = cross(apart, impulse)
    for side in range(2):
        k, sign = (a, -1.0) if side == 0 else (b, 1.0)
        if k >= 0:
            i = contacts.body[row, side]
            began = sub(load3(bodies.x, i), (d[k, 0], d[k, 1], d[k, 2]))
            spin = scale(sign, sub(add(moment, cross(load3(v, k), push)), cross(began, impulse)))
            if a >= 0 and b >= 0:
                spin = axpy(-0.5, left, spin)
            _shove(bodies, books, i, scale(sign, impulse), spin)
    if a < 0 or b < 0:
        moved = 1.0 if a < 0 else -1.0
        add_to_reservoir(books, scale(-moved, impulse), scale(-1.0, axpy(moved, moment, left)))


@lean
def _shove(bodies, books, i, impulse, spin):
    """Change the momenta of body i, before and after the kick, at the expense of the correction."""
    before = _energy(bodies, i)
    add3(bodies.p, i, impulse)
    add3(bodies.l, i, spin)
    add3(bodies.p_before, i, impulse)
    add3(bodies.l_before, i, spin)
    refresh_velocity(bodies, i)
    book_at_once(books, ledger.CORRECTION, _energy(bodies, i) - before)


@lean
def rigid_targets(bodies, joints, island, laws):
    """Displacements that take the rigid coordinates of joints back to zero."""
    first, owner, block, c = len(island.rows), island.owner, island.block, laws.c
    for n in range(len(owner)):
        values = opening(bodies, joints, owner[n])
        for r in range(3):
            if block[n] <= ANGULAR and joints.rigid[owner[n], 3 * block[n] + r] == 1:
                c[first + n, r] = -values[3 * block[n] + r]


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
