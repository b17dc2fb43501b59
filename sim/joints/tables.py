"""The arrays of joints, as joints and bodies come and go; and what they tell, in NumPy."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sim.diagnostics import rotations
from sim.joints.definitions import MOTOR, Distance, Driven, Hinge, JointDef, Point, Slider
from sim.state import DISTANCE, DYNAMIC, FIXED, HINGE, POINT, SLIDER, Joints, Model, copied, joints_of

KINDS = {"Point": POINT, "Hinge": HINGE, "Slider": SLIDER, "Fixed": FIXED, "Distance": DISTANCE}
RIGID = {
    POINT: (1, 1, 1, 0, 0, 0),
    HINGE: (1, 1, 1, 1, 1, 0),
    SLIDER: (1, 1, 0, 1, 1, 1),
    FIXED: (1, 1, 1, 1, 1, 1),
    DISTANCE: (0, 0, 1, 0, 0, 0),
}
AXIS = {POINT: -1, HINGE: 5, SLIDER: 2, FIXED: -1, DISTANCE: 2}


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


def _write(model: Model, joints: Joints, j: int, d: JointDef, pair: tuple[int, int]) -> None:
    kind = KINDS[type(d).__name__]
    joints.kind[j], joints.body[j], joints.axis[j] = kind, pair, AXIS[kind]
    joints.rigid[j] = RIGID[kind]
    frame = frame_about(d.axis) if isinstance(d, Hinge | Slider) else np.eye(3)
    anchors = (d.anchor_a, d.anchor_b) if isinstance(d, Distance) else (d.anchor, d.anchor)
    for side, (i, anchor) in enumerate(zip(pair, anchors, strict=True)):
        rot = rotations(model.bodies.q[i : i + 1])[0] if i >= 0 else np.eye(3)
        origin = model.bodies.x[i] if i >= 0 else np.zeros(3)
        joints.anchor[j, side] = rot.T @ (np.array(anchor) - origin)
        joints.frame[j, side] = rot.T @ frame
    joints.limit[j] = -math.inf, math.inf
    joints.collide[j] = d.collide
    if isinstance(d, Point):
        joints.friction[j] = d.friction
    if not isinstance(d, Driven):
        return
    joints.stiffness[j], joints.damping[j], joints.friction[j] = d.stiffness, d.damping, d.friction
    joints.speed[j], joints.strength[j] = d.motor_speed, getattr(d, MOTOR[type(d).__name__])
    if d.limits is not None:
        joints.limit[j] = d.limits
    joints.rest[j] = d.rest or 0.0
    if isinstance(d, Distance):
        here = math.dist(d.anchor_a, d.anchor_b)
        joints.value[j] = here
        if d.rest is None:
            joints.rest[j] = here
        if d.rigid:
            joints.axis[j] = -1
            joints.length[j] = here if d.length is None else d.length
        else:
            joints.rigid[j] = 0


def tune(joints: Joints, j: int, d: JointDef) -> None:
    """Write what can be changed of a joint while the world runs."""
    joints.friction[j] = d.friction
    if isinstance(d, Driven):
        joints.stiffness[j], joints.damping[j] = d.stiffness, d.damping
        joints.limit[j] = (-math.inf, math.inf) if d.limits is None else d.limits
        if d.rest is not None or not isinstance(d, Distance):
            joints.rest[j] = d.rest or 0.0


def frame_about(axis: Sequence[float]) -> np.ndarray:
    """(3, 3): a right-handed frame, its columns the axes, whose third axis is the given direction."""
    z = np.array(axis) / math.hypot(*axis)
    x = np.zeros(3)
    x[np.argmin(np.abs(z))] = 1.0
    x -= z * (z @ x)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


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


def place(model: Model, j: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Anchors (3,) and frames (3, 3) of both sides of joint j in the world."""
    joints, b = model.joints, model.bodies
    out = []
    for side in range(2):
        i = joints.body[j, side]
        rot = rotations(b.q[i : i + 1])[0] if i >= 0 else np.eye(3)
        out += [rot @ joints.anchor[j, side] + (b.x[i] if i >= 0 else 0.0), rot @ joints.frame[j, side]]
    return out[0], out[1], out[2], out[3]


def directions(model: Model, j: int) -> np.ndarray:
    """(3, 3): the axes of the rows of joint j, its rows."""
    xa, fa, xb, _ = place(model, j)
    if model.joints.kind[j] == DISTANCE:
        d = xb - xa
        return frame_about(d if d.any() else (0, 0, 1)).T
    return fa.T


def coordinate(model: Model, j: int) -> float:
    """The free coordinate of joint j [rad or m]; an angle counts its turns."""
    xa, fa, xb, fb = place(model, j)
    kind = model.joints.kind[j]
    if kind == HINGE:
        r = fa.T @ fb
        angle = math.atan2(r[1, 0] - r[0, 1], r[0, 0] + r[1, 1])
        return angle + 2 * math.pi * round((model.joints.value[j] - angle) / (2 * math.pi))
    return float(np.linalg.norm(xb - xa)) if kind == DISTANCE else float(fa[:, 2] @ (xb - xa))


def spring_energy(model: Model) -> float:
    """Energy in the springs of joints [J]."""
    joints = model.joints
    return sum(
        0.5 * float(joints.stiffness[j]) * (coordinate(model, j) - float(joints.rest[j])) ** 2
        for j in np.flatnonzero(joints.stiffness)
    )
