"""Measure the integrators against the step and write the tables of docs/free-motion.md: ``python tools/drift_table.py``.

tests/test_readme.py holds the page to what is measured.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.peers.page import write_measured
from tumble.collision import Box
from tumble.scenarios.validation.answers.tops import FreeTop
from tumble.sim import CentralGravity, World
from tumble.sim.flight.methods.integrators import INTEGRATORS
from tumble.sim.ledger.diagnostics import rotations

PAGE = Path(__file__).resolve().parent.parent / "docs" / "free-motion.md"
STEPS = (30, 60, 120, 240, 480)  # a second
MARK = "measured: tools/drift_table.py"
GM = 4 * np.pi**2 / 100  # an orbit of 1 m takes 10 s


def cuboid(integrator: str, n: int) -> World:
    """0.5 x 0.1 x 0.25 m and 12.5 kg, turning from (1, 2, 3) rad/s."""
    world = World(gravity=(0, 0, 0), dt=1 / n, integrator=integrator)
    world.add(Box((0.25, 0.05, 0.125)), mass=12.5, angular_velocity=(1, 2, 3))
    return world


def attitude(integrator: str, n: int) -> float:
    """Error of the rotation matrix (Frobenius norm) after 10 s, against Jacobi's elliptic functions."""
    world = cuboid(integrator, n)
    moments = world.bodies[0].inertia
    world.step(10 * n)
    return float(np.linalg.norm(rotations(world.orientations)[0] - FreeTop(np.diag(moments), (1, 2, 3)).attitude(10)))


def _energy(world: World, seconds: float) -> float:
    """Largest relative error of the energy, seen a hundred times."""
    before, worst = world.energy().total, 0.0
    for _ in range(100):
        world.step(max(1, round(seconds / world.dt / 100)))
        worst = max(worst, abs(world.energy().total / before - 1))
    return worst


def energy(integrator: str, n: int) -> float:
    return _energy(cuboid(integrator, n), 10)


def long_energy(integrator: str, n: int) -> float:
    return _energy(cuboid(integrator, n), 1000)


def orbit(integrator: str, n: int) -> float:
    """The same of an orbit of eccentricity 0.3 and 10 s, over a hundred turns; the energy of the motion of the centre."""
    world = World(gravity=(0, 0, 0), dt=1 / n, integrator=integrator)
    world.add(Box((0.1, 0.1, 0.1)), mass=1.0, position=(0.7, 0, 0), velocity=(0, np.sqrt(GM * 1.3 / 0.7), 0))
    world.add_force(CentralGravity(gm=GM))
    return _energy(world, 1003)


def momentum(integrator: str, n: int) -> float:
    """Largest relative change of angular momentum of the cuboid in 10 s."""
    world = cuboid(integrator, n)
    before, worst = world.angular_momentum(), 0.0
    for _ in range(100):
        world.step(n // 10)
        worst = max(worst, float(np.linalg.norm(world.angular_momentum() - before) / np.linalg.norm(before)))
    return worst


TABLES: dict[str, tuple[str, Callable[[str, int], float]]] = {
    "attitude": ("Attitude after 10 s, error of the rotation matrix", attitude),
    "energy": ("Energy in 10 s, largest relative error", energy),
    "long": ("Energy in 1000 s, largest relative error", long_energy),
    "orbit": ("An orbit of eccentricity 0.3, a hundred turns of 10 s: energy, largest relative error", orbit),
}


def number(value: float) -> str:
    return "< 1e-12" if value < 1e-12 else f"{value:.1e}"


def cost(integrator: str) -> float:
    """Microseconds for a body and a step: 1000 boxes that tumble far from each other."""
    world = World(gravity=(0, 0, -9.81), integrator=integrator)
    for k in range(1000):
        place = 10 * (k % 10), 10 * (k // 10 % 10), 10 * (k // 100)
        world.add(Box((0.1, 0.2, 0.3)), mass=1.0, position=place, angular_velocity=(1, 2, 3))
    world.step(10)
    best = np.inf
    for _ in range(5):
        begun = time.process_time()
        world.step(20)
        best = min(best, time.process_time() - begun)
    return best / 20 / 1000 * 1e6


def text() -> Iterator[str]:
    for title, measure in TABLES.values():
        yield f"\n**{title}**\n"
        yield "| dt | " + " | ".join(f"1/{n}" for n in STEPS) + " |"
        yield "|---" * (len(STEPS) + 1) + "|"
        for name in INTEGRATORS:
            yield f"| `{name}` | " + " | ".join(number(measure(name, n)) for n in STEPS) + " |"
    worst = max(momentum(name, n) for name in INTEGRATORS for n in STEPS)
    yield f"\nAngular momentum of the free cuboid: kept by all to {max(worst, 1e-16):.0e}, relative.\n"
    yield "| microseconds for a body and a step | " + " | ".join(f"`{name}`" for name in INTEGRATORS) + " |"
    yield "|---" * (len(INTEGRATORS) + 1) + "|"
    yield "| 1000 boxes that tumble and fall, on one core | " + " | ".join(f"{cost(name):.2g}" for name in INTEGRATORS) + " |"


def main() -> None:
    write_measured(PAGE, MARK, "\n".join(text()) + "\n")


if __name__ == "__main__":
    main()
