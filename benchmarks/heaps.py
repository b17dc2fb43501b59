"""What heaps keep of the promises, and what their steps cost: python -m benchmarks.heaps [names] --seeds 1:11 --json FILE

    pile_200, pile_1000   convex hulls of 6 to 30 corners, poured into a bin (the scene `pile`)
    balls, balls_729      216 smooth balls, and 729, fall apart
    wall                  105 bricks, struck by a ball of 17 kg at 12 m/s
    cube                  8 x 8 x 8 boxes, 1 mm apart, dropped from 1 m
    boxes                 500 boxes of many sizes, thrown at one place from all sides
    capsules, jacks       100 each, poured into a bin
    gravel                3000 spheres of 20 to 40 mm, poured into a bin

Of each: how fast the fastest body is 3 s after the last one landed, what the energy does in the last second, the deepest overlap
on the way, of the smaller body, and at the end; what momentum, angular momentum and the ledger miss in the worst step; how many
solves ended above their tolerance; and the processor time of a step, by one thread, while the heap lands, settles and rests.
``--awake N`` goes on for N steps more and tells how far positions and energy drift.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.worlds.__main__ import seeds
from benchmarks.worlds.measure import Momenta
from tumble.collision import Box, Capsule, HalfSpace, ShapeSet, Sphere, bounding_boxes, candidate_pairs, signed_distances
from tumble.collision.shapes.definitions import convex_parts
from tumble.scenarios.progress import Bar
from tumble.scenarios.registry import load
from tumble.scenarios.runs.scene_run import warm
from tumble.sim import Scene, World
from tumble.sim.ledger.promises import thickness

STEP = 1 / 240  # s
STILL = 1e-9  # m/s: slower than this for ever after is at rest
AFTER = 3.0  # s after the last body landed


def ground(name: str, half: float = 0.0, friction: float = 0.5, **more: Any) -> Scene:
    """A floor, with walls in a distance of ``half`` from the middle, where it is not zero."""
    scene = Scene(name=name, dt=STEP)
    scene.add(HalfSpace(), kind="static", name="floor", friction=friction, **more)
    for k, normal in enumerate(((1, 0, 0), (0, 1, 0), (-1, 0, 0), (0, -1, 0))):
        if half:
            scene.add(HalfSpace(normal, -half), kind="static", name=f"wall_{k + 1}", friction=friction, **more)
    return scene


def layers(count: int, edge: int, gap: float, low: float) -> np.ndarray:
    """(count, 3) places in layers of edge x edge."""
    n = np.arange(count)
    level, at = np.divmod(n, edge**2)
    return gap * np.column_stack([at % edge - (edge - 1) / 2, at // edge - (edge - 1) / 2, level]) + (0, 0, low)


def turn(rng: np.random.Generator) -> tuple[float, ...]:
    q = rng.normal(size=4)
    return tuple(q / np.linalg.norm(q))


def cube(seed: int, edge: int = 8) -> Scene:
    """Boxes of 0.2 m; each is up to a tenth of a millimetre off the grid, but for the seed 0."""
    scene, rng = ground("cube"), np.random.default_rng(seed)
    for n, place in enumerate(layers(edge**3, edge, 0.201, 1.1)):
        place += 1e-4 * rng.uniform(-1, 1, 3) * (seed > 0)
        scene.add(Box((0.1, 0.1, 0.1)), name=f"box_{n + 1}", position=tuple(place), friction=0.5)
    return scene


def boxes(seed: int) -> Scene:
    """Edges of 0.1 to 0.3 m. All fly at the middle of the floor, at 3 m/s, and turn."""
    scene, rng = ground("boxes"), np.random.default_rng(seed)
    for n, place in enumerate(layers(500, 8, 0.55, 0.5)):
        way = np.array((0, 0, 0.5)) - place
        scene.add(
            Box(tuple(rng.uniform(0.05, 0.15, 3))),
            name=f"box_{n + 1}",
            position=tuple(place),
            orientation=turn(rng),
            velocity=tuple(3.0 * way / max(np.linalg.norm(way), 0.1)),
            angular_velocity=tuple(rng.uniform(-3, 3, 3)),
            friction=0.5,
        )
    return scene


def capsules(seed: int) -> Scene:
    scene, rng = ground("capsules", 0.55), np.random.default_rng(seed)
    for n, place in enumerate(layers(100, 3, 0.34, 0.3)):
        scene.add(Capsule(0.05, 0.1), name=f"capsule_{n + 1}", position=tuple(place), orientation=turn(rng), friction=0.5)
    return scene


def jacks(seed: int) -> Scene:
    """The jacks of the scene of this name, without restitution."""
    scene, rng = ground("jacks", 0.6), np.random.default_rng(seed)
    shape = next(body.shape for body in load("jacks")(count=1) if body.kind == "dynamic")
    for n, place in enumerate(layers(100, 4, 0.26, 0.3)):
        scene.add(shape, name=f"jack_{n + 1}", position=tuple(place), orientation=turn(rng), friction=0.5)
    return scene


def gravel(seed: int) -> Scene:
    scene, rng = ground("gravel", 0.5), np.random.default_rng(seed)
    for n, place in enumerate(layers(3000, 11, 0.085, 0.1)):
        place += 1e-3 * rng.uniform(-1, 1, 3)
        scene.add(Sphere(rng.uniform(0.02, 0.04)), name=f"stone_{n + 1}", position=tuple(place), friction=0.5)
    return scene


def catalog(name: str, **parameters: Any) -> Callable[[int], Scene]:
    def made(seed: int) -> Scene:
        scene = load(name)(**parameters, **({} if name == "wall" else {"seed": seed}))
        scene.dt = STEP
        return scene

    return made


# Made of a seed; seconds; the seed where none is asked for.
HEAPS: dict[str, tuple[Callable[[int], Scene], float, int]] = {
    "pile_200": (catalog("pile", count=200), 6.0, 5),
    "pile_1000": (catalog("pile", count=1000), 8.0, 5),
    "balls": (catalog("balls_666"), 3.0, 42),
    "balls_729": (catalog("balls_666", edge=9), 3.0, 42),
    "wall": (catalog("wall", courses=10, length=10, ball=12.0), 1.5, 0),
    "cube": (cube, 5.0, 0),
    "boxes": (boxes, 7.0, 1),
    "capsules": (capsules, 7.0, 1),
    "jacks": (jacks, 6.0, 1),
    "gravel": (gravel, 5.0, 1),
}


class Overlaps:
    """Overlaps of a world, of the smaller of two bodies: of the contacts it knows, or by the queries alone."""

    def __init__(self, world: World):
        parts = [(shape, pose) for body in world.bodies for shape, pose in convex_parts(body.definition.shape)]
        self.width = np.array([thickness(shape) for shape, _ in parts])

    def felt(self, world: World) -> tuple[float, float]:
        """(relative, [m])"""
        found = world.contacts()
        if len(found) == 0:
            return 0.0, 0.0
        size = np.minimum(self.width[found["piece_a"]], self.width[found["piece_b"]])
        return max(0.0, float((-found["gap"] / size).max())), max(0.0, float(-found["gap"].min()))

    @staticmethod
    def asked(world: World) -> float:
        """The deepest [m]."""
        shapes = ShapeSet([body.definition.shape for body in world.bodies])
        x, q = world.positions, world.orientations
        boxes = bounding_boxes(shapes, np.arange(len(x)), x, q)
        fixed = np.array([body.kind != "dynamic" for body in world.bodies])
        a, b = candidate_pairs(*boxes).T
        kept = ~(fixed[a] & fixed[b])
        a, b = a[kept], b[kept]
        return max(0.0, float(-signed_distances(shapes, a, b, x[a], q[a], x[b], q[b], margin=0.0).upper.min(initial=0.0)))


@dataclass
class Course:
    """What happened, step by step."""

    speed: list[float] = field(default_factory=list)
    energy: list[float] = field(default_factory=list)
    cost: list[float] = field(default_factory=list)  # s
    depth: float = 0.0  # of the smaller body
    linear: float = 0.0
    angular: float = 0.0
    books: float = 0.0
    landed: int = 0  # the step by which all bodies have borne load


class Watch:
    """Steps a world and looks at it after each."""

    def __init__(self, world: World, scene: Scene, bar: Bar):
        world._begin()
        self.world, self.bar, self.course = world, bar, Course()
        self.overlaps, self.momenta = Overlaps(world), Momenta(world, scene)
        self.dynamic = np.array([body.kind == "dynamic" for body in world.bodies])
        self.flying = self.dynamic.copy()
        self.reach = np.array([0.5 * np.min([thickness(s) for s, _ in convex_parts(b.definition.shape)]) for b in world.bodies])
        self.reach[~self.dynamic] = 0.0

    def step(self, count: int) -> None:
        for k in range(count):
            begun = time.process_time()
            self.world.step()
            self.course.cost.append(time.process_time() - begun)
            self.look()
            self.bar.update(k + 1, count)

    def look(self) -> None:
        world, course = self.world, self.course
        fast = np.linalg.norm(world.velocities, axis=1), self.reach * np.linalg.norm(world.angular_velocities, axis=1)
        course.speed.append(float(np.maximum(*fast)[self.dynamic].max()))
        course.energy.append(world.energy().total)
        course.depth = max(course.depth, self.overlaps.felt(world)[0])
        linear, angular = self.momenta.off(world)
        course.linear = max(course.linear, linear / self.momenta.moved)
        course.angular = max(course.angular, angular / self.momenta.turned)
        books = world.ledger
        course.books = max(course.books, abs(books.residual) / max(books.moved, books.scale))
        if self.flying.any():
            found = world.contacts()
            found = found[found["impulse"][:, 0] > 0.0]
            self.flying[found["body_a"]] = self.flying[found["body_b"]] = False
            course.landed = len(course.speed)


def resting(speed: list[float]) -> int:
    """The step from which on all are still; their number if that never is."""
    moving = np.flatnonzero(np.array(speed) > STILL)
    return 0 if len(moving) == 0 else int(moving[-1]) + 1


def measure(name: str, seed: int, awake: int, quiet: bool = False) -> dict[str, Any]:
    make, seconds, _ = HEAPS[name]
    scene = make(seed)
    world = scene.build()
    steps, start = round(seconds / STEP), world.energy().total
    with Bar(f"{name}, seed {seed}", total=steps, counted=True, quiet=quiet) as bar:
        watch = Watch(world, scene, bar)
        watch.step(steps)
        course = watch.course
        lasts = course.landed + round(AFTER / STEP)
        fall = start - course.energy[-1]
        rest, cost = resting(course.speed), 1e3 * np.array(course.cost)
        statistics = world.statistics()
        row = {
            "scene": name,
            "seed": seed,
            "bodies": int(watch.dynamic.sum()),
            "steps": steps,
            "landed_s": STEP * course.landed,
            "rest_s": STEP * rest if rest < steps else None,
            "fastest_3s": course.speed[lasts] if lasts < steps else None,
            "fastest_end": course.speed[-1],
            "energy_last_second": float(np.ptp(course.energy[-240:])) / fall,
            "deepest_part": course.depth,
            "overlap_end_m": watch.overlaps.felt(world)[1],
            "overlap_asked_m": watch.overlaps.asked(world),
            "momentum": course.linear,
            "angular": course.angular,
            "books": course.books,
            **{key: statistics[key] for key in ("impacts", "solves", "unsolved", "residual", "uncertain", "impact_gain")},
            "ms_mean": float(cost.mean()),
            "ms_first_720": float(cost[:720].mean()),
            "ms_landing": mean(cost[: course.landed]),
            "ms_settling": mean(cost[course.landed : rest]),
            "ms_rest": mean(cost[max(rest, course.landed) :]),
        }
        if awake:
            row |= awaken(watch, awake, fall)
    return row


def mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if len(values) else None


def awaken(watch: Watch, steps: int, fall: float) -> dict[str, float]:
    """What so many steps more change."""
    places, before = watch.world.positions, len(watch.course.speed)
    watch.step(steps)
    course = watch.course
    return {
        "awake_fastest": max(course.speed[before:]),
        "awake_energy": float(np.ptp(course.energy[before:])) / fall,
        "awake_moved_m": float(np.linalg.norm(watch.world.positions - places, axis=1).max()),
        "awake_overlap_m": watch.overlaps.asked(watch.world),
        "awake_ms": 1e3 * float(np.mean(course.cost[before:])),
        "awake_books": course.books,
    }


def said(row: dict[str, Any]) -> str:
    return "  ".join(f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(HEAPS)}; all where none is given")
    parser.add_argument("--seeds", type=seeds, help="as 1:11; the one of `tumble bench` where none is given")
    parser.add_argument("--awake", type=int, default=0, metavar="N", help="steps more at the end")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    for name in options.names:
        if name not in HEAPS:
            parser.error(f"{name}: must be one of {', '.join(HEAPS)}")
    os.environ["TUMBLE_THREADS"] = "1"
    warm()
    rows = []
    for name in options.names or HEAPS:
        for seed in options.seeds or [HEAPS[name][2]]:
            rows.append(measure(name, seed, options.awake))
            print(said(rows[-1]), flush=True)
            if options.json:
                options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
