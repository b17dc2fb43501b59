"""Sky and floor for the software painter, pixel by pixel in NumPy: the same picture as floor.frag and sky.frag make.

Too slow to do for every frame, and not needed: it changes with the camera and the floor alone, and the painter keeps it.
"""

from __future__ import annotations

import numpy as np

from tumble.render import look
from tumble.render.camera import Camera
from tumble.render.frames.overlay import square_of
from tumble.render.rotation import cross


def backdrop(
    camera: Camera, planes: list[tuple[np.ndarray, float]], size: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """``(in sun, in shade, plane of each pixel)``: (h, w, 3) as displayed twice, and a mask (h, w) for each plane."""
    width, height = size
    right, up, back = camera.axes()
    tall = camera.tangent
    x = (2.0 * (np.arange(width) + 0.5) / width - 1.0) * tall * width / height
    y = (1.0 - 2.0 * (np.arange(height) + 0.5) / height) * tall
    towards = -back + x[None, :, None] * right + y[:, None, None] * up
    rise = towards[..., 2] / np.linalg.norm(towards, axis=2)
    below = look.HORIZON if planes else look.NADIR
    amount = (rise**2 / (rise**2 + 0.04))[..., None]
    sky = look.HORIZON + amount * np.where((rise > 0)[..., None], look.ZENITH - look.HORIZON, below - look.HORIZON)
    in_sun, in_shade, nearest = sky.copy(), sky.copy(), np.full((height, width), np.inf)
    masks = []
    for normal, level in planes:
        steep = towards @ normal
        away = (level - float(normal @ camera.position)) / np.where(np.abs(steep) < 1e-12, 1e-12, steep)
        seen = (away > 0) & (away < nearest) & (away * np.linalg.norm(towards, axis=2) < 60.0 * camera.distance)
        nearest = np.where(seen, away, nearest)
        masks = [mask & ~seen for mask in masks] + [seen]
        sun, shade, clear = _floor(camera, normal, level, towards, np.where(seen, away, 0.0))
        strength = (clear * (0.35 if float(normal @ camera.position) < level else 1.0))[..., None] * seen[..., None]
        in_sun += strength * (sun - in_sun)
        in_shade += strength * (shade - in_shade)
    return in_sun, in_shade, masks


def _floor(camera: Camera, normal: np.ndarray, level: float, towards: np.ndarray, away: np.ndarray) -> tuple:
    """Colours of a floor in the sun and in shade, (h, w, 3), and how clearly it is seen, (h, w)."""
    target = np.asarray(camera.target)
    middle = target - (normal @ target - level) * normal
    a, b = plane_axes(normal)
    square = square_of(camera)
    points = np.asarray(camera.position) - middle + away[..., None] * towards
    plane = np.stack([points @ a, points @ b], axis=-1)
    p = plane / square + np.mod(np.array([middle @ a, middle @ b]) / square, 20.0)
    w = np.abs(np.gradient(p, axis=0)) + np.abs(np.gradient(p, axis=1)) + 1e-6  # change over a pixel
    check = _checker(p, w)[..., None]
    line = np.maximum(0.5 * _lines(p, w, 0.012), _lines(0.1 * p, 0.1 * w, 0.0022))[..., None]
    colors = []
    below = float(normal @ camera.position) < level
    for dark, light, mark in look.floor_colors(-normal if below else normal):
        base = dark + check * (light - dark)
        colors.append(base + line * (mark - base))
    from_target = points + middle - target
    clear = 1.0 / (1.0 + np.einsum("...i,...i->...", from_target, from_target) / (6.0 * camera.distance) ** 2)
    return colors[0], colors[1], clear**2


def plane_axes(normal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two unit vectors along a plane; x and y for a level one."""
    a = cross((0.0, 1.0, 0.0) if abs(normal[1]) < 0.9 else (1.0, 0.0, 0.0), normal)
    a /= np.linalg.norm(a)
    return a, cross(normal, a)


def _checker(p: np.ndarray, w: np.ndarray) -> np.ndarray:
    half = lambda x: np.abs(np.mod(0.5 * x, 1.0) - 0.5)  # noqa: E731
    i = 2.0 * (half(p - 0.5 * w) - half(p + 0.5 * w)) / w
    return 0.5 - 0.5 * i[..., 0] * i[..., 1]


def _lines(p: np.ndarray, w: np.ndarray, half_width: float) -> np.ndarray:
    d = np.abs(np.mod(p - 0.5, 1.0) - 0.5)
    wide = np.maximum(half_width, 0.5 * w)
    cover = np.clip((wide + 0.5 * w - d) / w, 0.0, 1.0) * (half_width / wide)
    return cover.max(axis=-1)
