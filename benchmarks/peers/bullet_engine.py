"""Bullet, by pybullet, with its default solver."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
import pybullet
from pybullet_utils.bullet_client import BulletClient

NAME = f"Bullet (pybullet {version('pybullet')})"


class Engine:
    """One body and a floor. Friction and restitution of a pair are products: the floor has them, the body has 1."""

    def __init__(self, gravity: tuple, dt: float):
        self.client = BulletClient(pybullet.DIRECT)
        self.client.setGravity(*gravity)
        self.client.setTimeStep(dt)

    def floor(self, mu: float, e: float = 0.0) -> None:
        shape = self.client.createCollisionShape(pybullet.GEOM_PLANE)
        plane = self.client.createMultiBody(0, shape)
        self.client.changeDynamics(plane, -1, lateralFriction=mu, restitution=e)

    def box(self, half: tuple, mass: float, x: tuple, **motion: tuple) -> None:
        self._add(self.client.createCollisionShape(pybullet.GEOM_BOX, halfExtents=half), mass, x, **motion)

    def sphere(self, radius: float, mass: float, x: tuple, **motion: tuple) -> None:
        self._add(self.client.createCollisionShape(pybullet.GEOM_SPHERE, radius=radius), mass, x, **motion)

    def _add(self, shape: int, mass: float, x: tuple, v: tuple = (0, 0, 0), w: tuple = (0, 0, 0)) -> None:
        self.body = self.client.createMultiBody(mass, shape, basePosition=x)
        self.client.changeDynamics(
            self.body, -1, lateralFriction=1, restitution=1, linearDamping=0, angularDamping=0, rollingFriction=0,
            spinningFriction=0,
        )  # fmt: skip
        self.client.resetBaseVelocity(self.body, tuple(v), tuple(w))

    def step(self, n: int) -> None:
        for _ in range(n):
            self.client.stepSimulation()

    def place(self) -> np.ndarray:
        return np.array(self.client.getBasePositionAndOrientation(self.body)[0])

    def rotation(self) -> np.ndarray:
        q = self.client.getBasePositionAndOrientation(self.body)[1]
        return np.array(self.client.getMatrixFromQuaternion(q)).reshape(3, 3)

    def velocity(self) -> np.ndarray:
        return np.array(self.client.getBaseVelocity(self.body)[0])

    def spin(self) -> np.ndarray:
        return np.array(self.client.getBaseVelocity(self.body)[1])
