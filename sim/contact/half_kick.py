"""The phase of resting contacts inside a step.

A kick gives, at one instant, what steady forces give over a step: half of it for the time before, half for the time after.
At time t after it a body at rest has too much by the part 1 - 2 t/dt of that half, of which the place of the impact in the step
decides. An impact should not meet that: a block that rocks from one edge to the other would lose more or less of its speed,
by |a| dt/2, by where in the step it lands. So the contacts of its island take that part back before it
(impact/half_kick_removal.py), which leaves the velocities of steady forces, and the island is kicked again after it for the rest
of the step.

A kick may also stop what lands, and that is not to be taken back. So what it gives for the coming flight is told from what it
gives besides (`owe`): by the lengths of the two flights where all contacts leave as they came, else by a solve for the
impulses that leave the contacts closed, without any velocity.
"""

from __future__ import annotations

import numpy as np

from tumble.collision.kernels.jit import inner, kernel, lean
from tumble.collision.linalg import add, load3, scale, store3
from tumble.sim.contact.contact_blocks import rows_that_bear
from tumble.sim.ledger.kick_numbers import LARGEST_ISLAND
from tumble.sim.ledger.work import MEAN_GIVEN
from tumble.sim.solvers.block_laws import BOX_LAW
from tumble.sim.solvers.islands import find_root, merge
from tumble.sim.solvers.newton import newton_in_far as newton
from tumble.sim.solvers.problem import Laws, relative_velocity
from tumble.sim.state import SLIDING_FRICTION

PREDICTED_WITHIN = 1e-2  # most error of what a kick gives for the coming flight, as part of the velocities of the contacts


@inner
def owe(contacts, island, system, laws, h, last, kick, room, settings, vstar, p, v, missed):
    """Note for contacts how much of their impulses 2 p is for the coming flight, of length h; ``last``: that of the one before.

    Where velocities were set (MEAN_GIVEN) that is p. Else the lengths of the two flights tell it, if all contacts leave as they
    came. It takes a solve where bodies come without the phase that would tell it, and where motors, stops and springs press on
    contacts: these act at the steps, and their impulses are for neither of the flights. Moments are shared by the lengths.
    ``missed`` [m/s] by the solve of the kick: where that is no small part of the velocities, its impulses are of no steady force.
    """
    rows, m = island.rows, len(island.rows)
    solved = m > 0 and rows_that_bear(rows, p) <= LARGEST_ISLAND and not kick.cheap
    part = 1.0 if kick.mode == MEAN_GIVEN else 2.0 * h / (last + h) if last > 0.0 or solved else 0.0
    for k in range(m):
        store3(contacts.owed, rows[k], scale(part, (p[k, 0], p[k, 1], p[k, 2])))
    if kick.mode == MEAN_GIVEN or not solved:
        return
    u, c = np.empty((len(p), 3)), laws.c.copy()
    off, fastest, leaving = missed, 0.0, 0.0
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
    if off <= max(settings.tolerance, PREDICTED_WITHIN * fastest) and not kick.driven:  # all leave as they came
        return
    stays, _v = p.copy(), np.empty_like(v)
    closed = Laws(laws.law.copy(), laws.mu, laws.lo.copy(), laws.hi.copy(), laws.load, c, laws.u0)
    for k in range(len(p)):
        moment, idle = k >= len(p) - len(island.turning), k < m and p[k, 2] == 0.0
        closes = k < m and 2.0 * u[k, 2] < contacts.u[rows[k], 2]
        if moment or idle or closes:  # what bears nothing stays so, and what closes still bears nothing in the coming flight
            store3(stays, k, scale(1.0 if closes else 1.0 - 0.5 * part, load3(p, k)))
            closed.law[k] = BOX_LAW
            store3(closed.lo, k, load3(stays, k))
            store3(closed.hi, k, load3(stays, k))
    off, _, _ = newton(system, closed, vstar, room, settings.tolerance, 0.0, 0.0, settings.iterations, stays, _v)
    told = max(off, missed) <= PREDICTED_WITHIN * leaving
    group = _pressed_together(system, m, p)
    load, kept = np.zeros(len(group)), np.zeros(len(group))
    for k in range(m):
        g = group[max(system.a[k], system.b[k])]
        load[g], kept[g] = load[g] + p[k, 2], kept[g] + stays[k, 2]
    for k in range(m):
        g = group[max(system.a[k], system.b[k])]
        # both parts of a kick press: where what is to stay presses more than all, as contacts that wedge can, it is no part of it
        part_of = told and kept[g] <= (1.0 + PREDICTED_WITHIN) * load[g]
        for r in range(3):
            contacts.owed[rows[k], r] = 2.0 * (p[k, r] - stays[k, r]) if part_of else 0.0


@inner
def _pressed_together(system, m, p):
    """Of each member one that stands for those that it is pressed together with, by the first m blocks where they bear, or by
    joints."""
    group = np.arange(len(system.mass))
    for k in range(len(p)):
        a, b = system.a[k], system.b[k]
        if a >= 0 and b >= 0 and (k >= m or p[k, 2] > 0.0):
            merge(group, a, b)
    for i in range(len(group)):
        group[i] = find_root(group, i)
    return group


@lean
def keep_steady(contacts, rows, p, f):
    """The loads that the next solve begins with, after a kick inside a step: those of the steady forces of the coming flight, f
    times what is owed for it. What stopped a landing is over: it is no force of so short a time."""
    for k in range(len(rows)):
        owed = load3(contacts.owed, rows[k])
        store3(contacts.impulse, rows[k], scale(f, owed) if owed[2] > 0.0 else (p[k, 0], p[k, 1], p[k, 2]))


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
