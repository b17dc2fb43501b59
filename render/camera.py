"""The camera: where it stands, and the matrices it makes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tumble.collision.errors import InputError, check_vector
from tumble.collision.spelling import check_keys
from tumble.render.rotation import cross
from tumble.sim.checks import check_range

KEYS = ("position", "target", "up", "fov_degrees")  # of a camera that is given as a dict
FOV = 35.0  # degrees from top to bottom: near the eye's, little distortion


@dataclass(frozen=True)
class Camera:
    """A pinhole looking from ``position`` at ``target`` (3,) [m] with ``up`` upwards; ``fov_degrees`` from top to bottom.

    ``square`` [m]: the width of the squares that floors are drawn with; by the distance to the target, unless given.
    """

    position: tuple[float, float, float]
    target: tuple[float, float, float]
    up: tuple[float, float, float] = (0.0, 0.0, 1.0)
    fov_degrees: float = FOV
    square: float | None = None

    @property
    def distance(self) -> float:
        return float(np.linalg.norm(np.subtract(self.position, self.target)))

    @property
    def tangent(self) -> float:
        """Of half the angle of view, from the middle of a picture to its top."""
        return np.tan(np.radians(self.fov_degrees) / 2)

    def focal(self, height: int) -> float:
        """[pixels] by which what is as wide as it is far away is wide in a picture of some height."""
        return 0.5 * height / self.tangent

    def axes(self) -> np.ndarray:
        """(3, 3) rows: right, up, back (towards the viewer), as unit vectors in the world."""
        return self._axes

    @cached_property
    def _axes(self) -> np.ndarray:
        back = _unit(np.subtract(self.position, self.target), (0.0, -1.0, 0.0))
        right = cross(self.up, back)
        if np.linalg.norm(right) < 1e-9 * max(1.0, float(np.linalg.norm(self.up))):  # looking along up: any right will do
            right = cross((0.0, 1.0, 0.0) if abs(back[1]) < 0.9 else (1.0, 0.0, 0.0), back)
        right = _unit(right, (1.0, 0.0, 0.0))
        axes = np.stack([right, cross(back, right), back])
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
        f = 1.0 / self.tangent
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
        f = self.focal(size[1])
        safe = np.where(np.abs(depth) < 1e-12, 1e-12, depth)
        return np.stack([0.5 * size[0] + f * eye[:, 0] / safe, 0.5 * size[1] - f * eye[:, 1] / safe], axis=1), depth

    @classmethod
    def of(cls, given: Any) -> Camera:
        """A camera from anything with ``position`` and ``target`` (and perhaps ``up``, ``fov_degrees``), or a dict of them."""
        if isinstance(given, cls):
            return given
        if isinstance(given, dict):
            check_keys(given, KEYS, "camera.")
        get = given.get if isinstance(given, dict) else lambda name, default=None: getattr(given, name, default)
        position, target = get("position"), get("target")
        if position is None or target is None:
            raise InputError("camera", given, "needs position and target, three numbers each")
        at, to = check_vector("camera.position", position), check_vector("camera.target", target)
        up = check_vector("camera.up", get("up", (0, 0, 1)))
        if np.array_equal(at, to):
            raise InputError("camera.target", list(to), "must differ from camera.position")
        fov = check_range("camera.fov_degrees", get("fov_degrees", FOV), 1, 170)
        return cls(at, to, up, fov)


def towards(azimuth: float, elevation: float) -> np.ndarray:
    """(3,) unit vector in a direction, by its angles in degrees."""
    a, e = np.radians(azimuth), np.radians(elevation)
    return np.array([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)])


def _unit(v: np.ndarray, otherwise: tuple) -> np.ndarray:
    length = float(np.linalg.norm(v))
    return np.asarray(v, float) / length if length > 0 else np.asarray(otherwise, float)
