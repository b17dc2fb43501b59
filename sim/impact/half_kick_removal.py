"""Half-kick removal: what steady forces have in advance leaves the velocities before an impact (contact/half_kick.py says why).

At time t after a kick, for a flight of length h, a steady contact has too much of its impulse q for that flight by (1 - 2 t/h) q.
With it its surfaces part or meet by the phase of the kick alone, and without it they do neither: to take it back costs energy.
Of a contact that has left since, or that turned so far that other points are near now, it would make energy, by a force that
never acted. Such a contact gives back no more than brings its surfaces to rest: an impulse between nothing and the whole, a box.

Joints give way as they did in the kick: rigid coordinates stay closed, those that are kept at their pace stay at it, rotors
resist. The impulses that do this do no work but that of what is taken back.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.kernels.jit import FOR_KERNELS, far, kernel, lean
from tumble.collision.linalg import ZERO, add, axpy, cross, dot, load3, load9, mul, mul_t, scale, store3, store9, sub
from tumble.sim.contact.prepare import prepare
from tumble.sim.contact.surfaces import surface_slip
from tumble.sim.flight.motion import point_velocity, strike
from tumble.sim.impact.joint_impulses import give_joints, hold_kept, joints_of, leave_rigid_rows, negligible
from tumble.sim.ledger.kick_numbers import bears
from tumble.sim.ledger.work import INSIDE_DRIFT, NO_WORKS, book_works, contact_driven_work
from tumble.sim.solvers.block_laws import BOX_LAW
from tumble.sim.solvers.newton import newton_far as newton
from tumble.sim.state import DYNAMIC, EXAMPLE


@kernel(**FOR_KERNELS)
def _take_back(bodies, contacts, joints, books, table, number, t):
    """Take the phase of a kick at time t out of the velocities of its bodies, which all stand at that time.

    ``table``: a spare table of contacts.
    """
    part = 0.0
    for i in range(len(bodies.held)):
        if bodies.held[i] == number:
            part = 1.0 - 2.0 * (t - bodies.kicked[i]) / bodies.flown[i]
    m = _list_owed(bodies, contacts, table, number, t, part)
    rows, links = np.arange(m), joints_of(bodies, joints, bodies.held, number)
    local = np.full(len(bodies.kind), -1, dtype=np.int64)
    island, system, laws, vstar, v, p = prepare(bodies, table, joints, rows, links, rows[:0], local)
    leave_rigid_rows(joints, island, laws)
    hold_kept(joints, island, laws)
    p[m:], laws.law[:m] = 0.0, BOX_LAW
    laws.lo[:m], laws.hi[:m] = p[:m], p[:m]
    tolerance = negligible(vstar)
    newton(system, laws, vstar, tolerance, 100, p, v)
    left = 0
    for k in range(m):
        if not _lasts(bodies, contacts, table, k, t, local, vstar, v, p[k, 2]):
            laws.lo[k, 2], laws.hi[k, 2] = min(0.0, p[k, 2]), max(0.0, p[k, 2])
            left += 1
    if left > 0:
        for _ in range(2):  # friction goes with the normal impulses: first with the whole ones, then with what is left
            newton(system, laws, vstar, tolerance, 100, p, v)
            for k in range(m):
                if laws.lo[k, 2] < laws.hi[k, 2]:
                    for r in range(2):
                        laws.lo[k, r] = laws.hi[k, r] = p[k, 2] / table.impulse[k, 2] * table.impulse[k, r]
        newton(system, laws, vstar, tolerance, 100, p, v)
    for k in range(m):
        store3(table.u, k, _slip(bodies, table, k))
    for k in range(m):
        f = mul_t(load9(table.frame, k), load3(p, k))
        strike(bodies, books, table.body[k, 0], table.body[k, 1], f, load3(table.point, k))
    give_joints(bodies, joints, books, island, laws, p, False)
    for k in range(m):
        _book(bodies, table, books, k, load3(p, k))
    for i in range(len(bodies.held)):
        if bodies.held[i] == number:
            bodies.held[i], bodies.flown[i] = 0, 0.0


@lean
def _list_owed(bodies, contacts, table, number, t, part):
    """The contacts of a kick into ``table``, where they are at time t, with what they owe of that kick; how many."""
    m = 0
    for k in range(contacts.count[1]):
        if bears(bodies, contacts, k, number):
            table.body[m, 0], table.body[m, 1] = contacts.body[k, 0], contacts.body[k, 1]
            store3(table.point, m, _moved_on(bodies, contacts, k, t))
            table.pair[m, 0] = k
            store9(table.frame, m, load9(contacts.frame, k))
            table.mu[m] = contacts.mu[k]
            for r in range(3):
                table.impulse[m, r] = -part * contacts.owed[k, r]
                table.creeps[m, r] = contacts.creeps[k, r]
                contacts.creeps[k, r] *= 0.0  # what stuck (not nan) comes without a phase from now on
            m += 1
    return m


@lean
def _moved_on(bodies, contacts, k, t):
    """Where contact k is at time t: it has gone along with the bodies since the kick."""
    v, count, since = ZERO, 0, 0.0
    for side in range(2):
        i = contacts.body[k, side]
        if bodies.kind[i] == DYNAMIC:
            v, count, since = add(v, load3(bodies.v, i)), count + 1, t - bodies.kicked[i]
    return axpy(since / count, v, load3(contacts.point, k))


@lean
def _lasts(bodies, contacts, table, k, t, local, before, after, p):
    """Whether the normal impulse p that contact k gives back takes energy, or none. Velocities of the members ``before`` and
    ``after`` it.

    What rolls has gone along as the centres do, a corner with its own body: that one of these places where it takes most is the
    right one.
    """
    start, normal = load3(contacts.point, table.pair[k, 0]), load3(table.frame[k], 2)
    least, since = math.inf, 0.0
    for side in range(2):
        if bodies.kind[table.body[k, side]] == DYNAMIC:
            since = t - bodies.kicked[table.body[k, side]]
    for way in range(3):
        place = load3(table.point, k)
        if way < 2:
            place = axpy(since, point_velocity(bodies, table.body[k, way], start), start)
        closing = 0.0
        for side in range(2):
            i, n = table.body[k, side], local[table.body[k, side]]
            u = scale(2.0, point_velocity(bodies, i, place))
            if n >= 0:
                v = (before[n, 0] + after[n, 0], before[n, 1] + after[n, 1], before[n, 2] + after[n, 2])
                w = (before[n, 3] + after[n, 3], before[n, 4] + after[n, 4], before[n, 5] + after[n, 5])
                u = add(v, cross(w, sub(place, load3(bodies.x, i))))
            closing += dot(u, normal) if side == 1 else -dot(u, normal)
        least = min(least, p * closing)
    return least <= 0.0


@lean
def _slip(bodies, table, k):
    """Relative velocity at contact k, in its frame."""
    i, j, point = table.body[k, 0], table.body[k, 1], load3(table.point, k)
    e = load9(table.frame, k)
    belt = surface_slip(bodies, i, j, point, (e[6], e[7], e[8]))
    return mul(e, add(sub(point_velocity(bodies, j, point), point_velocity(bodies, i, point)), belt))


@lean
def _book(bodies, table, books, k, p):
    """Works of what was taken back: normal ones are the phase itself, the others are taken back from where they stood."""
    i, j, point = table.body[k, 0], table.body[k, 1], load3(table.point, k)
    e, before, after = load9(table.frame, k), load3(table.u, k), _slip(bodies, table, k)
    normal = 0.5 * p[2] * (before[2] + after[2])
    slip = 0.5 * (p[0] * (before[0] + after[0]) + p[1] * (before[1] + after[1]))
    if math.isfinite(table.creeps[k, 0]):  # what sticks does no work but for the phase
        normal, slip = normal + slip, 0.0
    belt = surface_slip(bodies, i, j, point, (e[6], e[7], e[8]))
    driven = contact_driven_work(bodies, i, j, mul_t(e, p), point, belt)
    book_works(books, bodies, i, j, (normal, 0.0, -slip, driven), NO_WORKS, INSIDE_DRIFT)


take_back = far(
    _take_back,
    lambda: (EXAMPLE.bodies, EXAMPLE.contacts, EXAMPLE.joints, EXAMPLE.books, EXAMPLE.contacts, 0, 0.0),
    returns=None,
)
