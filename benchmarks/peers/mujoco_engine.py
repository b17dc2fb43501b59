"""MuJoCo with the integrator RK4 and elliptic friction cones."""

from __future__ import annotations

import mujoco
import numpy as np

NAME = f"MuJoCo {mujoco.__version__}, RK4"


class Engine:
    """One body and a floor; the friction of a pair is the larger one."""

    def __init__(self, gravity: tuple, dt: float):
        self.head = f'<option timestep="{dt!r}" integrator="RK4" cone="elliptic" gravity="{_text(gravity)}"/>'
        self.ground, self.model = "", None

    def floor(self, mu: float, e: float = 0.0) -> None:
        if e:
            raise NotImplementedError("has no restitution")
        self.ground = f'<geom type="plane" size="100 100 1" friction="{mu} 0 0" condim="3" priority="1"/>'

    def box(self, half: tuple, mass: float, x: tuple, **motion: tuple) -> None:
        self._add(f'type="box" size="{_text(half)}"', mass, x, **motion)

    def sphere(self, radius: float, mass: float, x: tuple, **motion: tuple) -> None:
        self._add(f'type="sphere" size="{radius}"', mass, x, **motion)

    def _add(self, geom: str, mass: float, x: tuple, v: tuple = (0, 0, 0), w: tuple = (0, 0, 0)) -> None:
        body = f'<body pos="{_text(x)}"><freejoint/><geom {geom} mass="{mass}" condim="3"/></body>'
        self.model = mujoco.MjModel.from_xml_string(f"<mujoco>{self.head}<worldbody>{self.ground}{body}</worldbody></mujoco>")
        self.data = mujoco.MjData(self.model)
        self.data.qvel[:3], self.data.qvel[3:] = v, w  # the spin in body axes, which are the world's at the start

    def step(self, n: int) -> None:
        for _ in range(n):
            mujoco.mj_step(self.model, self.data)

    def place(self) -> np.ndarray:
        return self.data.qpos[:3].copy()

    def rotation(self) -> np.ndarray:
        rot = np.empty(9)
        mujoco.mju_quat2Mat(rot, self.data.qpos[3:])
        return rot.reshape(3, 3)

    def velocity(self) -> np.ndarray:
        return self.data.qvel[:3].copy()

    def spin(self) -> np.ndarray:
        return self.rotation() @ self.data.qvel[3:]


def _text(numbers: tuple) -> str:
    return " ".join(repr(float(x)) for x in numbers)
