"""Contact points of pairs at the poses of a step, and crowds that grow by what touches them."""

from __future__ import annotations

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import load3, store3
from tumble.collision.narrowphase import manifold_far as manifold
from tumble.collision.status import UNCERTAIN
from tumble.sim.contact.touching.carried_manifolds import carry, remember_manifold, search_slack
from tumble.sim.contact.touching.impact_threshold import crowded
from tumble.sim.contact.touching.swept_pairs import speculative_margin
from tumble.sim.flight.motion import geom_pose
from tumble.sim.state import DYNAMIC


@lean
def update_manifold(bodies, geoms, pairs, geometry, n, dt):
    """Contact points of pair n for the current poses, within the speculative margin; True where certain."""
    a, b = pairs.geoms[n, 0], pairs.geoms[n, 1]
    i, j = geoms.body[a], geoms.body[b]
    margin, soft = speculative_margin(bodies, i, j, dt), crowded(bodies, i, j)
    if soft:
        if carry(bodies, pairs, n, i, j, margin):
            pairs.fresh[n] = True
            return True
        margin += search_slack(bodies, i, j)
    xa, ra = geom_pose(bodies, geoms, a)
    xb, rb = geom_pose(bodies, geoms, b)
    count, normal, status = manifold(
        geometry, geoms.shape[a], xa, ra, geoms.shape[b], xb, rb, margin, load3(pairs.axis, n), pairs.rows[n], pairs.ids[n]
    )
    pairs.points[n] = count
    pairs.fresh[n] = True
    if count > 0:
        store3(pairs.normal, n, normal)
        store3(pairs.axis, n, normal)
    if soft:
        remember_manifold(bodies, pairs, n, i, j, margin)
    return status != UNCERTAIN


@lean
def fresh_manifolds(bodies, geoms, pairs, geometry, dt, first, stop):
    """Manifolds of the pairs [first, stop) whose known one does not belong to the current poses; how many are uncertain."""
    uncertain = 0
    for n in range(first, stop):
        if not pairs.fresh[n] and not update_manifold(bodies, geoms, pairs, geometry, n, dt):
            uncertain += 1
    return uncertain


@lean
def crowds_grow(bodies, geoms, pairs):
    """Bodies that meet a crowd come into it; whether that asks for manifolds."""
    grew = False
    for n in range(pairs.count[0]):
        i, j = geoms.body[pairs.geoms[n, 0]], geoms.body[pairs.geoms[n, 1]]
        both = bodies.kind[i] == DYNAMIC and bodies.kind[j] == DYNAMIC
        if both and pairs.points[n] > 0 and (bodies.crowd[i] > 0) != (bodies.crowd[j] > 0):
            _join_crowd(bodies, geoms, pairs, i, j)
            grew = True
    return grew


@lean
def _join_crowd(bodies, geoms, pairs, i, j):
    """One of two bodies comes into the crowd of the other: its manifolds are wanted out to larger gaps."""
    one = i if bodies.crowd[i] == 0 else j
    bodies.crowd[one] = max(bodies.crowd[i], bodies.crowd[j])
    for n in range(pairs.count[0]):
        if geoms.body[pairs.geoms[n, 0]] == one or geoms.body[pairs.geoms[n, 1]] == one:
            pairs.fresh[n] = False
