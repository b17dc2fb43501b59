"""Of MJCF files: what they include, the meshes that their geoms name, and the inertia that MuJoCo gives a mesh."""

from __future__ import annotations

import xml.etree.ElementTree as xml
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from tumble.collision.errors import InputError
from tumble.collision.pose import Pose
from tumble.collision.regular import regular
from tumble.collision.shapes.definitions import ConvexHull
from tumble.collision.shapes.polytope import polytope
from tumble.collision.solids.mass_properties import enclosed
from tumble.collision.solids.mesh_files import MOST_FILE_BYTES, read_mesh
from tumble.scenarios.files.limits import packaged, read_whole, read_xml
from tumble.scenarios.importing.models import Mass, matrix, numbers, solid_of


def expanded(root: xml.Element, main: Path, path: Path | None = None, above: tuple[Path, ...] = ()) -> xml.Element:
    """The elements of a file with those of the files that it includes, in their places.

    Files are looked for beside the ``main`` one, then beside the one that includes them.
    """
    path = main if path is None else path
    above = (*above, path.resolve())
    out = xml.Element(root.tag, root.attrib)
    for child in root:
        if child.tag != "include":
            out.append(expanded(child, main, path, above[:-1]))
            continue
        name = child.get("file", "")
        file = next((f for f in (main.parent / name, path.parent / name) if f.is_file()), None)
        if file is None:
            raise InputError("include", name, f"there is no {main.parent / name}")
        if file.resolve() in above:
            raise InputError("include", name, "includes itself")
        inner = read_xml(packaged("include", file), "include")
        out.extend(expanded(inner, main, file, above))
    return out


@dataclass(frozen=True)
class Mesh:
    """A mesh asset in metres: its points (n, 3), its triangles (t, 3) by their rows, and which inertia it asks for."""

    points: np.ndarray
    faces: np.ndarray
    inertia: str

    @classmethod
    def read(cls, asset: xml.Element, folder: Path, strip: bool = False) -> Mesh:
        """From the attributes of a <mesh>, those of its class among them."""
        given = numbers(asset, "vertex", None)
        if given is not None:
            points, faces = _threes("vertex", given), _threes("face", numbers(asset, "face", ()) or ())
        else:
            name = asset.get("file", "")
            points, faces = _file(packaged("mesh", folder / (Path(name).name if strip else name)))
        wrong = (faces < 0) | (faces >= len(points)) | (faces % 1 != 0)
        if wrong.any():
            raise InputError("face", float(faces[wrong][0]), f"must be the row of one of the {len(points)} vertices, from 0 on")
        faces = faces.astype(int)
        scale = np.array(numbers(asset, "scale", (1, 1, 1), 3))
        points = matrix(numbers(asset, "refquat", (1, 0, 0, 0), 4)).T @ (points - numbers(asset, "refpos", (0, 0, 0), 3)).T
        return cls(points.T * scale, faces[:, ::-1] if scale.prod() < 0 else faces, asset.get("inertia", "legacy"))

    def hull(self) -> ConvexHull:
        p = polytope(ConvexHull(self.points))
        if p.rank < 3:
            raise InputError("vertices", f"{len(self.points)} points", "are flat: they have no volume")
        return ConvexHull(p.vertices)

    def solid(self) -> Mass:
        """What a geom of this mesh weighs: of what its surface encloses, of its hull, or, as by default, as MuJoCo has it.

        That is the sum of the pyramids from the middle of the surface to its triangles, each counted as positive: too much for a
        mesh that is not star-shaped about it.
        """
        triangles = self.points[self.faces] if len(self.faces) else np.zeros((0, 3, 3))
        if self.inertia == "convex" or not len(triangles):
            return solid_of(self.hull())
        if self.inertia == "exact":
            return enclosed(triangles)
        areas = np.linalg.norm(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]), axis=1) / 2
        middle = areas @ triangles.mean(axis=1) / areas.sum()
        _, center, _ = _pyramids(triangles, middle)
        volume, _, inertia = _pyramids(triangles, center)
        return volume, center, inertia

    def fitted(self, kind: str) -> tuple[Pose, tuple[float, ...]]:
        """Where a shape of another kind that stands for the mesh is, and its size: as the box that has its inertia."""
        volume, center, inertia = self.solid()
        moments, axes = np.linalg.eigh(inertia)
        axes = axes[:, ::-1] * (1.0, 1.0, np.linalg.det(axes[:, ::-1]))  # the longest side last
        squares = 1.5 / volume * (moments.sum() - 2.0 * moments[::-1])
        a, b, c = map(float, np.sqrt(np.maximum(squares, 0.0)))
        sizes = {
            "sphere": ((a + b + c) / 3,), "capsule": ((a + b) / 2, max(1e-9, c - (a + b) / 4)), "cylinder": ((a + b) / 2, c)
        }  # fmt: skip
        return Pose(tuple(map(float, center)), Pose.from_matrix(axes).orientation), sizes.get(kind, (a, b, c))

    def overcounted(self) -> float:
        """By which factor MuJoCo's way makes it heavier than what its surface encloses; 1 where it is not asked for."""
        if self.inertia != "legacy" or not len(self.faces):
            return 1.0
        inside = enclosed(self.points[self.faces])[0]
        return self.solid()[0] / inside if inside > 0 else 1.0


def _threes(name: str, given: tuple[float, ...]) -> np.ndarray:
    """(n, 3)"""
    if len(given) % 3:
        raise InputError(name, given, "must be numbers by threes")
    return np.reshape(given, (-1, 3)).astype(float)


def _pyramids(triangles: np.ndarray, apex: np.ndarray) -> Mass:
    """Sums over the tetrahedra from an apex to each triangle, all counted as positive; the inertia is about the apex."""
    t = triangles - apex
    volumes = np.abs(np.linalg.det(t)) / 6
    total = t.sum(axis=1)
    second = np.einsum("t,tci,tcj->ij", volumes, t, t) + np.einsum("t,ti,tj->ij", volumes, total, total)
    center = apex + volumes @ total / (4 * volumes.sum())
    return float(volumes.sum()), center, (np.trace(second) * np.eye(3) - second) / 20


def _file(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """(points, faces) of a file: of those formats that meshes are read from, or MuJoCo's own .msh."""
    if path.suffix.lower() != ".msh":
        mesh = read_mesh(path)
        return np.array(mesh.vertices, float), np.array(mesh.faces, int)
    data = read_whole("mesh", path, partial(regular, most=MOST_FILE_BYTES))
    counts = np.frombuffer(data[:16], "<i4")  # points, normals, texture coordinates, faces
    if len(counts) < 4 or counts.min() < 0 or len(data) != 16 + 4 * int(counts.astype(int) @ (3, 3, 2, 3)):
        raise InputError("mesh", str(path), "can not be read: not a valid .msh file")
    points = np.frombuffer(data, "<f4", 3 * counts[0], 16).reshape(-1, 3).astype(float)
    faces = np.frombuffer(data, "<i4", 3 * counts[3], len(data) - 12 * counts[3]).reshape(-1, 3)
    return points, faces.astype(int)
