"""Into how many parts a drift is divided: where it is too long for what is wanted at its end, or for the energy of its contacts.

A kick takes the forces of the coming flight as steady. They are found by looks at its end (contact_accelerations.py,
flight/joint_looks.py), and a flight in which none is found is too long. Where they are found, the impulses still give energy and
take it again within the flight (contact_blocks.contact_swing): by the square of its length, so four parts have a sixteenth of it.
"""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import inner, lean
from tumble.collision.linalg import ZERO, axpy, dot, load3, norm
from tumble.sim.contact.contact_blocks import contact_swing
from tumble.sim.joints.rows import is_dynamic
from tumble.sim.joints.velocity_solve import SURPRISE
from tumble.sim.ledger.work import MEAN_GIVEN

RISE = 2.5e-6  # part of all energy that impulses of contacts may give and take again in a drift: a quarter of what is promised
LOST_PARTS = 8  # a drift in so many parts whose looks still find no end is not looked at any more
MOST_PARTS = 64  # most parts that a drift is divided into


@lean
def parts_before(bodies, members, mode):
    """Into how many parts to divide the drift at first."""
    parts = 1
    if mode != MEAN_GIVEN:
        for i in members:
            parts = max(parts, bodies.parts[i])
    return parts


@lean
def part_length(wait, parts, dt):
    """Length of a flight for which the rest of the drift, ``wait``, is divided evenly: about dt/parts."""
    return wait / max(1.0, math.ceil(parts * wait / dt - 1e-6))


@inner
def divide(bodies, contacts, joints, settings, island, system, laws, kick, looks, h, parts, lacks, turn, looking, v):
    """Into how many parts to divide this drift, and the next one: more where what is wanted at the end of so long a flight is not
    found, or where more energy comes and goes than RISE allows."""
    if (looking and lacks * h > SURPRISE) or (turn and lacks > settings.tolerance):
        more = parts if parts >= MOST_PARTS else 2 * parts
        return more, more
    if not turn:
        return parts, parts
    swing = contact_swing(contacts, island.rows, system, laws, looks.best_p, v, kick.mode, looks.arrives) / RISE
    swing /= _energy(bodies, contacts, joints, island, system, v)
    if 2 * parts > kick.most or not swing > 1.0:  # nor where it is no number: parts would not change that
        return parts, parts // 2 if parts > 1 and swing < 0.2 else parts
    more = parts
    while swing > 1.0 and 2 * more <= kick.most:
        more, swing = 2 * more, 0.25 * swing
    return more, more


@inner
def _energy(bodies, contacts, joints, island, system, v):
    """Kinetic energy of an island against what it is held by, else against its centre of mass, and what it would gain by falling
    through its size [J]: the scale of what may come and go."""
    total, weight, momentum, held = 0.0, 0.0, ZERO, False
    mass, inertia = system.mass, system.inertia
    for k in range(len(mass)):
        i = island.members[k]
        momentum = axpy(mass[k], (v[k, 0], v[k, 1], v[k, 2]), momentum)
        weight += mass[k]
        total += mass[k] * norm(load3(bodies.gravity, i)) * bodies.radius[i]
        for r in range(3):
            total += 0.5 * mass[k] * v[k, r] * v[k, r]
            for s in range(3):
                total += 0.5 * v[k, 3 + r] * inertia[k, r, s] * v[k, 3 + s]
    for j in island.links:
        held = held or not (is_dynamic(bodies, joints.body[j, 0]) and is_dynamic(bodies, joints.body[j, 1]))
    for row in island.rows:
        held = held or not (is_dynamic(bodies, contacts.body[row, 0]) and is_dynamic(bodies, contacts.body[row, 1]))
    return max(total if held else total - 0.5 * dot(momentum, momentum) / weight, 1e-300)
