"""A disc that slides and spins on its rim."""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import solve_ivp


def spinning_disc(v: float, rw: float, mu: float, factor: float, points: int = 8, g: float = 9.81) -> tuple[float, float, float]:
    """(time until it stops [s], way [m], R times the angle turned [m]) of a disc with I = factor m R^2, evenly loaded rim.

    ``points`` of the rim bear the load, the directions averaged over half the angle between two of them, as the disc turns.
    """
    angles = 2 * math.pi * (np.arange(64 * points) + 0.5) / (64 * points)

    def rates(_, y):
        x, z = y[0] - y[1] * np.sin(angles), y[1] * np.cos(angles)
        slip = np.hypot(x, z)
        return [-mu * g * np.mean(x / slip), -mu * g * np.mean((y[1] - y[0] * np.sin(angles)) / slip) / factor, y[0], y[1]]

    def rest(_, y):
        return max(y[0], y[1]) - 1e-6

    rest.terminal = True
    path = solve_ivp(rates, (0, 10), [v, rw, 0, 0], method="DOP853", rtol=1e-9, atol=1e-11, events=rest)
    return path.t[-1], path.y[2, -1], path.y[3, -1]
