"""The point of a simplex that is closest to the origin, with care for rounding, and the weights of its corners."""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import lean, tight
from tumble.collision.linalg import axpy, cross, dot, norm, scale, sub
from tumble.collision.shapes.support_points import EPS


@tight
def segment_here(a, b):
    """`closest_segment`, without the call, where every nanosecond counts."""
    ab = sub(b, a)
    length2 = dot(ab, ab)
    t = -dot(a, ab)
    if t <= 0.0 or length2 == 0.0:
        return a, 1.0, 0.0
    if t >= length2:
        return b, 0.0, 1.0
    t = t / length2
    # from the nearer end, so that the weights keep their small digits; then across the edge to rounding, since the
    # small vector left of two long ones has a direction of its own
    if t <= 0.5:
        v = axpy(t, ab, a)
        return axpy(-dot(v, ab) / length2, ab, v), 1.0 - t, t
    u = dot(b, ab) / length2
    v = axpy(-u, ab, b)
    return axpy(-dot(v, ab) / length2, ab, v), u, 1.0 - u


@lean
def closest_segment(a, b):
    """Point of the segment ab closest to the origin, and its weights."""
    return segment_here(a, b)


@lean
def closest_triangle(a, b, c):
    """Point of the triangle abc closest to the origin, and its weights (Ericson 2005, 5.1.5)."""
    ab = sub(b, a)
    ac = sub(c, a)
    d1 = -dot(ab, a)
    d2 = -dot(ac, a)
    if d1 <= 0.0 and d2 <= 0.0:
        return a, 1.0, 0.0, 0.0
    d3 = -dot(ab, b)
    d4 = -dot(ac, b)
    if d3 >= 0.0 and d4 <= d3:
        return b, 0.0, 1.0, 0.0
    d5 = -dot(ab, c)
    d6 = -dot(ac, c)
    if d6 >= 0.0 and d5 <= d6:
        return c, 0.0, 0.0, 1.0
    n = cross(ab, ac)
    # barycentric weights times n.n, from cross products: they lose less than the differences d1 d4 - d3 d2
    wc = dot(n, cross(a, b))
    wb = dot(n, cross(c, a))
    wa = dot(n, cross(b, c))
    if wc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        v, la, lb = closest_segment(a, b)
        return v, la, lb, 0.0
    if wb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        v, la, lc = closest_segment(a, c)
        return v, la, 0.0, lc
    if wa <= 0.0 and d4 >= d3 and d5 >= d6:
        v, lb, lc = closest_segment(b, c)
        return v, 0.0, lb, lc
    total = wa + wb + wc
    nn = dot(n, n)
    if not (total > 0.0 and nn > 0.0 and wa >= 0.0 and wb >= 0.0 and wc >= 0.0):
        # a sliver: rounding hides the region; the best edge is as good
        v, la, lb = closest_segment(a, b)
        lc = 0.0
        best = dot(v, v)
        u, la1, lc1 = closest_segment(a, c)
        if dot(u, u) < best:
            best = dot(u, u)
            v, la, lb, lc = u, la1, 0.0, lc1
        u, lb2, lc2 = closest_segment(b, c)
        if dot(u, u) < best:
            v, la, lb, lc = u, 0.0, lb2, lc2
        return v, la, lb, lc
    # the projection on the plane: its direction is right to rounding, unlike that of the weighted sum
    return scale(dot(n, a) / nn, n), wa / total, wb / total, wc / total


@lean
def closest_tetrahedron(a, b, c, d, size):
    """(inside, point, weights) for the origin and the tetrahedron abcd, d being a support point that abc lies behind.

    So the origin is on d's side of abc, and what is closest lies on one of the three faces at d.
    """
    da, db, dc = sub(a, d), sub(b, d), sub(c, d)
    nab, nbc, nca = cross(da, db), cross(db, dc), cross(dc, da)
    volume = dot(nab, dc)
    # too flat to tell the sides of a face: it is taken for a side that the origin may lie beyond
    flat = 64.0 * EPS * size
    inside = True
    best = math.inf
    v = d
    la, lb, lc, ld = 0.0, 0.0, 0.0, 1.0
    for k in range(3):
        if k == 0:
            n, e, f = nab, a, b
        elif k == 1:
            n, e, f = nbc, b, c
        else:
            n, e, f = nca, c, a
        if abs(volume) > flat * (abs(n[0]) + abs(n[1]) + abs(n[2])) and dot(d, n) * volume < 0.0:
            continue
        inside = False
        u, x, y, z = closest_triangle(e, f, d)
        square = dot(u, u)
        if square < best:
            best = square
            v, ld = u, z
            if k == 0:
                la, lb, lc = x, y, 0.0
            elif k == 1:
                la, lb, lc = 0.0, x, y
            else:
                la, lb, lc = y, 0.0, x
    return inside, v, la, lb, lc, ld


@lean
def well_inside(corners, size):
    """Is the origin in the tetrahedron of four points, by more than rounding?"""
    w0, w1, w2, w3 = corners
    least = math.inf
    for k in range(4):
        x, y, z, other = w0, w1, w2, w3
        if k == 1:
            x, y, z, other = w1, w2, w3, w0
        elif k == 2:
            x, y, z, other = w2, w3, w0, w1
        elif k == 3:
            x, y, z, other = w3, w0, w1, w2
        n = cross(sub(y, x), sub(z, x))
        height, top = -dot(n, x), dot(n, sub(other, x))
        least = min(least, (height if top > 0.0 else -height) - 64.0 * EPS * size * norm(n))
    return least > 0.0
