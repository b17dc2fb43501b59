"""One pair of convex shapes a call: the loops over many pairs, asked about one, with as little Python around them as can be.

Poses go in and answers come out through one row of words that each thread keeps. The kernel is an entry of a library
(kernels/native.py): it is bound to that row and to the tables of the shapes in stock, so that a call hands over one address, and
loads no compiler.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from tumble.collision.distance.epa import ROW
from tumble.collision.geometry import Geometry, empty_geometry
from tumble.collision.kernels.group import group
from tumble.collision.kernels.jit import kernel
from tumble.collision.kernels.native import Call, Entry, Library, Meanwhile, Plain
from tumble.collision.queries.batch_kernels import other_pairs, quick_pairs
from tumble.collision.shapes import shapeset

PUT = struct.Struct("15d2q").pack_into  # position and orientation of A, of B; the margin; rows of the geometry
TAKE = struct.Struct("12d2q").unpack_from  # distance, lower, upper, normal, point of A, point of B; status, iterations
GIVEN, FOUND, WORDS = 17, 12, 31


@group
class Pair(NamedTuple):
    """One pair of poses and what was found, as the arrays that loops over many pairs take."""

    a: np.ndarray  # (1,) int64
    b: np.ndarray
    xa: np.ndarray  # (1, 3)
    qa: np.ndarray  # (1, 4)
    xb: np.ndarray
    qb: np.ndarray
    margin: np.ndarray  # (1,)
    distance: np.ndarray  # (1,)
    lower: np.ndarray
    upper: np.ndarray
    normal: np.ndarray  # (1, 3)
    point_a: np.ndarray
    point_b: np.ndarray
    status: np.ndarray  # (1,) int8
    iterations: np.ndarray  # (1,) int32
    told: np.ndarray  # (2,) int64: the last two again
    found: np.ndarray  # (1, 8) int64: for the second of the kernels
    no_axis: np.ndarray  # a `PairCache` of no pairs: (0, 3), (0, 6), (0, ROW)
    no_start: np.ndarray
    no_surface: np.ndarray


@kernel(nogil=True, _nrt=False)
def ask(g, pair):
    """Two rows of the geometry at the poses of ``pair``."""
    asked = (
        g, pair.a, pair.b, pair.xa, pair.qa, pair.xb, pair.qb, pair.margin[0], pair.no_axis, pair.no_start, pair.no_surface, 0, 1,
        pair.found, pair.status, pair.distance, pair.lower, pair.upper, pair.normal, pair.point_a, pair.point_b, pair.iterations,
    )  # fmt: skip
    _, left = quick_pairs(*asked)
    if left > 0:
        other_pairs(*asked)
    pair.told[0] = pair.status[0]
    pair.told[1] = pair.iterations[0]


def a_pair() -> tuple[np.ndarray, Pair]:
    """A row of words, and the arrays that are parts of it."""
    words = np.zeros(WORDS, np.int64)
    numbers = words.view(float)

    def part(first: int, width: int) -> np.ndarray:
        return numbers[first : first + width].reshape(1, width)

    one = GIVEN + 3
    return words, Pair(
        words[15:16], words[16:17], part(0, 3), part(3, 4), part(7, 3), part(10, 4), numbers[14:15],
        numbers[GIVEN : GIVEN + 1], numbers[GIVEN + 1 : GIVEN + 2], numbers[GIVEN + 2 : one], part(one, 3), part(one + 3, 3),
        part(one + 6, 3), np.zeros(1, np.int8), np.zeros(1, np.int32), words[GIVEN + FOUND :], np.zeros((1, 8), np.int64),
        np.zeros((0, 3)), np.zeros((0, 6), np.int64), np.zeros((0, ROW), np.int64),
    )  # fmt: skip


ASK = Entry(ask, lambda: (empty_geometry(), a_pair()[1]))
LIBRARY = Library("tumble.collision.queries.single", ASK, meanwhile=True)


def bare(bound: Call | Plain) -> Callable[[], int | None]:
    """A bound kernel without what it returns: what comes back is true where it found no memory."""
    if isinstance(bound, Meanwhile):
        return bound
    if isinstance(bound, Plain):
        return partial(bound.kernel, *bound.arguments)
    call = partial(bound._function, bound._address)
    call.keeps = bound
    return call


class Desk(threading.local):
    """The row of a thread, and the kernel bound to it and to the shapes that were in stock."""

    def __init__(self):
        self.words, self.pair = a_pair()
        self.row = memoryview(self.words).cast("B")
        self.geometry: Geometry | None = None

    def bind(self, geometry: Geometry) -> None:
        self.call = bare(ASK.bind(geometry, self.pair))
        self.geometry = geometry


_desk = Desk()


def asked(a, pose_a, b, pose_b, margin: float) -> tuple:
    """The twelve numbers from ``distance`` to ``point_b``, status and iterations of two convex shapes at two `Pose`."""
    geometry, i, j = shapeset.stocked(a, b)
    desk = _desk
    if desk.geometry is not geometry:
        desk.bind(geometry)
    PUT(desk.row, 0, *pose_a.position, *pose_a.orientation, *pose_b.position, *pose_b.orientation, margin, i, j)
    if desk.call():
        raise MemoryError("a kernel found no memory")
    return TAKE(desk.row, 8 * GIVEN)
