"""How far a hull that was found falls short of the points that it was found for.

The faces form a closed surface whose corners are vertices of the hull. A point lies within if all faces look away from it, by
more than their corners are off their planes: then the surface winds around the point, which it can not do around a point beyond
all of its corners. The distance of any other point is taken to the nearest point of the faces next to it. This is a mixture of
vertices, so the distance that is found is never less than the true one, and no lost corner is overlooked.
"""

from __future__ import annotations

import numpy as np

from tumble.collision.shapes.face_loops import follow_of, twins_of

EPS = np.finfo(float).eps
NUMBERS_AT_A_TIME = 2_000_000  # numbers that are worked on at a time
EDGES_AT_A_TIME = 65536  # edges
FACES_TRIED = 4  # faces that are looked at for a point, the one that it stands out of most first


def shortfall(p, used: np.ndarray, points: np.ndarray, enough: float) -> tuple[np.ndarray, float]:
    """(distances (n,) of points from the hull of the vertices of a `Polytope` with faces, how far its planes are off) [m].

    ``used``: which of the points the vertices are. The distances are upper bounds, 0 for those that certainly lie within, and
    no closer than ``enough`` [m]; planes are off by what vertices stand out of them, and corners of faces lie below them.
    """
    origin = p.vertices.mean(axis=0)
    vertices, points = p.vertices - origin, points - origin
    offsets = p.offsets - p.normals @ origin
    sides = np.diff(p.loop_start)
    face = np.repeat(np.arange(len(sides)), sides)
    off = _highest(p, vertices, offsets)
    for first in range(0, len(face), EDGES_AT_A_TIME):
        f, c = face[first : first + EDGES_AT_A_TIME], p.corners[first : first + EDGES_AT_A_TIME]
        off = max(off, np.abs(np.einsum("ci,ci->c", vertices[c], p.normals[f]) - offsets[f]).max())
    del face
    margin = 4 * off + 16 * EPS * np.abs(vertices).max() if is_closed(p) else np.inf
    away = np.zeros(len(points))
    left = np.ones(len(points), bool)
    left[used] = False
    left = np.flatnonzero(left)
    step = max(NUMBERS_AT_A_TIME // len(offsets), 1)
    for first in range(0, len(left), step):
        rows = left[first : first + step]
        over = points[rows] @ p.normals.T - offsets
        near = over.max(axis=1) >= -margin
        if near.any():
            away[rows[near]] = _from_faces(points[rows[near]], vertices, p, over[near], enough)
    return away, float(off)


def is_closed(p) -> bool:
    """Do the faces of a `Polytope` make one closed surface, like that of a ball?"""
    joined = p.rank == 3 and len(p.corners) == 2 * len(p.edges) and bool((p.edges[:, 2:] >= 0).all())
    used = np.zeros(len(p.vertices), bool)
    used[p.corners] = True
    return joined and int(used.sum()) - len(p.edges) + len(p.offsets) == 2


def distance_from_segment(points: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of points (..., 3) from the segments from a to b."""
    along, x = b - a, points - a
    square = (along * along).sum(axis=-1)
    t = np.clip((x * along).sum(axis=-1) / np.where(square > 0.0, square, 1.0), 0.0, 1.0)
    return np.linalg.norm(x - t[..., None] * along, axis=-1)


def _highest(p, vertices: np.ndarray, offsets: np.ndarray) -> float:
    """How far a vertex stands out of a plane. Of a large hull those of the faces next to each face are looked at."""
    if len(vertices) * len(offsets) <= NUMBERS_AT_A_TIME:
        return float((vertices @ p.normals.T - offsets).max())
    follow = follow_of(p.loop_start, len(p.corners))
    both = twins_of(p.corners, follow)
    if both is None:
        return max(float((vertices @ n - d).max()) for n, d in zip(p.normals, offsets, strict=True))
    face = np.repeat(np.arange(len(offsets)), np.diff(p.loop_start))
    most = 0.0
    for one, other in (both, both[::-1]):  # the corner after the common edge, over the plane of the other face
        for first in range(0, len(one), EDGES_AT_A_TIME):
            rows = slice(first, first + EDGES_AT_A_TIME)
            beyond = vertices[p.corners[follow[follow[other[rows]]]]]
            f = face[one[rows]]
            most = max(most, float((np.einsum("ei,ei->e", beyond, p.normals[f]) - offsets[f]).max()))
    return most


def _from_faces(points: np.ndarray, vertices: np.ndarray, p, over: np.ndarray, enough: float) -> np.ndarray:
    """Distances of points from the nearest of the faces that they stand out of most; ``over`` (n, f) their heights."""
    away = np.full(len(points), np.inf)
    over = over.copy()
    for _ in range(min(FACES_TRIED, over.shape[1])):
        face = over.argmax(axis=1)
        over[np.arange(len(points)), face] = -np.inf
        order = np.argsort(face, kind="stable")
        for group in np.split(order, np.flatnonzero(np.diff(face[order])) + 1):
            group = group[away[group] > enough]
            if len(group):
                f = face[group[0]]
                loop = vertices[p.corners[p.loop_start[f] : p.loop_start[f + 1]]]
                away[group] = np.minimum(away[group], _from_polygon(points[group], loop, p.normals[f]))
        if (away <= enough).all():
            break
    return away


def _from_polygon(points: np.ndarray, loop: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Distances of points from a convex polygon, as that from the fan of triangles at its first corner."""
    d = loop[1:] - loop[0]
    side = np.cross(normal, d[0])
    turn = np.arctan2(d @ side, d @ d[0])
    x = points - loop[0]
    place = np.searchsorted(turn, np.arctan2(x @ side, x @ d[0])) - 1
    best = np.full(len(points), np.inf)
    for step in (0, -1, 1):
        k = np.clip(place + step, 0, len(d) - 2)
        best = np.minimum(best, _from_triangle(points, loop[0], loop[k + 1], loop[k + 2]))
    return best


def _from_triangle(points: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Distances of points (n, 3) from triangles."""
    e, f, x = b - a, c - a, points - a
    ee, ff, ef = (e * e).sum(axis=1), (f * f).sum(axis=1), (e * f).sum(axis=1)
    xe, xf = (x * e).sum(axis=1), (x * f).sum(axis=1)
    det = ee * ff - ef * ef
    s, t = xe * ff - xf * ef, xf * ee - xe * ef
    inside = (det > 0.0) & (s >= 0.0) & (t >= 0.0) & (s + t <= det)
    s, t = (np.divide(w, det, out=np.zeros_like(w), where=inside) for w in (s, t))
    found = np.where(inside, np.linalg.norm(x - s[:, None] * e - t[:, None] * f, axis=1), np.inf)
    for u, v in ((a, b), (b, c), (c, a)):
        found = np.minimum(found, distance_from_segment(points, u, v))
    return found
