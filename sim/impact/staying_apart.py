"""How long a pair surely stays apart: what its gaps at two instants say of all between them.

At the two instants, a time h apart, the pair is separated along the axes n_0 and n_1. In between let the axis n turn evenly from
one to the other, by an angle a = W h. Take one point of each body, and f = n.y with y from the one on A to the one on B:

    f'' = n.y'' + 2 n'.y' + n''.y <= c,   c = n.(g_b - g_a) + pull + turning + 2 W |y'| + W^2 |y|

where ``pull`` bounds what other forces, ``turning`` what rotation adds to the accelerations of points. So f - c s^2/2 is concave,
and lies above its chord: f(s) >= f_0 + (f_1 - f_0) s/h - c s (h - s)/2. The gap between two convex bodies along n is the least f
of all pairs of points, and c is the same for all. This is of second order in the time: a body that rests on a floor, whose small
parabola has c < 0, is cleared for a whole step at once, where bounds on its speed allow but steps of the gap over that speed.

What follows `least_gap` are those bounds: how fast a gap can close, by what is known at one instant.
"""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import cross, dot, load3, norm, sub
from tumble.sim.contact.touching.swept_pairs import turning_accel
from tumble.sim.state import DYNAMIC


@lean
def least_between(first, last, c, h):
    """The least that a function can be in between which has these values at 0 and h, and f'' <= c."""
    if not c * h * h > 2.0 * abs(last - first):
        return min(first, last)
    s = 0.5 * h - (last - first) / (c * h)
    return first - 0.5 * c * s * s


@lean
def bends(bodies, i, j, speed, dt):
    """What pulls and turning add to c for bodies i and j [m/s^2], a bound on |y| [m]; ``speed`` bounds that of their centres."""
    size = norm(sub(load3(bodies.x, j), load3(bodies.x, i))) + speed * dt + bodies.radius[i] + bodies.radius[j]
    return bodies.pull[i] + bodies.pull[j] + turning_accel(bodies, i, dt) + turning_accel(bodies, j, dt), size


@lean
def least_gap(bodies, i, j, gap, axis, gap_then, axis_then, h, bend, size, bound):
    """What the gap of bodies i and j, along axes that turn from the one to the other within a time h, is at least [m].

    ``bound`` bounds |y'|, the others are those of `bends`.
    """
    angle = 2.0 * math.asin(min(1.0, 0.5 * norm(sub(axis_then, axis))))
    g = sub(load3(bodies.gravity, j), load3(bodies.gravity, i))
    c = max(dot(axis, g), dot(axis_then, g)) + 0.125 * angle * angle * norm(g) + bend
    if angle > 0.0:
        rate = angle / h
        c += rate * (2.0 * bound + rate * size)
    return least_between(gap, gap_then, c, h)


@lean
def turning_bounds(bodies, i, dt):
    """Bounds on |omega| r [m/s] and |alpha| r [m/s^2] of body i in the drift, r its radius: how its rotation closes a gap."""
    if bodies.kind[i] == DYNAMIC:
        l = norm(load3(bodies.l0, i)) + bodies.twist[i] * dt
        w = bodies.spin[i] * l
        alpha = bodies.spin[i] * (bodies.twist[i] + w * l)
    else:
        alpha = bodies.twist[i]
        w = norm(load3(bodies.l0, i)) + alpha * dt
    return w * bodies.radius[i] if w > 0.0 else 0.0, alpha * bodies.radius[i] if alpha > 0.0 else 0.0


@lean
def closing_bounds(bodies, i, j, dt):
    """Of bodies i and j in a drift: how fast they can turn their points, how fast that grows, how much forces pull them apart or
    together, and a speed that no point closes faster than."""
    wi, alpha_i = turning_bounds(bodies, i, dt)
    wj, alpha_j = turning_bounds(bodies, j, dt)
    pull = norm(sub(load3(bodies.gravity, j), load3(bodies.gravity, i))) + bodies.pull[i] + bodies.pull[j]
    speed = norm(sub(load3(bodies.v, j), load3(bodies.v, i))) + pull * dt
    spin = wi + wj
    return spin, alpha_i + alpha_j, pull, speed + spin


@lean
def turning_along(bodies, i, n, w):
    """|n x omega| r of body i: the part of its turning that closes a gap along n [m/s]."""
    turning = norm(cross(n, w))
    return turning * bodies.radius[i] if turning > 0.0 else 0.0


@lean
def closing_time(gap, closing, accel):
    """A time in which a gap can not close. It closes at ``closing`` now, and after a time t by no more than ``accel`` t
    faster. Where a small body tumbles fast, the bound on its speed in the whole drift allows far less."""
    root = closing + math.sqrt(closing * closing + 2.0 * accel * gap)
    return 2.0 * gap / root if root > 0.0 else 0.0
