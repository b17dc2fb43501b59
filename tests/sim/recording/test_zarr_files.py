"""What lies in the folder of a recording and is no file of it: pipes, devices, links, files without end, parts of the dead."""

from __future__ import annotations

import io
import os
import shutil
import signal
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

from tumble.collision import Sphere
from tumble.scenarios.runs.manifest import harms
from tumble.scenarios.sweeps.ensemble import is_store
from tumble.sim import Recorder, Run, World
from tumble.sim.errors import RecordingError
from tumble.sim.files import locked, put_folder, settle_folder, tidy
from tumble.sim.recording.storage.sample_stores import refuse

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes"),
    pytest.mark.filterwarnings("ignore:Object at"),  # Zarr's, of what is not there
]
FILES = ("zarr.json", "position/zarr.json", "position/c/0/0/0", "checksum/zarr.json", "body/zarr.json", "body/c/0")


@contextmanager
def at_once(seconds: int = 20) -> Iterator[None]:
    """Nothing waits for who writes into a pipe."""

    def late(*_: object) -> None:
        raise TimeoutError("it hangs")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def falling() -> World:
    world = World(dt=1 / 60)
    world.add(Sphere(0.1), position=(0, 0, 1), name="ball")
    return world


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A recording, and the world at its end."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    folder.mkdir()
    world = falling()
    world.run(0.2, [Recorder(folder / "trajectory.zarr")])
    world.save(folder / "checkpoint.npz")
    return folder


@pytest.fixture
def store(whole, tmp_path) -> Path:
    shutil.copytree(whole, tmp_path / "run")
    return tmp_path / "run" / "trajectory.zarr"


def everything(store: Path) -> None:
    """Read all there is; RecordingError where something is not as it was written."""
    run = Run.open(store)
    if damages := run.damages():
        raise RecordingError(store, f"is damaged: {damages}")


def go_on(store: Path) -> None:
    world = World.load(store.with_name("checkpoint.npz"))
    world.run(0.1, [Recorder(store, append=True)])


def planted(kind: str, file: Path) -> Path:
    """Something else in the place of a file; where the file is now."""
    away = Path(str(file) + ".away")
    shutil.move(file, away)
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "device":
        file.symlink_to("/dev/zero")
    elif kind == "endless":
        with open(file, "wb") as sparse:
            sparse.truncate(10 << 30)
    else:
        file.symlink_to(away)
    return away


@pytest.mark.parametrize("kind", ["pipe", "device", "endless", "link"])
@pytest.mark.parametrize("name", FILES)
def test_what_is_no_file_is_not_read(kind, name, store):
    """Opened, read and gone on with: damage is named, or what is read is right; nothing waits, nothing is read without end."""
    expected = Run.open(store).positions
    planted(kind, store / name)
    with at_once():
        for read in (everything, go_on, everything):
            with suppress(RecordingError):
                read(store)
                assert np.array_equal(Run.open(store).positions[: len(expected)], expected)
        with suppress(RecordingError):
            refuse(store)
        assert not is_store(store)


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_file_beside_a_recording(kind, store):
    sums = store.with_name("SHA256SUMS")
    sums.write_text("0  summary.json\n")
    planted(kind, sums)
    planted(kind, store.with_name("checkpoint.npz"))
    with at_once():
        assert harms(store.parent) == []
        with pytest.raises(RecordingError, match="is not a regular file"):
            World.load(store.with_name("checkpoint.npz"))


def test_nothing_is_written_through_links(store, tmp_path):
    """A folder of chunks that is a link to elsewhere: what is there stays as it is, whatever is done with the recording."""
    elsewhere = tmp_path / "elsewhere"
    shutil.move(store / "position", elsewhere)
    (store / "position").symlink_to(elsewhere)
    before = {file: file.read_bytes() for file in elsewhere.rglob("*") if file.is_file()}
    with pytest.raises(RecordingError):
        go_on(store)
    falling().run(0.1, [Recorder(store)])  # in the place of the other
    everything(store)
    assert {file: file.read_bytes() for file in elsewhere.rglob("*") if file.is_file()} == before


def test_a_link_whose_place_is_taken_goes_alone(tmp_path):
    """A recording that lies on another disk, recorded anew: the link goes, what it led to stays, nothing is left behind."""
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_text("mine")
    (tmp_path / "here").mkdir()
    path = tmp_path / "here" / "a.zarr"
    path.symlink_to(tmp_path / "there")
    (tmp_path / "new").mkdir()
    put_folder(tmp_path / "new", path)
    settle_folder(path)
    assert [entry.name for entry in (tmp_path / "here").iterdir()] == ["a.zarr"]
    assert not path.is_symlink()
    assert (tmp_path / "there" / "file").read_text() == "mine"


def test_parts_of_chunks_that_the_dead_left_go(store):
    """What a killed program was writing is cleared by the next that comes; what one that lives is writing stays."""
    dead, alive = store / ".chunk.part-0123abcd", store / ".chunk.part-4567cdef"
    dead.write_bytes(b"half")
    with open(alive, "xb") as file:
        locked(file.fileno())
        tidy(store.parent)
        assert not dead.exists()
        assert alive.exists()
    go_on(store)
    assert not alive.exists()
    everything(store)
    assert [path for path in store.parent.rglob("*") if "part" in path.name] == []


def test_chunks_are_whole_or_not_there(store, monkeypatch):
    """A program that is killed while it puts a chunk: the chunk is that of before, and the next run clears what is left."""
    import tumble.sim.recording.storage.zarr_files

    class Killed(BaseException):
        pass

    def killed(part: Path, path: Path) -> None:
        if part.name.startswith(".chunk.part"):
            raise Killed
        plain(part, path)

    plain = os.replace
    before = (store / "position" / "c" / "0" / "0" / "0").read_bytes()
    monkeypatch.setattr(os, "replace", killed)
    monkeypatch.setattr(tumble.sim.recording.storage.zarr_files, "remove", lambda _: None)
    with pytest.raises(Killed):
        go_on(store)
    monkeypatch.undo()
    assert (store / "position" / "c" / "0" / "0" / "0").read_bytes() == before
    everything(store)
    assert list(store.glob(".chunk.part-*"))
    go_on(store)
    assert not list(store.glob(".chunk.part-*"))


def test_saved_worlds_that_burst(store):
    """Arrays of zeros are packed a thousand to one; a shape may claim more than there is."""
    file = store.with_name("checkpoint.npz")
    with np.load(file) as found:
        arrays = {name: found[name] for name in found.files}
    np.savez_compressed(file, **arrays, more=np.zeros(300_000_000, np.uint8))
    assert file.stat().st_size < 1_000_000
    with pytest.raises(RecordingError, match="would unpack to 301 MB: at most 250 MB are read"):
        World.load(file)
    np.savez_compressed(file, **arrays)
    World.load(file)
    claim = io.BytesIO()
    np.lib.format.write_array_header_1_0(claim, {"descr": "<f8", "fortran_order": False, "shape": (10**17,)})
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("more.npy", claim.getvalue())
    with pytest.raises(RecordingError, match="is not a saved world"):
        World.load(file)
    np.save(store.with_name("one.npy"), np.zeros(3))
    with pytest.raises(RecordingError, match="is not a saved world"):
        World.load(store.with_name("one.npy"))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("struck", [KeyboardInterrupt, OSError])
def test_ctrl_c_while_a_world_is_saved(struck, store, monkeypatch):
    """In the closing of an array: zipfile then says that it can not close, which is not what happened."""
    file = store.with_name("checkpoint.npz")
    world, before = World.load(file), file.read_bytes()

    def close(self) -> None:
        raise struck

    monkeypatch.setattr(zipfile._ZipWriteFile, "close", close)
    with pytest.raises(RecordingError if struck is OSError else struck):
        world.save(file)
    monkeypatch.undo()
    assert file.read_bytes() == before
    assert [path.name for path in store.parent.iterdir() if "part" in path.name] == []
