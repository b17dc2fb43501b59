"""What touches in a crowd: gaps below a skin, and targets that one motion of the bodies can meet.

A heap at rest has far more rows than its bodies have freedoms, most of which stick. They agree where their targets are those
of one motion of the bodies. The gap of a point that bears load, a nanometre to a micrometre of which each has its own, is
not: as a velocity, gap over step, it asks of the point what its neighbours do not do, and the impulses that would obey it
are stresses of the heap against itself, which grow and never settle. So a gap within the skin is none for the velocities,
and is closed as overlaps are, by displacements; and a slip that is worth less than the skin in a step is one that sticks.
Outside crowds gaps are exact.
"""

from __future__ import annotations

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import shorter
from tumble.sim.state import KINETIC_FRICTION, SLIDING_FRICTION, STATIC_FRICTION


@lean
def _depth(bodies, contacts, k, skin):
    return skin * min(bodies.radius[contacts.body[k, 0]], bodies.radius[contacts.body[k, 1]])


@lean
def bore_load(bodies, contacts, k, skin):
    """Contact k of a crowd is within the skin, and bore load in the last kick."""
    return contacts.impulse[k, 2] > 0.0 and abs(contacts.gap[k]) < _depth(bodies, contacts, k, skin)


@lean
def soft_targets(bodies, contacts, rows, skin, h, c, stick, fast):
    """Targets that sweeps can meet together: at rest they are what one motion of the bodies gives (docs/step.md).

    A point that bears load within the skin touches; what it is open by would else come in as a velocity that its neighbours,
    which are shut, do not have. A slip that is worth less than the skin in a step is none.
    """
    for k in range(len(rows)):
        row = rows[k]
        near = _depth(bodies, contacts, row, skin)
        if contacts.gap[row] > 0.0 and bore_load(bodies, contacts, row, skin):
            c[k, 2] += 0.5 * contacts.gap[row] / h
        s0 = contacts.u[row, 0] - 0.5 * h * contacts.accel[row, 0]
        s1 = contacts.u[row, 1] - 0.5 * h * contacts.accel[row, 1]
        stick[k, 0], stick[k, 1] = 0.5 * s0, 0.5 * s1
        fast[k] = not shorter(h * s0, h * s1, near)
        c[k, 0], c[k, 1] = (0.0, 0.0) if fast[k] else (0.5 * s0, 0.5 * s1)


@lean
def taken_laws(contacts, rows, p, mu, fast):
    """What the sweeps took for the law of each contact: the next kick starts from it."""
    for k in range(len(rows)):
        inside = shorter(p[k, 0], p[k, 1], mu[k] * p[k, 2])
        contacts.slides[rows[k]] = SLIDING_FRICTION if fast[k] else (STATIC_FRICTION if inside else KINETIC_FRICTION)
