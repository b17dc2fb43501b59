"""Words of memory that several threads read and write (intrinsics/shared_code.py): counts that none loses, news between them.

All are in one order for all threads (sequentially consistent), and so is what was written to other places before a word.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from tumble.collision.kernels.group import Group
from tumble.collision.kernels.jit import intrinsic


def _word(address):
    return ctypes.c_int64.from_address(int(address))


def _put_word(address, value):
    _word(address).value = value


def _add_to_word(address, value):
    word = _word(address)
    old, word.value = word.value, word.value + value
    return old


def _swap_if(address, old, new):
    word = _word(address)
    same = word.value == old
    if same:
        word.value = new
    return same


def _table_at(address, rows, columns, kind):
    count = int(rows * columns)
    return np.ctypeslib.as_array((kind * count).from_address(int(address))).reshape(int(rows), int(columns))


@intrinsic(lambda address: _word(address).value)
def look():
    """look(address): the word there."""
    from tumble.collision.kernels.intrinsics.shared_code import look

    return look


@intrinsic(_put_word)
def put():
    """put(address, value)"""
    from tumble.collision.kernels.intrinsics.shared_code import put

    return put


@intrinsic(_add_to_word)
def add():
    """add(address, value): the word as it was before."""
    from tumble.collision.kernels.intrinsics.shared_code import add

    return add


@intrinsic(_swap_if)
def swap_if():
    """swap_if(address, old, new): whether ``old`` stood there, and ``new`` does now."""
    from tumble.collision.kernels.intrinsics.shared_code import swap_if

    return swap_if


_GROUPS: dict[int, Any] = {}  # by their addresses, where kernels are functions of Python: for as long as these are known


def _address_of(array):
    if isinstance(array, Group):
        _GROUPS[array._address] = array
        return array._address
    return array.ctypes.data


@intrinsic(_address_of)
def address_of():
    """address_of(array): of its first element; of a group, that of its table."""
    from tumble.collision.kernels.intrinsics.shared_code import address_of

    return address_of


def group_at(example: Any) -> Callable[[int], Any]:
    """What gives lean kernels the group at an address, of the kind of the example. It must outlive its use."""

    def make():
        from tumble.collision.kernels.intrinsics.shared_code import group_at

        return group_at(example)

    return intrinsic(_GROUPS.__getitem__)(make)


@intrinsic(lambda address, rows, columns: _table_at(address, rows, columns, ctypes.c_double))
def reals_at():
    """reals_at(address, rows, columns): the table of real numbers there, which must outlive its use."""
    from tumble.collision.kernels.intrinsics.shared_code import reals_at

    return reals_at


@intrinsic(lambda address, rows, columns: _table_at(address, rows, columns, ctypes.c_int64))
def wholes_at():
    """wholes_at(address, rows, columns): the same of whole numbers."""
    from tumble.collision.kernels.intrinsics.shared_code import wholes_at

    return wholes_at
