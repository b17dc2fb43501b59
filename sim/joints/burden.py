"""Whether the last kick of a body is another one where other forces act in the flight after it."""

from __future__ import annotations

from tumble.collision.kernels.jit import kernel, lean
from tumble.sim.joints.velocity_solve import held_in_flight
from tumble.sim.ledger.kick_numbers import can_be_taken

NOTHING, ALL, ITS_ISLAND = range(3)  # what is kicked anew where another force acts on a body than the last kick assumed


@kernel
def bears(model, i):
    """NOTHING, ALL or ITS_ISLAND.

    ITS_ISLAND: body i touches something, and the phase of its last kick can be taken back (half_kick.py). ALL: it can not;
    or what the body is jointed to touches something; or such a joint asks for more than to stay closed, as a motor or a stiff
    spring does. NOTHING: kicks give it nothing, since rigid coordinates are held in flight (constraint_forces.py).
    """
    bodies, _, _, contacts, _, forces, joints = model
    label = joints.linked[i]
    for k in range(contacts.count[0]):
        for side in range(2):
            if contacts.body[k, side] == i or (label >= 0 and joints.linked[contacts.body[k, side]] == label):
                alone = label < 0 and bodies.crowd[i] == 0 and can_be_taken(bodies, contacts, bodies.held[i])
                return ITS_ISLAND if alone else ALL
    for j in range(len(joints.kind) if label >= 0 else 0):
        if _joins(joints, j, label) and not held_in_flight(bodies, joints, forces, (j,), 0.0):
            return ALL
    return NOTHING


@lean
def _joins(joints, j, label):
    """Joint j holds a body of those that are jointed to each other under this label."""
    a, b = joints.body[j, 0], joints.body[j, 1]
    return (a >= 0 and joints.linked[a] == label) or (b >= 0 and joints.linked[b] == label)
