"""Straight strokes in the world, some pixels wide: what lines, arrows, dots and trails are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tumble.render.camera import Camera


@dataclass(frozen=True, eq=False)
class Strokes:
    """``rows`` (k, 16): a (3), b (3), widths at a and b [pixels], colours at a and b (4 each)."""

    rows: np.ndarray
    xray: bool  # drawn over everything, else hidden by what stands in front


def lines(a: np.ndarray, b: np.ndarray, widths: tuple[float, float], color_a: object, color_b: object = None) -> np.ndarray:
    """Rows of strokes from a to b, (n, 3) each; colours (4,) or (n, 4)."""
    n = len(a)
    color_b = color_a if color_b is None else color_b
    tile = lambda v, k: np.broadcast_to(np.asarray(v, float), (n, k))  # noqa: E731
    return np.concatenate([a, b, tile(widths, 2), tile(color_a, 4), tile(color_b, 4)], axis=1)


def dots(points: np.ndarray, size: float, color: object) -> np.ndarray:
    return lines(points, points, (size, size), color)


def arrows(start: np.ndarray, vectors: np.ndarray, color: object, camera: Camera, unit: float, width: float = 4.0) -> np.ndarray:
    """Shaft and head of each arrow; the head is 18 pixels long, or half of a short arrow. Colour (3,) or (n, 3)."""
    reach = np.linalg.norm(vectors, axis=1)
    keep = reach > 1e-9 * camera.distance
    colors = np.broadcast_to(np.asarray(color, float), (len(start), 3))[keep]
    start, vectors, reach = start[keep], vectors[keep], reach[keep]
    if not len(start):
        return np.zeros((0, 16))
    pixel = np.linalg.norm(start - camera.position, axis=1) * 2 * camera.tangent / 720  # m
    neck = start + vectors * (1.0 - np.minimum(18.0 * pixel / reach, 0.5))[:, None]
    ink = np.concatenate([colors, np.full((len(start), 1), 0.95)], axis=1)
    shaft = lines(start, neck, (width * unit, width * unit), ink)
    return np.concatenate([shaft, lines(neck, start + vectors, (3.6 * width * unit, 0.0), ink)])


def path(points: np.ndarray, color: object, widths: tuple[float, float], most: float = 0.75, least: float = 0.0) -> np.ndarray:
    """A strip through (m, 3) points that fades towards its beginning; ``widths`` [pixels] there and at its end."""
    n = len(points) - 1
    if n < 1:
        return np.zeros((0, 16))
    fade = np.linspace(least, most, n + 1)
    colors = np.concatenate([np.tile(np.asarray(color, float), (n + 1, 1)), fade[:, None]], axis=1)
    wide = np.linspace(*widths, n + 1)
    return np.concatenate([points[:-1], points[1:], wide[:-1, None], wide[1:, None], colors[:-1], colors[1:]], axis=1)
