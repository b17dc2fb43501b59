"""Pictures of a search for a distance, step by step, in the space of the Minkowski difference A - B.

Three dimensions are drawn in parallel projection, along a line that shows the final normal nearly in full length.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tumble.collision.errors import InputError, need
from tumble.collision.queries.trace import Trace
from tumble.render.figures.plots import figure_path, saved
from tumble.render.films.writers import write
from tumble.render.look import PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN = PALETTE[:3]
INK, GROUND = "#1d2733", "#e9edf1"
MOST = 12  # panels of a still
TILT = 0.55  # rad that the line of sight leans towards the normal, so that faces across it are seen
SWAY = 0.35  # rad that the line of sight swings in a film
HOLD, FPS = 2.0, 10  # s of film for each step; frames a second
SIMPLEX = {1: "a point", 2: "a segment", 3: "a triangle", 4: "a tetrahedron"}
KEY = (
    ("+", INK, "origin"),
    ("■", "#c9d1d9", "A - B"),
    ("■", BLUE, "simplex, polytope"),
    ("●", ORANGE, "its point nearest to the origin"),
    ("→", GREEN, "direction searched, and the point of A - B furthest along it"),
    ("┄", GREEN, "line or plane that no point of A - B lies beyond"),
)
ROUND = (("○", INK, "radii added to the cores"),)


def still(trace: Trace, path: str | os.PathLike[str], size: tuple[int, int] = (1600, 1000)) -> Path:
    """Write the steps of a search side by side to a .png, .svg or .pdf file; of a long search twelve of them.

    Raises
    ------
    InputError : another kind of file. RenderError : the file can not be written.
    """
    path = figure_path(path, "picture")
    count = len(trace.steps)
    chosen = np.unique(np.linspace(0, count - 1, min(MOST, count)).round().astype(int))
    columns = next(c for c in (1, 2, 3, 4) if c * c >= len(chosen) or c == 4)
    figure = _figure(size, trace)
    view = View(trace)
    for ax, k in zip(_cells(figure, len(chosen), columns), chosen, strict=True):
        panel(ax, view, k, found=True)
    return saved(figure, path)


def film(trace: Trace, path: str | os.PathLike[str], size: tuple[int, int] = (1280, 720)) -> Path:
    """Write a film (.mp4) of a search: each step for two seconds, first where it stands, then where it looks."""
    path = Path(path)
    if path.suffix.lower() != ".mp4":
        raise InputError("path", str(path), "a film is an .mp4 file")
    write(_frames(trace, size), path, size, FPS, 19, len(trace.steps) * round(HOLD * FPS))
    return path


def _frames(trace: Trace, size: tuple[int, int]) -> Iterator[np.ndarray]:
    total = len(trace.steps) * round(HOLD * FPS)
    flat = trace.data["dimension"] == 2
    last, pixels = None, None
    for k in range(total):
        step, into = divmod(k, round(HOLD * FPS))
        found = into >= 0.4 * HOLD * FPS
        if not (flat and last == (step, found)):
            figure = _figure(size, trace)
            (ax,) = _cells(figure, 1, 1)
            panel(ax, View(trace, SWAY * np.sin(2 * np.pi * k / max(total, 60))), step, found)
            figure.canvas.draw()
            pixels = np.asarray(figure.canvas.buffer_rgba()).copy()
        last = step, found
        yield pixels


def _figure(size: tuple[int, int], trace: Trace) -> Figure:
    """An empty figure with a title above and the key below."""
    need("film")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(size[0] / 100, size[1] / 100), dpi=100)
    FigureCanvasAgg(figure)
    figure.text(0.01, 1 - 20 / size[1], headline(trace), fontsize=14, fontweight="bold", color=INK, va="center")
    small = min(size[0] / 1400, 1.0)
    x, y = 0.012, 17 / size[1]
    for sign, color, text in KEY + (ROUND if trace.data["margin"] else ()):
        figure.text(x, y, sign, color=color, fontsize=13 * small, va="center", family="DejaVu Sans")
        figure.text(x + 18 * small / size[0], y, text, color=INK, fontsize=10 * small, va="center", family="DejaVu Sans")
        x += (46 + 6.5 * len(text)) * small / size[0]
    return figure


def _cells(figure: Figure, count: int, columns: int) -> list[Axes]:
    """Axes in rows, each with room for its caption, between title and key."""
    width, height = figure.get_size_inches() * 100
    rows = -(-count // columns)
    wide, high = width / columns, (height - 74) / rows
    cells = []
    for k in range(count):
        row, column = divmod(k, columns)
        low = height - 40 - (row + 1) * high
        place = (column * wide + 8) / width, (low + 4) / height, (wide - 16) / width, (high - 30) / height
        cells.append(figure.add_axes(place))
    return cells


def headline(trace: Trace) -> str:
    """What was asked, and both answers."""
    data = trace.data
    names = [data[side]["shape"]["type"] if side in data else side.upper() for side in ("a", "b")]
    text = f"{names[0]} and {names[1]}: signed distance {data['reference']['distance']:.6g} m"
    if "kernel" in data:
        text += f"; compiled search {data['kernel']['distance']:.6g} m" + ("" if data["agree"] else ": THEY DIFFER")
    return text


class View:
    """Points of A - B in the plane of the picture."""

    def __init__(self, trace: Trace, sway: float = 0.0):
        self.trace, self.margin = trace, trace.data["margin"]
        self.axes = np.eye(2) if trace.data["dimension"] == 2 else _line_of_sight(trace, sway)
        points = [np.array(trace.data["outline"]), np.zeros((1, trace.data["dimension"]))]
        self.outline = self(points[0])
        shown = self(np.concatenate(points))
        low, high = shown.min(axis=0) - self.margin, shown.max(axis=0) + self.margin
        self.extent = high - low
        self.span = float(self.extent.max()) or 1.0
        self.middle = (low + high) / 2

    def __call__(self, points: Any) -> np.ndarray:
        return np.asarray(points, float) @ self.axes[:2].T

    def facing(self, normal: np.ndarray) -> float:
        """1 for a face that looks at us, 0 for one seen on edge, negative for one that looks away."""
        return float(self.axes[2] @ normal) / max(float(np.linalg.norm(normal)), 1e-300)


def _line_of_sight(trace: Trace, sway: float) -> np.ndarray:
    """Rows: right, up, and towards the eye. The final normal lies in the picture but for a tilt towards the eye."""
    n = np.array(trace.data["reference"]["normal"])
    cloud = np.array(trace.data["outline"])
    cloud = cloud - cloud.mean(axis=0)
    flat = np.eye(3) - np.outer(n, n)
    across = np.linalg.svd(np.vstack([cloud @ flat, 1e-9 * flat]), full_matrices=False)[2]
    side = across[0] - (across[0] @ n) * n  # the longest extent across the normal is seen in full
    side /= np.linalg.norm(side)
    eye = np.cross(side, n)
    eye = np.cos(TILT) * eye + np.sin(TILT) * (0.7 * n + 0.714 * side)
    eye /= np.linalg.norm(eye)
    up = n - (n @ eye) * eye if abs(n[2]) > 0.5 or abs(eye[2]) > 0.9 else np.array((0, 0, 1.0)) - eye[2] * eye
    up /= np.linalg.norm(up)
    right = np.cross(up, eye)
    c, s = np.cos(sway), np.sin(sway)
    return np.array([c * right - s * eye, up, c * eye + s * right])


def panel(ax: Axes, view: View, k: int, found: bool) -> None:
    """Step k of a search; with ``found`` also the direction it searches and what it finds there."""
    from matplotlib.patches import Circle, Polygon

    step = view.trace.steps[k]
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_color("#d5dbe1")
    silhouette = _hull(view.outline)
    ax.add_patch(Polygon(silhouette, closed=True, fc=GROUND, ec="#b6c0ca", lw=1.0, zorder=0))
    (_draw_polytope if step["stage"] == "epa" else _draw_simplex)(ax, view, step)
    if view.margin:
        ax.add_patch(Circle((0, 0), view.margin, fill=False, ec=INK, lw=1, ls=":", zorder=5))
    closest = view(step["closest"])
    ax.plot([0, closest[0]], [0, closest[1]], color=ORANGE, lw=5, alpha=0.5, zorder=6)
    ax.plot(*closest, "o", ms=7, color=ORANGE, mec="white", zorder=9)
    if found and step["support"] is not None:
        _draw_search(ax, view, step, closest)
    ax.plot(0, 0, "+", ms=14, mew=2, color=INK, zorder=10)
    ax.annotate("O", (0, 0), (5, -13), textcoords="offset points", color=INK, fontsize=10, zorder=10)
    ax.set_title(caption(view.trace, k), loc="left", fontsize=10.5, color=INK)
    lower, upper = (step[side] - view.margin for side in ("lower", "upper"))
    bounds = f"{_short(lower)} ≤ distance ≤ {_short(upper)}" if found else f"distance ≤ {_short(upper)}"
    back = {"boxstyle": "round,pad=0.2", "fc": "white", "ec": "none", "alpha": 0.8}
    ax.text(0.02, 0.03, bounds, transform=ax.transAxes, fontsize=10, color=INK, zorder=11, bbox=back)
    box = ax.get_window_extent()
    half = max(0.58 * view.extent[0], 0.7 * view.extent[1] * box.width / box.height, 0.1 * view.span)  # room for text
    ax.set_xlim(view.middle[0] - half, view.middle[0] + half)
    half *= box.height / box.width
    ax.set_ylim(view.middle[1] - half, view.middle[1] + half)


def caption(trace: Trace, k: int) -> str:
    """Number and state of a step."""
    step = trace.steps[k]
    number = sum(s["stage"] == step["stage"] for s in trace.steps[: k + 1])
    last = k + 1 == len(trace.steps)
    if step["stage"] == "gjk":
        what = SIMPLEX.get(len(step["simplex"]), "a simplex")
        end = " holds the origin" if step["support"] is None else (": nothing lies nearer" if last else "")
        return f"GJK {number}: {what}{end}"
    feature = "edges" if trace.data["dimension"] == 2 else "faces"
    return f"EPA {number}: {len(step['faces'])} {feature}" + (", the nearest is on the boundary" if last else "")


def _short(value: float) -> str:
    return f"{value + 0.0:.4g}" if np.isfinite(value) else "?"


def _hull(points: np.ndarray) -> np.ndarray:
    """Corners of the convex hull of points in the plane, in order; two ends where they lie in a line."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return points[ConvexHull(points).vertices]
    except (QhullError, ValueError):
        spread = points - points.mean(axis=0)
        along = spread @ np.linalg.svd(np.vstack([spread, np.zeros((2, 2))]))[2][0]
        return points[[along.argmin(), along.argmax()]]


def _draw_simplex(ax: Axes, view: View, step: dict[str, Any]) -> None:
    from matplotlib.patches import Polygon

    corners = view(step["simplex"])
    if len(corners) > 2:
        ax.add_patch(Polygon(_hull(corners), closed=True, fc=BLUE, ec="none", alpha=0.22, zorder=2))
    for i in range(len(corners)):
        for j in range(i):
            ax.plot(*corners[[i, j]].T, color=BLUE, lw=1.6, zorder=3)
    ax.plot(*corners.T, "o", ms=5, color=BLUE, zorder=4)


def _draw_polytope(ax: Axes, view: View, step: dict[str, Any]) -> None:
    """Faces that look away are drawn as thin lines, the others filled; the nearest one in orange."""
    from matplotlib.patches import Polygon

    vertices = np.array(step["vertices"])
    flat = view(vertices)
    if vertices.shape[1] == 2:
        ring = flat[[f[0] for f in step["faces"]]]
        ax.add_patch(Polygon(ring, closed=True, fc=BLUE, ec=BLUE, alpha=0.25, lw=1.6, zorder=2))
        ax.plot(*ring.T, "o", ms=5, color=BLUE, zorder=4)
        ax.plot(*flat[step["faces"][step["nearest"]]].T, color=ORANGE, lw=3, zorder=5)
        return
    for k, face in enumerate(step["faces"]):
        a, b, c = vertices[face]
        facing, near = view.facing(np.cross(b - a, c - a)), k == step["nearest"]
        front = facing > 0
        color = ORANGE if near else BLUE
        style = {"lw": 1.4, "ls": "-"} if front else {"lw": 0.7, "ls": ":"}
        filled, above = color if front or near else "none", 4 if near else 3 if front else 1
        alpha = 0.6 if near else 0.15 + 0.45 * facing if front else 0.25
        ax.add_patch(Polygon(flat[face], closed=True, fc=filled, ec=color, alpha=alpha, zorder=above, **style))
    used = sorted({i for face in step["faces"] for i in face})
    ax.plot(*flat[used].T, "o", ms=3.5, color=BLUE, zorder=4)


def _draw_search(ax: Axes, view: View, step: dict[str, Any], closest: np.ndarray) -> None:
    """The direction as an arrow, the support point, and a piece of the support line or plane."""
    from matplotlib.patches import Polygon

    d, support = view(step["direction"]), view(step["support"])
    length = 0.16 * view.span
    ax.annotate(
        "", closest + length * d, closest, arrowprops={"arrowstyle": "-|>", "color": GREEN, "lw": 2, "shrinkA": 0, "shrinkB": 0},
        zorder=8, annotation_clip=False,
    )  # fmt: skip
    ax.plot(*support, "o", ms=10, mfc="none", mec=GREEN, mew=2, zorder=8)
    if len(view.axes) == 2:
        along = np.array((-d[1], d[0]))
        ends = np.array([support - 0.45 * view.span * along, support + 0.45 * view.span * along])
        ax.plot(*ends.T, color=GREEN, lw=1.2, ls=(0, (4, 3)), zorder=7)
        return
    n = np.array(step["direction"])
    u = np.cross(n, view.axes[1] if abs(view.axes[1] @ n) < 0.9 else view.axes[0])
    u /= np.linalg.norm(u)
    u, v = 0.16 * view.span * u, 0.16 * view.span * np.cross(n, u)
    tile = view(np.array(step["support"]) + np.array([u + v, u - v, -u - v, v - u]))
    ax.add_patch(Polygon(tile, closed=True, fc=GREEN, ec="none", alpha=0.15, zorder=7))
    ax.add_patch(Polygon(tile, closed=True, fill=False, ec=GREEN, lw=1.2, ls=(0, (4, 3)), zorder=7))
