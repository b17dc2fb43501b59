"""Pairs of bodies that a joint lets overlap."""

from __future__ import annotations

from tumble.collision.kernels.jit import lean
from tumble.sim.sorted_lists import place_in


@lean
def pair_key(i, j):
    """One number for a pair of bodies."""
    return (min(i, j) << 32) | max(i, j)


@lean
def banned(joints, i, j):
    """A joint says that these two bodies do not touch."""
    return listed(joints.apart, pair_key(i, j))


@lean
def listed(keys, key):
    """A key is in a sorted list."""
    return place_in(keys, len(keys), key) >= 0
