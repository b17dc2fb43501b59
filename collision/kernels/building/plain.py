"""Kernels as plain functions of Python, in a program whose kernels are being compiled.

Python is some hundred times slower, but begins at once: a box has fallen and come to rest before its kernels are compiled.
Sources are the same and so are the bits: both follow IEEE 754, in the same order, and call the same functions of the C library
(`jit.hypot`; powers are written as products). Where Python raises an error and machine code does not, as at a division by zero,
machine code does the work again. Any other error is a fault of the kernel's, and is raised.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from tumble.collision.kernels.jit import Later

_tables: dict[int, dict[str, Any]] = {}  # what plain functions find under the names of their modules
_made: dict[int, Callable] = {}


class TooSlow(Exception):
    """Machine code is there, or Python has taken as long as it may."""


# How the messages of ValueError begin that functions of ``math``, and int of what is no number, raise; the last from Python 3.14
NO_NUMBER = ("math domain error", "cannot convert float NaN to integer", "expected a")


def for_machine_code(error: Exception) -> bool:
    """Machine code goes on where Python raised this: what it works out there is inf, nan, or a number that is cut off."""
    if isinstance(error, ValueError):
        return str(error).startswith(NO_NUMBER)
    return isinstance(error, (TooSlow, ZeroDivisionError, OverflowError))


class Limit:
    """When Python is to stop."""

    until, ended = math.inf, staticmethod(lambda: False)


def plain(kernel: Later) -> Callable:
    """What a kernel does, in Python. Far kernels look at the limit before they begin."""
    if id(kernel) not in _made:
        function = kernel.uncompiled or FunctionType(
            kernel.py_func.__code__, _stand_ins(kernel.py_func), kernel.py_func.__name__, kernel.py_func.__defaults__
        )
        _made[id(kernel)] = _limited(function) if kernel.far else function
    return _made[id(kernel)]


def _limited(function: Callable) -> Callable:
    def call(*arguments: Any) -> Any:
        if Limit.ended() or time.monotonic() > Limit.until:
            raise TooSlow
        return function(*arguments)

    return call


def _stand_ins(function: FunctionType) -> dict[str, Any]:
    names = function.__globals__
    if id(names) not in _tables:
        table = _tables[id(names)] = dict(names)
        for name, value in names.items():
            if isinstance(value, Later):
                table[name] = plain(value)
            elif value is math.hypot:
                table[name] = np.hypot
    return _tables[id(names)]
