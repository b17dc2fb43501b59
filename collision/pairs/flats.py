"""Pairs of which one touches a flat of the other: the base of a cylinder or a cone, the face of a box."""

from __future__ import annotations

import math

from tumble.collision.geometry import BOX, CONE, CYLINDER
from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import ZERO, add, along_axis, axpy, dot, mul, mul_t, neg, sub
from tumble.collision.shapes.support_functions import reach, support_piece
from tumble.collision.shapes.support_points import EPS

NEAR_FLAT = 0.9  # cosine: an axis this near to the normal of a flat may belong to it


@lean
def separation(g, a, b, r, t, n):
    """min over B of n.x - max over A of n.x, for the cores."""
    return dot(n, t) - reach(g, a, n) - reach(g, b, neg(mul_t(r, n)))


@lean
def far_points(g, a, b, r, t, n):
    """The point of A furthest along n and that of B furthest against it, and the pieces that they are on: (p, q, of A, of B)."""
    i, p = support_piece(g, a, n)
    j, q = support_piece(g, b, neg(mul_t(r, n)))
    return p, add(mul(r, q), t), i, j


@lean
def near_flat(g, s, d):
    """Outward normal of the flat of a cylinder, a cone or a box where it is near the unit vector d; else zero."""
    kind = g.kind[s]
    if kind == CYLINDER:
        if abs(d[2]) > NEAR_FLAT:
            return (0.0, 0.0, math.copysign(1.0, d[2]))
    elif kind == CONE:
        if d[2] < -NEAR_FLAT:
            return (0.0, 0.0, -1.0)
    elif kind == BOX:
        for k in range(3):
            if abs(d[k]) > NEAR_FLAT:
                return along_axis(k, math.copysign(1.0, d[k]))
    return ZERO


@lean
def room_on_flat(g, s, m, x):
    """How far the point x of the flat with the normal m is from its rim [m], all in the frame of the shape."""
    if g.kind[s] == BOX:
        room = math.inf
        for k in range(3):
            if m[k] == 0.0:
                room = min(room, g.size[s, k] - abs(x[k]))
        return room
    return g.size[s, 0] - math.sqrt(x[0] * x[0] + x[1] * x[1])


@lean
def on_flats(g, a, b, r, t, n, low, size):
    """A flat of either body near the axis n with a separation of at least ``low``: (settled, n, low, p, q, room).

    Settled where the support point of the other body stands over the flat: then no axis near separates more. ``room``: how far
    that is from the rim.
    """
    m = near_flat(g, a, n)
    if m[0] != 0.0 or m[1] != 0.0 or m[2] != 0.0:
        back = neg(mul_t(r, m))
        _, y = support_piece(g, b, back)
        y = add(mul(r, y), t)
        s = dot(m, y) - reach(g, a, m)
        x = axpy(-s, m, y)
        room = room_on_flat(g, a, m, x)
        if s >= low and room >= -4.0 * EPS * size:
            return True, m, s, x, y, room
    m = near_flat(g, b, neg(mul_t(r, n)))
    if m[0] != 0.0 or m[1] != 0.0 or m[2] != 0.0:
        k = neg(mul(r, m))
        _, x = support_piece(g, a, k)
        s = dot(k, t) - reach(g, b, m) - dot(k, x)
        y = axpy(s, k, x)
        room = room_on_flat(g, b, m, mul_t(r, sub(y, t)))
        if s >= low and room >= -4.0 * EPS * size:
            return True, k, s, x, y, room
    return False, n, low, ZERO, ZERO, 0.0
