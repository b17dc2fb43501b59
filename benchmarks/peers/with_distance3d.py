"""distance3d: GJK (its port of Jolt's) and EPA in Python and Numba. It keeps nothing between queries."""

from __future__ import annotations

import numpy as np
from distance3d import colliders
from distance3d.epa import epa
from distance3d.gjk import gjk

from benchmarks.peers.families import Pairs
from tumble.collision import Box, Capsule, Sphere


def native(shape, x, r):
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = r, x
    match shape:
        case Box():
            return colliders.Box(pose, 2 * np.array(shape.half_extents))
        case Sphere():
            return colliders.Sphere(np.array(x), shape.radius)
        case Capsule():
            return colliders.Capsule(pose, shape.radius, 2 * shape.half_length)
    return colliders.ConvexHullVertices(np.ascontiguousarray(np.asarray(shape.vertices, float) @ r.T + x))


def signed(a, b) -> float:
    distance, _, _, simplex = gjk(a, b)
    if distance > 0.0 or simplex is None or len(simplex) < 4:
        return distance
    vector, _, found = epa(simplex, a, b)
    return -float(np.linalg.norm(vector)) if found else np.nan


class Distance3d:
    name = "distance3d"
    coherent = None

    def __init__(self, shapes):
        self.shapes = shapes

    def question(self, pairs: Pairs):
        rows = [(native(self.shapes[a], x, r), native(self.shapes[b], y, s)) for a, x, r, b, y, s in pairs.rows()]
        return lambda: [signed(a, b) for a, b in rows]
