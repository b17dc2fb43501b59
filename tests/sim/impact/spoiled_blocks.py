"""Blocks of a crowd: those of a stage share no body that moves, so threads can sweep them at once.

Run by tests/sim/test_uncompiled.py, as spoiled.py is.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tumble.sim.impact.crowds import crowd_blocks

BODIES, SMALL, MANY = 2400, 40, 9000  # bodies of both islands, bodies of the small one, contacts of the large one


@pytest.fixture(scope="module")
def crowd() -> tuple[SimpleNamespace, np.ndarray]:
    """(bodies, bodies of each contact): neighbours; body 0 does not move; the last bodies are a second, small island."""
    random, ends = np.random.default_rng(3), []
    x = random.uniform(size=(BODIES, 3))
    while len(ends) < MANY:
        i = int(random.integers(1, BODIES - SMALL))
        near = np.argsort(np.linalg.norm(x[: BODIES - SMALL] - x[i], axis=1))[1 : 1 + int(random.integers(1, 6))]
        ends += [(i, int(j)) for j in near]
    ends = ends[:MANY] + [(i, i + 1) for i in range(BODIES - SMALL, BODIES - 1)]
    return SimpleNamespace(x=x), np.array(ends)


@pytest.mark.parametrize("spoilt", [False, True], ids=["as it is", "spoilt"])
def test_blocks_of_a_stage_share_no_body(spoilt, crowd, monkeypatch):
    """The twin: as if contacts that join two parts belonged to one of them."""
    if spoilt:
        of_one = lambda contacts, local, part, row, halvings: part[max(local[contacts.body[row]])]  # noqa: E731
        monkeypatch.setattr(crowd_blocks, "_block_of", of_one)
    bodies, ends = crowd
    contacts = SimpleNamespace(body=ends.copy())
    members = np.arange(1, BODIES)
    local = np.concatenate([[-1], np.arange(BODIES - 1)])
    rows, start = np.arange(len(ends)), np.array([0, MANY, len(ends)])
    blocks = crowd_blocks.blocks_of(bodies, contacts, members, local, rows, start)
    assert sorted(rows[:MANY]) == list(range(MANY))
    assert (rows[MANY:] == np.arange(MANY, len(ends))).all()
    assert sorted(members) == list(range(1, BODIES))
    assert (local[members] == np.arange(BODIES - 1)).all()
    shared, sizes = 0, []
    for s in range(len(blocks.stage) - 1):
        seen = set()
        for k in range(blocks.stage[s], blocks.stage[s + 1]):
            of = rows[blocks.contact[k] : blocks.contact[k + 1]]
            assert (np.diff(of) > 0).all()  # in a block contacts keep their order
            held = set(contacts.body[of].ravel().tolist()) - {0}
            shared, seen = shared + len(seen & held), seen | held
            sizes.append(len(of))
    assert (shared > 0) == spoilt
    assert len(blocks.stage) - 1 == 5  # three halvings of the large island, and the small one
    assert blocks.island.tolist() == [0, 4, 5]
    assert sum(sizes) == 9039
    assert spoilt or max(sizes[:-1]) < 1500  # of 9000: eight threads have something to do
