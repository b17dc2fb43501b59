"""Instruments: what sensors on a machine would read, each at its own rate, with noise by choice.

    log = Instruments(Accelerometer("imu", "chassis", rate=200, noise=0.02), RangeFinder("lidar", "chassis", reach=10))
    world.run(seconds=2.0, observers=[log])
    log["imu"].times, log["imu"].values

They read the state at the end of a step. An instrument with a rate reads at the first step at or after each multiple of 1/rate
from the start of the run. Those of a world, ``world.instruments``, are read in each of its runs, recorded and saved with it.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tumble.collision.errors import InputError, check_number, check_quaternion
from tumble.collision.spelling import did_you_mean
from tumble.sim.checks import Record, check_name, checked, given_name, number, plain_value, vector
from tumble.sim.joints.joint_definitions import direction
from tumble.sim.ledger.diagnostics import rotations

if TYPE_CHECKING:
    from tumble.sim.world.body import Body
    from tumble.sim.world.joint import Joint
    from tumble.sim.world.world import World

Probe = Callable[[], "np.ndarray | None"]  # what reads; None: there is nothing to tell yet
Motion = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # place (3,), axes (3, 3), velocity (3,), angular velocity (3,)


def named(told: str = "name of its readings, which no other instrument has") -> Any:
    """A field for the name of an instrument, or of an actuator."""
    return checked(check_name, told=told)


def _seed(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputError(name, value, "must be a whole number, zero or positive")
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Instrument(Record):
    """What all instruments share. ``rate`` [Hz], None: at each step. ``noise``: standard deviation of each number, in its unit.

    The noise is drawn from ``seed`` and the name: the same world reads the same.
    """

    columns: ClassVar[tuple[str, ...]] = ("x", "y", "z")
    unit: ClassVar[str] = ""

    rate: float | None = number(None, "1/s", "readings a second; by default one at each step", above=0)
    noise: float = number(0.0, "", "standard deviation of the noise of each number, in its unit; by default 0", least=0)
    seed: int = checked(_seed, 0, "whole", least=0, told="seed of the noise; by default 0")

    def probe(self, world: World) -> Probe:
        """What reads this instrument in a world. InputError where what it is on is not there."""
        raise NotImplementedError


PLACE = vector((0.0, 0.0, 0.0), "m", "place in the frame of the body")
AXES_THERE = checked(
    check_quaternion, (1.0, 0.0, 0.0, 0.0), "vector", n=4, told="quaternion (w, x, y, z): its axes in the frame of the body"
)


@dataclass(frozen=True, slots=True)
class Mounted(Instrument):
    """An instrument on a ``body``, at ``position`` (3,) [m] and ``orientation`` (4,) of its frame."""

    name: str = named()
    body: str = checked(given_name, told="name of the body that it is on")
    position: Any = PLACE
    orientation: Any = AXES_THERE

    def mounted(self, world: World) -> tuple[Body, np.ndarray, np.ndarray]:
        """The body, and place and axes of the instrument in its frame."""
        body = named_in("body", self.body, {b.name: b for b in world.bodies})
        return body, np.array(self.position), rotations(np.array([self.orientation]))[0]


def named_in(field: str, name: str, known: Mapping[str, Any]) -> Any:
    if name not in known:
        raise InputError(field, name, f"there is none of this name in the world{did_you_mean(name, list(known))}")
    return known[name]


def body_turn(body: Body) -> np.ndarray:
    """(3, 3) rotation of a body."""
    return rotations(body.orientation[None])[0]


def motion(body: Body, place: np.ndarray, axes: np.ndarray) -> Motion:
    """Where a place in the frame of a body is in the world, with axes there, and how it moves."""
    turn, w = body_turn(body), body.angular_velocity
    return body.position + turn @ place, turn @ axes, body.velocity + np.cross(w, turn @ (place - body.center_of_mass)), w


@dataclass(frozen=True, slots=True)
class Accelerometer(Mounted):
    """(3,) [m/s^2] in its own axes: the change of its velocity since the last reading, by the time between, without gravity.

    A body at rest reads the support, g upwards; one in free fall nothing. The axes are those half way between both readings:
    of second order in the time between. Impacts are in it.
    """

    unit: ClassVar[str] = "m/s^2"

    def probe(self, world: World) -> Probe:
        body, _, axes = mounted = self.mounted(world)
        state = lambda: (world.time, motion(*mounted)[2], body.orientation)  # noqa: E731
        last: list[Any] = [*state()]

        def read() -> np.ndarray | None:
            now = state()
            (t0, v0, q0), (t1, v1, q1) = last, now
            if t1 <= t0:
                return None
            last[:] = now
            middle = q0 + (q1 if q0 @ q1 > 0 else -q1)
            turn = rotations(middle[None] / np.linalg.norm(middle))[0]
            i = body.index
            field = world.model.bodies.gravity[i] + world.model.bodies.field[i]
            return (turn @ axes).T @ ((v1 - v0) / (t1 - t0) - field)

        read.last = last
        return read


@dataclass(frozen=True, slots=True)
class Gyroscope(Mounted):
    """(3,) [rad/s] angular velocity in its own axes."""

    unit: ClassVar[str] = "rad/s"

    def probe(self, world: World) -> Probe:
        body, _, axes = self.mounted(world)
        return lambda: (body_turn(body) @ axes).T @ body.angular_velocity


@dataclass(frozen=True, slots=True)
class Velocimeter(Mounted):
    """(3,) [m/s] velocity of its place, in its own axes."""

    unit: ClassVar[str] = "m/s"

    def probe(self, world: World) -> Probe:
        body, place, axes = self.mounted(world)
        return lambda: (body_turn(body) @ axes).T @ motion(body, place, axes)[2]


@dataclass(frozen=True, slots=True)
class Tracker(Mounted):
    """(3,) [m] its place in the world, as motion capture has it."""

    unit: ClassVar[str] = "m"

    def probe(self, world: World) -> Probe:
        mounted = self.mounted(world)
        return lambda: motion(*mounted)[0]


def _reach(name: str, value: Any) -> float:
    return value if value == math.inf else check_number(name, value, above=0)


@dataclass(frozen=True, slots=True)
class RangeFinder(Mounted):
    """[m] from its place along ``direction``, in its own axes, to the first other body; inf beyond ``reach``."""

    columns: ClassVar[tuple[str, ...]] = ("distance",)
    unit: ClassVar[str] = "m"

    direction: Any = direction((0.0, 0.0, 1.0), "where it looks, in its own axes; by default (0, 0, 1)")
    reach: float = checked(_reach, math.inf, "number", unit="m", above=0, told="how far it sees; by default without end")

    def probe(self, world: World) -> Probe:
        body, place, axes = self.mounted(world)

        def read() -> np.ndarray:
            start, towards, _, _ = motion(body, place, axes)
            hit = world.ray_cast(start, towards @ self.direction, self.reach, ignore=[body])
            return np.array([math.inf if hit is None else hit.distance])

        return read


@dataclass(frozen=True, slots=True)
class ContactForce(Instrument):
    """(3,) [N] the sum of the contact forces on a ``body``, world axes, mean over the last step; ``other``: those of one alone.

    Of lasting contact: impacts are events of their own (``On("impact", ...)``).
    """

    unit: ClassVar[str] = "N"

    name: str = named()
    body: str = checked(given_name, told="name of the body that is pressed")
    other: str | None = checked(given_name, None, told="name of the body that presses; by default all")

    def probe(self, world: World) -> Probe:
        bodies = {b.name: b for b in world.bodies}
        body = named_in("body", self.body, bodies)
        other = None if self.other is None else named_in("other", self.other, bodies)

        def read() -> np.ndarray:
            c, i = world.contacts(), body.index
            sign = (c["body_b"] == i).astype(float) - (c["body_a"] == i)
            if other is not None:
                sign *= (c["body_a"] == other.index) | (c["body_b"] == other.index)
            return sign @ c["force"]

        return read


@dataclass(frozen=True, slots=True)
class OfJoint(Instrument):
    """An instrument of a ``joint``, by its name."""

    name: str = named()
    joint: str = checked(given_name, told="name of the joint")

    def found(self, world: World) -> Joint:
        return named_in("joint", self.joint, {j.name: j for j in world.joints})


@dataclass(frozen=True, slots=True)
class ForceTorque(OfJoint):
    """(6,) [N, N m] force and torque of a joint on its b, at the anchor, in the axes of b; mean over the last step."""

    columns: ClassVar[tuple[str, ...]] = ("fx", "fy", "fz", "tx", "ty", "tz")
    unit: ClassVar[str] = "N, N m"

    def probe(self, world: World) -> Probe:
        joint = self.found(world)

        def read() -> np.ndarray:
            body = joint.bodies[1]
            turn = np.eye(3) if body is None else body_turn(body)
            return np.concatenate([turn.T @ joint.force, turn.T @ joint.torque])

        return read


@dataclass(frozen=True, slots=True)
class Encoder(OfJoint):
    """(2,) position and speed of the coordinate of a joint [rad or m, rad/s or m/s]."""

    columns: ClassVar[tuple[str, ...]] = ("position", "speed")
    unit: ClassVar[str] = "rad or m, and by s"

    def probe(self, world: World) -> Probe:
        joint = self.found(world)
        _ = joint.position  # InputError where it has none
        return lambda: np.array([joint.position, joint.speed])


@dataclass(frozen=True, slots=True)
class Readings:
    """What an instrument has read: ``times`` (k,) [s], ``values`` (k, m) in its ``unit``, by its ``columns``."""

    times: np.ndarray
    values: np.ndarray
    columns: tuple[str, ...]
    unit: str

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, column: str) -> np.ndarray:
        """(k,) one of the columns."""
        if column not in self.columns:
            raise KeyError(f"there is no column {column!r}; there are {', '.join(self.columns)}")
        return self.values[:, self.columns.index(column)]


class Instruments(Mapping):
    """Reads instruments while a world runs: an observer for ``World.run``, and name -> :class:`Readings`.

    To files: ``scenarios.export_readings(instruments, "run.csv")``, also .parquet and .mcap.
    """

    def __init__(self, *instruments: Instrument):
        self.every = 1
        self.instruments: dict[str, Instrument] = {}
        self._times: dict[str, list[float]] = {}
        self._values: dict[str, list[np.ndarray]] = {}
        self._probes: dict[str, tuple[Probe, np.random.Generator]] = {}
        self._world: World | None = None
        self._origin = 0.0
        self._due: dict[str, int] = {}
        self._ended: list[str] = []  # what they were on is gone
        for one in instruments:
            self.add(one)

    def add(self, one: Instrument) -> None:
        """One more, which reads from now on. InputError where the name is taken, or what it is on is not there."""
        if not isinstance(one, Instrument):
            raise InputError("instrument", one, "must be an instrument, such as Accelerometer(name, body)")
        if one.name in self.instruments:
            raise InputError("name", one.name, "is the name of two instruments")
        if self._world is not None:
            self._attach(one, self._world)
        self.instruments[one.name] = one
        self._times[one.name], self._values[one.name] = [], []

    def _attach(self, one: Instrument, world: World) -> None:
        self._probes[one.name] = one.probe(world), np.random.default_rng([one.seed, zlib.crc32(one.name.encode())])
        self._due[one.name] = 0

    def start(self, world: World) -> None:
        """Find what the instruments are on. A second run of the same world goes on."""
        if self._world is world:
            return
        if self._world is not None:
            raise InputError("world", world, "is another than these instruments have read")
        for one in self.mounted:
            self._attach(one, world)
        self._world, self._origin = world, world.time

    def __call__(self, world: World) -> None:
        """Read those that are due."""
        if self._world is None:
            self.start(world)
        now = world.time
        for one in self.mounted:
            name = one.name
            read, noise = self._probes[name]
            times = self._times[name]
            if times and now <= times[-1]:  # a second run begins where the first ended
                continue
            if one.rate is not None:
                passed = math.floor((now - self._origin) * one.rate + 1e-9)
                if passed < self._due[name]:
                    continue
                self._due[name] = passed + 1
            value = read()
            if value is None:
                continue
            if one.noise:
                value = value + noise.normal(scale=one.noise, size=len(value))
            times.append(now)
            self._values[name].append(value)

    def __getitem__(self, name: str) -> Readings:
        one = self.instruments[name]
        values = np.array(self._values[name]).reshape(-1, len(one.columns))
        return Readings(np.array(self._times[name]), values, one.columns, one.unit)

    def __iter__(self) -> Iterator[str]:
        return iter(self.instruments)

    def __len__(self) -> int:
        return len(self.instruments)

    @property
    def mounted(self) -> list[Instrument]:
        """Those that read on."""
        return [one for name, one in self.instruments.items() if name not in self._ended]

    def end(self, name: str) -> None:
        """What this one was on is gone: it reads no more, and what it has read stays; one that has not begun is gone too."""
        if self._world is None:
            del self.instruments[name], self._times[name], self._values[name]
            return
        self._ended.append(name)
        self._probes.pop(name, None)

    def memory(self) -> dict[str, Any] | None:
        """What there is beside the readings: when they are due, their noise, what they compare with; None before the start."""
        if self._world is None:
            return None
        noise = {name: noise.bit_generator.state for name, (_, noise) in self._probes.items()}
        last = {name: [plain_value(x) for x in read.last] for name, (read, _) in self._probes.items() if hasattr(read, "last")}
        return {"origin": self._origin, "due": self._due, "noise": noise, "last": last, "ended": self._ended}

    def take_up(self, world: World, memory: dict[str, Any] | None, readings: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> None:
        """Go on in another world from what :meth:`memory` told, with (times, values) of what was read."""
        if memory is None:
            return
        self._ended = [name for name in memory["ended"] if name in self.instruments]
        self.start(world)
        self._origin, self._due = float(memory["origin"]), {name: int(memory["due"][name]) for name in memory["due"]}
        for name, (times, values) in readings.items():
            self._times[name], self._values[name] = [float(t) for t in times], list(np.asarray(values, float))
        for name, (read, noise) in self._probes.items():
            noise.bit_generator.state = memory["noise"][name]
            if hasattr(read, "last"):
                time, *rest = memory["last"][name]
                read.last[:] = [float(time), *(np.array(x, float) for x in rest)]
