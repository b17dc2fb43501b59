"""What of a ground is near a moving piece: nothing but one plane face, or the triangles that its flight may reach."""

from __future__ import annotations

import math

from tumble.collision.contact.facets import boxed, mesh_triangle, misses_node
from tumble.collision.geometry import BOX, FIELD
from tumble.collision.ground.planes import BLOCK_CELLS
from tumble.collision.ground.rays import slab
from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import add, cross, dot, load3, mul_t, neg, norm, scale, sub
from tumble.collision.shapes.support_functions import reach
from tumble.collision.shapes.support_points import inflation


@lean
def plane_near(g, s, lo, hi):
    """The plane face of ground s that is all of the ground in the box lo, hi of its frame, if no border of it lies there; -1:
    none.

    Without a border in the box, all that the box cuts out of the plane belongs to the face, or nothing of it. So one point
    decides.
    """
    if g.ground[s, 0] == FIELD:
        found = _plane_of_cells(g, s, lo, hi)
    else:
        found = _plane_of_nodes(g, s, lo, hi)
    if found < 0:
        return -1
    row = g.plane[s, 0] + found
    n, middle, half = load3(g.planes, row), scale(0.5, add(lo, hi)), scale(0.5, sub(hi, lo))
    height, most = dot(n, middle) - g.planes[row, 3], abs(n[0]) * half[0] + abs(n[1]) * half[1] + abs(n[2]) * half[2]
    if not abs(height) <= most:
        return -1
    part = height / most
    x = (
        middle[0] - part * math.copysign(half[0], n[0]),
        middle[1] - part * math.copysign(half[1], n[1]),
        middle[2] - part * math.copysign(half[2], n[2]),
    )
    rounding = 1e-9 * (half[0] + half[1] + half[2])
    return found if g.ground[s, 0] == FIELD or _on_plane(g, s, found, x, rounding) else -1


@lean
def _plane_of_nodes(g, s, lo, hi):
    """The plane of a mesh that all triangles in a box belong to, if none of its borders is there; -1: none."""
    first, node, found = g.node[s, 0], g.node[s, 0], -1
    leaves, patches = g.triangle[s, 0], g.patch[s, 0]
    while node < g.node[s, 1]:
        if misses_node(g, node, lo, hi):
            node = first + g.nodes[node, 0]
            continue
        whole_node = g.nodes[node, 3]
        if whole_node >= 0:
            if found >= 0 and found != whole_node:
                return -1
            found = int(whole_node)
            node = first + g.nodes[node, 0]
            continue
        for a in range(g.nodes[node, 1], g.nodes[node, 2]):
            t = int(g.order[leaves + a])
            v0, v1, v2 = mesh_triangle(g, s, t)
            if not boxed(v0, v1, v2, lo, hi):
                continue
            own = int(g.patches[patches + t])
            if own < 0 or (found >= 0 and found != own):
                return -1
            found = own
            for e in range(3):
                other = g.across[leaves + t, e]
                if other < 0 or g.patches[patches + other] != own:
                    start, end = (v0, v1) if e == 0 else ((v1, v2) if e == 1 else (v2, v0))
                    if _line_in_box(start, end, lo, hi):
                        return -1
        node += 1
    return found


@lean
def _line_in_box(a, b, lo, hi):
    """Whether a line from a to b meets a box."""
    enter, leave = 0.0, 1.0
    for k in range(3):
        enter, leave = slab(lo[k], hi[k], a[k], b[k] - a[k], enter, leave)
    return enter <= leave + 1e-9


@lean
def _on_plane(g, s, plane, x, rounding):
    """Whether a point lies over or under a triangle of a face of a mesh, and no further from it than by rounding [m]."""
    first, node = g.node[s, 0], g.node[s, 0]
    leaves = g.triangle[s, 0]
    lo, hi = (x[0] - rounding, x[1] - rounding, x[2] - rounding), (x[0] + rounding, x[1] + rounding, x[2] + rounding)
    n = load3(g.planes, g.plane[s, 0] + plane)
    while node < g.node[s, 1]:
        if misses_node(g, node, lo, hi):
            node = first + g.nodes[node, 0]
            continue
        for a in range(g.nodes[node, 1], g.nodes[node, 2]):
            t = int(g.order[leaves + a])
            if g.patches[g.patch[s, 0] + t] != plane:
                continue
            v0, v1, v2 = mesh_triangle(g, s, t)
            least = -1e-12 * abs(dot(n, cross(sub(v1, v0), sub(v2, v0))))
            u = dot(n, cross(sub(v1, v0), sub(x, v0)))
            v = dot(n, cross(sub(v2, v1), sub(x, v1)))
            w = dot(n, cross(sub(v0, v2), sub(x, v2)))
            if u >= least and v >= least and w >= least:
                return True
        node += 1
    return False


@lean
def _plane_of_cells(g, s, lo, hi):
    """The plane that all blocks of a field under a box belong to, if the box lies over the field; -1: none."""
    cell, x0, y0, rows, side = g.size[s, 0], g.size[s, 1], g.size[s, 2], g.ground[s, 2], g.ground[s, 3]
    if not (lo[0] > x0 and lo[1] > y0 and hi[0] < x0 + cell * (rows - 1) and hi[1] < y0 + cell * (side - 1)):
        return -1
    i0, i1 = int((lo[0] - x0) / cell) // BLOCK_CELLS, min(int((hi[0] - x0) / cell), rows - 2) // BLOCK_CELLS
    j0, j1 = int((lo[1] - y0) / cell) // BLOCK_CELLS, min(int((hi[1] - y0) / cell), side - 2) // BLOCK_CELLS
    blocks, found = (side - 2) // BLOCK_CELLS + 1, -1
    for i in range(i0, i1 + 1):
        for j in range(j0, j1 + 1):
            own = int(g.patches[g.patch[s, 0] + i * blocks + j])
            if own < 0 or (found >= 0 and found != own):
                return -1
            found = own
    return found


@lean
def apart_from(g, b, xb, rb, a, v1, v2, fat, way):
    """Whether shape b, at a pose in the frame of a ground, comes nowhere near the triangle of corners a, v1, v2.

    Each of its points may move by ``way`` [m], or by a part of it, and by ``fat`` in any direction. The axes that are tried are
    the normal of the triangle and, if b is a box, those of b.
    """
    if g.kind[b] == BOX:
        for k in range(3):
            u = (rb[k], rb[3 + k], rb[6 + k])
            half, along, middle = g.size[b, k] + g.skin[b] + fat, dot(u, way), dot(u, xb)
            h0, h1, h2 = dot(u, a) - middle, dot(u, v1) - middle, dot(u, v2) - middle
            if min(h0, h1, h2) > half + max(0.0, along) or max(h0, h1, h2) < -half + min(0.0, along):
                return True
    n = cross(sub(v1, a), sub(v2, a))
    n = scale(1.0 / norm(n), n)
    toward, height = dot(n, way), dot(n, a)
    if lowest(g, b, xb, rb, n) + min(0.0, toward) - fat > height:
        return True
    return -lowest(g, b, xb, rb, neg(n)) + max(0.0, toward) + fat < height


@lean
def lowest(g, s, x, r, n):
    """The least height along n of the points of shape s, convex and bounded, at a pose."""
    return dot(n, x) - reach(g, s, neg(mul_t(r, n))) - inflation(g, s) - g.slack[s]
