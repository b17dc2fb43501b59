"""Graphs in the corner of a picture: energy with the entries of the books stacked, momentum, angular momentum.

    energy now + what was lost or given away = energy at the start + what was put in

so the top of the stack, drawn as a line, is level until someone puts energy in: what breaks the line is an error.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tumble.render.look import PALETTE, rgb
from tumble.render.text import INK, LEAST, Panel, font, pixels_of, veil

POINTS = 400  # of a curve
GAINS = ("external", "user", "contact", "correction", "sleep", "integrator")
LOSSES = ("friction", "restitution")
BLUE, ORANGE, GREEN, RED, SKY, PINK, YELLOW = (rgb(color) for color in PALETTE)
COLORS = {"of motion": BLUE, "of spin": SKY, "potential": GREEN, "friction": ORANGE, "restitution": RED,
          "external": PINK, "user": rgb("#7a5cc4"), "contact": YELLOW}  # fmt: skip
OTHER = rgb("#8a94a0")
PAPER = rgb("#dfe5ec")
Color = tuple[float, float, float]
ZOOM = 2
LETTERS = 15  # their height in a picture 720 high [pixels]
SHARE = 2e-3  # of the largest: smaller layers are left out


@dataclass(eq=False)
class Graphs:
    """Curves over ``times`` (k,) [s]: ``energies`` and ``books`` by name (k,) [J], ``momentum`` and ``angular_momentum`` (k, 3).

    ``span`` [s]: from where to where the graphs reach; else over what there is.
    """

    times: np.ndarray
    energies: dict[str, np.ndarray]
    books: dict[str, np.ndarray]
    momentum: np.ndarray
    angular_momentum: np.ndarray
    span: tuple[float, float] | None = None
    _layers: dict[str, np.ndarray] | None = field(default=None, repr=False)

    def layers(self) -> dict[str, np.ndarray]:
        """Layers of the energy graph from below, each at least nothing [J]: parts of the energy, then where the rest went."""
        if self._layers is None:
            out = {"of motion": self.energies["of motion"], "of spin": self.energies["of spin"]}
            out["potential"] = self.energies["potential"] - self.energies["potential"].min(initial=np.inf)
            out |= {name: np.maximum(self.books[name], 0.0) for name in LOSSES if name in self.books}
            out |= {name: np.maximum(-self.books[name], 0.0) for name in GAINS if name in self.books}  # given away
            most = max(sum(out.values()).max(initial=0.0), 1e-300)
            self._layers = {name: v for name, v in out.items() if v.max(initial=0.0) > SHARE * most}
        return self._layers


def graphs_of_run(run: Any) -> Graphs:
    """Of all of a run, thinned out to what can be seen."""
    pick = np.unique(np.linspace(0, len(run.times) - 1, POINTS).round().astype(int))
    thin = lambda name: np.asarray(getattr(run, name))[pick]  # noqa: E731
    energies = {"of motion": thin("kinetic_linear"), "of spin": thin("kinetic_angular"), "potential": thin("potential")}
    books = {name: np.asarray(values)[pick] for name, values in run.ledger.items()}
    times = thin("times")
    return Graphs(times, energies, books, thin("momentum"), thin("angular_momentum"), (float(times[0]), float(times[-1])))


class Log:
    """What the graphs of a world need, from its beginning on, in bounded memory: thinned out as it grows."""

    def __init__(self) -> None:
        self.rows: list[np.ndarray] = []
        self.gap = 0.0  # least time between two rows [s]

    def look(self, world: Any) -> None:
        if self.rows and world.time < self.rows[-1][0] + self.gap:
            return
        if self.rows and world.time == self.rows[-1][0]:
            self.rows.pop()
        energy, ledger = world.energy(), world.ledger
        books = [getattr(ledger, name) for name in (*GAINS, *LOSSES)]
        parts = [energy.kinetic_linear, energy.kinetic_angular, energy.potential]
        self.rows.append(np.array([world.time, *parts, *books, *world.momentum(), *world.angular_momentum()]))
        if len(self.rows) >= 2 * POINTS:
            self.rows = self.rows[::2]
            self.gap = 2.0 * (self.rows[-1][0] - self.rows[0][0]) / (2 * POINTS)

    def graphs(self) -> Graphs | None:
        if len(self.rows) < 2:
            return None
        table = np.array(self.rows)
        books = {name: table[:, 4 + k] for k, name in enumerate((*GAINS, *LOSSES))}
        energies = {name: table[:, 1 + k] for k, name in enumerate(("of motion", "of spin", "potential"))}
        return Graphs(table[:, 0], energies, books, table[:, -6:-3], table[:, -3:])


def panels(graphs: Graphs, now: float, overlays: tuple[str, ...], size: tuple[int, int]) -> list[Panel]:
    """The graphs asked for, one below the other at the right side of a picture."""
    unit = _unit(size[1], 720)
    margin, width, height = round(18 * size[1] / 720), round(330 * unit), round(150 * unit)
    seen = int(np.searchsorted(graphs.times, now + 1e-9, side="right"))
    made = []
    if "energy" in overlays:
        made.append(_stack(graphs, seen, (width, round(1.25 * height)), unit))
    if "momentum" in overlays:
        for title, unit_name, values in (
            ("momentum", "kg m/s", graphs.momentum),
            ("angular momentum", "kg m²/s", graphs.angular_momentum),
        ):
            made.append(_curves(graphs, seen, title, unit_name, values, (width, height), unit))
    if "ledger" in overlays:
        made.append(_bars(graphs, seen, width, unit))
    out, top = [], margin
    for pixels in made:
        out.append(Panel(pixels, size[0] - margin - width, top))
        top += pixels.shape[0] + margin // 2
    return out


def _unit(height: int, full: int) -> float:
    """The scale of a graph for a picture of some height: its letters can be read also where that is small, if there is room."""
    return max(height / full, min(LEAST / LETTERS, 2 * height / full))


def strip(graphs: Graphs, now: float, graph: str, size: tuple[int, int]) -> np.ndarray:
    """A graph as wide as a picture, (h, w, 4), that has grown up to ``now`` [s]: ``energy``, ``momentum``."""
    unit = _unit(size[1], 173)  # as large letters as in a corner of the picture above it
    seen = int(np.searchsorted(graphs.times, now + 1e-9, side="right"))
    if graph == "energy":
        pixels = _stack(graphs, seen, size, unit)
    else:
        pixels = _curves(graphs, seen, "momentum", "kg m/s", graphs.momentum, size, unit)
    return _on_paper(pixels)


def curve_strip(
    times: np.ndarray, values: np.ndarray, now: float, title: str, unit_name: str, size: tuple[int, int]
) -> np.ndarray:
    """The logarithm of one quantity over time as wide as a picture, (h, w, 4), grown up to ``now`` [s]."""
    unit = _unit(size[1], 173)
    known = values[np.isfinite(values) & (values > 0.0)]
    low, high = (np.log10(known.min()), np.log10(known.max())) if len(known) else (-1.0, 0.0)
    seen = int(np.searchsorted(times, now + 1e-9, side="right"))
    value = values[max(seen - 1, 0)]
    span = float(times[0]), float(times[-1])
    sheet = _Sheet(size, unit, f"{title} {value:.3g} {unit_name}", low - 0.5, high + 0.5, span, 1)
    sheet.key([(f"{10**low:.2g} to {10**high:.2g} {unit_name}, logarithmic", OTHER)])
    there = np.flatnonzero(np.isfinite(values[:seen]) & (values[:seen] > 0.0))
    sheet.line(sheet.points(times[there], np.log10(values[there])), RED, 2)
    return _on_paper(sheet.pixels())


def _on_paper(pixels: np.ndarray) -> np.ndarray:
    """A panel without anything behind it."""
    cover = pixels[..., 3:].astype(float) / 255
    shown = np.round(pixels[..., :3] * cover + 255 * np.array(PAPER) * (1.0 - cover))
    return np.concatenate([shown.astype(np.uint8), np.full((*pixels.shape[:2], 1), 255, np.uint8)], axis=2)


class _Sheet:
    """A panel with a title and a key, and a canvas to draw curves on, of twice the size and averaged in the end."""

    def __init__(
        self, size: tuple[int, int], unit: float, title: str, low: float, high: float, span: tuple[float, float], rows: int
    ):
        import pygame

        self.text = font(max(round(LETTERS * unit), 8))
        self.unit, self.pad = unit, round(9 * unit)
        row = self.text.get_height()
        self.surface = veil(size, self.pad)
        self.write(title, (self.pad, self.pad), INK)
        self.key_at = self.pad, self.pad + round(1.15 * row)
        self.at = self.pad, self.pad + round((1.6 + rows) * row)
        self.size = max(size[0] - 2 * self.pad, 1), max(size[1] - self.pad - row - self.at[1], 1)
        self.canvas = pygame.Surface((ZOOM * self.size[0], ZOOM * self.size[1]), pygame.SRCALPHA)
        self.low, self.high, self.span = low, high if high > low else low + 1.0, span
        below, last = self.at[1] + self.size[1] + 2, f"{span[1]:.3g} s"
        self.write(f"{span[0]:.3g} s", (self.pad, below), OTHER)
        self.write(last, (size[0] - self.pad - self.text.size(last)[0], below), OTHER)

    def write(self, text: str, at: tuple[float, float], color: Color) -> int:
        self.surface.blit(self.text.render(text, True, _bytes(color)), at)
        return self.text.size(text)[0]

    def key(self, entries: list[tuple[str, Color]]) -> None:
        """What the colours mean, below the title, on two lines if need be."""
        x, y = self.key_at
        for name, color in entries:
            if x + self.text.size(name)[0] > self.pad + self.size[0]:
                x, y = self.pad, y + self.text.get_height()
            x += self.write(name, (x, y), tuple(0.75 * c for c in color)) + round(9 * self.unit)

    def points(self, times: np.ndarray, values: np.ndarray) -> list[list[float]]:
        share = (times - self.span[0]) / max(self.span[1] - self.span[0], 1e-300)
        height = 1.0 - (values - self.low) / (self.high - self.low)
        return (np.stack([share, height], axis=1) * self.canvas.get_size()).tolist()

    def line(self, points: list[list[float]], color: Color, width: float) -> None:
        import pygame

        if len(points) > 1:
            pygame.draw.lines(self.canvas, _bytes(color), False, points, max(round(ZOOM * width * self.unit), 1))

    def area(self, lower: list[list[float]], upper: list[list[float]], color: Color) -> None:
        import pygame

        if len(lower) > 1:
            pygame.draw.polygon(self.canvas, _bytes(color), lower + upper[::-1])

    def pixels(self) -> np.ndarray:
        import pygame

        small = pygame.transform.smoothscale(self.canvas.premul_alpha(), self.size)
        self.surface.blit(small, self.at, special_flags=pygame.BLEND_PREMULTIPLIED)
        return pixels_of(self.surface)


def _stack(graphs: Graphs, seen: int, size: tuple[int, int], unit: float) -> np.ndarray:
    """Energy in layers; the dark line on top is what there was at the start and was put in since."""
    layers = graphs.layers()
    total = sum(layers.values()) if layers else np.zeros(len(graphs.times))
    now = sum(v[seen - 1] for v in graphs.energies.values()) if seen else 0.0
    sheet = _Sheet(size, unit, f"energy {now:.4g} J", 0.0, 1.06 * float(np.max(total, initial=0.0)), _span(graphs), 2)
    sheet.key([(name, COLORS.get(name, OTHER)) for name in layers])
    times = graphs.times[:seen]
    lower = np.zeros(seen)
    for name, values in layers.items():
        upper = lower + values[:seen]
        sheet.area(sheet.points(times, lower), sheet.points(times, upper), COLORS.get(name, OTHER))
        lower = upper
    first = sum(v[0] for v in layers.values()) if layers else 0.0
    given = sum(np.maximum(graphs.books[name], 0.0) for name in GAINS if name in graphs.books)
    sheet.line(sheet.points(times, (first + given - np.ravel(given)[0] + np.zeros(len(graphs.times)))[:seen]), INK, 2)
    return sheet.pixels()


def _bars(graphs: Graphs, seen: int, width: int, unit: float) -> np.ndarray:
    """The books as two bars of one length: what there was and was put in, and what became of it."""
    import pygame

    now = max(seen - 1, 0)
    layers = {name: float(v[now]) for name, v in graphs.layers().items()}
    given = {name: float(graphs.books[name][now]) for name in GAINS if name in graphs.books and graphs.books[name][now] > 0.0}
    first = sum(float(v[0]) for v in graphs.layers().values())
    before = {"at the start": first, **given}
    most = max(sum(before.values()), sum(layers.values()), 1e-300)
    letters, pad = font(max(round(LETTERS * unit), 8)), round(9 * unit)
    row, bar = round(1.15 * letters.get_height()), max(round(20 * unit), 4)
    told = {name: value for name, value in layers.items() if value > SHARE * most}
    lines = [[(f"at the start {_joules(first)}", INK)]]
    lines[0] += [(f"{name} {_joules(v)}", COLORS.get(name, OTHER)) for name, v in given.items() if v > SHARE * most]
    lines += [[(f"{name} {_joules(v)}", COLORS.get(name, OTHER))] for name, v in told.items()]
    surface = veil((width, 3 * pad + 2 * bar + row * (len(lines) + 1)), pad)
    surface.blit(letters.render("ledger: the two bars are equally long", True, _bytes(INK)), (pad, pad))
    y = pad + row
    for parts in (before, layers):
        x = float(pad)
        for name, value in parts.items():
            long = (width - 2 * pad) * value / most
            color = INK if name == "at the start" else COLORS.get(name, OTHER)
            pygame.draw.rect(surface, _bytes(color), (round(x), y, round(x + long) - round(x), bar))
            x += long
        y += bar + pad // 3
    for parts in lines:
        x = pad
        for text, color in parts:
            surface.blit(letters.render(text, True, _bytes(tuple(0.75 * c for c in color))), (x, y))
            x += letters.size(text)[0] + pad
        y += row
    return pixels_of(surface)


def _joules(value: float) -> str:
    return f"{value:.4g} J"


def _curves(graphs: Graphs, seen: int, title: str, unit_name: str, values: np.ndarray, size: tuple[int, int], unit: float):
    """x, y and z of a vector."""
    most = float(np.abs(values).max(initial=0.0)) or 1.0
    sheet = _Sheet(size, unit, f"{title} [{unit_name}]", -1.08 * most, 1.08 * most, _span(graphs), 1)
    sheet.key([(axis, color) for axis, color in zip("xyz", (BLUE, ORANGE, GREEN), strict=True)] + [(f"±{most:.3g}", OTHER)])
    times = graphs.times[:seen]
    sheet.line(sheet.points(np.array(_span(graphs)), np.zeros(2)), OTHER, 1)
    for k, color in enumerate((BLUE, ORANGE, GREEN)):
        sheet.line(sheet.points(times, values[:seen, k]), color, 2)
    return sheet.pixels()


def _bytes(color: Color) -> list[int]:
    return [round(255 * c) for c in color]


def _span(graphs: Graphs) -> tuple[float, float]:
    return graphs.span or (float(graphs.times[0]), float(graphs.times[-1]))
