"""The steps of a world that is looked at, taken in a thread of their own while its picture is drawn.

    backstage = Backstage(stage)
    while open:
        if backstage.over(patience):   # nothing is stepped now: the world can be asked and changed
            ...carry out commands; take the frame that was made, or another one after a change...
            backstage.begin(seconds)
        ...draw the frame...

Either the one thread has the world or the other, never both: between :meth:`Backstage.begin` and the :meth:`Backstage.over` that
says so nobody else may ask it for anything. So the world needs no locks, and takes the steps that it would take alone.
"""

from __future__ import annotations

import math
import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any


class Backstage:
    """Advances a stage, which has ``advance(seconds, enough)`` and ``frame()``. ``frame``: that of the end, until one begins."""

    def __init__(self, stage: Any):
        self._stage, self.frame = stage, None
        self._enough = threading.Event()
        self._work: Future[None] | None = None
        # no daemon: the program does not end while compiled code writes to the arrays of a world
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="tumble stage")

    def begin(self, seconds: float) -> None:
        """Advance by ``seconds`` of the scene, as far as that goes until :meth:`over` is asked."""
        self._enough.clear()
        self.frame = None
        self._work = self._thread.submit(self._advance, seconds)

    def _advance(self, seconds: float) -> None:
        self._stage.advance(seconds, self._enough.is_set)
        self.frame = self._stage.frame()

    def over(self, patience: float = math.inf) -> bool:
        """Ask for an end after the step that is being taken, and wait ``patience`` [s] for it. Raises what a step raised."""
        if self._work is None:
            return True
        self._enough.set()
        if not wait([self._work], None if patience == math.inf else patience).done:
            return False
        work, self._work = self._work, None
        work.result()
        return True

    def close(self) -> None:
        """Wait for the end of the step that is being taken; what it raises is of no interest any more."""
        self._enough.set()
        self._thread.shutdown()
