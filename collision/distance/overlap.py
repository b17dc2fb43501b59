"""Two polytopes that overlap or touch: the nearest face of their Minkowski difference.

For boxes the fifteen separating axes tell, for hulls the expanding polytope, and where rounding spoils that, or leaves no
points that prove it, the polytope on a lattice (exact_hull.py).
"""

from __future__ import annotations

import math

import numpy as np

from collision.distance.axes import NO_ROWS, best_axis, improve_normal, named_features
from collision.distance.clip import OUT, at, face_patch, patch_capacity
from collision.distance.epa import epa
from collision.distance.exact_hull import careful
from collision.distance.gjk import APART, INSIDE, closest_triangle, difference, witnesses
from collision.distance.sat import NO_EDGES, sat_boxes, separation
from collision.geometry import BOX, empty_geometry
from collision.kernels.jit import far, inner, lean, remote, tight
from collision.linalg import IDENTITY, ZERO, add, axpy, cross, dot, load3, mul, mul_t, neg, norm, scale, sub
from collision.shapes.support_points import EPS, face_at, support

TOUCH = 64.0  # EPS of size: closer than this, the points of the search for distance are those of the contact
SURE = 4.0  # EPS of size: what heights of planes may be off; a lower plane may have the origin in front of it
ALIGNED = 1.0 - 1e-6  # cosine of an angle beyond which a face can not be the one that a normal belongs to
NO_FOUR = (-1, -1, -1, -1, -1, -1, -1, -1)
NO_SIMPLEX = (-1, -1, -1, -1, -1, -1)


@lean
def lines_closest(pa, da, pb, db):
    """Closest points of the lines pa + s da and pb + u db, with s, u kept in [0, 1]."""
    x = sub(pb, pa)
    aa, bb, ab = dot(da, da), dot(db, db), dot(da, db)
    xa, xb = dot(x, da), dot(x, db)
    det = aa * bb - ab * ab
    s = min(max((xa * bb - xb * ab) / det, 0.0), 1.0) if det > 0.0 else 0.5
    u = min(max((s * ab - xb) / bb, 0.0), 1.0)
    s = min(max((u * ab + xa) / aa, 0.0), 1.0)
    return axpy(s, da, pa), axpy(u, db, pb)


@lean
def edge_points(vertices, r, t, edges):
    """Closest points of edge (a0, a1) of A and edge (b0, b1) of B, in A's frame."""
    pa = load3(vertices, edges[0])
    pb = load3(vertices, edges[2])
    da = sub(load3(vertices, edges[1]), pa)
    db = mul(r, sub(load3(vertices, edges[3]), pb))
    return lines_closest(pa, da, add(mul(r, pb), t), db)


@lean
def over_face(normals, loop_start, loops, vertices, f, x, slack):
    """Does x lie within the sides of face f, in the frame of its body, or outside by less than ``slack``?"""
    n = load3(normals, f)
    start, stop = loop_start[f], loop_start[f + 1]
    u = load3(vertices, loops[stop - 1])
    for k in range(start, stop):
        v = load3(vertices, loops[k])
        side = cross(sub(v, u), n)
        if dot(side, sub(x, u)) > slack * norm(side):
            return False
        u = v
    return True


@tight
def overlap_witness(g, a, b, r, t, face_a, face_b, n, sep, edges, corners, size):
    """Deepest points of overlapping bodies in A's frame, for the axis of a face or of two edges: (found, p, q).

    They are points of the bodies, and q - p is sep n but for rounding, or they are not found. ``corners``: the nearest face of
    the Minkowski difference, -1 in front where it is not known.
    """
    small = 32.0 * EPS * size
    found = False
    p, q = n, n
    if face_a >= 0:  # as a rule the one deepest vertex lies over the face
        _, q = support(g, b, neg(mul_t(r, n)))
        q = add(mul(r, q), t)
        p = axpy(-sep, n, q)
        found = over_face(g.normals, g.loop_start, g.loops, g.vertices, face_a, p, 4.0 * EPS * size)
    elif face_b >= 0:
        _, p = support(g, a, n)
        q = axpy(sep, n, p)
        found = over_face(g.normals, g.loop_start, g.loops, g.vertices, face_b, mul_t(r, sub(q, t)), 4.0 * EPS * size)
    elif edges[0] >= 0:
        p, q = edge_points(g.vertices, r, t, edges)
        found = norm(sub(sub(q, p), scale(sep, n))) <= small
    if not found and corners[0] >= 0:  # the foot of the origin on the nearest face, where it is in that triangle of it
        rows = (*corners, 0, 0)
        _, wa, wb, wc = closest_triangle(
            difference(g, a, b, r, t, corners[0], corners[1]),
            difference(g, a, b, r, t, corners[2], corners[3]),
            difference(g, a, b, r, t, corners[4], corners[5]),
        )
        p, q = witnesses(g, a, b, r, t, 3, rows, (wa, wb, wc))
        found = norm(sub(sub(q, p), scale(sep, n))) <= small
    if not found and (face_a >= 0 or face_b >= 0):
        found, p, q = patch_witness(g, a, b, r, t, face_a, face_b, n, sep, size)
    return found, p, q


@inner
def patch_witness(g, a, b, r, t, face_a, face_b, n, sep, size):
    """The same where a face meets an edge or a face: from the points that both share."""
    origin = (0.0, 0.0, 0.0)
    eye = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    cap = patch_capacity(g, a, face_a, b) if face_a >= 0 else patch_capacity(g, b, face_b, a)
    work = np.empty((cap, 10))
    tags = np.empty((cap, 5), np.int64)
    if face_a >= 0:
        count, least, k = face_patch(g, a, origin, eye, b, t, r, face_a, math.inf, size, 0.0, work, tags)
    else:
        count, least, k = face_patch(g, b, t, r, a, origin, eye, face_b, math.inf, size, 0.0, work, tags)
    if count == 0 or abs(least - sep) > 32.0 * EPS * size:
        return False, n, n
    x = at(work, k, OUT)
    if face_a >= 0:
        return True, axpy(-least, n, x), x
    return True, x, axpy(least, n, x)


@lean
def no_more(top, n, p, q, size):
    """An upper bound of the signed distance; -top: height of the nearest plane of D, n: its normal; p, q: points of the bodies.

    The ball of radius -top lies in D where all planes have the origin behind them. Where one may have it in front the bodies may
    be apart, and then no plane tells how far: what is nearest to the origin is an edge or a corner as well as a face, and from
    a plane that is askew there it may be far. So it is the two points that tell. Where B's lies behind A's along n, that
    is by no more than planes are off: it counts as none.
    """
    if top < -SURE * EPS * size:
        return top
    v = sub(q, p)
    along = dot(n, v)
    along, across = max(along, 0.0), norm(axpy(-along, n, v))
    return max(top, math.sqrt(along * along + across * across))


@lean
def feature_points(g, a, b, r, t, face_a, face_b, n, which, sep, edges, size, high, p, q, named):
    """Points of bodies that are barely apart, from the features that n belongs to, where they are closer than p and q.

    (distance, point of A, point of B, features)
    """
    if which == 2:
        if edges[0] >= 0:
            u, v = edge_points(g.vertices, r, t, edges)
            if norm(sub(v, u)) < high:
                return norm(sub(v, u)), u, v, edges
        return high, p, q, named
    if which == 0:
        _, v = support(g, b, neg(mul_t(r, n)))
        v = add(mul(r, v), t)
        u = axpy(-sep, n, v)
        over = over_face(g.normals, g.loop_start, g.loops, g.vertices, face_a, u, 4.0 * EPS * size)
    else:
        _, u = support(g, a, n)
        v = axpy(sep, n, u)
        over = over_face(g.normals, g.loop_start, g.loops, g.vertices, face_b, mul_t(r, sub(v, t)), 4.0 * EPS * size)
    if over and sep < high:
        return sep, u, v, NO_ROWS
    return high, p, q, named


@tight
def nearest_features(g, a, b, r, t, n, corners):
    """The features that the nearest face of the Minkowski difference stands for, in the form of `sat_boxes`."""
    face_a = face_at(g.neighbor_start, g.fans, g.normals, corners[0], corners[2], corners[4], n)
    face_b = face_at(g.neighbor_start, g.fans, g.normals, corners[1], corners[3], corners[5], neg(mul_t(r, n)))
    sep_a, sep_b = -math.inf, -math.inf
    # a face that is not square to n can do no better than n, which is the best there is but for rounding
    if face_a >= 0:
        m = load3(g.normals, face_a)
        if dot(m, n) > ALIGNED:
            sep_a = separation(g, a, b, r, t, m)
    if face_b >= 0:
        m = neg(mul(r, load3(g.normals, face_b)))
        if dot(m, n) > ALIGNED:
            sep_b = separation(g, a, b, r, t, m)
    sep = separation(g, a, b, r, t, n)
    edges = named_features(3, corners)
    if edges[1] < 0 or edges[3] < 0:
        return face_a, sep_a, face_b, sep_b, sep, n, NO_EDGES
    ea = sub(load3(g.vertices, edges[1]), load3(g.vertices, edges[0]))
    eb = mul(r, sub(load3(g.vertices, edges[3]), load3(g.vertices, edges[2])))
    n, sep = improve_normal(g, a, b, r, t, n, sep, ea, eb)
    return face_a, sep_a, face_b, sep_b, sep, n, edges


@remote
def overlap(g, a, b, r, t, axis, size, state, low, high, p, q, named, start):
    """Signed distance of polytopes that overlap, or come closer than the search for distance can tell.

    ``state``, low, high, p, q, named: what `gjk` found, with ``axis`` for its normal. ``start``: the vertex rows of a
    simplex of four corners that holds the origin. Returns (low, high, n, p, q, named, iterations).
    """
    small = TOUCH * EPS * size
    width = 0.0
    iterations = 1
    corners = NO_SIMPLEX
    if g.kind[a] == BOX and g.kind[b] == BOX:
        sure = True
        face_a, sep_a, face_b, sep_b, sep_e, n_edge, edges = sat_boxes(g, a, b, r, t)
    else:
        sure, n_edge, sep_e, top, corners, more = epa(g, a, b, r, t, axis, size, start)
        iterations += more
        face_a, sep_a, face_b, sep_b, edges = -1, -math.inf, -1, -math.inf, NO_EDGES
        if sure:
            face_a, sep_a, face_b, sep_b, sep_e, n_edge, edges = nearest_features(g, a, b, r, t, n_edge, corners)
            width = max(top - max(sep_a, sep_b, sep_e), 0.0)
            sure = width <= small
    if sure:
        best = max(sep_a, sep_b, sep_e)
        n, which = best_axis(g, r, face_a, sep_a, face_b, sep_b, sep_e, n_edge, size)
        if best > 0.0 and state == APART:  # apart, but closer than GJK can tell
            if high - best > small:
                high, p, q, named = feature_points(g, a, b, r, t, face_a, face_b, n, which, best, edges, size, high, p, q, named)
            if low >= best:
                n, best = axis, low
            if high - best <= small:
                return best, max(high, best), n, p, q, named, iterations
        elif which == 2 and state == INSIDE and high <= small and abs(best) <= small:  # it ended where they touch
            return best, no_more(best + width, n, p, q, size), n, p, q, named, iterations
        else:
            if which == 2 and edges[0] < 0 and best - max(sep_a, sep_b) <= small:  # faces askew by rounding
                which = 0 if sep_a >= sep_b else 1
            if which != 0:
                face_a = -1
            if which != 1:
                face_b = -1
            found, u, v = overlap_witness(g, a, b, r, t, face_a, face_b, n, best, edges, corners, size)
            if found:
                high = no_more(best + width, n, u, v, size)
                return best, high, n, u, v, edges if face_a < 0 and face_b < 0 else NO_ROWS, iterations
    below, above, n, u, v, count, rows, more = careful(g, a, b, r, t, axis, size)
    if state == APART and low > below:
        below, n = low, axis
    if sep_e > below + small and min(above, high) > below + small:  # crowds of corners: the axis that was met before does better
        below, n = sep_e, n_edge
    if above < high:
        return below, above, n, u, v, named_features(count, rows), iterations + more
    return below, high, n, p, q, named, iterations + more


overlap_far = far(
    overlap,
    lambda: (empty_geometry(), 0, 0, IDENTITY, ZERO, ZERO, 0.0, 0, 0.0, 0.0, ZERO, ZERO, NO_ROWS, NO_FOUR),
    returns=(0.0, 0.0, (0.0,) * 3, (0.0,) * 3, (0.0,) * 3, (0,) * 4, 0),
)
