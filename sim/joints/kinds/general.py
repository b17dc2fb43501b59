"""General joint: any choice of three travels and three turns, as one table of which are held.

The travels are those of b's anchor along the axes of a's frame. The turns are the angles of three turns one after the
other, about x, then about y as that has turned it, then about z (Tait and Bryan): R = X(p) Y(q) Z(r), R b's frame in that of a.
The rates of the angles are no parts of the angular velocity w along three perpendicular axes: w = p' e1 + q' e2 + r' e3, with
e1 of a, e3 of b, and e2 perpendicular to both. A row of a turn acts along the reciprocal vector, p' = w . (e2 x e3)/cos q, and so
on: its torque does work on its own angle alone. At q = 90 degrees e1 and e3 coincide, and two angles are one.
"""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import cross, matmul, mul_t, norm, scale, sub, transpose

LOCKED = 1e-6  # cosine of the middle angle below which reciprocal vectors grow no further


@lean
def measure_general(xa, fa, xb, fb, sign, first, second, third):
    """Travels in the frame of a, and of the three angles those that are asked for, else 0; all times ``sign``."""
    d, m = mul_t(fa, sub(xb, xa)), matmul(transpose(fa), fb)
    p = math.atan2(-m[5], m[8]) if first else 0.0
    q = math.atan2(m[2], math.sqrt(m[5] * m[5] + m[8] * m[8])) if second else 0.0
    r = math.atan2(-m[1], m[0]) if third else 0.0
    return (sign * d[0], sign * d[1], sign * d[2], sign * p, sign * q, sign * r)


@lean
def turning_frame(fa, fb, sign):
    """The reciprocal vectors of the three turns, as columns, times ``sign``."""
    e1, e3 = (fa[0], fa[3], fa[6]), (fb[2], fb[5], fb[8])
    n = cross(e3, e1)
    c = max(norm(n), LOCKED)
    e2 = scale(1.0 / c, n)
    a, b = scale(sign / c, cross(e2, e3)), scale(sign / c, cross(e1, e2))
    return (a[0], sign * e2[0], b[0], a[1], sign * e2[1], b[1], a[2], sign * e2[2], b[2])
