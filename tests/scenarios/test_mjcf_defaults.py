"""Defaults and what a file may say wrongly, against what MuJoCo makes of the same file."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tumble.collision.errors import InputError
from tumble.scenarios.cli import main
from tumble.scenarios.importing.models import load_model

ARM = '<body name="b"><joint name="h" axis="0 1 0"/><geom name="g" size=".1" pos=".3 0 0"/></body>'
DEFAULTS = (
    '<motor ctrlrange="-.1 .1"/>', '<general forcerange="-.2 .2" gear="4"/>', '<position kp="7" kv=".3"/>', '<velocity kv="5"/>',
    '<general biastype="affine" gainprm="3" biasprm="1 -2 -.5"/>',
    '<position kp="7" gear="3"/><motor forcerange="-1 1"/>',
    '<motor gear="2"/></default><default><position kp="2"/>',
    '<motor gear="2"/><default class="k"><general forcerange="-9 9"/></default>',
)  # fmt: skip
ACTUATORS = (
    '<motor joint="h"/>', '<position joint="h"/>', '<position joint="h" kp="30"/>', '<velocity joint="h"/>',
    '<general joint="h" gear="5"/>', '<velocity joint="h" kv="2" ctrlrange="-3 3"/>',
)  # fmt: skip


def model(bodies: str = ARM, before: str = "", after: str = "") -> str:
    return f"<mujoco>{before}<worldbody>{bodies}</worldbody>{after}</mujoco>"


def both(tmp_path, text: str):
    """(tumble's reading of a file, MuJoCo's)."""
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "model.xml"
    path.write_text(text)
    return load_model(path), mujoco.MjModel.from_xml_path(str(path))


@pytest.mark.parametrize(("defaults", "actuator"), product(DEFAULTS, ACTUATORS))
def test_all_actuators_of_a_class_have_one_set_of_defaults(tmp_path, defaults, actuator):
    """Whatever their tags. The twin is the same model without them: of most it is another actuator."""
    text = model(before=f"<default>{defaults}</default>", after=f"<actuator>{actuator}</actuator>")
    found, theirs = both(tmp_path, text)
    (ours,) = found.scene.actuators
    assert not found.left_out
    assert ours.gear == theirs.actuator_gear[0, 0]
    assert ours.gain == theirs.actuator_gainprm[0, 0]
    assert ours.bias == pytest.approx(tuple(theirs.actuator_biasprm[0, :3]))
    for range_, limited, its in (
        (ours.control_range, theirs.actuator_ctrllimited, theirs.actuator_ctrlrange),
        (ours.force_range, theirs.actuator_forcelimited, theirs.actuator_forcerange),
    ):
        assert range_ == (tuple(its[0]) if limited[0] else None)


def test_defaults_change_actuators(tmp_path):
    """The twin of the test before."""
    made = set()
    for defaults in DEFAULTS:
        found, _ = both(tmp_path, model(before=f"<default>{defaults}</default>", after=f"<actuator>{ACTUATORS[1]}</actuator>"))
        made.add(found.scene.actuators[0])
    assert len(made) == len(DEFAULTS)


def test_tendons_and_equalities_have_classes(tmp_path):
    classes = '<default><default class="q"><tendon stiffness="6" damping="2"/><equality active="false"/></default></default>'
    tendon = '<tendon><fixed name="t" class="q"><joint joint="h" coef="1"/></fixed></tendon>'
    lock = '<equality><joint name="e" class="q" joint1="h"/></equality>'
    found, theirs = both(tmp_path, model(before=classes, after=tendon + lock))
    assert found.scene.actuators[0].bias[1:] == (-theirs.tendon_stiffness[0], -theirs.tendon_damping[0])
    assert not theirs.eq_active0[0]
    assert [joint.name for joint in found.scene.joints] == ["h"]
    assert found.left_out == {"equality joint": ["e: it is not active"]}


def test_a_pair_has_friction_of_its_own(tmp_path):
    """MuJoCo's default, whatever the geoms have."""
    crates = "".join(
        f'<body name="{name}" pos="0 0 {z}"><freejoint/><geom name="{name}" type="box" size=".1 .1 .1" friction=".05"/></body>'
        for name, z in (("a", 0.1), ("b", 0.3))
    )
    for said, slide in (("", 1.0), (' friction=".3"', 0.3)):
        found, theirs = both(tmp_path, model(crates, after=f'<contact><pair geom1="a" geom2="b"{said}/></contact>'))
        assert theirs.pair_friction[0, 0] == slide
        assert found.scene.pairs[0]["friction"] == slide


@pytest.mark.parametrize("kind", ["box", "sphere", "capsule", "cylinder", "ellipsoid"])
def test_shapes_fitted_to_a_mesh(tmp_path, kind):
    """By its inertia, as MuJoCo does it, whose vertices are in single precision."""
    asset = '<asset><mesh name="m" vertex="0 0 0 1 0 0 0 .5 0 0 0 .3 .2 .1 .5"/></asset>'
    body = f'<body name="b" pos="1 2 3"><freejoint/><geom type="{kind}" mesh="m" pos=".1 .2 .3" euler="10 20 30"/></body>'
    found, theirs = both(tmp_path, model(body, before=asset))
    mass, center, inertia = found.scene.bodies[0].mass_properties()
    assert mass == pytest.approx(theirs.body_mass[1], rel=1e-6)
    assert center == pytest.approx(theirs.body_ipos[1], rel=1e-6)
    assert np.linalg.eigvalsh(inertia)[::-1] == pytest.approx(theirs.body_inertia[1], rel=1e-6)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (model(ARM.replace('name="h"', 'name="h" type="scre"')), "joint h: type = 'scre': must be one of hinge, slide"),
        (model(ARM + ARM.replace('"h"', '"k"').replace('"g"', '"f"')), "body = 'b': is the name of two"),
        (model(ARM + ARM.replace('"b"', '"c"').replace('"g"', '"f"')), "joint = 'h': is the name of two"),
        (model(after='<keyframe><key name="home" qpos=".3 1"/></keyframe>'), "key home: qpos = '.3 1': must be 1 number"),
        (model(after='<keyframe><key name="home" ctrl=".3"/></keyframe>'), "key home: ctrl = '.3': must be 0 numbers"),
        (
            model(
                '<geom name="g" type="mesh" mesh="m"/>', before='<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 1 1 0"/></asset>'
            ),
            "mesh m: vertices = '4 points': are flat",
        ),
        (
            model(
                '<geom name="g" type="mesh" mesh="mm"/>',
                before='<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>',
            ),
            "geom g: mesh = 'mm': there is none of this name; did you mean m?",
        ),
        (
            model(
                '<geom type="hfield" hfield="f"/>', before='<asset><hfield name="f" nrow="2" ncol="2" size="1 0 1 1"/></asset>'
            ),
            r"hfield f: hfield.size = \[1.0, 0.0, 1.0, 1.0\]",
        ),
    ],
)
def test_what_is_wrong_is_told_of_its_element(tmp_path, text, why):
    """What MuJoCo refuses as well."""
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "model.xml"
    path.write_text(text)
    with pytest.raises(ValueError, match=r".") as error:
        mujoco.MjModel.from_xml_path(str(path))
    assert not isinstance(error.value, InputError)
    with pytest.raises(InputError, match=why):
        load_model(path)


def test_import_tells_of_keyframes(tmp_path, capsys):
    path = tmp_path / "model.xml"
    path.write_text(model(after='<keyframe><key name="home" qpos=".3" mpos="1 2 3"/></keyframe>'))
    main(["import", str(path), "--out", str(tmp_path / "scene.toml")])
    told = capsys.readouterr().out
    assert "keyframes, which scene files have no place for: home" in told
    assert "key: mpos=1 2 3 of home" in told
