"""Smooth forces on bodies in flight.

Uniform gravity derives from a potential, -m g.x, and so has no entry of its own in the ledger.
"""

from __future__ import annotations

from collision.jit import lean
from collision.linalg import ZERO, scale


@lean
def force_torque(x, q, p, l, mass, gravity):
    """Force [N] and torque about the centre of mass [N m] on a body in this state."""
    return scale(mass, gravity), ZERO
