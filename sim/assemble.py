"""Joints of a state that was set from outside: put poses and velocities together such that they hold."""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.kernels.jit import kernel, lean
from tumble.collision.linalg import add, add3, cross, load3, load4, scale, sub
from tumble.sim.contact.overlap_correction import rigid_targets
from tumble.sim.contact.prepare import prepare
from tumble.sim.equations import drive
from tumble.sim.flight.motion import plan_arcs, set_state
from tumble.sim.joints.kept_rows import stop_gap
from tumble.sim.joints.rows import LIMITS, frame_joint, is_dynamic, rigid_rows, wrench
from tumble.sim.solvers.newton import newton_far as newton
from tumble.sim.solvers.problem import Laws
from tumble.sim.state import STEPS

TRIES = 60
# [rad] most that an angle is taken towards its stop at once: a chain turns by the sum of these, which is to be near its tangent
TURN_AT_ONCE = 0.1
STOP_TRIES = 600  # with limits, as turns are small


@kernel
def assemble(bodies, contacts, joints, books, settings, stops):
    """Close all joints by the smallest displacement in the metric of the masses, then take from the velocities what they forbid.
    With ``stops``, take all free coordinates within their limits too.

    Returns the largest error that is left, and by how much a coordinate is beyond its limits, at most [m or rad].
    """
    for i in range(len(bodies.kind)):
        set_state(bodies, i, load3(bodies.x, i), load4(bodies.q, i), load3(bodies.p, i), load3(bodies.l, i))
    plan_arcs(bodies, books.counters[STEPS] * settings.dt, settings.dt)
    links, none = np.arange(len(joints.kind)), np.arange(0)
    error, last, beyond = 0.0, math.inf, 0.0
    local = np.full(len(bodies.kind), -1, dtype=np.int64)
    tries = STOP_TRIES if stops else TRIES
    for turn in range(tries):
        local[:] = -1
        island, system, laws, vstar, v, p = prepare(bodies, contacts, joints, none, links, none, local)
        p[:] = 0.0
        rigid_rows(joints, island, laws)
        rigid_targets(bodies, joints, island, laws)
        error = _largest(laws.c)
        beyond = _stop_targets(bodies, joints, island, laws, stops)
        if stops:
            error = max(error, beyond)
        if error <= 1e-15 or (error <= 1e-11 and error > 0.5 * last) or turn == tries - 1:
            break
        last = error
        still = np.zeros_like(vstar)
        place_them = Laws(laws.law, laws.mu, laws.lo, laws.hi, laws.load, laws.c, np.zeros_like(laws.u0))
        newton(system, place_them, still, 1e-6 * error, 100, p, v)
        for k in range(len(island.members)):
            i = island.members[k]
            x, q = drive(load3(bodies.x, i), load4(bodies.q, i), (v[k, 0], v[k, 1], v[k, 2]), (v[k, 3], v[k, 4], v[k, 5]), 1.0)
            set_state(bodies, i, x, q, load3(bodies.p, i), load3(bodies.l, i))
    laws.c[:], p[:] = 0.0, 0.0
    newton(system, laws, vstar, settings.tolerance, 100, p, v)
    for n in range(len(island.owner)):
        j = island.owner[n]
        point, frame = frame_joint(bodies, joints, j)
        f, t = wrench(joints, j, island.block[n], frame, load3(p, n))
        for side in range(2):
            i = joints.body[j, side]
            f, t = scale(-1.0, f), scale(-1.0, t)
            if is_dynamic(bodies, i):
                arm = add(cross(sub(point, load3(bodies.x, i)), f), t)
                add3(bodies.p, i, f)
                add3(bodies.l, i, arm)
                add3(bodies.p_before, i, f)
                add3(bodies.l_before, i, arm)
    return error, beyond


@lean
def _stop_targets(bodies, joints, island, laws, stops):
    """By how much coordinates are beyond their limits, at most. With ``stops`` the rows ask for the way back."""
    beyond = 0.0
    for n in range(len(island.owner)):
        j, k = island.owner[n], len(island.rows) + n
        for r in range(2):
            gap = stop_gap(bodies, joints, j, r, 0.0) if island.block[n] == LIMITS else math.inf
            beyond = max(beyond, -gap)
            if stops and gap < math.inf:
                laws.c[k, r] = min(-gap, TURN_AT_ONCE) if joints.axis[j] >= 3 else -gap
                laws.lo[k, r], laws.hi[k, r] = 0.0, math.inf
    return beyond


@lean
def _largest(table):
    """The largest absolute value of a table; 0 of an empty one."""
    most = 0.0
    for k in range(len(table)):
        for r in range(table.shape[1]):
            most = max(most, abs(table[k, r]))
    return most
