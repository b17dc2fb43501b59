"""Hypothesis draws the same examples in every run; ``HYPOTHESIS_PROFILE=search`` looks for new ones."""

import gc
import os

import pytest
from hypothesis import settings
from numba import config as compiler

from tests.programs import leave_out_figures

pytest_plugins = ["tumble.scenarios.testing", "pytester"]  # the first comes by itself where tumble is installed anew

settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


os.environ.setdefault("LP_NUM_THREADS", "1")  # of Mesa, for small pictures: to share one out takes longer than to draw it


@pytest.fixture
def no_figures(monkeypatch):
    leave_out_figures(monkeypatch)


def pytest_addoption(parser):
    parser.addoption("--one-case", action="store_true", help="of each test that has many cases, the first alone")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What 8000 tests and the compiler are made of stays to the end: the collector need not look at half a million objects again
    and again, neither while they come about nor while tests run, and seldom at what a test makes. Kernels that are not compiled
    make many tuples, where it looks for circles that are not there."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 20, 20)
        if not compiler.DISABLE_JIT:
            gc.enable()


def pytest_collection_modifyitems(config, items):
    """``make test-fast``: a test function is the same for all of its cases, and what breaks it mostly breaks the first."""
    if hasattr(config, "workerinput"):  # files that take long first: a worker that begins one at the end keeps the others waiting
        long = {item.path for item in items if item.get_closest_marker("slow")}
        items.sort(key=lambda item: item.path not in long)
    if not config.getoption("--one-case"):
        return
    first = {}
    for item in items:
        first.setdefault(item.nodeid.partition("[")[0], item)
    left = [item for item in items if item not in first.values()] if len(first) < len(items) else []
    config.hook.pytest_deselected(items=left)
    items[:] = first.values()
