"""Two runs beside each other: where they first differ, by how much over time, and how fast that grows."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tumble.collision.errors import InputError
from tumble.sim.recording.provenance import git_revision, versions
from tumble.sim.recording.recorded_contacts import TABLES
from tumble.sim.recording.recorded_variables import VARIABLES
from tumble.sim.recording.run import Run
from tumble.sim.words import count, few

STATE = ("position", "orientation", "velocity", "angular_velocity")
CHUNK = 256  # samples at a time: memory stays bounded


@dataclass(frozen=True)
class First:
    """The first thing that differs: the step and its time [s], the body, the quantity, and by how much."""

    step: int
    time: float
    body: str
    quantity: str
    difference: float
    unit: str = ""

    def __str__(self) -> str:
        whose = f" of {self.body}" if self.body else ""
        by = f"{self.difference:.3g} {self.unit}".rstrip()
        return f"first at step {self.step} ({self.time:.9g} s): {self.quantity}{whose}, by {by}"


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
    apart, turned, energy = (np.concatenate(parts) for parts in (apart, turned, energy))
    notes = list(_notes(a, b))
    if len(names) < len(a.partners):
        notes.append(f"{count(len(names), 'body')} in common, of {len(a.names)} and {len(b.names)} recorded")
    notes += notes_on_precision(a, b)
    if len(rows_a) < max(len(a), len(b)):
        notes.append(f"{count(len(rows_a), 'sample')} in common, of {len(a)} and {len(b)}")
    times = a.times[rows_a]
    return Comparison(first is None, first, times, apart, turned, energy, growth(times, apart), tuple(notes))


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
    """The first sample where a bit differs; in it the first quantity that does, and the body that differs most in that."""
    bad = {name: unequal(a[name], b[name]) for name in STATE}
    at = [int(np.argmax(differs.any(axis=(1, 2)))) for differs in bad.values() if differs.any()]
    if not at:
        return None
    k = min(at)
    name = next(name for name in STATE if bad[name][k].any())
    off = distances(a[name][k], b[name][k])
    i = int(np.where(bad[name][k].any(axis=1), off, -1.0).argmax())
    return First(int(run.steps[rows[k]]), float(run.times[rows[k]]), names[i], name, float(off[i]), unit_of(name))


def unequal(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where two arrays differ by a bit; any two nan are the same."""
    if a.dtype.kind != "f":
        return a != b
    bits = f"u{a.dtype.itemsize}"
    same = np.ascontiguousarray(a).view(bits) == np.ascontiguousarray(b).view(bits)  # minus zero is another number than zero
    return ~(same | (np.isnan(a) & np.isnan(b)))


def distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(n,) distances of the rows of two (n, ...) arrays; inf where one of them has no number."""
    off = np.nan_to_num(np.asarray(a, float) - np.asarray(b, float), nan=np.inf, posinf=np.inf, neginf=np.inf)
    return np.linalg.norm(off.reshape(len(off), -1), axis=1)


def unit_of(quantity: str) -> str:
    """The unit of something recorded, as people write it."""
    units = {v.name: v.unit for v in VARIABLES}
    units |= {f"{table}_{field}": unit for table, (_, fields) in TABLES.items() for field, (unit, _) in fields.items()}
    return units.get(quantity, "").replace(" s-1", "/s").removeprefix("1")


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
    return [*out, *notes_on_versions(a.attributes, b.attributes)]


def notes_on_precision(*runs: Run) -> list[str]:
    single = any(run.precision == "single" for run in runs)
    return ["poses and velocities rounded to single precision, as they were recorded"] if single else []


def notes_on_versions(a: dict[str, Any], b: dict[str, Any] | None) -> list[str]:
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
