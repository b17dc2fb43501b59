"""Where a polytope lies across an edge or over a corner of a facet, along the normals that the surface has there.

The shortest way out of a facet that is a body of its own is the least depth over all normals. On a ridge that is all but flat
many normals are almost as good, and the one that is taken may be one that the surface does not allow, though the body lies on it.
So the least depth is asked for among the normals that the surface has: along an edge those between the normals of its two sides,
at a corner those along which no edge leads away.

Along an edge the gap is, as a function of the turn from one side's normal to the other's, the least of the heights of the body's
vertices, each of them a cosine. It is greatest where two vertices are as low, one on each side of the edge: there an edge of the
body crosses that of the ground. If it is greatest at an end of the range, or if the edges cross beyond the ends of that of the
ground, the plane of one side or a corner has the contact.
"""

from __future__ import annotations

import math

from tumble.collision.contact.facets import ANGLE, BENT, room
from tumble.collision.contact.manifold import put, take_row
from tumble.collision.contact.polytope_manifold import witness_id
from tumble.collision.geometry import EDGES, NORMAL, RAYS, RING, RINGS, SHARP
from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import ZERO, add, at, axpy, cross, dot, load3, mul, mul_t, neg, norm, orthonormal, scale, store3, sub
from tumble.collision.shapes.support_points import support

MOST_TURNS = 64  # vertices of a polytope that are tried until the two that cross an edge are found
AS_LOW = 1e-13  # of the size: a vertex that is lower by less is as low
ON_EDGE = 1e-7  # of the size: a place so near to an edge of a facet lies on it
AKIN = 0.995  # cosine of the angle between normals of points that may stand under one of them
BESIDE_FACET = 1e-2  # of the size: a point this deep under a facet, along a normal that is not how they touch, is beside it


@lean
def crossing(g, f, b, r, t, e, side, slack):
    """Edge e of facet f and the edge of polytope b, at (r, t) in the facet's frame, that crosses it from the given side.

    Returns (whether there is one, its gap, the normal from the facet, the place on the facet's edge, two rows of vertices of b).
    The gap is that of the core.
    """
    row, corner = g.facet[f, 0], g.vertex[f, 0]
    nothing = (False, 0.0, ZERO, ZERO, 0, 0)
    if g.facets[row, EDGES + 7 * e + 6] != BENT:
        return nothing
    own, theirs = at(g.facets, row, EDGES + 7 * e), at(g.facets, row, EDGES + 7 * e + 3)
    n = scale(side, at(g.facets, row, NORMAL))
    if dot(n, theirs) <= 0.0:  # a valley, seen from this side
        return nothing
    start = load3(g.vertices, corner + e)
    along = sub(load3(g.vertices, corner + (e + 1) % 3), start)
    length = norm(along)
    along = scale(1.0 / length, along)
    far = cross(along, theirs)
    far = neg(far) if dot(far, own) < 0.0 else far
    first, x = support(g, b, neg(mul_t(r, n)))
    last, y = support(g, b, neg(mul_t(r, far)))
    x, y = sub(add(mul(r, x), t), start), sub(add(mul(r, y), t), start)
    if dot(x, own) <= 0.0 or dot(y, theirs) <= 0.0:
        return nothing
    u, sense = n, math.copysign(1.0, dot(cross(n, along), own))
    for _ in range(MOST_TURNS):
        u = cross(along, sub(y, x))
        size = norm(u)
        if size == 0.0:
            return nothing
        u = scale((1.0 if dot(u, n) + dot(u, far) > 0.0 else -1.0) / size, u)
        found, z = support(g, b, neg(mul_t(r, u)))
        z = sub(add(mul(r, z), t), start)
        known = found == first or found == last  # noqa: PLR1714, SIM109 (a tuple is slower to compile)
        if known or dot(u, z) >= dot(u, x) - AS_LOW * g.radius[b]:
            break
        if sense * dot(cross(u, along), z) > 0.0:  # lowest still beyond the edge: the gap grows with the turn
            first, x = found, z
        else:
            last, y = found, z
    before, after = dot(cross(u, along), x), dot(cross(u, along), y)
    if before == after:
        return nothing
    c = axpy(before / (before - after), sub(y, x), x)
    place = dot(c, along)
    if place < -slack or place > length + slack:
        return nothing
    return True, dot(u, c), u, axpy(place, along, start), first, last


@lean
def over_corner(g, f, b, r, t, k, side):
    """The face of polytope b, at (r, t) in the facet's frame, on corner k of facet f: (whether there is one, gap, normal).

    The corner lies over that face or under it, and the surface has its normal.
    """
    row = g.facet[f, 0]
    corner, n = load3(g.vertices, g.vertex[f, 0] + k), scale(side, at(g.facets, row, NORMAL))
    p = mul_t(r, sub(corner, t))
    found, gap, outside, best = False, -math.inf, -math.inf, n
    for a in range(g.face[b, 0], g.face[b, 1]):
        m = load3(g.normals, a)
        height = dot(m, p) - g.offsets[a]
        outside = max(outside, height)
        if height <= gap:
            continue
        u = neg(mul(r, m))
        allowed = dot(u, n) > 0.0
        for q in range(int(g.facets[row, RINGS + k])):
            allowed = allowed and dot(u, at(g.facets, row, RAYS + 3 * (RING * k + q))) <= ANGLE
        if allowed:
            found, gap, best = True, height, u
    return found and outside <= max(gap, 0.0), gap, best


@lean
def bend(g, f, b, r, t, k, side, slack):
    """What polytope b, at (r, t) in the frame of facet f, has of its edge k, or with k from 3 of its corner k - 3.

    (Whether there is a contact, its gap, the normal, the place on the facet, rows of vertices as in `witness_id`.)
    """
    a = g.vertex[f, 0]
    if k < 3:
        found, gap, u, place, first, last = crossing(g, f, b, r, t, k, side, slack)
        return found, gap - g.skin[b], u, place, (a + k, a + (k + 1) % 3, first, last)
    found, gap, u = over_corner(g, f, b, r, t, k - 3, side)
    return found, gap - g.skin[b], u, load3(g.vertices, a + k - 3), (a + k - 3, -1, -1, -1)


@lean
def gap_along(g, b, r, t, x, u):
    """How far polytope b, at (r, t) in the frame of a facet, is from place x of the facet along the unit vector u.

    Negative: how far b must go along u so that x leaves it. Large where b is beside the line through x.
    """
    p, d = mul_t(r, sub(x, t)), mul_t(r, u)
    gap = -math.inf
    for a in range(g.face[b, 0], g.face[b, 1]):
        m = load3(g.normals, a)
        facing = -dot(m, d)
        if facing > ANGLE:
            gap = max(gap, (dot(m, p) - g.offsets[a]) / facing)
    return gap - g.skin[b]


@lean
def choose_normal(g, f, rf, b, r, t, side, limit, floor, slack, n, rows, count):
    """(Rows that are kept, normal, whether there is any contact) of a manifold with ``count`` rows along n.

    The normal is n where rows are known, else that of the shortest way out along a normal of an edge or a corner: as far as b
    overlaps the facet along it, and no farther, it does so anywhere on the facet. Where that is farther than all rows are deep,
    and not akin to n, it takes their place.
    """
    least, way, known = -math.inf, n, math.inf
    for k in range(6):
        found, gap, u, _, _ = bend(g, f, b, r, t, k, side, slack)
        if found and floor <= gap <= limit and gap > least:
            least, way = gap, mul(rf, u)
    for k in range(count):
        known = min(known, rows[k, 3])
    if least > -math.inf and (count == 0 or (least < known and dot(way, n) < AKIN)):
        return 0, way, True
    return count, n, count > 0


@lean
def add_bends(g, f, xf, rf, b, r, t, side, limit, floor, slack, n, rows, ids, count):
    """Add to ``count`` rows of facet f those of polytope b at edges and corners whose normals are akin to n; the count.

    Each has the gap that it has along n. An edge that two rows lie on has both ends of what touches it. b counts as flat: where
    an edge of it lies almost along that of the ground, the place where they cross runs away at any speed, and with it goes an
    acceleration without bound.
    """
    for k in range(6):
        found, gap, u, place, named = bend(g, f, b, r, t, k, side, slack)
        if not (found and floor <= gap <= limit and dot(mul(rf, u), n) >= AKIN and count < len(ids)):
            continue
        if k < 3 and _on_edge(g, f, xf, rf, k, ON_EDGE * g.radius[b], n, rows, count) >= 2:
            continue
        gap = gap_along(g, b, r, t, place, mul_t(rf, n))
        middle = axpy(0.5 * gap, n, add(xf, mul(rf, place)))
        if gap > limit or known_point(rows, count, middle, 4.0 * slack + 0.1 * abs(gap)):
            continue
        along, _ = orthonormal(n)
        straight = SHARP
        if k < 3:
            along, straight = mul(rf, sub(load3(g.vertices, named[1]), load3(g.vertices, named[0]))), 0.0
        put(rows, ids, count, middle, gap, along, straight, SHARP, along, 0.0, 0.0, witness_id(g, f, b, named))
        count += 1
    return count


@lean
def _on_edge(g, f, xf, rf, k, near, n, rows, count):
    """How many rows along n have their place on edge k of facet f."""
    found = 0
    for m in range(count):
        place = axpy(-0.5 * rows[m, 3], n, sub(load3(rows, m), xf))
        found += 1 if abs(room(g, f, mul_t(rf, place), k)) <= near else 0
    return found


@lean
def add_patch(g, xf, rf, b, r, t, way, n, limit, more, names, extra, slack, rows, ids, count):
    """Add rows of a patch whose normal is ``way``, akin to n, each with the gap that it has along n; the count."""
    for k in range(extra):
        place = axpy(-0.5 * more[k, 3], way, load3(more, k))
        gap = gap_along(g, b, r, t, mul_t(rf, sub(place, xf)), mul_t(rf, n))
        middle = axpy(0.5 * gap, n, place)
        if count == len(ids) or gap > limit or known_point(rows, count, middle, 4.0 * slack + 0.1 * abs(gap)):
            continue
        take_row(more, names, k, rows, ids, count)
        store3(rows, count, middle)
        rows[count, 3] = gap
        count += 1
    return count


@lean
def known_point(rows, count, x, near):
    """Whether one of the rows is at x."""
    found = False
    for k in range(count):
        found = found or norm((rows[k, 0] - x[0], rows[k, 1] - x[1], rows[k, 2] - x[2])) <= near
    return found
