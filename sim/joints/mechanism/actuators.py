"""Actuators: named inputs that act along the coordinates of joints, ``world.controls["elbow"] = 0.3``.

The force of an actuator is gain u + bias[0] + bias[1] x + bias[2] x', u its control, x = gear q its length; the joint feels gear
times that (MuJoCo's affine actuators). What is constant becomes a motor of the joint, what is proportional to position and speed
its spring and damper, which the step takes implicitly. Forces that are held within a range, or that follow several joints, can
not be split so. Joints act at the end of the step: so before each step these are worked out for where the coordinate will be
then, by its speed and by how much that changed in the last step, which makes them of order 2.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from tumble.collision.errors import InputError, check_number
from tumble.sim.checks import Record, check_fields, check_times, checked, number, numbers, plain_value
from tumble.sim.joints.joint_definitions import Driven, check_limits
from tumble.sim.joints.joint_tables import coordinate, spring_slack
from tumble.sim.joints.mechanism.instruments import named
from tumble.sim.ledger.entries import EXTERNAL

if TYPE_CHECKING:
    from tumble.sim.world.world import World

ALL_FORCE_SPEED = 1e9  # [rad/s or m/s] a motor that is to be so fast never gets there, so it gives all its force


def _bias(name: str, value: Any) -> tuple[float, ...]:
    if len(value) != 3:
        raise InputError(name, plain_value(value), "must be three numbers: constant, by length, by speed")
    return tuple(check_number(name, x) for x in value)


@dataclass(frozen=True, slots=True)
class Actuator(Record):
    """What drives a joint: a motor (as it stands), or a servo by its ``bias``.

    joint : name of a joint with a driven coordinate q. With a ``tendon``, names of more joints, q is the sum of all of theirs
        times ``coefficients``, one for each, and each joint feels its part.
    gain : force by control [N or N m]; gear : how much its length changes by q.
    bias : (3,) constant force, by length, by speed: a servo of stiffness k is gain=k, bias=(0, -k, 0).
    control_range, force_range : what controls and forces are held within.
    times, controls : (k,) [s] rising, and (k,): its control is linear between these, and that of the first and the last outside
        of them.
    """

    name: str = named("name of its control, which no other actuator has")
    joint: str = named("the joint that it drives")
    gain: float = number(1.0, told="force for each unit of the control; by default 1")
    gear: float = number(1.0, told="change of its length for each unit of the joint's coordinate; by default 1")
    bias: tuple[float, float, float] = checked(
        _bias, (0.0, 0.0, 0.0), "vector",
        told="force added: constant, by length, by speed; a servo of stiffness k has gain k and bias [0, -k, 0]",
    )  # fmt: skip
    control_range: tuple[float, float] | None = checked(
        check_limits, None, "ends", told="lowest and highest value of the control"
    )
    force_range: tuple[float, float] | None = checked(check_limits, None, "ends", told="lowest and highest value of the force")
    times: tuple[float, ...] | None = checked(
        None, None, "numbers", unit="s", told="times, rising; by default the control is set while the world runs"
    )
    controls: tuple[float, ...] | None = checked(
        None, None, "numbers", told="values of the control at these times: linear in between, constant before and after"
    )
    tendon: tuple[str, ...] = checked(None, (), "texts", told="names of further joints whose coordinates add to its length")
    coefficients: tuple[float, ...] = numbers(
        (), "factors of these coordinates: first that of the joint, then those of the tendon"
    )

    def __post_init__(self) -> None:
        Record.__post_init__(self)
        if self.gear == 0.0:
            raise InputError("gear", self.gear, "must not be zero: the joint would feel nothing")
        self._check_tendon()
        if self.times is None and self.controls is None:
            return
        for name in ("times", "controls"):
            if not hasattr(getattr(self, name), "__len__"):
                raise InputError(
                    name, plain_value(getattr(self, name)), "must be a list of numbers, as long as that of the other"
                )
            self._put(name, tuple(check_number(name, x) for x in getattr(self, name)))
        if len(self.times) != len(self.controls) or not self.times:
            raise InputError("controls", len(self.controls), f"must be {len(self.times)} numbers, one for each time")
        check_times("times", self.times, "must be rising", least=1)

    def _check_tendon(self) -> None:
        if isinstance(self.tendon, str) or not all(isinstance(name, str) and name for name in self.tendon):
            raise InputError("tendon", plain_value(self.tendon), "must be a list of names of joints")
        self._put("tendon", tuple(self.tendon))
        if len(set(self.joints)) < len(self.joints):
            raise InputError("tendon", plain_value(self.tendon), "must name each joint once, beside that of the actuator")
        if self.coefficients and len(self.coefficients) != len(self.joints):
            hint = f"must be {len(self.joints)} numbers: for {', '.join(self.joints)}"
            raise InputError("coefficients", plain_value(self.coefficients), hint)

    @property
    def joints(self) -> tuple[str, ...]:
        """The names of all joints that it drives."""
        return (self.joint, *self.tendon)

    @property
    def parts(self) -> dict[str, float]:
        """How much the coordinate of each joint counts."""
        return dict(zip(self.joints, self.coefficients or (1.0,) * len(self.joints), strict=True))

    def planned(self, time: float) -> float:
        """Its control at a time [s], where it has ``times``."""
        k = bisect_right(self.times, time)
        if k == 0 or k == len(self.times):
            return self.controls[max(k - 1, 0)]
        (a, b), (x, y) = self.times[k - 1 : k + 1], self.controls[k - 1 : k + 1]
        return x + (y - x) * (time - a) / (b - a)

    @property
    def implicit(self) -> bool:
        """Its part by position and speed may be a spring and a damper of the joint."""
        if self.tendon and (self.bias[1] or self.bias[2]):
            return False
        return self.force_range is None and self.bias[1] <= 0.0 and self.bias[2] <= 0.0

    def force(self, control: float, position: float, speed: float) -> float:
        """[N or N m] on the coordinate of the joint, or on that of the tendon."""
        f = self.gain * control + self.bias[0] + self.gear * (self.bias[1] * position + self.bias[2] * speed)
        if self.force_range is not None:
            f = min(max(f, self.force_range[0]), self.force_range[1])
        return self.gear * f

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Actuator:
        """The inverse of ``to_dict``."""
        check_fields(data, (f.name for f in fields(cls)), "an actuator")
        return cls(**data)


class Controls(MutableMapping):
    """The controls of a world by the names of its actuators: numbers, zero at the start. Held within their ranges when set.

    ``controls["elbow"] = 0.3`` sets one, ``controls[:] = array`` all in their order.
    """

    def __init__(self, world: World):
        self._world = world
        self.actuators: dict[str, Actuator] = {}
        self.seen: dict[str, tuple[int, float, float]] = {}  # step, speed there, and its change since the one before
        self._values: dict[str, float] = {}

    def add(self, actuator: Actuator) -> None:
        for name in actuator.joints:
            joint = next((j for j in self._world.joints if j.name == name), None)
            if joint is None or not isinstance(joint.definition, Driven):
                known = [j.name for j in self._world.joints if isinstance(j.definition, Driven)]
                raise InputError("joint", name, f"must be one with a coordinate that is driven: {', '.join(known) or 'none'}")
            if joint.definition.motor > 0.0:
                raise InputError("joint", name, "has a motor of its own, which an actuator would take the place of")
        if actuator.name in self.actuators:
            raise InputError("name", actuator.name, "is taken by another actuator of the world")
        self.actuators[actuator.name] = actuator
        self._values[actuator.name] = 0.0
        if actuator.times is not None:
            self._put(actuator.name, actuator.planned(self._world.time))
        for name in actuator.joints:
            self._apply(name)

    def __getitem__(self, name: str) -> float:
        if name not in self.actuators:
            raise KeyError(f"no actuator has the name {name!r}; there are {', '.join(self.actuators) or 'none'}")
        return self._values[name]

    def __setitem__(self, name: str | slice, value: Any) -> None:
        if isinstance(name, slice):  # of all, in their order
            names = list(self.actuators)[name]
            if not hasattr(value, "__len__") or len(value) != len(names):
                raise InputError("controls", plain_value(value), f"must be {len(names)} numbers, one for each actuator")
            for one, x in zip(names, value, strict=True):
                self[one] = x
            return
        if name not in self.actuators:
            raise InputError("controls", name, f"there is no such actuator; there are {', '.join(self.actuators) or 'none'}")
        if self.actuators[name].times is not None:
            raise InputError("controls", name, "goes by its times: it can not be set")
        self._put(name, check_number(f"controls[{name!r}]", value))
        for joint in self.actuators[name].joints:
            self._apply(joint)

    def _put(self, name: str, value: float) -> None:
        held = self.actuators[name].control_range
        self._values[name] = value if held is None else min(max(value, held[0]), held[1])

    def __delitem__(self, name: str) -> None:
        raise InputError("controls", name, "an actuator stays as long as its joint")

    def __iter__(self) -> Iterator[str]:
        return iter(self.actuators)

    def __len__(self) -> int:
        return len(self.actuators)

    def forces(self) -> dict[str, float]:
        """What each actuator gives to the coordinate of its joint, or of its tendon, now [N or N m], by name."""
        return {name: self._force(actuator) for name, actuator in self.actuators.items()}

    def _force(self, actuator: Actuator) -> float:
        return actuator.force(self._values[actuator.name], *self._motion(actuator))

    def _motion(self, actuator: Actuator) -> tuple[float, float]:
        """Position and speed of the coordinate that it acts along."""
        joints = {joint.name: joint for joint in self._world.joints if joint.name in actuator.joints}
        position, speed = (
            sum(c * getattr(joints[name], of) for name, c in actuator.parts.items()) for of in ("position", "speed")
        )
        return position, speed

    def _coming_force(self, actuator: Actuator) -> float:
        """What it gives at the end of the coming step, at which joints act."""
        dt, now, (position, speed) = self._world.dt, self._world.step_count, self._motion(actuator)
        step, last, change = self.seen.get(actuator.name, (-2, 0.0, 0.0))
        if step != now:
            change = speed - last if step == now - 1 else 0.0
        self.seen[actuator.name] = now, speed, change
        return actuator.force(self._values[actuator.name], position + dt * (speed + 0.5 * change), speed + change)

    @property
    def explicit(self) -> bool:
        """Some forces must be worked out before each step."""
        return any(not a.implicit or a.times is not None for a in self.actuators.values())

    def forget(self, joint: str) -> None:
        """A joint is gone, and what drove it."""
        gone = [a for a in self.actuators.values() if joint in a.joints]
        for actuator in gone:
            del self.actuators[actuator.name], self._values[actuator.name]
            self.seen.pop(actuator.name, None)
        for other in {name for actuator in gone for name in actuator.joints} - {joint}:
            self._apply(other)

    def drives(self, joint: str) -> bool:
        """An actuator acts on this joint."""
        return any(joint in a.joints for a in self.actuators.values())

    def take(self, values: dict[str, float], seen: dict[str, tuple[int, float, float]]) -> None:
        """Controls as they were when the arrays of the world were taken, which hold what they do."""
        self._values, self.seen = {name: values[name] for name in self.actuators}, dict(seen)

    def renew(self, joint: str) -> None:
        """The spring or damper of a joint was changed; what acts on it besides stays."""
        if self.drives(joint):
            self._apply(joint)

    def refresh(self, ahead: bool = True) -> None:
        """Work out forces that depend on the state, and controls that depend on the time: joints act at the end of the step.

        Not ``ahead``: as they are now, for the kick that begins the motion.
        """
        for actuator in self.actuators.values():
            if actuator.times is not None:
                self._put(actuator.name, actuator.planned(self._world.time + (self._world.dt if ahead else 0.0)))
        changing = [a for a in self.actuators.values() if not a.implicit or a.times is not None]
        for joint in dict.fromkeys(name for a in changing for name in a.joints):
            self._apply(joint, ahead)

    def _apply(self, name: str, ahead: bool = False) -> None:
        """Write what all actuators of a joint give into its spring, damper and motor."""
        joint = next(j for j in self._world.joints if j.name == name)
        d, table, j = joint.definition, self._world.model.joints, joint.index
        k, c, pull, push = d.stiffness, d.damping, d.stiffness * (spring_slack(d) + d.reference), 0.0
        for actuator in self.actuators.values():
            if name not in actuator.joints:
                continue
            part = actuator.parts[name]
            u, g = self._values[actuator.name], actuator.gear * part
            if actuator.implicit:
                k -= g * g * actuator.bias[1]
                c -= g * g * actuator.bias[2]
                push += g * (actuator.gain * u + actuator.bias[0])
            else:
                push += part * (self._coming_force(actuator) if ahead else self._force(actuator))
        potential = 0.0 if self._world._changed_at is not None else self._stored(j)
        if k > 0.0:  # a constant force moves the point at which the spring is slack
            pull, push = pull + push, 0.0
            table.rest[j] = pull / k - d.reference
        table.stiffness[j], table.damping[j] = k, c
        table.strength[j], table.speed[j] = abs(push), math.copysign(ALL_FORCE_SPEED, push)
        if self._world._changed_at is None:  # whoever moves the end of a spring does work on it
            work = self._stored(j) - potential
            self._world.model.books.energy[EXTERNAL] += work
            table.potential[j] += work

    def _stored(self, j: int) -> float:
        """Energy of the spring of a joint [J]."""
        model = self._world.model
        k = float(model.joints.stiffness[j])
        return 0.5 * k * (coordinate(model, j) - float(model.joints.rest[j])) ** 2 if k > 0.0 else 0.0
