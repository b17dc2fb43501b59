"""Machine code of kernels without their compiler: kept in one file, loaded by LLVM, called by address.

A :class:`Library` is what Python asks of compiled code again and again: a few kernels, its entries, and all that they reach. It
is compiled once (building/) into one file of object code in the cache of kernels. It loads in a tenth of a second, without Numba.
Until all of it is compiled, each kernel is compiled when it is reached.

An entry takes groups of arrays (group.py), numbers and tuples of them. :meth:`Entry.bind` lays its arguments down once, as
machine words in a row; a call is then one of C with one argument, for which Python's lock is released:

>>> call = ADVANCE.bind(model, geometry, settings, table, saved)
>>> done, result = call(100)
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tumble.collision.kernels.building.objects import RAISED, Objects, add_code, engine, kept_at, kept_under, name_of, offer, read
from tumble.collision.kernels.group import Group, own_tables
from tumble.collision.kernels.jit import DISABLED
from tumble.collision.kernels.sources import file_of

if TYPE_CHECKING:
    from tumble.collision.kernels.building.growing import Growing


HELD = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)  # keeps Python's lock, which costs less than to give it away and take it again


class Entry:
    """A kernel that Python calls; ``examples()`` gives arguments of its one signature."""

    def __init__(self, kernel: Callable, examples: Callable[[], tuple]):
        self.kernel, self.examples, self.library = kernel, examples, None

    @property
    def name(self) -> str:
        return name_of(self.kernel)

    @property
    def path(self) -> Path:
        """Where its code and the way into it are kept."""
        return kept_at(self.kernel).with_suffix(".entry.o")

    @functools.cached_property
    def native(self) -> Code | None:
        """Its machine code; None: Python, or a dispatcher of Numba's, does the work."""
        return self.library.code(self.name) if self.is_native else None

    def bind(self, *arguments: Any) -> Callable[..., Any]:
        """The kernel with its first arguments given: they stay packed. The others, whole numbers, are those of a call."""
        if not self.is_native:
            return Plain(self.kernel, arguments if DISABLED else tuple(map(own_tables, arguments)))
        if self.library.whole:
            return Call(self.native, arguments)
        return Meanwhile(self, arguments) if self.library.meanwhile else Careful(self.native, arguments)

    @property
    def is_native(self) -> bool:
        """Machine code does the work, at least once it is there."""
        return not DISABLED and Library.used


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

    def pair(self, value: int) -> tuple[float, float]:
        """The two numbers that the kernel returns, for the last of its arguments."""
        return self(value)

    def part(self, value: int, which: tuple[int, int]) -> np.ndarray:
        """The numbers that the kernel returns from one place up to another, for the last of its arguments; read-only."""
        out = np.array(self(value)[slice(*which)])
        out.setflags(write=False)
        return out


class Call:
    """A bound kernel: the words of its arguments, and where what it returns goes, behind them."""

    __slots__ = (
        "_address", "_code", "_first", "_function", "_held", "_kinds", "_last", "_numbers", "_places", "_reals", "_words",
        "arguments",
    )  # fmt: skip

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
        self._held, self._places = None, {}
        self._address = ctypes.addressof(self._words)

    def __call__(self, *rest: int) -> Any:
        words = self._words
        if rest:
            words[self._first] = rest[0]
            for k in range(1, len(rest)):
                words[self._first + k] = rest[k]
        if self._function(self._address):
            raise failure()
        last, kinds = self._last, self._kinds
        if kinds == "qq":
            return words[last], words[last + 1]
        if kinds == "q":
            return words[last]
        if kinds == "dd":
            return self._reals[last], self._reals[last + 1]
        out = [words[last + k] if kind == "q" else float(self._numbers[k]) for k, kind in enumerate(kinds)]
        return tuple(out) if len(out) > 1 else out[0] if out else None

    def pair(self, value: int) -> tuple[float, float]:
        """The two real numbers that the kernel returns, for the last of its arguments: as the call itself, in less time."""
        self._words[self._first] = value
        if self._function(self._address):
            raise failure()
        last, reals = self._last, self._reals
        return reals[last], reals[last + 1]

    def part(self, value: int, which: tuple[int, int]) -> np.ndarray:
        """The real numbers that the kernel returns from one place up to another, for the last of its arguments; read-only. For
        kernels so short that other threads need not run meanwhile."""
        self._words[self._first] = value
        if self._held is None:
            self._held = HELD(ctypes.cast(self._function, ctypes.c_void_p).value)
        self._held(self._address)
        place = self._places.get(which)
        if place is None:
            place = self._places[which] = self._numbers[slice(*which)]
        out = place.copy()
        out.setflags(False)
        return out


class Careful(Call):
    """A bound kernel of a library that is not all compiled. If its wait for another kernel ends early, as by Ctrl-C, all arrays
    are set back to what they were before the call."""

    __slots__ = ()

    def __call__(self, *rest: int) -> Any:
        with all_or_nothing(self.arguments):
            return super().__call__(*rest)


class Meanwhile(Plain):
    """A bound kernel of a library that is not all compiled: Python does the work as long as that is swift, machine code after
    that. Workers compile from its first call on."""

    def __init__(self, entry: Entry, arguments: tuple):
        from tumble.collision.kernels.building.plain import for_machine_code, plain

        super().__init__(plain(entry.kernel), arguments)
        self._for_machine_code = for_machine_code
        self._entry, self._growing, self._native = entry, entry.library.growing, None

    def __call__(self, *rest: int) -> Any:
        if self._native is None and self._growing.patience > 0.0 and not self._growing.grown:
            try:
                with self._growing.in_python(), all_or_nothing(self.arguments), np.errstate(all="ignore"):
                    return self.kernel(*self.arguments, *rest)
            except Exception as error:
                if not self._for_machine_code(error):
                    raise
        kind = Call if self._growing.grown else Careful
        if self._native.__class__ is not kind or self._native.arguments is not self.arguments:
            self._native = kind(self._entry.native, self.arguments)
        return self._native(*rest)


@contextlib.contextmanager
def all_or_nothing(arguments: tuple) -> Iterator[None]:
    """Where what is done ends early, the arrays of these arguments are as they were before."""
    arrays = [array for array in arrays_of(arguments) if array.flags.writeable]
    before = [array.copy() for array in arrays]
    try:
        yield
    except BaseException:
        for array, values in zip(arrays, before, strict=True):
            array[...] = values
        raise


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
            raise failure()

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


def arrays_of(value: Any) -> Iterator[np.ndarray]:
    """The arrays of an argument."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from arrays_of(part)


class Library:
    """Entries that are compiled and kept together; ``module`` is where this stands, for the processes that compile it."""

    used = True  # False: kernels are called by Numba's dispatchers, as those must be whose far calls are clocked

    def __init__(self, module: str, *entries: Entry, first: tuple[str, ...] = (), meanwhile: bool = False):
        self.module, self.entries, self.first = module, entries, first
        self.meanwhile = meanwhile  # Python may do the work as long as not all is compiled
        for entry in entries:
            entry.library = self

    @functools.cached_property
    def path(self) -> Path:
        """Where it is kept when all is compiled."""
        return kept_under(self.module, file_of(self.module))

    @functools.cached_property
    def growing(self) -> Growing | None:
        """Its kernels one by one, where they are not kept as one file."""
        return self._kept[1]

    @functools.cached_property
    def _kept(self) -> tuple[dict[str, Code], Growing | None]:
        objects, growing = read(self.path), None
        if objects is None:
            from tumble.collision.kernels.building.growing import Growing

            growing = Growing(self)
            if not growing.grown:
                return {}, growing
            objects = growing.pack()
        return loaded(objects), None

    def code(self, name: str) -> Code:
        """The machine code of an entry. What it reaches is compiled when it is reached, where it is not kept."""
        return self._kept[0][name] if self.growing is None else self.growing.code(name)

    def prepare(self, report: Callable[[int, int, str], None], *beside: Library) -> int:
        """Compile what is not kept, on all cores; how many kernels. ``report`` hears how many are done, of how many; the next.
        ``beside``: libraries whose entries are compiled too; all the kernels that these reach are in this one."""
        return 0 if DISABLED or self.growing is None else self.growing.finish(report, *beside)

    @property
    def whole(self) -> bool:
        """Nothing is compiled on the way."""
        return DISABLED or not Library.used or self.growing is None or self.growing.grown


def failure() -> BaseException:
    """Why a kernel ended without a result: an error of Python while it waited for another kernel, or an error that kernels
    raise."""
    return RAISED.pop() if RAISED else MemoryError("a kernel found no memory")


def loaded(objects: Objects) -> dict[str, Code]:
    """Load object code in its order: what comes later calls what came before by its name. The entries among it."""
    import llvmlite.binding as llvm

    linker, _ = engine()
    one = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)
    many = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    found = {}
    for name, symbol, code in objects:
        add_code(linker, code)
        kind, _, rest = name.partition(" ")
        if kind == "far":
            llvm.add_symbol(rest, linker.get_function_address(symbol))
        elif kind == "runtime":
            offer(linker, rest.split(), symbol)
        elif kind == "entry":
            entry, count, *kinds = rest.split()
            each = many(linker.get_function_address(f"{symbol}.each"))
            found[entry] = Code(one(linker.get_function_address(symbol)), each, int(count), "".join(kinds))
    return found
