"""The one place for colours, light and quality: what the GL renderer and the software painter share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tumble.collision.errors import InputError
from tumble.sim.scene.body_definition import rgb as color_of

# Seven hues after Okabe and Ito (2008), "Color Universal Design", which people with any of the common colour deficiencies
# tell apart; ordered so that neighbours differ in lightness too, and tuned a little to survive the tone curve.
PALETTE = ("#1f78c8", "#f09a12", "#12a67c", "#e0601f", "#62b9ee", "#d079ab", "#f2dc3c")
STATIC = "#a9a59c"
KINEMATIC = "#7c8591"

SUN = np.array([-0.62, -0.34, 0.86]) / np.linalg.norm([-0.62, -0.34, 0.86])  # towards the sun
SUN_LIGHT = np.array([1.62, 1.53, 1.38])  # linear light, warm
SKY_LIGHT = np.array([0.62, 0.68, 0.77])  # what a surface facing up gets from the sky
GROUND_LIGHT = np.array([0.40, 0.385, 0.365])  # what a surface facing down gets back from the ground
EXPOSURE = 0.82

HORIZON = np.array([0.880, 0.905, 0.930])  # as displayed, not linear
ZENITH = np.array([0.510, 0.660, 0.815])
NADIR = np.array([0.610, 0.660, 0.715])
HORIZON_LIGHT = np.array([1.2924, 1.4097, 1.5335])  # the light that is displayed so
ZENITH_LIGHT = np.array([0.2101, 0.3712, 0.6353])
NADIR_LIGHT = np.array([0.2764, 0.3303, 0.3991])
FLOOR_GLOW = np.array([0.324, 0.344, 0.369])  # the light that an open floor gives back
FLOOR_DARK = np.array([0.150, 0.162, 0.178])  # albedo, linear
FLOOR_LIGHT = np.array([0.196, 0.208, 0.224])
FLOOR_LINE = np.array([0.330, 0.345, 0.365])
SUN_SIZE = 2.2  # degrees from the middle of the sun to its rim, where it is drawn as an area: larger than the real one, 0.27
BOUNCED = 0.15  # of the light of the sky that bodies hide, that they give back
MARK = 0.4  # albedo of the mark on a round body, so that its turning can be seen
EDGE = 0.22  # edge lines: the body's colour times this


@dataclass(frozen=True)
class Preset:
    """Quality against time.

    Attributes
    ----------
    shots : pictures that are summed up to one, each lit from another place of sun and sky.
    smooth : whether the stairs of slanting edges are smoothed afterwards.
    occluded : whether bodies hide the sky from each other, by a map.
    shadow, softness : texels along the side of the shadow map, and how many of them its filter reaches.
    detail : segments around a large round body.
    """

    shots: int
    smooth: bool
    occluded: bool
    shadow: int
    softness: float
    detail: int


PRESETS = {
    "fast": Preset(1, False, False, 1024, 0.0, 32),
    "default": Preset(1, True, True, 768, 1.2, 64),
    "best": Preset(64, False, False, 1024, 0.0, 96),
}


def rgb(color: object) -> tuple[float, float, float]:
    """(r, g, b) in [0, 1] from such a triple, "#rrggbb", "#rgb" or a name."""
    return color_of("color", color)


def linear(srgb: np.ndarray) -> np.ndarray:
    """Light from display values (IEC 61966-2-1)."""
    c = np.asarray(srgb, float)
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def display(light: np.ndarray) -> np.ndarray:
    """Display values in [0, 1] from (..., 3) light: exposure, film curve, sRGB. As in light.glsl.

    The curve is Narkowicz's fit of ACES (2015). Taken channel by channel it turns bright orange to yellow, taken on the
    strongest channel it keeps the hue but burns out hard: two parts of the second, one of the first.
    """
    x = np.asarray(light, float) * EXPOSURE
    top = x.max(axis=-1, keepdims=True)
    x = (film(x) + 2.0 * film(top) * x / np.maximum(top, 1e-6)) / 3.0
    return np.where(x <= 0.0031308, 12.92 * x, 1.055 * x ** (1 / 2.4) - 0.055)


def floor_colors(normal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Colours as displayed of dark squares, light squares and lines, (3, 3) each: in the sun, and in shade."""
    albedo = np.stack([FLOOR_DARK, FLOOR_LIGHT, FLOOR_LINE])
    ambient = GROUND_LIGHT + (0.5 + 0.5 * normal[2]) * (SKY_LIGHT - GROUND_LIGHT)
    return display(albedo * (ambient + max(float(normal @ SUN), 0.0) * SUN_LIGHT)), display(albedo * ambient)


def film(x: np.ndarray) -> np.ndarray:
    return np.clip(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0)


def preset(name: str) -> Preset:
    """The preset of that name."""
    if name not in PRESETS:
        raise InputError("preset", name, f"must be one of {', '.join(PRESETS)}")
    return PRESETS[name]
