"""What MJCF says of joints, actuators and what is around them, one model for each, against the path that MuJoCo takes."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tumble.scenarios.importing.models import load_model

CAPSULE = '<geom type="capsule" fromto="0 0 0 .4 0 -.1" size=".03"/>'
STIFF = '="0.001 1" solimp{0}=".9999 .9999 .001 .5 2"'
ARM = f'<body name="b" pos="0 0 1"><joint name="h" axis="0 1 0" {{}}/>{CAPSULE}</body>'
TWO = (
    f'<body name="b" pos="0 0 1"><joint name="h" axis="0 1 0"/>{CAPSULE}'
    f'<body name="c" pos=".4 0 -.1"><joint name="k" axis="0 1 0"/>{CAPSULE}</body></body>'
)
BAR = TWO.replace("</body></body>", f'<body name="e" pos=".4 0 -.1"><joint name="l" axis="0 1 0"/>{CAPSULE}</body></body></body>')
CLASSES = '<default><joint damping=".1"/><default class="k"><joint stiffness="3"/><motor gear="2"/></default></default>'
TENDON = '<tendon><fixed name="t" {}><joint joint="h" coef="1"/><joint joint="k" coef="-.5"/></fixed></tendon>'
FLIGHT, STEPS = 1e-8, 1e-5  # of what acts in flight (MuJoCo's RK4 itself is off by 5e-9), and at the steps, of order 2
SOFT = 1e-4  # by which what ties bodies gives way in MuJoCo; and what light links have along a tendon, at the steps


def on(joint: str) -> str:
    return f'<body name="b" pos="0 0 1">{joint}{CAPSULE}</body>'


def driven(actuator: str, arm: str = ARM.format("")) -> str:
    return f"{arm}|<actuator>{actuator}</actuator>"


# name: (bodies and what follows them, what makes the twin another, bound, control, velocities)
ROWS = {
    "hinge": (ARM.format(""), ('axis="0 1 0"', 'axis="0 1 .5"'), FLIGHT, None, None),
    "slide": (on('<joint name="h" type="slide" axis="1 0 1"/>'), ("1 0 1", "1 0 2"), FLIGHT, None, None),
    "ball": (on('<joint name="h" type="ball" pos="0 0 .1"/>'), ("0 0 .1", "0 0 0"), FLIGHT, None, (1, 2, 3)),
    "free": (on('<freejoint name="h"/>'), (".4 0 -.1", ".3 0 -.1"), FLIGHT, None, (1, 0, 2, 3, 2, 1)),
    "fixed": (
        ARM.format("").replace("</body>", '<body pos=".3 0 0" euler="0 57 0"><geom type="box" size=".1 .2 .05"/></body></body>'),
        (".3 0 0", ".2 0 0"), FLIGHT, None, None,
    ),
    "planar": (
        on('<joint type="slide" axis="1 0 0" name="x"/><joint type="slide" axis="0 0 1"/><joint axis="0 1 0" name="h"/>'),
        ("0 0 1", "0 0 -1"), FLIGHT, None, (1, 2, 3),
    ),
    "damping": (ARM.format('damping=".3"'), ('damping=".3"', ""), STEPS, None, None),
    "stiffness": (ARM.format('stiffness="4"'), ('"4"', '"3"'), FLIGHT, None, None),
    "springref": (ARM.format('stiffness="4" springref="30"'), ('springref="30"', ""), FLIGHT, None, None),
    "ref": (ARM.format('ref="40" stiffness="4" springref="30"'), ('ref="40"', 'ref="0"'), FLIGHT, None, None),
    "armature": (ARM.format('armature=".2"'), ('armature=".2"', ""), FLIGHT, None, None),
    "armature of a slide": (
        on('<joint name="h" type="slide" axis="0 0 1" armature="3" stiffness="300" damping="2"/>'),
        ('armature="3"', ""), FLIGHT, None, None,
    ),
    "frictionloss": (
        ARM.format('frictionloss=".4" solreffriction' + STIFF.format("friction")), ('frictionloss=".4"', ""), STEPS, None, None,
    ),
    "range": (
        ARM.format('limited="true" range="-12 12" solreflimit' + STIFF.format("limit")), ("-12 12", "-13 13"), STEPS, None, None,
    ),
    "motor and gear": (driven('<motor name="m" joint="h" gear="3"/>'), ('"3"', '"2"'), STEPS, 0.5, None),
    "ctrlrange": (driven('<motor name="m" joint="h" gear="3" ctrlrange="-.2 .2"/>'), ("-.2 .2", "-.6 .6"), STEPS, 0.5, None),
    "forcerange": (driven('<motor name="m" joint="h" gear="3" forcerange="-.2 .2"/>'), ("-.2 .2", "-.6 .6"), STEPS, 0.5, None),
    "position": (driven('<position name="m" joint="h" kp="9" gear="2"/>'), ('kp="9"', 'kp="8"'), FLIGHT, 0.5, None),
    "position and kv": (driven('<position name="m" joint="h" kp="9" kv="1"/>'), (' kv="1"', ""), STEPS, 0.5, None),
    "velocity": (driven('<velocity name="m" joint="h" kv="2"/>'), ('kv="2"', 'kv="1"'), STEPS, 1.0, None),
    "general, affine": (
        driven('<general name="m" joint="h" gainprm="4" biastype="affine" biasprm=".3 -4 -.5" gear="1.5"/>'),
        (".3 -4", "0 -4"), STEPS, 0.7, None,
    ),
    "defaults and classes": (
        CLASSES + "|" + driven('<motor class="k" name="m" joint="h"/>', ARM.format('class="k"')),
        ('stiffness="3"', ""), FLIGHT, 0.5, None,
    ),
    "childclass": (
        CLASSES + "|" + ARM.format("").replace("<body", '<body childclass="k"') + "|", ('childclass="k"', ""), FLIGHT, None, None,
    ),
    "motor of a fixed tendon": (
        TWO + "|" + TENDON.format("") + '<actuator><motor name="m" tendon="t" gear="2"/></actuator>',
        ("-.5", "-.4"), STEPS, 0.5, None,
    ),
    "spring of a fixed tendon": (TWO + "|" + TENDON.format('stiffness="5" damping=".2"'), ('damping=".2"', ""), SOFT, None, None),
    "connect": (
        BAR + '|<equality><connect body1="e" body2="world" anchor=".2 0 0" solref' + STIFF.format("") + "/></equality>",
        ('anchor=".2 0 0"', 'anchor=".3 0 0"'), SOFT, None, None,
    ),
    "medium": (
        '<option density="100" viscosity=".3" wind="1 0 0"/>|' + ARM.format("") + "|", ('density="100"', ""), FLIGHT, None, None,
    ),
}  # fmt: skip


def text(row: str) -> str:
    """The model of a row: bodies, or bodies and what follows them, or what goes before both too."""
    before, bodies, after = {0: ("", row, ""), 1: ("", *row.split("|")), 2: row.split("|")}[row.count("|")]
    return f"""<mujoco><option timestep="0.0005" integrator="RK4"><flag contact="disable"/></option>{before}
      <worldbody>{bodies}</worldbody>{after}</mujoco>"""


@pytest.mark.parametrize("name", ROWS)
def test_it_moves_as_in_mujoco(name, tmp_path):
    """For 0.3 s, in its own coordinates; twin: what the row is about is another, or is not there."""
    mujoco = pytest.importorskip("mujoco")
    row, (old, new), bound, control, speeds = ROWS[name]
    assert old in row
    path = tmp_path / "model.xml"
    path.write_text(text(row))
    data = mujoco.MjData(mujoco.MjModel.from_xml_path(str(path)))
    if control is not None:
        data.ctrl[:] = control
    if speeds is not None:
        data.qvel[:] = speeds

    def flown(model: str) -> np.ndarray:
        path.write_text(text(model))
        world = load_model(path).scene.build()
        mechanism = world.mechanism()
        if control is not None:
            world.controls[:] = np.array([control])
        if speeds is not None:
            mechanism.set(mechanism.qpos, np.array(speeds, float))
        world.step(600)
        return np.concatenate((mechanism.qpos, mechanism.qvel))

    mine = flown(row)
    for _ in range(600):
        mujoco.mj_step(data.model, data)
    known = np.concatenate((data.qpos, data.qvel))
    assert np.abs(mine - known).max() < bound
    assert np.abs(flown(row.replace(old, new)) - known).max() > 100 * bound


LEFT = """<mujoco model="much">
  <compiler angle="radian"/>
  <option integrator="implicit" cone="elliptic" impratio="3"><flag multiccd="enable" island="disable"/></option>
  <asset><hfield name="field" nrow="2" ncol="2" size="1 1 1 1" elevation="0 0 0 0"/></asset>
  <worldbody>
    <light name="lamp"/><camera name="eye"/>
    <body name="b" pos="0 0 1" gravcomp="0.5"><joint name="h" type="ball" damping="1" stiffness="2"/>
      <geom name="g" size=".1" fluidshape="ellipsoid"/>
      <site name="s"/>
      <body name="c" pos="0 0 1"><joint name="k" margin="0.1" actuatorfrcrange="-1 1" springdamper="1 1"/>
        <geom size=".1" solref="0.01 1"/></body></body>
    <body name="d" mocap="true"><geom size=".1"/></body>
    <flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1"/>
    <composite prefix="rope" type="cable" count="5 1 1"/>
    <attach model="other" body="it" prefix="x"/>
  </worldbody>
  <contact><pair name="p" geom1="g" geom2="gone"/><exclude name="ex" body1="b" body2="gone"/></contact>
  <tendon><spatial name="string"><site site="s"/></spatial></tendon>
  <equality><tendon name="et" tendon1="string"/><flex name="ef" flex="cloth"/></equality>
  <actuator><muscle name="mu" joint="k"/><damper name="da" joint="k" kv="1" ctrlrange="0 1"/>
    <adhesion name="ad" body="b" ctrlrange="0 1"/>
    <intvelocity name="iv" joint="k" actrange="-1 1"/><cylinder name="cy" joint="k"/><motor name="si" site="s"/>
    <plugin name="pl" joint="k"/>
    <general name="ge" joint="k" dyntype="filter" dynprm="1"/></actuator>
  <sensor><magnetometer name="north" site="s"/><rangefinder name="see" camera="eye"/>
    <user name="us" dim="1"/><plugin name="sp"/></sensor>
</mujoco>"""


def test_all_that_is_not_taken_over_is_named(tmp_path):
    """Each by the name that the file has for it; those that are taken over are not among them."""
    path = tmp_path / "model.xml"
    path.write_text(LEFT)
    found = load_model(path)
    told = " ".join(found.lines())
    for name in (
        "implicit", "elliptic", "impratio", "multiccd", "island", "gravcomp", "damping of h", "stiffness of h", "fluidshape",
        "margin", "actuatorfrcrange", "springdamper", "solref", "d", "cloth", "rope", "x", "p", "gone", "string", "et", "ef",
        "mu", "da", "ad", "iv", "cy", "si", "pl", "ge", "north", "see", "us", "sp",
    ):  # fmt: skip
        assert re.search(rf"\b{name}\b", told), name
    assert [joint.name for joint in found.scene.joints] == ["h", "k"]
