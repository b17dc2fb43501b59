"""Elimination in panels of four rows: it solves the system, and does what elimination row by row does, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from tumble.collision.kernels.jit import kernel
from tumble.sim.solvers.lanes import LANES
from tumble.sim.solvers.skyline import entry_at, factor_skyline, solve_skyline


@kernel
def _solve(first, at, table, x):
    factor_skyline(first, at, table)
    solve_skyline(first, at, table, x)


@kernel
def _place(first, at, row, column):
    return entry_at(first, at, row, column)


def _system(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Lower triangle of a positive definite matrix, zero before a column of each row that is drawn; and a right-hand side."""
    rng = np.random.default_rng(seed)
    lower = np.tril(rng.normal(scale=0.3, size=(n, n)), -1) + np.diag(rng.uniform(8, 12, n))
    lower[np.arange(n) < (np.arange(n) - rng.integers(0, 24, n))[:, None]] = 0.0
    return lower, rng.normal(size=n)


def _in_panels(lower: np.ndarray, b: np.ndarray) -> np.ndarray:
    n = len(b)
    begins = (lower != 0).argmax(axis=1)
    first = np.array([begins[k : k + LANES].min() // LANES for k in range(0, n, LANES)])
    at = np.cumsum([0, *(LANES * (np.arange(len(first)) - first + 1))])
    table, x = np.zeros((at[-1], LANES)), np.zeros((len(first), LANES))
    for i in range(n):
        for k in range(begins[i], i + 1):
            table[_place(first, at, i, k)] = lower[i, k]
    x.flat[:n] = b
    _solve(first, at, table, x)
    return x.reshape(-1)[:n]


def _row_by_row(lower: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, x, n = lower.tolist(), b.tolist(), len(b)
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i][j] -= a[i][k] * a[j][k]
        for j in range(i):
            left = a[i][j] * a[j][j]
            a[i][i] -= left * a[i][j]
            a[i][j] = left
        a[i][i] = 1.0 / a[i][i]
    for i in range(n):
        for j in range(i):
            x[i] -= a[i][j] * x[j]
    x = [x[i] * a[i][i] for i in range(n)]
    for i in reversed(range(n)):
        for j in range(i):
            x[j] -= a[i][j] * x[i]
    return np.array(x)


@pytest.mark.parametrize("n", [1, 3, 4, 5, 8, 39, 48, 61])
def test_panels_solve_as_row_by_row(n: int) -> None:
    lower, b = _system(n, n)
    x = _in_panels(lower, b)
    assert np.array_equal(x, _row_by_row(lower, b))
    whole = lower + np.tril(lower, -1).T
    assert abs(whole @ x - b).max() < 1e-13
    assert n == 1 or abs(lower @ x - b).max() > 1e-3  # what lies above the diagonal tells
