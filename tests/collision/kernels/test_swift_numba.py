"""Processes that compile do less than Numba does, and make the same machine code."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tumble.collision.kernels.jit import DISABLED
from tumble.collision.kernels.sources import import_path

PARTS = ("_events", "_variables", "_sizes", "_refreshes", "_orders", "_calls", "_texts", "_names")
COMPILE = """
import hashlib, sys
import numba.core.compiler
from tumble.collision.kernels import code_library, compiler
from tumble.collision.kernels.building import swift_numba
from tumble.sim.solvers import sweeps

for part in sys.argv[1:]:
    setattr(swift_numba, part, lambda: None)
if "spoiled" in sys.argv:
    import llvmlite.ir
    llvmlite.ir.IRBuilder.fadd = llvmlite.ir.IRBuilder.fsub
swift_numba.prepare_numba()
print(hashlib.sha256(sweeps.sweeps_far.made.compiled().library.object_code()).hexdigest())
"""


def code(*left_out: str) -> str:
    """A digest of the machine code of sweeps, compiled without these parts."""
    command, environment = [sys.executable, "-c", COMPILE, *left_out], {**os.environ, "PYTHONPATH": import_path()}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=True).stdout


@pytest.mark.skipif(DISABLED, reason="nothing is compiled")
def test_the_same_machine_code():
    swift = code()
    assert swift == code(*PARTS)
    assert swift != code("spoiled")  # as it is seen here
