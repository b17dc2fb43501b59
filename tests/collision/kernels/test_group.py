"""Groups of arrays, as kernels take them."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba.core.runtime import _nrt_python as _nrt

import tumble.collision.kernels.group_type  # noqa: F401, compilers know groups by it
from tumble.collision.kernels.group import Group, group, owning_group


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


@owning_group
class Inside(NamedTuple):
    values: np.ndarray


@owning_group
class Made(NamedTuple):
    values: np.ndarray
    places: np.ndarray  # of another type, and more axes
    inside: Inside


@numba.njit
def made(n):
    return Made(np.full(n, 2.0), np.ones((n, 3), np.int64), Inside(np.arange(n) + 0.5))


@numba.njit
def written_over(n):
    """Arrays of a group, read after the group's own last use, when memory was asked for anew."""
    values, places, inside = made(n).values, made(n).places, made(n).inside
    others = [np.full(n, 7.0) for _ in range(6)]
    return values.sum() + places.sum() + inside.values.sum() + 0.0 * others[3][0]


@numba.njit(_nrt=False)
def lean_total(made):
    total = 0.0
    for k in range(len(made.values)):
        total += made.values[k] + made.places[k, 2] + made.inside.values[k]
    return total


@numba.njit
def changed(given):
    """A group of the arrays of another one: they are the same arrays."""
    other = Made(given.values, given.places, given.inside)
    other.inside.values[0] = 100.0
    return lean_total(other) + lean_total(given)


def test_groups_that_kernels_make_own_their_arrays():
    assert written_over(4) == 4 * 2 + 12 + 8
    stats = _nrt.memsys_get_stats_alloc, _nrt.memsys_get_stats_free, _nrt.memsys_get_stats_mi_alloc, _nrt.memsys_get_stats_mi_free
    _nrt.memsys_enable_stats()
    try:
        before = [count() for count in stats]
        for _ in range(10):
            written_over(4)
        allocated, freed, blocks, ended = (count() - b for count, b in zip(stats, before, strict=True))
    finally:
        _nrt.memsys_disable_stats()
    assert allocated == freed >= blocks == ended >= 10 * 3 * 5  # three groups of three arrays and one inside, and more


def test_such_a_group_of_python():
    given = Made(np.full(2, 2.0), np.ones((2, 3), np.int64), Inside(np.array([0.5, 1.5])))
    assert lean_total(given) == 4 + 2 + 2
    assert changed(given) == 2 * (4 + 2 + 101.5)
    assert given.inside.values[0] == 100.0
