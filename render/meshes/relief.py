"""Ground coloured by height, as on a map: finish "relief". From green over sand and brown to stone, in bands of equal height."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from tumble.collision.shapes.ground import Ground
from tumble.render import look
from tumble.render.meshes.meshes import mesh_of
from tumble.render.meshes.visuals import Skin

# as displayed, 0 to 255, from the lowest place to the highest
TINTS = np.array([(70, 110, 84), (126, 150, 98), (188, 182, 122), (206, 170, 116), (166, 122, 88), (222, 214, 204)], float)
BANDS = 12  # at most; their heights are 1, 2 or 5 times a power of ten
STEP = 0.05  # by how much every other band is darker
ROWS, MARGIN = 480, 16  # texels of the heights; above and below them, where filters of pictures look across the border


def band_height(span: float) -> float:
    """The least of 1, 2, 5, 10, ... times a power of ten [m] of which at most BANDS make the span from lowest to highest."""
    if not span > 0.0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(span / BANDS))
    return next(c * power for c in (1.0, 2.0, 5.0, 10.0) if span <= BANDS * c * power)


def tint(heights: np.ndarray, low: float, high: float) -> np.ndarray:
    """(n, 3) colours as displayed, 0 to 1, of heights between ``low`` and ``high`` [m]."""
    span = high - low
    share = (heights - low) / span if span > 0.0 else np.full(len(heights), 0.5)
    at = np.linspace(0.0, 1.0, len(TINTS))
    colors = np.stack([np.interp(share, at, TINTS[:, k]) for k in range(3)], axis=1) / 255.0
    odd = np.floor(heights / band_height(span)) % 2 == 1
    return np.where(odd[:, None], 1.0 - STEP, 1.0) * colors


@lru_cache(maxsize=8)
def relief(ground: Ground) -> Skin:
    """The surface of a ground with a picture of its heights, as the z of its own frame counts them."""
    points, normals, triangles = mesh_of(("ground", ground)).triangles()
    low, high = ground.bounds[:, 2].tolist()
    share = (points[:, 2] - low) / (high - low) if high > low else np.full(len(points), 0.5)
    rows = high - np.clip((np.arange(-MARGIN, ROWS + MARGIN) + 0.5) / ROWS, 0.0, 1.0) * (high - low)  # the top row first
    picture = np.round(255.0 * tint(rows, low, high)).astype(np.uint8)[:, None]
    places = np.stack([np.full(len(points), 0.5), (MARGIN + ROWS * share) / (ROWS + 2 * MARGIN)], axis=1)
    return Skin(points, normals, triangles, np.ones(3), picture, places)


def corner_colors(ground: Ground) -> np.ndarray:
    """(v, 3) linear colours at the corners of the surface's ``triangles``, for what draws no pictures."""
    low, high = ground.bounds[:, 2].tolist()
    return look.linear(tint(mesh_of(("ground", ground)).triangles()[0][:, 2], low, high))
