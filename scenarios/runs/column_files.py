"""Columns as CSV and Parquet, a block of rows at a time: memory does not grow with the table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from tumble.collision.errors import InputError, need

BLOCK = 1024  # rows


def file_beside(path: Path, name: str) -> Path:
    """Where a further table of a file stands: F.NAME.csv for F.csv."""
    return path.with_name(f"{path.stem}.{name}{path.suffix}")


def kind_of(path: Path) -> str:
    """The ending of a file for columns, or for a log of them. InputError: another one. FileNotFoundError: it has no folder."""
    kind, kinds = path.suffix.lower(), (*TABLES, ".mcap")
    if kind not in kinds:
        raise InputError("path", str(path), f"must end in one of {', '.join(kinds)}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path}: there is no folder {path.parent}")
    return kind


def quoted(text: str) -> str:
    """A text for a cell: spreadsheets take those that begin so for formulas, and would work out a name of somebody's body."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def write_csv(
    table: Iterable[dict[str, np.ndarray]], path: Path, attributes: dict[str, Any], progress: Callable[[int], None]
) -> None:
    import pandas

    for k, block in enumerate(table):
        block = {
            quoted(name): [quoted(v) for v in column] if column.dtype == object else column for name, column in block.items()
        }
        pandas.DataFrame(block).to_csv(path, mode="a" if k else "w", header=k == 0, index=False)  # all digits, by repr
        progress((k + 1) * BLOCK)


def write_parquet(
    table: Iterable[dict[str, np.ndarray]], path: Path, attributes: dict[str, Any], progress: Callable[[int], None]
) -> None:
    need("data")
    import pyarrow
    import pyarrow.parquet

    writer = None
    kept = {key: value if isinstance(value, str) else json.dumps(value) for key, value in attributes.items()}
    try:
        for k, block in enumerate(table):
            names = {name: pyarrow.array(column, pyarrow.string()) for name, column in block.items() if column.dtype == object}
            rows = pyarrow.table({**block, **names})
            if writer is None:
                writer = pyarrow.parquet.ParquetWriter(path, rows.schema.with_metadata(kept), compression="zstd")
            writer.write_table(rows)
            progress((k + 1) * BLOCK)
    finally:
        if writer is not None:
            writer.close()


TABLES = {".csv": write_csv, ".parquet": write_parquet}
