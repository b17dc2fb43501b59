"""Make the pictures of README.md and of the docs anew: ``python tools/readme_picture.py``."""

from __future__ import annotations

import math
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from tumble.collision import Box, Compound, ConvexHull, Cylinder, HalfSpace, Pose, Sphere
from tumble.render import Camera, film, still
from tumble.render.figures import plots
from tumble.scenarios.registry import load
from tumble.sim import CameraDef, Recorder, Run, World
from tumble.sim.scene.visual import FINISHES

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"


def struck_pyramid(seconds: float = 0.42) -> World:
    """A wall of 28 boxes, some time after a ball of 90 kg has struck it."""
    scene = load("pyramid")(rows=7, friction=0.4)
    radius = 0.14
    scene.add(
        Sphere(radius), name="ball", density=7800.0, position=(-0.35, -1.6, 0.5), velocity=(1.0, 6.0, 1.2),
        angular_velocity=(-20, 0, 0), friction=0.4, restitution=0.2, color="#30343c",
    )  # fmt: skip
    scene.camera = CameraDef((-2.15, 3.3, 1.3), (0.0, 0.25, 0.66), fov_degrees=30)
    world = scene.build()
    world.step(math.floor(seconds / scene.dt))
    return world


def struck_house(seconds: float = 1.7) -> Run:
    """A house of cards that stands by friction alone, until a ball of 40 g strikes it after half a second."""
    scene = load("card_house")()
    target, start, flight = np.array([0.0, 0.0, 0.16]), np.array([-0.8, -1.0, 0.25]), 0.5
    velocity = (target - start) / flight + (0.0, 0.0, 0.5 * 9.81 * flight)
    scene.add(
        Sphere(0.02), name="ball", mass=0.04, position=start, velocity=velocity, friction=0.3, restitution=0.3, color="#30343c"
    )
    return scene.build().run(seconds, [Recorder()])


def shapes() -> World:
    """A ball, a hammer and an octahedron, a second after they were let go: the world of docs/hello.md."""
    world = World()
    world.add(HalfSpace(), kind="static", name="floor")
    hammer = Compound([(Box((0.04, 0.04, 0.3)), Pose()), (Box((0.16, 0.07, 0.07)), Pose(position=(0, 0, 0.3)))])
    octahedron = ConvexHull([(0.2, 0, 0), (-0.2, 0, 0), (0, 0.2, 0), (0, -0.2, 0), (0, 0, 0.2), (0, 0, -0.2)])
    world.add(Sphere(0.15), name="ball", position=(-0.5, 0, 0.8), restitution=0.7)
    world.add(hammer, name="hammer", position=(0, 0, 0.9), angular_velocity=(0.5, 3, 1))
    world.add(octahedron, name="octahedron", position=(0.6, 0, 0.6), angular_velocity=(1, 0, 2))
    world.run(seconds=1.0)
    return world


def finishes() -> World:
    """A ball, a box and a cylinder of each finish."""
    world = World()
    world.add(HalfSpace(), kind="static")
    colors = ("steelblue", "#f09a12", "#c9a56b", "#c0392b", "#8fd0c0")
    for k, (finish, color) in enumerate(zip(FINISHES, colors, strict=True)):
        look = {"finish": finish, "color": color}
        world.add(Sphere(0.2), position=(0.62 * k - 1.24, 0.25, 0.2), orientation=(0.8, 0.36, 0.48, 0.0), **look)
        world.add(Box((0.13, 0.1, 0.15)), position=(0.62 * k - 1.24, -0.3, 0.15), orientation=(0.97, 0, 0, 0.24), **look)
        world.add(Cylinder(0.11, 0.16), position=(0.62 * k - 1.24, 0.75, 0.16), **look)
    return world


def searches() -> None:
    """The pictures of docs/collision-search.md: those that its own code makes, in the folder of images."""
    page = (IMAGES.parent / "collision-search.md").read_text(encoding="utf-8")
    blocks = [code for code in re.findall(r"^```python\n(.*?)^```", page, re.M | re.S) if "still(" in code]
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for code in blocks:
            exec(compile(code, "snippet", "exec"), {"__name__": "snippet"})
        for name in ("search.png", "plane.png"):
            print(shutil.copy(name, IMAGES / name))
        os.chdir(here)


if __name__ == "__main__":
    IMAGES.mkdir(parents=True, exist_ok=True)
    print(still(struck_pyramid(), IMAGES / "pyramid.png", size=(1280, 640), preset="best", overlays=()))
    finished = Camera((0.7, -2.75, 1.25), (0.02, 0.12, 0.14), fov_degrees=31)
    print(still(finishes(), IMAGES / "finishes.jpg", size=(960, 480), preset="best", camera=finished, overlays=()))
    look = {"size": (800, 560), "fps": 20, "start": 0.2, "speed": 0.4, "quality": 24, "overlays": (), "title": False}
    look["graph"] = "energy"
    print(film(struck_house(), IMAGES / "house.webp", camera=Camera((0.26, -0.96, 0.36), (0.05, 0.0, 0.085)), **look))
    camera = CameraDef((0.6, -2.6, 1.1), (0.0, 0.0, 0.18), fov_degrees=30)
    print(still(shapes(), IMAGES / "shapes.png", size=(960, 480), preset="best", camera=camera, overlays=("names",)))
    searches()
    print(plots.energy_momentum(load("dropped_cuboids")().build().run(3.0), IMAGES / "energy.png"))
