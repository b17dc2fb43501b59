"""The laws of joint rows as projections, beside those of contacts in friction.py.

With u the relative velocity of a row, c its target and R > 0 any number, y = p - (u - c)/R; a row is solved when p = P(y):

BOX   p = y held in [low, high]. Without bounds it is an equality, u = c; with (0, inf) a limit; with (-f, f) a motor or
      friction: it gives at most f, and that against what is left of u - c.
BALL  the same for three rows together: p = the point of the ball of radius ``high`` nearest to y.
AXIS  row 0 is soft, p = low - high u, a spring with its damper; rows 1 and 2 are BOX.

Contacts carry their friction coefficient, >= 0, where joints carry the number of their law, < 0.
"""

from __future__ import annotations

import math

from collision.jit import lean

BOX, BALL, AXIS = -1.0, -2.0, -3.0
RIGID = 1e-7  # regularisation as part of a row's own K: joints have no law to switch, so it may be far below a contact's


@lean
def _held(y, low, high):
    """y in [low, high], and the slope."""
    if y < low:
        return low, 0.0
    if y > high:
        return high, 0.0
    return y, 1.0


@lean
def project_joint(law, p, u, c, R, lo, hi, k, scale):
    """(P(y), nine numbers of dP/dy / R) of block k, with ``scale`` R for R; the soft row's own law in place of y's."""
    y0 = p[k, 0] - (u[k, 0] - c[k, 0]) / (scale * R[k, 0])
    y1 = p[k, 1] - (u[k, 1] - c[k, 1]) / (scale * R[k, 1])
    y2 = p[k, 2] - (u[k, 2] - c[k, 2]) / (scale * R[k, 2])
    if law == BALL:
        f, radius = 1.0 / (scale * R[k, 0]), hi[k, 0]
        length = math.sqrt(y0 * y0 + y1 * y1 + y2 * y2)
        if length <= radius:
            return (y0, y1, y2), (f, 0.0, 0.0, 0.0, f, 0.0, 0.0, 0.0, f)
        d0, d1, d2 = y0 / length, y1 / length, y2 / length
        f *= radius / length
        return (radius * d0, radius * d1, radius * d2), (
            f * (1.0 - d0 * d0), -f * d0 * d1, -f * d0 * d2,
            -f * d1 * d0, f * (1.0 - d1 * d1), -f * d1 * d2,
            -f * d2 * d0, -f * d2 * d1, f * (1.0 - d2 * d2),
        )  # fmt: skip
    if law == AXIS:
        q0, g0 = lo[k, 0] - hi[k, 0] * u[k, 0], hi[k, 0]
    else:
        q0, s0 = _held(y0, lo[k, 0], hi[k, 0])
        g0 = s0 / (scale * R[k, 0])
    q1, s1 = _held(y1, lo[k, 1], hi[k, 1])
    q2, s2 = _held(y2, lo[k, 2], hi[k, 2])
    g1, g2 = s1 / (scale * R[k, 1]), s2 / (scale * R[k, 2])
    return (q0, q1, q2), (g0, 0.0, 0.0, 0.0, g1, 0.0, 0.0, 0.0, g2)


@lean
def residual_joint(law, p, u, c, R, lo, hi, k):
    """Largest velocity by which a row of block k misses its law: K |P(p - (u - c)/K) - p|, K = R / RIGID."""
    q, _ = project_joint(law, p, u, c, R, lo, hi, k, 1.0 / RIGID)
    worst = 0.0
    for r in range(3):
        worst = max(worst, abs(q[r] - p[k, r]) * R[k, r] / RIGID)
    return worst


@lean
def clip_joint(law, p, lo, hi, k):
    """Take the impulses of block k into their bounds."""
    if law == BALL:
        length = math.sqrt(p[k, 0] * p[k, 0] + p[k, 1] * p[k, 1] + p[k, 2] * p[k, 2])
        if length > hi[k, 0]:
            for r in range(3):
                p[k, r] *= hi[k, 0] / length
        return
    for r in range(3):
        if r > 0 or law == BOX:
            p[k, r] = min(max(p[k, r], lo[k, r]), hi[k, r])
