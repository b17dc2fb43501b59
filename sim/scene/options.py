"""How a world computes: step, gravity, solver and the like. Worlds, scenes, scene files and saved worlds share this one list, so
that none of them can lose a choice that was made in another."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from tumble.collision.errors import InputError, check_number, check_vector
from tumble.collision.hints import Numbers
from tumble.sim.checks import check_range, choice
from tumble.sim.flight.methods.integrators import INTEGRATORS
from tumble.sim.scene.materials import RESTITUTION_LAWS, RULES
from tumble.sim.state import SOLVERS, Settings

LEAST_STEP, MOST_STEP = 1e-12, 1e6  # s: rates and their squares stay far from the ends of what a double holds


def check_step(name: str, value: object) -> float:
    """The length of a step [s]; InputError where it is none that can be computed with."""
    return check_range(name, check_number(name, value, above=0), LEAST_STEP, MOST_STEP)


Rule: TypeAlias = Literal["geometric", "min", "max", "average", "multiply"]


@dataclass(kw_only=True)
class Options:
    """What is chosen for a world besides its bodies. InputError names what is wrong.

    Parameters
    ----------
    gravity : (3,) [m/s^2].
    dt : length of a step [s].
    integrator : a name of ``tumble.sim.flight.methods.integrators.INTEGRATORS``.
    tolerance : the contact solver stops when no contact's velocity is off by more [m/s].
    look_ahead : contacts of bodies that turn are followed to the end of each step: what rolls without slip keeps its energy, and
        its gap to rounding, for a few looks more in each step. Not in crowds, and by sweeps.
    friction_rule, restitution_rule : how the coefficients of two bodies combine: "geometric" (mean), "min", "max",
        "average" or "multiply".
    restitution_law : what ends an impact: "stronge" (work), "poisson" (impulse) or "newton" (velocity; can raise the energy).
    solver : of resting contact: "newton" (to the tolerance), or "sweeps" (a fixed effort, for large heaps where millimetres do).
    sleep_after : an island of bodies that have all been still for so long falls asleep [s]; 0: never.
    sleep_speed, sleep_spin : below which a body counts as still [m/s, rad/s].
    quarantine : bodies whose state stops being finite, or that contacts throw apart, are taken out; else the run ends there.
    """

    gravity: Numbers = (0.0, 0.0, -9.81)
    dt: float = 1 / 240
    integrator: Literal["rk4", "exact", "splitting", "dop853"] = "rk4"
    tolerance: float = 1e-11
    look_ahead: bool = True
    friction_rule: Rule = "geometric"
    restitution_rule: Rule = "max"
    restitution_law: Literal["stronge", "poisson", "newton"] = "stronge"
    solver: Literal["newton", "sweeps"] = "newton"
    sleep_after: float = 0.0
    sleep_speed: float = 1e-3
    sleep_spin: float = 1e-2
    quarantine: bool = False

    def __post_init__(self) -> None:
        self.gravity = check_vector("gravity", self.gravity)
        self.dt = check_step("dt", self.dt)
        choice("integrator", self.integrator, sorted(INTEGRATORS))
        self.tolerance = check_number("tolerance", self.tolerance, above=0)
        choice("friction_rule", self.friction_rule, RULES)
        choice("restitution_rule", self.restitution_rule, RULES)
        choice("restitution_law", self.restitution_law, RESTITUTION_LAWS)
        choice("solver", self.solver, SOLVERS)
        self.sleep_after = check_number("sleep_after", self.sleep_after, least=0)
        self.sleep_speed = check_number("sleep_speed", self.sleep_speed, above=0)
        self.sleep_spin = check_number("sleep_spin", self.sleep_spin, above=0)
        for name in ("look_ahead", "quarantine"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(name, getattr(self, name), "must be true or false")

    def chosen(self) -> dict[str, Any]:
        """The options by name; of a scene too, which has them among its fields."""
        return {name: getattr(self, name) for name in Options.__dataclass_fields__}

    def settings(self) -> Settings:
        """What kernels take of them."""
        return Settings(
            dt=self.dt,
            gravity=self.gravity,
            tolerance=self.tolerance,
            look_ahead=self.look_ahead,
            iterations=200,
            solver=SOLVERS.index(self.solver),
            sweeps=150,
            crowd=24,
            correction=0.2,
            slop=1e-12,
            skin=1e-5,
            restitution=RESTITUTION_LAWS.index(self.restitution_law),
            sleep_steps=math.ceil(self.sleep_after / self.dt - 1e-6),
            sleep_speed=self.sleep_speed,
            sleep_spin=self.sleep_spin,
            crew=0,
        )
