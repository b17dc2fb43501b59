"""Flights that an impact interrupts: bodies stand at its time, what they flew is booked, and they start anew."""

from __future__ import annotations

from tumble.collision.kernels.jit import inner, lean
from tumble.sim.flight.clusters import LAST, book_cluster, cut_short, flight_balance, foresee, launch
from tumble.sim.flight.motion import fly_to, start_flight
from tumble.sim.ledger import entries as ledger
from tumble.sim.state import FLIGHT


@lean
def _stands(forces, c, touched):
    """Cluster c was brought to the time of the impact: a body of it is touched."""
    found = False
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        found = found or touched[forces.member[m]]
    return found


@lean
def bring(bodies, forces, joints, books, i, t, touched):
    """Have body i stand at time t, and remember that its flight changes there."""
    if touched[i]:
        return
    c = forces.cluster[i]
    if c < 0:
        fly_to(bodies, forces, i, t)
        book_flight(bodies, books, i)
        start_flight(bodies, i, t)
    elif not _stands(forces, c, touched):
        first, last = forces.first_member[c], forces.first_member[c + 1]
        cut_short(bodies, forces, joints, c, t)
        for m in range(first, last):
            fly_to(bodies, forces, forces.member[m], t)
        book_cluster(bodies, forces, joints, books, c, t)
        for m in range(first, last):
            start_flight(bodies, forces.member[m], t)
    touched[i] = True


@inner
def bring_linked(bodies, forces, joints, books, links, t, touched):
    """Have the bodies of these joints stand at time t."""
    for j in links:
        for side in range(2):
            if joints.body[j, side] >= 0:
                bring(bodies, forces, joints, books, joints.body[j, side], t, touched)


@lean
def book_flight(bodies, books, i):
    """The flight of body i ends in its current state."""
    error, work = flight_balance(bodies, i)
    energy, moved = balanced(books.energy[ledger.INTEGRATOR], books.moved[0], error, work)
    books.energy[ledger.INTEGRATOR], books.moved[0] = energy, moved


@lean
def balanced(energy, moved, error, work):
    """The error of the integrator, and what was moved, after one flight more."""
    return energy + error, moved + (abs(error) + abs(work))


@lean
def launch_touched(bodies, forces, joints, t, touched):
    """New flights from time t for the bodies that collided, and for those that forces couple to them."""
    for c in range(len(forces.potential)):
        if _stands(forces, c, touched):
            for m in range(forces.first_member[c], forces.first_member[c + 1]):
                touched[forces.member[m]] = True
    for i in range(len(touched)):
        if touched[i]:
            start_flight(bodies, i, t)
    for c in range(len(forces.potential)):
        if _stands(forces, c, touched):
            launch(bodies, forces, joints, c, t)


@lean
def foresee_again(bodies, forces, joints, c):
    """Mean forces of the coming flight of cluster c, whose bodies stand at the start of the drift, where other forces act than
    the last kick assumed: it has given what it gives."""
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        for k in range(FLIGHT):
            forces.path[LAST, forces.member[m], k] = 0.0
    foresee(bodies, forces, joints, c, False)
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        start_flight(bodies, forces.member[m], 0.0)
