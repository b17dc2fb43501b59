"""The laws of blocks of three rows, as projections: of contacts, and of joints.

With u the relative velocity of a row, c its target and R > 0 any number, such as the row's own K, y = p - (u - c)/R; a block
is solved when p = P(y):

COULOMB_LAW  a contact, rows (tangent, tangent, normal): p_n = max(0, y_n), p_t = the point of the disc of radius mu p_n nearest
             to y_t. Non-penetration, complementarity, the cone and maximal dissipation in one line (Alart, Curnier, Comput.
             Methods Appl. Mech. Eng. 92 (1991) 353, eq. 2.10).
BOX_LAW      p = y held in [low, high]. Without bounds it is an equality, u = c; with (0, inf) a limit; with (-f, f) a motor or
             friction: it gives at most f, and that against what is left of u - c.
BALL_LAW     the same for three rows together: p = the point of the ball of radius ``high`` nearest to y.
DISC_LAW     the moment of a contact whose y_n is f, Coulomb's law with arms in place of mu: rows 0 and 1 together are the point
             of the disc of radius ``high`` 0 f nearest to y, and row 2 is held in +- ``high`` 2 f.
SOFT_LAW     row 0 is soft, p = low - high u, a spring with its damper; rows 1 and 2 are BOX_LAW.
"""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import ZERO

COULOMB_LAW, BOX_LAW, BALL_LAW, SOFT_LAW, DISC_LAW = range(5)
# Regularisation as part of a row's own K: an equality has no law to switch, so it may be far below a contact's.
RIGID_COMPLIANCE = 1e-7


@lean
def coulomb(y, mu):
    """P(y) of a contact."""
    if y[2] <= 0.0:
        return (0.0, 0.0, 0.0)
    radius = mu * y[2]
    length = math.sqrt(y[0] * y[0] + y[1] * y[1])
    if length <= radius:
        return y
    dx, dy = y[0] / length, y[1] / length
    return (radius * dx, radius * dy, y[2])


@lean
def coulomb_step(p, w, mu, r, eps):
    """Newton's step of one contact: (s, G) such that dp = s - G du takes it to its law, linearised where it is.

    ``w`` = u - c is what it misses its target by, ``r`` its K_nn. Whether it touches and slides is read off y = p - w/r, where
    load and velocity weigh alike. With the compliance eps r and D = P'(y), the linearised law is
    dp = P(y) - p + D (dp - (du + eps r dp)/r), so with A = 1 - (1 - eps) D: s = A^-1 (P(y) - p) and G = A^-1 D/r.

    Where it slides, D is that of `_slide` in the tangents, with the radius mu y_n.
    """
    y0, y1, y2 = p[0] - w[0] / r, p[1] - w[1] / r, p[2] - w[2] / r
    if y2 <= 0.0:
        return (-p[0], -p[1], -p[2]), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    hard = 1.0 / (eps * r)
    radius, length = mu * y2, math.sqrt(y0 * y0 + y1 * y1)
    if length <= radius:
        return (-hard * w[0], -hard * w[1], -hard * w[2]), (hard, 0.0, 0.0, 0.0, hard, 0.0, 0.0, 0.0, hard)
    (d0, d1, _), (q0, q1, _), f, soft, k, both = _slide((p[0], p[1], 0.0), (y0, y1, 0.0), radius, length, eps)
    s2 = -hard * w[2]
    x0, x1 = f * y0 - p[0] + (1.0 - eps) * mu * d0 * s2, f * y1 - p[1] + (1.0 - eps) * mu * d1 * s2
    along = k * (d0 * x0 + d1 * x1)
    g, h = f / (r * soft), mu * hard / soft
    return (
        ((x0 - along * q0) / soft, (x1 - along * q1) / soft, s2),
        (
            g * (1.0 - both * q0 * d0), -g * both * q0 * d1, h * (d0 - k * q0),
            -g * both * q1 * d0, g * (1.0 - both * q1 * d1), h * (d1 - k * q1),
            0.0, 0.0, hard,
        ),
    )  # fmt: skip


@lean
def _slide(p, y, radius, length, eps):
    """The slope of P where it is P(y) = radius y/|y|, |y| = length: (d, q, f, soft, k, both).

    With d = y/|y| and f = radius/|y| it would be D = f (1 - d d^T). Far from the solution y may point the other way at each step.
    With q d^T in place of d d^T, q = p/max(radius, |p|), the step is the shorter the less p agrees with d, and where it agrees,
    it is the same (Hueber, Stadler, Wohlmuth, SIAM J. Sci. Comput. 30 (2008) 572). Then A = 1 - (1 - eps) D has the inverse
    A^-1 x = (x - k (d.x) q)/soft, and A^-1 D = f (1 - both q d^T)/soft.
    """
    d, f = (y[0] / length, y[1] / length, y[2] / length), radius / length
    bears = math.sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2])
    most = max(radius, bears)
    q = (p[0] / most, p[1] / most, p[2] / most) if most > 0.0 else d
    c = q[0] * d[0] + q[1] * d[1] + q[2] * d[2]
    if c < 0.0:
        size = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2])
        back = 1.0 - c / size * min(1.0, bears / radius if radius > 0.0 else 1.0)
        q, c = (q[0] / back, q[1] / back, q[2] / back), c / back
    part = (1.0 - eps) * f
    soft = 1.0 - part
    k = part / (soft + part * c)
    return d, q, f, soft, k, 1.0 + k - k * c


@lean
def _held(p, d, K, low, high):
    """(q, slope dq/dp) of one row, d = u - c its miss; see :func:`project_joint`."""
    free = low == -math.inf and high == math.inf
    y = p - d / K
    if not free and y <= low:
        return low, 0.0
    if not free and y >= high:
        return high, 0.0
    return p - d / (RIGID_COMPLIANCE * K), 1.0 / (RIGID_COMPLIANCE * K)


@lean
def project_joint(laws, p, u, K, k, load, growth):
    """(q, nine numbers of -dq/du, three of dq/dload) of block k: the impulses q that the velocity u calls for.

    A row is inside its bounds where p - (u - c)/K is, and then asks for u = c; with a smaller R the choice would overshoot
    from bound to bound. The bounds of a moment are ``load`` times its arms, and will be ``growth`` times them more.
    """
    law, c, lo, hi = laws.law[k], laws.c, laws.lo, laws.hi
    d0, d1, d2 = u[k, 0] - c[k, 0], u[k, 1] - c[k, 1], u[k, 2] - c[k, 2]
    if law == BALL_LAW:
        q, g, _ = _in_ball((p[k, 0], p[k, 1], p[k, 2]), (d0, d1, d2), K[k, 0], hi[k, 0], 0.0)
        return q, g, ZERO
    if law == DISC_LAW:
        return _in_disc((p[k, 0], p[k, 1], p[k, 2]), (d0, d1, d2), K[k, 0], K[k, 2], hi[k, 0], hi[k, 2], load, growth)
    if law == SOFT_LAW:
        q0, g0 = lo[k, 0] - hi[k, 0] * u[k, 0], hi[k, 0]
    else:
        q0, g0 = _held(p[k, 0], d0, K[k, 0], lo[k, 0], hi[k, 0])
    q1, g1 = _held(p[k, 1], d1, K[k, 1], lo[k, 1], hi[k, 1])
    q2, g2 = _held(p[k, 2], d2, K[k, 2], lo[k, 2], hi[k, 2])
    return (q0, q1, q2), (g0, 0.0, 0.0, 0.0, g1, 0.0, 0.0, 0.0, g2), ZERO


@lean
def _weight(K, size, radius):
    """R of a law with bounds: no more than K, and where the velocity that is missed, of this ``size``, is small beside its bound,
    so that both weigh alike in y.

    Of what others hold all but still, as the rolling of a face that lies flat, with K the bound would be all of y: whether it
    turns would be read off the impulse alone, and the sets take turns.
    """
    return max(RIGID_COMPLIANCE * K, min(K, size / radius)) if radius > 0.0 else K


@lean
def _in_ball(p, w, K, radius, growth):
    """(q, slope, dq/dradius) of an impulse p in a ball, w = u - c what it misses: as in `coulomb_step`, for a radius that will
    be more by its ``growth``.

    D tells where p is to go: P(y) alone would take it there in as many steps as R |p| is times |w|.
    """
    r = _weight(K, math.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]), radius)
    y = (p[0] - w[0] / r, p[1] - w[1] / r, p[2] - w[2] / r)
    length = math.sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2])
    if length < radius:
        f = 1.0 / (RIGID_COMPLIANCE * K)
        return (p[0] - f * w[0], p[1] - f * w[1], p[2] - f * w[2]), (f, 0.0, 0.0, 0.0, f, 0.0, 0.0, 0.0, f), ZERO
    if length == 0.0:
        return ZERO, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0), ZERO
    d, q, f, soft, k, both = _slide(p, y, radius, length, RIGID_COMPLIANCE)
    to = radius + growth
    x = (to * d[0] - p[0], to * d[1] - p[1], to * d[2] - p[2])
    along, g = k * (d[0] * x[0] + d[1] * x[1] + d[2] * x[2]), f / (r * soft)
    h = -g * both
    return (
        (p[0] + (x[0] - along * q[0]) / soft, p[1] + (x[1] - along * q[1]) / soft, p[2] + (x[2] - along * q[2]) / soft),
        (
            g + h * q[0] * d[0], h * q[0] * d[1], h * q[0] * d[2],
            h * q[1] * d[0], g + h * q[1] * d[1], h * q[1] * d[2],
            h * q[2] * d[0], h * q[2] * d[1], g + h * q[2] * d[2],
        ),
        ((d[0] - k * q[0]) / soft, (d[1] - k * q[1]) / soft, (d[2] - k * q[2]) / soft),
    )  # fmt: skip


@lean
def _in_disc(p, w, K, K2, arm, arm2, load, growth):
    """(q, slope, dq/dload) of an impulse whose rows 0 and 1 stay in a disc, and row 2 between bounds: ``load`` times the arms."""
    y2 = p[2] - w[2] / _weight(K2, abs(w[2]), arm2 * load)
    if abs(y2) < arm2 * load:
        g2, t2 = 1.0 / (RIGID_COMPLIANCE * K2), 0.0
        q2 = p[2] - g2 * w[2]
    else:
        g2, t2 = 0.0, math.copysign(arm2, y2)
        q2 = t2 * (load + growth)
    (q0, q1, _), g, t = _in_ball((p[0], p[1], 0.0), (w[0], w[1], 0.0), K, arm * load, arm * growth)
    return (q0, q1, q2), (g[0], g[1], 0.0, g[3], g[4], 0.0, 0.0, 0.0, g2), (arm * t[0], arm * t[1], t2)


@lean
def residual_joint(laws, p, u, K, k, load):
    """Largest velocity by which a row of block k misses its law: K |P(p - (u - c)/K) - p|.

    A soft row gives way, u by K for each p and p by high for each u: what it is off by in velocity is K/(1 + K high) times the
    impulse that is missing. A rotor of a thousand times the inertia of its link would else have to be right to a thousandth
    of the rounding of its speed.
    """
    law, c, lo, hi, worst = laws.law[k], laws.c, laws.lo, laws.hi, 0.0
    if law == BALL_LAW:
        d0, d1, d2 = u[k, 0] - c[k, 0], u[k, 1] - c[k, 1], u[k, 2] - c[k, 2]
        y0, y1, y2 = p[k, 0] - d0 / K[k, 0], p[k, 1] - d1 / K[k, 0], p[k, 2] - d2 / K[k, 0]
        length = math.sqrt(y0 * y0 + y1 * y1 + y2 * y2)
        f = min(1.0, hi[k, 0] / length) if length > 0.0 else 0.0
        return K[k, 0] * max(abs(f * y0 - p[k, 0]), abs(f * y1 - p[k, 1]), abs(f * y2 - p[k, 2]))
    if law == DISC_LAW:
        y0, y1 = p[k, 0] - (u[k, 0] - c[k, 0]) / K[k, 0], p[k, 1] - (u[k, 1] - c[k, 1]) / K[k, 0]
        length = math.sqrt(y0 * y0 + y1 * y1)
        f = min(1.0, load * hi[k, 0] / length) if length > 0.0 else 0.0
        q2 = min(max(p[k, 2] - (u[k, 2] - c[k, 2]) / K[k, 2], -load * hi[k, 2]), load * hi[k, 2])
        return max(K[k, 0] * max(abs(f * y0 - p[k, 0]), abs(f * y1 - p[k, 1])), K[k, 2] * abs(q2 - p[k, 2]))
    for r in range(3):
        y = p[k, r] - (u[k, r] - c[k, r]) / K[k, r]
        q = min(max(y, lo[k, r]), hi[k, r])
        give = K[k, r]
        if r == 0 and law == SOFT_LAW:
            q = lo[k, 0] - hi[k, 0] * u[k, 0]
            give /= 1.0 + give * hi[k, 0]
        worst = max(worst, abs(q - p[k, r]) * give)
    return worst


@lean
def clip_joint(laws, p, k):
    """Take the impulses of block k into their bounds; those of contacts are in theirs."""
    law, lo, hi = laws.law[k], laws.lo, laws.hi
    if law == BALL_LAW:
        length = math.sqrt(p[k, 0] * p[k, 0] + p[k, 1] * p[k, 1] + p[k, 2] * p[k, 2])
        if length > hi[k, 0]:
            for r in range(3):
                p[k, r] *= hi[k, 0] / length
        return
    if law == DISC_LAW:
        load = p[laws.load[k], 2] if laws.load[k] >= 0 else 1.0
        length, radius, high = math.sqrt(p[k, 0] * p[k, 0] + p[k, 1] * p[k, 1]), load * hi[k, 0], load * hi[k, 2]
        if length > radius:
            p[k, 0] *= radius / length
            p[k, 1] *= radius / length
        p[k, 2] = min(max(p[k, 2], -high), high)
        return
    for r in range(3):
        if r > 0 or law == BOX_LAW:
            p[k, r] = min(max(p[k, r], lo[k, r]), hi[k, r])


@lean
def clip_contact(p, mu, k):
    """Take the impulses of contact k into Coulomb's cone, keeping the normal part."""
    if not p[k, 2] > 0.0:
        p[k, 0] = p[k, 1] = p[k, 2] = 0.0
        return
    radius = mu * p[k, 2]
    length = math.sqrt(p[k, 0] * p[k, 0] + p[k, 1] * p[k, 1])
    if length > radius:
        p[k, 0] *= radius / length
        p[k, 1] *= radius / length
