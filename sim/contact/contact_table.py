"""From poses to contact points: bounds, candidate pairs, manifolds, and the table of contacts that the kick solves."""

from __future__ import annotations

import math

import numpy as np

from collision.bounds import aabb
from collision.broadphase.candidate_pairs import find_pairs_far as find_pairs
from collision.contact.facets import BARRED, facet_normal, reading_of
from collision.geometry import empty_geometry
from collision.kernels.jit import FOR_KERNELS, far, inner, kernel, lean, remote
from collision.linalg import (
    ZERO,
    add,
    axpy,
    cross,
    dot,
    load3,
    load9,
    mul_t,
    norm,
    orthonormal,
    scale,
    store3,
    store9,
    sub,
)
from collision.narrowphase import manifold_far as manifold
from collision.status import UNCERTAIN
from sim.contact.carried_manifolds import carry, remember, slack
from sim.contact.ground.faces import face_to_face, off, same_facets
from sim.contact.surfaces import coefficient, surface_acceleration, surface_slip
from sim.equations import acceleration
from sim.flight.motion import geom_pose, point_velocity
from sim.joints.pairs import banned, listed, pair_key
from sim.state import (
    CARRIER,
    COEFFICIENTS,
    CONTACTS_FULL,
    DYNAMIC,
    EXAMPLE,
    HELD,
    LOOSE,
    MU,
    OK,
    PAIRS_FULL,
    PIECE,
    POINTS,
    ROWS,
    WANTED,
    E,
)

FALL = 0.025  # of a step, after which what falls from rest is as fast as the slowest impact ...
OPEN = 1e-9  # [m/s] ... and where nothing falls: what solves leave open, and more
FLAT = 1e-6  # [1/m] a curvature below this is none
NONE, INELASTIC = range(2)  # fast points that touch and are solved with the slow ones
TIRED = 2  # bounces of a pair within a step after which it stops bouncing ...
SMALL = 1e-2  # ... if it moves no more than this part of its size in a step
SINKING = 1e-6  # overlap, as part of the pair's size, that an impact may leave to the next step
MANY = 10  # bounces after which any pair does, if it moves a tenth of that
FASTER = 4.0  # times the speed at which the last kick lets a contact come back: what comes faster is an impact
RADIAN = 0.5  # [rad] a turn up to which the acceleration of a turning surface is that of the instant
LULL = 10  # steps without impacts after which a crowd is none any more
FAINT = 0.1  # curvature times the size of a body: one below this is all but flat
SAME, ALIKE = 1e-9, 2e-6  # of the size; of normals: points of two facets of a ground that are one
KEEN = 1e8  # [1/m] and one above this a point: keeps the 2 x 2 system below well scaled


@lean
def pair_size(bodies, i, j):
    """Length scale of a pair: the smaller of the two radii that are finite [m]."""
    r = min(bodies.radius[i], bodies.radius[j])
    return r if r < math.inf else 1.0


@lean
def slowest_impact(bodies, i, j, dt):
    """An approach below this [m/s] is always a micro-collision: small beside what a contact that rests comes back with."""
    return max(OPEN, FALL * dt * max(norm(load3(bodies.gravity, i)), norm(load3(bodies.gravity, j))))


@lean
def threshold(slowest, accel, dt):
    """Approach speed from which a contact is an impact [m/s]; accel is the relative acceleration along the normal.

    A resting contact arrives with -accel dt/2. Where the surfaces are about to part (accel > 0), as two balls that pass each
    other fast, nothing can rest.
    """
    return max(slowest, -2.0 * accel * dt)


@lean
def normal_target(bodies, contacts, row, h, dt, soft):
    """The normal velocity that a kick asks of a contact at least, for a flight of length h with the acceleration of its row.

    What bore nothing and leaves faster than what counts as an impact would come back as one, and is not held.
    Surfaces that the acceleration draws apart may close, and part again within the flight: no faster than they turn back before
    they overlap, else they would collide at once. In crowds (``soft``) nothing collides before the next kick.
    """
    gap, a_n = max(contacts.gap[row], 0.0), contacts.accel[row, 2]
    i, j = contacts.body[row, 0], contacts.body[row, 1]
    bounces = contacts.impulse[row, 2] == 0.0 and contacts.u[row, 2] > threshold(
        slowest_impact(bodies, i, j, dt), a_n, dt * (1.0 - contacts.law[row, E] * contacts.law[row, E])
    )
    b_n = -gap / h if bounces and not soft else -0.5 * h * a_n - gap / h
    if gap < 0.5 * a_n * h * h and not soft:  # they turn back within the flight
        dip = 0.5 * SINKING * pair_size(bodies, i, j)
        b_n = max(b_n, -math.sqrt(2.0 * a_n * (gap + dip)))
    return b_n


@lean
def least_speed(bodies, geoms, pairs, k, dt):
    """Impacts of a crowd without restitution that are slower than this [m/s] are left to the next kick; 0: none is."""
    i, j = geoms.body[pairs.geoms[k, 0]], geoms.body[pairs.geoms[k, 1]]
    least = SMALL * pair_size(bodies, i, j) / dt
    return math.inf if crowded(bodies, i, j) and pair_restitution(bodies, pairs, k, i, j, least, dt) == 0.0 else 0.0


@lean
def bounce_time(bodies, pairs, n, i, j, dt):
    """The step as the threshold of pair n of bodies i, j knows it: shorter for what bounces on than for what rests.

    A contact that rests arrives with |a_n| dt/2 and must not be taken for an impact. One that comes flying may bounce as
    little as it likes: with e = 1 it never rests, and 1 - e^2 of its energy is what it would lose by landing anyway.
    """
    e = coefficient(bodies, i, j, E)
    return dt if pairs.rests[n] == 1 else dt * (1.0 - e * e)


@lean
def mark_resting(geoms, pairs, contacts):
    """Remember which pairs carried load in the last kick; both tables are in the same order. Facets of a ground bear as one."""
    k, last = 0, contacts.count[0]
    first = 0  # row of the same piece
    for n in range(pairs.count[0]):
        a, b = pairs.geoms[n, 0], pairs.geoms[n, 1]
        while first < last and contacts.pair[first, 0] < a:
            first += 1
        while k < last and (contacts.pair[k, 0] < a or (contacts.pair[k, 0] == a and contacts.pair[k, 1] < b)):
            k += 1
        pairs.rests[n] = 0
        while k < last and contacts.pair[k, 0] == a and contacts.pair[k, 1] == b:
            if contacts.impulse[k, 2] > 0.0:
                pairs.rests[n] = 1
            k += 1
        m = first if geoms.face[b] != PIECE else last
        while m < last and contacts.pair[m, 0] == a:
            if contacts.impulse[m, 2] > 0.0 and same_facets(geoms, b, contacts.pair[m, 1]):
                pairs.rests[n] = 1
            m += 1


@lean
def free_limit(bodies, i, j, normal, dt, wait):
    """Threshold from the forces on the centres of mass alone, for a pair that is not in lasting contact (wait: bounce_time)."""
    a_n = dot(sub(free_acceleration(bodies, j), free_acceleration(bodies, i)), normal)
    return threshold(slowest_impact(bodies, i, j, dt), a_n, wait)


@lean
def closing_speed(speed, accel, gap):
    """Speed at which a point closes that is open by ``gap``, closes at ``speed`` and has the acceleration ``accel``."""
    if accel >= 0.0 and speed <= 0.0:
        return 0.0
    return math.sqrt(max(0.0, speed * speed - 2.0 * accel * max(gap, 0.0)))


@lean
def fastest_spin(bodies, i, dt):
    """Bound on |omega| of body i over the coming flight [rad/s].

    With J_1 the least moment and T the energy of turning, |omega|^2 <= 2 T/J_1; sqrt(2 T) grows by |torque|/sqrt(J_1) at most.
    For a rod that turns end over end that is less by far than |l|/J_1.
    """
    if bodies.kind[i] != DYNAMIC:
        return norm(load3(bodies.l, i)) + bodies.twist[i] * dt
    energy = max(0.0, dot(load3(bodies.l, i), load3(bodies.w, i)))
    return math.sqrt(bodies.spin[i] * energy) + bodies.spin[i] * bodies.twist[i] * dt


@lean
def fastest_accel(bodies, i, dt):
    """Bound on the acceleration of any point of body i [m/s^2]."""
    w = fastest_spin(bodies, i, dt)
    if bodies.kind[i] != DYNAMIC:
        turning = w * w + bodies.twist[i]
        return norm(load3(bodies.gravity, i)) + bodies.pull[i] + (turning * bodies.radius[i] if turning > 0.0 else 0.0)
    turning = 2.0 * w * w + bodies.spin[i] * bodies.twist[i]
    return norm(load3(bodies.gravity, i)) + bodies.pull[i] + turning * bodies.radius[i]


@lean
def speculative_margin(bodies, i, j, dt):
    """Gap up to which contact points are wanted: what a slow approach can close in one step [m]. In a crowd, any approach, and
    what the kick makes one by stopping one of the two."""
    a = fastest_accel(bodies, i, dt) + fastest_accel(bodies, j, dt)
    speed = slowest_impact(bodies, i, j, dt)
    if crowded(bodies, i, j):
        speed += norm(load3(bodies.v, i)) + norm(load3(bodies.v, j)) + _rim_speed(bodies, i, dt) + _rim_speed(bodies, j, dt)
    return dt * (speed + 3.0 * a * dt)


@lean
def crowded(bodies, i, j):
    """Impacts of this pair without restitution are left to the kick."""
    return bodies.crowd[i] > 0 or bodies.crowd[j] > 0


@lean
def _rim_speed(bodies, i, dt):
    """Bound on the speed of any point of body i about its centre [m/s]."""
    w = fastest_spin(bodies, i, dt)
    return w * bodies.radius[i] if w > 0.0 else 0.0


@lean
def swept_box(bodies, geoms, geometry, k, h, dt):
    """Box that holds piece k while its body flies on for a time h, fattened by the speculative margin."""
    i = geoms.body[k]
    if off(geoms, k):
        return (math.inf, math.inf, math.inf), (-math.inf, -math.inf, -math.inf)
    x, rot = geom_pose(bodies, geoms, k)
    lo, hi = aabb(geometry, geoms.shape[k], x, rot)
    fat, way = sweep(bodies, i, h, dt)
    return (
        (lo[0] + min(0.0, way[0]) - fat, lo[1] + min(0.0, way[1]) - fat, lo[2] + min(0.0, way[2]) - fat),
        (hi[0] + max(0.0, way[0]) + fat, hi[1] + max(0.0, way[1]) + fat, hi[2] + max(0.0, way[2]) + fat),
    )


@lean
def sweep(bodies, i, h, dt):
    """How far points of body i get in a time h from where its flight began [m]: at most so far any way, and along a vector."""
    fat = speculative_margin(bodies, i, i, dt)  # a pair has both: twice what its points are wanted out to
    fat += _rim_speed(bodies, i, dt) * h
    fat += 0.5 * (norm(load3(bodies.gravity, i)) + bodies.pull[i]) * h * h
    v = load3(bodies.p0, i)
    if bodies.kind[i] == DYNAMIC:
        v = scale(bodies.inv_mass[i], v)
    return fat, scale(h + dt, v)  # where a crowd is, or becomes one, the kick at the end looks ahead by a step


@lean
def sweep_bounds(bodies, geoms, geometry, dt, first, stop):
    """Boxes of the pieces [first, stop) for the coming drift; facets get theirs when they are brought (ground_facets.py)."""
    for k in range(first, stop):
        if geoms.face[k] != PIECE and geoms.face[k] != CARRIER:
            continue
        lo, hi = swept_box(bodies, geoms, geometry, k, dt, dt)
        store3(geoms.lo, k, lo)
        store3(geoms.hi, k, hi)


@lean
def outgrown(bodies, geoms, geometry, body, h, dt):
    """Widen the boxes of a body whose flight was changed; whether they meet others than before."""
    more = False
    for k in range(len(geoms.body)):
        if geoms.body[k] == body:
            lo, hi = swept_box(bodies, geoms, geometry, k, h, dt)
            low, high = load3(geoms.lo, k), load3(geoms.hi, k)
            lo = (min(lo[0], low[0]), min(lo[1], low[1]), min(lo[2], low[2]))
            hi = (max(hi[0], high[0]), max(hi[1], high[1]), max(hi[2], high[2]))
            if lo == low and hi == high:
                continue
            store3(geoms.lo, k, lo)
            store3(geoms.hi, k, hi)
            for m in range(len(geoms.body)):
                if geoms.body[m] != body and (geoms.mobile[k] or geoms.mobile[m]) and _meets(geoms, m, lo, hi):
                    more = more or not _meets(geoms, m, low, high)
    return more


@lean
def _meets(geoms, m, lo, hi):
    """The box of piece m meets the box (lo, hi)."""
    x = geoms.lo[m, 0] <= hi[0] and lo[0] <= geoms.hi[m, 0]
    return x and geoms.lo[m, 1] <= hi[1] and lo[1] <= geoms.hi[m, 1] and geoms.lo[m, 2] <= hi[2] and lo[2] <= geoms.hi[m, 2]


@lean
def meet(geoms, joints, i, j):
    """Groups and masks, joints and lists of pairs let two pieces meet; sensors feel what can move against them.

    Sleeping pieces meet those that can wake them."""
    if (geoms.groups[i] & geoms.mask[j]) == 0 or (geoms.groups[j] & geoms.mask[i]) == 0:
        return False
    sensors = geoms.sensor[i] + geoms.sensor[j]
    sleepers = geoms.asleep[i] + geoms.asleep[j]
    if sleepers == 2 or (sleepers == 1 and sensors == 0 and geoms.moves[i] + geoms.moves[j] == 1):
        return False
    if sensors == 2 or (sensors == 1 and geoms.moves[i] + geoms.moves[j] == 0):
        return False
    a, b = geoms.body[i], geoms.body[j]
    return face_to_face(geoms, i, j) and not banned(joints, a, b) and not listed(geoms.apart, pair_key(a, b))


@inner
def update_pairs(geoms, pairs, joints):
    """Candidate pairs of the boxes, but for bodies that must not meet; what was known of a pair stays with it.

    Pairs with a sensor are listed apart.
    OK or PAIRS_FULL, then nothing changed.
    """
    known = known_pairs(pairs)
    return renew_pairs(geoms, pairs, joints, known, find_pairs(geoms.lo, geoms.hi, geoms.body, geoms.mobile, pairs.geoms))


@inner
def known_pairs(pairs):
    """What is known of the pairs, before others are found."""
    old = pairs.count[0]
    return (
        pairs.geoms[:old].copy(), pairs.axis[:old].copy(), pairs.clear[:old].copy(), pairs.search[:old].copy(),
        pairs.event[:old].copy(), pairs.speed[:old].copy(), pairs.hits[:old].copy(), pairs.rests[:old].copy(),
        pairs.slot[:old].copy(), pairs.bears[:old].copy(), pairs.arrives[:old].copy(),
    )  # fmt: skip


@inner
def renew_pairs(geoms, pairs, joints, known, found):
    """The part of `update_pairs` that follows when so many pairs of boxes were found."""
    keys, axes, clear, searches, events, speeds, hits, rests, slots, bears, arrives = known
    old, taken, free = len(keys), np.zeros(len(pairs.slot), dtype=np.bool_), 0
    if found > len(pairs.geoms):
        pairs.geoms[:old] = keys
        return PAIRS_FULL
    k, kept, sensors = 0, 0, 0
    for n in range(found):
        i, j = pairs.geoms[n, 0], pairs.geoms[n, 1]
        if not meet(geoms, joints, i, j):
            continue
        if geoms.sensor[i] + geoms.sensor[j] > 0:
            pairs.sensors[sensors, 0], pairs.sensors[sensors, 1] = i, j
            sensors += 1
        else:
            pairs.geoms[kept, 0], pairs.geoms[kept, 1] = i, j
            kept += 1
    for n in range(kept):
        i, j = pairs.geoms[n, 0], pairs.geoms[n, 1]
        while k < old and (keys[k, 0] < i or (keys[k, 0] == i and keys[k, 1] < j)):
            k += 1
        pairs.fresh[n] = False
        pairs.points[n] = 0
        if k < old and keys[k, 0] == i and keys[k, 1] == j:
            store3(pairs.axis, n, (axes[k, 0], axes[k, 1], axes[k, 2]))
            pairs.search[n], pairs.event[n], pairs.speed[n] = searches[k], events[k], speeds[k]
            pairs.hits[n], pairs.rests[n] = hits[k], rests[k]
            pairs.clear[n, 0], pairs.clear[n, 1] = clear[k, 0], clear[k, 1]
            for m in range(POINTS):
                pairs.bears[n, m], pairs.arrives[n, m] = bears[k, m], arrives[k, m]
            pairs.slot[n] = slots[k]
            taken[slots[k]] = True
        else:
            pairs.slot[n] = -1
            store3(pairs.axis, n, (0.0, 0.0, 0.0))
            pairs.search[n], pairs.event[n], pairs.speed[n], pairs.hits[n], pairs.rests[n] = WANTED, math.inf, 0.0, 0, 0
            pairs.clear[n, 0], pairs.clear[n, 1] = -math.inf, 0.0
            forget_arrivals(pairs, n)
            if geoms.face[j] != PIECE:
                _inherit(geoms, pairs, n, known, k)
    for n in range(kept):
        if pairs.slot[n] < 0:
            while taken[free]:
                free += 1
            pairs.slot[n] = free
            pairs.seen[free, 12] = 0.0
            free += 1
    pairs.count[0], pairs.count[1] = kept, sensors
    return OK


@lean
def _inherit(geoms, pairs, n, known, k):
    """A new pair of a piece and a facet has what is known of that piece and the facets of this ground that it met before.

    ``k``: where the pair would stand among the known ones.
    """
    keys, _, _, _, _, _, hits, rests, _, bears, arrives = known
    i, ground, count = pairs.geoms[n, 0], geoms.body[pairs.geoms[n, 1]], 0
    first = k
    while first > 0 and keys[first - 1, 0] == i:
        first -= 1
    while first < len(keys) and keys[first, 0] == i:
        if geoms.body[keys[first, 1]] == ground:
            pairs.hits[n], pairs.rests[n] = max(pairs.hits[n], hits[first]), max(pairs.rests[n], rests[first])
            for m in range(POINTS):
                if arrives[first, m] > 0.0 and count < POINTS:
                    pairs.bears[n, count], pairs.arrives[n, count] = bears[first, m], arrives[first, m]
                    count += 1
        first += 1


@lean
def update_manifold(bodies, geoms, pairs, geometry, n, dt):
    """Contact points of pair n for the current poses, within the speculative margin; True where certain."""
    a, b = pairs.geoms[n, 0], pairs.geoms[n, 1]
    i, j = geoms.body[a], geoms.body[b]
    margin, soft = speculative_margin(bodies, i, j, dt), crowded(bodies, i, j)
    if soft:
        if carry(bodies, pairs, n, i, j, margin):
            pairs.fresh[n] = True
            return True
        margin += slack(bodies, i, j)
    xa, ra = geom_pose(bodies, geoms, a)
    xb, rb = geom_pose(bodies, geoms, b)
    count, normal, status = manifold(
        geometry, geoms.shape[a], xa, ra, geoms.shape[b], xb, rb, margin, load3(pairs.axis, n), pairs.rows[n], pairs.ids[n]
    )
    pairs.points[n] = count
    pairs.fresh[n] = True
    if count > 0:
        store3(pairs.normal, n, normal)
        store3(pairs.axis, n, normal)
    if soft:
        remember(bodies, pairs, n, i, j, margin)
    return status != UNCERTAIN


@lean
def fresh_manifolds(bodies, geoms, pairs, geometry, dt, first, stop):
    """Manifolds of the pairs [first, stop) whose known one does not belong to the current poses; how many are uncertain."""
    uncertain = 0
    for n in range(first, stop):
        if not pairs.fresh[n] and not update_manifold(bodies, geoms, pairs, geometry, n, dt):
            uncertain += 1
    return uncertain


@lean
def crowds_grow(bodies, geoms, pairs):
    """Bodies that meet a crowd come into it; whether that asks for manifolds."""
    grew = False
    for n in range(pairs.count[0]):
        i, j = geoms.body[pairs.geoms[n, 0]], geoms.body[pairs.geoms[n, 1]]
        both = bodies.kind[i] == DYNAMIC and bodies.kind[j] == DYNAMIC
        if both and pairs.points[n] > 0 and (bodies.crowd[i] > 0) != (bodies.crowd[j] > 0):
            _join_crowd(bodies, geoms, pairs, i, j)
            grew = True
    return grew


@lean
def _join_crowd(bodies, geoms, pairs, i, j):
    """One of two bodies comes into the crowd of the other: its manifolds are wanted out to larger gaps."""
    one = i if bodies.crowd[i] == 0 else j
    bodies.crowd[one] = max(bodies.crowd[i], bodies.crowd[j])
    for n in range(pairs.count[0]):
        if geoms.body[pairs.geoms[n, 0]] == one or geoms.body[pairs.geoms[n, 1]] == one:
            pairs.fresh[n] = False


@lean
def _curvature(k_along, k_across, d, e, s, t):
    """Entries (ss, st, tt) of a curvature tensor k_along d d^T + k_across e e^T in the tangent basis s, t."""
    k1, k2 = min(k_along, KEEN), min(k_across, KEEN)
    d0, d1, e0, e1 = dot(d, s), dot(d, t), dot(e, s), dot(e, t)
    return k1 * d0 * d0 + k2 * e0 * e0, k1 * d0 * d1 + k2 * e0 * e1, k1 * d1 * d1 + k2 * e1 * e1


@remote
def _contact_acceleration(bodies, i, j, row, s, t, n, h):
    """Relative acceleration (s, t, n) of j against i in free flight, at the geometric contact.

    The place of contact wanders over both surfaces. With S the curvature tensors, w the wandering velocities against
    the material, u the slip and Omega = omega_j - omega_i: w_i - w_j = u and (S_i + S_j) w_j = Omega x n - S_i u
    (Montana, Int. J. Robotics Res. 7 (1988) 17, eq. 21), the normal turns by n' = omega_j x n - S_j w_j, and
    the second derivative of the gap is n.(a_j - a_i + omega_j x w_j - omega_i x w_i) + n'.u. A rolling sphere's centripetal
    acceleration cancels in it. ``h``: the time of the coming flight.
    """
    point = (row[0], row[1], row[2])
    da, db = (row[4], row[5], row[6]), (row[9], row[10], row[11])
    a0, a1, a2 = _curvature(row[7], row[8], da, cross(n, da), s, t)
    b0, b1, b2 = _curvature(row[12], row[13], db, cross(n, db), s, t)
    vi, wi = _foreseen(bodies, i)
    vj, wj = _foreseen(bodies, j)
    ri, rj = sub(point, load3(bodies.x, i)), sub(point, load3(bodies.x, j))
    u = sub(add(vj, cross(wj, rj)), add(vi, cross(wi, ri)))
    us, ut = dot(u, s), dot(u, t)
    turn = cross(sub(wj, wi), n)
    fs = dot(turn, s) - (a0 * us + a1 * ut)
    ft = dot(turn, t) - (a1 * us + a2 * ut)
    ws, wt = _pseudo_solve(a0 + b0, a1 + b1, a2 + b2, fs, ft, min(bodies.radius[i], bodies.radius[j]), h)
    wander_j = add(scale(ws, s), scale(wt, t))
    wander_i = add(wander_j, add(scale(us, s), scale(ut, t)))
    n_dot = sub(cross(wj, n), add(scale(b0 * ws + b1 * wt, s), scale(b1 * ws + b2 * wt, t)))
    if row[12] >= KEEN or row[13] >= KEEN:  # S_j w_j is then a large number times a small one: use the other side
        vs, vt = ws + us, wt + ut
        n_dot = add(cross(wi, n), add(scale(a0 * vs + a1 * vt, s), scale(a1 * vs + a2 * vt, t)))
    a = sub(
        add(material_acceleration(bodies, j, rj, wj), cross(wj, wander_j)),
        add(material_acceleration(bodies, i, ri, wi), cross(wi, wander_i)),
    )
    gap = dot(a, n) + us * dot(n_dot, s) + ut * dot(n_dot, t)
    if bodies.runs[i]:
        a = sub(a, surface_acceleration(bodies, i, point, wi, wander_i))
    if bodies.runs[j]:
        a = add(a, surface_acceleration(bodies, j, point, wj, wander_j))
    turned = h * max(norm(wi), norm(wj))
    if turned > RADIAN:  # what turning adds does not last so long
        free, part = sub(free_acceleration(bodies, j), free_acceleration(bodies, i)), RADIAN / turned
        gap = dot(free, n) + part * (gap - dot(free, n))
        a = axpy(part, sub(a, free), free)
    return (dot(a, s), dot(a, t), gap)


contact_acceleration = far(
    _contact_acceleration, lambda: (EXAMPLE.bodies, 0, 0, np.zeros(ROWS), ZERO, ZERO, ZERO, 0.0), returns=(0.0,) * 3
)


@lean
def _pseudo_solve(m0, m1, m2, fs, ft, reach, h):
    """Least-norm solution of a symmetric positive semidefinite 2 x 2 system; curvatures below FLAT count as zero.

    So do faint ones by which the place of contact would wander off the bodies, which reach so far [m], in the time h: two
    edges that are all but parallel touch where they end, not where their lines come closest.
    """
    mean, half = 0.5 * (m0 + m2), math.hypot(0.5 * (m0 - m2), m1)
    high, low = mean + half, mean - half
    if high < FLAT:
        return 0.0, 0.0
    # the eigenvector of the larger eigenvalue
    if m0 >= m2:
        c, d = m0 - mean + half, m1
    else:
        c, d = m1, m2 - mean + half
    size = c * c + d * d
    if low >= FLAT:
        det = m0 * m2 - m1 * m1
        ws, wt = (m2 * fs - m1 * ft) / det, (m0 * ft - m1 * fs) / det
        if low * reach > FAINT or size == 0.0 or abs(c * wt - d * ws) * h <= reach * math.sqrt(size):
            return ws, wt
    # one direction only
    f = (c * fs + d * ft) / (size * high)
    return f * c, f * d


@lean
def _foreseen(bodies, i):
    """Velocity and angular velocity in the middle of the coming flight, where forces tell; else the present ones."""
    return add(load3(bodies.v, i), load3(bodies.dv, i)), add(load3(bodies.w, i), load3(bodies.dw, i))


@lean
def material_acceleration(bodies, i, r, w):
    """Acceleration in free flight of the material point of body i at r from its centre of mass; w its angular velocity."""
    centripetal = cross(w, cross(w, r))
    if bodies.kind[i] != DYNAMIC:
        return add(add(load3(bodies.gravity, i), cross(load3(bodies.torque, i), r)), centripetal)
    alpha = acceleration(w, load9(bodies.rot, i), load9(bodies.inertia, i), load9(bodies.inv_inertia, i), load3(bodies.torque, i))
    return add(add(free_acceleration(bodies, i), cross(alpha, r)), centripetal)


@lean
def free_acceleration(bodies, i):
    """Acceleration of the centre of mass in free flight [m/s^2]."""
    return axpy(bodies.inv_mass[i], load3(bodies.force, i), load3(bodies.gravity, i))


@lean
def pair_restitution(bodies, pairs, n, i, j, speed, dt):
    """Restitution of pair n of bodies i, j for an approach at this speed.

    Small bounces that follow each other faster than the steps are not told apart: from the third of a step on they are
    plastic. A Zeno sequence ends there, and so does the rattling of a body between two others. What is elastic rattles on, unless
    it spins and sticks: then each bounce leaves less of its speed, and it comes to roll.
    """
    e, way = coefficient(bodies, i, j, E), speed * dt / min(bodies.radius[i], bodies.radius[j])
    tired = (pairs.hits[n] >= TIRED and e < 1.0 and way <= SMALL) or (pairs.hits[n] > MANY and way <= 0.1 * SMALL)
    return 0.0 if tired else e


@lean
def write_row(bodies, contacts, k, a, b, i, j, id, row, s, t, normal, u, accel):
    """Row k of a table of contacts: a point of pieces a, b of bodies i, j, without impulse."""
    contacts.pair[k, 0], contacts.pair[k, 1] = a, b
    contacts.body[k, 0], contacts.body[k, 1] = i, j
    contacts.id[k] = id
    store3(contacts.point, k, (row[0], row[1], row[2]))
    store9(contacts.frame, k, (s[0], s[1], s[2], t[0], t[1], t[2], normal[0], normal[1], normal[2]))
    contacts.gap[k] = row[3]
    for c in range(COEFFICIENTS):
        contacts.law[k, c] = coefficient(bodies, i, j, c)
    contacts.mu[k] = contacts.law[k, MU]
    store3(contacts.u, k, (dot(u, s), dot(u, t), dot(u, normal)))
    store3(contacts.accel, k, accel)
    contacts.slides[k], contacts.arrives[k], contacts.kick[k] = LOOSE, math.nan, 0
    store3(contacts.creeps, k, (math.nan, math.nan, math.nan))
    contacts.loss[k] = contacts.residual[k] = contacts.push[k] = 0.0
    store3(contacts.impulse, k, (0.0, 0.0, 0.0))
    store3(contacts.moment, k, (0.0, 0.0, 0.0))
    contacts.turns[k, 0] = contacts.turns[k, 1] = HELD


@lean
def concerns(bodies, i, j, label):
    """A pair of bodies has a dynamic member in an island."""
    in_i = bodies.kind[i] == DYNAMIC and bodies.island[i] == label
    return in_i or (bodies.kind[j] == DYNAMIC and bodies.island[j] == label)


@lean
def told(bodies, geoms, geometry, contacts, count, a, b, i, j, point, normal):
    """Whether the table has this point of a ground already, by another facet: surfaces that meet there have it in common.

    Where they meet in a ridge the normal that one of them gave is one that the other allows too, and the point is one contact, as
    on a body of that form. In a valley each gives its own, and both hold.
    """
    near, m = SAME * min(bodies.radius[i], bodies.radius[j]), count - 1
    while geoms.face[b] != PIECE and m >= 0 and contacts.pair[m, 0] == a:
        if contacts.body[m, 1] == j and norm(sub(load3(contacts.point, m), point)) <= near:
            known = (contacts.frame[m, 2, 0], contacts.frame[m, 2, 1], contacts.frame[m, 2, 2])
            _, ra = geom_pose(bodies, geoms, a)
            _, rb = geom_pose(bodies, geoms, b)
            if norm(sub(known, normal)) <= ALIKE or reading_of(geometry, geoms.shape[a], ra, geoms.shape[b], rb, known) != BARRED:
                return True
        m -= 1
    return False


@lean
def flat_elsewhere(bodies, geoms, geometry, pairs, n, point):
    """Whether a point of pair n, at an edge of its facet, lies in the plane of another one that has it too, by its own normal.

    The two normals differ by what the bodies are askew; a body that tips over the rim of a table touches the table.
    """
    a, b = pairs.geoms[n, 0], pairs.geoms[n, 1]
    if geoms.face[b] < 0 or _own_normal(bodies, geoms, geometry, pairs, n):
        return False
    near = SAME * min(bodies.radius[geoms.body[a]], bodies.radius[geoms.body[b]])
    m = n
    while m > 0 and pairs.geoms[m - 1, 0] == a:
        m -= 1
    while m < pairs.count[0] and pairs.geoms[m, 0] == a:
        other = pairs.geoms[m, 1]
        if m != n and geoms.face[other] >= 0 and geoms.body[other] == geoms.body[b] and pairs.points[m] > 0:
            known = load3(pairs.normal, m)
            if _own_normal(bodies, geoms, geometry, pairs, m):
                _, ra = geom_pose(bodies, geoms, a)
                _, rb = geom_pose(bodies, geoms, b)
                if reading_of(geometry, geoms.shape[a], ra, geoms.shape[b], rb, known) != BARRED:
                    for k in range(pairs.points[m]):
                        if norm(sub((pairs.rows[m, k, 0], pairs.rows[m, k, 1], pairs.rows[m, k, 2]), point)) <= near:
                            return True
        m += 1
    return False


@lean
def _own_normal(bodies, geoms, geometry, pairs, n):
    """Whether the normal of pair n is that of the facet in it."""
    b = pairs.geoms[n, 1]
    _, rb = geom_pose(bodies, geoms, b)
    u, f = load3(pairs.normal, n), facet_normal(geometry, geoms.shape[b], rb, geoms.shape[b], rb)
    return norm(sub(u, f)) <= ALIKE or norm(add(u, f)) <= ALIKE


@lean
def _on_ground(geoms, pair, ids, taken, first, stop, a, b, id):
    """Row of the old table for a point of piece a that has gone from one facet of a ground to another; -1: none."""
    m = first
    while m < stop and pair[m, 0] == a:
        if not taken[m] and ids[m] == id and same_facets(geoms, b, pair[m, 1]):
            return m
        m += 1
    return -1


@lean
def _same_point(pair, ids, points, taken, first, stop, a, b, id, point, near):
    """Row of the old table for a point of pieces a, b: the one of its feature, else the nearest free one; -1: none."""
    best, m = -1, first
    while m < stop and pair[m, 0] == a and pair[m, 1] == b:
        if not taken[m]:
            if ids[m] == id:
                return m
            d = norm((points[m, 0] - point[0], points[m, 1] - point[1], points[m, 2] - point[2]))
            if d < near:
                best, near = m, d
        m += 1
    return best


@lean
def forget_arrivals(pairs, n):
    for m in range(POINTS):
        pairs.arrives[n, m] = 0.0


@lean
def foreseen(pairs, n, id):
    """Speed at which the last kick lets the point of this feature come back [m/s]; 0: it bore nothing."""
    for m in range(POINTS):
        if pairs.arrives[n, m] <= 0.0:
            break
        if pairs.bears[n, m] == id:
            return pairs.arrives[n, m]
    return 0.0


@lean
def note_arrivals(pairs, contacts, rows):
    """Tell pairs how fast what bears load in these rows of a table comes back."""
    for row in rows:
        speed = -min(contacts.arrives[row], contacts.u_after[row, 2])  # what closes still comes as it was left
        if contacts.impulse[row, 2] > 0.0 and speed > 0.0:
            a, b, low, high = contacts.pair[row, 0], contacts.pair[row, 1], 0, pairs.count[0]
            while low < high:
                n = (low + high) // 2
                if pairs.geoms[n, 0] < a or (pairs.geoms[n, 0] == a and pairs.geoms[n, 1] < b):
                    low = n + 1
                else:
                    high = n
            if low < pairs.count[0] and pairs.geoms[low, 0] == a and pairs.geoms[low, 1] == b:
                m = 0
                while m < POINTS and pairs.arrives[low, m] > 0.0 and pairs.bears[low, m] != contacts.id[row]:
                    m += 1
                if m < POINTS:
                    pairs.bears[low, m], pairs.arrives[low, m] = contacts.id[row], speed


@kernel(**FOR_KERNELS)
def _tabulate(bodies, geoms, geometry, pairs, before, contacts, h, label, plastic):
    """Write a table of contacts from the manifolds; OK or CONTACTS_FULL.

    Impulses and laws carry over by feature id from the table ``before``, which may be the same one. ``label``: only pairs
    that concern bodies of this island, -1 for all. ``h``: the length of a step.

    A point that closes faster than the threshold gets no row: it is an impact of the coming drift, at once if it touches. The
    threshold of a pair that neither touches nor bore load in the last kick is that of the forces alone: spinning bodies
    that come round to hit each other have large accelerations there, and hit all the same.
    ``plastic`` says which of those that touch get one all the same, to be solved together: NONE of them, or the INELASTIC
    ones (e = 0, or tired of bouncing). In the middle of a drift (``label``) a resting contact stands open by up to
    |a_n| dt^2/8, so there all points within the margin count as touching; and in crowds everywhere.
    """
    old = before.count[0]
    old_pair, old_id, old_impulse, old_frame = before.pair, before.id, before.impulse, before.frame
    old_moment, old_turns, old_push, old_slides, old_point = before.moment, before.turns, before.push, before.slides, before.point
    if label < 0:  # the table before is this one
        old_pair, old_id = old_pair[:old].copy(), old_id[:old].copy()
        old_impulse, old_frame = old_impulse[:old].copy(), old_frame[:old].copy()
        old_moment, old_turns, old_push = old_moment[:old].copy(), old_turns[:old].copy(), old_push[:old].copy()
        old_slides, old_point = old_slides[:old].copy(), old_point[:old].copy()
    old_arrives, old_creeps = before.arrives, before.creeps
    if label < 0:
        old_arrives, old_creeps = old_arrives[:old].copy(), old_creeps[:old].copy()
    old_taken = np.zeros(old, dtype=np.bool_)
    count, first, start = 0, 0, 0
    for n in range(pairs.count[0]):
        points = pairs.points[n]
        a, b = pairs.geoms[n, 0], pairs.geoms[n, 1]
        if points == 0 or (label >= 0 and not concerns(bodies, geoms.body[a], geoms.body[b], label)):
            continue
        while start < old and old_pair[start, 0] < a:
            start += 1
        while first < old and (old_pair[first, 0] < a or (old_pair[first, 0] == a and old_pair[first, 1] < b)):
            first += 1
        i, j = geoms.body[a], geoms.body[b]
        normal = load3(pairs.normal, n)
        s, t = orthonormal(normal)
        # a point moves by its velocity between two steps; the features of a face that stays may be named anew
        near = 1e-3 * min(bodies.radius[i], bodies.radius[j])
        touching = 1e-10 * min(bodies.radius[i], bodies.radius[j])
        wait, slowest = bounce_time(bodies, pairs, n, i, j, h), slowest_impact(bodies, i, j, h)
        lasting = pairs.rests[n] == 1
        for k in range(points):
            lasting = lasting or pairs.rows[n, k, 3] <= touching
        limit = free_limit(bodies, i, j, normal, h, wait)
        for k in range(points):
            row = pairs.rows[n, k]
            point = (row[0], row[1], row[2])
            if told(bodies, geoms, geometry, contacts, count, a, b, i, j, point, normal):
                continue
            if flat_elsewhere(bodies, geoms, geometry, pairs, n, point):
                continue
            u = sub(point_velocity(bodies, j, point), point_velocity(bodies, i, point))
            u = add(u, surface_slip(bodies, i, j, point, normal))
            accel = contact_acceleration(bodies, i, j, row, s, t, normal, h)
            speed = -dot(u, normal)
            if lasting:
                fast = speed > max(threshold(slowest, accel[2], wait), FASTER * foreseen(pairs, n, pairs.ids[n, k]))
            else:
                fast = closing_speed(speed, accel[2], row[3]) > limit
            if fast:
                # a jam: it has bounced again and again in this step, and others press on
                jams = pairs.hits[n] >= TIRED and crowded(bodies, i, j)
                dead = jams or pair_restitution(bodies, pairs, n, i, j, speed, h) == 0.0
                touches = label >= 0 or row[3] <= touching or crowded(bodies, i, j)
                if not (plastic == INELASTIC and dead and touches):
                    continue
            if count == len(contacts.gap):
                return CONTACTS_FULL
            write_row(bodies, contacts, count, a, b, i, j, pairs.ids[n, k], row, s, t, normal, u, accel)
            m = _same_point(old_pair, old_id, old_point, old_taken, first, old, a, b, pairs.ids[n, k], point, near)
            if m < 0 and geoms.face[b] != PIECE:
                m = _on_ground(geoms, old_pair, old_id, old_taken, start, old, a, b, pairs.ids[n, k])
            if m >= 0:
                old_taken[m] = True
                e = load9(old_frame, m)
                world = mul_t(e, load3(old_impulse, m))
                store3(contacts.impulse, count, (dot(world, s), dot(world, t), dot(world, normal)))
                contacts.slides[count], contacts.push[count] = old_slides[m], old_push[m]
                if old_impulse[m, 2] > 0.0:
                    contacts.arrives[count] = old_arrives[m]
                    store3(contacts.creeps, count, load3(old_creeps, m))
                world = mul_t(e, load3(old_moment, m))
                store3(contacts.moment, count, (dot(world, s), dot(world, t), dot(world, normal)))
                contacts.turns[count, 0], contacts.turns[count, 1] = old_turns[m, 0], old_turns[m, 1]
            count += 1
    contacts.count[0] = count
    return OK


tabulate = far(
    _tabulate,
    lambda: (
        EXAMPLE.bodies, EXAMPLE.geoms, empty_geometry(), EXAMPLE.pairs, EXAMPLE.contacts, EXAMPLE.contacts, 0.0, 0, 0,
    ), returns=0,
)  # fmt: skip
