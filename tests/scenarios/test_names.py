"""What names in files of others may do: nothing but be names."""

from __future__ import annotations

import os
import sys
from contextvars import Context
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest

from tumble.collision import Sphere
from tumble.scenarios.cli import main
from tumble.scenarios.progress import Bar
from tumble.sim import InputError, World
from tumble.sim.words import printable

HOSTILE = (
    "\x1b[31mred",
    "../../up",
    "/tmp/elsewhere",
    "a\nb",
    "\u202egpj.exe",
    "x" * 300,
    "=1+1",
    "[bold]m",
    "\u0430dmin",
    "%n\\..\\x",
    "\0nul",
)


def scene(folder: Path, name: str) -> Path:
    quoted = "".join(f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}" for c in name)
    file = folder / "scene.toml"
    body = f'[[body]]\nname = "{quoted}"\nvelocity = [1, 0, 0]\nshape = {{ type = "sphere", radius = 0.1 }}\n'
    file.write_text(f'name = "{quoted}"\nduration = 0.02\n{body}')
    return file


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: printable(name)[:12].replace("/", "|"))
@pytest.mark.usefixtures("no_figures")
def test_names_write_nowhere_else_and_are_seen_as_they_are(name, tmp_path, monkeypatch, capsys):
    """Run, check and export a scene and a body of this name: files stay in the folder, the terminal stays clean."""
    inside = tmp_path / "outer" / "inside"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    file = scene(inside, name)
    for words in (("run", file), ("check", "runs/scene"), ("export", "runs/scene", "--out", "t.csv"), ("show", file)):
        assert main([str(word) for word in words]) == 0
    assert main(["run", str(file), "--bodies", "none"]) == 2  # its error lists the names
    assert sorted(os.listdir(tmp_path)) == ["outer"]
    assert sorted(os.listdir(tmp_path / "outer")) == ["inside"]
    assert sorted(os.listdir(inside)) == ["runs", "scene.toml", "t.csv"]
    assert os.listdir(inside / "runs") == ["scene"]
    told = capsys.readouterr()
    shown = told.out + told.err
    assert printable(name).split("\n")[0][:40] in shown
    assert all(c.isprintable() or c in "\n\t" for c in shown)
    assert not (inside / "t.csv").read_text().split(",")[2].startswith(("=", "+", "-", "@"))


def test_any_name_is_drawn_in_a_figure(tmp_path):
    """Above its panels; all of them in one."""
    (tmp_path / "a.toml").write_text(scene(tmp_path, "".join(HOSTILE)).read_text())
    assert main(["run", str(tmp_path / "a.toml"), "--out", str(tmp_path / "o")]) == 0
    assert (tmp_path / "o" / "energy.png").read_bytes().startswith(b"\x89PNG")


SHAPE = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
SHAPE += '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
QUICK = ("../../up", "/tmp/elsewhere")  # those that would leave the folder; the others with `make validate`


def models(folder: Path, name: str) -> None:
    """A URDF and an MJCF model of this name, and a sweep of the scene."""
    named = quoteattr("".join(c for c in name if c >= " "))
    (folder / "m.urdf").write_text(f"<robot name={named}><link name={named}>{SHAPE}</link></robot>")
    geom = '<freejoint/><geom size="0.1"/>'
    (folder / "m.xml").write_text(f"<mujoco model={named}><worldbody><body name={named}>{geom}</body></worldbody></mujoco>")
    (folder / "plan.toml").write_text(
        'scenario = "scene.toml"\nmembers = 2\nsampling = "random"\nnudge = 0.001\nseconds = 0.01\n'
    )


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.validate) for name in (*HOSTILE, ".", "..", "CON", "-x")],
    ids=lambda name: printable(name)[:12].replace("/", "|"),
)
@pytest.mark.usefixtures("no_figures")
def test_names_of_films_exports_sweeps_and_models_write_nowhere_else(name, tmp_path, monkeypatch, capsys):
    inside = tmp_path / "outer" / "inside"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    scene(inside, name)
    models(inside, name)
    small = ("--size", "32x24", "--fps", "10", "--preset", "fast")
    for words in (
        ("run", "scene.toml"),
        ("film", "runs/scene", "--out", "f.gif", *small),
        ("export", "runs/scene", "--out", "t.glb"),
        ("sweep", "plan.toml", "--workers", "1"),
        ("import", "m.urdf", "--out", "u.toml"),
        ("import", "m.xml", "--out", "x.toml"),
        ("show", "u.toml"),
        ("show", "x.toml"),
    ):
        assert main(list(words)) == 0, words
    assert sorted(os.listdir(tmp_path)) == ["outer"]
    assert sorted(os.listdir(tmp_path / "outer")) == ["inside"]
    made = {"runs", "f.gif", "t.glb", "u.toml", "x.toml"}
    assert set(os.listdir(inside)) == made | {"scene.toml", "plan.toml", "m.urdf", "m.xml"}
    assert sorted(os.listdir(inside / "runs")) == ["plan", "scene"]
    told = capsys.readouterr()
    assert all(c.isprintable() or c in "\n\t" for c in told.out + told.err)


def test_printable():
    assert printable("a\x1b[0m\u202e\x00é\n") == "a\\x1b[0m\\u202e\\x00é\n"
    assert Bar("Running a\ntumble: b").title == "Running a\\ntumble: b"  # one line, whatever its name


@pytest.mark.parametrize(
    "words",
    [
        ("run", "stack", "--dt", "1e-320"),
        ("run", "stack", "--out", "x" * 300),
        ("run", "a\0b.toml"),
        ("film", "runs", "--out", "f.mp4", "--fps", "1e-300"),
        ("film", "runs", "--out", "f.mp4", "--speed", "1e-300"),
        *((verb, "runs", "--out", "x" * 300 + end) for verb, end in (("film", ".mp4"), ("export", ".csv"), ("report", ".html"))),
        ("sweep", "plan.toml", "--scheduler="),
    ],
    ids=lambda words: " ".join(word[:12] for word in words).replace("\0", "0").replace("/", "|"),
)
def test_odd_arguments_get_one_line(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    try:
        code = main(words)
    except SystemExit as stop:
        code = stop.code
    assert code == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert told.startswith("tumble")
    assert len(told) < 700
    assert os.listdir(tmp_path) == []


def test_unknown_fields_of_a_body():
    with pytest.raises(InputError, match="fricton = 0.5: unknown; did you mean friction"):
        World().add(Sphere(0.1), fricton=0.5)


def test_one_folder_takes_one_run(tmp_path):
    from tumble.scenarios.runs.scene_run import run_scene, scene_of
    from tumble.sim import RecordingError
    from tumble.sim.files import claimed

    with claimed(tmp_path / "out"), pytest.raises(RecordingError, match="another run is being written there"):
        Context().run(run_scene, scene_of("tumbling_box"), tmp_path / "out", seconds=0.1, quiet=True)  # as of another thread
    run_scene(scene_of("tumbling_box"), tmp_path / "out", seconds=0.1, quiet=True)
    assert not [file for file in os.listdir(tmp_path / "out") if file.startswith(".")]
    assert sys.exception() is None
