"""Axes of two polytopes: made better by the features that they touch, and the choice among the best ones."""

from __future__ import annotations

import math

from tumble.collision.distance.gjk import SHIFT
from tumble.collision.distance.sat import separation
from tumble.collision.distance.segments import segment
from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import ZERO, axpy, cross, dot, load3, mul, mul_t, neg, norm, scale, sub
from tumble.collision.shapes.support_points import EPS, aligned_face, core_vertex

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
def named_edge(g, a, b, r, name, other):
    """From one named corner to another: of A, of B."""
    ea = sub(core_vertex(g, a, other // SHIFT), core_vertex(g, a, name // SHIFT))
    return ea, mul(r, sub(core_vertex(g, b, other % SHIFT), core_vertex(g, b, name % SHIFT)))


@lean
def polish(g, a, b, r, t, n, low, names, high, size):
    """Best axis found from the end of GJK, which was n with the separation low: (normal, separation).

    The search ends with v, a difference of vertices that are long beside it, so rounding turns its direction by eps size / |v|.
    The features that the simplex names give the direction afresh: perpendicular to an edge, to two edges, or the normal of a
    face.
    """
    enough = high - 4.0 * EPS * size
    ea, eb = ZERO, ZERO
    if names[1] >= 0:
        ea, eb = named_edge(g, a, b, r, names[0], names[1])
        for e in (sub(eb, ea), ea, eb):
            n, low = improve_across(g, a, b, r, t, n, low, e)
    if names[2] >= 0:
        fa, fb = named_edge(g, a, b, r, names[0], names[2])
        n, low = improve_normal(g, a, b, r, t, n, low, sub(eb, ea), sub(fb, fa))
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
def best_axis(g, r, face_a, sep_a, face_b, sep_b, sep_e, n_edge, size):
    """The axis of greatest separation in A's frame, and 0 for a face of A, 1 for one of B, 2 for edges.

    A face is preferred to edges that are better by rounding alone. On parallel faces any two edges that cross give the same
    axis, but most of them do not meet.
    """
    slack = 16.0 * EPS * size
    if face_a >= 0 and sep_a >= sep_b and sep_a >= sep_e - slack:
        return load3(g.normals, face_a), 0
    if face_b >= 0 and sep_b >= sep_e - slack:
        return neg(mul(r, load3(g.normals, face_b))), 1
    return n_edge, 2


@lean
def named_features(names):
    """Features that one to three named corners stand for, as in NO_ROWS; that for none."""
    i, j, k = names[0], names[1], names[2]
    if i < 0:
        return NO_ROWS
    a0, a1 = _feature(i // SHIFT, j // SHIFT if j >= 0 else -1, k // SHIFT if k >= 0 else -1)
    b0, b1 = _feature(i % SHIFT, j % SHIFT if j >= 0 else -1, k % SHIFT if k >= 0 else -1)
    return a0, a1, b0, b1


@lean
def _feature(i, j, k):
    """The feature of one body whose corners these are, of which some may be the same, and j and k below 0 are none."""
    other = j if j != i else -1
    if k >= 0 and k != i and k != other:
        return (i, k) if other < 0 else (-1, -1)
    return i, other
