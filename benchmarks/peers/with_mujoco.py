"""MuJoCo's mj_geomDistance. It keeps nothing between queries."""

from __future__ import annotations

import mujoco
import numpy as np

from benchmarks.peers.families import Pairs
from tumble.collision import Box, Capsule, Sphere

FURTHEST = 10.0  # m, where its search gives up


class MuJoCo:
    name = "MuJoCo"
    coherent = None

    def __init__(self, shapes):
        self.shapes = shapes

    def question(self, pairs: Pairs):
        spec = mujoco.MjSpec()
        for k, shape in enumerate(self.shapes):
            if not isinstance(shape, (Box, Capsule, Sphere)):
                mesh = spec.add_mesh(name=f"m{k}", inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX)
                mesh.uservert = np.asarray(shape.vertices, float).ravel()
        for a, x, q, b, y, p in zip(pairs.a, pairs.x, pairs.q, pairs.b, pairs.y, pairs.p, strict=True):
            for k, position, turn in ((a, x, q), (b, y, p)):
                shape = self.shapes[k]
                geom = spec.worldbody.add_geom(pos=position, quat=turn, contype=0, conaffinity=0)
                match shape:
                    case Box():
                        geom.type, geom.size = mujoco.mjtGeom.mjGEOM_BOX, shape.half_extents
                    case Capsule():
                        geom.type, geom.size = mujoco.mjtGeom.mjGEOM_CAPSULE, (shape.radius, shape.half_length, 0)
                    case Sphere():
                        geom.type, geom.size = mujoco.mjtGeom.mjGEOM_SPHERE, (shape.radius, 0, 0)
                    case _:
                        geom.type, geom.meshname = mujoco.mjtGeom.mjGEOM_MESH, f"m{k}"
        model = spec.compile()
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        rows = [(2 * k, 2 * k + 1) for k in range(len(pairs.a))]
        distance, ends = mujoco.mj_geomDistance, np.zeros(6)
        return lambda: [distance(model, data, i, j, FURTHEST, ends) for i, j in rows]
