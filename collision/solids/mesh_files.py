"""Mesh files in: a convex hull, or a compound of convex pieces.

A mesh that is convex becomes one ConvexHull. Any other is cut into nearly convex pieces by coacd, with a fixed seed, and
the pieces are kept on disk, so that the second time costs nothing. Coordinates are taken as they stand in the file
(glTF writes y up), times ``scale``.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import zipfile
from importlib.metadata import version
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np

from tumble.collision.errors import InputError, check_number, need
from tumble.collision.hints import FileName
from tumble.collision.kernels.sources import cache_root
from tumble.collision.pose import Pose
from tumble.collision.regular import put_whole, regular
from tumble.collision.shapes.definitions import Compound, ConvexHull, convex_parts
from tumble.collision.solids.mass_properties import enclosed, mass_properties
from tumble.collision.solids.mesh_repair import closed_bodies, passes_through_itself, repair, warn

FORMATS = (".stl", ".obj", ".ply", ".gltf", ".glb")
MOST_MESH_FACES = 2_000_000
MOST_FILE_BYTES = 500_000_000
UNFILLED = 1e-6  # a mesh that fills all of its hull but this share is taken as convex (files in single precision are not exact)
CONCAVITY = 0.05  # coacd's threshold, of the size of the mesh
SEED = 0


def load_mesh(path: FileName, convex: Literal["decompose", "hull"] = "decompose", scale: float = 1.0) -> ConvexHull | Compound:
    """A shape from an STL, OBJ, PLY, glTF or GLB file.

    convex: "decompose" cuts a mesh that is not convex into convex pieces (a Compound, within about 5 % of its size, with
    the mass properties of the mesh itself); "hull" takes the convex hull of its points. scale: file units to metres, for
    example 1e-3 for millimetres.

    Closed bodies in one file that do not touch are taken each by itself, and fixed to each other; a MeshWarning tells how many
    there are. `load_meshes` gives them one by one.

    Warns with MeshWarning where the mesh had to be repaired: faces turned inside out, small holes, parts that overlap (the
    mass is then that of the convex pieces). Raises InputError
    where the file is missing, of another format, unreadable, empty, flat, too large, or has holes that can not be closed.
    """
    path, scale = _file_asked(path, convex, scale)
    mesh = read_mesh(path)
    if convex == "hull":
        return _hull(path, np.asarray(mesh.vertices) * scale)
    if not mesh.is_watertight and len(pieces := convex_surfaces(path)) > 1:
        warn(path, f"{len(pieces)} closed convex surfaces, some with corners in common; they are the pieces, and have the mass")
        return Compound([(ConvexHull(points * scale), Pose()) for points in pieces])
    repair(path, mesh)
    if passes_through_itself(mesh):
        return _crossed(path, mesh, scale, "the mesh")
    bodies = closed_bodies(mesh)
    if len(bodies) == 1:
        return _shape(path, mesh, scale)
    each = "load_meshes gives them one by one, part = 2 in a scene file takes one"
    warn(path, f"{len(bodies)} closed bodies, taken as one rigid body; {each}")
    pieces = [part for faces in bodies for part in convex_parts(_shape(path, _only(mesh, faces), scale))]
    vertices, faces = _arrays(mesh)
    return Compound(pieces, *enclosed(vertices[faces] * scale))


def load_meshes(
    path: FileName, convex: Literal["decompose", "hull"] = "decompose", scale: float = 1.0
) -> list[ConvexHull | Compound]:
    """The closed bodies of a mesh file, each as `load_mesh` makes it, in the frame of the file and in its order."""
    path, scale = _file_asked(path, convex, scale)
    mesh = read_mesh(path)
    repair(path, mesh)
    out: list[ConvexHull | Compound] = []
    for faces in closed_bodies(mesh):
        body = _only(mesh, faces)
        if convex == "hull":
            out.append(_hull(path, np.asarray(body.vertices) * scale))
        elif passes_through_itself(body):
            out.append(_crossed(path, body, scale, f"body {len(out) + 1} of the mesh"))
        else:
            out.append(_shape(path, body, scale))
    return out


def convex_surfaces(path: FileName) -> list[np.ndarray]:
    """Points (n, 3) of each surface of a file, where all are closed and convex, and none lies within another; else none.

    Such files are written by programs that have cut a mesh. In an OBJ file the objects are told apart first: pieces may have
    corners in common, and where these are one no surface is closed any more.
    """
    path = Path(path)
    pieces = []
    for mesh in _objects(path):
        if not mesh.is_watertight:
            return []
        for faces in closed_bodies(mesh):
            body = _only(mesh, faces)
            points = np.asarray(body.vertices, np.float64)
            if not _solid(points):
                return []
            hull = mass_properties(ConvexHull(points)).volume
            if abs(hull - abs(body.volume)) > UNFILLED * hull:
                return []
            pieces.append(points)
    return pieces


def _file_asked(path: FileName, convex: str, scale: float) -> tuple[Path, float]:
    if not isinstance(path, str | os.PathLike):
        raise InputError("path", path, "must be the path of a mesh file")
    if convex not in ("decompose", "hull"):
        raise InputError("convex", convex, 'must be "decompose" or "hull"')
    return Path(path), check_number("scale", scale, above=0)


def _arrays(mesh) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(mesh.vertices, np.float64), np.asarray(mesh.faces, np.int32)


def _only(mesh, faces: np.ndarray):
    """The mesh of some faces."""
    return mesh.submesh([faces], append=True, repair=False)


def _crossed(path: Path, mesh, scale: float, name: str) -> Compound:
    """A body that passes through itself, and is called so in the warning."""
    warn(path, f"{name} passes through itself; its mass is taken from the convex pieces")
    return Compound(_pieces(path, mesh, scale))


def _pieces(path: Path, mesh, scale: float) -> list[tuple[ConvexHull, Pose]]:
    return [(ConvexHull(points * scale), Pose()) for points in _decompose(path, *_arrays(mesh))]


def _shape(path: Path, mesh, scale: float) -> ConvexHull | Compound:
    """A closed body that does not pass through itself."""
    vertices, faces = _arrays(mesh)
    hull = mesh.convex_hull
    if hull.volume - mesh.volume <= UNFILLED * hull.volume:
        return _hull(path, vertices * scale)
    return Compound(_pieces(path, mesh, scale), *enclosed(vertices[faces] * scale))


def read_mesh(path: Path):
    """The mesh of a file, its equal vertices merged and faces without area removed."""
    need("mesh")
    import trimesh

    name = str(path)
    if path.suffix.lower() not in FORMATS:
        raise InputError("mesh", name, f"unknown format; known are {', '.join(FORMATS)}")
    if not path.is_file():
        raise InputError("mesh", name, "there is no such file")
    size = path.stat().st_size
    if size == 0:
        raise InputError("mesh", name, "is empty")
    if size > MOST_FILE_BYTES:
        raise InputError(
            "mesh", name, f"too large: {size / 1e6:.0f} MB, at most {MOST_FILE_BYTES // 1000000} MB; simplify it first"
        )
    try:
        mesh = trimesh.load(path, force="mesh", process=False, resolver=_beside(path))
    except Exception as error:  # the readers of trimesh raise errors of many kinds, in words that are not for users
        if "FilePathResolver" in str(error):
            raise InputError("mesh", name, "names a file outside its own folder, which is not read") from None
        raise InputError("mesh", name, f"can not be read: not a valid {path.suffix} file{bad_line(path)}") from None
    faces = getattr(mesh, "faces", None)
    if faces is None or len(faces) == 0:
        raise InputError("mesh", name, f"is empty: it holds no triangles{bad_line(path)}")
    if len(faces) > MOST_MESH_FACES:
        raise InputError("mesh", name, f"too large: {len(faces)} triangles, at most {MOST_MESH_FACES}; simplify it first")
    _check_numbers(name, np.asarray(mesh.vertices), np.asarray(faces))
    _merge_vertices(mesh)
    if len(mesh.faces) == 0:
        raise InputError("mesh", name, f"is empty: all of its triangles are without area{bad_line(path)}")
    return mesh


def _check_numbers(name: str, vertices: np.ndarray, faces: np.ndarray) -> None:
    """InputError names the first vertex or face that is none: some readers of trimesh take any numbers."""
    bad = np.flatnonzero(~np.isfinite(vertices).all(axis=1))
    if len(bad):
        k = bad[0]
        raise InputError("mesh", name, f"vertices[{k}] = {vertices[k].tolist()} is not finite: it must be three finite numbers")
    bad = np.flatnonzero(((faces < 0) | (faces >= len(vertices))).any(axis=1))
    if len(bad):
        k = bad[0]
        raise InputError("mesh", name, f"faces[{k}] = {faces[k].tolist()}: must be rows of the {len(vertices)} vertices")


def bad_line(path: Path) -> str:
    """What is wrong with which line of an OBJ file, to be said after an error; empty where none is found, or in other formats."""
    if path.suffix.lower() != ".obj":
        return ""
    lines = [line.split() for line in path.read_text(errors="replace").splitlines()]
    there = sum(words[:1] == ["v"] for words in lines)
    for k, (word, *rest) in enumerate((words or [""] for words in lines), 1):
        said = f": line {k}, {' '.join((word, *rest))[:60]!r}"
        try:
            if word == "v" and not np.isfinite([float(x) for x in rest]).all():
                raise ValueError
            if word == "f" and not all(0 < abs(int(corner.split("/")[0])) <= there for corner in rest):
                return f"{said}: faces must name vertices from 1 to {there}"
        except ValueError:
            return f"{said}: must be {'finite numbers' if word == 'v' else 'numbers of vertices'}"
    return ""


def _merge_vertices(mesh) -> None:
    mesh.merge_vertices(merge_tex=True, merge_norm=True)
    mesh.update_faces(mesh.nondegenerate_faces())
    mesh.update_faces(mesh.unique_faces())
    mesh.remove_unreferenced_vertices()


def _objects(path: Path) -> list:
    """The meshes of the objects and groups of an OBJ file, those that have faces; of any other the mesh.

    trimesh has a reader that splits as well. But it joins groups of one name, such as the many "default" of some programs, and
    counts negative indices from the end of the file instead of from where they stand.
    """
    whole = read_mesh(path)  # which refuses what is no mesh
    if path.suffix.lower() != ".obj":
        return [whole]
    import trimesh

    vertices: list[list[float]] = []
    groups: list[list[tuple[int, int, int]]] = [[]]
    try:
        for line in path.read_text(errors="replace").splitlines():
            word, *rest = line.split() or [""]
            if word == "v":
                vertices.append([float(x) for x in rest[:3]])
            elif word in ("o", "g"):
                groups.append([])
            elif word == "f":
                corners = [int(corner.split("/")[0]) for corner in rest]
                first, *others = [k - 1 if k > 0 else len(vertices) + k for k in corners]
                groups[-1] += [(first, a, b) for a, b in pairwise(others)]
        parts = [trimesh.Trimesh(vertices, faces, process=False) for faces in groups if faces]
    except (ValueError, IndexError):  # what the format allows and is not written, such as lines that go on
        return [whole]
    for part in parts:
        _merge_vertices(part)
    return [part for part in parts if len(part.faces)]


def _beside(path: Path):
    """What reads the files that a mesh names: those of its folder, if they are regular files and not too large."""
    from trimesh.resolvers import FilePathResolver

    class Beside(FilePathResolver):
        def get(self, name: str) -> bytes:
            tried = (name.strip(), name.strip().lstrip("/"), os.path.split(name)[-1])
            for candidate in dict.fromkeys(tried):
                with contextlib.suppress(ValueError, FileNotFoundError):  # ValueError: that it lies elsewhere
                    return regular(self.absolute(candidate), MOST_FILE_BYTES)
            self.absolute(name)
            raise FileNotFoundError(name)

    return Beside(str(path))


def _hull(path: Path, points: np.ndarray) -> ConvexHull:
    """The hull with the points inside left out; InputError where it is flat."""
    from tumble.collision.shapes.polytope import polytope

    p = polytope(ConvexHull(points))
    if p.rank < 3:
        raise InputError("mesh", str(path), "is flat: it has no volume")
    return ConvexHull(p.vertices)


def _decompose(path: Path, vertices: np.ndarray, faces: np.ndarray) -> list[np.ndarray]:
    """Points of the convex pieces, from the cache where the same mesh was cut before."""
    key = hashlib.sha256(f"coacd {version('coacd')} {CONCAVITY} {SEED} {vertices.shape}".encode())
    key.update(vertices.tobytes() + faces.tobytes())
    file = cache_folder() / f"{key.hexdigest()[:32]}.npz"
    try:
        with np.load(file) as stored:
            return np.split(stored["points"], stored["cuts"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        pass  # not there, or not whole: cut anew
    pieces = _cut(path, vertices, faces)
    cuts = np.cumsum([len(p) for p in pieces])[:-1]
    stored = BytesIO()
    np.savez(stored, points=np.concatenate(pieces), cuts=cuts)
    with contextlib.suppress(OSError):  # a read-only home: cut again next time
        put_whole(file, stored.getbuffer())
    return pieces


def _cut(path: Path, vertices: np.ndarray, faces: np.ndarray) -> list[np.ndarray]:
    need("mesh")
    import coacd

    coacd.set_log_level("error")
    center, size = vertices.mean(axis=0), np.ptp(vertices, axis=0).max()  # coacd computes near the origin
    try:
        parts = coacd.run_coacd(coacd.Mesh((vertices - center) / size, faces), threshold=CONCAVITY, seed=SEED)
    except Exception as error:  # errors of the C++ side
        raise InputError("mesh", str(path), f"could not be cut into convex pieces: {error}") from None
    pieces = [np.array(points, np.float64) * size + center for points, _ in parts]
    pieces = [p for p in pieces if _solid(p)]
    if not pieces:
        raise InputError("mesh", str(path), 'could not be cut into convex pieces; take its hull with convex = "hull"')
    return pieces


def _solid(points: np.ndarray) -> bool:
    """Whether a piece has a volume worth keeping."""
    return len(points) >= 4 and mass_properties(ConvexHull(points)).volume > 1e-12 * math.prod(np.ptp(points, axis=0))


def cache_folder() -> Path:
    """Where cut meshes are kept: under $TUMBLE_CACHE_DIR, else the user's cache folder."""
    return cache_root().parent / "meshes"
