"""Integrators of free flight: one file and one row of the table each, in the order of the constants of tumble.sim.state."""

from __future__ import annotations

from typing import NamedTuple


class Method(NamedTuple):
    """What to know of an integrator."""

    order: int
    conserves: str
    cost: str
    source: str


INTEGRATORS = {
    "rk4": Method(4, "momentum and angular momentum; energy drifts by order 5", "4 evaluations", "Kutta 1901"),
    "splitting": Method(
        2,
        "momentum, angular momentum; energy without drift, off by order 2; volume in phase space, reversible",
        "4 rotations; under forces 4 evaluations",
        "Touma, Wisdom 1994; Dullweber, Leimkuhler, McLachlan 1997",
    ),
    "exact": Method(
        4,
        "all of free flight, to rounding at any step; under forces momentum, and energy without drift, off by order 4",
        "5 elliptic functions; under forces 12 evaluations, 24 if they depend on velocity",
        "Jacobi 1849; van Zon, Schofield 2007; composition: Suzuki 1990",
    ),
    "dop853": Method(8, "momentum; all else to 1e-14 a step", "12 evaluations a step of its own", "Hairer, Wanner 1993"),
}
