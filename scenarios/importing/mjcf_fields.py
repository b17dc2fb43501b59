"""Height fields of MJCF files: pictures, MuJoCo's own files, or numbers, as MuJoCo has them.

Heights go from 0 at the lowest to the third number of ``size`` at the highest; in pictures and numbers the first row is that at
the largest y, in MuJoCo's files that at the least. What lies below a field, the fourth number, is solid there; here it is not.
"""

from __future__ import annotations

import xml.etree.ElementTree as xml
from functools import partial
from pathlib import Path

import numpy as np

from tumble.collision.errors import InputError
from tumble.collision.regular import regular
from tumble.collision.shapes.ground import MOST_PICTURE_BYTES, MOST_SIDE, Ground, HeightField, TriangleMesh
from tumble.scenarios.files.limits import packaged, read_whole
from tumble.scenarios.importing.models import needed, numbers, whole

SQUARE = 1e-6  # of a cell: sides that differ by less are alike


def field_name(asset: xml.Element) -> str:
    return asset.get("name") or Path(asset.get("file", "")).stem


def read_field(asset: xml.Element, folder: Path, strip: bool) -> Ground:
    """The ground of an <hfield>: a HeightField where its cells are square, else the mesh of its triangles."""
    name = asset.get("file", "")
    values = _file(packaged("hfield", folder / (Path(name).name if strip else name))) if name else _given(asset)
    values = values - values.min()
    if values.max() > 0.0:
        values = values / values.max()
    rx, ry, high, _ = size = needed(asset, "size", 4)
    if min(size) <= 0.0:
        raise InputError(
            "hfield.size", list(size), "must be four positive numbers: half of x and of y, height, and what lies below"
        )
    heights = high * values.T
    x, y = (2.0 * half / (count - 1) for half, count in zip((rx, ry), heights.shape, strict=True))
    if abs(x - y) <= SQUARE * max(x, y):
        return HeightField(heights, x)
    vertices, triangles = HeightField(heights).surface()
    return TriangleMesh(vertices * (x, y, 1.0), triangles, two_sided=False)


def _checked(values: np.ndarray, what: object) -> np.ndarray:
    if not all(2 <= side <= MOST_SIDE for side in values.shape) or not np.isfinite(values).all():
        raise InputError("hfield", what, f"must have from 2 x 2 to {MOST_SIDE} x {MOST_SIDE} finite heights")
    return values


def _given(asset: xml.Element) -> np.ndarray:
    """(rows, columns) of ``elevation``, the least y first; none are zeros, which a program is to fill."""
    rows, columns = whole(asset, "nrow", 0), whole(asset, "ncol", 0)
    if not (2 <= rows <= MOST_SIDE and 2 <= columns <= MOST_SIDE):
        raise InputError(
            "hfield.nrow", f"{rows} x {columns}", f"must be from 2 x 2 to {MOST_SIDE} x {MOST_SIDE}, or a file given"
        )
    found = np.array(numbers(asset, "elevation", (0.0,) * (rows * columns)))
    if len(found) != rows * columns:
        raise InputError("hfield.elevation", len(found), f"must be {rows * columns} numbers, {rows} rows of {columns}")
    return _checked(found.reshape(rows, columns)[::-1], field_name(asset))


def _file(path: Path) -> np.ndarray:
    """(rows, columns), the least y first, of a picture or of MuJoCo's format: two whole numbers, then single precision."""
    if path.suffix.lower() == ".png":
        return _checked(HeightField.load(path).heights.T, str(path))
    data = read_whole("hfield", path, partial(regular, most=MOST_PICTURE_BYTES))
    counts = np.frombuffer(data[:8], "<i4").astype(int)
    if len(counts) < 2 or counts.min() < 0 or len(data) != 8 + 4 * int(counts.prod()):
        raise InputError("hfield", str(path), "can not be read: neither a .png nor a file of heights of MuJoCo's")
    return _checked(np.frombuffer(data, "<f4", int(counts.prod()), 8).reshape(counts).astype(float), str(path))
