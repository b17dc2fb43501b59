"""Runs, films, sweeps and caches that are killed at random instants: nothing is lost, all opens, nothing is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CARELESS = """
import signal, sys, tempfile
from pathlib import Path
import scenarios.run
def save(self, world):
    world.save(self.path)  # and samples are where they are
if "careless" in sys.argv:
    scenarios.run.Checkpoints.save = save
from benchmarks.faults.__main__ import load
from benchmarks.faults.trials import prepared, struck, trials
load()
with tempfile.TemporaryDirectory() as folder:
    base = Path(folder, "base")
    prepared(base)
    for k in range(6):
        print(struck(trials(base)["run"], Path(folder, str(k)), 0.5 + 0.2 * k, signal.SIGKILL).wrong)
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
    """The twin: runs that save the world before the samples up to it are on disk lose some when they are killed."""
    done = subprocess.run([sys.executable, "-c", CARELESS, how], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    wrong = [line for line in done.stdout.splitlines() if line != "[]"]
    assert bool(wrong) == (how == "careless"), done.stdout
