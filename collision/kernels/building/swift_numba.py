"""Numba made swift, for a process that compiles kernels and calls none of them.

Each part does what Numba or llvmlite does with less work, and the machine code is the same to the last byte. Together they take a
third off what compiling costs. A part that does not find what it stands for, in another version, is left out.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable
from functools import cache
from typing import Any

RARELY = (200_000, 10, 100)  # when garbage is collected: a tenth of the time went into that


def prepare_numba() -> None:
    """Make Numba swift in this process."""
    import numba.core.compiler

    from tumble.collision.kernels import code_library, compiler

    compiler.ALONE = True
    numba.core.compiler.Compiler.define_pipelines = code_library.alone
    for part in PARTS:
        with contextlib.suppress(AttributeError, ImportError, KeyError):
            part()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*RARELY)


def _flags() -> None:
    """Flags of the compiler are keys of its tables, and were compared field by field 25,000 times a library."""
    from numba.core.compiler import Flags
    from numba.core.targetconfig import TargetConfig

    plain = TargetConfig.__eq__
    Flags.__eq__ = lambda a, b: (a.__class__ is b.__class__ and a._values == b._values) or plain(a, b)
    Flags.__hash__ = lambda a: hash((a.nrt, a.forceinline))


def _events() -> None:
    """Nobody listens to when passes begin and end."""
    from numba.core import event

    nothing = contextlib.nullcontext()
    event.trigger_event = lambda kind, data=None: nothing
    event.start_event = lambda kind, data=None: None
    event.end_event = lambda kind, data=None, exc_details=None: None


def _contexts() -> None:
    """What errors are given on their way out, at each instruction and each constraint of types; and warnings. None reads them."""
    from numba.core import errors, lowering, typeinfer

    class Context:
        """As `errors.new_error_context`, without a generator."""

        __slots__ = ("told",)

        def __init__(self, *told: Any, **named: Any):
            self.told = told, named

        def __enter__(self) -> None:
            pass

        def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
            if isinstance(error, errors.NumbaError):
                (text, *told), named = self.told
                error.add_context(errors._format_msg(text, told, named))

    nothing = contextlib.nullcontext()
    for module in (errors, lowering, typeinfer):
        module.new_error_context = Context
    errors.WarningsFixer.catch_warnings = lambda self, filename=None, lineno=None: nothing


def _lifetimes() -> None:
    """How long variables live: it was found out after each pass, and is asked for once, where they are deleted."""
    from numba.core import postproc, transforms

    plain = postproc.PostProcessor.run

    def run(self, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        if emit_dels or self.func_ir.is_generator:
            plain(self, emit_dels, extend_lifetimes)
        else:
            self.func_ir.blocks = transforms.canonicalize_cfg(self.func_ir.blocks)
            self.func_ir.variable_lifetime = postproc.VariableLifetime(self.func_ir.blocks)  # computed as it is read
            self.func_ir.generator_info = None

    postproc.PostProcessor.run = run


def _rewrites() -> None:
    """Expressions of whole arrays become loops. Deletions were put in for that, and taken out again, where there are none too."""
    from numba.core import ir, types
    from numba.core.typed_passes import NopythonRewrites

    plain = NopythonRewrites.run_pass
    of_arrays = {"unary", "binop", "call"}

    def run_pass(self, state: Any) -> bool:
        kinds = state.typemap
        for block in state.func_ir.blocks.values():
            for assignment in block.find_insts(ir.Assign):
                value = assignment.value
                is_array = isinstance(kinds.get(assignment.target.name), (types.Array, types.StringLiteral))
                if is_array and isinstance(value, ir.Expr) and value.op in of_arrays:
                    return plain(self, state)
        return True

    NopythonRewrites.run_pass = run_pass


def _places() -> None:
    """Places on the stack, each made at the entry of its function."""
    from llvmlite.ir import Constant
    from numba.core import cgutils

    def alloca_once(builder: Any, kind: Any, size: Any = None, name: str = "", zfill: bool = False) -> Any:
        if isinstance(size, int):
            size = Constant(cgutils.intp_t, size)
        notes, block, entry = builder.debug_metadata, builder.basic_block, builder.function.entry_basic_block
        builder.debug_metadata = None
        if entry.terminator is not None:
            builder.position_before(entry.terminator)
        else:
            builder.position_at_end(entry)
        place = builder.alloca(kind, size=size, name=name)
        builder.store(kind(None), place)
        builder.position_at_end(block)
        if zfill:
            builder.store(kind(None), place)
        builder.debug_metadata = notes
        return place

    cgutils.alloca_once = alloca_once


def _variables() -> None:
    """Which variables an instruction names."""
    from numba.core import ir

    skipped = {str, int, float, bool, complex, type(None), ir.Loc}

    def gather(value: Any, found: list) -> list:
        for part in value.values() if type(value) is dict else value:
            kind = type(part)
            if kind is ir.Var:
                found.append(part)
            elif kind is ir.Expr:
                gather(part._kws, found)
            elif kind is dict or kind is list or kind is tuple:
                gather(part, found)
            elif kind not in skipped and isinstance(part, (ir.Inst, ir.Var)):
                found.extend([part] if isinstance(part, ir.Var) else part.list_vars())
        return found

    ir.Inst._rec_list_vars = lambda self, value: gather(value if isinstance(value, (dict, list, tuple)) else (value,), [])


def _peepholes() -> None:
    """Context managers, and dictionaries, whose instructions were looked for in functions that have none."""
    from numba.core import interpreter, ir

    def only(plain: Callable, concerned: Callable[[Any], bool]) -> Callable:
        def rewrite(func_ir: Any) -> Any:
            some = any(concerned(each) for block in func_ir.blocks.values() for each in block.body)
            return plain(func_ir) if some else func_ir

        return rewrite

    def makes_table(each: Any) -> bool:
        return type(each) is ir.Assign and type(each.value) is ir.Expr and each.value.op == "build_map"

    interpreter.peep_hole_delete_with_exit = only(interpreter.peep_hole_delete_with_exit, lambda each: type(each) is ir.EnterWith)
    interpreter.peep_hole_fuse_dict_add_updates = only(interpreter.peep_hole_fuse_dict_add_updates, makes_table)


def _questions() -> None:
    """What is asked at each instruction, with the same answer each time: are notes for debuggers made, is a log kept, does a
    function that makes code take the line of the source, which class stands for an array."""
    from numba.core import base, lowering, ssa
    from numba.np import arrayobj

    plain_loc = base._has_loc

    def has_loc(function: Any) -> bool:
        code = getattr(function, "__code__", None)
        if code is None or hasattr(function, "__wrapped__"):
            return plain_loc(function)
        return "loc" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    class NoLog:
        debug = staticmethod(lambda *_: None)

    base._has_loc, arrayobj.make_array, ssa._logger = has_loc, cache(arrayobj.make_array), NoLog
    lowering.Lower._disable_sroa_like_opt = False


def _attributes() -> None:
    """The type of an attribute, say of a function of ``math``."""
    from numba.core.typing.context import BaseContext

    plain, known = BaseContext.resolve_getattr, {}

    def resolve_getattr(self, kind: Any, name: str) -> Any:
        found = known.get((kind, name))
        if found is None:
            found = known[kind, name] = plain(self, kind, name)
        return found

    BaseContext.resolve_getattr = resolve_getattr


def _sizes() -> None:
    """The size of a type: LLVM was asked by parsing a module each time."""
    from llvmlite.ir import types

    for name in ("get_abi_size", "get_abi_alignment"):
        plain, known = getattr(types.Type, name), {}

        def size(self, target, context=None, plain=plain, known=known):
            if isinstance(self, types.IdentifiedStructType):  # what it is called does not say what it is
                return plain(self, target, context)
            key = str(self)
            if key not in known:
                known[key] = plain(self, target, context)
            return known[key]

        setattr(types.Type, name, size)


def _refreshes() -> None:
    """Look for what was registered anew only where something was."""
    from numba.core.registry import cpu_target

    typing, target = cpu_target.typing_context, cpu_target.target_context

    def registered() -> int:
        tables = [table for context in (typing, target) for registry in context._registries for table in vars(registry).values()]
        return sum(len(table) for table in tables if isinstance(table, list))

    for context in (target, typing):
        context.refresh()
    for context in (target, typing):

        def refresh(plain=context.refresh, seen=[registered()]):  # noqa: B006, it remembers
            if seen[0] != registered():
                plain()
                seen[0] = registered()

        context.refresh = refresh


def _orders() -> None:
    """The order in which ways to type a call are tried."""
    from numba.core import utils

    plain, known = utils.order_by_target_specificity, {}

    def order(target: Any, templates: list, fnkey: Any = "") -> list:
        key = target, tuple(templates)
        if key not in known:
            known[key] = plain(target, templates, fnkey)
        return known[key]

    utils.order_by_target_specificity = order


def _calls() -> None:
    """What an operator gives for numbers, arrays and tuples; Numba tries dozens of ways each time."""
    from numba.core import types
    from numba.core.types.functions import BaseFunction

    plain = BaseFunction.get_call_type
    simple = (types.Number, types.Boolean, types.NoneType, types.Array, types.BaseTuple, types.SliceType)

    def get_call_type(self, context, args, kws):
        if kws or getattr(self.key[0], "__module__", None) != "_operator" or not all(isinstance(a, simple) for a in args):
            return plain(self, context, args, kws)
        known = self.__dict__.setdefault("known calls", {})
        if args not in known:
            signature = plain(self, context, args, kws)
            known[args] = signature, self._impl_keys[signature.args]
        signature, key = known[args]
        self._impl_keys[signature.args] = key
        return signature

    BaseFunction.get_call_type = get_call_type


def _texts() -> None:
    """Instructions in LLVM's language."""
    from llvmlite.ir import Constant, values
    from llvmlite.ir.instructions import ExtractValue, Instruction
    from llvmlite.ir.types import Type, VoidType

    def reference(self) -> str:
        name = self._name
        if "\\" in name or '"' in name:
            name = name.replace("\\", "\\5c").replace('"', "\\22")
        return f'{self.name_prefix}"{name}"'

    def text(self) -> str:
        buffer = [] if isinstance(self.type, VoidType) else [self.get_reference() + " = "]
        self.descr(buffer)
        return "".join(buffer).rstrip()

    def describe(self, buffer: list) -> None:
        name = " ".join([self.opname, *self.flags]) if self.flags else self.opname
        more = self._stringify_metadata(leading_comma=True) if self.metadata else ""
        buffer.append(f"{name} {self.type} {', '.join([o.get_reference() for o in self.operands])}{more}\n")

    def describe_part(self, buffer: list) -> None:
        more = self._stringify_metadata(leading_comma=True) if self.metadata else ""
        whole = self.aggregate
        buffer.append(f"extractvalue {whole.type} {whole.get_reference()}, {', '.join(map(str, self.indices))} {more}\n")

    values.NamedValue._get_reference, values.NamedValue._to_string = reference, text
    Instruction.descr, ExtractValue.descr = describe, describe_part
    Type.__call__ = lambda self, value: Constant(self, value)


def _names() -> None:
    """Names of values, numbered where they come again."""
    from llvmlite.ir._utils import DuplicatedNameError, NameScope

    def register(self, name: str, deduplicate: bool = False) -> str:
        used = self._useset
        if name in used:
            if not deduplicate:
                raise DuplicatedNameError(name)
            base, number = name, self._basenamemap[name]
            while name in used:
                number += 1
                name = f"{base}.{number}"
            self._basenamemap[base] = number
        used.add(name)
        return name

    NameScope.register = register


PARTS = (
    _flags, _events, _contexts, _lifetimes, _rewrites, _places, _variables, _peepholes, _questions, _attributes, _sizes,
    _refreshes, _orders, _calls, _texts, _names,
)  # fmt: skip
