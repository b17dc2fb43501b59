"""What files of others may ask for: how much is read, from where, and how much is made of it. docs/scene-files.md lists it.

The limits are far above what people write, and low enough that whatever a file holds is answered in seconds and in less than a
gigabyte. ``Reading`` is what the command line may grant beyond them.
"""

from __future__ import annotations

import math
import os
import stat
import tomllib
import xml.etree.ElementTree as xml
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.parsers import expat

from tumble.collision.errors import InputError

MOST_BYTES = 20_000_000  # of a scene file, a plan, a model
MOST_DEPTH = 32  # lists and tables in each other
MOST_ELEMENTS_DEEP = 200  # of XML
MOST_WHOLE = 2**63 - 1
MOST_FILES = 100  # of a scene with all it includes
MOST_BODIES = 100_000
MOST_MODELLED = 1_000  # bodies of a model, and what its replicas make
MOST_MEMBERS = 100_000  # of a sweep in a file


@dataclass(frozen=True)
class Reading:
    """What a user grants: files outside the folder of the scene file that is named; scenes of any size."""

    allow_outside: bool = False
    yes: bool = False

    def inside(self, key: str, file: Path, folder: Path) -> Path:
        """The file, if it may be read."""
        return file if self.allow_outside else inside(key, file, folder, "--allow-outside lets it be read")

    def room(self, key: str, value: Any, bodies: int) -> None:
        """InputError where a scene would have more bodies than a slip of the pen should make."""
        if bodies > MOST_BODIES and not self.yes:
            raise InputError(key, value, f"makes {bodies} bodies, more than {MOST_BODIES}: --yes says that it is meant")


STRICT = Reading()
_PACKAGE: ContextVar[Path] = ContextVar("the folder that files of the model that is being read lie in")


def inside(key: str, file: Path, folder: Path, remedy: str) -> Path:
    """The file, if it lies in the folder, also where links lead to; else InputError."""
    if not file.resolve().is_relative_to(folder.resolve()):
        raise InputError(key, str(file), f"lies outside {folder.resolve()}: {remedy}")
    return file


@contextmanager
def package(model: Path, root: Path | None = None) -> Iterator[None]:
    """While a model is read, its files come from ``root``, else the nearest folder above with a package.xml, else its own."""
    above = [folder for folder in model.resolve().parents if (folder / "package.xml").is_file()]
    token = _PACKAGE.set(root or (above[0] if above else model.parent))
    try:
        yield
    finally:
        _PACKAGE.reset(token)


def packaged(key: str, file: Path) -> Path:
    """A file that a model names, if it lies in the model's package."""
    folder = _PACKAGE.get(None)
    return file if folder is None else inside(key, file, folder, "--root names a folder that files may be read from")


def is_file(path: Path) -> bool:
    """Whether there is a regular file of this name; none where no file can have it."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long, or with a zero byte
        return False


def read_bytes(path: Path) -> bytes:
    """A regular file of at most MOST_BYTES. OSError, or InputError with what is wrong: pipes and devices have no end."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # a pipe would keep us waiting for a writer
    except ValueError:
        raise InputError("file", str(path), "can not be the name of a file") from None
    with open(handle, "rb") as file:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise InputError("file", str(path), "is not a regular file")
        data = file.read(MOST_BYTES + 1) if about.st_size <= MOST_BYTES else b" " * (MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise InputError("file", str(path), f"is too large: at most {MOST_BYTES // 1_000_000} MB are read")
    return data


def read_whole(key: str, path: Path, read: Callable[[Path], bytes] = read_bytes) -> bytes:
    """What is in a file. InputError under this name where it can not be read."""
    try:
        return read(path)
    except FileNotFoundError:
        raise InputError(key, str(path), "there is no such file") from None
    except OSError as error:
        raise InputError(key, str(path), f"can not be read: {error.strerror}") from None


def read_toml(path: Path, key: str = "") -> dict[str, Any]:
    """The tables of a TOML file, within the limits. InputError with the key, the file and what is wrong."""
    try:
        data = tomllib.loads(read_whole(key, path).decode("utf-8"))
        check_plain(data)
        return data
    except InputError as error:
        hint = error.hint
    except UnicodeDecodeError:
        hint = "is not a text in UTF-8"
    except RecursionError:
        hint = f"is nested too deep: at most {MOST_DEPTH} lists and tables in each other"
    except ValueError as error:  # that of TOML, and that of Python for numbers of thousands of digits
        long = "integer string conversion" in str(error)
        hint = "holds a whole number of thousands of digits: at most 2^63 - 1 is read" if long else f"is not valid TOML: {error}"
    raise InputError(key, str(path), hint)


def check_plain(data: Any) -> None:
    """InputError where tables and lists are too deep in each other, or whole numbers too large."""
    level, depth = [data], 0
    while level:
        depth += 1
        if depth > MOST_DEPTH:
            raise InputError("", None, f"is nested too deep: at most {MOST_DEPTH} lists and tables in each other")
        below = []
        for item in level:
            if isinstance(item, int) and abs(item) > MOST_WHOLE:
                digits = math.ceil(math.log10(abs(item)))
                raise InputError("", None, f"holds a whole number of some {digits} digits: at most 2^63 - 1 is read")
            if isinstance(item, dict | list):
                below += item.values() if isinstance(item, dict) else item
        level = below


BLANK = b" \t\r\n\0"  # what many programs write before the declaration and after the last element, and few mind


def read_xml(path: Path, key: str = "model") -> xml.Element:
    """The root of an XML file. InputError where it is none, is too deep, or declares entities, which could grow without end.

    Python's parser (expat) reads no external entities of itself; its handlers refuse those that are declared.
    """
    data = read_whole(key, path)
    bare = data.strip(BLANK)
    if b"\0" not in bare:  # else it is text of two bytes a letter
        data = bare
    depth = 0

    def refused(*_: Any) -> None:
        raise InputError(key, str(path), "declares XML entities: models need none, and they are not read")

    def begin(*_: Any) -> None:
        nonlocal depth
        depth += 1
        if depth > MOST_ELEMENTS_DEEP:
            raise InputError(key, str(path), f"is nested too deep: at most {MOST_ELEMENTS_DEEP} elements in each other")

    def end(*_: Any) -> None:
        nonlocal depth
        depth -= 1

    first = expat.ParserCreate()
    first.EntityDeclHandler = first.ExternalEntityRefHandler = refused
    first.StartElementHandler, first.EndElementHandler = begin, end
    try:
        first.Parse(data, True)
        return xml.fromstring(data)
    except (expat.ExpatError, xml.ParseError, LookupError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(key, str(path), f"is not XML: {error}") from None
