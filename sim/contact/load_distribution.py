"""The load of a face that slides, spread by the least norm.

Four and more points of a face bear its load in many ways, of which its three equations (sum and two moments) choose none. As
long as all points slip alike, or stick, that is no matter. Where a face slides and turns, each point's friction goes its own
way and the split moves the body: then the loads are to be those of the least norm, alpha + beta x + gamma y in the plane of the
face, as even as the load lies.
"""

from __future__ import annotations

import numpy as np

from tumble.collision.kernels.jit import inner
from tumble.collision.linalg import dot, load3, load9, sub
from tumble.sim.contact.ground.faces import same_facets
from tumble.sim.state import SLIDING_FRICTION

FEWEST_POINTS = 4  # of so many points of a face, and more, the laws do not tell the loads apart
UNEVEN = 1e-3  # loads that are off their even distribution by less than this part of the largest are left as they are
CONTACT_DISTANCE = 1e-8  # [m] a point that is open by less takes its part of the load
ONE_FACE = 1.0 - 1e-12  # cosine of the angle between facets that are one face


@inner
def spread_loads(geoms, contacts, rows, p):
    """Spread the loads of all sliding faces among the contacts ``rows`` with impulses p; True where that changed any by much."""
    changed = False
    first = 0
    while first < len(rows):
        last = first
        slides = True
        while last < len(rows) and _same_face(geoms, contacts, rows[first], rows[last]):
            bears = p[last, 2] > 0.0 or contacts.gap[rows[last]] < CONTACT_DISTANCE  # one that is open yet may close by this kick
            slides = slides and bears and contacts.slides[rows[last]] == SLIDING_FRICTION
            last += 1
        if slides and last - first >= FEWEST_POINTS:
            changed = _spread(contacts, rows[first:last], p[first:last]) or changed
        first = last
    return changed


@inner
def _same_face(geoms, contacts, k, n):
    """Whether two contacts are of the same pair of pieces, or of one piece with facets of a ground that lie in one plane."""
    if contacts.pair[k, 0] != contacts.pair[n, 0] or not same_facets(geoms, contacts.pair[k, 1], contacts.pair[n, 1]):
        return False
    if contacts.pair[k, 1] == contacts.pair[n, 1]:
        return True
    return dot(load3(contacts.frame[k], 2), load3(contacts.frame[n], 2)) >= ONE_FACE


@inner
def _spread(contacts, rows, p):
    """The loads of one face; True where they were uneven and could be spread, all of them staying positive."""
    n = len(rows)
    e = load9(contacts.frame, rows[0])
    s, t = (e[0], e[1], e[2]), (e[3], e[4], e[5])
    origin = load3(contacts.point, rows[0])
    xy, load = np.empty((n, 2)), np.empty(n)
    mx, my, total, most = 0.0, 0.0, 0.0, 0.0
    for k in range(n):
        r = sub(load3(contacts.point, rows[k]), origin)
        xy[k, 0], xy[k, 1] = dot(r, s), dot(r, t)
        mx, my = mx + xy[k, 0] / n, my + xy[k, 1] / n
        total, most = total + p[k, 2], max(most, p[k, 2])
    xx, xz, zz, fx, fy = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(n):
        x, y = xy[k, 0] - mx, xy[k, 1] - my
        xx, xz, zz = xx + x * x, xz + x * y, zz + y * y
        fx, fy = fx + x * p[k, 2], fy + y * p[k, 2]
    det = xx * zz - xz * xz
    if det <= 1e-9 * ((xx + zz) * (xx + zz)):  # points in a line
        return False
    bx, by = (zz * fx - xz * fy) / det, (xx * fy - xz * fx) / det
    off, least = 0.0, total
    for k in range(n):
        load[k] = total / n + bx * (xy[k, 0] - mx) + by * (xy[k, 1] - my)
        off, least = max(off, abs(load[k] - p[k, 2])), min(least, load[k])
    if least < 0.0 or off <= UNEVEN * most:
        return False
    for k in range(n):
        f = load[k] / p[k, 2] if p[k, 2] > 0.0 else 0.0
        p[k, 0], p[k, 1], p[k, 2] = f * p[k, 0], f * p[k, 1], load[k]
    return True
