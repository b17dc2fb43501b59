"""How kernels are compiled by Numba. Loaded when there is something to compile; kernel_cache.py keeps the machine code."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
from numba.core import cgutils, imputils, types, typing
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.runtime import rtsys
from numba.extending import intrinsic, lower_builtin, type_callable, typeof_impl

from tumble.collision.kernels.building.indices import take_indices_as_they_are
from tumble.collision.kernels.building.objects import Objects, keep, kept_at, loaded_far, name_of, read
from tumble.collision.kernels.code_library import Kernels
from tumble.collision.kernels.group_type import table_at  # with it kernels take groups of arrays
from tumble.collision.kernels.jit import FAR_KERNELS, FOR_KERNELS, Later
from tumble.collision.kernels.kernel_cache import KernelCache
from tumble.collision.kernels.sources import sources

take_indices_as_they_are()


@typeof_impl.register(Later)
def _typeof(later: Later, context: object) -> types.Type:
    """Kernels see what a Later stands for."""
    made = later.made.stub if isinstance(later.made, Link) else later.made
    if not later.__dict__.get("known"):  # what was registered with it
        later.known = True
        cpu_target.typing_context.refresh()
        cpu_target.target_context.refresh()
    return cpu_target.typing_context.resolve_value_type(made)


ALONE = False  # in a process that compiles for others, and calls no kernel (building/worker.py)


class _Cache(KernelCache):
    def load_overload(self, sig, target_context):
        link_callees(self._py_func)
        return super().load_overload(sig, target_context)


class _ForKernels(CPUDispatcher):
    """A kernel without the wrapper that takes arguments from Python: called from there it would end the interpreter."""

    def __call__(self, *arguments, **named):
        name = f"{self.py_func.__module__}.{self.py_func.__name__}"
        raise TypeError(f"{name} is a kernel that only kernels can call; NUMBA_DISABLE_JIT=1 makes it a function of Python")


def dispatcher(function: Callable, kept: bool, literals: bool, options: dict[str, Any]) -> Any:
    """Numba's dispatcher of a kernel; see the decorators of jit.py."""
    if ALONE:
        kept, options = False, {**options, **FOR_KERNELS}
    made = numba.njit(error_model="numpy", pipeline_class=Kernels, **options)(function)
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
            return table_at(context, builder, array_type, data, number(rows), number(columns))

        return array_type(), make

    return table


def calls(link: Link, target: Callable) -> Callable:
    """What stands for the kernel of a link: kernels that call it call the function ``target(builder, kind)``, and pass on its
    errors."""

    def stub(*arguments):
        raise NotImplementedError

    def typer(context):
        def typed(*arguments):
            return link.signature

        typed.__signature__ = inspect.signature(link.kernel.py_func)
        return typed

    def lower(context, builder, signature, arguments):
        kind = context.call_conv.get_function_type(signature.return_type, signature.args)
        to = target(builder, kind)
        status, result = context.call_conv.call_function(builder, to, signature.return_type, signature.args, arguments)
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return imputils.impl_ret_new_ref(context, builder, signature.return_type, result)

    type_callable(stub)(typer)
    lower_builtin(stub, types.VarArg(types.Any))(lower)
    return stub


class Link:
    """The target of a far call, its name for the linker, and the ``stub`` that kernels call."""

    def __init__(self, kernel: Later, examples: Callable[[], tuple], returns: Any):
        self.kernel, self._examples, self._returns = kernel, examples, returns
        self.path = Path(kernel.py_func.__code__.co_filename).resolve()
        self.symbol = name_of(kernel)
        self.stub = calls(self, lambda builder, kind: cgutils.get_or_insert_function(builder.module, kind, self.symbol))

    @functools.cached_property
    def signature(self) -> Any:
        arguments = (numba.typeof(value) for value in self._examples())
        return typing.signature(numba.typeof(self._returns), *arguments)

    def __call__(self, *arguments: Any) -> Any:
        return self.kernel(*arguments)

    def compiled(self) -> Any:
        """What Numba makes of it."""
        made = compiled(self.kernel, self.signature.args)
        if made.signature.return_type != self.signature.return_type:
            told = f"far says that it returns {self.signature.return_type}"
            raise TypeError(f"{self.symbol} returns {made.signature.return_type}; {told}")
        return made

    def objects(self) -> Objects:
        """Its object, compiled if it is not kept, and kept then."""
        path = kept_at(self.kernel)
        objects = read(path)
        if objects is None:
            made = self.compiled()
            objects = [(f"far {self.symbol}", made.fndesc.llvm_func_name, made.library.object_code())]
            keep(path, objects)
        return objects

    @functools.cached_property
    def address(self) -> int:
        """Of its code in this process, for code that Numba compiles here and that knows its symbol."""
        address = loaded_far(self.objects())
        llvmlite.binding.add_symbol(self.symbol, address)
        return address


def compiled(kernel: Later, arguments: tuple[types.Type, ...]) -> Any:
    """A kernel for the linker, without ways in from Python."""
    made = numba.njit(error_model="numpy", pipeline_class=Kernels, **{**kernel.options, **FOR_KERNELS})(kernel.py_func)
    made.compile(arguments)
    return made.overloads[arguments]


def link_callees(function: Callable) -> None:
    """Make the symbols known that the code of a kernel can refer to: far calls of modules that it imports.

    Numba's runtime first: where kept code is all that is loaded, nothing else has asked for it, and the linker takes 0 for the
    address of a function that it does not know.
    """
    rtsys.initialize(cpu_target.target_context)
    below = set(sources(Path(function.__code__.co_filename).resolve()))
    for later in FAR_KERNELS:
        if later.made.path in below:
            _ = later.made.address
