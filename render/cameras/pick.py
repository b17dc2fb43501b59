"""What lies under a pixel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tumble.collision.pose import Pose
from tumble.collision.queries.ray_casts import ray_cast
from tumble.render.camera import Camera
from tumble.render.frames.frame import Frame


class Hit(NamedTuple):
    """``body``: its row; ``point`` (3,) [m] in the world; ``local`` (3,) the same in the body frame; ``distance`` [m]."""

    body: int
    point: np.ndarray
    local: np.ndarray
    distance: float


def ray(camera: Camera, pixel: tuple[float, float], size: tuple[int, int]) -> np.ndarray:
    """(3,) unit vector from the eye through a point of the picture, counted as in :meth:`Camera.project`."""
    right, up, back = camera.axes()
    tall = camera.tangent
    x = (2.0 * pixel[0] / size[0] - 1.0) * tall * size[0] / size[1]
    y = (1.0 - 2.0 * pixel[1] / size[1]) * tall
    towards = -back + x * right + y * up
    return towards / np.linalg.norm(towards)


def pick(frame: Frame, camera: Camera, pixel: tuple[float, float], size: tuple[int, int]) -> Hit | None:
    """The first body under a pixel; None: the sky."""
    eye, towards = np.asarray(camera.position), ray(camera, pixel, size)
    centers, radii = frame.balls()
    away = centers - eye
    along = away @ towards
    near = ~np.isfinite(radii) | ((np.linalg.norm(away - along[:, None] * towards, axis=1) <= radii) & (along > -radii))
    best: Hit | None = None
    for body in np.flatnonzero(near & np.isfinite(frame.positions).all(axis=1)):
        pose = Pose(tuple(frame.positions[body]), tuple(frame.orientations[body]))
        hit = ray_cast(frame.cast.shapes[body], pose, eye, towards, np.inf if best is None else best.distance)
        if hit is not None and not hit.inside:
            best = Hit(int(body), hit.point, pose.matrix().T @ (hit.point - frame.positions[body]), float(hit.distance))
    return best
