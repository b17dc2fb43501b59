"""Every block of Python in the README and in docs/ runs, in the order of its page, in a folder that has a run in it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scenarios.registry import load
from scenarios.run import run_scene

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    if page.exists() and BLOCK.search(page.read_text())
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder as `make demo` leaves it."""
    out = tmp_path_factory.mktemp("docs")
    run_scene(load("two_cuboids")(), out / "runs" / "two_cuboids", seconds=0.1, quiet=True)
    return out


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_code_runs(page, folder):
    program = "\n".join(BLOCK.findall(page.read_text()))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg"}
    answer = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, env=environment, capture_output=True, text=True, timeout=400
    )
    assert answer.returncode == 0, answer.stderr


def test_pages_are_found():
    assert "recording.md" in [page.name for page in PAGES]


def test_local_links_lead_somewhere():
    missing = []
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        if page.exists():
            for link in re.findall(r"\]\(([^)#\s]+)\)", page.read_text()):
                if "://" not in link and not (page.parent / link).exists():
                    missing.append(f"{page.name}: {link}")
    assert missing == []
