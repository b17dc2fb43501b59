"""Pictures per second by number of boxes and preset, and a film from end to end: ``python -m benchmarks.frames [--json F]``

Boxes in flight over a floor at 1280 x 720, read back as a film does. Beside the time by the clock, the best of several rounds,
stands the processor time of all threads: on a machine that is busy otherwise the second is what counts.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np

from collision.shapes import Box, HalfSpace
from render.context import describe, open_renderer
from render.look import PRESETS
from render.recorded import RunFrames
from render.video import camera_for, film
from sim.recording import Recorder
from sim.scene import Scene

SIZE = (1280, 720)
COUNTS = (10, 100, 1000)
TARGETS = {("default", 100): 25.0, ("fast", 100): 60.0}  # pictures a second on two cores of llvmpipe


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


def measure(frames: RunFrames, preset: str, rounds: int, each: int = 8) -> tuple[float, float]:
    """(seconds by the clock, seconds of processor time) of one picture: the best round."""
    camera = camera_for(frames, SIZE)
    shown = [frames.at(t) for t in np.linspace(frames.start, frames.stop, each)]
    best = np.inf, np.inf
    with open_renderer(SIZE, preset) as renderer:
        renderer.draw(shown[0], camera)
        for _ in range(rounds):
            clock, processor = time.perf_counter(), time.process_time()
            for frame in shown:
                renderer.draw(frame, camera)
            spent = (time.perf_counter() - clock) / each, (time.process_time() - processor) / each
            best = min(best[0], spent[0]), min(best[1], spent[1])
    return best


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--json", type=Path)
    arguments.add_argument("--rounds", type=int, default=5)
    given = arguments.parse_args()
    where = describe()
    print(f"{where['renderer']} by {where['backend']}, {SIZE[0]} x {SIZE[1]}\n")
    print(f"{'preset':8} {'boxes':>6} {'pictures/s':>11} {'processor ms':>13}  target")
    rows = []
    for count in COUNTS:
        frames = RunFrames(crowd(count).build().run(0.5, [Recorder(every=12)]))
        for preset in PRESETS:
            clock, processor = measure(frames, preset, given.rounds)
            target = TARGETS.get((preset, count))
            rows.append({"preset": preset, "boxes": count, "rate": 1 / clock, "processor_ms": 1e3 * processor, "target": target})
            print(f"{preset:8} {count:6} {1 / clock:11.1f} {1e3 * processor:13.1f}  {target or ''}")
    run = crowd(100).build().run(2.0, [Recorder(every=4)])
    with tempfile.TemporaryDirectory() as folder:
        clock, processor = time.perf_counter(), time.process_time()
        film(run, Path(folder) / "a.mp4", SIZE)
        spent, used = time.perf_counter() - clock, time.process_time() - processor
    rows.append({"film": True, "pictures": 60, "rate": 60 / spent, "processor_ms": 1e3 * used / 60})
    print(f"\nfilm, 100 boxes, default: {60 / spent:.1f} pictures/s, {1e3 * used / 60:.1f} ms of processor each")
    if given.json:
        given.json.write_text(json.dumps({"where": where, "rows": rows}, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
