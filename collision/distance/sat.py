"""Separations along an axis, and the separating axes of two boxes.

Over all unit n, the separation h(n) = min over B of n.x - max over A of n.x is greatest, where it is negative, at the
normal of a face of the Minkowski difference B - A: a face of A or B, or a pair of edges. So for overlapping polytopes
the greatest separation is the signed distance; for others it is a lower bound of it. Of two boxes there are fifteen such
normals, known in closed form.

Everything is in A's frame; B stands there with rotation r and translation t. Separations that leave are those of the
whole bodies along the axis, not of the two edges alone, so that an axis spoiled by rounding can not win.
"""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import lean, tight
from tumble.collision.linalg import dot, mul_t, neg, norm, scale
from tumble.collision.shapes.support_points import extent

PARALLEL_EDGES = 1e-14  # sine of the angle between edges, below which they span no axis
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
    """The axes of two boxes: (face_a, sep_a, face_b, sep_b, sep_edge, normal_edge, edges).

    The best face of each, and the best pair of edges as vertex rows (a0, a1, b0, b1); -inf where there is none.
    """
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
            if sine <= PARALLEL_EDGES:
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
