"""Exports read back by the libraries they are for hold what the run holds, to the last bit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tumble.collision.errors import InputError
from tumble.scenarios.cli import parser
from tumble.scenarios.runs import exports as logs
from tumble.scenarios.runs.scene_run import run_scene, scene_of
from tumble.sim.recording.run import Run


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Run:
    return run_scene(scene_of("two_cuboids", lead=0.05), tmp_path_factory.mktemp("run"), seconds=0.1, quiet=True).run


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_tables(run, tmp_path, kind, monkeypatch):
    import pandas

    monkeypatch.setattr(logs, "BLOCK", 7)  # several blocks
    path = logs.write_log(run, tmp_path / f"run.{kind}")
    table = pandas.read_csv(path, dtype_backend="numpy_nullable") if kind == "csv" else pandas.read_parquet(path)
    assert len(table) == len(run) == 25
    assert np.array_equal(table["time"], run.times)
    assert np.array_equal(table["small.position.z"], run.positions[:, 1, 2])
    assert np.array_equal(table["large.orientation.w"], run.orientations[:, 0, 0])
    assert np.array_equal(table["momentum.y"], run.momentum[:, 1])
    assert np.array_equal(table["ledger_restitution"], run.ledger["restitution"])
    if kind == "parquet":
        import pyarrow.parquet

        kept = pyarrow.parquet.read_schema(path).metadata
        assert json.loads(kept[b"scene"])["name"] == "two_cuboids"


def messages(path: Path) -> dict[str, list]:
    """(name of the schema, time [ns], content) of the messages of an MCAP file, by topic."""
    reader = pytest.importorskip("mcap.reader")
    seen: dict[str, list] = {}
    with open(path, "rb") as file:
        for schema, channel, message in reader.make_reader(file).iter_messages():
            seen.setdefault(channel.topic, []).append((schema.name, message.log_time, json.loads(message.data)))
    return seen


def test_mcap(run, tmp_path):
    seen = messages(logs.write_log(run, tmp_path / "run.mcap"))
    assert {topic: len(rows) for topic, rows in seen.items()} == {"/scene": 1, "/tf": 25, "/energy": 25, "/ledger": 25}
    name, when, last = seen["/tf"][-1]
    assert name == "foxglove.FrameTransforms"
    assert when == round(run.times[-1] * 1e9)
    small = next(t for t in last["transforms"] if t["child_frame_id"] == "small")
    assert [small["translation"][axis] for axis in "xyz"] == run.positions[-1, 1].tolist()
    assert [small["rotation"][axis] for axis in "wxyz"] == run.orientations[-1, 1].tolist()
    assert seen["/energy"][-1][2]["energy"] == run.energy[-1]
    boxes = {e["id"]: e["cubes"][0]["size"] for e in seen["/scene"][0][2]["entities"]}
    assert boxes == {"large": {"x": 0.5, "y": 0.1, "z": 0.25}, "small": {"x": 0.3, "y": 0.2, "z": 0.1}}


@pytest.fixture(scope="module")
def touching(tmp_path_factory) -> Run:
    """A recording of one body, in single precision, with contacts and impacts."""
    how = dict(bodies=["small"], precision="single", contacts=True, every=3)
    scene = scene_of("two_cuboids", lead=0.05)
    return run_scene(scene, tmp_path_factory.mktemp("run"), seconds=0.15, quiet=True, **how).run


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_contacts_and_impacts_as_tables(tmp_path, kind, monkeypatch):
    import pandas

    from tumble.collision import Box, HalfSpace
    from tumble.sim import Recorder, World

    monkeypatch.setattr(logs, "BLOCK", 7)
    world = World()
    world.add(HalfSpace(), kind="static", name="floor")
    for k in range(2):
        world.add(Box((0.1, 0.1, 0.1)), name=f"box {k}", position=(k, 0, 0.1 + 0.05 * k))
    run = world.run(0.2, [Recorder(contacts=True, impacts=True, bodies=["box 1"])])
    logs.write_log(run, tmp_path / f"run.{kind}")
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(f"run{t}.{kind}" for t in ("", ".contacts", ".impacts"))
    read = pandas.read_csv if kind == "csv" else pandas.read_parquet
    touch, hit = read(tmp_path / f"run.contacts.{kind}"), read(tmp_path / f"run.impacts.{kind}")
    rows = np.concatenate([run.contacts(k) for k in range(len(run))])
    assert len(touch) == len(rows) > 0
    assert set(touch["body_a"]) == {"floor"}
    assert set(touch["body_b"]) == {"box 1"}  # not those of the other box
    assert np.array_equal(touch["impulse.normal"], rows["impulse"][:, 0])
    assert np.array_equal(touch["force.z"], rows["force"][:, 2])
    assert touch["time"].tolist() == [t for k, t in enumerate(run.times) for _ in run.contacts(k)]
    assert hit["time"].tolist() == run.impacts["time"].tolist() != []
    assert np.array_equal(hit["loss"], run.impacts["loss"])


def test_mcap_of_a_chosen_body(touching, tmp_path):
    path = logs.write_log(touching, tmp_path / "run.mcap")
    seen = {topic: [content for _, _, content in told] for topic, told in messages(path).items()}
    assert len(seen["/contacts"]) == len(touching)
    assert [row["loss"] for row in seen["/impacts"]] == touching.impacts["loss"].tolist() != []
    assert {seen["/impacts"][0]["body_a"], seen["/impacts"][0]["body_b"]} == {"large", "small"}
    assert [t["child_frame_id"] for t in seen["/tf"][0]["transforms"]] == ["small"]
    assert list(tmp_path.iterdir()) == [path]


def test_command_and_bad_input(run, tmp_path, capsys):
    chosen = parser().parse_args(["export", str(run.path), "--out", str(tmp_path / "a.csv")])
    chosen.verb(chosen)
    assert capsys.readouterr().out.strip() == str(tmp_path / "a.csv")
    with pytest.raises(InputError, match="must end in one of .csv, .parquet, .mcap"):
        logs.write_log(run, tmp_path / "a.xls")
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]
