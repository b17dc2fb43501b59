"""Pairs of bodies that a joint lets overlap."""

from __future__ import annotations

from collision.jit import lean


@lean
def pair_key(i, j):
    """One number for a pair of bodies."""
    return (min(i, j) << 32) | max(i, j)


@lean
def banned(joints, i, j):
    """A joint says that these two bodies do not touch (binary search)."""
    key = pair_key(i, j)
    low, high = 0, len(joints.apart)
    while low < high:
        middle = (low + high) // 2
        if joints.apart[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low < len(joints.apart) and joints.apart[low] == key
