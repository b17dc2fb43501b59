"""A process that compiles kernels of a library: what it is asked for comes on standard input, a line each.

"NAME" of a far kernel is answered with "done" once its object is kept, "enter NAME" of one that Python calls as well ("enter NAME
MODULE" where it is another library's), and "stubs PATH" once the stubs of all far kernels are kept there.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from pathlib import Path
from typing import Any

from tumble.collision.kernels.building.objects import Objects, name_of, write
from tumble.collision.kernels.building.swift_numba import prepare_numba
from tumble.collision.kernels.jit import FAR_KERNELS


def compiled_entry(entry: Any) -> Objects:
    """The objects of a kernel that Python calls: its code, and the way in."""
    import numba

    from tumble.collision.kernels.compiler import compiled

    result = compiled(entry.kernel, tuple(numba.typeof(value) for value in entry.examples()))
    symbol = f"tumble.enter.{entry.name}"
    text, count, kinds = _way_in(symbol, result)
    return [("code", "", result.library.object_code()), (f"entry {entry.name} {count} {kinds}", symbol, _emit(text))]


def stubs() -> Objects:
    """Code that stands for each far kernel until the kernel is compiled: it asks for the kernel, waits, and goes there."""
    from numba.core.registry import cpu_target

    lines = ["declare ptr @tumble.need(i64)"]
    for k, far in enumerate(FAR_KERNELS):
        signature = far.made.signature
        kind = cpu_target.target_context.call_conv.get_function_type(signature.return_type, signature.args)
        taken = ", ".join(f"{_word(t)} %a{i}" for i, t in enumerate(kind.args))
        lines.append(f"""
@"tumble.slot.{k}" = global ptr null, align 8
define i32 @"tumble.stub.{k}"({taken}) {{
entry:
  %there = load atomic ptr, ptr @"tumble.slot.{k}" acquire, align 8
  %none = icmp eq ptr %there, null
  br i1 %none, label %ask, label %go
ask:
  %got = call ptr @tumble.need(i64 {k})
  %failed = icmp eq ptr %got, null
  br i1 %failed, label %out, label %go
go:
  %target = phi ptr [ %there, %entry ], [ %got, %ask ]
  %status = tail call i32 %target({taken})
  ret i32 %status
out:
  ret i32 -1
}}""")
    return [("stubs " + " ".join(name_of(far) for far in FAR_KERNELS), "", _emit("\n".join(lines)))]


def _word(kind: Any) -> str:
    """A type of the language of today's LLVM."""
    return "double" if str(kind) == "double" else "ptr" if kind.is_pointer else str(kind)


def _emit(text: str) -> bytes:
    """Object code of a module in LLVM's language, for the same processor as the kernels."""
    import llvmlite.binding as llvm
    from numba.core.registry import cpu_target

    module = llvm.parse_assembly(text)
    module.triple = llvm.get_process_triple()
    return cpu_target.target_context.codegen()._tm.emit_object(module)


def _way_in(symbol: str, result: Any) -> tuple[str, int, str]:
    """A C function of one argument, which calls a kernel: a row of words holds its arguments, and takes what it returns.

    With it goes one that does so for many rows, whose addresses stand in a list.
    """
    from numba.core.registry import cpu_target

    signature = result.signature
    kind = cpu_target.target_context.call_conv.get_function_type(signature.return_type, signature.args)
    names = [_word(t) for t in kind.args[2:]]
    lines = []
    for k, name in enumerate(names):
        lines.append(f"  %p{k} = getelementptr i64, ptr %words, i64 {k}\n  %a{k} = load {name}, ptr %p{k}, align 8")
    given = "".join(f", {name} %a{k}" for k, name in enumerate(names))
    returned = signature.return_type
    parts = [] if str(returned) == "none" else list(getattr(returned, "types", [returned]))
    types = {"int64": "q", "float64": "d"}
    target = result.fndesc.llvm_func_name
    text = f'''
declare i32 @"{target}"(ptr, ptr{"".join(f", {name}" for name in names)})
define i32 @"{symbol}"(ptr %words) {{
  %raised = alloca ptr
  store ptr null, ptr %raised
{chr(10).join(lines)}
  %out = getelementptr i64, ptr %words, i64 {len(names)}
  %status = call i32 @"{target}"(ptr %out, ptr %raised{given})
  ret i32 %status
}}
define i32 @"{symbol}.each"(ptr %rows, i64 %first, i64 %stop) {{
entry:
  %some = icmp slt i64 %first, %stop
  br i1 %some, label %turn, label %out
turn:
  %k = phi i64 [ %first, %entry ], [ %next, %turn ]
  %failed = phi i32 [ 0, %entry ], [ %worst, %turn ]
  %place = getelementptr ptr, ptr %rows, i64 %k
  %row = load ptr, ptr %place, align 8
  %result = call i32 @"{symbol}"(ptr %row)
  %worst = or i32 %failed, %result
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %stop
  br i1 %more, label %turn, label %out
out:
  %all = phi i32 [ 0, %entry ], [ %worst, %turn ]
  ret i32 %all
}}
'''
    return text, len(names), "".join(types[str(part)] for part in parts)


def main(module: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that asks
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what is printed on the way is no answer
    library = importlib.import_module(module).LIBRARY
    prepare_numba()
    far = {name_of(link): link for link in FAR_KERNELS}
    for line in sys.stdin:
        name = line.strip()
        try:
            if name.startswith("stubs "):
                write(Path(name.removeprefix("stubs ")), stubs())
            elif name.startswith("enter "):
                _, called, *where = name.split()
                entries = importlib.import_module(where[0]).LIBRARY.entries if where else library.entries
                (entry,) = (entry for entry in entries if entry.name == called)
                write(entry.path, compiled_entry(entry))
            else:
                far[name].made.objects()
            print("done", file=answers, flush=True)
        except Exception as error:
            print(f"{type(error).__name__}: {' '.join(str(error).split())[:500]}", file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
