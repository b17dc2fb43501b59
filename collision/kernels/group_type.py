"""What compilers know of a group of arrays (group.py). Imported by jit.py, before there is a kernel."""

from __future__ import annotations

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, lower_getattr_generic, register_model, typeof_impl, unbox
from numba.np import arrayobj

from tumble.collision.kernels.group import Group

WORD = ir.IntType(64)


class GroupType(types.Type):
    """The types of the arrays of a group, by name."""

    def __init__(self, name: str, fields: tuple[tuple[str, types.Array], ...]):
        self.fields = fields
        super().__init__(f"{name}({', '.join(f'{field}: {kind}' for field, kind in fields)})")

    def place(self, name: str) -> tuple[int, types.Array]:
        """At which word of the table the entry of an array begins, and its type."""
        at = 0
        for field, kind in self.fields:
            if field == name:
                return at, kind
            at += 1 + 2 * kind.ndim
        raise AttributeError(name)


@typeof_impl.register(Group)
def _typeof(group, context):
    kind = group.__dict__.get("kind of group")
    if kind is None:
        kinds = tuple((name, numba.typeof(array)) for name, array in zip(group._fields, group, strict=True))
        kind = group.__dict__["kind of group"] = GroupType(type(group).__name__, kinds)
    return kind


@register_model(GroupType)
class _Address(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, WORD.as_pointer())


@unbox(GroupType)
def _unbox(kind, group, c):
    """If Ctrl-C interrupts it a getattr gives nothing. Then the groups after it are not unpacked, and the call raises."""
    place = cgutils.alloca_once_value(c.builder, cgutils.get_null_value(WORD.as_pointer()))
    with c.builder.if_then(cgutils.is_null(c.builder, c.pyapi.err_occurred())):
        number = c.pyapi.object_getattr_string(group, "_address")
        with c.builder.if_then(cgutils.is_not_null(c.builder, number)):
            c.builder.store(c.builder.bitcast(c.pyapi.long_as_voidptr(number), WORD.as_pointer()), place)
            c.pyapi.decref(number)
    address = c.builder.load(place)
    return NativeValue(address, is_error=cgutils.is_null(c.builder, address))


@infer_getattr
class _Fields(AttributeTemplate):
    key = GroupType

    def generic_resolve(self, kind, name):
        return dict(kind.fields).get(name)


@lower_getattr_generic(GroupType)
def _array(context, builder, kind, table, name):
    """The array of a field, without an owner. The table never changes, so LLVM need not read it again after other memory was
    written."""
    at, array_type = kind.place(name)
    pointer = context.get_value_type(types.CPointer(array_type.dtype))
    constant = builder.module.add_metadata([])

    def word(k, word_type=WORD):
        place = builder.gep(table, [ir.Constant(ir.IntType(32), at + k)])
        value = builder.load(builder.bitcast(place, word_type.as_pointer()))
        value.set_metadata("invariant.load", constant)
        return value

    n = array_type.ndim
    array = arrayobj.make_array(array_type)(context, builder)
    size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(array_type.dtype)))
    shape, strides = [word(1 + i) for i in range(n)], [word(1 + n + i) for i in range(n)]
    arrayobj.populate_array(array, word(0, pointer), shape, strides, itemsize=size, meminfo=None)
    return array._getvalue()
