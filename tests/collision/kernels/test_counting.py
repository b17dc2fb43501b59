"""Kernels count references to their arrays in place, without atomic instructions, and give back all memory."""

from __future__ import annotations

import os
import subprocess
import sys
from ast import literal_eval
from pathlib import Path

import numpy as np
import pytest

from tumble.collision.kernels.building.plain import plain
from tumble.collision.kernels.building.runtime import AFTER, COUNTS
from tumble.collision.kernels.jit import DISABLED, inner, kernel
from tumble.collision.kernels.sources import import_path

PAGES = Path("/proc/self/statm")
pytestmark = [
    pytest.mark.skipif(DISABLED, reason="nothing is compiled"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="programs can not be copied"),
]


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
import os, sys
from pathlib import Path
from numba import types
from tests.collision.kernels.test_counting import makes
from tumble.collision.kernels import code_library
from tumble.collision.kernels.building import runtime, worker
from tumble.collision.kernels.compiler import compiled
from tumble.collision.kernels.native import Call, Entry, loaded

worker.prepare_numba()

def code(numba=False):
    if numba:
        linked = code_library.KernelLibrary._linked
        code_library.KernelLibrary._linked = lambda library, counting: linked(library, True)
    library = compiled(makes, (types.int64,)).library
    library.object_code()
    return library._final_module

def growth(*spoiled):
    if spoiled:
        code_library.AFTER = code_library.AFTER.replace(*spoiled)
    entry = Entry(makes, lambda: (1,))
    call = Call(loaded([*runtime.runtime(), *worker.compiled_entry(entry)])[entry.name], ())
    resident = lambda: int(open("/proc/self/statm").read().split()[1])  # pages; the most there were counts those of the parent
    call(1000)
    before = resident()
    return call(100_000), resident() / before

for name, way in WAYS.items():
    if os.fork():
        assert os.wait()[1] == 0, name
        continue
    Path(sys.argv[1], name).write_text(str(eval(way)))
    os._exit(0)
"""
SPOILED = "i64 %new, 0", "i64 %new, -1"  # the count never comes to nothing
WAYS = {"code": "code()", "code of Numba": "code(numba=True)"}
if PAGES.exists():
    WAYS |= {"growth": "growth()", "growth, spoiled": f"growth{SPOILED}"}


@pytest.fixture(scope="module")
def told(tmp_path_factory) -> dict[str, str]:
    """What processes say that compile as workers do: copies of one, which has loaded the compiler and compiled nothing."""
    folder = tmp_path_factory.mktemp("told")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((import_path(), os.getcwd()))}
    command = [sys.executable, "-c", COMPILED.replace("WAYS", repr(WAYS)), str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {name: (folder / name).read_text() for name in WAYS}


def test_references_are_counted_in_place(told):
    code = told["code"]
    assert "NRT_MemInfo_alloc" in code  # there is something to count
    assert "atomicrmw" not in code
    assert not any(f"@{name}" in code for name in COUNTS)


def test_numba_counts_by_calls(told):
    """As it is seen here."""
    code = told["code of Numba"]
    assert "atomicrmw" in code
    assert any(f"@{name}" in code for name in COUNTS)


@pytest.mark.skipif(not PAGES.exists(), reason="the system tells in another way what a process holds")
def test_memory_is_given_back(told):
    """What the kernel gives is right, and the process does not grow by it."""
    given, grown = literal_eval(told["growth"])
    assert given == plain(makes)(100_000)
    assert grown < 1.1


@pytest.mark.skipif(not PAGES.exists(), reason="the system tells in another way what a process holds")
def test_memory_that_is_not_given_back_is_seen(told):
    """Where the count never comes to nothing: 100,000 rows of 800 bytes."""
    assert SPOILED[0] in AFTER
    given, grown = literal_eval(told["growth, spoiled"])
    assert given == plain(makes)(100_000)
    assert grown > 1.3
