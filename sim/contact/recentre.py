"""The middle of the kick as the state: what is kept where the second half of the kick will be asked for anew."""

from __future__ import annotations

from collision.kernels.jit import kernel
from collision.linalg import add, load3, scale, store3


@kernel
def recentre(bodies):
    """Momenta before and after the kick become their mean."""
    for i in range(len(bodies.kind)):
        p = scale(0.5, add(load3(bodies.p, i), load3(bodies.p_before, i)))
        l = scale(0.5, add(load3(bodies.l, i), load3(bodies.l_before, i)))
        store3(bodies.p, i, p)
        store3(bodies.l, i, l)
        store3(bodies.p_before, i, p)
        store3(bodies.l_before, i, l)
