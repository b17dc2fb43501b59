"""Checksums of recordings, so that damage on the disk is not taken for data.

Each chunk of each array has a CRC-32 of the numbers in it, kept by array and place. So it is noticed if bits of a chunk flip, or
if a chunk is cut, deleted, put twice or exchanged for another one. Those of full chunks are rows of the arrays ``checksum``,
``checksum_contact`` and ``checksum_impact``. A chunk that is not full is written again and again; its checksum is in the root
file, beside the lengths of all arrays, so that both always change in one step. The root file has a digest of its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tumble.sim.files import read_recorded

CHECKSUM_TABLE = "checksum"
UNFINISHED_ROOT = ".zarr.json.part"  # the root file of a recording that is not finished
# attributes: over the root file, of which attributes, of what is not full
ROOT_DIGEST, SEALED, TAIL = "digest", "sealed", "checksums"


class Sums:
    """Running checksums of arrays that grow together, ``chunk`` rows to a chunk."""

    def __init__(self, names: Sequence[str], chunk: int, length: int = 0):
        self.names, self.chunk, self.length = tuple(names), chunk, length
        self.tail = dict.fromkeys(self.names, 0)  # of the last chunk
        self.full: list[tuple[int, list[int]]] = []  # those that were filled since they were asked for: (number, sums)

    def add(self, columns: Mapping[str, np.ndarray]) -> None:
        """Rows that come after those so far."""
        rows, at = len(columns[self.names[0]]), 0
        while at < rows:
            n = min(rows - at, self.chunk - self.length % self.chunk)
            for name in self.names:
                self.tail[name] = checksum(columns[name][at : at + n], self.tail[name])
            at += n
            self.length += n
            if self.length % self.chunk == 0:
                self.full.append((self.length // self.chunk - 1, [self.tail[name] for name in self.names]))
                self.tail = dict.fromkeys(self.names, 0)


def checksum(values: np.ndarray, before: int = 0) -> int:
    """CRC-32 of numbers in the order of bytes that they have on disk."""
    values = np.asarray(values)
    return zlib.crc32(np.ascontiguousarray(values, values.dtype.newbyteorder("<")).view(np.uint8).data, before)


def of_labels(labels: Sequence[str]) -> int:
    return zlib.crc32("\0".join(labels).encode())


def table_of(name: str) -> str:
    """The array that holds the checksums of an array's full chunks."""
    head = name.partition("_")[0]
    return f"{CHECKSUM_TABLE}_{head}" if head in ("contact", "impact") and name != "contact_count" else CHECKSUM_TABLE


def digest(root: dict[str, Any]) -> str:
    """Over what a root file says: the attributes that are sealed, and the metadata of all arrays. Others may be added by hand."""
    attributes = root["attributes"]
    said = [{name: attributes.get(name) for name in attributes[SEALED]}, root.get("consolidated_metadata")]
    return hashlib.blake2b(json.dumps(said, sort_keys=True).encode(), digest_size=16).hexdigest()


def intact(root: dict[str, Any]) -> bool:
    """Whether a root file is what was written; one of an older version, without a digest, is believed."""
    attributes = root.get("attributes", {})
    if ROOT_DIGEST not in attributes and SEALED not in attributes:
        return attributes.get("tumble_schema") == 1
    sealed = attributes.get(SEALED)
    named = isinstance(sealed, list) and all(isinstance(name, str) for name in sealed)
    return named and attributes.get(ROOT_DIGEST) == digest(root)


def consolidate(path: Path, **attributes: Any) -> None:
    """Write the root file anew, in one step: these attributes besides those it has, the metadata of all arrays, a digest."""
    file = path / "zarr.json"
    root = json.loads(read_recorded(file))
    found = {f.parent.name: json.loads(read_recorded(f)) for f in sorted(path.glob("*/zarr.json"))}
    root["consolidated_metadata"] = {"kind": "inline", "must_understand": False, "metadata": found}
    root["attributes"] = {**root.get("attributes", {}), **json.loads(json.dumps(attributes))}
    known = {*root["attributes"].get(SEALED, root["attributes"]), *attributes} - {ROOT_DIGEST, SEALED}
    root["attributes"][SEALED] = sorted(known)
    root["attributes"][ROOT_DIGEST] = digest(root)
    part = file.with_name(UNFINISHED_ROOT)
    part.write_text(json.dumps(root, indent=2), encoding="utf-8")
    os.replace(part, file)


def make_table(group: Any, name: str, columns: Sequence[str]) -> None:
    """The array of checksums of full chunks: a row for each chunk, a column for each array."""
    from zarr.codecs import Crc32cCodec

    group.create_array(
        name, shape=(0, len(columns)), chunks=(256, len(columns)), dtype="u4", compressors=(Crc32cCodec(),),
        dimension_names=(f"{name}_chunk", f"{name}_of"), fill_value=0,
        attributes={"arrays": list(columns), "long_name": "CRC-32 of the full chunks of arrays"},
    )  # fmt: skip


def checksum_table(group: Any, name: str) -> Any:
    """The array to write them to; None in a recording of an older version."""
    return writable(group, [name])[0] if name in group else None


def writable(group: Any, names: Sequence[str]) -> list[Any]:
    """Arrays of a group, chunks of nothing but fill values written out too: so one that is missing is one that was lost."""
    import zarr

    with zarr.config.set({"array.write_empty_chunks": True}):
        return [group[name] for name in names]


def put_full(table: Any, sums: Sums) -> None:
    """Write the checksums of chunks that were filled."""
    for number, row in sums.full if table is not None else ():
        if table.shape[0] <= number:
            table.resize((number + 1, table.shape[1]))
        table[number] = np.array(row, dtype="u4")
    sums.full.clear()
