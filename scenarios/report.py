"""What people look at after a run: film, figure, table."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scenarios.progress import Bar, console
from scenarios.run import Artefacts
from sim.run import Run

FILM, FIGURE = "film.mp4", "energy.png"


def film_run(run: Run, path: str | Path, quiet: bool = False, **options: Any) -> Path:
    """Film a run under a progress bar; ``options`` are those of ``render.film``."""
    import render

    with Bar(f"Filming {Path(path).name}", counted=True, quiet=quiet) as bar:
        return render.film(run, path, progress=bar.update, **options)


def plot_run(run: Run, path: str | Path) -> Path:
    """Energy and momentum of a run over time, as a PNG."""
    from render import plots

    return plots.energy_momentum(run, path)


def report(artefacts: Artefacts, out: Path, video: bool, quiet: bool = False, **options: Any) -> None:
    """Add the figure and, with ``video``, the film to the files of a run."""
    artefacts.paths["figure"] = plot_run(artefacts.run, out / FIGURE)
    if video:
        artefacts.paths["film"] = film_run(artefacts.run, out / FILM, quiet, **options)


ROWS = (
    ("energy drift", "energy_drift", "J"),
    ("  relative", "energy_drift_relative", ""),
    ("momentum drift", "momentum_drift", "kg m/s"),
    ("  relative", "momentum_drift_relative", ""),
    ("angular momentum drift", "angular_momentum_drift", "kg m2/s"),
    ("worst penetration", "worst_penetration", "m"),
    ("ledger residual", ("ledger", "residual"), "J"),
    ("lost by friction", ("ledger", "friction"), "J"),
    ("lost by restitution", ("ledger", "restitution"), "J"),
    ("steps", "steps", ""),
    ("steps per second", "steps_per_second", "1/s"),
)


def table(summaries: Sequence[dict[str, Any]]) -> str:
    """The summaries side by side, one column each."""
    heads = [str(s["scenario"]) for s in summaries]
    width = max(12, *(len(head) for head in heads))
    lines = [f"{'':32}" + "".join(f"  {head:>{width}}" for head in heads)]
    for title, key, unit in ROWS:
        name = f"{title} [{unit}]" if unit else title
        lines.append(f"{name:32}" + "".join(f"  {_number(_pick(s, key)):>{width}}" for s in summaries))
    return "\n".join(lines)


def _pick(summary: dict[str, Any], key: str | tuple[str, str]) -> Any:
    return summary.get(key) if isinstance(key, str) else summary.get(key[0], {}).get(key[1])


def _number(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value}"
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def show_warnings() -> None:
    """Warnings as one line each on standard error, without file names and source lines."""
    out = console()

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        out.print(f"Note: {' '.join(str(message).split())}", style="yellow", markup=False, soft_wrap=True)

    warnings.showwarning = show
