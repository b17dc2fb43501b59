"""How fast scenes step, and where the time goes.

Each scene runs from its start, in chunks of steps, for its seconds or until its share of wall-clock time is used up. The
stages are measured in a process of their own, whose far calls are clocked (collision/kernels/clocks.py), over the same steps;
their shares then divide the processor time of the process without clocks, which other load on the machine hardly changes.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from tumble.collision.errors import InputError
from tumble.collision.kernels.sources import import_path
from tumble.sim.words import aligned

SUITE: dict[str, tuple[str, dict[str, Any], float]] = {  # name: scenario, its parameters, seconds
    "tumbling": ("tumbling_boxes", {"count": 1000}, 1.0),
    "stack": ("stack", {"boxes": 20}, 2.0),
    "pyramid": ("pyramid", {"rows": 10}, 2.0),
    "balls": ("balls_666", {}, 3.0),
    "balls_729": ("balls_666", {"edge": 9}, 3.0),
    "wall": ("wall", {"courses": 10, "length": 10, "ball": 12.0}, 1.5),
    "pile_200": ("pile", {"count": 200}, 3.0),
    "pile_1000": ("pile", {"count": 1000}, 3.0),
    "rocks": ("rock_slide", {}, 1.0),
}
STEP = 1 / 240  # s
STAGES = {  # the kernels of each stage, by their names: the first stage that fits has the kernel
    "broad": ("tumble.collision.broadphase.",),
    "narrow": ("tumble.collision.",),
    "solver": ("tumble.sim.solvers.",),
    "contact": ("tumble.sim.contact.", "tumble.sim.joints."),
    "impacts": ("tumble.sim.impact.",),
}
REST = "flight"  # free flight, bounds and books: what no clock is around
CHUNK = 10  # steps
UNDISTURBED = 1.1  # wall clock over processor time: below this ratio nothing else took the processor


class Chunk(NamedTuple):
    """Some steps: how many, seconds by the wall clock and of the processor, and what the clocks say of them."""

    steps: int
    wall: float
    cpu: float
    readings: dict[str, Any]


def stage_of(symbol: str) -> str:
    return next((stage for stage, heads in STAGES.items() if symbol.startswith(heads)), REST)


def chosen(names: Iterable[str]) -> list[str]:
    """Names of the suite; all of them where none is given."""
    names = list(names)
    for name in names:
        if name not in SUITE:
            raise InputError("scene", name, f"must be one of {', '.join(SUITE)}")
    return names or list(SUITE)


def measure(name: str, budget: float, steps: int | None = None) -> dict[str, Any]:
    """Step a scene of the suite, for so many steps or within a budget of wall-clock seconds; times in microseconds a step."""
    from tumble.collision.kernels import clocks
    from tumble.scenarios.registry import load

    scenario, parameters, seconds = SUITE[name]
    scene = load(scenario)(**parameters)
    scene.dt = STEP
    world = scene.build()
    world.step(2)  # what is compiled or loaded on the way is not counted
    whole = round(seconds / STEP) if steps is None else steps
    done, chunks = 0, []
    while done < whole and (steps is not None or sum(c.wall for c in chunks) < budget):
        count = min(CHUNK, whole - done)
        clocks.reset()
        begun, cpu = time.perf_counter(), time.process_time()
        world.step(count)
        chunks.append(Chunk(count, time.perf_counter() - begun, time.process_time() - cpu, clocks.read()))
        done += count
    wall, cpu = sum(c.wall for c in chunks), sum(c.cpu for c in chunks)
    median = sorted(c.wall / c.steps for c in chunks)[len(chunks) // 2]
    statistics = world.statistics()
    row = {
        "name": name,
        "scenario": scenario,
        "parameters": parameters,
        "bodies": len(scene),
        "contacts": len(world.contacts()),
        "steps": done,
        "of": whole,
        "mean": 1e6 * wall / done,
        "cpu": 1e6 * cpu / done,
        "median": 1e6 * median,
        "iterations": statistics["iterations"] / max(1, statistics["solves"]),
        **{key: statistics[key] for key in ("unsolved", "residual", "depth")},
        "hash": world.state_hash(),
    }
    if any(c.readings for c in chunks):
        row["clocked"], row["kernels"] = _kernels(chunks)
    return row


def _kernels(chunks: list[Chunk]) -> tuple[float, dict[str, dict[str, float]]]:
    """Processor time that was clocked, and that of each kernel, in microseconds a step.

    The clocks go on while other processes have the processor. Where the chunks into which none cut make up half of the time
    they stand for all; otherwise all count, each by the processor time it took.
    """
    quiet = [c for c in chunks if c.wall < UNDISTURBED * c.cpu]
    kept = quiet if sum(c.cpu for c in quiet) > 0.5 * sum(c.cpu for c in chunks) else chunks
    steps = sum(c.steps for c in kept)
    out: dict[str, dict[str, float]] = {}
    for c in kept:
        scale = 1e6 * min(1.0, c.cpu / c.wall) / steps
        for symbol, r in c.readings.items():
            kernel = out.setdefault(symbol, {"calls": 0.0, "total": 0.0, "own": 0.0})
            kernel["calls"] += r.calls / steps
            kernel["total"] += scale * r.total
            kernel["own"] += scale * r.own
    return 1e6 * sum(min(c.cpu, c.wall) for c in kept) / steps, out


def stages(row: dict[str, Any]) -> dict[str, float]:
    """Parts of the time of a step by stage, from a clocked measurement."""
    parts = dict.fromkeys((*STAGES, REST), 0.0)
    for symbol, kernel in row["kernels"].items():
        parts[stage_of(symbol)] += kernel["own"] / row["clocked"]
    parts[REST] += max(0.0, 1.0 - sum(parts.values()))
    return parts


def run_suite(names: list[str], budget: float, quiet: bool = False) -> list[dict[str, Any]]:
    """Measure scenes: the timings here, their stages in a process with clocks."""
    from tumble.collision.kernels import clocks
    from tumble.scenarios.progress import Bar
    from tumble.scenarios.runs.scene_run import warm

    warm(quiet=quiet)
    rows = []
    with Bar("Measuring", total=2 * len(names), counted=True, quiet=quiet) as bar:
        for k, name in enumerate(names):
            bar.update(k, note=name)
            rows.append(measure(name, budget))
        if clocks.available():
            bar.update(len(names), note="stages")
            for row, clocked in zip(rows, _clocked({row["name"]: row["steps"] for row in rows}), strict=True):
                row["stages"], row["kernels"] = stages(clocked), clocked["kernels"]
                row["same_bits"] = clocked["hash"] == row["hash"]
    return rows


def _clocked(steps: dict[str, int]) -> list[dict[str, Any]]:
    """The same steps in another process, with clocks."""
    asked = [sys.executable, "-m", "tumble.scenarios.measuring.bench", json.dumps(steps)]
    paths = os.pathsep.join(filter(None, (import_path(), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(asked, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": paths})
    if done.returncode != 0:
        raise OSError(f"the process with clocks ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    return json.loads(done.stdout)


def table(rows: list[dict[str, Any]]) -> str:
    """Microseconds a step: by the wall clock, of the processor, and that by stage."""
    shown = [s for s in (*STAGES, REST) if any("stages" in row for row in rows)]
    head = ["scene", "bodies", "contacts", "steps", "us/step", "cpu", "median", *shown, "unsolved"]
    lines = [head]
    for row in rows:
        steps = str(row["steps"]) if row["steps"] == row["of"] else f"{row['steps']} of {row['of']}"
        parts = [f"{row['stages'][s] * row['cpu']:.1f}" for s in shown] if "stages" in row else [""] * len(shown)
        times = [f"{row[key]:.1f}" for key in ("mean", "cpu", "median")]
        lines.append([row["name"], str(row["bodies"]), str(row["contacts"]), steps, *times, *parts, str(row["unsolved"])])
    return aligned(lines, "<".ljust(len(head), ">"))


def kernels(row: dict[str, Any], most: int = 12) -> str:
    """The kernels that take most of a step, one a line: calls a step, microseconds with and without clocked callees."""
    lines = [f"{row['name']}: {'kernel':46} {'calls':>9} {'total':>10} {'own':>10}"]
    indent = " " * (len(row["name"]) + 2)
    for symbol, k in sorted(row["kernels"].items(), key=lambda item: -item[1]["own"])[:most]:
        lines.append(f"{indent}{symbol:46} {k['calls']:9.1f} {k['total']:10.1f} {k['own']:10.1f}")
    return "\n".join(lines)


def write_json(rows: list[dict[str, Any]], path: str | Path) -> Path:
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    machine = {"system": platform.platform(), "processor": platform.processor() or platform.machine(), "cores": os.cpu_count(),
               "python": platform.python_version()}  # fmt: skip
    path.write_text(json.dumps({"machine": machine, "dt": STEP, "rows": rows}, indent=1) + "\n", encoding="utf-8")
    return path


def main() -> None:
    """The process with clocks: steps by scene as JSON in, measurements as JSON out."""
    from tumble.collision.kernels import clocks

    clocks.start()
    print(json.dumps([measure(name, 0.0, steps) for name, steps in json.loads(sys.argv[1]).items()]))


if __name__ == "__main__":
    main()
