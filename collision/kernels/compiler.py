"""How kernels are compiled by Numba. Loaded when there is something to compile; kernel_cache.py keeps the machine code."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
from numba.core import cgutils, imputils, types
from numba.core.registry import CPUDispatcher, cpu_target
from numba.extending import intrinsic, lower_builtin, type_callable, typeof_impl
from numba.np import arrayobj

import collision.kernels.group_type  # noqa: F401, kernels take groups of arrays
from collision.kernels.jit import FAR, Later
from collision.kernels.kernel_cache import KernelCache, read_back
from collision.kernels.sources import sources


@typeof_impl.register(Later)
def _typeof(later: Later, context: object) -> types.Type:
    """Kernels see what a Later stands for."""
    made = later.made.stub if isinstance(later.made, Link) else later.made
    cpu_target.typing_context.refresh()  # what was registered since it looked last
    cpu_target.target_context.refresh()
    return cpu_target.typing_context.resolve_value_type(made)


class _Cache(KernelCache):
    def load_overload(self, sig, target_context):
        link_callees(self._py_func)
        return super().load_overload(sig, target_context)


class _ForKernels(CPUDispatcher):
    """A kernel without the wrapper that takes arguments from Python: called from there it would end the interpreter."""

    def __call__(self, *arguments, **named):
        name = f"{self.py_func.__module__}.{self.py_func.__name__}"
        raise TypeError(f"{name} is a kernel that only kernels can call; NUMBA_DISABLE_JIT=1 makes it a function of Python")


def object_code(result: Any) -> bytes:
    """The machine code of a compiled kernel, as an object file."""
    found = read_back.get(result.library.name)
    return result.library.serialize_using_object_code()[2][0] if found is None else found


def dispatcher(function: Callable, kept: bool, literals: bool, options: dict[str, Any]) -> Any:
    """Numba's dispatcher of a kernel; see the decorators of jit.py."""
    made = numba.njit(error_model="numpy", **options)(function)
    if kept:
        with contextlib.suppress(OSError):  # of a function without a source file
            made._cache = _Cache(function)
    if options.get("no_cpython_wrapper"):
        made.__class__ = _ForKernels
    return made if literals else _literals_as_types(made)


def _literals_as_types(made: Any) -> Any:
    """Make f(x, 0) and f(x, 1) one compilation: Numba would make one for each constant that it sees in a call."""
    template = made.get_call_template

    def get_call_template(args, kws):
        return template(tuple(types.unliteral(a) for a in args), {name: types.unliteral(a) for name, a in kws.items()})

    made.get_call_template = get_call_template
    return made


def table_on_stack(rows: int, columns: int, kind: str) -> Any:
    """See jit.stack_table."""
    number_type = getattr(types, kind)

    @intrinsic
    def table(context):
        array_type = types.Array(number_type, 2, "C")

        def make(context, builder, signature, arguments):
            number = lambda n: context.get_constant(types.intp, n)  # noqa: E731
            data = cgutils.alloca_once(builder, context.get_value_type(number_type), size=number(rows * columns))
            array = arrayobj.make_array(array_type)(context, builder)
            shape, strides = [number(rows), number(columns)], [number(8 * columns), number(8)]
            arrayobj.populate_array(array, data, shape, strides, itemsize=number(8), meminfo=None)
            return array._getvalue()

        return array_type(), make

    return table


class Link:
    """The compiled target of a far call, its name for the linker, and the ``stub`` that kernels call."""

    def __init__(self, kernel: Later, examples: Callable[[], tuple]):
        self.dispatcher, self.examples = kernel.made, examples
        function = kernel.py_func
        self.path = Path(function.__code__.co_filename).resolve()
        self.symbol = f"tumble.{function.__module__}.{function.__qualname__}"
        self.result: Any = None
        self.busy = False  # being compiled
        self.stub = self._stub()

    def _stub(self) -> Callable:
        def stub(*arguments):
            raise NotImplementedError

        def typer(context):
            def typed(*arguments):
                return self.signature()

            typed.__signature__ = inspect.signature(self.dispatcher.py_func)
            return typed

        def lower(context, builder, signature, arguments):
            kind = context.call_conv.get_function_type(signature.return_type, signature.args)
            target = cgutils.get_or_insert_function(builder.module, kind, self.symbol)
            status, result = context.call_conv.call_function(builder, target, signature.return_type, signature.args, arguments)
            with cgutils.if_unlikely(builder, status.is_error):
                context.call_conv.return_status_propagate(builder, status)
            return imputils.impl_ret_new_ref(context, builder, signature.return_type, result)

        type_callable(stub)(typer)
        lower_builtin(stub, types.VarArg(types.Any))(lower)
        return stub

    def __call__(self, *arguments: Any) -> Any:
        return self.dispatcher(*arguments)

    def signature(self):
        """Compile, or load from the cache, and make the symbol known; the signature."""
        if self.result is None:
            self.busy = True
            arguments = tuple(numba.typeof(value) for value in self.examples())
            self.dispatcher.compile(arguments)
            self.result = self.dispatcher.overloads[arguments]
            address = self.result.library.get_pointer_to_function(self.result.fndesc.llvm_func_name)
            llvmlite.binding.add_symbol(self.symbol, address)
            self.busy = False
        return self.result.signature


def link_callees(function: Callable) -> None:
    """Make the symbols known that the stored code of a kernel can refer to: far calls of modules that it imports."""
    path = Path(function.__code__.co_filename).resolve()
    below = set(sources(path))
    for later in FAR:
        link = later.made
        if link.dispatcher.py_func is function:
            break
        if link.path in below and not link.busy:
            link.signature()
