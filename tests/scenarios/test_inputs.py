"""Hostile inputs by grammar: nothing but one clear line, within its time, its memory and its folder."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from benchmarks.inputs.__main__ import SHARES, block
from benchmarks.inputs.cases import Case
from benchmarks.inputs.command_lines import FLAGS, UNASKED, VERBS
from benchmarks.inputs.grammars import GRAMMARS
from benchmarks.inputs.hands import hands
from tumble.collision import Sphere
from tumble.scenarios.cli import parser
from tumble.sim import RecordingError, Run, World

SEED = 1_000_000  # of the first block: apart from those of the long run


@pytest.fixture(scope="module")
def hand():
    made = hands()
    yield made
    shutil.rmtree(made.folder)


@pytest.mark.parametrize("kind", GRAMMARS)
def test_some_of_each_grammar(kind, hand):
    found = []
    told = block(hand, kind, SEED, 2, found)
    assert found == []
    assert told["inputs"] >= 2


def test_command_lines_know_every_verb_and_option():
    verbs = next(action for action in parser()._actions if isinstance(action, argparse._SubParsersAction)).choices
    assert set(verbs) == set(VERBS) - {"nothing"}
    for name, verb in verbs.items():
        options = {action.option_strings[-1]: action.nargs for action in verb._actions if action.option_strings} | {"--help": 0}
        assert set(options) - {"--help"} == set(VERBS[name][1]) | UNASKED.get(name, set()), name
        assert {option for option in VERBS[name][1] if options[option] == 0} == set(VERBS[name][1]) & set(FLAGS), name


@pytest.mark.validate
@pytest.mark.parametrize("kind", GRAMMARS)
def test_many_of_each_grammar(kind, hand):
    """10,000 in all."""
    found, done, number = [], 0, SEED + 1
    while done < 10 * SHARES[kind]:
        done += block(hand, kind, number, 20, found)["inputs"]
        number += 1
    assert found == []


def test_the_guard_sees_what_may_not_be(hand, monkeypatch):
    """The twin: programs that do each of the things, one by one."""

    def told(act) -> str:
        with hand.guard():
            act()
        return " ".join(hand.guard.faults)

    def burst() -> None:
        raise KeyError("x")

    def spin() -> None:
        while True:
            sum(range(1000))

    assert "KeyError" in told(burst)
    assert "overflow encountered" in told(lambda: np.float64(1e308) * np.float64(10.0))
    assert "open of" in told(lambda: Path(hand.folder, "x").write_text(""))
    assert "read " in told(lambda: Path(hand.elsewhere, "secret.toml").read_text())
    assert "os.mkdir" in told(lambda: os.mkdir(hand.elsewhere / "x"))
    assert "subprocess.Popen" in told(lambda: subprocess.run(["true"], check=True))
    monkeypatch.setattr("benchmarks.inputs.guard.SECONDS", 0.2)
    assert "more than" in told(spin)
    assert told(lambda: Path(hand.out, "x").write_text("")) == ""
    assert hand(Case("scene", {"scene.toml": b"\0"}, (0,))) == []


class Planted:
    """What a pickle would run when it is read."""

    def __init__(self, file: Path):
        self.file = file

    def __reduce__(self):
        return Path.touch, (self.file,)


def test_no_pickle_is_read(tmp_path):
    """A saved world and a recording in which one was planted are refused, and nothing of it runs."""
    touched = tmp_path / "touched"
    world = World()
    world.add(Sphere(0.1))
    world.save(tmp_path / "world.npz")
    with np.load(tmp_path / "world.npz") as whole:
        arrays = {name: whole[name] for name in whole.files}
    bomb = np.array([Planted(touched)], dtype=object)
    for name in ("header", "bodies.x"):
        np.savez(tmp_path / "planted.npz", **{**arrays, name: bomb}, allow_pickle=True)
        with pytest.raises(RecordingError, match="is not a saved world"):
            World.load(tmp_path / "planted.npz")
        assert not touched.exists()
        with np.load(tmp_path / "planted.npz", allow_pickle=True) as twin:  # it was there, and would have run
            assert twin[name] is not None
        assert touched.exists()
        touched.unlink()


def test_no_pickle_is_read_from_recordings(tmp_path):
    """Zarr's codec for pickled objects is none that is known where recordings are read."""
    from tumble.sim import Recorder
    from tumble.sim.recording.storage.checksums import consolidate

    store = tmp_path / "a.zarr"
    world = World()
    world.add(Sphere(0.1))
    world.run(0.1, [Recorder(store)])
    file = store / "body" / "zarr.json"
    text = file.read_text()
    for name in ("vlen-utf8",):
        assert name in text
        file.write_text(text.replace(name, "numcodecs.pickle"))
    consolidate(store)
    with pytest.raises(RecordingError, match="is damaged"):
        Run.open(store)
