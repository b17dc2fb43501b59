"""The camera: where it stands, the matrices it makes, and how it finds a place of its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from collision.errors import InputError

FOV = 35.0  # degrees from top to bottom: near the eye's, little distortion
MARGIN = 1.22  # air around what is to be seen


@dataclass(frozen=True)
class Camera:
    """A pinhole looking from ``position`` at ``target`` (3,) [m] with ``up`` upwards; ``fov_degrees`` from top to bottom."""

    position: tuple[float, float, float]
    target: tuple[float, float, float]
    up: tuple[float, float, float] = (0.0, 0.0, 1.0)
    fov_degrees: float = FOV

    @property
    def distance(self) -> float:
        return float(np.linalg.norm(np.subtract(self.position, self.target)))

    def axes(self) -> np.ndarray:
        """(3, 3) rows: right, up, back (towards the viewer), as unit vectors in the world."""
        return self._axes

    @cached_property
    def _axes(self) -> np.ndarray:
        back = _unit(np.subtract(self.position, self.target), (0.0, -1.0, 0.0))
        right = np.cross(self.up, back)
        if np.linalg.norm(right) < 1e-9 * max(1.0, float(np.linalg.norm(self.up))):  # looking along up: any right will do
            right = np.cross((0.0, 1.0, 0.0) if abs(back[1]) < 0.9 else (1.0, 0.0, 0.0), back)
        right = _unit(right, (1.0, 0.0, 0.0))
        axes = np.stack([right, np.cross(back, right), back])
        axes.flags.writeable = False
        return axes

    def view(self) -> np.ndarray:
        """(4, 4) from the world to the eye (x right, y up, z towards the viewer)."""
        out = np.eye(4)
        out[:3, :3] = self.axes()
        out[:3, 3] = -out[:3, :3] @ np.asarray(self.position, float)
        return out

    def projection(self, aspect: float) -> np.ndarray:
        """(4, 4) from the eye to OpenGL's clip space. The near plane is 1/100 of the distance to the target away."""
        near, far = 0.01 * self.distance, 400.0 * self.distance
        f = 1.0 / np.tan(np.radians(self.fov_degrees) / 2)
        return np.array(
            [
                [f / aspect, 0, 0, 0],
                [0, f, 0, 0],
                [0, 0, (far + near) / (near - far), 2 * far * near / (near - far)],
                [0, 0, -1, 0],
            ]
        )

    def project(self, points: np.ndarray, size: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        """``(pixels (n, 2), depth (n,) [m])`` of (n, 3) points on a picture ``size`` = (width, height).

        Pixels count from the top left corner of the picture, x to the right, y down; the first pixel's middle is (0.5, 0.5).
        Depth is measured along the line of sight and is negative behind the eye, where the pixel means nothing.
        """
        eye = (np.atleast_2d(np.asarray(points, float)) - self.position) @ self.axes().T
        depth = -eye[:, 2]
        f = 0.5 * size[1] / np.tan(np.radians(self.fov_degrees) / 2)
        safe = np.where(np.abs(depth) < 1e-12, 1e-12, depth)
        return np.stack([0.5 * size[0] + f * eye[:, 0] / safe, 0.5 * size[1] - f * eye[:, 1] / safe], axis=1), depth

    @classmethod
    def of(cls, given: Any) -> Camera:
        """A camera from anything with ``position`` and ``target`` (and perhaps ``up``, ``fov_degrees``), or a dict of them."""
        if isinstance(given, cls):
            return given
        get = given.get if isinstance(given, dict) else lambda name, default=None: getattr(given, name, default)
        position, target = get("position"), get("target")
        if position is None or target is None:
            raise InputError("camera", given, "needs position and target, three numbers each")
        return cls(_three(position), _three(target), _three(get("up", (0, 0, 1))), float(get("fov_degrees", FOV)))


def fit(centers: np.ndarray, radii: np.ndarray, aspect: float, *, floor: bool = False, fov_degrees: float = FOV) -> Camera:
    """A camera that sees all the balls given, (n, 3) and (n,), from a friendly side and as near as it can.

    It stands a little above, turned so that a long row is seen from its side at an angle. The place is exact: of all
    places with that direction of sight, the nearest from which each ball lies inside the four planes of the picture.
    """
    centers, radii = np.atleast_2d(np.asarray(centers, float)), np.atleast_1d(np.asarray(radii, float))
    if centers.size == 0:
        centers, radii = np.zeros((1, 3)), np.ones(1)
    lo, hi = (centers - radii[:, None]).min(axis=0), (centers + radii[:, None]).max(axis=0)
    if not (hi > lo).any():  # a single point: a metre around it
        radii = np.full(len(radii), 0.5)
    slender = (hi[2] - lo[2]) / max(float(np.hypot(*(hi - lo)[:2])), 1e-12)
    elevation = np.radians(np.interp(slender, (0.1, 1.5), (23.0, 13.0) if floor else (22.0, 20.0)))  # flat scenes from higher up
    azimuth = np.radians(_side(centers, radii))
    back = np.array([np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)])
    axes = Camera(tuple(back), (0.0, 0.0, 0.0)).axes()
    eye = centers @ axes.T  # x right, y up, z towards the viewer
    half_v = np.radians(fov_degrees) / 2
    tangents = np.tan(half_v) * aspect / MARGIN, np.tan(half_v) / MARGIN
    middle, distance = np.zeros(2), 0.0
    for k, t in enumerate(tangents):
        # inside both planes: +-(x - c) + r sqrt(1 + t^2) <= t (d - z); two bounds on c, and the least d that leaves room
        reach = radii * np.sqrt(1 + t * t) + t * eye[:, 2]
        high, low = (eye[:, k] + reach).max(), (-eye[:, k] + reach).max()
        middle[k] = 0.5 * (high - low)
        distance = max(distance, 0.5 * (high + low) / t)
    for _ in range(12):  # as much air on the left as on the right, above as below
        for k in range(2):
            away = np.maximum(distance - eye[:, 2], 1e-9)
            middle[k] += (
                0.25
                * (((eye[:, k] - middle[k] + radii) / away).max() + ((eye[:, k] - middle[k] - radii) / away).min())
                * (distance - np.median(eye[:, 2]))
            )
    position = axes.T @ np.array([middle[0], middle[1], distance])
    depth = distance - float(np.average(eye[:, 2]))
    target = position - back * max(depth, 1e-6 * distance)
    return Camera(_three(position), _three(target), fov_degrees=fov_degrees)


def _side(centers: np.ndarray, radii: np.ndarray) -> float:
    """Azimuth in degrees of the side to look from: broadside on to a long row, turned by 30 degrees; else from the front."""
    flat = centers[:, :2] - centers[:, :2].mean(axis=0)
    spread = flat.T @ flat / len(flat) + np.eye(2) * float(np.mean(radii**2)) / 3
    values, vectors = np.linalg.eigh(spread)
    if values[1] < 3.0 * values[0]:
        return -58.0
    normal = np.degrees(np.arctan2(vectors[1, 0], vectors[0, 0])) + 30.0
    return (normal + 148.0) % 180.0 - 148.0  # of the two sides, the one nearer to the front


def robust_extent(centers: np.ndarray, radii: np.ndarray, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Drop what flies off: balls more than 8 times the first scene's size from its middle. The first ``first`` balls are it."""
    start, size = centers[:first], radii[:first]
    lo, hi = (start - size[:, None]).min(axis=0), (start + size[:, None]).max(axis=0)
    keep = np.linalg.norm(centers - 0.5 * (lo + hi), axis=1) <= 8.0 * max(0.5 * float(np.linalg.norm(hi - lo)), 1e-12)
    return centers[keep], radii[keep]


def _three(v: Any) -> tuple[float, float, float]:
    x, y, z = (float(c) for c in v)
    return x, y, z


def _unit(v: np.ndarray, otherwise: tuple) -> np.ndarray:
    length = float(np.linalg.norm(v))
    return np.asarray(v, float) / length if length > 0 else np.asarray(otherwise, float)
