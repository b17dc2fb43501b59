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


def _code() -> Any:
    from tumble.collision.kernels.intrinsics import shared_code

    return shared_code


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


_GROUPS: dict[int, Any] = {}  # by their addresses, where kernels are functions of Python: for as long as these are known


def _address_of(array):
    if isinstance(array, Group):
        _GROUPS[array._address] = array
        return array._address
    return array.ctypes.data


# look(address): the word there. put(address, value). add(address, value): the word as it was before.
# swap_if(address, old, new): whether ``old`` stood there, and ``new`` does now.
look = intrinsic(lambda: _code().look, lambda address: _word(address).value)
put = intrinsic(lambda: _code().put, _put_word)
add = intrinsic(lambda: _code().add, _add_to_word)
swap_if = intrinsic(lambda: _code().swap_if, _swap_if)
# address_of(array): of its first element; of a group, that of its table.
address_of = intrinsic(lambda: _code().address_of, _address_of)
# reals_at(address, rows, columns): the table of real numbers there, which must outlive its use; wholes_at: of whole numbers.
reals_at = intrinsic(lambda: _code().reals_at, lambda address, rows, columns: _table_at(address, rows, columns, ctypes.c_double))
wholes_at = intrinsic(lambda: _code().wholes_at, lambda address, rows, columns: _table_at(address, rows, columns, ctypes.c_int64))


def group_at(example: Any) -> Callable[[int], Any]:
    """What gives lean kernels the group at an address, of the kind of the example. It must outlive its use."""
    return intrinsic(lambda: _code().group_at(example), _GROUPS.__getitem__)
