"""The greatest separation over all directions of a body that is round about an axis, and one that it meets alike all around.

The separation s then hardly depends on the longitude: along a whole ring of directions it changes by a ripple only. Triangles of
directions (directions.py) would have to be tiny to tell the crest of the ripple from the rest. So sectors of longitude are
examined as a whole. In the frame of A, which is round about z, the direction in the middle of a sector is n, the support points
are p of A and q = t + y of B. Turned about z by an angle x, p stays in A. Where B is round as well, about z + d that is almost z,
y is turned about that and stays in B; where q is near z, as an apex or a corner may be, it is left where it is. So

    s(n turned by x) <= n.(q - p) + x n.v + e x^2,    turned: v = d x y - z x t,    e = |d| |y| + |z x t|,
                                                      left:   v = -z x q,           e = |z x q| / 2,

by the second derivative of the left side along the way. All directions n of one meridian are a problem in its plane: between two
of them the lower of two such lines bounds s, or a mixture of both, and where they cross is looked next.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.geometry import CAPSULE, ELLIPSOID
from tumble.collision.kernels.jit import hypot, inner, lean
from tumble.collision.linalg import add, axpy, cross, mul, mul_t, neg, norm, orthonormal, sub
from tumble.collision.shapes.support_functions import is_revolved, support_piece

FIRST_SECTORS, MOST_SECTORS = 8, 4096  # sectors to begin with, and of one size
MOST_LOOKS = 200000  # directions; 70 ns each
BESIDE, TILT = 8, 1e-2  # directions beside one that is foremost, and how far [rad]
NARROW = 1e-9  # [rad] between directions that are not told apart any more
MOST_ARCS = 128  # arcs that are still to be looked at, by halves
PROVEN, SPLIT, LOST = range(3)


@lean
def is_round(g, s):
    """Does the core look the same all around its z axis?"""
    kind = g.kind[s]
    return kind == CAPSULE or is_revolved(kind) or (kind == ELLIPSOID and g.size[s, 0] == g.size[s, 1])


@lean
def askew(g, a, b, r, t):
    """How much the separation of round bodies changes with the longitude, at most [m a radian]; inf for others."""
    if not (is_round(g, a) and is_round(g, b)):
        return math.inf
    d = lean_of(r)
    return norm(d) * g.radius[b] + hypot(t[0], t[1])


@lean
def off_axis(g, a, b, r, t, n):
    """How near A's axis a point of B comes that is foremost against n or a direction beside it [m]; inf where A is not round."""
    least = math.inf
    if is_round(g, a):
        u, v = orthonormal(n)
        for k in range(BESIDE + 1):  # where an edge or a face is foremost, what is near the axis may be a corner of it
            angle = 2.0 * math.pi * k / BESIDE
            tilt = TILT if k < BESIDE else 0.0
            m = axpy(tilt * math.cos(angle), u, axpy(tilt * math.sin(angle), v, n))
            _, q = support_piece(g, b, neg(mul_t(r, m)))
            q = add(mul(r, q), t)
            least = min(least, hypot(q[0], q[1]))
    return least


@lean
def lean_of(r):
    """B's axis, the way that is nearer to z, less z."""
    f = -1.0 if r[8] < 0.0 else 1.0
    return (f * r[2], f * r[5], f * r[8] - 1.0)


@lean
def peak(best, x0, y0, x1, y1, u, v):
    """The larger of ``best`` and |(u, v)| where that direction is between two others."""
    if x0 * v - y0 * u <= 0.0 and u * y1 - v * x1 <= 0.0 and u * (x0 + x1) + v * (y0 + y1) > 0.0:
        return max(best, math.sqrt(u * u + v * v))
    return best


@lean
def crossing(x0, y0, x1, y1, u0, v0, u1, v1):
    """(is it between n0 and n1, x, y): the direction in which both points are as high."""
    x, y = v0 - v1, u1 - u0
    length = math.sqrt(x * x + y * y)
    if not length > 0.0:
        return False, 0.0, 0.0
    if x * (x0 + x1) + y * (y0 + y1) < 0.0:
        length = -length
    x, y = x / length, y / length
    return x0 * y - y0 * x <= 0.0 and x * y1 - y * x1 <= 0.0, x, y


@lean
def arc_bound(x0, y0, x1, y1, u0, v0, u1, v1):
    """The greatest min(n.w0, n.w1) of unit vectors n between n0 and n1, by less than half a turn; w0 = (u0, v0)."""
    best = max(min(x0 * u0 + y0 * v0, x0 * u1 + y0 * v1), min(x1 * u0 + y1 * v0, x1 * u1 + y1 * v1))
    best = peak(peak(best, x0, y0, x1, y1, u0, v0), x0, y0, x1, y1, u1, v1)
    between, x, y = crossing(x0, y0, x1, y1, u0, v0, u1, v1)
    return max(best, x * u0 + y * v0) if between else best


@lean
def mixed_bound(x0, y0, x1, y1, u, v):
    """The greatest n.w between n0 and n1, w = (u, v)."""
    return peak(max(x0 * u + y0 * v, x1 * u + y1 * v), x0, y0, x1, y1, u, v)


@lean
def sector_bound(arc, half):
    """Bound on s between the ends of an arc and in longitudes up to ``half`` to either side."""
    x0, y0, u0, v0, x1, y1, u1, v1 = arc[0], arc[1], arc[2], arc[3], arc[7], arc[8], arc[9], arc[10]
    du0, dv0, du1, dv1 = half * arc[4], half * arc[5], half * arc[11], half * arc[12]
    # what both ends have of the second derivative, and what one has more: a constant is at most that along the middle of the arc
    bent = min(arc[6], arc[13])
    more0, more1 = half * half * (arc[6] - bent), half * half * (arc[13] - bent)
    if more0 + more1 > 0.0:
        x, y = x0 + x1, y0 + y1
        f = 2.0 / (x * x + y * y)
        u0, v0, u1, v1 = u0 + more0 * f * x, v0 + more0 * f * y, u1 + more1 * f * x, v1 + more1 * f * y
    # as the same turn goes with both points, a mixture has the mean of their slopes: next to nothing on a ridge
    fall0, fall1 = (x0 - x1) * u0 + (y0 - y1) * v0, (x0 - x1) * u1 + (y0 - y1) * v1
    f = fall0 / (fall0 - fall1) if fall0 != fall1 else 0.5
    f = min(max(f, 0.0), 1.0)
    u, v, du, dv = u0 + f * (u1 - u0), v0 + f * (v1 - v0), du0 + f * (du1 - du0), dv0 + f * (dv1 - dv0)
    best = max(mixed_bound(x0, y0, x1, y1, u + du, v + dv), mixed_bound(x0, y0, x1, y1, u - du, v - dv))
    # the lower of both, each at its worst
    worst = max(
        arc_bound(x0, y0, x1, y1, u0 + du0, v0 + dv0, u1 + du1, v1 + dv1),
        arc_bound(x0, y0, x1, y1, u0 + du0, v0 + dv0, u1 - du1, v1 - dv1),
        arc_bound(x0, y0, x1, y1, u0 - du0, v0 - dv0, u1 + du1, v1 + dv1),
        arc_bound(x0, y0, x1, y1, u0 - du0, v0 - dv0, u1 - du1, v1 - dv1),
    )
    return min(best, worst) + half * half * bent


@lean
def look(g, a, b, r, t, d, ripple, c, f, x, y):
    """At the direction x e + y z of the meridian e = (c, f, 0): the parts along e and z of w = q - p and of v; e (module).

    ``ripple``: the e of all points of B that are turned; negative where they are left.
    """
    n = (x * c, x * f, y)
    _, p = support_piece(g, a, n)
    _, q = support_piece(g, b, neg(mul_t(r, n)))
    q = mul(r, q)
    v = cross(d, q)
    q = add(q, t)
    v = (v[0] + t[1], v[1] - t[0], v[2])
    bent = ripple
    if ripple < 0.0:
        v = (q[1], -q[0], 0.0)
        bent = 0.5 * hypot(q[0], q[1])
    w = sub(q, p)
    return w[0] * c + w[1] * f, w[2], v[0] * c + v[1] * f, v[2], bent


@lean
def put_arc(arcs, k, x0, y0, one, x1, y1, other):
    arcs[k, 0], arcs[k, 1], arcs[k, 7], arcs[k, 8] = x0, y0, x1, y1
    for i in range(5):
        arcs[k, 2 + i], arcs[k, 9 + i] = one[i], other[i]


@lean
def better(best, top, n, s):
    return (n, s) if s > top else (best, top)


@lean
def meridian(g, a, b, r, t, d, ripple, angle, half, best, top, tolerance, arcs):
    """A sector ``half`` wide to either side: (PROVEN, SPLIT or LOST, best axis, its separation, directions looked at).

    PROVEN: nothing in it separates by more than ``top`` and the tolerance.
    """
    c, f = math.cos(angle), math.sin(angle)
    north, even = look(g, a, b, r, t, d, ripple, c, f, 0.0, 1.0), look(g, a, b, r, t, d, ripple, c, f, 1.0, 0.0)
    south = look(g, a, b, r, t, d, ripple, c, f, 0.0, -1.0)
    best, top = better(best, top, (0.0, 0.0, 1.0), north[1])
    best, top = better(best, top, (c, f, 0.0), even[0])
    best, top = better(best, top, (0.0, 0.0, -1.0), -south[1])
    put_arc(arcs, 0, 0.0, 1.0, north, 1.0, 0.0, even)
    put_arc(arcs, 1, 1.0, 0.0, even, 0.0, -1.0, south)
    count, looks = 2, 3
    while count > 0:
        count -= 1
        k = count
        bound = sector_bound(arcs[k], half)
        if bound <= top + tolerance:
            continue
        x0, y0, u0, v0, du0, dv0, e0 = arcs[k, 0], arcs[k, 1], arcs[k, 2], arcs[k, 3], arcs[k, 4], arcs[k, 5], arcs[k, 6]
        x1, y1, u1, v1, du1, dv1, e1 = arcs[k, 7], arcs[k, 8], arcs[k, 9], arcs[k, 10], arcs[k, 11], arcs[k, 12], arcs[k, 13]
        wide = math.sqrt((x1 - x0) * (x1 - x0) + (y1 - y0) * (y1 - y0))
        # what is too much: by the width of the sector, or by that of the arc?
        plain = sector_bound(arcs[k], 0.0)
        if bound - plain > max(0.1 * tolerance, plain - max(x0 * u0 + y0 * v0, x1 * u1 + y1 * v1)):
            return SPLIT, best, top, looks
        if wide < NARROW or count + 2 > MOST_ARCS:
            return LOST, best, top, looks
        between, x, y = crossing(x0, y0, x1, y1, u0, v0, u1, v1)
        if not between or min(hypot(x - x0, y - y0), hypot(x - x1, y - y1)) < 0.1 * wide:
            x, y = x0 + x1, y0 + y1
            length = math.sqrt(x * x + y * y)
            x, y = x / length, y / length
        new = look(g, a, b, r, t, d, ripple, c, f, x, y)
        looks += 1
        best, top = better(best, top, (x * c, x * f, y), x * new[0] + y * new[1])
        put_arc(arcs, k, x0, y0, (u0, v0, du0, dv0, e0), x, y, new)
        put_arc(arcs, k + 1, x, y, new, x1, y1, (u1, v1, du1, dv1, e1))
        count += 2
    return PROVEN, best, top, looks


@inner
def round_directions(g, a, b, r, t, ripple, n, low, tolerance):
    """(proven, best axis, its separation) where A is round: no direction separates by more than that and the tolerance.

    ``ripple``: `askew`, to turn points of B as well; negative to leave them where they are.
    """
    d = lean_of(r)
    now, new, arcs = np.empty((MOST_SECTORS, 2)), np.empty((MOST_SECTORS, 2)), np.empty((MOST_ARCS + 2, 14))
    first = math.atan2(n[1], n[0])
    for k in range(FIRST_SECTORS):
        now[k, 0], now[k, 1] = first + 2.0 * math.pi * k / FIRST_SECTORS, math.pi / FIRST_SECTORS
    best, top = n, low
    count, looks = FIRST_SECTORS, 0
    while count > 0:
        kept = 0
        for k in range(count):
            angle, half = now[k, 0], now[k, 1]
            state, best, top, more = meridian(g, a, b, r, t, d, ripple, angle, half, best, top, tolerance, arcs)
            looks += more
            if state == LOST or looks > MOST_LOOKS or kept + 2 > MOST_SECTORS:
                return False, best, top
            if state == SPLIT:
                new[kept, 0], new[kept + 1, 0] = angle + 0.5 * half, angle - 0.5 * half
                new[kept, 1], new[kept + 1, 1] = 0.5 * half, 0.5 * half
                kept += 2
        count = kept
        now, new = new, now
    return True, best, top
