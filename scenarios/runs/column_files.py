"""Columns as CSV and Parquet, a block of rows at a time: memory does not grow with the table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from tumble.collision.errors import need

BLOCK = 1024  # rows


def file_beside(path: Path, name: str) -> Path:
    """Where a further table of a file stands: F.NAME.csv for F.csv."""
    return path.with_name(f"{path.stem}.{name}{path.suffix}")


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
