"""What is chosen for a world comes through everything that keeps it: one test for each field of Options."""

from __future__ import annotations

import inspect
from dataclasses import fields

import pytest

from tumble.collision import Box, HalfSpace
from tumble.scenarios.checks.rerun import check
from tumble.scenarios.files.scene_files import load_scene, save_scene
from tumble.scenarios.files.schema import SCENE
from tumble.sim import Recorder, Run, Scene, World
from tumble.sim.errors import InputError
from tumble.sim.scene.options import LEAST_STEP, Options

OTHER = {
    "gravity": (0.1, 0.2, -1.5),
    "dt": 1 / 300,
    "integrator": "splitting",
    "tolerance": 3e-7,
    "look_ahead": False,
    "friction_rule": "min",
    "restitution_rule": "average",
    "restitution_law": "poisson",
    "solver": "sweeps",
    "sleep_after": 0.0125,
    "sleep_speed": 2e-3,
    "sleep_spin": 3e-2,
    "quarantine": True,
}
every_field = pytest.mark.parametrize("name", [field.name for field in fields(Options)])


def world(name: str) -> World:
    out = World(**{name: OTHER[name]})
    out.add(HalfSpace(), kind="static", friction=0.3, restitution=0.1)
    out.add(Box((0.1, 0.1, 0.1)), position=(0, 0, 0.1), friction=0.6, restitution=0.2, velocity=(0.1, 0, 0))
    out.add(Box((0.1, 0.1, 0.1)), position=(0, 0, 0.31), friction=0.4, angular_velocity=(0.01, 0.02, 0.1))
    return out


@every_field
def test_none_is_lost(name, tmp_path):
    """World, Scene, dict, scene file, saved world, and back: each field differs from its default and stays what it is."""
    expected = Options(**{name: OTHER[name]})
    assert expected != Options()
    one = world(name)
    one.step(3)
    one.save(tmp_path / "world.npz")
    save_scene(one.scene, tmp_path / "scene.toml")
    scenes = [one.scene, Scene(**{name: OTHER[name]}), Scene.from_dict(one.scene.to_dict()), load_scene(tmp_path / "scene.toml")]
    for scene in scenes:
        assert scene.chosen() == expected.chosen()
        assert scene.build().settings == expected.settings()
    again = World.load(tmp_path / "world.npz")
    assert (again.options, again.settings) == (expected, expected.settings())
    for either in (one, again):
        either.step(5)
    assert again.state_hash() == one.state_hash()


@every_field
def test_a_recorded_run_is_done_again(name, tmp_path):
    """A world built by hand, with a choice of its own, checks against its own recording."""
    world(name).run(0.05, [Recorder(tmp_path / "run.zarr")])
    run = Run.open(tmp_path / "run.zarr")
    assert getattr(run.scene, name) == OTHER[name]
    found = check(run)
    assert found.same, found


def test_the_lists_are_one_list():
    """World's keywords and the keys of scene files are those of Options, with the same defaults."""
    keywords = inspect.signature(World).parameters
    assert {name: keyword.default for name, keyword in keywords.items() if name != "threads"} == Options().chosen()
    assert set(OTHER) == set(Options().chosen())
    assert set(OTHER) <= set(SCENE)


@pytest.mark.parametrize("kind", [World, Scene])
@pytest.mark.parametrize(
    ("name", "value"),
    [("dt", 1e-320), ("dt", 0), ("dt", 1e300), ("integrator", "euler"), ("solver", 3), ("tolerance", 0), ("gravity", (0, 0))],
)
def test_what_can_not_be_chosen(kind, name, value):
    with pytest.raises(InputError) as error:
        kind(**{name: value})
    assert error.value.name == name
    assert LEAST_STEP == 1e-12
