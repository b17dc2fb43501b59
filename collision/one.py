"""One pair of convex shapes a call: the loops over many pairs, asked about one, with as little Python around them as can be.

Poses go in and answers come out through one row of numbers that each thread keeps, so that a call hands over four words.
"""

from __future__ import annotations

import struct
import threading
from typing import NamedTuple

import numpy as np

from collision.batch_kernels import other_pairs, quick_pairs
from collision.depth import ROW
from collision.geometry import Geometry
from collision.group import group
from collision.jit import kernel

PUT = struct.Struct("15d").pack_into  # position and orientation of A, of B; the margin
TAKE = struct.Struct("12d").unpack_from
ANSWER = 15 * 8  # where it begins: distance, lower, upper, normal, point of A, point of B
STATUSES = 8


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
    corners: np.ndarray  # (1, 4) int64
    no_axis: np.ndarray  # a `PairCache` of no pairs: (0, 3), (0, 6), (0, ROW)
    no_start: np.ndarray
    no_surface: np.ndarray


@kernel(nogil=True, _nrt=False)
def ask(g, pair, i, j):
    """Rows i and j of the geometry at the poses of ``pair``: status + STATUSES iterations."""
    pair.a[0] = i
    pair.b[0] = j
    margin = pair.margin[0]
    _, left = quick_pairs(
        g, pair.a, pair.b, pair.xa, pair.qa, pair.xb, pair.qb, margin, pair.no_axis, pair.no_start, pair.no_surface, 0, 1,
        pair.corners, pair.status, pair.distance, pair.lower, pair.upper, pair.normal, pair.point_a, pair.point_b,
        pair.iterations,
    )  # fmt: skip
    if left > 0:
        other_pairs(
            g, pair.a, pair.b, pair.xa, pair.qa, pair.xb, pair.qb, margin, pair.no_axis, pair.no_start, pair.no_surface, 0, 1,
            pair.corners, pair.status, pair.distance, pair.lower, pair.upper, pair.normal, pair.point_a, pair.point_b,
            pair.iterations,
        )  # fmt: skip
    return pair.status[0] + STATUSES * pair.iterations[0]


class Desk(threading.local):
    """The row of numbers of a thread, and the arrays that are parts of it."""

    def __init__(self):
        numbers = self.numbers = np.zeros(27)

        def part(first: int, width: int) -> np.ndarray:
            return numbers[first : first + width].reshape(1, width)

        self.pair = Pair(
            np.zeros(1, np.int64), np.zeros(1, np.int64), part(0, 3), part(3, 4), part(7, 3), part(10, 4), numbers[14:15],
            numbers[15:16], numbers[16:17], numbers[17:18], part(18, 3), part(21, 3), part(24, 3), np.zeros(1, np.int8),
            np.zeros(1, np.int32), np.zeros((1, 4), np.int64), np.zeros((0, 3)), np.zeros((0, 6), np.int64),
            np.zeros((0, ROW), np.int64),
        )  # fmt: skip


_desk = Desk()


def asked(g: Geometry, i: int, pose_a, j: int, pose_b, margin: float) -> tuple[int, int, tuple]:
    """(status, iterations, twelve numbers from ``distance`` to ``point_b``) of rows i and j at two `Pose`."""
    numbers, pair = _desk.numbers, _desk.pair
    PUT(numbers, 0, *pose_a.position, *pose_a.orientation, *pose_b.position, *pose_b.orientation, margin)
    iterations, status = divmod(ask(g, pair, i, j), STATUSES)
    return status, iterations, TAKE(numbers, ANSWER)
