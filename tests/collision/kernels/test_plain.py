"""Kernels in plain Python, as a program steps while they are compiled: the same bits; machine code where Python is too slow."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tumble.collision import Sphere
from tumble.collision.kernels import native
from tumble.collision.kernels.building import plain as plainly
from tumble.collision.kernels.building.plain import Limit, TooSlow, for_machine_code, plain
from tumble.collision.kernels.jit import DISABLED, FAR_KERNELS, hypot
from tumble.collision.kernels.native import Careful, Entry, Meanwhile, Plain
from tumble.collision.queries.single import LIBRARY as QUERIES
from tumble.scenarios.registry import load
from tumble.sim import World
from tumble.sim.compiled import ADVANCE, LIBRARY

pytestmark = pytest.mark.skipif(DISABLED, reason="the compiler is off")

SCENES = {
    "resting_cuboid": 6, "coins": 3, "dominoes": 3, "governor": 4, "rover": 2, "card_house": 2, "tippe_top": 6,
    "rocking_block": 40, "turntable_ball": 6, "eulers_disk": 6, "newtons_cradle": 60, "pinball": 2, "kepler_orbit": 10,
    "dropped_cuboids": 4,
}  # fmt: skip


def stepped(name: str, steps: int) -> str:
    world = load(name)().build()
    world.step(steps)
    return world.state_hash()


@pytest.mark.parametrize("name", SCENES)
def test_python_gives_the_bits_of_machine_code(name, monkeypatch):
    compiled = stepped(name, SCENES[name])
    monkeypatch.setattr(Entry, "bind", lambda entry, *arguments: Plain(plain(entry.kernel), arguments))
    with np.errstate(all="ignore"):
        assert stepped(name, SCENES[name]) == compiled


def test_python_asks_a_force_that_is_a_function(monkeypatch):
    """A first program with a force of its own: the same bits."""

    def pull(t, position, orientation, velocity, angular_velocity):
        return (-3.0 * position[0], 0.1 * velocity[1], t), (0.0, 0.0, -0.2 * angular_velocity[2])

    def pulled() -> str:
        world = World()
        world.add(Sphere(0.1), position=(1, 2, 3), velocity=(0, 1, 0), angular_velocity=(0, 0, 5))
        world.add_force(pull)
        world.step(4)
        return world.state_hash()

    compiled = pulled()
    monkeypatch.setattr(Entry, "bind", lambda entry, *arguments: Plain(plain(entry.kernel), arguments))
    assert pulled() == compiled


def test_a_power_of_the_library_would_not(monkeypatch):
    """The twin: lengths by Python's own hypot, which rounds in another way than the one that kernels call."""
    rng = np.random.default_rng(1)
    pairs = rng.normal(size=(1000, 2)).tolist()
    assert any(math.hypot(a, b) != np.hypot(a, b) for a, b in pairs)
    assert hypot is math.hypot
    table = plainly._stand_ins(ADVANCE.kernel.py_func)
    assert not any(value is math.hypot for names in plainly._tables.values() for value in names.values())
    assert table["__name__"] == ADVANCE.kernel.py_func.__module__


@pytest.mark.parametrize("spoiled", [False, True])
def test_a_step_that_python_can_not_end_is_taken_by_machine_code(spoiled, monkeypatch):
    """As if nothing had been: arrays are set back first. The twin does not set them back, and the state is another."""

    def begun() -> tuple[World, Any]:
        world = load("dominoes")().build()
        world.step(1)
        world._begin()
        return world, world._advancing().arguments

    count = [0, math.inf]  # far calls that were begun, and that may be

    def ended() -> bool:
        count[0] += 1
        return count[0] > count[1]

    monkeypatch.setattr(Limit, "ended", staticmethod(ended))
    world, arguments = begun()
    with np.errstate(all="ignore"):
        plain(ADVANCE.kernel)(*arguments, 1)  # in Python to its end
    count[:] = 0, 0.95 * count[0]
    again, arguments = begun()
    bound = Meanwhile.__new__(Meanwhile)
    Plain.__init__(bound, plain(ADVANCE.kernel), arguments)
    growing = SimpleNamespace(grown=False, patience=1.0, in_python=nullcontext)
    bound._entry, bound._growing, bound._native = ADVANCE, growing, None
    bound._for_machine_code = for_machine_code
    if spoiled:
        monkeypatch.setattr(native, "all_or_nothing", lambda arguments: nullcontext())
    bound(1)
    assert isinstance(bound._native, Careful)
    same = [np.array_equal(getattr(world.model.bodies, f), getattr(again.model.bodies, f)) for f in ("x", "q", "p", "l")]
    assert all(same) is not spoiled


def meanwhile(kernel, *arguments) -> Meanwhile:
    """A bound kernel that Python runs, where machine code would give "machine code"."""
    bound = Meanwhile.__new__(Meanwhile)
    Plain.__init__(bound, kernel, arguments)
    growing = SimpleNamespace(grown=False, patience=1.0, in_python=nullcontext)
    bound._entry, bound._growing, bound._native = SimpleNamespace(native=None), growing, None
    bound._for_machine_code = for_machine_code
    return bound


@pytest.fixture
def machine_code(monkeypatch):
    monkeypatch.setattr(native, "Careful", lambda code, arguments: lambda *rest: "machine code")


@pytest.mark.parametrize(
    "kernel",
    [
        lambda x: 1.0 / (x - x),
        lambda x: math.sqrt(-x),
        lambda x: math.acos(2.0 * x),
        lambda x: int(x * math.nan),
        lambda x: int(x * math.inf),
        lambda x: math.exp(1e4 * x),
    ],
    ids=["a division by zero", "a root", "an angle", "no number", "infinity", "overflow"],
)
def test_what_python_calls_an_error_and_machine_code_does_not(machine_code, kernel):
    assert meanwhile(kernel, 1.0)() == "machine code"


@pytest.mark.parametrize(
    ("kernel", "error"),
    [
        (lambda x: x.shape, AttributeError),
        (lambda x: x[0], TypeError),
        (lambda x: np.zeros(3) + np.zeros(4), ValueError),
        (lambda x: np.zeros(3)[3], IndexError),
        (lambda x: missing, NameError),  # noqa: F821
    ],
)
def test_a_fault_in_a_kernel_is_raised(machine_code, kernel, error):
    """It used to show as slowness only: machine code did the work."""
    with pytest.raises(error):
        meanwhile(kernel, 1.0)()


def test_the_limit_ends_python(monkeypatch):
    monkeypatch.setattr(Limit, "until", 0.0)
    with pytest.raises(TooSlow):
        plain(FAR_KERNELS[0])()


@pytest.mark.skipif(not LIBRARY.whole, reason="kernels are being compiled")
def test_a_first_program_does_not_wait_for_the_compiler(tmp_path):
    """With nothing kept: a box falls on a floor, to the bits of a program whose kernels are kept."""
    program = """
from tumble.collision import Box, HalfSpace
from tumble.sim import World
from tumble.sim.compiled import LIBRARY
world = World()
world.add(HalfSpace(), kind="static")
world.add(Box((0.2, 0.3, 0.1)), position=(0, 0, 0.3), angular_velocity=(1, 2, 3))
world.step(50)
print(world.state_hash(), LIBRARY.whole, len(world.contacts()) > 0)
"""
    told = []
    for cache in (None, tmp_path):
        environment = os.environ if cache is None else {**os.environ, "TUMBLE_CACHE_DIR": str(cache)}
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
        told.append(done.stdout.split())
    assert [whole for _, whole, _ in told] == ["True", "False"]
    assert [met for *_, met in told] == ["True", "True"]
    assert told[0][0] == told[1][0]


@pytest.mark.skipif(not QUERIES.whole, reason="kernels are being compiled")
def test_a_first_query_does_not_wait_for_the_compiler(tmp_path):
    program = """
from tumble.collision import Cylinder, Box, Pose, signed_distance
from tumble.collision.queries.single import LIBRARY
for z in (0.2, 0.9, 1.4):
    print(signed_distance(Box((0.2, 0.3, 0.4)), Pose(), Cylinder(0.5, 1.0), Pose((0.1, 0.2, z), (0.8, 0.6, 0.0, 0.0))))
print(LIBRARY.whole)
"""
    told = []
    for cache in (None, tmp_path):
        environment = os.environ if cache is None else {**os.environ, "TUMBLE_CACHE_DIR": str(cache)}
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
        told.append(done.stdout.splitlines())
    assert told[0][:-1] == told[1][:-1]
    assert [lines[-1] for lines in told] == ["True", "False"]


def test_a_world_goes_on_in_machine_code_when_it_is_there():
    world = World()
    assert world._bound is None
    world.step()
    assert world._bound.__class__ is not Meanwhile
