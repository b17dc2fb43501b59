"""Fixed joint: both frames coincide. Slider: they do but for the travel along the third axis of a's frame."""

from __future__ import annotations

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import mul_t, sub


@lean
def measure_fixed(xa, fa, xb, fb):
    """Offset of b's anchor, and the axis of b's rotation times the sine of its angle, in the frame of a."""
    d = mul_t(fa, sub(xb, xa))
    x = mul_t(fa, (fb[0], fb[3], fb[6]))
    y = mul_t(fa, (fb[1], fb[4], fb[7]))
    z = mul_t(fa, (fb[2], fb[5], fb[8]))
    return (d[0], d[1], d[2], 0.5 * (y[2] - z[1]), 0.5 * (z[0] - x[2]), 0.5 * (x[1] - y[0]))
