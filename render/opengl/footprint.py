"""Parts of the picture that hold what is looked for, such as shadows on a floor: elsewhere it is drawn without."""

from __future__ import annotations

import numpy as np

from tumble.render.camera import Camera
from tumble.render.look import SUN
from tumble.render.rotation import cross

Rect = tuple[int, int, int, int]  # left, bottom, width, height in pixels, rows counted from below as OpenGL does
BANDS = 8


def shadowed(
    camera: Camera,
    size: tuple[int, int],
    normal: np.ndarray,
    level: float,
    centers: np.ndarray,
    radii: np.ndarray,
    blur: float,
    sky: float = 0.0,
) -> list[Rect]:
    """Rectangles, one above the other, that hold all shadows of balls, (n, 3) and (n,), on the plane normal . x = level.

    ``blur`` [m]: how far the filter of the shadow's edge reaches. The shadow of a ball of radius r is an ellipse about the point
    where the ray of the sun through its centre meets the plane: r wide, r / (normal . sun) long. ``sky`` [m]: how far around
    it a ball hides the sky, if it does.
    """
    slope = float(normal @ SUN)
    if float(normal @ camera.position) < level:
        return []  # nothing falls on this side of it
    discs = []  # (middles (k, 3), half the extents (2, k), their directions (2, 3))
    if sky > 0.0 and len(radii):
        if normal[2] < 0.2:
            return [(0, 0, *size)]
        under = centers - ((centers @ normal - level) / normal[2])[:, None] * (0.0, 0.0, 1.0)
        along = cross((0.0, 1.0, 0.0), normal) / normal[2]  # one to the right, seen from above
        ahead = cross(normal, (1.0, 0.0, 0.0)) / normal[2]
        discs.append((under, np.array([radii + sky, radii + sky]), np.array([along, ahead])))
    height = centers @ normal - level
    casts = height > -radii
    if slope > 1e-3 and casts.any():  # else the sun does not reach it
        feet = centers[casts] - (height[casts] / slope)[:, None] * SUN
        along = SUN - slope * normal
        along = along / max(float(np.linalg.norm(along)), 1e-9) if slope < 1.0 - 1e-12 else camera.axes()[0]
        half = radii[casts] + blur
        discs.append((feet, np.array([half / slope, half]), np.array([along, cross(normal, along)])))
    boxes = [_boxes(camera, size, *disc) for disc in discs]
    if any(box is None for box in boxes):
        return [(0, 0, *size)]
    return bands(*(np.concatenate(ends) for ends in zip(*boxes, strict=True)), size) if boxes else []


def _boxes(
    camera: Camera, size: tuple[int, int], middles: np.ndarray, half: np.ndarray, axes: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """``(lo (k, 2), hi (k, 2))`` [pixels] of rectangles about ``middles``, (k, 3) [m]; None if one is beside the eye or behind.

    As :meth:`Camera.project` does it, but for the corners by what they add to the middles.
    """
    frame = camera.axes() * ((1.0,), (1.0,), (-1.0,))
    middle, (a, b) = frame @ (middles - camera.position).T, (axes @ frame.T)[:, :, None] * half[:, None, :]
    corners = np.stack([middle + a + b, middle + a - b, middle - a + b, middle - a - b])  # (4, 3, k)
    depth = corners[:, 2]
    if depth.min() < 0.01 * camera.distance:
        return None
    focal = camera.focal(size[1])
    pixels = focal * corners[:, :2] / depth[:, None] * ((1.0,), (-1.0,)) + ((0.5 * size[0],), (0.5 * size[1],))
    return pixels.min(axis=0).T - 1.0, pixels.max(axis=0).T + 1.0


def bands(lo: np.ndarray, hi: np.ndarray, size: tuple[int, int]) -> list[Rect]:
    """Rectangles, one above the other, that hold boxes ``lo`` to ``hi``, (n, 2) each in pixels from the top left corner."""
    edges = np.linspace(*np.clip([lo[:, 1].min(), hi[:, 1].max()], 0, size[1]), BANDS + 1).round().astype(int)
    out = []
    for top, bottom in zip(edges[:-1], edges[1:], strict=True):
        here = (lo[:, 1] < bottom) & (hi[:, 1] > top)
        if here.any():
            left, right = np.clip([np.floor(lo[here, 0].min()), np.ceil(hi[here, 0].max())], 0, size[0]).astype(int)
            if right > left and bottom > top:
                out.append((int(left), int(size[1] - bottom), int(right - left), int(bottom - top)))
    return out


def around(rects: list[Rect], size: tuple[int, int]) -> list[Rect]:
    """Rectangles that fill the rest of the picture."""
    out, level = [], 0
    for left, bottom, width, height in sorted(rects, key=lambda rect: rect[1]):
        out += [(0, level, size[0], bottom - level)]
        out += [(0, bottom, left, height), (left + width, bottom, size[0] - left - width, height)]
        level = bottom + height
    return [rect for rect in (*out, (0, level, size[0], size[1] - level)) if rect[2] > 0 and rect[3] > 0]
