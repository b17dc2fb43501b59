"""The import ladder: collision takes nothing of ours, sim takes collision, render and scenarios take both."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.sources import parsed, put_off, statements

ROOT = Path(__file__).resolve().parent.parent
LADDER = {
    "collision": {"collision"},
    "sim": {"collision", "sim"},
    "render": {"collision", "sim", "render"},
    "scenarios": {"collision", "sim", "scenarios"},
    "tumble": {"collision", "sim", "render", "scenarios"},  # names of theirs, and none of its own
}
PLACES = {package: f"tumble.{package}".replace("tumble.tumble", "tumble") for package in LADDER}  # and their names
MAY_RENDER = {"cli.py", "testing.py", "showing", "verbs"}  # of scenarios, inside functions
PACKAGES = set(LADDER)


def breaches(package: str, file: str, source: str) -> list[str]:
    """Imports of a file that the ladder forbids."""
    tree = parsed(source)
    out = []
    for node in statements(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or ""] if node.level == 0 else [f"tumble.{package}"]
            if modules == ["tumble"]:
                modules = [f"tumble.{alias.name}" for alias in node.names]
        else:
            continue
        for module in modules:
            top = module.removeprefix("tumble.").partition(".")[0]
            allowed = set(LADDER[package])
            if package == "scenarios" and file.partition("/")[0] in MAY_RENDER and node in put_off(source):
                allowed.add("render")
            if top in PACKAGES | {"tests", "benchmarks", "tools"} and top not in allowed:
                out.append(f"{package}/{file}:{node.lineno} imports {module}")
    return out


def test_ladder():
    found, files = [], 0
    for package in LADDER:
        for path in sorted((ROOT / package).rglob("*.py")):
            found += breaches(package, path.relative_to(ROOT / package).as_posix(), path.read_text(encoding="utf-8"))
            files += 1
    assert files > 40
    assert found == []


@pytest.mark.parametrize(
    ("package", "file", "source"),
    [
        ("collision", "a.py", "from tumble.sim.world.world import World"),
        ("sim", "a.py", "def f():\n    import tumble.render.films.video"),
        ("scenarios", "run.py", "def f():\n    from tumble import render"),
        ("scenarios", "cli.py", "from tumble import render"),
        ("render", "a.py", "from tumble.scenarios import registry"),
        ("sim", "a.py", "from tests import helper"),
    ],
)
def test_ladder_sees_a_breach(package, file, source):
    assert len(breaches(package, file, source)) == 1


def name_of(folder: Path) -> str:
    """The name that a folder of the tree is installed under."""
    package, *below = folder.relative_to(ROOT).parts
    return ".".join((PLACES[package], *below))


def files_of(package: str) -> list[Path]:
    """Files of a package; those that links in tumble/ lead to are of others."""
    return [p for p in sorted((ROOT / package).rglob("*")) if p.is_file() and "__pycache__" not in p.parts]


def test_all_packages_are_named():
    """pyproject names each folder with code or data, and no other: a forgotten one would be missing from a wheel."""
    said = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    named, data = set(said["packages"]), set(said["package-data"])
    there = {name_of(p.parent) for package in LADDER for p in files_of(package) if p.suffix == ".py"}
    assert named == there | data
    assert said["package-dir"] == {name: package for package, name in PLACES.items()}


def test_shaders_are_packaged():
    """Each file that is no code is in a package whose data are named."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    others = [p for package in LADDER for p in files_of(package) if p.suffix != ".py"]
    assert others
    for path in others:
        assert any(path.match(pattern) for pattern in data.get(name_of(path.parent), [])), path


def test_a_package_is_one_by_either_name():
    """Beside the tree a package is found by its folder's name too: it is the same one, and so is all below it."""
    module = {
        "collision": "collision.pose",
        "sim": "sim.world.world",
        "render": "render.camera",
        "scenarios": "scenarios.registry",
    }
    assert set(module) == set(LADDER) - {"tumble"}
    program = "import sys, warnings\n"
    for package, below in module.items():
        program += (
            f"warnings.simplefilter('error'); import tumble.{below}\n"
            f"try:\n    import {package}\n    sys.exit('no warning of {package}')\n"
            f"except DeprecationWarning as told:\n    print(told)\n"
            f"warnings.simplefilter('ignore'); import {package}, {below}\n"
            f"assert {package} is tumble.{package} and {below} is tumble.{below}\n"
            f"assert {below}.__spec__.name == 'tumble.{below}'\n"
        )
    answer = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.splitlines() == [f"{package} is a part of tumble: import tumble.{package}" for package in module]
    for package in module:
        assert (ROOT / "tumble" / package).samefile(ROOT / package) or not (ROOT / ".git").exists()


def test_help_is_light():
    """`tumble --help` loads no compiler and no arrays, and answers at once."""
    program = (
        "import sys, tumble.scenarios.cli\n"
        "try:\n    tumble.scenarios.cli.main(['--help'])\n"
        "except SystemExit:\n    pass\n"
        "heavy = {'numba', 'numpy', 'zarr', 'matplotlib', 'pygame', 'av'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)\n"
    )
    best, spent = float("inf"), lambda: sum(os.times()[2:4])  # s of processor, by programs that were started
    for _ in range(3):
        begun = spent()
        answer = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
        best = min(best, spent() - begun)
        assert answer.returncode == 0, answer.stderr
    assert "demo" in answer.stdout
    assert best < 1.0  # it takes 0.05 s


def test_the_one_name_loads_nothing_and_describing_a_scene_no_compiler():
    """`import tumble` costs what a file of forty lines costs; what is used of it loads then."""
    program = (
        "import sys, tumble\n"
        "early = {name for name in sys.modules if name.startswith(('numpy', 'numba', 'tumble.'))}\n"
        "tumble.World, tumble.film, tumble.run_scenario, tumble.sim\n"
        "late = {'numba', 'matplotlib', 'av'} & set(sys.modules)\n"
        "from tumble.scenarios.registry import catalog; [scene() for scene in catalog().values()]\n"
        "late |= {'numba'} & set(sys.modules)\n"
        "sys.exit(f'loaded {early | late}' if early | late else 0)\n"
    )
    answer = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr


def named_twice(source: str) -> set[str]:
    """Names in capitals that a module gives a value more than once."""
    seen: set[str] = set()
    twice: set[str] = set()
    for node in parsed(source).body:
        for target in getattr(node, "targets", []):
            for name in ast.walk(target):
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store) and name.id.isupper():
                    (twice if name.id in seen else seen).add(name.id)
    return twice


@pytest.mark.parametrize("package", LADDER)
def test_constants_have_one_value(package):
    """A second END once turned the ends of flights under forces into their starts."""
    for file in sorted((ROOT / package).rglob("*.py")):
        assert named_twice(file.read_text(encoding="utf-8")) == set(), file.name


def test_a_second_value_is_seen():
    assert named_twice("START, END = range(2)\nBEGIN, END = range(2)\n") == {"END"}
