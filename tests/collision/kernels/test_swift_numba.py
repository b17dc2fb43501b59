"""Processes that compile do less than Numba does, and make the same machine code."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tumble.collision.kernels.jit import DISABLED
from tumble.collision.kernels.sources import import_path

COMPILE = """
import hashlib, sys
import numba.core.compiler
from tumble.collision.kernels import code_library, compiler
from tumble.collision.kernels.building import swift_numba
from tumble.sim.flight import motion

if "slow" in sys.argv:
    swift_numba.PARTS = (swift_numba._flags,)
if "spoiled" in sys.argv:
    import llvmlite.ir
    llvmlite.ir.IRBuilder.fadd = llvmlite.ir.IRBuilder.fsub
swift_numba.prepare_numba()
print(hashlib.sha256(motion.flight_far.made.compiled().library.object_code()).hexdigest())
"""


def code(how: str = "") -> str:
    """A digest of the machine code of a free flight, compiled as told: ``slow``, as Numba does it."""
    command, environment = [sys.executable, "-c", COMPILE, how], {**os.environ, "PYTHONPATH": import_path()}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=True).stdout


@pytest.mark.skipif(DISABLED, reason="nothing is compiled")
def test_the_same_machine_code():
    swift = code()
    assert swift == code("slow")
    assert swift != code("spoiled")  # as it is seen here
