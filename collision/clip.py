"""The patch that two flat features share: one clipped against the sides of the other (Sutherland and Hodgman 1974).

The reference face belongs to one body, the incident feature (a face, an edge or a vertex) to the other. Points that
remain have a gap, their distance from the plane of the reference face, and an id made of the vertices and edges
that cross there, so that the same corner has the same id from step to step.
"""

from __future__ import annotations

import math

import numpy as np

from collision.geometry import BOX
from collision.linalg import add, axpy, cross, dot, load3, mul, mul_t, neg, norm, scale, store3, sub
from collision.support import EPS, aligned_face, inner, is_polytope, support

# Of the shortest edge of the two features. A vertex this little beyond a side counts as inside, so that aligned boxes
# have the same four points whatever the rounding.
INSIDE = 1e-7
# Points closer than this are one. A corner cut off by less keeps the id of the vertex that it stands for.
SNAP = 1e-6
MASK = (1 << 14) - 1


@inner
def incident_face(g, s, d):
    """The face that lies lowest along -d: it holds the support vertex along d and the flattest edge from there.

    -1 for segments and points.
    """
    if g.kind[s] == BOX:
        return aligned_face(g, s, d)
    if not is_polytope(g.kind[s]) or g.face[s, 1] == g.face[s, 0]:
        return -1
    row, v = support(g, s, d)
    other = -1
    flattest = -math.inf
    for k in range(g.neighbor_start[row], g.neighbor_start[row + 1]):
        e = sub(load3(g.vertices, g.neighbors[k]), v)
        slope = dot(e, d) / norm(e)
        if slope > flattest:
            flattest = slope
            other = g.neighbors[k]
    low, up = min(row, other), max(row, other)
    for e in range(g.edge[s, 0], g.edge[s, 1]):
        if g.edges[e, 0] == low and g.edges[e, 1] == up or g.edges[e, 0] == up and g.edges[e, 1] == low:
            f, h = g.edges[e, 2], g.edges[e, 3]
            if h < 0 or f >= 0 and dot(load3(g.normals, f), d) >= dot(load3(g.normals, h), d):
                return f
            return h
    return aligned_face(g, s, d)


@inner
def edge_id(u, v):
    """Two vertex numbers in either order."""
    return (min(u, v) & MASK) | (max(u, v) & MASK) << 14


@inner
def corner_id(source, plane, count, loop_first, loops, base):
    """Id of the point where an edge, on its way along `source`, meets side `plane` of the reference face.

    source >= 0: edge of the incident feature (its `edge_id`); source < 0: side -1 - source of the reference face.
    """
    k = (plane + 1) % count
    p = loops[loop_first + plane] - base
    q = loops[loop_first + k] - base
    if source >= 0:
        return 1 << 56 | source << 28 | edge_id(p, q)
    other = -1 - source
    if other == k:
        return 2 << 56 | q & MASK
    if plane == (other + 1) % count:
        return 2 << 56 | p & MASK
    return 3 << 56 | edge_id(other, plane)


@inner
def face_patch(g, ref, x_ref, r_ref, inc, x_inc, r_inc, f, limit, size, points, gaps, ids):
    """Clip the incident feature of ``inc`` against face ``f`` of ``ref``; positions relative to one origin near both.

    Writes points of the incident feature (not moved to the plane), their gaps <= ``limit`` [m] and ids.
    Returns (count, least gap, its place); the arrays must hold `patch_capacity` rows.
    """
    n = mul(r_ref, load3(g.normals, f))
    down = neg(mul_t(r_inc, n))
    face = incident_face(g, inc, down)
    start_ref = g.loop_start[f]
    count_ref = g.loop_start[f + 1] - start_ref
    base = g.vertex[ref, 0]
    base_inc = g.vertex[inc, 0]
    cap = points.shape[0]
    p = np.empty((2, cap, 3))
    label = np.empty((2, cap, 2), np.int64)  # id of the point, source of the edge that leaves it
    m = 0
    if face >= 0:
        start = g.loop_start[face]
        m = g.loop_start[face + 1] - start
        for k in range(m):
            row = g.loops[start + k]
            follow = g.loops[start + (k + 1) % m]
            store3(p[0], k, add(mul(r_inc, load3(g.vertices, row)), x_inc))
            label[0, k, 0] = row - base_inc
            label[0, k, 1] = edge_id(row - base_inc, follow - base_inc)
    else:
        m = g.vertex[inc, 1] - base_inc
        for k in range(m):
            store3(p[0], k, add(mul(r_inc, load3(g.vertices, base_inc + k)), x_inc))
            label[0, k, 0] = k
            label[0, k, 1] = edge_id(0, 1)
    shortest = math.inf
    for i in range(m):
        if m > 1:
            shortest = min(shortest, norm(sub(load3(p[0], (i + 1) % m), load3(p[0], i))))
    for k in range(count_ref):
        u = load3(g.vertices, g.loops[start_ref + k])
        shortest = min(shortest, norm(sub(load3(g.vertices, g.loops[start_ref + (k + 1) % count_ref]), u)))
    inside = INSIDE * shortest + 4.0 * EPS * size
    snap = SNAP * shortest + 4.0 * EPS * size
    now = 0
    for k in range(count_ref):
        if m == 0:
            break
        corner = mul(r_ref, load3(g.vertices, g.loops[start_ref + k]))
        side = cross(sub(mul(r_ref, load3(g.vertices, g.loops[start_ref + (k + 1) % count_ref])), corner), n)
        length = norm(side)
        if length == 0.0:
            continue
        side = scale(1.0 / length, side)
        offset = dot(side, corner) + dot(side, x_ref)
        new = 1 - now
        kept = 0
        for i in range(m):
            j = (i + 1) % m
            u = load3(p[now], i)
            v = load3(p[now], j)
            du = dot(side, u) - offset
            dv = dot(side, v) - offset
            in_u = du <= inside
            in_v = dv <= inside
            if in_u and kept < cap:
                store3(p[new], kept, u)
                label[new, kept, 0] = label[now, i, 0]
                label[new, kept, 1] = label[now, i, 1]
                kept += 1
            if in_u != in_v and kept < cap:
                if abs(du) < abs(dv):  # from the nearer end; never beyond it, though both may lie outside by a hair
                    w = axpy(max(du / (du - dv), 0.0), sub(v, u), u)
                else:
                    w = axpy(max(dv / (dv - du), 0.0), sub(u, v), v)
                source = label[now, i, 1]
                name = corner_id(source, k, count_ref, start_ref, g.loops, base)
                if in_u:
                    if norm(sub(w, u)) <= snap:  # the corner inside stands for both
                        label[new, kept - 1, 1] = -1 - k
                        continue
                    name = (
                        label[now, j, 0]
                        if norm(sub(w, v)) <= snap
                        else corner_id(source, k, count_ref, start_ref, g.loops, base)
                    )
                    label[new, kept, 1] = -1 - k
                else:
                    if norm(sub(w, v)) <= snap:
                        continue
                    name = (
                        label[now, i, 0]
                        if norm(sub(w, u)) <= snap
                        else corner_id(source, k, count_ref, start_ref, g.loops, base)
                    )
                    label[new, kept, 1] = source
                label[new, kept, 0] = name
                store3(p[new], kept, w)
                kept += 1
        m = kept
        now = new
    count = 0
    least = math.inf
    deepest = -1
    for i in range(m):
        u = load3(p[now], i)
        gap = dot(n, sub(u, x_ref)) - g.offsets[f]
        if gap > limit:
            continue
        double = False
        for j in range(count):
            if norm(sub(load3(points, j), u)) <= snap:
                double = True
                break
        if double:
            continue
        store3(points, count, u)
        gaps[count] = gap
        ids[count] = label[now, i, 0]
        if gap < least:
            least = gap
            deepest = count
        count += 1
    return count, least, deepest


@inner
def patch_capacity(g, ref, f, inc):
    """Rows that `face_patch` may need: corners of both polygons, since each side adds one corner at most."""
    most = 2
    for k in range(g.face[inc, 0], g.face[inc, 1]):
        most = max(most, g.loop_start[k + 1] - g.loop_start[k])
    return most + g.loop_start[f + 1] - g.loop_start[f] + 2
