"""What this installation can do here, and how to get what is missing."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

from tumble.collision.errors import EXTRAS
from tumble.sim.words import count as number

PACKAGES = ("tumble", "numpy", "scipy", "numba", "llvmlite")


class Finding(NamedTuple):
    """One line of the report. ``good``: True, False (something needed is missing), None (it works, in a lesser way)."""

    good: bool | None
    what: str
    says: str
    remedy: str = ""


def examine(drawing: Callable[[], dict[str, str]], screen: Callable[[], str]) -> Iterator[Finding]:
    """All findings, in the order in which they are shown. ``drawing``: what pictures are drawn with; ``screen``: of windows."""
    for check in (_python, _packages, _compiler, _cache, partial(_drawing, drawing), partial(_window, screen), _codec):
        yield from _guarded(check)


def _guarded(check: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """The doctor must not fall ill: what goes wrong inside a check is a finding too."""
    try:
        yield from check()
    except Exception as error:
        name = getattr(check, "func", check).__name__.strip("_")
        yield Finding(False, name, f"{type(error).__name__}: {' '.join(str(error).split())}")


def _python() -> Iterator[Finding]:
    good = (3, 11) <= sys.version_info[:2] <= (3, 14)
    remedy = "" if good else "install Python 3.11 to 3.14"
    yield Finding(good, "python", f"{platform.python_version()} at {sys.executable}, {platform.platform()}", remedy)


def _packages() -> Iterator[Finding]:
    wanted = dict.fromkeys(PACKAGES, "")
    for extra in ("view", "film", "mesh", "data"):
        wanted = dict.fromkeys(EXTRAS[extra], extra) | wanted
    for module, extra in sorted(wanted.items(), key=lambda item: item[1]):
        package = "pygame-ce" if module == "pygame" and sys.version_info >= (3, 14) else module
        try:
            yield Finding(True, package, version(package))
        except PackageNotFoundError:
            remedy = f'python -m pip install "tumble[{extra}]"' if extra else f"python -m pip install {package}"
            yield Finding(None if extra else False, package, "missing", remedy)


def _compiler() -> Iterator[Finding]:
    import numba
    from numba.core import config

    threads = f"{numba.config.NUMBA_NUM_THREADS} threads of {os.cpu_count()} processors"
    if config.DISABLE_JIT:
        remedy = "unset NUMBA_DISABLE_JIT: without the compiler all is about 100 times slower"
        yield Finding(None, "compiler", f"off, {threads}", remedy)
    else:
        yield Finding(True, "compiler", threads)


def _cache() -> Iterator[Finding]:
    from tumble.collision.kernels.sources import cache_root, stale_folders

    root = cache_root()
    try:
        root.mkdir(parents=True, exist_ok=True)
        writable = os.access(root, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        remedy = "set TUMBLE_CACHE_DIR to a folder that can be written, or each start compiles anew"
        yield Finding(None, "kernel cache", f"{root} can not be written", remedy)
        return
    files = [file for file in root.rglob("*") if file.is_file()]
    size = sum(file.stat().st_size for file in files) / 1e6
    compiled = sum(file.suffix in (".nbc", ".o") for file in files)
    state = f"{number(compiled, 'kernel')}, {size:.1f} MB in {root}"
    yield Finding(True, "kernel cache", state if compiled else f"empty: the first run compiles; {root}")
    stale = stale_folders()
    if stale:
        says = f"{number(len(stale), 'folder')} of other sources or versions"
        yield Finding(None, "kernel cache", says, "tumble doctor --prune deletes them")


def _drawing(describe: Callable[[], dict[str, str]]) -> Iterator[Finding]:
    begun = time.perf_counter()
    gl = describe()
    seconds = time.perf_counter() - begun
    if gl["backend"] == "painter":
        remedy = "install an OpenGL driver (Debian and Ubuntu: apt install libegl1 libgl1 libgl1-mesa-dri)"
        yield Finding(None, "drawing", f"{gl['renderer']}: {gl['reason']}", remedy)
    else:
        yield Finding(True, "drawing", f"{gl['renderer']}, OpenGL {gl['version']}, by {gl['backend']} in {seconds:.1f} s")


def _window(screen: Callable[[], str]) -> Iterator[Finding]:
    try:
        yield Finding(True, "window", f"opens by {screen()}")
    except Exception as error:  # pictures and films need none
        yield Finding(None, "window", str(error), "only `tumble view` needs one")


def _codec() -> Iterator[Finding]:
    import av

    try:
        codec = av.codec.Codec("libx264", "w")
        yield Finding(True, "film codec", f"{codec.name} (H.264)")
    except Exception:
        yield Finding(False, "film codec", "no H.264 encoder", "python -m pip install --force-reinstall av (its wheels have one)")
