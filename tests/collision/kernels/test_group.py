"""Groups of arrays, as kernels take them."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import pytest

import tumble.collision.kernels.group_type  # noqa: F401, compilers know groups by it
from tumble.collision.kernels.group import Group, group


@group
class Table(NamedTuple):
    values: np.ndarray


class Pair(NamedTuple):
    a: Table
    b: Table


@numba.njit
def total(pair, alone):
    return pair.a.values.sum() + 10 * pair.b.values.sum() + 100 * alone.values.sum()


def tables() -> tuple[Table, ...]:
    return tuple(Table(np.array(row)) for row in ([1.0, 2.0], [3.0, 4.0], [5.0, 6.0]))


def test_kernels_read_the_arrays():
    a, b, c = tables()
    assert total(Pair(a, b), c) == 3 + 70 + 1100
    a.values[0] = 2
    assert total(Pair(a, b), c) == 4 + 70 + 1100


@pytest.mark.parametrize("known", [(), (0,), (1, 2), (0, 1)], ids="known {}".format)
def test_ctrl_c_while_arguments_are_handed_over(monkeypatch, known):
    """It ends the call; it used to end the process. ``known``: whose tables were asked for before, and are not again."""
    a, b, c = tables()
    for k in known:
        total(Pair(*[(a, b, c)[k]] * 2), (a, b, c)[k])
    asked = []

    def interrupt(self):
        asked.append(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(Group, "_address", type("Interrupted", (), {"__get__": lambda _, table, kind: interrupt(table)})())
    with pytest.raises(KeyboardInterrupt):
        total(Pair(a, b), c)
    assert len(asked) == 1
    monkeypatch.undo()
    assert total(Pair(a, b), c) == 3 + 70 + 1100
