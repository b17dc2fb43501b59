"""What the machine code of a kernel depends on: sources and versions, found without loading the compiler.

A kernel is filed under a hash over the sources of its module, of every module of ours that it imports, directly or not, and over
the versions of Python, NumPy, Numba and llvmlite. An edit anywhere below a kernel gives another hash; an edit elsewhere leaves
the kernel's own as it is.

Sources are read when the module of a kernel is loaded, and not again. Were they read when code is kept, a process that runs while
they are edited would keep the code of the old ones under the hash of the new, where a later process finds it and ends.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import llvmlite
import numpy
import platformdirs

ROOT = Path(__file__).resolve().parents[2]  # where the folders of these packages are
PACKAGES = ("collision", "sim")
LONGEST_IMPORT = 60  # lines of one import


def cache_root() -> Path:
    """The folder of compiled kernels: $TUMBLE_CACHE_DIR, else the user's cache folder."""
    base = os.environ.get("TUMBLE_CACHE_DIR") or platformdirs.user_cache_dir("tumble", appauthor=False)
    return Path(base) / "kernels"


@cache
def file_of(module: str) -> Path | None:
    """The source file of a module of ours, None where the name is none of these."""
    top, *below = module.split(".")
    if top != "tumble" or not below or below[0] not in PACKAGES:
        return None
    path = ROOT.joinpath(*below)
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


@cache
def _content(path: Path) -> bytes:
    """A source file as it was when it was first asked for."""
    _read.append(path)
    return path.read_bytes()


_read: list[Path] = []


@cache
def remember(file: str) -> None:
    """Read the source of a module that is just being loaded, and those of all that it imports."""
    with contextlib.suppress(OSError):  # of a function that was typed in
        sources(Path(file).resolve())


def edited() -> list[Path]:
    """Sources that are no longer as they were when they were read."""
    return sorted(path for path in _read if not path.is_file() or path.read_bytes() != _content(path))


def import_path() -> str:
    """The folder in which another process finds the package."""
    return str(Path(sys.modules["tumble"].__file__).resolve().parents[1])


def import_statements(text: str) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports of a source, each at the head of its line, wherever they stand.

    They alone are parsed, since parsing all sources would take longer than all else at the start. A line of a docstring that
    reads like an import counts as one: a file more in the hash does no harm.
    """
    lines = text.splitlines()
    for k, line in enumerate(lines):
        if not line.lstrip().startswith(("import ", "from ")):
            continue
        several = "(" in line or line.endswith("\\")
        for end in range(k + 1, min(k + (LONGEST_IMPORT if several else 1), len(lines)) + 1):
            if "(" in line and ")" not in lines[end - 1] and end < len(lines):
                continue  # it does not end here
            statements = _parsed("\n".join(lines[k:end]).lstrip())
            if statements is not None:
                yield from statements
                break


@cache
def _parsed(text: str) -> list[ast.stmt] | None:
    """What a text says; None where it is no whole statement."""
    try:
        return ast.parse(text).body
    except SyntaxError:
        return None


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
    package = ("tumble", *path.relative_to(ROOT).parent.parts) if path.is_relative_to(ROOT) else ()
    found = set()
    for statement in import_statements(_content(path).decode("utf-8")):
        names = modules(statement, package)
        source = file_of(names[0]) if isinstance(statement, ast.ImportFrom) else None
        if source is not None and source.name != "__init__.py":  # no package: what is imported from it is no module
            names = names[:1]
        found.update(file for file in map(file_of, names) if file)
    return tuple(sorted(found))


@cache
def sources(path: Path) -> tuple[Path, ...]:
    """A source file and all files of ours below it in the import graph, sorted."""
    seen, todo = {path}, [path]
    while todo:
        for file in _imports(todo.pop()):
            if file not in seen:
                seen.add(file)
                todo.append(file)
    return tuple(sorted(seen))


@cache
def numba_version() -> str:
    """What Numba says of its version, in a small file of its own: loading Numba takes longer than all else at the start."""
    spec = find_spec("numba")
    return "" if spec is None else Path(spec.origin).with_name("_version.py").read_text(encoding="utf-8")


@cache
def source_hash(path: Path) -> str:
    """Sixteen hex digits over everything that the machine code of a module's kernels depends on."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    versions = (platform.python_version(), numpy.__version__, numba_version(), llvmlite.__version__)
    digest.update(repr(versions).encode())
    for file in sources(path.resolve()):  # however a process came to it: links lead here, and the order is that of the paths
        digest.update(file.name.encode() + b"\0" + _content(file))
    return digest.hexdigest()[:16]


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
