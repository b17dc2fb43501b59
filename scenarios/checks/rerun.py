"""A recorded run done again: everything that was recorded must come out to the last bit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tumble.scenarios.checks.compare import (
    CHUNK,
    STATE,
    First,
    distances,
    notes_on_precision,
    notes_on_versions,
    unequal,
    unit_of,
)
from tumble.sim.errors import RecordingError
from tumble.sim.recording.recorded_contacts import IMPACT_ROW, impact_rows, rows
from tumble.sim.recording.recorded_variables import VARIABLES, Moment
from tumble.sim.recording.run import Run
from tumble.sim.words import count

ORDER = sorted(VARIABLES, key=lambda v: v.name not in STATE)  # states first: what else differs follows from them


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


def check(run: Run | str | Path, progress: Callable[[int, int], None] | None = None) -> Check:
    """Run the recorded scene again, and compare all that was recorded to the last bit: states, energies, books, contacts and
    impacts. Stops at the first difference.

    ``progress(done, total)`` is called now and then. The world is stepped from sample to sample: memory stays as it is.
    """
    run = run if isinstance(run, Run) else Run.open(run)
    world = run.scene.build()
    missing = [name for name in run.names if name not in world.names]
    if missing:
        raise RecordingError(run.path or "memory", f'has no body "{missing[0]}" in its scene')
    world.run(0.0)
    number = {id(world[name]): k for k, name in enumerate(run.partners)}
    chosen, seen = len(run.names), 0
    notes = tuple(_notes(run))
    for k, (sample, contacts) in enumerate(_samples(run)):
        if run.steps[k] > world.step_count:
            world.step(int(run.steps[k]) - world.step_count)
        first = _of_sample(run, k, sample, world)
        if first is None and contacts is not None:
            first = _of_table(run, k, "contact", contacts, rows(world, number, chosen))
        if first is None and "impact_time" in run._arrays:
            new = impact_rows(world.step_count, world.events(), number, chosen)
            told = seen + int((run.impacts["step"][seen:] <= world.step_count).sum())
            first = _of_table(run, k, "impact", run.impacts[seen:told], new, [f for f in IMPACT_ROW.names if f != "step"])
            seen = told
        if first:
            return Check(False, first, k + 1, notes)
        if progress is not None:
            progress(k + 1, len(run))
    said = run.attributes.get("state_hash")
    if said is not None and said != world.state_hash():
        hidden = First(world.step_count, world.time, "", "state that is not recorded, by its hash", math.nan)
        return Check(False, hidden, len(run), notes)
    return Check(True, None, len(run), notes)


def _notes(run: Run) -> list[str]:
    """What may explain a difference, and what the recording does not tell."""
    notes = notes_on_versions(run.attributes, None)
    if not run.whole:
        hashed = "; the others by the hash of the last state alone" if "state_hash" in run.attributes else ""
        notes.append(f"{len(run.names)} of {count(len(run.partners), 'body')} recorded{hashed}")
    return notes + notes_on_precision(run)


def _samples(run: Run) -> Iterator[tuple[dict[str, np.ndarray], np.ndarray | None]]:
    """The samples one by one, name -> value, and the contacts of each; read a block at a time."""
    names = [v.name for v in ORDER if v.name in run._arrays]
    for begin in range(0, len(run), CHUNK):
        block = {name: run.part(name, slice(begin, begin + CHUNK)) for name in names}
        for k in range(len(block["step"])):
            contacts = run.contacts(begin + k) if "contact_count" in run._arrays else None
            yield {name: values[k] for name, values in block.items()}, contacts


def _of_sample(run: Run, k: int, sample: dict[str, np.ndarray], world: Any) -> First | None:
    """The first quantity of a sample that differs, and the body that it differs most of."""
    now = Moment(world)
    row = {name: k for k, name in enumerate(world.names)}
    there = None if run.names == world.names else np.array([row.get(name, -1) for name in run.names])  # -1: was taken out
    for variable in ORDER:
        if variable.name not in sample:
            continue
        was = sample[variable.name]
        found = np.asarray(variable.read(now), dtype=was.dtype)
        if there is not None and variable.dims[:1] == ("body",):
            gone = np.full((1, *found.shape[1:]), np.nan if was.dtype.kind == "f" else 0, was.dtype)
            found = np.concatenate([found, gone])[there]
        bad = unequal(np.atleast_1d(was), np.atleast_1d(found))
        if not bad.any():
            continue
        if variable.dims[:1] == ("body",):
            off = distances(was, found)
            i = int(np.where(bad.reshape(len(bad), -1).any(axis=1), off, -1.0).argmax())
            body, by = run.names[i], off[i]
        else:
            body, by = "", distances(was.reshape(1, -1), found.reshape(1, -1))[0]
        return First(int(run.steps[k]), float(run.times[k]), body, variable.name, float(by), unit_of(variable.name))
    return None


def _of_table(run: Run, k: int, table: str, was: np.ndarray, now: np.ndarray, fields: Any = None) -> First | None:
    """The first row of contacts or impacts that differs, and the first of its fields."""
    at = int(run.steps[k]), float(run.times[k])
    for row in range(min(len(was), len(now))):
        for field in fields or was.dtype.names:
            a, b = (np.atleast_1d(side[field][row]) for side in (was, now))
            if unequal(a, b).any():
                pair = " and ".join(run.partners[was[end][row]] for end in ("body_a", "body_b") if was[end][row] >= 0)
                name = f"{table}_{field}"
                return First(*at, pair, name, float(distances(a[None], b[None])[0]), unit_of(name))
    if len(was) != len(now):
        return First(*at, "", f"number of {table}s", float(abs(len(was) - len(now))))
    return None
