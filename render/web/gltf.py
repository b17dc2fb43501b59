"""A run as an animated glTF file (.glb), for Blender, browsers and game engines. Written through pygltflib.

glTF has y up and seconds, metres and unit quaternions (x, y, z, w) (Khronos, glTF 2.0): a root node turns z up to y up, each body
is a node below it that two channels move, and its parts are nodes below that with scale and place of their own.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tumble.collision.errors import InputError, check_number, need
from tumble.render import look
from tumble.render.films.writers import encoded
from tumble.render.frames.recorded import RunFrames
from tumble.render.meshes.meshes import mesh_of, parts_of
from tumble.render.meshes.visuals import Skin
from tumble.render.web.replay import tones
from tumble.render.whole_files import whole

DETAIL = 48
MOST = 10_000_000  # poses of all bodies: three quarters of a gigabyte
FINISH = {  # metalness and roughness, as glTF has them
    "plain": (0.0, 0.55), "matte": (0.0, 1.0), "metal": (1.0, 0.25), "rubber": (0.0, 0.85), "glass": (0.0, 0.0),
    "relief": (0.0, 0.8),
}  # fmt: skip
TURN = (-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))  # (x, y, z, w): z up becomes y up
FLOOR = 12.0  # half the width of a half-space's square, in radii of the scene


def export(
    run: Any, path: str | os.PathLike[str], rate: float = 60.0, progress: Callable[[int, int], None] | None = None
) -> Path:
    """Write a recorded run as .glb with ``rate`` poses a second; returns the path.

    Raises
    ------
    InputError : odd input, named. RenderError : the file can not be written.
    """
    path = Path(path)
    if path.suffix.lower() != ".glb":
        raise InputError("path", str(path), "an animated glTF file is a .glb file")
    rate = check_number("rate", rate, above=0.0)
    frames = RunFrames(run)
    asked = (frames.stop - frames.start) * rate
    if not asked * len(frames.cast) <= MOST:
        raise InputError("rate", rate, f"makes {asked:.3g} poses of each body: at most {MOST:g} of all together")
    count = max(round(asked) + 1, 1)
    times = np.linspace(frames.start, frames.stop, count)
    poses = np.empty((count, len(frames.cast), 7))
    for k, t in enumerate(times):
        frame = frames.at(t)
        poses[k, :, :3], poses[k, :, 3:6], poses[k, :, 6] = frame.positions, frame.orientations[:, 1:], frame.orientations[:, 0]
        if progress is not None:
            progress(k + 1, count)
    for k in range(1, count):  # the near one of the two quaternions of each turn, as interpolation wants it
        far = np.einsum("ni,ni->n", poses[k, :, 3:], poses[k - 1, :, 3:]) < 0.0
        poses[k, far, 3:] *= -1.0
    gone = ~np.isfinite(poses).all(axis=2)
    for k in range(1, count):  # a body that was removed stays where it was, and shrinks to nothing
        poses[k, gone[k]] = poses[k - 1, gone[k]]
    data = _Builder().build(frames, times - times[0], poses, gone)
    with whole(path) as part:
        part.write_bytes(data)
    return path


class _Builder:
    """Gathers arrays into the one buffer of a .glb file."""

    def __init__(self) -> None:
        need("film")
        import pygltflib

        self.lib = pygltflib
        self.file = pygltflib.GLTF2(asset=pygltflib.Asset(version="2.0", generator="tumble"))
        self.blob = bytearray()
        self.materials: dict[tuple, int] = {}

    def build(self, frames: RunFrames, times: np.ndarray, poses: np.ndarray, gone: np.ndarray) -> bytes:
        lib, file, cast = self.lib, self.file, frames.cast
        file.nodes.append(lib.Node(name=cast.title or "scene", rotation=list(map(float, TURN)), children=[]))
        file.scenes.append(lib.Scene(nodes=[0]))
        file.scene = 0
        _, reach = frames.at(frames.start).ball()
        meshes: dict[tuple, int] = {}
        animation = lib.Animation(name="motion", samplers=[], channels=[])
        clock = self.accessor(times, "SCALAR", bounds=True) if len(times) > 1 else None
        for row, shape in enumerate(cast.shapes):
            color = tuple(look.linear(cast.colors[row]).tolist())
            node = lib.Node(name=cast.names[row], children=[])
            node.translation, node.rotation = poses[0, row, :3].tolist(), poses[0, row, 3:].tolist()
            number = self.node(node)
            file.nodes[0].children.append(number)
            finish, skins = cast.finish(row), cast.skins(row)
            for k, skin in enumerate(skins or ()):
                key = (cast.skin_key(row), k, color, finish)
                if key not in meshes:
                    meshes[key] = self.skin(skin, color, finish)
                node.children.append(self.node(lib.Node(mesh=meshes[key])))
            for part in parts_of(shape) if skins is None else ():
                key = (part.key, color, finish)
                if key not in meshes:
                    meshes[key] = self.mesh(mesh_of(part.key, DETAIL), color, finish)
                if meshes[key] >= 0:
                    w, x, y, z = map(float, part.orientation)
                    scale, place = [max(abs(float(c)), 1e-9) for c in part.scale], list(map(float, part.position))
                    made = lib.Node(mesh=meshes[key], scale=scale, translation=place, rotation=[x, y, z, w])
                    node.children.append(self.node(made))
            for normal, level in cast.planes[row]:
                node.children.append(self.node(lib.Node(mesh=self.floor(normal, level, FLOOR * reach, color))))
            if clock is not None and np.ptp(poses[:, row], axis=0).any():
                self.channel(animation, number, clock, "translation", "VEC3", poses[:, row, :3])
                self.channel(animation, number, clock, "rotation", "VEC4", poses[:, row, 3:])
            if clock is not None and gone[:, row].any():
                size = np.repeat(np.where(gone[:, row], 1e-9, 1.0)[:, None], 3, axis=1)
                self.channel(animation, number, clock, "scale", "VEC3", size, "STEP")
            node.children = node.children or None
        if animation.channels:
            file.animations.append(animation)
        file.buffers.append(lib.Buffer(byteLength=len(self.blob)))
        file.set_binary_blob(bytes(self.blob))
        return b"".join(file.save_to_bytes())

    def node(self, node: Any) -> int:
        self.file.nodes.append(node)
        return len(self.file.nodes) - 1

    def channel(
        self, animation: Any, node: int, clock: int, target: str, kind: str, values: np.ndarray, way: str = "LINEAR"
    ) -> None:
        lib = self.lib
        animation.samplers.append(lib.AnimationSampler(input=clock, output=self.accessor(values, kind), interpolation=way))
        where = lib.AnimationChannelTarget(node=node, path=target)
        animation.channels.append(lib.AnimationChannel(sampler=len(animation.samplers) - 1, target=where))

    def mesh(self, mesh: Any, color: tuple, finish: str) -> int:
        """Number of a mesh of this colour and finish; -1 where there is no surface."""
        points, normals, triangles = mesh.triangles()
        if not len(triangles):
            return -1
        shades = np.repeat(tones(mesh)[:, None], 3, axis=1)
        return self.surface(points, normals, triangles, self.material(color, finish), shades)

    def skin(self, skin: Skin, color: tuple, finish: str) -> int:
        """Number of the mesh of a visual, with its picture."""
        picture = None
        if skin.picture is not None:
            data = encoded(skin.picture, "skin.png")
            view = self.view(np.frombuffer(data, np.uint8))
            self.file.images.append(self.lib.Image(bufferView=view, mimeType="image/png"))
            self.file.textures.append(self.lib.Texture(source=len(self.file.images) - 1))
            picture = len(self.file.textures) - 1
        own = color if skin.color is None else tuple(skin.color.tolist())
        places = None if picture is None else skin.places * (1.0, -1.0) + (0.0, 1.0)  # glTF counts from the upper left corner
        return self.surface(skin.points, skin.normals, skin.triangles, self.material(own, finish, picture), places=places)

    def floor(self, normal: np.ndarray, level: float, half: float, color: tuple) -> int:
        u = np.cross(normal, (1.0, 0.0, 0.0) if abs(normal[0]) < 0.7 else (0.0, 1.0, 0.0))
        u /= np.linalg.norm(u)
        v = np.cross(normal, u)
        points = level * normal + half * np.array([-u - v, u - v, u + v, -u + v])
        return self.surface(points, np.tile(normal, (4, 1)), np.array([[0, 1, 2], [0, 2, 3]]), self.material(color))

    def surface(
        self,
        points: np.ndarray,
        normals: np.ndarray,
        triangles: np.ndarray,
        material: int,
        shades: Any = None,
        places: Any = None,
    ) -> int:
        lib = self.lib
        lengths = np.linalg.norm(normals, axis=1, keepdims=True)
        attributes = lib.Attributes(POSITION=self.accessor(points, "VEC3", lib.ARRAY_BUFFER, bounds=True))
        attributes.NORMAL = self.accessor(normals / np.where(lengths > 0, lengths, 1.0), "VEC3", lib.ARRAY_BUFFER)
        if shades is not None:
            attributes.COLOR_0 = self.accessor(shades, "VEC3", lib.ARRAY_BUFFER)
        if places is not None:
            attributes.TEXCOORD_0 = self.accessor(places, "VEC2", lib.ARRAY_BUFFER)
        index = self.accessor(triangles.ravel(), "SCALAR", lib.ELEMENT_ARRAY_BUFFER, kind="<u4")
        primitive = lib.Primitive(attributes=attributes, indices=index, material=material)
        self.file.meshes.append(lib.Mesh(primitives=[primitive]))
        return len(self.file.meshes) - 1

    def material(self, color: tuple, finish: str = "plain", picture: int | None = None) -> int:
        """Number of the material of a colour, a finish and a texture."""
        key = (color, finish, picture)
        if key not in self.materials:
            lib, (metal, rough) = self.lib, FINISH[finish]
            surface = lib.PbrMetallicRoughness(baseColorFactor=[*color, 1.0], metallicFactor=metal, roughnessFactor=rough)
            if picture is not None:
                surface.baseColorTexture = lib.TextureInfo(index=picture)
            made = lib.Material(name=finish, pbrMetallicRoughness=surface, alphaCutoff=None)
            if finish == "glass":
                made.extensions = {"KHR_materials_transmission": {"transmissionFactor": 1.0}, "KHR_materials_ior": {"ior": 1.45}}
                self.file.extensionsUsed = sorted(made.extensions)
            self.file.materials.append(made)
            self.materials[key] = len(self.file.materials) - 1
        return self.materials[key]

    def view(self, array: np.ndarray, target: int | None = None) -> int:
        """Append bytes to the buffer; the number of their view."""
        while len(self.blob) % 4:
            self.blob.append(0)
        view = self.lib.BufferView(buffer=0, byteOffset=len(self.blob), byteLength=array.nbytes, target=target)
        self.blob += array.tobytes()
        self.file.bufferViews.append(view)
        return len(self.file.bufferViews) - 1

    def accessor(self, values: np.ndarray, shape: str, target: int | None = None, bounds: bool = False, kind: str = "<f4") -> int:
        """Append an array to the buffer; the number of its accessor."""
        lib, array = self.lib, np.ascontiguousarray(values, kind)
        found = lib.Accessor(bufferView=self.view(array, target), count=len(array), type=shape)
        found.componentType = lib.FLOAT if kind == "<f4" else lib.UNSIGNED_INT
        if bounds:
            rows = array.reshape(len(array), -1)
            found.min, found.max = rows.min(axis=0).tolist(), rows.max(axis=0).tolist()
        self.file.accessors.append(found)
        return len(self.file.accessors) - 1
