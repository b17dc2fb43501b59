"""Pictures per second by number of boxes and preset, and a film from end to end: ``python -m benchmarks.frames [--json F]``

``--live`` measures the window alone, unseen, on a world of 1000 boxes that is stepped in real time meanwhile.

Boxes in flight over a floor at 1280 x 720, read back as a film does, seen from one place and by a camera that goes round. Beside
the time by the clock, the best of several rounds, stands the processor time of all threads: on a machine that is busy otherwise
the second is what counts.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tumble.collision.shapes.definitions import Box, HalfSpace
from tumble.render.camera import Camera
from tumble.render.cameras.shots import Orbit, shot_for
from tumble.render.films.video import camera_for, film
from tumble.render.frames.frame import Frame, cast_of
from tumble.render.frames.recorded import RunFrames
from tumble.render.look import PRESETS
from tumble.render.opengl.context import describe, open_renderer
from tumble.sim.recording.recorder import Recorder
from tumble.sim.scene.scene import Scene

SIZE = (1280, 720)
COUNTS = (10, 100, 1000)
EACH = 8  # pictures a round
TARGETS = {("default", 100): 25.0, ("default", 1000): 30.0, ("fast", 100): 60.0}  # pictures a second on two cores of llvmpipe


def crowd(count: int) -> Scene:
    """Boxes on a lattice that fly apart and tumble, over a floor."""
    rng = np.random.default_rng(1)
    scene = Scene("crowd", gravity=(0, 0, 0))
    scene.add(HalfSpace(), kind="static")
    side = int(np.ceil(count ** (1 / 3)))
    for k in range(count):
        at = 0.5 * (np.array([k % side, k // side % side, k // side**2]) + (-side / 2, -side / 2, 1))
        size = tuple(rng.uniform(0.06, 0.14, 3))
        scene.add(Box(size), position=tuple(at), velocity=tuple(0.1 * at), angular_velocity=tuple(rng.normal(size=3)))
    return scene


def timed(draw: Callable[[int], Any], rounds: int) -> tuple[float, float]:
    """(seconds by the clock, seconds of processor time) of a call with 0 to 7 in turn: those of the best round."""
    best = np.inf, np.inf
    for _ in range(rounds + 1):  # one more: the first compiles shaders
        clock, processor = time.perf_counter(), time.process_time()
        for k in range(EACH):
            draw(k)
        spent = (time.perf_counter() - clock) / EACH, (time.process_time() - processor) / EACH
        best = min(best[0], spent[0]), min(best[1], spent[1])
    return best


def measure(frames: RunFrames, preset: str, moving: bool, rounds: int) -> tuple[float, float]:
    """(seconds by the clock, seconds of processor time) of one picture."""
    cameras = [camera_for(frames, SIZE)] * EACH
    shown = [frames.at(t) for t in np.linspace(frames.start, frames.stop, EACH)]
    if moving:
        shot = shot_for(frames, SIZE, Orbit(turns=0.05))
        cameras = [shot(frame, k / EACH) for k, frame in enumerate(shown)]
    with open_renderer(SIZE, preset) as renderer:
        return timed(lambda k: renderer.draw(shown[k], cameras[k]), rounds)


def least(rounds: int) -> tuple[float, float]:
    """What no picture can do without: one that shows nothing, read back."""
    with open_renderer(SIZE, "fast") as renderer:
        frame, camera = Frame(cast_of([]), 0.0, np.zeros((0, 3)), np.zeros((0, 4))), Camera((3, 0, 1), (0, 0, 0))
        return timed(lambda _: renderer.draw(frame, camera, ()), rounds)


def live(count: int, rounds: int) -> None:
    """Print how the window keeps up with a world in real time: pictures a second, and seconds of the scene per second."""
    os.environ["SDL_VIDEODRIVER"] = "offscreen"
    from tumble.render.windows.window import Window
    from tumble.scenarios.showing.stages import stage_of
    from tumble.scenarios.showing.window_loop import Loop

    stage = stage_of(crowd(count))
    with Window(SIZE, "default", "benchmark", camera_for(stage.frame(), SIZE), ("text",)) as window:
        loop = Loop(stage, window)
        loop.may_be_plain = False
        for _ in range(EACH):
            loop.turn()
        for _ in range(rounds):
            clock, processor, begun = time.perf_counter(), time.process_time(), loop._time
            for _ in range(4 * EACH):
                loop.turn()
            spent, used = time.perf_counter() - clock, time.process_time() - processor
            told = f"{4 * EACH / spent:11.1f} pictures/s {1e3 * used / (4 * EACH):7.1f} ms of processor a picture"
            print(f"{window.preset:8} {count:6} {told}, {(loop._time - begun) / spent:.2f} s a second", flush=True)
        loop.close()


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--live", action="store_true")
    arguments.add_argument("--json", type=Path)
    arguments.add_argument("--rounds", type=int, default=5)
    given = arguments.parse_args()
    where, rows = describe(), []
    print(f"{where['renderer']} by {where['backend']}, {SIZE[0]} x {SIZE[1]}, load {os.getloadavg()[0]:.1f}\n")
    print(f"{'preset':8} {'boxes':>6} {'camera':8} {'pictures/s':>11} {'processor ms':>13}  target")

    def tell(preset: str, count: int, camera: str, clock: float, processor: float) -> None:
        target = TARGETS.get((preset, count)) if camera == "still" else None
        found = {"rate": 1 / clock, "processor_ms": 1e3 * processor, "target": target}
        rows.append({"preset": preset, "boxes": count, "camera": camera, **found})
        print(f"{preset:8} {count:6} {camera:8} {1 / clock:11.1f} {1e3 * processor:13.1f}  {target or ''}", flush=True)

    if given.live:
        print("a live window\n")
        live(COUNTS[-1], given.rounds)
        return 0

    tell("nothing", 0, "still", *least(given.rounds))
    for count in COUNTS:
        frames = RunFrames(crowd(count).build().run(0.5, [Recorder(every=12)]))
        for preset in PRESETS:
            for camera in ("still", "moving"):
                tell(preset, count, camera, *measure(frames, preset, camera == "moving", given.rounds))
    run = crowd(100).build().run(2.0, [Recorder(every=4)])
    print("\nfilm of 100 boxes")
    for preset in PRESETS:
        with tempfile.TemporaryDirectory() as folder:
            clock, processor = time.perf_counter(), time.process_time()
            film(run, Path(folder) / "a.mp4", SIZE, preset=preset)
            spent, used = time.perf_counter() - clock, time.process_time() - processor
        rows.append({"film": preset, "pictures": 60, "rate": 60 / spent, "processor_ms": 1e3 * used / 60})
        print(f"{preset:24} {60 / spent:11.1f} {1e3 * used / 60:13.1f}", flush=True)
    if given.json:
        given.json.write_text(json.dumps({"where": where, "rows": rows}, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
