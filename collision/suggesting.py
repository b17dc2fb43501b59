"""Attributes that are misspelt: the error says which was meant, also where Python itself would not, as in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from tumble.collision.spelling import missing


def _no_attribute(thing: object, name: str) -> AttributeError:
    kind = type(thing)
    if name.startswith("_"):  # asked for by Python, NumPy and notebooks too
        return missing(f"{kind.__name__!r} object", name, (), thing)
    own = object.__getattribute__(thing, "__dict__") if kind.__dictoffset__ else ()
    return missing(f"{kind.__name__!r} object", name, [known for known in (*dir(kind), *own) if not known.startswith("_")], thing)


class Reads:
    """Whose attributes are read by name."""

    __slots__ = ()

    if not TYPE_CHECKING:  # type checkers know the attributes there are

        def __getattr__(self, name: str) -> Any:
            if name in dir(type(self)) and not name.startswith("_"):  # there is one: what went wrong, went wrong in it
                return object.__getattribute__(self, name)
            raise _no_attribute(self, name)


class Writes(Reads):
    """Whose attributes are set by name too: it has slots, and no others can be made."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: Any) -> None:
            if not hasattr(type(self), name):
                raise _no_attribute(self, name)
            object.__setattr__(self, name, value)


class Keeps:
    """Whose attributes are set by name: those of its class, private ones, and those that ``SETS`` lists, which __init__ makes.

    A class that a user derives may have any of its own.
    """

    SETS: ClassVar[tuple[str, ...]] = ()

    if not TYPE_CHECKING:

        def __init_subclass__(cls, **given: Any) -> None:
            super().__init_subclass__(**given)
            if cls.__module__.partition(".")[0] != "tumble" and "__setattr__" not in cls.__dict__:
                cls.__setattr__ = object.__setattr__

        def __setattr__(self, name: str, value: Any) -> None:
            kind = type(self)
            if name[:1] != "_" and name not in kind.SETS and not hasattr(kind, name):
                raise _no_attribute(self, name)
            object.__setattr__(self, name, value)
