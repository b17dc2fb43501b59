"""Penetration depth of two overlapping polytopes: the expanding polytope algorithm (van den Bergen 2001).

A polytope inside the Minkowski difference B - A grows, always at the face nearest to the origin, until that face lies
on the boundary. Distances of faces are signed, so the first tetrahedron need not hold the origin, and bodies that do
not overlap after all give a positive separation.

Every face is bounded by two numbers: the support value along its normal is a separation that truly exists (lower
bound of the signed distance), and the nearest face of the inner polytope can not be beaten (upper bound).
"""

from __future__ import annotations

import math

import numpy as np

from collision.gjk import minkowski
from collision.jit import inner, lean
from collision.linalg import cross, dot, load3, neg, norm, orthonormal, scale, store3, sub
from collision.support import EPS

MOST_POINTS = 160
MOST_FACES = 1000
NO_SIMPLEX = (0, 0, 0, 0, 0, 0)


@lean
def set_face(points, faces, planes, f, i, j, k):
    """Write face f with corners i, j, k, counter-clockwise from outside. False for a sliver."""
    a = load3(points, i)
    e = sub(load3(points, j), a)
    d = sub(load3(points, k), a)
    n = cross(e, d)
    length = norm(n)
    faces[f, 0] = i
    faces[f, 1] = j
    faces[f, 2] = k
    if length <= 1e-13 * norm(e) * norm(d):
        return False
    n = scale(1.0 / length, n)
    store3(planes, f, n)
    planes[f, 3] = dot(n, a)
    return True


@lean
def add_point(g, a, b, r, t, n, points, rows, k):
    """Support point of B - A along n, written to place k; its height along n."""
    w, ia, ib = minkowski(g, a, b, r, t, neg(n))
    store3(points, k, w)
    rows[k, 0] = ia
    rows[k, 1] = ib
    return dot(n, w)


@lean
def first_tetrahedron(g, a, b, r, t, axis, size, points, rows, faces, planes):
    """Four support points far apart; False where B - A is flat."""
    flat = 1e-9 * size
    add_point(g, a, b, r, t, neg(axis), points, rows, 0)
    add_point(g, a, b, r, t, axis, points, rows, 1)
    w = load3(points, 0)
    e = sub(load3(points, 1), w)
    if norm(e) <= flat:
        return False
    s, u = orthonormal(scale(1.0 / norm(e), e))
    found = False
    for k in range(4):
        d = s
        if k == 1:
            d = neg(s)
        elif k == 2:
            d = u
        elif k == 3:
            d = neg(u)
        if add_point(g, a, b, r, t, d, points, rows, 2) - dot(d, w) > flat:
            found = True
            break
    if not found:
        return False
    n = cross(e, sub(load3(points, 2), w))
    n = scale(1.0 / norm(n), n)
    if dot(n, w) > 0.0:  # towards the origin first
        n = neg(n)
    if add_point(g, a, b, r, t, n, points, rows, 3) - dot(n, w) <= flat:
        n = neg(n)
        if add_point(g, a, b, r, t, n, points, rows, 3) - dot(n, w) <= flat:
            return False
    i, j = 1, 2
    if dot(cross(e, sub(load3(points, 2), w)), sub(load3(points, 3), w)) > 0.0:
        i, j = 2, 1
    good = set_face(points, faces, planes, 0, 0, i, j)
    good = set_face(points, faces, planes, 1, 0, 3, i) and good
    good = set_face(points, faces, planes, 2, i, 3, j) and good
    good = set_face(points, faces, planes, 3, j, 3, 0) and good
    # neighbours across the edges (0-1, 1-2, 2-0) of each face
    for f in range(4):
        for m in range(3):
            p, q = faces[f, m], faces[f, (m + 1) % 3]
            for h in range(4):
                for l in range(3):  # noqa: E741
                    if faces[h, l] == q and faces[h, (l + 1) % 3] == p:
                        faces[f, 3 + m] = h
    return good


@lean
def expand(points, faces, planes, count, near, new, link, todo, rounding):
    """Replace all faces that see point `new` by a fan from their outline to it.

    ``near``: a face that sees it. Returns the number of face rows, or -1 where the outline is not one closed loop.
    """
    w = load3(points, new)
    seen = 1
    todo[0] = near
    faces[near, 6] = new  # the mark of faces seen
    done = 0
    edges = 0
    start = count
    first = -1
    while done < seen:
        f = todo[done]
        done += 1
        for m in range(3):
            h = faces[f, 3 + m]
            if faces[h, 6] == new:
                continue
            if dot(load3(planes, h), w) - planes[h, 3] > rounding:
                faces[h, 6] = new
                todo[seen] = h
                seen += 1
                continue
            p, q = faces[f, m], faces[f, (m + 1) % 3]
            if count >= MOST_FACES or link[p, 0] == new:
                return -1
            if not set_face(points, faces, planes, count, p, q, new):
                return -1
            faces[count, 3] = h
            faces[count, 6] = -1
            for i in range(3):
                if faces[h, i] == q and faces[h, (i + 1) % 3] == p:
                    faces[h, 3 + i] = count
            link[p, 0] = new
            link[p, 1] = count
            first = p
            edges += 1
            count += 1
    if edges != seen + 2:  # Euler: a disc of triangles without inner corners, else something was cut off wrongly
        return -1
    p = first
    for _ in range(edges):
        f = link[p, 1]
        q = faces[f, 1]
        if link[q, 0] != new:
            return -1
        faces[f, 4] = link[q, 1]
        faces[link[q, 1], 5] = f
        p = q
    if p != first:
        return -1
    for k in range(done):
        planes[todo[k], 3] = math.inf
    return count if count > start else -1


@inner
def epa(g, a, b, r, t, axis, size):
    """(sound, normal, low, high, rows, iterations) of the signed distance of a and b; see the module.

    ``axis``: unit vector to start from. rows: vertex rows (a0, b0, a1, b1, a2, b2) of the nearest face. Where not
    sound (a flat difference, or rounding spoiled the polytope) low still holds for the normal, high does not.
    """
    points = np.empty((MOST_POINTS, 3))
    rows = np.empty((MOST_POINTS, 2), np.int64)
    faces = np.empty((MOST_FACES, 7), np.int64)
    planes = np.empty((MOST_FACES, 4))
    link = np.full((MOST_POINTS, 2), -1, np.int64)
    todo = np.empty(MOST_FACES, np.int64)
    best = axis
    low = -math.inf
    high = math.inf
    simplex = NO_SIMPLEX
    if not first_tetrahedron(g, a, b, r, t, axis, size, points, rows, faces, planes):
        return False, best, low, high, simplex, 0
    for f in range(4):
        faces[f, 6] = -1
    used = 4
    count = 4
    iterations = 0
    rounding = 4.0 * EPS * size
    while used < MOST_POINTS:
        iterations += 1
        near = 0
        for f in range(count):
            if planes[f, 3] < planes[near, 3]:
                near = f
        n = load3(planes, near)
        reach = planes[near, 3]
        high = -reach
        height = add_point(g, a, b, r, t, n, points, rows, used)
        i, j, k = faces[near, 0], faces[near, 1], faces[near, 2]
        if -height > low:
            low = -height
            best = neg(n)
            simplex = (rows[i, 0], rows[i, 1], rows[j, 0], rows[j, 1], rows[k, 0], rows[k, 1])
        if height - reach <= rounding or high - low <= rounding:
            best = neg(n)
            simplex = (rows[i, 0], rows[i, 1], rows[j, 0], rows[j, 1], rows[k, 0], rows[k, 1])
            return True, best, -height, high, simplex, iterations
        count = expand(points, faces, planes, count, near, used, link, todo, rounding)
        if count < 0:
            return False, best, low, high, simplex, iterations
        used += 1
    return False, best, low, high, simplex, iterations
