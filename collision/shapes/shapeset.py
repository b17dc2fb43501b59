"""Shapes packed once into the arrays that kernels read."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial

import numpy as np

from tumble.collision import geometry as kinds
from tumble.collision.errors import InputError
from tumble.collision.geometry import Geometry, empty_geometry
from tumble.collision.pose import Pose, quaternion_product, rotated
from tumble.collision.shapes.definitions import (
    Box,
    Capsule,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Rounded,
    Shape,
    Sphere,
    convex_parts,
)
from tumble.collision.shapes.ground import Facet, Ground
from tumble.collision.shapes.polytope import Polytope, polytope
from tumble.collision.shapes.support_guide import guide
from tumble.collision.shapes.support_simd import pack_blocks

KIND_OF_CLASS = {
    HalfSpace: kinds.HALFSPACE,
    Sphere: kinds.SPHERE,
    Capsule: kinds.CAPSULE,
    Box: kinds.BOX,
    ConvexHull: kinds.HULL,
    Cylinder: kinds.CYLINDER,
    Cone: kinds.CONE,
    Ellipsoid: kinds.ELLIPSOID,
}
STOCK_BYTES = 64_000_000  # bytes of tables that are kept for shapes asked about one by one: then these are begun anew
# Which columns hold rows of which table, to be moved along where tables are joined.
ROWS_OF_TABLES = {
    "vertex": "vertices", "face": "offsets", "edge": "edges", "block": "blocks", "neighbors": "vertices", "fans": "offsets",
    "loops": "vertices", "candidates": "vertices", "neighbor_start": "neighbors", "loop_start": "loops", "cells": "candidates",
    "facet": "facets", "corner": "corners", "triangle": "triangles", "node": "nodes", "height": "heights",
    "patch": "patches", "plane": "planes",
}  # fmt: skip
SPANS = ("vertex", "face", "edge", "block", "guide", "facet", "corner", "triangle", "node", "height", "patch", "plane")
BY_SHAPE = ("kind", "size", "center", "radius", "skin", "slack", "rank", "ground", *SPANS)
STARTS = ("neighbor_start", "loop_start", "cells")  # one entry more than rows: where the last one stops
EMPTY = empty_geometry()
PLATE = ConvexHull([(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 0.0)])  # whose tables every triangle has, but for the numbers
SERIALS = itertools.count()  # numbers of sets
NO_PLACES = np.empty(0, bool), np.empty((0, 3)), np.empty((0, 4))


class ShapeSet:
    """Shapes, packed; equal shapes share their tables. ``ground``: some may be surfaces of triangles, which a world asks about.

    ``geometry`` is the `Geometry` that kernels take, one row a convex piece: those of ``shapes[i]`` are the rows
    ``first[i]`` to ``first[i + 1]``. ``convex``: there are no compounds, so row i is shape i. Raises InputError for what
    is not a shape.
    """

    def __init__(self, shapes: Iterable[Shape] = (), ground: bool = False):
        try:
            self.shapes = tuple(shapes)
        except TypeError:
            raise InputError("shapes", shapes, "must be a list of shapes") from None
        self._fill([convex_parts(shape) for shape in self.shapes], partial(pack, ground=ground))

    def _fill(self, parts: list[list[tuple[Shape, Pose]]], pack: Callable) -> None:
        """``pack`` makes the tables of the pieces of all shapes."""
        self.geometry = pack([piece for several in parts for piece, _ in several])
        self.first = np.cumsum([0, *map(len, parts)])
        self.convex = not any(isinstance(shape, Compound) for shape in self.shapes)
        places = [_places(shape, part) for shape, part in zip(self.shapes, parts, strict=True)]
        self._moved, self._position, self._orientation = (np.concatenate(v) for v in zip(NO_PLACES, *places, strict=True))

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

    def balls(self, which: int) -> tuple:
        """(tree of the centres of the bounding balls of a shape's pieces, in its frame; the largest radius; how far from the
        centre of a ball a point of its piece is known to be at most)."""
        shape = self.shapes[which]
        found = shape.__dict__.get("_balls")
        if found is None:
            from scipy.spatial import cKDTree

            rows = np.arange(self.first[which], self.first[which + 1])
            off = np.linalg.norm(self.geometry.center[rows], axis=1).max()
            found = cKDTree(self._position[rows]), float(self.geometry.radius[rows].max()), float(off)
            object.__setattr__(shape, "_balls", found)
        return found

    def __len__(self) -> int:
        return len(self.shapes)


class Stock:
    """Convex shapes that are asked about one by one, in tables that grow: each is packed when it is first met, and stays.

    Arrays have room to spare, and those handed out before stay as they were, so that a shape costs its own tables only.
    """

    def __init__(self):
        self.number = next(SERIALS)  # shapes remember where in which stock they are, not the stock itself
        self.geometry = EMPTY
        self.rows: dict[Shape, int] = {}
        self._room = {name: np.zeros((8, *column.shape[1:]), column.dtype) for name, column in EMPTY._asdict().items()}
        self._lock = threading.Lock()

    def add(self, shape: Shape) -> None:
        """Append the tables of a shape."""
        with self._lock:
            if shape in self.rows:
                return
            columns = {}
            for name, more in moved(packed(shape), sizes(self.geometry)).items():
                n = len(getattr(self.geometry, name))
                more = more[1:] if name in STARTS else more
                if n + len(more) > len(self._room[name]):
                    wider = np.empty((2 * n + len(more), *more.shape[1:]), more.dtype)
                    wider[:n] = getattr(self.geometry, name)
                    self._room[name] = wider
                self._room[name][n : n + len(more)] = more
                columns[name] = self._room[name][: n + len(more)]
            self.geometry = Geometry(**columns)  # first, so that a row that is found is there
            self.rows[shape] = len(self.geometry.kind) - 1


_stock = Stock()


def stocked(a: Shape, b: Shape) -> tuple[Geometry, int, int]:
    """(geometry, rows of two convex shapes in it): packed once, whatever they are asked together with."""
    stock = _stock
    try:
        stock_a, row_a = a._place
        stock_b, row_b = b._place
        if stock_a == stock_b == stock.number:
            return stock.geometry, row_a, row_b
    except AttributeError:
        pass
    return _stock_up(a, b)


def _stock_up(*shapes: Shape) -> tuple:
    """`stocked`, of shapes that were not asked about before."""
    global _stock
    stock = _stock
    for shape in shapes:
        check_convex(shape)
    if sum(column.nbytes for column in stock.geometry) > STOCK_BYTES:
        _stock = stock = Stock()
    for shape in shapes:
        stock.add(shape)
        object.__setattr__(shape, "_place", (stock.number, stock.rows[shape]))
    return stock.geometry, *(stock.rows[shape] for shape in shapes)


@lru_cache(maxsize=64)
def set_of(*shapes: Shape) -> ShapeSet:
    """Some shapes together, for a query: their tables are those in stock, so that each is packed once."""
    found = ShapeSet.__new__(ShapeSet)
    found.shapes = shapes
    found._fill([convex_parts(shape) for shape in shapes], _of_stock)
    return found


def _of_stock(pieces: list[Shape]) -> Geometry:
    """`pack`, of tables in stock: only the columns that have one row a piece are made anew."""
    stock = _stock
    try:
        rows = [row for number, row in (piece._place for piece in pieces) if number == stock.number]
    except AttributeError:
        rows = []
    if len(rows) == len(pieces):
        return chosen(stock.geometry, rows)
    geometry, *rows = _stock_up(*pieces)
    return chosen(geometry, rows)


def _places(shape: Shape, parts: list[tuple[Shape, Pose]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of the pieces of a shape: which are moved or turned, their positions (n, 3), orientations (n, 4). Kept with the shape."""
    found = shape.__dict__.get("_places")
    if found is None:
        places = [place for _, place in parts]
        found = (
            np.array([place != Pose() for place in places], bool),
            np.array([place.position for place in places]).reshape(-1, 3),
            np.array([place.orientation for place in places]).reshape(-1, 4),
        )
        object.__setattr__(shape, "_places", found)
    return found


def check_convex(shape: Shape) -> None:
    """InputError unless the shape is one convex piece."""
    if getattr(shape, "type", None) == "support":
        raise InputError("shape", shape, "is a function of Python, which signed_distance and colliding take alone")
    if isinstance(shape, Ground):
        raise InputError(
            "shape", shape, "is ground, which this query does not take; distances, casts of rays and shapes, and a World do"
        )
    if type(shape) not in KIND_OF_CLASS and not isinstance(shape, Rounded):
        raise InputError("shape", shape, "must be a shape of the collision package")


def pack(shapes: Sequence[Shape], ground: bool = False) -> Geometry:
    """The tables of `Geometry` for convex shapes; those of equal ones are there once. Raises InputError for other shapes."""
    rows: dict[Shape, int] = {}
    for shape in shapes:
        if not (ground and isinstance(shape, Ground | Facet)):
            check_convex(shape)
        rows.setdefault(shape, len(rows))
    return chosen(join([packed(shape) for shape in rows]), [rows[shape] for shape in shapes])


def chosen(g: Geometry, rows: list[int]) -> Geometry:
    """Some shapes of a geometry, which may be there several times, with the tables of all."""
    taken = np.array(rows, int)
    return g._replace(**{name: np.ascontiguousarray(getattr(g, name)[taken]) for name in BY_SHAPE})


def join(parts: list[Geometry]) -> Geometry:
    """The tables of several geometries, one after the other."""
    columns = {name: [column] for name, column in EMPTY._asdict().items()}
    before = dict.fromkeys(EMPTY._fields, 0)
    for part in parts:
        for name, column in moved(part, before).items():
            columns[name].append(column[1:] if name in STARTS else column)
        before = {name: n + before[name] for name, n in sizes(part).items()}
    return Geometry(**{name: _joined(several) for name, several in columns.items()})


def _joined(several: list[np.ndarray]) -> np.ndarray:
    """Columns, one after the other. The tables of a ground are not written to, and large: those of one stay its own."""
    if len(several) == 1:
        return several[0]
    found = [column for column in several if len(column)]
    if len(found) == 1 and not found[0].flags.writeable:
        return found[0]
    return np.ascontiguousarray(np.concatenate(several))


def sizes(g: Geometry) -> dict[str, int]:
    """How many rows each column has; the tables of starts have one entry more."""
    return {name: len(column) - (name in STARTS) for name, column in g._asdict().items()}


def moved(part: Geometry, before: dict[str, int]) -> dict[str, np.ndarray]:
    """The columns of a geometry as they stand behind others, of which it says how many rows there are."""
    found = part._asdict()
    for name, table in ROWS_OF_TABLES.items():
        column = found[name]
        by = np.array(before[table], column.dtype)
        found[name] = np.where(column < 0, column, column + by) if name == "fans" else column + by
    found["guide"] = found["guide"] + np.where(found["guide"][:, 1:] > 0, (before["cells"], 0), 0)
    by = np.repeat((before["vertices"], before["offsets"]), 2)
    found["edges"] = np.where(found["edges"] < 0, -1, found["edges"] + by)
    return found


def packed(shape: Shape) -> Geometry:
    """The tables of one convex shape; a shape is packed once in its life and keeps them."""
    found = shape.__dict__.get("_packed")
    if found is None:
        found = _packed(shape)
        object.__setattr__(shape, "_packed", found)
    return found


def _packed(shape: Shape) -> Geometry:
    if isinstance(shape, Ellipsoid) and len(set(shape.radii)) == 1:
        shape = Sphere(shape.radii[0])  # known in closed form
    if isinstance(shape, Rounded):
        return _rounded(shape.shape, shape.radius)
    if isinstance(shape, Ground):
        center, radius = shape.ball()
        return _one(kinds.GROUND, shape.sizes(), center, radius, 0.0, 2, **shape.columns())
    if isinstance(shape, Facet):
        return packed(PLATE)._replace(facet=np.array([[0, 1]]), facets=np.full((1, kinds.FACET), -1.0))
    size, radius = _size(shape), _radius(shape)
    p = _core(shape)
    if p is None:
        return _one(KIND_OF_CLASS[type(shape)], size, (0.0, 0.0, 0.0), radius, 0.0, 3)
    center = tuple(p.vertices.mean(axis=0)) if isinstance(shape, ConvexHull) else (0.0, 0.0, 0.0)
    if not isinstance(shape, Capsule):
        radius = float(np.linalg.norm(p.vertices, axis=1).max())
    start, neighbors, fans = _joined_vertices(p)
    side, cells, candidates = guide(p.vertices)
    blocks = pack_blocks(p.vertices)
    return _one(
        KIND_OF_CLASS[type(shape)], size, center, radius, p.slack, p.rank,
        vertex=np.array([[0, len(p.vertices)]]), face=np.array([[0, len(p.offsets)]]), edge=np.array([[0, len(p.edges)]]),
        vertices=np.ascontiguousarray(p.vertices), neighbor_start=start, neighbors=neighbors, fans=fans, normals=p.normals,
        offsets=p.offsets, loop_start=p.loop_start.astype(np.int64), loops=p.corners.astype(np.int64),
        block=np.array([[0, len(blocks)]]), blocks=blocks, guide=np.array([[0, side]]), cells=cells, candidates=candidates,
        edges=p.edges,
    )  # fmt: skip


def _rounded(shape: Shape, radius: float) -> Geometry:
    """The tables of a shape with a ball added to it."""
    if isinstance(shape, Ellipsoid) and len(set(shape.radii)) == 1:
        shape = Sphere(shape.radii[0])
    if isinstance(shape, Sphere):
        return packed(Sphere(shape.radius + radius))
    if isinstance(shape, Capsule):
        return packed(Capsule(shape.radius + radius, shape.half_length))
    g = packed(shape)
    return g._replace(skin=g.skin + radius, radius=g.radius + radius)


def _core(shape: Shape) -> Polytope | None:
    """The polytope that a shape is, or is but for a ball that is added to it."""
    if isinstance(shape, Capsule):
        return polytope(ConvexHull([(0.0, 0.0, -shape.half_length), (0.0, 0.0, shape.half_length)]))
    return polytope(shape) if isinstance(shape, Box | ConvexHull) else None


def _one(kind: int, size, center, radius: float, slack: float, rank: int, **tables: np.ndarray) -> Geometry:
    """One row, and tables where there are any."""
    nothing = {name: np.zeros((1, 2), np.int64) for name in SPANS}
    nothing["ground"] = np.zeros((1, 4), np.int64)
    row = {
        "kind": np.array([kind]), "size": np.array([size]), "center": np.array([center]), "radius": np.array([radius]),
        "skin": np.zeros(1), "slack": np.array([slack]), "rank": np.array([rank]),
    }  # fmt: skip
    return EMPTY._replace(**(nothing | row | tables))


def _joined_vertices(p: Polytope) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each vertex where its neighbours begin; the neighbours, and the face on the left of the edge to each."""
    a, b, left, right = p.edges.T
    here, there, face = np.concatenate([a, b]), np.concatenate([b, a]), np.concatenate([left, right])
    order = np.argsort(here * len(p.vertices) + there, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(here, minlength=len(p.vertices)))])
    return start.astype(np.int64), there[order], face[order]


def _size(shape: Shape) -> tuple[float, ...]:
    """The `size` row of a shape: its numbers, one after the other; none of a hull."""
    numbers = [] if isinstance(shape, ConvexHull) else np.hstack([getattr(shape, name) for name in shape.__dataclass_fields__])
    return (*map(float, numbers), *(0.0,) * (4 - len(numbers)))


def _radius(shape: Shape) -> float:
    """Of the bounding sphere of a shape about the local origin; polytopes have theirs from their vertices."""
    match shape:
        case HalfSpace():
            return np.inf
        case Sphere(radius=radius):
            return radius
        case Capsule(radius=radius, half_length=half):
            return radius + half
        case Cylinder(radius=radius, half_length=half) | Cone(radius=radius, half_height=half):
            return float(np.hypot(radius, half))
        case Ellipsoid(radii=radii):
            return max(radii)
    return 0.0
