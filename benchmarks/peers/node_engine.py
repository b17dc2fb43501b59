"""Rapier and Jolt by their WebAssembly builds, which run in Node: one thread, single precision, without damping or sleep."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.peers.engine import Engine
from benchmarks.peers.families import grid

HERE = Path(__file__).parent
PACKAGES = {"Rapier": ("rapier.mjs", "@dimforge/rapier3d-compat"), "Jolt": ("jolt.mjs", "jolt-physics")}

if shutil.which("node") is None:
    raise ImportError("Rapier and Jolt run in Node, and there is no `node` here: install Node 20 or later, with npm")
for _, package in PACKAGES.values():
    if not (HERE / "node_modules" / package).is_dir():
        raise ImportError(f"{package} is not in benchmarks/peers/node_modules: `make bench-engines` installs it by npm")


@cache
def process(driver: str) -> subprocess.Popen:
    """Node with a driver. It compiles all of the engine at once, so that no run is timed with half of it compiled."""
    return subprocess.Popen(
        ["node", "--no-liftoff", driver], cwd=HERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )


class InNode(Engine):
    """The driver holds one world: a new one takes the place of the one before."""

    alone = True

    def __init__(self, gravity: tuple, dt: float):
        self._ask("world", gravity, dt)

    def _ask(self, *request):
        node = process(self.driver)
        node.stdin.write(json.dumps(request) + "\n")
        answer = node.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.driver} ended at {request}")
        return json.loads(answer)

    def ground(self) -> None:
        self._ask("floor", self.mu, self.e)

    def wall(self, normal, offset: float) -> None:
        self._ask("wall", self.mu, self.e, np.array(normal, float).tolist(), offset)

    def field(self, heights: np.ndarray, cell: float) -> None:
        self._ask("field", self.mu, self.e, heights.tolist(), cell)

    def mesh(self, heights: np.ndarray, cell: float) -> None:
        vertices, triangles = grid(heights, cell)
        self._ask("mesh", self.mu, self.e, vertices.ravel().tolist(), triangles.ravel().tolist())

    def add(self, kind: str, size, mass: float, x, q, v, w) -> None:
        self._ask(kind, size, mass, self.mu, self.e, *(np.array(u, float).tolist() for u in (x, q, v, w)))

    def step(self, n: int) -> None:
        self._ask("step", n)

    def state(self) -> np.ndarray:
        return np.array(self._ask("state"), float)  # null, which stands for nan, becomes nan

    def named(self) -> list[str]:
        """All names of the package."""
        return self._ask("named")

    def clock(self) -> float:
        return self._ask("clock")


def _engines() -> dict[str, type[Engine]]:
    found = {}
    for name, (driver, package) in PACKAGES.items():
        version = json.loads((HERE / "node_modules" / package / "package.json").read_text(encoding="utf-8"))["version"]
        found[f"{name} ({package.split('/')[-1]} {version}, WASM, f32)"] = type(
            name, (InNode,), {"driver": driver, "reliefs": ("field", "mesh") if name == "Rapier" else ()}
        )
    return found


ENGINES = _engines()
