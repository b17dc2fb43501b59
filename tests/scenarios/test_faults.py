"""Runs, films, sweeps and caches that are killed at random instants: nothing is lost, all opens, nothing is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CARELESS = """
import os, signal, sys, tempfile, time
from pathlib import Path
import tumble.scenarios.runs.scene_run, tumble.sim.recording.storage.sample_stores
import benchmarks.faults.trials as trials
from benchmarks.faults.__main__ import load

def often():  # worlds are saved after each sample, samples by that alone
    tumble.sim.recording.storage.sample_stores.FLUSH_SECONDS = 1e9
    plain = tumble.scenarios.runs.scene_run.Checkpoints
    tumble.scenarios.runs.scene_run.Checkpoints = lambda path, recorder, seconds: plain(path, recorder, 0.0)

def save(self, world):
    world.save(self.path)  # and samples are where they are

if "careless" in sys.argv:
    tumble.scenarios.runs.scene_run.Checkpoints.save = save
load()
with tempfile.TemporaryDirectory() as folder:
    base, place = Path(folder, "base"), Path(folder, "place")
    base.mkdir(), place.mkdir()
    assert trials.ended(trials.child(base, trials.RUN)) == 0
    trials.often = often
    pid = trials.child(place, trials.RUN)
    while not (place / "r" / "checkpoint.npz").exists():
        time.sleep(0.001)
    os.kill(pid, signal.SIGKILL)
    trials.ended(pid)
    code = trials.ended(trials.child(place, (*trials.RUN, "--resume")))
    print(code or trials.asked(trials.look_at_run(base / "r"), place, False))
"""


def faults(*words: str) -> subprocess.CompletedProcess[str]:
    """In a program of its own, which forks for each trial."""
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.faults", *words], cwd=ROOT, capture_output=True, text=True, timeout=3000
    )


@pytest.mark.validate
def test_fifty_instants():
    done = faults("--instants", "50", "--seed", "1000")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]


@pytest.mark.validate
def test_states():
    """A home that can not be written, files of the future, folders that go."""
    done = faults("--states")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]


@pytest.mark.validate
@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can mount disks")
def test_full_disks():
    done = faults("--disk", "12")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]


@pytest.mark.validate
@pytest.mark.parametrize("how", ["as it is", "careless"])
def test_a_world_that_is_ahead_of_its_samples_is_found(how):
    """The twin: a run that saves the world before the samples up to it are on disk loses some when it is killed."""
    done = subprocess.run([sys.executable, "-c", CARELESS, how], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    assert (done.stdout.splitlines()[-1] == "[]") == (how == "as it is"), done.stdout


EARLY = """
import os, pty, sys, tempfile, time
from pathlib import Path
import benchmarks.faults.trials as trials

def late(terminal, login=os.login_tty):
    time.sleep(0.3)
    login(terminal)

os.login_tty = late
trials.cli.main = lambda words: time.sleep(30)
if "careless" in sys.argv:
    trials.os.read = lambda *_: b""  # go on at once
with tempfile.TemporaryDirectory() as folder:
    place = Path(folder, "place")
    place.mkdir()
    hand, terminal = pty.openpty()
    pid = trials.child(place, ("report",), terminal)
    os.write(hand, b"\x03")
    print(trials.ended(pid, 3.0))
"""


@pytest.mark.validate
@pytest.mark.parametrize("how", ["as it is", "careless"])
def test_ctrl_c_is_typed_once_there_is_somebody_to_hear_it(how):
    """The twin: what is typed before the child has its terminal is not heard, and strikes nothing."""
    done = subprocess.run([sys.executable, "-c", EARLY, how], cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr[-2000:]
    assert (done.stdout.splitlines()[-1] == "130") == (how == "as it is"), done.stdout


ORPHAN = """
import os, signal, subprocess, sys, tempfile
from pathlib import Path
import benchmarks.faults.trials as trials

def work(words):
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    if "careless" not in sys.argv:
        os.killpg(0, signal.SIGKILL)

trials.cli.main = work
with tempfile.TemporaryDirectory() as folder:
    place = Path(folder, "place")
    place.mkdir()
    pid = trials.child(place, ("report",))
    trials.ended(pid)
    print(trials.left(pid, 6.0))  # whoever adopts orphans may take seconds to bury them
"""


@pytest.mark.validate
@pytest.mark.parametrize("how", ["as it is", "careless"])
def test_a_program_that_outlives_its_parent_is_found(how):
    done = subprocess.run([sys.executable, "-c", ORPHAN, how], cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr[-2000:]
    assert (done.stdout.splitlines()[-1] == "[]") == (how == "as it is"), done.stdout
