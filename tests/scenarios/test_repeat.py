"""Scene files with includes and repetition; the JSON Schema takes what the reader takes, and refuses what it refuses."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from tests.scenarios.sizes import SMALL
from tumble.scenarios.cli import parser
from tumble.scenarios.files.json_schema import json_schema
from tumble.scenarios.files.scene_files import SceneFileError, load_scene, scene_to_toml
from tumble.scenarios.registry import load as scenario
from tumble.scenarios.registry import names

FLOOR = '[[body]]\nname = "floor"\nkind = "static"\nshape = { type = "halfspace" }\n'
WALL = """
[[repeat]]
kind = "wall"
count = [4, 3]
origin = [1, 0, 0]
body = { name = "brick", friction = 0.6, shape = { type = "box", half_extents = [0.125, "6 cm", 0.0325] } }
"""
GRID = """
[[repeat]]
kind = "grid"
count = [2, 3, 2]
spacing = [0.3, 0.4, 0.5]
origin = [0, 0, 1]
body = { position = [0, 0, 0.1], shape = { type = "sphere", radius = 0.1 } }
"""
PILE = """
[[repeat]]
kind = "pile"
count = 40
low = [-1, -1, 0.3]
high = [1, 1, 3]
spacing = 0.3
seed = 7
body = { shape = { type = "box", half_extents = [0.1, 0.05, 0.05] } }
"""


def load(tmp_path: Path, text: str):
    (tmp_path / "a.toml").write_text(text)
    return load_scene(tmp_path / "a.toml")


def test_wall_stands(tmp_path, assert_at_rest, run_scenario):
    scene = load(tmp_path, FLOOR + WALL)
    assert [b.name for b in scene][1:3] == ["brick_1", "brick_2"]
    assert len(scene) == 1 + 4 + 3 + 4
    x = np.array([b.position for b in scene.bodies[1:]])
    assert x[:4, 0] == pytest.approx([0.625, 0.875, 1.125, 1.375])
    assert x[4:7, 0] == pytest.approx([0.75, 1.0, 1.25])
    assert x[[0, 4, 7], 2] == pytest.approx([0.0325, 0.0975, 0.1625])
    run = run_scenario(scene, seconds=0.5)
    assert_at_rest(run, since=0.0, speed=1e-6)


def test_grid(tmp_path):
    scene = load(tmp_path, GRID)
    x = np.array([b.position for b in scene])
    assert sorted(set(np.round(x[:, 1], 12))) == [0, 0.4, 0.8]
    assert sorted(set(np.round(x[:, 2], 12))) == [1.1, 1.6]
    assert len({b.position for b in scene}) == 12


def test_pile(tmp_path):
    """No two nearer than the spacing, within the box, by the seed."""
    scene = load(tmp_path, PILE)
    x = np.array([b.position for b in scene])
    apart = np.linalg.norm(x[:, None] - x, axis=2)[np.triu_indices(40, 1)]
    assert apart.min() >= 0.3
    assert (x >= [-1, -1, 0.3]).all()
    assert (x <= [1, 1, 3]).all()
    assert load(tmp_path, PILE) == scene
    assert load(tmp_path, PILE.replace("seed = 7", "seed = 8")) != scene
    assert len({b.orientation for b in scene}) == 40
    assert len({b.orientation for b in load(tmp_path, PILE.replace("seed = 7", "turned = false"))}) == 1


def test_what_was_repeated_survives_toml(tmp_path):
    scene = load(tmp_path, FLOOR + WALL + PILE.replace("0.3]", "2]"))
    assert load(tmp_path, scene_to_toml(scene)) == scene


def test_includes(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "wood.toml").write_text("[material.wood]\ndensity = 600\nfriction = 0.3\n")
    (tmp_path / "parts" / "world.toml").write_text('include = ["wood.toml"]\ndt = 0.01\nduration = 7\n' + FLOOR)
    text = """
include = ["parts/world.toml"]
duration = 2
[material.wood]
friction = 0.4
[[body]]
material = "wood"
shape = { type = "sphere", radius = 0.1 }
position = [0, 0, 1]
"""
    scene = load(tmp_path, text)
    assert (scene.dt, scene.duration) == (0.01, 2)
    assert [b.name for b in scene] == ["floor", "sphere"]
    assert scene.bodies[1].friction == 0.4  # its own table comes before the included one
    assert scene.name == "a"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('include = ["none.toml"]', "none.toml: there is no such file"),
        ('include = ["a.toml"]', "include = 'a.toml': includes itself"),
        ("include = 3", "include = 3: must be a list of files"),
        ("[[repeat]]\nkind = 'gird'", "repeat 1: kind = 'gird': must be one of grid, triangle, wall, pile; did you mean grid?"),
        ("[[repeat]]\nkind = 'grid'\ncount = [1, 1, 1]", "repeat 1: spacing: is missing: a grid needs it"),
        (GRID.replace("[2, 3, 2]", "[2, 3]"), "repeat 1: count = [2, 3]: must be 3 whole numbers"),
        (GRID.replace("[2, 3, 2]", "[2000, 3000, 2]"), "makes 12000000 bodies, more than 100000: --yes"),
        (WALL.replace('"box", half_extents = [0.125, "6 cm", 0.0325]', '"sphere", radius = 1'), "a wall is made of boxes"),
        (PILE.replace("count = 40", "count = 4000"), "repeat 1: count = 4000: no room for body"),
        (PILE.replace("high = [1, 1, 3]", "high = [1, 1, 0]"), "repeat 1: high = "),
        (PILE.replace("body = {", "body = { euler_xyz = [1, 0, 0],"), "turned = True: the body has an orientation of its own"),
        (GRID.replace("radius = 0.1", "radius = -1"), "repeat 1: body.shape.radius = -1: must be positive [m]"),
        (GRID.replace("radius = 0.1 }", "radius = 0.1 }, frction = 1"), "repeat 1: body 1: frction = 1: unknown key"),
    ],
)
def test_bad_input(tmp_path, text, says):
    with pytest.raises(SceneFileError) as caught:
        load(tmp_path, text)
    assert says in str(caught.value)


class TestSchema:
    validator = Draft202012Validator(json_schema())

    def errors(self, text: str) -> list[str]:
        return [error.message for error in self.validator.iter_errors(tomllib.loads(text))]

    def test_is_a_schema(self):
        Draft202012Validator.check_schema(json_schema())

    @pytest.mark.parametrize("name", names())
    def test_takes_the_catalog(self, name):
        assert self.errors(scene_to_toml(scenario(name)(**SMALL.get(name, {})))) == []

    def test_takes_repetition(self):
        assert self.errors('include = ["a.toml"]\n' + FLOOR + WALL + GRID + PILE) == []

    @pytest.mark.parametrize(
        "text",
        [
            FLOOR.replace("static", "statik"),
            FLOOR.replace("shape", "shap"),
            FLOOR.replace("halfspace", "halfspac"),
            FLOOR + "mass = -1\n",
            FLOOR + "position = [1, 2]\n",
            FLOOR + 'position = "here"\n',
            FLOOR + "friction = true\n",
            "gravity = 9.81\n" + FLOOR,
            GRID.replace("spacing", "spcing"),
        ],
    )
    def test_refuses_what_the_reader_refuses(self, tmp_path, text):
        assert self.errors(text)
        with pytest.raises(SceneFileError):
            load(tmp_path, text)

    def test_verb(self, tmp_path, capsys):
        chosen = parser().parse_args(["schema"])
        chosen.verb(chosen)
        assert json.loads(capsys.readouterr().out) == json_schema()
