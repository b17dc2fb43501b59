"""Two frames that stay together: of a ball joint their origins, of a fixed joint their axes too, of a hinge all but the turn
about the third axis, of a slider all but the travel along it."""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import matmul, mul_t, sub, transpose


@lean
def measure_point(xa, fa, xb):
    """Offset of b's anchor from a's, in the frame of a [m]."""
    d = mul_t(fa, sub(xb, xa))
    return (d[0], d[1], d[2], 0.0, 0.0, 0.0)


@lean
def measure_fixed(xa, fa, xb, fb):
    """Offset of b's anchor, and the axis of b's rotation times the sine of its angle, in the frame of a."""
    d, r = mul_t(fa, sub(xb, xa)), matmul(transpose(fa), fb)
    return (d[0], d[1], d[2], 0.5 * (r[7] - r[5]), 0.5 * (r[2] - r[6]), 0.5 * (r[3] - r[1]))


@lean
def measure_hinge(xa, fa, xb, fb, free):
    """Offset of the anchors; tilt of b's axis about a's first two axes; angle about the third, in (-pi, pi], 0 if not ``free``.

    With z the axis of b in the frame of a, the tilt is e_z x z; the angle is that of the turn which is left when the
    tilt is undone, and so exact for any tilt: with R the relative rotation, tan = (R10 - R01) / (R00 + R11).
    """
    d, r = mul_t(fa, sub(xb, xa)), matmul(transpose(fa), fb)
    return (d[0], d[1], d[2], -r[5], r[2], math.atan2(r[3] - r[1], r[0] + r[4]) if free else 0.0)
