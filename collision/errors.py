"""Errors at the door: one clear line that names the value and says what would be right."""

from __future__ import annotations

import math
import reprlib
import sys
from functools import cache
from importlib.util import find_spec

import numpy as np

# Lengths and coordinates [m]: between these no product of them in a query, nor an inertia, leaves the range of a double.
LEAST_LENGTH, MOST_LENGTH = 1e-30, 1e30
UNIT_ROUNDING = 4.0 * sys.float_info.epsilon  # what normalising may leave of a length: closer to 1 than this is taken as it is

_SHORT = reprlib.Repr()  # long values are cut, so that a message stays one line
_SHORT.maxtuple = _SHORT.maxlist = _SHORT.maxdict = 4
_SHORT.maxstring = _SHORT.maxother = 120
_RANGE = f"must lie between {LEAST_LENGTH:g} and {MOST_LENGTH:g} m"


class InputError(ValueError):
    """A value that can not be used.

    Fields: ``name`` of the value, the ``value`` itself, and a ``hint`` that says what would be right.
    """

    def __init__(self, name: str, value: object, hint: str):
        self.name: str = name
        self.value: object = value
        self.hint: str = hint
        super().__init__(name, value, hint)  # all three, so that the error survives pickling

    def __str__(self) -> str:
        value = self.value
        if isinstance(value, np.ndarray):
            value = value.tolist()
        elif isinstance(value, np.generic):
            value = value.item()
        return " ".join(f"{self.name} = {_SHORT.repr(value)}: {self.hint}".split())


def check_number(name: str, value: object, above: float = -math.inf, least: float = -math.inf, unit: str = "") -> float:
    """A finite float, greater than ``above`` and not less than ``least``; InputError otherwise."""
    try:
        number = math.nan if isinstance(value, (bool, np.bool_, str, bytes)) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if math.isfinite(number) and number > above and number >= least:
        return number
    wanted = f"must be a finite number{' ' + unit if unit else ''}"
    if above > -math.inf:
        wanted += f" greater than {above:g}"
    if least > -math.inf:
        wanted += f" not less than {least:g}"
    raise InputError(name, value, wanted)


def check_vector(name: str, value: object, size: int = 3, above: float = -math.inf) -> tuple[float, ...]:
    """A tuple of ``size`` finite floats, all greater than ``above``; InputError otherwise."""
    wanted = f"must be {size} finite numbers" + (f", each greater than {above:g}" if above > -math.inf else "")
    try:
        numbers = tuple(value)
    except TypeError:
        raise InputError(name, value, wanted) from None
    if isinstance(value, (str, bytes, dict, set)) or len(numbers) != size:
        raise InputError(name, value, wanted)
    try:
        return tuple(check_number(name, x, above) for x in numbers)
    except InputError:
        raise InputError(name, value, wanted) from None


def check_length(name: str, value: object) -> float:
    """A length [m], from 1e-30 to 1e30; InputError otherwise."""
    length = check_number(name, value, above=0)
    if not LEAST_LENGTH <= length <= MOST_LENGTH:
        raise InputError(name, value, _RANGE)
    return length


def check_lengths(name: str, value: object) -> tuple[float, float, float]:
    """Three lengths [m], each from 1e-30 to 1e30; InputError otherwise."""
    lengths = check_vector(name, value, above=0)
    if not all(LEAST_LENGTH <= x <= MOST_LENGTH for x in lengths):
        raise InputError(name, value, _RANGE)
    return lengths


def check_point(name: str, value: object) -> tuple[float, float, float]:
    """Three coordinates [m], none beyond 1e30; InputError otherwise."""
    point = check_vector(name, value)
    if max(map(abs, point)) > MOST_LENGTH:
        raise InputError(name, value, f"must not lie further out than {MOST_LENGTH:g} m")
    return point


def unit(vector: tuple[float, ...]) -> tuple[float, ...]:
    """The vector at unit length; one that was normalised before comes back bit for bit."""
    length = math.hypot(*vector)
    return vector if abs(length - 1.0) <= UNIT_ROUNDING else tuple(x / length for x in vector)


def scalar_first(value: object) -> object:
    """The quaternion (w, x, y, z) of a rotation of SciPy, which puts w last; anything else as it is."""
    if not hasattr(value, "as_quat"):
        return value
    quaternion = np.asarray(value.as_quat())
    return np.roll(quaternion, 1).tolist() if quaternion.ndim == 1 else quaternion


def check_quaternion(name: str, value: object) -> tuple[float, float, float, float]:
    """A unit quaternion (w, x, y, z), or a rotation of SciPy. Up to 1e-3 off unit length it is normalised, else an InputError."""
    q = check_vector(name, scalar_first(value), 4)
    length = math.hypot(*q)
    if abs(length - 1.0) > 1e-3:
        raise InputError(name, value, f"must be a unit quaternion (w, x, y, z); its length is {length:.6g}")
    return unit(q)


# As pyproject.toml has them: the modules that each extra brings.
EXTRAS = {
    "film": ("av", "matplotlib", "moderngl", "pygame", "pygltflib"),
    "view": ("moderngl", "pygame"),
    "mesh": ("coacd", "networkx", "trimesh"),
    "data": ("mcap", "pyarrow", "xarray", "zarr"),
    "dask": ("distributed",),
}


class MissingExtra(ImportError):
    """A package is not installed, which an extra of tumble brings."""


@cache
def need(extra: str) -> None:
    """Nothing, where all of an extra is installed; else MissingExtra."""
    missing = [module for module in EXTRAS[extra] if find_spec(module) is None]
    if missing:
        told = f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed"
        raise MissingExtra(f'{told}: pip install "tumble[{extra}]"', name=missing[0])
