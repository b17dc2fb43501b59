"""Files that are either whole or not there: written beside their place under a hidden name, and put there when they are done."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from tumble.collision.regular import regular as read_regular
from tumble.sim.errors import RecordingError

try:
    import fcntl
except ImportError:  # Windows: what the dead left behind stays
    fcntl = None

UNFINISHED_NAME = re.compile(r"\..*\.part-[0-9a-f]{8}(\.\w+)?")  # the hidden names
_HELD: ContextVar[frozenset[Path]] = ContextVar("folders that are claimed here", default=frozenset())
PUT_ASIDE = re.compile(r"\.(.+)\.before-put")  # of a folder whose place another one is taking
MOST_RUN_FILE_BYTES = 256_000_000  # of one file of a recording: some 700,000 bodies


class whole:
    """``with whole(path) as part``: write ``part``, a file, or a folder if ``folder``; then it becomes ``path``.

    On any failure it goes, and what the disk says becomes a RecordingError. Nothing can be done by a process that is killed: so
    each holds a lock on its part (flock, which the kernel lifts when the process is gone, however it went), and whoever comes
    next to that place removes the parts that nobody holds.
    """

    def __init__(self, path: Path, folder: bool = False):
        self.path, self.folder = path, folder
        self.part = path.with_name(f".{path.stem}.part-{secrets.token_hex(4)}{path.suffix}")
        self._lock: int | None = None

    def __enter__(self) -> Path:
        if not self.path.parent.is_dir():
            raise self.failed(f"there is no folder {self.path.parent}")
        clear_unfinished(self.path.parent)
        try:
            self._lock = self._begin()
        except OSError as error:
            raise self._told(error) from error
        return self.part

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        try:
            if error is None:
                if self.folder:
                    put_folder(self.part, self.path)
                else:
                    os.replace(self.part, self.path)
        except OSError as failed:
            error = failed
        finally:
            if self._lock is not None:
                os.close(self._lock)
        if error is not None:
            remove(self.part)
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
                locked(lock)
                with suppress(FileNotFoundError):
                    if os.path.samestat(os.fstat(lock), self.part.stat()):
                        return lock
                os.close(lock)

    def failed(self, reason: str) -> Exception:
        """What is raised."""
        return RecordingError(self.path, f"can not be written: {reason}")

    def _told(self, error: OSError) -> Exception:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        return self.failed("the disk is full" if full else error.strerror or str(error))


def locked(file: int) -> None:
    """Hold a lock on a file that is open, so that nobody takes it for one that a dead program left."""
    if fcntl is not None:
        with suppress(OSError):  # a file system without locks: nobody will clear up there either
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def read_recorded(path: Path) -> bytes:
    """What is in a file of a recording or beside one: OSError for all but regular files, and for links, which lead anywhere."""
    return read_regular(path, MOST_RUN_FILE_BYTES, links=False)


class aside(whole):
    """``with aside(path) as folder``: a hidden folder beside ``path``, gone at the end, or with the next who comes there."""

    def __init__(self, path: Path):
        super().__init__(path, folder=True)

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        remove(self.part)
        if self._lock is not None:
            os.close(self._lock)


def put_folder(new: Path, path: Path) -> None:
    """Give a folder its name. One that had it goes, whole until the new one is there: see :func:`standing_folder`."""
    settle_folder(path)
    before = _before(path)
    if path.exists():
        os.rename(path, before)
    os.rename(new, path)
    remove(before)


def standing_folder(path: Path) -> Path:
    """Where a folder is, also of one who was killed while another took its place: folders have no one step for both."""
    before = _before(path)
    return before if before.is_dir() and not path.exists() else path


def settle_folder(path: Path) -> None:
    """End what :func:`put_folder` began and was killed in: a folder that has no heir comes back, any other goes."""
    before = _before(path)
    if path.exists():
        remove(before)
    elif before.is_dir():
        os.rename(before, path)


def _before(path: Path) -> Path:
    path = path if path.name else path.resolve()  # "." is a folder of another name
    return path.with_name(f".{path.name}.before-put") if path.name else path / ".before-put"


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Make a folder, clear it of what the dead left, and keep others who claim it out; RecordingError where one has it.

    Who has it may claim it again within.
    """
    made, held = not folder.exists(), _HELD.get()
    if folder.resolve() in held:
        yield
        return
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder, os.O_RDONLY) if fcntl else None
    except OSError as error:
        raise RecordingError(folder, f"can not be written: {error.strerror}") from error
    try:
        if fcntl:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RecordingError(folder, "another run is being written there: give another folder, or wait") from None
            except OSError:  # a file system without locks
                pass
        for place in (folder, *folder.glob("[!.]*.zarr")):
            clear_unfinished(place)
        for entry in list(os.scandir(folder)):  # nobody puts anything there while it is ours
            if found := PUT_ASIDE.fullmatch(entry.name):
                settle_folder(folder / found[1])
        token = _HELD.set(held | {folder.resolve()})
        try:
            yield
        finally:
            _HELD.reset(token)
    finally:
        if lock is not None:
            os.close(lock)
        if made and sys.exception() is not None:
            with suppress(OSError):  # it is not empty
                folder.rmdir()


def tidy(folder: Path) -> None:
    """Clear a folder of what the dead left, unless somebody is writing there."""
    if folder.is_dir():
        with suppress(RecordingError, OSError), claimed(folder):
            pass


def clear_unfinished(folder: Path) -> None:
    """Remove the parts in a folder whose makers are dead."""
    if fcntl is None or not folder.is_dir():
        return
    for entry in os.scandir(folder):
        if not UNFINISHED_NAME.fullmatch(entry.name) or entry.is_symlink():
            continue
        with suppress(OSError):  # gone meanwhile, or another's
            lock = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while the maker lives
                remove(Path(entry.path))
            finally:
                os.close(lock)


def remove(part: Path) -> None:
    """A file, a folder, or a link alone; nothing where there is none."""
    if part.is_dir() and not part.is_symlink():
        shutil.rmtree(part, ignore_errors=True)
    else:
        with suppress(OSError):
            part.unlink()
