"""The equations of motion of a free body: x' = p/m, q' = 1/2 (0, w) q, p' = force, L' = torque, w = R J^-1 R^T L."""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import axpy, cross, mul, mul_t, norm, qmul, qnormalize, scale


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
def turning_rate(q, inv_inertia, l):
    """dq/dt of a free body: 1/2 q (0, J^-1 R^T L). ``q`` of any length, read as the rotation that q/|q| is."""
    w, x, y, z = q
    s = 2.0 / (w * w + x * x + y * y + z * z)
    a, b, c = y * l[2] - z * l[1], z * l[0] - x * l[2], x * l[1] - y * l[0]
    u, v, t = mul(
        inv_inertia, (l[0] + s * (y * c - z * b - w * a), l[1] + s * (z * a - x * c - w * b), l[2] + s * (x * b - y * a - w * c))
    )
    return (
        -0.5 * (x * u + y * v + z * t),
        0.5 * (w * u + y * t - z * v),
        0.5 * (w * v + z * u - x * t),
        0.5 * (w * t + x * v - y * u),
    )


@lean
def acceleration(w, rot, inertia, inv_inertia, torque):
    """Angular acceleration of free flight: R J^-1 R^T (torque - omega x R J R^T omega)."""
    l = mul(rot, mul(inertia, mul_t(rot, w)))
    g = cross(w, l)
    return mul(rot, mul(inv_inertia, mul_t(rot, (torque[0] - g[0], torque[1] - g[1], torque[2] - g[2]))))


@lean
def drive(x, q, v, w, h):
    """Pose of a body that moves at constant velocity and angular velocity, after h."""
    angle = norm(w) * h
    if angle != 0.0:
        axis = scale(math.sin(0.5 * angle) / norm(w), w)
        q = qnormalize(qmul((math.cos(0.5 * angle), axis[0], axis[1], axis[2]), q))
    return axpy(h, v, x), q
