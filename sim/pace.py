"""When what costs time is due again: seldom enough that a machine does more than that."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

REST = 9.0  # wait so many times as long as the last one took


class Pace:
    """Due after so many seconds of the clock, and REST times what it took: on a machine that many share, or a slow disk, what is
    written every five seconds can take longer than that, and would be all that is done. 0 s: always."""

    def __init__(self) -> None:
        self.ended, self.took = time.monotonic(), 0.0

    def due(self, seconds: float) -> bool:
        return seconds == 0.0 or time.monotonic() - self.ended > max(seconds, REST * self.took)

    @contextmanager
    def measured(self) -> Iterator[None]:
        """``with pace.measured():`` do it."""
        begun = time.monotonic()
        try:
            yield
        finally:
            self.ended = time.monotonic()
            self.took = self.ended - begun
