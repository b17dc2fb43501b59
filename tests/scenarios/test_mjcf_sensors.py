"""Sensors of MJCF that read the state, each against what MuJoCo reads in the same state."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tumble.scenarios.importing.models import Imported, load_model
from tumble.sim import Instruments

MODEL = """
<mujoco model="arm">
  <option gravity="0 0 -9.81" timestep="0.001"/>
  <worldbody>
    <site name="eye" pos="0 -2 1" euler="20 30 0"/>
    <body name="stand" pos="1 0 0"><geom name="post" type="box" size="0.1 0.1 0.5" pos="0 0 0.5" mass="0"/></body>
    <body name="upper" pos="0 0 1" euler="0 0 25">
      <joint name="shoulder" type="hinge" axis="0 1 0" pos="0 0 0" damping="0.3"/>
      <joint name="turn" type="hinge" axis="1 0 0" pos="0 0 0"/>
      <geom name="bone" type="capsule" size="0.04" fromto="0 0 0 0 0 -0.5" mass="2"/>
      <site name="mark" pos="0.1 0 -0.2" euler="10 20 30"/>
      <body name="lower" pos="0 0 -0.5">
        <joint name="elbow" axis="0 1 0" armature="0.02" stiffness="3"/>
        <geom name="shin" type="box" size="0.03 0.05 0.2" pos="0.02 0 -0.2" mass="1"/>
        <body name="hand" pos="0 0 -0.4" euler="0 30 0"><geom type="sphere" size="0.05" mass="0.3"/><site name="grip"/></body>
        <site name="cell" pos="0.03 0.01 -0.1" euler="0 40 10"/>
      </body>
    </body>
  </worldbody>
  <tendon><fixed name="both"><joint joint="elbow" coef="0.5"/><joint joint="turn" coef="-2"/></fixed></tendon>
  <actuator><motor name="drive" joint="elbow" gear="3"/><position name="servo" joint="shoulder" kp="20" gear="2"/></actuator>
  <sensor>
    <jointpos joint="elbow"/> <jointvel joint="elbow"/> <tendonpos tendon="both"/> <tendonvel tendon="both"/>
    <framepos objtype="site" objname="mark"/> <framequat objtype="site" objname="mark"/>
    <framexaxis objtype="geom" objname="bone"/> <framezaxis objtype="xbody" objname="lower"/>
    <framelinvel objtype="site" objname="cell"/> <frameangvel objtype="xbody" objname="lower"/>
    <framepos objtype="body" objname="upper"/> <framelinvel objtype="body" objname="upper"/>
    <framequat objtype="xbody" objname="hand"/> <framepos objtype="geom" objname="post"/>
    <framelinvel objtype="site" objname="grip"/>
    <framepos objtype="site" objname="cell" reftype="site" refname="mark"/>
    <framequat objtype="site" objname="cell" reftype="site" refname="eye"/>
    <framelinvel objtype="site" objname="cell" reftype="site" refname="mark"/>
    <frameangvel objtype="site" objname="cell" reftype="xbody" refname="upper"/>
    <subtreecom body="upper"/> <subtreelinvel body="upper"/> <subtreeangmom body="upper"/> <subtreecom body="lower"/>
    <gyro site="cell"/> <velocimeter site="cell"/>
    <actuatorpos actuator="servo"/> <actuatorvel actuator="servo"/>
    <actuatorfrc actuator="servo"/> <actuatorfrc actuator="drive"/>
    <clock/> <e_potential/> <e_kinetic/>
    <force name="push" site="cell"/> <torque name="twist" site="cell"/> <accelerometer name="felt" site="cell"/>
  </sensor>
</mujoco>
"""
KNOWN = ("push", "twist", "felt")  # of a step, not of a state


def read(folder: Path, text: str) -> Imported:
    (folder / "model.xml").write_text(text)
    return load_model(folder / "model.xml")


def theirs(folder: Path):
    mujoco = pytest.importorskip("mujoco")
    m = mujoco.MjModel.from_xml_path(str(folder / "model.xml"))
    return mujoco, m, mujoco.MjData(m)


def test_all_are_read_as_mujoco_reads_them(tmp_path):
    """At ten random states; of another state they are other numbers.

    What actuators do to springs is energy here: a servo is one, and a steady torque on a spring moves where it is slack.
    """
    found = read(tmp_path, MODEL)
    assert not [what for what in found.left_out if what.startswith("sensor")]
    mujoco, m, d = theirs(tmp_path)
    assert len(found.instruments) == m.nsensor
    m.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    rng = np.random.default_rng(5)
    for _ in range(10):
        d.qpos[:], d.qvel[:], d.ctrl[:] = rng.normal(size=3), rng.normal(size=3), rng.normal(size=2)
        for _ in range(2):  # its sensors of energy read that of the call before
            mujoco.mj_forward(m, d)
        world = found.scene.build()
        world.mechanism().set(np.array(d.qpos), np.array(d.qvel))
        world.controls[:] = np.array(d.ctrl)
        log = Instruments(*(one for one in found.instruments if one.name not in KNOWN))
        log.start(world)
        log(world)
        for k, one in enumerate(found.instruments):
            if one.name in KNOWN:
                continue
            known = d.sensordata[m.sensor_adr[k] : m.sensor_adr[k] + m.sensor_dim[k]]
            ours = log[one.name].values[0]
            if len(ours) == 4:
                ours = ours * np.sign(ours @ known)
            if one.name.startswith("e_potential"):
                servo = 0.5 * 20 * 2**2 * (d.qpos[0] - d.ctrl[1] / 2) ** 2
                moved = 0.5 * 3 * ((d.qpos[2] - 3 * d.ctrl[0] / 3) ** 2 - d.qpos[2] ** 2)
                assert ours - servo - moved == pytest.approx(known, abs=1e-9)
                continue
            assert ours == pytest.approx(known, abs=1e-9), one.name
            assert len(log[one.name].columns) == len(known)
    other = found.scene.build()
    still = Instruments(found.instruments[0])
    still.start(other)
    still(other)
    assert still[found.instruments[0].name].values[0] != pytest.approx(d.sensordata[:1], abs=1e-3)


def test_forces_and_accelerations_are_those_of_a_short_step(tmp_path):
    """Means of a step, and differences: of first order in it against the values at its middle."""
    found = read(tmp_path, MODEL)
    mujoco, m, d = theirs(tmp_path)
    q, v = np.array([0.4, -0.3, 0.8]), np.array([1.0, 0.5, -0.7])
    d.qpos[:], d.qvel[:] = q, v
    mujoco.mj_forward(m, d)
    addresses = {m.sensor(k).name: slice(m.sensor_adr[k], m.sensor_adr[k] + m.sensor_dim[k]) for k in range(m.nsensor)}

    def off(dt: float) -> dict[str, float]:
        found.scene.dt = dt
        world = found.scene.build()
        world.mechanism().set(q, v)
        log = Instruments(*(one for one in found.instruments if one.name in KNOWN))
        world.run(seconds=2.5 * dt, observers=[log])
        return {name: float(np.abs(log[name].values[-1] - d.sensordata[addresses[name]]).max()) for name in KNOWN}

    coarse, fine = off(1e-3), off(1e-4)
    for name in KNOWN:
        assert fine[name] < 2e-3 * max(1.0, np.abs(d.sensordata[addresses[name]]).max())
        assert fine[name] < 0.2 * coarse[name]


def test_touch_feels_what_is_in_its_region(tmp_path):
    """A box of 3 kg on the floor; the site that has two of its corners feels half of its weight, a small one nothing."""
    site = '<site name="{0}" type="box" pos="{1} 0 -0.1" size="{2} 0.3 0.05"/>'
    sites = site.format("all", 0, 0.3) + site.format("half", 0.2, 0.1) + site.format("none", 0, 0.01)
    text = f"""<mujoco><worldbody><geom type="plane" size="2 2 1"/>
      <body name="box" pos="0 0 0.1"><freejoint/><geom type="box" size="0.2 0.2 0.1" mass="3"/>{sites}</body></worldbody>
      <sensor><touch name="a" site="all"/><touch name="h" site="half"/><touch name="n" site="none"/></sensor></mujoco>"""
    found = read(tmp_path, text)
    log = Instruments(*found.instruments)
    found.scene.build().run(1.0, [log])
    felt = [float(log[name]["force"][-1]) for name in ("a", "h", "n")]
    assert felt == pytest.approx([3 * 9.81, 1.5 * 9.81, 0.0], rel=1e-6)


@pytest.mark.parametrize(
    "sensor",
    [
        '<magnetometer name="s" site="cell"/>', '<framequat name="s" objtype="body" objname="lower"/>',
        '<framepos name="s" objtype="camera" objname="c"/>', '<force name="s" site="eye"/>', '<force name="s" site="grip"/>',
    ],
)  # fmt: skip
def test_what_is_not_taken_over_is_named(tmp_path, sensor):
    start, end = MODEL.split("<sensor>")[0], "</sensor></mujoco>"
    start = start.replace("<worldbody>", '<worldbody><camera name="c"/>')
    found = read(tmp_path, f"{start}<sensor>{sensor}{end}")
    assert found.instruments == []
    assert found.left_out[f"sensor {sensor[1:].split()[0]}"] == ["s"]
