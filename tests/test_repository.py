"""What is in the repository speaks of the project alone: no place on one machine, no host of packages, nothing half-merged."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LARGEST = 3_000_000  # bytes of a file
FORBIDDEN = {
    "a folder of one machine": re.compile(r"(?<![\w.])/(?:home/\w+|root|work|Users/\w+)/"),
    "a host of packages": re.compile(r"pypi\.org|pythonhosted\.org|registry\.npmjs|index-url"),
    "what a merge left": re.compile(r"^(?:<{7} |>{7} |={7}$)", re.M),
}
HEADINGS = ["Added", "Changed", "Fixed"]


def faults(text: str) -> list[str]:
    return [name for name, pattern in FORBIDDEN.items() if pattern.search(text)]


def tracked() -> list[Path]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone")
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [path for name in names.split("\0") if name and (path := ROOT / name).is_file()]


def test_files_speak_of_the_project_alone():
    found = {}
    for path in set(tracked()) - {Path(__file__).resolve()}:
        content = path.read_bytes()
        if b"\0" not in content and (wrong := faults(content.decode("utf-8", "replace"))):
            found[str(path.relative_to(ROOT))] = wrong
    assert found == {}


def test_no_file_is_huge():
    assert [path.name for path in tracked() if path.stat().st_size > LARGEST] == []


def test_the_change_log_has_its_headings_once():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first = re.split(r"^## ", text, flags=re.M)[1]
    assert re.findall(r"^### (.*)$", first, re.M) == HEADINGS
    entries = re.findall(r"^- .*(?:\n  .*)*", first, re.M)
    assert [entry for entry in set(entries) if entries.count(entry) > 1] == []


@pytest.mark.parametrize(
    "text", ["see /home/ann/notes", "(/root/x)", "https://pypi.org/simple", "a\n<<<<<<< main\nb", "a\n=======\nb"]
)
def test_such_things_are_found(text):
    assert faults(text) != []


@pytest.mark.parametrize("text", ["runs/stack/root/x", "a networks/Users/ann/y", "======== ===", "https://rapier.rs/docs/"])
def test_other_things_are_not(text):
    assert faults(text) == []
