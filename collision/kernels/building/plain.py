"""Kernels as plain functions of Python, in a program whose kernels are being compiled.

Python is some hundred times slower, but begins at once: a box has fallen and come to rest before its kernels are compiled.
Sources are the same and so are the bits: both follow IEEE 754, in the same order, and call the same functions of the C library
(`jit.hypot`; powers are written as products). Where Python raises an error and machine code does not, as at a division by zero,
machine code does the work again.
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


class Limit:
    """When Python is to stop."""

    until, ended = math.inf, staticmethod(lambda: False)


def plain(kernel: Later) -> Callable:
    """What a kernel does, in Python. Far kernels look at the limit before they begin."""
    if id(kernel) not in _made:
        function = kernel.uncompiled or FunctionType(
            kernel.py_func.__code__, _table(kernel.py_func), kernel.py_func.__name__, kernel.py_func.__defaults__
        )
        _made[id(kernel)] = _limited(function) if kernel.far else function
    return _made[id(kernel)]


def _limited(function: Callable) -> Callable:
    def call(*arguments: Any) -> Any:
        if Limit.ended() or time.monotonic() > Limit.until:
            raise TooSlow
        return function(*arguments)

    return call


def _table(function: FunctionType) -> dict[str, Any]:
    names = function.__globals__
    if id(names) not in _tables:
        table = _tables[id(names)] = dict(names)
        for name, value in names.items():
            if isinstance(value, Later):
                table[name] = plain(value)
            elif value is math.hypot:
                table[name] = np.hypot
    return _tables[id(names)]
