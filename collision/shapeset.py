"""Shapes packed once into the arrays that kernels read."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from collision.errors import InputError
from collision.geometry import BOX, CAPSULE, CONE, CYLINDER, ELLIPSOID, HALFSPACE, HULL, SPHERE, Geometry
from collision.polytope import Polytope, polytope
from collision.pose import Pose, quaternion_product, rotated
from collision.shapes import Box, Capsule, Compound, Cone, ConvexHull, Cylinder, Ellipsoid, HalfSpace, Shape, Sphere, convex_parts
from collision.sweep import LANES, pack_blocks

KINDS = {
    HalfSpace: HALFSPACE,
    Sphere: SPHERE,
    Capsule: CAPSULE,
    Box: BOX,
    ConvexHull: HULL,
    Cylinder: CYLINDER,
    Cone: CONE,
    Ellipsoid: ELLIPSOID,
}
FEW = 96  # vertices that are swept over, at most 256: `support.supported` counts them in eight bits


class ShapeSet:
    """Shapes, packed; equal shapes share their tables.

    ``geometry`` is the `Geometry` that kernels take, one row a convex piece: those of ``shapes[i]`` are the rows
    ``first[i]`` to ``first[i + 1]``. ``convex``: there are no compounds, so row i is shape i. Raises InputError for what
    is not a shape.
    """

    def __init__(self, shapes: Iterable[Shape] = ()):
        try:
            self.shapes = tuple(shapes)
        except TypeError:
            raise InputError("shapes", shapes, "must be a list of shapes") from None
        parts = [convex_parts(shape) for shape in self.shapes]
        pieces = [part for several in parts for part in several]
        for piece, _ in pieces:
            check_convex(piece)
        self.geometry = pack(tuple(piece for piece, _ in pieces))
        self.first = np.cumsum([0, *map(len, parts)])
        self.convex = not any(isinstance(shape, Compound) for shape in self.shapes)
        self._moved = np.array([place != Pose() for _, place in pieces], bool)
        self._position = np.array([place.position for _, place in pieces]).reshape(-1, 3)
        self._orientation = np.array([place.orientation for _, place in pieces]).reshape(-1, 4)

    def placed(self, rows: np.ndarray, positions: np.ndarray, orientations: np.ndarray):
        """World poses of pieces whose shapes stand at (n, 3), (n, 4): positions, orientations, lengths that were rounded.

        A pose that changes nothing is left out, and its rounding with it.
        """
        moved = self._moved[rows][:, None]
        if not moved.any():
            return positions, orientations, np.zeros(len(rows))
        q = orientations / np.linalg.norm(orientations, axis=1)[:, None]
        offset = self._position[rows]
        x = positions + rotated(q, offset)
        lengths = np.linalg.norm(x, axis=1) + np.linalg.norm(offset, axis=1) + self.geometry.radius[rows]
        turned = quaternion_product(q.T, self._orientation[rows].T).T
        return np.where(moved, x, positions), np.where(moved, turned, orientations), np.where(moved[:, 0], lengths, 0.0)

    def places(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where pieces stand in the frames of their shapes: positions (n, 3), orientations (n, 4)."""
        return self._position[rows], self._orientation[rows]

    def __len__(self) -> int:
        return len(self.shapes)


@lru_cache(maxsize=1024)
def packed_pair(a: Shape, b: Shape) -> Geometry:
    """Two convex shapes, packed; kept for the next query of the same pair."""
    return ShapeSet([a, b]).geometry


@lru_cache(maxsize=256)
def pair_set(a: Shape, b: Shape) -> ShapeSet:
    """Two shapes of which one is a compound, packed; kept for the next query of the same pair."""
    return ShapeSet([a, b])


def check_convex(shape: Shape) -> None:
    """InputError unless the shape is one convex piece."""
    if type(shape) not in KINDS:
        raise InputError("shape", shape, "must be a shape of the collision package")


def pack(shapes: tuple[Shape, ...]) -> Geometry:
    """The tables of `Geometry` for convex shapes."""
    tables = _Tables()
    rows: dict[Shape, tuple] = {}
    for shape in shapes:
        if shape not in rows:
            rows[shape] = tables.row(shape)
    column = list(zip(*(rows[shape] for shape in shapes), strict=True)) if shapes else [()] * 10
    ints, s = np.int64, len(shapes)
    vertices = _stack(tables.vertices, float, 3)
    return Geometry(
        kind=np.array(column[0], ints),
        size=np.array(column[1], float).reshape(s, 4),
        center=np.array(column[2], float).reshape(s, 3),
        radius=np.array(column[3], float),
        rank=np.array(column[4], ints),
        vertex=np.array(column[5], ints).reshape(s, 2),
        face=np.array(column[6], ints).reshape(s, 2),
        edge=np.array(column[7], ints).reshape(s, 2),
        vertices=vertices,
        neighbor_start=np.array(tables.neighbor_start, ints),
        neighbors=np.array(tables.neighbors, ints),
        fans=np.array(tables.fans, ints),
        normals=_stack(tables.normals, float, 3),
        offsets=np.concatenate([np.empty(0), *tables.offsets]),
        loop_start=np.array(tables.loop_start, ints),
        loops=np.array(tables.loops, ints),
        block=np.array(column[8], ints).reshape(s, 2),
        blocks=_stack(tables.blocks, float, 3 * LANES),
        guide=np.array(column[9], ints).reshape(s, 2),
        cells=np.array(tables.cells, ints),
        candidates=_stack(tables.candidates, np.int32, LANES),
        edges=_stack(tables.edges, ints, 4),
    )


def _stack(blocks: list[np.ndarray], dtype, width: int) -> np.ndarray:
    return np.ascontiguousarray(np.concatenate([np.empty((0, width), dtype), *blocks]), dtype)


class _Tables:
    """The shared tables, growing polytope by polytope."""

    def __init__(self):
        self.vertices, self.normals, self.offsets, self.edges, self.blocks = [], [], [], [], []
        self.neighbor_start, self.neighbors, self.loop_start, self.loops = [0], [], [0], []
        self.fans: list[int] = []
        self.cells: list[int] = [0]
        self.candidates: list[np.ndarray] = []
        self.counts = [0, 0, 0, 0]  # vertices, faces, edges, blocks so far

    def row(self, shape: Shape) -> tuple:
        """One row of the per-shape columns of Geometry, in their order."""
        if isinstance(shape, Ellipsoid) and len(set(shape.radii)) == 1:
            shape = Sphere(shape.radii[0])  # known in closed form
        size, radius = _size_and_radius(shape)
        if isinstance(shape, Capsule):  # a segment, and the ball that is added to it
            h = shape.half_length
            ends = polytope(ConvexHull([(0.0, 0.0, -h), (0.0, 0.0, h)]))
            return CAPSULE, size, (0.0, 0.0, 0.0), radius, 1, *self.add(ends), self.add_blocks(ends.vertices), (0, 0)
        if not isinstance(shape, (Box, ConvexHull)):
            return KINDS[type(shape)], size, (0.0, 0.0, 0.0), radius, 3, (0, 0), (0, 0), (0, 0), (0, 0), (0, 0)
        p = polytope(shape)
        ranges = self.add(p)
        center = (0.0, 0.0, 0.0) if isinstance(shape, Box) else tuple(p.vertices.mean(axis=0))
        radius = float(np.linalg.norm(p.vertices, axis=1).max())
        return (
            KINDS[type(shape)],
            size,
            center,
            radius,
            p.rank,
            *ranges,
            self.add_blocks(p.vertices),
            self.add_guide(p.vertices, ranges[0][0]),
        )

    def add(self, p: Polytope) -> list[tuple[int, int]]:
        """Append a polytope; its ranges of vertex, face and edge rows."""
        v0, f0, e0, blocks = self.counts
        joined = [[] for _ in p.vertices]
        for a, b, left, right in p.edges:
            joined[a].append((int(b) + v0, int(left) + f0 if left >= 0 else -1))
            joined[b].append((int(a) + v0, int(right) + f0 if right >= 0 else -1))
        for row in joined:
            self.neighbors += [other for other, _ in sorted(row)]
            self.fans += [face for _, face in sorted(row)]
            self.neighbor_start.append(len(self.neighbors))
        for loop in p.loops:
            self.loops += [int(v) + v0 for v in loop]
            self.loop_start.append(len(self.loops))
        faces = p.edges[:, 2:]
        self.edges.append(np.hstack([p.edges[:, :2] + v0, np.where(faces < 0, -1, faces + f0)]))
        self.vertices.append(p.vertices)
        self.normals.append(p.normals)
        self.offsets.append(p.offsets)
        self.counts = [v0 + len(p.vertices), f0 + len(p.loops), e0 + len(p.edges), blocks]
        return list(zip((v0, f0, e0), self.counts[:3], strict=True))

    def add_blocks(self, vertices: np.ndarray) -> tuple[int, int]:
        """Append a polytope's vertices in blocks: their range."""
        self.blocks.append(pack_blocks(vertices))
        self.counts[3] += len(self.blocks[-1])
        return self.counts[3] - len(self.blocks[-1]), self.counts[3]

    def add_guide(self, vertices: np.ndarray, first: int) -> tuple[int, int]:
        """Append a hull's cube of directions, of about as many cells as it has vertices: (first row, cells a side).

        The directions of a cell are mixtures of those of its four corners. So a vertex is left out of its list where another
        one is higher along all four, by more than rounding.
        """
        if len(vertices) <= FEW:
            return 0, 0
        side = min(16, math.ceil(math.sqrt(len(vertices) / 6)))
        start = len(self.cells) - 1
        slack = 1e-12 * np.abs(vertices).sum(axis=1).max()
        edge = np.arange(side + 1) * 2 / side - 1
        u, v = (w.ravel() for w in np.meshgrid(edge, edge, indexing="ij"))
        for face in range(6):
            directions = np.empty(((side + 1) ** 2, 3))
            directions[:, face // 2] = 1 - 2 * (face % 2)
            directions[:, (face // 2 + 1) % 3] = u
            directions[:, (face // 2 + 2) % 3] = v
            heights = (directions @ vertices.T).reshape(side + 1, side + 1, -1)
            for i in range(side):
                for j in range(side):
                    corners = heights[i : i + 2, j : j + 2].reshape(4, -1)
                    left = np.arange(len(vertices))
                    for best in (corners.sum(axis=0).argmax(), *corners.argmax(axis=1)):
                        left = left[(corners[:, best, None] - corners[:, left]).min(axis=0) <= slack]
                    filled = np.concatenate([left, np.repeat(left[-1:], -len(left) % LANES)]) + first
                    self.candidates.append(filled.reshape(-1, LANES).astype(np.int32))
                    self.cells.append(self.cells[-1] + len(filled) // LANES)
        return start, side


def _size_and_radius(shape: Shape) -> tuple[tuple[float, float, float, float], float]:
    """The `size` row of a shape, and the radius of its bounding sphere about the local origin (polytopes: not used)."""
    match shape:
        case HalfSpace():
            return (*shape.normal, shape.offset), np.inf
        case Sphere():
            return (shape.radius, 0.0, 0.0, 0.0), shape.radius
        case Capsule():
            return (shape.radius, shape.half_length, 0.0, 0.0), shape.radius + shape.half_length
        case Box():
            return (*shape.half_extents, 0.0), 0.0
        case Cylinder():
            return (shape.radius, shape.half_length, 0.0, 0.0), float(np.hypot(shape.radius, shape.half_length))
        case Cone():
            return (shape.radius, shape.half_height, 0.0, 0.0), float(np.hypot(shape.radius, shape.half_height))
        case Ellipsoid():
            return (*shape.radii, 0.0), max(shape.radii)
    return (0.0, 0.0, 0.0, 0.0), 0.0
