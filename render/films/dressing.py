"""What films wear: a title, a bar of time, a graph that grows under the picture."""

from __future__ import annotations

import numpy as np

from tumble.render.frames.graphs import BLUE, OTHER, Graphs, strip
from tumble.render.text import INK, Panel, pixels_of, text_block, veil

TITLE_SECONDS, FADE_SECONDS = 2.4, 0.5  # of film
TITLE_SHARE = 1 / 3  # of a short film
GRAPHS = ("energy", "momentum")
GRAPH_SHARE = 0.24  # of the height, that a graph takes from the picture
WORDS = 92  # letters of what a scene is about, on one line
UNNAMED = ("", "world", "scene")  # what is called so was given no name


def title_panels(name: str, about: str, size: tuple[int, int], clock: float, length: float) -> list[Panel]:
    """The name of a scene and what it is about, at ``clock`` of a film of ``length`` [s]: at first, then it fades."""
    until = min(TITLE_SECONDS, TITLE_SHARE * length)
    cover = float(np.clip((until - clock) / min(FADE_SECONDS, 0.5 * until), 0.0, 1.0)) if until > 0.0 else 0.0
    if cover == 0.0 or name in UNNAMED:
        return []
    unit, out = size[1] / 720, []
    bottom = size[1] - round(64 * unit)
    first = " ".join(about.split()).split(". ")[0].split(": ")[0].strip().rstrip(".")
    for text, height in ((first if len(first) <= WORDS else "", 22), (name.replace("_", " "), 44)):
        if text:
            block = text_block(((text, INK),), round(height * unit))
            if block.shape[1] <= 0.96 * size[0]:
                faded = block.copy()
                faded[..., 3] = np.round(cover * faded[..., 3])
                bottom -= block.shape[0] + round(6 * unit)
                out.append(Panel(faded, (size[0] - block.shape[1]) // 2, bottom))
    return out


def bar_panel(size: tuple[int, int], share: float) -> Panel:
    """How much of the film is over: a line along its lower edge."""
    import pygame

    height = max(round(6 * size[1] / 720), 2)
    surface = veil((size[0], height), 0, 120)
    pygame.draw.rect(surface, [round(255 * c) for c in BLUE], (0, 0, round(share * size[0]), height))
    return Panel(pixels_of(surface), 0, size[1] - height)


def split(size: tuple[int, int], graph: str | None) -> tuple[tuple[int, int], int]:
    """``(size of the picture, height of the graph under it)``; even, as H.264 wants it."""
    low = 2 * round(0.5 * GRAPH_SHARE * size[1]) if graph else 0
    return (size[0], size[1] - low), low


def with_graph(pixels: np.ndarray, graphs: Graphs, graph: str, now: float, height: int) -> np.ndarray:
    """The picture (h, w, 4) with a graph under it, up to ``now`` [s] of the run."""
    return np.concatenate([pixels, strip(graphs, now, graph, (pixels.shape[1], height))])


def beside(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Two pictures of one height side by side, a line between them."""
    line = np.full((left.shape[0], 2, 4), (*[round(255 * c) for c in OTHER], 255), np.uint8)
    return np.concatenate([left, line, right], axis=1)
