"""How far a convex shape is from a ground: the least of the distances to the triangles near it, each certified."""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.bounds import aabb
from tumble.collision.contact.facets import corners_of, near_triangles, set_facet
from tumble.collision.errors import InputError
from tumble.collision.ground.ground_tables import tables_of
from tumble.collision.kernels.jit import kernel, lean
from tumble.collision.linalg import ZERO, add, axpy, mul, mul_t, norm, reach_t, scale, sub
from tumble.collision.narrowphase import distance_far
from tumble.collision.pose import Pose
from tumble.collision.shapes.definitions import Shape, convex_parts
from tumble.collision.shapes.ground import Ground
from tumble.collision.status import BEYOND_MARGIN

FIRST_REACH = 1e-3  # of the sizes: how far triangles are looked for at first


@kernel
def distance_to_ground(g, a, xa, ra, s, xs, rs, margin, axis):
    """`distance_of` convex shape a and ground s, by the last shape of g, which must be a facet to work with.

    The distance is that to the triangles as thin plates: unsigned apart from how deep a plate is in the shape.
    """
    f = len(g.kind) - 1
    lo, hi = aabb(g, a, xa, ra)
    middle, half = mul_t(rs, sub(scale(0.5, add(lo, hi)), xs)), reach_t(rs, scale(0.5, sub(hi, lo)))
    all_of_it = norm(middle) + norm(half) + g.radius[s]
    reach = min(margin, FIRST_REACH * (norm(half) + g.radius[s]))
    slack = 1e-9 * norm(half) + 1e-14 * (norm(xs) + norm(middle) + g.radius[s])  # more than rounding
    found = np.empty(64, np.int64)
    best, low = (BEYOND_MARGIN, math.inf, math.inf, math.inf, ZERO, xa, xs, 0), math.inf
    while True:
        grown = axpy(1.0 + 1e-9, half, (reach, reach, reach))
        count = near_triangles(g, s, sub(middle, grown), add(middle, grown), found, 0)
        if count > len(found):
            found = np.empty(2 * count, np.int64)
            continue
        first = _nearest_box(g, s, found, count, middle, half)
        for turn in range(count):
            k = first if turn == 0 else turn - (turn <= first)
            if best[1] < math.inf and _box_gap(g, s, found[k], middle, half) > max(best[1], 0.0) + slack:
                continue
            x = add(xs, mul(rs, set_facet(g, f, s, found[k])))
            one = distance_far(g, a, xa, ra, f, x, rs, min(margin, best[1]), axis)
            if one[0] == BEYOND_MARGIN:
                continue
            low = min(low, one[2])  # of no triangle is less certain than of all
            if one[1] < best[1]:
                best = one
        if best[1] <= reach or reach >= margin or reach > all_of_it:
            if best[0] == BEYOND_MARGIN:
                return best
            return (best[0], best[1], low, best[3], best[4], best[5], best[6], best[7])
        reach = min(margin, best[1] if best[1] < math.inf else 4.0 * reach)


@lean
def _box_gap(g, s, t, middle, half):
    """How far the box around triangle t is from the box middle +- half in the frame of ground s: a bound of how far they are."""
    a, b, c = corners_of(g, s, t)
    total = 0.0
    for k in range(3):
        low, high = min(a[k], b[k], c[k]), max(a[k], b[k], c[k])
        apart = max(0.0, low - middle[k] - half[k], middle[k] - half[k] - high)
        total += apart * apart
    return math.sqrt(total)


@lean
def _nearest_box(g, s, found, count, middle, half):
    """Which of the triangles found is looked at first: one whose box is nearest."""
    first, least = 0, math.inf
    for k in range(count):
        gap = _box_gap(g, s, found[k], middle, half)
        if gap < least:
            first, least = k, gap
    return first


def distance_from_ground(a: Shape, pose_a: Pose, b: Shape, pose_b: Pose, margin: float) -> tuple:
    """The numbers of a `Distance` of two shapes of which one is a ground, the other convex or a compound of convex pieces."""
    first = isinstance(a, Ground)
    ground, at, shape, pose = (a, pose_a, b, pose_b) if first else (b, pose_b, a, pose_a)
    if isinstance(shape, Ground):
        raise InputError("shape", shape, "is ground, as the other one is: one of them must be a shape that can move")
    margin = max(margin, 0.0)  # whether they are apart is known where that is
    beyond = math.nextafter(margin, math.inf)
    best, low = (BEYOND_MARGIN, beyond, beyond, math.inf, ZERO, pose.position, at.position, 0), math.inf
    place = at.position, tuple(at.matrix().ravel().tolist())
    for piece, local in convex_parts(shape):
        x = pose @ local
        own = x.position, tuple(x.matrix().ravel().tolist())
        found = distance_to_ground(tables_of(ground, piece), 1, *own, 0, *place, min(margin, best[1]), ZERO)
        if found[0] != BEYOND_MARGIN:
            low = min(low, found[2])
            if best[0] == BEYOND_MARGIN or found[1] < best[1]:
                best = found
    status, distance, lower, upper, n, p, q, turns = best
    if first:
        n, p, q = tuple(-c for c in n), q, p
    return (distance, min(low, lower), upper, *n, *p, *q, int(status), int(turns))
