"""Separating axes of two polytopes: over the faces of both and over pairs of edges.

Over all unit n, the separation h(n) = min over B of n.x - max over A of n.x is greatest, where it is negative, at the
normal of a face of the Minkowski difference B - A: a face of A or B, or a pair of edges. So for overlapping polytopes
the greatest separation is the signed distance; for others it is a lower bound of it.

Everything is in A's frame; B stands there with rotation r and translation t. Separations that leave are those of the
whole bodies along the axis, not of the two edges alone, so that an axis spoiled by rounding can not win.

Both functions return (face_a, sep_a, face_b, sep_b, sep_edge, normal_edge, edges): the best face of each, the best
pair of edges as vertex rows (a0, a1, b0, b1); -inf where there is none.
"""

from __future__ import annotations

import math

import numpy as np

from collision.jit import inner, lean, tight
from collision.linalg import add, axpy, cross, dot, load3, mul, mul_t, neg, norm, orthonormal, scale, sub
from collision.support import extent

PARALLEL = 1e-14  # sine of the angle between edges, below which they span no axis
NO_EDGES = (-1, -1, -1, -1)


@tight
def separation_here(g, a, b, r, t, n):
    """`separation`, without the call, where every nanosecond counts."""
    return dot(n, t) - extent(g, b, neg(mul_t(r, n))) - extent(g, a, n)


@lean
def separation(g, a, b, r, t, n):
    """h(n): how far the cores are apart along the unit vector n; never more than their signed distance."""
    return separation_here(g, a, b, r, t, n)


@tight
def sat_boxes(g, a, b, r, t):
    """The fifteen axes of two boxes, in closed form."""
    h = (g.size[a, 0], g.size[a, 1], g.size[a, 2])
    k = (g.size[b, 0], g.size[b, 1], g.size[b, 2])
    tb = mul_t(r, t)
    face_a, face_b = -1, -1
    sep_a, sep_b, sep_edge = -math.inf, -math.inf, -math.inf
    for i in range(3):
        s = abs(t[i]) - h[i] - (k[0] * abs(r[3 * i]) + k[1] * abs(r[3 * i + 1]) + k[2] * abs(r[3 * i + 2]))
        if s > sep_a:
            sep_a = s
            face_a = g.face[a, 0] + 2 * i + (1 if t[i] >= 0.0 else 0)
    for j in range(3):
        s = abs(tb[j]) - k[j] - (h[0] * abs(r[j]) + h[1] * abs(r[3 + j]) + h[2] * abs(r[6 + j]))
        if s > sep_b:
            sep_b = s
            face_b = g.face[b, 0] + 2 * j + (0 if tb[j] >= 0.0 else 1)
    normal = (0.0, 0.0, 0.0)
    best_i, best_j = -1, -1
    for i in range(3):
        for j in range(3):
            x, y, z = r[j], r[3 + j], r[6 + j]  # e_i x this axis of B: perpendicular to e_i whatever the rounding
            if i == 0:
                n = (0.0, -z, y)
            elif i == 1:
                n = (z, 0.0, -x)
            else:
                n = (-y, x, 0.0)
            sine = norm(n)
            if sine <= PARALLEL:
                continue
            n = scale(1.0 / sine, n)
            along = dot(n, t)
            nb = mul_t(r, n)
            reach = h[0] * abs(n[0]) + h[1] * abs(n[1]) + h[2] * abs(n[2])
            reach += k[0] * abs(nb[0]) + k[1] * abs(nb[1]) + k[2] * abs(nb[2])
            s = abs(along) - reach
            if s > sep_edge:
                sep_edge = s
                normal = n if along >= 0.0 else neg(n)
                best_i = i
                best_j = j
    edges = NO_EDGES
    if best_i >= 0:
        nb = mul_t(r, normal)
        a0 = g.vertex[a, 0]
        b0 = g.vertex[b, 0]
        for i in range(3):
            if i != best_i and normal[i] > 0.0:
                a0 += 1 << i
            if i != best_j and nb[i] < 0.0:
                b0 += 1 << i
        edges = (a0, a0 + (1 << best_i), b0, b0 + (1 << best_j))
    return face_a, sep_a, face_b, sep_b, sep_edge, normal, edges


@inner
def sat_polytopes(g, a, b, r, t, axis):
    """All axes of two polytopes of any rank; ``axis`` serves where points coincide and no axis is left.

    For solids only those pairs of edges are tried whose arcs cross on the Gauss map (Gregorius, GDC 2013).
    """
    face_a, face_b = -1, -1
    sep_a, sep_b, sep_edge = -math.inf, -math.inf, -math.inf
    for f in range(g.face[a, 0], g.face[a, 1]):
        n = load3(g.normals, f)
        s = dot(n, t) - extent(g, b, neg(mul_t(r, n))) - g.offsets[f]
        if s > sep_a:
            sep_a = s
            face_a = f
    tb = mul_t(r, t)
    for f in range(g.face[b, 0], g.face[b, 1]):
        n = load3(g.normals, f)
        s = -extent(g, a, neg(mul(r, n))) - dot(n, tb) - g.offsets[f]
        if s > sep_b:
            sep_b = s
            face_b = f
    if face_a >= 0:
        sep_a = separation(g, a, b, r, t, load3(g.normals, face_a))
    if face_b >= 0:
        sep_b = separation(g, a, b, r, t, neg(mul(r, load3(g.normals, face_b))))

    normal = (0.0, 0.0, 0.0)
    edges = NO_EDGES
    near = 1e-12 * (g.radius[a] + g.radius[b] + norm(t))
    solid = g.rank[a] == 3 and g.rank[b] == 3
    first = g.edge[b, 0]
    table = np.empty((g.edge[b, 1] - first, 12))  # edges of B in A's frame: middle, direction, -normals of its faces
    for e in range(first, g.edge[b, 1]):
        p = load3(g.vertices, g.edges[e, 0])
        q = load3(g.vertices, g.edges[e, 1])
        middle = add(mul(r, scale(0.5, add(p, q))), t)
        d = mul(r, sub(q, p))
        c0, c1 = d, d
        if solid:
            c0 = neg(mul(r, load3(g.normals, g.edges[e, 2])))
            c1 = neg(mul(r, load3(g.normals, g.edges[e, 3])))
        for i in range(3):
            table[e - first, i] = middle[i]
            table[e - first, 3 + i] = d[i]
            table[e - first, 6 + i] = c0[i]
            table[e - first, 9 + i] = c1[i]
    for e in range(g.edge[a, 0], g.edge[a, 1]):
        pa = load3(g.vertices, g.edges[e, 0])
        da = sub(load3(g.vertices, g.edges[e, 1]), pa)
        la = norm(da)
        a0, a1 = da, da
        if solid:
            a0 = load3(g.normals, g.edges[e, 2])
            a1 = load3(g.normals, g.edges[e, 3])
        for k in range(table.shape[0]):
            db = (table[k, 3], table[k, 4], table[k, 5])
            if solid:
                c0 = dot((table[k, 6], table[k, 7], table[k, 8]), da)
                c1 = dot((table[k, 9], table[k, 10], table[k, 11]), da)
                if c0 * c1 >= 0.0:
                    continue
                d1 = dot(a1, db)
                if dot(a0, db) * d1 >= 0.0 or c0 * d1 <= 0.0:
                    continue
            n = cross(da, db)
            n = axpy(-dot(n, da) / (la * la), da, n)  # nearly parallel edges: exact across A's edge at least
            sine = norm(n)
            if sine <= PARALLEL * la * norm(db):
                continue
            n = scale(1.0 / sine, n)
            turns = 2
            if solid:
                turns = 1
                if dot(n, a0) + dot(n, a1) < 0.0:
                    n = neg(n)
            between = dot(n, sub((table[k, 0], table[k, 1], table[k, 2]), pa))
            if turns == 1 and between <= sep_edge:
                continue
            for _ in range(turns):
                s = separation(g, a, b, r, t, n)
                if s > sep_edge and between <= s + near:  # both edges lie on the support planes
                    sep_edge = s
                    normal = n
                    edges = (g.edges[e, 0], g.edges[e, 1], g.edges[first + k, 0], g.edges[first + k, 1])
                n = neg(n)
                between = -between
    if face_a < 0 and face_b < 0 and sep_edge == -math.inf:
        # points and segments in one line: any normal of the line; the line itself where they are apart
        n = axis
        d = axis
        if g.edge[a, 1] > g.edge[a, 0]:
            e = g.edge[a, 0]
            d = sub(load3(g.vertices, g.edges[e, 1]), load3(g.vertices, g.edges[e, 0]))
            n, _ = orthonormal(scale(1.0 / norm(d), d))
        elif g.edge[b, 1] > g.edge[b, 0]:
            e = g.edge[b, 0]
            d = mul(r, sub(load3(g.vertices, g.edges[e, 1]), load3(g.vertices, g.edges[e, 0])))
            n, _ = orthonormal(scale(1.0 / norm(d), d))
        normal = n
        sep_edge = separation(g, a, b, r, t, n)
    return face_a, sep_a, face_b, sep_b, sep_edge, normal, edges
