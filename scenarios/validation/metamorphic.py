"""The same scene twice: moved, turned, renumbered, heavier, taken up again."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from tumble import BodyDef, Box, Scene, World, load
from tumble.scenarios.validation.answers.tops import turn
from tumble.scenarios.validation.case import Measure, case
from tumble.scenarios.validation.lab import advance, pose_of
from tumble.sim.ledger.diagnostics import rotations

GROUND = Box((20, 20, 0.5))  # a box, for it must be able to move


def cuboids() -> Scene:
    """V14 with some way to go before the impact, and after it."""
    return load("two_cuboids")(lead=0.2)


def rocking() -> Scene:
    """V22: a block rocks on its edges."""
    return _on_ground(load("rocking_block")(tilt=0.15).bodies[1])


def dropped() -> Scene:
    """V32: a cuboid falls askew."""
    return _on_ground(
        BodyDef(
            Box((0.25, 0.05, 0.125)), name="cuboid", mass=12.5, position=(0, 0, 0.6), angular_velocity=(1, 2, 3),
            orientation=pose_of(turn((1, 1, 0.3), 0.7)), friction=0.5, restitution=0.3,
        )
    )  # fmt: skip


def _on_ground(body: BodyDef) -> Scene:
    ground = BodyDef(GROUND, name="ground", kind="kinematic", position=(0, 0, -0.5), friction=body.friction)
    return Scene(bodies=[ground, body])


SCENES: dict[str, tuple[Callable[[], Scene], float]] = {  # and until when: chaotic ones up to their first impacts
    "cuboids": (cuboids, 1.0),
    "rocking": (rocking, 0.45),
    "dropped": (dropped, 0.35),
}


def changed(scene: Scene, **changes: Callable[[BodyDef], dict]) -> World:
    """A world of a scene whose bodies were changed."""
    (change,) = changes.values()
    scene.bodies = [body.replace(**change(body)) for body in scene.bodies]
    return scene.build()


def state(world: World) -> dict[str, tuple[np.ndarray, ...]]:
    """Position, attitude, velocity and angular velocity by the names of the bodies."""
    rows = zip(world.positions, rotations(world.orientations), world.velocities, world.angular_velocities, strict=True)
    return dict(zip(world.names, rows, strict=True))


def off(a: dict, b: dict, parts: range = range(4)) -> float:
    return max(np.abs(a[name][k] - b[name][k]).max() for name in a for k in parts)


@case("V29", "The same scene, changed")
def metamorphic() -> Iterator[Measure]:
    """Three scenes: two cuboids that collide, a rocking block, a dropped cuboid. Each runs again with a velocity of (3, -2, 0)
    m/s given to all bodies and the ground, turned by 37 degrees and moved by 100 m, with its bodies in the other order, with 7
    times the masses, and saved half way and loaded. Each must give the same motion, seen from there."""
    rot, shift, wind = turn((0, 0, 1), math.radians(37)), np.array((100, -50, 0)), np.array((3, -2, 0))
    for name, (make, seconds) in SCENES.items():
        world = advance(make().build(), seconds)
        plain = state(world)
        yield Measure(f"{name}: number of impacts", world.statistics()["impacts"], 1, least=True)

        def moving(body: BodyDef) -> dict:
            return {"velocity": body.velocity + wind}

        found = state(advance(changed(make(), change=moving), seconds))
        back = {k: (x - wind * seconds, r, v - wind, w) for k, (x, r, v, w) in found.items()}
        yield Measure(f"{name}: with a velocity added", off(back, plain), 1e-9)

        def turned(body: BodyDef) -> dict:
            q = pose_of(rot @ _matrix(body.orientation))
            v, w = rot @ body.velocity, rot @ body.angular_velocity
            return {"position": rot @ body.position + shift, "orientation": q, "velocity": v, "angular_velocity": w}

        found = state(advance(changed(make(), change=turned), seconds))
        back = {k: (rot.T @ (x - shift), rot.T @ r, rot.T @ v, rot.T @ w) for k, (x, r, v, w) in found.items()}
        yield Measure(f"{name}: turned and moved", off(back, plain), 1e-8)

        scene = make()
        scene.bodies.reverse()
        yield Measure(f"{name}: bodies in the other order", off(state(advance(scene.build(), seconds)), plain), 1e-9)

        def heavier(body: BodyDef) -> dict:
            mass, center, inertia = body.mass_properties()
            return {"mass": 7 * mass, "inertia": 7 * inertia, "center_of_mass": center} if body.kind == "dynamic" else {}

        found = state(advance(changed(make(), change=heavier), seconds))
        yield Measure(f"{name}: 7 times as heavy", off(found, plain), 1e-9)

        half = advance(make().build(), seconds / 2)
        with tempfile.TemporaryDirectory() as folder:
            half.save(Path(folder) / "world")
            again = World.load(Path(folder) / "world")
        again.step(world.step_count - again.step_count)
        yield Measure(f"{name}: saved and loaded, bits that differ", float(again.state_hash() != world.state_hash()), 0.0)


def _matrix(q: object) -> np.ndarray:
    return rotations(np.array([q], float))[0]
