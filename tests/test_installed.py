"""What is installed: one name and nothing else, from a source distribution too; a script may have files of any name beside it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.test_readme import blocks

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("collision", "render", "scenarios", "sim")
NEEDED = (*PARTS, "tumble", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE")
BUILD = "import sys, setuptools.build_meta as b; print(getattr(b, sys.argv[1])(sys.argv[2]))"


def run(folder: Path, *words: str, **around: str) -> str:
    plain = {**os.environ, "PYTHONPATH": ""} | around
    answer = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True, env=plain)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout


def built(folder: Path, what: str) -> Path:
    """A wheel or source distribution of a tree."""
    return folder / "dist" / run(folder, "-c", BUILD, what, "dist").splitlines()[-1]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """The tree of a source distribution that was made of this one."""
    if importlib.util.find_spec("setuptools") is None:
        pytest.skip("setuptools is not installed")
    tree = tmp_path_factory.mktemp("tree")
    for name in NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, tree / name)
    with tarfile.open(built(tree, "build_sdist")) as made:
        made.extractall(tree / "unpacked", filter="data")
    (folder,) = (tree / "unpacked").iterdir()
    return folder


@pytest.fixture(scope="module")
def site(unpacked, tmp_path_factory):
    """A folder with what pip makes of that source distribution."""
    folder = tmp_path_factory.mktemp("site")
    wheel = built(unpacked, "build_wheel")
    run(unpacked, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", str(folder), str(wheel))
    return folder


def test_one_name_is_installed(site):
    there = {path.name.partition("-")[0] for path in site.iterdir()}
    assert there == {"tumble", "bin"}
    assert {path.name for path in (site / "tumble").iterdir() if path.is_dir()} >= set(PARTS)
    assert not any(path.is_symlink() for path in site.rglob("*"))
    for name in ("shaders", "page"):
        assert {p.name for p in (site / "tumble" / "render" / name).iterdir()} >= {
            p.name for p in (ROOT / "render" / name).iterdir() if p.is_file()
        }


def test_a_script_may_have_files_of_any_name(site, tmp_path):
    """README's example, beside a user's own sim.py, render.py and others, which the script itself uses."""
    for name in PARTS:
        (tmp_path / f"{name}.py").write_text(f"mine = {name!r}\n")
    example = next(block for block in blocks(ROOT / "README.md", "python") if "World" in block)
    example = example.replace("size=(640, 360)", "size=(64, 36), fps=10")
    script = f"import {', '.join(PARTS)}\nassert [{', '.join(f'{name}.mine' for name in PARTS)}] == {list(PARTS)}\n{example}\n"
    script += f"import tumble\nassert tumble.__file__.startswith({str(site)!r}), tumble.__file__\nprint('done')\n"
    (tmp_path / "script.py").write_text(script)
    assert run(tmp_path, "script.py", PYTHONPATH=str(site)).endswith("done\n")


def test_packages_by_their_old_names_would_stand_in_the_way(site, tmp_path):
    """The twin that fails: with folders called sim and render on the path, the user's own would be taken for ours."""
    (tmp_path / "sim.py").write_text("mine = 1\n")
    (tmp_path / "script.py").write_text(f"from {PARTS[-1]} import World\n")
    answer = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True,
                            env={**os.environ, "PYTHONPATH": str(site / "tumble")})  # fmt: skip
    assert "cannot import name 'World' from 'sim'" in answer.stderr


def test_a_tree_without_links_works(unpacked):
    """Where links can not be made, and in source distributions, which hold none."""
    assert not any((unpacked / "tumble" / name).exists() for name in PARTS)
    code = "import tumble; print(tumble.sim.__file__, tumble.World.__name__, tumble.film.__module__)"
    file, *rest = run(unpacked, "-c", code).split()
    assert Path(file) == unpacked / "sim" / "__init__.py"
    assert rest == ["World", "tumble.render.films.video"]
