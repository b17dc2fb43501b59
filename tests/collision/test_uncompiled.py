"""The kernels as plain Python: the same tests must pass where Numba compiles nothing.

A division by zero raises there, an index runs out, an undefined name is found; compiled code shows none of it. The tests
that spoil a kernel on purpose also live there.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "tests",
    [
        "test_narrowphase.py -k 'case or validation or degenerate'",
        "spoiled.py",
        "capped.py",
        "test_careful.py",
        "test_depth.py -k 'difference or corners'",
        "test_manifold.py",
        "test_curved.py -k 'closed or floor or patches or root'",
        "test_curvature.py -k 'wrong or ellipsoid'",
        "test_proximity.py",
        "test_rays.py",
        "test_trembling.py -k 'other_ways'",
        "test_rounded.py -k 'pieces or round_as or soft_box or several or would_be_seen or another'",
        "test_broad.py -k 'place or lost or loses or twice'",
        "test_warm.py -k 'trusts or patches'",
        "test_boxes.py -k 'compounds or ends or static'",
        "test_broadphase.py -k 'place or touching'",
        "test_compounds.py -k 'contacts or poses or depth'",
        "test_proximity_object.py",
        "test_cases.py -k 'stands and ab'",
        "test_impact.py -k 'rod or plane or start or errors or motions'",
    ],
)
def test_uncompiled(tests):
    name, _, rest = tests.partition(" ")
    chosen = rest.replace("-k ", "").strip("'")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", f"tests/collision/{name}"]
    command += ["-k", chosen] if chosen else []
    done = subprocess.run(command, cwd=ROOT, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "passed" in done.stdout
