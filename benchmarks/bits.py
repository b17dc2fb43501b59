"""Whether the same scene gives the same bits, whatever is around it: python -m benchmarks.bits

All scenes of the catalog are stepped in several ways, each in a program of its own, and their state hashes compared:

    alone            one call of step, one thread, hash seed 0; what the others are compared with
    threads 2, 8     as many threads for Numba, OpenMP and BLAS, other hash seeds
    World 1, 2, 8    with so many threads that share the work of a step (in worlds of 100 bodies and more)
    Worlds 1, 2, 8   as members of Worlds on so many threads
    recorded         under a Recorder of everything, filmed half way
    looked at        in a window with all overlays, that shows a picture now and then
    saved            saved and loaded at three random steps
    generic          machine code for any processor of this architecture (compiles all kernels once more)
    uncompiled       a few steps as plain Python; compared to 1e-12 where the hash is other
    PYTHON           with each interpreter that --python names, which must have what tumble needs
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tools.catalog_hashes import LARGE, steps_of
from tumble.scenarios.registry import load, names
from tumble.sim import Recorder, Scene, World, Worlds

ROOT = Path(__file__).resolve().parents[1]
UNCOMPILED, SMALL = (3, 24), 6  # steps of scenes of at most LARGE bodies, and of at most SMALL
CLOSE = 1e-12  # of the size of a scene, and of its speeds
PATIENCE = 120  # s that a scene may take uncompiled
THREADS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


# ---------------------------------------------------------------------- ways to take the steps


def alone(scene: Scene, steps: int) -> list[World]:
    world = scene.build()
    world.step(steps)
    return [world]


def shared(threads: int) -> Callable[[Scene, int], list[World]]:
    def way(scene: Scene, steps: int) -> list[World]:
        world = scene.build()
        world.threads = threads
        world.step(steps)
        return [world]

    return way


def in_worlds(threads: int) -> Callable[[Scene, int], list[World]]:
    def way(scene: Scene, steps: int) -> list[World]:
        worlds = Worlds(scene, 3, threads=threads)
        worlds.step(steps)
        if worlds.errors:
            raise worlds.errors[min(worlds.errors)]
        return list(worlds)

    return way


def recorded(scene: Scene, steps: int) -> list[World]:
    from tumble import render

    world = scene.build()
    with tempfile.TemporaryDirectory() as folder:
        half = steps // 2
        run = world.run(half * world.dt, [Recorder(Path(folder) / "a.zarr", every=1, contacts=True, impacts=True)])
        render.film(run, Path(folder) / "a.gif", size=(48, 32), fps=8, preset="fast")
        world.run((steps - half) * world.dt, [Recorder(every=3)])
    return [world]


def looked_at(scene: Scene, steps: int) -> list[World]:
    from tumble.render.films.video import camera_for
    from tumble.render.frames.overlay import OVERLAYS
    from tumble.render.windows.window import Window
    from tumble.scenarios.showing.stages import WorldStage

    stage = WorldStage(scene.build)
    stage.prepare(OVERLAYS)
    with Window((64, 48), "fast", "bits", camera_for([stage.frame()], (64, 48)), OVERLAYS) as window:
        for k in range(0, steps, 10):
            stage.step(min(10, steps - k))
            if k % 40 == 0:
                window.show(stage.frame())
                stage.world.energy(), stage.world.contacts(), stage.world.promises()
    return [stage.world]


def saved(scene: Scene, steps: int) -> list[World]:
    world, rng = scene.build(), random.Random(f"{scene.name} {steps}")
    with tempfile.TemporaryDirectory() as folder:
        for until in (*sorted(rng.sample(range(1, steps), 3)), steps):
            world.step(until - world.step_count)
            world.save(Path(folder) / "world.npz")
            world = World.load(Path(folder) / "world.npz")
    return [world]


WAYS: dict[str, Callable[[Scene, int], list[World]]] = {
    "alone": alone, "recorded": recorded, "looked at": looked_at, "saved": saved,
    **{f"World {n}": shared(n) for n in (1, 2, 8)}, **{f"Worlds {n}": in_worlds(n) for n in (1, 2, 8)},
}  # fmt: skip


# ---------------------------------------------------------------------- in a program of its own


def state(world: World) -> list[float]:
    return (
        np.concatenate([world.positions, world.velocities, world.orientations, world.angular_velocities], axis=1).ravel().tolist()
    )


def answer(way: str, chosen: list[str], steps: int | None) -> None:
    """A line of JSON for each scene: its name, steps, hashes, and the state where it is asked for by a number of steps."""
    for name in chosen:
        scene = load(name)()
        scene.name = name
        n = steps or steps_of(scene)
        worlds = WAYS[way](scene, n)
        print(json.dumps([name, n, [w.state_hash() for w in worlds], state(worlds[0]) if steps else None]), flush=True)


def asked(way: str, chosen: list[str], steps: int | None = None, python: str = sys.executable, patience=None, **around: str):
    """By scene: the steps, the hashes and the state that a program of its own gives; a text for what failed."""
    environment = {**os.environ, "PYTHONHASHSEED": "0", "SDL_VIDEODRIVER": "dummy", "PYTHONPATH": str(ROOT)}
    environment |= dict.fromkeys(THREADS, "1") | around
    words = [python, "-m", "benchmarks.bits", "--answer", way, *(["--steps", str(steps)] if steps else []), *chosen]
    try:
        done = subprocess.run(words, capture_output=True, text=True, env=environment, cwd=ROOT, timeout=patience)
    except subprocess.TimeoutExpired:
        return {}, f"not at its end after {patience} s"
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    return {row[0]: row[1:] for row in rows}, done.stderr[-2000:] if done.returncode else ""


def other(first: dict[str, list], second: dict[str, list]) -> list[str]:
    """Scenes whose hashes are not all that of the first."""
    return [name for name, row in first.items() if name not in second or set(second[name][1]) != {row[1][0]}]


def gap(first: list[float], second: list[float]) -> float:
    """The largest difference of two states, against the largest number in them."""
    a, b = np.array(first), np.array(second)
    return float(np.abs(a - b).max() / max(np.abs(a).max(), 1.0))


def uncompiled(chosen: list[str]) -> list[str]:
    """Compare scenes with themselves uncompiled, after a few steps; what is further off than CLOSE."""
    same, close, wrong, count = 0, 0.0, [], 0
    for name in chosen:
        if (many := len(load(name)())) > LARGE:
            continue
        steps = UNCOMPILED[many <= SMALL]
        fast, _ = asked("alone", [name], steps)
        plain, said = asked("alone", [name], steps, patience=PATIENCE, NUMBA_DISABLE_JIT="1")
        count += 1
        if name not in plain:
            wrong.append(f"{name}: {said[-200:]}")
            continue
        same += plain[name][1] == fast[name][1]
        off = gap(fast[name][2], plain[name][2])
        close = max(close, off)
        wrong += [f"{name}: off by {off:.1e}"] if off > CLOSE else []
    print(f"uncompiled     {same} of {count} the same, all others within {close:.1e} {wrong or ''}", flush=True)
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="scenes; all of the catalog where none is given")
    parser.add_argument("--ways", nargs="+", help="these ways alone, by their first words")
    parser.add_argument("--python", nargs="+", default=[], help="other interpreters")
    parser.add_argument("--answer", help=argparse.SUPPRESS)
    parser.add_argument("--steps", type=int, help=argparse.SUPPRESS)
    asks = parser.parse_args()
    chosen = asks.names or names()
    if asks.answer:
        answer(asks.answer, chosen, asks.steps)
        return 0
    ways: dict[str, dict] = {"alone again": {}}
    ways |= {f"threads {n}": dict(PYTHONHASHSEED=seed, **dict.fromkeys(THREADS, str(n))) for n, seed in ((2, "1"), (8, "random"))}
    ways |= {name: {"way": name} for name in WAYS if name != "alone"}
    ways |= {"generic": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}}
    ways |= {python: {"python": python} for python in asks.python}
    wanted = lambda name: not asks.ways or any(name.startswith(way) for way in asks.ways)  # noqa: E731
    wrong, begun = 0, time.perf_counter()

    def show(way: str, failed: list[str], said: str) -> None:
        nonlocal wrong
        wrong += bool(failed or said)
        counts = f"{len(chosen) - len(failed)} of {len(chosen)} the same"
        print(f"{way:14} {counts}{': not ' + ', '.join(failed) if failed else ''} {said}", flush=True)

    first, said = asked("alone", chosen)
    if said:
        sys.exit(said)
    for name, how in ways.items():
        if wanted(name):
            second, said = asked(**{"way": "alone", "chosen": chosen, **how})
            show(name, other(first, second), said)
    if wanted("uncompiled"):
        wrong += bool(uncompiled(chosen))
    print(f"{time.perf_counter() - begun:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
