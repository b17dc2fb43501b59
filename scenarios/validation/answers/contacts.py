"""One contact with friction, by iteration."""

from __future__ import annotations

import numpy as np


def coulomb_by_projection(k: np.ndarray, u: np.ndarray, mu: float, sweeps: int = 3000) -> np.ndarray:
    """The impulse p of a plastic contact: p_z takes the approach away, p_t is moved against the slip and put back on the disc of
    radius mu p_z, until both stand. u: free velocity, K as matrix."""
    p = np.zeros(3)
    stiff = np.linalg.eigvalsh(k)[-1]
    for _ in range(sweeps):
        v = u + k @ p
        p[2] = max(0.0, p[2] - v[2] / k[2, 2])
        v = u + k @ p
        p[:2] -= v[:2] / stiff
        p[:2] *= min(1.0, mu * p[2] / max(np.hypot(*p[:2]), 1e-300))
    return p
