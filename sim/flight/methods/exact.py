"""Exact rotation of a free rigid body, at any step: Jacobi's elliptic functions and a quadrature to rounding.

Euler's equations for the angular momentum l in principal axes, with a = 1/I, a1 >= a2 >= a3 and dij = ai - aj,

    l1' = -d23 l2 l3      l2' = d13 l3 l1      l3' = -d12 l1 l2

are solved by l1 ~ cn, l2 ~ sn, l3 ~ dn of argument lambda t, lambda^2 = d23 (d12 l2^2 + d13 l3^2), with parameter
m = mu/lambda^2, mu = d12 (d13 l1^2 + d23 l2^2), if m <= 1: l circles the third axis. Else it circles the first, and the roles of
both are exchanged. The addition theorems take l from one time to another without its phase ever being asked for, which
would be ill-conditioned at the separatrix (m = 1). Landau, Lifshitz, Mechanics, par. 37; van Zon, Schofield, J. Comput.
Phys. 225 (2007) 145.

L is fixed in space, so what is left of the attitude is the angle about it. A principal axis k turns about L at the rate
|L| (ai li^2 + aj lj^2)/(li^2 + lj^2), i and j the other two. k is the axis with the smallest lk^2, so the denominator is never
small. The rate is integrated by Gauss's rule in steps of at most half a radian: what is left out is below 1e-17 rad.

l comes back after 4 K(m)/lambda, and the body is then turned about L by the same angle each time. So a flight of many turns is
taken by whole periods, and what is left by steps of the argument: it costs what two periods do, however many turns it has.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.kernels.jit import far, inner, lean, remote
from tumble.collision.linalg import ZERO, mul_t, norm, qmul, qnormalize, rotation
from tumble.sim.flight.methods.splitting import about, conjugate

SLICE = 0.5  # [rad] the longest turn that is integrated at once
MOST_SLICES = 64  # longer flights are taken by periods of the motion, and the rest of one in slices of ARGUMENT
ARGUMENT = 0.25  # step of the argument of the elliptic functions
MOST_ARGUMENT_STEPS = 2000  # at the separatrix there is no period, but l lies along an axis long before so many steps
FOUR_NODES = 0.06  # [rad] turns up to which four nodes of the quadrature are enough
SERIES_ARGUMENT = 0.03  # argument up to which the power series of sn, cn, dn are taken
NODES4, WEIGHTS4 = np.polynomial.legendre.leggauss(4)
NODES8, WEIGHTS8 = np.polynomial.legendre.leggauss(8)


@remote
def _turn_exact(q, l, h, moments, axes):
    """Orientation of a body without torque after h; ``axes`` turns principal axes into those of the body."""
    size = norm(l)
    if size == 0.0 or h == 0.0:
        return q
    q = qmul(q, axes)
    b = mul_t(rotation(q), l)
    a = (1.0 / moments[0], 1.0 / moments[1], 1.0 / moments[2])
    slices = size * a[0] * abs(h) / SLICE
    if slices > MOST_SLICES:
        q, h, slices = _whole_periods(q, l, b, size, a, h)
    q, b = _in_slices(q, l, b, size, a, h, slices)
    return qnormalize(qmul(q, conjugate(axes)))


@inner
def _in_slices(q, l, b, size, a, h, slices):
    """Orientation, and angular momentum in principal axes, after h."""
    count = max(1, math.ceil(min(MOST_ARGUMENT_STEPS, slices)))
    step = h / count
    for _ in range(count):
        k = _polar(b)
        angle, after = _advance(b, size, a, step, k)
        q = qmul(about(l, size, angle), qmul(q, _between(b, after, k)))
        b = after
    return q, b


@inner
def _whole_periods(q, l, b, size, a, h):
    """(orientation after all whole periods in h, what is left of h, slices of that)."""
    rate, m = _argument(b, a)
    quarter = complete(m)
    period = math.copysign(4.0 * quarter / rate, h) if rate > 0.0 else math.inf
    times = np.floor(h / period)
    if times > 0:
        after, _ = _in_slices(q, l, b, size, a, period, 4.0 * quarter / ARGUMENT)
        turn = qmul(after, conjugate(q))
        half = math.atan2((turn[1] * l[0] + turn[2] * l[1] + turn[3] * l[2]) / size, turn[0])
        q = qmul(about(l, size, 2.0 * half * times), q)
        h %= period
    return q, h, rate * abs(h) / ARGUMENT


@lean
def _argument(b, a):
    """Rate of the argument of the elliptic functions, and their parameter: lambda and m."""
    d12, d23, d13 = a[0] - a[1], a[1] - a[2], a[0] - a[2]
    square = d23 * (d12 * b[1] * b[1] + d13 * b[2] * b[2])
    mu = d12 * (d13 * b[0] * b[0] + d23 * b[1] * b[1])
    square, mu = max(square, mu), min(square, mu)
    return math.sqrt(square), mu / square if square > 0.0 else 0.0


@lean
def complete(m):
    """K(m), a quarter of the period of sn, cn and dn, by the arithmetic-geometric mean (Abramowitz, Stegun 17.6.3)."""
    a, b = 1.0, math.sqrt(max(1.0 - m, 0.0))
    if b == 0.0:
        return math.inf
    for _ in range(9):
        a, b = 0.5 * (a + b), math.sqrt(a * b)
    return 0.5 * math.pi / a


_Q = (1.0, 0.0, 0.0, 0.0)
turn_exact = far(_turn_exact, lambda: (_Q, ZERO, 0.0, ZERO, _Q), returns=(0.0,) * 4)


@lean
def _advance(b, size, a, h, k):
    """Angle by which the polar axis k turns about L in h, and the angular momentum in principal axes afterwards."""
    d12, d23, d13 = a[0] - a[1], a[1] - a[2], a[0] - a[2]
    square = d23 * (d12 * b[1] * b[1] + d13 * b[2] * b[2])
    mu = d12 * (d13 * b[0] * b[0] + d23 * b[1] * b[1])
    swap = mu > square
    if swap:
        square, mu, d12, d23 = mu, square, d23, d12
        b = (b[2], b[1], b[0])
        a = (a[2], a[1], a[0])
        k = 2 - k
    rate = math.sqrt(square)
    m = mu / square if square > 0.0 else 0.0
    mean = 0.0
    if size * max(a[0], a[2]) * abs(h) < FOUR_NODES:
        for n in range(4):
            t = 0.5 * h * (1.0 + NODES4[n])
            mean += 0.5 * WEIGHTS4[n] * _polar_rate(_later(b, rate, m, d12, d23, d13, t), a, k)
    else:
        for n in range(8):
            t = 0.5 * h * (1.0 + NODES8[n])
            mean += 0.5 * WEIGHTS8[n] * _polar_rate(_later(b, rate, m, d12, d23, d13, t), a, k)
    after = _later(b, rate, m, d12, d23, d13, h)
    if swap:
        after = (after[2], after[1], after[0])
    return h * size * mean, after


@lean
def _polar(b):
    """The axis with the smallest component."""
    x, y, z = abs(b[0]), abs(b[1]), abs(b[2])
    if x <= y and x <= z:
        return 0
    return 1 if y <= z else 2


@lean
def _polar_rate(b, a, k):
    """Rate at which axis k turns about L, per |L|."""
    x, y, z = b[0] * b[0], b[1] * b[1], b[2] * b[2]
    if k == 0:
        x = 0.0
    elif k == 1:
        y = 0.0
    else:
        z = 0.0
    return (a[0] * x + a[1] * y + a[2] * z) / (x + y + z)


@lean
def _later(b, rate, m, d12, d23, d13, t):
    """Angular momentum in principal axes at time t: the addition theorems of sn, cn, dn."""
    sn, c, d = jacobi(rate * t, m)
    s = sn / rate if rate > 0.0 else t
    down = 1.0 - d12 * d23 * b[1] * b[1] * s * s
    return (
        (b[0] * c - d23 * b[1] * b[2] * s * d) / down,
        (b[1] * c * d + d13 * b[0] * b[2] * s) / down,
        (b[2] * d - d12 * b[0] * b[1] * s * c) / down,
    )


@lean
def jacobi(u, m):
    """sn, cn, dn of argument u and parameter m = k^2 in [0, 1].

    Power series for small u (Abramowitz, Stegun 16.22), else the scale of arithmetic-geometric means (16.4).
    """
    m = min(max(m, 0.0), 1.0)
    if abs(u) < SERIES_ARGUMENT:
        v = u * u
        m2 = m * m
        m3 = m2 * m
        s5 = (1.0 + 1228.0 * m + 5478.0 * m2 + 1228.0 * m3 + m2 * m2) / 362880.0
        s4 = (1.0 + 135.0 * m + 135.0 * m2 + m3) / 5040.0
        s = u * (1.0 - v * ((1.0 + m) / 6.0 - v * ((1.0 + 14.0 * m + m2) / 120.0 - v * (s4 - v * s5))))
        c4, d4 = 1.0 + 408.0 * m + 912.0 * m2 + 64.0 * m3, m * (64.0 + 912.0 * m + 408.0 * m2 + m3)
        c = 1.0 - v * (0.5 - v * ((1.0 + 4.0 * m) / 24.0 - v * ((1.0 + 44.0 * m + 16.0 * m2) / 720.0 - v * c4 / 40320.0)))
        d = 1.0 - v * (0.5 * m - v * (m * (4.0 + m) / 24.0 - v * (m * (16.0 + 44.0 * m + m2) / 720.0 - v * d4 / 40320.0)))
        return s, c, d
    if m == 1.0:
        c = 1.0 / math.cosh(u)
        return math.tanh(u), c, c
    a, b = 1.0, math.sqrt(1.0 - m)  # seven means make them agree to rounding, whatever m
    a, b, c1 = _means(a, b)
    a, b, c2 = _means(a, b)
    a, b, c3 = _means(a, b)
    a, b, c4 = _means(a, b)
    a, b, c5 = _means(a, b)
    a, b, c6 = _means(a, b)
    a, b, c7 = _means(a, b)
    phi = 128.0 * a * u
    for c in (c7, c6, c5, c4, c3, c2, c1):
        phi = 0.5 * (phi + math.asin(c * math.sin(phi)))
    s, c = math.sin(phi), math.cos(phi)
    return s, c, math.sqrt((1.0 - m) + m * c * c)


@lean
def _means(a, b):
    """Arithmetic and geometric mean, and half the difference as part of the former."""
    mean = 0.5 * (a + b)
    return mean, math.sqrt(a * b), 0.5 * (a - b) / mean


@lean
def _between(b, after, k):
    """Quaternion of A(b) A(after)^T, where A(b) is the frame of l, k x l and l x (k x l), k the polar axis."""
    u0, v0, w0 = _frame(b, k)
    u1, v1, w1 = _frame(after, k)
    m00 = u0[0] * u1[0] + v0[0] * v1[0] + w0[0] * w1[0]
    m11 = u0[1] * u1[1] + v0[1] * v1[1] + w0[1] * w1[1]
    m22 = u0[2] * u1[2] + v0[2] * v1[2] + w0[2] * w1[2]
    x = (u0[2] * u1[1] + v0[2] * v1[1] + w0[2] * w1[1]) - (u0[1] * u1[2] + v0[1] * v1[2] + w0[1] * w1[2])
    y = (u0[0] * u1[2] + v0[0] * v1[2] + w0[0] * w1[2]) - (u0[2] * u1[0] + v0[2] * v1[0] + w0[2] * w1[0])
    z = (u0[1] * u1[0] + v0[1] * v1[0] + w0[1] * w1[0]) - (u0[0] * u1[1] + v0[0] * v1[1] + w0[0] * w1[1])
    w = math.sqrt(1.0 + m00 + m11 + m22)
    return qnormalize((0.5 * w, 0.5 * x / w, 0.5 * y / w, 0.5 * z / w))


@lean
def _frame(b, k):
    n = norm(b)
    x, y, z = b[0] / n, b[1] / n, b[2] / n
    if k == 0:
        r = math.sqrt(y * y + z * z)
        v = (0.0, -z / r, y / r)
    elif k == 1:
        r = math.sqrt(x * x + z * z)
        v = (z / r, 0.0, -x / r)
    else:
        r = math.sqrt(x * x + y * y)
        v = (-y / r, x / r, 0.0)
    w = (y * v[2] - z * v[1], z * v[0] - x * v[2], x * v[1] - y * v[0])
    return (x, y, z), v, w
