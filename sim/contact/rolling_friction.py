"""Rolling and torsional friction in the kick: moments of a contact that resist turning.

A contact pressed by p_n resists with an impulse of moment m, bounded by arms c_r, c_t that its surfaces have [m]:

    rolling    |m_t| <= c_r p_n, in the contact plane, against the relative turning there
    torsion    |m_n| <= c_t p_n, about the normal, against the relative spin

It is Coulomb's law for angular velocities w: what turns is held if the moment to w' = -h/2 alpha lies in the bounds, with
alpha the relative angular acceleration of the coming flight; else the moment is at its bound, against the turning in
the middle of the kick, (w + w')/2. The work is then never positive, and the scheme of second order, as for sliding.

In the solver a contact that has such arms brings one more block (DISC_LAW, solvers/block_laws.py) of rows (tangent, tangent,
normal), whose bounds are the arms times p_n of that contact, as its cone of friction is mu times p_n. They are solved together:
where a body stands on more feet than it needs, bounds shift its load from foot to foot, and bounds of a solve before would shift
it back.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.kernels.jit import inner, lean
from tumble.collision.linalg import ZERO, dot, load3, load9, mul_t, scale, store3, sub
from tumble.sim.contact.surfaces import surface_turn
from tumble.sim.equations import acceleration
from tumble.sim.ledger.work import MEAN_GIVEN, book_works, driven_work, give, halves
from tumble.sim.solvers.block_laws import DISC_LAW
from tumble.sim.solvers.problem import velocity_along
from tumble.sim.state import DYNAMIC, ROLLING, SLIDING_FRICTION, STATIC_FRICTION, TORSION


@inner
def list_moments(contacts, rows):
    """Places in ``rows`` of the contacts that resist turning."""
    count = 0
    for k in range(len(rows)):
        if contacts.law[rows[k], ROLLING] > 0.0 or contacts.law[rows[k], TORSION] > 0.0:
            count += 1
    out = np.empty(count, dtype=np.int64)
    count = 0
    for k in range(len(rows) if len(out) > 0 else 0):
        if contacts.law[rows[k], ROLLING] > 0.0 or contacts.law[rows[k], TORSION] > 0.0:
            out[count] = k
            count += 1
    return out


@lean
def first_moment(island):
    """The block of the first moment: behind those of contacts and joints."""
    return len(island.rows) + len(island.owner)


@lean
def prepare_moments(bodies, contacts, island, system, laws, p):
    """Jacobians, offsets, arms and first guesses of the moments."""
    a, b, ja, jb, u0 = system.a, system.b, system.ja, system.jb, laws.u0
    for n in range(len(island.turning)):
        k, row = first_moment(island) + n, island.rows[island.turning[n]]
        i, j = contacts.body[row, 0], contacts.body[row, 1]
        laws.law[k], laws.mu[k], laws.load[k] = DISC_LAW, 0.0, island.turning[n]
        laws.hi[k, 0] = laws.hi[k, 1] = contacts.law[row, ROLLING]
        laws.hi[k, 2] = contacts.law[row, TORSION]
        for r in range(3):
            e = (contacts.frame[row, r, 0], contacts.frame[row, r, 1], contacts.frame[row, r, 2])
            p[k, r] = contacts.moment[row, r]
            u0[k, r] = surface_turn(bodies, i, j, e) if r == 2 else 0.0
            for d in range(3):
                ja[k, r, 3 + d] = -e[d] if a[k] >= 0 else 0.0
                jb[k, r, 3 + d] = e[d] if b[k] >= 0 else 0.0
            if a[k] < 0:
                u0[k, r] -= dot(e, load3(bodies.w, i))
            if b[k] < 0:
                u0[k, r] += dot(e, load3(bodies.w, j))


@lean
def _free_turn(bodies, i):
    """Angular acceleration of body i in free flight [rad/s^2]."""
    if bodies.kind[i] != DYNAMIC:
        return load3(bodies.torque, i)
    return acceleration(
        load3(bodies.w, i), load9(bodies.rot, i), load9(bodies.inertia, i), load9(bodies.inv_inertia, i), load3(bodies.torque, i)
    )


@lean
def target_moments(bodies, contacts, island, system, laws, h, mode, vstar):
    """What turning each moment asks for."""
    c, turning = laws.c, island.turning
    for n in range(len(turning)):
        k, row = first_moment(island) + n, island.rows[turning[n]]
        alpha = sub(_free_turn(bodies, contacts.body[row, 1]), _free_turn(bodies, contacts.body[row, 0]))
        for r in range(3):
            e = (contacts.frame[row, r, 0], contacts.frame[row, r, 1], contacts.frame[row, r, 2])
            rest = -0.5 * h * dot(alpha, e)
            if mode == MEAN_GIVEN:
                c[k, r] = rest
            elif contacts.turns[row, 0 if r < 2 else 1] == SLIDING_FRICTION:
                c[k, r] = 0.0
            else:
                c[k, r] = 0.5 * (velocity_along(system, laws.u0, vstar, k, r) + rest)


@lean
def revise_moments(bodies, contacts, island, system, laws, h, round, vstar, v, p):
    """Switch moments to the laws that their solution belongs to; True if any was."""
    changed = False
    for n in range(len(island.turning)):
        k, row = first_moment(island) + n, island.rows[island.turning[n]]
        for part in range(2):
            if _change_turn(bodies, contacts, row, system, laws, k, part, h, round, vstar, v, p):
                changed = True
    return changed


@lean
def _change_turn(bodies, contacts, row, system, laws, k, part, h, round, vstar, v, p):
    """Switch rolling (part 0) or torsion (1) to the law that its solution belongs to; True where it did."""
    alpha = sub(_free_turn(bodies, contacts.body[row, 1]), _free_turn(bodies, contacts.body[row, 0]))
    along, middle, speed, pull, size = 0.0, 0.0, 0.0, 0.0, 0.0
    for r in range(2 * part, 2 + part):
        rate = alpha[0] * contacts.frame[row, r, 0] + alpha[1] * contacts.frame[row, r, 1] + alpha[2] * contacts.frame[row, r, 2]
        w = velocity_along(system, laws.u0, v, k, r)
        flight = 2.0 * w - velocity_along(system, laws.u0, vstar, k, r) + 0.5 * h * rate  # in the middle of the coming flight
        along += w * flight
        middle += w * w
        pull += rate * rate
        size += p[k, r] * p[k, r]
    speed = math.sqrt(middle)
    held = math.sqrt(size) < laws.hi[k, 2 * part] * p[laws.load[k], 2] * (1.0 - 1e-9)
    fast = not (held or speed <= math.sqrt(pull) * h or along <= 0.0)
    if contacts.turns[row, part] == SLIDING_FRICTION and not fast:
        contacts.turns[row, part] = STATIC_FRICTION
        return True
    if contacts.turns[row, part] == STATIC_FRICTION and fast and round < 2:
        contacts.turns[row, part] = SLIDING_FRICTION
        return True
    return False


@lean
def apply_moments(bodies, contacts, books, island, p, mode, share, steady):
    """Moments to angular momenta, a share before the middle of the kick and the rest after it."""
    for n in range(len(island.turning)):
        row = island.rows[island.turning[n]]
        half = load3(p, first_moment(island) + n)
        store3(contacts.moment, row, scale(steady, half))
        m = mul_t(load9(contacts.frame, row), half)
        for side in range(2):
            m = scale(-1.0, m)  # first on a, then on b
            give(bodies, books, contacts.body[row, side], ZERO, m, ZERO, mode, share)


@lean
def book_moments(bodies, contacts, books, island, system, laws, vstar, p, mode, share):
    """Works of the moments, once the velocities after the kick are known: friction, and that of driven bodies and moving
    surfaces."""
    for n in range(len(island.turning)):
        k, row = first_moment(island) + n, island.rows[island.turning[n]]
        i, j = contacts.body[row, 0], contacts.body[row, 1]
        first_half, second_half = 0.0, 0.0
        turn = sub(load3(bodies.w, j), load3(bodies.w, i))
        for r in range(3):
            e = (contacts.frame[row, r, 0], contacts.frame[row, r, 1], contacts.frame[row, r, 2])
            m, before, after = 2.0 * p[k, r], velocity_along(system, laws.u0, vstar, k, r), dot(turn, e)
            if r == 2:
                after += surface_turn(bodies, i, j, e)
            if mode == MEAN_GIVEN:  # vstar was the mean
                before = 2.0 * before - after
            one, two = halves(before, after, share)
            first_half, second_half = first_half + m * one, second_half + m * two
        frame = load9(contacts.frame, row)
        m = mul_t(frame, scale(2.0, load3(p, k)))
        driven = driven_work(bodies, i, ZERO, m, ZERO) - driven_work(bodies, j, ZERO, m, ZERO)
        driven -= 2.0 * p[k, 2] * surface_turn(bodies, i, j, (frame[6], frame[7], frame[8]))
        one, two = (0.0, 0.0, -first_half, share * driven), (0.0, 0.0, -second_half, (1.0 - share) * driven)
        book_works(books, bodies, i, j, one, two, mode)
        contacts.loss[row] -= first_half + second_half
