"""The quantities that a recording holds for each sample: where each comes from, its unit and what it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Variable:
    """A recorded quantity: where it comes from, its unit and what it is."""

    name: str
    unit: str
    long_name: str
    read: Callable[[Moment], Any]
    dims: tuple[str, ...] = ()  # after time
    dtype: str = "f8"


class Moment:
    """A world at one instant, with the contacts that are kept; what several variables share is worked out once."""

    def __init__(self, world: Any, contacts: np.ndarray | None = None):
        self.world, self.contacts = world, contacts

    @cached_property
    def energy(self) -> Any:
        return self.world.energy()

    @cached_property
    def ledger(self) -> Any:
        return self.world._ledger_at(self.energy)

    @cached_property
    def reservoir(self) -> np.ndarray:
        return self.world.reservoir


def _energy(name: str) -> Callable[[Moment], float]:
    return lambda now: getattr(now.energy, name)


def _ledger(name: str) -> Callable[[Moment], float]:
    return lambda now: getattr(now.ledger, name)


LEDGER = {
    "external": "work of driven bodies and of forces without a potential",
    "user": "work of impulses, velocities and poses set from outside",
    "contact": "work of the normal impulses of resting contact",
    "correction": "energy gained where overlap was removed",
    "sleep": "energy taken and given back by sleeping bodies",
    "integrator": "error of the free flight, measured",
    "friction": "loss by friction",
    "restitution": "loss in the normal direction of impacts",
    "residual": "change of energy that nothing explains",
    "moved": "sum of the absolute works, the scale of the residual",
}

VARIABLES = (
    Variable("time", "s", "time", lambda now: now.world.time),
    Variable("step", "1", "number of the step", lambda now: now.world.step_count, dtype="i8"),
    Variable("position", "m", "position of the body frame", lambda now: now.world.positions, ("body", "xyz")),
    Variable("orientation", "1", "unit quaternion, body to world", lambda now: now.world.orientations, ("body", "wxyz")),
    Variable("velocity", "m s-1", "velocity of the centre of mass", lambda now: now.world.velocities, ("body", "xyz")),
    Variable("angular_velocity", "rad s-1", "angular velocity", lambda now: now.world.angular_velocities, ("body", "xyz")),
    Variable("asleep", "1", "whether the body sleeps", lambda now: now.world.asleep, ("body",), dtype="?"),
    Variable("kinetic_linear", "J", "kinetic energy of translation", _energy("kinetic_linear")),
    Variable("kinetic_angular", "J", "kinetic energy of rotation", _energy("kinetic_angular")),
    Variable("potential", "J", "potential energy", _energy("potential")),
    Variable("energy", "J", "kinetic and potential energy", _energy("total")),
    Variable("momentum", "kg m s-1", "momentum of all moving bodies", lambda now: now.world.momentum(), ("xyz",)),
    Variable(
        "angular_momentum", "kg m2 s-1", "angular momentum about origin", lambda now: now.world.angular_momentum(), ("xyz",)
    ),
    Variable("reservoir_momentum", "kg m s-1", "momentum given to immovable bodies", lambda now: now.reservoir[0], ("xyz",)),
    Variable(
        "reservoir_angular_momentum",
        "kg m2 s-1",
        "angular momentum about the origin given to immovable bodies",
        lambda now: now.reservoir[1],
        ("xyz",),
    ),
    Variable("penetration", "m", "depth of the deepest contact", lambda now: now.world.max_penetration()),
    *(Variable(f"ledger_{name}", "J", text, _ledger(name)) for name, text in LEDGER.items()),
)

CONTACT_COUNT = Variable("contact_count", "1", "number of contacts", lambda now: len(now.contacts), dtype="i8")
DIMENSION_LABELS = {"xyz": ("x", "y", "z"), "wxyz": ("w", "x", "y", "z")}


def single(variable: Variable) -> Variable:
    """Poses and velocities in four bytes a number; what is of the whole world keeps its eight."""
    return replace(variable, dtype="f4") if variable.dims[:1] == ("body",) and variable.dtype == "f8" else variable
