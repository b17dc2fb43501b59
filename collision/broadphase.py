"""Candidate pairs: which bounding boxes overlap.

A balanced tree of boxes, built anew at each call by halving the set along its widest axis: O(n log n) whatever the
sizes and their spread, and no state between steps. Boxes without end (half-spaces) stay out of the tree and are
compared with all. The pairs come out sorted, so their order depends on the numbering alone.
"""

from __future__ import annotations

import math

import numpy as np

from collision.jit import far, inner, kernel

LEAF = 4  # boxes in a leaf
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

    Nodes stand in preorder; ``skip`` is the node to go on with where a node is missed, so that no stack is needed.
    """
    most = 2 * n
    box = np.empty((most, 6))
    start = np.empty(most, np.int64)
    stop = np.empty(most, np.int64)
    skip = np.empty(most, np.int64)
    nodes = _build(lo, hi, order, n, box, start, stop, skip)
    for a in range(n):
        i = order[a]
        if not mobile[i]:
            continue  # found from its mobile partner
        x0, y0, z0, x1, y1, z1 = lo[i, 0], lo[i, 1], lo[i, 2], hi[i, 0], hi[i, 1], hi[i, 2]
        node = 0
        while node < nodes:
            if (
                box[node, 0] > x1
                or box[node, 3] < x0
                or box[node, 1] > y1
                or box[node, 4] < y0
                or box[node, 2] > z1
                or box[node, 5] < z0
            ):
                node = skip[node]
                continue
            for b in range(start[node], stop[node]):  # empty but at a leaf
                j = order[b]
                if (j > i or not mobile[j]) and body_of[i] != body_of[j] and _overlap(lo, hi, i, j):
                    count = _put(pairs, count, i, j)
            node += 1
    return count


@inner
def _build(lo, hi, order, n, box, start, stop, skip):
    """The tree over order[:n], which is permuted; the number of nodes."""
    todo = np.empty((64, 2), np.int64)  # halves wait here: the depth is log2(n) at most
    todo[0, 0] = 0
    todo[0, 1] = n
    waiting = 1
    nodes = 0
    while waiting > 0:
        waiting -= 1
        first, last = todo[waiting, 0], todo[waiting, 1]
        axis = _bound(lo, hi, order, first, last, box, nodes)
        if last - first <= LEAF:
            start[nodes] = first
            stop[nodes] = last
        else:
            start[nodes] = 0
            stop[nodes] = 0
            middle = (first + last) // 2
            _select(lo, hi, axis, order, first, last - 1, middle)
            todo[waiting, 0] = middle
            todo[waiting, 1] = last
            todo[waiting + 1, 0] = first
            todo[waiting + 1, 1] = middle
            waiting += 2
        nodes += 1
    for node in range(nodes - 1, -1, -1):
        if stop[node] > start[node]:
            skip[node] = node + 1
        else:  # past the second half; the first half is the next node, and the second follows it
            skip[node] = skip[skip[node + 1]]
    return nodes


@inner
def _bound(lo, hi, order, first, last, box, node):
    """The box of a node from those of its range; the axis along which the centres spread most."""
    x0, y0, z0 = math.inf, math.inf, math.inf
    x1, y1, z1 = -math.inf, -math.inf, -math.inf
    u0, v0, w0 = math.inf, math.inf, math.inf
    u1, v1, w1 = -math.inf, -math.inf, -math.inf
    for a in range(first, last):
        i = order[a]
        x0, x1 = min(x0, lo[i, 0]), max(x1, hi[i, 0])
        y0, y1 = min(y0, lo[i, 1]), max(y1, hi[i, 1])
        z0, z1 = min(z0, lo[i, 2]), max(z1, hi[i, 2])
        u, v, w = lo[i, 0] + hi[i, 0], lo[i, 1] + hi[i, 1], lo[i, 2] + hi[i, 2]
        u0, u1 = min(u0, u), max(u1, u)
        v0, v1 = min(v0, v), max(v1, v)
        w0, w1 = min(w0, w), max(w1, w)
    box[node, 0] = x0
    box[node, 1] = y0
    box[node, 2] = z0
    box[node, 3] = x1
    box[node, 4] = y1
    box[node, 5] = z1
    if u1 - u0 >= v1 - v0 and u1 - u0 >= w1 - w0:
        return 0
    return 1 if v1 - v0 >= w1 - w0 else 2


@inner
def _select(lo, hi, axis, order, left, right, middle):
    """Hoare's quickselect: permute order[left:right + 1] so that centres before ``middle`` are not above those after."""
    while left < right:
        pivot = lo[order[(left + right) // 2], axis] + hi[order[(left + right) // 2], axis]
        a, b = left, right
        while a <= b:
            while lo[order[a], axis] + hi[order[a], axis] < pivot:
                a += 1
            while lo[order[b], axis] + hi[order[b], axis] > pivot:
                b -= 1
            if a <= b:
                order[a], order[b] = order[b], order[a]
                a += 1
                b -= 1
        if middle <= b:
            right = b
        elif middle >= a:
            left = a
        else:
            return


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
