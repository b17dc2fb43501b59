"""Depth of two overlapping convex sets in two and three dimensions: the expanding polytope algorithm (van den Bergen 2001).

A polygon or polytope inside A - B grows at the face nearest to the origin until that face lies on the boundary. As in
the articles by W. Bittle (dyn4j), D. Gavlo and Jess, with what they leave open closed:

- A first simplex that is not full is filled up by support points; where that can not be, A - B is flat and the depth 0.
- Normals come from the winding, never from the origin: they hold where the bodies just touch.
- The distance of a face is that of its plane; edge tests (Jess) tell whether the foot of the perpendicular lies in it.
- What a new corner sees is found by flood fill from the nearest face, and must be bounded by one closed loop.
- The points in contact are those with the barycentric coordinates of the foot (Gavlo).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tumble.collision.errors import InputError
from tumble.collision.reference.convex_sets import Body, Corner, corner
from tumble.collision.reference.numpy_gjk import EPS


@dataclass(frozen=True, eq=False)
class Depth:
    """How deep two cores overlap, in [lower, upper] [m]; moving B by depth along normal parts them.

    depth is the upper bound, the height of a plane that no point of A - B lies beyond; it converges twice as fast.
    point_a, point_b: the deepest points, point_a - point_b = depth normal; sums of weights times the corners of
    simplex_a and simplex_b, the face that was found.
    """

    depth: float
    lower: float
    upper: float
    normal: np.ndarray  # from A to B
    point_a: np.ndarray
    point_b: np.ndarray
    simplex_a: np.ndarray
    simplex_b: np.ndarray
    weights: np.ndarray
    iterations: int


def epa(
    a: Body,
    b: Body,
    simplex: list[Corner] | None = None,
    limit: int = 200,
    tolerance: float = 0.0,
    steps: list[dict[str, Any]] | None = None,
) -> Depth:
    """Depth of the cores of two overlapping bodies, in two or three dimensions.

    simplex: corners of A - B to start from, as `gjk` leaves them. ``tolerance`` [m]: width of [lower, upper] that will
    do; rounding is always added. ``steps`` collects what every iteration did, as plain data.
    """
    dimension = len(a.center)
    if dimension not in (2, 3):
        raise InputError("dimension", dimension, "must be 2 or 3; distances by gjk work in any dimension")
    size = a.size + b.size + np.linalg.norm(a.center - b.center)
    tolerance += 8 * EPS * size
    corners, normal = full_simplex(a, b, simplex or [], 1e-12 * size)
    if normal is not None:  # A - B is flat: any touch has depth 0 across it
        return _depth_over(0.0, 0.0, normal, corners[:dimension], 0)
    hull = Polygon(corners) if dimension == 2 else Polytope(corners)
    upper = np.inf
    for iterations in range(1, limit + 1):  # noqa: B007 (the count is told)
        f = hull.nearest(upper)
        n, inner = hull.normals[f], hull.distances[f]
        new = corner(a, b, n)
        outer = n @ new.w
        if outer < upper or outer - inner <= tolerance:
            upper = min(outer, upper)
            best = (n, [hull.corners[i] for i in hull.faces[f]])
        if steps is not None:
            steps.append(_epa_step(hull, f, new, -upper, -inner))
        if outer - inner <= tolerance or not hull.expand(f, new):
            break
    return _depth_over(min(hull.least(), upper), upper, *best, iterations)


def full_simplex(a: Body, b: Body, start: list[Corner], flat: float) -> tuple[list[Corner], np.ndarray | None]:
    """n + 1 corners that span a volume, from those given and support points across what they span.

    Where there are none, A - B is flat: then the corners found, and the unit normal across them.
    """
    dimension = len(a.center)
    corners: list[Corner] = []
    for c in start or [corner(a, b, np.eye(dimension)[0])]:
        across = _perpendiculars([*corners, c])
        if len(across) == dimension - len(corners) and (not corners or _beside(corners, c) > flat):
            corners.append(c)
    while len(corners) <= dimension:
        across = _perpendiculars(corners)
        found = [corner(a, b, sign * n) for n in across for sign in (1.0, -1.0)]
        new = max(found, key=lambda c: _beside(corners, c))
        if _beside(corners, new) <= flat:
            return corners, across[0]
        corners.append(new)
    return corners, None


def _perpendiculars(corners: list[Corner]) -> np.ndarray:
    """Unit vectors (m, n) perpendicular to all that the corners span."""
    w = np.array([c.w for c in corners])
    _, s, rows = np.linalg.svd(w[1:] - w[0], full_matrices=True) if len(w) > 1 else (0, np.empty(0), np.eye(w.shape[1]))
    return rows[len(s) :]


def _beside(corners: list[Corner], c: Corner) -> float:
    """Distance of a corner from the line, plane ... through others."""
    return float(np.linalg.norm(_perpendiculars(corners) @ (c.w - corners[0].w)))


class Polygon:
    """Corners in counter-clockwise order; face i is the edge from corner i to the next."""

    def __init__(self, corners: list[Corner]):
        (ax, ay), (bx, by) = corners[1].w - corners[0].w, corners[2].w - corners[0].w
        self.corners = list(corners) if ax * by > ay * bx else list(corners)[::-1]
        self._measure()

    def _measure(self) -> None:
        w = np.array([c.w for c in self.corners])
        self.faces = [(i, (i + 1) % len(w)) for i in range(len(w))]
        edges = np.roll(w, -1, axis=0) - w
        normals = np.column_stack([edges[:, 1], -edges[:, 0]])  # to the right of the edge: outwards, by the winding alone
        self.normals = normals / np.linalg.norm(normals, axis=1)[:, None]
        self.distances = np.einsum("ij,ij->i", self.normals, w)

    def nearest(self, most: float) -> int:
        return int(np.argmin(self.distances))

    def least(self) -> float:
        """Less than this the depth can not be."""
        return float(self.distances.min())

    def expand(self, f: int, new: Corner) -> bool:
        """Put a corner into edge f. False where it adds nothing."""
        if any(np.array_equal(new.w, c.w) for c in self.corners):
            return False
        self.corners.insert(f + 1, new)
        self._measure()
        return True


class Polytope:
    """Triangles, counter-clockwise from outside. ``owner`` finds the face that an edge (i, j) belongs to."""

    def __init__(self, corners: list[Corner]):
        self.corners = list(corners)
        a, b, c, d = (k.w for k in corners)
        turned = np.cross(b - a, c - a) @ (d - a) > 0  # the fourth corner above: the first face looks down
        triangles = ((0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)) if turned else ((0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0))
        self.faces, self.normals, self.distances, self.owner = [], [], [], {}
        self.rounding = 16 * EPS * max(np.linalg.norm(k.w) for k in corners)
        for triangle in triangles:
            self._add(triangle)

    def _add(self, triangle: tuple[int, int, int]) -> None:
        a, b, c = (self.corners[i].w for i in triangle)
        n = np.cross(b - a, c - a)
        n = n / max(np.linalg.norm(n), 1e-300)
        for i, j in _edges(triangle):
            self.owner[i, j] = len(self.faces)
        self.faces.append(triangle)
        self.normals.append(n)
        self.distances.append(float(n @ a))

    def nearest(self, most: float) -> int:
        """The face with the nearest plane, of those that hold the foot of the perpendicular from the origin.

        Where rounding hides it, and one beyond the depth that is proven, ``most``, would be next: the nearest plane.
        """
        order = sorted((d, f) for f, d in enumerate(self.distances) if self.faces[f] is not None)
        return next((f for d, f in order if d <= most and self._holds_foot(f)), order[0][1])

    def least(self) -> float:
        """Less than this the depth can not be: the least height of a plane, less what rounding turned it about its face.

        The normal of a triangle with the longest edge e and the area A is off by the rounding of corners over its height
        2 A / e, and its plane by that times e.
        """
        bounds = []
        for face, distance in zip(self.faces, self.distances, strict=True):
            if face is not None:
                a, b, c = (self.corners[i].w for i in face)
                longest = max(np.sum((b - a) ** 2), np.sum((c - b) ** 2), np.sum((a - c) ** 2))
                bounds.append(distance - self.rounding / 4 * longest / max(np.linalg.norm(np.cross(b - a, c - a)), 1e-300))
        return float(min(bounds))

    def _holds_foot(self, f: int) -> bool:
        """Edge tests: the origin lies on the inner side of the walls that stand on the edges, along the normal."""
        for i, j in _edges(self.faces[f]):
            a, b = self.corners[i].w, self.corners[j].w
            wall = np.cross(b - a, self.normals[f])
            if -(wall @ a) > 1e-12 * np.linalg.norm(wall) * np.linalg.norm(a):
                return False
        return True

    def expand(self, f: int, new: Corner) -> bool:
        """Replace all that the new corner sees by a fan from its outline. False where it sees no proper disc.

        Faces in one plane with the corner are taken as seen too: else a fan on an edge in line with it has slivers.
        """
        seen, todo = {f}, [f]
        while todo:
            for i, j in _edges(self.faces[todo.pop()]):
                other = self.owner[j, i]
                if other not in seen and self.normals[other] @ (new.w - self.corners[j].w) > -self.rounding:
                    seen.add(other)
                    todo.append(other)
        outline = {i: j for g in seen for i, j in _edges(self.faces[g]) if self.owner[j, i] not in seen}
        swallowed = len({i for g in seen for i in self.faces[g]} - set(outline))
        if not _is_loop(outline) or len(seen) != len(outline) - 2 + 2 * swallowed:  # Euler: the triangles of a disc
            return False
        if any(np.array_equal(new.w, c.w) for c in self.corners):
            return False
        self.corners.append(new)
        for g in seen:
            self.faces[g], self.distances[g] = None, np.inf
        for i, j in outline.items():
            self._add((i, j, len(self.corners) - 1))
        return True


def _edges(triangle: tuple[int, int, int]) -> tuple[tuple[int, int], ...]:
    i, j, k = triangle
    return (i, j), (j, k), (k, i)


def _is_loop(follow: dict[int, int]) -> bool:
    """Do the edges i -> follow[i] make one closed loop?"""
    i = first = next(iter(follow), None)
    for step in range(1, len(follow) + 1):
        i = follow.get(i)
        if i == first:
            return step == len(follow)
    return False


def barycentric(point: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Weights (k,) of a point in the edge or triangle with these corners (k, n), clipped to it."""
    edges = (corners[1:] - corners[0]).T
    offset = point - corners[0]
    t = np.linalg.lstsq(edges, offset, rcond=None)[0]
    t += np.linalg.lstsq(edges, offset - edges @ t, rcond=None)[0]  # what rounding left, which is not the same on all processors
    weights = np.maximum(np.concatenate([[1.0 - t.sum()], t]), 0.0)
    return weights / weights.sum()


def _depth_over(inner: float, outer: float, n: np.ndarray, face: list[Corner], iterations: int) -> Depth:
    w, p, q = (np.array([getattr(c, side) for c in face]) for side in "wpq")
    weights = barycentric((w[0] @ n) * n, w) if len(face) > 1 else np.ones(1)
    return Depth(float(outer), float(inner), float(outer), n, weights @ p, weights @ q, p, q, weights, iterations)


def _epa_step(hull: Polygon | Polytope, f: int, new: Corner, lower: float, upper: float) -> dict:
    kept = [g for g, face in enumerate(hull.faces) if face is not None]
    return {
        "stage": "epa",
        "vertices": [c.w.tolist() for c in hull.corners],
        "faces": [list(hull.faces[g]) for g in kept],
        "distances": [float(hull.distances[g]) for g in kept],
        "nearest": kept.index(f),
        "closest": (hull.distances[f] * hull.normals[f]).tolist(),
        "direction": hull.normals[f].tolist(),
        "support": new.w.tolist(),
        "support_a": new.p.tolist(),
        "support_b": new.q.tolist(),
        "lower": float(lower),
        "upper": float(upper),
    }
