"""Tables of large grounds on disk, beside the compiled kernels: the tree of a mesh and what its triangles have for neighbours.

A file is named by digests of the program that makes the tables and of the triangles. It holds a digest of itself, so that a torn
or damaged file is noticed and made anew (regular.py). Where nothing can be written, nothing is kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tumble.collision.kernels.sources import cache_root, source_hash
from tumble.collision.regular import DIGEST, put_sealed, sealed

FEWEST_TRIANGLES = 20_000  # triangles, below which making takes no longer than reading
MOST_KEPT_BYTES = 2_000_000_000  # bytes of all files together: the oldest go first
LENGTH_BYTES = 8  # bytes of the length of a header


def folder() -> Path:
    """Where tables are kept: under $TUMBLE_CACHE_DIR, else the user's cache folder."""
    return cache_root().parent / "grounds"


def program() -> str:
    """A digest of the sources that make tables, and of the versions of what they stand on."""
    return source_hash(Path(__file__).parents[1] / "shapes" / "ground.py")  # and all below it


def stale_tables() -> list[Path]:
    """Files that nothing reads any more: those of another version of the program, and what a killed one left half written."""
    files, own = sorted(folder().iterdir()) if folder().is_dir() else [], f"{program()}-"
    return [file for file in files if file.suffix == ".part" or not file.name.startswith(own)]


def prune() -> int:
    """Delete those; the number deleted."""
    files = stale_tables()
    for file in files:
        with contextlib.suppress(OSError):
            file.unlink(missing_ok=True)
    return len(files)


def kept_tables(arrays: tuple[np.ndarray, ...], make: Callable[[], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """The tables that ``make`` makes of these arrays, from disk if they are there."""
    digest = hashlib.blake2b(digest_size=DIGEST)
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array))
    path = folder() / f"{program()}-{digest.hexdigest()}.tables"
    found = read(path)
    if found is None:
        found = make()
        with contextlib.suppress(OSError):
            write(path, found)
    return found


def read(path: Path) -> dict[str, np.ndarray] | None:
    """The tables in a file; None where there is none, or it is damaged."""
    data = sealed(path, MOST_KEPT_BYTES)
    if data is None:
        return None
    at = LENGTH_BYTES + int.from_bytes(data[:LENGTH_BYTES], "little")
    found = {}
    for name, kind, shape in json.loads(bytes(data[LENGTH_BYTES:at])):
        size = int(np.prod(shape)) * np.dtype(kind).itemsize
        found[name] = np.frombuffer(data[at : at + size], kind).reshape(shape).copy()  # aligned
        at += size
    return found


def write(path: Path, tables: dict[str, np.ndarray]) -> None:
    """Keep tables in a file, and no more than MOST_KEPT_BYTES bytes of files. OSError where that can not be done."""
    header = json.dumps([(name, table.dtype.str, table.shape) for name, table in tables.items()]).encode()
    put_sealed(path, len(header).to_bytes(LENGTH_BYTES, "little"), header, *map(np.ascontiguousarray, tables.values()))
    files = sorted(((file.stat().st_mtime, file.stat().st_size, file) for file in path.parent.glob("*.tables")), reverse=True)
    total = 0
    for _, size, file in files:
        total += size
        if total > MOST_KEPT_BYTES and file != path:
            file.unlink(missing_ok=True)
