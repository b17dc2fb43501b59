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
from tumble.sim.ledger.kick_numbers import effort_of
from tumble.sim.ledger.work import MEAN_GIVEN

RISE = 2.5e-6  # part of all energy that impulses of contacts may give and take again in a drift: a quarter of what is promised
# [rad] most turn of a jointed body beside contacts in a flight: normals and arms that its kick takes as steady turn by as much
STEADY_TURN = 0.5
LOST_PARTS = 8  # a drift in so many parts whose looks still find no end is not looked at any more
MOST_PARTS = 64  # most parts that a drift is divided into
# The same of a body by itself, for the phase of its contacts: a coin that falls flat from its edge needs a thousand for 0.1 ms.
MOST_PARTS_ALONE = 4096


@lean
def most_parts(settings, links, members):
    """Into how many parts, at most, the drift of an island may be divided: for all that comes and goes within it, and for the
    phase of its contacts. Joints need what they need; contacts of several bodies divide a step no further than it may be spent.
    """
    most = MOST_PARTS if len(links) > 0 else min(MOST_PARTS, settings.crowd / effort_of(len(members)))
    return most, MOST_PARTS_ALONE if len(links) == 0 and len(members) == 1 else most


@lean
def parts_before(bodies, island, mode, most, dt):
    """Into how many parts to divide the drift at first, ``most`` at most: as many as in the last step; and where jointed bodies
    may touch something, so many that none turns in one by more than STEADY_TURN."""
    parts = 1
    if mode != MEAN_GIVEN:
        for i in island.members:
            parts = max(parts, bodies.parts[i])
    if len(island.links) > 0 and len(island.rows) > 0:
        turn = 0.0
        for i in island.members:
            turn = max(turn, dt * norm(load3(bodies.w, i)))
        while parts * STEADY_TURN < turn and parts < most:
            parts *= 2
    while parts > max(1, most):
        parts //= 2
    return parts


@lean
def part_length(wait, parts, dt):
    """Length of a flight for which the rest of the drift, ``wait``, is divided evenly: about dt/parts."""
    return wait / max(1.0, math.ceil(parts * wait / dt - 1e-6))


@inner
def divide(bodies, contacts, joints, settings, island, system, laws, kick, looks, h, parts, lacks, turn, looking, v):
    """Into how many parts to divide this drift, and the next one: more where what is wanted at the end of so long a flight is not
    found, or where more energy comes and goes than RISE allows; and what comes and goes with the phase of contacts, by that."""
    if (looking and lacks * h > SURPRISE) or (turn and lacks > settings.tolerance):
        more = parts if parts >= MOST_PARTS else 2 * parts
        return more, more, math.nan
    if not turn:
        return parts, parts, math.nan
    swing, phase = contact_swing(bodies, contacts, island.rows, system, laws, looks.best_p, v, kick.mode, looks.arrives)
    scale = 1.0 / (RISE * _energy(bodies, contacts, joints, island, system, v))
    swing, phase = scale * swing, scale * phase
    more = max(_parts_for(swing, parts, kick.most), _parts_for(phase, parts, kick.limit))
    if more > parts:
        return more, more, phase
    left = swing if parts <= kick.most else phase
    return parts, parts // 2 if parts > 1 and left < 0.2 else parts, phase


@lean
def _parts_for(swing, parts, most):
    """How many parts, at most, leave no more of this than 1, where ``parts`` leave ``swing``: as many where it is no number."""
    while swing > 1.0 and 2 * parts <= most:
        parts, swing = 2 * parts, 0.25 * swing
    return parts


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
