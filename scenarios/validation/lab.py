"""What the cases share: the step, gravity, and a few short words."""

from __future__ import annotations

import math

import numpy as np

from tumble import HalfSpace, Pose, World, load
from tumble.sim.ledger.diagnostics import rotations

G = 9.81  # m/s^2
STEP = 1 / 240  # s: of every case where nothing else is said


def advance(world: World, seconds: float) -> World:
    world.step(round(seconds / world.dt))
    return world


def attitude(world: World, body: int = 0) -> np.ndarray:
    return rotations(world.orientations)[body]


def distance(a: object, b: object) -> float:
    return float(np.linalg.norm(np.asarray(a) - np.asarray(b)))


def relative(a: object, b: object) -> float:
    """The distance of a from b, as part of the size of b."""
    return distance(a, b) / float(np.linalg.norm(b))


def angle(a: np.ndarray, b: np.ndarray) -> float:
    """Between two vectors [rad]; exact for small ones too."""
    return math.atan2(float(np.linalg.norm(np.cross(a, b))), float(a @ b))


def pose_of(rotation: np.ndarray) -> tuple[float, ...]:
    """The quaternion of a rotation matrix (3, 3)."""
    return Pose.from_matrix(rotation).orientation


def of_catalog(name: str, dt: float = STEP, **parameters: float) -> World:
    """The world of a scene of the catalog, at this step."""
    scene = load(name)(**parameters)
    scene.dt = dt
    return scene.build()


def on_floor(friction: float = 0.5, **options) -> World:
    """A world with a floor, and nothing on it so far."""
    world = World(**options)
    world.add(HalfSpace(), kind="static", friction=friction)
    return world


def slope(
    degrees: float, mu: float, shape, height: float, fall: float = 0.0, heading: float = 0.0, turn=(1, 0, 0, 0), dt: float = STEP,
    **body,
) -> World:  # fmt: skip
    """A body on a floor whose gravity is tilted, downhill along +x turned by ``fall``; the body by ``heading`` or ``turn``."""
    a = math.radians(degrees)
    world = on_floor(
        friction=mu, gravity=(G * math.sin(a) * math.cos(fall), G * math.sin(a) * math.sin(fall), -G * math.cos(a)), dt=dt
    )
    q = (math.cos(heading / 2), 0, 0, math.sin(heading / 2)) if heading else turn
    world.add(shape, position=(0, 0, height), orientation=q, friction=mu, **body)
    return world
