"""The packed form of shapes that all kernels read: arrays, one row a convex shape.

Boxes and hulls are polytopes and share the tables of vertices, faces and edges; the other kinds need only ``size``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tumble.collision.kernels.group import group

# Kinds. The order is the order of dispatch: a pair is always handled with kind[a] <= kind[b].
HALFSPACE, SPHERE, CAPSULE, BOX, HULL, CYLINDER, CONE, ELLIPSOID = range(8)
GROUND = 8  # a surface of triangles: no kernel of pairs takes it, its facets are hulls (contact/facets.py)

# What a row of `facets` holds: the triangle, sides, normal; of each edge two directions and its kind; directions from each corner
# along the edges that begin there, RING at most; 1 where the surface goes on without a bend at all three edges.
RING = 16
HELD, SIDES, NORMAL, EDGES, RINGS, RAYS = 0, 1, 2, 5, 26, 29
LEVEL = RAYS + 9 * RING
FACET = LEVEL + 1
MESH, FIELD = 1, 2

# Curvature of a vertex, and across an edge, 1/m: large enough to be rounding, small enough to divide by.
SHARP = 1e12


@group
class Geometry(NamedTuple):
    """``s`` convex shapes in their local frames [m]."""

    kind: np.ndarray  # (s,) int64
    size: np.ndarray  # (s, 4): HALFSPACE nx ny nz offset | SPHERE r | CAPSULE r half_length | BOX hx hy hz
    #                          CYLINDER r half_length | CONE r half_height | ELLIPSOID rx ry rz | HULL unused
    center: np.ndarray  # (s, 3) an interior point (the vertex mean of a hull; zero for the others)
    radius: np.ndarray  # (s,) of the bounding sphere about the local origin; inf for a half-space
    skin: np.ndarray  # (s,) [m] radius of a ball added to what kind and size tell (`Rounded`); 0 for spheres and capsules
    slack: (
        np.ndarray
    )  # (s,) [m] how far the points given may lie outside of the vertices' hull, and of its planes (hull_shortfall.py)
    rank: np.ndarray  # (s,) int64 affine dimension: 3 solid, 2 flat polygon, 1 segment, 0 point
    vertex: np.ndarray  # (s, 2) int64: rows [first, stop) of `vertices`
    face: np.ndarray  # (s, 2) int64: rows [first, stop) of the face tables; a flat polygon has two faces
    edge: np.ndarray  # (s, 2) int64: rows [first, stop) of `edges`
    vertices: np.ndarray  # (v, 3)
    neighbor_start: np.ndarray  # (v + 1,) int64: slots of `neighbors` by vertex row
    neighbors: np.ndarray  # vertex rows joined to a vertex by an edge (absolute rows)
    fans: np.ndarray  # for each slot of `neighbors` the face row on the left of that edge, seen from outside (-1: none)
    normals: np.ndarray  # (f, 3) outward unit normals
    offsets: np.ndarray  # (f,) normal . x on the face
    loop_start: np.ndarray  # (f + 1,) int64: slots of `loops` by face row
    loops: np.ndarray  # vertex rows of each face, counter-clockwise seen from outside (absolute rows)
    block: np.ndarray  # (s, 2) int64: rows [first, stop) of `blocks`
    blocks: np.ndarray  # (b, 24) the vertices once more, eight x, eight y, eight z a row: see shapes/support_simd.py
    guide: np.ndarray  # (s, 2) int64: first row of `cells`, cells along a side of the cube; 0 of them for few vertices
    cells: np.ndarray  # (c + 1,) int64: rows of `candidates` by cell of a cube of directions
    candidates: np.ndarray  # (k, 8) int32: rows of the vertices that are furthest along some direction of a cell, or nearly so
    edges: np.ndarray  # (e, 4) int64: vertex rows v0 v1 and the face rows on either side (-1: none)
    # grounds, and those of their triangles that a world has at hand as hulls (contact/facets.py)
    ground: np.ndarray  # (s, 4) int64: MESH or FIELD, 2 where it has two sides, samples along x and y; 0: no ground
    facet: np.ndarray  # (s, 2) int64: rows [first, stop) of `facets`; none: it is no facet
    corner: np.ndarray  # (s, 2) int64: rows of `corners`
    triangle: np.ndarray  # (s, 2) int64: rows of `triangles` and `across`
    node: np.ndarray  # (s, 2) int64: rows of `nodes` and `bounds`
    height: np.ndarray  # (s, 2) int64: rows of `heights`
    patch: np.ndarray  # (s, 2) int64: rows of `patches`
    plane: np.ndarray  # (s, 2) int64: rows of `planes`
    facets: np.ndarray  # (f, FACET) what a facet's normals may be
    corners: np.ndarray  # (v, 3) of meshes [m]
    triangles: np.ndarray  # (t, 3) int32 corners of a triangle, from the mesh's first; counter-clockwise seen from outside
    across: np.ndarray  # (t, 3) int32 triangle on the other side of the edge from each corner to the next; -1: none
    # tree in preorder: where to go on where the node is missed; first and last of its `order`; the plane that all of its
    # triangles are inside of, -1: none
    nodes: np.ndarray  # (n, 4) int32
    bounds: np.ndarray  # (n, 6) float32 box around a node
    order: np.ndarray  # (t,) int32 triangles by leaves
    heights: np.ndarray  # (h,) of fields, rows along y [m]
    patches: np.ndarray  # (k,) int32 number of the plane, from the ground's first, of each triangle or block of cells; -1: none
    planes: np.ndarray  # (p, 4) where a ground is plane: normal, offset [m] (ground/planes.py)


def empty_geometry() -> Geometry:
    """The tables of no shapes: an example of their types."""
    ints, floats = np.zeros(0, np.int64), np.zeros(0)
    spans, points = np.zeros((0, 2), np.int64), np.zeros((0, 3))
    return Geometry(
        kind=ints, size=np.zeros((0, 4)), center=points, radius=floats, skin=floats, slack=floats, rank=ints, vertex=spans,
        face=spans, edge=spans, vertices=points, neighbor_start=ints, neighbors=ints, fans=ints, normals=points, offsets=floats,
        loop_start=ints, loops=ints, block=spans, blocks=np.zeros((0, 24)), guide=spans, cells=ints,
        candidates=np.zeros((0, 8), np.int32), edges=np.zeros((0, 4), np.int64),
        ground=np.zeros((0, 4), np.int64), facet=spans, corner=spans, triangle=spans, node=spans, height=spans,
        facets=np.zeros((0, FACET)), corners=points, triangles=np.zeros((0, 3), np.int32), across=np.zeros((0, 3), np.int32),
        nodes=np.zeros((0, 4), np.int32), bounds=np.zeros((0, 6), np.float32), order=np.zeros(0, np.int32), heights=floats,
        patch=spans, plane=spans, patches=np.zeros(0, np.int32), planes=np.zeros((0, 4)),
    )  # fmt: skip
