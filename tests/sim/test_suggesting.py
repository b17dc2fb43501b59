"""Misspelt attributes: the error says which was meant."""

from __future__ import annotations

import copy
import pickle

import pytest

import collision
import render
import scenarios
from collision import Box
from sim import Hinge, Scene, World
from sim.suggesting import Reads

world = World()
box = world.add(Box())
joint = world.add_joint(Hinge(None, box, axis=(0, 1, 0)))
run = world.run(0.01)


@pytest.mark.parametrize(
    ("thing", "name", "meant"),
    [
        (world, "postions", "positions"), (box, "positon", "position"), (joint, "stifness", "stiffness"),
        (run, "positons", "positions"), (collision, "Spere", "Sphere"), (render, "flim", "film"), (scenarios, "laod", "load"),
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
    [(box, "positon", "position"), (joint, "motor_sped", "motor_speed"), (Scene(), "gravty", "gravity")],
)
def test_writing(thing, name, meant):
    with pytest.raises(AttributeError, match=f"; did you mean {meant}"):
        setattr(thing, name, 1.0)


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
