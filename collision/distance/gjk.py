"""Distance of two convex cores by the algorithm of Gilbert, Johnson and Keerthi (1988).

Everything is in A's frame; B stands there with rotation r and translation t. The search runs on the Minkowski
difference D = B - A, whose point closest to the origin, v, gives the distance |v| and the normal v/|v| from A to B.
Every support plane gives a lower bound n.w, so the loop stops on the duality gap |v| - n.w, on a support point seen
before, or as soon as |v| no longer falls (but for four steps that turn it): it can not cycle.
"""

from __future__ import annotations

import math

from collision.kernels.jit import lean, tight
from collision.linalg import add, axpy, cross, dot, mul, mul_t, neg, norm, scale, sub
from collision.shapes.support_points import EPS, core_vertex, furthest, is_polytope, support

APART, INSIDE, BEYOND = range(3)
NO_START = (0, 0, 0, 0, 0, 0, 0, 0)
LIMIT = 128  # iterations; the worst seen in fuzzing is far below


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


@tight
def minkowski(g, a, b, r, t, n):
    """Support point of B - A against n (where n.w is least), and the rows of its two vertices."""
    ia, p = support(g, a, n)
    ib, q = support(g, b, neg(mul_t(r, n)))
    return sub(add(mul(r, q), t), p), ia, ib


@lean
def closely(g, a, b, r, t, n):
    """`minkowski` by looking at every vertex, for searches that the quick way, which is off by rounding, can not end."""
    ia = furthest(g.vertices, g.vertex[a, 0], g.vertex[a, 1], n) if is_polytope(g.kind[a]) else support(g, a, n)[0]
    d = neg(mul_t(r, n))
    ib = furthest(g.vertices, g.vertex[b, 0], g.vertex[b, 1], d) if is_polytope(g.kind[b]) else support(g, b, d)[0]
    return difference(g, a, b, r, t, ia, ib), ia, ib


@tight
def difference(g, a, b, r, t, ia, ib):
    """The corner of B - A that two vertices make."""
    return sub(add(mul(r, core_vertex(g, b, ib)), t), core_vertex(g, a, ia))


@tight
def gjk(g, a, b, r, t, axis, limit, size, known, start, close):
    """Search for the point of B - A closest to the origin.

    ``axis``: a guess of the normal, not zero; ``limit``: stop as soon as the cores are certainly further apart;
    ``size``: length that rounding is measured by [m]. ``start``: rows of ``known`` corners where an earlier search of
    this pair ended, instead of the axis; NO_START for none. ``close``: look at every vertex.

    Returns (state, v, lower, count, rows, weights, iterations): lower is the height of the support point along v. rows
    are (a0, b0, a1, b1, a2, b2, a3, b3), the vertex rows of the ``count`` corners of the final simplex. INSIDE means
    that the simplex holds the origin (four corners), or comes too close to it for the direction of v to mean anything:
    the caller must decide by other means.
    """
    if known == 0:
        w0, ia0, ib0 = minkowski(g, a, b, r, t, axis)
    else:
        ia0, ib0 = start[0], start[1]
        w0 = difference(g, a, b, r, t, ia0, ib0)
    w1, ia1, ib1 = w0, ia0, ib0
    w2, ia2, ib2 = w0, ia0, ib0
    l0, l1, l2 = 1.0, 0.0, 0.0
    count = 1
    if known == 3:
        ia1, ib1 = start[2], start[3]
        w1 = difference(g, a, b, r, t, ia1, ib1)
        count = 2
    v = w0
    least = dot(v, v)
    fourth = -1, -1
    stalled = 0
    lower = -math.inf
    state = APART
    tiny = 16.0 * EPS * size
    iterations = 0
    while iterations < LIMIT:
        iterations += 1
        length = norm(v)
        if known > 1:  # the last corner of the earlier simplex comes in like a new one
            ia, ib = (start[2], start[3]) if known == 2 else (start[4], start[5])
            w = difference(g, a, b, r, t, ia, ib)
            known = 0
            least = math.inf
            iterations = 0
        else:
            if length <= tiny:
                state = INSIDE
                break
            if close:
                w, ia, ib = closely(g, a, b, r, t, v)
            else:
                w, ia, ib = minkowski(g, a, b, r, t, v)
            lower = dot(v, w) / length
            if lower > limit:
                state = BEYOND
                break
            if length - lower <= 2.0 * EPS * size:
                break
        if ia == ia0 and ib == ib0 or count > 1 and ia == ia1 and ib == ib1 or count > 2 and ia == ia2 and ib == ib2:
            break
        m0, m1, m2, m3 = 0.0, 0.0, 0.0, 0.0
        inside = False
        if count == 1:
            u, m0, m3 = closest_segment(w0, w)
        elif count == 2:
            u, m0, m1, m3 = closest_triangle(w0, w1, w)
        else:
            inside, u, m0, m1, m2, m3 = closest_tetrahedron(w0, w1, w2, w, size)
        if inside:
            state = INSIDE
            fourth = ia, ib
            count = 4
            break
        square = dot(u, u)
        if not square <= least * (1.0 + 4.0 * EPS):
            break
        if square >= least:  # no gain but that of direction, from the better support point: a few such steps, no cycle
            stalled += 1
            if stalled > 4:
                break
        least = square
        v = u
        count = 0
        if m0 > 0.0:
            l0 = m0
            count = 1
        if m1 > 0.0:
            if count == 0:
                w0, ia0, ib0, l0 = w1, ia1, ib1, m1
            else:
                l1 = m1
            count += 1
        if m2 > 0.0:
            if count == 0:
                w0, ia0, ib0, l0 = w2, ia2, ib2, m2
            elif count == 1:
                w1, ia1, ib1, l1 = w2, ia2, ib2, m2
            else:
                l2 = m2
            count += 1
        if m3 > 0.0:
            if count == 0:
                w0, ia0, ib0, l0 = w, ia, ib, m3
            elif count == 1:
                w1, ia1, ib1, l1 = w, ia, ib, m3
            else:
                w2, ia2, ib2, l2 = w, ia, ib, m3
            count += 1
    return state, v, lower, count, (ia0, ib0, ia1, ib1, ia2, ib2, *fourth), (l0, l1, l2), iterations


@tight
def witnesses(g, a, b, r, t, count, rows, weights):
    """The points of A and of B that the weights of a simplex stand for, in A's frame."""
    p = scale(weights[0], core_vertex(g, a, rows[0]))
    q = scale(weights[0], core_vertex(g, b, rows[1]))
    if count > 1:
        p = axpy(weights[1], core_vertex(g, a, rows[2]), p)
        q = axpy(weights[1], core_vertex(g, b, rows[3]), q)
    if count > 2:
        p = axpy(weights[2], core_vertex(g, a, rows[4]), p)
        q = axpy(weights[2], core_vertex(g, b, rows[5]), q)
    return p, add(mul(r, q), t)
