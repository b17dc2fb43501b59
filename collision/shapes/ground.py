"""Ground: surfaces of triangles that stand still, as they are.

A TriangleMesh is given by its triangles, a HeightField by heights over a grid. A world takes either as the shape of a static
body, and looks only at the triangles near what moves (contact/facets.py); neither is cut into convex pieces, and neither
has a mass.
"""

from __future__ import annotations

import base64
import binascii
import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tumble.collision.errors import MOST_LENGTH, InputError, check_number
from tumble.collision.geometry import FIELD, MESH
from tumble.collision.hints import FileName, Rows, Surface
from tumble.collision.regular import regular
from tumble.collision.shapes.definitions import Shape
from tumble.collision.spelling import spelled

if TYPE_CHECKING:
    from tumble.collision.ground.points import GroundDistances

MOST_GROUND_TRIANGLES = 2_000_000  # of a mesh
MOST_SIDE = 4096  # samples along a side of a field
MOST_PICTURE_BYTES = 500_000_000  # of a picture, or an array
KEYS = 2_000_000  # vertices up to which three of their numbers make one of 63 bits
MOST_PLAIN = 10_000  # numbers that are written as lists; more are packed
SAMPLE = 1 << 16  # bytes of a packed array by which is judged whether packing makes it shorter
MOST_NUMBERS = 2**25  # of a packed array: twice the samples of the largest field
NUMBER_KINDS = ("<f8", "<i4")
THIN = 1e-10  # height of a triangle, as part of its longest edge, below which it is a line


class Ground(Shape):
    """Base of the surfaces of triangles."""

    smooth: bool
    arrays: ClassVar[tuple[str, ...]]  # fields that are arrays, and of the others those that tell one ground from another
    options: ClassVar[tuple[str, ...]]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        same = self._hash == other._hash and all(getattr(self, name) == getattr(other, name) for name in self.options)
        return same and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in self.arrays)

    def _check_smooth(self) -> None:
        if self.smooth not in (True, False):
            raise InputError("smooth", self.smooth, "must be true or false")

    def _keep(self, **arrays: np.ndarray) -> None:
        for array in arrays.values():
            array.setflags(write=False)
        self._set(**arrays, _hash=hash(tuple(array.tobytes() for array in arrays.values())))

    def __hash__(self) -> int:
        return self._hash

    def _data(self, of: Callable[[np.ndarray], Any]) -> dict[str, Any]:
        """Plain data, arrays as ``of`` gives them; without options that nobody asked for."""
        data = {"type": self.type} | {name: of(getattr(self, name)) for name in self.arrays}
        options = {name: getattr(self, name) for name in self.options}
        return data | {name: value for name, value in options.items() if value is not None and not (name == "smooth" and value)}

    def to_dict(self) -> dict[str, Any]:
        return self._data(np.ndarray.tolist)

    def stored(self) -> dict[str, Any]:
        return self._data(as_bits)

    def tables(self) -> dict[str, np.ndarray]:
        """What is worked out of the numbers given; made once."""
        found = self.__dict__.get("_tables")
        if found is None:
            found = self._made()
            for table in found.values():
                table.setflags(write=False)  # so that all worlds that have it share it
            self._set(_tables=found)
        return found

    def ball(self) -> tuple[tuple[float, float, float], float]:
        """(the middle of the surface, the radius about the origin of a ball that holds it)."""
        low, high = self.bounds
        return tuple((0.5 * (low + high)).tolist()), float(np.linalg.norm(np.maximum(-low, high)))

    def signed_distances(self, points: Rows) -> GroundDistances:
        """How far points (n, 3) [m], in the frame of the ground, are from it, with the nearest places, and a bound of the error.

        Negative inside of a closed surface and below a height field; an open surface has no sides. InputError: other points.
        """
        from tumble.collision.ground.points import distances_of_points

        return distances_of_points(self, points)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_tables"}


@spelled
@dataclass(frozen=True, eq=False)
class TriangleMesh(Ground):
    """A surface of triangles: ground of any form, a track, a room. Only static bodies have one.

    Parameters
    ----------
    vertices : (n, 3) [m]. Those at the same place are one, so that triangles which meet there know each other. Or a mesh of
        trimesh, alone: its vertices and faces.
    triangles : (m, 3) rows of the vertices, counter-clockwise seen from outside; up to two million.
    two_sided : whether bodies touch it from behind as well. Left out, a closed surface has one side and an open one two.
    smooth : whether it is drawn as a curved surface where its triangles bend little, rather than as the flat triangles it is.

    Raises InputError, which names the triangle or vertex: what is not finite, out of range, without area, or there twice.
    """

    vertices: np.ndarray
    triangles: np.ndarray | None = None  # None: as given, never afterwards
    two_sided: bool | None = None
    smooth: bool = True
    type = "triangle_mesh"
    arrays, options = ("vertices", "triangles"), ("two_sided", "smooth")

    if TYPE_CHECKING:  # rows of any kind are made into arrays
        triangles: np.ndarray

        def __init__(
            self, vertices: Rows | Surface, triangles: Rows | None = None, two_sided: bool | None = None, smooth: bool = True
        ) -> None: ...

    def __post_init__(self) -> None:
        given, rows = self.vertices, self.triangles
        if hasattr(given, "vertices") and hasattr(given, "faces"):
            if rows is not None:
                raise InputError("triangles", rows, "must be left out beside a mesh, which has its own")
            given, rows = given.vertices, given.faces
        elif rows is None:
            raise InputError("triangles", rows, "must be given: TriangleMesh(vertices, triangles), or a mesh of trimesh alone")
        vertices = _numbers("vertices", given, 3)
        if bad := _first(~np.isfinite(vertices).all(axis=1)):
            raise InputError(f"vertices[{bad[0]}]", vertices[bad[0]], "must be three finite numbers")
        if bad := _first(np.abs(vertices).max(axis=1, initial=0.0) > MOST_LENGTH):
            raise InputError(f"vertices[{bad[0]}]", vertices[bad[0]], f"must lie within {MOST_LENGTH:g} m of the origin")
        triangles = _table("triangles", rows, 3, "must be an (m, 3) array of whole numbers", int).astype(np.int64)
        if not 0 < len(triangles) <= MOST_GROUND_TRIANGLES:
            raise InputError("triangles", len(triangles), f"must be from 1 to {MOST_GROUND_TRIANGLES} rows")
        if bad := _first(((triangles < 0) | (triangles >= len(vertices))).any(axis=1)):
            raise InputError(f"triangles[{bad[0]}]", triangles[bad[0]], f"must be rows of the {len(vertices)} vertices")
        if self.two_sided not in (None, True, False):
            raise InputError("two_sided", self.two_sided, "must be true or false")
        self._check_smooth()
        vertices, triangles = _welded(vertices + 0.0, triangles)
        _check_triangles(vertices, triangles)
        self._keep(vertices=vertices, triangles=np.ascontiguousarray(triangles, np.int32))

    @classmethod
    def load(cls, path: FileName, scale: float = 1.0, two_sided: bool | None = None, smooth: bool = True) -> TriangleMesh:
        """The surface in an STL, OBJ, PLY, glTF or GLB file, times ``scale`` (1e-3 for millimetres), axes as they stand there.

        Triangles without area, and those that are there twice, are left out. InputError: what else is wrong with the file.
        """
        from tumble.collision.solids.mesh_files import read_mesh

        mesh, scale = read_mesh(Path(path)), check_number("scale", scale, above=0)
        vertices, triangles = np.asarray(mesh.vertices, float) * scale, np.asarray(mesh.faces, np.int64)
        vertices, triangles = _welded(vertices, triangles)
        return cls(vertices, triangles[~_thin(vertices, triangles)], two_sided, smooth)

    @property
    def bounds(self) -> np.ndarray:
        """(2, 3) least and largest coordinates [m]."""
        used = self.vertices[np.unique(self.triangles)]
        return np.array([used.min(axis=0), used.max(axis=0)])

    @property
    def closed(self) -> bool:
        """Each edge belongs to two triangles that run along it in opposite directions, and they enclose a volume."""
        return bool(self.tables()["_closed"])

    @property
    def sides(self) -> int:
        """1 where only the outside is touched."""
        two = not self.closed if self.two_sided is None else self.two_sided
        return 2 if two else 1

    def _made(self) -> dict[str, np.ndarray]:
        from tumble.collision.ground.cache import FEWEST_TRIANGLES, kept_tables

        if len(self.triangles) < FEWEST_TRIANGLES:
            return self._worked_out()
        return kept_tables((self.vertices, self.triangles), self._worked_out)

    def _worked_out(self) -> dict[str, np.ndarray]:
        from tumble.collision.ground.planes import planes_of_mesh
        from tumble.collision.ground.triangle_tree import tree

        across, closed = _neighbors(self.triangles)
        if closed:
            a, b, c = (self.vertices[self.triangles[:, k]] for k in range(3))
            closed = float(np.einsum("ij,ij->", a, np.cross(b, c))) > 0.0
        patches, planes = planes_of_mesh(self.vertices, self.triangles, across)
        nodes, bounds, order = tree(self.vertices, self.triangles, across, patches)
        return {
            "_closed": np.array(closed), "across": across, "nodes": nodes, "bounds": bounds, "order": order, "patches": patches,
            "planes": planes,
        }  # fmt: skip

    def columns(self) -> dict[str, np.ndarray]:
        """What `Geometry` holds of it."""
        own = {name: table for name, table in self.tables().items() if name != "_closed"}
        own |= {"corners": self.vertices, "triangles": self.triangles, "ground": np.array([[MESH, self.sides, 0, 0]])}
        return _with_spans(own, corner="corners", triangle="triangles", node="nodes", patch="patches", plane="planes")

    def sizes(self) -> tuple[float, float, float, float]:
        return (0.0, 0.0, 0.0, 0.0)

    def surface(self) -> tuple[np.ndarray, np.ndarray]:
        """Vertices (n, 3) [m] and triangles (m, 3) to draw."""
        return self.vertices, self.triangles

    def __repr__(self) -> str:
        return f"TriangleMesh(<{len(self.vertices)} vertices>, <{len(self.triangles)} triangles>)"


def _array(path: Path) -> np.ndarray:
    """The numbers of a file of NumPy."""
    try:
        return np.load(BytesIO(regular(path, MOST_PICTURE_BYTES)), allow_pickle=False)
    except FileNotFoundError:
        raise InputError("path", str(path), "there is no such file") from None
    except (OSError, ValueError, EOFError) as error:
        raise InputError("path", str(path), f"is no array that NumPy reads: {error}") from None


@spelled
@dataclass(frozen=True, eq=False)
class HeightField(Ground):
    """Ground by its heights over a grid. Only static bodies have one; bodies stand on top of it.

    ``heights`` (m, n) [m]: sample (i, j) stands at x = (i - (m - 1) / 2) cell, y = (j - (n - 1) / 2) cell, so that the middle
    of the field is at the origin. Each cell is two triangles, cut from sample (i, j) to (i + 1, j + 1). ``cell`` [m]: the way
    from one sample to the next. ``smooth``: whether it is drawn as a curved surface, rather than as these flat triangles.
    """

    heights: np.ndarray
    cell: float = 1.0
    smooth: bool = True
    type = "height_field"
    arrays, options = ("heights",), ("cell", "smooth")

    if TYPE_CHECKING:

        def __init__(self, heights: Rows, cell: float = 1.0, smooth: bool = True) -> None: ...

    def __post_init__(self) -> None:
        heights = _numbers("heights", self.heights, None)
        if not all(2 <= side <= MOST_SIDE for side in heights.shape):
            raise InputError("heights", heights.shape, f"must have from 2 x 2 to {MOST_SIDE} x {MOST_SIDE} samples")
        bad = np.argwhere(~np.isfinite(heights) | (np.abs(heights) > MOST_LENGTH))
        if len(bad):
            i, j = bad[0].tolist()
            raise InputError(f"heights[{i}, {j}]", heights[i, j], f"must be a finite number of at most {MOST_LENGTH:g} m")
        self._set(cell=check_number("cell", self.cell, above=0))
        self._check_smooth()
        self._keep(heights=heights + 0.0)

    @classmethod
    def load(cls, path: FileName, cell: float = 1.0, low: float = 0.0, high: float = 1.0, smooth: bool = True) -> HeightField:
        """Heights from a picture that Pillow reads: its darkest possible value is ``low`` [m], its brightest ``high``.

        The picture's upper edge is the end of large y. Floating point numbers (TIFF) are taken as they are, in metres, and so is
        the array of a file of NumPy (.npy), which has the order of ``heights``.
        """
        from PIL import Image

        low, high = check_number("low", low), check_number("high", high)
        if Path(path).suffix.lower() == ".npy":
            return cls(_array(Path(path)), cell, smooth)
        try:
            with Image.open(BytesIO(regular(Path(path), MOST_PICTURE_BYTES))) as picture:
                plain = picture.mode in ("L", "I", "F") or picture.mode.startswith("I;")
                rows = np.asarray(picture if plain else picture.convert("L"))
        except FileNotFoundError:
            raise InputError("path", str(path), "there is no such file") from None
        except Image.DecompressionBombError:
            raise InputError("path", str(path), f"is too large: at most {MOST_SIDE} samples along a side") from None
        except (OSError, ValueError, SyntaxError):  # SyntaxError: Pillow's, of a broken PNG
            raise InputError("path", str(path), "is no picture that can be read, and no .npy file") from None
        values = rows.astype(float)
        if rows.dtype.kind != "f":
            most = 255.0 if rows.dtype == np.uint8 else 65535.0
            values = low + (high - low) * values / most
        return cls(values[::-1].T, cell, smooth)

    @property
    def bounds(self) -> np.ndarray:
        """(2, 3) least and largest coordinates [m]."""
        half = 0.5 * self.cell * (np.array(self.heights.shape) - 1.0)
        return np.array([(*-half, self.heights.min()), (*half, self.heights.max())])

    def _made(self) -> dict[str, np.ndarray]:
        from tumble.collision.ground.planes import planes_of_field

        low = self.bounds[0]
        patches, planes = planes_of_field(self.heights, self.cell, float(low[0]), float(low[1]))
        return {"patches": patches, "planes": planes}

    def columns(self) -> dict[str, np.ndarray]:
        """What `Geometry` holds of it."""
        own = self.tables() | {"heights": self.heights.reshape(-1), "ground": np.array([[FIELD, 1, *self.heights.shape]])}
        return _with_spans(own, height="heights", patch="patches", plane="planes")

    def sizes(self) -> tuple[float, float, float, float]:
        low, high = self.bounds
        return (self.cell, float(low[0]), float(low[1]), 0.0)

    def surface(self) -> tuple[np.ndarray, np.ndarray]:
        """Vertices (m n, 3) [m] and triangles (2 (m - 1) (n - 1), 3) to draw."""
        return self.samples(*map(np.arange, self.heights.shape))

    def samples(self, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same of some rows and columns of samples alone."""
        low, n = self.bounds[0], len(columns)
        x, y = np.meshgrid(low[0] + self.cell * rows, low[1] + self.cell * columns, indexing="ij")
        a = (np.arange(len(rows) - 1)[:, None] * n + np.arange(n - 1)).reshape(-1)
        triangles = np.stack([a, a + n, a + n + 1, a, a + n + 1, a + 1], axis=1).reshape(-1, 3).astype(np.int32)
        return np.stack([x, y, self.heights[np.ix_(rows, columns)]], axis=2).reshape(-1, 3), triangles

    def __repr__(self) -> str:
        return f"HeightField(<{' x '.join(map(str, self.heights.shape))} heights>, cell={self.cell:g})"


class Facet(Shape):
    """Room for one triangle of a ground, as a world has it at hand. Each is one of its own."""

    type = "facet"


GROUND_CLASSES = {c.type: c for c in (TriangleMesh, HeightField)}


def _with_spans(tables: dict[str, np.ndarray], **of: str) -> dict[str, np.ndarray]:
    """Tables, and beside them which rows of them are those of the one ground: all."""
    return tables | {span: np.array([[0, len(tables[table])]]) for span, table in of.items()}


def _first(bad: np.ndarray) -> list[int]:
    """The first row that is bad, if there is one."""
    return np.flatnonzero(bad)[:1].tolist()


def _numbers(name: str, value: object, columns: int | None) -> np.ndarray:
    """A table of floats, rows of so many columns where that is given."""
    given = _table(name, value, columns, f"must be an (n, {columns or 'm'}) array of numbers", float)
    return np.array(given, np.float64, order="C")


def _table(name: str, value: object, columns: int | None, wanted: str, kind: type) -> np.ndarray:
    """An array of rows of numbers; InputError names the first row or number that is none."""
    try:
        given = np.asarray(value)
    except (TypeError, ValueError):
        given = np.empty(0)
    if given.ndim == 2 and columns in (None, given.shape[1]) and given.dtype.kind in ("iu" if kind is int else "iuf"):
        return given
    rows = value if isinstance(value, list | tuple) else given if given.ndim == 2 else ()
    width = len(rows[0]) if len(rows) and np.ndim(rows[0]) == 1 else 0
    if width and columns in (None, width):  # else all of it is of another form
        for i, row in enumerate(rows):
            if np.ndim(row) != 1 or len(row) != width:
                raise InputError(f"{name}[{i}]", row, wanted if columns else f"must be {width} numbers, as the other rows are")
            for j, number in enumerate(row):
                if not _is_number(number, kind):
                    raise InputError(f"{name}[{i}, {j}]", number, f"must be a {'whole ' if kind is int else ''}number")
    raise InputError(name, value, wanted)


def _is_number(value: object, kind: type) -> bool:
    if isinstance(value, bool | np.bool_ | str):
        return False
    return isinstance(value, int | np.integer) or (kind is float and isinstance(value, float | np.floating))


def _welded(vertices: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vertices at the same place made one, the others in their order."""
    order = np.lexsort(vertices.T)
    fresh = np.ones(len(order), bool)
    fresh[1:] = (vertices[order[1:]] != vertices[order[:-1]]).any(axis=1)
    if fresh.all():
        return vertices, triangles
    kept = np.minimum.reduceat(order, np.flatnonzero(fresh))  # of each place, the first vertex
    one = np.empty(len(order), np.int64)
    one[order] = kept[np.cumsum(fresh) - 1]
    stay = np.sort(kept)
    return np.ascontiguousarray(vertices[stay]), np.searchsorted(stay, one)[triangles]


def _thin(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """(m,) triangles that are no more than a line or a point."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    longest = np.maximum.reduce([np.linalg.norm(side, axis=1) for side in (b - a, c - b, a - c)])
    return np.linalg.norm(np.cross(b - a, c - a), axis=1) <= THIN * longest**2


def _check_triangles(vertices: np.ndarray, triangles: np.ndarray) -> None:
    if bad := _first(_thin(vertices, triangles)):
        raise InputError(f"triangles[{bad[0]}]", triangles[bad[0]], "has no area: its corners lie on a line; leave it out")
    same = np.sort(triangles, axis=1)
    n = len(vertices)
    order = np.lexsort(same.T) if n > KEYS else np.argsort((same[:, 0] * n + same[:, 1]) * n + same[:, 2], kind="stable")
    twice = (same[order[1:]] == same[order[:-1]]).all(axis=1)
    if twice.any():
        first, second = sorted(order[[(k := int(np.argmax(twice))), k + 1]].tolist())
        raise InputError(f"triangles[{second}]", triangles[second], f"is there twice, first as triangles[{first}]; leave it out")


def _neighbors(triangles: np.ndarray) -> tuple[np.ndarray, bool]:
    """(triangle across each edge (m, 3), -1 where there is none or more than one; whether all edges are shared by two that run
    along it in opposite directions)."""
    m = len(triangles)
    start = triangles.reshape(-1).astype(np.int64)
    end = np.roll(triangles, -1, axis=1).reshape(-1).astype(np.int64)
    low, high = np.minimum(start, end), np.maximum(start, end)
    order = np.argsort(low * (int(high.max()) + 1) + high, kind="stable")
    low, high = low[order], high[order]
    begin = np.flatnonzero(np.diff(low, prepend=-1) | np.diff(high, prepend=-1))
    count = np.diff(begin, append=3 * m)
    two = begin[count == 2]
    one, other = order[two], order[two + 1]
    across = np.full(3 * m, -1, np.int32)
    across[one], across[other] = other // 3, one // 3
    closed = len(two) * 2 == 3 * m and bool((start[one] == end[other]).all())
    return across.reshape(m, 3), closed


def as_bits(array: np.ndarray) -> Any:
    """An array as lists, or where it is long as a table of its kind, its shape and its bits.

    The bits are compressed where that makes them shorter. Measured heights are noise in their last digits: to compress 16 million
    of them took half a minute and saved a twentieth, so those are only wrapped.
    """
    if array.size <= MOST_PLAIN:
        return array.tolist()
    kind = NUMBER_KINDS[array.dtype.kind == "i"]
    raw = np.ascontiguousarray(array, kind).tobytes()
    shrinks = len(zlib.compress(raw[:SAMPLE], 1)) < 0.9 * len(raw[:SAMPLE])
    bits = zlib.compress(raw, 1 if shrinks else 0)
    return {"kind": kind, "shape": list(array.shape), "bits": base64.b64encode(bits).decode("ascii")}


def of_bits(name: str, value: Any) -> Any:
    """What `as_bits` was given; anything else as it is. InputError: a table that is none of its own."""
    if not isinstance(value, dict):
        return value
    try:
        kind, shape, bits = value["kind"], tuple(map(int, value["shape"])), value["bits"]
        if kind not in NUMBER_KINDS or min(shape) < 0 or not 0 < math.prod(shape) <= MOST_NUMBERS:
            raise ValueError
        size = math.prod(shape) * np.dtype(kind).itemsize
        opened = zlib.decompressobj()
        raw = opened.decompress(base64.b64decode(bits, validate=True), size + 1)  # no more, whatever the bits would grow to
        if len(raw) != size:
            raise ValueError
    except (KeyError, TypeError, ValueError, OverflowError, zlib.error, binascii.Error):
        raise InputError(name, {key: value[key] for key in ("kind", "shape") if key in value}, "is no packed array") from None
    return np.frombuffer(raw, kind).reshape(shape)
