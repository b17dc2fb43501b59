"""Manifolds that travel with their bodies: in a crowd, contact points are looked for anew only where a pair has moved.

The points of a manifold are kept in the frames of both bodies. While the pose of one body against the other has changed little
since they were found, the points go along, and their gap is read off between the places that they are at. Their names stay, and
the loads with them.

How far is little? Where a corner lies on a face, what the gap misses is of the second order in what the pair has moved. Where a
point lies on an edge at the border of a face, or two edges cross at a small angle, another place of the edge comes to touch, and
what is missed is of the first order: after a ten-thousandth of a body's size it was a hundred-thousandth. A heap that comes to
rest is set in motion again by as much as that when the points are found anew. So each time they are, what they were off by is
measured, and how far they may travel next follows from it.
"""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import far, lean
from tumble.collision.linalg import add, dot, load3, load9, matmul, mul, mul_t, norm, scale, store3, sub, transpose
from tumble.sim.state import EXAMPLE

WAY = 1e-4  # points are carried along while the pose of a body against the other changes by less than this part of its size
OFF = 1e-11  # part of the size by which carried gaps may be off: as a velocity, 1e-10 sizes a step
# What gaps are off by is taken to grow with the way. It is known for so many times the way on which it was measured.
FURTHER = 2.0
OPEN = 1e-2  # a gap may be off by this part of itself as well: a point that is open is not to come nearer than it was
FORGOTTEN = 0.5  # part of what was measured before that counts all the same: a pair may move in a way that shows nothing
NO_MOTION = 1e-14  # a way, as part of the smaller body, that tells nothing
# times in a row that points of what moves travel: more may have come to touch beside them, which no error tells before
OFTEN = 16
# Columns: what a manifold was off by for its way, when it was found anew last, that way, and how often it has travelled since.
RATE, KNOWN_WAY, TRAVELS = 13, 14, 15


@lean
def _against(bodies, i, j):
    """(position, rotation, radius) of the smaller body of a pair in the frame of the other one."""
    if bodies.radius[i] < bodies.radius[j]:
        i, j = j, i
    to = load9(bodies.rot, i)
    x = mul_t(to, sub(load3(bodies.x, j), load3(bodies.x, i)))
    return x, matmul(transpose(to), load9(bodies.rot, j)), bodies.radius[j]


@lean
def search_slack(bodies, i, j):
    """How much further than asked for points are looked for, so that none is missed on the way [m]."""
    return 2.0 * WAY * min(bodies.radius[i], bodies.radius[j])


@lean
def _way(bodies, pairs, k, i, j):
    """How far one body of a pair has moved against the other since its manifold was found, by the longest way of a point of the
    smaller one, and the radius of that [m]."""
    x, rot, radius = _against(bodies, i, j)
    moved, turned = norm(sub(x, load3(pairs.seen, k))), 0.0
    for c in range(9):
        d = rot[c] - pairs.seen[k, 3 + c]
        turned += d * d
    return moved + radius * math.sqrt(0.5 * turned), radius


@lean
def _carry(bodies, pairs, n, i, j, margin):
    """Move the known manifold of pair n along with bodies i, j; False where it must be found anew."""
    k = pairs.slot[n]
    if not pairs.seen[k, 12] > 0.0:
        return False
    moved, radius = _way(bodies, pairs, k, i, j)
    if moved > WAY * radius or margin + moved > pairs.seen[k, 12]:
        return False
    if moved > OFF * radius:
        if moved > FURTHER * pairs.seen[k, KNOWN_WAY] or moved * pairs.seen[k, RATE] > OFF * radius:
            return False
        pairs.seen[k, TRAVELS] += 1.0
        if pairs.seen[k, TRAVELS] > OFTEN:
            return False
    xi, ri, xj, rj = load3(bodies.x, i), load9(bodies.rot, i), load3(bodies.x, j), load9(bodies.rot, j)
    normal = _carried_normal(bodies, pairs, k, i, j)
    for s in range(pairs.seen_points[k]):
        m, row = pairs.anchors[k, s], pairs.rows[n, s]
        a = add(xi, mul(ri, (m[0], m[1], m[2])))
        b = add(xj, mul(rj, (m[3], m[4], m[5])))
        along, across = mul(ri, (m[6], m[7], m[8])), mul(rj, (m[9], m[10], m[11]))
        for r in range(3):
            row[r] = 0.5 * (a[r] + b[r])
            row[4 + r], row[9 + r] = along[r], across[r]
        row[3] = dot(normal, sub(b, a))
        row[7], row[8], row[12], row[13] = m[12], m[13], m[14], m[15]
        pairs.ids[n, s] = pairs.seen_ids[k, s]
    pairs.points[n] = pairs.seen_points[k]
    store3(pairs.normal, n, normal)
    store3(pairs.axis, n, normal)
    return True


@lean
def _carried_normal(bodies, pairs, k, i, j):
    """The normal goes along with the larger body."""
    return mul(load9(bodies.rot, i if bodies.radius[i] >= bodies.radius[j] else j), load3(pairs.seen_normal, k))


@lean
def _measure(bodies, pairs, n, k, i, j):
    """Note how far the points that were known of pair n would have been off where they were found anew: the deepest, and each
    that is there again."""
    moved, radius = _way(bodies, pairs, k, i, j)
    if not pairs.seen[k, 12] > 0.0 or (pairs.points[n] > 0) != (pairs.seen_points[k] > 0):
        pairs.seen[k, RATE], pairs.seen[k, KNOWN_WAY] = 1.0, 0.0
        return
    if moved < NO_MOTION * radius:
        return
    xi, ri, xj, rj = load3(bodies.x, i), load9(bodies.rot, i), load3(bodies.x, j), load9(bodies.rot, j)
    normal, off, deep, deepest = _carried_normal(bodies, pairs, k, i, j), 0.0, math.inf, math.inf
    for s in range(pairs.points[n]):
        deepest = min(deepest, pairs.rows[n, s, 3])
    for s in range(pairs.seen_points[k]):
        m = pairs.anchors[k, s]
        gap = dot(normal, sub(add(xj, mul(rj, (m[3], m[4], m[5]))), add(xi, mul(ri, (m[0], m[1], m[2])))))
        deep = min(deep, gap)
        for at in range(pairs.points[n]):
            if pairs.ids[n, at] == pairs.seen_ids[k, s]:
                off = max(off, _error(gap, pairs.rows[n, at, 3]))
    if pairs.points[n] > 0:
        off = max(off, _error(deep, deepest))
    pairs.seen[k, RATE], pairs.seen[k, KNOWN_WAY] = max(off / moved, FORGOTTEN * pairs.seen[k, RATE]), moved


@lean
def _error(carried, found):
    return abs(carried - found) - OPEN * max(found, 0.0)


@lean
def _remember_manifold(bodies, pairs, n, i, j, margin):
    """Keep the manifold of pair n, which was looked for out to ``margin``, for `carry`."""
    k = pairs.slot[n]
    _measure(bodies, pairs, n, k, i, j)
    x, rot, _ = _against(bodies, i, j)
    for r in range(3):
        pairs.seen[k, r] = x[r]
    for c in range(9):
        pairs.seen[k, 3 + c] = rot[c]
    pairs.seen[k, 12], pairs.seen[k, TRAVELS] = margin, 0.0
    pairs.seen_points[k] = pairs.points[n]
    if pairs.points[n] == 0:
        return
    normal = load3(pairs.normal, n)
    xi, ri, xj, rj = load3(bodies.x, i), load9(bodies.rot, i), load3(bodies.x, j), load9(bodies.rot, j)
    store3(pairs.seen_normal, k, mul_t(ri if bodies.radius[i] >= bodies.radius[j] else rj, normal))
    for s in range(pairs.points[n]):
        m, row = pairs.anchors[k, s], pairs.rows[n, s]
        point, half = (row[0], row[1], row[2]), scale(0.5 * row[3], normal)
        a, b = mul_t(ri, sub(sub(point, half), xi)), mul_t(rj, sub(add(point, half), xj))
        along, across = mul_t(ri, (row[4], row[5], row[6])), mul_t(rj, (row[9], row[10], row[11]))
        for r in range(3):
            m[r], m[3 + r], m[6 + r], m[9 + r] = a[r], b[r], along[r], across[r]
        m[12], m[13], m[14], m[15] = row[7], row[8], row[12], row[13]
        pairs.seen_ids[k, s] = pairs.ids[n, s]


_EXAMPLES = EXAMPLE.bodies, EXAMPLE.pairs, 0, 0, 0, 0.0
carry = far(_carry, lambda: _EXAMPLES, returns=False)
remember_manifold = far(_remember_manifold, lambda: _EXAMPLES, returns=None)
