"""Instruments are part of scenes: in files, in runs and their files, and where a run is taken up again."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from tumble.collision import Box, HalfSpace, Sphere
from tumble.collision.errors import InputError
from tumble.scenarios.files.json_schema import json_schema
from tumble.scenarios.files.scene_files import load_scene, save_scene
from tumble.scenarios.files.schema import INSTRUMENTS as KEYS
from tumble.scenarios.runs.exports import reading_paths, write_log
from tumble.scenarios.runs.manifest import harms
from tumble.scenarios.runs.scene_run import run_scene
from tumble.sim import Accelerometer, Actuator, ContactForce, Encoder, Hinge, RangeFinder, Scene, World
from tumble.sim.errors import RecordingError
from tumble.sim.joints.mechanism.instrument_kinds import INSTRUMENTS, instrument_from_dict, instrument_to_dict
from tumble.sim.joints.mechanism.sensors import Frame, FrameSensor
from tumble.sim.recording.run import Run

TEXT = """
duration = 0.5
[[body]]
name = "floor"
kind = "static"
shape = { type = "halfspace" }
[[body]]
name = "crate"
shape = { type = "box", half_extents = [0.1, 0.1, 0.1] }
mass = 2
position = [0, 0, 0.2]
restitution = 0.3
[[instrument]]
type = "accelerometer"
name = "imu"
body = "crate"
position = ["5 cm", 0, 0]
rate = "100 1/s"
noise = 0.05
seed = 3
[[instrument]]
type = "range_finder"
name = "height"
body = "crate"
direction = [0, 0, -1]
[[instrument]]
type = "contact_force"
name = "load"
body = "crate"
[[instrument]]
type = "frame"
name = "place"
frame = { body = "crate", position = [0, 0, 0.1] }
of = "position"
"""
ONE_OF_EACH = {
    "accelerometer": {"body": "rod", "position": [0.1, 0, 0], "rate": 50.0, "noise": 0.1, "seed": 2},
    "gyroscope": {"body": "rod", "orientation": [0.0, 1.0, 0.0, 0.0]},
    "velocimeter": {"body": "rod"},
    "tracker": {"body": "rod"},
    "range_finder": {"body": "rod", "direction": [0.0, 0.0, -1.0], "reach": 3.0},
    "contact_force": {"body": "rod", "other": "ball"},
    "force_torque": {"joint": "pivot"},
    "encoder": {"joint": "pivot"},
    "frame": {"frame": {"body": "rod"}, "of": "velocity", "reference": {"body": "ball", "position": [0.0, 0.1, 0.0]}},
    "subtree": {"bodies": ["rod", "ball"], "of": "angular_momentum"},
    "coordinate": {"joints": ["pivot"], "of": "speed", "coefficients": [2.0]},
    "actuator": {"actuator": "motor", "of": "speed"},
    "interaction": {"frame": {"body": "rod"}, "joints": ["pivot"], "of": "torque"},
    "touch": {"body": "rod", "region": "box", "size": [0.5, 0.1, 0.1]},
    "world": {"of": "kinetic"},
}


def machine() -> Scene:
    scene = Scene(dt=1 / 200)
    scene.add(Box((0.5, 0.02, 0.02)), name="rod", mass=2.0, position=(0.5, 0, 0))
    scene.add(Sphere(0.1), name="ball", position=(0.5, 0, 0.5))
    scene.add_joint(Hinge(None, "rod", axis=(0, 1, 0), name="pivot"))
    scene.add_actuator(Actuator("motor", "pivot"))
    return scene


def same(a: dict, b: dict) -> bool:
    """The same readings to the last bit."""
    return list(a) == list(b) and all(
        np.array_equal(a[n].times, b[n].times) and np.array_equal(a[n].values, b[n].values) for n in a
    )


def test_all_kinds_go_to_files_and_back(tmp_path):
    """And each kind has the keys in files that it has fields."""
    assert set(ONE_OF_EACH) == set(INSTRUMENTS) == set(KEYS)
    scene = machine()
    for kind, values in ONE_OF_EACH.items():
        given = {"type": kind, "name": f"my {kind}", **values}
        one = scene.add_instrument(instrument_from_dict(given))
        assert instrument_to_dict(one) == given
        assert set(KEYS[kind]) == {field.name for field in fields(one)}
    assert Scene.from_dict(json.loads(json.dumps(scene.to_dict()))) == scene
    save_scene(scene, tmp_path / "a.toml")
    assert load_scene(tmp_path / "a.toml") == scene
    world = scene.build()
    run = world.run(0.1)
    assert list(run.readings) == [f"my {kind}" for kind in ONE_OF_EACH]
    assert all(len(readings) > 0 for readings in run.readings.values())
    assert world.scene == scene
    assert len(json_schema()["properties"]["instrument"]["items"]["oneOf"]) == len(INSTRUMENTS)


def test_a_file_is_read(tmp_path):
    """A box that falls 0.1 m and comes to rest: what it feels, sees and bears, at its rates; twin: as it reads without noise."""
    (tmp_path / "a.toml").write_text(TEXT)
    scene = load_scene(tmp_path / "a.toml")
    run = scene.build().run(scene.duration)
    imu, height, load = (run.readings[name] for name in ("imu", "height", "load"))
    assert len(imu) == 50
    assert height["distance"][0] == pytest.approx(0.2)
    assert height["distance"][-1] == pytest.approx(0.1, abs=1e-9)
    assert load["z"][-1] == pytest.approx(2 * 9.81, abs=1e-6)
    assert run.readings["place"]["z"] == pytest.approx(run.positions[:, 1, 2] + 0.1)
    scene.instruments = [replace(one, noise=0.0) for one in scene.instruments]
    plain = scene.build().run(scene.duration).readings["imu"]
    assert 0.03 < np.std(imu.values - plain.values) < 0.08
    assert plain["z"][-1] == pytest.approx(9.81, abs=1e-6)


def test_a_world_that_is_saved_reads_on(tmp_path):
    (tmp_path / "a.toml").write_text(TEXT)
    whole, begun = (load_scene(tmp_path / "a.toml").build() for _ in range(2))
    whole.run(0.2)
    told = whole.run(0.2).readings
    begun.run(0.2)
    begun.save(tmp_path / "a.npz")
    again = World.load(tmp_path / "a.npz")
    assert list(again.instruments) == ["imu", "height", "load", "place"]
    assert same(again.run(0.2).readings, told)
    assert not same(begun.instruments, told)


@pytest.mark.parametrize("seconds", [0.4, 0.413])
def test_a_run_that_is_taken_up_again_reads_as_one_that_was_not(tmp_path, seconds):
    """At each sample that is kept, and in the file beside the recording."""
    (tmp_path / "a.toml").write_text(TEXT)
    scene = load_scene(tmp_path / "a.toml")
    whole = run_scene(scene, tmp_path / "whole", 0.5, quiet=True)
    run_scene(scene, tmp_path / "part", seconds, quiet=True)
    part = run_scene(scene, tmp_path / "part", 0.5, quiet=True, resume=True)
    assert same(whole.run.readings, part.run.readings)
    assert same(Run.open(tmp_path / "part").readings, Run.open(tmp_path / "whole").readings)
    assert part.paths["readings"] == tmp_path / "part" / "trajectory.readings.npz"
    assert harms(tmp_path / "part") == []
    part.paths["readings"].write_bytes(b"spoilt")
    assert harms(tmp_path / "part") == ["trajectory.readings.npz is not what was written"]
    with pytest.raises(RecordingError, match="is damaged"):
        _ = Run.open(tmp_path / "part").readings
    scene.instruments = []
    run_scene(scene, tmp_path / "part", 0.1, quiet=True)
    assert Run.open(tmp_path / "part").readings == {}


@pytest.mark.parametrize("kind", ["csv", "parquet", "mcap"])
def test_a_run_is_exported_with_its_readings(tmp_path, kind):
    pytest.importorskip({"mcap": "mcap.reader", "parquet": "pyarrow"}.get(kind, "pandas"))
    (tmp_path / "a.toml").write_text(TEXT)
    run = run_scene(load_scene(tmp_path / "a.toml"), tmp_path / "run", 0.1, quiet=True).run
    path = write_log(run, tmp_path / f"out.{kind}")
    assert all(file.exists() for file in reading_paths(run, path))
    assert len(reading_paths(run, path)) == (0 if kind == "mcap" else 4)
    known = run.readings["height"]["distance"]
    if kind == "mcap":
        from mcap.reader import make_reader

        with open(path, "rb") as file:
            read = [json.loads(m.data)["distance"] for _, c, m in make_reader(file).iter_messages(topics=["/height"])]
    else:
        import pandas

        of = {"csv": pandas.read_csv, "parquet": pandas.read_parquet}[kind]
        read = of(tmp_path / f"out.height.{kind}")["distance"].to_numpy()
    assert read == pytest.approx(known, rel=1e-15)


def test_a_model_keeps_its_sensors(tmp_path):
    from tumble.scenarios.importing.models import load_model

    Path(tmp_path / "m.xml").write_text(
        """<mujoco><worldbody><body name="b" pos="0 0 1"><joint name="j" axis="0 1 0"/><geom size="0.1" pos="0.3 0 0"/>
        <site name="s"/></body></worldbody><sensor><gyro name="g" site="s"/><jointpos name="q" joint="j"/></sensor></mujoco>"""
    )
    found = load_model(tmp_path / "m.xml")
    save_scene(found.scene, tmp_path / "m.toml")
    scene = load_scene(tmp_path / "m.toml")
    assert [one.name for one in scene.instruments] == ["g", "q"]
    assert scene.instruments == found.instruments
    readings = scene.build().run(0.1).readings
    assert readings["g"]["y"][-1] > 0.1


def test_added_to_a_world():
    world = World()
    world.add(HalfSpace(), kind="static", name="floor")
    world.add(Sphere(0.1), name="ball", position=(0, 0, 0.1))
    assert world.run(0.1).readings == {}
    world.add_instrument(ContactForce("load", "ball"))
    assert world.run(0.1).readings["load"]["z"][-1] == pytest.approx(world["ball"].mass * 9.81)
    world.add_instrument(RangeFinder("late", "ball", direction=(0, 0, -1)))  # when others have read already
    late = world.run(0.1).readings["late"]
    assert late.times[0] == pytest.approx(0.2)
    assert late["distance"] == pytest.approx(0.1)
    assert world.scene.instruments == [ContactForce("load", "ball"), RangeFinder("late", "ball", direction=(0, 0, -1))]


def test_what_is_on_a_body_that_is_removed_ends(tmp_path):
    """What it has read stays, also where the world is saved; the others read on."""
    world = World()
    for name in "ab":
        world.add(Sphere(0.1), name=name, position=(ord(name), 0, 0))
        world.add_instrument(Accelerometer(f"on {name}", name))
    world.run(0.1)
    world.remove(world["a"])
    count = {name: len(readings) for name, readings in world.run(0.1).readings.items()}
    assert count == {"on a": 24, "on b": 48}
    assert [one.name for one in world.scene.instruments] == ["on b"]
    world.save(tmp_path / "a.npz")
    again = World.load(tmp_path / "a.npz")
    assert same(again.run(0.1).readings, world.run(0.1).readings)
    assert len(again.instruments["on a"]) == 24
    early = World()
    early.add_instrument(Accelerometer("imu", early.add(Sphere(0.1), name="a")))
    early.remove(early["a"])
    assert early.run(0.1).readings == {}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (TEXT.replace('crate"\ndirection', 'crat"\ndirection'), 'instrument "height": body = \'crat\': there is none'),
        (TEXT.replace("seed = 3", "sed = 3"), 'instrument "imu": sed = 3: unknown key'),
        (TEXT.replace('"accelerometer"', '"accelerometre"'), 'instrument "imu": type = \'accelerometre\': must be one of'),
        (TEXT.replace('of = "position"', 'of = "speed"'), "instrument \"place\": of = 'speed': must be one of position"),
        (TEXT.replace("frame = { body", "frame = { bodi"), 'instrument "place": frame.bodi'),
        (TEXT.replace('load"\nbody = "crate"', 'load"'), 'instrument "load": body: is missing: a contact_force needs it'),
        (TEXT.replace('name = "load"', 'name = "imu"'), "is taken by another instrument"),
        (TEXT.replace("noise = 0.05", "noise = -1"), 'instrument "imu": noise = -1'),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_file_is_told(tmp_path, text, says):
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(InputError) as caught:
        load_scene(tmp_path / "a.toml")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_not_there_is_told_by_scenes_and_worlds():
    scene = machine()
    with pytest.raises(InputError, match="joint = 'pivo': there is none of this name; did you mean pivot\\?"):
        scene.add_instrument(Encoder("q", "pivo"))
    with pytest.raises(InputError, match="frame = 'x'"):
        scene.build().add_instrument(FrameSensor("f", Frame("x")))
    with pytest.raises(InputError, match="must be an instrument"):
        scene.add_instrument("imu")
    scene.add_instrument(Accelerometer("imu", "rod"))
    with pytest.raises(InputError, match="is taken"):
        scene.add_instrument(Accelerometer("imu", "rod"))
