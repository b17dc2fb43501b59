"""Surfaces to draw: corners, faces and edge lines of every shape, by the shape's own numbers.

A shape becomes parts; a part is a mesh stretched by ``scale`` and placed in the body frame, so that all boxes share one mesh and
all balls another, and a thousand of them are one draw call.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from tumble.collision.shapes.definitions import Box, ConvexHull, shape_from_dict
from tumble.collision.shapes.ground import GROUND_CLASSES, Ground
from tumble.collision.shapes.polytope import polytope
from tumble.render.meshes.rounded import rounded_ball, rounded_outline, rounded_polytope
from tumble.render.rotation import multiply, rotate

# Faces of a hull that bend less than SHARP where they meet are lit as one curved surface, without an edge line, if hardly any
# bend is between that and a RIM: then the hull stands for something round. On a rock each bend above a CREASE has its line.
CREASE, SHARP, RIM = np.radians((12.0, 35.0, 70.0))
FEW = 0.1
# By type of shape: the mesh, and what it is stretched by along x, y and z, fields or the one that has all three.
STRETCHED = {
    "box": ("box", "half_extents"),
    "ellipsoid": ("ball", "radii"),
    "sphere": ("ball", "radius", "radius", "radius"),
    "cylinder": ("cylinder", "radius", "radius", "half_length"),
    "cone": ("cone", "radius", "radius", "half_height"),
}
DOT = 0.975  # of the radius: where the dot of the mark of spin begins


@dataclass(frozen=True, eq=False)
class Mesh:
    """A closed surface. Faces are convex, flat, counter-clockwise seen from outside."""

    corners: np.ndarray  # (n, 3)
    faces: tuple[tuple[int, ...], ...]
    normals: tuple[np.ndarray, ...]  # one (k, 3) a face: the surface normal at each of its corners
    edges: np.ndarray  # (m, 2) pairs of corners joined by a line
    round: bool = False  # wears a mark, for its turning can't be seen otherwise

    @property
    def soft(self) -> bool:
        """Some of its outline may have no edge line."""
        return 2 * len(self.edges) < sum(map(len, self.faces))

    @property
    def even(self) -> bool:
        """It is the same upside down, as boxes are."""
        corners = {tuple((np.round(corner, 9) + 0.0).tolist()) for corner in self.corners}
        return all(tuple((0.0 - np.array(corner)).tolist()) in corners for corner in corners)

    @property
    def curved(self) -> bool:
        """Some face has not the same normal everywhere."""
        return any(np.ptp(normals, axis=0).max() > 1e-9 for normals in self.normals)

    def marked(self) -> np.ndarray:
        """(f,) bool: faces of a round body that its mark lies on, a stripe along one side of it and a dot on the other."""
        rows = [self.corners[list(face)] for face in self.faces]
        x = np.array([row[:, 0].mean() for row in rows])
        beside = np.array([len(row) <= 4 and np.abs(row[:, 1]).min() < 1e-9 for row in rows], bool)  # not a cap
        return self.round & ((beside & (x > 0.0)) | (x < -DOT))

    def beside(self) -> np.ndarray:
        """(m, 2, 3) outward normals, of any length, of the two faces that meet at each edge; 0 where there is none."""
        found: dict[tuple[int, int], np.ndarray] = {}
        for face in self.faces:
            rows = self.corners[list(face)]
            normal = np.cross(rows, np.roll(rows, -1, axis=0)).sum(axis=0)  # twice the area (Newell)
            found |= dict.fromkeys(zip(face, (*face[1:], face[0]), strict=True), normal)
        none = np.zeros(3)
        return np.array([(found.get((i, j), none), found.get((j, i), none)) for i, j in self.edges.tolist()]).reshape(-1, 2, 3)

    def triangles(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``(points (v, 3), normals (v, 3), triangles (t, 3))`` with corners split where normals differ."""
        points = np.concatenate([self.corners[list(f)] for f in self.faces]) if self.faces else np.zeros((0, 3))
        normals = np.concatenate(self.normals) if self.faces else np.zeros((0, 3))
        fans, start = [], 0
        for face in self.faces:
            fans += [(start, start + k, start + k + 1) for k in range(1, len(face) - 1)]
            start += len(face)
        return points, normals, np.array(fans, np.int32).reshape(-1, 3)


@dataclass(frozen=True)
class Part:
    """A mesh in a body: stretched, turned, moved. ``key`` names the mesh for :func:`mesh_of`."""

    key: tuple
    scale: tuple[float, float, float]
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    orientation: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)


def parts_of(shape: Any) -> list[Part]:
    """The parts of a shape of ``collision`` (or of its dict). A half-space has none: see :func:`planes_of`."""
    if (ground := ground_of(shape)) is not None:
        return [Part(("ground", ground), (1.0, 1.0, 1.0))]
    return [part for part in _spread(_plain(shape), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)) if part.key[0] != "plane"]


def ground_of(shape: Any) -> Ground | None:
    """The surface of triangles that a shape, or its dict, is."""
    if isinstance(shape, dict) and shape.get("type") in GROUND_CLASSES:
        shape = shape_from_dict(shape)
    return shape if isinstance(shape, Ground) else None


def planes_of(shape: Any) -> list[tuple[np.ndarray, float]]:
    """(unit normal, offset) in the body frame of each half-space of a shape: it fills normal . x <= offset."""
    out = []
    if ground_of(shape) is not None:
        return out
    for part in _spread(_plain(shape), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)):
        if part.key[0] == "plane":
            normal = rotate(np.array(part.orientation), np.array(part.key[1:4]))
            out.append((normal, part.key[4] + float(normal @ np.array(part.position))))
    return out


def bounding_ball(shape: Any) -> tuple[np.ndarray, float]:
    """(centre (3,), radius) in the body frame of a ball around the shape; radius nan where it has no end or nothing to draw."""
    corners = [rotate(np.array(p.orientation), mesh_of(p.key, 16).corners * p.scale) + p.position for p in parts_of(shape)]
    if not corners:
        return np.zeros(3), np.nan
    points = np.concatenate(corners)
    center = 0.5 * (points.min(axis=0) + points.max(axis=0))
    return center, float(np.linalg.norm(points - center, axis=1).max())


@lru_cache(maxsize=4096)
def mesh_of(key: tuple, detail: int = 48) -> Mesh:
    """The mesh behind a part's key; round ones with ``detail`` segments around (a multiple of 4)."""
    kind = key[0]
    if kind == "box":
        return _box()
    if kind == "ball":
        return _turned(*_arc(detail), detail)
    if kind == "cylinder":
        return _lathe([(0.0, -1.0), (1.0, -1.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)], detail)
    if kind == "cone":
        return _lathe([(0.0, -1.0), (1.0, -1.0), (0.5, 0.0), (0.0, 1.0)], detail)
    if kind == "capsule":
        profile, slopes = _arc(detail)
        half = len(profile) // 2
        rows = np.sort([*range(len(profile)), half, half])  # the equator three times: low, at half height, high
        shift = key[1] * np.sign(np.arange(len(rows)) - half - 1)
        return _turned(profile[rows] + np.stack([np.zeros(len(rows)), shift], axis=1), slopes[rows], detail)
    if kind == "hull":
        return _hull(np.array(key[1]).reshape(-1, 3))
    if kind == "rounded":
        return _rounded(*key[1:], detail)
    if kind == "ground":
        return _surface(key[1])
    raise ValueError(f"mesh {kind!r} is not known")


@lru_cache(maxsize=16)
def _surface(ground: Ground) -> Mesh:
    """The mesh of a ground, whatever detail is asked for."""
    from tumble.render.meshes.ground_surface import surface_mesh

    return surface_mesh(*ground.surface(), ground.smooth)


def _plain(shape: Any) -> dict:
    return shape if isinstance(shape, dict) else shape.to_dict()


def _spread(d: dict, x: tuple, q: tuple) -> Iterator[Part]:
    kind = d["type"].replace("_", "").lower()
    if kind == "compound":
        for part in d["parts"]:
            q_part = tuple(float(c) for c in part.get("orientation", (1.0, 0.0, 0.0, 0.0)))
            x_part = rotate(np.array(q), np.array(part.get("position", (0.0, 0.0, 0.0)), float)) + x
            yield from _spread(part["shape"], tuple(x_part.tolist()), tuple(multiply(np.array(q), np.array(q_part)).tolist()))
    elif kind == "halfspace":
        yield Part(("plane", *(float(c) for c in d["normal"]), float(d["offset"])), (1.0, 1.0, 1.0), x, q)
    elif kind in STRETCHED:
        mesh, *names = STRETCHED[kind]
        scale = d[names[0]] if len(names) == 1 else [d[name] for name in names]
        yield Part((mesh,), tuple(scale), x, q)
    elif kind == "capsule":
        yield Part(("capsule", d["half_length"] / d["radius"]), (d["radius"],) * 3, x, q)
    elif kind in ("hull", "convexhull"):
        flat = tuple(float(c) for v in d["vertices"] for c in v)
        yield Part(("hull", flat), (1.0, 1.0, 1.0), x, q)
    elif kind == "rounded":
        core, skin = d["shape"], float(d["radius"])
        inner = core["type"].lower()
        if inner in ("sphere", "capsule"):
            yield from _spread(core | {"radius": core["radius"] + skin}, x, q)
        else:
            numbers = tuple(float(c) for name, v in core.items() if name != "type" for c in np.ravel(v))
            size = max(map(abs, numbers)) + skin  # one mesh for all that are alike
            yield Part(("rounded", inner, tuple(c / size for c in numbers), skin / size), (size,) * 3, x, q)
    else:
        raise ValueError(f"shape of type {d['type']!r} can not be drawn")


def _rounded(kind: str, numbers: tuple, skin: float, detail: int) -> Mesh:
    """A shape with a ball added, by the numbers of the shape within."""
    if kind == "ellipsoid":
        return rounded_ball(_turned(*_arc(detail), detail), numbers, skin)
    if kind in ("cylinder", "cone"):
        return _turned(*rounded_outline(kind, *numbers, skin, detail), detail)
    p = polytope(Box(numbers) if kind == "box" else ConvexHull(np.reshape(numbers, (-1, 3))))
    if p.rank == 0:
        ball = _turned(*_arc(detail), detail)
        return replace(ball, corners=ball.corners * skin + p.vertices[0])
    if p.rank == 1:
        along = p.vertices[1] - p.vertices[0]
        length = float(np.linalg.norm(along))
        mesh = mesh_of(("capsule", length / (2 * skin)), detail)
        u = np.array((0.0, 0.0, 1.0)) + along / length
        turn = np.outer(u, u) * 2 / (u @ u) - np.eye(3) if u @ u > 1e-12 else np.diag((1.0, -1.0, -1.0))
        corners = skin * mesh.corners @ turn.T + p.vertices.mean(axis=0)
        return replace(mesh, corners=corners, normals=tuple(n @ turn.T for n in mesh.normals))
    return rounded_polytope(p, skin, detail)


def _box() -> Mesh:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    faces = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    axes = ((-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1))
    edges = [(i, i | bit) for i in range(8) for bit in (1, 2, 4) if not i & bit]
    return Mesh(corners, faces, tuple(np.tile(np.array(a, float), (4, 1)) for a in axes), np.array(edges))


def _arc(detail: int) -> tuple[np.ndarray, np.ndarray]:
    """Half a circle from pole to pole as (radius, height), and its outward normals likewise."""
    a = np.linspace(-np.pi / 2, np.pi / 2, detail // 2 + 1)
    profile = np.stack([np.cos(a), np.sin(a)], axis=1)
    profile[[0, -1], 0] = 0.0
    return profile, profile.copy()


def _turned(profile: np.ndarray, slopes: np.ndarray, detail: int, round_: bool = True) -> Mesh:
    """A smooth surface of revolution about z. The first and last points of the profile lie on the axis."""
    a = np.arange(detail) * (2 * np.pi / detail)
    ring = np.stack([np.cos(a), np.sin(a), np.zeros(detail)], axis=1)
    up = np.array([0.0, 0.0, 1.0])
    rows = len(profile)
    corners = (profile[:, None, :1] * ring + profile[:, None, 1:] * up).reshape(-1, 3)
    normal = (slopes[:, None, :1] * ring + slopes[:, None, 1:] * up).reshape(-1, 3)
    faces = []
    for i in range(rows - 1):
        for j in range(detail):
            k = (j + 1) % detail
            a0, a1, b1, b0 = i * detail + j, i * detail + k, (i + 1) * detail + k, (i + 1) * detail + j
            faces.append((a0, b1, b0) if i == 0 else (a0, a1, b0) if i == rows - 2 else (a0, a1, b1, b0))
    return Mesh(corners, tuple(faces), tuple(normal[list(f)] for f in faces), np.zeros((0, 2), int), round_)


def _lathe(profile: list[tuple[float, float]], detail: int) -> Mesh:
    """A surface of revolution about z whose profile has corners: flat caps, straight sides, lines along the rims.

    Caps come in quarters, and sides are cut where the profile has a point at half height, so that each face lies in one octant,
    for what is put on face by face.
    """
    a = np.arange(detail) * (2 * np.pi / detail)
    ring = np.stack([np.cos(a), np.sin(a), np.zeros(detail)], axis=1)
    up = np.array([0.0, 0.0, 1.0])
    corners = np.concatenate([r * ring + z * up for r, z in profile])
    faces, normals, edges = [], [], []
    for i, ((r0, z0), (r1, z1)) in enumerate(zip(profile[:-1], profile[1:], strict=True)):
        low, high = np.arange(detail) + i * detail, np.arange(detail) + (i + 1) * detail
        slope = np.array([z1 - z0, r0 - r1]) / np.hypot(z1 - z0, r0 - r1)
        outward = slope[0] * ring + slope[1] * up
        if z0 == z1:  # a cap
            for j in range(0, detail, detail // 4):
                arc = np.arange(j, j + detail // 4 + 1) % detail
                face = (low[0], *high[arc[::-1]]) if r0 == 0 else (high[0], *low[arc])
                faces.append(tuple(int(c) for c in face))
                normals.append(np.tile(slope[1] * up, (len(face), 1)))
        else:
            for j in range(detail):
                k = (j + 1) % detail
                face = (low[j], low[k], high[j]) if r1 == 0 else (low[j], low[k], high[k], high[j])
                faces.append(tuple(int(c) for c in face))
                normals.append(outward[np.array(face) % detail])
        if r1 > 0 and z1 != 0:
            edges.append(np.stack([high, np.roll(high, -1)], axis=1))
    return Mesh(corners, tuple(faces), tuple(normals), np.concatenate(edges), True)


def _hull(points: np.ndarray) -> Mesh:
    """Convex hull, its coplanar triangles joined to polygons. Flat sets get two faces, collinear ones a line, one point a dot."""
    from scipy.spatial import ConvexHull

    center = points.mean(axis=0)
    rel = points - center
    size = np.abs(rel).max()
    if size == 0.0:
        return Mesh(points[:1], (), (), np.array([[0, 0]]))
    _, spread, axes = np.linalg.svd(rel, full_matrices=False)
    rank = int((spread > 1e-9 * spread[0]).sum())
    if rank == 1:
        along = rel @ axes[0]
        ends = points[[along.argmin(), along.argmax()]]
        return Mesh(ends, (), (), np.array([[0, 1]]))
    if rank == 2:
        loop = ConvexHull(rel @ axes[:2].T).vertices
        corners = points[loop]
        n = len(loop)
        normal = np.cross(axes[0], axes[1])
        faces = (tuple(range(n)), tuple(range(n))[::-1])
        normals = (np.tile(normal, (n, 1)), np.tile(-normal, (n, 1)))
        return Mesh(corners, faces, normals, np.stack([np.arange(n), np.roll(np.arange(n), -1)], axis=1))
    hull = ConvexHull(rel)
    facets: dict[int, list[int]] = {}
    parent = _joined(hull)
    for t in range(len(hull.simplices)):
        facets.setdefault(parent[t], []).append(t)
    faces, flat, areas = [], [], []
    for triangles in facets.values():
        normal = hull.equations[triangles].mean(axis=0)[:3]
        normal /= np.linalg.norm(normal)
        faces.append(tuple(int(i) for i in _around(rel, np.unique(hull.simplices[triangles]), normal)))
        flat.append(normal)
        areas.append(sum(0.5 * np.linalg.norm(np.cross(*(rel[t[1:]] - rel[t[0]]))) for t in hull.simplices[triangles]))
    edges, bends, seen = [], [], {}
    for f, face in enumerate(faces):
        for i, j in zip(face, face[1:] + face[:1], strict=True):
            other = seen.setdefault((min(i, j), max(i, j)), f)
            if other != f:
                edges.append((i, j))
                bends.append(np.arccos(np.clip(flat[other] @ flat[f], -1.0, 1.0)))
    edges, bends = np.array(edges), np.array(bends)
    inner = bends[bends < RIM]
    if len(inner) and (inner >= SHARP).mean() < FEW:
        return Mesh(points, tuple(faces), _smoothed(faces, np.array(flat), np.array(areas)), edges[bends >= SHARP])
    normals = tuple(np.tile(normal, (len(face), 1)) for face, normal in zip(faces, flat, strict=True))
    return Mesh(points, tuple(faces), normals, edges[bends >= CREASE])


def _smoothed(faces: list[tuple[int, ...]], flat: np.ndarray, areas: np.ndarray) -> tuple[np.ndarray, ...]:
    """Normals at the corners of each face: the mean of those around the corner that bend little from its own, by area."""
    around: dict[int, list[int]] = {}
    for f, face in enumerate(faces):
        for corner in face:
            around.setdefault(corner, []).append(f)
    out = []
    for f, face in enumerate(faces):
        rows = np.empty((len(face), 3))
        for k, corner in enumerate(face):
            near = np.array(around[corner])
            near = near[flat[near] @ flat[f] > np.cos(SHARP)]
            mean = areas[near] @ flat[near]
            rows[k] = flat[f] if len(near) < 2 else mean / np.linalg.norm(mean)
        out.append(rows)
    return tuple(out)


def _joined(hull: Any) -> list[int]:
    """For each triangle of a hull, the first triangle of its flat facet (flood fill over coplanar neighbours)."""
    first = [-1] * len(hull.simplices)
    for start in range(len(first)):
        if first[start] >= 0:
            continue
        first[start], stack = start, [start]
        while stack:
            for other in hull.neighbors[stack.pop()]:
                if first[other] < 0 and hull.equations[other, :3] @ hull.equations[start, :3] > 1 - 1e-10:
                    first[other] = start
                    stack.append(int(other))
    return first


def _around(points: np.ndarray, ids: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """The corners of a convex facet in counter-clockwise order about its normal."""
    rel = points[ids] - points[ids].mean(axis=0)
    u = rel[np.argmax(np.linalg.norm(rel, axis=1))]
    v = np.cross(normal, u)
    return ids[np.argsort(np.arctan2(rel @ v, rel @ u))]
