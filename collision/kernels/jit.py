"""The decorators of compiled kernels.

They only note what is to be compiled, and how. The compiler itself (compiler.py) loads when a kernel is called for which there is
no stored machine code (native.py). So describing a scene, or stepping a world whose kernels are kept, loads no compiler.

No ``fastmath``: it changes results between machines. Numba's default contracts nothing to fused multiply-adds, which
is what lets runs repeat bit for bit. ``error_model="numpy"``: a division by zero gives inf or nan, as in C.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable
from typing import Any

import numpy

from tumble.collision.kernels.sources import remember

DISABLED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")  # kernels are plain functions of Python then
hypot = numpy.hypot if DISABLED else math.hypot  # of the C library, which kernels call; that of Python rounds in another way
FOR_KERNELS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


class Later:
    """Something that the compiler makes when it is asked for: a kernel, a table on a kernel's stack, an intrinsic.

    It stands for what is made: it can be called from Python, and kernels find it under its name (compiler.py).
    """

    def __init__(
        self,
        make: Callable[[], Any],
        function: Callable | None = None,
        options: dict[str, Any] | None = None,
        uncompiled: Callable | None = None,
    ):
        self._make, self.options = make, options
        self.uncompiled = uncompiled  # the same in Python, where that is not the function
        if function is not None:
            functools.update_wrapper(self, function)
            self.py_func = function
        self.far = False  # it is called by its address

    @functools.cached_property
    def made(self) -> Any:
        import tumble.collision.kernels.compiler  # noqa: F401, teaches Numba what stands for what

        return self._make()

    def __call__(self, *arguments: Any) -> Any:
        return self.made(*arguments)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.made, name)


def _kernel_to_compile(function: Callable, kept: bool, literals: bool = True, **options: Any) -> Callable:
    """A kernel to be compiled; ``kept`` on disk."""
    if DISABLED:
        return function
    remember(function.__code__.co_filename)

    def make():
        from tumble.collision.kernels.compiler import dispatcher

        return dispatcher(function, kept, literals, options)

    return Later(make, function, options)


def kernel(function: Callable | None = None, **options: Any) -> Callable:
    """Compile a function of numbers, tuples and arrays; keep the machine code on disk.

    Use bare, ``@kernel``, or with Numba's options, ``@kernel(parallel=True)``. With NUMBA_DISABLE_JIT=1 the function
    itself comes back, so that tests can run the same source uncompiled.
    """
    if function is None:
        return lambda f: kernel(f, **options)
    return _kernel_to_compile(function, kept=True, **options)


def inner(function: Callable) -> Callable:
    """A kernel that only kernels call: without the wrappers that take arguments from Python.

    Those would be most of the machine code of a small function. Nothing is kept on disk either: its code is part of its
    callers'.
    """
    return _kernel_to_compile(function, kept=False, literals=False, _nrt=True, **FOR_KERNELS)


def lean(function: Callable) -> Callable:
    """An inner kernel that counts no references to the arrays it is handed, and so must not make or keep any.

    Counting is two atomic additions for each array and call.
    """
    return _kernel_to_compile(function, kept=False, literals=False, _nrt=False, **FOR_KERNELS)


def tight(function: Callable) -> Callable:
    """A lean kernel whose code stands in its callers. For what runs at every turn of a search."""
    return _kernel_to_compile(function, kept=False, literals=False, _nrt=False, forceinline=True, **FOR_KERNELS)


def remote(function: Callable) -> Callable:
    """A lean kernel that other kernels reach by `far` alone."""
    return _kernel_to_compile(function, kept=False, _nrt=False, **FOR_KERNELS)


def in_python(kernel: Callable) -> Callable:
    """The function of Python that a kernel is made of, which calls no other kernel, to be called from Python."""
    return getattr(kernel, "py_func", kernel)


def stack_table(rows: int, columns: int, kind: str = "float64") -> Callable:
    """A function for lean kernels that makes a table on the stack: an array without a reference count, uninitialised.

    It lives as long as the kernel that called the function runs. ``np.empty`` would need a kernel that counts references,
    and those of all arrays that it is handed, too.
    """

    def uncompiled():
        return numpy.empty((rows, columns), kind)

    def make():
        from tumble.collision.kernels.compiler import table_on_stack

        return table_on_stack(rows, columns, kind)

    return uncompiled if DISABLED else Later(make, uncompiled=uncompiled)


def intrinsic(load: Callable[[], Any], uncompiled: Callable) -> Callable:
    """What kernels call by its name for the intrinsic that ``load`` gives, once one is compiled; ``uncompiled``: the same in
    Python.

    >>> reach = intrinsic(lambda: _code().reach, _reach_in_python)
    """
    return uncompiled if DISABLED else Later(load, uncompiled=uncompiled)


FAR_KERNELS: list[Later] = []  # in the order of import: callees come before their callers


def far(function: Callable, examples: Callable[[], tuple], returns: Any) -> Callable:
    """A way to call a kernel from other kernels that leaves its machine code where it is.

    Numba copies the code of a callee into each of its callers and optimises it there again, and again in the callers of
    those: compiling a deep tree of large kernels took minutes. A far call is one to an external symbol instead, at the
    cost of a call (tens of ns). ``examples()`` gives arguments of the one signature it has, and ``returns`` is what a call of it
    can return: so a caller is compiled without its callees, and a kernel when it is first reached. Use for large kernels:

    >>> distance_far = far(distance, lambda: (EMPTY, 0, ZERO, IDENTITY, 0, ZERO, IDENTITY, 0.0, ZERO), returns=(0, 0.0, ZERO))
    """
    if DISABLED:
        return function

    def make():
        from tumble.collision.kernels.compiler import Link

        return Link(function, examples, returns)

    FAR_KERNELS.append(Later(make, function.py_func))
    FAR_KERNELS[-1].far = True
    return FAR_KERNELS[-1]
