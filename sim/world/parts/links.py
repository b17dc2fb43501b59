"""What acts on and between bodies of a world: joints, actuators, instruments, forces, materials, pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tumble.collision.errors import InputError
from tumble.collision.spelling import did_you_mean, spelled
from tumble.sim.forces.force_definitions import Force, as_force
from tumble.sim.forces.force_tables import callbacks, check_bodies
from tumble.sim.joints import joint_tables as joint_tables
from tumble.sim.joints.joint_definitions import JointDef
from tumble.sim.joints.mechanism.actuators import Actuator
from tumble.sim.joints.mechanism.instrument_kinds import check_places
from tumble.sim.joints.mechanism.instruments import Instrument
from tumble.sim.scene import arrays as tables
from tumble.sim.scene.materials import WithMaterials, put_pair, surfaces
from tumble.sim.scene.scene import with_name
from tumble.sim.world.body import Body
from tumble.sim.world.joint import Joint
from tumble.sim.world.world_queries import Asking


class WithLinks(WithMaterials, Asking):
    """What acts on and between bodies of a world: joints, actuators, forces, materials, pairs."""

    def add_joint(self, definition: JointDef) -> Joint:
        """Joint two bodies, or a body to the world, as they stand now: a Point, Hinge, Slider, Fixed or Distance.

        >>> hinge = world.add_joint(Hinge(None, arm, anchor=(0, 0, 2), axis=(0, 1, 0)))
        >>> hinge.angle, hinge.speed, hinge.force
        """
        if not isinstance(definition, JointDef):
            raise InputError("joint", definition, "must be a joint, such as Hinge(None, arm, axis=(0, 1, 0))")
        self._add_joints([with_name(definition, self.joints, "world")])
        self._scene = None
        return self.joints[-1]

    def _add_joints(self, definitions: list[JointDef]) -> None:
        rows = [self._ends(d) for d in definitions]
        self._change()
        first = len(self.joints)
        self._resize(joint_tables.with_joints(self.model, definitions, rows))
        self.joints += [Joint(self, j, d) for j, d in enumerate(definitions, first)]

    def _ends(self, definition: JointDef) -> tuple[int, int]:
        """Rows of the two bodies of a joint, -1 for the world."""
        rows = []
        for side in ("a", "b"):
            name = getattr(definition, side)
            if name is not None and name not in self._named:
                raise InputError(side, name, f"there is no body of this name in the world{did_you_mean(name, self._named)}")
            rows.append(-1 if name is None else self._named[name].index)
        if not any(i >= 0 and self.bodies[i].kind == "dynamic" for i in rows):
            raise InputError("a", definition.a, "one of the two bodies must be dynamic")
        return rows[0], rows[1]

    def remove_joint(self, joint: Joint) -> None:
        """Take a joint out of the world; the bodies move on without it."""
        if not isinstance(joint, Joint) or joint._world is not self:
            raise InputError("joint", joint, "must be a joint of this world")
        gone = np.arange(len(self.joints)) == joint.index
        self._change()
        self._forget_joints(gone)
        self._end_instruments()
        self._scene = None

    def _end_instruments(self) -> None:
        """Those whose body, joint or actuator is gone read no more."""
        for one in self.instruments.mounted:
            try:
                check_places(one, self.names, [joint.name for joint in self.joints], list(self.controls.actuators))
            except InputError:
                self.instruments.end(one.name)

    def add_actuator(self, actuator: Actuator) -> None:
        """Drive a joint by a named input, ``world.controls[actuator.name]``."""
        if not isinstance(actuator, Actuator):
            raise InputError("actuator", actuator, "must be an Actuator")
        self.controls.add(actuator)
        self._scene = None

    def add_instrument(self, instrument: Instrument) -> Instrument:
        """Mount an instrument, such as ``Accelerometer("imu", "chassis")``: each run reads it, ``world.instruments["imu"]``."""
        if isinstance(instrument, Instrument):
            check_places(instrument, self.names, [joint.name for joint in self.joints], list(self.controls.actuators))
        self.instruments.add(instrument)
        self._scene = None
        return instrument

    def _forget_joints(self, gone: np.ndarray) -> None:
        for j in np.flatnonzero(gone):
            self.controls.forget(self.joints[j].name)
        self._resize(joint_tables.without_joints(self.model, gone))
        for joint, out in zip(self.joints, gone, strict=True):
            joint._row = None if out else joint._row
        self.joints = [joint for joint in self.joints if joint._row is not None]
        for j, joint in enumerate(self.joints):
            joint._row = j

    @spelled
    def add_force(self, force: Force | Callable[..., Any], bodies: Body | str | Iterable[Body | str] | None = None) -> Force:
        """Add a force, such as :class:`~tumble.sim.forces.force_definitions.Spring`, or a function of your own:
        f(t, position, orientation, velocity, angular_velocity).

        ``bodies``: bodies, or names, that it acts on; left out, those that the force names, or all dynamic ones, also those
        that come later. Returns the force as it stands in ``world.forces``. InputError names what is wrong.
        """
        force = as_force(force, bodies)
        check_bodies(force, self.bodies)
        self._calls |= callbacks([force])
        self._change()
        self.forces.append(force)
        self._packed_for = self._scene = None
        return force

    def remove_force(self, force: Force) -> None:
        """Take a force away; the energy of its potential leaves by the ``user`` entry of the ledger."""
        if force not in self.forces:
            raise InputError("force", force, "is none of world.forces")
        self._change()
        self.forces.remove(force)
        self._packed_for = self._scene = None

    def _pair(self, a: Body | str, b: Body | str, coefficients: dict[str, float]) -> None:
        pairs = list(self.pairs)
        put_pair(pairs, *(self.names[self._row(x)] if isinstance(x, Body) else x for x in (a, b)), coefficients)
        surface, exceptions = surfaces([body.definition for body in self.bodies], self.materials, pairs)
        self.wake()
        self.pairs = pairs
        self.model = tables.with_surfaces(self.model, surface, exceptions)
        self._scene = None

    def exclude(self, a: Body | str, b: Body | str) -> None:
        """Let two bodies pass through each other from now on."""
        names = tuple(sorted(self.names[self._row(x)] if isinstance(x, Body) else x for x in (a, b)))
        for name in names:
            if name not in self.names:
                raise InputError("body", name, "there is no body of this name in the world")
        if names[0] == names[1]:
            raise InputError("b", names[1], "must be another body than a")
        self._change()
        self.apart = [*(pair for pair in self.apart if pair != names), names]
        self._keep_apart()
        self._scene = None

    def _keep_apart(self) -> None:
        row = {name: i for i, name in enumerate(self.names)}
        self.model = tables.with_apart(self.model, [(row[a], row[b]) for a, b in self.apart])
