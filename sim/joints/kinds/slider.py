"""Slider: b moves along the third axis of a's frame and does not turn against a."""

from __future__ import annotations

from tumble.collision.kernels.jit import lean
from tumble.sim.joints.kinds.fixed import measure_fixed


@lean
def measure_slider(xa, fa, xb, fb):
    """Offset of b's anchor in the frame of a, its third part the travel; rotation vector of b against a."""
    return measure_fixed(xa, fa, xb, fb)
