"""Many shapes at poses that come, go and move, and queries against all of them: rays, neighbours, overlap, casts, pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tumble.collision.broadphase.bounding_boxes import bounding_boxes
from tumble.collision.broadphase.box_tree import DEEPEST, HEIGHT, LEFT, RIGHT, cast_box, meets, nearest_boxes
from tumble.collision.broadphase.dynamic_broadphase import ALL_GROUPS, BroadPhase, PairChanges, _bits, longer
from tumble.collision.errors import InputError, check_number, check_point
from tumble.collision.hints import Numbers, PoseLike, Rows, Whole
from tumble.collision.kernels.jit import in_python, inner, kernel
from tumble.collision.linalg import add, load3, load9, matmul, mul, store3
from tumble.collision.pose import Pose, as_pose
from tumble.collision.queries.batch import Distances, check_poses, collisions, signed_distances, table
from tumble.collision.queries.batch_kernels import rotation
from tumble.collision.queries.ray_casts import RayHit, RayHits, one_ray, ray_far
from tumble.collision.queries.shape_casts import ShapeHit, first_hit, unit_direction
from tumble.collision.shapes.definitions import ConvexHull, HalfSpace, Shape
from tumble.collision.shapes.shapeset import ShapeSet, set_of

FIRST_BOXES = 8  # boxes that a search for the nearest shapes begins with


@dataclass(frozen=True, eq=False)
class Near:
    """A shape near another: ``which`` is its handle; the signed distance [m] lies in [lower, upper].

    normal (3,): from the shape that was asked for to this one. point (3,) [m]: the closest point of this one, from_point that of
    the other; the deepest ones where they overlap.
    """

    which: int
    distance: float
    lower: float
    upper: float
    normal: np.ndarray
    point: np.ndarray
    from_point: np.ndarray


class CollisionManager:
    """Shapes at poses, in a dynamic tree of their bounding boxes.

    A shape that is added has a handle, a number that is never given twice; queries answer with handles. ``groups`` and ``mask``
    are sets of bits, as those of bodies: two shapes make a pair where each one's mask has a bit of the other's groups, and a
    query sees what has a bit of its mask in its groups. ``margin`` [m]: pairs as near as that count. ``slack``: see `BroadPhase`.

    >>> manager = CollisionManager()
    >>> floor = manager.add(HalfSpace(), mobile=False)
    >>> ball = manager.add(Sphere(0.5), Pose((0, 0, 2)))
    >>> manager.ray_cast((0, 0, 9), (0, 0, -1)).shape == ball
    True
    """

    def __init__(self, margin: float = 0.0, slack: float = 0.1):
        self.margin = check_number("margin", margin, least=0.0)
        self.broad = BroadPhase(slack)
        self._shapes: list[Shape] = []  # each once
        self._number: dict[Shape, int] = {}
        self._set = ShapeSet()
        self._which = np.empty(0, np.int64)  # by row
        self._x, self._q = np.empty((0, 3)), np.empty((0, 4))

    def __len__(self) -> int:
        return len(self.broad)

    @property
    def handles(self) -> np.ndarray:
        """(n,) all handles, rising."""
        return self.broad.handles

    def add(self, shape: Shape, pose: PoseLike = Pose(), groups: int = 1, mask: int = ALL_GROUPS, mobile: bool = True) -> int:
        """Take in a shape at a pose: its handle. Two that are not ``mobile`` make no pair."""
        pose = as_pose("pose", pose)
        return int(self.add_many(shape, [pose.position], [pose.orientation], groups, mask, mobile)[0])

    def add_many(
        self,
        shape: Shape,
        positions: Numbers | Rows,
        orientations: Numbers | Rows | None = None,
        groups: Whole = 1,
        mask: Whole = ALL_GROUPS,
        mobile: bool | np.ndarray = True,
    ) -> np.ndarray:
        """Take in a shape n times: (n,) handles. positions (n, 3) [m]; orientations (n, 4), upright where not given."""
        if not isinstance(shape, Shape):
            raise InputError("shape", shape, "must be a Shape")
        x, q = _poses(positions, orientations)
        number = self._number.get(shape)
        if number is None:
            ShapeSet([shape])  # refuses what can not be asked about
            number = self._number[shape] = len(self._shapes)
            self._shapes.append(shape)
        which = np.full(len(x), number)
        boxes = bounding_boxes(set_of(shape), np.zeros(len(x), int), x, q, margin=self.margin / 2)
        handles = self.broad.add(*boxes, groups, mask, mobile)
        rows = self.broad.rows(handles)
        if len(rows) and rows.max() >= len(self._which):
            more = max(len(self._which), int(rows.max()) + 1 - len(self._which))
            for name in ("_which", "_x", "_q"):
                setattr(self, name, longer(getattr(self, name), more, 0))
        self._which[rows], self._x[rows], self._q[rows] = which, x, q
        return handles

    def move(self, which: int, pose: PoseLike) -> None:
        """Another pose of one shape."""
        pose = as_pose("pose", pose)
        self.move_many([which], [pose.position], [pose.orientation])

    def move_many(self, which: Whole, positions: Numbers | Rows, orientations: Numbers | Rows | None = None) -> None:
        """Other poses of the shapes with the handles (n,): positions (n, 3), orientations (n, 4), as before where not given."""
        rows = self.broad.rows(which)
        x, q = _poses(positions, self._q[rows] if orientations is None else orientations)
        if len(x) != len(rows):
            raise InputError("positions", x.shape, f"must be one row for each of the {len(rows)} handles")
        self.broad.move(which, *bounding_boxes(self._packed, self._which[rows], x, q, margin=self.margin / 2))
        self._x[rows], self._q[rows] = x, q

    def remove(self, which: Whole) -> None:
        """Take out a shape, or several."""
        self.broad.remove(which)

    def shape(self, which: int) -> Shape:
        """The shape with a handle."""
        return self._shapes[self._which[self._one(which)]]

    def pose(self, which: int) -> Pose:
        """Where it stands."""
        row = self._one(which)
        return Pose(tuple(self._x[row].tolist()), tuple(self._q[row].tolist()))

    def pairs(self) -> np.ndarray:
        """(m, 2) handles i < j whose bounding boxes are as near as the margin, sorted: candidates, of which none is missing."""
        return self.broad.pairs()

    def update(self) -> PairChanges:
        """Which pairs began and which ended since the last update."""
        return self.broad.update()

    def placed(self, pairs: np.ndarray) -> tuple[Any, ...]:
        """What `signed_distances`, `collisions` and `contact_manifolds` take, for (m, 2) handles.

        >>> contact_manifolds(*manager.placed(manager.pairs()), margin=0.01)
        """
        pairs = np.asarray(pairs)
        if pairs.size == 0:
            pairs = pairs.reshape(0, 2).astype(np.int64)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise InputError("pairs", pairs.shape, "must be (m, 2) handles")
        i, j = (self.broad.rows(side) for side in pairs.T)
        return self._packed, self._which[i], self._which[j], self._x[i], self._q[i], self._x[j], self._q[j]

    def collisions(self) -> np.ndarray:
        """(m, 2) handles of the pairs that overlap or touch, sorted; left out are only those that are certainly apart."""
        pairs = self.pairs()
        return pairs[collisions(*self.placed(pairs))]

    def distances(self) -> tuple[np.ndarray, Distances]:
        """(pairs (m, 2), their `Distances`) of all that is as near as the margin."""
        pairs = self.pairs()
        found = signed_distances(*self.placed(pairs), margin=self.margin)
        near = found.lower <= self.margin
        return pairs[near], Distances(*(column[near] for column in vars(found).values()))

    def ray_cast(self, origin: Numbers, direction: Numbers, reach: float = math.inf, mask: int = ALL_GROUPS) -> RayHit | None:
        """The first shape on a ray; ``shape`` of the hit is its handle. See `collision.ray_cast`."""
        return self.ray_casts(*one_ray(origin, direction), reach, mask).first()

    def ray_casts(
        self, origins: Numbers | Rows, directions: Numbers | Rows, reach: float = math.inf, mask: int = ALL_GROUPS
    ) -> RayHits:
        """Many rays in one compiled call: origins and directions (n, 3), or one row for all."""
        reach = reach if reach == math.inf else check_number("reach", reach, least=0.0)
        origins, directions = (np.atleast_2d(np.array(v, float)) for v in (origins, directions))
        n = max(len(origins), len(directions))
        origins, directions = (
            table(name, np.broadcast_to(v, (n, 3)) if v.shape == (1, 3) else v, n, 3)
            for name, v in (("origins", origins), ("directions", directions))
        )
        for k in np.flatnonzero(~np.isfinite(origins).all(axis=1))[:1]:
            check_point(f"origins[{k}]", origins[k])
        length = np.linalg.norm(directions, axis=1)
        if not np.all((length > 1e-150) & (length < 1e150)):
            raise InputError("direction", directions[np.argmin(length)], "must have a length")
        directions = directions / length[:, None]
        distance, normal, hit, part = np.empty(n), np.empty((n, 3)), np.empty(n, np.int64), np.empty(n, np.int64)
        places = self._packed.places(np.arange(self._packed.first[-1]))
        local = places[0], _matrices(places[1])
        bits = int(_bits("mask", mask, 1, 0)[0])
        tables = self._which, self._x, _matrices(self._q)
        cast(
            self._packed.geometry, self._packed.first, *local, *self.broad.tree, bits, *tables, origins, directions, reach,
            distance, normal, hit, part,
        )  # fmt: skip
        point = np.where(hit[:, None] < 0, np.nan, origins + np.where(hit < 0, 0.0, distance)[:, None] * directions)
        hit[hit >= 0] = self.broad.handles_of(hit[hit >= 0])
        return RayHits(distance, point, normal, part, hit)

    def overlap(self, shape: Shape, pose: PoseLike = Pose(), mask: int = ALL_GROUPS) -> np.ndarray:
        """(n,) handles of what overlaps or touches a shape at a pose, rising; a point (3,) will do for the shape."""
        shape, pose, (low, high) = _shape_asked(shape, pose)
        found = self.broad.query(low, high, mask)
        rows = self.broad.rows(found)
        shapes, which = self._beside(shape, rows)
        return found[collisions(shapes, 0, which, *_once(pose), self._x[rows], self._q[rows])] if len(rows) else found

    def nearest(
        self,
        shape: Shape | Numbers,
        pose: PoseLike = Pose(),
        count: int | None = 1,
        reach: float = math.inf,
        mask: int = ALL_GROUPS,
    ) -> list[Near]:
        """The ``count`` shapes that are nearest to a shape at a pose, all of them for None, by rising signed distance.

        A point (3,) will do for the shape. ``reach`` [m]: what is further counts for nothing.
        """
        if count is not None and (isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1):
            raise InputError("count", count, "must be a number of shapes, 1 or more, or None for all")
        reach = reach if reach == math.inf else check_number("reach", reach, least=0.0)
        shape, pose, (low, high) = _shape_asked(shape, pose)
        bits, total = int(_bits("mask", mask, 1, 0)[0]), len(self)
        wanted = total if count is None else min(int(count), total)
        room = min(max(FIRST_BOXES, 2 * wanted), total)
        best: list[Near] = []
        asked = 0
        while room > 0:
            rows, gaps = np.empty(room, np.int64), np.empty(room)
            there = nearest_boxes(*self.broad.tree, bits, low, high, reach, rows, gaps)
            new = rows[asked:there]
            limit = max(best[wanted - 1].distance, 0.0) if len(best) >= wanted else reach
            shapes, which = self._beside(shape, new)
            sides = np.zeros(len(new), int), which, *(np.tile(v, (len(new), 1)) for v in _once(pose)), self._x[new], self._q[new]
            answers = signed_distances(shapes, *sides, margin=limit)
            for k, handle in enumerate(self.broad.handles_of(new)):
                if answers.lower[k] <= limit and answers.distance[k] <= reach:
                    numbers = (float(v[k]) for v in (answers.distance, answers.lower, answers.upper))
                    best.append(Near(int(handle), *numbers, answers.normal[k], answers.point_b[k], answers.point_a[k]))
            best.sort(key=lambda near: (near.distance, near.which))
            done = there < room or there == total
            # boxes that overlap tell nothing of depths: all of them are asked
            if done or (len(best) >= wanted and gaps[there - 1] > max(best[wanted - 1].upper, 0.0)):
                break
            asked, room = there, min(4 * room, total)
        return best[:wanted]

    def shape_cast(
        self,
        shape: Shape,
        pose: PoseLike,
        direction: Numbers,
        reach: float = math.inf,
        mask: int = ALL_GROUPS,
        tolerance: float | None = None,
    ) -> ShapeHit | None:
        """The first shape that another touches on its way; ``shape`` of the hit is its handle. See `collision.shape_cast`."""
        if isinstance(shape, HalfSpace):
            raise InputError("shape", shape, "must have an end")
        shape, pose, (low, high) = _shape_asked(shape, pose)
        d = unit_direction(direction)
        reach = reach if reach == math.inf else check_number("reach", reach, least=0.0)
        room = max(len(self), 1)
        rows, enter = np.empty(room, np.int64), np.empty(room)
        bits = int(_bits("mask", mask, 1, 0)[0])
        there = cast_box(*self.broad.tree, bits, low, high, d, reach, rows, enter)
        order = np.lexsort((rows[:there], enter[:there]))
        best, begin, size = None, 0, FIRST_BOXES
        while begin < there and (best is None or enter[order[begin]] <= best.distance):
            some = rows[order[begin : begin + size]]
            shapes, which = self._beside(shape, some)
            found = first_hit(shapes, 0, pose, d, which, self._x[some], self._q[some], reach, tolerance)
            if found is not None and (best is None or found.inside or found.distance < best.distance):
                handle = int(self.broad.handles_of(some)[found.shape])
                best = ShapeHit(found.distance, found.upper, found.point, found.normal, found.inside, handle)
            begin, size = begin + size, 4 * size
        return best

    def _one(self, which) -> int:
        return int(self.broad.rows(which)[0])

    @property
    def _packed(self) -> ShapeSet:
        """All shapes, packed when they are needed."""
        if len(self._set) != len(self._shapes):
            self._set = ShapeSet(self._shapes)
        return self._set

    def _beside(self, shape: Shape, rows: np.ndarray) -> tuple[ShapeSet, np.ndarray]:
        """A set of the shape that a query is about, number 0, and those of some rows: which of them each row has."""
        numbers, which = np.unique(self._which[rows], return_inverse=True)
        return set_of(shape, *(self._shapes[k] for k in numbers)), which.reshape(-1) + 1


def _shape_asked(shape, pose) -> tuple:
    """(shape, pose, bounding box) that a query is about."""
    if not isinstance(shape, Shape):
        shape = ConvexHull([check_point("shape", shape)])
    pose = as_pose("pose", pose)
    (low,), (high,) = bounding_boxes(set_of(shape), [0], [pose.position], [pose.orientation])
    return shape, pose, (low, high)


def _poses(positions, orientations) -> tuple[np.ndarray, np.ndarray]:
    n = len(positions) if np.ndim(positions) == 2 else 1
    x = table("positions", positions, n, 3)
    q = np.tile((1.0, 0.0, 0.0, 0.0), (n, 1)) if orientations is None else table("orientations", orientations, n, 4)
    check_poses([x, q], ("positions", "orientations"))
    return x, q


def _once(pose: Pose) -> tuple[np.ndarray, np.ndarray]:
    return np.array(pose.position), np.array(pose.orientation)


def _matrices(q: np.ndarray) -> np.ndarray:
    """(n, 3, 3) rotation matrices of quaternions; of zeros none."""
    return np.column_stack(in_python(rotation)(q.T, 2.0 / np.maximum((q * q).sum(axis=1), 1e-300))).reshape(-1, 3, 3)


@kernel
def cast(
    g, first, places, turns, box, link, root, endless, lo, hi, groups, mask, which, x, r, origins, directions, reach,
    distance, normal, hit, part,
):  # fmt: skip
    """The first shape on each of many rays: its row, -1 for none, and which of its pieces.

    first: pieces of each shape, at ``places``, ``turns`` in its frame; which, x, r: of each row the shape, its position and
    rotation.
    """
    stack = np.empty(DEEPEST, np.int64)
    for k in range(len(origins)):
        distance[k], hit[k], part[k] = math.inf, -1, -1
        store3(normal, k, (math.nan, math.nan, math.nan))
        o, d = origins[k], directions[k]
        limit = reach
        for j in endless:
            if (groups[j] & mask) != 0:
                limit = _through(g, first, places, turns, which, x, r, j, o, d, limit, k, distance, normal, hit, part)
        stack[0], waiting = root[0], 1 if root[0] >= 0 else 0
        while waiting > 0:
            waiting -= 1
            n = stack[waiting]
            if not meets(box[n, :3], box[n, 3:], o, o, d, limit) <= limit:
                continue
            if link[n, HEIGHT] == 0:
                j = link[n, RIGHT]
                if (groups[j] & mask) != 0 and meets(lo[j], hi[j], o, o, d, limit) <= limit:
                    limit = _through(g, first, places, turns, which, x, r, j, o, d, limit, k, distance, normal, hit, part)
            else:  # the child that is met first is looked at first
                a, b = link[n, LEFT], link[n, RIGHT]
                if meets(box[a, :3], box[a, 3:], o, o, d, limit) < meets(box[b, :3], box[b, 3:], o, o, d, limit):
                    a, b = b, a
                stack[waiting] = a
                stack[waiting + 1] = b
                waiting += 2


@inner
def _through(g, first, places, turns, which, x, r, row, origin, direction, limit, k, distance, normal, hit, part):
    """Ray k against one row: the way to what is hit so far. Of rows that are hit at one distance the lowest is told."""
    shape = which[row]
    xr, rr = load3(x, row), load9(r, row)
    o, d = (origin[0], origin[1], origin[2]), (direction[0], direction[1], direction[2])
    for piece in range(first[shape], first[shape + 1]):
        at = add(xr, mul(rr, load3(places, piece)))
        found, t, n = ray_far(g, piece, at, matmul(rr, load9(turns, piece)), o, d, limit)
        if found and (t < distance[k] or t == distance[k] and row < hit[k]):
            distance[k] = limit = t
            hit[k], part[k] = row, piece - first[shape]
            store3(normal, k, n)
    return limit
