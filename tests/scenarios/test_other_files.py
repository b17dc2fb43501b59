"""Files that are named beside scenes: cameras of films, meshes and what they name, pictures of heights. One line, at once."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tumble.collision.errors import InputError
from tumble.collision.regular import regular
from tumble.collision.shapes.ground import HeightField
from tumble.collision.solids.mesh_files import read_mesh
from tumble.render.cameras.shots import parse
from tumble.scenarios.checks.converge import converge
from tumble.scenarios.importing.models import load_model

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
HERE = "position = [0, 0, 1]\ntarget = [0, 0, 0]\n"
MESH = (
    '<mujoco><asset><mesh name="m" file="{}"/></asset><worldbody><body><geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
)

GLTF = json.dumps(
    {
        "asset": {"version": "2.0"},
        "buffers": [{"uri": "a.bin", "byteLength": 36}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "nodes": [{"mesh": 0}],
        "scenes": [{"nodes": [0]}],
    }
)


@pytest.fixture(autouse=True)
def at_once():
    """Nothing waits for who writes into a pipe."""

    def late(*_: object) -> None:
        raise TimeoutError("it hangs")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(20)
    yield
    signal.alarm(0)


def endless(path: Path) -> None:
    with open(path, "wb") as file:
        file.truncate(10 << 30)


PLANT = {"pipe": os.mkfifo, "device": lambda path: path.symlink_to("/dev/zero"), "endless": endless}


@pytest.mark.parametrize("kind", PLANT)
def test_regular(kind, tmp_path):
    PLANT[kind](tmp_path / "a")
    with pytest.raises(OSError, match="is not a regular file|is larger than 1 MB"):
        regular(tmp_path / "a", 1_000_000)
    (tmp_path / "b").write_bytes(b"text")
    (tmp_path / "c").symlink_to(tmp_path / "b")
    assert regular(tmp_path / "c", 10) == b"text"
    with pytest.raises(OSError, match="is a link"):
        regular(tmp_path / "c", 10, links=False)


@pytest.mark.parametrize("kind", PLANT)
def test_cameras_models_and_heights_are_regular_files(kind, tmp_path):
    for name in ("a.toml", "a.msh", "a.png"):
        PLANT[kind](tmp_path / name)
    (tmp_path / "m.xml").write_text(MESH.format("a.msh"))
    with pytest.raises(InputError, match="is not a regular file|is larger than 20 MB"):
        parse(str(tmp_path / "a.toml"))
    with pytest.raises(InputError, match="is not a regular file|is larger than 500 MB|lies outside"):
        load_model(tmp_path / "m.xml")
    with pytest.raises(InputError, match="is no picture that can be read"):
        HeightField.load(tmp_path / "a.png")


@pytest.mark.parametrize("kind", PLANT)
def test_what_meshes_name_are_regular_files(kind, tmp_path):
    """The buffers of a glTF file, the materials of an OBJ file."""
    PLANT[kind](tmp_path / "a.bin")
    (tmp_path / "a.gltf").write_text(GLTF)
    with pytest.raises(InputError, match="can not be read: not a valid .gltf file|names a file outside"):
        read_mesh(tmp_path / "a.gltf")
    PLANT[kind](tmp_path / "a.mtl")
    (tmp_path / "a.obj").write_text("mtllib a.mtl\nusemtl b\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    assert len(read_mesh(tmp_path / "a.obj").faces) == 1  # colours are not needed


def test_what_a_mesh_names_is_read(tmp_path):
    """The same glTF file, with its buffer as it should be."""
    (tmp_path / "a.bin").write_bytes(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4").tobytes())
    (tmp_path / "a.gltf").write_text(GLTF)
    assert len(read_mesh(tmp_path / "a.gltf").faces) == 1


@pytest.mark.parametrize(
    "text",
    [
        "camera = 1",
        'camera = "time"',
        "camera = [[1], [2]]",
        'camera = ["time", "time"]',
        "camera = {}",
        "[camera]\nposition = [0, 0]\ntarget = [0, 0, 0]",
        '[camera]\nposition = "x"\ntarget = [0, 0, 0]',
        "[camera]\nposition = [nan, 0, 0]\ntarget = [0, 0, 0]",
        "[camera]\nposition = [0, 0, 0]\ntarget = [0, 0, 0]",
        "[camera]\nposition = [[1], [2], [3]]\ntarget = [0, 0, 0]",
        f"[camera]\n{HERE}fov_degrees = 180",
        f"[camera]\n{HERE}up = [1]",
        f"[[camera]]\ntime = nan\n{HERE}[[camera]]\ntime = 1\n{HERE}",
        f'[[camera]]\ntime = "a"\n{HERE}[[camera]]\ntime = 1\n{HERE}',
        "camera = " + "[" * 3000 + "]" * 3000,
        "camera = " + "9" * 5000,
        "\xff\x00",
    ],
    ids=lambda text: text[:24].encode("unicode_escape").decode(),
)
def test_odd_cameras(text, tmp_path):
    file = tmp_path / "camera.toml"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError):
        parse(str(file))


def test_odd_turns():
    for turns in ("nan", "inf", "x"):
        with pytest.raises(InputError):
            parse(f"orbit:{turns}")
    file = parse("orbit:0.5")
    assert file.turns == 0.5


def test_pictures_of_heights_that_burst(tmp_path, monkeypatch):
    """A picture of more pixels than Pillow makes room for, and one that is cut."""
    Image.new("L", (300, 300)).save(tmp_path / "a.png")
    assert HeightField.load(tmp_path / "a.png").heights.shape == (300, 300)
    data = (tmp_path / "a.png").read_bytes()
    (tmp_path / "b.png").write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match="is no picture"):
        HeightField.load(tmp_path / "b.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    with pytest.raises(InputError, match="is too large: at most 4096 samples along a side"):
        HeightField.load(tmp_path / "a.png")


@pytest.mark.parametrize("halvings", [40, 10**6, 10**400])
def test_steps_are_not_halved_for_ever(halvings):
    begun = time.process_time()
    with pytest.raises(InputError, match="makes steps below 1e-12 s"):
        converge("bouncing_ball", seconds=0.1, halvings=halvings)
    assert time.process_time() - begun < 5
