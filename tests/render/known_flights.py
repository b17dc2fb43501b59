"""Scenes for the tests of pictures, and runs whose motion is known in closed form, made without stepping anything."""

from __future__ import annotations

import json

import numpy as np

from tumble.collision.pose import Pose
from tumble.collision.shapes.definitions import Box, Capsule, Compound, Cone, ConvexHull, Cylinder, Ellipsoid, HalfSpace, Sphere
from tumble.render.frames.frame import Frame, cast_of
from tumble.render.rotation import multiply
from tumble.sim.recording.run import Run
from tumble.sim.scene.scene import Scene


def turning(q0, omega, times):
    """Orientations (T, n, 4) at constant angular velocities ``omega`` (n, 3)."""
    rate = np.linalg.norm(omega, axis=1)
    axis = omega / np.where(rate > 0, rate, 1.0)[:, None]
    half = 0.5 * np.multiply.outer(times, rate)
    return multiply(np.concatenate([np.cos(half)[..., None], np.sin(half)[..., None] * axis], axis=-1), q0)


def flight(scene: Scene, duration: float = 1.0, h: float = 1 / 60, gravity=(0.0, 0.0, -9.81)) -> Run:
    """A run in which all dynamic bodies fly and turn evenly, through anything: x = x0 + v t + g t^2 / 2."""
    times = np.arange(round(duration / h) + 1) * h
    moving = np.array([b.kind == "dynamic" for b in scene.bodies])[:, None]
    x0, v0, w0, q0 = (np.array([getattr(b, f) for b in scene.bodies], float) for f in FIELDS)
    t = times[:, None, None]
    g = np.array(gravity) * moving
    positions, velocities = x0 + t * v0 + 0.5 * t * t * g, v0 + t * g
    n, zero = len(scene.bodies), np.zeros(len(times))
    mass = np.array([b.mass_properties()[0] if b.kind == "dynamic" else 0.0 for b in scene.bodies])
    kinetic = 0.5 * np.einsum("n,tni,tni->t", mass, velocities, velocities)
    potential = -np.einsum("n,tni,i->t", mass, positions, np.array(gravity))
    arrays = {
        "time": times,
        "position": positions,
        "orientation": turning(q0, w0, times),
        "velocity": velocities,
        "angular_velocity": np.broadcast_to(w0, (len(times), n, 3)).copy(),
        "kinetic_linear": kinetic,
        "kinetic_angular": zero + 2.5,
        "potential": potential,
        "energy": kinetic + potential + 2.5,
        "momentum": np.einsum("n,tni->ti", mass, velocities),
        "angular_momentum": np.broadcast_to([0.1, 0.2, 0.3], (len(times), 3)).copy(),
        "penetration": zero,
        **{f"ledger_{name}": zero for name in ("external", "contact", "friction", "restitution", "integrator", "moved")},
    }
    return Run(arrays, tuple(b.name for b in scene.bodies), {"scene": json.dumps(scene.to_dict())})


FIELDS = ("position", "velocity", "angular_velocity", "orientation")


def two_cuboids() -> Scene:
    scene = Scene(name="two_cuboids")
    scene.add(Box((0.15, 0.1, 0.2)), position=(-0.5, 0, 0), velocity=(0.5, 0, 0), angular_velocity=(1, 2, 3))
    scene.add(Box((0.15, 0.15, 0.12)), position=(0.4, 0.1, 0), velocity=(-0.4, 0, 0), angular_velocity=(0, 2, -3))
    return scene


def zoo() -> Scene:
    scene = Scene(name="zoo")
    scene.add(HalfSpace(), kind="static")
    cross = Compound([(Box((0.1, 0.1, 0.3)), Pose()), (Box((0.3, 0.1, 0.1)), Pose((0.2, 0, -0.2)))])
    points = np.random.default_rng(5).normal(size=(30, 3)) * 0.17
    shapes = (
        Box((0.2, 0.15, 0.3)),
        Sphere(0.25),
        Cylinder(0.15, 0.3),
        Cone(0.2, 0.3),
        Capsule(0.12, 0.2),
        Ellipsoid((0.1, 0.2, 0.3)),
    )
    for i, shape in enumerate((*shapes, ConvexHull(points), cross)):
        scene.add(shape, position=(0.75 * (i % 4) - 1.1, 0.8 * (i // 4), 0.5), orientation=(0.96, 0.28 * 0.6, 0.28 * 0.8, 0))
    return scene


def frame_of(scene: Scene) -> Frame:
    """The scene as it starts."""
    cast = cast_of(scene.bodies, scene.name)
    positions, orientations = ([getattr(b, field) for b in scene.bodies] for field in ("position", "orientation"))
    return Frame(cast, 0.0, np.reshape(positions, (-1, 3)), np.reshape(orientations, (-1, 4)))
