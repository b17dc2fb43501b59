"""Ground in a step: the triangles that moving pieces may reach are at hand as facets, pieces like others.

A static body with a ground has a row of pieces that stands for all of it, its carrier, and rows for facets behind those of all
bodies. Before each drift the boxes of what moves are looked up in the ground, and facets become the triangles that were found;
those that nothing is near any more are idle, and have no box. Broad phase, impacts and contacts know pieces only.

A piece whose box meets nothing of the ground but one plane face, and no border of it, is level: for it a facet becomes the
half-space under that face, and it meets no other facet of this ground. So it costs what it costs on a half-space.

Where facets run out the step is undone, and taken again with more of them.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.contact.facets import corners_of, is_plane, near_triangles, set_facet, set_plane
from tumble.collision.geometry import HELD, empty_geometry
from tumble.collision.ground.nearby import apart_from, plane_near
from tumble.collision.kernels.jit import FOR_KERNELS, far, inner, kernel, lean
from tumble.collision.linalg import (
    add,
    axpy,
    dot,
    load3,
    load4,
    load9,
    matmul,
    mul,
    mul_t,
    reach_t,
    rotation,
    scale,
    store3,
    sub,
    transpose,
)
from tumble.sim.contact.ground.faces import is_facet_row
from tumble.sim.contact.touching.swept_pairs import swept_box, swept_way
from tumble.sim.flight.motion import frame_pose
from tumble.sim.sorted_lists import sort_list
from tumble.sim.state import CARRIER, EXAMPLE, FACET_LEFT, IDLE, OK, PAIRS_FULL, PIECE, PLANE


@lean
def _meets(geoms, k, carrier):
    """Masks let piece k meet the ground, and it moves."""
    if geoms.face[k] != PIECE or not geoms.mobile[k] or geoms.moves[k] == 0:
        return False
    return (geoms.groups[k] & geoms.mask[carrier]) != 0 and (geoms.groups[carrier] & geoms.mask[k]) != 0


@lean
def _placed(bodies, geoms, k, carrier):
    """Pose of piece k, at the start of its flight, in the frame of a ground."""
    i, body = geoms.body[k], geoms.body[carrier]
    x, rot = frame_pose(load3(bodies.x0, i), rotation(load4(bodies.q0, i)), load3(geoms.x, k), load9(geoms.rot, k))
    turn = load9(bodies.rot, body)
    return sub(mul_t(turn, sub(x, load3(bodies.x, body))), load3(geoms.x, carrier)), matmul(transpose(turn), rot)


@lean
def _level_code(g, s, shape, x, rot, lo, hi):
    """What a facet is to be that is all a piece has within reach of ground s, PLANE or below; 0: there is no such plane.

    Of a surface with one side a piece must be on that side, as it is not where it is deep inside.
    """
    plane = plane_near(g, s, lo, hi)
    if plane < 0:
        return 0
    row = g.plane[s, 0] + plane
    below = dot(load3(g.planes, row), add(x, mul(rot, load3(g.center, shape)))) < g.planes[row, 3]
    if below and g.ground[s, 1] != 2:
        return 0
    return PLANE - 2 * plane - (1 if below else 0)


@inner
def _wanted(bodies, geoms, geometry, carrier, touched, more, dt, codes):
    """What facets of a ground are wanted for what moves near it: triangles, and planes for the pieces that are level, sorted.

    ``codes`` then tells the plane of each such piece."""
    body, s = geoms.body[carrier], geoms.shape[carrier]
    x, rot = load3(bodies.x, body), load9(bodies.rot, body)
    origin = load3(geoms.x, carrier)
    found, count = np.empty(64, np.int64), 0
    for k in range(len(geoms.body)):
        if not (touched[geoms.body[k]] and _meets(geoms, k, carrier)):
            continue
        lo, hi = load3(geoms.lo, k), load3(geoms.hi, k)
        middle = sub(mul_t(rot, sub(scale(0.5, add(lo, hi)), x)), origin)
        # the box in the frame of the ground, with room for rounding
        reach = reach_t(rot, scale(0.5, sub(hi, lo)))
        reach = axpy(1e-9, (abs(middle[0]) + reach[0], abs(middle[1]) + reach[1], abs(middle[2]) + reach[2]), reach)
        lo, hi = sub(middle, reach), add(middle, reach)
        at, turned = _placed(bodies, geoms, k, carrier)
        code, known = 0, geoms.level[k]
        if codes[k] == 0 and (not more or (known >= 0 and geoms.body[known] == body)):
            code = _level_code(geometry, s, geoms.shape[k], at, turned, lo, hi)
            if more and code != geoms.face[known]:
                code = 0
        if code != 0:
            codes[k] = code
            if count == len(found):
                found = _longer(found, 2 * count)
            found[count] = code
            count += 1
            continue
        total = near_triangles(geometry, s, lo, hi, found, count)
        if total > len(found):
            found = _longer(found, 2 * total)
            total = near_triangles(geometry, s, lo, hi, found, count)
        fat, way = swept_way(bodies, geoms.body[k], dt, dt)
        way = mul_t(rot, way)
        for n in range(count, total):
            t = found[n]
            a, b, c = corners_of(geometry, s, t)
            room = fat + 1e-9 * (abs(at[0]) + abs(at[1]) + abs(at[2]) + geometry.radius[geoms.shape[k]])
            if not apart_from(geometry, geoms.shape[k], at, turned, a, b, c, room, way):
                found[count] = t
                count += 1
    sort_list(found, count)
    kept = 0
    for k in range(count):
        if k == 0 or found[k] != found[kept - 1]:
            found[kept] = found[k]
            kept += 1
    return found[:kept]


@inner
def _longer(found, room):
    """The same list with room for so many."""
    longer = np.empty(room, np.int64)
    longer[: len(found)] = found
    return longer


@lean
def _refresh(geoms, geometry, k, carrier):
    """The tables of facet k are those of its triangle, or of its plane."""
    s, code = geoms.shape[carrier], geoms.face[k]
    if code >= 0:
        if geometry.facets[geometry.facet[geoms.shape[k], 0], HELD] != code:
            a = set_facet(geometry, geoms.shape[k], s, code)
            store3(geoms.x, k, add(load3(geoms.x, carrier), a))
        return
    plane, side = (PLANE - code) // 2, (PLANE - code) % 2
    if not is_plane(geometry, geoms.shape[k], s, plane, side):
        set_plane(geometry, geoms.shape[k], s, plane, side)
    store3(geoms.x, k, load3(geoms.x, carrier))


@lean
def _no_box(geoms, k):
    """Piece k has no box."""
    for c in range(3):
        geoms.lo[k, c], geoms.hi[k, c] = math.inf, -math.inf


@kernel(**FOR_KERNELS)
def _bring(bodies, geoms, geometry, touched, dt, more):
    """Have facets at hand for all triangles and planes that pieces of the bodies ``touched`` may reach, with their boxes.

    (OK, or PAIRS_FULL where there are too few facets; whether other pairs than before may meet). ``more``: others stay, as in the
    middle of a drift, when pairs know them. A facet that was left is not taken again at once, so that nothing that was known of
    it is taken for what is known of another.
    """
    result, changed = OK, False
    codes, levels = np.zeros(len(geoms.body), np.int64), np.full(len(geoms.body), -1)
    for carrier in range(len(geoms.body)):
        if geoms.face[carrier] != CARRIER:
            continue
        body = geoms.body[carrier]
        wanted = _wanted(bodies, geoms, geometry, carrier, touched, more, dt, codes)
        row = np.full(len(wanted), -1)
        lacking, spare = len(wanted), 0
        for k in range(carrier + 1, len(geoms.body)):
            t = geoms.face[k]
            if geoms.body[k] != body or t == CARRIER:
                continue
            if is_facet_row(geoms, k):
                at = np.searchsorted(wanted, t)
                if at < len(wanted) and wanted[at] == t:
                    row[at] = k
                    lacking -= 1
                elif not more:
                    geoms.face[k] = FACET_LEFT
                    _no_box(geoms, k)
                    continue
                _refresh(geoms, geometry, k, carrier)
            elif t == IDLE:
                spare += 1
        geoms.short[carrier] = max(0, lacking - spare)
        if lacking > spare:
            result = PAIRS_FULL
            continue
        k = carrier
        for at in range(len(wanted)):
            if row[at] >= 0:
                continue
            k += 1
            while geoms.body[k] != body or geoms.face[k] != IDLE:
                k += 1
            row[at] = k
            geoms.face[k] = wanted[at]
            _refresh(geoms, geometry, k, carrier)
            changed = True
        for k in range(len(geoms.body)):
            if result == OK and codes[k] != 0 and levels[k] < 0:
                levels[k] = row[np.searchsorted(wanted, codes[k])]
    if result != OK:
        return result, changed
    _put_boxes(bodies, geoms, geometry, dt, more)
    for k in range(len(geoms.body)):
        if geoms.face[k] != PIECE or not touched[geoms.body[k]]:
            continue
        changed = changed or geoms.level[k] != levels[k]
        geoms.level[k] = levels[k]
        if levels[k] >= 0:
            for c in range(3):
                geoms.lo[levels[k], c] = min(geoms.lo[levels[k], c], geoms.lo[k, c])
                geoms.hi[levels[k], c] = max(geoms.hi[levels[k], c], geoms.hi[k, c])
    return OK, changed


@lean
def _put_boxes(bodies, geoms, geometry, dt, more):
    """Boxes of facets: those of triangles, none around what is idle. That of a plane grows around the pieces that are level."""
    for k in range(len(geoms.body)):
        if geoms.face[k] >= 0:
            lo, hi = swept_box(bodies, geoms, geometry, k, dt, dt)
            store3(geoms.lo, k, lo)
            store3(geoms.hi, k, hi)
        elif geoms.face[k] == FACET_LEFT and not more:
            geoms.face[k] = IDLE
        elif geoms.face[k] <= PLANE and not more:
            _no_box(geoms, k)


@lean
def has_ground(geometry):
    """Whether any of the shapes is a ground."""
    return len(geometry.facets) > 0 or len(geometry.triangles) > 0 or len(geometry.heights) > 0


bring_facets = far(
    _bring, lambda: (EXAMPLE.bodies, EXAMPLE.geoms, empty_geometry(), np.zeros(0, np.bool_), 0.0, False), returns=(0, False)
)
