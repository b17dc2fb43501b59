"""G' u of each kind of joint, against the difference of its rates along a motion at constant velocities."""

from __future__ import annotations

import numpy as np
import pytest

from tumble import Box, Distance, Fixed, Gear, General, Hinge, Point, Screw, Slider, Universal, World
from tumble.collision.kernels.jit import kernel
from tumble.collision.linalg import load3, load4, rotation, sub
from tumble.sim.equations import drive
from tumble.sim.joints.row_bends import row_bends
from tumble.sim.joints.rows import along_rows, parting, put_frame
from tumble.sim.solvers.link_recursion import put_turns
from tumble.sim.state import GENERAL

JOINTS = {
    "point": Point("a", "b", anchor=(0.5, 0, 0)),
    "hinge": Hinge("a", "b", anchor=(0.5, 0, 0), axis=(0, 1, 1)),
    "slider": Slider("a", "b", axis=(1, 0, 0)),
    "fixed": Fixed("a", "b"),
    "distance": Distance("a", "b", anchor_a=(0.1, 0, 0), anchor_b=(0.9, 0, 0.1)),
    "universal": Universal("a", "b", anchor=(0.5, 0, 0), axis=(1, 0, 0), axis_b=(0, 1, 0)),
    "general": General("a", "b", anchor=(0.5, 0, 0), free=("x", "turn_y")),
    "screw": Screw("a", "b", axis=(1, 0, 0), anchor=(0.5, 0, 0), pitch=0.1),
    "gear": Gear(
        "a", "b", center_a=(0, 0, 0), center_b=(1, 0.2, 0), axis_a=(0, 0, 1), axis_b=(0, 0, 1), teeth_a=10, teeth_b=20
    ),
}  # fmt: skip
LINES = ("distance", "screw", "gear")  # kinds of which only the rigid rows are coordinates


@kernel
def rates_and_bends(joints, place, x, q, v, w, e, rates, bends):
    """Rates of the six coordinates of joint 0 a time e later, and how they change."""
    va, vb, wa, wb = load3(v, 0), load3(v, 1), load3(w, 0), load3(w, 1)
    xa, qa = drive(load3(x, 0), load4(q, 0), va, wa, e)
    xb, qb = drive(load3(x, 1), load4(q, 1), vb, wb, e)
    ra, rb = rotation(qa), rotation(qb)
    point = put_frame(joints, 0, xa, ra, xb, rb, place, 0, False)
    put_turns(place[0], joints.kind[0] == GENERAL)
    now = along_rows(place[0], parting(point, xa, va, wa, xb, vb, wb), sub(wb, wa))
    found = row_bends(joints, 0, place[0], now, xa, ra, va, wa, xb, rb, vb, wb)
    for r in range(6):
        rates[r], bends[r] = now[r], found[r]


@pytest.mark.parametrize("name", JOINTS)
def test_bends_are_the_change_of_the_rates(name):
    world = World(gravity=(0, 0, 0))
    world.add(Box((0.1, 0.2, 0.3)), name="a")
    world.add(Box((0.1, 0.2, 0.3)), name="b", position=(1, 0.2, 0))
    world.add_joint(JOINTS[name])
    joints, place, bodies, rng = world.model.joints, np.zeros((1, 48)), world.model.bodies, np.random.default_rng(1)
    for _ in range(10):
        q = bodies.q + 0.05 * rng.normal(size=(2, 4))
        q /= np.linalg.norm(q, axis=1)[:, None]
        x, v, w = bodies.x + 0.02 * rng.normal(size=(2, 3)), rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
        before, after, bends, e = np.zeros(6), np.zeros(6), np.zeros(6), 1e-5
        rates_and_bends(joints, place, x, q, v, w, -e, before, bends)
        rates_and_bends(joints, place, x, q, v, w, e, after, bends)
        change = (after - before) / (2 * e)
        rates_and_bends(joints, place, x, q, v, w, 0.0, after, bends)
        held = (joints.rigid[0] == 1) | (name not in LINES)  # whose free rows have rotors
        assert bends[held] == pytest.approx(change[held], abs=2e-8 * max(1.0, np.abs(change).max()))
