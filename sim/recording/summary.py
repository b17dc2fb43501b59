"""A run in numbers: what was conserved, what was lost and where to."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from tumble.sim.errors import InputError
from tumble.sim.forces.force_definitions import MutualGravity, Spring, UniformGravity
from tumble.sim.ledger.diagnostics import unheard
from tumble.sim.ledger.promises import promises
from tumble.sim.recording.force_impulse import impulse
from tumble.sim.recording.run import Run

# Entries of the ledger that physics explains; the others are the method's own errors.
GAINS, LOSSES = ("external", "user"), ("friction", "restitution")


@unheard
def summarize(run: Run) -> dict[str, Any]:
    """Energy and momentum drift, deepest penetration, losses and speed of a run, as plain numbers for JSON.

    energy_drift
        largest |E(t) - E(0) - external - user + friction + restitution| [J]: the change of energy that neither work nor
        friction nor restitution accounts for. ``energy_drift_relative`` is it over the energy scale: the largest
        kinetic energy plus the largest |potential energy|. What is left is the method's own: the integrator's error, the
        removal of overlaps, and the phase of the micro-collisions; ``energy_drift_by`` tells which is the largest.
    missed
        what the run did not keep of what the method promises, in words (:mod:`tumble.sim.ledger.promises`).
    ledger.residual
        [J] is what no entry of the books explains: rounding, as ``books_close`` says. In words: :func:`energy_statement`.
    momentum_drift
        largest |P(t) - P(0) - impulse of gravity and forces + momentum given to immovable bodies| [kg m/s], less what the
        samples leave open of forces that vary (`sim/recording/force_impulse.py`); ``_relative`` to the largest sum of |m v|
        that occurred (see :func:`momentum_scale`) plus those impulses. null where a force can not be known.
    steps_per_second
        of the simulation alone; ``wall_seconds`` has recording and compilation in it too.
    angular_momentum_drift
        the same for L about the common centre of mass, where no immovable bodies take part, no forces turn the whole, and
        all bodies were recorded; null elsewhere.
    """
    if len(run) == 0:
        return {"scenario": run.attributes.get("scenario", ""), "samples": 0, "complete": run.complete}
    ledger = run.ledger
    kinetic = run.kinetic_linear + run.kinetic_angular
    scale = float(kinetic.max() + np.abs(run.potential).max())
    explained = sum(ledger[name] - ledger[name][0] for name in GAINS) - sum(ledger[name] - ledger[name][0] for name in LOSSES)
    drift = float(np.abs(run.energy - run.energy[0] - explained).max())
    out: dict[str, Any] = {
        "scenario": run.attributes.get("scenario", ""),
        "parameters": json.loads(run.attributes.get("parameters", "{}")),
        "bodies": len(run.names),
        "samples": len(run),
        "complete": run.complete,
        "duration": run.duration,
        "dt": run.attributes["dt"],
        "steps": int(run.steps[-1] - run.steps[0]),
        "energy_start": float(run.energy[0]),
        "energy_end": float(run.energy[-1]),
        "energy_scale": scale,
        "energy_drift": drift,
        "books_close": closes({name: float(values[-1]) for name, values in ledger.items()}, scale),
        "energy_drift_relative": _over(drift, scale),
        "energy_drift_by": max(METHOD.items(), key=lambda item: np.abs(ledger.get(item[0], np.zeros(1))).max())[1],
        **_momentum(run),
        "worst_penetration": float(run.penetration.max()),
        "ledger": {name: float(values[-1]) for name, values in ledger.items()},
    }
    if "statistics" in run.attributes:
        counters = out["statistics"] = json.loads(run.attributes["statistics"])
        told = dict.fromkeys(METHOD, 0.0) | out["ledger"]  # which may be of an older version
        out["missed"] = promises(counters, told, scale, closes(out["ledger"], scale), run.scene.bodies).missed
    wall = run.attributes.get("wall_seconds", 0.0)
    if wall:
        recording = run.attributes.get("recording_seconds", 0.0)
        stepping = max(wall - recording, 1e-9)
        out.update(wall_seconds=wall, recording_seconds=recording, steps_per_second=out["steps"] / stepping)
    return out


METHOD = {
    "integrator": "the integrator",
    "correction": "overlaps pushed apart",
    "contact": "lasting contact, whose work comes and goes within a step",
    "sleep": "bodies put to sleep",
}


def energy_statement(summary: dict[str, Any]) -> str:
    """What is exact about the energy of a run, what is an error of the method, and how large, in plain words."""
    ledger = summary["ledger"]
    worst, part = summary["energy_drift"], summary["energy_drift_relative"]
    left = abs(ledger["residual"])
    if summary["books_close"]:
        out = f"every joule is booked under a cause, up to rounding ({left:.1e} J)."
    else:
        out = f"the books are open by {left:.1e} J, more than rounding: do not trust this run."
    if not worst:
        return f"{out} The method itself neither gave nor took any."
    by = summary["energy_drift_by"]
    return f"{out} The method's own error is {worst:.1e} J at most, {part:.1e} of the energy, mostly by {by}."


def _momentum(run: Run) -> dict[str, Any]:
    """Drift of momentum and angular momentum, absolute and relative."""
    mass = np.array([body.mass_properties()[0] if body.kind == "dynamic" else 0.0 for body in run.scene.bodies])
    given = run.reservoir_momentum
    try:
        gained, open_by, total = impulse(run)
        off = np.linalg.norm(run.momentum - run.momentum[0] - gained + given - given[0], axis=1)
        drift = max(0.0, float((off - open_by).max()))
        out = {"momentum_drift": drift, "momentum_drift_relative": _over(drift, momentum_scale(run) + total)}
    except InputError:
        out = {"momentum_drift": None, "momentum_drift_relative": None}
    moved = run.reservoir_angular_momentum
    if np.any(moved != moved[0]) or not mass.any() or not sees_all(run) or not keeps_angular_momentum(run):
        return {**out, "angular_momentum_drift": None, "angular_momentum_drift_relative": None}
    about = run.angular_momentum - np.cross(_center(run), run.momentum)
    drift = float(np.linalg.norm(about - about[0], axis=1).max())
    scale = float(np.linalg.norm(about, axis=1).max())
    return {**out, "angular_momentum_drift": drift, "angular_momentum_drift_relative": _over(drift, scale)}


def keeps_angular_momentum(run: Run) -> bool:
    """Whether forces leave the angular momentum about the common centre of mass: uniform gravity, and bodies on each other."""
    dynamic = {body.name for body in run.scene.bodies if body.kind == "dynamic"}
    return all(
        (isinstance(force, UniformGravity) and force.bodies is None)
        or isinstance(force, MutualGravity)
        or (isinstance(force, Spring) and {force.a, force.b} <= dynamic)
        for force in run.scene.forces
    )


def sees_all(run: Run) -> bool:
    """Whether all bodies that forces move were recorded."""
    return {body.name for body in run.scene.bodies if body.kind == "dynamic"} <= set(run.names)


def momentum_scale(run: Run) -> float:
    """Largest sum of |m v| over the dynamic bodies in a run [kg m/s]; what is at least that where not all were recorded.

    By Cauchy and Schwarz that is sqrt(2 M T), with the mass and the kinetic energy of translation of all.
    """
    if sees_all(run):
        mass = np.array([b.mass_properties()[0] if b.kind == "dynamic" else 0.0 for b in run.bodies])
        return float(np.nansum(np.linalg.norm(run.velocities, axis=2) * mass, axis=1).max())
    mass = sum(body.mass_properties()[0] for body in run.scene.bodies if body.kind == "dynamic")
    return float(np.sqrt(2.0 * mass * run.kinetic_linear.max()))


def _center(run: Run) -> np.ndarray:
    """(T, 3) [m] common centre of mass of the dynamic bodies, all of which were recorded."""
    found = [b.mass_properties() if b.kind == "dynamic" else (0.0, np.zeros(3), None) for b in run.bodies]
    mass, offsets = np.array([m for m, _, _ in found]), np.array([center for _, center, _ in found])
    w, v = run.orientations[..., :1], run.orientations[..., 1:]
    turned = offsets + 2 * np.cross(v, np.cross(v, offsets) + w * offsets)
    return np.einsum("tnk,n->tk", run.positions + turned, mass) / mass.sum()


def closes(ledger: dict[str, float], scale: float) -> bool:
    """The last entries of a run's ledger explain its energy, to rounding; ``scale`` [J] is that of its energies."""
    return abs(ledger["residual"]) <= max(1e-9 * ledger.get("moved", 0.0), 1e-12 * scale)


def _over(value: float, scale: float) -> float:
    return value / scale if scale > 0 else value
