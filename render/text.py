"""Texts as pictures to lay over the picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tumble.render.look import rgb
from tumble.sim.words import printable

INK = rgb("#1d2733")
VEIL = 165  # how much of the picture a panel hides, of 255
LEAST = 11  # pixels: smaller letters can not be read
Line = tuple[str, tuple[float, float, float]]


@dataclass(frozen=True, eq=False)
class Panel:
    """A picture laid over the picture: (h, w, 4) uint8, its top left corner in pixels."""

    pixels: np.ndarray
    left: int
    top: int


@lru_cache(maxsize=128)
def text_block(lines: tuple[Line, ...], height: int, cover: int = VEIL) -> np.ndarray:
    """Lines of text with their colours on a light veil with round corners, (h, w, 4) uint8. A tab begins a second column."""
    height = max(height, LEAST)
    cells = [[_line(part, color, height) for part in text.split("\t")] for text, color in lines]
    tall = font(height).get_height()
    pad, step = round(0.45 * height), round(1.22 * tall)
    column = max([row[0].get_width() for row in cells if len(row) > 1], default=0) + height
    w = max(column + row[1].get_width() if len(row) > 1 else row[0].get_width() for row in cells) + 2 * pad
    surface = veil((w, step * (len(cells) - 1) + tall + 2 * pad), pad, cover)
    for i, row in enumerate(cells):
        for k, cell in enumerate(row[:2]):
            surface.blit(cell, (pad + k * column, pad + i * step))
    return pixels_of(surface)


def top_panel(text: str, size: tuple[int, int], height: int) -> Panel:
    """A line of text in the middle of the upper edge of a picture, letters as high as ``height`` in one 720 high [pixels]."""
    block = text_block(((text, INK),), round(height * size[1] / 720))
    return Panel(block, max((size[0] - block.shape[1]) // 2, 0), round(18 * size[1] / 720))


def bars_block(rows: tuple[tuple[str, tuple[float, float, float], float], ...], height: int) -> np.ndarray:
    """Arrows of some length [pixels] with what they stand for beside them, each ``(text, colour, length)``; (h, w, 4) uint8."""
    import pygame

    height = max(height, LEAST)
    words = [_line(text, INK, height) for text, _, _ in rows]
    tall, pad = font(height).get_height(), round(0.45 * height)
    longest = max(reach for _, _, reach in rows)
    surface = veil(
        (round(longest + 3 * pad + max(word.get_width() for word in words)), round(1.22 * tall) * len(rows) + pad), pad
    )
    for k, (word, (_, color, reach)) in enumerate(zip(words, rows, strict=True)):
        y, ink = round(1.22 * tall) * k + pad // 2 + tall // 2, [round(255 * c) for c in color]
        head = min(0.6 * height, 0.5 * reach)
        pygame.draw.rect(surface, ink, (pad, y - max(height // 14, 1), round(reach - head), max(height // 7, 2)))
        pygame.draw.polygon(
            surface, ink, [(pad + reach, y), (pad + reach - head, y - 0.5 * head), (pad + reach - head, y + 0.5 * head)]
        )
        surface.blit(word, (round(longest + 2 * pad), y - tall // 2))
    return pixels_of(surface)


def veil(size: tuple[int, int], corner: int, cover: int = VEIL) -> Any:
    """A light see-through surface with round corners."""
    import pygame

    surface = pygame.Surface(size, pygame.SRCALPHA)
    pygame.draw.rect(surface, (255, 255, 255, cover), surface.get_rect(), border_radius=corner)
    return surface


def pixels_of(surface: Any) -> np.ndarray:
    import pygame

    w, h = surface.get_size()
    return np.frombuffer(pygame.image.tobytes(surface, "RGBA"), np.uint8).reshape(h, w, 4)


def inked(texts: Sequence[str]) -> tuple[Line, ...]:
    return tuple((text, INK) for text in texts)


def length(metres: float) -> str:
    """1 m, 0.2 m, 5 mm ..."""
    if metres >= 1000:
        return f"{metres / 1000:g} km"
    return f"{metres:g} m" if metres >= 0.01 else f"{metres * 1000:g} mm"


@lru_cache(maxsize=512)
def _line(text: str, color: tuple[float, float, float], height: int):
    return font(height).render(printable(text), True, [round(255 * c) for c in color])


@lru_cache(maxsize=16)
def font(height: int) -> Any:
    import pygame

    if not pygame.font.get_init():
        pygame.font.init()  # not pygame.init(), which wakes the sound card
    return pygame.font.Font(None, round(1.25 * height))
