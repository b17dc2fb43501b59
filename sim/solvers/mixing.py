"""Anderson's method: a fixed point x = g(x) from what its last iterations have shown.

A look ahead flies the bodies with a guess x of the impulses and returns a better one, g(x). To put g(x) in the place of x again
and again shrinks the error by a fixed factor each time. For joints of light, fast bodies this factor is close to one, or above
it, so that plain substitution is slow or never ends. Anderson's method learns from the iterates it has seen.

Let f = g(x) - x, which is zero at the solution. From each iterate to the next f and g change by df and dg. The method finds the
combination of the last df that, taken from f, leaves the least, and takes the same combination of the dg from g(x): this is the
next x. If g is linear, these are the iterates of GMRES (Walker, Ni, SIAM J. Numer. Anal. 49 (2011) 1715).

The df are kept orthogonal to each other, and the dg in the same combinations. So the part of each is found by one product of
vectors, without a system of equations, and the oldest can be dropped.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tumble.collision.kernels.group import owning_group
from tumble.collision.kernels.jit import inner, lean
from tumble.collision.linalg import copy_table

REMEMBERED = 8  # changes that are remembered
DEPENDENT = 1e-6  # a change of which less than this part is orthogonal to the others tells nothing new, and is not used


@owning_group
class History(NamedTuple):
    """What is known of the last iterations, of n rows of six numbers each."""

    f: np.ndarray  # (n, 6) the last f
    g: np.ndarray  # (n, 6) the last g
    df: np.ndarray  # (REMEMBERED, n, 6) orthogonal changes of f
    dg: np.ndarray  # (REMEMBERED, n, 6) the same combinations of the changes of g
    size: np.ndarray  # (REMEMBERED,) squared lengths of the changes of f; 0: none
    count: np.ndarray  # (1,) iterations since the last start


@inner
def no_history(n):
    return History(
        np.zeros((n, 6)), np.zeros((n, 6)), np.zeros((REMEMBERED, n, 6)), np.zeros((REMEMBERED, n, 6)),
        np.zeros(REMEMBERED), np.zeros(1, dtype=np.int64),
    )  # fmt: skip


@lean
def forget(history):
    """Start anew: the function is another one from now on."""
    history.count[0] = 0
    for k in range(REMEMBERED):
        history.size[k] = 0.0


@lean
def mix(history, x, g):
    """The next iterate, written into ``x`` (n, 6), from the last one there and its image ``g`` (n, 6), which is spoilt."""
    rows, count = len(g), history.count[0]
    if count > 0:
        k = (count - 1) % REMEMBERED
        q, e = history.df[k], history.dg[k]
        for i in range(rows):
            for r in range(6):
                q[i, r], e[i, r] = g[i, r] - x[i, r] - history.f[i, r], g[i, r] - history.g[i, r]
        length = _product(q, q)
        history.size[k] = 0.0
        for _twice in range(2):  # the second time takes what rounding left
            for j in range(REMEMBERED):
                _reduce(history.df[j], history.dg[j], history.size[j], q, e)
        left = _product(q, q)
        if left > DEPENDENT * DEPENDENT * length:
            history.size[k] = left
    history.count[0] += 1
    for i in range(rows):
        for r in range(6):
            history.f[i, r], history.g[i, r] = g[i, r] - x[i, r], g[i, r]
            x[i, r] = g[i, r] - x[i, r]
    for j in range(REMEMBERED):
        _reduce(history.df[j], history.dg[j], history.size[j], x, g)
    copy_table(g, x)


@lean
def _product(a, b):
    total = 0.0
    for i in range(len(a)):
        for r in range(6):
            total += a[i, r] * b[i, r]
    return total


@lean
def _reduce(q, e, size, f, g):
    """Take from f what it has of q, and from g as much of e."""
    if size == 0.0:
        return
    c = _product(q, f) / size
    for i in range(len(f)):
        for r in range(6):
            f[i, r] -= c * q[i, r]
            g[i, r] -= c * e[i, r]
