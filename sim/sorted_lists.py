"""Sorted lists of whole numbers, and of pairs of them."""

from __future__ import annotations

from tumble.collision.kernels.jit import lean


@lean
def place_in(keys, n, key):
    """Where a key is among the first ``n`` of a sorted list, by bisection; -1: it is not there."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < n and keys[low] == key else -1


@lean
def sort_list(keys, n):
    """Put the first ``n`` of a list in ascending order (Shell's sort, with Ciura's gaps)."""
    for gap in (701, 301, 132, 57, 23, 10, 4, 1):
        for m in range(gap, n):
            key, k = keys[m], m
            while k >= gap and keys[k - gap] > key:
                keys[k] = keys[k - gap]
                k -= gap
            keys[k] = key


@lean
def pair_before(pairs, k, a, b):
    """Whether row k of a list of pairs comes before the pair (a, b)."""
    return pairs[k, 0] < a or (pairs[k, 0] == a and pairs[k, 1] < b)


@lean
def is_pair(pairs, k, a, b):
    """Whether row k of a list of pairs is the pair (a, b)."""
    return pairs[k, 0] == a and pairs[k, 1] == b
