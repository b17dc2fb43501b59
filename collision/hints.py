"""What public functions take, in the words that editors show."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from tumble.collision.pose import Pose


class Turn(Protocol):
    """A rotation of SciPy."""

    def as_quat(self) -> Any: ...


class Surface(Protocol):
    """A mesh of trimesh."""

    @property
    def vertices(self) -> Any: ...

    @property
    def faces(self) -> Any: ...


Numbers: TypeAlias = "Sequence[float] | np.ndarray[Any, Any]"  # a vector, a quaternion
Rows: TypeAlias = "Sequence[Sequence[float]] | Sequence[np.ndarray[Any, Any]] | np.ndarray[Any, Any]"  # (n, 3), (n, 4), a matrix
Whole: TypeAlias = "int | Sequence[int] | np.ndarray[Any, Any]"  # one index, or one for each pair
PoseLike: TypeAlias = "Pose | Numbers | Turn | tuple[Numbers, Numbers | Turn] | Rows"  # what `as_pose` takes
FileName: TypeAlias = "str | os.PathLike[str]"
