"""Checks at the door: numbers and vectors in, plain floats and tuples out, or an InputError that names the field."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real

import numpy as np
from collision.errors import InputError

QUATERNION_TOLERANCE = 1e-3  # further from unit length is a mistake; closer is rounding and is normalised


def number(name: str, value: object, low: float = -math.inf, high: float = math.inf, *, above: float = -math.inf) -> float:
    """A finite float in [low, high], and greater than ``above``."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise InputError(name, value, "must be a number")
    x = float(value)
    if not math.isfinite(x):
        raise InputError(name, value, "must be finite")
    if x <= above:
        raise InputError(name, value, "must be positive" if above == 0 else f"must be greater than {above:g}")
    if not low <= x <= high:
        if high == math.inf:
            raise InputError(name, value, "must not be negative" if low == 0 else f"must be at least {low:g}")
        raise InputError(name, value, f"must lie in [{low:g}, {high:g}]")
    return x


def vector(name: str, value: object, n: int = 3) -> tuple[float, ...]:
    """``n`` finite floats."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise InputError(name, value, f"must be {n} numbers")
    items = list(value)
    if len(items) != n:
        raise InputError(name, plain(value), f"must be {n} numbers, these are {len(items)}")
    for item in items:
        if isinstance(item, bool | np.bool_) or not isinstance(item, Real):
            raise InputError(name, plain(value), f"must be {n} numbers")
        if not math.isfinite(item):
            raise InputError(name, plain(value), "must be finite")
    return tuple(float(item) for item in items)


def quaternion(name: str, value: object) -> tuple[float, float, float, float]:
    """A unit quaternion (w, x, y, z). Up to 1e-3 off unit length is normalised, more is refused."""
    q = vector(name, value, 4)
    length = math.sqrt(sum(c * c for c in q))
    if abs(length - 1.0) > QUATERNION_TOLERANCE:
        raise InputError(name, plain(value), f"must have length 1 (w, x, y, z), this has {length:.6g}")
    if abs(length - 1.0) <= 1e-15:  # as good as rounding allows: leave the bits alone, so that a second pass changes nothing
        return q
    return tuple(c / length for c in q)


def inertia_tensor(name: str, value: object) -> tuple[tuple[float, float, float], ...]:
    """A 3x3 inertia tensor [kg m^2]: symmetric, positive definite, obeying the triangle inequality.

    Three numbers stand for a diagonal tensor. The reason for the triangle inequality: I1 = sum m (y^2 + z^2) and so on,
    so no principal moment can exceed the sum of the other two.
    """
    try:
        matrix = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(name, plain(value), "must be a 3x3 matrix or 3 principal moments") from None
    if matrix.shape == (3,):
        matrix = np.diag(matrix)
    if matrix.shape != (3, 3):
        raise InputError(name, plain(value), f"must be a 3x3 matrix or 3 principal moments, this has shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise InputError(name, plain(value), "must be finite")
    scale = np.abs(matrix).max()
    if np.abs(matrix - matrix.T).max() > 1e-9 * scale:
        raise InputError(name, plain(value), "must be symmetric")
    matrix = (matrix + matrix.T) / 2
    low, middle, high = np.linalg.eigvalsh(matrix)
    if low <= 1e-14 * scale:
        raise InputError(name, plain(value), f"must be positive definite, its smallest principal moment is {low:.6g}")
    if high > (low + middle) * (1 + 1e-9):
        raise InputError(
            name,
            plain(value),
            f"no mass distribution has it: principal moments {low:.6g}, {middle:.6g}, {high:.6g}, and the largest exceeds "
            "the sum of the other two",
        )
    return tuple(tuple(row) for row in matrix.tolist())


def plain(value: object) -> object:
    """Arrays as lists and numpy scalars as Python's, so that messages read the same for all of them."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value
