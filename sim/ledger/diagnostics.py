"""Energy, momentum and angular momentum of a state, in NumPy: independent of the kernels that moved it.

All are those of the middle of the kick: momenta are the mean of before and after it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tumble.sim.state import CENTRAL, DYNAMIC, MUTUAL, SPRING, Bodies, Forces

# What overflows is told by the step, as a state that is not finite, or by the ledger, not by NumPy.
unheard = np.errstate(over="ignore", invalid="ignore")


class Energy(NamedTuple):
    """Energies [J]; potential: of uniform gravity, zero with the centre of mass at the origin, and of the forces."""

    kinetic_linear: float
    kinetic_angular: float
    potential: float

    @property
    def total(self) -> float:
        return self.kinetic_linear + self.kinetic_angular + self.potential


@unheard
def mean_momenta(bodies: Bodies) -> tuple[np.ndarray, np.ndarray]:
    """Momenta (n, 3) [kg m/s] and angular momenta (n, 3) [kg m^2/s] about the centres of mass; zero for driven bodies."""
    return 0.5 * (bodies.p + bodies.p_before), 0.5 * (bodies.l + bodies.l_before)


@unheard
def angular_velocities(bodies: Bodies) -> np.ndarray:
    """(n, 3) [rad/s], world axes."""
    _, l = mean_momenta(bodies)
    rot = rotations(bodies.q)
    # one product after the other: all four at once are 81 terms a body
    w = np.einsum("nij,nj->ni", rot, np.einsum("njk,nk->nj", bodies.inv_inertia, np.einsum("nlk,nl->nk", rot, l)))
    return np.where(bodies.kind[:, None] == DYNAMIC, w, bodies.l)


@unheard
def velocities(bodies: Bodies) -> np.ndarray:
    """(n, 3) [m/s] of the centres of mass."""
    p, _ = mean_momenta(bodies)
    return np.where(bodies.kind[:, None] == DYNAMIC, p * bodies.inv_mass[:, None], bodies.p)


def rotations(q: np.ndarray) -> np.ndarray:
    """(n, 3, 3) rotation matrices of unit quaternions (n, 4)."""
    w, x, y, z = q.T
    return np.stack(
        [
            1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
            2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
            2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
        ],
        axis=1,
    ).reshape(-1, 3, 3)  # fmt: skip


def potential(forces: Forces, bodies: Bodies) -> float:
    """Energy of the forces that have a potential, but for uniform gravity [J]."""
    if not len(forces.kind):
        return 0.0
    total, rot = 0.0, rotations(bodies.q)
    for kind, (i, j), f in zip(forces.kind, forces.body, forces.number, strict=True):
        x = bodies.x[i]
        if kind == CENTRAL:
            d = x - f[:3]
            r = np.linalg.norm(d)
            if r == 0.0:
                continue
            total -= f[3] * bodies.mass[i] / r
            if f[4]:
                n, inertia = rot[i].T @ d / r, bodies.inertia[i]
                total -= f[3] / (2 * r**3) * (np.trace(inertia) - 3 * n @ inertia @ n)
        elif kind == MUTUAL:
            r = np.hypot(np.linalg.norm(bodies.x[j] - x), f[1])
            total -= f[0] * bodies.mass[i] * bodies.mass[j] / r if r > 0.0 else 0.0
        elif kind == SPRING:
            end = bodies.x[j] + rot[j] @ f[6:9] if j >= 0 else f[6:9]
            stretch = np.linalg.norm(end - x - rot[i] @ f[3:6]) - f[2]
            total += 0.5 * f[0] * stretch**2 if stretch > 0.0 or not f[9] else 0.0
    return float(total)


@unheard
def energy(bodies: Bodies, forces: Forces) -> Energy:
    p, l = mean_momenta(bodies)
    linear = 0.5 * float(np.sum(p * p * bodies.inv_mass[:, None]))
    dynamic = bodies.kind == DYNAMIC
    angular = 0.5 * float(np.sum(l[dynamic] * angular_velocities(bodies)[dynamic]))
    heights = -float(np.sum(bodies.mass[:, None] * bodies.x * (bodies.gravity + bodies.field))) + 0.0
    return Energy(linear, angular, heights + potential(forces, bodies))


@unheard
def heights(bodies: Bodies) -> float:
    """The sum of the energies in uniform gravity by their magnitudes [J], a scale."""
    return float(np.sum(np.abs(bodies.mass[:, None] * bodies.x * (bodies.gravity + bodies.field))))


@unheard
def momentum(bodies: Bodies) -> np.ndarray:
    """(3,) [kg m/s] of all dynamic bodies."""
    return mean_momenta(bodies)[0][bodies.kind == DYNAMIC].sum(axis=0)


@unheard
def angular_momentum(bodies: Bodies, about: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> np.ndarray:
    """(3,) [kg m^2/s] of all dynamic bodies about a point of the world."""
    p, l = mean_momenta(bodies)
    return (l + np.cross(bodies.x - np.asarray(about, dtype=float), p))[bodies.kind == DYNAMIC].sum(axis=0)
