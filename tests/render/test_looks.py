"""Finishes, meshes that are only drawn, hidden sky, soft shadows and summed-up light, by what they do to pixels."""

from __future__ import annotations

import base64
import json
import struct

import numpy as np
import pytest

from tests.render.known_flights import frame_of
from tumble.collision.errors import InputError
from tumble.collision.shapes.definitions import Box, HalfSpace, Sphere
from tumble.collision.shapes.ground import HeightField, TriangleMesh
from tumble.render import export, look, picture
from tumble.render.camera import Camera
from tumble.render.errors import RendererWarning
from tumble.render.frames.recorded import RunFrames
from tumble.render.look import (
    HORIZON,
    HORIZON_LIGHT,
    NADIR,
    NADIR_LIGHT,
    PRESETS,
    SUN,
    SUN_SIZE,
    ZENITH,
    ZENITH_LIGHT,
    Preset,
    display,
)
from tumble.render.meshes.ground_surface import thinned
from tumble.render.meshes.relief import band_height, tint
from tumble.render.meshes.visuals import skins_of
from tumble.render.opengl.context import open_renderer
from tumble.render.opengl.gather import lights
from tumble.render.web.replay import replay
from tumble.scenarios.files.scene_files import load_scene, scene_to_toml
from tumble.sim import Visual, World
from tumble.sim.scene.scene import Scene
from tumble.sim.scene.visual import FINISHES

SIZE = (320, 180)
CAMERA = Camera((0.0, -2.2, 0.9), (0.0, 0.0, 0.25))


@pytest.fixture(autouse=True)
def _egl(gl, monkeypatch):
    monkeypatch.setenv("TUMBLE_RENDERER", "egl")


def draw(scene, camera=CAMERA, preset="default", **more):
    with open_renderer(SIZE, preset) as renderer:
        return renderer.draw(frame_of(scene), camera, (), **more)[..., :3].astype(int)


def on_floor(*bodies) -> Scene:
    scene = Scene()
    scene.add(HalfSpace(), kind="static")
    for shape, fields in bodies:
        scene.add(shape, **fields)
    return scene


def pixel(image, point, camera=CAMERA):
    x, y = camera.project(np.array([point]), SIZE)[0][0].astype(int)
    return image[y, x]


def textured(path):
    """A square plate in the x-z plane: its left half red, its right half green; upside down where the rows are mixed up."""
    (path / "skin.mtl").write_text("newmtl skin\nmap_Kd skin.png\n")
    corners = "v -0.4 0 -0.4\nv 0.4 0 -0.4\nv 0.4 0 0.4\nv -0.4 0 0.4\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
    (path / "plate.obj").write_text(f"mtllib skin.mtl\nusemtl skin\n{corners}f 1/1 2/2 3/3\nf 1/1 3/3 4/4\n")
    from PIL import Image

    pixels = np.zeros((64, 64, 3), np.uint8)
    pixels[:, :32, 0], pixels[:, 32:, 1] = 255, 255
    pixels[:16] = (0, 0, 255)  # a blue band above
    Image.fromarray(pixels).save(path / "skin.png")
    return path / "plate.obj"


@pytest.mark.parametrize("preset", ["default", "best"])
def test_finishes_differ_and_glass_shows_what_is_behind(preset):
    stripe = (Box((0.03, 0.03, 0.3)), {"position": (0, 0.6, 0.3), "color": "red"})
    ball = lambda finish: (Sphere(0.25), {"position": (0, 0, 0.25), "color": "#909090", "finish": finish})  # noqa: E731
    seen = {finish: draw(on_floor(stripe, ball(finish)), preset=preset) for finish in FINISHES}
    images = list(seen.values())
    for k, one in enumerate(images):
        for other in images[:k]:
            assert (np.abs(one - other).max(axis=2) > 6).sum() > 200
    around = {finish: image[60:130, 130:190].reshape(-1, 3) for finish, image in seen.items()}
    red = {finish: int(((p[:, 0] - p[:, 1]) > 60).sum()) for finish, p in around.items()}
    assert red["glass"] > 20
    assert max(red[finish] for finish in FINISHES if finish != "glass") < 0.3 * red["glass"]
    bright = {finish: np.sort(image[62:110, 140:180].sum(axis=2), axis=None)[-30:].mean() for finish, image in seen.items()}
    assert bright["metal"] > bright["plain"] > bright["matte"]  # the sun is mirrored


def test_a_finish_is_known_and_kept(tmp_path):
    with pytest.raises(InputError, match="finish.*plain, matte, metal, rubber, glass"):
        World().add(Sphere(0.1), finish="shiny")
    scene = Scene()
    scene.set_material("steel", density=7800.0, finish="metal")
    scene.add(Sphere(0.1), material="steel")
    scene.add(Sphere(0.1), material="steel", finish="matte", position=(1, 0, 0))
    assert [body.finish for body in scene] == ["metal", "matte"]
    (tmp_path / "a.toml").write_text(scene_to_toml(scene))
    assert [body.finish for body in load_scene(tmp_path / "a.toml")] == ["metal", "matte"]


def waves(finish: str) -> Scene:
    """Ground that rises from -0.5 m on the left to 0.5 m on the right, in 40 steps."""
    scene = Scene()
    scene.add(HeightField(np.tile(np.linspace(-0.5, 0.5, 41)[:, None], 31), 0.05), kind="static", finish=finish, color="#909090")
    return scene


@pytest.mark.parametrize("renderer", ["egl", "painter"])
def test_relief_colors_ground_by_height(renderer, monkeypatch):
    """Green below, sand in the middle, stone on top; twin: without it the slope has one colour."""
    monkeypatch.setenv("TUMBLE_RENDERER", renderer)
    camera = Camera((0.0, -0.01, 4.0), (0.0, 0.0, 0.0))
    low, middle, high = (pixel(draw(waves("relief"), camera), (x, 0.0, 0.5 * x), camera) for x in (-0.95, 0.0, 0.95))
    assert low[1] > low[0] + 10 > low[2]  # green
    assert middle[0] > middle[2] + 40  # sand
    assert np.ptp(high) < 40 < high.min()  # grey
    plain = draw(waves("plain"), camera)
    shades = np.array([pixel(plain, (x, 0.0, 0.5 * x), camera) for x in (-0.95, 0.0, 0.95)])
    assert np.ptp(shades, axis=0).max() < 25


def test_relief_is_of_ground_alone(tmp_path):
    with pytest.raises(InputError, match="finish = 'relief': is for ground, a TriangleMesh or a HeightField"):
        World().add(Sphere(0.1), finish="relief")
    scene = waves("relief")
    (tmp_path / "a.toml").write_text(scene_to_toml(scene))
    assert load_scene(tmp_path / "a.toml").bodies[0].finish == "relief"


def test_bands_of_height_are_round_numbers():
    assert [band_height(span) for span in (1.0, 0.1, 7.0, 2400.0, 0.0)] == pytest.approx([0.1, 0.01, 1.0, 200.0, 1.0])
    heights = np.linspace(0.0, 1.2, 1201)
    steps = np.abs(np.diff(tint(heights, 0.0, 1.2), axis=0)).max(axis=1)
    assert heights[1:][steps > 0.02] == pytest.approx(0.1 * np.arange(1, 12), abs=1.1e-3)


def test_relief_in_gltf(tmp_path):
    world = waves("relief").build()
    made = gltf_of(export(world.run(seconds=0.02), tmp_path / "a.glb"))
    assert len(made["images"]) == 1
    import trimesh

    (ground,) = trimesh.load_scene(tmp_path / "a.glb").geometry.values()
    picture = np.asarray(ground.visual.material.baseColorTexture.convert("RGB")).astype(int)
    for vertex, (_, v) in zip(ground.vertices, ground.visual.uv, strict=True):
        shown = picture[round((1 - v) * len(picture) - 0.5), 0]
        assert np.abs(shown - 255 * tint(vertex[2:], -0.5, 0.5)[0]).max() < 14  # of y or z: a band of 5 %


def test_relief_in_the_replay_of_a_page():
    """Each corner has the colour of its height; twin: without the finish all have one tone, and the body its colour."""
    made, plain = (data_of_replay(finish) for finish in ("relief", "plain"))
    assert (made["bodies"][0]["color"], plain["bodies"][0]["color"]) == ("#ffffff", "#909090")
    points, colors = (floats_of(made["meshes"][0][key]).reshape(-1, 3) for key in ("points", "colors"))
    heights = np.linspace(-0.5, 0.5, 41)[np.round(40 * (points[:, 2] + 0.5)).astype(int)]  # to the last bit: bands begin there
    assert np.abs(colors - look.linear(tint(heights, -0.5, 0.5))).max() < 1e-6
    assert np.ptp(colors, axis=0).min() > 0.2
    assert "tones" not in made["meshes"][0]
    assert set(floats_of(plain["meshes"][0]["tones"])) == {1.0}
    assert "colors" not in plain["meshes"][0]


def test_a_page_draws_a_part_of_a_large_field_and_says_so(monkeypatch):
    """With its rims, and off by no more than is said. Twin: where all samples are drawn, nothing is said."""
    x = np.linspace(-3.0, 3.0, 41)
    field = HeightField(np.sin(x)[:, None] + 0.1 * np.cos(2 * np.linspace(-1.0, 1.0, 31)), 0.05)
    vertices, triangles, kept, off = thinned(field, 300)
    assert (kept[0] * kept[1] == len(vertices) <= 300, len(triangles)) == (True, 2 * (kept[0] - 1) * (kept[1] - 1))
    assert np.ptp(vertices, axis=0)[:2] == pytest.approx(np.ptp(field.surface()[0], axis=0)[:2])
    mesh = TriangleMesh(vertices, triangles)
    apart = np.abs(mesh.signed_distances(field.surface()[0]).distance).max()
    assert 0.5 * off < apart < off * (1 + 1e-9)  # the nearest place is not the one along z
    assert thinned(field)[3] == 0.0
    monkeypatch.setattr("tumble.render.web.replay.thinned", lambda field: thinned(field, 300))
    monkeypatch.setattr("tumble.render.web.replay.MOST_SAMPLES", 300)
    drawn = data_of_replay("relief")
    assert len(floats_of(drawn["meshes"][0]["points"])) == len(floats_of(drawn["meshes"][0]["colors"])) < 9 * 2 * 300
    (note,) = drawn["notes"]
    assert note.startswith("This replay draws 19 x 15 of the 41 x 31 heights of the ground: it is off by up to ")
    monkeypatch.undo()
    assert data_of_replay("relief")["notes"] == []


def data_of_replay(finish: str) -> dict:
    frames = RunFrames(waves(finish).build().run(seconds=0.02))
    return replay(frames, Camera((0.0, -0.01, 4.0), (0.0, 0.0, 0.0)))


def floats_of(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), "<f4")


def test_a_visual_is_drawn_in_place_of_what_collides(tmp_path):
    scene = Scene()
    scene.add(Sphere(0.1), visual=textured(tmp_path), color="white")
    image = draw(scene, Camera((0.0, -2.2, 0.0), (0.0, 0.0, 0.0)))
    left, right, above = image[110, 130], image[110, 190], image[50, 130]
    assert left[0] > left[1] + 60
    assert right[1] > right[0] + 60
    assert above[2] > above[0] + 60
    moved = Scene()
    moved.add(Sphere(0.1), visual=Visual(tmp_path / "plate.obj", position=(0, 0, 5.0)))
    assert (np.abs(draw(moved, Camera((0.0, -2.2, 0.0), (0.0, 0.0, 0.0))) - draw(Scene())).max() < 250).all()
    assert Scene.from_dict(json.loads(json.dumps(scene.to_dict()))).bodies[0].visual == scene.bodies[0].visual


def test_a_visual_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="visual.*no such file"):
        World().add(Sphere(0.1), visual="none.glb")
    with pytest.raises(InputError, match="visual.*must end in"):
        World().add(Sphere(0.1), visual="none.txt")
    (tmp_path / "a.toml").write_text('[[body]]\nshape = { type = "sphere", radius = 1 }\nvisual = "b.obj"\n')
    with pytest.raises(InputError, match=r"visual.file.*b.obj"):
        load_scene(tmp_path / "a.toml")
    file = textured(tmp_path)
    (tmp_path / "a.toml").write_text(
        '[[body]]\nshape = { type = "sphere", radius = 1 }\nvisual = { file = "plate.obj", scale = 2 }\n'
    )
    scene = load_scene(tmp_path / "a.toml")
    assert scene.bodies[0].visual.scale == 2
    data = scene.to_dict()
    file.unlink()
    skins_of.cache_clear()
    with pytest.warns(RendererWarning, match="plate.obj"):  # a recording is read without it, and shows the shape
        image = draw(Scene.from_dict(data))
    assert (np.abs(image - draw(Scene())).max(axis=2) > 24).sum() > 1000


def test_bodies_hide_the_sky_from_the_floor_and_from_each_other(monkeypatch):
    """On the sunny side of a box there is no shadow: what is darker there is the sky's. None of it far away, none in `fast`."""
    box = (Box((0.3, 0.3, 0.3)), {"position": (0, 0, 0.3)})
    beside, far = 0.36 * np.sign(SUN[0]), 3.0 * np.sign(SUN[0])
    camera = Camera((-1.6, -3.2, 1.6), (-0.5, 0.0, 0.0))
    for preset, least in (("default", 8), ("best", 8)):
        without, with_ = (draw(on_floor(*bodies), camera, preset) for bodies in ((), (box,)))
        near = (pixel(without, (beside, 0, 0), camera) - pixel(with_, (beside, 0, 0), camera)).mean()
        away = np.abs(pixel(without, (far, 0, 0), camera) - pixel(with_, (far, 0, 0), camera)).mean()
        assert near > least
        assert away < 4
    without, with_ = (draw(on_floor(*bodies), camera, "fast") for bodies in ((), (box,)))
    assert np.abs(pixel(without, (beside, 0, 0), camera) - pixel(with_, (beside, 0, 0), camera)).max() == 0


@pytest.mark.parametrize("preset", ["fast", "default", "best"])
def test_shadows_are_soft(preset):
    """How many pixels the edge of a shadow of a body high above the floor goes over: the area of the sun in `best`."""
    top = Camera((0.0, -0.01, 6.0), (0.0, 0.0, 0.0))
    height, plate = 1.5, Box((0.4, 0.4, 0.01))
    at = np.array([0, 0, height]) + height / SUN[2] * SUN * (1, 1, 0)
    scene = on_floor((plate, {"position": tuple(at)}))
    foot = at - height / SUN[2] * SUN
    change = (draw(on_floor(), top, preset) - draw(scene, top, preset)).mean(axis=2)
    xs = np.linspace(foot[0] + 0.1, foot[0] + 0.8, 400)
    pixels = top.project(np.stack([xs, np.full(400, foot[1]), np.zeros(400)], axis=1), SIZE)[0].astype(int)
    rise = change[pixels[:, 1], pixels[:, 0]]
    edge = float(((rise > 0.15 * rise.max()) & (rise < 0.85 * rise.max())).mean() * 0.7)  # m
    wide = 2.0 * np.tan(np.radians(SUN_SIZE)) * height / SUN[2]
    if preset == "best":
        assert 0.4 * wide < edge < 1.3 * wide
    else:
        assert edge < 0.4 * wide


def test_the_sum_is_the_light_of_the_other_presets():
    """A bare floor and a lone ball in free space: no light is lost or won by summing it up from many directions."""
    directions = np.array([light.sky for light in lights(PRESETS["best"].shots)])
    assert np.allclose(np.linalg.norm(directions, axis=1), 1.0)
    for normal in ((0, 0, 1), (1, 0, 0), (0.6, 0, 0.8), (0, -0.8, -0.6)):
        normal = np.array(normal, float)
        assert abs(2.0 * np.maximum(directions @ normal, 0.0).mean() - (0.5 + 0.5 * normal[2])) < 0.02
    scene = Scene()
    scene.add(Sphere(0.4), finish="matte", color="#808080", orientation=(0, 0, 0, 1))
    camera = Camera((0.0, -2.2, 0.0), (0.0, 0.0, 0.0))
    one, many = draw(scene, camera, "fast"), draw(scene, camera, "best")
    inside = np.abs(one - many)[60:120, 130:190]
    assert np.median(inside) <= 4
    for light, shown in ((HORIZON_LIGHT, HORIZON), (ZENITH_LIGHT, ZENITH), (NADIR_LIGHT, NADIR)):
        assert np.abs(display(light) - shown).max() < 1e-3


def test_the_floor_of_best_mirrors_bodies_and_sky():
    """Below a red box that floats the floor is redder than beside it, and the more the flatter it is looked at."""
    scene = on_floor((Box((0.3, 0.3, 0.3)), {"position": (0, 1.0, 0.7), "color": "red"}))
    low = Camera((0.0, -3.0, 0.5), (0.0, 1.0, 0.3))
    image = draw(scene, low, "best")
    mirrored = low.project(np.array([[0.0, 0.7, -0.6]]), SIZE)[0][0].astype(int)  # the image of its front
    x, y = mirrored
    red = lambda p: float(p[..., 0].mean() - p[..., 1].mean())  # noqa: E731
    assert red(image[y - 3 : y + 3, x - 3 : x + 3]) > red(image[y - 3 : y + 3, x + 90 : x + 96]) + 5
    plain = draw(scene, low, "default")
    assert red(plain[y - 3 : y + 3, x - 3 : x + 3]) < red(plain[y - 3 : y + 3, x + 90 : x + 96]) + 4


def test_moments_blur_what_moves():
    a, b = on_floor((Box((0.1, 0.1, 0.1)), {"position": (-0.3, 0, 0.3)})), None
    first = frame_of(a)
    frames = []
    for x in np.linspace(-0.3, 0.3, 16):
        b = frame_of(a)
        b.cast, b.positions = first.cast, first.positions + np.array([[0, 0, 0], [x + 0.3, 0, 0]])
        frames.append(b)
    with open_renderer(SIZE, "best") as renderer:
        sharp = renderer.draw(frames[8], CAMERA, ())[..., :3].astype(int)
        blurred = renderer.draw(frames[8], CAMERA, (), moments=frames)[..., :3].astype(int)
        empty = renderer.draw(frame_of(on_floor()), CAMERA, ())[..., :3].astype(int)
    widths = [np.ptp(np.flatnonzero((np.abs(image - empty).max(axis=2)[70:80] > 12).any(axis=0))) for image in (sharp, blurred)]
    assert widths[1] > 2.0 * widths[0]


def gltf_of(path):
    data = path.read_bytes()
    length = struct.unpack("<I", data[12:16])[0]
    return json.loads(data[20 : 20 + length])


def test_finishes_and_textures_in_gltf(tmp_path):
    world = World(gravity=(0, 0, 0))
    for k, finish in enumerate(FINISHES):
        world.add(Sphere(0.1), name=finish, finish=finish, color="#808080", position=(0.5 * k, 0, 0))
    world.add(Sphere(0.1), name="plate", visual=textured(tmp_path), position=(0, 2, 0))
    run = world.run(seconds=0.05)
    made = gltf_of(export(run, tmp_path / "a.glb"))
    materials = {m["name"]: m for m in made["materials"] if "baseColorTexture" not in m["pbrMetallicRoughness"]}
    rough = {name: m["pbrMetallicRoughness"]["roughnessFactor"] for name, m in materials.items()}
    assert set(materials) == set(FINISHES)
    assert materials["metal"]["pbrMetallicRoughness"]["metallicFactor"] == 1
    assert rough["matte"] > rough["rubber"] > rough["plain"] > rough["metal"] > rough["glass"]
    assert materials["glass"]["extensions"]["KHR_materials_transmission"]["transmissionFactor"] == 1
    assert "KHR_materials_transmission" in made["extensionsUsed"]
    assert len(made["images"]) == 1
    import trimesh

    plate = [mesh for mesh in trimesh.load_scene(tmp_path / "a.glb").geometry.values() if mesh.visual.kind == "texture"
             and getattr(mesh.visual.material, "baseColorTexture", None) is not None]  # fmt: skip
    assert len(plate) == 1
    assert plate[0].visual.material.baseColorTexture.size == (64, 64)
    low = plate[0].vertices[:, 2].argmin()
    assert plate[0].visual.uv[low, 1] < 0.1  # as it was: the blue band stays above


def test_presets_say_what_they_do():
    assert isinstance(PRESETS["best"], Preset)
    assert picture(World(), (64, 48), preset="best").shape == (48, 64, 4)
