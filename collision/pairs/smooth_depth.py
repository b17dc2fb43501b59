"""The short way to the depth of round bodies: Newton's method finds it, an inner polytope and a cap prove it.

D = B - A holds the origin. As in `collision/distance/epa.py` a polytope inside D grows where it is nearest to the origin. Along
the normal of that face Newton's method soon finds a local minimum d of D's support function h. About it, in a cap of
directions, h is d or more for what is known of its curvature there:

Along a great circle with the angle x from the minimum h'' + h = R, the radius of curvature, so that h = d cos x + g sin x +
the integral of R(y) sin(x - y), g >= 0 being the slope of the piece that rises on that side. R is bounded from below
all over the cap: an ellipsoid or a rim with the semi-axes E has |E m x E m'|^2 / |E m|^3, with a numerator that is constant
on a great circle. So h >= d where R >= d, or where g is large enough (`cap_smooth`, `cap_ridge`). Such a cap may be all of the
sphere.

All other directions are those of faces that are d or more away. A ray from the origin leaves the polytope through
a face: if the corners of this face lie in the cap, so does the ray.
"""

from __future__ import annotations

import math

from tumble.collision.distance.epa import (
    LAST_POINT,
    MOST_POINTS,
    ROUGH,
    edge_table,
    end_keys,
    face_table,
    four_faces,
    grow,
    key_table,
    link_table,
    name_table,
    nearest,
    point_table,
)
from tumble.collision.distance.gjk import SHIFT
from tumble.collision.geometry import CYLINDER, ELLIPSOID
from tumble.collision.kernels.jit import lean, stack_table
from tumble.collision.linalg import add, cross, dot, load3, mul, mul_t, neg, norm, scale, store3, sub
from tumble.collision.pairs.flats import far_points, on_flats, separation
from tumble.collision.pairs.point_distance import depth_bound, point_curved
from tumble.collision.pairs.tangent import tangent_newton, two_pieces
from tumble.collision.shapes.support_functions import ellipsoid_point, is_revolved
from tumble.collision.shapes.support_points import EPS

MOST_CAPS = 4
cap_table = stack_table(MOST_CAPS, 4)  # axis, square of the cosine
WIDEST_CAP = 0.7  # tangent of half the angle
LEAST_CAP = 1e-3
WORTH_A_SEARCH = 0.15  # of the height of a face: how far beyond it a support point may be for a search to begin there
DEPTH_WIDTH = 1e-10  # of size: what bounds of depths may differ by


@lean
def least_bend(g, s, d, tangent):
    """Least of R(x) / R(0) of a shape in a cap about the unit vector d; ``tangent`` of half its angle. See the module.

    |E m|^2 is at most h^2 cos^2 x + 2 h g cos x sin x + L^2 sin^2 x, with the longest semi-axis L and the part g of the support
    point that is across d. It rises up to 45 degrees at least.
    """
    kind = g.kind[s]
    if kind == ELLIPSOID:
        e = load3(g.size, s)
        x = ellipsoid_point(e, d)
        h, out, most = dot(x, d), dot(x, x), max(e[0], max(e[1], e[2]))
    elif is_revolved(kind):
        most = g.size[s, 0]
        h, out = most * math.sqrt(d[0] * d[0] + d[1] * d[1]), most * most
    else:
        return 1.0
    slope = math.sqrt(max(out - h * h, 0.0))
    if tangent <= 0.41:
        f = 1.0 / (1.0 + tangent * tangent)
        c, sine = (1.0 - tangent * tangent) * f, 2.0 * tangent * f
        top = h * h * c * c + sine * (2.0 * h * slope * c + sine * most * most)
    else:
        half = 0.5 * (most * most - h * h)
        top = 0.5 * (most * most + h * h) + math.sqrt(half * half + h * h * slope * slope)
    f = h * h / top
    return f * math.sqrt(f)


@lean
def cap_smooth(ha, hb, fa, fb, depth):
    """Is the least radius of curvature across at least the depth?"""
    uu, uv, vv = fa * ha[0] + fb * hb[0] - depth, fa * ha[1] + fb * hb[1], fa * ha[2] + fb * hb[2] - depth
    return uu > 0.0 and uu * vv - uv * uv > 0.0


@lean
def along_ridge(h, x, y):
    """Of a form: its value across the unit vector (x, y), and the size of the mixed term."""
    return h[0] * y * y - 2.0 * h[1] * x * y + h[2] * x * x, abs((h[2] - h[0]) * x * y + h[1] * (x * x - y * y))


@lean
def cap_ridge(mixed, alone, depth, eu, ev, weight):
    """The tangent of half the angle of a cap about a ridge: the edge (eu, ev) between two pieces, ``weight`` of one of them.

    ``mixed``: R(0) of the weighted pieces, ``alone``: of either of them at least. In a direction with the cosine c to the
    edge R is across (1 - c^2) - 2 cross c at least. Up to c0 that of the mixed pieces is the depth; beyond, the slope c ``arm``
    of the piece on that side makes up for what R of it is less. That is a concave function of c: its ends count.
    """
    length = math.sqrt(eu * eu + ev * ev)
    arm = length * min(weight, 1.0 - weight)
    across, cross_term = along_ridge(mixed, eu / length, ev / length)
    if not across > depth:
        return 0.0
    c0 = (math.sqrt(cross_term * cross_term + across * (across - depth)) - cross_term) / across
    across, cross_term = along_ridge(alone, eu / length, ev / length)
    less = depth - across * (1.0 - c0 * c0) + 2.0 * cross_term * c0
    most = arm / (depth + 2.0 * cross_term)
    return min(most, arm * c0 / less) if less > 0.0 else most


@lean
def ridge(g, s, ha, hb, fa, fb, depth, e, u, v, weight):
    """`cap_ridge` of the two pieces of shape s, which bends by ha; hb: the other shape."""
    one, other = scale(fa, ha), scale(fb, hb)
    mixed = add(one, other)
    return cap_ridge(mixed, mixed if g.kind[s] == CYLINDER else other, depth, dot(e, u), dot(e, v), weight)


@lean
def cap_of(g, a, b, r, n, depth, a1, la, b1, lb, u, v, ea, eb, ha, hb):
    """Tangent of half the angle of a cap about n in which nothing is less deep; 0 for none, inf for all directions."""
    room = 0.0
    if a1 >= 0 and b1 >= 0:  # a parallelogram of points
        au, av, bu, bv = dot(ea, u), dot(ea, v), dot(eb, u), dot(eb, v)
        area = abs(au * bv - av * bu)
        room_a = min(la, 1.0 - la) * area / math.sqrt(bu * bu + bv * bv)
        room_b = min(lb, 1.0 - lb) * area / math.sqrt(au * au + av * av)
        room = min(room_a, room_b) / depth
    back = neg(mul_t(r, n))
    tangent = math.inf
    while tangent > max(room, LEAST_CAP):
        fa, fb = least_bend(g, a, n, tangent), least_bend(g, b, back, tangent)
        if a1 < 0 and b1 < 0:
            if cap_smooth(ha, hb, fa, fb, depth):
                return tangent
        else:
            most = 0.0
            if a1 >= 0:
                most = ridge(g, a, ha, hb, fa, fb, depth, ea, u, v, la)
            if b1 >= 0:
                most = max(most, ridge(g, b, hb, ha, fb, fa, depth, eb, u, v, lb))
            if most >= min(tangent, WIDEST_CAP):
                return max(room, min(most, tangent))
        tangent = min(0.75 * tangent, WIDEST_CAP)
    return room


@lean
def around(g, a, b, r, t, n, depth, tangent, size):
    """Are the directions outside of a cap about the normal all against it, where the bodies overlap by more because they are
    thick?"""
    if not tangent > 1.0:
        return False
    if tangent == math.inf:
        return True
    f = 1.0 / (tangent * tangent + 1.0)
    return -separation(g, a, b, r, t, neg(n)) * (tangent * tangent - 1.0) * f - size * 2.0 * tangent * f >= depth


@lean
def by_point(g, a, b, r, t, p, q, size):
    """(found, n, s, high, p, q) of bodies that overlap: a point of one in the other, where that is all there is to it.

    An apex near an axis is an example: the depth is about the same all around it, so Newton's method can not tell which way to
    go.
    """
    if g.kind[a] >= CYLINDER:
        _, high, n, x = point_curved(g, a, q, q)
        s = separation(g, a, b, r, t, n)
        if high < 0.0 and high - s <= 2.0 * DEPTH_WIDTH * size:
            return True, n, s, max(high, s), x, q
    if g.kind[b] >= CYLINDER:
        y = mul_t(r, sub(p, t))
        _, high, m, x = point_curved(g, b, y, y)
        n = neg(mul(r, m))
        s = separation(g, a, b, r, t, n)
        if high < 0.0 and high - s <= 2.0 * DEPTH_WIDTH * size:
            return True, n, s, max(high, s), p, add(mul(r, x), t)
    return False, q, 0.0, math.inf, p, q


@lean
def critical(g, a, b, r, t, n, low, pieces, weights, count, size):
    """From an axis and the pieces of a search that came near to where the separation is greatest thereabouts.

    Returns (found, n, s, high, p, q, tangent): s may have either sign. high: what is proven of all directions, inf where nothing
    is; then ``tangent`` tells the cap in which nothing is less deep.
    """
    found, m, s, p, q, room = on_flats(g, a, b, r, t, n, low, size)
    tangent = 0.0
    if found:
        if s < 0.0:
            tangent = room / -s
    else:
        plain_a, a0, a1, la = two_pieces(pieces, weights, count, 0)
        plain_b, b0, b1, lb = two_pieces(pieces, weights, count, 1)
        if not (plain_a and plain_b):
            return False, n, low, math.inf, p, q, 0.0
        found, m, p, q, used, u, v, ea, eb, ha, hb = tangent_newton(g, a, b, r, t, n, a0, a1, la, b0, b1, lb, size)
        if not found:
            found, m, s, high, p, q = by_point(g, a, b, r, t, p, q, size)
            return found, m, s, high, p, q, 0.0
        s = separation(g, a, b, r, t, m)
        if not abs(dot(m, sub(q, p)) - s) <= 16.0 * EPS * size:
            return False, n, low, math.inf, p, q, 0.0
        if s < 0.0:
            tangent = cap_of(g, a, b, r, m, -s, used[1], used[2], used[4], used[5], u, v, ea, eb, ha, hb)
    high = norm(sub(q, p))
    if s < 0.0 and high - s > 64.0 * EPS * size:
        high = depth_bound(g, a, b, r, t, p, q)  # one body may hold a ball about the other's point
        if high - s > 2.0 * DEPTH_WIDTH * size:
            high = s + 64.0 * EPS * size if around(g, a, b, r, t, m, -s, tangent, size) else math.inf
    return True, m, s, max(high, s), p, q, tangent


@lean
def in_caps(caps, known, w):
    """Does the direction of w lie in one of the caps? The number of the cap, or -1."""
    square = dot(w, w)
    for k in range(known):
        along = dot(load3(caps, k), w)
        if along > 0.0 and along * along >= caps[k, 3] * square:
            return k
    return -1


@lean
def in_one_cap(caps, known, w0, w1, w2):
    cap = in_caps(caps, known, w0)
    return cap >= 0 and in_caps(caps, known, w1) == cap and in_caps(caps, known, w2) == cap


@lean
def add_cap(caps, known, n, tangent):
    """Keep a cap about a direction; ``tangent`` of half its angle."""
    tangent = min(0.999 * tangent, WIDEST_CAP)
    cosine = (1.0 - tangent * tangent) / (1.0 + tangent * tangent)
    store3(caps, known, n)
    caps[known, 3] = cosine * cosine


@lean
def proven_depth(faces, links, keys, points, count, depth, size):
    """What the faces about as near leave of the depth, taken with care: their normals may be off by rounding."""
    top = -depth + 64.0 * EPS * size
    reach = depth + ROUGH * size
    for f in range(count):
        if keys[f, 0] <= reach * reach:
            m = load3(faces, f)
            m = scale(1.0 / norm(m), m)
            for e in range(3):
                top = max(top, -dot(m, load3(points, links[f, e])))
    return top


@lean
def smooth_depth(g, a, b, r, t, corners, pieces, size):
    """(settled, low, high, n, p, q, turns) of two bodies that overlap, from four corners of B - A about the origin."""
    faces, links, points, named, todo = face_table(), link_table(), point_table(), name_table(), edge_table()
    keys, caps = key_table(), cap_table()
    rounding = 4.0 * EPS * size
    n, p, q = (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    depth, enough = math.inf, math.inf
    for k in range(4):
        store3(points, k, corners[k])
        named[k, 0] = pieces[2 * k] * SHIFT + pieces[2 * k + 1]
    usable = four_faces(rounding, faces, links, keys, points)
    used, count = 4, 4
    end_keys(keys, count)
    known, tries, turns, done = 0, 0, 0, False
    while usable and used < MOST_POINTS:
        turns += 1
        near = nearest(keys, count)
        if keys[near, 0] >= enough * enough:
            done = True
            break
        i, j, k = links[near, 0] & LAST_POINT, links[near, 1] & LAST_POINT, links[near, 2] & LAST_POINT
        w0, w1, w2 = load3(points, i), load3(points, j), load3(points, k)
        m = load3(faces, near)
        m = scale(1.0 / norm(m), m)
        height = min(dot(m, w0), min(dot(m, w1), dot(m, w2)))
        if known > 0 and height > 8.0 * rounding and in_one_cap(caps, known, w0, w1, w2):
            keys[near, 0] = math.inf
            continue
        x, y, ia, ib = far_points(g, a, b, r, t, neg(m))
        w = sub(y, x)
        high = dot(m, w)
        if high - height <= WORTH_A_SEARCH * high and high < depth and tries < 12 and in_caps(caps, known, m) < 0:
            tries += 1
            three = (
                named[i, 0] // SHIFT, named[i, 0] % SHIFT, named[j, 0] // SHIFT, named[j, 0] % SHIFT, named[k, 0] // SHIFT,
                named[k, 0] % SHIFT,
            )  # fmt: skip
            l0, l1, l2 = abs(dot(m, cross(w1, w2))), abs(dot(m, cross(w2, w0))), abs(dot(m, cross(w0, w1)))
            found, k_n, s, top, x, y, tangent = critical(g, a, b, r, t, neg(m), -high, three, (l0, l1, l2), 3, size)
            if found and s < 0.0 and top < math.inf:
                return True, s, top, k_n, x, y, turns
            if found and s < 0.0 and -s < depth:
                depth, n, p, q = -s, k_n, x, y
                enough = depth - DEPTH_WIDTH * size
            if found and s < 0.0 and tangent > LEAST_CAP and known < MOST_CAPS and in_caps(caps, known, neg(k_n)) < 0:
                add_cap(caps, known, neg(k_n), tangent)
                known += 1
                continue
        if not dot(load3(faces, near), w) > faces[near, 3]:
            break
        store3(points, used, w)
        named[used, 0] = ia * SHIFT + ib
        count = grow(faces, links, keys, points, todo, near, used, w, count, turns, rounding)
        usable = count > 0
        used += 1
    low = -depth
    if not (usable and done and low < -1e-11 * size):
        return False, low, math.inf, n, p, q, turns
    top = proven_depth(faces, links, keys, points, count, depth, size)
    return top - low <= 4.0 * DEPTH_WIDTH * size, low, top, n, p, q, turns
