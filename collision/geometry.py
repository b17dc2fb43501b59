"""The packed form of shapes that all kernels read: arrays, one row a convex shape.

Boxes and hulls are polytopes and share the tables of vertices, faces and edges; the other kinds need only ``size``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tumble.collision.kernels.group import filled, group, real, whole

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

    kind: np.ndarray = whole("s")
    # HALFSPACE nx ny nz offset | SPHERE r | CAPSULE r half_length | BOX hx hy hz | CYLINDER r half_length | CONE r half_height |
    # ELLIPSOID rx ry rz | HULL unused
    size: np.ndarray = real("s", 4)
    center: np.ndarray = real("s", 3)  # an interior point (the vertex mean of a hull; zero for the others)
    radius: np.ndarray = real("s")  # of the bounding sphere about the local origin; inf for a half-space
    skin: np.ndarray = real("s")  # [m] radius of a ball added to what kind and size tell (`Rounded`); 0 for spheres and capsules
    slack: np.ndarray = real("s")  # [m] how far points given may be outside of the hull and its planes (hull_shortfall.py)
    rank: np.ndarray = whole("s")  # affine dimension: 3 solid, 2 flat polygon, 1 segment, 0 point
    vertex: np.ndarray = whole("s", 2)  # rows [first, stop) of `vertices`
    face: np.ndarray = whole("s", 2)  # rows [first, stop) of the face tables; a flat polygon has two faces
    edge: np.ndarray = whole("s", 2)  # rows [first, stop) of `edges`
    vertices: np.ndarray = real("v", 3)
    neighbor_start: np.ndarray = whole("v + 1")  # slots of `neighbors` by vertex row
    neighbors: np.ndarray = whole("j")  # vertex rows joined to a vertex by an edge (absolute rows)
    fans: np.ndarray = whole("j")  # of each slot of `neighbors` the face on the left of that edge, seen from outside (-1: none)
    normals: np.ndarray = real("f", 3)  # outward unit normals
    offsets: np.ndarray = real("f")  # normal . x on the face
    loop_start: np.ndarray = whole("f + 1")  # slots of `loops` by face row
    loops: np.ndarray = whole("l")  # vertex rows of each face, counter-clockwise seen from outside (absolute rows)
    block: np.ndarray = whole("s", 2)  # rows [first, stop) of `blocks`
    blocks: np.ndarray = real("b", 24)  # the vertices once more, eight x, eight y, eight z a row: see shapes/support_simd.py
    guide: np.ndarray = whole("s", 2)  # first row of `cells`, cells along a side of the cube; 0 of them for few vertices
    cells: np.ndarray = whole("c + 1")  # rows of `candidates` by cell of a cube of directions
    # rows of the vertices that are furthest along some direction of a cell, or nearly so
    candidates: np.ndarray = whole("k", 8, kind=np.int32)
    edges: np.ndarray = whole("e", 4)  # vertex rows v0 v1 and the face rows on either side (-1: none)
    # grounds, and those of their triangles that a world has at hand as hulls (contact/facets.py)
    ground: np.ndarray = whole("s", 4)  # MESH or FIELD, 2 where it has two sides, samples along x and y; 0: no ground
    facet: np.ndarray = whole("s", 2)  # rows [first, stop) of `facets`; none: it is no facet
    corner: np.ndarray = whole("s", 2)  # rows of `corners`
    triangle: np.ndarray = whole("s", 2)  # rows of `triangles` and `across`
    node: np.ndarray = whole("s", 2)  # rows of `nodes` and `bounds`
    height: np.ndarray = whole("s", 2)  # rows of `heights`
    patch: np.ndarray = whole("s", 2)  # rows of `patches`
    plane: np.ndarray = whole("s", 2)  # rows of `planes`
    facets: np.ndarray = real("f", FACET)  # what a facet's normals may be
    corners: np.ndarray = real("v", 3)  # of meshes [m]
    # corners of a triangle, counted from the mesh's first, counter-clockwise seen from outside
    triangles: np.ndarray = whole("t", 3, kind=np.int32)
    across: np.ndarray = whole("t", 3, kind=np.int32)  # triangle beyond the edge from each corner to the next; -1: none
    # tree in preorder: where to go on where the node is missed; first and last of its `order`; the plane that all of its
    # triangles are inside of, -1: none
    nodes: np.ndarray = whole("n", 4, kind=np.int32)
    bounds: np.ndarray = real("n", 6, kind=np.float32)  # box around a node
    order: np.ndarray = whole("t", kind=np.int32)  # triangles by leaves
    heights: np.ndarray = real("h")  # of fields, rows along y [m]
    # of each triangle or block of cells the plane that it is in, counted from the ground's first; -1: none
    patches: np.ndarray = whole("k", kind=np.int32)
    planes: np.ndarray = real("p", 4)  # where a ground is plane: normal, offset [m] (ground/planes.py)


def empty_geometry() -> Geometry:
    """The tables of no shapes: an example of their types."""
    return filled(Geometry)
