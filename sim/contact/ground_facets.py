"""Ground in a step: the triangles that moving pieces may reach are at hand as facets, pieces like others.

A static body with a ground has a row of pieces that stands for all of it, its carrier, and rows for facets behind those of all
bodies. Before each drift the boxes of what moves are looked up in the ground, and facets become the triangles that were found;
those that nothing is near any more are idle, and lie where no box meets them. Broad phase, impacts and contacts know pieces only.
Where facets run out the step is undone, and taken again with more of them.
"""

from __future__ import annotations

import numpy as np

from collision.bounds import aabb
from collision.contact.facets import near_triangles, set_facet
from collision.geometry import HELD, empty_geometry
from collision.kernels.jit import FOR_KERNELS, far, inner, kernel, lean
from collision.linalg import add, axpy, load3, load9, mul_t, scale, store3, sub
from sim.flight.motion import geom_pose
from sim.state import CARRIER, EXAMPLE, IDLE, LEFT, OK, PAIRS_FULL, PIECE

NOWHERE = 1e300  # where the boxes of idle facets lie


@lean
def off(geoms, k):
    """Whether piece k is none that touches anything."""
    return geoms.face[k] < PIECE


@lean
def _refresh(geoms, geometry, k, carrier):
    """The tables of facet k are those of its triangle."""
    a = set_facet(geometry, geoms.shape[k], geoms.shape[carrier], geoms.face[k])
    store3(geoms.x, k, add(load3(geoms.x, carrier), a))


@lean
def _meets(geoms, k, carrier):
    """Masks let piece k meet the ground, and it moves."""
    if geoms.face[k] != PIECE or not geoms.mobile[k] or geoms.moves[k] == 0:
        return False
    return (geoms.groups[k] & geoms.mask[carrier]) != 0 and (geoms.groups[carrier] & geoms.mask[k]) != 0


@inner
def _wanted(bodies, geoms, geometry, carrier):
    """Triangles of a ground near the boxes of what moves: sorted, each once."""
    body, s = geoms.body[carrier], geoms.shape[carrier]
    x, rot = load3(bodies.x, body), load9(bodies.rot, body)
    origin = load3(geoms.x, carrier)
    found, count = np.empty(64, np.int64), 0
    for k in range(len(geoms.body)):
        if not _meets(geoms, k, carrier):
            continue
        lo, hi = load3(geoms.lo, k), load3(geoms.hi, k)
        middle = sub(mul_t(rot, sub(scale(0.5, add(lo, hi)), x)), origin)
        half = scale(0.5, sub(hi, lo))
        # the box in the frame of the ground, with room for rounding
        reach = (
            abs(rot[0]) * half[0] + abs(rot[3]) * half[1] + abs(rot[6]) * half[2],
            abs(rot[1]) * half[0] + abs(rot[4]) * half[1] + abs(rot[7]) * half[2],
            abs(rot[2]) * half[0] + abs(rot[5]) * half[1] + abs(rot[8]) * half[2],
        )
        reach = axpy(1e-9, (abs(middle[0]) + reach[0], abs(middle[1]) + reach[1], abs(middle[2]) + reach[2]), reach)
        total = near_triangles(geometry, s, sub(middle, reach), add(middle, reach), found, count)
        if total > len(found):
            longer = np.empty(2 * total, np.int64)
            longer[:count] = found[:count]
            found = longer
            total = near_triangles(geometry, s, sub(middle, reach), add(middle, reach), found, count)
        count = total
    wanted = np.sort(found[:count])
    count = 0
    for k in range(len(wanted)):
        if k == 0 or wanted[k] != wanted[count - 1]:
            wanted[count] = wanted[k]
            count += 1
    return wanted[:count]


@kernel(**FOR_KERNELS)
def _bring(bodies, geoms, geometry, more):
    """Have facets at hand for all triangles that moving pieces may reach: OK, or PAIRS_FULL where there are too few facets.

    ``more``: others stay, as in the middle of a drift, when pairs know them. A facet that was left is not taken again at once, so
    that nothing that was known of it is taken for what is known of another.
    """
    result = OK
    for carrier in range(len(geoms.body)):
        if geoms.face[carrier] != CARRIER:
            continue
        body = geoms.body[carrier]
        wanted = _wanted(bodies, geoms, geometry, carrier)
        there = np.zeros(len(wanted), np.bool_)
        lacking, spare = len(wanted), 0
        for k in range(carrier + 1, len(geoms.body)):
            t = geoms.face[k]
            if geoms.body[k] != body or t == CARRIER:
                continue
            if t >= 0:
                at = np.searchsorted(wanted, t)
                if at < len(wanted) and wanted[at] == t:
                    there[at] = True
                    lacking -= 1
                elif not more:
                    geoms.face[k] = LEFT
                    continue
                if geometry.facets[geometry.facet[geoms.shape[k], 0], HELD] != t:
                    _refresh(geoms, geometry, k, carrier)
            elif t == IDLE:
                spare += 1
        geoms.short[carrier] = max(0, lacking - spare)
        if lacking > spare:
            result = PAIRS_FULL
            continue
        k = carrier
        for at in range(len(wanted)):
            if there[at]:
                continue
            k += 1
            while geoms.body[k] != body or geoms.face[k] != IDLE:
                k += 1
            geoms.face[k] = wanted[at]
            _refresh(geoms, geometry, k, carrier)
    for k in range(len(geoms.body)):
        if geoms.face[k] == LEFT and not more:
            geoms.face[k] = IDLE
    return result


@lean
def place_new(bodies, geoms, geometry):
    """Boxes for the facets that came in the middle of a drift; True where there are any."""
    found = False
    for k in range(len(geoms.body)):
        if geoms.face[k] >= 0 and geoms.lo[k, 0] == NOWHERE:
            x, rot = geom_pose(bodies, geoms, k)
            lo, hi = aabb(geometry, geoms.shape[k], x, rot)
            store3(geoms.lo, k, lo)
            store3(geoms.hi, k, hi)
            found = True
    return found


@lean
def has_ground(geometry):
    return len(geometry.facets) > 0 or len(geometry.triangles) > 0 or len(geometry.heights) > 0


@lean
def same_facets(geoms, b, other):
    """Whether pieces b and other are one, or facets of one ground."""
    return b == other or (geoms.face[b] != PIECE and geoms.face[other] != PIECE and geoms.body[b] == geoms.body[other])


bring_facets = far(_bring, lambda: (EXAMPLE.bodies, EXAMPLE.geoms, empty_geometry(), False))
