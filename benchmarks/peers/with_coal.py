"""Coal, the successor of hpp-fcl: GJK and EPA in C++. Its default tolerance is 1e-6."""

from __future__ import annotations

import coal
import numpy as np

from benchmarks.peers.families import Pairs
from tumble.collision import Box, Capsule, Cone, Cylinder, Ellipsoid, Sphere


def native(shape):
    match shape:
        case Box():
            return coal.Box(*(2 * np.array(shape.half_extents)))
        case Sphere():
            return coal.Sphere(shape.radius)
        case Capsule():
            return coal.Capsule(shape.radius, 2 * shape.half_length)
        case Cylinder():
            return coal.Cylinder(shape.radius, 2 * shape.half_length)
        case Cone():
            return coal.Cone(shape.radius, 2 * shape.half_height)
        case Ellipsoid():
            return coal.Ellipsoid(*shape.radii)
    points = coal.StdVec_Vec3s()
    for v in shape.vertices:
        points.append(np.asarray(v, float))
    return coal.Convex.convexHull(points, True, "Qt")


class Coal:
    name = "coal"

    def __init__(self, shapes):
        self.shapes = [native(s) for s in shapes]

    def query(self, pairs: Pairs) -> list[tuple]:
        return [
            (self.shapes[a], coal.Transform3s(r, x), self.shapes[b], coal.Transform3s(s, y)) for a, x, r, b, y, s in pairs.rows()
        ]

    def question(self, pairs: Pairs):
        rows = self.query(pairs)
        request, result = coal.DistanceRequest(), coal.DistanceResult()

        def ask():
            found = []
            for a, x, b, y in rows:
                result.clear()
                found.append(coal.distance(a, x, b, y, request, result))
            return found

        return ask

    def coherent(self, frames: list[Pairs]):
        """The better of two ways is taken: with the guess of the last query, and without."""
        rows = [self.query(f) for f in frames + frames[::-1]]
        requests = [coal.DistanceRequest() for _ in rows[0]]
        for request in requests:
            request.gjk_initial_guess = coal.GJKInitialGuess.CachedGuess
        result = coal.DistanceResult()

        def ask():
            for frame in rows:
                found = []
                for (a, x, b, y), request in zip(frame, requests, strict=True):
                    result.clear()
                    found.append(coal.distance(a, x, b, y, request, result))
                    request.updateGuess(result)
            return found

        return ask
