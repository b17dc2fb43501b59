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
