"""Where a shape is: position and orientation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tumble.collision.errors import InputError, check_point, check_quaternion, check_vector, unit
from tumble.collision.hints import Numbers, PoseLike, Rows, Turn


@dataclass(frozen=True)
class Pose:
    """Local to world: x_world = R(orientation) x_local + position.

    position: 3 numbers [m]. orientation: unit quaternion (w, x, y, z), up to 1e-3 off unit length it is normalised; or a
    rotation of SciPy.
    Raises InputError for anything else.
    """

    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    orientation: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)

    if TYPE_CHECKING:  # what is given is made into tuples

        def __init__(self, position: Numbers = (0.0, 0.0, 0.0), orientation: Numbers | Turn = (1.0, 0.0, 0.0, 0.0)) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", check_point("position", self.position))
        object.__setattr__(self, "orientation", check_quaternion("orientation", self.orientation))

    @classmethod
    def identity(cls) -> Pose:
        """The pose that changes nothing."""
        return cls()

    @classmethod
    def from_euler_xyz(cls, angles: Numbers, position: Numbers = (0.0, 0.0, 0.0)) -> Pose:
        """Turn about x, then about the new y, then about the new z [rad]: R = Rx Ry Rz."""
        ax, ay, az = check_vector("angles", angles)
        q = (1.0, 0.0, 0.0, 0.0)
        for axis, angle in enumerate((ax, ay, az), start=1):
            turn = [math.cos(angle / 2), 0.0, 0.0, 0.0]
            turn[axis] = math.sin(angle / 2)
            q = quaternion_product(q, turn)
        return cls(position, q)

    @classmethod
    def from_matrix(cls, matrix: Rows) -> Pose:
        """From a rotation matrix (3, 3) or a homogeneous matrix (4, 4); InputError where it is not one to 1e-6."""
        try:
            m = np.array(matrix, float)
        except (TypeError, ValueError):
            raise InputError("matrix", matrix, "must be a 3x3 rotation or a 4x4 homogeneous matrix of numbers") from None
        if m.shape == (4, 4) and np.array_equal(m[3], (0, 0, 0, 1)):
            position = m[:3, 3]
        elif m.shape == (3, 3):
            position = np.zeros(3)
        else:
            raise InputError("matrix", matrix, "must be a 3x3 rotation or a 4x4 homogeneous matrix with last row 0 0 0 1")
        r = m[:3, :3]
        if not np.all(np.isfinite(m)) or np.abs(r @ r.T - np.eye(3)).max() > 1e-6 or np.linalg.det(r) < 0:
            raise InputError("matrix", matrix, "must hold a proper rotation (orthonormal to 1e-6, determinant +1)")
        return cls(position, _quaternion(r))

    def matrix(self) -> np.ndarray:
        """Rotation matrix (3, 3), local to world."""
        w, x, y, z = self.orientation
        return np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )

    def apply(self, points: Numbers | Rows) -> np.ndarray:
        """Local points (..., 3) in world coordinates."""
        return np.asarray(points, float) @ self.matrix().T + np.array(self.position)

    def __matmul__(self, other: Pose) -> Pose:
        """self after other: (a @ b).apply(x) = a.apply(b.apply(x))."""
        return Pose(self.apply(other.position), unit(quaternion_product(self.orientation, other.orientation)))

    def inverse(self) -> Pose:
        """The pose that undoes this one."""
        w, x, y, z = self.orientation
        back = (w, -x, -y, -z)
        return Pose(-(self.matrix().T @ np.array(self.position)), back)


def as_pose(name: str, value: PoseLike) -> Pose:
    """A pose from what users have: a `Pose`, a position (3,), a rotation of SciPy, a pair of a position and a quaternion
    (w, x, y, z) or a rotation of SciPy, these seven numbers in a row, a matrix (4, 4) or (3, 3). InputError for anything else.
    """
    if isinstance(value, Pose):
        return value
    hint = "must be a Pose, a position, a pair (position, quaternion w x y z or Rotation), these 7 numbers, or a 4x4 matrix"
    if hasattr(value, "as_quat"):
        return Pose(orientation=value)
    if isinstance(value, tuple | list) and len(value) == 2:
        return Pose(*value)
    try:
        numbers = np.asarray(value, float)
    except (TypeError, ValueError):
        raise InputError(name, value, hint) from None
    if numbers.shape == (3,):
        return Pose(numbers.tolist())
    if numbers.shape == (7,):
        return Pose(tuple(numbers[:3].tolist()), tuple(numbers[3:].tolist()))
    if numbers.shape not in ((4, 4), (3, 3)):
        raise InputError(name, value, hint)
    return Pose.from_matrix(numbers)


def quaternion_product(a, b):
    """Hamilton product of two quaternions (w, x, y, z), numbers or columns."""
    product = (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )
    return np.array(product) if isinstance(a, np.ndarray) else product


def rotated(q: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Vectors (n, 3) turned by unit quaternions (n, 4)."""
    w, v = q[:, :1], q[:, 1:]
    t = 2.0 * np.cross(v, x)
    return x + w * t + np.cross(v, t)


def _quaternion(r: np.ndarray):
    """Unit quaternion of a rotation matrix: the eigenvector of Bar-Itzhack (2000), good in all positions."""
    k = np.array(
        [
            [r[0, 0] + r[1, 1] + r[2, 2], r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]],
            [r[2, 1] - r[1, 2], r[0, 0] - r[1, 1] - r[2, 2], r[0, 1] + r[1, 0], r[0, 2] + r[2, 0]],
            [r[0, 2] - r[2, 0], r[0, 1] + r[1, 0], r[1, 1] - r[0, 0] - r[2, 2], r[1, 2] + r[2, 1]],
            [r[1, 0] - r[0, 1], r[0, 2] + r[2, 0], r[1, 2] + r[2, 1], r[2, 2] - r[0, 0] - r[1, 1]],
        ]
    )
    q = np.linalg.eigh(k)[1][:, 3]
    return tuple(q if q[0] >= 0 else -q)
