"""The distance of two polytopes that are apart: a search without care (Gilbert, Johnson and Keerthi 1988), then a proof.

Everything is in A's frame; B stands there with rotation r and translation t. The search runs on the Minkowski difference
D = B - A, whose point closest to the origin, v, gives the distance |v| and the normal v/|v| from A to B.

It runs on simplices of at most three corners, with the fewest operations and no care for rounding, and proposes the corners that
the closest points lie between. Then these corners are examined with care. They give two points of the bodies, whose distance is
an upper bound, and the separation along the line of these points, which is a lower one. If both agree to rounding the pair is
settled. Otherwise (overlap, contact, slivers) polytopes.py goes on from the corners. So a search that has gone astray costs time,
and spoils no answer.

A point of B - A is named by the rows of its two vertices in one number, row of A * SHIFT + row of B.
"""

from __future__ import annotations

import math

from tumble.collision.distance.sat import separation_here
from tumble.collision.distance.simplex import closest_segment, closest_triangle, segment_here
from tumble.collision.geometry import CAPSULE
from tumble.collision.kernels.jit import lean, tight
from tumble.collision.linalg import ZERO, add, axpy, cross, dot, mul, mul_t, neg, norm, scale, sub
from tumble.collision.shapes.support_points import EPS, core_vertex, supported

SHIFT = 1 << 31
NO_NAME = -1
NO_NAMES = (-1, -1, -1, -1)
MOST_TURNS = 64  # the worst seen in fuzzing is far below
LEAST_LENGTH = 1e-140  # [m] shorter vectors have squares of few digits
SETTLED = 16.0  # EPS of size: bounds this close settle a pair


@tight
def lowest(g, a, b, r, t, n):
    """Point of B - A where n.w is least or nearly so, its name, and the exact least."""
    ia, p, top_a = supported(g, a, n)
    ib, q, top_b = supported(g, b, neg(mul_t(r, n)))
    return sub(add(mul(r, q), t), p), ia * SHIFT + ib, dot(n, t) - top_b - top_a


@tight
def named_point(g, a, b, r, t, name):
    """The points of A and of B, in A's frame, that make up a point of B - A."""
    return core_vertex(g, a, name // SHIFT), add(mul(r, core_vertex(g, b, name % SHIFT)), t)


@lean
def mixture(g, a, b, r, t, n0, n1, n2, weights):
    """The points of A and of B that weights of three named corners stand for, and the names of those with a weight."""
    p, q, names = ZERO, ZERO, NO_NAMES
    for name, weight in ((n2, weights[2]), (n1, weights[1]), (n0, weights[0])):
        if weight > 0.0:
            x, y = named_point(g, a, b, r, t, name)
            p, q, names = axpy(weight, x, p), axpy(weight, y, q), (name, names[0], names[1], NO_NAME)
    return p, q, names


@lean
def corner(g, a, b, r, t, name):
    """The point of B - A with this name."""
    p, q = named_point(g, a, b, r, t, name)
    return sub(q, p)


@lean
def nearest_points(g, a, b, r, t, names):
    """`between` one to three named corners with care, wherever the point closest to the origin is, and `mixture`'s names."""
    w = corner(g, a, b, r, t, names[0])
    l0, l1, l2 = 1.0, 0.0, 0.0
    if names[1] >= 0 and names[2] < 0:
        _, l0, l1 = closest_segment(w, corner(g, a, b, r, t, names[1]))
    elif names[1] >= 0:
        _, l0, l1, l2 = closest_triangle(w, corner(g, a, b, r, t, names[1]), corner(g, a, b, r, t, names[2]))
    return mixture(g, a, b, r, t, names[0], names[1], names[2], (l0, l1, l2))


@lean
def nearest_of_triangle(w, e, f, n, nn, ww):
    """What of the triangle w, w + e, w + f is closest to the origin: (square of its distance, part).

    part: 0 the face, 1 the edge along e, 2 the edge along f, 3 the corner w. The edge across from w is not looked at: the
    origin is known to lie on w's side of it. n = e x f.
    """
    c = cross(w, n)
    te, tf = -dot(w, e), -dot(w, f)
    outside_e, outside_f = dot(e, c) > 0.0, dot(f, c) < 0.0
    if outside_e and te > 0.0:
        return ww - te * te / dot(e, e), 1
    if outside_f and tf > 0.0:
        return ww - tf * tf / dot(f, f), 2
    if outside_e or outside_f:
        return ww, 3
    h = dot(w, n)
    return h * h / nn, 0


@tight
def nearest_side(w, e, f, h, n, ww):
    """What of the tetrahedron w, w + e, w + f, w + h is closest to the origin: (side, part, normal); n = e x f.

    side: 0 the face of e and f, 1 of f and h, 2 of h and e, -1 where the origin is inside; part: of this face, by
    `nearest_of_triangle`. The face across from w is not looked at: the origin is known to lie on w's side of it.
    """
    fh, he = cross(f, h), cross(h, e)
    volume = dot(n, h)
    square, side, part, normal = 1e300, -1, 0, n
    if dot(n, w) * volume > 0.0:
        square, part = nearest_of_triangle(w, e, f, n, dot(n, n), ww)
        side = 0
    if dot(fh, w) * volume > 0.0:
        other, other_part = nearest_of_triangle(w, f, h, fh, dot(fh, fh), ww)
        if other < square:
            square, side, part, normal = other, 1, other_part, fh
    if dot(he, w) * volume > 0.0:
        other, other_part = nearest_of_triangle(w, h, e, he, dot(he, he), ww)
        if other < square:
            side, part, normal = 2, other_part, he
    return side, part, normal


@tight
def nearest_part(count, w, w0, w1, w2):
    """What is closest to the origin of the simplex of w and ``count`` corners: (side, part, e, f, n), see `nearest_side`.

    e and f are the edges from w of the face that it is or lies on, and n is normal to that face.
    """
    e = sub(w0, w)
    if count == 1:
        return 0, (3 if -dot(w, e) <= 0.0 else 1), e, e, e
    f = sub(w1, w)
    n = cross(e, f)
    ww = dot(w, w)
    if count == 2:
        _, part = nearest_of_triangle(w, e, f, n, dot(n, n), ww)
        return 0, part, e, f, n
    h = sub(w2, w)
    side, part, n = nearest_side(w, e, f, h, n, ww)
    if side == 1:
        e, f = f, h
    elif side == 2:
        e, f = h, e
    return side, part, e, f, n


@tight
def propose(g, a, b, r, t, axis, limit, size):
    """Corners of B - A that its point closest to the origin lies between: (count, names, v, low, turns); count 0 for none.

    v: the closest point; low: the separation of the bodies along it. ``limit``: end as soon as the bodies are further apart.
    """
    w0, name0, _ = lowest(g, a, b, r, t, axis)
    v, w1, w2 = w0, w0, w0
    vv = dot(v, v)
    name1, name2 = -1, -1
    count, turns, least = 1, 1, -1.0
    rounding = 2.0 * EPS * size
    tiny = 16.0 * EPS * size
    tiny *= tiny
    while turns < MOST_TURNS:
        turns += 1
        w, name, least = lowest(g, a, b, r, t, v)
        vw = dot(v, w)
        gap = vv - vw
        if gap * gap <= rounding * rounding * vv or vw > 0.0 and vw * vw > limit * limit * vv:
            break
        if name == name0 or name == name1 or name == name2:  # noqa: PLR1714, SIM109 (no tuple in a kernel)
            break
        side, part, e, f, n = nearest_part(count, w, w0, w1, w2)
        if side < 0:
            return 0, (name0, name1, name2, name), v, -math.inf, turns
        if side == 1:
            w0, name0, w1, name1 = w1, name1, w2, name2
        elif side == 2:
            w1, name1, w0, name0 = w0, name0, w2, name2
        if part == 3:
            v, w0, name0, name1, name2 = w, w, name, -1, -1
            count = 1
        elif part == 0:
            v, w2, name2 = scale(dot(w, n) / dot(n, n), n), w, name
            count = 3
        else:
            if part == 2:
                e, w0, name0 = f, w1, name1
            v, w1, name1, name2 = axpy(-dot(w, e) / dot(e, e), e, w), w, name, -1
            count = 2
        square = dot(v, v)
        least = -math.inf
        if not square < vv:
            break
        vv = square
        if vv <= tiny:
            return 0, (name0, name1, name2, -1), v, -math.inf, turns
    return count, (name0, name1, name2, -1), v, least / math.sqrt(vv), turns


@tight
def between(g, a, b, r, t, count, names):
    """The closest points that lie between named corners: (inside, vector, point of A, point of B)."""
    p0, q0 = named_point(g, a, b, r, t, names[0])
    w0 = sub(q0, p0)
    if count == 1:
        return True, w0, p0, q0
    p1, q1 = named_point(g, a, b, r, t, names[1])
    w1 = sub(q1, p1)
    if count == 2:
        v, l0, l1 = segment_here(w0, w1)
        return True, v, add(scale(l0, p0), scale(l1, p1)), add(scale(l0, q0), scale(l1, q1))
    p2, q2 = named_point(g, a, b, r, t, names[2])
    w2 = sub(q2, p2)
    n = cross(sub(w1, w0), sub(w2, w0))
    l0, l1, l2 = dot(n, cross(w1, w2)), dot(n, cross(w2, w0)), dot(n, cross(w0, w1))
    if not (l0 > 0.0 and l1 > 0.0 and l2 > 0.0):
        return False, w0, p0, q0
    s = 1.0 / (l0 + l1 + l2)
    l0, l1, l2 = s * l0, s * l1, s * l2
    p = axpy(l2, p2, add(scale(l0, p0), scale(l1, p1)))
    q = axpy(l2, q2, add(scale(l0, q0), scale(l1, q1)))
    return True, scale(dot(n, w0) / dot(n, n), n), p, q


@tight
def quick_distance(g, a, b, r, t, axis, margin, size, known, names):
    """(settled, low, high, n, p, q, turns, count, names) of two polytopes that are apart; see the module.

    ``names``: ``known`` corners where the last search of the pair ended. n (of any length), p, q are in A's frame.
    If the pair is not settled only names has a meaning: where count is 0 they are four corners around the origin.
    """
    close = SETTLED * EPS * size
    limit = max(margin, 0.0) + 128.0 * EPS * size
    count, turns = known, 0
    low, high, n, p, q = -math.inf, math.inf, axis, axis, axis
    for attempt in range(2):
        if attempt == 1 or known == 0:
            count, names, n, low, more = propose(g, a, b, r, t, axis, limit, size)
            turns += more
        if count > 0:
            inside, v, p, q = between(g, a, b, r, t, count, names)
            length = norm(v)
            if inside and length > 0.0:
                high = norm(sub(q, p))
                if high - low <= close or low > limit:
                    return True, low, high, n, p, q, turns, count, names
                n = scale(1.0 / length, v)
                low = separation_here(g, a, b, r, t, n)
                if high - low <= close or low > limit:
                    return True, low, high, n, p, q, turns, count, names
        if attempt == 1 or known == 0:
            break
    return False, low, high, n, p, q, turns, count, names


@tight
def quick_capsules(g, a, b, t, za, zb):
    """(settled, low, high, n, p, q) of two capsules or spheres in world axes about A's position: B's is t, the axes za, zb.

    The closest points s za and t + u zb of their cores: each is the foot of the other on its line, or an end.
    """
    half_a = g.size[a, 1] if g.kind[a] == CAPSULE else 0.0
    half_b = g.size[b, 1] if g.kind[b] == CAPSULE else 0.0
    p, v = ZERO, t
    s, u = 0.0, 0.0
    if half_a > 0.0 or half_b > 0.0:
        ta, tb, c = dot(za, t), dot(zb, t), dot(za, zb)
        rest = 1.0 - c * c
        s = min(max((ta - c * tb) / rest, -half_a), half_a) if rest > 1e-12 else 0.0
        u = min(max(s * c - tb, -half_b), half_b)
        s = min(max(ta + u * c, -half_a), half_a)
        p = scale(s, za)
        v = sub(axpy(u, zb, t), p)
    radius_a, radius_b = g.size[a, 0], g.size[b, 0]
    length = norm(v)
    if not length > LEAST_LENGTH:
        return False, 0.0, 0.0, ZERO, p, p
    along = dot(v, t) - half_b * abs(dot(v, zb)) - half_a * abs(dot(v, za))  # does not wait for the root
    inverse = 1.0 / length
    n = scale(inverse, v)
    low = inverse * along
    close = SETTLED * EPS * (g.radius[a] + g.radius[b] + norm(t))
    if length - low > close:  # cores that nearly meet leave little of v: across an axis the normal is made so anew
        m = v
        if abs(s) < half_a and abs(u) < half_b:
            m = cross(za, zb)
            m = scale(math.copysign(1.0, dot(m, t)), m)
        elif abs(s) < half_a:
            m = axpy(-dot(v, za), za, v)
        elif abs(u) < half_b:
            m = axpy(-dot(v, zb), zb, v)
        off = norm(m)
        if off > 0.0:
            m = scale(1.0 / off, m)
            other = dot(m, t) - half_b * abs(dot(m, zb)) - half_a * abs(dot(m, za))
            if other > low:
                low, n = other, m
    q = axpy(-radius_b, n, add(p, v))
    radii = radius_a + radius_b
    return length - low <= close, low - radii, length - radii, n, axpy(radius_a, n, p), q
