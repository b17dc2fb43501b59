"""What CI installs: the tested versions, each with the hashes of its files."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
OURS = ("film", "view", "mesh", "data", "dask", "test", "docs", "demo")  # extras
PLATFORM = {"cffi", "pycparser"}  # of Windows alone, where nothing was tested


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned(text: str) -> dict[str, str]:
    """Name -> version."""
    found = (re.match(r"([\w.-]+)==([\w.!+]+)", line) for line in text.splitlines())
    return {plain(match[1]): match[2] for match in found if match}


def locked() -> dict[str, list[str]]:
    """Name -> hashes."""
    out: dict[str, list[str]] = {}
    for line in (ROOT / "locked.txt").read_text(encoding="utf-8").splitlines():
        if match := re.match(r"([\w.-]+)==", line):
            hashes = out.setdefault(plain(match[1]), [])
        elif match := re.match(r"    --hash=(sha256:[0-9a-f]{64})", line):
            hashes.append(match[1])
        else:
            assert line.startswith("#") or not line.strip(), line
    return out


def test_the_locked_versions_are_the_tested_ones():
    tested = pinned((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    found = pinned((ROOT / "locked.txt").read_text(encoding="utf-8"))
    assert {name: version for name, version in found.items() if tested.get(name) != version and name not in PLATFORM} == {}


def test_each_has_hashes():
    hashes = locked()
    assert len(hashes) > 90
    assert all(hashes.values())


def test_all_that_tests_need_is_locked():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = project["dependencies"] + sum((extras[name] for name in OURS), [])
    names = {plain(re.match(r"[\w.-]+", text)[0]) for text in [*wanted, "ruff", "setuptools"]}
    assert names - {"tumble"} - set(locked()) == set()


def test_ci_installs_nothing_else():
    assert "make test LOCKED=1" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "--require-hashes" in (ROOT / "tools" / "setup_venv.py").read_text(encoding="utf-8")


def rows(text: str) -> set[str]:
    """Names in the first columns of tables."""
    firsts = [line.split("|")[1] for line in text.splitlines() if line.startswith("|")]
    return {name for first in firsts for name in re.findall(r"[\w.-]+", first)}


def test_security_says_what_each_dependency_is_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras, told = project["optional-dependencies"], rows((ROOT / "SECURITY.md").read_text(encoding="utf-8"))
    wanted = [*project["dependencies"], *(text for name in ("film", "view", "mesh", "data", "dask") for text in extras[name])]
    names = {re.match(r"[\w.-]+", text)[0] for text in wanted} - {"tumble"}
    assert names - told == set()
    assert names - rows((ROOT / "SECURITY.md").read_text(encoding="utf-8").replace("| simpleeval |", "| |")) == {"simpleeval"}


def test_security_names_what_the_video_library_carries():
    found = importlib.util.find_spec("av")
    files = [] if found is None else list((Path(found.origin).parents[1] / "av.libs").glob("*.so*"))
    if not files:
        pytest.skip("av carries no libraries here")
    told = rows((ROOT / "SECURITY.md").read_text(encoding="utf-8"))
    carried = {re.match(r"lib[A-Za-z0-9]+(-amr[nw]b)?", file.name)[0] for file in files}
    assert carried - told == set()
