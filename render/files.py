"""Files that are either whole or not there: written beside their place under a hidden name, and put there when they are done."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from render.errors import RenderError

try:
    import fcntl
except ImportError:  # Windows: what the dead left behind stays
    fcntl = None

PART = re.compile(r"\..*\.part-[0-9a-f]{8}(\.\w+)?")  # the hidden names


class whole:
    """``with whole(path) as part``: write ``part``, a file, or a folder if ``folder``; then it becomes ``path``.

    On any failure it goes, and what the disk says becomes a RenderError. Nothing can be done by a process that is killed: so
    each holds a lock on its part (flock, which the kernel lifts when the process is gone, however it went), and whoever comes
    next to that place removes the parts that nobody holds.
    """

    def __init__(self, path: Path, folder: bool = False):
        self.path, self.folder = path, folder
        self.part = path.with_name(f".{path.stem}.part-{secrets.token_hex(4)}{path.suffix}")
        self._lock: int | None = None

    def __enter__(self) -> Path:
        if not self.path.parent.is_dir():
            raise RenderError(f"there is no folder {self.path.parent}", self.path)
        clear(self.path.parent)
        try:
            self._lock = self._begin()
        except OSError as error:
            raise self._told(error) from error
        return self.part

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        try:
            if error is None:
                if self.folder:
                    shutil.rmtree(self.path, ignore_errors=True)
                os.replace(self.part, self.path)
        except OSError as failed:
            error = failed
        if error is not None:
            remove(self.part)
        if self._lock is not None:
            os.close(self._lock)
        if isinstance(error, OSError):
            raise self._told(error) from error

    def _begin(self) -> int | None:
        """Make the part, empty and locked. Who clears up may come between the two, and take it for a dead one's: then again."""
        while True:
            if self.folder:
                self.part.mkdir()
            else:
                self.part.touch(exist_ok=False)
            if fcntl is None:
                return None
            with suppress(FileNotFoundError):
                lock = os.open(self.part, os.O_RDONLY)
                with suppress(OSError):  # a file system without locks: nobody will clear up there either
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                with suppress(FileNotFoundError):
                    if os.path.samestat(os.fstat(lock), self.part.stat()):
                        return lock
                os.close(lock)

    def _told(self, error: OSError) -> RenderError:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        return RenderError("the disk is full" if full else error.strerror or str(error), self.path)


def clear(folder: Path) -> None:
    """Remove the parts in a folder whose makers are dead."""
    if fcntl is None:
        return
    for entry in os.scandir(folder):
        if not PART.fullmatch(entry.name) or entry.is_symlink():
            continue
        with suppress(OSError):  # gone meanwhile, or another's
            lock = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while the maker lives
                remove(Path(entry.path))
            finally:
                os.close(lock)


def remove(part: Path) -> None:
    if part.is_dir():
        shutil.rmtree(part, ignore_errors=True)
    else:
        with suppress(OSError):
            part.unlink()
