"""Blocks of a crowd: those of a stage share no body that moves, so threads can sweep them at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CODE = """
import sys
from types import SimpleNamespace

import numpy as np

from tumble.sim.impact.crowds import crowd_blocks

if sys.argv[1] == "spoilt":  # as if contacts that join two parts belonged to one of them
    whole = crowd_blocks._block_of
    crowd_blocks._block_of = lambda contacts, local, part, row, halvings: part[max(local[contacts.body[row]])]
random, n, small, many = np.random.default_rng(3), 2400, 40, 9000
x, ends = random.uniform(size=(n, 3)), []
while len(ends) < many:  # neighbours; body 0 does not move; the last bodies are a second, small island
    i = int(random.integers(1, n - small))
    near = np.argsort(np.linalg.norm(x[: n - small] - x[i], axis=1))[1 : 1 + int(random.integers(1, 6))]
    ends += [(i, int(j)) for j in near]
ends = ends[:many] + [(i, i + 1) for i in range(n - small, n - 1)]
bodies, contacts = SimpleNamespace(x=x), SimpleNamespace(body=np.array(ends))
members = np.arange(1, n)
local = np.concatenate([[-1], np.arange(n - 1)])
rows, start = np.arange(len(ends)), np.array([0, many, len(ends)])
blocks = crowd_blocks.blocks_of(bodies, contacts, members, local, rows, start)
assert sorted(rows[:many]) == list(range(many)) and (rows[many:] == np.arange(many, len(ends))).all()
assert sorted(members) == list(range(1, n)) and (local[members] == np.arange(n - 1)).all()
shared, sizes = 0, []
for s in range(len(blocks.stage) - 1):
    seen = set()
    for k in range(blocks.stage[s], blocks.stage[s + 1]):
        of = rows[blocks.contact[k] : blocks.contact[k + 1]]
        assert (np.diff(of) > 0).all()  # in a block contacts keep their order
        held = set(contacts.body[of].ravel().tolist()) - {0}
        shared, seen = shared + len(seen & held), seen | held
        sizes.append(len(of))
print(shared, len(blocks.stage) - 1, blocks.island.tolist(), max(sizes[:-1]), sum(sizes))
"""


@pytest.mark.parametrize("how", ["as it is", "spoilt"])
def test_blocks_of_a_stage_share_no_body(how):
    done = subprocess.run(
        [sys.executable, "-c", CODE, how], cwd=ROOT, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    shared, stages, islands, largest, every = (eval(word) for word in done.stdout.replace(", ", ",").split())
    assert (shared == 0) == (how == "as it is")
    assert stages == 5  # three halvings of the large island, and the small one
    assert islands == [0, 4, 5]
    assert every == 9039
    if shared == 0:
        assert largest < 1500  # of 9000: eight threads have something to do
