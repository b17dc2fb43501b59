"""Where in the picture shadows may fall on a floor: elsewhere it is drawn without looking for any, at half the cost."""

from __future__ import annotations

import numpy as np

from render.camera import Camera
from render.look import SUN

Rect = tuple[int, int, int, int]  # left, bottom, width, height in pixels, rows counted from below as OpenGL does


def shadowed(
    camera: Camera, size: tuple[int, int], normal: np.ndarray, level: float, centers: np.ndarray, radii: np.ndarray, blur: float
) -> Rect:
    """A rectangle that holds all shadows of balls, (n, 3) and (n,), on the plane normal . x = level; all of it if in doubt.

    ``blur`` [m]: how far the filter of the shadow's edge reaches. The shadow of a ball of radius r is an ellipse of half
    width r / (normal . sun) about the point where the ray of the sun through its centre meets the plane.
    """
    whole = (0, 0, *size)
    slope = float(normal @ SUN)
    if slope <= 1e-3 or float(normal @ camera.position) < level:
        return 0, 0, 0, 0  # the sun does not reach this side of it
    height = centers @ normal - level
    casts = height > -radii
    if not casts.any():
        return 0, 0, 0, 0
    feet = centers[casts] - (height[casts] / slope)[:, None] * SUN
    reach = radii[casts] / slope + blur
    pixels, depth = camera.project(feet, size)
    if (depth < 1.2 * reach).any():  # near the eye or behind it
        return whole
    focal = 0.5 * size[1] / np.tan(np.radians(camera.fov_degrees) / 2)
    wide = (1.5 * focal * reach / (depth - reach))[:, None] + 2  # a ball off the middle is seen wider, at most by 1/cos^2
    lo = np.clip(np.floor((pixels - wide).min(axis=0)), 0, size).astype(int)
    hi = np.clip(np.ceil((pixels + wide).max(axis=0)), 0, size).astype(int)
    return int(lo[0]), int(size[1] - hi[1]), int(hi[0] - lo[0]), int(hi[1] - lo[1])


def around(rect: Rect, size: tuple[int, int]) -> list[Rect]:
    """Up to four rectangles that fill the rest of the picture."""
    left, bottom, width, height = rect
    if width <= 0 or height <= 0:
        return [(0, 0, *size)]
    top, right = bottom + height, left + width
    parts = [(0, 0, size[0], bottom), (0, top, size[0], size[1] - top), (0, bottom, left, height)]
    return [p for p in (*parts, (right, bottom, size[0] - right, height)) if p[2] > 0 and p[3] > 0]
