"""The kick: one impulse solve for everything that touches.

Mirtich's idea, a body at rest bounces imperceptibly, made second order: a resting box arrives with -g dt/2, is kicked to
+g dt/2, flies a parabola and arrives again; at the steps its position is exact. With u the relative velocity before the
kick, u' after it, and a the relative acceleration of the coming free flight of length h, the kick asks for

    normal     u'_n >= -h/2 a_n - gap/h where open, >= -h/2 a_n where touching, with complementarity
    tangential sticking: u'_t = -h/2 a_t, if the impulse lies in the cone;
               sliding: p_t = -mu p_n d, d the slip in the middle of the kick, (u + u')/2; where that slip is below
               |a_t| h, the slip u'_t + h/2 a_t instead. With d half a step late the scheme were of order one.

The cone is that of the kinetic friction, except where a contact may be held: it stuck in the last kick, or its slip comes
to an end in this one, which is when the slips in the middle of the last flight and of the coming one point against each
other. Then the impulse may reach the static friction; if that does not hold it, it is loose, and the kinetic one acts.

The unknown of the solve is the velocity in the middle of the kick and half the impulse, p' = p/2: then the slip of the
law is the solver's own u, with target c = (u + b)/2 normal to the contact and c_t = 0 (sliding) or (u_t - h/2 a_t)/2.
"""

from __future__ import annotations

import math

import numpy as np

from collision.geometry import empty_geometry
from collision.kernels.jit import FOR_KERNELS, far, inner, kernel, lean
from collision.linalg import (
    ZERO,
    add,
    axpy,
    copy_table,
    cross,
    dot,
    load3,
    load9,
    mul_t,
    norm,
    scale,
    store3,
    sub,
    symmetric_product,
)
from sim.contact.contact_accelerations import revise, turns
from sim.contact.contact_table import FASTER, normal_target, note_arrivals
from sim.contact.half_kick import keep_steady, owe
from sim.contact.load_distribution import spread_loads
from sim.contact.overlap_correction import correct_depth, open_joints, too_deep
from sim.contact.rolling_friction import (
    apply_moments,
    book_moments,
    hold_bounds,
    list_moments,
    load_moments,
    moment_targets,
    moments_missed,
)
from sim.contact.surfaces import surface_slip
from sim.flight.end_pose import Ends, fly_members
from sim.flight.joint_looks import look_ahead
from sim.flight.motion import point_velocity, refresh_velocity, world_inverse_inertia
from sim.joints.kept_rows import choose_kept
from sim.joints.rows import DRIVE, is_dynamic, load_block
from sim.joints.velocity_solve import (
    LOOKS,
    SURPRISE,
    apply_joints,
    book_joints,
    drives,
    fly_on,
    held_in_flight,
    joint_targets,
    list_blocks,
    start_joints,
    wants_look,
)
from sim.ledger import entries as ledger
from sim.ledger.kick_numbers import LARGEST, effort_of, last_flight, remember
from sim.ledger.work import AGAIN, KICK, START, book_pair, book_work, give, halves
from sim.solvers.crowd_targets import soft_targets, taken_laws
from sim.solvers.mixing import forget, mix, no_history
from sim.solvers.newton import Room, no_room, room_of_joints
from sim.solvers.newton import newton_in_far as newton
from sim.solvers.sweeps import sweeps_far as by_sweeps
from sim.state import (
    CAPPED,
    DYNAMIC,
    EXAMPLE,
    FAST,
    HELD,
    ITERATIONS,
    LOOSE,
    MU,
    MU_STATIC,
    PLACED,
    POINTS,
    RESIDUAL,
    ROWS,
    SETTINGS,
    SOLVES,
    SWEEPS,
    UNSOLVED,
)

PULLS = 30  # displacements that take joints to their places: near them each leaves about the square of what was open
STALLS = 5  # looks ahead in a row that do not take a tenth off what they miss: no more are taken
STRAYED = 4.0  # what a look misses, against the best, where the way is lost: from the best one on without what was learnt
ROUNDS = 4  # changes between the laws of sticking and sliding
RISE = 2.5e-6  # energy that may come and go with impulses of contacts, as part of all: a quarter of what is promised
STEADY = 500  # kicks in which a change is one
LOST = 8  # parts of a drift at which looks that find no end are given up
PARTS = 64  # into how many a drift is divided at most
NOT_FAST, NOT_HELD = 1, 2


@inner
def kick(model, geometry, settings, mode, plain):
    """Kick every island of tables sorted by islands (islands.label_islands), but those that are ``plain`` (impact/crowds.py)."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    n, m = contacts.count[0], len(joints.order)
    first, first_joint = 0, 0
    local = np.full(len(bodies.kind), -1, dtype=np.int64)
    while first < n or first_joint < m:
        label = len(bodies.kind)
        if first < n:
            label = contacts.island[contacts.order[first]]
        if first_joint < m:
            label = min(label, joints.island[joints.order[first_joint]])
        last, last_joint = first, first_joint
        while last < n and contacts.island[contacts.order[last]] == label:
            last += 1
        while last_joint < m and joints.island[joints.order[last_joint]] == label:
            last_joint += 1
        rows, links = contacts.order[first:last], joints.order[first_joint:last_joint]
        if len(rows) == 0 and held_in_flight(bodies, joints, links):
            fly_on(bodies, joints, links, settings.dt)
        elif not plain[label]:
            kick_island(model, geometry, settings, contacts, 0.0, mode, rows, links, local)
        first, first_joint = last, last_joint


# What few islands need, and what joints and moments do, is compiled apart: a world without them does not wait for it.
_I, _T, _F, _F2, _F3 = np.zeros(0, np.int64), np.zeros(0, np.bool_), np.zeros(0), np.zeros((0, 6)), np.zeros((0, 3, 6))
_ENDS, _BODIES = Ends(_F2, _F3, _F2, _F2), EXAMPLE.bodies
_CONTACTS, _JOINTS, _BOOKS, _FORCES = EXAMPLE.contacts, EXAMPLE.joints, EXAMPLE.books, EXAMPLE.forces
_SIDES = (_I, _I, _F3, _F3)  # bodies of the blocks and their Jacobians: a, b, ja, jb
_OWNED = (_I, _I, _I, 0)  # owner, block, place, first
_I2, _F9 = np.zeros((0, 0), np.int64), np.zeros((0, 9))
_ROOM = Room(_F2, _F2, _I, _I2, _I, _I, _F3, _F9, _F2, _F9, _F2, _F2, _F2, _F2)
_room_of_joints = far(room_of_joints, lambda: (_F, _F3, *_SIDES, _F), returns=_ROOM)
_correct_depth = far(
    correct_depth,
    lambda: (
        _BODIES, _CONTACTS, _JOINTS, _BOOKS, SETTINGS, _I, _I, _F, _F3, _F, _F3, *_SIDES, _F, _I, _I, False, 0.0, _F,
    ),
    returns=None,
)  # fmt: skip
_start_joints = far(start_joints, lambda: (_BODIES, _JOINTS, _I, 0.0, 0.0, 0, _F2, _F2), returns=None)
_joint_targets = far(joint_targets, lambda: (_JOINTS, *_OWNED, 0.0, 0.0, 0, 0.0, _F2, _F2, _F2, _F2, _F2), returns=None)
_book_joints = far(book_joints, lambda: (_BODIES, _JOINTS, _BOOKS, _I, *_OWNED, _F2, _F2, 0.0, 0, 0.0), returns=None)
_choose_kept = far(choose_kept, lambda: (_JOINTS, _FORCES, *_OWNED, _F2, _F2, _F2, _F2, _T, _F2), returns=False)
_wants_look = far(wants_look, lambda: (_JOINTS, *_OWNED, 0.0, 0, _F2, _F2, *_SIDES, _F2, _F2, _F2, _F2, _F2, _T), returns=False)
_look_ahead = far(
    look_ahead,
    lambda: (_BODIES, _JOINTS, _FORCES, *_OWNED, _I, _ENDS, _F2, *_SIDES, _F2, 0.0, 0.0, 0, _F2, _T, _F2),
    returns=0.0,
)
_fly_members = far(fly_members, lambda: (_BODIES, _FORCES, _JOINTS, _I, _I, _F, _F3, _F2, _F2, 0.0, 0.0, 0, _ENDS), returns=None)
_soft_targets = far(soft_targets, lambda: (_BODIES, _CONTACTS, _I, 0.0, 0.0, _F2, _F2, _T), returns=None)
_moment_targets = far(
    moment_targets, lambda: (_BODIES, _CONTACTS, _I, _I, 0, 0.0, 0, _F2, *_SIDES, _F2, _F2, _F2, _F2), returns=None
)
_moments_missed = far(
    moments_missed,
    lambda: (_BODIES, _CONTACTS, _I, _I, 0, 0.0, 0, 0, _F, _F3, _F2, _F2, *_SIDES, _F2, _F2, _F2),
    returns=0.0,
)
_book_moments = far(book_moments, lambda: (_BODIES, _CONTACTS, _BOOKS, _I, _I, 0, _F2, *_SIDES, _F2, _F2, 0, 0.0), returns=None)
_hold_bounds = far(hold_bounds, lambda: (_CONTACTS, _I, _I, 0, _F2), returns=None)


@kernel(**FOR_KERNELS)
def _kick_island(model, geometry, settings, contacts, t, mode, rows, links, local):
    """Solve the contacts ``rows`` of a table and the joints ``links`` together and apply the impulses, for the coming flight.

    It begins at time t of the drift and goes to its end, or part of the way where that is too long for joints: then the island
    is kicked again (``bodies.until``).

    ``local`` is all -1, and is so again afterwards.
    """
    bodies, geoms, pairs, latest, books, forces, joints = model
    m = len(rows)
    turning = list_moments(contacts, rows)
    members, a, b, mass, inv_mass, inertia, inv_inertia, vstar, v, ja, jb, u0, mu, lo, hi, p, owner, block = problem(
        bodies, contacts, joints, rows, links, turning, local
    )
    if len(members) == 0:  # a drive without a target holds nothing
        return
    first = m + len(owner)  # block of the first moment
    c = np.empty((len(mu), 3))
    here, hold = np.empty((len(links), 7)), np.empty((len(links), 6))
    place_of = np.empty(len(owner), dtype=np.int64)  # row of ``here`` of each block
    n = 0
    for k in range(len(owner)):
        while links[n] != owner[k]:
            n += 1
        place_of[k] = n
    soft = mode != START and _in_crowd(bodies, members)
    cheap = soft or settings.solver == SWEEPS
    floor = contacts.gap[rows]  # gaps below zero that are left to be
    deep = mode != AGAIN and too_deep(contacts, books, settings, rows)
    for pull in range(PULLS):
        placed = mode == KICK and open_joints(bodies, joints, owner, block) > SURPRISE
        if not placed and (pull > 0 or not deep):
            break
        books.counters[PLACED] += placed and pull == 0
        # the poses first: the works of the kick are then those of the poses that fly on
        _correct_depth(
            bodies, contacts, joints, books, settings, rows, members, mass, inertia, inv_mass, inv_inertia, a, b, ja, jb, mu,
            owner, block, cheap, settings.correction if pull == 0 else 0.0, floor,
        )  # fmt: skip
        _load_bodies(bodies, members, mass, inv_mass, inertia, inv_inertia, vstar)
        _load_contacts(bodies, contacts, rows, a, b, ja, jb, u0, mu, p)
        for k in range(len(owner)):
            load_block(bodies, joints, owner[k], block[k], m + k, a, b, ja, jb, u0, mu, lo, hi, p)
        load_moments(bodies, contacts, rows, turning, first, a, b, ja, jb, u0, mu, p)
    for k in range(m):
        floor[k] = min(0.0, floor[k])

    driven = False
    for k in range(len(owner)):
        driven = driven or drives(joints, owner[k], block[k])
    wanted, let_go, looking = np.zeros(len(owner), dtype=np.bool_), np.zeros(len(links), dtype=np.bool_), False
    wait, parts, size = settings.dt - t, _parts(bodies, members, mode), len(members)
    # joints need what they need; contacts alone divide a step no further than it may be spent on kicks
    most = PARTS if driven else min(PARTS, settings.crowd / effort_of(size))
    while parts > max(1, most):
        parts //= 2
    parts_next = first_parts = parts
    h = _length(wait, parts, settings.dt)
    locked = np.zeros(m, dtype=np.int64)
    if len(links) > 0:
        _start_joints(bodies, joints, links, t, settings.dt, mode, here, hold)
    ends = Ends(np.empty((size, 3)), np.empty((size, 3, 3)), np.empty((size, 3)), np.empty((size, 3)))
    found, ids = np.empty((POINTS, ROWS)), np.empty(POINTS, dtype=np.int64)
    arrives, accel = np.full(m, math.nan), np.empty((m, 3))
    for k in range(m):
        store3(accel, k, load3(contacts.accel, rows[k]))
    follows = (
        0 < m <= LARGEST and most >= 2 and settings.look_ahead and not cheap and len(turning) == 0 and _fall(forces, members)
    )
    turn = False
    best, lacks, stalled, best_p, spread, anew = math.inf, math.inf, 0, p.copy(), False, True
    last = settings.dt if mode == START else last_flight(bodies, members, t, settings.dt)
    known, guess = hold.copy(), p.copy()
    held, best_hold, history = hold.copy(), hold.copy(), no_history(len(links))
    stick, fast = np.zeros((len(mu), 2)), np.zeros(len(mu), dtype=np.bool_)
    rounds, round = LOOKS if follows or driven or len(turning) > 0 else ROUNDS, 0
    _scaled(known, h / settings.dt, hold)
    room = _room_of_joints(inv_mass, inv_inertia, a, b, ja, jb, mu) if len(links) > 0 else no_room(a, p, inertia)
    _scaled_impulses(guess, _stands_for(last, h, mode) / settings.dt, m, block, p)
    while True:
        load_friction(contacts, rows, mu)
        targets(bodies, contacts, rows, h, settings.dt, mode, soft, c)
        if soft:
            _soft_targets(bodies, contacts, rows, settings.skin, h, c, stick, fast)
        if len(links) > 0:
            _joint_targets(
                joints, owner, block, place_of, m, h, settings.dt, mode, settings.correction, here, hold, c, lo, hi,
            )  # fmt: skip
        if len(turning) > 0:
            _moment_targets(bodies, contacts, rows, turning, first, h, mode, vstar, a, b, ja, jb, u0, p, c, hi)
        if cheap:
            worst, spent = by_sweeps(
                inv_mass, inv_inertia, vstar, a, b, ja, jb, mu, lo, hi, c, u0, stick, fast,
                settings.tolerance, settings.sweeps * (10 if mode == START else 1), p, v,
            )  # fmt: skip
            if soft:
                taken_laws(contacts, rows, p, mu, fast)
        else:
            worst, spent = newton(
                mass, inertia, inv_mass, inv_inertia, vstar, a, b, ja, jb, mu, lo, hi, c, u0, room,
                settings.tolerance, settings.iterations, p, v,
            )  # fmt: skip
        books.counters[SOLVES] += 1
        books.counters[ITERATIONS] += spent
        again = (
            not cheap
            and round < ROUNDS
            and _change_laws(contacts, rows, h, mode, settings.tolerance, mu, p, v, a, b, ja, jb, u0, locked, round)
        )
        if driven and mode == KICK and _choose_kept(joints, forces, owner, block, place_of, m, here, p, lo, hi, let_go, hold):
            again = True
        looking = driven and _wants_look(
            joints, owner, block, place_of, m, h, mode, here, v, a, b, ja, jb, u0, p, lo, hi, hold, wanted
        )
        bound = 0.0
        if len(turning) > 0:
            bound = _moments_missed(
                bodies, contacts, rows, turning, first, h, mode, round, inv_mass, inv_inertia, vstar, v, a, b, ja, jb, u0, p, hi
            )
            again = again or bound == math.inf
        if follows and not turn and turns(bodies, contacts, rows, local, vstar, v, h, mode):
            turn, room = True, _room_of_joints(inv_mass, inv_inertia, a, b, ja, jb, mu)
        if turn or looking:
            missed, left = 0.0, 0.0
            _fly_members(bodies, forces, joints, members, local, mass, inertia, vstar, v, t, t + h, mode, ends)
            if turn:  # what the solve itself left is not missed
                left = worst
                missed = revise(
                    bodies, geoms, forces, geometry, contacts, rows, floor, members, local, ends, vstar, v, p, t, t + h,
                    settings.dt, mode, found, ids, arrives,
                )  # fmt: skip
            if looking:
                copy_table(hold, held)
                missed = max(missed, _look_ahead(
                    bodies, joints, forces, owner, block, place_of, m, local, ends, v, a, b, ja, jb, u0, t, h, mode, here, wanted,
                    hold,
                ))  # fmt: skip
            missed = max(0.0, missed - left)
            lacks = missed if again else min(lacks, missed)
            off = max(missed, worst, bound)  # the look to take is also solved
            if anew:  # what solves one set of laws says nothing of another
                best = math.inf
            anew = again
            stalled = 0 if again or off < 0.9 * best else stalled + 1
            strayed = off > STRAYED * best
            if off <= best:
                best = off
                copy_table(p, best_p)
                copy_table(hold, best_hold)
            if looking:
                if again or strayed:  # the laws are others, or the way is lost
                    forget(history)
                if strayed:
                    copy_table(best_hold, hold)
                elif not again:
                    mix(history, held, hold)
                    copy_table(held, hold)
            again = again or missed > settings.tolerance
        again = again or bound > settings.tolerance
        if driven and mode == START and not again:  # now what the flight bends is known
            again = anew = _choose_kept(joints, forces, owner, block, place_of, m, here, p, lo, hi, let_go, hold)
        if round == LOOKS - 1:
            worst = max(worst, bound)
        if not again and not spread and not cheap and round < rounds - 1:
            spread = again = spread_loads(geoms, contacts, rows, p)
            best, lacks = (math.inf, math.inf) if spread else (best, lacks)
        round += 1
        if not again or stalled > STALLS or round == rounds:
            if cheap or not (looking or turn):
                parts_next = max(1, parts // 2)
                break
            if turn and lacks > settings.tolerance and (parts >= LOST or 2 * parts > most):
                follows, parts = False, first_parts  # the acceleration of the instant has to do
            elif (looking and lacks * h > SURPRISE) or (turn and lacks > settings.tolerance):
                if parts >= PARTS:
                    break
                parts *= 2  # what is wanted at the end of so long a flight is not found
            elif turn:
                swing = _contact_swing(contacts, rows, best_p, v, a, b, ja, jb, u0, mode, arrives) / RISE
                swing /= _energy(bodies, contacts, joints, rows, links, members, mass, inertia, v)
                if 2 * parts > most or not swing > 1.0:  # nor where it is no number: parts would not change that
                    if parts > 1 and swing < 0.2:
                        parts_next = parts // 2
                    break
                while swing > 1.0 and 2 * parts <= most:
                    parts, swing = 2 * parts, 0.25 * swing
            else:
                break
            parts_next = parts
            h = _length(wait, parts, settings.dt)
            _scaled(known, h / settings.dt, hold)
            _scaled_impulses(guess, _stands_for(last, h, mode) / settings.dt, m, block, p)
            for k in range(m):
                store3(contacts.accel, rows[k], load3(accel, k))
                arrives[k] = math.nan
            turn = False
            best, lacks, stalled, round, spread = math.inf, math.inf, 0, 0, False
            locked[:] = 0
            forget(history)
    if not looking:
        copy_table(hold, best_hold)
    if turn or looking:
        copy_table(best_p, p)
        worst = max(worst, best)
    for i in members:
        bodies.parts[i] = parts_next
        bodies.until[i] = t + h if h < wait else 0.0
        bodies.kicked[i], bodies.flown[i] = t, h
    books.worst[RESIDUAL] = max(books.worst[RESIDUAL], worst)
    if worst > settings.tolerance:
        books.counters[UNSOLVED] += 1
        if spent >= settings.iterations:
            books.counters[CAPPED] += 1
    for k in rows:
        contacts.residual[k] = worst
    if len(turning) > 0:
        _hold_bounds(contacts, rows, turning, first, p)
    # springs and motors act for whole steps: where they are, so do all for the books
    lands = mode == KICK and last == 0.0
    share = last / (last + h) if mode == KICK and not driven and not lands else 0.5
    steady = settings.dt / _stands_for(last, h, mode)
    owe(
        contacts, rows, h, last, mode, cheap, room, settings, mass, inertia, inv_mass, inv_inertia, vstar, a, b, ja, jb,
        mu, lo, hi, u0, p, v,
    )  # fmt: skip
    apply_contacts(bodies, contacts, books, rows, p, mode, share, steady)
    if mode == AGAIN:
        keep_steady(contacts, rows, p, settings.dt / h)
    _scaled(best_hold, settings.dt / h, hold)
    apply_joints(bodies, joints, books, links, owner, block, place_of, m, hold, wanted, p, mode, share, steady)
    apply_moments(bodies, contacts, books, rows, turning, first, p, mode, share, steady)
    for i in members:
        refresh_velocity(bodies, i)
        local[i] = -1
    landed, comes = 0.0, np.empty(m, dtype=np.bool_)
    for k in range(m):
        comes[k] = contacts.u[rows[k], 2] <= 0.0
    for closing in (True, False):
        for k in range(m):
            if comes[k] == closing:
                landed += book_contact(bodies, contacts, books, rows[k], load3(p, k), mode, share, arrives[k], landed)
    if len(links) > 0:
        _book_joints(bodies, joints, books, links, owner, block, place_of, m, here, p, settings.dt, mode, share)
    if len(turning) > 0:
        _book_moments(bodies, contacts, books, rows, turning, first, vstar, a, b, ja, jb, u0, p, mode, share)
    if turn:
        note_arrivals(pairs, contacts, rows)
    remember(bodies, latest, contacts, rows, members, mode)


@lean
def _parts(bodies, members, mode):
    """Into how many parts to divide the drift at first."""
    parts = 1
    if mode != START:
        for i in members:
            parts = max(parts, bodies.parts[i])
    return parts


@inner
def _contact_swing(contacts, rows, p, v, a, b, ja, jb, u0, mode, arrives):
    """Energy that comes and goes with the impulses of contacts that turn [J].

    The mean momenta of a kick P hold P^2/24m less than those of a steady force (m: what the contact moves), which is P |u'|/12.
    A steady one does not show, so it counts by what it changes within STEADY kicks. The force is steady where the contact comes
    back as fast as it leaves.
    """
    total = 0.0
    for k in range(len(rows)):
        if p[k, 2] > 0.0:
            u = u0[k, 2]
            for d in range(6):
                if a[k] >= 0:
                    u += ja[k, 2, d] * v[a[k], d]
                if b[k] >= 0:
                    u += jb[k, 2, d] * v[b[k], d]
            if mode != START:
                u = 2.0 * u - contacts.u[rows[k], 2]
            change = abs(u + arrives[k]) if math.isfinite(arrives[k]) else 0.0
            total += p[k, 2] / 6.0 * min(abs(u), STEADY * change)
    return total


@inner
def _energy(bodies, contacts, joints, rows, links, members, mass, inertia, v):
    """Kinetic energy of an island against what it is held by, else against its centre of mass, and what it would gain by falling
    through its size [J]: the scale of what may come and go."""
    total, weight, momentum, held = 0.0, 0.0, ZERO, False
    for k in range(len(members)):
        i = members[k]
        momentum = axpy(mass[k], (v[k, 0], v[k, 1], v[k, 2]), momentum)
        weight += mass[k]
        total += mass[k] * norm(load3(bodies.gravity, i)) * bodies.radius[i]
        for r in range(3):
            total += 0.5 * mass[k] * v[k, r] * v[k, r]
            for s in range(3):
                total += 0.5 * v[k, 3 + r] * inertia[k, r, s] * v[k, 3 + s]
    for j in links:
        held = held or not (is_dynamic(bodies, joints.body[j, 0]) and is_dynamic(bodies, joints.body[j, 1]))
    for row in rows:
        held = held or not (is_dynamic(bodies, contacts.body[row, 0]) and is_dynamic(bodies, contacts.body[row, 1]))
    return max(total if held else total - 0.5 * dot(momentum, momentum) / weight, 1e-300)


@lean
def _length(wait, parts, dt):
    """Length of a flight for which the rest of the drift, ``wait``, is divided evenly: about dt/parts."""
    return wait / max(1.0, math.ceil(parts * wait / dt - 1e-6))


@lean
def _scaled(table, f, out):
    """out = f table"""
    for k in range(len(table)):
        for r in range(table.shape[1]):
            out[k, r] = f * table[k, r]


@lean
def _stands_for(last, h, mode):
    """The time that a kick between flights of these lengths stands for. What comes flying lands at the step: for a flight."""
    return h if mode == START or (last == 0.0 and mode == KICK) else 0.5 * (last + h)


@lean
def _scaled_impulses(steady, f, contacts, block, p):
    """Impulses of a kick from those of half a step, f of which it stands for; springs and motors act for whole steps."""
    for k in range(len(p)):
        n = k - contacts
        g = 1.0 if 0 <= n < len(block) and block[n] == DRIVE else f
        for r in range(3):
            p[k, r] = g * steady[k, r]


@lean
def _fall(forces, members):
    """No forces but uniform gravity and those of joints act on these bodies: those of others have a mean of their own
    (flight/clusters.py)."""
    free = True
    for i in members:
        c = forces.cluster[i]
        free = free and (c < 0 or forces.first_row[c] == forces.first_row[c + 1])
    return free


@lean
def _in_crowd(bodies, members):
    """The island is violent: many impacts follow each other, and none of them is located."""
    lull = 0
    for i in members:
        lull = max(lull, bodies.crowd[i])
    return lull > 0


@inner
def problem(bodies, contacts, joints, rows, links, turning, local):
    """The arrays of solvers.newton for the contacts ``rows`` of a table and the joints ``links``.

    First come the dynamic bodies that take part, last the joint and block number of each block after those of the
    contacts; at the end of the blocks are the moments of the contacts ``turning`` (rolling_friction.py). ``local`` must be
    all -1; it then holds each member's place.
    """
    owner, block = list_blocks(joints, links)
    m = len(rows) + len(owner) + len(turning)
    members, a, b = _members(bodies, contacts, joints, rows, owner, turning, local)
    n = len(members)
    mass, inv_mass = np.empty(n), np.empty(n)
    inertia, inv_inertia = np.empty((n, 3, 3)), np.empty((n, 3, 3))
    vstar, v = np.empty((n, 6)), np.empty((n, 6))
    _load_bodies(bodies, members, mass, inv_mass, inertia, inv_inertia, vstar)
    ja, jb = np.zeros((m, 3, 6)), np.zeros((m, 3, 6))
    u0, mu, p = np.zeros((m, 3)), np.empty(m), np.empty((m, 3))
    lo, hi = np.zeros((m, 3)), np.zeros((m, 3))
    _load_contacts(bodies, contacts, rows, a, b, ja, jb, u0, mu, p)
    for k in range(len(owner)):
        load_block(bodies, joints, owner[k], block[k], len(rows) + k, a, b, ja, jb, u0, mu, lo, hi, p)
    load_moments(bodies, contacts, rows, turning, len(rows) + len(owner), a, b, ja, jb, u0, mu, p)
    return members, a, b, mass, inv_mass, inertia, inv_inertia, vstar, v, ja, jb, u0, mu, lo, hi, p, owner, block


@inner
def _members(bodies, contacts, joints, rows, owner, turning, local):
    """Dynamic bodies of these contacts and joints, and the local index of the two bodies of each (-1: not dynamic)."""
    m = len(rows) + len(owner)
    members = np.empty(2 * m, dtype=np.int64)
    ends = np.full((2, m + len(turning)), -1, dtype=np.int64)
    n = 0
    for k in range(m):
        for side in range(2):
            i = contacts.body[rows[k], side] if k < len(rows) else joints.body[owner[k - len(rows)], side]
            if is_dynamic(bodies, i):
                if local[i] < 0:
                    local[i] = n
                    members[n] = i
                    n += 1
                ends[side, k] = local[i]
    for k in range(len(turning)):
        ends[0, m + k], ends[1, m + k] = ends[0, turning[k]], ends[1, turning[k]]
    return members[:n], ends[0], ends[1]


@lean
def _load_bodies(bodies, members, mass, inv_mass, inertia, inv_inertia, v):
    for k in range(len(members)):
        i = members[k]
        mass[k], inv_mass[k] = bodies.mass[i], bodies.inv_mass[i]
        j = symmetric_product(load9(bodies.rot, i), load9(bodies.inertia, i))
        w = world_inverse_inertia(bodies, i)
        for r in range(3):
            for s in range(3):
                inertia[k, r, s] = j[3 * r + s]
                inv_inertia[k, r, s] = w[3 * r + s]
            v[k, r] = bodies.v[i, r]
            v[k, 3 + r] = bodies.w[i, r]


@lean
def _load_contacts(bodies, contacts, rows, a, b, ja, jb, u0, mu, p):
    for k in range(len(rows)):
        row = rows[k]
        point = load3(contacts.point, row)
        mu[k] = contacts.mu[row]
        i, j = contacts.body[row, 0], contacts.body[row, 1]
        normal = (contacts.frame[row, 2, 0], contacts.frame[row, 2, 1], contacts.frame[row, 2, 2])
        belt = surface_slip(bodies, i, j, point, normal)
        for r in range(3):
            p[k, r] = contacts.impulse[row, r]
            e = (contacts.frame[row, r, 0], contacts.frame[row, r, 1], contacts.frame[row, r, 2])
            u0[k, r] = dot(e, belt)
            if a[k] >= 0:
                arm = cross(sub(point, load3(bodies.x, i)), e)
                for d in range(3):
                    ja[k, r, d] = -e[d]
                    ja[k, r, 3 + d] = -arm[d]
            else:
                u0[k, r] -= dot(e, point_velocity(bodies, i, point))
            if b[k] >= 0:
                arm = cross(sub(point, load3(bodies.x, j)), e)
                for d in range(3):
                    jb[k, r, d] = e[d]
                    jb[k, r, 3 + d] = arm[d]
            else:
                u0[k, r] += dot(e, point_velocity(bodies, j, point))


@lean
def load_friction(contacts, rows, mu):
    """The friction of each contact in this kick: static where it is held."""
    for k in range(len(rows)):
        row = rows[k]
        contacts.mu[row] = contacts.law[row, MU_STATIC if contacts.slides[row] == HELD else MU]
        mu[k] = contacts.mu[row]


@lean
def targets(bodies, contacts, rows, h, dt, mode, soft, c):
    """The velocity that each contact is solved towards, in its frame; see the head of this file."""
    for k in range(len(rows)):
        row = rows[k]
        b_n = normal_target(bodies, contacts, row, h, dt, soft)
        if mode == START:
            c[k, 2] = b_n
            for r in range(2):
                c[k, r] = -0.5 * h * contacts.accel[row, r]
        else:
            c[k, 2] = 0.5 * (contacts.u[row, 2] + b_n)
            for r in range(2):
                stuck = 0.5 * (contacts.u[row, r] - 0.5 * h * contacts.accel[row, r])
                c[k, r] = 0.0 if contacts.slides[row] == FAST else stuck


@lean
def _change_laws(contacts, rows, h, mode, tolerance, mu, p, v, a, b, ja, jb, u0, locked, round):
    """Switch contacts whose solution belongs to another law of friction; True where that asks for another solve.

    ``locked`` holds what a contact has tried in vain in this kick, as bits NOT_FAST and NOT_HELD.
    """
    changed = False
    for k in range(len(rows)):
        row = rows[k]
        stiction = contacts.law[row, MU_STATIC] > contacts.law[row, MU]
        if p[k, 2] == 0.0 or (mode == START and not stiction):
            continue
        m0, m1 = u0[k, 0], u0[k, 1]  # slip in the middle of the kick
        for d in range(6):
            if a[k] >= 0:
                m0 += ja[k, 0, d] * v[a[k], d]
                m1 += ja[k, 1, d] * v[a[k], d]
            if b[k] >= 0:
                m0 += jb[k, 0, d] * v[b[k], d]
                m1 += jb[k, 1, d] * v[b[k], d]
        a0, a1 = contacts.accel[row, 0], contacts.accel[row, 1]
        s0, s1 = contacts.u[row, 0], contacts.u[row, 1]
        # slip in the middle of the coming flight: u' + h/2 a, u' = 2 u_middle - u; and in the middle of the last one
        f0, f1 = 2.0 * m0 - s0 + 0.5 * h * a0, 2.0 * m1 - s1 + 0.5 * h * a1
        if mode == START:  # contacts.u is the mean, and what was solved for is u'
            f0, f1, m0, m1 = m0 + 0.5 * h * a0, m1 + 0.5 * h * a1, s0, s1
        elif mode == KICK:
            s0, s1 = s0 - 0.5 * h * a0, s1 - 0.5 * h * a1
        flow = math.hypot(f0, f1)
        in_cone = math.hypot(p[k, 0], p[k, 1]) < mu[k] * p[k, 2] * (1.0 - 1e-9)
        slow = math.hypot(m0, m1) <= math.hypot(a0, a1) * h
        fast = not (in_cone or slow or m0 * f0 + m1 * f1 <= 0.0) and mode != START
        ends = in_cone or s0 * f0 + s1 * f1 <= 10.0 * tolerance * flow
        was = contacts.slides[row]
        law = was
        if was == FAST:
            if not fast:
                law = HELD if ends else LOOSE
                locked[k] |= NOT_FAST
        elif fast and round < 2 and not locked[k] & NOT_FAST and not (was == HELD and stiction):
            law = FAST
        elif was == HELD:
            if stiction and not in_cone and flow > 100.0 * tolerance:
                law = LOOSE
                locked[k] |= NOT_HELD
        elif ends and not locked[k] & NOT_HELD:
            law = HELD
        contacts.slides[row] = law
        # a contact that sticks within the kinetic friction is held from now on, and nothing is to be solved anew
        if (law == FAST) != (was == FAST) or (law != was and stiction and not (in_cone and law == HELD)):
            changed = True
    return changed


@lean
def apply_contacts(bodies, contacts, books, rows, p, mode, share, steady):
    """Impulses to momenta, at one common point with opposite signs; ``steady`` makes of one that of half a step."""
    # START: the given velocity is the mean; half the impulse before it, half after. Otherwise the impulse is twice p'.
    for k in range(len(rows)):
        row = rows[k]
        store3(contacts.impulse, row, scale(steady, (p[k, 0], p[k, 1], p[k, 2])))
        e = load9(contacts.frame, row)
        q = mul_t(e, (p[k, 0], p[k, 1], p[k, 2]))
        point = load3(contacts.point, row)
        for side in range(2):
            q = scale(-1.0, q)  # first on a, then on b
            give(bodies, books, contacts.body[row, side], q, ZERO, point, mode, share)


@lean
def book_contact(bodies, contacts, books, row, half, mode, share, arrives, landed):
    """Works of half the impulse of a contact, ``half``, before and after the middle of the kick.

    ``arrives``: normal velocity with which it will come back, nan where nobody looked: then as fast as it leaves. ``landed``:
    what others of the island lost as they landed in this kick [J]. Returns what this one lost so: less than nothing where
    those turn it away, but no more than they lost.
    """
    e = load9(contacts.frame, row)
    s, t, n = (e[0], e[1], e[2]), (e[3], e[4], e[5]), (e[6], e[7], e[8])
    point = load3(contacts.point, row)
    i, j = contacts.body[row, 0], contacts.body[row, 1]
    vi, vj = point_velocity(bodies, i, point), point_velocity(bodies, j, point)
    belt = surface_slip(bodies, i, j, point, n)
    u = add(sub(vj, vi), belt)
    after = (dot(u, s), dot(u, t), dot(u, n))
    store3(contacts.u_after, row, after)
    p = scale(2.0, half)
    before = load3(contacts.u, row)
    if mode == START:  # contacts.u was the mean
        before = (2.0 * before[0] - after[0], 2.0 * before[1] - after[1], 2.0 * before[2] - after[2])
        store3(contacts.u, row, before)
    # normal work: what comes faster than it was to come lands, and that is a loss like that of an impact; what is left belongs
    # to the phase of the micro-collisions, taken before the middle of the kick and given back after it
    expected = contacts.arrives[row] if math.isfinite(contacts.arrives[row]) else -after[2]
    lasts = math.isfinite(contacts.arrives[row]) and before[2] >= FASTER * min(expected, 0.0)
    if not lasts:  # it lands
        expected = -after[2]
    loss = max(0.0 if lasts else -landed, 0.5 * p[2] * (expected - before[2]))
    # what closes still has landed only with the kick that stops it
    contacts.arrives[row] = arrives if math.isfinite(arrives) and after[2] > 0.0 else -after[2]
    for r in range(3):  # so that the mean is the velocity in the middle
        contacts.u[row, r] = 2.0 * (before[r] + share * (after[r] - before[r])) - after[r] if share != 0.5 else before[r]
    first, second = halves(before[2], after[2], share)
    loss1, loss2 = share * loss, (1.0 - share) * loss
    normal1, normal2 = p[2] * first + loss1, p[2] * second + loss2
    s1, s2 = halves(before[0], after[0], share)
    t1, t2 = halves(before[1], after[1], share)
    slip1, slip2 = p[0] * s1 + p[1] * t1, p[0] * s2 + p[1] * t2
    sticks = math.hypot(p[0], p[1]) < contacts.mu[row] * p[2] * (1.0 - 1e-9) and contacts.slides[row] != FAST
    if sticks:  # tangential work of what sticks: likewise, friction takes what slips more than it was to slip
        crept = load3(contacts.creeps, row)
        came = (dot(crept, s), dot(crept, t)) if math.isfinite(crept[0]) else (-after[0], -after[1])
        rubbed = 0.5 * (p[0] * (before[0] - came[0]) + p[1] * (before[1] - came[1]))
        normal1, normal2 = normal1 + slip1 - share * rubbed, normal2 + slip2 - (1.0 - share) * rubbed
        slip1, slip2 = share * rubbed, (1.0 - share) * rubbed
        store3(contacts.creeps, row, scale(-1.0, add(scale(after[0], s), scale(after[1], t))))
    else:
        store3(contacts.creeps, row, (math.nan, math.nan, math.nan))
    # a driven body's velocity is not changed by impulses: its work is the same in both halves
    world = add(add(scale(p[0], s), scale(p[1], t)), scale(p[2], n))
    driven = -dot(world, belt)
    if bodies.kind[i] != DYNAMIC:
        driven += dot(world, vi)
    if bodies.kind[j] != DYNAMIC:
        driven -= dot(world, vj)
    driven1, driven2 = share * driven, (1.0 - share) * driven
    book_work(books, ledger.CONTACT, normal1, normal2, mode)
    book_work(books, ledger.RESTITUTION, loss1, loss2, mode)
    contacts.loss[row] = loss - slip1 - slip2
    one, two = (normal1, loss1, -slip1, driven1), (normal2, loss2, -slip2, driven2)
    book_pair(books, bodies.serial[i], bodies.serial[j], one, two, mode)
    book_work(books, ledger.FRICTION, -slip1, -slip2, mode)
    book_work(books, ledger.EXTERNAL, driven1, driven2, mode)
    return 0.0 if lasts else loss


_ROWS = np.zeros(0, np.int64)
kick_island = far(
    _kick_island,
    lambda: (
        EXAMPLE, empty_geometry(), SETTINGS, EXAMPLE.contacts, 0.0, 0, _ROWS, _ROWS, _ROWS,
    ), returns=None,
)  # fmt: skip
