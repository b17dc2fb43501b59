"""Rotation in closed form: torque-free bodies, and the heavy symmetric top.

Sources: L. D. Landau, E. M. Lifshitz, Mechanics, par. 35 and 37; H. Goldstein, Classical Mechanics, chapter 5.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import quad
from scipy.special import ellipj, ellipk, ellipkinc


def turn(axis: object, angle: float) -> np.ndarray:
    """Rotation matrix (3, 3) about an axis of any length [rad], by Rodrigues' formula."""
    x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross


class FreeTop:
    """A body with three different principal moments, free of torques, that starts with its axes along the world's.

    ``inertia`` (3,) [kg m^2]; ``omega`` (3,) [rad/s] at the start. The angular momentum circulates about the axis ``c`` of
    largest or smallest moment; with u = u0 + rate t the angular velocities are A cn u, B sn u, C dn u about a, b, c.
    """

    def __init__(self, inertia: object, omega: object):
        self.inertia = i = np.asarray(inertia, float)
        self.start = w = np.asarray(omega, float)
        twice_energy, square = i @ w**2, i**2 @ w**2
        low, b, high = np.argsort(i)
        a, c = (low, high) if square > twice_energy * i[b] else (high, low)
        self.axes = a, b, c
        beyond_c, beyond_a = twice_energy * i[c] - square, square - twice_energy * i[a]
        handed = 1.0 if (b - a) % 3 == 1 else -1.0
        sign_c = math.copysign(1.0, w[c])
        sign_b = handed * math.copysign(1.0, i[c] - i[a]) * sign_c
        self.amplitude = (
            math.sqrt(beyond_c / (i[a] * (i[c] - i[a]))),
            sign_b * math.sqrt(beyond_c / (i[b] * (i[c] - i[b]))),
            sign_c * math.sqrt(beyond_a / (i[c] * (i[c] - i[a]))),
        )
        self.rate = math.sqrt((i[c] - i[b]) * beyond_a / (i[a] * i[b] * i[c]))
        self.m = (i[b] - i[a]) * beyond_c / ((i[c] - i[b]) * beyond_a)
        self.phase = float(ellipkinc(math.atan2(w[b] / self.amplitude[1], w[a] / self.amplitude[0]), self.m))
        self.momentum, self.energy = math.sqrt(square), twice_energy / 2
        self.period = 4 * ellipk(self.m) / self.rate

    def omega(self, t: float) -> np.ndarray:
        """(3,) [rad/s] in body axes."""
        sn, cn, dn, _ = ellipj(self.phase + self.rate * t, self.m)
        out = np.empty(3)
        for axis, amplitude, value in zip(self.axes, self.amplitude, (cn, sn, dn), strict=True):
            out[axis] = amplitude * value
        return out

    def attitude(self, t: float) -> np.ndarray:
        """(3, 3) body to world: polar angles of the angular momentum in the body, and the azimuth about it by quadrature."""
        a, b, _ = self.axes
        i = self.inertia

        def azimuth(s: float) -> float:
            w = self.omega(s)
            return self.momentum * (i[a] * w[a] ** 2 + i[b] * w[b] ** 2) / ((i[a] * w[a]) ** 2 + (i[b] * w[b]) ** 2)

        whole, rest = divmod(t, self.period)
        angle = whole * _integral(azimuth, self.period) + _integral(azimuth, rest)
        return self._frame(0.0) @ turn((0, 0, 1), angle) @ self._frame(t).T

    def _frame(self, t: float) -> np.ndarray:
        """Columns: the direction of axis c across L, the one across both, L; in body axes."""
        along = self.inertia * self.omega(t) / self.momentum
        across = np.eye(3)[self.axes[2]] - along[self.axes[2]] * along
        across /= np.linalg.norm(across)
        return np.column_stack((across, np.cross(along, across), along))

    def flips(self, count: int) -> np.ndarray:
        """The first times at which the angular velocity about the middle axis changes sign [s]."""
        half = self.period / 2
        return (-self.phase / self.rate) % half + half * np.arange(count)


def symmetric_top(across: float, along: float, omega: object, t: float) -> np.ndarray:
    """(3, 3) attitude of a free body of moments (across, across, along): a turn about L after one about the third axis."""
    w = np.asarray(omega, float)
    l = np.array([across, across, along]) * w
    return turn(l, np.linalg.norm(l) * t / across) @ turn((0, 0, 1), w[2] * (across - along) / across * t)


class HeavyTop:
    """A symmetric top about a fixed point, released from rest of its axis at the angle ``tilt`` from the vertical.

    across, along: moments about the fixed point [kg m^2]; pull = m g l [N m]; spin about the axis [rad/s].
    u = cos(tilt) runs between the roots of u'^2 = (alpha - beta u)(1 - u^2) - (b - a u)^2.
    """

    def __init__(self, across: float, along: float, pull: float, tilt: float, spin: float):
        self.a, beta = along * spin / across, 2 * pull / across
        top = math.cos(tilt)
        self.b, alpha = self.a * top, beta * top
        roots = np.sort(np.roots([beta, -(alpha + self.a**2), 2 * self.a * self.b - beta, alpha - self.b**2]).real)
        self.low, self.high, third = roots
        self.high = top  # the cusp, where it was released
        self.rate, self.m = math.sqrt(beta * (third - self.low)) / 2, (self.high - self.low) / (third - self.low)
        self.period = 2 * ellipk(self.m) / self.rate
        self.largest = math.acos(self.low)

    def height(self, t: float) -> float:
        """cos of the tilt at time t."""
        sn = ellipj(ellipk(self.m) + self.rate * t, self.m)[0]
        return self.low + (self.high - self.low) * sn**2

    def azimuth(self, t: float) -> float:
        """How far the axis has gone round the vertical at time t [rad]."""

        def rate(s: float) -> float:
            u = self.height(s)
            return (self.b - self.a * u) / (1 - u * u)

        whole, rest = divmod(t, self.period)
        return whole * _integral(rate, self.period) + _integral(rate, rest)


def _integral(f, end: float) -> float:
    return quad(f, 0.0, end, epsabs=1e-13, epsrel=1e-13, limit=200)[0] if end else 0.0
