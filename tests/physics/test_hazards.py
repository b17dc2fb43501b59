"""Worlds at the ends of what numbers hold: what is not bounded, or not booked, is told; or there is one error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.validate
def test_hazards():
    """In a program of its own, which forks for each world."""
    command = [sys.executable, "-m", "benchmarks.hazards", "--count", "300", "--first", "1000"]
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=3000)
    assert done.returncode == 0, done.stdout[-2000:]
