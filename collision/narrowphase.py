"""Dispatch of a pair of convex shapes, by kind, to the routine that knows it.

Poses: x a position, r a rotation matrix of the shape's frame, both in world axes. A pair is always handled with the
smaller kind first, and of two cylinders, cones or ellipsoids the smaller, so (A, B) and (B, A) run the same code.
"""

from __future__ import annotations

import numpy as np

from collision.geometry import CAPSULE, CYLINDER, HALFSPACE, SPHERE, empty_geometry
from collision.jit import far, kernel, lean, remote
from collision.linalg import IDENTITY, ZERO, neg, sub
from collision.manifold import bend_rows, swap_rows
from collision.pairs.capsule import capsule_distance, capsule_manifold
from collision.pairs.halfspace import halfspace_distance, halfspace_manifold
from collision.pairs.polytope import polytope_distance
from collision.pairs.polytope_manifold import polytope_manifold_far
from collision.pairs.result import SIGN_ONLY, swapped
from collision.pairs.smooth import smooth_distance
from collision.pairs.smooth_manifold import smooth_manifold
from collision.pairs.sphere import sphere_distance, sphere_manifold


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


@remote
def distance_of(g, a, xa, ra, b, xb, rb, margin, axis):
    """Signed distance of shapes a and b of the geometry g, certified.

    ``margin``: the search may stop once the shapes are certainly further apart [m]; ``axis``: a guess of the unit
    normal in world axes, zero for none. It only steers the search. With the margin SIGN_ONLY the sign of lower tells
    whether the shapes are apart, and nothing else is of use.

    Returns (status, distance, lower, upper, normal, point_a, point_b, iterations); status as in `collision.status`,
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
        result = sphere_distance(g, a, xa, b, xb, rb, reach, axis)
    elif g.kind[b] >= CYLINDER:
        result = smooth_distance(g, a, xa, ra, b, xb, rb, margin, axis)
    elif kind == CAPSULE:
        result = capsule_distance(g, a, xa, ra, b, xb, rb, reach, axis)
    else:
        result = polytope_distance(g, a, xa, ra, b, xb, rb, margin, axis)
    return swapped(result) if flip else result


@remote
def manifold_of(g, a, xa, ra, b, xb, rb, margin, axis, rows, ids):
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
        count, n, status = sphere_manifold(g, a, xa, b, xb, rb, margin, axis, rows, ids)
    elif g.kind[b] >= CYLINDER:
        count, n, status = smooth_manifold(g, a, xa, ra, b, xb, rb, margin, axis, rows, ids)
    elif kind == CAPSULE:
        count, n, status = capsule_manifold(g, a, xa, ra, b, xb, rb, margin, axis, rows, ids)
    else:
        count, n, status = polytope_manifold_far(g, a, xa, ra, b, xb, rb, margin, axis, rows, ids)
    bend_rows(rows, count, g.skin[a], g.skin[b])
    if flip:
        swap_rows(rows, count)
        n = neg(n)
    return count, n, status


_POSES = (0, ZERO, IDENTITY, 0, ZERO, IDENTITY, 0.0, ZERO)
distance_far = far(distance_of, lambda: (empty_geometry(), *_POSES))
manifold_far = far(manifold_of, lambda: (empty_geometry(), *_POSES, np.zeros((8, 14)), np.zeros(8, np.int64)))


@kernel
def distance(g, a, xa, ra, b, xb, rb, margin, axis):
    """`distance_of`, to be called from Python."""
    return distance_far(g, a, xa, ra, b, xb, rb, margin, axis)


@kernel
def manifold(g, a, xa, ra, b, xb, rb, margin, axis, rows, ids):
    """`manifold_of`, to be called from Python."""
    return manifold_far(g, a, xa, ra, b, xb, rb, margin, axis, rows, ids)
