"""The kick in mid-step: bodies that an impact leaves in slow touch are kicked again, for the rest of the step, with their island.

Where that happens again and again the island is a crowd for a while: it is left to the kick at the end of the step (crowds).
"""

from __future__ import annotations

import numpy as np

from tumble.collision.geometry import empty_geometry
from tumble.collision.kernels.jit import far, inner, lean
from tumble.collision.linalg import load3
from tumble.sim.contact.contact_solve import kick_island
from tumble.sim.contact.sleep_criterion import rouse
from tumble.sim.contact.touching.contact_table import INELASTIC, tabulate
from tumble.sim.contact.touching.impact_threshold import forget_arrivals, mark_resting
from tumble.sim.contact.touching.manifolds import update_manifold
from tumble.sim.contact.touching.swept_pairs import reach_along
from tumble.sim.flight.flight_split import bring, bring_linked
from tumble.sim.flight.motion import fly_to
from tumble.sim.impact.event_queue import NO_DRIFT, choose, let_go
from tumble.sim.impact.half_kick_removal import bounced, come_down, part_again, take_back
from tumble.sim.impact.joint_impulses import joints_of, settle_joints
from tumble.sim.ledger.kick_numbers import can_be_taken, effort_of, in_flight, recall_loads
from tumble.sim.ledger.work import INSIDE_DRIFT
from tumble.sim.sorted_lists import sort_list
from tumble.sim.state import DYNAMIC, EXAMPLE, OK, REKICKS, SETTINGS, WAKE


@lean
def _spend(bodies, table, label, struck, effort, most):
    """The contacts of a table were kicked, the island ``label``: what that costs is on the account of the bodies that it presses
    and of those that were ``struck`` (marks, more of which are added), half of it where they are few; of all of the island where
    a step may spend less than two kicks of that (``most``: it may spend so much)."""
    island = 0
    for i in range(len(effort)):
        island += bodies.kind[i] == DYNAMIC and bodies.island[i] == label
    large, size = 2.0 * effort_of(island) > most, 0
    for k in range(table.count[0]):
        for side in range(2):
            struck[table.body[k, side]] = struck[table.body[k, side]] or table.impulse[k, 2] > 0.0
    for i in range(len(effort)):
        struck[i] = bodies.kind[i] == DYNAMIC and (struck[i] or (large and bodies.island[i] == label))
        size += struck[i]
    for i in range(len(effort)):
        if struck[i]:
            effort[i] += effort_of(size)


@lean
def _merge(bodies, i, label):
    """Make the island of body i part of the island ``label``, or the first one if that is -1."""
    old = bodies.island[i]
    if label >= 0 and old != label:
        for k in range(len(bodies.kind)):
            if bodies.island[k] == old:
                bodies.island[k] = label
    return label if label >= 0 else old


@lean
def _join_touched(bodies, touched):
    """Make one island of those of the touched bodies: its label. Not of crowds, which are kicked once a step, unless all are."""
    label = -1
    for i in range(len(touched)):
        if touched[i] and bodies.kind[i] == DYNAMIC and bodies.crowd[i] == 0:
            label = _merge(bodies, i, label)
    for i in range(len(touched)):
        if label < 0 and touched[i] and bodies.kind[i] == DYNAMIC:
            label = bodies.island[i]
    return label


@lean
def _may_touch(bodies, pairs, n, i, j, dt):
    """Whether pair n rested in the last kick, or has a point that its bodies may close within a step, as in the kick at the step
    (`tabulate`). Boxes that stand a millimetre apart are no island: where they were, one of 729 that landed had all kicked."""
    reach, near = reach_along(bodies, i, j, load3(pairs.normal, n), dt), False
    for k in range(pairs.points[n]):
        near = near or pairs.rests[n] == 1 or pairs.rows[n, k, 3] <= reach
    return near


@inner
def _connect(bodies, geoms, pairs, geometry, forces, joints, books, label, t, dt, drift):
    """Bring all that is connected to the island ``label`` by pairs that may touch to time t, and take the pairs of its bodies in
    hand: (its label then, -1 where it meets a sleeping one; how many pairs). Of a crowd only those that it touches take part:
    all of it is kicked once a step, by what looks ahead."""
    many, grew = 0, True
    while grew:
        grew = False
        for body in range(len(bodies.kind)):
            if bodies.kind[body] != DYNAMIC or bodies.island[body] != label:
                continue
            for m in range(drift.first[body], drift.first[body + 1]):
                n = drift.of[m]
                if drift.marked[n]:
                    continue
                many = choose(drift, many, n)
                i, j = geoms.body[pairs.geoms[n, 0]], geoms.body[pairs.geoms[n, 1]]
                bring(bodies, forces, joints, books, i, t, drift.touched)
                bring(bodies, forces, joints, books, j, t, drift.touched)
                update_manifold(bodies, geoms, pairs, geometry, n, dt)
                pairs.fresh[n] = False  # it is that of this instant
                if _may_touch(bodies, pairs, n, i, j, dt):
                    if rouse(bodies, i, j):
                        return -1, many
                    for k in (i, j):
                        if bodies.kind[k] == DYNAMIC and bodies.island[k] != label and bodies.crowd[k] == 0:
                            label = _merge(bodies, k, label)
                            grew = True
    sort_list(drift.chosen, many)
    return label, many


@inner
def _inside(bodies, geoms, pairs, label, chosen):
    """Those of these pairs whose bodies are of the island ``label``, or of none that moves freely."""
    some, count = np.empty(len(chosen), dtype=np.int64), 0
    for n in chosen:
        inside = True
        for side in range(2):
            k = geoms.body[pairs.geoms[n, side]]
            inside = inside and (bodies.kind[k] != DYNAMIC or bodies.island[k] == label or bodies.crowd[k] > 0)
        if inside:
            some[count] = n
            count += 1
    return some[:count]


@inner
def _list_anew(model, geometry, settings, table, links, chosen):
    """The contacts of these pairs where their bodies stand now, once joints are closed, which stand in other directions; as
    `tabulate` returns."""
    bodies, geoms, pairs, contacts, books, forces, joints = model
    if len(links) > 0:
        settle_joints(bodies, table, joints, books, links, False)
    for n in chosen:
        update_manifold(bodies, geoms, pairs, geometry, n, settings.dt)
        pairs.fresh[n] = False
    return tabulate(bodies, geoms, geometry, pairs, contacts, table, settings.dt, chosen, True, INELASTIC)


@inner
def _deepest(pairs, chosen):
    """The least gaps of the points of these pairs; 0 where none overlaps [m]."""
    deepest = np.zeros(len(chosen))
    for n in range(len(chosen)):
        for k in range(pairs.points[chosen[n]]):
            deepest[n] = min(deepest[n], pairs.rows[chosen[n], k, 3])
    return deepest


@inner
def _kick_again(model, geometry, settings, table, t, drift, effort):
    """Kick the island of the collided bodies at time t, for the rest of the step; OK, or WAKE where it meets a sleeping one.

    Contacts with e = 0 that the impact has made approach take part. ``effort``: how many bodies were kicked again with each
    in this step. Where they are many the island is a crowd from the coming kick on.
    """
    bodies, geoms, pairs, contacts, books, forces, joints = model
    dt, touched = settings.dt, drift.touched
    struck = touched.copy()
    books.counters[REKICKS] += 1
    for i in range(len(touched)):
        if touched[i]:
            fly_to(bodies, forces, i, t)
    label = _join_touched(bodies, touched)
    label, many = _connect(bodies, geoms, pairs, geometry, forces, joints, books, label, t, dt, drift)
    let_go(drift, many)
    if label < 0:
        return WAKE
    concerned = _inside(bodies, geoms, pairs, label, drift.chosen[:many])
    for i in range(len(touched)):
        if bodies.kind[i] == DYNAMIC and bodies.island[i] == label:
            bring(bodies, forces, joints, books, i, t, touched)
    for i in range(len(touched)):
        member = bodies.kind[i] == DYNAMIC and bodies.island[i] == label and bodies.crowd[i] == 0
        if member and in_flight(bodies, i, t, dt) and can_be_taken(bodies, contacts, bodies.held[i]):
            take_back(model, geometry, table, bodies.held[i], t)
    links = joints_of(bodies, joints, bodies.island, label)
    bring_linked(bodies, forces, joints, books, links, t, touched)
    result = tabulate(bodies, geoms, geometry, pairs, contacts, table, dt, concerned, True, INELASTIC)
    if bounced(contacts):
        floors = _deepest(pairs, concerned)
        come_down(model, table, label, t)
        result = _list_anew(model, geometry, settings, table, links, concerned)
        if result == OK and part_again(model, settings, table, label, t, concerned, floors):
            result = _list_anew(model, geometry, settings, table, links, concerned)
    if result != OK:
        return OK
    recall_loads(bodies, contacts, table, t, dt)
    for n in concerned:
        forget_arrivals(pairs, n)
    local = np.full(len(bodies.kind), -1, dtype=np.int64)
    rows = np.arange(table.count[0])
    kick_island(model, geometry, settings, table, t, INSIDE_DRIFT, rows, links, local)
    mark_resting(geoms, pairs, concerned, table)
    if len(links) == 0:  # joints can not wait
        _spend(bodies, table, label, struck, effort, settings.crowd)
    for i in range(len(touched)):
        if bodies.kind[i] == DYNAMIC and bodies.island[i] == label and effort[i] > settings.crowd:
            bodies.held[i] = 0  # it is not kicked again in this step: it keeps the phase
    return OK


kick_again = far(
    _kick_again, lambda: (EXAMPLE, empty_geometry(), SETTINGS, EXAMPLE.contacts, 0.0, NO_DRIFT, np.zeros(0)), returns=OK
)
