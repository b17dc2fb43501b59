"""Damage on the disk is named, or harmless: never other numbers without a word, never a traceback."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from benchmarks.faults.harms import KINDS, WORDS, harm, harmed
from tumble.collision import HalfSpace, Sphere
from tumble.sim import Recorder, Run, World
from tumble.sim.errors import RecordingError
from tumble.sim.recording.storage.checksums import CHECKSUM_TABLE, ROOT_DIGEST, Sums, checksum, consolidate, intact


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Three chunks of samples with contacts and impacts, the last chunk of each not full."""
    world = World(dt=1 / 60)
    world.add(HalfSpace(), kind="static", name="floor")
    for k in range(2):
        world.add(Sphere(0.1), position=(0.5 * k, 0, 0.4 + 0.2 * k), restitution=0.7, name=f"ball_{k}")
    path = tmp_path_factory.mktemp("whole") / "a.zarr"
    world.run(9.0, [Recorder(path, contacts=True, impacts=True)])
    return path


def everything(path: Path) -> dict[str, np.ndarray]:
    run = Run.open(path)
    out = {name: run.part(name, slice(None)) for name in run._arrays if not name.startswith(CHECKSUM_TABLE)}
    assert run.names == tuple(out["body"])
    return out | {"scene": np.array(json.dumps(run.scene.to_dict()))}


def same(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name], equal_nan=a[name].dtype.kind == "f") for name in a)


def attack(whole: Path, folder: Path, count: int) -> dict[str, int]:
    """How often harm was named, and how often it changed nothing that is read; anything else fails."""
    expected, told = everything(whole), {"named": 0, "harmless": 0}
    for seed in range(count):
        store = folder / "a.zarr"
        shutil.copytree(whole, store)
        done, _ = harm(store, KINDS[seed % len(KINDS)], random.Random(seed))
        found, error = None, ""
        try:
            found = everything(store)
        except RecordingError as named:
            error = str(named)
        told["named" if error else "harmless"] += 1
        assert not error or "is damaged" in error or "is not a recording" in error, (done, error)
        assert error or same(found, expected), f"{done} (seed {seed}): other numbers, without a word"
        shutil.rmtree(store)
    return told


def test_random_harm(whole, tmp_path):
    told = attack(whole, tmp_path, 2 * len(KINDS))
    assert told["named"] > 10  # of the others most struck metadata of arrays, which only going on reads


@pytest.mark.validate
def test_much_random_harm(whole, tmp_path):
    attack(whole, tmp_path, 3000)


@pytest.mark.usefixtures("no_figures")
def test_harm_is_named_and_mended(tmp_path, monkeypatch):
    """Of a run that is a little shorter than usual, whose third chunk of samples is begun as well."""
    assert WORDS.count("3") == 1  # seconds
    monkeypatch.setattr("benchmarks.faults.harms.WORDS", tuple({"3": "2.2"}.get(word, word) for word in WORDS))
    assert harmed(3, 0, tmp_path, lambda *_: None) == []


@pytest.mark.validate
def test_much_harm_is_named_and_mended(tmp_path):
    assert harmed(122, 1, tmp_path, lambda *_: None) == []


def test_what_is_whole_is_read(whole, tmp_path):
    """A flipped bit in one chunk: that chunk is named, with its samples, all others are there."""
    store = tmp_path / "a.zarr"
    shutil.copytree(whole, store)
    chunks = [store / "velocity" / "c" / k / "0" / "0" for k in "012"]
    data = chunks[0].read_bytes()
    chunks[0].write_bytes(chunks[1].read_bytes())
    chunks[1].write_bytes(data)
    run, expected = Run.open(store), Run.open(whole)
    with pytest.raises(RecordingError, match="is damaged: samples 0 to 255 of velocity are not what was written"):
        run.velocities  # noqa: B018
    assert np.array_equal(run.positions, expected.positions)
    assert np.array_equal(run.part("velocity", slice(512, 600)), expected.velocities[512:600])
    assert run.damages() == [f"samples {k} to {k + 255} of velocity are not what was written" for k in (0, 256)]
    assert expected.damages() == []


def test_repair(whole, tmp_path):
    """What is lost comes back by running again, to the last bit; where the run would be another, nothing is touched."""
    from tumble.scenarios.checks.repair import repair

    store = tmp_path / "a.zarr"
    shutil.copytree(whole, store)
    assert repair(store) == []
    shutil.rmtree(store / "position" / "c" / "1")
    (store / "step" / "c" / "2").write_bytes(b"nonsense")
    (store / "contact_gap" / "c" / "0").unlink()
    assert len(repair(store)) == 3
    assert same(everything(store), everything(whole))
    assert Run.open(store).attributes["started"] == Run.open(whole).attributes["started"]
    assert [file.name for file in tmp_path.iterdir()] == ["a.zarr"]

    (store / "position" / "c" / "1" / "0" / "0").unlink()
    attributes = Run.open(store).attributes
    consolidate(store, scene=attributes["scene"].replace('"restitution": 0.7', '"restitution": 0.71'))
    with pytest.raises(RecordingError, match="can not be repaired: run again, .* is another from sample"):
        repair(store)
    assert [file.name for file in tmp_path.iterdir()] == ["a.zarr"]


@pytest.mark.parametrize("chosen", [None, ["ball_1"]])
def test_names_are_known_without_their_labels(chosen, whole, tmp_path):
    """They stand in the scene too, and where some were chosen in the root file."""
    from tumble.scenarios.checks.repair import repair

    world, store = World(dt=1 / 60), tmp_path / "a.zarr"
    for k in range(3):
        world.add(Sphere(0.1), position=(k, 0, 0), name=f"ball_{k}")
    run = world.run(1.0, [Recorder(store, bodies=chosen)])
    labels = store / "body" / "c" / "0"
    kept = labels.read_bytes()
    labels.unlink()
    found = Run.open(store)
    assert found.names == run.names == (tuple(chosen) if chosen else ("ball_0", "ball_1", "ball_2"))
    assert np.array_equal(found.positions, run.positions)
    assert len(found.damages()) == 1
    assert repair(store)
    assert labels.read_bytes() == kept
    labels.unlink()
    consolidate(store, recorded=["ball_0", "ball_7"], scene="{}")  # the twin: names that are not those that were written
    with pytest.raises(RecordingError, match="is damaged: 1 of 1 chunks of body are missing|body is not what was written"):
        Run.open(store)


def test_a_run_takes_the_place_of_what_does_not_open(tmp_path):
    """A damaged root file is that of a recording, another one is not."""
    store = tmp_path / "a.zarr"
    world = World(dt=1 / 60)
    world.add(Sphere(0.1))
    world.run(0.1, [Recorder(store)])
    (store / "zarr.json").write_bytes((store / "time" / "zarr.json").read_bytes())
    with pytest.raises(RecordingError):
        Run.open(store)
    world.run(0.1, [Recorder(store)])
    assert len(Run.open(store)) == 7
    (store / "zarr.json").write_text("{}")
    shutil.rmtree(store / CHECKSUM_TABLE)
    with pytest.raises(RecordingError, match="is not a recording of tumble; it is left as it is"):
        world.run(0.1, [Recorder(store)])


def test_attributes_may_be_added(whole, tmp_path):
    """By hand or by other programs; what tumble wrote may not be changed."""
    store = tmp_path / "a.zarr"
    shutil.copytree(whole, store)
    file = store / "zarr.json"
    root = json.loads(file.read_text())
    root["attributes"]["note"] = "the good one"
    file.write_text(json.dumps(root))
    assert Run.open(store).attributes["note"] == "the good one"
    root["attributes"]["dt"] = 1 / 61
    file.write_text(json.dumps(root))
    with pytest.raises(RecordingError, match="zarr.json is not what was written"):
        Run.open(store)
    consolidate(store)  # the twin: a digest that is made to fit
    assert Run.open(store).attributes["dt"] == 1 / 61


@pytest.mark.parametrize("odd", [1e-9, None, [], {}])
def test_names_of_what_is_sealed_that_are_none(odd, whole, tmp_path):
    store = tmp_path / "a.zarr"
    shutil.copytree(whole, store)
    file = store / "zarr.json"
    root = json.loads(file.read_text())
    root["attributes"]["sealed"][3] = odd
    file.write_text(json.dumps(root))
    with pytest.raises(RecordingError, match="zarr.json is not what was written"):
        Run.open(store)


def test_arrays_without_sums_are_named(whole, tmp_path):
    store = tmp_path / "a.zarr"
    shutil.copytree(whole, store)
    file = store / f"{CHECKSUM_TABLE}_contact" / "zarr.json"
    data = json.loads(file.read_text())
    name, data["attributes"]["arrays"][0] = data["attributes"]["arrays"][0], "other"
    file.write_text(json.dumps(data))
    consolidate(store)
    assert f"checksum_contact has no sums of {name}" in Run.open(store).damages()


def test_recordings_of_older_versions_open(whole, tmp_path):
    store = tmp_path / "a.zarr"
    shutil.copytree(whole, store)
    file = store / "zarr.json"
    root = json.loads(file.read_text())
    for name in (ROOT_DIGEST, "sealed", "checksums"):
        del root["attributes"][name]
    assert not intact(root)  # of this version they are missed
    root["attributes"]["tumble_schema"] = 1
    file.write_text(json.dumps(root))
    assert np.array_equal(Run.open(store).positions, Run.open(whole).positions)


def test_sums_do_not_depend_on_how_rows_come():
    rng = np.random.default_rng(1)
    rows = {"a": rng.normal(size=(70, 3)), "b": rng.integers(0, 9, 70)}
    at_once, bit_by_bit = Sums(["a", "b"], 16), Sums(["a", "b"], 16)
    at_once.add(rows)
    for start, stop in ((0, 3), (3, 3), (3, 16), (16, 50), (50, 70)):
        bit_by_bit.add({name: values[start:stop] for name, values in rows.items()})
    assert at_once.full == bit_by_bit.full
    assert at_once.tail == bit_by_bit.tail == {name: checksum(values[64:]) for name, values in rows.items()}
    assert at_once.full[1] == (1, [checksum(rows["a"][16:32]), checksum(rows["b"][16:32])])


@pytest.mark.usefixtures("no_figures")
def test_files_beside_a_recording_are_listed_and_looked_at(tmp_path, capsys, monkeypatch):
    """Summary, figure, films and pages have their hashes in SHA256SUMS: a bit that flips is named."""
    from tumble.scenarios.cli import main
    from tumble.scenarios.runs.manifest import MANIFEST, harms

    monkeypatch.chdir(tmp_path)
    assert main(["run", "tumbling_box", "--seconds", "0.1", "--out", "r"]) == 0
    assert main(["film", "r", "--out", "r/film.gif", "--size", "32x24", "--fps", "20"]) == 0
    assert main(["check", "r"]) == 0
    names = [line.split("  ")[1] for line in Path("r", MANIFEST).read_text().splitlines()]
    assert names == ["energy.png", "film.gif", "summary.json"]
    for name in names:
        file = Path("r", name)
        data = file.read_bytes()
        file.write_bytes(data[:-3] + bytes([data[-3] ^ 1]) + data[-2:])
        assert main(["check", "r"]) == 1
        assert f"damaged: {name} is not what was written" in capsys.readouterr().out
        file.write_bytes(data)
    Path("r/energy.png").unlink()  # its owner may
    assert harms(Path("r")) == []
    Path("r/film.gif").write_bytes(b"another")
    assert main(["film", "r", "--out", "r/film.gif", "--size", "32x24", "--fps", "20"]) == 0
    assert main(["check", "r"]) == 0
