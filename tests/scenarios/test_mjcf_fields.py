"""Height fields of MJCF: the ground that MuJoCo makes of the same file, by rays; and what is refused."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from tumble.collision import HeightField, InputError, TriangleMesh
from tumble.scenarios import load_model

MODEL = """<mujoco><asset>{asset}</asset><worldbody>
<geom name="hills" type="hfield" hfield="hills" pos="0.3 -0.2 0.1" euler="0 0 30" friction="0.7"/>
<body name="ball" pos="0.3 -0.2 3"><freejoint/><geom type="sphere" size="0.1"/></body>
</worldbody></mujoco>"""
ROUGH = np.random.default_rng(7).uniform(size=(9, 13))


def written(folder, kind: str, size: str) -> str:
    """A model whose heights are given in one of three ways."""
    if kind == "numbers":
        said = f'nrow="9" ncol="13" elevation="{" ".join(map(str, ROUGH.ravel().tolist()))}"'
    elif kind == "picture":
        from PIL import Image

        Image.fromarray(np.round(255 * ROUGH).astype(np.uint8)).save(folder / "rough.png")
        said = 'file="rough.png"'
    else:
        (folder / "rough.hf").write_bytes(struct.pack("<ii", 9, 13) + ROUGH.astype("<f4").tobytes())
        said = 'file="rough.hf"'
    (folder / "model.xml").write_text(MODEL.format(asset=f'<hfield name="hills" {said} size="{size}"/>'))
    return str(folder / "model.xml")


@pytest.mark.parametrize("kind", ["numbers", "picture", "file"])
@pytest.mark.parametrize(("size", "made"), [("3 2 0.5 0.1", HeightField), ("3 1.5 0.5 0.1", TriangleMesh)])
def test_rays_meet_the_ground_where_they_do_in_mujoco(tmp_path, kind, size, made):
    mujoco = pytest.importorskip("mujoco")
    path = written(tmp_path, kind, size)
    found = load_model(path)
    assert not found.left_out
    ground = found.scene.bodies[0]
    assert isinstance(ground.shape, made)
    assert ground.friction == 0.7
    world = found.scene.build()
    model = mujoco.MjModel.from_xml_path(path)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    rng, hit = np.random.default_rng(8), 0
    for _ in range(200):
        origin = np.array((*rng.uniform(-2.5, 2.5, 2), 2.0))
        down = np.array((*rng.uniform(-0.2, 0.2, 2), -1.0))
        theirs = mujoco.mj_ray(model, data, origin, down, None, 1, 1, np.zeros(1, np.int32), None)
        ours = world.ray_cast(origin, down, ignore=[world["ball"]])
        if ours is None or theirs < 0:  # MuJoCo's field has sides, down to its base
            continue
        point = origin + theirs * down
        if point[2] > 0.1 + 1e-9:
            assert ours.distance / np.linalg.norm(down) == pytest.approx(theirs, abs=2e-6)  # its heights are in single precision
            hit += 1
    assert hit > 80
    world.step(480)
    assert 0.1 < world["ball"].position[2] < 0.8  # it lies on it


def test_rows_are_counted_from_the_side_of_the_format(tmp_path):
    """Pictures and numbers begin at the largest y, MuJoCo's own files at the least."""
    of = {kind: load_model(written(tmp_path, kind, "3 2 1 0.1")).scene.bodies[0].shape.heights for kind in ("numbers", "file")}
    assert of["numbers"] == pytest.approx(of["file"][:, ::-1], abs=1e-6)
    assert np.abs(of["numbers"] - of["file"]).max() > 0.1
    assert of["file"].min() == 0.0
    assert of["file"].max() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("asset", "says"),
    [
        ('<hfield name="hill" nrow="2" ncol="2" size="1 1 1 1"/>', "geom hills: hfield = 'hills': there is none of this name"),
        ('<hfield name="hills" nrow="1" ncol="2" size="1 1 1 1"/>', "hfield.nrow = '1 x 2': must be from 2 x 2 to 4096 x 4096"),
        ('<hfield name="hills" nrow="2" ncol="2" size="1 1 1 1" elevation="1 2 3"/>', "must be 4 numbers, 2 rows of 2"),
        ('<hfield name="hills" nrow="2" ncol="2" size="1 -1 1 1"/>', "hfield.size = [1.0, -1.0, 1.0, 1.0]: must be four"),
        ('<hfield name="hills" file="none.png" size="1 1 1 1"/>', "there is no such file"),
        ('<hfield name="hills" file="model.xml" size="1 1 1 1"/>', "neither a .png nor a file of heights of MuJoCo's"),
        ('<hfield name="hills" nrow="2" ncol="2" size="1 1 1 1" elevation="1 2 3 nan"/>', "must be finite numbers"),
    ],
)  # fmt: skip
def test_what_is_no_field_is_named(tmp_path, asset, says):
    (tmp_path / "model.xml").write_text(MODEL.format(asset=asset))
    with pytest.raises(InputError) as error:
        load_model(tmp_path / "model.xml")
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_a_field_on_a_free_body_is_left_out(tmp_path):
    text = MODEL.format(asset='<hfield name="hills" nrow="2" ncol="2" size="1 1 1 1"/>')
    (tmp_path / "model.xml").write_text(
        text.replace('<geom type="sphere" size="0.1"/>', '<geom size="0.1"/><geom hfield="hills"/>')
    )
    found = load_model(tmp_path / "model.xml")
    assert found.left_out["height field of a free body"] == ["ball"]
    assert len(found.scene) == 2
