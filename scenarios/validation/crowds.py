"""Many bodies: the scenes of the SimBenchmark, with its parameters (github.com/leggedrobotics/SimBenchmark)."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tumble import Box, ConstantForce, HalfSpace, Sphere, World
from tumble.scenarios.validation.case import Measure, case
from tumble.scenarios.validation.lab import G, advance, of_catalog, on_floor


def rolling(degrees: float) -> World:
    """A box of 20 x 20 x 1 m and 10 kg with 25 spheres of 1 kg on it, pushed by 150 N in a heading."""
    world = World()
    world.add(HalfSpace(), kind="static", friction=0.4, name="ground")
    box = world.add(Box((10, 10, 0.5)), mass=10.0, position=(0, 0, 0.5), friction=0.4, name="box")
    for i in range(5):
        for j in range(5):
            ball = world.add(Sphere(0.5), mass=1.0, position=(2.0 * i - 4, 2.0 * j - 4, 1.5), friction=0.8)
            world.set_pair(ball, box, friction=0.8)
    a = math.radians(degrees)
    world.add_force(ConstantForce(force=(150 * math.cos(a), 150 * math.sin(a), 0)), bodies=[box])
    return world


@case("V28", "Balls on a pushed box")
def balls_on_a_box() -> Iterator[Measure]:
    """SimBenchmark's scene "rolling": a box is pushed from under 25 balls, slides on the floor (mu = 0.4), and the balls roll
    on it. Of the push of 150 N friction leaves 12.7 N, so that errors of friction show tenfold. The known answer for the
    accelerations: a_box = 3.5 a_ball, and F - mu g (M + 25 m) = M a_box + 25 m a_ball."""
    ball = (150 - 0.4 * 35 * G) / (35 + 25)
    for degrees in (60, 0):
        world = advance(rolling(degrees), 4)
        a = math.radians(degrees)
        along, across = np.array((math.cos(a), math.sin(a))), np.array((-math.sin(a), math.cos(a)))
        v = world.velocities[1:, :2]
        speeds = v @ along
        square = float(np.mean(np.append((speeds[0] - 14 * ball) ** 2, (speeds[1:] - 4 * ball) ** 2)))
        yield Measure(f"{degrees} degrees: acceleration of the box, relative", abs(speeds[0] / (14 * ball) - 1), 1e-9)
        yield Measure(f"{degrees} degrees: acceleration of the balls, relative", np.abs(speeds[1:] / (4 * ball) - 1).max(), 1e-9)
        off = math.degrees(np.abs(np.arctan2(v @ across, speeds)).max())
        yield Measure(f"{degrees} degrees: direction of the motion", off, 1e-6, "degrees")
        yield Measure(f"{degrees} degrees: mean square error of the velocities", square, 1e-20, "m^2/s^2")
    world = on_floor(friction=0.0, dt=0.01)
    for k in range(49):
        world.add(Sphere(0.1), mass=10.0, position=(k % 7, k // 7, 5), friction=0.0, restitution=1.0)
    start, worst = world.energy().total, 0.0
    for _ in range(20):
        advance(world, 1)
        worst = max(worst, abs(world.energy().total / start - 1))
    yield Measure("bouncing: 49 elastic balls for 20 s, dt 0.01 s, energy, relative", worst, 1e-12)


def _followed(world: World, seconds: float) -> dict[str, float]:
    """Worst values over a run, looked at every hundredth of a second or step."""
    start, centre = world.energy().total, world.positions[1:, :2].mean(axis=0)
    last, out = start, dict.fromkeys(("square", "rise", "aside", "turn", "depth"), 0.0)
    steps, every = round(seconds / world.dt), max(1, round(0.01 / world.dt))
    for _ in range(steps // every):
        world.step(every)
        now = world.energy().total
        out["square"] += (now - start) ** 2 * every / steps
        out["rise"] = max(out["rise"], now - last)
        out["aside"] = max(out["aside"], np.abs(world.positions[1:, :2].mean(axis=0) - centre).max())
        out["turn"] = max(out["turn"], abs(world.angular_momentum()[2]))
        gaps = world.contacts()["gap"]
        out["depth"] += float(np.sum(np.minimum(gaps, 0.0) ** 2)) * every / steps
        last = now
    return out


@case("V28a", "666 balls fall together", long=True)
def inelastic_heap() -> Iterator[Measure]:
    """SimBenchmark's scene "666": a cube of 6 x 6 x 6 balls falls on the floor and apart, for 10 s, with restitution e = 0 and
    friction mu = 0. Nothing can push the heap aside or turn it, and nothing can give it energy. The method is not exact where
    balls roll off each other: in one step of 0.01 s the energy may rise by 3.9e-6 of it, with half the step by a quarter of
    that."""
    world = of_catalog("balls_666")
    energy = world.energy().total
    found = _followed(world, 10)
    yield Measure("rise of the energy in a step, relative", found["rise"] / energy, 1e-6)
    yield Measure("motion of the centre of mass to the side", found["aside"], 1e-9, "m")
    yield Measure("angular momentum about the vertical", found["turn"], 1e-9, "kg m^2/s")
    yield Measure("sum of squared depths, mean over the steps", found["depth"], 1e-6, "m^2")


@case("V28b", "666 elastic balls", long=True)
def elastic_heap() -> Iterator[Measure]:
    """SimBenchmark's scene "elastic 666": the same balls, from 1 m higher and with restitution e = 1. They keep their 34.5
    kJ."""
    for dt in (0.01, 0.001):
        world = of_catalog("balls_666", dt, restitution=1.0, height=1.101)
        found = _followed(world, 10)
        yield Measure(f"dt {dt:g} s: mean square error of the energy", found["square"], 1e-3, "J^2")
        yield Measure(f"dt {dt:g} s: motion of the centre of mass to the side", found["aside"], 1e-9, "m")
