"""How a ground is drawn: its triangles, lit as a curved surface where they bend little, or by choice as flat ones, with lines
along sharp edges and rims."""

from __future__ import annotations

import numpy as np

from tumble.collision.shapes.ground import HeightField
from tumble.render.meshes.meshes import CREASE, SHARP, Mesh

MOST_SAMPLES = 40_000  # of a height field in a page: 12 MB of text
BLOCK = 64  # rows of a field that are compared at once


def surface_mesh(vertices: np.ndarray, triangles: np.ndarray, smooth: bool = True) -> Mesh:
    """The mesh of vertices (n, 3) and triangles (m, 3); not ``smooth``: each triangle with its own normal."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    area = np.cross(b - a, c - a)  # twice, along the normal
    flat = area / np.linalg.norm(area, axis=1)[:, None]
    own = np.repeat(flat[:, None], 3, axis=1)
    normals = _smoothed(len(vertices), triangles, area, flat) if smooth else own
    faces = tuple(map(tuple, triangles.tolist()))
    return Mesh(vertices, faces, tuple(normals), _lines(triangles, flat))


def _smoothed(n: int, triangles: np.ndarray, area: np.ndarray, flat: np.ndarray) -> np.ndarray:
    """(m, 3, 3) normals at the corners: the mean around a vertex, but where it is far from the triangle's own."""
    mean = np.zeros((n, 3))
    for k in range(3):
        np.add.at(mean, triangles[:, k], area)
    length = np.linalg.norm(mean, axis=1)
    mean = mean / np.where(length > 0.0, length, 1.0)[:, None]
    rows = mean[triangles]
    near = np.einsum("mki,mi->mk", rows, flat) > np.cos(SHARP)
    return np.where(near[..., None], rows, flat[:, None])


def _lines(triangles: np.ndarray, flat: np.ndarray) -> np.ndarray:
    """(k, 2) edges that only one triangle has, or where two meet at more than a right smooth bend."""
    ends = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    owner = np.repeat(np.arange(len(triangles)), 3)
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    ends, owner = ends[order], owner[order]
    begin = np.flatnonzero((np.diff(ends, axis=0, prepend=-1) != 0).any(axis=1))
    count = np.diff(begin, append=len(ends))
    two = begin[count == 2]
    bend = np.einsum("ij,ij->i", flat[owner[two]], flat[owner[two + 1]]) < np.cos(max(CREASE, SHARP))
    return np.concatenate([ends[begin[count == 1]], ends[two[bend]]])


def thinned(field: HeightField, most: int = MOST_SAMPLES) -> tuple[np.ndarray, np.ndarray, tuple[int, int], float]:
    """A surface of at most ``most`` samples of a field, its rims among them: vertices (n, 3) [m], triangles (m, 3), how many
    samples are left along x and y, and how far the surface is off at those left out [m]."""
    heights = field.heights
    share = min(np.sqrt(most / heights.size), 1.0)
    rows, columns = (np.unique(np.linspace(0, n - 1, max(int(share * n), 2)).round().astype(int)) for n in heights.shape)
    kept = heights[np.ix_(rows, columns)]
    return *field.samples(rows, columns), kept.shape, _off(heights, rows, columns, kept)


def _off(heights: np.ndarray, rows: np.ndarray, columns: np.ndarray, kept: np.ndarray) -> float:
    """The largest distance along z [m] between samples and the triangles over the rows and columns that are kept."""
    j, v = _between(columns, heights.shape[1])
    off = 0.0
    for start in range(0, len(heights), BLOCK):
        block = heights[start : start + BLOCK]
        i, u = (part[start : start + BLOCK, None] for part in _between(rows, len(heights)))
        first, far = kept[i, j], kept[i + 1, j + 1]
        side = np.where(u > v, kept[i + 1, j], kept[i, j + 1])
        more, less = np.maximum(u, v), np.minimum(u, v)
        off = max(off, float(np.abs(first * (1 - more) + side * (more - less) + far * less - block).max()))
    return off


def _between(kept: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """(n,) which two of the kept rows a row lies between, and how far on."""
    i = np.clip(np.searchsorted(kept, np.arange(n), side="right") - 1, 0, len(kept) - 2)
    return i, (np.arange(n) - kept[i]) / (kept[i + 1] - kept[i])
