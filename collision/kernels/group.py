"""A group of arrays that kernels take as one pointer.

Numba takes a tuple of arrays apart: each of them is five numbers and more, and every call between kernels hands over all
of them. The state of a world is 150 arrays. As a group it is seven addresses: of tables that say where each array is and
how large. A kernel reads from a table what it uses, when it uses it (group_type.py).

The table is made once, with the group, and holds no reference: the group does, for as long as the call from Python lasts.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np


def group(cls: type) -> type:
    """Make of a NamedTuple of arrays one that kernels take by reference. Arrays stay where they are; elements may change."""
    return type(cls.__name__, (Group, cls), {"__doc__": cls.__doc__, "__module__": cls.__module__})


class Group:
    """What a group has beside the fields of its NamedTuple."""

    @cached_property  # from the second time on no line of Python runs, which a Ctrl-C could end
    def _address(self) -> int:
        """Of the table: for each array its address, shape and strides [bytes], in words of eight bytes."""
        words = [word for array in self for word in (array.ctypes.data, *array.shape, *array.strides)]
        table = self.__dict__["table"] = np.array(words, dtype=np.int64)
        return table.ctypes.data

    def __reduce__(self):  # an address means nothing in another process
        return type(self), tuple(self)
