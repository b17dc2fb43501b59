"""How a kick writes to the books: works before and after its middle, and what immovable bodies take up."""

from __future__ import annotations

from collision.jit import lean

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
def to_reservoir(books, f, moment, mode):
    """Momentum ``f``, and angular momentum about the origin, that static and driven bodies take up in half a kick."""
    for r in range(3):
        if mode != START:
            books.reservoir[0, r] += f[r]
            books.reservoir[1, r] += moment[r]
        if mode == AGAIN:
            books.reservoir[0, r] += f[r]
            books.reservoir[1, r] += moment[r]
        else:
            books.reservoir_pending[0, r] += f[r]
            books.reservoir_pending[1, r] += moment[r]
