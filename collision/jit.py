"""The one decorator for compiled kernels, and its kin; kernel_cache.py keeps the machine code.

No ``fastmath``: it changes results between machines. Numba's default contracts nothing to fused multiply-adds, which
is what lets runs repeat bit for bit. ``error_model="numpy"``: a division by zero gives inf or nan, as in C.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from pathlib import Path

import llvmlite.binding
import numba
import numpy
from numba.core import cgutils, config, imputils, types
from numba.core.registry import CPUDispatcher
from numba.extending import intrinsic, lower_builtin, type_callable
from numba.np import arrayobj

import collision.group_type  # noqa: F401, kernels take groups of arrays
from collision.kernel_cache import KernelCache, sources

FOR_KERNELS = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


class _Cache(KernelCache):
    def load_overload(self, sig, target_context):
        link_callees(self._py_func)
        return super().load_overload(sig, target_context)


class _ForKernels(CPUDispatcher):
    """A kernel without the wrapper that takes arguments from Python: called from there it would end the interpreter."""

    def __call__(self, *arguments, **named):
        name = f"{self.py_func.__module__}.{self.py_func.__name__}"
        raise TypeError(f"{name} is a kernel that only kernels can call; NUMBA_DISABLE_JIT=1 makes it a function of Python")


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
    with contextlib.suppress(OSError):  # of a function without a source file
        dispatcher._cache = _Cache(function)
    return dispatcher


def inner(function: Callable) -> Callable:
    """A kernel that only kernels call: without the wrappers that take arguments from Python.

    Those would be most of the machine code of a small function. Nothing is kept on disk either: its code is part of its
    callers'.
    """
    if config.DISABLE_JIT:
        return function
    return _for_kernels(numba.njit(_nrt=True, **FOR_KERNELS)(function))


def lean(function: Callable) -> Callable:
    """An inner kernel that counts no references to the arrays it is handed, and so must not make or keep any.

    Counting is two atomic additions for each array and call.
    """
    if config.DISABLE_JIT:
        return function
    return _for_kernels(numba.njit(_nrt=False, **FOR_KERNELS)(function))


def tight(function: Callable) -> Callable:
    """A lean kernel whose code stands in its callers. For what runs at every turn of a search."""
    if config.DISABLE_JIT:
        return function
    return _for_kernels(numba.njit(_nrt=False, forceinline=True, **FOR_KERNELS)(function))


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
    dispatcher = kernel(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)
    if not config.DISABLE_JIT:
        dispatcher.__class__ = _ForKernels
    return dispatcher


def _for_kernels(dispatcher):
    """Make f(x, 0) and f(x, 1) one compilation: Numba would make one for each constant that it sees in a call."""
    dispatcher.__class__ = _ForKernels
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
