"""Where the time of kernels goes: clocks around far calls, put there by the linker.

A far call goes to a symbol (jit.far). After :func:`start` the linker binds each symbol to a shim, which reads the
processor's clock, calls the kernel, and reads the clock again. The kernels and what is stored of them stay as they are: a
process that does not ask for clocks pays nothing, not even a test of a flag.

>>> start()                     # before the first kernel is called
>>> ...
>>> readings = read()           # symbol: Reading(calls, total, own)
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import llvmlite.binding
import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from tumble.collision.kernels.compiler import Link, calls
from tumble.collision.kernels.native import Library

MOST_SYMBOLS = 256  # symbols
_COUNTS = np.zeros((MOST_SYMBOLS, 3), dtype=np.int64)  # calls, ticks in all, ticks without those of clocked callees
_INSIDE = np.zeros(1, dtype=np.int64)  # ticks of the callees of the call that runs
_NAMES: list[str] = []
_LEAN = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}


class Reading(NamedTuple):
    """Of one symbol: how often it was called, and seconds, with and without those of the clocked kernels that it calls."""

    calls: int
    total: float
    own: float


def available() -> bool:
    """Whether programs may read the processor's clock here."""
    return platform.machine().lower() in ("x86_64", "amd64") and not numba.config.DISABLE_JIT


def start() -> None:
    """Clock all far calls of this process from now on. Kernels that are loaded already go on without clocks."""
    plain = Link.address.func
    Library.used = False  # kernels that were stored as one file call each other without shims

    def address(link: Link) -> int:
        if "address" not in link.__dict__:
            link.__dict__["address"] = plain(link)
            llvmlite.binding.add_symbol(link.symbol, _shim(link))
        return link.__dict__["address"]

    Link.address = property(address)


def reset() -> None:
    _COUNTS[:] = 0
    _INSIDE[:] = 0


def read() -> dict[str, Reading]:
    """What the clocks say since :func:`reset`."""
    if not _NAMES:
        return {}
    tick = _tick()
    rows = zip(_NAMES, _COUNTS.tolist(), strict=False)
    return {name: Reading(calls, total * tick, own * tick) for name, (calls, total, own) in rows if calls}


@cache
def _tick() -> float:
    """Seconds between two ticks of the clock."""
    _now()  # compiled
    begun, first = time.perf_counter(), _now()
    while time.perf_counter() < begun + 0.02:
        pass
    last, ended = _now(), time.perf_counter()
    return (ended - begun) / (last - first)


@intrinsic
def _cycles(context):
    def make(context, builder, signature, arguments):
        kind = ir.FunctionType(ir.IntType(64), [])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.readcyclecounter"), [])

    return types.int64(), make


@intrinsic
def _memory(context, address):
    def make(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())

    return types.CPointer(types.int64)(types.int64), make


@numba.njit
def _now():
    return _cycles()


def _lean(function: Callable) -> Callable:
    return numba.njit(**_LEAN)(function)


_COUNTS_AT, _INSIDE_AT = _COUNTS.ctypes.data, _INSIDE.ctypes.data


@_lean
def _enter():
    inside = _memory(_INSIDE_AT)
    outer = inside[0]
    inside[0] = 0
    return outer, _cycles()


@_lean
def _leave(slot, outer, begun):
    spent = _cycles() - begun
    inside = _memory(_INSIDE_AT)
    counts = _memory(_COUNTS_AT)
    counts[3 * slot] += 1
    counts[3 * slot + 1] += spent
    counts[3 * slot + 2] += spent - inside[0]
    inside[0] = outer + spent


def _shim(link: Link) -> int:
    """The address of a kernel that clocks the target of a far call."""
    slot = len(_NAMES)
    _NAMES.append(link.symbol)
    names = ", ".join(f"a{k}" for k in range(len(link.signature.args)))
    calls = f"    out = plain({names})\n    leave(slot, outer, begun)\n"
    source = f"def shim({names}):\n    outer, begun = enter()\n{calls}    return out\n"
    scope = {"enter": _enter, "leave": _leave, "plain": _caller(link), "slot": slot}
    exec(source, scope)
    shim = _lean(scope["shim"])
    shim.compile(link.signature.args)
    (made,) = shim.overloads.values()
    _KEPT.append(shim)
    return made.library.get_pointer_to_function(made.fndesc.llvm_func_name)


_KEPT: list = []  # machine code that the linker refers to


def _caller(link: Link) -> Callable:
    """A function that kernels can call, which goes to the address of a compiled kernel."""
    address = ir.Constant(ir.IntType(64), link.address)
    return calls(link, lambda builder, kind: builder.inttoptr(address, kind.as_pointer()))
