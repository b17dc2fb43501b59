"""Files that are read whole: regular ones, of at most so many bytes."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def regular(path: Path, most: int, links: bool = True) -> bytes:
    """What is in a file. OSError for a pipe or a device, which have no end, for what is larger, and for a link if none may be."""
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)  # a pipe would keep us waiting for a writer
    name = f"{path.parent.name}/{path.name}"
    if not links:
        flags |= getattr(os, "O_NOFOLLOW", 0)
        if path.is_symlink():
            raise OSError(errno.ELOOP, f"{name} is a link, and those are not followed")
    with open(os.open(path, flags), "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, f"{name} is not a regular file")
        if about.st_size > most:
            raise OSError(errno.EFBIG, f"{name} is larger than {most // 1_000_000} MB")
        return file.read(most)
