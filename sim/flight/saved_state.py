"""What a step changes, kept before it: one that runs out of room, or can not stand, is undone."""

from __future__ import annotations

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import copy_list, copy_table, load3, load9, store3, store9
from tumble.sim.flight.motion import set_state, start_flight
from tumble.sim.sorted_lists import is_pair, pair_before
from tumble.sim.state import POINTS


@lean
def save_bodies(bodies, to, first, stop):
    """Copy what a step changes of the bodies [first, stop)."""
    for i in range(first, stop):
        to.island[i] = bodies.island[i]
        to.crowd[i], to.until[i], to.parts[i] = bodies.crowd[i], bodies.until[i], bodies.parts[i]
        to.kicked[i], to.flown[i], to.held[i] = bodies.kicked[i], bodies.flown[i], bodies.held[i]
        for k in range(3):
            to.x[i, k], to.p[i, k], to.l[i, k] = bodies.x[i, k], bodies.p[i, k], bodies.l[i, k]
            to.p_before[i, k], to.l_before[i, k] = bodies.p_before[i, k], bodies.l_before[i, k]
        for k in range(4):
            to.q[i, k] = bodies.q[i, k]
        for k in range(6):
            to.low[i, k] = bodies.low[i, k]


@lean
def save_books(books, to):
    """Copy the ledger."""
    copy_list(books.counters, to.counters)
    copy_table(books.reservoir, to.reservoir)
    copy_table(books.reservoir_pending, to.reservoir_pending)
    copy_list(books.energy, to.energy)
    copy_list(books.pending, to.pending)
    copy_list(books.moved, to.moved)
    copy_list(books.worst, to.worst)
    copy_list(books.account, to.account)
    copy_table(books.works, to.works)


@lean
def save_joints(joints, to):
    """Copy what a drift changes of the joints: impacts start and end what is kept at its pace."""
    for j in range(len(joints.kind)):
        to.kept[j], to.pace[j] = joints.kept[j], joints.pace[j]


@lean
def save_loads(contacts, pairs, to):
    """Copy what events of a drift change of the memory of the last kick."""
    to.count[0], to.count[1] = 1 + contacts.count[0], 0
    for k in range(contacts.count[0]):
        _copy_owed(contacts, to, k)
    for n in range(pairs.count[0]):
        if pairs.arrives[n, 0] > 0.0 or pairs.unforeseen[n] == 1:
            k = to.count[1]
            to.geoms[k, 0], to.geoms[k, 1] = pairs.geoms[n, 0], pairs.geoms[n, 1]
            _copy_arrivals(pairs, n, to, k)
            to.count[1] += 1


@lean
def _restore_loads(contacts, pairs, kept):
    """Give it back to contacts and pairs; of these there may be others by now, which know nothing."""
    if kept.count[0] == 0:
        return
    for k in range(kept.count[0] - 1):
        _copy_owed(kept, contacts, k)
    k = 0
    for n in range(pairs.count[0]):
        a, b = pairs.geoms[n, 0], pairs.geoms[n, 1]
        while k < kept.count[1] and pair_before(kept.geoms, k, a, b):
            k += 1
        pairs.arrives[n, 0], pairs.unforeseen[n] = 0.0, 0
        if k < kept.count[1] and is_pair(kept.geoms, k, a, b):
            _copy_arrivals(kept, k, pairs, n)


@lean
def _copy_owed(source, to, k):
    """What row k of contacts owes, and where."""
    store3(to.point, k, load3(source.point, k))
    store9(to.frame, k, load9(source.frame, k))
    store3(to.creeps, k, load3(source.creeps, k))
    store3(to.owed, k, load3(source.owed, k))
    to.kick[k] = source.kick[k]


@lean
def _copy_arrivals(source, n, to, k):
    """Row n of pairs as row k."""
    to.unforeseen[k] = source.unforeseen[n]
    for m in range(POINTS):
        to.bears[k, m], to.arrives[k, m] = source.bears[n, m], source.arrives[n, m]


@lean
def undo_step(bodies, pairs, contacts, books, joints, saved):
    """Go back to what was kept."""
    _restore_loads(contacts, pairs, saved[3])
    save_bodies(saved[0], bodies, 0, len(bodies.kind))
    save_books(saved[1], books)
    save_joints(saved[2], joints)
    for i in range(len(bodies.kind)):
        x, q = bodies.x[i], bodies.q[i]
        p, l = bodies.p[i], bodies.l[i]
        set_state(bodies, i, (x[0], x[1], x[2]), (q[0], q[1], q[2], q[3]), (p[0], p[1], p[2]), (l[0], l[1], l[2]))
        start_flight(bodies, i, 0.0)
