"""The cache of compiled kernels: an edited callee must never give a stale answer."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CALLEE = "from {decorator}\n\n@{name}\ndef factor():\n    return {value}\n"
CALLER = "from {decorator}\nfrom collision.callee import factor\n\n@{name}\ndef answer(x):\n    return x * factor()\n"
TUMBLE = {"decorator": "collision.jit import kernel", "name": "kernel"}
PLAIN = {"decorator": "numba import njit", "name": "njit(cache=True)"}
ASK = """
import sys
from numba.core import event
compiled = []
class Listener(event.Listener):
    def on_start(self, e): compiled.append(e.data["dispatcher"].__name__)
    def on_end(self, e): pass
event.register("numba:compile", Listener())
from collision.caller import answer
print(answer(2.0), len(compiled))
"""


@pytest.fixture
def package(tmp_path):
    """A package `collision` of two modules with the real decorator, apart from the real one."""
    folder = tmp_path / "collision"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    for module in ("jit", "group", "group_type"):
        shutil.copy(ROOT / "collision" / f"{module}.py", folder)
    return folder


def write(package: Path, value: float, style: dict) -> None:
    (package / "callee.py").write_text(CALLEE.format(value=value, **style))
    (package / "caller.py").write_text(CALLER.format(**style))


def ask(package: Path) -> tuple[float, int]:
    """(the kernel's answer, how many kernels were compiled for it), from a fresh process."""
    environment = {**os.environ, "TUMBLE_CACHE_DIR": str(package.parent / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("NUMBA_DISABLE_JIT", None)
    program = [sys.executable, "-c", ASK]
    answer = subprocess.run(program, cwd=package.parent, env=environment, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    value, compiled = answer.stdout.split()
    return float(value), int(compiled)


def test_edited_callee_is_seen(package):
    write(package, 3.0, TUMBLE)
    assert ask(package) == (6.0, 2)
    assert ask(package) == (6.0, 0)  # a second start compiles nothing
    (package / "callee.py").write_text(CALLEE.format(value=5.0, **TUMBLE))
    value, compiled = ask(package)
    assert value == 10.0
    assert compiled == 2
    assert ask(package) == (10.0, 0)


def test_edit_back_finds_the_old_kernels(package):
    write(package, 3.0, TUMBLE)
    ask(package)
    write(package, 5.0, TUMBLE)
    ask(package)
    write(package, 3.0, TUMBLE)
    assert ask(package) == (6.0, 0)


def test_edit_elsewhere_keeps_the_kernels(package):
    write(package, 3.0, TUMBLE)
    ask(package)
    (package / "unrelated.py").write_text("# nobody imports this\n")
    assert ask(package) == (6.0, 0)


def test_plain_numba_cache_goes_stale(package):
    """The twin that fails: why the decorator exists. Numba's own cache looks at the caller's file alone."""
    write(package, 3.0, PLAIN)
    assert ask(package)[0] == 6.0
    (package / "callee.py").write_text(CALLEE.format(value=5.0, **PLAIN))
    assert ask(package)[0] == 6.0  # stale: the truth is 10
