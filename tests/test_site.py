"""The site of the docs is built without a warning, and holds what it should: pages, docstrings, scenes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocs")
ROOT = Path(__file__).resolve().parent.parent


def build(config: Path, out: Path) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config), "-d", str(out)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300)


def test_site(tmp_path):
    answer = build(ROOT / "mkdocs.yml", tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert "WARNING" not in answer.stderr
    text = (tmp_path / "reference" / "index.html").read_text()
    assert "apply_impulse" in text
    assert "length of a step [s]." in text  # of a parameter
    assert ":class:" not in text
    scenes = (tmp_path / "scenes" / "index.html").read_text()
    assert "Jellett" in scenes
    assert (tmp_path / "images" / "pyramid.png").exists()
    for page in ROOT.glob("docs/*.md"):
        assert (tmp_path / page.stem / "index.html").exists(), page.name


def test_a_broken_link_is_seen(tmp_path):
    """The same build of one page with a link to nowhere fails."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("[nowhere](nowhere.md)")
    (tmp_path / "mkdocs.yml").write_text("site_name: x\n")
    assert build(tmp_path / "mkdocs.yml", tmp_path / "out").returncode != 0
