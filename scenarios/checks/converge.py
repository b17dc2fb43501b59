"""A scene at dt, dt/2, dt/4 ...: the order at which its results converge, and until when they can be told at all."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tumble.collision.errors import InputError, check_number
from tumble.sim.recording.recorder import Recorder
from tumble.sim.recording.run import Run
from tumble.sim.scene.options import LEAST_STEP
from tumble.sim.scene.scene import Scene

if TYPE_CHECKING:
    from tumble.scenarios.registry import Scenario

ROUNDING = 1e-13  # of the size of what is compared: smaller differences are rounding, and show no order
MOST_HALVINGS = 1000

UNITS = {"poses": "(m, and in quaternions)", "positions": "m", "velocities": "m/s", "angular_velocities": "rad/s", "energy": "J"}


@dataclass(frozen=True)
class Convergence:
    """What :func:`converge` found.

    ``steps`` (n,) lengths of the steps [s]; ``times`` (T,) [s]; ``differences`` (n - 1, T): of each run from the next finer one.
    ``orders`` (n - 2,): from three successive runs each, over all times (root mean square). ``order``: that of the finest; inf
    where the runs are the same to rounding. ``horizon`` [s]: until when the finest two agree to ``tolerance``, and halving
    the step still brings them nearer.
    """

    scenario: str
    quantity: str
    steps: np.ndarray
    times: np.ndarray
    differences: np.ndarray
    orders: np.ndarray
    order: float
    horizon: float
    tolerance: float

    def __str__(self) -> str:
        lines = [f"{self.scenario}: {self.quantity}, {self.times[-1]:g} s", f"{'dt [s]':>12}  {'off the next [rms]':>18}  order"]
        sizes = np.sqrt(np.nanmean(self.differences**2, axis=1))
        for k, (dt, size) in enumerate(zip(self.steps, sizes, strict=False)):
            order = f"{self.orders[k - 1]:5.2f}" if 0 < k <= len(self.orders) else ""
            lines.append(f"{f'1/{1 / dt:g}':>12}  {size:18.3g}  {order}".rstrip())
        step = f"1/{1 / self.steps[-2]:g} s"
        told = f"{self.tolerance:.3g} {UNITS.get(self.quantity, '')}".rstrip()
        kept = f"the runs at {step} and at half that step agree to {told}"
        worst = float(np.nanmax(self.differences[-1]))
        if self.horizon >= self.times[-1]:
            lines.append(
                f"Predictable for all of its {self.times[-1]:g} s: {kept} all the time, and differ by {worst:.2g} at most."
            )
        elif self.horizon > self.times[0]:
            later = "after that they are farther apart, or halving the step does not bring them nearer"
            lines.append(f"Predictable until {self.horizon:.4g} s: so long {kept}; {later}.")
        else:
            lines.append(f"Not predictable at these steps: from the first sample on it does not hold that {kept}.")
        return "\n".join(lines)


def converge(
    scenario: str | Path | Scene | Scenario,
    seconds: float | None = None,
    dt: float | None = None,
    halvings: int = 3,
    quantity: str | Callable[[Run], np.ndarray] = "poses",
    tolerance: float | None = None,
    quiet: bool = True,
    **parameters: Any,
) -> Convergence:
    """Run a scene at dt, dt/2 ... dt/2^halvings and compare each run with the next finer one, at the samples of the coarsest.

    ``quantity``: "poses" (positions and orientations), "positions", "orientations", "velocities", "angular_velocities",
    "energy", or a function of the run giving (T,) or more. The difference of two runs is the largest over bodies and axes.
    ``tolerance``: what counts as agreement: 1 % of the largest change of the quantity by default.
    """
    from tumble.scenarios.progress import Bar
    from tumble.scenarios.runs.scene_run import scene_of

    if isinstance(halvings, bool) or not isinstance(halvings, int) or halvings < 2:
        raise InputError("halvings", halvings, "must be a whole number of at least 2: an order needs three runs")
    scene = scene_of(scenario, **parameters)
    seconds = scene.duration if seconds is None else check_number("seconds", seconds, above=0)
    dt = scene.dt if dt is None else check_number("dt", dt, above=0)
    if halvings > MOST_HALVINGS or dt / 2**halvings < LEAST_STEP:
        raise InputError("halvings", halvings, f"makes steps below {LEAST_STEP:g} s, the shortest that is taken")
    count = round(seconds / dt)
    runs: list[np.ndarray] = []
    with Bar(f"Running {scene.name} at {halvings + 1} steps", counted=True, quiet=quiet) as bar:
        for k in range(halvings + 1):
            bar.update(k, halvings + 1)
            finer = copy.copy(scene)
            finer.dt = dt / 2**k
            run = finer.build().run(count * dt, [Recorder(every=2**k)])
            values = np.asarray(quantity(run) if callable(quantity) else _read(run, quantity), dtype=float)
            runs.append(values.reshape(len(run), -1))
            times = run.times
    differences = np.array([np.abs(a - b).max(axis=1) for a, b in zip(runs, runs[1:], strict=False)])
    size = float(np.nanmax(np.abs(runs[-1]))) or 1.0
    span = float(np.nanmax(np.abs(runs[-1] - runs[-1][0]))) or size
    tolerance = 0.01 * span if tolerance is None else check_number("tolerance", tolerance, above=0)
    rms = np.sqrt(np.mean(differences**2, axis=1))
    orders = np.array([_order(a, b, ROUNDING * size) for a, b in zip(rms, rms[1:], strict=False)])
    name, steps = getattr(quantity, "__name__", str(quantity)), dt / 2.0 ** np.arange(halvings + 1)
    horizon = _horizon(times, differences, tolerance)
    return Convergence(scene.name, name, steps, times, differences, orders, float(orders[-1]), horizon, tolerance)


def _read(run: Run, quantity: str) -> np.ndarray:
    known = ("poses", "positions", "orientations", "velocities", "angular_velocities", "energy")
    if quantity not in known:
        raise InputError("quantity", quantity, f"must be one of {', '.join(known)}, or a function of the run")
    return np.concatenate([run.positions, run.orientations], axis=2) if quantity == "poses" else getattr(run, quantity)


def _order(coarse: float, fine: float, rounding: float) -> float:
    """log2 of the ratio of two differences; inf where both are rounding."""
    return math.inf if fine <= rounding else math.log2(coarse / fine) if coarse > 0 else -math.inf


def _horizon(times: np.ndarray, differences: np.ndarray, tolerance: float) -> float:
    """The last time before the finest two runs are apart by the tolerance, or halving does not help any more."""
    before, last = differences[-2], differences[-1]
    lost = (last > tolerance) | ((last > 0.1 * tolerance) & (last > before))
    return float(times[-1]) if not lost.any() else float(times[max(int(lost.argmax()) - 1, 0)])
