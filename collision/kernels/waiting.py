"""Moments between two looks at a word that another thread will write (kernels/intrinsics/waiting_code.py)."""

from __future__ import annotations

import time
from typing import Any

from tumble.collision.kernels.jit import intrinsic


def _code() -> Any:
    from tumble.collision.kernels.intrinsics import waiting_code

    return waiting_code


# pause(): some hundredths of a microsecond, in which the processor may do other things.
# give_way(): let other threads have the processor. doze(microseconds)
pause = intrinsic(lambda: _code().pause, lambda: None)
give_way = intrinsic(lambda: _code().give_way, lambda: time.sleep(0))
doze = intrinsic(lambda: _code().doze, lambda microseconds: time.sleep(1e-6 * microseconds))
