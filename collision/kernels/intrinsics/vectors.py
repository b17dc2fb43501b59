"""Sweeps over the vertices of a hull by vector instructions: the code behind shapes/support_simd.py.

Written in the language of the compiler below Numba, which leaves loops that look for a greatest number, and the place of it, to
scalar instructions. Vectors of eight are split there as the machine needs it, and a maximum is the same in any order: the
answers are the same bits everywhere.
"""

from __future__ import annotations

import math

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj

VERTEX_LANES = 8  # as in shapes/support_simd.py


def _splat(builder, value, kind):
    vector = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(ir.IntType(32), VERTEX_LANES), [0] * VERTEX_LANES))


def _greater(builder, a, b):
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def _greatest_lane(builder, vector):
    for half in (4, 2, 1):
        places = [(lane + half) % VERTEX_LANES for lane in range(VERTEX_LANES)]
        turned = builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(ir.IntType(32), VERTEX_LANES), places))
        vector = _greater(builder, vector, turned)
    return builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))


def _block_loop(context, builder, signature, arguments, mark):
    """The greatest of x . d over blocks [first, stop), and with a mark the greatest marked height too."""
    blocks, first, stop, *d = arguments[:6]
    array = arrayobj.make_array(signature.args[0])(context, builder, blocks)
    floats, ints = ir.VectorType(ir.DoubleType(), VERTEX_LANES), ir.VectorType(ir.IntType(64), VERTEX_LANES)
    d = [_splat(builder, c, floats) for c in d]
    lowest = ir.Constant(floats, [-math.inf] * VERTEX_LANES)
    best = cgutils.alloca_once_value(builder, lowest)
    if mark is not None:
        keep = _splat(builder, builder.not_(mark), ints)
        number = cgutils.alloca_once_value(builder, ir.Constant(ints, list(range(VERTEX_LANES))))
        marked = cgutils.alloca_once_value(builder, lowest)
    with cgutils.for_range_slice(builder, first, stop, first.type(1), inc=True) as (k, _):
        row = builder.gep(array.data, [builder.mul(k, k.type(3 * VERTEX_LANES))])
        parts = []
        for c in range(3):
            load = builder.load(builder.bitcast(builder.gep(row, [k.type(VERTEX_LANES * c)]), floats.as_pointer()))
            load.align = 8
            parts.append(builder.fmul(load, d[c]))
        height = builder.fadd(builder.fadd(parts[0], parts[1]), parts[2])
        builder.store(_greater(builder, height, builder.load(best)), best)
        if mark is not None:
            count = builder.load(number)
            bits = builder.or_(builder.and_(builder.bitcast(height, ints), keep), count)
            builder.store(_greater(builder, builder.bitcast(bits, floats), builder.load(marked)), marked)
            builder.store(builder.add(count, ir.Constant(ints, [VERTEX_LANES] * VERTEX_LANES)), number)
    top = _greatest_lane(builder, builder.load(best))
    return top, None if mark is None else _greatest_lane(builder, builder.load(marked))


@intrinsic
def reach(context, blocks, first, stop, x, y, z):
    def make(context, builder, signature, arguments):
        return _block_loop(context, builder, signature, arguments, None)[0]

    return types.float64(blocks, types.int64, types.int64, types.float64, types.float64, types.float64), make


@intrinsic
def place(context, blocks, first, stop, x, y, z, mark):
    def make(context, builder, signature, arguments):
        top, marked = _block_loop(context, builder, signature, arguments, arguments[6])
        number = builder.and_(builder.bitcast(marked, ir.IntType(64)), arguments[6])
        return context.make_tuple(builder, signature.return_type, (number, top))

    kinds = (types.int64, types.int64, types.float64, types.float64, types.float64, types.int64)
    return types.Tuple((types.int64, types.float64))(blocks, *kinds), make
