"""The answer of a distance query, made from raw bounds: rounding added, status decided, frame changed."""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import add, axpy, mul, neg, norm, scale
from tumble.collision.shapes.support_points import EPS
from tumble.collision.status import BEYOND_MARGIN, OVERLAPPING, SEPARATED, TOUCHING, UNCERTAIN

ROUNDING = 8.0 * EPS  # of size: what a support value or a length may be off
SIGN_ONLY = -math.inf  # as a margin: stop as soon as it is certain that the shapes are apart, or that they overlap
WIDEST = 256.0 * EPS  # of size + distance from the origin: a wider interval is UNCERTAIN


@lean
def status_of(lower, upper, margin, widest):
    """What bounds with rounding say of a pair; those that are further apart than ``widest`` leave it open."""
    if lower > margin:
        return BEYOND_MARGIN
    if upper - lower > widest:
        return UNCERTAIN
    if lower > 0.0:
        return SEPARATED
    return OVERLAPPING if upper < 0.0 else TOUCHING


@lean
def answer(low, high, n, p, q, x, size, slack, margin, iterations):
    """(status, distance, lower, upper, normal, point_a, point_b, iterations) from unrounded bounds.

    p, q: witness points relative to x, the position of A. ``size``: length of the pair that rounding is measured by;
    ``slack``: what its tables may be off (`slack_of`).
    """
    if low > high:
        low, high = high, low
    err = ROUNDING * size + slack
    lower = low - err
    upper = high + err
    status = status_of(lower, upper, margin, WIDEST * (size + norm(x)))
    distance = lower if status == BEYOND_MARGIN else 0.5 * (low + high)
    return status, distance, lower, upper, n, add(x, p), add(x, q), iterations


@lean
def slack_of(g, a, b):
    """How far the bodies that were given may be from those of the tables of vertices and planes [m]."""
    return g.slack[a] + g.slack[b]


@lean
def touching_limit(g, a, b, margin, size):
    """Gaps up to this belong to a contact [m]: the margin, and a slack, so that a face that is askew by rounding keeps all its
    points."""
    return max(margin, 0.0) + 1e-8 * min(g.radius[a], g.radius[b]) + ROUNDING * size


@lean
def swapped(result):
    """The answer for (B, A) as one for (A, B)."""
    status, distance, lower, upper, n, p, q, iterations = result
    return status, distance, lower, upper, neg(n), q, p, iterations


@lean
def inflated(low, high, n, p, q, radius_a, radius_b):
    """Bounds and witnesses of cores that carry balls: the signed distance falls by both radii, at any depth."""
    r = radius_a + radius_b
    return low - r, high - r, axpy(radius_a, n, p), axpy(-radius_b, n, q)


@lean
def core_margin(g, a, b, margin):
    """The margin of polytopes as one of their cores. It is never SIGN_ONLY where they have skins: the sign of cores tells nothing
    then."""
    skins = g.skin[a] + g.skin[b]
    if margin == SIGN_ONLY and skins > 0.0:
        return skins
    return margin + skins


@lean
def unlike(n, axis):
    """Distance of two unit vectors; inf where axis is zero."""
    if axis[0] == 0.0 and axis[1] == 0.0 and axis[2] == 0.0:
        return math.inf
    return norm((n[0] - axis[0], n[1] - axis[1], n[2] - axis[2]))


@lean
def to_world(r, n):
    """r n with its length restored."""
    v = mul(r, n)
    return scale(1.0 / norm(v), v)
