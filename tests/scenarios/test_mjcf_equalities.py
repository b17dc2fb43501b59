"""Equalities of MJCF as joints: hinges that turn together, locks and welds, against MuJoCo; others are left out by name."""

from __future__ import annotations

import numpy as np
import pytest

from tumble.scenarios.importing.models import Imported, load_model

HAND = """
<mujoco>
  <option gravity="0 0 -9.81" timestep="1e-4"/>
  <default><geom contype="0" conaffinity="0"/><equality solref="4e-4 1" solimp="0.9999 0.9999 1e-3"/></default>
  <worldbody>
    <body name="palm" pos="0 0 1">
      <joint name="swing" axis="0 1 0"/>
      <geom type="box" size="0.1 0.05 0.02" mass="1" pos="0.05 0 0"/>
      <body name="left" pos="-0.08 0 -0.05">
        <joint name="a" axis="0 1 0"/>
        <geom type="capsule" size="0.01" fromto="0 0 0 0.05 0 -0.1" mass="0.1"/>
        <site name="at_left" pos="0.05 0 -0.1"/>
      </body>
      <body name="right" pos="0.08 0 -0.05">
        <joint name="b" axis="0 {sign} 0"/>
        <geom type="capsule" size="0.01" fromto="0 0 0 0.1 0 -0.1" mass="0.3"/>
        <site name="meets" pos="-0.11 0 -0.1"/><site name="turned" pos="-0.11 0 -0.1" euler="0 90 0"/>
        <body name="tip" pos="0.1 0 -0.1">
          <joint name="c" axis="0 1 0"/>
          <geom type="capsule" size="0.01" fromto="0 0 0 0.1 0 0" mass="0.1"/>
          <site name="at_tip" pos="0.1 0 0.03"/>
        </body>
      </body>
      <body name="thumb" pos="0 0.1 0">
        <joint name="slide" type="slide" axis="1 0 0"/>
        <geom type="sphere" size="0.02" mass="0.2"/>
      </body>
    </body>
  </worldbody>
  <equality>{equality}</equality>
</mujoco>
"""
WELD = """
<mujoco>
  <option timestep="1e-4"/>
  <default><equality solref="4e-4 1" solimp="0.9999 0.9999 1e-3"/></default>
  <worldbody>
    <body name="one" pos="0 0 1" quat="0.9 0.1 0 0.2"><freejoint/><geom type="box" size="0.1 0.05 0.02" mass="1"/></body>
    <body name="other" pos="0.3 0.1 1.1"><freejoint/><geom type="box" size="0.1 0.05 0.02" mass="2"/></body>
  </worldbody>
  <equality><weld name="glue" body1="one" body2="other" {pose}/></equality>
</mujoco>
"""


def read(tmp_path, text: str) -> Imported:
    path = tmp_path / "model.xml"
    path.write_text(text)
    return load_model(path)


def hand(tmp_path, equality: str, sign: int = 1) -> Imported:
    return read(tmp_path, HAND.format(equality=equality, sign=sign))


@pytest.mark.parametrize(
    ("joints", "factor", "sign"),
    [
        ('joint1="a" joint2="b"', -1.0, 1),
        ('joint1="a" joint2="b"', 1.0, -1),
        ('joint1="a" joint2="b"', 1.0, 1),  # the same way, as by a belt
        ('joint1="a" joint2="b"', -1.0, -1),
        ('joint1="a" joint2="b"', -0.4, 1),
        ('joint1="a" joint2="b"', 0.4, 1),  # a ring
        ('joint1="b" joint2="a"', 2.5, -1),
        ('joint1="c" joint2="b"', 0.5, 1),  # a finger of two links
        ('joint1="b" joint2="c"', -1.25, -1),
        ('joint1="b" joint2="swing"', -1.5, 1),
    ],
)
def test_hinges_turn_together_as_in_mujoco(tmp_path, joints, factor, sign):
    mujoco = pytest.importorskip("mujoco")
    found = hand(tmp_path, f'<joint {joints} polycoef="0 {factor} 0 0 0"/>', sign)
    assert not [kind for kind in found.left_out if kind.startswith("equality")]
    found.scene.dt = 1 / 1000
    world = found.scene.build()
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    data = mujoco.MjData(model)
    first, second = (part.split('"')[1] for part in joints.split())
    hinges = {joint.name: joint for joint in world.joints}
    turned = 0.0
    for _ in range(20):
        world.step(20)
        mujoco.mj_step(model, data, nstep=200)
        angles = np.array([hinges[name].angle for name in ("swing", "a", "b", "c")])
        assert hinges[first].angle == pytest.approx(factor * hinges[second].angle, abs=1e-9)
        assert angles == pytest.approx([data.joint(name).qpos[0] for name in ("swing", "a", "b", "c")], abs=2e-3)
        turned = max(turned, abs(angles[1:]).max())
    assert turned > 0.1
    assert world.ledger.closes


SLIDES = """<mujoco><option timestep="1e-4" integrator="RK4"/><worldbody><body name="base" pos="0 0 1">
  <joint name="swing" axis="0 1 0"/><geom size=".1 .1 .1" type="box" pos=".2 0 0" contype="0" conaffinity="0"/>
  <body name="left" pos=".3 .1 0"><joint name="a" type="slide" axis="1 0 1"/><geom size=".05" contype="0" conaffinity="0"/></body>
  <body name="right" pos=".3 -.1 .1"><joint name="b" type="slide" axis="{axis}"/>
    <geom size=".07" contype="0" conaffinity="0"/></body></body></worldbody>
  <equality><joint name="e" joint1="a" joint2="b" polycoef="0 {factor}" solref="0.001 1"/></equality></mujoco>"""


@pytest.mark.parametrize(("axis", "factor"), [("1 0 1", 1.0), ("-1 0 -1", -1.0)])
def test_slides_go_together_as_in_mujoco(tmp_path, axis, factor):
    """One to one, the same way. Twin: as fingers that close on each other they are told of, and each goes its own way."""
    mujoco = pytest.importorskip("mujoco")
    found = read(tmp_path, SLIDES.format(axis=axis, factor=factor))
    assert not [kind for kind in found.left_out if kind.startswith("equality")]
    found.scene.dt = 1 / 1000
    world = found.scene.build()
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    data = mujoco.MjData(model)
    joints = {joint.name: joint for joint in world.joints}
    for _ in range(10):
        world.step(20)
        mujoco.mj_step(model, data, nstep=200)
        ours = [joints[name].position for name in ("swing", "a", "b")]
        assert ours[1] == pytest.approx(factor * ours[2], abs=1e-9)
        assert ours == pytest.approx([data.joint(name).qpos[0] for name in ("swing", "a", "b")], abs=2e-3)
    assert abs(ours[1]) > 0.05
    assert world.ledger.closes
    twin = read(tmp_path, SLIDES.format(axis=axis, factor=-factor))
    assert twin.left_out["equality joint"] == ["e: slides are coupled where they go as far, the same way"]


@pytest.mark.parametrize("joint", ["a", "slide"])
def test_one_joint_alone_is_locked(tmp_path, joint):
    worlds = []
    for equality in (f'<joint joint1="{joint}"/>', ""):
        scene = hand(tmp_path, equality).scene
        scene.dt = 1 / 1000
        worlds.append(scene.build())
        worlds[-1].step(300)
    world, free = worlds
    hinges, others = ({j.name: j for j in w.joints} for w in worlds)
    place = (lambda j: j.angle) if joint == "a" else (lambda j: j.position)
    assert abs(place(hinges[joint])) < 1e-9
    assert abs(place(others[joint])) > 1e-2
    assert abs(hinges["swing"].angle) > 0.1
    assert world.statistics()["unsolved"] == 0
    assert world.ledger.closes


@pytest.mark.parametrize(
    ("equality", "why"),
    [
        ('<joint name="e" joint1="a" joint2="b" polycoef="0.1 -1 0 0 0"/>', "e: its polycoef begins with 0.1"),
        ('<joint name="e" joint1="a" joint2="b" polycoef="0 -1 0 0.2 0"/>', "e: its polynomial is of order 3"),
        ('<joint name="e" joint1="a" joint2="b" polycoef="0 -0.70710678"/>', "e: -0.707107 is no ratio of two whole numbers"),
        ('<joint name="e" joint1="a" joint2="c" polycoef="0 -1"/>', "e: its joints have no body in common"),
        ('<joint name="e" joint1="a" joint2="slide" polycoef="0 -1"/>', "e: it is not of two hinges, or of two slides"),
        ('<joint joint1="a" joint2="gone"/>', "a gone: gone is no hinge or slide"),
        ('<joint name="e" joint1="a" joint2="b" polycoef="0 -1" active="false"/>', "e: it is not active"),
        ('<joint name="e" joint2="b"/>', "e: it names no joint1"),
        ('<weld body1="left" body2="gone"/>', "left gone: it is not of two bodies that are there"),
        ('<connect name="e" site1="at_left" site2="at_tip"/>', "e: its sites are 0.311448 m apart, and bodies are tied"),
        ('<weld name="e" site1="at_left" site2="turned"/>', "e: its sites are 0.000000 m and 1.570796 rad apart, and"),
        ('<weld name="e" site1="at_left" site2="gone"/>', "e: it is not of two sites that are there"),
        ('<connect name="e" site1="at_left" site2="at_left"/>', "e: its sites do not move against each other"),
        ('<tendon name="e" tendon1="t"/>', "e: there is nothing like it"),
    ],
)
def test_what_is_not_taken_over_is_named_with_its_reason(tmp_path, equality, why):
    found = hand(tmp_path, equality)
    (told,) = [name for kind, names in found.left_out.items() if kind.startswith("equality") for name in names]
    assert told.startswith(why)
    assert len(found.scene.joints) == len(hand(tmp_path, "").scene.joints)


@pytest.mark.parametrize("tag", ["connect", "weld"])
def test_sites_that_lie_in_one_place_are_tied(tmp_path, tag):
    """As in MuJoCo, whose bodies swing alike; twin: untied they do not."""
    mujoco = pytest.importorskip("mujoco")
    found = hand(tmp_path, f'<{tag} name="e" site1="at_left" site2="meets"/>')
    assert not any(kind.startswith("equality") for kind in found.left_out)
    (tie,) = (joint for joint in found.scene.joints if joint.name == "e")
    assert {tie.a, tie.b} == {"left", "right"}
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    data = mujoco.MjData(model)
    world = found.scene.build()
    free = hand(tmp_path, "").scene.build()
    for one in (world, free):
        one.step(1000)
    mujoco.mj_step(model, data, nstep=1000)
    tips = data.body("left").xpos, data.body("right").xpos
    off = lambda one: max(np.abs(one[name].position - at).max() for name, at in zip(("left", "right"), tips, strict=True))  # noqa: E731
    turn = lambda one: abs(1 - abs(np.dot(one["left"].orientation, data.body("left").xquat)))  # noqa: E731
    assert off(world) < 1e-4
    assert turn(world) < 1e-6
    assert max(off(free), turn(free)) > 1e-4


def relative(position: np.ndarray, q: np.ndarray) -> str:
    return " ".join(repr(float(x)) for x in (*position, *q))


def test_a_weld_with_its_relative_pose(tmp_path):
    """Where the bodies stand so they are one, and fly as MuJoCo's do; elsewhere it is left out, with how far off it is."""
    mujoco = pytest.importorskip("mujoco")
    plain = mujoco.MjModel.from_xml_string(WELD.format(pose=""))
    data = mujoco.MjData(plain)
    mujoco.mj_forward(plain, data)
    back, quat, place = np.zeros(4), np.zeros(4), np.zeros(3)
    mujoco.mju_negQuat(back, data.body("one").xquat)
    mujoco.mju_mulQuat(quat, back, data.body("other").xquat)
    mujoco.mju_rotVecQuat(place, data.body("other").xpos - data.body("one").xpos, back)
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, quat)
    point = np.array((0.05, -0.02, 0.1))  # of the other body; the relative pose has its place
    pose = f'relpose="{relative(place + turn.reshape(3, 3) @ point, 2 * quat)}" anchor="0.05 -0.02 0.1"'
    found = read(tmp_path, WELD.format(pose=pose))
    assert not found.left_out
    found.scene.dt = 1 / 1000
    world = found.scene.build()
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    data = mujoco.MjData(model)
    for body, spin in (("one", (1.0, 2.0, 0.5)), ("other", (1.0, 2.0, 0.5))):
        world[body].angular_velocity = spin
        mujoco.mju_quat2Mat(turn, np.array(world[body].orientation))
        data.joint(model.body(body).jntadr[0]).qvel[3:] = turn.reshape(3, 3).T @ spin
    middle = np.average(world.positions, axis=0, weights=(1, 2))
    for body in ("one", "other"):
        velocity = np.cross((1.0, 2.0, 0.5), world[body].position - middle)
        world[body].velocity = velocity
        data.joint(model.body(body).jntadr[0]).qvel[:3] = velocity
    world.step(500)
    mujoco.mj_step(model, data, nstep=5000)
    for body in ("one", "other"):
        assert world[body].position == pytest.approx(data.body(body).xpos, abs=2e-3)
        off = 1 - abs(np.dot(world[body].orientation, data.body(body).xquat))
        assert off < 1e-5
    off = read(tmp_path, WELD.format(pose=f'relpose="{relative(place + (0, 0, 0.01), quat)}"'))
    assert off.left_out == {
        "equality weld": [
            "glue: its relpose is not how other stands, off by 0.010000 m and 0.000000 rad; bodies are welded as they stand"
        ]
    }
    assert off.scene.joints == []
    assert len(read(tmp_path, WELD.format(pose='relpose="1 2 3 0 0 0 0"')).scene.joints) == 1  # no quaternion: as they stand
