"""Attributes that are misspelt: the error says which was meant, also where Python itself would not, as in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from collision.spelling import did_you_mean


def _error(thing: object, name: str) -> AttributeError:
    kind = type(thing)
    hint = "" if name.startswith("_") else did_you_mean(name, [known for known in dir(kind) if not known.startswith("_")])
    return AttributeError(f"{kind.__name__!r} object has no attribute {name!r}{hint}", name=name, obj=thing)


class Reads:
    """Whose attributes are read by name."""

    __slots__ = ()

    if not TYPE_CHECKING:  # type checkers know the attributes there are

        def __getattr__(self, name: str) -> Any:
            if name in dir(type(self)) and not name.startswith("_"):  # there is one: what went wrong, went wrong in it
                return object.__getattribute__(self, name)
            raise _error(self, name)


class Writes(Reads):
    """Whose attributes are set by name too: it has slots, and no others can be made."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: Any) -> None:
            if not hasattr(type(self), name):
                raise _error(self, name)
            object.__setattr__(self, name, value)
