"""The state of one body or joint as numbers: what ``body.position`` and the like read, whatever the number of bodies.

Velocities are those of the middle of the kick. All follows from x, q, p, l alone, so that it holds for what was just set, too.
"""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import kernel, lean
from tumble.collision.linalg import ZERO, add, cross, dot, load3, load4, load9, mul, mul_t, norm, rotation, scale, sub
from tumble.sim.joints.kinds.general import measure_general, turning_frame
from tumble.sim.joints.rows import NO_FRAME, anchor_pose
from tumble.sim.state import DISTANCE, DYNAMIC, GENERAL, HINGE

POSITION, ORIENTATION, VELOCITY, ANGULAR_VELOCITY = (0, 3), (3, 7), (7, 10), (10, 13)  # where they begin and end in a glance


@lean
def mean_motion(bodies, i, rot):
    """Velocity and angular velocity of body i in the middle of the kick."""
    p, l = load3(bodies.p, i), load3(bodies.l, i)
    if bodies.kind[i] != DYNAMIC:
        return p, l
    v = scale(bodies.inv_mass[i], scale(0.5, add(p, load3(bodies.p_before, i))))
    l = mul_t(rot, scale(0.5, add(l, load3(bodies.l_before, i))))
    return v, mul(rot, mul(load9(bodies.inv_inertia, i), l))


@kernel
def glance(bodies, i):
    """Position of the origin of the frame of body i, orientation, velocity, angular velocity: 13 numbers."""
    q = load4(bodies.q, i)
    rot = rotation(q)
    x = sub(load3(bodies.x, i), mul(rot, load3(bodies.center, i)))
    v, w = mean_motion(bodies, i, rot)
    return x[0], x[1], x[2], q[0], q[1], q[2], q[3], v[0], v[1], v[2], w[0], w[1], w[2]


@lean
def _end(bodies, joints, j, side):
    """Anchor and frame of one side of joint j in the world, and how both move there."""
    i = joints.body[j, side]
    if i < 0:
        x, frame = anchor_pose(joints, j, side, NO_FRAME[0], NO_FRAME[1])
        return x, frame, ZERO, ZERO, ZERO
    rot = rotation(load4(bodies.q, i))
    center = load3(bodies.x, i)
    x, frame = anchor_pose(joints, j, side, center, rot)
    v, w = mean_motion(bodies, i, rot)
    return x, frame, center, v, w


@lean
def _with_turns(joints, j, angle):
    """An angle with the turns that joint j was seen to make."""
    return angle + 2.0 * math.pi * round((joints.value[j] - angle) / (2.0 * math.pi))


@lean
def _driven_coordinate(joints, j, xa, fa, xb, fb, turning, apart):
    """The driven coordinate of a general joint and its rate, where its b turns and goes like this against its a."""
    axis, sign = joints.axis[j], joints.length[j]
    value = measure_general(xa, fa, xb, fb, sign, axis == 3, axis == 4, axis == 5)[axis]
    if axis >= 3:
        about = turning_frame(fa, fb, sign)
        k = axis - 3
        return _with_turns(joints, j, value), dot((about[k], about[3 + k], about[6 + k]), turning)
    return value, sign * dot((fa[axis], fa[3 + axis], fa[6 + axis]), apart)


@lean
def _free_coordinate(bodies, joints, j):
    """The free coordinate of joint j, of a distance all of its length, and its rate."""
    xa, fa, ca, va, wa = _end(bodies, joints, j, 0)
    xb, fb, cb, vb, wb = _end(bodies, joints, j, 1)
    d = sub(xb, xa)
    if joints.kind[j] == HINGE:
        # the third axis is common: the turn about it from the first two axes of both frames
        s = fa[0] * fb[1] + fa[3] * fb[4] + fa[6] * fb[7] - (fa[1] * fb[0] + fa[4] * fb[3] + fa[7] * fb[6])
        c = fa[0] * fb[0] + fa[3] * fb[3] + fa[6] * fb[6] + fa[1] * fb[1] + fa[4] * fb[4] + fa[7] * fb[7]
        return _with_turns(joints, j, math.atan2(-s, c)), dot((fa[2], fa[5], fa[8]), sub(wb, wa))
    apart = sub(add(vb, cross(wb, sub(xb, cb))), add(va, cross(wa, sub(xb, ca))))
    if joints.kind[j] == GENERAL:
        return _driven_coordinate(joints, j, xa, fa, xb, fb, sub(wb, wa), apart)
    axis, along = (fa[2], fa[5], fa[8]), 0.0
    if joints.kind[j] == DISTANCE:
        along = norm(d)
        axis = scale(1.0 / along, d) if along > 0.0 else (0.0, 0.0, 1.0)
    else:
        along = dot(axis, d)
    return along, dot(axis, apart)


@kernel
def glance_joint(bodies, joints, j):
    """The free coordinate of joint j, an angle with the turns that it was seen to make, and its rate."""
    return _free_coordinate(bodies, joints, j)


@kernel
def energies_of_joints(bodies, joints):
    """Energy in the springs of all joints, and in their rotors [J]."""
    springs, rotors = 0.0, 0.0
    for j in range(len(joints.kind)):
        if joints.stiffness[j] == 0.0 and joints.armature[j] == 0.0:
            continue
        value, rate = _free_coordinate(bodies, joints, j)
        stretch = value - joints.rest[j] - (joints.length[j] if joints.kind[j] == DISTANCE else 0.0)
        springs += 0.5 * joints.stiffness[j] * stretch * stretch
        rotors += 0.5 * joints.armature[j] * rate * rate
    return springs, rotors
