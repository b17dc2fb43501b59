"""A sphere (A) against any shape but a half-space."""

from __future__ import annotations

import math

from tumble.collision.contact.features import bend_at
from tumble.collision.contact.manifold import put
from tumble.collision.distance.axes import named_features
from tumble.collision.distance.gjk import NO_NAMES, nearest_points, quick_distance
from tumble.collision.distance.overlap import slow_query_far
from tumble.collision.distance.result import answer, slack_of, to_world, touching_limit
from tumble.collision.geometry import BOX, SHARP, SPHERE
from tumble.collision.kernels.jit import lean, tight
from tumble.collision.linalg import IDENTITY, add, along_axis, axpy, dot, load3, mul, mul_t, neg, norm, orthonormal, scale, sub
from tumble.collision.pairs.point_distance import nearest_face, point_curved
from tumble.collision.shapes.support_points import EPS, extent, inflation, is_polytope
from tumble.collision.status import BEYOND_MARGIN

FACE, EDGE, VERTEX, ROUND = range(4)
TINY, LARGE = 1e-140, 2.0**700  # shorter vectors [m] are made longer before their squares are taken


@lean
def some_axis(axis):
    """A unit vector for pairs that have no direction of their own: the warm axis, else z."""
    length = norm(axis)
    return scale(1.0 / length, axis) if length > 0.0 else (0.0, 0.0, 1.0)


@lean
def point_box(c, h, guess):
    """(signed distance, outward normal, closest point of the surface, feature, edge axis) of point c and the box |x_i| <= h_i, in
    the frame of the box. ``guess`` breaks ties."""
    q = (min(max(c[0], -h[0]), h[0]), min(max(c[1], -h[1]), h[1]), min(max(c[2], -h[2]), h[2]))
    d = sub(c, q)
    distance = norm(d)
    outside = (1 if d[0] != 0.0 else 0) + (1 if d[1] != 0.0 else 0) + (1 if d[2] != 0.0 else 0)
    if outside == 1:  # over a face: exact
        k = 1 if d[1] != 0.0 else 2 if d[2] != 0.0 else 0
        return distance, along_axis(k, math.copysign(1.0, d[k])), q, FACE, -1
    if outside > 1 and distance > 0.0:
        edge = -1
        if outside == 2:
            edge = 0 if d[0] == 0.0 else (1 if d[1] == 0.0 else 2)
        return distance, scale(1.0 / distance, d), q, EDGE if outside == 2 else VERTEX, edge
    best = -1
    depth = math.inf
    for i in range(3):
        if h[i] - abs(c[i]) < depth:
            depth = h[i] - abs(c[i])
            best = i
    s = math.copysign(1.0, c[best] if c[best] != 0.0 else guess[best])
    q = (s * h[0] if best == 0 else c[0], s * h[1] if best == 1 else c[1], s * h[2] if best == 2 else c[2])
    return -depth, along_axis(best, s), q, FACE, -1


@lean
def point_polytope(g, a, b, c, guess, limit, size):
    """(low, high, outward normal, closest point, feature, edge direction, iterations) of point c, the core of sphere a, and
    polytope b, in the frame of b."""
    none = (0.0, 0.0, 0.0)
    if g.kind[b] == BOX:
        s, n, q, feature, edge = point_box(c, (g.size[b, 0], g.size[b, 1], g.size[b, 2]), guess)
        return s, s, n, q, feature, along_axis(edge, 1.0), 1
    top, face = nearest_face(g, b, c)
    if face >= 0 and g.rank[b] == 3 and top <= 0.0:
        n = load3(g.normals, face)
        return top, top, n, axpy(-top, n, c), FACE, none, 1
    axis = sub(c, load3(g.center, b))
    if norm(axis) == 0.0:
        axis = guess
    # the search wants A's frame: turn the roles so that the polytope is A, with the point at translation c
    settled, low, high, n, q, _, iterations, count, names = quick_distance(g, b, a, IDENTITY, c, axis, limit, size, 0, NO_NAMES)
    if settled and low > max(limit, 0.0):
        return low, high, scale(1.0 / norm(n), n), q, VERTEX, none, iterations
    named = named_features(names)
    if not settled and names[3] < 0:
        q, _, names = nearest_points(g, b, a, IDENTITY, c, names)
        n, named = sub(c, q), named_features(names)
        high = norm(n)
    elif not settled:
        low, high, n, q, _, named, _ = slow_query_far(
            g, b, a, IDENTITY, c, axis, size, NO_NAMES, NO_NAMES, -math.inf, math.inf, axis, True
        )
    if high > 16.0 * EPS * size:
        n = scale(1.0 / norm(n), n)
        direction = none
        feature = VERTEX
        if named[1] >= 0:
            feature = EDGE
            direction = sub(load3(g.vertices, named[1]), load3(g.vertices, named[0]))
            direction = scale(1.0 / norm(direction), direction)
        # over a face the normal is the face's: the search may end on three corners, or on an edge across the face
        for f in range(g.face[b, 0], g.face[b, 1]):
            m = load3(g.normals, f)
            if dot(m, n) > 0.5 and norm(sub(m, n)) * high <= 64.0 * EPS * size:
                h = dot(m, c) - g.offsets[f]
                return min(h, high), high, m, q, FACE, none, iterations
        if named[0] < 0:  # inside a merged face
            feature = FACE
        low = dot(n, c) - extent(g, b, n)
        return min(low, high), high, n, q, feature, direction, iterations
    # on the surface, or on a flat body
    n = guess
    if face >= 0:
        n = load3(g.normals, face)
    elif g.rank[b] == 1:
        d = sub(load3(g.vertices, g.vertex[b, 0] + 1), load3(g.vertices, g.vertex[b, 0]))
        n, _ = orthonormal(scale(1.0 / norm(d), d))
    low = dot(n, c) - extent(g, b, n)
    return min(low, high), max(low, high), n, c, FACE, none, iterations


@lean
def spheres(radius, other, x, axis):
    """Two spheres, the second at x from the first: (signed distance, normal, points on both, size)."""
    between = norm(x)
    if between < TINY:  # squares so small are rounded to a few digits, or to nothing
        x = scale(LARGE, x)
        between = norm(x)
        n = scale(1.0 / between, x) if between > 0.0 else some_axis(axis)
        x, between = scale(1.0 / LARGE, x), between / LARGE
    else:
        n = scale(1.0 / between, x)
    return between - radius - other, n, scale(radius, n), axpy(-other, n, x), between + radius + other


@lean
def sphere_query(g, a, xa, b, xb, rb, margin, axis):
    """(low, high, normal a to b, point on a, point on b, size, feature of b, its edge direction, iterations) of sphere a and
    shape b, relative to xa in world axes."""
    x = sub(xb, xa)
    radius = g.size[a, 0]
    guess = some_axis(axis)
    none = (0.0, 0.0, 0.0)
    if g.kind[b] == SPHERE:
        s, n, p, q, size = spheres(radius, g.size[b, 0], x, axis)
        return s, s, n, p, q, size, VERTEX, none, 1
    size = radius + g.radius[b] + norm(x)
    c, guess = neg(mul_t(rb, x)), neg(mul_t(rb, guess))
    other = inflation(g, b)
    s = radius + other
    feature, direction, iterations = ROUND, none, 1
    if is_polytope(g.kind[b]):
        low, high, m, q, feature, direction, iterations = point_polytope(g, a, b, c, guess, margin + s, size)
    else:
        low, high, m, q = point_curved(g, b, c, guess)
    n = neg(to_world(rb, m))
    on_b = axpy(-other, n, add(x, mul(rb, q)))
    return low - s, high - s, n, scale(radius, n), on_b, size, feature, mul(rb, direction), iterations


@tight
def sphere_distance(g, a, xa, b, xb, rb, margin, axis):
    """Signed distance of sphere a and shape b."""
    if g.kind[b] == SPHERE:
        low, n, p, q, size = spheres(g.size[a, 0], g.size[b, 0], sub(xb, xa), axis)
        return answer(low, low, n, p, q, xa, size, 0.0, margin, 1)
    low, high, n, p, q, size, _, _, iterations = sphere_query(g, a, xa, b, xb, rb, margin, axis)
    return answer(low, high, n, p, q, xa, size, slack_of(g, a, b), margin, iterations)


@lean
def sphere_manifold(g, a, xa, b, xb, rb, margin, axis, rows, ids):
    """The one point of a sphere, with the curvature of what it touches."""
    limit = touching_limit(g, a, b, margin, g.radius[a] + g.radius[b] + norm(sub(xb, xa)))
    low, high, n, p, q, size, feature, direction, iterations = sphere_query(g, a, xa, b, xb, rb, limit, axis)
    result = answer(low, high, n, p, q, xa, size, slack_of(g, a, b), limit, iterations)
    status = result[0]
    if status == BEYOND_MARGIN or low > limit:
        return 0, n, BEYOND_MARGIN
    tangent, _ = orthonormal(n)
    bend = 1.0 / g.size[a, 0]
    gap = result[1]
    middle = add(xa, axpy(g.size[a, 0] + 0.5 * gap, n, (0.0, 0.0, 0.0)))
    along, across = SHARP, SHARP
    other = tangent
    if g.kind[b] == SPHERE:
        along = 1.0 / g.size[b, 0]
        across = along
    elif feature == FACE:
        along, across = 0.0, 0.0
    elif feature == EDGE:
        along = 0.0
        other = direction
    elif feature == ROUND:
        core = sub(axpy(inflation(g, b), n, q), sub(xb, xa))
        other, along, across, _ = bend_at(g, b, rb, neg(mul_t(rb, n)), mul_t(rb, core))
    put(rows, ids, 0, middle, gap, tangent, bend, bend, other, along, across, 0)
    return 1, n, status
