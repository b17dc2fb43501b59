"""A library that is compiled as it is reached: the same bits, and sound where a wait ends early, a program ends, or two begin."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tumble.collision.kernels.building.growing import ENTER, STUBS, Growing, Workers
from tumble.collision.kernels.building.objects import kept_at, read, write
from tumble.collision.kernels.jit import DISABLED
from tumble.collision.kernels.sources import cache_root
from tumble.sim.compiled import LIBRARY

pytestmark = pytest.mark.skipif(DISABLED, reason="the compiler is off")

DRIFT = "tumble.sim.impact.impact_loop._drift"  # in the midst of a step
REACHED, NOT = (
    "tumble.sim.impact.event_log._log_sensors",
    "tumble.sim.flight.joint_looks._correct_hold",
)  # by a box on a floor; small ones
SCENE = """
import sys
from tumble.collision import Box, HalfSpace
from tumble.sim import World
from tumble.sim.compiled import LIBRARY
if LIBRARY.growing is not None:
    LIBRARY.growing.patience = 0.0  # not in Python meanwhile
world = World()
world.add(HalfSpace(), kind="static")
world.add(Box((0.5, 0.5, 0.5)), position=(0, 0, 0.5), velocity=(0.1, 0, 0))
"""
STEPS = """
world.step(3)
grown = LIBRARY.growing
print(world.state_hash(), "numba" in sys.modules, LIBRARY.whole, "" if grown is None else " ".join(sorted(grown._addresses)))
"""
STEP = SCENE + STEPS
WAIT = """
LIBRARY.prepare(lambda *_: None)
print("numba" in sys.modules, LIBRARY.path.exists())
"""


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Path:
    """A cache with all kernels of the library, each on its own, and not the library."""
    LIBRARY.prepare(lambda *_: None)
    grown = Growing(LIBRARY)
    folder = tmp_path_factory.mktemp("cache")
    missing = grown.missing()
    if missing:  # the library came whole, as with a wheel: then they are compiled here
        pytest.skip("kernels are not kept one by one")
    for path in grown.paths.values():
        to = folder / path.relative_to(cache_root().parent)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, to)
    return folder


@pytest.fixture(scope="module")
def whole() -> list[str]:
    """What a program tells that has the whole library."""
    return told(cache_root().parent)


@pytest.fixture
def cache(kept, tmp_path) -> Path:
    """The same for one test, which may take kernels away."""
    shutil.copytree(kept, tmp_path / "cache")
    return tmp_path / "cache"


def take_away(cache: Path, *names: str) -> list[Path]:
    paths = Growing(LIBRARY).paths
    places = [cache / paths[name].relative_to(cache_root().parent) for name in names]
    for place in places:
        place.unlink()
    return places


ALONE = """
import os
if hasattr(os, "sched_setaffinity"):
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, [cores[os.getpid() % len(cores)]])
"""  # a program on one core has one worker: to start another one, and to load the compiler there, takes as long as all else


def begun(cache: Path, program: str) -> subprocess.Popen:
    environment = {**os.environ, "TUMBLE_CACHE_DIR": str(cache)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", program], env=environment, **pipes)


def told(cache: Path, program: str = STEP) -> list[str]:
    process = begun(cache, program)
    out, error = process.communicate(timeout=300)
    assert process.returncode == 0, error
    return out.split()


def test_a_step_compiles_what_it_reaches_to_the_same_bits(cache, whole):
    """What it does not reach is not waited for; once all is there it is one file. The user's process never loads the compiler."""
    assert whole[1:] == ["False", "True"]
    there, later = take_away(cache, REACHED, NOT)
    *first, compiler, packed = told(cache, STEP + WAIT)
    assert first[:2] == [whole[0], "False"]
    assert REACHED in first[3:]
    assert NOT not in first[3:]
    assert read(there) is not None
    assert [compiler, packed] == ["False", "True"]
    assert read(later) is not None
    assert told(cache) == whole


BESIDE = """
import numpy as np
from tumble.collision.broadphase.box_tree import clear
from tumble.collision.kernels.native import Entry, Library

LIBRARY = Library("beside", Entry(clear, lambda: (np.zeros((1, 4), np.int64), np.zeros(2, np.int64))))
LIBRARY.path = LIBRARY.entries[0].path.with_suffix(".library.o")
"""


def test_all_is_compiled_by_the_same_workers(cache, tmp_path, monkeypatch):
    """A library beside that of steps has an entry of its own: a small kernel here, in a module that workers load as well."""
    take_away(cache, NOT)
    (tmp_path / "beside.py").write_text(BESIDE)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH")))))
    program = """
from beside import LIBRARY as beside
from tumble.scenarios.runs.scene_run import warm
from tumble.sim.compiled import LIBRARY as steps

print(warm(beside, quiet=True), steps.path.exists(), beside.whole, beside.path.exists())
"""
    assert told(cache, program) == ["2", "True", "True", "True"]


def test_queries_reach_kernels_of_steps_alone():
    """So their library may stand beside that of steps. A library without all of these kernels would lack some."""
    from tumble.collision.queries.single import LIBRARY as queries

    assert importlib.import_module(queries.module).LIBRARY is queries  # where workers find its entry
    reached = set(Growing(queries).far)
    assert reached
    assert reached <= set(Growing(LIBRARY).far)
    assert not set(Growing(LIBRARY).far) <= reached


def test_two_programs_at_once(cache, whole):
    take_away(cache, REACHED, NOT)
    both = [begun(cache, ALONE + STEP) for _ in range(2)]
    for process in both:
        out, error = process.communicate(timeout=300)
        assert process.returncode == 0, error
        assert out.split()[0] == whole[0]


def test_a_program_that_ends_leaves_no_compiler_and_the_next_goes_on(cache, whole):
    take_away(cache, REACHED, NOT)  # small ones: a compiler takes longer than half a second to begin with them
    start = (
        SCENE
        + """
LIBRARY.growing.start()
print(*(process.pid for process in LIBRARY.growing._workers.processes))
"""
    )
    numbers = [int(word) for word in told(cache, ALONE + start)]
    assert numbers
    time.sleep(0.5)
    assert not any(alive(number) for number in numbers)
    before, now, *_ = told(cache, ALONE + SCENE + "print(LIBRARY.whole)" + STEPS)
    assert before == "False"
    assert now == whole[0]


def alive(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


ENDED = (
    SCENE
    + """
import numpy as np
from tumble.collision.kernels import native
from tumble.collision.kernels.building.growing import Growing
native.Careful = native.{kind}
world._begin()
calls, plain = [], Growing.want
def want(self, name):
    if name == {reached!r} and not calls:
        calls.append(name)
        raise KeyboardInterrupt
    return plain(self, name)
Growing.want = want
kept = [array.copy() for group in world.model for array in group]
try:
    world.step(3)
except KeyboardInterrupt:
    print("ended")
print(all(np.array_equal(a, b, equal_nan=True) for a, b in zip(kept, [array for group in world.model for array in group])))
world.step(3)
print(world.state_hash())
"""
)


@pytest.mark.parametrize(("kind", "same"), [("Careful", "True"), ("Call", "False")])
def test_a_wait_that_ctrl_c_ends_leaves_the_world_as_it_was(cache, whole, kind, same):
    """Its twin calls kernels as those of a whole library: what they wrote stays."""
    take_away(cache, NOT)
    end = ENDED.format(kind=kind, reached=DRIFT)
    found = told(cache, end)
    assert found[0] == "ended"
    if kind == "Careful":
        assert found[2] == whole[0]
    assert found[1] == same


def test_a_kernel_that_can_not_be_compiled_is_an_error(cache):
    take_away(cache, REACHED)
    spoiled = (
        SCENE
        + """
import subprocess, sys
from tumble.collision.kernels.building import growing
growing.sys = type("Spoiled", (), {"executable": sys.executable, "stderr": None})
plain = subprocess.Popen
growing.subprocess = type("Spoiled", (), {"Popen": lambda command, **k: plain(["false"], **k), "PIPE": subprocess.PIPE})
try:
    world.step()
except RuntimeError as error:
    print(error)
"""
    )
    assert f"compiling {REACHED} failed: the compiler has ended" in " ".join(told(cache, spoiled))


def test_a_fault_of_those_who_share_out_the_work_is_an_error(cache):
    """Whoever waited for a kernel would wait for ever."""
    take_away(cache, REACHED)
    spoiled = (
        SCENE
        + """
from tumble.collision.kernels.building.growing import Growing
Growing.next = lambda *_: 1 / 0
try:
    world.step()
except RuntimeError as error:
    print(error)
"""
    )
    assert told(cache, spoiled) == ["division", "by", "zero"]


def test_what_far_says_of_its_kernel_is_checked():
    from tumble.collision.kernels.compiler import Link
    from tumble.sim.readout import glance
    from tumble.sim.state import EXAMPLE

    link = Link(glance, lambda: (EXAMPLE.bodies, 0), returns=0.0)
    with pytest.raises(TypeError, match=r"tumble.sim.readout.glance returns .*; far says that it returns float64"):
        link.compiled()


def test_names_of_what_comes_first_are_known():
    names = set(Growing(LIBRARY).paths)
    assert {STUBS, ENTER + "tumble.sim.pipeline.advance"} <= names
    assert LIBRARY.first
    assert set(LIBRARY.first) <= names


def shared_out(grown: Growing, workers: int) -> tuple[list[str], int]:
    """The order in which workers take kernels that take as long as they have inner kernels to compile; and all that work."""
    grown.objects = dict.fromkeys((STUBS,))
    known, spent, order, total = [set() for _ in range(workers)], [0] * workers, [], 0
    while True:
        k = spent.index(min(spent))
        name = grown.next(set(), known[k], known[:k] + known[k + 1 :])
        if name is None:
            return order, total
        work = sum(size for kernel, size in grown.inner[name].items() if kernel not in known[k])
        known[k].update(grown.inner[name])
        spent[k], total = spent[k] + work, total + work
        grown.objects[name] = []
        order.append(name)


@pytest.mark.parametrize("workers", [2, 8])
def test_workers_take_what_is_like_what_they_had(workers, monkeypatch):
    """What a first step waits for comes first; where one waits for all, less is done twice. The twin takes one after another."""
    grown = Growing(LIBRARY)
    order, work = shared_out(grown, workers)
    assert order[: len(LIBRARY.first)] == list(LIBRARY.first)
    assert set(order) == set(grown.paths) - {STUBS}
    alone = sum({kernel: size for inner in grown.inner.values() for kernel, size in inner.items()}.values())
    grown._for_all = True
    _, least = shared_out(grown, workers)
    assert alone < least < work
    grown._for_all = False
    monkeypatch.setattr("tumble.collision.kernels.building.growing.AHEAD", 1)
    _, more = shared_out(grown, workers)
    assert alone < work < 0.95 * more


def test_inner_kernels_are_those_whose_code_is_copied():
    grown = Growing(LIBRARY)
    names = {f"{kernel.__module__}.{kernel.__qualname__}" for kernel in grown.inner["tumble.sim.joints.constraint_forces._hold"]}
    assert {"tumble.sim.joints.constraint_forces._ask_accelerations", "tumble.collision.linalg.cross"} <= names
    assert "tumble.sim.joints.constraint_system._give_forces" not in names  # it is called by its address


@pytest.mark.parametrize(("cores", "waiting", "working"), [(2, 0, [0]), (2, 1, [0, 1]), (1, 0, [0]), (16, 0, [0, 1])], ids=str)
def test_a_core_is_left_to_a_program_that_computes(cores, waiting, working):
    workers = Workers.__new__(Workers)
    workers.cores, workers.failed = cores, None
    workers.growing = SimpleNamespace(_waiting=waiting, missing=lambda: ["something"])
    assert [k for k in range(2) if not workers._is_spare(k)] == working
    workers.growing.missing = list
    assert not any(workers._is_spare(k) for k in range(2))  # there is nothing left: all of them end


def test_where_nothing_can_be_kept_compilers_have_a_folder_for_the_time_being(tmp_path, monkeypatch):
    from tumble.collision.kernels.building.growing import home_of

    monkeypatch.setenv("TUMBLE_CACHE_DIR", str(tmp_path / "there"))
    assert home_of()[0] == tmp_path / "there"
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TUMBLE_CACHE_DIR", str(tmp_path / "file" / "below"))
    home, folder = home_of()
    assert home == Path(folder.name)
    assert home.is_dir()


def test_damaged_objects_are_compiled_anew(tmp_path):
    path = tmp_path / kept_at(LIBRARY.entries[0].kernel).name
    write(path, [("far a", "b", b"code")])
    path.write_bytes(path.read_bytes()[:-1])
    assert read(path) is None
