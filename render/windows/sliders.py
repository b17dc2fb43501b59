"""Sliders of numbers, in the lower right corner of the window: what they look like, and which of them a pixel is on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tumble.render.look import PALETTE, rgb
from tumble.render.text import INK, LEAST, Panel, font, pixels_of, veil
from tumble.sim.words import printable

MOST = 9  # that there is room for
BLUE = rgb(PALETTE[0])


@dataclass
class Slider:
    """A number between two ends [SI]; ``whole``: a whole one."""

    name: str
    value: float
    low: float
    high: float
    unit: str = ""
    whole: bool = False

    @property
    def share(self) -> float:
        return float(np.clip((self.value - self.low) / (self.high - self.low), 0.0, 1.0))

    def pull(self, share: float) -> None:
        """Move it to a share of its way; round numbers, for nobody can pull more than three digits."""
        value = self.low + float(np.clip(share, 0.0, 1.0)) * (self.high - self.low)
        step = 10.0 ** np.floor(np.log10((self.high - self.low) / 200.0))
        value = float(np.clip(round(value / step) * step, self.low, self.high))
        self.value = int(round(value)) if self.whole else float(f"{value:.12g}")


@dataclass(frozen=True)
class Sheet:
    """Where the sliders are in a picture of some size [pixels]."""

    left: int
    top: int
    width: int
    row: int
    pad: int

    @classmethod
    def of(cls, size: tuple[int, int], count: int) -> Sheet:
        unit = size[1] / 720
        width, row, pad, margin = round(300 * unit), max(round(46 * unit), 14), round(12 * unit), round(18 * unit)
        return cls(size[0] - width - margin, size[1] - margin - 2 * pad - row * min(count, MOST), width, row, pad)

    def at(self, pixel: tuple[float, float], count: int) -> int | None:
        """The slider under a pixel."""
        x, y = pixel[0] - self.left, pixel[1] - self.top - self.pad
        row = int(y // self.row)
        return row if 0 <= x <= self.width and 0 <= y and row < min(count, MOST) else None

    def share(self, x: float) -> float:
        return (x - self.left - self.pad) / max(self.width - 2 * self.pad, 1)

    def track(self, row: int, share: float) -> tuple[float, float]:
        """The pixel of a slider's handle."""
        return self.left + self.pad + share * (self.width - 2 * self.pad), self.top + self.pad + (row + 0.72) * self.row


def panel(sliders: list[Slider], size: tuple[int, int]) -> Panel:
    """All sliders, each with its name and value."""
    sheet, shown = Sheet.of(size, len(sliders)), sliders[:MOST]
    surface = veil((sheet.width, 2 * sheet.pad + sheet.row * len(shown)), sheet.pad)
    letters = font(max(round(17 * size[1] / 720), LEAST))
    ink = [round(255 * c) for c in INK]
    for k, slider in enumerate(shown):
        x, y = sheet.track(k, slider.share)
        x, y, left = x - sheet.left, y - sheet.top, sheet.pad
        surface.blit(letters.render(printable(slider.name.replace("_", " ")), True, ink), (left, sheet.pad + k * sheet.row))
        value = letters.render(f"{slider.value:.4g} {slider.unit}".strip(), True, ink)
        surface.blit(value, (sheet.width - sheet.pad - value.get_width(), sheet.pad + k * sheet.row))
        thick = max(sheet.row // 14, 2)
        draw_slider(surface, (left, sheet.width - left), x, y, thick, max(sheet.row // 7, 3))
    return Panel(pixels_of(surface), sheet.left, sheet.top)


def draw_slider(surface: Any, ends: tuple[float, float], x: float, y: float, thick: int, radius: int) -> None:
    """A level line between two ends, up to x in another colour, and a handle there [pixels]."""
    import pygame

    blue = [round(255 * c) for c in BLUE]
    pygame.draw.line(surface, (120, 130, 140), (ends[0], y), (ends[1], y), thick)
    pygame.draw.line(surface, blue, (ends[0], y), (x, y), thick)
    pygame.draw.circle(surface, blue, (round(x), round(y)), radius)
