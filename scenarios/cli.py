"""The command ``tumble``. Nothing heavy is imported before a verb needs it, so that ``--help`` answers at once."""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

BAD_INPUT, FAILED, INTERRUPTED = 2, 1, 130
LONGEST_NAME, LONGEST_PATH = 230, 3000  # bytes; what systems allow, 255 and 4096, less what is put before and behind
LONGEST_LINE = 1500  # letters of an error: what files say is quoted in it
PRESETS = ("fast", "default", "best")
CONTACT_OVERLAYS = frozenset(("contacts", "normals", "manifolds", "impacts"))
FIGURES = (".png", ".svg", ".pdf")
EXPORTS = (".glb", ".csv", ".parquet", ".mcap")
DEMO = ("two_cuboids", "dropped_cuboids")


class Parser(argparse.ArgumentParser):
    """Says what is wrong on one line, without the usage before it."""

    def error(self, message: str) -> NoReturn:
        from sim.words import printable

        self.exit(BAD_INPUT, printable(f"{self.prog}: {message} (see {self.prog} --help)\n"))


def main(argv: Sequence[str] | None = None) -> int:
    """Run a verb; the exit code: 0, 2 for bad input, 1 for what failed, 130 for Ctrl-C."""
    arguments = parser().parse_args(argv)
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    signal.signal(signal.SIGTERM, _terminated)  # as Ctrl-C: recordings are closed on the way out
    from sim.words import Printable

    shown, warnings.showwarning = warnings.showwarning, _note
    try:
        _check_paths(arguments)
        with contextlib.redirect_stdout(Printable(sys.stdout)):  # names in files of others are not trusted with the terminal
            code = arguments.verb(arguments) or 0
        sys.stdout.flush()  # here, where a closed pipe can still be handled
        return code
    except KeyboardInterrupt as interrupt:
        return _fail(INTERRUPTED, f"stopped{': ' + str(interrupt) if str(interrupt) else ''}")
    except BrokenPipeError:  # the reader has seen enough, as in `tumble list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        code = _code(error)
        if code is None:
            raise  # a mistake of ours: the traceback is wanted
        return _fail(code, str(error))
    finally:
        warnings.showwarning = shown


def _note(*warning: Any) -> None:
    """A warning in one line. What does that is loaded when there is one."""
    from scenarios.report import show_warnings

    show_warnings()
    warnings.showwarning(*warning)


def _code(error: Exception) -> int | None:
    """The exit code of an error that a user can do something about; None for any other."""
    from sim.errors import InputError, RecordingError, SimulationError

    if isinstance(error, InputError):
        return BAD_INPUT
    if isinstance(error, RecordingError):  # no recording, or no room for one
        full = getattr(error.__cause__, "errno", None) in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
        return FAILED if full else BAD_INPUT
    render = sys.modules.get("render.errors")
    if isinstance(error, SimulationError | OSError) or (render and isinstance(error, render.RenderError)):
        return FAILED
    return None


def _fail(code: int, message: str) -> int:
    from sim.words import printable

    line = " ".join(message.split())
    print(printable(f"tumble: {line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + ' ...'}"), file=sys.stderr)
    return code


def _terminated(*_: object) -> None:
    raise KeyboardInterrupt


# ---------------------------------------------------------------------- verbs


def list_(arguments: argparse.Namespace) -> None:
    """Names and first lines of the catalog."""
    from scenarios.registry import catalog

    scenarios = catalog()
    width = max(map(len, scenarios))
    for name, scenario in scenarios.items():
        print(f"{name:{width}}  {scenario.summary}")


def show(arguments: argparse.Namespace) -> None:
    """What a scenario is about, and its parameters."""
    from scenarios.registry import load

    scenario = load(arguments.name, _reading(arguments))
    scene = scenario()
    print(scenario.name)
    print(f"\n{scenario.doc}\n" if scenario.doc else "")
    print(f"bodies {len(scene)}, duration {scene.duration:g} s, dt 1/{1 / scene.dt:g} s\n")
    if not scenario.parameters:
        print(f"no parameters\n\ntumble run {arguments.name}")
        return
    rows = [("parameter", "default", "unit", "type", "range", "meaning")]
    for p in scenario.parameters.values():
        rows.append((p.name, p.field.show(p.default), p.unit, p.field.type, p.range, p.help))
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    for row in rows:
        print("  ".join(f"{text:{width}}" for text, width in zip(row, widths, strict=False)), row[5], sep="  ")
    print(f"\ntumble run {arguments.name} --set {next(iter(scenario.parameters))}=...")


def run(arguments: argparse.Namespace) -> None:
    """Run a scenario or a scene file; record, plot, and film it on request."""
    scene, name = _scene(arguments)
    out = Path(arguments.out or Path("runs") / name)
    from scenarios.report import FILM, report, show_warnings, table
    from scenarios.run import TRAJECTORY, run_scene
    from sim.files import claimed

    show_warnings()
    if arguments.video:  # what is wrong with it is said before the run
        from render.video import check_film
        from sim.recording import chosen

        names = [body.name for body in scene]
        names = names if arguments.bodies is None else chosen(arguments.bodies, names)
        dress = {name: getattr(arguments, name) for name in ("preset", "graph", "sound", "blur")}
        check_film(names, out / FILM, arguments.size, arguments.fps, arguments.camera, arguments.overlays, **dress)
    try:
        shown = bool(CONTACT_OVERLAYS.intersection(arguments.overlays or ())) or (arguments.video and arguments.sound)
        contacts = arguments.contacts or shown or None
        how = {name: getattr(arguments, name) for name in ("resume", "every", "bodies", "precision", "compression")}
        with claimed(out):
            artefacts = run_scene(scene, out, arguments.seconds, arguments.dt, contacts=contacts, **how)
            report(artefacts, out, arguments.video, **_film(arguments))
    except KeyboardInterrupt:
        recorded = (out / TRAJECTORY).exists()
        raise KeyboardInterrupt(f"what was recorded is in {out / TRAJECTORY}; --resume goes on" if recorded else "") from None
    print(table([artefacts.summary]))
    _say_paths(artefacts.paths)


def demo(arguments: argparse.Namespace) -> None:
    """Two scenarios from start to film."""
    from scenarios.registry import load
    from scenarios.report import report, show_warnings, table
    from scenarios.run import run_scene

    show_warnings()
    done = []
    for name in DEMO:
        scene = load(name)()
        out = Path(arguments.out) / name
        artefacts = run_scene(scene, out)
        report(artefacts, out, True, **_film(arguments))
        done.append(artefacts)
    print(table([artefacts.summary for artefacts in done]))
    for artefacts in done:
        _say_paths(artefacts.paths)


def film(arguments: argparse.Namespace) -> None:
    """A film of a recorded run."""
    from scenarios.manifest import listed
    from scenarios.report import film_run, show_warnings

    show_warnings()
    run, out = _opened(arguments.run), Path(arguments.out)
    with listed(out):
        print(film_run(run, out, start=arguments.start, stop=arguments.stop, speed=arguments.speed, **_film(arguments)))


def check(arguments: argparse.Namespace) -> int:
    """Run a recorded scene again; exit code 1 where a bit differs."""
    from scenarios.check import check as again
    from scenarios.manifest import harms
    from scenarios.progress import Bar
    from scenarios.run import warm
    from sim.run import Run

    run = _opened(arguments.run)
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
        from scenarios.repair import repair

        with Bar(f"Recording {run.attributes['title']} again", counted=True) as bar:
            repair(run, bar.update)
        print("repaired")
        run = Run.open(arguments.run)
    with Bar(f"Running {run.attributes['title']} again", counted=True) as bar:
        found = again(run, bar.update)
    print(found)
    return 0 if found.same and not beside else FAILED


def compare(arguments: argparse.Namespace) -> int:
    """Two recorded runs beside each other; exit code 1 where they differ."""
    from scenarios.compare import compare as beside

    a, b = _opened(arguments.a), _opened(arguments.b)
    found = beside(a, b)
    print(found)
    if arguments.out:
        from render.curves import Panel, panels

        curves = {"apart [m]": found.apart, "turned [rad]": found.turned, "energy [J]": found.energy}
        lines = {label: (found.times, values) for label, values in curves.items()}
        title = f"{a.attributes['title']} and {b.attributes['title']}"
        print(panels(title, [Panel("Largest difference of the two runs", "time [s]", "", lines, log="y")], arguments.out))
    if arguments.film:
        from scenarios.report import film_runs, show_warnings

        show_warnings()
        options = {name: getattr(arguments, name) for name in ("size", "fps", "preset", "overlays", "speed")}
        print(film_runs(a, b, (found.times, found.apart), arguments.film, **options))
    return 0 if found.same else FAILED


def converge(arguments: argparse.Namespace) -> None:
    """A scene at dt, dt/2, dt/4 ...: the order at which it converges, and how long it can be predicted."""
    from scenarios.converge import converge as halve
    from scenarios.run import warm

    scene, _ = _scene(arguments)
    warm()
    options = {"halvings": arguments.halvings, "quantity": arguments.quantity, "tolerance": arguments.tolerance}
    found = halve(scene, arguments.seconds, arguments.dt, quiet=False, **options)
    print(found)
    if arguments.out:
        from render.curves import Panel, panels

        steps = zip(found.steps, found.differences, strict=False)
        lines = {f"1/{1 / dt:g} s": (found.times, off) for dt, off in steps}
        title = f"{found.quantity}: off the run with half the step"
        print(panels(found.scenario, [Panel(title, "time [s]", "", lines, log="y")], arguments.out))


def report(arguments: argparse.Namespace) -> None:
    """One page of HTML about a recorded run."""
    from scenarios.manifest import listed
    from scenarios.report import PAGE, show_warnings, write_report

    show_warnings()
    run = _opened(arguments.run)
    out = Path(arguments.out or run.path.parent / PAGE)
    options = {"size": arguments.size, "preset": arguments.preset, "overlays": arguments.overlays}
    with listed(out):
        print(write_report(run, out, not arguments.no_film, **options))


def export(arguments: argparse.Namespace) -> None:
    """A recorded run as an animated glTF file, a table, or a log."""
    import render
    from scenarios.logs import table_paths, write_log
    from scenarios.progress import Bar

    run = _opened(arguments.run)
    with Bar(f"Writing {arguments.out}", counted=True) as bar:
        if Path(arguments.out).suffix.lower() in (".csv", ".parquet", ".mcap"):
            print(write_log(run, arguments.out, bar.update), *table_paths(run, arguments.out).values(), sep="\n")
            return
        print(render.export(run, arguments.out, arguments.rate, bar.update))


def view(arguments: argparse.Namespace) -> None:
    """A window on a scenario, a scene file or a recorded run."""
    from scenarios.report import show_warnings

    show_warnings()
    shown: dict[str, Any] = {}
    if Path(arguments.name_or_file).is_dir():
        source = _opened(arguments.name_or_file)
    else:
        source, values = _scenario(arguments)
        shown["values"], shown["change"] = values, _with_step(arguments.dt)
        from scenarios.run import warm

        warm()
    from scenarios.live import view

    view(source, arguments.size, arguments.preset, arguments.overlays, paused=arguments.paused, speed=arguments.speed,
         start=arguments.start, **shown)  # fmt: skip


def schema(arguments: argparse.Namespace) -> None:
    """The keys of scene files as a JSON Schema."""
    import json

    from scenarios.editor import json_schema

    print(json.dumps(json_schema(), indent=2))


def import_(arguments: argparse.Namespace) -> None:
    """A model of another program as a scene file."""
    from scenarios.files import save_scene
    from scenarios.importing import load_model
    from scenarios.report import show_warnings
    from sim.words import count

    show_warnings()
    found = load_model(arguments.model, arguments.root)
    out = Path(arguments.out or Path(arguments.model).with_suffix(".toml").name)
    save_scene(found.scene, out)
    print(f"{out}: {count(len(found.scene), 'body')}")
    if found.left_out:
        print("not taken over:", *found.lines(), sep="\n  ")


def sweep(arguments: argparse.Namespace) -> int:
    """Run the members of a sweep; exit code 1 where all of them failed."""
    import json

    from scenarios.ensemble import load_plan
    from scenarios.run import write_whole
    from scenarios.sweep import statistics, table
    from scenarios.sweep import sweep as run_members
    from sim.files import claimed

    plan = load_plan(arguments.file, _reading(arguments))
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
    _say_paths(paths)
    return 0 if found else FAILED


def _plot_sweep(store: Any, found: dict[str, dict[str, float]], path: Path) -> Path | None:
    """What was measured over what was varied: those numbers of which most is known from the parameters; None where none vary.

    On a grid the values of another parameter have colours, where they are few.
    """
    import numpy as np

    from render.curves import COLORS, Panel, panels
    from scenarios.registry import load
    from scenarios.sweep import ERRORS, UNITS, columns, depends, ranked
    from sim.words import count

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


def trace(arguments: argparse.Namespace) -> None:
    """The steps of a distance query that `Proximity(..., trace=FILE)` wrote, as a picture or a film."""
    from collision.trace import Trace
    from render.minkowski import film, still

    recorded = Trace.load(arguments.file)
    out = Path(arguments.out or Path(arguments.file).with_suffix(".png"))
    print((film if out.suffix.lower() == ".mp4" else still)(recorded, out, arguments.size))


def validate(arguments: argparse.Namespace) -> int:
    """Cases with a known answer; exit code 1 where a number is off its limit."""
    from scenarios.run import warm
    from scenarios.validation.case import cases, chosen
    from scenarios.validation.report import run_cases, table, verdict, write_json, write_page

    wanted = chosen(arguments.case) if arguments.case else [c for c in cases().values() if arguments.all or not c.long]
    warm()
    results = run_cases(wanted)
    print(table(results))
    print(f"\n{verdict(results)}")
    if arguments.json:
        print(write_json(results, arguments.json))
    if arguments.page:
        print(write_page(results, arguments.page, arguments.peers))
    return 0 if all(result.holds for result in results) else FAILED


def bench(arguments: argparse.Namespace) -> None:
    """How fast scenes step, and where the time goes."""
    from collision.errors import InputError
    from scenarios.bench import chosen, kernels, run_suite, table, write_json

    if arguments.compile and not arguments.start:
        raise InputError("--compile", True, "goes with --start")
    if arguments.calls or arguments.start:
        from scenarios import bench_calls

        for key, given in (("scene", arguments.scene), ("--json", arguments.json), ("--kernels", arguments.kernels)):
            if given:
                raise InputError(key, given, "is nothing for --calls and --start, which time worlds of their own")

        rows = (bench_calls.calls() + bench_calls.many() if arguments.calls else []) + (
            bench_calls.start(arguments.compile) if arguments.start else []
        )
        print(bench_calls.table(rows))
        return
    names = chosen(arguments.scene)
    rows = run_suite(names, arguments.budget)
    print(table(rows))
    if arguments.kernels:
        for row in rows:
            if "kernels" in row:
                print(f"\n{kernels(row)}")
    if arguments.json:
        print(f"\n{write_json(rows, arguments.json)}")


def doctor(arguments: argparse.Namespace) -> int:
    """What works here; exit code 1 where something needed is missing."""
    from render.context import describe, screen
    from scenarios.doctor import examine

    if arguments.prune:
        from collision.sources import prune
        from sim.words import count

        print(f"deleted {count(prune(), 'folder')} of kernels that no longer fit")
    missing = False
    for finding in examine(describe, screen):
        mark = {True: "ok     ", None: "limited", False: "MISSING"}[finding.good]
        print(f"{mark}  {finding.what:13} {finding.says}")
        if finding.remedy:
            print(f"{'':24}{finding.remedy}")
        missing |= finding.good is False
    return FAILED if missing else 0


# ---------------------------------------------------------------------- helpers


def _with_step(dt: float | None) -> Callable[[Any], None] | None:
    """What gives a scene this step."""

    def change(scene: Any) -> None:
        scene.dt = dt

    return None if dt is None else change


def _opened(given: str) -> Any:
    """The run of a folder, or of its recording, cleared of what those left who were killed there."""
    from sim.files import tidy
    from sim.run import Run

    path = Path(given)
    tidy(path.parent if path.suffix == ".zarr" else path)
    return Run.open(path)


def _scene(arguments: argparse.Namespace) -> tuple[Any, str]:
    """The scene that is meant by a name or a file, and a name for its folder."""
    scenario, values = _scenario(arguments)
    given = arguments.name_or_file
    return scenario(**values), Path(given).stem if Path(given).is_file() else scenario.name


def _scenario(arguments: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """The scenario that is meant by a name or a file, and the values that --set gives its parameters."""
    from collision.errors import InputError
    from scenarios.registry import load

    texts = {}
    for item in arguments.set:
        key, equals, text = item.partition("=")
        if not equals or not key:
            raise InputError("--set", item, "must be name=value")
        texts[key.strip()] = text.strip()
    scenario = load(arguments.name_or_file, _reading(arguments))
    return scenario, scenario.parse(texts)


def _reading(arguments: argparse.Namespace) -> Any:
    from scenarios.limits import Reading

    return Reading(arguments.allow_outside, getattr(arguments, "yes", False))


def _reading_arguments(one: argparse.ArgumentParser) -> None:
    """What a scene file may do only where it is said."""
    one.add_argument("--allow-outside", action="store_true", help="let a scene file name files outside its folder")
    one.add_argument("--yes", action="store_true", help="take scenes of more than 100000 bodies")


def _film(arguments: argparse.Namespace) -> dict[str, Any]:
    names = ("size", "fps", "preset", "camera", "overlays", "graph", "sound", "blur")
    plain = {"title": False, "bar": False} if arguments.plain else {}
    return {name: getattr(arguments, name) for name in names} | plain


def _say_paths(paths: dict[str, Path]) -> None:
    print()
    for what, path in paths.items():
        print(f"{what:10}  {path}")


def _quantity(unit: str, **limits: float) -> Callable[[str], float]:
    """A number on the command line, with or without its unit: "0.01", "1/240", "5 ms"."""

    def read(text: str) -> float:
        from collision.errors import InputError
        from scenarios.fields import Real

        try:
            return Real(unit=unit, **limits).parse("", text)
        except InputError as error:
            raise argparse.ArgumentTypeError(f"{text!r} {error.hint}") from None

    return read


def _size(text: str) -> tuple[int, int]:
    width, x, height = text.lower().partition("x")
    if not (x and width.isdigit() and height.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} must be WIDTHxHEIGHT, such as 1280x720")
    return int(width), int(height)


def _check_paths(arguments: argparse.Namespace) -> None:
    """InputError for names of files that no file can have; what writes a file puts some letters more into its name."""
    from collision.errors import InputError

    for key in ("name_or_file", "run", "a", "b", "file", "model", "path", "out", "json", "page", "root"):
        value = getattr(arguments, key, None)
        text = str(value) if isinstance(value, str | Path) else ""
        if "\0" in text:
            raise InputError(key, text, "can not be the name of a file: it has a zero byte")
        if len(os.fsencode(text)) > LONGEST_PATH or any(len(os.fsencode(part)) > LONGEST_NAME for part in Path(text).parts):
            raise InputError(key, text, f"is too long for a file: {LONGEST_NAME} bytes a name, {LONGEST_PATH} in all")


def _file(*kinds: str) -> Callable[[str], str]:
    """A file to be written, of one of these endings if there are any: refused before there is anything to lose."""

    def read(text: str) -> str:
        from collision.errors import InputError

        path = Path(text)
        try:
            _check_paths(argparse.Namespace(path=text))
        except InputError as error:
            raise argparse.ArgumentTypeError(f"{text[:40]!r}... {error.hint}") from None
        if kinds and path.suffix.lower() not in kinds:
            raise argparse.ArgumentTypeError(f"{text!r} must end in {' or '.join(kinds)}")
        if path.is_dir() and path.suffix:
            raise argparse.ArgumentTypeError(f"{text!r} is a folder")
        if not path.parent.is_dir():
            raise argparse.ArgumentTypeError(f"{text!r}: there is no folder {path.parent}")
        return text

    return read


def _address(text: str) -> str:
    if not re.fullmatch(r"(\w+://)?(\[[0-9a-fA-F:.]+\]|[\w.-]+):\d{1,5}", text):
        raise argparse.ArgumentTypeError(f"{text!r} must be an address with a port, such as tcp://127.0.0.1:8786")
    return text


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.replace(",", " ").split())


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _level(text: str) -> int:
    if not text.isdigit() or int(text) > 22:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number in [0, 22]")
    return int(text)


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number of at least 1")
    return int(text)


def _scene_arguments(one: argparse.ArgumentParser, dt: str) -> None:
    """Which scene, for how long, at which step, with which parameters."""
    one.add_argument(
        "name_or_file", metavar="NAME_OR_FILE", help="a name of `tumble list`, a TOML file, or a Python file with a @scenario"
    )
    one.add_argument("--seconds", type=_quantity("s", above=0), metavar="S", help="simulated time; else the scene's own")
    one.add_argument("--dt", type=_quantity("s", low=1e-12, high=1e6), metavar="H", help=f"{dt}; else the scene's own")
    _reading_arguments(one)
    one.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a parameter, as `tumble show` lists them")


@cache
def parser() -> Parser:
    """The verbs and their options."""
    top = Parser(prog="tumble", description="Rigid bodies whose energy and momentum can be trusted.")
    verbs = top.add_subparsers(metavar="VERB", required=True, parser_class=Parser)

    def verb(name: str, action: Callable, help: str) -> Parser:
        made = verbs.add_parser(name, help=help, description=help[0].upper() + help[1:] + ".")
        made.set_defaults(verb=action)
        return made

    verb("list", list_, "list the scenarios of the catalog")

    one = verb("show", show, "show what a scenario is about, and its parameters")
    one.add_argument("name", metavar="NAME_OR_FILE")
    _reading_arguments(one)

    one = verb("run", run, "run a scenario or a scene file; record it")
    _scene_arguments(one, "step, such as 1/480")
    one.add_argument("--out", metavar="DIR", help="where to put the results (runs/NAME)")
    one.add_argument("--every", type=_positive, metavar="N", help="record every N steps (1)")
    one.add_argument("--contacts", action="store_true", help="record the contacts and impacts too")
    one.add_argument("--bodies", type=_listed, metavar="A,B", help="record these alone; patterns too, such as 'domino_*'")
    one.add_argument("--precision", choices=("double", "single"), help="of recorded poses and velocities (double)")
    one.add_argument("--compression", type=_level, metavar="L", help="of Zstandard, 0 (none) to 22 (1)")
    one.add_argument("--video", action="store_true", help="make a film too")
    one.add_argument(
        "--resume",
        action="store_true",
        help="go on with a run that was stopped, from where it was last saved; recorded as it was begun",
    )
    _film_options(one)

    one = verb("demo", demo, "run two scenarios from start to film")
    one.add_argument("--out", default="runs", metavar="DIR", help="where to put the results (runs)")
    _film_options(one)

    one = verb("film", film, "film a recorded run")
    one.add_argument("run", metavar="RUN", help="the folder of a run, or its trajectory.zarr")
    one.add_argument(
        "--out", required=True, type=_file(), metavar="F", help="the film: .mp4, .gif, .webp, or a name without ending for PNGs"
    )
    one.add_argument("--start", type=_quantity("s"), metavar="S", help="of the run; else its beginning")
    one.add_argument("--stop", type=_quantity("s"), metavar="S", help="of the run; else its end")
    one.add_argument("--speed", type=_quantity("", low=1e-6, high=1e6), default=1.0, metavar="X", help="0.1 is slow motion (1)")
    _film_options(one)

    _comparing(verb)

    verb("schema", schema, "print the JSON Schema of scene files, for editors that complete and check")

    one = verb("import", import_, "turn an MJCF or URDF model into a scene file, and tell what is not in it")
    one.add_argument("model", metavar="MODEL", help="a .xml (MJCF) or .urdf file")
    one.add_argument(
        "--root", metavar="DIR", help="its files are read from there (the folder above it with a package.xml, or its own)"
    )
    one.add_argument("--out", type=_file(), metavar="F.toml", help="the scene file (MODEL.toml)")

    one = verb("sweep", sweep, "run a scenario for many parameters, on all processors or a Dask cluster")
    one.add_argument("file", metavar="FILE", help="a TOML file that says what is varied")
    one.add_argument("--allow-outside", action="store_true", help="let it name files outside its folder")
    one.add_argument("--out", metavar="DIR", help="where to put the results (runs/FILE)")
    one.add_argument("--workers", type=_positive, metavar="N", help="processes (as many as processors)")
    one.add_argument("--scheduler", type=_address, metavar="ADDRESS", help="of a Dask scheduler, such as tcp://127.0.0.1:8786")
    one.add_argument("--resume", action="store_true", help="go on with a sweep that was stopped")
    one = verb("view", view, "look at a scenario, a scene file or a recorded run in a window; H shows the keys")
    one.add_argument("name_or_file", metavar="NAME_OR_FILE_OR_RUN", help="a name of `tumble list`, a TOML file, or a run")
    _reading_arguments(one)
    one.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a parameter, as `tumble show` lists them")
    one.add_argument("--dt", type=_quantity("s", above=0), metavar="H", help="step, such as 1/480; else the scene's own")
    one.add_argument("--paused", action="store_true", help="begin with a pause")
    one.add_argument("--speed", type=_quantity("", low=1e-6, high=1e6), default=1.0, metavar="X", help="0.1 is slow motion (1)")
    one.add_argument("--start", type=_quantity("s"), metavar="S", help="of a run; else its beginning")
    _picture_options(one)

    one = verb("report", report, "write one page about a run: summary, replay in 3D, film, figures, provenance")
    one.add_argument("run", metavar="RUN", help="the folder of a run, or its trajectory.zarr")
    one.add_argument("--out", type=_file(".html", ".htm"), metavar="F.html", help="the page (report.html beside the recording)")
    one.add_argument("--no-film", action="store_true", help="leave the film out")
    _picture_options(one, (960, 540))

    one = verb("export", export, "write a run as animated glTF (Blender, browsers), CSV, Parquet or MCAP (Foxglove)")
    one.add_argument("run", metavar="RUN", help="the folder of a run, or its trajectory.zarr")
    one.add_argument("--out", required=True, type=_file(*EXPORTS), metavar="F", help="a .glb, .csv, .parquet or .mcap file")
    one.add_argument("--rate", type=_quantity("", above=0), default=60.0, metavar="N", help="poses per second (60)")

    one = verb("trace", trace, "draw the steps of a distance query, in the space of differences")
    one.add_argument("file", metavar="FILE", help="written by Proximity(..., trace=FILE)")
    one.add_argument(
        "--out",
        type=_file(*FIGURES, ".mp4"),
        metavar="F",
        help="a .png, .svg or .pdf of twelve steps, or an .mp4 of all (FILE.png)",
    )
    one.add_argument("--size", type=_size, default=(1600, 1000), metavar="WxH", help="of the picture (1600x1000)")

    one = verb("validate", validate, "run the cases with a known answer, and compare each number with its limit")
    one.add_argument("case", nargs="*", metavar="CASE", help="such as V01; else all but the long ones")
    one.add_argument("--all", action="store_true", help="the long ones too")
    one.add_argument("--json", metavar="F.json", help="write the numbers as JSON")
    one.add_argument("--page", metavar="F.md", help="write the page of the docs")
    one.add_argument("--peers", metavar="F.json", help="numbers of other engines to put on the page")

    one = verb("bench", bench, "measure microseconds a step by stage: tumbling boxes, stack, pyramid, balls, piles")
    one.add_argument("scene", nargs="*", metavar="SCENE", help="of: tumbling stack pyramid balls pile_200 pile_1000; else all")
    one.add_argument(
        "--budget", type=_quantity("s", above=0), default=20.0, metavar="S", help="wall-clock time for each scene (20)"
    )
    one.add_argument("--calls", action="store_true", help="instead: what calls from Python cost, and many worlds at once")
    one.add_argument("--start", action="store_true", help="instead: seconds from the start of Python to a first step")
    one.add_argument("--compile", action="store_true", help="with --start: also where nothing is compiled yet")
    one.add_argument("--kernels", action="store_true", help="list the kernels that take most of each step")
    one.add_argument("--json", metavar="F", help="write the measurements to a file")

    one = verb("doctor", doctor, "tell what works here, and how to get what is missing")
    one.add_argument("--prune", action="store_true", help="delete compiled kernels that no longer fit")
    return top


def _comparing(verb: Callable[..., Parser]) -> None:
    """The verbs that compare runs."""
    one = verb("check", check, "run a recorded scene again, and compare each sample to the last bit")
    one.add_argument("run", metavar="RUN", help="the folder of a run, or its trajectory.zarr")
    one.add_argument("--repair", action="store_true", help="put a new recording in the place of a damaged one, if it is the same")

    one = verb("compare", compare, "compare two runs: where they first differ, by how much, and how fast that grows")
    one.add_argument("a", metavar="A", help="the folder of a run")
    one.add_argument("b", metavar="B", help="another")
    one.add_argument("--out", type=_file(*FIGURES), metavar="F", help="a .png, .svg or .pdf of the differences over time")
    one.add_argument("--film", type=_file(), metavar="F", help="both side by side: .mp4, .gif, .webp, or a folder of PNGs")
    one.add_argument("--speed", type=_quantity("", low=1e-6, high=1e6), default=1.0, metavar="X", help="0.1 is slow motion (1)")
    one.add_argument("--fps", type=_quantity("", low=1e-3, high=1000), default=30.0, metavar="N", help="frames per second (30)")
    _picture_options(one)

    one = verb("converge", converge, "run a scene at dt, dt/2, dt/4 ...: its order, and until when it can be predicted")
    _scene_arguments(one, "the longest step")
    one.add_argument("--halvings", type=_positive, default=3, metavar="N", help="of the step (3)")
    one.add_argument("--quantity", default="poses", metavar="Q", help="poses, positions, velocities, energy ... (poses)")
    one.add_argument("--tolerance", type=_quantity("", above=0), metavar="X", help="agreement; else 1 %% of the largest change")
    one.add_argument("--out", type=_file(*FIGURES), metavar="F", help="a .png, .svg or .pdf of the differences over time")


def _film_options(one: Parser) -> None:
    one.add_argument("--fps", type=_quantity("", low=1e-3, high=1000), default=30.0, metavar="N", help="frames per second (30)")
    one.add_argument("--camera", metavar="C", help="orbit, orbit:TURNS, follow:BODY, or a TOML file of keyframes; else it stands")
    one.add_argument("--graph", choices=("energy", "momentum"), help="a graph that grows under the picture")
    one.add_argument("--sound", action="store_true", help="of the impacts, in an .mp4")
    one.add_argument("--blur", type=_quantity("", low=0, high=1), default=0.0, metavar="X",
                     help="of what moves: part of the time that the shutter is open, with --preset best (0)")  # fmt: skip
    one.add_argument("--plain", action="store_true", help="no title and no bar of time")
    _picture_options(one, odd="; an .mp4 is even: of an odd size it has the last column or row twice")


def _picture_options(one: Parser, size: tuple[int, int] = (1280, 720), odd: str = "") -> None:
    one.add_argument("--size", type=_size, default=size, metavar="WxH", help=f"of the picture ({size[0]}x{size[1]}){odd}")
    one.add_argument("--preset", choices=PRESETS, default="default", help="quality of the picture (default)")
    one.add_argument("--overlays", type=_names, metavar="A,B", help="such as text,contacts,energy")


if __name__ == "__main__":
    sys.exit(main())
