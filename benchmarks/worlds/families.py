"""Worlds that are hard in one way each: a family is a function of a seed and a step. Seed 0 of some is a case once found bad."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from benchmarks.worlds import draw
from benchmarks.worlds.changes import Scale
from benchmarks.worlds.measure import Look, Trial
from tumble.collision import Box, Cone, ConvexHull, Cylinder, Ellipsoid, HalfSpace
from tumble.scenarios.registry import load
from tumble.sim import Body, Scene, World
from tumble.sim.ledger.diagnostics import rotations

STEP = 1 / 240
ROOM = 0.3  # [m] half the side of the box of a gas
PLATE = 1e-4  # [m] thickness
ROWS = {  # changes of the row of dominoes: of length, mass and time
    "itself": Scale(),
    "gravity x 4": Scale(time=0.5),
    "Froude, 4 times as large": Scale(length=4.0, mass=64.0, time=2.0),
    "Froude, a quarter": Scale(length=0.25, mass=2.0**-6, time=0.5),
    "1024 times as heavy": Scale(mass=1024.0),
    "gravity x 2": Scale(time=math.sqrt(0.5)),
}

Family = Callable[[int, float], Trial]


def _rng(seed: int, family: int) -> np.random.Generator:
    return np.random.default_rng((family, seed))


def _on_floor(name: str, seed: int, dt: float, seconds: float, **surface: float) -> Scene:
    scene = Scene(name=f"{name}_{seed}", dt=dt, duration=seconds, seed=seed)
    scene.add(HalfSpace(), kind="static", name="floor", **surface)
    return scene


def _tossed(rng: np.random.Generator, speed: float = 2.0, spin: float = 5.0) -> dict[str, tuple[float, ...]]:
    q, v, w = rng.normal(size=4), rng.normal(size=3) * speed, rng.normal(size=3) * spin
    return {
        "orientation": tuple((q / np.linalg.norm(q)).tolist()),
        "velocity": (*v[:2].tolist(), -abs(float(v[2]))),
        "angular_velocity": tuple(w.tolist()),
    }


def random(seed: int, dt: float) -> Trial:
    """2 to 12 mixed bodies for 3 s."""
    return Trial(draw.world(seed, dt))


def coins(seed: int, dt: float) -> Trial:
    """A tossed coin of 0.1 m and 20 mm, friction 0.5, no restitution, 2 s. Seed 0 once sank by 8 mm."""
    scene = _on_floor("coin", seed, dt, 2.0)
    start = _tossed(_rng(seed, 1))
    if seed == 0:
        start = {
            "orientation": (math.cos(1), math.sin(1), 0, 0), "velocity": (-2, 0, -2), "angular_velocity": (7, 2, -8),
        }  # fmt: skip
    scene.add(Cylinder(0.1, 0.01), name="coin", position=(0, 0, 0.4), **start)
    return Trial(scene)


def cones(seed: int, dt: float) -> Trial:
    """A tossed cone of 0.1 m. Seed 0 once gained 4 % of its energy in a step."""
    scene = _on_floor("cone", seed, dt, 2.0)
    start = _tossed(_rng(seed, 2))
    if seed == 0:
        start = {"orientation": (math.cos(0.4), math.sin(0.4), 0, 0), "velocity": (1, 0, 1), "angular_velocity": (1, -3, 7)}
    scene.add(Cone(0.1, 0.1), name="cone", position=(0, 0, 0.4), **start)
    return Trial(scene)


def ellipsoids(seed: int, dt: float) -> Trial:
    """An ellipsoid thrown at up to 10 m/s, restitution 0 or 0.5."""
    rng = _rng(seed, 3)
    e = float(rng.choice((0.0, 0.5)))
    scene = _on_floor("ellipsoid", seed, dt, 2.0, restitution=e)
    start = _tossed(rng)
    start["velocity"] = tuple(v * float(rng.uniform(0, 10)) / math.hypot(*start["velocity"]) for v in start["velocity"])
    radii = tuple(rng.uniform(0.03, 0.12, 3).tolist())
    scene.add(Ellipsoid(radii), name="ellipsoid", position=(0, 0, 0.4), restitution=e, **start)
    return Trial(scene)


def _gas(seed: int, dt: float, shape, family: int) -> Trial:
    """Twelve elastic smooth bodies in a box of 0.6 m without gravity, 1 s, by the seed at 2, 4 or 8 m/s."""
    speed, rng = (2.0, 4.0, 8.0)[seed % 3], _rng(seed, family)
    scene = Scene(name=f"gas_{seed}", dt=dt, duration=1.0, gravity=(0, 0, 0), seed=seed)
    surface = {"restitution": 1.0, "friction": 0.0}
    for k, axis in enumerate(np.vstack([np.eye(3), -np.eye(3)])):
        scene.add(HalfSpace(tuple(axis.tolist()), -ROOM), kind="static", name=f"wall_{k}", **surface)
    places = [(x, y, z) for x in (-0.18, 0, 0.18) for y in (-0.1, 0.1) for z in (-0.1, 0.1)]
    for k, place in enumerate(places):
        start = _tossed(rng)
        v = rng.normal(size=3)
        start["velocity"] = tuple((v * speed / np.linalg.norm(v)).tolist())
        scene.add(shape, name=f"body_{k}", position=place, **start, **surface)

    def changed(world: World) -> Look:
        start = world.energy().total
        return lambda world: abs(world.energy().total / start - 1)

    return Trial(scene, {"changed": (1e-9, changed)})


def gas_boxes(seed: int, dt: float) -> Trial:
    return _gas(seed, dt, Box((0.04, 0.04, 0.04)), 4)


def gas_tetrahedra(seed: int, dt: float) -> Trial:
    corners = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]) * 0.04
    return _gas(seed, dt, ConvexHull(corners), 5)


def _centre(body: Body) -> np.ndarray:
    """Its centre of mass: a hull may lie on one side of its origin."""
    return body.position + rotations(body.orientation[None])[0] @ body.center_of_mass


def plates(seed: int, dt: float) -> Trial:
    """A body of 2 cm shot at a plate of 0.1 mm at 30 m/s to 1 km/s, without gravity; it must not get to the other side."""
    rng = _rng(seed, 6)
    scene = Scene(name=f"plate_{seed}", dt=dt, integrator="exact", duration=0.1, gravity=(0, 0, 0), seed=seed)
    surface = {"restitution": 0.5, "friction": 0.3}
    scene.add(Box((PLATE / 2, 50.0, 50.0)), kind="static", name="plate", **surface)
    speed, aside = 30.0 * (1000 / 30) ** rng.random(), rng.normal(size=2) * 0.3
    start = _tossed(rng)
    v = np.array([-1.0, *aside])
    start["velocity"] = tuple((v * speed / np.linalg.norm(v)).tolist())
    ahead = 0.05 + speed * dt * rng.random()  # strikes at any phase of a step
    scene.add(draw.some_shape(rng, 0.012), name="shot", position=(ahead, 0, 0), **start, **surface)
    return Trial(scene, {"passed": (0.0, lambda world: lambda world: float(_centre(world["shot"])[0] < 0))})


def rolling(seed: int, dt: float) -> Trial:
    """Rolls without slip or loss: an ellipsoid that rocks from 0.5 rad, 10 s (even seeds), a coin, 6 s (odd ones)."""
    coin, rng = seed % 2 == 1, _rng(seed, 7)
    scene = _on_floor("rolls", seed, dt, 6.0 if coin else 10.0, friction=100.0)
    if coin:
        lean, spin = (0.3, 12.0) if seed == 1 else (rng.uniform(0.1, 0.5), rng.uniform(8, 16))
        r, h = 0.1, 0.01
        # the rim touches at the origin of the world; the coin's axis, along x, leans by turning about y
        c, s = math.cos(lean), math.sin(lean)
        axis, down = np.array((c, 0, -s)), np.array((-s, 0, -c))
        arm = -(r * down + h * axis)  # from the lowest point of the rim to the middle
        w = spin * axis
        half = (math.pi / 2 + lean) / 2
        scene.add(
            Cylinder(r, h), name="coin", position=tuple(arm.tolist()), orientation=(math.cos(half), 0, math.sin(half), 0),
            velocity=tuple(np.cross(w, arm).tolist()), angular_velocity=tuple(w.tolist()), friction=100.0,
        )  # fmt: skip
    else:
        a, b, c = (0.15, 0.08, 0.1) if seed == 0 else rng.uniform(0.06, 0.15, 3).tolist()
        angle = 0.5
        height = math.hypot(a * math.sin(angle), c * math.cos(angle))
        scene.add(
            Ellipsoid((a, b, c)), name="ellipsoid", position=(0, 0, height),
            orientation=(math.cos(angle / 2), 0, math.sin(angle / 2), 0), friction=100.0,
        )  # fmt: skip

    def damped(world: World) -> Look:
        start, most = world.energy().total, 1e-3 * abs(world.energy().total)

        def look(world: World) -> float:
            nonlocal most
            energy = world.energy()
            most = max(most, energy.kinetic_linear + energy.kinetic_angular)
            return abs(energy.total - start) / most

        return look

    return Trial(scene, {"damped": (1e-5, damped)})


def dominoes(seed: int, dt: float) -> Trial:
    """A row of 12 dominoes, by the seed as it is or scaled: it stays in its plane, and ends where the row as it is does."""
    scale = list(ROWS.values())[seed % len(ROWS)]
    plain = replace(load("dominoes")(), dt=dt)
    scene = scale.scene(plain)
    scene.name = f"dominoes, {list(ROWS)[seed % len(ROWS)]}"
    size = 0.048 * scale.length

    def aside(world: World) -> Look:
        return lambda world: float(np.abs(world.positions[1:, 1]).max() / size)

    def scaled(world: World) -> Look:
        other = plain.build()

        def look(world: World) -> float:
            other.step(world.step_count - other.step_count)
            return float(np.abs(world.positions[1:] / scale.length - other.positions[1:]).max() / 0.048)

        return look

    return Trial(scene, {"aside": (1e-10, aside), "scaled": (1e-9, scaled)})


FAMILIES: dict[str, Family] = {
    f.__name__: f
    for f in (random, coins, cones, ellipsoids, gas_boxes, gas_tetrahedra, plates, rolling, dominoes)
}  # fmt: skip
EXTRAS = {
    "changed": "an elastic gas changes its energy, relative",
    "passed": "a body gets through the plate",
    "damped": "rolling loses energy, of the largest kinetic energy",
    "aside": "a symmetric row leaves its plane, of a domino",
    "scaled": "a scaled row ends elsewhere, of a domino",
}
