"""Signed distance of two polytopes by a polytope that grows on a lattice: slow, for what the quick searches can not settle.

The points of the Minkowski difference D = B - A are moved to the nearest points of a cubic lattice, by no more than rounding
moves them anyhow (one EPS of size along each axis). The numbers on it are integers below 2^53, their differences are exact,
and so are the signs that the hull is built by, for all that counts: products are carried along with their rounding errors
(Dekker 1971). So needles, plates and crowds of points are polytopes like any other, and normals are right to rounding
however thin a triangle is.

The polytope inside D grows until the support point along the normal of what is nearest to the origin adds nothing:

    the origin inside: the nearest face. A closed surface that has the origin behind each of its faces winds around it, so the
    ball about the origin that no face cuts lies within: its radius is no more than the depth.
    the origin outside: the nearest point of the surface. It joins two points of the bodies, which are no closer than that.

Both bound the signed distance from above; the separation along the normal bounds it from below.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.distance.gjk import NO_NAMES, lowest, mixture
from tumble.collision.distance.sat import separation
from tumble.collision.kernels.jit import inner, lean
from tumble.collision.linalg import ZERO, add, axpy, cross, dot, load3, neg, norm, orthonormal, product_error, scale, store3, sub
from tumble.collision.shapes.support_points import EPS

MOST_CORNERS = 256  # corners
ONE = 4.0  # units of the lattice: lengths are one but for rounding
TIP = 2.0**40  # units of the lattice: length of the tip of a flat difference
NO_DIRECTION = 16.0  # units of the lattice: a vector this short has no direction


@lean
def minor(a, b, c, d):
    """a b - c d as the sum of two numbers, the second one below the rounding of the first."""
    p, q = a * b, c * d
    s = p - q
    part = s - p
    low = ((p - (s - part)) - (q + part)) + (product_error(a, b, p) - product_error(c, d, q))
    high = s + low
    return high, low - (high - s)


@lean
def exact_cross(a, b):
    """a x b for vectors of the lattice, in two parts."""
    x, x_low = minor(a[1], b[2], a[2], b[1])
    y, y_low = minor(a[2], b[0], a[0], b[2])
    z, z_low = minor(a[0], b[1], a[1], b[0])
    return (x, y, z), (x_low, y_low, z_low)


@lean
def exact_dot(n, n_low, x):
    """(n + n_low) . x, and a bound of its error: zero where it can not be told from zero."""
    total, low, most = 0.0, 0.0, 0.0
    for i in range(3):
        p = n[i] * x[i]
        low += product_error(n[i], x[i], p) + n_low[i] * x[i]
        s = total + p
        part = s - total
        low += (total - (s - part)) + (p - part)
        total = s
        most += abs(p)
    total += low
    return total if abs(total) > 2.0**-90 * most else 0.0


@lean
def triple(points, i, j, k, w):
    """Six times the volume that w makes with the triangle ijk: positive in front of it."""
    a = load3(points, i)
    n, n_low = exact_cross(sub(load3(points, j), a), sub(load3(points, k), a))
    return exact_dot(n, n_low, sub(w, a))


@lean
def on_lattice(w, unit):
    """The nearest point of the lattice, in its units."""
    x = math.floor(w[0] / unit + 0.5)
    y = math.floor(w[1] / unit + 0.5)
    z = math.floor(w[2] / unit + 0.5)
    return float(x), float(y), float(z)


@lean
def put_point(g, a, b, r, t, n, unit, points, named, k):
    """Write the corner of D that lies lowest along n to place k."""
    w, named[k, 0], _ = lowest(g, a, b, r, t, n)
    store3(points, k, on_lattice(w, unit))
    return load3(points, k)


@lean
def put_triangle(points, i, j, k, faces, planes, f):
    """Write triangle f: its corners, outward normal, and the height of its lowest corner along it. False for none."""
    a, b, c = load3(points, i), load3(points, j), load3(points, k)
    n, _ = exact_cross(sub(b, a), sub(c, a))
    length = norm(n)
    if length == 0.0:
        return False
    n = scale(1.0 / length, n)
    faces[f, 0] = i
    faces[f, 1] = j
    faces[f, 2] = k
    store3(planes, f, n)
    planes[f, 3] = min(dot(n, a), dot(n, b), dot(n, c))
    return True


@lean
def spread(g, a, b, r, t, axis, unit, points, named, faces, planes):
    """Four corners of D far apart, as four triangles: (affine dimension of D, normal of D where it is flat).

    A flat D is given a tip on the side away from the origin: that changes neither its distance nor its nearest point.
    """
    w = put_point(g, a, b, r, t, axis, unit, points, named, 0)
    first, second = orthonormal(axis)
    best = 0.0
    for k in range(5):
        d = axis if k == 0 else first if k < 3 else second
        away = norm(sub(put_point(g, a, b, r, t, neg(d) if k % 2 == 0 else d, unit, points, named, 4), w))
        if away > best:
            best = away
            keep(points, named, 4, 1)
    if best == 0.0:
        return 0, axis
    e = sub(load3(points, 1), w)
    first, second = orthonormal(scale(1.0 / norm(e), e))
    m = first
    best = 0.0
    for k in range(4):
        d = first if k < 2 else second
        u = put_point(g, a, b, r, t, neg(d) if k % 2 == 0 else d, unit, points, named, 4)
        n, _ = exact_cross(e, sub(u, w))
        if norm(n) > best:
            best = norm(n)
            m = scale(1.0 / best, n)
            keep(points, named, 4, 2)
    if best == 0.0:
        return 1, first
    best = 0.0
    for k in range(2):
        volume = triple(points, 0, 1, 2, put_point(g, a, b, r, t, neg(m) if k == 0 else m, unit, points, named, 4))
        if abs(volume) > abs(best):
            best = volume
            keep(points, named, 4, 3)
    rank = 3
    if best == 0.0:
        rank = 2
        if dot(m, w) < 0.0:
            m = neg(m)
        middle = scale(1.0 / 3.0, add(w, add(load3(points, 1), load3(points, 2))))
        tip = on_lattice(axpy(TIP, m, middle), 1.0)
        store3(points, 3, tip)
        named[3, 0] = named[0, 0]
        best = triple(points, 0, 1, 2, tip)
    i, j = (1, 2) if best < 0.0 else (2, 1)  # the fourth corner lies behind the first triangle
    put_triangle(points, 0, i, j, faces, planes, 0)
    put_triangle(points, 0, 3, i, faces, planes, 1)
    put_triangle(points, i, 3, j, faces, planes, 2)
    put_triangle(points, j, 3, 0, faces, planes, 3)
    return rank, m


@lean
def keep(points, named, source, place):
    """Copy a point to another place."""
    store3(points, place, load3(points, source))
    named[place, 0] = named[source, 0]


@lean
def foot(points, faces, planes, f, part):
    """(is there one, vector, weights of the corners) of the origin's foot on triangle f (part 0), or on an edge or its end."""
    a, b, c = load3(points, faces[f, 0]), load3(points, faces[f, 1]), load3(points, faces[f, 2])
    n = load3(planes, f)
    if part == 0:
        m, m_low = exact_cross(sub(b, a), sub(c, a))
        s, s_low = exact_cross(b, c)
        wa = exact_dot(m, m_low, s) + dot(m, s_low)
        s, s_low = exact_cross(c, a)
        wb = exact_dot(m, m_low, s) + dot(m, s_low)
        s, s_low = exact_cross(a, b)
        wc = exact_dot(m, m_low, s) + dot(m, s_low)
        total = wa + wb + wc
        if wa < 0.0 or wb < 0.0 or wc < 0.0 or total == 0.0:
            return False, n, 0.0, 0.0, 0.0
        return True, scale(planes[f, 3], n), wa / total, wb / total, wc / total
    if part == 2:
        a, b = b, c
    elif part == 3:
        a, b = c, a
    e = sub(b, a)
    square = dot(e, e)
    along = -exact_dot(e, ZERO, a)
    v, s = a, 0.0
    if along >= square:
        v, s = b, 1.0
    elif along > 0.0:
        m, _ = exact_cross(a, e)
        v, s = scale(1.0 / square, cross(e, m)), along / square  # e x (a x e): its direction is right to rounding
    if part == 1:
        return True, v, 1.0 - s, s, 0.0
    if part == 2:
        return True, v, 0.0, 1.0 - s, s
    return True, v, s, 0.0, 1.0 - s


@lean
def nearest(points, used, faces, planes, count):
    """The vector to the nearest of the triangles, as seen from an origin outside.

    Feet that differ by rounding alone may lie in quite different directions. Of these directions the one is taken along which all
    points lie furthest.
    """
    least = math.inf
    for f in range(count):
        for part in range(4):
            if planes[f, 3] <= ONE:
                found, u, _, _, _ = foot(points, faces, planes, f, part)
                if found:
                    least = min(least, norm(u))
    v = ZERO
    best = -math.inf
    for f in range(count):
        for part in range(4):
            if planes[f, 3] <= ONE:
                found, u, _, _, _ = foot(points, faces, planes, f, part)
                length = norm(u)
                if found and length <= (1.0 + 1e-9) * least + ONE:
                    lowest = math.inf
                    for k in range(used):
                        lowest = min(lowest, dot(u, load3(points, k)))
                    if lowest > best * length:
                        best = lowest / length if length > 0.0 else 0.0
                        v = u
    return v


@lean
def behind_all(points, faces, planes, count):
    """Is the origin behind each triangle? The signs are exact, because rounding hides even the sign of a height near zero."""
    for f in range(count):
        if planes[f, 3] <= ONE and not triple(points, faces[f, 0], faces[f, 1], faces[f, 2], ZERO) < 0.0:
            return False
    return True


@lean
def place_of(points, faces, planes, count, target):
    """Which foot of the origin on the surface is nearest to ``target``: (row of the triangle, weights of its corners)."""
    near = 0
    wa, wb, wc = 1.0, 0.0, 0.0
    least = math.inf
    for f in range(count):
        for part in range(4):
            found, u, x, y, z = foot(points, faces, planes, f, part)
            away = norm(sub(u, target))
            if found and away < least:
                least = away
                near, wa, wb, wc = f, x, y, z
    return near, (wa, wb, wc)


@lean
def grow(points, new, faces, planes, seen, count):
    """Replace the triangles that point ``new`` lies in front of, or in the plane of, by a fan: how many there are then.

    -1 where the point lies in front of none and so adds nothing, or where the outline of those that it sees is not one loop.
    """
    w = load3(points, new)
    news = False
    for f in range(count):
        volume = triple(points, faces[f, 0], faces[f, 1], faces[f, 2], w)
        seen[f] = volume >= 0.0
        news = news or volume > 0.0
    if not news:
        return -1
    end = count
    for f in range(count):
        if not seen[f]:
            continue
        for m in range(3):
            i, j = faces[f, m], faces[f, (m + 1) % 3]
            if joins_seen(faces, seen, count, j, i):
                continue
            for h in range(count, end):
                if faces[h, 0] == i:
                    return -1
            if end == len(faces) or not put_triangle(points, i, j, new, faces, planes, end):
                return -1
            end += 1
    kept = 0
    for f in range(end):
        if f >= count or not seen[f]:
            for m in range(3):
                faces[kept, m] = faces[f, m]
            for m in range(4):
                planes[kept, m] = planes[f, m]
            kept += 1
    return kept


@lean
def joins_seen(faces, seen, count, i, j):
    """Does the edge from point i to j belong to a triangle that is seen?"""
    for f in range(count):
        if seen[f]:
            for m in range(3):
                if faces[f, m] == i and faces[f, (m + 1) % 3] == j:
                    return True
    return False


@inner
def careful(g, a, b, r, t, axis, size):
    """(low, high, n, p, q, names, turns) of the polytopes a and b, B standing at (r, t) in A's frame; see the module.

    Unrounded bounds, unit normal and witness points in A's frame. ``axis``: unit vector to begin with. names: the corners
    of D that the points lie between; none where D is a segment or a point: n is then a normal of it, high is infinite, and the
    points mean nothing.
    """
    points, named = np.empty((MOST_CORNERS, 3)), np.empty((MOST_CORNERS, 1), np.int64)
    faces, planes, seen = (
        np.empty((3 * MOST_CORNERS, 3), np.int64),
        np.empty((3 * MOST_CORNERS, 4)),
        np.empty(3 * MOST_CORNERS, np.bool_),
    )
    unit = math.ldexp(1.0, math.frexp(size)[1] - 52)
    rank, n = spread(g, a, b, r, t, axis, unit, points, named, faces, planes)
    low, high = separation(g, a, b, r, t, n), math.inf
    if rank < 2:
        other = separation(g, a, b, r, t, neg(n))
        if other > low:
            low, n = other, neg(n)
        return low, high, n, ZERO, ZERO, NO_NAMES, 1
    count, used, turns = 4, 4, 0
    while used < MOST_CORNERS:
        turns += 1
        near = 0
        for f in range(1, count):
            if planes[f, 3] < planes[near, 3]:
                near = f
        m = neg(load3(planes, near))
        high = -planes[near, 3] * unit
        if not behind_all(points, faces, planes, count):
            v = nearest(points, used, faces, planes, count)
            high = norm(v) * unit
            if norm(v) > NO_DIRECTION:
                m = scale(1.0 / norm(v), v)
        height = separation(g, a, b, r, t, m)
        if height > low:
            low, n = height, m
        if high - low <= 4.0 * EPS * size:
            break
        w = put_point(g, a, b, r, t, m, unit, points, named, used)
        known = False
        for k in range(used):
            known = known or points[k, 0] == w[0] and points[k, 1] == w[1] and points[k, 2] == w[2]
        grown = -1 if known else grow(points, used, faces, planes, seen, count)
        if grown < 0:
            break
        count = grown
        used += 1
    f, weights = place_of(points, faces, planes, count, scale(low / unit, n))
    i, j, k = named[faces[f, 0], 0], named[faces[f, 1], 0], named[faces[f, 2], 0]
    return low, high, n, *mixture(g, a, b, r, t, i, j, k, weights), turns
