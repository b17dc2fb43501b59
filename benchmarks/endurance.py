"""Long runs and large worlds: memory stays flat, the books close, a body costs what it costs: python -m benchmarks.endurance

    box          a tumbling box, 10^7 steps
    pendulum     a double pendulum, 10^6 steps
    stack        ten boxes that stand for an hour, 864,000 steps
    come and go  5000 bodies are added and removed, fifty at most at a time, on a floor
    container    1000 balls poured into a box, and 10,240 into one ten times as large: memory, and the cost of a body

Each runs in a program of its own. ``--scale 0.01`` takes a hundredth of the steps and of the bodies that come and go.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tumble.collision import Box, HalfSpace, Sphere
from tumble.scenarios.registry import load
from tumble.sim import World

ROOT = Path(__file__).resolve().parents[1]
MARKS = 10  # looks at memory and books in a run
FLAT = 2e6  # bytes that a run may grow by after its first tenth, and 200 for each body, beside tables that were full
BALL = 0.05  # m
WALLS = 5
POURED, TURNS = 360, 6  # steps of the containers: half of them until all has landed; turns between two looks
DEARER = 1.5  # times that a body among 10,000 may cost what one among 1000 does


def memory() -> int:
    """Bytes that this program holds."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def tables(world: World) -> int:
    """Bytes of the tables of a world, which double when they are full, and of what a failed step goes back to."""
    return sum(array.nbytes for group in (*world.model, *world._saved) for array in group)


def followed(world: World, parts: list[Callable[[], None]], settled: int = 0) -> dict[str, Any]:
    """Do the parts; growth of memory after that which is ``settled``, and what the books say."""
    marks, held, begun, energy = [], [], time.process_time(), world.energy().total
    for part in parts:
        part()
        marks.append(memory())
        held.append(tables(world))
    ledger = world.ledger
    return {
        "steps": world.step_count,
        "bodies": len(world.bodies),
        "seconds": round(time.process_time() - begun, 1),
        "grown_bytes": marks[-1] - marks[settled],
        "tables_grown_bytes": held[-1] - held[settled],
        "memory_bytes": marks[-1],
        "books_close": ledger.closes,
        "residual": ledger.residual / max(ledger.moved, ledger.scale),
        "energy_change": (world.energy().total - energy) / ledger.scale,
        "finite": bool(np.isfinite(world.positions).all()),
    }


def stepped(world: World, steps: int, settled: int = 0) -> dict[str, Any]:
    return followed(world, [lambda: world.step(steps // MARKS)] * MARKS, settled)


def box(scale: float) -> dict[str, Any]:
    return stepped(load("tumbling_box")().build(), round(1e7 * scale))


def pendulum(scale: float) -> dict[str, Any]:
    return stepped(load("double_pendulum")().build(), round(1e6 * scale))


def stack(scale: float) -> dict[str, Any]:
    world = load("stack")().build()
    start = world.positions
    return {**stepped(world, round(864_000 * scale)), "moved_m": float(np.abs(world.positions - start).max())}


def come_and_go(scale: float) -> dict[str, Any]:
    """Boxes and balls fall on a floor, and on each other; the oldest goes when there are fifty."""
    world, count = World(), round(5000 * scale)
    world.add(HalfSpace(), kind="static", name="floor")
    rng, there = np.random.default_rng(3), []

    def one() -> None:
        shape = Sphere(0.1) if rng.random() < 0.5 else Box((0.1, 0.08, 0.06))
        there.append(world.add(shape, position=(*rng.uniform(-1.0, 1.0, 2), rng.uniform(0.5, 1.5)), restitution=0.3))
        if len(there) > 50:
            world.remove(there.pop(0))
        world.step(4)
        world.events()

    def some() -> None:
        for _ in range(max(count // MARKS, 1)):
            one()

    return {**followed(world, [some] * MARKS), "passed_through": count}


def container(edge: int) -> World:
    """Balls in ten layers of ``edge`` x ``edge`` above the floor of a box."""
    world, gap = World(), 2.2 * BALL
    width = 0.5 * gap * (edge + 0.5)
    world.add(HalfSpace(), kind="static", name="floor")
    for k, normal in enumerate(((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0))):
        world.add(HalfSpace(normal, -width), kind="static", name=f"wall_{k}")
    rng = np.random.default_rng(5)
    cells = np.stack(np.meshgrid(np.arange(edge), np.arange(edge), np.arange(10), indexing="ij"), -1).reshape(-1, 3)
    places = gap * (cells - (0.5 * (edge - 1), 0.5 * (edge - 1), 0)) + (0, 0, 1.1 * BALL) + rng.uniform(-1e-3, 1e-3, cells.shape)
    world.add_many(Sphere(BALL), places, friction=0.3)
    return world


def poured(scale: float) -> dict[str, Any]:
    """Two containers, stepped by turns, so that a busy machine slows both alike: 10,240 balls on 1000, as deep."""
    small, large = container(10), container(max(12, round(32 * min(1.0, scale) ** 0.25)))
    cost = {len(world.bodies) - WALLS: 0.0 for world in (small, large)}

    def both() -> None:
        for _ in range(TURNS):
            for world in (small, large):
                begun = time.process_time()
                world.step(POURED // MARKS // TURNS)
                cost[len(world.bodies) - WALLS] += 1e6 * (time.process_time() - begun)

    out = followed(large, [both] * MARKS, settled=MARKS // 2)
    few, many = (us / out["steps"] / balls for balls, us in cost.items())
    return {
        **out,
        "books_close": out["books_close"] and small.ledger.closes,
        "us_per_body_and_step": (round(few, 1), round(many, 1)),
        "dearer": round(many / few, 2),
        "contacts": len(large.contacts()),
    }


PARTS: dict[str, Callable[[float], dict[str, Any]]] = {
    "box": box,
    "pendulum": pendulum,
    "stack": stack,
    "come and go": come_and_go,
    "container": poured,
}


def wrong(found: dict[str, Any]) -> list[str]:
    """What is not as it must be."""
    out = [] if found["finite"] else ["not finite"]
    out += [] if found["books_close"] else [f"books open by {found['residual']:.1e}"]
    grown = found["grown_bytes"] - found["tables_grown_bytes"]
    out += [] if grown <= FLAT + 200 * found["bodies"] else [f"grown by {grown / 1e6:.1f} MB that are in no table"]
    out += [] if found.get("dearer", 1.0) <= DEARER else [f"a body costs {found['dearer']} times as much"]
    return out + ([] if found.get("moved_m", 0.0) < 1e-6 else [f"moved by {found['moved_m']:.1e} m"])


def apart(name: str, scale: float) -> dict[str, Any]:
    """What a part gives in a program of its own."""
    words = [sys.executable, "-m", "benchmarks.endurance", "--one", name, "--scale", str(scale)]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, cwd=ROOT, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help="all where none is given")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(PARTS[asked.one](asked.scale)))
        return 0
    failed = False
    for name in asked.parts or PARTS:
        found = apart(name, asked.scale)
        faults = wrong(found)
        failed |= bool(faults)
        print(f"{name}: {json.dumps(found)} {faults or ''}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
