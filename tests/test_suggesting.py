"""Misspelt attributes: the error says which was meant."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import pytest

import tumble
from tumble import collision, render, scenarios, sim
from tumble.collision import Box, Proximity, Sphere
from tumble.collision.suggesting import Reads
from tumble.sim import Hinge, Recorder, Scene, World, Worlds

world = World()
box = world.add(Box())
joint = world.add_joint(Hinge(None, box, axis=(0, 1, 0)))
run = world.run(0.01)
worlds = Worlds(Scene(bodies=[box.definition]), 2)
pair = Proximity(Box(), Sphere())


@pytest.mark.parametrize(
    ("thing", "name", "meant"),
    [
        (world, "postions", "positions"), (box, "positon", "position"), (joint, "stifness", "stiffness"),
        (run, "positons", "positions"), (worlds, "postions", "positions"), (pair, "distence", "distance"),
        (collision, "Spere", "Sphere"), (sim, "Wrld", "World"), (render, "flim", "film"), (scenarios, "laod", "load"),
        (tumble, "fim", "film"),
    ],
)  # fmt: skip
def test_reading(thing, name, meant):
    with pytest.raises(AttributeError, match=f"; did you mean {meant}"):
        getattr(thing, name)
    assert not hasattr(thing, "nothing_like_it")
    with pytest.raises(AttributeError) as raised:
        thing._hidden  # noqa: B018
    assert "did you mean" not in str(raised.value)


@pytest.mark.parametrize(
    ("thing", "name", "meant"),
    [
        (box, "positon", "position"), (joint, "motor_sped", "motor_speed"), (Scene(), "gravty", "gravity"),
        (world, "gravty", "gravity"), (run, "nmes", "names"), (Recorder(), "evry", "every"), (Recorder(), "contact", "contacts"),
        (worlds, "velocitys", "velocities"), (pair, "pos_a", "pose_a"),
    ],
)  # fmt: skip
def test_writing(thing, name, meant):
    with pytest.raises(AttributeError, match=f"; did you mean {meant}"):
        setattr(thing, name, 1.0)
    with pytest.raises(AttributeError, match="has no attribute 'nothing_like_it'$"):
        thing.nothing_like_it = 1.0


def test_what_is_known_is_set():
    recorder = Recorder()
    recorder.every, recorder.attributes = 3, {"a": 1}
    world.materials = {"ice": {"friction": 0.1}}
    pair.pose_a = (1, 0, 0)
    assert (recorder.every, world.materials["ice"]["friction"], pair.pose_a.position) == (3, 0.1, (1, 0, 0))
    with pytest.raises(AttributeError):  # to be read, but not set
        world.gravity = (0, 0, -1)


@pytest.mark.parametrize(("kind", "given"), [(World, ()), (Recorder, ()), (Worlds, ([Scene()],)), (Proximity, (Box(), Box()))])
def test_what_is_derived_has_attributes_of_its_own(kind, given):
    class Mine(kind):
        def __init__(self):
            super().__init__(*given)
            self.goal = 3

    mine = Mine()
    mine.gol = 4
    assert (mine.goal, mine.gol) == (3, 4)


def test_all_that_is_set_by_us_is_listed():
    """A name that __init__ sets and the list lacks would have raised; one of the list that nothing sets would let a typo pass."""
    for thing in (world, run, worlds, pair, Recorder()):
        made = {name for name in vars(thing) if not name.startswith("_") and not hasattr(type(thing), name)}
        assert made == set(type(thing).SETS)


def test_printed_once(tmp_path):
    """Python looks for what was meant too, when it prints an error of an object that it knows."""
    for what in ("World().postions", "World().gravty = 1", "sim.Wrld"):
        program = f"from tumble import sim\nfrom tumble.sim import World\n{what}\n"
        answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert answer.stderr.lower().count("did you mean") == 1, answer.stderr


def test_modules_are_imported_without_a_search():
    """`from tumble.sim import ledger` asks the package for an attribute first."""
    program = "import sys; from tumble.sim import errors, ledger; sys.exit('difflib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_what_goes_wrong_inside_is_told_as_it_is():
    class Odd(Reads):
        @property
        def wrong(self):
            return {}.missing

    with pytest.raises(AttributeError, match="'dict' object has no attribute 'missing'"):
        Odd().wrong  # noqa: B018


def test_copies():
    assert copy.copy(run).names == pickle.loads(pickle.dumps(run)).names == run.names
    assert copy.deepcopy(Scene(name="a")) == Scene(name="a")
