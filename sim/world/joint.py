"""A view of one joint of a world."""

from __future__ import annotations

from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from tumble.collision.errors import InputError, check_number
from tumble.sim.compiled import GLANCE_JOINT
from tumble.sim.joints import joint_tables as tables
from tumble.sim.joints.joint_definitions import MOTOR, Distance, Driven, Hinge
from tumble.sim.world.body import Changing, View

if TYPE_CHECKING:
    from tumble.sim.joints.joint_definitions import JointDef
    from tumble.sim.world.body import Body
    from tumble.sim.world.world import World


class Joint(View):
    """One joint: reads from, and writes to, its row of the world's arrays. ``definition`` is what it was added as."""

    __slots__ = ("_motored", "_seen")

    definition: JointDef

    stiffness = Changing[float]("Of the spring [N m/rad or N/m]; may be changed at any time: what that moves is ``user`` work.")
    damping = Changing[float]("Of the damper [N m s/rad or N s/m]; may be changed while the world runs.")
    rest = Changing[float | None]("Where the spring is slack [rad or m], None: as the joint was made. May be changed likewise.")
    friction = Changing[float]("The largest force or torque of dry friction [N or N m]; may be changed while the world runs.")
    limits = Changing[tuple[float, float] | None]("(low, high) of the coordinate [rad or m], None for none; may be changed.")

    def __init__(self, world: World, index: int, definition: JointDef):
        super().__init__(world, index, definition)
        self._seen: JointDef | None = None  # a definition that has one coordinate
        self._motored: JointDef | None = None  # one that has a motor

    @property
    def kind(self) -> str:
        """ "point", "hinge" ..."""
        return type(self.definition).__name__.lower()

    @property
    def bodies(self) -> tuple[Body | None, Body | None]:
        """The two bodies, a and b; None is the world."""
        a, b = self._world.model.joints.body[self.index]
        return tuple(self._world.bodies[i] if i >= 0 else None for i in (a, b))

    @property
    def anchor(self) -> np.ndarray:
        """(3,) [m] where the joint's forces act, in the world: the anchor of b, of a gear the pitch point."""
        return tables.measured(self._world.model, self.index)[0]

    @property
    def anchors(self) -> np.ndarray:
        """(2, 3) [m] the anchors of a and of b in the world; the same point but for a slider, a distance."""
        placed = tables.joint_frames(self._world.model, self.index)
        return np.array([placed[0], placed[2]])

    @property
    def position(self) -> float:
        """The driven coordinate: angle [rad, turns are counted], travel, length of a distance [m]."""
        definition = self.definition
        if self._seen is not definition:
            self._free("position")
        return self._read()[0] + definition.reference

    @property
    def measures(self) -> bool:
        """It has one coordinate, which ``position`` and ``speed`` read."""
        return isinstance(self.definition, Driven) and (tables.axis_of(self.definition) >= 0 or self.kind == "distance")

    def _free(self, name: str) -> None:
        if not self.measures:
            raise InputError(name, self.name, f"a {self.kind} has no {'driven' if self.kind == 'general' else 'free'} coordinate")
        self._seen = self.definition

    @property
    def angle(self) -> float:
        """Angle of a hinge, b against a [rad]; turns are counted."""
        definition = self.definition
        if not isinstance(definition, Hinge):
            raise InputError("angle", self.name, f"only a hinge has an angle, this is a {self.kind}")
        return self._read()[0] + definition.reference

    @property
    def speed(self) -> float:
        """Rate of the free coordinate in the middle of the kick [rad/s or m/s]."""
        if self._seen is not self.definition:
            self._free("speed")
        return self._read()[1]

    def _read(self) -> tuple[float, float]:
        """The free coordinate and its rate."""
        world = self._world
        model, glance = world.model, world._glance_joint
        if glance is None or glance.arguments[1] is not model.joints or glance.arguments[0] is not model.bodies:
            glance = world._glance_joint = GLANCE_JOINT.bind(model.bodies, model.joints)
        row = self._row
        return glance.pair(self.index if row is None else row)

    def _wrench(self) -> tuple[np.ndarray, np.ndarray]:
        """Impulse (3,) [N s] and turning impulse (3,) [N m s] on b of the last kick."""
        world, j = self._world, self.index
        world._begin()
        _, along, about, _ = tables.measured(world.model, j)
        p, axis = 2.0 * world.model.joints.impulse[j], world.model.joints.axis[j]
        p[:6] += world.dt * world.model.joints.load[j]
        linear, turning = p[0:3] @ along, p[3:6] @ about
        driven = p[6:9].sum() + p[9] - p[10] + world.dt * tables.spring_force(world.model, j)
        if axis >= 3:
            turning = turning + driven * about[axis - 3]
        elif axis >= 0:
            linear = linear + driven * along[axis]
        return linear, turning

    @property
    def impulse(self) -> np.ndarray:
        """(3,) [N s] on b in the last kick, at the anchor."""
        return self._wrench()[0]

    @property
    def force(self) -> np.ndarray:
        """(3,) [N] on b, at the anchor, world axes, mean over the last step."""
        return self._wrench()[0] / self._world.dt

    @property
    def torque(self) -> np.ndarray:
        """(3,) [N m] on b, world axes, mean over the last step: of bearings, spring, motor and friction."""
        return self._wrench()[1] / self._world.dt

    @property
    def error(self) -> float:
        """The largest amount by which a coordinate that should be zero is not [m or rad]."""
        model, j = self._world.model, self.index
        return float(np.abs(tables.measured(model, j)[3] * model.joints.rigid[j]).max())

    @property
    def motor_speed(self) -> float:
        """The speed that the motor keeps [rad/s or m/s]; may be set at every step."""
        self._motor("motor_speed")
        return float(self._world.model.joints.speed[self.index])

    @motor_speed.setter
    def motor_speed(self, value: float) -> None:
        if self._motored is not self.definition or self._world.controls.actuators:
            self._motor("motor_speed")
            self._motored = self.definition
        if value.__class__ is not float or not isfinite(value):
            value = check_number("motor_speed", value)
        self._world.model.joints.speed[self.index] = value

    def _has(self, name: str) -> Any:
        """What the joint was made with, or was given since; InputError where its kind has no such thing."""
        if not hasattr(self.definition, name):
            raise InputError(name, self.name, f"a {self.kind} has none")
        return super()._has(name)

    def _change(self, name: str, value: object) -> None:
        if not hasattr(self.definition, name) or getattr(self.definition, "rigid", False):
            what = "a rigid rod" if getattr(self.definition, "rigid", False) else f"a {self.kind}"
            raise InputError(name, value, f"{what} has none that can be changed")
        definition, world = self.definition.replace(**{name: value}), self._world
        world._change()
        self.definition = definition
        tables.tune(world.model.joints, self.index, definition)
        world.controls.renew(self.name)
        world._scene = None

    def _motor(self, name: str) -> None:
        """The kind of joint has a motor of this name."""
        kind = type(self.definition).__name__
        if kind not in MOTOR or name not in ("motor_speed", MOTOR[kind]):
            raise InputError(name, self.name, f"a {self.kind} has none")
        controls = self._world.controls
        if controls.actuators and controls.drives(self.name):
            raise InputError(name, self.name, "is driven by actuators: set world.controls")
        if isinstance(self.definition, Distance) and self.definition.rigid:
            raise InputError(name, self.name, "a rigid rod has no motor: give it motor_force when it is made")

    @property
    def motor_torque(self) -> float:
        """The most that the motor of a hinge gives [N m]; may be set at every step."""
        return self._strength("motor_torque")

    @motor_torque.setter
    def motor_torque(self, value: float) -> None:
        self._strengthen("motor_torque", value)

    @property
    def motor_force(self) -> float:
        """The most that the motor gives [N], of any joint but a hinge; may be set at every step."""
        return self._strength("motor_force")

    @motor_force.setter
    def motor_force(self, value: float) -> None:
        self._strengthen("motor_force", value)

    def _strength(self, name: str) -> float:
        self._motor(name)
        return float(self._world.model.joints.strength[self.index])

    def _strengthen(self, name: str, value: object) -> None:
        self._motor(name)
        if value.__class__ is not float or not 0.0 <= value < inf:
            value = check_number(name, value, least=0)
        self._world.model.joints.strength[self.index] = value

    def __repr__(self) -> str:
        ends = " to ".join("the world" if name is None else name for name in (self.definition.a, self.definition.b))
        return f"<Joint {self.name!r}: {self.kind} from {ends}>"
