"""Sorted lists of whole numbers."""

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
