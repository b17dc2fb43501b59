"""Words of messages: numbers of things, lists that stay short, tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TextIO


def count(number: int, noun: str) -> str:
    """ "1 body", "2 bodies": a number of things; nouns are those that take s, or ies for y."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"


def few(names: Sequence[str], most: int = 6) -> str:
    """Names with commas between them; of many the first, and how many more."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return (", ".join(names[:most]) or "none") + more


def aligned(rows: Sequence[Sequence[str]], sides: str) -> str:
    """Rows of texts as lines, their columns one below the other; ``sides``: "<" or ">" for each, where its texts stand."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    cells = lambda row: (f"{text:{side}{width}}" for text, side, width in zip(row, sides, widths, strict=True))  # noqa: E731
    return "\n".join("  ".join(cells(row)).rstrip() for row in rows)


def printable(text: str) -> str:
    """A text for the terminal: what is not to be seen there, such as control characters of a name, as an escape."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


class Printable:
    """A stream of text that writes only what can be seen: see :func:`printable`."""

    def __init__(self, stream: TextIO):
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(printable(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
