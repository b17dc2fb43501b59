"""Bodies that rock and fall, from their laws of motion.

Source of the rocking block: G. W. Housner, Bull. Seism. Soc. America 53 (1963) 403. The rest is derived here.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

G = 9.81


def fall_time(square: Callable[[float], float], start: float, end: float) -> float:
    """Time from rest at ``start`` to ``end``, from the square of the rate over the angle, which is 0 at ``start``.

    The angle start + (end - start) s^2 takes the singularity at the start away.
    """

    def slowness(s: float) -> float:
        return 2 * s * abs(end - start) / math.sqrt(square(start + (end - start) * s * s))

    return quad(slowness, 0, 1, epsabs=1e-13, epsrel=1e-12)[0]


def rocking(b: float, h: float, tilt: float) -> dict[str, float]:
    """First passage and next peak of a block of half width b and half height h [m], let go at ``tilt`` [rad], e = 0.

    About the edge: 4/3 m r^2 w^2 / 2 = m g r (cos(alpha - angle) - cos(alpha - tilt)), with r the half diagonal.
    """
    r, alpha = math.hypot(b, h), math.atan2(b, h)

    def square(angle: float, top: float) -> float:
        return 1.5 * G / r * (math.cos(alpha - top) - math.cos(alpha - angle))

    def rising(top: float) -> Callable[[float], float]:
        return lambda angle: -square(angle, top) if square(angle, top) < 0 else square(angle, top)

    # it falls towards 0, so cos(alpha - angle) falls below cos(alpha - top)
    speed = math.sqrt(abs(square(0.0, tilt)))
    ratio = 1 - 1.5 * math.sin(alpha) ** 2  # angular momentum about the new edge is kept
    peak = brentq(lambda top: abs(square(0.0, top)) - (ratio * speed) ** 2, 0, tilt, xtol=1e-15)
    passage = fall_time(rising(tilt), tilt, 0.0)
    return {"passage": passage, "ratio": ratio, "peak": peak, "peak_time": passage + fall_time(rising(peak), peak, 0.0)}


def rod_fall(tilt: float) -> dict[str, float]:
    """A rod of 1 m from rest at ``tilt`` to level: times on a hinge and on a smooth floor [s], and the rate then [rad/s]."""
    rise = lambda a: 3 * G * (math.cos(tilt) - math.cos(a))  # noqa: E731
    smooth = lambda a: 4 * rise(a) / (1 + 3 * math.sin(a) ** 2)  # noqa: E731
    end = math.pi / 2
    return {"hinge": fall_time(rise, tilt, end), "smooth": fall_time(smooth, tilt, end), "rate": math.sqrt(rise(end))}


def rod_slips(mu: float, tilt: float) -> float:
    """Angle from the vertical at which the foot of a rod that topples from rest at ``tilt`` slips.

    Force on the foot from the acceleration of the centre, x = sin(a)/2, z = cos(a)/2, with a'' = 3/2 g sin a.
    """

    def excess(a: float) -> float:
        square, rate = 3 * (math.cos(tilt) - math.cos(a)), 1.5 * math.sin(a)  # in units of g
        along = 0.5 * (math.cos(a) * rate - math.sin(a) * square)
        load = 1 - 0.5 * (math.sin(a) * rate + math.cos(a) * square)
        return abs(along) - mu * load

    grid = np.linspace(tilt, math.pi / 2, 5000)
    k = next(k for k in range(1, len(grid)) if excess(grid[k]) > 0)
    return brentq(excess, grid[k - 1], grid[k], xtol=1e-14)


def leaving_sphere(big: float, small: float, tilt: float, mu: float) -> tuple[float, float, float]:
    """(angle where it slips, angle where it leaves, time when it leaves) of a solid sphere on a fixed one, from rest."""
    a = big + small

    def load(y: np.ndarray) -> float:
        return G * math.cos(y[0]) - a * y[1] ** 2

    def rolls(_, y):
        return [y[1], 5 / 7 * G * math.sin(y[0]) / a]

    def slides(_, y):
        return [y[1], (G * math.sin(y[0]) - mu * max(load(y), 0.0)) / a]

    def slips(_, y):
        return mu * load(y) - 2 / 7 * G * math.sin(y[0])

    def leaves(_, y):
        return load(y)

    slips.terminal = leaves.terminal = True
    tight = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13}
    t, y, slid = 0.0, np.array([tilt, 0.0]), tilt
    if slips(0.0, y) > 0:
        path = solve_ivp(rolls, (0, 60), y, events=slips, **tight)
        t, y = path.t[-1], path.y[:, -1]
        slid = y[0]
    path = solve_ivp(slides, (t, t + 60), y, events=leaves, **tight)
    return slid, path.y[0, -1], path.t[-1]
