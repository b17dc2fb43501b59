"""The bits of all scenes of the catalog are those that were kept: ``python tools/catalog_hashes.py --keep`` takes them anew."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tools.catalog_hashes import EARLY, KEPT, maths, outcome, poses
from tumble.collision.kernels.jit import DISABLED
from tumble.scenarios.registry import load, names

ROOT = Path(__file__).resolve().parents[2]
KEPT_WORLDS = json.loads(KEPT.read_text(encoding="utf-8"))
SCENES = KEPT_WORLDS["scenes"]
SAME_MATHS = maths() == KEPT_WORLDS["maths"]
pytestmark = pytest.mark.skipif(DISABLED, reason="uncompiled, the rounding may be another")


def test_all_scenes_are_kept():
    assert sorted(SCENES) == sorted(names())


@pytest.mark.parametrize("name", SCENES)
def test_bits(name):
    """Where sines and square roots have the bits that they had there, all of the scene has; else the poses, to 1e-9 of them."""
    kept, found = SCENES[name], outcome(name, SCENES[name]["steps"])
    expected = np.array(kept["poses"])
    assert np.abs(np.array(found["poses"]) - expected).max() <= 1e-9 * max(1.0, np.abs(expected).max())
    if SAME_MATHS:
        assert found["hash"] == kept["hash"], "is that meant? python tools/catalog_hashes.py --keep, and why in the change log"


@pytest.mark.parametrize("change", [{"dt": 1 / 240 * (1 + 1e-15)}, {"gravity": (0, 0, -9.81 * (1 + 2e-16))}])
def test_the_last_bit_counts(change):
    """The twin: what is other by a rounding has another hash, and is within the tolerance."""
    scene = load("stack")()
    for name, value in change.items():
        setattr(scene, name, value)
    world = scene.build()
    world.step(EARLY)
    found = poses(world)
    world.step(SCENES["stack"]["steps"] - EARLY)
    assert world.state_hash() != SCENES["stack"]["hash"]
    assert np.abs(np.subtract(found, SCENES["stack"]["poses"])).max() < 1e-9


def test_another_method_is_beyond_the_tolerance():
    scene = load("tumbling_box")()
    scene.integrator = "splitting"
    world = scene.build()
    world.step(EARLY)
    assert np.abs(np.subtract(poses(world), SCENES["tumbling_box"]["poses"])).max() > 1e-7


@pytest.mark.validate
def test_bits_in_all_ways():
    """Threads, hash seeds, Worlds, recorder, film, window, saved worlds, uncompiled, in programs of their own."""
    done = subprocess.run([sys.executable, "-m", "benchmarks.bits"], cwd=ROOT, capture_output=True, text=True, timeout=3000)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
