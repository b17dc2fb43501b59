"""A short run of benchmarks/fuzz.py, and answers spoiled on purpose, which it must notice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.exact import holds
from benchmarks.fuzz import exact_faults, faults, run, some_pairs
from collision import signed_distances

POINTS = ("witness of A outside", "witness of B outside")  # of thin bodies; the distance is right all the same


def test_no_wrong_distance():
    found = run(4000, seed=11, exact=2, show=lambda *_: None)
    assert found["pairs"] == 4000
    assert {k: n for k, n in found["wrong"].items() if not k.endswith(POINTS)} == {}
    assert sum(found["wrong"].values()) <= 8
    assert found["uncertain"] <= 1e-3
    assert found["exact"] >= 2


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
    compared, wrong = exact_faults(pairs, found, 2)
    assert (compared, wrong) == (2, [])
    assert len(exact_faults(pairs, replace(found, lower=found.lower + 1e-3, upper=found.upper + 1e-3), 2)[1]) == 2


def test_holds():
    assert holds((1.0, 1.0), 1, 1)
    assert holds((-2.0, -1.0), -1, 4)
    assert not holds((-2.0, -1.0), 1, 1)
    assert holds((-1e-300, 1e-300), 0, 0)
