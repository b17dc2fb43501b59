"""Half-kick removal: what steady forces have in advance leaves the velocities before an impact (contact/half_kick.py says why).

At time t after a kick, for a flight of length h, a steady contact has too much of its impulse q for that flight by (1 - 2 t/h) q,
and its bodies are where t (1 - t/h) q took them: on a small bounce. The first is taken back before the impact, the second
after it, when it can not part what collides, and what touches comes along. Both together cost just the energy of the bounce.

With J(s) the Jacobian of a contact at time s, M the masses, and F = 2 q/h the steady force, the two motions differ at time t by

    M u' = J(0)^T q - int_0^t J(s)^T F ds = J^T (1 - 2 t/h) q - (dJ/dt)^T P,      M u = J^T P,      P = t (1 - t/h) q,

to second order, with J as it is at time t. So the push P that takes the place back has a momentum too, of what J has turned by
since: without it, what rolls or tips over would change its energy by P times its normal acceleration on the way down. With it
that is F u, the energy that the bounce holds in the place, and the angular momentum stays what it is. What else the displacement
does comes from the impact between the two, and is correction.

Where contacts have left since, or turned so far that other points are near now, they would make energy, by a force that never
acted. Then the island gives back one share of all of it, the one that takes most energy. It is one share, not one of each
contact, because what redundant contacts owe is told apart by chance alone.

A contact that rolls or turns has gone on since the kick. It gives back where it is now, along the normal that it has now: at the
point of the manifold of this instant that has its name. Where there is none, the contact has gone along with the bodies.

Joints give way as they did in the kick: rigid coordinates stay closed, those that are kept at their pace stay at it, rotors
resist. The impulses that do this do no work but that of what is taken back.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.geometry import empty_geometry
from tumble.collision.kernels.jit import FOR_KERNELS, far, inner, kernel, lean
from tumble.collision.linalg import ZERO, add, axpy, cross, dot, load3, load9, mul_t, scale, store3, store9, sub, turned_with
from tumble.collision.narrowphase import manifold_far as manifold
from tumble.sim.contact.contact_accelerations import STEEP
from tumble.sim.contact.overlap_correction import correct_depth, displace
from tumble.sim.contact.prepare import prepare, prepare_again
from tumble.sim.contact.surfaces import contact_velocity, surface_slip
from tumble.sim.contact.touching.impact_threshold import pair_size
from tumble.sim.flight.motion import forget_kick, geom_pose, point_velocity, strike
from tumble.sim.impact.joint_impulses import give_joints, hold_kept, joints_of, leave_rigid_rows, negligible
from tumble.sim.impact.time_of_impact import TOUCH
from tumble.sim.ledger import entries as ledger
from tumble.sim.ledger.kick_numbers import BOUNCED, bears
from tumble.sim.ledger.work import INSIDE_DRIFT, NO_WORKS, book_at_once, book_works, contact_driven_work, tell_account
from tumble.sim.solvers.block_laws import BOX_LAW, SOFT_LAW
from tumble.sim.solvers.newton import newton_far as newton
from tumble.sim.solvers.problem import add_impulses, velocity_along
from tumble.sim.sorted_lists import is_pair
from tumble.sim.state import DYNAMIC, EXAMPLE, POINTS, ROWS, SETTINGS

SAME = 1e-9  # part of a way that is left over where contacts do not contradict each other
MOST_TAKEN = 2.0  # times what a kick lent that may be taken back
REACH = 0.1  # of the smaller body: how far apart the surfaces of a contact that is looked for may be


@kernel(**FOR_KERNELS)
def _take_back(model, geometry, table, number, t):
    """Take the phase of a kick at time t out of the velocities of its bodies, which all stand at that time.

    ``table``: a spare table of contacts.
    """
    bodies, geoms, pairs, contacts, books, forces, joints = model
    part, since, length = 0.0, 0.0, 1.0
    for i in range(len(bodies.held)):
        if bodies.held[i] == number:
            since, length = t - bodies.kicked[i], bodies.flown[i]
            part = 1.0 - 2.0 * since / length
    spare, ids, still = np.empty((POINTS, ROWS)), np.empty(POINTS, dtype=np.int64), since * (1.0 - since / length)
    m = _list_owed(model, geometry, table, number, t, spare, ids)
    rows, links = np.arange(m), joints_of(bodies, joints, bodies.held, number)
    local = np.full(len(bodies.kind), -1, dtype=np.int64)
    island, system, laws, vstar, v, p = prepare(bodies, table, joints, rows, links, rows[:0], local)
    leave_rigid_rows(joints, island, laws)
    hold_kept(joints, island, laws)
    _give_way(system, laws, m, vstar, negligible(vstar), v, p)
    share = _part_taken(bodies, contacts, table, m, t, local, vstar, v, p, part, 2.0 * still / length)
    for k in range(len(p)):
        store3(p, k, scale(share * part, load3(p, k)))
    for k in range(m):
        store3(table.u, k, contact_velocity(bodies, table, k))
    for k in range(m):
        f = mul_t(load9(table.frame, k), load3(p, k))
        strike(bodies, books, table.body[k, 0], table.body[k, 1], f, load3(table.point, k))
    give_joints(bodies, joints, books, island, laws, p, False)
    for k in range(m):
        _book(bodies, table, books, k, load3(p, k))
        _note_place(contacts, table, k, share, still, 1.0 - since / length)
    for i in range(len(bodies.held)):
        if bodies.held[i] == number:
            bodies.held[i], bodies.flown[i] = 0, 0.0


@inner
def _give_way(system, laws, m, vstar, least, v, p):
    """Velocities v of an island, or ways, ``vstar`` without the impulses of its first m blocks; joints give way to these."""
    p[m:], laws.law[:m] = 0.0, BOX_LAW
    laws.lo[:m], laws.hi[:m] = p[:m], p[:m]
    newton(system, laws, vstar, least, 100, p, v)


@lean
def _note_place(contacts, table, k, share, still, coming):
    """Note of a contact, row k of ``table``, how its bounce is to be taken out of the places, for a ``share`` of what it owed: by
    the push in the time ``still`` [kg m], by what this has turned since the kick, and which energy it holds. ``coming``: the part
    of the flight that is to come."""
    row = table.pair[k, 0]
    owed, old, new = load3(contacts.owed, row), load9(contacts.frame, row), load9(table.frame, k)
    began, here, f, g = load3(contacts.point, row), load3(table.point, k), mul_t(old, owed), mul_t(new, owed)
    turned, moment = sub(g, f), sub(cross(here, g), cross(began, f))
    for r in range(3):
        contacts.bounce[row, r], contacts.bounce[row, 3 + r] = share * coming * turned[r], share * coming * moment[r]
    contacts.bounce[row, 6] = share * table.loss[k]
    contacts.kick[row] = BOUNCED
    store3(contacts.owed, row, scale(-share * still, owed))
    store3(contacts.point, row, here)
    store9(contacts.frame, row, new)


@lean
def bounced(contacts):
    """Whether any contact gave its phase back, and its bodies are still at the height of its bounce."""
    found = False
    for k in range(contacts.count[1]):
        found = found or contacts.kick[k] == BOUNCED
    return found


@kernel(**FOR_KERNELS)
def _come_down(model, table, label, t):
    """Take the bounce of contacts whose phase was taken back out of the places of the bodies of island ``label``; what touches
    these comes along. ``table``: the contacts of the island, which are written over."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    along = _list_touching(bodies, contacts, table)
    m = _list_bounced(contacts, table, along)
    rows, links = np.arange(m), joints_of(bodies, joints, bodies.island, label)
    local = np.full(len(bodies.kind), -1, dtype=np.int64)
    island, system, laws, vstar, v, p = prepare(bodies, table, joints, rows, links, rows[:0], local)
    _rest_joints(joints, island, laws)
    v[:], vstar[:], p[m:] = 0.0, 0.0, 0.0
    add_impulses(system, p, v)  # the pushes [kg m]
    _give_way(system, laws, m, vstar, negligible(v), v, p)
    gone = np.empty(m)
    for k in range(m):
        gone[k] = velocity_along(system, laws.u0, v, k, 2)
    _move(bodies, table, joints, books, island, system, p, v, True)
    for k in range(along, m):
        energy = table.bounce[k, 6]
        book_at_once(books, ledger.CONTACT, -energy)
        book_at_once(books, ledger.CORRECTION, energy)
        tell_account(books, bodies, table.body[k, 0], table.body[k, 1], -energy)
    if along > 0:
        prepare_again(bodies, table, joints, island, system, laws, vstar, p)
        if _bring_along(joints, island, system, laws, along, gone, v, p):
            _move(bodies, table, joints, books, island, system, p, v, False)


@lean
def _rest_joints(joints, island, laws):
    """Joints that are displaced stay as they are: nothing has a velocity meanwhile."""
    leave_rigid_rows(joints, island, laws)
    hold_kept(joints, island, laws)
    laws.c[:], laws.u0[:] = 0.0, 0.0
    for k in range(len(laws.law)):
        if laws.law[k] == SOFT_LAW:
            laws.lo[k, 0] = 0.0


@inner
def _move(bodies, table, joints, books, island, system, p, d, turned):
    """Move the members of an island by ``d`` [m, rad], which the pushes ``p`` make."""
    for i in island.members:
        forget_kick(bodies, i)
    displace(bodies, table, joints, books, island, system.a, system.b, p, d, turned)


@lean
def _list_touching(bodies, contacts, table):
    """Leave those contacts in the table that touch and belong to no pair that bounced; how many."""
    m = 0
    for k in range(table.count[0]):
        i, j, a, b = table.body[k, 0], table.body[k, 1], table.pair[k, 0], table.pair[k, 1]
        touches = abs(table.gap[k]) <= 10.0 * TOUCH * pair_size(bodies, i, j)
        for r in range(contacts.count[1]):
            touches = touches and not (contacts.kick[r] == BOUNCED and is_pair(contacts.pair, r, a, b))
        if touches:
            table.body[m, 0], table.body[m, 1] = i, j
            store3(table.point, m, load3(table.point, k))
            store9(table.frame, m, load9(table.frame, k))
            m += 1
    return m


@lean
def _list_bounced(contacts, table, m):
    """Add the contacts that bounced to the m in the table, with the pushes [kg m] that take them down; how many there are."""
    for k in range(m):
        store3(table.impulse, k, ZERO)
        for r in range(7):
            table.bounce[k, r] = 0.0
        table.mu[k] = 0.0
    for k in range(contacts.count[1]):
        if contacts.kick[k] == BOUNCED and m < len(table.gap):
            table.body[m, 0], table.body[m, 1] = contacts.body[k, 0], contacts.body[k, 1]
            store3(table.point, m, load3(contacts.point, k))
            store9(table.frame, m, load9(contacts.frame, k))
            store3(table.impulse, m, load3(contacts.owed, k))
            for r in range(7):
                table.bounce[m, r] = contacts.bounce[k, r]
            table.mu[m] = 0.0
            m += 1
    forget_bounce(contacts)
    return m


@inner
def _bring_along(joints, island, system, laws, along, gone, d, p):
    """The displacements ``d`` (n, 6) that close again what opened of the first ``along`` contacts when bodies came down, and
    leave the others as they are; ``gone``: by how much each opened [m]. False where they contradict each other.

    What was struck would have been struck where the surface is now, a little later: by the bounce over the speed of the impact.
    Until then it would have gone on as it came, not as it was left: that way is along the impulse of the blow. (What overlaps was
    struck too late, and has gone on since; `_part_again` is the same for that.)
    """
    _rest_joints(joints, island, laws)
    m, rest, most = len(gone), np.zeros_like(d), 0.0
    laws.law[:m], laws.lo[:m], laws.hi[:m], p[:] = BOX_LAW, 0.0, 0.0, 0.0
    for k in range(m):
        if k < along:
            laws.c[k, 2] = min(0.0, -gone[k])
            most = max(most, gone[k])
        laws.lo[k, 2], laws.hi[k, 2] = -math.inf if k >= along or gone[k] > 0.0 else 0.0, math.inf  # what did not open may
    return most > 0.0 and newton(system, laws, rest, SAME * most, 100, p, d)[0] <= SAME * most


@lean
def forget_bounce(contacts):
    """What gave its phase back, and is not kicked again, stays at the height of its bounce."""
    for k in range(contacts.count[1]):
        if contacts.kick[k] == BOUNCED:
            contacts.kick[k] = 0


@kernel(**FOR_KERNELS)
def _part_again(model, settings, table, label, t, chosen, floors):
    """Take apart what overlaps since its bodies came down from their bounce, contacts of the table. True where anything did.
    ``floors``: the deepest gaps of the ``chosen`` pairs before [m]."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    gaps, deepest, n = table.gap[: table.count[0]].copy(), 0.0, 0
    for k in range(len(gaps)):
        while not is_pair(pairs.geoms, chosen[n], table.pair[k, 0], table.pair[k, 1]):
            n += 1
        gaps[k] -= (1.0 - settings.correction) * floors[n]
        deepest = min(deepest, gaps[k])
    if deepest >= -settings.slop:
        return False
    rows, links = np.arange(len(gaps)), joints_of(bodies, joints, bodies.island, label)
    local = np.full(len(bodies.kind), -1, dtype=np.int64)
    island, system, _laws, _vstar, _v, _p = prepare(bodies, table, joints, rows, links, rows[:0], local)
    for i in island.members:
        forget_kick(bodies, i)
    correct_depth(bodies, table, joints, books, settings, island, system, False, 1.0, gaps, t)
    return True


@lean
def _list_owed(model, geometry, table, number, t, found, ids):
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
                table.impulse[m, r] = -contacts.owed[k, r]
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
def _part_taken(bodies, contacts, table, m, t, local, before, after, q, part, place_part):
    """What share of the impulses ``part`` q, and of the displacement that goes with them, is taken back of all contacts. Members
    have velocities ``before``, and ``after`` with q.

    All where that takes energy. With a and b the sums of p.u before and after p = part q, twice the work of a share s is
    2 s a + s^2 (b - a), and the displacement does s W: of a force 2 q/h, of contacts that go back by what they gain through q
    in the time t (1 - t/h): ``place_part`` is 2 t/h (1 - t/h). Least where s (b - a) = -a - W. Of what slides the normal part
    counts: what friction had taken in advance it gives back.

    All of it takes what the kick lent, to second order. Where it would take more than MOST_TAKEN times as much contacts have not
    lasted either, or are wedged: by loads that hardly move anything, and any of which fits. Then it takes no more than was lent.
    """
    work, first, square, lent = 0.0, 0.0, 0.0, 0.0
    for k in range(m):
        e, least, a, w, c = load9(table.frame, k), math.inf, 0.0, 0.0, 0.0
        sticks = 1.0 if math.isfinite(table.creeps[k, 0]) else 0.0
        f = mul_t(e, (sticks * q[k, 0], sticks * q[k, 1], q[k, 2]))
        for way in range(2 if math.isfinite(table.gap[k]) else 0, 3):
            place = _place(bodies, contacts, table, k, t, way)
            u = _relative(bodies, table, k, place, local, before)
            gained = dot(f, sub(_relative(bodies, table, k, place, local, after), u))
            a, w, c = part * dot(f, u), -place_part * gained, part * part * gained
            least = min(least, 2.0 * (a + w) + c)
        table.loss[k] = -w
        work, first, square = work + least, first + a + w, square + c  # of the last way: as the table has it
        lent += _lent(contacts, table, k, sticks)
    if work <= 0.0:
        return 1.0 if -work <= MOST_TAKEN * lent else lent / -work
    return min(1.0, -first / square) if first < 0.0 else 0.0


@lean
def _lent(contacts, table, k, sticks):
    """Twice the energy that the kick lent through contact k: what it owes, by the velocity with which it was to come back."""
    row, owed, e, crept = table.pair[k, 0], scale(-1.0, load3(table.impulse, k)), load9(table.frame, k), load3(table.creeps, k)
    along = owed[0] * dot(crept, (e[0], e[1], e[2])) + owed[1] * dot(crept, (e[3], e[4], e[5])) if sticks > 0.0 else 0.0
    comes = contacts.arrives[row]
    return abs(along) + (abs(owed[2] * comes) if math.isfinite(comes) else 0.0)


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
def _book(bodies, table, books, k, p):
    """Works of what was taken back: normal ones are the phase itself, the others are taken back from where they stood."""
    i, j, point = table.body[k, 0], table.body[k, 1], load3(table.point, k)
    e, before, after = load9(table.frame, k), load3(table.u, k), contact_velocity(bodies, table, k)
    normal = 0.5 * p[2] * (before[2] + after[2])
    slip = 0.5 * (p[0] * (before[0] + after[0]) + p[1] * (before[1] + after[1]))
    if math.isfinite(table.creeps[k, 0]):  # what sticks does no work but for the phase
        normal, slip = normal + slip, 0.0
    belt = surface_slip(bodies, i, j, point, (e[6], e[7], e[8]))
    driven = contact_driven_work(bodies, i, j, mul_t(e, p), point, belt)
    book_works(books, bodies, i, j, (normal, 0.0, -slip, driven), NO_WORKS, INSIDE_DRIFT)


take_back = far(_take_back, lambda: (EXAMPLE, empty_geometry(), EXAMPLE.contacts, 0, 0.0), returns=None)
part_again = far(
    _part_again, lambda: (EXAMPLE, SETTINGS, EXAMPLE.contacts, 0, 0.0, np.zeros(0, np.int64), np.zeros(0)), returns=False
)
come_down = far(_come_down, lambda: (EXAMPLE, EXAMPLE.contacts, 0, 0.0), returns=None)
