"""Files that are read and written whole: regular ones, of at most so many bytes. Of some a digest tells that they are damaged."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import tempfile
from pathlib import Path

DIGEST = 16  # bytes


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


def put_whole(path: Path, *parts: bytes | memoryview) -> None:
    """Write a file under another name first, so that it is whole or not there. OSError where that can not be done."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with open(handle, "wb") as file:
            file.writelines(parts)
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


def put_sealed(path: Path, *parts: bytes | memoryview) -> None:
    """`put_whole`, with a digest in front."""
    digest = hashlib.blake2b(digest_size=DIGEST)
    for part in parts:
        digest.update(part)
    put_whole(path, digest.digest(), *parts)


def sealed(path: Path, most: int) -> memoryview | None:
    """What `put_sealed` wrote; None where there is nothing, or it is damaged."""
    try:
        data = memoryview(regular(path, most))
    except OSError:
        return None
    return data[DIGEST:] if hashlib.blake2b(data[DIGEST:], digest_size=DIGEST).digest() == data[:DIGEST] else None
