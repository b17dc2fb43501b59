"""Instruments: against closed forms and the theorem of momentum; their rates, their noise, their files."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from tumble.collision import Box, HalfSpace, Sphere
from tumble.collision.errors import InputError
from tumble.scenarios import export_readings
from tumble.sim import (
    Accelerometer,
    ContactForce,
    Encoder,
    ForceTorque,
    Gyroscope,
    Hinge,
    Instruments,
    RangeFinder,
    Tracker,
    Velocimeter,
    World,
)

G = 9.81


def pendulum(dt: float = 1 / 500) -> World:
    world = World(dt=dt)
    world.add(Box((0.5, 0.02, 0.02)), name="rod", mass=2.0, position=(0.5, 0, 0))
    world.add_joint(Hinge(None, "rod", axis=(0, 1, 0), name="pivot"))
    return world


def test_at_rest_and_in_free_fall():
    """A box on the floor reads g upwards, in axes of its own, and the floor's force; one that falls reads nothing."""
    world = World()
    world.add(HalfSpace(), kind="static", name="floor")
    world.add(Box((0.1, 0.1, 0.1)), name="box", mass=3.0, position=(0, 0, 0.1))
    world.add(Sphere(0.1), name="ball", position=(5, 0, 50), angular_velocity=(0, 0, 2))
    log = Instruments(
        Accelerometer("still", "box", orientation=(math.sqrt(0.5), math.sqrt(0.5), 0, 0)),
        Accelerometer("falling", "ball"),
        ContactForce("on box", "box"),
        ContactForce("on floor", "floor", "box"),
        Gyroscope("spin", "ball"),
    )
    world.run(0.5, [log])
    assert log["still"].values == pytest.approx(np.tile([0, G, 0], (len(log["still"]), 1)), abs=1e-9)
    assert np.abs(log["falling"].values).max() < 1e-9
    assert log["on box"].values[1:] == pytest.approx(np.tile([0, 0, 3 * G], (len(log["on box"]) - 1, 1)), abs=1e-8)
    assert log["on floor"]["z"] == pytest.approx(-log["on box"]["z"])
    assert log["spin"]["z"] == pytest.approx(2.0)


def test_turning_reads_the_centripetal_acceleration():
    """w^2 r inwards, in the axes of the body; what turns with it reads the same at all times. Order 2."""

    def off(dt: float) -> float:
        world = World(gravity=(0, 0, 0), dt=dt, integrator="exact")
        world.add(Sphere(0.1), name="ball", angular_velocity=(0, 0, 7.0))
        log = Instruments(Accelerometer("a", "ball", (0.3, 0, 0)), Velocimeter("v", "ball", (0.3, 0, 0)))
        world.run(0.4, [log])
        assert log["v"].values == pytest.approx(np.tile([0, 2.1, 0], (len(log["v"]), 1)), abs=1e-12)
        return float(np.abs(log["a"].values - (-49 * 0.3, 0, 0)).max())

    errors = [off(1 / 200), off(1 / 400)]
    assert errors[0] < 1e-2
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.05)


def test_of_a_joint():
    """What the pivot gives is what moves the rod: by Newton's law, with the acceleration that an instrument there reads."""
    world = pendulum()
    log = Instruments(
        ForceTorque("load", "pivot"), Encoder("angle", "pivot"), Accelerometer("a", "rod"), Tracker("tip", "rod", (0.5, 0, 0))
    )
    world.run(1.0, [log])
    load, a, angle = log["load"], log["a"], log["angle"]
    force = 0.5 * (load.values[1:-1, :3] + load.values[2:, :3])  # of kicks at both ends of the interval; of order dt^2
    assert a.values[1:] == pytest.approx(force / 2.0, abs=0.05)
    assert np.abs(a.values).max() > 10
    assert np.abs(load.values[:, 3:]).max() < 1e-9  # a bearing
    q = angle["position"]
    assert log["tip"].values == pytest.approx(np.column_stack([np.cos(q), 0 * q, -np.sin(q)]), abs=1e-12)
    assert np.gradient(q, angle.times)[1:-1] == pytest.approx(angle["speed"][1:-1], abs=1e-3)
    world.step(3)
    (joint,) = world.joints
    assert world.joint_positions == pytest.approx([joint.position])
    assert world.joint_speeds == pytest.approx([joint.speed])
    assert world.joint_forces == pytest.approx(joint.force[None])
    assert world.joint_torques.shape == (1, 3)


def test_range_finder():
    world = World(gravity=(0, 0, 0))
    world.add(HalfSpace(), kind="static", name="floor")
    world.add(Sphere(0.1), name="drone", position=(0, 0, 4), velocity=(0, 0, -2))
    log = Instruments(
        RangeFinder("down", "drone", (0, 0, -0.05), direction=(0, 0, -1), reach=3.5), RangeFinder("up", "drone", reach=9)
    )
    world.run(1.0, [log])
    height = 3.95 - 2 * log["down"].times
    assert log["down"]["distance"] == pytest.approx(np.where(height <= 3.5, height, np.inf), abs=1e-12)
    assert np.isinf(log["up"].values).all()


def test_rates_and_noise():
    """Each at its own rate; the noise is as large as was said, the same again, and another by another seed."""

    def read(seed: int) -> Instruments:
        world = pendulum()
        log = Instruments(
            Encoder("clean", "pivot"),
            Encoder("fast", "pivot", noise=0.1, seed=seed),
            Encoder("slow", "pivot", rate=30, noise=0.1, seed=seed),
        )
        world.run(1.0, [log])
        world.run(1.0, [log])  # goes on
        return log

    log, again, other = read(1), read(1), read(2)
    assert [len(log[name]) for name in log] == [1001, 1001, 61]
    assert np.abs(log["slow"].times - np.arange(61) / 30).max() < 1 / 500
    noise = log["fast"].values - log["clean"].values
    assert noise.std() == pytest.approx(0.1, rel=0.05)
    assert abs(noise.mean()) < 0.01
    assert (log["fast"].values == again["fast"].values).all()
    assert np.abs(log["fast"].values - other["fast"].values).max() > 0.1
    assert np.abs(np.corrcoef(noise[:61].T, (log["slow"].values - np.interp(0, [0], [0]))[:61].T)[0, 2]) < 0.9


@pytest.mark.parametrize("kind", ["csv", "parquet", "mcap"])
def test_files(tmp_path, kind):
    world = pendulum()
    log = Instruments(Encoder("angle", "pivot"), RangeFinder("far", "rod", rate=100))
    world.run(0.2, [log])
    files = export_readings(log, tmp_path / f"run.{kind}")
    if kind == "mcap":
        from mcap.reader import make_reader

        with open(files[0], "rb") as file:
            rows = [(c.topic, m.log_time / 1e9, json.loads(m.data)) for _, c, m in make_reader(file).iter_messages()]
        mine = [(t, row["position"]) for topic, t, row in rows if topic == "/angle"]
        assert [row["distance"] for topic, _, row in rows if topic == "/far"] == [None] * len(log["far"])
    else:
        import pandas

        assert [file.name for file in files] == [f"run.angle.{kind}", f"run.far.{kind}"]
        table = (pandas.read_csv if kind == "csv" else pandas.read_parquet)(files[0])
        mine = list(zip(table["time"], table["position"], strict=True))
    assert np.array(mine) == pytest.approx(np.column_stack([log["angle"].times, log["angle"]["position"]]), abs=1e-9)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda w: Accelerometer("a", "red"), "body = 'red': there is none of this name in the world; did you mean rod?"),
        (lambda w: Encoder("a", "pivt"), "did you mean pivot?"),
        (lambda w: ContactForce("a", "rod", "wall"), "other = 'wall'"),
        (lambda w: Gyroscope("", "rod"), "name = '': must be a text"),
        (lambda w: Gyroscope("a", "rod", rate=0), "rate = 0"),
        (lambda w: Gyroscope("a", "rod", noise=-1), "noise = -1"),
        (lambda w: Gyroscope("a", "rod", seed=-1), "seed = -1: must be a whole number"),
        (lambda w: RangeFinder("a", "rod", direction=(0, 0, 0)), "must have a length"),
        (lambda w: "imu", "must be an instrument"),
    ],
)
def test_bad_input(make, says):
    world = pendulum()
    with pytest.raises(InputError) as caught:
        Instruments(make(world)).start(world)
    assert says in str(caught.value)


def test_names_are_told_apart(tmp_path):
    with pytest.raises(InputError, match="is the name of two instruments"):
        Instruments(Encoder("a", "pivot"), Gyroscope("a", "rod"))
    log = Instruments(Encoder("a", "pivot"))
    log.start(pendulum())
    with pytest.raises(InputError, match="is another than"):
        log.start(pendulum())
    with pytest.raises(InputError, match=r"must end in one of \.csv"):
        export_readings(log, tmp_path / "a.xls")
    with pytest.raises(InputError, match="can not be part"):
        export_readings(Instruments(Encoder("a/b", "pivot")), tmp_path / "a.csv")
