"""Microseconds per step of scenarios of the catalog: ``make bench``, or ``python benchmarks/run.py NAME ...``.

Each scenario is stepped for about two seconds of wall clock after a first second of simulated time, without recording.
The best of three is shown, with what the solver did. Results go to build/bench.json.
"""

from __future__ import annotations

import json
import platform
import sys
import time
from pathlib import Path

from scenarios.registry import load
from scenarios.run import warm

SCENES = {
    "tumbling_box": {},
    "two_cuboids": {},
    "resting_cuboid": {},
    "dropped_cuboids": {"count": 20},
    "stack": {"boxes": 20},
    "pyramid": {"rows": 10},
    "dominoes": {"count": 20},
}
ROUND = 0.7  # s of wall clock


def measure(name: str, parameters: dict) -> dict:
    """Time a scenario; one row of the table."""
    scene = load(name)(**parameters)
    world = scene.build()
    world.step(max(1, round(0.2 / world.dt)))
    begun = time.perf_counter()
    world.step(10)
    steps = max(10, min(100_000, round(ROUND / ((time.perf_counter() - begun) / 10))))
    best = float("inf")
    for _ in range(3):
        begun = time.perf_counter()
        world.step(steps)
        best = min(best, (time.perf_counter() - begun) / steps)
    counts = world.statistics()
    return {
        "scenario": name,
        "parameters": parameters,
        "bodies": len(scene),
        "contacts": len(world.contacts()),
        "microseconds_per_step": best * 1e6,
        "iterations_per_solve": counts["iterations"] / max(counts["solves"], 1),
        "unsolved": counts["unsolved"],
    }


def main(names: list[str]) -> None:
    warm()
    rows = []
    print(f"{'scenario':18} {'bodies':>6} {'contacts':>8} {'us/step':>10} {'iterations/solve':>17} {'unsolved':>8}")
    for name in names or list(SCENES):
        row = measure(name, SCENES.get(name, {}))
        rows.append(row)
        print(
            f"{row['scenario']:18} {row['bodies']:6} {row['contacts']:8} {row['microseconds_per_step']:10.1f}"
            f" {row['iterations_per_solve']:17.2f} {row['unsolved']:8}",
            flush=True,
        )
    out = Path("build/bench.json")
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps({"machine": platform.processor() or platform.machine(), "rows": rows}, indent=2) + "\n")
    print(f"\n{out}")


if __name__ == "__main__":
    main(sys.argv[1:])
