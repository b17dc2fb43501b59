"""The folder of a Zarr store, with three promises that Zarr's own does not give.

First, only regular files are read, and none through a link that lies in the store: a pipe or a device in the place of a file has
no end, and a link may lead out of the folder. Such a file counts as missing. Second, no file is read that is larger than
``MOST_RUN_FILE_BYTES``. Third, each file is written under a hidden name in the root of the store, where its writer locks it, and
then gets its own name. So files that a killed program left half written are found in one place, and
:func:`tumble.sim.files.clear_unfinished` removes them.

Imported only where Zarr is needed, which takes a while to load.
"""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from zarr.core.buffer import Buffer
from zarr.storage import LocalStore

from tumble.sim.files import MOST_RUN_FILE_BYTES, locked, remove


class Files(LocalStore):
    """A folder as a store of Zarr."""

    def _linked(self, key: str) -> bool:
        """Whether a link lies on the way to a file."""
        place = str(self.root)
        for part in key.split("/"):
            place = f"{place}/{part}"
            try:
                if stat.S_ISLNK(os.lstat(place).st_mode):
                    return True
            except OSError:  # there is nothing, or no folder
                return False
        return False

    def _readable(self, key: str) -> bool:
        """Whether there is a file that may be read; OSError for one that is too large."""
        try:
            about = os.lstat(self.root / key)
        except OSError:
            return False
        if not stat.S_ISREG(about.st_mode) or self._linked(key):
            return False
        if about.st_size > MOST_RUN_FILE_BYTES:
            raise OSError(errno.EFBIG, f"is larger than {MOST_RUN_FILE_BYTES // 1_000_000} MB")
        return True

    async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Buffer | None:
        return await super().get(key, prototype, byte_range) if self._readable(key) else None

    def get_sync(self, key: str, *, prototype: Any = None, byte_range: Any = None) -> Buffer | None:
        return super().get_sync(key, prototype=prototype, byte_range=byte_range) if self._readable(key) else None

    async def get_partial_values(self, prototype: Any, key_ranges: Iterable[tuple[str, Any]]) -> list[Buffer | None]:
        return [await self.get(key, prototype, wanted) for key, wanted in key_ranges]

    async def exists(self, key: str) -> bool:
        return self._readable(key)

    async def set(self, key: str, value: Buffer) -> None:
        await asyncio.to_thread(self._put, key, value)

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        if not os.path.lexists(self.root / key):
            await self.set(key, value)

    def set_sync(self, key: str, value: Buffer) -> None:
        self._put(key, value)

    async def delete(self, key: str) -> None:
        self._stay_inside(key)
        await super().delete(key)

    def delete_sync(self, key: str) -> None:
        self._stay_inside(key)
        super().delete_sync(key)

    def _put(self, key: str, value: Buffer) -> None:
        self._check_writable()
        self._stay_inside(key)
        path, data = self.root / key, value.as_numpy_array().data
        if data.nbytes > MOST_RUN_FILE_BYTES:
            raise OSError(errno.EFBIG, f"{key} would be larger than {MOST_RUN_FILE_BYTES // 1_000_000} MB, and could not be read")
        part = self.root / f".chunk.part-{secrets.token_hex(4)}"
        try:
            with open(part, "xb") as file:
                locked(file.fileno())
                file.write(data)
                file.flush()
                path.parent.mkdir(parents=True, exist_ok=True)
                os.replace(part, path)
        except BaseException:
            remove(part)
            raise

    def _stay_inside(self, key: str) -> None:
        if self._linked(key):
            raise OSError(errno.ELOOP, f"{key} is reached by a link, which could lead anywhere")


def files(path: Path, read_only: bool = False) -> Files:
    """The store of a folder; as ``zarr.open_group`` takes it."""
    return Files(path, read_only=read_only)
