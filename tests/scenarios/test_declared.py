"""Scenes of a user's own with parameters: in TOML and in Python, shown, set and swept as those of the catalog."""

from __future__ import annotations

import json

import pytest

from tumble.collision.errors import InputError
from tumble.scenarios.cli import main
from tumble.scenarios.files.json_schema import json_schema
from tumble.scenarios.files.scene_files import load_scenario, load_scene
from tumble.scenarios.registry import load
from tumble.scenarios.runs.scene_run import scene_of
from tumble.scenarios.sweeps.ensemble import load_plan
from tumble.sim.recording.run import Run

DROP = """
about = "A crate falls."
duration = 0.05
[parameter.height]
default = "200 cm"
unit = "m"
above = 0
help = "of the crate"
[parameter.count]
default = 2
low = 1
[parameter.size]
default = [0.1, 0.1, 0.1]
unit = "m"
[parameter.integrator]
default = "rk4"
choices = ["rk4", "exact"]
[[repeat]]
kind = "grid"
count = ["$count", 1, 1]
spacing = [1, 1, 1]
origin = [0, 0, "$height"]
body = { name = "crate", shape = { type = "box", half_extents = "$size" } }
"""
OWN = '''
from typing import Annotated

from tumble.collision import Sphere
from tumble.scenarios.fields import Real
from tumble.scenarios.registry import scenario
from tumble.sim.scene.scene import Scene


@scenario
def drop(height: Annotated[float, Real(unit="m", above=0, help="of the ball")] = 1.5) -> Scene:
    """A ball falls."""
    scene = Scene(duration=0.05)
    scene.add(Sphere(0.1), name="ball", position=(0, 0, height))
    return scene


def measure(run):
    return {"depth": float(run.positions[0, 0, 2] - run.positions[-1, 0, 2])}
'''


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "drop.toml").write_text(DROP)
    (tmp_path / "own.py").write_text(OWN)
    return tmp_path


def test_parameters_of_a_scene_file(files):
    scene = load_scene("drop.toml")
    assert len(scene) == 2
    assert scene.bodies[0].position[2] == 2.0
    assert scene.parameters == {"height": 2.0, "count": 2, "size": [0.1, 0.1, 0.1], "integrator": "rk4"}
    scene = scene_of("drop.toml", height=3, count=4, size=(0.2, 0.2, 0.2))
    assert len(scene) == 4
    assert scene.bodies[0].position[2] == 3.0
    assert scene.bodies[0].shape.half_extents == (0.2, 0.2, 0.2)
    (files / "moon.toml").write_text('include = ["drop.toml"]\ngravity = [0, 0, -1.62]\n')
    assert load_scene("moon.toml", count=3).gravity == (0, 0, -1.62)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (
            {"hight": "3"},
            "hight = '3': drop has no such parameter; did you mean height? (it has height, count, size, integrator)",
        ),
        ({"height": "-1"}, "height = '-1': must be positive [m]"),
        ({"count": "2.5"}, "count = '2.5': must be a whole number"),
        ({"count": "0"}, "count = 0: must be at least 1"),
        ({"integrator": "rk5"}, "integrator = 'rk5': must be one of rk4, exact; did you mean rk4?"),
    ],
)
def test_what_is_set_is_checked(files, values, says):
    scenario = load("drop.toml")
    with pytest.raises(InputError) as caught:
        scenario(**scenario.parse(values))
    assert str(caught.value) == says


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"$size"', '"$sise"', "repeat[0].body.shape.half_extents = '$sise': there is no [parameter.sise]; did you mean size?"),
        ("default = 2\n", "", "parameter.count = {'low': 1}: must be a table with a default"),
        ("above = 0", "abvoe = 0", "parameter.height.abvoe = 0: unknown key; did you mean above?"),
        ("low = 1", "low = 3", "parameter.count.default = 2: must be at least 3"),
        ('"200 cm"', '"200 kg"', "parameter.height.default = '200 kg': \"kg\" is not a unit of m"),
    ],
)
def test_what_is_declared_is_checked(files, old, new, says):
    (files / "drop.toml").write_text(DROP.replace(old, new))
    with pytest.raises(InputError) as caught:
        load_scenario("drop.toml")()
    assert str(caught.value).startswith(f"drop.toml: {says}")


@pytest.mark.parametrize(("file", "bodies", "height"), [("drop.toml", 2, 4.0), ("own.py", 1, 4.0), ("own.py:drop", 1, 4.0)])
@pytest.mark.usefixtures("no_figures")
def test_show_and_run(files, capsys, file, bodies, height):
    assert main(["show", file]) == 0
    out = capsys.readouterr().out
    assert "height" in out
    assert "positive" in out
    assert f"tumble run {file} --set" in out
    assert main(["run", file, "--set", "height=400 cm", "--out", "r"]) == 0
    run = Run.open("r")
    assert run.positions.shape[1] == bodies
    assert run.positions[0, 0, 2] == height
    assert json.loads(run.attributes["parameters"])["height"] == height
    assert main(["check", "r"]) == 0


def test_python_files_without_a_scenario(files):
    (files / "none.py").write_text("x = 1\n")
    (files / "two.py").write_text(OWN + OWN.replace("def drop", "def rise"))
    for name, says in (
        ("gone.py", "there is no such file"),
        ("none.py", "has no @scenario"),
        ("own.py:fall", "has no @scenario fall (it has own.py:drop)"),
        ("two.py", "has several: say which (it has two.py:drop, two.py:rise)"),
    ):
        with pytest.raises(InputError) as caught:
            load(name)
        assert caught.value.hint == says
    assert load("two.py:rise").name == "rise"


@pytest.mark.parametrize("file", ["drop.toml", "own.py"])
def test_a_sweep_of_a_file(files, file):
    from tumble.scenarios.sweeps.sweep import member

    (files / "sweep.toml").write_text(f'scenario = "{file}"\n[parameters]\nheight = [1, "250 cm"]\n')
    plan = load_plan("sweep.toml")
    assert list(plan.parameters["height"]) == [1.0, 2.5]
    row = member(plan, 0, {"height": 2.5})
    assert not row.get("error")
    assert ("depth" in row) == (file == "own.py")  # 0.05 s: g t^2 / 2
    if file == "own.py":
        assert row["depth"] == pytest.approx(9.81 * 0.05**2 / 2, rel=1e-12)


def test_editors_know_parameters(files):
    import tomllib

    validator = pytest.importorskip("jsonschema").Draft202012Validator(json_schema())
    assert not list(validator.iter_errors(tomllib.loads(DROP)))
    assert list(validator.iter_errors(tomllib.loads(DROP.replace("low = 1", "lwo = 1"))))
