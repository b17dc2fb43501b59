"""The greatest separation over all directions, by branch and bound: the depth of bodies that overlap, proven.

The sphere of directions is cut into triangles. On the triangle with corners n_i every point w of the Minkowski difference
B - A bounds the separation: s(n) <= n.w, and n.w is largest at a corner. The best mixture w of the support points of the
three corners is the value of a 3 x 3 matrix game. Triangles that can not beat the best direction so far are left
out, and the others are halved across their longest edge, level by level. Each bound holds for its triangle alone, whatever its
neighbours are, also for flat and degenerate bodies.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.kernels.jit import inner, lean
from tumble.collision.linalg import add, at, cross, dot, mul, mul_t, neg, norm, orthonormal, scale, set_at, sub, transpose
from tumble.collision.pairs.flats import far_points
from tumble.collision.pairs.meridians import askew, off_axis, round_directions

MOST_SPLITS = 60  # corners are then 1e-9 rad apart
MOST_DIRECTION_TRIANGLES = 1024  # of directions, that are still to be split
RIPPLE = 1e-2  # of the size: where a ring of directions ripples by less it is searched by meridians
TRIANGLE_COLUMNS = 18  # of a row: three directions, three support points


@lean
def difference_point(g, a, b, r, t, n):
    """Point of B - A with the least n.w."""
    p, q, _, _ = far_points(g, a, b, r, t, n)
    return sub(q, p)


@lean
def mixed(x, y, f):
    """max over three rows of x + f (y - x)."""
    return max(x[0] + f * (y[0] - x[0]), x[1] + f * (y[1] - x[1]), x[2] + f * (y[2] - x[2]))


@lean
def game_pair(best, x, y):
    """The least over mixtures of two columns of the largest entry; it is at a crossing of two of the three lines."""
    d = sub(y, x)
    for i in range(3):
        j = (i + 1) % 3
        slope = d[i] - d[j]
        if slope != 0.0:
            f = (x[j] - x[i]) / slope
            if 0.0 < f < 1.0:
                best = min(best, mixed(x, y, f))
    return best


@lean
def game(k0, k1, k2):
    """Value of the game with columns k0, k1, k2: an upper bound of it in any case, exact to rounding."""
    best = min(max(k0[0], k0[1], k0[2]), max(k1[0], k1[1], k1[2]), max(k2[0], k2[1], k2[2]))
    best = game_pair(best, k0, k1)
    best = game_pair(best, k1, k2)
    best = game_pair(best, k2, k0)
    # all three equal: weights along the solution of K x = 1, by Cramer's rule
    c0, c1, c2 = cross(k1, k2), cross(k2, k0), cross(k0, k1)
    x, y, z = c0[0] + c0[1] + c0[2], c1[0] + c1[1] + c1[2], c2[0] + c2[1] + c2[2]
    total = x + y + z
    if total != 0.0:
        x, y, z = x / total, y / total, z / total
        if x >= 0.0 and y >= 0.0 and z >= 0.0:
            row = add(add(scale(x, k0), scale(y, k1)), scale(z, k2))
            best = min(best, max(row[0], row[1], row[2]))
    return best


@lean
def triangle_bound(rows, k, w):
    """Upper bound of the separation over triangle k; w: one more point of B - A."""
    n0, n1, n2 = at(rows, k, 0), at(rows, k, 3), at(rows, k, 6)
    w0, w1, w2 = at(rows, k, 9), at(rows, k, 12), at(rows, k, 15)
    k0 = (dot(n0, w0), dot(n1, w0), dot(n2, w0))
    k1 = (dot(n0, w1), dot(n1, w1), dot(n2, w1))
    k2 = (dot(n0, w2), dot(n1, w2), dot(n2, w2))
    value = min(game(k0, k1, k2), max(dot(n0, w), dot(n1, w), dot(n2, w)))
    if value > 0.0:  # the plane triangle cuts below the sphere: what is positive grows by at most that
        m = cross(sub(n1, n0), sub(n2, n0))
        value /= abs(dot(m, n0)) / norm(m)
    return value


@lean
def put_triangle(rows, k, n0, n1, n2, w0, w1, w2):
    set_at(rows, k, 0, n0)
    set_at(rows, k, 3, n1)
    set_at(rows, k, 6, n2)
    set_at(rows, k, 9, w0)
    set_at(rows, k, 12, w1)
    set_at(rows, k, 15, w2)


@lean
def halfway(n, m):
    v = add(n, m)
    return scale(1.0 / norm(v), v)


@lean
def octants(g, a, b, r, t, n, rows):
    """The first triangles: an octahedron, turned so that n, a kink more often than not, is no corner of it."""
    u, v = orthonormal(n)
    for i in range(8):
        x = halfway(scale(1.0 if i & 1 == 0 else -1.0, n), scale(0.011, u))
        y = halfway(scale(1.0 if i & 2 == 0 else -1.0, u), scale(0.017, v))
        z = halfway(scale(1.0 if i & 4 == 0 else -1.0, v), scale(0.013, n))
        w0, w1 = difference_point(g, a, b, r, t, x), difference_point(g, a, b, r, t, y)
        w2 = difference_point(g, a, b, r, t, z)
        put_triangle(rows, i, x, y, z, w0, w1, w2)
    return 8


@inner
def about_tips(g, a, b, r, t, n, low, tolerance, size):
    """`round_directions` of two bodies of which one touches with a tip near the axis of the other; nothing is proven of other
    bodies."""
    back, x, m = transpose(r), neg(mul_t(r, t)), neg(mul_t(r, n))
    off_a, off_b = off_axis(g, a, b, r, t, n), off_axis(g, b, a, back, x, m)
    if off_a <= min(off_b, RIPPLE * size):
        return round_directions(g, a, b, r, t, -1.0, n, low, tolerance)
    if off_b <= RIPPLE * size:
        proven, m, top = round_directions(g, b, a, back, x, -1.0, m, low, tolerance)
        return proven, neg(mul(r, m)), top
    return False, n, low


@inner
def best_direction(g, a, b, r, t, n, low, foot, tolerance, size):
    """Search for a separation above low + tolerance; n, low: the best axis known, foot: a point of B - A
    near low n, which is what bounds the triangles around n where many features meet.

    Returns (high, m, s): the greatest separation over all directions is at most ``high``; m is the best axis met, with
    separation s. It stops early, high then infinite, where s beats low clearly.
    """
    best, top = n, low
    ripple = askew(g, a, b, r, t)
    if ripple <= RIPPLE * size:  # as deep all around the axis of one, but for that
        proven, best, top = round_directions(g, a, b, r, t, ripple, n, low, 2.0 * tolerance)
        if proven:
            return top + 2.0 * tolerance, best, top
    now, new = np.empty((MOST_DIRECTION_TRIANGLES, TRIANGLE_COLUMNS)), np.empty((MOST_DIRECTION_TRIANGLES, TRIANGLE_COLUMNS))
    count = octants(g, a, b, r, t, n, now)
    high = -math.inf
    for level in range(MOST_SPLITS):
        kept = 0
        over, most = -math.inf, -math.inf  # of triangles that had no room, of those that had
        for k in range(count):
            bound = triangle_bound(now, k, foot)
            if bound <= low + tolerance:
                continue
            n0, n1, n2 = at(now, k, 0), at(now, k, 3), at(now, k, 6)
            w0, w1, w2 = at(now, k, 9), at(now, k, 12), at(now, k, 15)
            if kept + 2 > MOST_DIRECTION_TRIANGLES or level == MOST_SPLITS - 1:
                over = max(over, bound)
                continue
            most = max(most, bound)
            l01, l12, l20 = dot(n0, n1), dot(n1, n2), dot(n2, n0)
            if l12 <= l01 and l12 <= l20:  # the longest edge becomes 0-1
                n0, n1, n2, w0, w1, w2 = n1, n2, n0, w1, w2, w0
            elif l20 <= l01:
                n0, n1, n2, w0, w1, w2 = n2, n0, n1, w2, w0, w1
            m = halfway(n0, n1)
            w = difference_point(g, a, b, r, t, m)
            put_triangle(new, kept, n0, m, n2, w0, w, w2)
            put_triangle(new, kept + 1, m, n1, n2, w, w1, w2)
            kept += 2
            s = dot(m, w)
            if s > top:
                best, top = m, s
        high = max(high, over)
        if top > low + max(4.0 * tolerance, 1e-6 * size) and level > 4:
            return math.inf, best, top
        if kept == 0:
            break
        if over > low + 8.0 * tolerance:  # it can not be proven so
            proven, m, s = about_tips(g, a, b, r, t, best, top, 2.0 * tolerance, size)
            return (s + 2.0 * tolerance, m, s) if proven else (max(high, most), best, top)
        count = kept
        now, new = new, now
    return max(high, low + tolerance), best, top
