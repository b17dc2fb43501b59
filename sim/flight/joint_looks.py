"""Looks at joints where the coming flight ends: what their free coordinates do in it corrects what the kick asks for.

A row that asks for a place at the end of the flight starts from ``hold``, the velocity after the kick that would end it where it
began (joints/velocity_solve.py). Where the bodies, flown with the impulses just found, take the coordinate from g to g_end, that
becomes u' - (g_end - g)/h.
"""

from __future__ import annotations

import numpy as np

from tumble.collision.kernels.jit import far, lean, remote
from tumble.collision.linalg import matmul, transpose
from tumble.sim.flight.end_pose import NO_ENDS, end_pose
from tumble.sim.joints.rows import ANGULAR, DRIVE, anchor_pose, body_pose, measure_frames, unwrapped
from tumble.sim.joints.velocity_solve import velocity_after
from tumble.sim.solvers.problem import NO_INDICES, NO_ISLAND, NO_LAWS, NO_SYSTEM
from tumble.sim.state import EXAMPLE, POINT


@lean
def look_ahead(bodies, joints, forces, island, system, laws, local, ends, v, t, h, mode, here, wanted, hold):
    """Correct ``hold`` by what the joints are open by where the bodies end; the largest change, against rounding."""
    worst = 0.0
    for n in range(len(island.owner)):
        if wanted[n]:
            off = _correct_hold(bodies, joints, forces, island, system, laws, n, local, ends, v, t, h, mode, here, hold)
            worst = max(worst, off)
    return worst


@remote
def _correct_hold(bodies, joints, forces, island, system, laws, n, local, ends, v, t, h, mode, here, hold):
    """The part of :func:`look_ahead` for the n-th block of the joints."""
    j, s, at, k = island.owner[n], island.block[n], island.place[n], len(island.rows) + n
    xi, ri = end_pose(bodies, forces, joints.body[j, 0], local, ends, t, t + h)
    xj, rj = end_pose(bodies, forces, joints.body[j, 1], local, ends, t, t + h)
    xa, fa = anchor_pose(joints, j, 0, xi, ri)
    xb, fb = anchor_pose(joints, j, 1, xj, rj)
    values = measure_frames(joints, j, xa, fa, xb, fb, True)
    if s == ANGULAR and joints.kind[j] == POINT:
        values = _turn_since(bodies, joints, j, fa, fb)
    rounding = 2e-15 * (1.0 + abs(xa[0]) + abs(xa[1]) + abs(xa[2])) / h
    worst = 0.0
    for r in range(3):
        if s == DRIVE and r == 2:
            continue
        u = velocity_after(joints, j, 3 * s + r, k, r, mode, v, system, laws)
        axis = 3 * s + r
        end = values[axis % 6]
        if s == DRIVE:
            axis = joints.axis[j]
            end = unwrapped(joints, j, values[axis], here[at, axis] + h * u)
        new = u - (end - here[at, axis]) / h
        worst = max(worst, abs(new - hold[at, axis]) - rounding)
        hold[at, axis] = new
    return worst


def _hold_example():
    t6 = np.zeros((0, 6))
    groups = (EXAMPLE.bodies, EXAMPLE.joints, EXAMPLE.forces, NO_ISLAND, NO_SYSTEM, NO_LAWS)
    return (*groups, 0, NO_INDICES, NO_ENDS, t6, 0.0, 0.0, 0, t6, t6)


_correct_hold = far(_correct_hold, _hold_example, returns=0.0)


@lean
def _turn_since(bodies, joints, j, fa, fb):
    """By how much b will have turned against a, in the frame of a, once their frames are these; small turns."""
    xi, ri = body_pose(bodies, joints.body[j, 0])
    xj, rj = body_pose(bodies, joints.body[j, 1])
    _, fa0 = anchor_pose(joints, j, 0, xi, ri)
    _, fb0 = anchor_pose(joints, j, 1, xj, rj)
    now, before = matmul(transpose(fa), fb), matmul(transpose(fa0), fb0)
    d = matmul(now, transpose(before))
    return (0.0, 0.0, 0.0, 0.5 * (d[7] - d[5]), 0.5 * (d[2] - d[6]), 0.5 * (d[3] - d[1]))
