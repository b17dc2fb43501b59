"""Pictures summed up from many, each in the light of one place of the sun and one of the sky, and by a part of the pixel.

The sum has soft shadows as wide as the sun is, a sky that bodies hide from each other, smooth edges, floors that mirror roughly,
and, where each is of another moment, what moves is blurred as on film.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tumble.render import look
from tumble.render.opengl.maps import ShadowMap
from tumble.render.opengl.programs import UNITS, Owner, Programs

ROUGH = 0.02  # [rad] two thirds of the normals of a floor that mirrors are off by less
WIDTH = 0.5  # pixels: standard deviation of the filter that edges are smoothed by
SKY = 384  # texels along the side of the map of the sky: each of many
GOLDEN = (1.0 + 5.0**0.5) / 2.0


@dataclass(frozen=True, eq=False)
class Light:
    """One picture of the sum: directions towards the ``sun`` and the ``sky``, ``shift`` [pixels], ``tilt`` (3,) of floors."""

    sun: np.ndarray
    sky: np.ndarray | None = None
    shift: tuple[float, float] = (0.0, 0.0)
    tilt: np.ndarray | None = None


@lru_cache(maxsize=8)
def lights(count: int) -> tuple[Light, ...]:
    """So many, evenly over sun, sky and pixel; always the same."""
    k = np.arange(count) + 0.5
    # a spiral over the sky: even in height, for that is even in area
    high, round_ = k / count, 2.0 * np.pi * k / GOLDEN
    flat = np.sqrt(1.0 - high**2)
    sky = np.stack([flat * np.cos(round_), flat * np.sin(round_), high], axis=1)
    # sun, pixel and floor in orders of their own, so that no two go together: shares of the plastic number (Roberts 2018)
    plastic = 1.32471795724474602596
    u, v = np.mod(k / plastic, 1.0), np.mod(k / plastic**2, 1.0)
    radius, angle = np.sqrt(u) * np.tan(np.radians(look.SUN_SIZE)), 2.0 * np.pi * v
    right = np.cross((0.0, 1.0, 0.0), look.SUN)
    right /= np.linalg.norm(right)
    up = np.cross(look.SUN, right)
    suns = look.SUN + (radius * np.cos(angle))[:, None] * right + (radius * np.sin(angle))[:, None] * up
    suns /= np.linalg.norm(suns, axis=1)[:, None]
    order = np.argsort(np.mod(k * GOLDEN, 1.0))
    far = WIDTH * np.sqrt(-2.0 * np.log(1.0 - (k[order] / count)))
    shift = np.stack([far * np.cos(7.0 * angle), far * np.sin(7.0 * angle)], axis=1)
    other = np.argsort(np.mod(k * 2.0**0.5, 1.0))
    lean = ROUGH * np.sqrt(-2.0 * np.log(1.0 - k[other] / count))
    tilt = np.stack([lean * np.cos(3.0 * round_), lean * np.sin(3.0 * round_), np.zeros(count)], axis=1)
    return tuple(Light(s, d, (float(a), float(b)), t) for s, d, (a, b), t in zip(suns, sky, shift, tilt, strict=True))


class Gathering(Owner):
    """The sum of pictures: draw each on ``shot``, then :meth:`add`; :meth:`end` puts it on the target as it is displayed."""

    def __init__(self, context: Any, programs: Programs, target: Any):
        super().__init__()
        self._gl, self._programs, self._target = context, programs, target
        size, keep = target.size, self._keep
        self.sky = keep(ShadowMap(context, SKY, "u_sky_shadow"))
        self._light, self._mirror, self._sum = (keep(context.texture(size, 4, dtype=kind)) for kind in ("f2", "f2", "f4"))
        self.shot = keep(context.framebuffer([self._light], keep(context.depth_renderbuffer(size))))
        self.mirrored = keep(context.framebuffer([self._mirror], keep(context.depth_renderbuffer(size))))
        self._total = keep(context.framebuffer([self._sum]))

    def begin(self) -> None:
        self._total.clear()
        self._mirror.use(UNITS["u_mirrored"])

    def add(self) -> None:
        """Add what was drawn on ``shot``."""
        gl = self._gl
        self._total.use()
        gl.enable_only(gl.BLEND)
        gl.blend_func = gl.ONE, gl.ONE
        self._light.use(UNITS["u_picture"])
        self._programs.render("add")

    def end(self) -> None:
        """The sum as displayed on the target, with the depths of the last picture for what is drawn over it."""
        gl = self._gl
        gl.copy_framebuffer(self._target, self.shot)  # the depths
        self._target.use()
        gl.enable_only(gl.NOTHING)
        self._sum.use(UNITS["u_picture"])
        self._programs.render("gather")
