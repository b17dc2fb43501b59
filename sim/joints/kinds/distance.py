"""Distance: rod, rope or spring between two points."""

from __future__ import annotations

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import ZERO, axpy, dot, norm, orthonormal, scale, sub


@lean
def line_frame(xa, xb):
    """A frame whose third axis points from a's anchor to b's; columns are its axes."""
    d = sub(xb, xa)
    size = norm(d)
    n = scale(1.0 / size, d) if size > 0.0 else (0.0, 0.0, 1.0)
    s, t = orthonormal(n)
    return (s[0], t[0], n[0], s[1], t[1], n[1], s[2], t[2], n[2])


@lean
def measure_distance(xa, xb, length):
    """How much longer than ``length`` it is [m]."""
    return (0.0, 0.0, norm(sub(xb, xa)) - length, 0.0, 0.0, 0.0)


@lean
def line_rate(d, v):
    """Rate of the direction from a's anchor to b's, which are d apart and move apart at velocity v."""
    size = norm(d)
    if size == 0.0:
        return ZERO
    n = scale(1.0 / size, d)
    return scale(1.0 / size, axpy(-dot(n, v), n, v))
