"""Sums of parameters in scene files, and that they can do no more than that."""

from __future__ import annotations

import json
import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tumble.collision.errors import InputError
from tumble.scenarios.expressions import known, number
from tumble.scenarios.files.scene_files import load_scene

FILE = """
[parameter.radius]
default = 0.05
unit = "m"
above = 0
[parameter.rows]
default = 4
[parameter.way]
default = [1, 0, 0]

[[body]]
name = "ball"
shape = {{ type = "sphere", radius = {} }}
position = [0, 0, "10 * radius"]

[[repeat]]
kind = "triangle"
count = {}
across = [0, "6 * radius", 0]
along = ["6 * radius * sqrt(3) / 2", 0, 0]
origin = [1, 0, "4 * radius"]
body = {{ name = "pin", shape = {{ type = "cylinder", radius = "$radius", half_length = "0.1 m + radius" }} }}
"""


def load(folder, radius="2 * radius", count="$rows"):
    path = folder / "scene.toml"
    path.write_text(FILE.format(json.dumps(radius), json.dumps(count)), encoding="utf-8")
    return load_scene(path)


def test_sums_follow_their_parameters(tmp_path):
    scene = load(tmp_path)
    assert len(scene) == 1 + 10
    assert (scene.bodies[0].shape.radius, scene.bodies[0].position[2]) == (0.1, 0.5)
    scene = load(tmp_path, "1 cm + 2*$radius", "rows - 2")
    assert scene.bodies[0].shape.radius == pytest.approx(0.11, rel=1e-15)
    assert len(scene) == 1 + 3
    path = tmp_path / "scene.toml"
    scene = load_scene(path, radius=0.1, rows=5)
    assert scene.bodies[0].shape.radius == pytest.approx(0.21, rel=1e-15)
    assert len(scene) == 1 + 6
    pins = [body.position for body in scene.bodies[1:]]
    assert pins[0] == (1, 0, 0.4)
    assert pins[1:3] == [pytest.approx((1 + 0.6 * math.sqrt(3) / 2, y, 0.4)) for y in (-0.3, 0.3)]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("2 * radus", "no .parameter.radus.; did you mean radius"),
        ("2 * way", "way is no single number"),
        ("20 * cm", "a unit stands behind its number"),
        ("5 parsecs", "not a unit of m"),
        ("sqrt(-1)", "has no value"),
        ("(-1) ** 0.5", "no finite value"),
        ("1 / 0", "divides by zero"),
        ("1e308 * 10", "no finite value"),
        ("9 ** 9 ** 9", "an exponent is at most 100"),
        ("1" + " + 1" * 40, "nested too deep"),
        ("1" + " + 1" * 60, "too long"),
        ("-radius", "must be positive"),
        ("min", "no finite value"),
        ("root(2)", "no function root"),
        ("radius.__class__", "and nothing else"),
        ("__import__('os').system('true')", "and nothing else"),
        ("().__class__.__bases__[0].__subclasses__()", "and nothing else"),
        ("[x for x in (1, 2)]", "and nothing else"),
        ("radius if 1 else 2", "and nothing else"),
        ("lambda: 1", "and nothing else"),
        ("max(1, *[2])", "and nothing else"),
        ("max(a=1)", "and nothing else"),
        ("f'{radius}'", "and nothing else"),
        ("'a' * 9", "is no number"),
        ("True + 1", "is no number"),
    ],
)
def test_what_is_no_sum_is_one_line_with_the_key(tmp_path, text, hint):
    begun = time.process_time()
    with pytest.raises(InputError, match=hint) as caught:
        load(tmp_path, text)
    assert time.process_time() - begun < 1
    assert str(caught.value).startswith(f'{tmp_path / "scene.toml"}: body "ball": shape.radius')
    assert "\n" not in str(caught.value)


def test_a_count_must_come_out_whole(tmp_path):
    with pytest.raises(InputError, match="count = 'rows / 3': must be a whole number, this is 1.33333"):
        load(tmp_path, count="rows / 3")


def test_texts_of_the_command_line_are_no_sums():
    with pytest.raises(ValueError, match="not a unit"):
        number("2 * 3", "m")
    assert number("1/240 s", "s") == 1 / 240


NUMBERS = st.floats(0.1, 10).map(lambda x: round(x, 3))
SUMS = st.recursive(
    NUMBERS.map(repr) | st.sampled_from(["a", "b"]),
    lambda below: st.tuples(below, st.sampled_from("+-*/"), below).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
    max_leaves=6,
)


@given(SUMS, NUMBERS, NUMBERS)
def test_sums_are_those_of_python(text, a, b):
    try:
        expected = eval(text, {"__builtins__": {}}, {"a": a, "b": b})
    except ZeroDivisionError:
        expected = None
    with known({"a": a, "b": b}):
        if expected is None:
            with pytest.raises(ValueError, match="divides by zero"):
                number(text)
        else:
            assert number(text) == expected
