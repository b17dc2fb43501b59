"""Where a ground is plane: connected triangles whose corners lie in one plane to rounding, so that they are one face.

To a body that is near such a face, and near none of its borders, the ground is the half-space under the face. So one plane takes
the place of all its triangles (sim/contact/ground/facet_rows.py). Each triangle of a mesh has the number of its face. A
field has that of each block of cells, without a table of its triangles.
"""

from __future__ import annotations

import numpy as np

from tumble.collision.kernels.jit import kernel, lean
from tumble.collision.linalg import add, cross, dot, load3, norm, scale, store3, sub

PLANE_ROUNDING = 64 * 2.0**-52  # of the largest coordinate: how far corners of one face may lie off its plane
BLOCK_CELLS = 8  # cells along a side of a block of a field


def planes_of_mesh(vertices: np.ndarray, triangles: np.ndarray, across: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(face of each triangle (m,) int32, -1 where it has none but itself; planes of faces (p, 4): normal, offset [m])."""
    faces, planes = np.full(len(triangles), -1, np.int32), np.empty((len(triangles) // 2, 4))
    tolerance = PLANE_ROUNDING * float(np.abs(vertices).max(initial=0.0))
    count = mesh_faces(vertices, triangles, across, tolerance, faces, planes)
    return faces, planes[:count].copy()


def planes_of_field(heights: np.ndarray, cell: float, x: float, y: float) -> tuple[np.ndarray, np.ndarray]:
    """(face of each block (b,) int32, -1: it is not plane; planes of faces (p, 4)) of a field whose first sample is at (x, y)."""
    blocks = [-(-(side - 1) // BLOCK_CELLS) for side in heights.shape]
    faces, planes = np.full(blocks, -1, np.int32), np.empty((blocks[0] * blocks[1], 4))
    size = max(float(np.abs(heights).max()), 0.5 * cell * max(heights.shape))
    count = field_faces(heights, cell, x, y, PLANE_ROUNDING * size, faces, planes)
    return faces.reshape(-1), planes[:count].copy()


@lean
def _corner(vertices, triangles, t, k):
    return load3(vertices, int(triangles[t, k]))


@lean
def _area(vertices, triangles, t):
    """Twice the area of a triangle along its normal [m^2]."""
    a = _corner(vertices, triangles, t, 0)
    return cross(sub(_corner(vertices, triangles, t, 1), a), sub(_corner(vertices, triangles, t, 2), a))


@lean
def _height(vertices, triangles, t, n, x):
    """(how far the corners of a triangle lie off a plane at most, how far from the point x of it)."""
    off, far = 0.0, 0.0
    for k in range(3):
        d = sub(_corner(vertices, triangles, t, k), x)
        off, far = max(off, abs(dot(n, d))), max(far, norm(d))
    return off, far


@kernel
def mesh_faces(vertices, triangles, across, tolerance, faces, planes):
    """Number the faces of a mesh, in the order of their first triangles; how many there are.

    A face grows from its first triangle. Its plane is that of all that it has so far: normal the sum of their areas, through the
    mean of their middles. In the end triangles that lie off the plane of the whole are taken out.
    """
    queue, count = np.empty(len(triangles), np.int32), 0
    for seed in range(len(triangles)):
        if faces[seed] != -1 or count == len(planes):
            continue
        queue[0], first, last = seed, 0, 1
        faces[seed] = count
        area, middle, weight = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0
        while first < last:
            t = int(queue[first])
            first += 1
            own = _area(vertices, triangles, t)
            part = norm(own)
            third = add(
                _corner(vertices, triangles, t, 0), add(_corner(vertices, triangles, t, 1), _corner(vertices, triangles, t, 2))
            )
            area, weight = add(area, own), weight + part
            middle = add(middle, scale(part / weight, sub(scale(1.0 / 3.0, third), middle)))
            n, extent = scale(1.0 / norm(area), area), np.sqrt(weight)
            for e in range(3):
                u = int(across[t, e])
                if u < 0 or faces[u] != -1 or dot(_area(vertices, triangles, u), n) <= 0.0:
                    continue
                off, far = _height(vertices, triangles, u, n, middle)
                if off <= tolerance * (1.0 + far / extent):
                    faces[u] = count
                    queue[last] = u
                    last += 1
        n, stay = scale(1.0 / norm(area), area), 0
        for k in range(last):
            if _height(vertices, triangles, int(queue[k]), n, middle)[0] <= tolerance:
                stay += 1
            else:
                faces[queue[k]] = -2
        if stay < 2:
            for k in range(last):
                faces[queue[k]] = -2
            continue
        store3(planes, count, n)
        planes[count, 3] = dot(n, middle)
        count += 1
    for t in range(len(faces)):
        faces[t] = max(faces[t], -1)
    return count


@lean
def _block_is_plane(heights, bi, bj, i, j, slope_i, slope_j, height, tolerance):
    """Whether block (bi, bj) lies in the plane through ``height`` at sample (i, j), with the cells around it."""
    for p in range(max(0, BLOCK_CELLS * bi - 1), min(heights.shape[0], BLOCK_CELLS * bi + BLOCK_CELLS + 2)):
        for q in range(max(0, BLOCK_CELLS * bj - 1), min(heights.shape[1], BLOCK_CELLS * bj + BLOCK_CELLS + 2)):
            if not abs(heights[p, q] - height - slope_i * (p - i) - slope_j * (q - j)) <= tolerance:
                return False
    return True


@kernel
def field_faces(heights, cell, x, y, tolerance, faces, planes):
    """Number the faces of a field, of whole blocks, in the order of their first ones; how many there are."""
    rows, columns = faces.shape
    queue, count = np.empty((rows * columns, 2), np.int32), 0
    for bi in range(rows):
        for bj in range(columns):
            if faces[bi, bj] != -1:
                continue
            i, j = BLOCK_CELLS * bi, BLOCK_CELLS * bj
            k, m = min(heights.shape[0] - 1, i + BLOCK_CELLS), min(heights.shape[1] - 1, j + BLOCK_CELLS)
            slope_i, slope_j = (heights[k, j] - heights[i, j]) / (k - i), (heights[i, m] - heights[i, j]) / (m - j)
            height = heights[i, j]
            if not _block_is_plane(heights, bi, bj, i, j, slope_i, slope_j, height, tolerance):
                continue
            faces[bi, bj], queue[0, 0], queue[0, 1] = count, bi, bj
            first, last = 0, 1
            while first < last:
                p, q = int(queue[first, 0]), int(queue[first, 1])
                first += 1
                for way in range(4):
                    u, v = p + (way == 0) - (way == 1), q + (way == 2) - (way == 3)
                    if not (0 <= u < rows and 0 <= v < columns) or faces[u, v] != -1:
                        continue
                    if _block_is_plane(heights, u, v, i, j, slope_i, slope_j, height, tolerance):
                        faces[u, v] = count
                        queue[last, 0], queue[last, 1] = u, v
                        last += 1
            n = (-slope_i / cell, -slope_j / cell, 1.0)
            n = scale(1.0 / norm(n), n)
            store3(planes, count, n)
            planes[count, 3] = dot(n, (x + i * cell, y + j * cell, height))
            count += 1
    return count
