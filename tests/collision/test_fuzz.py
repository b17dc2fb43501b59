"""A short run of benchmarks/fuzz.py, and answers spoiled on purpose, which it must notice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.exact import holds, signed_square, square_by_hull
from benchmarks.fuzz import exact_faults, faults, run, some_pairs
from tumble.collision import signed_distances


def test_nothing_wrong_and_nothing_uncertain():
    found = run(4000, seed=11, exact=20, show=lambda *_: None)
    assert found["pairs"] == 4000
    assert found["wrong"] == {}
    assert found["uncertain"] == 0
    assert found["exact"] == 40


@pytest.mark.parametrize(("field", "change"), [("lower", 1e-6), ("upper", -1e-6), ("point_b", 1e-6), ("normal", 1e-6)])
def test_spoiled_answers_are_noticed(field, change):
    rng = np.random.default_rng(5)
    pairs = some_pairs(rng, 200)
    found = signed_distances(*pairs)
    spoiled = replace(found, **{field: getattr(found, field) + change})
    missed = faults(pairs, found, rng)
    noticed = faults(pairs, spoiled, rng)
    assert sum(rows.sum() for rows in noticed.values()) > sum(rows.sum() for rows in missed.values()) + 50


def test_exact_arithmetic_notices_a_shifted_interval():
    pairs = some_pairs(np.random.default_rng(6), 400)
    found = signed_distances(*pairs)
    compared, wrong = exact_faults(pairs, found, 20)
    assert (compared, wrong) == (20, [])
    assert len(exact_faults(pairs, replace(found, lower=found.lower + 1e-3, upper=found.upper + 1e-3), 20)[1]) == 20


def test_holds():
    assert holds((1.0, 1.0), 1, 1)
    assert holds((-2.0, -1.0), -1, 4)
    assert not holds((-2.0, -1.0), 1, 1)
    assert holds((-1e-300, 1e-300), 0, 0)


def test_two_ways_of_exact_arithmetic_agree():
    """All pairs of features, and the hull of all differences: the same signs and squares, to the last digit."""
    shapes, a, b, x, q, y, p = some_pairs(np.random.default_rng(7), 400)
    g = shapes.geometry
    count = g.vertex[:, 1] - g.vertex[:, 0]
    solid = (g.rank[a] == 3) & (g.rank[b] == 3)
    signs = []
    for k in np.flatnonzero(solid & (count[a] <= 6) & (count[b] <= 6))[:6]:
        bodies = g.vertices[slice(*g.vertex[a[k]])], (x[k], q[k]), g.vertices[slice(*g.vertex[b[k]])], (y[k], p[k])
        signs.append(signed_square(*bodies)[0])
        assert square_by_hull(*bodies) == signed_square(*bodies)
    assert {-1, 1} <= set(signs)
