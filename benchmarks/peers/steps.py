"""Time of a step beside other engines, in one run: ``make bench-engines``, or ``python -m benchmarks.peers.steps``.

The scenes are those of the catalog, at 1/240 s from their start, with friction and restitution the same for all bodies. The
engines take turns: each steps the scene to its end, once so that all is compiled and then as often as there is time for; what
counts is the least processor time of the whole process. How far off it ends is measured alike for all. --write puts the tables
into docs/speed.md.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import heaps
from benchmarks.peers.engine import Engine
from benchmarks.peers.engines import MODULES, engines
from benchmarks.peers.families import matrices
from benchmarks.peers.page import processor, write_measured
from tumble.collision import Box, Capsule, HalfSpace, ShapeSet, Sphere, bounding_boxes, candidate_pairs, signed_distances
from tumble.scenarios.registry import load
from tumble.sim.scene.scene import Scene

PAGE = Path(__file__).resolve().parents[2] / "docs" / "speed.md"
STEP = 1 / 240  # s
CHUNK = 12  # steps between two looks at the clock


class Problem(NamedTuple):
    """A scene of the catalog or what makes one, how long it runs [s], what is off at its end, and what the table calls that."""

    scenario: str | Callable[..., Scene]
    parameters: dict
    seconds: float
    off: Callable[[Scene, np.ndarray], float]
    what: str


def displaced(scene: Scene, end: np.ndarray) -> float:
    """The furthest that a body has moved [m]."""
    return float(np.linalg.norm(end[:, :3] - [b.position for b in moving(scene)], axis=1).max())


def overlap(scene: Scene, end: np.ndarray) -> float:
    """The deepest overlap [m], with the floor, a wall or of two bodies."""
    bodies, fixed = moving(scene), [b for b in scene if b.kind != "dynamic"]
    shapes = ShapeSet([b.shape for b in fixed + bodies])
    x = np.vstack([[b.position for b in fixed], end[:, :3]])
    q = np.vstack([[b.orientation for b in fixed], end[:, 3:7]])
    q /= np.linalg.norm(q, axis=1)[:, None]
    a, b = candidate_pairs(*bounding_boxes(shapes, np.arange(len(x)), x, q)).T
    a, b = a[b >= len(fixed)], b[b >= len(fixed)]
    return max(0.0, float(-signed_distances(shapes, a, b, x[a], q[a], x[b], q[b]).distance.min(initial=0.0)))


def energy(scene: Scene, end: np.ndarray) -> float:
    """Change of the kinetic energy of all bodies, relative."""
    totals = []
    for rot, v, w in (begin_of(scene), (matrices(end[:, 3:7]), end[:, 7:10], end[:, 10:])):
        total = 0.0
        for body, r, u, spin in zip(moving(scene), rot, v, w, strict=True):
            mass, _, inertia = body.mass_properties()
            total += mass * u @ u / 2 + (r.T @ spin) @ inertia @ (r.T @ spin) / 2
        totals.append(total)
    return abs(totals[1] / totals[0] - 1)


def moving(scene: Scene) -> list:
    return [body for body in scene if body.kind == "dynamic"]


def begin_of(scene: Scene) -> tuple[np.ndarray, ...]:
    bodies = moving(scene)
    q = np.array([b.orientation for b in bodies])
    return matrices(q), np.array([b.velocity for b in bodies]), np.array([b.angular_velocity for b in bodies])


PROBLEMS = {
    "1000 boxes tumble": Problem("tumbling_boxes", {"count": 1000}, 1.0, energy, "energy, relative"),
    "stack of 20": Problem("stack", {"boxes": 20}, 2.0, displaced, "moved, m"),
    "pyramid of 55": Problem("pyramid", {"rows": 10}, 2.0, displaced, "moved, m"),
    "216 balls fall apart": Problem("balls_666", {}, 3.0, overlap, "overlap, m"),
    "ball breaks a wall of 105": Problem("wall", {"courses": 10, "length": 10, "ball": 12.0}, 1.5, overlap, "overlap, m"),
}

PILED = {
    "cube of 512 boxes": Problem(heaps.cube, {"seed": 1}, 2.0, overlap, "overlap, m"),
    "500 boxes": Problem(heaps.boxes, {"seed": 1}, 3.0, overlap, "overlap, m"),
    "100 capsules": Problem(heaps.capsules, {"seed": 1}, 3.0, overlap, "overlap, m"),
    "gravel of 3000": Problem(heaps.gravel, {"seed": 1}, 2.0, overlap, "overlap, m"),
}


def built(engine: type[Engine], scene: Scene) -> Engine:
    """The scene in an engine."""
    made = engine(scene.gravity, STEP)
    surfaces = {(body.friction, body.restitution) for body in scene}
    if len(surfaces) > 1:
        raise ValueError(f"bodies of several kinds: {surfaces}")
    planes = [body.shape for body in scene if isinstance(body.shape, HalfSpace)]
    if planes:
        made.floor(*surfaces.pop())
    for wall in planes[1:]:
        made.wall(wall.normal, wall.offset)
    for body in moving(scene):
        mass = body.mass_properties()[0]
        pose = (body.position, body.orientation, body.velocity, body.angular_velocity)
        match body.shape:
            case Box(half):
                made.box(half, mass, *pose)
            case Sphere(radius):
                made.sphere(radius, mass, *pose)
            case Capsule(radius, half):
                made.capsule(radius, half, mass, *pose)
    return made


def measure(problem: Problem, found: dict[str, type[Engine]], seconds: float) -> dict[str, tuple[float, float]]:
    """Of each engine the microseconds a step, and what is off at the end; they take turns."""
    make = load(problem.scenario) if isinstance(problem.scenario, str) else problem.scenario
    scene = make(**problem.parameters)
    count = round(problem.seconds / STEP)
    best, off = dict.fromkeys(found, np.inf), {}
    for name, engine in found.items():
        warm = built(engine, scene)
        warm.step(count)
        off[name] = problem.off(scene, warm.state())
    end = time.monotonic() + seconds
    while True:
        for name, engine in found.items():
            world = built(engine, scene)
            world.step(1)  # what is made at the first step
            begun = world.clock()
            world.step(count - 1)
            best[name] = min(best[name], 1e6 * (world.clock() - begun) / (count - 1))
        if time.monotonic() > end:
            return {name: (best[name], off[name]) for name in found}


def measure_heap(problem: Problem, found: dict[str, type[Engine]], most: float) -> dict[str, tuple[float, float]]:
    """The same of one way to the end, or as far as an engine comes in ``most`` seconds of processor time."""
    scene, rows = problem.scenario(**problem.parameters), {}
    count = round(problem.seconds / STEP)
    for name, engine in found.items():
        world = built(engine, scene)
        world.step(1)
        begun, done = world.clock(), 0
        while done < count and world.clock() - begun < most:
            world.step(CHUNK)
            done += CHUNK
        rows[name] = 1e6 * (world.clock() - begun) / done, problem.off(scene, world.state())
        if done < count:
            print(f"{name} came to {done * STEP:.2f} s of {problem.seconds} s", flush=True)
    return rows


def tables(rows: dict[str, dict[str, tuple[float, float]]], problems: dict[str, Problem]) -> str:
    """The measured figures as Markdown."""
    head = ["| engine | " + " | ".join(rows) + " |", "|---" * (len(rows) + 1) + "|"]
    names = next(iter(rows.values()))
    lines = [f"Processor: {processor()}. Python {platform.python_version()}. Microseconds a step:", "", *head]
    lines += [f"| {name} | " + " | ".join(f"{row[name][0]:.0f}" for row in rows.values()) + " |" for name in names]
    lines += ["", "What is off at the end:", "", *head]
    lines += ["| | " + " | ".join(problems[scene].what for scene in rows) + " |"]
    lines += [f"| {name} | " + " | ".join(f"{row[name][1]:.1e}" for row in rows.values()) + " |" for name in names]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("engines", nargs="*", metavar="ENGINE", help=f"of {', '.join(MODULES)}; all where none is named")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each scene; of a heap, at most for each engine")
    parser.add_argument("--heaps", action="store_true", help="heaps of benchmarks/heaps.py, each once")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/speed.md")
    options = parser.parse_args()
    found, rows, problems = engines(options.engines), {}, PILED if options.heaps else PROBLEMS
    for name, problem in problems.items():
        rows[name] = (measure_heap if options.heaps else measure)(problem, found, options.seconds)
        for engine, (time_, off) in rows[name].items():
            print(f"{name}: {engine}: {time_:.1f} us a step, {problem.what} {off:.1e}", flush=True)
    text = tables(rows, problems)
    print("\n" + text)
    if options.write:
        write_measured(PAGE, "heaps" if options.heaps else "engines", text)


if __name__ == "__main__":
    main()
