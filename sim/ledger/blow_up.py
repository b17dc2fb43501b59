"""Bodies that contacts threw apart: a step that gives energy without measure, and so can not stand.

Contacts give no energy but what the removal of an overlap does, and the phase of a kick, which is small. Where bodies of unlike
masses start deep in each other, many rows ask for what no impulse gives, and a solve can end with speeds that mean nothing.
"""

from __future__ import annotations

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import dot, load3, load9, norm, rotation
from tumble.sim.equations import angular_velocity
from tumble.sim.ledger.entries import CONTACT, CORRECTION, EXTERNAL, USER
from tumble.sim.state import DYNAMIC

MOST_GIVEN = 1e4  # contacts may give so many times the kinetic energy before a step and what others gave in it
FAR_THROWN = 100.0  # a body that moves or turns by so many of its radii in a step was thrown by contacts
SPEED_OF_LIGHT = 299_792_458.0  # [m/s] and so was one that is faster than anything is


@lean
def thrown(bodies, books, before, books_before, dt):
    """Contacts gave more than MOST_GIVEN in this step, and some body is as fast as that says."""
    gift = books.energy[CONTACT] + books.pending[CONTACT] - books_before.energy[CONTACT]
    if not gift > 0.0:
        return False
    known = 0.0
    for k in (EXTERNAL, USER, CORRECTION):
        known += abs(books.energy[k] - books_before.energy[k]) + abs(books.pending[k])
    if gift <= MOST_GIVEN * known:
        return False
    for i in range(len(bodies.kind)):
        if bodies.kind[i] == DYNAMIC:
            p, l = load3(before.p, i), load3(before.l, i)
            q = (before.q[i, 0], before.q[i, 1], before.q[i, 2], before.q[i, 3])
            w = angular_velocity(rotation(q), load9(bodies.inv_inertia, i), l)
            known += 0.5 * bodies.inv_mass[i] * dot(p, p) + 0.5 * dot(w, l)
    if gift <= MOST_GIVEN * known:
        return False
    found = False
    for i in range(len(bodies.kind)):
        found = found or _too_fast(bodies, i, dt)
    return found


@lean
def _too_fast(bodies, i, dt):
    """Body i moves further in a step than anything that a step can resolve."""
    if bodies.kind[i] != DYNAMIC:
        return False
    speed = bodies.inv_mass[i] * norm(load3(bodies.p, i)) + bodies.radius[i] * bodies.spin[i] * norm(load3(bodies.l, i))
    return speed > SPEED_OF_LIGHT or speed * dt > FAR_THROWN * bodies.radius[i]
