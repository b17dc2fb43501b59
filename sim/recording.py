"""Recordings: an observer that writes trajectories to disk, or keeps them in memory.

On disk a recording is a Zarr store (version 3), chunked in time, that xarray and other programs open. It is safe
against a crash at any instant: chunks are written first, each in one atomic step, and only then the consolidated
metadata in the root file, in one atomic step too, which says how many samples there are. A reader of the consolidated
metadata (xarray's default) sees all of them or, killed a moment earlier, those of the flush before. ``docs/recording.md``
describes the format.
"""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from sim.errors import InputError, RecordingError
from sim.observers import whole
from sim.recorded_contacts import AXES, IMPACT, RowStore, impact_rows, rows
from sim.run import Run

SCHEMA = 1
CHUNK_BYTES = 4_000_000  # of the largest variable
FLUSH_SECONDS = 5.0  # wall clock: what a crash can cost at most


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
    """A world at one instant; what several variables share is worked out once."""

    def __init__(self, world: Any):
        self.world, self.energy, self.ledger, self.reservoir = world, world.energy(), world.ledger, world.reservoir


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

CONTACT_COUNT = Variable("contact_count", "1", "number of contacts", lambda now: len(now.world.contacts()), dtype="i8")
COORDINATES = {"xyz": ("x", "y", "z"), "wxyz": ("w", "x", "y", "z")}


class Recorder:
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
    bodies : names of those whose poses and velocities are kept; else all. Energies, momenta and books are of all anyway.
    precision : "double", or "single" for poses and velocities of half the size.
    compression : of what is on disk, the level of Zstandard from 0, none, to 22; 1 is fast, 0 is for disks that are faster.
    append : go on with the recording at ``path`` from the step at which the world is, as :meth:`World.load` left it; what was
        recorded later than that is written anew. Where there is none, it begins.

    After the run :meth:`run` gives what was recorded as a :class:`~sim.run.Run`.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        every: int = 1,
        attributes: dict[str, Any] | None = None,
        contacts: bool = False,
        bodies: Sequence[str] | None = None,
        precision: str = "double",
        compression: int = 1,
        append: bool = False,
        impacts: bool = False,
    ):
        self.path = None if path is None else Path(path)
        self.contacts, self.impacts, self.append = bool(contacts), bool(impacts), bool(append)
        if isinstance(bodies, str) or (bodies is not None and len(bodies) == 0):
            raise InputError("bodies", bodies, "must be a list of names")
        if bodies is not None and (contacts or impacts):
            raise InputError("bodies", list(bodies), "contacts are between all bodies: record all, or no contacts and impacts")
        if precision not in ("double", "single"):
            raise InputError("precision", precision, 'must be "double" or "single"')
        if isinstance(compression, bool) or not isinstance(compression, int) or not 0 <= compression <= 22:
            raise InputError("compression", compression, "must be a whole number in [0, 22]")
        if append and path is None:
            raise InputError("append", append, "a recording in memory can not be gone on with: give a path")
        self.chosen, self.compression = None if bodies is None else list(bodies), compression
        kept = VARIABLES if precision == "double" else tuple(_single(v) for v in VARIABLES)
        self.variables = (*kept, CONTACT_COUNT) if contacts else kept
        self.every = whole("every", every)
        self.attributes = dict(attributes or {})
        self._store: _Store | _Memory | None = None
        self._bodies: list[Any] = []  # those at the start: the rows of what is recorded
        self._picked: list[int] | None = None  # rows of the chosen ones
        self._last_step: int | None = None
        self._raising: BaseException | None = None
        self._clock = 0.0  # when the run began
        self._spent = 0.0  # seconds that recording took

    def start(self, world: Any) -> None:
        self._raising = sys.exception()
        if self._store is None:
            self._pick(world)
            names = world.names if self.chosen is None else tuple(self.chosen)
            if self.append and self.path.exists():
                self._store = _Store(self.path, names, {}, self.variables, self.compression, self.impacts, world.step_count)
                self._last_step = self._store.last_step
                self.attributes = {**self._store.attributes, **self.attributes}
            else:
                self.attributes = {**metadata(world), "every": self.every, **self.attributes}
                if self.path is None:
                    self._store = _Memory(None, names, self.attributes, self.variables, self.impacts)
                else:
                    self._store = _Store(self.path, names, self.attributes, self.variables, self.compression, self.impacts)
            self._bodies = list(world.bodies)
        if self.impacts:
            with warnings.catch_warnings(action="ignore"):  # what happened before is not of this run
                world.events()
        self._clock = time.perf_counter()

    def _pick(self, world: Any) -> None:
        for name in self.chosen or ():
            if name not in world.names:
                raise InputError("bodies", name, f"there is no such body; there are {', '.join(world.names)}")
        self._picked = None if self.chosen is None else [world.names.index(name) for name in self.chosen]

    def __call__(self, world: Any) -> None:
        if self._store is None:
            self.start(world)
        if world.step_count == self._last_step:  # a second run begins where the first ended
            return
        self._last_step = world.step_count
        begun = time.perf_counter()
        now = Moment(world)
        values = self._in_rows(world, [variable.read(now) for variable in self.variables])
        self._store.append(values, rows(world, self._bodies) if self.contacts else None)
        self._spent += time.perf_counter() - begun

    @property
    def listens(self) -> bool:
        """Whether it is to be told of events by :meth:`happened`."""
        return self.impacts

    def happened(self, world: Any, events: Sequence[Any]) -> None:
        """Keep the impacts."""
        if self.impacts and self._store is not None:
            self._store.impacts.waiting.append(impact_rows(world.step_count, events, self._bodies))

    def _in_rows(self, world: Any, values: list[Any]) -> list[Any]:
        """Values with a row for each body that was there at the start; nan for one that was removed."""
        if world.bodies == self._bodies:
            return (
                values if self._picked is None else [self._of_picked(v, x) for v, x in zip(self.variables, values, strict=True)]
            )
        rows = [row for row, body in enumerate(self._bodies) if body.alive]
        if len(rows) != len(world.bodies):
            name = next(body.name for body in world.bodies if body not in self._bodies)
            raise RecordingError(self.path or "memory", f'body "{name}" was added while it was recorded: record anew from there')
        out = []
        for variable, value in zip(self.variables, values, strict=True):
            if variable.dims[:1] == ("body",):
                spread = np.full((len(self._bodies), *value.shape[1:]), np.nan if variable.dtype == "f8" else 0, variable.dtype)
                spread[rows] = value
                value = spread
            out.append(self._of_picked(variable, value))
        return out

    def _of_picked(self, variable: Variable, value: Any) -> Any:
        return value if self._picked is None or variable.dims[:1] != ("body",) else value[self._picked]

    def flush(self) -> None:
        """Write all samples so far to disk."""
        if isinstance(self._store, _Store):
            self._store.flush()

    def finish(self, world: Any) -> None:
        """Write what is left. Called when the run ends, also by an error or Ctrl-C: then ``complete`` stays false."""
        if self._store is None:
            return
        wall = self.attributes.get("wall_seconds", 0.0) + time.perf_counter() - self._clock
        complete = sys.exception() is self._raising
        counters = json.dumps(world.statistics())
        self.attributes.update(complete=complete, wall_seconds=wall, recording_seconds=self._spent, statistics=counters)
        if complete:
            self.attributes["state_hash"] = world.state_hash()
        self._store.close(self.attributes)

    def run(self) -> Run:
        """What was recorded so far."""
        if self._store is None:
            raise RecordingError(self.path or "memory", "nothing was recorded yet")
        return self._store.run()


class _Memory:
    """Samples in growing arrays."""

    def __init__(
        self, path: None, names: Sequence[str], attributes: dict[str, Any], variables: tuple[Variable, ...], impacts: bool
    ):
        self.names, self.attributes, self.variables = tuple(names), attributes, variables
        self.samples: list[list[Any]] = [[] for _ in variables]
        self.contacts: list[np.ndarray] = []
        self.impacts = SimpleNamespace(waiting=[]) if impacts else None

    def append(self, values: list[Any], contacts: np.ndarray | None) -> None:
        for samples, value in zip(self.samples, values, strict=True):
            samples.append(np.array(value))  # a copy: the world goes on writing into its arrays
        if contacts is not None:
            self.contacts.append(contacts)

    def close(self, attributes: dict[str, Any]) -> None:
        self.attributes = attributes

    def run(self) -> Run:
        arrays = {v.name: np.array(s, dtype=v.dtype) for v, s in zip(self.variables, self.samples, strict=True)}
        if self.contacts:
            all_rows = np.concatenate(self.contacts)
            arrays |= {f"contact_{field}": all_rows[field] for field in all_rows.dtype.names}
        if self.impacts is not None:
            all_rows = np.concatenate([np.zeros(0, IMPACT), *self.impacts.waiting])
            arrays |= {f"impact_{field}": all_rows[field] for field in IMPACT.names}
        return Run(arrays, self.names, dict(self.attributes))


class _Store:
    """Samples in a Zarr store; whole chunks at a time, or what there is after FLUSH_SECONDS.

    ``step``: go on with the store that is there from this step on. Its arrays do not shrink before the end: what is written
    anew is what they hold already, and a reader sees whole samples at any time.
    """

    def __init__(
        self,
        path: Path,
        names: Sequence[str],
        attributes: dict[str, Any],
        variables: tuple[Variable, ...],
        compression: int = 1,
        impacts: bool = False,
        step: int | None = None,
    ):
        self.path, self.names, self.variables, self.compression = path, tuple(names), variables, compression
        self.chunk = int(np.clip(CHUNK_BYTES // (32 * max(len(names), 1)), 16, 256))
        self.begin = 0  # first sample of the buffer
        self.count = 0  # samples in the buffer
        self.flushed = 0  # samples of the buffer that are on disk
        self.clock = time.monotonic()
        sizes = {"body": len(names), **{dim: len(labels) for dim, labels in COORDINATES.items()}}
        self.buffers = [np.zeros((self.chunk, *(sizes[d] for d in v.dims)), dtype=v.dtype) for v in variables]
        self.last_step: int | None = None
        if step is None:
            self._create(sizes, attributes, impacts)
            self.contacts = RowStore("contact", self.group) if CONTACT_COUNT in variables else None
            self.impacts = RowStore("impact", self.group) if impacts else None
        else:
            self._open(step, impacts)
        self.tables = [table for table in (self.contacts, self.impacts) if table is not None]

    def _open(self, step: int, impacts: bool) -> None:
        """Take up the samples until ``step``; the last ones, of a chunk that is not full, go back into the buffers."""
        import zarr

        run = Run.open(self.path)  # says what is wrong where it is no recording
        if run.names != self.names:
            raise RecordingError(self.path, f"is of other bodies: {', '.join(run.names[:4])}")
        self.group = zarr.open_group(self.path, mode="r+", use_consolidated=False)
        self.attributes = {**dict(self.group.attrs), "complete": False}
        held = {name for name, _ in self.group.arrays()}
        tables = ("contact_count" in held, "impact_time" in held)
        if tables != (CONTACT_COUNT in self.variables, impacts) or not {v.name for v in self.variables} <= held:
            raise RecordingError(self.path, "holds other variables: go on as it was begun")
        self.arrays = [self.group[v.name] for v in self.variables]
        self.chunk = self.arrays[0].chunks[0]
        steps = self.group["step"][: min(array.shape[0] for array in self.arrays)]
        rising = np.concatenate([[True], np.diff(steps) > 0])[: len(steps)] & (steps <= step)
        kept = int(rising.argmin()) if not rising.all() else len(steps)
        if kept == 0 or (kept > 1 and step - steps[kept - 1] > steps[1] - steps[0]):
            raise RecordingError(self.path, f"ends before step {step}, from which the world would go on")
        self.last_step = int(steps[kept - 1])
        self.begin = kept - kept % self.chunk
        self.count = self.flushed = kept - self.begin
        sizes = [array.shape[1:] for array in self.arrays]
        self.buffers = [np.zeros((self.chunk, *size), dtype=v.dtype) for v, size in zip(self.variables, sizes, strict=True)]
        for array, buffer in zip(self.arrays, self.buffers, strict=True):
            buffer[: self.count] = array[self.begin : kept]
        self.contacts = None
        if CONTACT_COUNT in self.variables:
            self.contacts = RowStore("contact", self.group, int(self.group["contact_count"][:kept].sum()))
        self.impacts = RowStore("impact", self.group, int((self.group["impact_step"][:] <= step).sum())) if impacts else None
        self.group.attrs.put(self.attributes)
        _consolidate(self.path)

    def _create(self, sizes: dict[str, int], attributes: dict[str, Any], impacts: bool) -> None:
        import zarr

        clear(self.path)
        partial = self.path.with_name(self.path.name + ".new")  # complete before it has its name
        shutil.rmtree(partial, ignore_errors=True)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            group = zarr.create_group(partial, attributes=attributes)
            for v in self.variables:
                group.create_array(
                    v.name,
                    shape=(0, *(sizes[d] for d in v.dims)),
                    chunks=(self.chunk, *(max(sizes[d], 1) for d in v.dims)),
                    dtype=v.dtype,
                    compressors=_codec(self.compression),
                    fill_value=np.nan if v.dtype.startswith("f") else 0,
                    dimension_names=("time", *v.dims),
                    attributes={"units": v.unit, "long_name": v.long_name},
                )
            labelled = {"body": self.names, **COORDINATES}
            if CONTACT_COUNT in self.variables:
                RowStore.create("contact", group, 16 * self.chunk)
                labelled["axis"] = AXES
            if impacts:
                RowStore.create("impact", group, 16 * self.chunk)
            for dim, labels in labelled.items():
                array = group.create_array(
                    dim, shape=(len(labels),), dtype=str, dimension_names=(dim,), chunks=(max(len(labels), 1),)
                )
                array[:] = np.array(labels, dtype=object)
            _consolidate(partial)
            partial.rename(self.path)
        except OSError as error:
            raise RecordingError(self.path, f"can not be written: {error.strerror or error}") from error
        self.group = zarr.open_group(self.path, mode="r+", use_consolidated=False)
        self.arrays = [self.group[v.name] for v in self.variables]

    def append(self, values: list[Any], contacts: np.ndarray | None) -> None:
        if self.contacts is not None:
            self.contacts.waiting.append(contacts)
        for buffer, value in zip(self.buffers, values, strict=True):
            buffer[self.count] = value
        self.count += 1
        if self.count == self.chunk:
            self.flush()
            self.begin, self.count, self.flushed = self.begin + self.chunk, 0, 0
        elif time.monotonic() - self.clock > FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        self.clock = time.monotonic()
        if self.count == self.flushed:
            return
        end = self.begin + self.count
        try:
            for array, buffer in zip(self.arrays, self.buffers, strict=True):
                if array.shape[0] < end:
                    array.resize((end, *array.shape[1:]))
                array[self.begin : end] = buffer[: self.count]
            for table in self.tables:
                table.flush()
            _consolidate(self.path)
        except OSError as error:
            raise RecordingError(self.path, f"can not be written: {error.strerror or error}") from error
        self.flushed = self.count

    def close(self, attributes: dict[str, Any]) -> None:
        self.flush()
        end = self.begin + self.count
        for array in self.arrays:
            if array.shape[0] > end:  # it went on from before its end, and not so far again
                array.resize((end, *array.shape[1:]))
        for table in self.tables:
            table.close()
        self.group.attrs.put(attributes)
        _consolidate(self.path)

    def run(self) -> Run:
        self.flush()
        return Run.open(self.path)


def _single(variable: Variable) -> Variable:
    """Poses and velocities in four bytes a number; what is of the whole world keeps its eight."""
    return replace(variable, dtype="f4") if variable.dims[:1] == ("body",) and variable.dtype == "f8" else variable


def _codec(level: int) -> Any:
    from zarr.codecs import ZstdCodec

    return ZstdCodec(level=level) if level else None


def clear(path: Path) -> None:
    """Make way for a recording: remove an old one, refuse to remove anything else."""
    if not path.exists():
        return
    try:
        root = json.loads((path / "zarr.json").read_text(encoding="utf-8"))
        ours = "tumble_schema" in root.get("attributes", {})
    except (OSError, ValueError):
        ours = False
    if not ours:
        raise RecordingError(path, "is there already and is not a recording of tumble; it is left as it is")
    shutil.rmtree(path)


def metadata(world: Any) -> dict[str, Any]:
    """What a recording says about itself: scene, seed, versions, revision."""
    scene = world.scene.to_dict()
    return {
        "tumble_schema": SCHEMA,
        "title": scene["name"],
        "scene": json.dumps(scene),
        "scenario": scene["name"],
        "parameters": json.dumps(scene["parameters"]),
        "seed": scene["seed"],
        "dt": world.dt,
        "integrator": scene["integrator"],
        "versions": json.dumps(versions()),
        "git_revision": git_revision(),
        "platform": platform.platform(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "complete": False,
    }


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that have a say in the numbers."""
    out = {"python": platform.python_version()}
    for package in ("tumble", "numba", "numpy", "scipy", "zarr"):
        try:
            out[package] = version(package)
        except PackageNotFoundError:
            out[package] = "not installed"
    return out


def git_revision() -> str:
    """The revision of the source tree that this package runs from, "+changes" if it was edited; empty where it is none."""
    root = Path(__file__).resolve().parent.parent
    if not (root / ".git").exists():
        return ""
    try:
        answer = subprocess.run(
            ["git", "-C", str(root), "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=+changes"],
            capture_output=True,
            text=True,
            timeout=10,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout.strip()


def _consolidate(path: Path) -> None:
    import zarr

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Consolidated metadata")  # readers without it use the arrays' own
        zarr.consolidate_metadata(path)
