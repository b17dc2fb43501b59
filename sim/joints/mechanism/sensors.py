"""Sensors of frames, subtrees, joints, actuators and contact, as models of robots name them: instruments that read the state.

A :class:`Frame` is a place with axes on a body, or in the world. What is told of one is told against a ``reference``, in the axes
of that, as one sees it who stands there: without one, in those of the world.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tumble.collision.errors import InputError, check_number
from tumble.collision.pose import Pose
from tumble.sim.checks import Record, checked, given_name, given_names, numbers
from tumble.sim.joints.mechanism.instruments import AXES_THERE, PLACE, Instrument, Motion, Mounted, Probe, motion, named, named_in
from tumble.sim.ledger.diagnostics import rotations
from tumble.sim.words import count

if TYPE_CHECKING:
    from tumble.sim.world.world import World

AXES = {"x": 0, "y": 1, "z": 2}
XYZ = ("x", "y", "z")
Told = dict[str, tuple[tuple[str, ...], str]]  # what may be read: columns, unit
ALONG: Told = {"position": (("position",), "rad or m"), "speed": (("speed",), "rad/s or m/s")}  # of a coordinate


@dataclass(frozen=True, slots=True)
class Frame(Record):
    """A ``position`` (3,) [m] and ``orientation`` (4,) in the frame of a ``body``; of the world where that is None."""

    body: str | None = checked(given_name, None, told="name of a body; by default the world")
    position: Any = PLACE
    orientation: Any = AXES_THERE

    def seen(self, world: World) -> Callable[[], Motion]:
        """What reads where it is and how it moves, in the world."""
        place, axes = np.array(self.position), rotations(np.array([self.orientation]))[0]
        if self.body is None:
            return lambda: (place, axes, np.zeros(3), np.zeros(3))
        body = named_in("body", self.body, {b.name: b for b in world.bodies})
        return lambda: motion(body, place, axes)


@dataclass(frozen=True, slots=True)
class Reading(Instrument):
    """An instrument that reads one of several things, ``of``: one of its ``readings``."""

    readings: ClassVar[Told] = {}

    @property
    def columns(self) -> tuple[str, ...]:
        return self.readings[self.of][0]

    @property
    def unit(self) -> str:
        return self.readings[self.of][1]

    def __post_init__(self) -> None:
        Instrument.__post_init__(self)
        if self.of not in self.readings:
            raise InputError("of", self.of, f"must be one of {', '.join(self.readings)}")


JOINTS_READ = checked(given_names, takes="texts", told="names of joints")


def what(default: str) -> Any:
    """A field for which of its ``readings`` an instrument reads."""
    return checked(None, default, "reading", told="what it reads")


@dataclass(frozen=True, slots=True)
class FrameSensor(Reading):
    """``of`` a frame: position, orientation, one of its axes x, y, z, velocity or angular_velocity, against ``reference``."""

    readings: ClassVar[Told] = {
        "position": (XYZ, "m"),
        "orientation": (("w", *XYZ), ""),
        **dict.fromkeys(AXES, (XYZ, "")),
        "velocity": (XYZ, "m/s"),
        "angular_velocity": (XYZ, "rad/s"),
    }

    name: str = named()
    frame: Frame = checked(None, takes="frame", told="what it tells of")
    of: str = what("position")
    reference: Frame | None = checked(None, None, "frame", told="as seen from there; by default the world")

    def probe(self, world: World) -> Probe:
        mine, base = self.frame.seen(world), (self.reference or Frame()).seen(world)

        def read() -> np.ndarray:
            (x, axes, v, w), (x0, axes0, v0, w0) = mine(), base()
            if self.of == "position":
                return axes0.T @ (x - x0)
            if self.of == "orientation":
                return np.array(Pose.from_matrix(axes0.T @ axes).orientation)
            if self.of in AXES:
                return axes0.T @ axes[:, AXES[self.of]]
            if self.of == "velocity":
                return axes0.T @ (v - v0 - np.cross(w0, x - x0))
            return axes0.T @ (w - w0)

        return read


@dataclass(frozen=True, slots=True)
class SubtreeSensor(Reading):
    """``of`` some ``bodies``: center of mass, its velocity, or angular_momentum about it."""

    readings: ClassVar[Told] = {"center": (XYZ, "m"), "velocity": (XYZ, "m/s"), "angular_momentum": (XYZ, "kg m^2/s")}

    name: str = named()
    bodies: tuple[str, ...] = checked(given_names, takes="texts", told="names of bodies")
    of: str = what("center")

    def __post_init__(self) -> None:
        Reading.__post_init__(self)
        if not self.bodies:
            raise InputError("bodies", self.bodies, "must name one body at least")

    def probe(self, world: World) -> Probe:
        known = {b.name: b for b in world.bodies}
        bodies = [named_in("bodies", name, known) for name in self.bodies]

        def read() -> np.ndarray:
            mass = np.array([b.mass for b in bodies])
            turns = rotations(np.array([b.orientation for b in bodies]))
            x = np.array([b.position + turn @ b.center_of_mass for b, turn in zip(bodies, turns, strict=True)])
            v = np.array([b.velocity for b in bodies])
            center, velocity = mass @ x / mass.sum(), mass @ v / mass.sum()
            if self.of != "angular_momentum":
                return center if self.of == "center" else velocity
            spin = sum(turn @ b.inertia @ turn.T @ b.angular_velocity for b, turn in zip(bodies, turns, strict=True))
            return spin + np.cross(x - center, mass[:, None] * (v - velocity)).sum(axis=0)

        return read


@dataclass(frozen=True, slots=True)
class CoordinateSensor(Reading):
    """``of`` the coordinate of a joint, or of a tendon, ``coefficients`` times those of ``joints``: position or speed."""

    readings: ClassVar[Told] = ALONG

    name: str = named()
    joints: tuple[str, ...] = JOINTS_READ
    of: str = what("position")
    coefficients: tuple[float, ...] = numbers((), "factors of their coordinates; by default 1")

    def __post_init__(self) -> None:
        Reading.__post_init__(self)
        if not self.joints or len(self.coefficients) not in (0, len(self.joints)):
            raise InputError(
                "coefficients", self.coefficients, f"must be {count(len(self.joints), 'number')}, one for each joint"
            )

    def probe(self, world: World) -> Probe:
        known = {j.name: j for j in world.joints}
        joints = [named_in("joints", name, known) for name in self.joints]
        parts = self.coefficients or (1.0,) * len(joints)
        _ = [joint.position for joint in joints]  # InputError where one has none
        return lambda: np.array([sum(c * getattr(joint, self.of) for joint, c in zip(joints, parts, strict=True))])


@dataclass(frozen=True, slots=True)
class ActuatorSensor(Reading):
    """``of`` an actuator: its length, gear times the coordinate, as position; speed; the force that it gives before its gear."""

    readings: ClassVar[Told] = ALONG | {"force": (("force",), "N or N m")}

    name: str = named()
    actuator: str = checked(given_name, told="name of the actuator")
    of: str = what("force")

    def probe(self, world: World) -> Probe:
        actuator = named_in("actuator", self.actuator, world.controls.actuators)
        joints = {j.name: j for j in world.joints if j.name in actuator.joints}

        def read() -> np.ndarray:
            if self.of == "force":
                return np.array([world.controls.forces()[self.actuator] / actuator.gear])
            return np.array([actuator.gear * sum(c * getattr(joints[name], self.of) for name, c in actuator.parts.items())])

        return read


@dataclass(frozen=True, slots=True)
class Interaction(Reading):
    """``of`` what ``joints`` do to the ``body`` of a frame that hangs on them: force, or torque about the frame, in its axes."""

    readings: ClassVar[Told] = {"force": (XYZ, "N"), "torque": (XYZ, "N m")}

    name: str = named()
    frame: Frame = checked(None, takes="frame", told="on the body that the joints hold")
    joints: tuple[str, ...] = JOINTS_READ
    of: str = what("force")

    def __post_init__(self) -> None:
        Reading.__post_init__(self)
        if self.frame.body is None:
            raise InputError("frame", self.frame, "must be on a body: joints do nothing to the world")

    def probe(self, world: World) -> Probe:
        from tumble.sim.joints.joint_tables import measured

        seen, known = self.frame.seen(world), {j.name: j for j in world.joints}
        joints = [named_in("joints", name, known) for name in self.joints]

        def read() -> np.ndarray:
            x, axes, _, _ = seen()
            force, torque = np.zeros(3), np.zeros(3)
            for joint in joints:
                b = joint.bodies[1]
                sign = 1.0 if b is not None and b.name == self.frame.body else -1.0
                point = measured(world.model, joint.index)[0]
                force += sign * joint.force
                torque += sign * (joint.torque + np.cross(point - x, joint.force))
            return axes.T @ (force if self.of == "force" else torque)

        return read


@dataclass(frozen=True, slots=True)
class Touch(Mounted):
    """[N] the sum of the normal forces of lasting contact on the body, mean over the last step, at points within a region about
    its place: a sphere, box, capsule, cylinder or ellipsoid of this ``size``, half lengths as in MJCF; all where it is None.
    """

    columns: ClassVar[tuple[str, ...]] = ("force",)
    unit: ClassVar[str] = "N"

    region: str = checked(None, "sphere", "region", told="shape of the region that feels; by default sphere")
    size: Any = checked(
        None, None, "numbers", unit="m", above=0, told="half lengths of the region; by default the whole body feels"
    )

    def __post_init__(self) -> None:
        Mounted.__post_init__(self)
        if self.region not in REGIONS:
            raise InputError("region", self.region, f"must be one of {', '.join(REGIONS)}")
        if self.size is not None:
            numbers = REGIONS[self.region][0]
            if not hasattr(self.size, "__len__") or len(self.size) < numbers:
                raise InputError("size", self.size, f"must be {count(numbers, 'number')} for a {self.region}")
            self._put("size", tuple(check_number("size", s, above=0) for s in self.size[:numbers]))

    def probe(self, world: World) -> Probe:
        body, _, _ = mounted = self.mounted(world)

        def read() -> np.ndarray:
            c, i = world.contacts(), body.index
            mine = (c["body_a"] == i) | (c["body_b"] == i)
            if self.size is not None:
                x, axes, _, _ = motion(*mounted)
                mine &= REGIONS[self.region][1]((c["point"] - x) @ axes, self.size)
            return np.array([np.abs(np.einsum("nk,nk->n", c["force"], c["normal"]))[mine].sum()])

        return read


def _in_capsule(p: np.ndarray, size: tuple[float, ...]) -> np.ndarray:
    along = np.maximum(np.abs(p[:, 2]) - size[1], 0.0)
    return np.hypot(np.hypot(p[:, 0], p[:, 1]), along) <= size[0]


REGIONS: dict[str, tuple[int, Callable[[np.ndarray, tuple[float, ...]], np.ndarray]]] = {  # numbers of its size, what is inside
    "sphere": (1, lambda p, size: np.linalg.norm(p, axis=1) <= size[0]),
    "box": (3, lambda p, size: (np.abs(p) <= size).all(axis=1)),
    "capsule": (2, _in_capsule),
    "cylinder": (2, lambda p, size: (np.hypot(p[:, 0], p[:, 1]) <= size[0]) & (np.abs(p[:, 2]) <= size[1])),
    "ellipsoid": (3, lambda p, size: np.linalg.norm(p / size, axis=1) <= 1.0),
}


@dataclass(frozen=True, slots=True)
class WorldSensor(Reading):
    """``of`` the world: its time; its kinetic energy, rotors among it; its potential one, springs of servos among it."""

    readings: ClassVar[Told] = {"time": (("time",), "s"), "kinetic": (("energy",), "J"), "potential": (("energy",), "J")}

    name: str = named()
    of: str = what("time")

    def probe(self, world: World) -> Probe:
        from tumble.sim.compiled import joint_energies

        def read() -> np.ndarray:
            if self.of == "time":
                return np.array([world.time])
            now, (_, rotors) = world.energy(), joint_energies(world.model)
            return np.array([now.potential - rotors if self.of == "potential" else now.total - now.potential + rotors])

        return read
