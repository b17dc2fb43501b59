"""Machine code that comes with a wheel: what fits is taken, to the same bits and without the compiler; all else is left alone."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tumble.collision.kernels import shipped
from tumble.collision.kernels.building.objects import read, write
from tumble.collision.kernels.jit import DISABLED

ROOT = Path(__file__).resolve().parent.parent
LEVEL, MODULE = "x86-64-v3", "tumble.sim.compiled"
OBJECTS = [("code", "", b"machine code " * 10)]

RUN = """
import sys
from pathlib import Path
from tumble.collision.kernels import shipped
shipped.FOLDER, shipped.LEVELS = Path(sys.argv[1]), {"x86-64-v3": ()}
from tumble.scenarios.registry import load
world = load("two_cuboids")().build()
world.step(60)
print(world.state_hash(), "numba" in sys.modules)
"""


class Kept:
    """A library that is kept somewhere."""

    module = MODULE

    def __init__(self, path: Path):
        self.path = path


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A folder of machine code for any processor."""
    monkeypatch.setattr(shipped, "FOLDER", tmp_path / "machine_code")
    monkeypatch.setattr(shipped, "LEVELS", {LEVEL: ()})
    for name in [name for name in os.environ if name.startswith("NUMBA_")]:
        monkeypatch.delenv(name)
    write(shipped.FOLDER / shipped.name_of(MODULE, LEVEL), OBJECTS)
    return tmp_path


def test_what_fits_is_taken(folder):
    kept = Kept(folder / "cache" / "a.o")
    assert shipped.provide(kept)
    assert read(kept.path) == OBJECTS
    there = Kept(folder / "there.o")
    there.path.write_bytes(b"compiled here")
    assert not shipped.provide(there)
    assert there.path.read_bytes() == b"compiled here"


def test_what_does_not_fit_is_left_alone(folder, monkeypatch):
    (path,) = shipped.FOLDER.iterdir()
    assert shipped.fitting(MODULE) == path
    with monkeypatch.context() as other:
        other.setattr(shipped, "LEVELS", {LEVEL: ("a_feature_that_none_has",)})
        assert shipped.fitting(MODULE) is None
    for module, name, value in ((shipped.llvmlite, "__version__", "9.9"), (shipped.numpy, "__version__", "9.9.1")):
        with monkeypatch.context() as other:
            other.setattr(module, name, value)
            assert shipped.fitting(MODULE) is None
    with monkeypatch.context() as other:
        other.setenv("NUMBA_CPU_NAME", "generic")
        assert shipped.fitting(MODULE) is None
    with monkeypatch.context() as other:
        other.setattr(shipped, "sources", lambda path: [Path(__file__)])  # other sources
        assert shipped.fitting(MODULE) is None
    assert shipped.fitting("tumble.collision.queries.single") is None


def test_what_is_damaged_or_can_not_be_kept_is_left_alone(folder):
    (folder / "file").write_text("")
    assert not shipped.provide(Kept(folder / "file" / "a.o"))
    (path,) = shipped.FOLDER.iterdir()
    path.write_bytes(path.read_bytes()[:-1])
    assert not shipped.provide(Kept(folder / "a.o"))
    assert not (folder / "a.o").exists()


@pytest.mark.skipif(DISABLED, reason="the compiler is off")
def test_a_first_step_compiles_nothing(tmp_path):
    """From an empty cache: the same bits as by what was compiled here, and Numba is not even loaded."""
    from tumble.sim.compiled import LIBRARY

    LIBRARY.prepare(lambda *_: None)
    write(tmp_path / "machine_code" / shipped.name_of(MODULE, LEVEL), read(LIBRARY.path))
    plain = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}

    def told(place: Path, **environment: str) -> list[str]:
        command = [sys.executable, "-c", RUN, str(place)]
        answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={**plain, **environment}, timeout=300)
        assert answer.returncode == 0, answer.stderr
        assert "compiling" not in answer.stderr
        return answer.stdout.split()

    first = told(tmp_path / "machine_code", TUMBLE_CACHE_DIR=str(tmp_path / "cache"))
    assert first == told(tmp_path / "none")
    assert first[1] == "False"


def test_a_wheel_is_given_machine_code(tmp_path):
    """In its record too, which pip holds files against; what it held before goes."""
    spec = importlib.util.spec_from_file_location("compiled_wheel", ROOT / "tools" / "compiled_wheel.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    wheel = tmp_path / "tumble-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as made:
        made.writestr("tumble/collision/a.py", "a = 1\n")
        made.writestr("tumble.dist-info/RECORD", "tumble/collision/a.py,sha256=x,6\ntumble.dist-info/RECORD,,\n")
    for data in (b"old", b"new"):
        tool.add(wheel, {f"{tool.PLACE}{data.decode()}.o": data})
    with zipfile.ZipFile(wheel) as made:
        assert set(made.namelist()) == {"tumble/collision/a.py", f"{tool.PLACE}new.o", "tumble.dist-info/RECORD"}
        rows = made.read("tumble.dist-info/RECORD").decode().splitlines()
        assert made.read(f"{tool.PLACE}new.o") == b"new"
    digest = base64.urlsafe_b64encode(hashlib.sha256(b"new").digest()).rstrip(b"=").decode()
    assert rows == [
        "tumble/collision/a.py,sha256=x,6",
        f"tumble/collision/machine_code/new.o,sha256={digest},3",
        "tumble.dist-info/RECORD,,",
    ]
