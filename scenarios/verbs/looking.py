"""Verbs that show what was run: window, film, page, files for other programs, steps of a query."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from tumble.scenarios.verbs.given import (
    FIGURES,
    Adder,
    film_options,
    film_settings,
    opened_run,
    picture_options,
    picture_size,
    quantity,
    reading_arguments,
    scenario_of,
    with_step,
    writable,
)

EXPORTS = (".glb", ".csv", ".parquet", ".mcap")


def add_film(verb: Adder) -> None:
    one = verb("film", film, "film a recorded run")
    one.add_argument("run", metavar="RUN", help="the folder of a run, or its trajectory.zarr")
    kinds = "the film: .mp4, .gif, .webp, or a name without ending for PNGs"
    one.add_argument("--out", required=True, type=writable(), metavar="F", help=kinds)
    one.add_argument("--start", type=quantity("s"), metavar="S", help="of the run; else its beginning")
    one.add_argument("--stop", type=quantity("s"), metavar="S", help="of the run; else its end")
    one.add_argument("--speed", type=quantity("", low=1e-6, high=1e6), default=1.0, metavar="X", help="0.1 is slow motion (1)")
    film_options(one)


def film(arguments: argparse.Namespace) -> None:
    """A film of a recorded run."""
    from tumble.scenarios.runs.manifest import listed
    from tumble.scenarios.showing.report import film_run, show_warnings

    show_warnings()
    run, out = opened_run(arguments.run), Path(arguments.out)
    with listed(out):
        print(film_run(run, out, start=arguments.start, stop=arguments.stop, speed=arguments.speed, **film_settings(arguments)))


def add_view(verb: Adder) -> None:
    one = verb("view", view, "look at a scenario, a scene file or a recorded run in a window; H shows the keys")
    one.add_argument("name_or_file", metavar="NAME_OR_FILE_OR_RUN", help="a name of `tumble list`, a TOML file, or a run")
    reading_arguments(one)
    one.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a parameter, as `tumble show` lists them")
    one.add_argument("--dt", type=quantity("s", above=0), metavar="H", help="step, such as 1/480; else the scene's own")
    one.add_argument("--paused", action="store_true", help="begin with a pause")
    one.add_argument("--speed", type=quantity("", low=1e-6, high=1e6), default=1.0, metavar="X", help="0.1 is slow motion (1)")
    one.add_argument("--start", type=quantity("s"), metavar="S", help="of a run; else its beginning")
    picture_options(one)


def view(arguments: argparse.Namespace) -> None:
    """A window on a scenario, a scene file or a recorded run."""
    from tumble.scenarios.showing.report import show_warnings

    show_warnings()
    shown: dict[str, Any] = {}
    if Path(arguments.name_or_file).is_dir():
        source = opened_run(arguments.name_or_file)
    else:
        source, values = scenario_of(arguments)
        shown["values"], shown["change"] = values, with_step(arguments.dt)
        from tumble.scenarios.runs.scene_run import warm

        warm()
    from tumble.scenarios.showing.window_loop import view

    view(source, arguments.size, arguments.preset, arguments.overlays, paused=arguments.paused, speed=arguments.speed,
         start=arguments.start, **shown)  # fmt: skip


def add_report(verb: Adder) -> None:
    one = verb("report", report, "write one page about a run: summary, replay in 3D, film, figures, provenance")
    one.add_argument("run", metavar="RUN", help="the folder of a run, or its trajectory.zarr")
    one.add_argument(
        "--out", type=writable(".html", ".htm"), metavar="F.html", help="the page (report.html beside the recording)"
    )
    one.add_argument("--no-film", action="store_true", help="leave the film out")
    picture_options(one, (960, 540))


def report(arguments: argparse.Namespace) -> None:
    """One page of HTML about a recorded run."""
    from tumble.scenarios.runs.manifest import listed
    from tumble.scenarios.showing.report import PAGE, show_warnings, write_report

    show_warnings()
    run = opened_run(arguments.run)
    out = Path(arguments.out or run.path.parent / PAGE)
    options = {"size": arguments.size, "preset": arguments.preset, "overlays": arguments.overlays}
    with listed(out):
        print(write_report(run, out, not arguments.no_film, **options))


def add_export(verb: Adder) -> None:
    one = verb("export", export, "write a run as animated glTF (Blender, browsers), CSV, Parquet or MCAP (Foxglove)")
    one.add_argument("run", metavar="RUN", help="the folder of a run, or its trajectory.zarr")
    one.add_argument("--out", required=True, type=writable(*EXPORTS), metavar="F", help="a .glb, .csv, .parquet or .mcap file")
    one.add_argument("--rate", type=quantity("", above=0), default=60.0, metavar="N", help="poses per second (60)")


def export(arguments: argparse.Namespace) -> None:
    """A recorded run as an animated glTF file, a table, or a log."""
    from tumble import render
    from tumble.scenarios.progress import Bar
    from tumble.scenarios.runs.exports import reading_paths, table_paths, write_log

    run = opened_run(arguments.run)
    with Bar(f"Writing {arguments.out}", counted=True) as bar:
        if Path(arguments.out).suffix.lower() in (".csv", ".parquet", ".mcap"):
            out, tables = write_log(run, arguments.out, bar.update), table_paths(run, arguments.out).values()
            print(out, *tables, *reading_paths(run, out), sep="\n")
            return
        print(render.export(run, arguments.out, arguments.rate, bar.update))


def add_trace(verb: Adder) -> None:
    one = verb("trace", trace, "draw the steps of a distance query, in the space of differences")
    one.add_argument("file", metavar="FILE", help="written by Proximity(..., trace=FILE)")
    kinds = "a .png, .svg or .pdf of twelve steps, or an .mp4 of all (FILE.png)"
    one.add_argument("--out", type=writable(*FIGURES, ".mp4"), metavar="F", help=kinds)
    one.add_argument("--size", type=picture_size, default=(1600, 1000), metavar="WxH", help="of the picture (1600x1000)")


def trace(arguments: argparse.Namespace) -> None:
    """The steps of a distance query that `Proximity(..., trace=FILE)` wrote, as a picture or a film."""
    from tumble.collision.queries.trace import Trace
    from tumble.render.figures.minkowski import film, still

    recorded = Trace.load(arguments.file)
    out = Path(arguments.out or Path(arguments.file).with_suffix(".png"))
    print((film if out.suffix.lower() == ".mp4" else still)(recorded, out, arguments.size))
