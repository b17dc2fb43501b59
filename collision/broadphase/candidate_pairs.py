"""Candidate pairs: which bounding boxes overlap.

A balanced tree of boxes, built anew at each call by halving the set along its widest axis: O(n log n) whatever the
sizes and their spread, and no state between steps. Boxes without end (half-spaces) stay out of the tree and are
compared with all. The pairs come out sorted, so their order depends on the numbering alone.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tumble.collision.halving import halve_range, put_centers
from tumble.collision.kernels.jit import far, inner, kernel, lean
from tumble.collision.kernels.shared import add, address_of

FEW_BOXES = 24  # up to so many boxes, comparing all with all is quicker


class Tree(NamedTuple):
    """Boxes that are bounded, in the order of the tree, so that neighbours in space are neighbours in memory; and its nodes.

    Nodes stand in preorder; ``skip`` is the node to go on with where a node is missed, so that no stack is needed.
    """

    box: np.ndarray  # (n, 6) low corner, high corner
    item: np.ndarray  # (n, 4) number of the box, its body, whether it is mobile, its leaf
    around: np.ndarray  # (2 n, 6) box of a node
    node: np.ndarray  # (2 n, 4) leaves: first item and the one behind the last; skip; whether a mobile box is in it


@inner
def tree_of(n):
    return Tree(np.empty((n, 6)), np.empty((n, 4), np.int64), np.empty((2 * n, 6)), np.empty((2 * n, 4), np.int64))


@kernel
def find_box_pairs(lo, hi, body_of, mobile, pairs):
    """Write the pairs (i, j), i < j, of overlapping boxes into ``pairs`` (m, 2) int64, sorted; the number of pairs.

    lo, hi: (n, 3) corners [m], +-inf allowed, touching counts; body_of: (n,) int, pairs of one body are left out;
    mobile: (n,) bool, pairs of two immobile boxes are left out. The number returned is the true one, also where it
    exceeds m: then ``pairs`` holds nothing of use, and the caller grows it and calls again.
    """
    n, found = lo.shape[0], np.zeros(1, np.int64)
    counter = address_of(found)
    if n <= FEW_BOXES:
        _all_with_all(lo, hi, body_of, mobile, counter, pairs)
        return found[0]
    order = np.empty(n, np.int64)
    bounded, unbounded = put_bounded_first(lo, hi, order)
    unbounded_pairs(lo, hi, body_of, mobile, order, bounded, unbounded, counter, pairs)
    if bounded > 1:
        center = np.empty((bounded, 3))
        tree = tree_of(bounded)
        put_centers(lo, hi, order, bounded, center)
        nodes = halve_range(center, order, 0, bounded, tree.node, 0)
        fill_tree(lo, hi, body_of, mobile, order, tree, 0, nodes)
        tree_pairs(tree, nodes, 0, bounded, counter, pairs)
    if found[0] <= pairs.shape[0]:
        sort_pairs(pairs, found[0], n)
    return found[0]


@lean
def put_bounded_first(lo, hi, order):
    """Put all boxes in order, those without end last: how many have an end, and the row of the first that has none.

    An empty box, whose low corner is above its high one, is none.
    """
    n = len(order)
    bounded = 0
    unbounded = n
    for i in range(n):
        finite = True
        for k in range(3):
            finite = finite and lo[i, k] > -math.inf and hi[i, k] < math.inf
        if lo[i, 0] > hi[i, 0]:
            continue
        if finite:
            order[bounded] = i
            bounded += 1
        else:
            unbounded -= 1
            order[unbounded] = i
    return bounded, unbounded


@lean
def boxes_meet(lo, hi, i, j):
    """Without branches, which nobody could foresee."""
    meet = True
    for k in range(3):
        meet = meet & (lo[i, k] <= hi[j, k]) & (lo[j, k] <= hi[i, k])
    return meet


@lean
def rows_meet(boxes, i, others, j):
    """The same of boxes that are rows of six numbers, low corner and high corner, of two tables."""
    meet = True
    for k in range(3):
        meet = meet & (boxes[i, k] <= others[j, k + 3]) & (others[j, k] <= boxes[i, k + 3])
    return meet


@lean
def append_pair(pairs, counter, i, j):
    """Several threads may do so at once: the order of pairs is found by sorting them."""
    count = add(counter, 1)
    if count < pairs.shape[0]:
        pairs[count, 0] = min(i, j)
        pairs[count, 1] = max(i, j)


@lean
def _all_with_all(lo, hi, body_of, mobile, counter, pairs):
    n = lo.shape[0]
    for i in range(n):
        for j in range(i + 1, n):
            if (mobile[i] or mobile[j]) and body_of[i] != body_of[j] and boxes_meet(lo, hi, i, j):
                append_pair(pairs, counter, i, j)


@lean
def unbounded_pairs(lo, hi, body_of, mobile, order, bounded, unbounded, counter, pairs):
    """Pairs with at least one unbounded box, order[unbounded:]; order[:bounded] are the others."""
    n = lo.shape[0]
    for a in range(unbounded, n):
        i = order[a]
        for b in range(bounded + a - unbounded):
            j = order[b if b < bounded else unbounded + b - bounded]
            if (mobile[i] or mobile[j]) and body_of[i] != body_of[j] and boxes_meet(lo, hi, i, j):
                append_pair(pairs, counter, i, j)


@lean
def fill_tree(lo, hi, body_of, mobile, order, tree, first, last):
    """The rest of the nodes [first, last), which are a node and all below it: their items, from the last to the first."""
    box, item, around, node = tree
    for k in range(last - 1, first - 1, -1):
        if node[k, 1] > node[k, 0]:
            node[k, 2] = k + 1
            node[k, 3] = 0
            for c in range(3):
                around[k, c], around[k, c + 3] = math.inf, -math.inf
            for a in range(node[k, 0], node[k, 1]):
                i = order[a]
                item[a, 0], item[a, 1], item[a, 2], item[a, 3] = i, body_of[i], mobile[i], k
                node[k, 3] |= item[a, 2]
                for c in range(3):
                    box[a, c], box[a, c + 3] = lo[i, c], hi[i, c]
                    around[k, c] = min(around[k, c], lo[i, c])
                    around[k, c + 3] = max(around[k, c + 3], hi[i, c])
        else:
            join_halves(tree, k)


@lean
def join_halves(tree, k):
    """Node k of its two halves: the first is the next node, and the second follows it."""
    box, item, around, node = tree
    second = node[k + 1, 2]
    node[k, 2] = node[second, 2]
    node[k, 3] = node[k + 1, 3] | node[second, 3]
    for c in range(3):
        around[k, c] = min(around[k + 1, c], around[second, c])
        around[k, c + 3] = max(around[k + 1, c + 3], around[second, c + 3])


@lean
def tree_pairs(tree, nodes, start, stop, counter, pairs):
    """Pairs of the items [start, stop) of the tree with those behind them.

    What follows a box in the tree stands behind its leaf: looking there alone finds each pair once.
    """
    box, item, around, node = tree
    for a in range(start, stop):
        k = item[a, 3]
        first = a + 1
        while k < nodes:
            if first <= a and (item[a, 2] + node[k, 3] == 0 or not rows_meet(around, k, box, a)):
                k = node[k, 2]
                continue
            for b in range(max(first, node[k, 0]), node[k, 1]):  # empty but at a leaf
                if rows_meet(box, a, box, b) and item[a, 2] + item[b, 2] > 0 and item[a, 1] != item[b, 1]:
                    append_pair(pairs, counter, item[a, 0], item[b, 0])
            first = 0
            k += 1


@inner
def sort_pairs(pairs, count, n):
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
    find_box_pairs,
    lambda: (np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0, np.int64), np.zeros(0, np.bool_), np.zeros((0, 2), np.int64)),
    returns=0,
)
