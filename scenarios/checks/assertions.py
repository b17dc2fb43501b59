"""What physics asks of a run, as assertions; the pytest plugin hands them out as fixtures, and shows the plot of a failure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tumble.collision.errors import InputError
from tumble.sim.recording.force_impulse import impulse
from tumble.sim.recording.run import Run
from tumble.sim.recording.summary import momentum_scale, sees_all

QUANTITIES = {"energy": "J", "kinetic": "J", "momentum": "kg m/s", "angular_momentum": "kg m2/s"}
COARSE = 1e-2  # of the momentum that moved: the impulse of forces must be known to less than this
ENTRIES = ("external", "user", "contact", "correction", "sleep", "integrator", "friction", "restitution", "residual")


class Violation(AssertionError):
    """A run that is not as it should be.

    Attributes
    ----------
    what : the same in words.
    run, index, time, step : the run, and the first bad sample of it [s].
    value, bound, unit : what it has there, and what it should have kept.
    worst, worst_time : the worst value, and when that was [s].
    ledger : entry -> [J] at that time.
    account : of what is no energy, the quantities that were weighed then, by name, each in ``unit``.
    plot : the path of a picture, once there is one.
    """

    def __init__(self, what: str, run: Run, values: np.ndarray, bounds: np.ndarray, unit: str, label: str = "off by",
                 account: dict[str, np.ndarray] | None = None):  # fmt: skip
        super().__init__(what)
        bad = ~(values <= bounds)
        self.what, self.run, self.unit, self.label = what, run, unit, label
        self.index = k = int(np.argmax(bad))
        self.time, self.step = float(run.times[k]), int(run.steps[k])
        self.value, self.bound = float(values[k]), float(bounds[k])
        worst = int(np.nanargmax(np.where(np.isfinite(values), values, np.inf)))
        self.worst, self.worst_time = float(values[worst]), float(run.times[worst])
        self.ledger = {name: float(run.ledger[name][k]) for name in ENTRIES if name in run.ledger}
        self.account = {name: np.asarray(rows[k]) for name, rows in (account or {}).items()}
        self.plot: Path | None = None

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        where = f"{self.time:.6g} s (step {self.step})"
        lines = [
            self.what,
            f"  first at {where}: {self.label} {self.value:.3g}{unit}, allowed {self.bound:.3g}{unit}",
            f"  worst at {self.worst_time:.6g} s: {self.worst:.3g}{unit}",
        ]
        if self.account:
            lines.append(f"  then [{self.unit}]: " + "  ".join(f"{k} {_said(v)}" for k, v in self.account.items()))
        else:
            booked = "  ".join(f"{k} {v:.3g}" for k, v in self.ledger.items() if v)
            lines.append("  ledger then [J]: " + (booked or "nothing moved"))
        if self.plot is not None:
            lines.append(f"  plot: {self.plot}")
        return "\n".join(lines)


class Mismatch(AssertionError):
    """What was found is not what was asked for. ``what`` says it in words; ``found``: the comparison, the hash, the orders ..."""

    def __init__(self, what: str, found: Any):
        super().__init__(what)
        self.what, self.found = what, found


def _said(value: np.ndarray) -> str:
    return f"({', '.join(f'{x:.6g}' for x in value + 0.0)})" if value.ndim else f"{value:.6g}"


def hold(
    run: Run, what: str, values: Any, bound: Any, unit: str = "", label: str = "off by", account: dict | None = None
) -> None:
    """Raise a Violation where one of the ``values`` (T,) is above its bound, a number or (T,), or is not a number."""
    __tracebackhide__ = True
    values = np.asarray(values, dtype=float)
    bounds = np.broadcast_to(np.asarray(bound, dtype=float), values.shape)
    if not np.all(values <= bounds):
        raise Violation(what, run, values, bounds, unit, label, account)


def assert_conserved(run: Run, quantity: str | Callable[[Run], np.ndarray] = "energy", rtol: float = 1e-9, atol: float = 0.0):
    """The quantity stays what it was at the start, at each sample.

    ``quantity``: "energy" (kinetic and potential), "kinetic", "momentum", "angular_momentum" (about the origin), or a function
    of the run that gives (T,) or (T, n). ``rtol`` is relative to its scale: of energies the largest kinetic energy plus the span
    of the potential one; of momenta the largest sum of those of all bodies; of a function the largest value.
    """
    __tracebackhide__ = True
    name = quantity if isinstance(quantity, str) else getattr(quantity, "__name__", "quantity")
    if isinstance(quantity, str) and quantity not in QUANTITIES:
        raise InputError("quantity", quantity, f"must be one of {', '.join(QUANTITIES)}, or a function of the run")
    values = series(run, quantity)
    off = np.abs(values - values[0]) if values.ndim == 1 else np.linalg.norm(values - values[0], axis=1)
    bound = (
        (rtol * scale(run, quantity, values) if rtol else 0.0) + (rounding(run) if name in ("energy", "kinetic") else 0.0) + atol
    )
    account = None if name in ("energy", "kinetic") else {name: values, "at the start": np.broadcast_to(values[0], values.shape)}
    hold(run, f"{name} is not conserved", off, bound, QUANTITIES.get(name, ""), account=account)


def assert_momentum(run: Run, rtol: float = 1e-12, atol: float = 0.0, functions: dict[str, Callable[..., Any]] | None = None):
    """Momentum changes by the impulse of gravity and forces and by what immovable bodies take, and by nothing else.

    ``rtol`` is relative to the largest sum of |m v| plus the impulses of gravity and forces. Forces that vary are integrated
    from the samples (`sim/recording/force_impulse.py`), and what that leaves open is allowed for: some 1e-5 of their impulse
    where each step is recorded, 1e-9 where nothing touches. What bodies do to each other cancels, so it leaves nothing open.
    ``functions``: those that are forces, by name. InputError where a force can not be known: its function is missing, a body that
    it acts on was not recorded, or the samples are too far apart to tell.
    """
    __tracebackhide__ = True
    gained, open_by, total = impulse(run, functions)
    given = run.reservoir_momentum - run.reservoir_momentum[0]
    size = scale(run, "momentum") + total
    if open_by[-1] > COARSE * size:
        wide = float(np.diff(run.times).max())
        hint = f"has samples {wide:.3g} s apart, too far to tell what its forces gave: record more of them"
        raise InputError("run", run.scene.name, hint)
    off = np.linalg.norm(run.momentum - run.momentum[0] - gained + given, axis=1)
    account = {
        "momentum": run.momentum,
        "at the start": np.broadcast_to(run.momentum[0], run.momentum.shape),
        "given by gravity and forces": gained,
        "taken by immovable bodies": given,
    }
    hold(run, "momentum does not balance", off, rtol * size + open_by + atol, "kg m/s", account=account)


def assert_ledger_closes(run: Run, rtol: float = 1e-9) -> None:
    """What no entry of the ledger explains is rounding: below ``rtol`` of the energy moved, or 1e-14 of the energies."""
    __tracebackhide__ = True
    bound = np.maximum(rtol * run.ledger["moved"], rounding(run))
    hold(run, "the ledger does not close", np.abs(run.ledger["residual"]), bound, "J", "residual")


def assert_passive(run: Run, rtol: float = 1e-6, atol: float = 0.0) -> None:
    """No energy is gained: less the work of driven bodies and of the user, it never rises above what it was before.

    ``rtol`` is relative to the scale of the energy, as in :func:`assert_conserved`. Bodies in lasting contact bounce
    imperceptibly, so where they slide or roll over edges the energy breathes by about (g dt)^2 of each kilogramme.
    """
    __tracebackhide__ = True
    ledger = run.ledger
    own = run.energy - (ledger["external"] - ledger["external"][0]) - (ledger["user"] - ledger["user"][0])
    gained = own - np.minimum.accumulate(own)
    hold(run, "energy is gained", gained, rtol * scale(run, "energy") + rounding(run) + atol, "J", "gained")


def assert_in_friction_cone(run: Run, rtol: float = 1e-9) -> None:
    """Every contact keeps Coulomb's law: its tangential impulse is at most friction times its normal one, and that pushes.

    Needs a run with contacts: ``Recorder(contacts=True)``, ``run_scenario(..., contacts=True)``. ``rtol`` is relative to the
    largest normal impulse of the sample.
    """
    __tracebackhide__ = True
    off, bound = np.zeros(len(run)), np.full(len(run), np.inf)
    for k in range(len(run)):
        rows = run.contacts(k)
        if len(rows):
            normal, along = rows["impulse"][:, 0], np.linalg.norm(rows["impulse"][:, 1:], axis=1)
            beyond = np.maximum(along - rows["friction"] * normal, -normal)
            off[k], bound[k] = max(0.0, float(beyond.max())), rtol * float(np.abs(normal).max())
    hold(run, "a contact is outside the friction cone", off, bound, "N s", "outside by")


def assert_at_rest(
    run: Run, body: str | None = None, since: float | None = None, speed: float = 1e-6, spin: float = 1e-6
) -> None:
    """Bodies are still from ``since`` [s] on, by default at the last sample: below ``speed`` [m/s] and ``spin`` [rad/s].

    ``body``: the name of one; else all dynamic bodies.
    """
    __tracebackhide__ = True
    rows = [run.index(body)] if body else [i for i, b in enumerate(run.bodies) if b.kind == "dynamic"]
    late = run.times >= (run.times[-1] if since is None else since)
    if not late.any():
        raise InputError("since", since, f"must be within the run, which ends at {run.times[-1]:g} s")
    for values, bound, unit in ((run.velocities, speed, "m/s"), (run.angular_velocities, spin, "rad/s")):
        size = np.linalg.norm(values[:, rows], axis=2)
        fastest = size.max(axis=1)
        name = run.names[rows[int(size[late][-1].argmax())]]
        hold(run, f"{body or name} is not at rest", np.where(late, fastest, 0.0), bound, unit, "moves at")


def assert_same_run(run: Run, other: Run | str) -> None:
    """The run ends in the same state to the last bit: that of another run, or of a hash as ``World.state_hash`` gives it.

    Bits are the same on one machine with one version of everything; between machines a baseline holds (docs/testing.md).
    """
    __tracebackhide__ = True
    if isinstance(other, Run):
        from tumble.scenarios.checks.compare import compare

        found = compare(run, other)
        if not found.same:
            raise Mismatch(str(found), found)
        return
    got = run.attributes.get("state_hash")
    if got is None:
        raise InputError("run", run.attributes.get("title"), "was recorded without the hash of its last state")
    if got != other:
        raise Mismatch(f"the run ends in another state: {got}, not {other} (made with {run.attributes['versions']})", got)


def assert_converges(scenario: Any, order: float, within: float = 0.3, **options: Any) -> None:
    """Halving the step divides the error by 2^order, or more: the least order seen is at least ``order - within``.

    ``scenario``: a name, a scene file or a Scene; ``options`` are those of :func:`tumble.scenarios.checks.converge.converge`.
    """
    __tracebackhide__ = True
    from tumble.scenarios.checks.converge import converge

    found = converge(scenario, **options)
    if not found.order >= order - within:
        raise Mismatch(f"order {found.order:.2f} is below {order:g} - {within:g}\n{found}", found)


# ---------------------------------------------------------------------- scales


def series(run: Run, quantity: str | Callable[[Run], np.ndarray]) -> np.ndarray:
    """(T,) or (T, n) of a quantity by name or function."""
    if callable(quantity):
        return np.asarray(quantity(run), dtype=float)
    return run.kinetic_linear + run.kinetic_angular if quantity == "kinetic" else getattr(run, quantity)


def scale(run: Run, quantity: str | Callable[[Run], np.ndarray], values: np.ndarray | None = None) -> float:
    """How large a quantity is in a run: what ``rtol`` is relative to."""
    if quantity in ("energy", "kinetic"):
        return float((run.kinetic_linear + run.kinetic_angular).max()) + float(np.ptp(run.potential))
    if quantity == "momentum":
        return momentum_scale(run)
    if quantity == "angular_momentum":
        if not sees_all(run):
            raise InputError("run", run.scene.name, "was recorded of chosen bodies, so there is no scale: give atol, and rtol=0")
        momenta = np.linalg.norm(run.velocities, axis=2) * masses(run)
        inertia = np.array([np.linalg.norm(p[2]) if p[0] else 0.0 for p in properties(run)])
        spins = np.linalg.norm(run.angular_velocities, axis=2) * inertia
        return float(np.nansum(momenta * np.linalg.norm(run.positions, axis=2) + spins, axis=1).max())
    return float(np.abs(values).max())


def properties(run: Run) -> list[tuple[float, Any, Any]]:
    """(mass, centre, inertia) of each recorded body; mass 0 of what is not dynamic."""
    return [b.mass_properties() if b.kind == "dynamic" else (0.0, np.zeros(3), np.zeros((3, 3))) for b in run.bodies]


def masses(run: Run) -> np.ndarray:
    return np.array([mass for mass, _, _ in properties(run)])


def rounding(run: Run) -> float:
    """What rounding may do to the energies [J]: 1e-14 of them, each body by itself, whatever they cancel to.

    Bodies that were not recorded count where they began.
    """
    gravity, seen = np.array(run.scene.gravity), set(run.names)
    weights = np.nansum(np.abs(run.positions @ gravity) * masses(run), axis=1)
    for body in run.scene.bodies:
        if body.kind == "dynamic" and body.name not in seen:
            weights = weights + abs(float(np.array(body.position) @ gravity)) * body.mass_properties()[0]
    kinetic = run.kinetic_linear + run.kinetic_angular
    return 1e-14 * float((kinetic + np.abs(run.potential) + weights).max() + abs(run.energy[0]))
