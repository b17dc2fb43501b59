"""Explicit Runge-Kutta steps of a cluster of bodies under forces, from the rows of Forces.path."""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import lean
from tumble.sim.flight.rates import rates
from tumble.sim.solvers.lanes import LANES, every, lanes_at, put_lanes
from tumble.sim.state import FLIGHT, SLOPE, STAGE

STATE = 4 * LANES  # first numbers of a row, of which rates depend


@lean
def blend(forces, c, start, h, weights, count, into, numbers=FLIGHT):
    """Row ``into`` = row ``start`` + h times the weighted slopes, for all members of cluster c: so many ``numbers`` of each."""
    path = forces.path
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i = forces.member[m]
        for k in range(0, numbers, LANES):
            total = every(0.0)
            for s in range(count):
                total = total + every(weights[s]) * lanes_at(path[SLOPE + s], i, k)
            put_lanes(path[into], i, k, lanes_at(path[start], i, k) + every(h) * total)


@lean
def copy_row(forces, c, source, into):
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i = forces.member[m]
        for k in range(FLIGHT):
            forces.path[into, i, k] = forces.path[source, i, k]


@lean
def normalize_row(forces, c, row):
    """Orientations of unit length."""
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        y = forces.path[row, forces.member[m]]
        n = math.sqrt(y[3] * y[3] + y[4] * y[4] + y[5] * y[5] + y[6] * y[6])
        for k in range(3, 7):
            y[k] /= n


@lean
def stages(bodies, forces, joints, c, t, h, start, rate, a, nodes):
    """All slopes of a method with matrix ``a`` and ``nodes``, from row ``start``, where the rate is row ``rate``."""
    copy_row(forces, c, rate, SLOPE)
    for s in range(1, len(nodes)):
        blend(forces, c, start, h, a[s], s, STAGE, STATE)
        rates(bodies, forces, joints, c, t + nodes[s] * h, STAGE, SLOPE + s, h)
