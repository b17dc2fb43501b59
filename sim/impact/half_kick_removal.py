"""Half-kick removal: what steady forces have in advance leaves the velocities before an impact (contact/half_kick.py says why).

At time t after a kick, for a flight of length h, a steady contact has too much of its impulse q for that flight by (1 - 2 t/h) q.
With it its surfaces part or meet by the phase of the kick alone, and without it they do neither: to take it back costs energy.
Where contacts have left since, or turned so far that other points are near now, it would make energy, by a force that never
acted. Then the island gives back one part of all of it, the one that takes most energy: the impulses come to rest as a whole,
sum of p . u = 0. It is one part, not one of each contact, because what redundant contacts owe is told apart by chance alone.

A contact that rolls or turns has gone on since the kick. It gives back where it is now, along the normal that it has now: at the
point of the manifold of this instant that has its name. Where there is none, the contact has gone along with the bodies.

Joints give way as they did in the kick: rigid coordinates stay closed, those that are kept at their pace stay at it, rotors
resist. The impulses that do this do no work but that of what is taken back.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.geometry import empty_geometry
from tumble.collision.kernels.jit import FOR_KERNELS, far, kernel, lean
from tumble.collision.linalg import ZERO, add, axpy, cross, dot, load3, load9, mul, mul_t, scale, store3, store9, sub, turned_with
from tumble.collision.narrowphase import manifold_far as manifold
from tumble.sim.contact.contact_accelerations import STEEP
from tumble.sim.contact.prepare import prepare
from tumble.sim.contact.surfaces import surface_slip
from tumble.sim.flight.motion import geom_pose, point_velocity, strike
from tumble.sim.impact.joint_impulses import give_joints, hold_kept, joints_of, leave_rigid_rows, negligible
from tumble.sim.ledger.kick_numbers import bears
from tumble.sim.ledger.work import INSIDE_DRIFT, NO_WORKS, book_works, contact_driven_work
from tumble.sim.solvers.block_laws import BOX_LAW
from tumble.sim.solvers.newton import newton_far as newton
from tumble.sim.state import DYNAMIC, EXAMPLE, POINTS, ROWS

REACH = 0.1  # of the smaller body: how far apart the surfaces of a contact that is looked for may be


@kernel(**FOR_KERNELS)
def _take_back(model, geometry, table, number, t):
    """Take the phase of a kick at time t out of the velocities of its bodies, which all stand at that time.

    ``table``: a spare table of contacts.
    """
    bodies, geoms, pairs, contacts, books, forces, joints = model
    part = 0.0
    for i in range(len(bodies.held)):
        if bodies.held[i] == number:
            part = 1.0 - 2.0 * (t - bodies.kicked[i]) / bodies.flown[i]
    m = _list_owed(model, geometry, table, number, t, part, np.empty((POINTS, ROWS)), np.empty(POINTS, dtype=np.int64))
    rows, links = np.arange(m), joints_of(bodies, joints, bodies.held, number)
    local = np.full(len(bodies.kind), -1, dtype=np.int64)
    island, system, laws, vstar, v, p = prepare(bodies, table, joints, rows, links, rows[:0], local)
    leave_rigid_rows(joints, island, laws)
    hold_kept(joints, island, laws)
    p[m:], laws.law[:m] = 0.0, BOX_LAW
    laws.lo[:m], laws.hi[:m] = p[:m], p[:m]
    tolerance = negligible(vstar)
    newton(system, laws, vstar, tolerance, 100, p, v)
    share = _part_taken(bodies, contacts, table, m, t, local, vstar, v, p)
    if share < 1.0:
        for k in range(m):
            store3(p, k, scale(share, load3(p, k)))
        laws.lo[:m], laws.hi[:m] = p[:m], p[:m]
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
def _list_owed(model, geometry, table, number, t, part, found, ids):
    """The contacts of a kick into ``table``, where they are at time t, with what they owe of that kick; how many.

    ``found``, ``ids``: room for a manifold. The gap of a contact whose place is only supposed is no number.
    """
    bodies, geoms, pairs, contacts, books, forces, joints = model
    m = 0
    for k in range(contacts.count[1]):
        if bears(bodies, contacts, k, number):
            table.body[m, 0], table.body[m, 1] = contacts.body[k, 0], contacts.body[k, 1]
            table.pair[m, 0], frame = k, load9(contacts.frame, k)
            gap, place, n = _found_again(bodies, geoms, geometry, contacts, k, found, ids)
            table.gap[m] = gap
            if math.isfinite(gap):
                normal = (frame[6], frame[7], frame[8])
                s, r = (frame[0], frame[1], frame[2]), (frame[3], frame[4], frame[5])
                frame = turned_with(normal, n, s) + turned_with(normal, n, r) + n
            else:
                place = _moved_on(bodies, contacts, k, t)
            store3(table.point, m, place)
            store9(table.frame, m, frame)
            table.mu[m] = contacts.mu[k]
            for r in range(3):
                table.impulse[m, r] = -part * contacts.owed[k, r]
                table.creeps[m, r] = contacts.creeps[k, r]
                contacts.creeps[k, r] *= 0.0  # what stuck (not nan) comes without a phase from now on
            m += 1
    return m


@lean
def _found_again(bodies, geoms, geometry, contacts, k, found, ids):
    """Gap, place and normal of contact k where its bodies stand; no number: its point is not among those of the manifold."""
    a, b, axis = contacts.pair[k, 0], contacts.pair[k, 1], load3(contacts.frame[k], 2)
    xa, ra = geom_pose(bodies, geoms, a)
    xb, rb = geom_pose(bodies, geoms, b)
    margin = REACH * min(bodies.radius[contacts.body[k, 0]], bodies.radius[contacts.body[k, 1]])
    count, n, _ = manifold(geometry, geoms.shape[a], xa, ra, geoms.shape[b], xb, rb, margin, axis, found, ids)
    for s in range(count):
        if ids[s] == contacts.id[k] and dot(n, axis) >= STEEP:
            return found[s, 3], (found[s, 0], found[s, 1], found[s, 2]), n
    return math.nan, ZERO, axis


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
def _part_taken(bodies, contacts, table, m, t, local, before, after, p):
    """What part of the impulses p of all contacts is given back. Members have velocities ``before`` and ``after`` all of it.

    All where that takes energy. Twice the work of a part s is 2 s a + s^2 (b - a), with a and b the sums of p.u before and after:
    least where s (b - a) = -a. Of what slides the normal part counts: what friction had taken in advance it gives back.
    """
    work, first, last = 0.0, 0.0, 0.0
    for k in range(m):
        e, least, a, b = load9(table.frame, k), math.inf, 0.0, 0.0
        sticks = 1.0 if math.isfinite(table.creeps[k, 0]) else 0.0
        f = mul_t(e, (sticks * p[k, 0], sticks * p[k, 1], p[k, 2]))
        for way in range(2 if math.isfinite(table.gap[k]) else 0, 3):
            place = _place(bodies, contacts, table, k, t, way)
            a = dot(f, _relative(bodies, table, k, place, local, before))
            b = dot(f, _relative(bodies, table, k, place, local, after))
            least = min(least, a + b)
        work, first, last = work + least, first + a, last + b  # of the last way: as the table has it
    if work <= 0.0:
        return 1.0
    return min(1.0, -first / (last - first)) if first < 0.0 else 0.0


@lean
def _place(bodies, contacts, table, k, t, way):
    """A place where contact k may be at time t: gone along with one of its bodies (``way`` 0, 1) or as the table has it (2).

    What rolls has gone as the centres do, as the table has it then, a corner with its own body: that one where it takes most is
    the right one.
    """
    if way == 2:
        return load3(table.point, k)
    start, since = load3(contacts.point, table.pair[k, 0]), 0.0
    for side in range(2):
        if bodies.kind[table.body[k, side]] == DYNAMIC:
            since = t - bodies.kicked[table.body[k, side]]
    return axpy(since, point_velocity(bodies, table.body[k, way], start), start)


@lean
def _relative(bodies, table, k, place, local, velocities):
    """Relative velocity of contact k at ``place``, of its members with these velocities."""
    u = ZERO
    for side in range(2):
        i, n, sign = table.body[k, side], local[table.body[k, side]], 2.0 * side - 1.0
        own = point_velocity(bodies, i, place)
        if n >= 0:
            w = (velocities[n, 3], velocities[n, 4], velocities[n, 5])
            own = add(load3(velocities, n), cross(w, sub(place, load3(bodies.x, i))))
        u = axpy(sign, own, u)
    return add(u, surface_slip(bodies, table.body[k, 0], table.body[k, 1], place, load3(table.frame[k], 2)))


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
    lambda: (EXAMPLE, empty_geometry(), EXAMPLE.contacts, 0, 0.0),
    returns=None,
)
