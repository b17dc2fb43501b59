"""Compiling a library of kernels (native.py) on all cores: worker processes, and one file of machine code in the end.

A kernel can be compiled once the types that its callees return are known, so callees come first. What a worker has compiled the
others find in the cache of kernels.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from collision.kernels.jit import FAR
from collision.kernels.native import Library, file_of, name_of, read, write
from collision.kernels.sources import ROOT, cache_root, sources

Report = Callable[[int, int, str], None]  # kernels done, of how many, and what comes next
MOST = 8  # workers: each holds a compiler


def build(library: Library, report: Report) -> list[tuple[str, str, bytes]]:
    """Compile a library, and keep it where that can be; its objects."""
    with _folder() as folder, _Workers(library.module, folder) as workers:
        workers.run(dependencies(library), report)
        workers.ask(0, "pack")
        return read(Path(folder) / library.path.relative_to(cache_root().parent))


@contextmanager
def _folder() -> Iterator[str]:
    """The folder of the cache, or one for the time being where that can not be written."""
    home = cache_root().parent
    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=home):
            pass
        yield str(home)
    except OSError:
        with tempfile.TemporaryDirectory() as folder:
            yield folder


def dependencies(library: Library) -> dict[str, set[str]]:
    """Kernels to compile by name, and those of them that must come before; the entries come last."""
    below = {path for entry in library.entries for path in sources(file_of(entry.kernel))}
    before: dict[str, set[str]] = {}
    files: dict[str, Path] = {}
    for far in FAR:  # callees come before their callers
        path = file_of(far)
        if path in below:
            reach = set(sources(path))
            before[name_of(far)] = {name for name, file in files.items() if file in reach}
            files[name_of(far)] = path
    for entry in library.entries:
        reach = set(sources(file_of(entry.kernel)))
        before[entry.name] = {name for name, file in files.items() if file in reach and name != entry.name}  # it may be far too
    return before


class Line:
    """Progress on one line of the terminal; nothing where standard error is none."""

    def __init__(self) -> None:
        self.shown = False

    def __call__(self, done: int, total: int, note: str) -> None:
        if sys.stderr is None or not sys.stderr.isatty():
            if not self.shown and sys.stderr is not None:
                print("tumble: compiling kernels, on first use only ...", file=sys.stderr, flush=True)
        else:
            text = f"tumble: compiling kernels, on first use only: {done} of {total} {note}"
            print(f"\r{text[:100]:100}" if done < total else f"\r{'':100}\r", end="", file=sys.stderr, flush=True)
        self.shown = True


class _Workers:
    """Processes that compile kernels of the same library, one each at a time."""

    def __init__(self, module: str, folder: str):
        environment = {**os.environ, "TUMBLE_CACHE_DIR": folder}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), environment.get("PYTHONPATH"))))
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        command = [sys.executable, "-m", "collision.kernels.build", module]
        pipes: dict[str, Any] = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.processes = [subprocess.Popen(command, env=environment, **pipes) for _ in range(min(cores, MOST))]
        self.news = threading.Condition()

    def ask(self, k: int, request: str) -> None:
        """Have a worker do something, and wait for it."""
        process = self.processes[k]
        try:
            process.stdin.write(request + "\n")
            process.stdin.flush()
            answer = process.stdout.readline().strip()
        except OSError:
            answer = ""
        if answer != "done":
            raise RuntimeError(f"compiling {request} failed: {answer or 'the compiler has ended'}")

    def run(self, before: dict[str, set[str]], report: Report) -> None:
        """Compile all of these kernels, each after those that it needs."""
        waiting, done, failed = dict(before), set(), []

        def work(k: int) -> None:
            ready = lambda: next((name for name in waiting if waiting[name] <= done), None)  # noqa: E731
            while True:
                with self.news:
                    self.news.wait_for(lambda: failed or not waiting or ready())
                    name = ready()
                    if failed or name is None:
                        return
                    del waiting[name]
                    report(len(done), len(before), name)
                try:
                    self.ask(k, name)
                except RuntimeError as error:
                    failed.append(error)
                with self.news:
                    done.add(name)
                    self.news.notify_all()

        threads = [threading.Thread(target=work, args=(k,), daemon=True) for k in range(len(self.processes))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failed:
            raise failed[0]
        report(len(before), len(before), "")

    def __enter__(self) -> _Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()


# ------------------------------------------------------------------ in a worker


def pack(library: Library) -> list[tuple[str, str, bytes]]:
    """The objects of a library whose kernels are compiled: what they need at run time, far calls, entries and ways into them."""
    from collision.kernels.compiler import object_code

    results = {entry: _compiled(entry) for entry in library.entries}
    codes = [object_code(result) for result in results.values()]
    links = []
    for far in reversed(FAR):  # callers first: those that nothing refers to are left out
        link = far.made
        if link.result is not None and any(link.symbol.encode() + b"\0" in code for code in codes):
            codes.append(object_code(link.result))
            links.append((f"far {link.symbol}", link.result.fndesc.llvm_func_name, codes[-1]))
    objects = [("runtime " + " ".join(RUNTIME), "", _emit(_RUNTIME)), *reversed(links)]
    for entry, result in results.items():
        symbol = f"tumble.enter.{entry.name}"
        text, count, kinds = _way_in(symbol, result)
        objects += [("code", "", object_code(result)), (f"entry {entry.name} {count} {kinds}", symbol, _emit(text))]
    return objects


def _compiled(entry: Any) -> Any:
    import numba

    types = tuple(numba.typeof(value) for value in entry.examples())
    entry.kernel.made.compile(types)
    return entry.kernel.made.overloads[types]


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
    names = ["double" if str(t) == "double" else "ptr" if t.is_pointer else str(t) for t in kind.args[2:]]
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


RUNTIME = (
    "NRT_Allocate", "NRT_Free", "NRT_MemInfo_alloc", "NRT_MemInfo_alloc_aligned", "NRT_MemInfo_call_dtor",
    "NRT_MemInfo_new_varsize_dtor", "NRT_MemInfo_varsize_realloc",
)  # fmt: skip
# What kernels ask of Numba's runtime, for arrays that no kernel gives back to Python: counted blocks of memory, laid out as Numba
# does it: count, destructor and its argument, data, size, allocator.
_RUNTIME = """
%block = type { i64, ptr, ptr, ptr, i64, ptr }
declare ptr @malloc(i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)

define ptr @NRT_Allocate(i64 %size) {
  %p = call ptr @malloc(i64 %size)
  ret ptr %p
}

define void @NRT_Free(ptr %p) {
  call void @free(ptr %p)
  ret void
}

define void @put(ptr %b, ptr %dtor, ptr %info, ptr %data, i64 %size) {
  store i64 1, ptr %b
  %p1 = getelementptr %block, ptr %b, i32 0, i32 1
  store ptr %dtor, ptr %p1
  %p2 = getelementptr %block, ptr %b, i32 0, i32 2
  store ptr %info, ptr %p2
  %p3 = getelementptr %block, ptr %b, i32 0, i32 3
  store ptr %data, ptr %p3
  %p4 = getelementptr %block, ptr %b, i32 0, i32 4
  store i64 %size, ptr %p4
  %p5 = getelementptr %block, ptr %b, i32 0, i32 5
  store ptr null, ptr %p5
  ret void
}

define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align32) {
  %align = zext i32 %align32 to i64
  %twice = mul i64 %align, 2
  %more = add i64 %size, %twice
  %all = add i64 %more, 48
  %b = call ptr @malloc(i64 %all)
  %none = icmp eq ptr %b, null
  br i1 %none, label %out, label %fine
fine:
  %number = ptrtoint ptr %b to i64
  %first = add i64 %number, 47
  %past = add i64 %first, %align
  %rest = urem i64 %past, %align
  %at = sub i64 %past, %rest
  %data = inttoptr i64 %at to ptr
  call void @put(ptr %b, ptr null, ptr null, ptr %data, i64 %size)
  br label %out
out:
  ret ptr %b
}

define ptr @NRT_MemInfo_alloc(i64 %size) {
  %b = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 16)
  ret ptr %b
}

define void @NRT_MemInfo_call_dtor(ptr %b) {
  %p1 = getelementptr %block, ptr %b, i32 0, i32 1
  %dtor = load ptr, ptr %p1
  %none = icmp eq ptr %dtor, null
  br i1 %none, label %out, label %ask
ask:
  %p2 = getelementptr %block, ptr %b, i32 0, i32 2
  %info = load ptr, ptr %p2
  %p3 = getelementptr %block, ptr %b, i32 0, i32 3
  %data = load ptr, ptr %p3
  %p4 = getelementptr %block, ptr %b, i32 0, i32 4
  %size = load i64, ptr %p4
  call void %dtor(ptr %data, i64 %size, ptr %info)
  br label %out
out:
  call void @free(ptr %b)
  ret void
}

define void @varsize_dtor(ptr %data, i64 %size, ptr %info) {
  %none = icmp eq ptr %info, null
  br i1 %none, label %out, label %ask
ask:
  call void %info(ptr %data)
  br label %out
out:
  call void @free(ptr %data)
  ret void
}

define ptr @NRT_MemInfo_new_varsize_dtor(i64 %size, ptr %dtor) {
  %data = call ptr @malloc(i64 %size)
  %b = call ptr @malloc(i64 48)
  call void @put(ptr %b, ptr @varsize_dtor, ptr %dtor, ptr %data, i64 %size)
  ret ptr %b
}

define ptr @NRT_MemInfo_varsize_realloc(ptr %b, i64 %size) {
  %p3 = getelementptr %block, ptr %b, i32 0, i32 3
  %old = load ptr, ptr %p3
  %data = call ptr @realloc(ptr %old, i64 %size)
  store ptr %data, ptr %p3
  %p4 = getelementptr %block, ptr %b, i32 0, i32 4
  store i64 %size, ptr %p4
  ret ptr %data
}
"""


def main(module: str) -> None:
    """A worker: names of kernels to compile come on standard input, one a line; "done" is the answer."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what is printed on the way is no answer
    library: Library = importlib.import_module(module).LIBRARY
    far = {name_of(link): link for link in FAR}
    entries = {entry.name: entry for entry in library.entries}
    for line in sys.stdin:
        name = line.strip()
        try:
            if name == "pack":
                write(library.path, pack(library))
            elif name in far:
                far[name].made.signature()
            else:
                _compiled(entries[name])
            print("done", file=answers, flush=True)
        except Exception as error:
            print(f"{type(error).__name__}: {' '.join(str(error).split())[:500]}", file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
