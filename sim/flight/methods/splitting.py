"""Splitting of a free rotation into rotations that are known exactly; symmetric, symplectic, reversible.

Order 2. The energy of rotation in principal axes, with a = 1/I and the middle axis as reference, is

    T = a2 |L|^2/2 + (a3 - a2) l3^2/2 + (a1 - a2) l1^2/2

The flow of the first term turns the body about L in space and commutes with the others, which turn it about its own axes.
Strang's composition of these two: the error of energy stays bounded, and |L| is kept. A symmetric body is exact. Touma,
Wisdom, Astron. J. 107 (1994) 1189; Dullweber, Leimkuhler, McLachlan, J. Chem. Phys. 107 (1997) 5840, section III.B.
"""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import mul_t, norm, qmul, qnormalize, rotation


@lean
def turn_splitting(q, l, h, moments, axes):
    """Orientation of a body without torque after h; ``axes`` turns principal axes into those of the body."""
    size = norm(l)
    if size == 0.0:
        return q
    q = qmul(q, axes)
    a1, a2, a3 = 1.0 / moments[0], 1.0 / moments[1], 1.0 / moments[2]
    b = mul_t(rotation(q), l)
    q, b = _about_third(q, b, 0.5 * h * (a3 - a2) * b[2])
    q, b = _about_first(q, b, h * (a1 - a2) * b[0])
    q, b = _about_third(q, b, 0.5 * h * (a3 - a2) * b[2])
    return qnormalize(qmul(about(l, size, h * a2 * size), qmul(q, conjugate(axes))))


@lean
def _about_first(q, b, angle):
    """Turn the body about its first axis; q and the angular momentum in its axes."""
    c, s = math.cos(angle), math.sin(angle)
    q = qmul(q, (math.cos(0.5 * angle), math.sin(0.5 * angle), 0.0, 0.0))
    return q, (b[0], c * b[1] + s * b[2], c * b[2] - s * b[1])


@lean
def _about_third(q, b, angle):
    c, s = math.cos(angle), math.sin(angle)
    q = qmul(q, (math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle)))
    return q, (c * b[0] + s * b[1], c * b[1] - s * b[0], b[2])


@lean
def about(l, size, angle):
    """Quaternion of a turn about l, of length ``size``."""
    s = math.sin(0.5 * angle) / size
    return (math.cos(0.5 * angle), s * l[0], s * l[1], s * l[2])


@lean
def conjugate(q):
    return (q[0], -q[1], -q[2], -q[3])
