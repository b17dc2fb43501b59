"""Make the pictures of docs/pictures.md beside those of MuJoCo and Blender: ``python tools/picture_pairs.py [NAME...]``.

The same bodies, camera and sun, each program's plain materials in the same colours. ``mujoco`` and ``bpy`` (Blender as a module)
are drawn where they are installed: `pip install mujoco`, `pip install bpy`, the latter for the one Python it is made for.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

SIZE = (960, 480)
IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
NAMES = ("default", "best", "mujoco", "blender")


def scene() -> dict:
    """The wall of docs/images/pyramid.png, struck by a ball, as plain numbers."""
    from tools.readme_picture import struck_pyramid
    from tumble.render import look
    from tumble.render.frames.frame import frame_of

    world = struck_pyramid()
    frame = frame_of(world)
    bodies = []
    for k, shape in enumerate(frame.cast.shapes):
        if frame.cast.planes[k]:
            continue
        size = list(getattr(shape, "half_extents", ())) or [shape.radius]
        color = look.linear(frame.cast.colors[k]).tolist()
        bodies.append(
            {"size": size, "position": frame.positions[k].tolist(), "turn": frame.orientations[k].tolist(), "color": color}
        )
    camera = world.scene.camera
    floor = [look.FLOOR_DARK.tolist(), look.FLOOR_LIGHT.tolist()]
    return {"bodies": bodies, "position": camera.position, "target": camera.target, "fov": camera.fov_degrees,
            "sun": look.SUN.tolist(), "floor": floor, "size": SIZE}  # fmt: skip


def tumble(preset: str, path: Path) -> None:
    from tools.readme_picture import struck_pyramid
    from tumble.render import still

    still(struck_pyramid(), path, SIZE, preset=preset, overlays=())


def mujoco(data: dict, path: Path) -> None:
    """As its own examples are lit and floored: a sky of two blues, a checker that mirrors a fifth, one light with shadows."""
    os.environ.setdefault("MUJOCO_GL", "egl")
    import mujoco as mj
    import numpy as np
    from PIL import Image

    texts = lambda values: " ".join(f"{v:.9g}" for v in values)  # noqa: E731
    shown = lambda c: texts([*(1.055 * np.power(c, 1 / 2.4) - 0.055), 1.0])  # noqa: E731  MuJoCo takes colours as displayed
    geoms = "".join(
        f'<geom type="{"box" if len(b["size"]) == 3 else "sphere"}" size="{texts(b["size"])}" pos="{texts(b["position"])}" '
        f'quat="{texts(b["turn"])}" rgba="{shown(np.array(b["color"]))}"/>'
        for b in data["bodies"]
    )
    away = [-10 * s for s in data["sun"]]
    width, height = data["size"]
    xml = f"""<mujoco><visual><global fovy="{data["fov"]}" offwidth="{width}" offheight="{height}"/>
      <quality shadowsize="4096" offsamples="8"/></visual>
      <asset><texture type="skybox" builtin="gradient" rgb1="0.3 0.5 0.7" rgb2="0 0 0" width="512" height="512"/>
      <texture name="g" type="2d" builtin="checker" mark="edge" rgb1="0.2 0.3 0.4" rgb2="0.1 0.2 0.3" markrgb="0.8 0.8 0.8"
      width="300" height="300"/><material name="g" texture="g" texuniform="true" texrepeat="5 5" reflectance="0.2"/></asset>
      <worldbody><light directional="true" dir="{texts(away)}" pos="{texts([-v for v in away])}" diffuse="0.8 0.8 0.8"/>
      <geom type="plane" size="0 0 0.05" material="g"/>{geoms}</worldbody></mujoco>"""
    model = mj.MjModel.from_xml_string(xml)
    state = mj.MjData(model)
    mj.mj_forward(model, state)
    camera = mj.MjvCamera()
    back = np.subtract(data["position"], data["target"])
    camera.lookat[:], camera.distance = data["target"], np.linalg.norm(back)
    camera.azimuth = np.degrees(np.arctan2(-back[1], -back[0]))
    camera.elevation = -np.degrees(np.arcsin(back[2] / camera.distance))
    with mj.Renderer(model, height, width) as renderer:
        renderer.update_scene(state, camera)
        Image.fromarray(renderer.render()).save(path)


def blender(data: dict, path: Path) -> None:
    """Cycles, its path tracer, with 48 paths a pixel and its denoiser; plastic of roughness 0.5."""
    import math

    import bpy
    from mathutils import Vector

    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene

    def material(color: list, rough: float = 0.5):
        made = bpy.data.materials.new("m")
        made.use_nodes = True
        surface = made.node_tree.nodes["Principled BSDF"]
        surface.inputs["Base Color"].default_value = (*color, 1.0)
        surface.inputs["Roughness"].default_value = rough
        return made

    for body in data["bodies"]:
        if len(body["size"]) == 3:
            bpy.ops.mesh.primitive_cube_add(size=2)
            bpy.context.object.scale = body["size"]
            bevel = bpy.context.object.modifiers.new("edge", "BEVEL")
            bevel.width, bevel.segments = 0.003, 2
        else:
            bpy.ops.mesh.primitive_uv_sphere_add(radius=body["size"][0], segments=64, ring_count=32)
            bpy.ops.object.shade_smooth()
        thing = bpy.context.object
        thing.rotation_mode, thing.location, thing.rotation_quaternion = "QUATERNION", body["position"], body["turn"]
        thing.data.materials.append(material(body["color"]))
    bpy.ops.mesh.primitive_plane_add(size=400)
    floor = material(data["floor"][0], 0.35)
    nodes, links = floor.node_tree.nodes, floor.node_tree.links
    checker, place = nodes.new("ShaderNodeTexChecker"), nodes.new("ShaderNodeTexCoord")
    checker.inputs["Scale"].default_value = 2.0  # squares of half a metre
    for name, color in zip(("Color1", "Color2"), data["floor"], strict=True):
        checker.inputs[name].default_value = (*color, 1.0)
    links.new(place.outputs["Object"], checker.inputs["Vector"])
    links.new(checker.outputs["Color"], nodes["Principled BSDF"].inputs["Base Color"])
    bpy.context.object.data.materials.append(floor)
    bpy.ops.object.light_add(type="SUN")
    sun = bpy.context.object
    sun.data.energy, sun.data.angle = 3.6, math.radians(4.4)
    sun.rotation_mode, sun.rotation_quaternion = "QUATERNION", Vector(data["sun"]).to_track_quat("Z", "Y")
    scene.world = bpy.data.worlds.new("sky")
    scene.world.use_nodes = True
    sky = scene.world.node_tree.nodes["Background"].inputs
    sky["Color"].default_value, sky["Strength"].default_value = (0.62, 0.72, 0.86, 1.0), 0.9
    bpy.ops.object.camera_add(location=data["position"])
    camera = bpy.context.object
    camera.rotation_mode = "QUATERNION"
    camera.rotation_quaternion = (Vector(data["position"]) - Vector(data["target"])).to_track_quat("Z", "Y")
    camera.data.sensor_fit, camera.data.angle = "VERTICAL", math.radians(data["fov"])
    scene.camera = camera
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = 48, True
    scene.render.resolution_x, scene.render.resolution_y = data["size"]
    scene.render.image_settings.file_format, scene.render.image_settings.quality = "JPEG", 92
    scene.render.filepath = str(path.resolve())
    bpy.ops.render.render(write_still=True)


def main(wanted: list[str]) -> int:
    if len(wanted) == 3 and wanted[0] in ("mujoco", "blender"):  # in a process, or a Python, of its own
        globals()[wanted[0]](json.loads(Path(wanted[1]).read_text()), Path(wanted[2]))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "scene.json"
        data.write_text(json.dumps(scene()))
        for name in wanted or NAMES:
            path = IMAGES / f"pair_{name}.jpg"
            if name in ("default", "best"):
                tumble(name, path)
            elif importlib.util.find_spec({"blender": "bpy"}.get(name, name)) is None:
                print(f"{name} is not installed: its picture stays as it is")
                continue
            else:
                subprocess.run([sys.executable, __file__, name, str(data), str(path)], check=True)
            print(path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
