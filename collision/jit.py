"""The one decorator for compiled kernels, and the cache that can not go stale.

Numba's own on-disk cache looks at the file of the function alone: edit a callee in another file and the caller runs on
with the old code inlined. Here each kernel is filed in a folder named by a hash over the sources of its module, of
every module of ours that it imports, directly or not, and over the versions of Python, NumPy, Numba and llvmlite.
An edit anywhere below a kernel gives another folder; an edit elsewhere leaves the kernel's folder valid.

No ``fastmath``: it changes results between machines. Numba's default contracts nothing to fused multiply-adds, which
is what lets runs repeat bit for bit. ``error_model="numpy"``: a division by zero gives inf or nan, as in C.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import llvmlite
import numba
import numpy
import platformdirs
from numba.core import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("collision", "sim")
_IMPORT = re.compile(rf"^\s*(?:from\s+((?:{'|'.join(PACKAGES)})[\w.]*)\s+import\s+([^#\n]*)|import\s+((?:{'|'.join(PACKAGES)})[\w.]*))", re.M)


def cache_root() -> Path:
    """The folder of compiled kernels: $TUMBLE_CACHE_DIR, else the user's cache folder."""
    base = os.environ.get("TUMBLE_CACHE_DIR") or platformdirs.user_cache_dir("tumble", appauthor=False)
    return Path(base) / "kernels"


def _file_of(module: str) -> Path | None:
    """The source file of a module of ours, None where the name is not a module."""
    path = ROOT.joinpath(*module.split("."))
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    """Files of ours that a file imports."""
    found = set()
    for source, names, plain in _IMPORT.findall(path.read_text(encoding="utf-8").replace("(\n", "( ")):
        for module in [source or plain, *(f"{source}.{name.split()[0]}" for name in names.strip("() ").split(",") if name.split())]:
            if file := _file_of(module):
                found.add(file)
    return tuple(sorted(found))


def sources(path: Path) -> list[Path]:
    """A source file and all files of ours below it in the import graph, sorted."""
    seen, todo = {path}, [path]
    while todo:
        for file in _imports(todo.pop()):
            if file not in seen:
                seen.add(file)
                todo.append(file)
    return sorted(seen)


@cache
def source_hash(path: Path) -> str:
    """Sixteen hex digits over everything that the machine code of a module's kernels depends on."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    versions = (platform.python_version(), numpy.__version__, numba.__version__, llvmlite.__version__)
    digest.update(repr(versions).encode())
    for file in sources(path):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


class _Locator(_CacheLocator):
    """Tells Numba the folder of a kernel, and a stamp that is good for ever in that folder."""

    def __init__(self, py_func: Callable, py_file: str):
        self._py_file = py_file
        self._line = py_func.__code__.co_firstlineno
        path = Path(py_file).resolve()
        self._hash = source_hash(path)
        self._path = cache_root() / f"{path.parent.name}.{path.stem}-{self._hash}"

    def get_cache_path(self) -> str:
        return str(self._path)

    def get_source_stamp(self) -> str:
        return self._hash

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Callable, py_file: str) -> _Locator:
        locator = cls(py_func, py_file)
        locator.ensure_cache_path()
        return locator


class _CacheImpl(CompileResultCacheImpl):
    _locator_classes = [_Locator]


class _KernelCache(FunctionCache):
    _impl_class = _CacheImpl


def kernel(function: Callable | None = None, **options) -> Callable:
    """Compile a function of numbers, tuples and arrays; keep the machine code on disk.

    Use bare, ``@kernel``, or with Numba's options, ``@kernel(parallel=True)``. With NUMBA_DISABLE_JIT=1 the function
    itself comes back, so that tests can run the same source uncompiled.
    """
    if function is None:
        return lambda f: kernel(f, **options)
    if config.DISABLE_JIT:
        return function
    dispatcher = numba.njit(error_model="numpy", **options)(function)
    try:
        dispatcher._cache = _KernelCache(function)
    except OSError:  # a read-only home: compile in memory, as Numba does without a cache
        pass
    return dispatcher


def stale_folders() -> list[Path]:
    """Folders of the cache whose sources or versions are no longer those of this installation."""
    current = {f"{p.parent.name}.{p.stem}-{source_hash(p)}" for package in PACKAGES for p in (ROOT / package).rglob("*.py")}
    root = cache_root()
    return [f for f in sorted(root.iterdir()) if f.name not in current] if root.is_dir() else []


def prune() -> int:
    """Delete stale folders; the number deleted."""
    folders = stale_folders()
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    return len(folders)
