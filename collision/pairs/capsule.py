"""A capsule (A) against a capsule or a polytope: their cores, a segment and a polytope, with balls added."""

from __future__ import annotations

from tumble.collision.contact.patch import put_contact
from tumble.collision.distance.polytopes import polytope_query_far, relative, start_axis
from tumble.collision.distance.result import answer, inflated, slack_of, to_world, touching_limit
from tumble.collision.kernels.jit import lean, tight
from tumble.collision.linalg import mul, norm, sub
from tumble.collision.shapes.support_points import inflation
from tumble.collision.status import BEYOND_MARGIN


@tight
def capsule_query(g, a, xa, ra, b, xb, rb, margin, axis):
    """In world axes relative to xa: (low, high, normal, point of A, point of B, size, iterations)."""
    r, t = relative(xa, ra, xb, rb)
    size = g.radius[a] + g.radius[b] + norm(t)
    guess = start_axis(g, a, b, ra, r, t, axis)
    radius_a, radius_b = inflation(g, a), inflation(g, b)
    limit = margin + radius_a + radius_b
    low, high, n, p, q, _, iterations = polytope_query_far(g, a, b, r, t, guess, limit, size)
    n = to_world(ra, n)
    low, high, p, q = inflated(low, high, n, mul(ra, p), mul(ra, q), radius_a, radius_b)
    return low, high, n, p, q, size, iterations


@tight
def capsule_distance(g, a, xa, ra, b, xb, rb, margin, axis):
    """Signed distance of capsule a and capsule or polytope b."""
    low, high, n, p, q, size, iterations = capsule_query(g, a, xa, ra, b, xb, rb, margin, axis)
    return answer(low, high, n, p, q, xa, size, slack_of(g, a, b), margin, iterations)


@lean
def capsule_manifold(g, a, xa, ra, b, xb, rb, margin, axis, rows, ids):
    """Two points where the capsule lies along the other body, else one."""
    limit = touching_limit(g, a, b, margin, g.radius[a] + g.radius[b] + norm(sub(xb, xa)))
    low, high, n, p, q, size, iterations = capsule_query(g, a, xa, ra, b, xb, rb, limit, axis)
    status = answer(low, high, n, p, q, xa, size, slack_of(g, a, b), limit, iterations)[0]
    if status == BEYOND_MARGIN or low > limit:
        return 0, n, BEYOND_MARGIN
    return put_contact(g, a, xa, ra, b, xb, rb, n, p, q, low, margin, size, rows, ids), n, status
