"""Faces and edges of convex hulls, for the tables of `Geometry` and for mass.

Qhull gives triangles. Triangles in one plane are merged to polygons, and the planes are computed anew from the polygons,
so that a box given by its corners has six faces with normals right to rounding. Then all
points that were given are compared with the result (hull_shortfall.py): corners that Qhull or the merging lost are put back, and
the difference that is left is known.
"""

from __future__ import annotations

from functools import lru_cache
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from tumble.collision.errors import InputError
from tumble.collision.kernels.jit import in_python
from tumble.collision.linalg import product_error
from tumble.collision.shapes.definitions import Box, ConvexHull
from tumble.collision.shapes.face_loops import follow_of, twins_of
from tumble.collision.shapes.hull_shortfall import NUMBERS_AT_A_TIME, distance_from_segment, is_closed, shortfall

EPS = np.finfo(float).eps
ATTEMPTS = ((0.0, 1.0), (0.5, 1.0), (0.5, 8.0))  # of ONE_PLANE: points so near are one, planes merged; the first sound hull
TRIANGLES_AT_A_TIME = 16384  # triangles
ONE_PLANE = 16 * EPS  # of size and distance from the local origin: closer than this is one plane, one line


class Polytope(NamedTuple):
    """A convex polytope. A flat one has two opposite faces, a segment one edge without faces, a point neither."""

    rank: int  # affine dimension
    vertices: np.ndarray  # (v, 3) [m]
    normals: np.ndarray  # (f, 3) outward, unit
    offsets: np.ndarray  # (f,) normal . x [m]
    loop_start: np.ndarray  # (f + 1,) int64: slots of `corners` by face
    corners: np.ndarray  # vertex numbers of the faces one after the other, counter-clockwise seen from outside
    edges: np.ndarray  # (e, 4) int64: vertices a b, the face whose loop runs a -> b, the face whose loop runs b -> a
    slack: float = 0.0  # [m] the hull of the given points is nowhere further from this one, nor from its planes

    @property
    def loops(self) -> list[np.ndarray]:
        """f arrays of vertex numbers, counter-clockwise seen from outside."""
        return np.split(self.corners, self.loop_start[1:-1]) if len(self.offsets) else []


def polytope(shape: Box | ConvexHull) -> Polytope:
    """Vertices, faces and edges of a box or hull, in the frame of the shape."""
    return _box_polytope(shape.half_extents) if isinstance(shape, Box) else _hull(shape)


@lru_cache(maxsize=256)
def _box_polytope(half_extents) -> Polytope:
    signs = np.array([(x, y, z) for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], float)
    loops = ((0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6))
    normals = np.array([(-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1)], float)
    start, corners = np.arange(0, 25, 4), np.array(loops).ravel()
    return Polytope(3, signs * half_extents, normals, np.repeat(half_extents, 2), start, corners, _edges(start, corners))


@lru_cache(maxsize=256)
def _hull(shape: ConvexHull) -> Polytope:
    points = shape.vertices[np.sort(np.unique(shape.vertices, axis=0, return_index=True)[1])]
    # Axes of the cloud. In the affine map to unit extents a needle or a plate is as round as a ball, and hulls
    # commute with affine maps: Qhull and the merging never see a thin body.
    local = points - points.mean(axis=0)
    size = np.abs(local).max()
    rounding = ONE_PLANE * (size + np.abs(points).max())
    if size == 0.0 or len(points) == 1:
        return _lower(0, points[:1])
    axes = np.linalg.svd(local / size, full_matrices=False)[2] if len(points) > 2 else _axes_of_line(local)
    if len(axes) == 3 and np.linalg.det(axes) < 0:
        axes[2] = -axes[2]  # a mirrored cloud would turn all faces inward
    mapped = local @ axes.T
    ends = sorted((int(mapped[:, 0].argmin()), int(mapped[:, 0].argmax())))
    off = distance_from_segment(points, *points[ends]).max()
    if off <= rounding:
        return _lower(1, points[ends])._replace(slack=_beyond_rounding(off, rounding))
    extent = np.maximum(mapped.max(axis=0) - mapped.min(axis=0), np.finfo(float).tiny)
    if extent[2] <= rounding:
        return _complete(*_flat(points, mapped[:, :2] / extent[:2], rounding), points, rounding)
    first = None
    for grid, merging in ATTEMPTS:
        kept = _thinned(mapped, grid * rounding)
        found, used = _solid(points[kept], mapped[kept] / extent, axes / extent[:, None], extent, merging * rounding)
        found = _complete(found, kept[used], points, rounding)
        first = first or found
        if is_closed(found) and found.slack <= rounding:
            return found
    return first


def _thinned(mapped: np.ndarray, grid: float) -> np.ndarray:
    """One point of each cell of a grid [m]. Points that differ by rounding alone span no surface, so one stands for all of
    them."""
    if grid == 0.0:
        return np.arange(len(mapped))
    return np.sort(np.unique(np.round(mapped / grid), axis=0, return_index=True)[1])


def _complete(p: Polytope, used: np.ndarray, points: np.ndarray, rounding: float) -> Polytope:
    """With what lies further out than rounding among its vertices: they belong to no face, but nothing reaches beyond them."""
    away, off_planes = shortfall(p, used, points, rounding / 8)
    lost = away > rounding
    vertices = np.concatenate([p.vertices, points[lost]]) if lost.any() else p.vertices
    slack = max(off_planes, away[~lost].max(initial=0.0))
    return p._replace(vertices=vertices, slack=_beyond_rounding(slack, rounding))


def _beyond_rounding(length: float, rounding: float) -> float:
    """A length, or 0 where it is no more than the rounding of the points themselves."""
    return float(length) if length > rounding / 8 else 0.0


def _axes_of_line(local: np.ndarray) -> np.ndarray:
    d = local[0] if np.abs(local[0]).max() > 0 else local[-1]
    return (d / np.linalg.norm(d))[None, :]


def _lower(rank: int, vertices: np.ndarray) -> Polytope:
    """A point, or a segment with its one edge."""
    edges = np.array([[0, 1, -1, -1]] if rank == 1 else [], np.int64).reshape(-1, 4)
    return Polytope(rank, vertices.copy(), np.empty((0, 3)), np.empty(0), np.zeros(1, int), np.empty(0, int), edges)


def _qhull(mapped: np.ndarray, options: str) -> SimpleNamespace:
    """Qhull's tables. Where it gives up, on crowds of points that are one but for rounding, they are thinned out a little."""
    from scipy.spatial import ConvexHull as Qhull
    from scipy.spatial import QhullError

    failure = None
    for grid in (0.0, 1e-14, 1e-13, 1e-12):
        kept = _thinned(mapped, grid)
        try:
            found = Qhull(mapped[kept], qhull_options=options)
        except QhullError as error:
            failure = failure or str(error).strip().splitlines()[0]
            continue
        return SimpleNamespace(
            simplices=kept[found.simplices], vertices=kept[found.vertices], neighbors=found.neighbors, equations=found.equations
        )
    raise InputError("vertices", mapped, f"no convex hull found: {failure}")


def _flat(points: np.ndarray, mapped: np.ndarray, rounding: float) -> tuple[Polytope, np.ndarray]:
    """A flat polygon, the loop once from either side; and which of the points are its vertices."""
    loop = list(_qhull(mapped, "").vertices)  # counter-clockwise in the plane
    last = 0
    while last != len(loop) and len(loop) > 3:  # drop points in the middle of an edge
        last = len(loop)
        for i in range(len(loop) - 1, -1, -1):
            if len(loop) > 3 and _on_segment(*(points[loop[j % len(loop)]] for j in (i - 1, i, i + 1)), rounding):
                loop.pop(i)
    vertices = points[loop]
    normal, offset = _plane(vertices)
    front = np.arange(len(loop))
    start, corners = np.array([0, len(loop), 2 * len(loop)]), np.concatenate([front, front[::-1]])
    normals, offsets = np.array([normal, -normal]), np.array([offset, -offset])
    return Polytope(2, vertices, normals, offsets, start, corners, _edges(start, corners)), np.array(loop)


def _on_segment(a: np.ndarray, b: np.ndarray, c: np.ndarray, rounding: float) -> bool:
    """Does b lie on the segment from a to c but for rounding?"""
    along = c - a
    straight = np.linalg.norm(_exact_crosses(b - a, along)) <= rounding * np.linalg.norm(along)
    return bool(straight and (b - a) @ along > 0.0 and (c - b) @ along > 0.0)


def _solid(points, mapped: np.ndarray, to_mapped: np.ndarray, extent: np.ndarray, rounding) -> tuple[Polytope, np.ndarray]:
    """A polytope with a volume, and which of the points are its vertices."""
    hull = _qhull(mapped, "Qt")
    triangles, outward = hull.simplices.copy(), hull.equations[:, :3]
    for rows in _spans(len(triangles)):
        a, b, c = (mapped[triangles[rows, i]] for i in range(3))
        inward = np.flatnonzero(np.einsum("ij,ij->i", np.cross(b - a, c - a), outward[rows]) < 0) + rows.start
        triangles[inward] = triangles[inward][:, [0, 2, 1]]
    order, merged = _regions(triangles, hull.neighbors, mapped, extent, rounding)
    del hull
    faces = {seed: _outlines(triangles[region], points, rounding) for seed, region in merged.items()}
    lone = np.ones(len(triangles), bool)
    lone[list(faces)] = False
    lone = lone[order]
    _drop_straight(faces, triangles[order[lone]] if faces else triangles[:0], points, rounding)
    first = triangles.argmin(axis=1)
    triangles = np.take_along_axis(triangles, (first[:, None] + np.arange(3)) % 3, axis=1)  # loops begin at their lowest number
    start, corners, owner = _strung(triangles[order], lone, [faces[seed] for seed in order[~lone].tolist()])
    found = np.zeros(len(points), bool)
    found[corners] = True
    used = np.flatnonzero(found)
    corners = (np.cumsum(found) - 1)[corners]
    vertices = points[used]
    normals, offsets = _planes(vertices, start, corners)
    _mend_planes(vertices, start, corners, normals, offsets, outward[order[owner]], to_mapped, rounding)
    return Polytope(3, vertices, normals, offsets, start, corners, _edges(start, corners)), used


def _regions(triangles, neighbors, mapped: np.ndarray, extent: np.ndarray, rounding: float) -> tuple[np.ndarray, dict]:
    """Connected groups of triangles in one plane: that of the group's largest triangle, so that groups can not drift.

    Planes are compared where the body is round, but by true distances: a height h over a plane with the unit normal m there
    is h / |m / extent|. The rim of a plate is compared as closely as its faces.

    Returns the largest triangle of each group, the largest group first, and {that: the group} for those of two and more.
    """
    normals = np.empty((len(triangles), 3))
    for rows in _spans(len(triangles)):
        a, b, c = (mapped[triangles[rows, i]] for i in range(3))
        normals[rows] = np.cross(b - a, c - a)
    area = np.linalg.norm(normals, axis=1)
    if area.min() == 0.0 and area.max() == 0.0:
        raise InputError("vertices", mapped, "no convex hull found: the points are too nearly degenerate")
    normals /= np.maximum(area, np.finfo(float).tiny)[:, None]
    tolerance = rounding * np.linalg.norm(normals / extent, axis=1)
    coplanar = np.zeros(len(triangles), bool)  # with a neighbour: only these are looked at one by one
    for rows in _spans(len(triangles)):
        a = mapped[triangles[rows, 0]]
        for side in range(3):
            n = neighbors[rows, side]
            heights = np.abs(np.einsum("tki,ti->tk", mapped[triangles[n]] - a[:, None], normals[rows])).max(axis=1)
            one = heights <= tolerance[rows]
            coplanar[rows] |= one
            coplanar[n[one]] = True
    seen = ~coplanar
    merged: dict[int, list[int]] = {}
    order = np.argsort(-area, kind="stable")
    seeds = ~coplanar
    for seed in order[coplanar[order]].tolist():
        if seen[seed]:
            continue
        normal = normals[seed]
        offset = normal @ mapped[triangles[seed, 0]]
        seen[seed] = seeds[seed] = True
        region = [seed]
        for t in region:
            for n in neighbors[t].tolist():
                if (
                    not seen[n]
                    and np.abs(mapped[triangles[n]] @ normal - offset).max() <= tolerance[seed]
                    and normals[n] @ normal >= 0
                ):
                    seen[n] = True
                    region.append(n)
        if len(region) > 1:
            merged[seed] = region
    return order[seeds[order]], merged


def _strung(triangles: np.ndarray, lone: np.ndarray, faces: list[list]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(start, corners) of faces as in `Polytope`, and the number of the triangle that each belongs to.

    In the order of the triangles: a lone one as it is, else what a list holds for it, some loops.
    """
    many = np.ones(len(triangles), np.int64)
    many[~lone] = [len(loops) for loops in faces]
    owner = np.repeat(np.arange(len(triangles)), many)
    alone = lone[owner]
    lengths = np.full(len(owner), 3)
    lengths[~alone] = [len(loop) for loops in faces for loop in loops]
    start = np.concatenate([[0], np.cumsum(lengths)])
    corners = np.empty(start[-1], np.int64)
    in_triangle = np.repeat(alone, lengths)
    corners[in_triangle] = triangles[lone].ravel()
    corners[~in_triangle] = [v for loops in faces for loop in loops for v in loop]
    return start, corners, owner


def _outlines(triangles: np.ndarray, points: np.ndarray, rounding: float) -> list[list[int]]:
    """The outline of a group of triangles, or the triangles themselves where that will not do."""
    loop = _boundary(triangles)
    inside = set() if loop is None else set(triangles.ravel().tolist()) - set(loop)
    if loop is None or (inside and _sticks_out(points, loop, sorted(inside), rounding)):
        return triangles.tolist()
    return [loop]


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


def _drop_straight(faces: dict[int, list], others: np.ndarray, points: np.ndarray, rounding: float) -> None:
    """Take out, in place, vertices in the middle of a straight edge of merged faces: those on two faces, and on no others."""
    others = set(others.ravel().tolist())
    owners: dict[int, list] = {}
    for several in faces.values():
        for loop in several:
            for v in loop:
                owners.setdefault(v, []).append(loop)
    for vertex, both in owners.items():
        if len(both) != 2 or vertex in others or any(len(loop) <= 3 for loop in both):
            continue
        i = both[0].index(vertex)
        if _on_segment(points[both[0][i - 1]], points[vertex], points[both[0][(i + 1) % len(both[0])]], rounding):
            for loop in both:
                loop.remove(vertex)


def _planes(vertices: np.ndarray, start: np.ndarray, corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unit normals (f, 3) and offsets (f,) of polygons, all of one length at a time."""
    lengths = np.diff(start)
    normals, offsets = np.empty((len(lengths), 3)), np.empty(len(lengths))
    for length in np.unique(lengths):
        chosen = np.flatnonzero(lengths == length)
        for rows in _spans(len(chosen)):
            some = chosen[rows]
            loops = corners[start[some][:, None] + np.arange(length)]
            normals[some], offsets[some] = _plane(vertices[loops])
    return normals, offsets


def _spans(count: int) -> list[slice]:
    """[0, count) in parts that can be worked on without much room."""
    return [slice(first, min(first + TRIANGLES_AT_A_TIME, count)) for first in range(0, count, TRIANGLES_AT_A_TIME)]


def _mend_planes(vertices, start, corners, normals, offsets, found, to_mapped, rounding: float) -> None:
    """Put the plane that Qhull found in place of that of its corners where a face is too thin for these to tell."""
    if len(vertices) * len(normals) > NUMBERS_AT_A_TIME:
        bad = np.flatnonzero(~np.isfinite(offsets))
    else:
        bad = np.flatnonzero(~((vertices @ normals.T - offsets).max(axis=0) <= rounding))
    for f in bad:
        normal = found[f] @ to_mapped
        normal /= np.linalg.norm(normal)
        top, least = (vertices @ normal).max(), (vertices[corners[start[f] : start[f + 1]]] @ normal).min()
        if not (vertices @ normals[f]).max() - offsets[f] <= (top - least) / 2:
            normals[f], offsets[f] = normal, (top + least) / 2


def _plane(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unit normal (Newell) and offset of polygons (..., n, 3). Differences to the first corner keep axis-aligned faces exact."""
    d = corners - corners[..., :1, :]
    normal = _exact_crosses(d[..., 1:-1, :], d[..., 2:, :]).sum(axis=-2)
    length = np.linalg.norm(normal, axis=-1, keepdims=True)
    normal = np.divide(normal, length, out=np.full_like(normal, np.nan), where=length > 0.0)  # none where they lie on a line
    heights = np.einsum("...ni,...i->...n", corners, normal)
    return normal + 0.0, (heights.min(axis=-1) + heights.max(axis=-1)) / 2


def _exact_crosses(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cross products right to rounding also where a and b are nearly parallel, as along a sliver.

    In a1 b2 - a2 b1 the rounding errors of both products are added back (Dekker 1971).
    """
    a1, a2 = a[..., [1, 2, 0]], a[..., [2, 0, 1]]
    b1, b2 = b[..., [1, 2, 0]], b[..., [2, 0, 1]]
    p, q, error = a1 * b2, a2 * b1, in_python(product_error)
    return (p - q) + (error(a1, b2, p) - error(a2, b1, q))


def _edges(start: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Edges with their two faces, sorted by vertices."""
    if len(corners) == 0:
        return np.empty((0, 4), np.int64)
    face = np.repeat(np.arange(len(start) - 1), np.diff(start))
    follow = follow_of(start, len(corners))
    both = twins_of(corners, follow)
    if both is not None:
        one, other = both
        return np.stack([corners[one], corners[other], face[one], face[other]], axis=1)
    a, b = corners, corners[follow]
    width = int(corners.max()) + 1
    names, first = np.unique(a * width + b, return_index=True)
    a, b, face = a[first], b[first], face[first]
    back = np.searchsorted(names, b * width + a)
    twin = np.minimum(back, len(names) - 1)
    paired = names[twin] == b * width + a
    chosen = (a < b) | ~paired
    return np.column_stack([a, b, face, np.where(paired, face[twin], -1)])[chosen].astype(np.int64)
