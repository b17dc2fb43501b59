"""The phase of resting contacts inside a step.

A kick gives, at one instant, what steady forces give over a step: half of it for the time before, half for the time after.
At time t after it a body at rest has too much by the part 1 - 2 t/dt of that half, of which the place of the impact in the step
decides. An impact should not meet that: a block that rocks from one edge to the other would lose more or less of its speed,
by |a| dt/2, by where in the step it lands. So the contacts of its island take that part back before it, which leaves the
velocities of steady forces, and the island is kicked again after it for the rest of the step.

A kick may also stop what lands, and that is not to be taken back. So what it gives for the coming flight is told from what it
gives besides (`owe`): by the lengths of the two flights where all contacts leave as they came, else by a solve for the
impulses that leave the contacts closed, without any velocity.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.kernels.jit import inner, kernel, lean
from tumble.collision.linalg import add, axpy, load3, load9, mul, mul_t, scale, store3, sub
from tumble.sim.contact.surfaces import surface_slip
from tumble.sim.flight.motion import point_velocity, strike
from tumble.sim.ledger.kick_numbers import LARGEST_ISLAND, bears
from tumble.sim.ledger.work import INSIDE_DRIFT, MEAN_GIVEN, NO_WORKS, book_works, contact_driven_work
from tumble.sim.solvers.newton import newton_in_far as newton
from tumble.sim.solvers.problem import Laws, relative_velocity
from tumble.sim.state import DYNAMIC, SLIDING_FRICTION

PREDICTED_WITHIN = 1e-2  # most error of what a kick gives for the coming flight, as part of the velocities of the contacts


@inner
def owe(contacts, island, system, laws, h, last, mode, cheap, room, settings, vstar, p, v):
    """Note for contacts what of their impulses 2 p is for the coming flight, of length h; ``last``: of the one before.

    Where velocities were set (MEAN_GIVEN) that is p. Bodies that come without a phase bring nothing to tell it by: none, or a
    solve.
    """
    rows, m = island.rows, len(island.rows)
    solved = len(p) == m <= LARGEST_ISLAND and not cheap
    part = 1.0 if mode == MEAN_GIVEN else 2.0 * h / (last + h) if last > 0.0 or solved else 0.0
    for k in range(m):
        store3(contacts.owed, rows[k], scale(part, (p[k, 0], p[k, 1], p[k, 2])))
    if mode == MEAN_GIVEN or not solved:
        return
    u, c = np.empty((m, 3)), np.empty((m, 3))
    off, fastest, leaving = 0.0, 0.0, 0.0
    relative_velocity(system, laws.u0, v, u)
    for k in range(m):
        came = contacts.u[rows[k], 2]
        leaves = 2.0 * u[k, 2] - came
        if p[k, 2] > 0.0:
            off = max(off, abs(last * leaves + h * came) / (last + h))
            fastest, leaving = max(fastest, abs(leaves), abs(came)), max(leaving, leaves)
        for r in range(2):  # as the kick asks for the mean of before and after, with nothing after it
            c[k, r] = 0.0 if contacts.slides[rows[k]] == SLIDING_FRICTION else 0.5 * contacts.u[rows[k], r]
        c[k, 2] = 0.5 * (came + min(0.0, leaves))
    if off <= max(settings.tolerance, PREDICTED_WITHIN * fastest):  # all leave as they came
        return
    stays, _v = p.copy(), np.empty_like(v)
    closed = Laws(laws.law, laws.mu, laws.lo, laws.hi, c, laws.u0)
    off, _, _ = newton(system, closed, vstar, room, settings.tolerance, 0.0, 0.0, settings.iterations, stays, _v)
    for k in range(m):
        for r in range(3):
            contacts.owed[rows[k], r] = 2.0 * (p[k, r] - stays[k, r]) if off <= PREDICTED_WITHIN * leaving else 0.0


@lean
def keep_steady(contacts, rows, p, f):
    """The loads that the next solve begins with, after a kick inside a step: those of the steady forces of the coming flight, f
    times what is owed for it. What stopped a landing is over: it is no force of so short a time."""
    for k in range(len(rows)):
        owed = load3(contacts.owed, rows[k])
        store3(contacts.impulse, rows[k], scale(f, owed) if owed[2] > 0.0 else (p[k, 0], p[k, 1], p[k, 2]))


@inner
def take_back(bodies, contacts, books, number, t):
    """Take the phase of a kick at time t out of the velocities of its bodies, which all stand at that time."""
    n = contacts.count[1]
    part = 0.0
    for i in range(len(bodies.held)):
        if bodies.held[i] == number:
            part = 1.0 - 2.0 * (t - bodies.kicked[i]) / bodies.flown[i]
    before, points = np.empty((n, 3)), np.empty((n, 3))
    for k in range(n):
        if bears(bodies, contacts, k, number):
            point = _moved_on(bodies, contacts, k, t)
            store3(points, k, point)
            store3(before, k, _slip(bodies, contacts, k, point))
    for k in range(n):
        if bears(bodies, contacts, k, number):
            f = mul_t(load9(contacts.frame, k), scale(-part, load3(contacts.owed, k)))
            point = load3(points, k)
            strike(bodies, books, contacts.body[k, 0], contacts.body[k, 1], f, point)
    for k in range(n):
        if bears(bodies, contacts, k, number):
            _book(bodies, contacts, books, k, load3(points, k), load3(before, k), scale(-part, load3(contacts.owed, k)))
    for i in range(len(bodies.held)):
        if bodies.held[i] == number:
            bodies.held[i], bodies.flown[i] = 0, 0.0


@lean
def _moved_on(bodies, contacts, k, t):
    """Where contact k is at time t: it has gone along with the bodies since the kick."""
    v, count, since = (0.0, 0.0, 0.0), 0, 0.0
    for side in range(2):
        i = contacts.body[k, side]
        if bodies.kind[i] == DYNAMIC:
            v, count, since = add(v, load3(bodies.v, i)), count + 1, t - bodies.kicked[i]
    return axpy(since / count, v, load3(contacts.point, k))


@lean
def _slip(bodies, contacts, k, point):
    """Relative velocity at contact k, in its frame."""
    i, j = contacts.body[k, 0], contacts.body[k, 1]
    e = load9(contacts.frame, k)
    belt = surface_slip(bodies, i, j, point, (e[6], e[7], e[8]))
    return mul(e, add(sub(point_velocity(bodies, j, point), point_velocity(bodies, i, point)), belt))


@lean
def _book(bodies, contacts, books, k, point, before, p):
    """Works of what was taken back: normal ones are the phase itself, the others are taken back from where they stood."""
    i, j = contacts.body[k, 0], contacts.body[k, 1]
    e = load9(contacts.frame, k)
    after = _slip(bodies, contacts, k, point)
    normal = 0.5 * p[2] * (before[2] + after[2])
    slip = 0.5 * (p[0] * (before[0] + after[0]) + p[1] * (before[1] + after[1]))
    if math.isfinite(contacts.creeps[k, 0]):  # what sticks does no work but for the phase
        normal, slip = normal + slip, 0.0
    belt = surface_slip(bodies, i, j, point, (e[6], e[7], e[8]))
    driven = contact_driven_work(bodies, i, j, mul_t(e, p), point, belt)
    book_works(books, bodies, i, j, (normal, 0.0, -slip, driven), NO_WORKS, INSIDE_DRIFT)


@kernel
def recentre(bodies):
    """Momenta before and after the kick become their mean, where the second half of the kick will be asked for anew."""
    for i in range(len(bodies.kind)):
        p = scale(0.5, add(load3(bodies.p, i), load3(bodies.p_before, i)))
        l = scale(0.5, add(load3(bodies.l, i), load3(bodies.l_before, i)))
        store3(bodies.p, i, p)
        store3(bodies.l, i, l)
        store3(bodies.p_before, i, p)
        store3(bodies.l_before, i, l)
