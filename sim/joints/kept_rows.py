"""Free coordinates that a motor, dry friction or a stop keeps at its pace, through the kick and the flight after it.

A motor that is not at its limit asks for its speed, friction that holds asks for rest, a stop that is pressed on asks for rest.
Kicks alone would give that on average: in flight the coordinate would leave the pace, and come back to it. So where the solve
leaves such a row inside its bounds, the forces of the flight hold the coordinate as they hold rigid ones
(constraint_forces.py), and the kick asks for the pace itself.

What the flight gives belongs to the same motor, friction or stop: with its load f, the bounds of the kick are those of the whole
step less f dt. Where these leave no room the coordinate is let go. The load is the last flight's.
"""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import lean
from tumble.sim.joints.rows import (
    AT_LOW,
    BY_FRICTION,
    BY_MOTOR,
    DRIVE,
    LIMITS,
    NOT_KEPT,
    place_joint,
    row_axis,
    row_velocity,
    unwrapped,
)

AT_STOP = 1e-9  # [m or rad] from a stop, a coordinate is at it: flights end there to 1e-13
INSIDE_BOUND = 1.0 - 1e-9  # what is below this part of its bound is inside, and what needs more is at the bound
STRUCK = 4e-12  # [m or rad] off its way in a step, a kept coordinate was struck: kicks leave it nearer to its pace
OFF_PACE = 1e-9  # or so much of the pace itself


@lean
def struck_from(pace, dt):
    """How far off its pace a kept coordinate is that was struck, at least; ``dt``: of a step [m/s or rad/s]."""
    return STRUCK / dt + OFF_PACE * abs(pace)


@lean
def may_keep(joints, forces, j):
    """The linear system of its flight has a row for the free coordinate of joint j."""
    k = forces.link_of[j]
    return k >= 0 and joints.axis[j] >= 0 and forces.equation[k, joints.axis[j]] >= 0


@lean
def stop_gap(bodies, joints, j, r, elapsed):
    """How far joint j is from its low (r = 0) or high stop, below zero beyond it [m or rad]; infinite without one. ``elapsed``:
    since its coordinate was read."""
    axis, sign = joints.axis[j], 1.0 if r == 0 else -1.0
    if not math.isfinite(joints.limit[j, r]):
        return math.inf
    point, frame, values = place_joint(bodies, joints, j)
    _, turns, e = row_axis(joints, j, DRIVE, 0, frame)
    expected = joints.value[j] + elapsed * row_velocity(bodies, joints, j, turns, e, point)
    return sign * (unwrapped(joints, j, values[axis], expected) - joints.limit[j, r])


@lean
def at_stop(joints, j, r, value):
    """Whether the free coordinate is at its low (r = 0) or high stop, or beyond."""
    return (value - joints.limit[j, 0] if r == 0 else joints.limit[j, 1] - value) <= AT_STOP


@lean
def reaches_stop(bodies, joints, j, elapsed):
    """Whether the free coordinate of joint j is at one of its stops, or beyond; ``elapsed`` as in `stop_gap`."""
    return min(stop_gap(bodies, joints, j, 0, elapsed), stop_gap(bodies, joints, j, 1, elapsed)) <= AT_STOP


@lean
def kept_row(joints, j, block):
    """Row of a block of joint j along which its coordinate is kept; -1: none."""
    by = joints.kept[j]
    if block == LIMITS:
        return by - AT_LOW if by >= AT_LOW else -1
    return -1 if block != DRIVE or by == NOT_KEPT or by >= AT_LOW else 1 if by == BY_FRICTION else 2


@lean
def bounds_left(joints, j, by, most, dt):
    """(least, largest) half impulse of a motor or friction ``by`` that gives at most ``most``, less what the flight gives."""
    load = joints.load[j, joints.axis[j]] if joints.kept[j] == by else 0.0
    return -0.5 * dt * (most + load), 0.5 * dt * (most - load)


@lean
def least_push(joints, j, by, dt):
    """Least half impulse of a stop: in flight it may pull, as far as the kick pushes."""
    if joints.kept[j] != by:
        return 0.0
    return -0.5 * dt * joints.load[j, joints.axis[j]] * (1.0 if by == AT_LOW else -1.0)


@lean
def choose_kept(joints, forces, island, laws, here, p, left, hold):
    """Take and leave coordinates by the impulses ``p``; True where that asks for another solve.

    A joint that was ``left`` in this kick is not taken again in it.
    """
    changed, first, owner, block, lo, hi = False, len(island.rows), island.owner, island.block, laws.lo, laws.hi
    for n in range(len(owner)):
        j, s, k, at = owner[n], block[n], first + n, island.place[n]
        spoken = s == LIMITS and n > 0 and owner[n - 1] == j and block[n - 1] == DRIVE  # by the drive of the joint
        if s < DRIVE or spoken or not may_keep(joints, forces, j):
            continue
        by = _kept_by_drive(p, lo, hi, k) if s == DRIVE else NOT_KEPT
        stop = n if s == LIMITS else n + 1
        if stop < len(owner) and owner[stop] == j:
            for r in range(2):
                least = lo[first + stop, r]  # below zero: the flight pushes, and the kick may take that back
                least = INSIDE_BOUND * least if least < 0.0 else least / INSIDE_BOUND
                if at_stop(joints, j, r, here[at, joints.axis[j]]) and p[first + stop, r] > least:
                    by = AT_LOW + r
        if by == joints.kept[j] or (by != NOT_KEPT and left[at]):
            continue
        left[at] = left[at] or by == NOT_KEPT
        joints.kept[j] = by
        joints.pace[j] = joints.speed[j] if by == BY_MOTOR else 0.0
        if by != NOT_KEPT:
            hold[at, joints.axis[j]] = 0.0
        changed = True
    return changed


@lean
def _kept_by_drive(p, lo, hi, k):
    if hi[k, 2] > lo[k, 2] and _inside(p[k, 2], lo[k, 2], hi[k, 2]):
        return BY_MOTOR
    if hi[k, 1] > lo[k, 1] and _inside(p[k, 1], lo[k, 1], hi[k, 1]):
        return BY_FRICTION
    return NOT_KEPT


@lean
def _inside(p, low, high):
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    return math.isfinite(half) and abs(p - middle) < INSIDE_BOUND * half
