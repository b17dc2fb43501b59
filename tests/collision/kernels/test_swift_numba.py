"""Processes that compile do less than Numba does, and make the same machine code."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tumble.collision.kernels.jit import DISABLED
from tumble.collision.kernels.sources import import_path

COMPILE = """
import hashlib, os, sys
import llvmlite.ir
import numba.core.compiler
from tumble.collision.kernels import code_library, compiler
from tumble.collision.kernels.building import swift_numba
from tumble.sim.flight import motion

for how in sys.argv[1:]:
    if os.fork():
        assert os.wait()[1] == 0
        continue
    if how == "slow":
        swift_numba.PARTS = (swift_numba._flags,)
    if how == "spoiled":
        llvmlite.ir.IRBuilder.fadd = llvmlite.ir.IRBuilder.fsub
    swift_numba.prepare_numba()
    print(hashlib.sha256(motion.flight_far.made.compiled().library.object_code()).hexdigest(), flush=True)
    os._exit(0)
"""


def codes(*ways: str) -> list[str]:
    """A digest of the machine code of a free flight, compiled in each of these ways: ``slow``, as Numba does it.

    One program loads the compiler, and a copy of it goes each of the ways from there.
    """
    command, environment = [sys.executable, "-c", COMPILE, *ways], {**os.environ, "PYTHONPATH": import_path()}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=True).stdout.split()


@pytest.mark.skipif(DISABLED, reason="nothing is compiled")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="programs can not be copied")
def test_the_same_machine_code():
    swift, slow, spoiled = codes("swift", "slow", "spoiled")
    assert swift == slow
    assert swift != spoiled  # as it is seen here
