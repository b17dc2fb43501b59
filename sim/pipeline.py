"""One step, as a list of stages.

    settle         second halves of the last kick's works go to the books                     below
    pairs          boxes swept over the coming drift, candidate pairs, sorted                 contact/touching/
    drift          free flight under smooth forces, interrupted by impacts in order of time   impact/impact_loop.py
    paths          driven bodies plan the arc of the coming step                              forces/prescribed_motion.py
    narrowphase    manifolds at the new poses, within the speculative margin                  contact/touching/
    contact        table of contacts, impulses carried over by feature; islands; the kick     contact/contact_solve.py

The state between two steps is that of the middle of the kick: momenta before and after it are kept, their mean is what
the world reports.
"""

from __future__ import annotations

import numpy as np

from tumble.collision.geometry import empty_geometry
from tumble.collision.kernels.jit import FOR_KERNELS, far, inner, kernel, lean
from tumble.collision.linalg import ZERO, load3, store3
from tumble.sim.contact.contact_solve import kick
from tumble.sim.contact.ground.facet_rows import bring_facets, has_ground
from tumble.sim.contact.sleep_criterion import count_still, rouse_touched
from tumble.sim.contact.touching.contact_table import INELASTIC, NONE, tabulate
from tumble.sim.contact.touching.impact_threshold import forget_arrivals, mark_resting
from tumble.sim.contact.touching.manifolds import crowds_grow
from tumble.sim.contact.touching.pair_list import forget_manifolds, renew_pairs
from tumble.sim.contact.touching.wide_boxes import forget_near_pairs
from tumble.sim.flight.clusters import foresee_all, launch_all, potential_change, recall_kicks
from tumble.sim.flight.motion import finite_body, plan_arcs, set_state, start_flight
from tumble.sim.flight.saved_state import save_books, save_joints, undo_step
from tumble.sim.impact.crowds.crowd_kick import kick_crowds, plain_crowds
from tumble.sim.impact.event_log import log_contacts, log_sensors
from tumble.sim.impact.impact_loop import drift
from tumble.sim.impact.thread_jobs import LANDINGS, MANIFOLDS, box_all, find_pairs, pairs_of_leavers, share, tell_helpers
from tumble.sim.joints.flown_springs import let_go_of_springs
from tumble.sim.joints.rows import torn
from tumble.sim.ledger.blow_up import thrown
from tumble.sim.ledger.entries import CORRECTION
from tumble.sim.ledger.kick_numbers import keep_latest
from tumble.sim.ledger.work import KICK, MEAN_GIVEN, add_energy, add_to_reservoir
from tumble.sim.recording.compiled_samples import sample
from tumble.sim.solvers.islands import label_islands
from tumble.sim.state import (
    ACCOUNTS,
    BOOKS_FULL,
    DROWSY,
    DYNAMIC,
    EXAMPLE,
    NOT_FINITE,
    OK,
    PAIRS_FULL,
    SETTINGS,
    STEPS,
    THROWN,
    TORN,
    UNCERTAIN_PAIRS,
    WAKE,
)


@kernel
def advance(model, geometry, settings, table, saved, strip, steps):
    """Take ``steps`` steps in one compiled call, and the samples of ``strip``: (steps taken, OK or why it stopped)."""
    result, done = OK, 0
    tell_helpers(settings, 1)
    while result == OK and done < steps:
        result = step(model, geometry, settings, table, saved)
        if result in (OK, DROWSY):
            done += 1
        if result == OK:
            sample(model, strip)
    tell_helpers(settings, 0)
    return done, result


@inner
def step(model, geometry, settings, table, saved):
    bodies, geoms, pairs, contacts, books, forces, joints = model
    if 0 < len(books.account) < 2 * (books.counters[ACCOUNTS] + len(pairs.event)):
        return BOOKS_FULL
    save_books(books, saved[1])
    save_joints(joints, saved[2])
    saved[3].count[0] = 0
    settle_books(books)
    forces.clock[0], forces.clock[1] = books.counters[STEPS] * settings.dt, settings.dt
    result = find_candidates(model, geometry, settings, saved[0])
    if result == OK:
        result = drift(model, geometry, settings, table, saved[3])
        if result == NOT_FINITE:
            return result
    if result != OK:
        _undo(model, saved)
        return result
    plan_arcs(bodies, (books.counters[STEPS] + 1) * settings.dt, settings.dt)
    narrowphase(model, geometry, settings)
    if settings.sleep_steps > 0 and rouse_touched(bodies, geoms, pairs):
        _undo(model, saved)
        return WAKE
    if not contact(model, geometry, settings, KICK, INELASTIC):
        return NOT_FINITE
    if torn(bodies, joints):
        return TORN
    if thrown(bodies, books, saved[0], saved[1], settings.dt):
        return THROWN
    log_contacts(bodies, contacts, books, forces.clock[0])
    log_sensors(bodies, geoms, pairs, geometry, books, forces.clock[0])
    books.counters[STEPS] += 1
    if settings.sleep_steps > 0 and count_still(bodies, contacts, forces, joints, books, settings):
        return DROWSY
    return OK


@kernel
def begin(model, geometry, settings):
    """Make a state that was set from outside ready to step: its velocities are means, so the kick is centred on them."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    for k in range(len(books.pending)):
        books.pending[k] = 0.0
    for k in range(len(books.account)):
        for c in range(4):
            books.works[k, 4 + c] = 0.0
    for k in range(2):
        store3(books.reservoir_pending, k, ZERO)
    for i in range(len(bodies.kind)):
        q = (bodies.q[i, 0], bodies.q[i, 1], bodies.q[i, 2], bodies.q[i, 3])
        x, p, l = (bodies.x[i, 0], bodies.x[i, 1], bodies.x[i, 2]), bodies.p[i], bodies.l[i]
        set_state(bodies, i, x, q, (p[0], p[1], p[2]), (l[0], l[1], l[2]))
        start_flight(bodies, i, 0.0)
    plan_arcs(bodies, books.counters[STEPS] * settings.dt, settings.dt)
    forces.clock[0], forces.clock[1] = books.counters[STEPS] * settings.dt, settings.dt
    potential_change(bodies, forces)
    forget_near_pairs(pairs)
    result = find_candidates(model, geometry, settings, bodies)
    if result != OK:
        return result
    narrowphase(model, geometry, settings)
    if settings.sleep_steps > 0 and rouse_touched(bodies, geoms, pairs):
        return WAKE
    contact(model, geometry, settings, MEAN_GIVEN, NONE)
    log_contacts(bodies, contacts, books, forces.clock[0])
    log_sensors(bodies, geoms, pairs, geometry, books, forces.clock[0])
    return OK


@kernel(**FOR_KERNELS)
def _find_candidates(model, geometry, settings, saved):
    """Flights under forces, and pairs whose boxes meet on the coming drift; ``saved`` keeps bodies as they are before it."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    finite, ground = launch_all(bodies, forces, joints, 0.0), has_ground(geometry)
    left, listed = box_all(model, geometry, settings, saved, not ground)
    if not finite:
        return NOT_FINITE
    if ground:
        everyone = np.ones(len(bodies.kind), dtype=np.bool_)
        if bring_facets(bodies, geoms, geometry, everyone, settings.dt, False)[0] != OK:
            return PAIRS_FULL
        found = find_pairs(model, geometry, settings)
    else:
        found = pairs_of_leavers(model, geometry, settings, left, listed)
    result = renew_pairs(geoms, pairs, joints, found)
    forget_manifolds(pairs)
    mark_resting(geoms, pairs, np.arange(pairs.count[0]), contacts)
    return result


find_candidates = far(_find_candidates, lambda: (EXAMPLE, empty_geometry(), SETTINGS, EXAMPLE.bodies), returns=0)


@inner
def narrowphase(model, geometry, settings):
    """Manifolds of all candidate pairs whose known one does not belong to the current poses."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    grew = True
    while grew:
        books.counters[UNCERTAIN_PAIRS] += share(model, geometry, settings, MANIFOLDS, pairs.count[0])
        grew = crowds_grow(bodies, geoms, pairs)


@kernel(**FOR_KERNELS)
def _contact(model, geometry, settings, mode, plastic):
    """Everything that touches: match to the last kick, islands, kick; then all bodies are ready to fly. False: not finite."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    keep_latest(bodies, contacts, settings.dt)
    recall_kicks(bodies, forces, joints)
    let_go_of_springs(joints)
    share(model, geometry, settings, LANDINGS, len(bodies.kind))
    forces.clock[0] = (books.counters[STEPS] + (1 if mode == KICK else 0)) * settings.dt
    foresee_all(bodies, forces, joints, geoms, pairs, mode == MEAN_GIVEN)
    tabulate(bodies, geoms, geometry, pairs, contacts, contacts, settings.dt, np.arange(pairs.count[0]), False, plastic)
    contacts.count[1], contacts.count[2] = contacts.count[0], 0
    label_islands(bodies, contacts, joints, settings.crowd)
    plain, crowds = np.zeros(len(bodies.kind), dtype=np.bool_), False
    if mode == KICK:
        crowds = plain_crowds(bodies, contacts, joints, plain)
    for n in range(pairs.count[0]):
        forget_arrivals(pairs, n)
        pairs.unforeseen[n] = 0
    kick(model, geometry, settings, mode, plain)
    if crowds:
        kick_crowds(model, geometry, settings, plain)
    add_energy(books, CORRECTION, potential_change(bodies, forces))
    return _start_kicked(bodies, contacts, forces, joints, plain)


contact = far(_contact, lambda: (EXAMPLE, empty_geometry(), SETTINGS, 0, 0), returns=False)


@lean
def _start_kicked(bodies, contacts, forces, joints, kicked):
    """What the kick concerned flies on from where it is now: bodies that touch, are jointed, fly under forces or are of a crowd.
    The others have not changed since they landed. False where one has a state that is not finite.

    ``kicked``: (bodies,) room for marks.
    """
    for i in range(len(kicked)):
        kicked[i] = bodies.crowd[i] > 0
    for k in range(contacts.count[0]):
        kicked[contacts.body[k, 0]] = kicked[contacts.body[k, 1]] = True
    for j in range(len(joints.kind)):
        for side in range(2):
            if joints.body[j, side] >= 0:
                kicked[joints.body[j, side]] = True
    for m in range(len(forces.member)):
        kicked[forces.member[m]] = True
    good = True
    for i in range(len(kicked)):
        if kicked[i]:
            start_flight(bodies, i, 0.0)
            good = good and (bodies.kind[i] != DYNAMIC or finite_body(bodies, i))
    return good


@lean
def _undo(model, saved):
    """Undo an unfinished step."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    undo_step(bodies, pairs, contacts, books, joints, saved)
    potential_change(bodies, forces)


@lean
def settle_books(books):
    """The last kick's second half is over."""
    for k in range(len(books.pending)):
        add_energy(books, k, books.pending[k])
        books.pending[k] = 0.0
    for k in range(len(books.account)):
        for c in range(4):
            books.works[k, c] += books.works[k, 4 + c]
            books.works[k, 4 + c] = 0.0
    add_to_reservoir(books, load3(books.reservoir_pending, 0), load3(books.reservoir_pending, 1))
    for k in range(2):
        store3(books.reservoir_pending, k, ZERO)
