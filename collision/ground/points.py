"""Points and a ground: the nearest place on it, and on which side of it a point is.

The nearest point of a triangle is found by its Voronoi regions (Ericson, Real-Time Collision Detection, 2004, 5.1.5). The side of
a closed surface is told by its normal at that point: at an edge the sum of the normals of both triangles, at a corner the sum of
all normals, weighted by their angles
(Baerentzen and Aanaes, IEEE Trans. Vis. Comput. Graph. 11 (2005) 243).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tumble.collision.contact.facets import corners_of, near_triangles
from tumble.collision.errors import InputError
from tumble.collision.geometry import FIELD
from tumble.collision.kernels.group import own_tables
from tumble.collision.kernels.jit import kernel, lean
from tumble.collision.linalg import add, axpy, dot, load3, norm, scale, store3, sub

if TYPE_CHECKING:
    from tumble.collision.shapes.ground import Ground, TriangleMesh

DISTANCE_ROUNDING = 64 * 2.0**-52  # of the coordinates: how far off a distance may be


class GroundDistances(NamedTuple):
    """Where points are. ``distance`` (n,) [m], true to ``error`` (n,) [m]; ``point`` (n, 3) [m], the nearest of the ground.

    ``triangle`` (n,): that it lies in. ``signed``: a negative distance is inside of a closed surface, or below a height field;
    of an open surface no distance is negative.
    """

    distance: np.ndarray
    error: np.ndarray
    point: np.ndarray
    triangle: np.ndarray
    signed: bool


@lean
def nearest_of_triangle(p, a, b, c):
    """(the nearest point of a triangle, which part of it has that: 0, 1, 2 corners, 3, 4, 5 edges from these, 6 the inside)."""
    ab, ac, ap = sub(b, a), sub(c, a), sub(p, a)
    d1, d2 = dot(ab, ap), dot(ac, ap)
    if d1 <= 0.0 and d2 <= 0.0:
        return a, 0
    bp = sub(p, b)
    d3, d4 = dot(ab, bp), dot(ac, bp)
    if d3 >= 0.0 and d4 <= d3:
        return b, 1
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        return axpy(d1 / (d1 - d3), ab, a), 3
    cp = sub(p, c)
    d5, d6 = dot(ab, cp), dot(ac, cp)
    if d6 >= 0.0 and d5 <= d6:
        return c, 2
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        return axpy(d2 / (d2 - d6), ac, a), 5
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        return axpy((d4 - d3) / ((d4 - d3) + (d5 - d6)), sub(c, b), b), 4
    whole = va + vb + vc
    return add(a, add(scale(vb / whole, ab), scale(vc / whole, ac))), 6


@lean
def _gap(g, node, p):
    """The square of the distance from p to the box of a node."""
    square = 0.0
    for k in range(3):
        gap = max(g.bounds[node, k] - p[k], p[k] - g.bounds[node, k + 3], 0.0)
        square += gap * gap
    return square


@lean
def _nearer(g, s, t, p, known):
    """What is known of the nearest point, or that of triangle t."""
    v0, v1, v2 = corners_of(g, s, t)
    q, region = nearest_of_triangle(p, v0, v1, v2)
    d = norm(sub(p, q))
    return (q, d, t, region) if d < known[1] else known


@lean
def _of_mesh(g, s, p):
    """The nearest point of a mesh: (point, distance, triangle, part). Boxes further away than what is known are passed over."""
    first, node, leaves = g.node[s, 0], g.node[s, 0], g.triangle[s, 0]
    while g.nodes[node, 1] == g.nodes[node, 2]:  # down to a leaf, by the nearer half
        left, right = node + 1, first + g.nodes[node + 1, 0]
        node = left if _gap(g, left, p) <= _gap(g, right, p) else right
    near = (p, math.inf, -1, 6)
    for a in range(g.nodes[node, 1], g.nodes[node, 2]):
        near = _nearer(g, s, g.order[leaves + a], p, near)
    node = first
    while node < g.node[s, 1]:
        if _gap(g, node, p) > near[1] * near[1]:
            node = first + g.nodes[node, 0]
            continue
        for a in range(g.nodes[node, 1], g.nodes[node, 2]):
            near = _nearer(g, s, g.order[leaves + a], p, near)
        node += 1
    return near


@lean
def height_at(g, s, x, y):
    """(height of a field at a place, the triangle there); places beside it are taken to its rim."""
    cell, rows, side = g.size[s, 0], g.ground[s, 2], g.ground[s, 3]
    u = min(max((x - g.size[s, 1]) / cell, 0.0), rows - 1.0)
    v = min(max((y - g.size[s, 2]) / cell, 0.0), side - 1.0)
    i, j = min(int(u), rows - 2), min(int(v), side - 2)
    u, v = u - i, v - j
    low, far = g.heights[g.height[s, 0] + i * side + j], g.heights[g.height[s, 0] + (i + 1) * side + j + 1]
    t = 2 * (i * (side - 1) + j)
    if u >= v:
        beside = g.heights[g.height[s, 0] + (i + 1) * side + j]
        return low + u * (beside - low) + v * (far - beside), t
    beside = g.heights[g.height[s, 0] + i * side + j + 1]
    return low + v * (beside - low) + u * (far - beside), t + 1


@kernel
def nearest_points(g, s, points, at, distance, triangle, part):
    """Of each point the nearest one of ground s, all in its frame. Below a field the distance is negative."""
    found = np.empty(64, np.int64)
    for i in range(len(points)):
        p = load3(points, i)
        if g.ground[s, 0] != FIELD:
            q, d, t, region = _of_mesh(g, s, p)
        else:
            x = min(max(p[0], g.size[s, 1]), g.size[s, 1] + (g.ground[s, 2] - 1) * g.size[s, 0])
            y = min(max(p[1], g.size[s, 2]), g.size[s, 2] + (g.ground[s, 3] - 1) * g.size[s, 0])
            z, t = height_at(g, s, x, y)
            q, region = (x, y, z), 6
            d = norm(sub(p, q))
            reach = (1.0 + 1e-9) * d
            lo, hi = (p[0] - reach, p[1] - reach, p[2] - reach), (p[0] + reach, p[1] + reach, p[2] + reach)
            count = near_triangles(g, s, lo, hi, found, 0)
            if count > len(found):
                found = np.empty(2 * count, np.int64)
                count = near_triangles(g, s, lo, hi, found, 0)
            for k in range(count):
                q, d, t, region = _nearer(g, s, found[k], p, (q, d, t, region))
            if x == p[0] and y == p[1] and p[2] < z:
                d = -d
        store3(at, i, q)
        distance[i], triangle[i], part[i] = d, t, region


def distances_of_points(ground: Ground, points: object) -> GroundDistances:
    """See `Ground.signed_distances`."""
    from tumble.collision.shapes.shapeset import ShapeSet

    try:
        rows = np.atleast_2d(np.array(points, dtype=float))
    except (TypeError, ValueError):
        rows = np.empty((0, 0))
    if rows.ndim != 2 or rows.shape[1] != 3 or not np.isfinite(rows).all():
        raise InputError("points", points, "must be an (n, 3) array of finite numbers")
    rows, n = np.ascontiguousarray(rows), len(rows)
    at, distance, triangle, part = np.empty((n, 3)), np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    nearest_points(own_tables(ShapeSet([ground], ground=True).geometry), 0, rows, at, distance, triangle, part)
    size = np.maximum(np.abs(rows).max(axis=1, initial=0.0), np.abs(ground.bounds).max())
    signed = ground.type == "height_field" or ground.closed
    if signed and ground.type != "height_field":
        inside = np.einsum("ij,ij->i", rows - at, _normals(ground, triangle, part)) < 0.0
        distance = np.where(inside, -distance, distance)
    return GroundDistances(distance, DISTANCE_ROUNDING * size, at, triangle, signed)


def _normals(mesh: TriangleMesh, triangle: np.ndarray, part: np.ndarray) -> np.ndarray:
    """(n, 3) directions outward, of any length, at parts of triangles of a closed surface."""
    corners = mesh.vertices[mesh.triangles]
    sides = np.roll(corners, -1, axis=1) - corners  # from each corner to the next
    flat = np.cross(sides[:, 0], sides[:, 1])
    flat /= np.linalg.norm(flat, axis=1)[:, None]
    unit = sides / np.linalg.norm(sides, axis=2)[..., None]
    angles = np.arccos(np.clip(-np.einsum("tki,tki->tk", unit, np.roll(unit, 1, axis=1)), -1.0, 1.0))
    around = np.zeros_like(mesh.vertices)
    for k in range(3):
        np.add.at(around, mesh.triangles[:, k], angles[:, k, None] * flat)
    out = flat[triangle]
    corner, edge = part < 3, (part >= 3) & (part < 6)
    out[corner] = around[mesh.triangles[triangle[corner], part[corner]]]
    out[edge] += flat[mesh.tables()["across"][triangle[edge], part[edge] - 3]]
    return out
