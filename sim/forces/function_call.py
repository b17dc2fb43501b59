"""Calls of C functions from kernels: the code behind functions.py."""

from __future__ import annotations

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic


@intrinsic
def call_function(typingctx, address, given, out):
    """Call the C function at an address with the data of two arrays."""

    def codegen(context, builder, signature, arguments):
        data = [
            context.make_array(kind)(context, builder, value).data
            for kind, value in zip(signature.args[1:], arguments[1:], strict=True)
        ]
        kind = ir.FunctionType(ir.VoidType(), [value.type for value in data])
        builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), data)
        return context.get_dummy_value()

    return types.void(types.int64, given, out), codegen
