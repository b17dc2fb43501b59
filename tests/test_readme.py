"""README and docs say what is: their Python runs, their verbs, links and numbers are right."""

from __future__ import annotations

import argparse
import importlib.util
import re
import shlex
from pathlib import Path

import pytest

from benchmarks.peers.page import written
from tumble.collision.errors import InputError
from tumble.render import film, still

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)
SIZE, FPS = (1280, 720), 30  # of pictures and films, where nobody says another
SMALL = {SIZE: (160, 90), FPS: 10}
SAID = re.compile(r"size=\((\d{3,}), (\d{3,})\)")  # of a picture
LINK = re.compile(r"\]\(([^)#\s]+)")


def blocks(page: Path, language: str) -> list[str]:
    return [code for name, code in BLOCK.findall(page.read_text(encoding="utf-8")) if name == language]


SNIPPETS = [pytest.param(code, id=f"{page.stem}-{k}") for page in PAGES for k, code in enumerate(blocks(page, "python"), 1)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the snippets run, with the recording that some of them open."""
    from tumble.scenarios.registry import load
    from tumble.scenarios.runs.scene_run import run_scene

    out = tmp_path_factory.mktemp("docs")
    run_scene(load("two_cuboids")(), out / "runs" / "two_cuboids", seconds=0.1, quiet=True)
    return out


@pytest.mark.parametrize("code", SNIPPETS)
def test_python_runs(code, folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    for draw in (film, still):  # where the snippet says no size, a small one, and few pictures
        monkeypatch.setattr(draw, "__defaults__", tuple(SMALL.get(d, d) for d in draw.__defaults__))
    small = SAID.sub(lambda said: f"size=({int(said[1]) // 4}, {int(said[2]) // 4})", code)
    exec(compile(small, "snippet", "exec"), {"__name__": "__main__"})  # what is for the main program alone is run too
    for name in re.findall(r'"(\w+\.(?:mp4|png))"', code):  # made, not only asked for
        assert (folder / name).stat().st_size > 1000


def test_sizes_have_a_default():
    """Which the snippets are run without."""
    assert {SIZE, FPS} <= set(film.__defaults__)
    assert SIZE in still.__defaults__


def test_there_is_python():
    assert len(SNIPPETS) >= 8
    assert {"README-1", "hello-1"} <= {p.id for p in SNIPPETS}


def test_twelve_lines():
    lines = [line for line in blocks(README, "python")[0].splitlines() if line.strip()]
    assert len(lines) <= 12


def verbs() -> set[str]:
    from tumble.scenarios.cli import parser

    return {name for a in parser()._actions if isinstance(a, argparse._SubParsersAction) for name in a.choices}


def named_verbs(text: str) -> set[str]:
    return set(re.findall(r"`tumble ([a-z]+)", text)) | set(re.findall(r"^(?:\S+/)?tumble ([a-z]+)", text, re.M))


def test_verbs_exist():
    for page in PAGES:
        assert named_verbs(page.read_text(encoding="utf-8")) <= verbs(), page.name
    table = set(re.findall(r"^\| `tumble ([a-z]+)", README.read_text(encoding="utf-8"), re.M))
    assert table == verbs()  # all of them, and no other


def broken_links(text: str, folder: Path) -> list[str]:
    links = [link for link in LINK.findall(text) if not link.startswith(("http:", "https:"))]
    return [link for link in links if not (folder / link).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    assert broken_links(page.read_text(encoding="utf-8"), page.parent) == []


def test_what_is_wrong_is_seen():
    assert named_verbs("`tumble fly NAME`\n.venv/bin/tumble sing\n") - verbs() == {"fly", "sing"}
    assert broken_links("[a](docs/none.md) ![b](LICENSE)", ROOT) == ["docs/none.md"]


COMMAND = re.compile(r"^(?:\S+/)?tumble (.*)$", re.M)
COMMANDS = [(page.stem, line) for page in PAGES for code in blocks(page, "") for line in COMMAND.findall(code)]


def taken(line: str) -> argparse.Namespace:
    """A command of the docs as the program takes it; scenes of the catalog with their parameters."""
    from tumble.scenarios.cli import parser
    from tumble.scenarios.registry import load, names

    arguments = parser().parse_args(shlex.split(line, comments=True))
    scene = getattr(arguments, "name_or_file", "")
    if scene in names():
        load(scene)(**load(scene).parse(dict(item.split("=", 1) for item in arguments.set)))
    elif "." not in scene and "/" not in scene and scene:
        load(scene)
    return arguments


@pytest.mark.parametrize(("page", "line"), COMMANDS, ids=[f"{page}-{k}" for k, (page, _) in enumerate(COMMANDS)])
def test_commands_are_taken(page, line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    taken(line)


@pytest.mark.parametrize(
    "line", ["run stak", "run stack --set boxs=2", "run stack --fps", "fly", "compare a", "film a --out b/c.mp4"]
)
def test_commands_that_are_wrong_are_seen(line):
    assert len(COMMANDS) >= 15
    with pytest.raises((InputError, SystemExit)):
        taken(line)


def test_files_named_exist():
    """Every path in backquotes that looks like one of ours is there."""
    ours = re.compile(r"`((?:collision|sim|render|scenarios|tests|tools|docs|benchmarks)/[\w./]*)`")
    for page in PAGES:
        missing = [path for path in ours.findall(page.read_text(encoding="utf-8")) if not (ROOT / path).exists()]
        assert missing == [], page.name


def test_commands_are_targets():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", README.read_text(encoding="utf-8"), re.M):
        assert re.search(rf"^{target}:", makefile, re.M), target


@pytest.mark.parametrize(
    ("page", "names"),
    [("hello", ["floor", "plank"]), ("joints", ["door"]), ("free-motion", ["moon"]), ("ground", ["hills", "sphere"])],
)
def test_scene_file_is_valid(page, names, tmp_path):
    from tumble.scenarios.files.scene_files import load_scene

    (text,) = blocks(ROOT / "docs" / f"{page}.md", "toml")
    (tmp_path / "scene.toml").write_text(text, encoding="utf-8")
    scene = load_scene(tmp_path / "scene.toml")
    assert [body.name for body in scene] == names
    scene.build().step(10)


def test_toml_of_cameras_is_valid(tmp_path, monkeypatch):
    from tumble.render.cameras.shots import Keyframes, parse

    (text,) = blocks(ROOT / "docs" / "pictures.md", "toml")
    (tmp_path / "way.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert isinstance(parse("way.toml"), Keyframes)


def test_toml_of_meshes_is_valid(tmp_path):
    import trimesh

    from tumble.scenarios.files.scene_files import load_scene

    (text,) = blocks(ROOT / "docs" / "meshes.md", "toml")
    (tmp_path / "washers.toml").write_text(text, encoding="utf-8")
    trimesh.creation.annulus(0.2, 0.4, 0.1, sections=8).export(tmp_path / "washer.stl")
    assert [body.name for body in load_scene(tmp_path / "washers.toml")] == ["floor", "washer"]


def test_every_toml_is_tried():
    """The pages whose TOML the tests of this file read."""
    pages = {page.stem for page in PAGES if blocks(page, "toml")}
    assert pages == {"hello", "joints", "free-motion", "scene-files", "sweeps", "pictures", "meshes", "ground"}


def test_toml_of_scene_files_and_sweeps_is_valid(tmp_path):
    from tumble.scenarios.files.scene_files import load_scene
    from tumble.scenarios.sweeps.ensemble import load_plan

    (scene, bowling), (plan,) = (blocks(ROOT / "docs" / f"{page}.md", "toml") for page in ("scene-files", "sweeps"))
    (tmp_path / "scene.toml").write_text(scene, encoding="utf-8")
    (tmp_path / "sweep.toml").write_text(plan, encoding="utf-8")
    assert len(load_scene(tmp_path / "scene.toml")) == 1 + 22 + 20 + 4
    (tmp_path / "bowling.toml").write_text(bowling, encoding="utf-8")
    scene = load_scene(tmp_path / "bowling.toml", radius=0.2, rows=3)
    assert scene.bodies[1].position == (-1, 0, 0.2)
    assert len(scene) == 2 + 6
    assert len(load_plan(tmp_path / "sweep.toml").sample()) == 200


def test_scene_files_lists_every_key():
    """The tables are those that the code makes, and hold each key of each shape."""
    from tumble.scenarios.files.schema import SHAPES

    keys = _tool("scene_keys")
    made = written(keys.PAGE, keys.MARK).strip()
    assert made == keys.text().strip()
    for kind, fields in SHAPES.items():
        assert f"| `{kind}` | `" in made
        assert all(f"`{key}`" in made for key in fields)


def _tool(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NUMBERS = _tool("readme_numbers")
CASES = NUMBERS.CASES


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.measure.__name__)
def test_numbers(case):
    """What the table states is what is measured."""
    row = f"| {case.what} | {case.exact} | {f'{case.bound} {case.unit}'.strip()} |"
    assert row in README.read_text(encoding="utf-8")
    assert case.measure() <= float(case.bound)


@pytest.mark.parametrize("name", ["resting_box", "incline"])
def test_numbers_see_a_careless_solver(name, monkeypatch):
    """The same measurements with a solver that stops early miss their bounds."""
    world = NUMBERS.World
    monkeypatch.setattr(NUMBERS, "World", lambda **given: world(tolerance=1e-2, **given))
    (case,) = (case for case in CASES if case.measure.__name__ == name)
    assert case.measure() > 10 * float(case.bound)


def test_table_has_no_other_rows():
    table = README.read_text(encoding="utf-8").partition("| case | exact answer | error below |")[2].partition("\n\n")[0]
    assert len([line for line in table.splitlines() if line.startswith("| ")]) == len(CASES)


DRIFT = _tool("drift_table")


@pytest.mark.parametrize("name", DRIFT.INTEGRATORS)
@pytest.mark.parametrize("table", ["attitude", "energy", "orbit"])
def test_drift_table(table, name):
    """The page says what is measured: at 1/60 s, and at 1/30 s for a hundred turns."""
    title, measure = DRIFT.TABLES[table]
    n = 30 if table == "orbit" else 60
    part = DRIFT.PAGE.read_text(encoding="utf-8").partition(f"**{title}**")[2]
    head, rule, *rows = part.strip().splitlines()
    said = next(row for row in rows if f"`{name}`" in row).split("|")[head.split("|").index(f" 1/{n} ")].strip()
    found = measure(name, n)
    assert said == DRIFT.number(found) or float(said) == pytest.approx(found, rel=0.06)


def test_the_gallery_shows_every_scene_and_overlay():
    from tumble.render import OVERLAYS
    from tumble.scenarios.registry import catalog

    gallery = _tool("gallery")
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert page == gallery.text()
    pictures = {Path(link).stem for link in LINK.findall(page) if link.endswith(".jpg")}
    assert pictures == {*catalog(), *(f"overlay_{name}" for name in OVERLAYS)}
    assert pictures == {path.stem for path in (ROOT / "docs" / "gallery").iterdir()}
    assert {*gallery.WHEN, *gallery.NEAR, *gallery.CLOSE, *gallery.FLYING, *gallery.QUICK} <= {*catalog()}
