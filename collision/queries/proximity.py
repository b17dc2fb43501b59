"""Proximity queries for users: signed distance and contact manifold of two shapes, and an object that keeps the answers.

One compiled call a pair of convex shapes; a Compound is taken piece by piece.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tumble.collision.contact.manifold import MANIFOLD_POINTS
from tumble.collision.distance.result import SIGN_ONLY
from tumble.collision.errors import InputError, check_number
from tumble.collision.hints import FileName, Numbers, PoseLike
from tumble.collision.kernels.jit import in_python
from tumble.collision.kernels.shipped import provide
from tumble.collision.narrowphase import manifold
from tumble.collision.pose import Pose, as_pose
from tumble.collision.queries.batch import search
from tumble.collision.queries.batch_kernels import rotation
from tumble.collision.queries.single import LIBRARY, asked
from tumble.collision.queries.trace import Trace, check_traceable, trace_query
from tumble.collision.shapes.compounds import nearest_pieces, piece_pairs
from tumble.collision.shapes.definitions import Compound, Shape, convex_parts
from tumble.collision.shapes.ground import Ground
from tumble.collision.shapes.shapeset import set_of, stocked
from tumble.collision.shapes.support_shape import SupportShape, by_support, has_support
from tumble.collision.status import Status
from tumble.collision.suggesting import Keeps, Reads

provide(LIBRARY)
IN_PARTS = Compound, SupportShape  # that the quick way does not take
NO_AXIS = (0.0, 0.0, 0.0)
STATUS = tuple(Status)


def _number(place: int, told: str) -> Any:
    """A property of distances: one of their numbers. ``told``: what it is."""
    return property(lambda found: found._numbers[place], doc=told)


def _three(place: int, told: str) -> Any:
    """The same of three numbers, as an array."""
    return property(lambda found: np.array(found._numbers[place : place + 3]), doc=told)


class Distance:
    """Signed distance of two shapes, certified.

    status: `Status`. distance [m], negative = overlap; the true value lies in [lower, upper], rounding included.
    normal (3,): unit vector from A to B. point_a, point_b (3,) [m], world frame: the closest points where the shapes
    are apart, the deepest where they overlap; point_b - point_a = distance normal. With BEYOND_MARGIN the search
    stopped early: distance is the lower bound, and the points are not the closest ones.
    """

    __slots__ = ("_numbers",)

    def __init__(self, numbers: tuple):
        """numbers: distance, lower, upper, the coordinates of normal, point_a and point_b; status, iterations."""
        self._numbers = numbers

    @property
    def status(self) -> Status:
        """What is known: SEPARATED, TOUCHING, OVERLAPPING, BEYOND_MARGIN or UNCERTAIN."""
        return STATUS[self._numbers[12]]

    distance: float = _number(0, "[m]; negative: the depth of an overlap.")
    lower: float = _number(1, "[m] The truth is not less.")
    upper: float = _number(2, "[m] The truth is not more.")
    normal: np.ndarray = _three(3, "(3,) from A to B.")
    point_a: np.ndarray = _three(6, "(3,) [m] of A, world axes.")
    point_b: np.ndarray = _three(9, "(3,) [m] of B, world axes.")
    iterations: int = _number(13, "Turns of the search.")

    def __repr__(self) -> str:
        names = "distance", "lower", "upper", "normal", "point_a", "point_b", "iterations"
        return f"Distance(status={self.status}, {', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    @property
    def colliding(self) -> bool:
        """Do the shapes overlap or touch? False only where they are certainly apart."""
        return self.lower <= 0.0


@dataclass(frozen=True, eq=False)
class Manifold:
    """Contact points of two shapes.

    normal (3,): unit vector from A to B, that of the deepest point where the pieces of compounds have several;
    normals (n, 3) each point's own. points (n, 3) [m]: midway between the two surfaces. gaps (n,) [m] along the
    normal, negative = overlap. ids (n,): the same feature keeps its id from call to call. parts (n, 2): which piece of
    A and of B the point belongs to (zeros unless compound).
    """

    status: Status
    normal: np.ndarray
    points: np.ndarray
    gaps: np.ndarray
    ids: np.ndarray
    normals: np.ndarray
    parts: np.ndarray


@dataclass(frozen=True, eq=False)
class Penetration:
    """How to part two overlapping shapes: move B by ``vector`` (3,) [m], the shortest that does.

    depth [m] is its length; point_a, point_b (3,) [m], world frame: the deepest points, point_a - point_b = vector.
    """

    depth: float
    vector: np.ndarray
    point_a: np.ndarray
    point_b: np.ndarray


class Proximity(Keeps, Reads):
    """Two shapes with poses that can be asked how they stand to each other.

    Nothing is computed before it is asked for, and nothing twice: the answers are kept until a shape or a pose is set.
    ``colliding`` alone stops the search as soon as it is certain whether the shapes are apart. Poses are `Pose` or
    homogeneous matrices (4, 4); `move_a` and `move_b` take x-y-z angles.

    trace: a path or a `Trace`; every search is then one for the distance, and written there, iteration by iteration (convex
    shapes with an end only). ``queries`` counts all searches. Raises InputError for what is not a shape or a pose.

    >>> p = Proximity(Box((0.5, 0.5, 0.5)), Sphere(0.5), pose_b=Pose((2, 0, 0)))
    >>> p.colliding, p.distance
    (False, 1.0)
    """

    SETS = ("trace", "queries")

    def __init__(
        self, a: Shape, b: Shape, pose_a: PoseLike = Pose(), pose_b: PoseLike = Pose(), trace: FileName | Trace | None = None
    ):
        if not (trace is None or isinstance(trace, str | os.PathLike | Trace)):
            raise InputError("trace", trace, "must be a path or a Trace")
        self._sides: dict[str, Shape | Pose] = {}
        self.trace, self.queries = trace, 0
        self.a, self.b, self.pose_a, self.pose_b = a, b, pose_a, pose_b

    a = property(lambda self: self._sides["a"], lambda self, shape: self._set("a", shape), doc="Shape A.")
    b = property(lambda self: self._sides["b"], lambda self, shape: self._set("b", shape), doc="Shape B.")
    pose_a = property(
        lambda self: self._sides["pose_a"], lambda self, pose: self._set("pose_a", as_pose("pose_a", pose)), doc="Of A."
    )
    pose_b = property(
        lambda self: self._sides["pose_b"], lambda self, pose: self._set("pose_b", as_pose("pose_b", pose)), doc="Of B."
    )

    def move_a(self, position: Numbers = (0.0, 0.0, 0.0), angles: Numbers = (0.0, 0.0, 0.0)) -> None:
        """Place A: turned about x, then the new y, then the new z by ``angles`` [rad], at ``position`` [m]."""
        self.pose_a = Pose.from_euler_xyz(angles, position)

    def move_b(self, position: Numbers = (0.0, 0.0, 0.0), angles: Numbers = (0.0, 0.0, 0.0)) -> None:
        """Place B, as `move_a` does A."""
        self.pose_b = Pose.from_euler_xyz(angles, position)

    def _set(self, name: str, value) -> None:
        if isinstance(value, Shape) and self.trace is not None:
            check_traceable(name, value)
        elif not isinstance(value, Shape | Pose):
            raise InputError(name, value, "must be a Shape")
        self._sides[name] = value
        self._colliding = self._answer = None

    @property
    def answer(self) -> Distance:
        """The signed distance with all that `signed_distance` tells."""
        if self._answer is None:
            self.queries += 1
            self._answer = signed_distance(self.a, self.pose_a, self.b, self.pose_b)
            self._write()
        return self._answer

    def _write(self) -> None:
        if self.trace is None:
            return
        trace = self.trace if isinstance(self.trace, Trace) else Trace()
        trace_query(trace, self.a, self.pose_a, self.b, self.pose_b, self._answer)
        if trace is not self.trace:
            trace.save(Path(self.trace))

    @property
    def colliding(self) -> bool:
        """Do the shapes overlap or touch? False only where they are certainly apart."""
        if self._answer is not None or self.trace is not None:
            return self.answer.colliding
        if self._colliding is None:
            self.queries += 1
            self._colliding = colliding(self.a, self.pose_a, self.b, self.pose_b)
        return self._colliding

    @property
    def distance(self) -> float:
        """Distance of the shapes [m], 0 where they overlap."""
        return max(self.answer.distance, 0.0)

    @property
    def closest_points(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The closest points of A and B in world axes [m]; None where the shapes certainly overlap."""
        r = self.answer
        return None if r.upper < 0.0 else (r.point_a, r.point_b)

    @property
    def penetration(self) -> Penetration | None:
        """The way out of an overlap; None where the shapes are certainly apart."""
        r = self.answer
        if r.lower > 0.0:
            return None
        depth = max(-r.distance, 0.0)
        return Penetration(depth, depth * r.normal, r.point_a, r.point_b)


def signed_distance(a: Shape, pose_a: PoseLike, b: Shape, pose_b: PoseLike, margin: float = math.inf) -> Distance:
    """Signed distance of shape a at pose_a and shape b at pose_b.

    Poses: a `Pose`, a position (3,), a pair of a position and a quaternion (w, x, y, z) or a
    `scipy.spatial.transform.Rotation`, these seven numbers in a row, or a homogeneous matrix (4, 4).
    ``margin`` [m]: stop as soon as the shapes are certainly further apart (status BEYOND_MARGIN). Overlap of compounds
    is that of their deepest pair of pieces. A ground, a TriangleMesh or HeightField, is a thin sheet: an overlap is how deep
    that is in the other shape. Raises InputError for what is not a shape, a pose or a number.

    Method: closed forms for half-spaces and spheres; Gilbert, Johnson and Keerthi (1988) and separating axes for
    polytopes. Every answer is bounded from below by support planes and from above by its witness points.
    """
    pose_a, pose_b = _checked(a, pose_a, b, pose_b)
    return _distance(a, pose_a, b, pose_b, margin_of(margin))


def colliding(a: Shape, pose_a: PoseLike, b: Shape, pose_b: PoseLike) -> bool:
    """Do shapes a and b overlap or touch? False only where they are certainly apart.

    The search ends as soon as that is certain, one way or the other: no depth is looked for. Raises InputError for what
    is not a shape or a pose.
    """
    pose_a, pose_b = _checked(a, pose_a, b, pose_b)
    found = _distance(a, pose_a, b, pose_b, SIGN_ONLY)
    if found.lower <= 0.0 < found.upper:  # within rounding of a touch: the whole search may know it
        found = _distance(a, pose_a, b, pose_b, math.inf)
    return found.lower <= 0.0


def _distance(a: Shape, pose_a: Pose, b: Shape, pose_b: Pose, margin: float) -> Distance:
    if isinstance(a, Ground) or isinstance(b, Ground):
        from tumble.collision.ground.ground_distance import distance_from_ground

        return Distance(distance_from_ground(a, pose_a, b, pose_b, margin))
    if not (isinstance(a, IN_PARTS) or isinstance(b, IN_PARTS)):
        return Distance(asked(a, pose_a, b, pose_b, margin))
    if has_support(a) or has_support(b):
        status, iterations, numbers = by_support(a, pose_a, b, pose_b, margin)
        return Distance((*numbers, status, iterations))
    shapes = set_of(a, b)
    pieces = piece_pairs(shapes, *_pair(pose_a, pose_b), max(margin, 0.0))
    found = nearest_pieces(search(shapes, pieces.a, pieces.b, pieces.poses, margin), pieces)
    numbers = np.hstack([found[name][0] for name in ("distance", "lower", "upper", "normal", "point_a", "point_b")])
    return Distance((*numbers.tolist(), int(found["status"][0]), int(found["iterations"][0])))


def contact_manifold(
    a: Shape, pose_a: PoseLike, b: Shape, pose_b: PoseLike, margin: float = 0.0, max_points: int = MANIFOLD_POINTS
) -> Manifold:
    """Contact points of shape a at pose_a and shape b at pose_b: all with a gap of at most ``margin`` [m].

    ``max_points``: of a pair of convex pieces, 8 or more; of a patch with more corners those are kept that span it best.

    Faces are preferred to edges where both will do, so that a box on a box has four points also when it is askew by
    rounding; for that a slack of 1e-8 of the size is added to the margin. No points: the shapes are further apart.
    Raises InputError for what is not a shape, a pose or a number.
    """
    pose_a, pose_b = _checked(a, pose_a, b, pose_b)
    margin, most = margin_of(margin), points_of(max_points)
    rows, ids = np.zeros((most, 14)), np.zeros(most, np.int64)
    found = []
    nearest, normal, status = math.inf, np.zeros(3), Status.BEYOND_MARGIN
    for i, j, (g, row_a, row_b), poses in _piece_pairs(a, pose_a, b, pose_b, margin):
        count, n, code = manifold(g, row_a, *poses[0], row_b, *poses[1], margin, NO_AXIS, rows, ids)
        if count == 0 and (found or normal.any()):
            continue
        least = rows[:count, 3].min() if count else math.inf
        if least < nearest or not normal.any():
            nearest, normal, status = least, np.array(n, float), Status(code)
        found.append((rows[:count, :3].copy(), rows[:count, 3].copy(), ids[:count].copy(), n, (i, j)))
    points, gaps, names = (np.concatenate([f[k] for f in found]) for k in range(3))
    each = [len(f[1]) for f in found]
    normals = np.repeat(np.array([f[3] for f in found], float), each, axis=0)
    parts = np.repeat(np.array([f[4] for f in found]), each, axis=0)
    return Manifold(status, normal, points, gaps, names, normals, parts)


def points_of(value) -> int:
    """How many points a manifold may have, checked."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not MANIFOLD_POINTS <= value <= 4096:
        raise InputError("max_points", value, f"must be a number of points, a whole number from {MANIFOLD_POINTS} to 4096")
    return int(value)


def margin_of(margin) -> float:
    """A margin, checked."""
    return margin if margin == math.inf else check_number("margin", margin)


def _checked(a: Shape, pose_a, b: Shape, pose_b) -> tuple[Pose, Pose]:
    """The poses of two shapes; InputError for what is neither."""
    if not isinstance(a, Shape):
        raise InputError("a", a, "must be a Shape")
    if not isinstance(b, Shape):
        raise InputError("b", b, "must be a Shape")
    pose_a = pose_a if isinstance(pose_a, Pose) else as_pose("pose_a", pose_a)
    return pose_a, pose_b if isinstance(pose_b, Pose) else as_pose("pose_b", pose_b)


def _piece_pairs(a: Shape, pose_a: Pose, b: Shape, pose_b: Pose, margin: float):
    """Pairs of convex pieces that may touch: (piece of a, of b, their tables and rows, the two poses as kernels take them)."""
    if not (isinstance(a, Compound) or isinstance(b, Compound)):
        sides = ((pose.position, pose.orientation) for pose in (pose_a, pose_b))
        yield 0, 0, stocked(a, b), tuple(_numbers(*side) for side in sides)
        return
    shapes, parts_a, parts_b = set_of(a, b), convex_parts(a), convex_parts(b)
    pieces = piece_pairs(shapes, *_pair(pose_a, pose_b), max(margin, 0.0))
    for i, j, *poses in zip(pieces.a, pieces.b - len(parts_a), *pieces.poses, strict=True):
        places = _numbers(*poses[:2]), _numbers(*poses[2:])
        yield int(i), int(j), stocked(parts_a[i][0], parts_b[j][0]), places


def _pair(pose_a: Pose, pose_b: Pose) -> tuple:
    """Two shapes of a set at their poses, as a pair of `piece_pairs`."""
    places = [np.array([v]) for v in (pose_a.position, pose_a.orientation, pose_b.position, pose_b.orientation)]
    return np.array([0]), np.array([1]), places


def _numbers(position: Numbers, orientation: Numbers) -> tuple:
    """A position and the matrix of a quaternion, by the steps, and so to the bits, of a call about many pairs."""
    w, i, j, k = map(float, orientation)
    turn = in_python(rotation)((w, i, j, k), 2.0 / (w * w + i * i + j * j + k * k))
    return tuple(map(float, position)), turn
