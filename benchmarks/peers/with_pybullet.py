"""Bullet by PyBullet's getClosestPoints. It keeps nothing between queries; hulls carry a collision margin."""

from __future__ import annotations

import numpy as np
import pybullet as bullet

from benchmarks.peers.families import Pairs
from tumble.collision import Box, Capsule, Sphere

FURTHEST = 10.0  # m


def native(shape) -> int:
    match shape:
        case Box():
            return bullet.createCollisionShape(bullet.GEOM_BOX, halfExtents=shape.half_extents)
        case Sphere():
            return bullet.createCollisionShape(bullet.GEOM_SPHERE, radius=shape.radius)
        case Capsule():
            return bullet.createCollisionShape(bullet.GEOM_CAPSULE, radius=shape.radius, height=2 * shape.half_length)
    return bullet.createCollisionShape(bullet.GEOM_MESH, vertices=np.asarray(shape.vertices, float).tolist())


class PyBullet:
    name = "PyBullet"
    coherent = None

    def __init__(self, shapes):
        if not bullet.isConnected():
            bullet.connect(bullet.DIRECT)
        self.shapes = [native(s) for s in shapes]

    def question(self, pairs: Pairs):
        xyzw = [1, 2, 3, 0]
        rows = [
            {
                "bodyA": -1, "bodyB": -1, "distance": FURTHEST,
                "collisionShapeA": self.shapes[a], "collisionShapePositionA": x, "collisionShapeOrientationA": q,
                "collisionShapeB": self.shapes[b], "collisionShapePositionB": y, "collisionShapeOrientationB": p,
            }
            for a, b, x, q, y, p in zip(pairs.a, pairs.b, pairs.x.tolist(), pairs.q[:, xyzw].tolist(), pairs.y.tolist(),
                                        pairs.p[:, xyzw].tolist(), strict=True)
        ]  # fmt: skip

        def ask():
            answers = [bullet.getClosestPoints(**row) for row in rows]
            return [min((c[8] for c in found), default=np.nan) for found in answers]

        return ask
