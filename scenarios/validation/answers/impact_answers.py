"""Impacts of one point: plane ones in closed form, others by an integration of another kind than the simulator's.

The contact frame has z along the normal; u is the velocity of B against A, p the impulse on B, du = K dp.
Sources: E. J. Routh, Dynamics of a system of rigid bodies, 1905, chapter 5; Y. Wang, M. T. Mason, J. Appl. Mech. 59 (1992)
635; W. J. Stronge, Proc. R. Soc. A 431 (1990) 169.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq


def contact_matrix(*bodies: tuple) -> np.ndarray:
    """K of (mass, inertia (3, 3), arm (3,)), one or two bodies, in the axes that they are given in."""
    k = np.zeros((3, 3))
    for mass, inertia, r in bodies:
        x = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
        k += np.eye(3) / mass - x @ np.linalg.inv(inertia) @ x
    return (k + k.T) / 2


def plane_impact(k: object, u: object, mu: float, e: float, law: str) -> tuple[np.ndarray, np.ndarray]:
    """(u after, impulse), both (tangential, normal), of an impact in a plane: at most two straight lines in the impulse.

    k: (K_tt, K_tn, K_nn); u: (u_t, u_n) with u_n < 0; law: "stronge", "poisson" or "newton".
    """
    ktt, ktn, knn = k
    matrix = np.array([[ktt, ktn], [ktn, knn]])
    way = math.copysign(1.0, u[0]) if u[0] else 0.0
    slide = np.array([-mu * way, 1.0])
    if abs(ktn) <= mu * ktt:
        rest = np.array([-ktn / ktt, 1.0])  # sticks
    else:
        rest = np.array([-mu * math.copysign(1.0, ktn), 1.0])  # slips on, away from where the coupling drives it
    rate = matrix @ slide
    until = 0.0 if way == 0.0 else -u[0] / rate[0] if rate[0] * way < 0 else math.inf  # p_n at which the slip is at rest

    def after(p: float) -> tuple[np.ndarray, np.ndarray]:
        first = min(p, until)
        impulse = slide * first + (rest * (p - until) if p > until else 0.0)
        return np.asarray(u) + matrix @ impulse, impulse

    def work(p: float) -> float:
        """Of the normal impulse up to p: trapezia of u_n on each line."""
        marks = [0.0, min(p, until), p]
        speeds = [after(m)[0][1] for m in marks]
        return sum((b - a) * (x + y) / 2 for a, b, x, y in zip(marks, marks[1:], speeds, speeds[1:], strict=False))

    far = 1.0
    while after(far)[0][1] <= 0:
        far *= 2
    compressed = brentq(lambda p: after(p)[0][1], 0, far, xtol=1e-300, rtol=1e-15)
    if law == "poisson":
        return after((1 + e) * compressed)
    goal = (lambda p: after(p)[0][1] + e * u[1]) if law == "newton" else (lambda p: work(p) - (1 - e * e) * work(compressed))
    while goal(far) < 0:
        far *= 2
    return after(brentq(goal, compressed, far, xtol=1e-300, rtol=1e-15))


def impact_by_other_means(k: object, u0: object, mu: float, e: float) -> np.ndarray:
    """u after an impact by Stronge's law, to about 1e-11.

    With dp_z = |u_t| dxi sliding is du/dxi = K (-mu u_x, -mu u_y, |u_t|), without any angle; scipy's DOP853 goes to each
    event and is then started again, by Newton, to hit it exactly.
    """
    k, u0 = np.asarray(k, float), np.asarray(u0, float)
    k, speed = k / np.abs(k).max(), np.linalg.norm(u0)
    y = np.array([*(u0 / speed), 0.0])  # u and the work of p_z since the last change of sign
    lost = given = 0.0
    compressing, ended = True, False

    def rates(_, y):
        slip = math.hypot(y[0], y[1])
        return np.array([*(k @ (-mu * y[0], -mu * y[1], slip)), slip * y[2]])

    def fly(y, length):
        return solve_ivp(rates, (0, length), y, method="DOP853", rtol=3e-14, atol=1e-16).y[:, -1]

    def stop(_, y):
        return math.hypot(y[0], y[1]) - 1e-12

    def zero(_, y):
        return y[2]

    def end(_, y):
        return given + y[3] - e * e * lost

    stop.terminal = zero.terminal = end.terminal = True
    stop.direction, end.direction = -1, 1
    while mu > 0 and math.hypot(y[0], y[1]) > 1e-12 and not ended:
        zero.direction = 1 if compressing else -1
        events = [stop, zero] if compressing else [stop, zero, end]
        path = solve_ivp(rates, (0, 1e9), y, method="DOP853", rtol=3e-14, atol=1e-16, events=events)
        assert path.status == 1
        which = next(i for i, t in enumerate(path.t_events) if len(t))
        if which == 0:
            y = path.y[:, -1]
            break
        at = path.t[-1]
        for _ in range(4):
            there = fly(y, at)
            at -= events[which](0, there) / rates(0, there)[2 if which == 1 else 3]
        y = fly(y, at)
        if which == 2:
            given, ended = given + y[3], True
        elif compressing:
            lost, compressing, ended = lost - y[3], False, e == 0
        else:
            given, compressing = given + y[3], True
        y[3] = 0.0
    u = y[:3].copy()
    if not ended:
        lost, given = (lost - y[3], given) if compressing else (lost, given + y[3])
        u = _end_at_rest(k, u, mu, e, lost, given)
    return u * speed


def _end_at_rest(k: np.ndarray, u: np.ndarray, mu: float, e: float, lost: float, given: float) -> np.ndarray:
    """u after the rest of an impact whose slip has ended, or that has no friction: along one direction to the end."""
    if mu > 0:
        u[:2] = 0.0
    rate = k @ direction_at_rest(k, mu)
    if u[2] < 0:
        lost += u[2] ** 2 / 2 / rate[2]
        u = u - rate * (u[2] / rate[2])
    left = max(e * e * lost - given, 0.0)
    return u + rate * ((math.sqrt(u[2] ** 2 + 2 * rate[2] * left) - u[2]) / rate[2])


def direction_at_rest(k, mu):
    """dp/dp_z from zero slip: along e_z, sticking, or the diverging ray found on a fine grid."""
    if mu == 0:
        return np.array([0, 0, 1.0])
    stick = np.linalg.solve(k, (0, 0, 1))
    stick /= stick[2]
    if math.hypot(stick[0], stick[1]) <= mu:
        return stick

    def across(angle):
        z = np.array([-mu * math.cos(angle), -mu * math.sin(angle), 1.0])
        return -(k @ z)[0] * math.sin(angle) + (k @ z)[1] * math.cos(angle)

    grid = np.linspace(0, 2 * np.pi, 2001) + 0.01
    for a, b in itertools.pairwise(grid):
        if across(a) * across(b) <= 0:
            t = brentq(across, a, b, xtol=1e-15)
            z = np.array([-mu * math.cos(t), -mu * math.sin(t), 1.0])
            if (k @ z)[0] * math.cos(t) + (k @ z)[1] * math.sin(t) > 0:
                return z
    raise AssertionError("no diverging ray")


def chain(count: int, e: float) -> np.ndarray:
    """Velocities of equal balls in a line, the first at 1 m/s, when none approaches another: pair by pair, in order of time."""
    v, x = np.zeros(count), np.arange(count, dtype=float)
    v[0] = 1.0
    while True:
        closing = v[:-1] - v[1:]
        if not (closing > 1e-15).any():
            return v
        gaps = np.where(closing > 1e-15, np.diff(x), np.inf)
        times = gaps / np.where(closing > 1e-15, closing, 1.0)
        i = int(np.argmin(times))
        x += v * times[i]
        x[i + 1] = x[i]
        mean, half = (v[i] + v[i + 1]) / 2, e * closing[i] / 2
        v[i], v[i + 1] = mean - half, mean + half
