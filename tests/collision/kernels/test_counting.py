"""Kernels count references to their arrays in place, without atomic instructions, and give back all memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tumble.collision.kernels.building.plain import plain
from tumble.collision.kernels.building.runtime import AFTER, COUNTS
from tumble.collision.kernels.jit import DISABLED, inner, kernel
from tumble.collision.kernels.sources import import_path

PAGES = Path("/proc/self/statm")
pytestmark = pytest.mark.skipif(DISABLED, reason="nothing is compiled")


@inner
def row_of(k):
    row = np.zeros(100 + k % 7)
    row[k % 5] = k
    return row, row[1:]


@kernel
def makes(n):
    """Arrays, views of them, and one that is handed on."""
    kept, total = np.zeros(3), 0.0
    for k in range(n):
        row, rest = row_of(k)
        if k % 3 == 0:
            kept = rest
        total += row[0] + rest[k % 4] + kept[0]
    return total


COMPILED = """
import sys
from tests.collision.kernels.test_counting import makes
from tumble.collision.kernels import code_library
from tumble.collision.kernels.building import runtime, worker
from tumble.collision.kernels.native import Call, Entry, loaded

worker.prepare_numba()
code_library.AFTER = code_library.AFTER.replace(*sys.argv[1:])
entry = Entry(makes, lambda: (1,))
"""
CODE = """
from numba import types
from tumble.collision.kernels.compiler import compiled

if "as Numba does it" in sys.argv:
    linked = code_library.KernelLibrary._linked
    code_library.KernelLibrary._linked = lambda library, counting: linked(library, True)
library = compiled(makes, (types.int64,)).library
library.object_code()
print(library._final_module)
"""
GROWTH = """
call = Call(loaded([*runtime.runtime(), *worker.compiled_entry(entry)])[entry.name], ())
resident = lambda: int(open("/proc/self/statm").read().split()[1])  # pages; the most there were counts those of the parent
call(1000)
before = resident()
print(call(100_000), resident() / before)
"""


def told(program: str, *given: str) -> str:
    """What a process says that compiles as workers do."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((import_path(), os.getcwd()))}
    command = [sys.executable, "-c", COMPILED + program, *given]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_references_are_counted_in_place():
    code = told(CODE, "", "")
    assert "NRT_MemInfo_alloc" in code  # there is something to count
    assert "atomicrmw" not in code
    assert not any(f"@{name}" in code for name in COUNTS)


def test_numba_counts_by_calls():
    """As it is seen here."""
    code = told(CODE, "as Numba does it", "")
    assert "atomicrmw" in code
    assert any(f"@{name}" in code for name in COUNTS)


def growth(*spoiled: str) -> tuple[float, float]:
    """What the kernel gives, and how much more memory the process has then."""
    given, grown = told(GROWTH, *spoiled).split()
    return float(given), float(grown)


@pytest.mark.skipif(not PAGES.exists(), reason="the system tells in another way what a process holds")
def test_memory_is_given_back():
    given, grown = growth("", "")
    assert given == plain(makes)(100_000)
    assert grown < 1.1


@pytest.mark.skipif(not PAGES.exists(), reason="the system tells in another way what a process holds")
def test_memory_that_is_not_given_back_is_seen():
    """Where the count never comes to nothing: 100,000 rows of 800 bytes."""
    assert "i64 %new, 0" in AFTER
    given, grown = growth("i64 %new, 0", "i64 %new, -1")
    assert given == plain(makes)(100_000)
    assert grown > 1.3
