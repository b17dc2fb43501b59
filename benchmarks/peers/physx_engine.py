"""PhysX 5, by SAPIEN, with its default solver (TGS, patch friction of the engine's default)."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
import sapien
from sapien import physx

NAME = f"PhysX 5 (SAPIEN {version('sapien')})"


class Engine:
    """One body and a floor, both of one material: PhysX takes the mean of two."""

    def __init__(self, gravity: tuple, dt: float):
        config = physx.get_scene_config()
        config.gravity = np.array(gravity)
        physx.set_scene_config(config)
        self.system = physx.PhysxCpuSystem()
        self.system.timestep = dt
        self.scene = sapien.Scene([self.system])
        self.material = physx.PhysxMaterial(0.0, 0.0, 0.0)

    def floor(self, mu: float, e: float = 0.0) -> None:
        self.material = physx.PhysxMaterial(mu, mu, e)
        ground = physx.PhysxRigidStaticComponent()
        ground.attach(physx.PhysxCollisionShapePlane(self.material))
        upright = sapien.Pose(q=[np.sqrt(0.5), 0, -np.sqrt(0.5), 0])  # the plane's normal is x
        entity = sapien.Entity()
        entity.add_component(ground)
        entity.pose = upright
        self.scene.add_entity(entity)

    def box(self, half: tuple, mass: float, x: tuple, **motion: tuple) -> None:
        inertia = mass / 3 * (np.sum(np.square(half)) - np.square(half))
        self._add(physx.PhysxCollisionShapeBox(np.array(half), self.material), mass, inertia, x, **motion)

    def sphere(self, radius: float, mass: float, x: tuple, **motion: tuple) -> None:
        self._add(physx.PhysxCollisionShapeSphere(radius, self.material), mass, np.full(3, 0.4 * mass * radius**2), x, **motion)

    def _add(self, shape, mass: float, inertia: np.ndarray, x: tuple, v: tuple = (0, 0, 0), w: tuple = (0, 0, 0)) -> None:
        self.body = physx.PhysxRigidDynamicComponent()
        self.body.attach(shape)
        self.body.mass, self.body.inertia = mass, inertia
        self.body.linear_damping = self.body.angular_damping = 0.0
        entity = sapien.Entity()
        entity.add_component(self.body)
        entity.pose = sapien.Pose(p=np.array(x, dtype=float))
        self.scene.add_entity(entity)
        self.body.linear_velocity, self.body.angular_velocity = np.array(v, dtype=float), np.array(w, dtype=float)

    def step(self, n: int) -> None:
        for _ in range(n):
            self.system.step()

    def place(self) -> np.ndarray:
        return np.array(self.body.pose.p, dtype=float)

    def rotation(self) -> np.ndarray:
        return np.array(self.body.pose.to_transformation_matrix()[:3, :3], dtype=float)

    def velocity(self) -> np.ndarray:
        return np.array(self.body.linear_velocity, dtype=float)

    def spin(self) -> np.ndarray:
        return np.array(self.body.angular_velocity, dtype=float)
