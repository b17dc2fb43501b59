"""The path of a driven body: where it is, and how it is turned, as a smooth function of time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass
from typing import Any

import numpy as np

from tumble.collision.errors import InputError, check_number, check_vector
from tumble.collision.pose import Pose
from tumble.sim.checks import Record, check_fields, check_orientation, check_times, checked, flag, plain_value
from tumble.sim.state import KNOT


def rows_of(check: Callable[[str, Any], Any], default: Any = MISSING, takes: str = "rows", **said: Any) -> Any:
    """A field for a list with an entry for each time."""
    return checked(lambda name, value: tuple(check(name, row) for row in _rows(name, value)), default, takes, **said)


def _rows(name: str, value: object) -> tuple:
    if isinstance(value, (str, bytes, dict, set)) or not hasattr(value, "__len__"):
        raise InputError(name, value, "must be a list, an entry for each time")
    return tuple(value)


@dataclass(frozen=True, slots=True)
class Path(Record):
    """Poses at times, joined by cubic splines: position, velocity and acceleration are continuous.

    Parameters
    ----------
    times : (k,) [s] of the world, rising, two at least.
    positions : (k, 3) [m] of the origin of the body frame; left out, it stays where it is.
    orientations : (k, 4) unit quaternions, body to world; left out, it stays as it is. The spline goes through their
        components, the shorter way round from each to the next, and is normalised.
    loop : go round for ever; the last pose must be the first. Otherwise the body rests before the first time and after the
        last, and starts and stops without a jerk.

    Raises
    ------
    InputError : names the field and its value.
    """

    times: tuple[float, ...] = rows_of(check_number, takes="numbers", unit="s", told="times, rising")
    positions: tuple[tuple[float, float, float], ...] | None = rows_of(
        check_vector, None, unit="m", told="where the origin of the body frame is, one position for each time"
    )
    orientations: tuple[tuple[float, float, float, float], ...] | None = rows_of(
        check_orientation, None, n=4, told="unit quaternions (w, x, y, z), one for each time"
    )
    loop: bool = flag(told="true: the path is repeated for ever; its last pose must be the first one")

    def __post_init__(self) -> None:
        Record.__post_init__(self)
        check_times("times", self.times, "must be two times or more, each later than the one before")
        if self.positions is None and self.orientations is None:
            raise InputError("positions", None, "positions or orientations must be given, or both")
        for name in ("positions", "orientations"):
            rows = getattr(self, name)
            if rows is not None and len(rows) != len(self.times):
                raise InputError(name, plain_value(rows), f"must be as many as the times ({len(self.times)})")
        if self.loop:
            if self.positions and np.abs(np.subtract(self.positions[0], self.positions[-1])).max() > 1e-9:
                raise InputError(
                    "positions", plain_value(self.positions[-1]), f"must end where they begin, at {self.positions[0]}"
                )
            if self.orientations and abs(np.dot(self.orientations[0], self.orientations[-1])) < 1 - 1e-9:
                raise InputError("orientations", plain_value(self.orientations[-1]), "must end as they begin: the path is a loop")

    @classmethod
    def sampled(cls, pose: Callable[[float], Any], start: float, stop: float, points: int = 200, loop: bool = False) -> Path:
        """A path through ``points`` samples of a function of time [s] that gives a position (3,) [m] or a Pose."""
        if isinstance(points, bool) or not hasattr(points, "__index__") or points < 2:
            raise InputError("points", points, "must be a whole number of at least 2")
        times = np.linspace(check_number("start", start), check_number("stop", stop, above=start), points)
        found = [pose(float(t)) for t in times]
        if isinstance(found[0], Pose):
            return cls(tuple(times), tuple(p.position for p in found), tuple(p.orientation for p in found), loop)
        return cls(tuple(times), tuple(map(tuple, found)), None, loop)

    @property
    def period(self) -> float:
        """Time after which a loop is where it was [s], 0 where it is none. Two rounds if one comes back with -q for q."""
        return self._spline((0.0,) * 3, (1.0, 0.0, 0.0, 0.0))[1] if self.loop else 0.0

    def coefficients(self, position: tuple[float, ...], orientation: tuple[float, ...]) -> tuple[np.ndarray, float]:
        """(table (r, KNOT), period [s]) for a body; what the path does not say is the body's own pose."""
        spline, period = self._spline(position, orientation)
        rows = np.zeros((len(spline.x), KNOT))
        rows[:, 0] = spline.x
        rows[:-1, 1:] = spline.c.transpose(1, 2, 0).reshape(-1, 28)
        rows[-1, 4::4] = spline(spline.x[-1])  # at rest behind the end
        return rows, period

    def _spline(self, position: tuple[float, ...], orientation: tuple[float, ...]) -> tuple[Any, float]:
        from scipy.interpolate import CubicSpline

        t = np.array(self.times)
        x = np.array(self.positions if self.positions is not None else [position] * len(t))
        q = np.array(self.orientations if self.orientations is not None else [orientation] * len(t))
        for k in range(1, len(q)):
            if np.dot(q[k], q[k - 1]) < 0:
                q[k] = -q[k]
        if not self.loop:
            return CubicSpline(t, np.hstack([x, q]), bc_type="clamped"), 0.0
        x[-1] = x[0]
        period = t[-1] - t[0]
        if np.dot(q[0], q[-1]) < 0:  # one round turns the body once: two bring the quaternion back
            t, x, q = np.concatenate([t[:-1], t + period]), np.vstack([x[:-1], x]), np.vstack([q[:-1], -q])
            period *= 2
        q[-1] = q[0]
        return CubicSpline(t, np.hstack([x, q]), bc_type="periodic"), float(period)

    def pose(self, time: float) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Position (3,) [m] and orientation (4,) at a time [s]; None for what the path does not say."""
        spline, period = self._spline((0.0,) * 3, (1.0, 0.0, 0.0, 0.0))
        start, stop = self.times[0], spline.x[-1]
        at = start + (time - start) % period if self.loop else min(max(time, start), stop)
        y = spline(at)
        return (None if self.positions is None else y[:3], None if self.orientations is None else y[3:] / np.linalg.norm(y[3:]))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Path:
        """The inverse of :meth:`to_dict`."""
        check_fields(data, cls.__slots__, "a path")
        if "times" not in data:
            raise InputError("times", None, "a path needs times")
        return cls(**data)
