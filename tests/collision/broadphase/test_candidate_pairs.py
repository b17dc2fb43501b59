"""Candidate pairs against a comparison of all with all."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tumble.collision.broadphase.candidate_pairs import find_box_pairs


def by_brute_force(lo, hi, body, mobile):
    overlap = np.all((lo[:, None] <= hi[None]) & (lo[None] <= hi[:, None]), axis=2)
    overlap &= (body[:, None] != body[None]) & (mobile[:, None] | mobile[None])
    return np.argwhere(np.triu(overlap, 1))


def pairs_of(lo, hi, body, mobile, room=None):
    pairs = np.full((len(lo) ** 2 if room is None else room, 2), -1)
    count = find_box_pairs(lo, hi, body, mobile, pairs)
    return count, pairs[:count]


def boxes(n, seed, spread=1.0, tied=False):
    rng = np.random.default_rng(seed)
    lo = rng.normal(size=(n, 3)) * spread
    if tied:
        lo = np.round(lo)
    size = rng.exponential(0.3, size=(n, 3)) * 10 ** rng.uniform(-2, 1, size=(n, 1))
    hi = lo + (np.round(size) if tied else size)
    return lo, hi, rng.integers(0, max(1, n - n // 4), n), rng.random(n) < 0.7


@settings(deadline=None, derandomize=True, max_examples=150)
@given(st.integers(0, 120), st.integers(0, 10**6), st.floats(0.1, 5), st.booleans(), st.integers(0, 3))
def test_same_as_brute_force(n, seed, spread, tied, endless):
    lo, hi, body, mobile = boxes(n, seed, spread, tied)
    for i in range(min(endless, n)):
        lo[i, i % 3 :] = -np.inf
        hi[i, : i % 2 + 1] = np.inf
    count, pairs = pairs_of(lo, hi, body, mobile)
    expected = by_brute_force(lo, hi, body, mobile)
    assert count == len(expected)
    assert np.array_equal(pairs, expected)  # sorted, too


@pytest.mark.parametrize("n", [2, 24, 25, 26, 33, 100, 1000])
def test_all_in_one_place(n):
    """Equal boxes can not be halved by any plane."""
    lo, hi = np.zeros((n, 3)), np.ones((n, 3))
    count, pairs = pairs_of(lo, hi, np.arange(n), np.ones(n, bool))
    assert count == n * (n - 1) // 2
    assert np.array_equal(pairs, np.argwhere(np.triu(np.ones((n, n)), 1)))


@pytest.mark.parametrize("n", [10, 200])
def test_too_little_room_gives_the_true_count(n):
    lo = np.random.default_rng(0).random((n, 3)) * 1.5
    hi = lo + 1
    body, mobile = np.arange(n), np.ones(n, bool)
    need = len(by_brute_force(lo, hi, body, mobile))
    assert need > 3
    guard = np.full((4, 2), -7)
    assert find_box_pairs(lo, hi, body, mobile, guard[:3]) == need
    assert (guard[3] == -7).all()
    assert pairs_of(lo, hi, body, mobile, room=need)[0] == need
    assert find_box_pairs(lo, hi, body, mobile, np.empty((0, 2), np.int64)) == need


def test_touching_counts():
    lo = np.array([[0.0, 0, 0], [1, 1, 1], [1 + 1e-12, 0, 0]])
    hi = lo + 1
    assert pairs_of(lo, hi, np.arange(3), np.ones(3, bool))[1].tolist() == [[0, 1], [1, 2]]


def test_cost_grows_nearly_linearly():
    """From 1000 to 30,000 boxes in a cube, in processor time: n log n is 45 times, all with all 900 times."""
    times = []
    for n in (1000, 30000):
        pairs = np.empty((5 * n, 2), np.int64)
        best = np.inf
        for seed in range(12):  # each with boxes of its own: the branches of a small crowd are soon known by heart
            x = np.random.default_rng(seed).random((n, 3)) * n ** (1 / 3) * 1.2
            start = time.thread_time()
            count = find_box_pairs(x, x + 1, np.arange(n), np.ones(n, bool), pairs)
            best = min(best, time.thread_time() - start)
            assert n < count < 5 * n
        times.append(best)
    assert times[1] < 90 * times[0]
