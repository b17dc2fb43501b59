"""Compiled kernels on disk: filed so that they can not go stale, and read back only where they are whole.

Numba's own on-disk cache looks at the file of the function alone: edit a callee in another file and the caller runs on
with the old code inlined. Here each kernel is filed in a folder named by a hash over the sources of its module, of
every module of ours that it imports, directly or not, and over the versions of Python, NumPy, Numba and llvmlite.
An edit anywhere below a kernel gives another folder; an edit elsewhere leaves the kernel's folder valid.

Numba also keeps an index beside the code, which two processes that fill it at once can tear, and runs whatever a file holds.
Here each signature on each kind of processor has a file of its own, written whole, with a digest: what is truncated or has a
bit flipped is compiled anew, since machine code that is damaged ends the interpreter.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import os
import pickle
import platform
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy
import platformdirs
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.serialize import dumps

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("collision", "sim")
DIGEST = 16  # bytes
LONGEST = 60  # lines of one import


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


def import_statements(text: str) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports of a source, each at the head of its line, wherever they stand.

    They alone are parsed, since parsing all sources would take longer than all else at the start. A line of a docstring that
    reads like an import counts as one: a file more in the hash does no harm.
    """
    lines = text.splitlines()
    for k, line in enumerate(lines):
        if not line.lstrip().startswith(("import ", "from ")):
            continue
        longest = LONGEST if "(" in line or line.endswith("\\") else 1
        for end in range(k + 1, min(k + longest, len(lines)) + 1):
            with contextlib.suppress(SyntaxError):
                yield from ast.parse("\n".join(lines[k:end]).lstrip()).body
                break


def modules(statement: ast.Import | ast.ImportFrom, package: tuple[str, ...]) -> list[str]:
    """Names of what an import may load, in a file of this package: modules, and what is imported from them."""
    names = [alias.name for alias in statement.names]
    if isinstance(statement, ast.Import):
        return names
    above = package[: len(package) - statement.level + 1] if statement.level else ()
    source = ".".join([*above, *([statement.module] if statement.module else [])])
    return [source, *(f"{source}.{name}" for name in names)]


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    """Files of ours that a file imports."""
    package = path.relative_to(ROOT).parent.parts if path.is_relative_to(ROOT) else ()
    found = set()
    for statement in import_statements(path.read_text(encoding="utf-8")):
        for module in modules(statement, package):
            if module.split(".")[0] in PACKAGES and (file := _file_of(module)):
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

    def ensure_cache_path(self) -> None:
        """Made as the first kernel is written into it: what is there can be read where nothing may be written."""

    @classmethod
    def from_function(cls, py_func: Callable, py_file: str) -> _Locator:
        return cls(py_func, py_file)


class _CacheImpl(CompileResultCacheImpl):
    _locator_classes = [_Locator]


class _Files:
    """The machine code of one kernel: a file for each signature and processor; a digest, then what Numba hands over."""

    def __init__(self, folder: str, base: str):
        self.folder, self.base = Path(folder), base

    def path(self, key: object) -> Path:
        return self.folder / f"{self.base}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"

    def load(self, key: object) -> Any:
        """What was saved under a key; None where there is nothing, or it is damaged."""
        try:
            data = self.path(key).read_bytes()
        except OSError:
            return None
        if _digest(data[DIGEST:]) != data[:DIGEST]:
            return None
        stored, code = pickle.loads(data[DIGEST:])
        return code if stored == key else None

    def save(self, key: object, code: object) -> None:
        payload = dumps((key, code))
        self.folder.mkdir(parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=self.folder, suffix=".part")
        try:
            with open(handle, "wb") as file:
                file.write(_digest(payload) + payload)
            os.replace(part, self.path(key))
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(part)
            raise

    def flush(self) -> None:
        for file in self.folder.glob(f"{self.base}.*.nbc"):
            file.unlink(missing_ok=True)


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=DIGEST).digest()


class KernelCache(FunctionCache):
    """Numba's cache of one function, in files of ours. Where they can not be written it says so once, and goes on."""

    _impl_class = _CacheImpl
    _warned = False

    def __init__(self, py_func: Callable):
        super().__init__(py_func)
        self._cache_file = _Files(self._cache_path, self._impl.filename_base)

    def save_overload(self, sig: object, data: object) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            if not KernelCache._warned:
                KernelCache._warned = True
                why = f"compiled kernels can not be kept in {cache_root()} ({error.strerror}), so that each start compiles anew"
                warnings.warn(f"{why}; TUMBLE_CACHE_DIR names another folder", RuntimeWarning, stacklevel=2)


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
