"""What the cases and the scenes ask of an engine."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.peers.families import matrices


class Engine:
    """Bodies, and a floor z = 0 that comes before them; all of one friction and restitution.

    An adapter has a constructor of gravity and dt; ground(), which makes the floor; add(kind, size, mass, x, q, v, w) with the
    kind "box" (size: half edges), "sphere" (radius) or "capsule" (radius, half of the length of its axis, which is z); step(n);
    and state(): (n, 13), of each body position, quaternion (w, x, y, z), velocity and angular velocity in the world's axes. One
    that can hold heaps has wall(normal, offset), of the same surface as the floor.
    """

    mu = e = 0.0
    reliefs: tuple[str, ...] = ()  # kinds of ground but a half-space that it has: "field", "mesh"
    alone = False  # whether the engine holds one world at a time

    def floor(self, mu: float, e: float = 0.0) -> None:
        self.mu, self.e = mu, e
        self.ground()

    def relief(self, kind: str, heights: np.ndarray, cell: float, mu: float) -> None:
        """Ground of heights of a grid about the origin, as a "field" or a "mesh"; or the floor, "plane", for those that are 0."""
        self.mu = mu
        if kind == "plane":
            self.ground()
        else:
            getattr(self, kind)(heights, cell)

    def box(self, half, mass: float, x, q=(1, 0, 0, 0), v=(0, 0, 0), w=(0, 0, 0)) -> None:
        self.add("box", tuple(half), mass, x, q, v, w)

    def sphere(self, radius: float, mass: float, x, q=(1, 0, 0, 0), v=(0, 0, 0), w=(0, 0, 0)) -> None:
        self.add("sphere", radius, mass, x, q, v, w)

    def capsule(self, radius: float, half: float, mass: float, x, q=(1, 0, 0, 0), v=(0, 0, 0), w=(0, 0, 0)) -> None:
        self.add("capsule", (radius, half), mass, x, q, v, w)

    def clock(self) -> float:
        """Processor time so far [s]."""
        return time.process_time()

    # of the body that was added last

    def place(self) -> np.ndarray:
        return self.state()[-1, :3]

    def rotation(self) -> np.ndarray:
        return matrices(self.state()[-1:, 3:7])[0]

    def velocity(self) -> np.ndarray:
        return self.state()[-1, 7:10]

    def spin(self) -> np.ndarray:
        return self.state()[-1, 10:]
