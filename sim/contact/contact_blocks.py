"""Contacts as blocks of a problem: what they bring, ask for and give, the works of that, and which law of friction they follow.

The stages of a kick (contact_solve.py) call, in this order: `prepare_contacts`, `target_contacts`, `revise_contacts` after each
solve, `apply_contacts`, `book_contacts`.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.kernels.jit import hypot, inner, lean
from tumble.collision.linalg import ZERO, add, cross, dot, load3, load9, mul_t, scale, shorter, store3, sub
from tumble.sim.contact.surfaces import contact_velocity, surface_slip
from tumble.sim.contact.touching.impact_threshold import FASTER, let_go, normal_target, pair_size
from tumble.sim.flight.motion import point_velocity
from tumble.sim.ledger.kick_numbers import LARGEST_ISLAND
from tumble.sim.ledger.work import INSIDE_DRIFT, KICK, MEAN_GIVEN, book_works, contact_driven_work, give, halves
from tumble.sim.solvers.block_laws import COULOMB_LAW
from tumble.sim.solvers.problem import velocity_along
from tumble.sim.state import KINETIC_FRICTION, MU, MU_STATIC, SLIDING_FRICTION, STATIC_FRICTION

NOT_SLIDING, NOT_STATIC = 1, 2  # what a contact has tried in vain in a kick
NOT_OPEN = 1e-8  # part of the smaller body: a gap that is none
STEADY_KICKS = 500  # a steady contact counts by what it changes in so many kicks


@lean
def prepare_contacts(bodies, contacts, rows, system, laws, p):
    """Jacobians, friction, offsets and first guesses of contacts, the first blocks of a problem."""
    a, b, ja, jb, u0 = system.a, system.b, system.ja, system.jb, laws.u0
    for k in range(len(rows)):
        row = rows[k]
        point = load3(contacts.point, row)
        laws.law[k], laws.mu[k] = COULOMB_LAW, contacts.mu[row]
        i, j = contacts.body[row, 0], contacts.body[row, 1]
        normal = (contacts.frame[row, 2, 0], contacts.frame[row, 2, 1], contacts.frame[row, 2, 2])
        belt = surface_slip(bodies, i, j, point, normal)
        for r in range(3):
            p[k, r] = contacts.impulse[row, r]
            e = (contacts.frame[row, r, 0], contacts.frame[row, r, 1], contacts.frame[row, r, 2])
            u0[k, r] = dot(e, belt)
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
def target_contacts(bodies, contacts, rows, h, dt, mode, soft, mu, c):
    """Friction, static where a contact is held, and the velocity it is solved towards, in its frame; see contact_solve.py."""
    for k in range(len(rows)):
        row = rows[k]
        mu[k] = contacts.mu[row] = contacts.law[row, MU_STATIC if contacts.slides[row] == STATIC_FRICTION else MU]
        b_n = normal_target(bodies, contacts, row, h, dt, soft)
        if mode == MEAN_GIVEN:
            c[k, 2] = b_n
            for r in range(2):
                c[k, r] = -0.5 * h * contacts.accel[row, r]
        else:
            c[k, 2] = 0.5 * (contacts.u[row, 2] + b_n)
            for r in range(2):
                stuck = 0.5 * (contacts.u[row, r] - 0.5 * h * contacts.accel[row, r])
                c[k, r] = 0.0 if contacts.slides[row] == SLIDING_FRICTION else stuck


@lean
def revise_contacts(bodies, contacts, rows, system, laws, settings, h, mode, p, v, locked, round):
    """Switch contacts whose solution belongs to another law of friction, and hold those that were let go but are pressed on by
    others and would fall into each other; True where that asks for another solve.

    ``locked`` holds what a contact has tried in vain in this kick, as bits NOT_SLIDING and NOT_STATIC.
    """
    changed, dt, tolerance = False, settings.dt, settings.tolerance
    for k in range(len(rows)):
        row = rows[k]
        if p[k, 2] > 0.0 and contacts.accel[row, 2] < 0.0 and let_go(bodies, contacts, row, dt):
            contacts.impulse[row, 2], changed = p[k, 2], True
        stiction = contacts.law[row, MU_STATIC] > contacts.law[row, MU]
        if p[k, 2] == 0.0 or (mode == MEAN_GIVEN and not stiction):
            continue
        # slip in the middle of the kick
        m0, m1 = velocity_along(system, laws.u0, v, k, 0), velocity_along(system, laws.u0, v, k, 1)
        a0, a1 = contacts.accel[row, 0], contacts.accel[row, 1]
        s0, s1 = contacts.u[row, 0], contacts.u[row, 1]
        # slip in the middle of the coming flight: u' + h/2 a, u' = 2 u_middle - u; and in the middle of the last one
        f0, f1 = 2.0 * m0 - s0 + 0.5 * h * a0, 2.0 * m1 - s1 + 0.5 * h * a1
        if mode == MEAN_GIVEN:  # contacts.u is the mean, and what was solved for is u'
            f0, f1, m0, m1 = m0 + 0.5 * h * a0, m1 + 0.5 * h * a1, s0, s1
        elif mode == KICK:
            s0, s1 = s0 - 0.5 * h * a0, s1 - 0.5 * h * a1
        in_cone = _within_cone(load3(p, k), laws.mu[k])
        slow = m0 * m0 + m1 * m1 <= max((a0 * a0 + a1 * a1) * h * h, tolerance * tolerance)
        flow = 0.0 if in_cone else hypot(f0, f1)
        fast = not (in_cone or slow or m0 * f0 + m1 * f1 <= 0.0) and mode != MEAN_GIVEN
        ends = in_cone or s0 * f0 + s1 * f1 <= 10.0 * tolerance * flow
        was = law = contacts.slides[row]
        if was == SLIDING_FRICTION:
            if not fast:
                law = STATIC_FRICTION if ends else KINETIC_FRICTION
                locked[k] |= NOT_SLIDING
        elif fast and round < 2 and not locked[k] & NOT_SLIDING and not (was == STATIC_FRICTION and stiction):
            law = SLIDING_FRICTION
        elif was == STATIC_FRICTION:
            if stiction and not in_cone and flow > 100.0 * tolerance:
                law = KINETIC_FRICTION
                locked[k] |= NOT_STATIC
        elif ends and not locked[k] & NOT_STATIC:
            law = STATIC_FRICTION
        contacts.slides[row] = law
        # a contact that sticks within the kinetic friction is held from now on, and nothing is to be solved anew
        if (law == SLIDING_FRICTION) != (was == SLIDING_FRICTION) or (
            law != was and stiction and not (in_cone and law == STATIC_FRICTION)
        ):
            changed = True
    return changed


@lean
def _within_cone(p, mu):
    """Whether an impulse in the frame of its contact is within the cone of friction, beyond rounding: the contact sticks."""
    return shorter(p[0], p[1], mu * p[2] * (1.0 - 1e-9))


@lean
def _open(bodies, contacts, row):
    """Whether a contact came to the kick with a gap."""
    return contacts.gap[row] > NOT_OPEN * pair_size(bodies, contacts.body[row, 0], contacts.body[row, 1])


@lean
def _leaves(contacts, row, system, laws, v, k, r, mode):
    """Velocity [m/s] along axis r with which a contact, block k, leaves a kick."""
    u = velocity_along(system, laws.u0, v, k, r)
    return u if mode == MEAN_GIVEN else 2.0 * u - contacts.u[row, r]


@lean
def _driven_back(contacts, row, system, laws, v, h, p, k, u0, u1):
    """Energy [J] that friction of a contact, block k, gives at most after its slip has turned back within a flight of length h
    that it leaves with u0, u1 [m/s]: from then on it should turn, or hold, and the kick drives on as it did."""
    if _within_cone(load3(p, k), laws.mu[k]):
        return 0.0
    m0, m1 = velocity_along(system, laws.u0, v, k, 0), velocity_along(system, laws.u0, v, k, 1)
    w0, w1 = 2.0 * u0 + h * contacts.accel[row, 0] - m0, 2.0 * u1 + h * contacts.accel[row, 1] - m1  # at the next kick
    if m0 * w0 + m1 * w1 >= 0.0:
        return 0.0
    back, before = hypot(w0, w1), hypot(m0, m1)
    return hypot(p[k, 0], p[k, 1]) * back * back / (back + before)


@inner
def contact_swing(bodies, contacts, rows, system, laws, p, v, h, mode, arrives):
    """Energy that comes and goes with the impulses of contacts that turn [J]: all of it, and that of those that do not come open.

    The mean momenta of a kick P hold P^2/24m less than those of a steady force (m: what the contact moves), which is P |u'|/12.
    A steady one does not show, so it counts by what it changes within STEADY_KICKS kicks. The force is steady where the contact
    comes back as fast as it leaves; what is not there at the end of the flight (``arrives`` is no number) never does. Along the
    surface it gives as well where it leaves the way that its impulse drives it, as what sticks does, and where its slip turns
    back on the way. What comes to a step open has no phase yet. Surfaces that are drawn apart, but are stopped by more than
    leaves them in touch at the end of the flight (impact_threshold.normal_target), get too much: half of P times that speed.
    """
    total, phase = 0.0, 0.0
    for k in range(len(rows)):
        if p[k, 2] > 0.0:
            row = rows[k]
            u0 = _leaves(contacts, row, system, laws, v, k, 0, mode)
            u1 = _leaves(contacts, row, system, laws, v, k, 1, mode)
            u = _leaves(contacts, row, system, laws, v, k, 2, mode)
            work, square, along = p[k, 2] * abs(u), u * u, p[k, 0] * u0 + p[k, 1] * u1
            if along > 0.0:
                work, square = work + along, square + u0 * u0 + u1 * u1
            change = abs(u + arrives[k]) if math.isfinite(arrives[k]) else math.inf
            swing = work / 6.0 * (min(1.0, STEADY_KICKS * change / math.sqrt(square)) if square > 0.0 else 0.0)
            if contacts.accel[row, 2] > 0.0:
                swing = max(swing, p[k, 2] * (u + 0.5 * h * contacts.accel[row, 2] + max(0.0, contacts.gap[row]) / h))
            if mode != MEAN_GIVEN:
                swing += _driven_back(contacts, row, system, laws, v, h, p, k, u0, u1)
            total += swing
            if mode == INSIDE_DRIFT or not _open(bodies, contacts, row):
                phase += swing
    return total, phase


@lean
def apply_contacts(bodies, contacts, books, rows, p, mode, share, steady):
    """Impulses to momenta, at one common point with opposite signs; ``steady`` makes of one that of half a step."""
    # MEAN_GIVEN: the given velocity is the mean; half the impulse before it, half after. Otherwise the impulse is twice p'.
    for k in range(len(rows)):
        row = rows[k]
        store3(contacts.impulse, row, scale(steady, (p[k, 0], p[k, 1], p[k, 2])))
        e = load9(contacts.frame, row)
        q = mul_t(e, (p[k, 0], p[k, 1], p[k, 2]))
        point = load3(contacts.point, row)
        for side in range(2):
            q = scale(-1.0, q)  # first on a, then on b
            give(bodies, books, contacts.body[row, side], q, ZERO, point, mode, share)


@lean
def _phase(bodies, contacts, row, before, after):
    """How fast a contact comes to the next kick by what this one gives it [m/s]. The rest it has by itself: it came to this kick
    open, or leaves because it bounced."""
    phase = -after if _open(bodies, contacts, row) else contacts.arrives[row]
    return max(phase, -math.sqrt(max(0.0, after * after - before * before))) if before > 0.0 else phase


@lean
def _struck(contacts, row):
    """Whether a contact that bore load comes faster than the last kick foresaw."""
    return math.isfinite(contacts.arrives[row]) and contacts.u[row, 2] < FASTER * min(contacts.phase[row], 0.0)


@lean
def _lost(contacts, row, p, lends, mode, landed, lent):
    """What a contact loses by landing [J]: less than nothing where what ``landed`` turns it away, or takes its load.

    The phase of an island holds sum w'/2 over its contacts, of what a kick gives for the coming flight by the velocity with which
    they leave; each ``lends`` its part, and the next kick, or an impact before that, takes it again. What landings lose is what
    the works of all impulses are short of the change of that. Where others land, a contact that comes and leaves as before does
    no work, but lends another part than the last time.
    """
    before, after, phase = contacts.u[row, 2], contacts.u_after[row, 2], contacts.phase[row]
    taken = contacts.lent[row] if math.isfinite(contacts.arrives[row]) else 0.0
    lost = lends - taken - 0.5 * p * (before + after)
    if mode == MEAN_GIVEN:  # half of what is asked for was there before
        return max(-landed, -0.5 * p * (before + after))
    if before > max(0.0, after):  # it left, and what lands presses it
        return lost
    if phase != contacts.arrives[row] or _struck(contacts, row):  # not all that it comes with is what the last kick gave
        return max(-landed, lost)
    late = max(0.0, 0.5 * p * (min(phase, -after) - before))  # it comes faster than its phase, and does not leave so fast
    return max(-landed, min(late + landed if lent else late, lost)) if landed > 0.0 else late


@lean
def book_contact(bodies, contacts, books, row, half, mode, share, arrives, landed, lent):
    """Works of half the impulse of a contact, ``half``, before and after the middle of the kick.

    ``arrives``: normal velocity with which it will come back, nan where nobody looked: then as fast as it leaves. ``landed``:
    what others of the island lost as they landed in this kick [J]. Returns what this one lost so: less than nothing where
    those turn it away, but no more than they lost. ``lent``: impacts can take back what it is given for the coming flight; else,
    in islands that are too large for that, it is lost with the rest.
    """
    e = load9(contacts.frame, row)
    s, t, n = (e[0], e[1], e[2]), (e[3], e[4], e[5]), (e[6], e[7], e[8])
    point = load3(contacts.point, row)
    i, j = contacts.body[row, 0], contacts.body[row, 1]
    vi, vj = point_velocity(bodies, i, point), point_velocity(bodies, j, point)
    belt = surface_slip(bodies, i, j, point, n)
    u = add(sub(vj, vi), belt)
    after = (dot(u, s), dot(u, t), dot(u, n))
    store3(contacts.u_after, row, after)
    p = scale(2.0, half)
    before = load3(contacts.u, row)
    if mode == MEAN_GIVEN:  # contacts.u was the mean
        before = (2.0 * before[0] - after[0], 2.0 * before[1] - after[1], 2.0 * before[2] - after[2])
        store3(contacts.u, row, before)
    # normal work: what lands is a loss like that of an impact; what is left belongs to the phase of the micro-collisions, taken
    # before the middle of the kick and given back after it. What leaves by itself, and is sent faster, owes from there on.
    struck = _struck(contacts, row)
    lends = 0.5 * contacts.owed[row, 2] * (max(0.0, before[2]) + after[2]) if after[2] > 0.0 and lent else 0.0
    loss = _lost(contacts, row, p[2], lends, mode, max(0.0, landed), lent)  # below 0: more was turned away
    contacts.lent[row] = lends
    # what closes still has landed only with the kick that stops it
    contacts.arrives[row] = arrives if math.isfinite(arrives) and after[2] > 0.0 else -after[2]
    contacts.phase[row] = _phase(bodies, contacts, row, before[2], after[2])
    for r in range(3):  # so that the mean is the velocity in the middle
        contacts.u[row, r] = 2.0 * (before[r] + share * (after[r] - before[r])) - after[r] if share != 0.5 else before[r]
    first, second = halves(before[2], after[2], share)
    loss1, loss2 = share * loss, (1.0 - share) * loss
    normal1, normal2 = p[2] * first + loss1, p[2] * second + loss2
    s1, s2 = halves(before[0], after[0], share)
    t1, t2 = halves(before[1], after[1], share)
    slip1, slip2 = p[0] * s1 + p[1] * t1, p[0] * s2 + p[1] * t2
    sticks = _within_cone(p, contacts.mu[row]) and contacts.slides[row] != SLIDING_FRICTION
    if sticks:  # tangential work of what sticks: likewise, friction takes what slips more than it was to slip
        crept = load3(contacts.creeps, row)  # what is struck comes otherwise
        came = (dot(crept, s), dot(crept, t)) if math.isfinite(crept[0]) and not struck else (-after[0], -after[1])
        rubbed = 0.5 * (p[0] * (before[0] - came[0]) + p[1] * (before[1] - came[1]))
        normal1, normal2 = normal1 + slip1 - share * rubbed, normal2 + slip2 - (1.0 - share) * rubbed
        slip1, slip2 = share * rubbed, (1.0 - share) * rubbed
        store3(contacts.creeps, row, scale(-1.0, add(scale(after[0], s), scale(after[1], t))))
    else:
        store3(contacts.creeps, row, (math.nan, math.nan, math.nan))
    # a driven body's velocity is not changed by impulses: its work is the same in both halves
    world = add(add(scale(p[0], s), scale(p[1], t)), scale(p[2], n))
    driven = contact_driven_work(bodies, i, j, world, point, belt)
    one, two = (normal1, loss1, -slip1, share * driven), (normal2, loss2, -slip2, (1.0 - share) * driven)
    book_works(books, bodies, i, j, one, two, mode)
    contacts.loss[row] = loss - slip1 - slip2
    return loss


@lean
def rows_that_bear(rows, p):
    """How many of these contacts bear load in a kick."""
    count = 0
    for k in range(len(rows)):
        count += p[k, 2] > 0.0
    return count


@inner
def book_contacts(bodies, contacts, books, rows, p, mode, share, arrives):
    """Works of all contacts of an island: first of what lands and loses by it, then of what lands and is sent off, by no more
    than those lost, then of the rest."""
    landed, turn, lent = 0.0, np.empty(len(rows), dtype=np.int64), rows_that_bear(rows, p) <= LARGEST_ISLAND
    for k in range(len(rows)):
        row = rows[k]
        steady = contacts.phase[row] == contacts.arrives[row] and not _struck(contacts, row)
        lands = contacts.u[row, 2] <= 0.0 and not steady
        turn[k] = (0 if contacts.u[row, 2] + contact_velocity(bodies, contacts, row)[2] < 0.0 else 1) if lands else 2
    for now in range(3):
        for k in range(len(rows)):
            if turn[k] == now:
                landed += book_contact(bodies, contacts, books, rows[k], load3(p, k), mode, share, arrives[k], landed, lent)
