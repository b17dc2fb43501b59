"""The cache of compiled kernels: an edited callee must never give a stale answer."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sources import parsed
from tumble.collision.kernels.sources import PACKAGES, import_statements, modules, source_hash

ROOT = Path(__file__).resolve().parent.parent
CALLEE = "from {decorator}\n\n@{name}\ndef factor():\n    return {value}\n"
CALLER = "from {decorator}\nfrom tumble.collision.callee import factor\n\n@{name}\ndef answer(x):\n    return x * factor()\n"
TUMBLE = {"decorator": "tumble.collision.kernels.jit import kernel", "name": "kernel"}
PLAIN = {"decorator": "numba import njit", "name": "njit(cache=True)"}
LISTEN = """
from numba.core import event
compiled = []
class Listener(event.Listener):
    def on_start(self, e): compiled.append(e.data["dispatcher"].__name__)
    def on_end(self, e): pass
event.register("numba:compile", Listener())
"""
ASK = (
    LISTEN
    + """
from tumble.collision.caller import answer
print(answer(2.0), len(compiled))
"""
)


FAR_CALLEE = """
import numpy as np
from tumble.collision.kernels.jit import far, inner, remote

@inner
def room(n):
    table = np.zeros(n)
    table[n - 1] = n
    return table.sum()

@remote
def factor(n):
    return room(n)

factor_far = far(factor, lambda: (1,), returns=0.0)
"""
FAR_CALLER = """
from tumble.collision.kernels.jit import kernel
from tumble.collision.callee import factor_far

@kernel(_nrt=False)
def answer(x):
    return x * factor_far(3)
"""


@pytest.fixture
def package(tmp_path):
    return new_package(tmp_path)


def new_package(path: Path) -> Path:
    """A package `tumble.collision` with the real decorator, apart from the real one."""
    folder = path / "tumble" / "collision"
    (folder / "kernels" / "building").mkdir(parents=True)
    for each in (folder, folder.parent):
        (each / "__init__.py").write_text("")
    kernels = ("__init__", "jit", "compiler", "code_library", "kernel_cache", "sources", "group", "group_type")
    for module in (*kernels, "building/__init__", "building/indices", "building/objects", "building/runtime", "building/worker"):
        shutil.copy(ROOT / "collision" / "kernels" / f"{module}.py", folder / "kernels" / f"{module}.py")
    shutil.copy(ROOT / "collision" / "regular.py", folder / "regular.py")  # which reads and writes what is kept
    return folder


def write(package: Path, value: float, style: dict) -> None:
    (package / "callee.py").write_text(CALLEE.format(value=value, **style))
    (package / "caller.py").write_text(CALLER.format(**style))


def ask(package: Path, **around: str) -> tuple[float, int]:
    """(the kernel's answer, how many kernels were compiled for it), from a fresh process."""
    value, compiled = asked(package, ASK, **around).split()
    return float(value), int(compiled)


def asked(package: Path, program: str, **around: str) -> str:
    """What a fresh process writes that runs this program."""
    environment = {**os.environ, "TUMBLE_CACHE_DIR": str(package.parents[1] / "cache"), "PYTHONDONTWRITEBYTECODE": "1"} | around
    environment.pop("NUMBA_DISABLE_JIT", None)
    command = [sys.executable, "-c", program]
    answer = subprocess.run(command, cwd=package.parents[1], env=environment, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


HARMS = ("cut", "empty", "bit", "zeros", "other")
ASK_EACH = (
    LISTEN
    + """
edits = EDITS
for name in NAMES:
    answer = __import__(f"tumble.collision.caller_{name}", fromlist=["answer"]).answer
    for file, text in edits.get(name, {}).items():
        open(file, "w").write(text)
    print(name, answer(2.0), len(compiled))
    compiled.clear()
"""
)


def ask_each(package: Path, names: tuple[str, ...], edits: dict | None = None, **around: str) -> dict[str, tuple[float, int]]:
    """What `ask` tells of each of these callers, from one fresh process; ``edits``: made once a caller is loaded."""
    lines = asked(package, ASK_EACH.replace("EDITS", repr(edits or {})).replace("NAMES", repr(names)), **around).splitlines()
    return {name: (float(value), int(compiled)) for name, value, compiled in map(str.split, lines)}


def callee(value: float, style: dict = TUMBLE) -> str:
    return CALLEE.format(value=value, **style)


def caller(name: str, style: dict = TUMBLE) -> str:
    return CALLER.format(**style).replace("callee", f"callee_{name}")


@pytest.fixture(scope="module")
def stories(tmp_path_factory):
    """Answers of callers, each of which has a story of its own, in processes after each other that ask several of them.

    Callees are edited, before a process or by it; what is kept of others is damaged; and one is asked on another machine too.
    """
    package = new_package(tmp_path_factory.mktemp("stories"))

    def put(name: str, value: float, style: dict = TUMBLE) -> None:
        (package / f"callee_{name}.py").write_text(callee(value, style))

    for name in ("edited", "relative", "running", "numba", "machine", *HARMS):
        style = PLAIN if name == "numba" else TUMBLE
        put(name, 3.0, style)
        (package / f"caller_{name}.py").write_text(caller(name, style))
    inside = "from .callee_relative import (\n    factor,\n)"
    relative = caller("relative").replace("from tumble.collision.callee_relative import factor", inside)
    (package / "caller_relative.py").write_text(relative)
    (package / "callee_memory.py").write_text(FAR_CALLEE)
    (package / "caller_memory.py").write_text(FAR_CALLER.replace("collision.callee", "collision.callee_memory"))
    written = {"running": {str(package / "callee_running.py"): callee(5.0)}}  # by a program that has loaded it
    other = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    told = [ask_each(package, ("memory", "edited", "relative", "running", "numba", "machine", *HARMS), written)]
    told.append(ask_each(package, ("machine",), **other))
    told.append(ask_each(package, ("memory", "edited", "machine")))
    put("edited", 5.0)
    put("relative", 5.0)
    put("numba", 5.0, PLAIN)
    told.append(ask_each(package, ("edited", "relative", "running", "numba")))
    put("running", 3.0)
    (package / "unrelated.py").write_text("# nobody imports this\n")
    damage(package.parents[1] / "cache")
    told.append(ask_each(package, ("edited", "running", *HARMS)))
    put("edited", 3.0)
    told.append(ask_each(package, ("edited", *HARMS)))
    return {name: [answers[name] for answers in told if name in answers] for name in told[0]}


def damage(cache: Path) -> None:
    """Harm the kept code of the callers that have the name of a harm, and that of their callees."""
    for harm in HARMS:
        files = sorted(cache.rglob(f"*_{harm}.*.nbc"))
        whole = [file.read_bytes() for file in files]
        assert len(files) == 2
        for file, data, other in zip(files, whole, reversed(whole), strict=True):
            flipped = bytes([*data[: len(data) // 2], data[len(data) // 2] ^ 4, *data[len(data) // 2 + 1 :]])
            file.write_bytes({"cut": data[:-9], "empty": b"", "bit": flipped, "zeros": bytes(len(data)), "other": other}[harm])


def test_edited_callee_is_seen(stories):
    """A second start compiles nothing."""
    assert stories["edited"][:3] == [(6.0, 2), (6.0, 0), (10.0, 2)]


def test_edit_elsewhere_keeps_the_kernels(stories):
    assert stories["edited"][3] == (10.0, 0)


def test_edit_back_finds_the_old_kernels(stories):
    assert stories["edited"][4] == (6.0, 0)


def test_edit_behind_a_relative_import_in_parentheses_is_seen(stories):
    first, second = stories["relative"]
    assert first == (6.0, 2)
    assert second[0] == 10.0


def test_kept_code_that_asks_for_memory_finds_the_runtime(stories):
    """Nothing is compiled in the second process, so nothing but the loader can ask for it; 0 was called then."""
    assert [answer for answer, _ in stories["memory"]] == [6.0, 6.0]
    assert stories["memory"][1][1] == stories["edited"][1][1] == 0


def test_what_was_edited_while_a_program_ran_is_not_its_code(stories):
    """A program that has loaded its sources compiles those, though the files say something else by then: what it keeps must not
    be taken for the code of the new ones, and is kept under what it was made of."""
    assert stories["running"] == [(6.0, 2), (10.0, 2), (6.0, 0)]


def test_plain_numba_cache_goes_stale(stories):
    """The twin that fails: why the decorator exists. Numba's own cache looks at the caller's file alone; the truth is 10."""
    assert [answer for answer, _ in stories["numba"]] == [6.0, 6.0]


@pytest.mark.parametrize(
    ("line", "package", "found"),
    [
        ("from tumble.collision.vectors import dot", (), {"tumble.collision.vectors", "tumble.collision.vectors.dot"}),
        (
            "from tumble.collision.vectors import (\n    dot,  # a (b) c\n    cross as x,\n)",
            (),
            {"tumble.collision.vectors.cross"},
        ),
        ("from tumble.collision import vectors, \\\n    callee", (), {"tumble.collision.vectors", "tumble.collision.callee"}),
        ("import tumble.collision.vectors as v", (), {"tumble.collision.vectors"}),
        ("def f():\n    from tumble.collision import vectors", (), {"tumble.collision.vectors"}),
        ("from . import vectors", ("tumble", "collision"), {"tumble.collision.vectors"}),
        ("from .vectors import dot", ("tumble", "collision"), {"tumble.collision.vectors"}),
        ("from ..vectors import (\n  dot)", ("tumble", "collision", "pairs"), {"tumble.collision.vectors"}),
    ],
    ids=["plain", "in parentheses", "with a backslash", "as", "in a function", "dot", "one up", "two up"],
)
def test_every_way_to_import_is_seen(line, package, found):
    assert found <= {name for statement in import_statements(line) for name in modules(statement, package)}


def test_imports_of_all_sources_are_seen():
    """What reads imports line by line finds all that a parser of the whole file does."""
    files = [file for package in PACKAGES for file in (ROOT / package).rglob("*.py")]
    assert len(files) > 100
    for file in files:
        text = file.read_text()
        whole = {ast.dump(node) for node in ast.walk(parsed(text)) if isinstance(node, ast.Import | ast.ImportFrom)}
        assert whole <= {ast.dump(node) for node in import_statements(text)}, file


@pytest.mark.parametrize("harm", HARMS)
def test_damaged_code_is_compiled_anew(stories, harm):
    """Never run: machine code with a bit flipped ends the interpreter, or gives another number."""
    assert stories[harm] == [(6.0, 2), (6.0, 2), (6.0, 0)]


def test_code_of_another_machine_is_not_run(stories):
    """Each processor has files of its own: what another one filled a shared cache with is neither run nor lost."""
    assert stories["machine"] == [(6.0, 2), (6.0, 2), (6.0, 0)]  # here, there, here


def test_a_folder_that_can_not_be_written(package):
    """It says so, once, and what can be read there is read."""
    write(package, 3.0, TUMBLE)
    (package.parents[1] / "cache").write_text("a file where the folder should be")
    environment = {**os.environ, "TUMBLE_CACHE_DIR": str(package.parents[1] / "cache")}
    answer = subprocess.run([sys.executable, "-c", ASK], cwd=package.parents[1], env=environment, capture_output=True, text=True)
    assert answer.stdout.split() == ["6.0", "2"]
    assert answer.stderr.count("compiled kernels can not be kept") == 1


def test_processes_that_fill_one_cache(package):
    """Each gets its answer, two of one signature and one of another; afterwards nobody compiles, and nothing else lies there."""
    write(package, 3.0, TUMBLE)
    environment = {**os.environ, "TUMBLE_CACHE_DIR": str(package.parents[1] / "cache")}
    asks = [ASK.replace("answer(2.0)", value) for value in ("answer(2.0)", "answer(2)", "answer(2.0)")]
    run = lambda ask: subprocess.Popen([sys.executable, "-c", ask], cwd=package.parents[1], env=environment, stdout=-1)  # noqa: E731
    answers = [process.communicate()[0].split() for process in [run(ask) for ask in asks]]
    assert [float(value) for value, _ in answers] == [6.0, 6.0, 6.0]
    together = ASK.replace("answer(2.0)", "answer(2.0), answer(2)")
    assert asked(package, together).split() == ["6.0", "6.0", "0"]
    assert {file.suffix for file in (package.parents[1] / "cache").rglob("*") if file.is_file()} == {".nbc"}


CALL = """
from tumble.collision.kernels.jit import inner, kernel, lean, remote, tight

for decorator in (inner, lean, tight, remote):
    @decorator
    def only(x): return x + 1.0
    @kernel
    def outer(x): return only(x)
    for _ in range(2):
        try:
            print(only(1.0))
        except TypeError as error:
            print(decorator.__name__, error)
        if decorator is not remote:
            print(outer(1.0))
"""


def test_kernels_for_kernels_raise_when_python_calls_them(package):
    """Before and after they are compiled. They used to end the interpreter."""
    lines = asked(package, CALL).splitlines()
    for name in ("inner", "lean", "tight", "remote"):
        assert sum(line.startswith(f"{name} __main__.only is a kernel that only kernels can call") for line in lines) == 2
    assert lines.count("2.0") == 6


def test_a_link_leads_to_the_same_hash():
    """A program finds the packages by links, a worker without: both must look for machine code at the same place."""
    path = ROOT / "collision" / "kernels" / "building" / "worker.py"
    link = ROOT / "tumble" / path.relative_to(ROOT)
    assert link != path
    assert source_hash(link) == source_hash(path)
