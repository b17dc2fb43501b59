"""A group of arrays that kernels take as one pointer.

Numba takes a tuple of arrays apart: each of them is five numbers and more, and every call between kernels hands over all
of them. The state of a world is 150 arrays. As a group it is seven addresses: of tables that say where each array is and
how large. A kernel reads from a table what it uses, when it uses it (group_type.py).

The table is made once, with the group, and holds no reference: the group does, for as long as the call from Python lasts.

What kernels make themselves, as the problem of an island, is an `owning_group`: the same table, in a counted block of memory
that owns the arrays.
"""

from __future__ import annotations

import math
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

_Made = TypeVar("_Made", bound=tuple)


def group(cls: type) -> type:
    """Make of a NamedTuple of arrays one that kernels take by reference. Arrays stay where they are; elements may change."""
    return type(cls.__name__, (Group, cls), {"__doc__": cls.__doc__, "__module__": cls.__module__})


def owning_group(cls: type) -> type:
    """Make of a NamedTuple of arrays, and of other such groups, one that kernels make by calling it, and take by reference."""
    return OwningClass(cls.__name__, (OwningGroup, cls), {"__doc__": cls.__doc__, "__module__": cls.__module__})


class Column(NamedTuple):
    """What stands as the default of a field of a group: what its array is like. `filled` makes the array."""

    lengths: tuple[int | str, ...]  # numbers; or what they are reckoned from, such as "n", "n + 1" or "8 n j"
    kind: type
    fill: float

    def shape(self, sizes: dict[str, int]) -> tuple[int, ...]:
        """The lengths, where ``sizes`` gives numbers by their names; those that it does not give are 0."""
        return tuple(said if isinstance(said, int) else _length(said, sizes) for said in self.lengths)

    def array(self, sizes: dict[str, int]) -> np.ndarray:
        return np.full(self.shape(sizes), self.fill, self.kind) if self.fill else np.zeros(self.shape(sizes), self.kind)


def _length(said: str, sizes: dict[str, int]) -> int:
    number, names, more = _parts(said)
    for name in names:
        number *= sizes.get(name, 0)
    return number + more


@cache
def _parts(said: str) -> tuple[int, tuple[str, ...], int]:
    """What a length is reckoned from: a number, the names of those that it is multiplied with, and what is added.

    Each world asks for some hundred lengths, and always for the same ones.
    """
    words = said.removesuffix(" + 1").split()
    number = math.prod(int(word) for word in words if word.isdigit())
    return number, tuple(word for word in words if not word.isdigit()), int(said.endswith(" + 1"))


def real(*shape: int | str, kind: type = np.float64, fill: float = 0.0) -> Any:
    """Of a field of a group: an array of this shape, of double numbers."""
    return Column(shape, kind, fill)


def whole(*shape: int | str, kind: type = np.int64, fill: int = 0) -> Any:
    """Of a field of a group: an array of this shape, of whole numbers."""
    return Column(shape, kind, fill)


def truth(*shape: int | str) -> Any:
    """Of a field of a group: an array of this shape, of true and false."""
    return Column(shape, np.bool_, False)


def filled(cls: type[_Made], **sizes: int) -> _Made:
    """A group with the arrays that its fields say; ``sizes``: lengths by the names that the shapes give them."""
    return cls(*(column.array(sizes) for column in cls._field_defaults.values()))


class Group:
    """What a group has beside the fields of its NamedTuple."""

    @cached_property  # from the second time on no line of Python runs, which a Ctrl-C could end
    def _address(self) -> int:
        """Of the table: for each array its address, shape and strides [bytes], in words of eight bytes."""
        words = [*self._before, *(word for field in self for word in _words(field))]
        table = self.__dict__["table"] = np.array(words, dtype=np.int64)
        return table.ctypes.data + 8 * len(self._before)

    _before = ()  # what stands before the table

    def __reduce__(self):  # an address means nothing in another process
        return type(self), tuple(self)


def _words(field: np.ndarray | Group) -> tuple[int, ...]:
    return (field._address,) if isinstance(field, Group) else (field.ctypes.data, *field.shape, *field.strides)


class OwningGroup(Group):
    """What Python makes of such a group holds its arrays as any tuple does."""

    @property
    def _before(self) -> tuple[int, ...]:
        """The owners of the fields: none that kernels know."""
        return (0,) * len(self)


class OwningClass(type):
    """Of the classes of owning groups: so kernels know what they call."""


def own_tables(argument: Any) -> Any:
    """An argument of a kernel in the types that Numba knows: arrays of a group that nothing writes to, those of a ground, are of
    another type, and are handed over as copies."""
    if not isinstance(argument, Group):
        return argument
    return argument._replace(**{name: t.copy() for name, t in argument._asdict().items() if not t.flags.writeable})
