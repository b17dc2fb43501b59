"""Contact points of two bodies of which one is round at least: where the features that face each other overlap.

Seen along the normal a feature is a point, a segment, a polygon or a disc. The contact points are the corners of the
overlap: corners of one inside the other, and crossings of their outlines. Each has its own gap, the distance of the two
features along the normal there, so features may be askew. A rim is represented by eight points. Where the body stands on
all of the rim they are fixed; otherwise they are its lowest point and seven that go round with it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tumble.collision.contact.features import (
    ACROSS,
    ALONG,
    BESIDE,
    DIR,
    DISC,
    FEATURE_COLUMNS,
    LOWEST,
    ONE_POINT,
    POLYGON,
    RIM_POINTS,
    SEGMENT,
    bend_at,
    corner_capacity,
    facing,
    side_bend,
)
from tumble.collision.contact.manifold import choose_points, put
from tumble.collision.distance.clip import GAP, NAME, OUT
from tumble.collision.distance.result import touching_limit
from tumble.collision.geometry import SHARP, empty_geometry
from tumble.collision.kernels.jit import far, inner, lean, remote
from tumble.collision.linalg import IDENTITY, ZERO, add, at, axpy, cross, dot, mul_t, neg, norm, orthonormal, scale, set_at, sub
from tumble.collision.shapes.support_functions import is_revolved
from tumble.collision.shapes.support_points import EPS, inflation

SHARED_STRETCH = 0.05  # [rad] lines that cross at a smaller angle share a stretch
ASKEW = 1e-4  # of a radius: how far a crossing of two rims may be off
BY_OTHERS = 1e-3  # of the smaller body: a point beside the lowest of a rim that is this near to another one is left out
RIMS, PASSED, CROSSED = 5, 6, 7  # in names of candidates, from bit 56: two rims cross; a line passes a polygon, an edge a rim
CORNER_BIT = 1 << 27  # in the names of those of a line: it passes a corner of the polygon
WHOSE = 1 << 55  # in the names of candidates: a corner of B
ROW_A, ROW_B = 10, 15  # columns of a candidate's curvatures: direction, along, across


class Side(NamedTuple):
    """What one of two bodies shows to the other; see `facing`."""

    shape: int  # row of the geometry
    x: tuple  # position [m]
    r: tuple  # rotation
    form: int
    corners: np.ndarray  # (m, FEATURE_COLUMNS)
    names: np.ndarray  # (m,)
    count: int  # corners
    normal: tuple  # of a POLYGON or a DISC, on which normal . x = offset
    offset: float


class Candidates(NamedTuple):
    """Candidates for contact points, and what they must keep to."""

    found: np.ndarray  # (n, 20)
    tags: np.ndarray  # (n, 5)
    limit: float  # the largest gap [m]
    snap: float  # those that are nearer to each other are one [m]


@inner
def side_of(g, s, x, r, n, limit):
    """What shape s at (x, r) shows along n."""
    corners, names = np.empty((corner_capacity(g, s), FEATURE_COLUMNS)), np.empty(corner_capacity(g, s), np.int64)
    form, count, normal, offset = facing(g, s, x, r, n, limit, corners, names)
    return Side(s, x, r, form, corners, names, count, normal, offset)


@lean
def keep(points, count, pa, pb, gap, name):
    """Make room for a candidate, unless it is too far away or stands there already: (count, row to fill, or -1 for none)."""
    found, tags, limit, snap = points
    if gap > limit or count == found.shape[0]:
        return count, -1
    middle = scale(0.5, add(pa, pb))
    for j in range(count):
        if norm(sub(at(found, j, OUT), middle)) <= snap:
            return count, -1
    set_at(found, count, OUT, middle)
    found[count, GAP] = gap
    tags[count, NAME] = name
    return count + 1, count


@lean
def put_bend(found, k, column, e, along, across):
    if k >= 0:
        set_at(found, k, column, e)
        found[k, column + 3] = along
        found[k, column + 4] = across


@lean
def put_corner_bend(found, k, column, work, i):
    put_bend(found, k, column, at(work, i, DIR), work[i, ALONG], work[i, ACROSS])


@lean
def drop(x, n, m, offset):
    """x moved along n to the plane m . x = offset."""
    return axpy((offset - dot(m, x)) / dot(m, n), n, x)


@lean
def in_polygon(work, count, m, y, slack):
    """Is y inside the polygon of corners counter-clockwise about m?"""
    for i in range(count):
        u = at(work, i, 0)
        side = cross(sub(at(work, (i + 1) % count, 0), u), m)
        if dot(side, sub(y, u)) > slack * norm(side):
            return False
    return True


@lean
def disc(g, side):
    """Centre and radius of the base that a side shows."""
    return axpy(g.size[side.shape, 1], side.normal, side.x), g.size[side.shape, 0]


@lean
def inside(g, side, y, slack):
    """Is y on the flat that a side shows?"""
    if side.form == DISC:
        center, radius = disc(g, side)
        return norm(sub(y, center)) <= radius + slack
    return in_polygon(side.corners, side.count, side.normal, y, slack)


@lean
def corners_inside(g, own, n, side, other, slack, points, kept):
    """Corners of one feature (body ``own``: 0 for A) over the flat of the other."""
    flat, _ = orthonormal(n)
    for i in range(side.count):
        c = at(side.corners, i, 0)
        y = drop(c, n, other.normal, other.offset)
        if inside(g, other, y, slack):
            gap = dot(n, sub(y, c)) if own == 0 else dot(n, sub(c, y))
            kept, k = keep(points, kept, c, y, gap, own * WHOSE | side.names[i])
            put_corner_bend(points.found, k, ROW_A if own == 0 else ROW_B, side.corners, i)
            put_bend(points.found, k, ROW_B if own == 0 else ROW_A, flat, 0.0, 0.0)
    return kept


@lean
def crossing(own, n, u, v, f, other, bend_u, bend_y, name, points, kept):
    """The point at part f of the edge u-v of body ``own`` and under it on the other's flat, with the curvatures of both."""
    c = axpy(f, sub(v, u), u)
    y = drop(c, n, other.normal, other.offset)
    gap = dot(n, sub(y, c)) if own == 0 else dot(n, sub(c, y))
    kept, k = keep(points, kept, c, y, gap, name)
    put_bend(points.found, k, ROW_A if own == 0 else ROW_B, bend_u[0], bend_u[1], bend_u[2])
    put_bend(points.found, k, ROW_B if own == 0 else ROW_A, bend_y[0], bend_y[1], bend_y[2])
    return kept


@lean
def edge_bend(g, side, u, v):
    """Curvature along the edge u-v of a feature."""
    if side.form == SEGMENT:
        return side_bend(g, side.shape, side.r, side.x, scale(0.5, add(u, v)))
    e = sub(v, u)
    return scale(1.0 / norm(e), e), 0.0, SHARP


@lean
def edges_over_circle(g, own, n, side, other, points, kept):
    """Where the edges of a feature pass the rim of a base."""
    center, radius = disc(g, other)
    m, offset, count = other.normal, other.offset, side.count
    for i in range(count if side.form == POLYGON else 1):
        u, v = at(side.corners, i, 0), at(side.corners, (i + 1) % count, 0)
        y = sub(drop(u, n, m, offset), center)
        e = sub(drop(v, n, m, offset), add(y, center))
        ee, ey = dot(e, e), dot(e, y)
        under = ey * ey - ee * (dot(y, y) - radius * radius)
        if ee <= 0.0 or under <= 0.0:
            continue
        root = math.sqrt(under)
        for k in range(2):
            f = ((root if k == 1 else -root) - ey) / ee
            if 0.0 < f < 1.0:
                at_rim = axpy(f, e, y)
                tangent = cross(m, scale(1.0 / radius, at_rim))
                name = CROSSED << 56 | own << 55 | i << 8 | k
                bend = edge_bend(g, side, u, v)
                kept = crossing(own, n, u, v, f, other, bend, (tangent, 0.0, SHARP), name, points, kept)
    return kept


@lean
def line_over_polygon(g, own, n, side, other, slack, points, kept):
    """Where the line of one body passes the edges of the other's polygon; at a corner of it under the name of the corner."""
    u, v = at(side.corners, 0, 0), at(side.corners, 1, 0)
    m, offset, corners, count = other.normal, other.offset, other.corners, other.count
    y, z = drop(u, n, m, offset), drop(v, n, m, offset)
    low, high, i_low, i_high = 0.0, 1.0, -1, -1
    for i in range(count):
        c = at(corners, i, 0)
        out = cross(sub(at(corners, (i + 1) % count, 0), c), m)
        length = norm(out)
        if length == 0.0:
            continue
        dy, dz = dot(out, sub(y, c)) / length, dot(out, sub(z, c)) / length
        if dy <= slack and dz <= slack:
            continue
        if dy > slack and dz > slack:
            return kept
        f = min(max(dy / (dy - dz), 0.0), 1.0)
        if dy > slack:
            if f > low:
                low, i_low = f, i
        elif f < high:
            high, i_high = f, i
    if low > high:
        return kept
    for k in range(2):
        i = i_low if k == 0 else i_high
        if i >= 0:
            j = (i + 1) % count
            e = sub(at(corners, j, 0), at(corners, i, 0))
            f = low if k == 0 else high
            c = axpy(f, sub(v, u), u)
            bend_u = side_bend(g, side.shape, side.r, side.x, c)
            name, along = i << 8 | k, 0.0
            foot = drop(c, n, m, offset)
            for corner in (i, j):  # the line of a side passes the corner that it touches with: either edge will do
                if norm(sub(foot, at(corners, corner, 0))) <= points.snap:
                    name, along = CORNER_BIT | other.names[corner], SHARP
            name |= PASSED << 56 | own << 55
            bend_y = scale(1.0 / norm(e), e), along, SHARP
            kept = crossing(own, n, u, v, f, other, bend_u, bend_y, name, points, kept)
    return kept


@lean
def rims_crossing(g, n, side_a, side_b, points, kept):
    """Where the rims of two bases cross."""
    ca, rad_a = disc(g, side_a)
    cb, rad_b = disc(g, side_b)
    ma, mb = side_a.normal, side_b.normal
    y = sub(drop(ca, n, mb, dot(mb, cb)), cb)
    d = norm(y)
    if d == 0.0 or d >= rad_a + rad_b or d <= abs(rad_a - rad_b):
        return kept
    e = scale(1.0 / d, y)
    f = cross(mb, e)
    along = 0.5 * (d * d + rad_b * rad_b - rad_a * rad_a) / d
    height = math.sqrt(max(rad_b * rad_b - along * along, 0.0))
    for k in range(2):
        out = add(scale(along, e), scale(height if k == 1 else -height, f))
        pb = add(cb, out)
        pa = drop(pb, n, ma, side_a.offset)
        if norm(sub(pa, ca)) > rad_a * (1.0 + ASKEW):
            continue  # the rims are circles along the normal only where they are hardly askew
        kept, row = keep(points, kept, pa, pb, dot(n, sub(pb, pa)), RIMS << 56 | k)
        ta = cross(ma, scale(1.0 / rad_a, sub(pa, ca)))
        tb = cross(mb, scale(1.0 / rad_b, out))
        put_bend(points.found, row, ROW_A, scale(1.0 / max(norm(ta), 1e-300), ta), 0.0, SHARP)
        put_bend(points.found, row, ROW_B, scale(1.0 / max(norm(tb), 1e-300), tb), 0.0, SHARP)
    return kept


@lean
def lines_shared(g, own, n, side, other, bend, points, kept):
    """Ends of the line of one body over the nearly parallel line of the other.

    ``bend``: the curvature of both sides together across the lines, by which the gap opens beside them.
    """
    u = at(other.corners, 0, 0)
    e = sub(at(other.corners, 1, 0), u)
    flat = axpy(-dot(n, e), n, e)
    for i in range(2):
        c = at(side.corners, i, 0)
        f = dot(flat, sub(c, u)) / dot(flat, flat)
        if -1e-7 <= f <= 1.0 + 1e-7:
            y = axpy(f, e, u)
            z = sub(y, c)
            rise = dot(n, z)
            beside = axpy(-rise, n, z)
            gap = (rise if own == 0 else -rise) + 0.5 * bend * dot(beside, beside)
            kept, k = keep(points, kept, c, y, gap, 8 << 56 | own << 55 | side.names[i])
            put_corner_bend(points.found, k, ROW_A if own == 0 else ROW_B, side.corners, i)
            d, along, across = side_bend(g, other.shape, other.r, other.x, y)
            put_bend(points.found, k, ROW_B if own == 0 else ROW_A, d, along, across)
    return kept


@inner
def overlap_points(g, a, ra, b, x, rb, n, limit, size, found, tags):
    """Candidates of the facing features of a, at the origin, and of b at x: their number."""
    # the features of skins are those of the cores, moved along n
    one = side_of(g, a, scale(g.skin[a], n), ra, n, limit)
    two = side_of(g, b, axpy(-g.skin[b], n, x), rb, neg(n), limit)
    if one.form == ONE_POINT or two.form == ONE_POINT:
        return 0
    thin = min(g.radius[a], g.radius[b])
    slack = 1e-7 * thin + 4.0 * EPS * size
    points = Candidates(found, tags, limit, 1e-6 * thin)
    kept, ways = 0, ((0, one, two), (1, two, one))
    for own, side, other in ways:
        if other.form >= POLYGON:
            kept = corners_inside(g, own, n, side, other, slack, points, kept)
    for own, side, other in ways:
        if side.form == SEGMENT and other.form == POLYGON:
            kept = line_over_polygon(g, own, n, side, other, slack, points, kept)
        elif side.form <= POLYGON and other.form == DISC:
            kept = edges_over_circle(g, own, n, side, other, points, kept)
    if one.form == DISC and two.form == DISC:
        kept = rims_crossing(g, n, one, two, points, kept)
    elif one.form == SEGMENT and two.form == SEGMENT:
        pa, qa, pb, qb = at(one.corners, 0, 0), at(one.corners, 1, 0), at(two.corners, 0, 0), at(two.corners, 1, 0)
        ea, eb = sub(qa, pa), sub(qb, pb)
        fa, fb = axpy(-dot(n, ea), n, ea), axpy(-dot(n, eb), n, eb)
        product = norm(fa) * norm(fb)
        if product > 1e-6 * norm(ea) * norm(eb) and norm(cross(fa, fb)) <= SHARED_STRETCH * product:
            _, _, ka = edge_bend(g, one, pa, qa)
            _, _, kb = edge_bend(g, two, pb, qb)
            bend = ka * (kb / (ka + kb))
            for own, side, other in ways:
                kept = lines_shared(g, own, n, side, other, bend, points, kept)
    if (one.form == DISC and one.names[0] >= LOWEST) or (two.form == DISC and two.names[0] >= LOWEST):
        kept = lone(g, a, b, found, tags, kept, BY_OTHERS * thin)
    return kept


@lean
def rim_name(g, a, b, name):
    """The name that a corner of a cylinder or a cone has among its body's; -1 for other candidates."""
    return name & ~WHOSE if is_revolved(g.kind[b if name & WHOSE else a]) and name >> 56 == 0 else -1


@lean
def goes_round(name):
    """Is a name that of a point beside the lowest of its rim?"""
    return BESIDE <= name < BESIDE + 2 * RIM_POINTS


@lean
def lone(g, a, b, found, tags, count, reach):
    """Leave out points of a rim where another candidate is as good: how many candidates remain.

    The points of a rim that go round with its lowest one come past corners and crossings, and would stand beside them.
    """
    kept = 0
    for i in range(count):
        follows = goes_round(rim_name(g, a, b, tags[i, NAME]))
        crosses = tags[i, NAME] >> 56 == CROSSED or tags[i, NAME] >> 56 == RIMS
        passed = False
        for j in range(count if follows or crosses else 0):
            other = rim_name(g, a, b, tags[j, NAME])
            better = not goes_round(other) or j < i if follows else other == LOWEST or other == LOWEST + 1
            passed = passed or (j != i and better and norm(sub(at(found, i, OUT), at(found, j, OUT))) <= reach)
        tags[i, 0] = 0 if passed else 1
    for i in range(count):
        if tags[i, 0] == 1:
            for c in range(found.shape[1]):
                found[kept, c] = found[i, c]
            tags[kept, NAME] = tags[i, NAME]
            kept += 1
    return kept


@inner
def contact_points(g, a, xa, ra, b, xb, rb, n, p, q, low, margin, size, rows, ids):
    """Rows for the contact of a and b with the normal n and the witness points p, q relative to xa; their number."""
    thin = min(g.radius[a], g.radius[b])
    limit = touching_limit(g, a, b, margin, size)
    cap = 3 * (corner_capacity(g, a) + corner_capacity(g, b)) + 2 * RIM_POINTS
    found = np.empty((cap, 20))
    tags = np.empty((cap, 5), np.int64)
    count = overlap_points(g, a, ra, b, sub(xb, xa), rb, n, limit, size, found, tags)
    least = math.inf
    for k in range(count):
        least = min(least, found[k, GAP])
    only = rim_name(g, a, b, tags[0, NAME]) if count == 1 else -1
    if (count < 2 and only != LOWEST and only != LOWEST + 1) or least > low + 1e-6 * thin + 8.0 * EPS * size:
        ea, along_a, across_a, name_a = bend_at(g, a, ra, mul_t(ra, n), mul_t(ra, axpy(-inflation(g, a), n, p)))
        core_b = sub(axpy(inflation(g, b), n, q), sub(xb, xa))
        eb, along_b, across_b, name_b = bend_at(g, b, rb, mul_t(rb, neg(n)), mul_t(rb, core_b))
        middle = add(xa, scale(0.5, add(p, q)))
        put(rows, ids, 0, middle, low, ea, along_a, across_a, eb, along_b, across_b, 9 << 56 | name_a << 28 | name_b)
        return 1
    kept = choose_points(found, tags, count, len(ids))
    for k in range(kept):
        i = tags[k, 0]
        put(
            rows, ids, k, add(xa, at(found, i, OUT)), found[i, GAP], at(found, i, ROW_A), found[i, ROW_A + 3],
            found[i, ROW_A + 4], at(found, i, ROW_B), found[i, ROW_B + 3], found[i, ROW_B + 4], tags[i, NAME],
        )  # fmt: skip
    return kept


@remote
def _put_contact(g, a, xa, ra, b, xb, rb, n, p, q, low, margin, size, rows, ids):
    return contact_points(g, a, xa, ra, b, xb, rb, n, p, q, low, margin, size, rows, ids)


put_contact = far(
    _put_contact,
    lambda: (
        empty_geometry(), 0, ZERO, IDENTITY, 0, ZERO, IDENTITY, ZERO, ZERO, ZERO, 0.0, 0.0, 0.0, np.zeros((8, 14)),
        np.zeros(8, np.int64),
    ),
    returns=0,
)  # fmt: skip


@inner
def put_on_plane(g, b, xa, x, rb, n, offset, limit, rows, ids):
    """Rows for a round shape b at x from xa over the plane n . y = offset of A: (count, least height)."""
    work, names = np.empty((RIM_POINTS, FEATURE_COLUMNS)), np.empty(RIM_POINTS, np.int64)
    _, corners, _, _ = facing(g, b, axpy(-g.skin[b], n, x), rb, neg(n), limit, work, names)
    flat, _ = orthonormal(n)
    count, lowest = 0, math.inf
    for k in range(corners):
        c = at(work, k, 0)
        height = dot(n, c) - offset
        lowest = min(lowest, height)
        if height <= limit:
            middle = add(xa, axpy(-0.5 * height, n, c))
            put(rows, ids, count, middle, height, flat, 0.0, 0.0, at(work, k, DIR), work[k, ALONG], work[k, ACROSS], names[k])
            count += 1
    return count, lowest
