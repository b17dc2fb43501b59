"""Whether stones can rest on each other at all: forces in the contacts that balance the weights, by linear programming.

Below the least friction for which there are such forces nothing can stand, whatever a simulator does; above it stones that
start at rest and do not slide stay. It shares nothing with the simulator but the contact points.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from tumble.sim import World


def can_rest(world: World, friction: float, directions: int = 8) -> bool:
    """Forces at ``world.contacts()``, in cones of that friction, that hold all dynamic bodies under gravity.

    The circular cone is replaced by the pyramid of ``directions`` edges inside it: exact for scenes in the plane x, z.
    """
    c = world.contacts()
    b = world.model.bodies
    row = {int(i): 6 * k for k, i in enumerate(np.flatnonzero(b.mass > 0))}
    columns = []
    for n in range(len(c)):
        normal = c["normal"][n]
        s = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
        s /= np.linalg.norm(s)
        t = np.cross(normal, s)
        for angle in 2 * np.pi * np.arange(directions) / directions:
            ray = normal + friction * (np.cos(angle) * s + np.sin(angle) * t)
            column = np.zeros(6 * len(row))
            for body, sign in ((int(c["body_a"][n]), -1), (int(c["body_b"][n]), 1)):
                if body in row:
                    k = row[body]
                    column[k : k + 3] += sign * ray
                    column[k + 3 : k + 6] += sign * np.cross(c["point"][n] - b.x[body], ray)
            columns.append(column)
    weight = np.zeros(6 * len(row))
    for body, k in row.items():
        weight[k : k + 3] = -b.mass[body] * b.gravity[body]
    result = linprog(np.zeros(len(columns)), A_eq=np.array(columns).T / weight.max(), b_eq=weight / weight.max(), method="highs")
    return result.status == 0


def least_friction(world: World, most: float = 2.0, error: float = 1e-3) -> float:
    """The least friction with which these contacts can carry the bodies, to ``error`` of it; inf above ``most``."""
    if not can_rest(world, most):
        return np.inf
    low, high = 0.0, most
    while high - low > error * high and high > 1e-6:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if can_rest(world, middle) else (middle, high)
    return high
