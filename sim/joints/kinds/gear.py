"""Gears and screws: no slip where two wheels, or bolt and nut, touch. What carries them are joints of their own.

Both are a row of force at the point of touch, equal and opposite on the two bodies, as between real teeth; so a carrier that
moves feels what it should. Angles come back after a turn, and what is held comes back with the next tooth: with whole numbers
of teeth, n_b psi_b - n_a psi_a is known up to whole turns from the poses alone, and no turn has to be counted.
"""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import ZERO, add, axpy, cross, dot, mul_t, norm, scale, sub


@lean
def _towards(d, axis):
    """Unit vector of d without its part along the axis."""
    u = axpy(-dot(d, axis), axis, d)
    size = norm(u)
    return scale(1.0 / size, u) if size > 0.0 else u


@lean
def _wrapped(angle):
    return angle - 2.0 * math.pi * round(angle / (2.0 * math.pi))


@lean
def _marker(direction, axis, f):
    """Angle from a direction to the first axis of a frame, about ``axis``."""
    x = (f[0], f[3], f[6])
    return math.atan2(dot(axis, cross(direction, x)), dot(direction, x))


@lean
def place_gear(xa, fa, xb, fb, ratio):
    """(pitch point, frame whose first axis is that of the teeth's motion, miss along it [m]).

    ``ratio``: pitch radii [m] and numbers of teeth of a and b, both with signs: that of an angle about its axis which drives the
    pitch point forwards (joint_tables.py).
    """
    ea, eb, d = (fa[2], fa[5], fa[8]), (fb[2], fb[5], fb[8]), sub(xb, xa)
    u, w = _towards(d, ea), _towards(scale(-1.0, d), eb)
    t = cross(ea, u)
    miss = _wrapped(ratio[3] * _marker(w, eb, fb) - ratio[2] * _marker(u, ea, fa)) * ratio[0] / ratio[2]
    return axpy(ratio[0], u, xa), (t[0], u[0], ea[0], t[1], u[1], ea[1], t[2], u[2], ea[2]), miss


@lean
def place_screw(xa, fa, xb, fb, lead):
    """(point on the thread, frame whose first axis is across the thread, miss along the axis [m]); ``lead``: m per rad.

    The force at radius \\|lead\\| along axis - t, t the way round: it does as much work on turning as on travel, in every ratio.
    """
    x = mul_t(fa, (fb[0], fb[3], fb[6]))
    y = mul_t(fa, (fb[1], fb[4], fb[7]))
    travel = (fa[2] * (xb[0] - xa[0])) + (fa[5] * (xb[1] - xa[1])) + (fa[8] * (xb[2] - xa[2]))
    miss = lead * _wrapped(travel / lead - math.atan2(x[1] - y[0], x[0] + y[1]))
    s = math.copysign(1.0, lead)
    n = (fa[2] - s * fa[1], fa[5] - s * fa[4], fa[8] - s * fa[7])
    point = axpy(abs(lead), (fa[0], fa[3], fa[6]), xb)
    return point, (n[0], fa[0], fa[1], n[1], fa[3], fa[4], n[2], fa[6], fa[7]), miss


@lean
def gear_rates(d, v, ea, u, wa, radius):
    """(rate of the pitch point against a's anchor, rate of the direction of the teeth's motion).

    ``d``, ``v``: from a's anchor to b's, and its rate; ``ea``, ``u``: a's axis, and the direction to the pitch point.
    """
    along, turned = dot(d, ea), cross(wa, ea)
    q, rate = axpy(-along, ea, d), axpy(-along, turned, axpy(-(dot(v, ea) + dot(d, turned)), ea, v))
    size = norm(q)
    du = scale(1.0 / size, axpy(-dot(u, rate), u, rate)) if size > 0.0 else ZERO
    return scale(radius, du), add(cross(turned, u), cross(ea, du))
