"""Signed distance of two polytopes, boxes or hulls of any rank: one path of three tiers.

The fast tier proposes and proves: gjk.py for bodies that are apart, epa.py for those that overlap. Pairs that it does not prove
touch, or have features that are slivers. For them overlap.py computes the axis anew from the features of the bodies. The pairs
that are still left are settled on a lattice (exact_hull.py). The separation along an axis, evaluated by support over all
vertices, is the lower bound in any case.
"""

from __future__ import annotations

import math

from tumble.collision.distance.axes import NO_ROWS, named_features, polish_segments
from tumble.collision.distance.epa import known_depth, no_surface
from tumble.collision.distance.gjk import NO_NAMES, corner, quick_distance
from tumble.collision.distance.overlap import slow_query_far
from tumble.collision.distance.result import SIGN_ONLY, answer, core_margin, inflated, slack_of, to_world
from tumble.collision.distance.segments import segments_closest
from tumble.collision.distance.simplex import well_inside
from tumble.collision.geometry import BOX, empty_geometry
from tumble.collision.kernels.jit import far, lean, remote, tight
from tumble.collision.linalg import IDENTITY, ZERO, add, load3, matmul, mul, mul_t, norm, scale, sub, transpose
from tumble.collision.shapes.support_points import EPS

KEPT_SURFACE = -2  # in place of the number of known corners: there is a surface


@tight
def quick_query(g, a, b, r, t, axis, margin, size, known, names, kept, row):
    """The fast tier: (settled, low, high, n, p, q, turns, known, names, corners, grown); n is of any length.

    ``known``, names, and row ``row`` of the surfaces ``kept``: where an earlier query of the pair ended, see `quick_distance` and
    `quick_depth`; 0, NO_NAMES and a negative row for none. Those that are returned are for
    the next query (grown: a surface was written), or for `slow_query` where the pair is not settled.
    """
    settled, low, high, n, p, q, turns, grown = False, -math.inf, math.inf, axis, ZERO, ZERO, 0, True
    corners = NO_NAMES
    deep = known == KEPT_SURFACE and margin != SIGN_ONLY
    if deep:
        names = NO_NAMES
    else:
        settled, low, high, n, p, q, turns, known, names = quick_distance(g, a, b, r, t, axis, margin, size, max(known, 0), names)
        around = known == 0 and names[3] >= 0
        boxes = g.kind[a] == BOX and g.kind[b] == BOX  # those that touch, too, are told by their axes
        deep = not settled and known == 0 and (around or boxes)
        if deep and around and margin == SIGN_ONLY and certainly_inside(g, a, b, r, t, names, size):
            return True, -math.inf, 0.0, (0.0, 0.0, 1.0), ZERO, ZERO, turns, 0, NO_NAMES, corners, False
    if deep:
        settled, low, high, n, p, q, turns, grown, corners = known_depth(g, a, b, r, t, size, names, kept, row)
        known = KEPT_SURFACE
    return settled, low, high, n, p, q, turns, known, names, corners, grown


@lean
def certainly_inside(g, a, b, r, t, names, size):
    """Do four named corners of B - A stand about the origin, by more than rounding?"""
    first, second = corner(g, a, b, r, t, names[0]), corner(g, a, b, r, t, names[1])
    return well_inside((first, second, corner(g, a, b, r, t, names[2]), corner(g, a, b, r, t, names[3])), size)


@remote
def polytope_query(g, a, b, r, t, axis, margin, size):
    """Signed distance of polytopes a and b, B standing at (r, t) in A's frame.

    Returns (low, high, n, p, q, named, iterations): unrounded bounds, unit normal and witness points in A's frame, the features
    (see NO_ROWS). low > margin: the search stopped there. With the margin SIGN_ONLY bodies that overlap may have the bounds -inf
    and 0.
    """
    names, corners = NO_NAMES, NO_NAMES
    if g.rank[a] <= 1 and g.rank[b] <= 1:
        v, p, q, named = segments_closest(g, a, b, r, t)
        high = norm(v)
        if high > 16.0 * EPS * size:
            n, low = polish_segments(g, a, b, r, t, v, high)
            return low, high, n, p, q, named, 1
        low, above, n, u, v, _, more = slow_query_far(g, a, b, r, t, axis, size, names, corners, -math.inf, math.inf, axis, True)
        return (low, above, n, u, v, NO_ROWS, more) if above < high else (low, high, n, p, q, named, more)
    total, last = 0, False
    while True:
        settled, low, high, n, p, q, turns, known, names, corners, _ = quick_query(
            g, a, b, r, t, axis, margin, size, 0, NO_NAMES, no_surface(), -1
        )
        total += turns
        if settled:
            named = named_features(corners if known < 0 else names)
            return low, high, scale(1.0 / norm(n), n), p, q, named, total
        low, high, n, p, q, named, more = slow_query_far(g, a, b, r, t, axis, size, names, corners, low, high, n, last)
        if more > 0:
            return low, high, n, p, q, named, total + more
        axis, last = n, True


polytope_query_far = far(
    polytope_query,
    lambda: (empty_geometry(), 0, 0, IDENTITY, ZERO, ZERO, 0.0, 0.0),
    returns=(0.0, 0.0, (0.0,) * 3, (0.0,) * 3, (0.0,) * 3, (0,) * 4, 0),
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
    low, high, n, p, q, _, iterations = polytope_query_far(g, a, b, r, t, guess, reach, size)
    low, high, p, q = inflated(low, high, n, p, q, g.skin[a], g.skin[b])
    return answer(low, high, to_world(ra, n), mul(ra, p), mul(ra, q), xa, size, slack_of(g, a, b), margin, iterations)
