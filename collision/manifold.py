"""Rows of a contact manifold, and the choice of a few points out of many."""

from __future__ import annotations

import math

import numpy as np

from collision.geometry import SHARP
from collision.linalg import axpy, load3, norm, orthonormal, sub
from collision.support import inner

MOST = 8  # points of a manifold


@inner
def put(rows, ids, k, x, gap, dir_a, along_a, across_a, dir_b, along_b, across_b, name):
    """Write point k: position, gap, tangent and curvatures of A, the same of B."""
    for i in range(3):
        rows[k, i] = x[i]
        rows[k, 4 + i] = dir_a[i]
        rows[k, 9 + i] = dir_b[i]
    rows[k, 3] = gap
    rows[k, 7] = along_a
    rows[k, 8] = across_a
    rows[k, 12] = along_b
    rows[k, 13] = across_b
    ids[k] = name


@inner
def swap_rows(rows, count):
    """Make the rows of (B, A) those of (A, B): the curvatures change places; n turns about, which no row shows."""
    for k in range(count):
        for i in range(4, 9):
            rows[k, i], rows[k, i + 5] = rows[k, i + 5], rows[k, i]


@inner
def choose(points, gaps, count, order):
    """Order of the points to keep, at most `MOST`: the deepest, then always the one furthest from all chosen.

    Returns their number. The places come out ascending, so that a set that does not change keeps its order.
    """
    if count <= MOST:
        for i in range(count):
            order[i] = i
        return count
    first = 0
    for i in range(count):
        if gaps[i] < gaps[first]:
            first = i
    order[0] = first
    far = np.empty(count)
    for i in range(count):
        far[i] = norm(sub(load3(points, i), load3(points, first)))
    for k in range(1, MOST):
        best = 0
        for i in range(count):
            if far[i] > far[best] * (1.0 + 1e-9):
                best = i
        order[k] = best
        for i in range(count):
            far[i] = min(far[i], norm(sub(load3(points, i), load3(points, best))))
    for i in range(1, MOST):  # insertion sort
        x = order[i]
        j = i
        while j > 0 and order[j - 1] > x:
            order[j] = order[j - 1]
            j -= 1
        order[j] = x
    return MOST


@inner
def put_patch(points, gaps, names, count, toward, origin, n, side, rows, ids):
    """Rows for the points of a face on a vertex, edge or face.

    ``points`` lie on the body that is not the reference, relative to ``origin``; ``toward`` is the unit vector from
    them to the plane of the reference face times its sign of gap, so that x + gap/2 toward is the middle.
    ``side``: 0 where the reference face is A's, 1 where it is B's. ``n``: normal from A to B. Returns the count.
    """
    order = np.empty(MOST, np.int64)
    kept = choose(points, gaps, count, order)
    tangent, _ = orthonormal(n)
    flat_a = 0.0 if side == 0 else SHARP
    flat_b = SHARP if side == 0 else 0.0
    for k in range(kept):
        i = order[k]
        x = axpy(0.5 * gaps[i], toward, load3(points, i))
        middle = (origin[0] + x[0], origin[1] + x[1], origin[2] + x[2])
        name = names[i] | side << 60
        put(rows, ids, k, middle, gaps[i], tangent, flat_a, flat_a, tangent, flat_b, flat_b, name)
    return kept


@inner
def deepest(gaps, count):
    """Least gap; inf for none."""
    least = math.inf
    for i in range(count):
        least = min(least, gaps[i])
    return least
