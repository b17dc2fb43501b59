"""Two runs beside each other: where they first differ, by how much over time, and how fast that grows."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from collision.errors import InputError
from sim.provenance import git_revision, versions
from sim.run import Run
from sim.words import count, few

STATE = ("position", "orientation", "velocity", "angular_velocity")
UNITS = {"position": "m", "orientation": "", "velocity": "m/s", "angular_velocity": "rad/s"}
CHUNK = 256  # samples at a time: memory stays bounded


@dataclass(frozen=True)
class First:
    """The first thing that differs: the step and its time [s], the body, the quantity, and by how much."""

    step: int
    time: float
    body: str
    quantity: str
    difference: float

    def __str__(self) -> str:
        unit = UNITS.get(self.quantity, "")
        whose = f" of {self.body}" if self.body else ""
        return f"first at step {self.step} ({self.time:.9g} s): {self.quantity}{whose}, by {self.difference:.3g} {unit}".rstrip()


@dataclass(frozen=True)
class Comparison:
    """What :func:`compare` found.

    ``same``: every bit of every state at all common steps; ``first`` difference, or None. ``times`` (k,) of the common steps
    [s]; ``apart`` (k,) largest distance of a body from itself [m], ``turned`` (k,) the same as an angle [rad], ``energy`` (k,)
    [J]. ``growth`` [1/s]: the rate of an exponential through ``apart``, nan where there is none. ``notes``: what else differs.
    """

    same: bool
    first: First | None
    times: np.ndarray
    apart: np.ndarray
    turned: np.ndarray
    energy: np.ndarray
    growth: float
    notes: tuple[str, ...]

    def __str__(self) -> str:
        if self.same:
            lines = [f"the same: {count(len(self.times), 'sample')}, to the last bit"]
        else:
            last = f"at the end ({self.times[-1]:.6g} s) apart by {self.apart[-1]:.3g} m and {self.turned[-1]:.3g} rad"
            lines = ["they differ", f"  {self.first}", f"  {last}, at most by {np.nanmax(self.apart):.3g} m"]
            if math.isfinite(self.growth):
                lines.append(f"  grows as exp({self.growth:.3g} t / s): tenfold every {math.log(10) / self.growth:.3g} s")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def compare(a: Run, b: Run) -> Comparison:
    """Compare two runs at the steps that both recorded, or at their common times where the step differs.

    Where bodies were chosen to be recorded, those that both have; where one is in single precision, both rounded to it.
    InputError where the scenes have other bodies, or there is no body or sample in common.
    """
    if set(a.partners) != set(b.partners):
        other = sorted(set(a.partners) ^ set(b.partners))
        raise InputError("runs", ", ".join(other[:4]), "are bodies of one of the two only: there is nothing to compare")
    names = tuple(name for name in a.names if name in set(b.names))
    if not names:
        raise InputError("runs", f"{few(a.names, 3)}; {few(b.names, 3)}", "are other bodies: none was recorded in both")
    rows_a, rows_b = _common(a, b)
    if len(rows_a) == 0:
        raise InputError("runs", f"{a.duration:g} s and {b.duration:g} s", "have no sample at the same time")
    first, apart, turned, energy = None, [], [], []
    for k in range(0, len(rows_a), CHUNK):
        ia, ib = rows_a[k : k + CHUNK], rows_b[k : k + CHUNK]
        xa, xb = _states(a, ia, names), _states(b, ib, names)
        if a.precision != b.precision:
            xa, xb = ({n: value.astype(np.float32) for n, value in x.items()} for x in (xa, xb))
        first = first or _first(a, ia, xa, xb, names)
        xa, xb = ({n: value.astype(float) for n, value in x.items()} for x in (xa, xb))
        apart.append(_largest(np.linalg.norm(xa["position"] - xb["position"], axis=2)))
        turned.append(_largest(_angles(xa["orientation"], xb["orientation"])))
        energy.append(np.abs(a.energy[ia] - b.energy[ib]))
    distance = np.concatenate(apart)
    notes = list(_notes(a, b))
    if len(names) < len(a.partners):
        notes.append(f"{count(len(names), 'body')} in common, of {len(a.names)} and {len(b.names)} recorded")
    notes += _precision(a, b)
    if len(rows_a) < max(len(a), len(b)):
        notes.append(f"{len(rows_a)} samples in common, of {len(a)} and {len(b)}")
    times = a.times[rows_a]
    return Comparison(
        first is None,
        first,
        times,
        distance,
        np.concatenate(turned),
        np.concatenate(energy),
        growth(times, distance),
        tuple(notes),
    )


def growth(times: np.ndarray, distance: np.ndarray) -> float:
    """Rate of an exponential through a growing distance [1/s], fitted on its logarithm between its first tenth and its last.

    nan where it does not grow a thousandfold, or where a power of the time fits as well: errors that merely add up. These are
    low powers; what needs more than t^6 over a stretch that more than doubles the time is taken for an exponential.
    """
    reached = np.maximum.accumulate(np.nan_to_num(distance))
    seen = reached[reached > 0]
    if len(seen) < 8 or seen[-1] < 1e3 * seen[0]:
        return math.nan
    use = (reached > 3 * seen[0]) & (reached < 0.1 * seen[-1])
    if use.sum() < 4 or np.ptp(times[use]) == 0 or times[use][0] == times[0]:
        return math.nan
    t, y = times[use] - times[0], np.log(reached[use])
    line, power = np.polyfit(t, y, 1), np.polyfit(np.log(t), y, 1)
    misfit = np.sum((np.polyval(line, t) - y) ** 2), np.sum((np.polyval(power, np.log(t)) - y) ** 2)
    steep = power[0] > 6 and t[-1] > 2 * t[0]
    return float(line[0]) if steep or misfit[0] < 0.5 * misfit[1] else math.nan


@dataclass(frozen=True)
class Check:
    """What :func:`check` found: ``same``, or the ``first`` difference; ``samples`` that were compared; ``notes``."""

    same: bool
    first: First | None
    samples: int
    notes: tuple[str, ...]

    def __str__(self) -> str:
        lines = (
            [f"the same: {count(self.samples, 'sample')}, to the last bit"] if self.same else ["it differs", f"  {self.first}"]
        )
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def check(run: Run | str | Path, progress: Any = None) -> Check:
    """Run the recorded scene again, and compare each sample to the last bit; stops at the first difference.

    ``progress(done, total)`` is called now and then. The world is stepped from sample to sample: memory stays as it is.
    """
    run = run if isinstance(run, Run) else Run.open(run)
    world = run.scene.build()
    world._begin()
    world._started = True
    notes = list(_versions(run.attributes, None))
    if not run.whole:
        hashed = "; the others by the hash of the last state alone" if "state_hash" in run.attributes else ""
        notes.append(f"{len(run.names)} of {count(len(run.partners), 'body')} recorded{hashed}")
    notes += _precision(run)
    rows = [world.names.index(name) for name in run.names]
    for k, step in enumerate(run.steps):
        if step > world.step_count:
            world.step(int(step) - world.step_count)
        now = {
            "position": world.positions, "orientation": world.orientations,
            "velocity": world.velocities, "angular_velocity": world.angular_velocities,
        }  # fmt: skip
        first = _first(
            run,
            np.array([k]),
            _states(run, np.array([k]), run.names),
            {n: value[None, rows].astype(run.positions.dtype) for n, value in now.items()},
            run.names,
        )
        if first:
            return Check(False, first, k + 1, tuple(notes))
        if progress is not None:
            progress(k + 1, len(run))
    said = run.attributes.get("state_hash")
    if said is not None and said != world.state_hash():
        hidden = First(world.step_count, world.time, "", "state that is not recorded, by its hash", math.nan)
        return Check(False, hidden, len(run), tuple(notes))
    return Check(True, None, len(run), tuple(notes))


# ---------------------------------------------------------------------- parts


def _common(a: Run, b: Run) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the samples that both have: by step where dt is the same, else by time to 1e-9 of a step."""
    if a.attributes["dt"] == b.attributes["dt"]:
        keys = a.steps, b.steps
    else:
        unit = 1e-9 * min(a.attributes["dt"], b.attributes["dt"])
        keys = np.round(a.times / unit).astype("i8") // 8, np.round(b.times / unit).astype("i8") // 8
    _, rows_a, rows_b = np.intersect1d(*keys, return_indices=True)
    return rows_a, rows_b


def _states(run: Run, rows: np.ndarray, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    """The states of the bodies of these names at these samples."""
    whole = {"position": "positions", "orientation": "orientations", "velocity": "velocities"}
    states = {name: getattr(run, whole.get(name, "angular_velocities"))[rows] for name in STATE}
    if names == run.names:
        return states
    row = {name: i for i, name in enumerate(run.names)}
    return {name: values[:, [row[n] for n in names]] for name, values in states.items()}


def _first(
    run: Run, rows: np.ndarray, a: dict[str, np.ndarray], b: dict[str, np.ndarray], names: tuple[str, ...]
) -> First | None:
    """The first sample where a bit differs, and there the quantity and body that differ most of the first quantity."""
    unequal = {name: ~((a[name] == b[name]) | (np.isnan(a[name]) & np.isnan(b[name]))) for name in STATE}
    at = [int(np.argmax(bad.any(axis=(1, 2)))) for bad in unequal.values() if bad.any()]
    if not at:
        return None
    k = min(at)
    for name in STATE:
        if unequal[name][k].any():
            apart = a[name][k].astype(float) - b[name][k].astype(float)
            off = np.linalg.norm(np.nan_to_num(apart, nan=np.inf), axis=1)
            i = int(off.argmax())
            return First(int(run.steps[rows[k]]), float(run.times[rows[k]]), names[i], name, float(off[i]))
    return None


def _largest(values: np.ndarray) -> np.ndarray:
    """(k,) over the bodies of (k, n); 0 where there are none."""
    return np.nanmax(values, axis=1, initial=0.0)


def _angles(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Angle between two attitudes [rad]: twice that between the quaternions, exact for small ones too."""
    q = np.where((p * q).sum(axis=-1, keepdims=True) < 0, -q, q)
    return 4 * np.arctan2(np.linalg.norm(p - q, axis=-1), np.linalg.norm(p + q, axis=-1))


def _notes(a: Run, b: Run) -> list[str]:
    out = []
    for key in ("scenario", "parameters", "dt", "integrator", "seed"):
        if a.attributes[key] != b.attributes[key]:
            out.append(f"{key}: {a.attributes[key]} and {b.attributes[key]}")
    return [*out, *_versions(a.attributes, b.attributes)]


def _precision(*runs: Run) -> list[str]:
    single = any(run.precision == "single" for run in runs)
    return ["poses and velocities rounded to single precision, as they were recorded"] if single else []


def _versions(a: dict[str, Any], b: dict[str, Any] | None) -> list[str]:
    """What else of the two records may explain a difference; ``b`` None: this program, here."""
    import platform

    here = {"versions": json.dumps(versions()), "git_revision": git_revision(), "platform": platform.platform()}
    b = here if b is None else b
    out = []
    then, now = json.loads(a["versions"]), json.loads(b["versions"])
    for package in then:
        if then[package] != now.get(package):
            out.append(f"{package}: {then[package]} and {now.get(package)}")
    for key, what in (("git_revision", "revision"), ("platform", "platform")):
        if a.get(key) != b.get(key):
            out.append(f"{what}: {a.get(key)} and {b.get(key)}")
    return out
