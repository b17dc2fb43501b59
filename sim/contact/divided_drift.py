"""Into how many parts a drift is divided: where it is too long for what is wanted at its end, or for the energy of its contacts.

A kick takes the forces of the coming flight as steady. They are found by looks at its end (contact_accelerations.py,
flight/joint_looks.py), and a flight in which none is found is too long. Where they are found, the impulses still give energy and
take it again within the flight (contact_blocks.contact_swing): by the square of its length, so four parts have a sixteenth of it.
"""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import inner, lean
from tumble.collision.linalg import ZERO, axpy, dot, load3, norm, sub
from tumble.sim.contact.contact_blocks import contact_swing
from tumble.sim.joints.rows import is_dynamic
from tumble.sim.joints.velocity_solve import SURPRISE
from tumble.sim.ledger.kick_numbers import effort_of
from tumble.sim.ledger.work import MEAN_GIVEN

RISE = 2.5e-6  # part of all energy that impulses of contacts may give and take again in a drift: a quarter of what is promised
# [rad] most turn of a jointed body beside contacts in a flight: normals and arms that its kick takes as steady turn by as much
STEADY_TURN = 0.5
LOST_PARTS = 8  # a drift in so many parts whose looks still find no end is not looked at any more, and stays divided
MOST_PARTS = 64  # most parts that a drift is divided into
# Most parts for a body by itself, where the phase of its contacts asks for them: a coin that falls flat from its edge needs a
# thousand of them for 0.1 ms.
MOST_PARTS_ALONE = 4096


@lean
def most_parts(settings, links, members):
    """(Into how many parts, at most, the drift of an island may be divided; into how many where only the phase of its contacts
    asks for it.)

    Joints get as many parts as they need. Contacts of several bodies get no more than a step may spend on kicks inside it
    (Settings.crowd). The contacts of a body by itself are cheap to kick, and get more.
    """
    most = MOST_PARTS if len(links) > 0 else min(MOST_PARTS, settings.crowd / effort_of(len(members)))
    return most, MOST_PARTS_ALONE if len(links) == 0 and len(members) == 1 else most


@lean
def parts_before(bodies, joints, island, mode, most, dt):
    """Into how many parts to divide the drift at first, ``most`` at most: as many as in the last step; and where jointed bodies
    may touch something, so many that neither they nor the lines between them turn in one by more than STEADY_TURN."""
    parts = 1
    if mode != MEAN_GIVEN:
        for i in island.members:
            parts = max(parts, bodies.parts[i])
    if len(island.links) > 0 and len(island.rows) > 0:
        turn = 0.0
        for i in island.members:
            turn = max(turn, dt * norm(load3(bodies.w, i)))
        for j in island.links:
            turn = max(turn, dt * _line_rate(bodies, joints.body[j, 0], joints.body[j, 1]))
        while parts * STEADY_TURN < turn and parts < most:
            parts *= 2
    while parts > max(1, most):
        parts //= 2
    return parts


@lean
def _line_rate(bodies, i, j):
    """How fast the line between two dynamic bodies turns [rad/s]; of others 0."""
    if not (is_dynamic(bodies, i) and is_dynamic(bodies, j)):
        return 0.0
    line, u = sub(load3(bodies.x, j), load3(bodies.x, i)), sub(load3(bodies.v, j), load3(bodies.v, i))
    return norm(u) / max(norm(line), min(bodies.radius[i], bodies.radius[j]))


@lean
def part_length(wait, parts, dt):
    """Length of a flight for which the rest of the drift, ``wait``, is divided evenly: about dt/parts."""
    return wait / max(1.0, math.ceil(parts * wait / dt - 1e-6))


@inner
def divide(bodies, contacts, joints, settings, island, system, laws, kick, looks, h, parts, lacks, turn, looking, v):
    """(Into how many parts to divide this drift; into how many the next one; the energy of the phase of contacts.)

    There are more parts where what is wanted at the end of so long a flight was not found, or where more energy comes and goes
    within it than RISE allows. The energy is that which comes and goes with the phase, as a part of what RISE allows; it is no
    number where it was not asked for.
    """
    if (looking and lacks * h > SURPRISE) or (turn and lacks > settings.tolerance):
        more = parts if parts >= MOST_PARTS else 2 * parts
        return more, more, math.nan
    if not turn:
        return parts, parts, math.nan
    swing, phase = contact_swing(bodies, contacts, island.rows, system, laws, looks.best_p, v, h, kick.mode, looks.arrives)
    scale = 1.0 / (RISE * _energy(bodies, contacts, joints, island, system, v))
    swing, phase = scale * swing, scale * phase
    more = max(_parts_for(swing, parts, kick.most), _parts_for(phase, parts, kick.limit))
    if more > parts:
        return more, more, phase
    left = swing if parts <= kick.most else phase
    return parts, parts // 2 if parts > 1 and left < 0.2 else parts, phase


@lean
def _parts_for(swing, parts, most):
    """How many parts, at most ``most``, bring down to 1 what is ``swing`` with ``parts`` of them and falls by the square of their
    length. Just as many as now where ``swing`` is no number."""
    while swing > 1.0 and 2 * parts <= most:
        parts, swing = 2 * parts, 0.25 * swing
    return parts


@inner
def _energy(bodies, contacts, joints, island, system, v):
    """The scale of energies that may come and go in an island [J]: its kinetic energy, relative to what holds it or else to its
    centre of mass, and what its bodies would gain by falling through their own sizes."""
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
