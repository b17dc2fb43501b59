"""Recordings: what was recorded is what happened, it opens in xarray, also after the program was killed."""

from __future__ import annotations

import json
import pickle
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import xarray
import zarr

from tests.programs import started
from tumble.collision import Sphere
from tumble.scenarios.checks.rerun import check
from tumble.scenarios.registry import load
from tumble.sim import Every, World
from tumble.sim.errors import InputError, RecordingError
from tumble.sim.recording.recorded_variables import VARIABLES
from tumble.sim.recording.recorder import Recorder
from tumble.sim.recording.run import Run
from tumble.sim.recording.storage.checksums import consolidate
from tumble.sim.recording.storage.sample_stores import Store
from tumble.sim.recording.summary import summarize

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Two cuboids that collide, 1 s, on disk; and the states seen by hand on the way."""
    seen = []

    class Watch:
        every = 7

        def __call__(self, world):
            seen.append((world.step_count, world.positions.copy(), world.energy().total))

    path = tmp_path_factory.mktemp("run") / "trajectory.zarr"
    world = load("two_cuboids")().build()
    run = world.run(1.0, [Recorder(path, every=7), Watch()])
    return path, run, world, seen


def test_samples_are_the_states(recorded):
    _, run, world, seen = recorded
    assert run.steps.tolist() == [*range(0, 240, 7), 240]  # multiples of 7, and the last
    assert np.array_equal(run.steps, [step for step, _, _ in seen])
    assert np.array_equal(run.positions, [x for _, x, _ in seen])
    assert np.array_equal(run.energy, [e for _, _, e in seen])
    assert np.array_equal(run.times, run.steps * world.dt)
    assert np.array_equal(run.velocities[-1], world.velocities)
    assert np.array_equal(run.energy, run.kinetic_linear + run.kinetic_angular + run.potential)
    assert run.complete
    assert run.names == ("large", "small")
    assert run.scene == load("two_cuboids")()


def test_xarray_opens_it(recorded):
    path, run, _, _ = recorded
    with xarray.open_zarr(path) as data:
        sizes = {dim: size for dim, size in data.sizes.items() if not dim.startswith("checksum")}
        assert sizes == {"time": 36, "body": 2, "xyz": 3, "wxyz": 4}
        assert data.position.dims == ("time", "body", "xyz")
        assert data.orientation.dims == ("time", "body", "wxyz")
        assert np.array_equal(data.position.sel(body="small", xyz="z"), run.positions[:, 1, 2])
        for variable in VARIABLES:
            assert data[variable.name].attrs["units"] == variable.unit
            assert data[variable.name].attrs["long_name"]
            assert np.isfinite(data[variable.name]).all()
        assert json.loads(data.attrs["scene"])["bodies"][1]["name"] == "small"
        assert data.attrs["seed"] == 0
        assert data.attrs["dt"] == 1 / 240
        assert json.loads(data.attrs["versions"])["numpy"] == np.__version__
        assert data.attrs["complete"]
        assert "git_revision" in data.attrs


def test_in_memory_is_the_same(recorded):
    _, run, _, _ = recorded
    other = load("two_cuboids")().build().run(1.0, [Recorder(every=7)])
    assert other.path is None
    mine, known = other.dataset, run.dataset
    for variable in VARIABLES:
        assert np.array_equal(mine[variable.name], known[variable.name]), variable.name
    assert other.dataset.position.attrs["units"] == "m"


def test_two_runs_in_a_row_append(tmp_path):
    recorder = Recorder(tmp_path / "a.zarr", every=10)
    world = load("tumbling_box")().build()
    world.run(0.1, [recorder])
    run = world.run(0.1, [recorder])
    assert run.steps.tolist() == [0, 10, 20, 24, 30, 40, 48]


def test_more_samples_than_a_chunk(tmp_path):
    run = load("tumbling_box")().build().run(2.5, [Recorder(tmp_path / "a.zarr")])
    assert len(run) == 601
    assert run.steps.tolist() == list(range(601))
    assert run.dataset.position.encoding["chunks"][0] == 256


def test_killed_run_opens(tmp_path):
    """SIGKILL while it runs: the store opens, holds whole flushes, and says that it is not complete."""
    path = tmp_path / "killed.zarr"
    program = (
        "import sys; from tumble.scenarios.registry import load; from tumble.sim.recording.recorder import Recorder\n"
        "load('tumbling_box')().build().run(1e4, [Recorder(sys.argv[1])])\n"
    )
    with started([sys.executable, "-c", program, str(path)], cwd=ROOT, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 240
        while not (path.exists() and len(Run.open(path)) >= 512):
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        time.sleep(0.0173)
        process.send_signal(signal.SIGKILL)
    with xarray.open_zarr(path) as data:
        count = data.sizes["time"]
        assert count >= 512
        assert all(data[v.name].sizes["time"] == count for v in VARIABLES)
        assert np.array_equal(data.step, np.arange(count))
        assert np.isfinite(data.position).all()
        assert not data.attrs["complete"]
        expected = load("tumbling_box")().build().run((count - 1) / 240, [Recorder()])
        assert np.array_equal(data.orientation, expected.orientations)  # what was recorded is right to the last sample
    assert not Run.open(path).complete


def test_kill_between_writes_can_not_be_seen(tmp_path, monkeypatch):
    """Stop a flush after each single array in turn: a reader sees the samples of the flush before, of all variables."""
    import tumble.sim.recording.storage.sample_stores as stores

    world = load("tumbling_box")().build()
    recorder = Recorder(tmp_path / "a.zarr")
    recorder.start(world)
    recorder(world)
    recorder._store.flush()
    world.step()
    recorder(world)
    arrays = recorder._store.arrays

    class Killed(Exception):
        pass

    class Stop:
        def __init__(self, array):
            self.array = array
            self.shape = array.shape

        def resize(self, shape):
            self.array.resize(shape)
            raise Killed

    for k in range(len(arrays)):
        recorder._store.arrays = [*arrays[:k], Stop(arrays[k]), *arrays[k + 1 :]]
        with pytest.raises(Killed):
            recorder._store.flush()
        with xarray.open_zarr(tmp_path / "a.zarr") as data:
            assert data.sizes["time"] == 1
        assert len(Run.open(tmp_path / "a.zarr")) == 1
    monkeypatch.setattr(
        stores, "consolidate", lambda path, **attributes: None
    )  # the twin: without the last rename it is never seen
    recorder._store.arrays = arrays
    recorder._store.flush()
    assert len(Run.open(tmp_path / "a.zarr")) == 1
    monkeypatch.undo()
    recorder._store.flushed = 0
    recorder._store.flush()
    assert len(Run.open(tmp_path / "a.zarr")) == 2


def test_interrupted_run_is_closed(tmp_path):
    class Interrupt:
        every = 100

        def __call__(self, world):
            if world.step_count == 100:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load("tumbling_box")().build().run(10.0, [Recorder(tmp_path / "a.zarr"), Interrupt()])
    run = Run.open(tmp_path / "a.zarr")
    assert len(run) == 101
    assert not run.complete


def test_replaces_recordings_and_nothing_else(tmp_path):
    for _ in range(2):
        run = load("tumbling_box")().build().run(0.1, [Recorder(tmp_path / "a.zarr")])
        assert len(run) == 25
    precious = tmp_path / "thesis"
    precious.mkdir()
    (precious / "chapter.txt").write_text("years of work")
    with pytest.raises(RecordingError, match="is not a recording of tumble; it is left as it is"):
        load("tumbling_box")().build().run(0.1, [Recorder(precious)])
    assert (precious / "chapter.txt").read_text() == "years of work"


@pytest.mark.parametrize("every", [0, -1, 1.5, True, "2"])
def test_every_must_be_whole(every):
    with pytest.raises(InputError, match="every = .*: must be a whole number of at least 1"):
        Recorder(every=every)


def test_open_what_is_none(tmp_path):
    with pytest.raises(RecordingError, match="there is no such recording"):
        Run.open(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(RecordingError, match="is not a recording of tumble"):
        Run.open(tmp_path / "empty")
    (tmp_path / "file").write_text("x")
    with pytest.raises(RecordingError, match="is not a recording of tumble"):
        Run.open(tmp_path / "file")
    xarray.Dataset({"a": ("time", [1.0])}).to_zarr(tmp_path / "foreign.zarr", consolidated=False)
    with pytest.raises(RecordingError, match="is not a recording of tumble"):
        Run.open(tmp_path / "foreign.zarr")


@pytest.fixture
def spoiled(recorded, tmp_path):
    """A copy of the recording, to be damaged."""
    shutil.copytree(recorded[0], tmp_path / "a" / "trajectory.zarr")
    return tmp_path / "a" / "trajectory.zarr"


def resume(path: Path) -> None:
    load("two_cuboids")().build().run(0.0, [Recorder(path, append=True)])


def test_lost_and_damaged_chunks_are_seen(spoiled):
    """Zarr reads what is lost as nan, and what is damaged as an error of a codec."""
    chunk = spoiled / "position" / "c" / "0" / "0" / "0"
    chunk.write_bytes(chunk.read_bytes()[:40])
    for use in (lambda: Run.open(spoiled).positions, lambda: resume(spoiled), lambda: check(spoiled)):
        with pytest.raises(RecordingError, match="is damaged: position can not be read"):
            use()
    chunk.unlink()
    for use in (lambda: Run.open(spoiled).positions, lambda: resume(spoiled), lambda: check(spoiled)):
        with pytest.raises(RecordingError, match="is damaged: 1 of 1 chunks of position are missing"):
            use()
    assert Run.open(spoiled).energy.any()  # what is whole is read


def test_a_body_that_is_gone_is_no_damage(tmp_path):
    """Chunks of nothing but nan are on disk like all others."""
    world = load("two_cuboids")().build()
    recorder = Recorder(tmp_path / "a", bodies=["small"])  # alone: its chunks become nothing but nan
    world.run(0.01, [recorder])
    world.remove(world["small"])
    run = world.run(600 * world.dt, [recorder])
    assert run.dataset.position.chunksizes["time"][-2:] == (256, 91)
    assert np.isnan(run.positions[3:]).all()


def test_newer_layouts_are_left_alone(spoiled):
    root = json.loads((spoiled / "zarr.json").read_text())
    root["attributes"]["tumble_schema"] = 99
    (spoiled / "zarr.json").write_text(json.dumps(root))
    with pytest.raises(RecordingError, match="is a recording of a newer tumble: it has layout 99, this version reads up to 2"):
        Run.open(spoiled)


@pytest.mark.parametrize(("scene", "says"), [("{}", 'has no body "large"'), ("[]", "can not be read"), ("{", "can not be read")])
def test_a_scene_that_does_not_fit(spoiled, scene, says):
    root = json.loads((spoiled / "zarr.json").read_text())
    root["attributes"]["scene"] = scene
    (spoiled / "zarr.json").write_text(json.dumps(root))
    with pytest.raises(RecordingError, match="zarr.json is not what was written"):
        Run.open(spoiled)
    consolidate(spoiled)
    with pytest.raises(RecordingError, match=says):
        Run.open(spoiled).bodies  # noqa: B018
    with pytest.raises(RecordingError, match=says):
        check(spoiled)


def test_summary_is_arithmetic(recorded):
    """The summary against sums done here, and against a trajectory that was spoiled on purpose."""
    _, run, world, _ = recorded
    summary = run.summary()
    assert json.loads(json.dumps(summary)) == summary
    total = 12.5 * run.velocities[:, 0] + 1.2 * run.velocities[:, 1]
    assert np.allclose(total, run.momentum, atol=1e-12)
    assert summary["momentum_drift"] <= 1e-13
    assert summary["angular_momentum_drift"] <= 1e-12
    assert summary["ledger"]["friction"] + summary["ledger"]["restitution"] == pytest.approx(
        run.energy[0] - run.energy[-1], rel=1e-6
    )
    assert summary["energy_drift"] <= 1e-6
    assert summary["steps"] == 240
    assert summary["worst_penetration"] == run.penetration.max()

    dataset = run.dataset
    whole = {v.name: np.array(dataset[v.name]) for v in VARIABLES}

    def spoiled(name, change):
        arrays = {known: values.copy() for known, values in whole.items()}
        change(arrays[name])
        return summarize(Run(arrays, run.names, run.attributes))

    def kick(values):
        values[-3:] += 1e-3

    assert spoiled("energy", kick)["energy_drift"] == pytest.approx(1e-3, rel=1e-2)
    assert spoiled("ledger_friction", kick)["energy_drift"] == pytest.approx(1e-3, rel=1e-2)
    assert spoiled("momentum", kick)["momentum_drift"] == pytest.approx(1e-3 * 3**0.5, rel=1e-2)
    assert spoiled("angular_momentum", kick)["angular_momentum_drift"] == pytest.approx(1e-3 * 3**0.5, rel=1e-2)


def test_momentum_under_gravity_and_floor():
    """With a floor the momentum given to it counts, and gravity's."""
    run = load("bouncing_ball")().build().run(1.0, [Recorder(every=10)])
    assert np.ptp(run.momentum[:, 2]) > 10
    assert run.summary()["momentum_drift_relative"] <= 1e-11


@pytest.mark.parametrize("moment", ["_writable", "flush", "close"])
def test_a_recording_that_goes_while_it_is_written(moment, tmp_path, monkeypatch):
    """One error that names it, whenever somebody deletes its folder."""
    plain = getattr(Store, moment)

    def gone(self, *arguments):
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        return plain(self, *arguments)

    monkeypatch.setattr(Store, moment, gone)
    monkeypatch.setattr("tumble.sim.recording.storage.sample_stores.FLUSH_SECONDS", 0.0)
    (tmp_path / "out").mkdir()
    world = World()
    world.add(Sphere(0.1), velocity=(1, 0, 0))
    with pytest.raises(RecordingError, match=r"a\.zarr: can not be written: "):
        world.run(0.1, [Recorder(tmp_path / "out" / "a.zarr")])


def watched(world):
    """Nothing: by it a run is recorded by an observer."""


watched.every = 1


def test_runs_with_nobody_watching_are_the_same_again_and_again():
    """Of each what a world is like may have changed since the run before; what was told of a run stays as it was then."""
    alone, other = (load("two_cuboids")().build() for _ in range(2))
    changes = [
        lambda world: None,
        lambda world: setattr(world["small"], "mass", 3.0),
        lambda world: setattr(world["large"], "velocity", (0.1, 0.2, 0.3)),
        lambda world: setattr(world["large"], "kind", "static"),
        lambda world: world.remove(world["large"]),
        lambda world: world.add(Sphere(0.1), position=(3, 3, 3), name="late"),
    ]
    runs = []
    for change in changes:
        for world in (alone, other):
            change(world)
        runs.append((alone.run(0.1), other.run(0.1, [watched])))
    for mine, right in runs:
        for variable in VARIABLES:
            assert np.array_equal(mine.dataset[variable.name], right.dataset[variable.name], equal_nan=True), variable.name
        told, expected = mine.attributes, right.attributes
        assert set(told) == set(expected)
        for key in set(told) - {"started", "wall_seconds", "recording_seconds", "compression"}:
            assert told[key] == expected[key], key
    assert len({mine.attributes["state_hash"] for mine, _ in runs}) == len(changes)
    copied = pickle.loads(pickle.dumps(alone.run(0.1)))
    assert copied.attributes["state_hash"] == alone.state_hash()


@pytest.mark.parametrize("path", ["", ".", "/"])
def test_a_folder_without_a_name_of_its_own_is_no_recording(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RecordingError, match="is not a recording of tumble"):
        Run.open(path)


@pytest.mark.parametrize(("rest", "fewest", "most"), [(None, 1, 2), (0.0, 8, 12)])
def test_a_slow_disk_is_written_to_less_often(rest, fewest, most, tmp_path, monkeypatch):
    """What takes longer than the time between two of it takes a tenth of the time; the twin, without a rest, does little else."""
    plain, now, flushes = Store._said, [0.0], []

    def slow(self):
        now[0] += 0.02
        flushes.append(self.count)
        return plain(self)

    def pass_time(world):
        now[0] += 0.001

    monkeypatch.setattr(Store, "_said", slow)
    monkeypatch.setattr("tumble.sim.pace.time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr("tumble.sim.recording.storage.sample_stores.FLUSH_SECONDS", 0.01)
    if rest is not None:
        monkeypatch.setattr("tumble.sim.pace.REST", rest)
    world = World()
    world.add(Sphere(0.1), velocity=(1, 0, 0))
    run = world.run(100 * world.dt, [Recorder(tmp_path / "a.zarr"), Every(1, pass_time)])
    assert len(run.times) == 101
    assert fewest <= len([count for count in flushes if count < 101]) <= most


@pytest.mark.parametrize("how", ["texts", "frame"])
def test_what_asks_for_more_than_a_chunk_can_hold(how, tmp_path):
    """A chunk that says it holds 2^29 texts, or a frame that says it holds 2^32 bytes, is damage, and no room is made for it."""
    from numcodecs import Zstd

    world = World()
    world.add(Sphere(0.1), name="ball")
    world.run(0.1, [Recorder(tmp_path / "a.zarr")])
    chunk = tmp_path / "a.zarr" / "body" / "c" / "0"
    data = bytes(Zstd().decode(chunk.read_bytes()))
    if how == "texts":
        chunk.write_bytes(Zstd().encode((1 << 29).to_bytes(4, "little") + data[4:]))
    else:
        chunk.write_bytes(b"\x28\xb5\x2f\xfd\xe0" + (1 << 32).to_bytes(8, "little") + chunk.read_bytes()[6:])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert Run.open(tmp_path / "a.zarr").names == ("ball",)  # they stand elsewhere too
    with pytest.raises(ValueError, match="says that it holds"):
        zarr.open_group(tmp_path / "a.zarr", mode="r")["body"][:]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KB
