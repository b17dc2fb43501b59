"""The rows of joints in the kick: coordinates, blocks, Jacobians.

A joint has six coordinates: the offset of b's anchor from a's along the three axes of the joint's frame, and the turn of
b's frame against a's about them. Some are held at zero (rigid), one may be free and driven (axis). The frame moves with
a; that of a distance points from anchor to anchor. Forces act on both bodies at one common point, the anchor of b: the
coordinates are measured in a moving frame, and this is where their rates are those of two material points.

The solver takes blocks of three rows, as contacts are:

    LINEAR    the three offsets         rigid rows, or none
    ANGULAR   the three turns           rigid rows, or none; of a ball joint: friction, a ball in torque space
    DRIVE     along the axis            spring with damper (soft), friction, motor (bounded by a largest force)
    LIMITS    along the axis            low end, high end (pushing only)
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.kernels.jit import far, lean, remote
from tumble.collision.linalg import IDENTITY, ZERO, add, axpy, cross, dot, load3, load9, matmul, mul, store3, sub
from tumble.sim.joints.flown_springs import pushes
from tumble.sim.joints.kinds.distance import line_frame, measure_distance
from tumble.sim.joints.kinds.frames import measure_fixed, measure_hinge, measure_point
from tumble.sim.joints.kinds.gear import place_gear, place_screw
from tumble.sim.joints.kinds.general import measure_general, turning_frame
from tumble.sim.solvers.block_laws import BALL_LAW, BOX_LAW, SOFT_LAW
from tumble.sim.solvers.problem import NO_LAWS, NO_SYSTEM
from tumble.sim.state import DISTANCE, DYNAMIC, EXAMPLE, FIXED, GEAR, GENERAL, HINGE, POINT, SCREW, SLIDER

LINEAR, ANGULAR, DRIVE, LIMITS = range(4)
BLOCKS = 4
TEAR = 0.01  # of the size of the smaller body, or rad: a joint that is open by more is torn
NO_FRAME = ZERO, IDENTITY
MEASURED, SPRUNG = 41, 47  # columns of Forces.place from which on coordinates stand, and 1 where springs act
NOT_KEPT, BY_MOTOR, BY_FRICTION, AT_LOW, AT_HIGH = range(5)  # what keeps a free coordinate at its pace in flight: Joints.kept


@lean
def anchor_pose(joints, j, side, x, rot):
    """Anchor and frame (columns are axes) of one side of joint j, in the world, for its body at (x, rot)."""
    anchor = (joints.anchor[j, side, 0], joints.anchor[j, side, 1], joints.anchor[j, side, 2])
    return add(x, mul(rot, anchor)), matmul(rot, load9(joints.frame[j], side))


@lean
def along_rows(f, v, w):
    """The parts of v along the travels, and of w along the turns, whose directions stand in the row ``f`` of Forces.place."""
    return (
        f[3] * v[0] + f[6] * v[1] + f[9] * v[2], f[4] * v[0] + f[7] * v[1] + f[10] * v[2],
        f[5] * v[0] + f[8] * v[1] + f[11] * v[2], f[12] * w[0] + f[15] * w[1] + f[18] * w[2],
        f[13] * w[0] + f[16] * w[1] + f[19] * w[2], f[14] * w[0] + f[17] * w[1] + f[20] * w[2],
    )  # fmt: skip


@lean
def parting(point, xi, vi, wi, xj, vj, wj):
    """Velocity of b against a at their common point, for positions, velocities and angular velocities of both."""
    return sub(add(vj, cross(wj, sub(point, xj))), add(vi, cross(wi, sub(point, xi))))


@lean
def measure_frames(joints, j, xa, fa, xb, fb, free):
    """The six coordinates of joint j for its two anchor poses. ``free``: the free angles too. They are arc tangents, for which
    those who only ask how far joints are open have no use."""
    kind = joints.kind[j]
    if kind == POINT:
        return measure_point(xa, fa, xb)
    if kind == HINGE:
        return measure_hinge(xa, fa, xb, fb, free)
    if kind in (SLIDER, FIXED):
        return measure_fixed(xa, fa, xb, fb)
    if kind == GENERAL:
        rigid = joints.rigid[j]
        return measure_general(
            xa, fa, xb, fb, joints.length[j], free or rigid[3] == 1, free or rigid[4] == 1, free or rigid[5] == 1
        )
    if kind == GEAR:
        return (place_gear(xa, fa, xb, fb, joints.ratio[j])[2], 0.0, 0.0, 0.0, 0.0, 0.0)
    if kind == SCREW:
        return (place_screw(xa, fa, xb, fb, joints.ratio[j, 0])[2], 0.0, 0.0, 0.0, 0.0, 0.0)
    return measure_distance(xa, xb, joints.length[j])


@lean
def body_pose(bodies, i):
    if i < 0:
        return NO_FRAME
    return load3(bodies.x, i), load9(bodies.rot, i)


@lean
def _frame_between(joints, j, xa, fa, xb, fb):
    """(common point, frame of the rows) of joint j for its two anchor poses.

    The frame is that of the travels and that of the turns, nine numbers each; their columns are the directions of the rows.
    """
    kind, point, along, about = joints.kind[j], xb, fa, fa
    if kind == DISTANCE:
        along = line_frame(xa, xb)
    elif kind == GENERAL:
        s = joints.length[j]
        along = (s * fa[0], s * fa[1], s * fa[2], s * fa[3], s * fa[4], s * fa[5], s * fa[6], s * fa[7], s * fa[8])
        about = turning_frame(fa, fb, s)
    elif kind == GEAR:
        point, along, _ = place_gear(xa, fa, xb, fb, joints.ratio[j])
    elif kind == SCREW:
        point, along, _ = place_screw(xa, fa, xb, fb, joints.ratio[j, 0])
    return point, along + about


@remote
def _frame_at(joints, j, xi, ri, xj, rj):
    """(common point, frame of the rows) of joint j for its bodies at these poses: what the stages of a flight need."""
    xa, fa = anchor_pose(joints, j, 0, xi, ri)
    xb, fb = anchor_pose(joints, j, 1, xj, rj)
    return _frame_between(joints, j, xa, fa, xb, fb)


@remote
def _put_frame(joints, j, xi, ri, xj, rj, place, k, measured):
    """The same into place[k], from where it is read four numbers at a time; the common point. ``measured``: the six coordinates
    too."""
    xa, fa = anchor_pose(joints, j, 0, xi, ri)
    xb, fb = anchor_pose(joints, j, 1, xj, rj)
    point, frame = _frame_between(joints, j, xa, fa, xb, fb)
    store3(place, k, point)
    for d in range(18):
        place[k, 3 + d] = frame[d]
    if measured:
        values = measure_frames(joints, j, xa, fa, xb, fb, True)
        for r in range(6):
            place[k, MEASURED + r] = values[r]
    return point


@remote
def _place_at(joints, j, xi, ri, xj, rj):
    """(common point, frame of the rows, six coordinates) of joint j for its bodies at these poses."""
    xa, fa = anchor_pose(joints, j, 0, xi, ri)
    xb, fb = anchor_pose(joints, j, 1, xj, rj)
    point, frame = _frame_between(joints, j, xa, fa, xb, fb)
    return point, frame, measure_frames(joints, j, xa, fa, xb, fb, True)


@remote
def _measure_at(joints, j, xi, ri, xj, rj, free):
    """The six coordinates of joint j for its bodies at these poses; ``free``: the free angles too."""
    xa, fa = anchor_pose(joints, j, 0, xi, ri)
    xb, fb = anchor_pose(joints, j, 1, xj, rj)
    return measure_frames(joints, j, xa, fa, xb, fb, free)


_POSES = lambda: (EXAMPLE.joints, 0, ZERO, IDENTITY, ZERO, IDENTITY)  # noqa: E731
frame_at = far(_frame_at, _POSES, returns=((0.0,) * 3, (0.0,) * 18))
put_frame = far(_put_frame, lambda: (*_POSES(), np.zeros((0, 48)), 0, False), returns=(0.0,) * 3)
place_at = far(_place_at, _POSES, returns=((0.0,) * 3, (0.0,) * 18, (0.0,) * 6))
measure_at = far(_measure_at, lambda: (*_POSES(), True), returns=(0.0,) * 6)


@lean
def place_joint(bodies, joints, j):
    """(common point, frame of the rows, six coordinates) of joint j at the current poses; see :func:`_place_at`."""
    xi, ri = body_pose(bodies, joints.body[j, 0])
    xj, rj = body_pose(bodies, joints.body[j, 1])
    return place_at(joints, j, xi, ri, xj, rj)


@lean
def opening(bodies, joints, j):
    """The coordinates of joint j at the current poses, of which the rigid ones say by how much it is open; free angles, and those
    of a joint that holds nothing, are left out."""
    for r in range(6):
        if joints.rigid[j, r] == 1:
            xi, ri = body_pose(bodies, joints.body[j, 0])
            xj, rj = body_pose(bodies, joints.body[j, 1])
            return measure_at(joints, j, xi, ri, xj, rj, False)
    return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@lean
def frame_joint(bodies, joints, j):
    """(common point, frame of the rows) of joint j at the current poses."""
    xi, ri = body_pose(bodies, joints.body[j, 0])
    xj, rj = body_pose(bodies, joints.body[j, 1])
    return frame_at(joints, j, xi, ri, xj, rj)


@lean
def unwrapped(joints, j, value, expected):
    """The coordinate along the axis; of an angle, the turn that is nearest to what is expected."""
    if joints.axis[j] < 3 or abs(expected - value) <= math.pi:
        return value
    return value + 2.0 * math.pi * round((expected - value) / (2.0 * math.pi))


@lean
def has_block(joints, j, block):
    """Joint j needs this block of rows now."""
    if block == LINEAR:
        return joints.rigid[j, 0] + joints.rigid[j, 1] + joints.rigid[j, 2] > 0
    if block == ANGULAR:
        if joints.kind[j] == POINT:
            return joints.friction[j] > 0.0
        return joints.rigid[j, 3] + joints.rigid[j, 4] + joints.rigid[j, 5] > 0
    if joints.axis[j] < 0:
        return False
    if block == DRIVE:
        return kicks(joints, j) or joints.armature[j] > 0.0
    return joints.limit[j, 0] > -math.inf or joints.limit[j, 1] < math.inf


@lean
def kicks(joints, j):
    """The spring, damper, friction or motor of joint j acts at the steps."""
    now = joints.sprung[j] == 0 or joints.sprung_before[j] == 0
    return (now and (joints.stiffness[j] > 0.0 or joints.damping[j] > 0.0)) or pushes(joints, j)


@lean
def block_law(joints, j, block):
    """How the solver treats the block."""
    if block == DRIVE:
        return SOFT_LAW
    return BALL_LAW if block == ANGULAR and joints.kind[j] == POINT else BOX_LAW


@lean
def row_axis(joints, j, block, r, frame):
    """(used, turns, direction) of row r: a vector of the world; whether the row is one of turning."""
    if block <= ANGULAR:
        turns = block == ANGULAR
        used = joints.rigid[j, 3 * block + r] == 1 or (turns and joints.kind[j] == POINT)
        c = r + 9 if turns else r
        return used, turns, (frame[c], frame[3 + c], frame[6 + c])
    axis = joints.axis[j]
    c = axis % 3 + 9 if axis >= 3 else axis
    sign = -1.0 if block == LIMITS and r == 1 else 1.0
    used = block != LIMITS or (r < 2 and math.isfinite(joints.limit[j, r]))
    return used, axis >= 3, (sign * frame[c], sign * frame[3 + c], sign * frame[6 + c])


@lean
def row_velocity(bodies, joints, j, turns, direction, point):
    """Velocity of b against a along a row [m/s or rad/s]."""
    va, wa = _motion(bodies, joints.body[j, 0], point)
    vb, wb = _motion(bodies, joints.body[j, 1], point)
    return dot(direction, sub(wb, wa)) if turns else dot(direction, sub(vb, va))


@lean
def _motion(bodies, i, point):
    """Velocity at a point of the world, and angular velocity."""
    if i < 0:
        return ZERO, ZERO
    w = load3(bodies.w, i)
    return add(load3(bodies.v, i), cross(w, sub(point, load3(bodies.x, i)))), w


@remote
def _load_block(bodies, joints, j, block, k, system, laws, p):
    """Fill block k of a problem with a block of joint j; its bodies are given."""
    point, frame = frame_joint(bodies, joints, j)
    a, b, ja, jb, u0, lo, hi = system.a, system.b, system.ja, system.jb, laws.u0, laws.lo, laws.hi
    laws.law[k], laws.mu[k] = block_law(joints, j, block), 0.0
    for r in range(3):
        used, turns, e = row_axis(joints, j, block, r, frame)
        joints.before[j, 3 * block + r] = row_velocity(bodies, joints, j, turns, e, point) if used else 0.0
        p[k, r] = joints.impulse[j, 3 * block + r] if used else 0.0
        u0[k, r] = 0.0
        for c in range(6):
            ja[k, r, c] = 0.0
            jb[k, r, c] = 0.0
        lo[k, r], hi[k, r] = _bounds(joints, j, block, r)
        if not used:
            lo[k, r] = hi[k, r] = 0.0
            continue
        for side in range(2):
            i = joints.body[j, side]
            local = a[k] if side == 0 else b[k]
            sign = -1.0 if side == 0 else 1.0
            if local < 0:  # moved by no impulse
                v, w = _motion(bodies, i, point)
                u0[k, r] += sign * (dot(e, w) if turns else dot(e, v))
                continue
            arm = e if turns else cross(sub(point, load3(bodies.x, i)), e)
            for c in range(3):
                linear = 0.0 if turns else sign * e[c]
                if side == 0:
                    ja[k, r, c], ja[k, r, 3 + c] = linear, sign * arm[c]
                else:
                    jb[k, r, c], jb[k, r, 3 + c] = linear, sign * arm[c]


@lean
def _bounds(joints, j, block, r):
    """Least and largest impulse of a row, in units of force: the kick multiplies by its time."""
    if block == LIMITS:
        return 0.0, math.inf
    if block == DRIVE:
        most = joints.friction[j] if r == 1 else joints.strength[j]
        return -most, most
    if block == ANGULAR and joints.kind[j] == POINT:
        return -joints.friction[j], joints.friction[j]
    return -math.inf, math.inf


load_block = far(
    _load_block, lambda: (EXAMPLE.bodies, EXAMPLE.joints, 0, 0, 0, NO_SYSTEM, NO_LAWS, np.zeros((0, 3))), returns=None
)


@lean
def torn(bodies, joints):
    """A rigid coordinate is far from zero: the kick could not hold the joint."""
    for j in range(len(joints.kind)):
        values = opening(bodies, joints, j)
        size = math.inf
        for side in range(2):
            if is_dynamic(bodies, joints.body[j, side]):
                size = min(size, bodies.radius[joints.body[j, side]])
        for r in range(6):
            if joints.rigid[j, r] == 1 and abs(values[r]) > TEAR * (size if r < 3 else 1.0):
                return True
    return False


@lean
def rigid_rows(joints, island, laws):
    """Leave only the rigid rows of joints: equalities without bounds; no impulse along the free coordinates."""
    for n in range(len(island.owner)):
        j, s, k = island.owner[n], island.block[n], len(island.rows) + n
        laws.law[k] = BOX_LAW
        for r in range(3):
            rigid = s <= ANGULAR and joints.rigid[j, 3 * s + r] == 1
            laws.lo[k, r], laws.hi[k, r] = (-math.inf, math.inf) if rigid else (0.0, 0.0)


@lean
def wrench(joints, j, block, frame, p):
    """Force and torque on b, in the world, of the impulses p of a block."""
    f, t = ZERO, ZERO
    for r in range(3):
        used, turns, e = row_axis(joints, j, block, r, frame)
        if used and turns:
            t = axpy(p[r], e, t)
        elif used:
            f = axpy(p[r], e, f)
    return f, t


@lean
def is_dynamic(bodies, i):
    return i >= 0 and bodies.kind[i] == DYNAMIC
