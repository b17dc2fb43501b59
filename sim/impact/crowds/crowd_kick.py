"""The kick of crowds: islands in which so much lands at once that arrivals are not located one by one (docs/step.md).

A crowd is solved by sweeps, once a step, and then looked after: it is flown to the end of the coming drift with what the
sweeps gave. A corner that turns into another body on the way, and had no row because it was not the nearest, gets one now;
the row asks for as much more velocity as takes what it would overlap by. That is Newton's method on the gap at the end of
the step, so what stays is of second order in the correction. Works are booked once, after the last look.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.geometry import empty_geometry
from tumble.collision.kernels.jit import FOR_KERNELS, far, inner, kernel, lean
from tumble.collision.kernels.shared import address_of, put
from tumble.collision.linalg import load3, load9, store9, symmetric_product
from tumble.sim.contact.contact_blocks import apply_contacts, book_contact
from tumble.sim.contact.overlap_correction import displace, too_deep
from tumble.sim.flight.motion import refresh_velocity, world_inverse_inertia
from tumble.sim.impact.crowds.crowd_blocks import blocks_of, group_blocks
from tumble.sim.impact.crowds.crowd_prediction import ROW_OVERLAP, mark_unforeseen, predict_rows, watch
from tumble.sim.impact.crowds.crowd_rows import Crowd, load_bodies, load_normals, target_some
from tumble.sim.impact.crowds.crowd_sweeps import ANY, relax, settle
from tumble.sim.impact.thread_jobs import TARGETS, TOPIC, share
from tumble.sim.ledger.work import KICK
from tumble.sim.solvers.block_laws import COULOMB_LAW
from tumble.sim.solvers.crowd_targets import skin_of, taken_laws
from tumble.sim.solvers.lanes import (
    ARM_A,
    ARM_B,
    DIRECTIONS,
    IMPULSE,
    LANES,
    OFFSET,
    impulses,
    no_groups,
    shut_groups,
    start_groups,
)
from tumble.sim.solvers.newton import newton_far as newton
from tumble.sim.solvers.problem import Island, Laws, System
from tumble.sim.state import DYNAMIC, EXAMPLE, ITERATIONS, NEWTON_SOLVER, RESIDUAL, ROLLING, SETTINGS, SOLVES, TORSION, UNSOLVED

WORK = 36000  # most looks of a solve at points, half of them in sweeps of all and half in iterations of Newton
COST = 25  # sweeps that one iteration of Newton costs
FEWEST_ITERATIONS = 4  # fewer iterations of Newton lead to nothing
FULL, MOST_PASSES = 20, 100  # fewest and most sweeps of all points
SETTLING = 50  # fewest where bodies all but rest
# Of bodies that all but rest one step for each so many contacts gives Newton's method all the iterations that it wants: it takes
# a hundred, each by the square of the contacts, as much in all as the sweeps of these steps, and one of two tries or three finds
# how the bodies bear each other.
CREEPS = 32
EXACT = 2048  # most contacts of such: of 4000 an iteration takes 18 ms, of 800 one of half a millisecond
LOCAL = 300  # most sweeps after a look, of the points that miss their law by so much that an overlap is worth a row
DRIFT_LOOKS = 5  # most looks at the end of the coming drift


@lean
def plain_crowds(bodies, contacts, joints, plain):
    """Mark the islands that `kick_crowds` solves: crowds of contacts alone. Whether there are crowds."""
    some = False
    for i in range(len(plain)):
        plain[i] = bodies.crowd[i] > 0
        some = some or plain[i]
    for j in range(len(joints.island)):
        plain[joints.island[j]] = False
    for k in range(contacts.count[0]):
        if contacts.law[k, ROLLING] > 0.0 or contacts.law[k, TORSION] > 0.0:
            plain[contacts.island[k]] = False
    return some


@kernel(**FOR_KERNELS)
def _kick_crowds(model, geometry, settings, plain):
    """Solve, apply and book the contacts of the marked islands of a table sorted by islands."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    crowd, blocks, count, start = _prepare(bodies, contacts, plain)
    if count == 0:
        return
    seen = watch(bodies, geoms, pairs, crowd, settings.dt)
    load_bodies(contacts, crowd, 0, count)
    group_blocks(crowd, blocks)
    _level(bodies, contacts, joints, books, settings, crowd, count)
    _target(model, geometry, settings, crowd, count)
    worst = _solve(model, geometry, settings, crowd, blocks, start)
    first, count = count, _look(model, geometry, settings, crowd, blocks, seen, count, worst)
    _give(bodies, contacts, books, settings, crowd, start, worst, first, count)


@inner
def _prepare(bodies, contacts, plain):
    """(the crowd, its blocks, the number of its contacts, where those of each island begin) of the marked islands."""
    room, n = contacts.count[0], len(bodies.kind)
    rows, start, count, islands = np.empty(room, dtype=np.int64), np.empty(room + 1, dtype=np.int64), 0, 0
    for at in range(room):
        k = contacts.order[at]
        if not plain[contacts.island[k]]:
            continue
        if count == 0 or contacts.island[k] != contacts.island[rows[count - 1]]:
            start[islands] = count
            islands += 1
        rows[count] = k
        count += 1
    start[islands] = count
    local, members, size = np.full(n, -1, dtype=np.int64), np.empty(n, dtype=np.int64), 0
    for i in range(n):
        if count > 0 and bodies.kind[i] == DYNAMIC and plain[bodies.island[i]]:
            local[i] = size
            members[size] = i
            size += 1
    blocks = blocks_of(bodies, contacts, members[:size], local, rows[:count], start[: islands + 1])
    most = count + DRIFT_LOOKS * (count // 2 + 16)  # with room for corners that turn in
    whole = np.empty(most, dtype=np.int64)
    whole[:count] = rows[:count]
    crowd = Crowd(
        members[:size], local, np.zeros(size + 1), np.empty((size, 3, 3)), np.zeros((size + 1, 6)), np.zeros((size + 1, 8)),
        whole, np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64), np.zeros(most), np.zeros((most, 3)),
        np.zeros((most, 3)), np.zeros((most, 2)), np.zeros(most, dtype=np.bool_), no_groups(most, size),
    )  # fmt: skip
    for m in range(size):
        crowd.light[m] = bodies.inv_mass[members[m]]
    _turn_inertias(bodies, crowd)
    return crowd, blocks, count, start[: islands + 1]


@lean
def _turn_inertias(bodies, crowd):
    """Inverse inertias of the members in the world, as their bodies are turned now."""
    for m in range(len(crowd.members)):
        store9(crowd.inverse, m, world_inverse_inertia(bodies, crowd.members[m]))


@inner
def _level(bodies, contacts, joints, books, settings, crowd, count):
    """Push apart what overlaps, where there is such; velocities then."""
    if too_deep(contacts, books, settings, crowd.rows[:count]):
        load_normals(bodies, contacts, crowd, count)
        _push_apart(bodies, contacts, joints, books, settings, crowd, count)
        _turn_inertias(bodies, crowd)
    _keep_velocities(bodies, crowd)


@lean
def _keep_velocities(bodies, crowd):
    """Those before the kick."""
    for m in range(len(crowd.members)):
        i = crowd.members[m]
        for r in range(3):
            crowd.before[m, r], crowd.before[m, 3 + r] = bodies.v[i, r], bodies.w[i, r]


@inner
def _target(model, geometry, settings, crowd, count):
    """Contacts into their lanes, with what they ask for."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    if settings.crew == 0:
        target_some(bodies, contacts, settings, crowd, 0, count)
    else:
        put(settings.crew + TOPIC, address_of(crowd))
        share(model, geometry, settings, TARGETS, count)
    start_groups(crowd.groups, crowd.light, crowd.before, crowd.v)


@inner
def _solve(model, geometry, settings, crowd, blocks, start):
    """Sweeps over each island, and Newton's method where these do not end and it is small enough; what each misses [m/s]."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    worst = np.zeros(len(start) - 1)
    for s in range(len(worst)):
        rows = crowd.rows[start[s] : start[s + 1]]
        creeps = _count_creeping(bodies, contacts, settings, rows)
        full = min(MOST_PASSES, max(SETTLING if creeps > 0 else FULL, WORK // (2 * len(rows))))
        worst[s], done = settle(model, geometry, settings, crowd, blocks, blocks.island[s], blocks.island[s + 1], full)
        if worst[s] > settings.tolerance and settings.solver == NEWTON_SOLVER:
            wait = 1 + len(rows) // CREEPS
            due = creeps > 0 and creeps % wait == 0 and len(rows) <= EXACT
            most = settings.iterations if due else WORK // (2 * COST * len(rows))
            worst[s], spent = _solve_exactly(bodies, crowd, start[s], start[s + 1], worst[s], settings, most)
            done += spent
        books.counters[SOLVES] += 1
        books.counters[ITERATIONS] += done
    return worst


@lean
def _count_creeping(bodies, contacts, settings, rows):
    """For how many steps in a row, this one among them, the bodies of an island all but rest: what the last solve missed opens no
    contact by its skin (solvers/crowd_targets.py). Then they move for no other reason than that it is not found yet how they bear
    each other: a heap that is swept no further creeps for as long."""
    rests, known, age = True, False, 1
    for k in rows:
        known = known or contacts.residual[k] > 0.0  # of points that came since then it is not
        rests = rests and 2.0 * settings.dt * contacts.residual[k] <= skin_of(bodies, contacts, k, settings.skin)
        age = max(age, bodies.crowd[contacts.body[k, 0]] + 1, bodies.crowd[contacts.body[k, 1]] + 1)
    age = age if rests and known else 1
    for k in rows:
        for side in range(2):
            if bodies.crowd[contacts.body[k, side]] > 0:
                bodies.crowd[contacts.body[k, side]] = age
    return age - 1


@inner
def _look(model, geometry, settings, crowd, blocks, seen, count, worst):
    """Look at where the drift will end, give what overlaps there rows, and solve again; the number of contacts then."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    shallow, first, stages, turned_in = math.inf, count, len(blocks.stage) - 1, False
    for i in crowd.members:
        shallow = min(shallow, ROW_OVERLAP * bodies.radius[i] / settings.dt)
    for _ in range(DRIFT_LOOKS):
        found, largest = predict_rows(model, geometry, settings, crowd, seen, first, count)
        if found < 0:
            break
        relax(model, geometry, settings, crowd, blocks, 0, stages, shallow, LOCAL, ANY, not turned_in)
        count, turned_in = found, True
        if largest <= shallow:  # what still overlaps was asked for already, and is missed by the sweeps
            break
    if turned_in:
        most = max(1, min(MOST_PASSES, WORK // (4 * count)))
        off, _ = settle(model, geometry, settings, crowd, blocks, 0, stages, most)
        worst[:] = off
        mark_unforeseen(model, geometry, settings, crowd, seen)
    return count


@inner
def _give(bodies, contacts, books, settings, crowd, start, worst, first, count):
    """Apply the impulses and book their works; ``first``: the first of the contacts that turned in."""
    rows = crowd.rows[:count]
    impulses(crowd.groups, 0, count, crowd.p)
    _say_residuals(contacts, books, settings, crowd, start, worst, first, count)
    taken_laws(contacts, rows, crowd.p, crowd.mu, crowd.fast)
    apply_contacts(bodies, contacts, books, rows, crowd.p, KICK, 0.5, 1.0)
    _book(bodies, contacts, books, settings, crowd, count)


@lean
def _say_residuals(contacts, books, settings, crowd, start, worst, first, count):
    s = 0
    for m in range(count):
        while m < first and m >= start[s + 1]:
            s += 1
        contacts.residual[crowd.rows[m]] = worst[s]
    for s in range(len(worst)):
        books.worst[RESIDUAL] = max(books.worst[RESIDUAL], worst[s])
        books.counters[UNSOLVED] += worst[s] > settings.tolerance


@lean
def _book(bodies, contacts, books, settings, crowd, count):
    """The velocities that the impulses gave, and the works of these."""
    for m in range(len(crowd.members)):
        i = crowd.members[m]
        refresh_velocity(bodies, i)
        bodies.kicked[i], bodies.flown[i] = 0.0, settings.dt
    for m in range(count):
        book_contact(bodies, contacts, books, crowd.rows[m], load3(crowd.p, m), KICK, 0.5, math.nan, 0.0, False)


@inner
def _solve_exactly(bodies, crowd, first, last, worst, settings, most):
    """Newton's method from where the sweeps ended, where that is given iterations enough: (what is missed [m/s], iterations).

    Its result counts only if it is within the tolerance: its best iterate otherwise is another split of the load, and would
    set in motion what sweeps hold (docs/numerics.md).
    """
    m, a, b, c, members, groups, light = last - first, crowd.a, crowd.b, crowd.c, crowd.members, crowd.groups, crowd.light
    if most < FEWEST_ITERATIONS:
        return worst, 0
    place, n = np.full(len(light), -1, dtype=np.int64), 0
    for k in range(first, last):
        for i in (a[k], b[k]):
            if i >= 0 and place[i] < 0:
                place[i] = n
                n += 1
    one, two = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    system = System(
        np.empty(n), np.empty(n), np.empty((n, 3, 3)), np.empty((n, 3, 3)), one, two, np.zeros((m, 3, 6)), np.zeros((m, 3, 6))
    )  # fmt: skip
    zero, q, arrive, leave = np.zeros((m, 3)), np.empty((m, 3)), np.empty((n, 6)), np.empty((n, 6))
    laws = Laws(np.full(m, COULOMB_LAW), crowd.mu[first:last], zero, zero, np.full(m, -1), c[first:last], np.empty((m, 3)))
    impulses(groups, first, last, crowd.p)
    q[:] = crowd.p[first:last]
    for i in range(len(place)):
        if place[i] >= 0:
            j = place[i]
            system.mass[j], system.inv_mass[j] = bodies.mass[members[i]], light[i]
            store9(system.inertia, j, symmetric_product(load9(bodies.rot, members[i]), load9(bodies.inertia, members[i])))
            store9(system.inv_inertia, j, load9(crowd.inverse, i))
            arrive[j] = crowd.before[i]
    for k in range(m):
        row, lane = groups.table[groups.place[first + k] // LANES], groups.place[first + k] % LANES
        one[k] = place[a[first + k]] if a[first + k] >= 0 else -1
        two[k] = place[b[first + k]] if b[first + k] >= 0 else -1
        for r in range(3):
            laws.u0[k, r] = row[LANES * (OFFSET + r) + lane] + c[first + k, r]
            for d in range(3):
                e = row[LANES * (DIRECTIONS + 3 * r + d) + lane]
                if one[k] >= 0:
                    system.ja[k, r, d], system.ja[k, r, 3 + d] = -e, row[LANES * (ARM_A + 3 * r + d) + lane]
                if two[k] >= 0:
                    system.jb[k, r, d], system.jb[k, r, 3 + d] = e, row[LANES * (ARM_B + 3 * r + d) + lane]
    off, spent = newton(system, laws, arrive, settings.tolerance, most, q, leave)
    if off > settings.tolerance:
        return worst, spent
    for k in range(m):
        row, lane = groups.table[groups.place[first + k] // LANES], groups.place[first + k] % LANES
        for r in range(3):
            row[LANES * (IMPULSE + r) + lane] = q[k, r]
    for i in range(len(place)):
        if place[i] >= 0:
            crowd.v[i, :6] = leave[place[i]]
    return off, spent


@inner
def _push_apart(bodies, contacts, joints, books, settings, crowd, count):
    """Remove part of the overlaps of a crowd as displacements that close no other contact."""
    largest, d = _ask_to_open(bodies, contacts, settings, crowd, count), np.empty((len(crowd.members), 6))
    least = max(settings.slop, 1e-2 * largest) * settings.correction
    shut_groups(crowd.groups, crowd.light, crowd.v, least, 2 * FULL)
    _take_pushes(contacts, crowd, count, d)
    none = np.zeros(0, dtype=np.int64)
    island = Island(crowd.members, crowd.rows[:count], none, none, none, none, none)
    displace(bodies, contacts, joints, books, island, crowd.a, crowd.b, crowd.p, d, False)


@lean
def _ask_to_open(bodies, contacts, settings, crowd, count):
    """Into the lanes how far each contact may come, or is to be moved; the deepest overlap [m].

    What overlaps by no more than the skin is moved out at once: nobody sees it move, and the heap is at rest the sooner.
    """
    rows, groups, largest = crowd.rows, crowd.groups, 0.0
    for m in range(count):
        gap, row, lane = contacts.gap[rows[m]], groups.table[groups.place[m] // LANES], groups.place[m] % LANES
        largest = max(largest, -gap)
        deep = gap < -skin_of(bodies, contacts, rows[m], settings.skin)
        row[LANES * (OFFSET + 2) + lane] = gap * settings.correction if deep else gap
        row[LANES * (IMPULSE + 2) + lane] = contacts.push[rows[m]]
    return largest


@lean
def _take_pushes(contacts, crowd, count, d):
    """The pushes out of the lanes, and the displacements (n, 6) that they make."""
    rows, groups, p = crowd.rows, crowd.groups, crowd.p
    for m in range(count):
        p[m, 0] = p[m, 1] = 0.0
        p[m, 2] = contacts.push[rows[m]] = groups.table[groups.place[m] // LANES, LANES * (IMPULSE + 2) + groups.place[m] % LANES]
    for m in range(len(d)):
        for r in range(6):
            d[m, r] = crowd.v[m, r]


_FLAGS = np.zeros(0, np.bool_)
kick_crowds = far(_kick_crowds, lambda: (EXAMPLE, empty_geometry(), SETTINGS, _FLAGS), returns=None)
