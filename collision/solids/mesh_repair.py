"""Meshes as they come: holes closed, faces turned outward, and what passes through itself noticed."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import numpy as np

from tumble.collision.errors import InputError

MOST_SEEN = 100_000  # faces times faces looked from, in the search for a mesh that passes through itself


class MeshWarning(UserWarning):
    """A mesh was repaired; the text says how."""


def repair(path: Path, mesh) -> None:
    """Close small holes and turn the faces outward, with a warning; InputError where that does not do."""
    import trimesh

    if not mesh.is_watertight:
        trimesh.repair.fill_holes(mesh)
        if not mesh.is_watertight:
            raise InputError("mesh", str(path), 'is not watertight; close its holes, or take its hull with convex = "hull"')
        warn(path, "holes of the mesh were closed")
    turned = not mesh.is_winding_consistent
    if turned:
        trimesh.repair.fix_winding(mesh)
    inward = _inward(mesh)
    if inward.any():
        mesh.faces = np.where(inward[:, None], mesh.faces[:, ::-1], mesh.faces)
        turned = True
    if turned:
        warn(path, "faces of the mesh were turned outward, or into the hollow of what lies around them")
    if not mesh.volume > 1e-12 * mesh.scale**3:
        raise InputError("mesh", str(path), "has no volume")


def warn(path: Path, text: str) -> None:
    warnings.warn(f"{path}: {text}", MeshWarning, stacklevel=4)


def _inward(mesh) -> np.ndarray:
    """(f,) bool: faces of closed surfaces that look the wrong way: a solid's out of it, a hollow's into the hollow.

    A surface bounds a hollow where it lies within an odd number of others.
    """
    surfaces = _surfaces(mesh)
    wrong = np.zeros(len(mesh.faces), bool)
    for faces, around in zip(surfaces, _nested(mesh, surfaces), strict=True):
        own = np.asarray(mesh.triangles)[faces]
        outward = np.linalg.det(own - own.mean(axis=(0, 1))).sum() > 0
        wrong[faces] = outward == bool(len(around) % 2)
    return wrong


def closed_bodies(mesh) -> list[np.ndarray]:
    """Numbers of the faces of each closed body: a surface that bounds a solid, and those of the hollows in it."""
    surfaces = _surfaces(mesh)
    if len(surfaces) == 1:
        return surfaces
    nested = _nested(mesh, surfaces)
    out = {k: [surfaces[k]] for k, around in enumerate(nested) if len(around) % 2 == 0}
    for k, around in enumerate(nested):
        if k not in out:  # a hollow is of the solid next around it: the one that lies in most others
            out[max((m for m in around if m in out), key=lambda m: len(nested[m]))].append(surfaces[k])
    return [np.sort(np.concatenate(faces)) for faces in out.values()]


def _surfaces(mesh) -> list[np.ndarray]:
    """Numbers of the faces of each closed surface, in the order of the file."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    pairs, n = mesh.face_adjacency, len(mesh.faces)
    count, part = connected_components(coo_matrix((np.ones(len(pairs)), pairs.T), shape=(n, n)), directed=False)
    return [np.flatnonzero(part == k) for k in range(count)]


def _nested(mesh, surfaces: list[np.ndarray]) -> list[list[int]]:
    """For each closed surface the others that it lies within."""
    triangles = [np.asarray(mesh.triangles)[faces] for faces in surfaces]
    return [
        [m for m, other in enumerate(triangles) if m != k and _holds(other, own) and round(winding(own[0, 0], other)) != 0]
        for k, own in enumerate(triangles)
    ]


def _holds(triangles: np.ndarray, others: np.ndarray) -> bool:
    """Whether the bounding box of a surface holds that of others."""
    axes = (0, 1)
    return bool((triangles.min(axes) <= others.min(axes)).all() and (triangles.max(axes) >= others.max(axes)).all())


def winding(point: np.ndarray, triangles: np.ndarray) -> float:
    """How many times closed surfaces, triangles (t, 3, 3), go around a point: 1 inside, 0 outside, 2 where two overlap.

    The sum of the solid angles over 4 pi (van Oosterom and Strackee 1983).
    """
    a, b, c = np.moveaxis(triangles - point, 1, 0)
    la, lb, lc = (np.sqrt(np.einsum("ij,ij->i", v, v)) for v in (a, b, c))
    over = np.einsum("ij,ij->i", a, np.cross(b, c))
    under = la * lb * lc + np.einsum("ij,ij->i", a, b) * lc + np.einsum("ij,ij->i", b, c) * la + np.einsum("ij,ij->i", c, a) * lb
    return float(np.arctan2(over, under).sum() / (2 * math.pi))


def passes_through_itself(mesh) -> bool:
    """Whether the surface passes through itself, seen at some of its faces: outside of each must be 0, inside 1."""
    triangles, step = np.asarray(mesh.triangles), 1e-9 * mesh.scale
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    chosen = np.random.default_rng(0).permutation(len(triangles))[: max(MOST_SEEN // len(triangles), 8)]
    for k in chosen[np.linalg.norm(normals[chosen], axis=1) > 0]:
        middle, n = triangles[k].mean(axis=0), normals[k] / np.linalg.norm(normals[k])
        if round(winding(middle + step * n, triangles)) != 0 or round(winding(middle - step * n, triangles)) != 1:
            return True
    return False
