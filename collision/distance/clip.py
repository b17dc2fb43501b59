"""The patch that two flat features share: one clipped against the sides of the other (Sutherland and Hodgman 1974).

The reference face belongs to one body, the incident feature (a face, an edge or a vertex) to the other. Points that
remain have a gap, their distance from the plane of the reference face, and an id made of the vertices and edges
that cross there, so that the same corner has the same id from step to step.
"""

from __future__ import annotations

import math

from tumble.collision.geometry import BOX
from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import add, at, axpy, cross, dot, load3, mul, mul_t, neg, norm, scale, set_at, sub
from tumble.collision.shapes.support_points import EPS, aligned_face, is_polytope, support

# Of the shortest edge of the two features. A vertex this little beyond a side counts as inside, so that aligned boxes
# have the same four points whatever the rounding.
INSIDE_SLACK = 1e-7
# Points closer than this are one. A corner cut off by less keeps the id of the vertex that it stands for.
SNAP = 1e-6
MASK = (1 << 14) - 1


@lean
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


@lean
def edge_id(u, v):
    """Two vertex numbers in either order."""
    return (min(u, v) & MASK) | (max(u, v) & MASK) << 14


@lean
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


# Columns of the scratch arrays of a patch: two polygons in turn, then the points that remain.
OUT, GAP = 6, 9  # work (n, 10): polygon corners 0-2 and 3-5, points 6-8, gaps 9
NAME = 4  # tags (n, 5): id of a corner and source of the edge that leaves it, 0-1 and 2-3; ids of the points 4


@lean
def load_incident(g, inc, x_inc, r_inc, face, work, tags):
    """The incident feature as a polygon at columns 0: its number of corners."""
    base = g.vertex[inc, 0]
    if face < 0:
        count = g.vertex[inc, 1] - base
        for k in range(count):
            set_at(work, k, 0, add(mul(r_inc, load3(g.vertices, base + k)), x_inc))
            tags[k, 0] = k
            tags[k, 1] = edge_id(0, 1)
        return count
    start = g.loop_start[face]
    count = g.loop_start[face + 1] - start
    for k in range(count):
        row = g.loops[start + k]
        follow = g.loops[start + (k + 1) % count]
        set_at(work, k, 0, add(mul(r_inc, load3(g.vertices, row)), x_inc))
        tags[k, 0] = row - base
        tags[k, 1] = edge_id(row - base, follow - base)
    return count


@lean
def cut(work, tags, m, now, side, offset, plane, count_ref, start_ref, loops, base, inside, snap):
    """Cut the polygon at columns 3 now by side . x <= offset, into the other columns: its number of corners."""
    cap = work.shape[0]
    new = 1 - now
    u_col, w_col = 3 * now, 3 * new
    u_tag, w_tag = 2 * now, 2 * new
    kept = 0
    for i in range(m):
        j = (i + 1) % m
        u = at(work, i, u_col)
        v = at(work, j, u_col)
        du = dot(side, u) - offset
        dv = dot(side, v) - offset
        in_u = du <= inside
        in_v = dv <= inside
        if in_u and kept < cap:
            set_at(work, kept, w_col, u)
            tags[kept, w_tag] = tags[i, u_tag]
            tags[kept, w_tag + 1] = tags[i, u_tag + 1]
            kept += 1
        if in_u != in_v and kept < cap:
            if abs(du) < abs(dv):  # from the nearer end; never beyond it, though both may lie outside by a hair
                w = axpy(max(du / (du - dv), 0.0), sub(v, u), u)
            else:
                w = axpy(max(dv / (dv - du), 0.0), sub(u, v), v)
            source = tags[i, u_tag + 1]
            name = corner_id(source, plane, count_ref, start_ref, loops, base)
            if in_u:
                if norm(sub(w, u)) <= snap:  # the corner inside stands for both
                    tags[kept - 1, w_tag + 1] = -1 - plane
                    continue
                if norm(sub(w, v)) <= snap:
                    name = tags[j, u_tag]
                source = -1 - plane
            else:
                if norm(sub(w, v)) <= snap:
                    continue
                if norm(sub(w, u)) <= snap:
                    name = tags[i, u_tag]
            set_at(work, kept, w_col, w)
            tags[kept, w_tag] = name
            tags[kept, w_tag + 1] = source
            kept += 1
    return kept


@lean
def face_patch(g, ref, x_ref, r_ref, inc, x_inc, r_inc, f, limit, size, beyond, work, tags):
    """Clip the incident feature of ``inc`` against face ``f`` of ``ref``; positions relative to one origin near both.

    Writes points of the incident feature (not moved to the plane), their gaps <= ``limit`` [m] and ids to the columns
    OUT, GAP and NAME. ``beyond``: how far points may lie out of the sides, of the shortest edge; see INSIDE_SLACK. Returns
    (count, least gap, its row); work and tags must hold `patch_capacity` rows.
    """
    n = mul(r_ref, load3(g.normals, f))
    m = load_incident(g, inc, x_inc, r_inc, incident_face(g, inc, neg(mul_t(r_inc, n))), work, tags)
    start_ref = g.loop_start[f]
    count_ref = g.loop_start[f + 1] - start_ref
    shortest = math.inf
    for i in range(m):
        if m > 1:
            shortest = min(shortest, norm(sub(at(work, (i + 1) % m, 0), at(work, i, 0))))
    for k in range(count_ref):
        u = load3(g.vertices, g.loops[start_ref + k])
        shortest = min(shortest, norm(sub(load3(g.vertices, g.loops[start_ref + (k + 1) % count_ref]), u)))
    inside = beyond * shortest + 4.0 * EPS * size
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
        m = cut(work, tags, m, now, side, offset, k, count_ref, start_ref, g.loops, g.vertex[ref, 0], inside, snap)
        now = 1 - now
    count = 0
    least = math.inf
    deepest = -1
    for i in range(m):
        u = at(work, i, 3 * now)
        gap = dot(n, sub(u, x_ref)) - g.offsets[f]
        double = False
        for j in range(count):
            if norm(sub(at(work, j, OUT), u)) <= snap:
                double = True
                break
        if gap > limit or double:
            continue
        set_at(work, count, OUT, u)
        work[count, GAP] = gap
        tags[count, NAME] = tags[i, 2 * now]
        if gap < least:
            least = gap
            deepest = count
        count += 1
    return count, least, deepest


@lean
def patch_capacity(g, f, inc):
    """Rows that `face_patch` may need: corners of both polygons, since each side adds one corner at most."""
    most = 2
    for k in range(g.face[inc, 0], g.face[inc, 1]):
        most = max(most, g.loop_start[k + 1] - g.loop_start[k])
    return most + g.loop_start[f + 1] - g.loop_start[f] + 2
