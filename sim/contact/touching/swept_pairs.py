"""Boxes around the coming drift."""

from __future__ import annotations

import math

from tumble.collision.bounds import aabb
from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import dot, load3, norm, scale, store3
from tumble.sim.contact.ground.faces import off
from tumble.sim.contact.touching.impact_threshold import crowded, slowest_impact
from tumble.sim.flight.motion import geom_pose
from tumble.sim.state import CARRIER, DYNAMIC, PIECE


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
def speculative_margin(bodies, i, j, dt):
    """Gap up to which contact points are wanted: what a slow approach can close in one step [m]. In a crowd it is what any
    approach can close, even one that begins only when the kick stops one of the two."""
    return _closed(bodies, i, j, norm(load3(bodies.gravity, i)) + norm(load3(bodies.gravity, j)), dt)


@lean
def reach_along(bodies, i, j, normal, dt):
    """The same, along a normal: gravity closes no gap to the side [m]."""
    return _closed(bodies, i, j, abs(dot(load3(bodies.gravity, i), normal)) + abs(dot(load3(bodies.gravity, j), normal)), dt)


@lean
def _closed(bodies, i, j, weight, dt):
    """What bodies under so much gravity [m/s^2] can close in one step [m]."""
    a = weight + _other_accel(bodies, i, dt) + _other_accel(bodies, j, dt)
    speed = slowest_impact(bodies, i, j, dt)
    if crowded(bodies, i, j):
        speed += norm(load3(bodies.v, i)) + norm(load3(bodies.v, j)) + _rim_speed(bodies, i, dt) + _rim_speed(bodies, j, dt)
    return dt * (speed + 3.0 * a * dt)


@lean
def _other_accel(bodies, i, dt):
    """Bound on the acceleration of any point of body i but for gravity [m/s^2]."""
    return bodies.pull[i] + turning_accel(bodies, i, dt)


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
    return swept(lo, hi, fat, way)


@lean
def swept(lo, hi, fat, way):
    """What holds a box that moves so far any way, and along a vector."""
    return (
        (lo[0] + min(0.0, way[0]) - fat, lo[1] + min(0.0, way[1]) - fat, lo[2] + min(0.0, way[2]) - fat),
        (hi[0] + max(0.0, way[0]) + fat, hi[1] + max(0.0, way[1]) + fat, hi[2] + max(0.0, way[2]) + fat),
    )


@lean
def swept_way(bodies, i, h, dt):
    """How far points of body i get in a time h from where its flight began, and how far from there contact points are wanted then
    [m]: (at most so far in any direction, besides along this vector)."""
    fat = speculative_margin(bodies, i, i, dt)  # a pair has both: twice what its points are wanted out to
    turned, v = _flight(bodies, i, h)
    return fat + turned, scale(h + dt, v)  # where a crowd is, or becomes one, the kick at the end looks ahead by a step


@lean
def flight_way(bodies, i, h):
    """The same for the flight alone."""
    fat, v = _flight(bodies, i, h)
    return fat, scale(h, v)


@lean
def _flight(bodies, i, h):
    """How far points of body i get in a time h beside where their velocity takes them [m]; that velocity."""
    fat = _rim_speed(bodies, i, h) * h
    fat += 0.5 * (norm(load3(bodies.gravity, i)) + bodies.pull[i]) * h * h
    v = load3(bodies.p0, i)
    return fat, scale(bodies.inv_mass[i], v) if bodies.kind[i] == DYNAMIC else v


@lean
def sweep_bounds(bodies, geoms, geometry, dt, first, stop):
    """Boxes of the pieces [first, stop) for the coming drift; facets get theirs when they are brought (ground/facet_rows.py)."""
    for k in range(first, stop):
        if geoms.face[k] != PIECE and geoms.face[k] != CARRIER:
            continue
        lo, hi = swept_box(bodies, geoms, geometry, k, dt, dt)
        store3(geoms.lo, k, lo)
        store3(geoms.hi, k, hi)


@lean
def leaves_box(bodies, geoms, geometry, body, h):
    """A piece of a body whose flight was changed leaves its box in a time h."""
    away = False
    for k in range(len(geoms.body)):
        if geoms.body[k] == body and not off(geoms, k):
            x, rot = geom_pose(bodies, geoms, k)
            low, high = aabb(geometry, geoms.shape[k], x, rot)
            lo, hi = swept(low, high, *flight_way(bodies, body, h))
            for c in range(3):
                away = away or lo[c] < geoms.lo[k, c] or hi[c] > geoms.hi[k, c]
    return away


@lean
def outgrown(bodies, geoms, geometry, body, h, dt):
    """Widen the boxes of a body whose flight was changed; whether they meet others than before."""
    more = False
    for k in range(len(geoms.body)):
        if geoms.body[k] == body:
            low, high = load3(geoms.lo, k), load3(geoms.hi, k)
            if not _widen(bodies, geoms, geometry, k, h, dt):
                continue
            lo, hi = load3(geoms.lo, k), load3(geoms.hi, k)
            for m in range(len(geoms.body)):
                if geoms.body[m] != body and (geoms.mobile[k] or geoms.mobile[m]) and _meets(geoms, m, lo, hi):
                    more = more or not _meets(geoms, m, low, high)
    return more


@lean
def widen_late(bodies, geoms, geometry, late, dt):
    """Widen the boxes of bodies that flew on otherwise than was foreseen, at the end of the drift, by what the kick may want;
    whether that did anything."""
    more = False
    for k in range(len(geoms.body)):
        if late[geoms.body[k]]:
            more = _widen(bodies, geoms, geometry, k, 0.0, dt) or more
    return more


@lean
def _widen(bodies, geoms, geometry, k, h, dt):
    """The box of piece k also holds its coming flight, of length h; whether it did not."""
    lo, hi = swept_box(bodies, geoms, geometry, k, h, dt)
    low, high = load3(geoms.lo, k), load3(geoms.hi, k)
    lo = (min(lo[0], low[0]), min(lo[1], low[1]), min(lo[2], low[2]))
    hi = (max(hi[0], high[0]), max(hi[1], high[1]), max(hi[2], high[2]))
    store3(geoms.lo, k, lo)
    store3(geoms.hi, k, hi)
    return lo != low or hi != high


@lean
def _meets(geoms, m, lo, hi):
    """The box of piece m meets the box (lo, hi)."""
    x = geoms.lo[m, 0] <= hi[0] and lo[0] <= geoms.hi[m, 0]
    return x and geoms.lo[m, 1] <= hi[1] and lo[1] <= geoms.hi[m, 1] and geoms.lo[m, 2] <= hi[2] and lo[2] <= geoms.hi[m, 2]
