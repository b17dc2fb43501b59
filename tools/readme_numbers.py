"""Measure what the table in README.md says: ``python tools/readme_numbers.py``. tests/test_readme.py holds the table to it."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tumble.collision import Box, HalfSpace, Sphere
from tumble.scenarios.registry import load
from tumble.sim import World


class Case(NamedTuple):
    """A row of the table: what happens, the exact answer, what is measured, and the bound that the README states."""

    what: str
    exact: str
    bound: str
    unit: str
    measure: Callable[[], float]


def bouncing_sphere() -> float:
    """Largest error of the heights of 100 bounces with e = 1, against the closed form, at every step."""
    g, r, h, dt = 9.81, 0.1, 1.0, 1 / 60
    world = World(dt=dt)
    world.add(HalfSpace(), kind="static", restitution=1.0)
    ball = world.add(Sphere(r), position=(0, 0, r + h), restitution=1.0)
    half = math.sqrt(2 * h / g)  # s from the apex to the floor
    worst = 0.0
    while world.time < 200 * half:
        world.step()
        t = (world.time + half) % (2 * half) - half  # since the last apex
        worst = max(worst, abs(float(ball.position[2]) - (r + h - 0.5 * g * t * t)))
    return worst


def resting_box() -> float:
    world = World()
    world.add(HalfSpace(), kind="static")
    box = world.add(Box((0.5, 0.5, 0.5)), position=(0, 0, 0.5))
    world.step(2400)
    return float(np.linalg.norm(box.position - (0, 0, 0.5)))


def incline() -> float:
    """Error of the place of a box after 2 s down a slope of 30 degrees, mu = 0.3."""
    g, angle, mu = 9.81, math.radians(30), 0.3
    down, normal = np.array((math.cos(angle), 0, -math.sin(angle))), np.array((math.sin(angle), 0, math.cos(angle)))
    world = World()
    world.add(HalfSpace(normal=tuple(normal)), kind="static", friction=mu)
    turn = (math.cos(angle / 2), 0, math.sin(angle / 2), 0)
    box = world.add(Box((0.2, 0.2, 0.1)), position=tuple(0.1 * normal), orientation=turn, friction=mu)
    world.step(480)
    s = 0.5 * g * (math.sin(angle) - mu * math.cos(angle)) * 2.0**2
    return float(np.linalg.norm(box.position - (s * down + 0.1 * normal)))


def stack() -> float:
    world = load("stack")(boxes=10).build()
    start = world.positions
    world.step(1200)
    return float(np.abs(world.positions - start).max())


def flat_cube() -> float:
    """Largest angular speed of a cube with e = 1 that lands flat five times."""
    world = World()
    world.add(HalfSpace(), kind="static", restitution=1.0, friction=0.5)
    cube = world.add(Box((0.5, 0.5, 0.5)), position=(0, 0, 1.5), restitution=1.0, friction=0.5)
    worst = 0.0
    for _ in range(1080):
        world.step()
        worst = max(worst, float(np.abs(cube.angular_velocity).max()))
    assert world.statistics()["impacts"] >= 5
    return worst


def cradle() -> float:
    """Largest error of the velocities after the impact: one ball in, one ball out."""
    world = load("newtons_cradle")().build()
    world.step(480)
    assert world.statistics()["impacts"] >= 4
    return float(np.abs(world.velocities[:, 0] - (0, 0, 0, 0, 1)).max())


def dropped_books() -> float:
    """What the ledger can not explain of a throw of six boxes, as part of the energy moved."""
    world = load("dropped_cuboids")().build()
    world.step(720)
    return abs(world.ledger.residual) / world.ledger.moved


def free_momentum() -> float:
    """Change of momentum by an impact in free space, relative to the sum of |m v|."""
    world = load("two_cuboids")().build()
    start = world.momentum()
    size = sum(b.mass * float(np.linalg.norm(b.velocity)) for b in world.bodies)
    world.step(480)
    assert world.statistics()["impacts"] >= 1
    return float(np.linalg.norm(world.momentum() - start)) / size


def tumbling() -> float:
    """Change of the angular momentum of a tumbling free box over 10 s, relative."""
    world = World(gravity=(0, 0, 0))
    world.add(Box((0.5, 0.3, 0.1)), angular_velocity=(1, 5, 0.5))
    start = world.angular_momentum()
    world.step(2400)
    return float(np.linalg.norm(world.angular_momentum() - start) / np.linalg.norm(start))


CASES = (
    Case("sphere, e = 1, 100 bounces, dt = 1/60 s", "parabolas", "1e-12", "m", bouncing_sphere),
    Case("box at rest, 10 s", "stays", "1e-11", "m", resting_box),
    Case("box down a slope of 30°, friction 0.3, 2 s", "g (sin - µ cos) t²/2", "1e-11", "m", incline),
    Case("stack of 10 boxes, 5 s", "stays", "1e-10", "m", stack),
    Case("cube, e = 1, lands flat five times", "does not spin", "0", "rad/s", flat_cube),
    Case("Newton's cradle, five balls", "one in, one out", "1e-15", "m/s", cradle),
    Case("two boxes collide in free space: momentum", "kept", "1e-14", "", free_momentum),
    Case("free tumbling box, 10 s: angular momentum", "kept", "1e-15", "", tumbling),
    Case("six boxes thrown on the floor, 3 s: energy unexplained", "0", "1e-12", "", dropped_books),
)


def rows() -> Iterator[str]:
    for case in CASES:
        yield f"{case.what:58} {case.measure():.1e} {case.unit:6} README says {case.bound}"


if __name__ == "__main__":
    for row in rows():
        print(row, flush=True)
