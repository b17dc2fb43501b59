"""What instruments have read as files of other programs: a table each in CSV or Parquet, a topic each in MCAP."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tumble.collision.errors import InputError, need
from tumble.scenarios.runs.column_files import TABLES, file_beside, kind_of
from tumble.sim.files import whole
from tumble.sim.joints.mechanism.instruments import Readings

SCHEMA_OF_NUMBERS = {"type": "object", "additionalProperties": {"type": "number"}}


def export_readings(instruments: Mapping[str, Readings], path: str | Path) -> list[Path]:
    """Write all readings, of ``Instruments`` or of ``Run.readings``; the paths.

    To "F.csv" or "F.parquet", one file an instrument, F.NAME.csv, or to one file "F.mcap".
    Columns are time [s] and those of the instrument. InputError: another kind of file.
    MissingExtra: the library for it is missing.
    """
    path = Path(path)
    kind = kind_of(path)
    slashed = next((name for name in instruments if set(name) & set("/\\\0")), None)
    if slashed is not None:
        raise InputError("name", slashed, "can not be part of the name of a file")
    if kind == ".mcap":
        with whole(path) as part, log_file(part) as writer:
            log_readings(writer, instruments)
        return [path]
    files = [file_beside(path, name) for name in instruments]
    for file, readings in zip(files, instruments.values(), strict=True):
        with whole(file) as part:
            TABLES[kind]([_columns(readings)], part, {"unit": readings.unit}, lambda done: None)
    return files


def _columns(readings: Readings) -> dict[str, np.ndarray]:
    return {"time": readings.times, **{name: readings[name] for name in readings.columns}}


@contextmanager
def log_file(path: Path) -> Iterator[Any]:
    """What writes messages to an MCAP file, which is finished at the end."""
    need("data")
    from mcap.writer import Writer

    with open(path, "wb") as file:
        writer = Writer(file)
        writer.start(profile="", library="tumble")
        yield writer
        writer.finish()


def log_readings(writer: Any, instruments: Mapping[str, Readings]) -> None:
    """A topic for each instrument in a log that is open."""
    schema = writer.register_schema("tumble.Reading", "jsonschema", json.dumps(SCHEMA_OF_NUMBERS).encode())
    for name, readings in instruments.items():
        channel = writer.register_channel(f"/{name}", "json", schema, {"unit": readings.unit})
        for k, (t, values) in enumerate(zip(readings.times, readings.values, strict=True)):
            row = {c: float(x) if np.isfinite(x) else None for c, x in zip(readings.columns, values, strict=True)}
            now = round(float(t) * 1e9)
            writer.add_message(channel, log_time=now, data=json.dumps(row).encode(), publish_time=now, sequence=k)
