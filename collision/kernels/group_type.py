"""What compilers know of a group of arrays (group.py). Imported by compiler.py, before there is a kernel."""

from __future__ import annotations

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.imputils import impl_ret_borrowed, impl_ret_new_ref
from numba.core.typing import signature
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, lower_builtin, lower_getattr_generic, register_model, typeof_impl, unbox
from numba.np import arrayobj

from tumble.collision.kernels.group import Group, OwningClass, OwningGroup

WORD, INDEX, BYTES = ir.IntType(64), ir.IntType(32), ir.IntType(8).as_pointer()
TABLE_ADDRESS = types.CPointer(types.int64)


class GroupType(types.Type):
    """The types of the fields of a group, by name: arrays, or owning groups."""

    def __init__(self, name: str, fields: tuple[tuple[str, types.Type], ...]):
        self.fields, self.names, self._places, at = fields, [field for field, _ in fields], {}, 0
        for field, kind in fields:
            self._places[field] = at, kind
            at += 1 + 2 * kind.ndim if isinstance(kind, types.Array) else 1
        self.words = at
        super().__init__(f"{name}({', '.join(f'{field}: {kind}' for field, kind in fields)})")

    @property
    def mangling_args(self) -> tuple[str, tuple]:
        """In names of functions, which are numbered: they need not say more."""
        return self.name.partition("(")[0], ()

    def place(self, name: str) -> tuple[int, types.Type]:
        """At which word of the table the entry of a field begins, and its type."""
        return self._places[name]

    def kind_of(self, name: str) -> types.Type | None:
        return self._places[name][1] if name in self._places else None


class OwningGroupType(GroupType):
    """Of a group that kernels made: it lives as long as a reference to it, and so do its arrays."""


@typeof_impl.register(Group)
def _typeof(group, context):
    kind = group.__dict__.get("kind of group")
    if kind is None:
        kinds = tuple((name, numba.typeof(field)) for name, field in zip(group._fields, group, strict=True))
        of = OwningGroupType if isinstance(group, OwningGroup) else GroupType
        kind = group.__dict__["kind of group"] = of(type(group).__name__, kinds)
    return kind


@register_model(GroupType)
class _Address(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, WORD.as_pointer())


@register_model(OwningGroupType)
class _Owned(models.StructModel):
    """The counted block that holds the table, none if Python holds it, and the table."""

    def __init__(self, manager, kind):
        super().__init__(manager, kind, [("meminfo", types.MemInfoPointer(types.voidptr)), ("table", TABLE_ADDRESS)])


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
    value = _owning(c.context, c.builder, kind, address) if isinstance(kind, OwningGroupType) else address
    return NativeValue(value, is_error=cgutils.is_null(c.builder, address))


def _owning(context, builder, kind, table, block=None):
    """The value of an owning group."""
    value = cgutils.create_struct_proxy(kind)(context, builder)
    value.table = table
    if block is not None:
        value.meminfo = block
    return value._getvalue()


def borrowed(context, builder, kind, table):
    """The value of a group whose table stands there, as what owns it does for as long as it is used."""
    return _owning(context, builder, kind, table) if isinstance(kind, OwningGroupType) else table


@infer_getattr
class _Fields(AttributeTemplate):
    key = GroupType

    def generic_resolve(self, kind, name):
        return kind.kind_of(name)


@lower_getattr_generic(GroupType)
def _field(context, builder, kind, table, name):
    """The array of a field, without an owner."""
    return _read(context, builder, kind, table, name, owned=False)


@lower_getattr_generic(OwningGroupType)
def _field_of_owning(context, builder, kind, group, name):
    """The field, and one reference more to it where references are counted."""
    owned = context.enable_nrt
    value = _read(context, builder, kind, builder.extract_value(group, 1), name, owned)
    return impl_ret_borrowed(context, builder, kind.kind_of(name), value) if owned else value


def _read(context, builder, kind, table, name, owned):
    """The field of a name.

    The table never changes. Where it lives as long as the kernel runs, LLVM is told, and need not read it again after other
    memory was written. A table with an owner may end after its last use: what was not read by then could be read too late.
    """
    at, field = kind.place(name)
    constant = builder.module.add_metadata([])

    def word(k, word_type=WORD):
        value = builder.load(_place(builder, table, k, word_type))
        if not owned:
            value.set_metadata("invariant.load", constant)
        return value

    block = word(kind.names.index(name) - len(kind.names), BYTES) if owned else None
    if isinstance(field, OwningGroupType):
        return _owning(context, builder, field, word(at, WORD.as_pointer()), block)
    n, pointer = field.ndim, context.get_value_type(types.CPointer(field.dtype))
    array = arrayobj.make_array(field)(context, builder)
    size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(field.dtype)))
    shape, strides = [word(at + 1 + i) for i in range(n)], [word(at + 1 + n + i) for i in range(n)]
    arrayobj.populate_array(array, word(at, pointer), shape, strides, itemsize=size, meminfo=block)
    return array._getvalue()


def table_at(context, builder, array_type, data, rows, columns):
    """An array of two dimensions without an owner, of numbers of eight bytes that stand there."""
    eight = context.get_constant(types.intp, 8)
    array = arrayobj.make_array(array_type)(context, builder)
    strides = [builder.mul(columns, eight), eight]
    arrayobj.populate_array(array, data, [rows, columns], strides, itemsize=eight, meminfo=None)
    return array._getvalue()


def _place(builder, table, k, word_type=WORD):
    """Of word k of a table."""
    place = builder.gep(table, [ir.Constant(INDEX, k)])
    return place if word_type is WORD else builder.bitcast(place, word_type.as_pointer())


class _Maker(types.Callable, types.Opaque):
    """The class of an owning group, as kernels see it."""

    def __init__(self, made):
        self.made = made
        super().__init__(f"maker of {made.__module__}.{made.__name__}")

    def get_call_type(self, context, args, kws):
        fields = tuple(zip(self.made._fields, args, strict=True))
        return signature(OwningGroupType(self.made.__name__, fields), *args)

    def get_call_signatures(self):
        return (), True

    def get_impl_key(self, sig):
        return _Maker


register_model(_Maker)(models.OpaqueModel)


@typeof_impl.register(OwningClass)
def _typeof_class(made, context):
    return _Maker(made)


@lower_builtin(_Maker, types.VarArg(types.Any))
def _make(context, builder, sig, args):
    """A counted block: how many fields there are, their owners, the table."""
    kind, n = sig.return_type, len(args)
    release = builder.bitcast(_release(context, builder.module), BYTES)
    block = context.nrt.meminfo_alloc_dtor(builder, context.get_constant(types.intp, 8 * (1 + n + kind.words)), release)
    count = builder.bitcast(context.nrt.meminfo_data(builder, block), WORD.as_pointer())
    builder.store(WORD(n), count)
    table = _place(builder, count, 1 + n)
    for k, (field, value) in enumerate(zip(sig.args, args, strict=True)):
        context.nrt.incref(builder, field, value)
        at, _ = kind.place(kind.names[k])
        if isinstance(field, OwningGroupType):
            owner, words = builder.extract_value(value, 0), [builder.extract_value(value, 1)]
        else:
            array = arrayobj.make_array(field)(context, builder, value)
            sizes = [cgutils.unpack_tuple(builder, part, field.ndim) for part in (array.shape, array.strides)]
            owner, words = array.meminfo, [array.data, *sizes[0], *sizes[1]]
        builder.store(owner, _place(builder, table, k - n, owner.type))
        for i, word in enumerate(words):
            builder.store(word, _place(builder, table, at + i, word.type))
    # its own name for the finished table: what is read by this one is read after all of it was written
    finished = builder.asm(ir.FunctionType(table.type, [table.type]), "", "=r,0,~{memory}", [table], side_effect=True)
    return impl_ret_new_ref(context, builder, kind, _owning(context, builder, kind, finished, block))


def _release(context, module):
    """The function that counts down the owners of a block's fields, when the block ends."""
    kind = ir.FunctionType(ir.VoidType(), [BYTES, WORD, BYTES])
    function = cgutils.get_or_insert_function(module, kind, "tumble.release")
    if function.is_declaration:
        function.linkage = "linkonce_odr"
        builder = ir.IRBuilder(function.append_basic_block())
        words = builder.bitcast(function.args[0], WORD.as_pointer())
        owners = builder.bitcast(_place(builder, words, 1), BYTES.as_pointer())
        with cgutils.for_range(builder, builder.load(words)) as loop:
            owner = builder.load(builder.gep(owners, [loop.index]))
            context.nrt.decref(builder, types.MemInfoPointer(types.voidptr), owner)
        builder.ret_void()
    return function
