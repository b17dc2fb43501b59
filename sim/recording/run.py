"""A run: what was recorded, to be read, plotted, filmed and asserted on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tumble.collision.errors import need
from tumble.collision.suggesting import Keeps, Reads
from tumble.sim.errors import RecordingError
from tumble.sim.files import read_recorded, standing_folder
from tumble.sim.ledger.readings import CONTACT_ROW
from tumble.sim.recording.provenance import RECORDING_SCHEMA
from tumble.sim.recording.recorded_contacts import CONTACT_AXES, IMPACT_ROW, TABLES, dims
from tumble.sim.recording.storage.checksums import CHECKSUM_TABLE, TAIL, checksum, intact, of_labels, table_of
from tumble.sim.recording.storage.codecs import hold
from tumble.sim.recording.storage.reading_files import read_readings
from tumble.sim.scene.scene import Scene
from tumble.sim.words import count

if TYPE_CHECKING:
    import xarray

    from tumble.sim.joints.mechanism.instruments import Readings
    from tumble.sim.scene.body_definition import BodyDef


def recorded(name: str, told: str) -> cached_property[np.ndarray]:
    """A property of runs: the array of this name in the recording, read when it is first asked for. ``told``: what it is."""
    found: cached_property[np.ndarray] = cached_property(lambda run: run._read(name))
    found.__doc__ = told
    return found


class Run(Keeps, Reads):
    """Samples of a simulation over time; T samples of n bodies. Read from disk only as far as they are used.

    ``times`` (T,) [s], ``steps`` (T,), ``positions`` (T, n, 3) [m], ``orientations`` (T, n, 4), ``velocities`` (T, n, 3)
    [m/s], ``angular_velocities`` (T, n, 3) [rad/s], ``kinetic_linear``, ``kinetic_angular``, ``potential``, ``energy``
    (T,) [J], ``momentum`` (T, 3) [kg m/s], ``angular_momentum`` (T, 3) [kg m^2/s], both as ``reservoir_...`` for what
    immovable bodies were given, ``penetration`` (T,) [m],
    ``ledger``: name -> (T,) [J]; ``dataset``: all of it for xarray; ``scene``, ``names``, ``attributes``, ``path``.
    """

    SETS = ("names", "path")

    def __init__(
        self,
        arrays: Mapping[str, Any],
        names: tuple[str, ...],
        attributes: dict[str, Any] | Callable[[], dict[str, Any]],
        path: Path | None = None,
    ):
        self._arrays = arrays
        self.names = names
        self._attributes = attributes  # or what tells them, when they are first asked for
        self.path = path
        self._readings: dict[str, Readings] | None = None  # of a run in memory
        self._sums: dict[Any, Any] = {}  # tables of checksums, and chunks that were found to fit

    @property
    def attributes(self) -> dict[str, Any]:
        """What the recording says about itself: scene, versions, seed, statistics, the hash of its last state."""
        if not isinstance(self._attributes, dict):
            self._attributes = self._attributes()
        return self._attributes

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_attributes": self.attributes}

    @classmethod
    def open(cls, path: str | Path) -> Run:
        """Open a recording: the Zarr store, or a folder that holds one as ``trajectory.zarr``. RecordingError if it is none."""
        need("data")
        import zarr

        from tumble.sim.recording.storage.zarr_files import files

        hold()
        path = Path(path)
        if (inside := standing_folder(path / "trajectory.zarr")).is_dir():
            path = inside
        path = standing_folder(path)
        if not path.exists():
            raise RecordingError(path, "there is no such recording")
        try:
            root = json.loads(read_recorded(path / "zarr.json"))
            schema = root["attributes"]["tumble_schema"]
        except (FileNotFoundError, NotADirectoryError, KeyError, TypeError):
            raise RecordingError(path, "is not a recording of tumble") from None
        except (OSError, ValueError, RecursionError) as error:  # ValueError: also what is no text, or no JSON
            raise RecordingError(path, f"is damaged: zarr.json can not be read ({error})") from None
        if not isinstance(schema, int) or schema > RECORDING_SCHEMA:
            newer = f"has layout {schema}, this version reads up to {RECORDING_SCHEMA}"
            raise RecordingError(path, f"is a recording of a newer tumble: it {newer}")
        if not intact(root):
            raise RecordingError(path, "is damaged: zarr.json is not what was written")
        with decoding(path, "zarr.json"):
            # with the consolidated metadata: all lengths of one flush
            group = zarr.open_group(files(path, read_only=True), mode="r")
            attributes = dict(group.attrs)
        return cls(group, _names(path, group, attributes), attributes, path)

    def _read(self, name: str) -> np.ndarray:
        array = self.part(name, slice(None))
        array.setflags(write=False)
        return array

    def part(self, name: str, rows: slice) -> np.ndarray:
        """Some rows of an array by its name in the recording; RecordingError where they are lost or damaged."""
        if self.path is None:
            return np.asarray(self._arrays[name][rows])
        array = self._array(name)
        begin, end, step = rows.indices(array.shape[0])
        first = begin // array.chunks[0]
        start = first * array.chunks[0]
        stop = min(-(-max(end, begin) // array.chunks[0]) * array.chunks[0], array.shape[0])
        self._check_chunks(name, array, first, stop)
        with decoding(self.path, name):
            values = np.asarray(array[start:stop])
        self._check_sums(name, array, first, values)
        return values[begin - start : end - start : step]

    def _check_whole(self, name: str, stop: int | None = None) -> None:
        """RecordingError where an array on the disk, or some of its rows before ``stop``, are missing."""
        array = self._array(name)
        self._check_chunks(name, array, 0, array.shape[0] if stop is None else stop)

    def _array(self, name: str) -> Any:
        """An array on the disk, of which nothing is read yet. Zarr takes most of a millisecond to find it."""
        try:
            return self._arrays[name]
        except KeyError:
            raise RecordingError(self.path, f"is damaged: {name} is missing") from None

    def _check_chunks(self, name: str, array: Any, first: int, stop: int) -> None:
        """RecordingError where chunks of an array are lost, which Zarr would read as nan: from a first one up to a row."""
        zeros = (0,) * (array.ndim - 1)
        keys = [array.metadata.encode_chunk_key((k, *zeros)) for k in range(first, -(-stop // array.chunks[0]))]
        lost = sum(not (self.path / name / key).is_file() for key in keys)
        if lost and (array.dtype.kind == "f" or self.attributes.get("tumble_schema", 1) > 1):
            raise RecordingError(self.path, f"is damaged: {lost} of {len(keys)} chunks of {name} are missing")

    def _check_sums(self, name: str, array: Any, first: int, values: np.ndarray) -> None:
        """RecordingError where whole chunks of an array, from this number on, are not what was written."""
        table = table_of(name)
        if TAIL not in self.attributes or name.startswith(CHECKSUM_TABLE):
            return  # of an older version, or a checksum itself
        if name in LABELS:
            if of_labels([str(label) for label in values]) != self.attributes[TAIL].get(name):
                raise RecordingError(self.path, f"is damaged: {name} is not what was written")
            return
        if table not in self._sums:
            with decoding(self.path, table):
                sums = self._arrays[table]
                self._sums[table] = dict(zip(sums.attrs["arrays"], np.asarray(sums[:]).T, strict=True))
        if name not in self._sums[table]:
            raise RecordingError(self.path, f"is damaged: {table} has no sums of {name}")
        full, tail = self._sums[table][name], self.attributes[TAIL].get(name)
        for k in range(first, first - (-len(values) // array.chunks[0])):
            if (name, k) in self._sums:
                continue
            rows = values[(k - first) * array.chunks[0] : (k - first + 1) * array.chunks[0]]
            whole = len(rows) == array.chunks[0]
            if checksum(rows) != (tail if not whole else full[k] if k < len(full) else None):
                told = f"samples {k * array.chunks[0]} to {k * array.chunks[0] + len(rows) - 1}"
                told = told if table == CHECKSUM_TABLE else told.replace("samples", "rows")
                raise RecordingError(self.path, f"is damaged: {told} of {name} are not what was written")
            self._sums[name, k] = True

    def _need(self, what: str, column: str) -> None:
        """RecordingError where contacts or impacts were not kept."""
        if column not in self._arrays:
            why = f"holds no {what}: record with Recorder(..., {what}=True), or tumble run --contacts"
            raise RecordingError(self.path or "memory", why)

    def damages(self) -> list[str]:
        """Read all there is: what is damaged, a sentence each; none where the recording is what was written."""
        found = []
        for name in sorted(self._arrays):
            array = self._arrays[name]
            for start in range(0, array.shape[0], array.chunks[0]):
                try:
                    self.part(name, slice(start, start + array.chunks[0]))
                except RecordingError as error:
                    found.append(error.reason.removeprefix("is damaged: "))
        return list(dict.fromkeys(found))

    times = recorded("time", "(T,) [s] of the samples.")
    steps = recorded("step", "(T,) steps taken until then.")
    positions = recorded("position", "(T, n, 3) [m] of the origins of the body frames.")
    orientations = recorded("orientation", "(T, n, 4) unit quaternions (w, x, y, z), body to world.")
    velocities = recorded("velocity", "(T, n, 3) [m/s] of the centres of mass.")
    angular_velocities = recorded("angular_velocity", "(T, n, 3) [rad/s] world axes.")
    kinetic_linear = recorded("kinetic_linear", "(T,) [J]")
    kinetic_angular = recorded("kinetic_angular", "(T,) [J]")
    potential = recorded("potential", "(T,) [J]")
    energy = recorded("energy", "(T,) [J] kinetic and potential.")
    momentum = recorded("momentum", "(T, 3) [kg m/s] of all dynamic bodies.")
    angular_momentum = recorded("angular_momentum", "(T, 3) [kg m^2/s] of all dynamic bodies about the origin.")
    reservoir_momentum = recorded("reservoir_momentum", "(T, 3) [kg m/s] given to static and driven bodies so far.")
    reservoir_angular_momentum = recorded("reservoir_angular_momentum", "(T, 3) [kg m^2/s] given to the same so far.")
    penetration = recorded("penetration", "(T,) [m] of the deepest contact.")

    @cached_property
    def ledger(self) -> dict[str, np.ndarray]:
        """Where the energy went since the start: entry -> (T,) [J]."""
        return {name.removeprefix("ledger_"): self._read(name) for name in self._arrays if name.startswith("ledger_")}

    @cached_property
    def _contacts(self) -> tuple[np.ndarray, np.ndarray]:
        """Contacts of all samples, and where those of each sample begin and end."""
        self._need("contacts", "contact_count")
        bounds = np.concatenate([[0], np.cumsum(self._read("contact_count"))])
        rows = np.zeros(bounds[-1], CONTACT_ROW)
        for field in CONTACT_ROW.names:
            rows[field] = self.part(f"contact_{field}", slice(bounds[-1]))
        rows.setflags(write=False)
        return rows, bounds

    def contacts(self, sample: int) -> np.ndarray:
        """The contacts of a sample, as ``World.contacts`` told them; body_a and body_b are rows of ``partners``.

        Of a recording of chosen bodies, the contacts that one of them takes part in.
        """
        rows, bounds = self._contacts
        k = range(len(self))[sample]
        return rows[bounds[k] : bounds[k + 1]]

    @cached_property
    def impacts(self) -> np.ndarray:
        """All impacts in the order in which they were found, a structured array.

        time [s]; step, after which it was told; body_a, body_b, rows of ``partners``, -1 for a body that came later;
        point (3,) [m]; normal (3,), from A to B; impulse (3,) [N s] on B; loss [J]; speed [m/s] of approach.
        RecordingError where they were not kept.
        """
        self._need("impacts", "impact_time")
        columns = {field: self.part(f"impact_{field}", slice(None)) for field in IMPACT_ROW.names}
        rows = np.zeros(min(map(len, columns.values())), IMPACT_ROW)
        for field, column in columns.items():
            rows[field] = column[: len(rows)]
        rows.setflags(write=False)
        return rows

    @property
    def readings(self) -> dict[str, Readings]:
        """What the instruments of the world have read: name -> ``times`` (k,) [s], ``values`` (k, m), columns and unit."""
        if self._readings is None:
            self._readings = {} if self.path is None else read_readings(self.path)
        return self._readings

    @cached_property
    def asleep(self) -> np.ndarray:
        """(T, n) bool: the bodies that slept. RecordingError where that was not kept."""
        if "asleep" not in self._arrays:
            raise RecordingError(self.path or "memory", "does not tell which bodies slept: it is of an older version")
        return self._read("asleep")

    @cached_property
    def scene(self) -> Scene:
        """The scene that the run started from."""
        try:
            return Scene.from_dict(json.loads(self.attributes["scene"]))
        except (ValueError, KeyError, TypeError, AttributeError) as error:  # ValueError: that of JSON, and InputError
            raise RecordingError(self.path or "memory", f"holds a scene that can not be read: {error}") from None

    @cached_property
    def bodies(self) -> tuple[BodyDef, ...]:
        """The recorded bodies as they were at the start, in the order of ``names``."""
        by_name = {body.name: body for body in self.scene.bodies}
        for name in self.names:
            if name not in by_name:
                raise RecordingError(self.path or "memory", f'has no body "{name}" in its scene')
        return tuple(by_name[name] for name in self.names)

    @cached_property
    def partners(self) -> tuple[str, ...]:
        """The bodies as contacts and impacts number them: those of ``names``, and then those that were not chosen."""
        known = set(self.names)
        return (*self.names, *(body.name for body in self.scene.bodies if body.name not in known))

    @property
    def whole(self) -> bool:
        """Whether all bodies were recorded, and not chosen ones."""
        return len(self.names) == len(self.partners)

    @property
    def precision(self) -> str:
        """Of poses and velocities: "double" or "single"."""
        return "single" if self._arrays["position"].dtype.itemsize == 4 else "double"

    @property
    def complete(self) -> bool:
        """Whether the run came to its end; false where it was interrupted or killed."""
        return bool(self.attributes.get("complete", False))

    @property
    def duration(self) -> float:
        """Simulated time from the first sample to the last [s]."""
        return float(self.times[-1] - self.times[0]) if len(self) else 0.0

    def __len__(self) -> int:
        return len(self.times)

    def index(self, name: str) -> int:
        """The row of a body by its name."""
        if name not in self.names:
            raise KeyError(f"no body of the run has the name {name!r}; there are {', '.join(self.names)}")
        return self.names.index(name)

    @property
    def dataset(self) -> xarray.Dataset:
        """All variables with dimensions time and body, units and long names, as an xarray Dataset."""
        need("data")
        import xarray

        if self.path is not None:
            from tumble.sim.recording.storage.zarr_files import files

            for name in self._arrays:
                self._check_whole(name)  # what is lost would be read as nan
            return xarray.open_zarr(files(self.path, read_only=True), consolidated=True).drop_vars(DROPPED, errors="ignore")
        from tumble.sim.recording.recorded_variables import CONTACT_COUNT, DIMENSION_LABELS, VARIABLES

        describe = {
            v.name: (("time", *v.dims), self._arrays[v.name], {"units": v.unit, "long_name": v.long_name})
            for v in (*VARIABLES, CONTACT_COUNT)
            if v.name in self._arrays
        }
        coordinates = {
            "time": describe.pop("time"),
            "body": list(self.names),
            **{k: list(v) for k, v in DIMENSION_LABELS.items()},
        }
        if "contact_count" in describe:
            coordinates["axis"] = list(CONTACT_AXES)
        for table, (_, fields) in TABLES.items():
            for field, (unit, text) in fields.items():
                if (name := f"{table}_{field}") in self._arrays:
                    coordinates["partner"] = list(self.partners)
                    describe[name] = (dims(table, field), self._arrays[name], {"units": unit, "long_name": text})
        return xarray.Dataset(describe, coordinates, self.attributes)

    def summary(self) -> dict[str, Any]:
        """The run in numbers; see :func:`tumble.sim.recording.summary.summarize`."""
        from tumble.sim.recording.summary import summarize

        return summarize(self)

    def replay(self, height: int = 560, camera: Any = None) -> Any:
        """The run in 3D in a notebook, to be played, scrubbed and orbited: :func:`render.show`."""
        from tumble.sim.world import notebook_html as html

        return html.shown(self, height=height, camera=camera)

    def _repr_html_(self) -> str:
        from tumble.sim.world import notebook_html as html

        return html.run_html(self)

    def __repr__(self) -> str:
        size = f"{count(len(self), 'sample')} of {count(len(self.names), 'body')}, {self.duration:g} s"
        return f"<Run {self.attributes.get('title', '')}: {size}, {self.path or 'in memory'}>"


def _names(path: Path, group: Any, attributes: dict[str, Any]) -> tuple[str, ...]:
    """Names of the recorded bodies; where their labels are damaged, as the root file says or as the scene has them."""
    expected = attributes.get(TAIL, {}).get("body")
    try:
        with decoding(path, "body"):
            names = tuple(str(name) for name in group["body"][:])
        if of_labels(names) == (of_labels(names) if expected is None else expected):
            return names
        why = RecordingError(path, "is damaged: body is not what was written")
    except RecordingError as error:
        why = error
    with suppress(ValueError, KeyError, TypeError, AttributeError):
        scene = [body["name"] for body in json.loads(attributes["scene"])["bodies"]]
        for names in (attributes.get("recorded", scene), scene):
            if of_labels(names) == expected:
                return tuple(names)
    raise why


LABELS = ("body", "partner", "axis", "xyz", "wxyz")
DROPPED = (CHECKSUM_TABLE, f"{CHECKSUM_TABLE}_contact", f"{CHECKSUM_TABLE}_impact")


@contextmanager
def decoding(path: Path, name: str) -> Iterator[None]:
    """RecordingError where what is on the disk can not be decoded."""
    try:
        yield
    except (RuntimeError, ValueError, OSError, KeyError, TypeError) as error:  # RuntimeError: that of the codecs
        raise RecordingError(path, f"is damaged: {name} can not be read ({error})") from None
