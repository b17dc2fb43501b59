"""A broad phase that lives on: boxes come, go and move, and what has not moved costs next to nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, overload

import numpy as np

from tumble.collision.broadphase.bounding_boxes import good_boxes
from tumble.collision.broadphase.box_tree import cast_box, clear, meetings, put, take_out
from tumble.collision.errors import InputError, check_number
from tumble.collision.hints import Numbers, Rows, Whole

ALL_GROUPS = 0xFFFFFFFF  # of groups and masks: every bit
NO_PAIRS = np.zeros((0, 2), np.int64)


class PairChanges(NamedTuple):
    """Pairs that began and that ended, (m, 2) handles each, sorted."""

    began: np.ndarray
    ended: np.ndarray


class BroadPhase:
    """Boxes along the world's axes, and which of them overlap: a dynamic AABB tree.

    A box has a handle, a number that is never given twice. ``groups`` and ``mask`` are sets of bits: two boxes make a pair where
    each one's mask has a bit of the other's groups. Two boxes that are not ``mobile`` make none. `pairs` depends on the boxes as
    they are, not on how they came there: it is what `candidate_pairs` finds.

    ``slack``: what is kept for a box is wider on each side by this part of its largest side, and a box that stays within that is
    moved for next to nothing. Raises InputError for boxes that are none, and handles that are not there.

    >>> broad = BroadPhase()
    >>> a, b = broad.add([(0, 0, 0), (3, 0, 0)], [(1, 1, 1), (4, 1, 1)])
    >>> broad.move(b, (0.5, 0, 0), (1.5, 1, 1))
    >>> broad.update().began.tolist()
    [[0, 1]]
    """

    def __init__(self, slack: float = 0.1):
        self.slack = check_number("slack", slack, least=0.0)
        self._row = np.empty(0, np.int64)  # by handle; -1: removed
        self._handle = np.empty(0, np.int64)  # by row; -1: free
        self._free: list[int] = []
        self._node = np.empty(0, np.int64)
        self._alive, self._mobile = np.empty(0, bool), np.empty(0, bool)
        self._lo, self._hi = np.empty((0, 3)), np.empty((0, 3))
        self._groups, self._mask = np.empty(0, np.int64), np.empty(0, np.int64)
        self._box, self._link, self._root = np.empty((0, 6)), np.empty((0, 4), np.int64), np.array([-1, -1])
        self._fat = NO_PAIRS  # rows whose fat boxes overlap
        self._endless = np.empty(0, np.int64)  # rows of boxes without end, which have no place in the tree
        self._stirred = np.empty(0, bool)  # rows whose fat boxes are new
        self._last = NO_PAIRS

    def __len__(self) -> int:
        return len(self._handle) - len(self._free)

    @property
    def handles(self) -> np.ndarray:
        """(n,) all handles, rising."""
        return np.sort(self._handle[self._alive])

    @overload
    def add(
        self, lo: Sequence[float], hi: Sequence[float], groups: int = 1, mask: int = ALL_GROUPS, mobile: bool = True
    ) -> int: ...
    @overload
    def add(
        self, lo: Rows, hi: Rows, groups: Whole = 1, mask: Whole = ALL_GROUPS, mobile: bool | np.ndarray[Any, Any] = True
    ) -> np.ndarray[Any, Any]: ...

    def add(
        self,
        lo: Numbers | Rows,
        hi: Numbers | Rows,
        groups: Whole = 1,
        mask: Whole = ALL_GROUPS,
        mobile: bool | np.ndarray = True,
    ) -> int | np.ndarray:
        """Take in boxes lo, hi (n, 3) [m], which may have no end: their handles (n,). One box (3,) has one handle, an int.

        groups, mask, mobile: one for all boxes, or (n,).
        """
        one = np.ndim(lo) == 1
        lo, hi = _boxes(lo, hi)
        n = len(lo)
        bits = [_bits(name, value, n, least) for name, value, least in (("groups", groups, 1), ("mask", mask, 0))]
        moves = np.asarray(mobile)
        if moves.dtype != bool or moves.shape not in ((), (n,)):
            raise InputError("mobile", mobile, f"must be True or False, or {n} of them")
        while len(self._free) < n:
            self._grow()
        rows = np.array([self._free.pop() for _ in range(n)], np.int64)
        handles = np.arange(len(self._row), len(self._row) + n)
        self._row = np.concatenate([self._row, rows])
        self._handle[rows], self._alive[rows], self._mobile[rows] = handles, True, moves
        self._groups[rows], self._mask[rows] = bits
        self._place(rows, lo, hi)
        return int(handles[0]) if one else handles

    def move(self, which: Whole, lo: Numbers | Rows, hi: Numbers | Rows) -> None:
        """New boxes (n, 3) for the handles (n,), or one for one."""
        lo, hi = _boxes(lo, hi)
        rows = self.rows(which)
        if len(rows) != len(lo):
            raise InputError("lo", lo.shape, f"must be a box for each of the {len(rows)} handles")
        self._place(rows, lo, hi)

    def remove(self, which: Whole) -> None:
        """Take out a box, or several."""
        rows = np.unique(self.rows(which))
        take_out(self._box, self._link, self._root, rows, self._node)
        self._row[self._handle[rows]] = -1
        self._handle[rows], self._alive[rows], self._stirred[rows] = -1, False, False
        self._fat = self._fat[self._alive[self._fat].all(axis=1)]
        self._endless = self._endless[self._alive[self._endless]]
        self._free += rows.tolist()[::-1]

    def regroup(self, which: Whole, groups: Whole | None = None, mask: Whole | None = None) -> None:
        """Other groups, another mask, of a box or several."""
        rows = self.rows(which)
        for name, column, value, least in (("groups", self._groups, groups, 1), ("mask", self._mask, mask, 0)):
            if value is not None:
                column[rows] = _bits(name, value, len(rows), least)
        self._stirred[rows] = True

    def pairs(self) -> np.ndarray:
        """(m, 2) handles i < j of the boxes that overlap or touch, sorted."""
        self._settle()
        i, j = self._fat.T
        met = ((self._lo[i] <= self._hi[j]) & (self._lo[j] <= self._hi[i])).all(axis=1)
        pairs = np.sort(self._handle[self._fat[met]], axis=1)
        return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]

    def update(self) -> PairChanges:
        """Which pairs began and which ended since the last update: those of boxes that were removed end too."""
        now, before = self.pairs(), self._last
        self._last = now
        return PairChanges(_without(now, before), _without(before, now))

    def query(self, lo: Numbers | Rows, hi: Numbers | Rows, mask: Whole = ALL_GROUPS) -> np.ndarray:
        """(n,) handles of the boxes that overlap or touch the box lo-hi and have a bit of ``mask`` in their groups, rising."""
        (low,), (high,) = _boxes(lo, hi)
        room = 64
        while True:
            found, enter = np.empty(room, np.int64), np.empty(room)
            count = cast_box(*self.tree, int(_bits("mask", mask, 1, 0)[0]), low, high, np.zeros(3), 0.0, found, enter)
            if count <= room:
                return np.sort(self._handle[found[:count]])
            room = count

    @property
    def tree(self) -> tuple:
        """The tables that searches of box_tree.py take."""
        return self._box, self._link, self._root, self._endless, self._lo, self._hi, self._groups

    def rows(self, which: Whole) -> np.ndarray:
        """(n,) rows of handles that are there."""
        found = np.atleast_1d(np.asarray(which))
        if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
            raise InputError("which", which, "must be a handle that `add` gave, or a list of them")
        found = found.astype(np.int64)
        known = (found >= 0) & (found < len(self._row))
        known[known] = self._row[found[known]] >= 0
        if not known.all():
            raise InputError("which", int(found[~known][0]), "is no handle of what is here: it was removed, or never added")
        return self._row[found]

    def handles_of(self, rows: np.ndarray) -> np.ndarray:
        """(n,) handles of rows."""
        return self._handle[rows]

    def _place(self, rows: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> None:
        self._lo[rows], self._hi[rows] = lo, hi
        marks = rows.copy()
        put(self._box, self._link, self._root, marks, self._node, self._lo, self._hi, self.slack)
        self._stirred[marks[marks >= 0]] = True
        free = rows[self._node[rows] < 0]
        if len(free) or len(self._endless):
            among = np.union1d(self._endless, free)
            self._endless = among[self._node[among] < 0]

    def _settle(self) -> None:
        """Look once more for what meets the boxes that are no longer within their fat ones."""
        fresh = self._stirred
        rows = np.flatnonzero(fresh)
        if not len(rows):
            return
        kept = self._fat[~fresh[self._fat].any(axis=1)]
        room = 4 * len(rows) + 64
        while True:
            pairs = np.empty((room, 2), np.int64)
            tables = self._node, self._endless, self._alive, self._lo, self._hi, self._groups, self._mask, self._mobile
            count = meetings(self._box, self._link, self._root, rows, fresh, *tables, pairs)
            if count <= room:
                break
            room = count
        self._fat = np.concatenate([kept, pairs[:count]])
        fresh[:] = False

    def _grow(self) -> None:
        """Twice the room; the tree is built anew."""
        old = len(self._handle)
        more = max(old, 64)
        for name in ("_handle", "_node"):
            setattr(self, name, longer(getattr(self, name), more, -1))
        for name in ("_alive", "_mobile", "_stirred", "_lo", "_hi", "_groups", "_mask"):
            setattr(self, name, longer(getattr(self, name), more, 0))
        self._free += range(old + more - 1, old - 1, -1)
        self._box, self._link = np.zeros((2 * (old + more), 6)), np.zeros((2 * (old + more), 4), np.int64)
        clear(self._link, self._root)
        self._node[:] = -1
        rows = np.flatnonzero(self._alive)
        put(self._box, self._link, self._root, rows.copy(), self._node, self._lo, self._hi, self.slack)
        self._stirred[rows] = True


def longer(column: np.ndarray, more: int, fill: int) -> np.ndarray:
    """A column with so many more rows."""
    return np.concatenate([column, np.full((more, *column.shape[1:]), fill, column.dtype)])


def _boxes(lo, hi) -> tuple[np.ndarray, np.ndarray]:
    """Corners (n, 3) of good boxes."""
    lo, hi = ([v] if np.ndim(v) == 1 else v for v in (lo, hi))
    return good_boxes(lo, hi, len(lo) if np.ndim(lo) == 2 else 1)


def _bits(name: str, value, n: int, least: int) -> np.ndarray:
    """(n,) sets of 32 bits."""
    found = np.asarray(value)
    if found.dtype.kind not in "iu" or found.shape not in ((), (n,)) or (found < least).any() or (found > ALL_GROUPS).any():
        raise InputError(name, value, f"must be a set of bits, a whole number from {least} to 2^32 - 1, or one for each box")
    return np.broadcast_to(found, (n,)).astype(np.int64)


def _without(pairs: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Sorted pairs that are not among others."""
    both = np.concatenate([pairs, others])
    if not len(both):
        return pairs
    wide = both.max() + 1
    return pairs[~np.isin(pairs @ (wide, 1), others @ (wide, 1), assume_unique=True)]
