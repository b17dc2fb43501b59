"""Rows for what turns in: a crowd is flown to the end of the coming drift before its kick is applied.

A pair has rows for the points that are nearest now. Within the step the bodies turn, and other corners come down,
millimetres deep in a fast heap. Flown ahead with the velocities of the sweeps, such a point is seen as an overlap at the
end; it gets a row in this kick, or its row a new target. The two material points that meet there are carried back to the
present poses: the impulse acts in the middle between them, along the normal that they will have. The row asks for as much
more velocity as takes what it would overlap by: Newton's method on the gap at the end of the step, so what stays is of
second order in the correction, not in the turn of the step.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tumble.collision.kernels.group import owning_group
from tumble.collision.kernels.jit import inner, lean
from tumble.collision.linalg import (
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
    shorter,
    store3,
    store9,
    sub,
    symmetric_product,
)
from tumble.sim.contact.surfaces import surface_slip
from tumble.sim.contact.touching.contact_table import write_row
from tumble.sim.contact.touching.impact_threshold import SLOW_GAP, pair_size
from tumble.sim.contact.touching.swept_pairs import speculative_margin
from tumble.sim.flight.methods.rk4 import turn_rk4
from tumble.sim.flight.motion import flight_far, point_velocity, set_state
from tumble.sim.impact.crowds.crowd_rows import load_bodies, load_lanes, load_laws
from tumble.sim.impact.thread_jobs import CORNERS, share
from tumble.sim.solvers.crowd_targets import skin_of
from tumble.sim.solvers.lanes import aim_at, group_contacts, miss_of
from tumble.sim.sorted_lists import is_pair, pair_before
from tumble.sim.state import DYNAMIC, KINEMATIC, KNOWN, WANTED

SAME_POINT = 1e-2  # distance of two points of a pair, as part of the smaller body, at which one row does for both
ROW_OVERLAP = 1e-4  # overlap at the end, as part of the smaller body, that is worth a row


@owning_group
class Watch(NamedTuple):
    """What looks remember of each other, and room for one; n bodies."""

    seen: np.ndarray  # (members, 6) velocities of the last look
    poses: np.ndarray  # (n, 12) where each body was when it was looked at last: position, rotation
    open_by: np.ndarray  # (pairs,) a gap that no point of a pair is below there [m]
    least: np.ndarray  # (pairs,) the same where the bodies are now
    moved: np.ndarray  # (n,) bool: its velocity is not that of the last look
    flown: np.ndarray  # (n,) bool: it is at the end of the drift
    x: np.ndarray  # (n, 3) where it was
    rot: np.ndarray  # (n, 3, 3)
    momenta: np.ndarray  # (n, 10) and orientations
    ways: np.ndarray  # (n, 4) from where it was looked at last
    pair: np.ndarray  # (k,) int64 of each point that overlaps there its pair,
    point: np.ndarray  # (k,) int64 which of its points it is,
    row: np.ndarray  # (k,) int64 and the first row of the table that the pair has
    place: np.ndarray  # (k, 3) where its material points are now [m]
    gap: np.ndarray  # (k,) by how much they are apart now [m]


@inner
def watch(bodies, geoms, pairs, crowd, dt):
    """Before the first look."""
    n, room = len(bodies.kind), len(crowd.rows)
    poses, open_by = np.empty((n, 12)), np.empty(pairs.count[0])
    _look_first(bodies, geoms, pairs, poses, open_by, dt)
    return Watch(
        np.full((len(crowd.members), 6), math.nan), poses, open_by, open_by.copy(),
        np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_),
        np.empty((n, 3)), np.empty((n, 3, 3)), np.empty((n, 10)), np.zeros((n, 4)), np.empty(room, dtype=np.int64),
        np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64), np.empty((room, 3)), np.empty(room),
    )  # fmt: skip


@lean
def _look_first(bodies, geoms, pairs, poses, open_by, dt):
    for i in range(len(poses)):
        _keep_pose(bodies, i, poses)
    for m in range(len(open_by)):
        open_by[m] = _least_gap(bodies, pairs, m, geoms.body[pairs.geoms[m, 0]], geoms.body[pairs.geoms[m, 1]], dt)


@inner
def predict_rows(model, geometry, settings, crowd, seen, first, count):
    """Rows for what overlaps at the end of the coming drift: (the number of rows then, -1 where nothing does; the largest
    velocity that one asks for more than before [m/s]).

    Rows ``first`` and those after it came by earlier looks. Two bodies that both kept the velocities that were ``seen`` meet as
    they did then, and asked for what they ask for now: they are passed over. What two bodies have moved against each other since
    they were looked at takes no more from the gap of a pair than the longest way of a point; while it is not used up the pair is
    passed over too.
    """
    bodies, geoms, pairs, contacts, books, forces, joints = model
    _look(model, geometry, settings, crowd, seen)
    table = contacts.count[0] - (count - first)
    found = _overlapping(bodies, geoms, pairs, contacts, crowd, seen, table, len(crowd.rows) - count, settings.dt)
    _return_all(bodies, seen)
    if found == 0:
        return -1, 0.0
    largest = 0.0
    where = np.full(contacts.count[0], -1, dtype=np.int64)
    for k in range(count):
        where[crowd.rows[k]] = k
    for f in range(found):
        k = _row_of(bodies, contacts, where, crowd.rows, pairs, seen, f, table, first, count)
        if k < 0:
            if contacts.count[0] == len(contacts.gap):
                break
            k, row = count, contacts.count[0]
            _new_row(bodies, geoms, contacts, row, pairs, seen, f)
            contacts.count[0] += 1
            crowd.rows[k] = row
            count += 1
            load_bodies(contacts, crowd, k, count)
            group_contacts(crowd.groups, crowd.a, crowd.b, k, count)
            load_lanes(bodies, contacts, crowd, k, count)
            _aim(bodies, contacts, crowd, row, settings.skin, settings.dt, k)
            load_laws(crowd, k, count)
        m = seen.pair[f]
        more, left = _aim_again(bodies, contacts, crowd, k, min(seen.gap[f], 0.0) - pairs.rows[m, seen.point[f], 3], settings.dt)
        largest = max(largest, more)
        size = pair_size(bodies, contacts.body[crowd.rows[k], 0], contacts.body[crowd.rows[k], 1])
        if left > SLOW_GAP * size:
            pairs.unforeseen[m] = 1
    return count, largest


@inner
def mark_unforeseen(model, geometry, settings, crowd, seen):
    """Mark the pairs that will overlap at the end of the coming drift all the same, more than they do now and than a crowd may be
    left with: the drift is to find their impacts."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    _look(model, geometry, settings, crowd, seen)
    for m in range(pairs.count[0]):
        if pairs.search[m] == WANTED:
            i, j = geoms.body[pairs.geoms[m, 0]], geoms.body[pairs.geoms[m, 1]]
            deep = min(0.0, seen.least[m]) - _least_gap(bodies, pairs, m, i, j, settings.dt)
            pairs.search[m], pairs.fresh[m] = KNOWN, False
            pairs.unforeseen[m] = 1 if deep > SLOW_GAP * pair_size(bodies, i, j) else 0
    _return_all(bodies, seen)


@inner
def _look(model, geometry, settings, crowd, seen):
    """Bodies stand at the end of the coming drift, and the pairs that may overlap there, which are marked, have points there."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    _fly_ahead(bodies, geoms, pairs, forces, crowd, seen, settings.dt)
    _ask(bodies, geoms, pairs, crowd, seen)
    share(model, geometry, settings, CORNERS, pairs.count[0])


@lean
def _fly_ahead(bodies, geoms, pairs, forces, crowd, seen, dt):
    """Fly all bodies whose motion is not that of the last look, and those that they may meet, to the end of the drift."""
    moved, flown, local = seen.moved, seen.flown, crowd.local
    for i in range(len(moved)):
        moved[i] = flown[i] = False
        for r in range(4):
            seen.ways[i, r] = 0.0
        if local[i] >= 0:
            for r in range(6):
                moved[i] = moved[i] or crowd.v[local[i], r] != seen.seen[local[i], r]
                seen.seen[local[i], r] = crowd.v[local[i], r]
    for m in range(pairs.count[0]):
        i, j = geoms.body[pairs.geoms[m, 0]], geoms.body[pairs.geoms[m, 1]]
        if moved[i] or moved[j]:
            flown[i] = flown[i] or local[i] >= 0 or bodies.kind[i] == KINEMATIC
            flown[j] = flown[j] or local[j] >= 0 or bodies.kind[j] == KINEMATIC
    for i in range(len(moved)):
        if flown[i]:
            _keep(bodies, i, seen.x, seen.rot, seen.momenta)
            _fly(bodies, forces, i, local[i], crowd.before, crowd.v, dt)
            _way(bodies, i, seen.poses, seen.ways)


@lean
def _ask(bodies, geoms, pairs, crowd, seen):
    """Mark the pairs that may overlap there."""
    for m in range(pairs.count[0]):
        i, j = geoms.body[pairs.geoms[m, 0]], geoms.body[pairs.geoms[m, 1]]
        seen.open_by[m] -= norm(sub(load3(seen.ways, i), load3(seen.ways, j))) + seen.ways[i, 3] + seen.ways[j, 3]
        wanted = (seen.moved[i] or seen.moved[j]) and _concerned(bodies, crowd.local, i, j)
        wanted = wanted and seen.open_by[m] < -ROW_OVERLAP * min(bodies.radius[i], bodies.radius[j])
        pairs.search[m] = WANTED if wanted else KNOWN  # which the coming drift finds anew


@lean
def _overlapping(bodies, geoms, pairs, contacts, crowd, seen, table, room, dt):
    """The points that overlap there, with where their two material points are now; how many."""
    found, t = 0, 0
    for m in range(pairs.count[0]):
        g0, g1 = pairs.geoms[m, 0], pairs.geoms[m, 1]
        i, j = geoms.body[g0], geoms.body[g1]
        while t < table and pair_before(contacts.pair, t, g0, g1):
            t += 1
        if pairs.search[m] != WANTED:
            continue
        pairs.search[m], pairs.fresh[m], pairs.unforeseen[m] = KNOWN, False, 0
        deep = ROW_OVERLAP * min(bodies.radius[i], bodies.radius[j])
        seen.open_by[m] = _least_gap(bodies, pairs, m, i, j, dt)
        for s in range(pairs.points[m]):
            gap = pairs.rows[m, s, 3]
            if gap < -deep and found < room:  # depths that are there already are pushed apart, slowly: overlap_correction.py
                point = (pairs.rows[m, s, 0], pairs.rows[m, s, 1], pairs.rows[m, s, 2])
                normal = load3(pairs.normal, m)
                one = _carried(bodies, crowd.local, seen.x, seen.rot, i, axpy(-0.5 * gap, normal, point))
                two = _carried(bodies, crowd.local, seen.x, seen.rot, j, axpy(0.5 * gap, normal, point))
                seen.pair[found], seen.point[found], seen.row[found] = m, s, t
                store3(seen.place, found, scale(0.5, add(one, two)))
                # along a normal that turned, points may seem to overlap by more than their bodies do
                seen.gap[found] = max(dot(normal, sub(two, one)), seen.least[m])
                found += min(seen.gap[found], 0.0) - gap > deep
    return found


@lean
def _aim_again(bodies, contacts, crowd, k, overlap, h):
    """Newton: what the end of the kick needs more, half of it in the middle; never more than stops the approach, and what turning
    takes a point further than its velocity does. (How much more it asks for [m/s], what will still overlap then [m].)"""
    row = crowd.rows[k]
    now = crowd.c[k, 2] + miss_of(crowd.groups, k, crowd.v)
    turning = _turning(bodies, contacts.body[row, 0]) + _turning(bodies, contacts.body[row, 1])
    stop = 0.5 * (contacts.u[row, 2] + 0.5 * h * turning)
    whole = now + 0.5 * overlap / h
    aim = max(crowd.c[k, 2], min(stop, whole))
    more = aim - crowd.c[k, 2]
    aim_at(crowd.groups, k, more)
    crowd.c[k, 2] = aim
    return more, 2.0 * h * (whole - aim)


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
def _return_all(bodies, seen):
    """Bring back what was flown ahead."""
    for i in range(len(seen.flown)):
        if seen.flown[i]:
            m = seen.momenta[i]
            set_state(bodies, i, load3(seen.x, i), (m[6], m[7], m[8], m[9]), (m[0], m[1], m[2]), (m[3], m[4], m[5]))


@lean
def _least_gap(bodies, pairs, m, i, j, dt):
    """The gap that no point of the manifold of pair m is below [m]; out to where it was looked for, if it has none."""
    gap = speculative_margin(bodies, i, j, dt)
    for s in range(pairs.points[m]):
        gap = min(gap, pairs.rows[m, s, 3])
    return gap


@lean
def _keep_pose(bodies, i, poses):
    for r in range(3):
        poses[i, r] = bodies.x[i, r]
    for r in range(9):
        poses[i, 3 + r] = bodies.rot[i, r // 3, r % 3]


@lean
def _way(bodies, i, poses, ways):
    """How far body i is from where it was looked at last: its centre, and the longest way of a point about that [m]."""
    turned = 0.0
    for r in range(3):
        ways[i, r] = bodies.x[i, r] - poses[i, r]
    for r in range(9):
        d = bodies.rot[i, r // 3, r % 3] - poses[i, 3 + r]
        turned += d * d
    ways[i, 3] = bodies.radius[i] * math.sqrt(0.5 * turned) if turned > 0.0 else 0.0
    _keep_pose(bodies, i, poses)


@lean
def _fly(bodies, forces, i, k, before, v, h):
    """Body i to where it is at the end of the coming drift, k its place in the problem; in uniform gravity alone."""
    if k < 0:
        x, q, p, l = flight_far(bodies, forces, i, h)
        set_state(bodies, i, x, q, p, l)
        return
    speed = (2.0 * v[k, 0] - before[k, 0], 2.0 * v[k, 1] - before[k, 1], 2.0 * v[k, 2] - before[k, 2])
    w = (2.0 * v[k, 3] - before[k, 3], 2.0 * v[k, 4] - before[k, 4], 2.0 * v[k, 5] - before[k, 5])
    l = mul(symmetric_product(load9(bodies.rot, i), load9(bodies.inertia, i)), w)
    x = axpy(h, axpy(0.5 * h, load3(bodies.gravity, i), speed), load3(bodies.x, i))
    set_state(bodies, i, x, turn_rk4(load4(bodies.q, i), l, h, load9(bodies.inv_inertia, i)), scale(bodies.mass[i], speed), l)


@lean
def _carried(bodies, local, x, rot, i, point):
    """Where a material point of body i was before it was flown ahead."""
    if local[i] < 0 and bodies.kind[i] != KINEMATIC:
        return point
    return add(load3(x, i), mul(load9(rot, i), mul_t(load9(bodies.rot, i), sub(point, load3(bodies.x, i)))))


@lean
def _row_of(bodies, contacts, where, rows, pairs, seen, f, table, first, count):
    """The row of the f-th point: that of its feature, or one that is as near as makes no difference; -1: none."""
    m, s, point, t = seen.pair[f], seen.point[f], load3(seen.place, f), seen.row[f]
    g0, g1, id = pairs.geoms[m, 0], pairs.geoms[m, 1], pairs.ids[m, s]
    best, near = -1, math.inf
    while t < table and is_pair(contacts.pair, t, g0, g1):
        if contacts.id[t] == id:
            return where[t]
        d = norm(sub(load3(contacts.point, t), point))
        reach = SAME_POINT * min(bodies.radius[contacts.body[t, 0]], bodies.radius[contacts.body[t, 1]])
        if d < min(near, reach):
            best, near = where[t], d
        t += 1
    for k in range(first, count):
        t = rows[k]
        if is_pair(contacts.pair, t, g0, g1) and contacts.id[t] == id:
            return k
    return best


@lean
def _new_row(bodies, geoms, contacts, k, pairs, seen, n):
    """Row k of the table for the n-th point."""
    m, s = seen.pair[n], seen.point[n]
    g0, g1 = pairs.geoms[m, 0], pairs.geoms[m, 1]
    i, j = geoms.body[g0], geoms.body[g1]
    normal = load3(pairs.normal, m)
    e, f = orthonormal(normal)
    row = pairs.rows[m, s]
    write_row(bodies, contacts, k, g0, g1, i, j, pairs.ids[m, s], row, e, f, normal, ZERO, ZERO)
    store3(contacts.point, k, load3(seen.place, n))
    contacts.gap[k] = seen.gap[n]
    contacts.island[k] = bodies.island[i] if bodies.kind[i] == DYNAMIC else bodies.island[j]


@lean
def _aim(bodies, contacts, crowd, row, skin, h, k):
    """Block k of the problem for a new row: no impulse yet, and the law of the slip that it has."""
    local, before, mu, c, p, stick, fast = crowd.local, crowd.before, crowd.mu, crowd.c, crowd.p, crowd.stick, crowd.fast
    i, j, point = contacts.body[row, 0], contacts.body[row, 1], load3(contacts.point, row)
    e = load9(contacts.frame, row)
    u = sub(_velocity(bodies, local, before, j, point), _velocity(bodies, local, before, i, point))
    u = mul(e, add(u, surface_slip(bodies, i, j, point, (e[6], e[7], e[8]))))
    store3(contacts.u, row, u)
    mu[k] = contacts.mu[row]
    fast[k] = not shorter(h * u[0], h * u[1], skin_of(bodies, contacts, row, skin))
    c[k, 2] = 0.5 * (u[2] - max(contacts.gap[row], 0.0) / h)
    for r in range(3):
        p[k, r] = 0.0
        if r < 2:
            stick[k, r] = 0.5 * u[r]
            c[k, r] = 0.0 if fast[k] else stick[k, r]


@lean
def _velocity(bodies, local, before, i, point):
    """Velocity of a point of body i before the kick."""
    k = local[i]
    if k < 0:
        return point_velocity(bodies, i, point)
    w = (before[k, 3], before[k, 4], before[k, 5])
    return add((before[k, 0], before[k, 1], before[k, 2]), cross(w, sub(point, load3(bodies.x, i))))
