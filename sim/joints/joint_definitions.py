"""What a joint is before it lives in a world: one frozen record for each kind, checked field by field.

Anchors and axes are given in the world, at the poses in which the bodies stand when the joint is made; the coordinate of a
joint (angle of a hinge, travel of a slider) is zero there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tumble.collision.errors import check_vector
from tumble.collision.spelling import spelled
from tumble.sim.checks import ORIGIN, Record, check_text, checked, flag, given_name, number, plain_value, typed_values, vector
from tumble.sim.errors import InputError

if TYPE_CHECKING:
    from tumble.collision.hints import Numbers
    from tumble.sim.world.body import Body


def _end(name: str, value: Any) -> str:
    value = given_name(name, value)
    if not isinstance(value, str):
        raise InputError(name, value, "must be a body, the name of one, or None for the world")
    return value


def direction(default: Any, told: str = "") -> Any:
    """A field for a vector that has a length."""
    return checked(check_direction, default, "vector", told=told)


def check_direction(name: str, value: object) -> tuple[float, ...]:
    vector = check_vector(name, value)
    if not math.hypot(*vector) > 0.0:
        raise InputError(name, plain_value(value), "must have a length: it is a direction")
    return vector


def check_limits(name: str, value: object) -> tuple[float, float]:
    """(low, high) with low < high; infinite ends are allowed."""
    hint = "must be two numbers (low, high) with low < high"
    try:
        low, high = (float(x) for x in value)
    except (TypeError, ValueError):
        raise InputError(name, value, hint) from None
    if not low < high:
        raise InputError(name, plain_value(value), hint)
    return low, high


@dataclass(frozen=True, slots=True)
class JointDef(Record):
    """What all joints have: two bodies, by name or as a ``Body``; None is the world.

    name : unique in a scene; given by the scene where it is left empty.
    collide : the two bodies also touch each other; False lets them overlap.
    """

    a: Body | str | None = checked(_end, None, told="name of a body; by default the world")
    b: Body | str | None = checked(_end, None, told="name of a body; by default the world")
    name: str = checked(check_text, "", told="name, which no other joint has")
    collide: bool = flag(told="true: the two bodies can also collide with each other; by default false")

    def __post_init__(self) -> None:
        Record.__post_init__(self)
        if self.a == self.b:
            hint = "one of them must be a body" if self.a is None else "a joint needs two different bodies"
            raise InputError("b", self.b, hint)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, texts and lists. Fields at their defaults are left out."""
        return {"type": type(self).__name__.lower(), **Record.to_dict(self)}


@dataclass(frozen=True, slots=True)
class Driven(JointDef):
    """What joints with one free coordinate have. Torques [N m] for a hinge, forces [N] for the others.

    limits : (low, high) of the coordinate [rad or m]; either may be infinite. What arrives there stops.
    stiffness, damping, rest : a spring [N m/rad or N/m], a damper [N m s/rad or N s/m], and where the spring is slack.
    friction : the largest torque or force of dry friction.
    armature : moment of inertia of a rotor geared to the coordinate, as its other side sees it [kg m^2 or kg].
    reference : the coordinate of the pose in which the joint is made [rad or m].
    motor_speed : the speed that the motor keeps [rad/s or m/s], with at most ``motor_torque`` or ``motor_force``.
    """

    # in units, {x} is that of the coordinate and {f} that of what acts along it
    limits: tuple[float, float] | None = checked(
        check_limits, None, "ends", unit="{x}", told="lowest and highest value of the joint's coordinate"
    )
    stiffness: float = number(0.0, "{f}/{x}", "stiffness of a spring along the coordinate", least=0)
    damping: float = number(0.0, "{f} s/{x}", "damping along the coordinate", least=0)
    rest: float | None = number(None, "{x}", "coordinate at which the spring gives no force")
    friction: float = number(0.0, "{f}", "largest force or torque of dry friction in the joint", least=0)
    motor_speed: float = number(0.0, "{x}/s", "speed that the motor keeps")
    armature: float = number(0.0, "", "inertia of a motor's rotor, felt along the coordinate: kg m^2, or kg", least=0)
    reference: float = number(0.0, "{x}", "value of the coordinate at the start; by default 0")

    @property
    def motor(self) -> float:
        """The largest torque or force of the motor."""
        return getattr(self, MOTOR[type(self).__name__])


ANCHOR = vector(ORIGIN, "m", "place of the joint in the world at the start")
FIXED_AT = "place in the world at the start where it is fixed to the body"
AXIS_THERE = "direction of its axis in the world at the start"
AXIS = direction((0.0, 0.0, 1.0), AXIS_THERE)
STRONGEST = "largest force or torque of the motor"
FORCE = number(0.0, "{f}", STRONGEST, least=0)
MOTOR = dict.fromkeys(("Slider", "Distance", "General", "Drive", "Wheel"), "motor_force") | {"Hinge": "motor_torque"}


@spelled
@dataclass(frozen=True, slots=True)
class Point(JointDef):
    """A ball joint: two bodies share the point ``anchor`` (3,) [m]. ``friction``: largest torque against turning [N m]."""

    anchor: Numbers = ANCHOR
    friction: float = number(0.0, "N m", "largest torque of dry friction in the joint", least=0)


@spelled
@dataclass(frozen=True, slots=True)
class Hinge(Driven):
    """Two bodies turn about the axis ``axis`` through ``anchor`` (3,) [m]; ``angle`` is that of b against a [rad]."""

    anchor: Numbers = ANCHOR
    axis: Numbers = AXIS
    motor_torque: float = number(0.0, "{f}", STRONGEST, least=0)


@spelled
@dataclass(frozen=True, slots=True)
class Slider(Driven):
    """b slides on a along ``axis``, without turning; its forces act at ``anchor`` of b."""

    anchor: Numbers = ANCHOR
    axis: Numbers = AXIS
    motor_force: float = FORCE


@spelled
@dataclass(frozen=True, slots=True)
class Fixed(JointDef):
    """Two bodies are as one. The impulse of the joint is that at ``anchor`` (3,) [m]."""

    anchor: Numbers = ANCHOR


@spelled
@dataclass(frozen=True, slots=True)
class Distance(Driven):
    """The distance between ``anchor_a`` of a and ``anchor_b`` of b (3,) [m].

    As it stands a massless rod of length ``length``, by default the distance at which the joint is made. With ``limits``, a
    spring, friction or a motor the distance is free within them: limits=(0, 2) is a rope of 2 m, stiffness=100 a spring.
    """

    anchor_a: Numbers = vector(ORIGIN, "m", FIXED_AT)
    anchor_b: Numbers = vector(ORIGIN, "m", FIXED_AT)
    length: float | None = number(None, "m", "length of a rigid rod; by default the distance at the start", above=0)
    motor_force: float = FORCE

    def __post_init__(self) -> None:
        Driven.__post_init__(self)
        if self.reference != 0.0:
            raise InputError("reference", self.reference, "is not for a distance, which is counted from zero")
        if self.length is not None and not self.rigid:
            raise InputError("length", self.length, "is that of a rigid rod; a spring has rest, a rope has limits")

    @property
    def rigid(self) -> bool:
        """A rod: nothing was said that needs its length to be free."""
        return self.limits is None and not (self.stiffness or self.damping or self.friction or self.motor_force or self.armature)


DRIVEN = "coordinate along which limits, spring and motor act"
COORDINATES = ("x", "y", "z", "turn_x", "turn_y", "turn_z")


def _free(name: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or any(each not in COORDINATES for each in value):
        raise InputError(name, plain_value(value), f"must be a list of some of {', '.join(COORDINATES)}")
    return tuple(each for each in COORDINATES if each in value)


@spelled
@dataclass(frozen=True, slots=True)
class General(Driven):
    """Any choice of travels and turns is free: ``free`` names them, of "x", "y", "z", "turn_x", "turn_y", "turn_z".

    The axes are ``axis``, the x axis, and ``axis_y``, perpendicular to it; left out, any. Travels are those of ``anchor`` of b
    along the axes of a. Turns follow each other about x, then about the y axis so turned, then about z; the middle one stays
    within 90 degrees. ``driven`` names the free coordinate that limits, spring, friction, armature and motor are about; more are
    driven by a :class:`Drive` each. ``reverse``: that coordinate counts the other way. ``motor_force``: [N], or [N m] of a turn.
    """

    anchor: Numbers = ANCHOR
    axis: Numbers = direction((1.0, 0.0, 0.0), "x axis of the joint, in the world at the start")
    axis_y: Numbers | None = direction(None, "y axis of the joint, perpendicular to its x axis")
    free: tuple[str, ...] = checked(
        _free, (), "texts", choices=COORDINATES,
        told="coordinates in which the bodies can move against each other; the others are held",
    )  # fmt: skip
    driven: str | None = checked(None, None, choices=COORDINATES, told=DRIVEN)
    reverse: bool = flag(told="true: the driven coordinate counts in the opposite direction")
    motor_force: float = FORCE

    def __post_init__(self) -> None:
        Driven.__post_init__(self)
        if self.axis_y is not None:
            _perpendicular("axis_y", self.axis, self.axis_y)
        if self.driven is not None and self.driven not in self.free:
            raise InputError(
                "driven", self.driven, f"must be a coordinate that is free: {', '.join(self.free) or 'there is none'}"
            )
        if self.driven is None and self.acts:
            raise InputError(
                "driven", None, f"must say which coordinate is meant by limits, spring, motor: {', '.join(self.free)}"
            )

    @property
    def acts(self) -> bool:
        """Something is said of a driven coordinate."""
        soft = self.stiffness or self.damping or self.friction or self.armature
        return bool(self.limits is not None or soft or self.motor_force)


@spelled
@dataclass(frozen=True, slots=True)
class Drive(General):
    """Limits, spring, friction, armature, motor along one coordinate ``driven`` of b against a, which other joints leave free.

    It holds nothing by itself. Axes and coordinates are those of :class:`General`; all of them are free.
    """

    free: tuple[str, ...] = checked(_free, COORDINATES)
    driven: str | None = checked(None, "turn_x", choices=COORDINATES, told=DRIVEN)

    def __post_init__(self) -> None:
        General.__post_init__(self)
        if self.free != COORDINATES or self.driven is None:
            raise InputError(
                "free", plain_value(self.free), "is not for a drive, which leaves all free; a general joint holds some"
            )


@spelled
@dataclass(frozen=True, slots=True)
class Wheel(General):
    """A wheel b on a suspended axle of a: it turns about ``axis`` and travels along ``axis_y``, up in the world if left out.

    Limits, stiffness, damping, rest are those of the travel. A motor of the wheel is ``Drive(a, b, driven="turn_x", ...)``.
    """

    free: tuple[str, ...] = checked(_free, ("y", "turn_x"))
    driven: str | None = "y"

    def __post_init__(self) -> None:
        if self.axis_y is None:
            self._put("axis_y", (0.0, 0.0, 1.0))
        General.__post_init__(self)
        if self.free != ("y", "turn_x") or self.driven != "y":
            raise InputError("free", plain_value(self.free), "is not for a wheel: it travels along axis_y and turns about axis")


@spelled
@dataclass(frozen=True, slots=True)
class Universal(JointDef):
    """Two bodies share the point ``anchor`` and turn about two axes: ``axis`` of a, and ``axis_b`` of b, perpendicular to it."""

    anchor: Numbers = ANCHOR
    axis: Numbers = direction((1.0, 0.0, 0.0), AXIS_THERE)
    axis_b: Numbers = direction((0.0, 0.0, 1.0), "axis in body b, perpendicular to axis, which is the one in body a")

    def __post_init__(self) -> None:
        JointDef.__post_init__(self)
        _perpendicular("axis_b", self.axis, self.axis_b)


def _check_teeth(name: str, value: Any) -> None:
    if isinstance(value, bool) or not hasattr(value, "__index__") or int(value) == 0:
        raise InputError(name, value, "must be a whole number of teeth, negative for a ring")


@spelled
@dataclass(frozen=True, slots=True)
class Gear(JointDef):
    """Wheels of ``teeth_a`` and ``teeth_b`` teeth that roll on each other; negative teeth: toothed on the inside, a ring.

    ``center_a``, ``center_b`` (3,) [m]: the middles of the wheels; ``axis_a``, ``axis_b``: about which they turn, parallel or not
    (bevel gears). What carries the wheels are joints of their own, to any carrier, which may move. They mesh as they stand.
    """

    center_a: Numbers = vector(ORIGIN, "m", "centre of wheel a")
    center_b: Numbers = vector(ORIGIN, "m", "centre of wheel b")
    axis_a: Numbers = direction((0.0, 0.0, 1.0), "axis about which wheel a turns")
    axis_b: Numbers = direction((0.0, 0.0, 1.0), "axis about which wheel b turns")
    teeth_a: int = checked(None, 0, "whole", told="number of teeth of wheel a; negative for a ring with teeth inside")
    teeth_b: int = checked(None, 0, "whole", told="number of teeth of wheel b; negative for a ring with teeth inside")

    def __post_init__(self) -> None:
        JointDef.__post_init__(self)
        _check_teeth("teeth_a", self.teeth_a)
        _check_teeth("teeth_b", self.teeth_b)
        pitch_radii(self)

    @property
    def anchor(self) -> tuple[float, float, float]:
        """The middle of wheel b, for pictures."""
        return self.center_b


@spelled
@dataclass(frozen=True, slots=True)
class Screw(JointDef):
    """b moves along ``axis`` of a by ``pitch`` [m] in each turn about it; negative: a left-hand thread.

    It is the thread alone: bolt and nut are guided by joints of their own, such as General(free=("z", "turn_z")).
    """

    anchor: Numbers = ANCHOR
    axis: Numbers = AXIS
    pitch: float = number(0.0, "m", "way along the axis in one turn; negative for a left-hand thread")

    def __post_init__(self) -> None:
        JointDef.__post_init__(self)
        if self.pitch == 0.0:
            raise InputError("pitch", self.pitch, "must not be zero: then the nut would not travel")


def _perpendicular(name: str, a: tuple[float, ...], b: tuple[float, ...]) -> None:
    if abs(sum(x * y for x, y in zip(a, b, strict=True))) > 1e-9 * math.hypot(*a) * math.hypot(*b):
        raise InputError(name, plain_value(b), f"must be perpendicular to {plain_value(a)}")


def pitch_radii(gear: Gear) -> tuple[float, float]:
    """Pitch radii [m] of both wheels, with the signs of their teeth against the line of centres."""
    na, nb = int(gear.teeth_a), int(gear.teeth_b)
    ea, eb = (np.array(v) / math.hypot(*v) for v in (gear.axis_a, gear.axis_b))
    d = np.array(gear.center_b) - gear.center_a
    u, w = d - (d @ ea) * ea, -d + (d @ eb) * eb
    far = np.linalg.norm(u), np.linalg.norm(w)
    if min(far) <= 1e-9 * (1e-300 + np.linalg.norm(d)) or na + nb == 0:
        raise InputError(
            "center_b", plain_value(gear.center_b), "must be off the axis of a, and a ring must be larger than its wheel"
        )
    u, w = u / far[0], w / far[1]
    if np.linalg.norm(np.cross(ea, eb)) < 1e-9:
        return far[0] * na / (na + nb), far[0] * nb / (na + nb)
    (ra, rb), off = (found := np.linalg.lstsq(np.column_stack((u, -w)), d, rcond=None))[0], found[1]
    if (len(off) and off[0] > 1e-18 * (d @ d)) or abs(ra * nb - rb * na) > 1e-6 * abs(ra * nb):
        raise InputError(
            "center_b",
            plain_value(gear.center_b),
            f"does not fit {na}:{nb} teeth: where the wheels meet, their radii are {ra:g}:{rb:g} m",
        )
    return float(ra), float(rb)


JOINT_KINDS = (Point, Hinge, Slider, Fixed, Distance, Universal, General, Drive, Wheel, Gear, Screw)
JOINTS = {cls.__name__.lower(): cls for cls in JOINT_KINDS}


def joint_from_dict(data: dict[str, Any]) -> JointDef:
    """The inverse of ``to_dict``."""
    made, values = typed_values(data, JOINTS)
    return made(**values)
