"""Machine code that is kept in one file and called without the compiler: the same bits, and never damaged code."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tumble.collision.kernels.building.objects import read, write
from tumble.collision.kernels.jit import DISABLED
from tumble.collision.kernels.native import Library

pytestmark = pytest.mark.skipif(DISABLED, reason="the compiler is off")

RUN = """
import sys
from tumble.collision.kernels.native import Library
Library.used = {used}
from tumble.scenarios.registry import load
for name in ("two_cuboids", "double_pendulum", "kepler_orbit", "newtons_cradle"):
    world = load(name)().build()
    world.step(60)
    print(world.state_hash())
print("numba" in sys.modules)
"""


def hashes(used: bool, **environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", RUN.format(used=used)], capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_the_same_bits_as_by_numba_and_no_numba():
    kept, dispatched = hashes(True), hashes(False)
    assert kept[:-1] == dispatched[:-1]
    assert (kept[-1], dispatched[-1]) == ("False", "True")


def test_a_step_loads_neither_the_compiler_nor_what_draws_or_records():
    code = """
import sys
from tumble.sim import World
from tumble.collision import Box, HalfSpace
world = World()
world.add(HalfSpace(), kind="static")
world.add(Box((0.5, 0.5, 0.5)), position=(0, 0, 0.5))
world.step()
print(sorted({"numba", "scipy", "xarray", "zarr", "matplotlib"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_what_was_written_is_read_back(tmp_path):
    objects = [("far a.b", "symbol", b"code"), ("entry x 3 qq", "", b"")]
    write(tmp_path / "folder" / "kept.o", objects)
    assert read(tmp_path / "folder" / "kept.o") == objects
    assert read(tmp_path / "none.o") is None


@pytest.mark.parametrize(
    "harm", [lambda d: d[:-1], lambda d: b"", lambda d: d[:40] + bytes([d[40] ^ 1]) + d[41:], lambda d: d + b"x"]
)
def test_damaged_code_is_never_loaded(tmp_path, harm):
    path = tmp_path / "kept.o"
    write(path, [("code", "", b"machine code " * 10)])
    path.write_bytes(harm(path.read_bytes()))
    assert read(path) is None


def test_the_name_of_the_file_tells_settings_of_the_compiler(monkeypatch):
    from tumble.sim.compiled import LIBRARY

    plain, threads, generic = (Library(LIBRARY.module) for _ in range(3))
    assert plain.path == LIBRARY.path
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    assert threads.path == plain.path
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    assert generic.path != plain.path


def test_bound_arguments_stay_packed():
    """A call gives what the kernel gives, and sees what is written into its arrays afterwards."""
    import numpy as np

    from tumble.sim.compiled import GLANCE
    from tumble.sim.state import bodies_of

    bodies = bodies_of(2)
    bodies.q[:, 0] = 1.0
    call = GLANCE.bind(bodies)
    bodies.x[1] = 1.0, 2.0, 3.0
    assert np.array_equal(call.part(1, (0, 3)), [1.0, 2.0, 3.0])
    assert call(1)[:4] == (1.0, 2.0, 3.0, 1.0)


@pytest.mark.parametrize("module", ["tumble.collision.queries.single", "tumble.sim.compiled"])
def test_a_library_names_no_kernel_that_its_module_does_not_bring(module):
    """The compiler imports that module alone; an import within a function, of a file with kernels of its own, brought one."""
    program = f"""
import importlib
from tumble.collision.kernels.building.growing import far_below
from tumble.collision.kernels.jit import FAR_KERNELS
from tumble.collision.kernels.building.objects import name_of
library = importlib.import_module({module!r}).LIBRARY
known = {{name_of(far) for far in FAR_KERNELS}}
import tumble.collision.broadphase.collision_manager, tumble.collision.queries.proximity, tumble.sim.compiled
print(*(set(far_below(library)) - known))
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == []


def test_what_is_compiled_first_is_there():
    """A kernel that was renamed would be compiled last where a first step waits for it."""
    program = "from tumble.sim.compiled import FIRST, LIBRARY\nfrom tumble.collision.kernels.building.growing import Growing\n"
    program += "print(*(set(FIRST) - set(Growing(LIBRARY).paths)))"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == []
