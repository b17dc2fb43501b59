"""Joints that make a tree: a recursion over the links gives what the linear system of all rows gives."""

from __future__ import annotations

import numpy as np
import pytest

from tumble.collision import Box
from tumble.scenarios.registry import load
from tumble.sim import Distance, Fixed, General, Hinge, Point, Slider, Universal, Wheel, World
from tumble.sim.errors import SimulationError

KINDS = ("hinge", "point", "slider", "fixed", "distance")
SOME = [*(("hinge", kind, kind) for kind in KINDS), KINDS, KINDS[::-1], ("motor", "hinge", "motor", "point")]
SOME += [("rotor", "hinge", "rotor", "point"), ("hinge", "rotor", "rotor")]
SOME += [("general", "planar", "universal", "wheel"), ("universal", "two", "general")]


def across(e):
    """A direction at right angles to another one."""
    return tuple(np.cross(e, (0.3, 0.5, -0.8)))


MAKE = {
    "hinge": lambda a, b, x, far, e: Hinge(a, b, anchor=x, axis=e, stiffness=3.0, damping=0.2),
    "point": lambda a, b, x, far, e: Point(a, b, anchor=x),
    "slider": lambda a, b, x, far, e: Slider(a, b, anchor=x, axis=e, stiffness=900.0),
    "fixed": lambda a, b, x, far, e: Fixed(a, b, anchor=x),
    "distance": lambda a, b, x, far, e: Distance(a, b, anchor_a=x, anchor_b=far),
    "motor": lambda a, b, x, far, e: Hinge(a, b, anchor=x, axis=e, motor_speed=2.0, motor_torque=1e3),
    "rotor": lambda a, b, x, far, e: Hinge(a, b, anchor=x, axis=e, armature=2.0, stiffness=3.0, damping=0.2),
    "planar": lambda a, b, x, far, e: General(a, b, anchor=x, axis=e, free=("y", "z", "turn_x")),
    "universal": lambda a, b, x, far, e: Universal(a, b, anchor=x, axis=e, axis_b=across(e)),
    "wheel": lambda a, b, x, far, e: Wheel(a, b, anchor=x, axis=e, axis_y=across(e), stiffness=900.0),
    "two": lambda a, b, x, far, e: General(
        a, b, anchor=x, axis=e, free=("turn_y", "turn_z"), driven="turn_y", armature=1.0, stiffness=3.0
    ),
    "general": lambda a, b, x, far, e: General(a, b, anchor=x, free=("turn_z", "x")),
}


def hung(kinds=KINDS, turned=False, branched=False, host=None, anchored=True):
    """A world in which bodies hang from each other by joints of these kinds, from ``host`` or the world; ``turned``: each joint
    names the outer body first; ``branched``: two bodies hang from each."""
    random = np.random.default_rng(4)
    world = World(dt=1 / 480)
    ends = [
        (
            world.add(host, kind="kinematic", mask=0, velocity=(0.3, 0, 0.1), angular_velocity=(0, 2, 1)) if host else None,
            np.zeros(3),
        )
    ]
    for n, kind in enumerate(kinds):
        before, x = ends[n // 2 if branched else n]
        way = random.normal(size=3)
        way *= 0.5 / np.linalg.norm(way)
        q = random.normal(size=4)
        pose = {"position": tuple(x + way), "orientation": tuple(q / np.linalg.norm(q))}
        body = world.add(Box((0.05, 0.1, 0.25)), density=500.0 * (1 + n), mask=0, **pose)
        axis = tuple(random.normal(size=3))
        if n > 0 or anchored:
            a, b, near, far = (body, before, x + way, x) if turned else (before, body, x, x + way)
            world.add_joint(MAKE[kind](a, b, tuple(x) if kind != "distance" else tuple(near), tuple(far), axis))
        ends.append((body, x + 2 * way))
    return world


def both(make, steps=60):
    """States and forces of joints after some steps: by the recursion, and from the system of all rows."""
    out = []
    for tree in (1, 0):
        world = make()
        world.step()
        assert (world.model.forces.tree == 1).all()
        world.model.forces.tree[:] = tree
        world.step(steps)
        assert (world.model.forces.tree == tree).all()
        state = [world.positions, world.orientations, world.velocities, world.angular_velocities]
        out.append((world, np.concatenate(state, axis=1), np.array([joint.force for joint in world.joints])))
    return out


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("branched", [False, True])
@pytest.mark.parametrize("kinds", SOME)
@pytest.mark.parametrize("anchored", [True, False])
def test_the_recursion_gives_what_the_system_gives(anchored, kinds, branched, turned):
    def make():
        world = hung(kinds, turned, branched, anchored=anchored)
        for n, body in enumerate(world.bodies):
            body.angular_velocity = (0.3, -0.2 * n, 0.1)
        return world

    (world, state, force), (_, other, wanted) = both(make)
    assert np.abs(state[:, 7:]).max() > 0.1  # they do move
    assert np.abs(state - other).max() < 1e-9 * max(1.0, np.abs(other).max())
    assert np.abs(force - wanted).max() < 1e-8 * np.abs(wanted).max()
    assert max(joint.error for joint in world.joints) < 1e-12
    assert abs(world.ledger.residual) < 1e-11 * world.ledger.moved


def test_so_it_does_on_a_driven_body():
    host = Box((0.1, 0.1, 0.1))
    (_, state, _), (_, other, _) = both(lambda: hung(KINDS, host=host))
    assert np.abs(state - other).max() < 1e-9 * np.abs(other).max()


def test_what_hangs_on_the_wrong_side_shows():
    """The twin: links in the order inwards, what the outer ones need is not known yet."""
    world = hung(("hinge",) * 3)
    world.step()
    world.model.forces.chain[:] = world.model.forces.chain[::-1].copy()
    with pytest.raises(SimulationError, match="not finite"):
        world.step(2)


def test_a_long_chain_is_as_exact_as_by_the_system():
    (world, _, force), (_, _, wanted) = both(lambda: load("chain")().build(), steps=20)
    assert len(world.joints) > 10
    assert np.abs(force - wanted).max() < 1e-9 * np.abs(wanted).max()
    assert max(joint.error for joint in world.joints) < 1e-12


def looped():
    world = hung(("point",) * 3)
    world.add_joint(Point(None, world.bodies[-1], anchor=tuple(world.bodies[-1].position)))
    return world


@pytest.mark.parametrize(("make", "why"), [(looped, "a loop"), (lambda: load("gear_train")().build(), "gears")])
def test_others_are_solved_as_a_whole(make, why):
    world = make()
    world.step(2)
    assert len(world.model.forces.link) > 0
    assert not world.model.forces.tree.any(), why
