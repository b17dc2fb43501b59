"""Support points: the vertex of a shape that lies furthest along a direction.

Round shapes are a core inflated by a radius: a sphere is a point, a capsule a segment of two vertices, and any other shape may
carry a skin. All functions here speak of the core; `inflation` is the radius to add. Everything is in the local frame of the
shape.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.geometry import BOX, CAPSULE, HULL, SPHERE
from tumble.collision.kernels.jit import lean, stack_table, tight
from tumble.collision.linalg import load3
from tumble.collision.shapes.support_simd import VERTEX_LANES, place, reach

EPS = 2.0**-52
MOST_ROWS = (1 << 31) - 1
turned_table = stack_table(1, 5)


@lean
def is_polytope(kind):
    """Has rows in the tables of vertices, faces and edges."""
    return kind == BOX or kind == HULL  # noqa: SIM109 (a tuple of constants is slower to compile)


@lean
def is_capsule(kind):
    """A segment or a point with a ball added."""
    return kind == SPHERE or kind == CAPSULE  # noqa: SIM109


@lean
def inflation(g, s):
    """Radius of the ball that is added to the core [m]."""
    if g.kind[s] == SPHERE or g.kind[s] == CAPSULE:
        return g.size[s, 0]
    return g.skin[s]


@lean
def core_radius(g, s):
    """Radius of a ball about the local origin that holds the core [m]."""
    if g.kind[s] == SPHERE:
        return 0.0
    if g.kind[s] == CAPSULE:
        return g.size[s, 1]
    return g.radius[s] - g.skin[s]


@lean
def core_vertex(g, s, row):
    """Vertex of the core, by its row in the table of vertices; a sphere has row 0."""
    if g.kind[s] == SPHERE:
        return (0.0, 0.0, 0.0)
    return load3(g.vertices, row)


@tight
def support(g, s, d):
    """Row and position of the core's vertex that is furthest along d, or as good as that to rounding; `extent` is exact."""
    row, p, _ = supported(g, s, d)
    return row, p


@tight
def supported(g, s, d):
    """`support`, and the exact height: (row, position, max d.x)."""
    kind = g.kind[s]
    if kind == BOX:  # corner k lies at the + side of x, y, z where bits 0, 1, 2 of k are set
        x, y, z = g.size[s, 0], g.size[s, 1], g.size[s, 2]
        row = g.vertex[s, 0] + (1 if d[0] > 0.0 else 0) + (2 if d[1] > 0.0 else 0) + (4 if d[2] > 0.0 else 0)
        p = (x if d[0] > 0.0 else -x, y if d[1] > 0.0 else -y, z if d[2] > 0.0 else -z)
        return row, p, d[0] * p[0] + d[1] * p[1] + d[2] * p[2]
    if kind == SPHERE:
        return 0, (0.0, 0.0, 0.0), 0.0
    if g.guide[s, 1] == 0:
        first, stop = g.vertex[s, 0], g.vertex[s, 1]
        mark = 31 if stop - first <= 32 else 255
        k, top = place(g.blocks, g.block[s, 0], g.block[s, 1], d[0], d[1], d[2], mark)
        row = min(first + k, stop - 1)
    else:
        row, top = best_of_cell(g, s, d)
    return row, load3(g.vertices, row), top


@tight
def best_of_cell(g, s, d):
    """(row, height) of the vertex of a large hull that is furthest along d.

    The directions fall into cells of a cube; listed for each are all vertices that are furthest along any of its directions.
    """
    side = g.guide[s, 1]
    x, y, z = abs(d[0]), abs(d[1]), abs(d[2])
    # which face of the cube, and where on it, by a table: branches would be hard to foresee
    axis = 2 if z > max(x, y) else (1 if y > x else 0)
    turned = turned_table()
    turned[0, 0], turned[0, 1], turned[0, 2] = d[0], d[1], d[2]
    turned[0, 3], turned[0, 4] = d[0], d[1]
    u, v = turned[0, axis + 1], turned[0, axis + 2]
    long = max(max(x, y), z)
    face = 2 * axis + (0 if turned[0, axis] > 0.0 else 1)
    half = 0.5 * side
    scale = half / long if long > 0.0 else 0.0
    i, j = min(int(u * scale + half), side - 1), min(int(v * scale + half), side - 1)
    cell = g.guide[s, 0] + (face * side + i) * side + j
    best = 0
    top = -math.inf
    for row in range(g.cells[cell], g.cells[cell + 1]):
        for m in range(VERTEX_LANES):
            k = g.candidates[row, m] & MOST_ROWS
            h = g.vertices[k, 0] * d[0] + g.vertices[k, 1] * d[1] + g.vertices[k, 2] * d[2]
            if h > top:
                top = h
                best = k
    return np.int64(best), top


@tight
def extent(g, s, d):
    """max d.x over the core: its support function."""
    kind = g.kind[s]
    if kind == SPHERE:
        return 0.0
    if kind == CAPSULE:
        return abs(d[2]) * g.size[s, 1]
    if kind == BOX:
        return abs(d[0]) * g.size[s, 0] + abs(d[1]) * g.size[s, 1] + abs(d[2]) * g.size[s, 2]
    if g.guide[s, 1] > 0:
        return best_of_cell(g, s, d)[1]
    return reach(g.blocks, g.block[s, 0], g.block[s, 1], d[0], d[1], d[2])


@lean
def aligned_face(g, s, d):
    """Row of the face whose outward normal points most along d; -1 where the shape has no faces."""
    if not is_polytope(g.kind[s]):
        return -1
    best = -1
    if g.kind[s] == BOX:  # faces -x +x -y +y -z +z
        x, y, z = abs(d[0]), abs(d[1]), abs(d[2])
        first = g.face[s, 0]
        if z >= x and z >= y:
            return first + (5 if d[2] > 0.0 else 4)
        if y >= x:
            return first + (3 if d[1] > 0.0 else 2)
        return first + (1 if d[0] > 0.0 else 0)
    top = -math.inf
    for f in range(g.face[s, 0], g.face[s, 1]):
        h = g.normals[f, 0] * d[0] + g.normals[f, 1] * d[1] + g.normals[f, 2] * d[2]
        if h > top:
            top = h
            best = f
    return best


@lean
def face_at(neighbor_start, fans, normals, row, second, third, d):
    """Row of the face at any of three vertices whose outward normal points most along d; -1 where there is none."""
    best = -1
    top = -math.inf
    for m in range(3):
        if m == 1:
            if second == row:
                continue
            row = second
        elif m == 2:
            if third == row:
                break
            row = third
        for slot in range(neighbor_start[row], neighbor_start[row + 1]):
            f = fans[slot]
            if f >= 0:
                h = normals[f, 0] * d[0] + normals[f, 1] * d[1] + normals[f, 2] * d[2]
                if h > top:
                    top = h
                    best = f
    return best
