"""Dispatch of a pair of convex shapes, by kind, to the routine that knows it.

Poses: x a position, r a rotation matrix of the shape's frame, both in world axes. A pair is always handled with the
smaller kind first, and of two cylinders, cones or ellipsoids the smaller, so (A, B) and (B, A) run the same code.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.contact.facets import FREE, OWN, at_open_edge, holds, is_facet, is_level, reading
from tumble.collision.contact.manifold import MANIFOLD_POINTS, bend_rows, swap_rows, take_row
from tumble.collision.contact.polytope_manifold import polytope_manifold_far
from tumble.collision.contact.ridges import AKIN, BESIDE_FACET, add_bends, add_patch, choose_normal, known_point
from tumble.collision.distance.polytopes import polytope_distance
from tumble.collision.distance.result import SIGN_ONLY, swapped
from tumble.collision.geometry import CAPSULE, CYLINDER, HALFSPACE, SIDES, SPHERE, empty_geometry
from tumble.collision.kernels.jit import far, kernel, lean, remote, stack_table
from tumble.collision.linalg import IDENTITY, ZERO, add, axpy, dot, load3, matmul, mul, mul_t, neg, orthonormal, sub, transpose
from tumble.collision.pairs.capsule import capsule_distance, capsule_manifold
from tumble.collision.pairs.halfspace import halfspace_distance, halfspace_manifold
from tumble.collision.pairs.smooth import smooth_distance, smooth_manifold
from tumble.collision.pairs.sphere import sphere_distance, sphere_manifold
from tumble.collision.shapes.support_points import is_polytope

RIM_SLACK = 1e-10  # of the size: points so far beyond the rim of a facet are over it


@lean
def comes_after(g, a, xa, b, xb):
    """Is a pair handled as (B, A)? The smaller kind goes first; of round bodies of one kind the smaller, else the one behind."""
    if g.kind[a] != g.kind[b] or g.kind[a] < CYLINDER:
        return g.kind[a] > g.kind[b]
    for i in range(3):
        if g.size[a, i] != g.size[b, i]:
            return g.size[a, i] > g.size[b, i]
    if g.skin[a] != g.skin[b]:
        return g.skin[a] > g.skin[b]
    d = sub(xb, xa)
    x, y, z = abs(d[0]), abs(d[1]), abs(d[2])
    return (d[2] if z >= max(x, y) else (d[1] if y >= x else d[0])) < 0.0


_TWO_POSES = (0, ZERO, IDENTITY, 0, ZERO, IDENTITY, 0.0, ZERO)
_POINT_ROWS = (np.zeros((8, 14)), np.zeros(8, np.int64))
_ANSWER, _COUNTED = (0, 0.0, 0.0, 0.0, ZERO, ZERO, ZERO, 0), (0, ZERO, 0)
# Pairs of round shapes are compiled apart: a world without them does not wait for their code.
_sphere_distance = far(sphere_distance, lambda: (empty_geometry(), 0, ZERO, *_TWO_POSES[3:]), returns=_ANSWER)
_smooth_distance = far(smooth_distance, lambda: (empty_geometry(), *_TWO_POSES), returns=_ANSWER)
_capsule_distance = far(capsule_distance, lambda: (empty_geometry(), *_TWO_POSES), returns=_ANSWER)
_sphere_manifold = far(sphere_manifold, lambda: (empty_geometry(), 0, ZERO, *_TWO_POSES[3:], *_POINT_ROWS), returns=_COUNTED)
_smooth_manifold = far(smooth_manifold, lambda: (empty_geometry(), *_TWO_POSES, *_POINT_ROWS), returns=_COUNTED)
_capsule_manifold = far(capsule_manifold, lambda: (empty_geometry(), *_TWO_POSES, *_POINT_ROWS), returns=_COUNTED)


@remote
def distance_of(g, a, xa, ra, b, xb, rb, margin, axis):
    """Signed distance of shapes a and b of the geometry g, certified.

    ``margin``: the search may stop once the shapes are certainly further apart [m]; ``axis``: a guess of the unit
    normal in world axes, zero for none. It only steers the search. With the margin SIGN_ONLY the sign of lower tells
    whether the shapes are apart, and nothing else is of use.

    Returns (status, distance, lower, upper, normal, point_a, point_b, iterations); status as in `tumble.collision.status`,
    the true value in [lower, upper], normal from A to B, point_b - point_a = distance normal. With BEYOND_MARGIN
    distance is the lower bound and the points are not the closest ones.
    """
    flip = comes_after(g, a, xa, b, xb)
    if flip:
        a, xa, ra, b, xb, rb = b, xb, rb, a, xa, ra
        axis = neg(axis)
    kind = g.kind[a]
    reach = 0.0 if margin == SIGN_ONLY else margin
    if kind == HALFSPACE:
        result = halfspace_distance(g, a, xa, ra, b, xb, rb, reach)
    elif kind == SPHERE:
        result = _sphere_distance(g, a, xa, b, xb, rb, reach, axis)
    elif g.kind[b] >= CYLINDER:
        result = _smooth_distance(g, a, xa, ra, b, xb, rb, margin, axis)
    elif kind == CAPSULE:
        result = _capsule_distance(g, a, xa, ra, b, xb, rb, reach, axis)
    else:
        result = polytope_distance(g, a, xa, ra, b, xb, rb, margin, axis)
    return swapped(result) if flip else result


@remote
def convex_manifold(g, a, xa, ra, b, xb, rb, margin, axis, rows, ids):
    """Contact points of shapes a and b with a gap of at most ``margin``, as many as there are rows at most.

    Returns (count, normal, status) and fills rows[:count] of ``rows`` (m, 14) and ``ids`` (m,), m >= 8: 0-2 point midway
    between the bodies, 3 gap (negative = overlap) along the normal, 4-6 tangent a, 7 curvature of A's feature along it
    and 8 across (along normal x tangent), 9-13 the same for B. A slack of 1e-8 of the bodies' size is added to the
    margin, so that a face that touches askew by rounding keeps all its points.
    """
    flip = comes_after(g, a, xa, b, xb)
    if flip:
        a, xa, ra, b, xb, rb = b, xb, rb, a, xa, ra
        axis = neg(axis)
    kind = g.kind[a]
    if kind == HALFSPACE:
        count, n, status = halfspace_manifold(g, a, xa, ra, b, xb, rb, margin, rows, ids)
    elif kind == SPHERE:
        count, n, status = _sphere_manifold(g, a, xa, b, xb, rb, margin, axis, rows, ids)
    elif g.kind[b] >= CYLINDER:
        count, n, status = _smooth_manifold(g, a, xa, ra, b, xb, rb, margin, axis, rows, ids)
    elif kind == CAPSULE:
        count, n, status = _capsule_manifold(g, a, xa, ra, b, xb, rb, margin, axis, rows, ids)
    else:
        count, n, status = polytope_manifold_far(g, a, xa, ra, b, xb, rb, margin, axis, rows, ids)
    bend_rows(rows, count, g.skin[a], g.skin[b])
    if flip:
        swap_rows(rows, count)
        n = neg(n)
    return count, n, status


convex_manifold_far = far(convex_manifold, lambda: (empty_geometry(), *_TWO_POSES, *_POINT_ROWS), returns=_COUNTED)
spare_rows, spare_ids = stack_table(MANIFOLD_POINTS, 14), stack_table(1, MANIFOLD_POINTS, "int64")


@remote
def facet_manifold(g, f, xf, rf, b, xb, rb, margin, axis, rows, ids):
    """`manifold_of` facet f of a ground with shape b: along a normal that the surface has there (contact/facets.py).

    Where the normal is the facet's, or none that is allowed, the points are those of the half-space under the facet that lie over
    the facet; the others belong to its neighbours. Where the surface bends or ends, so does what is touched: there the points of
    the facet itself are added, and where its normal was none that is allowed, those along normals that are (contact/ridges.py).
    """
    size = g.radius[b]
    slack = RIM_SLACK * size
    if is_level(g, f):
        found, n, status = halfspace_manifold(g, f, xf, _plane_frame(g, f, xf, rf, b, xb, rb), b, xb, rb, margin, rows, ids)
        bend_rows(rows, found, 0.0, g.skin[b])
        count, least = _points_over(g, f, xf, rf, -math.inf, slack, rows, ids, found)
        if count == 0 or least >= -BESIDE_FACET * size:
            return count, n, status
    count, n, status = convex_manifold_far(g, f, xf, rf, b, xb, rb, margin, axis, rows, ids)
    if count == 0:
        return 0, n, status
    kind, side = reading(g, f, mul_t(rf, n))
    flat = is_polytope(g.kind[b])
    if kind == FREE and not flat:
        return count, n, status
    least = rows[0, 3]
    for k in range(1, count):
        least = min(least, rows[k, 3])
    floor = min(-BESIDE_FACET * size, 4.0 * least) if kind != OWN else -math.inf
    r, t, limit = matmul(transpose(rf), rb), mul_t(rf, sub(xb, xf)), margin + 1e-8 * size
    if kind == FREE:
        return add_bends(g, f, xf, rf, b, r, t, side, limit, floor, slack, n, rows, ids, count), n, status
    more, names, extra = spare_rows(), spare_ids()[0], 0
    for k in range(min(count, MANIFOLD_POINTS) if kind == OWN or flat else 0):
        point = axpy(-0.5 * rows[k, 3], n, sub(load3(rows, k), xf))  # that of the facet itself
        if at_open_edge(g, f, mul_t(rf, point), slack):
            take_row(rows, ids, k, more, names, extra)
            extra += 1
    way = n
    found, n, _ = halfspace_manifold(g, f, xf, rf if side > 0.0 else _seen_from_behind(g, f, rf), b, xb, rb, margin, rows, ids)
    bend_rows(rows, found, 0.0, g.skin[b])
    count, _ = _points_over(g, f, xf, rf, floor, slack, rows, ids, found)
    if kind == OWN:
        return _add_known(more, names, extra, slack, rows, ids, count), n, status
    if flat:
        count, n, some = choose_normal(g, f, rf, b, r, t, side, limit, floor, slack, n, rows, count)
        if some and dot(way, n) >= AKIN:
            count = add_patch(g, xf, rf, b, r, t, way, n, limit, more, names, extra, slack, rows, ids, count)
        count = add_bends(g, f, xf, rf, b, r, t, side, limit, floor, slack, n, rows, ids, count)
    return count, n, status


@lean
def _add_known(more, names, extra, slack, rows, ids, count):
    """Add rows along the same normal, but for those at places that are known; the count."""
    for k in range(extra):
        if count < len(ids) and not known_point(rows, count, load3(more, k), 4.0 * slack):
            take_row(more, names, k, rows, ids, count)
            count += 1
    return count


@lean
def _points_over(g, f, xf, rf, floor, slack, rows, ids, found):
    """Keep the points that lie over facet f, no deeper than ``floor``: (how many, the least gap)."""
    count, least = 0, math.inf
    for k in range(found):
        if rows[k, 3] >= floor and holds(g, f, mul_t(rf, sub(load3(rows, k), xf)), slack):
            least = min(least, rows[k, 3])
            take_row(rows, ids, k, rows, ids, count)
            count += 1
    return count, least


@lean
def _plane_frame(g, f, xf, rf, b, xb, rb):
    """The rotation of facet f with its normal towards the side that the middle of shape b is on, if it has two."""
    if g.facets[g.facet[f, 0], SIDES] == 2.0:
        x = mul_t(rf, sub(add(xb, mul(rb, load3(g.center, b))), xf))
        if dot(x, (g.size[f, 0], g.size[f, 1], g.size[f, 2])) < 0.0:
            return _seen_from_behind(g, f, rf)
    return rf


@lean
def _seen_from_behind(g, f, rf):
    """The rotation of facet f seen from behind: turned by half a turn about a direction in its plane."""
    up = (g.size[f, 0], g.size[f, 1], g.size[f, 2])
    s, t = orthonormal(up)
    p, q, m = mul(rf, s), neg(mul(rf, t)), neg(mul(rf, up))  # where these three go
    return matmul((p[0], q[0], m[0], p[1], q[1], m[1], p[2], q[2], m[2]), (*s, *t, *up))


@remote
def level_distance(g, f, xf, rf, b, xb, rb, margin):
    """`distance_of` shape b and the half-space under facet f, which goes on beyond it: no more than that to the facet."""
    return halfspace_distance(g, f, xf, _plane_frame(g, f, xf, rf, b, xb, rb), b, xb, rb, margin)


level_distance_far = far(level_distance, lambda: (empty_geometry(), 0, ZERO, IDENTITY, 0, ZERO, IDENTITY, 0.0), returns=_ANSWER)


facet_manifold_far = far(facet_manifold, lambda: (empty_geometry(), *_TWO_POSES, *_POINT_ROWS), returns=_COUNTED)


@remote
def manifold_of(g, a, xa, ra, b, xb, rb, margin, axis, rows, ids):
    """`convex_manifold`; of a facet of a ground along normals that the ground has."""
    if is_facet(g, b):
        count, n, status = facet_manifold_far(g, b, xb, rb, a, xa, ra, margin, neg(axis), rows, ids)
        swap_rows(rows, count)
        return count, neg(n), status
    if is_facet(g, a):
        return facet_manifold_far(g, a, xa, ra, b, xb, rb, margin, axis, rows, ids)
    return convex_manifold_far(g, a, xa, ra, b, xb, rb, margin, axis, rows, ids)


distance_far = far(distance_of, lambda: (empty_geometry(), *_TWO_POSES), returns=_ANSWER)
manifold_far = far(manifold_of, lambda: (empty_geometry(), *_TWO_POSES, *_POINT_ROWS), returns=_COUNTED)


@kernel
def distance(g, a, xa, ra, b, xb, rb, margin, axis):
    """`distance_of`, to be called from Python."""
    return distance_far(g, a, xa, ra, b, xb, rb, margin, axis)


@kernel
def manifold(g, a, xa, ra, b, xb, rb, margin, axis, rows, ids):
    """`manifold_of`, to be called from Python."""
    return manifold_far(g, a, xa, ra, b, xb, rb, margin, axis, rows, ids)
