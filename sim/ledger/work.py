"""What a kick gives to bodies and writes to the books: works before and after its middle, and what immovable bodies take up."""

from __future__ import annotations

from collision.kernels.jit import lean
from collision.linalg import add, add3, cross, load3, scale, sub
from sim.state import ACCOUNTS, DYNAMIC

KICK, START, AGAIN = range(3)  # at a step; velocities given as the mean; inside the drift


@lean
def book_work(books, entry, before, after, mode):
    """Add the works of an impulse before and after the middle of the kick to an entry [J].

    With velocities given as the mean (START) what is before the middle never happened; inside the drift (AGAIN) all is past.
    """
    books.moved[0] += abs(before) + abs(after)
    if mode != START:
        books.energy[entry] += before
    if mode == AGAIN:
        books.energy[entry] += after
    else:
        books.pending[entry] += after


@lean
def book_pair(books, a, b, first, second, mode):
    """Works (contact, loss, friction, driven) of two bodies before the middle of the kick, and after it, to their account, if
    accounts are kept. ``a``, ``b``: serial numbers.
    """
    room = len(books.account)
    if room == 0:
        return
    key = ((a << 31) | b) + 1
    k = (key * 0x9E3779B1) % room
    while books.account[k] != key:
        if books.account[k] == 0:
            books.account[k] = key
            books.counters[ACCOUNTS] += 1
            break
        k = k + 1 if k + 1 < room else 0
    start = 0 if mode == AGAIN else 4
    for c in range(4):
        if mode != START:
            books.works[k, c] += first[c]
        books.works[k, start + c] += second[c]


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
    if mode == START:  # the given velocity is the mean: half before it, half after
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
        if mode != START:
            books.reservoir[0, r] += first * f[r]
            books.reservoir[1, r] += first * moment[r]
        if mode == AGAIN:
            books.reservoir[0, r] += second * f[r]
            books.reservoir[1, r] += second * moment[r]
        else:
            books.reservoir_pending[0, r] += second * f[r]
            books.reservoir_pending[1, r] += second * moment[r]
