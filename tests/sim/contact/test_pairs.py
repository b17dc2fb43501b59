"""The table of candidate pairs when it is made anew inside a step."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]

# Four balls in a row: 1 and 2 are a pair, and 2 and 3; then the box of 0 grows, and 0 and 1 come in before both.
SCRIPT = """
from tumble.collision import Sphere
from tumble.sim import World
from tumble.sim.contact.touching.swept_pairs import update_pairs
from tumble.sim.state import KNOWN

world = World(gravity=(0, 0, 0))
for k in range(4):
    world.add(Sphere(0.1), position=(0.5 * k, 0, 0))
geoms, pairs, joints = world.model.geoms, world.model.pairs, world.model.joints
geoms.lo[:, 1:], geoms.hi[:, 1:] = -0.1, 0.1
geoms.lo[:, 0], geoms.hi[:, 0] = (0, 2, 3, 4.5), (1, 3.5, 5, 6)
update_pairs(geoms, pairs, joints)
print(pairs.geoms[: pairs.count[0]].tolist())
for k, known in enumerate([(0.25, 3.0, 2, 1), (0.5, 7.0, 1, 0)]):
    pairs.search[k] = KNOWN
    pairs.event[k], pairs.speed[k], pairs.hits[k], pairs.rests[k] = known
geoms.hi[0, 0] = 2.5
update_pairs(geoms, pairs, joints)
for k in range(pairs.count[0]):
    known = "known" if pairs.search[k] == KNOWN else "wanted"
    print(pairs.geoms[k].tolist(), known, pairs.event[k], pairs.speed[k], pairs.hits[k], pairs.rests[k])
"""


def test_what_is_known_of_a_pair_stays_with_it():
    """A pair that comes in before others moves their rows: their events, speeds and impacts go along.

    Which of two impacts of the same instant comes first, and which act together, is told by the speeds.
    """
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "[[1, 2], [2, 3]]", "[0, 1] wanted inf 0.0 0 0", "[1, 2] known 0.25 3.0 2 1", "[2, 3] known 0.5 7.0 1 0"
    ]  # fmt: skip
