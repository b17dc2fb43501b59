"""Contact points and times of impact of the last call, for pairs that have hardly moved since.

A pair that has not moved gets its last answer again. A pair needs no search either if it was apart, and is still apart along the
normal of the last answer by more than any search could be off. Everything else is found anew, without the last answer as a start.
So contact points, and times and kinds of impact, are the same bits with a cache and without.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tumble.collision.geometry import HALFSPACE
from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import dot, mul_t, neg, norm, sub
from tumble.collision.shapes.support_functions import reach
from tumble.collision.shapes.support_points import inflation

SURELY_APART = 1e-6  # of the size: shapes that are apart by so much more than what matters are found apart by every search


class Kept(NamedTuple):
    """The last call: its shapes, its pairs of pieces in rising order, and the columns of their inputs and outputs."""

    about: tuple
    row: np.ndarray
    inputs: Sequence[np.ndarray]
    outputs: Sequence[np.ndarray]


def recall(kept: Kept | None, about: tuple, row: np.ndarray, inputs: list, outputs: Sequence) -> tuple[np.ndarray, list]:
    """(known (m,), old inputs): which pairs the last call knew, their outputs copied into ``outputs``."""
    if kept is None or kept.about != about or not len(kept.row):
        return np.zeros(len(row), bool), inputs
    old = [np.zeros_like(column) for column in inputs]
    at = np.minimum(np.searchsorted(kept.row, row), len(kept.row) - 1)
    known = kept.row[at] == row
    for columns, before in ((old, kept.inputs), (outputs, kept.outputs)):
        for column, last in zip(columns, before, strict=True):
            column[known] = last[at[known]]
    return known, old


@lean
def same(now, old, k):
    """Are two rows the same numbers?"""
    for i in range(now.shape[1]):  # noqa: SIM110 (no generator in a kernel)
        if now[k, i] != old[k, i]:
            return False
    return True


@lean
def apart(g, a, xa, ra, b, xb, rb, n):
    """(separation of two shapes along the unit vector n, their size); nothing is said of half-spaces, which have no end."""
    if g.kind[a] == HALFSPACE or g.kind[b] == HALFSPACE:
        return -1.0, 0.0
    t = sub(xb, xa)
    gap = dot(n, t) - reach(g, b, neg(mul_t(rb, n))) - reach(g, a, mul_t(ra, n)) - inflation(g, a) - inflation(g, b)
    return gap - g.slack[a] - g.slack[b], g.radius[a] + g.radius[b] + norm(t)


@lean
def still_apart(g, a, xa, ra, b, xb, rb, n, margin):
    """Is it certain that a search finds the shapes further apart than the margin?"""
    gap, size = apart(g, a, xa, ra, b, xb, rb, n)
    return gap > max(margin, 0.0) + SURELY_APART * size


@lean
def still_missing(g, a, xa, ra, va, wa, ca, b, xb, rb, vb, wb, cb, n, duration, tolerance):
    """Is it certain that a search finds no impact? The gap along n closes no faster than by the speeds and the most that turning
    adds."""
    gap, size = apart(g, a, xa, ra, b, xb, rb, n)
    way = max(-dot(n, sub(vb, va)), 0.0) * duration
    if gap > way:  # not so of half-spaces, which have no radius
        way += min(norm(wa) * duration, 2.0) * (g.radius[a] + norm(ca))
        way += min(norm(wb) * duration, 2.0) * (g.radius[b] + norm(cb))
    return gap - way > tolerance + SURELY_APART * size
