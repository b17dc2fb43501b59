"""URDF: robots of pybullet_data in joint coordinates, against MuJoCo's reading of the same files; what files leave open."""

from __future__ import annotations

import warnings
import xml.etree.ElementTree as xml
from pathlib import Path

import numpy as np
import pytest

from tests.collision.solids.test_mesh_files import boxes_of_one_object_each, bracket
from tumble.collision import HalfSpace, mass_properties
from tumble.collision.errors import InputError
from tumble.collision.solids import mesh_files
from tumble.scenarios.importing import urdf
from tumble.scenarios.importing.models import Imported, load_model

ROBOTS = (
    "a1/a1.urdf", "aliengo/aliengo.urdf", "cartpole.urdf", "franka_panda/panda.urdf", "kuka_iiwa/model.urdf",
    "kuka_iiwa/model_free_base.urdf", "laikago/laikago_toes_zup.urdf", "mini_cheetah/mini_cheetah.urdf", "pendulum5.urdf",
    "quadruped/minitaur.urdf", "quadruped/quadruped.urdf", "quadruped/spirit40.urdf", "quadruped/vision60.urdf", "r2d2.urdf",
    "racecar/racecar.urdf", "racecar/racecar_differential.urdf", "xarm/xarm6_robot.urdf", "xarm/xarm6_with_gripper.urdf",
)  # fmt: skip


def folder() -> Path:
    return Path(pytest.importorskip("pybullet_data").getDataPath())


@pytest.fixture
def without_meshes(monkeypatch):
    """Links that meshes would touch meet nothing: masses are given."""
    shape = urdf._shape

    def plain(out, path, link, geometry, meshes):
        meshed = geometry is not None and len(geometry) and geometry[0].tag == "mesh"
        return None if meshed else shape(out, path, link, geometry, meshes)

    monkeypatch.setattr(urdf, "_shape", plain)


def read(path: Path) -> Imported:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load_model(path)


def theirs(path: Path):
    """MuJoCo's model of the links and joints of a URDF alone; its root is fixed."""
    mujoco = pytest.importorskip("mujoco")
    root = xml.fromstring(path.read_text(encoding="utf-8").strip())
    for element in list(root):
        keep = {"link": ("inertial",), "joint": ("parent", "child", "origin", "axis", "limit", "dynamics")}.get(element.tag)
        if keep is None:
            root.remove(element)
        for child in list(element) if keep else ():
            if child.tag not in keep:
                element.remove(child)
    for inertia in root.iter("inertia"):
        possible(inertia)
    how = {"fusestatic": "false", "balanceinertia": "false", "boundmass": "0", "boundinertia": "0", "inertiafromgeom": "false"}
    settings = xml.Element("mujoco")
    settings.append(xml.Element("compiler", how))
    root.insert(0, settings)
    m = mujoco.MjModel.from_xml_string(xml.tostring(root, encoding="unicode"))
    bit = mujoco.mjtDisableBit
    m.opt.disableflags |= bit.mjDSBL_CONTACT | bit.mjDSBL_LIMIT | bit.mjDSBL_FRICTIONLOSS
    return mujoco, m, mujoco.MjData(m)


def possible(inertia: xml.Element) -> None:
    """One that no body can have, which MuJoCo refuses, becomes the mean of its moments about all axes."""
    ixx, iyy, izz, ixy, ixz, iyz = (float(inertia.get(key, 0)) for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"))
    moments = np.linalg.eigvalsh([(ixx, ixy, ixz), (ixy, iyy, iyz), (ixz, iyz, izz)])
    if 2.0 * moments[2] > moments.sum():
        inertia.attrib.update(dict.fromkeys(("ixx", "iyy", "izz"), repr(float(moments.mean()))))
        inertia.attrib.update(dict.fromkeys(("ixy", "ixz", "iyz"), "0"))


@pytest.mark.parametrize("name", ROBOTS)
def test_as_mujoco_has_it(name, without_meshes):
    """Mass matrix and bias forces of the joints, the base at rest, at 100 random states; accelerations where it is fixed.

    Twin: the state of one is another.
    """
    path = folder() / name
    mujoco, m, d = theirs(path)
    mine = read(path).scene.build().mechanism()
    base = 6 * (mine.nq - mine.nv)  # a free base has a quaternion
    joints = [mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_JOINT, k) for k in range(m.njnt)]
    order = [joints.index(joint) for joint in mine.names if joint in joints]
    assert len(order) == m.nv == mine.nv - base
    rng, full = np.random.default_rng(1), np.zeros((m.nv, m.nv))
    for _ in range(100):
        d.qpos[:], d.qvel[:] = rng.normal(size=m.nv), rng.normal(size=m.nv)
        mujoco.mj_forward(m, d)
        try:
            mujoco.mj_fullM(m, d, full)  # of MuJoCo 4
        except TypeError:
            mujoco.mj_fullM(m, full, d.qM)
        q, v = mine.qpos.copy(), np.zeros(mine.nv)
        q[mine.nq - m.nv :], v[base:] = d.qpos[order], d.qvel[order]
        matrix, bias = mine.mass_matrix(q)[base:, base:], mine.bias_forces(q, v)[base:]
        scale = np.abs(full).max() * np.abs(v).max() ** 2
        assert np.abs(matrix - full[np.ix_(order, order)]).max() < 1e-12 * np.abs(full).max()
        assert np.abs(bias - d.qfrc_bias[order]).max() < 1e-12 * max(scale, np.abs(bias).max())
        if base == 0:
            found = mine.accelerations(np.zeros(mine.nv), q, v)
            assert np.abs(found - d.qacc[order]).max() < 1e-11 * np.abs(found).max()
    if name == "a1/a1.urdf":
        q[-m.nv :] += 0.1
        assert np.abs(mine.mass_matrix(q)[base:, base:] - full[np.ix_(order, order)]).max() > 1e-6 * np.abs(full).max()


@pytest.mark.parametrize("name", ["mini_cheetah/mini_cheetah.urdf", "laikago/laikago_toes_zup_lores.urdf"])
def test_no_mesh_is_cut(name, monkeypatch):
    """That took ten minutes, and one and a half."""
    monkeypatch.setattr(mesh_files, "_cut", None)
    assert len(read(folder() / name).scene.bodies) >= 13


@pytest.mark.parametrize(
    "name", ["cartpole.urdf", "r2d2.urdf", "husky/husky.urdf", "quadruped/minitaur.urdf", "racecar/racecar.urdf"]
)
def test_it_falls_on_a_floor(name):
    """For a second: joints closed, the books whole, all solves done."""
    scene = read(folder() / name).scene
    scene.dt = 1 / 500
    scene.add(HalfSpace(offset=-1.0), kind="static", name="the floor", friction=0.8)
    world = scene.build()
    world.step(500)
    assert max(joint.error for joint in world.joints) < 1e-9
    assert world.ledger.closes
    assert world.statistics()["unsolved"] == 0


ROBOT = """
<?xml version="1.0" ?>
<robot name="r"><link name="base"><inertial><mass value="2"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="$(optenv SOME_XYZ 0.1 0 0)"/><geometry><box size="0.2 0.4 0.6"/></geometry></collision></link></robot>
\0"""


def test_what_files_leave_open_is_taken_as_most_programs_take_it(tmp_path):
    """A blank line before the declaration, a zero at the end, a variable of ROS with a default, an inertia of zero."""
    path = tmp_path / "r.urdf"
    path.write_text(ROBOT)
    found = load_model(path)
    assert found.left_out == {
        "optenv, taken as its default": ["SOME_XYZ"], "inertia of zero, taken as that of its shape": ["base"]
    }  # fmt: skip
    (body,) = found.scene.bodies
    assert np.diag(body.inertia) == pytest.approx([2 / 12 * (0.16 + 0.36), 2 / 12 * (0.04 + 0.36), 2 / 12 * (0.04 + 0.16)])
    path.write_text(ROBOT.replace("<robot", "\0<robot"))
    with pytest.raises(InputError, match="is not XML"):
        load_model(path)
    path.write_text(ROBOT.replace("0.1 0 0", "0.1, 0, 0"))
    with pytest.raises(InputError, match="r.urdf: link base: origin.xyz = '0.1, 0, 0': must be 3 numbers"):
        load_model(path)
    path.write_text(ROBOT.replace('<box size="0.2 0.4 0.6"/>', "<cone/>"))
    with pytest.raises(InputError, match="link base: inertia"):
        load_model(path)


LINK = """<robot name="r"><link name="base"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><mesh filename="{}" scale="{}"/></geometry></collision></link></robot>"""


def test_meshes_are_hulls_or_the_pieces_that_they_are_cut_into(tmp_path, monkeypatch):
    """Boxes that have an edge in common are no closed surface together; an angle is one, and not convex.

    Nothing is cut unless that is asked for, which takes minutes for a robot.
    """
    (tmp_path / "edge.obj").write_text(boxes_of_one_object_each((0, 0, 0), (1, 1, 0)))
    bracket().export(tmp_path / "angle.stl")

    def shape(file: str, scale: str = "1 1 1", **how) -> tuple:
        (tmp_path / "r.urdf").write_text(LINK.format(file, scale))
        found = load_model(tmp_path / "r.urdf", **how)
        return found.scene.bodies[0].shape, found.left_out

    pieces, left = shape("edge.obj", "1 2 -1")
    assert [np.ptp(part.vertices, axis=0).tolist() for part, _ in pieces.parts] == [[1, 2, 1], [1, 2, 1]]
    assert left == {}
    with monkeypatch.context() as m:
        m.setattr(mesh_files, "_cut", None)
        hull, left = shape("angle.stl")
    assert mass_properties(hull).volume == pytest.approx(3.5)
    assert left == {"mesh, taken as its convex hull": ["angle.stl of base"]}
    cut, left = shape("angle.stl", meshes="decompose")
    assert mass_properties(cut).volume == pytest.approx(3.0)
    assert len(cut.parts) > 1
    assert left == {}
    more, left = shape("edge.obj", "1 2 -1 7")
    assert [np.ptp(part.vertices, axis=0).tolist() for part, _ in more.parts] == [[1, 2, 1], [1, 2, 1]]
    assert left == {
        "mesh scale of more than three numbers, of which the first three count as in Bullet": ["1 2 -1 7: edge.obj of base"]
    }
    with pytest.raises(InputError, match=r"link base: mesh.scale = '1 2': must be 3 numbers"):
        shape("edge.obj", "1 2")
    with pytest.raises(InputError, match='meshes = \'cut\': must be "hull" or "decompose"'):
        shape("angle.stl", meshes="cut")
    (tmp_path / "m.xml").write_text("<mujoco/>")
    with pytest.raises(InputError, match="for MJCF"):
        load_model(tmp_path / "m.xml", meshes="decompose")


BLOCK = """<link name="{}"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0 0 {}"/><geometry><box size="1 1 1"/></geometry></collision></link>"""


@pytest.mark.parametrize(("height", "apart"), [(0.9, [("a", "b")]), (1.0, []), (1.2, [])])
def test_links_that_overlap_where_the_model_stands_do_not_meet(tmp_path, height, apart):
    """Told by name. Twins: what touches there, and what is apart, does."""
    (tmp_path / "two.urdf").write_text(f'<robot name="r">{BLOCK.format("a", 0)}{BLOCK.format("b", height)}</robot>')
    found = load_model(tmp_path / "two.urdf")
    assert found.scene.apart == apart
    assert found.left_out == ({"links that overlap where they stand, which do not meet": ["a and b"]} if apart else {})
