"""Recordings: an observer that writes trajectories to disk, or keeps them in memory. docs/recording.md tells the format."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from tumble.collision.hints import FileName
from tumble.collision.spelling import spelled
from tumble.collision.suggesting import Keeps
from tumble.sim.errors import InputError, RecordingError
from tumble.sim.files import settle_folder
from tumble.sim.recording.observers import whole_number
from tumble.sim.recording.provenance import metadata
from tumble.sim.recording.recorded_contacts import impact_rows, rows
from tumble.sim.recording.recorded_variables import CONTACT_COUNT, VARIABLES, Moment, Variable, single
from tumble.sim.recording.run import Run
from tumble.sim.recording.storage.reading_files import reading_path, write_readings
from tumble.sim.recording.storage.sample_stores import Layout, Memory, Store
from tumble.sim.words import few

PRECISIONS = ("double", "single")


class Recorder(Keeps):
    """Record a world while it runs; an observer for ``World.run``.

    Parameters
    ----------
    path : where the Zarr store goes; None keeps the samples in memory. A recording of tumble that is there already is
        replaced, anything else is left alone (RecordingError).
    every : record each ``every`` steps, and the first and last.
    attributes : more metadata to keep (what JSON can hold).
    contacts : keep the contacts of each sample too, see ``Run.contacts``.
    impacts : keep all impacts too, see ``Run.impacts``. During the run the events go to the recorder, and ``world.events()``
        is left with none.
    bodies : names of those whose poses and velocities are kept, or patterns as of files, such as "domino*"; else all. Contacts
        and impacts are then those that one of them takes part in. Energies, momenta and books are of all bodies anyway.
    precision : "double", or "single" for poses and velocities of half the size.
    compression : of what is on disk, the level of Zstandard from 0, none, to 22; 1 is fast, 0 is for disks that are faster.
    append : go on with the recording at ``path`` from the step at which the world is, as :meth:`World.load` left it; what was
        recorded later than that is written anew. Where there is none, it begins.

    After the run :meth:`run` gives what was recorded as a :class:`~tumble.sim.recording.run.Run`.
    """

    SETS = (
        "path", "every", "attributes", "contacts", "impacts", "chosen", "precision", "compression", "append", "variables",
    )  # fmt: skip

    @spelled
    def __init__(
        self,
        path: FileName | None = None,
        every: int = 1,
        attributes: dict[str, Any] | None = None,
        contacts: bool = False,
        bodies: Sequence[str] | None = None,
        precision: Literal["double", "single"] = "double",
        compression: int = 1,
        append: bool = False,
        impacts: bool = False,
    ):
        self.path = None if path is None else Path(path)
        self.contacts, self.impacts, self.append = bool(contacts), bool(impacts), bool(append)
        if isinstance(bodies, str) or (bodies is not None and len(bodies) == 0):
            raise InputError("bodies", bodies, "must be a list of names")
        if precision not in PRECISIONS:
            raise InputError("precision", precision, 'must be "double" or "single"')
        if isinstance(compression, bool) or not isinstance(compression, int) or not 0 <= compression <= 22:
            raise InputError("compression", compression, "must be a whole number in [0, 22]")
        if append and path is None:
            raise InputError("append", append, "a recording in memory can not be gone on with: give a path")
        self.chosen, self.precision, self.compression = None if bodies is None else list(bodies), precision, compression
        kept = VARIABLES if precision == "double" else tuple(single(v) for v in VARIABLES)
        self.variables = (*kept, CONTACT_COUNT) if contacts else kept
        self.every = whole_number("every", every)
        self.attributes = dict(attributes or {})
        self._store: Store | Memory | None = None
        self._bodies: list[Any] = []  # those at the start
        self._picked: list[int] | None = None  # rows of the chosen ones among them
        self._number: dict[int, int] = {}  # of a body, by its id, in contacts and impacts: the chosen ones come first
        self._last_step: int | None = None
        self._new_reel: Callable[[int, int], Any] | None = None  # where nothing but its steps changes the world
        self._reel: Any = None  # samples that are not worked out yet
        self._raising: BaseException | None = None
        self._clock = 0.0  # when the run began
        self._spent = 0.0  # seconds that recording took

    def start(self, world: Any) -> None:
        self._raising = sys.exception()
        if self._store is None:
            self._begin(world)
        if self.impacts:
            with warnings.catch_warnings(action="ignore"):  # what happened before is not of this run
                world.events()
        self._clock = time.perf_counter()

    def _begin(self, world: Any) -> None:
        """Make the store, or take up the one that is there."""
        if self.path is not None:
            settle_folder(self.path)
        going_on = self.append and self.path.exists()
        begun = Run.open(self.path) if going_on else None
        self._bodies = _with_lost(world, begun)
        there = tuple(body.name for body in self._bodies)
        names = there if self.chosen is None else tuple(chosen_bodies(self.chosen, there))
        if begun is not None and set(names) == set(begun.names):
            names = begun.names
        known = begun.partners if going_on else names
        partners = (*known, *(name for name in world.names if name not in set(known)))
        layout = Layout(names, partners, self.variables, self.impacts)
        if going_on:
            self._store = Store(self.path, layout, {}, step=world.step_count)
            self._last_step = self._store.last_step
            self.attributes = {**self._store.attributes, **self.attributes}
        else:
            how = {"every": self.every, "precision": self.precision, "compression": self.compression}
            how |= {} if self.chosen is None else {"recorded": list(names)}
            self.attributes = {**metadata(world), **how, **self.attributes}
            if self.path is None:
                self._store = Memory(layout, self.attributes)
            else:
                self._store = Store(self.path, layout, self.attributes, self.compression)
                reading_path(self.path).unlink(missing_ok=True)  # it belongs to the recording that was replaced
        self._picked = None if self.chosen is None else [there.index(name) for name in names]
        number = {name: k for k, name in enumerate(partners)}
        self._number = {id(body): number[body.name] for body in self._bodies}
        self._kept = len(names)

    def __call__(self, world: Any) -> None:
        if self._store is None:
            self.start(world)
        if world.step_count == self._last_step:  # a second run begins where the first ended
            return
        self._last_step = world.step_count
        begun = time.perf_counter()
        if self._new_reel is not None:
            self._keep(world)
            self._spent += time.perf_counter() - begun
            return
        there = self._there(world)
        contacts = rows(world, self._number, self._kept) if self.contacts else None
        now = Moment(world, contacts)
        self._store.append([self._in_rows(variable, variable.read(now), there) for variable in self.variables], contacts)
        self._spent += time.perf_counter() - begun

    only_looks = True  # it changes nothing of a world

    def work_out_later(self, world: Any, reel: Callable[[int, int], Any]) -> None:
        """Until the run ends nothing but its steps changes the world: samples are kept as the compiled step keeps them, on a
        ``reel`` for so many, and are worked out together. The bits are the same."""
        if not (self.contacts or self.impacts or world.options.quarantine) and self._there(world) is None:
            self._new_reel = reel

    def _keep(self, world: Any) -> None:
        """Keep a sample; work out those that wait where they are to be written, or the reel is full."""
        if self._reel is None:
            self._reel = self._new_reel(self._store.room(), self.every)
        self._reel.keep(world)
        if not self._store.waits(self._reel.samples):
            self._work_out()

    def _work_out(self) -> None:
        """The samples that wait go to the store."""
        reel, self._reel = self._reel, None
        if reel is None:
            return
        columns = []
        for variable in self.variables:
            column = reel[variable.name]
            if self._picked is not None and variable.dims[:1] == ("body",):
                column = column[:, self._picked]
            columns.append(column)
        self._store.extend(columns)

    @property
    def listens(self) -> bool:
        """Whether it is to be told of events by :meth:`happened`."""
        return self.impacts

    def happened(self, world: Any, events: Sequence[Any]) -> None:
        """Keep the impacts."""
        if self.impacts and self._store is not None:
            self._store.impacts.waiting.append(impact_rows(world.step_count, events, self._number, self._kept))

    def _there(self, world: Any) -> list[int] | None:
        """Which of the bodies that were there at the start still are; None: all."""
        if world.bodies == self._bodies:
            return None
        there = [row for row, body in enumerate(self._bodies) if body.alive]
        if len(there) != len(world.bodies):
            name = next(body.name for body in world.bodies if body not in self._bodies)
            raise RecordingError(self.path or "memory", f'body "{name}" was added while it was recorded: record anew from there')
        return there

    def _in_rows(self, variable: Variable, value: Any, there: list[int] | None) -> Any:
        """A value with a row for each recorded body; nan for one that was removed."""
        if variable.dims[:1] != ("body",):
            return value
        if there is not None:
            spread = np.full((len(self._bodies), *value.shape[1:]), np.nan if variable.dtype[0] == "f" else 0, variable.dtype)
            spread[there] = value
            value = spread
        return value if self._picked is None else value[self._picked]

    def flush(self) -> None:
        """Write all samples so far to disk."""
        self._work_out()
        if isinstance(self._store, Store):
            self._store.flush()

    def finish(self, world: Any) -> None:
        """Write what is left. Called when the run ends, also by an error or Ctrl-C: then ``complete`` stays false."""
        if self._store is None:
            return
        self._work_out()
        self._new_reel = None
        wall = self.attributes.get("wall_seconds", 0.0) + time.perf_counter() - self._clock
        complete = sys.exception() is self._raising
        counters = json.dumps(world.statistics())
        self.attributes.update(complete=complete, wall_seconds=wall, recording_seconds=self._spent, statistics=counters)
        if complete:
            self.attributes["state_hash"] = world.state_hash()
        self._store.close(self.attributes)
        if self.path is not None and world.instruments:
            write_readings(world.instruments, self.path)

    def run(self) -> Run:
        """What was recorded so far."""
        if self._store is None:
            raise RecordingError(self.path or "memory", "nothing was recorded yet")
        self._work_out()
        return self._store.run()


class _Lost(NamedTuple):
    """A body that was taken out before the recording is taken up again; it has its rows there."""

    name: str
    alive: bool = False


def _with_lost(world: Any, begun: Run | None) -> list[Any]:
    """The bodies that a recording begins with, in their order; where it goes on, those too that were taken out since it began."""
    if begun is None or not world.quarantined:
        return list(world.bodies)
    now = dict(zip(world.names, world.bodies, strict=True))
    lost = [name for error in world.quarantined for name in error.names if name in begun.partners and name not in now]
    order = begun.names if begun.whole and set(begun.names) == {*now, *lost} else (*now, *lost)
    return [now.get(name) or _Lost(name) for name in order]


def chosen_bodies(wanted: Sequence[str], names: Sequence[str]) -> list[str]:
    """The bodies that are meant by names or patterns, in their order, each once; InputError for one that means none."""
    out: dict[str, None] = {}
    for word in wanted:
        found = [word] if word in names else [name for name in names if fnmatchcase(name, word)]
        if not found:
            raise InputError("bodies", word, f"there is no such body; there are {few(names)}")
        out |= dict.fromkeys(found)
    return list(out)
