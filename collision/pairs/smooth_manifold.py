"""Contact points of a pair with a cylinder, a cone or an ellipsoid."""

from __future__ import annotations

from tumble.collision.contact.patch import put_contact
from tumble.collision.distance.result import slack_of, touching_limit
from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import norm, sub
from tumble.collision.pairs.smooth import smooth_status, smooth_witness
from tumble.collision.status import BEYOND_MARGIN


@lean
def smooth_manifold(g, a, xa, ra, b, xb, rb, margin, axis, rows, ids):
    """A base gives up to eight points, a side two, a rim, an apex and an ellipsoid one."""
    limit = touching_limit(g, a, b, margin, g.radius[a] + g.radius[b] + norm(sub(xb, xa)))
    low, high, n, p, q, size, _ = smooth_witness(g, a, xa, ra, b, xb, rb, limit, axis)
    status, lower, _ = smooth_status(low, high, size, slack_of(g, a, b), limit)
    if status == BEYOND_MARGIN or lower > limit:
        return 0, n, BEYOND_MARGIN
    return put_contact(g, a, xa, ra, b, xb, rb, n, p, q, low, margin, size, rows, ids), n, status
