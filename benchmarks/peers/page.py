"""What was measured, and on what, on a page of the docs."""

from __future__ import annotations

import platform
import re
from pathlib import Path


def parts(page: Path, mark: str) -> tuple[str, str, str]:
    """(what stands before, between and after ``<!-- mark -->`` and the next ``<!-- end -->``, the marks not in the middle)."""
    found = re.fullmatch(rf"(.*?<!-- {re.escape(mark)} -->\n)(.*?)(<!-- end -->.*)", page.read_text(encoding="utf-8"), re.S)
    if found is None:
        raise ValueError(f"{page}: must hold <!-- {mark} -->, and <!-- end --> after it")
    return found[1], found[2], found[3]


def written(page: Path, mark: str) -> str:
    """What stands on a page between the marks."""
    return parts(page, mark)[1]


def write_measured(page: Path, mark: str, text: str) -> None:
    """Put ``text`` on a page in place of what stands between ``<!-- mark -->`` and ``<!-- end -->``."""
    before, _, after = parts(page, mark)
    page.write_text(before + text + "\n" + after, encoding="utf-8")


def processor() -> str:
    """What the processor calls itself."""
    info = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*:\s*(.*)", info.read_text()) if info.exists() else None
    return found[1] if found else platform.processor() or platform.machine()
