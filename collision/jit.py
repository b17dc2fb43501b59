"""The one decorator for compiled kernels, and the cache that can not go stale.

Numba's own on-disk cache looks at the file of the function alone: edit a callee in another file and the caller runs on
with the old code inlined. Here each kernel is filed in a folder named by a hash over the sources of its module, of
every module of ours that it imports, directly or not, and over the versions of Python, NumPy, Numba and llvmlite.
An edit anywhere below a kernel gives another folder; an edit elsewhere leaves the kernel's folder valid.

No ``fastmath``: it changes results between machines. Numba's default contracts nothing to fused multiply-adds, which
is what lets runs repeat bit for bit. ``error_model="numpy"``: a division by zero gives inf or nan, as in C.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import os
import platform
import re
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import llvmlite.binding
import numba
import numpy
import platformdirs
from numba.core import cgutils, config, imputils, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.extending import intrinsic, lower_builtin, type_callable
from numba.np import arrayobj

import collision.group_type  # noqa: F401, kernels take groups of arrays

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("collision", "sim")
_OURS = rf"(?:{'|'.join(PACKAGES)})[\w.]*"
_IMPORT = re.compile(rf"^\s*(?:from\s+({_OURS})\s+import\s+([^#\n]*)|import\s+({_OURS}))", re.M)


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
        listed = (f"{source}.{name.split()[0]}" for name in names.strip("() ").split(",") if name.split())
        for module in [source or plain, *listed]:
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

    def load_overload(self, sig, target_context):
        link_callees(self._py_func)
        return super().load_overload(sig, target_context)


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
    with contextlib.suppress(OSError):  # a read-only home: compile in memory, as Numba does without a cache
        dispatcher._cache = _KernelCache(function)
    return dispatcher


def inner(function: Callable) -> Callable:
    """A kernel that only kernels call: without the wrappers that take arguments from Python.

    Those would be most of the machine code of a small function. Nothing is kept on disk either: its code is part of its
    callers'.
    """
    if config.DISABLE_JIT:
        return function
    options = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return _literals_as_types(numba.njit(_nrt=True, **options)(function))


def lean(function: Callable) -> Callable:
    """An inner kernel that counts no references to the arrays it is handed, and so must not make or keep any.

    Counting is two atomic additions for each array and call.
    """
    if config.DISABLE_JIT:
        return function
    options = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return _literals_as_types(numba.njit(_nrt=False, **options)(function))


def tight(function: Callable) -> Callable:
    """A lean kernel whose code stands in its callers. For what runs at every turn of a search."""
    if config.DISABLE_JIT:
        return function
    options = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return _literals_as_types(numba.njit(_nrt=False, forceinline=True, **options)(function))


def stack_table(rows: int, columns: int, kind=types.float64) -> Callable:
    """A function for lean kernels that makes a table on the stack: an array without a reference count, uninitialised.

    It lives as long as the kernel that called the function runs. ``np.empty`` would need a kernel that counts references,
    and those of all arrays that it is handed, too.
    """
    if config.DISABLE_JIT:
        return lambda: numpy.empty((rows, columns), str(kind))

    @intrinsic
    def table(context):
        array_type = types.Array(kind, 2, "C")

        def make(context, builder, signature, arguments):
            number = lambda n: context.get_constant(types.intp, n)  # noqa: E731
            data = cgutils.alloca_once(builder, context.get_value_type(kind), size=number(rows * columns))
            array = arrayobj.make_array(array_type)(context, builder)
            shape, strides = [number(rows), number(columns)], [number(8 * columns), number(8)]
            arrayobj.populate_array(array, data, shape, strides, itemsize=number(8), meminfo=None)
            return array._getvalue()

        return array_type(), make

    return table


def remote(function: Callable) -> Callable:
    """A lean kernel that other kernels reach by `far` alone; unlike an inner one it is kept on disk."""
    return kernel(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)


def _literals_as_types(dispatcher):
    """Make f(x, 0) and f(x, 1) one compilation: Numba would make one for each constant that it sees in a call."""
    template = dispatcher.get_call_template

    def get_call_template(args, kws):
        return template(tuple(types.unliteral(a) for a in args), {name: types.unliteral(a) for name, a in kws.items()})

    dispatcher.get_call_template = get_call_template
    return dispatcher


_FAR: list[_Far] = []  # in the order of import: callees come before their callers


def far(function: Callable, examples: Callable[[], tuple]) -> Callable:
    """A way to call a kernel from other kernels that leaves its machine code where it is.

    Numba copies the code of a callee into each of its callers and optimises it there again, and again in the callers of
    those: compiling a deep tree of large kernels took minutes. A far call is one to an external symbol instead, at the
    cost of a call (tens of ns). ``examples()`` gives arguments of the one signature it has. Use for large kernels:

    >>> distance_far = far(distance, lambda: (EMPTY, 0, ZERO, IDENTITY, 0, ZERO, IDENTITY, 0.0, ZERO))
    """
    if config.DISABLE_JIT:
        return function
    link = _Far(function, examples)
    _FAR.append(link)

    def stub(*arguments):
        return function(*arguments)

    def typer(context):
        def typed(*arguments):
            return link.signature()

        typed.__signature__ = inspect.signature(function.py_func)
        return typed

    def lower(context, builder, signature, arguments):
        kind = context.call_conv.get_function_type(signature.return_type, signature.args)
        target = cgutils.get_or_insert_function(builder.module, kind, link.symbol)
        status, result = context.call_conv.call_function(builder, target, signature.return_type, signature.args, arguments)
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return imputils.impl_ret_new_ref(context, builder, signature.return_type, result)

    type_callable(stub)(typer)
    lower_builtin(stub, types.VarArg(types.Any))(lower)
    return stub


class _Far:
    """The compiled target of a far call, and its name for the linker."""

    def __init__(self, dispatcher, examples: Callable[[], tuple]):
        self.dispatcher, self.examples = dispatcher, examples
        self.path = Path(dispatcher.py_func.__code__.co_filename).resolve()
        self.symbol = f"tumble.{dispatcher.py_func.__module__}.{dispatcher.py_func.__qualname__}"
        self._result = None
        self.busy = False  # being compiled

    def signature(self):
        """Compile, or load from the cache, and make the symbol known; the signature."""
        if self._result is None:
            self.busy = True
            arguments = tuple(numba.typeof(value) for value in self.examples())
            self.dispatcher.compile(arguments)
            self._result = self.dispatcher.overloads[arguments]
            address = self._result.library.get_pointer_to_function(self._result.fndesc.llvm_func_name)
            llvmlite.binding.add_symbol(self.symbol, address)
            self.busy = False
        return self._result.signature


def link_callees(function: Callable) -> None:
    """Make the symbols known that the stored code of a kernel can refer to: far calls of modules that it imports."""
    path = Path(function.__code__.co_filename).resolve()
    below = set(sources(path))
    for link in _FAR:
        if link.dispatcher.py_func is function:
            break
        if link.path in below and not link.busy:
            link.signature()


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
