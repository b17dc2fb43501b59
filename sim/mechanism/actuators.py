"""Actuators: named inputs that act along the coordinates of joints, ``world.controls["elbow"] = 0.3``.

The force of an actuator is gain u + bias[0] + bias[1] x + bias[2] x', u its control, x = gear q its length; the joint feels gear
times that (MuJoCo's affine actuators). What is constant becomes a motor of the joint, what is proportional to position and speed
its spring and damper, which the step takes implicitly. Forces that are held within a range can not be split so: they are worked
out anew before each step, and kept for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from collision.errors import InputError, check_number
from sim.checks import plain
from sim.joints.definitions import Driven, check_limits
from sim.joints.tables import coordinate, slack
from sim.ledger import EXTERNAL

if TYPE_CHECKING:
    from sim.world import World

FAST = 1e9  # [rad/s or m/s] the speed that a motor would keep if it could: it gives all its force


@dataclass(frozen=True, slots=True)
class Actuator:
    """What drives a joint: a motor (as it stands), or a servo by its ``bias``.

    joint : name of a joint with a driven coordinate q.
    gain : force by control [N or N m]; gear : how much its length changes by q.
    bias : (3,) constant force, by length, by speed: a servo of stiffness k is gain=k, bias=(0, -k, 0).
    control_range, force_range : what controls and forces are held within.
    """

    name: str
    joint: str
    gain: float = 1.0
    gear: float = 1.0
    bias: tuple[float, float, float] = (0.0, 0.0, 0.0)
    control_range: tuple[float, float] | None = None
    force_range: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        put = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731  the record is frozen
        for name in ("name", "joint"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name):
                raise InputError(name, getattr(self, name), "must be a text")
        for name in ("gain", "gear"):
            put(name, check_number(name, getattr(self, name)))
        if self.gear == 0.0:
            raise InputError("gear", self.gear, "must not be zero: the joint would feel nothing")
        if len(self.bias) != 3:
            raise InputError("bias", plain(self.bias), "must be three numbers: constant, by length, by speed")
        put("bias", tuple(check_number("bias", x) for x in self.bias))
        for name in ("control_range", "force_range"):
            if getattr(self, name) is not None:
                put(name, check_limits(name, getattr(self, name)))

    @property
    def implicit(self) -> bool:
        """Its part by position and speed may be a spring and a damper of the joint."""
        return self.force_range is None and self.bias[1] <= 0.0 and self.bias[2] <= 0.0

    def force(self, control: float, position: float, speed: float) -> float:
        """[N or N m] on the coordinate of the joint."""
        f = self.gain * control + self.bias[0] + self.gear * (self.bias[1] * position + self.bias[2] * speed)
        if self.force_range is not None:
            f = min(max(f, self.force_range[0]), self.force_range[1])
        return self.gear * f

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and texts; fields at their defaults are left out."""
        values = {f.name: (getattr(self, f.name), f.default) for f in fields(self)}
        return {name: plain(value) for name, (value, default) in values.items() if value != default}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Actuator:
        """The inverse of ``to_dict``."""
        known = [f.name for f in fields(cls)]
        for key in data:
            if key not in known:
                raise InputError(key, data[key], f"unknown field; an actuator has {', '.join(known)}")
        return cls(**data)


class Controls(MutableMapping):
    """The controls of a world by the names of its actuators: numbers, zero at the start. Held within their ranges when set."""

    def __init__(self, world: World):
        self._world = world
        self.actuators: dict[str, Actuator] = {}
        self._values: dict[str, float] = {}

    def add(self, actuator: Actuator) -> None:
        joint = next((j for j in self._world.joints if j.name == actuator.joint), None)
        if joint is None or not isinstance(joint.definition, Driven):
            known = [j.name for j in self._world.joints if isinstance(j.definition, Driven)]
            raise InputError(
                "joint", actuator.joint, f"must be one with a coordinate that is driven: {', '.join(known) or 'none'}"
            )
        if joint.definition.motor > 0.0:
            raise InputError("joint", actuator.joint, "has a motor of its own, which an actuator would take the place of")
        if actuator.name in self.actuators:
            raise InputError("name", actuator.name, "is taken by another actuator of the world")
        self.actuators[actuator.name] = actuator
        self._values[actuator.name] = 0.0
        self._apply(actuator.joint)

    def __getitem__(self, name: str) -> float:
        if name not in self.actuators:
            raise KeyError(f"no actuator has the name {name!r}; there are {', '.join(self.actuators) or 'none'}")
        return self._values[name]

    def __setitem__(self, name: str, value: float) -> None:
        if name not in self.actuators:
            raise InputError("controls", name, f"there is no such actuator; there are {', '.join(self.actuators) or 'none'}")
        value = check_number(f"controls[{name!r}]", value)
        held = self.actuators[name].control_range
        self._values[name] = value if held is None else min(max(value, held[0]), held[1])
        self._apply(self.actuators[name].joint)

    def __delitem__(self, name: str) -> None:
        raise InputError("controls", name, "an actuator stays as long as its joint")

    def __iter__(self) -> Iterator[str]:
        return iter(self.actuators)

    def __len__(self) -> int:
        return len(self.actuators)

    @property
    def explicit(self) -> bool:
        """Some forces must be worked out before each step."""
        return any(not a.implicit for a in self.actuators.values())

    def forget(self, joint: str) -> None:
        """A joint is gone."""
        for name in [n for n, a in self.actuators.items() if a.joint == joint]:
            del self.actuators[name], self._values[name]

    def drives(self, joint: str) -> bool:
        """An actuator acts on this joint."""
        return any(a.joint == joint for a in self.actuators.values())

    def take(self, values: dict[str, float]) -> None:
        """Controls as they were when the arrays of the world were taken, which hold what they do."""
        self._values = {name: values[name] for name in self.actuators}

    def renew(self, joint: str) -> None:
        """The spring or damper of a joint was changed; what acts on it besides stays."""
        if self.drives(joint):
            self._apply(joint)

    def refresh(self) -> None:
        """Work out forces that depend on the state."""
        for joint in {a.joint for a in self.actuators.values() if not a.implicit}:
            self._apply(joint)

    def _apply(self, name: str) -> None:
        """Write what all actuators of a joint give into its spring, damper and motor."""
        joint = next(j for j in self._world.joints if j.name == name)
        d, table, j = joint.definition, self._world.model.joints, joint.index
        k, c, pull, push = d.stiffness, d.damping, d.stiffness * (slack(d) + d.reference), 0.0
        for actuator in self.actuators.values():
            if actuator.joint != name:
                continue
            u, g = self._values[actuator.name], actuator.gear
            if actuator.implicit:
                k -= g * g * actuator.bias[1]
                c -= g * g * actuator.bias[2]
                push += g * (actuator.gain * u + actuator.bias[0])
            else:
                push += actuator.force(u, joint.position, joint.speed)
        potential = 0.0 if self._world._changed_at is not None else self._stored(j)
        if k > 0.0:  # a constant force moves the point at which the spring is slack
            pull, push = pull + push, 0.0
            table.rest[j] = pull / k - d.reference
        table.stiffness[j], table.damping[j] = k, c
        table.strength[j], table.speed[j] = abs(push), math.copysign(FAST, push)
        if self._world._changed_at is None:  # whoever moves the end of a spring does work on it
            work = self._stored(j) - potential
            self._world.model.books.energy[EXTERNAL] += work
            table.potential[j] += work

    def _stored(self, j: int) -> float:
        """Energy of the spring of a joint [J]."""
        model = self._world.model
        k = float(model.joints.stiffness[j])
        return 0.5 * k * (coordinate(model, j) - float(model.joints.rest[j])) ** 2 if k > 0.0 else 0.0
