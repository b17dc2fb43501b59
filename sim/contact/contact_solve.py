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

The stages are the same for all blocks, contacts (contact_blocks.py), joints (joints/velocity_solve.py) and moments
(rolling_friction.py): prepare, target, solve, revise, apply, book. To revise is to ask whether the solution belongs to the laws
and accelerations that it was asked for by: which contacts slide, which coordinates motors and stops keep, where the flight
takes what turns. Where it does not, the targets are others, and it is solved again. A flight too long for that is divided.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tumble.collision.geometry import empty_geometry
from tumble.collision.kernels.group import owning_group
from tumble.collision.kernels.jit import FOR_KERNELS, far, inner, kernel, lean
from tumble.collision.linalg import copy_table, load3, store3
from tumble.sim.contact.contact_accelerations import revise, turns
from tumble.sim.contact.contact_blocks import apply_contacts, book_contacts, revise_contacts, target_contacts
from tumble.sim.contact.divided_drift import LOST_PARTS, divide, most_parts, part_length, parts_before
from tumble.sim.contact.half_kick import keep_steady, owe
from tumble.sim.contact.load_distribution import spread_loads
from tumble.sim.contact.overlap_correction import correct_depth, open_joints, passed_stops, too_deep
from tumble.sim.contact.prepare import prepare, prepare_again
from tumble.sim.contact.rolling_friction import apply_moments, book_moments, list_moments, revise_moments, target_moments
from tumble.sim.contact.touching.impact_threshold import note_arrivals
from tumble.sim.flight.end_pose import NO_ENDS, Ends, fly_members
from tumble.sim.flight.joint_looks import look_ahead
from tumble.sim.flight.motion import refresh_velocity
from tumble.sim.joints.flown_springs import take_springs
from tumble.sim.joints.kept_rows import choose_kept
from tumble.sim.joints.rows import DRIVE
from tumble.sim.joints.velocity_solve import (
    MOST_LOOKS_AHEAD,
    SURPRISE,
    apply_joints,
    asks,
    book_joints,
    fly_on,
    held_in_flight,
    let_struck_go,
    start_joints,
    target_joints,
    wants_look,
)
from tumble.sim.ledger.kick_numbers import last_flight, number_kick
from tumble.sim.ledger.work import INSIDE_DRIFT, KICK, MEAN_GIVEN
from tumble.sim.solvers.crowd_targets import soft_targets, taken_laws
from tumble.sim.solvers.mixing import History, forget, mix, no_history
from tumble.sim.solvers.newton import NO_ROOM, no_room, room_of
from tumble.sim.solvers.newton import newton_in_far as newton
from tumble.sim.solvers.problem import NO_INDICES, NO_ISLAND, NO_LAWS, NO_SYSTEM
from tumble.sim.solvers.sweeps import sweeps_far as by_sweeps
from tumble.sim.state import (
    CAPPED,
    EXAMPLE,
    ITERATIONS,
    PLACED,
    POINTS,
    RESIDUAL,
    ROWS,
    SETTINGS,
    SOLVES,
    SWEEPS_SOLVER,
    UNSOLVED,
)

PULLS = 30  # most displacements that take joints to their places: near them each leaves about the square of what was open
# [m or rad] most that is taken back to a stop at once: a turn opens joints by half its square, and TEAR is 1e-2.
STOP_STRIDE = 0.1
LOOKED = 1e-3  # where a look follows, the solve before it may leave so much of what the last look missed
STALLS = 5  # looks in a row that each take less than a tenth off what is missed: no more are taken
# A look that misses so many times what the best one missed has lost the way: the next goes on from the best, and learns anew.
STRAYED = 4.0
RUNS_OFF = 10.0  # a look that misses so many times what the first one missed leads away from the answer: the drift is divided
LAW_ROUNDS = 4  # most rounds of a solve in which contacts change between the laws of sticking and sliding


@inner
def kick(model, geometry, settings, mode, plain):
    """Kick every island of tables sorted by islands (islands.label_islands), but those that are ``plain`` (impact/crowds)."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    n, m = contacts.count[0], len(joints.order)
    first, first_joint = 0, 0
    elapsed = settings.dt if mode == KICK else 0.0
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
        if len(rows) == 0:
            take_springs(bodies, joints, forces, links, settings.dt)
        if len(rows) == 0 and held_in_flight(bodies, joints, forces, links, elapsed):
            fly_on(bodies, joints, forces, books, links, settings.dt, mode)
        elif not plain[label]:
            kick_island(model, geometry, settings, contacts, 0.0, mode, rows, links, local)
        first, first_joint = last, last_joint


# What few islands need, and what joints and moments do, is compiled apart: a world without them does not wait for it.
_T, _F, _F2, _F3 = np.zeros(0, np.bool_), np.zeros(0), np.zeros((0, 6)), np.zeros((0, 3))
_BODIES, _CONTACTS, _JOINTS = EXAMPLE.bodies, EXAMPLE.contacts, EXAMPLE.joints
_BOOKS, _FORCES, _PROBLEM = EXAMPLE.books, EXAMPLE.forces, (NO_ISLAND, NO_SYSTEM, NO_LAWS)
_room_of = far(room_of, lambda: (NO_SYSTEM, NO_INDICES), returns=NO_ROOM)
_correct_depth = far(
    correct_depth,
    lambda: (_BODIES, _CONTACTS, _JOINTS, _BOOKS, SETTINGS, NO_ISLAND, NO_SYSTEM, False, 0.0, _F, 0.0),
    returns=None,
)
_start_joints = far(start_joints, lambda: (_BODIES, _JOINTS, NO_INDICES, 0.0, 0.0, 0, _F2, _F2), returns=None)
_target_joints = far(target_joints, lambda: (_JOINTS, NO_ISLAND, 0.0, 0.0, 0, _F2, _F2, NO_LAWS), returns=None)
_book_joints = far(book_joints, lambda: (_BODIES, _JOINTS, _BOOKS, NO_ISLAND, _F3, 0.0, 0, 0.0), returns=None)
_choose_kept = far(choose_kept, lambda: (_JOINTS, _FORCES, NO_ISLAND, NO_LAWS, _F2, _F3, _T, _F2), returns=False)
_let_struck_go = far(let_struck_go, lambda: (_JOINTS, *_PROBLEM, _F2, _F3, 0.0, 0.0), returns=False)
_wants_look = far(wants_look, lambda: (_JOINTS, NO_ISLAND, NO_LAWS, 0, _F3, _T), returns=False)
_look_ahead = far(
    look_ahead, lambda: (_BODIES, _JOINTS, _FORCES, *_PROBLEM, NO_INDICES, NO_ENDS, _F2, 0.0, 0.0, 0, _F2, _T, _F2), returns=0.0
)
_fly_members = far(
    fly_members,
    lambda: (_BODIES, _FORCES, _JOINTS, NO_INDICES, NO_INDICES, NO_SYSTEM, _F2, _F2, 0.0, 0.0, 0, NO_ENDS),
    returns=None,
)
_soft_targets = far(soft_targets, lambda: (_BODIES, _CONTACTS, NO_INDICES, 0.0, 0.0, _F3, np.zeros((0, 2)), _T), returns=None)
_target_moments = far(target_moments, lambda: (_BODIES, _CONTACTS, *_PROBLEM, 0.0, 0, _F2), returns=None)
_revise_moments = far(revise_moments, lambda: (_BODIES, _CONTACTS, *_PROBLEM, 0.0, 0, _F2, _F2, _F3), returns=False)
_book_moments = far(book_moments, lambda: (_BODIES, _CONTACTS, _BOOKS, *_PROBLEM, _F2, _F3, 0, 0.0), returns=None)


class Kick(NamedTuple):
    """Of one kick, what does not change in it."""

    t: float  # when it comes, in the drift [s]
    mode: int  # KICK, MEAN_GIVEN or INSIDE_DRIFT
    soft: bool  # the island moves in a crowd
    cheap: bool  # it is solved by sweeps
    driven: bool  # its joints ask for more than to stay where they are
    last: float  # length of the flight before it [s]
    most: float  # into how many parts the coming drift may be divided
    limit: float  # the same for the phase of its contacts
    rounds: int  # solves, at most, for one length of the coming flight


@owning_group
class Looks(NamedTuple):
    """What the rounds of a kick learn, and the best that they found."""

    floor: np.ndarray  # (m,) gaps below zero that are left to be [m]
    accel: np.ndarray  # (m, 3) accelerations of the instant
    arrives: np.ndarray  # (m,) normal velocities with which contacts come to the end of the flight [m/s]; nan: not known
    locked: np.ndarray  # (m,) int64 laws of friction that were tried in vain, see revise_contacts
    stick: np.ndarray  # (k, 2) targets of sweeps, should a contact stick
    fast: np.ndarray  # (k,) bool
    here: np.ndarray  # (l, 7) coordinates of the joints, and the free one at the last kick
    known: np.ndarray  # (l, 6) ``hold`` of the last kick, for a whole step
    hold: np.ndarray  # (l, 6) velocities after the kick that would end the flight where it began
    held: np.ndarray  # (l, 6) the same before the last look
    let_go: np.ndarray  # (l,) bool: the joint keeps its free coordinate no more
    wanted: np.ndarray  # (o,) bool: the block depends on where the flight ends
    history: History
    guess: np.ndarray  # (k, 3) impulses of half a step to begin with
    best_p: np.ndarray  # (k, 3)
    best_hold: np.ndarray  # (l, 6)
    ends: Ends
    found: np.ndarray  # room for a manifold
    ids: np.ndarray


@inner
def _no_looks(contacts, island, p, floor):
    """What a kick knows before its first look; ``floor``: gaps below zero that are left as they are [m]."""
    m, n, l, k = len(island.rows), len(island.members), len(island.links), len(p)
    accel = np.empty((m, 3))
    for at in range(m):
        store3(accel, at, load3(contacts.accel, island.rows[at]))
    return Looks(
        floor, accel, np.full(m, math.nan), np.zeros(m, dtype=np.int64), np.zeros((k, 2)), np.zeros(k, dtype=np.bool_),
        np.empty((l, 7)), np.empty((l, 6)), np.empty((l, 6)), np.empty((l, 6)), np.zeros(l, dtype=np.bool_),
        np.zeros(len(island.owner), dtype=np.bool_), no_history(l), p.copy(), p.copy(), np.empty((l, 6)),
        Ends(np.empty((n, 3)), np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 3))),
        np.empty((POINTS, ROWS)), np.empty(POINTS, dtype=np.int64),
    )  # fmt: skip


@kernel(**FOR_KERNELS)
def _kick_island(model, geometry, settings, contacts, t, mode, rows, links, local):
    """Solve the contacts ``rows`` of a table and the joints ``links`` together and apply the impulses, for the coming flight.

    It begins at time t of the drift and goes to its end, or part of the way where that is too long for joints: then the island
    is kicked again (``bodies.until``).

    ``local`` is all -1, and is so again afterwards.
    """
    bodies, geoms, pairs, latest, books, forces, joints = model
    island, system, laws, vstar, v, p = prepare(bodies, contacts, joints, rows, links, list_moments(contacts, rows), local)
    if len(island.members) == 0:  # a drive without a target holds nothing
        return
    soft = mode != MEAN_GIVEN and _in_crowd(bodies, island.members)
    cheap = soft or settings.solver == SWEEPS_SOLVER
    floor = _take_to_places(bodies, contacts, joints, books, settings, island, system, laws, vstar, p, mode, cheap)
    driven, elapsed = False, settings.dt if mode == KICK else t
    for n in range(len(island.owner)):
        driven = driven or asks(bodies, joints, island.owner[n], island.block[n], elapsed)
    most, limit = most_parts(settings, links, island.members)
    follows = 0 < len(rows) and most >= 2 and settings.look_ahead and not cheap
    last = settings.dt if mode == MEAN_GIVEN else last_flight(bodies, island.members, t, settings.dt)
    rounds = MOST_LOOKS_AHEAD if follows or driven else LAW_ROUNDS
    kick = Kick(t, mode, soft, cheap, driven, last, most, limit, rounds)
    looks = _no_looks(contacts, island, p, floor)
    if len(links) > 0:
        _start_joints(bodies, joints, links, t, settings.dt, mode, looks.here, looks.known)
    parts = parts_before(bodies, joints, island, mode, limit, settings.dt)
    fewest, at_first, vain = parts, math.nan, False
    while True:  # until the flight is short enough
        h = part_length(settings.dt - t, parts, settings.dt)
        worst, best, spent, lacks, turn, looking, room = _solve(
            model, geometry, settings, contacts, island, system, laws, kick, looks, local, follows, h, vstar, v, p
        )
        if turn and lacks > settings.tolerance and (parts >= LOST_PARTS or 2 * parts > most):
            follows = False  # the acceleration of the instant has to do
            continue
        now, coming, phase = parts, max(1, parts // 2), math.nan
        if (turn or looking) and not cheap and not vain:
            now, coming, phase = divide(
                bodies, contacts, joints, settings, island, system, laws, kick, looks, h, parts, lacks, turn, looking, v
            )
        if math.isnan(at_first):
            fewest, at_first = parts, phase
        elif now == parts > most and phase > max(1.0, at_first):  # an impulse as large in the shortest flight is an impact's
            vain, parts = True, fewest
            continue
        if now == parts:
            break
        parts = now
    if turn or looking:
        copy_table(looks.best_p, p)
        worst = max(worst, best)
    _note(bodies, contacts, books, settings, island, kick, h, coming, worst, spent)
    _give(model, settings, contacts, island, system, laws, kick, looks, room, h, looking, vstar, v, p, worst)
    if turn or (not follows and turns(bodies, forces, contacts, rows, local, vstar, v, h, mode)):
        note_arrivals(pairs, contacts, rows, turn)  # a corner that turns in meanwhile is none that was pressed on
    for i in island.members:
        local[i] = -1
    number_kick(bodies, latest, contacts, rows, island.members, mode, t, h, settings.dt)


@inner
def _take_to_places(bodies, contacts, joints, books, settings, island, system, laws, vstar, p, mode, cheap):
    """Open overlaps and close joints before the kick: its works are then those of the poses that fly on. The gaps below zero that
    are left."""
    floor = np.empty(len(island.rows))  # row by row: to index by an array takes passes of the compiler that kernels do without
    for k in range(len(floor)):
        floor[k] = contacts.gap[island.rows[k]]
    elapsed = settings.dt if mode == KICK else 0.0
    deep = mode != INSIDE_DRIFT and too_deep(contacts, books, settings, island.rows)
    beyond = passed_stops(bodies, joints, island, elapsed) if mode != INSIDE_DRIFT else 0.0
    deep = deep or beyond > SURPRISE
    for pull in range(PULLS):
        placed = (mode == KICK or pull > 0) and open_joints(bodies, joints, island) > SURPRISE
        if not placed and (pull > 0 or not deep):
            break
        books.counters[PLACED] += placed and pull == 0
        part = min(settings.correction, STOP_STRIDE / beyond if beyond > STOP_STRIDE else 1.0) if pull == 0 else 0.0
        _correct_depth(bodies, contacts, joints, books, settings, island, system, cheap, part, floor, elapsed)
        prepare_again(bodies, contacts, joints, island, system, laws, vstar, p)
    for k in range(len(floor)):
        floor[k] = min(0.0, floor[k])
    return floor


@inner
def _solve(model, geometry, settings, contacts, island, system, laws, kick, looks, local, follows, h, vstar, v, p):
    """Solve for a coming flight of length h until the solution belongs to the laws and accelerations that it was asked for by.

    (What the last solve misses [m/s]; what the best look missed [m/s]; iterations of the last solve; what looks miss [m/s];
    whether contacts turn; whether joints look; room of the solver.) Where contacts turn or joints look, the best solution is in
    ``looks``.
    """
    bodies, geoms, pairs, latest, books, forces, joints = model
    linked, mode = len(island.links) > 0, kick.mode
    _begin(contacts, island, kick, looks, settings.dt, h, p)
    room = _room_of(system, laws.law) if linked else no_room(system, p)
    best, lacks, stalled, round, spread, anew = math.inf, math.inf, 0, 0, False, True
    turn, again, looking, worst, spent, missed = False, True, False, 0.0, 0, 0.0
    apart, said, enough, first = 0.0, math.inf, 0.0, math.inf
    while again and stalled <= STALLS and round < kick.rounds:
        _target(bodies, contacts, joints, settings, island, system, laws, kick, looks, h, vstar)
        if kick.cheap:
            most = settings.sweeps * (10 if mode == MEAN_GIVEN else 1)
            worst, spent = by_sweeps(system, laws, vstar, looks.stick, looks.fast, settings.tolerance, most, p, v)
            if kick.soft:
                taken_laws(contacts, island.rows, p, laws.mu, looks.fast)
        else:
            # while looks miss more, and another one follows; what joints learn from looks they learn from what is solved
            enough = LOOKED * missed if turn and not looking else 0.0
            worst, apart, spent = newton(
                system, laws, vstar, room, settings.tolerance, enough, SURPRISE / h, settings.iterations, p, v
            )
        books.counters[SOLVES] += 1
        books.counters[ITERATIONS] += spent
        again, looking = _revise_laws(
            bodies, contacts, joints, forces, settings, island, system, laws, kick, looks, h, round, vstar, v, p, worst
        )
        if follows and not turn and turns(bodies, forces, contacts, island.rows, local, vstar, v, h, mode):
            turn, room = True, _room_of(system, laws.law)
        if turn or looking:
            missed = _look(
                model, geometry, settings, contacts, island, system, laws, kick, looks, local, turn, looking, h, vstar, v, p,
                worst,
            )  # fmt: skip
            if apart > 0.0:  # what targets ask for against each other stays: looks that say the same again are at their end
                missed, said = min(missed, abs(missed - said)), missed
            lacks = missed if again else min(lacks, missed)
            if anew:  # what solves one set of laws says nothing of another
                best = first = math.inf
            if missed > RUNS_OFF * first:
                break
            first = max(missed, settings.tolerance) if first == math.inf else first
            off = max(missed, worst)  # the look to take is also solved
            anew = again
            stalled = 0 if again or off < 0.9 * best else stalled + 1
            _learn(looks, looking, again, off, best, p)
            best = off if off <= best else best
            missed = 0.0 if again else missed
            # no solve meets targets that contradict each other, as those of looks do that have not settled: while they do, go on
            unsolved = worst > settings.tolerance and (worst <= enough or (turn and stalled == 0))
            again = again or missed > settings.tolerance or unsolved
        if kick.driven and mode == MEAN_GIVEN and not again:  # now what the flight bends is known
            again = anew = _choose_kept(joints, forces, island, laws, looks.here, p, looks.let_go, looks.hold)
            if again:  # what looks have shown was of another flight
                forget(looks.history)
        if not again and not spread and not kick.cheap and round < kick.rounds - 1:
            spread = again = spread_loads(geoms, contacts, island.rows, p)
            best, lacks = (math.inf, math.inf) if spread else (best, lacks)
        round += 1
    return worst, best, spent, lacks, turn, looking, room


@inner
def _begin(contacts, island, kick, looks, dt, h, p):
    """What the rounds start from: accelerations of the instant, and what the last kick knew, for a flight of this length."""
    for k in range(len(island.rows)):
        store3(contacts.accel, island.rows[k], load3(looks.accel, k))
        looks.arrives[k] = math.nan
        looks.locked[k] = 0
    _scaled(looks.known, h / dt, looks.hold)
    _scaled_impulses(looks.guess, _stands_for(kick.last, h, kick.mode) / dt, island, p)
    forget(looks.history)


@inner
def _target(bodies, contacts, joints, settings, island, system, laws, kick, looks, h, vstar):
    """What each block asks for."""
    target_contacts(bodies, contacts, island.rows, h, settings.dt, kick.mode, kick.soft, laws.mu, laws.c)
    if kick.soft:
        _soft_targets(bodies, contacts, island.rows, settings.skin, h, laws.c, looks.stick, looks.fast)
    if len(island.links) > 0:
        _target_joints(joints, island, h, settings.dt, kick.mode, looks.here, looks.hold, laws)
    if len(island.turning) > 0:
        _target_moments(bodies, contacts, island, system, laws, h, kick.mode, vstar)


@inner
def _revise_laws(bodies, contacts, joints, forces, settings, island, system, laws, kick, looks, h, round, vstar, v, p, worst):
    """(Whether the solution belongs to other laws than it was asked for by, whether joints want a look at the end of the
    flight)."""
    mode, revised = kick.mode, round < LAW_ROUNDS
    again = revised and not kick.cheap
    again = again and revise_contacts(bodies, contacts, island.rows, system, laws, settings, h, mode, p, v, looks.locked, round)
    if revised and mode != MEAN_GIVEN and len(island.turning) > 0:
        again = _revise_moments(bodies, contacts, island, system, laws, h, round, vstar, v, p) or again
    if kick.driven and mode == KICK and _choose_kept(joints, forces, island, laws, looks.here, p, looks.let_go, looks.hold):
        again = True
    if kick.driven and mode == INSIDE_DRIFT and _let_struck_go(joints, island, system, laws, v, p, worst, settings.dt):
        again = True
    looking = kick.driven and _wants_look(joints, island, laws, mode, p, looks.wanted)
    return again, looking


@inner
def _look(model, geometry, settings, contacts, island, system, laws, kick, looks, local, turn, looking, h, vstar, v, p, left):
    """Fly the island to the end of the coming flight, and let what it shows there correct accelerations and ``hold``: by how much
    targets moved, less what the solve itself ``left`` where contacts turn [m/s]."""
    bodies, geoms, pairs, latest, books, forces, joints = model
    t, end, missed = kick.t, kick.t + h, 0.0
    _fly_members(bodies, forces, joints, island.members, local, system, vstar, v, t, end, kick.mode, looks.ends)
    if turn:
        missed = revise(
            bodies, geoms, forces, geometry, contacts, island.rows, looks.floor, local, looks.ends, vstar, v, p,
            t, end, settings.dt, kick.mode, looks.found, looks.ids, looks.arrives,
        )  # fmt: skip
    if looking:
        copy_table(looks.hold, looks.held)
        missed = max(missed, _look_ahead(
            bodies, joints, forces, island, system, laws, local, looks.ends, v, t, h, kick.mode, looks.here, looks.wanted,
            looks.hold,
        ))  # fmt: skip
    return max(0.0, missed - (left if turn else 0.0))


@lean
def _learn(looks, looking, again, off, best, p):
    """Keep the best look, and find the next velocities to hold from what the last ones missed; ``again``: for other laws."""
    strayed = off > STRAYED * best
    if off <= best:
        copy_table(p, looks.best_p)
        copy_table(looks.hold, looks.best_hold)
    if not looking:
        return
    if again or strayed:  # the laws are others, or the way is lost
        forget(looks.history)
    if strayed:
        copy_table(looks.best_hold, looks.hold)
    elif not again:
        mix(looks.history, looks.held, looks.hold)
        copy_table(looks.held, looks.hold)


@inner
def _note(bodies, contacts, books, settings, island, kick, h, coming, worst, spent):
    """How well the kick was solved, and what its bodies know of it. Where what it misses overflows there is no answer: then they
    have no momenta, and the step says so."""
    for i in island.members:
        if not math.isfinite(worst):
            store3(bodies.p, i, (math.nan, math.nan, math.nan))
        bodies.parts[i] = coming
        bodies.until[i] = kick.t + h if h < settings.dt - kick.t else 0.0
    books.worst[RESIDUAL] = max(books.worst[RESIDUAL], worst)
    if worst > settings.tolerance:
        books.counters[UNSOLVED] += 1
        if spent >= settings.iterations:
            books.counters[CAPPED] += 1
    for k in island.rows:
        contacts.residual[k] = worst


@inner
def _give(model, settings, contacts, island, system, laws, kick, looks, room, h, looking, vstar, v, p, missed):
    """Apply the impulses and book their works; ``missed`` by the solve [m/s]."""
    bodies, geoms, pairs, latest, books, forces, joints = model
    rows, mode, last, dt = island.rows, kick.mode, kick.last, settings.dt
    linked = len(island.links) > 0
    # springs and motors act for whole steps: where they are, so do all for the books
    lands = mode == KICK and last == 0.0
    share = last / (last + h) if mode == KICK and not kick.driven and not lands else 0.5
    steady = dt / _stands_for(last, h, mode)
    owe(contacts, island, system, laws, h, last, kick, room, settings, vstar, p, v, missed)
    apply_contacts(bodies, contacts, books, rows, p, mode, share, steady)
    if mode == INSIDE_DRIFT:
        keep_steady(contacts, rows, p, dt / h)
    _scaled(looks.best_hold if looking else looks.hold, dt / h, looks.hold)
    apply_joints(bodies, joints, books, island, looks.hold, looks.wanted, p, mode, share, steady)
    apply_moments(bodies, contacts, books, island, p, mode, share, steady)
    for i in island.members:
        refresh_velocity(bodies, i)
    book_contacts(bodies, contacts, books, rows, p, mode, share, looks.arrives)
    if linked:
        _book_joints(bodies, joints, books, island, p, dt, mode, share)
    if len(island.turning) > 0:
        _book_moments(bodies, contacts, books, island, system, laws, vstar, p, mode, share)


@lean
def _scaled(table, f, out):
    """out = f table"""
    for k in range(len(table)):
        for r in range(table.shape[1]):
            out[k, r] = f * table[k, r]


@lean
def _stands_for(last, h, mode):
    """How long the steady forces act that a kick between flights of these lengths gives [s]: for half of each, or for all of
    the coming one where the kick begins the motion or the body came flying."""
    return h if mode == MEAN_GIVEN or (last == 0.0 and mode == KICK) else 0.5 * (last + h)


@lean
def _scaled_impulses(steady, f, island, p):
    """A guess of the impulses of a kick: f times ``steady``, which are those of half a step. Springs and motors act for whole
    steps, so theirs stay as they are."""
    for k in range(len(p)):
        n = k - len(island.rows)
        g = 1.0 if 0 <= n < len(island.block) and island.block[n] == DRIVE else f
        for r in range(3):
            p[k, r] = g * steady[k, r]


@lean
def _in_crowd(bodies, members):
    """The island is large and was violent: its impacts without restitution are not located."""
    some = False
    for i in members:
        some = some or bodies.crowd[i] > 0
    return some


kick_island = far(
    _kick_island,
    lambda: (EXAMPLE, empty_geometry(), SETTINGS, EXAMPLE.contacts, 0.0, 0, NO_INDICES, NO_INDICES, NO_INDICES),
    returns=None,
)
