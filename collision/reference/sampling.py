"""Depth by trial of directions: the approximate alternative to an expanding polytope (dyn4j, "Alternatives").

Any direction n parts the bodies once B moves by max over A - B of n.x along it, so the least of many tries is an upper
bound of the depth; and it never exceeds the signed distance where the bodies are apart.
"""

from __future__ import annotations

import numpy as np

from tumble.collision.reference.convex_sets import Body


def directions(count: int, dimension: int = 3) -> np.ndarray:
    """Unit vectors (count, dimension), evenly spread: on the circle, on Fibonacci's spiral, or normal deviates."""
    k = np.arange(count) + 0.5
    if dimension == 2:
        angle = 2 * np.pi * k / count
        return np.column_stack([np.cos(angle), np.sin(angle)])
    if dimension == 3:
        z, angle = 1 - 2 * k / count, np.pi * (1 + np.sqrt(5)) * k
        across = np.sqrt(1 - z * z)
        return np.column_stack([across * np.cos(angle), across * np.sin(angle), z])
    rows = np.random.default_rng(0).normal(size=(count, dimension))
    return rows / np.linalg.norm(rows, axis=1)[:, None]


def sampled_distance(a: Body, b: Body, count: int = 1000) -> tuple[float, np.ndarray]:
    """(bound, normal): a lower bound [m] of the signed distance, and the direction from A to B that gives it.

    Tried are ``count`` even directions, the face normals of both bodies, and the line of their centres.
    """
    tries = [directions(count, len(a.center)), a.normals, -b.normals]
    line = b.center - a.center
    if line.any():
        tries.append(line[None] / np.linalg.norm(line))
    n = np.concatenate(tries)
    reach = np.einsum("ij,ij->i", a.support(n) - b.support(-n), n) + a.margin + b.margin
    best = int(np.argmin(reach))
    return float(-reach[best]), n[best]
