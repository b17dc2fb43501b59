"""What CI installs: the tested versions, each with the hashes of its files."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
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
    wanted = project["dependencies"] + sum((extras[name] for name in ("test", "docs", "export", "dask", "demo")), [])
    names = {plain(re.match(r"[\w.-]+", text)[0]) for text in [*wanted, "ruff", "setuptools"]}
    assert names - set(locked()) == set()


def test_ci_installs_nothing_else():
    assert "make test LOCKED=1" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "--require-hashes" in (ROOT / "tools" / "setup_venv.py").read_text(encoding="utf-8")
