"""Convex shapes given by a support function in Python: any shape at all, slowly, with the same certificate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tumble.collision.errors import InputError, check_length, check_number, check_point
from tumble.collision.pose import Pose
from tumble.collision.shapes.definitions import HalfSpace, Shape, convex_parts
from tumble.collision.status import BEYOND_MARGIN, OVERLAPPING, SEPARATED, TOUCHING, UNCERTAIN

EPS = float(np.finfo(float).eps)
POINT_ROUNDING = 32.0 * EPS  # of size: what points that Python computes may be off
WIDEST_OVERLAP = 1e-9  # of size: an interval that will do where the shapes overlap, and beyond which an answer is UNCERTAIN
MOST_ITERATIONS = 500  # iterations


@dataclass(frozen=True, eq=False)
class SupportShape(Shape):
    """A convex shape that is known by its support function alone: ``support(d)`` is the point (3,) of it furthest along d.

    d is a unit vector (3,) in the frame of the shape. ``radius`` [m]: of a ball about the local origin that holds the shape.
    ``center``: a point of it. ``error`` [m]: how far the points may be from those that are meant; it is part of every interval.
    Taken by `signed_distance` and `colliding`, some milliseconds each: all else wants shapes that kernels know.

    The answer is as sure as the function: lower bounds trust that no point is further along d than support(d), upper ones that
    support(d) is a point of the shape. A point that was told before and lies further along d is an InputError.

    >>> lens = SupportShape(lambda d: ..., radius=0.5)
    """

    support: Callable[[np.ndarray], np.ndarray]
    radius: float
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)
    error: float = 0.0
    type = "support"

    def __post_init__(self):
        if not callable(self.support):
            raise InputError("support", self.support, "must be a function that gives the point (3,) furthest along a vector (3,)")
        self._set(radius=check_length("radius", self.radius), center=check_point("center", self.center))
        self._set(error=check_number("error", self.error, least=0.0))

    def to_dict(self) -> dict:
        raise InputError("shape", self, "a function of Python can not go into a file")

    def points(self, directions: np.ndarray) -> np.ndarray:
        """Support points along directions (..., 3) of any length."""
        d = np.asarray(directions, float)
        length = np.linalg.norm(d, axis=-1, keepdims=True)
        unit = np.where(length > 0.0, d / np.where(length > 0.0, length, 1.0), (1.0, 0.0, 0.0))
        if d.ndim > 1:
            return np.array([self.point(u) for u in unit])
        return self.point(unit)

    def point(self, d: np.ndarray) -> np.ndarray:
        """The support point along one unit vector, checked."""
        found = self.support(d.copy())
        try:
            p = np.array(found, float)
        except (TypeError, ValueError):
            p = np.empty(0)
        if p.shape != (3,) or not np.isfinite(p).all():
            raise InputError("support", found, f"must be a point (3,) for the direction {d.tolist()}")
        if np.linalg.norm(p) > self.radius * (1.0 + 1e-9) + self.error:
            raise InputError("support", p, f"is beyond the ball of radius {self.radius:g} that is to hold the shape")
        return p


def has_support(shape: Shape) -> bool:
    """Is the shape, or a piece of it, known by its support function alone?"""
    return any(isinstance(piece, SupportShape) for piece, _ in convex_parts(shape))


def by_support(a: Shape, pose_a: Pose, b: Shape, pose_b: Pose, margin: float) -> tuple[int, int, tuple]:
    """(status, iterations, twelve numbers from ``distance`` to ``point_b``) of two shapes, at their nearest or deepest pieces."""
    found = [
        _piece_distance(piece_a, pose_a @ at_a, piece_b, pose_b @ at_b)
        for piece_a, at_a in convex_parts(a)
        for piece_b, at_b in convex_parts(b)
    ]
    best = min(found, key=lambda answer: answer[0])
    lower, upper = min(answer[1] for answer in found), min(answer[2] for answer in found)
    size, iterations, distance = best[6], sum(answer[7] for answer in found), best[0]
    status = TOUCHING
    if lower > margin:
        status, distance = BEYOND_MARGIN, lower
    elif upper - lower > WIDEST_OVERLAP * size + 4.0 * _told_error(a) + 4.0 * _told_error(b):
        status = UNCERTAIN
    elif lower > 0.0:
        status = SEPARATED
    elif upper < 0.0:
        status = OVERLAPPING
    return status, iterations, (distance, lower, upper, *best[3].tolist(), *best[4].tolist(), *best[5].tolist())


def _told_error(shape: Shape) -> float:
    return max(getattr(piece, "error", 0.0) for piece, _ in convex_parts(shape))


def _piece_distance(a: Shape, pose_a: Pose, b: Shape, pose_b: Pose) -> tuple:
    """(distance, lower, upper, normal, point_a, point_b, size, iterations) of two convex shapes."""
    from tumble.collision.reference import body, signed_distance

    if isinstance(a, HalfSpace) or isinstance(b, HalfSpace):
        return _beside_plane(a, pose_a, b, pose_b)
    origin = np.array(pose_a.position)
    told = [], []  # the points that the functions gave
    watched = [_watched(shape, points) for shape, points in zip((a, b), told, strict=True)]
    sides = [body(watched[0], pose_a, origin), body(watched[1], pose_b, origin)]
    size = float(sum(side.size + side.margin for side in sides) + np.linalg.norm(np.array(pose_b.position) - origin))
    found = signed_distance(*sides, tolerance=0.5 * WIDEST_OVERLAP * size, limit=MOST_ITERATIONS)
    for shape, pose, points, sign in ((a, pose_a, told[0], 1.0), (b, pose_b, told[1], -1.0)):
        if isinstance(shape, SupportShape):
            _check_support(shape, sign * found.normal @ pose.matrix(), points, size)
    err = POINT_ROUNDING * (size + float(np.linalg.norm(origin))) + _told_error(a) + _told_error(b)
    lower, upper = min(found.lower, found.upper) - err, max(found.lower, found.upper) + err
    return found.distance, lower, upper, found.normal, found.point_a + origin, found.point_b + origin, size, found.iterations


def _watched(shape: Shape, told: list) -> Shape:
    """The same shape, with a function that keeps what it tells."""
    if not isinstance(shape, SupportShape):
        return shape

    def support(d: np.ndarray) -> np.ndarray:
        told.append(shape.point(d))
        return told[-1]

    return replace(shape, support=support)


def _check_support(shape: SupportShape, d: np.ndarray, told: list, size: float) -> None:
    """The support point along d must lie as far along it as all that was told, and as the one on the other side."""
    length = np.linalg.norm(d)
    d = d / length if length > 0.0 else np.array((0.0, 0.0, 1.0))
    top = shape.point(d)
    points = np.array([*told, shape.point(-d)])
    high = points @ d
    if high.max() > top @ d + 1e-9 * size + shape.error:
        hint = f"is not the furthest point along {d.tolist()}: {points[high.argmax()].tolist()} is further"
        raise InputError("support", top.tolist(), hint)


def _beside_plane(a: Shape, pose_a: Pose, b: Shape, pose_b: Pose) -> tuple:
    """Against a half-space: the height of the lowest point."""
    if isinstance(b, HalfSpace):
        distance, lower, upper, n, p, q, size, count = _beside_plane(b, pose_b, a, pose_a)
        return distance, lower, upper, -n, q, p, size, count
    r = pose_a.matrix()
    n = r @ np.array(a.normal)
    q = pose_b.apply(b.points(-n @ pose_b.matrix()))
    height = float(n @ (q - pose_a.position) - a.offset)
    size = b.radius + float(np.linalg.norm(np.subtract(pose_b.position, pose_a.position))) + abs(a.offset)
    err = POINT_ROUNDING * (size + float(np.linalg.norm(pose_a.position))) + b.error
    return height, height - err, height + err, n, q - height * n, q, size, 1
