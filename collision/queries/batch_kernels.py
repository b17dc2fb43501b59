"""The compiled loops over many pairs of convex pieces: a quick search first, then the full one for pairs that it did not
settle."""

from __future__ import annotations

from tumble.collision.distance.gjk import NO_NAME, NO_NAMES, quick_capsules
from tumble.collision.distance.overlap import slow_query_far
from tumble.collision.distance.polytopes import KEPT_SURFACE, quick_query, relative, start_axis
from tumble.collision.distance.result import answer, core_margin, inflated, slack_of, to_world
from tumble.collision.errors import MOST_LENGTH
from tumble.collision.kernels.jit import kernel, lean
from tumble.collision.linalg import ZERO, add, load3, load4, matmul, mul, mul_t, norm, store3, sub, transpose
from tumble.collision.narrowphase import distance_far
from tumble.collision.shapes.support_points import is_capsule, is_polytope

LATER = -1  # status of pairs that are left to the second loop
UNIT_SLACK = 1e-3  # how far a quaternion may be off unit length; it is normalised


@kernel(nogil=True, _nrt=False)
def quick_pairs(
    g, a, b, xa, qa, xb, qb, margin, warm_axis, warm_start, warm_surface, first, stop,
    found, status, distance, lower, upper, normal, point_a, point_b, iterations,
):  # fmt: skip
    """Those of the pairs [first, stop) that the search for distance settles; the others get the status LATER.

    found (n, 8): of those the names that the search ended with, see `quick_query`; its bounds and axis go where the answers will.
    Returns (first bad pose, pairs left): bad is 2 k for A's and 2 k + 1 for B's, 2 n where all are good, 0 where an index is out
    of range.
    """
    bad, left = 2 * len(a), 0
    warm = len(warm_axis) > 0
    for k in range(first, stop):
        i, j = a[k], b[k]
        if not (0 <= i < len(g.kind) and 0 <= j < len(g.kind)):
            bad = 0
            continue
        xa_k, xb_k = load3(xa, k), load3(xb, k)
        qa_k, qb_k = load4(qa, k), load4(qb, k)
        good_a, sa = usable(xa_k, qa_k)
        good_b, sb = usable(xb_k, qb_k)
        if not (good_a and good_b):
            bad = min(bad, 2 * k if not good_a else 2 * k + 1)
            continue
        settled = False
        t = sub(xb_k, xa_k)
        size = g.radius[i] + g.radius[j] + norm(t)
        if is_polytope(g.kind[i]) and is_polytope(g.kind[j]):
            axis, known, names = load_warm(warm_axis, warm_start, k, i, j)
            ra, rb = rotation(qa_k, sa), rotation(qb_k, sb)
            r, t = matmul(transpose(ra), rb), mul_t(ra, t)
            guess = axis
            if axis[0] == 0.0 and axis[1] == 0.0 and axis[2] == 0.0:
                guess = sub(add(mul(r, load3(g.center, j)), t), load3(g.center, i))
            elif known != KEPT_SURFACE:
                guess = mul_t(ra, axis)
            reach = core_margin(g, i, j, margin)
            settled, low, high, n, p, q, turns, known, names, corners, changed = quick_query(
                g, i, j, r, t, guess, reach, size, known, names, warm_surface, k if warm else -1
            )
            if not settled:
                put_found(k, low, high, n, names, corners, found, lower, upper, normal)
            else:
                n, p, q = to_world(ra, n), mul(ra, p), mul(ra, q)
                if g.skin[i] + g.skin[j] > 0.0:
                    low, high, p, q = inflated(low, high, n, p, q, g.skin[i], g.skin[j])
                if warm and changed:
                    store_warm(warm_axis, warm_start, k, i, j, n, known, names)
        elif is_capsule(g.kind[i]) and is_capsule(g.kind[j]):
            za, zb = third_axis(qa_k, sa), third_axis(qb_k, sb)
            settled, low, high, n, p, q = quick_capsules(g, i, j, t, za, zb)
            turns = 1
        if settled:
            told = answer(low, high, n, p, q, xa_k, size, slack_of(g, i, j), margin, turns)
            put(k, told, status, distance, lower, upper, normal, point_a, point_b, iterations)
        else:
            status[k] = LATER
            left += 1
    return bad, left


@kernel(nogil=True, _nrt=False)
def other_pairs(
    g, a, b, xa, qa, xb, qb, margin, warm_axis, warm_start, warm_surface, first, stop,
    found, status, distance, lower, upper, normal, point_a, point_b, iterations,
):  # fmt: skip
    """Those of the pairs [first, stop) whose status is LATER."""
    warm = len(warm_axis) > 0
    for k in range(first, stop):
        if status[k] != LATER:
            continue
        i, j = a[k], b[k]
        xa_k, xb_k = load3(xa, k), load3(xb, k)
        _, ra = pose(xa_k, load4(qa, k))
        _, rb = pose(xb_k, load4(qb, k))
        axis, _, _ = load_warm(warm_axis, warm_start, k, i, j)
        turns = 0
        if is_polytope(g.kind[i]) and is_polytope(g.kind[j]) and (g.rank[i] > 1 or g.rank[j] > 1):
            r, t = relative(xa_k, ra, xb_k, rb)
            size = g.radius[i] + g.radius[j] + norm(t)
            guess = start_axis(g, i, j, ra, r, t, axis)
            names = found[k, 0], found[k, 1], found[k, 2], found[k, 3]
            corners = found[k, 4], found[k, 5], found[k, 6], found[k, 7]
            low, high, n, p, q, _, turns = slow_query_far(
                g, i, j, r, t, guess, size, names, corners, lower[k], upper[k], load3(normal, k), False
            )
        if turns > 0:
            n = to_world(ra, n)
            low, high, p, q = inflated(low, high, n, mul(ra, p), mul(ra, q), g.skin[i], g.skin[j])
            told = answer(low, high, n, p, q, xa_k, size, slack_of(g, i, j), margin, turns)
        else:
            told = distance_far(g, i, xa_k, ra, j, xb_k, rb, margin, axis)
        put(k, told, status, distance, lower, upper, normal, point_a, point_b, iterations)
        if warm:
            store_warm(warm_axis, warm_start, k, i, j, told[4], 0, NO_NAMES)


@lean
def put(k, told, status, distance, lower, upper, normal, point_a, point_b, iterations):
    """Write row k of the answers."""
    status[k], distance[k], lower[k], upper[k], n, p, q, iterations[k] = told
    store3(normal, k, n)
    store3(point_a, k, p)
    store3(point_b, k, q)


@lean
def put_found(k, low, high, n, names, corners, found, lower, upper, normal):
    """Write into row k what the search found of a pair that it does not settle."""
    lower[k], upper[k] = low, high
    store3(normal, k, n)
    for m in range(4):
        found[k, m] = names[m]
        found[k, 4 + m] = corners[m]


@lean
def load_warm(warm_axis, warm_start, k, i, j):
    """(axis, number of names, names) of row k of a `PairCache`, if it is of the pieces i and j; else none."""
    if len(warm_axis) > 0 and warm_start[k, 0] == i and warm_start[k, 1] == j:
        return load3(warm_axis, k), warm_start[k, 2], (warm_start[k, 3], warm_start[k, 4], warm_start[k, 5], NO_NAME)
    return ZERO, 0, NO_NAMES


@lean
def store_warm(warm_axis, warm_start, k, i, j, n, known, names):
    """Write row k of a `PairCache`."""
    store3(warm_axis, k, n)
    warm_start[k, 0] = i
    warm_start[k, 1] = j
    warm_start[k, 2] = known
    warm_start[k, 3] = names[0]
    warm_start[k, 4] = names[1]
    warm_start[k, 5] = names[2]


@lean
def usable(x, q):
    """(yes, 2 / |q|²) of a pose; no: not finite, too far out, or the quaternion not of unit length."""
    square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
    near = abs(x[0]) <= MOST_LENGTH and abs(x[1]) <= MOST_LENGTH and abs(x[2]) <= MOST_LENGTH
    if near and abs(square - 1.0) <= 2.0 * UNIT_SLACK:
        return True, 2.0 / square
    return False, 0.0


@lean
def rotation(q, s):
    """The matrix of a quaternion; s = 2 / |q|²."""
    w, i, j, k = q
    wi, wj, wk = s * w * i, s * w * j, s * w * k
    ii, jj, kk = s * i * i, s * j * j, s * k * k
    ij, ik, jk = s * i * j, s * i * k, s * j * k
    return 1.0 - (jj + kk), ij - wk, ik + wj, ij + wk, 1.0 - (ii + kk), jk - wi, ik - wj, jk + wi, 1.0 - (ii + jj)


@lean
def third_axis(q, s):
    """The last column of that matrix."""
    w, i, j, k = q
    return s * i * k + s * w * j, s * j * k - s * w * i, 1.0 - (s * i * i + s * j * j)


@lean
def pose(x, q):
    """(usable, rotation matrix) of a position and a quaternion."""
    good, s = usable(x, q)
    return good, rotation(q, s)
