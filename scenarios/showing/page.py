"""A run as one page of HTML that needs nothing else: summary, replay, film, figures, books, provenance."""

from __future__ import annotations

import hashlib
import html
import json
from pathlib import Path
from typing import Any

import numpy as np

from tumble.sim.recording.run import Run
from tumble.sim.recording.summary import energy_statement
from tumble.sim.words import count

HASHED = ("times", "positions", "orientations", "velocities", "angular_velocities")


def page(run: Run, data: dict[str, Any], figures: dict[str, Path], film: Path | None) -> str:
    """The page; ``data``: of the replay."""
    from tumble.render.web.replay import data_uri, page_file, page_of

    summary = run.summary()
    title = str(run.attributes.get("title", "run")).replace("_", " ")
    doc = run.scene.about.strip()
    about = doc.partition("\n")[0] or "A recorded run."
    parts = [
        f"<h1>{html.escape(title)}</h1>",
        f'<p class="sub">{html.escape(about)}</p>',
        given(run),
        cards(run, summary),
        "<h2>Replay</h2>",
        page_file("controls.html"),
        HINT.replace("SCALE", f" The floor has squares of {data['square']:g} m." if data["planes"] else ""),
        *(f'<p class="sub">{html.escape(note)} The run itself, and the film, have all of them.</p>' for note in data["notes"]),
    ]
    if film is not None:
        parts += ["<h2>Film</h2>", f'<video controls loop muted src="{data_uri(film, "video/mp4")}"></video>']
    for caption, path in figures.items():
        image = f'<div class="sheet"><img alt="" src="{data_uri(path, "image/png")}"></div>'
        parts += [f"<h2>{html.escape(caption)}</h2>", image]
    parts += ["<h2>Where the energy went</h2>", books(run), "<h2>How it was made</h2>", provenance(run, summary)]
    if doc:
        parts += ["<h2>About this scene</h2>", "".join(f"<p>{html.escape(p)}</p>" for p in doc.split("\n\n"))]
    return page_of(title, "\n".join(parts), data)


HINT = '<p class="sub">Drag to orbit, right button to pan, wheel to zoom; the slider goes to any time.SCALE</p>'


def given(run: Run) -> str:
    """The parameters that the scene was built with, on a line; nothing where it has none."""
    values = json.loads(run.attributes.get("parameters", "{}"))
    text = ", ".join(f"{name} = {_short(value)}" for name, value in values.items())
    return f'<p class="sub">{html.escape(text)}</p>' if text else ""


def cards(run: Run, summary: dict[str, Any]) -> str:
    """The figures that say whether a run can be trusted."""
    ledger = summary["ledger"]
    drift = "-" if summary["momentum_drift_relative"] is None else f"{summary['momentum_drift_relative']:.1e}"
    taken = f"{count(summary['bodies'], 'body')}, {count(summary['steps'], 'step')} of {_step(summary['dt'])}"
    shown = [
        (f"{summary['duration']:.4g} s", taken),
        (f"{ledger['residual']:.1e} J", "not in the books: " + _mark(summary["books_close"], "rounding", "more than rounding")),
        (f"{summary['energy_drift_relative']:.1e}", "of the energy: error of the method, at most"),
        (drift, "of the momentum: error" if drift != "-" else "momentum: its error can not be told"),
        (f"{summary['worst_penetration']:.1e} m", "deepest overlap"),
        ("yes" if run.complete else "no", _mark(run.complete, "came to its end", "was broken off")),
    ]
    boxes = "".join(f'<div class="card"><b>{b}</b><span>{s}</span></div>' for b, s in shown)
    return f'<div class="cards">{boxes}</div><p>Energy: {html.escape(energy_statement(summary))}</p>'


def books(run: Run) -> str:
    """The entries of the ledger at the end, in joules."""
    losses = ("friction", "restitution")
    rows = [("at the start", run.energy[0])]
    rows += [(name, (-1 if name in losses else 1) * values[-1]) for name, values in run.ledger.items() if name != "moved"]
    rows.append(("at the end", run.energy[-1]))
    return _table([(name, f'<td class="number">{value + 0.0:.9g} J</td>') for name, value in rows])


def provenance(run: Run, summary: dict[str, Any]) -> str:
    """With what, where, when, and what came out, to the last bit."""
    said = run.attributes
    rows = [("scenario", said.get("scenario", "")), ("seed", said.get("seed", "")), ("time step", _step(said.get("dt", 0.0)))]
    rows += [(f"parameter {name}", value) for name, value in json.loads(said.get("parameters", "{}")).items()]
    rows += [(name, said.get(name, "")) for name in ("integrator", "started", "platform")]
    rows += [(name, value) for name, value in json.loads(said.get("versions", "{}")).items()]
    rows += [("revision", said.get("git_revision", "") or "not a source tree"), ("hash of the trajectory", trajectory_hash(run))]
    if "state_hash" in said:
        rows.append(("hash of the final state", said["state_hash"]))
    rows += [(name, value) for name, value in summary.get("statistics", {}).items()]
    return _table([(name, f"<td><code>{html.escape(str(value))}</code></td>") for name, value in rows])


def trajectory_hash(run: Run) -> str:
    """SHA-256 over every bit of times, poses and velocities: equal hashes, equal trajectories."""
    digest = hashlib.sha256()
    for name in HASHED:
        digest.update(np.ascontiguousarray(getattr(run, name) + 0.0).tobytes())  # + 0.0: no minus zero
    return digest.hexdigest()


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _step(dt: float) -> str:
    return f"1/{1 / dt:g} s" if dt else "?"


def _mark(good: bool, yes: str, no: str) -> str:
    return f'<span class="{"good" if good else "bad"}">{yes if good else no}</span>'


def _table(rows: list[tuple[str, str]]) -> str:
    body = "".join(f"<tr><th>{html.escape(name)}</th>{cell}</tr>" for name, cell in rows)
    return f'<div class="sheet"><table>{body}</table></div>'
