"""Models of other programs: what they say is what the scene has, against closed forms, MuJoCo's reading, and public models."""

from __future__ import annotations

import math
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from tumble.collision import Box, Capsule, Compound, HalfSpace, Sphere
from tumble.collision.errors import InputError
from tumble.scenarios.cli import parser
from tumble.scenarios.files.scene_files import load_scene
from tumble.scenarios.importing.models import load_model, matrix

MJCF = """
<mujoco model="things">
  <compiler angle="degree"/>
  <option gravity="0 0 -3.7" timestep="0.004" integrator="RK4"/>
  <default>
    <geom friction="0.6 0.002 0.0003" density="500"/>
    <default class="slick"><geom friction="0.1" rgba="1 0 0 1"/></default>
  </default>
  <worldbody>
    <light name="sun" pos="0 0 3"/>
    <geom name="floor" type="plane" size="5 5 .1" pos="0 0 0.5" euler="0 10 0"/>
    <body name="shelf" pos="1 0 1"><geom type="box" size="0.2 0.3 0.05" pos="0 0 0.1"/></body>
    <body name="dumbbell" pos="0 0 2" quat="0.5 0.5 0.5 0.5">
      <freejoint/>
      <geom type="sphere" size="0.1" pos="0.3 0 0" mass="2"/>
      <geom type="sphere" size="0.1" pos="-0.1 0 0" mass="2"/>
      <geom type="sphere" size="9" mass="0" contype="0" conaffinity="0"/>
      <body name="hat" pos="0.1 0 0.2"><geom type="box" size="0.05 0.05 0.05" class="slick" mass="1"/><site name="tip"/></body>
    </body>
    <body name="pill" pos="2 0 3" euler="90 0 0">
      <joint type="free"/>
      <geom name="tail" type="box" size="0.02 0.03 0.04" pos="0 -0.1 0" contype="0" conaffinity="0"/>
      <geom type="capsule" fromto="0 0 0  0 0.4 0" size="0.05" condim="6"/>
    </body>
    <body name="given" pos="3 0 3">
      <freejoint/>
      <inertial pos="0 0 0.1" mass="3" diaginertia="0.1 0.2 0.25" euler="0 0 90"/>
      <geom type="ellipsoid" size="0.3 0.2 0.1" class="slick"/>
    </body>
    <body name="arm" pos="5 0 1"><joint type="hinge" axis="0 1 0"/><geom type="sphere" size="0.1"/></body>
  </worldbody>
  <actuator><motor name="m" joint="j"/></actuator>
</mujoco>
"""

URDF = """
<robot name="cart">
  <material name="blue"><color rgba="0 0 0.8 1"/></material>
  <link name="base">
    <inertial><origin xyz="0 0 0.1"/><mass value="2"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
    <visual><geometry><box size="1 1 1"/></geometry><material name="blue"/></visual>
    <collision><origin xyz="0 0 0.1" rpy="0 0 1.5707963267948966"/><geometry><box size="0.4 0.2 0.1"/></geometry></collision>
    <contact><lateral_friction value="0.7"/><stiffness value="3"/></contact>
  </link>
  <link name="mast">
    <inertial><mass value="2"/><inertia ixx="0.2" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.01"/></inertial>
    <collision><geometry><cylinder radius="0.05" length="1"/></geometry></collision>
  </link>
  <link name="wheel">
    <inertial><mass value="0.5"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <joint name="weld" type="fixed"><parent link="base"/><child link="mast"/><origin xyz="0 0 0.5"/></joint>
  <joint name="axle" type="continuous"><parent link="base"/><child link="wheel"/></joint>
</robot>
"""


def write(tmp_path: Path, text: str, suffix: str) -> Path:
    path = tmp_path / f"model{suffix}"
    path.write_text(text)
    return path


def test_mjcf(tmp_path):
    found = load_model(write(tmp_path, MJCF, ".xml"))
    scene = found.scene
    body = {b.name: b for b in scene}
    assert list(body) == ["floor", "shelf", "dumbbell", "pill", "given", "arm"]
    (hinge,) = scene.joints
    assert (hinge.name, hinge.a, hinge.b, hinge.anchor, hinge.axis) == ("arm_joint", None, "arm", (5, 0, 1), (0, 1, 0))
    assert (scene.name, scene.gravity, scene.dt) == ("things", (0, 0, -3.7), 0.004)
    assert isinstance(body["floor"].shape, HalfSpace)
    tilt = math.radians(10)
    assert body["floor"].shape.normal == pytest.approx((math.sin(tilt), 0, math.cos(tilt)))
    assert body["floor"].shape.offset == pytest.approx(0.5 * math.cos(tilt))
    assert body["shelf"].kind == "static"
    assert body["shelf"].position == pytest.approx((1, 0, 1.1))
    assert body["shelf"].shape == Box((0.2, 0.3, 0.05))

    mass, center, inertia = body["dumbbell"].mass_properties()  # two balls of 2 kg and a cube of 1 kg, put together by hand
    assert mass == 5
    assert center == pytest.approx(((0.6 - 0.2 + 0.1) / 5, 0, 0.2 / 5))
    ball, cube = 0.4 * 2 * 0.01, 1 / 6 * 0.01
    assert inertia[1, 1] == pytest.approx(
        2 * ball + cube + sum(m * ((x - 0.1) ** 2 + (z - 0.04) ** 2) for m, x, z in ((2, 0.3, 0), (2, -0.1, 0), (1, 0.1, 0.2)))
    )
    assert isinstance(body["dumbbell"].shape, Compound)
    assert body["dumbbell"].orientation == pytest.approx((0.5, 0.5, 0.5, 0.5))
    assert body["dumbbell"].friction == 0.6

    pill = body["pill"]
    parts = pill.shape.parts
    assert parts[0][0] == Capsule(0.05, 0.2)
    assert parts[0][1].position == pytest.approx((0, 0.2, 0))
    assert matrix(parts[0][1].orientation)[:, 2] == pytest.approx((0, -1, 0), abs=1e-12)  # as MuJoCo has it
    tail = 0.04 * 0.06 * 0.08  # it only shows, and weighs
    assert pill.mass == pytest.approx(500 * (math.pi * (0.05**2 * 0.4 + 4 / 3 * 0.05**3) + tail))
    assert len(parts) == 1
    assert (pill.torsional_friction, pill.rolling_friction) == (0.002, 0.0003)
    assert matrix(pill.orientation)[:, 1] == pytest.approx((0, 0, 1), abs=1e-12)

    mass, center, inertia = body["given"].mass_properties()
    assert (mass, tuple(center)) == (3, (0, 0, 0.1))
    assert np.diag(inertia) == pytest.approx((0.2, 0.1, 0.25))
    assert (body["given"].friction, body["given"].color) == (0.1, (1, 0, 0))
    assert found.left_out == {
        "actuator motor": ["m"], "option": ["integrator=RK4"], "light": ["sun"], "geom that only shows": ["sphere", "tail"],
        "site": ["tip of hat"],
    }  # fmt: skip
    assert found.sites["tip"][0] == "dumbbell"
    assert found.sites["tip"][1].position == pytest.approx((0.1, 0, 0.2))
    assert found.lines()[0] == "geom that only shows (2): sphere, tail"


def test_urdf(tmp_path):
    found = load_model(write(tmp_path, URDF, ".urdf"))
    body, wheel = found.scene.bodies
    (axle,) = found.scene.joints
    assert (axle.a, axle.b, axle.axis, axle.limits) == ("base", "wheel", (1, 0, 0), None)
    assert wheel.mass == 0.5
    mass, center, inertia = body.mass_properties()
    assert (body.name, mass, body.friction, body.color) == ("base", 4, 0.7, (0, 0, 0.8))
    assert center == pytest.approx((0, 0, 0.3))
    assert np.diag(inertia) == pytest.approx((0.3 + 4 * 0.04, 0.3 + 4 * 0.04, 0.11))
    (box, place), (_, mast) = body.shape.parts
    assert box == Box((0.2, 0.1, 0.05))
    assert place.position == pytest.approx((0, 0, 0.1))
    assert matrix(place.orientation)[:, 0] == pytest.approx((0, 1, 0), abs=1e-12)
    assert mast.position == pytest.approx((0, 0, 0.5))
    assert found.left_out == {"contact": ["stiffness of base"]}


def test_inertia_that_no_body_has(tmp_path):
    """It is told, and its mean is taken; for one that is zero that of the shape, and without a shape it is refused."""
    text = """<robot name="r"><link name="arm"><inertial><mass value="2"/><inertia ixx="{}" iyy="{}" izz="{}"/></inertial>
      <collision><geometry><box size="1 1 1"/></geometry></collision></link>
      <transmission name="t"><joint name="none"/></transmission></robot>"""
    found = load_model(write(tmp_path, text.format(0.1, 0.1, 0.7), ".urdf"))
    assert np.diag(found.scene.bodies[0].mass_properties()[2]) == pytest.approx([0.3] * 3)
    assert found.left_out["inertia that no body can have, taken as the mean of its moments about all axes"] == ["arm"]
    fair = load_model(write(tmp_path, text.format(0.1, 0.1, 0.2), ".urdf"))
    assert fair.left_out == {"transmission": ["t"]}
    none = text.format(0, 0, 0)
    found = load_model(write(tmp_path, none, ".urdf"))
    assert np.diag(found.scene.bodies[0].mass_properties()[2]) == pytest.approx([1 / 3] * 3)
    assert found.left_out["inertia of zero, taken as that of its shape"] == ["arm"]
    with pytest.raises(InputError, match="link arm: inertia"):
        load_model(write(tmp_path, none.replace('<box size="1 1 1"/>', ""), ".urdf"))


LINK = (
    '<link name="{0}"><inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
FINGER = f"""<robot name="finger"><link name="base"/>{LINK.format("first")}{LINK.format("second")}
  <joint name="knuckle" type="continuous"><parent link="base"/><child link="first"/><axis xyz="0 1 0"/></joint>
  <joint name="tip" type="{{}}"><parent link="first"/><child link="second"/><origin xyz="0.5 0 0"/><axis xyz="0 {{}} 0"/>
    <limit lower="-9" upper="9"/><mimic joint="knuckle" {{}}/></joint></robot>"""


@pytest.mark.parametrize(("axis", "multiplier"), [(1, 1.0), (1, -0.5), (-1, 2.0)])
def test_what_mimics_a_joint_turns_with_it(tmp_path, axis, multiplier):
    """Twin: with the other sign of the axis it turns the other way in the world, and by as much against its own axis."""
    found = load_model(write(tmp_path, FINGER.format("revolute", axis, f'multiplier="{multiplier}"'), ".urdf"))
    assert not [kind for kind in found.left_out if "mimic" in kind]
    world = found.scene.build()
    knuckle, tip, _ = world.joints
    world.apply_impulse(world["first"], (0, 0, 1), (0.5, 0, 0))
    turned = 0.0
    for _ in range(12):
        world.step(10)
        assert tip.angle == pytest.approx(multiplier * knuckle.angle, abs=1e-9)
        turned = max(turned, abs(knuckle.angle))
    assert turned > 0.05


@pytest.mark.parametrize(
    ("kind", "said", "why"),
    [
        ("prismatic", "", "it is not of two hinges, or of two slides"),
        ("revolute", 'offset="0.1"', "its offset is 0.1, and joints are coupled as they stand"),
        ("revolute", 'multiplier="0.123456789"', "0.123457 is no ratio of two whole numbers of teeth up to 1000"),
    ],
)
def test_what_no_gear_can_mimic_is_told_with_its_reason(tmp_path, kind, said, why):
    found = load_model(write(tmp_path, FINGER.format(kind, 1, said), ".urdf"))
    assert found.left_out["joint mimic"] == [f"tip: {why}"]


def test_what_mimics_a_joint_beside_it_goes_with_it(tmp_path):
    """Two links on one base: hinges and slides the same way, by as much. Twin: fingers that close on each other are told of, and
    wheels about one axis that turn against each other."""
    mimic = '<mimic joint="i" multiplier="{}"/>'
    for kind, left in (
        ("continuous", "there are no wheels for it: center_b = [0.0, 0.0, 0.0]: must be off the axis of a"),
        ("prismatic", "slides are coupled where they go as far, the same way"),
    ):
        links = LINK.format("a"), LINK.format("b"), JOINT.format("i", kind, "base", "a", '<limit lower="-9" upper="9"/>')
        said = '<limit lower="-9" upper="9"/>' + mimic.format(1)
        found = load_model(write(tmp_path, robot(*links, JOINT.format("j", kind, "base", "b", said)), ".urdf"))
        assert "joint mimic" not in found.left_out
        world = found.scene.build()
        first, second, _ = world.joints
        world.apply_impulse(world["a"], (0.2, 0.3, 0.4), (0.5, 0, 0))
        world.step(60)
        assert abs(first.position) > 0.03
        assert second.position == pytest.approx(first.position, abs=1e-9)
        said = said.replace('multiplier="1"', 'multiplier="-1"')
        found = load_model(write(tmp_path, robot(*links, JOINT.format("j", kind, "base", "b", said)), ".urdf"))
        assert found.left_out["joint mimic"][0].startswith(f"j: {left}")


JOINT = '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/><axis xyz="0 1 0"/>{}</joint>'


def robot(*parts: str) -> str:
    return f'<robot name="r"><link name="base"/>{"".join(parts)}</robot>'


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        (
            (LINK.format("a"), LINK.format("b"), JOINT.format("i", "continuous", "base", "a", ""),
             JOINT.format("j", "continuous", "base", "b", ""), JOINT.format("k", "continuous", "a", "b", "")),
            "link = 'b': hangs on two joints, j and k",
        ),
        (
            (LINK.format("a"), LINK.format("b"), LINK.format("c"), JOINT.format("i", "continuous", "base", "a", ""),
             JOINT.format("j", "continuous", "c", "b", ""), JOINT.format("k", "continuous", "b", "c", "")),
            "link = 'b': hangs on itself, by joints j, k",
        ),
        ((LINK.format("a"), LINK.format("a")), "link = 'a': is the name of two"),
    ],
)  # fmt: skip
def test_links_make_a_tree(tmp_path, parts, why):
    with pytest.raises(InputError, match=why):
        load_model(write(tmp_path, robot(*parts), ".urdf"))


def test_what_joints_of_urdf_say_is_told(tmp_path):
    """Where nothing takes it over: limits and damping of joints of several coordinates, speeds, and efforts without a motor."""
    said = '<limit lower="-1" upper="1" effort="5" velocity="2"/><dynamics damping="3"/>'
    for kind, left in (
        ("planar", {
            "joint dynamics": ["damping=3 of j (planar)"],
            "joint limit": [f"{x} of j (planar)" for x in ("lower=-1", "upper=1", "effort=5", "velocity=2")],
        }),
        ("revolute", {"joint limit of speed": ["j"], "joint limit of effort, where there is no transmission": ["j"]}),
    ):  # fmt: skip
        found = load_model(write(tmp_path, robot(LINK.format("a"), JOINT.format("j", kind, "base", "a", said)), ".urdf"))
        del found.left_out["link with nothing that touches"]
        assert found.left_out == left
    text = robot(LINK.format("a"), JOINT.format("j", "continuous", "base", "a", '<mimic joint="jj"/>'))
    found = load_model(write(tmp_path, text, ".urdf"))
    assert found.left_out["joint mimic"] == ["j: there is no joint jj; did you mean j?"]


@pytest.mark.parametrize("name", ["cartpole.urdf", "a1/a1.urdf"])
def test_as_bullet_reads_it(name):
    """Masses, and mass matrices at random angles, of URDFs that Bullet ships; of other angles they are others."""
    bullet = pytest.importorskip("pybullet")
    path = Path(pytest.importorskip("pybullet_data").getDataPath()) / name
    mine = load_model(path).scene.build().mechanism()
    client = bullet.connect(bullet.DIRECT)
    try:
        robot = bullet.loadURDF(
            str(path), useFixedBase=True, flags=bullet.URDF_USE_INERTIA_FROM_FILE, physicsClientId=client
        )  # fmt: skip
        joints = [bullet.getJointInfo(robot, k, physicsClientId=client) for k in range(bullet.getNumJoints(robot, client))]
        names = [joint[1].decode() for joint in joints if joint[2] in (bullet.JOINT_REVOLUTE, bullet.JOINT_PRISMATIC)]
        first = mine.nq - len(names) - (mine.nv - len(names))  # of a free base: one number more than rates
        rows = [mine.names.index(joint) for joint in names]
        rng = np.random.default_rng(0)
        for _ in range(5):
            angles = 0.5 * rng.normal(size=len(names))
            known = np.array(bullet.calculateMassMatrix(robot, angles.tolist(), physicsClientId=client))
            q = mine.qpos.copy()
            q[np.array(rows) + first] = angles
            ours = mine.mass_matrix(q)[np.ix_(rows, rows)]
            assert np.abs(ours - known).max() < 1e-10 * np.abs(known).max()
            q[np.array(rows) + first] = angles + rng.normal(size=len(names))
            assert len(rows) < 3 or np.abs(mine.mass_matrix(q)[np.ix_(rows, rows)] - known).max() > 1e-4 * np.abs(known).max()
    finally:
        bullet.disconnect(client)


def test_model_without_mass_is_static(tmp_path):
    text = '<robot name="p"><link name="l"><collision><geometry><plane normal="0 0 1"/></geometry></collision></link></robot>'
    (body,) = load_model(write(tmp_path, text, ".urdf")).scene.bodies
    assert (body.kind, body.shape) == ("static", HalfSpace())


def test_verb_and_scene(tmp_path, capsys):
    """The command writes a scene file, lists what is left out, and the scene runs."""
    path = write(tmp_path, MJCF, ".xml")
    chosen = parser().parse_args(["import", str(path), "--out", str(tmp_path / "a.toml")])
    chosen.verb(chosen)
    out = capsys.readouterr().out
    assert "not taken over" in out
    assert "tip of hat" in out
    scene = load_scene(tmp_path / "a.toml")
    assert scene == load_model(path).scene
    world = scene.build()
    world.step(5)
    assert np.isfinite(world.positions).all()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("<a", "is not XML"),
        ("<sdf/>", "model = 'sdf': must be <mujoco> (MJCF) or <robot> (URDF)"),
        ("<mujoco/>", "worldbody = None: is missing"),
        (MJCF.replace('pos="0 0 2"', 'pos="0 0"'), "body dumbbell: pos = '0 0': must be 3 numbers"),
        (MJCF.replace('class="slick" mass', 'class="slik" mass'), "geom.class = 'slik': there is no such default"),
        (MJCF.replace('type="sphere" size="0.1" pos="0.3', 'type="box" size="0.1" pos="0.3'), "a box has 3 numbers"),
        (URDF.replace('child link="mast"', 'child link="mats"'), "joint weld = 'mats': there is no such link"),
    ],
)
def test_bad_models(tmp_path, text, says):
    with pytest.raises(InputError) as caught:
        load_model(write(tmp_path, text, ".xml"))
    assert says in str(caught.value)


def test_as_mujoco_reads_it(tmp_path):
    """Mass, centre of mass, principal moments and place of each body as MuJoCo's own compiler has them."""
    mujoco = pytest.importorskip("mujoco")
    path = write(tmp_path, MJCF.replace('<actuator><motor name="m" joint="j"/></actuator>', ""), ".xml")
    theirs = mujoco.MjModel.from_xml_path(str(path))
    for name in ("dumbbell", "pill", "given"):
        body = next(b for b in load_model(path).scene if b.name == name)
        mass, center, inertia = body.mass_properties()
        i = theirs.body(name).id
        j = theirs.body("hat").id if name == "dumbbell" else None
        assert theirs.body_subtreemass[i] == pytest.approx(mass)
        assert theirs.body_pos[i] == pytest.approx(body.position)
        assert theirs.body_quat[i] == pytest.approx(body.orientation)
        if j is None:
            assert theirs.body_ipos[i] == pytest.approx(center, abs=1e-12)
            assert sorted(theirs.body_inertia[i]) == pytest.approx(sorted(np.linalg.eigvalsh(inertia)), rel=1e-9)


@pytest.mark.parametrize(
    ("name", "mass", "center", "moments"),
    [
        ("ant", 0.4838802496628035, (0, 0, 0), (0.011120356980366829, 0.011120356980366829, 0.013585715499771955)),
        (
            "humanoid", 8.907462370478262, (-0.0025393839642605218, 0, 0.03466259111215608),
            (0.041119154937622936, 0.1540101405646644, 0.17324152504522794),
        ),
        (
            "humanoidstandup", 8.907462370478262, (-0.023489301669409816, 0, 0),
            (0.04104309636738743, 0.11289717159900425, 0.13220461464980388),
        ),
    ],
)  # fmt: skip
def test_gymnasium(name, mass, center, moments):
    """Public models that the package Gymnasium ships, against what MuJoCo 4.0.0 makes of the torso and what is welded to it."""
    import gymnasium

    found = load_model(Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / f"{name}.xml")
    floor, torso, *limbs = found.scene.bodies
    assert isinstance(floor.shape, HalfSpace)
    assert limbs
    got = torso.mass_properties()
    assert got[0] == pytest.approx(mass, rel=1e-12)
    assert got[1] == pytest.approx(center, abs=1e-12)
    assert np.linalg.eigvalsh(got[2]) == pytest.approx(moments, rel=1e-12)


def test_all_of_gymnasium():
    """Each loads and runs with all its joints, and a list of what is not in it.

    One lies 36 mm in its floor as it is shipped, with its arms in its hips: what pushes bodies apart is exact to first order of
    the way, so that joints open by its square, and close as the overlap goes.
    """
    import gymnasium

    files = sorted((Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets").glob("*.xml"))
    assert len(files) >= 12
    for file in files:
        found = load_model(file)
        assert found.left_out
        assert found.scene.joints
        assert not any("put together" in what for what in found.left_out)
        world = found.scene.build()
        world.step(2)
        assert (world.statistics()["depth"] > 1e-3) == (file.stem == "humanoidstandup")
        if file.stem == "humanoidstandup":
            assert world.statistics()["depth"] == pytest.approx(0.036, abs=1e-9)
            assert world.mechanism().closed() < 0.036**2
            world.step(70)
        assert world.mechanism().closed() < 1e-9


def test_a_total_mass_of_what_is_fixed(tmp_path):
    """There is nothing to scale: that is told, and is no error."""
    model = '<mujoco><compiler settotalmass="2"/><worldbody><body><geom size="0.1"/></body></worldbody></mujoco>'
    found = load_model(write(tmp_path, model, ".xml"))
    assert found.left_out["compiler"] == ["settotalmass=2: nothing moves"]
    assert [body.kind for body in found.scene.bodies] == ["static"]


INCLUDED = """
<mujoco>
  <compiler settotalmass="10" angle="degree"/>
  <default>
    <mesh scale="0.1 0.1 0.1"/>
    <default class="beam"><geom type="box" size="0.1" fromto="0 0 0 0.1 0.4 0.2"/></default>
  </default>
  <include file="parts/shared.xml"/>
  <worldbody>
    <include file="parts/floor.xml"/>
    <frame pos="0 0 1" euler="0 0 90">
      <body name="beam" pos="1 0 0"><freejoint/><geom class="beam"/></body>
    </frame>
    <replicate count="3" offset="0 0 0.5" euler="0 0 30">
      <body name="ball" pos="2 0 0"><freejoint/><geom size="0.1"/></body>
    </replicate>
    <body name="die" pos="0 3 1"><freejoint/><geom type="mesh" mesh="corner"/></body>
  </worldbody>
</mujoco>
"""


BODY = "<mujoco>{}<worldbody><body pos='{}'><freejoint/>{}</body></worldbody></mujoco>"
OVERFLOWS = {
    "inertia": BODY.format("", "0 0 0", "<inertial pos='1e308 0 0' mass='2' diaginertia='1e308 1e308 1e308'/><geom size='.1'/>"),
    "turned": BODY.format("", "0 0 0", "<inertial pos='0 0 0' quat='1 1 0 0' mass='2' diaginertia='1e308 1e308 1e308'/>"),
    "mass": BODY.format("", "0 1e308 0", "<geom size='.1' mass='1e308'/><geom size='.1' pos='1e308 0 0' mass='1e308'/>"),
    "density": BODY.format("", "0 0 0", "<geom type='box' size='1e200 1 1' density='1e200'/>"),
    "total": BODY.format("<compiler settotalmass='1e308'/>", "0 0 0", "<geom size='.1' mass='5e-324'/>"),
    "scale": BODY.format(
        "<asset><mesh name='a' vertex='0 0 0 1e308 0 0 0 1 0 0 0 1' scale='1e200 1 1'/></asset>", "0 0 0",
        "<geom type='mesh' mesh='a'/>",
    ),
    "axes": BODY.format("", "1e308 0 0", "<geom type='capsule' fromto='0 0 0 1e308 1e200 1e200' size='.1'/>"),
    "link": "<robot name='r'><link name='a'><inertial><origin xyz='1e308 0 0' rpy='1 2 3'/><mass value='1e308'/>"
    "<inertia ixx='1e308' iyy='1e308' izz='1e308' ixy='0' ixz='0' iyz='1e200'/></inertial></link></robot>",
}  # fmt: skip


@pytest.mark.parametrize("what", OVERFLOWS)
def test_overflows_are_told_once(what, tmp_path):
    """By one line of ours, and by no warning of NumPy."""
    file = write(tmp_path, OVERFLOWS[what], ".urdf" if what == "link" else ".xml")
    with warnings.catch_warnings(action="error"), pytest.raises(InputError, match=file.name):
        load_model(file)


@pytest.mark.parametrize(
    ("vertex", "face", "told"),
    [
        ("0 0 0 6 0 0 0 6 0 0 0 6", "0 2 1 0 1 3 0 3 2 1 2 3", None),
        ("2147483648", "0 2 1", "vertex = .*by threes"),
        ("0 0 0 6 0 0 0 6 0 0 0 6", "0 2 1 0 1", "face = .*by threes"),
        ("1 1 1", "0 2 1 0 1 3 0 3 2 1 2 3", "face = 2.0: must be the row of one of the 1 vertices"),
        ("0 0 0 6 0 0 0 6 0 0 0 6", "0 2 1 0 1 -3", "face = -3.0"),
        ("0 0 0 6 0 0 0 6 0 0 0 6", "0 2 1 0 1 2.5", "face = 2.5"),
    ],
)
def test_triangles_of_a_mesh_are_of_its_vertices(tmp_path, vertex, face, told):
    mesh = f'<mesh name="die" vertex="{vertex}" face="{face}"/>'
    text = f'<mujoco><asset>{mesh}</asset><worldbody><body><geom type="mesh" mesh="die"/></body></worldbody></mujoco>'
    file = write(tmp_path, text, ".xml")
    if told is None:
        assert len(load_model(file).scene) == 1
    else:
        with pytest.raises(InputError, match=told):
            load_model(file)


def test_includes_frames_and_replicas(tmp_path):
    """Against closed forms; the same as MuJoCo has it, by hand."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "floor.xml").write_text('<mujocoinclude><geom name="floor" type="plane" size="1 1 1"/></mujocoinclude>')
    (tmp_path / "parts" / "shared.xml").write_text(
        '<mujocoinclude><asset><mesh name="corner" vertex="0 0 0  6 0 0  0 6 0  0 0 6"/></asset></mujocoinclude>'
    )
    found = load_model(write(tmp_path, INCLUDED, ".xml"))
    body = {b.name: b for b in found.scene}
    assert list(body) == ["floor", "beam", "ball", "ball_2", "ball_3", "die"]
    assert body["beam"].position == pytest.approx((0, 1, 1), abs=1e-12)
    ((box, place),) = body["beam"].shape.parts
    assert box.half_extents == pytest.approx((0.1, 0.1, math.sqrt(0.21) / 2))
    assert place.orientation == pytest.approx((0.53083153, 0.82217381, -0.20554345, 0.0), abs=1e-8)  # MuJoCo's geom_quat
    for k, name in enumerate(("ball", "ball_2", "ball_3")):
        turn = math.radians(30 * k)
        assert body[name].position == pytest.approx((2 * math.cos(turn), 2 * math.sin(turn), 0.5 * k))
    assert sum(b.mass_properties()[0] for b in body.values() if b.kind == "dynamic") == pytest.approx(10)
    volumes = {"die": 0.6**3 / 6, "ball": 4 / 3 * math.pi * 1e-3}
    assert body["die"].mass / body["ball"].mass == pytest.approx(volumes["die"] / volumes["ball"])
    assert body["die"].center_of_mass == pytest.approx((0.15, 0.15, 0.15))
    assert found.left_out == {"mesh, taken as its convex hull": ["corner"]}
    (tmp_path / "parts" / "floor.xml").write_text('<mujocoinclude><include file="floor.xml"/></mujocoinclude>')
    with pytest.raises(InputError, match="include = 'floor.xml': includes itself"):
        load_model(tmp_path / "model.xml")
    (tmp_path / "parts" / "shared.xml").unlink()
    with pytest.raises(InputError, match="include = 'parts/shared.xml': there is no"):
        load_model(tmp_path / "model.xml")


def shell(tmp_path: Path, inertia: str) -> float:
    """Mass of a channel of 2 x 2 x 2 m with walls of 0.2 m, as a mesh in MuJoCo's own format."""
    import trimesh

    outline = [(-1, -1), (1, -1), (1, 1), (0.8, 1), (0.8, -0.8), (-0.8, -0.8), (-0.8, 1), (-1, 1)]
    ring = lambda z: [(x, y, z) for x, y in outline]  # noqa: E731
    lid = [(0, 1, 4), (0, 4, 5), (1, 2, 3), (1, 3, 4), (0, 5, 6), (0, 6, 7)]
    faces = [(a, c, b) for a, b, c in lid] + [tuple(8 + k for k in face) for face in lid]
    for i in range(8):
        j = (i + 1) % 8
        faces += [(i, j, 8 + j), (i, 8 + j, 8 + i)]
    mesh = trimesh.Trimesh(ring(-1) + ring(1), faces, process=False)
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(2.24)
    counts = np.array([16, 0, 0, len(faces)], "<i4")
    data = (counts, mesh.vertices.astype("<f4"), mesh.faces.astype("<i4"))
    (tmp_path / "channel.msh").write_bytes(b"".join(part.tobytes() for part in data))
    text = f"""<mujoco><asset><mesh file="channel.msh" inertia="{inertia}"/></asset><worldbody>
    <body><freejoint/><geom type="mesh" mesh="channel" density="1"/></body></worldbody></mujoco>"""
    found = load_model(write(tmp_path, text, ".xml"))
    (body,) = found.scene.bodies
    assert len(body.shape.vertices) == 8
    assert ("mesh that weighs more than what it encloses, as in MuJoCo" in found.left_out) == (inertia == "legacy")
    return body.mass


def test_mass_of_a_mesh(tmp_path):
    """Exact, of its hull, or as MuJoCo has it by default: too much, for pyramids from its middle overlap."""
    assert shell(tmp_path, "exact") == pytest.approx(2.24, rel=1e-6)
    assert shell(tmp_path, "convex") == pytest.approx(8, rel=1e-12)
    assert shell(tmp_path, "legacy") == pytest.approx(7.40478776, rel=1e-6)  # what MuJoCo 4.0.0 gives


def test_public_models():
    """Those that PyBullet ships: each loads, or says in one line why it can not, and builds a world."""
    data = pytest.importorskip("pybullet_data")
    folder = Path(data.getDataPath())
    named = ("cube.urdf", "sphere2.urdf", "jenga/jenga.urdf", "domino/domino.urdf", "plane.urdf", "block.urdf")
    files = [*folder.glob("mjcf/*.xml"), *(folder / name for name in named)]
    loaded, refused = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for file in files:
            try:
                found = load_model(file)
            except InputError as error:
                refused.append(str(error))
                continue
            found.scene.build().step(2)
            loaded.append(file.name)
    assert len(loaded) >= 20
    assert {Path(name).name for name in named} <= set(loaded)
    assert [text for text in refused if "holds no" not in text] == []


def test_spheres_roll_as_they_should(tmp_path):
    """An imported ball and floor: it falls, and lies at its radius."""
    text = """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
    <body pos="0 0 0.3"><freejoint/><geom type="sphere" size="0.1"/></body></worldbody></mujoco>"""
    found = load_model(write(tmp_path, text, ".xml"))
    assert found.left_out == {}
    assert isinstance(found.scene.bodies[1].shape, Sphere)
    world = found.scene.build()
    world.step(300)
    assert world.positions[1][2] == pytest.approx(0.1, abs=1e-9)
    assert "tumble.scenarios.importing.mjcf" in sys.modules
