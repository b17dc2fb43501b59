"""Machine code as object files: where it is kept, written whole, never read where it is damaged, loaded by LLVM.

Objects are (name, symbol, code). Names: "far SYMBOL" is a kernel that others call by that symbol; "code" what the next object
needs; "entry KERNEL COUNT KINDS" a way into a kernel; "stubs KERNELS ..." and "runtime FUNCTIONS ..." define what their names
tell.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import struct
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from tumble.collision.kernels.sources import cache_root, source_hash
from tumble.collision.regular import put_sealed, sealed

Objects = list[tuple[str, str, bytes]]
MOST_BYTES = 2_000_000_000  # of a file
# settings of Numba that are of no matter to code
ELSEWHERE = ("NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER", "NUMBA_CACHE_DIR", "NUMBA_DISABLE_JIT")
# Symbols of Numba that only what takes arguments from Python refers to, which is not called here, and lists, which kernels do not
# make.
UNUSED = (
    "NRT_adapt_ndarray_from_python", "NRT_adapt_ndarray_to_python", "NRT_adapt_ndarray_to_python_acqref", "NRT_decref",
    "NRT_incref", "numba_do_raise", "numba_gil_ensure", "numba_gil_release", "numba_runtime_build_excinfo_struct",
    "numba_unpickle", "numba_unpack_slice", "numba_set_fnclear_error", "NRT_Reallocate", "NRT_MemInfo_new_varsize_dtor",
    "NRT_MemInfo_varsize_realloc",
)  # fmt: skip
MATHEMATICS = {"numba_ldexp": "ldexp", "numba_frexp": "frexp"}


def name_of(kernel: Callable) -> str:
    """The name of a kernel, by which far calls know it too."""
    return f"{kernel.__module__}.{kernel.__qualname__}"


def file_of(kernel: Callable) -> Path:
    """The source file of a kernel."""
    return Path(kernel.py_func.__code__.co_filename).resolve()


def kept_under(name: str, source: Path) -> Path:
    """Where code is kept: in a folder by all that it depends on, under a name by processor and settings of the compiler."""
    return cache_root() / f"{name}-{source_hash(source)}" / f"{key()}.o"


def kept_at(kernel: Callable) -> Path:
    """Where the objects of a kernel are kept."""
    source = file_of(kernel)
    folder = cache_root() / f"{source.parent.name}.{source.stem}-{source_hash(source)}"
    return folder / f"{kernel.__qualname__}.{key()}.o"


def key() -> str:
    """Of this processor, the compiler's settings, and what calls it."""
    settings = sorted((k, v) for k, v in os.environ.items() if k.startswith("NUMBA_") and k not in ELSEWHERE)
    worker = source_hash(Path(__file__).with_name("worker.py"))
    return hashlib.sha256(repr((settings, _machine(), worker)).encode()).hexdigest()[:16]


@cache
def _machine() -> tuple[str, str, str]:
    import llvmlite.binding as llvm

    return llvm.get_default_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def read(path: Path) -> Objects | None:
    """What :func:`write` wrote; None where there is nothing, or it is damaged: machine code that is would end the interpreter."""
    data = sealed(path, MOST_BYTES)
    if data is None:
        return None
    parts, at = [], 0
    while at < len(data):
        (size,) = struct.unpack_from("q", data, at)
        parts.append(bytes(data[at + 8 : at + 8 + size]))
        at += 8 + size
    return [(a.decode(), b.decode(), c) for a, b, c in zip(parts[::3], parts[1::3], parts[2::3], strict=True)]


def write(path: Path, objects: Objects) -> None:
    """Objects as (name, symbol, object code): whole, or not at all."""
    parts = [part for name, symbol, code in objects for part in (name.encode(), symbol.encode(), code)]
    put_sealed(path, *(piece for part in parts for piece in (struct.pack("q", len(part)), part)))


def keep(path: Path, objects: Objects) -> bool:
    """Write objects where that can be done; whether it was."""
    try:
        write(path, objects)
    except OSError:
        return False
    return True


RAISED: list[BaseException] = []  # in Python, while a kernel waited for another
_ENGINES: list[Any] = []  # they own the code


def engine() -> tuple[Any, Any]:
    """LLVM's linker, for some objects, and the processor that it links for."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten()
    machine = target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, jit=True)
    if not _ENGINES:
        process = ctypes.CDLL(None)
        for name, known in {**dict.fromkeys(UNUSED, "abort"), **MATHEMATICS}.items():
            if llvm.address_of_symbol(name) is None:  # Numba has not said its own
                llvm.add_symbol(name, ctypes.cast(getattr(process, known), ctypes.c_void_p).value)
    made = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    _ENGINES.append(made)
    return made, machine


def add_code(linker: Any, code: bytes) -> None:
    import llvmlite.binding as llvm

    linker.add_object_file(llvm.object_file.ObjectFileRef.from_data(code))
    linker.finalize_object()


def offer(linker: Any, functions: list[str], begin: str) -> None:
    """Have kernels find these functions of the runtime, where Numba has not said its own; ``begin`` comes before them."""
    import llvmlite.binding as llvm

    ctypes.CFUNCTYPE(None)(linker.get_function_address(begin))()
    for function in functions:
        if llvm.address_of_symbol(function) is None:
            llvm.add_symbol(function, linker.get_function_address(function))


def loaded_far(objects: Objects) -> int:
    """The address of a far kernel."""
    linker, _ = engine()
    ((_, symbol, code),) = objects
    add_code(linker, code)
    return linker.get_function_address(symbol)
