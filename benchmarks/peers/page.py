"""What was measured, and on what, on a page of the docs."""

from __future__ import annotations

import platform
import re
from pathlib import Path


def write_measured(page: Path, mark: str, text: str) -> None:
    """Put ``text`` on a page in place of what stands between ``<!-- mark -->`` and ``<!-- end -->``."""
    marks = rf"(<!-- {mark} -->\n).*(<!-- end -->)"
    old = page.read_text(encoding="utf-8")
    page.write_text(re.sub(marks, lambda m: m[1] + text + "\n" + m[2], old, flags=re.S), encoding="utf-8")


def processor() -> str:
    """What the processor calls itself."""
    info = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*:\s*(.*)", info.read_text()) if info.exists() else None
    return found[1] if found else platform.processor() or platform.machine()
