"""Ball joint: the anchors of both bodies are one point."""

from __future__ import annotations

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import mul_t, sub


@lean
def measure_point(xa, fa, xb):
    """Offset of b's anchor from a's, in the frame of a [m]."""
    d = mul_t(fa, sub(xb, xa))
    return (d[0], d[1], d[2], 0.0, 0.0, 0.0)
