"""What machines of MJCF have besides joints: sensors, tendons, pairs, media, flags; against MuJoCo where it is there."""

from __future__ import annotations

import numpy as np
import pytest

from tumble.collision.errors import InputError
from tumble.scenarios.importing.models import Imported, load_model
from tumble.sim import Accelerometer, Gyroscope, Instruments, Medium, RangeFinder
from tumble.sim.joints.mechanism.sensors import ActuatorSensor, CoordinateSensor, FrameSensor, Touch

MODEL = """
<mujoco model="hand">
  <option density="1.2" viscosity="2e-5" wind="1 0 0"/>
  <worldbody>
    <geom name="table" type="plane" size="2 2 1" friction="0.3"/>
    <body name="palm" pos="0 0 0.5">
      <joint name="lift" type="slide" axis="0 0 1" damping="20"/>
      <geom name="palm" type="box" size="0.1 0.05 0.02" mass="1"/>
      <site name="imu" pos="0.02 0 0" euler="0 0 90"/>
      <body name="left" pos="-0.08 0 -0.05">
        <joint name="a" axis="0 1 0" damping="0.02"/>
        <geom name="left" type="capsule" size="0.01" fromto="0 0 0 0 0 -0.1" mass="0.1"/>
      </body>
      <body name="right" pos="0.08 0 -0.05">
        <joint name="b" axis="0 1 0" damping="0.02"/>
        <geom name="right" type="capsule" size="0.01" fromto="0 0 0 0 0 -0.1" mass="0.1" friction="0.9"/>
        <site name="tip" pos="0 0 -0.1" euler="180 0 0"/>
      </body>
    </body>
  </worldbody>
  <contact>
    <pair name="grip" geom1="right" geom2="table" friction="0.7 0.7 0.01 0.002 0.002" condim="4" solref="0.01 1"/>
  </contact>
  <tendon>
    <fixed name="both" stiffness="2" damping="0.05"><joint joint="a" coef="1"/><joint joint="b" coef="-0.5"/></fixed>
    <spatial name="string"><site site="imu"/><site site="tip"/></spatial>
  </tendon>
  <actuator>
    <motor name="grasp" tendon="both" gear="3"/>
    <position name="hold" tendon="both" kp="1.5" ctrlrange="-1 1"/>
    <motor name="heave" joint="lift"/>
  </actuator>
  <sensor>
    <accelerometer name="acc" site="imu" noise="0.1"/><gyro site="imu"/><rangefinder name="far" site="tip" cutoff="3"/>
    <jointpos name="angle" joint="a"/><framepos name="where" objtype="site" objname="tip"/>
    <touch name="felt" site="tip"/><actuatorfrc name="effort" actuator="grasp"/><magnetometer name="north" site="tip"/>
  </sensor>
</mujoco>
"""


def read(tmp_path, text: str) -> Imported:
    path = tmp_path / "model.xml"
    path.write_text(text)
    return load_model(path)


def test_what_is_taken_over(tmp_path):
    found = read(tmp_path, MODEL)
    assert found.scene.forces == [Medium(density=1.2, viscosity=2e-5, wind=(1, 0, 0))]
    assert [(type(one), one.name) for one in found.instruments] == [
        (Accelerometer, "acc"), (Gyroscope, "gyro_2"), (RangeFinder, "far"), (CoordinateSensor, "angle"), (FrameSensor, "where"),
        (Touch, "felt"), (ActuatorSensor, "effort"),
    ]  # fmt: skip
    assert (found.instruments[0].noise, found.instruments[2].reach) == (0.1, 3.0)
    (pair,) = found.scene.pairs
    assert {pair["a"], pair["b"]} == {"right", "table"}
    assert (pair["friction"], pair["torsional_friction"]) == (0.7, 0.01)
    assert [a.name for a in found.scene.actuators] == ["both spring", "grasp", "hold", "heave"]
    left = found.left_out
    assert left["tendon spatial"] == ["string"]
    assert left["contact pair"] == ["solref=0.01 1 of grip"]
    assert left["sensor magnetometer"] == ["north"]
    assert "sensor touch" not in left
    world = found.scene.build()
    log = Instruments(*found.instruments)
    world.run(0.1, [log])
    assert log["where"].values[0] == pytest.approx((0.08, 0, 0.35))
    assert log["far"]["distance"][0] == pytest.approx(0.35)


def test_tendons_as_mujoco_has_them(tmp_path):
    """Forces of springs, dampers and actuators along tendons at random states; without the tendon's spring they are others."""
    mujoco = pytest.importorskip("mujoco")
    found = read(tmp_path, MODEL)
    m = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    m.opt.density = m.opt.viscosity = 0
    d = mujoco.MjData(m)
    world = found.scene.build()
    mine, rng = world.mechanism(), np.random.default_rng(4)
    parts = {name: k for k, name in enumerate(mine.names)}
    for _ in range(20):
        d.qpos[:], d.qvel[:], d.ctrl[:] = rng.normal(size=3) + (9, 0, 0), rng.normal(size=3), rng.uniform(-1, 1, 3)
        mujoco.mj_forward(m, d)
        mine.set(np.array(d.qpos), np.array(d.qvel))
        for name, value in zip(("grasp", "hold", "heave"), d.ctrl, strict=True):
            world.controls[name] = float(value)
        world._begin()
        given, without = np.zeros(3), np.zeros(3)
        for name, force in world.controls.forces().items():
            for joint, part in world.controls.actuators[name].parts.items():
                given[parts[joint]] += part * force
                without[parts[joint]] += part * force * (name != "both spring")
        known = d.qfrc_actuator + d.qfrc_passive - np.array([-20.0, -0.02, -0.02]) * d.qvel
        assert given == pytest.approx(known, abs=1e-9)
        assert np.abs(without - known).max() > 1e-3


def test_a_tendon_pulls_both(tmp_path):
    """Momentum of two wheels that a tendon ties: what one gets the other gets by the ratio of coefficients; books close."""
    text = """<mujoco><option gravity="0 0 0"/><worldbody>
      <body name="a"><joint name="a" axis="0 0 1"/><geom type="cylinder" size="0.1 0.02" mass="2" pos="0 0 0"/></body>
      <body name="b" pos="1 0 0"><joint name="b" axis="0 0 1"/><geom type="cylinder" size="0.1 0.02" mass="2"/></body>
      </worldbody><tendon><fixed name="t"><joint joint="a" coef="1"/><joint joint="b" coef="-0.25"/></fixed></tendon>
      <actuator><motor name="pull" tendon="t"/><position name="back" tendon="t" kp="3"/></actuator></mujoco>"""
    world = read(tmp_path, text).scene.build()
    world.controls["pull"] = 0.5
    world.step(100)
    a, b = world.joints
    assert a.speed == pytest.approx(-4 * b.speed, rel=1e-9)
    assert abs(a.speed) > 0.1
    assert world.ledger.closes
    world.remove_joint(b)
    assert list(world.controls) == []
    speed = a.speed
    world.step(10)
    assert a.speed == pytest.approx(speed, rel=1e-9)  # nothing drives it any more


def test_hinges_askew(tmp_path):
    """Two hinges that are not perpendicular: a carrier of a tenth of the mass between them; coordinates as in MuJoCo."""
    text = """<mujoco><worldbody><body name="leg" pos="0 0 1"><freejoint/><geom size="0.1"/>
      <body name="foot" pos="0 0 -0.3"><joint name="y" axis="0 1 0" pos="0 0 0.05"/><joint name="x" axis="1 0 0.5"/>
      <geom type="capsule" size="0.03" fromto="-0.1 0 0 0.15 0 0"/></body></body></worldbody></mujoco>"""
    mujoco = pytest.importorskip("mujoco")
    found = read(tmp_path, text)
    assert [key for key in found.left_out if key.startswith("joints of a body")]
    m = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    d = mujoco.MjData(m)
    world = found.scene.build()
    mine = world.mechanism()
    assert (mine.nq, mine.nv, mine.names[-2:]) == (m.nq, m.nv, ("y", "x"))
    assert sum(body.mass for body in world.bodies) == pytest.approx(m.body_mass.sum())
    d.qpos[7:] = 0.4, -0.7
    mujoco.mj_kinematics(m, d)
    assert mine.point("foot", (0, 0, 0), np.array(d.qpos)) == pytest.approx(d.xpos[2], abs=1e-12)
    full = np.zeros((m.nv, m.nv))
    mujoco.mj_forward(m, d)
    mujoco.mj_fullM(m, d, full)
    assert mine.mass_matrix(np.array(d.qpos)) == pytest.approx(full, abs=0.1 * full[-1, -1] + 1e-3 * full.max())
    world.step(240)
    assert mine.closed() < 1e-9


def test_flags(tmp_path):
    text = """<mujoco><option><flag gravity="disable" contact="disable" energy="enable" warmstart="disable"/></option>
      <worldbody><geom type="plane" size="1 1 1"/>
      <body pos="0 0 0.05"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"""
    found = read(tmp_path, text)
    assert found.left_out == {"option flag": ["warmstart=disable"]}
    world = found.scene.build()
    world.step(10)
    assert np.abs(world.velocities).max() == 0


def test_actuators_of_one_joint_need_no_names(tmp_path):
    """As in MuJoCo. Twin: two of one name are still an error."""
    model = """<mujoco><worldbody><body><joint name="h" axis="0 1 0"/><geom size="0.1" pos="0.5 0 0"/></body></worldbody>
        <actuator><motor joint="h"/><velocity joint="h" {0}/><position joint="h" {0}/></actuator></mujoco>"""
    (tmp_path / "a.xml").write_text(model.format(""))
    scene = load_model(tmp_path / "a.xml").scene
    assert len({actuator.name for actuator in scene.actuators}) == 3
    (tmp_path / "b.xml").write_text(model.format('name="servo"'))
    with pytest.raises(InputError, match="is taken by another actuator"):
        load_model(tmp_path / "b.xml")


ROTOR = "armature of joint j turns about its axis alone: the body needs a mass and three moments of its own"


@pytest.mark.parametrize(
    ("inside", "told"),
    [
        (
            '<joint name="j" armature="0.1"/><inertial pos="0 0 0" mass="0" diaginertia="0 0 0"/>',
            f"body arm: mass = 0.0: must be .*{ROTOR}",
        ),
        (
            '<joint name="j" armature="0.1"/><inertial pos="0 0 0" mass="1" diaginertia="0 0 0"/>',
            f"body arm: inertia = .* must be positive .*{ROTOR}",
        ),
        (
            '<joint name="j" armature="0.1" axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="0 1 0"/>',
            f"body arm: inertia = .* must be positive .*{ROTOR}",
        ),
        ('<joint name="i"/><inertial pos="0 0 0" mass="1" diaginertia="0 1 0"/>', "moment is 0$"),
        ('<joint name="j" armature="0.1"/>', f"body arm = None: has no mass, .* <inertial>, .*{ROTOR}"),
        ('<joint name="j" armature="-0.1"/><geom size="0.1"/>', "joint j: armature = -0.1: must be"),
        ('<joint name="i" type="slide"/><joint name="j" armature="-1"/><geom size="0.1"/>', "joint j: armature = -1.0: must be"),
    ],
)
def test_what_is_wrong_is_told_with_its_element(tmp_path, inside, told):
    """A rotor is no mass of the body that it turns; and in a model of many bodies the one that is meant must be named."""
    body = '<body name="other"><freejoint/><geom size="0.1"/></body>' + f'<body name="arm">{inside}</body>'
    with pytest.raises(InputError, match=told):
        read(tmp_path, f"<mujoco><worldbody>{body}</worldbody></mujoco>")
