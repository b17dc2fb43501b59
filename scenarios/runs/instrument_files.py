"""What instruments have read as files of other programs: a table each in CSV or Parquet, a topic each in MCAP."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tumble.collision.errors import InputError, need
from tumble.scenarios.runs.column_files import file_beside, write_csv, write_parquet
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
    kind = path.suffix.lower()
    if kind not in (".csv", ".parquet", ".mcap"):
        raise InputError("path", str(path), "must end in one of .csv, .parquet, .mcap")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path}: there is no folder {path.parent}")
    slashed = next((name for name in instruments if set(name) & set("/\\\0")), None)
    if slashed is not None:
        raise InputError("name", slashed, "can not be part of the name of a file")
    if kind == ".mcap":
        with whole(path) as part:
            _log(instruments, part)
        return [path]
    out = []
    for name, readings in instruments.items():
        file = file_beside(path, name)
        with whole(file) as part:
            (write_csv if kind == ".csv" else write_parquet)(
                [_columns(readings)], part, {"unit": readings.unit}, lambda done: None
            )
        out.append(file)
    return out


def _columns(readings: Readings) -> dict[str, np.ndarray]:
    return {"time": readings.times, **{name: readings[name] for name in readings.columns}}


def _log(instruments: Mapping[str, Readings], path: Path) -> None:
    need("data")
    from mcap.writer import Writer

    with open(path, "wb") as file:
        writer = Writer(file)
        writer.start(profile="", library="tumble")
        log_readings(writer, instruments)
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
