"""Machine code that came with the installation, so that a first step waits for no compiler.

A wheel may hold libraries for common processors (``tools/compiled_wheel.py`` puts them in), each under a name by all that its
code depends on: its sources, the system, and the versions of Python, NumPy, Numba and llvmlite. One that fits goes to where
compiled libraries are kept. What differs in any of these, or is damaged, is left alone: then the library is compiled, as ever.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import llvmlite
import numpy

from tumble.collision.kernels.sources import file_of, numba_version, sources

if TYPE_CHECKING:
    from tumble.collision.kernels.native import Library

FOLDER = Path(__file__).resolve().parents[1] / "machine_code"
# Levels of processors, the best first, and what a processor must have for each.
LEVELS = {"x86-64-v3": ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2")}
LIBRARIES = ("tumble.sim.compiled", "tumble.collision.queries.single")


def name_of(module: str, level: str) -> str:
    """The name of the file of a library for a level of processors, here and now."""
    import llvmlite.binding as llvm

    numbers = ".".join(numpy.__version__.split(".")[:2])
    digest = hashlib.sha256(repr((sys.version_info[:2], numbers, numba_version(), llvmlite.__version__)).encode())
    digest.update(f"{llvm.get_default_triple()} {level}".encode())
    for file in sources(file_of(module)):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return f"{module}-{digest.hexdigest()[:16]}.o"


def fitting(module: str) -> Path | None:
    """The file of a library that fits this processor and these versions; None where none does, or the compiler has settings."""
    from tumble.collision.kernels.building.objects import ELSEWHERE

    if any(name.startswith("NUMBA_") and name not in ELSEWHERE for name in os.environ):
        return None
    import llvmlite.binding as llvm

    there = llvm.get_host_cpu_features()
    for level, needed in LEVELS.items():
        if all(there.get(feature) for feature in needed) and (path := FOLDER / name_of(module, level)).is_file():
            return path
    return None


@cache
def provide(library: Library) -> bool:
    """Put a library where it is kept, unless it is there; whether that was done. Called before one is used; once is enough."""
    if not FOLDER.is_dir() or library.path.exists():
        return False
    from tumble.collision.kernels.building.objects import read, write

    path = fitting(library.module)
    objects = None if path is None else read(path)
    with contextlib.suppress(OSError):  # nothing can be kept: then it is compiled, as ever
        if objects is not None:
            write(library.path, objects)
            return True
    return False


def main(folder: str, level: str) -> None:
    """Compile the libraries for a level into a folder; tools/compiled_wheel.py calls it, with the compiler set to that level."""
    from tumble.collision.kernels.building.objects import read, write

    for module in LIBRARIES:
        library = importlib.import_module(module).LIBRARY
        library.prepare(lambda *_: None)
        write(Path(folder) / name_of(module, level), read(library.path))


if __name__ == "__main__":
    main(*sys.argv[1:])
