"""What touches in a crowd: gaps that the last solve may have left, and targets that one motion of the bodies can meet.

A heap that moves is not solved to the end. What the last solve missed by r leaves a loaded point open by up to 2 h r, each
point by another length. As a velocity, gap over step, such a gap asks of the point what its neighbours do not do, and the
impulses that would obey it are stresses of the heap against itself, which grow and keep the next solve from its end. So it
counts as none. As a heap comes to rest it is solved further, and the gaps that count as none shrink with what is missed, down to
what steel gives under its own weight. Below that rigid bodies say nothing of how a load is shared. To ask for more has a price:
where bodies are jammed some loaded points can not be shut. Each would have to give its load to others, and what drives it to do
so is its gap over the step, next to nothing: a heap creeps for minutes while its loads go round, and slips now and then.

Within the skin a gap is shut by a part in each step: all at once, it would ask for v = gap/h, and where that can not be met v
would be missed, the gap would count as none in the next step, be asked for again in the one after, and so on for ever. A slip
that is worth less than the skin in a step is one that sticks. Outside crowds gaps are exact.
"""

from __future__ import annotations

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import shorter
from tumble.sim.state import KINETIC_FRICTION, SLIDING_FRICTION, STATIC_FRICTION

GIVES = 1e-7  # a gap that is none, of the smaller body: what steel gives under its own weight, rho g L/E where L is 0.2 m
SHUT = 0.45  # most of a gap that is shut in a step: with half of it, what the solve misses would make the gap count as none


@lean
def skin_of(bodies, contacts, k, skin):
    """The skin at contact k [m]."""
    return skin * min(bodies.radius[contacts.body[k, 0]], bodies.radius[contacts.body[k, 1]])


@lean
def soft_targets(bodies, contacts, rows, skin, h, c, stick, fast):
    """Targets that sweeps can meet together: at rest they are what one motion of the bodies gives (docs/step.md)."""
    for k in range(len(rows)):
        row = rows[k]
        near = skin_of(bodies, contacts, row, skin)
        left_open = min(near, max(skin_of(bodies, contacts, row, GIVES), 2.0 * h * contacts.residual[row]))
        if 0.0 < contacts.gap[row] < near and contacts.impulse[row, 2] > 0.0:
            c[k, 2] += 0.5 * contacts.gap[row] / h * (1.0 if contacts.gap[row] < left_open else 1.0 - SHUT)
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
