"""Threads that help a world with its steps (crew.py). They are asked for in each call, and leave where there is nothing to do."""

from __future__ import annotations

import functools
import os
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from collision.errors import InputError
from collision.native import Call
from sim.compiled import ASSIST
from sim.crew import LINE, OPEN, WORDS
from sim.state import Settings

MOST = 64  # threads
LARGE = 100  # bodies from which a step is worth the help


def cores() -> int:
    """How many threads step a world: $TUMBLE_THREADS, or one on each core that this process may use."""
    given = os.environ.get("TUMBLE_THREADS", "")
    if given:
        if not given.isdigit() or not 0 < int(given) <= MOST:
            raise InputError("TUMBLE_THREADS", given, f"must be a number of threads from 1 to {MOST}")
        return int(given)
    able = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(able, MOST)


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MOST, thread_name_prefix="tumble")


class Helpers:
    """``number`` threads that help with the steps of one world, whose arrays these are."""

    def __init__(self, number: int, model: Any, geometry: Any, settings: Settings):
        room = np.zeros(WORDS + LINE // 8, dtype=np.int64)
        skipped = -room.ctypes.data % LINE // 8
        self._words = room[skipped : skipped + WORDS]  # from the start of a cache line
        self.settings = settings._replace(crew=self._words.ctypes.data)
        self._assist = ASSIST.bind(model, geometry, self.settings)
        self._number = number
        self._there: list[Future[None]] = []

    def take(self, advance: Call, steps: int) -> tuple[int, int]:
        """Call the compiled step with the help of those who are there."""
        self._there = [one for one in self._there if not one.done()]
        while len(self._there) < self._number:
            self._there.append(_pool().submit(self._help))
        try:
            return advance(steps)
        finally:
            self._words[OPEN // 8] = 0

    def _help(self) -> None:
        self._assist()
