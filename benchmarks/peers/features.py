"""What other engines have, by their installed wheels: ``python -m benchmarks.peers.features``.

It asks what can be asked: how fine a position is kept, whether there is anything soft, which names speak of energy, and how much
processor time a second of 1000 balls takes that rain on a floor. All are installed by ``make bench-engines``; of Rapier and Jolt
these are the builds for the web.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO

import numpy as np

FINE = 1.0 + 2.0**-40  # m: no number of single precision
BALLS, DT, BEFORE, TIMED = 1000, 1 / 240, 120, 30
SPOKEN = {"soft": ("soft", "deform", "cloth"), "energy": ("energy",)}
PATIENCE = 20.0  # s of processor for each of the two


def names(thing: object, *parts: str) -> list[str]:
    return [name for name in dir(thing) if any(part in name.lower() for part in parts)]


def places() -> np.ndarray:
    """(n, 3) [m] of balls of radius 5 cm above a floor, a little off a lattice."""
    k = np.arange(BALLS)
    lattice = np.stack([k % 20, k // 20 % 20, k // 400], axis=1) * 0.12 + (0, 0, 0.1)
    return lattice + 0.005 * np.random.default_rng(0).normal(size=(BALLS, 3))


def pace(step: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """Seconds of processor a second of the scene takes, once the balls have met."""
    for steps in (BEFORE, TIMED):
        begun, k = clock(), 0
        while k < steps and clock() - begun < PATIENCE:
            step()
            k += 1
    return (clock() - begun) / (k * DT)


def mujoco() -> dict[str, object]:
    import mujoco as mj

    def world(bodies: str) -> mj.MjModel:
        head = f'<option timestep="{DT}"/><size memory="2G"/>'
        floor = '<geom type="plane" size="9 9 1"/>'
        return mj.MjModel.from_xml_string(f"<mujoco>{head}<worldbody>{floor}{bodies}</worldbody></mujoco>")

    one = '<body pos="{} {} {}"><freejoint/><geom size="0.05"/></body>'
    fine = mj.MjData(world(one.format(0, 0, 1)))
    fine.qpos[2] = FINE
    model = world("".join(one.format(*at) for at in places()))
    data = mj.MjData(model)
    found = {"double": fine.qpos[2] == FINE, "soft": names(mj.MjModel, "flex", "skin")[:3], "energy": names(mj.MjData, "energy")}
    return found | {"pace": pace(lambda: mj.mj_step(model, data))}


def bullet() -> dict[str, object]:
    with redirect_stdout(StringIO()):
        import pybullet as pb

    pb.connect(pb.DIRECT)
    pb.setTimeStep(DT)
    pb.setGravity(0, 0, -9.81)
    pb.createMultiBody(0, pb.createCollisionShape(pb.GEOM_PLANE))
    ball = pb.createCollisionShape(pb.GEOM_SPHERE, radius=0.05)
    bodies = [pb.createMultiBody(0.5, ball, basePosition=at.tolist()) for at in places()]
    pb.resetBasePositionAndOrientation(bodies[0], (0, 0, FINE), (0, 0, 0, 1))
    double = pb.getBasePositionAndOrientation(bodies[0])[0][2] == FINE
    found = {"double": double, "soft": names(pb, "softbody"), "energy": names(pb, "energy")}
    return found | {"pace": pace(pb.stepSimulation)}


def physx() -> dict[str, object]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import sapien

    scene = sapien.Scene([sapien.physx.PhysxCpuSystem()])
    scene.set_timestep(DT)
    scene.add_ground(0, render=False)
    builder = scene.create_actor_builder()
    builder.add_sphere_collision(radius=0.05)
    for at in places():
        builder.set_initial_pose(sapien.Pose(at.tolist()))
        builder.build()
    double = float(sapien.Pose([0, 0, FINE]).p[2]) == FINE
    found = {"double": double, "soft": names(sapien.physx, "soft", "deform", "cloth"), "energy": names(sapien.physx, "energy")}
    return found | {"pace": pace(scene.step)}


def in_node(name: str) -> dict[str, object]:
    from benchmarks.peers.node_engine import ENGINES

    engine = next(engine for label, engine in ENGINES.items() if label.startswith(name))((0, 0, -9.81), DT)
    engine.floor(0.5)
    for at in places():
        engine.sphere(0.05, 0.5, at)
    engine.sphere(0.05, 0.5, (5, 5, FINE))
    double, all_names = engine.state()[-1, 2] == FINE, engine.named()
    found = {key: [n for n in all_names if any(part in n.lower() for part in parts)][:3] for key, parts in SPOKEN.items()}
    return found | {"double": double, "pace": pace(lambda: engine.step(1), engine.clock)}


def rapier() -> dict[str, object]:
    return in_node("Rapier")


def jolt() -> dict[str, object]:
    return in_node("Jolt")


def tumble() -> dict[str, object]:
    from tumble.collision import HalfSpace, Sphere
    from tumble.sim import World

    world = World(dt=DT)
    world.add(HalfSpace(), kind="static")
    balls = world.add_many(Sphere(0.05), places(), mass=0.5)
    found = {"soft": [], "energy": names(World, "energy", "ledger")}
    seconds = pace(world.step)
    balls[0].position = (0, 0, FINE)
    return found | {"double": balls[0].position[2] == FINE, "pace": seconds}


def main() -> int:
    for engine in (tumble, bullet, physx, rapier, jolt, mujoco):
        try:
            found = engine()
        except ImportError as error:
            print(f"{engine.__name__:7} not installed: {error}")
            continue
        said = {key: ", ".join(found[key]) or "nothing" for key in ("soft", "energy")}
        print(
            f"{engine.__name__:7} double precision {'yes' if found['double'] else 'no'}; soft: {said['soft']}; "
            f"energy: {said['energy']}; {BALLS} balls: {found['pace']:.2f} s of processor a second",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
