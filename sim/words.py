"""Words of messages: numbers of things, lists that stay short."""

from __future__ import annotations

from collections.abc import Sequence


def count(number: int, noun: str) -> str:
    """ "1 body", "2 bodies": a number of things; nouns are those that take s, or ies for y."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"


def few(names: Sequence[str], most: int = 6) -> str:
    """Names with commas between them; of many the first, and how many more."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return (", ".join(names[:most]) or "none") + more
