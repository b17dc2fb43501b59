"""Hypothesis draws the same examples in every run; ``HYPOTHESIS_PROFILE=search`` looks for new ones."""

import gc
import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests.programs import leave_out_figures

# Files that take longest, the longest first: a worker that begins one of them at the end keeps the others waiting.
LONG = (
    "sim/test_uncompiled.py", "physics/test_ground.py", "test_readme.py", "scenarios/test_terrain.py",
    "collision/kernels/test_growing.py", "scenarios/test_damage.py", "collision/test_uncompiled.py", "physics/test_crowds.py",
    "render/test_framing.py", "scenarios/test_bench.py", "scenarios/test_resume.py", "scenarios/test_machines.py",
    "physics/test_worlds.py", "physics/test_validation.py", "collision/ground/test_ground.py", "test_editors.py",
    "scenarios/test_recording.py", "render/test_picture.py", "physics/test_scenes.py", "render/test_film.py",
    "scenarios/test_names.py", "scenarios/test_sweep.py", "test_kernel_cache.py",
)  # fmt: skip

pytest_plugins = ["tumble.scenarios.testing", "pytester"]  # the first comes by itself where tumble is installed anew

settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


@pytest.fixture
def no_figures(monkeypatch):
    leave_out_figures(monkeypatch)


def pytest_addoption(parser):
    parser.addoption("--one-case", action="store_true", help="of each test that has many cases, the first alone")


def pytest_collection_finish():
    """What 8000 tests and the compiler are made of stays to the end: the collector need not look at half a million objects again
    and again while tests run."""
    gc.freeze()


def pytest_collection_modifyitems(config, items):
    """``make test-fast``: a test function is the same for all of its cases, and what breaks it mostly breaks the first."""
    if hasattr(config, "workerinput"):
        places = {Path(__file__).parent / name: k for k, name in enumerate(LONG)}
        assert all(path.exists() for path in places), "a file that LONG names is gone"
        items.sort(key=lambda item: places.get(item.path, len(LONG)))
    if not config.getoption("--one-case"):
        return
    first = {}
    for item in items:
        first.setdefault(item.nodeid.partition("[")[0], item)
    left = [item for item in items if item not in first.values()] if len(first) < len(items) else []
    config.hook.pytest_deselected(items=left)
    items[:] = first.values()
