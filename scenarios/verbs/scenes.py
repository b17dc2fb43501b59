"""Verbs about scenes: which there are, what one is, keys of scene files, models of other programs."""

from __future__ import annotations

import argparse
from pathlib import Path

from tumble.scenarios.verbs.given import Adder, reading_arguments, reading_of, writable


def add_list(verb: Adder) -> None:
    verb("list", list_, "list the scenarios of the catalog")


def list_(arguments: argparse.Namespace) -> None:
    """Names and first lines of the catalog."""
    from tumble.scenarios.registry import catalog
    from tumble.sim.words import aligned

    print(aligned([(name, scenario.summary) for name, scenario in catalog().items()], "<<"))


def add_show(verb: Adder) -> None:
    one = verb("show", show, "show what a scenario is about, and its parameters")
    one.add_argument("name", metavar="NAME_OR_FILE")
    reading_arguments(one)


def show(arguments: argparse.Namespace) -> None:
    """What a scenario is about, and its parameters."""
    from tumble.scenarios.registry import load
    from tumble.sim.words import aligned

    scenario = load(arguments.name, reading_of(arguments))
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
    print(aligned(rows, "<<<<<<"))
    print(f"\ntumble run {arguments.name} --set {next(iter(scenario.parameters))}=...")


def add_schema(verb: Adder) -> None:
    verb("schema", schema, "print the JSON Schema of scene files, for editors that complete and check")


def schema(arguments: argparse.Namespace) -> None:
    """The keys of scene files as a JSON Schema."""
    import json

    from tumble.scenarios.files.json_schema import json_schema

    print(json.dumps(json_schema(), indent=2))


def add_import(verb: Adder) -> None:
    one = verb("import", import_, "turn an MJCF or URDF model into a scene file, and tell what is not in it")
    one.add_argument("model", metavar="MODEL", help="a .xml (MJCF) or .urdf file")
    one.add_argument(
        "--root", metavar="DIR", help="its files are read from there (the folder above it with a package.xml, or its own)"
    )
    how = "what meshes of URDF become: their convex hulls (default), or convex pieces, which takes minutes"
    one.add_argument("--meshes", choices=("hull", "decompose"), default="hull", help=how)
    one.add_argument("--out", type=writable(), metavar="F.toml", help="the scene file (MODEL.toml)")


def import_(arguments: argparse.Namespace) -> None:
    """A model of another program as a scene file."""
    from tumble.scenarios.files.scene_files import save_scene
    from tumble.scenarios.importing.models import load_model
    from tumble.scenarios.showing.report import show_warnings
    from tumble.sim.words import count

    show_warnings()
    found = load_model(arguments.model, arguments.root, arguments.meshes)
    out = Path(arguments.out or Path(arguments.model).with_suffix(".toml").name)
    save_scene(found.scene, out)
    print(f"{out}: {count(len(found.scene), 'body')}")
    if found.keyframes:
        names = ", ".join(found.keyframes)
        print(f"keyframes, which scene files have no place for: {names}; load_model(...).keyframes has them")
    if found.left_out:
        print("not taken over:", *found.lines(), sep="\n  ")
