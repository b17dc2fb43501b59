"""Kernels take the indices of arrays as they are, and ask for none below zero."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numba
import numpy as np
import pytest

from tests.sources import parsed
from tumble.collision.kernels.jit import DISABLED
from tumble.collision.kernels.sources import PACKAGES, ROOT, import_path

DECORATORS = {"kernel", "inner", "lean", "tight", "remote"}
KERNEL = """
@lean
def last(table, row):
    return table[{index}]
"""
CHECKED = """
import numpy as np
from tumble.collision.kernels.compiler import Kernels
from numba import njit

def at(row, k):
    return row[k]

at.__module__ = "tumble.sim.made_up"
at = njit(pipeline_class=Kernels, error_model="numpy")(at)
row = np.arange(4.0)[1:]
print(at(row, 2))
at(row, -1)
"""


def counted_from_the_end(source: str) -> list[str]:
    """The accesses in kernels of a source with a literal index below zero. Bounds of slices are Numba's matter, not the kernel's:
    these still count from the end."""
    return [
        ast.unparse(access)
        for function in kernels(parsed(source))
        for access in ast.walk(function)
        if isinstance(access, ast.Subscript)
        for index in (access.slice.elts if isinstance(access.slice, ast.Tuple) else [access.slice])
        if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub)
    ]


def kernels(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            given = (d.func if isinstance(d, ast.Call) else d for d in function.decorator_list)
            if any(isinstance(d, ast.Name) and d.id in DECORATORS for d in given):
                yield function


def files() -> list[Path]:
    return [file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py"))]


def test_no_kernel_counts_from_the_end():
    found = {file.name: accesses for file in files() if (accesses := counted_from_the_end(file.read_text(encoding="utf-8")))}
    assert not found


def test_kernels_are_looked_at():
    assert sum(len(list(kernels(parsed(file.read_text(encoding="utf-8"))))) for file in files()) > 900


@pytest.mark.parametrize("index", ["-1", "row, -2", "-row"])
def test_a_kernel_that_does_is_found(index):
    assert counted_from_the_end(KERNEL.format(index=index))


@pytest.mark.parametrize("index", ["1", "row - 1", "len(table) - 1, 0", ":-1", "row, -3:"])
def test_others_are_not(index):
    assert not counted_from_the_end(KERNEL.format(index=index))


def compiled(module: str) -> Callable:
    """A function that reads an element of a row, compiled as one of this module."""
    from tumble.collision.kernels.compiler import Kernels

    def at(row, k):
        return row[k]

    at.__module__ = module
    return numba.njit(pipeline_class=Kernels, error_model="numpy")(at)


@pytest.mark.skipif(DISABLED, reason="nothing is compiled")
def test_only_kernels_take_indices_as_they_are():
    row = np.arange(4.0)[1:]  # a zero stands before it in memory
    assert compiled("tumble.collision.made_up")(row, -1) == 0.0
    assert compiled("tumble.sim.made_up")(row, -1) == 0.0
    assert compiled("made_up_by_a_user")(row, -1) == 3.0
    assert numba.njit(lambda a, k: a[k])(row, -1) == 3.0


@pytest.mark.skipif(DISABLED, reason="nothing is compiled")
def test_a_checked_kernel_tells_of_an_index_below_zero():
    environment = {**os.environ, "PYTHONPATH": import_path(), "NUMBA_BOUNDSCHECK": "1"}
    done = subprocess.run([sys.executable, "-c", CHECKED], env=environment, capture_output=True, text=True)
    assert done.stdout.split() == ["3.0"]
    assert "IndexError" in done.stderr
