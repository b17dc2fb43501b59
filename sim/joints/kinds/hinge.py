"""Hinge: one common point, and one common axis, the third of both frames."""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import mul_t, sub


@lean
def measure_hinge(xa, fa, xb, fb, free):
    """Offset of the anchors; tilt of b's axis about a's first two axes; angle about the third, in (-pi, pi], 0 if not ``free``.

    With z the axis of b in the frame of a, the tilt is e_z x z; the angle is that of the turn which is left when the
    tilt is undone, and so exact for any tilt: with R the relative rotation, tan = (R10 - R01) / (R00 + R11).
    """
    d = mul_t(fa, sub(xb, xa))
    x = mul_t(fa, (fb[0], fb[3], fb[6]))
    y = mul_t(fa, (fb[1], fb[4], fb[7]))
    z = mul_t(fa, (fb[2], fb[5], fb[8]))
    return (d[0], d[1], d[2], -z[1], z[0], math.atan2(x[1] - y[0], x[0] + y[1]) if free else 0.0)
