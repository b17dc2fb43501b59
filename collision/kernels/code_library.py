"""From a kernel in Python to machine code with less work than Numba does: only kernels that are called from outside are optimised
as a whole and emitted.

Numba optimises, emits and loads each function that it compiles, with all that this function calls, before a caller may use it.
But the code of an inner kernel is only ever a part of its callers. So here it stays a module in LLVM's language. A kernel that is
called from outside links the modules below it, is optimised once, and emitted once. Passes over Numba's own language are left out
if they find nothing in kernels, or if nobody reads what they find.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, _pass_registry, register_pass
from numba.core.typed_passes import NativeLowering

from tumble.collision.kernels.building.runtime import AFTER, BEFORE, COUNTS

# What kernels do not have: closures, functions of theirs that Numba inlines, literal unrolling, raised errors; and annotations.
LEFT_OUT = (
    "AnnotateTypes", "DumpParforDiagnostics", "FindLiterallyCalls", "InlineClosureLikes", "InlineInlinables", "InlineOverloads",
    "LiteralPropagationSubPipelinePass", "LiteralUnroll", "MakeFunctionToJitFunction", "NoPythonSupportedFeatureValidation",
    "RewriteDynamicRaises", "WithLifting",
)  # fmt: skip


COUNTING = "nrt"  # Numba's library that counts references
INNER_NAMES = ".inside"  # what ends the names of functions that only one kernel can call


class KernelLibrary(JITCodeLibrary):
    """The code of one kernel that Python does not call: for callers, and for the linker."""

    def __init__(self, codegen: Any, name: str):
        super().__init__(codegen, name)
        self.modules: list[Any] = []  # of this kernel alone

    @property
    def codegen(self) -> Any:
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Numba says where the objects of Python are that code refers to: kernels have none."""

    def add_linking_library(self, library: Any) -> None:
        if not isinstance(library, KernelLibrary):
            library._ensure_finalized()
        self._linking_libraries.append(library)

    def add_llvm_module(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout
        passes, builder = _function_passes(self._codegen)
        for function in module.functions:
            if not function.is_declaration:
                passes.run(function, builder)
        self.modules.append(module)

    def get_pointer_to_function(self, name: str) -> int:
        return 0

    def below(self) -> Iterator[Any]:
        """The libraries that this one links, and those that they do, each once: callers first."""
        seen, todo = {self}, list(self._linking_libraries)
        while todo:
            library = todo.pop(0)
            if library not in seen:
                seen.add(library)
                yield library
                if isinstance(library, KernelLibrary):
                    todo += library._linking_libraries

    def _linked(self, counting: bool) -> Any:
        """A module with the code of this kernel and of all below it, which none but this kernel can call. ``counting``: with
        Numba's functions that count references."""
        whole = llvm.parse_assembly(str(self._codegen._create_empty_module(self.name)))
        libraries = list(self.below())
        for library in [self, *libraries]:
            for module in library.modules if isinstance(library, KernelLibrary) else ():
                whole.link_in(module, preserve=True)
        for library in libraries:
            if not isinstance(library, KernelLibrary) and (counting or library.name != COUNTING):
                whole.link_in(library._get_module_for_linking(), preserve=True)
        if not counting:
            _link_text(whole, BEFORE)
        own = {function.name for module in self.modules for function in module.functions if not function.is_declaration}
        for function in whole.functions:
            if not function.is_declaration and function.name not in own:
                function.linkage = "internal"
                # LLVM's loader knows names of internal functions too, and gives them to others who ask for one that may stand
                # in several places: whose arguments are still all there
                function.name += INNER_NAMES
        return whole

    def object_code(self) -> bytes:
        """An object file with this kernel."""
        self._final_module = self._linked(counting=False)
        self._optimize_final_module()
        _count_in_place(self._codegen, self._final_module)
        self._final_module.verify()
        return self._codegen._tm.emit_object(self._final_module)

    def _get_module_for_linking(self) -> Any:
        """For a caller that Numba compiles in its own way."""
        if self._shared_module is None:
            self._shared_module = self._linked(counting=True)
            for function in self._shared_module.functions:
                if not function.is_declaration and function.linkage == llvm.Linkage.external:
                    function.linkage = "linkonce_odr"
        return self._shared_module

    def finalize(self) -> None:
        self._finalized = True


def _link_text(whole: Any, text: str) -> None:
    """Add functions in LLVM's language to a module."""
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = whole.triple, whole.data_layout
    whole.link_in(module)


def _count_in_place(codegen: Any, whole: Any) -> None:
    """Put the code that counts references in the place of each call of it."""
    _link_text(whole, AFTER)
    for function in whole.functions:
        if function.name in COUNTS:
            function.linkage = "internal"
    builder = codegen._pass_builder()
    passes = llvm.newpassmanagers.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_simplify_cfg_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(whole, builder)


@cache
def _function_passes(codegen: Any) -> tuple[Any, Any]:
    """Passes over a function before it becomes a part of its callers. Those of level 1 do: it is optimised in full with them."""
    return codegen._function_pass_manager(opt=1)


@register_pass(mutates_CFG=True, analysis_only=False)
class Lowering(NativeLowering):
    """As Numba lowers, with code that is not emitted where Python does not call it."""

    _name = "kernel_lowering"

    def run_pass(self, state: Any) -> bool:
        if state.flags.no_cpython_wrapper and state.flags.no_cfunc_wrapper:
            state.library = KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().run_pass(state)


class Passes(PassManager):
    """Passes in a row. Numba checks its own work after each of them, which takes a sixth of the time."""

    def run(self, state: Any) -> None:
        for each, _ in self.passes:
            made = _pass_registry.get(each).pass_inst
            made.analysis = self._analysis
            made.run_pass(state)


class Kernels(CompilerBase):
    """Numba's compiler with these passes."""

    def define_pipelines(self) -> list[PassManager]:
        whole = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes = Passes("kernels")
        chosen = [(each, why) for each, why in whole.passes if each.__name__ not in LEFT_OUT]
        passes.passes = [(Lowering if each is NativeLowering else each, why) for each, why in chosen]
        passes.finalize()
        return [passes]


def alone(compiler: CompilerBase) -> list[PassManager]:
    """Passes for what Numba compiles by itself below kernels, in a process where Python calls none of it."""
    compiler.state.flags.no_cpython_wrapper = compiler.state.flags.no_cfunc_wrapper = True
    return Kernels.define_pipelines(compiler)
