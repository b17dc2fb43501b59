"""PhysX 5, by SAPIEN, with its default solver (TGS, patch friction of the engine's default)."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
import sapien
from sapien import physx

from benchmarks.peers.engine import Engine
from tumble.collision import Capsule
from tumble.collision.solids.mass_properties import mass_properties


class PhysX(Engine):
    """All bodies are of one material: PhysX takes the mean of two."""

    def __init__(self, gravity: tuple, dt: float):
        config = physx.get_scene_config()
        config.gravity = np.array(gravity)
        physx.set_scene_config(config)
        self.system = physx.PhysxCpuSystem()
        self.system.timestep = dt
        self.scene = sapien.Scene([self.system])
        self.material = physx.PhysxMaterial(0.0, 0.0, 0.0)
        self.bodies = []

    def ground(self) -> None:
        self.material = physx.PhysxMaterial(self.mu, self.mu, self.e)
        ground = physx.PhysxRigidStaticComponent()
        ground.attach(physx.PhysxCollisionShapePlane(self.material))
        self._place(ground, sapien.Pose(q=[np.sqrt(0.5), 0, -np.sqrt(0.5), 0]))  # the plane's normal is x

    def wall(self, normal, offset: float) -> None:
        wall = physx.PhysxRigidStaticComponent()
        wall.attach(physx.PhysxCollisionShapePlane(self.material))
        x, y, z = normal
        q = np.array((1 + x, 0, -z, y)) if x > -1 else np.array((0, 0, 0, 1.0))  # turns x to the normal
        self._place(wall, sapien.Pose(p=offset * np.array(normal, float), q=q / np.linalg.norm(q)))

    def add(self, kind: str, size, mass: float, x, q, v, w) -> None:
        body = physx.PhysxRigidDynamicComponent()
        body.mass = mass
        if kind == "box":
            body.attach(physx.PhysxCollisionShapeBox(np.array(size), self.material))
            body.inertia = mass / 3 * (np.sum(np.square(size)) - np.square(size))
        elif kind == "sphere":
            body.attach(physx.PhysxCollisionShapeSphere(size, self.material))
            body.inertia = np.full(3, 0.4 * mass * size**2)
        else:
            shape = physx.PhysxCollisionShapeCapsule(*size, self.material)
            shape.local_pose = sapien.Pose(q=[np.sqrt(0.5), 0, -np.sqrt(0.5), 0])  # its axis is x
            body.attach(shape)
            whole = mass_properties(Capsule(*size))
            body.inertia = mass / whole.volume * np.diag(whole.inertia)
        body.linear_damping = body.angular_damping = body.sleep_threshold = 0.0
        self._place(body, sapien.Pose(p=np.array(x, float), q=np.array(q, float)))
        body.linear_velocity, body.angular_velocity = np.array(v, float), np.array(w, float)
        self.bodies.append(body)

    def _place(self, component, pose: sapien.Pose) -> None:
        entity = sapien.Entity()
        entity.add_component(component)
        entity.pose = pose
        self.scene.add_entity(entity)

    def step(self, n: int) -> None:
        for _ in range(n):
            self.system.step()

    def state(self) -> np.ndarray:
        rows = [(*b.pose.p, *b.pose.q, *b.linear_velocity, *b.angular_velocity) for b in self.bodies]
        return np.array(rows, float)


ENGINES = {f"PhysX 5 (SAPIEN {version('sapien')}, f32)": PhysX}
