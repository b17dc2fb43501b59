"""Whether the last kick of a body is another one where other forces act in the flight after it."""

from __future__ import annotations

from tumble.collision.kernels.jit import kernel, lean
from tumble.sim.joints.velocity_solve import held_in_flight


@kernel
def bears(model, i):
    """1: body i touches something, or what it is jointed to does; or such a joint asks for more than to stay closed, as a motor
    or a stiff spring does. 0: kicks give it nothing, since rigid coordinates are held in flight (constraint_forces.py)."""
    bodies, _, _, contacts, _, _, joints = model
    label = joints.linked[i]
    for k in range(contacts.count[0]):
        for side in range(2):
            if contacts.body[k, side] == i or (label >= 0 and joints.linked[contacts.body[k, side]] == label):
                return 1
    for j in range(len(joints.kind) if label >= 0 else 0):
        if _joins(joints, j, label) and not held_in_flight(bodies, joints, (j,)):
            return 1
    return 0


@lean
def _joins(joints, j, label):
    """Joint j holds a body of those that are jointed to each other under this label."""
    a, b = joints.body[j, 0], joints.body[j, 1]
    return (a >= 0 and joints.linked[a] == label) or (b >= 0 and joints.linked[b] == label)
