"""What several verbs take: scenes, runs, sizes, names of files; and what they say."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

BAD_INPUT, FAILED, INTERRUPTED = 2, 1, 130  # exit codes
LONGEST_NAME, LONGEST_PATH = 230, 3000  # bytes: systems allow 255 and 4096, and programs add a part before and behind
PRESETS = ("fast", "default", "best")
FIGURES = (".png", ".svg", ".pdf")
Adder: TypeAlias = Callable[..., argparse.ArgumentParser]  # adds a verb: its name, its function, one line of help


def with_step(dt: float | None) -> Callable[[Any], None] | None:
    """What gives a scene this step."""

    def change(scene: Any) -> None:
        scene.dt = dt

    return None if dt is None else change


def opened_run(given: str) -> Any:
    """The run of a folder, or of its recording, cleared of what those left who were killed there."""
    from tumble.sim.files import tidy
    from tumble.sim.recording.run import Run

    path = Path(given)
    tidy(path.parent if path.suffix == ".zarr" else path)
    return Run.open(path)


def scene_of(arguments: argparse.Namespace) -> tuple[Any, str]:
    """The scene that is meant by a name or a file, and a name for its folder."""
    scenario, values = scenario_of(arguments)
    given = arguments.name_or_file
    return scenario(**values), Path(given).stem if Path(given).is_file() else scenario.name


def scenario_of(arguments: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """The scenario that is meant by a name or a file, and the values that --set gives its parameters."""
    from tumble.collision.errors import InputError
    from tumble.scenarios.registry import load

    texts = {}
    for item in arguments.set:
        key, equals, text = item.partition("=")
        if not equals or not key:
            raise InputError("--set", item, "must be name=value")
        texts[key.strip()] = text.strip()
    scenario = load(arguments.name_or_file, reading_of(arguments))
    return scenario, scenario.parse(texts)


def reading_of(arguments: argparse.Namespace) -> Any:
    from tumble.scenarios.files.limits import Reading

    return Reading(arguments.allow_outside, getattr(arguments, "yes", False))


def reading_arguments(one: argparse.ArgumentParser) -> None:
    """What a scene file may do only where it is said."""
    one.add_argument("--allow-outside", action="store_true", help="let a scene file name files outside its folder")
    one.add_argument("--yes", action="store_true", help="take scenes of more than 100000 bodies")


def film_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    names = ("size", "fps", "preset", "camera", "overlays", "graph", "sound", "blur")
    plain = {"title": False, "bar": False} if arguments.plain else {}
    return {name: getattr(arguments, name) for name in names} | plain


def say_paths(paths: dict[str, Path]) -> None:
    print()
    for what, path in paths.items():
        print(f"{what:10}  {path}")


def quantity(unit: str, **limits: float) -> Callable[[str], float]:
    """A number on the command line, with or without its unit: "0.01", "1/240", "5 ms"."""

    def read(text: str) -> float:
        from tumble.collision.errors import InputError
        from tumble.scenarios.fields import Real

        try:
            return Real(unit=unit, **limits).parse("", text)
        except InputError as error:
            raise argparse.ArgumentTypeError(f"{text!r} {error.hint}") from None

    return read


def picture_size(text: str) -> tuple[int, int]:
    width, x, height = text.lower().partition("x")
    if not (x and width.isdigit() and height.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} must be WIDTHxHEIGHT, such as 1280x720")
    return int(width), int(height)


def check_paths(arguments: argparse.Namespace) -> None:
    """InputError for names of files that no file can have; what writes a file puts some letters more into its name."""
    from tumble.collision.errors import InputError

    for key in ("name_or_file", "run", "a", "b", "file", "model", "path", "out", "json", "page", "root"):
        value = getattr(arguments, key, None)
        text = str(value) if isinstance(value, str | Path) else ""
        if "\0" in text:
            raise InputError(key, text, "can not be the name of a file: it has a zero byte")
        if len(os.fsencode(text)) > LONGEST_PATH or any(len(os.fsencode(part)) > LONGEST_NAME for part in Path(text).parts):
            raise InputError(key, text, f"is too long for a file: {LONGEST_NAME} bytes a name, {LONGEST_PATH} in all")


def writable(*kinds: str) -> Callable[[str], str]:
    """A file to be written, of one of these endings if there are any: refused before there is anything to lose."""

    def read(text: str) -> str:
        from tumble.collision.errors import InputError

        path = Path(text)
        try:
            check_paths(argparse.Namespace(path=text))
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


def address(text: str) -> str:
    if not re.fullmatch(r"(\w+://)?(\[[0-9a-fA-F:.]+\]|[\w.-]+):\d{1,5}", text):
        raise argparse.ArgumentTypeError(f"{text!r} must be an address with a port, such as tcp://127.0.0.1:8786")
    return text


def several(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.replace(",", " ").split())


def listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def level(text: str) -> int:
    if not text.isdigit() or int(text) > 22:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number in [0, 22]")
    return int(text)


def positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number of at least 1")
    return int(text)


def scene_arguments(one: argparse.ArgumentParser, dt: str) -> None:
    """Which scene, for how long, at which step, with which parameters."""
    one.add_argument(
        "name_or_file", metavar="NAME_OR_FILE", help="a name of `tumble list`, a TOML file, or a Python file with a @scenario"
    )
    one.add_argument("--seconds", type=quantity("s", above=0), metavar="S", help="simulated time; else the scene's own")
    one.add_argument("--dt", type=quantity("s", low=1e-12, high=1e6), metavar="H", help=f"{dt}; else the scene's own")
    reading_arguments(one)
    one.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a parameter, as `tumble show` lists them")


def film_options(one: argparse.ArgumentParser) -> None:
    one.add_argument("--fps", type=quantity("", low=1e-3, high=1000), default=30.0, metavar="N", help="frames per second (30)")
    one.add_argument("--camera", metavar="C", help="orbit, orbit:TURNS, follow:BODY, or a TOML file of keyframes; else it stands")
    one.add_argument("--graph", choices=("energy", "momentum"), help="a graph that grows under the picture")
    one.add_argument("--sound", action="store_true", help="of the impacts, in an .mp4")
    one.add_argument("--blur", type=quantity("", low=0, high=1), default=0.0, metavar="X",
                     help="of what moves: part of the time that the shutter is open, with --preset best (0)")  # fmt: skip
    one.add_argument("--plain", action="store_true", help="no title and no bar of time")
    picture_options(one, odd="; an .mp4 is even: of an odd size it has the last column or row twice")


def picture_options(one: argparse.ArgumentParser, size: tuple[int, int] = (1280, 720), odd: str = "") -> None:
    one.add_argument("--size", type=picture_size, default=size, metavar="WxH", help=f"of the picture ({size[0]}x{size[1]}){odd}")
    one.add_argument("--preset", choices=PRESETS, default="default", help="quality of the picture (default)")
    one.add_argument("--overlays", type=several, metavar="A,B", help="such as text,contacts,energy")
