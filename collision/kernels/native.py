"""Machine code of kernels without their compiler: kept in one file, loaded by LLVM, called by address.

A :class:`Library` is what Python asks of compiled code again and again: a few kernels, its entries, and all that they reach. It
is compiled once (build.py) into one file of object code in the cache of kernels. It loads in a tenth of a second, without Numba.

An entry takes groups of arrays (group.py), numbers and tuples of them. :meth:`Entry.bind` lays its arguments down once, as
machine words in a row; a call is then one of C with one argument, for which Python's lock is released:

>>> call = ADVANCE.bind(model, geometry, settings, table, saved)
>>> done, result = call(100)
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import struct
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from collision.kernels.group import Group
from collision.kernels.jit import DISABLED
from collision.kernels.sources import ROOT, cache_root, source_hash

MAGIC = b"tumble1\n"
DIGEST = 16  # bytes
# Symbols of Numba that only what takes arguments from Python refers to, which is not called here.
UNUSED = (
    "NRT_adapt_ndarray_from_python", "NRT_adapt_ndarray_to_python", "NRT_adapt_ndarray_to_python_acqref", "NRT_decref",
    "NRT_incref", "numba_do_raise", "numba_gil_ensure", "numba_gil_release", "numba_runtime_build_excinfo_struct",
    "numba_unpickle", "numba_unpack_slice", "numba_set_fnclear_error", "NRT_Reallocate",
)  # fmt: skip
# settings of Numba that are of no matter to code
ELSEWHERE = ("NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER", "NUMBA_CACHE_DIR", "NUMBA_DISABLE_JIT")
MATHEMATICS = {"numba_ldexp": "ldexp", "numba_frexp": "frexp"}


class Entry:
    """A kernel that Python calls; ``examples()`` gives arguments of its one signature."""

    def __init__(self, kernel: Callable, examples: Callable[[], tuple]):
        self.kernel, self.examples, self.library = kernel, examples, None

    @property
    def name(self) -> str:
        return name_of(self.kernel)

    @functools.cached_property
    def native(self) -> Code | None:
        """Its machine code; None: Python, or a dispatcher of Numba's, does the work."""
        return None if DISABLED or not Library.used else self.library.found[self.name]

    def bind(self, *arguments: Any) -> Callable[..., Any]:
        """The kernel with its first arguments given: they stay packed. The others, whole numbers, are those of a call."""
        if self.native is None:
            return Plain(self.kernel, arguments if DISABLED else tuple(map(_owned, arguments)))
        return Call(self.native, arguments)


def _owned(argument: Any) -> Any:
    """An argument as Numba's dispatchers take it, by types: tables that are not written to, those of a ground, go over as copies,
    for they are of another type."""
    if not isinstance(argument, Group):
        return argument
    return argument._replace(**{name: t.copy() for name, t in argument._asdict().items() if not t.flags.writeable})


class Code(NamedTuple):
    """The machine code of an entry: C functions for one row of words and for many, how many words its arguments are, and of what
    kind what it returns is, a letter each: q a whole number, d a real one."""

    one: Any
    many: Any
    count: int
    kinds: str


class Plain:
    """A bound kernel that Python, or Numba's dispatcher, calls."""

    def __init__(self, kernel: Callable, arguments: tuple):
        self.kernel, self.arguments = kernel, arguments

    def __call__(self, *rest: int) -> Any:
        return self.kernel(*self.arguments, *rest)

    def part(self, value: int, which: slice) -> np.ndarray:
        """Some of the numbers that the kernel returns, for the last of its arguments; read-only."""
        out = np.array(self(value)[which])
        out.setflags(write=False)
        return out


class Call:
    """A bound kernel: the words of its arguments, and where what it returns goes, behind them."""

    __slots__ = ("_address", "_code", "_first", "_function", "_kinds", "_last", "_numbers", "_reals", "_words", "arguments")

    def __init__(self, code: Code, arguments: tuple):
        words = list(flattened(arguments))
        self._code = code
        self._function, _, count, kinds = code
        self._first, self._last, self._kinds = len(words), count, kinds
        self.arguments = arguments  # their arrays stay where they are for as long as this does
        self._words = (ctypes.c_int64 * (count + len(kinds) + 1))(*words)
        if "d" in kinds:
            self._reals = (ctypes.c_double * (count + len(kinds))).from_buffer(self._words)
            self._numbers = np.frombuffer(self._words, float)[count : count + len(kinds)]
        self._address = ctypes.addressof(self._words)

    def __call__(self, *rest: int) -> Any:
        words = self._words
        if rest:
            words[self._first] = rest[0]
            for k in range(1, len(rest)):
                words[self._first + k] = rest[k]
        if self._function(self._address):
            raise MemoryError("a kernel found no memory")  # the one thing that kernels raise
        last, kinds = self._last, self._kinds
        if kinds == "qq":
            return words[last], words[last + 1]
        if kinds == "dd":
            return self._reals[last], self._reals[last + 1]
        out = [words[last + k] if kind == "q" else float(self._numbers[k]) for k, kind in enumerate(kinds)]
        return tuple(out) if len(out) > 1 else out[0] if out else None

    def part(self, value: int, which: slice) -> np.ndarray:
        """Some of the numbers that the kernel returns, for the last of its arguments; read-only."""
        self._words[self._first] = value
        self._function(self._address)
        out = self._numbers[which].copy()
        out.setflags(write=False)
        return out


class Calls:
    """Bound kernels of one entry that run one after the other in one call, or, called so, on several threads at once."""

    def __init__(self, calls: list[Call]):
        self.calls = calls
        self._rows = (ctypes.c_void_p * len(calls))(*(call._address for call in calls))
        self._address = ctypes.addressof(self._rows)
        self._many = calls[0]._code.many if calls else None

    def run(self, first: int, stop: int, *rest: int) -> None:
        """Call those from ``first`` up to ``stop`` with these last arguments."""
        for call in self.calls[first:stop]:
            for k, value in enumerate(rest, call._first):
                call._words[k] = value
        if self._many(self._address, first, stop):
            raise MemoryError("a kernel found no memory")

    def result(self, k: int) -> tuple[int, int]:
        """What a call gave that gives two whole numbers."""
        call = self.calls[k]
        return call._words[call._last], call._words[call._last + 1]


def flattened(value: Any) -> Iterator[int]:
    """The machine words of an argument."""
    if isinstance(value, Group):
        yield value._address
    elif isinstance(value, tuple):
        for part in value:
            yield from flattened(part)
    elif isinstance(value, float):
        yield struct.unpack("q", struct.pack("d", value))[0]
    else:
        yield int(value)


class Library:
    """Entries that are compiled and kept together; ``module`` is where this stands, for the processes that compile it."""

    used = True  # False: kernels are called by Numba's dispatchers, as those must be whose far calls are clocked

    def __init__(self, module: str, *entries: Entry):
        self.module, self.entries = module, entries
        self._made: list[tuple[str, str, bytes]] | None = None  # what was just compiled
        for entry in entries:
            entry.library = self

    @functools.cached_property
    def path(self) -> Path:
        """Where it is kept: in a folder by all that its code depends on, under a name by processor and settings."""
        import llvmlite.binding as llvm

        settings = sorted((k, v) for k, v in os.environ.items() if k.startswith("NUMBA_") and k not in ELSEWHERE)
        machine = llvm.get_default_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
        key = hashlib.sha256(repr((settings, machine)).encode()).hexdigest()[:16]
        return (
            cache_root() / f"{self.module}-{source_hash(ROOT.joinpath(*self.module.split('.')).with_suffix('.py'))}" / f"{key}.o"
        )

    @functools.cached_property
    def found(self) -> dict[str, Code]:
        """Entries by name."""
        objects = read(self.path)
        if objects is None:
            from collision.kernels.build import Line

            self.prepare(Line())
            objects = self._made
        return loaded(objects)

    def prepare(self, report: Callable[[int, int, str], None]) -> int:
        """Compile what is not kept, on all cores; how many kernels. ``report`` hears how many are done, of how many; the next."""
        if DISABLED or "found" in self.__dict__ or read(self.path) is not None:
            return 0
        from collision.kernels.build import build, dependencies

        self._made = build(self, report)
        return len(dependencies(self))


def name_of(kernel: Callable) -> str:
    return f"{kernel.__module__}.{kernel.__qualname__}"


def file_of(kernel: Callable) -> Path:
    """The source file of a kernel."""
    return Path(kernel.py_func.__code__.co_filename).resolve()


def read(path: Path) -> list[tuple[str, str, bytes]] | None:
    """What :func:`write` wrote; None where there is nothing, or it is damaged: machine code that is would end the interpreter."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    head = len(MAGIC) + DIGEST
    if data[: len(MAGIC)] != MAGIC or _digest(data[head:]) != data[len(MAGIC) : head]:
        return None
    parts, at = [], head
    while at < len(data):
        (size,) = struct.unpack_from("q", data, at)
        parts.append(data[at + 8 : at + 8 + size])
        at += 8 + size
    return [(a.decode(), b.decode(), c) for a, b, c in zip(parts[::3], parts[1::3], parts[2::3], strict=True)]


def write(path: Path, objects: list[tuple[str, str, bytes]]) -> None:
    """Objects as (name, symbol, object code): whole, or not at all."""
    parts = [part for name, symbol, code in objects for part in (name.encode(), symbol.encode(), code)]
    body = b"".join(struct.pack("q", len(part)) + part for part in parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=path.parent, suffix=".part")
    with open(handle, "wb") as file:
        file.write(MAGIC + _digest(body) + body)
    os.replace(part, path)


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=DIGEST).digest()


_ENGINES: list[Any] = []  # they own the code


def loaded(objects: list[tuple[str, str, bytes]]) -> dict[str, Code]:
    """Load object code in its order: what comes later calls what came before by its name. The entries among it."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten()
    machine = target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    _ENGINES.append(engine)
    process = ctypes.CDLL(None)
    for name, known in {**dict.fromkeys(UNUSED, "abort"), **MATHEMATICS}.items():
        if llvm.address_of_symbol(name) is None:  # Numba has not said its own
            llvm.add_symbol(name, ctypes.cast(getattr(process, known), ctypes.c_void_p).value)
    one = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)
    many = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    found = {}
    for name, symbol, code in objects:
        engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(code))
        engine.finalize_object()
        kind, _, rest = name.partition(" ")
        if kind == "far":
            llvm.add_symbol(rest, engine.get_function_address(symbol))
        elif kind == "runtime":
            for function in rest.split():
                if llvm.address_of_symbol(function) is None:
                    llvm.add_symbol(function, engine.get_function_address(function))
        elif kind == "entry":
            entry, count, *kinds = rest.split()
            each = many(engine.get_function_address(f"{symbol}.each"))
            found[entry] = Code(one(engine.get_function_address(symbol)), each, int(count), "".join(kinds))
    return found
