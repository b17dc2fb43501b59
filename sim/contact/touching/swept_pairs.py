"""Boxes around the coming drift, and the pairs whose boxes meet."""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.bounds import aabb
from tumble.collision.broadphase.candidate_pairs import find_pairs_far as find_pairs
from tumble.collision.kernels.jit import inner, lean
from tumble.collision.linalg import dot, load3, norm, scale, store3
from tumble.sim.contact.ground.faces import face_to_face, off
from tumble.sim.contact.touching.impact_threshold import crowded, forget_arrivals, slowest_impact
from tumble.sim.flight.motion import geom_pose
from tumble.sim.joints.pairs import banned, listed, pair_key
from tumble.sim.state import CARRIER, DYNAMIC, OK, PAIRS_FULL, PIECE, POINTS, WANTED


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
def turning_accel(bodies, i, dt):
    """Bound on what turning and its change add to the acceleration of any point of body i [m/s^2]."""
    w = fastest_spin(bodies, i, dt)
    if bodies.kind[i] != DYNAMIC:
        turning = w * w + bodies.twist[i]
    else:
        turning = 2.0 * w * w + bodies.spin[i] * bodies.twist[i]
    return turning * bodies.radius[i] if turning > 0.0 else 0.0


@lean
def fastest_accel(bodies, i, dt):
    """Bound on the acceleration of any point of body i [m/s^2]."""
    return norm(load3(bodies.gravity, i)) + bodies.pull[i] + turning_accel(bodies, i, dt)


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
    fat, way = swept_way(bodies, i, h, dt)
    return (
        (lo[0] + min(0.0, way[0]) - fat, lo[1] + min(0.0, way[1]) - fat, lo[2] + min(0.0, way[2]) - fat),
        (hi[0] + max(0.0, way[0]) + fat, hi[1] + max(0.0, way[1]) + fat, hi[2] + max(0.0, way[2]) + fat),
    )


@lean
def swept_way(bodies, i, h, dt):
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
