"""Quaternions (w, x, y, z) over whole arrays, for poses between recorded samples."""

from __future__ import annotations

import numpy as np


def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Product a b of (..., 4) arrays: b first, then a."""
    aw, ax, ay, az = np.moveaxis(np.asarray(a, float), -1, 0)
    bw, bx, by, bz = np.moveaxis(np.asarray(b, float), -1, 0)
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(..., 3) products. As numpy's to the last bit, at a third of its cost for few vectors."""
    (ax, ay, az), (bx, by, bz) = ((v[..., 0], v[..., 1], v[..., 2]) for v in (np.asarray(a, float), np.asarray(b, float)))
    x = ay * bz - az * by
    out = np.empty((*np.shape(x), 3))
    out[..., 0], out[..., 1], out[..., 2] = x, az * bx - ax * bz, ax * by - ay * bx
    return out


def conjugate(q: np.ndarray) -> np.ndarray:
    return np.asarray(q, float) * (1.0, -1.0, -1.0, -1.0)


def rotate(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(..., 3) vectors turned by (..., 4) unit quaternions: v + 2 w (u x v) + 2 u x (u x v)."""
    q, v = np.asarray(q, float), np.asarray(v, float)
    u = q[..., 1:]
    t = 2.0 * cross(u, v)
    return v + q[..., :1] * t + cross(u, t)


def interpolate(q0: np.ndarray, q1: np.ndarray, s: float, turn: np.ndarray | None = None) -> np.ndarray:
    """Poses a fraction ``s`` of the way from ``q0`` to ``q1``, (n, 4), at constant spin about one axis (slerp).

    Two orientations do not tell how often a body turned between them. ``turn`` (n, 3) [rad], the mean angular velocity
    times the time between, does: the rotation nearest to it, out of all that lead from q0 to q1, is taken.
    """
    delta = multiply(q1, conjugate(q0))
    delta = np.where(delta[:, :1] < 0.0, -delta, delta)
    sine = np.linalg.norm(delta[:, 1:], axis=1)
    angle = 2.0 * np.arctan2(sine, delta[:, 0])
    small = sine < 1e-12
    axis = delta[:, 1:] / np.where(small, 1.0, sine)[:, None]
    if turn is not None:
        length = np.linalg.norm(turn, axis=1)
        axis = np.where((small & (length > 0))[:, None], turn / np.where(length > 0, length, 1.0)[:, None], axis)
        angle = angle + 2 * np.pi * np.round((np.einsum("ij,ij->i", turn, axis) - angle) / (2 * np.pi))
    half = 0.5 * s * angle
    step = np.concatenate([np.cos(half)[:, None], np.sin(half)[:, None] * axis], axis=1)
    q = multiply(step, q0)
    return q / np.linalg.norm(q, axis=1, keepdims=True)
