"""Tests that hang fail by name, and programs that tests start end with them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tests.programs import started

HANGING = """
import re, time

def test_before(): pass
def test_hanging(): {}
def test_after(): pass
"""
PYTHON = "time.sleep(1000)"
KERNEL = "re.fullmatch('(a|aa)+', 40 * 'a' + 'b')"  # as a kernel does: it lets no other thread run, and hears no signal
WAITING = "import sys, time; print('at it', flush=True); time.sleep(1000)"


@pytest.mark.parametrize("what", [PYTHON, KERNEL], ids=["asleep", "at work"])
def test_a_test_that_hangs_fails_by_name(what, request, pytester, monkeypatch):
    """By the settings of the project, but for the limit itself."""
    assert request.config.getini("faulthandler_timeout") >= 600
    assert request.config.getini("faulthandler_exit_on_timeout")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    settings = "[pytest]\nfaulthandler_timeout = 1\nfaulthandler_exit_on_timeout = true\n"
    pytester.makefile(".ini", pytest=settings)
    pytester.makepyfile(HANGING.format(what))
    told = pytester.runpytest_subprocess("-pxdist", "-n1", "-pno:cacheprovider", timeout=120)
    told.assert_outcomes(passed=2, failed=1)
    told.stdout.fnmatch_lines(["*crashed while running*::test_hanging*"])
    told.stderr.fnmatch_lines(["*in test_hanging*"])


@pytest.mark.skipif(os.name != "posix", reason="no SIGINT there")
@pytest.mark.parametrize("by", [started, subprocess.Popen], ids=["as tests do", "the twin"])
def test_ctrl_c_reaches_what_tests_start_in_the_background(by):
    """Shells have what they put into the background ignore it, and programs inherit that."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with by([sys.executable, "-c", WAITING], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            try:
                assert process.stdout.readline() == "at it\n"
                process.send_signal(signal.SIGINT)
                if by is started:
                    assert process.wait(60) == -signal.SIGINT
                else:
                    with pytest.raises(subprocess.TimeoutExpired):
                        process.wait(0.5)
            finally:
                process.kill()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_tests_start_ends_with_them():
    with started([sys.executable, "-c", WAITING], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == "at it\n"
    assert process.returncode == -signal.SIGKILL
