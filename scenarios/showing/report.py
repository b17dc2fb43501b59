"""What people look at after a run: film, figure, table."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tumble.collision.errors import InputError
from tumble.scenarios.progress import Bar, console
from tumble.scenarios.runs.manifest import listed
from tumble.scenarios.runs.scene_run import Artefacts
from tumble.sim.recording.run import Run
from tumble.sim.recording.summary import energy_statement
from tumble.sim.words import printable

FILM, FIGURE, PAGE = "film.mp4", "energy.png", "report.html"
LONGEST_FILM = 60.0  # s, of the film in a page


def film_run(run: Run, path: str | Path, quiet: bool = False, **options: Any) -> Path:
    """Film a run under a progress bar; ``options`` are those of ``render.film``."""
    from tumble import render

    with Bar(f"Filming {Path(path).name}", counted=True, quiet=quiet) as bar:
        return render.film(run, path, progress=bar.update, **options)


def film_runs(a: Run, b: Run, curve: tuple[Any, Any], path: str | Path, quiet: bool = False, **options: Any) -> Path:
    """Film two runs side by side under a progress bar, each named by what it does not share with the other; below them how far
    they are apart, ``curve``: times [s] and distances [m]."""
    from tumble import render

    with Bar(f"Filming {Path(path).name}", counted=True, quiet=quiet) as bar:
        return render.film_beside((a, b), path, labels(a, b), progress=bar.update, curve=curve, **options)


def labels(a: Run, b: Run) -> tuple[str, str]:
    """Names of two runs: the scene, and what differs of its parameters, step and integrator."""
    said = []
    for run in (a, b):
        own = {**json.loads(run.attributes.get("parameters", "{}")), "dt": f"1/{1 / run.attributes['dt']:g} s"}
        said.append({**own, "integrator": run.attributes.get("integrator", "")})
    names = [str(run.attributes["title"]).replace("_", " ") for run in (a, b)]
    differ = [key for key in said[0] if said[0][key] != said[1].get(key)]
    parts = [", ".join([name, *(f"{key} {own.get(key)}" for key in differ)]) for name, own in zip(names, said, strict=True)]
    if parts[0] == parts[1]:
        folders = [run.path.parent.name if run.path is not None else "" for run in (a, b)]
        parts = [f"{part} ({folder})" if folder else part for part, folder in zip(parts, folders, strict=True)]
    return parts[0], parts[1]


def plot_run(run: Run, path: str | Path) -> Path:
    """Energy and momentum of a run over time, as a PNG."""
    from tumble.render.figures import plots

    return plots.energy_momentum(run, path)


def report(artefacts: Artefacts, out: Path, video: bool, quiet: bool = False, **options: Any) -> None:
    """Add the figure and, with ``video``, the film to the files of a run."""
    with listed(out / FIGURE):
        artefacts.paths["figure"] = plot_run(artefacts.run, out / FIGURE)
    if video:
        with listed(out / FILM):
            artefacts.paths["film"] = film_run(artefacts.run, out / FILM, quiet, **options)


def write_report(run: Run, path: str | Path, film: bool = True, quiet: bool = False, **options: Any) -> Path:
    """One self-contained page of HTML about a run; ``options`` are those of ``render.film``, in small by default.

    Raises InputError: the path is no .html file, or the run is empty. RenderError: it can not be written.
    """
    from tumble.render.figures import plots
    from tumble.render.films.video import camera_for
    from tumble.render.frames import overlay
    from tumble.render.frames.recorded import RunFrames
    from tumble.render.web.replay import replay
    from tumble.render.whole_files import whole
    from tumble.scenarios.showing.page import page

    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError("path", str(path), "a report is an .html file")
    frames = RunFrames(run)
    shown = {"size": (960, 540), "fps": 30.0, "speed": max(run.duration / LONGEST_FILM, 1.0), **options}
    overlay.check(shown.get("overlays"), frames.cast)  # before figures, which take longer
    with tempfile.TemporaryDirectory() as folder:
        figures = {"Energy and momentum": plots.energy_momentum(run, Path(folder) / "energy.png")}
        for name in farthest(run):
            file = Path(folder) / f"{len(figures)}.png"
            figures[f"{name.replace('_', ' ')}: motion"] = plots.trajectory(run, name, file)
        made = film_run(run, Path(folder) / FILM, quiet, **shown) if film else None
        data = replay(frames, camera_for(frames, shown["size"]))
        text = page(run, data, figures, made)
        with whole(path) as part:
            part.write_text(text, encoding="utf-8")
    return path


def farthest(run: Run, most: int = 2) -> list[str]:
    """Names of the bodies that end farthest from where they began."""
    moved = np.linalg.norm(run.positions[-1] - run.positions[0], axis=1)
    moving = [i for i in np.argsort(-moved, kind="stable") if run.bodies[i].kind == "dynamic"]
    return [run.names[i] for i in moving[:most]]


ROWS = (
    ("energy: error of method", "energy_drift", "J"),
    ("  relative", "energy_drift_relative", ""),
    ("energy: not in the books", ("ledger", "residual"), "J"),
    ("momentum: error", "momentum_drift", "kg m/s"),
    ("  relative", "momentum_drift_relative", ""),
    ("ang. momentum: error", "angular_momentum_drift", "kg m2/s"),
    ("deepest overlap", "worst_penetration", "m"),
    ("lost by friction", ("ledger", "friction"), "J"),
    ("lost by restitution", ("ledger", "restitution"), "J"),
    ("steps", "steps", ""),
    ("steps per second", "steps_per_second", "1/s"),
)


def table(summaries: Sequence[dict[str, Any]]) -> str:
    """The summaries side by side, one column each; below them what was promised and missed."""
    heads = [str(s["scenario"]) for s in summaries]
    width = max(12, *(len(head) for head in heads))
    lines = [f"{'':32}" + "".join(f"  {head:>{width}}" for head in heads)]
    for title, key, unit in ROWS:
        name = f"{title} [{unit}]" if unit else title
        lines.append(f"{name:32}" + "".join(f"  {_number(_pick(s, key)):>{width}}" for s in summaries))
    missed = [f"{s['scenario']}: {what}" for s in summaries for what in s.get("missed", ())]
    told = (f"{head}: {energy_statement(s)}" for head, s in zip(heads, summaries, strict=True))
    return "\n".join([*lines, *missed, "", *told])


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
        out.print(printable(f"Note: {' '.join(str(message).split())}"), style="yellow", markup=False, soft_wrap=True)

    warnings.showwarning = show
    warnings.filterwarnings("ignore", "coroutine .* was never awaited")  # zarr's, where Ctrl-C comes in between
