"""Numba made swift, for a process that compiles kernels and calls none of them.

Each part does what Numba or llvmlite does with less work, and the machine code is the same to the last byte. Together they take a
third off what compiling costs. A part that does not find what it stands for, in another version, is left out.
"""

from __future__ import annotations

import contextlib
import gc
from typing import Any

RARELY = (200_000, 10, 100)  # when garbage is collected: a tenth of the time went into that


def prepare_numba() -> None:
    """Make Numba swift in this process."""
    import numba.core.compiler

    from tumble.collision.kernels import code_library, compiler

    compiler.ALONE = True
    numba.core.compiler.Compiler.define_pipelines = code_library.alone
    for part in (_flags, _events, _variables, _sizes, _refreshes, _orders, _calls, _texts, _names):
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


def _variables() -> None:
    """Which variables an instruction names."""
    from numba.core import ir

    skipped = {str, int, float, bool, complex, type(None), ir.Loc}

    def gather(value: Any, found: list) -> list:
        kind = type(value)
        if kind is ir.Var:
            found.append(value)
        elif kind is dict or kind is list or kind is tuple:
            for part in value.values() if kind is dict else value:
                if type(part) not in skipped:
                    gather(part, found)
        elif kind not in skipped and isinstance(value, (ir.Inst, ir.Var)):
            found.extend([value] if isinstance(value, ir.Var) else value.list_vars())
        return found

    ir.Inst._rec_list_vars = lambda self, value: gather(value, [])


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
    from llvmlite.ir import values
    from llvmlite.ir.instructions import ExtractValue, Instruction
    from llvmlite.ir.types import VoidType

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
