"""Two polytopes, boxes or hulls of any rank: signed distance and manifold.

Distance: GJK while the bodies are apart, separating axes once they touch. The separation along an axis, evaluated by
support over all vertices, decides the sign and is the lower bound in either case.
"""

from __future__ import annotations

import math

import numpy as np

from collision.clip import OUT, at, face_patch, patch_capacity
from collision.epa import epa
from collision.geometry import BOX, empty_geometry
from collision.gjk import APART, BEYOND, INSIDE, gjk, witnesses
from collision.jit import far, inner, lean, remote
from collision.linalg import (
    IDENTITY,
    ZERO,
    add,
    axpy,
    cross,
    dot,
    load3,
    matmul,
    mul,
    mul_t,
    neg,
    norm,
    scale,
    sub,
    transpose,
)
from collision.pairs.result import answer, to_world
from collision.pairs.segments import segment, segments_closest
from collision.sat import NO_EDGES, sat_boxes, sat_polytopes, separation
from collision.support import EPS, aligned_face, support

# Pairs of edges up to which all axes are tried where the expanding polytope fails; beyond, the answer is UNCERTAIN.
AFFORDABLE = 1_000_000


# What a witness contact lies on: vertex rows (v, -1) for a vertex, (u, v) for an edge, (-1, -1) for a face.
NO_ROWS = (-1, -1, -1, -1)


@lean
def improve(g, a, b, r, t, n, low, m):
    """The better of two axes: (n, low), or m if its separation is larger."""
    s = separation(g, a, b, r, t, m)
    if s > low:
        return m, s
    return n, low


@lean
def improve_across(g, a, b, r, t, n, low, e):
    """The better of (n, low) and n made perpendicular to the edge e."""
    ee = dot(e, e)
    if ee == 0.0:
        return n, low
    m = axpy(-dot(e, n) / ee, e, n)
    m = axpy(-dot(e, m) / ee, e, m)
    length = norm(m)
    if length < 0.5:
        return n, low
    return improve(g, a, b, r, t, n, low, scale(1.0 / length, m))


@lean
def improve_normal(g, a, b, r, t, n, low, e, f):
    """The better of (n, low) and the unit normal of edges e and f that points along n."""
    m = cross(e, f)
    length = norm(m)
    if length <= 1e-14 * norm(e) * norm(f):
        return n, low
    m = scale(math.copysign(1.0 / length, dot(m, n)), m)
    m = axpy(-dot(e, m) / dot(e, e), e, m)  # exact across e at least where the edges are nearly parallel
    return improve(g, a, b, r, t, n, low, scale(1.0 / norm(m), m))


@lean
def polish(g, a, b, r, t, v, count, rows, high, size):
    """Best axis found from the end of GJK: (normal, separation).

    v is short next to the vertices it is the difference of, so its direction carries rounding of eps size / |v|. The
    features named by the simplex give it afresh: perpendicular to an edge, to two edges, or the normal of a face.
    """
    n = scale(1.0 / norm(v), v)
    low = separation(g, a, b, r, t, n)
    enough = high - 4.0 * EPS * size
    if low >= enough:
        return n, low
    ea = sub(load3(g.vertices, rows[2]), load3(g.vertices, rows[0]))
    eb = mul(r, sub(load3(g.vertices, rows[3]), load3(g.vertices, rows[1])))
    e0 = sub(eb, ea)
    if count >= 2:
        for e in (e0, ea, eb):
            n, low = improve_across(g, a, b, r, t, n, low, e)
    if count == 3:
        fa = sub(load3(g.vertices, rows[4]), load3(g.vertices, rows[0]))
        fb = mul(r, sub(load3(g.vertices, rows[5]), load3(g.vertices, rows[1])))
        n, low = improve_normal(g, a, b, r, t, n, low, e0, sub(fb, fa))
        if norm(ea) == 0.0:
            ea = fa
        if norm(eb) == 0.0:
            eb = fb
        n, low = improve_normal(g, a, b, r, t, n, low, ea, eb)
    if low >= enough:
        return n, low
    f = aligned_face(g, a, n)
    if f >= 0:
        n, low = improve(g, a, b, r, t, n, low, load3(g.normals, f))
    f = aligned_face(g, b, neg(mul_t(r, n)))
    if f >= 0:
        n, low = improve(g, a, b, r, t, n, low, neg(mul(r, load3(g.normals, f))))
    return n, low


@lean
def polish_segments(g, a, b, r, t, v, high):
    """Best axis of two segments that are apart along v: (normal, separation)."""
    n = scale(1.0 / high, v)
    low = separation(g, a, b, r, t, n)
    _, da, _, _ = segment(g, a)
    _, db, _, _ = segment(g, b)
    db = mul(r, db)
    n, low = improve_across(g, a, b, r, t, n, low, da)
    n, low = improve_across(g, a, b, r, t, n, low, db)
    return improve_normal(g, a, b, r, t, n, low, da, db)


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
def edge_points(g, r, t, edges):
    """Closest points of edge (a0, a1) of A and edge (b0, b1) of B, in A's frame."""
    pa = load3(g.vertices, edges[0])
    pb = load3(g.vertices, edges[2])
    da = sub(load3(g.vertices, edges[1]), pa)
    db = mul(r, sub(load3(g.vertices, edges[3]), pb))
    return lines_closest(pa, da, add(mul(r, pb), t), db)


@inner
def overlap_witness(g, a, b, r, t, face_a, face_b, n, sep, edges, size):
    """Deepest points of overlapping bodies in A's frame, for the axis of a face or of two edges."""
    if face_a < 0 and face_b < 0:
        _, p = support(g, a, n)
        if edges[0] >= 0:
            p, _ = edge_points(g, r, t, edges)
        return p, axpy(sep, n, p)
    origin = (0.0, 0.0, 0.0)
    eye = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    cap = patch_capacity(g, a, face_a, b) if face_a >= 0 else patch_capacity(g, b, face_b, a)
    work = np.empty((cap, 10))
    tags = np.empty((cap, 5), np.int64)
    if face_a >= 0:
        count, _, k = face_patch(g, a, origin, eye, b, t, r, face_a, math.inf, size, work, tags)
        if count > 0:
            q = at(work, k, OUT)
        else:
            _, q = support(g, b, neg(mul_t(r, n)))
            q = add(mul(r, q), t)
        return axpy(-sep, n, q), q
    count, _, k = face_patch(g, b, t, r, a, origin, eye, face_b, math.inf, size, work, tags)
    if count > 0:
        p = at(work, k, OUT)
    else:
        _, p = support(g, a, n)
    return p, axpy(sep, n, p)


@lean
def nearest_features(g, a, b, r, t, n, sep, corners):
    """The features that the nearest face of the Minkowski difference stands for, in the form of `sat_polytopes`."""
    face_a = aligned_face(g, a, n)
    face_b = aligned_face(g, b, neg(mul_t(r, n)))
    sep_a, sep_b = -math.inf, -math.inf
    if face_a >= 0:
        sep_a = separation(g, a, b, r, t, load3(g.normals, face_a))
    if face_b >= 0:
        sep_b = separation(g, a, b, r, t, neg(mul(r, load3(g.normals, face_b))))
    edges = named_features(3, corners)
    if edges[1] < 0 or edges[3] < 0:
        return face_a, sep_a, face_b, sep_b, sep, n, NO_EDGES
    ea = sub(load3(g.vertices, edges[1]), load3(g.vertices, edges[0]))
    eb = mul(r, sub(load3(g.vertices, edges[3]), load3(g.vertices, edges[2])))
    n, sep = improve_normal(g, a, b, r, t, n, sep, ea, eb)
    return face_a, sep_a, face_b, sep_b, sep, n, edges


@remote
def polytope_query(g, a, b, r, t, axis, margin, size):
    """Signed distance of polytopes a and b, B standing at (r, t) in A's frame.

    Returns (low, high, n, p, q, rows, iterations): unrounded bounds, normal and witness points in A's frame, and the
    features (see NO_ROWS). low > margin: the search stopped there.
    """
    face_a, sep_a, face_b, sep_b, sep_e, n_edge, edges = -1, -math.inf, -1, -math.inf, -math.inf, axis, NO_EDGES
    boxes = g.kind[a] == BOX and g.kind[b] == BOX
    guess = axis
    iterations = 0
    touch = True
    state = INSIDE
    high = math.inf
    p = q = (0.0, 0.0, 0.0)
    if boxes:
        face_a, sep_a, face_b, sep_b, sep_e, n_edge, edges = sat_boxes(g, a, b, r, t)
        low = max(sep_a, sep_b, sep_e)
        guess, _ = best_axis(g, r, face_a, sep_a, face_b, sep_b, sep_e, n_edge, size)
        touch = low <= 0.0
        if low > margin:
            _, p = support(g, a, guess)
            return low, math.inf, guess, p, axpy(low, guess, p), NO_ROWS, 1
    if g.rank[a] <= 1 and g.rank[b] <= 1:
        v, p, q, named = segments_closest(g, a, b, r, t)
        high = norm(v)
        if high > 16.0 * EPS * size:
            n, low = polish_segments(g, a, b, r, t, v, high)
            return low, high, n, p, q, named, 1
    elif not boxes or not touch:
        state, v, low, count, rows, weights, iterations = gjk(g, a, b, r, t, guess, margin, size)
        high = norm(v)
        if state == BEYOND:
            p, q = witnesses(g, a, b, r, t, count, rows, weights)
            return low, high, scale(1.0 / high, v), p, q, NO_ROWS, iterations
        touch = True
        if state == APART:
            n, low = polish(g, a, b, r, t, v, count, rows, high, size)
            if boxes:
                n, low = improve(g, a, b, r, t, n, low, guess)
            p, q = witnesses(g, a, b, r, t, count, rows, weights)
            between = norm(sub(q, p))
            if abs(between - high) > 8.0 * EPS * size:  # a sliver: v is no point of B - A
                high = between
            touch = high - low > 64.0 * EPS * size
            named = named_features(count, rows)
            if not touch or low > 1e-3 * size:
                return low, high, n, p, q, named, iterations
    width = 0.0
    if not boxes:
        sound, n_edge, sep_e, top, corners, more = epa(g, a, b, r, t, guess, size)
        iterations += more
        if sound:
            face_a, sep_a, face_b, sep_b, sep_e, n_edge, edges = nearest_features(g, a, b, r, t, n_edge, sep_e, corners)
            width = max(top - max(sep_a, sep_b, sep_e), 0.0)
        if not sound or width > 64.0 * EPS * size:
            width = min(top, high) - sep_e
            if (g.edge[a, 1] - g.edge[a, 0]) * (g.edge[b, 1] - g.edge[b, 0]) <= AFFORDABLE:
                face_a, sep_a, face_b, sep_b, sep_e, n_edge, edges = sat_polytopes(g, a, b, r, t, guess)
                width = 0.0
    best = max(sep_a, sep_b, sep_e)
    if best > 0.0 and high < math.inf and state == APART:  # apart, but closer than GJK can tell
        if low >= best:
            return low, high, n, p, q, named, iterations
        axis_best, _ = best_axis(g, r, face_a, sep_a, face_b, sep_b, sep_e, n_edge, size)
        return best, max(high, best), axis_best, p, q, named, iterations
    n, which = best_axis(g, r, face_a, sep_a, face_b, sep_b, sep_e, n_edge, size)
    if which == 2 and edges[0] < 0:  # no two edges but faces askew by rounding: the points are those of the better face
        which = 0 if sep_a >= sep_b else 1
    if which != 0:
        face_a = -1
    if which != 1:
        face_b = -1
    p, q = overlap_witness(g, a, b, r, t, face_a, face_b, n, best, edges, size)
    if face_a < 0 and face_b < 0:
        named = edges
    else:
        named = NO_ROWS
    return best, best + width, n, p, q, named, iterations + 1


polytope_query_far = far(polytope_query, lambda: (empty_geometry(), 0, 0, IDENTITY, ZERO, ZERO, 0.0, 0.0))


@lean
def best_axis(g, r, face_a, sep_a, face_b, sep_b, sep_e, n_edge, size):
    """The axis of greatest separation in A's frame, and 0 for a face of A, 1 for one of B, 2 for edges.

    A face goes before edges that are better by rounding alone: on parallel faces any two edges that cross give the
    same axis, but not all of them meet.
    """
    slack = 16.0 * EPS * size
    if face_a >= 0 and sep_a >= sep_b and sep_a >= sep_e - slack:
        return load3(g.normals, face_a), 0
    if face_b >= 0 and sep_b >= sep_e - slack:
        return neg(mul(r, load3(g.normals, face_b))), 1
    return n_edge, 2


@lean
def named_features(count, rows):
    """Features that the corners of a simplex stand for, as in NO_ROWS."""
    a0, b0 = rows[0], rows[1]
    a1, b1 = -1, -1
    faces_a, faces_b = False, False
    if count > 1:
        if rows[2] != a0:
            a1 = rows[2]
        if rows[3] != b0:
            b1 = rows[3]
    if count > 2:
        if rows[4] != a0 and rows[4] != a1:
            faces_a = a1 >= 0
            a1 = rows[4]
        if rows[5] != b0 and rows[5] != b1:
            faces_b = b1 >= 0
            b1 = rows[5]
    if faces_a:
        a0, a1 = -1, -1
    if faces_b:
        b0, b1 = -1, -1
    return a0, a1, b0, b1


@lean
def relative(xa, ra, xb, rb):
    """Rotation and translation of B in A's frame."""
    return matmul(transpose(ra), rb), mul_t(ra, sub(xb, xa))


@lean
def start_axis(g, a, b, ra, r, t, axis):
    """First guess of the normal in A's frame: the warm axis, else from centre to centre, else z."""
    if axis[0] != 0.0 or axis[1] != 0.0 or axis[2] != 0.0:
        return mul_t(ra, axis)
    n = sub(add(mul(r, load3(g.center, b)), t), load3(g.center, a))
    length = norm(n)
    return scale(1.0 / length, n) if length > 0.0 else (0.0, 0.0, 1.0)


@lean
def polytope_distance(g, a, xa, ra, b, xb, rb, margin, axis):
    """Signed distance of two polytopes."""
    r, t = relative(xa, ra, xb, rb)
    size = g.radius[a] + g.radius[b] + norm(t)
    guess = start_axis(g, a, b, ra, r, t, axis)
    low, high, n, p, q, _, iterations = polytope_query_far(g, a, b, r, t, guess, margin, size)
    return answer(low, high, to_world(ra, n), mul(ra, p), mul(ra, q), xa, size, margin, iterations)
