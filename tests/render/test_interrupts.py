"""Ctrl-C and SIGTERM while a driver is at work."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tumble.render.interrupts import SIGNS, held

ROOT = Path(__file__).resolve().parents[2]
# Struck where moderngl, in the midst of making a program, asks Python for what belongs to it.
STRUCK = """
import contextlib, os, signal, sys, traceback
import tumble.render.opengl.programs
from tumble.render.opengl.context import open_renderer
from tumble.scenarios.cli import _terminated

def strike(frame, event, arg):
    if frame.f_back and frame.f_back.f_code.co_name == "program" and "moderngl" in frame.f_code.co_filename:
        sys.settrace(None)
        os.kill(os.getpid(), {sign})

signal.signal(signal.SIGTERM, _terminated)
signal.signal(signal.SIGINT, signal.default_int_handler)
if {twin}:
    tumble.render.opengl.programs.held = contextlib.nullcontext
renderer = open_renderer((64, 48), "fast")
sys.settrace(strike)
try:
    renderer._programs["panel"]
except KeyboardInterrupt as error:
    where = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    print("program" in where)
"""


@pytest.fixture
def heard():
    """The signals that a handler got, in order."""
    got: list[int] = []
    before = {sign: signal.signal(sign, lambda sign, _: got.append(sign)) for sign in SIGNS}
    yield got
    for sign, handler in before.items():
        signal.signal(sign, handler)


def test_signals_wait_for_the_end(heard):
    handlers = [signal.getsignal(sign) for sign in SIGNS]
    with held():
        signal.raise_signal(signal.SIGTERM)
        with held():
            signal.raise_signal(signal.SIGINT)
        assert heard == []
    assert heard == [signal.SIGTERM, signal.SIGINT]
    assert [signal.getsignal(sign) for sign in SIGNS] == handlers
    signal.raise_signal(signal.SIGINT)
    assert len(heard) == 3


def test_what_a_handler_raises_comes_at_the_end(heard):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    done = []
    with pytest.raises(KeyboardInterrupt), held():  # noqa: PT012
        signal.raise_signal(signal.SIGINT)
        done.append(True)
    assert done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_one_that_was_broken_off_passes_signals_on(heard):
    """A handler that raises before the block, or at its end, leaves none behind that swallows them."""
    hold = held()
    hold.__enter__()
    hold._holding = False  # as it is in the first and the last lines
    signal.raise_signal(signal.SIGTERM)
    assert heard == [signal.SIGTERM]


@pytest.mark.parametrize("handler", [signal.SIG_DFL, signal.SIG_IGN])
def test_handlers_of_the_system_stay(heard, handler):
    signal.signal(signal.SIGTERM, handler)
    with held():
        assert signal.getsignal(signal.SIGTERM) is handler


def test_other_threads_hold_nothing(heard):
    def work() -> None:
        with held():
            signals.append(signal.getsignal(signal.SIGINT))

    signals: list[object] = []
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert signals == [signal.getsignal(signal.SIGINT)]


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGTERM there")
@pytest.mark.parametrize("sign", SIGNS)
def test_a_driver_that_is_struck(gl, sign):
    """It makes its program, then the signal is heard; the twin, which holds nothing, is broken off in it or crashes."""

    def told(twin: bool) -> str:
        code = STRUCK.format(sign=int(sign), twin=twin)
        return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True).stdout

    assert told(False) == "False\n"
    assert told(True) != "False\n"
