"""Loops of corners: the outlines of the faces of a polytope, one after the other in one list. Which corner follows another one in
its loop, and which two entries are the same edge, seen from either side."""

from __future__ import annotations

import numpy as np


def follow_of(start: np.ndarray, length: int) -> np.ndarray:
    """Of each of ``length`` slots the next one in its loop; ``start`` (f + 1,): where loops begin."""
    follow = np.arange(1, length + 1)
    follow[start[1:] - 1] = start[:-1]
    return follow


def twins_of(corners: np.ndarray, follow: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """(slots whose edge goes from the lower to the higher corner, those of the same edges the other way), sorted by both corners.

    None where some edge does not belong to two loops that run through it in opposite directions.
    """
    width = int(corners.max()) + 1
    ahead = corners[follow]
    names = np.minimum(corners, ahead) * width
    names += np.maximum(corners, ahead)
    order = np.argsort(names)
    if len(order) % 2:
        return None
    one, other = order[::2], order[1::2]
    found = names[one]
    if not (
        np.array_equal(found, names[other]) and (found[1:] > found[:-1]).all() and np.array_equal(corners[one], ahead[other])
    ):
        return None
    up = corners[one] < ahead[one]
    return np.where(up, one, other), np.where(up, other, one)
