"""Moments between two looks at a word that another thread will write (kernels/intrinsics/waiting_code.py)."""

from __future__ import annotations

import time

from tumble.collision.kernels.jit import intrinsic


@intrinsic(lambda: None)
def pause():
    """pause(): some hundredths of a microsecond, in which the processor may do other things."""
    from tumble.collision.kernels.intrinsics.waiting_code import pause

    return pause


@intrinsic(lambda: time.sleep(0))
def give_way():
    """give_way(): let other threads have the processor."""
    from tumble.collision.kernels.intrinsics.waiting_code import give_way

    return give_way


@intrinsic(lambda microseconds: time.sleep(1e-6 * microseconds))
def doze():
    """doze(microseconds)"""
    from tumble.collision.kernels.intrinsics.waiting_code import doze

    return doze
