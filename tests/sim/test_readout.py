"""What views of joints read, and the energy of joints, against the same worked out in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tumble.collision import Box
from tumble.sim import Distance, Drive, Hinge, Slider, World
from tumble.sim.compiled import joint_energies
from tumble.sim.joints.joint_tables import coordinate, rate

SPRING = {"stiffness": 30.0, "armature": 0.2}
JOINTS = {
    "hinge": Hinge(None, "box", anchor=(0, 0, 1.4), axis=(0, 1, 0), rest=0.3, **SPRING),
    "slider": Slider(None, "box", anchor=(0, 0, 1.4), axis=(0, 0.6, 0.8), rest=0.1, **SPRING),
    "distance": Distance(None, "box", anchor_a=(0.3, 0.2, 2), anchor_b=(0, 0, 1.1), stiffness=30.0),
    "turn": Drive(None, "box", anchor=(0, 0, 1.4), axis=(1, 0, 0), axis_y=(0, 1, 0), driven="turn_y", rest=0.4, **SPRING),
    "travel": Drive(None, "box", anchor=(0, 0, 1.4), axis=(1, 0, 0), axis_y=(0, 1, 0), driven="z", rest=0.2, **SPRING),
}


@pytest.mark.parametrize("kind", JOINTS)
def test_joints_are_read_as_numpy_has_them(kind):
    world = World()
    world.add(Box((0.1, 0.2, 0.1)), name="box", position=(0, 0, 1), angular_velocity=(0.3, 1.0, 0.2))
    joint = world.add_joint(JOINTS[kind])
    world.step(60)
    model, j = world.model, joint.index
    value, speed = coordinate(model, j), rate(model, j)
    assert abs(value) > 1e-3
    length = model.joints.length[j] if kind == "distance" else 0.0
    assert joint.position - joint.definition.reference == pytest.approx(value + length, rel=1e-12)
    assert joint.speed == pytest.approx(speed, rel=1e-12)
    stretch = value - model.joints.rest[j]
    known = 0.5 * model.joints.stiffness[j] * stretch**2, 0.5 * model.joints.armature[j] * speed**2
    assert joint_energies(model) == pytest.approx(known, rel=1e-12)
    plain = world.energy().potential - sum(known)
    assert plain == pytest.approx(9.81 * world["box"].mass * world["box"].position[2], rel=1e-12)


def test_without_springs_there_is_no_energy_in_joints():
    world = World()
    world.add(Box((0.1, 0.2, 0.1)), name="box")
    world.add_joint(Hinge(None, "box", anchor=(0, 0, 0.4), axis=(0, 1, 0)))
    world.step(3)
    assert joint_energies(world.model) == (0.0, 0.0)
    assert np.isfinite(world.energy().total)
