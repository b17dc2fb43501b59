"""What a kick gives to bodies and writes to the books: works before and after its middle, and what immovable bodies take up."""

from __future__ import annotations

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import ZERO, add, add3, cross, dot, load3, scale, sub
from tumble.sim.ledger.entries import CONTACT, EXTERNAL, FRICTION, RESTITUTION
from tumble.sim.state import ACCOUNTS, DYNAMIC

KICK, MEAN_GIVEN, INSIDE_DRIFT = range(3)  # at a step; velocities given as the mean; inside the drift
NO_WORKS = (0.0, 0.0, 0.0, 0.0)
BETWEEN = (CONTACT, RESTITUTION, FRICTION, EXTERNAL)  # entries of what passes between two bodies


@lean
def book_work(books, entry, before, after, mode):
    """Add the works of an impulse before and after the middle of the kick to an entry [J].

    With velocities given as the mean (MEAN_GIVEN) what is before the middle never happened; INSIDE_DRIFT all is past.
    """
    books.moved[0] += abs(before) + abs(after)
    if mode != MEAN_GIVEN:
        books.energy[entry] += before
    if mode == INSIDE_DRIFT:
        books.energy[entry] += after
    else:
        books.pending[entry] += after


@lean
def book_works(books, bodies, i, j, first, second, mode):
    """Works that passed between bodies i and j before the middle of a kick and after it, in the order of `BETWEEN`: to the books,
    and to the account of the two if accounts are kept [J]."""
    for c in range(4):
        book_work(books, BETWEEN[c], first[c], second[c], mode)
    room = len(books.account)
    if room == 0:
        return
    key = ((bodies.serial[i] << 31) | bodies.serial[j]) + 1
    k = (key * 0x9E3779B1) % room
    while books.account[k] != key:
        if books.account[k] == 0:
            books.account[k] = key
            books.counters[ACCOUNTS] += 1
            break
        k = k + 1 if k + 1 < room else 0
    start = 0 if mode == INSIDE_DRIFT else 4
    for c in range(4):
        if mode != MEAN_GIVEN:
            books.works[k, c] += first[c]
        books.works[k, start + c] += second[c]


@lean
def driven_work(bodies, i, f, moment, point):
    """Work of body i, if it is one that impulses do not move, as an impulse f at a point and a moment act on what it meets [J];
    -1: the world."""
    if i < 0 or bodies.kind[i] == DYNAMIC:
        return 0.0
    w = load3(bodies.w, i)
    v = add(load3(bodies.v, i), cross(w, sub(point, load3(bodies.x, i))))
    return dot(f, v) + dot(moment, w)


@lean
def contact_driven_work(bodies, i, j, f, point, belt):
    """The same of both bodies of a contact with an impulse f on j, and of their surfaces, which add ``belt`` to the slip [J]."""
    return driven_work(bodies, i, f, ZERO, point) - dot(f, belt) - driven_work(bodies, j, f, ZERO, point)


@lean
def halves(before, after, share):
    """Mean velocities by which an impulse works before the middle of its kick and after it, times what of it is there.

    ``share``: what of it comes before the middle, the part of the last flight in the last and the next: there the velocity is
    that under a steady force.
    """
    rest = 1.0 - share
    first = share * ((1.0 - 0.5 * share) * before + 0.5 * share * after)
    return first, rest * (0.5 * rest * before + (1.0 - 0.5 * rest) * after)


@lean
def give(bodies, books, i, f, moment, point, mode, share):
    """Half the impulse of a kick, ``f`` at a point of the world and a moment, to body i (-1: the world).

    ``share`` of the whole comes before the middle: what the world reports is the mean of momenta before the kick and after it,
    so where that is not the half those before it are moved.
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
    for r in range(3):
        if mode != MEAN_GIVEN:
            books.reservoir[0, r] += first * f[r]
            books.reservoir[1, r] += first * moment[r]
        if mode == INSIDE_DRIFT:
            books.reservoir[0, r] += second * f[r]
            books.reservoir[1, r] += second * moment[r]
        else:
            books.reservoir_pending[0, r] += second * f[r]
            books.reservoir_pending[1, r] += second * moment[r]
