"""Candidate pairs: which bounding boxes overlap.

A balanced tree of boxes, built anew at each call by halving the set along its widest axis: O(n log n) whatever the
sizes and their spread, and no state between steps. Boxes without end (half-spaces) stay out of the tree and are
compared with all. The pairs come out sorted, so their order depends on the numbering alone.
"""

from __future__ import annotations

import math

import numpy as np

from collision.halving import halve
from collision.jit import far, inner, kernel

FEW = 24  # up to so many boxes, comparing all with all is quicker


@kernel
def find_pairs(lo, hi, body_of, mobile, pairs):
    """Write the pairs (i, j), i < j, of overlapping boxes into ``pairs`` (m, 2) int64, sorted; the number of pairs.

    lo, hi: (n, 3) corners [m], +-inf allowed, touching counts; body_of: (n,) int, pairs of one body are left out;
    mobile: (n,) bool, pairs of two immobile boxes are left out. The number returned is the true one, also where it
    exceeds m: then ``pairs`` holds nothing of use, and the caller grows it and calls again.
    """
    n = lo.shape[0]
    if n <= FEW:
        return _all_with_all(lo, hi, body_of, mobile, pairs)
    order = np.empty(n, np.int64)
    bounded = 0
    unbounded = n
    for i in range(n):
        finite = True
        for k in range(3):
            finite = finite and lo[i, k] > -math.inf and hi[i, k] < math.inf
        if finite:
            order[bounded] = i
            bounded += 1
        else:
            unbounded -= 1
            order[unbounded] = i
    count = _unbounded_pairs(lo, hi, body_of, mobile, order, bounded, pairs)
    if bounded > 1:
        count = _tree_pairs(lo, hi, body_of, mobile, order, bounded, pairs, count)
    if count <= pairs.shape[0]:
        _sort(pairs, count, n)
    return count


@inner
def _overlap(lo, hi, i, j):
    return (
        lo[i, 0] <= hi[j, 0]
        and lo[j, 0] <= hi[i, 0]
        and lo[i, 1] <= hi[j, 1]
        and lo[j, 1] <= hi[i, 1]
        and lo[i, 2] <= hi[j, 2]
        and lo[j, 2] <= hi[i, 2]
    )


@inner
def _put(pairs, count, i, j):
    if count < pairs.shape[0]:
        pairs[count, 0] = min(i, j)
        pairs[count, 1] = max(i, j)
    return count + 1


@inner
def _all_with_all(lo, hi, body_of, mobile, pairs):
    n = lo.shape[0]
    count = 0
    for i in range(n):
        for j in range(i + 1, n):
            if (mobile[i] or mobile[j]) and body_of[i] != body_of[j] and _overlap(lo, hi, i, j):
                count = _put(pairs, count, i, j)
    return count


@inner
def _unbounded_pairs(lo, hi, body_of, mobile, order, bounded, pairs):
    """Pairs with at least one unbounded box, order[bounded:]."""
    n = lo.shape[0]
    count = 0
    for a in range(bounded, n):
        i = order[a]
        for b in range(a):
            j = order[b]
            if (mobile[i] or mobile[j]) and body_of[i] != body_of[j] and _overlap(lo, hi, i, j):
                count = _put(pairs, count, i, j)
    return count


@inner
def _tree_pairs(lo, hi, body_of, mobile, order, n, pairs, count):
    """Pairs among the bounded boxes order[:n].

    Nodes stand in preorder; ``skip`` is the node to go on with where a node is missed, so that no stack is needed. What
    follows a box in the tree stands behind its leaf: looking there alone finds each pair once.
    """
    most = 2 * n
    start, stop, skip = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    nodes = halve(lo, hi, order, n, start, stop)
    # the boxes once more in the order of the tree, so that neighbours in space are neighbours in memory
    low, high = np.empty((n, 3)), np.empty((n, 3))
    body, moves, leaf = np.empty(n, np.int64), np.empty(n, np.bool_), np.empty(n, np.int64)
    for a in range(n):
        i = order[a]
        for k in range(3):
            low[a, k] = lo[i, k]
            high[a, k] = hi[i, k]
        body[a] = body_of[i]
        moves[a] = mobile[i]
    box, lively = np.empty((most, 6)), np.empty(most, np.bool_)
    _bound(low, high, moves, nodes, start, stop, skip, box, lively, leaf)
    for a in range(n):
        x0, y0, z0, x1, y1, z1 = low[a, 0], low[a, 1], low[a, 2], high[a, 0], high[a, 1], high[a, 2]
        node = leaf[a]
        first = a + 1
        while node < nodes:
            if first <= a and (
                not (moves[a] or lively[node])
                or box[node, 0] > x1
                or box[node, 3] < x0
                or box[node, 1] > y1
                or box[node, 4] < y0
                or box[node, 2] > z1
                or box[node, 5] < z0
            ):
                node = skip[node]
                continue
            for b in range(max(first, start[node]), stop[node]):  # empty but at a leaf
                if (moves[a] or moves[b]) and body[a] != body[b] and _overlap(low, high, a, b):
                    count = _put(pairs, count, order[a], order[b])
            first = 0
            node += 1
    return count


@inner
def _bound(low, high, moves, nodes, start, stop, skip, box, lively, leaf):
    """The boxes of the nodes from the last to the first, whether a mobile box is in them, and the leaf of each box."""
    for node in range(nodes - 1, -1, -1):
        if stop[node] > start[node]:
            skip[node] = node + 1
            lively[node] = False
            for k in range(3):
                box[node, k], box[node, k + 3] = math.inf, -math.inf
            for a in range(start[node], stop[node]):
                leaf[a] = node
                lively[node] = lively[node] or moves[a]
                for k in range(3):
                    box[node, k] = min(box[node, k], low[a, k])
                    box[node, k + 3] = max(box[node, k + 3], high[a, k])
        else:  # the first half is the next node, and the second follows it
            second = skip[node + 1]
            skip[node] = skip[second]
            lively[node] = lively[node + 1] or lively[second]
            for k in range(3):
                box[node, k] = min(box[node + 1, k], box[second, k])
                box[node, k + 3] = max(box[node + 1, k + 3], box[second, k + 3])


@inner
def _sort(pairs, count, n):
    """Sort pairs[:count] by (i, j): two stable counting sorts."""
    other = np.empty((count, 2), np.int64)
    place = np.empty(n + 1, np.int64)
    for key in (1, 0):
        source, target = (pairs, other) if key == 1 else (other, pairs)
        place[:] = 0
        for a in range(count):
            place[source[a, key] + 1] += 1
        for i in range(n):
            place[i + 1] += place[i]
        for a in range(count):
            k = place[source[a, key]]
            place[source[a, key]] += 1
            target[k, 0] = source[a, 0]
            target[k, 1] = source[a, 1]


find_pairs_far = far(
    find_pairs,
    lambda: (np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0, np.int64), np.zeros(0, np.bool_), np.zeros((0, 2), np.int64)),
)
