"""Machines beside MuJoCo, in one run: the time of a step and what it is off by. ``python -m benchmarks.machines [MODEL...]``

Models of Gymnasium, as they are imported, at one dt. Without contact, limits, damping and dry friction both integrate the same
equations; the error is that of the coordinates after 0.25 s, against MuJoCo's RK4 with steps of 1e-5 s. With them they do not
(MuJoCo's contacts and limits are soft), so each is held against itself in steps of dt/50, after 0.5 s of falling and landing; and
the deepest overlap on the way is told. Processor time, the least of several rounds, stepped one by one from Python.
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
DT, SPAN, ROUNDS = 1 / 500, 0.25, 600
LANDING, FINER = 0.5, 50  # [s] with contact; by how much the steps are finer that it is held against
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


def least(steps: list[Callable[[], None]], count: int = 30) -> list[float]:
    """Microseconds of a step of each, the least of several rounds in turn."""
    best = [np.inf] * len(steps)
    for _ in range(ROUNDS):
        for k, step in enumerate(steps):
            begun = time.process_time()
            for _ in range(count):
                step()
            best[k] = min(best[k], (time.process_time() - begun) / count * 1e6)
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


def landed(name: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """After LANDING, of ours and of MuJoCo's RK4 and Euler: by how much coordinates are off their own of finer steps, and the
    deepest overlap on the way [m]."""

    def mine(dt: float) -> tuple[np.ndarray, float]:
        world, deepest = ours(name, dt, contact=True), 0.0
        mechanism = world.mechanism()
        mechanism.set(mechanism.qpos, 0.5 * np.random.default_rng(3).normal(size=mechanism.nv))
        for _ in range(round(LANDING / dt)):
            world.step()
            deepest = max(deepest, world.max_penetration())
        return np.array(mechanism.qpos), deepest

    def other(integrator: int, dt: float) -> tuple[np.ndarray, float]:
        model, data = theirs(name, integrator, dt, contact=True)
        data.qvel[:], deepest = 0.5 * np.random.default_rng(3).normal(size=model.nv), 0.0
        for _ in range(round(LANDING / dt)):
            mujoco.mj_step(model, data)
            deepest = max(deepest, -min(data.contact.dist, default=0.0))
        return np.array(data.qpos), deepest

    runs = [mine, lambda dt: other(RK4, dt), lambda dt: other(EULER, dt)]
    coarse = [run(DT) for run in runs]
    off = tuple(float(np.abs(at - run(DT / FINER)[0]).max()) for run, (at, _) in zip(runs, coarse, strict=True))
    return off, tuple(deepest for _, deepest in coarse)


def main(wanted: list[str]) -> int:
    print("| model | contact | us a step | MuJoCo RK4 | Euler | times RK4 | times Euler ", end="")
    print("| off by | MuJoCo RK4 | Euler | overlap [mm] | MuJoCo RK4 | Euler |")
    print("|---" * 13 + "|")
    for name in wanted or MODELS:
        for contact in (False, True):
            world = ours(name, DT, contact)
            world.step(10)
            steps = [world.step]
            for integrator in (RK4, EULER):
                model, data = theirs(name, integrator, DT, contact)
                steps.append(lambda model=model, data=data: mujoco.mj_step(model, data))
            mine, *others = least(steps)
            errors, overlaps = landed(name) if contact else (apart(name), ())
            ends = [*(f"{x:.1e}" for x in errors), *([f"{1e3 * x:.2g}" for x in overlaps] or ["-"] * 3)]
            times = [f"{x:.0f}" for x in (mine, *others)]
            cells = [name, "with" if contact else "without", *times, *(f"{mine / x:.1f}" for x in others), *ends]
            print("|", " | ".join(cells), "|", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
