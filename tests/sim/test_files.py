"""Files and folders that are whole at every instant, also the instants at which somebody is killed."""

from __future__ import annotations

import os
import shutil
import threading

import numpy as np
import pytest

import tumble.sim.files
from tumble.collision import Sphere
from tumble.sim import Recorder, RecordingError, Run, World
from tumble.sim.files import aside, claimed, put_folder, standing_folder, tidy, whole


class Killed(BaseException):
    """As by kill -9: nothing is cleaned up by those who are told of exceptions of other kinds."""


def record(path, radius: float) -> None:
    world = World()
    world.add(Sphere(radius), name="ball")
    world.run(0.02, [Recorder(path)])


def opened(path) -> float:
    run = Run.open(path)
    assert run.damages() == []
    return run.scene.bodies[0].shape.radius


@pytest.mark.parametrize("steps", range(8))
def test_a_recording_opens_whenever_its_successor_was_killed(steps, tmp_path, monkeypatch):
    """Before each thing that is done to the names of folders. Afterwards the old one is there, or the new one."""
    path = tmp_path / "trajectory.zarr"
    record(path, 0.1)
    left = steps

    def dying(done):
        def step(*arguments, **keywords):
            nonlocal left
            left -= 1
            if left < 0:
                raise Killed
            return done(*arguments, **keywords)

        return step

    with monkeypatch.context() as patch:
        for module, name in ((os, "rename"), (os, "replace"), (shutil, "rmtree"), (tumble.sim.files, "remove")):
            patch.setattr(module, name, dying(getattr(module, name)))
        try:
            record(path, 0.2)
            died = False
        except Killed:
            died = True
    assert died == (left < 0)
    assert opened(path) in (0.1, 0.2)
    assert opened(tmp_path) == opened(path)  # by the folder, as the command line does
    tidy(tmp_path)
    assert os.listdir(tmp_path) == ["trajectory.zarr"]
    assert opened(path) in (0.1, 0.2)
    record(path, 0.3)
    assert opened(path) == 0.3


def test_the_twin_that_renames_without_a_thought(tmp_path):
    """Without looking for the one that was there, the instant between two renames has none."""
    path, new = tmp_path / "trajectory.zarr", tmp_path / "new"
    record(path, 0.1)
    record(new, 0.2)
    os.rename(path, tmp_path / ".trajectory.zarr.before-put")
    assert not path.exists()
    assert standing_folder(path).is_dir()
    assert opened(path) == 0.1
    put_folder(new, path)  # whoever comes next finds it back in its place first, and replaces it
    assert opened(path) == 0.2
    assert os.listdir(tmp_path) == ["trajectory.zarr"]


def test_a_claim_is_of_one_thread_and_may_be_made_again_within(tmp_path):
    told = []

    def other():
        try:
            with claimed(tmp_path):
                told.append("in")
        except RecordingError as error:
            told.append(error.reason)

    with claimed(tmp_path), claimed(tmp_path):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert "another run is being written there" in told[0]
    other()
    assert told[1] == "in"


def test_nothing_of_others_is_cleared(tmp_path):
    """Hidden files of other programs stay, and folders that somebody is filling."""
    (tmp_path / ".bashrc.before").write_text("mine")
    with aside(tmp_path / "a") as folder, whole(tmp_path / "film.mp4") as part:
        np.save(folder / "x.npy", np.zeros(3))
        tidy(tmp_path)
        assert folder.is_dir()
        assert part.is_file()
    assert sorted(os.listdir(tmp_path)) == [".bashrc.before", "film.mp4"]
