"""Worlds at the ends of what numbers hold: python -m benchmarks.hazards --count 1000

Sizes from 1e-9 to 1e9 m, masses in a ratio of up to 1e12, speeds to 1e5 m/s, spins to 1e5 rad/s, gravity to 1e6 m/s^2, steps from
1e-7 to 1 s, bodies that start in each other or in the same place, shapes without thickness, inertias in a ratio of up to 1e6.
Each world is stepped in a process of its own, and ends in one of these ways, or it is a finding:

    kept      finite and bounded, the books close
    told      finite and bounded; the books do not close to rounding, and ``ledger.residual`` and ``promises()`` say by how much
    burst     faster than anything can make it, and promises() says so: bodies that start deep in each other may be thrown apart
    slow      not at its end after 10 s of processor time: thousands of turns or sizes to search through in a step
    stopped   one SimulationError with bodies, step and reason; the world is as before the step, and can be saved and loaded
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from tumble.collision import Box, Capsule, Cone, ConvexHull, Cylinder, Ellipsoid, HalfSpace, InputError, Sphere
from tumble.sim import SimulationError, World

STEPS = 20
SHAPES = ("sphere", "box", "capsule", "cylinder", "cone", "ellipsoid", "hull", "plate", "rod", "flat")


def shape(rng: np.random.Generator, size: float):
    """Some shape of about this size [m]; plates, rods and flat hulls have no thickness, or hardly any."""
    kind = SHAPES[rng.integers(len(SHAPES))]
    a, b, c = size * rng.uniform(0.2, 1.0, 3)
    thin = 10 ** rng.uniform(-9, -3)
    return {
        "sphere": lambda: Sphere(a),
        "box": lambda: Box((a, b, c)),
        "capsule": lambda: Capsule(a, b),
        "cylinder": lambda: Cylinder(a, b),
        "cone": lambda: Cone(a, b),
        "ellipsoid": lambda: Ellipsoid((a, b, c)),
        "hull": lambda: ConvexHull(rng.normal(size=(8, 3)) * size),
        "plate": lambda: Box((a, b, thin * c)),
        "rod": lambda: Box((a, thin * b, thin * c)),
        "flat": lambda: ConvexHull(np.column_stack([rng.normal(size=(6, 2)) * size, np.zeros(6)])),
    }[kind]()


def world(seed: int) -> World:
    """A hazard by number."""
    rng = np.random.default_rng((7, seed))
    some = lambda low, high: 10 ** rng.uniform(low, high)  # noqa: E731
    size = some(-9, 9)
    out = World(
        gravity=(0.0, 0.0, -(some(-3, 6) if rng.random() < 0.8 else 0.0)),
        dt=some(-7, 0),
        integrator=str(rng.choice(["rk4", "splitting", "exact"])),
        solver=str(rng.choice(["newton", "newton", "sweeps"])),
    )
    if rng.random() < 0.6:
        out.add(HalfSpace(), kind="static", friction=rng.uniform(0, 1))
    places = rng.normal(size=(5, 3)) * size * rng.choice([0.0, 0.3, 1.0, 3.0])  # in the same place, in each other, near, apart
    for place in places[: rng.integers(1, 6)]:
        kind = rng.random()
        speed, spin = (rng.choice([0.0, 1.0, some(0, 5)]) for _ in range(2))
        mass = size**3 * 1000 * some(-6, 6)
        first, second = mass * size**2 * np.array([some(-3, 3), 1.0])
        moments = (first, second, abs(first - second) + rng.uniform(0.01, 1.0) * 2 * min(first, second))
        direction = rng.normal(size=(2, 3))
        direction /= np.linalg.norm(direction, axis=1)[:, None]
        form = shape(rng, size * (some(-3, 0) if rng.random() < 0.3 else 1.0))
        flat = isinstance(form, ConvexHull) and not np.ptp(form.vertices, axis=0).all()
        given = {"mass": float(mass), "inertia": tuple(map(float, moments))} if kind > 0.7 or flat else {"mass": float(mass)}
        out.add(
            form,
            position=place + (0, 0, size * rng.uniform(0, 2)),
            velocity=speed * direction[0],
            angular_velocity=spin * direction[1],
            friction=rng.uniform(0, 1),
            restitution=rng.choice([0.0, 0.5, 1.0]),
            **given,
        )
    return out


def outcome(seed: int, steps: int = STEPS) -> tuple[str, str]:
    """("kept", "told", "stopped", "refused" or "finding", what there is to say)."""
    try:
        one = world(seed)
    except InputError as error:  # as for a flat hull without an inertia
        return "refused", str(error)
    try:
        energy = one.energy()
        scale = energy.kinetic_linear + energy.kinetic_angular
        one.step(steps)
    except SimulationError as error:
        return _stopped(one, error)
    except (InputError, ArithmeticError, ValueError) as error:
        return "finding", f"{type(error).__name__}: {error}"
    if not np.isfinite(one.positions).all() or not np.isfinite(one.velocities).all() or not math.isfinite(one.energy().total):
        return "finding", "not finite, and nothing is said"
    speed = np.abs(one.velocities).max()
    bound = 1e3 * (1e5 + abs(one.settings.gravity[2]) * steps * one.dt) * 1e6  # of mass ratios that meet
    if not speed < bound:
        told = str(one.promises())
        return ("burst", told) if one.promises().missed else ("finding", f"{speed:g} m/s, from {scale:g} J, and nothing is said")
    if one.ledger.closes:
        return "kept", ""
    told = one.promises()
    return (
        ("told", str(told))
        if told.missed
        else ("finding", f"the books are open by {one.ledger.residual:g} J, and nothing is said")
    )


def _stopped(one: World, error: SimulationError) -> tuple[str, str]:
    """Whether an error says what it must, and the world is what it was before."""
    wrong = [] if error.reason and (error.step is not None or "joint" in error.reason) else ["no step, or no reason"]
    wrong += [] if error.names else ["no body"]
    wrong += [] if np.isfinite(one.positions).all() and np.isfinite(one.velocities).all() else ["a state that is not finite"]
    with tempfile.TemporaryDirectory() as folder:
        one.save(Path(folder) / "world.npz")
        again = World.load(Path(folder) / "world.npz")
    same = np.array_equal(again.positions, one.positions) and np.array_equal(again.velocities, one.velocities)
    wrong += [] if same else ["another world when it is loaded"]
    return ("finding", f"{error}: {', '.join(wrong)}") if wrong else ("stopped", str(error))


def apart(seed: int, seconds: int) -> tuple[str, str]:
    """The outcome of a world in a process of its own, which gets so many seconds of a processor."""
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        with warnings.catch_warnings(action="error", category=RuntimeWarning):  # NumPy's: findings
            try:
                said = outcome(seed)
            except Exception as error:
                said = "finding", f"{type(error).__name__}: {error}"
        os.write(write, json.dumps(said).encode()[:60_000])
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        said = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if said:
        return tuple(json.loads(said))
    return ("slow", "") if status in (-signal.SIGXCPU, -signal.SIGKILL) else ("finding", f"the program ends with {status}")


def run(count: int, first: int = 0, show=print, seconds: int = 10) -> tuple[Counter, list[str]]:
    """Outcomes of so many worlds, and the findings."""
    told, found = Counter(), []
    World().step(1)  # what is compiled and loaded is so here, once
    for seed in range(first, first + count):
        kind, said = apart(seed, seconds)
        told[kind] += 1
        if kind == "finding":
            found.append(f"world {seed}: {said}")
        if kind in ("finding", "slow", "burst"):
            show(f"world {seed}: {kind}: {said}")
        if (seed - first) % 50 == 49:
            show(f"{seed - first + 1} worlds: {dict(told)}")
    return told, found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=10, help="of a processor that a world may take")
    asked = parser.parse_args()
    begun = time.perf_counter()
    told, found = run(asked.count, asked.first, lambda text: print(text, flush=True), asked.seconds)
    print(f"{sum(told.values())} worlds in {time.perf_counter() - begun:.0f} s: {dict(told)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
