"""This library, as it comes: RK4, Newton's method to 1e-11 m/s."""

from __future__ import annotations

import numpy as np

from benchmarks.peers.engine import Engine
from benchmarks.peers.families import grid
from tumble.collision import Box, Capsule, HalfSpace, HeightField, Sphere, TriangleMesh
from tumble.sim import World


class Tumble(Engine):
    reliefs = ("field", "mesh")

    def __init__(self, gravity: tuple, dt: float):
        self.world = World(gravity=gravity, dt=dt)
        self.bodies = []

    def ground(self) -> None:
        self.world.add(HalfSpace(), kind="static", friction=self.mu, restitution=self.e)

    def wall(self, normal, offset: float) -> None:
        self.world.add(HalfSpace(normal, offset), kind="static", friction=self.mu, restitution=self.e)

    def field(self, heights: np.ndarray, cell: float) -> None:
        self.world.add(HeightField(heights, cell), kind="static", friction=self.mu, restitution=self.e)

    def mesh(self, heights: np.ndarray, cell: float) -> None:
        self.world.add(TriangleMesh(*grid(heights, cell)), kind="static", friction=self.mu, restitution=self.e)

    def add(self, kind: str, size, mass: float, x, q, v, w) -> None:
        shape = {"box": Box, "sphere": Sphere}[kind](size) if kind != "capsule" else Capsule(*size)
        motion = dict(position=x, orientation=q, velocity=v, angular_velocity=w)
        self.bodies.append(self.world.add(shape, mass=mass, friction=self.mu, restitution=self.e, **motion))

    def step(self, n: int) -> None:
        self.world.step(n)

    def state(self) -> np.ndarray:
        return np.array([(*b.position, *b.orientation, *b.velocity, *b.angular_velocity) for b in self.bodies])


ENGINES = {"tumble": Tumble}
