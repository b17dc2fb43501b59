"""The kick of crowds: islands in which so much lands at once that arrivals are not located one by one (docs/step.md).

A crowd is solved by sweeps, once a step, and then looked after: it is flown to the end of the coming drift with what the sweeps
gave. A corner that turns into another body on the way, and had no row because it was not the nearest, gets one now; the row asks
for as much more velocity as takes what it would overlap by. That is Newton's method on the gap at the end of the step, so what
stays is of second order in the correction. Works are booked once, after the last look.
"""

from __future__ import annotations

import math

import numpy as np

from collision.geometry import empty_geometry
from collision.jit import far, inner, kernel, lean
from collision.linalg import (
    ZERO,
    add,
    axpy,
    cross,
    dot,
    load3,
    load4,
    load9,
    mul,
    mul_t,
    norm,
    orthonormal,
    scale,
    store3,
    store9,
    sub,
    symmetric_product,
)
from sim.accounts import KICK
from sim.contacts import update_manifold, write_row
from sim.depth import displace, too_deep
from sim.integrators.rk4 import turn_rk4
from sim.microcollisions import SKIN, apply_contacts, bears, book_contact, load_friction, soft_targets, taken_laws, targets
from sim.motion import flight_far, place, point_velocity, refresh_velocity, world_inverse_inertia
from sim.solvers.joints import BOX
from sim.solvers.newton import newton_far as newton
from sim.solvers.sweeps import COLUMNS, miss, relax, settle, start_sweeps
from sim.state import DYNAMIC, EXAMPLE, ITERATIONS, KINEMATIC, NEWTON, RESIDUAL, ROLLING, SETTINGS, SOLVES, TORSION, UNSOLVED
from sim.surfaces import surface_slip

LOCAL = 200  # sweeps after a look, of what misses its law by a velocity that makes an overlap worth a row
SETTLE = 30  # sweeps before each look, of what still misses its law by a velocity that makes an overlap worth a row
WORK = 30000  # points that a solve may look at, half of them in sweeps, and half by Newton's method where that is left
NEWTON_COST, FEWEST = 25, 4  # an iteration costs as much as so many sweeps; fewer iterations lead to nothing
LOOKS = 5  # at the end of the coming drift
NEAR = 1e-2  # distance of two points of a pair, as part of the smaller body, at which one row does for both
DEEP = 1e-4  # overlap there, as part of the smaller body, that is worth a row


@lean
def plain_crowds(bodies, contacts, joints, plain):
    """Mark the islands that `kick_crowds` solves: crowds of contacts alone."""
    for i in range(len(plain)):
        plain[i] = bodies.crowd[i] > 0
    for j in range(len(joints.island)):
        plain[joints.island[j]] = False
    for k in range(contacts.count[0]):
        if contacts.law[k, ROLLING] > 0.0 or contacts.law[k, TORSION] > 0.0:
            plain[contacts.island[k]] = False


@lean
def _pack(bodies, contacts, k, i, j, ii, ij, light_i, light_j, u0, row):
    """The packed block of contact k of bodies i, j (sweeps.pack), ii and ij their inverse inertias; the target is zero."""
    point, e = load3(contacts.point, k), load9(contacts.frame, k)
    ra, rb = sub(point, load3(bodies.x, i)), sub(point, load3(bodies.x, j))
    for r in range(3):
        d = (e[3 * r], e[3 * r + 1], e[3 * r + 2])
        arm_a, arm_b = scale(-1.0, cross(ra, d)), cross(rb, d)
        turn_a, turn_b = mul(ii, arm_a), mul(ij, arm_b)
        for c in range(3):
            row[3 * r + c] = d[c]
            row[9 + 3 * r + c] = arm_a[c]
            row[18 + 3 * r + c] = arm_b[c]
            row[27 + 3 * r + c] = turn_a[c]
            row[36 + 3 * r + c] = turn_b[c]
        row[54 + r] = u0[r]
    light = light_i + light_j
    for r in range(3):
        for s in range(3):
            m = light if r == s else 0.0
            for c in range(3):
                m += row[9 + 3 * r + c] * row[27 + 3 * s + c] + row[18 + 3 * r + c] * row[36 + 3 * s + c]
            row[45 + 3 * r + s] = m
    mean, half = 0.5 * (row[45] + row[49]), 0.5 * (row[45] - row[49])
    row[57] = mean + math.sqrt(half * half + row[46] * row[46])


@inner
def _load(bodies, contacts, rows, first, last, local, inverse, light, a, b, packed):
    """Pack the contacts ``rows[first:last]``; what bodies that impulses do not move bring along is the offset."""
    for n in range(first, last):
        k = rows[n]
        i, j = contacts.body[k, 0], contacts.body[k, 1]
        a[n], b[n] = local[i], local[j]
        point, e = load3(contacts.point, k), load9(contacts.frame, k)
        offset = surface_slip(bodies, i, j, point, (e[6], e[7], e[8]))
        ii = ij = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        li = lj = 0.0
        if a[n] >= 0:
            ii, li = load9(inverse, a[n]), light[a[n]]
        else:
            offset = sub(offset, point_velocity(bodies, i, point))
        if b[n] >= 0:
            ij, lj = load9(inverse, b[n]), light[b[n]]
        else:
            offset = add(offset, point_velocity(bodies, j, point))
        _pack(bodies, contacts, k, i, j, ii, ij, li, lj, mul(e, offset), packed[n])


@kernel
def _kick_crowds(model, geometry, settings, plain):
    """Solve, apply and book the contacts of the marked islands of a table sorted by islands."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    h, n = settings.dt, len(bodies.kind)
    count, islands = 0, 0
    room = contacts.count[0]
    rows, start = np.empty(room, dtype=np.int64), np.empty(room + 1, dtype=np.int64)
    local, members, size = np.full(n, -1, dtype=np.int64), np.empty(n, dtype=np.int64), 0
    for at in range(room):
        k = contacts.order[at]
        if not plain[contacts.island[k]]:
            continue
        if count == 0 or contacts.island[k] != contacts.island[rows[count - 1]]:
            start[islands] = count
            islands += 1
        rows[count] = k
        count += 1
    if count == 0:
        return
    start[islands] = count
    for i in range(n):
        if bodies.kind[i] == DYNAMIC and plain[bodies.island[i]]:
            local[i] = size
            members[size] = i
            size += 1
    most = count + LOOKS * (count // 2 + 16)  # with room for corners that turn in
    rows, members = _longer(rows[:count], most), members[:size]
    light, inverse = np.zeros(size + 1), np.empty((size, 3, 3))
    before, v = np.zeros((size + 1, 6)), np.zeros((size + 1, 6))
    a, b, packed = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64), np.empty((most, COLUMNS))
    mu, c, p = np.empty(most), np.zeros((most, 3)), np.zeros((most, 3))
    stick, fast, none = np.zeros((most, 2)), np.zeros(most, dtype=np.bool_), np.zeros((0, 3))
    shallow = math.inf
    for m in range(size):
        light[m] = bodies.inv_mass[members[m]]
        shallow = min(shallow, DEEP * bodies.radius[members[m]] / h)
        store9(inverse, m, world_inverse_inertia(bodies, members[m]))
    if _uneven(bodies, contacts, books, settings, rows[:count]):
        _load(bodies, contacts, rows, 0, count, local, inverse, light, a, b, packed)
        _close(bodies, contacts, books, settings, rows, count, members, a, b, light, packed, c, p, v)
        for m in range(size):
            store9(inverse, m, world_inverse_inertia(bodies, members[m]))
    for m in range(size):
        i = members[m]
        for r in range(3):
            before[m, r], before[m, 3 + r] = bodies.v[i, r], bodies.w[i, r]
    _load(bodies, contacts, rows, 0, count, local, inverse, light, a, b, packed)
    load_friction(contacts, rows[:count], mu)
    targets(contacts, rows[:count], h, KICK, c)
    soft_targets(bodies, contacts, rows[:count], h, c, stick, fast)
    for m in range(count):
        for r in range(3):
            p[m, r] = contacts.impulse[rows[m], r]
            packed[m, 54 + r] -= c[m, r]
    start_sweeps(light, before, a[:count], b[:count], mu, none, none, packed, p, v)
    worst, awake = np.zeros(islands), np.empty(size + 1, dtype=np.bool_)
    for s in range(islands):
        worst[s], done = settle(
            light, a, b, mu, none, none, c, stick, fast, none, packed, p, v, start[s], start[s + 1],
            settings.tolerance, max(settings.sweeps, WORK // (2 * (start[s + 1] - start[s]))), SETTLE, awake,
        )  # fmt: skip
        if worst[s] > settings.tolerance and settings.solver == NEWTON:
            worst[s], spent = _solve_exactly(
                bodies, members, light, inverse, before, a, b, packed, mu, c, p, v, start[s], start[s + 1], worst[s], settings
            )
            done += spent
        books.counters[SOLVES] += 1
        books.counters[ITERATIONS] += done
    awake[:] = True
    first, turned_in = count, False
    for _ in range(LOOKS):
        found = look_ahead(
            model, geometry, h, rows, first, count, most, local, inverse, light, before, v, a, b, packed, mu, c, p, stick, fast,
            awake,
        )  # fmt: skip
        if found < 0:
            break
        count, turned_in = found, True
        relax(light, a, b, mu, none, none, c, stick, fast, none, packed, p, v, 0, count, shallow, LOCAL, awake)
    if turned_in:
        off, _ = settle(
            light, a, b, mu, none, none, c, stick, fast, none, packed, p, v, 0, count, settings.tolerance, WORK // (4 * count),
            SETTLE, awake,
        )  # fmt: skip
        worst[:] = off
    s = 0
    for m in range(count):
        while m < first and m >= start[s + 1]:
            s += 1
        contacts.residual[rows[m]] = worst[s]
    for s in range(islands):
        books.worst[RESIDUAL] = max(books.worst[RESIDUAL], worst[s])
        books.counters[UNSOLVED] += worst[s] > settings.tolerance
    taken_laws(contacts, rows[:count], p, mu, fast)
    apply_contacts(bodies, contacts, books, rows[:count], p, KICK)
    for i in members:
        refresh_velocity(bodies, i)
    for m in range(count):
        book_contact(bodies, contacts, books, rows[m], KICK)


@inner
def _solve_exactly(bodies, members, light, inverse, before, a, b, packed, mu, c, p, v, first, last, worst, settings):
    """Newton's method from where the sweeps ended, on an island that is small enough: (what is missed [m/s], iterations).

    Its result counts only if it is within the tolerance: its best iterate otherwise is another split of the load, and would
    set in motion what sweeps hold (docs/numerics.md).
    """
    m = last - first
    most = WORK // (2 * NEWTON_COST * m)
    if most < FEWEST:
        return worst, 0
    place, n = np.full(len(light), -1, dtype=np.int64), 0
    for k in range(first, last):
        for i in (a[k], b[k]):
            if i >= 0 and place[i] < 0:
                place[i] = n
                n += 1
    mass, inv_mass, inertia, inv_inertia = np.empty(n), np.empty(n), np.empty((n, 3, 3)), np.empty((n, 3, 3))
    arrive, leave, u0 = np.empty((n, 6)), np.empty((n, 6)), np.empty((m, 3))
    one, two = np.full(m, -1, dtype=np.int64), np.full(m, -1, dtype=np.int64)
    ja, jb, zero, q = np.zeros((m, 3, 6)), np.zeros((m, 3, 6)), np.zeros((m, 3)), p[first:last].copy()
    for i in range(len(place)):
        if place[i] >= 0:
            j = place[i]
            mass[j], inv_mass[j] = bodies.mass[members[i]], light[i]
            store9(inertia, j, symmetric_product(load9(bodies.rot, members[i]), load9(bodies.inertia, members[i])))
            store9(inv_inertia, j, load9(inverse, i))
            arrive[j] = before[i]
    for k in range(m):
        row = packed[first + k]
        for r in range(3):
            u0[k, r] = row[54 + r] + c[first + k, r]
            for d in range(3):
                if a[first + k] >= 0:
                    one[k] = place[a[first + k]]
                    ja[k, r, d], ja[k, r, 3 + d] = -row[3 * r + d], row[9 + 3 * r + d]
                if b[first + k] >= 0:
                    two[k] = place[b[first + k]]
                    jb[k, r, d], jb[k, r, 3 + d] = row[3 * r + d], row[18 + 3 * r + d]
    off, spent = newton(
        mass, inertia, inv_mass, inv_inertia, arrive, one, two, ja, jb, mu[first:last], zero, zero, c[first:last], u0,
        settings.tolerance, most, q, leave,
    )  # fmt: skip
    if off > settings.tolerance:
        return worst, spent
    p[first:last] = q
    for i in range(len(place)):
        if place[i] >= 0:
            v[i] = leave[place[i]]
    return off, spent


@inner
def _longer(rows, most):
    out = np.empty(most, dtype=np.int64)
    out[: len(rows)] = rows
    return out


@lean
def _uneven(bodies, contacts, books, settings, rows):
    """A point overlaps by more than rounding, or bears load and stands open by more than that."""
    found = too_deep(contacts, books, settings, rows)
    for k in rows:
        found = found or (contacts.gap[k] > settings.slop and bears(bodies, contacts, k))
    return found


@inner
def _close(bodies, contacts, books, settings, rows, count, members, a, b, light, packed, c, p, v):
    """Remove part of the overlaps of a crowd, and of what points that bear load are open by, as displacements (depth.py)."""
    rest, law, low, high = np.zeros((len(light), 6)), np.zeros(count), np.zeros((count, 3)), np.zeros((count, 3))
    stick, fast, largest = np.zeros((0, 2)), np.zeros(count, dtype=np.bool_), 0.0
    for m in range(count):
        gap = contacts.gap[rows[m]]
        for r in range(3):
            p[m, r] = packed[m, 54 + r] = 0.0
        p[m, 2] = contacts.push[rows[m]]
        both = gap > 0.0 and bears(bodies, contacts, rows[m])
        if both:
            law[m], low[m, 2], high[m, 2] = BOX, -math.inf, math.inf
        packed[m, 56] = gap * settings.correction if gap < 0.0 or both else gap
        if gap < 0.0 or both:
            largest = max(largest, abs(gap))
    start_sweeps(light, rest, a[:count], b[:count], law, low, high, packed, p, v)
    awake = np.ones(len(light), dtype=np.bool_)
    relax(light, a, b, law, low, high, c, stick, fast, low, packed, p, v, 0, count, 1e-2 * largest, 10, awake)
    for m in range(count):
        contacts.push[rows[m]] = p[m, 2]
    displace(bodies, contacts, books, rows[:count], members, a, b, p, v)


@inner
def look_ahead(
    model, geometry, h, rows, first, count, most, local, inverse, light, before, v, a, b, packed, mu, c, p, stick, fast, awake
):
    """Rows for what overlaps at the end of the coming drift; the number of rows then, -1 where nothing does.

    Rows ``first`` and those after it came by earlier looks.
    """
    bodies, geoms, pairs, contacts, books, forces, joints = model
    n, table = len(bodies.kind), contacts.count[0] - (count - first)
    x, rot, momenta = np.empty((n, 3)), np.empty((n, 3, 3)), np.empty((n, 10))
    for i in range(n):
        if local[i] >= 0 or bodies.kind[i] == KINEMATIC:
            _keep(bodies, i, x, rot, momenta)
            _fly(bodies, forces, i, local[i], before, v, h)
    where = np.full(contacts.count[0], -1, dtype=np.int64)
    for k in range(count):
        where[rows[k]] = k
    room = most - count
    pair, which, known = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    places, gaps, found, t = np.empty((room, 3)), np.empty(room), 0, 0
    for m in range(pairs.count[0]):
        g0, g1 = pairs.geoms[m, 0], pairs.geoms[m, 1]
        i, j = geoms.body[g0], geoms.body[g1]
        while t < table and (contacts.pair[t, 0] < g0 or (contacts.pair[t, 0] == g0 and contacts.pair[t, 1] < g1)):
            t += 1
        if not _concerned(bodies, local, i, j):
            continue
        update_manifold(bodies, geoms, pairs, geometry, m, h)
        pairs.fresh[m] = False
        deep = DEEP * min(bodies.radius[i], bodies.radius[j])
        for s in range(pairs.points[m]):
            gap = pairs.rows[m, s, 3]
            if gap < -deep and found < room:  # depths that are there already are pushed apart, slowly: depth.py
                # where the material points of both bodies that meet there are now
                point = (pairs.rows[m, s, 0], pairs.rows[m, s, 1], pairs.rows[m, s, 2])
                normal = load3(pairs.normal, m)
                one = _carried(bodies, local, x, rot, i, axpy(-0.5 * gap, normal, point))
                two = _carried(bodies, local, x, rot, j, axpy(0.5 * gap, normal, point))
                pair[found], which[found], known[found] = m, s, t
                store3(places, found, scale(0.5, add(one, two)))
                gaps[found] = dot(normal, sub(two, one))
                found += min(gaps[found], 0.0) - gap > deep
    for i in range(n):
        if local[i] >= 0 or bodies.kind[i] == KINEMATIC:
            _return(bodies, i, x, momenta)
    for f in range(found):
        m, s = pair[f], which[f]
        k = _row_of(bodies, contacts, where, rows, pairs, m, s, load3(places, f), known[f], table, first, count)
        if k < 0:
            if contacts.count[0] == len(contacts.gap):
                break
            k, row = count, contacts.count[0]
            _new_row(bodies, geoms, contacts, row, pairs, m, s, load3(places, f), gaps[f])
            contacts.count[0] += 1
            rows[k] = row
            count += 1
            _load(bodies, contacts, rows, k, k + 1, local, inverse, light, a, b, packed)
            _aim(bodies, contacts, row, local, before, h, mu, c, p, stick, fast, packed, k)
        # Newton: what the end of the kick needs more, half of it in the middle; never more than stops the approach, and what
        # turning takes a point further than its velocity does
        i, j = contacts.body[rows[k], 0], contacts.body[rows[k], 1]
        now = c[k, 2] + _miss_of(packed[k], v, a[k], b[k], len(light) - 1)
        stop = 0.5 * (contacts.u[rows[k], 2] + 0.5 * h * (_turning(bodies, i) + _turning(bodies, j)))
        aim = max(c[k, 2], min(stop, now + 0.5 * (min(gaps[f], 0.0) - pairs.rows[m, s, 3]) / h))
        packed[k, 56] -= aim - c[k, 2]
        c[k, 2] = aim
        awake[a[k]] = awake[b[k]] = True
    return count if found > 0 else -1


@lean
def _turning(bodies, i):
    """Bound on the centripetal acceleration of a point of body i [m/s^2]."""
    w = load3(bodies.w, i)
    return dot(w, w) * bodies.radius[i] if bodies.kind[i] == DYNAMIC else 0.0


@lean
def _concerned(bodies, local, i, j):
    """Both bodies of a pair are looked after, or one is and the other one no impulse moves."""
    one = local[i] >= 0 or bodies.kind[i] != DYNAMIC
    two = local[j] >= 0 or bodies.kind[j] != DYNAMIC
    return one and two and (local[i] >= 0 or local[j] >= 0)


@lean
def _keep(bodies, i, x, rot, momenta):
    for r in range(3):
        x[i, r], momenta[i, r], momenta[i, 3 + r] = bodies.x[i, r], bodies.p[i, r], bodies.l[i, r]
    for r in range(4):
        momenta[i, 6 + r] = bodies.q[i, r]
    store9(rot, i, load9(bodies.rot, i))


@lean
def _return(bodies, i, x, momenta):
    m = momenta[i]
    place(bodies, i, load3(x, i), (m[6], m[7], m[8], m[9]), (m[0], m[1], m[2]), (m[3], m[4], m[5]))


@lean
def _fly(bodies, forces, i, k, before, v, h):
    """Body i to where it is at the end of the coming drift, k its place in the problem; in uniform gravity alone."""
    if k < 0:
        x, q, p, l = flight_far(bodies, forces, i, h)
        place(bodies, i, x, q, p, l)
        return
    speed = (2.0 * v[k, 0] - before[k, 0], 2.0 * v[k, 1] - before[k, 1], 2.0 * v[k, 2] - before[k, 2])
    w = (2.0 * v[k, 3] - before[k, 3], 2.0 * v[k, 4] - before[k, 4], 2.0 * v[k, 5] - before[k, 5])
    l = mul(symmetric_product(load9(bodies.rot, i), load9(bodies.inertia, i)), w)
    x = axpy(h, axpy(0.5 * h, load3(bodies.gravity, i), speed), load3(bodies.x, i))
    place(bodies, i, x, turn_rk4(load4(bodies.q, i), l, h, load9(bodies.inv_inertia, i)), scale(bodies.mass[i], speed), l)


@lean
def _carried(bodies, local, x, rot, i, point):
    """Where a material point of body i was before it was flown ahead."""
    if local[i] < 0 and bodies.kind[i] != KINEMATIC:
        return point
    return add(load3(x, i), mul(load9(rot, i), mul_t(load9(bodies.rot, i), sub(point, load3(bodies.x, i)))))


@lean
def _row_of(bodies, contacts, where, rows, pairs, m, s, point, t, table, first, count):
    """The row of point s of pair m: that of its feature, or one that is as near as makes no difference; -1: none."""
    g0, g1, id = pairs.geoms[m, 0], pairs.geoms[m, 1], pairs.ids[m, s]
    best, near = -1, math.inf
    while t < table and contacts.pair[t, 0] == g0 and contacts.pair[t, 1] == g1:
        if contacts.id[t] == id:
            return where[t]
        d = norm(sub(load3(contacts.point, t), point))
        reach = NEAR * min(bodies.radius[contacts.body[t, 0]], bodies.radius[contacts.body[t, 1]])
        if d < min(near, reach):
            best, near = where[t], d
        t += 1
    for k in range(first, count):
        t = rows[k]
        if contacts.pair[t, 0] == g0 and contacts.pair[t, 1] == g1 and contacts.id[t] == id:
            return k
    return best


@lean
def _new_row(bodies, geoms, contacts, k, pairs, m, s, point, gap):
    """Row k of the table for point s of pair m, which is at ``point`` now."""
    g0, g1 = pairs.geoms[m, 0], pairs.geoms[m, 1]
    i, j = geoms.body[g0], geoms.body[g1]
    normal = load3(pairs.normal, m)
    e, f = orthonormal(normal)
    row = pairs.rows[m, s]
    write_row(bodies, contacts, k, g0, g1, i, j, pairs.ids[m, s], row, e, f, normal, ZERO, ZERO)
    store3(contacts.point, k, point)
    contacts.gap[k] = gap
    contacts.island[k] = bodies.island[i] if bodies.kind[i] == DYNAMIC else bodies.island[j]


@lean
def _aim(bodies, contacts, row, local, before, h, mu, c, p, stick, fast, packed, k):
    """Block k of the problem for a new row: no impulse yet, and the law of the slip that it has."""
    i, j, point = contacts.body[row, 0], contacts.body[row, 1], load3(contacts.point, row)
    e = load9(contacts.frame, row)
    u = sub(_velocity(bodies, local, before, j, point), _velocity(bodies, local, before, i, point))
    u = mul(e, add(u, surface_slip(bodies, i, j, point, (e[6], e[7], e[8]))))
    store3(contacts.u, row, u)
    mu[k] = contacts.mu[row]
    fast[k] = math.hypot(u[0], u[1]) * h > SKIN * min(bodies.radius[i], bodies.radius[j])
    c[k, 2] = 0.5 * (u[2] - max(contacts.gap[row], 0.0) / h)
    for r in range(3):
        p[k, r] = 0.0
        if r < 2:
            stick[k, r] = 0.5 * u[r]
            c[k, r] = 0.0 if fast[k] else stick[k, r]
        packed[k, 54 + r] -= c[k, r]


@lean
def _velocity(bodies, local, before, i, point):
    """Velocity of a point of body i before the kick."""
    k = local[i]
    if k < 0:
        return point_velocity(bodies, i, point)
    w = (before[k, 3], before[k, 4], before[k, 5])
    return add((before[k, 0], before[k, 1], before[k, 2]), cross(w, sub(point, load3(bodies.x, i))))


@lean
def _miss_of(row, v, i, j, none):
    """The velocity along its normal by which a packed block misses its target."""
    i, j = i if i >= 0 else none, j if j >= 0 else none
    return miss(row, 2, v[j, 0] - v[i, 0], v[j, 1] - v[i, 1], v[j, 2] - v[i, 2], v, i, j)


_FLAGS = np.zeros(0, np.bool_)
kick_crowds = far(_kick_crowds, lambda: (EXAMPLE, empty_geometry(), SETTINGS, _FLAGS))
