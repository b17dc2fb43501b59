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
from tumble.sim.contact.sleep_criterion import rouse
from tumble.sim.contact.touching.impact_threshold import (
    MOST_BOUNCES,
    SINKING,
    crowded,
    forget_arrivals,
    least_speed,
    pair_restitution,
    pair_size,
)
from tumble.sim.contact.touching.pair_list import renew_pairs
from tumble.sim.contact.touching.swept_pairs import leaves_box, outgrown, widen_late
from tumble.sim.flight.clusters import book_cluster
from tumble.sim.flight.flight_split import bring, bring_linked, foresee_again, launch_touched
from tumble.sim.flight.motion import finite_body, fly_to
from tumble.sim.flight.saved_state import save_loads
from tumble.sim.impact.crowds.coming_points import coming_rows, tired
from tumble.sim.impact.event_log import log_impacts
from tumble.sim.impact.event_queue import NO_DRIFT, TIE, choose, first_event, let_go, new_drift, play_again, put_in_order
from tumble.sim.impact.half_kick_removal import forget_bounce, take_back
from tumble.sim.impact.joint_impulses import linked_joints, meet_stops, settle_joints
from tumble.sim.impact.multi_contact import approach_left, fastest_approach, joint_impact, single_impact, touching_rows
from tumble.sim.impact.stop_events import find_stops, first_stop, has_stops
from tumble.sim.impact.substep_resolve import kick_again
from tumble.sim.impact.thread_jobs import ARRIVALS, ARRIVALS_AGAIN, FLIGHTS, book_flights, find_arrival, find_pairs, share
from tumble.sim.ledger.kick_numbers import MID_STEP, can_be_taken
from tumble.sim.sorted_lists import sort_list
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
    SETTINGS,
    WAKE,
    WANTED,
    memory_of,
)

SAME_SPEED = 1e-9  # approach speeds that differ by less than this part are the same
# Events that any drift may have: two balls before a wall have pi sqrt(M/m) impacts (Galperin, Regul. Chaotic Dyn. 8 (2003) 375),
# which are 3141 where one is a million times as heavy as the other.
EVENTS = 4000
FEW_ASKED = 32  # one thread looks for the next impacts of so many pairs: more are shared
SEEN = 0.5  # if no point that touches comes at this part of the speed that the search saw, the point that came is not among them
SEEN_AT_ALL = 1e-9  # if none comes even at this part, none comes at all: what is left is rounding


@kernel(**FOR_KERNELS)
def _drift(model, geometry, settings, table, memory):
    """Move all bodies to the end of the step, through every impact on the way. OK, PAIRS_FULL, WAKE or NOT_FINITE.

    ``table`` is a spare table of contacts. ``memory`` keeps what is known of the last kick, once there is an event.
    """
    bodies, geoms, pairs, contacts, books, forces, joints = model
    share(model, geometry, settings, FLIGHTS, len(bodies.kind))
    contacts.count[1], contacts.count[2] = contacts.count[0], max(contacts.count[2], MID_STEP)
    share(model, geometry, settings, ARRIVALS, pairs.count[0])
    wider = False
    if _anything_comes(bodies, pairs, joints):
        result, wider = _pass_events(model, geometry, settings, table, memory)
        if result != OK:
            return result
    if book_flights(model, geometry, settings) > 0:
        return NOT_FINITE
    for c in range(len(forces.potential)):
        book_cluster(bodies, forces, joints, books, c, settings.dt)
    return renew_pairs(geoms, pairs, joints, find_pairs(model, geometry, settings)) if wider else OK


@lean
def _anything_comes(bodies, pairs, joints):
    """Whether a pair meets in this drift, an island is kicked again, or a coordinate may come to a stop."""
    for k in range(pairs.count[0]):
        if pairs.event[k] < math.inf:
            return True
    for j in range(len(joints.kind)):
        if has_stops(joints, j):
            return True
    return _first_due(bodies) >= 0


@inner
def _pass_events(model, geometry, settings, table, memory):
    """Impacts, stops and kicks of a drift in the order of their times: (OK, PAIRS_FULL, WAKE or NOT_FINITE; whether bodies fly on
    beyond their boxes)."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    dt, drift = settings.dt, new_drift(bodies, pairs, joints)
    put_in_order(bodies, geoms, pairs, drift)
    find_stops(bodies, forces, joints, drift.stops, drift.touched, True)
    most = 10 * (pairs.count[0] + len(joints.kind)) + EVENTS
    events = 0
    while events < most:
        first, due = first_event(pairs, drift, dt), _first_due(bodies)
        link, met = first_stop(drift.stops)
        if max(first, due, link) < 0:
            break
        if memory.count[0] == 0:
            save_loads(contacts, pairs, memory)
        t = pairs.event[first] if first >= 0 else math.inf
        if due >= 0 and bodies.until[due] <= min(t, met):
            events -= 1  # kicks are as many as the parts of a step, and do not count
            result = kick_due(model, geometry, settings, table, due, drift)
        elif link >= 0 and met <= t:
            result = _meet_stop(model, geometry, settings, table, link, met, drift)
        elif rouse(bodies, geoms.body[pairs.geoms[first, 0]], geoms.body[pairs.geoms[first, 1]]):
            return WAKE, False
        else:
            result = _meet_pair(model, geometry, settings, table, first, t, drift)
        if result != OK:
            return result, False
        events += 1
    books.counters[CAPPED] += events == most
    for i in range(len(drift.effort)):
        if drift.effort[i] > settings.crowd:
            bodies.crowd[i] = 1  # from the coming kick on, where the island is large
    return OK, widen_late(bodies, geoms, geometry, drift.late, dt)


@inner
def _meet_pair(model, geometry, settings, table, first, t, drift):
    """Pair ``first`` collides at time t, and what rests on its bodies is kicked again. OK, PAIRS_FULL, WAKE or NOT_FINITE."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    touched, effort = drift.touched, drift.effort
    touched[:] = False
    many, rested = _act_together(model, geometry, settings, table, first, t, drift)
    _collide(model, geometry, settings, table, first, many, t, drift)
    if pairs.search[first] != FUTILE:
        _look_again(pairs, drift)
    spent = 0.0
    for i in range(len(touched)):
        if touched[i]:
            spent = max(spent, effort[i])
    linked, spends = len(linked_joints(bodies, joints, touched)) > 0, spent <= settings.crowd
    if not (linked or spends):
        _let_loose(bodies, pairs, drift)
    result, sinks = fly_on(model, geometry, settings, t, drift)
    if result == OK and _goes_on(t, settings.dt) and (linked or (spends and (sinks or rested))):
        result = _kick_and_fly(model, geometry, settings, table, t, drift, effort)
    elif rested:
        forget_bounce(contacts)
    return result


@lean
def _goes_on(t, dt):
    """Whether a flight is left after time t of the drift. A kick for none would tell of forces as large as impulses over nothing:
    from these the kick at the step, which comes at once, would start."""
    return t < dt * (1.0 - TIE)


@lean
def _let_loose(bodies, pairs, drift):
    """What was struck and is not kicked again is held by nothing: what its pairs bore in the last kick says nothing of them. (The
    kick of a crowd sees where its bodies are at the end of the step.)"""
    for i in range(len(drift.touched)):
        if drift.touched[i] and bodies.crowd[i] == 0:
            for m in range(drift.first[i], drift.first[i + 1]):
                pairs.rests[drift.of[m]] = 0
                forget_arrivals(pairs, drift.of[m])


@inner
def _kick_and_fly(model, geometry, settings, table, t, drift, effort):
    """The touched bodies are kicked again with their island at time t, and fly on. OK, PAIRS_FULL, WAKE or NOT_FINITE."""
    if kick_again(model, geometry, settings, table, t, drift, effort) == WAKE:
        return WAKE
    _look_again(model.pairs, drift)
    return fly_on(model, geometry, settings, t, drift)[0]


@inner
def _meet_stop(model, geometry, settings, table, link, t, drift):
    """The free coordinate of joint ``link`` comes to its stop at time t. OK, PAIRS_FULL, WAKE or NOT_FINITE.

    Where it comes again at the same instant, the kick after it came drove it on: it is kept there, without another kick.
    """
    bodies, geoms, pairs, contacts, books, forces, joints = model
    touched = drift.touched
    touched[:] = False
    i, j = joints.body[link, 0], joints.body[link, 1]
    for k in (i, j):
        if k >= 0:
            bring(bodies, forces, joints, books, k, t, touched)
    links = linked_joints(bodies, joints, touched)
    bring_linked(bodies, forces, joints, books, links, t, touched)
    again = t - drift.met[link] <= TIE * settings.dt
    rested = not again and settle_phase(model, geometry, settings, table, t, touched, drift.effort)
    drift.met[link] = t
    settle_joints(bodies, table, joints, books, links, False)
    meet_stops(bodies, table, joints, books, links, t, link, rested, settings.dt)
    result, sinks = fly_on(model, geometry, settings, t, drift)
    if result == OK and _goes_on(t, settings.dt) and (sinks or rested) and not again:
        result = _kick_and_fly(model, geometry, settings, table, t, drift, drift.effort)
    return result


@lean
def _first_due(bodies):
    """The body whose island is kicked again first; -1: none."""
    first = -1
    for i in range(len(bodies.until)):
        if bodies.until[i] != 0.0 and (first < 0 or bodies.until[i] < bodies.until[first]):
            first = i
    return first


@inner
def _kick_due(model, geometry, settings, table, due, drift):
    """Kick the island of body ``due`` at the time that its last kick was for; or at the start, where another push acts than that
    was made for: without its phase, then. OK, PAIRS_FULL or WAKE."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    until, label, touched = bodies.until[due], bodies.island[due], drift.touched
    t = max(0.0, until)
    for i in range(len(touched)):
        touched[i] = False
    for i in range(len(touched)):
        if bodies.until[i] == until and bodies.island[i] == label:
            bodies.until[i] = 0.0
            bring(bodies, forces, joints, books, i, t, touched)
            if until < 0.0 and forces.cluster[i] >= 0:
                foresee_again(bodies, forces, joints, forces.cluster[i])
    return _kick_and_fly(model, geometry, settings, table, t, drift, np.zeros(len(touched)))


@lean
def _look_again(pairs, drift):
    """Pairs that would collide without an impulse may not any more, once something else has moved their bodies."""
    for i in range(len(drift.touched)):
        if drift.touched[i]:
            for m in range(drift.first[i], drift.first[i + 1]):
                k = drift.of[m]
                if pairs.search[k] == FUTILE:
                    pairs.search[k], pairs.hits[k] = KNOWN, 1


@inner
def _fly_on(model, geometry, settings, t, drift):
    """Bodies whose motion changed at time t fly on to the end of the step, and their next impacts are found.

    (OK, PAIRS_FULL or NOT_FINITE, whether a slow contact would be overlapping then: its island must be kicked at t).
    """
    bodies, geoms, pairs, contacts, books, forces, joints = model
    dt, full, touched = settings.dt, False, drift.touched
    launch_touched(bodies, forces, joints, t, touched)
    for i in range(len(touched)):
        if touched[i]:
            moves = bodies.kind[i] == DYNAMIC
            if moves and leaves_box(bodies, geoms, geometry, i, dt - t):
                full = outgrown(bodies, geoms, geometry, i, dt - t, dt) or full
            drift.late[i] = moves
            fly_to(bodies, forces, i, dt)
            if not finite_body(bodies, i):  # a search for its impacts would look for ever
                return NOT_FINITE, False
            touched[i] = moves  # what an impact can not move flies on as before, and others meet it as they would
    find_stops(bodies, forces, joints, drift.stops, touched, False)
    if has_ground(geometry):  # also where no box is wider: of a ground only those triangles are at hand that a flight may reach
        result, changed = bring_facets(bodies, geoms, geometry, touched, dt, True)
        if result != OK:
            return PAIRS_FULL, False
        full = full or changed
    if full:
        if renew_pairs(geoms, pairs, joints, find_pairs(model, geometry, settings)) != OK:
            return PAIRS_FULL, False
        put_in_order(bodies, geoms, pairs, drift)
    many = _ask(pairs, drift, full)
    if many < FEW_ASKED:
        for m in range(many):
            find_arrival(model, geometry, settings, drift.chosen[m], drift.rows, drift.ids)
    else:
        share(model, geometry, settings, ARRIVALS_AGAIN, pairs.count[0])
    sinks = False
    for m in range(many):
        k = drift.chosen[m]
        sinks = _would_sink(bodies, geoms, geometry, pairs, k, t, dt) or sinks
        play_again(pairs, drift, k)
    let_go(drift, many)
    return OK, sinks


@inner
def _ask(pairs, drift, all):
    """Take the pairs in hand whose next impacts are to be found, those of touched bodies, which fly otherwise than the last kick
    foresaw; how many. ``all``: new ones too."""
    many = 0
    for k in range(pairs.count[0] if all else 0):
        if pairs.search[k] == WANTED:
            many = choose(drift, many, k)
    for i in range(len(drift.touched)):
        if drift.touched[i]:
            for m in range(drift.first[i], drift.first[i + 1]):
                k = drift.of[m]
                pairs.fresh[k], pairs.unforeseen[k] = False, 1
                if pairs.search[k] != FUTILE:
                    pairs.search[k] = WANTED
                    many = choose(drift, many, k)
                elif pairs.event[k] < math.inf:
                    pairs.event[k] = math.inf
                    play_again(pairs, drift, k)
    return many


@inner
def _would_sink(bodies, geoms, geometry, pairs, k, t, dt):
    """Whether the island of pair k, whose next impact was just found, must be kicked at time t. A crowd is kicked once a step;
    what is so slow there is left to that."""
    i, j = geoms.body[pairs.geoms[k, 0]], geoms.body[pairs.geoms[k, 1]]
    if not crowded(bodies, i, j):
        return _sinks(bodies, pairs, k, i, j, t, dt)
    if pairs.speed[k] <= least_speed(bodies, geoms, geometry, pairs, k, dt):
        pairs.event[k] = math.inf
    return False


@inner
def _act_together(model, geometry, settings, table, first, t, drift):
    """Take the pairs in hand that collide together with ``first`` at time t, and the phase of their resting contacts from their
    bodies: (how many, whether there was any phase).

    It is taken from all of them alike. Taken from the bodies of ``first`` alone, of two pairs that tie, each the mirror image of
    the other, one would collide with half of a step of its weight in its velocity, and the other without.
    """
    bodies, geoms, pairs, contacts, books, forces, joints = model
    for side in range(2):
        bring(bodies, forces, joints, books, geoms.body[pairs.geoms[first, side]], t, drift.touched)
    many, rested, more = choose(drift, 0, first), False, True
    while more:
        more = settle_phase(model, geometry, settings, table, t, drift.touched, drift.effort)
        rested, known = rested or more, many
        many = _gather(bodies, forces, joints, geoms, pairs, first, many, t, settings.dt, drift, books)
        more = many > known
    sort_list(drift.chosen, many)
    return many, rested


@inner
def _settle_phase(model, geometry, settings, table, t, touched, effort):
    """Take the phase of their resting contacts from the touched bodies, and from all of their islands, at time t.

    True where there was any: these bodies must be kicked again for the rest of the step. Where they would not be, it stays.
    """
    bodies, geoms, pairs, contacts, books, forces, joints = model
    found = False
    for body in range(len(touched)):
        if touched[body] and bodies.crowd[body] > 0:
            return False
    for body in range(len(touched)):  # they can belong to different islands
        number = bodies.held[body] if touched[body] and bodies.kind[body] == DYNAMIC else 0
        if number == 0:
            continue
        spent = 0.0
        for m in range(len(bodies.held)):
            if bodies.held[m] == number:
                spent = max(spent, effort[m])
        if spent <= settings.crowd and can_be_taken(bodies, contacts, number):
            found = True
            for m in range(len(bodies.held)):
                if bodies.held[m] == number:
                    bring(bodies, forces, joints, books, m, t, touched)
            take_back(model, geometry, table, number, t)
    return found


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


@inner
def _gather(bodies, forces, joints, geoms, pairs, first, many, t, dt, drift, books):
    """Take the pairs in hand that act together with ``first``: ties that share a body, and all pieces of the same two bodies. How
    many there are then.

    Where ``first`` is tired of bouncing, so do all tired pairs that are connected with it: one by one they would hand what
    is left of their speeds round and round. Where it comes again and again at one instant, so do all that collided there: a
    light body that is caught between two heavy ones is struck by them in turn, ever sooner.
    """
    speed, worn, touched = pairs.speed[first], tired(bodies, geoms, pairs, first, dt), drift.touched
    caught = pairs.hits[first] > MOST_BOUNCES and t - pairs.struck[first] <= TIE * dt
    grew = True
    while grew:
        grew = False
        for body in range(len(touched)):
            if not touched[body]:
                continue
            for m in range(drift.first[body], drift.first[body + 1]):
                k = drift.of[m]
                if drift.marked[k]:
                    continue
                a, b = geoms.body[pairs.geoms[k, 0]], geoms.body[pairs.geoms[k, 1]]
                tie = abs(pairs.event[k] - t) <= TIE * dt and pairs.speed[k] >= speed * (1.0 - SAME_SPEED)
                again = caught and t - pairs.struck[k] <= TIE * dt
                if (touched[a] and touched[b]) or tie or again or (worn and tired(bodies, geoms, pairs, k, dt)):
                    many = choose(drift, many, k)
                    grew = True
                    bring(bodies, forces, joints, books, a, t, touched)
                    bring(bodies, forces, joints, books, b, t, touched)
    return many


@kernel(**FOR_KERNELS)
def _collide_now(model, geometry, settings, table, first, many, t, drift):
    """The impact of pair ``first`` at time t, with all that acts together with it: the ``many`` pairs in hand."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    dt, touched = settings.dt, drift.touched
    books.counters[IMPACTS] += 1
    together = drift.chosen[:many]
    links = linked_joints(bodies, joints, touched)
    if len(links) > 0:
        bring_linked(bodies, forces, joints, books, links, t, touched)
        settle_joints(bodies, table, joints, books, links, False)
    count = touching_rows(bodies, geoms, pairs, geometry, together, table, dt, False)
    least = SEEN * pairs.speed[first]
    if not fastest_approach(table, count) > least:
        count = touching_rows(bodies, geoms, pairs, geometry, together, table, dt, True)
    futile = not fastest_approach(table, count) > SEEN_AT_ALL * pairs.speed[first]
    if t < dt and len(links) == 0 and not _may_be_kicked(bodies, settings, drift):
        futile = not _collide_ahead(model, geometry, settings, table, together, t) or futile
    else:
        _collide_touching(bodies, table, joints, books, settings, links, count)
    if len(links) > 0:
        meet_stops(bodies, table, joints, books, links, t, -1, False, dt)
    log_impacts(bodies, table, books, forces.clock[0] + t)
    for k in together:
        pairs.hits[k] += 1
        pairs.struck[k] = t
    let_go(drift, many)
    if futile:
        pairs.search[first], pairs.hits[first] = FUTILE, MOST_BOUNCES + 1  # it bounces no more


@inner
def _collide_touching(bodies, table, joints, books, settings, links, count):
    """The impact of the ``count`` points in the table alone: one by the law that follows its slip, several together."""
    if count == 1:
        single_impact(bodies, table, joints, books, settings, links)
    elif count > 1:
        joint_impact(bodies, table, joints, books, links, count, 0.0, settings.dt)


@inner
def _collide_ahead(model, geometry, settings, table, together, t):
    """The impact of the touching points in the table, where no kick follows it in this step: with what comes down next.

    Where that is not solved the points that touch act alone. True where the approach is stopped: where a body is wedged in it may
    not be, and the impact would be repeated to no effect.
    """
    bodies, geoms, pairs, contacts, books, forces, joints = model
    links, touching = np.zeros(0, dtype=np.int64), table.count[0]
    count = coming_rows(bodies, forces, geoms, pairs, geometry, together, table, settings.dt)
    if count == touching or not joint_impact(bodies, table, joints, books, links, touching, settings.dt - t, settings.dt):
        table.count[0] = touching
        _collide_touching(bodies, table, joints, books, settings, links, touching)
    return not approach_left(bodies, table, touching) > SEEN * fastest_approach(table, touching)


@lean
def _may_be_kicked(bodies, settings, drift):
    """Whether the touched bodies may be kicked again in this step; a crowd is not, nor what has spent what a step may spend."""
    for i in range(len(drift.touched)):
        if drift.touched[i] and (bodies.crowd[i] > 0 or drift.effort[i] > settings.crowd):
            return False
    return True


fly_on = far(_fly_on, lambda: (EXAMPLE, empty_geometry(), SETTINGS, 0.0, NO_DRIFT), returns=(OK, False))
kick_due = far(_kick_due, lambda: (EXAMPLE, empty_geometry(), SETTINGS, EXAMPLE.contacts, 0, NO_DRIFT), returns=OK)
settle_phase = far(
    _settle_phase,
    lambda: (EXAMPLE, empty_geometry(), SETTINGS, EXAMPLE.contacts, 0.0, np.zeros(0, np.bool_), np.zeros(0)),
    returns=False,
)
_collide = far(_collide_now, lambda: (EXAMPLE, empty_geometry(), SETTINGS, EXAMPLE.contacts, 0, 0, 0.0, NO_DRIFT), returns=None)

drift = far(_drift, lambda: (EXAMPLE, empty_geometry(), SETTINGS, EXAMPLE.contacts, memory_of(0, 0)), returns=0)
