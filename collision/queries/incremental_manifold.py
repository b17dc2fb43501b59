"""Contact manifolds gathered point by point: the incremental way, beside the one-shot `contact_manifold`.

A distance query gives one point, the deepest. Points are kept from call to call, fixed to both shapes, as long as they
still are in touch; a body that rocks shows another deepest point each time, and after some calls there are four. Where
nothing rocks the shapes can be turned a little on purpose, to and fro, and put back (D. Gavlo, "Collision detection II",
Contact points). It works for whatever has a distance, but what it finds depends on the past; docs/collision.md compares
the two ways.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tumble.collision.errors import InputError, check_number
from tumble.collision.hints import PoseLike
from tumble.collision.pose import Pose
from tumble.collision.queries.proximity import Distance, Manifold, signed_distance
from tumble.collision.shapes.definitions import Shape

GATHERED_POINTS = 4  # that are kept from call to call
TURNS = 8  # directions of perturbation around the normal


@dataclass
class _Point:
    """A contact fixed to both shapes, in their own frames."""

    name: int
    on_a: np.ndarray
    on_b: np.ndarray


class IncrementalManifold:
    """Up to four contact points of two shapes, kept from call to call.

    breaking [m]: a point is given up where its gap grows beyond this or its two ends slide apart by as much, and a new
    one this close to an old one replaces it. perturbation [rad]: where not 0, each `update` also turns B by that angle
    about eight axes across the normal and takes the deepest points found there.

    >>> manifold = IncrementalManifold(Box(), Box(), perturbation=1e-3)
    >>> len(manifold.update(Pose(), Pose((0.2, 0.1, 1.0))).points)
    4
    """

    def __init__(self, a: Shape, b: Shape, breaking: float = 0.01, perturbation: float = 0.0):
        for name, shape in (("a", a), ("b", b)):
            if not isinstance(shape, Shape):
                raise InputError(name, shape, "must be a Shape")
        self.a, self.b = a, b
        self.breaking = check_number("breaking", breaking, above=0.0)
        self.perturbation = check_number("perturbation", perturbation, least=0.0)
        if self.perturbation > 0.1:
            raise InputError("perturbation", perturbation, "must be a small angle, at most 0.1 rad")
        self._points: list[_Point] = []
        self._named = 0

    def update(self, pose_a: PoseLike, pose_b: PoseLike) -> Manifold:
        """The points at these poses, as `contact_manifold` gives them; normal and status are those of the distance.

        A point keeps its id as long as it lives. Raises InputError for what is not a pose.
        """
        near = signed_distance(self.a, pose_a, self.b, pose_b)
        if near.distance > self.breaking:
            self._points = []
        else:
            self._points = [p for p in self._points if self._holds(p, pose_a, pose_b, near.normal)]
            found = [(near, pose_b)]
            if self.perturbation:
                turned = self._turned(pose_b, near)
                found += [(signed_distance(self.a, pose_a, self.b, pose), pose) for pose in turned]
            for answer, pose in found:
                self._add(answer, pose_a, pose, pose_b, near.normal)
        p, q, gaps = self._measure(pose_a, pose_b, near.normal)
        count = len(gaps)
        ids = np.array([point.name for point in self._points], np.int64)
        return Manifold(
            near.status, near.normal, (p + q) / 2, gaps, ids, np.tile(near.normal, (count, 1)), np.zeros((count, 2), int)
        )

    def _turned(self, pose_b: Pose, near: Distance):
        """Poses of B, turned a little about axes through the contact and across the normal."""
        n = near.normal
        u = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
        u /= np.linalg.norm(u)
        v = np.cross(n, u)
        for k in range(TURNS):
            angle = 2 * math.pi * (k + 0.5) / TURNS
            axis = math.sin(self.perturbation / 2) * (math.cos(angle) * u + math.sin(angle) * v)
            turn = Pose((0, 0, 0), (math.cos(self.perturbation / 2), *axis))
            yield Pose(near.point_b, turn.orientation) @ Pose(-near.point_b) @ pose_b

    def _measure(self, pose_a: Pose, pose_b: Pose, normal: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Both ends of all points in world axes, and their gaps."""
        p = pose_a.apply(np.array([point.on_a for point in self._points]).reshape(-1, 3))
        q = pose_b.apply(np.array([point.on_b for point in self._points]).reshape(-1, 3))
        return p, q, (q - p) @ normal

    def _holds(self, point: _Point, pose_a: Pose, pose_b: Pose, normal: np.ndarray) -> bool:
        apart = pose_b.apply(point.on_b) - pose_a.apply(point.on_a)
        gap = apart @ normal
        return bool(gap <= self.breaking and np.linalg.norm(apart - gap * normal) <= self.breaking)

    def _add(self, found: Distance, pose_a: Pose, pose_then: Pose, pose_b: Pose, normal: np.ndarray) -> None:
        """Take in the witness points of an answer that was found with B at ``pose_then``."""
        new = _Point(self._named, pose_a.inverse().apply(found.point_a), pose_then.inverse().apply(found.point_b))
        if not self._holds(new, pose_a, pose_b, normal):
            return
        for old in self._points:
            if np.linalg.norm(old.on_a - new.on_a) < self.breaking or np.linalg.norm(old.on_b - new.on_b) < self.breaking:
                old.on_a, old.on_b = new.on_a, new.on_b
                return
        self._named += 1
        self._points.append(new)
        if len(self._points) > GATHERED_POINTS:
            self._drop(pose_a, pose_b, normal)

    def _drop(self, pose_a: Pose, pose_b: Pose, normal: np.ndarray) -> None:
        """Leave out one of five points: never the deepest, and so that the rest spans the largest area."""
        p, _, gaps = self._measure(pose_a, pose_b, normal)
        choices = [k for k in range(len(p)) if k != int(np.argmin(gaps))]
        worst = max(choices, key=lambda k: _area(np.delete(p, k, axis=0), normal))
        del self._points[worst]


def _area(points: np.ndarray, normal: np.ndarray) -> float:
    """Area of the hull of four points seen along the normal: the largest of the three ways to pair them as diagonals."""
    pairs = ((0, 1, 2, 3), (0, 2, 1, 3), (0, 3, 1, 2))
    return max(abs(normal @ np.cross(points[b] - points[a], points[d] - points[c])) / 2 for a, b, c, d in pairs)
