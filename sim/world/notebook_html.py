"""How worlds, bodies and runs show themselves in a notebook: tables, energies, and a picture."""

from __future__ import annotations

import base64
import importlib
import io
import sys
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from tumble.sim.ledger.entries import ENTRIES, Ledger
from tumble.sim.recording.summary import energy_statement
from tumble.sim.words import count

if TYPE_CHECKING:
    from tumble.sim.recording.run import Run
    from tumble.sim.world.body import Body
    from tumble.sim.world.world import World

LISTED_BODIES = 12  # bodies that are listed
SIZE = (480, 270)  # pixels of the picture, across and down
KERNEL = "ipykernel"  # what is loaded where code runs in a notebook


def world(w: World) -> str:
    """A world: where it stands, its energies and books, its first bodies."""
    energy = w.energy()
    speeds = np.linalg.norm(w.velocities, axis=1)
    bodies = [
        (b.name, b.kind, type(b.shape).__name__, _vector(x), _number(v))
        for b, x, v in zip(w.bodies[:LISTED_BODIES], w.positions, speeds, strict=False)
    ]
    more = f"<p>and {len(w.bodies) - LISTED_BODIES} more</p>" if len(w.bodies) > LISTED_BODIES else ""
    head = f"World: {count(len(w.bodies), 'body')}, t = {w.time:.6g} s, step {w.step_count} of {w.dt:.6g} s"
    energies = {"of motion": energy.kinetic_linear, "of spin": energy.kinetic_angular, "potential": energy.potential}
    parts = [
        _pairs("Energy [J]", {**energies, "total": energy.total}),
        _pairs("Ledger [J]", _moved(w.ledger)) + "".join(f"<p>{escape(what)}</p>" for what in w.promises().missed),
        html_table(("body", "kind", "shape", "position [m]", "speed [m/s]"), bodies) + more,
    ]
    return _block(head, parts, _picture(w))


def body_page(b: Body) -> str:
    """A body: what it is, where it is and how it moves."""
    if not b.alive:
        return _block(f"Body {b.name}: removed", [])
    mass, _, _ = b.definition.mass_properties()
    rows = {
        "kind": b.kind,
        "shape": repr(b.shape),
        "mass [kg]": _number(mass),
        "position [m]": _vector(b.position),
        "orientation": _vector(b.orientation),
        "velocity [m/s]": _vector(b.velocity),
        "angular velocity [rad/s]": _vector(b.angular_velocity),
        "friction, restitution": f"{b.definition.friction:g}, {b.definition.restitution:g}",
    }
    return _block(f"Body {b.name}", [html_table((), rows.items())], _picture(b))


def run_html(r: Run) -> str:
    """A run: what was recorded, and what became of its energy."""
    state = "complete" if r.complete else "not complete"
    title = r.attributes.get("title", "")
    head = f"Run {title}: {count(len(r), 'sample')} of {count(len(r.names), 'body')}, {r.duration:g} s, {state}"
    if len(r) == 0:
        return _block(head, [])
    found = r.summary()
    numbers = {
        "energy at the start [J]": found["energy_start"],
        "energy at the end [J]": found["energy_end"],
        "momentum: error, relative": found["momentum_drift_relative"],
        "deepest overlap [m]": found["worst_penetration"],
    }
    where = [f"<p>Energy: {escape(energy_statement(found))}</p>", *([f"<p>{escape(str(r.path))}</p>"] if r.path else [])]
    ledger = {name: value for name, value in found["ledger"].items() if value and name != "moved"}
    return _block(head, [_pairs("", numbers), _pairs("Ledger [J]", ledger), *where], _picture(r))


def shown(what: Run | World, **options: Any) -> Any:
    """:func:`render.show` of a run or a world. Found by its name when it is called for: to simulate loads nothing that draws."""
    return importlib.import_module("tumble.render").show(what, **options)


def html_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; all texts are escaped."""
    top = "<tr>" + "".join(f"<th>{escape(str(cell))}</th>" for cell in head) + "</tr>" if head else ""
    lines = ("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>{top}{''.join(lines)}</table>"


def _pairs(title: str, values: dict[str, float]) -> str:
    return html_table((title, "") if title else (), [(name, _number(value)) for name, value in values.items()])


def _moved(ledger: Ledger) -> dict[str, float]:
    """The entries of the books that are not zero, and the residual."""
    entries = dict(zip(ledger._fields, ledger, strict=True))
    return {name: entries[name] for name in (*ledger._fields[:ENTRIES], "residual") if entries[name] or name == "residual"}


def _block(head: str, parts: Sequence[str], picture: str = "") -> str:
    columns = "".join(f"<div>{part}</div>" for part in (*parts, picture) if part)
    return f'<div><b>{escape(head)}</b><div style="display:flex;flex-wrap:wrap;gap:1em">{columns}</div></div>'


def _picture(what: Any) -> str:
    """A still, in a notebook, and where the program draws anyway; nothing where it can not."""
    if "tumble.render" not in sys.modules and KERNEL not in sys.modules:
        return ""
    try:
        from PIL import Image

        render = importlib.import_module("tumble.render")

        file = io.BytesIO()
        Image.fromarray(np.asarray(render.picture(what, size=SIZE))).convert("RGB").save(file, "PNG")
    except Exception as error:  # a notebook shows the tables whatever becomes of the picture
        return f"<p>no picture: {escape(type(error).__name__)}</p>"
    return f'<img width="{SIZE[0]}" alt="" src="data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}">'


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"


def _vector(values: Any) -> str:
    return "(" + ", ".join(f"{x:.4g}" for x in np.asarray(values) + 0.0) + ")"
