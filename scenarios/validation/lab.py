"""What the cases share: the step, gravity, and a few short words."""

from __future__ import annotations

import math

import numpy as np

from sim import World
from sim.diagnostics import rotations

G = 9.81  # m/s^2
STEP = 1 / 240  # s: of every case where nothing else is said


def advance(world: World, seconds: float) -> World:
    world.step(round(seconds / world.dt))
    return world


def attitude(world: World, body: int = 0) -> np.ndarray:
    return rotations(world.orientations)[body]


def distance(a: object, b: object) -> float:
    return float(np.linalg.norm(np.asarray(a) - np.asarray(b)))


def angle(a: np.ndarray, b: np.ndarray) -> float:
    """Between two vectors [rad]; exact for small ones too."""
    return math.atan2(float(np.linalg.norm(np.cross(a, b))), float(a @ b))
