"""Sweeps over the vertices of a hull by vector instructions.

The vertices stand in blocks of eight, `Geometry.blocks` (b, 24): eight x, eight y, eight z; the last block of a hull is
filled up with its last vertex (kernels/intrinsics/vectors.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tumble.collision.kernels.jit import intrinsic

VERTEX_LANES = 8


def pack_blocks(vertices: np.ndarray) -> np.ndarray:
    """Blocks (ceil(n / 8), 24) of n vertices (n, 3)."""
    filled = np.concatenate([vertices, np.repeat(vertices[-1:], -len(vertices) % VERTEX_LANES, axis=0)])
    return np.ascontiguousarray(filled.reshape(-1, VERTEX_LANES, 3).transpose(0, 2, 1).reshape(-1, 3 * VERTEX_LANES))


def _code() -> Any:
    from tumble.collision.kernels.intrinsics import vectors

    return vectors


def _heights(blocks, first, stop, x, y, z) -> np.ndarray:
    rows = np.asarray(blocks[first:stop]).reshape(-1, 3, VERTEX_LANES)
    return (rows[:, 0] * x + rows[:, 1] * y + rows[:, 2] * z).ravel()


def _reach_uncompiled(blocks, first, stop, x, y, z):
    return float(_heights(blocks, first, stop, x, y, z).max())


def _place_uncompiled(blocks, first, stop, x, y, z, mark):
    heights = _heights(blocks, first, stop, x, y, z)
    marked = (heights.view(np.int64) & ~mark) | np.arange(len(heights))
    return int(marked.view(float).argmax()), float(heights.max())


# reach(blocks, first, stop, x, y, z): the greatest height of a vertex of blocks [first, stop) along (x, y, z).
# place(blocks, first, stop, x, y, z, mark): the number of that vertex, counted from block first, or of one that is lower by
# ``mark`` units in the last place at most; and the greatest height. mark: 2^m - 1, no less than the numbers, which stand in
# the last m bits of the heights that are compared.
reach = intrinsic(lambda: _code().reach, _reach_uncompiled)
place = intrinsic(lambda: _code().place, _place_uncompiled)
