"""MuJoCo with elliptic friction cones: with the integrator RK4, which is its most exact, and with Euler's, its default."""

from __future__ import annotations

import mujoco
import numpy as np

from benchmarks.peers.engine import Engine
from benchmarks.peers.families import matrices


class MuJoCo(Engine):
    """A model is made at the first step. The friction of a pair is the larger one."""

    integrator = "RK4"
    reliefs = ("field",)

    def __init__(self, gravity: tuple, dt: float):
        option = f'<option timestep="{dt!r}" integrator="{self.integrator}" cone="elliptic" gravity="{_text(gravity)}"/>'
        self.parts, self.motion, self.model = [f'{option}<size memory="1G"/><worldbody>'], [], None
        self.heights = np.zeros((0, 0))

    def ground(self) -> None:
        if self.e:
            raise NotImplementedError("has no restitution")
        self.parts.append(f'<geom type="plane" size="100 100 1" {self._surface()}/>')

    def wall(self, normal, offset: float) -> None:
        place = _text(offset * np.array(normal, float))
        self.parts.append(f'<geom type="plane" size="100 100 1" pos="{place}" zaxis="{_text(normal)}" {self._surface()}/>')

    def field(self, heights: np.ndarray, cell: float) -> None:
        """Its fields stand in a range of heights, on a base that is no part of them: rows go along y."""
        self.heights = heights.T
        half, high = 0.5 * cell * (np.array(heights.shape) - 1), max(float(np.ptp(heights)), 1e-3)
        asset = (
            f'<asset><hfield name="field" nrow="{heights.shape[1]}" ncol="{heights.shape[0]}" size="{_text((*half, high, 1))}"/>'
        )
        self.parts.insert(0, f"{asset}</asset>")
        self.parts.append(f'<geom type="hfield" hfield="field" pos="{_text((0, 0, heights.min()))}" {self._surface()}/>')

    def add(self, kind: str, size, mass: float, x, q, v, w) -> None:
        geom = f'<geom type="{kind}" size="{_text(np.atleast_1d(size))}" mass="{float(mass)!r}" {self._surface()}/>'
        self.parts.append(f'<body pos="{_text(x)}" quat="{_text(q)}"><freejoint/>{geom}</body>')
        self.motion.append((*v, *(np.array(w) @ matrices(np.array([q], float))[0])))  # the spin in axes of the body

    def _surface(self) -> str:
        return f'friction="{self.mu} 0 0" condim="3"'

    def _start(self) -> None:
        self.model = mujoco.MjModel.from_xml_string(f"<mujoco>{''.join(self.parts)}</worldbody></mujoco>")
        if self.heights.size:
            self.model.hfield_data[:] = ((self.heights - self.heights.min()) / self.model.hfield_size[0, 2]).ravel()
        self.data = mujoco.MjData(self.model)
        self.data.qvel[:] = np.ravel(self.motion)

    def step(self, n: int) -> None:
        if self.model is None:
            self._start()
        mujoco.mj_step(self.model, self.data, nstep=n)

    def state(self) -> np.ndarray:
        if self.model is None:
            self._start()
        pose, motion = self.data.qpos.reshape(-1, 7), self.data.qvel.reshape(-1, 6)
        spin = np.einsum("nij,nj->ni", matrices(pose[:, 3:]), motion[:, 3:])
        return np.hstack([pose, motion[:, :3], spin])


class Euler(MuJoCo):
    integrator = "Euler"


def _text(numbers) -> str:
    return " ".join(repr(float(x)) for x in numbers)


ENGINES = {f"MuJoCo {mujoco.__version__}, {engine.integrator}": engine for engine in (MuJoCo, Euler)}
