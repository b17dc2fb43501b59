"""What an input may do: end within some seconds and a gigabyte, write in its own folder, read beside itself, start nothing; and
no warning of NumPy comes of it.

An audit hook of Python sees each file that is opened, made, renamed or removed, each socket and each program that is started.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SECONDS = 5  # of processor time
PATIENCE = 60  # s of the clock: a program that waits takes no processor time
MEMORY = 1 << 30  # bytes beyond what the program had at the start
CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink", "os.link", "os.truncate", "os.chmod", "shutil.rmtree")
STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "socket.connect", "socket.bind", "pty.spawn")


class TooLong(BaseException):
    """Not an Exception, so that nothing takes it for one of its own."""


class Guard:
    """``with guard: ...`` runs something; ``guard.faults`` then says what it did that it may not.

    ``own``: folders that may be written. ``forbidden``: folders and files that may not be read.
    """

    def __init__(self, own: list[Path], forbidden: list[Path]):
        self.own = [f"{Path(os.path.realpath(path))}{os.sep}" for path in own]
        self.forbidden = [os.path.realpath(path) for path in forbidden]
        self.faults: list[str] = []
        self.active = False
        sys.addaudithook(self._heard)

    @contextmanager
    def __call__(self) -> Iterator[None]:
        self.faults = []
        bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # of modules first used here: Python's, not the input's
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        signal.signal(signal.SIGPROF, _stop)
        signal.signal(signal.SIGALRM, _stop)
        signal.setitimer(signal.ITIMER_PROF, SECONDS, 0.5)
        signal.setitimer(signal.ITIMER_REAL, PATIENCE, 1)
        self.active = True
        heard = warnings.catch_warnings(record=True)
        told = heard.__enter__()
        warnings.simplefilter("always", RuntimeWarning)  # NumPy's, such as of an overflow
        try:
            yield
        except TooLong:
            self.faults.append(f"took more than {SECONDS} s")
        except MemoryError:
            self.faults.append("asked for more than a gigabyte")
        except Exception as error:
            self.faults.append(f"{type(error).__name__}: {error}\n{''.join(traceback.format_tb(error.__traceback__)[-3:])}")
        finally:
            heard.__exit__(None, None, None)
            self.active = False
            sys.dont_write_bytecode = bytecode
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
        said = [warning for warning in told if issubclass(warning.category, RuntimeWarning)]
        self.faults += sorted({f"{warning.message} ({warning.filename}:{warning.lineno})" for warning in said})
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        if grown * 1024 > MEMORY:
            self.faults.append(f"took {grown >> 10} MB")

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.active:
            return
        if event == "open":
            path, _, flags = arguments
            if isinstance(path, int):
                return
            where = os.path.realpath(os.fsdecode(path))
            if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND):
                self._change(event, where)
            elif any(where == bad or where.startswith(f"{bad}{os.sep}") for bad in self.forbidden):
                self.faults.append(f"read {where}")
        elif event in CHANGES:
            for path in arguments[: 2 if event in ("os.rename", "os.link") else 1]:
                if not isinstance(path, int):
                    self._change(event, os.path.realpath(os.fsdecode(path)))
        elif event in STARTS and "git" not in str(arguments[:1]):
            self.faults.append(f"{event} {str(arguments)[:200]}")

    def _change(self, event: str, where: str) -> None:
        if where != os.devnull and not f"{where}{os.sep}".startswith(tuple(self.own)):
            self.faults.append(f"{event} of {where}")


def limit_memory() -> None:
    """From now on the program gets a gigabyte more than it has, and a MemoryError instead of the rest."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 2 * MEMORY, resource.RLIM_INFINITY))


def caches() -> list[Path]:
    """Folders besides its own that the program may write: kept kernels and fonts, temporary files."""
    import matplotlib

    from tumble.collision.kernels.sources import cache_root

    return [cache_root(), Path(matplotlib.get_cachedir()), Path(tempfile.gettempdir())]


def _stop(*_: Any) -> None:
    raise TooLong
