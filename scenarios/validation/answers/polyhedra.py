"""Cuboids as sets of linear inequalities: distance by bounded least squares, depth by the hull of differences."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.optimize import lsq_linear
from scipy.spatial import ConvexHull


def cuboid_distance(a: tuple, b: tuple) -> float:
    """Of two cuboids (half extents (3,), attitude (3, 3), centre (3,)): least |A s - B t + x_a - x_b| for s, t in [-1, 1]."""
    (ha, ra, xa), (hb, rb, xb) = a, b
    axes = np.hstack((ra * np.asarray(ha), -(rb * np.asarray(hb))))
    found = lsq_linear(axes, np.asarray(xb, float) - xa, (-1, 1), method="bvls", tol=1e-15)
    return float(np.linalg.norm(axes @ found.x + xa - xb))


def cuboid_depth(a: tuple, b: tuple) -> tuple[float, np.ndarray]:
    """(depth, the way in which ``b`` leaves ``a`` soonest): the nearest facet of the hull of all differences of corners."""
    differences = [p - q for p in _corners(*a) for q in _corners(*b)]
    planes = ConvexHull(differences).equations  # n.x + d <= 0 inside
    nearest = planes[np.argmax(planes[:, 3])]
    return float(-nearest[3]), nearest[:3]


def _corners(half: object, rot: np.ndarray, x: object) -> np.ndarray:
    return np.array(list(itertools.product((-1, 1), repeat=3))) * half @ rot.T + x


def regular_solid(name: str) -> tuple[np.ndarray, float, float]:
    """(corners, volume, moment of inertia / (mass edge^2)) of a Platonic solid of edge 1, in closed form."""
    f = (1 + 5**0.5) / 2
    signs = np.array(list(itertools.product((-1, 1), repeat=3)), float)

    def rings(x: float, y: float) -> list:
        """(0, +-x, +-y) and what follows from it by turning the axes round."""
        return [np.roll((0.0, s * x, t * y), k) for s in (-1, 1) for t in (-1, 1) for k in range(3)]

    match name:
        case "tetrahedron":
            return signs[[0, 3, 5, 6]] / 8**0.5, 2**0.5 / 12, 1 / 20
        case "cube":
            return signs / 2, 1.0, 1 / 6
        case "octahedron":
            return np.vstack((np.eye(3), -np.eye(3))) / 2**0.5, 2**0.5 / 3, 1 / 10
        case "icosahedron":
            return np.array(rings(1, f)) / 2, 5 / 12 * (3 + 5**0.5), f * f / 10
        case "dodecahedron":
            return np.array([*signs, *rings(1 / f, f)]) * f / 2, (15 + 7 * 5**0.5) / 4, (39 * f + 28) / 150
    raise KeyError(name)
