"""Verbs that run scenes: once, for a demonstration, for many parameters."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from tumble.scenarios.verbs.given import (
    FAILED,
    Adder,
    address,
    film_options,
    film_settings,
    level,
    listed,
    positive,
    reading_of,
    say_paths,
    scene_arguments,
    scene_of,
)

CONTACT_OVERLAYS = frozenset(("contacts", "normals", "manifolds", "impacts"))
DEMO = ("two_cuboids", "dropped_cuboids")


def add_run(verb: Adder) -> None:
    one = verb("run", run, "run a scenario or a scene file; record it")
    scene_arguments(one, "step, such as 1/480")
    one.add_argument("--out", metavar="DIR", help="where to put the results (runs/NAME)")
    one.add_argument("--every", type=positive, metavar="N", help="record every N steps (1)")
    one.add_argument("--contacts", action="store_true", help="record the contacts and impacts too")
    one.add_argument("--bodies", type=listed, metavar="A,B", help="record these alone; patterns too, such as 'domino_*'")
    one.add_argument("--precision", choices=("double", "single"), help="of recorded poses and velocities (double)")
    one.add_argument("--compression", type=level, metavar="L", help="of Zstandard, 0 (none) to 22 (1)")
    one.add_argument("--video", action="store_true", help="make a film too")
    resume = "go on with a run that was stopped, from where it was last saved; recorded as it was begun"
    one.add_argument("--resume", action="store_true", help=resume)
    film_options(one)


def run(arguments: argparse.Namespace) -> None:
    """Run a scenario or a scene file; record, plot, and film it on request."""
    scene, name = scene_of(arguments)
    out = Path(arguments.out or Path("runs") / name)
    from tumble.scenarios.runs.scene_run import TRAJECTORY, run_scene
    from tumble.scenarios.showing.report import FILM, report, show_warnings, table
    from tumble.sim.files import claimed

    show_warnings()
    if arguments.video:  # what is wrong with it is said before the run
        from tumble.render.films.video import check_film
        from tumble.sim.recording.recorder import chosen_bodies

        names = [body.name for body in scene]
        names = names if arguments.bodies is None else chosen_bodies(arguments.bodies, names)
        dress = {name: getattr(arguments, name) for name in ("preset", "graph", "sound", "blur")}
        check_film(names, out / FILM, arguments.size, arguments.fps, arguments.camera, arguments.overlays, **dress)
    try:
        shown = bool(CONTACT_OVERLAYS.intersection(arguments.overlays or ())) or (arguments.video and arguments.sound)
        contacts = arguments.contacts or shown or None
        how = {name: getattr(arguments, name) for name in ("resume", "every", "bodies", "precision", "compression")}
        with claimed(out):
            artefacts = run_scene(scene, out, arguments.seconds, arguments.dt, contacts=contacts, **how)
            report(artefacts, out, arguments.video, **film_settings(arguments))
    except KeyboardInterrupt:
        recorded = (out / TRAJECTORY).exists()
        raise KeyboardInterrupt(f"what was recorded is in {out / TRAJECTORY}; --resume goes on" if recorded else "") from None
    print(table([artefacts.summary]))
    say_paths(artefacts.paths)


def add_demo(verb: Adder) -> None:
    one = verb("demo", demo, "run two scenarios from start to film")
    one.add_argument("--out", default="runs", metavar="DIR", help="where to put the results (runs)")
    film_options(one)


def demo(arguments: argparse.Namespace) -> None:
    """Two scenarios from start to film."""
    from tumble.scenarios.registry import load
    from tumble.scenarios.runs.scene_run import run_scene
    from tumble.scenarios.showing.report import report, show_warnings, table

    show_warnings()
    done = []
    for name in DEMO:
        scene = load(name)()
        out = Path(arguments.out) / name
        artefacts = run_scene(scene, out)
        report(artefacts, out, True, **film_settings(arguments))
        done.append(artefacts)
    print(table([artefacts.summary for artefacts in done]))
    for artefacts in done:
        say_paths(artefacts.paths)


def add_sweep(verb: Adder) -> None:
    one = verb("sweep", sweep, "run a scenario for many parameters, on all processors or a Dask cluster")
    one.add_argument("file", metavar="FILE", help="a TOML file that says what is varied")
    one.add_argument("--allow-outside", action="store_true", help="let it name files outside its folder")
    one.add_argument("--out", metavar="DIR", help="where to put the results (runs/FILE)")
    one.add_argument("--workers", type=positive, metavar="N", help="processes (as many as processors)")
    one.add_argument("--scheduler", type=address, metavar="ADDRESS", help="of a Dask scheduler, such as tcp://127.0.0.1:8786")
    one.add_argument("--resume", action="store_true", help="go on with a sweep that was stopped")


def sweep(arguments: argparse.Namespace) -> int:
    """Run the members of a sweep; exit code 1 where all of them failed."""
    import json

    from tumble.scenarios.runs.scene_run import write_whole
    from tumble.scenarios.sweeps.ensemble import load_plan
    from tumble.scenarios.sweeps.sweep import statistics, table
    from tumble.scenarios.sweeps.sweep import sweep as run_members
    from tumble.sim.files import claimed

    plan = load_plan(arguments.file, reading_of(arguments))
    out = Path(arguments.out or Path("runs") / Path(arguments.file).stem)
    path = out / "sweep.zarr"
    try:
        with claimed(out):
            store = run_members(plan, path, arguments.workers, arguments.scheduler, arguments.resume)
            found = statistics(store)
            write_whole(out / "statistics.json", json.dumps(found, indent=2) + "\n")
            print(table(store, found))
            paths = {"store": path, "statistics": out / "statistics.json"}
            if figure := _plot_sweep(store, found, out / "sweep.png"):
                paths["figure"] = figure
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"what was done is in {path}; --resume goes on" if path.exists() else "") from None
    say_paths(paths)
    return 0 if found else FAILED


def _plot_sweep(store: Any, found: dict[str, dict[str, float]], path: Path) -> Path | None:
    """What was measured over what was varied: those numbers of which most is known from the parameters; None where none vary.

    On a grid the values of another parameter have colours, where they are few.
    """
    import numpy as np

    from tumble.render.figures.curves import COLORS, Panel, panels
    from tumble.scenarios.registry import load
    from tumble.scenarios.sweeps.sweep import ERRORS, UNITS, columns, depends, ranked
    from tumble.sim.words import count

    data, fields, parameters = columns(store), [], load(store.plan.scenario).parameters
    numbers = [name for name in store.plan.parameters if data[f"parameter_{name}"].dtype.kind == "f"]
    for name in numbers or [None]:
        x = data[f"parameter_{name}"] if name else np.arange(len(data["status"]))
        log = "x" if name and isinstance(store.plan.parameters[name], dict) and store.plan.parameters[name].get("log") else ""
        others = [other for other in store.plan.parameters if other != name] if name and store.plan.sampling == "grid" else []
        values = np.unique(data[f"parameter_{others[0]}"]) if len(others) == 1 else []
        telling = [measured for measured in ranked(found, name) if name is None or depends(x, data[measured])]
        for measured in [measured for measured in telling if measured not in ERRORS][:4] or telling[:4]:
            told = found[measured].get(f"rank correlation with {name}")
            title = measured if told is None else f"{measured}, rank correlation {told:+.2f}"
            along = f"{name} [{parameters[name].unit}]" if name and parameters[name].unit else name or "member"
            unit = "J" if measured.startswith("ledger_") else UNITS.get(measured, "")
            curves = {measured: (x, data[measured])}
            if 1 < len(values) <= len(COLORS):
                of = {value: data[f"parameter_{others[0]}"] == value for value in values.tolist()}
                text = lambda value: f"{value:g}" if isinstance(value, float) else str(value)  # noqa: E731
                curves = {f"{others[0]} {text(value)}": (x[rows], data[measured][rows]) for value, rows in of.items()}
            fields.append(Panel(title, along, unit, curves, log=log, dots=True))
    if not fields:
        return None
    return panels(f"{load(store.plan.scenario).name}: {count(len(data['status']), 'member')}", fields, path, across=2)
