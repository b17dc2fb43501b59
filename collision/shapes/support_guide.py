"""Which vertices of a large hull can be furthest along a direction: lists for the cells of a cube of directions.

The directions of a cell are mixtures of those of its four corners. So a vertex is left out of the list of a cell if another
vertex is higher along all four directions, by more than rounding. A vertex that is out of the list of a large cell is out of
those within it.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.shapes.support_simd import VERTEX_LANES

SWEPT = 96  # vertices that are swept over, at most 256: `support.supported` counts them in eight bits
MOST_CELLS = 16  # cells along a side of the cube
STEP = 4  # cells along the side of a large cell


def guide(vertices: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
    """(cells along a side, of about as many cells as there are vertices, where their lists begin (c + 1,), lists (k, 8)).

    0 cells for few vertices. Rows of `Geometry.candidates`, each list filled up with its last vertex.
    """
    if len(vertices) <= SWEPT:
        return 0, np.zeros(1, np.int64), np.zeros((0, VERTEX_LANES), np.int32)
    side = min(MOST_CELLS, math.ceil(math.sqrt(len(vertices) / 6)))
    slack = 1e-12 * np.abs(vertices).sum(axis=1).max()
    edge = np.arange(side + 1) * 2 / side - 1
    lists: list[np.ndarray] = [np.empty(0)] * (6 * side * side)
    for face in range(6):
        whole = _left(_heights(face, edge[[0, -1]], edge[[0, -1]], vertices), slack)[0]
        for i in range(0, side, STEP):
            for j in range(0, side, STEP):
                rows, columns = edge[i : i + STEP + 1], edge[j : j + STEP + 1]
                kept = whole[_left(_heights(face, rows[[0, -1]], columns[[0, -1]], vertices[whole]), slack)[0]]
                found = _left(_heights(face, rows, columns, vertices[kept]), slack)
                for k, part in enumerate(found):
                    at = (face * side + i + k // (len(columns) - 1)) * side + j + k % (len(columns) - 1)
                    lists[at] = kept[part]
    filled = [np.concatenate([part, np.repeat(part[-1:], -len(part) % VERTEX_LANES)]) for part in lists]
    cells = np.cumsum([0, *(len(part) // VERTEX_LANES for part in filled)])
    return side, cells.astype(np.int64), np.concatenate(filled).reshape(-1, VERTEX_LANES).astype(np.int32)


def _heights(face: int, u: np.ndarray, v: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    """(cells, 4, n) heights of vertices along the directions of the corners of cells between the lines u and v of a face."""
    directions = np.empty((len(u), len(v), 3))
    directions[..., face // 2] = 1 - 2 * (face % 2)
    directions[..., (face // 2 + 1) % 3] = u[:, None]
    directions[..., (face // 2 + 2) % 3] = v
    heights = directions @ vertices.T
    corners = np.stack([heights[:-1, :-1], heights[:-1, 1:], heights[1:, :-1], heights[1:, 1:]], axis=2)
    return corners.reshape(-1, 4, len(vertices))


def _left(corners: np.ndarray, slack: float) -> list[np.ndarray]:
    """Of each cell the vertices that none of its highest ones, in the middle and at the corners, leaves behind everywhere."""
    found = []
    for heights in corners:
        left = np.arange(heights.shape[1])
        rows = heights
        for best in (heights.sum(axis=0).argmax(), *heights.argmax(axis=1)):
            x, y, z, w = heights[:, best] - slack
            kept = (rows[0] >= x) | (rows[1] >= y) | (rows[2] >= z) | (rows[3] >= w)
            left, rows = left[kept], rows[:, kept]
        found.append(left)
    return found
