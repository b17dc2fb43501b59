"""Penetration depth of two overlapping polytopes: the expanding polytope algorithm (van den Bergen 2001).

A polytope inside the Minkowski difference B - A grows, always at the face nearest to the origin, until that face lies
on the boundary. Distances of faces are signed, so the first tetrahedron need not hold the origin, and bodies that do
not overlap after all give a positive separation.

Every face is bounded by two numbers: the support value along its normal is a separation that truly exists (lower
bound of the signed distance), and the nearest face of the inner polytope can not be beaten (upper bound).

The polytope stands in two tables. work (7, MOST_FACES): rows 0-2 normals, 3 heights of the faces' lowest corners; 4-6 points. net
(13, MOST_FACES): rows 0-2 corners of each face, counter-clockwise from outside; 3-5 the faces across the edges 0-1, 1-2,
2-0; 6 the last point that saw the face; 7 a list of faces to visit; 8, 9 vertex rows of A and B of each point; 10 the
face of the fan whose outer edge starts at this point, 11 the point of that fan; 12 free faces.
"""

from __future__ import annotations

import math

from collision.distance.gjk import difference, minkowski
from collision.kernels.jit import lean, stack_table, tight
from collision.linalg import cross, dot, neg, norm, orthonormal, scale, sub
from collision.shapes.support_points import EPS

MOST_POINTS = 160
MOST_FACES = 2 * MOST_POINTS
float_table = stack_table(7, MOST_FACES)
whole_table = stack_table(13, MOST_FACES, "int64")
NO_SIMPLEX = (0, 0, 0, 0, 0, 0)


@lean
def column(work, k, row):
    """Three numbers of a column: a normal (row 0) or a point (row 4)."""
    return work[row, k], work[row + 1, k], work[row + 2, k]


@lean
def set_column(work, k, row, v):
    """Write three numbers of a column."""
    work[row, k] = v[0]
    work[row + 1, k] = v[1]
    work[row + 2, k] = v[2]


@tight
def set_face(work, net, f, i, j, k):
    """Write face f with corners i, j, k, counter-clockwise from outside. False for a sliver."""
    a = column(work, i, 4)
    b = column(work, j, 4)
    c = column(work, k, 4)
    e, d = sub(b, a), sub(c, a)
    n = cross(e, d)
    square = dot(n, n)
    net[0, f] = i
    net[1, f] = j
    net[2, f] = k
    net[6, f] = -1
    if not square > 1e-26 * dot(e, e) * dot(d, d):
        return False
    n = scale(1.0 / math.sqrt(square), n)
    set_column(work, f, 0, n)
    # the lowest corner: whatever the normal of a sliver lost, the face is no closer to the origin than that
    work[3, f] = min(dot(n, a), dot(n, b), dot(n, c))
    return True


@lean
def add_point(g, a, b, r, t, n, work, net, k):
    """Support point of B - A along n, written to place k; its height along n."""
    w, ia, ib = minkowski(g, a, b, r, t, neg(n))
    set_column(work, k, 4, w)
    net[8, k] = ia
    net[9, k] = ib
    return dot(n, w)


@lean
def spread_points(g, a, b, r, t, axis, size, work, net):
    """Four support points far apart; False where B - A is flat."""
    flat = 1e-9 * size
    add_point(g, a, b, r, t, neg(axis), work, net, 0)
    add_point(g, a, b, r, t, axis, work, net, 1)
    w = column(work, 0, 4)
    e = sub(column(work, 1, 4), w)
    if norm(e) <= flat:
        return False
    s, u = orthonormal(scale(1.0 / norm(e), e))
    found = False
    for k in range(4):
        d = s if k < 2 else u
        if k % 2 == 1:
            d = neg(d)
        if add_point(g, a, b, r, t, d, work, net, 2) - dot(d, w) > flat:
            found = True
            break
    if not found:
        return False
    n = cross(e, sub(column(work, 2, 4), w))
    n = scale(1.0 / norm(n), n)
    if dot(n, w) > 0.0:  # towards the origin first
        n = neg(n)
    for _ in range(2):
        if add_point(g, a, b, r, t, n, work, net, 3) - dot(n, w) > flat:
            return True
        n = neg(n)
    return False


@lean
def first_tetrahedron(g, a, b, r, t, axis, size, start, work, net):
    """Faces of the simplex ``start``, or of four points far apart where there is none; False where B - A is flat."""
    if start[0] >= 0:
        for k in range(4):
            net[8, k] = start[2 * k]
            net[9, k] = start[2 * k + 1]
            set_column(work, k, 4, difference(g, a, b, r, t, start[2 * k], start[2 * k + 1]))
    elif not spread_points(g, a, b, r, t, axis, size, work, net):
        return False
    w = column(work, 0, 4)
    n = cross(sub(column(work, 1, 4), w), sub(column(work, 2, 4), w))
    i, j = 1, 2
    height = dot(n, sub(column(work, 3, 4), w))
    if not abs(height) > 64.0 * EPS * size * norm(n):  # too flat to have an inside
        return False
    if height > 0.0:
        i, j = 2, 1
    corners = ((0, i, j), (0, 3, i), (i, 3, j), (j, 3, 0))
    around = ((1, 2, 3), (3, 2, 0), (1, 3, 0), (2, 1, 0))
    good = True
    for f in range(4):
        if not set_face(work, net, f, corners[f][0], corners[f][1], corners[f][2]):
            good = False
        for m in range(3):
            net[3 + m, f] = around[f][m]
    return good


@lean
def expand(work, net, count, near, new, rounding):
    """Replace all faces that see point ``new`` by a fan from their outline to it.

    ``near``: a face that sees it. The fan takes the places of the faces that it replaces, and two more. Returns the number
    of faces, or -1 where the outline is not one closed loop.
    """
    w = column(work, new, 4)
    seen = 1
    net[7, 0] = near
    net[6, near] = new
    done = 0
    edges = 0
    first = -1
    # faces that see the point; the outline goes to rows 10 and 11 (by the point that an edge starts at) and 12 (its face)
    while done < seen:
        f = net[7, done]
        done += 1
        for m in range(3):
            h = net[3 + m, f]
            if net[6, h] == new:
                continue
            if dot(column(work, h, 0), w) - work[3, h] > rounding:
                net[6, h] = new
                net[7, seen] = h
                seen += 1
                continue
            p = net[m, f]
            if net[11, p] == new:
                return -1
            net[11, p] = new
            net[10, p] = h
            net[12, p] = net[(m + 1) % 3, f]
            first = p
            edges += 1
    if edges != seen + 2:  # Euler: a disc of triangles without inner corners, else something was cut off wrongly
        return -1
    if count + 2 > MOST_FACES:
        return -1
    p = first
    last = net[7, 0] if edges > 0 else -1
    start = last
    for k in range(edges):
        q = net[12, p]
        if net[11, q] != new:
            return -1
        f = net[7, k] if k < seen else count + k - seen
        h = net[10, p]
        if not set_face(work, net, f, p, q, new):
            return -1
        net[3, f] = h
        for i in range(3):
            if net[i, h] == q:
                net[3 + i, h] = f
        if k > 0:
            net[5, f] = last
            net[4, last] = f
        last = f
        p = q
    if p != first:
        return -1
    net[5, start] = last
    net[4, last] = start
    return count + 2


@lean
def epa(g, a, b, r, t, axis, size, start):
    """(sound, normal, low, high, rows, iterations) of the signed distance of a and b; see the module.

    ``axis``: unit vector to start from; ``start``: rows of four corners about the origin to start from instead, -1 for
    none. rows: vertex rows (a0, b0, a1, b1, a2, b2) of the nearest face. Where not sound (a flat difference, or rounding
    spoiled the polytope) low still holds for the normal, high does not.
    """
    work = float_table()
    net = whole_table()
    for k in range(MOST_POINTS):
        net[11, k] = -1
    best = axis
    low = -math.inf
    high = math.inf
    simplex = NO_SIMPLEX
    if not first_tetrahedron(g, a, b, r, t, axis, size, start, work, net):
        return False, best, low, high, simplex, 0
    used = 4
    count = 4
    iterations = 0
    rounding = 4.0 * EPS * size
    while used < MOST_POINTS:
        iterations += 1
        near = nearest(work, count)
        n = column(work, near, 0)
        reach = work[3, near]
        high = -reach
        w, ia, ib = minkowski(g, a, b, r, t, neg(n))
        height = dot(n, w)
        i, j, k = net[0, near], net[1, near], net[2, near]
        done = height - reach <= rounding
        for m in (i, j, k):
            done = done or (net[8, m] == ia and net[9, m] == ib)
        if done or -height > low:
            low = -height
            best = neg(n)
            simplex = (net[8, i], net[9, i], net[8, j], net[9, j], net[8, k], net[9, k])
        if done or high - low <= rounding:
            return True, best, low, high, simplex, iterations
        set_column(work, used, 4, w)
        net[8, used] = ia
        net[9, used] = ib
        count = expand(work, net, count, near, used, rounding)
        if count < 0:
            return False, best, low, high, simplex, iterations
        used += 1
    return False, best, low, high, simplex, iterations


@tight
def nearest(work, count):
    """The face with the least offset."""
    near = 0
    least = work[3, 0]
    for f in range(1, count):
        if work[3, f] < least:
            least = work[3, f]
            near = f
    return near
