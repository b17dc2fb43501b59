"""A run as plain data for the replay in a page: meshes, bodies, and poses at even times; arrays as base64 of float32."""

from __future__ import annotations

import base64
import html
import json
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from tumble.collision.shapes.ground import Ground, HeightField
from tumble.render.camera import Camera
from tumble.render.frames.overlay import square_of
from tumble.render.frames.recorded import RunFrames
from tumble.render.look import MARK, linear
from tumble.render.meshes.ground_surface import MOST_SAMPLES, surface_mesh, thinned
from tumble.render.meshes.meshes import Mesh, mesh_of, parts_of, planes_of
from tumble.render.meshes.relief import corner_colors, tint

RATE = 60.0  # poses a second, at most
POSES = 300_000  # of bodies in all, at most: 8 MB
DETAIL = 48


def replay(frames: RunFrames, camera: Camera) -> dict[str, Any]:
    """What ``page/viewer.js`` draws: times, poses (x y z, w x y z of each body), bodies of parts, meshes, floors, camera."""
    cast = frames.cast
    notes: list[str] = []
    keys: dict[tuple[tuple, bool], int] = {}  # of a part, and whether it is coloured by height
    bodies, planes = [], []
    for row, shape in enumerate(cast.shapes):
        colored = isinstance(cast.skin_key(row), Ground)
        parts = []
        for part in parts_of(shape):
            placed = {name: list(getattr(part, name)) for name in ("scale", "position", "orientation")}
            parts.append({"mesh": keys.setdefault((part.key, colored), len(keys)), **placed})
        own = np.ones(3) if colored else cast.colors[row]  # the corners of a relief have colours of their own
        color = "#" + "".join(f"{round(255 * c):02x}" for c in own)
        bodies.append({"name": cast.names[row], "kind": cast.kinds[row], "color": color, "parts": parts})
        planes += [{"body": row, "normal": n.tolist(), "offset": float(level)} for n, level in planes_of(shape)]
    times = replay_times(frames)
    poses = np.empty((len(times), len(cast), 7), "<f4")
    for k, t in enumerate(times):
        frame = frames.at(t)
        poses[k, :, :3], poses[k, :, 3:] = frame.positions, frame.orientations
    middle, reach = frames.at(frames.start).ball()
    seen_by = {"position": list(camera.position), "target": list(camera.target)}
    seen_by |= {"fov": camera.fov_degrees, "distance": camera.distance}
    return {
        "title": cast.title,
        "times": base64_of(times),
        "poses": base64_of(poses),
        "bodies": bodies,
        "planes": planes,
        "meshes": [part_data(key, colored, notes) for key, colored in keys],
        "notes": notes,
        "square": square_of(camera),
        "middle": middle.tolist(),
        "reach": max(1.6 * reach, 0.7 * camera.distance),
        "camera": seen_by,
    }


def part_data(key: tuple, colored: bool, notes: list[str]) -> dict[str, str]:
    """`mesh_data` of a part. Of a large height field a part of the samples is drawn, and a sentence in ``notes`` says so."""
    ground = key[1] if key[0] == "ground" else None
    if not isinstance(ground, HeightField) or ground.heights.size <= MOST_SAMPLES:
        return mesh_data(mesh_of(key, DETAIL), corner_colors(ground) if colored and ground is not None else None)
    vertices, triangles, kept, off = thinned(ground)
    mesh = surface_mesh(vertices, triangles, ground.smooth)
    low, high = ground.bounds[:, 2].tolist()
    size, left = (" x ".join(map(str, shape)) for shape in (ground.heights.shape, kept))
    notes.append(f"This replay draws {left} of the {size} heights of the ground: it is off by up to {off:.2g} m.")
    return mesh_data(mesh, linear(tint(mesh.triangles()[0][:, 2], low, high)) if colored else None)


def replay_times(frames: RunFrames) -> np.ndarray:
    """Even times [s] over all of a run: 60 a second, or fewer where that were too many."""
    most = max(POSES // max(len(frames.cast), 1), 2)
    count = int(np.clip(round((frames.stop - frames.start) * RATE) + 1, 2, most))
    return np.linspace(frames.start, frames.stop, count)


def mesh_data(mesh: Mesh, colors: np.ndarray | None = None) -> dict[str, str]:
    """Points, normals, tones of the mark or linear ``colors`` (v, 3), and triangles of a surface; ends of its edge lines."""
    out = {}
    points, normals, triangles = mesh.triangles()
    if len(triangles):
        out |= {"points": base64_of(points), "normals": base64_of(normals)}
        out |= {"tones": base64_of(tones(mesh))} if colors is None else {"colors": base64_of(colors)}
        out["triangles"] = base64_of(triangles, "<u4")
    if len(mesh.edges):
        out["edges"] = base64_of(mesh.corners[mesh.edges])
    return out


def tones(mesh: Mesh) -> np.ndarray:
    """(v,) how light each corner of :meth:`Mesh.triangles` is: the mark of round bodies, face by face."""
    return np.repeat(np.where(mesh.marked(), MARK, 1.0), [len(face) for face in mesh.faces])


def base64_of(values: np.ndarray, kind: str = "<f4") -> str:
    return base64.b64encode(np.ascontiguousarray(values, kind).tobytes()).decode("ascii")


def page_of(title: str, body: str, data: dict[str, Any]) -> str:
    """A page with the replay of ``data``, whole in itself."""
    safe = json.dumps(data).replace("<", "\\u003c")  # no tag, and no comment, that ends or hides what comes after
    page, viewer = Template(page_file("page.html")), page_file("viewer.min.js")
    return page.substitute(title=html.escape(title), body=body, data=safe, viewer=viewer)


def data_uri(path: Path, kind: str) -> str:
    """A file as a part of a page."""
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode('ascii')}"


def page_file(name: str) -> str:
    """A file that pages are made of."""
    return (files("tumble.render") / "page" / name).read_text(encoding="utf-8")
