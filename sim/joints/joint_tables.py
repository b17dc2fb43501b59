"""The arrays of joints, as joints and bodies come and go; and what they tell, in NumPy."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tumble.sim.joints.joint_definitions import (
    COORDINATES,
    Distance,
    Driven,
    Gear,
    General,
    Hinge,
    JointDef,
    Point,
    Screw,
    Slider,
    Universal,
    pitch_radii,
)
from tumble.sim.joints.kinds.general import LOCKED
from tumble.sim.ledger.diagnostics import angular_velocities, rotations, velocities
from tumble.sim.state import (
    DISTANCE,
    DYNAMIC,
    FIXED,
    GEAR,
    GENERAL,
    HINGE,
    POINT,
    SCREW,
    SLIDER,
    Joints,
    Model,
    copied,
    joints_of,
)

JOINT_CODES = {
    "Point": POINT,
    "Hinge": HINGE,
    "Slider": SLIDER,
    "Fixed": FIXED,
    "Distance": DISTANCE,
    "Gear": GEAR,
    "Screw": SCREW,
}
JOINT_CODES |= dict.fromkeys(("General", "Drive", "Wheel", "Universal"), GENERAL)
UNIVERSAL = ("turn_x", "turn_z")  # what is free in one
RIGID_ROWS = {
    POINT: (1, 1, 1, 0, 0, 0),
    HINGE: (1, 1, 1, 1, 1, 0),
    SLIDER: (1, 1, 0, 1, 1, 1),
    FIXED: (1, 1, 1, 1, 1, 1),
    DISTANCE: (0, 0, 1, 0, 0, 0),
    GENERAL: (1, 1, 1, 1, 1, 1),
    GEAR: (1, 0, 0, 0, 0, 0),
    SCREW: (1, 0, 0, 0, 0, 0),
}
FREE_AXIS = {HINGE: 5, SLIDER: 2, DISTANCE: 2}


def with_joints(model: Model, definitions: Sequence[JointDef], rows: Sequence[tuple[int, int]]) -> Model:
    """The model with joints added between the bodies of these ``rows`` (-1: the world), as they stand now."""
    old = len(model.joints.kind)
    joints = joints_of(old + len(definitions))
    copied(_table(model.joints), _table(joints))
    for j, (d, pair) in enumerate(zip(definitions, rows, strict=True), old):
        _write(model, joints, j, d, pair)
    return linked(model._replace(joints=joints))


def _table(joints: Joints) -> tuple[np.ndarray, ...]:
    """The columns that have one row a joint."""
    return joints[:-2]


def axis_of(d: JointDef) -> int:
    """Which of the six coordinates is the driven one, -1 for none."""
    if isinstance(d, General):
        return -1 if d.driven is None else COORDINATES.index(d.driven)
    return -1 if isinstance(d, Distance) and d.rigid else FREE_AXIS.get(JOINT_CODES[type(d).__name__], -1)


def _write(model: Model, joints: Joints, j: int, d: JointDef, pair: tuple[int, int]) -> None:
    kind = JOINT_CODES[type(d).__name__]
    joints.kind[j], joints.body[j], joints.axis[j] = kind, pair, axis_of(d)
    joints.rigid[j] = RIGID_ROWS[kind]
    frames, anchors = frames_of(d), anchors_of(d)
    for side, (i, anchor) in enumerate(zip(pair, anchors, strict=True)):
        origin, rot = standing(model, i)
        joints.anchor[j, side] = rot.T @ (np.array(anchor) - origin)
        joints.frame[j, side] = rot.T @ frames[side]
    joints.limit[j] = -math.inf, math.inf
    joints.collide[j] = d.collide
    if isinstance(d, Universal | General):
        free = UNIVERSAL if isinstance(d, Universal) else d.free
        joints.rigid[j] = [name not in free for name in COORDINATES]
        joints.length[j] = 1.0
    elif isinstance(d, Screw):
        joints.ratio[j, 0] = d.pitch / (2 * math.pi)
    elif isinstance(d, Gear):
        (ra, rb), (fa, fb) = pitch_radii(d), frames
        same = math.copysign(1.0, np.cross(fa[:, 2], fa[:, 0]) @ np.cross(fb[:, 2], fb[:, 0]))
        joints.ratio[j] = ra, same * rb, d.teeth_a, same * d.teeth_b
    if isinstance(d, General) and d.driven is not None:
        joints.length[j] = -1.0 if d.reverse else 1.0
    if isinstance(d, Point | Driven):
        tune(joints, j, d)
    if isinstance(d, Driven):
        joints.speed[j], joints.strength[j], joints.armature[j] = d.motor_speed, d.motor, d.armature
    if isinstance(d, Distance):
        here = math.dist(d.anchor_a, d.anchor_b)
        joints.value[j] = here
        if d.rigid:
            joints.axis[j] = -1
            joints.length[j] = here if d.length is None else d.length
        else:
            joints.rigid[j] = 0


def spring_slack(d: Driven) -> float:
    """Where the spring of a joint is slack, by its definition; coordinates in the table have no ``reference``."""
    if d.rest is not None:
        return d.rest - d.reference
    return math.dist(d.anchor_a, d.anchor_b) if isinstance(d, Distance) else 0.0


def tune(joints: Joints, j: int, d: JointDef) -> None:
    """Write what can be changed of a joint while the world runs."""
    joints.friction[j] = d.friction
    if isinstance(d, Driven):
        joints.stiffness[j], joints.damping[j] = d.stiffness, d.damping
        joints.limit[j] = (-math.inf, math.inf) if d.limits is None else np.subtract(d.limits, d.reference)
        joints.rest[j] = spring_slack(d)


def frame_about(axis: Sequence[float]) -> np.ndarray:
    """(3, 3): a right-handed frame, its columns the axes, whose third axis is the given direction."""
    z = np.array(axis) / math.hypot(*axis)
    x = np.zeros(3)
    x[np.argmin(np.abs(z))] = 1.0
    x -= z * (z @ x)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def frame_of(x: Sequence[float], y: Sequence[float] | None) -> np.ndarray:
    """(3, 3): a right-handed frame by its first two axes; any second one where that is not given."""
    if y is None:
        return np.roll(frame_about(x), 1, axis=1)
    x, y = np.array(x) / math.hypot(*x), np.array(y, dtype=float)
    y -= x * (x @ y)
    y /= np.linalg.norm(y)
    return np.column_stack([x, y, np.cross(x, y)])


def frames_of(d: JointDef) -> tuple[np.ndarray, np.ndarray]:
    """Frames of both sides in the world as the joint is made; of a gear the first axes face each other, else they coincide."""
    if isinstance(d, Gear):
        to = np.array(d.center_b) - d.center_a
        return tuple(np.roll(frame_of(axis, u - axis * (u @ axis) / (axis @ axis)), -1, axis=1)
                     for axis, u in ((np.array(d.axis_a), to), (np.array(d.axis_b), -to)))  # fmt: skip
    if isinstance(d, Hinge | Slider | Screw):
        frame = frame_about(d.axis)
    elif isinstance(d, Universal):
        frame = frame_of(d.axis, np.cross(d.axis_b, d.axis))
    elif isinstance(d, General):
        frame = frame_of(d.axis, d.axis_y)
    else:
        frame = np.eye(3)
    return frame, frame


def anchors_of(d: JointDef) -> tuple[Sequence[float], Sequence[float]]:
    """The anchors of both sides in the world as the joint is made."""
    if isinstance(d, Gear):
        return d.center_a, d.center_b
    return (d.anchor_a, d.anchor_b) if isinstance(d, Distance) else (d.anchor, d.anchor)


def linked(model: Model) -> Model:
    """The model with what follows from its joints worked out: bodies that they connect, pairs that do not touch."""
    joints, n = model.joints, len(model.bodies.kind)
    label = np.full(n, -1, dtype=np.int64)
    moving = [[i for i in pair if i >= 0 and model.bodies.kind[i] == DYNAMIC] for pair in joints.body]
    for pair in moving:
        label[pair] = pair
    changed = True
    while changed:  # the smallest index spreads along the joints
        changed = False
        for pair in moving:
            low = label[pair].min()
            if (label[pair] > low).any():
                label[pair] = low
                changed = True
    apart = {key_of(int(i), int(j)) for (i, j), touch in zip(joints.body, joints.collide, strict=True) if not touch}
    apart.discard(None)
    return model._replace(joints=joints._replace(linked=label, apart=np.array(sorted(apart), dtype=np.int64)))


def key_of(i: int, j: int) -> int | None:
    """``pairs.pair_key``, in Python; None where one is the world."""
    return None if min(i, j) < 0 else (min(i, j) << 32) | max(i, j)


def without_joints(model: Model, gone: np.ndarray) -> Model:
    """The model without the joints where ``gone`` (j,) is true."""
    kept = [column[~gone] for column in _table(model.joints)]
    return linked(model._replace(joints=model.joints._replace(**dict(zip(Joints._fields, kept, strict=False)))))


Ends = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # anchor and frame of a, anchor and frame of b


def joint_frames(model: Model, j: int) -> Ends:
    """Anchors (3,) and frames (3, 3) of both sides of joint j in the world."""
    return joint_ends(model.joints, j, *(standing(model, i) for i in model.joints.body[j]))


def standing(model: Model, i: int) -> tuple[np.ndarray, np.ndarray]:
    """Centre of mass (3,) and rotation (3, 3) of body i; of the world, -1, its origin."""
    return (model.bodies.x[i], rotations(model.bodies.q[i : i + 1])[0]) if i >= 0 else (np.zeros(3), np.eye(3))


def joint_ends(joints: Joints, j: int, a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]) -> Ends:
    """The same where its bodies have these centres of mass (3,) and rotations (3, 3)."""
    (xa, ra), (xb, rb), anchor, frame = a, b, joints.anchor[j], joints.frame[j]
    return ra @ anchor[0] + xa, ra @ frame[0], rb @ anchor[1] + xb, rb @ frame[1]


def measured(model: Model, j: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of joint j: where its forces act (3,), directions of travels and of turns (3, 3), rows; the six coordinates (6,).

    The same as ``rows.place_joint``, in NumPy.
    """
    return measured_at(model.joints, j, *joint_frames(model, j))


def measured_at(
    joints: Joints, j: int, xa: np.ndarray, fa: np.ndarray, xb: np.ndarray, fb: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The same where its sides are at these anchors and frames."""
    kind = joints.kind[j]
    d, r = fa.T @ (xb - xa), fa.T @ fb
    turns = np.array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]]) / 2
    point, along, about = xb, fa.T, fa.T
    if kind == HINGE:
        turns = np.array([-r[1, 2], r[0, 2], math.atan2(r[1, 0] - r[0, 1], r[0, 0] + r[1, 1])])
    elif kind == DISTANCE:
        along = frame_about(xb - xa if (xb - xa).any() else (0, 0, 1)).T
        d = np.array([0, 0, np.linalg.norm(xb - xa) - joints.length[j]])
    elif kind == GENERAL:
        s = joints.length[j]
        turns = s * angles_of(r)
        d, along, about = s * d, s * fa.T, s * reciprocal(fa[:, 0], fb[:, 2])
    elif kind == GEAR:
        ra, _, na, nb = joints.ratio[j]
        u, w = (v - (v @ e) * e for v, e in ((xb - xa, fa[:, 2]), (xa - xb, fb[:, 2])))
        u, w = u / np.linalg.norm(u), w / np.linalg.norm(w)
        seen = [math.atan2(f[:, 2] @ np.cross(v, f[:, 0]), v @ f[:, 0]) for v, f in ((u, fa), (w, fb))]
        d = np.array([_wrapped(nb * seen[1] - na * seen[0]) * ra / na, 0, 0])
        point, along = xa + ra * u, np.array([np.cross(fa[:, 2], u), u, fa[:, 2]])
    elif kind == SCREW:
        lead = joints.ratio[j, 0]
        turn = math.atan2(r[1, 0] - r[0, 1], r[0, 0] + r[1, 1])
        point = xb + abs(lead) * fa[:, 0]
        along = np.array([fa[:, 2] - math.copysign(1, lead) * fa[:, 1], fa[:, 0], fa[:, 1]])
        d = np.array([lead * _wrapped(d[2] / lead - turn), 0, 0])
    return point, along, about, np.concatenate([d, turns])


def _wrapped(angle: float) -> float:
    return angle - 2 * math.pi * round(angle / (2 * math.pi))


def angles_of(r: np.ndarray) -> np.ndarray:
    """(3,) the angles of a rotation (3, 3) as turns about x, y, z one after the other [rad]."""
    return np.array(
        [math.atan2(-r[1, 2], r[2, 2]), math.atan2(r[0, 2], math.hypot(r[1, 2], r[2, 2])), math.atan2(-r[0, 1], r[0, 0])]
    )


def reciprocal(e1: np.ndarray, e3: np.ndarray) -> np.ndarray:
    """(3, 3): rows that give the rates of the three angles by their product with the angular velocity (general.py)."""
    n = np.cross(e3, e1)
    c = max(float(np.linalg.norm(n)), LOCKED)
    e2 = n / c
    return np.array([np.cross(e2, e3) / c, e2, np.cross(e1, e2) / c])


def coordinate(model: Model, j: int) -> float:
    """The free coordinate of joint j [rad or m], zero where it was made; an angle counts its turns."""
    axis = model.joints.axis[j]
    value = float(measured(model, j)[3][axis])
    if axis >= 3:
        return value + 2 * math.pi * round((model.joints.value[j] - value) / (2 * math.pi))
    return value


def rate(model: Model, j: int) -> float:
    """Rate of the free coordinate of joint j in the middle of the kick [rad/s or m/s]."""
    axis, (point, along, about, _), b = model.joints.axis[j], measured(model, j), model.bodies
    v, w = velocities(b), angular_velocities(b)
    move, turn = np.zeros(3), np.zeros(3)
    for sign, i in zip((-1, 1), model.joints.body[j], strict=True):
        if i >= 0:
            move += sign * (v[i] + np.cross(w[i], point - b.x[i]))
            turn += sign * w[i]
    return float(about[axis - 3] @ turn if axis >= 3 else along[axis] @ move)


def spring_force(model: Model, j: int) -> float:
    """Force along the free coordinate of the spring and damper of joint j, if they act in flight [N or N m]."""
    joints = model.joints
    if not joints.sprung[j]:
        return 0.0
    return float(joints.stiffness[j] * (joints.rest[j] - coordinate(model, j)) - joints.damping[j] * rate(model, j))
