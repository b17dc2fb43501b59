"""Numbers of contact, impact and solvers spoiled on purpose, in kernels that are functions of Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_each_number_is_missed():
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *sorted(ROOT.glob("tests/sim/*/spoiled*.py"))]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
