"""Figures of anything over anything: differences of runs, orders, ensembles. The look is that of plots.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

import numpy as np

from tumble.collision.errors import need
from tumble.render.figures.plots import _STYLE, BLUE, GREEN, INK, ORANGE, PINK, RED, SKY, _dress, figure_path, saved

COLORS = (BLUE, ORANGE, GREEN, RED, SKY, PINK, INK)


@dataclass(frozen=True)
class Panel:
    """One field of a figure: ``curves`` by label, each (x, y); ``log`` axes of "x", "y" or "xy"; ``dots`` instead of lines.

    ``x``: what is written along the axis; ``unit``: of y, to which a power of ten is added where the numbers need one.
    """

    title: str
    x: str
    unit: str
    curves: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    log: str = ""
    dots: bool = False


def panels(title: str, fields: Sequence[Panel], path: str | Path, across: int = 1) -> Path:
    """Draw panels, ``across`` of them in a row, into a .png, .svg or .pdf file.

    On logarithmic axes what is not positive is left out. InputError: the path is no kind of picture.
    """
    need("film")
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    path = figure_path(path)
    rows = -(-len(fields) // across)
    with rc_context(_STYLE):
        figure = Figure(figsize=(6.0 * across + 2.0, 3.0 * rows + 0.6), layout="constrained")
        FigureCanvasAgg(figure)
        figure.suptitle(title.replace("_", " "), x=0.01, ha="left", fontsize=15, fontweight="bold", color=INK)
        for ax, panel in zip(figure.subplots(rows, across, squeeze=False).flat, fields, strict=False):
            for (label, (x, y)), color in zip(panel.curves.items(), cycle(COLORS), strict=False):
                x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
                seen = np.isfinite(x) & np.isfinite(y)
                seen &= (x > 0) if "x" in panel.log else True
                seen &= (y > 0) if "y" in panel.log else True
                size = 3.0 if seen.sum() > 100 else 6.0
                style = {"marker": "o", "ms": size, "lw": 0, "alpha": 0.6, "mew": 0} if panel.dots else {"lw": 1.6}
                ax.plot(x[seen], y[seen], color=color, label=label, **style)
            ax.set_xscale("log" if "x" in panel.log else "linear")
            ax.set_yscale("log" if "y" in panel.log else "linear")
            given = np.concatenate([np.asarray(x, dtype=float) for x, _ in panel.curves.values()] or [np.zeros(0)])
            if panel.dots and len(given) and (given == np.round(given)).all() and "x" not in panel.log:
                ax.xaxis.set_major_locator(MaxNLocator(integer=True))
            _dress(ax, panel.title, panel.unit, legend=len(panel.curves) > 1)
            ax.set_xlabel(panel.x)
            if "y" in panel.log:
                ax.set_ylabel(f"[{panel.unit}]" if panel.unit else "")
            ax.spines[["top", "right"]].set_visible(False)
        for ax in figure.axes[len(fields) :]:
            ax.set_visible(False)
        return saved(figure, path)
