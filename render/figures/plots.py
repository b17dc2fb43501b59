"""Figures of a run: energy, the books, momentum. matplotlib is imported when a figure is made, and without a window."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tumble.collision.errors import InputError, need
from tumble.render.frames.graphs import GAINS, LOSSES
from tumble.render.look import PALETTE
from tumble.render.whole_files import whole
from tumble.sim.words import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, RED, SKY, PINK, _ = PALETTE
INK, FAINT = "#1d2733", "#8a94a0"
POINTS = 4000  # of a curve: more do not show
BOOK_COLORS = dict(zip((*GAINS, *LOSSES), (GREEN, "#7a5cc4", SKY, PINK, "#b8a614", "#6b7280", ORANGE, RED), strict=True))
NOISE = 1e-15  # floor of relative curves: below, there is rounding only


def energy_momentum(
    run: Any, path: str | os.PathLike[str] | None = None, size: tuple[float, float] = (14.0, 9.6)
) -> Path | Figure:
    """Energy by part, where it went, momentum and angular momentum of a run over time, and how well each was kept.

    Parameters
    ----------
    run : ``times``, ``kinetic_linear``, ``kinetic_angular``, ``potential``, ``energy`` (T,), ``momentum`` and
        ``angular_momentum`` (T, 3), ``penetration`` (T,), ``ledger`` (name -> (T,)).
    path : a .png, .svg or .pdf file to write; without it the figure is returned.
    size : of the figure in units of 100 pixels.

    Raises
    ------
    InputError : the run has no sample, or the path is no kind of picture. RenderError : the file can not be written.
    """
    path = None if path is None else figure_path(path)
    if len(run.times) == 0:
        raise InputError("run", getattr(run, "path", None), "holds no sample, so there is nothing to plot")
    need("film")
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    run = _Finite(run)
    with rc_context(_STYLE):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(3, 2, sharex=True)
        pick = np.unique(np.linspace(0, len(run.times) - 1, POINTS).round().astype(int))
        title = printable(getattr(getattr(run, "scene", None), "name", "").replace("_", " "))
        figure.suptitle(title, x=0.01, ha="left", fontsize=15, fontweight="bold", color=INK)
        energy_parts(axes[0, 0], run, pick)
        energy_books(axes[0, 1], run, pick)
        least = 1e-9 * _mass(run)  # all that moves at a nanometre per second: less is drawn as none
        components(axes[1, 0], run.times[pick], np.asarray(run.momentum)[pick], "Momentum", "kg m/s", "p", least)
        components(axes[1, 1], run.times[pick], np.asarray(run.angular_momentum)[pick], "Angular momentum", "kg m²/s", "L", least)
        drift(axes[2, 0], run, pick)
        depth(axes[2, 1], run, pick)
        for row in axes:
            for ax in row:
                ax.margins(x=0.0)
                ax.spines[["top", "right"]].set_visible(False)
        for ax in axes[-1]:
            ax.set_xlabel("time [s]")
        if path is None:
            return figure
        figure.get_layout_engine().execute(figure)  # once: drawing would do it twice, to the same end
        figure.set_layout_engine("none")
        return saved(figure, path)


def figure_path(path: str | os.PathLike[str], what: str = "figure") -> Path:
    """The path of a figure; InputError where it is no kind of picture."""
    path = Path(path)
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise InputError("path", str(path), f"a {what} is a .png, .svg or .pdf file")
    return path


def saved(figure: Figure, path: Path) -> Path:
    """Write a figure; returns its path. RenderError where that can not be done."""
    with whole(path) as part:
        figure.savefig(part, dpi=100, metadata={"Software": None} if path.suffix.lower() == ".png" else None)
    return path


def trajectory(run: Any, body: str, path: str | os.PathLike[str]) -> Path:
    """Position, velocity and angular velocity of a body over time, and its way seen from above, as .png, .svg or .pdf.

    Raises InputError: no such body, or no kind of picture. RenderError: the file can not be written.
    """
    from tumble.render.figures.curves import Panel, panels

    if body not in run.names:
        raise InputError("body", body, f"must be one of {', '.join(run.names)}")
    row, t = run.names.index(body), run.times
    pick = np.unique(np.linspace(0, len(t) - 1, POINTS).round().astype(int))
    of = lambda values: {axis: (t[pick], np.asarray(values)[pick, row, k]) for k, axis in enumerate("xyz")}  # noqa: E731
    x = np.asarray(run.positions)[pick, row]
    fields = [
        Panel("Position", "time [s]", "m", of(run.positions)),
        Panel("Velocity", "time [s]", "m/s", of(run.velocities)),
        Panel("Angular velocity", "time [s]", "rad/s", of(run.angular_velocities)),
        Panel("Seen from above: y over x", "x [m]", "m", {"way": (x[:, 0], x[:, 1])}),
    ]
    return panels(body, fields, path, across=2)


class _Finite:
    """A run whose numbers are nan where they are not finite, as those of bodies that were taken out: curves have gaps there."""

    def __init__(self, run: Any):
        self._run = run

    def __getattr__(self, name: str) -> Any:
        given = getattr(self._run, name)
        if name == "ledger":
            return {key: _finite(values) for key, values in given.items()}
        return given if name in ("scene", "names", "times") else _finite(given)


def _finite(values: Any) -> np.ndarray:
    values = np.asarray(values, float)
    return np.where(np.isfinite(values), values, np.nan)


def _most(values: Any) -> float:
    """The largest number; 0 where there is none."""
    values = np.asarray(values)
    values = values[np.isfinite(values)]
    return float(values.max()) if values.size else 0.0


def energy_parts(ax: Axes, run: Any, pick: np.ndarray) -> None:
    """Kinetic and potential energy and their sum."""
    curves = {
        "of motion": (run.kinetic_linear, BLUE, 1.6),
        "of spin": (run.kinetic_angular, SKY, 1.6),
        "potential": (run.potential, GREEN, 1.6),
        "total": (run.energy, INK, 2.2),
    }
    span = max(_most(c) + _most(-c) + _most(np.abs(c)) for c, _, _ in curves.values())
    for label, (values, color, width) in curves.items():
        values = np.asarray(values)[pick]
        if label == "total" or _most(np.abs(values)) > 1e-9 * span:
            ax.plot(run.times[pick], values, color=color, lw=width, label=label)
    low, high = ax.get_ylim()
    ax.set_ylim(min(low, 0.0), max(high, 0.0) + 0.05 * (max(high, 0.0) - min(low, 0.0)))
    _dress(ax, "Energy", "J")


def energy_books(ax: Axes, run: Any, pick: np.ndarray) -> None:
    """What changed the energy since the start, entry by entry; gains upwards, losses downwards."""
    change = np.asarray(run.energy)[pick] - run.energy[0]
    entries = {name: -values if name in LOSSES else values for name, values in _entries(run, pick).items()}
    largest = max([_most(np.abs(change)), *(_most(np.abs(v)) for v in entries.values())])
    for name, values in entries.items():
        if _most(np.abs(values)) > 1e-3 * largest:
            ax.plot(run.times[pick], values, color=BOOK_COLORS[name], lw=1.6, label=name)
    ax.plot(run.times[pick], change, color=INK, lw=2.2, ls=(0, (4, 2)), label="total change")
    _never_thinner(ax, 0.0, 1e-14 * max(_most(np.abs(run.energy)), 1e-300))
    _dress(ax, "Where the energy went", "J")


def components(ax: Axes, times: np.ndarray, values: np.ndarray, title: str, unit: str, letter: str, least: float) -> None:
    """x, y and z of a vector, with how far the whole moved from where it began."""
    for k, (axis, color) in enumerate(zip("xyz", (BLUE, ORANGE, GREEN), strict=True)):
        ax.plot(times, values[:, k], color=color, lw=1.8, label=f"${letter}_{axis}$", ls=("-", "--", "-.")[k])
    moved = _most(np.linalg.norm(values - values[0], axis=1))
    _never_thinner(ax, 0.5 * (_most(values) - _most(-values)), max(1e-9 * _most(np.abs(values)), least, 1e-15))
    _dress(ax, f"{title}  (largest change {moved:.2g} {unit})", unit)


def drift(ax: Axes, run: Any, pick: np.ndarray) -> None:
    """How well the books close and what should be kept is kept: relative, on a scale of powers of ten.

    Energy is measured against the energy at hand or moved: the error of the method, which is what is left once work from outside,
    friction and restitution are taken off; and what no entry of the books explains, which is rounding. Momentum, shown where
    nothing acts from outside, against itself.
    """
    energy = np.asarray(run.energy)
    ledger = {name: np.asarray(values) for name, values in run.ledger.items()}
    scale = _energy_scale(run)
    physical = sum(ledger[n] for n in ("external", "user") if n in ledger) - sum(ledger[n] for n in LOSSES if n in ledger)
    curves = {"energy: method": (np.abs(energy - energy[0] - physical) / scale, FAINT)}
    if ledger:
        explained = sum(ledger[n] for n in GAINS if n in ledger) - sum(ledger[n] for n in LOSSES if n in ledger)
        curves["energy: not in the books"] = (np.abs(energy - energy[0] - explained) / scale, RED)
        if "integrator" in ledger:
            curves["integrator"] = (np.abs(ledger["integrator"]) / scale, ORANGE)
    for label, vectors, color in (("momentum", run.momentum, BLUE), ("ang. momentum", run.angular_momentum, GREEN)):
        vectors = np.asarray(vectors) if _isolated(run) else np.zeros((1, 3))
        size = _most(np.linalg.norm(vectors, axis=1))
        if size > 0:
            curves[label] = (np.linalg.norm(vectors - vectors[0], axis=1) / size, color)
    ax.set_yscale("log")
    for label, (values, color) in curves.items():
        ax.plot(run.times[pick], np.maximum(values[pick], NOISE), color=color, lw=1.5, label=label)
    low, high = ax.get_ylim()
    ax.set_ylim(0.5 * NOISE, max(10.0 * high, 1e-9))
    _dress(ax, "Drift, relative to the scale of each", "")


def depth(ax: Axes, run: Any, pick: np.ndarray) -> None:
    """Deepest overlap of any two bodies."""
    values = np.asarray(run.penetration)[pick]
    ax.fill_between(run.times[pick], values, color=BLUE, alpha=0.25, lw=0)
    ax.plot(run.times[pick], values, color=BLUE, lw=1.5)
    ax.set_ylim(0.0, 1.1 * _most(values) if _most(values) > 0 else 1e-9)
    _dress(ax, "Deepest overlap" if _most(values) > 0 else "Deepest overlap  (none)", "m", legend=False)


def _entries(run: Any, pick: np.ndarray) -> dict[str, np.ndarray]:
    return {name: np.asarray(run.ledger[name])[pick] for name in (*GAINS, *LOSSES) if name in run.ledger}


def _energy_scale(run: Any) -> float:
    """What a drift of energy is measured against [J]: the energy at hand or moved, whichever is larger."""
    kinetic = np.asarray(run.kinetic_linear) + np.asarray(run.kinetic_angular)
    potential = np.asarray(run.potential)
    return max(_most(kinetic), _most(potential) + _most(-potential), _most(np.abs(run.ledger.get("moved", 0.0))), 1e-300)


def _isolated(run: Any) -> bool:
    """Nothing acts on the bodies from outside, so that momentum must be kept."""
    scene = getattr(run, "scene", None)
    return scene is None or not (any(scene.gravity) or any(body.kind != "dynamic" for body in scene.bodies))


def _mass(run: Any) -> float:
    """Of all bodies that move [kg]; nothing where the run does not say."""
    bodies = [b for b in getattr(getattr(run, "scene", None), "bodies", ()) if b.kind == "dynamic"]
    return float(sum(b.mass_properties()[0] for b in bodies))


def _never_thinner(ax: Axes, middle: float, least: float) -> None:
    """A constant curve is a straight line in the middle, not rounding blown up."""
    low, high = ax.get_ylim()
    if high - low < least:
        ax.set_ylim(middle - least, middle + least)


def _dress(ax: Axes, title: str, unit: str, legend: bool = True) -> None:
    ax.set_title(title, loc="left", fontsize=11, color=INK)
    ax.grid(True, color="#e3e7eb", lw=0.8)
    ax.set_axisbelow(True)
    if legend:  # beside the curves, so that it hides none
        ax.legend(fontsize=8.5, loc="upper left", bbox_to_anchor=(1.0, 1.02), frameon=False, labelcolor=INK, handlelength=1.6)
    if ax.get_yscale() == "linear":
        _scale(ax, unit)


def _scale(ax: Axes, unit: str) -> None:
    """Numbers of three digits or so on the axis; a power of ten goes to the unit. Never an offset."""
    most = max(abs(v) for v in ax.get_ylim())
    power = 0 if 1e-2 <= most < 1e4 else 3 * int(np.floor(np.log10(most) / 3))
    ax.yaxis.set_major_formatter(lambda value, _: f"{value / 10.0**power:.6g}")
    text = unit if power == 0 else f"10$^{{{power}}}$ {unit}".strip()
    ax.set_ylabel(f"[{text}]" if text else "")


_STYLE = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same figure everywhere
    "font.size": 9.5,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.facecolor": "white",
    "svg.hashsalt": "tumble",
    "path.simplify_threshold": 0.2,
}
