"""Bullet, by pybullet, with its default solver."""

from __future__ import annotations

import math
from importlib.metadata import version

import numpy as np
import pybullet
from pybullet_utils.bullet_client import BulletClient

from benchmarks.peers.engine import Engine


class Bullet(Engine):
    """Friction and restitution of a pair are products."""

    def __init__(self, gravity: tuple, dt: float):
        self.client = BulletClient(pybullet.DIRECT)
        self.client.setGravity(*gravity)
        self.client.setTimeStep(dt)
        self.bodies = []

    def ground(self) -> None:
        self._make_of(self.client.createMultiBody(0, self.client.createCollisionShape(pybullet.GEOM_PLANE)))

    def wall(self, normal, offset: float) -> None:
        shape = self.client.createCollisionShape(pybullet.GEOM_PLANE, planeNormal=tuple(normal))
        self._make_of(self.client.createMultiBody(0, shape, basePosition=tuple(offset * n for n in normal)))

    def add(self, kind: str, size, mass: float, x, q, v, w) -> None:
        make = self.client.createCollisionShape
        match kind:
            case "box":
                shape = make(pybullet.GEOM_BOX, halfExtents=size)
            case "sphere":
                shape = make(pybullet.GEOM_SPHERE, radius=size)
            case _:
                shape = make(pybullet.GEOM_CAPSULE, radius=size[0], height=2 * size[1])
        body = self.client.createMultiBody(mass, shape, basePosition=tuple(x), baseOrientation=(*q[1:], q[0]))
        self._make_of(body)
        self.client.changeDynamics(body, -1, linearDamping=0, angularDamping=0, rollingFriction=0, spinningFriction=0)
        self.client.resetBaseVelocity(body, tuple(v), tuple(w))
        self.bodies.append(body)

    def _make_of(self, body: int) -> None:
        self.client.changeDynamics(body, -1, lateralFriction=math.sqrt(self.mu), restitution=math.sqrt(self.e))

    def step(self, n: int) -> None:
        for _ in range(n):
            self.client.stepSimulation()

    def state(self) -> np.ndarray:
        rows = []
        for body in self.bodies:
            x, q = self.client.getBasePositionAndOrientation(body)
            v, w = self.client.getBaseVelocity(body)
            rows.append((*x, q[3], *q[:3], *v, *w))
        return np.array(rows)


ENGINES = {f"Bullet (pybullet {version('pybullet')})": Bullet}
