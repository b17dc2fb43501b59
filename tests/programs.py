"""Programs that tests start, and end; figures that their runs do without."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


def leave_out_figures(patch: pytest.MonkeyPatch) -> None:
    """Runs write a file of one word for their figure: to draw it is most of a short run. Tests of render draw it."""

    def named(run: Any, path: Path) -> Path:
        Path(path).write_text("figure")
        return Path(path)

    patch.setattr("tumble.render.figures.plots.energy_momentum", named)


@contextmanager
def started(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A program, for the time of a block, which is killed at its end whatever comes of the test: nobody waits for it.

    Ctrl-C reaches it as in a terminal, also where the tests themselves were started to ignore it, as shells do with what runs in
    the background: programs inherit that. It has the pipes that are asked for and none of the tests' own, which whoever reads
    those would wait for.
    """
    given: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL) | {"text": True} | options
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # handlers are not inherited
    try:
        process = subprocess.Popen(command, **given)
    finally:
        signal.signal(signal.SIGINT, before)
    with process:
        try:
            yield process
        finally:
            process.kill()
