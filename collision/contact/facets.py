"""Triangles of a ground as the kernels of pairs take them: flat hulls, that know which normals a contact with them may have.

Where all that is near is one plane face, a half-space takes the place of its triangles (`set_plane`; ground/nearby.py).

A ground is a surface, and its triangles are not bodies of their own. So a body that touches the rim of a triangle touches the
surface there only along a normal that the triangles around the place allow. At an edge these are the normals between those of its
two sides; at a corner they are those along which no edge from there leads (the Voronoi regions of the surface). On a flat floor
only the normal of the floor is left, so that a body slides over it without catching on an edge.

Each edge keeps two directions: along its own triangle and away from it, and the same for the triangle on the other side. A
normal u is allowed at the edge if u has no component against either.
"""

from __future__ import annotations

import math

from tumble.collision.geometry import EDGES, FACET, FIELD, HALFSPACE, HELD, HULL, LEVEL, NORMAL, RAYS, RING, RINGS, SIDES
from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import at, axpy, cross, dot, load3, mul, mul_t, neg, norm, scale, set_at, store3, sub

FLAT_BEND = 1e-6  # [rad] triangles that bend less where they meet are flat there
ANGLE = 1e-9  # [rad] normals so little outside what is allowed are inside
UPRIGHT = 1e-7  # [rad] normals so near to that of the triangle are its own
SMOOTH, BENT, RIM = range(3)  # edges
OWN, FREE, BARRED = range(3)  # normals: that of the triangle; another that is allowed; one that is not


@lean
def is_facet(g, s):
    return g.facet[s, 1] > g.facet[s, 0]


@lean
def is_level(g, s):
    """Whether s is a facet whose plane goes on beyond all of its edges: for contacts with it a half-space will do."""
    return is_facet(g, s) and g.facets[g.facet[s, 0], LEVEL] == 1.0


@lean
def vertex_of(g, s, t, k):
    """Number of corner k of triangle t of ground s."""
    if g.ground[s, 0] != FIELD:
        return whole(g.triangles[g.triangle[s, 0] + t, k])
    side = g.ground[s, 3]
    cell = t // 2
    i, j = cell // (side - 1), cell % (side - 1)
    if k == 0:
        return i * side + j
    if (k == 1) == (t % 2 == 1) or (k == 2 and t % 2 == 0):  # the far corner of the cell
        return (i + 1) * side + j + 1
    return (i + 1) * side + j if t % 2 == 0 else i * side + j + 1


@lean
def whole(x):
    """A number of a table of four-byte ones."""
    return int(x)


@lean
def place_of(g, s, v):
    """Where vertex v of ground s is."""
    if g.ground[s, 0] != FIELD:
        return load3(g.corners, g.corner[s, 0] + v)
    side = g.ground[s, 3]
    i, j = v // side, v % side
    return (g.size[s, 1] + i * g.size[s, 0], g.size[s, 2] + j * g.size[s, 0], g.heights[g.height[s, 0] + v])


@lean
def beyond(g, s, t, e):
    """The triangle across edge e, from corner e to the next, of triangle t of ground s; -1: none."""
    if g.ground[s, 0] != FIELD:
        return whole(g.across[g.triangle[s, 0] + t, e])
    cells = g.ground[s, 3] - 1
    cell = t // 2
    i, j = cell // cells, cell % cells
    if t % 2 == 0:
        if e == 2:
            return t + 1
        if e == 0:
            return 2 * (cell - 1) + 1 if j > 0 else -1
        return 2 * (cell + cells) + 1 if i < g.ground[s, 2] - 2 else -1
    if e == 0:
        return t - 1
    if e == 1:
        return 2 * (cell + 1) if j < cells - 1 else -1
    return 2 * (cell - cells) if i > 0 else -1


@lean
def corners_of(g, s, t):
    """The corners of triangle t of ground s."""
    return (
        place_of(g, s, vertex_of(g, s, t, 0)), place_of(g, s, vertex_of(g, s, t, 1)), place_of(g, s, vertex_of(g, s, t, 2))
    )  # fmt: skip


@lean
def away(start, end, corner):
    """Unit vector across the edge from start to end, away from the third corner of its triangle, in its plane."""
    d = sub(end, start)
    x = sub(start, corner)
    x = axpy(-dot(x, d) / dot(d, d), d, x)
    return scale(1.0 / norm(x), x)


@lean
def set_plane(g, f, s, plane, side):
    """Make facet f the half-space under a plane of ground s, or with side 1 the one above it. Its frame is that of the ground."""
    row = g.plane[s, 0] + plane
    for k in range(4):
        g.size[f, k] = -g.planes[row, k] if side == 1 else g.planes[row, k]
        if k < 3:
            g.center[f, k] = 0.0
    g.kind[f], g.radius[f] = HALFSPACE, math.inf
    g.facet[f, 1] = g.facet[f, 0]  # pairs know it as the half-space that it is
    g.facets[g.facet[f, 0], HELD] = -1.0


@lean
def is_plane(g, f, s, plane, side):
    """Whether facet f is that half-space."""
    row = g.plane[s, 0] + plane
    same = g.kind[f] == HALFSPACE
    for k in range(4):
        same = same and g.size[f, k] == (-g.planes[row, k] if side == 1 else g.planes[row, k])
    return same


@lean
def set_facet(g, f, s, t):
    """Make facet f triangle t of ground s. Its frame is that of the ground, moved to the first corner, which is returned."""
    row = g.facet[f, 0]
    g.kind[f], g.facet[f, 1] = HULL, row + 1
    corners = corners_of(g, s, t)
    a, b, c = corners
    n = cross(sub(b, a), sub(c, a))
    n = scale(1.0 / norm(n), n)
    first = g.vertex[f, 0]
    store3(g.vertices, first, (0.0, 0.0, 0.0))
    store3(g.vertices, first + 1, sub(b, a))
    store3(g.vertices, first + 2, sub(c, a))
    block = g.block[f, 0]
    for k in range(3):
        for lane in range(8):
            g.blocks[block, 8 * k + lane] = g.vertices[first + min(lane, 2), k]  # filled up with the last
        g.center[f, k] = (g.vertices[first + 1, k] + g.vertices[first + 2, k]) / 3.0
    g.radius[f] = max(norm(sub(b, a)), norm(sub(c, a)))
    up = g.face[f, 0]
    store3(g.normals, up, n)
    store3(g.normals, up + 1, neg(n))
    g.offsets[up] = g.offsets[up + 1] = 0.0
    store3(g.size, f, n)  # the plane of the triangle, as a half-space has it
    g.size[f, 3] = 0.0
    for k in range(FACET):
        g.facets[row, k] = 0.0
    g.facets[row, SIDES] = g.ground[s, 1]
    set_at(g.facets, row, NORMAL, n)
    smooth = 0
    for e in range(3):
        start, end, third = corners[e], corners[(e + 1) % 3], corners[(e + 2) % 3]
        own = away(start, end, third)
        other = beyond(g, s, t, e)
        set_at(g.facets, row, EDGES + 7 * e, own)
        kind = RIM
        if other >= 0:
            p = _opposite(g, s, other, vertex_of(g, s, t, e), vertex_of(g, s, t, (e + 1) % 3))
            theirs = away(start, end, p)
            set_at(g.facets, row, EDGES + 7 * e + 3, theirs)
            kind = SMOOTH if abs(dot(theirs, n)) <= FLAT_BEND and dot(theirs, own) < 0.0 else BENT
        g.facets[row, EDGES + 7 * e + 6] = kind
        smooth += kind == SMOOTH
        _set_ring(g, row, s, t, e, start)
    g.facets[row, HELD] = t
    g.facets[row, LEVEL] = 1.0 if smooth == 3 else 0.0
    return a


@lean
def _opposite(g, s, t, u, v):
    """The corner of triangle t that is neither vertex u nor v."""
    for k in range(3):
        w = vertex_of(g, s, t, k)
        if w != u and w != v:
            return place_of(g, s, w)
    return place_of(g, s, u)


@lean
def _set_ring(g, row, s, t, k, x):
    """Directions from corner k of triangle t, at x, along all edges that begin there: around it both ways, up to a rim."""
    v, count = vertex_of(g, s, t, k), 0
    for way in range(2):
        now, edge = t, k if way == 0 else (k + 2) % 3
        for _ in range(RING):
            w = vertex_of(g, s, now, edge)
            if w == v:
                w = vertex_of(g, s, now, (edge + 1) % 3)
            if count < RING:
                d = sub(place_of(g, s, w), x)
                set_at(g.facets, row, RAYS + 3 * (RING * k + count), scale(1.0 / norm(d), d))
                count += 1
            after = beyond(g, s, now, edge)
            if after < 0 or after == t:
                break
            turned = -1
            for e in range(3):  # the other edge of the next triangle that has v
                p, q = vertex_of(g, s, after, e), vertex_of(g, s, after, (e + 1) % 3)
                if (p == v or q == v) and p != w and q != w:
                    turned = e
            if turned < 0:
                break
            now, edge = after, turned
    g.facets[row, RINGS + k] = count


@lean
def reading(g, f, u):
    """Of a unit vector u from facet f to what touches it, in the facet's frame: (OWN, FREE or BARRED, sign of its side)."""
    row = g.facet[f, 0]
    n = at(g.facets, row, NORMAL)
    up = dot(u, n)
    side = -1.0 if up < 0.0 and g.facets[row, SIDES] == 2.0 else 1.0
    if side * up <= -ANGLE:
        return BARRED, side
    if norm(axpy(-side, n, u)) <= UPRIGHT:
        return OWN, side
    first = g.vertex[f, 0]
    # the corners that are furthest along u
    h0, h1, h2 = dot(u, load3(g.vertices, first)), dot(u, load3(g.vertices, first + 1)), dot(u, load3(g.vertices, first + 2))
    top = max(h0, h1, h2)
    near = 1e-7 * g.radius[f]
    t0, t1, t2 = h0 >= top - near, h1 >= top - near, h2 >= top - near
    if t0 and t1 and t2:
        return OWN, side
    edge = -1
    if t0 and t1:
        edge = 0
    elif t1 and t2:
        edge = 1
    elif t2 and t0:
        edge = 2
    if edge >= 0:
        kind = g.facets[row, EDGES + 7 * edge + 6]
        barred = kind == SMOOTH or kind == BENT and dot(u, at(g.facets, row, EDGES + 7 * edge + 3)) < -ANGLE
        return BARRED if barred else FREE, side
    corner = 0 if t0 else (1 if t1 else 2)
    for k in range(int(g.facets[row, RINGS + corner])):
        if dot(u, at(g.facets, row, RAYS + 3 * (RING * corner + k))) > ANGLE:
            return BARRED, side
    return FREE, side


@lean
def room(g, f, p, edge):
    """How far point p, in the frame of facet f, is beyond an edge of it, in its plane [m]."""
    return dot(sub(p, load3(g.vertices, g.vertex[f, 0] + edge)), at(g.facets, g.facet[f, 0], EDGES + 7 * edge))


@lean
def holds(g, f, p, slack):
    """Whether point p lies over the facet."""
    return room(g, f, p, 0) <= slack and room(g, f, p, 1) <= slack and room(g, f, p, 2) <= slack


@lean
def at_open_edge(g, f, p, slack):
    """Whether a point over the facet lies at an edge where the surface bends or ends."""
    row, found = g.facet[f, 0], False
    for e in range(3):
        found = found or (g.facets[row, EDGES + 7 * e + 6] != SMOOTH and abs(room(g, f, p, e)) <= slack)
    return found


@lean
def reading_of(g, a, ra, b, rb, n):
    """How the facet among shapes a and b reads the normal n, from a to b; FREE where neither is one."""
    if is_facet(g, b):
        return reading(g, b, neg(mul_t(rb, n)))[0]
    if is_facet(g, a):
        return reading(g, a, mul_t(ra, n))[0]
    return FREE


@lean
def facet_normal(g, a, ra, b, rb):
    """World normal of the facet among two shapes."""
    f, r = (b, rb) if is_facet(g, b) else (a, ra)
    return mul(r, at(g.facets, g.facet[f, 0], NORMAL))


@lean
def misses_node(g, node, lo, hi):
    """Whether a box is apart from that of a node of a mesh's tree."""
    missed = False
    for k in range(3):
        missed = missed or g.bounds[node, k] > hi[k] or g.bounds[node, k + 3] < lo[k]
    return missed


@lean
def mesh_triangle(g, s, t):
    """The corners of triangle t of mesh s."""
    row = g.triangle[s, 0] + t
    return place_of(g, s, g.triangles[row, 0]), place_of(g, s, g.triangles[row, 1]), place_of(g, s, g.triangles[row, 2])


@lean
def near_triangles(g, s, lo, hi, found, count):
    """Append to ``found`` the triangles of ground s that meet the box lo, hi of its frame; how many there are, room or none."""
    if g.ground[s, 0] == FIELD:
        return _near_cells(g, s, lo, hi, found, count)
    first, node = g.node[s, 0], g.node[s, 0]
    leaves = g.triangle[s, 0]
    while node < g.node[s, 1]:
        if misses_node(g, node, lo, hi):
            node = first + g.nodes[node, 0]
            continue
        for a in range(g.nodes[node, 1], g.nodes[node, 2]):
            t = g.order[leaves + a]
            v0, v1, v2 = mesh_triangle(g, s, t)
            if boxed(v0, v1, v2, lo, hi):
                if count < len(found):
                    found[count] = t
                count += 1
        node += 1
    return count


@lean
def boxed(a, b, c, lo, hi):
    """Whether a triangle meets a box, by the axes of the box and the plane of the triangle."""
    for k in range(3):
        if min(a[k], b[k], c[k]) > hi[k] or max(a[k], b[k], c[k]) < lo[k]:
            return False
    n = cross(sub(b, a), sub(c, a))
    reach, height = 0.0, 0.0
    for k in range(3):
        reach += 0.5 * (hi[k] - lo[k]) * abs(n[k])
        height += n[k] * (0.5 * (lo[k] + hi[k]) - a[k])
    return not abs(height) > reach * (1.0 + 1e-9)


@lean
def _near_cells(g, s, lo, hi, found, count):
    cell, rows, side = g.size[s, 0], g.ground[s, 2], g.ground[s, 3]
    if not (lo[0] < math.inf and hi[0] > -math.inf):
        return count
    i0 = max(0.0, min(rows - 1.0, math.floor((lo[0] - g.size[s, 1]) / cell)))
    i1 = max(-1.0, min(rows - 2.0, math.floor((hi[0] - g.size[s, 1]) / cell)))
    j0 = max(0.0, min(side - 1.0, math.floor((lo[1] - g.size[s, 2]) / cell)))
    j1 = max(-1.0, min(side - 2.0, math.floor((hi[1] - g.size[s, 2]) / cell)))
    for i in range(int(i0), int(i1) + 1):
        for j in range(int(j0), int(j1) + 1):
            for half in range(2):
                t = 2 * (i * (side - 1) + j) + half
                v0, v1, v2 = corners_of(g, s, t)
                if boxed(v0, v1, v2, lo, hi):
                    if count < len(found):
                        found[count] = t
                    count += 1
    return count
