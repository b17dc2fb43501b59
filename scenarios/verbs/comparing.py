"""Verbs that compare runs: with themselves, with each other, with smaller steps."""

from __future__ import annotations

import argparse
from typing import Any

from tumble.scenarios.verbs.given import (
    FAILED,
    FIGURES,
    Adder,
    opened_run,
    picture_options,
    positive,
    quantity,
    scene_arguments,
    scene_of,
    writable,
)


def add_check(verb: Adder) -> None:
    one = verb("check", check, "run a recorded scene again, and compare each sample to the last bit")
    one.add_argument("run", metavar="RUN", help="the folder of a run, or its trajectory.zarr")
    one.add_argument("--repair", action="store_true", help="put a new recording in the place of a damaged one, if it is the same")


def check(arguments: argparse.Namespace) -> int:
    """Run a recorded scene again; exit code 1 where a bit differs."""
    from tumble.scenarios.checks.rerun import check as again
    from tumble.scenarios.progress import Bar
    from tumble.scenarios.runs.manifest import harms
    from tumble.scenarios.runs.scene_run import warm
    from tumble.sim.recording.run import Run

    run = opened_run(arguments.run)
    damages, beside = run.damages(), harms(run.path.parent)
    for damage in [*damages, *beside]:
        print(f"damaged: {damage}")
    if beside:
        print("the recording is apart from these; tumble run, film and report make them anew")
    if damages and not arguments.repair:
        print("--repair runs the scene again and, if all that is whole comes out the same, puts that in its place")
        return FAILED
    warm()
    if damages:
        from tumble.scenarios.checks.repair import repair

        with Bar(f"Recording {run.attributes['title']} again", counted=True) as bar:
            repair(run, bar.update)
        print("repaired")
        run = Run.open(arguments.run)
    with Bar(f"Running {run.attributes['title']} again", counted=True) as bar:
        found = again(run, bar.update)
    print(found)
    return 0 if found.same and not beside else FAILED


def add_compare(verb: Adder) -> None:
    one = verb("compare", compare, "compare two runs: where they first differ, by how much, and how fast that grows")
    one.add_argument("a", metavar="A", help="the folder of a run")
    one.add_argument("b", metavar="B", help="another")
    one.add_argument("--out", type=writable(*FIGURES), metavar="F", help="a .png, .svg or .pdf of the differences over time")
    one.add_argument("--film", type=writable(), metavar="F", help="both side by side: .mp4, .gif, .webp, or a folder of PNGs")
    one.add_argument("--speed", type=quantity("", low=1e-6, high=1e6), default=1.0, metavar="X", help="0.1 is slow motion (1)")
    one.add_argument("--fps", type=quantity("", low=1e-3, high=1000), default=30.0, metavar="N", help="frames per second (30)")
    picture_options(one)


def compare(arguments: argparse.Namespace) -> int:
    """Two recorded runs beside each other; exit code 1 where they differ."""
    from tumble.scenarios.checks.compare import compare as beside

    a, b = opened_run(arguments.a), opened_run(arguments.b)
    found = beside(a, b)
    print(found)
    if arguments.out:
        curves = {"apart [m]": found.apart, "turned [rad]": found.turned, "energy [J]": found.energy}
        lines = {label: (found.times, values) for label, values in curves.items()}
        title = f"{a.attributes['title']} and {b.attributes['title']}"
        _draw(title, "Largest difference of the two runs", lines, arguments.out)
    if arguments.film:
        from tumble.scenarios.showing.report import film_runs, show_warnings

        show_warnings()
        options = {name: getattr(arguments, name) for name in ("size", "fps", "preset", "overlays", "speed")}
        print(film_runs(a, b, (found.times, found.apart), arguments.film, **options))
    return 0 if found.same else FAILED


def add_converge(verb: Adder) -> None:
    one = verb("converge", converge, "run a scene at dt, dt/2, dt/4 ...: its order, and until when it can be predicted")
    scene_arguments(one, "the longest step")
    one.add_argument("--halvings", type=positive, default=3, metavar="N", help="of the step (3)")
    one.add_argument("--quantity", default="poses", metavar="Q", help="poses, positions, velocities, energy ... (poses)")
    one.add_argument("--tolerance", type=quantity("", above=0), metavar="X", help="agreement; else 1 %% of the largest change")
    one.add_argument("--out", type=writable(*FIGURES), metavar="F", help="a .png, .svg or .pdf of the differences over time")


def converge(arguments: argparse.Namespace) -> None:
    """A scene at dt, dt/2, dt/4 ...: the order at which it converges, and how long it can be predicted."""
    from tumble.scenarios.checks.converge import converge as halve
    from tumble.scenarios.runs.scene_run import warm

    scene, _ = scene_of(arguments)
    warm()
    options = {"halvings": arguments.halvings, "quantity": arguments.quantity, "tolerance": arguments.tolerance}
    found = halve(scene, arguments.seconds, arguments.dt, quiet=False, **options)
    print(found)
    if arguments.out:
        steps = zip(found.steps, found.differences, strict=False)
        lines = {f"1/{1 / dt:g} s": (found.times, off) for dt, off in steps}
        _draw(found.scenario, f"{found.quantity}: off the run with half the step", lines, arguments.out)


def _draw(title: str, what: str, lines: dict[str, tuple[Any, Any]], path: str) -> None:
    """Curves over time by their labels, on a logarithmic scale."""
    from tumble.render.figures.curves import Panel, panels

    print(panels(title, [Panel(what, "time [s]", "", lines, log="y")], path))
