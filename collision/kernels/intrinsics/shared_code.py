"""Words of memory that several threads read and write: the code behind kernels/shared.py, in the language
of the compiler below Numba.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import typeof
from numba.core import types
from numba.extending import intrinsic
from numba.np import arrayobj

from tumble.collision.kernels.group_type import GroupType, OwningGroupType, borrowed, table_at

WORD = ir.IntType(64)


def _place(builder, address):
    return builder.inttoptr(address, WORD.as_pointer())


@intrinsic
def look(context, address):
    def make(context, builder, signature, arguments):
        return builder.load_atomic(_place(builder, arguments[0]), "seq_cst", 8)

    return types.int64(types.int64), make


@intrinsic
def put(context, address, value):
    def make(context, builder, signature, arguments):
        builder.store_atomic(arguments[1], _place(builder, arguments[0]), "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), make


@intrinsic
def add(context, address, value):
    def make(context, builder, signature, arguments):
        return builder.atomic_rmw("add", _place(builder, arguments[0]), arguments[1], "seq_cst")

    return types.int64(types.int64, types.int64), make


@intrinsic
def swap_if(context, address, old, new):
    def make(context, builder, signature, arguments):
        found = builder.cmpxchg(_place(builder, arguments[0]), arguments[1], arguments[2], "seq_cst", "seq_cst")
        return builder.extract_value(found, 1)

    return types.boolean(types.int64, types.int64, types.int64), make


@intrinsic
def address_of(context, array):
    def make(context, builder, signature, arguments):
        kind = signature.args[0]
        if isinstance(kind, OwningGroupType):
            return builder.ptrtoint(builder.extract_value(arguments[0], 1), WORD)
        if isinstance(kind, GroupType):
            return builder.ptrtoint(arguments[0], WORD)
        return builder.ptrtoint(arrayobj.make_array(kind)(context, builder, arguments[0]).data, WORD)

    return types.int64(array), make


def group_at(example: Any) -> Callable[[int], Any]:
    """An intrinsic for lean kernels: the group at an address, of the kind of the example."""
    kind = typeof(example)

    @intrinsic
    def at(context, address):
        def make(context, builder, signature, arguments):
            return borrowed(context, builder, kind, builder.inttoptr(arguments[0], WORD.as_pointer()))

        return kind(types.int64), make

    return at


def _table(number):
    def made(context, address, rows, columns):
        array_type = types.Array(number, 2, "C")

        def make(context, builder, signature, arguments):
            address, rows, columns = arguments
            data = builder.inttoptr(address, context.get_data_type(number).as_pointer())
            return table_at(context, builder, array_type, data, rows, columns)

        return array_type(types.int64, types.int64, types.int64), make

    return intrinsic(made)


reals_at = _table(types.float64)
wholes_at = _table(types.int64)
