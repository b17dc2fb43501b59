"""Support points: the vertex of a shape that lies furthest along a direction.

Round shapes are a core inflated by a radius: a sphere is a point, a capsule a segment of two vertices. All functions here
speak of the core; `inflation` is the radius to add. Everything is in the local frame of the shape.
"""

from __future__ import annotations

import math

from collision.geometry import BOX, CAPSULE, HULL, SPHERE
from collision.jit import lean
from collision.linalg import load3

EPS = 2.0**-52


@lean
def is_polytope(kind):
    """Has rows in the tables of vertices, faces and edges."""
    return kind == BOX or kind == HULL  # noqa: SIM109 (a tuple of constants is slower to compile)


@lean
def inflation(g, s):
    """Radius of the ball that is added to the core [m]."""
    if g.kind[s] == SPHERE or g.kind[s] == CAPSULE:
        return g.size[s, 0]
    return 0.0


@lean
def core_radius(g, s):
    """Radius of a ball about the local origin that holds the core [m]."""
    if g.kind[s] == SPHERE:
        return 0.0
    if g.kind[s] == CAPSULE:
        return g.size[s, 1]
    return g.radius[s]


@lean
def core_vertex(g, s, row):
    """Vertex of the core, by its row in the table of vertices; a sphere has row 0."""
    if g.kind[s] == SPHERE:
        return (0.0, 0.0, 0.0)
    return load3(g.vertices, row)


@lean
def support(g, s, d):
    """Row and position of the core's vertex that is furthest along d; the first one of several that tie."""
    kind = g.kind[s]
    if kind == SPHERE:
        return 0, (0.0, 0.0, 0.0)
    first = g.vertex[s, 0]
    if kind == BOX:  # corner k lies at the + side of x, y, z where bits 0, 1, 2 of k are set
        x, y, z = g.size[s, 0], g.size[s, 1], g.size[s, 2]
        if d[0] <= 0.0:
            x = -x
        else:
            first += 1
        if d[1] <= 0.0:
            y = -y
        else:
            first += 2
        if d[2] <= 0.0:
            z = -z
        else:
            first += 4
        return first, (x, y, z)
    best = first
    top = -math.inf
    for k in range(first, g.vertex[s, 1]):
        h = g.vertices[k, 0] * d[0] + g.vertices[k, 1] * d[1] + g.vertices[k, 2] * d[2]
        if h > top:
            top = h
            best = k
    return best, load3(g.vertices, best)


@lean
def extent(g, s, d):
    """max d.x over the core: its support function."""
    kind = g.kind[s]
    if kind == SPHERE:
        return 0.0
    if kind == CAPSULE:
        return abs(d[2]) * g.size[s, 1]
    if kind == BOX:
        return abs(d[0]) * g.size[s, 0] + abs(d[1]) * g.size[s, 1] + abs(d[2]) * g.size[s, 2]
    top = -math.inf
    for k in range(g.vertex[s, 0], g.vertex[s, 1]):
        h = g.vertices[k, 0] * d[0] + g.vertices[k, 1] * d[1] + g.vertices[k, 2] * d[2]
        top = max(top, h)
    return top


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
