"""The tree of a mesh's triangles: halved again and again along the widest axis, O(n log n), a node in 40 bytes.

Nodes stand in preorder. Each says where to go on if its box is missed, so that a search needs no stack, and whether all of its
triangles belong to one plane face (planes.py). Boxes are in single precision, rounded outward.
"""

from __future__ import annotations

import numpy as np

from tumble.collision.halving import halve
from tumble.collision.kernels.jit import kernel, lean


def tree(
    vertices: np.ndarray, triangles: np.ndarray, across: np.ndarray, patches: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(nodes (k, 4) int32, bounds (k, 6) float32, order (m,) int32) as `Geometry` has them."""
    points = [vertices[triangles[:, k]] for k in range(3)]
    low, high = np.minimum.reduce(points), np.maximum.reduce(points)
    order = np.arange(len(triangles))
    nodes, bounds = np.empty((2 * len(triangles) + 1, 4), np.int32), np.empty((2 * len(triangles) + 1, 6))
    count = grow(low, high, across, patches, order, nodes, bounds)
    lowest, highest = (bounds[:count, k : k + 3].astype(np.float32) for k in (0, 3))
    none = np.float32(np.inf)
    boxes = np.concatenate([np.nextafter(lowest, -none), np.nextafter(highest, none)], axis=1)
    return nodes[:count].copy(), boxes, order.astype(np.int32)


@lean
def inside(across, patches, t, face):
    """Whether triangle t and its three neighbours belong to this face."""
    found = patches[t] == face
    for e in range(3):
        found = found and across[t, e] >= 0 and patches[across[t, e]] == face
    return found


@kernel
def grow(low, high, across, patches, order, nodes, bounds):
    """Permute ``order``, fill the tables of nodes, return how many there are."""
    n = len(order)
    start, stop = np.empty(2 * n + 1, np.int64), np.empty(2 * n + 1, np.int64)
    count = halve(low, high, order, n, start, stop)
    for node in range(count - 1, -1, -1):
        nodes[node, 1], nodes[node, 2] = start[node], stop[node]
        if stop[node] > start[node]:
            nodes[node, 0] = node + 1
            for k in range(3):
                bounds[node, k], bounds[node, k + 3] = np.inf, -np.inf
            nodes[node, 3] = patches[order[start[node]]]
            for a in range(start[node], stop[node]):
                for k in range(3):
                    bounds[node, k] = min(bounds[node, k], low[order[a], k])
                    bounds[node, k + 3] = max(bounds[node, k + 3], high[order[a], k])
                if not inside(across, patches, order[a], nodes[node, 3]):
                    nodes[node, 3] = -1
        else:  # the first half is the next node, and the second follows it
            second = nodes[node + 1, 0]
            nodes[node, 0] = nodes[second, 0]
            nodes[node, 3] = nodes[node + 1, 3] if nodes[node + 1, 3] == nodes[second, 3] else -1
            for k in range(3):
                bounds[node, k] = min(bounds[node + 1, k], bounds[second, k])
                bounds[node, k + 3] = max(bounds[node + 1, k + 3], bounds[second, k + 3])
    return count
