"""A run that was killed goes on bit for bit, whenever it was killed: with the samples and the last state of one that was not."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.programs import started
from tumble.collision.errors import InputError
from tumble.scenarios.checks.compare import compare
from tumble.scenarios.cli import parser
from tumble.scenarios.runs.scene_run import CHECKPOINT, run_scene, scene_of
from tumble.sim.errors import RecordingError
from tumble.sim.recording.recorder import Recorder
from tumble.sim.recording.run import Run
from tumble.sim.world.world import World

ROOT = Path(__file__).resolve().parent.parent.parent
PARAMETERS = {"count": 3}
SECONDS = 0.3  # 72 steps, 7 samples, a checkpoint at each
LONG = 0.6  # for a process, so that it is at it when it is killed
SCRIPT = """
import sys
from tumble.scenarios.runs.scene_run import run_scene, scene_of
how = dict(quiet=True, contacts=True, every=12, resume=True, checkpoint_seconds=0.0)
run_scene(scene_of("dropped_cuboids", count=3), sys.argv[1], LONG, **how)
""".replace("LONG", str(LONG))


def simulate(out: Path | None, seconds: float = SECONDS, **options) -> Run:
    scene = scene_of("dropped_cuboids", **PARAMETERS)
    return run_scene(scene, out, seconds, every=12, quiet=True, contacts=True, checkpoint_seconds=0.0, **options).run


@pytest.fixture(scope="module")
def whole() -> Run:
    """The run that nobody interrupts."""
    return simulate(None)


def same(run: Run, whole: Run) -> None:
    assert run.complete
    assert run.attributes["state_hash"] == whole.attributes["state_hash"]
    assert compare(run, whole).same
    for name in whole._arrays:
        assert np.array_equal(run._arrays[name][:], whole._arrays[name]), name


class Killed(BaseException):
    pass


@pytest.mark.parametrize("moment", range(3))
def test_killed_at_any_write(whole, tmp_path, monkeypatch, moment):
    """Stopped in the middle of writing, where the order of the files matters; twice, then to the end."""
    rename, chance = os.replace, random.Random(moment)
    left = 0

    def replace(*names, **options):
        nonlocal left
        left -= 1
        if left == 0:
            raise Killed
        return rename(*names, **options)

    killed = 0
    for _ in range(2):
        left = chance.randint(25, 150)
        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", replace)
            patch.setattr(Recorder, "finish", lambda self, world: None)  # a killed program closes nothing
            try:
                simulate(tmp_path, resume=True)
            except Killed:
                killed += 1
    assert killed == 2
    same(simulate(tmp_path, resume=True), whole)


@pytest.mark.slow
def test_killed_process(tmp_path):
    """The real thing: SIGKILL once it has been at it for a while."""
    whole = simulate(None, LONG)
    for fraction in (0.2, 0.5):
        with started([sys.executable, "-c", SCRIPT, str(tmp_path)], env={**os.environ, "PYTHONPATH": str(ROOT)}) as process:
            until, samples = time.monotonic() + 300, 0
            while process.poll() is None and samples < fraction * whole.steps[-1] and time.monotonic() < until:
                time.sleep(0.02)
                samples = steps_saved(tmp_path)
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
    assert not Run.open(tmp_path).complete
    same(simulate(tmp_path, LONG, resume=True), whole)


def steps_saved(out: Path) -> int:
    try:
        return World.load(out / CHECKPOINT).step_count
    except RecordingError:
        return 0


def test_longer_and_shorter(whole, tmp_path):
    """A run that came to its end goes on too, and one that is resumed to its end stays as it is."""
    scene = scene_of("dropped_cuboids", **PARAMETERS)
    run_scene(scene, tmp_path, 0.5 * SECONDS, every=12, quiet=True, contacts=True)
    same(simulate(tmp_path, resume=True), whole)
    before = (tmp_path / "trajectory.zarr" / "position" / "c" / "0" / "0" / "0").read_bytes()
    same(simulate(tmp_path, resume=True), whole)
    assert (tmp_path / "trajectory.zarr" / "position" / "c" / "0" / "0" / "0").read_bytes() == before


@pytest.mark.usefixtures("no_figures")
def test_command(tmp_path, capsys):
    def verb(*more: str) -> None:
        chosen = parser().parse_args(["run", "bouncing_ball", "--out", str(tmp_path), *more])
        chosen.verb(chosen)

    verb("--seconds", "0.2")
    verb("--seconds", "0.4", "--resume")
    assert Run.open(tmp_path).duration == pytest.approx(0.4)
    with pytest.raises(InputError, match="parameters = .*: the run in .* had .*: resume it as it was begun"):
        verb("--resume", "--set", "restitution=0.5")
    with pytest.raises(InputError, match="every = 2: the run in .* had 1"):
        verb("--resume", "--every", "2")
    with pytest.raises(InputError, match="dt = 0.001"):
        verb("--resume", "--dt", "0.001")
    verb("--seconds", "0.3")  # without it, anew
    assert Run.open(tmp_path).duration == pytest.approx(0.3)


def test_samples_that_are_missing_are_seen(tmp_path):
    """A checkpoint that is later than the recording can not be gone on from."""
    world = scene_of("bouncing_ball").build()
    world.run(0.1, [Recorder(tmp_path / "a")])
    world.step(10)
    with pytest.raises(RecordingError, match="ends before step 34"):
        world.run(0.1, [Recorder(tmp_path / "a", append=True)])
    with pytest.raises(RecordingError, match="other variables"):
        world.run(0.1, [Recorder(tmp_path / "a", contacts=True, append=True)])
