"""How far a convex shape is from a ground: the least of the distances to the triangles near it, each certified."""

from __future__ import annotations

import math

import numpy as np

from collision.bounds import aabb
from collision.facets import near_triangles, set_facet
from collision.jit import kernel
from collision.linalg import ZERO, add, axpy, mul, mul_t, norm, scale, sub
from collision.narrowphase import distance_far
from collision.status import BEYOND_MARGIN

FIRST = 1e-3  # of the sizes: how far triangles are looked for at first


@kernel
def distance_to_ground(g, a, xa, ra, s, xs, rs, margin, axis):
    """`distance_of` convex shape a and ground s, by the last shape of g, which must be a facet to work with.

    The distance is that to the triangles as thin plates: unsigned apart from how deep a plate is in the shape.
    """
    f = len(g.kind) - 1
    lo, hi = aabb(g, a, xa, ra)
    middle, half = mul_t(rs, sub(scale(0.5, add(lo, hi)), xs)), scale(0.5, sub(hi, lo))
    half = (
        abs(rs[0]) * half[0] + abs(rs[3]) * half[1] + abs(rs[6]) * half[2],
        abs(rs[1]) * half[0] + abs(rs[4]) * half[1] + abs(rs[7]) * half[2],
        abs(rs[2]) * half[0] + abs(rs[5]) * half[1] + abs(rs[8]) * half[2],
    )
    all_of_it = norm(middle) + norm(half) + g.radius[s]
    reach = min(margin, FIRST * (norm(half) + g.radius[s]))
    found = np.empty(64, np.int64)
    best = (BEYOND_MARGIN, math.inf, math.inf, math.inf, ZERO, xa, xs, 0)
    while True:
        grown = axpy(1.0 + 1e-9, half, (reach, reach, reach))
        count = near_triangles(g, s, sub(middle, grown), add(middle, grown), found, 0)
        if count > len(found):
            found = np.empty(2 * count, np.int64)
            continue
        for k in range(count):
            x = add(xs, mul(rs, set_facet(g, f, s, found[k])))
            one = distance_far(g, a, xa, ra, f, x, rs, min(margin, best[1]), axis)
            if one[0] != BEYOND_MARGIN and one[1] < best[1]:
                best = one
        if best[1] <= reach or reach >= margin or reach > all_of_it:
            return best
        reach = min(margin, max(4.0 * reach, best[1] if best[1] < math.inf else 0.0))
