"""Floors, tracks of triangles and legs that tests stand bodies on, and what is thrown at them."""

from __future__ import annotations

import itertools
import math

import numpy as np

from tests.meshes import CORNERS, TRIANGLES
from tumble.collision import Box, Capsule, Compound, Cone, ConvexHull, Cylinder, Ellipsoid, HalfSpace, Pose, Sphere, TriangleMesh
from tumble.sim import Hinge, Point, World


def uneven_floor(n: int = 60, size: float = 30.0, seed: int = 1) -> TriangleMesh:
    """A square floor at z = 0, its triangles of all sizes and cuts."""
    rng = np.random.default_rng(seed)
    lines = np.linspace(-size / 2, size / 2, n)
    x, y = (axis.copy() for axis in np.meshgrid(lines, lines, indexing="ij"))
    for axis in (x, y):
        axis[1:-1, 1:-1] += rng.uniform(-0.35, 0.35, (n - 2, n - 2)) * size / (n - 1)
    triangles, vertices = [], np.stack([x.ravel(), y.ravel(), np.zeros(n * n)], axis=1)
    for i, j in itertools.product(range(n - 1), repeat=2):
        a, b, c, d = i * n + j, (i + 1) * n + j, (i + 1) * n + j + 1, i * n + j + 1
        cuts = [[(a, b, c), (a, c, d)], [(a, b, d), (b, c, d)]]
        first = int(rng.random() >= 0.5)
        triangles += cuts[first if all(_turns_left(vertices[t, :2]) for t in map(list, cuts[first])) else 1 - first]
    return TriangleMesh(vertices, np.array(triangles))


def _turns_left(corners: np.ndarray) -> bool:
    """Of a cell with a corner that points inward one of the two cuts folds over."""
    (ux, uy), (vx, vy) = corners[1] - corners[0], corners[2] - corners[0]
    return bool(ux * vy > uy * vx)


def box_mesh(half: tuple[float, float, float]) -> TriangleMesh:
    return TriangleMesh(CORNERS * half, TRIANGLES)


def strip(profile: list[tuple[float, float]], ys: np.ndarray) -> TriangleMesh:
    """A profile (x, z), drawn out along y."""
    n = len(ys)
    vertices = [(x, y, z) for x, z in profile for y in ys]
    starts = [i * n + j for i in range(len(profile) - 1) for j in range(n - 1)]
    return TriangleMesh(vertices, [triple for a in starts for triple in ((a, a + n, a + n + 1), (a, a + n + 1, a + 1))])


def unlimited(mesh: TriangleMesh) -> Compound:
    """The same triangles as bodies of their own, which know nothing of each other: the twin."""
    return Compound([(ConvexHull(mesh.vertices[t]), Pose()) for t in mesh.triangles])


def leg(dt: float, lean: float, knee: float, spin: float) -> World:
    """A shin and a thigh on a knee whose stop is behind it, about to roll over the foot: the thigh comes down on the stop."""
    world, half = World(dt=dt), 0.25
    world.add(HalfSpace(), kind="static", friction=0.9)
    foot = np.array((0.0, 0.0, 0.05))
    for name, angle in (("shin", lean), ("thigh", lean + knee)):
        along = half * np.array((np.sin(angle), 0.0, np.cos(angle)))
        center, turn = foot + along, (np.cos(0.5 * angle), 0.0, np.sin(0.5 * angle), 0.0)
        body = world.add(Capsule(0.05, half), name=name, position=center, orientation=turn, mass=2.0, friction=0.9)
        body.velocity, body.angular_velocity = tuple(spin * np.cross((0, 1, 0), center)), (0, spin, 0)
        foot = foot + 2.0 * along
        if name == "shin":
            top = foot
    world.add_joint(Hinge("shin", "thigh", anchor=tuple(top), axis=(0, 1, 0), limits=(-2, 0.0), name="knee"))
    return world


def struck_leg(dt: float, lean: float, spin: float, side: int, height: float, mass: float) -> World:
    """The leg with its knee on the stop, and a ball that flies at the thigh from a ``side``, ``height`` above its middle."""
    world = leg(dt, lean, 0.0, spin)
    thigh = world["thigh"]
    along, across = np.array((np.sin(lean), 0.0, np.cos(lean))), side * np.array((np.cos(lean), 0.0, -np.sin(lean)))
    at = np.array(thigh.position) + height * along - 0.12 * across
    world.add(Sphere(0.05), name="ball", mass=mass, position=tuple(at), velocity=tuple(np.array(thigh.velocity) + across))
    return world


def on_four_legs(torsion: float, spin: float) -> World:
    """A trunk on four legs with round feet, on hinges with friction, that turns on the spot: one leg more than it needs."""
    world = World(dt=1 / 500)
    world.add(HalfSpace(), kind="static", friction=1.5)
    world.add(Box((0.25, 0.15, 0.03)), mass=3.3, name="trunk", position=(0, 0, 0.33), angular_velocity=(0, 0, spin))
    leg = Compound([(Box((0.015, 0.015, 0.13)), Pose()), (Sphere(0.02), Pose((0, 0, -0.15)))])
    for name, x, y in (("a", 0.2, 0.12), ("b", -0.2, 0.12), ("c", -0.2, -0.12), ("d", 0.2, -0.12)):
        moves = {"velocity": (-spin * y, spin * x, 0), "angular_velocity": (0, 0, spin)}
        world.add(leg, mass=0.2, name=name, position=(x, y, 0.17), friction=1.5, torsional_friction=torsion, **moves)
        world.add_joint(Hinge("trunk", name, anchor=(x, y, 0.3), axis=(0, 1, 0), friction=5.0))
    return world


def sheet(size: float) -> TriangleMesh:
    return TriangleMesh(size * np.array([(-3, -3, 0), (3, -3, 0), (0, 4, 0)]), [(0, 1, 2)])


SMALL = [
    Sphere(0.01), Capsule(0.01, 0.03), Cylinder(0.02, 0.005), Cone(0.02, 0.04), Ellipsoid((0.01, 0.02, 0.005)),
    Box((0.03, 0.03, 0.002)), ConvexHull(0.02 * np.array([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, 0, 1), (0.2, -1, -0.5)])),
    Compound([(Sphere(0.01), Pose()), (Box((0.03, 0.004, 0.004)), Pose((0.02, 0, 0)))]),
]  # fmt: skip


def height_beyond(
    ground, shape, seed: int, restitution: float, friction: float = 0.5, steps: int = 3, look_ahead: bool = True
) -> float:
    """How far a shape is beyond the plane z = 0 [m] some steps after it was thrown at it at 1 km/s, turning by hundreds of
    radians a second, from above or from below."""
    random = np.random.default_rng(seed)
    way, turn = (-1.0) ** seed, random.normal(size=4)
    thrown = {
        "position": (0.1, 0.2, -2.1 * way), "velocity": (*random.uniform(-100, 100, 2), 1000 * way),
        "angular_velocity": random.normal(scale=200.0, size=3), "orientation": tuple(turn / np.linalg.norm(turn)),
    }  # fmt: skip
    world = World(look_ahead=look_ahead)
    if ground is not None:
        world.add(ground, kind="static", restitution=restitution, friction=friction)
    body = world.add(shape, **thrown, restitution=restitution, friction=friction)
    world.step(steps)
    return body.position[2] * way


def whirled_past(spin: float) -> World:
    """After a step in which a small rod, on a ball joint at a heavy cube, whirls about it and past a post that stands in its way;
    it is apart from it at both ends of the step, and turns by spin/240 [rad]."""
    world = World(gravity=(0, 0, 0))
    world.add(Box((0.1, 0.1, 0.1)), name="cube", mass=1000.0)
    thrown = {"velocity": (0, 0.08 * spin, 0), "angular_velocity": (0, 0, spin)}
    world.add(Box((0.02, 0.01, 0.01)), name="rod", position=(0.2, 0, 0), **thrown, restitution=1.0)
    post = (0.12 + 0.13 * math.cos(0.7), 0.13 * math.sin(0.7), 0)
    world.add(Sphere(0.035), kind="static", position=post, restitution=1.0)
    world.add_joint(Point("cube", "rod", anchor=(0.12, 0, 0)))
    world.step()
    return world
