"""States of a flight between its ends, where the integrator took several steps: between two of them lies a piece of the path.

A flight of jointed bodies takes as many steps as its joints ask for. Within one of them the path is a polynomial, but what a
polynomial through the ends of the whole flight says of the time between them has nothing to do with the motion: a link at
235 rad/s that turned by 1 rad in a step of 1/240 s had 1200 rad/s in the middle of it, by its angular momentum there.
"""

from __future__ import annotations

from tumble.collision.kernels.jit import lean
from tumble.sim.flight.methods.explicit import copy_row
from tumble.sim.state import END, MIDDLE, MIDRATE, RATE0, RATE1, START, STATIONS


@lean
def _stride(steps):
    """Steps of the integrator from one station to the next."""
    return (steps + STATIONS) // (STATIONS + 1)


@lean
def _station(forces, k):
    """Row of the path with the state at station k = 1, 2, ...; that of its rates follows."""
    return forces.path.shape[0] - 2 * k


@lean
def keep_station(forces, c, n, steps):
    """Keep the state of cluster c before step n of so many, where it is a station."""
    stride = _stride(steps)
    if n % stride == 0:
        row = _station(forces, n // stride)
        copy_row(forces, c, MIDDLE, row)
        copy_row(forces, c, MIDRATE, row + 1)


@lean
def piece(forces, c, start, t):
    """Rows of state and rates at both ends of the piece on which cluster c is at time t, when that begins, and how long
    it is [s]. ``start``: when the flight began."""
    steps, h = forces.steps[c], forces.ends[c] - start
    if steps == 1:
        return START, RATE0, END, RATE1, start, h
    stride, part = _stride(steps), h / steps
    k, most = min(int((t - start) / (stride * part)), (steps - 1) // stride), (steps - 1) // stride
    first, rate0, last, rate1 = START, RATE0, END, RATE1
    if k > 0:
        first = _station(forces, k)
        rate0 = first + 1
    if k < most:
        last = _station(forces, k + 1)
        rate1 = last + 1
    t0 = start + k * stride * part
    return first, rate0, last, rate1, t0, (forces.ends[c] - t0) if k == most else stride * part
