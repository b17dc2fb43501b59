"""Files that ask for too much, or for what is not theirs: one line, at once."""

from __future__ import annotations

import os
import resource
import time
import warnings
from pathlib import Path

import pytest

from tumble.collision.errors import InputError
from tumble.scenarios.files.limits import MOST_BYTES, Reading
from tumble.scenarios.files.repeat import places
from tumble.scenarios.files.scene_files import SceneFileError, load_scenario, load_scene
from tumble.scenarios.importing.models import load_model
from tumble.scenarios.sweeps.ensemble import load_plan

BALL = '[[body]]\nshape = { type = "sphere", radius = 0.1 }\n'
GRID = (
    '[[repeat]]\nkind = "grid"\ncount = [{}, {}, {}]\nspacing = [1, 1, 1]\n'
    'body = {{ shape = {{ type = "sphere", radius = 0.1 }} }}\n'
)
PILE = (
    '[[repeat]]\nkind = "pile"\ncount = {}\nlow = [0, 0, 0]\nhigh = [{}, {}, {}]\nspacing = 0.5\n'
    'body = {{ shape = {{ type = "sphere", radius = 0.1 }} }}\n'
)
ODD = {
    "lists in lists": (BALL + "apart = " + "[" * 500 + "]" * 500, "nested too deep"),
    "tables in tables": ("a." * 500 + "b = 1\n" + BALL, "nested too deep|not valid TOML"),
    "400 digits": ("duration = " + "9" * 400 + "\n" + BALL, "whole number of some 400 digits: at most 2.63 - 1 is read"),
    "5000 digits": ("duration = " + "9" * 5000 + "\n" + BALL, "number of thousands of digits"),
    "a billion in a grid": (GRID.format(1000, 1000, 1000), "makes 1000000000 bodies, more than 100000: --yes"),
    "a billion in a pile": (PILE.format(10**9, 1, 1, 1), "makes 1000000000 bodies"),
    "many repeats": (GRID.format(1, 1000, 1) + GRID.format(100, 1000, 1), "makes 101000 bodies"),
}


@pytest.mark.parametrize("name", ODD)
def test_files_that_burst(name, tmp_path):
    text, says = ODD[name]
    (tmp_path / "a.toml").write_text(text)
    begun = time.process_time()
    with pytest.raises(SceneFileError, match=says) as error:
        load_scene(tmp_path / "a.toml")
    assert len(str(error.value)) < 600
    if name != "many repeats":
        assert time.process_time() - begun < 2


def test_bodies_that_all_start_in_one_place(tmp_path):
    """There are as many overlaps as pairs, 50 million: the first thousand are enough."""
    (tmp_path / "a.toml").write_text(GRID.format(10, 100, 10).replace("[1, 1, 1]", "[1e-9, 1e-9, 1e-9]"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(SceneFileError, match=r"starts 0.2 m inside \"sphere\" \(and at least 999 more pairs\); move it"):
        load_scene(tmp_path / "a.toml")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000  # KB


@pytest.mark.parametrize("at_once", [10**6, 100, 7])
def test_spheres_that_meet_are_found_some_at_a_time(at_once, monkeypatch):
    """As by looking at all pairs."""
    import numpy as np

    from tumble.sim.scene import initial_overlap as overlap

    monkeypatch.setattr(overlap, "AT_ONCE", at_once)
    rng = np.random.default_rng(1)
    for n, spread in ((300, 2.0), (200, 0.1), (50, 50)):
        x, r = rng.normal(size=(n, 3)) * spread, rng.uniform(0.1, 0.3, n)
        r[:5] = rng.uniform(3, 9, 5)  # wide ones
        expected = {(i, j) for i in range(n) for j in range(i) if np.linalg.norm(x[i] - x[j]) <= r[i] + r[j]}
        found = [tuple(sorted(pair, reverse=True)) for block in overlap._spheres(r, x) for pair in block.tolist()]
        assert len(found) == len(set(found))
        assert set(found) == expected


def test_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    with open(tmp_path / "huge.toml", "wb") as file:
        file.truncate(10_000_000_000)  # sparse
    (tmp_path / "zero.toml").symlink_to("/dev/zero")
    for name, says in (("pipe", "is not a regular file"), ("huge", "is too large: at most 20 MB"), ("zero", "regular file")):
        for load in (load_scene, load_plan):
            with pytest.raises(InputError, match=says):
                load(tmp_path / f"{name}.toml")
        (tmp_path / "a.toml").write_text(f'include = ["{name}.toml"]\n' + BALL)
        with pytest.raises(InputError, match=f"{says}|lies outside"):
            load_scene(tmp_path / "a.toml")
    with pytest.raises(InputError, match="can not be the name of a file"):
        load_scene("a\0b.toml")
    assert MOST_BYTES == 20_000_000


def test_chains_and_floods_of_includes(tmp_path):
    for k in range(1200):
        (tmp_path / f"{k}.toml").write_text(f'include = ["{k + 1}.toml"]\n')
    with pytest.raises(InputError, match="is file 101 of the scene: at most 100"):
        load_scene(tmp_path / "0.toml")
    for k in range(40):
        (tmp_path / f"d{k}.toml").write_text(f'include = ["d{k + 1}.toml", "d{k + 1}.toml"]\n')
    (tmp_path / "d40.toml").write_text(BALL)
    with pytest.raises(InputError, match="is file 101 of the scene"):
        load_scene(tmp_path / "d0.toml")


def test_files_outside_are_read_only_where_it_is_granted(tmp_path):
    inside = tmp_path / "in"
    inside.mkdir()
    (tmp_path / "secret.toml").write_text(BALL)
    (inside / "link.toml").symlink_to(tmp_path / "secret.toml")
    for name in ("../secret.toml", str(tmp_path / "secret.toml"), "link.toml"):
        (inside / "a.toml").write_text(f'include = ["{name}"]\n')
        with pytest.raises(InputError, match="lies outside .*: --allow-outside lets it be read"):
            load_scene(inside / "a.toml")
        assert len(load_scenario(inside / "a.toml", Reading(allow_outside=True))()) == 1
    (inside / "a.toml").write_text('[[body]]\nshape = { type = "mesh", file = "../secret.stl" }\n')
    (tmp_path / "secret.stl").write_text("solid x\nendsolid x\n")
    with pytest.raises(InputError, match="lies outside .*: --allow-outside lets it be read"):
        load_scene(inside / "a.toml")


MODEL = '<mujoco>{}<worldbody><body><freejoint/><geom size="0.1"/></body></worldbody></mujoco>'


def test_models_read_from_their_package(tmp_path):
    folder = tmp_path / "package" / "models"
    folder.mkdir(parents=True)
    (tmp_path / "package" / "part.xml").write_text("<mujoco><option timestep='0.005'/></mujoco>")
    (folder / "a.xml").write_text(MODEL.format('<include file="../part.xml"/>'))
    with pytest.raises(InputError, match="lies outside .*models: --root names"):
        load_model(folder / "a.xml")
    assert load_model(folder / "a.xml", root=tmp_path).scene.dt == 0.005
    (tmp_path / "package" / "package.xml").write_text("<package/>")
    assert load_model(folder / "a.xml").scene.dt == 0.005


BOMB = (
    "<!DOCTYPE m [<!ENTITY a '"
    + "x" * 100
    + "'>"
    + "".join(f"<!ENTITY {b} '{f'&{a};' * 10}'>" for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    + "]><mujoco>&i;</mujoco>"
)
OUTSIDE = "<!DOCTYPE m [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><mujoco model='m'>&x;</mujoco>"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (BOMB, "declares XML entities"),
        (OUTSIDE, "declares XML entities"),
        ("<mujoco>" + "<body>" * 5000 + "</body>" * 5000 + "</mujoco>", "nested too deep"),
        ("<mujoco", "is not XML"),
        ("\0", "is not XML"),
        ("<?xml version='1.0' encoding='nonsense'?><a/>", "is not XML"),
    ],
    ids=["entity bomb", "external entity", "deep", "cut", "zero", "encoding"],
)
@pytest.mark.parametrize("name", ["a.xml", "a.urdf"])
def test_hostile_xml(text, says, name, tmp_path):
    Path(tmp_path / name).write_text(text)
    begun = time.process_time()
    with pytest.raises(InputError, match=says):
        load_model(tmp_path / name)
    assert time.process_time() - begun < 2
    Path(tmp_path / "outer.xml").write_text(MODEL.format(f'<include file="{name}"/>'))
    with pytest.raises(InputError, match=says):
        load_model(tmp_path / "outer.xml")


def test_piles_are_where_they_were():
    """Looking in cells takes the same places as looking at all."""
    import numpy as np

    values = {"count": 60, "low": (0.0, 0.0, 0.0), "high": (1.5, 1.0, 1.0), "spacing": 0.2, "seed": 3}
    found = np.array([place for place, _ in places("pile", values, None)])
    random, expected = np.random.default_rng(3), np.zeros((60, 3))
    for n in range(60):
        while True:
            expected[n] = random.uniform((0, 0, 0), (1.5, 1, 1))
            if n == 0 or ((expected[:n] - expected[n]) ** 2).sum(axis=1).min() >= 0.2**2:
                break
    assert np.array_equal(found, expected)
    with warnings.catch_warnings(action="error"):  # in a box of 1e30 spacings, and of more than can be counted
        for least in (1e-30, 1e-320):
            assert len(places("pile", {**values, "spacing": least}, None)) == 60
    tight = {**values, "count": 5000}
    with pytest.raises(InputError, match="no room for body"):
        places("pile", tight, None)
