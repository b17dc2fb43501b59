"""A half-space (A) against anything, and against another half-space."""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.contact.manifold import put, put_patch
from tumble.collision.contact.patch import put_on_plane
from tumble.collision.distance.clip import GAP, NAME, OUT
from tumble.collision.distance.result import EPS, answer, slack_of, status_of, to_world
from tumble.collision.geometry import HALFSPACE, SHARP
from tumble.collision.kernels.jit import inner, lean
from tumble.collision.linalg import add, axpy, dot, load3, mul, mul_t, neg, norm, orthonormal, scale, set_at, sub
from tumble.collision.shapes.support_functions import support_piece
from tumble.collision.shapes.support_points import core_radius, inflation, is_polytope
from tumble.collision.status import OVERLAPPING, UNCERTAIN


@lean
def halfspace_plane(g, a, ra):
    """World normal and the offset of the plane from A's position."""
    n = to_world(ra, (g.size[a, 0], g.size[a, 1], g.size[a, 2]))
    return n, g.size[a, 3]


@lean
def halfspace_distance(g, a, xa, ra, b, xb, rb, margin):
    """Height of the lowest point of B over the plane of A."""
    n, offset = halfspace_plane(g, a, ra)
    x = sub(xb, xa)
    if g.kind[b] == HALFSPACE:
        return halfspace_halfspace(g, n, offset, b, xa, x, rb, margin)
    _, p = support_piece(g, b, neg(mul_t(rb, n)))
    q = axpy(-inflation(g, b), n, add(mul(rb, p), x))
    height = dot(n, q) - offset
    size = core_radius(g, b) + inflation(g, b) + abs(dot(n, x)) + abs(offset)
    return answer(height, height, n, axpy(-height, n, q), q, xa, size, slack_of(g, a, b), margin, 1)


@lean
def halfspace_halfspace(g, n, offset, b, xa, x, rb, margin):
    """Two half-spaces overlap without end unless their normals are opposed, which rounding may hide."""
    m, offset_b = halfspace_plane(g, b, rb)
    height = dot(n, x) - offset_b - offset
    p = scale(offset, n)
    askew = norm(add(n, m))
    if askew > 0.0:
        status, upper = (OVERLAPPING, -math.inf) if askew > 8.0 * EPS else (UNCERTAIN, max(height, 0.0))
        return status, -math.inf, -math.inf, upper, n, add(xa, p), add(xa, p), 1
    return answer(height, height, n, p, axpy(height, n, p), xa, norm(x) + abs(offset) + abs(offset_b), 0.0, margin, 1)


@lean
def halfspace_manifold(g, a, xa, ra, b, xb, rb, margin, rows, ids):
    """Every vertex of B lower than the margin, as many as there are rows at most; the points of a round body by its features.

    Two half-spaces have no deepest points.
    """
    n, offset = halfspace_plane(g, a, ra)
    x = sub(xb, xa)
    if g.kind[b] == HALFSPACE:
        found = halfspace_halfspace(g, n, offset, b, xa, x, rb, margin)
        return 0, n, found[0]
    radius = inflation(g, b)
    size = core_radius(g, b) + radius + abs(dot(n, x)) + abs(offset)
    limit = margin + 1e-8 * (core_radius(g, b) + radius)  # touching with rounding to spare
    count = 0
    lowest = math.inf
    if not is_polytope(g.kind[b]):
        count, lowest = put_on_plane(g, b, xa, x, rb, n, offset, limit, rows, ids)
    else:
        first = g.vertex[b, 0]
        stop = g.vertex[b, 1]
        x = axpy(-radius, n, x)  # where the skin is lowest it lies so far below the core
        if stop - first > len(ids):
            count, lowest = put_lowest(g, b, n, offset, x, rb, xa, limit, rows, ids)
        else:
            tangent, _ = orthonormal(n)
            for k in range(first, stop):
                q = add(mul(rb, load3(g.vertices, k)), x)
                height = dot(n, q) - offset
                lowest = min(lowest, height)
                if height <= limit:
                    middle = add(xa, axpy(-0.5 * height, n, q))
                    put(rows, ids, count, middle, height, tangent, 0.0, 0.0, tangent, SHARP, SHARP, k - first)
                    count += 1
    err = 8.0 * EPS * size
    return count, n, status_of(lowest - err, lowest + err, margin, math.inf)


@inner
def put_lowest(g, b, n, offset, x, rb, xa, limit, rows, ids):
    """Rows for the vertices of a large hull up to the height ``limit``, thinned: (count, least height)."""
    first = g.vertex[b, 0]
    work = np.empty((g.vertex[b, 1] - first, 10))
    tags = np.empty((g.vertex[b, 1] - first, 5), np.int64)
    lowest = math.inf
    count = 0
    for k in range(work.shape[0]):
        q = add(mul(rb, load3(g.vertices, first + k)), x)
        height = dot(n, q) - offset
        lowest = min(lowest, height)
        if height <= limit:
            set_at(work, count, OUT, q)
            work[count, GAP] = height
            tags[count, NAME] = k
            count += 1
    return put_patch(work, tags, count, neg(n), xa, n, 0, rows, ids), lowest
