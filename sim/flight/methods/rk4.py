"""Classical Runge-Kutta on (position, orientation, momentum, angular momentum).

Order 4. Kutta 1901; Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, II.1, table 1.2.

With L as a state variable a free body keeps it exactly: its derivative is the torque, zero.
"""

from __future__ import annotations

import numpy as np

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import qnormalize
from tumble.sim.equations import turning_rate
from tumble.sim.flight.methods.explicit import blend, normalize_row, stages
from tumble.sim.state import END

MATRIX = np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 1.0]])
WEIGHTS = np.array([1.0, 2.0, 2.0, 1.0]) / 6.0
NODES = np.array([0.0, 0.5, 0.5, 1.0])


@lean
def cluster_rk4(bodies, forces, joints, c, t, h, start, rate):
    """One step of a cluster from row ``start``, whose rate is row ``rate``, to row END of the path."""
    stages(bodies, forces, joints, c, t, h, start, rate, MATRIX, NODES)
    blend(forces, c, start, h, WEIGHTS, 4, END)
    normalize_row(forces, c, END)


@lean
def turn_rk4(q, l, h, inv_inertia):
    """Orientation of a body without torque after h."""
    a = turning_rate(q, inv_inertia, l)
    b = turning_rate(_step(0.5 * h, a, q), inv_inertia, l)
    c = turning_rate(_step(0.5 * h, b, q), inv_inertia, l)
    d = turning_rate(_step(h, c, q), inv_inertia, l)
    s = h / 6.0
    return qnormalize(
        (
            q[0] + s * (a[0] + 2.0 * (b[0] + c[0]) + d[0]),
            q[1] + s * (a[1] + 2.0 * (b[1] + c[1]) + d[1]),
            q[2] + s * (a[2] + 2.0 * (b[2] + c[2]) + d[2]),
            q[3] + s * (a[3] + 2.0 * (b[3] + c[3]) + d[3]),
        )
    )


@lean
def _step(h, a, b):
    return (h * a[0] + b[0], h * a[1] + b[1], h * a[2] + b[2], h * a[3] + b[3])
