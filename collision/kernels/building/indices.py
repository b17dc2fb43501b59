"""Kernels take the indices of arrays as they are, from 0 on.

In Python a negative index counts from the end. So Numba adds to each access by a signed number a comparison with zero and the
length, where it can not prove that the number is none of these. Kernels never count from the end, so this is left out of their
code, and of theirs alone: functions of users, and Numba's own, keep it. The bits are the same, and steps take 0.87 to 0.96 of the
time.

What is read at an index below zero is then memory before the array. No kernel may ask for that, not even for a number that it
does not use: a test finds literal ones (tests/collision/kernels/test_indices.py), and NUMBA_BOUNDSCHECK=1 has each access looked
at, with kernels of their own: a kernel that asks for what is not there fails.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.np import arrayobj

OURS = ("tumble.collision.", "tumble.sim.")  # how the names of the modules of kernels begin

_of_python = arrayobj.fix_integer_index


def index(context: Any, builder: Any, kind: types.Integer, given: Any, length: Any) -> Any:
    """In the place of Numba's function of these arguments: an index of an array as a machine word."""
    function = context.fndesc  # what is being compiled
    if kind.signed and function is not None and (function.modname or "").startswith(OURS):
        return context.cast(builder, given, kind, types.intp)
    return _of_python(context, builder, kind, given, length)


def take_indices_as_they_are() -> None:
    """From now on, in this process."""
    arrayobj.fix_integer_index = index
