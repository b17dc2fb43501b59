"""Integrators of free flight: one file and one row of the table each."""

from __future__ import annotations

from typing import NamedTuple


class Method(NamedTuple):
    """What to know of an integrator."""

    order: int
    conserves: str
    cost: str
    source: str


TABLE = {
    "rk4": Method(4, "momentum and angular momentum exactly; energy to order 5 secular", "4 evaluations", "Kutta 1901"),
}
