"""Hulls that lie across the ridges of a ground that is all but flat, and how deep they are, worked out edge by edge."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull as Faces

from tumble.collision import Capsule, Cone, ConvexHull, Cylinder, Ellipsoid, HeightField
from tumble.collision.shapes.definitions import Shape
from tumble.sim import World
from tumble.sim.ledger.diagnostics import rotations


def heights_at(ground: HeightField, points: np.ndarray) -> np.ndarray:
    """Height of the triangles below or above points (n, 3)."""
    low, h = ground.bounds[0], ground.heights
    u, v = ((points[..., r] - low[r]) / ground.cell for r in range(2))
    i, j = np.floor(u).astype(int), np.floor(v).astype(int)
    u, v = u - i, v - j
    first, far, side = h[i, j], h[i + 1, j + 1], np.where(u > v, h[i + 1, j], h[i, j + 1])
    more, less = np.maximum(u, v), np.minimum(u, v)
    return first * (1 - more) + side * (more - less) + far * less


def depth_of(hull: ConvexHull, place: np.ndarray, turn: np.ndarray, ground: HeightField, samples: int = 200) -> float:
    """How deep the edges of a hull are below a field, along z [m]; where they and the corners of the field touch first."""
    corners = place + hull.vertices @ turn.T
    edges = {tuple(sorted((s[a], s[b]))) for s in Faces(hull.vertices).simplices for a, b in ((0, 1), (1, 2), (2, 0))}
    share = np.linspace(0.0, 1.0, samples)[:, None]
    return max(
        float((heights_at(ground, points) - points[:, 2]).max())
        for points in (corners[a] * (1 - share) + corners[b] * share for a, b in edges)
    )


def across_ridges(seed: int) -> tuple[World, HeightField]:
    """A hull that lies on a field of bends of some hundredths, on a face but for as little, and a little too deep; it slides."""
    rng = np.random.default_rng(seed)
    ground = HeightField(0.002 * rng.normal(size=(12, 12)), 0.1)
    points = rng.normal(size=(16, 3))
    hull = ConvexHull(0.2 * points / np.linalg.norm(points, axis=1)[:, None])
    faces = Faces(hull.vertices)
    down = faces.equations[rng.integers(len(faces.equations)), :3] + 0.004 * rng.normal(size=3)
    down /= np.linalg.norm(down)
    across = np.cross(down, (0.0, 0.0, -1.0))
    turn = np.array((1.0 - down[2], *across))
    turn /= np.linalg.norm(turn)
    place = np.array((*rng.uniform(-0.15, 0.15, 2), 0.3))
    place[2] += depth_of(hull, place, rotations(turn[None])[0], ground) - 10.0 ** rng.uniform(-5, -3)
    world = World()
    world.add(ground, kind="static")
    world.add(hull, position=place, orientation=turn, velocity=(0.4, 0.2, 0), angular_velocity=(0.1, 0.1, 0.5))
    return world, ground


def depth_and_contacts(seed: int) -> tuple[float, float]:
    """(How deep the hull is, the least gap of the points that it is told to touch at)."""
    world, ground = across_ridges(seed)
    body = world.bodies[1]
    world.step()
    turn = rotations(np.array([body.orientation]))[0]
    return depth_of(body.shape, np.array(body.position), turn, ground), least_gap(world)


def round_shape(kind: str) -> tuple[Shape, np.ndarray]:
    """A shape of 0.4 m along z, and points of its surface."""
    z, angles = np.linspace(-0.2, 0.2, 120)[:, None], np.linspace(0, 2 * np.pi, 480, endpoint=False)
    wide = {"capsule": 0.1, "cylinder": 0.1, "cone": 0.1 * (0.5 - z / 0.4), "ellipsoid": 0.1 * np.sqrt(1 - (z / 0.2) ** 2)}[kind]
    points = np.stack(np.broadcast_arrays(wide * np.cos(angles), wide * np.sin(angles), z), axis=-1).reshape(-1, 3)
    if kind == "capsule":
        up, around = np.meshgrid(np.linspace(-np.pi / 2, np.pi / 2, 240), angles[::2])
        ball = 0.1 * np.stack([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)], axis=-1).reshape(-1, 3)
        points = np.concatenate([points, ball + np.where(ball[:, 2:] > 0, 0.2, -0.2) * (0, 0, 1)])
    shapes = {"capsule": Capsule(0.1, 0.2), "cylinder": Cylinder(0.1, 0.2), "cone": Cone(0.1, 0.2)}
    return shapes.get(kind, Ellipsoid((0.1, 0.1, 0.2))), points


def round_depth_and_gap(kind: str, seed: int) -> tuple[float, float]:
    """(How deep a round shape is in such a field [m], the least gap of the points at which it is told to touch).

    It lies on its side, or where the seed is odd and it has a flat end it stands, askew by some thousandths.
    """
    rng, (shape, points) = np.random.default_rng(seed), round_shape(kind)
    ground = HeightField(0.002 * rng.normal(size=(12, 12)), 0.1)
    around, lift = rng.uniform(0, 2 * np.pi), 0.004 * rng.normal() - (np.arctan(0.25) if kind == "cone" else 0.0)
    axis = np.array([np.cos(around) * np.cos(lift), np.sin(around) * np.cos(lift), np.sin(lift)])
    if seed % 2 and kind in ("cylinder", "cone"):
        axis = np.array([*(0.004 * rng.normal(size=2)), 1.0])
    turn = np.array((1.0 + axis[2], *np.cross((0.0, 0.0, 1.0), axis)))
    turn /= np.linalg.norm(turn)
    place = np.array((*rng.uniform(-0.15, 0.15, 2), 0.5))

    def depth() -> float:
        at = place + points @ rotations(turn[None])[0].T
        return float((heights_at(ground, at) - at[:, 2]).max())

    place[2] += depth() - 10.0 ** rng.uniform(-5, -3)
    world = World()
    world.add(ground, kind="static")
    body = world.add(shape, position=place, orientation=turn, velocity=(0.4, 0.2, 0), angular_velocity=(0.1, 0.1, 0.5))
    world.step()
    place, turn = np.array(body.position), np.array(body.orientation)
    return depth(), least_gap(world)


def least_gap(world: World) -> float:
    """Of all points at which something is told to touch."""
    pairs = world.model.pairs
    return min((pairs.rows[n, k, 3] for n in range(pairs.count[0]) for k in range(pairs.points[n])), default=np.inf)
