"""Free flight of single bodies, and the quantities that follow from their state."""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import far, lean, remote, tight
from tumble.collision.linalg import (
    IDENTITY,
    ZERO,
    add,
    axpy,
    dot,
    load3,
    load4,
    load9,
    matmul,
    mul,
    rotation,
    scale,
    store3,
    store4,
    store9,
    sub,
)
from tumble.sim.equations import angular_velocity
from tumble.sim.flight.clusters import along_far
from tumble.sim.flight.methods.exact import turn_exact
from tumble.sim.flight.methods.rk4 import turn_rk4
from tumble.sim.flight.methods.splitting import turn_splitting
from tumble.sim.forces.prescribed_motion import arc, plan_arc
from tumble.sim.ledger.work import INSIDE_DRIFT, give
from tumble.sim.state import DYNAMIC, EXACT, EXAMPLE, SPLITTING

# [rad] turn in a step, up to which methods of steps are taken: there RK4 loses 3e-9 of the energy a step, which is 2e-6 in three
# seconds; by the fifth power of the turn more beyond, and at 5 rad it gains more than there was
FAR_TURN = 0.1


@remote
def flight(bodies, forces, i, t):
    """State (x, q, p, l) of body i at time t of the drift, flying freely since its t0; a driven body is on its arc."""
    if bodies.kind[i] != DYNAMIC:
        return arc(bodies, i, t)
    if forces.cluster[i] >= 0 and t != bodies.t0[i]:
        x, q, p, l, _, _ = along_far(bodies, forces, i, t)
        return x, q, p, l
    h = t - bodies.t0[i]
    x, q, p, l = load3(bodies.x0, i), load4(bodies.q0, i), load3(bodies.p0, i), load3(bodies.l0, i)
    if h == 0.0:
        return x, q, p, l
    way, gain = _parabola(bodies, i, h)
    return add(x, way), _turned(bodies, forces, i, h), add(p, gain), l


flight_far = far(
    flight, lambda: (EXAMPLE.bodies, EXAMPLE.forces, 0, 0.0), returns=((0.0,) * 3, (0.0,) * 4, (0.0,) * 3, (0.0,) * 3)
)


@tight
def _turned(bodies, forces, i, h):
    """Orientation after a free flight without torque: by the method of the world, or exact where a step would take it too far.

    Which of them is decided by the step and not by h, so that a body is on one path all through a drift.
    """
    q, l, method = load4(bodies.q0, i), load3(bodies.l0, i), forces.method[0]
    turn = scale(forces.clock[1], angular_velocity(rotation(q), load9(bodies.inv_inertia, i), l))
    if method == EXACT or dot(turn, turn) > FAR_TURN * FAR_TURN:
        return turn_exact(q, l, h, load3(bodies.moments, i), load4(bodies.axes, i))
    if method == SPLITTING:
        return turn_splitting(q, l, h, load3(bodies.moments, i), load4(bodies.axes, i))
    return turn_rk4(q, l, h, load9(bodies.inv_inertia, i))


@tight
def _parabola(bodies, i, h):
    """Way and gain of momentum of a free flight in uniform gravity, with what rounding cut off before.

    Compensated summation (Kahan, Comm. ACM 8 (1965) 40): else adding the same m g h a thousand times rounds the same way
    each time.
    """
    g, low = load3(bodies.gravity, i), bodies.low0[i]
    way = axpy(0.5 * h * h, g, axpy(h * bodies.inv_mass[i], load3(bodies.p0, i), (low[0], low[1], low[2])))
    return way, axpy(h * bodies.mass[i], g, (low[3], low[4], low[5]))


@lean
def _cut_off(a, b):
    """What rounding takes from a + b (Moller, BIT 5 (1965) 37)."""
    total = a + b
    c = total - a
    return (a - (total - c)) + (b - c)


@tight
def velocity_of(bodies, i, rot, p, l):
    """Velocity and angular velocity that belong to these momenta; a driven body holds them instead."""
    if bodies.kind[i] == DYNAMIC:
        return scale(bodies.inv_mass[i], p), angular_velocity(rot, load9(bodies.inv_inertia, i), l)
    return p, l


@lean
def motion_at(bodies, forces, i, t):
    """Position, rotation, velocity and angular velocity of body i (-1: the world) at time t of the drift."""
    if i < 0:
        return ZERO, IDENTITY, ZERO, ZERO
    x, q, p, l = flight_far(bodies, forces, i, t)
    rot = rotation(q)
    v, w = velocity_of(bodies, i, rot, p, l)
    return x, rot, v, w


@tight
def set_state(bodies, i, x, q, p, l):
    """Make this the current state of body i."""
    rot = rotation(q)
    v, w = velocity_of(bodies, i, rot, p, l)
    store3(bodies.x, i, x)
    store4(bodies.q, i, q)
    store3(bodies.p, i, p)
    store3(bodies.l, i, l)
    store9(bodies.rot, i, rot)
    store3(bodies.v, i, v)
    store3(bodies.w, i, w)


@lean
def _fly_to(bodies, forces, i, t):
    """Move body i along its free flight to time t."""
    if forces.cluster[i] >= 0 and t != bodies.t0[i]:
        x, q, p, l, force, torque = along_far(bodies, forces, i, t)
        store3(bodies.force, i, axpy(-bodies.mass[i], load3(bodies.gravity, i), force))
        store3(bodies.torque, i, torque)
        store3(bodies.dv, i, ZERO)
        store3(bodies.dw, i, ZERO)
    else:
        x, q, p, l = flight_far(bodies, forces, i, t)
        if bodies.kind[i] == DYNAMIC and t != bodies.t0[i]:
            way, gain = _parabola(bodies, i, t - bodies.t0[i])
            _keep_low(bodies, i, way, gain)
    set_state(bodies, i, x, q, p, l)


fly_to = far(_fly_to, lambda: (EXAMPLE.bodies, EXAMPLE.forces, 0, 0.0), returns=None)


@tight
def _keep_low(bodies, i, way, gain):
    for k in range(3):
        bodies.low[i, k] = _cut_off(bodies.x0[i, k], way[k])
        bodies.low[i, 3 + k] = _cut_off(bodies.p0[i, k], gain[k])


@lean
def fly_some(bodies, forces, t, first, stop):
    """Move bodies [first, stop) along their free flights to time t: a loop without calls for those that nothing else concerns."""
    for i in range(first, stop):
        h = t - bodies.t0[i]
        if bodies.kind[i] != DYNAMIC or forces.cluster[i] >= 0 or h == 0.0:
            fly_to(bodies, forces, i, t)
        else:
            way, gain = _parabola(bodies, i, h)
            q = _turned(bodies, forces, i, h)
            _keep_low(bodies, i, way, gain)
            set_state(bodies, i, add(load3(bodies.x0, i), way), q, add(load3(bodies.p0, i), gain), load3(bodies.l0, i))


@lean
def start_flight(bodies, i, t):
    """From now on body i flies freely from its current state, which it has at time t of the drift.

    Driven bodies stay on the arc that they began the drift with.
    """
    if bodies.kind[i] != DYNAMIC and t > 0.0:
        return
    bodies.t0[i] = t
    store3(bodies.x0, i, load3(bodies.x, i))
    store4(bodies.q0, i, load4(bodies.q, i))
    store3(bodies.p0, i, load3(bodies.p, i))
    store3(bodies.l0, i, load3(bodies.l, i))
    for k in range(6):
        bodies.low0[i, k] = bodies.low[i, k]


@lean
def forget_kick(bodies, i):
    """The momenta that body i had before its last kick become those that it has."""
    store3(bodies.p_before, i, load3(bodies.p, i))
    store3(bodies.l_before, i, load3(bodies.l, i))


@lean
def land_some(bodies, dt, first, stop):
    """The flights of bodies [first, stop) end with the drift: from here they fly on, and momenta before the kick are these."""
    for i in range(first, stop):
        start_flight(bodies, i, 0.0)
        bodies.until[i], bodies.held[i] = 0.0, 0
        bodies.kicked[i] -= dt  # by the clock of the coming drift
        forget_kick(bodies, i)


@lean
def finite_body(bodies, i):
    """The state of body i is a number."""
    total = 0.0
    for r in range(3):
        total += (abs(bodies.x[i, r]) + abs(bodies.p[i, r])) + (abs(bodies.l[i, r]) + abs(bodies.q[i, r]))
    return math.isfinite(total)


@lean
def plan_arcs(bodies, t, dt):
    """Driven bodies that have a path stand on it at time t of the world, and know where they go in the coming step."""
    for i in range(len(bodies.kind)):
        if bodies.path[i, 1] > bodies.path[i, 0]:
            x, q, v, w = plan_arc(bodies, i, t, dt)
            set_state(bodies, i, x, q, v, w)
            start_flight(bodies, i, 0.0)


@lean
def world_inverse_inertia(bodies, i):
    """R J^-1 R^T, nine numbers; zero for bodies that impulses do not move."""
    if bodies.kind[i] != DYNAMIC:
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    r = load9(bodies.rot, i)
    j = load9(bodies.inv_inertia, i)
    # columns of J^-1 R^T, then R times them
    a = mul(r, mul(j, (r[0], r[1], r[2])))
    b = mul(r, mul(j, (r[3], r[4], r[5])))
    c = mul(r, mul(j, (r[6], r[7], r[8])))
    return (a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2])


@lean
def strike(bodies, books, i, j, impulse, point):
    """An impulse inside the drift at a point of the world, on j and against it on i; the books take what it does not move."""
    for side in range(2):
        k, f = (j, impulse) if side == 1 else (i, scale(-1.0, impulse))
        give(bodies, books, k, scale(0.5, f), ZERO, point, INSIDE_DRIFT, 0.5)
        if bodies.kind[k] == DYNAMIC:
            refresh_velocity(bodies, k)


@lean
def refresh_velocity(bodies, i):
    v, w = velocity_of(bodies, i, load9(bodies.rot, i), load3(bodies.p, i), load3(bodies.l, i))
    store3(bodies.v, i, v)
    store3(bodies.w, i, w)


@lean
def point_velocity(bodies, i, point):
    """Velocity of the material point of body i at a point of the world."""
    v, w, r = load3(bodies.v, i), load3(bodies.w, i), sub(point, load3(bodies.x, i))
    return (v[0] + w[1] * r[2] - w[2] * r[1], v[1] + w[2] * r[0] - w[0] * r[2], v[2] + w[0] * r[1] - w[1] * r[0])


@lean
def geom_pose(bodies, geoms, k):
    """Position and rotation matrix of piece k in the world, for the current state of its body."""
    i = geoms.body[k]
    rot = load9(bodies.rot, i)
    return frame_pose(load3(bodies.x, i), rot, load3(geoms.x, k), load9(geoms.rot, k))


@lean
def frame_pose(x, rot, gx, grot):
    """Pose of a frame (gx, grot) given in a body at (x, rot)."""
    return add(x, mul(rot, gx)), matmul(rot, grot)


@lean
def kinetic_energy(bodies, i, p, l):
    """Linear and angular kinetic energy [J] of body i with these momenta at its current orientation."""
    if bodies.kind[i] != DYNAMIC:
        return 0.0, 0.0
    w = angular_velocity(load9(bodies.rot, i), load9(bodies.inv_inertia, i), l)
    return 0.5 * bodies.inv_mass[i] * dot(p, p), 0.5 * dot(w, l)
