"""Cost of ground of triangles beside a half-space: ``python -m benchmarks.ground [--peers]``

A hundred crates on a plane of a million triangles, at rest and sliding, as a height field and as a mesh, beside the same crates
on a half-space; then on hills, where the surface bends at every edge. With ``--peers`` also MuJoCo and Rapier, where they are
installed, each beside its own half-space. The worlds of an engine take turns, some steps at a time, so that what else the machine
does falls on all alike; the ratio is of the processor times of the quickest turns, one thread, 1/240 s.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from os import environ

import numpy as np

from benchmarks.peers.engine import Engine
from benchmarks.peers.engines import engines
from benchmarks.peers.families import grid
from tumble.collision import TriangleMesh

CELLS, CELL = 708, 0.05  # along a side, and their edge [m]: 1,002,528 triangles
CRATES, APART, HALF = 10, 1.2, 0.2  # along a side of the square they stand in; from one to the next, half an edge [m]
STEP = 1 / 240  # s
SPEED, SLIPPERY = 0.5, 0.002  # m/s, of crates that slide all the time; their friction
SETTLE, TURNS, STEPS = 60, 12, 10  # steps that are not counted; then turns of so many steps each


def plane() -> np.ndarray:
    return np.zeros((CELLS + 1, CELLS + 1))


def hills() -> np.ndarray:
    """Waves of 0.3 m, a metre and a half long."""
    x = CELL * np.arange(CELLS + 1)
    return 0.15 * np.sin(2 * np.pi / 1.5 * x)[:, None] * np.sin(2 * np.pi / 1.5 * x)


def world(engine: type[Engine], ground: str, slides: bool, heights: np.ndarray) -> Engine:
    """Crates on ground of a kind: "plane", "field" or "mesh"."""
    made = engine((0.0, 0.0, -9.81), STEP)
    made.relief(ground, heights, CELL, SLIPPERY if slides else 0.5)
    top = HALF + heights.max()
    velocity = (SPEED * np.cos(0.3), SPEED * np.sin(0.3), 0.0) if slides else (0.0, 0.0, 0.0)
    for i in range(CRATES):
        for j in range(CRATES):
            x, y = APART * (i - CRATES / 2) + 0.013, APART * (j - CRATES / 2) + 0.007
            made.box((HALF, HALF, HALF), 8.0, (x, y, top), v=velocity)
    return made


def turns(worlds: dict[str, Engine]) -> dict[str, float]:
    """Processor time of a step of each [s], in its quickest turn."""
    best = dict.fromkeys(worlds, np.inf)
    for one in worlds.values():
        one.step(SETTLE)
    for _ in range(TURNS):
        for name, one in worlds.items():
            begun = one.clock()
            one.step(STEPS)
            best[name] = min(best[name], (one.clock() - begun) / STEPS)
    return best


def compared(name: str, engine: type[Engine], kinds: tuple[str, ...]) -> list[str]:
    """Rows of an engine: each kind of ground beside its half-space."""
    rows = []
    for slides in (False, True):
        if engine.alone:
            found = {kind: turns({kind: world(engine, kind, slides, plane())})[kind] for kind in ("plane", *kinds)}
        else:
            found = turns({kind: world(engine, kind, slides, plane()) for kind in ("plane", *kinds)})
        flat, how = found["plane"], "sliding" if slides else "at rest"
        rows += [f"| {name} | {kind} | {how} | {_ms(flat)} | {_ms(found[kind])} | {found[kind] / flat:.2f} |" for kind in kinds]
    return rows


def uneven(engine: type[Engine]) -> str:
    """A row for the hills: the mean of a step while crates land, tumble down and lie."""
    made = world(engine, "field", False, hills())
    made.step(1)
    begun = made.clock()
    made.step(240)
    return f"100 crates on the hills of a field, the first second: {_ms((made.clock() - begun) / 240)} ms a step"


def made_and_read() -> str:
    """A mesh of a million triangles: making the tables that a world needs of it, and reading them in the next program."""
    seconds = []
    vertices, triangles = grid(hills(), CELL)
    with tempfile.TemporaryDirectory() as folder:
        environ["TUMBLE_CACHE_DIR"] = folder
        TriangleMesh(*grid(np.zeros((200, 200)), CELL)).tables()  # compiles what makes them
        for _ in range(2):
            mesh = TriangleMesh(vertices, triangles)
            seconds.append(_timed(mesh.tables))
        size = sum(table.nbytes for table in mesh.tables().values()) + mesh.vertices.nbytes + mesh.triangles.nbytes
    made, read = seconds
    return (
        f"{len(triangles)} triangles: tables made in {made:.2f} s, read in {read:.3f} s; {size / len(triangles):.0f} bytes each"
    )


def _timed(call: Callable[[], object]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.3g}"


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--peers", action="store_true", help="also MuJoCo and Rapier")
    modules = ("our", "mujoco", "node") if asked.parse_args().peers else ("our",)
    rows = ["| engine | ground | crates | on a half-space, ms a step | on the ground | ratio |", "|---|---|---|---|---|---|"]
    found = engines(modules)
    for name, engine in found.items():
        if engine.reliefs:
            rows += compared(name, engine, engine.reliefs)
    print("\n".join(rows))
    for name, engine in found.items():
        if engine.reliefs:
            print(f"{name}: {uneven(engine)}")
    print(made_and_read())


if __name__ == "__main__":
    main()
