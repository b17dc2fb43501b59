"""Where bodies will be when the coming flight ends, if they leave with the velocities that a solver has now."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tumble.collision.kernels.group import owning_group
from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import IDENTITY, ZERO, load3, load9, store3, store9
from tumble.sim.flight.clusters import launch
from tumble.sim.flight.motion import motion_at, start_flight
from tumble.sim.ledger.work import MEAN_GIVEN


@owning_group
class Ends(NamedTuple):
    """States of an island's bodies at the end of the flight, in the order of its members."""

    x: np.ndarray  # (n, 3) [m]
    rot: np.ndarray  # (n, 3, 3)
    v: np.ndarray  # (n, 3) [m/s]
    w: np.ndarray  # (n, 3) [rad/s]


NO_ENDS = Ends(np.zeros((0, 3)), np.zeros((0, 3, 3)), np.zeros((0, 3)), np.zeros((0, 3)))


@lean
def fly_members(bodies, forces, joints, members, local, system, vstar, v, t, end, mode, ends):
    """Fly the members of an island from time t of the drift to the time ``end``, and write their states there into ``ends``.

    ``v`` (n, 6): the solver's velocities, those in the middle of the kick; where velocities were set (MEAN_GIVEN), those after
    it.
    """
    mass, inertia = system.mass, system.inertia
    for k in range(len(members)):
        i = members[k]
        start_flight(bodies, i, t)
        for r in range(3):
            l = 0.0
            for s in range(3):
                l += inertia[k, r, s] * (v[k, 3 + s] if mode == MEAN_GIVEN else 2.0 * v[k, 3 + s] - vstar[k, 3 + s])
            bodies.p0[i, r] = mass[k] * (v[k, r] if mode == MEAN_GIVEN else 2.0 * v[k, r] - vstar[k, r])
            bodies.l0[i, r] = l
    for c in range(len(forces.potential)):
        concerned = False
        for m in range(forces.first_member[c], forces.first_member[c + 1]):
            concerned = concerned or local[forces.member[m]] >= 0
        if concerned:
            launch(bodies, forces, joints, c, t, True)
    for k in range(len(members)):
        x, rot, ve, we = motion_at(bodies, forces, members[k], end)
        store3(ends.x, k, x)
        store9(ends.rot, k, rot)
        store3(ends.v, k, ve)
        store3(ends.w, k, we)


@lean
def end_pose(bodies, forces, i, local, ends, t, end):
    """Position and rotation of body i (-1: the world) at the end of the flight."""
    if i < 0:
        return ZERO, IDENTITY
    if local[i] >= 0:
        return load3(ends.x, local[i]), load9(ends.rot, local[i])
    start_flight(bodies, i, t)
    x, rot, _, _ = motion_at(bodies, forces, i, end)
    return x, rot


@lean
def end_motion(bodies, forces, i, local, ends, t, end):
    """Velocity and angular velocity of body i there."""
    if local[i] >= 0:
        return load3(ends.v, local[i]), load3(ends.w, local[i])
    start_flight(bodies, i, t)
    _, _, v, w = motion_at(bodies, forces, i, end)
    return v, w
