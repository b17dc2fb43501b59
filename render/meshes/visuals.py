"""Meshes that are drawn in place of what collides, read through trimesh: surfaces with their colours and pictures."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tumble.collision.errors import need
from tumble.render import look
from tumble.render.errors import RendererWarning
from tumble.render.rotation import rotate
from tumble.sim.scene.visual import Visual

LARGEST = 2048  # pixels along a side of a texture: larger ones are halved until they fit


@dataclass(frozen=True, eq=False)
class Skin:
    """A surface in the body frame: ``points`` and ``normals`` (v, 3), ``triangles`` (t, 3); its ``color`` (3,) in linear light.

    ``picture`` (h, w, 3) uint8, top row first, lies on it by ``places`` (v, 2), from (0, 0) at its lower left corner; or None.
    """

    points: np.ndarray
    normals: np.ndarray
    triangles: np.ndarray
    color: np.ndarray | None
    picture: np.ndarray | None
    places: np.ndarray


@lru_cache(maxsize=64)
def skins_of(visual: Visual) -> tuple[Skin, ...] | None:
    """The surfaces of a visual; None, with a warning, where its file can not be read any more: then the shape is drawn."""
    need("mesh")
    import trimesh

    try:
        scene = trimesh.load_scene(visual.file)
        meshes = [mesh for mesh in scene.dump() if hasattr(mesh, "faces") and len(mesh.faces)]
        if not meshes:
            raise ValueError("it has no triangles")
        return tuple(_skin(mesh, visual) for mesh in meshes)
    except Exception as error:  # as many ways to fail as there are formats
        why = " ".join(str(error).split()) or type(error).__name__
        message = f"{visual.file} can not be drawn, the shape that collides is instead: {why}"
        warnings.warn(message, RendererWarning, stacklevel=2)
        return None


def _skin(mesh: Any, visual: Visual) -> Skin:
    turn, move = np.array(visual.orientation), np.array(visual.position)
    picture, color, places = _dress(mesh)
    faces = np.asarray(mesh.faces)
    points, normals = np.asarray(mesh.vertices, float), np.asarray(mesh.vertex_normals, float)
    if places is not None and len(places) != len(points):  # one for each corner of each triangle
        points, normals = points[faces.ravel()], normals[faces.ravel()]
        faces = np.arange(len(points)).reshape(-1, 3)
    placed = rotate(turn, visual.scale * points) + move
    return Skin(placed, rotate(turn, normals), faces.astype(np.int32), color, picture,
                np.zeros((len(points), 2)) if places is None else places)  # fmt: skip


def _dress(mesh: Any) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray | None]:
    """``(picture, colour, places)``; all None where the mesh says nothing of how it looks."""
    visual = mesh.visual
    if visual.kind == "texture":
        material = visual.material
        image = getattr(material, "baseColorTexture", None) or getattr(material, "image", None)
        factor = getattr(material, "baseColorFactor", None)
        factor = getattr(material, "diffuse", None) if factor is None and image is None else factor
        color = None if factor is None else np.asarray(factor, float)[:3] / (255.0 if np.max(factor) > 1.0 else 1.0)
        if image is None or visual.uv is None:
            return None, None if color is None else look.linear(color), None
        while max(image.size) > LARGEST:
            image = image.reduce(2)
        return np.asarray(image.convert("RGB")), np.ones(3) if color is None else look.linear(color), np.asarray(visual.uv, float)
    if visual.kind in ("vertex", "face"):
        shades, which = np.unique(np.asarray(visual.face_colors)[:, :3], axis=0, return_inverse=True)
        if len(shades) == 1:
            return None, look.linear(shades[0] / 255.0), None
        side = int(np.ceil(np.sqrt(len(shades))))  # a texel for each colour
        picture = np.zeros((side * side, 3), np.uint8)
        picture[: len(shades)] = shades
        which = np.repeat(which.ravel(), 3)
        places = (np.stack([which % side, which // side], axis=1) + 0.5) / side
        return picture.reshape(side, side, 3), np.ones(3), places * (1.0, -1.0) + (0.0, 1.0)
    return None, None, None
