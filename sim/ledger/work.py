"""What a kick gives to bodies, and what it writes to the books.

What the world reports at a step is the middle of a kick. So the work of an impulse is booked in two parts: what is before the
middle at once, what is after it with the next step. Momentum that static and driven bodies take up is booked in the same way.
"""

from __future__ import annotations

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import ZERO, add, add3, cross, dot, load3, scale, sub
from tumble.sim.ledger.entries import CONTACT, ENTRIES, EXTERNAL, FRICTION, RESTITUTION
from tumble.sim.state import ACCOUNTS, DYNAMIC

KICK, MEAN_GIVEN, INSIDE_DRIFT = range(3)  # at a step; velocities given as the mean; inside the drift
NO_WORKS = (0.0, 0.0, 0.0, 0.0)
BETWEEN = (CONTACT, RESTITUTION, FRICTION, EXTERNAL)  # entries of what passes between two bodies


@lean
def book_work(books, entry, before, after, mode):
    """Add the work of an impulse to an entry: what is before the middle of its kick, and what is after it [J].

    Where velocities were given as the mean (MEAN_GIVEN), there was nothing before the middle, and only the second part counts. A
    kick inside a drift (INSIDE_DRIFT) is over when the step ends, so both parts are booked at once.
    """
    books.moved[0] += abs(before) + abs(after)
    if mode != MEAN_GIVEN:
        add_energy(books, entry, before)
    if mode == INSIDE_DRIFT:
        add_energy(books, entry, after)
    else:
        books.pending[entry] += after


@lean
def book_works(books, bodies, i, j, first, second, mode):
    """Book what passed between bodies i and j, before the middle of a kick and after it, in the order of `BETWEEN` [J].

    Where accounts are kept, it is written to that of the two bodies as well.
    """
    for c in range(4):
        book_work(books, BETWEEN[c], first[c], second[c], mode)
    k = _account(books, bodies, i, j)
    if k < 0:
        return
    start = 0 if mode == INSIDE_DRIFT else 4
    for c in range(4):
        if mode != MEAN_GIVEN:
            books.works[k, c] += first[c]
        books.works[k, start + c] += second[c]


@lean
def tell_account(books, bodies, i, j, work):
    """Write what `contact` got of bodies i and j, and has in the books already, to their account [J]."""
    k = _account(books, bodies, i, j)
    if k >= 0:
        books.works[k, 0] += work


@lean
def _account(books, bodies, i, j):
    """The row of the account of two bodies; -1 where none are kept."""
    room = len(books.account)
    if room == 0:
        return -1
    key = ((bodies.serial[i] << 31) | bodies.serial[j]) + 1
    k = (key * 0x9E3779B1) % room
    while books.account[k] != key:
        if books.account[k] == 0:
            books.account[k] = key
            books.counters[ACCOUNTS] += 1
            break
        k = k + 1 if k + 1 < room else 0
    return k


@lean
def driven_work(bodies, i, f, moment, point):
    """Work that body i does on what it meets, with an impulse f at a point and a moment, if impulses do not move it [J].

    A body that is free to move does none here, and neither does the world (i = -1).
    """
    if i < 0 or bodies.kind[i] == DYNAMIC:
        return 0.0
    w = load3(bodies.w, i)
    v = add(load3(bodies.v, i), cross(w, sub(point, load3(bodies.x, i))))
    return dot(f, v) + dot(moment, w)


@lean
def contact_driven_work(bodies, i, j, f, point, belt):
    """Work of both bodies of a contact that impulses do not move, with an impulse f on body j [J].

    Their surfaces may move as belts do: ``belt`` is what that adds to the slip, and they do work too.
    """
    return driven_work(bodies, i, f, ZERO, point) - dot(f, belt) - driven_work(bodies, j, f, ZERO, point)


@lean
def halves(before, after, share):
    """Mean velocities with which an impulse works before the middle of its kick and after it, each times its part of the impulse.

    ``share`` is the part before the middle: the length of the last flight by that of the last and the next. The velocity in the
    middle is the one that a steady force gives, between ``before`` and ``after`` by this share.
    """
    rest = 1.0 - share
    first = share * ((1.0 - 0.5 * share) * before + 0.5 * share * after)
    return first, rest * (0.5 * rest * before + (1.0 - 0.5 * rest) * after)


@lean
def give(bodies, books, i, f, moment, point, mode, share):
    """Give body i half the impulse of a kick, ``f`` at a point of the world and a moment; i = -1 is the world.

    ``share`` of the whole impulse comes before the middle. The world reports the mean of the momenta before the kick and after
    it. That is right where the share is a half; else the momenta before the kick are moved, so that their mean is.
    """
    if i < 0 or bodies.kind[i] != DYNAMIC:
        to_reservoir(books, f, add(cross(point, f), moment), mode, share)
        return
    arm = add(cross(sub(point, load3(bodies.x, i)), f), moment)
    if mode == MEAN_GIVEN:  # the given velocity is the mean: half before it, half after
        add3(bodies.p_before, i, scale(-1.0, f))
        add3(bodies.l_before, i, scale(-1.0, arm))
        add3(bodies.p, i, f)
        add3(bodies.l, i, arm)
    else:
        add3(bodies.p, i, scale(2.0, f))
        add3(bodies.l, i, scale(2.0, arm))
        if mode == KICK and share != 0.5:
            add3(bodies.p_before, i, scale(4.0 * share - 2.0, f))
            add3(bodies.l_before, i, scale(4.0 * share - 2.0, arm))


@lean
def to_reservoir(books, f, moment, mode, share=0.5):
    """Momentum ``f``, and angular momentum about the origin, that static and driven bodies take up in half a kick."""
    first, second = 2.0 * share, 2.0 - 2.0 * share
    if mode != MEAN_GIVEN:
        add_to_reservoir(books, scale(first, f), scale(first, moment))
    if mode == INSIDE_DRIFT:
        add_to_reservoir(books, scale(second, f), scale(second, moment))
    else:
        add3(books.reservoir_pending, 0, scale(second, f))
        add3(books.reservoir_pending, 1, scale(second, moment))


@lean
def book_at_once(books, entry, work):
    """Add to an entry a work that no kick has parts of, and to the sum of all works [J]."""
    books.moved[0] += abs(work)
    add_energy(books, entry, work)


@lean
def add_energy(books, entry, work):
    """Add to an entry [J]."""
    other = entry + ENTRIES
    books.energy[entry], books.energy[other] = compensated(books.energy[entry], books.energy[other], work)


@lean
def add_to_reservoir(books, f, moment):
    """Add momentum, and angular momentum about the origin."""
    sums = books.reservoir
    for r in range(3):
        sums[0, r], sums[2, r] = compensated(sums[0, r], sums[2, r], f[r])
        sums[1, r], sums[3, r] = compensated(sums[1, r], sums[3, r], moment[r])


@lean
def compensated(total, excess, value):
    """Kahan's sum (Comm. ACM 8 (1965) 40): ``total`` with ``value``, and what it holds too much then, which the next takes off.

    A heap at rest gives the floor its weight in hundreds of shares a step, all alike, each far smaller than the sum. Rounded by
    themselves they would miss their number times the rounding of the sum.
    """
    wanted = value - excess
    new = total + wanted
    return new, (new - total) - wanted
