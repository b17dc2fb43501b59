"""Sets of boxes halved again and again along their widest axis: the trees of the broad phase and of grounds."""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.kernels.jit import inner, lean, stack_table

LEAF = 4  # boxes in a leaf
_room = stack_table(64, 2, "int64")


@inner
def halve(lo, hi, order, n, start, stop):
    """Permute order[:n] by halving it again and again along the widest axis; the number of nodes, in preorder.

    Leaves have ranges [start, stop) of the order, the others empty ones.
    """
    center, node = np.empty((n, 3)), np.empty((2 * n + 1, 2), np.int64)
    put_centers(lo, hi, order, n, center)
    nodes = halve_range(center, order, 0, n, node, 0)
    for k in range(nodes):
        start[k], stop[k] = node[k, 0], node[k, 1]
    return nodes


@lean
def put_centers(lo, hi, order, n, center):
    """Twice the centres of boxes; they change places along with the order, to be read in a row."""
    for a in range(n):
        for k in range(3):
            center[a, k] = lo[order[a], k] + hi[order[a], k]


@lean
def halve_range(center, order, first, last, node, nodes):
    """Halve order[first:last] to leaves. Nodes go to rows from ``nodes`` on, their ranges to columns 0 and 1; the row behind."""
    todo = _room()  # halves wait here: the depth is log2(n) at most
    todo[0, 0] = first
    todo[0, 1] = last
    waiting = 1
    while waiting > 0:
        waiting -= 1
        first, last = todo[waiting, 0], todo[waiting, 1]
        node[nodes, 0], node[nodes, 1] = 0, 0
        if last - first <= LEAF:
            node[nodes, 0], node[nodes, 1] = first, last
        else:
            middle = halve_once(center, order, first, last)
            todo[waiting, 0] = middle
            todo[waiting, 1] = last
            todo[waiting + 1, 0] = first
            todo[waiting + 1, 1] = middle
            waiting += 2
        nodes += 1
    return nodes


@lean
def nodes_of(n):
    """How many nodes the tree of n boxes has. The nodes of a level hold ``size`` boxes, or one more."""
    nodes, size, few, many = 0, n, 1, 0
    while size > LEAF:
        nodes += few + many
        few, many = (2 * few + many, many) if size % 2 == 0 else (few, few + 2 * many)
        size //= 2
    return nodes + few + many + (2 * many if size == LEAF else 0)


@lean
def halve_once(center, order, first, last):
    """Halve order[first:last] along its widest axis; where the second half begins."""
    middle = (first + last) // 2
    _select(center, _widest(center, first, last), order, first, last - 1, middle)
    return middle


@lean
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


@lean
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
