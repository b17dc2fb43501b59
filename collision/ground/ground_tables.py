"""The tables that kernels read of a ground, made once for each ground: queries that ask again and again do not pack it anew.

Each thread has tables of its own, because kernels write the triangle at hand into them, and of each shape that is asked about.
"""

from __future__ import annotations

from functools import lru_cache
from threading import get_ident

from tumble.collision.geometry import Geometry
from tumble.collision.kernels.group import own_tables
from tumble.collision.shapes.definitions import Shape
from tumble.collision.shapes.ground import Facet, Ground
from tumble.collision.shapes.shapeset import ShapeSet

MOST_KEPT = 32  # tables of the last questions: few grounds are asked about at a time, each by few shapes


def tables_of(ground: Ground, shape: Shape | None = None) -> Geometry:
    """Tables of a ground, row 0. With a convex ``shape``: its row is 1, and row 2 is room for a triangle of the ground."""
    return _tables(ground, shape, get_ident())


@lru_cache(maxsize=MOST_KEPT)
def _tables(ground: Ground, shape: Shape | None, thread: int) -> Geometry:
    rows = [ground] if shape is None else [ground, shape, Facet()]
    return own_tables(ShapeSet(rows, ground=True).geometry)
