"""Readings of a world's instruments beside its recording: ``trajectory.readings.npz``, NumPy arrays with a header."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tumble.sim.errors import RecordingError
from tumble.sim.files import read_recorded, whole
from tumble.sim.joints.mechanism.instruments import Readings

UNREADABLE = (  # what NumPy raises for what is no archive of arrays, or a damaged one; TypeError: for one array alone
    OSError, ValueError, KeyError, AttributeError, TypeError, EOFError, MemoryError, NotImplementedError, RecursionError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip


def reading_path(recording: Path) -> Path:
    """The file of readings that belongs to a recording."""
    return recording.with_suffix(".readings.npz")


def write_readings(readings: Mapping[str, Readings], recording: Path) -> None:
    """Write all readings, under a temporary name first."""
    header = {name: [list(one.columns), one.unit] for name, one in readings.items()}
    arrays = {}
    for n, one in enumerate(readings.values()):
        arrays |= {f"times_{n}": one.times, f"values_{n}": one.values}
    with whole(reading_path(recording)) as part, open(part, "wb") as file:
        np.savez_compressed(file, header=np.array(json.dumps(header)), **arrays)


def read_readings(recording: Path) -> dict[str, Readings]:
    """name -> readings; none where nothing was read. RecordingError where the file is damaged."""
    path = reading_path(recording)
    if not path.exists():
        return {}
    try:
        with np.load(io.BytesIO(read_recorded(path)), allow_pickle=False) as file:
            header = json.loads(str(file["header"]))
            return {
                name: Readings(file[f"times_{n}"], file[f"values_{n}"], tuple(columns), unit)
                for n, (name, (columns, unit)) in enumerate(header.items())
            }
    except UNREADABLE as error:
        raise RecordingError(path, f"is damaged: it can not be read ({error})") from None
