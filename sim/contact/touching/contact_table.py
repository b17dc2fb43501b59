"""The table of contacts that the kick solves, written from the manifolds; loads carry over by the names of features."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tumble.collision.contact.facets import BARRED, facet_normal, reading_of
from tumble.collision.contact.manifold import named_by_first
from tumble.collision.geometry import empty_geometry
from tumble.collision.kernels.group import owning_group
from tumble.collision.kernels.jit import FOR_KERNELS, far, inner, kernel, lean
from tumble.collision.linalg import add, dot, load3, load9, mul, mul_t, norm, orthonormal, store3, store9, sub
from tumble.sim.contact.ground.faces import same_facets
from tumble.sim.contact.surfaces import coefficient, surface_slip
from tumble.sim.contact.touching.impact_threshold import (
    FASTER,
    MOST_SMALL_BOUNCES,
    bounce_time,
    closing_speed,
    crowded,
    foreseen,
    free_limit,
    pair_restitution,
    slowest_impact,
    threshold,
)
from tumble.sim.contact.touching.point_accelerations import contact_acceleration
from tumble.sim.contact.touching.swept_pairs import reach_along
from tumble.sim.flight.motion import geom_pose, point_velocity
from tumble.sim.sorted_lists import is_pair, pair_before
from tumble.sim.state import COEFFICIENTS, CONTACTS_FULL, EXAMPLE, KINETIC_FRICTION, MU, OK, PIECE, STATIC_FRICTION

NONE, INELASTIC = range(2)  # fast points that touch and are solved with the slow ones
# Points of two facets of a ground that are as near, as part of the size, and normals that differ as little are the same.
SAME, SAME_NORMAL = 1e-9, 2e-6


@owning_group
class Loads(NamedTuple):
    """What rows of a table hand on to the next one; the fields of `Contacts`."""

    pair: np.ndarray
    id: np.ndarray
    point: np.ndarray
    frame: np.ndarray
    impulse: np.ndarray
    moment: np.ndarray
    slides: np.ndarray
    turns: np.ndarray
    push: np.ndarray
    residual: np.ndarray
    arrives: np.ndarray
    phase: np.ndarray
    lent: np.ndarray
    creeps: np.ndarray


@inner
def _loads(c, copied):
    """Those of a table of contacts, ``copied`` where the table is to be written over."""
    n = c.count[0]
    copied = copied and n > 0
    return Loads(
        _rows(c.pair, n, copied), _rows(c.id, n, copied), _rows(c.point, n, copied), _rows(c.frame, n, copied),
        _rows(c.impulse, n, copied), _rows(c.moment, n, copied), _rows(c.slides, n, copied), _rows(c.turns, n, copied),
        _rows(c.push, n, copied), _rows(c.residual, n, copied), _rows(c.arrives, n, copied), _rows(c.phase, n, copied),
        _rows(c.lent, n, copied), _rows(c.creeps, n, copied),
    )  # fmt: skip


@inner
def _rows(column, n, copied):
    """The first n rows of an array, or a copy of them."""
    rows = column[:n]
    return rows.copy() if copied else rows


@lean
def _carry_over(contacts, k, old, m):
    """Row k of the table takes the loads of row m of the old one, turned from its frame into the new one."""
    e, new = load9(old.frame, m), load9(contacts.frame, k)
    store3(contacts.impulse, k, mul(new, mul_t(e, load3(old.impulse, m))))
    contacts.slides[k], contacts.push[k], contacts.residual[k] = old.slides[m], old.push[m], old.residual[m]
    if old.impulse[m, 2] > 0.0:
        contacts.arrives[k], contacts.phase[k], contacts.lent[k] = old.arrives[m], old.phase[m], old.lent[m]
        store3(contacts.creeps, k, load3(old.creeps, m))
    store3(contacts.moment, k, mul(new, mul_t(e, load3(old.moment, m))))
    contacts.turns[k, 0], contacts.turns[k, 1] = old.turns[m, 0], old.turns[m, 1]


@lean
def write_row(bodies, contacts, k, a, b, i, j, id, row, s, t, normal, u, accel):
    """Row k of a table of contacts: a point of pieces a, b of bodies i, j, without impulse."""
    contacts.pair[k, 0], contacts.pair[k, 1] = a, b
    contacts.body[k, 0], contacts.body[k, 1] = i, j
    contacts.id[k] = id
    store3(contacts.point, k, (row[0], row[1], row[2]))
    store9(contacts.frame, k, (s[0], s[1], s[2], t[0], t[1], t[2], normal[0], normal[1], normal[2]))
    contacts.gap[k] = row[3]
    for c in range(COEFFICIENTS):
        contacts.law[k, c] = coefficient(bodies, i, j, c)
    contacts.mu[k] = contacts.law[k, MU]
    store3(contacts.u, k, (dot(u, s), dot(u, t), dot(u, normal)))
    store3(contacts.accel, k, accel)
    contacts.slides[k], contacts.arrives[k], contacts.kick[k] = KINETIC_FRICTION, math.nan, 0
    store3(contacts.creeps, k, (math.nan, math.nan, math.nan))
    contacts.loss[k] = contacts.residual[k] = contacts.push[k] = 0.0
    store3(contacts.impulse, k, (0.0, 0.0, 0.0))
    store3(contacts.moment, k, (0.0, 0.0, 0.0))
    contacts.turns[k, 0] = contacts.turns[k, 1] = STATIC_FRICTION


@lean
def told(bodies, geoms, geometry, contacts, count, a, b, i, j, point, normal):
    """Whether the table has this point of a ground already, by another facet: surfaces that meet there have it in common.

    Where they meet in a ridge the normal that one of them gave is one that the other allows too, and the point is one contact, as
    on a body of that form. In a valley each gives its own, and both hold.
    """
    near, m = SAME * min(bodies.radius[i], bodies.radius[j]), count - 1
    while geoms.face[b] != PIECE and m >= 0 and contacts.pair[m, 0] == a:
        if contacts.body[m, 1] == j and norm(sub(load3(contacts.point, m), point)) <= near:
            known = (contacts.frame[m, 2, 0], contacts.frame[m, 2, 1], contacts.frame[m, 2, 2])
            _, ra = geom_pose(bodies, geoms, a)
            _, rb = geom_pose(bodies, geoms, b)
            if (
                norm(sub(known, normal)) <= SAME_NORMAL
                or reading_of(geometry, geoms.shape[a], ra, geoms.shape[b], rb, known) != BARRED
            ):
                return True
        m -= 1
    return False


@lean
def flat_elsewhere(bodies, geoms, geometry, pairs, n, point):
    """Whether a point of pair n, at an edge of its facet, lies in the plane of another one that has it too, by its own normal.

    The two normals differ by what the bodies are askew; a body that tips over the rim of a table touches the table.
    """
    a, b = pairs.geoms[n, 0], pairs.geoms[n, 1]
    if geoms.face[b] < 0 or _own_normal(bodies, geoms, geometry, pairs, n):
        return False
    near = SAME * min(bodies.radius[geoms.body[a]], bodies.radius[geoms.body[b]])
    m = n
    while m > 0 and pairs.geoms[m - 1, 0] == a:
        m -= 1
    while m < pairs.count[0] and pairs.geoms[m, 0] == a:
        other = pairs.geoms[m, 1]
        if m != n and geoms.face[other] >= 0 and geoms.body[other] == geoms.body[b] and pairs.points[m] > 0:
            known = load3(pairs.normal, m)
            if _own_normal(bodies, geoms, geometry, pairs, m):
                _, ra = geom_pose(bodies, geoms, a)
                _, rb = geom_pose(bodies, geoms, b)
                if reading_of(geometry, geoms.shape[a], ra, geoms.shape[b], rb, known) != BARRED:
                    for k in range(pairs.points[m]):
                        if norm(sub((pairs.rows[m, k, 0], pairs.rows[m, k, 1], pairs.rows[m, k, 2]), point)) <= near:
                            return True
        m += 1
    return False


@lean
def _own_normal(bodies, geoms, geometry, pairs, n):
    """Whether the normal of pair n is that of the facet in it."""
    b = pairs.geoms[n, 1]
    _, rb = geom_pose(bodies, geoms, b)
    u, f = load3(pairs.normal, n), facet_normal(geometry, geoms.shape[b], rb, geoms.shape[b], rb)
    return norm(sub(u, f)) <= SAME_NORMAL or norm(add(u, f)) <= SAME_NORMAL


@lean
def _on_ground(geoms, old, taken, first, a, b, id):
    """Row of the old table for a point of piece a that has gone from one facet of a ground to another; -1: none."""
    m = first
    while m < len(old.id) and old.pair[m, 0] == a:
        if not taken[m] and old.id[m] == id and same_facets(geoms, b, old.pair[m, 1]):
            return m
        m += 1
    return -1


@lean
def _same_point(old, taken, first, a, b, id, point, near, ids):
    """Row of the old table for a point of pieces a, b: the one of its feature, else the nearest of those that no other feature
    ``ids`` of the manifold has; -1: none."""
    best, m = -1, first
    while m < len(old.id) and is_pair(old.pair, m, a, b):
        if not taken[m]:
            if old.id[m] == id:
                return m
            d = norm((old.point[m, 0] - point[0], old.point[m, 1] - point[1], old.point[m, 2] - point[2]))
            if d < near and not _is_in(ids, old.id[m]):
                best, near = m, d
        m += 1
    return best


@lean
def _is_in(ids, id):
    found = False
    for k in range(len(ids)):
        found = found or ids[k] == id
    return found


@kernel(**FOR_KERNELS)
def _tabulate(bodies, geoms, geometry, pairs, before, contacts, h, chosen, inside, plastic):
    """Write a table of contacts from the manifolds; OK or CONTACTS_FULL.

    Impulses and laws carry over by feature id from the table ``before``, which may be the same one. ``chosen``: the pairs that
    the table is of, in ascending order. ``inside``: in the middle of a drift. ``h``: the length of a step.

    A point that closes faster than the threshold gets no row: it is an impact of the coming drift, at once if it touches. The
    threshold of a pair that neither touches nor bore load in the last kick is that of the forces alone: spinning bodies
    that come round to hit each other have large accelerations there, and hit all the same.
    A point that bears nothing, and that nothing closes within a step, gets none either.
    ``plastic`` says which of those that touch get one all the same, to be solved together: NONE of them, or the INELASTIC
    ones (e = 0, or tired of bouncing). In the middle of a drift a resting contact stands open by up to
    |a_n| dt^2/8, so there all points within the margin count as touching; and in crowds everywhere.
    """
    old = _loads(before, not inside)  # the table before may be this one
    taken, last = np.zeros(len(old.id), dtype=np.bool_), len(old.id)
    count, first, start = 0, 0, 0
    for n in chosen:
        points = pairs.points[n]
        a, b = pairs.geoms[n, 0], pairs.geoms[n, 1]
        if points == 0:
            continue
        while start < last and old.pair[start, 0] < a:
            start += 1
        while first < last and pair_before(old.pair, first, a, b):
            first += 1
        i, j = geoms.body[a], geoms.body[b]
        normal = load3(pairs.normal, n)
        s, t = orthonormal(normal)
        # a point moves by its velocity between two steps; the features of a face that stays may be named anew
        near = math.inf if crowded(bodies, i, j) else 1e-3 * min(bodies.radius[i], bodies.radius[j])
        touching = 1e-10 * min(bodies.radius[i], bodies.radius[j])
        wait, slowest = bounce_time(bodies, pairs, n, i, j, h), slowest_impact(bodies, i, j, h)
        lasting = pairs.rests[n] == 1
        for k in range(points):
            lasting = lasting or pairs.rows[n, k, 3] <= touching
        limit, reach = free_limit(bodies, i, j, normal, h, wait), reach_along(bodies, i, j, normal, h)
        for k in range(points):
            row = pairs.rows[n, k]
            point = (row[0], row[1], row[2])
            if told(bodies, geoms, geometry, contacts, count, a, b, i, j, point, normal):
                continue
            if flat_elsewhere(bodies, geoms, geometry, pairs, n, point):
                continue
            u = sub(point_velocity(bodies, j, point), point_velocity(bodies, i, point))
            u = add(u, surface_slip(bodies, i, j, point, normal))
            accel = contact_acceleration(bodies, i, j, row, s, t, normal, h)
            speed = -dot(u, normal)
            if lasting:
                fast = speed > max(threshold(slowest, accel[2], wait), FASTER * foreseen(pairs, n, pairs.ids[n, k]))
            else:
                fast = closing_speed(speed, accel[2], row[3]) > limit
            if fast:
                # a jam: it has bounced again and again in this step, and others press on
                jams = pairs.hits[n] >= MOST_SMALL_BOUNCES and crowded(bodies, i, j)
                dead = jams or pair_restitution(bodies, pairs, n, i, j, speed, h) == 0.0
                touches = inside or row[3] <= touching or crowded(bodies, i, j)
                if not (plastic == INELASTIC and dead and touches):
                    continue
            if count == len(contacts.gap):
                return CONTACTS_FULL
            write_row(bodies, contacts, count, a, b, i, j, pairs.ids[n, k], row, s, t, normal, u, accel)
            m = _same_point(old, taken, first, a, b, pairs.ids[n, k], point, near, pairs.ids[n, :points])
            if m < 0 and geoms.face[b] != PIECE and named_by_first(pairs.ids[n, k], row):
                m = _on_ground(geoms, old, taken, start, a, b, pairs.ids[n, k])
            if m >= 0:
                taken[m] = True
                _carry_over(contacts, count, old, m)
            if inside or contacts.impulse[count, 2] > 0.0 or row[3] <= reach:
                count += 1
    contacts.count[0] = count
    return OK


tabulate = far(
    _tabulate,
    lambda: (
        EXAMPLE.bodies, EXAMPLE.geoms, empty_geometry(), EXAMPLE.pairs, EXAMPLE.contacts, EXAMPLE.contacts, 0.0,
        np.zeros(0, np.int64), False, 0,
    ), returns=0,
)  # fmt: skip
