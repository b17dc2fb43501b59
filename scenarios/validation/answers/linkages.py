"""Linkages in a plane, from accelerations, which the simulator does not use: integrated by a method of order 8.

Bodies have coordinates (x, z, angle about +y); where there are conditions, Lagrange's multipliers keep them.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

G = 9.81


def swing(seconds: float, length: float, moment: float) -> float:
    """Angle below the level of a rod of 1 kg on a pivot at its end, let go level: sn with k = sin(45 degrees)."""
    rate = math.sqrt(G * length / 2 / moment)
    return math.pi / 2 - 2 * math.asin(math.sqrt(0.5) * ellipj(ellipk(0.5) - rate * seconds, 0.5)[0])


def double_pendulum(seconds: float, a: float, b: float, length: float, moment: float) -> np.ndarray:
    """Angles from the vertical and their rates of two rods of 1 kg, let go at rest: Lagrange's equations in the two angles.

    ``moment`` [kg m^2] of each about its centre.
    """
    m11, m22, m12 = moment + 1.25 * length**2, moment + 0.25 * length**2, 0.5 * length**2

    def rates(_, y):
        a, b, p, q = y
        c, s = math.cos(a - b), math.sin(a - b)
        force = -m12 * s * q * q - 1.5 * length * G * math.sin(a), m12 * s * p * p - 0.5 * length * G * math.sin(b)
        return [p, q, *np.linalg.solve([[m11, m12 * c], [m12 * c, m22]], force)]

    return solve_ivp(rates, (0, seconds), (a, b, 0, 0), method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]


def arm(angle: float, s: np.ndarray) -> np.ndarray:
    """(x, z) of the body vector s after a turn by ``angle`` about +y."""
    c, d = np.cos(angle), np.sin(angle)
    return np.array([c * s[0] + d * s[1], -d * s[0] + c * s[1]])


def rate(angle: float, s: np.ndarray) -> np.ndarray:
    """Derivative of :func:`arm` by the angle."""
    return arm(angle + np.pi / 2, s)


def linkage(masses, moments, pins, start, speed, seconds: float) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and speeds (n, 3) after a time. ``pins``: (i, s_i, j, s_j), bodies (-1: the world) and points in them."""
    n = len(masses)
    mass = np.diag(np.ravel([[m, m, i] for m, i in zip(masses, moments, strict=True)]))
    weight = np.ravel([[0.0, -m * G, 0.0] for m in masses])

    def constraint(q, v):
        rows, bias = np.zeros((2 * len(pins), 3 * n)), np.zeros(2 * len(pins))
        for k, (i, si, j, sj) in enumerate(pins):
            for body, s, sign in ((i, si, -1.0), (j, sj, 1.0)):
                if body >= 0:
                    s, angle, turn = np.asarray(s), q[3 * body + 2], v[3 * body + 2]
                    rows[2 * k : 2 * k + 2, 3 * body : 3 * body + 2] = sign * np.eye(2)
                    rows[2 * k : 2 * k + 2, 3 * body + 2] = sign * rate(angle, s)
                    bias[2 * k : 2 * k + 2] -= sign * turn**2 * arm(angle, s)
        return rows, bias

    def f(t, y):
        q, v = y[: 3 * n], y[3 * n :]
        rows, bias = constraint(q, v)
        inverse = np.linalg.inv(mass)
        free = inverse @ weight
        force, *_ = np.linalg.lstsq(rows @ inverse @ rows.T, -bias - rows @ free, rcond=None)
        return np.concatenate([v, free + inverse @ rows.T @ force])

    y = solve_ivp(f, (0, seconds), np.concatenate([np.ravel(start), np.ravel(speed)]), method="DOP853", rtol=1e-12, atol=1e-12)
    end = y.y[:, -1]
    return end[: 3 * n].reshape(n, 3), end[3 * n :].reshape(n, 3)
