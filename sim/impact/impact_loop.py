"""Impacts inside the drift, one instant after the other.

At an instant the pair that approaches fastest collides first; approaching pairs that share a body with it and tie act together
(mirror symmetry), all others follow in sequence, until none approaches: Newton's cradle transmits. All points between
the same two bodies act together: a cube that lands flat bounces flat (multi_contact.py). Bodies left in slow touch are
kicked again, for the rest of the step, with the island they belong to (substep_resolve.py).
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.geometry import empty_geometry
from tumble.collision.kernels.jit import FOR_KERNELS, far, inner, kernel, lean
from tumble.sim.contact.ground.facet_rows import bring_facets, has_ground
from tumble.sim.contact.half_kick import take_back
from tumble.sim.contact.sleep_criterion import rouse
from tumble.sim.contact.touching.impact_threshold import (
    MOST_BOUNCES,
    MOST_SMALL_BOUNCES,
    SINKING,
    crowded,
    least_speed,
    pair_restitution,
    pair_size,
)
from tumble.sim.contact.touching.pair_list import renew_pairs
from tumble.sim.contact.touching.swept_pairs import outgrown
from tumble.sim.flight.clusters import book_cluster
from tumble.sim.flight.flight_split import bring, bring_linked, foresee_again, launch_touched
from tumble.sim.flight.motion import finite_body, fly_to
from tumble.sim.impact.event_log import log_impacts
from tumble.sim.impact.joint_impulses import linked_joints, settle_joints
from tumble.sim.impact.multi_contact import fastest_approach, joint_impact, single_impact, touching_rows
from tumble.sim.impact.substep_resolve import kick_again
from tumble.sim.impact.thread_jobs import ARRIVALS, ARRIVALS_AGAIN, FLIGHTS, book_flights, find_pairs, share, work
from tumble.sim.ledger.kick_numbers import MID_STEP, can_be_taken
from tumble.sim.state import (
    CAPPED,
    DYNAMIC,
    EXAMPLE,
    FUTILE,
    IMPACTS,
    KNOWN,
    NOT_FINITE,
    OK,
    PAIRS_FULL,
    POINTS,
    ROWS,
    SETTINGS,
    WAKE,
    WANTED,
)

TIE = 1e-9  # relative difference of approach speeds, and of times against the step, that counts as none
# way in a step, as part of the pair's size, too much for the kick after MOST_SMALL_BOUNCES, but not after MOST_BOUNCES
LONG_WAY = 0.1
FEW_ASKED = 32  # next impacts that one thread looks for
SEEN = 0.5  # of the speed at which a pair was seen to come, below which the point that comes is not among those that touch


@kernel(**FOR_KERNELS)
def _drift(model, geometry, settings, table):
    """Move all bodies to the end of the step, through every impact on the way. OK, PAIRS_FULL, WAKE or NOT_FINITE.

    ``table`` is a spare table of contacts.
    """
    bodies, geoms, pairs, contacts, books, forces, joints = model
    dt = settings.dt
    n = len(bodies.kind)
    share(model, geometry, settings, FLIGHTS, n)
    touched, effort = np.zeros(n, dtype=np.bool_), np.zeros(n)
    contacts.count[1], contacts.count[2] = contacts.count[0], max(contacts.count[2], MID_STEP)
    helped = np.zeros(n, dtype=np.bool_)  # kicked again in this step as part of a crowd
    rows, ids = np.empty((POINTS, ROWS)), np.empty(POINTS, dtype=np.int64)
    share(model, geometry, settings, ARRIVALS, pairs.count[0])
    most = 10 * pairs.count[0] + 100
    for _ in range(most):
        first = _first_event(pairs, dt)
        due = _first_due(bodies)
        while due >= 0 and (first < 0 or bodies.until[due] <= pairs.event[first]):
            result = kick_due(model, geometry, settings, table, due, touched, helped, rows, ids)
            if result != OK:
                return result
            first, due = _first_event(pairs, dt), _first_due(bodies)
        if first < 0:
            break
        if rouse(bodies, geoms.body[pairs.geoms[first, 0]], geoms.body[pairs.geoms[first, 1]]):
            return WAKE
        t = pairs.event[first]
        for i in range(n):
            touched[i] = False
        rested = settle_phase(model, settings, first, t, touched, effort)
        _collide(model, geometry, settings, table, first, t, touched)
        if pairs.search[first] != FUTILE:
            _look_again(geoms, pairs, touched)
        result, sinks = fly_on(model, geometry, settings, t, touched, helped, rows, ids)
        spent = 0.0
        for i in range(n):
            if touched[i]:
                spent = max(spent, effort[i])
        linked = len(linked_joints(bodies, joints, touched)) > 0
        if result == OK and t < dt and (linked or (spent <= settings.crowd and (sinks or rested))):
            if kick_again(model, geometry, settings, table, t, touched, effort) == WAKE:
                return WAKE
            _look_again(geoms, pairs, touched)
            for i in range(n):
                helped[i] = helped[i] or (touched[i] and bodies.crowd[i] > 0)
            result, _ = fly_on(model, geometry, settings, t, touched, helped, rows, ids)
        if result != OK:
            return result
    else:
        books.counters[CAPPED] += 1
    for i in range(n):
        if effort[i] > settings.crowd:
            bodies.crowd[i] = 1  # from the coming kick on, where the island is large
    if book_flights(model, geometry, settings) > 0:
        return NOT_FINITE
    for c in range(len(forces.potential)):
        book_cluster(bodies, forces, joints, books, c, dt)
    return OK


@lean
def _first_due(bodies):
    """The body whose island is kicked again first; -1: none."""
    first = -1
    for i in range(len(bodies.until)):
        if bodies.until[i] != 0.0 and (first < 0 or bodies.until[i] < bodies.until[first]):
            first = i
    return first


@inner
def _kick_due(model, geometry, settings, table, due, touched, helped, rows, ids):
    """Kick the island of body ``due`` at the time that its last kick was for; or at the start, where another push acts than that
    was made for: without its phase, then. OK, PAIRS_FULL or WAKE."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    until, label = bodies.until[due], bodies.island[due]
    t = max(0.0, until)
    for i in range(len(touched)):
        touched[i] = False
    for i in range(len(touched)):
        if bodies.until[i] == until and bodies.island[i] == label:
            bodies.until[i] = 0.0
            bring(bodies, forces, joints, books, i, t, touched)
            if until < 0.0 and forces.cluster[i] >= 0:
                foresee_again(bodies, forces, joints, forces.cluster[i])
    if kick_again(model, geometry, settings, table, t, touched, np.zeros(len(touched))) == WAKE:
        return WAKE
    _look_again(geoms, pairs, touched)
    result, _ = fly_on(model, geometry, settings, t, touched, helped, rows, ids)
    return result


@lean
def _look_again(geoms, pairs, touched):
    """Pairs that would collide without an impulse may not any more, once something else has moved their bodies."""
    for k in range(pairs.count[0]):
        if pairs.search[k] == FUTILE and (touched[geoms.body[pairs.geoms[k, 0]]] or touched[geoms.body[pairs.geoms[k, 1]]]):
            pairs.search[k], pairs.hits[k] = KNOWN, 1


@inner
def _fly_on(model, geometry, settings, t, touched, helped, rows, ids):
    """Bodies whose motion changed at time t fly on to the end of the step, and their next impacts are found.

    (OK, PAIRS_FULL or NOT_FINITE, whether a slow contact would be overlapping then: its island must be kicked at t). A crowd can
    ask for that once in a step.
    """
    bodies, geoms, pairs, contacts, books, forces, joints = model
    dt, full = settings.dt, False
    launch_touched(bodies, forces, joints, t, touched)
    for i in range(len(touched)):
        if touched[i]:
            moves = bodies.kind[i] == DYNAMIC
            if moves:
                full = outgrown(bodies, geoms, geometry, i, dt - t, dt) or full
            fly_to(bodies, forces, i, dt)
            if not finite_body(bodies, i):  # a search for its impacts would look for ever
                return NOT_FINITE, False
            touched[i] = moves  # what an impact can not move flies on as before, and others meet it as they would
    if has_ground(geometry):  # also where no box is wider: of a ground only those triangles are at hand that a flight may reach
        result, changed = bring_facets(bodies, geoms, geometry, touched, dt, True)
        if result != OK:
            return PAIRS_FULL, False
        full = full or changed
    if full and renew_pairs(geoms, pairs, joints, find_pairs(model, geometry, settings)) != OK:
        return PAIRS_FULL, False
    count, many = pairs.count[0], 0
    asked = np.zeros(count, dtype=np.bool_)
    for k in range(count):
        i, j = geoms.body[pairs.geoms[k, 0]], geoms.body[pairs.geoms[k, 1]]
        if pairs.search[k] == FUTILE:
            pairs.fresh[k] = False
            pairs.event[k] = math.inf
        elif touched[i] or touched[j] or pairs.search[k] == WANTED:
            asked[k] = True
            many += 1
            pairs.fresh[k], pairs.search[k] = False, WANTED
    if many < FEW_ASKED:
        work(model, geometry, settings, ARRIVALS_AGAIN, 0, count, rows, ids)
    else:
        share(model, geometry, settings, ARRIVALS_AGAIN, count)
    sinks = False
    for k in range(count):
        if asked[k]:
            i, j = geoms.body[pairs.geoms[k, 0]], geoms.body[pairs.geoms[k, 1]]
            least = least_speed(bodies, geoms, pairs, k, dt)
            if crowded(bodies, i, j):
                if pairs.speed[k] <= least:
                    pairs.event[k] = math.inf
                elif _never_ends(bodies, pairs, k, i, j, dt):
                    pairs.event[k] = math.inf
                    sinks = sinks or not (helped[i] or helped[j])
            else:
                sinks = sinks or _sinks(bodies, pairs, k, i, j, t, dt)
    return OK, sinks


@inner
def _settle_phase(model, settings, first, t, touched, effort):
    """Take the phase of their resting contacts from the bodies of pair ``first``, and from all of their islands, at time t.

    True where there was any: these bodies must be kicked again for the rest of the step. Where they would not be, it stays.
    """
    bodies, geoms, pairs, contacts, books, forces, joints = model
    i, j = geoms.body[pairs.geoms[first, 0]], geoms.body[pairs.geoms[first, 1]]
    if crowded(bodies, i, j):
        return False
    found = False
    for body in (i, j):  # the two can belong to different islands
        number = bodies.held[body] if bodies.kind[body] == DYNAMIC else 0
        spent = 0.0
        for m in range(len(bodies.held)):
            if bodies.held[m] == number:
                spent = max(spent, effort[m])
        if spent <= settings.crowd and can_be_taken(bodies, contacts, joints, number):
            found = True
            for m in range(len(bodies.held)):
                if bodies.held[m] == number:
                    bring(bodies, forces, joints, books, m, t, touched)
            take_back(bodies, contacts, books, number, t)
    return found


@lean
def _never_ends(bodies, pairs, k, i, j, dt):
    """One impact more of a pair in a crowd, without restitution, of a sequence that is left to the next kick: it takes long to
    end. A fast one, which would leave a deep overlap, is followed for longer."""
    often = MOST_SMALL_BOUNCES if pairs.speed[k] * dt <= LONG_WAY * pair_size(bodies, i, j) else MOST_BOUNCES
    return pairs.hits[k] > often and pair_restitution(bodies, pairs, k, i, j, pairs.speed[k], dt) == 0.0


@lean
def _sinks(bodies, pairs, k, i, j, t, dt):
    """Pair k needs the kick: it would overlap, slowly; or it collides at once, or again and again, without restitution."""
    if pairs.event[k] < math.inf:
        at_once = pairs.event[k] <= t + TIE * dt or pairs.hits[k] > 0
        return at_once and pair_restitution(bodies, pairs, k, i, j, pairs.speed[k], dt) == 0.0
    if not pairs.fresh[k]:
        return False
    deepest = 0.0
    for r in range(pairs.points[k]):
        deepest = min(deepest, pairs.rows[k, r, 3])
    return deepest < -SINKING * pair_size(bodies, i, j)


@lean
def _first_event(pairs, dt):
    """The pair with the earliest event, the fastest among those of the same instant; -1: none."""
    t = math.inf
    for k in range(pairs.count[0]):
        t = min(t, pairs.event[k])
    if t == math.inf:
        return -1
    best = -1
    for k in range(pairs.count[0]):
        if pairs.event[k] <= t + TIE * dt and (best < 0 or pairs.speed[k] > pairs.speed[best]):
            best = k
    return best


@lean
def _tired(bodies, geoms, pairs, k, dt):
    """Pair k has bounced in this step, and bounces no more."""
    i, j = geoms.body[pairs.geoms[k, 0]], geoms.body[pairs.geoms[k, 1]]
    tired = pairs.hits[k] >= MOST_SMALL_BOUNCES and pairs.search[k] != FUTILE
    return tired and pair_restitution(bodies, pairs, k, i, j, pairs.speed[k], dt) == 0.0


@inner
def _gather(bodies, forces, joints, geoms, pairs, first, t, dt, group, touched, books):
    """Mark the pairs that act together with ``first``: ties that share a body, and all pieces of the same two bodies.

    Where ``first`` is tired of bouncing, so do all tired pairs that are connected with it: one by one they would hand what
    is left of their speeds round and round.
    """
    i, j = geoms.body[pairs.geoms[first, 0]], geoms.body[pairs.geoms[first, 1]]
    speed, tired = pairs.speed[first], _tired(bodies, geoms, pairs, first, dt)
    group[first] = True
    bring(bodies, forces, joints, books, i, t, touched)
    bring(bodies, forces, joints, books, j, t, touched)
    grew = True
    while grew:
        grew = False
        for k in range(len(group)):
            if group[k]:
                continue
            a, b = geoms.body[pairs.geoms[k, 0]], geoms.body[pairs.geoms[k, 1]]
            same = touched[a] and touched[b]
            shares = (touched[a] and bodies.kind[a] == DYNAMIC) or (touched[b] and bodies.kind[b] == DYNAMIC)
            tie = shares and abs(pairs.event[k] - t) <= TIE * dt and pairs.speed[k] >= speed * (1.0 - TIE)
            if same or tie or (tired and shares and _tired(bodies, geoms, pairs, k, dt)):
                group[k] = True
                grew = True
                bring(bodies, forces, joints, books, a, t, touched)
                bring(bodies, forces, joints, books, b, t, touched)


@kernel(**FOR_KERNELS)
def _collide_now(model, geometry, settings, table, first, t, touched):
    """The impact of pair ``first`` at time t, with all that acts together with it."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    dt = settings.dt
    books.counters[IMPACTS] += 1
    group = np.zeros(pairs.count[0], dtype=np.bool_)
    _gather(bodies, forces, joints, geoms, pairs, first, t, dt, group, touched, books)
    links = linked_joints(bodies, joints, touched)
    if len(links) > 0:
        bring_linked(bodies, forces, joints, books, links, t, touched)
        settle_joints(bodies, table, joints, books, links, False)
    count = touching_rows(bodies, geoms, pairs, geometry, group, table, dt, False)
    least = SEEN * pairs.speed[first]
    if not fastest_approach(table, count) > least:
        count = touching_rows(bodies, geoms, pairs, geometry, group, table, dt, True)
    for n in range(len(group)):
        pairs.hits[n] += group[n]
    if count == 1:
        single_impact(bodies, table, joints, books, settings, links)
    elif count > 1:
        joint_impact(bodies, table, joints, books, settings, links)
    log_impacts(bodies, table, books, forces.clock[0] + t)
    given = False
    for k in range(count):
        given = given or table.impulse[k, 2] != 0.0
    if not given:
        pairs.search[first], pairs.hits[first] = FUTILE, MOST_BOUNCES + 1  # as one that never ends


_TOUCHED, _ROWS = np.zeros(0, np.bool_), (np.zeros((POINTS, ROWS)), np.zeros(POINTS, np.int64))
fly_on = far(
    _fly_on,
    lambda: (EXAMPLE, empty_geometry(), SETTINGS, 0.0, _TOUCHED, _TOUCHED, *_ROWS),
    returns=(OK, False),
)
kick_due = far(
    _kick_due,
    lambda: (EXAMPLE, empty_geometry(), SETTINGS, EXAMPLE.contacts, 0, _TOUCHED, _TOUCHED, *_ROWS),
    returns=OK,
)
settle_phase = far(_settle_phase, lambda: (EXAMPLE, SETTINGS, 0, 0.0, _TOUCHED, np.zeros(0)), returns=False)
_collide = far(
    _collide_now,
    lambda: (EXAMPLE, empty_geometry(), SETTINGS, EXAMPLE.contacts, 0, 0.0, np.zeros(0, np.bool_)),
    returns=None,
)

drift = far(_drift, lambda: (EXAMPLE, empty_geometry(), SETTINGS, EXAMPLE.contacts), returns=0)
