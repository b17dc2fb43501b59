"""Butcher's method of seven stages on (position, orientation, momentum, angular momentum): flights of jointed bodies.

Order 6. Butcher, J. Austral. Math. Soc. 4 (1964) 179, p. 192. At each stage a linear system is solved for the forces of the
joints, so stages are dear; these seven leave a linkage that turns by 0.05 in a step open by 1e-12 of its size, where four of
order 4 leave 1e-8.
"""

from __future__ import annotations

import numpy as np

from tumble.collision.kernels.jit import lean
from tumble.sim.flight.methods.explicit import blend, normalize_row, stages
from tumble.sim.state import END

# fmt: off
MATRIX = np.array([
    [0, 0, 0, 0, 0, 0],
    [1/3, 0, 0, 0, 0, 0],
    [0, 2/3, 0, 0, 0, 0],
    [1/12, 1/3, -1/12, 0, 0, 0],
    [-1/16, 9/8, -3/16, -3/8, 0, 0],
    [0, 9/8, -3/8, -3/4, 1/2, 0],
    [9/44, -9/11, 63/44, 18/11, 0, -16/11],
])
WEIGHTS = np.array([11/120, 0, 27/40, 27/40, -4/15, -4/15, 11/120])
NODES = np.array([0, 1/3, 2/3, 1/3, 1/2, 1/2, 1])
# fmt: on


@lean
def cluster_rk6(bodies, forces, joints, c, t, h, start, rate):
    """One step of a cluster from row ``start``, whose rate is row ``rate``, to row END of the path."""
    stages(bodies, forces, joints, c, t, h, start, rate, MATRIX, NODES)
    blend(forces, c, start, h, WEIGHTS, 7, END)
    normalize_row(forces, c, END)
