"""FCL by python-fcl. It keeps nothing between queries."""

from __future__ import annotations

import fcl
import numpy as np
from scipy.spatial import ConvexHull as Qhull

from benchmarks.peers.families import Pairs
from tumble.collision import Box, Capsule, Sphere


def native(shape):
    match shape:
        case Box():
            return fcl.Box(*(2 * np.array(shape.half_extents)))
        case Sphere():
            return fcl.Sphere(shape.radius)
        case Capsule():
            return fcl.Capsule(shape.radius, 2 * shape.half_length)
    v = np.asarray(shape.vertices, float)
    q = Qhull(v)
    faces = [[i, j, k] if d @ np.cross(v[j] - v[i], v[k] - v[i]) > 0 else [i, k, j]
             for (i, j, k), d in zip(q.simplices, q.equations[:, :3], strict=True)]  # fmt: skip
    return fcl.Convex(v, len(faces), np.hstack([np.full((len(faces), 1), 3), faces]).ravel())


class Fcl:
    name = "python-fcl"
    coherent = None

    def __init__(self, shapes):
        self.shapes = [native(s) for s in shapes]

    def question(self, pairs: Pairs):
        rows = [
            (fcl.CollisionObject(self.shapes[a], fcl.Transform(r, x)), fcl.CollisionObject(self.shapes[b], fcl.Transform(s, y)))
            for a, x, r, b, y, s in pairs.rows()
        ]
        request = fcl.DistanceRequest(enable_signed_distance=True)
        return lambda: [fcl.distance(a, b, request, fcl.DistanceResult()) for a, b in rows]
