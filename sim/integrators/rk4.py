"""Classical Runge-Kutta on (position, orientation, momentum, angular momentum).

Order 4. Kutta 1901; Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, II.1, table 1.2.

With L as a state variable a free body keeps its angular momentum exactly: its derivative is the torque, zero.
Under uniform gravity x is a parabola in time and comes out exact to rounding.
"""

from __future__ import annotations

from collision.jit import lean
from collision.linalg import axpy, cross, mul, mul_t, qnormalize, rotation
from sim.forces import force_torque


@lean
def angular_velocity(rot, inv_inertia, l):
    """omega = R J^-1 R^T L"""
    return mul(rot, mul(inv_inertia, mul_t(rot, l)))


@lean
def orientation_rate(w, q):
    """dq/dt = 1/2 (0, omega) q, omega in world axes."""
    return (
        0.5 * (-w[0] * q[1] - w[1] * q[2] - w[2] * q[3]),
        0.5 * (w[0] * q[0] + w[1] * q[3] - w[2] * q[2]),
        0.5 * (w[1] * q[0] + w[2] * q[1] - w[0] * q[3]),
        0.5 * (w[2] * q[0] + w[0] * q[2] - w[1] * q[1]),
    )


@lean
def _qaxpy(h, a, b):
    return (h * a[0] + b[0], h * a[1] + b[1], h * a[2] + b[2], h * a[3] + b[3])


@lean
def _turn(q, l, inv_inertia):
    """Rate of the orientation. A stage's q is off unit length by O(h^2): normalise before it is read as a rotation."""
    return orientation_rate(angular_velocity(rotation(qnormalize(q)), inv_inertia, l), q)


@lean
def rk4(x, q, p, l, h, mass, inv_mass, inv_inertia, forces):
    """One step of length h; (x, q, p, l) afterwards. Forces are those of sim.forces on this body."""
    f1, t1 = force_torque(x, q, p, l, mass, forces)
    v1 = (inv_mass * p[0], inv_mass * p[1], inv_mass * p[2])
    d1 = _turn(q, l, inv_inertia)

    half = 0.5 * h
    x2, q2, p2, l2 = axpy(half, v1, x), _qaxpy(half, d1, q), axpy(half, f1, p), axpy(half, t1, l)
    f2, t2 = force_torque(x2, q2, p2, l2, mass, forces)
    v2 = (inv_mass * p2[0], inv_mass * p2[1], inv_mass * p2[2])
    d2 = _turn(q2, l2, inv_inertia)

    x3, q3, p3, l3 = axpy(half, v2, x), _qaxpy(half, d2, q), axpy(half, f2, p), axpy(half, t2, l)
    f3, t3 = force_torque(x3, q3, p3, l3, mass, forces)
    v3 = (inv_mass * p3[0], inv_mass * p3[1], inv_mass * p3[2])
    d3 = _turn(q3, l3, inv_inertia)

    x4, q4, p4, l4 = axpy(h, v3, x), _qaxpy(h, d3, q), axpy(h, f3, p), axpy(h, t3, l)
    f4, t4 = force_torque(x4, q4, p4, l4, mass, forces)
    v4 = (inv_mass * p4[0], inv_mass * p4[1], inv_mass * p4[2])
    d4 = _turn(q4, l4, inv_inertia)

    return (
        _sum3(h, x, v1, v2, v3, v4),
        qnormalize(_sum4(h, q, d1, d2, d3, d4)),
        _sum3(h, p, f1, f2, f3, f4),
        _sum3(h, l, t1, t2, t3, t4),
    )


@lean
def _sum3(h, y, a, b, c, d):
    s = h / 6.0
    return (
        y[0] + s * (a[0] + 2.0 * (b[0] + c[0]) + d[0]),
        y[1] + s * (a[1] + 2.0 * (b[1] + c[1]) + d[1]),
        y[2] + s * (a[2] + 2.0 * (b[2] + c[2]) + d[2]),
    )


@lean
def _sum4(h, y, a, b, c, d):
    s = h / 6.0
    return (
        y[0] + s * (a[0] + 2.0 * (b[0] + c[0]) + d[0]),
        y[1] + s * (a[1] + 2.0 * (b[1] + c[1]) + d[1]),
        y[2] + s * (a[2] + 2.0 * (b[2] + c[2]) + d[2]),
        y[3] + s * (a[3] + 2.0 * (b[3] + c[3]) + d[3]),
    )


@lean
def acceleration(w, rot, inertia, inv_inertia, torque):
    """Angular acceleration of free flight: R J^-1 R^T (torque - omega x R J R^T omega)."""
    l = mul(rot, mul(inertia, mul_t(rot, w)))
    g = cross(w, l)
    return mul(rot, mul(inv_inertia, mul_t(rot, (torque[0] - g[0], torque[1] - g[1], torque[2] - g[2]))))
