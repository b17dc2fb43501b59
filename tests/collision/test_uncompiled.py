"""The kernels as plain Python: the same tests must pass where Numba compiles nothing.

A division by zero raises there, an index runs out, an undefined name is found; compiled code shows none of it. The tests
that spoil a kernel on purpose also live there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


TESTS = {  # programs, and what each runs: files, and which of their tests
    "of distances": (
        ("test_narrowphase.py", "(case and not 10000) or validation or degenerate"),
        ("distance/test_exact_hull.py", ""),
        ("distance/test_epa.py", "difference or corners"),
        ("contact/test_manifold.py", ""),
        ("pairs/test_curved.py", "closed or floor or patches or root"),
        ("contact/test_curvature.py", "wrong or ellipsoid"),
        ("queries/test_proximity.py", ""),
        ("queries/test_ray_casts.py", ""),
        ("contact/test_trembling.py", "other_ways"),
    ),
    "that spoil, and of many shapes": (
        ("spoiled.py", ""),
        ("capped.py", ""),
        ("shapes/test_rounded.py", "pieces or round_as or soft_box or several or would_be_seen or another"),
        ("broadphase/test_dynamic_broadphase.py", "place or lost or loses or twice"),
        ("contact/test_warm_start.py", "trusts or patches"),
        ("broadphase/test_bounding_boxes.py", "compounds or ends or static"),
        ("broadphase/test_candidate_pairs.py", "(place and not 1000) or touching"),
        ("shapes/test_compounds.py", "contacts or poses or depth"),
        ("queries/test_proximity_object.py", ""),
        ("test_cases.py", "stands and ab"),
        ("queries/test_time_of_impact.py", "rod or plane or start or errors or motions"),
    ),
}
RUN = """
import json, sys, pytest

class Passed:
    count = 0

    def pytest_runtest_logreport(self, report):
        self.count += report.passed and report.when == "call"

for name, chosen in json.loads(sys.argv[1]):
    passed = Passed()
    words = ["-q", "-x", "-p", "no:cacheprovider", f"tests/collision/{name}", *(["-k", chosen] if chosen else [])]
    code = pytest.main(words, [passed])
    if code or not passed.count:
        sys.exit(f"{name}: exit code {int(code)}, {passed.count} passed")
"""


@pytest.mark.slow
@pytest.mark.parametrize("which", TESTS)
def test_uncompiled(which):
    """Several files by one program: half of the time of each was that of its start."""
    command = [sys.executable, "-c", RUN, json.dumps(TESTS[which])]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
