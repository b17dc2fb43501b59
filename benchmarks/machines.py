"""Machines beside MuJoCo, in one run: the time of a step and what it is off by. ``python -m benchmarks.machines [MODEL...]``

Models of Gymnasium, as they are imported, without limits, damping and dry friction, at one dt. Without contact both integrate the
same equations; the error is that of the coordinates after 0.25 s, against MuJoCo's RK4 with steps of 1e-5 s. With contact they
do not (MuJoCo's are soft), so only times are told. Processor time, the least of several rounds, stepped one by one from Python.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import gymnasium
import mujoco
import numpy as np

from tumble.scenarios.importing.models import load_model
from tumble.sim import World

FOLDER = Path(gymnasium.__file__).parent / "envs/mujoco/assets"
MODELS = ("ant", "humanoid", "half_cheetah", "walker2d", "inverted_double_pendulum")
DT, SPAN, ROUNDS = 1 / 500, 0.25, 7
RK4, EULER = mujoco.mjtIntegrator.mjINT_RK4, mujoco.mjtIntegrator.mjINT_EULER


def theirs(name: str, integrator: int, dt: float, contact: bool) -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_path(str(FOLDER / f"{name}.xml"))
    bit = mujoco.mjtDisableBit
    if not contact:
        model.opt.disableflags |= bit.mjDSBL_CONTACT | bit.mjDSBL_LIMIT | bit.mjDSBL_FRICTIONLOSS | bit.mjDSBL_EQUALITY
        model.dof_damping[:] = 0
    model.opt.density = model.opt.viscosity = 0
    model.opt.integrator, model.opt.timestep = integrator, dt
    return model, mujoco.MjData(model)


def ours(name: str, dt: float, contact: bool) -> World:
    scene = load_model(FOLDER / f"{name}.xml").scene
    scene.dt, scene.forces, scene.actuators = dt, [], []
    if not contact:
        scene.joints = [j.replace(limits=None, damping=0.0, friction=0.0) if hasattr(j, "limits") else j for j in scene.joints]
        scene.bodies = [b.replace(mask=0) for b in scene.bodies]
    return scene.build()


def least(step: Callable[[], None], count: int = 200) -> float:
    """Microseconds of a step, the least of several rounds."""
    best = np.inf
    for _ in range(ROUNDS):
        begun = time.process_time()
        for _ in range(count):
            step()
        best = min(best, (time.process_time() - begun) / count * 1e6)
    return best


def apart(name: str) -> tuple[float, float, float]:
    """By how much coordinates are off after SPAN: ours, MuJoCo's RK4 and Euler, at DT."""
    model, data = theirs(name, RK4, 1e-5, contact=False)
    start = 0.5 * np.random.default_rng(3).normal(size=model.nv)

    def flown(integrator: int, dt: float) -> np.ndarray:
        model, data = theirs(name, integrator, dt, contact=False)
        data.qvel[:] = start
        for _ in range(round(SPAN / dt)):
            mujoco.mj_step(model, data)
        return np.array(data.qpos)

    exact = flown(RK4, 1e-5)
    world = ours(name, DT, contact=False)
    mechanism = world.mechanism()
    mechanism.set(mechanism.qpos, start)
    world.step(round(SPAN / DT))
    off = lambda q: float(np.abs(q - exact).max())  # noqa: E731
    return off(mechanism.qpos), off(flown(RK4, DT)), off(flown(EULER, DT))


def main(wanted: list[str]) -> int:
    print("| model | contact | us a step | MuJoCo RK4 | Euler | times RK4 | times Euler | off by | MuJoCo RK4 | Euler |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in wanted or MODELS:
        for contact in (False, True):
            world = ours(name, DT, contact)
            world.step(10)
            mine = least(world.step)
            others = []
            for integrator in (RK4, EULER):
                model, data = theirs(name, integrator, DT, contact)
                others.append(least(lambda model=model, data=data: mujoco.mj_step(model, data)))
            errors = [f"{x:.1e}" for x in apart(name)] if not contact else [""] * 3
            times = [f"{x:.0f}" for x in (mine, *others)]
            cells = [name, "with" if contact else "without", *times, *(f"{mine / x:.1f}" for x in others), *errors]
            print("|", " | ".join(cells), "|", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
