"""Impacts inside the drift, one instant after the other.

At an instant the pair that approaches fastest collides first; approaching pairs that share a body with it and tie act together
(mirror symmetry), all others follow in sequence, until none approaches: Newton's cradle transmits. All points between
the same two bodies act together: a cube that lands flat bounces flat. One point alone obeys Mirtich's law
(collision_law.py); several at once: the plastic problem with Coulomb friction is solved jointly (p_c), the normal impulses
become (1 + e) p_cn, friction is solved again in the cone of the total, and restitution is shortened until it gives back
no more than e^2 of what compression took. No impact raises the energy; that is measured at each.

Bodies left in slow touch are kicked again, for the rest of the step, with the island they belong to.
"""

from __future__ import annotations

import math

import numpy as np

from collision.geometry import empty_geometry
from collision.jit import far, inner, kernel, lean
from collision.linalg import (
    ZERO,
    add,
    clear_table,
    copy_table,
    cross,
    dot,
    load3,
    load9,
    matadd,
    mul,
    mul_t,
    norm,
    orthonormal,
    scale,
    store3,
    sub,
)
from collision.narrowphase import manifold_far as manifold
from sim import ledger
from sim.accounts import AGAIN, book_pair
from sim.collision_law import impact_far as impact
from sim.contacts import (
    INELASTIC,
    SMALL,
    TIRED,
    UNKNOWN,
    concerns,
    crowded,
    outgrown,
    pair_restitution,
    tabulate,
    update_manifold,
    update_pairs,
    write_row,
)
from sim.events import SINKING, TOUCH, next_impact, pair_size
from sim.flights import book_cluster, flight_balance, launch
from sim.joints.impact import constrain, joints_of_island, linked_joints, linked_mass, settle_joints
from sim.joints.rows import rigid_rows
from sim.log import log_impacts
from sim.microcollisions import kick_island, problem
from sim.motion import apply_impulse, fly_all, fly_to, geom_pose, point_velocity, start_flight, world_inverse_inertia
from sim.phase import resting_island, take_back
from sim.solvers.newton import newton_far as newton
from sim.solvers.rows import add_impulses, inverse_effective_mass, relative_velocity
from sim.state import (
    BETA,
    CAPPED,
    DYNAMIC,
    EXAMPLE,
    GAIN,
    IMPACTS,
    MU,
    MU_STATIC,
    OK,
    PAIRS_FULL,
    POINTS,
    REKICKS,
    ROWS,
    SETTINGS,
    WAKE,
    E,
)
from sim.stillness import rouse
from sim.surfaces import surface_slip

TIE = 1e-9  # relative difference of approach speeds, and of times against the step, that counts as none
IDLE = 1 << 40  # hits of a pair that would collide without an impulse: points that overlap already, and do not approach
LULL = 10  # steps without impacts after which a crowd is none any more


@inner
def drift(model, geometry, settings, table):
    """Move all bodies to the end of the step, through every impact on the way. OK, PAIRS_FULL or WAKE.

    ``table`` is a spare table of contacts.
    """
    bodies, geoms, pairs, contacts, books, forces, joints = model
    dt = settings.dt
    n = len(bodies.kind)
    fly_all(bodies, forces, dt)
    touched, effort = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.int64)
    steady = np.zeros(n, dtype=np.bool_)  # without the phase of the last kick
    helped = np.zeros(n, dtype=np.bool_)  # kicked again in this step as part of a crowd
    rows, ids = np.empty((POINTS, ROWS)), np.empty(POINTS, dtype=np.int64)
    for k in range(pairs.count[0]):
        pairs.fresh[k] = False
        pairs.hits[k] = 0
        if _left_to_kick(bodies, geoms, pairs, k, dt):
            pairs.event[k] = math.inf
        else:
            pairs.event[k], pairs.speed[k] = next_impact(bodies, forces, geoms, pairs, geometry, k, dt, rows, ids)
    most = 10 * pairs.count[0] + 100
    for _ in range(most):
        first = _first_event(pairs, dt)
        if first < 0:
            break
        if rouse(bodies, geoms.body[pairs.geoms[first, 0]], geoms.body[pairs.geoms[first, 1]]):
            return WAKE
        t = pairs.event[first]
        for i in range(n):
            touched[i] = False
        rested = _settle_phase(bodies, geoms, pairs, contacts, joints, forces, books, first, t, dt, touched, steady)
        _collide(model, geometry, settings, table, first, t, touched)
        for i in range(n):
            if touched[i] and bodies.crowd[i] > 0:
                bodies.crowd[i] = LULL
        result, sinks = _fly_on(bodies, forces, joints, geoms, pairs, geometry, t, touched, helped, dt, rows, ids)
        if result == OK and t < dt and (sinks or rested or len(linked_joints(bodies, joints, touched)) > 0):
            if _kick_again(model, geometry, settings, table, t, touched, effort) == WAKE:
                return WAKE
            for i in range(n):
                steady[i] = steady[i] or touched[i]
                helped[i] = helped[i] or (touched[i] and bodies.crowd[i] > 0)
            result, _ = _fly_on(bodies, forces, joints, geoms, pairs, geometry, t, touched, helped, dt, rows, ids)
        if result != OK:
            return result
    else:
        books.counters[CAPPED] += 1
    for i in range(n):
        if forces.cluster[i] < 0:
            _book_flight(bodies, books, i)
    for c in range(len(forces.potential)):
        book_cluster(bodies, forces, books, c, dt)
    return OK


@inner
def _fly_on(bodies, forces, joints, geoms, pairs, geometry, t, touched, helped, dt, rows, ids):
    """Bodies whose motion changed at time t fly on to the end of the step, and their next impacts are found.

    (OK or PAIRS_FULL, whether a slow contact would be overlapping then: its island must be kicked at t). A crowd can ask for
    that once in a step.
    """
    full = False
    _launch_touched(bodies, forces, t, touched)
    for i in range(len(touched)):
        if touched[i]:
            full = outgrown(bodies, geoms, geometry, i, dt - t, dt) or full
            fly_to(bodies, forces, i, dt)
    if full and update_pairs(geoms, pairs, joints) != OK:
        return PAIRS_FULL, False
    sinks = False
    for k in range(pairs.count[0]):
        i, j = geoms.body[pairs.geoms[k, 0]], geoms.body[pairs.geoms[k, 1]]
        if pairs.hits[k] == IDLE:
            pairs.fresh[k] = False
            pairs.event[k] = math.inf
        elif touched[i] or touched[j] or pairs.event[k] == UNKNOWN:
            pairs.fresh[k] = False
            pairs.event[k], pairs.speed[k] = next_impact(bodies, forces, geoms, pairs, geometry, k, dt, rows, ids)
            if crowded(bodies, i, j):
                waits, slow = _can_wait(bodies, pairs, k, i, j, dt)
                if waits:
                    pairs.event[k] = math.inf
                    sinks = sinks or not (slow or helped[i] or helped[j])
            else:
                sinks = sinks or _sinks(bodies, pairs, k, i, j, t, dt)
    return OK, sinks


@inner
def _settle_phase(bodies, geoms, pairs, contacts, joints, forces, books, first, t, dt, touched, steady):
    """Take the phase of their resting contacts from the bodies of pair ``first``, and from all of their islands, at time t.

    True where there was any: these bodies must be kicked again for the rest of the step.
    """
    i, j = geoms.body[pairs.geoms[first, 0]], geoms.body[pairs.geoms[first, 1]]
    if crowded(bodies, i, j):
        return False
    found = False
    for _ in range(2):  # the two bodies can belong to different islands
        label = resting_island(bodies, contacts, joints, steady, i, j)
        if label < 0:
            break
        found = True
        for k in range(contacts.count[0]):
            for side in range(2):
                m = contacts.body[k, side]
                if contacts.island[k] == label and bodies.kind[m] == DYNAMIC:
                    _bring(bodies, forces, books, m, t, touched)
                    steady[m] = True
        take_back(bodies, contacts, books, label, t, dt)
    return found


@lean
def _left_to_kick(bodies, geoms, pairs, k, dt):
    """The last kick has foreseen the impact of pair k, whatever its speed: one without restitution, in a crowd."""
    i, j = geoms.body[pairs.geoms[k, 0]], geoms.body[pairs.geoms[k, 1]]
    return pairs.points[k] > 0 and crowded(bodies, i, j) and pair_restitution(bodies, pairs, k, i, j, 0.0, dt) == 0.0


@lean
def _can_wait(bodies, pairs, k, i, j, dt):
    """An impact of a crowd, without restitution, that is left to the next kick: slow, or one of a sequence that takes long to
    end. (Whether it is, whether it is slow)."""
    speed = pairs.speed[k]
    if pair_restitution(bodies, pairs, k, i, j, speed, dt) > 0.0:
        return False, False
    slow = speed * dt <= SMALL * pair_size(bodies, i, j)
    return slow or (pairs.hits[k] > TIRED and pairs.event[k] < math.inf), slow


@lean
def _sinks(bodies, pairs, k, i, j, t, dt):
    """Pair k needs the kick: it would overlap, slowly; or it collides at once, or again and again, without restitution."""
    if pairs.event[k] < math.inf:
        at_once = pairs.event[k] <= t + TIE * dt or pairs.hits[k] > 0
        return at_once and pair_restitution(bodies, pairs, k, i, j, pairs.speed[k], dt) == 0.0
    if not pairs.fresh[k]:
        return False
    deepest = 0.0
    for r in range(pairs.points[k]):
        deepest = min(deepest, pairs.rows[k, r, 3])
    return deepest < -SINKING * pair_size(bodies, i, j)


@lean
def _launch_touched(bodies, forces, t, touched):
    """New flights from time t for the bodies that collided, and for those that forces couple to them."""
    for c in range(len(forces.potential)):
        if _stands(forces, c, touched):
            for m in range(forces.first_member[c], forces.first_member[c + 1]):
                touched[forces.member[m]] = True
    for i in range(len(touched)):
        if touched[i]:
            start_flight(bodies, i, t)
    for c in range(len(forces.potential)):
        if _stands(forces, c, touched):
            launch(bodies, forces, c, t)


@lean
def _stands(forces, c, touched):
    """Cluster c was brought to the time of the impact: a body of it is touched."""
    found = False
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        found = found or touched[forces.member[m]]
    return found


@lean
def _book_flight(bodies, books, i):
    """The flight of body i ends in its current state."""
    error, work = flight_balance(bodies, i)
    books.energy[ledger.INTEGRATOR] += error
    books.moved[0] += abs(error) + abs(work)


@lean
def _first_event(pairs, dt):
    """The pair with the earliest event, the fastest among those of the same instant; -1: none."""
    t = math.inf
    for k in range(pairs.count[0]):
        t = min(t, pairs.event[k])
    if t == math.inf:
        return -1
    best = -1
    for k in range(pairs.count[0]):
        if pairs.event[k] <= t + TIE * dt and (best < 0 or pairs.speed[k] > pairs.speed[best]):
            best = k
    return best


@lean
def _bring(bodies, forces, books, i, t, touched):
    """Have body i stand at time t, and remember that its flight changes there."""
    if touched[i]:
        return
    c = forces.cluster[i]
    if c < 0:
        fly_to(bodies, forces, i, t)
        _book_flight(bodies, books, i)
        start_flight(bodies, i, t)
    elif not _stands(forces, c, touched):
        first, last = forces.first_member[c], forces.first_member[c + 1]
        for m in range(first, last):
            fly_to(bodies, forces, forces.member[m], t)
        book_cluster(bodies, forces, books, c, t)
        for m in range(first, last):
            start_flight(bodies, forces.member[m], t)
    touched[i] = True


@inner
def _gather(bodies, forces, geoms, pairs, first, t, dt, group, touched, books):
    """Mark the pairs that act together with ``first``: ties that share a body, and all pieces of the same two bodies."""
    i, j = geoms.body[pairs.geoms[first, 0]], geoms.body[pairs.geoms[first, 1]]
    speed = pairs.speed[first]
    group[first] = True
    _bring(bodies, forces, books, i, t, touched)
    _bring(bodies, forces, books, j, t, touched)
    grew = True
    while grew:
        grew = False
        for k in range(len(group)):
            if group[k]:
                continue
            a, b = geoms.body[pairs.geoms[k, 0]], geoms.body[pairs.geoms[k, 1]]
            same = touched[a] and touched[b]
            shares = (touched[a] and bodies.kind[a] == DYNAMIC) or (touched[b] and bodies.kind[b] == DYNAMIC)
            tie = shares and abs(pairs.event[k] - t) <= TIE * dt and pairs.speed[k] >= speed * (1.0 - TIE)
            if same or tie:
                group[k] = True
                grew = True
                _bring(bodies, forces, books, a, t, touched)
                _bring(bodies, forces, books, b, t, touched)


@inner
def _bring_linked(bodies, forces, joints, books, links, t, touched):
    """Have the bodies of these joints stand at time t."""
    for j in links:
        for side in range(2):
            if joints.body[j, side] >= 0:
                _bring(bodies, forces, books, joints.body[j, side], t, touched)


@inner
def _touching_rows(bodies, geoms, pairs, geometry, group, table, dt):
    """Fill the spare table with the points of the group that touch now; their number."""
    rows, ids = np.empty((POINTS, ROWS)), np.empty(POINTS, dtype=np.int64)
    count = 0
    for n in range(len(group)):
        if not group[n]:
            continue
        a, b = pairs.geoms[n, 0], pairs.geoms[n, 1]
        i, j = geoms.body[a], geoms.body[b]
        xa, ra = geom_pose(bodies, geoms, a)
        xb, rb = geom_pose(bodies, geoms, b)
        margin = 10.0 * TOUCH * pair_size(bodies, i, j)
        points, normal, _ = manifold(
            geometry, geoms.shape[a], xa, ra, geoms.shape[b], xb, rb, margin, load3(pairs.axis, n), rows, ids
        )
        s, t = orthonormal(normal)
        for k in range(points):
            if count == len(table.gap):
                break
            point = (rows[k, 0], rows[k, 1], rows[k, 2])
            u = sub(point_velocity(bodies, j, point), point_velocity(bodies, i, point))
            u = add(u, surface_slip(bodies, i, j, point, normal))
            write_row(bodies, table, count, a, b, i, j, ids[k], rows[k], s, t, normal, u, ZERO)
            table.law[count, E] = pair_restitution(bodies, pairs, n, i, j, -dot(u, normal), dt)
            count += 1
    table.count[0] = count
    return count


@lean
def inverse_mass(bodies, i, point):
    """(1/m) 1 - [r]x J^-1 [r]x of body i at a point of the world; zero where impulses do not move it."""
    w = world_inverse_inertia(bodies, i)
    x, y, z = sub(point, load3(bodies.x, i))
    # columns of J^-1 [r]x, then -[r]x times them
    c0 = mul(w, (0.0, z, -y))
    c1 = mul(w, (-z, 0.0, x))
    c2 = mul(w, (y, -x, 0.0))
    d0, d1, d2 = cross((x, y, z), c0), cross((x, y, z), c1), cross((x, y, z), c2)
    m = bodies.inv_mass[i]
    return (m - d0[0], -d1[0], -d2[0], -d0[1], m - d1[1], -d2[1], -d0[2], -d1[2], m - d2[2])


@inner
def _single(bodies, table, joints, books, settings, links):
    """One point: Mirtich's law."""
    i, j = table.body[0, 0], table.body[0, 1]
    point = load3(table.point, 0)
    e = load9(table.frame, 0)
    k = matadd(inverse_mass(bodies, i, point), inverse_mass(bodies, j, point))
    a, b, c = mul(k, (e[0], e[1], e[2])), mul(k, (e[3], e[4], e[5])), mul(k, (e[6], e[7], e[8]))
    ka, kb, kc = mul(e, a), mul(e, b), mul(e, c)
    frame_k = (ka[0], kb[0], kc[0], ka[1], kb[1], kc[1], ka[2], kb[2], kc[2])
    if len(links) > 0:
        frame_k = linked_mass(bodies, table, joints, links)
    mu, mu_static, restitution, beta = table.law[0, MU], table.law[0, MU_STATIC], table.law[0, E], table.law[0, BETA]
    p, _, work, _, _ = impact(frame_k, load3(table.u, 0), mu, mu_static, restitution, beta, settings.restitution)
    store3(table.impulse, 0, p)
    _apply_impacts(bodies, table, joints, books, links, work)


@kernel
def _joint_impact(bodies, table, joints, books, settings, links):
    """Several points at once: joint plastic solve, then restitution."""
    m = table.count[0]
    rows = np.arange(m)
    local = np.full(len(bodies.kind), -1, dtype=np.int64)
    members, a, b, mass, inv_mass, inertia, inv_inertia, vstar, v, ja, jb, u0, mu, lo, hi, p, owner, block = problem(
        bodies, table, joints, rows, links, rows[:0], local
    )
    rigid_rows(joints, owner, block, m, mu, lo, hi)
    p[:] = 0.0
    speed = 0.0
    for k in range(m):
        speed = max(speed, abs(table.u[k, 2]))
    tolerance = 1e-14 * speed
    still, tried = np.zeros((len(mu), 3)), np.zeros(m, dtype=np.bool_)
    for round in range(4):
        newton(mass, inertia, inv_mass, inv_inertia, vstar, a, b, ja, jb, mu, lo, hi, still, u0, tolerance, 100, p, v)
        if round == 3 or not _hold(table, a[:m], b[:m], ja[:m], jb[:m], u0[:m], mu[:m], p[:m], v, tried):
            break
    extra = _restitution(bodies, table, mass, inertia, inv_mass, inv_inertia, a, b, ja, jb, u0, mu, lo, hi, p, v)
    f = _passive(table, mass, inertia, inv_mass, inv_inertia, a, b, ja, jb, mu, lo, hi, p, extra, v)
    for k in range(m):
        store3(table.impulse, k, (f * (p[k, 0] + extra[k, 0]), f * (p[k, 1] + extra[k, 1]), f * (p[k, 2] + extra[k, 2])))
    _apply_impacts(bodies, table, joints, books, links, math.nan)


@inner
def _hold(table, a, b, ja, jb, u0, mu, p, v, tried):
    """Static friction where the slip comes to an end, kinetic friction where that does not hold; True where any changed."""
    changed = False
    u = np.empty((0, 3))
    for k in range(len(mu)):
        low, high = table.law[k, MU], table.law[k, MU_STATIC]
        if high == low or math.hypot(p[k, 0], p[k, 1]) < mu[k] * p[k, 2] * (1.0 - 1e-9):
            continue
        if len(u) == 0:
            u = np.empty((len(mu), 3))
            relative_velocity(a, b, ja, jb, u0, v, u)
        slip, speed = math.hypot(u[k, 0], u[k, 1]), norm(load3(table.u, k))
        if mu[k] == high:
            if slip > 1e-9 * speed:
                mu[k] = low
                changed = True
        elif not tried[k] and table.u[k, 0] * u[k, 0] + table.u[k, 1] * u[k, 1] <= 1e-9 * speed * slip:
            mu[k], tried[k] = high, True
            changed = True
    return changed


@inner
def _passive(table, mass, inertia, inv_mass, inv_inertia, a, b, ja, jb, mu, lo, hi, p, extra, d):
    """The part of the impulses p + extra that may act: all, unless they would raise the energy; then the part at which it stays.

    Their work is f p.u + f^2/2 p.W p. Only a plastic problem that was not solved to the end can need this. ``d`` is
    scratch.
    """
    m = len(extra)
    total, du, none = np.empty((m, 3)), np.empty((m, 3)), np.zeros((len(a), 3))
    linear, quadratic = 0.0, 0.0
    for k in range(m):
        for r in range(3):
            total[k, r] = p[k, r] + extra[k, r]
            linear += total[k, r] * table.u[k, r]
    clear_table(d)
    add_impulses(inv_mass, inv_inertia, a[:m], b[:m], ja[:m], jb[:m], total, d)
    constrain(mass, inertia, inv_mass, inv_inertia, a, b, ja, jb, mu, lo, hi, none, m, np.zeros((len(a) - m, 3)), d)
    relative_velocity(a[:m], b[:m], ja[:m], jb[:m], none, d, du)
    for k in range(m):
        for r in range(3):
            quadratic += 0.5 * total[k, r] * du[k, r]
    if linear >= 0.0:
        return 0.0
    return min(1.0, -linear / quadratic) if linear + quadratic > 1e-13 * quadratic else 1.0


@inner
def _restitution(bodies, table, mass, inertia, inv_mass, inv_inertia, a, b, ja, jb, u0, mu, lo, hi, p, v):
    """Impulses to add to the plastic ones p, after which the bodies have velocities v.

    Normal parts e p_n; friction by projection onto the disc of the total's cone, swept until it stands, towards no slip, or
    towards -beta times the slip before where the plastic impulses stop it; all shortened by one factor so that restitution's
    work is at most e^2 of compression's and beta^2 of what friction took there.
    """
    m = table.count[0]
    through = np.zeros((len(mu) - m, 3))  # impulses of the joints
    goal = np.zeros((m, 2))
    extra, d, u = np.zeros((m, 3)), np.zeros_like(v), np.empty((m, 3))
    gain = np.zeros(m)
    for k in range(m):
        extra[k, 2] = table.law[k, E] * p[k, 2]
        for r in range(2):  # a bound on the largest tangential K: its trace
            gain[k] += inverse_effective_mass(inv_mass, inv_inertia, a, b, ja, jb, k, r)
    uc = np.empty((m, 3))
    relative_velocity(a[:m], b[:m], ja[:m], jb[:m], u0, v, uc)
    for k in range(m):
        beta = table.law[k, BETA]
        if beta >= -1.0 and math.hypot(uc[k, 0], uc[k, 1]) <= 1e-9 * norm(load3(table.u, k)):
            goal[k, 0], goal[k, 1] = -beta * table.u[k, 0], -beta * table.u[k, 1]
    for _sweep in range(200):
        moved = 0.0
        copy_table(v, d)
        add_impulses(inv_mass, inv_inertia, a[:m], b[:m], ja[:m], jb[:m], extra, d)
        constrain(mass, inertia, inv_mass, inv_inertia, a, b, ja, jb, mu, lo, hi, u0, m, through, d)
        relative_velocity(a[:m], b[:m], ja[:m], jb[:m], u0, d, u)
        for k in range(m):
            if gain[k] == 0.0:
                continue
            q0 = p[k, 0] + extra[k, 0] - (u[k, 0] - goal[k, 0]) / (m * gain[k])
            q1 = p[k, 1] + extra[k, 1] - (u[k, 1] - goal[k, 1]) / (m * gain[k])
            radius, length = mu[k] * (p[k, 2] + extra[k, 2]), math.hypot(q0, q1)
            f = radius / length if length > radius else 1.0
            e0, e1 = f * q0 - p[k, 0], f * q1 - p[k, 1]
            moved = max(moved, abs(e0 - extra[k, 0]) + abs(e1 - extra[k, 1]) - 1e-15 * radius)
            extra[k, 0], extra[k, 1] = e0, e1
        if moved <= 0.0:
            break
    clear_table(d)
    add_impulses(inv_mass, inv_inertia, a[:m], b[:m], ja[:m], jb[:m], extra, d)
    none, du = np.zeros((len(mu), 3)), np.empty((m, 3))
    constrain(mass, inertia, inv_mass, inv_inertia, a, b, ja, jb, mu, lo, hi, none, m, through, d)
    relative_velocity(a[:m], b[:m], ja[:m], jb[:m], none, d, du)
    # restitution scaled by f does the work f linear + f^2 quadratic; of all parts, friction included, it may give back at most
    # what e^2 of compression allows
    allowed, linear, quadratic = 0.0, 0.0, 0.0
    for k in range(m):
        e = table.law[k, E]
        allowed -= e * e * p[k, 2] * 0.5 * (table.u[k, 2] + uc[k, 2])
        if goal[k, 0] != 0.0 or goal[k, 1] != 0.0:
            beta = table.law[k, BETA]
            slip = p[k, 0] * (table.u[k, 0] + uc[k, 0]) + p[k, 1] * (table.u[k, 1] + uc[k, 1])
            allowed += beta * beta * max(0.0, -0.5 * slip)
        for r in range(3):
            linear += extra[k, r] * uc[k, r]
            quadratic += 0.5 * extra[k, r] * du[k, r]
    if quadratic > 0.0 and linear + quadratic > allowed * (1.0 + 1e-14):
        f = (math.sqrt(linear * linear + 4.0 * quadratic * max(allowed, 0.0)) - linear) / (2.0 * quadratic)
        f = min(1.0, max(0.0, f))
        for k in range(m):
            for r in range(3):
                extra[k, r] *= f
    return extra


@inner
def _apply_impacts(bodies, table, joints, books, links, normal_work):
    """Impulses of the table (whole ones) to the bodies, works to the books, energy checked.

    ``normal_work``: of the path that the slip took, where the law followed it (one point); nan: straight paths.
    """
    m = table.count[0]
    for k in range(m):
        e = load9(table.frame, k)
        p = load3(table.impulse, k)
        q = mul_t(e, p)
        point = load3(table.point, k)
        for side in range(2):
            i = table.body[k, side]
            f = q if side == 1 else scale(-1.0, q)
            if bodies.kind[i] == DYNAMIC:
                apply_impulse(bodies, i, f, point)
            else:
                arm = cross(point, f)
                for r in range(3):
                    books.reservoir[0, r] += f[r]
                    books.reservoir[1, r] += arm[r]
    if len(links) > 0:
        settle_joints(bodies, table, joints, books, links, True)
    change, size = 0.0, 0.0
    for k in range(m):
        e = load9(table.frame, k)
        i, j = table.body[k, 0], table.body[k, 1]
        point = load3(table.point, k)
        vi, vj = point_velocity(bodies, i, point), point_velocity(bodies, j, point)
        belt = surface_slip(bodies, i, j, point, (e[6], e[7], e[8]))
        after = mul(e, add(sub(vj, vi), belt))
        before, p = load3(table.u, k), load3(table.impulse, k)
        normal = 0.5 * p[2] * (before[2] + after[2])
        slip = 0.5 * (p[0] * (before[0] + after[0]) + p[1] * (before[1] + after[1]))
        if not math.isnan(normal_work):
            normal, slip = normal_work, normal + slip - normal_work
        books.energy[ledger.RESTITUTION] -= normal
        books.energy[ledger.FRICTION] -= slip
        world = mul_t(e, p)
        driven = -dot(world, belt)
        if bodies.kind[i] != DYNAMIC:
            driven += dot(world, vi)
        if bodies.kind[j] != DYNAMIC:
            driven -= dot(world, vj)
        books.energy[ledger.EXTERNAL] += driven
        table.loss[k] = -(normal + slip)
        a, b = bodies.serial[i], bodies.serial[j]
        book_pair(books, a, b, 0.0, -0.5 * normal, -0.5 * slip, 0.5 * driven, 0.0, -0.5 * slip, AGAIN)  # half and half
        books.moved[0] += abs(normal) + abs(slip) + abs(driven)
        change += normal + slip
        size += abs(p[2] * before[2])
    if size > 0.0:
        books.worst[GAIN] = max(books.worst[GAIN], change / size)


@lean
def _merge(bodies, i, label):
    """Make the island of body i part of the island ``label``, or the first one if that is -1."""
    old = bodies.island[i]
    if label >= 0 and old != label:
        for k in range(len(bodies.kind)):
            if bodies.island[k] == old:
                bodies.island[k] = label
    return label if label >= 0 else old


@lean
def _becomes_crowd(bodies, label, effort, crowd):
    """The island ``label`` is kicked again. True where it has not been a crowd before and is one now."""
    size, before, now = 0, False, False
    for i in range(len(effort)):
        if bodies.kind[i] == DYNAMIC and bodies.island[i] == label:
            size += 1
            before = before or bodies.crowd[i] > 0
    for i in range(len(effort)):
        if bodies.kind[i] == DYNAMIC and bodies.island[i] == label:
            effort[i] += size
            if effort[i] > crowd:
                bodies.crowd[i] = LULL
                now = True
    return now and not before


@inner
def _connect(bodies, geoms, pairs, geometry, forces, books, label, t, dt, touched):
    """Bring all that is connected to the island ``label`` through contact points to time t; its label then, -1 where it meets
    a sleeping one."""
    for n in range(pairs.count[0]):
        pairs.fresh[n] = False
    grew = True
    while grew:
        grew = False
        for n in range(pairs.count[0]):
            i, j = geoms.body[pairs.geoms[n, 0]], geoms.body[pairs.geoms[n, 1]]
            if pairs.fresh[n] or not concerns(bodies, i, j, label):
                continue
            _bring(bodies, forces, books, i, t, touched)
            _bring(bodies, forces, books, j, t, touched)
            update_manifold(bodies, geoms, pairs, geometry, n, dt)
            if pairs.points[n] > 0:
                if rouse(bodies, i, j):
                    return -1
                for k in (i, j):
                    if bodies.kind[k] == DYNAMIC and bodies.island[k] != label:
                        label = _merge(bodies, k, label)
                        grew = True
    for n in range(pairs.count[0]):
        pairs.fresh[n] = False
    return label


@inner
def _kick_again(model, geometry, settings, table, t, touched, effort):
    """Kick the island of the collided bodies at time t, for the rest of the step; OK, or WAKE where it meets a sleeping one.

    Contacts with e = 0 that the impact has made approach take part. ``effort``: how many bodies were kicked again with each
    in this step. Where they are many the island is a crowd for a while.
    """
    bodies, geoms, pairs, contacts, books, forces, joints = model
    dt = settings.dt
    books.counters[REKICKS] += 1
    label = -1
    for i in range(len(touched)):
        if touched[i]:
            fly_to(bodies, forces, i, t)
            if bodies.kind[i] == DYNAMIC:
                label = _merge(bodies, i, label)
    for _ in range(2):
        label = _connect(bodies, geoms, pairs, geometry, forces, books, label, t, dt, touched)
        if label < 0:
            return WAKE
        if not _becomes_crowd(bodies, label, effort, settings.crowd):
            break  # a crowd connects once more: by all approaches
    for i in range(len(touched)):
        if bodies.kind[i] == DYNAMIC and bodies.island[i] == label:
            _bring(bodies, forces, books, i, t, touched)
    if tabulate(bodies, geoms, pairs, contacts, table, dt, label, INELASTIC) != OK:
        return OK
    links = joints_of_island(bodies, joints, label)
    _bring_linked(bodies, forces, joints, books, links, t, touched)
    local = np.full(len(bodies.kind), -1, dtype=np.int64)
    kick_island(bodies, table, joints, books, forces, settings, dt - t, AGAIN, np.arange(table.count[0]), links, local)
    return OK


_joint = far(
    _joint_impact, lambda: (EXAMPLE.bodies, EXAMPLE.contacts, EXAMPLE.joints, EXAMPLE.books, SETTINGS, np.zeros(0, np.int64))
)


@kernel
def _collide_now(model, geometry, settings, table, first, t, touched):
    """The impact of pair ``first`` at time t, with all that acts together with it."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    dt = settings.dt
    books.counters[IMPACTS] += 1
    group = np.zeros(pairs.count[0], dtype=np.bool_)
    _gather(bodies, forces, geoms, pairs, first, t, dt, group, touched, books)
    links = linked_joints(bodies, joints, touched)
    if len(links) > 0:
        _bring_linked(bodies, forces, joints, books, links, t, touched)
        settle_joints(bodies, table, joints, books, links, False)
    count = _touching_rows(bodies, geoms, pairs, geometry, group, table, dt)
    for n in range(len(group)):
        pairs.hits[n] += group[n]
    if count == 1:
        _single(bodies, table, joints, books, settings, links)
    elif count > 1:
        _joint(bodies, table, joints, books, settings, links)
    log_impacts(bodies, table, books, forces.clock[0] + t)
    idle = True
    for k in range(count):
        idle = idle and table.impulse[k, 2] == 0.0
    if idle:
        pairs.hits[first] = IDLE


_collide = far(
    _collide_now,
    lambda: (EXAMPLE, empty_geometry(), SETTINGS, EXAMPLE.contacts, 0, 0.0, np.zeros(0, np.bool_)),
)
