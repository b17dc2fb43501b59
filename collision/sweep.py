"""Sweeps over the vertices of a hull by vector instructions.

The vertices stand in blocks of eight, `Geometry.blocks` (b, 24): eight x, eight y, eight z; the last block of a hull is
filled up with its last vertex. Written in the language of the compiler below Numba, which leaves loops that look for a
greatest number, and the place of it, to scalar instructions. Vectors of eight are split there as the machine needs it, and a
maximum is the same in any order: the answers are the same bits everywhere.
"""

from __future__ import annotations

import math

import numpy as np
from llvmlite import ir
from numba.core import cgutils, config, types
from numba.extending import intrinsic
from numba.np import arrayobj

LANES = 8


def pack_blocks(vertices: np.ndarray) -> np.ndarray:
    """Blocks (ceil(n / 8), 24) of n vertices (n, 3)."""
    filled = np.concatenate([vertices, np.repeat(vertices[-1:], -len(vertices) % LANES, axis=0)])
    return np.ascontiguousarray(filled.reshape(-1, LANES, 3).transpose(0, 2, 1).reshape(-1, 3 * LANES))


def _splat(builder, value, kind):
    vector = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


def _greater(builder, a, b):
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def _greatest_lane(builder, vector):
    for half in (4, 2, 1):
        places = [(lane + half) % LANES for lane in range(LANES)]
        turned = builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(ir.IntType(32), LANES), places))
        vector = _greater(builder, vector, turned)
    return builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))


def _sweep(context, builder, signature, arguments, mark):
    """The greatest of x . d over blocks [first, stop), and with a mark the greatest marked height too."""
    blocks, first, stop, *d = arguments[:6]
    array = arrayobj.make_array(signature.args[0])(context, builder, blocks)
    floats, ints = ir.VectorType(ir.DoubleType(), LANES), ir.VectorType(ir.IntType(64), LANES)
    d = [_splat(builder, c, floats) for c in d]
    lowest = ir.Constant(floats, [-math.inf] * LANES)
    best = cgutils.alloca_once_value(builder, lowest)
    if mark is not None:
        keep = _splat(builder, builder.not_(mark), ints)
        number = cgutils.alloca_once_value(builder, ir.Constant(ints, list(range(LANES))))
        marked = cgutils.alloca_once_value(builder, lowest)
    with cgutils.for_range_slice(builder, first, stop, first.type(1), inc=True) as (k, _):
        row = builder.gep(array.data, [builder.mul(k, k.type(3 * LANES))])
        parts = []
        for c in range(3):
            load = builder.load(builder.bitcast(builder.gep(row, [k.type(LANES * c)]), floats.as_pointer()))
            load.align = 8
            parts.append(builder.fmul(load, d[c]))
        height = builder.fadd(builder.fadd(parts[0], parts[1]), parts[2])
        builder.store(_greater(builder, height, builder.load(best)), best)
        if mark is not None:
            count = builder.load(number)
            bits = builder.or_(builder.and_(builder.bitcast(height, ints), keep), count)
            builder.store(_greater(builder, builder.bitcast(bits, floats), builder.load(marked)), marked)
            builder.store(builder.add(count, ir.Constant(ints, [LANES] * LANES)), number)
    top = _greatest_lane(builder, builder.load(best))
    return top, None if mark is None else _greatest_lane(builder, builder.load(marked))


@intrinsic
def _reach(context, blocks, first, stop, x, y, z):
    def make(context, builder, signature, arguments):
        return _sweep(context, builder, signature, arguments, None)[0]

    return types.float64(blocks, types.int64, types.int64, types.float64, types.float64, types.float64), make


@intrinsic
def _place(context, blocks, first, stop, x, y, z, mark):
    def make(context, builder, signature, arguments):
        top, marked = _sweep(context, builder, signature, arguments, arguments[6])
        number = builder.and_(builder.bitcast(marked, ir.IntType(64)), arguments[6])
        return context.make_tuple(builder, signature.return_type, (number, top))

    kinds = (types.int64, types.int64, types.float64, types.float64, types.float64, types.int64)
    return types.Tuple((types.int64, types.float64))(blocks, *kinds), make


def _heights(blocks, first, stop, x, y, z) -> np.ndarray:
    rows = np.asarray(blocks[first:stop]).reshape(-1, 3, LANES)
    return (rows[:, 0] * x + rows[:, 1] * y + rows[:, 2] * z).ravel()


def _reach_uncompiled(blocks, first, stop, x, y, z):
    return float(_heights(blocks, first, stop, x, y, z).max())


def _place_uncompiled(blocks, first, stop, x, y, z, mark):
    heights = _heights(blocks, first, stop, x, y, z)
    marked = (heights.view(np.int64) & ~mark) | np.arange(len(heights))
    return int(marked.view(float).argmax()), float(heights.max())


# reach(blocks, first, stop, x, y, z): the greatest height of a vertex of blocks [first, stop) along (x, y, z).
# place(blocks, first, stop, x, y, z, mark): the number of that vertex, counted from block first, or of one that is lower by
# ``mark`` units in the last place at most; and the greatest height. mark: 2^m - 1, no less than the numbers, which stand in
# the last m bits of the heights that are compared.
reach = _reach_uncompiled if config.DISABLE_JIT else _reach
place = _place_uncompiled if config.DISABLE_JIT else _place
