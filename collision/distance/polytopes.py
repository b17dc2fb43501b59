"""Signed distance of two polytopes, boxes or hulls of any rank.

GJK while the bodies are apart, the nearest face of the Minkowski difference once they touch (overlap.py). The separation
along an axis, evaluated by support over all vertices, is the lower bound in either case.
"""

from __future__ import annotations

import math

from collision.distance.axes import NO_ROWS, named_features, polish, polish_segments
from collision.distance.gjk import BEYOND, INSIDE, NO_START, gjk, witnesses
from collision.distance.overlap import NO_FOUR, overlap_far
from collision.distance.result import SIGN_ONLY, answer, core_margin, inflated, slack_of, to_world
from collision.distance.sat import separation_here
from collision.distance.segments import segments_closest
from collision.geometry import BOX, empty_geometry
from collision.kernels.jit import far, lean, remote, tight
from collision.linalg import IDENTITY, ZERO, add, load3, matmul, mul, mul_t, norm, scale, sub, transpose
from collision.shapes.support_points import EPS

ENOUGH = 16.0  # EPS of size: bounds this close need no polish


@tight
def search(g, a, b, r, t, axis, margin, size, known, start, close):
    """What the search for distance finds at once: (sure, state, low, high, n, p, q, count, rows, weights, iterations).

    sure: apart, and proven so by close bounds, or further than the margin. The rest is `gjk`'s, see there.
    """
    limit = margin + 128.0 * EPS * size
    state, v, low, count, rows, weights, iterations = gjk(g, a, b, r, t, axis, limit, size, known, start, close)
    p, q = witnesses(g, a, b, r, t, count, rows, weights)
    high = norm(v)
    if state == INSIDE:
        return False, state, low, high, v, p, q, count, rows, weights, iterations
    n = scale(1.0 / high, v)
    if g.kind[a] != BOX or g.kind[b] != BOX:  # the search looks for support points less closely
        low = separation_here(g, a, b, r, t, n)
    if state == BEYOND:
        return True, state, low, high, n, p, q, count, rows, weights, iterations
    between = norm(sub(q, p))
    if abs(between - high) > 8.0 * EPS * size:  # a sliver: v is no point of B - A
        high = between
    return high - low <= ENOUGH * EPS * size, state, low, high, n, p, q, count, rows, weights, iterations


@remote
def polytope_query(g, a, b, r, t, axis, margin, size, known, start):
    """Signed distance of polytopes a and b, B standing at (r, t) in A's frame.

    known, start: the simplex where an earlier query of the pair ended, see `gjk`. Returns (low, high, n, p, q, named,
    iterations, known, start): unrounded bounds, normal and witness points in A's frame, the features (see NO_ROWS), and
    the simplex for the next query. low > margin: the search stopped there. With the margin SIGN_ONLY bodies that
    overlap have the bounds -inf and 0.
    """
    sign_only = margin == SIGN_ONLY
    if g.rank[a] <= 1 and g.rank[b] <= 1:
        v, p, q, named = segments_closest(g, a, b, r, t)
        high = norm(v)
        if high > 16.0 * EPS * size:
            n, low = polish_segments(g, a, b, r, t, v, high)
            return low, high, n, p, q, named, 1, 0, NO_START
        low, high, n, p, q, named, more = overlap_far(g, a, b, r, t, axis, size, INSIDE, -high, high, p, q, named, NO_FOUR)
        return low, high, n, p, q, named, more, 0, NO_START
    boxes = g.kind[a] == BOX and g.kind[b] == BOX
    reach = 0.0 if sign_only else margin
    total = 0
    for attempt in range(2):  # the second one looks more closely
        sure, state, low, high, n, p, q, count, rows, weights, iterations = search(
            g, a, b, r, t, axis, reach, size, known, start, attempt == 1
        )
        total += iterations
        if state == INSIDE:
            if count == 4 and sign_only:
                return -math.inf, 0.0, axis, ZERO, ZERO, NO_ROWS, total, 0, NO_START
            if count == 4:
                low, high, n, p, q, named, more = overlap_far(
                    g, a, b, r, t, axis, size, state, low, math.inf, n, n, NO_ROWS, rows
                )
                return low, high, n, p, q, named, total + more, 0, NO_START
            named, high = named_features(count, rows), norm(sub(q, p))
            low, high, n, p, q, named, more = overlap_far(g, a, b, r, t, axis, size, state, low, high, p, q, named, NO_FOUR)
            return low, high, n, p, q, named, total + more, 0, NO_START
        if state == BEYOND:
            return low, high, n, p, q, NO_ROWS, total, count, rows
        if not sure:
            n, low = polish(g, a, b, r, t, n, low, count, rows, high, size)
        if boxes or high - low <= 64.0 * EPS * size:
            break
        known, start = count, rows
    named = named_features(count, rows)
    if high - low > 64.0 * EPS * size:
        low, high, n, p, q, named, more = overlap_far(g, a, b, r, t, n, size, state, low, high, p, q, named, NO_FOUR)
        return low, high, n, p, q, named, total + more, 0, NO_START
    return low, high, n, p, q, named, total, count, rows


polytope_query_far = far(
    polytope_query,
    lambda: (empty_geometry(), 0, 0, IDENTITY, ZERO, ZERO, 0.0, 0.0, 0, NO_START),
    returns=(0.0, 0.0, (0.0,) * 3, (0.0,) * 3, (0.0,) * 3, (0,) * 4, 0, 0, (0,) * 8),
)


@lean
def relative(xa, ra, xb, rb):
    """Rotation and translation of B in A's frame."""
    return matmul(transpose(ra), rb), mul_t(ra, sub(xb, xa))


@tight
def start_axis(g, a, b, ra, r, t, axis):
    """First guess of the normal in A's frame: the warm axis, else from centre to centre, else z."""
    if axis[0] != 0.0 or axis[1] != 0.0 or axis[2] != 0.0:
        return mul_t(ra, axis)
    n = sub(add(mul(r, load3(g.center, b)), t), load3(g.center, a))
    length = norm(n)
    return scale(1.0 / length, n) if length > 0.0 else (0.0, 0.0, 1.0)


@tight
def polytope_distance(g, a, xa, ra, b, xb, rb, margin, axis):
    """Signed distance of two polytopes."""
    r, t = relative(xa, ra, xb, rb)
    size = g.radius[a] + g.radius[b] + norm(t)
    guess = start_axis(g, a, b, ra, r, t, axis)
    reach = core_margin(g, a, b, margin)
    low, high, n, p, q, _, iterations, _, _ = polytope_query_far(g, a, b, r, t, guess, reach, size, 0, NO_START)
    low, high, p, q = inflated(low, high, n, p, q, g.skin[a], g.skin[b])
    return answer(low, high, to_world(ra, n), mul(ra, p), mul(ra, q), xa, size, slack_of(g, a, b), margin, iterations)
