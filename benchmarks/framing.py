"""How well the camera of films frames what happens: every scene of the catalog, a bowling strike, and a body that leaves:
``python -m benchmarks.framing [NAME...] [--write]``; with ``--write`` into docs/pictures.md.

Measured on the pixels that the corners of all bodies that move fall on. **Filled** is how much of the narrower fit of the picture
the box around them spans, in the frame in the middle; **with its way** the same for all that they pass half a second before and
after. **Cut off** is the part of the frames in which a body that has not left reaches out of the picture. **Pace** is how fast
what stands still goes through the picture, in heights of it a second: the median, and the largest.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.peers.page import write_measured
from tumble.collision.shapes.definitions import Box, Cylinder, HalfSpace, Shape, Sphere
from tumble.render.camera import Camera
from tumble.render.cameras.shots import shot_for
from tumble.render.frames.recorded import RunFrames
from tumble.render.meshes.meshes import mesh_of, parts_of
from tumble.render.rotation import rotate
from tumble.scenarios.registry import catalog, load
from tumble.sim import Recorder, Run, World

PAGE, MARK = Path(__file__).resolve().parent.parent / "docs" / "pictures.md", "measured: benchmarks/framing.py"
SIZE = (1280, 720)
LONGEST = 8.0  # s of a scene
WITHIN = (0.55, 0.85)  # asked of what is filled
ASIDE = 0.5  # s before and after a frame that belong to what happens
LEFT = {"bowling strike": ("ball", "pin_2_1"), "a body leaves": ("other",)}  # bodies that go away: the ball takes a pin along


@dataclass(frozen=True)
class Framing:
    """What is said above, of one film; ``moves``: whether the camera does."""

    filled: float
    with_way: float
    cut: float
    pace: tuple[float, float]
    moves: bool

    @property
    def good(self) -> bool:
        return WITHIN[0] <= self.filled <= WITHIN[1] and self.cut <= 0.05


def measure(run: Run, left: Sequence[str] = (), count: int = 61, way: bool = True) -> Framing:
    """The framing of a run in its film; ``left``: bodies that need not be seen, and count while they are.

    ``way=False`` leaves out what is filled with its way (nan), which is half of the work.
    """
    frames = RunFrames(run)
    frames.camera = None  # a scene that has one of its own is seen by the default one here
    shot, cast = shot_for(frames, SIZE), frames.cast
    rows = [i for i, kind in enumerate(cast.kinds) if kind != "static"]
    rows = [i for i in rows if goes(run, i)] or [i for i in rows if cast.dynamic[i]]
    shapes = {i: corners(cast.shapes[i]) for i in rows}
    times = np.linspace(frames.start, frames.stop, count)
    found = [frames.at(t) for t in times]
    cameras = [shot(f, k / count) for k, f in enumerate(found)]
    clouds = []
    for frame, camera in zip(found, cameras, strict=True):
        placed = {i: rotate(frame.orientations[i], shapes[i]) + frame.positions[i] for i in rows}
        clouds.append(np.concatenate([p for i, p in placed.items() if cast.names[i] not in left or _inside(camera, p)]))
    filled, wide, cut = [], [], []
    for time, camera, cloud in zip(times, cameras, clouds, strict=True):
        pixels, depth = camera.project(cloud, SIZE)
        at = 2.0 * pixels / SIZE - 1.0
        filled.append(0.5 * np.ptp(at, axis=0).max())
        cut.append((np.abs(at) > 1.0).any() or (depth <= 0).any())
        if not way:
            continue
        near = np.concatenate([c for t, c in zip(times, clouds, strict=True) if abs(t - time) <= ASIDE])
        wide.append(np.ptp(camera.project(near, SIZE)[0] / SIZE, axis=0).max())
    targets = np.array([camera.target for camera in cameras])
    tall = np.array([2.0 * camera.distance * np.tan(np.radians(camera.fov_degrees) / 2) for camera in cameras])
    pace = np.linalg.norm(np.diff(targets, axis=0), axis=1) / np.diff(times) / tall[1:]
    moves = any(camera != cameras[0] for camera in cameras)
    pair = float(np.median(pace)), float(pace.max())
    return Framing(float(np.median(filled)), float(np.median(wide)) if way else np.nan, float(np.mean(cut)), pair, moves)


def _inside(camera: Camera, points: np.ndarray) -> bool:
    pixels, depth = camera.project(points, SIZE)
    return bool((depth > 0).all() and (np.abs(2.0 * pixels / SIZE - 1.0) <= 1.0).all())


def corners(shape: Shape) -> np.ndarray:
    placed = [(p, mesh_of(p.key, 24).corners * p.scale) for p in parts_of(shape)]
    return np.concatenate([rotate(np.array(p.orientation), points) + p.position for p, points in placed])


def goes(run: Run, i: int) -> bool:
    """Whether a body gets anywhere, or turns."""
    shift = np.linalg.norm(run.positions[:, i] - run.positions[0, i], axis=1).max()
    turn = np.linalg.norm(run.orientations[:, i] - run.orientations[0, i], axis=1).max()
    return bool(shift > 0.05 * np.ptp(corners(run.bodies[i].shape), axis=0).max() or turn > 0.1)


def strike() -> World:
    """A bowling ball and ten pins."""
    world = World()
    world.add(HalfSpace(), kind="static", friction=0.2)
    for row in range(4):
        for i in range(row + 1):
            at = (1.5 + 0.264 * row, 0.305 * (i - row / 2), 0.19)
            world.add(Cylinder(0.055, 0.19), mass=1.6, position=at, friction=0.3, restitution=0.5, name=f"pin_{row}_{i}")
    world.add(Sphere(0.108), mass=6.8, position=(-1.0, 0.05, 0.108), velocity=(7.5, 0, 0), friction=0.1, name="ball")
    return world


def leaving(velocity: tuple[float, float, float] = (3.0, 1.0, 2.0)) -> World:
    """Six boxes that tumble in their places, and a ball that flies off."""
    world = World(gravity=(0, 0, 0))
    for k in range(6):
        at, spin = (0.4 * k - 1, 0.3 * (k % 3), 0.0), (1.0, 2.0, float(k))
        world.add(Box((0.1, 0.1, 0.1)), position=at, angular_velocity=spin, name=f"box_{k}")
    world.add(Sphere(0.1), position=(0.0, 0.0, 0.6), velocity=velocity, name="other")
    return world


def run_of(name: str) -> Run:
    """The film of a scene is recorded as ``tumble run --video`` does, its first seconds."""
    if name in LEFT:
        world, seconds = (strike if name == "bowling strike" else leaving)(), 3.0
    else:
        scene = load(name)()
        world, seconds = scene.build(), min(scene.duration, LONGEST)
    return world.run(seconds, [Recorder(every=max(1, round(1 / 60 / world.dt)))])


def table(found: dict[str, Framing]) -> str:
    lines = [
        f"{sum(f.good for f in found.values())} of {len(found)} are within 55 to 85 %, and whole in 95 % of the frames.",
        "",
        "| scene | camera | filled | with its way | cut off | pace |",
        "|---|---|---|---|---|---|",
    ]
    for name, f in found.items():
        pace = f"{f.pace[0]:.1f}, {f.pace[1]:.1f}" if f.moves else ""
        cells = (
            "moves" if f.moves else "stands",
            f"{f.filled:.0%}{'' if f.good else ' *'}",
            f"{f.with_way:.0%}",
            f"{f.cut:.0%}",
            pace,
        )
        lines.append(f"| {name if name in LEFT else f'`{name}`'} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("names", nargs="*")
    arguments.add_argument("--write", action="store_true")
    given = arguments.parse_args()
    found = {}
    for name in given.names or (*catalog(), *LEFT):
        found[name] = f = measure(run_of(name), LEFT.get(name, ()))
        print(
            f"{name:18} {f.filled:.2f} {f.with_way:.2f} cut {f.cut:.2f} pace {f.pace[0]:.2f} {f.pace[1]:.2f} {f.moves}",
            flush=True,
        )
    text = table(found)
    if given.write:
        write_measured(PAGE, MARK, text)
    print(text.splitlines()[0])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
