"""Coulomb's law of a contact as a projection.

With u the relative velocity, c the target and R > 0 any number, y = p - (u - c)/R; a contact is solved when p = P(y):
p_n = max(0, y_n), p_t = the point of the disc of radius mu p_n nearest to y_t. Non-penetration, complementarity, the cone
and maximal dissipation in one line (Alart, Curnier, Comput. Methods Appl. Mech. Eng. 92 (1991) 353, eq. 2.10).
"""

from __future__ import annotations

import math

from collision.kernels.jit import lean


@lean
def coulomb(y, mu):
    """P(y), and the nine numbers of dP/dy."""
    if y[2] <= 0.0:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    radius = mu * y[2]
    length = math.sqrt(y[0] * y[0] + y[1] * y[1])
    if length <= radius:
        return y, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    dx, dy = y[0] / length, y[1] / length
    f = radius / length
    return (
        (radius * dx, radius * dy, y[2]),
        (f * dy * dy, -f * dx * dy, mu * dx, -f * dx * dy, f * dx * dx, mu * dy, 0.0, 0.0, 1.0),
    )


@lean
def coulomb_step(p, w, mu, r, eps):
    """Newton's step of one contact: (s, G) such that dp = s - G du takes it to its law, linearised where it is.

    ``w`` = u - c is what it misses its target by, ``r`` its K_nn. Whether it touches and slides is read off y = p - w/r, where
    load and velocity weigh alike. With the compliance eps r and D = P'(y), the linearised law is
    dp = P(y) - p + D (dp - (du + eps r dp)/r), so with A = 1 - (1 - eps) D: s = A^-1 (P(y) - p) and G = A^-1 D/r.
    """
    y0, y1, y2 = p[0] - w[0] / r, p[1] - w[1] / r, p[2] - w[2] / r
    if y2 <= 0.0:
        return (-p[0], -p[1], -p[2]), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    hard = 1.0 / (eps * r)
    radius, length = mu * y2, math.sqrt(y0 * y0 + y1 * y1)
    if length <= radius:
        return (-hard * w[0], -hard * w[1], -hard * w[2]), (hard, 0.0, 0.0, 0.0, hard, 0.0, 0.0, 0.0, hard)
    dx, dy, f = y0 / length, y1 / length, radius / length
    soft = 1.0 - (1.0 - eps) * f
    s0, s1, s2 = f * y0 - p[0], f * y1 - p[1], -hard * w[2]
    across = (1.0 - soft) / soft * (dx * s1 - dy * s0)
    along = (1.0 - eps) * mu * s2
    g = f / (r * soft)
    return (
        (s0 - across * dy + along * dx, s1 + across * dx + along * dy, s2),
        (g * dy * dy, -g * dx * dy, mu * hard * dx, -g * dx * dy, g * dx * dx, mu * hard * dy, 0.0, 0.0, hard),
    )
