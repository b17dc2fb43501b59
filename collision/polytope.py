"""Faces and edges of convex hulls, for the tables of `Geometry` and for mass.

Qhull gives triangles. Triangles in one plane are merged to polygons, and the planes are computed anew from the polygons,
so that a box given by its corners has six faces with normals right to rounding.
"""

from __future__ import annotations

from functools import lru_cache
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from collision.errors import InputError
from collision.shapes import Box, ConvexHull

ROUNDING = 64 * np.finfo(float).eps  # of size and distance from the local origin: closer than this is one plane, one line


class Polytope(NamedTuple):
    """A convex polytope. A flat one has two opposite faces, a segment one edge without faces, a point neither."""

    rank: int  # affine dimension
    vertices: np.ndarray  # (v, 3) [m]
    normals: np.ndarray  # (f, 3) outward, unit
    offsets: np.ndarray  # (f,) normal . x [m]
    loops: list  # f arrays of vertex numbers, counter-clockwise seen from outside
    edges: np.ndarray  # (e, 4) int64: vertices a b, the face whose loop runs a -> b, the face whose loop runs b -> a


def polytope(shape: Box | ConvexHull) -> Polytope:
    """Vertices, faces and edges of a box or hull, in the frame of the shape."""
    return _box(shape.half_extents) if isinstance(shape, Box) else _hull(shape)


@lru_cache(maxsize=256)
def _box(half_extents) -> Polytope:
    signs = np.array([(x, y, z) for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], float)
    loops = [np.array(a) for a in ((0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6))]
    normals = np.array([(-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1)], float)
    return Polytope(3, signs * half_extents, normals, np.repeat(half_extents, 2), loops, _edges(loops))


@lru_cache(maxsize=256)
def _hull(shape: ConvexHull) -> Polytope:
    points = shape.vertices[np.sort(np.unique(shape.vertices, axis=0, return_index=True)[1])]
    # Axes of the cloud. In the affine map to unit extents a needle or a plate is as round as a ball, and hulls
    # commute with affine maps: Qhull and the merging never see a thin body.
    center = points.mean(axis=0)
    local = points - center
    size = np.abs(local).max()
    rounding = ROUNDING * (size + np.abs(points).max())
    if size == 0.0 or len(points) == 1:
        return _lower(0, points[:1], [])
    axes = np.linalg.svd(local / size, full_matrices=False)[2] if len(points) > 2 else _axes_of_line(local)
    if len(axes) == 3 and np.linalg.det(axes) < 0:
        axes[2] = -axes[2]  # a mirrored cloud would turn all faces inward
    mapped = local @ axes.T
    extent = np.zeros(3)
    extent[: len(axes)] = mapped.max(axis=0) - mapped.min(axis=0)
    rank = int((extent > rounding).sum())
    if rank <= 1:
        ends = sorted((int(mapped[:, 0].argmin()), int(mapped[:, 0].argmax())))
        return _lower(1, points[ends], [])
    mapped = mapped[:, :rank] / extent[:rank]
    if rank == 2:
        return _flat(points, mapped, rounding)
    return _solid(points, mapped, extent, rounding)


def _axes_of_line(local: np.ndarray) -> np.ndarray:
    d = local[0] if np.abs(local[0]).max() > 0 else local[-1]
    return (d / np.linalg.norm(d))[None, :]


def _lower(rank: int, vertices: np.ndarray, loops: list) -> Polytope:
    """A point, or a segment with its one edge."""
    edges = np.array([[0, 1, -1, -1]] if rank == 1 else [], np.int64).reshape(-1, 4)
    return Polytope(rank, vertices.copy(), np.empty((0, 3)), np.empty(0), loops, edges)


def _qhull(mapped: np.ndarray, options: str) -> SimpleNamespace:
    """Qhull's tables. Where it gives up, on crowds of points that are one but for rounding, they are thinned out a little."""
    from scipy.spatial import ConvexHull as Qhull
    from scipy.spatial import QhullError

    failure = None
    for grid in (0.0, 1e-14, 1e-13, 1e-12):
        kept = np.arange(len(mapped))
        if grid > 0.0:
            kept = np.sort(np.unique(np.round(mapped / grid), axis=0, return_index=True)[1])
        try:
            found = Qhull(mapped[kept], qhull_options=options)
        except QhullError as error:
            failure = failure or str(error).strip().splitlines()[0]
            continue
        return SimpleNamespace(
            simplices=kept[found.simplices], vertices=kept[found.vertices], neighbors=found.neighbors, equations=found.equations
        )
    raise InputError("vertices", mapped, f"no convex hull found: {failure}")


def _flat(points: np.ndarray, mapped: np.ndarray, rounding: float) -> Polytope:
    """A flat polygon: the loop once from either side."""
    loop = list(_qhull(mapped, "").vertices)  # counter-clockwise in the plane
    corners, last = [], 0
    while last != len(loop) and len(loop) > 3:  # drop points in the middle of an edge
        last = len(loop)
        for i in range(len(loop) - 1, -1, -1):
            a, b, c = (points[loop[j % len(loop)]] for j in (i - 1, i, i + 1))
            if len(loop) > 3 and np.linalg.norm(_cross(b - a, c - a)) <= rounding * np.linalg.norm(c - a):
                loop.pop(i)
    corners = points[loop]
    normal, offset = _plane(corners)
    front = np.arange(len(loop))
    loops = [front, front[::-1].copy()]
    return Polytope(2, corners, np.array([normal, -normal]), np.array([offset, -offset]), loops, _edges(loops))


def _solid(points: np.ndarray, mapped: np.ndarray, extent: np.ndarray, rounding: float) -> Polytope:
    hull = _qhull(mapped, "Qt")
    triangles = hull.simplices.copy()
    a, b, c = (mapped[triangles[:, i]] for i in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0
    triangles[inward] = triangles[inward][:, [0, 2, 1]]
    loops = []
    for region in _regions(triangles, hull.neighbors, mapped, extent, rounding):
        loop = _boundary(triangles[region])
        inside = set() if loop is None else set(triangles[region].ravel()) - set(loop)
        if loop is None or (inside and _sticks_out(points, loop, sorted(inside), rounding)):
            loops += [list(triangles[t]) for t in region]
        else:
            loops.append(loop)
    _drop_straight(loops, points, rounding)
    used = np.unique(np.concatenate(loops))
    number = np.full(len(points), -1)
    number[used] = np.arange(len(used))
    loops = [number[loop] for loop in loops]
    vertices = points[used]
    normals, offsets = _planes(vertices, loops)
    return Polytope(3, vertices, normals, offsets, loops, _edges(loops))


def _regions(triangles, neighbors, mapped: np.ndarray, extent: np.ndarray, rounding: float) -> list[list[int]]:
    """Connected groups of triangles in one plane: that of the group's largest triangle, so that groups can not drift.

    Planes are compared where the body is round, but by true distances: a height h over a plane with the unit normal m there
    is h / |m / extent|. The rim of a plate is compared as closely as its faces.
    """
    a, b, c = (mapped[triangles[:, i]] for i in range(3))
    normals = np.cross(b - a, c - a)
    area = np.linalg.norm(normals, axis=1)
    seen = np.zeros(len(triangles), bool)
    regions = []
    for seed in np.argsort(-area, kind="stable"):
        if seen[seed]:
            continue
        if area[seed] == 0.0:  # a sliver without area that no face took in
            raise InputError("vertices", mapped, "no convex hull found: the points are too nearly degenerate")
        normal = normals[seed] / area[seed]
        offset = normal @ a[seed]
        tolerance = rounding * np.linalg.norm(normal / extent)
        seen[seed] = True
        region = [int(seed)]
        for t in region:
            for n in neighbors[t]:
                if not seen[n] and np.abs(mapped[triangles[n]] @ normal - offset).max() <= tolerance and normals[n] @ normal >= 0:
                    seen[n] = True
                    region.append(int(n))
        regions.append(region)
    return regions


def _boundary(triangles: np.ndarray) -> list[int] | None:
    """The outline of a group of triangles as one loop; None where it is not a single simple loop."""
    directed = {(int(t[i]), int(t[(i + 1) % 3])) for t in triangles for i in range(3)}
    outline = [edge for edge in sorted(directed) if edge[::-1] not in directed]
    follow = dict(outline)
    if len(follow) != len(outline) or not outline:
        return None
    loop = [outline[0][0]]
    while (nxt := follow[loop[-1]]) != loop[0]:
        loop.append(nxt)
        if len(loop) > len(outline) or nxt not in follow:
            return None
    return loop if len(loop) == len(outline) else None


def _sticks_out(points: np.ndarray, loop: list[int], inside: list[int], rounding: float) -> bool:
    """Whether a point in the middle of a merged face stands out of it by more than rounding."""
    normal, offset = _plane(points[loop])
    return bool((points[inside] @ normal - offset).max() > rounding)


def _drop_straight(loops: list[list[int]], points: np.ndarray, rounding: float) -> None:
    """Take out, in place, vertices in the middle of a straight edge: those on two faces only."""
    count: dict[int, int] = {}
    for loop in loops:
        for v in loop:
            count[v] = count.get(v, 0) + 1
    for vertex in [v for v, n in count.items() if n == 2]:
        owners = [loop for loop in loops if vertex in loop]
        if any(len(loop) <= 3 for loop in owners):
            continue
        i = owners[0].index(vertex)
        a, b, c = points[owners[0][i - 1]], points[vertex], points[owners[0][(i + 1) % len(owners[0])]]
        along = c - a
        if np.linalg.norm(np.cross(b - a, along)) <= rounding * np.linalg.norm(along):
            for loop in owners:
                loop.remove(vertex)


def _planes(vertices: np.ndarray, loops: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Unit normals (f, 3) and offsets (f,) of polygons, all of one length at a time."""
    normals, offsets = np.empty((len(loops), 3)), np.empty(len(loops))
    lengths = np.array([len(loop) for loop in loops])
    for length in np.unique(lengths):
        chosen = np.flatnonzero(lengths == length)
        normals[chosen], offsets[chosen] = _plane(vertices[np.array([loops[f] for f in chosen])])
    return normals, offsets


def _plane(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unit normal (Newell) and offset of polygons (..., n, 3). Differences to the first corner keep axis-aligned faces exact."""
    d = corners - corners[..., :1, :]
    normal = _cross(d[..., 1:-1, :], d[..., 2:, :]).sum(axis=-2)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    heights = np.einsum("...ni,...i->...n", corners, normal)
    return normal + 0.0, (heights.min(axis=-1) + heights.max(axis=-1)) / 2


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cross products right to rounding also where a and b are nearly parallel, as along a sliver.

    In a1 b2 - a2 b1 the rounding errors of both products are added back (Dekker 1971).
    """
    a1, a2 = a[..., [1, 2, 0]], a[..., [2, 0, 1]]
    b1, b2 = b[..., [1, 2, 0]], b[..., [2, 0, 1]]
    p, q = a1 * b2, a2 * b1
    return (p - q) + (_product_error(a1, b2, p) - _product_error(a2, b1, q))


def _product_error(x: np.ndarray, y: np.ndarray, product: np.ndarray) -> np.ndarray:
    """x y - product, exactly."""
    x_high, y_high = (134217729.0 * v - (134217729.0 * v - v) for v in (x, y))  # the upper 26 bits
    x_low, y_low = x - x_high, y - y_high
    return x_low * y_low - (((product - x_high * y_high) - x_low * y_high) - x_high * y_low)


def _edges(loops: list[np.ndarray]) -> np.ndarray:
    """Edges with their two faces, sorted by vertices."""
    owner = {}
    for face, loop in enumerate(loops):
        corners = np.asarray(loop).tolist()
        for a, b in zip(corners, corners[1:] + corners[:1], strict=True):
            owner[a, b] = face
    rows = [(a, b, face, owner.get((b, a), -1)) for (a, b), face in sorted(owner.items()) if a < b or (b, a) not in owner]
    return np.array(rows, np.int64).reshape(-1, 4)
