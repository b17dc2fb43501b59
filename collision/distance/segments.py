"""Two segments or points: the closest pair is at an end of one of them or on the common perpendicular of both lines.

GJK has nothing to hold on to where segments are nearly parallel: all its triangles are slivers.
"""

from __future__ import annotations

from tumble.collision.distance.simplex import closest_segment
from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import add, axpy, cross, dot, load3, mul, neg, sub


@lean
def segment(g, s):
    """Start and direction of a body of rank 0 or 1, and the rows of its ends."""
    first, last = g.vertex[s, 0], g.vertex[s, 1] - 1
    p = load3(g.vertices, first)
    return p, sub(load3(g.vertices, last), p), first, last


@lean
def end_to_line(p, q, d):
    """From point p to the segment q + u d: (vector, u); exact across the segment."""
    w = sub(q, p)
    v, _, u = closest_segment(w, add(w, d))
    return v, u


@lean
def segments_closest(g, a, b, r, t):
    """(v, p, q, rows): the shortest vector from A to B, its ends, and the features that it joins.

    rows: (a0, a1, b0, b1) as vertex rows, a1 or b1 -1 for an end.
    """
    pa, da, a0, a1 = segment(g, a)
    pb, db, b0, b1 = segment(g, b)
    pb = add(mul(r, pb), t)
    db = mul(r, db)
    best, u = end_to_line(pa, pb, db)
    s, rows = 0.0, (a0, -1, b0, b1)
    if a1 > a0:
        v, x = end_to_line(add(pa, da), pb, db)
        if dot(v, v) < dot(best, best):
            best, s, u, rows = v, 1.0, x, (a1, -1, b0, b1)
    v, x = end_to_line(pb, pa, da)
    if dot(v, v) < dot(best, best):
        best, s, u, rows = neg(v), x, 0.0, (a0, a1, b0, -1)
    if b1 > b0:
        v, x = end_to_line(add(pb, db), pa, da)
        if dot(v, v) < dot(best, best):
            best, s, u, rows = neg(v), x, 1.0, (a0, a1, b1, -1)
    n = cross(da, db)
    nn = dot(n, n)
    if nn > 1e-28 * dot(da, da) * dot(db, db) and nn > 0.0:
        x = dot(cross(sub(pb, pa), db), n) / nn
        if 0.0 < x < 1.0:  # from that place to the other line and back: the vector is then right whatever n lost
            v, y = end_to_line(axpy(x, da, pa), pb, db)
            v, x = end_to_line(axpy(y, db, pb), pa, da)
            if dot(v, v) < dot(best, best):
                best, s, u, rows = neg(v), x, y, (a0, a1, b0, b1)
    if rows[1] >= 0 and (s == 0.0 or s == 1.0):
        rows = (a0 if s == 0.0 else a1, -1, rows[2], rows[3])
    if rows[3] >= 0 and (u == 0.0 or u == 1.0):
        rows = (rows[0], rows[1], b0 if u == 0.0 else b1, -1)
    return best, axpy(s, da, pa), axpy(u, db, pb), rows


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
