"""What a joint is before it lives in a world: one frozen record for each kind, checked field by field.

Anchors and axes are given in the world, at the poses in which the bodies stand when the joint is made; the coordinate of a
joint (angle of a hinge, travel of a slider) is zero there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any

from collision.errors import check_number, check_vector
from sim.checks import plain
from sim.errors import InputError

ZERO = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class JointDef:
    """What all joints have: two bodies, by name or as a ``Body``; None is the world.

    name : unique in a scene; given by the scene where it is left empty.
    collide : the two bodies also touch each other; False lets them overlap.
    """

    a: str | None = None
    b: str | None = None
    name: str = ""
    collide: bool = False

    def __post_init__(self) -> None:
        for side in ("a", "b"):
            body = getattr(self, side)
            if body is not None and not isinstance(body, str):
                body = getattr(body, "name", body)
                if not isinstance(body, str):
                    raise InputError(side, body, "must be a body, the name of one, or None for the world")
                self._put(side, body)
        if self.a == self.b:
            hint = "one of them must be a body" if self.a is None else "a joint needs two different bodies"
            raise InputError("b", self.b, hint)
        if not isinstance(self.name, str):
            raise InputError("name", self.name, "must be a text")
        if not isinstance(self.collide, bool):
            raise InputError("collide", self.collide, "must be true or false")

    def _put(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _vector(self, name: str, direction: bool = False) -> None:
        value = check_vector(name, getattr(self, name))
        if direction and not math.hypot(*value) > 0.0:
            raise InputError(name, plain(getattr(self, name)), "must have a length: it is a direction")
        self._put(name, value)

    def replace(self, **changes: Any) -> JointDef:
        """A copy with some fields changed, checked again."""
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, texts and lists. Fields at their defaults are left out."""
        out: dict[str, Any] = {"type": type(self).__name__.lower()}
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                out[field.name] = plain(value)
        return out


@dataclass(frozen=True, slots=True)
class Driven(JointDef):
    """What joints with one free coordinate have. Torques [N m] for a hinge, forces [N] for the others.

    limits : (low, high) of the coordinate [rad or m]; either may be infinite. What arrives there stops.
    stiffness, damping, rest : a spring [N m/rad or N/m], a damper [N m s/rad or N s/m], and where the spring is slack.
    friction : the largest torque or force of dry friction.
    motor_speed : the speed that the motor keeps [rad/s or m/s], with at most ``motor_torque`` or ``motor_force``.
    """

    limits: tuple[float, float] | None = None
    stiffness: float = 0.0
    damping: float = 0.0
    rest: float | None = None
    friction: float = 0.0
    motor_speed: float = 0.0

    def __post_init__(self) -> None:
        JointDef.__post_init__(self)
        for name in ("stiffness", "damping", "friction"):
            self._put(name, check_number(name, getattr(self, name), least=0))
        self._put("motor_speed", check_number("motor_speed", self.motor_speed))
        if self.rest is not None:
            self._put("rest", check_number("rest", self.rest))
        if self.limits is not None:
            self._put("limits", check_limits("limits", self.limits))

    @property
    def motor(self) -> float:
        """The largest torque or force of the motor."""
        return getattr(self, MOTOR[type(self).__name__])


MOTOR = {"Hinge": "motor_torque", "Slider": "motor_force", "Distance": "motor_force"}


def check_limits(name: str, value: object) -> tuple[float, float]:
    """(low, high) with low < high; infinite ends are allowed."""
    hint = "must be two numbers (low, high) with low < high"
    try:
        low, high = (float(x) for x in value)
    except (TypeError, ValueError):
        raise InputError(name, value, hint) from None
    if not low < high:
        raise InputError(name, plain(value), hint)
    return low, high


@dataclass(frozen=True, slots=True)
class Point(JointDef):
    """A ball joint: two bodies share the point ``anchor`` (3,) [m]. ``friction``: largest torque against turning [N m]."""

    anchor: tuple[float, float, float] = ZERO
    friction: float = 0.0

    def __post_init__(self) -> None:
        JointDef.__post_init__(self)
        self._vector("anchor")
        self._put("friction", check_number("friction", self.friction, least=0))


@dataclass(frozen=True, slots=True)
class Hinge(Driven):
    """Two bodies turn about the axis ``axis`` through ``anchor`` (3,) [m]; ``angle`` is that of b against a [rad]."""

    anchor: tuple[float, float, float] = ZERO
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    motor_torque: float = 0.0

    def __post_init__(self) -> None:
        Driven.__post_init__(self)
        self._vector("anchor")
        self._vector("axis", direction=True)
        self._put("motor_torque", check_number("motor_torque", self.motor_torque, least=0))


@dataclass(frozen=True, slots=True)
class Slider(Driven):
    """b slides on a along ``axis``, without turning; its forces act at ``anchor`` of b."""

    anchor: tuple[float, float, float] = ZERO
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    motor_force: float = 0.0

    def __post_init__(self) -> None:
        Driven.__post_init__(self)
        self._vector("anchor")
        self._vector("axis", direction=True)
        self._put("motor_force", check_number("motor_force", self.motor_force, least=0))


@dataclass(frozen=True, slots=True)
class Fixed(JointDef):
    """Two bodies are as one. The impulse of the joint is that at ``anchor`` (3,) [m]."""

    anchor: tuple[float, float, float] = ZERO

    def __post_init__(self) -> None:
        JointDef.__post_init__(self)
        self._vector("anchor")


@dataclass(frozen=True, slots=True)
class Distance(Driven):
    """The distance between ``anchor_a`` of a and ``anchor_b`` of b (3,) [m].

    As it stands a massless rod of length ``length``, by default the distance at which the joint is made. With ``limits``, a
    spring, friction or a motor the distance is free within them: limits=(0, 2) is a rope of 2 m, stiffness=100 a spring.
    """

    anchor_a: tuple[float, float, float] = ZERO
    anchor_b: tuple[float, float, float] = ZERO
    length: float | None = None
    motor_force: float = 0.0

    def __post_init__(self) -> None:
        Driven.__post_init__(self)
        self._vector("anchor_a")
        self._vector("anchor_b")
        if self.length is not None:
            self._put("length", check_number("length", self.length, above=0))
            if not self.rigid:
                hint = "is that of a rigid rod; a spring has rest, a rope has limits"
                raise InputError("length", self.length, hint)
        self._put("motor_force", check_number("motor_force", self.motor_force, least=0))

    @property
    def rigid(self) -> bool:
        """A rod: nothing was said that needs its length to be free."""
        return self.limits is None and not (self.stiffness or self.damping or self.friction or self.motor_force)


JOINTS = {cls.__name__.lower(): cls for cls in (Point, Hinge, Slider, Fixed, Distance)}


def joint_from_dict(data: dict[str, Any]) -> JointDef:
    """The inverse of ``to_dict``."""
    kind = data.get("type")
    if kind not in JOINTS:
        raise InputError("type", kind, f"must be one of {', '.join(JOINTS)}")
    cls = JOINTS[kind]
    known = {field.name for field in fields(cls)}
    values = {key: value for key, value in data.items() if key != "type"}
    for key in values:
        if key not in known:
            raise InputError(key, values[key], f"unknown field; a {kind} has {', '.join(sorted(known))}")
    return cls(**values)
