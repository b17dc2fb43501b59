"""Questions about where the bodies of a world are: rays, neighbours, overlap. Nothing of the world changes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tumble.collision.bounds import aabb
from tumble.collision.broadphase.box_tree import box_gap, meets
from tumble.collision.errors import check_number, check_vector
from tumble.collision.ground.ground_distance import distance_to_ground
from tumble.collision.hints import PoseLike
from tumble.collision.kernels.group import own_tables
from tumble.collision.kernels.jit import kernel
from tumble.collision.linalg import load3, load9, store3
from tumble.collision.narrowphase import distance
from tumble.collision.pose import as_pose
from tumble.collision.queries.ray_casts import checked_rays, ray
from tumble.collision.shapes.definitions import ConvexHull, Shape, convex_parts
from tumble.collision.shapes.ground import Facet
from tumble.collision.shapes.shapeset import ShapeSet
from tumble.sim.ledger.diagnostics import rotations
from tumble.sim.state import CARRIER, PIECE

if TYPE_CHECKING:
    from tumble.sim.world.body import Body
    from tumble.sim.world.world import World


class BodyHit(NamedTuple):
    """The first body on a ray: at which ``distance`` [m], ``point`` (3,) [m] and surface ``normal`` (3,), out of the body.

    ``inside``: the ray starts in the body, at distance 0; the normal then points back along the ray.
    """

    body: Body
    distance: float
    point: np.ndarray
    normal: np.ndarray
    inside: bool


class Neighbor(NamedTuple):
    """A body near a shape: signed ``distance`` [m], negative on overlap; ``normal`` (3,), from the shape to the body.

    ``point`` (3,) [m] is the closest point of the body, ``from_point`` that of the shape.
    """

    body: Body
    distance: float
    normal: np.ndarray
    point: np.ndarray
    from_point: np.ndarray


def ray_casts(world: World, origins, directions, reach: float, ignore: Iterable[Body]) -> tuple[np.ndarray, ...]:
    """(bodies (n,), -1 where nothing is hit; distances (n,) [m], inf there; normals (n, 3), nan there) of n rays."""
    origins, directions, reach = checked_rays(origins, directions, reach)
    x, rot = poses(world)
    n = len(origins)
    body, length, normal = np.empty(n, np.int64), np.empty(n), np.empty((n, 3))
    seen = _seen(world, ignore)
    geoms = world.model.geoms
    whole = (geoms.face == PIECE) | (geoms.face == CARRIER)  # a facet is a part of its ground
    cast_rays(world._shapes.geometry, geoms.body, whole, x, rot, seen, origins, directions, reach, body, length, normal)
    return body, length, normal


def ray_cast(world: World, origin, direction, reach: float, ignore: Iterable[Body]) -> BodyHit | None:
    """The first body on one ray; see World.ray_cast."""
    origin, direction = np.array(check_vector("origin", origin)), np.array(check_vector("direction", direction))
    (i,), (length,), (normal,) = ray_casts(world, origin, direction, reach, ignore)
    if i < 0:
        return None
    point = origin + length * direction / np.linalg.norm(direction)
    return BodyHit(world.bodies[i], float(length), point, normal, bool(length == 0.0))


def neighbors(world: World, shape: Shape | object, pose: PoseLike, reach: float, ignore: Iterable[Body]) -> list[Neighbor]:
    """Bodies within ``reach`` [m] of a shape at a pose, the nearest first; a point (3,) will do for the shape."""
    if not isinstance(shape, Shape):
        shape = ConvexHull([check_vector("shape", shape)])
    pose = as_pose("pose", pose)
    reach = reach if reach == math.inf else check_number("reach", reach, least=0)
    asked = [(s, pose @ local) for s, local in convex_parts(shape)]
    shapes = ShapeSet([*world._shapes.shapes, *(s for s, _ in asked), Facet()], ground=True)
    g, first = own_tables(shapes.geometry), len(world._shapes)
    x, rot = poses(world)
    geoms, seen = world.model.geoms, _seen(world, ignore)
    best: dict[int, Neighbor] = {}
    for a, (_, at) in enumerate(asked, first):
        xa, ra = at.position, tuple(at.matrix().ravel().tolist())
        gaps = box_gaps(g, geoms.shape, x, rot, np.array(aabb(g, a, xa, ra)))
        for k in np.argsort(gaps, kind="stable"):
            if gaps[k] > reach:
                break
            i = int(geoms.body[k])
            known = best.get(i)
            if not seen[i] or (known and gaps[k] > known.distance):
                continue
            if geoms.face[k] not in (PIECE, CARRIER):
                continue  # a facet is a part of its ground
            limit = min(reach, known.distance) if known else reach
            pose_b = tuple(x[k].tolist()), tuple(rot[k].ravel().tolist())
            ask = distance if geoms.face[k] == PIECE else distance_to_ground
            _, gap, lower, _, n, pa, pb, _ = ask(g, a, xa, ra, int(geoms.shape[k]), *pose_b, limit, (0.0, 0.0, 0.0))
            if lower <= limit and gap <= reach and (known is None or gap < known.distance):
                best[i] = Neighbor(world.bodies[i], float(gap), np.array(n), np.array(pb), np.array(pa))
    return sorted(best.values(), key=lambda found: (found.distance, found.body.index))


def poses(world: World) -> tuple[np.ndarray, np.ndarray]:
    """Positions (m, 3) and rotations (m, 3, 3) of all convex pieces in the world."""
    b, g = world.model.bodies, world.model.geoms
    turned = rotations(b.q)[g.body]
    return b.x[g.body] + np.einsum("mij,mj->mi", turned, g.x), np.ascontiguousarray(turned @ g.rot)


def _seen(world: World, ignore: Iterable[Body]) -> np.ndarray:
    """(n,) bodies that are matter and are not ignored."""
    seen = np.array([not body.definition.sensor for body in world.bodies], dtype=np.bool_)
    for body in ignore:
        seen[world._row(body)] = False
    return seen


@kernel
def box_gaps(g, shape, x, rot, box):
    """(m,) lower bounds of the distance between pieces and a box (2, 3) [m]: those of their own boxes; 0 if they meet."""
    gaps = np.empty(len(shape))
    for k in range(len(shape)):
        lo, hi = aabb(g, shape[k], load3(x, k), load9(rot, k))
        gaps[k] = box_gap(lo, hi, box[0], box[1])
    return gaps


@kernel
def cast_rays(g, body_of, whole, x, rot, seen, origins, directions, reach, body, length, normal):
    """The first piece on each ray. Boxes that a ray misses, or meets behind what it has hit, are passed over."""
    m = len(body_of)
    box = np.empty((m, 2, 3))
    for k in range(m):
        lo, hi = aabb(g, k, load3(x, k), load9(rot, k))
        store3(box[k], 0, lo)
        store3(box[k], 1, hi)
    for i in range(len(origins)):
        body[i], length[i] = -1, math.inf
        store3(normal, i, (math.nan, math.nan, math.nan))
        o, d, limit = origins[i], directions[i], reach
        for k in range(m):
            if not whole[k] or not seen[body_of[k]] or not meets(box[k, 0], box[k, 1], o, o, d, limit) <= limit:
                continue
            hit, t, n = ray(g, k, load3(x, k), load9(rot, k), load3(origins, i), load3(directions, i), limit)
            if hit and t < length[i]:
                body[i], length[i], limit = body_of[k], t, t
                store3(normal, i, n)
