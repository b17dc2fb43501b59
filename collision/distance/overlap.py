"""Two polytopes that touch, as nearly as rounding can tell: their normal is found from the features that it belongs to.

The corners at which the search for distance ended, and the nearest face of an inner polytope, name features of the bodies. From
these features the axis is computed afresh, and points that prove it; for boxes the fifteen separating axes do this. Where
rounding spoils it, or leaves no points, the polytope on a lattice takes over (exact_hull.py).
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.distance.axes import NO_ROWS, best_axis, improve_normal, named_features, polish
from tumble.collision.distance.clip import OUT, face_patch, patch_capacity
from tumble.collision.distance.epa import four_corners, known_depth, no_more, no_surface
from tumble.collision.distance.exact_hull import careful
from tumble.collision.distance.gjk import NO_NAMES, SHIFT, nearest_points
from tumble.collision.distance.sat import NO_EDGES, sat_boxes, separation
from tumble.collision.distance.segments import edge_points
from tumble.collision.geometry import BOX, empty_geometry
from tumble.collision.kernels.jit import far, inner, lean, remote, tight
from tumble.collision.linalg import IDENTITY, ZERO, add, at, axpy, cross, dot, load3, mul, mul_t, neg, norm, scale, sub
from tumble.collision.shapes.support_points import EPS, face_at, support

TOUCHING_WIDTH = 64.0  # EPS of size: bounds so close settle a pair that touches
SAME_FACE = 1.0 - 1e-6  # cosine of an angle beyond which a face can not be the one that a normal belongs to


@lean
def over_face(normals, loop_start, loops, vertices, f, x, slack):
    """Does x lie within the sides of face f, in the frame of its body, or outside by less than ``slack``?"""
    n = load3(normals, f)
    start, stop = loop_start[f], loop_start[f + 1]
    u = load3(vertices, loops[stop - 1])
    for k in range(start, stop):
        v = load3(vertices, loops[k])
        side = cross(sub(v, u), n)
        if dot(side, sub(x, u)) > slack * norm(side):
            return False
        u = v
    return True


@tight
def overlap_witness(g, a, b, r, t, face_a, face_b, n, sep, edges, corners, size):
    """Points of bodies that overlap or touch, in A's frame, for the axis of a face or of two edges: (found, p, q).

    They are points of the bodies, and q - p is sep n but for rounding, or they are not found. ``corners``: names of the nearest
    face of the Minkowski difference, -1 in front where it is not known.
    """
    small = 32.0 * EPS * size
    found = False
    p, q = n, n
    if face_a >= 0:  # as a rule the one deepest vertex lies over the face
        _, q = support(g, b, neg(mul_t(r, n)))
        q = add(mul(r, q), t)
        p = axpy(-sep, n, q)
        found = over_face(g.normals, g.loop_start, g.loops, g.vertices, face_a, p, 4.0 * EPS * size)
    elif face_b >= 0:
        _, p = support(g, a, n)
        q = axpy(sep, n, p)
        found = over_face(g.normals, g.loop_start, g.loops, g.vertices, face_b, mul_t(r, sub(q, t)), 4.0 * EPS * size)
    elif edges[0] >= 0:
        p, q = edge_points(g.vertices, r, t, edges)
        found = norm(sub(sub(q, p), scale(sep, n))) <= small
    if not found and corners[0] >= 0:  # the foot of the origin on the nearest face, where it is in that triangle of it
        p, q, _ = nearest_points(g, a, b, r, t, corners)
        found = norm(sub(sub(q, p), scale(sep, n))) <= small
    if not found and (face_a >= 0 or face_b >= 0):
        found, p, q = patch_witness(g, a, b, r, t, face_a, face_b, n, sep, size)
    return found, p, q


@inner
def patch_witness(g, a, b, r, t, face_a, face_b, n, sep, size):
    """The same where a face meets an edge or a face: from the points that both share."""
    cap = patch_capacity(g, face_a, b) if face_a >= 0 else patch_capacity(g, face_b, a)
    work = np.empty((cap, 10))
    tags = np.empty((cap, 5), np.int64)
    if face_a >= 0:
        count, least, k = face_patch(g, a, ZERO, IDENTITY, b, t, r, face_a, math.inf, size, 0.0, work, tags)
    else:
        count, least, k = face_patch(g, b, t, r, a, ZERO, IDENTITY, face_b, math.inf, size, 0.0, work, tags)
    if count == 0 or abs(least - sep) > 32.0 * EPS * size:
        return False, n, n
    x = at(work, k, OUT)
    if face_a >= 0:
        return True, axpy(-least, n, x), x
    return True, x, axpy(least, n, x)


@tight
def nearest_features(g, a, b, r, t, n, corners):
    """The features that the nearest face of the Minkowski difference stands for, in the form of `sat_boxes`."""
    i, j, k = corners[0], corners[1], corners[2]
    face_a = face_at(g.neighbor_start, g.fans, g.normals, i // SHIFT, j // SHIFT, k // SHIFT, n)
    face_b = face_at(g.neighbor_start, g.fans, g.normals, i % SHIFT, j % SHIFT, k % SHIFT, neg(mul_t(r, n)))
    sep_a, sep_b = -math.inf, -math.inf
    # a face that is not square to n can do no better than n, which is the best there is but for rounding
    if face_a >= 0:
        m = load3(g.normals, face_a)
        if dot(m, n) > SAME_FACE:
            sep_a = separation(g, a, b, r, t, m)
    if face_b >= 0:
        m = neg(mul(r, load3(g.normals, face_b)))
        if dot(m, n) > SAME_FACE:
            sep_b = separation(g, a, b, r, t, m)
    sep = separation(g, a, b, r, t, n)
    edges = named_features(corners)
    if edges[1] < 0 or edges[3] < 0:
        return face_a, sep_a, face_b, sep_b, sep, n, NO_EDGES
    ea = sub(load3(g.vertices, edges[1]), load3(g.vertices, edges[0]))
    eb = mul(r, sub(load3(g.vertices, edges[3]), load3(g.vertices, edges[2])))
    n, sep = improve_normal(g, a, b, r, t, n, sep, ea, eb)
    return face_a, sep_a, face_b, sep_b, sep, n, edges


@lean
def touching(g, a, b, r, t, axis, size, names, corners, low, high, n):
    """Signed distance of polytopes for which the fast search proves too little: they touch, or their features are slivers.

    ``names``: the corners of the search for distance, four where they stand about the origin. ``corners``: those of the nearest
    face of an inner polytope, if there is one; with its normal n, and the bounds low and high. Returns (low, high, n, p, q,
    named); if the interval is still wide, these are the best so far.
    """
    small = TOUCHING_WIDTH * EPS * size
    p, q, named = ZERO, ZERO, NO_ROWS
    simplex, boxes = names[0] >= 0 and names[3] < 0, g.kind[a] == BOX and g.kind[b] == BOX
    if simplex:
        p, q, names = nearest_points(g, a, b, r, t, names)
        v, named = sub(q, p), named_features(names)
        high = norm(v)
        apart = high > 16.0 * EPS * size
        low, n = -math.inf, scale(1.0 / high, v) if apart else axis
        if apart or not boxes:  # of boxes that touch their own axes tell at once
            n, low = polish(g, a, b, r, t, n, separation(g, a, b, r, t, n), names, high, size)
        if high - low <= small:
            return low, high, n, p, q, named
    if boxes:
        width, corners = 0.0, NO_NAMES
        face_a, sep_a, face_b, sep_b, sep_e, n_edge, edges = sat_boxes(g, a, b, r, t)
    else:
        if corners[0] < 0:
            start = four_corners(g, a, b, r, t, axis, size)
            if start[0] < 0:
                return low, high, n, p, q, named
            _, _, top, m, _, _, _, _, corners = known_depth(g, a, b, r, t, size, start, no_surface(), -1)
            if corners[0] < 0:
                return low, high, n, p, q, named
        else:
            top, m = high, n
        face_a, sep_a, face_b, sep_b, sep_e, n_edge, edges = nearest_features(g, a, b, r, t, m, corners)
        width = max(top - max(sep_a, sep_b, sep_e), 0.0)
    best = max(sep_a, sep_b, sep_e)
    m, which = best_axis(g, r, face_a, sep_a, face_b, sep_b, sep_e, n_edge, size)
    if which == 2 and edges[0] < 0 and best - max(sep_a, sep_b) <= small:  # faces askew by rounding
        which = 0 if sep_a >= sep_b else 1
    if which != 0:
        face_a = -1
    if which != 1:
        face_b = -1
    found, u, v = overlap_witness(g, a, b, r, t, face_a, face_b, m, best, edges, corners, size)
    if not simplex:
        high = math.inf
    if found and width <= small:
        top = no_more(best + width, m, u, v, size)
        if top < high:
            return best, top, m, u, v, edges if face_a < 0 and face_b < 0 else NO_ROWS
    if best > low or not simplex:
        low, n = best, m
    return low, high, n, p, q, named


@remote
def slow_query(g, a, b, r, t, axis, size, names, corners, low, high, n, last):
    """`touching`, and where that does not settle it the polytope on a lattice: (low, high, n, p, q, features, iterations).

    Unless this is the ``last`` try, iterations is 0 where bodies are apart and a search from the axis n may do better.
    """
    low, high, n, p, q, named = touching(g, a, b, r, t, axis, size, names, corners, low, high, n)
    if high - low <= TOUCHING_WIDTH * EPS * size:
        return low, high, n, p, q, named, 1
    if not last and names[0] >= 0 and names[3] < 0 and low > 0.0:
        return low, high, n, p, q, named, 0
    below, above, m, u, v, names, turns = careful(g, a, b, r, t, axis, size)
    if low > below and (low > 0.0 or low > below + TOUCHING_WIDTH * EPS * size):  # else m fits the points of this search
        below, m = low, n
    if above < high:
        return below, above, m, u, v, named_features(names), turns
    return below, high, m, p, q, named, turns


slow_query_far = far(
    slow_query,
    lambda: (empty_geometry(), 0, 0, IDENTITY, ZERO, ZERO, 0.0, NO_NAMES, NO_NAMES, 0.0, 0.0, ZERO, False),
    returns=(0.0, 0.0, (0.0,) * 3, (0.0,) * 3, (0.0,) * 3, (0,) * 4, 0),
)
