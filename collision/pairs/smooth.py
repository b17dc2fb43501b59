"""Pairs with a cylinder, a cone or an ellipsoid: signed distance, certified.

The separation s(n) = min over B of n.x - max over A of n.x has its greatest value, the signed distance, where the witness
points differ by s n. GJK on support points comes close; Newton's method on exactly that condition, with the smooth pieces
of the support functions that are active there, gives the last digits (`newton`). Where the bodies overlap, B is first
moved out along a guess of the normal and the normal of that pair becomes the next guess: s never falls on the way, and
a fixed point is a local maximum.

Bounds: s(n) of the normal is a lower bound whatever n is. Upper bound: apart, the distance of two points of the bodies;
overlapping, the depth of a witness point in the other body, which is at most that of the pair; else a search of all
directions (`directions`).
"""

from __future__ import annotations

import math

from tumble.collision.contact.patch import put_contact
from tumble.collision.distance.polytopes import relative, start_axis
from tumble.collision.distance.result import ROUNDING, SIGN_ONLY, inflated, slack_of, status_of, to_world, touching_limit
from tumble.collision.distance.simplex import closest_segment, closest_tetrahedron, closest_triangle, well_inside
from tumble.collision.geometry import CONE, CYLINDER, empty_geometry
from tumble.collision.kernels.jit import far, lean, remote
from tumble.collision.linalg import IDENTITY, ZERO, add, axpy, dot, load3, mul, mul_t, neg, norm, scale, sub
from tumble.collision.pairs.directions import best_direction
from tumble.collision.pairs.flats import far_points, on_flats, separation
from tumble.collision.pairs.point_distance import depth_bound, point_depth
from tumble.collision.pairs.smooth_depth import critical, smooth_depth
from tumble.collision.pairs.smooth_newton import newton
from tumble.collision.pairs.tangent import tangent_newton, two_pieces
from tumble.collision.shapes.support_functions import is_curved, support_piece
from tumble.collision.shapes.support_points import EPS, aligned_face, inflation, is_polytope
from tumble.collision.status import BEYOND_MARGIN

APART, INSIDE, BEYOND = range(3)  # how a search ends
MOST_TURNS_ROUND = 64  # iterations of GJK
MOST_MOVES_OUT = 12  # moves out of an overlap
WIDEST_ROUND = 1e-9  # of size: a wider interval is UNCERTAIN
LOOSE = 1e-2  # of the distance: where Newton's method takes over from GJK
NO_PIECES = (0, 0, 0, 0, 0, 0, 0, 0)


@lean
def furthest_corner(g, a, b, r, t, shift, n):
    """The point of B - A, B moved by ``shift``, that is furthest against n, as a corner: (w, p, q, piece of A, piece of B)."""
    p, q, i, j = far_points(g, a, b, r, t, n)
    return add(sub(q, p), shift), p, q, i, j


@lean
def kept_corners(c0, c1, c2, c3, m0, m1, m2, m3):
    """Of four corners those whose weight is not 0, of which there are three at most: (count, corners, weights)."""
    count, l0, l1, l2 = 0, m0, m1, m2
    for corner, weight in ((c3, m3), (c2, m2), (c1, m1), (c0, m0)):
        if weight > 0.0:
            count += 1
            c0, c1, c2, l0, l1, l2 = corner, c0, c1, weight, l0, l1
    return count, c0, c1, c2, l0, l1, l2


@lean
def smooth_gjk(g, a, b, r, t, shift, axis, limit, size, enough, loose):
    """Closest points of A and of B moved by ``shift``, to a duality gap of ``enough`` [m] or a part ``loose`` of the distance.

    Returns (state, v, lower, p, q, count, pieces, weights, iterations, corners): v = q + shift - p with p, q points of the bodies
    where they are; pieces (a0, b0, a1, b1, a2, b2, a3, b3) of the corners of the last simplex and their weights. a3, b3 are
    -1 unless four corners, the last that are returned, stand about the origin.
    """
    c0 = furthest_corner(g, a, b, r, t, shift, axis)
    c, c1, c2 = c0, c0, c0
    l0, l1, l2 = 1.0, 0.0, 0.0
    v, lower, state, fourth = c0[0], -math.inf, APART, (-1, -1)
    least = dot(v, v)
    count, stalled, iterations = 1, 0, 0
    while iterations < MOST_TURNS_ROUND:
        iterations += 1
        length = norm(v)
        if length <= 16.0 * EPS * size:
            state = INSIDE
            break
        n = scale(1.0 / length, v)
        c = furthest_corner(g, a, b, r, t, shift, n)
        height = dot(n, c[0])
        lower = max(lower, height)
        if lower > limit:
            state = BEYOND
            break
        if length - height <= max(enough, loose * height):
            break
        m0, m1, m2, m3 = 0.0, 0.0, 0.0, 0.0
        inside = False
        if count == 1:
            u, m0, m3 = closest_segment(c0[0], c[0])
        elif count == 2:
            u, m0, m1, m3 = closest_triangle(c0[0], c1[0], c[0])
        else:
            inside, u, m0, m1, m2, m3 = closest_tetrahedron(c0[0], c1[0], c2[0], c[0], size)
        if inside:
            state, fourth = INSIDE, (c[3], c[4])
            break
        square = dot(u, u)
        if not square <= least * (1.0 + 4.0 * EPS):
            break
        if square >= least * (1.0 - 4.0 * EPS):
            stalled += 1
            if stalled > 4:
                break
        least, v = square, u
        count, c0, c1, c2, l0, l1, l2 = kept_corners(c0, c1, c2, c, m0, m1, m2, m3)
    p, q = scale(l0, c0[1]), scale(l0, c0[2])
    if count > 1:
        p, q = axpy(l1, c1[1], p), axpy(l1, c1[2], q)
    if count > 2:
        p, q = axpy(l2, c2[1], p), axpy(l2, c2[2], q)
    pieces = c0[3], c0[4], c1[3], c1[4], c2[3], c2[4], fourth[0], fourth[1]
    return state, v, lower, p, q, count, pieces, (l0, l1, l2), iterations, (c0[0], c1[0], c2[0], c[0])


@lean
def next_axis(g, a, b, r, t, shift, n, limit, size, enough, loose):
    """From the axis n that of the closest points for B moved by ``shift``, if there is one, as `smooth_gjk` finds it.

    Returns (apart, axis, separation along it, p, q, count, pieces, weights, iterations).
    """
    state, v, _, p, q, count, pieces, weights, iterations, _ = smooth_gjk(g, a, b, r, t, shift, n, limit, size, enough, loose)
    length = norm(v)
    if state != APART or not length > 0.0:
        return False, n, -math.inf, p, q, count, pieces, weights, iterations
    m = scale(1.0 / length, v)
    return True, m, separation(g, a, b, r, t, m), p, q, count, pieces, weights, iterations


@lean
def flat_normal(g, s, d):
    """Outward normal of the flat of a shape that faces d most; zero where it has none."""
    kind = g.kind[s]
    if kind == CYLINDER:
        return (0.0, 0.0, 1.0 if d[2] > 0.0 else -1.0)
    if kind == CONE:
        return (0.0, 0.0, -1.0)
    if is_polytope(kind):
        f = aligned_face(g, s, d)
        if f >= 0:
            return load3(g.normals, f)
    return ZERO


@lean
def better_flat(g, a, b, r, t, n, low, slack):
    """(n, s, which): the normal of a flat of A (1) or B (2) where its separation is at least low - slack, else n (0)."""
    which = 0
    m = flat_normal(g, a, n)
    if dot(m, n) > 0.5:
        s = separation(g, a, b, r, t, m)
        if s >= low - slack:
            n, low, which = m, s, 1
    m = neg(mul(r, flat_normal(g, b, neg(mul_t(r, n)))))
    if dot(m, n) > 0.5:
        s = separation(g, a, b, r, t, m)
        if s > low or (which == 0 and s >= low - slack):
            n, low, which = m, s, 2
    return n, low, which


@lean
def climb(g, a, b, r, t, n, low, small, size):
    """From the axis n of bodies that overlap or touch to a local maximum of s: (n, s, p, q, count, pieces, weights).

    Each round moves B out along n, and takes the normal of the pair as the new n (the convex-concave procedure).
    """
    p, q = ZERO, ZERO
    count, pieces, weights = 0, NO_PIECES, (1.0, 0.0, 0.0)
    for k in range(MOST_MOVES_OUT):
        gap = 0.02 * small + 0.05 * abs(low)
        shift, enough = scale(gap - low, n), (1e-4 if k < 2 else 1e-9) * gap
        apart, m, s, p, q, count, pieces, weights, _ = next_axis(g, a, b, r, t, shift, n, math.inf, size + gap - low, enough, 0.0)
        if not apart:
            break
        turn = norm(sub(m, n))
        if s > low:
            n, low = m, s
        if turn < 1e-3 and k > 0 or s <= low and k > 2:
            break
    return n, low, p, q, count, pieces, weights


@lean
def quick_apart(g, a, b, r, t, n, low, count, pieces, weights, size):
    """(settled, n, low, high, p, q) of bodies that are apart, from the axis n and the simplex of a search that came near.

    Settled: the separation along n is the distance of the points, to rounding.
    """
    settled, m, s, p, q, _ = on_flats(g, a, b, r, t, n, low, size)
    if not settled:
        plain_a, a0, a1, la = two_pieces(pieces, weights, count, 0)
        plain_b, b0, b1, lb = two_pieces(pieces, weights, count, 1)
        if not (plain_a and plain_b):
            return False, n, low, math.inf, p, q
        settled, m, p, q, _, _, _, _, _, _, _ = tangent_newton(g, a, b, r, t, n, a0, a1, la, b0, b1, lb, size)
        s = separation(g, a, b, r, t, m)
    high = norm(sub(q, p))
    return settled and s > 0.0 and high - s <= 64.0 * EPS * size, m, s, max(high, s), p, q


@lean
def quick_touch(g, a, b, r, t, n, small, size):
    """(settled, low, high, n, p, q, turns) of bodies that touch or overlap by little, from an axis.

    B is moved out along it, and the axis of that pair is where Newton's method begins.
    """
    low, high, turns = separation(g, a, b, r, t, n), math.inf, 0
    p, q = ZERO, ZERO
    for _ in range(2):
        gap = 0.02 * small + 0.05 * abs(low)
        apart, m, s, _, _, count, pieces, weights, more = next_axis(
            g, a, b, r, t, scale(gap - low, n), n, math.inf, size + gap - low, 16.0 * EPS * size, LOOSE
        )
        turns += more
        if not apart:
            break
        found, k, best, high, p, q, _ = critical(g, a, b, r, t, m, s, pieces, weights, count, size)
        if found and high < math.inf:
            return True, best, high, k, p, q, turns
        if s <= low:
            break
        n, low = m, s
    return False, low, high, n, p, q, turns


@lean
def refine(g, a, b, r, t, n, low, p, q, count, pieces, weights, size):
    """Newton's method from (n, low), kept where it loses nothing: (n, low, p, q, kept)."""
    good, m, pm, qm = newton(g, a, b, r, t, n, count, pieces, weights, size)
    if good:
        s = separation(g, a, b, r, t, m)
        if s >= low - 16.0 * EPS * size:
            return m, s, pm, qm, True
    return n, low, p, q, False


@lean
def foot(g, a, b, r, t, n, low, which, p, q, size):
    """Witness points on a flat of A (which 1) or B (2): under the support point of the other body where that is round."""
    if which == 1 and is_curved(g.kind[b]):
        _, y = support_piece(g, b, neg(mul_t(r, n)))
        y = add(mul(r, y), t)
        x = axpy(-low, n, y)
        if point_depth(g, a, x) <= 4.0 * EPS * size:
            return x, y
    elif which == 2 and is_curved(g.kind[a]):
        _, x = support_piece(g, a, n)
        y = axpy(low, n, x)
        if point_depth(g, b, mul_t(r, sub(y, t))) <= 4.0 * EPS * size:
            return x, y
    return p, q


@lean
def sharpen(g, a, b, r, t, n, p, q, found, margin, size):
    """The last digits of bodies that are apart, from the axis, the points and the simplex of a search that came near.

    Returns (low, high, n, p, q, iterations). A second round begins where another search from the first one's axis ends.
    """
    count, pieces, weights = found
    iterations = 0
    low, high = separation(g, a, b, r, t, n), norm(sub(q, p))  # of two points of the bodies: |v| may be off by rounding
    for k in range(2):
        n, low, which = better_flat(g, a, b, r, t, n, low, 4.0 * EPS * size)
        if which > 0:
            p, q = foot(g, a, b, r, t, n, low, which, p, q, size)
        else:
            n, low, p, q, _ = refine(g, a, b, r, t, n, low, p, q, count, pieces, weights, size)
        high = min(high, max(norm(sub(q, p)), low))
        if high - low <= 64.0 * EPS * size or k == 1:
            break
        apart, m, s, p, q, count, pieces, weights, more = next_axis(g, a, b, r, t, ZERO, n, margin, size, 4.0 * EPS * size, 0.0)
        iterations += more
        if not apart:
            break
        high = min(high, norm(sub(q, p)))
        if s > low:
            n, low = m, s
    return low, high, n, p, q, iterations


@remote
def smooth_query(g, a, b, r, t, axis, margin, size, small):
    """Signed distance of the cores of a and b, B standing at (r, t) in A's frame.

    ``axis``: unit vector to start from; ``small``: size of the smaller body [m]. Returns (low, high, n, p, q, iterations):
    bounds without rounding, normal and witness points in A's frame. low > margin: the search stopped there. With the
    margin SIGN_ONLY bodies that overlap have the bounds -inf and 0.
    """
    sign_only = margin == SIGN_ONLY
    if sign_only:
        margin = 64.0 * EPS * size
    state, v, lower, p, q, count, pieces, weights, iterations, corners = smooth_gjk(
        g, a, b, r, t, ZERO, axis, margin, size, 16.0 * EPS * size, LOOSE
    )
    length = norm(v)
    if state == BEYOND:
        return lower, length, scale(1.0 / length, v), p, q, iterations
    held = pieces[6] >= 0  # the origin, by a tetrahedron
    if held:
        if sign_only and well_inside(corners, size):
            return -math.inf, 0.0, axis, ZERO, ZERO, iterations
        settled, low, high, n, p, q, more = smooth_depth(g, a, b, r, t, corners, pieces, size)
        iterations += more
        if settled:
            return low, high, n, p, q, iterations
        if low > -math.inf:
            axis = n
    elif state == APART and length > 16.0 * EPS * size:
        axis = scale(1.0 / length, v)
        settled, n, low, high, p, q = quick_apart(g, a, b, r, t, axis, lower, count, pieces, weights, size)
        if settled:
            return low, high, n, p, q, iterations
    settled, low, high, n, p, q, more = quick_touch(g, a, b, r, t, axis, small, size)
    iterations += more
    if settled:
        return low, high, n, p, q, iterations
    if not held:
        state, v, lower, p, q, count, pieces, weights, more, _ = smooth_gjk(
            g, a, b, r, t, ZERO, axis, margin, size, max(1e-7 * small, 1e-14 * size), 0.0
        )
        iterations += more
        length = norm(v)
        if state == BEYOND:
            return lower, length, scale(1.0 / length, v), p, q, iterations
    low, high, n = -math.inf, math.inf, axis
    if state == APART:
        found = count, pieces, weights
        low, high, n, p, q, more = sharpen(g, a, b, r, t, scale(1.0 / length, v), p, q, found, margin, size)
        iterations += more
        if low > 0.0 and high - low <= 1e-4 * WIDEST_ROUND * size:
            return low, high, n, p, q, iterations
        axis = n
    m, s, x, y, top, more = overlap(g, a, b, r, t, axis, small, size)
    if top - s > WIDEST_ROUND * size and high - low < top - s:  # they touch: what was found before is less sharp, but certain
        return low, high, n, p, q, iterations + more
    return s, top, m, x, y, iterations + more


@lean
def last_points(g, a, b, r, t, n, low, which, small, size):
    """Witness points where Newton's method has nothing to offer, on a flat (which > 0) or a ridge: (n, low, p, q).

    B is moved out so little that the points differ by low n to a small part of that.
    """
    p, q = ZERO, ZERO
    for k in range(3):
        gap = 1e-5 * small
        shift = scale(gap - low, n)
        enough = 2.0 * EPS * size
        apart, m, s, p, q, _, _, _, _ = next_axis(g, a, b, r, t, shift, n, math.inf, size + gap - low, enough, 0.0)
        if which > 0 or not apart or k == 2:
            break
        turn = norm(sub(m, n))
        if s < low or turn < 1e-9:
            break
        n, low = m, s
    return n, low, p, q


@lean
def overlap(g, a, b, r, t, axis, small, size):
    """Cores that touch or overlap: (n, low, p, q, high, rounds)."""
    tolerance = 0.25 * WIDEST_ROUND * size
    n, low, _ = better_flat(g, a, b, r, t, axis, separation(g, a, b, r, t, axis), 0.0)
    high = math.inf
    p, q = ZERO, ZERO
    rounds, hopeless = 0, 0
    while rounds < 16:
        rounds += 1
        n, low, p, q, count, pieces, weights = climb(g, a, b, r, t, n, low, small, size)
        n, low, which = better_flat(g, a, b, r, t, n, low, 4.0 * EPS * size)
        done = False
        if which == 0:
            n, low, p, q, done = refine(g, a, b, r, t, n, low, p, q, count, pieces, weights, size)
        if not done:
            n, low, p, q = last_points(g, a, b, r, t, n, low, which, small, size)
            p, q = foot(g, a, b, r, t, n, low, which, p, q, size)
        high = norm(sub(q, p))
        if low < 0.0:
            high = min(high, depth_bound(g, a, b, r, t, p, q))
        if high - low <= 2.0 * tolerance:
            break
        top, m, s = best_direction(g, a, b, r, t, n, low, sub(q, p), tolerance, size)
        high = min(high, top)
        if top < math.inf and top > max(low, s) + 8.0 * tolerance:
            hopeless += 1
        if s <= low + tolerance or hopeless > 1:
            break
        n, low = m, s
    return n, low, p, q, max(high, low), rounds


query_far = far(
    smooth_query,
    lambda: (empty_geometry(), 0, 0, IDENTITY, ZERO, ZERO, 0.0, 0.0, 0.0),
    returns=(0.0, 0.0, (0.0,) * 3, (0.0,) * 3, (0.0,) * 3, 0),
)


@lean
def smooth_witness(g, a, xa, ra, b, xb, rb, margin, axis):
    """The query in world axes relative to xa, balls added: (low, high, n, p, q, size, iterations)."""
    r, t = relative(xa, ra, xb, rb)
    size = g.radius[a] + g.radius[b] + norm(t)
    guess = start_axis(g, a, b, ra, r, t, axis)
    radius_a, radius_b = inflation(g, a), inflation(g, b)
    limit = margin + radius_a + radius_b
    if margin == SIGN_ONLY and radius_a + radius_b > 0.0:  # the cores alone do not tell
        limit = radius_a + radius_b
    low, high, n, p, q, iterations = query_far(g, a, b, r, t, guess, limit, size, min(g.radius[a], g.radius[b]))
    n = to_world(ra, n)
    low, high, p, q = inflated(low, high, n, mul(ra, p), mul(ra, q), radius_a, radius_b)
    return low, high, n, p, q, size, iterations


@lean
def smooth_status(low, high, size, slack, margin):
    """(status, lower, upper) of bounds without rounding."""
    lower, upper = low - ROUNDING * size - slack, high + ROUNDING * size + slack
    return status_of(lower, upper, margin, WIDEST_ROUND * size), lower, upper


@lean
def smooth_distance(g, a, xa, ra, b, xb, rb, margin, axis):
    """Signed distance of a pair with a cylinder, a cone or an ellipsoid. The distance is the separation along the normal."""
    low, high, n, p, q, size, iterations = smooth_witness(g, a, xa, ra, b, xb, rb, margin, axis)
    status, lower, upper = smooth_status(low, high, size, slack_of(g, a, b), margin)
    distance = lower if status == BEYOND_MARGIN else low
    return status, distance, lower, upper, n, add(xa, p), add(xa, q), iterations


@lean
def smooth_manifold(g, a, xa, ra, b, xb, rb, margin, axis, rows, ids):
    """Contact points: a base gives up to eight points, a side two, a rim, an apex and an ellipsoid one."""
    limit = touching_limit(g, a, b, margin, g.radius[a] + g.radius[b] + norm(sub(xb, xa)))
    low, high, n, p, q, size, _ = smooth_witness(g, a, xa, ra, b, xb, rb, limit, axis)
    status, lower, _ = smooth_status(low, high, size, slack_of(g, a, b), limit)
    if status == BEYOND_MARGIN or lower > limit:
        return 0, n, BEYOND_MARGIN
    return put_contact(g, a, xa, ra, b, xb, rb, n, p, q, low, margin, size, rows, ids), n, status
