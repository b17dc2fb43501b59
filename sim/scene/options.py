"""How a world computes: step, gravity, solver and the like. Worlds, scenes, scene files and saved worlds share this one list, so
that none of them can lose a choice that was made in another."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

from tumble.collision.errors import check_number
from tumble.collision.hints import Numbers
from tumble.sim.checks import check_each, check_range, checked, choice, flag, number, one_of, vector
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

    gravity: Numbers = vector((0.0, 0.0, -9.81), "m/s^2", "acceleration of gravity; by default (0, 0, -9.81)")
    dt: float = checked(
        check_step, 1 / 240, "number", unit="s", above=0, told='length of a step, such as "1/480 s"; by default 1/240 s'
    )
    integrator: Literal["rk4", "exact", "splitting", "dop853"] = checked(
        partial(choice, known=sorted(INTEGRATORS)), "rk4", choices=tuple(INTEGRATORS),
        told="how free flight is computed; by default rk4 (Runge and Kutta, order 4)",
    )  # fmt: skip
    tolerance: float = number(
        1e-11, "m/s", "largest error of the velocity at a contact that the solver leaves; by default 1e-11", above=0
    )
    look_ahead: bool = flag(
        True, "contacts of bodies that turn are followed to the end of each step, so rolling keeps its energy"
    )
    friction_rule: Rule = one_of(
        RULES,
        "geometric",
        "how the coefficients of friction of two bodies are combined; by default geometric, the geometric mean",
    )
    restitution_rule: Rule = one_of(RULES, "max", "the same for restitution; by default max, the larger one")
    restitution_law: Literal["stronge", "poisson", "newton"] = one_of(
        RESTITUTION_LAWS, "stronge", "what restitution compares: energies (stronge, the default), impulses or velocities"
    )
    solver: Literal["newton", "sweeps"] = one_of(
        SOLVERS, "newton",
        "how lasting contacts are solved; by default newton, which is accurate; sweeps is faster for large heaps",
    )  # fmt: skip
    sleep_after: float = number(
        0.0, "s", "bodies that have been still for so long fall asleep; by default 0, which is never", least=0
    )
    sleep_speed: float = number(1e-3, "m/s", "a body slower than this counts as still", above=0)
    sleep_spin: float = number(1e-2, "rad/s", "a body that turns more slowly than this counts as still", above=0)
    quarantine: bool = flag(
        told="true: a body whose state is no longer a finite number is removed; by default the run ends with an error"
    )

    def __post_init__(self) -> None:
        check_each(self)

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
