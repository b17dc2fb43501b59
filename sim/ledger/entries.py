"""The books: where every joule went.

change of (kinetic + potential) = external + user + contact + correction + sleep + integrator
                                  - friction - restitution + residual

The world reports energies at the middle of the kick: with the momenta halfway between arriving and leaving. An impulse p
at relative velocity u before and u' after does the work p.(u + u')/2; the part before the middle is p.(3u + u')/8, the
part after it p.(u + 3u')/8. The second half waits in ``pending`` until the next kick.

``residual`` is the total change minus everything named, and so holds rounding only.
"""

from __future__ import annotations

from typing import NamedTuple

EXTERNAL, USER, CONTACT, CORRECTION, SLEEP, INTEGRATOR, FRICTION, RESTITUTION = range(8)
ENTRIES = 8
SIGNS = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -1.0, -1.0)


class Ledger(NamedTuple):
    """Works since the start [J]. Friction and restitution are losses, counted positive."""

    external: float  # driven bodies, and forces that have no potential
    user: float  # impulses, velocities and poses set from outside
    contact: float  # normal impulses of lasting contact: the phase of the micro-collisions, an error that does not grow
    correction: float  # energy that bodies gain when overlap is removed
    sleep: float  # kinetic energy of what falls asleep; never positive
    integrator: float  # measured error of the free flight
    friction: float
    restitution: float  # lost in the normal direction, in impacts and by landing too slowly for one
    residual: float  # what no entry explains: rounding
    moved: float  # sum of the absolute works: the scale for the residual
    scale: float  # kinetic plus absolute potential energy of all bodies: the scale for rounding

    def __sub__(self, earlier: Ledger) -> Ledger:
        """The works since an earlier reading: ``before = world.ledger; world.step(); world.ledger - before``."""
        return Ledger(*(a - b for a, b in zip(self[:-1], earlier[:-1], strict=True)), max(self.scale, earlier.scale))

    @property
    def change(self) -> float:
        """Change of kinetic plus potential energy that the entries add up to, residual included [J]."""
        gained = self.external + self.user + self.contact + self.correction + self.sleep + self.integrator
        return gained - self.friction - self.restitution + self.residual

    @property
    def closes(self) -> bool:
        """The residual is below 1e-9 of the energy moved, or is the rounding of the energies themselves."""
        return abs(self.residual) <= max(1e-9 * self.moved, 1e-14 * self.scale)
