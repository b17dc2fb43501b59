"""Bodies of a scene that start inside each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.spatial import KDTree

from tumble.collision.pose import Pose
from tumble.collision.shapes.definitions import convex_parts
from tumble.collision.shapes.ground import Ground
from tumble.collision.shapes.shapeset import ShapeSet
from tumble.sim.scene.body_definition import BodyDef
from tumble.sim.scene.scene import Scene

WIDE = 8.0  # times the middle radius: pieces that are tried against all others
TOUCHING_DEPTH = 1e-6  # of the size of the smaller body: shallower is touching
MOST_OVERLAPS = 1000  # overlaps that are looked for: of bodies that all start in one place there are as many as pairs
AT_ONCE = 1_000_000  # pairs that are held at once


class Overlap(NamedTuple):
    """Two bodies, as rows of the scene, and how deep they are inside each other [m]."""

    a: int
    b: int
    depth: float


def overlaps(scene: Scene, tolerance: float = TOUCHING_DEPTH) -> list[Overlap]:
    """Pairs of bodies that overlap by more than ``tolerance`` of the smaller one's size, the deepest per pair of bodies.

    Pairs that never move against each other (static and kinematic ones) do not count, nor do those that a joint lets overlap.
    What is sunk in a ground is not looked for. The first ``MOST_OVERLAPS`` are found, where there are more.
    Raises InputError for a shape that the collision queries do not handle.
    """
    body, shapes, poses = _pieces(scene)
    if not shapes:
        return []
    geometry = ShapeSet(shapes).geometry
    from tumble.collision.narrowphase import distance  # compiled: only where there is something to ask

    at = [(pose.position, tuple(pose.matrix().ravel().tolist())) for pose in poses]
    worst: dict[tuple[int, int], float] = {}
    for i, j in _near(scene, body, geometry.radius, np.array([p for p, _ in at])):
        (xa, ra), (xb, rb) = at[i], at[j]
        depth = -distance(geometry, i, xa, ra, j, xb, rb, 0.0, (0.0, 0.0, 0.0))[1]
        if depth > tolerance * 2 * min(geometry.radius[i], geometry.radius[j]):
            pair = (int(body[i]), int(body[j]))
            worst[pair] = max(worst.get(pair, 0.0), float(depth))
            if len(worst) == MOST_OVERLAPS:
                break
    return [Overlap(a, b, depth) for (a, b), depth in sorted(worst.items())]


def _pieces(scene: Scene) -> tuple[np.ndarray, list, list[Pose]]:
    """The convex pieces of all bodies: body (m,), shape, and pose in the world."""
    rows = [
        (i, shape, place if shape is body.shape else place @ local)
        for i, body in enumerate(scene.bodies)
        for place in (Pose(body.position, body.orientation),)
        for shape, local in convex_parts(body.shape)
        if not isinstance(shape, Ground)
    ]
    return np.array([row[0] for row in rows], dtype=int), [row[1] for row in rows], [row[2] for row in rows]


def _near(scene: Scene, body: np.ndarray, radius: np.ndarray, x: np.ndarray) -> Iterator[tuple[int, int]]:
    """Pairs of pieces whose bounding spheres meet and that can move against each other."""
    rows = {b.name: i for i, b in enumerate(scene.bodies)}
    jointed = {frozenset((rows.get(d.a), rows.get(d.b))) for d in scene.joints if not d.collide}
    moves = np.array([b.kind == "dynamic" for b in scene.bodies])[body]
    for near in _spheres(radius, x):
        a, b = near.min(axis=1), near.max(axis=1)
        free = (body[a] != body[b]) & (moves[a] | moves[b])
        for i, j in sorted(zip(a[free].tolist(), b[free].tolist(), strict=True)):
            pair = int(body[i]), int(body[j])
            if frozenset(pair) not in jointed and _meet(scene, scene.bodies[pair[0]], scene.bodies[pair[1]]):
                yield i, j


def _spheres(radius: np.ndarray, x: np.ndarray) -> Iterator[np.ndarray]:
    """Pairs (n, 2) of spheres that meet, each once, some at a time."""
    wide = radius > WIDE * np.median(radius)  # floors and walls, tried against all; the others lie in cells
    small = np.flatnonzero(~wide)
    for i in np.flatnonzero(wide):
        reach = np.linalg.norm(x - x[i], axis=1) <= radius + radius[i]
        reach[: i + 1] &= ~wide[: i + 1]  # those were tried before; nor itself
        others = np.flatnonzero(reach)
        yield np.column_stack([np.full(len(others), i), others])
    if len(small) > 1:
        for near in _close(x[small], 2 * radius[small].max()):
            near = small[near]
            apart = np.linalg.norm(x[near[:, 0]] - x[near[:, 1]], axis=1)
            yield near[apart <= radius[near[:, 0]] + radius[near[:, 1]]]


def _close(x: np.ndarray, reach: float) -> Iterator[np.ndarray]:
    """Pairs (n, 2) of points that are no further apart, some at a time."""
    tree = KDTree(x)
    if tree.count_neighbors(tree, reach) <= AT_ONCE:
        yield tree.query_pairs(reach, output_type="ndarray")
        return
    counts = tree.query_ball_point(x, reach, return_length=True)
    ends = np.searchsorted(np.cumsum(counts) // AT_ONCE, np.arange(1, counts.sum() // AT_ONCE + 1))
    for rows in np.split(np.arange(len(x)), np.unique(ends)):
        if len(rows):
            second = np.concatenate(tree.query_ball_point(x[rows], reach)).astype(int)
            first = np.repeat(rows, counts[rows])
            yield np.column_stack([first, second])[first < second]


def _meet(scene: Scene, a: BodyDef, b: BodyDef) -> bool:
    """Neither a sensor, nor groups and masks, nor a list of pairs keeps them from touching."""
    apart = tuple(sorted((a.name, b.name))) in scene.apart
    return not (a.sensor or b.sensor or apart) and bool(a.groups & b.mask) and bool(b.groups & a.mask)
