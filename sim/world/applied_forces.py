"""Forces and torques that the user applies to single bodies, each constant over one step: ``body.apply_force``.

A body that was ever pushed has a row of its own among the forces (forces/force_tables.py), whose numbers are written before a
step. So it flies under its push as under any other force, and the work is booked as ``user``.

The kick at the end of a step assumes that the push goes on, as it assumes of every force, so that a body that is pushed steadily
rests to rounding. If the next push is another one, or none, the kick was made for a step that does not come. This does not matter
to a body in free flight. The island of a body that bears load is kicked anew as the step begins: the phase of the last kick is
taken back, and it is kicked for the coming flight, as in mid-step after an impact (impact/substep_resolve.py). What is jointed,
large or a crowd is kicked anew before the step, with all others, from the velocities in the middle of the kick.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tumble.collision.errors import check_vector
from tumble.sim.compiled import BEARS
from tumble.sim.errors import InputError
from tumble.sim.joints.burden import ALL, ITS_ISLAND
from tumble.sim.state import CONSTANT, SLEEPING, STEPS, USERS, Forces
from tumble.sim.world import sleep as sleeping

if TYPE_CHECKING:
    from tumble.sim.world.body import Body
    from tumble.sim.world.world import World

AT_ONCE = -1.0  # in Bodies.until: at the start of the coming drift
NO_FORCE = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
Push = tuple[float, float, float, float, float, float]  # force [N] and torque about the centre of mass [N m], world axes


class Pushes:
    """What a world is pushed with: in the coming step, and in the one that was taken last."""

    def __init__(self) -> None:
        self.coming: dict[Body, Push] = {}
        self.now: dict[Body, Push] = {}
        self.rows: dict[Body, int] = {}  # of the group of forces
        self.step: int | None = None  # before which the numbers were written last

    def add(self, body: Body, push: Push) -> None:
        """Push a body in the coming step, besides what pushes it already."""
        if body.kind != "dynamic":
            raise InputError("body", body.name, f"is {body.kind}: forces act on dynamic bodies")
        old = self.coming.get(body)
        self.coming[body] = push if old is None else tuple(a + b for a, b in zip(old, push, strict=True))

    def to_dict(self) -> dict[str, Push | None]:
        """By name: the bodies that have rows, and what pushed them last."""
        return {body.name: self.now.get(body) for body in self.rows}

    def take(self, world: World, data: dict[str, list[float] | None]) -> None:
        """The inverse of :meth:`to_dict`."""
        for name, push in data.items():
            body = world[name]
            self.rows[body] = -1
            if push is not None:
                self.now[body] = tuple(push)
        world._packed_for = None

    def forget(self, body: Body) -> None:
        for table in (self.coming, self.now, self.rows):
            table.pop(body, None)

    def find(self, group: Forces) -> None:
        """Take up the rows of a group of forces that was packed anew."""
        at = {int(group.body[k, 0]): int(k) for k in np.flatnonzero((group.kind == CONSTANT) & (group.number[:, USERS] != 0.0))}
        self.rows = {body: at[body.index] for body in self.rows}
        self.write(group)

    def write(self, group: Forces) -> None:
        number = group.number
        for body, row in self.rows.items():
            number[row, :6] = self.now.get(body, NO_FORCE)

    def begin(self, world: World) -> bool:
        """The coming step begins: what pushes in it takes hold; True where the last kick of all has to be done anew. Where it is
        that of an island alone, the step does it."""
        step = world.model.books.counters.item(STEPS)
        if step == self.step:  # the step was undone, and is taken again
            return False
        self.step = step
        coming, before, rows = self.coming, self.now, self.rows
        self.coming = {}
        if coming == before:
            return False
        self.now = coming
        told = coming
        if coming.keys() != before.keys():
            told = {**coming, **before}
            for body in coming:
                if body not in rows:
                    rows[body] = -1
                    world._packed_for = None
        changed = [body for body in told if coming.get(body, NO_FORCE) != before.get(body, NO_FORCE)]
        kind = world.model.bodies.kind
        asleep = [body.index for body in changed if kind.item(body._row) == SLEEPING]
        if asleep:
            sleeping.wake(world, asleep)
            world._packed_for = None
        model, kicked = world._packed(), []
        for body in changed:
            model.forces.number[rows[body], :6] = coming.get(body, NO_FORCE)
            kicked.append(_bears(world, body._row))
        if ALL in kicked:
            return True
        if ITS_ISLAND in kicked and world._changed_at is None:
            for body, what in zip(changed, kicked, strict=True):
                if what == ITS_ISLAND:
                    model.bodies.until[body._row] = AT_ONCE
        return False


def _bears(world: World, i: int) -> int:
    """What has to be kicked anew where body i is pushed in another way: NOTHING, ALL or ITS_ISLAND (joints/burden.py)."""
    return world._bound_to(BEARS, world._packed())(i)


def three(name: str, value: object) -> tuple[float, float, float]:
    """Three finite numbers; as ``check_vector``, which says what is wrong, but faster where nothing is."""
    try:
        x, y, z = value
        x, y, z = float(x), float(y), float(z)
    except (TypeError, ValueError):
        return check_vector(name, value)
    return (x, y, z) if math.isfinite(x + y + z) and not isinstance(value, (str, set, dict)) else check_vector(name, value)
