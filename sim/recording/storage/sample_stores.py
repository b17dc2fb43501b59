"""Where samples go: a Zarr store on disk, or arrays in memory.

The store is safe against a crash at any instant: chunks are written first, each in one atomic step, and only then the
consolidated metadata in the root file, in one atomic step too, which says how many samples there are. A reader of the
consolidated metadata (xarray's default) sees all of them or, killed a moment earlier, those of the flush before. Checksums
(``sim/recording/storage/checksums.py``) go with them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from tumble.collision.errors import need
from tumble.sim.errors import RecordingError
from tumble.sim.files import clear_unfinished, read_recorded, settle_folder, whole
from tumble.sim.pace import Pace
from tumble.sim.recording.recorded_contacts import CONTACT_AXES, IMPACT_ROW, RowStore
from tumble.sim.recording.recorded_variables import CONTACT_COUNT, DIMENSION_LABELS, Variable
from tumble.sim.recording.run import Run
from tumble.sim.recording.storage import checksums
from tumble.sim.recording.storage.checksums import CHECKSUM_TABLE, TAIL, consolidate
from tumble.sim.words import few

CHUNK_BYTES = 4_000_000  # of the largest variable
ROOM = 256  # samples in memory that are worked out together
FLUSH_SECONDS = 5.0  # wall clock: what a crash can cost at most, where writing is fast (pace.py)


@dataclass(frozen=True)
class Layout:
    """What each sample holds: the bodies by name, the names by which contacts and impacts number theirs, the variables."""

    names: tuple[str, ...]
    partners: tuple[str, ...]
    variables: tuple[Variable, ...]
    impacts: bool = False

    @property
    def contacts(self) -> bool:
        return CONTACT_COUNT in self.variables


class Memory:
    """Samples in growing arrays."""

    def __init__(self, layout: Layout, attributes: dict[str, Any]):
        self.layout, self.attributes = layout, attributes
        self.samples: list[list[Any]] = [[] for _ in layout.variables]
        self.contacts: list[np.ndarray] = []
        self.impacts = SimpleNamespace(waiting=[]) if layout.impacts else None

    def append(self, values: list[Any], contacts: np.ndarray | None) -> None:
        for samples, value in zip(self.samples, values, strict=True):
            samples.append(np.array(value))  # a copy: the world goes on writing into its arrays
        if contacts is not None:
            self.contacts.append(contacts)

    def extend(self, columns: list[np.ndarray]) -> None:
        """Samples that were worked out together: the values of each variable, a row each."""
        for samples, column in zip(self.samples, columns, strict=True):
            samples.extend(column)

    def room(self) -> int:
        """How many samples at once it takes."""
        return ROOM

    def waits(self, count: int) -> bool:
        """Whether so many samples can wait to be worked out."""
        return count < ROOM

    def close(self, attributes: dict[str, Any]) -> None:
        self.attributes = attributes

    def run(self) -> Run:
        arrays = {v.name: np.array(s, dtype=v.dtype) for v, s in zip(self.layout.variables, self.samples, strict=True)}
        if self.contacts:
            all_rows = np.concatenate(self.contacts)
            arrays |= {f"contact_{field}": all_rows[field] for field in all_rows.dtype.names}
        if self.impacts is not None:
            all_rows = np.concatenate([np.zeros(0, IMPACT_ROW), *self.impacts.waiting])
            arrays |= {f"impact_{field}": all_rows[field] for field in IMPACT_ROW.names}
        return Run(arrays, self.layout.names, dict(self.attributes))


class Store:
    """Samples in a Zarr store; whole chunks at a time, or what there is after FLUSH_SECONDS.

    ``step``: go on with the store that is there from this step on. Its arrays do not shrink before the end: what is written
    anew is what they hold already, and a reader sees whole samples at any time.
    """

    def __init__(self, path: Path, layout: Layout, attributes: dict[str, Any], compression: int = 1, step: int | None = None):
        need("data")
        self.path, self.layout, self.variables = path, layout, layout.variables
        self.begin = 0  # first sample of the buffer
        self.count = 0  # samples in the buffer
        self.flushed = 0  # samples of the buffer that are on disk
        self.pace = Pace()
        self.last_step: int | None = None
        self.contacts: RowStore | None = None
        self.impacts: RowStore | None = None
        if step is None:
            self._create(attributes, _codec(compression))
        else:
            self._open(step)
        self.tables = [table for table in (self.contacts, self.impacts) if table is not None]

    def _open(self, step: int) -> None:
        """Take up the samples until ``step``; the last ones, of a chunk that is not full, go back into the buffers."""
        import zarr

        from tumble.sim.recording.storage.zarr_files import files

        run = Run.open(self.path)  # says what is wrong where it is no recording
        clear_unfinished(self.path)
        (self.path / checksums.UNFINISHED_ROOT).unlink(missing_ok=True)
        if run.names != self.layout.names:
            raise RecordingError(self.path, f"is of other bodies: {few(run.names)}")
        try:
            self.group = zarr.open_group(files(self.path), mode="r+", use_consolidated=False)
            held = {name for name, _ in self.group.arrays()}
        except (OSError, ValueError, KeyError) as error:
            raise RecordingError(self.path, f"is damaged: {error}") from None
        self.attributes = {**run.attributes, "complete": False}
        tables = ("contact_count" in held, "impact_time" in held)
        if tables != (self.layout.contacts, self.layout.impacts) or not {v.name for v in self.variables} <= held:
            raise RecordingError(self.path, "holds other variables: go on as it was begun")
        for name in held:  # what was being written when it was killed, and nobody was told of
            if (
                name in run._arrays
                and self.group[name].shape[0] > run._arrays[name].shape[0]
                and not name.startswith(CHECKSUM_TABLE)
            ):
                self.group[name].resize(run._arrays[name].shape)
        self.arrays = self._writable()
        if any(array.dtype != np.dtype(v.dtype) for v, array in zip(self.variables, self.arrays, strict=True)):
            raise RecordingError(self.path, f"is in {run.precision} precision: go on as it was begun")
        self.chunk = self.arrays[0].chunks[0]
        steps = run.steps
        rising = np.concatenate([[True], np.diff(steps) > 0])[: len(steps)] & (steps <= step)
        kept = int(rising.argmin()) if not rising.all() else len(steps)
        if kept == 0 or (kept > 1 and step - steps[kept - 1] > steps[1] - steps[0]):
            raise RecordingError(self.path, f"ends before step {step}, from which the world would go on")
        self.last_step = int(steps[kept - 1])
        self.begin = kept - kept % self.chunk
        self.count = self.flushed = kept - self.begin
        self._buffer()
        for v, buffer in zip(self.variables, self.buffers, strict=True):
            run._check_whole(v.name, kept)
            buffer[: self.count] = run.part(v.name, slice(self.begin, kept))
        self._sums(run.attributes.get(TAIL))
        if self.layout.contacts:
            self.contacts = RowStore("contact", self.group, int(run.part("contact_count", slice(kept)).sum()), run)
        if self.layout.impacts:
            self.impacts = RowStore("impact", self.group, int((run.part("impact_step", slice(None)) <= step).sum()), run)
        with _writing(self.path):
            consolidate(self.path, **self.attributes)

    def _sums(self, before: dict[str, int] | None = None) -> None:
        """Checksums of the samples; ``before``: what the root file says of those that are there and will be written anew."""
        self.sums = checksums.Sums([v.name for v in self.variables], self.chunk, self.begin)
        self.sums.add({v.name: buffer[: self.count] for v, buffer in zip(self.variables, self.buffers, strict=True)})
        self.table = checksums.checksum_table(self.group, CHECKSUM_TABLE)
        self.longer = self.arrays[0].shape[0], before or {}

    def _writable(self) -> list[Any]:
        return checksums.writable(self.group, [v.name for v in self.variables])

    def _buffer(self) -> None:
        sizes = [array.shape[1:] for array in self.arrays]
        self.buffers = [np.zeros((self.chunk, *size), dtype=v.dtype) for v, size in zip(self.variables, sizes, strict=True)]

    def _create(self, attributes: dict[str, Any], codec: Any) -> None:
        import zarr

        from tumble.sim.recording.storage.zarr_files import files

        names = self.layout.names
        self.chunk = int(np.clip(CHUNK_BYTES // (32 * max(len(names), 1)), 16, 256))
        sizes = {"body": len(names), **{dim: len(labels) for dim, labels in DIMENSION_LABELS.items()}}
        labelled = {"body": names, **DIMENSION_LABELS}
        tables = [t for t, kept in (("contact", self.layout.contacts), ("impact", self.layout.impacts)) if kept]
        refuse(self.path)
        with _writing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        with whole(self.path, folder=True) as partial:  # complete before it has its name
            group = zarr.create_group(files(partial), attributes=attributes)
            for v in self.variables:
                group.create_array(
                    v.name,
                    shape=(0, *(sizes[d] for d in v.dims)),
                    chunks=(self.chunk, *(max(sizes[d], 1) for d in v.dims)),
                    dtype=v.dtype,
                    compressors=codec,
                    fill_value=np.nan if v.dtype.startswith("f") else 0,
                    dimension_names=("time", *v.dims),
                    attributes={"units": v.unit, "long_name": v.long_name},
                )
            checksums.make_table(group, CHECKSUM_TABLE, [v.name for v in self.variables])
            for table in tables:
                RowStore.create(table, group, 16 * self.chunk, codec)
                labelled |= {"partner": self.layout.partners} | ({"axis": CONTACT_AXES} if table == "contact" else {})
            for dim, labels in labelled.items():
                array = group.create_array(
                    dim, shape=(len(labels),), dtype=str, dimension_names=(dim,), chunks=(max(len(labels), 1),)
                )
                array[:] = np.array(labels, dtype=object)
            consolidate(partial, **{TAIL: {dim: checksums.of_labels(labels) for dim, labels in labelled.items()}})
        with _writing(self.path):
            self.group = zarr.open_group(files(self.path), mode="r+", use_consolidated=False)
            self.attributes = dict(self.group.attrs)
            self.arrays = self._writable()
            self._buffer()
            self._sums()
            self.contacts = RowStore("contact", self.group) if self.layout.contacts else None
            self.impacts = RowStore("impact", self.group) if self.layout.impacts else None

    def append(self, values: list[Any], contacts: np.ndarray | None) -> None:
        if self.contacts is not None:
            self.contacts.waiting.append(contacts)
        for buffer, value in zip(self.buffers, values, strict=True):
            buffer[self.count] = value
        self._counted(1)

    def extend(self, columns: list[np.ndarray]) -> None:
        """Samples that were worked out together: the values of each variable, a row each, no more than there is room for."""
        count = len(columns[0])
        for buffer, column in zip(self.buffers, columns, strict=True):
            buffer[self.count : self.count + count] = column
        self._counted(count)

    def room(self) -> int:
        """How many samples the buffers still take."""
        return self.chunk - self.count

    def waits(self, count: int) -> bool:
        """Whether so many samples can wait to be worked out: they are not to be on disk yet."""
        return count < self.room() and not self.pace.due(FLUSH_SECONDS)

    def _counted(self, count: int) -> None:
        self.count += count
        if self.count == self.chunk:
            self.flush()
            self.begin, self.count, self.flushed = self.begin + self.chunk, 0, 0
        elif self.pace.due(FLUSH_SECONDS):
            self.flush()

    def flush(self) -> None:
        if self.count == self.flushed:
            return
        end = self.begin + self.count
        with self.pace.measured(), _writing(self.path):
            for array, buffer in zip(self.arrays, self.buffers, strict=True):
                if array.shape[0] < end:
                    array.resize((end, *array.shape[1:]))
                array[self.begin : end] = buffer[: self.count]
            new = slice(self.sums.length - self.begin, self.count)  # also where a flush before failed half way
            self.sums.add({v.name: buffer[new] for v, buffer in zip(self.variables, self.buffers, strict=True)})
            checksums.put_full(self.table, self.sums)
            for table in self.tables:
                table.flush()
            consolidate(self.path, **self._said())
        self.flushed = self.count

    def _said(self) -> dict[str, Any]:
        """Attributes that go with the lengths of the arrays: checksums of the last chunk of each.

        While samples are written anew that were there before, those of the last of them stay: the arrays have not shrunk.
        """
        tail = dict(self.attributes.get(TAIL) or self.group.attrs.get(TAIL, {}))
        length, before = self.longer
        tail |= self.sums.tail if self.sums.length >= length else {v.name: before[v.name] for v in self.variables if before}
        for table in self.tables:
            tail |= table.tail()
        return {TAIL: tail}

    def close(self, attributes: dict[str, Any]) -> None:
        self.flush()
        end = self.begin + self.count
        with _writing(self.path):
            for array in self.arrays:
                if array.shape[0] > end:  # it went on from before its end, and not so far again
                    array.resize((end, *array.shape[1:]))
            self.longer = end, {}
            for table in self.tables:
                table.close()
            consolidate(self.path, **{**attributes, **self._said()})

    def run(self) -> Run:
        self.flush()
        return Run.open(self.path)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """RecordingError where the disk is full, may not be written, or the recording is not there any more."""
    try:
        yield
    except OSError as error:
        raise RecordingError(path, f"can not be written: {error.strerror or error}") from error
    except KeyError as error:  # Zarr's, where files of it are gone
        raise RecordingError(path, f"can not be written: {error.args[0]} is not there any more") from error


def _codec(level: int) -> Any:
    """Zstandard, and a checksum of what it gives, which every reader of Zarr tries."""
    from zarr.codecs import Crc32cCodec, ZstdCodec

    return (*([ZstdCodec(level=level)] if level else []), Crc32cCodec())


def refuse(path: Path) -> None:
    """RecordingError where something is in the way that is not a recording."""
    settle_folder(path)
    if not path.exists():
        return
    try:
        root = json.loads(read_recorded(path / "zarr.json"))
        ours = "tumble_schema" in root.get("attributes", {})
    except (OSError, ValueError, AttributeError, TypeError):
        ours = False
    if not ours and not (path / CHECKSUM_TABLE / "zarr.json").is_file():  # of one whose root file is damaged
        raise RecordingError(path, "is there already and is not a recording of tumble; it is left as it is")
