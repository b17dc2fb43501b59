"""Progress on the terminal: a bar for what takes longer than a second, plain lines where the output is not a terminal."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from tumble.sim.words import printable

DELAY = 0.5  # s before a bar shows: short work shows none


def console() -> Console:
    """For progress and messages: standard error, so that the output can be piped."""
    return Console(stderr=True, highlight=False)


class Bar:
    """One line of progress: ``update(done, total, note)`` as often as one likes; it draws about ten times a second."""

    def __init__(self, title: str, total: float | None = None, counted: bool = False, quiet: bool = False):
        self.title, self.total, self.quiet = printable(title).replace("\n", "\\n"), total, quiet
        self.console = console()
        self.begun = time.perf_counter()
        self.progress: Progress | None = None
        self.counted = counted
        self.drawn = self.begun
        self.said = False

    def update(self, done: float, total: float | None = None, note: str = "") -> None:
        now = time.perf_counter()
        self.total = self.total if total is None else total
        if self.quiet or now - self.begun < DELAY:
            return
        if not self.console.is_terminal:
            if not self.said:
                self.said = True
                self.console.print(f"{self.title} ...", markup=False)
            return
        if self.progress is None:
            count = [MofNCompleteColumn()] if self.counted else []
            title, note = TextColumn("{task.description}", markup=False), TextColumn("[dim]{task.fields[note]}")
            clock = TimeElapsedColumn(), TextColumn("gone,"), TimeRemainingColumn(), TextColumn("left")
            columns = title, BarColumn(30), *count, *clock, note
            self.progress = Progress(*columns, console=self.console, transient=True)
            self.progress.start()
            self.task = self.progress.add_task(self.title, total=self.total, note=note)
        elif now - self.drawn < 0.1:
            return
        self.drawn = now
        self.progress.update(self.task, completed=done, total=self.total, note=note)

    def close(self) -> None:
        if self.progress is not None:
            self.progress.stop()
            self.progress = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.begun


def counted(items: Sequence[Any], title: str) -> Iterator[Any]:
    """The items one by one, under a bar where there are many."""
    with Bar(title, total=len(items), counted=True, quiet=len(items) < 5000) as bar:
        for k, item in enumerate(items):
            if k % 500 == 0:
                bar.update(k)
            yield item


class RunProgress:
    """An observer that shows how far a run is."""

    only_looks = True  # it changes nothing of a world

    def __init__(self, title: str, seconds: float, dt: float, quiet: bool = False):
        self.every = max(1, min(20, round(seconds / dt) // 100))
        self.seconds, self.origin = seconds, 0.0
        self.bar = Bar(title, total=seconds, quiet=quiet)

    def start(self, world: Any) -> None:
        self.origin = world.time

    def __call__(self, world: Any) -> None:
        done = world.time - self.origin
        self.bar.update(done, note=f"t = {done:.2f} of {self.seconds:g} s")

    def finish(self, world: Any) -> None:
        self.bar.close()
