"""Sets of boxes halved again and again along their widest axis: the trees of the broad phase and of grounds."""

from __future__ import annotations

import math

import numpy as np

from collision.jit import inner

LEAF = 4  # boxes in a leaf


@inner
def halve(lo, hi, order, n, start, stop):
    """Permute order[:n] by halving it again and again along the widest axis; the number of nodes, in preorder.

    Leaves have ranges [start, stop) of the order, the others empty ones.
    """
    center = np.empty((n, 3))  # twice the centres; they change places along with the order, to be read in a row
    for a in range(n):
        for k in range(3):
            center[a, k] = lo[order[a], k] + hi[order[a], k]
    todo = np.empty((64, 2), np.int64)  # halves wait here: the depth is log2(n) at most
    todo[0, 0] = 0
    todo[0, 1] = n
    waiting = 1
    nodes = 0
    while waiting > 0:
        waiting -= 1
        first, last = todo[waiting, 0], todo[waiting, 1]
        start[nodes], stop[nodes] = 0, 0
        if last - first <= LEAF:
            start[nodes], stop[nodes] = first, last
        else:
            middle = (first + last) // 2
            _select(center, _widest(center, first, last), order, first, last - 1, middle)
            todo[waiting, 0] = middle
            todo[waiting, 1] = last
            todo[waiting + 1, 0] = first
            todo[waiting + 1, 1] = middle
            waiting += 2
        nodes += 1
    return nodes


@inner
def _widest(center, first, last):
    """The axis along which the centres spread most."""
    u0, v0, w0 = math.inf, math.inf, math.inf
    u1, v1, w1 = -math.inf, -math.inf, -math.inf
    for a in range(first, last):
        u, v, w = center[a, 0], center[a, 1], center[a, 2]
        u0, u1 = min(u0, u), max(u1, u)
        v0, v1 = min(v0, v), max(v1, v)
        w0, w1 = min(w0, w), max(w1, w)
    if u1 - u0 >= v1 - v0 and u1 - u0 >= w1 - w0:
        return 0
    return 1 if v1 - v0 >= w1 - w0 else 2


@inner
def _select(center, axis, order, left, right, middle):
    """Hoare's quickselect: permute order[left:right + 1] so that centres before ``middle`` are not above those after."""
    while left < right:
        pivot = center[(left + right) // 2, axis]
        a, b = left, right
        while a <= b:
            while center[a, axis] < pivot:
                a += 1
            while center[b, axis] > pivot:
                b -= 1
            if a <= b:
                order[a], order[b] = order[b], order[a]
                for k in range(3):
                    center[a, k], center[b, k] = center[b, k], center[a, k]
                a += 1
                b -= 1
        if middle <= b:
            right = b
        elif middle >= a:
            left = a
        else:
            return
