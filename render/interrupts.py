"""Ctrl-C and SIGTERM wait for the end of what may not be broken off."""

from __future__ import annotations

import signal
import threading
from typing import Any

SIGNS = (signal.SIGINT, signal.SIGTERM)


class held:
    """``with held():`` handlers written in Python act at the end of the block, not in it.

    Drivers and encoders call back into Python in the midst of what they do, and a handler may raise there. Not all of them look
    whether something was raised: moderngl, which asks Python to make the uniforms of a program, then ends the process with a
    segmentation fault. Blocks are to be short. Handlers that are not Python's stay as they are, and in other threads none act.
    """

    def __enter__(self) -> None:
        self._holding, self._came, self._before = False, [], {}
        if threading.current_thread() is threading.main_thread():
            for sign in SIGNS:
                if callable(handler := signal.getsignal(sign)):
                    self._before[sign] = handler
                    signal.signal(sign, self._take)
            self._holding = True  # what comes before is passed on: it may raise here, and the block is not begun

    def __exit__(self, *_: object) -> None:
        self._holding = False  # from here on what comes is passed on, wherever it breaks this off
        for sign, handler in self._before.items():
            signal.signal(sign, handler)
        for sign in self._came:
            self._before[sign](sign, None)

    def _take(self, sign: int, frame: Any) -> None:
        if self._holding:
            self._came.append(sign)
        else:
            self._before[sign](sign, frame)
