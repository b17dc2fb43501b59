"""Threads that help a world with its steps (impact/thread_jobs.py). Each call asks for them anew, and they return when nothing is
left to do.

There is also a thread that takes a long step by itself, so that the main thread can answer Ctrl-C meanwhile.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from tumble.collision.errors import InputError
from tumble.collision.kernels.native import Call
from tumble.sim.compiled import ASSIST
from tumble.sim.impact.thread_jobs import CACHE_LINE, NEXT, SIZE, STEP_OPEN
from tumble.sim.state import Settings

MOST_THREADS = 64  # threads
LARGE_WORLD = 100  # bodies from which a step is worth the help
LONG_STEP = 0.1  # [s] Python waits for the end of a step that is shorter, also after Ctrl-C
HUGE = 5000  # bodies from which the first step is expected to be a long one


def cores() -> int:
    """How many threads step a world: $TUMBLE_THREADS, or one on each core that this process may use."""
    given = os.environ.get("TUMBLE_THREADS", "")
    if given:
        if not given.isdigit() or not 0 < int(given) <= MOST_THREADS:
            raise InputError("TUMBLE_THREADS", given, f"must be a number of threads from 1 to {MOST_THREADS}")
        return int(given)
    able = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(able, MOST_THREADS)


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="tumble")


class Helpers:
    """``number`` threads that help with the steps of one world, whose arrays these are."""

    def __init__(self, number: int, model: Any, geometry: Any, settings: Settings):
        length = (NEXT + CACHE_LINE * (number + 1)) // 8
        room = np.zeros(length + CACHE_LINE // 8, dtype=np.int64)
        skipped = -room.ctypes.data % CACHE_LINE // 8
        self._words = room[skipped : skipped + length]  # from the start of a cache line
        self._words[SIZE // 8] = number + 1
        self.settings = settings._replace(crew=self._words.ctypes.data) if number > 0 else settings
        self._assist = [ASSIST.bind(model, geometry, self.settings) for _ in range(number)]
        self._there: list[Future[None] | None] = [None] * number

    def take(self, advance: Call, steps: int) -> tuple[int, int]:
        """Call the compiled step with the help of those who are there."""
        for k, one in enumerate(self._there):
            if one is None or one.done():
                self._there[k] = _pool().submit(self._help, k)
        try:
            return advance(steps)
        finally:
            self._words[STEP_OPEN // 8] = 0

    def _help(self, k: int) -> None:  # of self, whose words are read for as long as it lasts
        self._assist[k](k + 1)


class Apart:
    """A compiled call in a thread of its own. It goes on where one does not wait for it: its arrays must stay as they are."""

    def __init__(self, call: Callable[..., Any], *arguments: Any):
        self._call, self._arguments = call, arguments
        self._result: Any = None
        self._error: BaseException | None = None
        self._done = threading.Event()
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))  # not even the end of the program gives its arrays back before
        threading.Thread(target=self._run, daemon=True, name="tumble step").start()

    def _run(self) -> None:
        try:
            self._result = self._call(*self._arguments)
        except BaseException as error:
            self._error = error
        self._done.set()
        ctypes.pythonapi.Py_DecRef(ctypes.py_object(self))

    def result(self) -> Any:
        """Wait for what it gives; signals are heard."""
        self._done.wait()
        if self._error is not None:
            raise self._error
        return self._result
