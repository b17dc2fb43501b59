"""Four numbers at a time in one register: the code behind sim/solvers/lanes.py.

Two types of Numba, `Lanes` of four doubles and `Mask` of four yes or no, and what is done to them. Where a processor has no such
registers the compiler takes the lanes one by one. Each lane is computed as a number by itself would be, so the bits are those.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model
from numba.np import arrayobj

LANES = 4
_NUMBERS, _BITS = ir.VectorType(ir.DoubleType(), LANES), ir.VectorType(ir.IntType(1), LANES)
_INT = ir.IntType(32)


class _Kind(types.Type):
    pass


class _LanesType(_Kind):
    pass


class _MaskType(_Kind):
    pass


lanes, mask = _LanesType("lanes"), _MaskType("mask of lanes")


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _NUMBERS)


@register_model(_MaskType)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _BITS)


def _operator(sign: Callable, kind: types.Type, result: types.Type, emit: Callable) -> None:
    """Teach Numba what a sign between two values of this kind means."""

    @infer_global(sign)
    class _Template(AbstractTemplate):
        def generic(self, args, kws):
            fits = len(args) == 2 and all(a is kind for a in args)
            return signature(result, kind, kind) if fits else None

    lower_builtin(sign, kind, kind)(lambda context, builder, sig, args: emit(builder, *args))


_operator(operator.add, lanes, lanes, lambda builder, a, b: builder.fadd(a, b))
_operator(operator.sub, lanes, lanes, lambda builder, a, b: builder.fsub(a, b))
_operator(operator.mul, lanes, lanes, lambda builder, a, b: builder.fmul(a, b))
_operator(operator.truediv, lanes, lanes, lambda builder, a, b: builder.fdiv(a, b))
_operator(operator.le, lanes, mask, lambda builder, a, b: builder.fcmp_ordered("<=", a, b))
_operator(operator.gt, lanes, mask, lambda builder, a, b: builder.fcmp_ordered(">", a, b))
_operator(operator.and_, mask, mask, lambda builder, a, b: builder.and_(a, b))


def _pointer(context, builder, kind, table, row, column):
    """Of the four numbers of a table from (row, column) on."""
    array = arrayobj.make_array(kind)(context, builder, table)
    width = builder.extract_value(array.shape, 1)
    place = builder.gep(array.data, [builder.add(builder.mul(row, width), column)])
    return builder.bitcast(place, _NUMBERS.as_pointer())


def _load(builder, pointer):
    value = builder.load(pointer)
    value.align = 8
    return value


def _turned(builder, rows):
    """Four vectors as the columns of what they were the rows of."""

    def mixed(a, b, places):
        return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_INT, LANES), places))

    a, b, c, d = rows
    even, odd = mixed(a, b, [0, 4, 2, 6]), mixed(a, b, [1, 5, 3, 7])
    even2, odd2 = mixed(c, d, [0, 4, 2, 6]), mixed(c, d, [1, 5, 3, 7])
    return [mixed(e, f, p) for p in ([0, 1, 4, 5], [2, 3, 6, 7]) for e, f in ((even, even2), (odd, odd2))]


@intrinsic
def lanes_at(context, table, row, column):
    def make(context, builder, sig, args):
        return _load(builder, _pointer(context, builder, sig.args[0], *args))

    return lanes(table, types.int64, types.int64), make


@intrinsic
def put_lanes(context, table, row, column, value):
    def make(context, builder, sig, args):
        builder.store(args[3], _pointer(context, builder, sig.args[0], *args[:3])).align = 8
        return context.get_dummy_value()

    return types.void(table, types.int64, types.int64, lanes), make


@intrinsic
def gather(context, table, rows, g, first):
    """Columns 0 to 7 of the rows of ``table`` that rows[g, first:first + 4] names."""

    def make(context, builder, sig, args):
        parts = []
        names = arrayobj.make_array(sig.args[1])(context, builder, args[1])
        start = builder.add(builder.mul(args[2], builder.extract_value(names.shape, 1)), args[3])
        for lane in range(LANES):
            row = builder.load(builder.gep(names.data, [builder.add(start, start.type(lane))]))
            parts.append([_load(builder, _pointer(context, builder, sig.args[0], args[0], row, row.type(c))) for c in (0, 4)])
        columns = [column for half in zip(*parts, strict=True) for column in _turned(builder, half)]
        return context.make_tuple(builder, sig.return_type, columns)

    return types.UniTuple(lanes, 2 * LANES)(table, rows, types.int64, types.int64), make


@intrinsic
def scatter(context, table, rows, g, first, columns):
    """The rows that `gather` reads, from their columns."""

    def make(context, builder, sig, args):
        names = arrayobj.make_array(sig.args[1])(context, builder, args[1])
        start = builder.add(builder.mul(args[2], builder.extract_value(names.shape, 1)), args[3])
        values = [builder.extract_value(args[4], c) for c in range(2 * LANES)]
        halves = [_turned(builder, values[:LANES]), _turned(builder, values[LANES:])]
        for lane in range(LANES):
            row = builder.load(builder.gep(names.data, [builder.add(start, start.type(lane))]))
            for c in range(2):
                pointer = _pointer(context, builder, sig.args[0], args[0], row, row.type(LANES * c))
                builder.store(halves[c][lane], pointer).align = 8
        return context.get_dummy_value()

    return types.void(table, rows, types.int64, types.int64, types.UniTuple(lanes, 2 * LANES)), make


@intrinsic
def every(context, number):
    def make(context, builder, sig, args):
        vector = builder.insert_element(ir.Constant(_NUMBERS, ir.Undefined), args[0], _INT(0))
        return builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(_INT, LANES), [0] * LANES))

    return lanes(types.float64), make


@intrinsic
def choose(context, where, a, b):
    return lanes(mask, lanes, lanes), lambda context, builder, sig, args: builder.select(*args)


def _of_one(name: str) -> Callable:
    @intrinsic
    def function(context, a):
        def make(context, builder, sig, args):
            kind = ir.FunctionType(_NUMBERS, [_NUMBERS])
            return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{LANES}f64"), args)

        return lanes(lanes), make

    return function


root, size = _of_one("sqrt"), _of_one("fabs")


@intrinsic
def bits(context, where):
    def make(context, builder, sig, args):
        return builder.zext(builder.bitcast(args[0], ir.IntType(LANES)), ir.IntType(64))

    return types.int64(mask), make
