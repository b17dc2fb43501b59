"""Surfaces of shapes with a ball added to them: faces moved out, strips about the edges, caps of spheres at the corners."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tumble.collision.shapes.polytope import Polytope

if TYPE_CHECKING:
    from tumble.render.meshes.meshes import Mesh


def rounded_polytope(p: Polytope, radius: float, detail: int) -> Mesh:
    """Of a polytope with a ball added; a flat polygon has two faces, whose edges turn by half a circle."""
    from tumble.render.meshes.meshes import Mesh

    corners, normals, faces, lines = [], [], [], []

    def put(points: np.ndarray, directions: np.ndarray) -> int:
        corners.append(points)
        normals.append(directions)
        return sum(len(part) for part in corners) - len(points)

    for loop, n in zip(p.loops, p.normals, strict=True):
        start = put(p.vertices[loop] + radius * n, np.tile(n, (len(loop), 1)))
        faces.append(tuple(range(start, start + len(loop))))
        lines += [(start + k, start + (k + 1) % len(loop)) for k in range(len(loop))]
    rims: dict[int, dict[int, tuple[int, np.ndarray]]] = {}  # of each vertex: by face, the next face and the arc to it
    for a, b, left, right in p.edges:
        u = _arc(p.normals[left], p.normals[right], np.cross(p.vertices[b] - p.vertices[a], p.normals[left]), detail)
        start = put(np.concatenate([p.vertices[a] + radius * u, p.vertices[b] + radius * u]), np.concatenate([u, u]))
        m = len(u)
        faces += [(start + k, start + k + 1, start + m + k + 1, start + m + k) for k in range(m - 1)]
        rims.setdefault(int(a), {})[int(left)] = int(right), u
        rims.setdefault(int(b), {})[int(right)] = int(left), u[::-1]
    for v, arcs in rims.items():
        loop, face = [], next(iter(arcs))
        for _ in arcs:
            face, u = arcs[face]
            loop.append(u[:-1])
        rim = np.concatenate(loop)
        middle = rim.mean(axis=0)
        middle /= np.linalg.norm(middle)
        rings = max(detail // 8, 2)
        rows = [_between(middle, rim, t) for t in np.linspace(0, 1, rings + 1)[1:]]
        start = put(p.vertices[v] + radius * np.concatenate([middle[None], *rows]), np.concatenate([middle[None], *rows]))
        n = len(rim)
        for k in range(n):
            j = (k + 1) % n
            faces.append((start, start + 1 + k, start + 1 + j))
            for i in range(rings - 1):
                low, high = start + 1 + i * n, start + 1 + (i + 1) * n
                faces.append((low + k, high + k, high + j, low + j))
    points, directions = np.concatenate(corners), np.concatenate(normals)
    faces = [_outward(points, directions, face) for face in faces]
    return Mesh(points, tuple(faces), tuple(directions[list(face)] for face in faces), np.zeros((0, 2), int))


def _arc(left: np.ndarray, right: np.ndarray, out: np.ndarray, detail: int) -> np.ndarray:
    """Unit vectors from one normal to another; opposite ones by way of ``out``."""
    angle = math.atan2(np.linalg.norm(np.cross(left, right)), left @ right)
    if angle > 3.0:
        out = out / np.linalg.norm(out)
        return np.concatenate([_arc(left, out, out, detail)[:-1], _arc(out, right, out, detail)])
    steps = max(math.ceil(angle / (2 * math.pi) * detail), 1)
    return np.array([_between(left, right, t) for t in np.linspace(0, 1, steps + 1)])


def _between(u: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
    """Part t of the way from u to v on the sphere; v (3,) or rows."""
    angle = np.arctan2(np.linalg.norm(np.cross(u, v), axis=-1, keepdims=True), np.sum(u * v, axis=-1, keepdims=True))
    sine = np.where(np.sin(angle) > 1e-12, np.sin(angle), 1.0)
    mixed = np.where(angle > 1e-12, (np.sin((1 - t) * angle) * u + np.sin(t * angle) * v) / sine, u)
    return mixed / np.linalg.norm(mixed, axis=-1, keepdims=True)


def _outward(points: np.ndarray, directions: np.ndarray, face: tuple[int, ...]) -> tuple[int, ...]:
    """A face, its corners counter-clockwise seen from outside."""
    x = points[list(face)]
    area = np.cross(x[1:-1] - x[0], x[2:] - x[0]).sum(axis=0)
    return face if area @ directions[list(face)].sum(axis=0) >= 0 else face[::-1]


def rounded_outline(kind: str, radius: float, half: float, skin: float, detail: int) -> tuple[np.ndarray, np.ndarray]:
    """The profile of a cylinder or a cone with a ball added, (radius, height) from pole to pole, and its normals."""
    corners = [(radius, -half), (radius, half)] if kind == "cylinder" else [(radius, -half), (0.0, half)]
    turns = [-math.pi / 2, 0.0 if kind == "cylinder" else math.atan2(radius, 2 * half), math.pi / 2]
    points, normals = [(0.0, -half - skin)], [(0.0, -1.0)]
    for (r, z), a, b in zip(corners, turns[:-1], turns[1:], strict=True):
        for t in np.linspace(a, b, max(math.ceil((b - a) / (2 * math.pi) * detail), 1) + 1):
            points.append((max(r + skin * math.cos(t), 0.0) if t < math.pi / 2 else r, z + skin * math.sin(t)))
            normals.append((math.cos(t), math.sin(t)))
    if corners[-1][0] > 0.0:
        points.append((0.0, half + skin))
        normals.append((0.0, 1.0))
    return np.array(points), np.array(normals)


def rounded_ball(ball: Mesh, radii: tuple, skin: float) -> Mesh:
    """An ellipsoid with a ball added, from the mesh of a unit ball."""
    from tumble.render.meshes.meshes import Mesh

    normal = ball.corners / radii
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    corners = ball.corners * radii + skin * normal
    return Mesh(corners, ball.faces, tuple(normal[list(face)] for face in ball.faces), ball.edges, True)
