"""Driven bodies: they go where their path says, unmoved by what they touch.

A path is followed in arcs, one a step: cubics in time that have the path's pose and velocity at both ends, in position and
in the vector of the rotation since the arc's start. Inside a step an arc is off the path by O(dt^4), at the steps not at
all. Where other bodies have momenta, driven ones hold their velocity (in ``p``) and angular velocity (in ``l``).
"""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import (
    ZERO,
    add,
    axpy,
    cross,
    dot,
    load3,
    load4,
    mul,
    norm,
    qmul,
    qnormalize,
    rotation,
    scale,
    store3,
    sub,
)
from tumble.sim.equations import drive

SERIES_ANGLE = 1e-4  # [rad] below this, sines are their series


@lean
def angular_rate(angle, rate):
    """Angular velocity of a rotation vector that changes at a rate: with s its size,

    w = rate + (1 - cos s)/s^2 angle x rate + (s - sin s)/s^3 angle x (angle x rate)
    (Bullo and Murray, Automatica 35 (1999) 17, lemma 4: the left Jacobian of SO(3)).
    """
    size = norm(angle)
    if size < SERIES_ANGLE:
        f, g = 0.5 - size * size / 24.0, 1.0 / 6.0 - size * size / 120.0
    else:
        f, g = (1.0 - math.cos(size)) / (size * size), (size - math.sin(size)) / (size * size * size)
    c = cross(angle, rate)
    return axpy(g, cross(angle, c), axpy(f, c, rate))


@lean
def rate_of(angle, w):
    """The inverse: the rate of a rotation vector at which it turns with angular velocity w."""
    size = norm(angle)
    if size < SERIES_ANGLE:
        g = 1.0 / 12.0 + size * size / 720.0
    else:
        g = (1.0 - 0.5 * size * math.sin(size) / (1.0 - math.cos(size))) / (size * size)
    c = cross(angle, w)
    return axpy(g, cross(angle, c), axpy(-0.5, c, w))


@lean
def arc(bodies, i, t):
    """Pose, velocity and angular velocity of driven body i at time t of the drift."""
    v, w = load3(bodies.p0, i), load3(bodies.l0, i)
    a, j = load3(bodies.a_drive, i), load3(bodies.j_drive, i)
    x = axpy(t, axpy(0.5 * t, axpy(t / 3.0, j, a), v), load3(bodies.x0, i))
    v = axpy(t, axpy(0.5 * t, j, a), v)
    a, j = load3(bodies.a_turn, i), load3(bodies.j_turn, i)
    angle = scale(t, axpy(0.5 * t, axpy(t / 3.0, j, a), w))
    w = angular_rate(angle, axpy(t, axpy(0.5 * t, j, a), w))
    _, q = drive(x, load4(bodies.q0, i), ZERO, angle, 1.0)
    return x, q, v, w


@lean
def arc_acceleration(bodies, i, t, e):
    """Acceleration and angular acceleration of driven body i at time t of the drift, this by a difference over 2 e."""
    _, _, _, w0 = arc(bodies, i, t - e)
    _, _, _, w1 = arc(bodies, i, t + e)
    return axpy(t, load3(bodies.j_drive, i), load3(bodies.a_drive, i)), scale(0.5 / e, sub(w1, w0))


@lean
def knot_before(knots, first, stop, t):
    """Row of the last of the knots [first, stop) that is not after t and has another one behind it; else the first."""
    low, high = first, stop - 1
    while high - low > 1:
        middle = (low + high) // 2
        if knots[middle, 0] <= t:
            low = middle
        else:
            high = middle
    return low


@lean
def on_path(bodies, i, t):
    """Pose of the centre of mass, velocity and angular velocity that the path of body i asks for at time t of the world."""
    first, stop = bodies.path[i, 0], bodies.path[i, 1]
    knots, period = bodies.knots, bodies.period[i]
    if period > 0.0:
        t = knots[first, 0] + (t - knots[first, 0]) % period
    t = max(t, knots[first, 0])
    low = knot_before(knots, first, stop, t)
    if t >= knots[stop - 1, 0]:
        low = stop - 1
        t = knots[low, 0]
    s = t - knots[low, 0]
    x, v = _cubics(knots, low, 1, s)
    q, r = _cubics(knots, low, 17, s)  # components x, y, z
    c3, c2, c1, c0 = knots[low, 13], knots[low, 14], knots[low, 15], knots[low, 16]
    q0, r0 = ((c3 * s + c2) * s + c1) * s + c0, (3.0 * c3 * s + 2.0 * c2) * s + c1
    # w = 2 (q' q*) / |q|^2, vector part
    w = scale(2.0 / (q0 * q0 + dot(q, q)), sub(axpy(q0, r, scale(-r0, q)), cross(r, q)))
    turn = qnormalize((q0, q[0], q[1], q[2]))
    arm = mul(rotation(turn), load3(bodies.center, i))
    return add(x, arm), turn, add(v, cross(w, arm)), w


@lean
def _cubics(knots, k, column, s):
    """Three cubics and their derivatives."""
    a = (knots[k, column], knots[k, column + 4], knots[k, column + 8])
    b = (knots[k, column + 1], knots[k, column + 5], knots[k, column + 9])
    c = (knots[k, column + 2], knots[k, column + 6], knots[k, column + 10])
    d = (knots[k, column + 3], knots[k, column + 7], knots[k, column + 11])
    return axpy(s, axpy(s, axpy(s, a, b), c), d), axpy(s, axpy(s, scale(3.0, a), scale(2.0, b)), c)


@lean
def hermite(d, v0, v1, h):
    """(acceleration at the start, its rate of change) of the cubic that covers d in the time h, from velocity v0 to v1."""
    a = axpy(6.0 / (h * h), d, axpy(-4.0 / h, v0, scale(-2.0 / h, v1)))
    return a, axpy(-12.0 / (h * h * h), d, scale(6.0 / (h * h), add(v0, v1)))


@lean
def rotation_vector(q, p):
    """The rotation vector [rad] that turns orientation p to q."""
    d = qmul(q, (p[0], -p[1], -p[2], -p[3]))
    if d[0] < 0.0:
        d = (-d[0], -d[1], -d[2], -d[3])
    s = norm((d[1], d[2], d[3]))
    return scale(2.0 * math.atan2(s, d[0]) / s if s > 0.0 else 2.0, (d[1], d[2], d[3]))


@lean
def plan_arc(bodies, i, t, h):
    """The arc of body i from time t of the world to t + h: state at its start, (x, q, v, w); its coefficients are stored.

    What contacts take for the acceleration of the coming flight is that which covers the whole arc from its start, so
    that a body that rests on it meets it at the end.
    """
    x, q, v, w = on_path(bodies, i, t)
    x1, q1, v1, w1 = on_path(bodies, i, t + h)
    d, angle = sub(x1, x), rotation_vector(q1, q)
    a, j = hermite(d, v, v1, h)
    store3(bodies.a_drive, i, a)
    store3(bodies.j_drive, i, j)
    store3(bodies.gravity, i, axpy(h / 3.0, j, a))
    bodies.pull[i] = norm(j) * h
    a, j = hermite(angle, w, rate_of(angle, w1), h)
    store3(bodies.a_turn, i, a)
    store3(bodies.j_turn, i, j)
    store3(bodies.torque, i, axpy(h / 3.0, j, a))
    bodies.twist[i] = norm(a) + norm(j) * h
    return x, q, v, w
