"""A library that is not all compiled: its kernels are compiled as they are reached, and the others meanwhile.

A far call goes to a symbol. As long as its kernel is not compiled the symbol is that of a stub, a few instructions that ask for
the kernel: the caller waits in Python until a worker process has compiled it. Then the linker puts the kernel's address into the
slot of the stub, and the stub goes there. So a step waits only for kernels that it reaches, and its bits are the same. Workers go
on with the other kernels, and in the end all are packed in one file. Kernels that were compiled before a program ended are there
for the next.
"""

from __future__ import annotations

import atexit
import ctypes
import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tumble.collision.kernels.building.objects import (
    RAISED,
    Objects,
    add_code,
    engine,
    file_of,
    keep,
    kept_at,
    loaded_far,
    name_of,
    offer,
    read,
)
from tumble.collision.kernels.building.runtime import runtime
from tumble.collision.kernels.jit import FAR_KERNELS, Later
from tumble.collision.kernels.sources import cache_root, edited, import_path, sources

if TYPE_CHECKING:
    from tumble.collision.kernels.native import Code, Library

Report = Callable[[int, int, str], None]  # kernels done, of how many, and what comes next
MOST_WORKERS = 8  # workers: each holds a compiler
PYTHON_SECONDS = 5.0  # [s] in all, that Python may run in place of kernels that are not compiled: a first look at a small scene
AHEAD = 6  # how many of the next kernels a worker chooses from
STUBS, ENTER = "stubs", "enter "  # names beside those of far kernels: of the stubs, and before the name of an entry


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


def far_below(library: Library) -> dict[str, Any]:
    """The far kernels that a library can reach, by name."""
    below = {path for entry in library.entries for path in sources(file_of(entry.kernel))}
    return {name_of(far): far for far in FAR_KERNELS if file_of(far) in below}


def inner_kernels(kernel: Later) -> dict[Later, int]:
    """The kernels whose code becomes part of the code of this one, itself too: those that it names, and those that they name. And
    how much each is to compile, in bytes of Python's own code."""
    found, todo = {}, [kernel]
    while todo:
        each = todo.pop()
        if each in found:
            continue
        code, names = each.py_func.__code__, each.py_func.__globals__
        found[each] = len(code.co_code)
        named = (names.get(name) for name in code.co_names)
        todo += [value for value in named if isinstance(value, Later) and "py_func" in vars(value) and not value.far]
    return found


class Growing:
    """The kernels of a library that were compiled so far, and the workers that compile the others."""

    def __init__(self, library: Library):
        self.library = library
        self.far = far_below(library)
        self.paths = {name: kept_at(far) for name, far in self.far.items()}
        self.paths |= {ENTER + entry.name: entry.path for entry in library.entries}
        self.paths[STUBS] = library.path.with_suffix(".stubs.o")
        kernels = {**self.far, **{ENTER + entry.name: entry.kernel for entry in library.entries}}
        self.inner = {STUBS: {}, **{name: inner_kernels(kernel) for name, kernel in kernels.items()}}
        self.first = [STUBS, *(name for name in library.first if name in self.paths)]
        self._for_all = False  # somebody waits for the whole library, and for no kernel more than for others
        self.objects: dict[str, Objects] = {}
        self.line: Report = Line()
        self._news = threading.Condition()
        self._linking = threading.RLock()
        self._addresses: dict[str, int] = {}  # of far kernels
        self._workers: Workers | None = None
        self._urgent: list[str] = []
        self._waiting = 0  # threads of the program that wait for kernels
        self.patience = PYTHON_SECONDS
        self._read(self.paths)

    def _read(self, names: Iterable[str]) -> None:
        """Take what is kept of these; the largest come first from now on."""
        for name in names:
            objects = read(self.paths[name])
            if objects is not None:
                self.objects[name] = objects
        self._largest = sorted(self.inner, key=lambda name: -sum(self.inner[name].values()))

    @contextmanager
    def in_python(self) -> Iterator[None]:
        """Python does something, while workers compile; as long as it may."""
        from tumble.collision.kernels.building.plain import Limit

        self.start()
        begun = time.monotonic()
        Limit.until, Limit.ended = begun + self.patience, lambda: self.grown
        try:
            yield
        finally:
            self.patience -= time.monotonic() - begun
            Limit.until, Limit.ended = math.inf, lambda: False

    # ------------------------------------------------------------------ compiling

    @property
    def grown(self) -> bool:
        """All is compiled."""
        return len(self.objects) == len(self.paths)

    def missing(self) -> list[str]:
        """Names of what is not compiled: the largest first, so that none of these is left in the end."""
        return [name for name in self._largest if name not in self.objects]

    def want(self, name: str) -> Objects:
        """The objects of a kernel; where it is not compiled it is the next to be, and one waits."""
        with self._news:
            if name not in self.objects:
                self._urgent.append(name)
                self._wait_while(lambda: name not in self.objects)
            return self.objects[name]

    def _wait_while(self, lacking: Callable[[], Any]) -> None:
        """Wait for workers, who then have the core of this program too; called with the lock held."""
        self.start()
        self._waiting += 1
        self._news.notify_all()
        try:
            while lacking():
                self._told()
                self._news.wait()
            self._told()
        finally:
            self._waiting -= 1

    def start(self) -> None:
        """Have workers compile what is missing."""
        with self._news:
            if not self.grown and (self._workers is None or self._workers.process != os.getpid()):  # none survives a fork
                self._news = threading.Condition() if self._workers is not None else self._news
                self._workers = Workers(self)

    def beside(self, library: Library) -> None:
        """Compile the entries of another library too, which reach no other kernels."""
        others = {f"{ENTER}{entry.name} {library.module}": entry for entry in library.entries}
        self.paths |= {name: entry.path for name, entry in others.items()}
        self.inner |= {name: inner_kernels(entry.kernel) for name, entry in others.items()}
        self._read(others)

    def finish(self, report: Report, *others: Library) -> int:
        """Wait until all is compiled, and what ``others`` have beside it; how many kernels were not."""
        with self._news:
            for library in others:
                self.beside(library)
            count = len(self.missing())
            if count:
                self.line, usual = report, self.line
                self._for_all = True
                try:
                    self._wait_while(self.missing)
                finally:
                    self.line, self._for_all = usual, False
        self.pack()
        for library in others:
            Growing(library).pack()
        return count

    def _told(self) -> None:
        """Report how far it is; raise where a worker failed."""
        if self._workers.failed is not None:
            raise RuntimeError(str(self._workers.failed))
        missing, total = self.missing(), len(self._largest)
        self.line(total - len(missing), total, self._urgent[-1] if self._urgent else missing[0] if missing else "")

    def next(self, busy: set[str], known: set[Later], others: list[set[Later]]) -> str | None:
        """What a worker does next, which has compiled the inner kernels ``known``; called with the lock held.

        What somebody waits for; then what most scenes reach, unless somebody waits for all; then of the largest that for which
        the worker has more of the inner kernels than others have. Each worker compiles the inner kernels that it comes to, so
        some of the work is done twice: a fortieth of what all takes, and a fourteenth in the order of most scenes.
        """
        waited = [name for name in self._urgent if name not in self.objects]
        for name in waited if self._for_all else [*waited, *self.first]:
            if name not in self.objects and name not in busy:
                return name
        ready = [name for name in self.missing() if name not in busy][:AHEAD]

        def work(name: str, done: set[Later]) -> int:
            return sum(size for kernel, size in self.inner[name].items() if kernel not in done)

        here = lambda name: work(name, known) - min((work(name, other) for other in others), default=0)  # noqa: E731
        return min(ready, key=here, default=None)

    def done(self, name: str, objects: Objects) -> None:
        self.objects[name] = objects
        if name in self._urgent:
            self._urgent.remove(name)

    def pack(self) -> Objects:
        """All that entries reach, as one file: callees before their callers."""
        entries = [self.objects[ENTER + entry.name] for entry in self.library.entries]
        codes = [code for objects in entries for _, _, code in objects]
        links: list[Objects] = []
        for name in reversed(self.far):  # callers first: those that nothing refers to are left out
            symbol = name.encode() + b"\0"
            if any(symbol in code for code in codes):
                links.append(self.objects[name])
                codes += [code for _, _, code in self.objects[name]]
        objects = [*runtime(), *(each for link in reversed(links) for each in link), *(each for some in entries for each in some)]
        keep(self.library.path, objects)
        return objects

    # ------------------------------------------------------------------ linking

    @cached_property
    def _slots(self) -> dict[str, int]:
        """Where the stub of each far kernel looks for its address. They are all loaded, and stand for their kernels."""
        import llvmlite.binding as llvm

        ((told, _, code),) = self.want(STUBS)
        with self._linking:
            self._names = told.split()[1:]
            self._asked = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int64)(self._need)
            llvm.add_symbol("tumble.need", ctypes.cast(self._asked, ctypes.c_void_p).value)
            linker, _ = engine()
            add_code(linker, code)
            for told, begin, common in runtime():
                add_code(linker, common)
                offer(linker, told.split()[1:], begin)
            for k, name in enumerate(self._names):
                llvm.add_symbol(name, linker.get_function_address(f"tumble.stub.{k}"))
            return {name: linker.get_global_value_address(f"tumble.slot.{k}") for k, name in enumerate(self._names)}

    def _need(self, k: int) -> int:
        """Called by the stub of a far kernel: the address of the kernel, or 0 if there will be none, which ends the caller."""
        try:
            return self._address(self._names[k])
        except BaseException as error:
            RAISED.append(error)
            return 0

    def _address(self, name: str) -> int:
        import llvmlite.binding as llvm

        objects = self.want(name)
        with self._linking:
            if name not in self._addresses:
                address = self._addresses[name] = loaded_far(objects)
                llvm.add_symbol(name, address)
                ctypes.c_void_p.from_address(self._slots[name]).value = address
            return self._addresses[name]

    def code(self, name: str) -> Code:
        """The machine code of an entry."""
        from tumble.collision.kernels.native import loaded

        self.start()
        _ = self._slots
        objects = self.want(ENTER + name)
        with self._linking:
            return loaded(objects)[name]


def home_of() -> tuple[Path, tempfile.TemporaryDirectory | None]:
    """The folder of the cache, or one for the time being where that can not be written."""
    home = cache_root().parent
    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=home):
            return home, None
    except OSError:
        folder = tempfile.TemporaryDirectory()
        return Path(folder.name), folder


class Workers:
    """Processes that compile what is missing, one kernel each at a time, and the threads that ask them."""

    def __init__(self, growing: Growing):
        self.growing, self.process = growing, os.getpid()
        self.failed: Exception | None = None
        self.busy: set[str] = set()
        self.home, self._folder = home_of()
        environment = {**os.environ, "TUMBLE_CACHE_DIR": str(self.home)}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (import_path(), environment.get("PYTHONPATH"))))
        self.cores = cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        command = [sys.executable, "-m", "tumble.collision.kernels.building.worker", growing.library.module]
        pipes: dict[str, Any] = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
        count = min(cores, MOST_WORKERS, len(growing.missing()))
        self.processes = [subprocess.Popen(command, env=environment, **pipes) for _ in range(count)]
        atexit.register(self.close)
        self.known: list[set[Later]] = [set() for _ in self.processes]  # the inner kernels that each has compiled
        for k, process in enumerate(self.processes):
            threading.Thread(target=self._work, args=(process, k), daemon=True, name="tumble compiler").start()

    def _is_spare(self, k: int) -> bool:
        """Worker k would take the core that the program itself computes on, as long as that waits for no kernel."""
        growing = self.growing
        return k >= max(1, self.cores - 1) and not growing._waiting and not self.failed and bool(growing.missing())

    def _work(self, process: subprocess.Popen, k: int) -> None:
        growing, known, others = self.growing, self.known[k], self.known[:k] + self.known[k + 1 :]
        while True:
            with growing._news:
                while self._is_spare(k):
                    growing._news.wait()
                try:
                    name = None if self.failed else growing.next(self.busy, known, others)
                except Exception as error:  # who waits must hear of it
                    self.failed, name = error, None
                    growing._news.notify_all()
                if name is None:
                    break
                self.busy.add(name)
                known.update(growing.inner[name])
            path = self.home / growing.paths[name].relative_to(cache_root().parent)
            try:
                objects = read(path)  # another process may have been here
                if objects is None:
                    self._ask(process, f"{STUBS} {path}" if name == STUBS else name)
                    objects = read(path)
                if objects is None:
                    why = f"compiling {name} left nothing at {path}"
                    if changed := edited():
                        why = f"{changed[0]} was edited since this process loaded it: start anew, to compile what it says now"
                    raise RuntimeError(why)
            except Exception as error:
                self.failed, objects = error, None
            with growing._news:
                self.busy.discard(name)
                if objects is not None:
                    growing.done(name, objects)
                growing._news.notify_all()
        self._end(process)
        with growing._news:
            last = not self.busy and not growing.missing()
        if last:
            growing.pack()

    def _ask(self, process: subprocess.Popen, request: str) -> None:
        """Have a worker do something, and wait for it."""
        try:
            process.stdin.write(request + "\n")
            process.stdin.flush()
            answer = process.stdout.readline().strip()
        except OSError:
            answer = ""
        if answer != "done":
            raise RuntimeError(f"compiling {request} failed: {answer or 'the compiler has ended'}")

    def _end(self, process: subprocess.Popen) -> None:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()

    def close(self) -> None:
        """At the end of the program: what is not compiled by now will be by the next one."""
        if self.process == os.getpid():
            for process in self.processes:
                process.kill()
            if self._folder is not None:
                self._folder.cleanup()
