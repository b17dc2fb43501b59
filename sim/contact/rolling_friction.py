"""Rolling and torsional friction in the kick: moments of a contact that resist turning.

A contact pressed by p_n resists with an impulse of moment m, bounded by arms c_r, c_t that its surfaces have [m]:

    rolling    |m_t| <= c_r p_n, in the contact plane, against the relative turning there
    torsion    |m_n| <= c_t p_n, about the normal, against the relative spin

It is Coulomb's law for angular velocities w: what turns is held if the moment to w' = -h/2 alpha lies in the bounds, with
alpha the relative angular acceleration of the coming flight; else the moment is at its bound, against the turning in
the middle of the kick, (w + w')/2. The work is then never positive, and the scheme of second order, as for sliding.

In the solver a contact that has such arms brings one more block (DISC_LAW, solvers/block_laws.py) of rows (tangent, tangent,
normal) whose bounds are those of the last p_n; the kick is solved again until p_n no longer changes what they allow. Where a body
stands on more feet than it needs, bounds shift its load from foot to foot, and the next solve shifts it back: so the p_n that
bounds are for are mixed from what the last solves have shown (solvers/mixing.py).
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.kernels.jit import hypot, inner, lean
from tumble.collision.linalg import ZERO, dot, largest_change, load3, load9, mul_t, scale, store3, sub
from tumble.sim.contact.surfaces import surface_turn
from tumble.sim.equations import acceleration
from tumble.sim.ledger.work import MEAN_GIVEN, book_works, driven_work, give, halves
from tumble.sim.solvers.block_laws import DISC_LAW
from tumble.sim.solvers.mixing import forget, mix
from tumble.sim.solvers.problem import inverse_effective_mass, velocity_along
from tumble.sim.state import DYNAMIC, ROLLING, SLIDING_FRICTION, STATIC_FRICTION, TORSION

SHIFTS = 2  # rounds after which loads that have not settled shift to and fro
WANDERS = 22  # rounds after which a load that has not settled is taken to wander
SAME_LOAD = 1e-6  # of a bound, to which its load is known where many loads leave all bodies with the same velocities


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
    """Jacobians, offsets and first guesses of the moments."""
    a, b, ja, jb, u0 = system.a, system.b, system.ja, system.jb, laws.u0
    for n in range(len(island.turning)):
        k, row = first_moment(island) + n, island.rows[island.turning[n]]
        i, j = contacts.body[row, 0], contacts.body[row, 1]
        laws.law[k], laws.mu[k] = DISC_LAW, 0.0
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


@inner
def next_loads(island, laws, p, history, round, others):
    """The normal impulses that the bounds of moments are for in this round, after those of the last one had the answer ``p``; to
    ``others`` than the laws of this round.

    They stand where other blocks have lower bounds. Loads of what is wedged in may wander for ever: in the end they only become
    less. Then moments resist less than they might, but never more.
    """
    first, n = first_moment(island), len(island.turning)
    loads, answers = np.zeros((n, 6)), np.zeros((n, 6))
    for k in range(n):
        loads[k, 0], answers[k, 0] = laws.lo[first + k, 0], max(0.0, p[island.turning[k], 2])
    shifts = round >= SHIFTS and not others
    if not shifts:
        forget(history)
    elif round < WANDERS:
        mix(history, loads, answers)
    for k in range(n):
        if round >= WANDERS:
            laws.lo[first + k, 0] = min(laws.lo[first + k, 0], answers[k, 0])
        else:
            laws.lo[first + k, 0] = max(0.0, loads[k, 0]) if shifts else answers[k, 0]


@lean
def target_moments(bodies, contacts, island, system, laws, h, mode, vstar):
    """Targets, and bounds by the normal impulses that they are for (`next_loads`)."""
    c, hi, turning = laws.c, laws.hi, island.turning
    for n in range(len(turning)):
        k, row = first_moment(island) + n, island.rows[turning[n]]
        alpha = sub(_free_turn(bodies, contacts.body[row, 1]), _free_turn(bodies, contacts.body[row, 0]))
        pressed = laws.lo[k, 0]
        hi[k, 0] = hi[k, 1] = contacts.law[row, ROLLING] * pressed
        hi[k, 2] = contacts.law[row, TORSION] * pressed
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
def revise_moments(bodies, contacts, island, system, laws, h, mode, round, vstar, before, v, p):
    """Largest angular velocity by which a moment is off, inf where a law changes [rad/s].

    One at its bound is off by what the bound is, one that holds with less by what it is above the bound that it should have. For
    a body alone that means more than for one on a leg: where there are joints, and bounds are all but right, they are off by what
    they changed the velocities by, which were ``before``.
    """
    worst, apart, changed, turning = 0.0, 0.0, False, island.turning
    for n in range(len(turning)):
        k, row = first_moment(island) + n, island.rows[turning[n]]
        pressed = max(0.0, p[turning[n], 2])
        for r in range(2):
            arm = contacts.law[row, TORSION if r else ROLLING]
            size, off = abs(p[k, 2]) if r == 1 else hypot(p[k, 0], p[k, 1]), arm * pressed - laws.hi[k, 2 * r]
            off = abs(off) if size >= laws.hi[k, 2 * r] * (1.0 - 1e-9) else max(0.0, size - arm * pressed)
            worst = max(worst, off * inverse_effective_mass(system, k, 2 * r))
            apart = max(apart, off - SAME_LOAD * laws.hi[k, 2 * r])
            if (
                mode != MEAN_GIVEN
                and round < 4
                and _change_turn(bodies, contacts, row, system, laws, k, r, h, round, vstar, v, p)
            ):
                changed = True
    if round > 0 and apart <= 0.0 and len(island.links) > 0:
        worst = min(worst, largest_change(before, v))
    return math.inf if changed else worst


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
    held = math.sqrt(size) < laws.hi[k, 2 * part] * (1.0 - 1e-9)
    fast = not (held or speed <= math.sqrt(pull) * h or along <= 0.0)
    if contacts.turns[row, part] == SLIDING_FRICTION and not fast:
        contacts.turns[row, part] = STATIC_FRICTION
        return True
    if contacts.turns[row, part] == STATIC_FRICTION and fast and round < 2:
        contacts.turns[row, part] = SLIDING_FRICTION
        return True
    return False


@lean
def hold_bounds(contacts, island, p):
    """Take the moments into the bounds of the normal impulses found in the end.

    The rounds may end before a load that wanders between the points of a face has settled. Moments of jointed bodies that have,
    but for SAME_LOAD, stay as they were solved with all else: what is taken from them would open joints.
    """
    spare = 1.0 + SAME_LOAD if len(island.links) > 0 else 1.0
    for n in range(len(island.turning)):
        k, row = first_moment(island) + n, island.rows[island.turning[n]]
        pressed = max(0.0, p[island.turning[n], 2])
        rolling, torsion = contacts.law[row, ROLLING] * pressed, contacts.law[row, TORSION] * pressed
        size = hypot(p[k, 0], p[k, 1])
        if size > rolling * spare:
            for r in range(2):
                p[k, r] *= rolling / size
        if abs(p[k, 2]) > torsion * spare:
            p[k, 2] = min(max(p[k, 2], -torsion), torsion)


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
