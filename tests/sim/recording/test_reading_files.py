"""Files of what instruments have read: what is harmed is named, whatever NumPy and zipfile make of it."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from tumble.sim import RecordingError
from tumble.sim.joints.mechanism.instruments import Readings
from tumble.sim.recording.storage import reading_files

ONE = Readings(np.arange(50.0), np.arange(150.0).reshape(50, 3), ("x", "y", "z"), "m/s")
FEWER = (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error)


def harmed(recording: Path) -> tuple[int, int]:
    """How many of 400 files, each with a byte that is another one, can be read, and how many are refused."""
    reading_files.write_readings({"imu": ONE}, recording)
    path = reading_files.reading_path(recording)
    whole, random = bytearray(path.read_bytes()), np.random.default_rng(0)
    read = refused = 0
    for _ in range(400):
        at = int(random.integers(len(whole)))
        part = whole.copy()
        part[at] ^= int(random.integers(1, 256))
        path.write_bytes(part)
        try:
            found = reading_files.read_readings(recording)["imu"]
            assert np.array_equal(found.values, ONE.values)
            read += 1
        except RecordingError as error:
            refused += "is damaged" in str(error)
    return read, refused


def test_a_harmed_file_of_readings_is_refused_or_right(tmp_path):
    read, refused = harmed(tmp_path / "trajectory.zarr")
    assert read > 10  # a byte of a date or an attribute, which nobody reads
    assert read + refused == 400


def test_what_zipfile_does_not_know_is_another_error(tmp_path, monkeypatch):
    monkeypatch.setattr(reading_files, "UNREADABLE", FEWER)
    with pytest.raises(NotImplementedError):
        harmed(tmp_path / "trajectory.zarr")
